"""Times of files and clocks in the process's time zone."""
from __future__ import annotations

from datetime import UTC, datetime, timedelta

from mirage.text import timezones

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import tzinfo

    from mirage.process.process import Process

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def zone(proc: Process) -> tzinfo:
    """The zone of $TZ, else of the machine."""
    return timezones.find(proc.env.get("TZ", proc.machine.tz))


def local(proc: Process, ns: int) -> datetime:
    """Nanoseconds since the epoch as local time (whole seconds); raises OverflowError outside years 1 to 9999."""
    return (_EPOCH + timedelta(seconds=ns // 1_000_000_000)).astimezone(zone(proc))


def full_iso(proc: Process, ns: int) -> str:
    """`2020-01-02 03:04:05.000000000 +0000`, as stat and ls --full-time print it."""
    try:
        when = local(proc, ns)
    except OverflowError:
        return str(ns // 1_000_000_000)
    return f"{when:%Y-%m-%d %H:%M:%S}".rjust(19, "0") + f".{ns % 1_000_000_000:09d} {when:%z}"


def short(proc: Process, ns: int, now: float) -> str:
    """`Jan  2 03:04`, or with the year where it is not of the last six months (ls -l in the C locale)."""
    try:
        when = local(proc, ns)
    except OverflowError:
        return str(ns // 1_000_000_000)
    recent = now - 31556952 / 2 < ns / 1e9 <= now
    month = _MONTHS[when.month - 1]
    return f"{month} {when.day:2d} {when:%H:%M}" if recent else f"{month} {when.day:2d}  {when.year}"
