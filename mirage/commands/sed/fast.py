"""Simple scripts run over whole blocks of lines instead of line by line.

Taken are scripts of s (plain or with g), y, `/re/d` and `/re/!d`, with a final `p` or `/re/p` under -n; and single
commands with line numbers: `-n N,Mp`, `N,Md`, `Nq`. Everything else goes through the interpreter.
"""
from __future__ import annotations

from mirage.commands._io import line_blocks
from mirage.commands.sed.subst import block_substitution

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.commands.sed.files import Input
    from mirage.commands.sed.script import Command, Script
    from mirage.process.process import Process
    from mirage.text.regex import Regex

    Step = Callable[[bytes], bytes]

NEWLINE = b"\n"


def plan(script: Script, quiet: bool) -> list[Step] | None:
    """The steps on blocks (each ends with a newline) that do what the script does; None where there are none."""
    steps: list[Step] = []
    commands = script.commands
    if not commands or len(commands) > 20:
        return None
    for i, command in enumerate(commands):
        last = i == len(commands) - 1
        step = _step(command, quiet and last, i == 0)
        if step is None:
            return None
        steps.append(step)
    if quiet and commands[-1].name not in ("p", "s"):
        return None
    if any(isinstance(step, LastLine) for step in steps) and len(steps) > 1:
        return None
    return steps


class LineRange:
    """The lines from number `first` to `last` of the whole input are kept, or left out."""

    def __init__(self, first: int, last: int, keep: bool) -> None:
        self.first = first
        self.last = last
        self.keep = keep
        self.number = 1                                      # of the next block's first line

    def __call__(self, block: bytes) -> bytes:
        count = block.count(NEWLINE)
        begin, self.number = self.number, self.number + count
        if begin > self.last or self.number <= self.first:
            return b"" if self.keep else block
        start = _offset(block, self.first - begin)
        end = len(block) if self.last >= self.number else _offset(block, self.last - begin + 1)
        return block[start:end] if self.keep else block[:start] + block[end:]


class LastLine:
    """`$p`: nothing but the last line of the input; it waits in `line`."""

    def __init__(self) -> None:
        self.line = b""
        self.unfinished = False                              # it has no newline

    def __call__(self, block: bytes) -> bytes:
        self.line = block[block.rfind(NEWLINE, 0, len(block) - 1) + 1:]
        return b""


def _offset(block: bytes, lines: int) -> int:
    at = 0
    for _ in range(lines):
        at = block.find(NEWLINE, at) + 1
        if not at:
            return len(block)
    return at


def _numbered(command: Command, printing: bool) -> Step | None:
    """N, N,M and $ before a d or the final p."""
    a1, a2 = command.a1, command.a2
    assert a1 is not None
    if command.name not in ("d", "p") or (command.name == "p") != printing:
        return None
    keep = (command.name == "p") != command.negated
    if a1.kind == "last" and a2 is None and keep:
        return LastLine()
    if a1.kind != "line" or a1.number < 1 or a2 is not None and a2.kind not in ("line", "last", "plus"):
        return None
    if a2 is None:
        return LineRange(a1.number, a1.number, keep)
    end = 1 << 62 if a2.kind == "last" else a1.number + a2.number if a2.kind == "plus" else a2.number
    return LineRange(a1.number, max(a1.number, end), keep)


def _printed_substitution(command: Command) -> Step | None:
    """-n s/x/y/p: the lines with a match, changed."""
    sub = command.sub
    if sub is None or sub.print != 1 or sub.evaluate or sub.output or sub.regex is None:
        return None
    regex = sub.regex.for_lines()
    change = block_substitution(sub)
    if regex is None or change is None:
        return None
    chosen = _selection(regex, keep=True)

    def run(block: bytes) -> bytes:
        found = chosen(block)
        return change(found) if found else found

    return run


def _step(command: Command, printing: bool, first: bool) -> Step | None:
    if first and command.a1 is not None and command.a1.kind != "regex":
        return _numbered(command, printing)
    if command.a2 is not None:
        return None
    name = command.name
    if name == "s" and printing and command.a1 is None and not command.negated:
        return _printed_substitution(command)
    if name in ("d", "p"):
        if (name == "p") != printing:
            return None
        if command.a1 is None:
            return None if name == "d" or command.negated else lambda block: block
        if command.a1.kind != "regex" or command.a1.regex is None:
            return None
        regex = command.a1.regex.for_lines()
        if regex is None:
            return None
        return _selection(regex, keep=(name == "p") != command.negated)
    if command.a1 is not None or command.negated:
        return None
    if name == "s":
        sub = command.sub
        assert sub is not None
        if sub.print or sub.evaluate or sub.output:
            return None
        return block_substitution(sub)
    if name == "y" and isinstance(command.table, bytes) and command.table and command.table[10] == 10 \
            and command.table.count(10) == 1:
        table = command.table
        return lambda block: block.translate(table)
    return None


def _selection(regex: Regex, keep: bool) -> Step:
    """The lines that match (keep) or the others."""
    from mirage.commands.grep.matcher import LiteralMatcher, RegexMatcher, select
    matcher = LiteralMatcher(regex.literal) if regex.literal_only and regex.literal else RegexMatcher(regex)

    def run(block: bytes) -> bytes:
        return select(matcher, block, invert=not keep)

    return run


def run(proc: Process, source: Input, steps: list[Step]) -> int:
    """Copy the input through the steps."""
    write = proc.stdout.write
    missing = False
    while source.open_next():
        reader = source.reader
        assert reader is not None
        for block in line_blocks(proc, reader.file):
            tail = b"" if block.endswith(NEWLINE) else block[block.rfind(NEWLINE) + 1:]
            if tail:
                block = block[:len(block) - len(tail)]
            if block:
                out = _through(block, steps)
                if out:
                    write(NEWLINE + out if missing else out)
                    missing = False
            if isinstance(steps[0], LastLine):
                steps[0].unfinished = bool(tail)
            if tail:
                out = _through(tail + NEWLINE, steps)
                if out:
                    write(NEWLINE + out[:-1] if missing else out[:-1])
                    missing = True
        reader.data, reader.pos, reader.offset = b"", 0, reader.file.tell() if reader.file.seekable else 0
        source.close_current()
    if isinstance(steps[0], LastLine):
        write(steps[0].line[:-1] if steps[0].unfinished else steps[0].line)
    return source.status


def _through(block: bytes, steps: list[Step]) -> bytes:
    for step in steps:
        block = step(block)
        if not block:
            return block
    return block
