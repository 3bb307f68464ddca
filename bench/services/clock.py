"""The clock of a simulator."""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock:
    """Seconds since the epoch; stands still but for `advance` unless `source` is given."""

    def __init__(self, start: float, source: Callable[[], float] | None = None) -> None:
        self.start = start
        self._source = source

    def now(self) -> float:
        return self._source() if self._source is not None else self.start

    def advance(self, seconds: float) -> None:
        self.start += seconds
