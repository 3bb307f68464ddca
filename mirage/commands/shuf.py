"""shuf: a random permutation of lines, words or numbers."""
from __future__ import annotations

import os
import random
import re

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import encode, open_input, read_all, split_lines
from mirage.commands._text import extra_operand, fatal, parse_size, quote, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mirage.process.process import Process

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
    generator = _generator(proc, source)
    items: range | list[bytes]
    if numbers is not None:
        items = numbers
    elif echo:
        items = [encode(o) for o in operands]
    else:
        items = _lines(proc, operands[0] if operands else "-", end)
    if output is not None:
        try:
            proc.install(1, proc.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
        except OSError as e:
            raise fatal(proc, f"{shell_quote(output)}: {e.strerror}") from None
    if repeat and limit != 0:
        if not items:
            raise fatal(proc, "no lines to repeat")
        _write(proc, (items[generator.randrange(len(items))] for _ in _forever(limit)), end)
        return 0
    count = len(items) if limit is None else min(limit, len(items))
    proc.kernel.fits(count * 16)
    _write(proc, iter(generator.sample(items, count)), end)
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


def _generator(proc: Process, source: str | None) -> random.Random:
    if source is None:
        return random.Random()
    try:
        with proc.opened(source) as file:
            seed = file.read(4096)
    except OSError as e:
        raise fatal(proc, f"{shell_quote(source)}: {e.strerror}") from None
    if not seed:
        raise fatal(proc, f"{shell_quote(source)}: end of file")
    return random.Random(seed)


def _lines(proc: Process, name: str, end: bytes) -> list[bytes]:
    try:
        file = open_input(proc, name)
        file.incref()
        try:
            lines = split_lines(proc, read_all(proc, file), end)
        finally:
            file.decref()
    except OSError as e:
        raise fatal(proc, f"{shell_quote(name)}: {e.strerror}") from None
    if not lines[-1]:
        lines.pop()
    return lines
