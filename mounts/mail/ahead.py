"""Reading ahead: more and more messages, as long as somebody reads them one after the other."""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.mounts.mail.message import Meta
    from mirage.vfs.service import ByteCache

STEPS = (1, 8, 50)                                           # messages per call


class Ahead:
    def __init__(self, contents: ByteCache) -> None:
        self._contents = contents
        self._last: Meta | None = None                       # the message that was read last
        self._run = 0                                        # how many were read in order

    def wanted(self, meta: Meta, following: Callable[[], list[Meta]]) -> list[Meta]:
        """What to fetch together with a message. `following` gives what is behind it in its folder."""
        after = [m for m in following() if m.id not in self._contents]
        last, before, self._run = self._last, self._run, 0
        if last is None or last.date > meta.date or last.id == meta.id:
            return []
        self._run = min(before + 1, len(STEPS) - 1)
        return after[:STEPS[self._run] - 1]

    def read(self, meta: Meta) -> None:
        self._last = meta
