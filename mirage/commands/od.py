"""od: dump files in octal and other forms."""
from __future__ import annotations

import re
import struct

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse
from mirage.commands._io import open_input
from mirage.commands._text import fatal, parse_size, quote, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.process.files import OpenFile
    from mirage.process.process import Process

SPEC = Spec("A:aBbcDdeFfHhIij:LlN:OoS:st:vw::Xx", {
    "address-radix": ("A", REQUIRED), "endian": ("endian", REQUIRED), "skip-bytes": ("j", REQUIRED),
    "read-bytes": ("N", REQUIRED), "strings": ("S", OPTIONAL), "format": ("t", REQUIRED),
    "output-duplicates": ("v", NONE), "width": ("w", OPTIONAL), "traditional": ("traditional", NONE)},
    help="Usage: NAME [OPTION]... [FILE]...\n  or:  NAME [-abcdfilosx]... [FILE] [[+]OFFSET[.][b]]\n"
         "Write an unambiguous representation, octal bytes by default,\nof FILE to standard output.\n")

TRADITIONAL = {"a": "a", "b": "o1", "c": "c", "d": "u2", "D": "u4", "e": "fD", "f": "fF", "F": "fD", "h": "x2",
               "H": "x4",
               "i": "dI", "I": "dL", "l": "dL", "L": "dL", "o": "o2", "O": "o4", "B": "o2", "s": "d2", "x": "x2",
               "X": "x4"}
NAMED = ("nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "nl", "vt", "ff", "cr", "so", "si", "dle",
         "dc1", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub", "esc", "fs", "gs", "rs", "us", "sp")
ESCAPES = {0: "\\0", 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}
SIZES = {"C": 1, "S": 2, "I": 4, "L": 8}
FLOATS = {"F": 4, "D": 8, "L": 16, "H": 2, "B": 2}
OCTAL_WIDTH, DECIMAL_WIDTH, UNSIGNED_WIDTH = {1: 3, 2: 6, 4: 11, 8: 22}, {1: 4, 2: 6, 4: 11, 8: 20}, {1: 3, 2: 5,
    4: 10, 8: 20}


ADDRESS = {"o": "%07o", "d": "%07d", "x": "%06x"}


class Format:
    """One output line per block: `size` bytes a field, `width` columns, `trailer` adds the printable column."""

    __slots__ = ("pad", "show", "single", "size", "trailer", "width")

    def __init__(self, size: int, width: int, show: Callable[[bytes], list[str]], trailer: bool,
                 single: str | None = None) -> None:
        self.single = single                                 # kind and size where a field depends on its bytes alone
        self.size = size
        self.width = width
        self.show = show
        self.trailer = trailer
        self.pad = 0


def _integers(kind: str, size: int, order: str) -> tuple[int, Callable[[bytes], list[str]]]:
    letter = {1: "b", 2: "h", 4: "i", 8: "q"}[size]
    code = letter if kind == "d" else letter.upper()

    def values(block: bytes) -> tuple[int, ...]:
        return struct.unpack(f"{order}{len(block) // size}{code}", block)
    if kind == "o":
        width = OCTAL_WIDTH[size]
        return width, lambda block: [f"{v:0{width}o}" for v in values(block)]
    if kind == "x":
        return size * 2, lambda block: [f"{v:0{size * 2}x}" for v in values(block)]
    width = DECIMAL_WIDTH[size] if kind == "d" else UNSIGNED_WIDTH[size]
    return width, lambda block: [str(v) for v in values(block)]


def shortest(value: float, single: bool) -> str:
    """The fewest %g digits that give the same number back."""
    if value != value:
        return "-nan" if struct.pack(">d", value)[0] & 0x80 else "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    smallest = 1.1754943508222875e-38 if single else 2.2250738585072014e-308
    for digits in range(1 if 0 < abs(value) < smallest else 6 if single else 15, 18):
        text = f"{value:.{digits}g}"
        back = float(text)
        if single:
            try:
                back = struct.unpack("f", struct.pack("f", back))[0]
            except OverflowError:
                continue
        if back == value:
            return text
    return repr(value)


def _floats(size: int, order: str) -> tuple[int, Callable[[bytes], list[str]]]:
    code, width = {2: ("e", 15), 4: ("f", 15), 8: ("d", 24), 16: ("", 44)}[size]
    if size == 16:
        def extended(block: bytes) -> list[str]:
            out = []
            for at in range(0, len(block), 16):
                mantissa, power = struct.unpack("<QH", block[at:at + 10])
                value = mantissa * 2.0 ** max(-1074 - 63, min(1000, (power & 0x7FFF) - 16383 - 63)) if mantissa else 0.0
                out.append(shortest(-value if power & 0x8000 else value, False))
            return out
        return width, extended
    return width, lambda block: [shortest(v, size != 8) for v in struct.unpack(f"{order}{len(block) // size}{code}",
                                                                               block)]


def _named(block: bytes) -> list[str]:
    return [NAMED[b & 127] if b & 127 < 33 else "del" if b & 127 == 127 else chr(b & 127) for b in block]


def _chars(block: bytes) -> list[str]:
    return [ESCAPES[b] if b in ESCAPES else chr(b) if 32 <= b < 127 else f"{b:03o}" for b in block]


def parse_formats(proc: Process, text: str, order: str) -> list[Format]:
    """The TYPE of -t: letters with sizes, `z` for the printable column."""
    out: list[Format] = []
    at = 0
    while at < len(text):
        found = re.compile(r"([acdfoux])([CSIL]|[FDHB]|[0-9]+)?(z*)").match(text, at)
        if not found:
            raise fatal(proc, f"invalid character '{text[at]}' in type string {quote(proc, text)}")
        kind, size_text, trailer = found.groups()
        at = found.end()
        if kind in "ac":
            if size_text:
                at = found.start() + 1
                bad = text[at]
                raise fatal(proc, f"invalid character '{bad}' in type string {quote(proc, text)}")
            out.append(Format(1, 3, _named if kind == "a" else _chars, bool(trailer), kind))
            continue
        if kind == "f":
            size = FLOATS.get(size_text or "D") or (int(size_text) if size_text and size_text.isdecimal() else 0)
            if size not in (2, 4, 8, 16):
                raise fatal(proc, f"invalid type string {quote(proc, text)};\nthis system doesn't provide a "
                                  f"{size}-byte "
                            "floating point type")
            width, show = _floats(size, order)
        else:
            size = SIZES.get(size_text or "I") or (int(size_text) if size_text and size_text.isdecimal() else 0)
            if size not in (1, 2, 4, 8):
                raise fatal(proc, f"invalid type string {quote(proc, text)};\nthis system doesn't provide a "
                                  f"{size}-byte "
                            "integral type")
            width, show = _integers(kind, size, order)
        out.append(Format(size, width, show, bool(trailer), None if kind == "f" else f"{kind}{size}"))
    return out


class Source:
    """All inputs as one stream."""

    def __init__(self, proc: Process, names: list[str]) -> None:
        self.proc = proc
        self.names = list(names)
        self.names.reverse()
        self.file: OpenFile | None = None
        self.opened = False
        self.status = 0

    def read(self, size: int) -> bytes:
        parts = []
        while size > 0:
            if self.file is None:
                if not self.names:
                    break
                name = self.names.pop()
                try:
                    self.file = open_input(self.proc, name).incref()
                    self.opened = True
                except OSError as e:
                    self.proc.stdout.flush()
                    self.proc.fail(shell_quote(name) if not isinstance(e, IsADirectoryError)
                                   else f"{name}: read error", e)
                    self.status = 1
                    continue
            data = self.file.read(size)
            if not data:
                self.file.decref()
                self.file = None
                continue
            parts.append(data)
            size -= len(data)
        return parts[0] if len(parts) == 1 else b"".join(parts)


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    formats_text: list[str] = []
    radix, skip, limit, width, duplicates = "o", 0, None, None, False
    strings: int | None = None
    order = "<"
    for key, value in options:
        if key == "endian":
            order = ">" if "big".startswith(value) and value else "<"
    for key, value in options:
        if key == "A":
            if value[:1] not in ("d", "o", "x", "n") or len(value) != 1:
                raise fatal(proc, f"invalid output address radix '{value[:1]}'; it must be one character from [doxn]")
            radix = value
        elif key == "j":
            skip = _bytes(proc, value, "-j")
        elif key == "N":
            limit = _bytes(proc, value, "-N")
        elif key == "S":
            strings = _bytes(proc, value, "-S") if value else 3
        elif key == "t":
            formats_text.append(value)
        elif key == "v":
            duplicates = True
        elif key == "w":
            width = _bytes(proc, value, "-w") if value else 32
        elif key in TRADITIONAL:
            formats_text.append(TRADITIONAL[key])
    if strings is not None and formats_text:
        raise fatal(proc, "no type may be specified when dumping strings")
    formats = [f for text in formats_text for f in parse_formats(proc, text, order)] or parse_formats(proc, "o2", order)
    if operands and len(operands) <= 2 and not options:
        operands, skip = _offset(operands, skip)
    source = Source(proc, operands or ["-"])
    left = skip
    while left > 0:
        data = source.read(min(left, 1 << 20))
        if not data:
            raise fatal(proc, "cannot skip past end of combined input")
        left -= len(data)
    if strings is not None:
        return _strings(proc, source, strings, radix, skip, limit)
    unit = 1
    for f in formats:
        unit = max(unit, f.size)
    if width is None:
        width = max(16 // unit * unit, unit)
    elif width == 0 or width % unit:
        proc.message(f"warning: invalid width {width}; using {unit} instead")
        width = unit
    proc.kernel.fits(width * 16)
    _align(formats, width)
    _dump(proc, source, formats, radix, skip, limit, width, duplicates)
    return source.status


def _bytes(proc: Process, text: str, option: str) -> int:
    size: int | None
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", text):
        size = int(text, 16)
    elif re.fullmatch(r"0[0-7]+", text):
        size = int(text, 8)
    else:
        size = parse_size(text)
    if size is None:
        raise fatal(proc, f"invalid {option} argument '{text}'")
    return size


def _offset(operands: list[str], skip: int) -> tuple[list[str], int]:
    """`od FILE +10` (octal), `+0x10`, `+10.` (decimal), with b for blocks."""
    found = re.fullmatch(r"\+(0[xX][0-9a-fA-F]+|[0-9]+)(\.?)(b?)", operands[-1])
    if not found:
        return operands, skip
    digits = found[1]
    base = 16 if digits[:2] in ("0x", "0X") else 10 if found[2] else 8
    try:
        return operands[:-1], int(digits, base) * (512 if found[3] else 1)
    except ValueError:
        return operands, skip


def _align(formats: list[Format], width: int) -> None:
    """Pad narrow formats so that several of them line up."""
    widest = max((f.width + 1) * (width // f.size) for f in formats)
    for f in formats:
        f.pad = widest - f.width * (width // f.size)


def _address(radix: str, value: int) -> str:
    return ADDRESS[radix] % value if radix != "n" else ""


def _row(f: Format, width: int) -> Callable[[bytes], str] | None:
    """The fields of a full block by one call into C or a table of texts; None where `_fields` has to do it."""
    count = width // f.size
    if f.trailer or f.pad % count or f.single is None:
        return None
    if f.single == "x1" and not f.pad:
        return lambda block: " " + block.hex(" ")
    wide, show, size = f.width + f.pad // count, f.show, f.size
    unpack = struct.Struct(f"<{count}{ {1: 'B', 2: 'H', 4: 'I', 8: 'Q'}[size] }").unpack

    class Texts(dict[int, str]):
        def __missing__(self, value: int) -> str:
            text = show(value.to_bytes(size, "little"))[0].rjust(wide)
            if len(self) < 70000:
                self[value] = text
            return text
    text_of = Texts().__getitem__
    return lambda block: "".join(map(text_of, unpack(block)))


def _dump(proc: Process, source: Source, formats: list[Format], radix: str, address: int, limit: int | None, width: int,
          duplicates: bool) -> None:
    previous, starred = None, False
    rows = [_row(f, width) for f in formats]
    blank = " " * len(_address(radix, 0))
    end = address
    while True:
        size = max(width, 65536 // width * width)
        if limit is not None:
            size = min(size, limit)
        data = source.read(size) if size else b""
        if not data:
            break
        if limit is not None:
            limit -= len(data)
        out = []
        for at in range(0, len(data), width):
            block = data[at:at + width]
            here = end + at
            if not duplicates and block == previous and len(block) == width:
                if not starred:
                    out.append("*\n")
                    starred = True
                continue
            previous, starred = block, False
            for number, f in enumerate(formats):
                row = rows[number]
                text = row(block) if row is not None and len(block) == width else _fields(f, block, width)
                out.append((_address(radix, here) if number == 0 else blank) + text + "\n")
        proc.stdout.write("".join(out).encode("latin-1"))
        end += len(data)
        proc.check()
    if radix != "n" and source.opened:
        proc.stdout.write(_address(radix, end).encode() + b"\n")


def _fields(f: Format, block: bytes, width: int) -> str:
    full = block + b"\0" * (-len(block) % f.size)
    texts = f.show(full)
    count = width // f.size
    out, left = [], f.pad
    for number, text in enumerate(texts):
        here = f.pad * (count - number) // count - f.pad * (count - number - 1) // count
        out.append(text.rjust(f.width + here))
        left -= here
    line = "".join(out)
    if f.trailer:
        missing = count - len(texts)
        line += " " * (missing * f.width + left)
        line += "  >" + "".join(chr(b) if 32 <= b < 127 else "." for b in block) + "<"
    return line


def _strings(proc: Process, source: Source, least: int, radix: str, address: int, limit: int | None) -> int:
    data = b""
    while block := source.read(min(1 << 20, limit if limit is not None else 1 << 20)):
        data += block
        proc.kernel.fits(len(data))
        if limit is not None:
            limit -= len(block)
            if limit <= 0:
                break
    for found in re.finditer(rb"([ -~]{%d,})\0" % min(least, 65535), data):
        label = _address(radix, address + found.start())
        proc.stdout.write((f"{label} " if radix != "n" else "").encode() + found[1] + b"\n")
    return source.status
