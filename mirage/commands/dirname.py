"""dirname: a name without its last component."""
from __future__ import annotations

from mirage.commands._getopt import NONE, Spec, parse
from mirage.commands._io import encode
from mirage.commands._text import missing_operand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("z", {"zero": ("z", NONE)},
            help="Usage: NAME [OPTION] NAME...\nOutput each NAME with its last non-slash component and trailing "
                 "slashes\n"
                 "removed; if NAME contains no /'s, output '.' (meaning the current directory).\n")


def dir_name(path: str) -> str:
    """What dirname(1) prints."""
    stripped = path.rstrip("/")
    if not stripped:
        return "/" if path else "."
    if "/" not in stripped:
        return "."
    return stripped.rsplit("/", 1)[0].rstrip("/") or "/"


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    if not operands:
        raise missing_operand(proc, SPEC)
    end = b"\0" if options else b"\n"
    for operand in operands:
        proc.stdout.write(encode(dir_name(operand)) + end)
    return 0
