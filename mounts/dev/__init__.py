"""Dev: /dev with null, zero, full, random, urandom, and the standard streams of whichever process looks."""
from __future__ import annotations

import errno
import os
import sys
import time

from mirage.vfs.handles import StatHandle
from mirage.vfs.types import S_IFCHR, S_IFDIR, Capabilities, Entry, Stat, error, new_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MINORS = {"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9}
STREAMS = {"stdin": 0, "stdout": 1, "stderr": 2}
MAX_READ = 1 << 20


class Dev:
    """Mounted at /dev. `fd` lists the descriptors of the running process; Process.open opens them itself."""

    capabilities = Capabilities("open", "identity")

    def __init__(self) -> None:
        self.device = new_device()
        now = time.time_ns()
        self._stats = {f"/{name}": self._make(S_IFCHR | 0o666, now, 10 + minor, rdev=os.makedev(1, minor))
                       for name, minor in MINORS.items()}
        self._stats["/"] = self._make(S_IFDIR | 0o755, now, 1, size=4096)
        self._stats["/fd"] = self._make(S_IFDIR | 0o555, now, 2, size=0)

    def _make(self, mode: int, now: int, ino: int, size: int = 0, rdev: int = 0) -> Stat:
        return Stat(mode, size, now, uid=0, gid=0, ino=ino, dev=self.device, rdev=rdev)

    def list(self, path: str) -> list[Entry]:
        if path == "/":
            names = [*MINORS, "fd", *(name for name, fd in STREAMS.items() if fd in descriptors())]
        elif path == "/fd":
            names = [str(fd) for fd in sorted(descriptors())]
        else:
            self.stat(path)
            raise error(errno.ENOTDIR, path)
        prefix = path.rstrip("/")
        return [Entry(name, self.stat(f"{prefix}/{name}")) for name in names]

    def stat(self, path: str) -> Stat:
        stat = self._stats.get(path)
        if stat is None:
            fd = stream(path)
            file = descriptors().get(fd) if fd is not None else None
            if file is None:
                raise error(errno.ENOENT, path)
            stat = file.stat()
        return stat

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        if length is None and path != "/null":
            raise error(errno.EINVAL, path)
        return self.open(path, os.O_RDONLY).pread(length or 0, offset)

    def open(self, path: str, flags: int, mode: int = 0) -> DeviceHandle:
        name = path[1:]
        if name not in MINORS:
            raise error(errno.EISDIR if path in self._stats else errno.ENXIO, path)
        return DeviceHandle(self._stats[path], name)


class DeviceHandle(StatHandle):
    """One of the memory devices; a read gives at most 1 MiB."""

    __slots__ = ("_name",)

    def __init__(self, stat: Stat, name: str) -> None:
        super().__init__(stat)
        self._name = name

    def pread(self, size: int, offset: int) -> bytes:
        size = min(size, MAX_READ)
        if self._name == "null":
            return b""
        if self._name in ("zero", "full"):
            return bytes(size)
        return os.urandom(size)

    def pwrite(self, data: bytes, offset: int) -> int:
        if self._name == "full":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return max(offset, 0) + len(data)


def stream(path: str) -> int | None:
    """The descriptor that /stdin, /stdout, /stderr or /fd/N names."""
    name = path[1:]
    if name in STREAMS:
        return STREAMS[name]
    tail = path.removeprefix("/fd/")
    return int(tail) if tail != path and tail.isascii() and tail.isdecimal() and len(tail) < 10 else None


def running() -> Any:
    """The Process that runs here; None in a thread that runs none."""
    module = sys.modules.get("greenlet")
    kernel = getattr(module.getcurrent(), "kernel", None) if module else None
    return kernel.current if kernel is not None else None


def descriptors() -> dict[int, Any]:
    """The descriptor table of the process that runs here; empty in a thread that runs none."""
    process = running()
    return process.fds if process is not None else {}
