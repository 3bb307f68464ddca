"""csplit: cut a file at lines or patterns."""
from __future__ import annotations

import os
import re

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import read_operand
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

_PATTERN = re.compile(r"([/%])((?:\\.|(?!\1)[^\\])*)\1(.*)\Z", re.DOTALL)


class Control:
    """One pattern: a line number or a regex with an offset, and how often (`repeat` None: for ever)."""

    __slots__ = ("ignore", "number", "offset", "regex", "repeat", "shown")

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.number = self.offset = 0
        self.regex: Regex | None = None
        self.ignore = False
        self.repeat: int | None = 0


class Splitter:
    """The input's lines and the file being written; line numbers count from 1, as in GNU's csplit.c."""

    def __init__(self, proc: Process, lines: list[bytes], flags: set[str], prefix: str, suffix: str) -> None:
        self.proc = proc
        self.lines = lines
        self.flags = flags
        self.prefix = prefix
        self.suffix = suffix
        self.available = 1                                   # the first line not written yet
        self.current = 0                                     # the line last looked at
        self.open_from: int | None = None                    # first line of the file being written
        self.made: list[str] = []

    def start(self) -> None:
        self.open_from = self.available

    def finish(self) -> None:
        """The lines since `start` become a file."""
        if self.open_from is None:
            return
        data = b"".join(self.lines[self.open_from - 1:self.available - 1])
        self.open_from = None
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
        self.finish()
        if "k" not in self.flags:
            for name in self.made:
                self.proc.fs.unlink(name)
        return fatal(self.proc, text)

    def out_of_range(self, control: Control, repetition: int = 0) -> Exit:
        tail = f" on repetition {repetition}" if repetition else ""
        return self.fail(f"{quote(self.proc, control.shown)}: line number out of range{tail}")

    def advance(self, last: int) -> bool:
        """Take the lines before `last`; False when there are not so many."""
        target = min(last, len(self.lines) + 1)
        if target > self.available:
            self.available = target
            self.current = max(self.current, target - 1)
        return target == last or last < self.available

    def line_number(self, control: Control, repetition: int) -> None:
        self.start()
        at_end = self.available > len(self.lines)
        suppress = "suppress" in self.flags
        if at_end and suppress or not self.advance(control.number * (repetition + 1)):
            raise self.out_of_range(control, repetition)
        self.finish()
        if suppress:
            self.advance(self.available + 1)
        elif self.available > len(self.lines):
            raise self.out_of_range(control, repetition)

    def match(self, control: Control, repetition: int) -> bool:
        """False when a pattern that repeats for ever found nothing any more; the rest is written then."""
        assert control.regex is not None
        if not control.ignore:
            self.start()
        self.current += 1
        while self.current <= len(self.lines):
            if control.regex.search(self.lines[self.current - 1].removesuffix(b"\n")) is not None:
                break
            self.current += 1
        else:
            if control.repeat is not None:
                self.rest(control)
                tail = f" on repetition {repetition}" if repetition else ""
                raise self.fail(f"{quote(self.proc, control.shown)}: match not found{tail}")
            self.rest(control)
            return False
        if control.offset >= 0:
            self.advance(self.current)
        last = self.current + control.offset
        if self.available > last or not self.advance(last):
            raise self.out_of_range(control)
        self.finish()
        if control.offset > 0:
            self.current = last
        if "suppress" in self.flags:
            self.advance(self.available + 1)
        return True

    def rest(self, control: Control | None = None) -> None:
        self.advance(len(self.lines) + 1)
        if control is None or not control.ignore:
            self.finish()
        self.open_from = None

    def run(self, controls: list[Control]) -> None:
        for control in controls:
            repetition = 0
            while control.repeat is None or repetition <= control.repeat:
                if control.regex is None:
                    self.line_number(control, repetition)
                elif not self.match(control, repetition):
                    return
                repetition += 1
                self.proc.check()
        self.start()
        self.rest()


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
            suffix = _suffix(proc, value)
    suffix = suffix or f"%0{digits}d"
    if len(operands) < 2:
        raise missing_operand(proc, SPEC, operands[0] if operands else None)
    try:
        data = read_operand(proc, operands[0])
    except IsADirectoryError as e:
        if not flags & {"s", "q"}:
            proc.stdout.write(b"0\n")
        raise fatal(proc, f"read error: {e.strerror}") from None
    except OSError as e:
        raise fatal(proc, f"cannot open {shell_quote(operands[0], True)} for reading: {e.strerror}") from None
    controls = _controls(proc, operands[1:])
    lines = data.split(b"\n")
    Splitter(proc, [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else []), flags, prefix,
             suffix).run(controls)
    return 0


def _suffix(proc: Process, text: str) -> str:
    found = re.findall(r"%(?:%|[-#0 +']*[0-9]*(?:\.[0-9]*)?(.?))", text, re.DOTALL)
    conversions = [letter for letter, whole in zip(found, re.findall(r"%%|%", text), strict=False) if whole == "%"]
    for letter in conversions:
        if not letter:
            raise fatal(proc, "missing conversion specifier in suffix")
        if letter not in "diuoxX":
            raise fatal(proc, f"invalid conversion specifier in suffix: {letter}")
    if len(conversions) != 1:
        many = "too many" if conversions else "missing"
        raise fatal(proc, f"{many} % conversion specification{'s' if conversions else ''} in suffix")
    return text.replace("'", "")


def _controls(proc: Process, patterns: list[str]) -> list[Control]:
    controls: list[Control] = []
    last = 0
    position = 0
    while position < len(patterns):
        text = patterns[position]
        position += 1
        control = Control(text)
        if text[:1] in ("/", "%"):
            _regex(proc, control)
        else:
            if not re.fullmatch(r"\+?[0-9]+", text):
                raise fatal(proc, f"{quote(proc, text)}: invalid pattern")
            control.number = int(text)
            control.shown = str(control.number)
            if control.number == 0:
                raise fatal(proc, f"{text}: line number must be greater than zero")
            if control.number < last:
                raise fatal(proc, f"line number {quote(proc, text)} is smaller than preceding line number, {last}")
            if control.number == last:
                proc.message(f"warning: line number {quote(proc, text)} is the same as preceding line number")
            last = control.number
        if position < len(patterns) and patterns[position].startswith("{"):
            control.repeat = _repeat(proc, patterns[position])
            position += 1
        controls.append(control)
    return controls


def _repeat(proc: Process, text: str) -> int | None:
    if not text.endswith("}"):
        raise fatal(proc, f"{text}: '}}' is required in repeat count")
    if text == "{*}":
        return None
    if not re.fullmatch(r"\{[0-9]+\}", text):
        raise fatal(proc, f"{quote(proc, text[:-1])}}}: integer required between '{{' and '}}'")
    return int(text[1:-1])


def _regex(proc: Process, control: Control) -> None:
    text = control.shown
    found = _PATTERN.match(text)
    if found is None:
        raise fatal(proc, f"{text}: closing delimiter '{text[0]}' missing")
    if found[3] and not re.fullmatch(r"[-+]?[0-9]+", found[3]):
        raise fatal(proc, f"{quote(proc, text)}: integer expected after delimiter")
    control.ignore = text[0] == "%"
    control.offset = int(found[3] or 0)
    try:
        control.regex = compile_bre(found[2].replace("\\/", "/"))
    except RegexError as e:
        raise fatal(proc, f"{quote(proc, text)}: invalid regular expression: {e}") from None
