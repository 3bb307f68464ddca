"""For long work in code that knows no process: let the one that runs here look at limits, signals and others."""
from __future__ import annotations

from greenlet import getcurrent


def pause() -> None:
    """What `proc.check()` is to a tool; nothing in a thread that runs no process. May raise what ends a line."""
    kernel = getattr(getcurrent(), "kernel", None)
    if kernel is not None:
        kernel.check()
