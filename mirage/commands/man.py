"""man: the help text of a tool of this terminal."""
from __future__ import annotations

import os

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.process.files import Capture

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("fkaP:l", {"whatis": ("f", NONE), "apropos": ("k", NONE), "all": ("a", NONE), "pager": ("P", REQUIRED)},
            help="Usage: man [OPTION...] [SECTION] PAGE...\nPrint the help text of PAGE, a tool of this terminal.\n\n"
                 "  -k, --apropos              list the tools whose description has the word\n"
                 "  -f, --whatis               print the description of each PAGE\n", status=1)


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    keys = {key for key, _ in options}
    if not operands:
        proc.write_error("What manual page do you want?\nFor example, try 'man man'.\n")
        return 1
    if "k" in keys:
        found = 0
        for name in sorted(proc.machine.program_names()):
            text = summary(name)
            if any(word.lower() in f"{name} {text}".lower() for word in operands):
                proc.stdout.write(f"{name} (1) - {text}\n".encode())
                found += 1
        if not found:
            proc.write_error("".join(f"{word}: nothing appropriate.\n" for word in operands))
        return 0 if found else 16
    if len(operands) > 1 and operands[0].isdecimal():
        operands = operands[1:]
    status = 0
    for name in operands:
        path = proc.machine.find_program(proc, name) if "/" not in name else None
        if path is None:
            proc.write_error(f"No manual entry for {name}\n")
            status = 16
        elif "f" in keys:
            proc.stdout.write(f"{name} (1) - {summary(name)}\n".encode())
        else:
            _page(proc, name)
    return status


def summary(name: str) -> str:
    """The first line of the tool's own description."""
    import importlib

    from mirage import commands
    if name not in commands.names():
        return "a command of this terminal"
    module = importlib.import_module(f"mirage.commands.{commands.ALIASES.get(name, name)}")
    line = (module.__doc__ or "").strip().split("\n")[0].rstrip(".")
    _, colon, text = line.partition(": ")
    return text if colon else line


def _page(proc: Process, name: str) -> None:
    proc.stdout.write(f"NAME\n       {name} - {summary(name)}\n\nSYNOPSIS AND OPTIONS\n".encode())
    out = Capture("stdout")
    with proc.opened("/dev/null", os.O_RDWR) as null:
        proc.run([name, "--help"], fds={0: null, 1: out, 2: null})
    text = out.getvalue().decode("utf-8", "replace")
    proc.stdout.write("".join(f"       {line}\n" if line else "\n" for line in text.splitlines()).encode())
