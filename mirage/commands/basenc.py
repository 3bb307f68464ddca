"""basenc: base64, base32, base16, bit strings and Z85."""
from __future__ import annotations

import re

from mirage.commands import base64 as base64_tool
from mirage.commands._getopt import NONE, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import open_input, read_all
from mirage.commands._text import extra_operand, fatal, parse_size, quote, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

KINDS = ("base64", "base64url", "base32", "base32hex", "base16", "base2msbf", "base2lsbf", "z85")
SPEC = Spec("diw:", {**{kind: (kind, NONE) for kind in KINDS}, "decode": ("d", NONE), "ignore-garbage": ("i", NONE),
                     "wrap": ("w", REQUIRED)},
            help="Usage: NAME [OPTION]... [FILE]\n"
                 "basenc encode or decode FILE, or standard input, to standard output.\n")
Z85 = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
B85 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
HEX32 = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", b"0123456789ABCDEFGHIJKLMNOPQRSTUV")
UNHEX32 = bytes.maketrans(b"0123456789ABCDEFGHIJKLMNOPQRSTUV", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
ALPHABETS = {"base64": rb"A-Za-z0-9+/=", "base64url": rb"A-Za-z0-9_\-=", "base32": rb"A-Z2-7=",
             "base32hex": rb"0-9A-V=",
             "base16": rb"0-9A-Fa-f", "base2msbf": rb"01", "base2lsbf": rb"01", "z85": re.escape(Z85)}
REVERSED = bytes(int(f"{b:08b}"[::-1], 2) for b in range(256))


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    kind, decoding, garbage, wrap = "", False, False, 76
    for key, value in options:
        if key == "w":
            size = parse_size(value, "")
            if size is None:
                raise fatal(proc, f"invalid wrap size: {quote(proc, value)}")
            wrap = size
        elif key == "d":
            decoding = True
        elif key == "i":
            garbage = True
        else:
            kind = key
    if not kind:
        raise usage_error(proc, SPEC, "missing encoding type")
    if len(operands) > 1:
        raise extra_operand(proc, SPEC, operands[1])
    name = operands[0] if operands else "-"
    try:
        file = open_input(proc, name).incref()
    except IsADirectoryError as e:
        raise fatal(proc, f"read error: {e.strerror}") from None
    except OSError as e:
        raise fatal(proc, f"{shell_quote(name)}: {e.strerror}") from None
    try:
        data = read_all(proc, file)
    finally:
        file.decref()
    proc.kernel.fits(10 * len(data))
    if decoding:
        return _decode(proc, kind, data, garbage)
    if kind == "z85" and len(data) % 4:
        raise fatal(proc, "invalid input (length must be multiple of 4 characters)")
    _wrapped(proc, encoded(kind, data), wrap)
    return 0


def _wrapped(proc: Process, text: bytes, wrap: int) -> None:
    column = base64_tool._wrapped(proc, text, wrap, 0)
    if wrap and column:
        proc.stdout.write(b"\n")


def encoded(kind: str, data: bytes) -> bytes:
    """All of `data` in this encoding, without line breaks."""
    import base64
    if kind == "base64":
        return base64.b64encode(data)
    if kind == "base64url":
        return base64.urlsafe_b64encode(data)
    if kind == "base32":
        return base64.b32encode(data)
    if kind == "base32hex":
        return base64.b32encode(data).translate(HEX32)
    if kind == "base16":
        return data.hex().upper().encode()
    if kind == "z85":
        return base64.b85encode(data).translate(bytes.maketrans(B85, Z85))
    if kind == "base2lsbf":
        data = data.translate(REVERSED)
    return bin(int.from_bytes(b"\1" + data, "big"))[3:].encode() if data else b""


def _decode(proc: Process, kind: str, data: bytes, garbage: bool) -> int:
    data = data.replace(b"\n", b"")
    alphabet = ALPHABETS[kind]
    if garbage:
        data = re.sub(rb"[^" + alphabet + rb"]+", b"", data)
    if kind in ("base64", "base64url", "base32", "base32hex"):
        if kind == "base64url":
            bad = re.search(rb"[^" + alphabet + rb"]", data)
            valid = data[:bad.start()] if bad else data
            data = valid.translate(bytes.maketrans(b"-_", b"+/")) + (b"\0" if bad else b"")
        elif kind == "base32hex":
            bad = re.search(rb"[^" + alphabet + rb"]", data)
            data = (data[:bad.start()] if bad else data).translate(UNHEX32) + (b"\0" if bad else b"")
        return base64_tool.decode_bytes(proc, data, kind.startswith("base32"))
    unit = {"base16": 2, "z85": 5}.get(kind, 8)
    found = re.match(rb"[" + alphabet + rb"]*", data)
    good = found[0] if found else b""
    whole = len(good) - len(good) % unit
    proc.stdout.write(_decoded(kind, good[:whole]))
    if whole != len(data):
        proc.stdout.flush()
        proc.message("invalid input")
        return 1
    return 0


def _decoded(kind: str, text: bytes) -> bytes:
    import base64
    if not text:
        return b""
    if kind == "base16":
        return bytes.fromhex(text.decode())
    if kind == "z85":
        return base64.b85decode(text.translate(bytes.maketrans(Z85, B85)))
    out = int(text, 2).to_bytes(len(text) // 8, "big")
    return out.translate(REVERSED) if kind == "base2lsbf" else out
