"""Numbers as jq 1.7 keeps them: IEEE doubles that print in 17 digits, and literals that keep their digits.

In memory: an int where the value is integral and at most 2**53 in size, else a float; a `Literal` is a float that
came from text which says more than the double does. Arithmetic always gives plain ints and floats.
"""
from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

EXACT = 1 << 53
PLAIN = re.compile(r"-?(?:0\.(?!00000)|[1-9][0-9]*\.)[0-9]*0\Z")      # what has zeros at its end and is canonical
LARGEST = "1.7976931348623157e+308"
literals = False                                             # was there ever a Literal? (most data holds none)


class Literal(float):
    """A number with the decimal text it was written as (in decNumber's canonical form)."""

    __slots__ = ("text",)
    text: str


def literal(text: str) -> float:
    """The number a literal stands for. Raises ValueError where `text` is no number."""
    if len(text) < 16 and text.isdecimal() and text.isascii():
        return int(text)
    if "_" in text or text != text.strip():
        raise ValueError(text)
    value = float(text)
    if repr(value) == text:
        return value if text[-2:] != ".0" else _kept(value, text)
    if PLAIN.match(text) and len(text) < 16:
        return _kept(value, text)
    if value != value or text.lower().lstrip("+-").startswith("inf"):
        return value
    canonical = _canonical(text)
    if canonical is None or canonical == format_number(value):
        return normal(value)
    return _kept(value, canonical)


def _kept(value: float, text: str) -> Literal:
    global literals
    literals = True
    result = Literal(value)
    result.text = text
    return result


def _canonical(text: str) -> str | None:
    from decimal import Decimal, DecimalException
    try:
        return str(Decimal(text))
    except DecimalException:
        return None


def normal(value: float) -> float:
    """The same number as an int where it is integral and exact (but -0 stays a float)."""
    if type(value) is int:
        return value
    if value.is_integer() and -EXACT <= value <= EXACT and (value or str(value) == "0.0"):
        return int(value)
    return value


def format_number(value: float) -> str:
    """JSON text of a number: shortest digits that read back the same; NaN is null, infinity the largest double."""
    kind = type(value)
    if kind is int:
        return str(value)
    if isinstance(value, Literal):
        return value.text
    if value != value:
        return "null"
    text = repr(value)
    if text.endswith(".0"):
        return text[:-2]
    if "e" not in text:
        return LARGEST if text == "inf" else "-" + LARGEST if text == "-inf" else text
    mantissa, _, exponent = text.partition("e")
    point = int(exponent) + 1
    digits = mantissa.lstrip("-").replace(".", "")
    if 0 < point <= len(digits) + 15:
        return ("-" if text[0] == "-" else "") + digits.ljust(point, "0")
    return text


def whole(value: float) -> int:
    """(intmax_t) of a double: truncated, NaN is 0, clamped to 64 bits."""
    if value != value:
        return 0
    return max(-(1 << 63), min(int(max(-1e19, min(value, 1e19))), (1 << 63) - 1))


def unary(function: Callable[[float], float]) -> Callable[[float], float]:
    """A math function on doubles whose domain errors give NaN and overflows infinity, as in C."""
    def apply(value: float) -> float:
        try:
            return normal(float(function(float(value))))
        except ValueError:
            return float("nan")
        except OverflowError:
            return float("inf")
    return apply
