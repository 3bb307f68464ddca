"""The expressions of test(1) and of the shell's `test`, `[` and `[[`: operators, and POSIX's rules by their number.

`Evaluator` follows the structure that bash's and coreutils' test share; the two differ in words and in a few details
that are methods.
"""
from __future__ import annotations

import os
import re

from mirage.vfs.types import GID, UID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mirage.process.process import Process
    from mirage.vfs.types import Stat

UNARY = frozenset("-" + letter for letter in "abcdefghknoprstuvwxzGLNORS")
INTEGER_OPERATORS = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
BINARY = INTEGER_OPERATORS | {"=", "==", "!=", "<", ">", "-nt", "-ot", "-ef"}

_INTEGER = re.compile(r"[ \t\n\v\f\r]*[-+]?[0-9]+[ \t\n\v\f\r]*")


class TestError(Exception):
    """The expression cannot be evaluated: status 2."""

    __test__ = False


def file_test(proc: Process, operator: str, path: str) -> bool:
    """`-e FILE` and the like."""
    if operator == "-t":
        return is_terminal(proc, path)
    if not path:
        return False
    fs = proc.fs
    if operator in _ACCESS:
        try:
            return fs.access(path, _ACCESS[operator])
        except OSError:
            return False
    stat = _stat(proc, path, operator not in ("-h", "-L"))
    return stat is not None and _FILE_TESTS[operator](stat, proc)


def is_terminal(proc: Process, text: str) -> bool:
    try:
        return proc.file(int(text)).isatty()
    except (ValueError, OSError):
        return False


def _stat(proc: Process, path: str, follow: bool = True) -> Stat | None:
    fd = proc._device_fd(path)
    try:
        return proc.file(fd).stat() if fd is not None else proc.fs.stat(path, follow)
    except OSError:
        return None


_ACCESS = {"-r": os.R_OK, "-w": os.W_OK, "-x": os.X_OK}
_FILE_TESTS: dict[str, Callable[[Stat, Process], bool]] = {
    "-a": lambda stat, proc: True,
    "-e": lambda stat, proc: True,
    "-f": lambda stat, proc: stat.mode & 0o170000 == 0o100000,
    "-d": lambda stat, proc: stat.mode & 0o170000 == 0o040000,
    "-b": lambda stat, proc: stat.mode & 0o170000 == 0o060000,
    "-c": lambda stat, proc: stat.mode & 0o170000 == 0o020000,
    "-p": lambda stat, proc: stat.mode & 0o170000 == 0o010000,
    "-S": lambda stat, proc: stat.mode & 0o170000 == 0o140000,
    "-h": lambda stat, proc: stat.mode & 0o170000 == 0o120000,
    "-L": lambda stat, proc: stat.mode & 0o170000 == 0o120000,
    "-s": lambda stat, proc: stat.size is None or stat.size > 0,
    "-g": lambda stat, proc: bool(stat.mode & 0o2000),
    "-u": lambda stat, proc: bool(stat.mode & 0o4000),
    "-k": lambda stat, proc: bool(stat.mode & 0o1000),
    "-O": lambda stat, proc: stat.uid == UID,
    "-G": lambda stat, proc: stat.gid == GID,
    "-N": lambda stat, proc: stat.mtime_ns > stat.atime_ns,
}


def compare_files(proc: Process, left: str, operator: str, right: str) -> bool:
    """`-nt`, `-ot`, `-ef`."""
    a, b = _stat(proc, left), _stat(proc, right)
    if operator == "-ef":
        return a is not None and b is not None and _same(proc, left, a, right, b)
    if operator == "-nt":
        return a is not None and (b is None or a.mtime_ns > b.mtime_ns)
    return b is not None and (a is None or a.mtime_ns < b.mtime_ns)


def _same(proc: Process, left: str, a: Stat, right: str, b: Stat) -> bool:
    if a.ino or b.ino:
        return a.identity == b.identity
    return proc.fs.realpath(left) == proc.fs.realpath(right)


def compare_integers(a: int, operator: str, b: int) -> bool:
    if operator == "-eq":
        return a == b
    if operator == "-ne":
        return a != b
    if operator == "-lt":
        return a < b
    if operator == "-le":
        return a <= b
    if operator == "-gt":
        return a > b
    return a >= b


def less(a: str, b: str) -> bool:
    """`<` of strings, by byte."""
    if a.isascii() and b.isascii():
        return a < b
    return a.encode("utf-8", "surrogateescape") < b.encode("utf-8", "surrogateescape")


class Evaluator:
    """One expression: `evaluate()` gives its value or raises TestError."""

    __test__ = False

    def __init__(self, proc: Process, words: Sequence[str]) -> None:
        self.proc = proc
        self.words = words
        self.count = len(words)
        self.at = 0

    def evaluate(self) -> bool:
        value = self.posix(self.count)
        if self.at < self.count:
            raise self.left_over(self.words[self.at])
        return value

    # ---- words of the two implementations (bash's here)

    def left_over(self, word: str) -> TestError:
        if word.startswith("-"):
            return TestError(f"syntax error: `{word}' unexpected")
        return TestError("too many arguments")

    def unary_expected(self, word: str) -> TestError:
        return TestError(f"{word}: unary operator expected")

    def binary_expected(self, word: str) -> TestError:
        return TestError(f"{word}: binary operator expected")

    def argument_expected(self) -> TestError:
        return TestError("argument expected")

    def close_expected(self, found: str | None) -> TestError:
        return TestError("`)' expected" if found is None else f"`)' expected, found {found}")

    def integer(self, text: str) -> int:
        if _INTEGER.fullmatch(text) is None or len(text) > 1000:
            raise TestError(f"{text}: integer expression expected")
        value = int(text)
        if not -1 << 63 <= value < 1 << 63:
            raise TestError(f"{text}: integer expression expected")
        return value

    def is_unary(self, word: str) -> bool:
        return word in UNARY

    def is_binary(self, word: str) -> bool:
        return word in BINARY

    def bad_pair(self, word: str) -> TestError:
        """Two words of which the first is no operator."""
        return self.unary_expected(word)

    def variable_test(self, operator: str, word: str) -> bool:
        """`-v`, `-R`, `-o`: about the shell."""
        raise self.unary_expected(operator)

    # ---- the rules by number of words

    def posix(self, count: int) -> bool:
        words, at = self.words, self.at
        if count == 0:
            return False
        if count == 1:
            self.at += 1
            return words[at] != ""
        if count == 2:
            return self.two()
        if count == 3:
            return self.three()
        if count == 4:
            if words[at] == "!":
                self.at += 1
                return not self.three()
            if words[at] == "(" and words[at + 3] == ")":
                self.at += 1
                value = self.two()
                self.at += 1
                return value
        return self.expression()

    def two(self) -> bool:
        first, second = self.words[self.at], self.words[self.at + 1]
        if first == "!":
            self.at += 2
            return second == ""
        if len(first) == 2 and first[0] == "-":
            if not self.is_unary(first):
                raise self.unary_expected(first)
            return self.unary()
        raise self.bad_pair(first)

    def three(self) -> bool:
        first, operator, last = self.words[self.at:self.at + 3]
        if self.is_binary(operator):
            return self.binary()
        if operator in ("-a", "-o"):
            return self.three_logical()
        if first == "!":
            self.at += 1
            return not self.two()
        if first == "(" and last == ")":
            self.at += 3
            return operator != ""
        raise self.binary_expected(operator)

    def three_logical(self) -> bool:
        first, operator, last = self.words[self.at:self.at + 3]
        self.at += 3
        return first != "" and last != "" if operator == "-a" else first != "" or last != ""

    # ---- the grammar for more words

    def expression(self) -> bool:
        if self.at >= self.count:
            raise self.argument_expected()
        value = self.conjunction()
        while self.at < self.count and self.words[self.at] == "-o":
            self.at += 1
            value = self.conjunction() or value
        return value

    def conjunction(self) -> bool:
        value = self.term()
        while self.at < self.count and self.words[self.at] == "-a":
            self.at += 1
            value = self.term() and value
        return value

    def term(self) -> bool:
        negate = False
        while self.at < self.count and self.words[self.at] == "!":
            self.at += 1
            negate = not negate
        if self.at >= self.count:
            raise self.argument_expected()
        return self.primary() != negate

    def primary(self) -> bool:
        word, left = self.words[self.at], self.count - self.at
        if word == "(":
            return self.parenthesis()
        if left >= 3 and self.is_binary(self.words[self.at + 1]):
            return self.binary()
        if left >= 2 and self.is_unary(word):
            return self.unary()
        self.at += 1
        return word != ""

    def parenthesis(self) -> bool:
        self.at += 1
        value = self.expression()
        self.close()
        return value

    def close(self) -> None:
        found = self.words[self.at] if self.at < self.count else None
        if found != ")":
            raise self.close_expected(found)
        self.at += 1

    # ---- operators

    def unary(self) -> bool:
        operator, word = self.words[self.at:self.at + 2]
        self.at += 2
        if operator == "-n":
            return word != ""
        if operator == "-z":
            return word == ""
        if operator in ("-v", "-R", "-o"):
            return self.variable_test(operator, word)
        return file_test(self.proc, operator, word)

    def binary(self) -> bool:
        left, operator, right = self.words[self.at:self.at + 3]
        self.at += 3
        return self.compare(left, operator, right)

    def compare(self, left: str, operator: str, right: str) -> bool:
        if operator in ("=", "=="):
            return left == right
        if operator == "!=":
            return left != right
        if operator == "<":
            return less(left, right)
        if operator == ">":
            return less(right, left)
        if operator in INTEGER_OPERATORS:
            return compare_integers(self.integer(left), operator, self.integer(right))
        return compare_files(self.proc, left, operator, right)
