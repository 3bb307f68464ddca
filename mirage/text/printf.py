"""The printf engine: formats, escapes, and the conversions of C, for the shell's printf, printf(1) and awk.

`Printf` runs one format over its arguments; a subclass says which conversions and escapes there are and how errors
are worded. The functions below it convert single values and are of use on their own.
"""
from __future__ import annotations

import re

from mirage.text import extended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import ClassVar, TypeAlias

    from mirage.process.kernel import Kernel

INT_MAX = 2147483647
INTMAX, UINTMAX = (1 << 63) - 1, (1 << 64) - 1

_INTEGER = re.compile(r"[ \t\n\v\f\r]*(?P<sign>[-+]?)(?:0[xX](?P<x>[0-9a-fA-F]+)|0[bB](?P<b>[01]+)|(?P<o>0[0-7]*)"
                      r"|(?P<d>[1-9][0-9]*))")
_SIMPLE_ESCAPES = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_HEX = frozenset("0123456789abcdefABCDEF")
_OCTAL = frozenset("01234567")


# ---------------------------------------------------------------------------------------------- single values


def byte_length(text: str) -> int:
    """Bytes of a word (UTF-8 with surrogateescape)."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))


def pad(text: str, flags: str, width: int | None) -> str:
    """Fill up with spaces to `width` bytes, on the right with the flag `-`."""
    if not width:
        return text
    missing = width - byte_length(text)
    if missing <= 0:
        return text
    return text + " " * missing if "-" in flags else " " * missing + text


def cut(text: str, precision: int | None) -> str:
    """The first `precision` bytes."""
    if precision is None or precision >= len(text) * 4:
        return text
    if text.isascii():
        return text[:precision]
    return text.encode("utf-8", "surrogateescape")[:precision].decode("utf-8", "surrogateescape")


def parse_integer(text: str) -> tuple[int, int]:
    """strtoimax(3) with base 0 but unlimited: (value, characters used)."""
    match = _INTEGER.match(text)
    if match is None:
        return 0, 0
    if match["x"] is not None:
        value = int(match["x"], 16)
    elif match["b"] is not None:
        value = int(match["b"], 2)
    elif match["o"] is not None:
        value = int(match["o"], 8)
    else:
        digits = match["d"]
        value = int(digits) if len(digits) < 1000 else 1 << 1000
    return -value if match["sign"] == "-" else value, match.end()


def format_integer(value: int, conversion: str, flags: str = "", width: int | None = None,
                   precision: int | None = None) -> str:
    """`%d %i %u %o %x %X` of a value; for the unsigned ones a negative value is taken modulo 2**64."""
    prefix = ""
    if conversion in "di":
        prefix = "-" if value < 0 else "+" if "+" in flags else " " if " " in flags else ""
        digits = str(abs(value))
    else:
        value &= UINTMAX
        if conversion == "u":
            digits = str(value)
        elif conversion == "o":
            digits = f"{value:o}"
            if "#" in flags and digits[0] != "0" and (precision is None or precision <= len(digits)):
                digits = "0" + digits
        else:
            digits = f"{value:x}" if conversion == "x" else f"{value:X}"
            if "#" in flags and value:
                prefix = "0" + conversion
    if precision is not None:
        digits = "" if precision == 0 and not value and not (conversion == "o" and "#" in flags) \
            else digits.rjust(precision, "0")
    elif width and "0" in flags and "-" not in flags:
        digits = digits.rjust(width - len(prefix), "0")
    return pad(prefix + digits, flags, width)


def format_float(number: extended.Number, conversion: str, flags: str = "", width: int | None = None,
                 precision: int | None = None) -> str:
    """`%e %f %g %a` (and upper case) of an extended precision number."""
    text = extended.to_text(number, conversion, precision, "#" in flags)
    sign = "-" if number[0] else "+" if "+" in flags else " " if " " in flags else ""
    if width and "0" in flags and "-" not in flags and number[1] is not None:
        if conversion in "aA":
            text = text[:2] + text[2:].rjust(width - len(sign) - 2, "0")
        else:
            text = text.rjust(width - len(sign), "0")
    return pad(sign + text, flags, width)


# ---------------------------------------------------------------------------------------------------- formats


class Directive:
    """One `%` conversion.

    width, precision   a number, None, or STAR for `*`
    position           None, or N of `%N$`; likewise width_position and precision_position of `*N$`
    time               the format of `%(...)T`
    text               as written
    """

    __slots__ = ("conversion", "flags", "position", "precision", "precision_position", "text", "time", "width",
                 "width_position")

    def __init__(self) -> None:
        self.conversion = ""
        self.flags = ""
        self.width: int | None = None
        self.precision: int | None = None
        self.position: int | None = None
        self.width_position: int | None = None
        self.precision_position: int | None = None
        self.time = ""
        self.text = ""

    @property
    def plain(self) -> bool:
        return self.conversion == "s" and self.width is None and self.precision is None and self.position is None


STAR = -1


class Problem:
    """A message at this place of the format; `fatal` ends the run there."""

    __slots__ = ("fatal", "text")

    def __init__(self, text: str, fatal: bool) -> None:
        self.text = text
        self.fatal = fatal


class Stop:
    """`\\c`: no output from here on."""

    __slots__ = ()


if TYPE_CHECKING:
    Segment: TypeAlias = str | Directive | Problem | Stop


class Printf:
    """Runs formats. Subclasses: the shell's builtin, printf(1).

    Output is a str in which bytes that are no UTF-8 are lone surrogates. `status` is 1 after an error; `ended` is
    set when the output ends before the format does (`\\c`, a fatal error).
    """

    conversions: ClassVar[frozenset[str]] = frozenset("diouxXeEfFgGaAcsb")
    flag_letters: ClassVar[str] = "-+ #0'"
    modifiers: ClassVar[frozenset[str]] = frozenset("hjlLtz")
    _compiled: ClassVar[dict[str, tuple[Segment, ...]]] = {}

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.status = 0
        self.ended = False
        self.size = 0
        self.out: list[str] = []
        self.args: Sequence[str] = ()
        self.next = 0                                        # index of the next argument
        self._base = 0                                       # of the first one of this round
        self._indexed = 0                                    # the highest N of `N$` in this round

    # ---- what differs between the dialects

    def error(self, text: str) -> None:
        """Print a message about an argument or the format."""
        raise NotImplementedError

    def integer(self, text: str, signed: bool) -> int:
        """The value of an argument, with the dialect's errors."""
        raise NotImplementedError

    def floating(self, text: str) -> extended.Number:
        raise NotImplementedError

    def quote(self, directive: Directive, text: str | None, precision: int | None) -> str:
        raise NotImplementedError

    def special(self, directive: Directive, text: str | None) -> str:
        """Conversions of one dialect only."""
        raise NotImplementedError

    @classmethod
    def escape(cls, text: str, i: int) -> tuple[Segment, int]:
        """The escape that begins after the backslash before text[i] (in the format): (segment, next index)."""
        raise NotImplementedError

    @classmethod
    def argument_escape(cls, text: str, i: int) -> tuple[Segment, int]:
        """The same in an argument of %b."""
        raise NotImplementedError

    @classmethod
    def check_directive(cls, directive: Directive) -> Problem | None:
        """None when the dialect has this conversion with these flags."""
        raise NotImplementedError

    # ---- formats

    @classmethod
    def compile(cls, text: str) -> tuple[Segment, ...]:
        """The segments of a format, cached by its text."""
        found = cls._compiled.get(text)
        if found is None:
            found = tuple(cls._parse(text))
            if len(cls._compiled) >= 256:
                cls._compiled.clear()
            if len(text) < 4096:
                cls._compiled[text] = found
        return found

    @classmethod
    def _parse(cls, text: str) -> list[Segment]:
        segments: list[Segment] = []
        literal: list[str] = []
        i, n = 0, len(text)
        while i < n:
            j = i
            while j < n and text[j] != "%" and text[j] != "\\":
                j += 1
            literal.append(text[i:j])
            if j >= n:
                break
            i = j + 1
            segment: Segment
            if text[j] == "\\":
                segment, i = cls.escape(text, i)
            elif text.startswith("%", i):
                segment, i = "%", i + 1
            else:
                segment, i = cls._directive(text, j)
            if type(segment) is str:
                literal.append(segment)
                continue
            if whole := "".join(literal):
                segments.append(whole)
            literal = []
            segments.append(segment)
            if type(segment) is Stop or (type(segment) is Problem and segment.fatal):
                break
            if type(segment) is Problem:                     # a warning: the text stands for itself
                literal.append(text[j:i])
        if whole := "".join(literal):
            segments.append(whole)
        return segments

    @classmethod
    def _directive(cls, text: str, start: int) -> tuple[Segment, int]:
        """The conversion at text[start] == "%"."""
        directive = Directive()
        i, n = start + 1, len(text)
        directive.position, i = cls.index(text, i)
        j = i
        while i < n and text[i] in cls.flag_letters:
            i += 1
        directive.flags = text[j:i]
        directive.width, directive.width_position, i = cls._size(text, i)
        if text.startswith(".", i):
            i += 1
            if text.startswith("-", i):                      # a negative precision counts as none
                _, _, i = cls._size(text, i + 1)
            else:
                precision, directive.precision_position, i = cls._size(text, i)
                directive.precision = precision or 0
        while i < n and text[i] in cls.modifiers:
            i += 1
        if text.startswith("(", i):
            end = cls._time_end(text, i)
            if end:
                directive.time = text[i + 1:end]
                i = end + 1
        directive.conversion = text[i:i + 1]
        directive.text = text[start:i + 1]
        return cls.check_directive(directive) or directive, i + 1

    @classmethod
    def index(cls, text: str, i: int) -> tuple[int | None, int]:
        """`N$` at text[i], for dialects that have it."""
        return None, i

    @classmethod
    def _size(cls, text: str, i: int) -> tuple[int | None, int | None, int]:
        if text.startswith("*", i):
            position, i = cls.index(text, i + 1)
            return STAR, position, i
        j = i
        while j < len(text) and text[j].isdecimal() and text[j].isascii():
            j += 1
        if j == i:
            return None, None, i
        return int(text[i:j]) if j - i < 12 else 1 << 40, None, j

    @classmethod
    def _time_end(cls, text: str, i: int) -> int:
        """Index of the `)` that closes the `(` at text[i]; 0 when there is none."""
        depth = 0
        for j in range(i, len(text)):
            if text[j] == "(":
                depth += 1
            elif text[j] == ")":
                depth -= 1
                if not depth:
                    return j
        return 0

    # ---- running

    def run(self, text: str, args: Sequence[str]) -> str:
        """The output of a format; it is used again as long as arguments are left."""
        segments = self.compile(text)
        self.args = args
        out, count = self.out, len(args)
        rounds = 0
        while True:
            before = self._base = self.next
            for segment in segments:
                if type(segment) is str:
                    out.append(segment)
                    self.size += len(segment)
                elif type(segment) is Directive:
                    self._convert(segment)
                elif type(segment) is Problem:
                    self.error(segment.text)
                    if segment.fatal:
                        self.status = 1
                        self.ended = True
                else:
                    self.ended = True
                if self.ended:
                    return "".join(out)
            self.next = max(self.next, min(before + self._indexed, count))
            rounds += 1
            if rounds & 255 == 0:
                self.kernel.fits(self.size)
                self.kernel.check()
            if self.next >= count or self.next == before:
                return "".join(out)

    def _argument(self, position: int | None) -> str | None:
        if position is not None:
            self._indexed = max(self._indexed, position)
            at = self._base + position - 1
            return self.args[at] if at < len(self.args) else None
        if self.next >= len(self.args):
            return None
        self.next += 1
        return self.args[self.next - 1]

    def star(self, position: int | None) -> int:
        """The value of a `*`."""
        text = self._argument(position)
        return 0 if text is None else max(-1 << 32, min(self.integer(text, True), 1 << 32))

    def _convert(self, directive: Directive) -> None:
        flags, width, precision = directive.flags, directive.width, directive.precision
        if width == STAR:
            width = self.star(directive.width_position)
            if width < 0:
                flags, width = flags + "-", -width
        if precision == STAR:
            precision = self.star(directive.precision_position)
            if precision < 0:
                precision = None
        argument = self._argument(directive.position)
        if (width and width > 65536) or (precision and precision > 65536):
            if max(width or 0, precision or 0) > INT_MAX:
                self.too_wide(directive)
                return
            if (width and width > 65536) or directive.conversion not in "sbcqQ":
                self.kernel.fits(3 * (self.size + max(width or 0, precision or 0)))  # with its bytes
        conversion = directive.conversion
        if conversion == "s":
            text = pad(cut(argument or "", precision), flags, width)
        elif conversion in "diouxX":
            value = self.integer(argument, conversion in "di") if argument is not None else 0
            text = format_integer(value, conversion, flags, width, precision)
        elif conversion in "eEfFgGaA":
            number = self.floating(argument) if argument is not None else extended.ZERO
            text = format_float(number, conversion, flags, width, precision)
        elif conversion == "c":
            text = pad(cut(argument or "\0", 1), flags, width)
        elif conversion == "b":
            text = pad(cut(self.expand(argument or ""), precision), flags, width)
        elif conversion in "qQ":
            text = pad(self.quote(directive, argument, precision), flags, width)
        else:
            text = pad(cut(self.special(directive, argument), precision), flags, width)
        self.size += len(text)
        self.out.append(text)

    def too_wide(self, directive: Directive) -> None:
        """A width or precision that C's int cannot hold: printf(3) fails."""
        self.status = 1

    def expand(self, text: str) -> str:
        """An argument of %b with its escapes replaced; sets `ended` at `\\c`."""
        if "\\" not in text:
            return text
        out: list[str] = []
        i = 0
        while (j := text.find("\\", i)) >= 0:
            out.append(text[i:j])
            segment, i = self.argument_escape(text, j + 1)
            if type(segment) is str:
                out.append(segment)
            elif type(segment) is Problem:
                self.error(segment.text)
                if segment.fatal:
                    self.status = 1
                    self.ended = True
                    break
                out.append(text[j:i])
            else:
                self.ended = True
                return "".join(out)
        out.append(text[i:])
        return "".join(out)


# ---------------------------------------------------------------------------------------------------- escapes


def simple_escape(letter: str) -> str | None:
    """`\\a` and so on: what the letters that all dialects share stand for."""
    return _SIMPLE_ESCAPES.get(letter)


def octal_escape(text: str, i: int, digits: int) -> tuple[str, int]:
    """Up to `digits` octal digits at text[i]: (the byte, next index)."""
    j = i
    while j < i + digits and text[j:j + 1] in _OCTAL:
        j += 1
    return byte(int(text[i:j] or "0", 8) & 0xFF), j


def hex_digits(text: str, i: int, digits: int) -> tuple[int | None, int]:
    """Up to `digits` hexadecimal digits at text[i]: (value or None, next index)."""
    j = i
    while j < i + digits and text[j:j + 1] in _HEX:
        j += 1
    return (int(text[i:j], 16) if j > i else None), j


def byte(value: int) -> str:
    """One byte as a character of a word."""
    return chr(value) if value < 128 else chr(0xDC00 + value)


def code_point(value: int) -> str:
    """A character by number, encoded as bash does also where Unicode has none (surrogates, above 0x10ffff)."""
    if value < 0xD800 or 0xE000 <= value < 0x110000:
        return chr(value)
    for count, limit in ((3, 1 << 16), (4, 1 << 21), (5, 1 << 26), (6, 1 << 31)):
        if value < limit:
            lead = (0xFF00 >> count & 0xFF) | value >> 6 * (count - 1)
            return byte(lead) + "".join(byte(0x80 | value >> 6 * k & 0x3F) for k in range(count - 2, -1, -1))
    return ""
