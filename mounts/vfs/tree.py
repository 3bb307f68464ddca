"""The file tree of a database as a mount: names, inodes, attributes. Every operation on names commits at once.

Rows that were read are cached while PRAGMA data_version says that no other connection committed anything.
"""
from __future__ import annotations

import errno
import os
import time

from mirage.mounts.vfs import content
from mirage.mounts.vfs.connection import Connection, DatabaseError
from mirage.mounts.vfs.handle import Open, VfsHandle
from mirage.mounts.vfs.names import shown, stored, usable
from mirage.mounts.vfs.opens import Opens
from mirage.mounts.vfs.schema import ROOT
from mirage.process import blocking
from mirage.vfs.types import (
    GID,
    S_IFDIR,
    S_IFIFO,
    S_IFLNK,
    S_IFMT,
    S_IFREG,
    UID,
    Capabilities,
    Entry,
    Stat,
    error,
    new_device,
    permitted,
    unprivileged,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Entries = list[Entry]
    Names = list[str]

NODE = ("i.ino, i.mode, i.nlink, i.uid, i.gid, i.size, i.rdev, i.atime, i.atime_nsec, i.mtime, i.mtime_nsec,"
        " i.ctime, i.ctime_nsec")
SECOND = 10 ** 9
CACHED = 100_000
SHORT = 2 << 20                                              # bytes that one transaction writes or removes
DIRTY = 32 << 20                                             # bytes that wait in memory, of all files together
WAITS = 200_000_000                                          # nanoseconds, see flush_old
NAME_MAX = 255
BESIDE = (("fs_xattr", "ino"), ("fs_layer_origin", "ino"), ("fs_partial_origin", "ino"), ("fs_origin", "delta_ino"))

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


class Tree:
    """The mount of one database; closing it closes the database."""

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
        db.on_idle = self._sweep
        if not db.readonly and db.complete:
            self.remove_unnamed()

    def now(self) -> int:
        """Nanoseconds; never the same twice, so that a version changes with every change. Under the lock."""
        self._last_time = max(time.time_ns(), self._last_time + 1)
        return self._last_time

    # ---- caches

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

    # ---- finding

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

    def lookup(self, path: str, uid: int) -> Stat | str:
        with self.db.reading:
            node = self.load(ROOT)
            if node is None:
                raise error(errno.EIO, path)
            if path != "/":
                at = 0
                for name in path[1:].split("/"):
                    kind = node.mode & S_IFMT
                    if kind != S_IFDIR:
                        if kind == S_IFLNK:
                            return path[:at]
                        raise error(errno.ENOTDIR, path)
                    if uid and not permitted(node.stat or self.stat_of(node), 1, uid):
                        raise error(errno.EACCES, path)
                    below = self.child(node.ino, name)
                    if below is None:
                        raise error(errno.ENOENT, path)
                    node = below
                    at += len(name) + 1
            return self.stat_of(node)

    def stat(self, path: str) -> Stat:
        with self.db.reading:
            return self.stat_of(self.node(path))

    def list(self, path: str) -> Entries:
        with self.db.reading:
            node = self.node(path)
            if node.kind != S_IFDIR:
                raise error(errno.ENOTDIR, path)
            self.count_below(node.ino)
            found = []
            rows = self.db.execute(f"SELECT d.name, {NODE} FROM fs_dentry d JOIN fs_inode i ON i.ino = d.ino"
                                   " WHERE d.parent_ino = ?", (node.ino,)).fetchall()
            for name, *row in rows:
                if not usable(name):                         # `vfs integrity` tells of it
                    continue
                ino = row[0]
                below = self._nodes.get(ino) or self._remember(Node(tuple(row)))
                found.append(Entry(shown(name), self.stat_of(below)))
            return found

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

    def readlink(self, path: str) -> str:
        with self.db.reading:
            node = self.node(path)
            if node.kind != S_IFLNK:
                raise error(errno.EINVAL, path)
            row = self.db.execute("SELECT target FROM fs_symlink WHERE ino = ?", (node.ino,)).fetchone()
            if row is None:
                raise error(errno.EIO, path)
            return shown(row[0])

    def statfs(self, path: str) -> tuple[int, int]:
        try:
            real = os.statvfs(os.path.dirname(self.db.path) or ".")
        except OSError:
            return 0, 0
        return real.f_frsize * real.f_blocks, real.f_frsize * real.f_bavail

    def backend(self, path: str) -> tuple[str, str]:
        return f"vfs:{self.db.path}" if self.db.path != ":memory:" else f"vfs:{id(self)}", path

    # ---- content

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        with self.db.reading:
            node = self.node(path)
            self._regular(node, path)
            if node.size <= content.PIECE or length is not None and length <= content.PIECE:
                return self.read_node(node, offset, content.MAX_FILE_SIZE if length is None else length)
        handle = self.open(path, os.O_RDONLY)
        try:
            end = content.MAX_FILE_SIZE if length is None else offset + length
            parts = []
            while offset < end and (piece := handle.pread(min(content.PIECE, end - offset), offset)):
                parts.append(piece)
                offset += len(piece)
            return b"".join(parts)
        finally:
            handle.close()

    def read_node(self, node: Node, offset: int, length: int) -> bytes:
        """Under the lock."""
        held = self.open_files.get(node.ino) if self.dirty else None
        buffer = held.buffer if held is not None else None
        size = node.size if buffer is None else max(node.size, buffer.end)
        length = min(length, size - offset)
        if length <= 0:
            return b""
        stored_length = min(length, node.size - offset)
        data = content.read(self.db, node.ino, offset, stored_length) if stored_length > 0 else b""
        if buffer is not None:
            data = buffer.overlay(data.ljust(length, b"\0"), offset)
        return data

    @staticmethod
    def _regular(node: Node, path: str) -> None:
        if node.mode & S_IFMT != S_IFREG:
            raise error(errno.EISDIR if node.kind == S_IFDIR else errno.ELOOP if node.kind == S_IFLNK else errno.EINVAL,
                        path)

    def open(self, path: str, flags: int, mode: int = 0) -> VfsHandle:
        if self.db.readonly and flags & (os.O_ACCMODE | os.O_TRUNC):
            raise error(errno.EROFS, path)
        while True:
            with self.db.reading:
                node = self.node(path)
                self._regular(node, path)
                held = self.hold(node.ino)
            if held is not None:
                break
            self._nodes.pop(node.ino, None)                  # another process is removing it
            blocking.sleep(0.001)
        handle = VfsHandle(self, held, flags)
        if flags & os.O_TRUNC:
            try:
                self.truncate(held, 0, always=True)
            except BaseException:
                handle.close()
                raise
        return handle

    def hold(self, ino: int, fresh: bool = False) -> Open | None:
        """One more handle for an inode; None: it has just been removed by another process. Under the lock.

        fresh  it was made in the running transaction
        """
        held = self.open_files.get(ino)
        if held is None:
            if not self.db.readonly:
                if not self.opens.hold(ino):
                    return None
                if not fresh and self.db.execute("SELECT 1 FROM fs_inode WHERE ino = ?", (ino,)).fetchone() is None:
                    self.opens.drop(ino)
                    return None
            held = self.open_files[ino] = Open(ino)
        held.count += 1
        return held

    def release(self, held: Open) -> None:
        """One handle less; the last one of a file without names removes it. Its buffer is flushed already."""
        if self.closed:
            return
        with self.db.lock:
            held.count -= 1
            if held.count:
                return
            if self.lingers:
                self._lingering.append(held)
                return
        self._let_go(held)

    def _let_go(self, held: Open) -> None:
        with self.db.reading:
            if held.count or self.open_files.get(held.ino) is not held:
                return                                       # opened again, or removed
            del self.open_files[held.ino]
            self.opens.drop(held.ino)
            node = self.load(held.ino)
            unnamed = node is not None and not node.nlink and not self.db.readonly
        if unnamed:
            self.remove_inode(held.ino)

    def settle(self, lingers: bool) -> None:
        """Let go of the files that were closed since the last call. Until the next call, files that are closed wait
        for it if `lingers`: a file is often opened again at once."""
        with self.db.lock:
            waiting, self._lingering = self._lingering, []
            self.lingers = lingers
        for held in waiting:
            self._let_go(held)

    def create(self, path: str, mode: int, uid: int, gid: int, exclusive: bool = False) -> VfsHandle:
        while True:
            with self.db.writing:
                parent, name = self.slot(path)
                node = self.child(parent.ino, name)
                if node is None:
                    ino = self.add(parent, name, S_IFREG | mode & 0o7777, uid, gid)
                elif exclusive:
                    raise error(errno.EEXIST, path)
                else:
                    self._regular(node, path)
                    ino = node.ino
                held = self.hold(ino)
            if held is not None:
                return VfsHandle(self, held, os.O_RDWR)
            blocking.sleep(0.001)

    def pwrite(self, held: Open, data: bytes | memoryview, offset: int, keeps_mode: bool = False) -> int:
        """Where what was written ends; `offset` -1 appends. `keeps_mode`: the set-user and set-group bits stay."""
        buffer = held.buffer
        if buffer is not None and (buffer.dirty + len(data) > SHORT or self.dirty >= DIRTY):
            self.flush(held)
        if len(data) > SHORT:
            for at in range(0, len(data), SHORT):
                end = self.pwrite(held, data[at:at + SHORT], offset if offset < 0 else offset + at, keeps_mode)
            return end
        with self.db.glancing:
            node = self.load(held.ino)
            if node is None:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
            buffer = held.buffer
            size = node.size if buffer is None else max(node.size, buffer.end)
            at = size if offset < 0 else offset
            content.check_size(at + len(data))
            if data:
                if buffer is None:
                    buffer = held.buffer = content.Buffer(self.db.chunk_size, size, keeps_mode)
                elif offset < 0 and buffer.appends:
                    at = buffer.end
                buffer.keeps_mode = buffer.keeps_mode and keeps_mode
                before = buffer.dirty
                buffer.write(data, at, offset < 0, self.now())
                self.dirty += buffer.dirty - before
            return at + len(data)

    def flush(self, held: Open, stored: Callable[[Node], object] | None = None) -> None:
        """What waits in memory goes into the database, in one transaction, at the end of which `stored` is called."""
        buffer = held.buffer
        if buffer is None:
            return
        self.db.make_room(buffer.dirty)
        try:
            with self.db.writing:
                buffer = held.buffer
                if buffer is None:
                    return
                node = self.load(held.ino)
                held.buffer = None
                self.dirty -= buffer.dirty
                if node is None:
                    raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
                self._store(node, buffer)
                if stored is not None:
                    stored(node)
        except OSError:
            if held.buffer is None and buffer is not None:
                held.buffer = buffer
                self.dirty += buffer.dirty
            raise

    def _store(self, node: Node, buffer: content.Buffer) -> None:
        now = buffer.time
        if buffer.appends and node.size != buffer.base:
            buffer = buffer.moved(node.size)                 # another process made it longer
        size = max(node.size, buffer.written())
        first = min(buffer.chunks)
        partial = self._is_partial(node.ino)
        content.grow(self.db, node.ino, node.size, first * buffer.size + buffer.chunks[first][1][0][0], partial)
        for index in sorted(buffer.chunks):
            held, ranges = buffer.chunks[index]
            content.write(self.db, node.ino, size, index, ranges, held)
        mode = node.mode if buffer.keeps_mode else unprivileged(node.mode)
        self.db.execute("UPDATE fs_inode SET size = ?, mode = ?, mtime = ?, mtime_nsec = ?, ctime = ?, ctime_nsec = ?"
                        " WHERE ino = ?", (size, mode, *divmod(now, SECOND), *divmod(now, SECOND), node.ino))
        node.size, node.mode, node.mtime, node.ctime, node.stat = size, mode, now, now, None

    def _is_partial(self, ino: int) -> bool:
        if self._partial is None:
            self._partial = self.db.execute("SELECT 1 FROM fs_partial_origin LIMIT 1").fetchone() is not None
        return self._partial and self.db.execute("SELECT 1 FROM fs_partial_origin WHERE ino = ?",
                                                 (ino,)).fetchone() is not None

    def origin_added(self, partial: bool) -> None:
        """A file comes from a base, or a part of it still is there. In a transaction."""
        self._partial = partial or self._partial
        self._beside = True

    def truncate(self, held: Open, size: int, always: bool = False) -> None:
        """Cut or grow to `size` bytes, at once."""
        content.check_size(size)
        if size:
            self.flush(held)
        self.shorten(held.ino, size)
        with self.db.writing:
            if held.buffer is not None and not size:
                self.dirty -= held.buffer.dirty
                held.buffer = None
            node = self.load(held.ino)
            if node is None:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
            self.resize(node, size)

    def shorten(self, ino: int, size: int) -> None:
        """Cut a file that is to have `size` bytes from its end, in short transactions, until one more will do."""
        rows = max(1, SHORT // self.db.chunk_size)
        first = -(-size // self.db.chunk_size)
        with self.db.reading:
            node = self.load(ino)
            if node is None or node.size - size <= SHORT:
                return
        while True:
            self.db.make_room()
            with self.db.writing:
                row = self.db.execute("SELECT chunk_index FROM fs_data WHERE ino = ? AND chunk_index >= ?"
                                      " ORDER BY chunk_index DESC LIMIT 1 OFFSET ?", (ino, first, rows)).fetchone()
                node = self.load(ino)
                if row is None or node is None:
                    return
                self.resize(node, min(node.size, (row[0] + 1) * self.db.chunk_size))

    def resize(self, node: Node, size: int) -> None:
        """In a transaction, behind `shorten`."""
        if size < node.size:
            content.shrink(self.db, node.ino, size)
            self.db.execute("UPDATE fs_partial_origin SET kept_size = min(kept_size, ?) WHERE ino = ?",
                            (size, node.ino))
        elif size > node.size:
            content.grow(self.db, node.ino, node.size, size, self._is_partial(node.ino))
        node.size = size
        self.content_changed(node)

    def content_changed(self, node: Node) -> None:
        now = self.now()
        self.db.execute("UPDATE fs_inode SET size = ?, mtime = ?, mtime_nsec = ?, ctime = ?, ctime_nsec = ?"
                        " WHERE ino = ?", (node.size, *divmod(now, SECOND), *divmod(now, SECOND), node.ino))
        node.mtime = node.ctime = now
        node.stat = None

    def replace(self, path: str, data: bytes, mode: int, uid: int, gid: int) -> None:
        self.db.make_room(len(data))
        if len(data) <= SHORT:
            with self.db.writing:
                parent, name = self.slot(path)
                node = self.child(parent.ino, name)
                if node is None:
                    ino = self.add(parent, name, S_IFREG | mode & 0o7777, uid, gid, len(data))
                    return content.put_all(self.db, ino, data)
                if node.size <= SHORT:
                    return self._overwrite(node, data, path)
        self._replace_long(path, data, mode, uid, gid)

    def _overwrite(self, node: Node, data: bytes, path: str) -> None:
        self._regular(node, path)
        held = self.open_files.get(node.ino)
        if held is not None and held.buffer is not None:
            self.dirty -= held.buffer.dirty
            held.buffer = None
        self.db.execute("DELETE FROM fs_data WHERE ino = ?", (node.ino,))
        self.db.execute("DELETE FROM fs_partial_origin WHERE ino = ?", (node.ino,))
        content.put_all(self.db, node.ino, data)
        node.size = len(data)
        self.content_changed(node)

    def _replace_long(self, path: str, data: bytes, mode: int, uid: int, gid: int) -> None:
        """The new content is written to an inode without a name, in short transactions, which then takes the name.

        A file with several names, or one that is open, keeps its inode: it is cut to nothing and written, in pieces.
        """
        fresh, held = 0, None
        with self.db.writing:
            parent, name = self.slot(path)
            node = self.child(parent.ino, name)
            if node is not None:
                self._regular(node, path)
            if node is None or node.nlink <= 1 and node.ino not in self.open_files:
                fresh = self.insert(S_IFREG | mode & 0o7777, 0, uid, gid, len(data))
                held = self.hold(fresh)
        if not fresh:
            return self._rewrite(path, data)
        if held is None:
            raise error(errno.EIO, path)
        try:
            view = memoryview(data)
            step = max(1, SHORT // self.db.chunk_size)
            size = self.db.chunk_size
            for first in range(0, -(-len(data) // size), step):
                with self.db.writing:
                    content.put_all(self.db, fresh, view[first * size:(first + step) * size], first)
            with self.db.writing:
                parent, name = self.slot(path)
                node = self.child(parent.ino, name)
                if node is not None:
                    self._regular(node, path)
                    self.db.execute("UPDATE fs_inode SET mode = ?, uid = ?, gid = ? WHERE ino = ?",
                                    (node.mode, node.uid, node.gid, fresh))
                    self.db.execute("UPDATE fs_xattr SET ino = ? WHERE ino = ?", (fresh, node.ino))
                    self.unname(parent, name, node)
                self.db.execute("UPDATE fs_inode SET nlink = 1 WHERE ino = ?", (fresh,))
                self.give_name(parent, name, fresh)
                self._nodes.pop(fresh, None)
                if node is None:
                    self.content_changed(parent)
        finally:
            self.release(held)

    def _rewrite(self, path: str, data: bytes) -> None:
        handle = self.open(path, os.O_WRONLY | os.O_TRUNC)
        try:
            handle.pwrite(data, 0)
        finally:
            handle.close()

    # ---- names

    def insert(self, mode: int, nlink: int, uid: int, gid: int, size: int = 0, rdev: int = 0) -> int:
        seconds, nano = divmod(self.now(), SECOND)
        cursor = self.db.execute(
            "INSERT INTO fs_inode (mode, nlink, uid, gid, size, atime, mtime, ctime, rdev, atime_nsec, mtime_nsec,"
            " ctime_nsec) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (mode, nlink, uid, gid, size, seconds, seconds, seconds, rdev, nano, nano, nano))
        ino = int(cursor.lastrowid or 0)
        self._remember(Node((ino, mode, nlink, uid, gid, size, rdev, seconds, nano, seconds, nano, seconds, nano)))
        return ino

    def give_name(self, parent: Node, name: str, ino: int) -> None:
        self.db.execute("INSERT INTO fs_dentry (name, parent_ino, ino) VALUES (?, ?, ?)",
                        (stored(name), parent.ino, ino))
        self.called(parent.ino, name, ino)

    def add(self, parent: Node, name: str, mode: int, uid: int, gid: int, size: int = 0, rdev: int = 0) -> int:
        """A new inode with its name. In a transaction."""
        directory = mode & S_IFMT == S_IFDIR
        if parent.mode & 0o2000:
            gid = parent.gid
            mode |= 0o2000 if directory else 0
        ino = self.insert(mode, 1, uid, gid, size, rdev)    # 1 also for a directory: the peer expects it
        self.give_name(parent, name, ino)
        if directory:
            self.more_subdirs(parent.ino, 1)
            self._subdirs[ino] = 0
            self._whole.add(ino)
        self.content_changed(parent)
        return ino

    def _new(self, path: str, mode: int, uid: int, gid: int, size: int = 0, rdev: int = 0) -> int:
        if path == "/":
            raise error(errno.EEXIST, path)
        parent, name = self.slot(path)
        if self.child(parent.ino, name) is not None:
            raise error(errno.EEXIST, path)
        return self.add(parent, name, mode, uid, gid, size, rdev)

    def mkdir(self, path: str, mode: int, uid: int, gid: int) -> None:
        with self.db.writing:
            self._new(path, S_IFDIR | mode & 0o7777, uid, gid)

    def mkfifo(self, path: str, mode: int, uid: int, gid: int) -> None:
        with self.db.writing:
            self._new(path, S_IFIFO | mode & 0o7777, uid, gid)

    def mknod(self, path: str, mode: int, rdev: int, uid: int, gid: int) -> None:
        """Any special file; `mode` has its kind."""
        with self.db.writing:
            self._new(path, mode, uid, gid, 0, rdev)

    def symlink(self, target: str, path: str, uid: int, gid: int) -> None:
        with self.db.writing:
            ino = self._new(path, S_IFLNK | 0o777, uid, gid, len(target.encode("utf-8", "surrogateescape")))
            self.db.execute("INSERT OR REPLACE INTO fs_symlink (ino, target) VALUES (?, ?)", (ino, stored(target)))

    def link(self, old: str, new: str) -> None:
        with self.db.writing:
            node = self.node(old)
            if node.kind == S_IFDIR:
                raise error(errno.EPERM, old, new)
            parent, name = self.slot(new)
            if self.child(parent.ino, name) is not None:
                raise error(errno.EEXIST, old, new)
            self.give_name(parent, name, node.ino)
            self.count_links(node, 1)
            self.content_changed(parent)

    def count_links(self, node: Node, more: int) -> None:
        """Its number of names, and the time of its change."""
        node.nlink = max(0, node.nlink + more)
        self.inode_changed(node)

    def inode_changed(self, node: Node) -> None:
        node.ctime = self.now()
        node.stat = None
        self.db.execute("UPDATE fs_inode SET nlink = ?, ctime = ?, ctime_nsec = ? WHERE ino = ?",
                        (node.nlink, *divmod(node.ctime, SECOND), node.ino))

    def unlink(self, path: str) -> None:
        self.db.make_room()
        with self.db.writing:
            parent, name = self.slot(path)
            node = self.child(parent.ino, name)
            if node is None:
                raise error(errno.ENOENT, path)
            if node.kind == S_IFDIR:
                raise error(errno.EISDIR, path)
            self.unname(parent, name, node)
            self.content_changed(parent)

    def rmdir(self, path: str) -> None:
        with self.db.writing:
            parent, name = self.slot(path)
            node = self.child(parent.ino, name)
            if node is None:
                raise error(errno.ENOENT, path)
            if node.kind != S_IFDIR:
                raise error(errno.ENOTDIR, path)
            self.check_empty(node, path)
            self.unname(parent, name, node)
            self.content_changed(parent)

    def check_empty(self, node: Node, path: str, path2: str | None = None) -> None:
        if self.db.execute("SELECT 1 FROM fs_dentry WHERE parent_ino = ? LIMIT 1", (node.ino,)).fetchone():
            raise error(errno.ENOTEMPTY, path, path2)

    def unname(self, parent: Node, name: str, node: Node) -> None:
        """Take a name away; the inode goes with its last name, unless it is open or long. In a transaction."""
        self.db.execute("DELETE FROM fs_dentry WHERE parent_ino = ? AND name = ?", (parent.ino, stored(name)))
        self.called(parent.ino, name, 0)
        if node.kind == S_IFDIR:
            node.nlink = 0
            self.more_subdirs(parent.ino, -1)
            self._delete(node)
        elif node.nlink <= 1 and node.size <= SHORT and self._claim(node):
            node.nlink = 0
            self._delete(node)
        else:
            self.count_links(node, -1)
            if not node.nlink and node.ino not in self.open_files:
                self._unnamed.append(node.ino)

    def _claim(self, node: Node) -> bool:
        """Is the inode open nowhere? Then nobody opens it before the transaction has ended."""
        if node.kind != S_IFREG:
            return True
        held = self.open_files.get(node.ino)
        if held is not None and held.count or not self.opens.claim(node.ino):
            return False
        self.open_files.pop(node.ino, None)
        self._claimed.append(node.ino)
        return True

    def _delete(self, node: Node) -> None:
        ino = (node.ino,)
        if node.kind == S_IFREG:
            self.db.execute("DELETE FROM fs_data WHERE ino = ?", ino)
        elif node.kind == S_IFLNK:
            self.db.execute("DELETE FROM fs_symlink WHERE ino = ?", ino)
        if self._beside is None:
            self._beside = bool(self.db.execute("SELECT " + " OR ".join(
                f"EXISTS (SELECT 1 FROM {table})" for table, _ in BESIDE)).fetchone()[0])
        for table, key in BESIDE if self._beside else ():
            self.db.execute(f"DELETE FROM {table} WHERE {key} = ?", ino)
        self.db.execute("DELETE FROM fs_inode WHERE ino = ?", ino)
        self._nodes.pop(node.ino, None)
        self._subdirs.pop(node.ino, None)
        self._whole.discard(node.ino)

    def _sweep(self) -> None:
        """After a transaction: inodes that lost their last name in it and were too long to go with it."""
        while self._unnamed:
            self.remove_inode(self._unnamed.pop())

    def remove_inode(self, ino: int) -> None:
        """Remove an inode that has no name and is open nowhere, in short transactions."""
        if ino in self.open_files or not self.opens.claim(ino):
            return
        try:
            rows = max(1, SHORT // self.db.chunk_size)
            while True:
                self.db.make_room()
                with self.db.writing:
                    self._nodes.pop(ino, None)
                    node = self.load(ino)
                    if node is None or node.nlink:
                        return
                    done = self.db.execute("DELETE FROM fs_data WHERE rowid IN (SELECT rowid FROM fs_data WHERE ino = ?"
                                           " LIMIT ?)", (ino, rows)).rowcount
                    if done < rows:
                        self._delete(node)
                        return
        finally:
            with self.db.lock:
                if ino not in self.open_files:
                    self.opens.drop(ino)

    def remove_unnamed(self) -> None:
        """Inodes that a process left behind when it died with an open file that had lost its last name."""
        with self.db.reading:
            rows = self.db.execute("SELECT ino FROM fs_inode WHERE nlink = 0 AND ino > 1"
                                   " AND NOT EXISTS (SELECT 1 FROM fs_dentry d WHERE d.ino = fs_inode.ino)").fetchall()
        for row in rows:
            self.remove_inode(row[0])

    def rename(self, old: str, new: str, *, replace: bool = True) -> None:
        with self.db.writing:
            source, old_name = self.slot(old)
            target, new_name = self.slot(new)
            node = self.child(source.ino, old_name)
            if node is None:
                raise error(errno.ENOENT, old, new)
            directory = node.kind == S_IFDIR
            if directory and (new + "/").startswith(old + "/") and new != old:
                raise error(errno.EINVAL, old, new)
            there = self.child(target.ino, new_name)
            if there is not None:
                if there.ino == node.ino and replace:
                    return
                self.may_replace(there, directory, replace, old, new)
            self.move(source, old_name, node, target, new_name, there)

    def move(self, source: Node, old_name: str, node: Node, target: Node, new_name: str, there: Node | None) -> None:
        """Give an inode another name, that of `there` if that is not None. In a transaction, all checked."""
        if there is not None:
            self.unname(target, new_name, there)
        self.db.execute("UPDATE fs_dentry SET parent_ino = ?, name = ? WHERE parent_ino = ? AND name = ?",
                        (target.ino, stored(new_name), source.ino, stored(old_name)))
        self.called(source.ino, old_name, 0)
        self.called(target.ino, new_name, node.ino)
        if node.kind == S_IFDIR and source.ino != target.ino:
            self.more_subdirs(source.ino, -1)
            self.more_subdirs(target.ino, 1)
        self.inode_changed(node)
        self.content_changed(source)
        if target.ino != source.ino:
            self.content_changed(target)

    def may_replace(self, there: Node, directory: bool, replace: bool, old: str, new: str) -> None:
        if not replace:
            raise error(errno.EEXIST, old, new)
        if there.kind == S_IFDIR:
            if not directory:
                raise error(errno.EISDIR, old, new)
            self.check_empty(there, old, new)
        elif directory:
            raise error(errno.ENOTDIR, old, new)

    # ---- attributes

    def setattr(self, path: str, *, mode: int | None = None, uid: int | None = None, gid: int | None = None,
                atime_ns: int | None = None, mtime_ns: int | None = None) -> None:
        held = None
        if self.dirty:
            with self.db.reading:
                held = self.open_files.get(self.node(path).ino)
        if held is not None:
            self.flush(held)
        with self.db.writing:
            self.set_attributes(self.node(path), mode, uid, gid, atime_ns, mtime_ns)

    def set_attributes(self, node: Node, mode: int | None = None, uid: int | None = None, gid: int | None = None,
                       atime_ns: int | None = None, mtime_ns: int | None = None) -> None:
        """None keeps. What was written to the inode is stored already. In a transaction."""
        if mode is not None:
            node.mode = node.mode & S_IFMT | mode & 0o7777
        if uid is not None:
            node.uid = uid
        if gid is not None:
            node.gid = gid
        if atime_ns is not None:
            node.atime = atime_ns
        if mtime_ns is not None:
            node.mtime = mtime_ns
        node.ctime = self.now()
        node.stat = None
        self.db.execute(
            "UPDATE fs_inode SET mode = ?, uid = ?, gid = ?, atime = ?, atime_nsec = ?, mtime = ?, mtime_nsec = ?,"
            " ctime = ?, ctime_nsec = ? WHERE ino = ?",
            (node.mode, node.uid, node.gid, *divmod(node.atime, SECOND), *divmod(node.mtime, SECOND),
             *divmod(node.ctime, SECOND), node.ino))

    def getxattr(self, path: str, name: str) -> bytes:
        with self.db.reading:
            value = self.attribute(self.node(path).ino, name)
        if value is None:
            raise error(errno.ENODATA, path)
        return value

    def listxattr(self, path: str) -> Names:
        with self.db.reading:
            return self.attributes(self.node(path).ino)

    def setxattr(self, path: str, name: str, value: bytes) -> None:
        with self.db.writing:
            self.set_attribute(self.node(path), name, value)

    def removexattr(self, path: str, name: str) -> None:
        with self.db.writing:
            if not self.remove_attribute(self.node(path), name):
                raise error(errno.ENODATA, path)

    def attribute(self, ino: int, name: str) -> bytes | None:
        """An extended attribute. Under the lock, as what follows."""
        if self._attributes is None:
            self._attributes = self.db.complete and self.db.execute(
                "SELECT 1 FROM fs_xattr LIMIT 1").fetchone() is not None
        row = self.db.execute("SELECT value FROM fs_xattr WHERE ino = ? AND name = ?",
                              (ino, stored(name))).fetchone() if self._attributes else None
        return None if row is None else bytes(row[0])

    def attributes(self, ino: int) -> Names:
        rows = self.db.execute("SELECT name FROM fs_xattr WHERE ino = ? ORDER BY name",
                               (ino,)).fetchall() if self.db.complete else []
        return [shown(row[0]) for row in rows]

    def set_attribute(self, node: Node, name: str, value: bytes) -> None:
        self.db.execute("INSERT OR REPLACE INTO fs_xattr VALUES (?, ?, ?)", (node.ino, stored(name), value))
        self._attributes = self._beside = True
        self.inode_changed(node)

    def remove_attribute(self, node: Node, name: str) -> bool:
        done = self.db.execute("DELETE FROM fs_xattr WHERE ino = ? AND name = ?", (node.ino, stored(name))).rowcount
        if done:
            self.inode_changed(node)
        return bool(done)

    # ---- the end

    def flush_all(self) -> None:
        """Everything that waits in memory goes into the database. The first error is raised after all were tried."""
        failure: OSError | None = None
        for held in list(self.open_files.values()):
            try:
                self.flush(held)
            except OSError as e:
                failure = failure or e
        if failure is not None:
            raise failure

    def flush_old(self) -> None:
        """The same for what nobody has added to for a while, so that others see it. Errors are for sync and close."""
        until = time.time_ns() - WAITS
        for held in list(self.open_files.values()):
            buffer = held.buffer
            if buffer is not None and buffer.time < until:
                try:
                    self.flush(held)
                except OSError:
                    continue

    def close(self) -> None:
        """Flush, and close the database. Handles that are still open are of no use afterwards."""
        if self.closed:
            return
        self.closed = True
        try:
            if not self.db.readonly:
                self.flush_all()
                self.settle(False)
        finally:
            self.opens.close()
            self.db.close()
