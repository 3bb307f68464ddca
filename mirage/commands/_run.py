"""Running a program on behalf of nice, nohup, timeout: GNU's messages and statuses when it cannot be started."""
from __future__ import annotations

from mirage.commands._text import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.process.process import Process


def start_program(proc: Process, argv: Sequence[str], verb: str = "") -> Process | int:
    """The started child, or 127 (not found) or 126 after an error message."""
    proc.flush()
    try:
        return proc.spawn(argv)
    except OSError as e:
        proc.fail(f"{verb}{quote(proc, argv[0])}", e)
        return 127 if isinstance(e, FileNotFoundError) else 126


def run_program(proc: Process, argv: Sequence[str], verb: str = "") -> int:
    """Start and wait; the exit status."""
    child = start_program(proc, argv, verb)
    return child if isinstance(child, int) else proc.wait(child)
