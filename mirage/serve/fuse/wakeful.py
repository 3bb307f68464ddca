"""Keeps the processors awake while a mount is busy, so that a request and its answer wait for no sleeping one.

A request goes from one processor to another and back. On an idle machine, above all on a virtual one, waking the other
takes several times as long as answering. Linux takes orders about that through a device, as long as it is kept open.
VFS_WAKEFUL=0 leaves it alone.
"""
from __future__ import annotations

import os
import struct

DEVICE = "/dev/cpu_dma_latency"                              # for root
MANY, FEW = 50, 5                                            # requests between two calls of `answered`


class Wakeful:
    """`answered(count)` is called at regular, short intervals with the number of requests since the last call."""

    def __init__(self) -> None:
        self._wanted = os.environ.get("VFS_WAKEFUL") != "0"
        self._fd = -1

    def answered(self, count: int) -> None:
        if count >= MANY and self._fd < 0 and self._wanted:
            try:
                self._fd = os.open(DEVICE, os.O_WRONLY | os.O_CLOEXEC)
                os.write(self._fd, struct.pack("=i", 0))     # at most 0 microseconds to wake up
            except OSError:                                  # not allowed, or not there
                self._wanted = False
                self.close()
        elif count <= FEW:
            self.close()

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
