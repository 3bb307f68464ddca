"""look: lines of a sorted file that begin with a string (util-linux)."""
from __future__ import annotations

import re

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.process.process import Process

SPEC = Spec("adft:hV", {
    "alternative": ("a", NONE), "alphanum": ("d", NONE), "ignore-case": ("f", NONE), "terminate": ("t", REQUIRED)},
    help="Usage:\n look [options] <string> [<file>...]\n\nDisplay lines beginning with a specified string.\n")
WORDS = "/usr/share/dict/words"


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    if not operands:
        proc.message("bad usage")
        proc.write_error("Try 'look --help' for more information.\n")
        return 1
    flags = {key for key, _ in options}
    name = operands[1] if len(operands) > 1 else WORDS
    if len(operands) == 1:
        flags |= {"d", "f"}
    wanted = operands[0]
    for key, value in options:
        if key == "t" and value and value[0] in wanted:
            wanted = wanted[:wanted.index(value[0]) + 1]
    try:
        data = proc.fs.read(name)
    except OSError as e:
        proc.fail(name, e)
        return 1

    def key_of(line: bytes) -> bytes:
        if "d" in flags:
            line = re.sub(rb"[^A-Za-z0-9 \t]", b"", line)
        return line.lower() if "f" in flags else line
    prefix = key_of(encode(wanted))
    at = _first(data, prefix, key_of)
    status = 1
    while at < len(data):
        line, end = _line(data, at)
        seen = key_of(line)
        if seen[:len(prefix)] > prefix:
            break
        if seen.startswith(prefix):
            proc.stdout.write(line + b"\n")
            status = 0
        elif not status:
            break
        at = end
    return status


def _line(data: bytes, start: int) -> tuple[bytes, int]:
    """The line that begins at `start`, and where the next one does."""
    end = data.find(b"\n", start)
    end = len(data) if end < 0 else end
    return data[start:end], end + 1


def _first(data: bytes, prefix: bytes, key_of: Callable[[bytes], bytes]) -> int:
    """Binary search: a line start not behind the first line with the prefix, if the file is sorted."""
    low, high = 0, len(data)
    while True:
        middle = _line(data, low + (high - low) // 2)[1]
        if middle >= high or high <= low:
            return low
        if prefix > key_of(_line(data, middle)[0])[:len(prefix)]:
            low = middle
        else:
            high = middle
