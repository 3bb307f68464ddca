"""nice: run a program with another priority (which has no effect here: there is one scheduler)."""
from __future__ import annotations

import re

from mirage.commands._getopt import REQUIRED, Spec, parse, usage_error
from mirage.commands._run import run_program
from mirage.commands._text import fatal, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("n:", {"adjustment": ("n", REQUIRED)}, status=125, permute=False,
            help="Usage: NAME [OPTION] [COMMAND [ARG]...]\nRun COMMAND with an adjusted niceness.\n")


def main(proc: Process) -> int:
    args = []
    rest = proc.argv[1:]
    while rest and (found := re.fullmatch(r"-([-+]?[0-9]+)", rest[0])):
        args += ["-n", found[1]]
        rest = rest[1:]
    options, operands = parse(proc, SPEC, args + rest)
    value = None
    for _, text in options:
        if not re.fullmatch(r"[-+]?[0-9]+", text):
            raise fatal(proc, f"invalid adjustment {quote(proc, text)}", 125)
        value = int(text)
    if not operands:
        if value is not None:
            raise usage_error(proc, SPEC, "a command must be given with an adjustment")
        proc.stdout.write(b"0\n")
        return 0
    return run_program(proc, operands)
