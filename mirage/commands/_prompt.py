"""Questions that a tool asks on stderr and reads the answer to from stdin."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process


def yes(proc: Process, question: str) -> bool:
    """Print `NAME: question`, read a line; was it a yes?"""
    proc.stdout.flush()
    proc.write_error(f"{proc.name}: {question}")
    try:
        return proc.file(0).readline()[:1] in (b"y", b"Y")
    except OSError:
        return False
