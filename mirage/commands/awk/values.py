"""Values of awk: float, str, StrNum (input that looks like a number), UNSET; and how they convert and compare.

A StrNum or UNSET is a str too, so that whatever needs text can take it as it is.
"""
from __future__ import annotations

import re

from mirage.commands.awk.errors import Fatal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Table = dict[str, Any]
else:
    Table = dict

NUMBER = re.compile(r"[ \t\n\r\f\v]*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
LOOKS_NUMERIC = re.compile(r"[ \t\n\r\f\v]*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ \t\n\r\f\v]*\Z")
SPECIAL = re.compile(r"[ \t\n\r\f\v]*([+-])(inf|nan)", re.IGNORECASE)
SPECIAL_WHOLE = re.compile(r"[ \t\n\r\f\v]*[+-](?:inf|nan)[ \t\n\r\f\v]*\Z", re.IGNORECASE)
HEX_OCTAL = re.compile(r"[ \t\n\r\f\v]*([+-]?)(?:0[xX]([0-9a-fA-F]+)|0([0-7]+)(?![0-9.eE]))")
FIRST = frozenset("0123456789+-. \t\n\r\f\v")
MAX_CACHE = 65536
MAX_KNOWN = 16384


class StrNum(str):
    """Text from input that looks like the number `num`."""

    __slots__ = ("num",)
    num: float


class Unset(str):
    """The value of what was never assigned: "" and 0."""

    __slots__ = ()


class TypedRegex(str):
    """The value of @/.../."""

    __slots__ = ()


class Array(Table):
    """An awk array: str -> value or Array. Looking a missing element up makes it."""

    __slots__ = ()

    def __missing__(self, key: str) -> Any:
        self[key] = UNSET
        return UNSET


class Known(Table):
    """What `convert` makes of texts of the input; texts come again and again."""

    __slots__ = ("convert",)

    def __init__(self, convert: Callable[[str], Any]) -> None:
        super().__init__()
        self.convert = convert

    def __missing__(self, text: str) -> Any:
        if len(self) >= MAX_KNOWN:
            self.clear()
        value = self[text] = self.convert(text)
        return value


UNSET = Unset()


def to_number(text: str) -> float:
    """The number that a string begins with."""
    try:
        value = float(text)
        if value - value == 0.0 and "_" not in text and text.isascii():
            return value
    except ValueError:
        pass
    found = NUMBER.match(text)
    if found:
        return float(found.group(1))
    special = SPECIAL.match(text)
    if special and not text[special.end():special.end() + 1].isalnum():
        return float(special.group(1) + special.group(2))
    return 0.0


def number_of(value: Any) -> float:
    """Any scalar as a number."""
    t = type(value)
    if t is float:
        return float(value)
    if t is StrNum:
        return float(value.num)
    if t is Array:
        raise Fatal("attempt to use an array in a scalar context")
    return to_number(value)


def input_value(text: str) -> str:
    """A field or line of input: a StrNum where it looks like a number."""
    if text and text[0] in FIRST:
        try:
            number = float(text)
        except ValueError:
            number = None
        if number is not None and number - number == 0.0:
            if "_" in text or not text.isascii():
                return text
        elif LOOKS_NUMERIC.match(text) or SPECIAL_WHOLE.match(text):
            number = to_number(text)
        else:
            return text
        result = StrNum(text)
        result.num = number
        return result
    return text


def integral_text(value: float) -> str | None:
    """Digits of an integral number, gawk's words for infinity and NaN, or None."""
    if value - value != 0.0:
        if value != value:
            from math import copysign
            return "-nan" if copysign(1.0, value) < 0 else "+nan"
        return "+inf" if value > 0 else "-inf"
    whole = int(value)
    return str(whole) if whole == value else None


_known: dict[float, str] = {}


def key_text(value: float) -> str | None:
    """integral_text of numbers that are used again and again (array subscripts)."""
    text = _known.get(value)
    if text is None:
        text = integral_text(value)
        if text is not None and len(_known) < MAX_CACHE:
            _known[value] = text
    return text


def truth(value: Any) -> bool:
    t = type(value)
    if t is float:
        return bool(value != 0.0)
    if t is StrNum:
        return bool(value.num != 0.0)
    return bool(value != "")


def non_decimal(text: str) -> float | None:
    """The value of 0x.. and 0.. text (strtonum, -n), or None where it is neither."""
    found = HEX_OCTAL.match(text)
    if found is None:
        return None
    value = int(found.group(2), 16) if found.group(2) else int(found.group(3), 8)
    return float(-value if found.group(1) == "-" else value)
