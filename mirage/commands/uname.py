"""uname: what system this is."""
from __future__ import annotations

from mirage.commands._getopt import NONE, Spec, parse
from mirage.commands._io import encode
from mirage.commands._text import extra_operand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("asnrvmpio", {
    "all": ("a", NONE), "kernel-name": ("s", NONE), "nodename": ("n", NONE), "kernel-release": ("r", NONE),
    "kernel-version": ("v", NONE), "machine": ("m", NONE), "processor": ("p", NONE), "hardware-platform": ("i", NONE),
    "operating-system": ("o", NONE)},
    help="Usage: NAME [OPTION]...\nPrint certain system information.  With no OPTION, same as -s.\n")

RELEASE, VERSION, MACHINE = "6.12.0-mirage", "#1 SMP PREEMPT_DYNAMIC Mirage", "x86_64"


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    if operands:
        raise extra_operand(proc, SPEC, operands[0])
    flags = {key for key, _ in options} or {"s"}
    values = {"s": "Linux", "n": proc.machine.hostname, "r": RELEASE, "v": VERSION, "m": MACHINE, "p": "unknown",
              "i": "unknown", "o": "GNU/Linux"}
    if "a" in flags:
        shown = [values[letter] for letter in "snrvmo"]
    else:
        shown = [text for letter, text in values.items() if letter in flags]
    proc.stdout.write(encode(" ".join(shown)) + b"\n")
    return 0
