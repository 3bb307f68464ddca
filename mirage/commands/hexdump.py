"""hexdump: files in hexadecimal, decimal, octal or a format of one's own (util-linux)."""
from __future__ import annotations

import re
import struct

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse
from mirage.commands._io import decode, encode, open_input, read_all
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.files import OpenFile
    from mirage.process.process import Process

HELP = """
Usage:
 NAME [options] <file>...

Display file contents in hexadecimal, decimal, octal, or ascii.

Options:
 -b, --one-byte-octal      one-byte octal display
 -c, --one-byte-char       one-byte character display
 -C, --canonical           canonical hex+ASCII display
 -d, --two-bytes-decimal   two-byte decimal display
 -o, --two-bytes-octal     two-byte octal display
 -x, --two-bytes-hex       two-byte hexadecimal display
 -X, --one-byte-hex        one-byte hexadecimal display
 -e, --format <format>     format string to be used for displaying data
 -f, --format-file <file>  file that contains format strings
 -L, --color[=<mode>]      interpret color formatting specifiers
 -n, --length <length>     interpret only length bytes of input
 -s, --skip <offset>       skip offset bytes from the beginning
 -v, --no-squeezing        output identical lines

 -h, --help                display this help
 -V, --version             display version
"""
SPEC = Spec("bcCdoxXe:f:L::n:s:vhV", {
    "one-byte-octal": ("b", NONE), "one-byte-char": ("c", NONE), "canonical": ("C", NONE),
    "two-bytes-decimal": ("d", NONE), "two-bytes-octal": ("o", NONE), "two-bytes-hex": ("x", NONE),
    "one-byte-hex": ("X", NONE), "format": ("e", REQUIRED), "format-file": ("f", REQUIRED), "color": ("L", OPTIONAL),
    "length": ("n", REQUIRED), "skip": ("s", REQUIRED), "no-squeezing": ("v", NONE), "help": ("h", NONE),
    "version": ("V", NONE)}, help=HELP)
ADDRESS = ('"%07.7_Ax\n"',)
BUILTIN = {
    "b": (*ADDRESS, '"%07.7_ax " 16/1 "%03o " "\\n"'), "c": (*ADDRESS, '"%07.7_ax " 16/1 "%3_c " "\\n"'),
    "C": ('"%08.8_Ax\n"', '"%08.8_ax  " 8/1 "%02x " "  " 8/1 "%02x " ', '"  |" 16/1 "%_p" "|\\n"'),
    "d": (*ADDRESS, '"%07.7_ax " 8/2 "  %05u " "\\n"'), "o": (*ADDRESS, '"%07.7_ax " 8/2 " %06o " "\\n"'),
    "x": (*ADDRESS, '"%07.7_ax " 8/2 "   %04x " "\\n"'), "X": (*ADDRESS, '"%07.7_ax " 16/1 " %02x " "\\n"'),
    "": (*ADDRESS, '"%07.7_ax " 8/2 "%04x " "\\n"')}
CONTROLS = ("nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "lf", "vt", "ff", "cr", "so", "si",
            "dle",
            "dcl", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub", "esc", "fs", "gs", "rs", "us")
ESCAPES = {0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}
PRINTABLE = bytes(b if 32 <= b < 127 else 46 for b in range(256))
_UNIT = re.compile(r'\s*(?:([0-9]+)\s*(?:/\s*([0-9]+))?|/\s*([0-9]+))?\s*"((?:[^"\\]|\\.)*)"\s*', re.DOTALL)
_CONVERSION = re.compile(r"%([-+ 0#]*)([0-9]*)(?:\.([0-9]+))?(_A[dox]|_a[dox]|_[cpu]|_L\[[^\]]*\]|[a-zA-Z%]|)")
_SIZES = {"c": (1,), "d": (4, 1, 2, 8), "i": (4, 1, 2, 8), "o": (4, 1, 2, 8), "u": (4, 1, 2, 8), "x": (4, 1, 2, 8),
          "X": (4, 1, 2, 8), "e": (8, 4), "E": (8, 4), "f": (8, 4), "g": (8, 4), "G": (8, 4)}


class Piece:
    """One conversion with the text before it; `size` bytes of the input (0: text or an address)."""

    __slots__ = ("flags", "kind", "known", "precision", "size", "text", "width")

    def __init__(self, text: str, kind: str = "", flags: str = "", width: str = "", precision: str = "",
                 size: int = 0) -> None:
        self.text = text
        self.kind = kind
        self.flags = flags
        self.width = width
        self.precision = precision
        self.size = size
        self.known: dict[bytes, str] = {}                    # texts of what was shown before, for sizes up to 2


class Unit:
    def __init__(self, repeat: int | None, size: int, pieces: list[Piece], tail: str) -> None:
        self.set_repeat = repeat is not None
        self.repeat = 1 if repeat is None else repeat
        self.pieces = pieces
        self.size = size or sum(p.size for p in pieces)
        self.tail = tail                                     # text behind the last conversion


def _fatal(proc: Process, text: str) -> Exit:
    proc.stdout.flush()
    proc.message(text)
    return Exit(1)


def parse_format(proc: Process, text: str) -> list[Unit]:
    """The units of one format string."""
    units, at = [], 0
    while at < len(text.rstrip()):
        found = _UNIT.match(text, at)
        if not found:
            raise _fatal(proc, f"bad format {{{text}}}")
        at = found.end()
        repeat, size, body = found[1], found[2] or found[3], _unescape(found[4])
        units.append(_unit(proc, int(repeat[:6]) if repeat else None, int(size[:6]) if size else 0, body))
    return units


def _unescape(text: str) -> str:
    table = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
    return re.sub(r"\\(.)", lambda m: table.get(m[1], m[1]), text, flags=re.DOTALL)


def _unit(proc: Process, repeat: int | None, size: int, body: str) -> Unit:
    pieces: list[Piece] = []
    before, at = "", 0
    for found in _CONVERSION.finditer(body):
        before += body[at:found.start()]
        at = found.end()
        flags, width, precision, kind = found[1], found[2], found[3] or "", found[4]
        if kind == "%":
            before += "%"
            continue
        if kind.startswith("_L"):
            continue
        if kind[:2] in ("_A", "_a"):
            length = 0
        elif kind[:1] == "_":
            length = size or 1
            if length != 1:
                raise _fatal(proc, f"bad byte count for conversion character {kind}")
        elif kind == "s":
            length = size or int(precision or 0)
            if not length:
                raise _fatal(proc, "%s requires a precision or a byte count")
        elif kind in _SIZES:
            length = size or _SIZES[kind][0]
            if length not in _SIZES[kind]:
                raise _fatal(proc, f"bad byte count for conversion character {kind}")
        else:
            raise _fatal(proc, f"bad conversion character %{kind}")
        pieces.append(Piece(before, kind, flags, width, precision, length))
        before = ""
    if size and sum(1 for p in pieces if p.size) > 1:
        raise _fatal(proc, "byte count with multiple conversion characters")
    return Unit(repeat, size if not pieces else 0, pieces, before + body[at:])


class Dump:
    def __init__(self, proc: Process, formats: list[list[Unit]], squeeze: bool, form: str | None) -> None:
        self.proc = proc
        self.form = form                                     # the only format, if it is a built-in one
        self.formats = formats
        self.squeeze = squeeze
        self.block = max([sum(u.size * u.repeat for u in f) for f in formats] + [0])
        self.end_unit: Unit | None = None                    # the last one with the address at the end
        self.end_units: list[Unit] = []
        for units in formats:
            used = sum(u.size * u.repeat for u in units)
            if units and used < self.block and not units[-1].set_repeat and units[-1].size:
                units[-1].repeat += (self.block - used) // units[-1].size
            for unit in units:
                if any(p.kind.startswith("_A") for p in unit.pieces):
                    self.end_unit = unit
                    self.end_units.append(unit)

    def run(self, data: bytes, address: int) -> None:
        """All of the input, of which the first byte has this address."""
        proc, size = self.proc, self.block
        if not size:
            return
        previous, starred, end = None, False, address + len(data)
        out: list[str] = []
        for at in range(0, len(data), size):
            block = data[at:at + size]
            if self.squeeze and block == previous:
                if not starred:
                    out.append("*\n")
                    starred = True
                continue
            previous, starred = block, False
            self._lines(out, block, address + at, end)
            if len(out) > 2000:
                proc.stdout.write(encode("".join(out)))
                out = []
                proc.check()
        if self.end_unit is not None and (data or address):
            for piece in self.end_unit.pieces:
                out.append(piece.text + _number(piece, end, piece.kind[2]))
            out.append(self.end_unit.tail)
        proc.stdout.write(encode("".join(out)))

    def _lines(self, out: list[str], block: bytes, address: int, end: int) -> None:
        if self.form == "C":
            text = block.hex(" ")
            out.append(f"{address:08x}  {text[:23]:23}  {text[24:]:23}  "
                       f"|{block.translate(PRINTABLE).decode('ascii')}|\n")
            return
        if self.form in ("", "x") and len(block) == 16:
            swapped = bytearray(16)
            swapped[0::2], swapped[1::2] = block[1::2], block[0::2]
            text = swapped.hex(" ", 2)
            out.append(f"{address:07x} {text if not self.form else '   ' + text.replace(' ', '    ')}\n")
            return
        for units in self.formats:
            self._line(out, units, block, address, end)

    def _line(self, out: list[str], units: list[Unit], block: bytes, address: int, end: int) -> None:
        at = 0
        for unit in units:
            if unit in self.end_units:
                return
            for turn in range(unit.repeat):
                tail = unit.tail
                if turn == unit.repeat - 1 and unit.repeat > 1 and tail[-1:].isspace():
                    tail = tail[:-1]
                for piece in unit.pieces:
                    if piece.size and at >= len(block) or not piece.size and address + at >= end:
                        out.append(piece.text + " " * int(piece.width or 0))
                    else:
                        data = block[at:at + piece.size]
                        text = piece.known.get(data) if piece.size else None
                        if text is None:
                            text = piece.text + _shown(piece, data, address + at)
                            if 0 < piece.size < 3:
                                piece.known[data] = text
                        out.append(text)
                    at += piece.size
                out.append(tail)
                if not unit.pieces:
                    at += unit.size


def _number(piece: Piece, value: int, kind: str) -> str:
    kind = {"i": "d", "u": "d"}.get(kind, kind)
    precision = f".{piece.precision}" if piece.precision else ""
    return f"%{piece.flags}{piece.width}{precision}{kind}" % value


def _shown(piece: Piece, data: bytes, address: int) -> str:
    kind, width = piece.kind, f"%{piece.flags.replace('0', '')}{piece.width}s"
    if kind[:2] == "_a":
        return _number(piece, address, kind[2])
    data = data.ljust(piece.size, b"\0")
    byte = data[0]
    if kind == "_p":
        return width % (chr(byte) if 32 <= byte < 127 else ".")
    if kind == "_c":
        return width % ESCAPES.get(byte, chr(byte) if 32 <= byte < 127 else f"{byte:03o}")
    if kind == "_u":
        return width % (CONTROLS[byte] if byte < 32 else "del" if byte == 127 else chr(byte) if byte < 127
                        else f"{byte:02x}")
    if kind == "c":
        return width % decode(data[:1])
    if kind == "s":
        return width % decode(data.partition(b"\0")[0])
    if kind in "eEfgG":
        precision = f".{piece.precision}" if piece.precision else ""
        return f"%{piece.flags}{piece.width}{precision}{kind}" % struct.unpack("<d" if piece.size == 8 else "<f", data)
    return _number(piece, int.from_bytes(data, "little", signed=kind in "di"), kind)


def _size(proc: Process, text: str, what: str) -> int:
    found = re.fullmatch(r"(0[xX][0-9a-fA-F]+|[0-9]+)([KMGTPEZY]?)(iB|B|)|(?i:([0-9]+)(b|k|m))", text)
    if not found:
        raise _fatal(proc, f"failed to parse {what}: '{text}': Invalid argument")
    if found[4]:
        return int(found[4]) * {"b": 512, "k": 1024, "m": 1 << 20}[found[5].lower()]
    digits = found[1]
    value = int(digits, 16 if digits[:2] in ("0x", "0X") else 8 if digits.startswith("0") and digits != "0"
                and set(digits) <= set("01234567") else 10)
    power = " KMGTPEZY".index(found[2]) if found[2] else 0
    return int(value * (1000 if found[3] == "B" and found[2] else 1024) ** power)


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    texts: list[str] = ["C"] if proc.name == "hd" else []
    formats: list[list[Unit]] = []
    if texts:
        formats += [parse_format(proc, text) for text in BUILTIN["C"]]
    limit: int | None = None
    skip, squeeze = 0, True
    for key, value in options:
        if key == "h":
            proc.stdout.write(HELP.replace("NAME", proc.name).encode())
            return 0
        if key == "V":
            proc.stdout.write(f"{proc.name} (Mirage)\n".encode())
            return 0
        if key == "e":
            formats.append(parse_format(proc, value))
        elif key == "f":
            try:
                text = proc.fs.read(value).decode("utf-8", "surrogateescape")
            except OSError as e:
                raise _fatal(proc, f"can't read {value}: {e.strerror}") from None
            formats += [parse_format(proc, line) for line in text.splitlines() if line.strip()
                        and not line.lstrip().startswith("#")]
        elif key == "n":
            limit = _size(proc, value, "length")
        elif key == "s":
            skip = _size(proc, value, "offset")
        elif key == "v":
            squeeze = False
        elif key != "L":
            formats += [parse_format(proc, text) for text in BUILTIN[key]]
    if not formats:
        formats = [parse_format(proc, text) for text in BUILTIN[""]]
    data, address, status = _input(proc, operands, skip, limit)
    chosen = [key for key, _ in options if key in BUILTIN or key in "ef"] + (["C"] if proc.name == "hd" else [])
    form = chosen[0] if len(chosen) == 1 and chosen[0] in BUILTIN else None if chosen else ""
    Dump(proc, formats, squeeze, form).run(data, address)
    return status


def _input(proc: Process, names: list[str], skip: int, limit: int | None) -> tuple[bytes, int, int]:
    """(what to show, its address, status): all operands as one stream."""
    parts: list[bytes] = []
    status, left, opened = 0, skip, 0
    for name in names or ["-"]:
        if limit is not None and sum(map(len, parts)) >= limit and parts:
            break
        try:
            file = (open_input(proc, name) if names else proc.file(0)).incref()
        except OSError as e:
            proc.stdout.flush()
            proc.fail(name, e)
            if isinstance(e, IsADirectoryError):
                opened += 1
            else:
                status = 1
            continue
        opened += 1
        try:
            data = _read(proc, file, left, limit)
        except OSError as e:
            proc.fail(name, e)
            status = 1
            continue
        finally:
            file.decref()
        dropped = min(left, len(data))
        left -= dropped
        parts.append(data[dropped:])
    if not opened:
        raise _fatal(proc, "all input file arguments failed")
    whole = b"".join(parts)
    return (whole if limit is None else whole[:limit]), skip - left, status


def _read(proc: Process, file: OpenFile, skip: int, limit: int | None) -> bytes:
    if limit is None:
        return read_all(proc, file)
    want, parts, got = skip + limit, [], 0
    proc.kernel.fits(min(want, 1 << 40))
    while got < want and (data := file.read(min(1 << 16, want - got))):
        parts.append(data)
        got += len(data)
        proc.check()
    return b"".join(parts)
