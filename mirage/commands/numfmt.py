"""numfmt: numbers to and from human-readable forms."""
from __future__ import annotations

import re
from decimal import (
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    ROUND_UP,
    Decimal,
    localcontext,
)

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse
from mirage.commands._io import decode, encode, line_blocks
from mirage.commands._text import choice, fatal, quote
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("d:z", {
    "debug": ("debug", NONE), "delimiter": ("d", REQUIRED), "field": ("field", REQUIRED),
    "format": ("format", REQUIRED),
    "from": ("from", REQUIRED), "from-unit": ("fromunit", REQUIRED), "grouping": ("grouping", NONE),
    "header": ("header", OPTIONAL), "invalid": ("invalid", REQUIRED), "padding": ("padding", REQUIRED),
    "round": ("round", REQUIRED), "suffix": ("suffix", REQUIRED), "to": ("to", REQUIRED),
    "to-unit": ("tounit", REQUIRED),
    "unit-separator": ("unitsep", REQUIRED), "zero-terminated": ("z", NONE)},
    help="Usage: NAME [OPTION]... [NUMBER]...\nReformat NUMBER(s), or the numbers from standard input if none are "
         "specified.\n")

SCALES_FROM = (("none",), ("auto",), ("si",), ("iec",), ("iec-i",))
SCALES_TO = (("none",), ("si",), ("iec",), ("iec-i",))
ROUNDS = (("up",), ("down",), ("from-zero",), ("towards-zero",), ("nearest",))
INVALIDS = (("abort",), ("fail",), ("warn",), ("ignore",))
ROUNDING = {"up": ROUND_CEILING, "down": ROUND_FLOOR, "from-zero": ROUND_UP, "towards-zero": ROUND_DOWN,
            "nearest": ROUND_HALF_UP}
POWERS = "KMGTPEZYRQ"
_NUMBER = re.compile(r"(-?[0-9]+)(?:\.([0-9]+))?")


class Options:
    def __init__(self) -> None:
        self.source = self.target = "none"
        self.from_unit = self.to_unit = 1
        self.round = "from-zero"
        self.suffix: str | None = None
        self.padding = 0
        self.left = False
        self.precision: int | None = None
        self.zero_width = 0
        self.prefix = self.postfix = ""
        self.invalid = "abort"
        self.header = 0
        self.fields = "1"
        self.delimiter: str | None = None
        self.separator = ""
        self.end = "\n"
        self.auto_padding = False


class Invalid(Exception):
    """A text that is no number of the expected form; carries GNU's message."""


def _unit(proc: Process, text: str) -> int:
    found = re.fullmatch(r"([0-9]*)([KMGTPEZYRQ]?)(i?)", text)
    if not found or not text or found[3] and not found[2]:
        raise fatal(proc, f"invalid unit size: {quote(proc, text)}")
    base = 1024 if found[3] else 1000
    size = int(found[1] or 1) * (base ** (POWERS.index(found[2]) + 1) if found[2] else 1)
    if not size:
        raise fatal(proc, f"invalid unit size: {quote(proc, text)}")
    return int(size)


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    o = Options()
    for key, value in options:
        _option(proc, o, key, value)
    given = {key for key, _ in options}
    if {"grouping", "format"} <= given:
        raise fatal(proc, "--grouping cannot be combined with --format")
    if "grouping" in given and o.target != "none":
        raise fatal(proc, "grouping cannot be combined with --to")
    status = 0
    if operands:
        for operand in operands:
            status = max(status, _line(proc, o, operand, o.end))
        return status
    number = 0
    end = o.end.encode()
    for block in line_blocks(proc, proc.file(0), end):
        lines = block.split(end)
        unfinished = bool(lines[-1])
        if not unfinished:
            lines.pop()
        for raw in lines:
            number += 1
            after = "" if unfinished and raw is lines[-1] else o.end
            if number <= o.header:
                proc.stdout.write(raw + after.encode())
            else:
                status = max(status, _line(proc, o, decode(raw), after))
    return status


def _option(proc: Process, o: Options, key: str, value: str) -> None:
    if key == "from":
        o.source = choice(proc, SPEC, "--from", value, SCALES_FROM)
    elif key == "to":
        o.target = choice(proc, SPEC, "--to", value, SCALES_TO)
    elif key == "fromunit":
        o.from_unit = _unit(proc, value)
    elif key == "tounit":
        o.to_unit = _unit(proc, value)
    elif key == "round":
        o.round = choice(proc, SPEC, "--round", value, ROUNDS)
    elif key == "padding":
        if not re.fullmatch(r"[-+]?[0-9]+", value) or int(value) == 0 or abs(int(value)) > 1 << 20:
            raise fatal(proc, f"invalid padding value {quote(proc, value)}")
        o.padding, o.left = abs(int(value)), value.startswith("-")
    elif key == "field":
        o.fields = value
    elif key == "d":
        if len(value) > 1:
            raise fatal(proc, "the delimiter must be a single character")
        o.delimiter = value
    elif key == "suffix":
        o.suffix = value
    elif key == "header":
        if value and not (value.isdecimal() and int(value)):
            raise fatal(proc, f"invalid header value {quote(proc, value)}")
        o.header = int(value) if value else 1
    elif key == "invalid":
        o.invalid = choice(proc, SPEC, "--invalid", value, INVALIDS)
    elif key == "format":
        _format(proc, o, value)
    elif key == "unitsep":
        o.separator = value
    elif key == "z":
        o.end = "\0"


def _format(proc: Process, o: Options, text: str) -> None:
    found = re.search(r"(?<!%)(?:%%)*%(?!%)", text)
    if not found:
        raise fatal(proc, f"format {quote(proc, text)} has no % directive")
    at = found.end()
    directive = re.compile(r"(['0 ]*)(-?)([0-9]*)(?:\.([0-9]*))?(f?)").match(text, at)
    assert directive is not None
    flags, minus, width, precision, letter = directive.groups()
    if not letter:
        if directive.end() >= len(text):
            raise fatal(proc, f"format {quote(proc, text)} ends in %")
        raise fatal(proc, f"invalid format {quote(proc, text)}, directive must be %[0]['][-][N][.][N]f")
    if re.search(r"(?<!%)(?:%%)*%(?!%)", text[directive.end():]):
        raise fatal(proc, f"format {quote(proc, text)} has too many % directives")
    o.prefix = text[:at - 1].replace("%%", "%")
    o.postfix = text[directive.end():].replace("%%", "%")
    if width:
        if int(width) > 1 << 20:
            raise fatal(proc, f"invalid format {quote(proc, text)} (width overflow)")
        if "0" in flags:
            o.zero_width = int(width)
        else:
            o.padding, o.left = int(width), bool(minus)
    if precision is not None:
        o.precision = min(int(precision or 0), 200)


def _selected(fields: str, number: int) -> bool:
    for part in fields.split(","):
        low, dash, high = part.partition("-")
        if not dash:
            if low.isdecimal() and int(low) == number:
                return True
        elif (not low or int(low) <= number) and (not high or number <= int(high)):
            return True
    return False


def _line(proc: Process, o: Options, line: str, end: str) -> int:
    """Convert the chosen fields of one line; its status."""
    status = 0
    pieces: list[tuple[str, str]] = []
    if o.delimiter is not None:
        parts = line.split(o.delimiter)
        pieces = [("" if n == 0 else o.delimiter, part) for n, part in enumerate(parts)]
    else:
        pieces = [(" " + m[1][1:] if m.start() else m[1], m[2]) for m in re.finditer(r"([ \t\n]*)([^ \t\n]+)", line)]
        if not pieces:
            pieces = [("", line)]
    out = []
    for number, (gap, text) in enumerate(pieces, 1):
        if not _selected(o.fields, number):
            out.append(gap + text)
            continue
        try:
            converted = convert(o, text)
        except Invalid as e:
            if o.invalid in ("abort", "fail", "warn"):
                proc.stdout.flush()
                proc.message(e.args[0].replace("\0", quote(proc, e.args[1])))
            if o.invalid == "abort":
                done = "".join(out) + ((o.delimiter or " ") if number > 1 else "")
                proc.stdout.write(encode(done))
                raise Exit(2) from None
            if o.invalid == "fail":
                status = 2
            out.append(gap + text)
            continue
        if o.delimiter is None and number > 1 or o.delimiter is None and gap:
            width = o.padding or (len(gap) + len(text) if gap and (number > 1 or gap) else 0)
            if not o.padding:
                shown = (gap[:1] if number > 1 else "") + converted.rjust(width - (1 if number > 1 else 0))
            else:
                shown = (gap[:1] if number > 1 else "") + converted
            out.append(shown)
        else:
            out.append(gap + converted)
    proc.stdout.write(encode("".join(out) + end))
    return status


def pad(o: Options, text: str) -> str:
    if not o.padding:
        return text
    return text.ljust(o.padding) if o.left else text.rjust(o.padding)


def convert(o: Options, text: str) -> str:
    """One number from one form to the other; raises Invalid."""
    body = text
    if o.suffix and body.endswith(o.suffix):
        body = body[:-len(o.suffix)]
    with localcontext() as context:
        context.prec = 200
        value, places = read(o, body, text)
        value = value * o.from_unit / o.to_unit
        return o.prefix + pad(o, write(o, value, places)) + o.postfix


def read(o: Options, body: str, original: str) -> tuple[Decimal, int]:
    found = _NUMBER.match(body)
    if not found:
        raise Invalid("invalid number: \0", original)
    rest = body[found.end():]
    if rest.startswith("."):
        raise Invalid("invalid number: \0", original)
    if o.separator and rest.startswith(o.separator):
        rest = rest[len(o.separator):]
    value = Decimal(found[0])
    places = len(found[2] or "")
    if not rest:
        return value, places
    letter, tail = rest[0], rest[1:]
    upper = "K" if letter == "k" else letter
    if upper not in POWERS:
        raise Invalid("invalid suffix in input: \0", original)
    if o.source == "none":
        raise Invalid("rejecting suffix in input: \0 (consider using --from)", original)
    power = POWERS.index(upper) + 1
    base = 1000 if o.source in ("si", "auto") else 1024
    if o.source == "auto" and tail.startswith("i"):
        base, tail = 1024, tail[1:]
    elif o.source == "iec-i":
        if not tail.startswith("i"):
            raise Invalid("missing 'i' suffix in input: \0 (e.g Ki/Mi/Gi)", original)
        tail = tail[1:]
    if tail:
        raise Invalid("invalid suffix in input \0: " + f"\u2018{tail}\u2019", original)
    return value * Decimal(base) ** power, 0


def write(o: Options, value: Decimal, places: int) -> str:
    rounding = ROUNDING[o.round]
    if o.target == "none":
        digits = o.precision if o.precision is not None else places
        text = f"{value.quantize(Decimal(1).scaleb(-digits), rounding):f}"
        unit = ""
    else:
        base = 1000 if o.target == "si" else 1024
        power = 0
        scaled = value
        while abs(scaled) >= base and power < len(POWERS):
            scaled /= base
            power += 1
        kept = min(3 * power, o.precision) if o.precision is not None else 1 if abs(scaled) < 10 else 0
        scaled = scaled.quantize(Decimal(1).scaleb(-kept), rounding)
        if abs(scaled) >= base and power < len(POWERS):
            scaled /= base
            power += 1
        if o.precision is not None:
            digits = o.precision
        else:
            digits = 1 if power and scaled and abs(scaled) < 10 else 0
        scaled = scaled.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN)
        text = f"{scaled:f}"
        unit = ""
        if power:
            letter = POWERS[power - 1]
            if o.target == "si" and letter == "K":
                letter = "k"
            unit = o.separator + letter + ("i" if o.target == "iec-i" else "")
    if text.startswith("-") and not text.strip("-0."):
        text = text[1:]
    if len(text) < o.zero_width:
        sign = "-" if text.startswith("-") else ""
        text = sign + text[len(sign):].rjust(o.zero_width - len(sign), "0")
    return text + unit + (o.suffix or "")
