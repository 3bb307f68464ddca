"""Arithmetic expressions: text to tree.

The parser compiles the text of ``$((...))`` when it reads a script (`compile_parts`): expansions inside stand
in the text as one character each. What does not parse then is expanded and parsed as plain text when it runs
(`parse_text`), which is also where errors are reported, in bash's words.
"""

from __future__ import annotations

import re

from mirage.shell.ast import AExp, ASet, AVar, Bin, Lit, Num, Post, Quoted, Subscript, Tern, Un, Word
from mirage.shell.errors import ArithSyntaxError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from mirage.shell.ast import Expr, Part

    Subscripter: TypeAlias = Callable[[tuple[Part, ...]], Subscript]


class LazyPattern:
    """A regular expression that is compiled at its first use: most scripts never need it."""

    __slots__ = ("compiled", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.compiled: re.Pattern[str] | None = None

    def match(self, text: str, pos: int = 0) -> re.Match[str] | None:
        """As ``re.Pattern.match``."""
        if self.compiled is None:
            self.compiled = re.compile(self.pattern)
        return self.compiled.match(text, pos)


HOLE = "\0"  # stands for an expansion in the text of an expression
MAX_DEPTH = 80

_TOKEN = LazyPattern(
    r"[ \t\n]*(?:(?P<num>[0-9][0-9A-Za-z@_#]*)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<hole>\0)|"
    r"(?P<op><<=|>>=|\*\*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&^|]=|[-+*/%<>=!~&|^?:,()]))"
)
_NAME_AHEAD = LazyPattern(r"[ \t\n]*[A-Za-z_]")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@_"
_LEVELS = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10, "**": 11,
}  # fmt: skip
_ASSIGNING = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|="))

_OPERAND = "syntax error: operand expected"
_OPERATOR = "syntax error: invalid arithmetic operator"


def compile_parts(parts: Sequence[Part], subscripter: Subscripter) -> Expr | None:
    """Compile the parts of a word; None when that has to wait until they are expanded."""
    holes: list[Part] = []
    pieces: list[str] = []
    for part in parts:
        if type(part) is Lit or type(part) is Quoted:
            if HOLE in part.text:
                return None
            pieces.append(part.text)
        else:
            holes.append(part)
            pieces.append(HOLE)
    try:
        return _Parser("".join(pieces), holes, subscripter).parse()
    except (ArithSyntaxError, RecursionError):
        return None


def parse_text(text: str, subscripter: Subscripter) -> Expr:
    """Parse the text of an expression; raises ArithSyntaxError. Blank text is 0."""
    if HOLE in text:
        raise ArithSyntaxError(_OPERAND, text[text.index(HOLE) :])
    try:
        return _Parser(text, (), subscripter).parse()
    except RecursionError:
        raise ArithSyntaxError("expression recursion level exceeded", text) from None


def wrap(value: int) -> int:
    """To 64 bits, signed."""
    return (value + 0x8000000000000000 & 0xFFFFFFFFFFFFFFFF) - 0x8000000000000000


def number(text: str) -> int:
    """The value of a constant (``12``, ``0x1f``, ``017``, ``16#ff``); raises ArithSyntaxError."""
    base, digits = 10, text
    if "#" in text:
        head, digits = text.split("#", 1)
        if head[:1] == "0" and len(head) > 1:
            raise ArithSyntaxError("invalid number", text)
        base = int(head) if head.isdigit() and len(head) < 4 else 0
        if not 2 <= base <= 64:
            raise ArithSyntaxError("invalid arithmetic base", text)
        if not digits:
            raise ArithSyntaxError("invalid integer constant", text)
    elif text[:2] in ("0x", "0X"):
        base, digits = 16, text[2:]
    elif text[0] == "0":
        base = 8
    if base == 10 and len(digits) < 18 and digits.isdigit():
        return int(digits)
    value = 0
    for char in digits.lower() if base <= 36 else digits:
        if char == "#":
            raise ArithSyntaxError("invalid number", text)
        digit = _DIGITS.index(char)
        if digit >= base:
            raise ArithSyntaxError("value too great for base", text)
        value = value * base + digit & 0xFFFFFFFFFFFFFFFF
    return wrap(value)


class _Parser:
    """Precedence climbing, with one token of look-ahead.

    ``kind`` is that token: an operator's own text, ``num``, ``name``, ``hole`` (an expansion) or ``end``;
    ``node`` is the tree of the operand. Text that is no token is an error only when the parser gets there.
    """

    def __init__(self, text: str, holes: Sequence[Part], subscripter: Subscripter) -> None:
        self.text = text
        self.holes = holes
        self.subscripter = subscripter
        self.pos = 0
        self.hole = 0
        self.depth = 0
        self.kind = ""
        self.node: Expr | None = None
        self.grouped: Expr | None = None  # the last expression in parentheses: no target of an assignment
        self.last = 0  # start of the last token read, for messages
        self.advance()

    def parse(self) -> Expr:
        if self.kind == "end":
            return Num(0)
        expr = self.comma()
        if self.kind != "end":
            raise self.error("syntax error in expression")
        return expr

    def error(self, message: str, token: str | None = None) -> ArithSyntaxError:
        return ArithSyntaxError(message, self.text[self.last :] if token is None else token)

    # ------------------------------------------------------------------------------------------------- tokens

    def advance(self) -> None:
        """Read the next token into ``kind`` and ``node``."""
        before = self.kind
        text, start = self.text, self.pos
        match = _TOKEN.match(text, start)
        if match is None:
            start = len(text) - len(text[start:].lstrip(" \t\n"))
            if start >= len(text):
                self.kind = "end"
                self.pos = start
                return
            self.last = start
            raise self.error(_OPERATOR if before in ("num", "name", "hole") else _OPERAND)
        kind = match.lastgroup or ""
        value = match[kind]
        self.last = match.start(kind)
        self.pos = match.end()
        if kind == "num":
            self._unglued(before, match)
            self.node = Num(number(value))
        elif kind == "name":
            self._unglued(before, match)
            self.node = AVar(value, self._subscript() if text.startswith("[", self.pos) else None)
        elif kind == "hole":
            if before in ("num", "name", "hole") and self.last == start:
                raise self.error(_OPERAND)
            self.node = AExp(self.holes[self.hole])
            self.hole += 1
        else:
            kind = value
            if kind in ("++", "--") and before != "name" and not _NAME_AHEAD.match(text, self.pos):
                kind = kind[0]  # two signs
                self.pos -= 1
        self.kind = kind

    def _unglued(self, before: str, match: re.Match[str]) -> None:
        """After an expansion its text may join what follows: not to be decided before it is expanded."""
        if before == "hole" and self.last == match.start():
            raise self.error(_OPERAND)

    def _subscript(self) -> Subscript:
        text, start = self.text, self.pos
        pos = start + 1
        depth = 1
        while pos < len(text):
            char = text[pos]
            if char == "\\":
                pos += 1
            elif char in "'\"":
                end = text.find(char, pos + 1)
                pos = end if end >= 0 else pos
            elif char == "[":
                depth += 1
            elif char == "]":
                depth -= 1
                if not depth:
                    break
            pos += 1
        else:
            raise self.error("bad array subscript")
        inside = text[start + 1 : pos]
        self.pos = pos + 1
        return self.subscripter(self._parts(inside))

    def _parts(self, text: str) -> tuple[Part, ...]:
        parts: list[Part] = []
        for index, piece in enumerate(text.split(HOLE)):
            if index:
                parts.append(self.holes[self.hole])
                self.hole += 1
            if piece:
                parts.append(Lit(piece))
        return tuple(parts)

    # ------------------------------------------------------------------------------------------------ grammar

    def comma(self) -> Expr:
        left = self.assignment()
        while self.kind == ",":
            self.advance()
            left = Bin(",", left, self.assignment())
        return left

    def assignment(self) -> Expr:
        left = self.condition()
        op = self.kind
        if op not in _ASSIGNING:
            return left
        if type(left) is not AVar or left is self.grouped:
            raise self.error("attempted assignment to non-variable")
        self._nest()
        self.advance()
        value = self.assignment()
        self.depth -= 1
        return ASet(op, left, value)

    def condition(self) -> Expr:
        test = self.binary(1)
        if self.kind != "?":
            return test
        self._nest()
        self.advance()
        if self.kind in (":", "end"):
            raise self.error("expression expected")
        first = self.comma()
        if self.kind != ":":
            raise self.error("`:' expected for conditional expression")
        self.advance()
        if self.kind == "end":
            raise self.error("expression expected")
        second = self.condition()
        self.depth -= 1
        return Tern(test, first, second)

    def binary(self, level: int) -> Expr:
        left = self.unary()
        while True:
            op = self.kind
            strength = _LEVELS.get(op, 0)
            if strength < level:
                return left
            self.advance()
            self._nest()
            right = self.binary(strength if op == "**" else strength + 1)
            self.depth -= 1
            left = Bin(op, left, right)

    def unary(self) -> Expr:
        op = self.kind
        if op in ("-", "+", "!", "~"):
            self._nest()
            self.advance()
            arg = self.unary()
            self.depth -= 1
            return Un(op, arg)
        if op in ("++", "--"):
            self.advance()
            arg = self.primary()
            if type(arg) is not AVar:
                raise self.error("identifier expected after pre-increment or pre-decrement")
            if self.kind in ("++", "--"):
                raise self.error(f"{self.kind}: assignment requires lvalue")
            return Un(op, arg)
        node = self.primary()
        if type(node) is AVar and self.kind in ("++", "--") and node is not self.grouped:
            op = self.kind
            self.advance()
            return Post(op, node)
        return node

    def primary(self) -> Expr:
        kind = self.kind
        if kind == "(":
            self._nest()
            self.advance()
            inner = self.comma()
            if self.kind != ")":
                raise self.error("missing `)'")
            self.advance()
            self.depth -= 1
            self.grouped = inner
            return inner
        if kind not in ("num", "name", "hole"):
            raise self.error(_OPERAND)
        node = self.node
        assert node is not None
        self.advance()
        return node

    def _nest(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ArithSyntaxError("expression recursion level exceeded", self.text)


def plain_subscript(word: Word, expr: Expr | None) -> Subscript:
    """A Subscript of a finished word, with its ``star``."""
    star = ""
    if len(word.parts) == 1:
        part = word.parts[0]
        if type(part) is Lit and part.text in ("@", "*"):
            star = part.text
    return Subscript(word, expr, star)
