"""Open files of a server whose clients never say that they open or close one."""
from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.vfs.inodes import Inodes, OpenNode

MOST = 128                                                   # files that are kept open
IDLE = 2.0                                                   # seconds after the last call


class Kept:
    __slots__ = ("file", "lock", "used", "writable")

    def __init__(self, file: OpenNode, writable: bool) -> None:
        self.file = file
        self.writable = writable
        self.used = time.monotonic()
        self.lock = threading.Lock()                         # held while the file is in use, or is closed


class OpenFiles:
    """Files stay open for a while after each call. `lost` is called when what was written could not be stored."""

    def __init__(self, inodes: Inodes, lost: Callable[[], None]) -> None:
        self._inodes = inodes
        self._lost = lost
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, Kept] = OrderedDict()

    def use(self, node: int, writable: bool) -> Kept:
        """An open file, locked: release its lock after use."""
        while True:
            with self._lock:
                kept = self._kept.get(node)
                if kept is None or writable and not kept.writable:
                    if kept is not None:
                        self._take(node, kept)
                    kept = self._kept[node] = Kept(
                        self._inodes.open(node, os.O_RDWR if writable else os.O_RDONLY), writable)
                self._kept.move_to_end(node)
                excess = [next(iter(self._kept))] if len(self._kept) > MOST else []
            for other in excess:
                self.drop(other)
            kept.lock.acquire()
            with self._lock:
                if self._kept.get(node) is kept:
                    kept.used = time.monotonic()
                    return kept
            kept.lock.release()                              # it was closed meanwhile

    def drop(self, node: int) -> None:
        """Close it, if it is open."""
        with self._lock:
            kept = self._kept.get(node)
            if kept is not None:
                self._take(node, kept)

    def _take(self, node: int, kept: Kept) -> None:
        del self._kept[node]
        with kept.lock:
            try:
                kept.file.close()
            except OSError:
                self._lost()

    def flush(self, node: int) -> None:
        """What was written shows in the attributes, and goes before what changes them."""
        with self._lock:
            kept = self._kept.get(node)
        if kept is not None and kept.writable:
            with kept.lock:
                kept.file.flush()

    def tend(self) -> None:
        """Close what has not been used for a while."""
        until = time.monotonic() - IDLE
        with self._lock:
            idle = [node for node, kept in self._kept.items() if kept.used < until]
        for node in idle:
            self.drop(node)

    def close(self) -> None:
        for node in list(self._kept):
            self.drop(node)
