"""fold: wrap each input line to fit in specified width (GNU coreutils 9.7: counts bytes)."""
from __future__ import annotations

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import Inputs, line_blocks
from mirage.commands._text import fatal, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("bsw:0:1:2:3:4:5:6:7:8:9:", {"bytes": ("b", NONE), "spaces": ("s", NONE), "width": ("w", REQUIRED)},
            help="""\
Usage: NAME [OPTION]... [FILE]...
Wrap input lines in each FILE, writing to standard output.

  -b, --bytes         count bytes rather than columns
  -s, --spaces        break at spaces
  -w, --width=WIDTH   use WIDTH columns instead of 80
      --help        display this help and exit
      --version     output version information and exit
""")
CONTROLS = b"\t\b\r"


def main(proc: Process) -> int:
    args = []
    for i, arg in enumerate(proc.argv[1:]):
        if arg == "--":
            args += proc.argv[1 + i:]
            break
        args.append(f"-w{arg[1:]}" if arg[:1] == "-" and arg[1:].isdecimal() else arg)
    given, operands = parse(proc, SPEC, args)
    count_bytes = spaces = False
    width = 80
    for key, value in given:
        if key == "b":
            count_bytes = True
        elif key == "s":
            spaces = True
        else:
            text = value if key == "w" else key + value
            width = _width(proc, text)
    inputs = Inputs(proc, operands)
    for name, file in inputs:
        try:
            for block in line_blocks(proc, file):
                proc.stdout.write(_fold(proc, block, width, count_bytes, spaces))
        except OSError as e:
            if e.errno == 32:
                raise
            inputs.fail(name, e)
    return inputs.status


def _width(proc: Process, text: str) -> int:
    if not (text.isdecimal() and text.isascii()):
        raise fatal(proc, f"invalid number of columns: {quote(proc, text)}")
    width = int(text)
    if not 0 < width < (1 << 62):
        reason = "Numerical result out of range" if width == 0 else "Value too large for defined data type"
        raise fatal(proc, f"invalid number of columns: {quote(proc, text)}: {reason}")
    return width


def _fold(proc: Process, block: bytes, width: int, count_bytes: bool, spaces: bool) -> bytes:
    out = []
    for line in block.split(b"\n"):
        if len(line) <= width and (count_bytes or not any(c in line for c in CONTROLS)):
            out.append(line)
        elif count_bytes or not any(c in line for c in CONTROLS):
            out.append(_fold_plain(line, width, spaces))
        else:
            out.append(_fold_columns(line, width, spaces))
    return b"\n".join(out)


def _fold_plain(line: bytes, width: int, spaces: bool) -> bytes:
    """Every byte counts one."""
    if not spaces:
        return b"\n".join([line[i:i + width] for i in range(0, len(line), width)])
    out = []
    at = 0
    while len(line) - at > width:
        end = at + width
        cut = max(line.rfind(b" ", at, end), line.rfind(b"\t", at, end)) + 1
        if cut <= at:
            cut = end
        out.append(line[at:cut])
        at = cut
    out.append(line[at:])
    return b"\n".join(out)


def _advance(column: int, c: int) -> int:
    if c == 8:
        return max(0, column - 1)
    if c == 13:
        return 0
    if c == 9:
        return column + 8 - column % 8
    return column + 1


def _fold_columns(line: bytes, width: int, spaces: bool) -> bytes:
    """Tabs, backspaces and carriage returns move the column."""
    out: list[bytes] = []
    begin = column = 0
    i = 0
    while i < len(line):
        column_next = _advance(column, line[i])
        if column_next <= width:
            column = column_next
            i += 1
            continue
        cut = i
        if spaces:
            blank = max(line.rfind(b" ", begin, i), line.rfind(b"\t", begin, i)) + 1
            if blank > begin:
                cut = blank
        if cut == begin:                                     # one tab wider than the line
            column = column_next
            i += 1
            continue
        out.append(line[begin:cut])
        begin = cut
        column = 0
        for c in line[cut:i]:
            column = _advance(column, c)
    out.append(line[begin:])
    return b"\n".join(out)
