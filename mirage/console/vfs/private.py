"""A TMPDIR of this process alone, so that nothing that a database engine leaves there stays on the machine.

Programs that are started get the caller's TMPDIR. The directory is locked while its process lives, and the kernel drops
the lock when that dies, so that the next process can tell what a killed one has left.
"""
from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile

PREFIX = "vfs-tmp-"
LOCK = ".lock"
PLACE = "mount"                                              # a link to the mountpoint that was made


class PrivateTemporary:
    """Holds the directory until close(). `environment` is what programs get."""

    def __init__(self) -> None:
        self._original = os.environ.get("TMPDIR")
        self._pid = os.getpid()
        self._fd = -1
        self.path = ""
        self.open()

    def open(self) -> None:
        """Make the directory; again in a child process that outlives its parent."""
        self.restore()
        folder = tempfile.gettempdir()
        collect(folder)
        self._pid = os.getpid()
        self.path = tempfile.mkdtemp(prefix=PREFIX, dir=folder)
        self._fd = os.open(os.path.join(self.path, LOCK), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        os.environ["TMPDIR"] = self.path
        tempfile.tempdir = None

    def restore(self) -> None:
        """The caller's TMPDIR is in force again."""
        if self._original is None:
            os.environ.pop("TMPDIR", None)
        else:
            os.environ["TMPDIR"] = self._original
        tempfile.tempdir = None

    def environment(self) -> dict[str, str]:
        env = dict(os.environ)
        if self._original is None:
            env.pop("TMPDIR", None)
        else:
            env["TMPDIR"] = self._original
        return env

    def mountpoint(self) -> str:
        """A new directory to mount on; it goes with this one. Not in it: nothing that is mounted is ever removed."""
        place = tempfile.mkdtemp(prefix="vfs-mnt-", dir=os.path.dirname(self.path))
        os.symlink(place, os.path.join(self.path, PLACE))
        return place

    def close(self) -> None:
        global _current
        if self._fd < 0 or self._pid != os.getpid():
            return
        _current = None
        self.restore()
        _remove(self.path)
        os.close(self._fd)
        self._fd = -1

    def __enter__(self) -> PrivateTemporary:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def collect(folder: str) -> None:
    """Remove what killed processes of this user left."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(PREFIX):
                _remove_stale(os.path.join(folder, name))


def _remove_stale(path: str) -> None:
    with contextlib.suppress(OSError):
        if os.stat(path).st_uid != os.geteuid():
            return
        fd = os.open(os.path.join(path, LOCK), os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(path)
        finally:
            os.close(fd)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        place = os.readlink(os.path.join(path, PLACE))
        from mirage.serve.fuse.mount import detach_dead
        detach_dead(place)
        os.rmdir(place)
    shutil.rmtree(path, ignore_errors=True)


_current: PrivateTemporary | None = None


def private_temporary() -> PrivateTemporary:
    """That of this process."""
    global _current
    if _current is None:
        _current = PrivateTemporary()
    return _current
