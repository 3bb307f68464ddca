"""mkfifo: make named pipes."""
from __future__ import annotations

from mirage.commands._getopt import OPTIONAL, REQUIRED, Spec, parse
from mirage.commands._mode import Mode
from mirage.commands._text import fatal, missing_operand, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("m:Z", {"mode": ("m", REQUIRED), "context": ("Z", OPTIONAL)},
            help="Usage: NAME [OPTION]... NAME...\nCreate named pipes (FIFOs) with the given NAMEs.\n")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    mode: Mode | None = None
    for key, value in options:
        if key == "m":
            try:
                mode = Mode(value)
            except ValueError:
                raise fatal(proc, "invalid mode") from None
    if not operands:
        raise missing_operand(proc, SPEC)
    status = 0
    for operand in operands:
        try:
            proc.fs.mkfifo(operand)
            if mode is not None:
                proc.fs.chmod(operand, mode.apply(0o666, False, proc.umask) & 0o777)
        except OSError as e:
            proc.fail(f"cannot create fifo {shell_quote(operand, True)}", e)
            status = 1
    return status
