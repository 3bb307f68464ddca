"""The NFS program, version 3 (RFC 1813): its procedures over the inode protocol.

What changes names or attributes is on the disk before it is answered. What is written "unstable" waits; COMMIT answers
when it survives a loss of power. Should any of it be lost without that, the write verifier changes, and clients send it
again. Handles of a database stay good for ever: they are its inode numbers, which are never given twice.
"""
from __future__ import annotations

import errno
import hashlib
import os
import stat as st
import threading
from collections import OrderedDict

from mirage.serve.nfs.files import OpenFiles
from mirage.serve.nfs.xdr import Reader, opaque, text, u32, u64
from mirage.vfs.inodes import ROOT, Changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.serve.nfs.rpc import Credentials, Procedure
    from mirage.vfs.inodes import Found, Inodes
    from mirage.vfs.types import Stat

    Names = list[tuple[int, str, int]]

MAGIC = b"VFS3"
LONGEST = 1 << 20                                            # bytes that one READ or WRITE carries
NAME_MAX = 255
OK, NOT_SYNC, BAD_HANDLE, TOO_SMALL, NOT_SUPPORTED, SERVER_FAULT, BAD_TYPE = 0, 10002, 10001, 10005, 10004, 10006, 10007
STATUS = {errno.EPERM: 1, errno.ENOENT: 2, errno.EIO: 5, errno.ENXIO: 6, errno.EACCES: 13, errno.EEXIST: 17,
          errno.EXDEV: 18, errno.ENODEV: 19, errno.ENOTDIR: 20, errno.EISDIR: 21, errno.EINVAL: 22, errno.EFBIG: 27,
          errno.ENOSPC: 28, errno.EROFS: 30, errno.EMLINK: 31, errno.ENAMETOOLONG: 63, errno.ENOTEMPTY: 66,
          errno.EDQUOT: 69, errno.ESTALE: 70, errno.EOPNOTSUPP: NOT_SUPPORTED, errno.ELOOP: 22, errno.EBUSY: 10008,
          errno.EAGAIN: 10008}
TYPES = {st.S_IFREG: 1, st.S_IFDIR: 2, st.S_IFBLK: 3, st.S_IFCHR: 4, st.S_IFLNK: 5, st.S_IFSOCK: 6, st.S_IFIFO: 7}
KINDS = {number: kind for kind, number in TYPES.items()}
UNSTABLE, FILE_SYNC = 0, 2
UNCHECKED, GUARDED, EXCLUSIVE = 0, 1, 2
READ, LOOKUP, MODIFY, EXTEND, DELETE, EXECUTE = 1, 2, 4, 8, 16, 32
SECOND = 10 ** 9
LISTINGS = 32                                                # directories whose names are kept in order


class Refused(Exception):
    """A status of NFS that no errno stands for."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def fail(number: int) -> OSError:
    return OSError(number, os.strerror(number))


class Export:
    """inodes  the file system
    stable  its node numbers mean the same for ever (a database), and need no references
    sync    returns when everything that was committed survives a loss of power
    """

    number, version = 100003, 3
    once = frozenset((2, 7, 8, 9, 10, 11, 12, 13, 14, 15))

    def __init__(self, inodes: Inodes, stable: bool, sync: Callable[[], None]) -> None:
        self.inodes = inodes
        self.stable = stable
        self.sync = sync
        self._boot = bytes(8) if stable else os.urandom(8)
        self.verifier = os.urandom(8)
        self.files = OpenFiles(inodes, self._lost)
        self._lock = threading.Lock()
        self._listings: OrderedDict[int, tuple[int, Names]] = OrderedDict()
        procedures = (self.null, self.getattr, self.setattr, self.lookup, self.access, self.readlink, self.read,
                      self.write, self.create, self.mkdir, self.symlink, self.mknod, self.remove, self.rmdir,
                      self.rename, self.link, self.readdir, self.readdirplus, self.fsstat, self.fsinfo, self.pathconf,
                      self.commit)
        self.procedures: dict[int, Procedure] = {
            number: self._guarded(function, FAILED[number]) for number, function in enumerate(procedures)}

    def _lost(self) -> None:
        self.verifier = os.urandom(8)

    @staticmethod
    def _guarded(function: Procedure, more: int) -> Procedure:
        """Errors become a status, followed by `more` words that say that there are no attributes."""

        def call(who: Credentials, args: Reader) -> bytes:
            try:
                return function(who, args)
            except Refused as e:
                return u32(e.status) + bytes(4 * more)
            except OSError as e:
                return u32(STATUS.get(e.errno or 0, STATUS[errno.EIO])) + bytes(4 * more)

        return call

    # ---- handles and attributes

    def handle(self, node: int) -> bytes:
        return MAGIC + self._boot + node.to_bytes(8, "big")

    def _node(self, args: Reader) -> int:
        data = args.opaque(64)
        if len(data) != 20 or not data.startswith(MAGIC):
            raise Refused(BAD_HANDLE)
        if data[4:12] != self._boot:
            raise fail(errno.ESTALE)
        return int.from_bytes(data[12:], "big")

    def _seen(self, found: Found) -> Found:
        """A node that the inode protocol gave us a reference to; those of a database need none."""
        if self.stable:
            self.inodes.forget(found[0], 1)
        return found

    def _stat(self, node: int) -> Stat:
        return self.inodes.getattr(node)

    @staticmethod
    def attributes(stat: Stat) -> bytes:
        return b"".join((
            u32(TYPES.get(st.S_IFMT(stat.mode), 1)), u32(stat.mode & 0o7777), u32(stat.nlink), u32(stat.uid),
            u32(stat.gid), u64(stat.size or 0), u64(512 * (stat.blocks or 0)), u32(os.major(stat.rdev)),
            u32(os.minor(stat.rdev)), u64(stat.dev), u64(stat.ino), _time(stat.atime_ns), _time(stat.mtime_ns),
            _time(stat.ctime_ns)))

    def _after(self, node: int) -> bytes:
        """post_op_attr."""
        try:
            return u32(1) + self.attributes(self._stat(node))
        except OSError:
            return u32(0)

    def _changed(self, before: Stat, node: int) -> bytes:
        """wcc_data: what it was, and what it is."""
        return b"".join((u32(1), u64(before.size or 0), _time(before.mtime_ns), _time(before.ctime_ns),
                         self._after(node)))

    def _directory(self, args: Reader) -> tuple[int, str, Stat]:
        """diropargs3."""
        node, name = self._node(args), args.text(1 << 16)
        stat = self._stat(node)
        if not stat.is_dir:
            raise fail(errno.ENOTDIR)
        return node, name, stat

    @staticmethod
    def _new_name(name: str) -> None:
        if not name or name in (".", "..") or "/" in name or "\0" in name:
            raise fail(errno.EINVAL)
        if len(name.encode("utf-8", "surrogateescape")) > NAME_MAX:
            raise fail(errno.ENAMETOOLONG)

    # ---- permissions

    @staticmethod
    def _permitted(stat: Stat, want: int, who: Credentials) -> bool:
        """`want`: 4 read, 2 write, 1 search or execute."""
        mode = stat.mode
        if who.uid == 0:
            return not want & 1 or bool(mode & 0o111) or stat.is_dir
        if who.uid == stat.uid:
            return mode >> 6 & want == want
        if stat.gid == who.gid or stat.gid in who.gids:
            return mode >> 3 & want == want
        return mode & want == want

    def _require(self, stat: Stat, want: int, who: Credentials, owner: bool = False) -> None:
        """`owner`: who owns the file may, whatever its mode: he had it open when he took his permission away."""
        if not self._permitted(stat, want, who) and not (owner and who.uid == stat.uid):
            raise fail(errno.EACCES)

    def _may_remove(self, directory: Stat, name: str, node: int, who: Credentials) -> Found:
        self._require(directory, 3, who)
        found = self.inodes.lookup(node, name)
        if found is None:
            raise fail(errno.ENOENT)
        found = self._seen(found)
        if directory.mode & st.S_ISVTX and who.uid not in (0, directory.uid, found[1].uid):
            raise fail(errno.EPERM)
        return found

    # ---- procedures

    def null(self, who: Credentials, args: Reader) -> bytes:
        return b""

    def getattr(self, who: Credentials, args: Reader) -> bytes:
        return u32(OK) + self.attributes(self._stat(self._node(args)))

    def setattr(self, who: Credentials, args: Reader) -> bytes:
        node = self._node(args)
        changes, now = _changes(args)
        guard = (args.u32(), args.u32()) if args.flag() else None
        self.files.flush(node)
        before = self._stat(node)
        if guard is not None and guard != (before.ctime_ns // SECOND & 0xFFFFFFFF, before.ctime_ns % SECOND):
            return u32(NOT_SYNC) + self._changed(before, node)
        self._check_changes(before, changes, now, who)
        self.inodes.setattr(node, changes)
        self.sync()
        return u32(OK) + self._changed(before, node)

    def _check_changes(self, before: Stat, changes: Changes, now: bool, who: Credentials) -> None:
        mine = who.uid in (0, before.uid)
        if changes.size is not None:
            if before.is_dir:
                raise fail(errno.EISDIR)
            self._require(before, 2, who, owner=True)
        if changes.mode is not None:
            if not mine:
                raise fail(errno.EPERM)
            if who.uid and before.gid != who.gid and before.gid not in who.gids:
                changes.mode &= ~st.S_ISGID
        if changes.uid is not None and changes.uid != before.uid and who.uid:
            raise fail(errno.EPERM)
        if changes.gid is not None and changes.gid != before.gid and who.uid:
            if not mine or changes.gid != who.gid and changes.gid not in who.gids:
                raise fail(errno.EPERM)
        if (changes.uid, changes.gid) != (None, None) or changes.size is not None:
            changes.drop_privileges = who.uid != 0
        if (changes.atime_ns, changes.mtime_ns) != (None, None) and not mine and changes.size is None:
            if not now:
                raise fail(errno.EPERM)
            self._require(before, 2, who)

    def lookup(self, who: Credentials, args: Reader) -> bytes:
        node, name, directory = self._directory(args)
        self._require(directory, 1, who)
        if name in (".", ""):
            found = node, directory
        elif name == "..":
            above = self.inodes.opendir(node).parent_ino
            found = above, self._stat(above)
        elif len(name.encode("utf-8", "surrogateescape")) > NAME_MAX:
            raise fail(errno.ENAMETOOLONG)
        else:
            there = self.inodes.lookup(node, name)
            if there is None:
                return u32(STATUS[errno.ENOENT]) + u32(1) + self.attributes(directory)
            found = self._seen(there)
        return b"".join((u32(OK), opaque(self.handle(found[0])), u32(1), self.attributes(found[1]), self._after(node)))

    def access(self, who: Credentials, args: Reader) -> bytes:
        node, wanted = self._node(args), args.u32()
        stat = self._stat(node)
        granted = 0
        if self._permitted(stat, 4, who):
            granted |= READ
        if self._permitted(stat, 2, who):
            granted |= MODIFY | EXTEND | (DELETE if stat.is_dir else 0)
        if self._permitted(stat, 1, who):
            granted |= LOOKUP if stat.is_dir else EXECUTE
        return b"".join((u32(OK), u32(1), self.attributes(stat), u32(granted & wanted)))

    def readlink(self, who: Credentials, args: Reader) -> bytes:
        node = self._node(args)
        target = self.inodes.readlink(node)
        return u32(OK) + self._after(node) + text(target)

    def _file(self, node: int) -> Stat:
        stat = self._stat(node)
        if not st.S_ISREG(stat.mode):
            raise fail(errno.EISDIR if stat.is_dir else errno.EINVAL)
        return stat

    def read(self, who: Credentials, args: Reader) -> bytes:
        node, offset, count = self._node(args), args.u64(), args.u32()
        stat = self._file(node)
        if not self._permitted(stat, 1, who):                # a program may be loaded by who can only execute it
            self._require(stat, 4, who, owner=True)
        kept = self.files.use(node, False)
        try:
            data = kept.file.pread(min(count, LONGEST), offset)
        finally:
            kept.lock.release()
        end = offset + len(data) >= (stat.size or 0) or not data and count > 0
        return b"".join((u32(OK), self._after(node), u32(len(data)), u32(end), opaque(data)))

    def write(self, who: Credentials, args: Reader) -> bytes:
        node, offset, count, stable = self._node(args), args.u64(), args.u32(), args.u32()
        data = args.view(LONGEST)[:count]
        before = self._file(node)
        self._require(before, 2, who, owner=True)
        verifier = self.verifier
        kept = self.files.use(node, True)
        try:
            kept.file.pwrite(data, offset, who.uid != 0)
            if stable != UNSTABLE:
                kept.file.sync()
        finally:
            kept.lock.release()
        return b"".join((u32(OK), self._changed(before, node), u32(len(data)),
                         u32(FILE_SYNC if stable != UNSTABLE else UNSTABLE), verifier))

    def commit(self, who: Credentials, args: Reader) -> bytes:
        node = self._node(args)
        before = self._file(node)
        verifier = self.verifier
        kept = self.files.use(node, True)
        try:
            kept.file.sync()
        finally:
            kept.lock.release()
        return u32(OK) + self._changed(before, node) + verifier

    def _made(self, found: Found, directory: Stat, node: int) -> bytes:
        self.sync()
        return b"".join((u32(OK), u32(1), opaque(self.handle(found[0])), u32(1), self.attributes(found[1]),
                         self._changed(directory, node)))

    def create(self, who: Credentials, args: Reader) -> bytes:
        node, name, directory = self._directory(args)
        how = args.u32()
        changes, verifier = Changes(), b""
        if how == EXCLUSIVE:
            verifier = args.fixed(8)
        elif how in (UNCHECKED, GUARDED):
            changes, _ = _changes(args)
        else:
            raise fail(errno.EINVAL)
        self._new_name(name)
        self._require(directory, 1, who)
        there = self.inodes.lookup(node, name)
        if there is not None:
            return self._made(self._existing(self._seen(there), how, changes, verifier, who), directory, node)
        self._require(directory, 3, who)
        mode = (0o600 if verifier else 0o666) if changes.mode is None else changes.mode & 0o7777
        found, file = self.inodes.create(node, name, mode, os.O_RDWR | os.O_EXCL, who.uid, who.gid)
        file.close()
        found = self._seen(found)
        changes.mode = changes.uid = changes.gid = None
        if verifier:
            changes.atime_ns, changes.mtime_ns = _verifier_times(verifier)
        if (changes.size, changes.atime_ns, changes.mtime_ns) != (None, None, None):
            found = found[0], self.inodes.setattr(found[0], changes)
        return self._made(found, directory, node)

    def _existing(self, found: Found, how: int, changes: Changes, verifier: bytes, who: Credentials) -> Found:
        if how == EXCLUSIVE:
            if (found[1].atime_ns, found[1].mtime_ns) != _verifier_times(verifier):
                raise fail(errno.EEXIST)
            return found                                     # the same call once more
        if how == GUARDED or not st.S_ISREG(found[1].mode):
            raise fail(errno.EEXIST)
        if changes.size is not None:
            only = Changes()
            only.size = changes.size
            self._require(found[1], 2, who)
            self.files.flush(found[0])
            return found[0], self.inodes.setattr(found[0], only)
        return found

    def mkdir(self, who: Credentials, args: Reader) -> bytes:
        node, name, directory = self._directory(args)
        changes, _ = _changes(args)
        self._new_name(name)
        self._require(directory, 3, who)
        mode = 0o777 if changes.mode is None else changes.mode & 0o7777
        return self._made(self._seen(self.inodes.mkdir(node, name, mode, who.uid, who.gid)), directory, node)

    def symlink(self, who: Credentials, args: Reader) -> bytes:
        node, name, directory = self._directory(args)
        _changes(args)
        target = args.text()
        self._new_name(name)
        self._require(directory, 3, who)
        return self._made(self._seen(self.inodes.symlink(node, name, target, who.uid, who.gid)), directory, node)

    def mknod(self, who: Credentials, args: Reader) -> bytes:
        node, name, directory = self._directory(args)
        kind = KINDS.get(args.u32(), 0)
        if kind not in (st.S_IFBLK, st.S_IFCHR, st.S_IFSOCK, st.S_IFIFO):
            raise Refused(BAD_TYPE)
        changes, _ = _changes(args)
        device = os.makedev(args.u32(), args.u32()) if kind in (st.S_IFBLK, st.S_IFCHR) else 0
        self._new_name(name)
        self._require(directory, 3, who)
        if device and who.uid:
            raise fail(errno.EPERM)
        mode = kind | (0o666 if changes.mode is None else changes.mode & 0o7777)
        return self._made(self._seen(self.inodes.mknod(node, name, mode, device, who.uid, who.gid)), directory, node)

    def remove(self, who: Credentials, args: Reader) -> bytes:
        node, name, directory = self._directory(args)
        self._new_name(name)
        found = self._may_remove(directory, name, node, who)
        if found[1].nlink <= 1 and not found[1].is_dir:
            self.files.drop(found[0])
        self.inodes.unlink(node, name)
        self.sync()
        return u32(OK) + self._changed(directory, node)

    def rmdir(self, who: Credentials, args: Reader) -> bytes:
        node, name, directory = self._directory(args)
        self._new_name(name)
        self._may_remove(directory, name, node, who)
        self.inodes.rmdir(node, name)
        self.sync()
        return u32(OK) + self._changed(directory, node)

    def rename(self, who: Credentials, args: Reader) -> bytes:
        node, name, source = self._directory(args)
        new_node, new_name, target = self._directory(args)
        self._new_name(name)
        self._new_name(new_name)
        self._may_remove(source, name, node, who)
        self._require(target, 3, who)
        there = self.inodes.lookup(new_node, new_name)
        if there is not None:
            self._seen(there)
            self._may_remove(target, new_name, new_node, who)
            if there[1].nlink <= 1 and not there[1].is_dir:
                self.files.drop(there[0])
        self.inodes.rename(node, name, new_node, new_name, 0)
        self.sync()
        return u32(OK) + self._changed(source, node) + self._changed(target, new_node)

    def link(self, who: Credentials, args: Reader) -> bytes:
        node = self._node(args)
        parent, name, directory = self._directory(args)
        self._new_name(name)
        self._require(directory, 3, who)
        self._seen(self.inodes.link(node, parent, name))
        self.sync()
        return u32(OK) + self._after(node) + self._changed(directory, parent)

    # ---- directories

    def _names(self, node: int, stat: Stat) -> Names:
        """(cookie, name, position in the listing), by cookie. A cookie is a digest of its name, so that it stays good
        whatever else appears in the directory or goes, and whenever the server began."""
        with self._lock:
            known = self._listings.get(node)
        if known is not None and known[0] == stat.mtime_ns:
            return known[1]
        found = sorted((_cookie(name), name, ino) for name, ino, _ in self.inodes.opendir(node).entries)
        with self._lock:
            self._listings[node] = stat.mtime_ns, found
            self._listings.move_to_end(node)
            while len(self._listings) > LISTINGS:
                self._listings.popitem(last=False)
        return found

    def _listing(self, args: Reader, who: Credentials) -> tuple[int, Stat, Names]:
        node, cookie = self._node(args), args.u64()
        args.fixed(8)
        stat = self._stat(node)
        if not stat.is_dir:
            raise fail(errno.ENOTDIR)
        self._require(stat, 4, who)
        names = self._names(node, stat)
        dots: Names = [(1, ".", stat.ino), (2, "..", self.inodes.opendir(node).parent_ino)]
        if cookie > 2:
            from bisect import bisect_right
            return node, stat, names[bisect_right(names, cookie, key=lambda entry: entry[0]):]
        return node, stat, dots[cookie:] + names

    def readdir(self, who: Credentials, args: Reader) -> bytes:
        node, stat, names = self._listing(args, who)
        room = min(args.u32(), LONGEST) - 128
        out: list[bytes] = []
        end = True
        for cookie, name, ino in names:
            entry = u32(1) + u64(ino) + text(name) + u64(cookie)
            room -= len(entry)
            if room < 0:
                end = False
                break
            out.append(entry)
        if not out and names:
            raise Refused(TOO_SMALL)
        return b"".join((u32(OK), u32(1), self.attributes(stat), bytes(8), *out, u32(0), u32(end)))

    def readdirplus(self, who: Credentials, args: Reader) -> bytes:
        node, stat, names = self._listing(args, who)
        few, room = args.u32(), min(args.u32(), LONGEST) - 128
        out: list[bytes] = []
        end = True
        for cookie, name, ino in names:
            found: Found | None
            if name in (".", ".."):
                there = node if name == "." else ino
                found = there, self._stat(there)
            else:
                found = self.inodes.lookup(node, name)
                if found is None:
                    continue                                 # it has just gone
                found = self._seen(found)
            plain = u32(1) + u64(ino) + text(name) + u64(cookie)
            entry = b"".join((plain, u32(1), self.attributes(found[1]), u32(1), opaque(self.handle(found[0]))))
            room -= len(entry)
            few -= len(plain)
            if room < 0 or few < 0 and out:
                end = False
                break
            out.append(entry)
        if not out and not end:
            raise Refused(TOO_SMALL)
        return b"".join((u32(OK), u32(1), self.attributes(stat), bytes(8), *out, u32(0), u32(end)))

    # ---- the whole file system

    def fsstat(self, who: Credentials, args: Reader) -> bytes:
        node = self._node(args)
        total, free = self.inodes.statfs()
        files = 1 << 32
        return b"".join((u32(OK), self._after(node), u64(total), u64(free), u64(free), u64(files) * 3, u32(0)))

    def fsinfo(self, who: Credentials, args: Reader) -> bytes:
        node = self._node(args)
        sizes = (LONGEST, LONGEST, 4096, LONGEST, LONGEST, 4096, 65536)
        return b"".join((u32(OK), self._after(node), *map(u32, sizes), u64((1 << 44) - 4096), u32(0), u32(1),
                         u32(1 | 2 | 8 | 16)))               # links, symbolic links, all alike, times can be set

    def pathconf(self, who: Credentials, args: Reader) -> bytes:
        node = self._node(args)
        return b"".join((u32(OK), self._after(node), u32(1 << 31), u32(NAME_MAX), u32(1), u32(1), u32(0), u32(1)))

    def resolve(self, path: str) -> int:
        """The node of a directory by its path, for the MOUNT program."""
        node = ROOT
        for name in path.split("/"):
            if name in ("", "."):
                continue
            found = self.inodes.lookup(node, name)
            if found is None:
                raise fail(errno.ENOENT)
            node, stat = self._seen(found)
            if not stat.is_dir:
                raise fail(errno.ENOTDIR)
        return node

    def close(self) -> None:
        self.files.close()


# words behind the status of a failure, of each procedure: "no attributes", once or several times
FAILED = (0, 0, 2, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 4, 3, 1, 1, 1, 1, 1, 2)


def _cookie(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(os.fsencode(name), digest_size=8).digest(), "big") >> 1 | 4


def _time(ns: int) -> bytes:
    return u32(ns // SECOND) + u32(ns % SECOND)


def _verifier_times(verifier: bytes) -> tuple[int, int]:
    return int.from_bytes(verifier[:4], "big") * SECOND, int.from_bytes(verifier[4:], "big") * SECOND


def _changes(args: Reader) -> tuple[Changes, bool]:
    """sattr3, and whether all times in it are the server's own."""
    import time
    changes = Changes()
    if args.flag():
        changes.mode = args.u32() & 0o7777
    if args.flag():
        changes.uid = args.u32()
    if args.flag():
        changes.gid = args.u32()
    if args.flag():
        changes.size = args.u64()
    given = False
    times: list[int | None] = []
    for _ in range(2):
        how = args.u32()
        if how == 2:
            given = True
            times.append(args.u32() * SECOND + args.u32())
        else:
            times.append(time.time_ns() if how == 1 else None)
    changes.atime_ns, changes.mtime_ns = times
    return changes, not given
