"""tty: the terminal on standard input."""
from __future__ import annotations

from mirage.commands._getopt import NONE, Spec, parse
from mirage.commands._text import extra_operand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("s", {"silent": ("s", NONE), "quiet": ("s", NONE)}, status=2,
            help="Usage: NAME [OPTION]...\nPrint the file name of the terminal connected to standard input.\n")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    if operands:
        raise extra_operand(proc, SPEC, operands[0])
    found = 0 in proc.fds and proc.file(0).isatty()
    if not options:
        proc.stdout.write(b"/dev/tty\n" if found else b"not a tty\n")
    return 0 if found else 1
