"""nohup: run a program that ignores hangups."""
from __future__ import annotations

import os

from mirage.commands._getopt import Spec, parse
from mirage.commands._run import run_program
from mirage.commands._text import missing_operand, shell_quote
from mirage.process.signals import SIGHUP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("", status=125, permute=False,
            help="Usage: NAME COMMAND [ARG]...\nRun COMMAND, ignoring hangup signals.\n")


def main(proc: Process) -> int:
    _, operands = parse(proc, SPEC)
    if not operands:
        raise missing_operand(proc, SPEC)
    if proc.file(1).isatty():
        name = "nohup.out"
        try:
            proc.install(1, proc.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        except OSError as e:
            proc.message(f"failed to open {shell_quote(name, True)}: {e.strerror}")
            return 125
        proc.message(f"ignoring input and appending output to {shell_quote(name, True)}")
    proc.ignored.add(SIGHUP)
    return run_program(proc, operands, "failed to run command ")
