"""Memory: a POSIX file system in this process, with owners, modes, links, FIFOs, xattr and sparse files.

atime changes only by utime (like a Linux mount with noatime). Thread-safe: one lock, held only for steps that
cannot wait.
"""
from __future__ import annotations

import errno
import os
import threading
import time

from mirage.mounts.memory.content import Sparse
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
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Entries = list[Entry]
    Names = list[str]

INODE_SIZE = 512                                             # counted for each inode beside its content
MAX_FILE_SIZE = (1 << 44) - 4096                             # as ext4
HOLE = 1 << 20                                               # a gap larger than this is kept as a hole


class Inode:
    """One file, directory, link or FIFO. `body`: bytes of a file, dict of a directory, str of a link."""

    __slots__ = ("atime", "body", "btime", "cached", "ctime", "gid", "ino", "mode", "mtime", "nlink", "opens",
                 "parent", "rdev", "search", "uid", "version", "xattr")

    def __init__(self, ino: int, mode: int, body: Any, now: int, uid: int, gid: int) -> None:
        self.ino = ino
        self.mode = mode
        self.body = body
        self.uid = uid
        self.gid = gid
        self.nlink = 1
        self.rdev = 0
        self.atime = self.mtime = self.ctime = self.btime = now
        self.version = 0
        self.opens = 0
        self.parent: Inode | None = None                     # of a directory
        self.xattr: dict[str, bytes] | None = None
        self.cached: Stat | None = None                      # dropped by every change
        self.search = True                                   # may the user search this directory?

    def stat(self, device: int) -> Stat:
        cached = self.cached
        if cached is None:
            body = self.body
            kind = type(body)
            size = 4096 if kind is dict else len(body.encode("utf-8", "surrogateescape")) if kind is str \
                else 0 if body is None else len(body)
            blocks = -(-(body.allocated if kind is Sparse else size) // 4096) * 8 if kind is not str else 0
            cached = self.cached = Stat(
                self.mode, size, self.mtime, atime_ns=self.atime, ctime_ns=self.ctime, btime_ns=self.btime,
                uid=self.uid, gid=self.gid, nlink=self.nlink, ino=self.ino, dev=device, rdev=self.rdev,
                blocks=blocks, version=f"{self.ino}.{self.version}")
        return cached


class Memory:
    """Files in memory: `Memory({"a.txt": b"...", "d/": None})`. Parents are made; a str is stored as UTF-8.

    max_bytes  ENOSPC above it; None means no limit of its own
    charge     called with the bytes about to be added; raises to refuse them (the Terminal's memory limit)
    release    called with the bytes given back
    clock      nanoseconds since the epoch
    """

    capabilities = Capabilities("open", "create", "mkdir", "remove", "rename", "link", "symlink", "setattr",
                                "xattr", "identity", "mkfifo", "lookup", "replace")

    def __init__(self, files: Mapping[str, bytes | str | None] | None = None, *, max_bytes: int | None = None,
                 charge: Callable[[int], None] | None = None, release: Callable[[int], None] | None = None,
                 clock: Callable[[], int] = time.time_ns) -> None:
        self.max_bytes = max_bytes
        self.charge = charge
        self.release = release
        self.clock = clock
        self.used = 0
        self.device = new_device()
        self._lock = threading.Lock()
        self._next_ino = 2
        self._versions = 0
        self._root = Inode(1, S_IFDIR | 0o755, {}, clock(), UID, GID)
        self._root.nlink = 2
        self._root.parent = None
        for path, data in (files or {}).items():
            self._populate(path, data)

    def _populate(self, path: str, data: bytes | str | None) -> None:
        names = [name for name in path.split("/") if name]
        if ".." in names or "." in names or not names:
            raise ValueError(f"not a path inside the mount: {path!r}")
        if data is not None and path.endswith("/"):
            raise ValueError(f"{path!r} names a directory and cannot have content")
        at = ""
        for name in names if data is None else names[:-1]:
            at += "/" + name
            try:
                self.mkdir(at, 0o755, UID, GID)
            except FileExistsError:
                if not self.stat(at).is_dir:
                    raise
        if data is not None:
            content = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else bytes(data)
            self.replace(f"{at}/{names[-1]}", content, 0o644, UID, GID)

    # ---- finding

    def lookup(self, path: str, uid: int) -> Stat | str:
        node = self._root
        if path != "/":
            body = node.body
            for name in path[1:].split("/"):
                if type(body) is not dict:
                    if type(body) is str:
                        return self._first_link(path)
                    raise error(errno.ENOTDIR, path)
                if not node.search and uid:
                    raise error(errno.EACCES, path)
                try:
                    node = body[name]
                except KeyError:
                    raise error(errno.ENOENT, path) from None
                body = node.body
        return node.cached or node.stat(self.device)

    def _first_link(self, path: str) -> str:
        node, at = self._root, ""
        for name in path[1:].split("/"):
            node = node.body[name]
            at += "/" + name
            if type(node.body) is str:
                break
        return at

    def _node(self, path: str) -> Inode:
        node = self._root
        if path != "/":
            for name in path[1:].split("/"):
                if type(node.body) is not dict:
                    raise error(errno.ENOTDIR, path)
                try:
                    node = node.body[name]
                except KeyError:
                    raise error(errno.ENOENT, path) from None
        return node

    def _slot(self, path: str) -> tuple[Inode, str]:
        """The directory that holds the last component, and that component."""
        if path == "/":
            raise error(errno.EBUSY, path)
        head, _, name = path.rpartition("/")
        node = self._node(head or "/")
        if type(node.body) is not dict:
            raise error(errno.ENOTDIR, path)
        if node.nlink == 0:
            raise error(errno.ENOENT, path)
        return node, name

    def stat(self, path: str) -> Stat:
        return self._node(path).stat(self.device)

    def list(self, path: str) -> Entries:
        body = self._node(path).body
        if type(body) is not dict:
            raise error(errno.ENOTDIR, path)
        device = self.device
        return [Entry(name, node.cached or node.stat(device)) for name, node in [*body.items()]]

    def readlink(self, path: str) -> str:
        body = self._node(path).body
        if type(body) is not str:
            raise error(errno.EINVAL, path)
        return body

    def statfs(self, path: str) -> tuple[int, int]:
        total = self.max_bytes or 1 << 30
        return total, max(0, total - self.used)

    # ---- content

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        node = self._node(path)
        return self._pread(node, MAX_FILE_SIZE if length is None else length, offset, path)

    def open(self, path: str, flags: int, mode: int = 0) -> MemoryHandle:
        with self._lock:
            node = self._node(path)
            if node.mode & S_IFMT != S_IFREG:
                raise error(errno.EISDIR if type(node.body) is dict else errno.ELOOP, path)
            handle = MemoryHandle(self, node, flags)
            if flags & os.O_TRUNC:
                self._resize(node, 0)
                self._changed(node)
            node.opens += 1
        return handle

    def create(self, path: str, mode: int, uid: int, gid: int, exclusive: bool = False) -> MemoryHandle:
        with self._lock:
            parent, name = self._slot(path)
            node = parent.body.get(name)
            if node is not None:
                if exclusive:
                    raise error(errno.EEXIST, path)
                if node.mode & S_IFMT != S_IFREG:
                    raise error(errno.EISDIR if type(node.body) is dict else errno.ELOOP, path)
            else:
                node = self._add(parent, name, S_IFREG | mode & 0o7777, b"", uid, gid)
            node.opens += 1
        return MemoryHandle(self, node, os.O_RDWR)

    def replace(self, path: str, data: bytes, mode: int, uid: int, gid: int) -> None:
        with self._lock:
            parent, name = self._slot(path)
            node = parent.body.get(name)
            if node is None:
                self._charge(len(data))
                node = self._add(parent, name, S_IFREG | mode & 0o7777, data, uid, gid)
            elif node.mode & S_IFMT != S_IFREG:
                raise error(errno.EISDIR if type(node.body) is dict else errno.ELOOP, path)
            else:
                self._charge(len(data) - _held(node.body))
                node.body = data
                self._changed(node)

    def _pread(self, node: Inode, size: int, offset: int, path: str | None = None) -> bytes:
        body = node.body
        if type(body) is bytes:
            return body if not offset and size >= len(body) else body[offset:offset + size]
        with self._lock:                                     # nobody may grow a bytearray that has a view
            body = node.body
            if type(body) is bytearray:
                return bytes(memoryview(body)[offset:offset + size])
            if type(body) is bytes:
                return body[offset:offset + size]
            if type(body) is Sparse:
                return body.read(offset, size)
        raise error(errno.EISDIR, path or "") if type(body) is dict else error(errno.EINVAL, path or "")

    def _pwrite(self, node: Inode, data: bytes, offset: int) -> int:
        with self._lock:
            body = node.body
            size = len(body)
            if offset < 0:
                offset = size
            end = offset + len(data)
            if end > MAX_FILE_SIZE:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
            if not data:
                return offset
            if offset - size > HOLE and type(body) is not Sparse:
                body = node.body = self._make_sparse(node)
            if type(body) is Sparse:
                self._charge(body.cost(offset, len(data)))
                body.write(offset, data)
            else:
                if end > size:
                    self._charge(end - size)
                if not size and not offset:
                    node.body = bytes(data)
                else:
                    if type(body) is bytes:
                        body = node.body = bytearray(body)
                    if offset > size:
                        body.extend(bytes(offset - size))
                    body[offset:end] = data
            if node.mode & 0o6000:
                node.mode &= ~(0o6000 if node.mode & 0o010 else 0o4000)
            self._changed(node)
        return end

    def _truncate(self, node: Inode, size: int) -> None:
        if size < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        if size > MAX_FILE_SIZE:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        with self._lock:
            self._resize(node, size)
            self._changed(node)

    def _resize(self, node: Inode, size: int) -> None:
        body = node.body
        if size - len(body) > HOLE and type(body) is not Sparse:
            body = node.body = self._make_sparse(node)
        before = _held(body)
        if type(body) is Sparse:
            body.resize(size)
            if not size:
                node.body = b""
        elif size <= len(body):
            if type(body) is bytearray:
                del body[size:]
            else:
                node.body = body[:size]
        else:
            self._charge(size - len(body))
            before = size
            node.body = body = bytearray(body)
            body.extend(bytes(size - len(body)))
        self._charge(_held(node.body) - before)

    def _make_sparse(self, node: Inode) -> Sparse:
        body = Sparse(node.body)
        self._charge(body.allocated - len(node.body))
        return body

    def _charge(self, size: int) -> None:
        if size > 0:
            if self.max_bytes is not None and self.used + size > self.max_bytes:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if self.charge is not None:
                self.charge(size)
        elif size and self.release is not None:
            self.release(-size)
        self.used += size

    def _changed(self, node: Inode, content: bool = True) -> None:
        node.ctime = self.clock()
        if content:
            node.mtime = node.ctime
            self._versions += 1
            node.version = self._versions
        node.cached = None

    # ---- names

    def _add(self, parent: Inode, name: str, mode: int, body: Any, uid: int, gid: int) -> Inode:
        self._charge(INODE_SIZE)
        now = self.clock()
        directory = type(body) is dict
        if parent.mode & 0o2000:
            gid = parent.gid
            mode |= 0o2000 if directory else 0
        node = Inode(self._next_ino, mode, body, now, uid, gid)
        self._next_ino += 1
        if directory:
            node.nlink = 2
            node.parent = parent
            parent.nlink += 1
            node.search = _searchable(node)
        parent.body[name] = node
        parent.mtime = parent.ctime = now
        parent.cached = None
        return node

    def _new(self, path: str, mode: int, body: Any, uid: int, gid: int) -> Inode:
        with self._lock:
            if path == "/":
                raise error(errno.EEXIST, path)
            parent, name = self._slot(path)
            if name in parent.body:
                raise error(errno.EEXIST, path)
            return self._add(parent, name, mode, body, uid, gid)

    def mkdir(self, path: str, mode: int, uid: int, gid: int) -> None:
        self._new(path, S_IFDIR | mode & 0o7777, {}, uid, gid)

    def symlink(self, target: str, path: str, uid: int, gid: int) -> None:
        self._new(path, S_IFLNK | 0o777, target, uid, gid)

    def mkfifo(self, path: str, mode: int, uid: int, gid: int) -> None:
        self._new(path, S_IFIFO | mode & 0o7777, None, uid, gid)

    def link(self, old: str, new: str) -> None:
        with self._lock:
            node = self._node(old)
            if type(node.body) is dict:
                raise error(errno.EPERM, old, new)
            parent, name = self._slot(new)
            if name in parent.body:
                raise error(errno.EEXIST, old, new)
            parent.body[name] = node
            node.nlink += 1
            self._changed(node, content=False)
            self._changed(parent)

    def unlink(self, path: str) -> None:
        with self._lock:
            parent, name = self._slot(path)
            node = parent.body.get(name)
            if node is None:
                raise error(errno.ENOENT, path)
            if type(node.body) is dict:
                raise error(errno.EISDIR, path)
            del parent.body[name]
            self._drop(node)
            self._changed(parent)

    def rmdir(self, path: str) -> None:
        with self._lock:
            parent, name = self._slot(path)
            node = parent.body.get(name)
            if node is None:
                raise error(errno.ENOENT, path)
            if type(node.body) is not dict:
                raise error(errno.ENOTDIR, path)
            if node.body:
                raise error(errno.ENOTEMPTY, path)
            del parent.body[name]
            self._drop(node)
            parent.nlink -= 1
            self._changed(parent)

    def _drop(self, node: Inode) -> None:
        """One name of `node` is gone."""
        node.nlink -= 2 if type(node.body) is dict else 1
        self._changed(node, content=False)
        if not node.nlink and not node.opens:
            self._charge(-INODE_SIZE - _held(node.body))

    def rename(self, old: str, new: str, *, replace: bool = True) -> None:
        with self._lock:
            source, old_name = self._slot(old)
            target, new_name = self._slot(new)
            node = source.body.get(old_name)
            if node is None:
                raise error(errno.ENOENT, old, new)
            directory = type(node.body) is dict
            above: Inode | None = target if directory else None
            while above is not None:
                if above is node:
                    raise error(errno.EINVAL, old, new)
                above = above.parent
            there = target.body.get(new_name)
            if there is node and replace:
                return
            if there is not None:
                self._may_replace(there, directory, replace, old, new)
                self._drop(there)
            del source.body[old_name]
            target.body[new_name] = node
            if directory:
                node.parent = target
                source.nlink -= 1
                target.nlink += there is None
            self._changed(node, content=False)
            self._changed(source)
            self._changed(target)

    @staticmethod
    def _may_replace(there: Inode, directory: bool, replace: bool, old: str, new: str) -> None:
        if not replace:
            raise error(errno.EEXIST, old, new)
        if type(there.body) is dict:
            if not directory:
                raise error(errno.EISDIR, old, new)
            if there.body:
                raise error(errno.ENOTEMPTY, old, new)
        elif directory:
            raise error(errno.ENOTDIR, old, new)

    # ---- attributes

    def setattr(self, path: str, *, mode: int | None = None, uid: int | None = None, gid: int | None = None,
                atime_ns: int | None = None, mtime_ns: int | None = None) -> None:
        with self._lock:
            node = self._node(path)
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
            self._changed(node, content=False)
            if type(node.body) is dict:
                node.search = _searchable(node)

    def getxattr(self, path: str, name: str) -> bytes:
        xattr = self._node(path).xattr
        if not xattr or name not in xattr:
            raise error(errno.ENODATA, path)
        return xattr[name]

    def listxattr(self, path: str) -> Names:
        return list(self._node(path).xattr or ())

    def setxattr(self, path: str, name: str, value: bytes) -> None:
        with self._lock:
            node = self._node(path)
            if node.xattr is None:
                node.xattr = {}
            self._charge(len(value) - len(node.xattr.get(name, b"")))
            node.xattr[name] = bytes(value)
            self._changed(node, content=False)

    def removexattr(self, path: str, name: str) -> None:
        with self._lock:
            node = self._node(path)
            if not node.xattr or name not in node.xattr:
                raise error(errno.ENODATA, path)
            self._charge(-len(node.xattr.pop(name)))
            self._changed(node, content=False)


class MemoryHandle:
    """An open file: the inode itself, so that unlink and rename do not matter to it."""

    __slots__ = ("_memory", "_node", "_readable", "_writable")
    seekable = True
    is_dir = False

    def __init__(self, memory: Memory, node: Inode, flags: int) -> None:
        self._memory = memory
        self._node = node
        access = flags & os.O_ACCMODE
        self._readable = access != os.O_WRONLY
        self._writable = access != os.O_RDONLY

    def pread(self, size: int, offset: int) -> bytes:
        if not self._readable:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._memory._pread(self._node, size, offset)

    def pwrite(self, data: bytes, offset: int) -> int:
        if not self._writable:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._memory._pwrite(self._node, data, offset)

    def truncate(self, size: int) -> None:
        if not self._writable:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self._memory._truncate(self._node, size)

    def stat(self) -> Stat:
        return self._node.stat(self._memory.device)

    def sync(self) -> None:
        """Memory has nothing to wait for."""

    def close(self) -> None:
        memory, node = self._memory, self._node
        with memory._lock:
            node.opens -= 1
            if not node.opens and not node.nlink:
                memory._charge(-INODE_SIZE - _held(node.body))


def _searchable(node: Inode) -> bool:
    """May the user search this directory?"""
    shift = 6 if node.uid == UID else 3 if node.gid == GID else 0
    return bool(node.mode >> shift & 1)


def _held(body: Any) -> int:
    """Bytes counted for a file's content."""
    if type(body) is Sparse:
        return body.allocated
    return len(body) if type(body) in (bytes, bytearray) else 0


OPTIONS = {"max_bytes": int}


def build(max_bytes: int | None = None) -> Memory:
    """The provider `memory`."""
    return Memory(max_bytes=max_bytes)
