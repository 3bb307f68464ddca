"""The x87 extended precision numbers (C's `long double`) of printf(1), seq(1) and the shell's printf.

A number is a tuple `(negative, mantissa, exponent)` of the value `mantissa * 2**exponent`, the mantissa below 2**64;
`mantissa` is None for an infinity (exponent 0) and a NaN (exponent 1). Conversions are exact and round half to even,
as glibc's strtold(3) and printf(3) do.
"""
from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Number: TypeAlias = tuple[bool, int | None, int]

MANTISSA_BITS = 64
MIN_EXPONENT = -16445                                       # of the smallest denormal
MAX_EXPONENT = 16384 - MANTISSA_BITS
MAX_DIGITS = 16600                                          # no value has more digits behind the point

ZERO: Number = (False, 0, 0)

_TEXT = re.compile(
    r"[ \t\n\v\f\r]*(?P<sign>[-+]?)(?:"
    r"0[xX](?P<hex>[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP](?P<binexp>[-+]?[0-9]+))?"
    r"|(?P<dec>[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE](?P<decexp>[-+]?[0-9]+))?"
    r"|(?P<inf>[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)|(?P<nan>[nN][aA][nN](?:\([0-9A-Za-z_]*\))?))"
)


def parse(text: str) -> tuple[Number, int, bool]:
    """strtold(3): (number, characters used, out of range). Nothing used: (0, 0, False)."""
    match = _TEXT.match(text)
    if match is None:
        return ZERO, 0, False
    negative = match["sign"] == "-"
    used = match.end()
    if match["inf"]:
        return (negative, None, 0), used, False
    if match["nan"]:
        return (negative, None, 1), used, False
    if match["hex"] is not None:
        whole, _, part = match["hex"].partition(".")
        exponent = _clip(match["binexp"]) - 4 * len(part)
        digits = int(whole + part, 16)
        if abs(exponent) > 100_000:
            number, over = _extreme(digits, exponent)
        else:
            number, over = _rounded(digits << exponent, 1) if exponent >= 0 else _rounded(digits, 1 << -exponent)
    else:
        whole, _, part = match["dec"].partition(".")
        text = (whole + part).lstrip("0")
        exponent = _clip(match["decexp"]) - len(part)
        if len(text) > MAX_DIGITS:                           # further digits cannot change a half-way case
            exponent += len(text) - MAX_DIGITS
            text = text[:MAX_DIGITS - 1] + ("1" if text[MAX_DIGITS - 1:].strip("0") else "0")
        digits = _decimal_int(text)
        if abs(exponent + len(text)) > 30_000:
            number, over = _extreme(digits, exponent)
        elif exponent >= 0:
            number, over = _rounded(digits * 10 ** exponent, 1)
        else:
            number, over = _rounded(digits, 10 ** -exponent)
    return (negative, number[1], number[2]), used, over


def _clip(text: str | None) -> int:
    if not text:
        return 0
    return int(text) if len(text) < 9 else (-1_000_000 if text[0] == "-" else 1_000_000)


def _decimal_int(digits: str) -> int:
    """int() without Python's limit on the number of digits."""
    if len(digits) <= 4000:
        return int(digits or "0")
    half = len(digits) // 2
    shift: int = 10 ** (len(digits) - half)
    return _decimal_int(digits[:half]) * shift + _decimal_int(digits[half:])


def _decimal_text(value: int) -> str:
    """str() without Python's limit on the number of digits."""
    if value.bit_length() < 13_000:
        return str(value)
    half = value.bit_length() * 3 // 20
    high, low = divmod(value, 10 ** half)
    return _decimal_text(high) + _decimal_text(low).rjust(half, "0")


def _extreme(digits: int, exponent: int) -> tuple[Number, bool]:
    if not digits:
        return ZERO, False
    return ((False, None, 0), True) if exponent > 0 else (ZERO, True)


def _rounded(numerator: int, denominator: int) -> tuple[Number, bool]:
    """The nearest number to a fraction >= 0, and whether it is out of range."""
    if not numerator:
        return ZERO, False
    exponent = max(numerator.bit_length() - denominator.bit_length() - MANTISSA_BITS, MIN_EXPONENT)
    mantissa, exact = _divide(numerator, denominator, exponent)
    if mantissa >> MANTISSA_BITS:
        exponent += 1
        mantissa, exact = _divide(numerator, denominator, exponent)
        if mantissa >> MANTISSA_BITS:
            mantissa >>= 1
            exponent += 1
    if exponent > MAX_EXPONENT:
        return (False, None, 0), True
    tiny = exponent == MIN_EXPONENT and mantissa < 1 << MANTISSA_BITS - 1
    return (False, mantissa, exponent), tiny and not exact


def _divide(numerator: int, denominator: int, exponent: int) -> tuple[int, bool]:
    """numerator / (denominator * 2**exponent), rounded half to even, and whether that is exact."""
    if exponent > 0:
        denominator <<= exponent
    else:
        numerator <<= -exponent
    return _half_even(numerator, denominator)


def _half_even(numerator: int, denominator: int) -> tuple[int, bool]:
    quotient, rest = divmod(numerator, denominator)
    twice = 2 * rest
    if twice > denominator or (twice == denominator and quotient & 1):
        quotient += 1
    return quotient, not rest


def from_int(value: int) -> Number:
    number, _ = _rounded(abs(value), 1)
    return value < 0, number[1], number[2]


def from_float(value: float) -> Number:
    """A C double, exactly."""
    import math
    negative = math.copysign(1.0, value) < 0
    if value != value:
        return negative, None, 1
    if value in (math.inf, -math.inf):
        return negative, None, 0
    numerator, denominator = abs(value).as_integer_ratio()
    number, _ = _rounded(numerator, denominator)
    return negative, number[1], number[2]


def _fraction(number: Number) -> tuple[int, int]:
    _, mantissa, exponent = number
    assert mantissa is not None
    return (mantissa << exponent, 1) if exponent >= 0 else (mantissa, 1 << -exponent)


def to_text(number: Number, conversion: str, precision: int | None, alternative: bool = False) -> str:
    """Digits of |number| as `%f %e %g %a` (or upper case) give them: without sign, width and padding.

    The caller has checked that `precision` bytes fit into memory.
    """
    lower = conversion.lower()
    if number[1] is None:
        text = "nan" if number[2] else "inf"
    elif lower == "a":
        text = _hexadecimal(number, precision, alternative)
    else:
        precision = 6 if precision is None else precision
        if lower == "f":
            text = _fixed(number, precision, alternative)
        elif lower == "e":
            text = _scientific(number, precision, alternative)
        else:
            text = _general(number, precision, alternative)
    return text.upper() if conversion.isupper() else text


def _fixed(number: Number, precision: int, alternative: bool) -> str:
    numerator, denominator = _fraction(number)
    exact = min(precision, MAX_DIGITS)
    scaled, _ = _half_even(numerator * 10 ** exact, denominator)
    digits = _decimal_text(scaled).rjust(exact + 1, "0")
    whole = digits[:-exact] if exact else digits
    part = digits[-exact:].ljust(precision, "0") if exact else ""
    return f"{whole}.{part}" if part or alternative else whole


def _digits(number: Number, count: int) -> tuple[str, int]:
    """`count` significant digits and the decimal exponent of the first one."""
    numerator, denominator = _fraction(number)
    if not numerator:
        return "0" * count, 0
    exponent = (numerator.bit_length() - denominator.bit_length()) * 30103 // 100000 - 1
    while True:
        shift = count - 1 - exponent
        digits, _ = _half_even(*((numerator * 10 ** shift, denominator) if shift >= 0
                                 else (numerator, denominator * 10 ** -shift)))
        text = _decimal_text(digits)
        if len(text) <= count:
            return text.rjust(count, "0"), exponent
        exponent += 1


def _scientific(number: Number, precision: int, alternative: bool) -> str:
    exact = min(precision, MAX_DIGITS)
    digits, exponent = _digits(number, exact + 1)
    part = digits[1:].ljust(precision, "0")
    point = "." if part or alternative else ""
    return f"{digits[0]}{point}{part}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _general(number: Number, precision: int, alternative: bool) -> str:
    precision = precision or 1
    exponent = _digits(number, min(precision, MAX_DIGITS))[1]
    if exponent < -4 or exponent >= precision:
        text = _scientific(number, precision - 1, alternative)
        if not alternative:
            head, _, tail = text.partition("e")
            text = f"{_trimmed(head)}e{tail}"
        return text
    text = _fixed(number, precision - 1 - exponent, alternative)
    return text if alternative else _trimmed(text)


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _hexadecimal(number: Number, precision: int | None, alternative: bool) -> str:
    _, mantissa, exponent = number
    assert mantissa is not None
    if not mantissa:
        point = "." if precision or alternative else ""
        return f"0x0{point}{'0' * (precision or 0)}p+0"
    shift = MANTISSA_BITS - mantissa.bit_length()
    mantissa <<= shift
    exponent += 60 - shift
    if precision is not None and precision < 15:
        mantissa, _ = _half_even(mantissa, 1 << 4 * (15 - precision))
        if mantissa >> 4 * (precision + 1):
            mantissa >>= 4
            exponent += 4
        digits = f"{mantissa:x}"
        part = digits[1:]
    else:
        digits = f"{mantissa:x}"
        part = digits[1:].rstrip("0") if precision is None else digits[1:].ljust(precision, "0")
    point = "." if part or alternative else ""
    return f"0x{digits[0]}{point}{part}p{exponent:+d}"
