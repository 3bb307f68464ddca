"""cal and ncal -C: a calendar (bsdmainutils)."""
from __future__ import annotations

import re

from mirage.commands._getopt import Spec, parse
from mirage.process.signals import Exit
from mirage.text.strftime import MONTHS, at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

USAGE = """Usage: cal [general options] [-jy] [[month] year]
       cal [general options] [-j] [-m month] [year]
       ncal -C [general options] [-jy] [[month] year]
       ncal -C [general options] [-j] [-m month] [year]
       ncal [general options] [-bhJjpwySM] [-H yyyy-mm-dd] [-s country_code] [-W number of days] [[month] year]
       ncal [general options] [-Jeo] [year]
General options: [-31] [-A months] [-B months] [-d yyyy-mm]
"""
SPEC = Spec("13A:B:Cd:hH:jm:NyMSbpws:W:Jeo")


def _fail(proc: Process, text: str) -> Exit:
    proc.stdout.flush()
    proc.message(text)
    proc.write_error(USAGE)
    return Exit(64)


class Month:
    """The days of one month: (day of the month, weekday from Sunday, day of the year)."""

    def __init__(self, year: int, month: int) -> None:
        self.year = year + (month - 1) // 12
        self.month = (month - 1) % 12 + 1
        self.days = _days(self.year, self.month)


def _leap(year: int) -> bool:
    return year % 4 == 0 and (year <= 1752 or year % 100 != 0 or year % 400 == 0)


def _length(year: int, month: int) -> int:
    return (31, 29 if _leap(year) else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def _days(year: int, month: int) -> list[tuple[int, int, int]]:
    day_of_year = sum(_length(year, m) for m in range(1, month)) - (11 if year == 1752 and month > 9 else 0)
    out = []
    for day in range(1, _length(year, month) + 1):
        if (year, month) == (1752, 9) and 2 < day < 14:
            continue
        day_of_year += 1
        out.append((day, _weekday(year, month, day), day_of_year))
    return out


def _weekday(year: int, month: int, day: int) -> int:
    """0 for Sunday; Zeller's congruence, Julian before 14 September 1752."""
    shift = (14 - month) // 12
    y, m = year - shift, month + 12 * shift - 2
    if (year, month, day) < (1752, 9, 14):
        return (5 + day + y + y // 4 + 31 * m // 12) % 7
    return (day + y + y // 4 - y // 100 + y // 400 + 31 * m // 12) % 7


def month_lines(month: Month, julian: bool, year_in_title: bool) -> list[str]:
    """Title, names of the days and six weeks, each padded to the width of the calendar and two blanks."""
    cell = 4 if julian else 3
    width = 7 * cell - 1
    title = MONTHS[month.month - 1] + (f" {month.year}" if year_in_title else "")
    left = (width - len(title)) // 2
    head = " " * left + title
    names = " ".join(("Su", "Mo", "Tu", "We", "Th", "Fr", "Sa")) if not julian else \
        " Su  Mo  Tu  We  Th  Fr  Sa"
    lines = [head.ljust(width + 2), names.ljust(width + 2)]
    row = [""] * 7
    weeks = []
    for day, weekday, of_year in month.days:
        row[weekday] = str(of_year if julian else day)
        if weekday == 6:
            weeks.append(row)
            row = [""] * 7
    if any(row):
        weeks.append(row)
    while len(weeks) < 6:
        weeks.append([""] * 7)
    lines += [" ".join(text.rjust(cell - 1) for text in week).ljust(width + 2) for week in weeks]
    return lines


def main(proc: Process) -> int:
    if proc.argv[1:2] in (["--help"], ["--version"]):
        proc.stdout.write((USAGE if proc.argv[1] == "--help" else f"{proc.name} (Mirage)\n").encode())
        return 0
    for arg in proc.argv[1:]:
        if arg == "--":
            break
        if arg.startswith("--"):
            raise _fail(proc, "invalid option -- '-'")
        if arg.startswith("-") and len(arg) > 1 and arg[1] not in SPEC.short:
            raise _fail(proc, f"invalid option -- '{arg[1]}'")
    options, operands = parse(proc, SPEC)
    flags = {key for key, _ in options}
    values = dict(options)
    now = at(int(proc.now()), proc.env.get("TZ", proc.machine.tz))
    year, month = now.year, now.month
    whole = "y" in flags
    if "d" in flags:
        found = re.fullmatch(r"([0-9]{1,4})-([0-9]{1,2})", values["d"])
        if not found or not 1 <= int(found[2]) <= 12:
            raise _fail(proc, f"{values['d']} is an invalid date")
        year, month = int(found[1]), int(found[2])
    if len(operands) > 2:
        proc.write_error(USAGE)
        return 64
    if len(operands) == 2:
        month = _month(proc, operands[0])
    if operands:
        year = _year(proc, operands[-1])
        whole = whole or len(operands) == 1 and "m" not in flags
    if "m" in flags:
        text = values["m"]
        month = _month(proc, re.sub(r"[fp]\Z", "", text) if text[:1].isdigit() else text)
    before, after = _count(proc, values.get("B", "0")), _count(proc, values.get("A", "0"))
    if "3" in flags:
        before, after = max(before, 1), max(after, 1)
    if whole:
        return _year_calendar(proc, year, "j" in flags)
    months = [Month(year, month + shift) for shift in range(-before, after + 1)]
    if 1 < len(months) < 4 and "j" not in flags and months[0].year == months[-1].year:
        _heading(proc, year, False)
        _print(proc, months, False, False)
        return 0
    _print(proc, months, "j" in flags, True)
    return 0


def _month(proc: Process, text: str) -> int:
    if text.isdecimal() and 1 <= int(text[:4]) <= 12:
        return int(text)
    if len(text) >= 3 and not text.isdecimal():
        for number, name in enumerate(MONTHS, 1):
            if name.lower().startswith(text.lower()):
                return number
    raise _fail(proc, f"{text} is neither a month number (1..12) nor a name")


def _year(proc: Process, text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text[:6]) <= 9999:
        proc.message(f"year `{text}' not in range 1..9999")
        raise Exit(64)
    return int(text)


def _count(proc: Process, text: str) -> int:
    if not text.isdecimal():
        raise _fail(proc, f"invalid number of months '{text}'")
    return min(int(text[:6]), 1200)


def _print(proc: Process, months: list[Month], julian: bool, year_in_title: bool) -> None:
    columns = 2 if julian else 3
    for first in range(0, len(months), columns):
        blocks = [month_lines(m, julian, year_in_title) for m in months[first:first + columns]]
        if first and year_in_title:
            proc.stdout.write(b"\n")
        for line in zip(*blocks, strict=True):
            proc.stdout.write(("".join(line) + "\n").encode())
        proc.check()


def _heading(proc: Process, year: int, julian: bool) -> None:
    width = 54 if julian else 60
    proc.stdout.write((" " * ((width - len(str(year))) // 2) + f"{year}\n").encode())


def _year_calendar(proc: Process, year: int, julian: bool) -> int:
    _heading(proc, year, julian)
    months = [Month(year, m) for m in range(1, 13)]
    columns = 2 if julian else 3
    for first in range(0, 12, columns):
        if first:
            proc.stdout.write(b"\n")
        _print(proc, months[first:first + columns], julian, False)
    return 0
