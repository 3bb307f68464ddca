"""date: print the time, or a given one, in a given form."""
from __future__ import annotations

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import Inputs, decode, encode, read_all
from mirage.commands._text import choice, extra_operand, fatal, quote, shell_quote
from mirage.commands._times import zone
from mirage.text import dates, timezones
from mirage.text.strftime import strftime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import tzinfo

    from mirage.process.process import Process

SPEC = Spec("d:f:I::r:Rs:u", {
    "date": ("d", REQUIRED), "debug": ("debug", NONE), "file": ("f", REQUIRED), "iso-8601": ("I", OPTIONAL),
    "reference": ("r", REQUIRED), "resolution": ("resolution", NONE), "rfc-email": ("R", NONE), "rfc-822": ("R", NONE),
    "rfc-2822": ("R", NONE), "rfc-3339": ("3339", REQUIRED), "set": ("s", REQUIRED), "uct": ("u", NONE),
    "utc": ("u", NONE), "universal": ("u", NONE)},
    help="Usage: NAME [OPTION]... [+FORMAT]\n  or:  NAME [-u|--utc|--universal] [MMDDhhmm[[CC]YY][.ss]]\n"
         "Display date and time in the given FORMAT.\n")

NS = 1_000_000_000
ISO = {"date": "%Y-%m-%d", "seconds": "%Y-%m-%dT%H:%M:%S%:z", "ns": "%Y-%m-%dT%H:%M:%S,%N%:z",
       "hours": "%Y-%m-%dT%H%:z", "minutes": "%Y-%m-%dT%H:%M%:z"}
RFC_3339 = {"date": "%Y-%m-%d", "seconds": "%Y-%m-%d %H:%M:%S%:z", "ns": "%Y-%m-%d %H:%M:%S.%N%:z"}
DEFAULT = "%a %b %e %H:%M:%S %Z %Y"


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    template: str | None = None
    sources: list[tuple[str, str]] = []
    where: tzinfo = zone(proc)
    setting = None
    for key, value in options:
        new = None
        if key == "I":
            word = choice(proc, SPEC, "--iso-8601", value, (("hours",), ("minutes",), ("date",), ("seconds",),
                                                            ("ns",))) \
                if value else "date"
            new = ISO[word]
        elif key == "3339":
            new = RFC_3339[choice(proc, SPEC, "--rfc-3339", value, (("date",), ("seconds",), ("ns",)))]
        elif key == "R":
            new = "%a, %d %b %Y %H:%M:%S %z"
        elif key == "resolution":
            new = "resolution"
        elif key == "u":
            where = timezones.find("UTC0")
        elif key in "dfr":
            sources = [s for s in sources if s[0] != key] + [(key, value)]
        elif key == "s":
            setting = value
        if new is not None:
            if template is not None:
                raise fatal(proc, "multiple output formats specified")
            template = new
    if len(sources) > 1 or setting is not None and sources:
        raise usage_error(proc, SPEC, "the options to specify dates for printing are mutually exclusive")
    if operands:
        if len(operands) > 1 and not (len(operands) == 2 and operands[1].startswith("+") and setting is None
                                      and not operands[0].startswith("+")):
            raise extra_operand(proc, SPEC, operands[1])
        if operands[-1].startswith("+"):
            if template is not None:
                raise fatal(proc, "multiple output formats specified")
            template = operands.pop()[1:]
        elif sources or setting is not None:
            raise usage_error(proc, SPEC, f"the argument {quote(proc, operands[0])} lacks a leading '+';\nwhen "
                                          f"using an "
                              "option to specify date(s), any non-option\nargument must be a format string beginning "
                              "with '+'")
    if template == "resolution":
        proc.stdout.write(b"0.000000001\n")
        return 0
    shown = DEFAULT if template is None else template
    now = int(proc.now() * NS)
    if sources and sources[0][0] == "f":
        return _file(proc, sources[0][1], shown, now, where)
    status = 0
    if sources and sources[0][0] == "r":
        try:
            now = proc.fs.stat(sources[0][1]).mtime_ns
        except OSError as e:
            raise fatal(proc, f"{shell_quote(sources[0][1])}: {e.strerror}") from None
    elif sources:
        now = _parse(proc, sources[0][1], now, where)
    elif setting is not None:
        now = _parse(proc, setting, now, where)
        status = _refuse_to_set(proc)
    elif operands:
        from mirage.commands.touch import stamp
        try:
            text, dot, second = operands[0].partition(".")
            tail = text[8:]
            now = stamp(proc, tail + text[:8] + dot + second)
        except (ValueError, OverflowError):
            raise fatal(proc, f"invalid date {quote(proc, operands[0])}") from None
        status = _refuse_to_set(proc)
    _print(proc, shown, now, where)
    return status


def _refuse_to_set(proc: Process) -> int:
    proc.message("cannot set date: Operation not permitted")
    return 1


def _parse(proc: Process, text: str, now: int, where: tzinfo) -> int:
    try:
        return dates.parse(text, now, where)
    except ValueError:
        raise fatal(proc, f"invalid date {quote(proc, text)}") from None


def _file(proc: Process, name: str, template: str, now: int, where: tzinfo) -> int:
    inputs = Inputs(proc, [name])
    status = 0
    for _, file in inputs:
        for raw in read_all(proc, file).splitlines():
            line = decode(raw)
            try:
                _print(proc, template, dates.parse(line, now, where), where)
            except ValueError:
                proc.stdout.flush()
                proc.message(f"invalid date {quote(proc, line)}")
                status = 1
    return status or inputs.status


def _print(proc: Process, template: str, ns: int, where: tzinfo) -> None:
    from datetime import UTC, datetime, timedelta
    try:
        when = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=ns // NS)).astimezone(where)
    except (OverflowError, ValueError):
        raise fatal(proc, f"time {quote(proc, str(ns // NS))} is out of range") from None
    proc.stdout.write(encode(strftime(template, when, ns % NS)) + b"\n")
