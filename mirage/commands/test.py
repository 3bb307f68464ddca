"""test, [ - check file types and compare values."""
from __future__ import annotations

from mirage.commands._condition import Evaluator, TestError
from mirage.commands._text import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

HELP = """\
Usage: test EXPRESSION
  or:  test
  or:  [ EXPRESSION ]
  or:  [ ]
  or:  [ OPTION
Exit with the status determined by EXPRESSION.

      --help        display this help and exit
      --version     output version information and exit
"""


class Expression(Evaluator):
    """In the words of coreutils."""

    def _error(self, text: str, word: str | None = None) -> TestError:
        return TestError(text.replace("%", quote(self.proc, word)) if word is not None else text)

    def left_over(self, word: str) -> TestError:
        return self._error("extra argument %", word)

    def unary_expected(self, word: str) -> TestError:
        return self._error("%: unary operator expected", word)

    def binary_expected(self, word: str) -> TestError:
        return self._error("%: binary operator expected", word)

    def argument_expected(self) -> TestError:
        return self._error("missing argument after %", self.words[-1])

    def bad_pair(self, word: str) -> TestError:
        return self.argument_expected()

    def close_expected(self, found: str | None) -> TestError:
        expected = quote(self.proc, ")")
        return TestError(f"{expected} expected" if found is None
                         else f"{expected} expected, found {quote(self.proc, found)}")

    def integer(self, text: str) -> int:
        digits = text.strip(" \t\n\v\f\r")
        if digits.lstrip("+-").isdecimal() and digits.isascii() and len(digits) - len(digits.lstrip("+-")) <= 1:
            if len(digits) > 4000:
                self.proc.kernel.fits(len(digits) ** 2)
            return int(digits[:4000])
        raise self._error("invalid integer %", text)

    def unary(self) -> bool:
        operator, word = self.words[self.at:self.at + 2]
        if operator == "-t":
            self.integer(word)
        return super().unary()

    def three_logical(self) -> bool:
        return self.expression()

    def primary(self) -> bool:
        word, left = self.words[self.at], self.count - self.at
        if left >= 4 and word == "-l" and self.is_binary(self.words[self.at + 2]):
            length = len(self.words[self.at + 1].encode("utf-8", "surrogateescape"))
            operator, right = self.words[self.at + 2], self.words[self.at + 3]
            self.at += 4
            return self.compare(str(length), operator, right)
        if word != "(" and not (left >= 3 and self.is_binary(self.words[self.at + 1])):
            if len(word) == 2 and word[0] == "-":
                if not self.is_unary(word):
                    raise self.unary_expected(word)
                if left < 2:
                    raise self.argument_expected()
        return super().primary()

    def is_unary(self, word: str) -> bool:
        return word not in ("-a", "-o", "-v", "-R") and super().is_unary(word)

    def parenthesis(self) -> bool:
        self.at += 1
        left = self.words[self.at:]
        if not left:
            raise self.argument_expected()
        count = left.index(")") if ")" in left[:4] else len(left)
        value = self.posix(count)
        self.close()
        return value


def main(proc: Process) -> int:
    words = proc.argv[1:]
    if proc.name == "[":
        if words == ["--help"]:
            proc.stdout.write(HELP.encode())
            return 0
        if words == ["--version"]:
            proc.stdout.write(b"[ (Mirage)\n")
            return 0
        if words[-1:] != ["]"]:
            proc.message(f"missing {quote(proc, ']')}")
            return 2
        words.pop()
    if not words:
        return 1
    try:
        return 0 if Expression(proc, words).evaluate() else 1
    except TestError as e:
        proc.message(str(e))
        return 2
