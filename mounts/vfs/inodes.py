"""A database by inode numbers (mirage.vfs.inodes), for a kernel: nodes are the inodes themselves.

Which inodes and names the kernel knows is remembered; after another program's transaction (or one of a terminal of this
process) those that have changed are given out by `tend`.
"""
from __future__ import annotations

import errno
import os
import threading

from mirage.mounts.vfs import content
from mirage.mounts.vfs.names import shown, stored, usable
from mirage.mounts.vfs.naming import SHORT
from mirage.mounts.vfs.nodes import NODE, Node
from mirage.process import blocking
from mirage.vfs.inodes import (
    FALLOC_KEEP_SIZE,
    FALLOC_PUNCH_HOLE,
    FALLOC_ZERO_RANGE,
    RENAME_EXCHANGE,
    RENAME_NOREPLACE,
    ROOT,
    XATTR_CREATE,
    XATTR_REPLACE,
    Owners,
)
from mirage.vfs.types import S_IFDIR, S_IFLNK, S_IFMT, S_IFREG, Stat, error, unprivileged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.mounts.vfs.handle import Open
    from mirage.mounts.vfs.tree import Tree
    from mirage.vfs.inodes import Changes, Found, OpenNode, Stale

    Names = list[str]
    Pairs = list[tuple[int, str]]

TTL = 10.0
CHECKPOINT_BYTES, CHECKPOINT_ENDS = 16 << 20, 1000
MANY = 200_000                                               # names that are remembered
SOCKETS_AND_DEVICES = frozenset((0o010000, 0o020000, 0o060000, 0o140000))


class Known:
    """What the kernel was told of an inode, and how many references to it it holds."""

    __slots__ = ("count", "stat")

    def __init__(self, stat: Stat) -> None:
        self.count = 0
        self.stat = stat


class TreeInodes:
    """The tree of a database. Several of these, and terminals, may use one tree.

    alone  nobody else uses the tree object (another one of the same file may be in use): owners are mapped there
    """

    checked = True
    prompt = True

    def __init__(self, tree: Tree, owners: Owners | None = None, ttl: float = TTL, alone: bool = False) -> None:
        self.tree = tree
        self.db = tree.db
        self.ttl = ttl
        self.owners = owners or Owners((os.getuid(), os.getgid()))
        self._alone = alone
        if alone:
            tree.owners = self.owners.shown
        self._known: dict[int, Known] = {}
        self._names: dict[int, dict[str, int]] = {}          # directory -> what the kernel was told about names in it
        self._count = 0
        self._dropped: Pairs = []                            # names that are not remembered any more
        self._checkpoint: threading.Thread | None = None
        self._shown: dict[int, tuple[Stat, Stat]] = {}
        self._mine = threading.local()
        self._changed = False
        self._written = 0                                    # bytes and transactions since the last checkpoint
        self._ends = 0
        tree.listeners.append(self._others)
        tree.observers.append(self._ended)
        with self.db.reading:
            root = tree.load(ROOT)
            if root is None:
                raise OSError(errno.EIO, "the database has no root directory")
            self._known[ROOT] = Known(self._stat(root))
            self._last = self.db.execute("SELECT max(id) FROM fs_dentry").fetchone()[0] or 0

    # ---- who changed something

    def _others(self) -> None:
        """Another connection wrote, or a transaction of ours was taken back. Under the lock."""
        self._changed = True

    def _ended(self) -> None:
        """A transaction of this process ended: of the kernel's, or of a terminal. Under the lock."""
        self._ends += 1
        if not getattr(self._mine, "busy", False):
            self._changed = True

    def tend(self) -> Stale:
        tree = self.tree
        with Busy(self):
            if tree.dirty:
                tree.flush_old()
            tree.settle(True)
        if self._written > CHECKPOINT_BYTES or self._ends > CHECKPOINT_ENDS:
            self._start_checkpoint()
        with self.db.reading:                                # notices other programs' transactions
            names, self._dropped = self._dropped, []
            if not self._changed:
                return [], names
            self._changed = False
        known = list(self._known)
        stale = []
        for at in range(0, len(known), 500):
            with self.db.reading:
                stale += self._differ(known[at:at + 500])
        changed = set(stale)
        for parent, told in list(self._names.items()) if changed else ():
            for name, ino in list(told.items()):
                if parent in changed or ino in changed:
                    with self.db.reading:
                        found = tree.child(parent, name)
                        if (found.ino if found is not None else 0) != ino:
                            told.pop(name, None)
                            names.append((parent, name))
        return stale, names + self._appeared()

    def _appeared(self) -> Pairs:
        """Names that have come, and of which the kernel was told something else."""
        found = []
        with self.db.reading:
            rows = self.db.execute("SELECT id, parent_ino, name, ino FROM fs_dentry WHERE id > ?",
                                   (self._last,)).fetchall()
            for number, parent, stored_name, ino in rows:
                self._last = max(self._last, number)
                told = self._names.get(parent)
                if told and usable(stored_name) and told.get(shown(stored_name), ino) != ino:
                    del told[shown(stored_name)]
                    found.append((parent, shown(stored_name)))
        return found

    def _start_checkpoint(self) -> None:
        """In a thread of its own: it waits for the disk, and what others change is to show meanwhile."""
        if self._checkpoint is None or not self._checkpoint.is_alive():
            self._written = self._ends = 0
            self._checkpoint = threading.Thread(target=self.db.checkpoint, name="vfs-checkpoint", daemon=True)
            self._checkpoint.start()

    def _differ(self, inodes: list[int]) -> list[int]:
        """Those of which the kernel was told something else. Under the lock."""
        marks = ",".join("?" * len(inodes))
        rows = self.db.execute(f"SELECT {NODE} FROM fs_inode i WHERE i.ino IN ({marks})", inodes).fetchall()
        found = {row[0]: Node(row) for row in rows}
        stale = []
        for ino in inodes:
            known = self._known.get(ino)
            if known is None:
                continue
            node, stat = found.get(ino), known.stat
            if node is None:
                if stat.nlink:
                    stale.append(ino)
            elif (node.ctime, node.mtime, node.mode) != (stat.ctime_ns, stat.mtime_ns, stat.mode) \
                    or node.mode & S_IFMT == S_IFREG and (node.size, node.nlink) != (stat.size, stat.nlink):
                stale.append(ino)
                known.stat = self._stat(self.tree.load(ino) or node)
        return stale

    # ---- showing

    def _stat(self, node: Node) -> Stat:
        """With the owner to show. Under the lock."""
        stat = self.tree.stat_of(node)
        if self._alone:
            return stat
        uid, gid = self.owners.shown(node.uid, node.gid)
        if (stat.uid, stat.gid) == (uid, gid):
            return stat
        cached = self._shown.get(node.ino)
        if cached is not None and cached[0] is stat:
            return cached[1]
        other = Stat(stat.mode, stat.size, stat.mtime_ns, atime_ns=stat.atime_ns, ctime_ns=stat.ctime_ns, uid=uid,
                     gid=gid, nlink=stat.nlink, ino=stat.ino, dev=stat.dev, rdev=stat.rdev, blocks=stat.blocks,
                     version=stat.version)
        if len(self._shown) > MANY:
            self._shown.clear()
        self._shown[node.ino] = (stat, other)
        return other

    def _told(self, node: Node) -> Stat:
        """What the kernel is told now. Under the lock."""
        stat = self._stat(node)
        known = self._known.get(node.ino)
        if known is not None:
            known.stat = stat
        return stat

    def _found(self, node: Node, parent: int = 0, name: str = "") -> Found:
        """A node that the kernel gets one more reference to. Under the lock."""
        stat = self._stat(node)
        known = self._known.get(node.ino)
        if known is None:
            known = self._known[node.ino] = Known(stat)
        known.stat = stat
        known.count += 1
        if parent:
            self._tell(parent, name, node.ino)
        return node.ino, stat

    def _tell(self, parent: int, name: str, ino: int) -> None:
        told = self._names.get(parent)
        if told is None:
            told = self._names[parent] = {}
        if name not in told:
            self._count += 1
            if self._count > MANY:
                self._dropped.extend((above, each) for above, names in self._names.items() for each in names)
                self._names.clear()
                self._names[parent] = told = {}
                self._count = 1
        told[name] = ino

    def _node(self, ino: int) -> Node:
        node = self.tree.load(ino)
        if node is None:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return node

    def _directory(self, ino: int) -> Node:
        node = self.tree.load(ino)
        if node is None:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
        if node.mode & S_IFMT != S_IFDIR:
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        return node

    def lookup(self, parent: int, name: str) -> Found | None:
        with self.db.glancing:
            self._directory(parent)
            node = self.tree.child(parent, name)
            if node is None:
                self._tell(parent, name, 0)
                return None
            return self._found(node, parent, name)

    def forget(self, node: int, count: int) -> None:
        with self.db.lock:
            known = self._known.get(node)
            if known is None:
                return
            known.count -= count
            if known.count <= 0 and node != ROOT:
                del self._known[node]
                self._shown.pop(node, None)
                self._count -= len(self._names.pop(node, ()))

    def getattr(self, node: int, handle: OpenNode | None = None) -> Stat:
        with self.db.glancing:
            found = self.tree.load(node)
            if found is not None:
                return self._told(found)
            known = self._known.get(node)
            if known is None:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
            stat = known.stat                                # gone, but for the reference that the kernel holds
            known.stat = Stat(stat.mode, stat.size, stat.mtime_ns, atime_ns=stat.atime_ns, ctime_ns=stat.ctime_ns,
                              uid=stat.uid, gid=stat.gid, nlink=0, ino=stat.ino, dev=stat.dev, rdev=stat.rdev, blocks=0)
            return known.stat

    def readlink(self, node: int) -> str:
        with self.db.glancing:
            found = self._node(node)
            if found.kind != S_IFLNK:
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
            row = self.db.execute("SELECT target FROM fs_symlink WHERE ino = ?", (node,)).fetchone()
            if row is None:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return shown(row[0])

    def access(self, node: int, mode: int) -> bool:
        return True

    def statfs(self) -> tuple[int, int]:
        return self.tree.statfs("/")

    # ---- changing

    def _writing(self) -> Changing:
        return Changing(self)

    def setattr(self, node: int, changes: Changes, handle: OpenNode | None = None) -> Stat:
        tree = self.tree
        with tree.db.lock:
            held = tree.open_files.get(node)
        if held is not None:
            self._flush(held)
        if changes.size is not None:
            content.check_size(changes.size)
            with Busy(self):
                tree.shorten(node, changes.size)
        with self._writing():
            found = self._node(node)
            if changes.size is not None:
                if found.kind != S_IFREG:
                    raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
                tree.resize(found, changes.size)
            mode = changes.mode
            if changes.drop_privileges and found.kind != S_IFDIR:
                mode = unprivileged(found.mode if mode is None else mode)
            tree.set_attributes(found, mode,
                                None if changes.uid is None else self.owners.stored_uid(changes.uid),
                                None if changes.gid is None else self.owners.stored_gid(changes.gid),
                                changes.atime_ns, changes.mtime_ns)
            return self._told(found)

    def _new(self, parent: int, name: str, mode: int, uid: int, gid: int, size: int = 0, rdev: int = 0) -> Node:
        """In a transaction."""
        tree = self.tree
        directory = self._directory(parent)
        if not directory.nlink:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
        if tree.child(parent, name) is not None:
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
        ino = tree.add(directory, name, mode, *self.owners.stored(uid, gid), size, rdev)
        return self._node(ino)

    def symlink(self, parent: int, name: str, target: str, uid: int, gid: int) -> Found:
        with self._writing():
            node = self._new(parent, name, S_IFLNK | 0o777, uid, gid, len(target.encode("utf-8", "surrogateescape")))
            self.db.execute("INSERT OR REPLACE INTO fs_symlink (ino, target) VALUES (?, ?)", (node.ino, stored(target)))
            return self._found(node, parent, name)

    def mknod(self, parent: int, name: str, mode: int, rdev: int, uid: int, gid: int) -> Found:
        kind = mode & S_IFMT
        if kind != S_IFREG and kind not in SOCKETS_AND_DEVICES:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        with self._writing():
            return self._found(self._new(parent, name, mode, uid, gid, 0, rdev), parent, name)

    def mkdir(self, parent: int, name: str, mode: int, uid: int, gid: int) -> Found:
        with self._writing():
            return self._found(self._new(parent, name, S_IFDIR | mode, uid, gid), parent, name)

    def unlink(self, parent: int, name: str) -> None:
        self._remove(parent, name, False)

    def rmdir(self, parent: int, name: str) -> None:
        self._remove(parent, name, True)

    def _remove(self, parent: int, name: str, directory: bool) -> None:
        tree = self.tree
        self.db.make_room()
        with self._writing():
            above = self._directory(parent)
            node = tree.child(parent, name)
            if node is None:
                raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
            if directory != (node.kind == S_IFDIR):
                raise error(errno.ENOTDIR if directory else errno.EISDIR, name)
            if directory:
                tree.check_empty(node, name)
            self._remember(node)
            tree.unname(above, name, node)
            tree.content_changed(above)
            self._tell(parent, name, 0)

    def _remember(self, node: Node) -> None:
        """Before a name goes: an inode that disappears with it is still shown to who refers to it."""
        if node.ino in self._known:
            self._told(node)

    def rename(self, parent: int, name: str, new_parent: int, new_name: str, flags: int) -> None:
        if flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        tree = self.tree
        with self._writing():
            source, target = self._directory(parent), self._directory(new_parent)
            node, there = tree.child(parent, name), tree.child(new_parent, new_name)
            if node is None or there is None and flags & RENAME_EXCHANGE:
                raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
            if not target.nlink:
                raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
            if there is not None and there.ino == node.ino and not flags & RENAME_NOREPLACE:
                return
            if parent != new_parent:
                for moved, into in ((node, target), (there, source) if flags & RENAME_EXCHANGE else (None, source)):
                    if moved is not None and moved.kind == S_IFDIR:
                        self._not_below(moved.ino, into.ino)
            if flags & RENAME_EXCHANGE and there is not None:
                self._exchange(source, name, node, target, new_name, there)
                return
            if there is not None:
                tree.may_replace(there, node.kind == S_IFDIR, not flags & RENAME_NOREPLACE, name, new_name)
                self._remember(there)
            tree.move(source, name, node, target, new_name, there)
            self._tell(parent, name, 0)
            self._tell(new_parent, new_name, node.ino)

    def _not_below(self, ino: int, at: int) -> None:
        """EINVAL where the directory `at` lies in the directory `ino`, which another program may have moved."""
        while at != ROOT:
            if at == ino:
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
            row = self.db.execute("SELECT parent_ino FROM fs_dentry WHERE ino = ? LIMIT 1", (at,)).fetchone()
            if row is None:
                return
            at = row[0]

    def _exchange(self, source: Node, name: str, node: Node, target: Node, new_name: str, there: Node) -> None:
        tree = self.tree
        for directory, called, ino in ((source, name, there.ino), (target, new_name, node.ino)):
            self.db.execute("UPDATE fs_dentry SET ino = ? WHERE parent_ino = ? AND name = ?",
                            (ino, directory.ino, stored(called)))
            tree.called(directory.ino, called, ino)
            self._tell(directory.ino, called, ino)
        if source.ino != target.ino:
            more = (there.kind == S_IFDIR) - (node.kind == S_IFDIR)
            tree.more_subdirs(source.ino, more)
            tree.more_subdirs(target.ino, -more)
            tree.content_changed(target)
        tree.inode_changed(node)
        tree.inode_changed(there)
        tree.content_changed(source)

    def link(self, node: int, parent: int, name: str) -> Found:
        tree = self.tree
        with self._writing():
            found = self._node(node)
            directory = self._directory(parent)
            if found.kind == S_IFDIR:
                raise OSError(errno.EPERM, os.strerror(errno.EPERM))
            if not directory.nlink:
                raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
            if tree.child(parent, name) is not None:
                raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
            tree.give_name(directory, name, node)
            tree.count_links(found, 1)
            tree.content_changed(directory)
            return self._found(found, parent, name)

    # ---- open files

    def open(self, node: int, flags: int) -> OpenNode:
        tree = self.tree
        if self.db.readonly and flags & (os.O_ACCMODE | os.O_TRUNC):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        while True:
            with self.db.glancing:
                self._node(node)
                held = tree.hold(node)
            if held is not None:
                break
            blocking.sleep(0.001)                            # another process is removing it
        handle = TreeOpen(self, held, flags)
        if flags & os.O_TRUNC:
            try:
                with Busy(self):
                    tree.truncate(held, 0, always=True)
            except BaseException:
                handle.close()
                raise
        return handle

    def create(self, parent: int, name: str, mode: int, flags: int, uid: int, gid: int) -> tuple[Found, OpenNode]:
        tree = self.tree
        with self._writing():
            node = tree.child(parent, name)
            if node is not None and (flags & os.O_EXCL or node.kind != S_IFREG):
                raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
            if node is None:
                node = self._new(parent, name, S_IFREG | mode, uid, gid)
                held = tree.hold(node.ino, fresh=True)
                if held is None:
                    raise OSError(errno.EIO, os.strerror(errno.EIO))
                return self._found(node, parent, name), TreeOpen(self, held, flags)
            found = self._found(node, parent, name)
        return found, self.open(node.ino, flags)             # another process was faster

    def temporary(self, parent: int, mode: int, flags: int, uid: int, gid: int) -> tuple[Found, OpenNode]:
        tree = self.tree
        with self._writing():
            directory = self._directory(parent)
            uid, gid = self.owners.stored(uid, gid)
            ino = tree.insert(S_IFREG | mode, 0, uid, directory.gid if directory.mode & 0o2000 else gid)
            held = tree.hold(ino, fresh=True)
            if held is None:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return self._found(self._node(ino)), TreeOpen(self, held, flags)

    def _flush(self, held: Open) -> None:
        buffer = held.buffer
        if buffer is None:
            return
        self._written += buffer.dirty
        with Busy(self):
            self.tree.flush(held, self._told)

    def opendir(self, node: int) -> TreeListing:
        with self.db.reading:
            self._directory(node)
            above = self.db.execute("SELECT parent_ino FROM fs_dentry WHERE ino = ? LIMIT 1", (node,)).fetchone()
            self.tree.count_below(node)
            rows = self.db.execute("SELECT d.name, i.ino, i.mode FROM fs_dentry d JOIN fs_inode i ON i.ino = d.ino"
                                   " WHERE d.parent_ino = ?", (node,)).fetchall()
        return TreeListing(self, node, above[0] if above else node,
                           [(shown(name), ino, (mode & S_IFMT) >> 12) for name, ino, mode in rows
                            if usable(name) and isinstance(mode, int)])

    def sync(self) -> None:
        """Everything so far survives a loss of power."""
        with Busy(self):
            self.tree.flush_all()
        self.db.sync()

    # ---- extended attributes

    def getxattr(self, node: int, name: str) -> bytes:
        with self.db.glancing:
            value = self.tree.attribute(node, name)
        if value is None:
            raise OSError(errno.ENODATA, os.strerror(errno.ENODATA))
        return value

    def listxattr(self, node: int) -> Names:
        with self.db.glancing:
            return self.tree.attributes(node)

    def setxattr(self, node: int, name: str, value: bytes, flags: int) -> None:
        with self._writing():
            there = self.tree.attribute(node, name) is not None
            if there and flags & XATTR_CREATE:
                raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
            if not there and flags & XATTR_REPLACE:
                raise OSError(errno.ENODATA, os.strerror(errno.ENODATA))
            self.tree.set_attribute(self._node(node), name, value)
            self._told(self._node(node))

    def removexattr(self, node: int, name: str) -> None:
        with self._writing():
            if not self.tree.remove_attribute(self._node(node), name):
                raise OSError(errno.ENODATA, os.strerror(errno.ENODATA))
            self._told(self._node(node))

    def close(self) -> None:
        if self._checkpoint is not None:
            self._checkpoint.join()
        self.tree.listeners.remove(self._others)
        self.tree.observers.remove(self._ended)
        if not self.db.readonly:
            self.tree.flush_all()
        self.tree.settle(False)


class Busy:
    """`with Busy(inodes):` what this thread commits is the kernel's own doing, which it knows of."""

    __slots__ = ("_inodes", "_was")

    def __init__(self, inodes: TreeInodes) -> None:
        self._inodes = inodes

    def __enter__(self) -> None:
        self._was = getattr(self._inodes._mine, "busy", False)
        self._inodes._mine.busy = True

    def __exit__(self, *exc: object) -> None:
        self._inodes._mine.busy = self._was


class Changing(Busy):
    """The same around one transaction."""

    __slots__ = ()

    def __enter__(self) -> None:
        super().__enter__()
        try:
            self._inodes.db.writing.__enter__()
        except BaseException:
            super().__exit__()
            raise

    def __exit__(self, *exc: object) -> None:
        try:
            self._inodes.db.writing.__exit__(*exc)           # type: ignore[arg-type]
        finally:
            super().__exit__()


class TreeListing:
    """The names of a directory when it was opened."""

    __slots__ = ("_inodes", "_node", "entries", "parent_ino")

    def __init__(self, inodes: TreeInodes, node: int, parent: int, entries: list[tuple[str, int, int]]) -> None:
        self._inodes = inodes
        self._node = node
        self.parent_ino = parent
        self.entries = entries

    def enter(self, position: int) -> Found | None:
        name, ino, _ = self.entries[position]
        inodes = self._inodes
        with inodes.db.glancing:
            node = inodes.tree.child(self._node, name)
            return None if node is None or node.ino != ino else inodes._found(node, self._node, name)


class TreeOpen:
    """An open inode. Appends go behind what is there when they are stored, also what another process appended."""

    __slots__ = ("_appends", "_closed", "_held", "_inodes", "direct")
    keep = True

    def __init__(self, inodes: TreeInodes, held: Open, flags: int) -> None:
        self._inodes = inodes
        self._held = held
        self._appends = bool(flags & os.O_APPEND) and flags & os.O_ACCMODE != os.O_RDONLY
        self._closed = False
        self.direct = self._appends

    def pread(self, size: int, offset: int) -> bytes:
        tree = self._inodes.tree
        with tree.db.glancing:
            node = tree.load(self._held.ino)
            if node is None:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
            return tree.read_node(node, offset, size)

    def pwrite(self, data: memoryview, offset: int, drop_privileges: bool) -> int:
        with Busy(self._inodes):
            return self._inodes.tree.pwrite(self._held, data, -1 if self._appends else offset, not drop_privileges)

    def flush(self) -> None:
        self._inodes._flush(self._held)

    def sync(self) -> None:
        self._inodes._flush(self._held)
        self._inodes.db.sync()

    def allocate(self, mode: int, offset: int, length: int) -> None:
        known = FALLOC_KEEP_SIZE | FALLOC_PUNCH_HOLE | FALLOC_ZERO_RANGE
        punch = mode & FALLOC_PUNCH_HOLE
        if mode & ~known or punch and not mode & FALLOC_KEEP_SIZE:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        end = offset + length
        content.check_size(end)
        inodes, tree = self._inodes, self._inodes.tree
        inodes._flush(self._held)
        clears = mode & (FALLOC_PUNCH_HOLE | FALLOC_ZERO_RANGE)
        if not clears and length > inodes.statfs()[1]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        while clears:
            with inodes._writing():
                node = inodes._node(self._held.ino)
                until = content.clear(tree.db, node.ino, offset, min(end, node.size), node.size, SHORT)
            if until >= min(end, node.size):
                break
            offset = until
        with inodes._writing():
            node = inodes._node(self._held.ino)
            if end > node.size and not mode & FALLOC_KEEP_SIZE:
                tree.resize(node, end)
            elif clears:
                tree.content_changed(node)
            inodes._told(node)

    def seek(self, offset: int, whence: int) -> int:
        inodes = self._inodes
        inodes._flush(self._held)
        with inodes.db.reading:
            node = inodes._node(self._held.ino)
            return content.seek(inodes.db, node.ino, offset, node.size, whence == os.SEEK_DATA)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        inodes, held = self._inodes, self._held
        try:
            inodes._flush(held)
        finally:
            with Busy(inodes):
                if held.count == 1 and held.buffer is not None:      # it could not be written: close has told
                    inodes.tree.dirty -= held.buffer.dirty
                    held.buffer = None
                inodes.tree.release(held)
