"""head: the first lines or bytes of files."""
from __future__ import annotations

import os
import re

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import chunks, open_input
from mirage.commands._text import fatal, parse_size, quote, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import deque

    from mirage.process.files import OpenFile
    from mirage.process.process import Process

SPEC = Spec("c:n:qvz", {
    "bytes": ("c", REQUIRED), "lines": ("n", REQUIRED), "quiet": ("q", NONE), "silent": ("q", NONE),
    "verbose": ("v", NONE), "zero-terminated": ("z", NONE)},
    help="Usage: NAME [OPTION]... [FILE]...\nPrint the first 10 lines of each FILE to standard output.\n")

_OBSOLETE = re.compile(r"-([0-9]+)([bkm]?)([cqvlz]*)\Z")
BLOCK = 65536


def main(proc: Process) -> int:
    args = proc.argv[1:]
    if args and (old := _OBSOLETE.match(args[0])):
        unit = "c" if old[2] or "c" in old[3] else "n"
        args[:1] = [f"-{unit}{old[1]}{old[2]}", *(f"-{c}" for c in old[3] if c not in "lc")]
    options, operands = parse(proc, SPEC, args)
    unit, count, drop, headers, delimiter = "n", 10, False, len(operands) > 1, b"\n"
    for key, value in options:
        if key in "cn":
            unit = key
            drop = value.startswith("-")
            size = parse_size(value[1:] if drop else value)
            if size is None:
                what = "bytes" if key == "c" else "lines"
                raise fatal(proc, f"invalid number of {what}: {quote(proc, value)}")
            count = size
        elif key in "qv":
            headers = key == "v"
        else:
            delimiter = b"\0"
    status, first = 0, True
    for name in operands or ["-"]:
        try:
            file = open_input(proc, name)
        except IsADirectoryError:
            _header(proc, headers, name, first)
            first = False
            proc.stdout.flush()
            proc.message(f"error reading {shell_quote(name, True)}: Is a directory")
            status = 1
            continue
        except OSError as e:
            proc.stdout.flush()
            proc.fail(f"cannot open {shell_quote(name, True)} for reading", e)
            status = 1
            continue
        file.incref()
        try:
            _header(proc, headers, name, first)
            first = False
            if unit == "c":
                (drop_bytes if drop else head_bytes)(proc, file, count)
            elif drop:
                drop_lines(proc, file, count, delimiter)
            else:
                head_lines(proc, file, count, delimiter)
        finally:
            file.decref()
    return status


def _header(proc: Process, wanted: bool, name: str, first: bool) -> None:
    if wanted:
        shown = "standard input" if name == "-" else name
        text = f"{'' if first else chr(10)}==> {shown} <==\n"
        proc.stdout.write(text.encode("utf-8", "surrogateescape"))


def head_bytes(proc: Process, file: OpenFile, count: int) -> None:
    while count > 0:
        data = file.read(min(count, BLOCK))
        if not data:
            break
        proc.stdout.write(data)
        count -= len(data)
        proc.check()


def head_lines(proc: Process, file: OpenFile, count: int, delimiter: bytes) -> None:
    """The first `count` lines; a seekable file is left right behind them."""
    while count > 0:
        data = file.read(BLOCK if file.seekable else 8192)
        if not data:
            break
        here = data.count(delimiter)
        if here >= count:
            at = -1
            if count * 8 < here or count < 64:
                for _ in range(count):
                    at = data.find(delimiter, at + 1)
            else:
                at = len(data) - len(data.split(delimiter, count)[-1]) - 1
            if at + 1 < len(data) and file.seekable:
                file.seek(at + 1 - len(data), os.SEEK_CUR)
            proc.stdout.write(data[:at + 1])
            return
        count -= here
        proc.stdout.write(data)
        proc.check()


def drop_bytes(proc: Process, file: OpenFile, count: int) -> None:
    """All but the last `count` bytes, holding no more than those."""
    held = b""
    for data in chunks(proc, file):
        held += data
        proc.kernel.fits(len(held))
        if len(held) > count:
            proc.stdout.write(held[:len(held) - count])
            held = held[len(held) - count:]


def drop_lines(proc: Process, file: OpenFile, count: int, delimiter: bytes) -> None:
    """All but the last `count` lines (an unfinished last line counts as one)."""
    from collections import deque
    held: deque[bytes] = deque()
    lines, size = 0, 0
    for data in chunks(proc, file):
        held.append(data)
        size += len(data)
        proc.kernel.fits(size)
        lines += data.count(delimiter)
        while held and len(held) > 1:
            here = held[0].count(delimiter)
            if lines - here <= count:
                break
            lines -= here
            block = held.popleft()
            size -= len(block)
            proc.stdout.write(block)
    rest = b"".join(held)
    if count == 0:
        proc.stdout.write(rest)
        return
    end = len(rest)
    if not rest.endswith(delimiter):
        end = rest.rfind(delimiter) + 1
        count -= 1
    for _ in range(count):
        if not end:
            break
        end = rest.rfind(delimiter, 0, end - 1) + 1
    proc.stdout.write(rest[:end])
