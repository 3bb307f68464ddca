"""envsubst: replace $VARIABLE and ${VARIABLE} by what the environment holds (gettext)."""
from __future__ import annotations

import re

from mirage.commands._getopt import NONE, Spec, parse
from mirage.commands._io import encode, line_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

HELP = """Usage: envsubst [OPTION] [SHELL-FORMAT]

Substitutes the values of environment variables.

Operation mode:
  -v, --variables             output the variables occurring in SHELL-FORMAT

Informative output:
  -h, --help                  display this help and exit
  -V, --version               output version information and exit

In normal operation mode, standard input is copied to standard output,
with references to environment variables of the form $VARIABLE or ${VARIABLE}
being replaced with the corresponding values.  If a SHELL-FORMAT is given,
only those environment variables that are referenced in SHELL-FORMAT are
substituted; otherwise all environment variables references occurring in
standard input are substituted.

When --variables is used, standard input is ignored, and the output consists
of the environment variables that are referenced in SHELL-FORMAT, one per line.
"""
SPEC = Spec("vhV", {"variables": ("v", NONE), "help": ("h", NONE), "version": ("V", NONE)})
_REFERENCE = re.compile(rb"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    keys = {key for key, _ in options}
    if "h" in keys or "V" in keys:
        proc.stdout.write(HELP.encode() if "h" in keys else b"envsubst (Mirage)\n")
        return 0
    if len(operands) > 1:
        proc.message("too many arguments")
        return 1
    if "v" in keys:
        if not operands:
            proc.message("missing arguments")
            return 1
        for found in _REFERENCE.finditer(encode(operands[0])):
            proc.stdout.write((found[1] or found[2]) + b"\n")
        return 0
    names = None
    if operands:
        names = {found[1] or found[2] for found in _REFERENCE.finditer(encode(operands[0]))}
    values = {encode(name): encode(value) for name, value in proc.env.items()}

    def replace(found: re.Match[bytes]) -> bytes:
        name = found[1] or found[2]
        return values.get(name, b"") if names is None or name in names else found[0]

    for block in line_blocks(proc, proc.file(0)):
        proc.stdout.write(_REFERENCE.sub(replace, block))
    return 0
