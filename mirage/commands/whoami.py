"""whoami: the name of the user."""
from __future__ import annotations

from mirage.commands._getopt import Spec, parse
from mirage.commands._io import encode
from mirage.commands._text import extra_operand
from mirage.commands._users import user_name
from mirage.vfs.types import UID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("", help="Usage: NAME [OPTION]...\nPrint the user name associated with the current effective user ID.\n")


def main(proc: Process) -> int:
    _, operands = parse(proc, SPEC)
    if operands:
        raise extra_operand(proc, SPEC, operands[0])
    proc.stdout.write(encode(user_name(proc, UID)) + b"\n")
    return 0
