"""truncate: set the size of files (without writing: growing is sparse)."""
from __future__ import annotations

import os

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse, usage_error
from mirage.commands._text import fatal, parse_size, quote, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("cor:s:", {"no-create": ("c", NONE), "io-blocks": ("o", NONE), "reference": ("r", REQUIRED),
                       "size": ("s", REQUIRED)},
            help="Usage: NAME OPTION... FILE...\nShrink or extend the size of each FILE to the specified size\n")

BLOCK = 4096
MAX_SIZE = (1 << 63) - 1


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    flags = {key for key, _ in options}
    values = dict(options)
    operator, size = "", 0
    if "s" in values:
        text = values["s"].lstrip(" \t\n")
        operator = text[:1] if text[:1] in tuple("+-<>/%") else ""
        digits = text[len(operator):].lstrip(" ")
        if operator in tuple("<>/%") and operator and digits[:1] in ("+", "-"):
            raise usage_error(proc, SPEC, "multiple relative modifiers specified")
        found = parse_size(digits, "kKmMGTPEZYRQ")
        if found is None:
            raise fatal(proc, f"Invalid number: {quote(proc, text)}")
        if found > MAX_SIZE:
            raise fatal(proc, f"Invalid number: {quote(proc, text)}: Value too large for defined data type")
        size = found
        if operator in ("/", "%") and not size:
            raise fatal(proc, "division by zero")
    elif "r" not in values:
        either = f"{quote(proc, '--size')} or {quote(proc, '--reference')}"
        raise usage_error(proc, SPEC, f"you must specify either {either}")
    if "s" in values and "r" in values and not operator:
        raise usage_error(proc, SPEC, f"you must specify a relative {quote(proc, '--size')} with "
                          f"{quote(proc, '--reference')}")
    if "o" in flags and "s" not in values:
        raise usage_error(proc, SPEC, f"{quote(proc, '--io-blocks')} was specified but {quote(proc, '--size')} was not")
    if not operands:
        raise usage_error(proc, SPEC, "missing file operand")
    base: int | None = None
    if "r" in values:
        try:
            base = proc.fs.stat(values["r"]).size or 0
        except OSError as e:
            raise fatal(proc, f"cannot stat {shell_quote(values['r'], True)}: {e.strerror}") from None
    if "o" in flags:
        size *= BLOCK
    status = 0
    for operand in operands:
        status |= _one(proc, operand, operator, size, base, "c" in flags, "s" in values)
    return status


def _one(proc: Process, path: str, operator: str, size: int, base: int | None, keep: bool, sized: bool) -> int:
    try:
        with proc.opened(path, os.O_WRONLY | (0 if keep else os.O_CREAT)) as file:
            old = base if base is not None else file.stat().size or 0
            new = _target(operator, size, old) if sized else old
            if new > MAX_SIZE:
                proc.message(f"overflow extending size of file {shell_quote(path, True)}")
                return 1
            try:
                file.truncate(new)
            except OSError as e:
                proc.message(f"failed to truncate {shell_quote(path, True)} at {new} bytes: {e.strerror}")
                return 1
    except FileNotFoundError as e:
        if keep:
            return 0
        proc.message(f"cannot open {shell_quote(path, True)} for writing: {e.strerror}")
        return 1
    except OSError as e:
        proc.fail(f"cannot open {shell_quote(path, True)} for writing", e)
        return 1
    return 0


def _target(operator: str, size: int, old: int) -> int:
    if operator == "+":
        return old + size
    if operator == "-":
        return max(0, old - size)
    if operator == "<":
        return min(old, size)
    if operator == ">":
        return max(old, size)
    if operator == "/":
        return old // size * size
    if operator == "%":
        return -(-old // size) * size
    return size
