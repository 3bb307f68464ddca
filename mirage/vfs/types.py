"""What a file is: Stat, Entry, the capabilities a mount declares, and the protocols of mounts and handles.

Paths given to a mount are absolute inside that mount ("/" is its root), normalized, without trailing slash,
and without symbolic links in any component but the last (the Namespace resolves those first).
Errors are OSError with an errno and the mount's path as filename.
"""
from __future__ import annotations

import errno
import os
import stat as st

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol
else:
    Protocol = object

S_IFMT = 0o170000
S_IFREG = st.S_IFREG
S_IFDIR = st.S_IFDIR
S_IFLNK = st.S_IFLNK
S_IFIFO = st.S_IFIFO
S_IFCHR = st.S_IFCHR

UID = 1000
GID = 1000


class Stat:
    """What stat(2) tells of one inode. Times are nanoseconds since the epoch.

    `size` is the byte length of what reading returns, or None where only reading can tell.
    `version` is opaque and changes whenever the content may have changed; None where nothing is known.
    """

    __slots__ = ("atime_ns", "blocks", "btime_ns", "ctime_ns", "dev", "gid", "ino", "mode", "mtime_ns",
                 "nlink", "rdev", "size", "uid", "version")

    def __init__(self, mode: int, size: int | None = 0, mtime_ns: int = 0, *, atime_ns: int | None = None,
                 ctime_ns: int | None = None, btime_ns: int | None = None, uid: int = UID, gid: int = GID,
                 nlink: int = 1, ino: int = 0, dev: int = 0, rdev: int = 0, blocks: int | None = None,
                 version: str | None = None) -> None:
        self.mode = mode
        self.size = size
        self.mtime_ns = mtime_ns
        self.atime_ns = mtime_ns if atime_ns is None else atime_ns
        self.ctime_ns = mtime_ns if ctime_ns is None else ctime_ns
        self.btime_ns = btime_ns
        self.uid = uid
        self.gid = gid
        self.nlink = nlink
        self.ino = ino
        self.dev = dev
        self.rdev = rdev
        self.blocks = -(-(size or 0) // 512) if blocks is None else blocks
        self.version = version

    @property
    def is_dir(self) -> bool:
        return self.mode & S_IFMT == S_IFDIR

    @property
    def is_file(self) -> bool:
        return self.mode & S_IFMT == S_IFREG

    @property
    def is_link(self) -> bool:
        return self.mode & S_IFMT == S_IFLNK

    @property
    def is_fifo(self) -> bool:
        return self.mode & S_IFMT == S_IFIFO

    @property
    def is_char(self) -> bool:
        return self.mode & S_IFMT == S_IFCHR

    @property
    def identity(self) -> tuple[int, int]:
        """Two names with the same identity are the same file (hard links, a folder mounted twice)."""
        return self.dev, self.ino

    def __repr__(self) -> str:
        return f"Stat(mode={self.mode:o}, size={self.size}, mtime_ns={self.mtime_ns}, ino={self.ino})"


class Entry:
    """One name in a directory; `stat` where the listing brought it (not followed), else None."""

    __slots__ = ("name", "stat")

    def __init__(self, name: str, stat: Stat | None = None) -> None:
        self.name = name
        self.stat = stat

    def __repr__(self) -> str:
        return f"Entry({self.name!r})"


class Capabilities:
    """Frozen flags: what a mount can do beyond list, stat and read. A flag promises the methods."""

    NAMES = ("open", "create", "mkdir", "remove", "rename", "link", "symlink", "setattr", "xattr",
             "read_many", "search", "watch", "identity", "describe", "mkfifo", "lookup", "replace")
    __slots__ = ("_flags",)
    _flags: frozenset[str]

    def __init__(self, *names: str) -> None:
        unknown = [n for n in names if n not in Capabilities.NAMES]
        if unknown:
            raise ValueError(f"unknown capability {unknown[0]!r}; known: {', '.join(Capabilities.NAMES)}")
        object.__setattr__(self, "_flags", frozenset(names))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("Capabilities are frozen")

    def __contains__(self, name: str) -> bool:
        return name in self._flags

    @property
    def writable(self) -> bool:
        return "create" in self


class Handle(Protocol):
    """An open file of a mount. Stays valid after unlink and rename where the mount is a file store.

    `seekable` is False for devices such as /dev/null. `pread` returns at most `size` bytes, b"" at the end.
    `pwrite` writes all of `data` and returns the offset just behind it (with offset -1: append atomically).
    `close` may raise: that is when a remote store reports that a write failed.

    A handle whose backend knows more than bytes may have, for tools that would read to the end of a long file:
      count_lines() -> int | None             how many newlines there are
      last_lines(count) -> bytes | None       the last `count` lines
      lines_with(queries) -> Handle | None    a handle that has, in their order, all lines that may match one of the
                                              queries (mirage/vfs/search.py), and perhaps others
    None: read it. What they answer is what reading would give.
    """

    seekable: bool

    def pread(self, size: int, offset: int) -> bytes: ...
    def pwrite(self, data: bytes, offset: int) -> int: ...
    def truncate(self, size: int) -> None: ...
    def stat(self) -> Stat: ...
    def sync(self) -> None: ...
    def close(self) -> None: ...


class Mount(Protocol):
    """Three methods; the rest is optional and declared in `capabilities` (see docs/mounts.md).

    Optional, with the capability that promises it:
      open      open(path, flags: int) -> Handle                      (existing; access, O_TRUNC, O_APPEND)
      create    create(path, mode, uid, gid, exclusive: bool) -> Handle  (opened for reading and writing)
      mkdir     mkdir(path, mode, uid, gid)
      remove    unlink(path), rmdir(path)
      rename    rename(old, new, *, replace: bool = True)             (rename(2): atomic, replaces)
      link      link(old, new)
      symlink   symlink(target: str, path, uid, gid); reading one: readlink(path) -> str
      setattr   setattr(path, *, mode=None, uid=None, gid=None, atime_ns=None, mtime_ns=None)  (no following)
      xattr     getxattr(path, name) -> bytes, listxattr(path) -> list[str], setxattr, removexattr
      mkfifo    mkfifo(path, mode, uid, gid)
      read_many read_many(paths) -> Iterable[tuple[str, bytes | OSError]]   (same order)
      search    search(path, query: Query) -> Candidates | None
      identity  Stat.dev and Stat.ino identify the backend's object, also across two mounts of one backend;
                without it the Namespace makes both up from the mount and the path
      describe  describe() -> Description                             (for VFS.md)
      lookup    lookup(path, uid) -> Stat | str                       (all components in one call: the Stat of
                `path`, or the path of the first component before the last that is a symbolic link; EACCES
                where `uid` may not search a directory on the way, unless uid is 0)
      replace   replace(path, data: bytes, mode, uid, gid)            (whole content at once, atomic; creates)
    `readlink(path)` must exist wherever stat can answer S_IFLNK, nowhere else: a mount without it is taken to
    have no symbolic links, so its paths need one call instead of one per component.
    Undeclared: statfs(path) -> (total, free) in bytes; backend(path) -> (kind, path), where the object lives,
    equal for two mounts of one backend; mounted_at(point), when it is mounted; close(), when the Terminal is closed.
    A mount whose methods may wait for a service waits through mirage.process.blocking: others can go on.
    """

    capabilities: Capabilities

    def list(self, path: str) -> Iterable[Entry]: ...
    def stat(self, path: str) -> Stat: ...
    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes: ...


def error(number: int, path: str, path2: str | None = None) -> OSError:
    """The OSError that Python itself would raise for this errno (FileNotFoundError and so on)."""
    if path2 is not None:
        return OSError(number, os.strerror(number), path, None, path2)
    return OSError(number, os.strerror(number), path)


def unprivileged(mode: int) -> int:
    """Without the set-user bit, and the set-group bit where the group may execute: after a write, and chown(2)."""
    return mode & ~(0o6000 if mode & 0o010 else 0o4000) if mode & 0o6000 else mode


def annotate(failure: OSError, **facts: object) -> OSError:
    """The same error, with attributes of ours that whoever reports it looks for by `getattr`.

    note: why, for the person; status: HTTP status; place: the Target it concerns; shown: the name to print;
    reading: the file whose read failed; interpreter: of a script that could not start; note_told: the note is printed.
    """
    vars(failure).update(facts)
    return failure


def enoent(path: str) -> OSError:
    return error(errno.ENOENT, path)


_devices = 0x10000


def new_device() -> int:
    """A device number (Stat.dev) for one more backend; major 256 and above, unlike the host's numbers."""
    global _devices
    _devices += 1
    return _devices


def permitted(stat: Stat, want: int, uid: int, gid: int = GID) -> bool:
    """May `uid` do `want` (4 read, 2 write, 1 search or execute) by the mode bits? root: all, 1 if anyone."""
    mode = stat.mode
    if uid == 0:
        return not want & 1 or bool(mode & 0o111) or mode & S_IFMT == S_IFDIR
    if uid == stat.uid:
        return mode >> 6 & want == want
    if gid == stat.gid:
        return mode >> 3 & want == want
    return mode & want == want
