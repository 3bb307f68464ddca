"""strftime: values of date(1) of coreutils 9.7 and of bash's printf."""
from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage.text.strftime import at, strftime

MOMENT = 1_000_000_005
NANOSECONDS = 123_456_789


@pytest.mark.parametrize(("text", "expected"), [
    ("%a|%A|%b|%B|%h", "Sun|Sunday|Sep|September|Sep"),
    ("%c|%D|%F|%r|%R|%T|%x|%X", "Sun Sep  9 01:46:45 2001|09/09/01|2001-09-09|01:46:45 AM|01:46|01:46:45|09/09/01|"
     "01:46:45"),
    ("%C|%y|%Y|%g|%G|%V|%U|%W|%u|%w|%j|%q", "20|01|2001|01|2001|36|36|36|7|0|252|3"),
    ("%d|%e|%m|%H|%I|%k|%l|%M|%S|%p|%P", "09| 9|09|01|01| 1| 1|46|45|AM|am"),
    ("%s|%N|%3N|%12N|%-N", "1000000005|123456789|123|123456789000|123456789"),
    ("%z|%:z|%::z|%:::z|%Z", "+0000|+00:00|+00:00:00|+00|UTC"),
    ("%-d|%_d|%0e|%5d|%-5d|%_5d", "9| 9|09|00009|9|    9"),
    ("%^a|%#a|%#Z|%#p|%^P|%#B", "SUN|SUN|utc|am|am|SEPTEMBER"),
    ("%10Y|%_10Y|%+10Y|%+4C|%12F|%_12F", "0000002001|      2001|+000002001|+020|002001-09-09|  2001-09-09"),
    ("%10a|%010a|%-10a|%10T", "       Sun|0000000Sun|Sun|  01:46:45"),
    ("%_10z|%10z|%-z|%_z|%5:z", "        +0|+000000000|+0|   +0|+0:00"),
    ("%Ey|%Od|%E|%Q|%:|%:d|%", "01|09|%E|%Q|%:|%:d|%"),
    ("100%%%n%t.", "100%\n\t."),
])
def test_date(text: str, expected: str) -> None:
    assert strftime(text, at(MOMENT, "UTC"), NANOSECONDS) == expected


def test_the_c_library_knows_less() -> None:
    assert strftime("%N|%:z|%q|%s", at(MOMENT, "UTC"), gnu=False) == "%N|%:z|%q|1000000005"


@pytest.mark.parametrize(("zone", "seconds", "expected"), [
    ("America/New_York", MOMENT, "Sat Sep  8 21:46:45 2001 -0400 EDT"),
    ("Asia/Kolkata", 0, "Thu Jan  1 05:30:00 1970 +0530 IST"),
    ("", 0, "Thu Jan  1 00:00:00 1970 +0000 UTC"),
])
def test_zones(zone: str, seconds: int, expected: str) -> None:
    assert strftime("%c %z %Z", at(seconds, zone)) == expected


def test_offsets_with_flags() -> None:
    assert strftime("%:::z %_z %-z %_8z %8z", at(0, "Asia/Kolkata")) == "+05:30  +530 +530     +530 +0000530"


@given(st.datetimes(datetime(1, 1, 2), datetime(9998, 12, 31)))
def test_agrees_with_python(moment: datetime) -> None:
    moment = moment.replace(tzinfo=UTC)
    text = "%d %m %H:%M:%S %j %U %W %V %u %w %y %a %b %p"
    assert strftime(text, moment) == moment.strftime(text)


def test_a_huge_width_is_bounded() -> None:
    assert len(strftime("%999999999999d", at(0, "UTC"))) <= 1 << 20
