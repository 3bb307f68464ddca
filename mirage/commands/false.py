"""false - do nothing, unsuccessfully."""
from __future__ import annotations

from mirage.commands.true import answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process


def main(proc: Process) -> int:
    return answer(proc, 1, b"failure")
