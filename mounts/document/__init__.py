"""A mount that is one read-only text file, made when it is first looked at: VFS.md and SKILL.md."""
from __future__ import annotations

import errno
import time

from mirage.vfs.types import S_IFREG, Capabilities, Stat, error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mirage.vfs.types import Entry


class Document:
    """`write()` gives the text; it is called once. The mount's root is the file itself; its size is known once read."""

    capabilities = Capabilities()

    def __init__(self, write: Callable[[], str]) -> None:
        self._write = write
        self._data: bytes | None = None
        self._made = time.time_ns()

    @property
    def data(self) -> bytes:
        if self._data is None:
            self._data = self._write().encode()
        return self._data

    def stat(self, path: str) -> Stat:
        if path != "/":
            raise error(errno.ENOTDIR, path)
        return Stat(S_IFREG | 0o444, None if self._data is None else len(self._data), self._made, uid=0, gid=0)

    def list(self, path: str) -> Iterable[Entry]:
        raise error(errno.ENOTDIR, path)

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        if path != "/":
            raise error(errno.ENOTDIR, path)
        return self.data[offset:] if length is None else self.data[offset:offset + length]
