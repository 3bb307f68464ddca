"""The inode protocol over paths: for any mount, and for the gated namespace of a Machine.

A node is an object by its identity (device and inode number), with the names by which it was found, so that hard links
are one node. A node without names can still be used through its open files.
"""
from __future__ import annotations

import errno
import os
import threading
import time

from mirage.vfs.facade import Actor
from mirage.vfs.filesystem import FileSystem
from mirage.vfs.handles import RangeHandle, flush
from mirage.vfs.inodes import RENAME_EXCHANGE, RENAME_NOREPLACE, ROOT, XATTR_CREATE, XATTR_REPLACE, Owners
from mirage.vfs.types import S_IFDIR, S_IFIFO, S_IFMT, S_IFREG, Stat, error, unprivileged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from mirage.vfs.inodes import Changes, Found, OpenNode, Stale
    from mirage.vfs.types import Entry, Handle

    Entries = list[Entry]
    Names = list[str]
else:
    Protocol = object

TTL = 1.0
JOURNAL_EVERY = 0.5                                          # seconds
COMPARED = 5000                                              # nodes that are looked at after a change by others


class Paths(Protocol):
    """File operations by absolute path, none of which follows a link. `checked` as in Inodes."""

    checked: bool

    def tend(self) -> None: ...
    def stat(self, path: str) -> Stat: ...
    def list(self, path: str) -> Entries: ...
    def readlink(self, path: str) -> str: ...
    def open(self, path: str, flags: int) -> Handle: ...
    def create(self, path: str, flags: int, mode: int, uid: int, gid: int) -> Handle: ...
    def mkdir(self, path: str, mode: int, uid: int, gid: int) -> None: ...
    def mkfifo(self, path: str, mode: int, uid: int, gid: int) -> None: ...
    def symlink(self, target: str, path: str, uid: int, gid: int) -> None: ...
    def link(self, old: str, new: str) -> None: ...
    def unlink(self, path: str) -> None: ...
    def rmdir(self, path: str) -> None: ...
    def rename(self, old: str, new: str, replace: bool) -> None: ...
    def change(self, path: str, changes: Changes) -> None: ...
    def access(self, path: str, mode: int) -> bool: ...
    def statfs(self) -> tuple[int, int]: ...
    def getxattr(self, path: str, name: str) -> bytes: ...
    def listxattr(self, path: str) -> Names: ...
    def setxattr(self, path: str, name: str, value: bytes) -> None: ...
    def removexattr(self, path: str, name: str) -> None: ...


class MountPaths:
    """A mount for its owner: no policy; the kernel checks mode bits."""

    checked = True

    def __init__(self, mount: Any) -> None:
        from mirage.vfs.namespace import Mounted
        from mirage.vfs.types import new_device
        self.mount = getattr(mount, "mount", mount)
        self._mounted = Mounted("/", self.mount, getattr(self.mount, "device", 0) or new_device())
        self._can = self.mount.capabilities

    def _need(self, capability: str, path: str) -> None:
        if capability not in self._can:
            raise error(errno.EPERM if self._can.writable else errno.EROFS, path)

    def tend(self) -> None:
        """There is nothing to do."""

    def stat(self, path: str) -> Stat:
        return self._mounted.identify(path, self.mount.stat(path))

    def list(self, path: str) -> Entries:
        found: Entries = []
        for entry in self.mount.list(path):
            if entry.stat is not None:
                self._mounted.identify(f"{path.rstrip('/')}/{entry.name}", entry.stat)
            found.append(entry)
        return found

    def readlink(self, path: str) -> str:
        text: str = self.mount.readlink(path)
        return text

    def open(self, path: str, flags: int) -> Handle:
        if "open" in self._can:
            handle: Handle = self.mount.open(path, flags)
            return handle
        if flags & os.O_ACCMODE:
            raise error(errno.EROFS, path)
        return RangeHandle(self.mount, path, self.mount.stat(path))

    def create(self, path: str, flags: int, mode: int, uid: int, gid: int) -> Handle:
        self._need("create", path)
        handle: Handle = self.mount.create(path, mode, uid, gid, bool(flags & os.O_EXCL))
        return handle

    def mkdir(self, path: str, mode: int, uid: int, gid: int) -> None:
        self._need("mkdir", path)
        self.mount.mkdir(path, mode, uid, gid)

    def mkfifo(self, path: str, mode: int, uid: int, gid: int) -> None:
        self._need("mkfifo", path)
        self.mount.mkfifo(path, mode, uid, gid)

    def symlink(self, target: str, path: str, uid: int, gid: int) -> None:
        self._need("symlink", path)
        self.mount.symlink(target, path, uid, gid)

    def link(self, old: str, new: str) -> None:
        self._need("link", new)
        self.mount.link(old, new)

    def unlink(self, path: str) -> None:
        self._need("remove", path)
        self.mount.unlink(path)

    def rmdir(self, path: str) -> None:
        self._need("remove", path)
        self.mount.rmdir(path)

    def rename(self, old: str, new: str, replace: bool) -> None:
        self._need("rename", old)
        self.mount.rename(old, new, replace=replace)

    def change(self, path: str, changes: Changes) -> None:
        self._need("setattr", path)
        self.mount.setattr(path, mode=changes.mode, uid=changes.uid, gid=changes.gid, atime_ns=changes.atime_ns,
                           mtime_ns=changes.mtime_ns)

    def access(self, path: str, mode: int) -> bool:
        return True

    def statfs(self) -> tuple[int, int]:
        measure = getattr(self.mount, "statfs", None)
        return measure("/") if measure is not None else (0, 0)

    def _xattr(self, path: str) -> None:
        if "xattr" not in self._can:
            raise error(errno.EOPNOTSUPP, path)

    def getxattr(self, path: str, name: str) -> bytes:
        self._xattr(path)
        value: bytes = self.mount.getxattr(path, name)
        return value

    def listxattr(self, path: str) -> Names:
        return list(self.mount.listxattr(path)) if "xattr" in self._can else []

    def setxattr(self, path: str, name: str, value: bytes) -> None:
        self._xattr(path)
        self.mount.setxattr(path, name, value)

    def removexattr(self, path: str, name: str) -> None:
        self._xattr(path)
        self.mount.removexattr(path, name)


class GatedPaths:
    """The namespace of a Machine as its user sees it: policy, mode bits and journal hold as they do for commands.

    What the policy would ask its owner is refused at once (the id is in the journal): a kernel cannot wait.
    """

    checked = False

    def __init__(self, machine: Any) -> None:
        self.machine = machine
        self._fs = FileSystem(machine, Unattended("fuse", umask=0))
        self._written = 0.0

    def tend(self) -> None:
        """The journal is written now and then: there are no lines at whose end it would be."""
        now = time.monotonic()
        if self.machine.gate is not None and now - self._written > JOURNAL_EVERY:
            self._written = now
            self.machine.gate.write_down()

    def stat(self, path: str) -> Stat:
        return self._fs.stat(path, False)

    def list(self, path: str) -> Entries:
        return self._fs.list(path)

    def readlink(self, path: str) -> str:
        """An absolute target is made relative: it starts at the namespace's root, not at the host's."""
        text = self._fs.readlink(path)
        if not text.startswith("/"):
            return text
        return "../" * (path.count("/") - 1) + (text.lstrip("/") or ".")

    def open(self, path: str, flags: int) -> Handle:
        return self._fs.open(path, flags & (os.O_ACCMODE | os.O_APPEND) | os.O_NOFOLLOW)

    def create(self, path: str, flags: int, mode: int, uid: int, gid: int) -> Handle:
        return self._fs.open(path, flags & (os.O_ACCMODE | os.O_APPEND | os.O_EXCL) | os.O_CREAT | os.O_NOFOLLOW, mode)

    def mkdir(self, path: str, mode: int, uid: int, gid: int) -> None:
        self._fs.mkdir(path, mode)

    def mkfifo(self, path: str, mode: int, uid: int, gid: int) -> None:
        self._fs.mkfifo(path, mode)

    def symlink(self, target: str, path: str, uid: int, gid: int) -> None:
        self._fs.symlink(target, path)

    def link(self, old: str, new: str) -> None:
        self._fs.link(old, new)

    def unlink(self, path: str) -> None:
        self._fs.unlink(path)

    def rmdir(self, path: str) -> None:
        self._fs.rmdir(path)

    def rename(self, old: str, new: str, replace: bool) -> None:
        if not replace and self._fs.exists(new, False):
            raise error(errno.EEXIST, old, new)
        self._fs.rename(old, new)

    def change(self, path: str, changes: Changes) -> None:
        if changes.mode is not None:
            self._fs.chmod(path, changes.mode, False)
        if changes.uid is not None or changes.gid is not None:
            self._fs.chown(path, -1 if changes.uid is None else changes.uid, -1 if changes.gid is None else changes.gid,
                           False)
        if changes.atime_ns is not None or changes.mtime_ns is not None:
            self._fs.utime(path, changes.atime_ns, changes.mtime_ns, False)

    def access(self, path: str, mode: int) -> bool:
        return self._fs.access(path, mode)

    def statfs(self) -> tuple[int, int]:
        return self._fs.statfs("/")

    def getxattr(self, path: str, name: str) -> bytes:
        return self._fs.getxattr(path, name, False)

    def listxattr(self, path: str) -> Names:
        return self._fs.listxattr(path, False)

    def setxattr(self, path: str, name: str, value: bytes) -> None:
        self._fs.setxattr(path, name, value, False)

    def removexattr(self, path: str, name: str) -> None:
        self._fs.removexattr(path, name, False)


class Unattended(Actor):
    """Who acts through a door at which nobody can be asked."""

    __slots__ = ()
    unattended = True


class PathNode:
    """An object: where it was found, how many references the kernel holds, what it was told of it."""

    __slots__ = ("handles", "id", "key", "lookups", "measured", "names", "opened", "stat")

    def __init__(self, id: int, key: tuple[int, int], stat: Stat) -> None:
        self.id = id
        self.key = key
        self.stat = stat
        self.names: dict[tuple[int, str], None] = {}
        self.lookups = 0
        self.handles: list[PathOpen] = []
        self.opened: str | None = None                       # the version of what the kernel may have cached
        self.measured: tuple[str | None, int] | None = None  # version and size of what only reading could tell


class PathInodes:
    """paths   what is served
    trees   databases below, whose foreign changes are looked for
    """

    prompt = False

    def __init__(self, paths: Paths, owners: Owners | None = None, ttl: float = TTL) -> None:
        self.paths = paths
        self.ttl = ttl
        self.checked = paths.checked
        self.owners = owners or Owners((os.getuid(), os.getgid()), swap=False)
        self.trees: list[Any] = []
        self._lock = threading.RLock()
        stat = paths.stat("/")
        self._device = stat.dev
        root = PathNode(ROOT, stat.identity, stat)
        root.lookups = 1
        self._nodes: dict[int, PathNode] = {ROOT: root}
        self._by_key: dict[tuple[int, int], PathNode] = {root.key: root}
        self._children: dict[tuple[int, str], PathNode] = {}
        self._next = ROOT + 1
        self._changed = False

    def watch(self, mount: Any) -> None:
        """Look for changes by others in the database that is, or is below, a mount."""
        below: Any
        for below in (mount, getattr(mount, "delta", None), getattr(mount, "base", None)):
            if hasattr(below, "open_files") and hasattr(below, "listeners") and below not in self.trees:
                self.trees.append(below)
                below.listeners.append(self._others)
            elif below is not None and below is not mount:
                self.watch(below)

    def _others(self) -> None:
        self._changed = True

    def tend(self) -> Stale:
        self.paths.tend()
        for tree in self.trees:
            if tree.dirty:
                tree.flush_old()
            with tree.db.reading:
                pass                                         # notices other programs' transactions
        if not self._changed:
            return [], []
        self._changed = False
        with self._lock:
            nodes = list(self._nodes.values())[-COMPARED:]
        stale: list[int] = []
        names: list[tuple[int, str]] = []
        for node in nodes:
            try:
                path = self._path(node)
                now = self.paths.stat(path)
            except OSError:
                with self._lock:
                    names.extend(node.names)
                stale.append(node.id)
                continue
            was = node.stat
            if now.identity != node.key:
                with self._lock:
                    names.extend(node.names)
            elif (now.mtime_ns, now.ctime_ns, now.size, now.mode) != (was.mtime_ns, was.ctime_ns, was.size, was.mode):
                stale.append(node.id)
                node.stat = now
        return stale, names

    # ---- nodes

    def _node(self, id: int) -> PathNode:
        node = self._nodes.get(id)
        if node is None:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return node

    def _path(self, node: PathNode) -> str:
        """One of its paths; ENOENT where it has lost them all."""
        names: Names = []
        with self._lock:
            while node.id != ROOT:
                if not node.names:
                    raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
                parent, name = next(iter(node.names))
                names.append(name)
                node = self._nodes[parent]
        return "/" + "/".join(reversed(names))

    def _below(self, parent: int, name: str) -> str:
        return f"{self._path(self._node(parent)).rstrip('/')}/{name}"

    def _found(self, parent: int, name: str, stat: Stat) -> Found:
        """The node that a name stands for now, with one more reference."""
        with self._lock:
            node = self._by_key.get(stat.identity)
            if node is None:
                node = PathNode(self._next, stat.identity, stat)
                self._next += 1
                self._nodes[node.id] = self._by_key[node.key] = node
            old = self._children.get((parent, name))
            if old is not node:
                if old is not None:
                    old.names.pop((parent, name), None)
                self._children[parent, name] = node
            node.names[parent, name] = None
            node.lookups += 1
            return node.id, self._shown(node, stat)

    def _gone(self, parent: int, name: str) -> None:
        with self._lock:
            node = self._children.pop((parent, name), None)
            if node is not None:
                node.names.pop((parent, name), None)
                if not node.names and self._by_key.get(node.key) is node:
                    del self._by_key[node.key]               # its number may be given to another object

    def _shown(self, node: PathNode, stat: Stat) -> Stat:
        """For the kernel: numbers unique in all mounts together, owners as they are to be shown."""
        node.stat = stat
        uid, gid = self.owners.shown(stat.uid, stat.gid)
        ino = stat.ino if stat.dev == self._device else (stat.ino ^ stat.dev * 0x9E3779B97F4A7C15) & (1 << 63) - 1
        size = stat.size
        if size is None and node.measured is not None and node.measured[0] == stat.version:
            size = node.measured[1]
        if (uid, gid, ino, size) == (stat.uid, stat.gid, stat.ino, stat.size):
            return stat
        return Stat(stat.mode, size, stat.mtime_ns, atime_ns=stat.atime_ns, ctime_ns=stat.ctime_ns, uid=uid, gid=gid,
                    nlink=stat.nlink, ino=ino, dev=stat.dev, rdev=stat.rdev,
                    blocks=stat.blocks if size == stat.size else None, version=stat.version)

    def lookup(self, parent: int, name: str) -> Found | None:
        try:
            return self._found(parent, name, self.paths.stat(self._below(parent, name)))
        except FileNotFoundError:
            self._gone(parent, name)
            return None

    def forget(self, node: int, count: int) -> None:
        with self._lock:
            known = self._nodes.get(node)
            if known is None or node == ROOT:
                return
            known.lookups -= count
            if known.lookups <= 0:
                del self._nodes[node]
                if self._by_key.get(known.key) is known:
                    del self._by_key[known.key]
                for place in known.names:
                    if self._children.get(place) is known:
                        del self._children[place]

    def getattr(self, node: int, handle: OpenNode | None = None) -> Stat:
        known = self._node(node)
        try:
            path = self._path(known)
        except FileNotFoundError:
            with self._lock:
                opened = list(known.handles)
            if not opened:
                was = known.stat
                return self._shown(known, Stat(was.mode, was.size, was.mtime_ns, atime_ns=was.atime_ns,
                                               ctime_ns=was.ctime_ns, uid=was.uid, gid=was.gid, nlink=0, ino=was.ino,
                                               dev=was.dev, rdev=was.rdev))
            stat = opened[-1].handle.stat()
            stat.nlink = 0
            return self._shown(known, stat)
        return self._shown(known, self.paths.stat(path))

    def access(self, node: int, mode: int) -> bool:
        return self.paths.access(self._path(self._node(node)), mode)

    def readlink(self, node: int) -> str:
        return self.paths.readlink(self._path(self._node(node)))

    def statfs(self) -> tuple[int, int]:
        return self.paths.statfs()

    # ---- changing

    def setattr(self, node: int, changes: Changes, handle: OpenNode | None = None) -> Stat:
        known = self._node(node)
        if changes.size is not None:
            self._truncate(known, changes.size, handle)
        if changes.uid is not None:
            changes.uid = self.owners.stored_uid(changes.uid)
        if changes.gid is not None:
            changes.gid = self.owners.stored_gid(changes.gid)
        stat = known.stat
        if changes.drop_privileges and stat.mode & S_IFMT != S_IFDIR and stat.mode & 0o6000:
            changes.mode = unprivileged(stat.mode if changes.mode is None else changes.mode) & 0o7777
        if (changes.mode, changes.uid, changes.gid, changes.atime_ns, changes.mtime_ns) != (None,) * 5:
            self.paths.change(self._path(known), changes)
        return self.getattr(node)

    def _truncate(self, known: PathNode, size: int, handle: OpenNode | None) -> None:
        known.measured = None
        if isinstance(handle, PathOpen):
            handle.wrote = True
            handle.handle.truncate(size)
            return
        opened = self.paths.open(self._path(known), os.O_WRONLY)
        try:
            opened.truncate(size)
        finally:
            opened.close()

    def symlink(self, parent: int, name: str, target: str, uid: int, gid: int) -> Found:
        path = self._below(parent, name)
        self.paths.symlink(target, path, *self.owners.stored(uid, gid))
        return self._found(parent, name, self.paths.stat(path))

    def mknod(self, parent: int, name: str, mode: int, rdev: int, uid: int, gid: int) -> Found:
        path, kind = self._below(parent, name), mode & S_IFMT
        uid, gid = self.owners.stored(uid, gid)
        if kind == S_IFREG:
            self.paths.create(path, os.O_RDWR | os.O_EXCL, mode & 0o7777, uid, gid).close()
        elif kind == S_IFIFO:
            self.paths.mkfifo(path, mode & 0o7777, uid, gid)
        else:
            raise error(errno.EPERM, path)
        return self._found(parent, name, self.paths.stat(path))

    def mkdir(self, parent: int, name: str, mode: int, uid: int, gid: int) -> Found:
        path = self._below(parent, name)
        self.paths.mkdir(path, mode, *self.owners.stored(uid, gid))
        return self._found(parent, name, self.paths.stat(path))

    def unlink(self, parent: int, name: str) -> None:
        self.paths.unlink(self._below(parent, name))
        self._gone(parent, name)

    def rmdir(self, parent: int, name: str) -> None:
        self.paths.rmdir(self._below(parent, name))
        self._gone(parent, name)

    def rename(self, parent: int, name: str, new_parent: int, new_name: str, flags: int) -> None:
        if flags & ~RENAME_NOREPLACE or flags & RENAME_EXCHANGE:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        new = self._below(new_parent, new_name)
        self.paths.rename(self._below(parent, name), new, not flags & RENAME_NOREPLACE)
        with self._lock:
            node = self._children.get((parent, name))
            if node is None or self._children.get((new_parent, new_name)) is node:
                return
            self._gone(new_parent, new_name)
            self._gone(parent, name)
            self._children[new_parent, new_name] = node
            node.names[new_parent, new_name] = None
            self._by_key[node.key] = node
        try:
            stat = self.paths.stat(new)
        except OSError:
            return
        with self._lock:
            if stat.identity != node.key:                    # made from the path
                if self._by_key.get(node.key) is node:
                    del self._by_key[node.key]
                node.key = stat.identity
                self._by_key[node.key] = node

    def link(self, node: int, parent: int, name: str) -> Found:
        path = self._below(parent, name)
        self.paths.link(self._path(self._node(node)), path)
        return self._found(parent, name, self.paths.stat(path))

    # ---- open files

    def open(self, node: int, flags: int) -> PathOpen:
        known = self._node(node)
        return self._opened(known, self.paths.open(self._path(known), flags), flags)

    def _opened(self, known: PathNode, handle: Handle, flags: int) -> PathOpen:
        """Where only reading tells the size, it is read now: the kernel shows the true size from here on."""
        version = known.stat.version
        direct = version is None
        if known.stat.size is None:
            direct = True
            if flags & os.O_ACCMODE == os.O_RDONLY:
                try:
                    stat = handle.stat()
                except BaseException:
                    handle.close()
                    raise
                if stat.size is not None:
                    known.measured = (known.stat.version, stat.size)
        opened = PathOpen(self, known, handle, flags, direct)
        opened.keep = version is not None and version == known.opened
        known.opened = version
        with self._lock:
            known.handles.append(opened)
        return opened

    def create(self, parent: int, name: str, mode: int, flags: int, uid: int, gid: int) -> tuple[Found, OpenNode]:
        path = self._below(parent, name)
        handle = self.paths.create(path, flags, mode, *self.owners.stored(uid, gid))
        try:
            found = self._found(parent, name, self.paths.stat(path))
        except BaseException:
            handle.close()
            raise
        return found, self._opened(self._node(found[0]), handle, flags)

    def temporary(self, parent: int, mode: int, flags: int, uid: int, gid: int) -> tuple[Found, OpenNode]:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    def opendir(self, node: int) -> PathListing:
        path = self._path(self._node(node))
        entries = self.paths.list(path)
        with self._lock:
            names = self._nodes[node].names
            above = self._nodes.get(next(iter(names))[0]) if names else self._nodes[ROOT]
        return PathListing(self, node, entries, above.stat.ino if above is not None else node)

    # ---- extended attributes

    def getxattr(self, node: int, name: str) -> bytes:
        return self.paths.getxattr(self._path(self._node(node)), name)

    def listxattr(self, node: int) -> Names:
        return self.paths.listxattr(self._path(self._node(node)))

    def setxattr(self, node: int, name: str, value: bytes, flags: int) -> None:
        path = self._path(self._node(node))
        if flags & (XATTR_CREATE | XATTR_REPLACE):
            there = name in self.paths.listxattr(path)
            if there and flags & XATTR_CREATE:
                raise error(errno.EEXIST, path)
            if not there and flags & XATTR_REPLACE:
                raise error(errno.ENODATA, path)
        self.paths.setxattr(path, name, value)

    def removexattr(self, node: int, name: str) -> None:
        self.paths.removexattr(self._path(self._node(node)), name)

    def close(self) -> None:
        for tree in self.trees:
            tree.listeners.remove(self._others)
            if not tree.db.readonly:
                tree.flush_all()


class PathListing:
    """The names of a directory when it was opened; what the listing did not tell of an entry is not asked for."""

    __slots__ = ("_found", "_inodes", "_node", "entries", "parent_ino")

    def __init__(self, inodes: PathInodes, node: int, found: Entries, parent: int) -> None:
        self._inodes = inodes
        self._node = node
        self._found = found
        self.parent_ino = parent
        self.entries = [(e.name, e.stat.ino if e.stat is not None else 1,
                         (e.stat.mode & S_IFMT) >> 12 if e.stat is not None else 0) for e in found]

    def enter(self, position: int) -> Found | None:
        entry = self._found[position]
        if entry.stat is None or not entry.stat.dev or not entry.stat.ino:
            return None
        return self._inodes._found(self._node, entry.name, entry.stat)


class PathOpen:
    """An open file. An append goes to the end as the store knows it."""

    __slots__ = ("_appends", "_inodes", "_node", "direct", "handle", "keep", "wrote")

    def __init__(self, inodes: PathInodes, node: PathNode, handle: Handle, flags: int, direct: bool) -> None:
        self._inodes = inodes
        self._node = node
        self.handle = handle
        self._appends = bool(flags & os.O_APPEND) and flags & os.O_ACCMODE != os.O_RDONLY
        self.keep = False
        self.direct = direct or self._appends or not handle.seekable
        self.wrote = False

    def pread(self, size: int, offset: int) -> bytes:
        """All of `size` bytes that are there: to the kernel fewer are the end of the file."""
        data = self.handle.pread(size, offset)
        if not data or len(data) >= size:
            return data[:size]
        parts = [data]
        at = len(data)
        while at < size and (piece := self.handle.pread(size - at, offset + at)):
            parts.append(piece)
            at += len(piece)
        return b"".join(parts)[:size]

    def pwrite(self, data: memoryview, offset: int, drop_privileges: bool) -> int:
        self.wrote = True
        return self.handle.pwrite(bytes(data), -1 if self._appends else offset)

    def flush(self) -> None:
        if self.wrote:
            self.wrote = False
            flush(self.handle)

    def sync(self) -> None:
        self.wrote = False
        self.handle.sync()

    def allocate(self, mode: int, offset: int, length: int) -> None:
        if mode:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        if offset + length > (self.handle.stat().size or 0):
            self.wrote = True
            self.handle.truncate(offset + length)

    def seek(self, offset: int, whence: int) -> int:
        """Every file is one piece of data."""
        size = self.handle.stat().size or 0
        if not 0 <= offset < size:
            raise OSError(errno.ENXIO, os.strerror(errno.ENXIO))
        return offset if whence == os.SEEK_DATA else size

    def close(self) -> None:
        with self._inodes._lock:
            if self in self._node.handles:
                self._node.handles.remove(self)
        self.handle.close()


def of_machine(machine: Any) -> PathInodes:
    """The gated namespace of a Machine, owned by who mounts it."""
    inodes = PathInodes(GatedPaths(machine))
    for mounted in machine.namespace.mounts():
        inodes.watch(mounted.mount)
    return inodes


def of_mount(mount: Any, owners: Owners | None = None) -> PathInodes:
    """Any mount, for its owner."""
    paths = MountPaths(mount)
    inodes = PathInodes(paths, owners)
    inodes.watch(paths.mount)
    return inodes


def folders(mount: Any) -> Names:
    """The host's folders and files that a mount is made of, as far as they are known."""
    found = []
    mount = getattr(mount, "mount", mount)
    root = getattr(mount, "root", None)
    if isinstance(root, str):
        found.append(root)
    database = getattr(getattr(mount, "db", None), "path", None)
    if isinstance(database, str):
        found.append(database)
    for below in (getattr(mount, "delta", None), getattr(mount, "base", None)):
        if below is not None:
            found.extend(folders(below))
    return found


def contains(folder: str, path: str) -> bool:
    """Is `path` the folder, or in it?"""
    folder, path = os.path.realpath(folder), os.path.realpath(path)
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def refuse_own_mountpoint(mounts: Names, mountpoint: str) -> None:
    """ValueError where a folder that is shown contains the mountpoint, or the mountpoint would hide a database."""
    for place in mounts:
        if os.path.isdir(place) and contains(place, mountpoint):
            raise ValueError(f"{mountpoint} lies in {place}, which would be shown there: a mount cannot contain its"
                             " own mountpoint")
        if not os.path.isdir(place) and contains(mountpoint, place):
            raise ValueError(f"{mountpoint} contains {place}, which the mount would hide from itself")


