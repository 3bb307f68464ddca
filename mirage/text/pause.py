"""For long work in code that knows no process: let the one that runs here look at limits, signals and others."""
from __future__ import annotations

from greenlet import getcurrent


def pause() -> None:
    """What `proc.check()` is to a tool; nothing in a thread that runs no process. May raise what ends a line."""
    kernel = getattr(getcurrent(), "kernel", None)
    if kernel is not None:
        kernel.check()


def reserve(size: int) -> None:
    """What `kernel.fits(size)` is to a tool: raises LimitExceeded when `size` more bytes are too many."""
    kernel = getattr(getcurrent(), "kernel", None)
    if kernel is not None:
        kernel.fits(size)
