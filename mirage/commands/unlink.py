"""unlink: remove one name, by the system call alone."""
from __future__ import annotations

from mirage.commands._getopt import Spec, parse
from mirage.commands._text import extra_operand, missing_operand, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("", help="Usage: NAME FILE\nCall the unlink function to remove the specified FILE.\n")


def main(proc: Process) -> int:
    _, operands = parse(proc, SPEC)
    if not operands:
        raise missing_operand(proc, SPEC)
    if len(operands) > 1:
        raise extra_operand(proc, SPEC, operands[1])
    try:
        proc.fs.unlink(operands[0])
    except OSError as e:
        proc.fail(f"cannot unlink {shell_quote(operands[0], True)}", e)
        return 1
    return 0
