"""true - do nothing, successfully."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

HELP = b"""\
Usage: %s [ignored command line arguments]
  or:  %s OPTION
Exit with a status code indicating %s.

      --help        display this help and exit
      --version     output version information and exit
"""


def answer(proc: Process, status: int, meaning: bytes) -> int:
    """What `true` and `false` share: --help and --version alone on the line, then the status."""
    name = proc.argv[0].encode("utf-8", "surrogateescape")
    if proc.argv[1:] == ["--help"]:
        proc.stdout.write(HELP % (name, name, meaning))
    elif proc.argv[1:] == ["--version"]:
        proc.stdout.write(b"%s (Mirage)\n" % proc.name.encode())
    return status


def main(proc: Process) -> int:
    return answer(proc, 0, b"success")
