"""base64 and base32: encode or decode."""
from __future__ import annotations

import binascii
import re

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import chunks, open_input, read_all
from mirage.commands._text import extra_operand, fatal, parse_size, quote, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.files import OpenFile
    from mirage.process.process import Process

B64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
B32 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
SPEC = Spec("diw:", {"decode": ("d", NONE), "ignore-garbage": ("i", NONE), "wrap": ("w", REQUIRED)},
            help="Usage: NAME [OPTION]... [FILE]\nEncode or decode FILE, or standard input, to standard output.\n")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    decoding = garbage = False
    wrap = 76
    for key, value in options:
        if key == "d":
            decoding = True
        elif key == "i":
            garbage = True
        else:
            size = parse_size(value, "")
            if size is None:
                raise fatal(proc, f"invalid wrap size: {quote(proc, value)}")
            wrap = size
    if len(operands) > 1:
        raise extra_operand(proc, SPEC, operands[1])
    name = operands[0] if operands else "-"
    base32 = proc.name == "base32"
    try:
        file = open_input(proc, name)
    except IsADirectoryError as e:
        raise fatal(proc, f"read error: {e.strerror}") from None
    except OSError as e:
        raise fatal(proc, f"{shell_quote(name)}: {e.strerror}") from None
    file.incref()
    try:
        if decoding:
            return decode_stream(proc, file, base32, garbage)
        encode_stream(proc, file, base32, wrap)
    finally:
        file.decref()
    return 0


def encode_stream(proc: Process, file: OpenFile, base32: bool, wrap: int) -> None:
    """Encode in pieces; `wrap` 0: one line without an end."""
    import base64
    unit = 5 if base32 else 3
    held, column = b"", 0
    for data in chunks(proc, file, 3 * 5 * 16384):
        data = held + data
        cut = len(data) - len(data) % unit
        held = data[cut:]
        column = _wrapped(proc, base64.b32encode(data[:cut]) if base32 else
                          binascii.b2a_base64(data[:cut], newline=False), wrap, column)
    if held:
        tail = base64.b32encode(held) if base32 else binascii.b2a_base64(held, newline=False)
        column = _wrapped(proc, tail, wrap, column)
    if wrap and column:
        proc.stdout.write(b"\n")


def _wrapped(proc: Process, text: bytes, wrap: int, column: int) -> int:
    if not wrap:
        proc.stdout.write(text)
        return column
    if not text:
        return column
    head = text[:wrap - column]
    pieces = [head] + [text[i:i + wrap] for i in range(len(head), len(text), wrap)]
    out = b"\n".join(pieces)
    column = column + len(head) if len(pieces) == 1 else len(pieces[-1])
    if column == wrap:
        out += b"\n"
        column = 0
    proc.stdout.write(out)
    return column


def decode_stream(proc: Process, file: OpenFile, base32: bool, garbage: bool) -> int:
    data = read_all(proc, file).replace(b"\n", b"")
    if garbage:
        data = re.sub(rb"[^A-Z2-7=]+" if base32 else rb"[^A-Za-z0-9+/=]+", b"", data)
    return decode_bytes(proc, data, base32)


def decode_bytes(proc: Process, data: bytes, base32: bool) -> int:
    """Decode a text without newlines; what is right before an error is written."""
    alphabet = rb"A-Z2-7" if base32 else rb"A-Za-z0-9+/"
    unit = 8 if base32 else 4
    valid = True
    position = 0
    size = len(data)
    body = re.compile(rb"[" + alphabet + rb"]*")
    while position < size and valid:
        found = body.match(data, position)
        end = found.end() if found else position
        whole = position + (end - position) // unit * unit
        _emit(proc, data[position:whole], base32)
        position = whole
        if position == size:
            break
        group = data[position:position + unit]
        valid = _group(proc, group, base32)
        position += unit
        proc.check()
    if not valid:
        proc.stdout.flush()
        proc.message("invalid input")
        return 1
    return 0


def _emit(proc: Process, data: bytes, base32: bool) -> None:
    import base64
    proc.stdout.write(base64.b32decode(data) if base32 else binascii.a2b_base64(data))


def _group(proc: Process, group: bytes, base32: bool) -> bool:
    """The last group of a text, padded (or unpadded at the end of the input); False when it is wrong."""
    alphabet = rb"[A-Z2-7]" if base32 else rb"[A-Za-z0-9+/]"
    found = re.match(alphabet + rb"*", group)
    good = found[0] if found else b""
    pad = group[len(good):]
    unit = 8 if base32 else 4
    lengths = {2: 1, 4: 2, 5: 3, 7: 4} if base32 else {2: 1, 3: 2}
    complete = len(group) == unit and pad == b"=" * len(pad) and len(good) in lengths
    unpadded = not pad and len(group) < unit and len(good) in lengths
    usable = max((n for n in lengths if n <= len(good)), default=0)
    if not usable:
        return complete or unpadded
    _partial(proc, good[:usable], base32)
    return (complete or unpadded) and not _left_over(good[usable - 1:usable], lengths[usable], usable, base32)


def _left_over(last: bytes, size: int, count: int, base32: bool) -> int:
    """The bits of the last character that make up no byte: they have to be zero."""
    bits = 5 if base32 else 6
    value = (B32 if base32 else B64).index(last)
    return value & ((1 << (bits * count - 8 * size)) - 1)


def _partial(proc: Process, good: bytes, base32: bool) -> None:
    import base64
    unit = 8 if base32 else 4
    padded = good + b"=" * (unit - len(good))
    proc.stdout.write(base64.b32decode(padded) if base32 else binascii.a2b_base64(padded))
