"""The host's standard streams as open files of a Terminal: read when a command reads, written as it comes."""
from __future__ import annotations

import errno
import os

from mirage.process import blocking
from mirage.process.files import OpenFile, broken_pipe, oserror
from mirage.vfs.types import Stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PIPE_BUF = 4096
"""What a pipe that is ready to be written takes without blocking (select(2))."""


class HostOutput(OpenFile):
    """A descriptor of the host to write to; waiting for its reader stops only the process that writes.

    around  called with a function that writes, where something else is on the screen (a prompt)
    """

    __slots__ = ("around", "fd", "tty", "waits")

    def __init__(self, fd: int, path: str) -> None:
        super().__init__(os.O_WRONLY, path)
        self.fd = fd
        self.tty = _isatty(fd)
        self.waits = not _is_file(fd)
        self.around: Callable[[Callable[[], object]], None] | None = None

    def write(self, data: bytes) -> int:
        if self.around is not None:
            self.around(lambda: self._write(data))
        else:
            self._write(data)
        return len(data)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                if self.waits:
                    self._wait()
                view = view[os.write(self.fd, view[:PIPE_BUF] if self.waits else view):]
        except BrokenPipeError:
            kernel = blocking.current_kernel()
            if kernel is not None:
                raise broken_pipe(kernel) from None

    def _wait(self) -> None:
        import select
        if not select.select((), (self.fd,), (), 0)[1]:
            blocking.call(select.select, (), (self.fd,), ())

    def isatty(self) -> bool:
        return self.tty

    def columns(self) -> int:
        if not self.tty:
            return 0
        try:
            return os.get_terminal_size(self.fd).columns
        except OSError:
            return 0

    def stat(self) -> Stat:
        return _stat(self.fd)


class HostInput(OpenFile):
    """The host's standard input, read only when a line reads it.

    A thread may wait for input that nobody wants any more; it never reads, so nothing is lost.
    """

    __slots__ = ("_ahead", "_at", "_wake", "fd", "tty")

    def __init__(self, fd: int = 0) -> None:
        super().__init__(os.O_RDONLY, "/dev/stdin")
        self.fd = fd
        self.tty = _isatty(fd)
        self._ahead = b""                                    # read from the host, from _at on not by a command
        self._at = 0
        self._wake: tuple[int, int] | None = None

    @property
    def seekable(self) -> bool:
        return _is_file(self.fd)

    def read(self, size: int) -> bytes:
        if self._at < len(self._ahead):
            return self._take(min(self._at + size, len(self._ahead)))
        return self._fetch(size)

    def readline(self, delimiter: int = 10, limit: int = 1 << 62) -> bytes:
        mark = bytes((delimiter,))
        parts: list[bytes] = []
        while limit > 0:
            if self._at == len(self._ahead):
                self._ahead, self._at = self._fetch(65536), 0
                if not self._ahead:
                    break
            end = min(self._ahead.find(mark, self._at) + 1 or len(self._ahead), self._at + limit)
            parts.append(self._take(end))
            if parts[-1].endswith(mark):
                break
            limit -= len(parts[-1])
        return b"".join(parts)

    def _take(self, end: int) -> bytes:
        data = self._ahead[self._at:end]
        self._at = end
        return data

    def _fetch(self, size: int) -> bytes:
        while not self._arrived():
            self._wait()
        return os.read(self.fd, size)

    def _arrived(self) -> bool:
        import select
        return bool(select.select((self.fd,), (), (), 0)[0])

    def _wait(self) -> None:
        import select
        if self._wake is None:
            self._wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            while os.read(self._wake[0], 512):
                pass
        except BlockingIOError:
            pass
        try:
            blocking.call(select.select, (self.fd, self._wake[0]), (), ())
        except BaseException:                                # the line was stopped: so is the thread that waits
            os.write(self._wake[1], b"\0")
            raise

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if not self.seekable:
            raise oserror(errno.ESPIPE)
        if whence == os.SEEK_CUR:
            offset -= len(self._ahead) - self._at
        self._ahead, self._at = b"", 0
        return os.lseek(self.fd, offset, whence)

    def give_back(self) -> None:
        """Leave what was read ahead to the next program that reads the same file."""
        if self.seekable:
            self.seek(0, os.SEEK_CUR)

    def ready(self) -> bool:
        return self._at < len(self._ahead) or self._arrived()

    def isatty(self) -> bool:
        return self.tty

    def stat(self) -> Stat:
        return _stat(self.fd)


def host_input() -> OpenFile | bytes:
    """Standard input, empty where the host has closed it."""
    try:
        os.fstat(0)
    except OSError:
        return b""
    return HostInput()


def _isatty(fd: int) -> bool:
    try:
        return os.isatty(fd)
    except OSError:
        return False


def _is_file(fd: int) -> bool:
    try:
        return os.fstat(fd).st_mode & 0o170000 == 0o100000
    except OSError:
        return False


def _stat(fd: int) -> Stat:
    status = os.fstat(fd)
    return Stat(status.st_mode & 0o170000 | 0o600, status.st_size, ino=status.st_ino)
