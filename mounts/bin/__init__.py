"""Bin: the directory of the tools that are part of the terminal, for /usr/bin."""
from __future__ import annotations

import errno
import time

from mirage.vfs.types import S_IFDIR, S_IFREG, Capabilities, Entry, Stat, error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection


class Bin:
    """A read-only directory with one executable for each of `names()`; reading one tells what it is."""

    capabilities = Capabilities()

    def __init__(self, names: Callable[[], Collection[str]]) -> None:
        self._names = names
        self._now = time.time_ns()
        self._root = Stat(S_IFDIR | 0o755, 4096, self._now, uid=0, gid=0, nlink=2)
        self._stats: dict[str, Stat] = {}

    @staticmethod
    def _content(name: str) -> bytes:
        return f"{name} is part of this terminal.\n".encode()

    def _stat(self, name: str) -> Stat:
        stat = self._stats.get(name)
        if stat is None:
            size = len(self._content(name))
            stat = self._stats[name] = Stat(S_IFREG | 0o755, size, self._now, uid=0, gid=0, version="1")
        return stat

    def list(self, path: str) -> list[Entry]:
        if path != "/":
            self.stat(path)
            raise error(errno.ENOTDIR, path)
        return [Entry(name, self._stat(name)) for name in sorted(self._names())]

    def stat(self, path: str) -> Stat:
        if path == "/":
            return self._root
        name = path[1:]
        if name not in self._names():
            head = name.partition("/")[0]
            raise error(errno.ENOTDIR if head != name and head in self._names() else errno.ENOENT, path)
        return self._stat(name)

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        if path == "/":
            raise error(errno.EISDIR, path)
        self.stat(path)
        return self._content(path[1:])[offset:None if length is None else offset + length]
