"""Handles that need no help from a mount: directories, FIFOs, files of mounts that can only read, and files of stores
that take only whole files (WriteBack)."""
from __future__ import annotations

import errno
import os

from mirage.vfs.types import Stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def flush(handle: Any) -> None:
    """What was written through a handle is in its store now, for others to see; it need not survive a loss of power."""
    method = getattr(handle, "flush", None)
    if method is not None:
        method()
    else:
        handle.sync()


def _refuse(number: int) -> OSError:
    return OSError(number, os.strerror(number))


class StatHandle:
    """Base: an open object of which only the Stat is of use."""

    __slots__ = ("_stat",)
    seekable = False
    is_dir = False

    def __init__(self, stat: Stat) -> None:
        self._stat = stat

    def pread(self, size: int, offset: int) -> bytes:
        raise _refuse(errno.EINVAL)

    def pwrite(self, data: bytes, offset: int) -> int:
        raise _refuse(errno.EBADF)

    def truncate(self, size: int) -> None:
        raise _refuse(errno.EINVAL)

    def stat(self) -> Stat:
        return self._stat

    def sync(self) -> None:
        """Nothing is pending."""

    def close(self) -> None:
        """Nothing is held."""


class DirectoryHandle(StatHandle):
    """A directory opened with O_RDONLY; read(2) on it fails with EISDIR."""

    __slots__ = ()
    seekable = True
    is_dir = True

    def pread(self, size: int, offset: int) -> bytes:
        raise _refuse(errno.EISDIR)


class FifoHandle(StatHandle):
    """A FIFO: Process.open sees `stat().is_fifo` and makes the pipe."""

    __slots__ = ()


class RangeHandle(StatHandle):
    """Reads a file by ranges, in blocks of 256 KiB to 8 MiB; whole where its size is unknown or small."""

    __slots__ = ("_at", "_block", "_inner", "_mount", "_next", "_whole")
    seekable = True
    BLOCK = 1 << 18
    MOST = 1 << 23

    def __init__(self, mount: Any, inner: str, stat: Stat) -> None:
        super().__init__(stat)
        self._mount = mount
        self._inner = inner
        self._at = 0
        self._block = b""
        self._next = self.BLOCK                              # doubles while the file is read in order
        self._whole = stat.size is None or stat.size <= self.BLOCK
        if self._whole:
            self._at = -1                                    # not read yet

    def pread(self, size: int, offset: int) -> bytes:
        if self._whole:
            if self._at < 0:
                self._block, self._at = self._mount.read(self._inner), 0
                self._measure(len(self._block))
        elif not self._at <= offset < self._at + len(self._block):
            in_order = self._block and offset == self._at + len(self._block)
            self._next = min(self._next * 2, self.MOST) if in_order else self.BLOCK
            want = max(size, self._next)
            self._block, self._at = self._mount.read(self._inner, offset, want), offset
        start = offset - self._at
        if not start and size >= len(self._block):
            return self._block
        return self._block[start:start + size]

    def _measure(self, size: int) -> None:
        old = self._stat
        if old.size != size:
            self._stat = Stat(old.mode, size, old.mtime_ns, atime_ns=old.atime_ns, ctime_ns=old.ctime_ns,
                              btime_ns=old.btime_ns, uid=old.uid, gid=old.gid, nlink=old.nlink, ino=old.ino,
                              dev=old.dev, rdev=old.rdev, version=old.version)

    def stat(self) -> Stat:
        if self._whole and self._at < 0 and self._stat.size is None:
            self.pread(0, 0)
        return self._stat


class Draft:
    """The content of a file that is being written, shared by all its open handles, until it is stored whole.

    load   gives the content that the store has, called when it is first needed; None: it begins empty
    store  store(file, size) puts the content in place; called without a lock that a process could wait for
    most   EFBIG above so many bytes. Up to 8 MiB are in memory, more in a temporary file of the host
    """

    __slots__ = ("_file", "_load", "_lock", "_most", "_store", "_storing", "dirty", "handles", "mtime_ns", "size")
    SPOOL = 1 << 23

    def __init__(self, load: Callable[[], bytes] | None, store: Callable[[Any, int], None], most: int) -> None:
        import tempfile
        import threading
        import time
        self._load = load
        self._store: Callable[[Any, int], None] | None = store
        self._most = most
        self._file = tempfile.SpooledTemporaryFile(self.SPOOL)
        self._lock = threading.Lock()
        self._storing = threading.Lock()
        self.size = 0
        self.mtime_ns = time.time_ns()
        self.dirty = load is None
        self.handles = 0

    @property
    def unread(self) -> bool:
        """The size is not known yet: the store's content was not needed."""
        return self._load is not None

    def _ready(self) -> None:
        load = self._load
        if load is not None:
            from mirage.process import blocking
            data = blocking.call(load)
            with self._lock:
                if self._load is not None:
                    self._file.write(data)
                    self.size = len(data)
                    self._load = None

    def pread(self, size: int, offset: int) -> bytes:
        self._ready()
        with self._lock:
            self._file.seek(offset)
            return self._file.read(min(size, max(0, self.size - offset)))

    def pwrite(self, data: bytes, offset: int) -> int:
        self._ready()
        with self._lock:
            if offset < 0:
                offset = self.size
            end = offset + len(data)
            self._fits(end)
            if offset > self.size:
                self._extend(offset)
            self._file.seek(offset)
            self._file.write(data)
            self.size = max(self.size, end)
            self._changed()
        return end

    def truncate(self, size: int) -> None:
        self._fits(size)
        if size == 0:
            self._load = None
        self._ready()
        with self._lock:
            if size > self.size:
                self._extend(size)
            self._file.truncate(size)
            self.size = size
            self._changed()

    def _fits(self, size: int) -> None:
        if size > self._most:
            raise _refuse(errno.EFBIG)

    def _extend(self, size: int) -> None:
        self._file.seek(self.size)
        while self.size < size:
            step = min(size - self.size, 1 << 20)
            self._file.write(bytes(step))
            self.size += step

    def _changed(self) -> None:
        import time
        self.dirty = True
        self.mtime_ns = time.time_ns()

    def flush(self) -> None:
        """Store what has changed. The last content is always stored last."""
        if self.dirty and self._store is not None:
            from mirage.process import blocking
            blocking.call(self._flush)

    def _flush(self) -> None:
        import io
        with self._storing:
            store = self._store
            if not self.dirty or store is None:
                return
            with self._lock:
                self.dirty = False
                large = self.size > self.SPOOL
                self._file.seek(0)
                if large:
                    self._put(store, self._file)
                    return
                content = io.BytesIO(self._file.read(self.size))
            self._put(store, content)

    def _put(self, store: Callable[[Any, int], None], file: Any) -> None:
        try:
            store(file, self.size if file is self._file else len(file.getbuffer()))
        except BaseException:
            self.dirty = True
            raise

    def discard(self) -> None:
        """The file was removed: nothing is stored any more."""
        self._store = None

    def moved(self, store: Callable[[Any, int], None]) -> None:
        """The file has another name."""
        self._store = store


class WriteBack:
    """An open file of which the store takes only the whole: it is stored when a handle that wrote is closed.

    stat     gives the Stat of a draft
    release  called once when the handle is closed, after it was stored or failed to be
    """

    __slots__ = ("_closed", "_draft", "_release", "_stat", "_wrote")
    seekable = True
    is_dir = False

    def __init__(self, draft: Draft, stat: Callable[[Draft], Stat], release: Callable[[Draft], None]) -> None:
        self._draft = draft
        self._stat = stat
        self._release = release
        self._wrote = draft.dirty
        self._closed = False

    def pread(self, size: int, offset: int) -> bytes:
        return self._draft.pread(size, offset)

    def pwrite(self, data: bytes, offset: int) -> int:
        self._wrote = True
        return self._draft.pwrite(data, offset)

    def truncate(self, size: int) -> None:
        self._wrote = True
        self._draft.truncate(size)

    def stat(self) -> Stat:
        return self._stat(self._draft)

    def flush(self) -> None:
        self._draft.flush()

    def sync(self) -> None:
        self._draft.flush()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            if self._wrote:
                self._draft.flush()
        finally:
            self._release(self._draft)
