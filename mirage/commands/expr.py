"""expr: evaluate expressions (GNU coreutils 9.7)."""
from __future__ import annotations

from mirage.commands._io import decode, encode
from mirage.commands._text import is_utf8, quote
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

    Value = str | int

HELP = """\
Usage: expr EXPRESSION
  or:  expr OPTION

      --help        display this help and exit
      --version     output version information and exit

Print the value of EXPRESSION to standard output.  A blank line below
separates increasing precedence groups.  EXPRESSION may be:

  ARG1 | ARG2       ARG1 if it is neither null nor 0, otherwise ARG2

  ARG1 & ARG2       ARG1 if neither argument is null or 0, otherwise 0

  ARG1 < ARG2       ARG1 is less than ARG2
  ARG1 <= ARG2      ARG1 is less than or equal to ARG2
  ARG1 = ARG2       ARG1 is equal to ARG2
  ARG1 != ARG2      ARG1 is unequal to ARG2
  ARG1 >= ARG2      ARG1 is greater than or equal to ARG2
  ARG1 > ARG2       ARG1 is greater than ARG2

  ARG1 + ARG2       arithmetic sum of ARG1 and ARG2
  ARG1 - ARG2       arithmetic difference of ARG1 and ARG2

  ARG1 * ARG2       arithmetic product of ARG1 and ARG2
  ARG1 / ARG2       arithmetic quotient of ARG1 divided by ARG2
  ARG1 % ARG2       arithmetic remainder of ARG1 divided by ARG2

  STRING : REGEXP   anchored pattern match of REGEXP in STRING

  match STRING REGEXP        same as STRING : REGEXP
  substr STRING POS LENGTH   substring of STRING, POS counted from 1
  index STRING CHARS         index in STRING where any CHARS is found, or 0
  length STRING              length of STRING
  + TOKEN                    interpret TOKEN as a string, even if it is a
                               keyword like 'match' or an operator like '/'

  ( EXPRESSION )             value of EXPRESSION
"""
MAX_DIGITS = 4000
MAX_DEPTH = 100


def main(proc: Process) -> int:
    args = proc.argv[1:]
    if len(args) == 1 and args[0] == "--help":
        proc.stdout.write(HELP.encode())
        return 0
    if len(args) == 1 and args[0] == "--version":
        proc.stdout.write(b"expr (Mirage)\n")
        return 0
    if args and args[0] == "--":
        args = args[1:]
    if not args:
        proc.message("missing operand")
        proc.write_error("Try 'expr --help' for more information.\n")
        return 2
    evaluation = Evaluation(proc, args)
    value = evaluation.alternative(True)
    if evaluation.at < len(args):
        raise evaluation.error(f"syntax error: unexpected argument {quote(proc, args[evaluation.at])}")
    proc.stdout.write(encode(str(value)) + b"\n")
    return 1 if is_null(value) else 0


def is_null(value: Value) -> bool:
    if isinstance(value, int):
        return value == 0
    digits = value[1:] if value.startswith("-") else value
    return not value or bool(digits) and not digits.strip("0")


def to_int(value: Value) -> int | None:
    if isinstance(value, int):
        return value
    digits = value[1:] if value.startswith("-") else value
    if digits.isascii() and digits.isdigit() and len(digits) <= MAX_DIGITS:
        return int(value)
    return None


class Evaluation:
    """A recursive descent over the arguments; with `live` False nothing is computed (the other side of | and &)."""

    def __init__(self, proc: Process, args: list[str]) -> None:
        self.proc = proc
        self.args = args
        self.at = 0
        self.depth = 0
        self.utf8 = is_utf8(proc.env)

    def error(self, text: str, status: int = 2) -> Exit:
        self.proc.message(text)
        return Exit(status)

    def take(self, *tokens: str) -> str:
        """The next argument if it is one of `tokens`, else ""."""
        if self.at < len(self.args) and self.args[self.at] in tokens:
            self.at += 1
            return self.args[self.at - 1]
        return ""

    def need(self) -> None:
        if self.at >= len(self.args):
            raise self.error(f"syntax error: missing argument after {quote(self.proc, self.args[self.at - 1])}")

    # ---- from the loosest operator to the tightest

    def alternative(self, live: bool) -> Value:
        left = self.conjunction(live)
        while self.take("|"):
            right = self.conjunction(live and is_null(left))
            if is_null(left):
                left = 0 if is_null(right) else right
        return left

    def conjunction(self, live: bool) -> Value:
        left = self.comparison(live)
        while self.take("&"):
            right = self.comparison(live and not is_null(left))
            if is_null(left) or is_null(right):
                left = 0
        return left

    def comparison(self, live: bool) -> Value:
        left = self.sum(live)
        while operator := self.take("<", "<=", "=", "==", "!=", ">=", ">"):
            right = self.sum(live)
            a, b = to_int(left), to_int(right)
            if a is not None and b is not None:
                order = (a > b) - (a < b)
            else:
                x, y = encode(str(left)), encode(str(right))
                order = (x > y) - (x < y)
            left = int({"<": order < 0, "<=": order <= 0, "=": order == 0, "==": order == 0, "!=": order != 0,
                        ">=": order >= 0, ">": order > 0}[operator])
        return left

    def sum(self, live: bool) -> Value:
        left = self.product(live)
        while operator := self.take("+", "-"):
            right = self.product(live)
            if live:
                a, b = self.numbers(left, right)
                left = self.fits(a + b if operator == "+" else a - b)
        return left

    def product(self, live: bool) -> Value:
        left = self.matching(live)
        while operator := self.take("*", "/", "%"):
            right = self.matching(live)
            if not live:
                continue
            a, b = self.numbers(left, right)
            if operator == "*":
                left = self.fits(a * b)
                continue
            if b == 0:
                raise self.error("division by zero")
            quotient = abs(a) // abs(b)
            quotient = quotient if (a < 0) == (b < 0) else -quotient
            left = quotient if operator == "/" else a - b * quotient
        return left

    def numbers(self, left: Value, right: Value) -> tuple[int, int]:
        a, b = to_int(left), to_int(right)
        if a is None or b is None:
            raise self.error("non-integer argument")
        return a, b

    def fits(self, value: int) -> int:
        if value.bit_length() > MAX_DIGITS * 3:
            raise self.error("Numerical result out of range", 3)
        return value

    def matching(self, live: bool) -> Value:
        left = self.keyword(live)
        while self.take(":"):
            right = self.keyword(live)
            if live:
                left = self.match(str(left), str(right))
        return left

    def keyword(self, live: bool) -> Value:
        self.need()
        if self.take("+"):
            self.need()
            self.at += 1
            return self.args[self.at - 1]
        if self.take("length"):
            return self.length(str(self.keyword(live)))
        if self.take("match"):
            text = self.keyword(live)
            pattern = self.keyword(live)
            return self.match(str(text), str(pattern)) if live else text
        if self.take("index"):
            text, chars = str(self.keyword(live)), str(self.keyword(live))
            units = self.units(text)
            wanted = set(self.units(chars))
            return next((i for i, c in enumerate(units, 1) if c in wanted), 0)
        if self.take("substr"):
            text = str(self.keyword(live))
            position, length = to_int(self.keyword(live)), to_int(self.keyword(live))
            if position is None or length is None or position <= 0 or length <= 0:
                return ""
            if self.utf8:
                return text[position - 1:position - 1 + length]
            return decode(encode(text)[position - 1:position - 1 + length])
        return self.primary(live)

    def primary(self, live: bool) -> Value:
        if self.take("("):
            self.need()
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise self.error("memory exhausted", 3)
            value = self.alternative(live)
            self.depth -= 1
            if self.at >= len(self.args):
                raise self.error(f"syntax error: expecting ')' after {quote(self.proc, self.args[self.at - 1])}")
            if not self.take(")"):
                raise self.error(f"syntax error: expecting ')' instead of {quote(self.proc, self.args[self.at])}")
            return value
        if self.take(")"):
            raise self.error("syntax error: unexpected ')'")
        self.at += 1
        return self.args[self.at - 1]

    # ---- strings

    def units(self, text: str) -> list[str] | list[int]:
        return list(text) if self.utf8 else list(encode(text))

    def length(self, text: str) -> int:
        return len(text) if self.utf8 else len(encode(text))

    def match(self, text: str, pattern: str) -> Value:
        """STRING : REGEXP: group 1 where there is one, else the number of characters matched."""
        from mirage.text.regex import RegexError, compile_bre
        data = encode(text)
        try:
            regex = compile_bre(pattern, syntax="expr", utf8=self.utf8)
            found = regex.match(data)
        except RegexError as e:
            raise self.error(str(e)) from None
        if found is None:
            return "" if regex.groups else 0
        if regex.groups:
            return decode(found.group(1) or b"")
        return self.length(decode(data[:found.end()]))
