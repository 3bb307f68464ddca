"""Opening files below a directory descriptor without leaving it: openat2(2), else one component at a time.

No symbolic link is followed at all (the Namespace follows them, in the virtual tree), so neither a link, nor
`..`, nor a link put in place a moment ago by another process leads out.
"""
from __future__ import annotations

import errno
import os
import stat as st
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

O_PATH: int = getattr(os, "O_PATH", os.O_RDONLY)
SYS_OPENAT2 = 437                                            # the same number on every Linux architecture
RESOLVE = 0x02 | 0x04 | 0x08                                 # NO_MAGICLINKS, NO_SYMLINKS, BENEATH

_libc: Any = None
_hows: dict[tuple[int, int], Any] = {}
_available: bool | None = None if sys.platform == "linux" else False


def open_beneath(root: int, path: str, flags: int, mode: int = 0) -> int:
    """A descriptor for `path` ("/" is `root`). ELOOP for a link on the way, or at the end without O_PATH."""
    global _available
    relative = relative_path(path)
    flags |= os.O_CLOEXEC | os.O_NOFOLLOW
    if _available is None:
        _available = _probe(root)
    if _available:
        return _openat2(root, relative, flags, mode, path)
    return _stepwise(root, relative, flags, mode, path)


def relative_path(path: str) -> str:
    if not path.startswith("/") or "\0" in path or (".." in path and ".." in path.split("/")):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)
    return path[1:] or "."


def _probe(root: int) -> bool:
    try:
        os.close(_openat2(root, ".", O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, 0, "/"))
    except OSError:                                          # ENOSYS, or EPERM of a seccomp filter
        return False
    return True


def _openat2(root: int, relative: str, flags: int, mode: int, path: str) -> int:
    global _libc
    import ctypes
    if _libc is None:
        _libc = ctypes.CDLL(None, use_errno=True)
    how = _hows.get((flags, mode))
    if how is None:
        how = _hows[flags, mode] = (ctypes.c_uint64 * 3)(flags, mode, RESOLVE)
    name = relative.encode("utf-8", "surrogateescape")
    for _ in range(100):
        fd: int = _libc.syscall(SYS_OPENAT2, root, name, how, 24)
        if fd >= 0:
            return fd
        number = ctypes.get_errno()
        if number not in (errno.EAGAIN, errno.EINTR):
            break
    if number == errno.EXDEV:
        number = errno.EACCES
    raise OSError(number, os.strerror(number), path)


def _stepwise(root: int, relative: str, flags: int, mode: int, path: str) -> int:
    names = relative.split("/")
    at = root
    try:
        for name in names[:-1]:
            step = _step(at, name, O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, 0, path)
            if at != root:
                os.close(at)
            at = step
        return _step(at, names[-1], flags, mode, path)
    finally:
        if at != root:
            os.close(at)


def _step(at: int, name: str, flags: int, mode: int, path: str) -> int:
    try:
        return os.open(name, flags, mode, dir_fd=at)
    except OSError as e:
        e.filename = path
        if e.errno == errno.ENOTDIR:
            try:
                if st.S_ISLNK(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path) from None
            except FileNotFoundError:
                pass
        raise
