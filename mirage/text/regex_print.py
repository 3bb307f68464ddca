"""A tree printed as a pattern for google-re2, for PCRE2, or for Python's re."""
from __future__ import annotations

from mirage.text.regex_ast import (
    ASCII_CLASSES,
    UNBOUNDED,
    Alt,
    AnyChar,
    Assert,
    Backref,
    Char,
    Group,
    Node,
    Repeat,
    Seq,
    Set,
    edge_is_word,
    nullable,
    walk,
)
from mirage.text.regex_parse import TOO_BIG, RegexError

RE2_MAX_REPEAT = 1000
MAX_SIZE = 200_000                                           # atoms after repetitions are written out

UNICODE_CLASSES = {
    "alpha": r"\pL\p{Nl}", "alnum": r"\pL\p{Nd}\p{Nl}", "upper": r"\p{Lu}\p{Lt}", "lower": r"\p{Ll}",
    "word": r"\pL\p{Nd}\p{Nl}_", "digit": "0-9", "xdigit": "0-9A-Fa-f", "punct": r"\pP\pS\pM",
    "space": r"\t-\r \x{1680}\x{2000}-\x{2006}\x{2008}-\x{200a}\x{2028}\x{2029}\x{205f}\x{3000}",
    "blank": r"\t \x{1680}\x{2000}-\x{2006}\x{2008}-\x{200a}\x{205f}\x{3000}",
    "cntrl": r"\x00-\x1f\x7f-\x{9f}\x{2028}\x{2029}", "graph": r"\pL\pM\pN\pP\pS", "print": r"\pL\pM\pN\pP\pS\p{Zs}",
}
_SPECIAL = frozenset(b"\\^$.[]|()*+?{}-/\"'#&~ ")


class Unprintable(Exception):
    """The engine has no words for this tree (back-references or word edges in re2)."""


class Printer:
    """engine    "re2", "pcre" or "re"
    unicode   characters are UTF-8 sequences; otherwise they are bytes and classes are ASCII's
    lines     a subject holds many lines: nothing but an assertion sees a newline, ^ and $ are those of lines
    swap      newline and NUL have changed places in the subject (grep -z)
    captures  print the groups as capturing
    """

    def __init__(self, engine: str, *, unicode: bool, lines: bool = False, multiline: bool = False,
                 swap: bool = False, captures: bool = True) -> None:
        self.engine = engine
        self.unicode = unicode
        self.lines = lines
        self.multiline = multiline or lines
        self.swap = swap
        self.captures = captures
        self.size = 0

    def print(self, node: Node) -> str:
        return self._node(node, self.captures)

    # ---- nodes

    def _node(self, node: Node, captures: bool) -> str:
        if isinstance(node, Char):
            self._count(1)
            return self.char(node.code)
        if isinstance(node, Seq):
            return self._sequence(node, captures)
        if isinstance(node, Set):
            self._count(1)
            return self._set(node)
        if isinstance(node, AnyChar):
            self._count(1)
            return self._any()
        if isinstance(node, Repeat):
            return self._repeat(node, captures)
        if isinstance(node, Group):
            inner = self._node(node.node, captures)
            return f"({inner})" if captures else f"(?:{inner})"
        if isinstance(node, Alt):
            return "(?:" + "|".join(self._node(item, captures) for item in node.items) + ")"
        if isinstance(node, Assert):
            return self._assert(node.kind, None, None)
        if isinstance(node, Backref):
            if self.engine == "re2":
                raise Unprintable
            return f"(?:\\{node.index})"
        return "(?:)"

    def _count(self, atoms: int) -> None:
        self.size += atoms
        if self.size > MAX_SIZE:
            raise RegexError(TOO_BIG)

    def _sequence(self, node: Seq, captures: bool) -> str:
        parts = []
        items = node.items
        for i, item in enumerate(items):
            if isinstance(item, Assert) and item.kind in "bB<>":
                before = Seq(items[:i]) if i else None
                after = Seq(items[i + 1:]) if i + 1 < len(items) else None
                parts.append(self._assert(item.kind, before, after))
            else:
                parts.append(self._node(item, captures))
        return "".join(parts)

    def _assert(self, kind: str, before: Node | None, after: Node | None) -> str:
        python = self.engine == "re"
        if kind == "`":
            return r"\A"
        if kind == "'":
            return r"\Z" if python else r"\z"
        if kind == "^":
            return "^" if self.multiline else r"\A"
        if kind == "$":
            if self.multiline:
                return "$"
            return r"\Z" if python else r"\z"
        if kind in "bB":
            return "\\" + kind
        if self.engine == "re2":
            if kind == "<" and after is not None and edge_is_word(after, False):
                return r"\b"
            if kind == ">" and before is not None and edge_is_word(before, True):
                return r"\b"
            raise Unprintable
        return r"(?:\b(?=\w))" if kind == "<" else r"(?:\b(?<=\w))"

    def _repeat(self, node: Repeat, captures: bool) -> str:
        low, high = node.low, node.high
        if high == 0:
            return self._absent(node.node, captures)
        before = self.size
        inner = self._node(node.node, captures)
        each = self.size - before
        most = max(low, high)
        if most > 1:
            self._count(each * (most - 1))
        if not isinstance(node.node, (Char, Set, AnyChar, Group)) or isinstance(node.node, Char) and len(inner) > 1 \
                and not inner.startswith("\\"):
            inner = f"(?:{inner})"
        if (low, high) == (0, UNBOUNDED):
            return inner + "*"
        if (low, high) == (1, UNBOUNDED):
            return inner + "+"
        if (low, high) == (0, 1):
            return inner + "?"
        if (low, high) == (1, 1):
            return inner
        if self.engine != "re2" or max(low, high) * _inner_repeat(node.node) <= RE2_MAX_REPEAT:
            return f"{inner}{{{low},{'' if high == UNBOUNDED else high}}}"
        return self._expanded(node, inner, captures)

    def _absent(self, node: Node, captures: bool) -> str:
        """x{0}: matches nothing, but its groups keep their numbers."""
        if captures and any(isinstance(n, Group) for n in walk(node)):
            return "(?:" + self._node(node, True) + "){0}"
        return "(?:)"

    def _expanded(self, node: Repeat, inner: str, captures: bool) -> str:
        """A repetition that re2 refuses, in pieces; groups capture in the last one only."""
        plain = self._plain(node.node)
        fixed = node.low
        step = max(1, RE2_MAX_REPEAT // _inner_repeat(node.node))
        least = fixed - 1 if node.high == UNBOUNDED or node.high == fixed else fixed
        out = []
        while least > 0:
            n = min(step, least)
            out.append(f"{plain}{{{n}}}")
            least -= n
        if node.high == UNBOUNDED:
            out.append(inner + "+" if fixed else inner + "*")
        elif node.high == fixed:
            out.append(inner)
        else:
            rest = node.high - fixed
            while rest > 0:
                n = min(step, rest)
                out.append(f"{inner if rest == n else plain}{{0,{n}}}")
                rest -= n
        return "(?:" + "".join(out) + ")"

    def _plain(self, node: Node) -> str:
        size = self.size
        text = self._node(node, False)
        self.size = size
        return f"(?:{text})"

    # ---- characters

    def char(self, code: int) -> str:
        if self.swap and code in (0, 10):
            code = 10 - code
        if code < 128:
            if code in _SPECIAL or code < 32 or code == 127:
                return f"\\x{code:02x}"
            return chr(code)
        if 0xDC80 <= code <= 0xDCFF:
            if self.unicode:
                raise Unprintable
            return f"\\x{code - 0xDC00:02x}"
        if self.unicode:
            return f"\\x{{{code:x}}}"
        raw = chr(code).encode()
        return "(?:" + "".join(f"\\x{b:02x}" for b in raw) + ")"

    def _any(self) -> str:
        if self.lines:
            return r"[^\n]"
        return "(?s:.)"

    def _set(self, node: Set) -> str:
        """The members; with `lines` never a newline."""
        if not self.unicode:
            return self._byte_set(node)
        body = []
        for low, high in node.ranges:
            for a, b in self._ranges(low, high):
                body.append(self._member(a) if a == b else f"{self._member(a)}-{self._member(b)}")
        for name in node.classes:
            if name in ("space", "cntrl"):
                body.append(self._class_without_newline(name))
            else:
                body.append(UNICODE_CLASSES[name])
        inside = "".join(body)
        if node.negated:
            if self.lines:
                inside += r"\n"
            return f"[^{inside}]"
        return f"[{inside}]" if inside else self._nothing()

    def _nothing(self) -> str:
        return r"[^\x00-\x{10ffff}]" if self.unicode else r"[^\x00-\xff]"

    def _ranges(self, low: int, high: int) -> list[tuple[int, int]]:
        """The range as printed: without newline in `lines`, newline and NUL swapped, no surrogates."""
        found = [(low, high)]
        if self.lines or self.swap:
            drop = 0 if self.swap else 10
            if low <= drop <= high:
                found = [r for r in ((low, drop - 1), (drop + 1, high)) if r[0] <= r[1]]
            if self.swap and low <= 10 <= high:
                found = [q for r in found for q in _cut(r, 10)] + [(0, 0)]
        if 0xDC80 <= low:
            raise Unprintable
        return [q for r in found for q in _cut_surrogates(r)]

    def _class_without_newline(self, name: str) -> str:
        text = UNICODE_CLASSES[name]
        if not self.lines:
            return text
        if name == "space":
            text = text.replace(r"\t-\r", r"\t\x0b-\r")
            return text + (r"\x00" if self.swap else "")
        return text.replace(r"\x00-\x1f", r"\x01-\x09\x0b-\x1f" + (r"\x00" if self.swap else "")) if self.swap \
            else text.replace(r"\x00-\x1f", r"\x00-\x09\x0b-\x1f")

    def _member(self, code: int) -> str:
        if code < 128:
            if chr(code).isalnum():
                return chr(code)
            return f"\\x{code:02x}"
        return f"\\x{{{code:x}}}"

    def _byte_set(self, node: Set) -> str:
        members: set[int] = set()
        wide: list[bytes] = []
        for low, high in node.ranges:
            members.update(range(low, min(high, 127) + 1))
            if low >= 0xDC80:
                members.update(c - 0xDC00 for c in range(low, min(high, 0xDCFF) + 1))
            elif low >= 128:
                wide.append(chr(low).encode())
        for name in node.classes:
            for low, high in ASCII_CLASSES[name]:
                members.update(range(low, high + 1))
        for raw in wide:
            members.update(raw)
        if node.negated:
            members = set(range(256)) - members
        if self.swap:
            members = {10 - b if b in (0, 10) else b for b in members}
        if self.lines:
            members.discard(10)
        return byte_class(members)


def byte_class(members: set[int]) -> str:
    """A bracket expression of bytes, for any of the three engines."""
    if not members:
        return r"[^\x00-\xff]"
    out = []
    ordered = sorted(members)
    i = 0
    while i < len(ordered):
        j = i
        while j + 1 < len(ordered) and ordered[j + 1] == ordered[j] + 1:
            j += 1
        low, high = ordered[i], ordered[j]
        out.append(f"\\x{low:02x}" if low == high else f"\\x{low:02x}-\\x{high:02x}")
        i = j + 1
    return "[" + "".join(out) + "]"


def _cut(pair: tuple[int, int], code: int) -> list[tuple[int, int]]:
    low, high = pair
    if not low <= code <= high:
        return [pair]
    return [r for r in ((low, code - 1), (code + 1, high)) if r[0] <= r[1]]


def _cut_surrogates(pair: tuple[int, int]) -> list[tuple[int, int]]:
    low, high = pair
    if high < 0xD800 or low > 0xDFFF:
        return [pair]
    return [r for r in ((low, 0xD7FF), (0xE000, high)) if r[0] <= r[1]]


def _inner_repeat(node: Node) -> int:
    """The product of bounded repetitions on one path, as re2 counts it."""
    if isinstance(node, Repeat):
        return max(1, node.low, node.high) * _inner_repeat(node.node)
    if isinstance(node, Group):
        return _inner_repeat(node.node)
    if isinstance(node, (Seq, Alt)):
        return max((_inner_repeat(item) for item in node.items), default=1)
    return 1


__all__ = ["Printer", "Unprintable", "byte_class", "nullable"]
