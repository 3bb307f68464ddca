"""printf."""
from __future__ import annotations

from mirage.shell.builtins._common import USAGE_STATUS, decode, encode, getopt, split_reference, usage
from mirage.shell.builtins._escapes import escape
from mirage.shell.control import ShellError
from mirage.text import extended, quoting
from mirage.text.printf import (
    INTMAX,
    UINTMAX,
    Directive,
    Printf,
    Problem,
    Stop,
    byte_length,
    cut,
    parse_integer,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import ClassVar

    from mirage.shell.state import Shell
    from mirage.text.printf import Segment

_LONG = 65536                                                # characters of a word; longer ones are counted
_MISSING = {"x": "missing hex digit for \\x", "u": "missing unicode digit for \\u",
            "U": "missing unicode digit for \\U"}


class BuiltinPrintf(Printf):
    """bash's printf."""

    _compiled: ClassVar[dict[str, tuple[Segment, ...]]] = {}

    def __init__(self, sh: Shell) -> None:
        super().__init__(sh.kernel)
        self.sh = sh
        self.to_variable = False
        self.written = 0                                     # bytes of complete lines that are out already

    def error(self, text: str) -> None:
        """A message, after the complete lines of output before it."""
        if self.out and not self.to_variable:
            done, newline, rest = "".join(self.out).rpartition("\n")
            lines = encode(done + newline)
            self.out[:] = [rest]
            self.written += len(lines)
            self.sh.out(lines)
        self.sh.builtin_error("printf", text)

    def _character(self, text: str) -> int | None:
        if text[:1] not in ("'", '"'):
            return None
        code = ord(text[1]) if len(text) > 1 else 0
        return code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else code

    def _invalid(self, text: str) -> None:
        kind = "number"
        if text[:1] == "0" and text[1:2].isdecimal():
            kind = "octal number"
        elif text[:2] == "0x":
            kind = "hex number"
        self.error(f"{text}: invalid {kind}")
        self.status = 1

    def integer(self, text: str, signed: bool) -> int:
        code = self._character(text)
        if code is not None:
            return code
        value, used = parse_integer(text)
        if used < len(text):
            self._invalid(text)
        limited = max(-INTMAX - 1, min(value, INTMAX)) if signed else value if abs(value) <= UINTMAX else UINTMAX
        if limited != value:
            self.error(f"warning: {text}: Numerical result out of range")
        return limited

    def floating(self, text: str) -> extended.Number:
        code = self._character(text)
        if code is not None:
            return extended.from_int(code)
        number, used, out_of_range = extended.parse(text)
        if used < len(text):
            self._invalid(text)
        if out_of_range:
            self.error(f"warning: {text}: Numerical result out of range")
        return number

    def quote(self, directive: Directive, text: str | None, precision: int | None) -> str:
        text = text or ""
        if directive.conversion == "Q":
            return quoting.backslash(cut(text, precision))
        return cut(quoting.backslash(text), precision)

    def special(self, directive: Directive, text: str | None) -> str:
        if directive.conversion == "n":
            if text:
                if split_reference(text) is None:
                    self.error(f"`{text}': not a valid identifier")
                    self.status = 1
                    self.ended = True
                else:
                    self.sh.assign(text, str(self.written + sum(map(byte_length, self.out))))
            return ""
        return self._time(directive, text)

    def _time(self, directive: Directive, text: str | None) -> str:
        from mirage.text.strftime import at, strftime

        seconds = self.integer(text, True) if text is not None else -1
        if seconds == -1:
            moment = self.sh.proc.now()
        elif seconds == -2:
            moment = self.sh.seconds_base
        else:
            moment = float(seconds)
        zone = self.sh.get("TZ")
        when = at(int(moment), self.sh.machine.tz if zone is None else zone)
        return strftime(directive.time or "%X", when, gnu=False)

    def too_wide(self, directive: Directive) -> None:
        """Nothing is printed for it."""

    @classmethod
    def escape(cls, text: str, i: int) -> tuple[Segment, int]:
        letter = text[i:i + 1]
        if letter and letter in "'\"?":
            return letter, i + 1
        char, end = escape(text, i, 3)
        if char is None:
            if letter in _MISSING:
                return Problem(_MISSING[letter], False), end
            return text[i - 1:end], end
        return char, end

    @classmethod
    def argument_escape(cls, text: str, i: int) -> tuple[Segment, int]:
        letter = text[i:i + 1]
        if letter == "c":
            return Stop(), i + 1
        char, end = escape(text, i, 4)
        if char is None:
            if letter in _MISSING:
                return Problem(_MISSING[letter], False), end
            return text[i - 1:end], end
        return char, end

    @classmethod
    def check_directive(cls, directive: Directive) -> Problem | None:
        letter = directive.conversion
        if not letter:
            return Problem(f"`{directive.text}': missing format character", True)
        is_time = "(" in directive.text
        if is_time and letter != "T":
            return Problem(f"warning: `{letter}': invalid time format specification", False)
        if letter in "diouxXeEfFgGaAcsbqQn" or (letter == "T" and is_time):
            return None
        if letter == "(":
            return Problem("warning: `': invalid time format specification", False)
        return Problem(f"`{letter}': invalid format character", True)


_templates: dict[str, tuple[str, str] | None] = {}


def _template(text: str) -> tuple[str, str] | None:
    """(the format as Python's `%` takes it, its conversions) of one that has only plain %s and %d; else None."""
    out, kinds = [], ""
    for segment in BuiltinPrintf.compile(text):
        if isinstance(segment, str):
            out.append(segment.replace("%", "%%"))
        elif isinstance(segment, Directive) and segment.text in ("%s", "%d"):
            out.append("%s")
            kinds += segment.conversion
        else:
            return None
    return ("".join(out), kinds) if kinds else None


def _plain(text: str, args: Sequence[str]) -> str | None:
    """The output where every directive is plain, has one argument, and that of %d is a plain number."""
    try:
        found = _templates[text]
    except KeyError:
        if len(_templates) >= 256:
            _templates.clear()
        found = _templates[text] = _template(text)
    if found is None or len(args) != len(found[1]):
        return None
    for kind, word in zip(found[1], args, strict=True):
        if kind == "d":
            if not word.isdigit() or not word.isascii() or len(word) > 18 or word[0] == "0":
                return None
        elif len(word) > _LONG:
            return None
    return found[0] % tuple(args)


def builtin_printf(sh: Shell, args: Sequence[str]) -> int:
    variable = None
    at = 0
    if args and args[0][:1] == "-":
        parsed = getopt(sh, "printf", args, "v:")
        if parsed is None:
            return USAGE_STATUS
        options, rest = parsed
        at = len(args) - len(rest)
        for _, variable in options:
            if split_reference(variable) is None:
                sh.builtin_error("printf", f"`{variable}': not a valid identifier")
                return USAGE_STATUS
    if at >= len(args):
        return usage(sh, "printf")
    if variable is None:
        line = _plain(args[at], args[at + 1:])
        if line is not None:
            sh.out(encode(line))
            return 0
    printf = BuiltinPrintf(sh)
    printf.to_variable = variable is not None
    text = printf.run(args[at], args[at + 1:])
    if variable is None:
        if text:
            sh.out(encode(text))
        return printf.status
    try:
        text = text.partition("\0")[0]
        sh.assign(variable, text if text.isascii() else decode(encode(text)))
    except ShellError as e:
        e.report(sh)
        return 1
    return printf.status
