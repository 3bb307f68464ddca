"""id: the identity of the user."""
from __future__ import annotations

from mirage.commands._getopt import NONE, Spec, parse
from mirage.commands._io import encode
from mirage.commands._text import fatal, quote
from mirage.commands._users import group_name, user_id, user_name
from mirage.vfs.types import UID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("agnruzGZ", {
    "context": ("Z", NONE), "group": ("g", NONE), "groups": ("G", NONE), "name": ("n", NONE), "real": ("r", NONE),
    "user": ("u", NONE), "zero": ("z", NONE)},
    help="Usage: NAME [OPTION]... [USER]...\nPrint user and group information for each specified USER.\n")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    flags = {key for key, _ in options}
    kinds = flags & set("ugGZ")
    if len(kinds) > 1:
        raise fatal(proc, "cannot print \"only\" of more than one choice")
    if "Z" in flags:
        raise fatal(proc, "--context (-Z) works only on an SELinux-enabled kernel")
    if not kinds:
        if flags & set("nr"):
            raise fatal(proc, "printing only names or real IDs requires -u, -g, or -G")
        if "z" in flags:
            raise fatal(proc, "option --zero not permitted in default format")
    end = "\0" if "z" in flags else "\n"
    status = 0
    users: list[int] = []
    for operand in operands:
        uid = user_id(proc, operand)
        if uid is None or uid not in proc.machine.users:
            proc.stdout.flush()
            proc.message(f"{quote(proc, operand)}: no such user")
            status = 1
        else:
            users.append(uid)
    for uid in users if operands else [UID]:
        user, group = user_name(proc, uid), group_name(proc, uid)
        if not kinds:
            text = f"uid={uid}({user}) gid={uid}({group}) groups={uid}({group})"
        else:
            text = (user if "u" in flags else group) if "n" in flags else str(uid)
        proc.stdout.write(encode(text + end))
    return status
