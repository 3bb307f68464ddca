"""Open file descriptions: what a file descriptor refers to, shared by dup and fork, closed with the last reference.

Reads and writes block by parking the running greenlet. The names follow POSIX: an OpenFile is an "open file
description"; a descriptor is an int in a Process's table.
"""
from __future__ import annotations

import errno
import os
from collections import deque

from greenlet import getcurrent

from mirage.process.signals import SIGPIPE, Killed, LimitExceeded
from mirage.vfs.types import S_IFCHR, S_IFIFO, Stat, annotate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.process.kernel import Kernel, WaitQueue
    from mirage.process.process import Process
    from mirage.vfs.search import Query
    from mirage.vfs.types import Handle

PIPE_CAPACITY = 65536
BEYOND = 1 << 62                                             # an offset behind the end of every file
AHEAD = 1 << 14                                              # bytes that readline keeps of a file
LONG_LINE = 1 << 20                                          # bytes from which a line counts as memory


def oserror(number: int, path: str | None = None) -> OSError:
    return OSError(number, os.strerror(number), path) if path else OSError(number, os.strerror(number))


def _hold(size: int) -> None:
    """A line of so many bytes, and as long again to join it and to decode it, is in memory soon."""
    kernel = getattr(getcurrent(), "kernel", None)
    if kernel is not None:
        kernel.fits(3 * size)
        kernel.check()


class OpenFile:
    """Base: not readable, not writable, not seekable. `flags` are os.O_* as given to open."""

    __slots__ = ("flags", "path", "refs")

    def __init__(self, flags: int, path: str = "") -> None:
        self.flags = flags
        self.path = path
        self.refs = 0

    @property
    def seekable(self) -> bool:
        return False

    @property
    def readable(self) -> bool:
        return self.flags & os.O_ACCMODE in (os.O_RDONLY, os.O_RDWR)

    @property
    def broken(self) -> bool:
        """A pipe to write to that nobody reads any more (POLLERR)."""
        return False

    @property
    def writable(self) -> bool:
        return self.flags & os.O_ACCMODE in (os.O_WRONLY, os.O_RDWR)

    def read(self, size: int) -> bytes:
        """At most `size` bytes, b"" at the end of the file; blocks until there is one of both."""
        raise oserror(errno.EBADF)

    def readline(self, delimiter: int = 10, limit: int = 1 << 62) -> bytes:
        """Up to and with the delimiter byte, or what is left before the end; takes nothing beyond it."""
        out = bytearray()
        while len(out) < limit:
            byte = self.read(1)
            if not byte:
                break
            out += byte
            if byte[0] == delimiter:
                break
        return bytes(out)

    def write(self, data: bytes) -> int:
        """Write all of `data` (blocking as needed) and return its length."""
        raise oserror(errno.EBADF)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        raise oserror(errno.ESPIPE)

    def tell(self) -> int:
        return self.seek(0, os.SEEK_CUR)

    def truncate(self, size: int) -> None:
        raise oserror(errno.EINVAL)

    def stat(self) -> Stat:
        return Stat(S_IFCHR | 0o620, 0)

    def ready(self) -> bool:
        """Would read() return at once (for `read -t 0`)?"""
        return True

    def count_lines(self) -> int | None:
        """How many newlines there are from here to the end, which is then read; None: nobody knows."""
        return None

    def last_lines(self, count: int) -> bytes | None:
        """The last `count` lines, after which everything is read; None: they cannot be had alone."""
        return None

    def lines_with(self, queries: list[Query]) -> OpenFile | None:
        """Another open file that has all lines that may match one of the queries; None: nobody can choose them."""
        return None

    def isatty(self) -> bool:
        return False

    def columns(self) -> int:
        """Width of the terminal in characters, 0 where this is none."""
        return 0

    def incref(self) -> OpenFile:
        self.refs += 1
        return self

    def decref(self) -> None:
        """Drop one reference; the last one closes. May raise what closing a remote file raises."""
        self.refs -= 1
        if self.refs == 0:
            self.close()

    def close(self) -> None:
        """The last reference is gone."""


class Pipe:
    """The buffer between a PipeReader and a PipeWriter; also behind a FIFO."""

    __slots__ = ("chunks", "kernel", "offset", "readers", "readable", "size", "writable", "writers")

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.chunks: deque[bytes] = deque()
        self.offset = 0                                     # bytes of chunks[0] already taken
        self.size = 0
        self.readers = 0
        self.writers = 0
        self.readable: WaitQueue = kernel.queue()
        self.writable: WaitQueue = kernel.queue()

    def take(self, size: int) -> bytes:
        chunks = self.chunks
        first = chunks[0]
        left = len(first) - self.offset
        if left <= size:
            chunks.popleft()
            data = first[self.offset:] if self.offset else first
            self.offset = 0
            if left < size and chunks:
                parts, want = [data], size - left
                while chunks and want:
                    piece = chunks[0]
                    if len(piece) <= want:
                        parts.append(piece)
                        chunks.popleft()
                        want -= len(piece)
                    else:
                        parts.append(piece[:want])
                        self.offset = want
                        want = 0
                data = b"".join(parts)
        else:
            data = first[self.offset:self.offset + size]
            self.offset += size
        self.size -= len(data)
        return data

    def stat(self) -> Stat:
        return Stat(S_IFIFO | 0o600, 0, ino=id(self) & 0xFFFFFFF)


class PipeReader(OpenFile):
    __slots__ = ("pipe",)

    def __init__(self, pipe: Pipe, path: str = "pipe") -> None:
        super().__init__(os.O_RDONLY, path)
        self.pipe = pipe
        pipe.readers += 1

    def read(self, size: int) -> bytes:
        pipe = self.pipe
        if size <= 0:
            return b""
        while not pipe.size:
            if not pipe.writers:
                return b""
            pipe.readable.wait()
        data = pipe.take(size)
        if pipe.writable.waiters and pipe.size < PIPE_CAPACITY:
            pipe.writable.wake()
        return data

    def readline(self, delimiter: int = 10, limit: int = 1 << 62) -> bytes:
        pipe, got, mark = self.pipe, 0, bytes((delimiter,))
        parts: list[bytes] = []
        while got < limit:
            while not pipe.size:
                if not pipe.writers:
                    return b"".join(parts)
                pipe.readable.wait()
            at = pipe.chunks[0].find(mark, pipe.offset)
            piece = len(pipe.chunks[0]) - pipe.offset if at < 0 else at + 1 - pipe.offset
            data = pipe.take(min(piece, limit - got))
            if pipe.writable.waiters and pipe.size < PIPE_CAPACITY:
                pipe.writable.wake()
            if at >= 0 and data[-1] == delimiter:
                if not parts:
                    return data
                parts.append(data)
                break
            parts.append(data)
            got += len(data)
            if got >= LONG_LINE:
                _hold(got)
        return b"".join(parts)

    def ready(self) -> bool:
        return bool(self.pipe.size or not self.pipe.writers)

    def stat(self) -> Stat:
        return self.pipe.stat()

    def close(self) -> None:
        self.pipe.readers -= 1
        if not self.pipe.readers:
            self.pipe.writable.wake()


def broken_pipe(kernel: Kernel) -> BaseException:
    """What to raise where the running process wrote to a pipe that nobody reads: its death unless it is prepared."""
    process = kernel.current
    assert process is not None
    if SIGPIPE in process.caught:
        kernel.kill(process, SIGPIPE)
    elif SIGPIPE not in process.ignored:
        return Killed(SIGPIPE)
    return oserror(errno.EPIPE)


class PipeWriter(OpenFile):
    __slots__ = ("pipe",)

    def __init__(self, pipe: Pipe, path: str = "pipe") -> None:
        super().__init__(os.O_WRONLY, path)
        self.pipe = pipe
        pipe.writers += 1

    def write(self, data: bytes) -> int:
        """Blocks while the pipe is full; with no reader left the process gets SIGPIPE (EPIPE where ignored)."""
        pipe, total = self.pipe, len(data)
        if not total:
            return 0
        at = 0
        while at < total:
            if not pipe.readers:
                raise broken_pipe(pipe.kernel)
            room = PIPE_CAPACITY - pipe.size
            if room <= 0:
                pipe.writable.wait()
                continue
            piece = data if at == 0 and total <= room else data[at:at + room]
            pipe.chunks.append(piece if type(piece) is bytes else bytes(piece))
            pipe.size += len(piece)
            at += len(piece)
            if pipe.readable.waiters:
                pipe.readable.wake()
        return total

    @property
    def broken(self) -> bool:
        return not self.pipe.readers

    def stat(self) -> Stat:
        return self.pipe.stat()

    def close(self) -> None:
        self.pipe.writers -= 1
        if not self.pipe.writers:
            self.pipe.readable.wake()


class PipeBoth(OpenFile):
    """A FIFO opened with O_RDWR (`exec 3<>fifo`)."""

    __slots__ = ("reader", "writer")

    def __init__(self, pipe: Pipe, path: str) -> None:
        super().__init__(os.O_RDWR, path)
        self.reader = PipeReader(pipe, path)
        self.writer = PipeWriter(pipe, path)

    def read(self, size: int) -> bytes:
        return self.reader.read(size)

    def readline(self, delimiter: int = 10, limit: int = 1 << 62) -> bytes:
        return self.reader.readline(delimiter, limit)

    def write(self, data: bytes) -> int:
        return self.writer.write(data)

    def ready(self) -> bool:
        return bool(self.reader.pipe.size)

    def stat(self) -> Stat:
        return self.reader.stat()

    def close(self) -> None:
        self.reader.close()
        self.writer.close()


class HandleFile(OpenFile):
    """A file of a mount, with its offset.

    readline keeps a block of a file whose handle gives the same Stat object as long as nothing has changed
    (`ahead`, from the offset `ahead_at` on, read when the Stat was `ahead_stat`).
    """

    __slots__ = ("ahead", "ahead_at", "ahead_stat", "handle", "offset")

    def __init__(self, handle: Handle, flags: int, path: str) -> None:
        super().__init__(flags, path)
        self.handle = handle
        self.offset = 0
        self.ahead = b""
        self.ahead_at = 0
        self.ahead_stat: Stat | None = None

    @property
    def seekable(self) -> bool:
        return self.handle.seekable

    def read(self, size: int) -> bytes:
        if not self.readable:
            raise oserror(errno.EBADF)
        data = self._pread(size)
        self.offset += len(data)
        return data

    def _pread(self, size: int) -> bytes:
        """The handle's pread; its error tells what could not be read, in `reading`."""
        try:
            return self.handle.pread(size, self.offset)
        except OSError as e:
            annotate(e, reading=self.path)
            raise

    def readline(self, delimiter: int = 10, limit: int = 1 << 62) -> bytes:
        ahead, start = self.ahead, self.offset - self.ahead_at
        if 0 <= start < len(ahead) and self.handle.stat() is self.ahead_stat:
            end = ahead.find(delimiter, start) + 1
            if 0 < end <= start + limit:
                self.offset += end - start
                return ahead[start:end]
        return self._read_line(delimiter, limit)

    def _read_line(self, delimiter: int, limit: int) -> bytes:
        if not self.readable:
            raise oserror(errno.EBADF)
        mark, block, got = bytes((delimiter,)), 512, 0
        if self.ahead_at >= 0:
            stat = self.handle.stat()
            if stat is self.ahead_stat:
                block = AHEAD
            elif self.handle.stat() is not stat:
                self.ahead_at = -1                           # this handle does not tell
            self.ahead_stat = stat
        parts: list[bytes] = []
        while limit > 0:
            data = self._pread(min(block, limit))
            if not data:
                break
            at = data.find(mark)
            if at >= 0:
                if self.ahead_at >= 0:
                    self.ahead, self.ahead_at = data, self.offset
                data = data[:at + 1]
            self.offset += len(data)
            if at >= 0 and not parts:
                return data
            parts.append(data)
            if at >= 0:
                break
            limit -= len(data)
            got += len(data)
            block = min(block * 4, LONG_LINE)
            if got >= LONG_LINE:
                _hold(got)
        return b"".join(parts)

    def write(self, data: bytes) -> int:
        if not self.writable:
            raise oserror(errno.EBADF)
        self.offset = self.handle.pwrite(data, -1 if self.flags & os.O_APPEND else self.offset)
        return len(data)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if not self.handle.seekable:
            raise oserror(errno.ESPIPE)
        if whence == os.SEEK_CUR:
            offset += self.offset
        elif whence == os.SEEK_END:
            offset += self._size()
        if offset < 0:
            raise oserror(errno.EINVAL)
        self.offset = offset
        return offset

    def count_lines(self) -> int | None:
        number: int | None = self._ask("count_lines")
        return number

    def last_lines(self, count: int) -> bytes | None:
        data: bytes | None = self._ask("last_lines", count)
        return data

    def lines_with(self, queries: list[Query]) -> OpenFile | None:
        if self.offset:
            return None
        handle = self._ask("lines_with", queries)
        self.offset = 0
        return None if handle is None else HandleFile(handle, self.flags, self.path)

    def _ask(self, ability: str, *args: Any) -> Any:
        """What the handle answers about a file of which nothing was read (see Handle)."""
        ask = getattr(self.handle, ability, None)
        if ask is None or self.offset or not self.readable:
            return None
        try:
            answer = ask(*args)
        except OSError as e:
            annotate(e, reading=self.path)
            raise
        if answer is not None:
            self.offset = BEYOND
        return answer

    def _size(self) -> int:
        """Where the end is; a file of unknown size is read up to there."""
        size = self.handle.stat().size
        if size is None:
            size = 0
            while piece := self.handle.pread(1 << 20, size):
                size += len(piece)
        return size

    def truncate(self, size: int) -> None:
        if not self.writable:
            raise oserror(errno.EINVAL)
        self.handle.truncate(size)

    def stat(self) -> Stat:
        return self.handle.stat()

    def close(self) -> None:
        self.handle.close()


class Source(OpenFile):
    """Bytes given to `run(stdin=...)`, a here-document or a here-string: like the pipe that bash makes for them."""

    __slots__ = ("data", "offset")

    def __init__(self, data: bytes, path: str = "") -> None:
        super().__init__(os.O_RDONLY, path)
        self.data = data
        self.offset = 0

    def read(self, size: int) -> bytes:
        data = self.data[self.offset:self.offset + size]
        self.offset += len(data)
        return data

    def readline(self, delimiter: int = 10, limit: int = 1 << 62) -> bytes:
        at = self.data.find(bytes((delimiter,)), self.offset)
        end = len(self.data) if at < 0 else at + 1
        return self.read(min(end - self.offset, limit))

    def stat(self) -> Stat:
        """A pipe; nothing at all is /dev/null."""
        return Stat((S_IFIFO if self.data else S_IFCHR) | 0o600, 0, ino=id(self) & 0xFFFFFFF)


class Input(OpenFile):
    """Standard input of a Session: whatever `source` is for the running line."""

    __slots__ = ("source",)

    def __init__(self, source: OpenFile, path: str = "/dev/stdin") -> None:
        super().__init__(os.O_RDONLY, path)
        self.source = source

    @property
    def seekable(self) -> bool:
        return self.source.seekable

    def read(self, size: int) -> bytes:
        return self.source.read(size)

    def readline(self, delimiter: int = 10, limit: int = 1 << 62) -> bytes:
        return self.source.readline(delimiter, limit)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self.source.seek(offset, whence)

    def stat(self) -> Stat:
        return self.source.stat()

    def ready(self) -> bool:
        return self.source.ready()

    def isatty(self) -> bool:
        return self.source.isatty()


class Capture(OpenFile):
    """Where the line's stdout or stderr is kept. `log` is shared by both, so that their order is known too.

    With `forward` set, data goes there at once and nothing is kept.
    """

    __slots__ = ("forward", "limit", "log", "name", "parts", "size")

    def __init__(self, name: str, limit: int | None = None, log: list[tuple[str, bytes]] | None = None) -> None:
        super().__init__(os.O_WRONLY, f"/dev/{name}")
        self.name = name
        self.limit = limit
        self.log = log
        self.forward: OpenFile | None = None
        self.parts: list[bytes] = []
        self.size = 0

    def isatty(self) -> bool:
        return self.forward is not None and self.forward.isatty()

    def columns(self) -> int:
        return self.forward.columns() if self.forward is not None else 0

    def write(self, data: bytes) -> int:
        if self.forward is not None:
            return self.forward.write(data)
        if type(data) is not bytes:
            data = bytes(data)
        if self.limit and self.size + len(data) > self.limit:
            kept = data[:max(0, self.limit - self.size)]
            self._keep(kept)
            raise LimitExceeded(f"output: {self.name} is larger than {self.limit} bytes")
        self._keep(data)
        return len(data)

    def _keep(self, data: bytes) -> None:
        self.size += len(data)
        self.parts.append(data)
        if self.log is not None:
            self.log.append((self.name, data))

    def getvalue(self) -> bytes:
        if len(self.parts) > 1:
            self.parts = [b"".join(self.parts)]
        return self.parts[0] if self.parts else b""

    def stat(self) -> Stat:
        return Stat(S_IFIFO | 0o600, 0, ino=id(self) & 0xFFFFFFF)


class Output:
    """Buffered bytes in front of descriptor `fd` of a process: what stdio's FILE is to a GNU tool.

    Flushed when 64 KiB are waiting, by flush(), and when the process ends normally.
    """

    __slots__ = ("_fd", "_parts", "_process", "_size")

    def __init__(self, process: Process, fd: int) -> None:
        self._process = process
        self._fd = fd
        self._parts: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        if not data:
            return
        self._parts.append(data)
        self._size += len(data)
        if self._size >= 65536:
            self.flush()

    def flush(self) -> None:
        if self._parts:
            data = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
            self._parts = []
            self._size = 0
            self._process.file(self._fd).write(data)

    def discard(self) -> None:
        self._parts = []
        self._size = 0
