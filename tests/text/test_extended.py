"""Extended precision: for doubles the same digits as C's printf, beyond them those of glibc's long double."""
from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage.text import extended

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE, st.integers(0, 40), st.sampled_from("feg"))
def test_doubles_print_as_in_c(value: float, precision: int, conversion: str) -> None:
    number = extended.from_float(value)
    assert extended.to_text(number, conversion, precision) == f"%.{precision}{conversion}" % abs(value)
    assert extended.to_text(number, conversion, precision, True) == f"%#.{precision}{conversion}" % abs(value)


@given(FINITE)
def test_repr_of_a_double_is_read_back(value: float) -> None:
    number, used, _ = extended.parse(repr(value))
    assert used == len(repr(value))
    assert float(extended.to_text(number, "e", 25)) == abs(value)
    assert number[0] is (math.copysign(1, value) < 0)


@given(st.integers(-(1 << 64) + 1, (1 << 64) - 1))
def test_integers_of_64_bits_are_exact(value: int) -> None:
    assert extended.to_text(extended.from_int(value), "f", 0) == str(abs(value))


@pytest.mark.parametrize(("text", "conversion", "precision", "expected"), [
    ("0.1", "f", 25, "0.1000000000000000000013553"),
    ("2.675", "f", 2, "2.67"),
    ("1e400", "e", 3, "1.000e+400"),
    ("12345678901234567890", "f", 0, "12345678901234567890"),
    ("0x1p4", "g", 6, "16"),
    ("0x.8", "f", 1, "0.5"),
    ("1", "a", None, "0x8p-3"),
    ("0.1", "A", None, "0XC.CCCCCCCCCCCCCCDP-7"),
    ("1.9999999", "a", 0, "0x1p+1"),
    ("15.999", "a", 2, "0x1.00p+4"),
    ("infinity", "F", 2, "INF"),
    ("nan(x)", "f", 2, "nan"),
    ("1e-4940", "e", 6, "1.000000e-4940"),
])
def test_texts(text: str, conversion: str, precision: int | None, expected: str) -> None:
    number, used, _ = extended.parse(text)
    assert used == len(text)
    assert extended.to_text(number, conversion, precision) == expected


@pytest.mark.parametrize(("text", "used", "out_of_range"), [
    ("1.5x", 3, False), ("", 0, False), ("word", 0, False), (" +.5e", 4, False), ("1e5000", 6, True),
    ("1e-5000", 7, True), ("0e999999999", 11, False), ("1" + "0" * 30000, 30001, True), ("1e9999999999", 12, True),
])
def test_what_is_used_of_a_text(text: str, used: int, out_of_range: bool) -> None:
    assert extended.parse(text)[1:] == (used, out_of_range)


def test_long_texts_round_correctly() -> None:
    tie = "1." + "0" * 19 + "542101086242752217003726400434970855712890625"  # 1 + 2**-64, half of the last place
    assert extended.parse(tie)[0] == extended.from_int(1)
    assert extended.parse(tie + "0" * 20000 + "1")[0] == (False, (1 << 63) + 1, -63)
