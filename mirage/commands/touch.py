"""touch: change times of files, making them where they are missing."""
from __future__ import annotations

import os
import re

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse, usage_error
from mirage.commands._text import choice, fatal, quote, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("acd:fhmr:t:", {
    "time": ("time", REQUIRED), "no-create": ("c", NONE), "date": ("d", REQUIRED), "reference": ("r", REQUIRED),
    "no-dereference": ("h", NONE)},
    help="Usage: NAME [OPTION]... FILE...\nUpdate the access and modification times of each FILE to the current "
         "time.\n")

NS = 1_000_000_000
_STAMP = re.compile(r"((?:[0-9]{2}){1,2})?([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})(?:\.([0-9]{2}))?\Z")


def stamp(proc: Process, text: str) -> int:
    """[[CC]YY]MMDDhhmm[.ss] as nanoseconds; ValueError when it is no date."""
    from datetime import datetime

    from mirage.commands._times import local, zone
    found = _STAMP.match(text)
    if not found:
        raise ValueError(text)
    year_text, month, day, hour, minute, second = found.groups()
    if year_text is None:
        year = local(proc, int(proc.now() * NS)).year
    else:
        year = int(year_text)
        if len(year_text) == 2:
            year += 1900 if year >= 69 else 2000
    when = datetime(year, int(month), int(day), int(hour), int(minute), min(int(second or 0), 59), tzinfo=zone(proc))
    return int(when.timestamp()) * NS + (NS if second == "60" else 0)


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    flags: set[str] = set()
    date = reference = explicit = None
    for key, value in options:
        if key == "time":
            word = choice(proc, SPEC, "--time", value, (("atime", "access", "use"), ("mtime", "modify")))
            flags.add("a" if word == "atime" else "m")
        elif key == "d":
            date = value
        elif key == "r":
            reference = value
        elif key == "t":
            explicit = value
        else:
            flags.add(key)
    if explicit is not None and (date is not None or reference is not None):
        raise usage_error(proc, SPEC, "cannot specify times from more than one source")
    now = int(proc.now() * NS)
    atime = mtime = now
    if reference is not None:
        try:
            stat = proc.fs.stat(reference, "h" not in flags)
        except OSError as e:
            raise fatal(proc, f"failed to get attributes of {shell_quote(reference, True)}: {e.strerror}") from None
        atime, mtime = stat.atime_ns, stat.mtime_ns
    if explicit is not None:
        try:
            atime = mtime = stamp(proc, explicit)
        except (ValueError, OverflowError):
            raise fatal(proc, f"invalid date format {quote(proc, explicit)}") from None
    if date is not None:
        from mirage.commands._times import zone
        from mirage.text import dates
        try:
            if reference is not None:
                atime, mtime = dates.parse(date, atime, zone(proc)), dates.parse(date, mtime, zone(proc))
            else:
                atime = mtime = dates.parse(date, now, zone(proc))
        except ValueError:
            raise fatal(proc, f"invalid date format {quote(proc, date)}") from None
    if not operands:
        raise usage_error(proc, SPEC, "missing file operand")
    both = "a" in flags and "m" in flags or not flags & {"a", "m"}
    new_atime = atime if both or "a" in flags else None
    new_mtime = mtime if both or "m" in flags else None
    status = 0
    for operand in operands:
        status |= _touch(proc, operand, new_atime, new_mtime, flags, both and date is None and explicit is None
                         and reference is None)
    return status


def _touch(proc: Process, path: str, atime: int | None, mtime: int | None, flags: set[str], is_now: bool) -> int:
    fs = proc.fs
    follow = "h" not in flags
    if path == "-":
        return 0
    try:
        fs.stat(path, follow)
    except FileNotFoundError as e:
        if "c" in flags or not follow:
            if not follow and "c" not in flags:
                return _failed(proc, "setting times of", path, e)
            return 0
        try:
            with proc.opened(path, os.O_WRONLY | os.O_CREAT):
                pass
        except OSError as error:
            return _failed(proc, "cannot touch", path, error)
        if is_now:
            return 0
    except OSError as e:
        return _failed(proc, "cannot touch" if "c" not in flags else "setting times of", path, e)
    try:
        fs.utime(path, atime, mtime, follow)
    except OSError as e:
        return _failed(proc, "setting times of" if "c" in flags or not is_now else "cannot touch", path, e)
    return 0


def _failed(proc: Process, what: str, path: str, e: OSError) -> int:
    proc.stdout.flush()
    proc.fail(f"{what} {shell_quote(path, True)}", e)
    return 1
