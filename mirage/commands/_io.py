"""Reading operands the way GNU tools do: `-` is standard input, errors are reported and the rest goes on."""
from __future__ import annotations

import errno
import os

from mirage.process.files import OpenFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mirage.process.process import Process

BLOCK = 1 << 20
CHECK_EVERY = 1 << 17                                        # bytes of input after which others run
LINE_BYTES = 44                                              # what a line in a list takes besides its text


def encode(text: str) -> bytes:
    """A word (str with surrogateescape) as the bytes it stands for."""
    return text.encode("utf-8", "surrogateescape")


def decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def chunks(proc: Process, file: OpenFile, size: int = BLOCK) -> Iterator[bytes]:
    """The rest of an open file, in pieces as they come; lets other processes run now and then."""
    done = 0
    while data := file.read(size):
        yield data
        done += len(data)
        if done >= CHECK_EVERY:
            done = 0
            proc.check()


def read_all(proc: Process, file: OpenFile) -> bytes:
    """The rest of an open file as one bytes object, within the memory limit."""
    parts, size = [], 0
    for data in chunks(proc, file):
        size += len(data)
        proc.kernel.fits(2 * size)
        parts.append(data)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def read_operand(proc: Process, name: str) -> bytes:
    """All of an operand (`-`: standard input), within the memory limit."""
    file = open_input(proc, name).incref()
    try:
        return read_all(proc, file)
    finally:
        file.decref()


def split_lines(proc: Process, data: bytes, delimiter: bytes) -> list[bytes]:
    """data.split(delimiter), within the memory limit."""
    proc.kernel.fits(len(data) + data.count(delimiter) * LINE_BYTES)
    return data.split(delimiter)


def line_blocks(proc: Process, file: OpenFile, delimiter: bytes = b"\n") -> Iterator[bytes]:
    """Blocks of whole lines (each ends with the delimiter, but perhaps the last one of the file)."""
    rest: list[bytes] = []
    held = 0
    for data in chunks(proc, file):
        cut = data.rfind(delimiter) + 1
        if not cut:
            rest.append(data)
            held += len(data)
            proc.kernel.fits(held)
            continue
        yield b"".join(rest) + data[:cut] if rest else data[:cut] if cut < len(data) else data
        rest = [data[cut:]] if cut < len(data) else []
        held = len(data) - cut
    if rest:
        yield b"".join(rest)


def line_lists(proc: Process, file: OpenFile, delimiter: bytes = b"\n") -> Iterator[list[bytes]]:
    """The lines of an open file without their delimiters, as many at a time as were read."""
    for block in line_blocks(proc, file, delimiter):
        lines = block.split(delimiter)
        if not lines[-1]:
            lines.pop()
        yield lines


class Inputs:
    """Iterate (name, OpenFile) over operands; unreadable ones are reported and `status` becomes 1.

    No operand means `-`. A directory is reported as `NAME: DIR: Is a directory`.
    """

    def __init__(self, proc: Process, operands: Sequence[str], status: int = 1) -> None:
        self.proc = proc
        self.operands = list(operands) or ["-"]
        self.failure = status
        self.status = 0

    def __iter__(self) -> Iterator[tuple[str, OpenFile]]:
        for name in self.operands:
            try:
                file = open_input(self.proc, name)
            except OSError as e:
                from mirage.commands._text import shell_quote
                self.fail(shell_quote(name), e)
                continue
            file.incref()
            try:
                yield name, file
            finally:
                file.decref()

    def fail(self, name: str, e: OSError) -> None:
        self.proc.stdout.flush()
        self.proc.fail(name, e)
        self.status = self.failure


def open_input(proc: Process, name: str) -> OpenFile:
    """An operand opened for reading; EISDIR for a directory, as read(2) would say a moment later."""
    if name == "-":
        return proc.file(0)
    file = proc.open(name, os.O_RDONLY)
    if getattr(getattr(file, "handle", None), "is_dir", False):
        file.incref()
        file.decref()
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    return file
