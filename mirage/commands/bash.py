"""bash, sh: the shell as a program."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process


def main(proc: Process) -> int:
    from mirage.shell.exec.shell_main import main as shell_main
    return shell_main(proc)
