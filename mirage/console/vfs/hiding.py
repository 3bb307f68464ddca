"""The key that stands on the command line, taken out of what other users see in the list of processes."""
from __future__ import annotations

import contextlib
import sys

START, END = 45, 46                                          # fields behind the name in /proc/self/stat


def hide(key: str) -> None:
    """Overwrite `key` in the arguments of this process. Where that is not possible, nothing happens."""
    if not sys.platform.startswith("linux") or not key.isascii():
        return
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open("/proc/self/stat", "rb") as file:
            fields = file.read().rpartition(b") ")[2].split()
        start, end = int(fields[START]), int(fields[END])
        if not 0 < start < end:
            return
        import ctypes
        words = ctypes.string_at(start, end - start)
        wanted = key.encode()
        at = words.find(wanted)
        while at >= 0:
            ctypes.memset(start + at, ord("x"), len(wanted))
            at = words.find(wanted, at + 1)
