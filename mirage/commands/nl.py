"""nl: number lines of files (GNU coreutils 9.7)."""
from __future__ import annotations

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import Inputs, encode, line_lists
from mirage.commands._text import fatal, is_utf8, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.process.process import Process

    Style = Callable[[bytes], bool] | None

SPEC = Spec("b:d:f:h:i:l:n:ps:v:w:", {
    "body-numbering": ("b", REQUIRED), "section-delimiter": ("d", REQUIRED), "footer-numbering": ("f", REQUIRED),
    "header-numbering": ("h", REQUIRED), "line-increment": ("i", REQUIRED), "join-blank-lines": ("l", REQUIRED),
    "number-format": ("n", REQUIRED), "no-renumber": ("p", NONE), "number-separator": ("s", REQUIRED),
    "starting-line-number": ("v", REQUIRED), "number-width": ("w", REQUIRED)}, help="""\
Usage: NAME [OPTION]... [FILE]...
Write each FILE to standard output, with line numbers added.

  -b, --body-numbering=STYLE      use STYLE for numbering body lines
  -d, --section-delimiter=CC      use CC for logical page delimiters
  -f, --footer-numbering=STYLE    use STYLE for numbering footer lines
  -h, --header-numbering=STYLE    use STYLE for numbering header lines
  -i, --line-increment=NUMBER     line number increment at each line
  -l, --join-blank-lines=NUMBER   group of NUMBER empty lines counted as one
  -n, --number-format=FORMAT      insert line numbers according to FORMAT
  -p, --no-renumber               do not reset line numbers for each section
  -s, --number-separator=STRING   add STRING after (possible) line number
  -v, --starting-line-number=NUMBER  first line number for each section
  -w, --number-width=NUMBER       use NUMBER columns for line numbers
      --help        display this help and exit
      --version     output version information and exit
""")


class Numbering:
    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.styles: dict[str, Style] = {"header": None, "body": _filled, "footer": None}
        self.section = "body"
        self.start = self.step = 1
        self.join = 1
        self.format = "rn"
        self.renumber = True
        self.separator = b"\t"
        self.width = 6
        self.delimiter = b"\\:"
        self.number = 1
        self.blank = 0
        self.every: set[str] = set()

    def line(self, line: bytes) -> bytes:
        mark = self.delimiter
        if mark and line.startswith(mark) and line in (mark * 3, mark * 2, mark):
            self.section = {3: "header", 2: "body", 1: "footer"}[len(line) // len(mark)]
            if self.renumber:
                self.number = self.start
            return b""
        if self.numbered(line):
            text = self.shown() + self.separator
            self.number += self.step
            if not -(1 << 63) <= self.number < 1 << 63:
                raise fatal(self.proc, "line number overflow")
            return text + line
        return b" " * (self.width + len(self.separator)) + line

    def numbered(self, line: bytes) -> bool:
        style = self.styles[self.section]
        if self.section in self.every and self.join > 1:
            if line:
                self.blank = 0
                return True
            self.blank += 1
            if self.blank == self.join:
                self.blank = 0
                return True
            return False
        return style is not None and style(line)

    def shown(self) -> bytes:
        text = str(self.number)
        if self.format == "ln":
            return text.ljust(self.width).encode()
        if self.format == "rz":
            return text.zfill(self.width).encode()
        return text.rjust(self.width).encode()


def _filled(line: bytes) -> bool:
    return bool(line)


def main(proc: Process) -> int:
    given, operands = parse(proc, SPEC)
    n = Numbering(proc)
    bad = False
    for key, value in given:
        if key in ("b", "f", "h"):
            section = {"b": "body", "f": "footer", "h": "header"}[key]
            if not _style(proc, n, section, value):
                proc.message(f"invalid {section} numbering style: {quote(proc, value)}")
                bad = True
        elif key == "d":
            raw = encode(value)
            n.delimiter = raw + b":" if len(raw) == 1 else raw
        elif key == "p":
            n.renumber = False
        elif key == "s":
            n.separator = encode(value)
        elif key == "n":
            if value not in ("ln", "rn", "rz"):
                proc.message(f"invalid line numbering format: {quote(proc, value)}")
                bad = True
            n.format = value
        elif key == "v":
            n.start = _integer(proc, value, "starting line number", None)
        elif key == "i":
            n.step = _integer(proc, value, "line number increment", None)
        elif key == "l":
            n.join = _integer(proc, value, "line number of blank lines", 1)
        elif key == "w":
            n.width = _integer(proc, value, "line number field width", 1)
    if bad:
        proc.write_error(f"Try '{proc.name} --help' for more information.\n")
        return 1
    if n.width > 1 << 20:
        raise usage_error(proc, SPEC, f"invalid line number field width: {quote(proc, str(n.width))}")
    n.number = n.start
    inputs = Inputs(proc, operands)
    for name, file in inputs:
        try:
            for lines in line_lists(proc, file):
                proc.stdout.write(b"\n".join([n.line(line) for line in lines]) + b"\n")
        except OSError as e:
            if e.errno == 32:
                raise
            inputs.fail(name, e)
    return inputs.status


def _style(proc: Process, n: Numbering, section: str, text: str) -> bool:
    n.every.discard(section)
    if text == "a":
        n.styles[section] = lambda line: True
        n.every.add(section)
    elif text == "t":
        n.styles[section] = _filled
    elif text == "n":
        n.styles[section] = None
    elif text.startswith("p"):
        from mirage.text.regex import RegexError, compile_bre
        try:
            regex = compile_bre(text[1:], syntax="basic", utf8=is_utf8(proc.env))
        except RegexError as e:
            raise fatal(proc, str(e)) from None
        n.styles[section] = regex.test
    else:
        return False
    return True


def _integer(proc: Process, text: str, what: str, least: int | None) -> int:
    body = text[1:] if text[:1] in ("+", "-") else text
    if not (body.isdecimal() and body.isascii()):
        raise fatal(proc, f"invalid {what}: {quote(proc, text)}")
    value = int(text)
    if least is not None and value < least or not -(1 << 63) <= value < 1 << 63:
        large = abs(value) >= 1 << 63
        reason = "Value too large for defined data type" if large else "Numerical result out of range"
        raise fatal(proc, f"invalid {what}: {quote(proc, text)}: {reason}")
    return value
