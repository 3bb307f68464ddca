"""Numbers and layouts of the FUSE protocol 7.x (linux/fuse.h), in the byte order of the machine."""
from __future__ import annotations

from struct import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.vfs.types import Stat

MAJOR, MINOR = 7, 40
MAX_WRITE = 1 << 20
MAX_PAGES = 256
BUFFER = MAX_WRITE + 4096
NAME_MAX = 255
SECOND = 10 ** 9

IN_HEADER = Struct("=IIQQIIIHH")                             # len opcode unique nodeid uid gid pid extlen padding
OUT_HEADER = Struct("=IiQ")                                  # len -errno unique
ATTR = Struct("=QQQqqqIIIIIIIIII")
ENTRY = Struct("=QQQQII")                                    # node generation, two timeouts and their nanoseconds
ATTR_OUT = Struct("=QII")
OPEN_OUT = Struct("=QIi")
INIT_IN = Struct("=IIII")
INIT_OUT = Struct("=IIIIHHIIHHI28x")
SETATTR_IN = Struct("=IIQQQqqqIIIIIIII")
GETATTR_IN = Struct("=IIQ")
RENAME2_IN = Struct("=QII")
MKNOD_IN = Struct("=IIII")
CREATE_IN = Struct("=IIII")
IO_IN = Struct("=QQII")                                      # fh offset size flags, of READ and WRITE
WRITE_FLAGS = Struct("=I")                                   # the open flags, behind IO_IN and the lock owner
RELEASE_IN = Struct("=QIIQ")
FALLOCATE_IN = Struct("=QQQII")
LSEEK_IN = Struct("=QQII")
XATTR_IN = Struct("=II")
DIRENT = Struct("=QQII")
STATFS_OUT = Struct("=QQQQQIIII24x")
U32, U64, TWO_U64 = Struct("=I"), Struct("=Q"), Struct("=QQ")
WRITE_OUT = Struct("=II")
INVAL_INODE = Struct("=Qqq")
INVAL_ENTRY = Struct("=QII")

(LOOKUP, FORGET, GETATTR, SETATTR, READLINK, SYMLINK) = (1, 2, 3, 4, 5, 6)
(MKNOD, MKDIR, UNLINK, RMDIR, RENAME, LINK, OPEN, READ, WRITE, STATFS, RELEASE) = range(8, 19)
(FSYNC, SETXATTR, GETXATTR, LISTXATTR, REMOVEXATTR, FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, FSYNCDIR) = range(20, 31)
(ACCESS, CREATE, INTERRUPT) = (34, 35, 36)
(DESTROY, BATCH_FORGET, FALLOCATE, READDIRPLUS, RENAME2, LSEEK, TMPFILE) = (38, 42, 43, 44, 45, 46, 51)

NOTIFY_INODE, NOTIFY_ENTRY = 2, 3

# what the kernel offers in INIT
ASYNC_READ, BIG_WRITES, AUTO_INVAL_DATA = 1 << 0, 1 << 5, 1 << 12
DO_READDIRPLUS, READDIRPLUS_AUTO, ASYNC_DIO, PARALLEL_DIROPS = 1 << 13, 1 << 14, 1 << 15, 1 << 18
MAX_PAGES_FLAG, CACHE_SYMLINKS, HANDLE_KILLPRIV_V2, INIT_EXT = 1 << 22, 1 << 23, 1 << 28, 1 << 30
DIRECT_IO_ALLOW_MMAP = 1 << 4                                # in flags2
WANTED = (ASYNC_READ | BIG_WRITES | AUTO_INVAL_DATA | DO_READDIRPLUS | READDIRPLUS_AUTO | ASYNC_DIO | PARALLEL_DIROPS
          | MAX_PAGES_FLAG | CACHE_SYMLINKS | HANDLE_KILLPRIV_V2 | INIT_EXT)

FOPEN_DIRECT_IO, FOPEN_KEEP_CACHE, FOPEN_NOFLUSH = 1, 2, 1 << 5
GETATTR_FH = 1
WRITE_KILL_SUIDGID = 4

# what SETATTR changes
SET_MODE, SET_UID, SET_GID, SET_SIZE, SET_ATIME, SET_MTIME, SET_FH = 1, 2, 4, 8, 16, 32, 64
SET_ATIME_NOW, SET_MTIME_NOW, SET_CTIME, KILL_SUIDGID = 128, 256, 1024, 1 << 11

BLOCK = 4096


def pack_attr(stat: Stat) -> bytes:
    """fuse_attr. A size that nobody knows is 0, as in /proc."""
    atime, mtime, ctime = stat.atime_ns, stat.mtime_ns, stat.ctime_ns
    return ATTR.pack(stat.ino, stat.size or 0, stat.blocks, atime // SECOND, mtime // SECOND, ctime // SECOND,
                     atime % SECOND, mtime % SECOND, ctime % SECOND, stat.mode, stat.nlink, stat.uid & 0xFFFFFFFF,
                     stat.gid & 0xFFFFFFFF, stat.rdev, BLOCK, 0)


def entry_timeouts(node: int, ttl: float) -> bytes:
    """fuse_entry_out without its attributes; the kernel may rely on name and attributes for `ttl` seconds."""
    seconds = int(ttl)
    nano = int((ttl - seconds) * SECOND)
    return ENTRY.pack(node, 0, seconds, seconds, nano, nano)


def attr_timeout(ttl: float) -> bytes:
    seconds = int(ttl)
    return ATTR_OUT.pack(seconds, int((ttl - seconds) * SECOND), 0)


def dirent(ino: int, offset: int, kind: int, name: bytes) -> bytes:
    """fuse_dirent, padded to 8 bytes."""
    record = DIRENT.pack(ino, offset, len(name), kind) + name
    return record + b"\0" * (-len(record) % 8)
