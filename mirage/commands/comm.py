"""comm: compare two sorted files line by line (GNU coreutils 9.7)."""
from __future__ import annotations

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import encode, line_lists, open_input
from mirage.commands._text import extra_operand, missing_operand, shell_quote
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mirage.process.process import Process

SPEC = Spec("123z", {
    "check-order": ("check", NONE), "nocheck-order": ("nocheck", NONE), "output-delimiter": ("delimiter", REQUIRED),
    "total": ("total", NONE), "zero-terminated": ("z", NONE)}, help="""\
Usage: NAME [OPTION]... FILE1 FILE2
Compare sorted files FILE1 and FILE2 line by line.

  -1                      suppress column 1 (lines unique to FILE1)
  -2                      suppress column 2 (lines unique to FILE2)
  -3                      suppress column 3 (lines that appear in both files)
      --check-order       check that the input is correctly sorted, even
                            if all input lines are pairable
      --nocheck-order     do not check that the input is correctly sorted
      --output-delimiter=STR  separate columns with STR
      --total             output a summary
  -z, --zero-terminated   line delimiter is NUL, not newline
      --help        display this help and exit
      --version     output version information and exit
""")


class Lines:
    """One input; `line` is the current one, None at the end."""

    def __init__(self, proc: Process, name: str, end: bytes) -> None:
        self.name = name
        self.source = self._read(proc, name, end)
        self.previous: bytes | None = None
        self.line: bytes | None = None
        self.disordered = False

    def _read(self, proc: Process, name: str, end: bytes) -> Iterator[bytes]:
        try:
            file = open_input(proc, name).incref()
        except OSError as e:
            proc.stdout.flush()
            proc.fail(shell_quote(name), e)
            raise Exit(1) from None
        try:
            for lines in line_lists(proc, file, end):
                yield from lines
        finally:
            file.decref()

    def advance(self) -> bool:
        """Go to the next line; False where it is less than the one before."""
        self.previous, self.line = self.line, next(self.source, None)
        return self.line is None or self.previous is None or self.previous <= self.line


def main(proc: Process) -> int:
    given, operands = parse(proc, SPEC)
    keys = {key for key, _ in given}
    delimiters = [value for key, value in given if key == "delimiter"]
    if len(set(delimiters)) > 1:
        raise usage_error(proc, SPEC, "multiple output delimiters specified")
    if len(operands) < 2:
        raise missing_operand(proc, SPEC, operands[0] if operands else None)
    if len(operands) > 2:
        raise extra_operand(proc, SPEC, operands[2])
    end = b"\0" if "z" in keys else b"\n"
    glue = encode(delimiters[0]) or b"\0" if delimiters else b"\t"
    order = next(({"check": "check", "nocheck": "no"}[key] for key, _ in reversed(given) if "check" in key), "default")
    return Comparison(proc, operands, keys, end, glue, order).run()


class Comparison:
    def __init__(self, proc: Process, names: list[str], keys: set[str], end: bytes, glue: bytes, order: str) -> None:
        self.proc = proc
        self.show = [str(n) not in keys for n in (1, 2, 3)]
        self.total = "total" in keys
        self.end = end
        self.glue = glue
        self.order = order
        self.files = [Lines(proc, name, end) for name in names]
        self.counts = [0, 0, 0]
        self.unpairable = False

    def run(self) -> int:
        proc = self.proc
        one, two = self.files
        for i in (0, 1):
            self._advance(i)
        before2 = self.glue if self.show[0] else b""
        before3 = before2 + (self.glue if self.show[1] else b"")
        work = 0
        while one.line is not None or two.line is not None:
            a, b = one.line, two.line
            if a == b and a is not None:
                self._print(2, before3 + a)
                self._advance(0)
                self._advance(1)
            elif b is None or a is not None and a < b:
                self.unpairable = True
                self._print(0, a or b"")
                self._advance(0)
            else:
                self.unpairable = True
                self._print(1, before2 + b)
                self._advance(1)
            work += 1
            if not work & 4095:
                proc.check()
        if self.total:
            texts = [b"%d" % n for n in self.counts]
            proc.stdout.write(self.glue.join([*texts, b"total"]) + self.end)
        if any(f.disordered for f in self.files):
            proc.stdout.flush()
            proc.message("input is not in sorted order")
            return 1
        return 0

    def _print(self, column: int, line: bytes) -> None:
        self.counts[column] += 1
        if self.show[column]:
            self.proc.stdout.write(line + self.end)

    def _advance(self, index: int) -> None:
        file = self.files[index]
        if file.advance() or self.order == "no" or file.disordered:
            return
        if self.order == "check" or self.unpairable:
            self.proc.stdout.flush()
            self.proc.message(f"file {index + 1} is not in sorted order")
            if self.order == "check":
                raise Exit(1)
            file.disordered = True
