"""Host: a real directory as a mount. Nothing in it leads out of it.

- Symbolic links show as links and are followed only inside the virtual tree: an absolute target starts at the
  virtual "/", so it never reaches the host's file of that name. (Links that the agent makes are real links:
  another program on the host that follows one goes where it says.)
- A file that has several hard links may have a name outside. It can be read; changing it is EPERM, unless all
  its further links were made through this mount, or the option `hardlinks` says that the owner does not mind.
- Devices, sockets and FIFOs are listed; opening one is EACCES.
- Files of the user who runs Mirage appear as the virtual user's (for root: also files of the folder's owner).
  root stays root, every other owner is nobody. Set-uid and set-gid bits are dropped.
"""
from __future__ import annotations

import errno
import os
import stat as st
import threading

from mirage.mounts.host.beneath import O_PATH, open_beneath, relative_path
from mirage.vfs.registry import HostPath
from mirage.vfs.types import GID, S_IFDIR, S_IFLNK, S_IFREG, UID, Capabilities, Entry, Stat, error, permitted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Entries = list[Entry]

NOBODY = 65534
READ = Capabilities("open", "identity", "lookup")
WRITE = Capabilities("open", "identity", "lookup", "create", "mkdir", "remove", "rename", "link", "symlink",
                     "setattr", "replace")
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
APPEND: int = getattr(os, "RWF_APPEND", 0)


class Host:
    """The directory `dir` of the host; `writable=False` answers EROFS to every change."""

    def __init__(self, dir: str | os.PathLike[str], writable: bool = False, hardlinks: bool = False) -> None:
        self.root = os.path.realpath(os.path.expanduser(os.fspath(dir)))
        self.writable = writable
        self.hardlinks = hardlinks
        self.capabilities = WRITE if writable else READ
        self._fd = -1
        self._fd = os.open(self.root, O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._lock = threading.Lock()
        self._links: dict[tuple[int, int], int] = {}         # identity -> links of which all names are inside
        self._superuser = os.geteuid() == 0
        self._ours = {os.geteuid()}
        self._groups = {os.getegid(), *os.getgroups()}
        if self._superuser:
            owner = os.fstat(self._fd)
            self._ours.add(owner.st_uid)
            self._groups.add(owner.st_gid)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Host({self.root!r}, writable={self.writable})"

    # ---- finding

    def _open(self, path: str, flags: int, mode: int = 0) -> int:
        return open_beneath(self._fd, path, flags, mode)

    def _directory(self, path: str) -> tuple[Directory, str]:
        """The directory that holds the last component of `path` (a context manager), and that component."""
        if path == "/":
            raise error(errno.EBUSY, path)
        head, _, name = path.rpartition("/")
        if name == ".." or "\0" in name:
            raise error(errno.EACCES, path)
        return Directory(self._open(head or "/", O_PATH | os.O_DIRECTORY)), name

    def _stat(self, real: os.stat_result) -> Stat:
        uid, gid = real.st_uid, real.st_gid
        return Stat(real.st_mode & ~0o6000, real.st_size, real.st_mtime_ns, atime_ns=real.st_atime_ns,
                    ctime_ns=real.st_ctime_ns, btime_ns=_birth(real),
                    uid=UID if uid in self._ours else 0 if uid == 0 else NOBODY,
                    gid=GID if gid in self._groups else 0 if gid == 0 else NOBODY,
                    nlink=real.st_nlink, ino=real.st_ino, dev=real.st_dev, rdev=real.st_rdev,
                    blocks=real.st_blocks, version=f"{real.st_ctime_ns:x}.{real.st_ino:x}")

    def lookup(self, path: str, uid: int) -> Stat | str:
        try:
            found = self.stat(path)
        except OSError as e:
            if e.errno not in (errno.ELOOP, errno.ENOTDIR):
                raise
            link = self._first_link(path)
            if link is None:
                raise
            return link
        if self._superuser and uid:
            self._searchable(path, uid)
        return found

    def _first_link(self, path: str) -> str | None:
        at = ""
        for name in path[1:].split("/")[:-1]:
            at = f"{at}/{name}"
            if self.stat(at).is_link:
                return at
        return None

    def _searchable(self, path: str, uid: int) -> None:
        """The kernel lets root search every directory; the virtual user is not root."""
        at = path[1:].rpartition("/")[0]
        while at:
            real = os.stat(at, dir_fd=self._fd, follow_symlinks=False)
            if real.st_mode & 0o111 != 0o111 and not permitted(self._stat(real), 1, uid):
                raise error(errno.EACCES, path)
            at = at.rpartition("/")[0]

    def stat(self, path: str) -> Stat:
        if path == "/":
            return self._stat(os.fstat(self._fd))
        fd = self._open(path, O_PATH | os.O_NOFOLLOW)
        try:
            return self._stat(os.fstat(fd))
        finally:
            os.close(fd)

    def _kind(self, path: str) -> int:
        fd = self._open(path, O_PATH | os.O_NOFOLLOW)
        try:
            return st.S_IFMT(os.fstat(fd).st_mode)
        finally:
            os.close(fd)

    def list(self, path: str) -> Entries:
        fd = self._open(path, os.O_RDONLY | os.O_DIRECTORY)
        entries = []
        convert = self._stat
        try:
            with os.scandir(fd) as names:
                for name in names:
                    try:
                        entries.append(Entry(name.name, convert(name.stat(follow_symlinks=False))))
                    except FileNotFoundError:                # removed meanwhile
                        continue
                    except PermissionError:                  # readable, but may not be searched
                        entries.append(Entry(name.name, _kind_only(name)))
        finally:
            os.close(fd)
        return entries

    def readlink(self, path: str) -> str:
        if path == "/":
            raise error(errno.EINVAL, path)
        directory, name = self._directory(path)
        with directory as fd:
            return os.readlink(name, dir_fd=fd)

    def statfs(self, path: str) -> tuple[int, int]:
        real = os.fstatvfs(self._fd)
        return real.f_frsize * real.f_blocks, real.f_frsize * real.f_bavail

    def backend(self, path: str) -> tuple[str, str]:
        return "host", os.path.normpath(f"{self.root}/{relative_path(path)}")

    # ---- content

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        fd, real = self._open_file(path, os.O_RDONLY)
        try:
            if length is not None:
                return os.pread(fd, length, offset)
            parts = []
            want = max(1, real.st_size - offset + 1)         # one more: a short answer is the end
            while data := os.pread(fd, want, offset):
                parts.append(data)
                if len(data) < want and offset + len(data) == real.st_size:
                    break
                offset += len(data)
                want = 1 << 16
            return parts[0] if len(parts) == 1 else b"".join(parts)
        finally:
            os.close(fd)

    def open(self, path: str, flags: int, mode: int = 0) -> HostHandle:
        """Regular files only. The file is examined after it was opened and before it is changed."""
        access = flags & os.O_ACCMODE
        changing = access != os.O_RDONLY or bool(flags & os.O_TRUNC)
        if changing:
            self._may_change(path)
        if flags & os.O_TRUNC and access == os.O_RDONLY:
            access = os.O_RDWR
        fd, real = self._open_file(path, access)
        try:
            if changing:
                self._only_inside(real, path)
                if flags & os.O_TRUNC:
                    os.ftruncate(fd, 0)
        except BaseException:
            os.close(fd)
            raise
        return HostHandle(fd, self._stat)

    def _open_file(self, path: str, access: int) -> tuple[int, os.stat_result]:
        """(a descriptor of a regular file, what it is)"""
        kind = self._kind(path)                              # opening a device can have effects already
        if kind != S_IFREG:
            raise error({S_IFDIR: errno.EISDIR, S_IFLNK: errno.ELOOP}.get(kind, errno.EACCES), path)
        fd = self._open(path, access | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            real = os.fstat(fd)
            if not st.S_ISREG(real.st_mode):
                raise error(errno.EACCES, path)
        except BaseException:
            os.close(fd)
            raise
        return fd, real

    def create(self, path: str, mode: int, uid: int, gid: int, exclusive: bool = False) -> HostHandle:
        self._may_change(path)
        while True:
            try:
                fd = self._open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                if exclusive:
                    raise
                try:
                    return self.open(path, os.O_RDWR)
                except FileNotFoundError:
                    continue
            os.fchmod(fd, mode & 0o777)
            return HostHandle(fd, self._stat)

    def replace(self, path: str, data: bytes, mode: int, uid: int, gid: int) -> None:
        """A new file takes the place of the old one, with its mode; other hard links keep the old content."""
        self._may_change(path)
        directory, name = self._directory(path)
        with directory as parent:
            try:
                old: os.stat_result | None = os.stat(name, dir_fd=parent, follow_symlinks=False)
            except FileNotFoundError:
                old = None
            if old is not None:
                if not st.S_ISREG(old.st_mode):
                    raise error(errno.EISDIR if st.S_ISDIR(old.st_mode) else errno.EACCES, path)
                mode = old.st_mode
            if old is not None and (old.st_nlink > 1 or old.st_uid != os.geteuid()):
                return self._overwrite(path, data)
            temporary = f".mirage-{os.urandom(8).hex()}"
            try:
                fd = os.open(temporary, NEW_FILE, 0o600, dir_fd=parent)
            except PermissionError:
                if old is None:
                    raise
                return self._overwrite(path, data)
            try:
                try:
                    _write_all(fd, data)
                    os.fchmod(fd, mode & 0o777)
                finally:
                    os.close(fd)
                os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
            except BaseException:
                os.unlink(temporary, dir_fd=parent)
                raise

    def _overwrite(self, path: str, data: bytes) -> None:
        handle = self.open(path, os.O_WRONLY | os.O_TRUNC)
        try:
            handle.pwrite(data, 0)
        finally:
            handle.close()

    # ---- changes

    def _may_change(self, path: str) -> None:
        if not self.writable:
            raise error(errno.EROFS, path)

    def _only_inside(self, real: os.stat_result, path: str) -> None:
        """EPERM for a file that may have a name outside the mount."""
        if real.st_nlink > 1 and not self.hardlinks and not st.S_ISDIR(real.st_mode) \
                and real.st_nlink > self._links.get((real.st_dev, real.st_ino), 1):
            raise error(errno.EPERM, path)

    def _named(self, path: str, action: Callable[[str, int], None]) -> None:
        self._may_change(path)
        directory, name = self._directory(path)
        with directory as fd:
            action(name, fd)

    def mkdir(self, path: str, mode: int, uid: int, gid: int) -> None:
        self._named(path, lambda name, fd: os.mkdir(name, 0o700, dir_fd=fd))
        self._chmod(path, mode & 0o1777)

    def symlink(self, target: str, path: str, uid: int, gid: int) -> None:
        self._named(path, lambda name, fd: os.symlink(target, name, dir_fd=fd))

    def unlink(self, path: str) -> None:
        def remove(name: str, fd: int) -> None:
            real = os.stat(name, dir_fd=fd, follow_symlinks=False)
            os.unlink(name, dir_fd=fd)
            self._one_less(real)
        self._named(path, remove)

    def _one_less(self, real: os.stat_result) -> None:
        """One name of this file is gone."""
        with self._lock:
            known = self._links.pop((real.st_dev, real.st_ino), 1)
            if known > 2:
                self._links[real.st_dev, real.st_ino] = known - 1

    def rmdir(self, path: str) -> None:
        self._named(path, lambda name, fd: os.rmdir(name, dir_fd=fd))

    def link(self, old: str, new: str) -> None:
        self._may_change(new)
        source, old_name = self._directory(old)
        with source as old_fd:
            target, new_name = self._directory(new)
            with target as new_fd:
                os.link(old_name, new_name, src_dir_fd=old_fd, dst_dir_fd=new_fd, follow_symlinks=False)
                real = os.stat(new_name, dir_fd=new_fd, follow_symlinks=False)
        with self._lock:
            identity = real.st_dev, real.st_ino
            if real.st_nlink == self._links.get(identity, 1) + 1:
                self._links[identity] = real.st_nlink

    def rename(self, old: str, new: str, *, replace: bool = True) -> None:
        self._may_change(old)
        source, old_name = self._directory(old)
        with source as old_fd:
            target, new_name = self._directory(new)
            with target as new_fd:
                try:
                    there: os.stat_result | None = os.stat(new_name, dir_fd=new_fd, follow_symlinks=False)
                except FileNotFoundError:
                    there = None
                if there is not None and not replace:
                    raise error(errno.EEXIST, old, new)
                os.rename(old_name, new_name, src_dir_fd=old_fd, dst_dir_fd=new_fd)
                if there is not None and there.st_nlink > 1 and not st.S_ISDIR(there.st_mode):
                    now = os.stat(new_name, dir_fd=new_fd, follow_symlinks=False)
                    if now.st_ino != there.st_ino:           # two names of one file stay as they are
                        self._one_less(there)

    def setattr(self, path: str, *, mode: int | None = None, uid: int | None = None, gid: int | None = None,
                atime_ns: int | None = None, mtime_ns: int | None = None) -> None:
        self._may_change(path)
        now = self.stat(path)
        if uid not in (None, now.uid) or gid not in (None, now.gid):
            raise error(errno.EPERM, path)
        if mode is not None:
            self._chmod(path, mode & (0o1777 if now.is_dir else 0o777))
        if atime_ns is not None or mtime_ns is not None:
            times = (now.atime_ns if atime_ns is None else atime_ns,
                     now.mtime_ns if mtime_ns is None else mtime_ns)
            if path == "/":
                os.utime(self._fd if O_PATH == os.O_RDONLY else f"/proc/self/fd/{self._fd}", ns=times)
                return
            directory, name = self._directory(path)
            with directory as fd:
                self._only_inside(os.stat(name, dir_fd=fd, follow_symlinks=False), path)
                os.utime(name, ns=times, dir_fd=fd, follow_symlinks=False)

    def _chmod(self, path: str, mode: int) -> None:
        fd = self._open(path, O_PATH | os.O_NOFOLLOW)
        try:
            real = os.fstat(fd)
            if st.S_ISLNK(real.st_mode):
                raise error(errno.EOPNOTSUPP, path)
            self._only_inside(real, path)
            if O_PATH == os.O_RDONLY:
                os.fchmod(fd, mode)
            else:
                os.chmod(f"/proc/self/fd/{fd}", mode)        # fchmod(2) refuses an O_PATH descriptor
        finally:
            os.close(fd)


class Directory:
    """A directory descriptor that closes itself."""

    __slots__ = ("fd",)

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __enter__(self) -> int:
        return self.fd

    def __exit__(self, *exc: object) -> None:
        os.close(self.fd)


class HostHandle:
    """An open regular file of the host."""

    __slots__ = ("_convert", "_fd", "_lock")
    seekable = True
    is_dir = False

    def __init__(self, fd: int, convert: Callable[[os.stat_result], Stat]) -> None:
        self._fd = fd
        self._convert = convert
        self._lock = threading.Lock()

    def size(self) -> int:
        return os.fstat(self._fd).st_size

    def pread(self, size: int, offset: int) -> bytes:
        left = self.size() - offset
        if size > left:
            size = max(left, 4096)                           # files of /proc have content and size 0
        return os.pread(self._fd, size, offset)

    def pwrite(self, data: bytes, offset: int) -> int:
        if offset >= 0:
            _write_all(self._fd, data, offset)
            return offset + len(data)
        with self._lock:
            if not APPEND:
                end = self.size()
                _write_all(self._fd, data, end)
                return end + len(data)
            view = memoryview(data)
            while view:
                view = view[os.pwritev(self._fd, [view], -1, APPEND):]
            return os.lseek(self._fd, 0, os.SEEK_CUR)

    def truncate(self, size: int) -> None:
        os.ftruncate(self._fd, size)

    def stat(self) -> Stat:
        return self._convert(os.fstat(self._fd))

    def flush(self) -> None:
        """The kernel has it already."""

    def sync(self) -> None:
        os.fsync(self._fd)

    def close(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)

    def __del__(self) -> None:
        self.close()


def _kind_only(name: os.DirEntry[str]) -> Stat:
    """All that a directory tells of a name without search permission."""
    kind = S_IFLNK if name.is_symlink() else S_IFDIR if name.is_dir(follow_symlinks=False) else S_IFREG
    return Stat(kind, None, ino=name.inode())


def _write_all(fd: int, data: bytes, offset: int = 0) -> None:
    view = memoryview(data)
    while view:
        done = os.pwrite(fd, view, offset)
        view = view[done:]
        offset += done


def _birth(real: Any) -> int | None:
    """Nanoseconds, where the host's stat tells (macOS)."""
    seconds = getattr(real, "st_birthtime", None)
    return None if seconds is None else int(seconds * 1_000_000_000)


ARGUMENT = "dir"
SUFFIXES = {"rw": ("writable", True), "ro": ("writable", False)}
OPTIONS = {"dir": HostPath, "writable": bool, "hardlinks": bool}


def build(dir: str, writable: bool = False, hardlinks: bool = False) -> Host:
    """The provider `host`."""
    return Host(dir, writable, hardlinks)
