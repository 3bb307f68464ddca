"""An open file of a database."""
from __future__ import annotations

import errno
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.mounts.vfs.content import Buffer
    from mirage.mounts.vfs.tree import Tree
    from mirage.vfs.types import Stat


class Open:
    """An inode that is open: how many handles it has, and what they wrote that is not stored yet."""

    __slots__ = ("buffer", "count", "ino")

    def __init__(self, ino: int) -> None:
        self.ino = ino
        self.count = 0
        self.buffer: Buffer | None = None


class VfsHandle:
    """The inode itself: unlink and rename do not matter to it. `sync` returns when the data survives a power loss."""

    __slots__ = ("_closed", "_held", "_readable", "_tree", "_writable")
    seekable = True
    is_dir = False

    def __init__(self, tree: Tree, held: Open, flags: int) -> None:
        self._tree = tree
        self._held = held
        access = flags & os.O_ACCMODE
        self._readable = access != os.O_WRONLY
        self._writable = access != os.O_RDONLY
        self._closed = False

    @property
    def ino(self) -> int:
        return self._held.ino

    def pread(self, size: int, offset: int) -> bytes:
        if not self._readable:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        tree = self._tree
        with tree.db.reading:
            node = tree.load(self._held.ino)
            if node is None:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
            return tree.read_node(node, offset, size)

    def pwrite(self, data: bytes, offset: int) -> int:
        if not self._writable:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._tree.pwrite(self._held, data, offset)

    def truncate(self, size: int) -> None:
        if not self._writable:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self._tree.truncate(self._held, size)

    def stat(self) -> Stat:
        tree = self._tree
        with tree.db.reading:
            node = tree.load(self._held.ino)
            if node is None:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
            return tree.stat_of(node)

    def flush(self) -> None:
        self._tree.flush(self._held)

    def sync(self) -> None:
        self._tree.flush(self._held)
        self._tree.db.sync()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            self._tree.flush(self._held)
        finally:
            self._drop()

    def _drop(self) -> None:
        tree, held = self._tree, self._held
        if held.count == 1 and held.buffer is not None:      # it could not be written: the error is on its way
            tree.dirty -= held.buffer.dirty
            held.buffer = None
        tree.release(held)
