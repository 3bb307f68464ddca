"""xxd: a hex dump, and back."""
from __future__ import annotations

import os
import re

from mirage.commands._io import encode, open_input, read_all
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.files import OpenFile
    from mirage.process.process import Process

USAGE = """Usage:
       xxd [options] [infile [outfile]]
    or
       xxd -r [-s [-]offset] [-c cols] [-ps] [infile [outfile]]
"""
VALUED = {"c": "c", "cols": "c", "g": "g", "groupsize": "g", "l": "l", "len": "l", "s": "s", "seek": "s", "skip": "s",
          "o": "o", "offset": "o", "n": "n", "name": "n", "R": "R"}
PRINTABLE = bytes(b if 32 <= b < 127 else 46 for b in range(256))
PLAIN = {"a": "a", "autoskip": "a", "b": "b", "bits": "b", "C": "C", "capitalize": "C", "d": "d", "decimal": "d",
         "e": "e", "E": "E", "EBCDIC": "E", "i": "i", "include": "i", "p": "p", "ps": "p", "plain": "p",
         "postscript": "p",
         "r": "r", "revert": "r", "u": "u", "uppercase": "u", "h": "h", "help": "h", "v": "v", "version": "v"}


def _number(proc: Process, text: str) -> int:
    found = re.match(r"[-+]?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)", text.strip())
    if not found:
        return 0
    digits = found[1]
    value = int(digits, 16 if digits[:2].lower() == "0x" else 8 if digits.startswith("0") and len(digits) > 1 else 10)
    return -value if text.strip().startswith("-") else value


class Options:
    def __init__(self) -> None:
        self.flags: set[str] = set()
        self.columns: int | None = None
        self.group: int | None = None
        self.length: int | None = None
        self.seek = 0
        self.seek_relative = False
        self.offset = 0
        self.name: str | None = None


def parse(proc: Process) -> tuple[Options, list[str]]:
    o, operands = Options(), []
    args = proc.argv[1:]
    i = 0
    while i < len(args):
        arg = args[i]
        i += 1
        if arg == "--":
            operands += args[i:]
            break
        if not arg.startswith("-") or arg == "-":
            operands.append(arg)
            continue
        text = arg[2:] if arg.startswith("--") else arg[1:]
        if text in PLAIN:
            o.flags.add(PLAIN[text])
            continue
        key, value = VALUED.get(text), ""
        if key is not None:
            if i >= len(args):
                raise _usage(proc)
            value = args[i]
            i += 1
        else:
            key, value = VALUED.get(text[:1]), text[1:]
            if key is None:
                if all(c in PLAIN for c in text) and text:
                    o.flags |= {PLAIN[c] for c in text}
                    continue
                raise _usage(proc)
        if key == "c":
            o.columns = _number(proc, value)
        elif key == "g":
            o.group = _number(proc, value)
        elif key == "l":
            o.length = _number(proc, value)
        elif key == "s":
            o.seek_relative = value.startswith("+")
            o.seek = _number(proc, value)
        elif key == "o":
            o.offset = _number(proc, value)
        elif key == "n":
            o.name = value
    return o, operands


def _usage(proc: Process) -> Exit:
    proc.write_error(USAGE)
    return Exit(1)


def main(proc: Process) -> int:
    o, operands = parse(proc)
    if "h" in o.flags or len(operands) > 2:
        raise _usage(proc)
    if "v" in o.flags:
        proc.stdout.write(b"xxd (Mirage)\n")
        return 0
    kinds = o.flags & {"b", "e", "i", "p"}
    if kinds & {"e", "i"} and "r" in o.flags:
        proc.message("Sorry, cannot revert this type of hexdump")
        return 255
    if len(kinds) > 1 and kinds != {"b", "i"}:
        proc.message("only one of -b, -e, -u, -p, -i can be used")
        return 1
    source = operands[0] if operands else "-"
    try:
        file = open_input(proc, source)
    except OSError as e:
        proc.fail(source, e)
        return 2
    file.incref()
    try:
        if len(operands) == 2 and operands[1] != "-":
            mode = os.O_WRONLY | os.O_CREAT | (0 if "r" in o.flags else os.O_TRUNC)
            try:
                proc.install(1, proc.open(operands[1], mode))
            except OSError as e:
                proc.message(f"{operands[1]}: {e.strerror}")
                return 3
        if "r" in o.flags:
            return _revert(proc, o, file)
        return _forward(proc, o, file, source)
    finally:
        file.decref()


def _forward(proc: Process, o: Options, file: OpenFile, source: str) -> int:
    default = 30 if "p" in o.flags else 6 if "b" in o.flags else 12 if "i" in o.flags else 16
    columns = o.columns if o.columns else default
    limit = 0 if "p" in o.flags else 256
    if columns < 0 or limit and columns > limit and "i" not in o.flags:
        proc.message("invalid number of columns (max. 256).")
        return 1
    if o.seek < 0 and file.seekable:
        size = file.stat().size or 0
        if size + o.seek < 0:
            proc.message("Sorry, cannot seek.")
            return 4
        file.seek(size + o.seek)
        start = size + o.seek
    else:
        start, left = o.seek, o.seek
        if file.seekable:
            file.seek(file.tell() + o.seek if o.seek_relative else o.seek)
            start = file.tell()
        else:
            while left > 0:
                data = file.read(min(left, 1 << 16))
                if not data:
                    break
                left -= len(data)
    if "i" in o.flags:
        _include(proc, o, _limited(proc, o, file), columns, source)
    elif "p" in o.flags:
        _plain(proc, o, file, columns)
    else:
        _dump(proc, o, file, columns, start)
    return 0


def _limited(proc: Process, o: Options, file: OpenFile) -> bytes:
    data = read_all(proc, file)
    return data if o.length is None else data[:o.length]


def _plain(proc: Process, o: Options, file: OpenFile, columns: int) -> None:
    data = _limited(proc, o, file)
    text = data.hex()
    if "u" in o.flags:
        text = text.upper()
    width = columns * 2 if o.columns != 0 else len(text) or 1
    for at in range(0, len(text), width * 512):
        part = text[at:at + width * 512]
        proc.stdout.write("".join(part[i:i + width] + "\n" for i in range(0, len(part), width)).encode())
        proc.check()


def _include(proc: Process, o: Options, data: bytes, columns: int, source: str) -> None:
    named = source != "-" or o.name is not None
    name = o.name if o.name is not None else source
    name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if name[:1].isdigit():
        name = "__" + name
    if "C" in o.flags:
        name = name.upper()
    form = "0b{:08b}" if "b" in o.flags else "0X{:02X}" if "u" in o.flags else "0x{:02x}"
    lines = []
    for at in range(0, len(data), columns):
        lines.append("  " + ", ".join(form.format(b) for b in data[at:at + columns]))
    body = ",\n".join(lines) + ("\n" if lines else "")
    if named:
        tail = "_LEN" if "C" in o.flags else "_len"
        body = f"unsigned char {name}[] = {{\n{body}}};\nunsigned int {name}{tail} = {len(data)};\n"
    proc.stdout.write(encode(body))


def _dump(proc: Process, o: Options, file: OpenFile, columns: int, start: int) -> None:
    flags = o.flags
    group = o.group if o.group is not None else 1 if "b" in flags else 4 if "e" in flags else 2
    if group < 1 or group > columns:
        group = columns
    little = "e" in flags
    upper = "u" in flags
    per_byte = 8 if "b" in flags else 2
    width = columns * per_byte + (columns - 1) // group if not little else \
        -(-columns // group) * (group * 2 + 1) - 1
    address, left = start + o.offset, o.length
    skipped = 0
    last_block = b""
    while left is None or left > 0:
        data = b""
        want = columns * 2048 if left is None else min(columns * 2048, left)
        while len(data) < want:
            piece = file.read(want - len(data))
            if not piece:
                break
            data += piece
        if not data:
            break
        if left is not None:
            left -= len(data)
        out = []
        for at in range(0, len(data), columns):
            block = data[at:at + columns]
            if "a" in flags and not block.strip(b"\0") and len(block) == columns and last_block == block:
                skipped += 1
                if skipped == 1:
                    out.append("*\n")
                address += columns
                continue
            skipped = 0
            last_block = block
            if per_byte == 8:
                texts = [f"{b:08b}" for b in block]
                cells = "".join(t + (" " if (n + 1) % group == 0 else "") for n, t in enumerate(texts))
            elif little:
                cells = ""
                for n in range(0, len(block), group):
                    cells += block[n:n + group][::-1].hex().rjust(group * 2) + " "
            else:
                cells = block.hex(" ", -group)
            if upper:
                cells = cells.upper()
            shown = block.translate(PRINTABLE).decode("ascii")
            label = f"{address:08d}" if "d" in flags else f"{address:08x}"
            out.append(f"{label}: {cells.rstrip(' ').ljust(width)}  {shown}\n" if not little else
                       f"{label}: {cells[:-1].ljust(width)}  {shown}\n")
            address += len(block)
        proc.stdout.write("".join(out).encode())
        proc.check()


def _revert(proc: Process, o: Options, file: OpenFile) -> int:
    data = read_all(proc, file)
    if "p" in o.flags:
        text = re.sub(rb"[^0-9A-Fa-f]", b"", data)
        proc.stdout.write(bytes.fromhex(text[:len(text) // 2 * 2].decode()))
        return 0
    columns = o.columns or 16
    written = 0
    for line in data.splitlines():
        found = re.match(rb"[ \t]*([0-9a-fA-F]+):?[ \t]*", line)
        if not found:
            continue
        address = int(found[1], 16) + o.seek
        rest = line[found.end():]
        out = bytearray()
        position, blanks = 0, 0
        while position < len(rest) and len(out) < columns:
            pair = re.match(rb"[0-9a-fA-F]{2}", rest[position:position + 2])
            if pair:
                out.append(int(pair[0], 16))
                position += 2
                blanks = 0
            elif rest[position:position + 1] in (b" ", b"\t"):
                blanks += 1
                if blanks > 1 and "e" not in o.flags:
                    break
                position += 1
            else:
                break
        target = proc.file(1)
        if not out:
            continue
        if address != written:
            if target.seekable:
                proc.stdout.flush()
                target.seek(address)
            elif address > written:
                gap = address - written
                proc.kernel.fits(gap)
                proc.stdout.write(b"\0" * gap)
            else:
                proc.message("Sorry, cannot seek backwards.")
                return 5
            written = address
        proc.stdout.write(bytes(out))
        written += len(out)
    return 0
