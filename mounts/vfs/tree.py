"""The file tree of a database as a mount: paths, attributes. Every operation on names commits at once."""
from __future__ import annotations

import errno
import os

from mirage.mounts.vfs import content
from mirage.mounts.vfs.connection import Connection
from mirage.mounts.vfs.contents import Contents
from mirage.mounts.vfs.handle import VfsHandle
from mirage.mounts.vfs.names import shown, stored, usable
from mirage.mounts.vfs.naming import SHORT
from mirage.mounts.vfs.nodes import NODE, SECOND, Node
from mirage.mounts.vfs.schema import ROOT
from mirage.process import blocking
from mirage.vfs.types import (
    S_IFDIR,
    S_IFIFO,
    S_IFLNK,
    S_IFMT,
    S_IFREG,
    Entry,
    Stat,
    error,
    permitted,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    Entries = list[Entry]
    Names = list[str]


class Tree(Contents):
    """The mount of one database; closing it closes the database."""

    def __init__(self, db: Connection, map_root: bool = True) -> None:
        super().__init__(db, map_root)
        db.on_idle = self._sweep
        if not db.readonly and db.complete:
            self.remove_unnamed()

    # ---- finding

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
