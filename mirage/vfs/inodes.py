"""The inode protocol: a file system whose objects have numbers, as a kernel asks for it.

`mirage.mounts.vfs.inodes` offers it for a database, `mirage.vfs.paths` for any mount and for a Machine. Node 1 is the
root. A node that lookup, create and the like have handed out stays valid until `forget` has been called as often, also
when its last name is gone. Names are str with surrogateescape. Errors are OSError. All methods are thread-safe.
"""
from __future__ import annotations

from mirage.vfs.types import GID, UID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from mirage.vfs.types import Stat

    Found = tuple[int, Stat]                                 # a node, and what stat shows of it
    Names = list[str]
    Stale = tuple[list[int], list[tuple[int, str]]]
else:
    Protocol = object

ROOT = 1
RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2
XATTR_CREATE, XATTR_REPLACE = 1, 2
FALLOC_KEEP_SIZE, FALLOC_PUNCH_HOLE, FALLOC_ZERO_RANGE = 1, 2, 16


class Changes:
    """What setattr(2) and friends change; None keeps. `drop_privileges`: the set-user and set-group bits go."""

    __slots__ = ("atime_ns", "drop_privileges", "gid", "mode", "mtime_ns", "size", "uid")

    def __init__(self) -> None:
        self.mode: int | None = None
        self.uid: int | None = None
        self.gid: int | None = None
        self.size: int | None = None
        self.atime_ns: int | None = None
        self.mtime_ns: int | None = None
        self.drop_privileges = False


class Owners:
    """Which owner is shown for which that is stored, and back.

    me        (uid, gid) of who mounts. The terminal's user is shown as him, and what is his is stored as the terminal's
    uid, gid  shown for all files, where given
    swap      his own numbers are shown as the terminal's, so that every owner can be stored; root, the only owner that
              other implementations store in a database, is shown as him too, unless he is root
    """

    def __init__(self, me: tuple[int, int], uid: int | None = None, gid: int | None = None, swap: bool = True) -> None:
        self.me = me
        self.uid = uid
        self.gid = gid
        self.swap = swap

    def shown(self, uid: int, gid: int) -> tuple[int, int]:
        return (self._shown(uid, self.me[0], UID) if self.uid is None else self.uid,
                self._shown(gid, self.me[1], GID) if self.gid is None else self.gid)

    def _shown(self, stored: int, me: int, theirs: int) -> int:
        if stored == theirs or self.swap and not stored and me:
            return me
        return theirs if self.swap and stored == me else stored

    def stored(self, uid: int, gid: int) -> tuple[int, int]:
        return self.stored_uid(uid), self.stored_gid(gid)

    def stored_uid(self, uid: int) -> int:
        return self._stored(uid, self.me[0], UID)

    def stored_gid(self, gid: int) -> int:
        return self._stored(gid, self.me[1], GID)

    def _stored(self, shown: int, me: int, theirs: int) -> int:
        return theirs if shown == me else me if self.swap and shown == theirs else shown


class OpenNode(Protocol):
    """An open file. `direct`: the kernel must not cache (appends, sizes that are not known, what tells no version).

    keep    what the kernel has cached of the file still holds
    pwrite  returns the offset behind what was written; an append goes to the end, whatever `offset` says
    flush   the descriptor is closed (there may be others): errors of waiting writes show here
    """

    direct: bool
    keep: bool

    def pread(self, size: int, offset: int) -> bytes: ...
    def pwrite(self, data: memoryview, offset: int, drop_privileges: bool) -> int: ...
    def flush(self) -> None: ...
    def sync(self) -> None: ...
    def allocate(self, mode: int, offset: int, length: int) -> None: ...
    def seek(self, offset: int, whence: int) -> int: ...
    def close(self) -> None: ...


class Listing(Protocol):
    """An open directory: the names when it was opened or rewound. (name, inode number, type as in st_mode >> 12)."""

    parent_ino: int

    @property
    def entries(self) -> Sequence[tuple[str, int, int]]: ...

    def enter(self, position: int) -> Found | None:
        """The node of one of the entries, counted as by lookup; None: it is gone."""


class Inodes(Protocol):
    """ttl      seconds for which the kernel may rely on names and attributes
    checked  the kernel checks mode bits (default_permissions); else access() is asked and every method checks itself
    prompt   nothing but a sync waits for long, and one request waits for the other: one thread is enough
    """

    ttl: float
    checked: bool
    prompt: bool

    def lookup(self, parent: int, name: str) -> Found | None: ...
    def forget(self, node: int, count: int) -> None: ...
    def getattr(self, node: int, handle: OpenNode | None = None) -> Stat: ...
    def setattr(self, node: int, changes: Changes, handle: OpenNode | None = None) -> Stat: ...
    def access(self, node: int, mode: int) -> bool: ...
    def readlink(self, node: int) -> str: ...
    def symlink(self, parent: int, name: str, target: str, uid: int, gid: int) -> Found: ...
    def mknod(self, parent: int, name: str, mode: int, rdev: int, uid: int, gid: int) -> Found: ...
    def mkdir(self, parent: int, name: str, mode: int, uid: int, gid: int) -> Found: ...
    def unlink(self, parent: int, name: str) -> None: ...
    def rmdir(self, parent: int, name: str) -> None: ...
    def rename(self, parent: int, name: str, new_parent: int, new_name: str, flags: int) -> None: ...
    def link(self, node: int, parent: int, name: str) -> Found: ...
    def open(self, node: int, flags: int) -> OpenNode: ...
    def create(self, parent: int, name: str, mode: int, flags: int, uid: int, gid: int) -> tuple[Found, OpenNode]: ...
    def temporary(self, parent: int, mode: int, flags: int, uid: int, gid: int) -> tuple[Found, OpenNode]: ...
    def opendir(self, node: int) -> Listing: ...
    def statfs(self) -> tuple[int, int]: ...
    def getxattr(self, node: int, name: str) -> bytes: ...
    def listxattr(self, node: int) -> Names: ...
    def setxattr(self, node: int, name: str, value: bytes, flags: int) -> None: ...
    def removexattr(self, node: int, name: str) -> None: ...

    def tend(self) -> Stale:
        """Called often, by one thread: store what has waited long enough; the nodes, and the names (directory, name),
        of which the kernel must forget what it knows, because somebody else changed them."""

    def close(self) -> None:
        """Store everything. The file system below is left open."""
