"""expand: tabs to spaces."""
from __future__ import annotations

import re

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import Inputs, line_blocks
from mirage.commands._tabs import TabStops, read_stops
from mirage.commands._text import shell_quote
from mirage.text.pause import reserve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

LARGE = 1 << 16                                              # blanks from which they are checked against the limit
SPEC = Spec("it:", {"initial": ("i", NONE), "tabs": ("t", REQUIRED)},
            help="Usage: NAME [OPTION]... [FILE]...\nConvert tabs in each FILE to spaces, writing to standard "
                 "output.\n")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC, obsolete(proc.argv[1:]))
    texts = [value for key, value in options if key == "t"]
    initial = any(key == "i" for key, _ in options)
    stops = read_stops(proc, texts)
    inputs = Inputs(proc, operands)
    for name, file in inputs:
        try:
            for block in line_blocks(proc, file):
                proc.stdout.write(expand_block(block, stops, initial))
        except OSError as e:
            inputs.fail(shell_quote(name), e)
    return inputs.status


def obsolete(args: list[str]) -> list[str]:
    """`-4` and `-4,8` are `-t 4` and `-t 4,8`."""
    out: list[str] = []
    for i, arg in enumerate(args):
        if arg == "--":
            return out + args[i:]
        out.append("-t" + arg[1:] if re.fullmatch(r"-[0-9][0-9,]*", arg) else arg)
    return out


def expand_block(block: bytes, stops: TabStops, initial: bool) -> bytes:
    if b"\t" not in block:
        return block
    blanks = block.count(b"\t") * (stops.after(0) if stops.regular else 0)
    if blanks > LARGE:
        reserve(3 * blanks + len(block))
    if stops.regular and not initial and block.isascii() and b"\b" not in block and b"\r" not in block:
        return block.expandtabs(stops.size)
    return b"\n".join([_line(line, stops, initial) for line in block.split(b"\n")])


def _line(line: bytes, stops: TabStops, initial: bool) -> bytes:
    if b"\t" not in line:
        return line
    out: list[str] = []
    column = 0
    leading = True
    for char in line.decode("latin-1"):                       # GNU counts bytes
        if char == "\t" and (leading or not initial):
            to = stops.after(column)
            if to - column > LARGE:
                reserve(3 * (to - column))
            out.append(" " * (to - column))
            column = to
            continue
        if char == "\b":
            column = max(0, column - 1)
        elif char == "\t":
            column = stops.after(column)
        else:
            column += 1
        leading = leading and char == " "
        out.append(char)
    return "".join(out).encode("latin-1")
