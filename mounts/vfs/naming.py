"""Inodes and names come and go, in transactions of whoever calls. An inode lives while it has a name or is open."""
from __future__ import annotations

import errno

from mirage.mounts.vfs.names import stored
from mirage.mounts.vfs.nodes import SECOND, Node, Nodes
from mirage.vfs.types import (
    S_IFDIR,
    S_IFLNK,
    S_IFMT,
    S_IFREG,
    error,
)

SHORT = 2 << 20                                              # bytes that one transaction writes or removes
BESIDE = (("fs_xattr", "ino"), ("fs_layer_origin", "ino"), ("fs_partial_origin", "ino"), ("fs_origin", "delta_ino"))


class Naming(Nodes):
    """Gives and takes names."""

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
