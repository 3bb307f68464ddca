"""bc: arbitrary-precision arithmetic (POSIX bc with GNU's extensions)."""
from __future__ import annotations

from mirage.commands._bc_language import BcError, Parser, Quit, SyntaxProblem
from mirage.commands._bc_machine import LIBRARY, Halt, Machine
from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import decode, open_input, read_all
from mirage.process.process import refusal_note
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("hilqsvwe:f:", {
    "help": ("h", NONE), "interactive": ("i", NONE), "mathlib": ("l", NONE), "quiet": ("q", NONE),
    "standard": ("s", NONE), "warn": ("w", NONE), "version": ("v", NONE), "expression": ("e", REQUIRED)})
USAGE = """usage: bc [options] [file ...]
  -h  --help         print this usage and exit
  -i  --interactive  force interactive mode
  -l  --mathlib      use the predefined math routines
  -q  --quiet        don't print initial banner
  -s  --standard     non-standard bc constructs are errors
  -w  --warn         warn about non-standard bc constructs
  -v  --version      print version information and exit
"""


def main(proc: Process) -> int:
    try:
        options, operands = parse(proc, SPEC)
    except Exit:
        proc.stdout.write(USAGE.encode())
        return 1
    keys = {key for key, _ in options}
    if "h" in keys:
        proc.stdout.write(USAGE.encode())
        return 0
    if "v" in keys:
        proc.stdout.write(b"bc 1.07.1 (Mirage)\n")
        return 0
    machine = Machine(proc)
    if "l" in keys:
        run(proc, machine, LIBRARY, "")
        machine.scale = 20
    try:
        for name in operands:
            try:
                file = open_input(proc, name).incref()
            except OSError:
                proc.write_error(f"File {name} is unavailable.\n")
                return 1
            try:
                run(proc, machine, decode(read_all(proc, file)), name, "s" in keys)
            finally:
                file.decref()
        for key, value in options:
            if key == "e":
                run(proc, machine, value + "\n", "(standard_in)", "s" in keys)
        run(proc, machine, decode(read_all(proc, proc.file(0))), "(standard_in)", "s" in keys)
    except Halt:
        pass
    except OSError as e:
        proc.write_error(f"bc: {e.strerror}\n{refusal_note(e)}")
        return 1
    return 0


def run(proc: Process, machine: Machine, text: str, name: str, strict: bool = False) -> None:
    """Parse and execute line by line; errors are reported and the next line goes on. `strict`: POSIX only."""
    parser = Parser(text)
    while True:
        try:
            code = parser.line()
        except SyntaxProblem as e:
            proc.stdout.flush()
            proc.write_error(f"{name} {e.line}: {e.text}\n")
            parser.skip_line()
            continue
        except Quit:
            raise Halt from None
        if code is None:
            return
        if strict and parser.problem:
            proc.stdout.flush()
            proc.write_error(f"{name} {parser.number_line - 1}: Error: {parser.problem}\n")
            continue
        try:
            machine.execute(code)
        except BcError as e:
            proc.stdout.flush()
            proc.write_error(f"Runtime error (func={e.function}, adr={e.address}): {e.text}\n")
        proc.check()
