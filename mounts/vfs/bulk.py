"""Many new files at once: rows in large transactions, instead of one transaction for each file."""
from __future__ import annotations

import errno
import os

from mirage.mounts.vfs.names import stored
from mirage.mounts.vfs.naming import SHORT
from mirage.mounts.vfs.nodes import SECOND
from mirage.vfs.types import S_IFDIR, S_IFLNK, S_IFREG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mirage.mounts.vfs.tree import Tree

FILES = 500                                                  # of one transaction, at most
INODE = ("INSERT INTO fs_inode (ino, mode, nlink, uid, gid, size, atime, mtime, ctime, rdev, atime_nsec, mtime_nsec,"
         " ctime_nsec) VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)")


class Made:
    """What became of one file: its inode number, size, and times in nanoseconds."""

    __slots__ = ("ctime", "ino", "mode", "mtime", "size")

    def __init__(self, mode: int, size: int, mtime: int) -> None:
        self.mode = mode
        self.size = size
        self.mtime = mtime
        self.ctime = 0
        self.ino = 0


class Import:
    """New objects in directories that are empty, or have no such names. Not thread-safe.

    top     a directory of the tree that exists
    owner   (uid, gid) as stored
    mtime   of everything, in nanoseconds
    Names are not checked against what is there: the database refuses a name that exists (FileExistsError).
    """

    def __init__(self, tree: Tree, top: str, owner: tuple[int, int], mtime: int) -> None:
        self._tree = tree
        self._owner = owner
        self._mtime = mtime
        with tree.db.reading:
            self._directories = {"": tree.node(top).ino}
        self._top = top
        self._waiting: list[tuple[Made, int, str, bytes]] = []
        self._bytes = 0

    def directories(self, paths: list[str], mode: int) -> None:
        """Make directories, each after the one that holds it."""
        depths: dict[int, list[str]] = {}
        for path in paths:
            depths.setdefault(path.count("/"), []).append(path)
        for depth in sorted(depths):
            made = [(path, self._add(path, S_IFDIR | mode, b"", 0)) for path in depths[depth]]
            self.flush()
            self._directories.update((path, one.ino) for path, one in made)

    def file(self, path: str, mode: int, data: bytes) -> Made:
        """A file; its number is known after the next flush."""
        return self._add(path, S_IFREG | mode, data, len(data))

    def symlink(self, path: str, target: bytes) -> Made:
        return self._add(path, S_IFLNK | 0o777, target, len(target))

    def long_file(self, path: str, mode: int, pieces: Iterable[bytes]) -> Made:
        """A file that is too long for one transaction, from an iterator of bytes."""
        self.flush()
        tree = self._tree
        handle = tree.create(f"{self._top.rstrip('/')}/{path}", mode, *self._owner, True)
        try:
            at = 0
            for piece in pieces:
                at = handle.pwrite(piece, at)
        finally:
            handle.close()
        made = Made(S_IFREG | mode, at, self._mtime)
        with tree.db.writing:
            node = tree.load(handle.ino)
            if node is None:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
            tree.set_attributes(node, mtime_ns=self._mtime)
            made.ino, made.ctime = node.ino, node.ctime
        return made

    def _add(self, path: str, mode: int, data: bytes, size: int) -> Made:
        if self._waiting and (len(self._waiting) >= FILES or self._bytes + len(data) > SHORT):
            self.flush()
        head, _, name = path.rpartition("/")
        made = Made(mode, size, self._mtime)
        self._waiting.append((made, self._directories[head], name, data))
        self._bytes += len(data)
        return made

    def flush(self) -> None:
        """Store what waits, in one transaction."""
        if not self._waiting:
            return
        tree, db = self._tree, self._tree.db
        size = db.chunk_size
        with db.writing:
            row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'fs_inode'").fetchone()
            ino = max(int(row[0]) if row is not None else 0,
                      int(db.execute("SELECT max(ino) FROM fs_inode").fetchone()[0] or 0))
            now = tree.now()
            for made, _, _, _ in self._waiting:
                ino += 1
                made.ino, made.ctime = ino, now
            changed, changed_nano = divmod(now, SECOND)
            old, old_nano = divmod(self._mtime, SECOND)
            db.executemany(INODE, [(m.ino, m.mode, *self._owner, m.size, old, old, changed, old_nano, old_nano,
                                    changed_nano) for m, _, _, _ in self._waiting])
            try:
                db.executemany("INSERT INTO fs_dentry (name, parent_ino, ino) VALUES (?, ?, ?)",
                               [(stored(name), parent, m.ino) for m, parent, name, _ in self._waiting])
            except Exception as e:
                if "UNIQUE" in str(e):
                    raise OSError(errno.EEXIST, os.strerror(errno.EEXIST), self._top) from None
                raise
            db.executemany("INSERT INTO fs_data (ino, chunk_index, data) VALUES (?, ?, ?)",
                           [(m.ino, at // size, memoryview(data)[at:at + size]) for m, _, _, data in self._waiting
                            if m.mode & 0o170000 == S_IFREG for at in range(0, len(data), size)])
            db.executemany("INSERT OR REPLACE INTO fs_symlink (ino, target) VALUES (?, ?)",
                           [(m.ino, stored(os.fsdecode(data))) for m, _, _, data in self._waiting
                            if m.mode & 0o170000 == S_IFLNK])
            parents = set()
            for made, parent, name, _ in self._waiting:
                node = tree.load(parent)
                if node is not None:
                    tree.called(parent, name, made.ino)
                    if made.mode & 0o170000 == S_IFDIR:
                        tree.more_subdirs(parent, 1)
                    parents.add(node)
            for node in parents:
                tree.content_changed(node)
        self._waiting.clear()
        self._bytes = 0
