"""cmp: compare two files byte by byte."""
from __future__ import annotations

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import encode, open_input
from mirage.commands._text import parse_size
from mirage.commands.cat import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.files import OpenFile
    from mirage.process.process import Process

SPEC = Spec("bci:ln:s", {
    "print-bytes": ("b", NONE), "print-chars": ("b", NONE), "ignore-initial": ("i", REQUIRED), "verbose": ("l", NONE),
    "bytes": ("n", REQUIRED), "quiet": ("s", NONE), "silent": ("s", NONE)},
    help="Usage: NAME [OPTION]... FILE1 [FILE2 [SKIP1 [SKIP2]]]\nCompare two files byte by byte.\n", status=2,
    usage="cmp: ")

BLOCK = 1 << 20


class Reader:
    """A file read in blocks of equal size."""

    def __init__(self, proc: Process, name: str, file: OpenFile, skip: int) -> None:
        self.proc = proc
        self.name = name
        self.file = file
        self.size = file.stat().size if file.seekable and file.stat().is_file else None
        if skip and file.seekable:
            file.seek(file.tell() + skip)
        else:
            while skip > 0:
                data = file.read(min(skip, BLOCK))
                if not data:
                    break
                skip -= len(data)

    def block(self, size: int) -> bytes:
        parts = []
        while size:
            data = self.file.read(size)
            if not data:
                break
            parts.append(data)
            size -= len(data)
        return parts[0] if len(parts) == 1 else b"".join(parts)


def _size(proc: Process, text: str, what: str) -> int:
    size = parse_size(text, "kKMGTPEZY")
    if size is None:
        raise usage_error(proc, SPEC, f"invalid {what} value '{text}'")
    return size


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    skips = [0, 0]
    limit: int | None = None
    flags = {key for key, _ in options}
    for key, value in options:
        if key == "i":
            first, colon, second = value.partition(":")
            skips[0] = max(skips[0], _size(proc, first, "--ignore-initial"))
            skips[1] = max(skips[1], _size(proc, second, "--ignore-initial")) if colon else skips[0]
        elif key == "n":
            size = _size(proc, value, "--bytes")
            limit = size if limit is None else min(limit, size)
    if "l" in flags and "s" in flags:
        raise usage_error(proc, SPEC, "options -l and -s are incompatible")
    if not operands:
        raise usage_error(proc, SPEC, f"missing operand after '{proc.argv[-1]}'")
    for number, text in enumerate(operands[2:4]):
        skips[number] = max(skips[number], _size(proc, text, "--ignore-initial"))
    if len(operands) > 4:
        raise usage_error(proc, SPEC, f"extra operand '{operands[4]}'")
    names = [operands[0], operands[1] if len(operands) > 1 else "-"]
    files: list[OpenFile] = []
    try:
        for name in names:
            try:
                file = open_input(proc, name)
            except OSError as e:
                if "s" not in flags:
                    proc.fail(name, e)
                return 2
            files.append(file.incref())
        readers = [Reader(proc, n, f, s) for n, f, s in zip(names, files, skips)]
        sizes = [r.size for r in readers]
        if "s" in flags and limit is None and None not in sizes and skips == [0, 0] and sizes[0] != sizes[1]:
            return 1
        return _compare(proc, readers, flags, limit)
    finally:
        for file in files:
            file.decref()


def _compare(proc: Process, readers: list[Reader], flags: set[str], limit: int | None) -> int:
    position, line = 0, 1
    different = False
    a_name, b_name = readers[0].name, readers[1].name
    width = 1
    if "l" in flags:
        known = [r.size for r in readers if r.size is not None]
        most = min(known) if known else (1 << 63) - 1
        if limit is not None:
            most = min(most, limit)
        width = len(str(most))
    last = b""
    while limit is None or position < limit:
        size = BLOCK if limit is None else min(BLOCK, limit - position)
        a, b = readers[0].block(size), readers[1].block(size)
        common = min(len(a), len(b))
        if a[:common] != b[:common]:
            different = True
            if "s" in flags:
                return 1
            if "l" not in flags:
                at = _first_difference(a, b)
                line += a.count(b"\n", 0, at)
                text = f"{a_name} {b_name} differ: byte {position + at + 1}, line {line}"
                if flags & {"b", "c"}:
                    text += f" is {a[at]:3o} {visible(a[at]).decode()} {b[at]:3o} {visible(b[at]).decode()}"
                proc.stdout.write(encode(text) + b"\n")
                return 1
            _list(proc, a, b, position, width, flags)
        line += a.count(b"\n", 0, common)
        last = a[:common][-1:] or last
        position += common
        if len(a) != len(b):
            if "s" not in flags:
                proc.stdout.flush()
                shorter = a_name if len(a) < len(b) else b_name
                if position == 0:
                    proc.message(f"EOF on {shorter} which is empty")
                elif "l" in flags:
                    proc.message(f"EOF on {shorter} after byte {position}")
                elif last == b"\n":
                    proc.message(f"EOF on {shorter} after byte {position}, line {line - 1}")
                else:
                    proc.message(f"EOF on {shorter} after byte {position}, in line {line}")
            return 1
        if not a:
            break
        proc.check()
    return 1 if different else 0


def _first_difference(a: bytes, b: bytes) -> int:
    low, high = 0, min(len(a), len(b))
    while high - low > 64:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    while a[low] == b[low]:
        low += 1
    return low


def _list(proc: Process, a: bytes, b: bytes, base: int, width: int, flags: set[str]) -> None:
    out = []
    for number, (x, y) in enumerate(zip(a, b), base + 1):
        if x != y:
            if "b" in flags or "c" in flags:
                out.append(f"{number:{width}d} {x:3o} {visible(x).decode():<4} {y:3o} {visible(y).decode()}\n")
            else:
                out.append(f"{number:{width}d} {x:3o} {y:3o}\n")
            if len(out) >= 4096:
                proc.stdout.write("".join(out).encode())
                out.clear()
                proc.check()
    proc.stdout.write("".join(out).encode())
