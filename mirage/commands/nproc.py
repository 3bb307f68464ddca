"""nproc: the number of processors (the Terminal works on one)."""
from __future__ import annotations

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._text import extra_operand, fatal, parse_size, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("", {"all": ("all", NONE), "ignore": ("ignore", REQUIRED)},
            help="Usage: NAME [OPTION]...\nPrint the number of processing units available to the current process.\n")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    ignore = 0
    for key, value in options:
        if key == "ignore":
            size = parse_size(value, "")
            if size is None:
                raise fatal(proc, f"invalid number: {quote(proc, value)}")
            ignore = size
    if operands:
        raise extra_operand(proc, SPEC, operands[0])
    proc.stdout.write(b"%d\n" % max(1, 1 - ignore))
    return 0
