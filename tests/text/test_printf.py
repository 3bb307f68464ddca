"""The conversions of printf on single values."""
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage.process.kernel import Kernel
from mirage.process.limits import Limits
from mirage.process.signals import LimitExceeded
from mirage.text import extended, printf

FLAGS = st.lists(st.sampled_from("-+ #0"), unique=True).map("".join)
SIZE = st.one_of(st.none(), st.integers(0, 30))


@given(st.integers(-(1 << 63), (1 << 63) - 1), st.sampled_from("diouxX"), FLAGS, SIZE, SIZE)
def test_integers_as_in_python(value: int, conversion: str, flags: str, width: int | None,
                               precision: int | None) -> None:
    if conversion in "oxXu":
        value = abs(value)
        flags = flags.replace("+", "").replace(" ", "").replace("#", "")
    else:
        flags = flags.replace("#", "")
    if precision is not None:
        flags = flags.replace("0", "")
    spec = f"%{flags}{'' if width is None else width}{'' if precision is None else f'.{precision}'}{conversion}"
    expected = spec % value
    if precision == 0 and value == 0:
        return
    assert printf.format_integer(value, conversion, flags, width, precision) == expected


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from("feEgG"), FLAGS, SIZE, SIZE)
def test_floats_as_in_python(value: float, conversion: str, flags: str, width: int | None,
                             precision: int | None) -> None:
    spec = f"%{flags}{'' if width is None else width}{'' if precision is None else f'.{precision}'}{conversion}"
    number = extended.from_float(value)
    assert printf.format_float(number, conversion, flags, width, precision) == spec % value


@pytest.mark.parametrize(("value", "conversion", "flags", "width", "precision", "expected"), [
    (-1, "u", "", None, None, "18446744073709551615"),
    (-1, "x", "#", None, None, "0xffffffffffffffff"),
    (8, "o", "#", None, None, "010"),
    (0, "x", "#", None, None, "0"),
    (0, "o", "#", None, 0, "0"),
    (0, "d", "", 3, 0, "   "),
    (255, "X", "#0", 8, None, "0X0000FF"),
])
def test_integers(value: int, conversion: str, flags: str, width: int | None, precision: int | None,
                  expected: str) -> None:
    assert printf.format_integer(value, conversion, flags, width, precision) == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("12", (12, 2)), (" -12x", (-12, 4)), ("0x1F", (31, 4)), ("017", (15, 3)), ("08", (0, 1)), ("0b101", (5, 5)),
    ("", (0, 0)), ("word", (0, 0)), ("+7", (7, 2)), ("0x", (0, 1)),
])
def test_parse_integer(text: str, expected: tuple[int, int]) -> None:
    assert printf.parse_integer(text) == expected


def test_a_huge_number_stays_huge() -> None:
    value, used = printf.parse_integer("9" * 5000)
    assert value > printf.UINTMAX and used == 5000


def test_padding_and_cutting_count_bytes() -> None:
    assert printf.pad("é", "", 4) == "  é"
    assert printf.pad("é", "-", 4) == "é  "
    assert printf.cut("éa", 1) == "\udcc3"
    assert printf.cut("éa", 2) == "é"


@pytest.mark.parametrize(("value", "expected"), [
    (0x41, b"A"), (0xE9, "é".encode()), (0x1F600, "😀".encode()), (0xD800, b"\xed\xa0\x80"),
    (0x110000, b"\xf4\x90\x80\x80"), (0x7FFFFFFF, b"\xfd\xbf\xbf\xbf\xbf\xbf"),
])
def test_code_points(value: int, expected: bytes) -> None:
    assert printf.code_point(value).encode("utf-8", "surrogateescape") == expected


class Recorder(printf.Printf):
    """The engine with the least of a dialect."""

    _compiled: dict[Any, Any] = {}

    def integer(self, text: str, signed: bool) -> int:
        return printf.parse_integer(text)[0]

    @classmethod
    def check_directive(cls, directive: printf.Directive) -> printf.Problem | None:
        return None


def test_widths_are_checked_before_they_are_made() -> None:
    kernel = Kernel(Limits(memory=1 << 20))
    assert Recorder(kernel).run("%1000d|", ["7"]) == " " * 999 + "7|"
    with pytest.raises(LimitExceeded):
        Recorder(kernel).run("%1000000000d", ["7"])
    with pytest.raises(LimitExceeded):
        Recorder(kernel).run("%.*d", ["1000000000", "7"])


def test_arguments_are_used_up() -> None:
    kernel = Kernel(Limits())
    assert Recorder(kernel).run("%s-%s ", ["a", "b", "c"]) == "a-b c- "
    assert Recorder(kernel).run("x", ["a", "b"]) == "x"
