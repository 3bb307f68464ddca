"""A virtual CLI that is loaded when it is first used: its argument models take a tenth of a second."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mirage.clis.framework import Operation, VirtualCli
    from mirage.process.process import Process


class LazyCli:
    """Stands for the CLI that `make()` gives. `counters` as VirtualCli has them."""

    def __init__(self, name: str, make: Callable[[], VirtualCli], counters: Any = None) -> None:
        self.name = name
        self.counters = counters
        self._make = make
        self._cli: VirtualCli | None = None

    @property
    def cli(self) -> VirtualCli:
        if self._cli is None:
            self._cli = self._make()
        return self._cli

    @property
    def description(self) -> str:
        return self.cli.description

    @property
    def operations(self) -> Mapping[str, Operation]:
        return self.cli.operations

    def known_operations(self) -> Mapping[str, Operation]:
        return self.cli.known_operations()

    def close(self) -> None:
        if self._cli is not None:
            self._cli.close()

    def main(self, proc: Process) -> int:
        return self.cli.main(proc)
