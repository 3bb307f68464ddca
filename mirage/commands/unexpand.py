"""unexpand: spaces to tabs."""
from __future__ import annotations

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import Inputs, line_blocks
from mirage.commands._tabs import TabStops, read_stops
from mirage.commands._text import shell_quote
from mirage.commands.expand import obsolete

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("at:", {"all": ("a", NONE), "first-only": ("first", NONE), "tabs": ("t", REQUIRED)},
            help="Usage: NAME [OPTION]... [FILE]...\nConvert blanks in each FILE to tabs, writing to standard "
                 "output.\n")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC, obsolete(proc.argv[1:]))
    texts = [value for key, value in options if key == "t"]
    whole = any(key in ("a", "t") for key, _ in options) and not any(key == "first" for key, _ in options)
    stops = read_stops(proc, texts)
    inputs = Inputs(proc, operands)
    for name, file in inputs:
        try:
            for block in line_blocks(proc, file):
                lines = [_line(line, stops, whole) if b" " in line or b"\t" in line else line
                         for line in block.split(b"\n")]
                proc.stdout.write(b"\n".join(lines))
        except OSError as e:
            inputs.fail(shell_quote(name), e)
    return inputs.status


def _line(line: bytes, stops: TabStops, whole: bool) -> bytes:
    """Follows GNU's loop: blanks are held back until it is known whether they reach a stop."""
    out: list[str] = []
    pending: list[str] = []
    column = 0
    convert, previous_blank, one_blank_before_stop = True, True, False
    for char in line.decode("latin-1"):                       # GNU counts bytes
        if convert:
            blank = char in " \t"
            if blank:
                stop = stops.next_stop(column)
                if stop is None:
                    convert = False
                elif char == "\t":
                    column = stop
                    if pending:
                        pending[0] = "\t"
                    pending = pending[:1] if one_blank_before_stop else []
                    one_blank_before_stop = False
                    out.extend(pending)
                    out.append("\t")
                    pending = []
                    previous_blank = True
                    continue
                else:
                    column += 1
                    if not (previous_blank and column == stop):
                        if column == stop:
                            one_blank_before_stop = True
                        pending.append(" ")
                        previous_blank = True
                        continue
                    pending = ["\t"]
                    if one_blank_before_stop:
                        pending.insert(0, "\t")
                    one_blank_before_stop = False
                    out.extend(pending[-1:] if len(pending) == 1 else pending)
                    pending = []
                    previous_blank = True
                    continue
            elif char == "\b":
                column = max(0, column - 1)
            else:
                column += 1
            if pending:
                if len(pending) > 1 and one_blank_before_stop:
                    pending[0] = "\t"
                out.extend(pending)
                pending = []
                one_blank_before_stop = False
            previous_blank = blank
            convert = convert and (whole or blank)
        out.append(char)
    if pending:
        if len(pending) > 1 and one_blank_before_stop:
            pending[0] = "\t"
        out.extend(pending)
    return "".join(out).encode("latin-1")
