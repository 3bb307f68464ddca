"""shuf: a random permutation of lines, words or numbers."""
from __future__ import annotations

import os
import random
import re
from stat import S_ISREG

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import encode, open_input, read_all, split_lines
from mirage.commands._text import extra_operand, fatal, parse_size, quote, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mirage.process.files import OpenFile
    from mirage.process.process import Process

RESERVOIR = 8 << 20                                          # bytes of input from which GNU keeps a sample only
SPEC = Spec("ei:n:o:rz", {
    "echo": ("e", NONE), "input-range": ("i", REQUIRED), "head-count": ("n", REQUIRED), "output": ("o", REQUIRED),
    "random-source": ("source", REQUIRED), "repeat": ("r", NONE), "zero-terminated": ("z", NONE)},
    help="Usage: NAME [OPTION]... [FILE]\n  or:  NAME -e [OPTION]... [ARG]...\n  or:  NAME -i LO-HI [OPTION]...\n"
         "Write a random permutation of the input lines to standard output.\n")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    echo = repeat = False
    numbers: range | None = None
    limit: int | None = None
    output = source = None
    end = b"\n"
    for key, value in options:
        if key == "e":
            echo = True
        elif key == "i":
            found = re.fullmatch(r"([0-9]+)-([0-9]+)", value)
            if numbers is not None:
                raise fatal(proc, "multiple -i options specified")
            if not found or int(found[1]) > int(found[2]) + 1:
                raise fatal(proc, f"invalid input range: {quote(proc, value)}")
            numbers = range(int(found[1]), int(found[2]) + 1)
        elif key == "n":
            size = parse_size(value, "")
            if size is None:
                raise fatal(proc, f"invalid line count: {quote(proc, value)}")
            limit = size if limit is None else min(limit, size)
        elif key == "o":
            output = value
        elif key == "source":
            source = value
        elif key == "r":
            repeat = True
        else:
            end = b"\0"
    if echo and numbers is not None:
        raise usage_error(proc, SPEC, "cannot combine -e and -i options")
    if numbers is not None and operands:
        raise extra_operand(proc, SPEC, operands[0])
    if not echo and len(operands) > 1:
        raise extra_operand(proc, SPEC, operands[1])
    chooser = Chooser(proc, source)
    items: range | list[bytes]
    if numbers is not None:
        items = numbers
    elif echo:
        items = [encode(o) for o in operands]
    else:
        items, sized = _lines(proc, operands[0] if operands else "-", end)
        if source is not None and limit and not repeat and not sized:
            items = chooser.reservoir(items, limit)
    if output is not None:
        try:
            proc.install(1, proc.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
        except OSError as e:
            raise fatal(proc, f"{shell_quote(output)}: {e.strerror}") from None
    if repeat and limit != 0:
        if not items:
            raise fatal(proc, "no lines to repeat")
        _write(proc, (items[chooser.below(len(items))] for _ in _forever(limit)), end)
        return 0
    count = len(items) if limit is None else min(limit, len(items))
    proc.kernel.fits(count * 16)
    _write(proc, (items[place] for place in chooser.permutation(count, len(items))), end)
    return 0


def _forever(limit: int | None) -> Iterator[int]:
    n = 0
    while limit is None or n < limit:
        yield n
        n += 1


def _write(proc: Process, items: Iterator[int | bytes], end: bytes) -> None:
    for number, item in enumerate(items):
        proc.stdout.write((item if isinstance(item, bytes) else b"%d" % item) + end)
        if not number & 0xFFF:
            proc.check()


class Chooser:
    """Random choices; from the bytes of a --random-source they are the same as GNU's."""

    def __init__(self, proc: Process, source: str | None) -> None:
        self.proc = proc
        self.source = source
        self.number = self.most = 0                          # a random number in 0..most that is left over
        self.file: OpenFile | None = None
        if source is None:
            return
        try:
            self.file = proc.open(source).incref()
        except OSError as e:
            raise fatal(proc, f"{shell_quote(source)}: {e.strerror}") from None

    def below(self, count: int) -> int:
        """A number in 0..count-1 (randint_genmax of gnulib)."""
        if self.file is None:
            return random.randrange(count)
        while True:
            while self.most < count - 1:
                self.number = self.number * 256 + self._byte()
                self.most = self.most * 256 + 255
            if self.most == count - 1:
                found, self.number, self.most = self.number, 0, 0
                return found
            excess = self.most - (count - 1)
            unusable = excess % count
            last = self.most - unusable
            if self.number <= last:
                self.number, found = divmod(self.number, count)
                self.most = excess // count
                return found
            self.number -= last + 1
            self.most = unusable - 1

    def _byte(self) -> int:
        assert self.file is not None and self.source is not None
        data = self.file.read(1)
        if not data:
            raise fatal(self.proc, f"{quote(self.proc, self.source)}: end of file")
        return data[0]

    def reservoir(self, lines: list[bytes], count: int) -> list[bytes]:
        """`count` of the lines, as GNU chooses them while it reads an input of unknown size."""
        kept = lines[:count]
        for number in range(count, len(lines) + 1 if len(lines) >= count else 0):
            place = self.below(number + 1)
            if place < count and number < len(lines):
                kept[place] = lines[number]
            if not number & 0xFFF:
                self.proc.check()
        return kept

    def permutation(self, count: int, total: int) -> list[int]:
        """`count` different numbers of 0..total-1 in random order."""
        if self.file is None:
            return random.sample(range(total), count)
        moved: dict[int, int] = {}
        out = []
        for place in range(count):
            other = place + self.below(total - place)
            out.append(moved.get(other, other))
            moved[other] = moved.get(place, place)
        return out


def _lines(proc: Process, name: str, end: bytes) -> tuple[list[bytes], bool]:
    """The lines of a file, and whether its size is known and not large."""
    try:
        file = open_input(proc, name)
        file.incref()
        try:
            stat = file.stat()
            lines = split_lines(proc, read_all(proc, file), end)
        finally:
            file.decref()
    except OSError as e:
        raise fatal(proc, f"{shell_quote(name)}: {e.strerror}") from None
    if not lines[-1]:
        lines.pop()
    return lines, S_ISREG(stat.mode) and stat.size is not None and stat.size <= RESERVOIR
