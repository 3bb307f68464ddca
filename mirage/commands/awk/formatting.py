"""printf and sprintf of gawk."""
from __future__ import annotations

import re

from mirage.commands.awk.errors import Fatal
from mirage.commands.awk.values import integral_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

SPEC = re.compile(r"%(?:([0-9]+)\$)?([-+ #0']*)(\*(?:[0-9]+\$)?|[0-9]+)?(?:\.(\*(?:[0-9]+\$)?|-?[0-9]*))?"
                  r"([hlLjztq]?)(.?)", re.DOTALL)
MAX_WIDTH = 1 << 30


class Arguments:
    """The values of one format, taken in turn or by number; `end` is where the conversion at hand ends."""

    __slots__ = ("end", "form", "position", "values")

    def __init__(self, form: str, values: Sequence[Any]) -> None:
        self.form = form
        self.values = values
        self.position = 0
        self.end = 0

    def take(self, number: int | None) -> Any:
        if number is None:
            at, self.position = self.position, self.position + 1
        else:
            at = number - 1
        if 0 <= at < len(self.values):
            return self.values[at]
        if number is not None:
            raise Fatal(f"argument index {number} greater than total number of supplied arguments")
        raise Fatal(f"not enough arguments to satisfy format string\n\t`{self.form}'\n\t{' ' * self.end}"
                    "^ ran out for this one")


class Formatter:
    """Formats with a runtime's conversions: `number` and `text` of a value, `fits` for sizes."""

    def __init__(self, number: Callable[[Any], float], text: Callable[[Any], str],
                 fits: Callable[[int], None]) -> None:
        self.number = number
        self.text = text
        self.fits = fits
        self._parsed: dict[str, list[Any]] = {}

    def format(self, form: str, values: Sequence[Any]) -> str:
        parsed = self._parsed.get(form)
        if parsed is None:
            if len(self._parsed) > 500:
                self._parsed.clear()
            parsed = self._parsed[form] = parse(form)
        out: list[str] = []
        arguments = Arguments(form, values)
        for piece in parsed:
            if type(piece) is str:
                out.append(piece)
                continue
            index, flags, width, precision, letter, end, source = piece
            arguments.end = end
            if type(width) is tuple:
                width = int(self.number(arguments.take(width[0])))
                if width < 0:
                    flags, width = flags + "-", -width
            if type(precision) is tuple:
                precision = int(self.number(arguments.take(precision[0])))
                if precision < 0:
                    precision = None
            if letter == "%":
                out.append("%")
                continue
            value = arguments.take(index)
            if (width or 0) > 65536 or (precision or 0) > 65536:
                if (width or 0) > MAX_WIDTH or (precision or 0) > MAX_WIDTH:
                    raise Fatal(f"format specification `{source}' has too large a width")
                self.fits(max(width or 0, precision or 0))
            out.append(self.convert(letter, flags, width, precision, value))
        return "".join(out)

    def convert(self, letter: str, flags: str, width: int | None, precision: int | None, value: Any) -> str:
        if letter == "s":
            text = self.text(value)
            return pad(text if precision is None else text[:precision], flags, width)
        if letter == "c":
            return pad(self.character(value), flags, width)
        number = self.number(value)
        if number - number != 0.0:
            text = integral_text(number) or ""
            return pad(text, flags.replace("0", ""), width)
        clean = flags.replace("'", "")
        if letter in "di":
            return integer(int(number), clean, width, precision, "d", "'" in flags)
        if letter in "oxXu":
            if not -(2.0 ** 63) <= number < 2.0 ** 64:
                return str((specification(clean, width, precision) + "g") % number)
            base = "d" if letter == "u" else letter
            return integer(int(number) & (2 ** 64 - 1), clean, width, precision, base, "'" in flags)
        form = specification(clean, width, precision)
        if letter in "aA":
            text = number.hex().replace("0x1.0000000000000p", "0x1p").replace("0x0.0p+0", "0x0p+0")
            text = re.sub(r"\.?0+p", "p", text) if "." in text else text
            return pad(text.upper() if letter == "A" else text, flags, width)
        return str((form + letter) % number)

    def character(self, value: Any) -> str:
        if type(value) is float or hasattr(value, "num"):
            code = int(self.number(value))
            if 0 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF:
                return chr(code)
            low = code & 255
            return chr(low) if low < 128 else chr(0xDC00 + low)
        text = self.text(value)
        return text[:1] or "\0"


def specification(flags: str, width: int | None, precision: int | None) -> str:
    """`%` and what stands before the letter."""
    return f"%{flags}{'' if width is None else width}{'' if precision is None else f'.{precision}'}"


def integer(value: int, flags: str, width: int | None, precision: int | None, letter: str, grouped: bool) -> str:
    """%d, %o, %x: with a precision the flag 0 means nothing."""
    if precision is not None:
        flags = flags.replace("0", "")
        if precision == 0 and value == 0:
            return pad("+" if "+" in flags and letter == "d" else "", flags, width)
    form = specification(flags, width, precision)
    if letter in "xX" and "#" in flags and value == 0:
        form = form.replace("#", "")
    if letter == "o" and "#" in flags:
        digits = oct(value)[2:]
        digits = digits if digits.startswith("0") else "0" + digits
        return pad(digits.rjust(precision or 0, "0"), flags, width)
    return str((form + letter) % value)


def pad(text: str, flags: str, width: int | None) -> str:
    if width is None or len(text) >= width:
        return text
    return text.ljust(width) if "-" in flags else text.rjust(width)


def parse(form: str) -> list[Any]:
    """Literal pieces and (index, flags, width, precision, letter, end, source); a tuple stands for `*`."""
    out: list[Any] = []
    at = 0
    while True:
        percent = form.find("%", at)
        if percent < 0:
            out.append(form[at:])
            numbered = {piece[0] is not None for piece in out if type(piece) is tuple}
            if len(numbered) > 1:
                raise Fatal("fatal: must use `count$' on all formats or none")
            return out
        if percent > at:
            out.append(form[at:percent])
        found = SPEC.match(form, percent)
        if found is None:
            out.append(form[percent:])
            return out
        index, flags, width, precision, _, letter = found.groups()
        at = found.end()
        if letter == "%" and found.group() == "%%":
            out.append("%")
            continue
        if letter == "" or letter not in "diouxXeEfFgGaAcs%":
            out.append(found.group() if letter else form[percent:])
            continue
        out.append((int(index) if index else None, flags, star(width), star(precision), letter, at - 1, found.group()))


def star(text: str | None) -> Any:
    """A width or precision: None, a number, or (argument number or None,) for `*`."""
    if text is None:
        return None
    if text.startswith("*"):
        return (int(text[1:-1]),) if len(text) > 1 else (None,)
    value = int(text or "0")
    return value if value >= 0 else None
