"""Users and groups of the machine, by number and by name."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process


def user_name(proc: Process, uid: int) -> str:
    """The name of a user; the number as text for an unknown one."""
    found = proc.machine.users.get(uid)
    return found[0] if found else str(uid)


def group_name(proc: Process, gid: int) -> str:
    return proc.machine.groups.get(gid, str(gid))


def user_id(proc: Process, name: str) -> int | None:
    """The number that a name or a number means; None for an unknown name."""
    for uid, (known, _) in proc.machine.users.items():
        if known == name:
            return uid
    return _number(name)


def group_id(proc: Process, name: str) -> int | None:
    for gid, known in proc.machine.groups.items():
        if known == name:
            return gid
    return _number(name)


def _number(text: str) -> int | None:
    digits = text.removeprefix("+")
    return int(digits) if digits.isdecimal() and digits.isascii() and int(digits) < 2**32 - 1 else None
