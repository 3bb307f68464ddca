"""uniq: report or omit repeated adjacent lines."""
from __future__ import annotations

import os
import re
from itertools import compress, groupby, islice
from operator import ne

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse
from mirage.commands._io import line_blocks, open_input
from mirage.commands._text import choice, extra_operand, fatal, is_utf8, parse_size, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mirage.process.files import OpenFile
    from mirage.process.process import Process

SPEC = Spec("cdDuif:s:w:z0:1:2:3:4:5:6:7:8:9:", {
    "count": ("c", NONE), "repeated": ("d", NONE), "all-repeated": ("D", OPTIONAL), "group": ("group", OPTIONAL),
    "ignore-case": ("i", NONE), "skip-fields": ("f", REQUIRED), "skip-chars": ("s", REQUIRED),
    "check-chars": ("w", REQUIRED), "unique": ("u", NONE), "zero-terminated": ("z", NONE)},
    help="Usage: NAME [OPTION]... [INPUT [OUTPUT]]\nFilter adjacent matching lines from INPUT (or standard input),\n"
         "writing to OUTPUT (or standard output).\n")

_ONCE = b"%7d " % 1
_LOWER = bytes(b + 32 if 65 <= b <= 90 else b for b in range(256))


def main(proc: Process) -> int:
    args = _obsolete(proc.argv[1:])
    options, operands = parse(proc, SPEC, args)
    flags: set[str] = set()
    fields = skip = 0
    check: int | None = None
    delimiter, separate, grouping = b"\n", "none", ""
    for key, value in options:
        if key in "fsw" and len(key) == 1:
            size = parse_size(value, "")
            if size is None:
                what = {"f": "fields to skip", "s": "bytes to skip", "w": "bytes to compare"}[key]
                raise fatal(proc, f"{value}: invalid number of {what}")
            if key == "f":
                fields = size
            elif key == "s":
                skip = size
            else:
                check = size
        elif key == "z":
            delimiter = b"\0"
        elif key == "D":
            flags |= {"d", "D"}
            separate = choice(proc, SPEC, "--all-repeated", value, (("none",), ("prepend",), ("separate",))) \
                if value else "none"
        elif key == "group":
            grouping = choice(proc, SPEC, "--group", value, (
                ("prepend",), ("append",), ("separate",), ("both",))) if value else "separate"
        else:
            flags.add(key)
    if len(operands) > 2:
        raise extra_operand(proc, SPEC, operands[2])
    if grouping and flags & set("cdDu"):
        proc.message("--group is mutually exclusive with -c/-d/-D/-u")
        proc.write_error(f"Try '{proc.name} --help' for more information.\n")
        return 1
    if "c" in flags and "D" in flags:
        proc.message("printing all duplicated lines and repeat counts is meaningless")
        proc.write_error(f"Try '{proc.name} --help' for more information.\n")
        return 1
    name = operands[0] if operands else "-"
    try:
        file = open_input(proc, name)
    except IsADirectoryError:
        raise fatal(proc, f"error reading {shell_quote(name, True)}") from None
    except OSError as e:
        raise fatal(proc, f"{shell_quote(name)}: {e.strerror}") from None
    file.incref()
    try:
        if len(operands) == 2 and operands[1] != "-":
            try:
                proc.install(1, proc.open(operands[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
            except OSError as e:
                raise fatal(proc, f"{shell_quote(operands[1])}: {e.strerror}") from None
        key_of = _key(fields, skip, check, "i" in flags, is_utf8(proc.env))
        if key_of is None and not grouping and "D" not in flags and not flags >= {"d", "u"}:
            _whole_lines(proc, file, delimiter, flags)
        else:
            _run(proc, file, flags, separate, grouping, delimiter, key_of)
    finally:
        file.decref()
    return 0


def _obsolete(args: list[str]) -> list[str]:
    """`-3` is `-f 3`, `+3` is `-s 3`."""
    out: list[str] = []
    for i, arg in enumerate(args):
        if arg == "--":
            return out + args[i:]
        if re.fullmatch(r"-[0-9]+", arg):
            arg = "-f" + arg[1:]
        out.append(arg)
    return out


def _part(line: bytes, skip: int, check: int | None) -> bytes:
    """-s and -w count characters."""
    text = line.decode("utf-8", "surrogateescape")
    return text[skip:][:check].encode("utf-8", "surrogateescape")


def _key(fields: int, skip: int, check: int | None, fold: bool, utf8: bool) -> Callable[[bytes], bytes] | None:
    """What of a line is compared; None for the whole line."""
    if not (fields or skip or check is not None or fold):
        return None
    skipped = re.compile(rb"(?:[ \t]*[^ \t]*){%d}" % min(fields, 65535))

    def key(line: bytes) -> bytes:
        if fields:
            found = skipped.match(line)
            line = line[found.end():] if found else line
        if skip or check is not None:
            line = _part(line, skip, check) if utf8 and not line.isascii() else line[skip:][:check]
        return line.translate(_LOWER) if fold else line
    return key


def _groups(proc: Process, file: OpenFile, delimiter: bytes,
            key: Callable[[bytes], bytes] | None) -> Iterator[list[bytes]]:
    """Runs of equal lines, across blocks."""
    held: list[bytes] = []
    held_key: bytes | None = None
    for block in line_blocks(proc, file, delimiter):
        lines = block.split(delimiter)
        if not lines[-1]:
            lines.pop()
        for this, run in groupby(lines, key):
            if this == held_key:
                held.extend(run)
                proc.kernel.fits(len(held) * 8)
            else:
                if held_key is not None:
                    yield held
                held, held_key = list(run), this
    if held_key is not None:
        yield held


def _whole_lines(proc: Process, file: OpenFile, delimiter: bytes, flags: set[str]) -> None:
    """Whole lines are compared: where a run ends is found for a whole block at once. `flags`: of c, d, u."""
    counted, single, repeated = "c" in flags, "d" not in flags, "u" not in flags

    def shown(number: int, line: bytes) -> list[bytes]:
        if not (single if number == 1 else repeated):
            return []
        return [b"%7d %b" % (number, line) if counted else line]

    held, number = b"", 0                                    # the run that may go on in the next block
    for block in line_blocks(proc, file, delimiter):
        lines = block.split(delimiter)
        if not lines[-1]:
            lines.pop()
        ends = list(compress(range(1, len(lines)), map(ne, lines, islice(lines, 1, None))))
        first = ends[0] if ends else len(lines)
        out: list[bytes] = []
        if number and lines[0] == held:
            number += first
        else:
            if number:
                out += shown(number, held)
            held, number = lines[0], first
        if ends:
            out += shown(number, held)
            following = islice(ends, 1, None)
            if counted and single and repeated:
                out += [_ONCE + lines[b - 1] if b - a == 1 else b"%7d %b" % (b - a, lines[b - 1])
                        for a, b in zip(ends, following)]
            elif single and repeated:
                out += [lines[b - 1] for b in following]
            elif counted or single:
                for a, b in zip(ends, following):
                    if (b - a == 1) is single:
                        out += shown(b - a, lines[b - 1])
            elif repeated:
                out += [lines[b - 1] for a, b in zip(ends, following) if b - a > 1]
            held, number = lines[-1], len(lines) - ends[-1]
        if out:
            proc.stdout.write(delimiter.join(out) + delimiter)
    out = shown(number, held) if number else []
    if out:
        proc.stdout.write(out[0] + delimiter)


def _run(proc: Process, file: OpenFile, flags: set[str], separate: str, grouping: str, delimiter: bytes,
         key: Callable[[bytes], bytes] | None) -> None:
    out: list[bytes] = []
    size, first = 0, True
    for run in _groups(proc, file, delimiter, key):
        if grouping:
            if not first and grouping != "none" or grouping in ("prepend", "both") and first:
                out.append(b"")
            out.extend(run)
            first = False
        elif "D" in flags:
            if "u" in flags:
                run.pop()                                    # GNU: all of a run but its last line
            if len(run) > 1 or run and "u" in flags:
                if separate == "prepend" or separate == "separate" and not first:
                    out.append(b"")
                out.extend(run)
                first = False
        elif len(run) > 1 and "u" in flags or len(run) == 1 and "d" in flags:
            continue
        elif "c" in flags:
            out.append(b"%7d %s" % (len(run), run[0]))
        else:
            out.append(run[0])
        size += len(out[-1]) if out else 0
        if size > 65536 or len(out) > 8192:
            proc.stdout.write(delimiter.join(out) + delimiter)
            out, size = [], 0
            proc.check()
    if grouping in ("append", "both") and not first:
        out.append(b"")
    if out:
        proc.stdout.write(delimiter.join(out) + delimiter)
