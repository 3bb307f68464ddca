"""Rows of fs_inode and names, as they are in the database and in memory; what both `Tree` and kernels are told of them.

Rows that were read are cached while PRAGMA data_version says that no other connection committed anything.
"""
from __future__ import annotations

import errno
import time

from mirage.mounts.vfs import content
from mirage.mounts.vfs.connection import Connection, DatabaseError
from mirage.mounts.vfs.handle import Open
from mirage.mounts.vfs.names import stored
from mirage.mounts.vfs.opens import Opens
from mirage.mounts.vfs.schema import ROOT
from mirage.vfs.types import (
    GID,
    S_IFDIR,
    S_IFLNK,
    S_IFMT,
    S_IFREG,
    UID,
    Capabilities,
    Stat,
    error,
    new_device,
    unprivileged,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NODE = ("i.ino, i.mode, i.nlink, i.uid, i.gid, i.size, i.rdev, i.atime, i.atime_nsec, i.mtime, i.mtime_nsec,"
        " i.ctime, i.ctime_nsec")
SECOND = 10 ** 9
CACHED = 100_000
NAME_MAX = 255

_devices: dict[str, int] = {}


class Node:
    """A row of fs_inode. Times in nanoseconds."""

    __slots__ = ("atime", "ctime", "gid", "ino", "mode", "mtime", "nlink", "rdev", "size", "stat", "uid")

    def __init__(self, row: tuple[Any, ...]) -> None:
        try:
            self._fill(row)
        except (TypeError, ValueError):
            raise DatabaseError(errno.EIO, f"vfs: inode {row[0]} has values that cannot be") from None

    def _fill(self, row: tuple[Any, ...]) -> None:
        (self.ino, self.mode, self.nlink, self.uid, self.gid, self.size, self.rdev,
         atime, atime_nsec, mtime, mtime_nsec, ctime, ctime_nsec) = row
        self.atime = atime * SECOND + atime_nsec
        self.mtime = mtime * SECOND + mtime_nsec
        self.ctime = ctime * SECOND + ctime_nsec
        self.stat: Stat | None = None
        if type(self.mode) is not int or not 0 <= self.mode < 1 << 32 or type(self.size) is not int or self.size < 0 \
                or type(self.atime + self.mtime + self.ctime) is not int or type(self.nlink) is not int \
                or type(self.uid + self.gid + self.rdev) is not int:
            raise ValueError

    @property
    def kind(self) -> int:
        return int(self.mode) & S_IFMT


class Nodes:
    """Inodes and names of one database, their caches, and what stat shows of them."""

    def __init__(self, db: Connection, map_root: bool = True) -> None:
        self.db = db
        self.map_root = map_root
        self.owners: Callable[[int, int], tuple[int, int]] | None = None    # what to show for whom, where it is another
        self.capabilities = Capabilities("open", "identity", "lookup") if db.readonly else Capabilities(
            "open", "create", "mkdir", "remove", "rename", "link", "symlink", "setattr", "xattr", "identity", "mkfifo",
            "lookup", "replace")
        key = db.path
        self.device = _devices.setdefault(key, new_device()) if key != ":memory:" else new_device()
        self.opens = Opens(db.path)
        self.open_files: dict[int, Open] = {}
        self.lingers = False                                 # somebody calls `settle` often
        self._lingering: list[Open] = []
        self.dirty = 0
        self._nodes: dict[int, Node] = {}
        self._names: dict[tuple[int, str], int] = {}
        self._subdirs: dict[int, int] = {}
        self._whole: set[int] = set()                        # directories of which `_names` has all names
        self._attributes: bool | None = None                 # has any inode extended attributes? None: not known
        self._partial: bool | None = None                    # is any file a part of its base's? None: not known
        self._beside: bool | None = None                     # is anything in the tables of BESIDE? None: not known
        self._last_time = 0
        self._claimed: list[int] = []                        # inodes that the running transaction removes
        self._unnamed: list[int] = []                        # long ones that it took the last name of
        self.closed = False
        self.listeners: list[Callable[[], None]] = []        # called with on_change
        self.observers: list[Callable[[], None]] = []        # called at the end of each of our transactions
        db.on_change = self._forget_all
        db.on_end = self._end

    def now(self) -> int:
        """Nanoseconds; never the same twice, so that a version changes with every change. Under the lock."""
        self._last_time = max(time.time_ns(), self._last_time + 1)
        return self._last_time

    def _forget_all(self) -> None:
        self._nodes.clear()
        self._names.clear()
        self._subdirs.clear()
        self._whole.clear()
        self._attributes = self._partial = self._beside = None
        for listener in self.listeners:
            listener()

    def _end(self) -> None:
        for ino in self._claimed:
            self.opens.drop(ino)
        self._claimed.clear()
        for observer in self.observers:
            observer()

    def _remember(self, node: Node) -> Node:
        if len(self._nodes) >= CACHED:
            self._nodes.clear()
        self._nodes[node.ino] = node
        return node

    def load(self, ino: int) -> Node | None:
        """The inode. Under the lock."""
        node = self._nodes.get(ino)
        if node is None:
            row = self.db.execute(f"SELECT {NODE} FROM fs_inode i WHERE i.ino = ?", (ino,)).fetchone()
            if row is not None:
                node = self._remember(Node(row))
        return node

    def child(self, parent: int, name: str) -> Node | None:
        """The inode of a name in a directory. Under the lock."""
        key = (parent, name)
        ino = self._names.get(key)
        if ino is not None:
            return self.load(ino) if ino else None
        if parent in self._whole:
            return None
        row = self.db.execute(f"SELECT {NODE} FROM fs_dentry d JOIN fs_inode i ON i.ino = d.ino"
                              " WHERE d.parent_ino = ? AND d.name = ?", (parent, stored(name))).fetchone()
        self.called(parent, name, row[0] if row is not None else 0)
        if row is None:
            return None
        return self._nodes.get(row[0]) or self._remember(Node(row))

    def called(self, directory: int, name: str, ino: int) -> None:
        """The name stands for `ino` (0: for nothing). Under the lock."""
        if len(self._names) >= CACHED:
            self._names.clear()
            self._whole.clear()
        self._names[directory, name] = ino

    def stat_of(self, node: Node) -> Stat:
        """What stat shows of an inode, with what is written and not stored yet. Under the lock."""
        held = self.open_files.get(node.ino) if self.dirty else None
        buffer = held.buffer if held is not None else None
        if buffer is None and node.stat is not None:
            return node.stat
        kind, size, mtime, ctime, mode = node.kind, node.size, node.mtime, node.ctime, node.mode
        nlink = node.nlink
        if buffer is not None:
            size, mtime, ctime = max(size, buffer.end), buffer.time, buffer.time
            mode = mode if buffer.keeps_mode else unprivileged(mode)
        if kind == S_IFDIR:
            size, nlink = 4096, 2 + self._subdirectories(node.ino) if nlink else 0
            blocks = 8
        elif kind == S_IFREG:
            blocks = -(-size // 4096) * 8 if size <= content.HOLE else self._blocks(node.ino, size)
        else:
            blocks = 0
        uid, gid = node.uid, node.gid
        if self.owners is not None:
            uid, gid = self.owners(uid, gid)
        elif self.map_root:
            uid, gid = uid or UID, gid or GID
        stat = Stat(mode, size, mtime, atime_ns=node.atime, ctime_ns=ctime, uid=uid, gid=gid, nlink=nlink,
                    ino=node.ino, dev=self.device, rdev=node.rdev, blocks=blocks,
                    version=f"{node.ino:x}.{mtime:x}.{ctime:x}.{size:x}")
        if buffer is None:
            node.stat = stat
        return stat

    def _blocks(self, ino: int, size: int) -> int:
        chunks = self.db.execute("SELECT count(*) FROM fs_data WHERE ino = ?", (ino,)).fetchone()[0]
        return int(-(-min(size, chunks * self.db.chunk_size) // 4096) * 8)

    def _subdirectories(self, ino: int) -> int:
        """agentfs-sdk stores no true link counts of directories: they are counted."""
        count = self._subdirs.get(ino)
        if count is None:
            count = self.db.execute(
                "SELECT count(*) FROM fs_dentry d JOIN fs_inode i ON i.ino = d.ino"
                " WHERE d.parent_ino = ? AND i.mode & 61440 = 16384", (ino,)).fetchone()[0]
            self._subdirs[ino] = count
        return int(count)

    def more_subdirs(self, ino: int, more: int) -> None:
        if ino in self._subdirs:
            self._subdirs[ino] += more
            node = self._nodes.get(ino)
            if node is not None:
                node.stat = None

    def show_owners(self) -> None:
        """From now on root's files are shown as root's: a layer must keep the owners of its base."""
        with self.db.reading:
            self.map_root = False
            self._nodes.clear()

    def node(self, path: str) -> Node:
        """The inode that `path` names; ENOENT, ENOTDIR. Under the lock."""
        node = self.load(ROOT)
        if node is None:
            raise error(errno.EIO, path)
        if path != "/":
            for name in path[1:].split("/"):
                if node.mode & S_IFMT != S_IFDIR:
                    raise error(errno.ENOTDIR, path)
                below = self.child(node.ino, name)
                if below is None:
                    raise error(errno.ENOENT, path)
                node = below
        return node

    def slot(self, path: str) -> tuple[Node, str]:
        """The directory that holds the last component of `path`, and that component. Under the lock."""
        if path == "/":
            raise error(errno.EBUSY, path)
        head, _, name = path.rpartition("/")
        node = self.node(head or "/")
        if node.kind != S_IFDIR:
            raise error(errno.ENOTDIR, path)
        if not name or name in (".", "..") or "\0" in name:
            raise error(errno.EINVAL, path)
        if len(name) > 63 and len(name.encode("utf-8", "surrogateescape")) > NAME_MAX:
            raise error(errno.ENAMETOOLONG, path)
        return node, name

    def count_below(self, ino: int) -> None:
        """Subdirectories of each subdirectory, in one query."""
        counts = self.db.execute(
            "SELECT s.ino, (SELECT count(*) FROM fs_dentry d JOIN fs_inode i ON i.ino = d.ino"
            " WHERE d.parent_ino = s.ino AND i.mode & 61440 = 16384)"
            " FROM fs_dentry s JOIN fs_inode p ON p.ino = s.ino WHERE s.parent_ino = ?"
            " AND p.mode & 61440 = 16384", (ino,))
        if len(self._subdirs) >= CACHED:
            self._subdirs.clear()
        self._subdirs.update(counts)

    @staticmethod
    def _regular(node: Node, path: str) -> None:
        if node.mode & S_IFMT != S_IFREG:
            raise error(errno.EISDIR if node.kind == S_IFDIR else errno.ELOOP if node.kind == S_IFLNK else errno.EINVAL,
                        path)

    def content_changed(self, node: Node) -> None:
        now = self.now()
        self.db.execute("UPDATE fs_inode SET size = ?, mtime = ?, mtime_nsec = ?, ctime = ?, ctime_nsec = ?"
                        " WHERE ino = ?", (node.size, *divmod(now, SECOND), *divmod(now, SECOND), node.ino))
        node.mtime = node.ctime = now
        node.stat = None

    def count_links(self, node: Node, more: int) -> None:
        """Its number of names, and the time of its change."""
        node.nlink = max(0, node.nlink + more)
        self.inode_changed(node)

    def inode_changed(self, node: Node) -> None:
        node.ctime = self.now()
        node.stat = None
        self.db.execute("UPDATE fs_inode SET nlink = ?, ctime = ?, ctime_nsec = ? WHERE ino = ?",
                        (node.nlink, *divmod(node.ctime, SECOND), node.ino))
