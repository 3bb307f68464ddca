"""yes: print a line until nobody reads it."""
from __future__ import annotations

from mirage.commands._getopt import Spec, parse
from mirage.commands._io import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("", help="Usage: NAME [STRING]...\nRepeatedly output a line with all specified STRING(s), or 'y'.\n",
            permute=False)


def main(proc: Process) -> int:
    _, operands = parse(proc, SPEC)
    line = encode(" ".join(operands or ["y"])) + b"\n"
    block = line * max(1, 65536 // len(line))
    output = proc.file(1)
    while True:
        output.write(block)
        proc.check()
