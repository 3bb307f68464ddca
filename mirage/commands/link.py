"""link: make a hard link, by the system call alone."""
from __future__ import annotations

from mirage.commands._getopt import Spec, parse
from mirage.commands._text import extra_operand, missing_operand, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("", help="Usage: NAME FILE1 FILE2\nCall the link function to create a link named FILE2 to an existing "
                     "FILE1.\n")


def main(proc: Process) -> int:
    _, operands = parse(proc, SPEC)
    if len(operands) < 2:
        raise missing_operand(proc, SPEC, operands[0] if operands else None)
    if len(operands) > 2:
        raise extra_operand(proc, SPEC, operands[2])
    source, target = operands
    try:
        proc.fs.link(source, target)
    except OSError as e:
        proc.fail(f"cannot create link {shell_quote(target, True)} to {shell_quote(source, True)}", e)
        return 1
    return 0
