"""tee: read from standard input and write to standard output and files."""
from __future__ import annotations

import os

from mirage.commands._getopt import NONE, OPTIONAL, Spec, parse
from mirage.commands._io import BLOCK
from mirage.commands._text import choice, shell_quote
from mirage.process.process import refusal_note
from mirage.process.signals import SIGINT, SIGPIPE, Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.files import OpenFile
    from mirage.process.process import Process

SPEC = Spec("aip", {"append": ("a", NONE), "ignore-interrupts": ("i", NONE), "output-error": ("mode", OPTIONAL)},
            help="""\
Usage: NAME [OPTION]... [FILE]...
Copy standard input to each FILE, and also to standard output.

  -a, --append              append to the given FILEs, do not overwrite
  -i, --ignore-interrupts   ignore interrupt signals
  -p                        operate in a more appropriate MODE with pipes.
      --output-error[=MODE]   set behavior on write error.  See MODE below
      --help        display this help and exit
      --version     output version information and exit
""")
MODES = (("warn",), ("warn-nopipe",), ("exit",), ("exit-nopipe",))


def main(proc: Process) -> int:
    given, operands = parse(proc, SPEC)
    append = False
    mode = ""
    for key, value in given:
        if key == "a":
            append = True
        elif key == "i":
            proc.ignored.add(SIGINT)
        elif key == "p":
            mode = "warn-nopipe"
        elif key == "mode":
            mode = choice(proc, SPEC, "--output-error", value, MODES) if value else "warn-nopipe"
    if mode:
        proc.ignored.add(SIGPIPE)
    return Tee(proc, mode).run(operands, append)


class Tee:
    def __init__(self, proc: Process, mode: str) -> None:
        self.proc = proc
        self.mode = mode
        self.status = 0
        self.outputs: list[tuple[str, OpenFile]] = []

    def run(self, names: list[str], append: bool) -> int:
        proc = self.proc
        if 1 in proc.fds:
            self.outputs.append(("standard output", proc.fds[1].incref()))
        flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC)
        for name in names:
            try:
                self.outputs.append((name, proc.open(name, flags).incref()))
            except OSError as e:
                proc.fail(shell_quote(name), e)
                self.status = 1
                if self.mode.startswith("exit"):
                    raise Exit(1) from None
        try:
            self._copy()
        except OSError as e:
            proc.message(f"read error: {e.strerror}")
            self.status = 1
        finally:
            for name, file in self.outputs:
                try:
                    file.decref()
                except OSError as e:
                    proc.fail(shell_quote(name), e)
                    self.status = 1
        return self.status

    def _copy(self) -> None:
        file = self.proc.stdin
        while self.outputs and (data := file.read(BLOCK)):
            for output in list(self.outputs):
                self._write(output, data)
            self.proc.check()

    def _write(self, output: tuple[str, OpenFile], data: bytes) -> None:
        file = output[1]
        try:
            file.write(data)
        except BrokenPipeError as e:
            self._drop(output, e, self.mode.endswith("nopipe"))
        except OSError as e:
            self._drop(output, e, False)

    def _drop(self, output: tuple[str, OpenFile], error: OSError, silent: bool) -> None:
        name, file = output
        self.outputs.remove(output)
        if not silent:
            self.proc.write_error(f"tee: {name if name == 'standard output' else shell_quote(name)}: {error.strerror}\n"
                                  f"{refusal_note(error)}")
            self.status = 1
        try:
            file.decref()
        except OSError:
            self.status = 1
        if self.mode.startswith("exit") and not silent:
            raise Exit(1)
