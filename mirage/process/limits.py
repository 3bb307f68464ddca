"""What one line may use. Checked by the kernel and by whoever is about to allocate."""
from __future__ import annotations

MIB = 1024 * 1024


class Limits:
    """Limits of one Terminal; None or 0 means no limit.

    timeout    seconds of wall time for one line (status 124)
    steps      executed commands and loop turns of one line (137, like all below)
    processes  alive at one time
    output     bytes kept of each of stdout and stderr
    memory     bytes of shell values, captures, buffers of tools and in-memory files; a net lies under it for what is
               not counted: a line also ends when the whole Python process has grown a quarter and 32 MiB beyond it
    depth      nested function calls, `eval`, `source`
    """

    __slots__ = ("depth", "memory", "output", "processes", "steps", "timeout")

    def __init__(self, timeout: float | None = 120.0, steps: int | None = 50_000_000, processes: int | None = 512,
                 output: int | None = 64 * MIB, memory: int | None = 1024 * MIB, depth: int | None = 1000) -> None:
        self.timeout = timeout or None
        self.steps = steps or None
        self.processes = processes or None
        self.output = output or None
        self.memory = memory or None
        self.depth = min(depth or 10_000, 10_000)

    def __repr__(self) -> str:
        return "Limits(" + ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__) + ")"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Limits) and all(getattr(self, n) == getattr(other, n) for n in self.__slots__)
