"""Terminal.fs: the gated namespace for Python code. From any thread; every error is a plain OSError."""
from __future__ import annotations

import errno
import os

from mirage.process.signals import LineStopped
from mirage.vfs.filesystem import FileSystem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    from mirage.vfs.types import Entry, Stat

    Entries = list[Entry]
    T = TypeVar("T")


class Actor:
    """Who acts where no process does: a door of the Terminal (Python, HTTP, FUSE)."""

    __slots__ = ("argv", "cwd", "kernel", "umask")

    def __init__(self, name: str, cwd: str = "/", umask: int = 0o022) -> None:
        self.argv = [name]
        self.cwd = cwd
        self.umask = umask
        self.kernel: Any = None

    @property
    def name(self) -> str:
        return self.argv[0]


class Files:
    """Files of a Terminal. Relative paths start at `cwd`; the policy holds here as it does for commands."""

    __slots__ = ("_fs",)

    def __init__(self, machine: Any, cwd: str = "/", name: str = "python") -> None:
        self._fs = FileSystem(machine, Actor(name, cwd))

    def read(self, path: str) -> bytes:
        """The whole content."""
        return _plain(path, self._fs.read, path)

    def write(self, path: str, data: bytes | str, parents: bool = False) -> None:
        """Replace the content or make the file; `parents` makes directories too. A str is stored as UTF-8."""
        if parents:
            self._parents(path)
        _plain(path, self._fs.write, path, _bytes(data))

    def append(self, path: str, data: bytes | str) -> None:
        """Add to the end, making the file where it is missing."""
        _plain(path, self._append, path, _bytes(data))

    def _append(self, path: str, data: bytes) -> None:
        handle = self._fs.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            handle.pwrite(data, -1)
        finally:
            handle.close()

    def list(self, path: str = ".") -> Entries:
        """The entries of a directory, each with `name` and (but for rare mounts) `stat`."""
        return _plain(path, self._fs.list, path)

    def stat(self, path: str, follow: bool = True) -> Stat:
        return _plain(path, self._fs.stat, path, follow)

    def exists(self, path: str) -> bool:
        return self._fs.exists(path)

    def mkdir(self, path: str, parents: bool = False) -> None:
        """Make a directory; with `parents` also those above it, and it may be there already."""
        if parents:
            self._parents(path.rstrip("/") + "/.")
        else:
            _plain(path, self._fs.mkdir, path)

    def _parents(self, path: str) -> None:
        head = path.rpartition("/")[0]
        at = "/" if head.startswith("/") else ""
        for name in head.split("/"):
            if not name:
                continue
            at = f"{at}{name}"
            if not self._fs.is_dir(at):
                _plain(at, self._fs.mkdir, at)
            at += "/"

    def remove(self, path: str, recursive: bool = False) -> None:
        """Remove a file, a link or an empty directory; with `recursive` also a full directory."""
        _plain(path, self._remove, path, recursive)

    def _remove(self, path: str, recursive: bool) -> None:
        fs = self._fs
        if not fs.stat(path, False).is_dir:
            fs.unlink(path)
            return
        if recursive:
            directories = []
            for place, entries in fs.walk(path, onerror=_raise):
                directories.append(place)
                for entry in entries:
                    if entry.stat is None or not entry.stat.is_dir:
                        fs.unlink(f"{place.rstrip('/')}/{entry.name}")
            for place in reversed(directories):
                fs.rmdir(place)
        else:
            fs.rmdir(path)

    def rename(self, old: str, new: str) -> None:
        """Atomic within a mount, and replaces; OSError EXDEV across mounts."""
        _plain(old, self._fs.rename, old, new)

    def symlink(self, target: str, path: str) -> None:
        _plain(path, self._fs.symlink, target, path)

    def readlink(self, path: str) -> str:
        return _plain(path, self._fs.readlink, path)

    def chmod(self, path: str, mode: int) -> None:
        _plain(path, self._fs.chmod, path, mode)

    def walk(self, path: str = ".") -> Iterator[tuple[str, Entries]]:
        """(directory, entries) in pre-order; directories taken out of the list are not entered."""
        return self._fs.walk(path)


def _plain(path: str, function: Callable[..., T], *args: Any) -> T:
    try:
        return function(*args)
    except LineStopped as e:                                 # the memory limit, which stops a line elsewhere
        raise OSError(errno.ENOSPC, e.message, path) from None


def _bytes(data: bytes | str) -> bytes:
    return data.encode("utf-8", "surrogateescape") if isinstance(data, str) else bytes(data)


def _raise(path: str, e: OSError) -> None:
    raise e
