"""sync: write what is cached to its store."""
from __future__ import annotations

from mirage.commands._getopt import NONE, Spec, parse
from mirage.commands._text import fatal, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("df", {"data": ("d", NONE), "file-system": ("f", NONE)},
            help="Usage: NAME [OPTION] [FILE]...\nSynchronize cached writes to persistent storage.\n")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    flags = {key for key, _ in options}
    if len(flags) > 1:
        raise fatal(proc, "cannot specify both --data and --file-system")
    if "d" in flags and not operands:
        raise fatal(proc, "--data needs at least one argument")
    status = 0
    for operand in operands:
        try:
            with proc.opened(operand) as file:
                handle = getattr(file, "handle", None)
                if handle is not None:
                    handle.sync()
        except OSError as e:
            proc.fail(f"error opening {shell_quote(operand, True)}", e)
            status = 1
    return status
