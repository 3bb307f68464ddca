"""seq: print numbers from FIRST to LAST, in steps of INCREMENT, lazily."""
from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation, localcontext

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import encode
from mirage.commands._text import extra_operand, fatal, missing_operand, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mirage.process.process import Process

SPEC = Spec("f:s:w", {"format": ("f", REQUIRED), "separator": ("s", REQUIRED), "equal-width": ("w", NONE)},
            help="Usage: NAME [OPTION]... LAST\n  or:  NAME [OPTION]... FIRST LAST\n"
                 "  or:  NAME [OPTION]... FIRST INCREMENT LAST\nPrint numbers from FIRST to LAST, in steps of "
                 "INCREMENT.\n",
            permute=False)

BATCH = 8192
_NUMBER = re.compile(
    r"[ \t\n]*[-+]?(?:0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][-+]?[0-9]+)?"
    r"|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|inf(?:inity)?|nan)\Z", re.IGNORECASE)


class Operand:
    """A number as typed: its value, digits after the point, and width of its text."""

    __slots__ = ("infinite", "precision", "value", "width")

    def __init__(self, proc: Process, text: str) -> None:
        if not _NUMBER.match(text):
            raise usage_error(proc, SPEC, f"invalid floating point argument: {quote(proc, text)}")
        body = text.strip().lower()
        if "nan" in body:
            raise usage_error(proc, SPEC, f"invalid {quote(proc, 'not-a-number')} argument: {quote(proc, text)}")
        self.infinite = "inf" in body
        self.precision: int | None = 0
        if self.infinite:
            self.value = Decimal("-Infinity" if body.startswith("-") else "Infinity")
            self.width = 0
            return
        if "0x" in body:
            self.value = _hexadecimal(proc, text, body)
            self.precision, self.width = None if "." in body or "p" in body else 0, 0
            return
        try:
            self.value = Decimal(body)
        except InvalidOperation:
            raise usage_error(proc, SPEC, f"invalid floating point argument: {quote(proc, text)}") from None
        mantissa, _, exponent = body.lstrip("+").partition("e")
        whole, point, fraction = mantissa.partition(".")
        precision = len(fraction)
        width = len(whole) + (len(fraction) + 1 if fraction else 0)
        if not whole.strip("-") and point:
            width += 1
        if exponent:
            power = int(exponent)
            if abs(power) > 4000:
                raise fatal(proc, f"number out of range: {quote(proc, text)}")
            if power < 0:
                precision += -power
                width = len(whole) + precision + 1
            else:
                precision -= min(precision, power)
                width = len(whole) + power + (precision + 1 if precision else 0)
        self.precision, self.width = precision, width


def _hexadecimal(proc: Process, text: str, body: str) -> Decimal:
    mantissa, _, power = body.partition("p")
    whole, _, fraction = mantissa.partition(".")
    exponent = int(power or 0) - 4 * len(fraction)
    if abs(exponent) > 4000:
        raise fatal(proc, f"number out of range: {quote(proc, text)}")
    with localcontext() as context:
        context.prec = 5000
        return int(whole.replace("0x", "") + fraction, 16) * (-1 if body.startswith("-") else 1) \
            * Decimal(2) ** exponent


def main(proc: Process) -> int:
    args = proc.argv[1:]
    head: list[str] = []
    i = 0
    while i < len(args) and args[i].startswith("-") and not re.match(r"-[.0-9]", args[i]):
        head.append(args[i])
        i += 1
        if head[-1] == "--":
            break
        if head[-1] in ("-f", "-s", "-wf", "-ws", "--format", "--separator") and i < len(args):
            head.append(args[i])
            i += 1
    options, operands = parse(proc, SPEC, head)
    operands += args[i:]
    separator, template, equal = "\n", None, False
    for key, value in options:
        if key == "f":
            template = value
        elif key == "s":
            separator = value
        else:
            equal = True
    if not operands:
        raise missing_operand(proc, SPEC)
    if len(operands) > 3:
        raise extra_operand(proc, SPEC, operands[3])
    if template is not None and equal:
        raise usage_error(proc, SPEC, "format string may not be specified when printing equal width strings")
    one = Operand(proc, "1")
    numbers = [Operand(proc, text) for text in operands]
    last = numbers[-1]
    first = numbers[0] if len(numbers) > 1 else one
    step = numbers[1] if len(numbers) == 3 else one
    if step.value == 0:
        raise usage_error(proc, SPEC, f"invalid Zero increment value: {quote(proc, operands[1])}")
    if step.infinite and not first.infinite:
        if (first.value > last.value) if step.value > 0 else (first.value < last.value):
            return 0
        step, last = one, first
    show = _format(proc, template) if template is not None else None
    _emit(proc, _batches(first, step, last, equal, show), encode(separator))
    return 0


def _format(proc: Process, template: str) -> Callable[[Decimal], bytes]:
    """A function for `-f`: exactly one %-directive out of aefgAEFG."""
    found = list(re.finditer(r"%(?:%|([-+ #0']*)([0-9]*)(?:\.([0-9]*))?(L?)(.?))", template, re.DOTALL))
    directives = [m for m in found if m[0] != "%%"]
    if not directives:
        raise fatal(proc, f"format {quote(proc, template)} has no % directive")
    directive = directives[0]
    if not directive[5]:
        raise fatal(proc, f"format {quote(proc, template)} ends in %")
    if directive[5] not in "aefgAEFG":
        raise fatal(proc, f"format {quote(proc, template)} has unknown %{directive[5]} directive")
    if len(directives) > 1:
        raise fatal(proc, f"format {quote(proc, template)} has too many % directives")
    flags, width, precision = directive[1].replace("'", ""), directive[2], directive[3]
    if int(width or 0) > 1_000_000 or int(precision or 0) > 100_000:
        raise fatal(proc, f"format {quote(proc, template)} is too wide")
    before = template[:directive.start()].replace("%%", "%")
    after = template[directive.end():].replace("%%", "%")
    conversion = directive[5]
    spec = f"%{flags}{width}" + (f".{precision or 0}" if precision is not None else "") + conversion
    if conversion in "aA":
        return lambda value: encode(before + float(value).hex() + after)
    if conversion in "fF" and not flags and not width:
        places = int(precision) if precision is not None and precision else 0 if precision == "" else 6
        return lambda value: encode(f"{before}{value:.{places}f}{after}")
    return lambda value: encode(before + spec % float(value) + after)


def _batches(first: Operand, step: Operand, last: Operand, equal: bool,
             show: Callable[[Decimal], bytes] | None) -> Iterator[list[bytes]]:
    """The numbers as texts, a few thousand at a time."""
    known = first.precision is not None and step.precision is not None
    places = max(first.precision or 0, step.precision or 0) if known else 0
    scale_places = max(places, *(max(0, -int(o.value.as_tuple().exponent)) for o in (first, step)
                                 if not o.infinite))
    if first.infinite:
        while first.value <= last.value:
            yield [b"inf" if first.value > 0 else b"-inf"]
        return
    with localcontext() as context:
        context.prec = 5000
        scale = 10 ** scale_places
        start, delta = int(first.value * scale), int(step.value * scale)
        end: int | None = None
        if not last.infinite:
            scaled = last.value * scale
            end = int(scaled.to_integral_value("ROUND_FLOOR" if delta > 0 else "ROUND_CEILING"))
        elif (last.value > 0) != (delta > 0):
            return
    width = _equal_width(first, step, last, places) if equal else 0
    minus_zero = b"-0" if first.value == 0 and first.value.is_signed() else b""
    index = 0
    while True:
        low = start + index * delta
        if end is None:
            high = low + BATCH * delta
        else:
            high = low + BATCH * delta
            limit = end + (1 if delta > 0 else -1)
            high = min(high, limit) if delta > 0 else max(high, limit)
        values = range(low, high, delta)
        if not values:
            return
        index += len(values)
        if show is not None:
            yield [show(Decimal(v).scaleb(-scale_places)) for v in values]
        elif places == 0 and scale_places == 0:
            texts = list(map(b"%%0%dd" .__mod__(width).__mod__, values)) if width else list(map(b"%d".__mod__, values))
            if minus_zero and index == len(values):
                texts[0] = minus_zero.ljust(max(width, 2), b"0") if width else minus_zero
            yield texts
        elif not known:
            yield [b"%g" % float(Decimal(v).scaleb(-scale_places)) for v in values]
        else:
            yield [_fixed(v, scale_places, places, width) for v in values]


def _fixed(value: int, scale_places: int, places: int, width: int) -> bytes:
    digits = str(abs(value)).rjust(scale_places + 1, "0")
    whole = digits[:len(digits) - scale_places]
    fraction = digits[len(digits) - scale_places:][:places] if places else ""
    text = f"{whole}.{fraction}" if places else whole
    sign = "-" if value < 0 else ""
    return (sign + text.rjust(width - len(sign), "0")).encode()


def _equal_width(first: Operand, step: Operand, last: Operand, places: int) -> int:
    first_width = first.width + places - (first.precision or 0)
    last_width = last.width + places - (last.precision or 0)
    if last.precision and places == 0:
        last_width -= 1
    if places and not last.precision:
        last_width += 1
    if places and not first.precision:
        first_width += 1
    return max(first_width, last_width)


def _emit(proc: Process, batches: Iterator[list[bytes]], separator: bytes) -> None:
    started = False
    for batch in batches:
        if started:
            proc.stdout.write(separator)
        proc.stdout.write(separator.join(batch))
        started = True
        proc.check()
    if started:
        proc.stdout.write(b"\n")
