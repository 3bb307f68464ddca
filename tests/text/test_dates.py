"""Dates as `date -d` reads them (values of coreutils 9.7 at one moment), and POSIX time zones."""
from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mirage.text import dates, timezones

NOW = datetime(2024, 5, 15, 10, 30, 45, tzinfo=UTC)        # a Wednesday
NOW_NS = int(NOW.timestamp()) * 10**9 + 5

GOOD = [
    ("@0", "1970-01-01 00:00:00"), ("@86400.5", "1970-01-02 00:00:00"), ("now", "2024-05-15 10:30:45"),
    ("today", "2024-05-15 10:30:45"), ("yesterday", "2024-05-14 10:30:45"), ("tomorrow", "2024-05-16 10:30:45"),
    ("", "2024-05-15 00:00:00"), ("2020-02-03", "2020-02-03 00:00:00"), ("20200203 1530", "2020-02-03 15:30:00"),
    ("2020-02-03T04:05:06Z", "2020-02-03 04:05:06"), ("2020-02-03T04:05:06+02:00", "2020-02-03 02:05:06"),
    ("2020-02-03 04:05 EST", "2020-02-03 09:05:00"), ("1 Feb 2021", "2021-02-01 00:00:00"),
    ("Feb 1, 2021 5pm", "2021-02-01 17:00:00"), ("12/25/1999", "1999-12-25 00:00:00"), ("12am", "2024-05-15 00:00:00"),
    ("Thu, 01 Jan 1970 00:00:00 +0000", "1970-01-01 00:00:00"), ("monday", "2024-05-20 00:00:00"),
    ("wednesday", "2024-05-15 00:00:00"), ("next wednesday", "2024-05-22 00:00:00"), ("last friday", "2024-05-10 00:00:00"),
    ("next week", "2024-05-22 10:30:45"), ("2 fortnights ago", "2024-04-17 10:30:45"),
    ("1 month ago", "2024-04-15 10:30:45"), ("3 days ago 12:00", "2024-05-12 12:00:00"),
    ("2020-01-31 +1 month", "2020-03-02 00:00:00"), ("-90 minutes", "2024-05-15 09:00:45"),
    ("1 year 2 months ago", "2025-03-15 10:30:45"), ("1530", "2024-05-15 15:30:00"),
    ('TZ="Europe/Berlin" 2024-07-01 12:00', "2024-07-01 10:00:00"), ("2020-06-01 (noted) 10:00", "2020-06-01 10:00:00"),
]


@pytest.mark.parametrize(("text", "expected"), GOOD, ids=[g[0] or "empty" for g in GOOD])
def test_reads(text: str, expected: str) -> None:
    seconds = dates.parse(text, NOW_NS, UTC) // 10**9
    assert f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}" == expected


@pytest.mark.parametrize("text", ["foo", "2020-02-30", "2020-13-01", "25:00", "13pm", "24:00", "12:00 13:00", "@x", "1st",
                                  "10:00:61", "2020-01-01 2020-01-02", "99999999999999999999"])
def test_refuses(text: str) -> None:
    with pytest.raises(ValueError):
        dates.parse(text, NOW_NS, UTC)


def test_fractions_are_kept() -> None:
    assert dates.parse("2020-01-01 00:00:00.25", NOW_NS, UTC) % 10**9 == 250_000_000
    assert dates.parse("@-1.5", NOW_NS, UTC) == -1_500_000_000


def test_a_time_that_the_zone_skips_is_none() -> None:
    zone = timezones.find("America/New_York")
    with pytest.raises(ValueError):
        dates.parse("2024-03-10 02:30", NOW_NS, zone)


@pytest.mark.parametrize(("name", "utc", "local", "abbreviation"), [
    ("EST5EDT", "2024-07-01 12:00", "08:00", "EDT"), ("EST5EDT", "2024-01-01 12:00", "07:00", "EST"),
    ("CET-1CEST,M3.5.0,M10.5.0/3", "2024-10-27 00:30", "02:30", "CEST"),
    ("CET-1CEST,M3.5.0,M10.5.0/3", "2024-10-27 01:30", "02:30", "CET"),
    ("<+0330>-3:30", "2024-01-01 00:00", "03:30", "+0330"), ("UTC+2", "2024-01-01 12:00", "10:00", "UTC"),
    ("Asia/Tokyo", "2024-01-01 00:00", "09:00", "JST"), ("", "2024-01-01 00:00", "00:00", "UTC"),
    ("No/Such", "2024-01-01 05:00", "05:00", "UTC"),
])
def test_zones(name: str, utc: str, local: str, abbreviation: str) -> None:
    when = datetime.strptime(utc, "%Y-%m-%d %H:%M").replace(tzinfo=UTC).astimezone(timezones.find(name))
    assert (f"{when:%H:%M}", when.tzname()) == (local, abbreviation)
