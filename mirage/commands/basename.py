"""basename: a name without its directory and suffix."""
from __future__ import annotations

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import encode
from mirage.commands._text import extra_operand, missing_operand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("as:z", {"multiple": ("a", NONE), "suffix": ("s", REQUIRED), "zero": ("z", NONE)},
            help="Usage: NAME NAME [SUFFIX]\n  or:  NAME OPTION... NAME...\n"
                 "Print NAME with any leading directory components removed.\n", permute=False)


def base_name(path: str) -> str:
    """The last component, without trailing slashes; "/" for the root."""
    stripped = path.rstrip("/")
    if not stripped:
        return "/" if path else ""
    return stripped.rsplit("/", 1)[-1]


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    suffix, many, end = "", False, b"\n"
    for key, value in options:
        if key == "s":
            suffix, many = value, True
        elif key == "a":
            many = True
        else:
            end = b"\0"
    if not operands:
        raise missing_operand(proc, SPEC)
    if not many:
        if len(operands) > 2:
            raise extra_operand(proc, SPEC, operands[2])
        if len(operands) == 2:
            suffix = operands.pop()
    for operand in operands:
        name = base_name(operand)
        if suffix and name != suffix and name.endswith(suffix):
            name = name[:-len(suffix)]
        proc.stdout.write(encode(name) + end)
    return 0
