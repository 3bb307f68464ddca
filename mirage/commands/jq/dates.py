"""Dates: broken-down times [year, month from 0, day, hours, minutes, seconds, weekday, day of the year] in UTC."""
from __future__ import annotations

from mirage.commands.jq.errors import JqError
from mirage.commands.jq.numbers import normal
from mirage.commands.jq.values import is_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ISO = "%Y-%m-%dT%H:%M:%SZ"
DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")
LARGEST = 67_767_976_233_532_799                             # seconds whose year still fits an int


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 of a date of the proleptic Gregorian calendar; month from 1."""
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def civil_from_days(days: int) -> tuple[int, int, int]:
    days += 719468
    era = days // 146097
    of_era = days - era * 146097
    year_of_era = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    part = (5 * of_year + 2) // 153
    month = part + 3 if part < 10 else part - 9
    return year_of_era + era * 400 + (month <= 2), month, of_year - (153 * part + 2) // 5 + 1


def broken_down(seconds: float) -> list[Any]:
    whole = int(seconds // 1)
    days, rest = divmod(whole, 86400)
    year, month, day = civil_from_days(days)
    of_year = days - days_from_civil(year, 1, 1)
    return [year, month - 1, day, rest // 3600, rest // 60 % 60, normal(rest % 60 + (seconds - whole)),
            (days + 4) % 7, of_year]


def gmtime(value: Any, name: str = "gmtime") -> list[Any]:
    if not is_number(value):
        raise JqError(f"{name}() requires numeric inputs")
    if value != value or abs(value) > LARGEST:
        raise JqError("error converting number of seconds since epoch to datetime")
    return broken_down(float(value)) if type(value) is not int else broken_down(value)


def _fields(value: Any, what: str) -> list[int]:
    if type(value) is not list:
        raise JqError(f"{what} requires {'array' if what == 'mktime' else 'parsed datetime'} inputs")
    if len(value) < 8 or not all(map(is_number, value)):
        raise JqError(f"{what} requires parsed datetime inputs")
    return [int(item) if item == item and abs(item) < 2 ** 31 else 0 for item in value]


def seconds_of(fields: list[int]) -> int:
    """timegm(3): months and days beyond their range carry over."""
    year, month = fields[0] + fields[1] // 12, fields[1] % 12
    return (days_from_civil(year, month + 1, 1) + fields[2] - 1) * 86400 + fields[3] * 3600 + fields[4] * 60 + fields[5]


def mktime(value: Any) -> int:
    return seconds_of(_fields(value, "mktime"))


def strftime(value: Any, format: Any) -> str:
    return _strftime(value, format, "strftime/1", "gmtime")


def strflocaltime(value: Any, format: Any) -> str:
    return _strftime(value, format, "strflocaltime/1", "localtime")


def _strftime(value: Any, format: Any, what: str, convert: str) -> str:
    if is_number(value):
        value = gmtime(value, convert)
    elif type(value) is not list:
        raise JqError(f"{what} requires parsed datetime inputs")
    fields = _fields(value, what)
    if type(format) is not str:
        raise JqError(f"{what} requires a string format")
    return format_time(fields, format)


def format_time(fields: list[int], format: str) -> str:
    """strftime(3) in the C locale and UTC, on fields as they are (no range check)."""
    year, month, day, hour, minute, second, weekday, of_year = fields[:8]
    simple: dict[str, Callable[[], str]] = {
        "Y": lambda: str(year), "C": lambda: f"{year // 100:02d}", "y": lambda: f"{year % 100:02d}",
        "m": lambda: f"{month + 1:02d}", "d": lambda: f"{day:02d}", "e": lambda: f"{day:2d}",
        "H": lambda: f"{hour:02d}", "k": lambda: f"{hour:2d}", "I": lambda: f"{hour % 12 or 12:02d}",
        "l": lambda: f"{hour % 12 or 12:2d}", "M": lambda: f"{minute:02d}", "S": lambda: f"{second:02d}",
        "p": lambda: "PM" if hour >= 12 else "AM", "P": lambda: "pm" if hour >= 12 else "am",
        "j": lambda: f"{of_year + 1:03d}", "Z": lambda: "UTC", "z": lambda: "+0000", "n": lambda: "\n",
        "t": lambda: "\t", "%": lambda: "%", "w": lambda: str(weekday), "u": lambda: str(weekday or 7),
        "a": lambda: DAYS[weekday % 7][:3], "A": lambda: DAYS[weekday % 7], "b": lambda: MONTHS[month % 12][:3],
        "h": lambda: MONTHS[month % 12][:3], "B": lambda: MONTHS[month % 12], "s": lambda: str(seconds_of(fields)),
        "U": lambda: f"{(of_year + 7 - weekday) // 7:02d}",
        "W": lambda: f"{(of_year + 7 - (weekday - 1) % 7) // 7:02d}",
        "G": lambda: str(iso_week(year, of_year, weekday)[0]),
        "g": lambda: f"{iso_week(year, of_year, weekday)[0] % 100:02d}",
        "V": lambda: f"{iso_week(year, of_year, weekday)[1]:02d}",
    }
    compound = {"F": "%Y-%m-%d", "T": "%H:%M:%S", "R": "%H:%M", "D": "%m/%d/%y", "r": "%I:%M:%S %p",
                "c": "%a %b %e %H:%M:%S %Y", "x": "%m/%d/%y", "X": "%H:%M:%S", "h": "%b"}
    out = []
    at = 0
    while at < len(format):
        c = format[at]
        at += 1
        if c != "%" or at >= len(format):
            out.append(c)
            continue
        letter = format[at]
        at += 1
        flag = ""
        while letter in "-_0^#EO" and at < len(format):
            flag, letter = letter, format[at]
            at += 1
        if letter in simple:
            piece = simple[letter]()
            if flag == "-":
                piece = piece.lstrip("0 ") or "0"
            elif flag == "_":
                piece = piece.lstrip("0").rjust(len(piece)) if piece.strip("0") else "0".rjust(len(piece))
            elif flag == "^":
                piece = piece.upper()
            out.append(piece)
        elif letter in compound:
            out.append(format_time(fields, compound[letter]))
        else:
            out.append("%" + letter)
    return "".join(out)


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def iso_week(year: int, of_year: int, weekday: int) -> tuple[int, int]:
    """(year, week) of ISO 8601."""
    monday = (weekday - 1) % 7
    week = (of_year - monday + 10) // 7
    if week < 1:
        days = 366 if is_leap(year - 1) else 365
        return year - 1, (of_year + days - monday + 10) // 7
    days = 366 if is_leap(year) else 365
    if week == 53 and of_year - monday + 3 >= days:
        return year + 1, 1
    return year, week


def strptime(value: Any, format: Any) -> list[Any]:
    if type(value) is not str or type(format) is not str:
        raise JqError("strptime/1 requires string inputs and arguments")
    fields = parse_time(value, format)
    if fields is None:
        raise JqError(f'date "{value}" does not match format "{format}"')
    return fields


NUMERIC = {"d": (2, 1, 31), "e": (2, 1, 31), "H": (2, 0, 23), "k": (2, 0, 23), "I": (2, 1, 12), "l": (2, 1, 12),
           "M": (2, 0, 59), "S": (2, 0, 61), "m": (2, 1, 12), "j": (3, 1, 366), "y": (2, 0, 99), "Y": (4, 0, 9999),
           "C": (2, 0, 99), "w": (1, 0, 6), "u": (1, 1, 7), "U": (2, 0, 53), "W": (2, 0, 53), "V": (2, 0, 53)}
EXPANSIONS = {"T": "%H:%M:%S", "R": "%H:%M", "D": "%m/%d/%y", "F": "%Y-%m-%d", "r": "%I:%M:%S %p",
              "c": "%a %b %e %H:%M:%S %Y", "x": "%m/%d/%y", "X": "%H:%M:%S"}


def parse_time(text: str, format: str) -> list[Any] | None:
    """strptime(3) of glibc, as far as jq's use goes; None where the text does not match."""
    found: dict[str, int] = {}
    if _scan(text, format, 0, found) != len(text):
        return None
    if "s" in found:
        return broken_down(found["s"])
    year = found.get("Y", 1900)
    if "Y" not in found and ("y" in found or "C" in found):
        short = found.get("y", 0)
        year = found["C"] * 100 + short if "C" in found else short + (1900 if short >= 69 else 2000)
    hour = found.get("H", 0)
    if "I" in found:
        hour = found["I"] % 12 + (12 if found.get("p") else 0)
    month, day = found.get("m"), found.get("d")
    if month is None and day is None and "j" in found:
        date = civil_from_days(days_from_civil(year, 1, 1) + found["j"] - 1)
        month, day = date[1], date[2]
    first, of_month = (month or 1), (day if day is not None else 0)
    weekday, of_year = 8, 367                                # jq's marks of "not known"
    if found.keys() & {"Y", "y", "C", "m", "d", "j"}:
        days = days_from_civil(year, first, of_month)
        weekday, of_year = (days + 4) % 7, days - days_from_civil(year, 1, 1)
    return [year, first - 1, of_month, hour, found.get("M", 0), found.get("S", 0), weekday, of_year]


def _scan(text: str, format: str, at: int, found: dict[str, int]) -> int:
    """The position behind what `format` matched, or -1."""
    n = 0
    while n < len(format):
        c = format[n]
        n += 1
        if c.isspace():
            while at < len(text) and text[at].isspace():
                at += 1
            continue
        if c != "%" or n >= len(format):
            if at >= len(text) or text[at] != c:
                return -1
            at += 1
            continue
        letter = format[n]
        n += 1
        while letter in "EO-_0^#" and n < len(format):
            letter = format[n]
            n += 1
        at = _directive(text, letter, at, found)
        if at < 0:
            return -1
    return at


def _directive(text: str, letter: str, at: int, found: dict[str, int]) -> int:
    if letter in EXPANSIONS:
        return _scan(text, EXPANSIONS[letter], at, found)
    if letter in "aAbBhpP":
        choices = DAYS if letter in "aA" else MONTHS if letter in "bBh" else ("AM", "PM")
        rest = text[at:].lower()
        for number, name in enumerate(choices):
            for spelling in (name.lower(), name[:3].lower()):
                if rest.startswith(spelling):
                    if letter in "bBh":
                        found["m"] = number + 1
                    elif letter in "pP":
                        found["p"] = number
                    return at + len(spelling)
        return -1
    if letter == "z":
        return _zone(text, at)
    if letter == "Z":
        while at < len(text) and text[at].isalpha():
            at += 1
        return at
    if letter in "nt":
        while at < len(text) and text[at].isspace():
            at += 1
        return at
    if letter == "%":
        return at + 1 if text[at:at + 1] == "%" else -1
    if letter == "s":
        return _number(text, at, 19, "s", found, 0, 1 << 62)
    if letter not in NUMERIC:
        return -1
    width, low, high = NUMERIC[letter]
    return _number(text, at, width, {"e": "d", "k": "H", "l": "I"}.get(letter, letter), found, low, high)


def _number(text: str, at: int, width: int, key: str, found: dict[str, int], low: int, high: int) -> int:
    while at < len(text) and text[at] == " ":
        at += 1
    start = at
    while at < len(text) and at - start < width and text[at].isdecimal():
        at += 1
    if at == start or not low <= int(text[start:at]) <= high:
        return -1
    found[key] = int(text[start:at])
    return at


def _zone(text: str, at: int) -> int:
    if text[at:at + 1] == "Z":
        return at + 1
    if text[at:at + 1] not in ("+", "-"):
        return -1
    digits = text[at + 1:at + 6].replace(":", "")[:4]
    if len(digits) < 2 or not digits.isdecimal():
        return -1
    return at + 1 + len(digits) + (1 if ":" in text[at + 1:at + 6] else 0)


def date_from(value: Any) -> int:
    return mktime(strptime(value, ISO))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "gmtime/0": gmtime, "localtime/0": lambda v: gmtime(v, "localtime"), "mktime/0": mktime,
    "strftime/1": strftime, "strflocaltime/1": strflocaltime, "strptime/1": strptime,
    "fromdateiso8601/0": date_from, "fromdate/0": date_from,
    "todateiso8601/0": lambda v: strftime(v, ISO), "todate/0": lambda v: strftime(v, ISO),
    "date/0": lambda v: strftime(v, ISO), "dateadd/2": lambda v, unit, n: date_from(v) + n,
    "datesub/2": lambda v, unit, n: date_from(v) - n,
}
