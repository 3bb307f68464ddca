"""pwd - print the name of the current directory."""
from __future__ import annotations

from mirage.commands._getopt import NONE, Spec, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("LP", {"logical": ("L", NONE), "physical": ("P", NONE)}, help="""\
Usage: NAME [OPTION]...
Print the full filename of the current working directory.

  -L, --logical   use PWD from environment, even if it contains symlinks
  -P, --physical  resolve all symlinks
      --help      display this help and exit
      --version   output version information and exit

If no option is specified, -P is assumed.
""")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    logical = "POSIXLY_CORRECT" in proc.env
    for key, _ in options:
        logical = key == "L"
    if operands:
        proc.message("ignoring non-option arguments")
    path = proc.fs.realpath(proc.cwd)
    if logical:
        named = proc.env.get("PWD", "")
        if named.startswith("/") and not {".", ".."} & set(named.split("/")):
            try:
                if proc.fs.realpath(named) == path:
                    path = named
            except OSError:
                pass
    proc.stdout.write((path + "\n").encode("utf-8", "surrogateescape"))
    return 0
