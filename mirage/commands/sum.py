"""sum: the old BSD and System V checksums."""
from __future__ import annotations

from mirage.commands._getopt import NONE, Spec, parse
from mirage.commands._io import Inputs, encode
from mirage.commands._text import shell_quote
from mirage.commands.cksum import LEGACY, show_legacy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("rs", {"sysv": ("s", NONE)},
            help="Usage: NAME [OPTION]... [FILE]...\nPrint or check BSD (16-bit) checksums.\n")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    algorithm = "sysv" if options and options[-1][0] == "s" else "bsd"
    inputs = Inputs(proc, operands)
    for name, file in inputs:
        try:
            value, size = LEGACY[algorithm](proc, file)
        except OSError as e:
            inputs.fail(shell_quote(name), e)
            continue
        shown = name if algorithm == "sysv" and operands or len(operands) > 1 else None
        if algorithm == "bsd" and len(operands) == 1:
            shown = name
        proc.stdout.write(encode(show_legacy(algorithm, value, size, shown)) + b"\n")
    return inputs.status
