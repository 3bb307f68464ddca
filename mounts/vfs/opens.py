"""Which inodes are open in any process, so that a file lives until its last handle is closed.

Locks on bytes of an empty file beside the database, `X.db-open`: byte 0 for every process that has the file open, byte
`ino` for every process that has this inode open. They belong to the open file, not to the process, and the kernel drops
them when a process dies, so nothing is ever stale. The last process removes the file.
"""
from __future__ import annotations

import errno
import fcntl
import os
import struct
import time

SETLK: int | None = getattr(fcntl, "F_OFD_SETLK", None)      # not on every system: there, only this process counts
PATIENCE = 5.0


class Opens:
    """Locks of one database. Used under the connection's lock; `path` is that of the database."""

    def __init__(self, path: str) -> None:
        self._path = path + "-open" if path != ":memory:" and SETLK is not None else ""
        self._fd = -1

    def _lock(self, fd: int, kind: int, at: int) -> bool:
        assert SETLK is not None                             # else there is no file
        try:
            fcntl.fcntl(fd, SETLK, struct.pack("hhqqi4x", kind, 0, at, 1, 0))
        except OSError as e:
            if e.errno in (errno.EAGAIN, errno.EACCES):
                return False
            raise
        return True

    def _file(self) -> int:
        while self._fd < 0 and self._path:
            try:
                fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            except OSError:
                self._path = ""
                break
            if self._lock(fd, fcntl.F_RDLCK, 0) and _is_at(fd, self._path):
                self._fd = fd
            else:                                            # its last user is removing it
                os.close(fd)
                time.sleep(0.001)
        return self._fd

    def hold(self, ino: int) -> bool:
        """This process has `ino` open now. False while another one is removing it: look again."""
        fd = self._file()
        return fd < 0 or self._lock(fd, fcntl.F_RDLCK, ino)

    def drop(self, ino: int) -> None:
        """It is not open here any more, or its removal is committed."""
        if self._fd >= 0:
            self._lock(self._fd, fcntl.F_UNLCK, ino)

    def claim(self, ino: int) -> bool:
        """May `ino`, which is not open here, be removed? Then nobody can open it until drop(ino)."""
        fd = self._file()
        return fd < 0 or self._lock(fd, fcntl.F_WRLCK, ino)

    def close(self) -> None:
        if self._fd < 0:
            return
        if self._lock(self._fd, fcntl.F_WRLCK, 0) and _is_at(self._fd, self._path):
            os.unlink(self._path)
        os.close(self._fd)
        self._fd = -1


def _is_at(fd: int, path: str) -> bool:
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    mine = os.fstat(fd)
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)
