"""POSIX basic and extended regular expressions as GNU understands them, parsed into a tree.

The rules are those of glibc's regcomp with the syntax bits that each tool sets (regex.h); the texts of the errors
are glibc's.
"""
from __future__ import annotations

from mirage.text.regex_ast import (
    ASCII_CLASSES,
    UNBOUNDED,
    WORD,
    Alt,
    AnyChar,
    Assert,
    Backref,
    Char,
    Empty,
    Group,
    Node,
    Repeat,
    Seq,
    Set,
)

RE_DUP_MAX = 32767
MAX_DEPTH = 120


class RegexError(ValueError):
    """The expression is not valid; the text is glibc's."""


UNMATCHED_BRACKET = "Unmatched [, [^, [:, [., or [="
UNMATCHED_PAREN = "Unmatched ( or \\("
UNMATCHED_RIGHT_PAREN = "Unmatched ) or \\)"
UNMATCHED_BRACE = "Unmatched \\{"
BAD_BRACE = "Invalid content of \\{\\}"
BAD_REPEAT = "Invalid preceding regular expression"
TOO_BIG = "Regular expression too big"
TRAILING = "Trailing backslash"
BAD_BACKREF = "Invalid back reference"


class Syntax:
    """What differs between tools; the names follow the RE_* bits of regex.h.

    escapes   which further backslash sequences are known: "" (GNU's own), "sed", "awk"
    """

    __slots__ = ("backrefs", "bracket_escapes", "context_indep_ops", "context_invalid_dup", "context_invalid_ops",
                 "dfa", "empty_ranges", "escapes", "extended", "intervals", "invalid_interval_ord", "newline_alt",
                 "plus_qm", "right_paren_ord")

    def __init__(self, extended: bool, *, context_indep_ops: bool = False, context_invalid_ops: bool = False,
                 context_invalid_dup: bool = False, invalid_interval_ord: bool = False, right_paren_ord: bool = False,
                 escapes: str = "", backrefs: bool = True, newline_alt: bool = False, intervals: bool = True,
                 plus_qm: bool | None = None, bracket_escapes: bool = False, dfa: bool = False,
                 empty_ranges: bool = False) -> None:
        self.extended = extended                             # ( ) | { } without backslash
        self.plus_qm = extended if plus_qm is None else plus_qm      # + ? without backslash
        self.context_indep_ops = context_indep_ops           # an operator at the start is no literal
        self.context_invalid_ops = context_invalid_ops       # ... but an error
        self.context_invalid_dup = context_invalid_dup       # \\{ at the start and ** are errors
        self.invalid_interval_ord = invalid_interval_ord     # a{x is literal
        self.right_paren_ord = right_paren_ord               # an unmatched ) is literal
        self.escapes = escapes
        self.backrefs = backrefs
        self.newline_alt = newline_alt                       # a newline separates alternatives
        self.intervals = intervals
        self.bracket_escapes = bracket_escapes               # a backslash quotes inside brackets
        self.dfa = dfa                                       # [:space:] is an error (gnulib's dfa.c)
        self.empty_ranges = empty_ranges                     # [b-a] is no error


SYNTAXES: dict[str, Syntax] = {
    "grep": Syntax(False, newline_alt=True, dfa=True),
    "egrep": Syntax(True, context_indep_ops=True, invalid_interval_ord=True, right_paren_ord=True, newline_alt=True,
                    dfa=True),
    "sed": Syntax(False, context_invalid_dup=True, escapes="sed", dfa=True),
    "posix-sed": Syntax(False, context_invalid_dup=True, dfa=True),
    "posix-esed": Syntax(True, context_indep_ops=True, context_invalid_ops=True, dfa=True),
    "esed": Syntax(True, context_indep_ops=True, context_invalid_ops=True, escapes="sed", dfa=True),
    "expr": Syntax(False, empty_ranges=True),
    "basic": Syntax(False),
    "posix-basic": Syntax(False, context_invalid_dup=True),
    "extended": Syntax(True, context_indep_ops=True, context_invalid_ops=True, right_paren_ord=True),
    "awk": Syntax(True, invalid_interval_ord=True, right_paren_ord=True, escapes="awk", backrefs=False,
                  bracket_escapes=True),
    "find-awk": Syntax(True, invalid_interval_ord=True, backrefs=False, bracket_escapes=True),
    "find-grep": Syntax(False, newline_alt=True),
    "find-egrep": Syntax(True, context_indep_ops=True, invalid_interval_ord=True, right_paren_ord=True,
                         newline_alt=True),
    "emacs": Syntax(False, plus_qm=True, intervals=False),
}

_AWK_ESCAPES = {"n": 10, "t": 9, "r": 13, "f": 12, "v": 11, "a": 7, "b": 8}
_SED_ESCAPES = {"n": 10, "t": 9, "r": 13, "f": 12, "v": 11, "a": 7}
_ASSERTIONS = {"<": "<", ">": ">", "b": "b", "B": "B", "`": "`", "'": "'"}
_SETS = {"w": WORD, "W": Set((), ("word",), True), "s": Set((), ("space",)), "S": Set((), ("space",), True)}


class Parser:
    """One pass over `text` (str with surrogate escapes). `warnings` collects what grep 3.8 and later says."""

    def __init__(self, text: str, syntax: Syntax, icase: bool = False) -> None:
        self.text = text
        self.syntax = syntax
        self.icase = icase
        self.at = 0
        self.groups = 0
        self.closed: set[int] = set()
        self.backrefs = False
        self.warnings: list[str] = []

    def parse(self) -> Node:
        try:
            node = self._alternatives(0)
        except RecursionError:
            raise RegexError(TOO_BIG) from None
        if self.at < len(self.text):
            raise RegexError(UNMATCHED_RIGHT_PAREN)
        return node

    # ---- tokens

    def _is(self, plain: str, at: int | None = None) -> int:
        """Length of the operator `plain` at the current place ((, ), |, {, } with or without backslash), or 0."""
        at = self.at if at is None else at
        text = self.text
        bare = self.syntax.plus_qm if plain in "+?" else self.syntax.extended
        if plain == "{" and not self.syntax.intervals:
            return 0
        if bare:
            return 1 if text.startswith(plain, at) else 0
        return 2 if text.startswith("\\" + plain, at) else 0

    def _alternatives(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise RegexError(TOO_BIG)
        items = [self._sequence(depth)]
        while True:
            size = self._is("|") or (self.syntax.newline_alt and self.text.startswith("\n", self.at))
            if not size:
                break
            self.at += int(size)
            items.append(self._sequence(depth))
        return items[0] if len(items) == 1 else Alt(items)

    def _ends(self, at: int, depth: int) -> bool:
        """Does the sequence end here?"""
        text = self.text
        if at >= len(text) or self._is("|", at) or self.syntax.newline_alt and text[at] == "\n":
            return True
        return bool(self._is(")", at)) and (depth > 0 or not self.syntax.right_paren_ord)

    def _sequence(self, depth: int) -> Node:
        items: list[Node] = []
        text = self.text
        start = True                                         # an operator here has nothing to repeat
        while not self._ends(self.at, depth):
            c = text[self.at]
            if start and self._operator():
                continue
            node = self._atom(c, depth, not items)
            start = isinstance(node, Assert)                 # an anchor cannot be repeated
            items.append(node if start else self._repeats(node))
        if not items:
            return Empty()
        return items[0] if len(items) == 1 else Seq(items)

    def _operator(self) -> bool:
        """A repetition operator where nothing precedes it: an error, skipped, or (False) literal."""
        syntax, text = self.syntax, self.text
        interval = self._is("{")
        if text[self.at] == "*":
            size = 1
        else:
            size = interval or (self._is("+") or self._is("?") if syntax.plus_qm else 0)
        if not size:
            return False
        if interval and not syntax.extended:
            if syntax.context_invalid_dup:
                raise RegexError(BAD_REPEAT)
            return False
        if syntax.context_invalid_ops:
            raise RegexError(BAD_REPEAT)
        if not syntax.context_indep_ops:
            return False
        shown = "{...}" if interval else text[self.at]
        self.warnings.append(f"{shown} at start of expression")
        self.at += size
        return True

    # ---- atoms

    def _atom(self, c: str, depth: int, first: bool) -> Node:
        text, syntax = self.text, self.syntax
        if c == "\\":
            return self._escape(depth)
        if c == "[":
            return self._bracket()
        if c == "(" and syntax.extended:
            return self._group(1, depth)
        self.at += 1
        if c == ".":
            return AnyChar()
        if c == "^" and (syntax.extended or first):
            return Assert("^")
        if c == "$" and (syntax.extended or self._ends(self.at, depth) or self._is(")")):
            return Assert("$")
        return Char(ord(text[self.at - 1]))

    def _group(self, size: int, depth: int) -> Node:
        self.at += size
        self.groups += 1
        index = self.groups
        node = self._alternatives(depth + 1)
        closing = self._is(")")
        if not closing:
            raise RegexError(UNMATCHED_PAREN)
        self.at += closing
        self.closed.add(index)
        return Group(node, index)

    def _escape(self, depth: int) -> Node:
        text, syntax = self.text, self.syntax
        if self.at + 1 >= len(text):
            raise RegexError(TRAILING)
        c = text[self.at + 1]
        if c == "(" and not syntax.extended:
            return self._group(2, depth)
        self.at += 2
        if syntax.escapes:
            code = self._known_escape(c)
            if code is not None:
                return Char(code)
        if c in "123456789" and syntax.backrefs:
            if int(c) not in self.closed:
                raise RegexError(BAD_BACKREF)
            self.backrefs = True
            return Backref(int(c))
        if syntax.escapes == "awk" and c == "y":
            return Assert("b")
        if c in _ASSERTIONS:
            return Assert(_ASSERTIONS[c])
        if c in _SETS:
            return _SETS[c]
        return Char(ord(c))

    def _known_escape(self, c: str) -> int | None:
        """\\n, \\t, \\x41, ... of sed and awk: the character; self.at is behind the letter."""
        text = self.text
        if self.syntax.escapes == "awk":
            if c in _AWK_ESCAPES:
                return _AWK_ESCAPES[c]
            if c in "01234567":
                digits = c + self._digits("01234567", 2)
                return _byte(int(digits, 8) & 0xFF)
            if c == "x":
                digits = self._digits("0123456789abcdefABCDEF", 2)
                return _byte(int(digits, 16)) if digits else ord("x")
            return None
        if c in _SED_ESCAPES:
            return _SED_ESCAPES[c]
        base = {"d": 10, "o": 8, "x": 16}.get(c)
        if base:
            digits = self._digits("0123456789abcdefABCDEF"[:base if base < 16 else 22], 2 if base == 16 else 3)
            return _byte(int(digits, base) & 0xFF) if digits else None
        if c == "c" and self.at < len(text):
            self.at += 1
            return ord(text[self.at - 1].upper()) ^ 0x40
        return None

    def _digits(self, allowed: str, most: int) -> str:
        begin = self.at
        while self.at < len(self.text) and self.at - begin < most and self.text[self.at] in allowed:
            self.at += 1
        return self.text[begin:self.at]

    # ---- repetition

    def _repeats(self, node: Node) -> Node:
        text, syntax = self.text, self.syntax
        while self.at < len(text):
            dup = False
            if text[self.at] == "*":
                self.at += 1
                node, dup = _repeat(node, 0, UNBOUNDED), True
            elif size := self._is("+"):
                self.at += size
                node = _repeat(node, 1, UNBOUNDED)
            elif size := self._is("?"):
                self.at += size
                node = _repeat(node, 0, 1)
            elif size := self._is("{"):
                bounds = self._interval(size)
                if bounds is None:
                    break
                node, dup = _repeat(node, *bounds), True
            else:
                break
            if dup and syntax.context_invalid_dup and self.at < len(text) and (text[self.at] == "*" or self._is("{")):
                raise RegexError(BAD_REPEAT)
        return node

    def _interval(self, size: int) -> tuple[int, int] | None:
        """{n}, {n,}, {n,m}, {,m}; None where GNU takes the brace as a literal."""
        text, syntax = self.text, self.syntax
        begin = self.at
        self.at += size
        low = self._digits("0123456789", 1 << 30)
        high = low
        if text.startswith(",", self.at):
            self.at += 1
            high = self._digits("0123456789", 1 << 30)
            comma = True
        else:
            comma = False
        closing = self._is("}")
        if not closing or not low and not comma:
            ended = self.at >= len(text)
            if syntax.invalid_interval_ord:
                self.at = begin
                return None
            raise RegexError(UNMATCHED_BRACE if ended else BAD_BRACE if "}" in text[self.at:] else UNMATCHED_BRACE)
        self.at += closing
        least = int(low[:8] or 0)
        most = (int(high[:8]) if high else UNBOUNDED) if comma else least
        if most != UNBOUNDED and most < least:
            raise RegexError(BAD_BRACE)
        if least > RE_DUP_MAX or most > RE_DUP_MAX:
            raise RegexError(TOO_BIG)
        return least, most

    # ---- bracket expressions

    def _bracket(self) -> Node:
        text = self.text
        begin = self.at
        self.at += 1
        if self.at >= len(text):
            raise RegexError("Invalid regular expression")
        negated = text[self.at] == "^"
        if negated:
            self.at += 1
        ranges: list[tuple[int, int]] = []
        classes: list[str] = []
        first = True
        while True:
            if self.at >= len(text):
                raise RegexError(UNMATCHED_BRACKET)
            if text[self.at] == "]" and not first:
                self.at += 1
                break
            first = False
            low = self._element(classes, ranges)
            if low is None:
                if text.startswith("-", self.at) and not text.startswith("-]", self.at):
                    raise RegexError("Invalid range end")
                continue
            high = low
            if text.startswith("-", self.at) and not text.startswith("-]", self.at):
                self.at += 1
                if self.at >= len(text):
                    raise RegexError(UNMATCHED_BRACKET)
                end = self._element(None, None)
                if end is None or end < low and not self.syntax.empty_ranges:
                    raise RegexError("Invalid range end")
                high = end
                if text.startswith("-", self.at) and not text.startswith("-]", self.at):
                    raise RegexError("Invalid range end")
            if low <= high:
                ranges.append((low, high))
        shown = text[begin:self.at]
        if self.syntax.dfa and len(shown) > 4 and shown[1] == ":" and shown[-2] == ":":
            raise RegexError("character class syntax is [[:space:]], not [:space:]")
        return Set(ranges, classes, negated)

    def _element(self, classes: list[str] | None, ranges: list[tuple[int, int]] | None) -> int | None:
        """One member: its code point, or None for a class (which goes to `classes`)."""
        text, syntax = self.text, self.syntax
        c = text[self.at]
        if c == "[" and self.at + 1 < len(text) and text[self.at + 1] in ":.=":
            kind = text[self.at + 1]
            end = text.find(kind + "]", self.at + 2)
            if end < 0:
                if kind == ":":
                    self.at += 1
                    return 0x5B
                raise RegexError(UNMATCHED_BRACKET)
            name = text[self.at + 2:end]
            if kind == ":":
                if classes is None:
                    raise RegexError("Invalid range end")
                if name not in ASCII_CLASSES or name == "word":
                    raise RegexError("Invalid character class name")
                self.at = end + 2
                classes.append("alpha" if self.icase and name in ("upper", "lower") else name)
                return None
            if len(name) != 1:
                raise RegexError("Invalid collation character")
            self.at = end + 2
            if kind == "=":
                if ranges is None:
                    raise RegexError("Invalid range end")
                ranges.append((ord(name), ord(name)))
                return None
            return ord(name)
        self.at += 1
        if c == "\\" and self.at < len(text):
            following = text[self.at]
            if syntax.escapes == "sed":
                if following == "n":
                    self.at += 1
                    return 10
                if following in "tfrvadox":
                    before = self.at
                    self.at += 1
                    code = self._known_escape(following)
                    if code is not None:
                        return code
                    self.at = before
            elif syntax.bracket_escapes:
                self.at += 1
                if syntax.escapes:
                    code = self._known_escape(following)
                    if code is not None:
                        return code
                return ord(following)
        return ord(c)


def _repeat(node: Node, low: int, high: int) -> Node:
    if isinstance(node, Repeat) and not isinstance(node.node, Group) and (node.low, node.high) == (low, high) \
            and (low, high) in ((0, UNBOUNDED), (1, UNBOUNDED), (0, 1)):
        return node
    return Repeat(node, low, high)


def _byte(code: int) -> int:
    """A byte from an escape: ASCII, or a byte that is not (part of) a character."""
    return code if code < 0x80 else 0xDC00 + code


def literal_tree(text: str) -> Node:
    """The tree of a fixed string (grep -F)."""
    items: list[Node] = [Char(ord(c)) for c in text]
    return items[0] if len(items) == 1 else Seq(items) if items else Empty()
