"""Handles that need no help from a mount: directories, FIFOs, and files of mounts that can only read."""
from __future__ import annotations

import errno
import os

from mirage.vfs.types import Stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _refuse(number: int) -> OSError:
    return OSError(number, os.strerror(number))


class StatHandle:
    """Base: an open object of which only the Stat is of use."""

    __slots__ = ("_stat",)
    seekable = False
    is_dir = False

    def __init__(self, stat: Stat) -> None:
        self._stat = stat

    def pread(self, size: int, offset: int) -> bytes:
        raise _refuse(errno.EINVAL)

    def pwrite(self, data: bytes, offset: int) -> int:
        raise _refuse(errno.EBADF)

    def truncate(self, size: int) -> None:
        raise _refuse(errno.EINVAL)

    def stat(self) -> Stat:
        return self._stat

    def sync(self) -> None:
        """Nothing is pending."""

    def close(self) -> None:
        """Nothing is held."""


class DirectoryHandle(StatHandle):
    """A directory opened with O_RDONLY; read(2) on it fails with EISDIR."""

    __slots__ = ()
    seekable = True
    is_dir = True

    def pread(self, size: int, offset: int) -> bytes:
        raise _refuse(errno.EISDIR)


class FifoHandle(StatHandle):
    """A FIFO: Process.open sees `stat().is_fifo` and makes the pipe."""

    __slots__ = ()


class RangeHandle(StatHandle):
    """Reads a file by ranges, in blocks of at least 256 KiB; whole where its size is unknown or small."""

    __slots__ = ("_at", "_block", "_inner", "_mount", "_whole")
    seekable = True
    BLOCK = 1 << 18

    def __init__(self, mount: Any, inner: str, stat: Stat) -> None:
        super().__init__(stat)
        self._mount = mount
        self._inner = inner
        self._at = 0
        self._block = b""
        self._whole = stat.size is None or stat.size <= self.BLOCK
        if self._whole:
            self._at = -1                                    # not read yet

    def pread(self, size: int, offset: int) -> bytes:
        if self._whole:
            if self._at < 0:
                self._block, self._at = self._mount.read(self._inner), 0
                self._measure(len(self._block))
        elif not self._at <= offset < self._at + len(self._block):
            want = max(size, self.BLOCK)
            self._block, self._at = self._mount.read(self._inner, offset, want), offset
        start = offset - self._at
        if not start and size >= len(self._block):
            return self._block
        return self._block[start:start + size]

    def _measure(self, size: int) -> None:
        old = self._stat
        if old.size != size:
            self._stat = Stat(old.mode, size, old.mtime_ns, atime_ns=old.atime_ns, ctime_ns=old.ctime_ns,
                              btime_ns=old.btime_ns, uid=old.uid, gid=old.gid, nlink=old.nlink, ino=old.ino,
                              dev=old.dev, rdev=old.rdev, version=old.version)

    def stat(self) -> Stat:
        if self._whole and self._at < 0 and self._stat.size is None:
            self.pread(0, 0)
        return self._stat
