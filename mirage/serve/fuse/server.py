"""The /dev/fuse server: requests of the kernel, answered from an inode protocol by a pool of threads.

Every thread reads a request, answers it, and reads the next. When all are at work another one starts, up to a limit, so
that a slow service does not stop the rest. A database answers at once and one request after the other: there a second
thread only starts for what waits for the disk, or when the first one has been at it for long; passing requests from
thread to thread costs more than answering them. A failure of a handler is an errno, never a dead mount. One more thread
tends the file system: what others changed is taken out of the kernel's caches there, never while a request is answered.
"""
from __future__ import annotations

import errno
import os
import select
import stat as st
import threading
import time

from mirage.process.signals import LineStopped
from mirage.serve.fuse import protocol as p
from mirage.serve.fuse.wakeful import Wakeful
from mirage.vfs.inodes import Changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mirage.vfs.inodes import Found, Inodes, Listing, OpenNode

    Handler = Callable[["Request"], "bytes | None"]

THREADS = 32                                                 # at most
TENDING = 0.025                                              # seconds between two looks for changes of others
SPIN = 0.00005                                               # seconds in which the next request is looked for
SMALL = 4096                                                 # bytes of a reply that are copied to be sent in one piece
GIVES_NODE = frozenset((p.LOOKUP, p.SYMLINK, p.MKNOD, p.MKDIR, p.LINK, p.CREATE, p.TMPFILE))
GIVES_HANDLE = frozenset((p.OPEN, p.OPENDIR, p.CREATE, p.TMPFILE))
WAITS = frozenset((p.FSYNC, p.FSYNCDIR))
INTERRUPTIBLE = frozenset((p.READ, p.LOOKUP, p.GETATTR, p.READDIR, p.READDIRPLUS))
ALLOWED_ALWAYS = frozenset((p.INIT, p.FORGET, p.BATCH_FORGET, p.RELEASE, p.RELEASEDIR, p.FLUSH, p.FSYNC, p.INTERRUPT,
                            p.DESTROY, p.READ, p.WRITE, p.GETATTR, p.STATFS))


class Request:
    """One request: who asks for what about which node; `body` is only valid until the answer."""

    __slots__ = ("body", "gid", "node", "opcode", "uid", "unique")

    def __init__(self, opcode: int, unique: int, node: int, uid: int, gid: int, body: memoryview) -> None:
        self.opcode = opcode
        self.unique = unique
        self.node = node
        self.uid = uid
        self.gid = gid
        self.body = body

    def name(self, start: int = 0) -> str:
        """The name that ends the body."""
        return text(bytes(self.body[start:-1]))

    def names(self, start: int = 0) -> tuple[str, str]:
        first, second, _ = bytes(self.body[start:]).split(b"\0")
        return text(first), text(second)


def text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def raw(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def check_name(name: str) -> str:
    if len(name) > 63 and len(raw(name)) > p.NAME_MAX:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    return name


class Server:
    """inodes   what is served
    device   descriptor of the connection, which belongs to the server from here on
    uids     the users who may look, None for all whom the kernel lets through
    report   gets each exception of a handler that is a bug
    """

    def __init__(self, inodes: Inodes, device: int, *, uids: frozenset[int] | None = None, threads: int = THREADS,
                 report: Callable[[BaseException], None] | None = None) -> None:
        self.inodes = inodes
        self.uids = uids
        self.ended = threading.Event()                       # unmounted, and everything is stored
        self.ready = threading.Event()                       # the kernel has been answered for the first time
        self._device = device
        self._report = report
        self._most = threads
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0
        self._prompt = inodes.prompt
        self._spin = SPIN if inodes.prompt and len(os.sched_getaffinity(0)) > 1 else 0.0
        self._answered = 0
        self._numbers = 0
        self._open: dict[int, Any] = {}
        self._running: dict[int, bool] = {}                  # unique -> was it interrupted?
        self._stop = threading.Event()
        self._tender = threading.Thread(target=self._tend, name="fuse-tend", daemon=True)
        self._refresh: set[int] = set()
        self._attr = p.attr_timeout(inodes.ttl)
        self._absent = p.entry_timeouts(0, inodes.ttl) + bytes(p.ATTR.size)
        self._handlers: dict[int, Handler] = {
            p.LOOKUP: self._lookup, p.FORGET: self._forget, p.GETATTR: self._getattr, p.SETATTR: self._setattr,
            p.READLINK: self._readlink, p.SYMLINK: self._symlink, p.MKNOD: self._mknod, p.MKDIR: self._mkdir,
            p.UNLINK: self._unlink, p.RMDIR: self._rmdir, p.RENAME: self._rename, p.LINK: self._link,
            p.OPEN: self._opening, p.READ: self._read, p.WRITE: self._write, p.STATFS: self._statfs,
            p.RELEASE: self._release, p.FSYNC: self._fsync, p.SETXATTR: self._setxattr, p.GETXATTR: self._getxattr,
            p.LISTXATTR: self._listxattr, p.REMOVEXATTR: self._removexattr, p.FLUSH: self._flush, p.INIT: self._init,
            p.OPENDIR: self._opendir, p.READDIR: self._readdir, p.RELEASEDIR: self._release,
            p.FSYNCDIR: self._fsyncdir, p.CREATE: self._create, p.INTERRUPT: self._interrupt, p.DESTROY: _nothing,
            p.BATCH_FORGET: self._batch_forget, p.FALLOCATE: self._fallocate, p.READDIRPLUS: self._readdir,
            p.RENAME2: self._rename2, p.LSEEK: self._lseek, p.TMPFILE: self._temporary,
        }
        if not inodes.checked:
            self._handlers[p.ACCESS] = self._access

    # ---- threads

    def start(self) -> None:
        os.set_blocking(self._device, False)
        self._more()
        self._tender.start()

    def _more(self) -> None:
        with self._lock:
            if self._threads >= self._most or self._stop.is_set():
                return
            self._threads += 1
            self._idle += 1
        threading.Thread(target=self._serve, name="fuse", daemon=True).start()

    def _serve(self) -> None:
        buffer = bytearray(p.BUFFER)
        view = memoryview(buffer)
        waiting = select.poll()
        waiting.register(self._device, select.POLLIN)
        try:
            while length := self._next([buffer], waiting):
                _, opcode, unique, node, uid, gid, _, _, _ = p.IN_HEADER.unpack_from(buffer)
                with self._lock:
                    self._idle -= 1
                    alone = not self._idle
                if alone and (not self._prompt or opcode in WAITS):
                    self._more()
                self._answer(Request(opcode, unique, node, uid, gid, view[p.IN_HEADER.size:length]))
                with self._lock:
                    self._answered += 1
                    if self._prompt and self._idle:
                        return
                    self._idle += 1
        finally:
            with self._lock:
                self._threads -= 1
                last = not self._threads
            if last:
                self._end()

    def _next(self, buffers: list[bytearray], waiting: select.poll) -> int:
        """Read the next request; its length, 0 when the file system is unmounted.

        Who asks often does so again at once: for a moment the thread looks itself, before it sleeps until it is woken.
        """
        until = 0.0
        while True:
            try:
                return os.readv(self._device, buffers)
            except BlockingIOError:
                now = time.monotonic()
                if not until:
                    until = now + self._spin
                if now >= until:
                    waiting.poll()
            except OSError as e:
                if e.errno not in (errno.EINTR, errno.ENOENT):
                    return 0                                 # ENODEV: unmounted

    def _end(self) -> None:
        """The last thread: nobody asks any more."""
        self.abort()
        os.close(self._device)

    def abort(self) -> None:
        """Store everything; whoever asks from now on (the mount is detached, but in use) gets ENOTCONN."""
        with self._lock:
            if self._stop.is_set():
                return
            self._stop.set()
            handles = list(self._open.values())
        self._tender.join(2)                                 # it uses the database
        for handle in handles:
            try:
                close = getattr(handle, "close", None)
                if close is not None:
                    close()
            except Exception as e:                           # the others are closed all the same
                self._told(e)
        try:
            self.inodes.close()
        except Exception as e:
            self._told(e)
        self.ended.set()

    def _told(self, failure: BaseException) -> None:
        if self._report is not None:
            self._report(failure)

    def _answer(self, request: Request) -> None:
        opcode, unique = request.opcode, request.unique
        handler = self._handlers.get(opcode)
        code, reply = 0, None
        interruptible = opcode in INTERRUPTIBLE
        if interruptible:
            self._running[unique] = False
        try:
            if handler is None:
                code, reply = errno.ENOSYS, b""
            elif self._stop.is_set():
                code, reply = errno.ENOTCONN, b""
            elif self.uids is not None and request.uid not in self.uids and opcode not in ALLOWED_ALWAYS:
                code, reply = errno.EACCES, b""
            else:
                reply = handler(request)
        except OSError as e:
            code, reply = e.errno or errno.EIO, b""
        except LineStopped:                                  # the terminal's memory limit
            code, reply = errno.ENOSPC, b""
        except BaseException as e:
            self._told(e)
            code, reply = errno.EIO, b""
        interrupted = self._running.pop(unique, False) if interruptible else False
        if reply is None:
            return
        if (interrupted or not self._send(unique, code, reply)) and not code:
            self._take_back(opcode, reply)

    def _take_back(self, opcode: int, reply: bytes) -> None:
        """The kernel never got the reply: what it refers to is let go."""
        try:
            if opcode in GIVES_NODE:
                node = p.U64.unpack_from(reply)[0]
                if node:
                    self.inodes.forget(node, 1)
            if opcode in GIVES_HANDLE:
                number = p.U64.unpack_from(reply, p.ENTRY.size + p.ATTR.size if opcode in GIVES_NODE else 0)[0]
                with self._lock:
                    handle = self._open.pop(number, None)
                close = getattr(handle, "close", None)
                if close is not None:
                    close()
        except Exception as e:
            self._told(e)

    def _send(self, unique: int, code: int, reply: bytes) -> bool:
        """False: the one who asked does not wait any more."""
        try:
            header = p.OUT_HEADER.pack(p.OUT_HEADER.size + len(reply), -code, unique)
            if len(reply) < SMALL:
                os.write(self._device, header + reply)
            else:
                os.writev(self._device, [header, reply])
        except OSError:                                      # ENOENT: interrupted; ENODEV: unmounted
            return False
        return True

    def _interrupt(self, request: Request) -> None:
        """Who waits for a slow read may go; what was begun goes on, for nobody."""
        (unique,) = p.U64.unpack_from(request.body)
        if unique in self._running:
            self._running[unique] = True
            self._send(unique, errno.EINTR, b"")

    # ---- what others change

    def _tend(self) -> None:
        answered = -1
        wakeful = Wakeful()
        while not self._stop.wait(TENDING):
            if not self._idle and self._answered == answered:
                self._more()                                 # all are at the same requests as the last time
            wakeful.answered(self._answered - answered)
            answered = self._answered
            try:
                nodes, names = self.inodes.tend()
            except Exception as e:
                self._told(e)
                continue
            with self._lock:
                if self._refresh:
                    nodes = [*nodes, *self._refresh]
                    self._refresh.clear()
            for parent, name in names:
                self.forget_name(parent, name)
            for node in nodes:
                self.forget_node(node)
        wakeful.close()

    def forget_node(self, node: int) -> None:
        """The kernel asks for attributes and content of the node again."""
        self._notify(p.NOTIFY_INODE, p.INVAL_INODE.pack(node, 0, 0))

    def forget_name(self, parent: int, name: str) -> None:
        data = raw(name)
        self._notify(p.NOTIFY_ENTRY, p.INVAL_ENTRY.pack(parent, len(data), 0) + data + b"\0")

    def _notify(self, code: int, body: bytes) -> None:
        try:
            os.writev(self._device, [p.OUT_HEADER.pack(p.OUT_HEADER.size + len(body), code, 0), body])
        except OSError:                                      # ENOENT: it knew nothing of it
            return

    # ---- handles

    def _keep(self, handle: Any) -> int:
        with self._lock:
            self._numbers += 1
            self._open[self._numbers] = handle
            return self._numbers

    def _handle(self, number: int) -> OpenNode:
        handle: OpenNode | None = self._open.get(number)
        if handle is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return handle

    # ---- opcodes

    def _init(self, request: Request) -> bytes:
        _, minor, readahead, offered = p.INIT_IN.unpack_from(request.body)
        flags = offered & p.WANTED
        flags2 = 0
        if flags & p.INIT_EXT and len(request.body) >= 20:
            flags2 = p.U32.unpack_from(request.body, 16)[0] & p.DIRECT_IO_ALLOW_MMAP
        self.ready.set()
        return p.INIT_OUT.pack(p.MAJOR, min(minor, p.MINOR), max(readahead, p.MAX_WRITE), flags, 64, 48, p.MAX_WRITE, 1,
                               p.MAX_PAGES, 0, flags2)

    def _entry(self, found: Found) -> bytes:
        return p.entry_timeouts(found[0], self.inodes.ttl) + p.pack_attr(found[1])

    def _lookup(self, request: Request) -> bytes:
        found = self.inodes.lookup(request.node, check_name(request.name()))
        return self._absent if found is None else self._entry(found)

    def _forget(self, request: Request) -> None:
        self.inodes.forget(request.node, p.U64.unpack_from(request.body)[0])

    def _batch_forget(self, request: Request) -> None:
        (count,) = p.U32.unpack_from(request.body)
        for at in range(count):
            self.inodes.forget(*p.TWO_U64.unpack_from(request.body, 8 + 16 * at))

    def _getattr(self, request: Request) -> bytes:
        flags, _, number = p.GETATTR_IN.unpack_from(request.body)
        handle = self._open.get(number) if flags & p.GETATTR_FH else None
        return self._attr + p.pack_attr(self.inodes.getattr(request.node, handle))

    def _setattr(self, request: Request) -> bytes:
        (valid, _, number, size, _, atime, mtime, _, atime_nano, mtime_nano, _, mode, _, uid, gid,
         _) = p.SETATTR_IN.unpack_from(request.body)
        changes = Changes()
        if valid & p.SET_MODE:
            changes.mode = mode & 0o7777
        if valid & p.SET_UID:
            changes.uid = uid
        if valid & p.SET_GID:
            changes.gid = gid
        if valid & p.SET_SIZE:
            changes.size = size
        now = time.time_ns() if valid & (p.SET_ATIME_NOW | p.SET_MTIME_NOW) else 0
        if valid & p.SET_ATIME:
            changes.atime_ns = now if valid & p.SET_ATIME_NOW else atime * p.SECOND + atime_nano
        if valid & p.SET_MTIME:
            changes.mtime_ns = now if valid & p.SET_MTIME_NOW else mtime * p.SECOND + mtime_nano
        changes.drop_privileges = bool(valid & (p.KILL_SUIDGID | p.SET_UID | p.SET_GID))
        handle = self._open.get(number) if valid & p.SET_FH else None
        return self._attr + p.pack_attr(self.inodes.setattr(request.node, changes, handle))

    def _access(self, request: Request) -> bytes:
        (mode,) = p.U32.unpack_from(request.body)
        if not self.inodes.access(request.node, mode):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        return b""

    def _readlink(self, request: Request) -> bytes:
        return raw(self.inodes.readlink(request.node))

    def _symlink(self, request: Request) -> bytes:
        name, target = request.names()
        return self._entry(self.inodes.symlink(request.node, check_name(name), target, request.uid, request.gid))

    def _mknod(self, request: Request) -> bytes:
        mode, rdev, _, _ = p.MKNOD_IN.unpack_from(request.body)
        return self._entry(self.inodes.mknod(request.node, check_name(request.name(p.MKNOD_IN.size)), mode, rdev,
                                             request.uid, request.gid))

    def _mkdir(self, request: Request) -> bytes:
        (mode,) = p.U32.unpack_from(request.body)
        return self._entry(self.inodes.mkdir(request.node, check_name(request.name(8)), mode & 0o7777, request.uid,
                                             request.gid))

    def _unlink(self, request: Request) -> bytes:
        self.inodes.unlink(request.node, check_name(request.name()))
        return b""

    def _rmdir(self, request: Request) -> bytes:
        self.inodes.rmdir(request.node, check_name(request.name()))
        return b""

    def _rename(self, request: Request) -> bytes:
        (target,) = p.U64.unpack_from(request.body)
        return self._renamed(request, target, 0, p.U64.size)

    def _rename2(self, request: Request) -> bytes:
        target, flags, _ = p.RENAME2_IN.unpack_from(request.body)
        return self._renamed(request, target, flags, p.RENAME2_IN.size)

    def _renamed(self, request: Request, target: int, flags: int, start: int) -> bytes:
        name, new_name = request.names(start)
        self.inodes.rename(request.node, check_name(name), target, check_name(new_name), flags)
        return b""

    def _link(self, request: Request) -> bytes:
        (node,) = p.U64.unpack_from(request.body)
        return self._entry(self.inodes.link(node, request.node, check_name(request.name(p.U64.size))))

    def _opened(self, handle: OpenNode) -> bytes:
        return self._kept(handle, 0)

    def _kept(self, handle: OpenNode, flags: int) -> bytes:
        flags |= p.FOPEN_DIRECT_IO if handle.direct else p.FOPEN_KEEP_CACHE if handle.keep else 0
        return p.OPEN_OUT.pack(self._keep(handle), flags, 0)

    def _opening(self, request: Request) -> bytes:
        (flags,) = p.U32.unpack_from(request.body)
        handle = self.inodes.open(request.node, flags)
        return self._kept(handle, 0 if flags & os.O_ACCMODE else p.FOPEN_NOFLUSH)

    def _create(self, request: Request) -> bytes:
        flags, mode, _, _ = p.CREATE_IN.unpack_from(request.body)
        found, handle = self.inodes.create(request.node, check_name(request.name(p.CREATE_IN.size)), mode & 0o7777,
                                           flags, request.uid, request.gid)
        return self._entry(found) + self._opened(handle)

    def _temporary(self, request: Request) -> bytes:
        flags, mode, _, _ = p.CREATE_IN.unpack_from(request.body)
        found, handle = self.inodes.temporary(request.node, mode & 0o7777, flags, request.uid, request.gid)
        return self._entry(found) + self._opened(handle)

    def _read(self, request: Request) -> bytes:
        number, offset, size, _ = p.IO_IN.unpack_from(request.body)
        return self._handle(number).pread(size, offset)

    def _write(self, request: Request) -> bytes:
        number, offset, size, flags = p.IO_IN.unpack_from(request.body)
        end = self._handle(number).pwrite(request.body[40:40 + size], offset, bool(flags & p.WRITE_KILL_SUIDGID))
        if end != offset + size:                             # an append behind what another process appended
            with self._lock:
                self._refresh.add(request.node)
        return p.WRITE_OUT.pack(size, 0)

    def _statfs(self, request: Request) -> bytes:
        total, free = self.inodes.statfs()
        blocks, available = total // p.BLOCK, free // p.BLOCK
        return p.STATFS_OUT.pack(blocks, available, available, 1 << 40, 1 << 40, p.BLOCK, p.NAME_MAX, p.BLOCK, 0)

    def _flush(self, request: Request) -> bytes:
        self._handle(p.U64.unpack_from(request.body)[0]).flush()
        return b""

    def _fsync(self, request: Request) -> bytes:
        self._handle(p.U64.unpack_from(request.body)[0]).sync()
        return b""

    def _fsyncdir(self, request: Request) -> bytes:
        sync = getattr(self._open.get(p.U64.unpack_from(request.body)[0]), "sync", None)
        if sync is not None:
            sync()
        return b""

    def _release(self, request: Request) -> bytes:
        with self._lock:
            handle = self._open.pop(p.RELEASE_IN.unpack_from(request.body)[0], None)
        close = getattr(handle, "close", None)
        if close is not None:
            close()
        return b""

    def _fallocate(self, request: Request) -> bytes:
        number, offset, length, mode, _ = p.FALLOCATE_IN.unpack_from(request.body)
        self._handle(number).allocate(mode, offset, length)
        return b""

    def _lseek(self, request: Request) -> bytes:
        number, offset, whence, _ = p.LSEEK_IN.unpack_from(request.body)
        return p.U64.pack(self._handle(number).seek(offset, whence))

    # ---- extended attributes

    def _setxattr(self, request: Request) -> bytes:
        size, flags = p.XATTR_IN.unpack_from(request.body)
        name, _, rest = bytes(request.body[8:]).partition(b"\0")
        self.inodes.setxattr(request.node, _attribute(name), rest[:size], flags)
        return b""

    def _getxattr(self, request: Request) -> bytes:
        (size,) = p.U32.unpack_from(request.body)
        return _sized(self.inodes.getxattr(request.node, _attribute(bytes(request.body[8:-1]))), size)

    def _listxattr(self, request: Request) -> bytes:
        (size,) = p.U32.unpack_from(request.body)
        return _sized(b"".join(raw(name) + b"\0" for name in self.inodes.listxattr(request.node)), size)

    def _removexattr(self, request: Request) -> bytes:
        self.inodes.removexattr(request.node, _attribute(bytes(request.body[:-1])))
        return b""

    # ---- directories

    def _opendir(self, request: Request) -> bytes:
        return p.OPEN_OUT.pack(self._keep(Directory(self.inodes, request.node)), 0, 0)

    def _readdir(self, request: Request) -> bytes:
        number, offset, size, _ = p.IO_IN.unpack_from(request.body)
        directory: Directory | None = self._open.get(number)
        if directory is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return directory.read(offset, size, request.opcode == p.READDIRPLUS)


class Directory:
    """An open directory. An offset is the number of the next entry: what was listed first stays listed until the
    directory is rewound, so that nothing shows twice or is left out while names come and go."""

    def __init__(self, inodes: Inodes, node: int) -> None:
        self._inodes = inodes
        self._node = node
        self._listing: Listing | None = inodes.opendir(node)
        self._fresh = True
        self._lock = threading.Lock()

    def read(self, offset: int, size: int, plus: bool) -> bytes:
        with self._lock:
            if offset == 0 and not self._fresh:
                self._listing = self._inodes.opendir(self._node)
            self._fresh = False
            listing = self._listing
        if listing is None:
            return b""
        out = bytearray()
        room = (p.ENTRY.size + p.ATTR.size) if plus else 0
        unknown = bytes(room)
        count = len(listing.entries)
        while offset < count + 2:
            if offset < 2:
                ino = self._node if offset == 0 else listing.parent_ino
                record = p.dirent(ino, offset + 1, st.S_IFDIR >> 12, b"." if offset == 0 else b"..")
            else:
                name, ino, kind = listing.entries[offset - 2]
                record = p.dirent(ino, offset + 1, kind, raw(name))
            if len(out) + room + len(record) > size:
                break
            if plus:
                found = listing.enter(offset - 2) if offset >= 2 else None
                out += unknown if found is None else (p.entry_timeouts(found[0], self._inodes.ttl)
                                                      + p.pack_attr(found[1]))
            out += record
            offset += 1
        return bytes(out)

    def sync(self) -> None:
        sync = getattr(self._inodes, "sync", None)
        if sync is not None:
            sync()


def _attribute(name: bytes) -> str:
    if name.startswith(b"system."):                          # access control lists are not kept
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
    return text(name)


def _sized(data: bytes, size: int) -> bytes:
    """What getxattr answers: the length alone where `size` is 0."""
    if not size:
        return p.WRITE_OUT.pack(len(data), 0)
    if len(data) > size:
        raise OSError(errno.ERANGE, os.strerror(errno.ERANGE))
    return data


def _nothing(request: Request) -> bytes:
    return b""
