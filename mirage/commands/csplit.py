"""csplit: cut a file at lines or patterns."""
from __future__ import annotations

import os
import re

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import open_input, read_all
from mirage.commands._text import fatal, missing_operand, quote, shell_quote
from mirage.text.regex import Regex, RegexError, compile_bre

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process
    from mirage.process.signals import Exit

SPEC = Spec("b:f:kn:sqz", {
    "suffix-format": ("b", REQUIRED), "prefix": ("f", REQUIRED), "keep-files": ("k", NONE), "digits": ("n", REQUIRED),
    "quiet": ("s", NONE), "silent": ("s", NONE), "elide-empty-files": ("z", NONE),
    "suppress-matched": ("suppress", NONE)},
    help="Usage: NAME [OPTION]... FILE PATTERN...\nOutput pieces of FILE separated by PATTERN(s) to files 'xx00', "
         "'xx01', ...\n")

_PATTERN = re.compile(r"([/%])((?:\\.|(?!\1)[^\\])*)\1([-+]?[0-9]+)?\Z", re.DOTALL)


class Splitter:
    def __init__(self, proc: Process, lines: list[bytes], flags: set[str], prefix: str, suffix: str) -> None:
        self.proc = proc
        self.lines = lines
        self.flags = flags
        self.prefix = prefix
        self.suffix = suffix
        self.at = 0
        self.made: list[str] = []

    def emit(self, end: int) -> None:
        """Lines up to `end` become the next file."""
        data = b"".join(self.lines[self.at:end])
        self.at = end
        if not data and "z" in self.flags:
            return
        name = self.prefix + self.suffix % len(self.made)
        try:
            with self.proc.opened(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as file:
                self.made.append(name)
                file.write(data)
        except OSError as e:
            raise self.fail(f"{shell_quote(name)}: {e.strerror}") from None
        if not self.flags & {"s", "q"}:
            self.proc.stdout.write(b"%d\n" % len(data))

    def fail(self, text: str) -> Exit:
        if "k" not in self.flags:
            for name in self.made:
                self.proc.fs.unlink(name)
        return fatal(self.proc, text)

    def line_number(self, pattern: str, number: int, repeat: int, shown: str) -> None:
        target = number - 1
        if target > len(self.lines):
            self.emit(len(self.lines))
            tail = f" on repetition {repeat}" if repeat else ""
            raise self.fail(f"{quote(self.proc, shown)}: line number out of range{tail}")
        self.emit(max(self.at, target))
        if "suppress" in self.flags:
            self.at += 1

    def regex(self, kind: str, regex: Regex, offset: int, first: bool, repeat: int, shown: str, forever: bool) -> bool:
        start = self.at if first else self.at + 1
        if "suppress" in self.flags:
            start = self.at
        for number in range(start, len(self.lines)):
            if regex.search(self.lines[number].rstrip(b"\n")) is not None:
                break
        else:
            if forever:
                return False
            if kind == "/":
                self.emit(len(self.lines))
            tail = f" on repetition {repeat}" if repeat else ""
            raise self.fail(f"{quote(self.proc, shown)}: match not found{tail}")
        end = number + offset
        if not self.at <= end <= len(self.lines):
            raise self.fail(f"{quote(self.proc, shown)}: line number out of range")
        if kind == "/":
            self.emit(end)
        else:
            self.at = end
        if "suppress" in self.flags:
            self.at += 1
        return True


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    prefix, digits, suffix = "xx", 2, ""
    flags: set[str] = set()
    for key, value in options:
        flags.add(key)
        if key == "f":
            prefix = value
        elif key == "n":
            if not value.isdecimal() or int(value) > 1000:
                raise fatal(proc, f"invalid number: {quote(proc, value)}")
            digits = int(value)
        elif key == "b":
            if len(re.findall(r"(?<!%)(?:%%)*%[-#0 +']*[0-9]*(?:\.[0-9]*)?[diuoxX]", value)) != 1:
                raise fatal(proc, "missing % conversion specification in suffix" if "%" not in value
                            else "too many % conversion specifications in suffix")
            suffix = value.replace("'", "")
    suffix = suffix or f"%0{digits}d"
    if len(operands) < 2:
        raise missing_operand(proc, SPEC, operands[0] if operands else None)
    try:
        file = open_input(proc, operands[0]).incref()
        try:
            data = read_all(proc, file)
        finally:
            file.decref()
    except OSError as e:
        raise fatal(proc, f"cannot open {shell_quote(operands[0], True)} for reading: {e.strerror}") from None
    s = Splitter(proc, data.splitlines(keepends=True) if b"\r" not in data else
                 [line + b"\n" for line in data.split(b"\n")[:-1]] + ([t] if (t := data.split(b"\n")[-1]) else []),
                 flags, prefix, suffix)
    _apply(proc, s, operands[1:])
    s.emit(len(s.lines))
    return 0


def _apply(proc: Process, s: Splitter, patterns: list[str]) -> None:
    position = 0
    while position < len(patterns):
        text = patterns[position]
        position += 1
        repeat: int | None = 0
        if position < len(patterns) and (found := re.fullmatch(r"\{([0-9]+|\*)\}", patterns[position])):
            repeat = None if found[1] == "*" else int(found[1])
            position += 1
        matched = _PATTERN.match(text)
        if matched:
            try:
                regex = compile_bre(matched[2].replace("\\/", "/"))
            except RegexError as e:
                raise s.fail(f"{quote(proc, text)}: invalid regular expression: {e}") from None
            count = 0
            while repeat is None or count <= repeat:
                if not s.regex(matched[1], regex, int(matched[3] or 0), s.at == 0 and count == 0 and not s.made,
                               count, text,
                               repeat is None):
                    break
                count += 1
                proc.check()
        elif text.isdecimal():
            number = int(text)
            if number == 0:
                raise s.fail(f"{text}: line number must be greater than zero")
            count = 0
            while repeat is None or count <= repeat:
                if repeat is None and number * (count + 1) - 1 >= len(s.lines):
                    break
                s.line_number(text, number * (count + 1), count, text)
                count += 1
                proc.check()
        else:
            raise s.fail(f"{quote(proc, text)}: invalid pattern")
