"""arch: the machine's architecture."""
from __future__ import annotations

from mirage.commands._getopt import Spec, parse
from mirage.commands._text import extra_operand
from mirage.commands.uname import MACHINE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("", help="Usage: NAME [OPTION]...\nPrint machine architecture.\n")


def main(proc: Process) -> int:
    _, operands = parse(proc, SPEC)
    if operands:
        raise extra_operand(proc, SPEC, operands[0])
    proc.stdout.write(MACHINE.encode() + b"\n")
    return 0
