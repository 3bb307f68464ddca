"""strings: printable texts in binary files (binutils)."""
from __future__ import annotations

import re

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import encode, read_all
from mirage.process.process import refusal_note
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.files import OpenFile
    from mirage.process.process import Process

SPEC = Spec("adfhn:ot:e:s:T:U:wvV", {
    "all": ("a", NONE), "data": ("d", NONE), "print-file-name": ("f", NONE), "bytes": ("n", REQUIRED),
    "radix": ("t", REQUIRED), "encoding": ("e", REQUIRED), "include-all-whitespace": ("w", NONE),
    "output-separator": ("s", REQUIRED), "target": ("T", REQUIRED), "unicode": ("U", REQUIRED)},
    help="Usage: NAME [option(s)] [file(s)]\n Display printable strings in [file(s)] (stdin by default)\n")

RADIX = {"o": "{:7o} ", "d": "{:7d} ", "x": "{:7x} "}


def main(proc: Process) -> int:
    args = []
    rest = proc.argv[1:]
    for number, arg in enumerate(rest):
        if arg == "--":
            args += rest[number:]
            break
        args.append("-n" + arg[1:] if re.fullmatch(r"-[0-9]+", arg) else arg)
    options, operands = parse(proc, SPEC, args)
    least, radix, coding, separator = 4, "", "s", b"\n"
    names = whitespace = False
    for key, value in options:
        if key == "n":
            if not value.isdecimal():
                raise _fatal(proc, f"invalid integer argument {value}")
            least = int(value)
            if least < 1:
                raise _fatal(proc, f"minimum string length is too small: {value}")
        elif key == "t":
            if value not in RADIX:
                _usage(proc)
            radix = value
        elif key == "o":
            radix = "o"
        elif key == "e":
            if value not in ("s", "S", "b", "l", "B", "L"):
                _usage(proc)
            coding = value
        elif key == "s":
            separator = encode(value)
        elif key == "f":
            names = True
        elif key == "w":
            whitespace = True
        elif key in ("v", "V"):
            proc.stdout.write(b"strings (Mirage)\n")
            return 0
        elif key == "h":
            proc.stdout.write(SPEC.help.replace("NAME", "strings").encode())
            return 0
    pattern = _pattern(coding, least, whitespace)
    status = 0
    for name in operands or ["-"]:
        try:
            file = proc.file(0) if name == "-" and not operands else proc.open(name)
            if getattr(getattr(file, "handle", None), "is_dir", False):
                proc.stdout.flush()
                proc.write_error(f"strings: Warning: '{name}' is a directory\n")
                status = 1
                continue
        except FileNotFoundError:
            proc.stdout.flush()
            proc.write_error(f"strings: '{name}': No such file\n")
            status = 1
            continue
        except OSError as e:
            proc.stdout.flush()
            proc.write_error(f"strings: {name}: {e.strerror}\n" + refusal_note(e))
            status = 1
            continue
        label = encode("{standard input}" if not operands else name) + b": " if names else b""
        _print(proc, file, pattern, coding, label, radix, separator)
    return status


def _usage(proc: Process) -> None:
    proc.write_error(SPEC.help.replace("NAME", "strings"))
    raise Exit(1)


def _fatal(proc: Process, text: str) -> Exit:
    proc.message(text)
    return Exit(1)


def _pattern(coding: str, least: int, whitespace: bool) -> re.Pattern[bytes]:
    chars = rb"\t-\r -~" if whitespace else rb"\t -~"
    if coding == "S":
        unit = rb"[" + chars + rb"\x80-\xff]"
    elif coding in "bl":
        unit = rb"(?:\0[" + chars + rb"])" if coding == "b" else rb"(?:[" + chars + rb"]\0)"
    elif coding in "BL":
        unit = rb"(?:\0\0\0[" + chars + rb"])" if coding == "B" else rb"(?:[" + chars + rb"]\0\0\0)"
    else:
        unit = rb"[" + chars + rb"]"
    return re.compile(unit + rb"{%d,}" % min(least, 65535), re.DOTALL)


def _print(proc: Process, file: OpenFile, pattern: re.Pattern[bytes], coding: str, label: bytes, radix: str,
           separator: bytes) -> None:
    file.incref()
    try:
        data = read_all(proc, file)
    finally:
        file.decref()
    template = RADIX.get(radix)
    for number, found in enumerate(pattern.finditer(data)):
        text = found[0].replace(b"\0", b"") if coding in "blBL" else found[0]
        offset = template.format(found.start()).encode() if template else b""
        proc.stdout.write(label + offset + text + separator)
        if not number & 0xFFF:
            proc.check()
