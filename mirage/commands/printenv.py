"""printenv: values of exported variables."""
from __future__ import annotations

from mirage.commands._getopt import NONE, Spec, parse
from mirage.commands._io import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("0", {"null": ("0", NONE)}, status=2, permute=False,
            help="Usage: NAME [OPTION]... [VARIABLE]...\nPrint the values of the specified environment VARIABLE(s).\n")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    end = b"\0" if options else b"\n"
    if not operands:
        for name, value in proc.env.items():
            proc.stdout.write(encode(f"{name}={value}") + end)
        return 0
    status = 0
    for name in operands:
        if name in proc.env:
            proc.stdout.write(encode(proc.env[name]) + end)
        else:
            status = 1
    return status
