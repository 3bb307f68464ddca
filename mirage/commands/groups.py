"""groups: the groups of users."""
from __future__ import annotations

from mirage.commands._getopt import Spec, parse
from mirage.commands._io import encode
from mirage.commands._text import quote
from mirage.commands._users import group_name, user_id
from mirage.vfs.types import GID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("", help="Usage: NAME [OPTION]... [USERNAME]...\nPrint group memberships for each USERNAME.\n")


def main(proc: Process) -> int:
    _, operands = parse(proc, SPEC)
    if not operands:
        proc.stdout.write(encode(group_name(proc, GID) + "\n"))
    status = 0
    for operand in operands:
        uid = user_id(proc, operand)
        if uid is None or uid not in proc.machine.users:
            proc.stdout.flush()
            proc.message(f"{quote(proc, operand)}: no such user")
            status = 1
        else:
            proc.stdout.write(encode(f"{operand} : {group_name(proc, uid)}\n"))
    return status
