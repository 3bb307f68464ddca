"""strftime(3) of the C locale with GNU's flags: `%-d %_H %^a %#Z %010Y %:z %N %3N`."""
from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December")
MAX_WIDTH = 1 << 20

_CONVERSION = re.compile(r"%([-_0+^#]*)([0-9]*)([EO]?)(:{0,3})(.)", re.DOTALL)
_COMPOSED = {"c": "%a %b %e %H:%M:%S %Y", "D": "%m/%d/%y", "F": "%Y-%m-%d", "r": "%I:%M:%S %p", "R": "%H:%M",
             "T": "%H:%M:%S", "X": "%H:%M:%S", "x": "%m/%d/%y"}


def strftime(text: str, when: datetime, nanoseconds: int | None = 0, *, gnu: bool = True) -> str:
    """`text` with its conversions replaced by the parts of `when`, an aware datetime.

    `nanoseconds` is what %N prints. With `gnu` False it is the C library's function, which has no %N and `%:z`
    (bash's `%(...)T`, gawk), else that of date(1) and ls(1). Conversions that are unknown stay as they are.
    """
    if "%" not in text:
        return text
    return _CONVERSION.sub(lambda match: _convert(match, when, nanoseconds or 0, gnu), text)


def _convert(match: re.Match[str], when: datetime, nanoseconds: int, gnu: bool) -> str:
    flags, width_text, _, colons, letter = match.groups()
    width = min(int(width_text), MAX_WIDTH) if len(width_text) < 9 and width_text else MAX_WIDTH if width_text else 0
    pad = next((flag for flag in reversed(flags) if flag in "-_0+"), "")
    if colons and (letter != "z" or not gnu):
        return match[0]
    if letter == "%":
        return "%" if len(match[0]) == 2 else match[0]
    if letter in "nt":
        return _text("\n" if letter == "n" else "\t", pad, width)
    if letter == "z":
        return _offset(when, len(colons), pad, width)
    if letter == "N":
        return _fraction(nanoseconds, pad, width_text) if gnu else match[0]
    if letter in _COMPOSED:
        return _composed(_COMPOSED[letter], when, flags, pad, width, letter)
    number = _number(letter, when) if letter != "q" or gnu else None
    if number is not None:
        value, digits, default = number
        signed = pad == "+" and width > (4 if letter in "YG" else 2) and letter in "YGC"
        return _padded(value, "+" if signed else "", digits, default, pad, width)
    name = _name(letter, when)
    if name is None:
        return match[0]
    if letter == "P":
        name = name.lower()
    elif "^" in flags:
        name = name.upper()
    elif "#" in flags:
        name = name.lower() if letter in "pZ" else name.upper()
    return _text(name, pad, width)


def _text(text: str, pad: str, width: int) -> str:
    return text if pad == "-" else text.rjust(width, "0" if pad in ("0", "+") else " ")


def _composed(text: str, when: datetime, flags: str, pad: str, width: int, letter: str) -> str:
    if letter == "F":
        year = str(when.year)
        if width > 6 and pad != "-":
            year = strftime(f"%{pad}{width - 6}Y", when)
        return f"{year}-{when.month:02d}-{when.day:02d}"
    whole = strftime(text, when)
    if "^" in flags:
        whole = whole.upper()
    return _text(whole, pad, width)


def _number(letter: str, when: datetime) -> tuple[int, int, str] | None:
    """(value, digits, padding) of the conversions that print a number."""
    if letter == "Y":
        return when.year, 1, "0"
    if letter == "d":
        return when.day, 2, "0"
    if letter == "m":
        return when.month, 2, "0"
    if letter == "H":
        return when.hour, 2, "0"
    if letter == "M":
        return when.minute, 2, "0"
    if letter == "S":
        return when.second, 2, "0"
    if letter == "e":
        return when.day, 2, " "
    if letter == "I":
        return (when.hour - 1) % 12 + 1, 2, "0"
    if letter == "k":
        return when.hour, 2, " "
    if letter == "l":
        return (when.hour - 1) % 12 + 1, 2, " "
    if letter == "j":
        return when.timetuple().tm_yday, 3, "0"
    if letter == "y":
        return when.year % 100, 2, "0"
    if letter == "C":
        return when.year // 100, 2, "0"
    if letter == "s":
        return int((when - _epoch()).total_seconds() // 1), 1, "0"
    if letter == "u":
        return when.isoweekday(), 1, "0"
    if letter == "w":
        return when.isoweekday() % 7, 1, "0"
    if letter == "q":
        return (when.month + 2) // 3, 1, "0"
    if letter == "G":
        return when.isocalendar()[0], 1, "0"
    if letter == "g":
        return when.isocalendar()[0] % 100, 2, "0"
    if letter == "V":
        return when.isocalendar()[1], 2, "0"
    day = when.timetuple().tm_yday - 1
    if letter == "U":
        return (day + 7 - when.isoweekday() % 7) // 7, 2, "0"
    if letter == "W":
        return (day + 7 - (when.isoweekday() - 1)) // 7, 2, "0"
    return None


def _epoch() -> datetime:
    from datetime import UTC, datetime

    return datetime(1970, 1, 1, tzinfo=UTC)


def _padded(value: int, sign: str, digits: int, default: str, pad: str, width: int, body: str = "") -> str:
    """A number; `width`, where there is one, counts instead of `digits`, the sign included."""
    body = body or str(abs(value))
    sign = "-" if value < 0 else sign
    if pad == "-":
        return sign + body
    width = width or digits
    if (pad or default) in ("_", " "):
        return (sign + body).rjust(width)
    return sign + body.rjust(width - len(sign), "0")


def _name(letter: str, when: datetime) -> str | None:
    if letter == "a":
        return DAYS[when.weekday()][:3]
    if letter == "A":
        return DAYS[when.weekday()]
    if letter in ("b", "h"):
        return MONTHS[when.month - 1][:3]
    if letter == "B":
        return MONTHS[when.month - 1]
    if letter in ("p", "P"):
        return "AM" if when.hour < 12 else "PM"
    if letter == "Z":
        return when.tzname() or ""
    return None


def _fraction(nanoseconds: int, pad: str, width: str) -> str:
    digits = f"{nanoseconds:09d}"
    size = int(width) if width and len(width) < 7 else 9
    if size <= 9:
        digits = digits[:size or 9]
    elif pad != "-":
        digits = digits.ljust(size, "0")
    if pad == "-":
        return digits.rstrip("0") or "0"
    return digits


def _offset(when: datetime, colons: int, pad: str, width: int) -> str:
    delta = when.utcoffset()
    total = int(delta.total_seconds()) if delta is not None else 0
    sign = "-" if total < 0 else "+"
    hours, rest = divmod(abs(total), 3600)
    minutes, seconds = divmod(rest, 60)
    if colons == 3:
        colons = 2 if seconds else 1 if minutes else -1
    if colons == 2:
        body, digits = f"{hours}:{minutes:02d}:{seconds:02d}", 9
    elif colons == 1:
        body, digits = f"{hours}:{minutes:02d}", 6
    elif colons == 0:
        body, digits = str(hours * 100 + minutes), 5
    else:
        body, digits = str(hours), 3
    return _padded(0, sign, digits, "0", pad, width, body)


def at(seconds: int, zone: str | None, nanoseconds: int = 0) -> datetime:
    """The moment `seconds` after the epoch in the zone that $TZ=`zone` selects; beyond years 1 to 9999 clipped."""
    from datetime import UTC, timedelta

    from mirage.text import timezones

    seconds = max(-62_135_500_000, min(seconds, 253_402_300_799))
    moment = _epoch() + timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
    tz = timezones.find(zone) if zone else UTC
    try:
        return moment if tz is UTC else moment.astimezone(tz)
    except OverflowError:
        return moment
