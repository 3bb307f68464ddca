"""hostname: the name of the machine (it cannot be changed)."""
from __future__ import annotations

from mirage.commands._getopt import NONE, Spec, parse
from mirage.commands._io import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("adfiIsAy", {
    "alias": ("a", NONE), "domain": ("d", NONE), "fqdn": ("f", NONE), "long": ("f", NONE), "ip-address": ("i", NONE),
    "all-ip-addresses": ("I", NONE), "short": ("s", NONE), "all-fqdns": ("A", NONE), "nis": ("y", NONE)},
    help="Usage: NAME [-s|-f|-d|-i]\nShow the host name.\n")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    if operands:
        proc.message("you must be root to change the host name")
        return 1
    name = proc.machine.hostname
    kind = options[-1][0] if options else ""
    text = {"s": name.partition(".")[0], "d": name.partition(".")[2], "i": "127.0.0.1", "I": "127.0.0.1 ", "a": ""}
    proc.stdout.write(encode(text.get(kind, name)) + b"\n")
    return 0
