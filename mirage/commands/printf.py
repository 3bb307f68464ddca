"""printf - format and print data."""
from __future__ import annotations

import re

from mirage.commands._text import quote, shell_quote
from mirage.text import extended
from mirage.text.printf import (
    INTMAX,
    UINTMAX,
    Directive,
    Printf,
    Problem,
    Stop,
    byte,
    code_point,
    hex_digits,
    octal_escape,
    parse_integer,
    simple_escape,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar

    from mirage.process.process import Process
    from mirage.text.printf import Segment

HELP = """\
Usage: NAME FORMAT [ARGUMENT]...
  or:  NAME OPTION
Print ARGUMENT(s) according to FORMAT, or execute according to OPTION:

      --help        display this help and exit
      --version     output version information and exit

FORMAT controls the output as in C printf.  Interpreted sequences are \\" \\\\ \\a \\b \\c \\e \\f \\n \\r \\t \\v
\\NNN \\xHH \\uHHHH \\UHHHHHHHH %% %b %q and all C format specifications ending with one of diouxXfeEgGcs.
"""

_INDEX = re.compile(r"([0-9]+)\$")
_NOT_WITH = {"'": frozenset("aAceEosxX"), "I": frozenset("aAceEosxX"), "#": frozenset("cdisu"), "0": frozenset("cs")}


class ToolPrintf(Printf):
    """printf(1) of coreutils."""

    flag_letters: ClassVar[str] = "-+ #0'I"
    _compiled: ClassVar[dict[str, tuple[Segment, ...]]] = {}

    def __init__(self, proc: Process) -> None:
        super().__init__(proc.kernel)
        self.proc = proc

    def error(self, text: str) -> None:
        self.proc.message(text)

    def _verify(self, text: str, used: int, out_of_range: bool) -> None:
        if out_of_range:
            message = "Numerical result out of range"
        elif not used:
            message = "expected a numeric value"
        elif used < len(text):
            message = "value not completely converted"
        else:
            return
        self.error(f"{quote(self.proc, text)}: {message}")
        self.status = 1

    def _character(self, text: str) -> int | None:
        if len(text) < 2 or text[0] not in "\"'":
            return None
        if len(text) > 2 and "POSIXLY_CORRECT" not in self.proc.env:
            self.error(f"warning: {text[2:]}: character(s) following character constant have been ignored")
        code = ord(text[1])
        return code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else code

    def integer(self, text: str, signed: bool) -> int:
        code = self._character(text)
        if code is not None:
            return code
        value, used = parse_integer(text)
        limited = max(-INTMAX - 1, min(value, INTMAX)) if signed else value if abs(value) <= UINTMAX else UINTMAX
        self._verify(text, used, limited != value)
        return limited

    def floating(self, text: str) -> extended.Number:
        code = self._character(text)
        if code is not None:
            return extended.from_int(code)
        number, used, out_of_range = extended.parse(text)
        self._verify(text, used, out_of_range)
        return number

    def quote(self, directive: Directive, text: str | None, precision: int | None) -> str:
        return shell_quote(text) if text is not None else ""

    def special(self, directive: Directive, text: str | None) -> str:
        return ""

    def too_wide(self, directive: Directive) -> None:
        self.ended = True
        self.status = 1
        self.error("write error")

    @classmethod
    def index(cls, text: str, i: int) -> tuple[int | None, int]:
        match = _INDEX.match(text, i)
        return (int(match[1]), match.end()) if match and len(match[1]) < 10 and int(match[1]) else (None, i)

    @classmethod
    def escape(cls, text: str, i: int) -> tuple[Segment, int]:
        return cls._escape(text, i, False)

    @classmethod
    def argument_escape(cls, text: str, i: int) -> tuple[Segment, int]:
        return cls._escape(text, i, True)

    @classmethod
    def _escape(cls, text: str, i: int, argument: bool) -> tuple[Segment, int]:
        letter = text[i:i + 1]
        simple = simple_escape(letter)
        if simple is not None:
            return simple, i + 1
        if letter == '"':
            return letter, i + 1
        if letter == "c":
            return Stop(), i + 1
        if letter and letter in "01234567":
            return octal_escape(text, i, 4 if argument and letter == "0" else 3)
        if letter == "x":
            value, end = hex_digits(text, i + 1, 2)
            return (byte(value), end) if value is not None else (_NO_HEX, end)
        if letter and letter in "uU":
            digits = 4 if letter == "u" else 8
            value, end = hex_digits(text, i + 1, digits)
            if value is None or end - i - 1 < digits:
                return _NO_HEX, end
            if 0xD800 <= value <= 0xDFFF:
                return Problem(f"invalid universal character name \\{text[i:end]}", True), end
            return code_point(value), end
        return "\\" + letter, i + 1

    @classmethod
    def check_directive(cls, directive: Directive) -> Problem | None:
        letter = directive.conversion
        known = letter != "" and letter in "diouxXeEfFgGaAcs"
        if letter and letter in "bq":
            known = len(directive.text) == 2 or (directive.position is not None and directive.text[-2] == "$")
        if any(letter in _NOT_WITH.get(flag, ()) for flag in directive.flags) \
                or (directive.precision is not None and letter == "c"):
            known = False
        return None if known else Problem(f"{directive.text}: invalid conversion specification", True)


_NO_HEX = Problem("missing hexadecimal number in escape", True)


def main(proc: Process) -> int:
    args = proc.argv[1:]
    if args == ["--help"]:
        proc.stdout.write(HELP.replace("NAME", proc.argv[0]).encode())
        return 0
    if args == ["--version"]:
        proc.stdout.write(b"printf (Mirage)\n")
        return 0
    if args[:1] == ["--"]:
        del args[0]
    if not args:
        proc.message("missing operand")
        proc.write_error(f"Try '{proc.argv[0]} --help' for more information.\n")
        return 1
    printf = ToolPrintf(proc)
    text = printf.run(args[0], args[1:])
    proc.stdout.write(text.encode("utf-8", "surrogateescape"))
    left = args[1 + printf.next:]
    if left and not printf.ended:
        printf.error(f"warning: ignoring excess arguments, starting with {quote(proc, left[0])}")
    return printf.status
