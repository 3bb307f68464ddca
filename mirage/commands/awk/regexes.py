"""Regular expressions on awk strings (str): POSIX leftmost-longest, with a fast path.

Expressions that the `re` module matches like POSIX and in bounded time (no repeated groups, at most two unbounded
repeats, alternatives only where longest and first agree) run there, on ASCII subjects; all others, and all other
subjects, go through mirage.text.regex on bytes.
"""
from __future__ import annotations

import re

from mirage.text.regex import Regex, compile_ere
from mirage.text.regex_ast import (
    ASCII_CLASSES,
    UNBOUNDED,
    Alt,
    AnyChar,
    Assert,
    Char,
    Empty,
    Group,
    Node,
    Repeat,
    Seq,
    Set,
)
from mirage.text.regex_parse import SYNTAXES, RegexError
from mirage.text.regex_parse import Parser as RegexParser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Span = tuple[int, int]

LONGEST_SUBJECT = 1 << 16                                    # longer ones are left to the linear engine
MAX_UNBOUNDED = 2


class NotSimple(Exception):
    """The expression needs the full engine."""


class Matcher:
    """One compiled expression. Positions are in characters.

    test(text) -> bool     search(text, start) -> spans of the match and its groups, (-1, -1) where unset, or None
    """

    __slots__ = ("_fast", "_fast_test", "_full", "_literal", "encoding", "icase", "source")

    def __init__(self, source: str, icase: bool, encoding: str) -> None:
        self.source = source
        self.icase = icase
        self.encoding = encoding
        self._full: Regex | None = None
        self._fast: Callable[[str, int], re.Match[str] | None] | None = None
        self._fast_test: Callable[[str], re.Match[str] | None] | None = None
        self._literal: str | None = None
        tree = parse(source, icase)
        flags = re.DOTALL | re.ASCII | (re.IGNORECASE if icase else 0)
        if not icase:
            self._literal = literal_of(tree)
        try:
            self._fast_test = re.compile(Translator(exact=False).translate(tree), flags).search
            self._fast = re.compile(Translator(exact=True).translate(tree), flags).search
        except (NotSimple, re.error, OverflowError):
            if self._fast_test is None:
                self._full = self._compile()

    def _compile(self) -> Regex:
        return compile_ere(self.source, self.icase, syntax="awk", utf8=self.encoding == "utf-8")

    @property
    def _slow(self) -> Regex:
        """The full engine, made when it is first needed."""
        if self._full is None:
            self._full = self._compile()
        return self._full

    def test(self, text: str) -> bool:
        if self._literal is not None:
            return self._literal in text
        if self._fast_test is not None and text.isascii() and len(text) < LONGEST_SUBJECT:
            return self._fast_test(text) is not None
        return self._slow.test(text.encode(self.encoding, "surrogateescape"))

    def search(self, text: str, start: int = 0) -> list[Span] | None:
        if self._fast is not None and text.isascii() and len(text) < LONGEST_SUBJECT:
            found = self._fast(text, start)
            return None if found is None else list(found.regs)
        for spans in self.iterate(text, start):
            return spans
        return None

    def iterate(self, text: str, start: int = 0) -> Iterator[list[Span]]:
        """Matches that do not overlap, from `start` on; an empty one directly behind the last does not count."""
        if self._fast is not None and text.isascii() and len(text) < LONGEST_SUBJECT:
            fast = self._fast
            at, last = start, -1
            while at <= len(text):
                found = fast(text, at)
                if found is None:
                    return
                begin, end = found.span()
                if begin != end:
                    yield list(found.regs)
                    at = last = end
                else:
                    if begin != last:
                        yield list(found.regs)
                    at = end + 1
            return
        data = text.encode(self.encoding, "surrogateescape")
        if len(data) == len(text):
            for match in self._slow.finditer(data, start):
                yield match.spans
            return
        begin = len(text[:start].encode(self.encoding, "surrogateescape"))
        known_byte, known_char = begin, start
        for match in self._slow.finditer(data, begin):
            spans: list[Span] = []
            for low, high in match.spans:
                if low < 0:
                    spans.append((-1, -1))
                    continue
                first = known_char + self._count(data, known_byte, low)
                spans.append((first, first + self._count(data, low, high)))
            known_byte, known_char = match.spans[0][1], spans[0][1]
            yield spans

    def _count(self, data: bytes, low: int, high: int) -> int:
        if low <= high:
            return len(data[low:high].decode(self.encoding, "surrogateescape"))
        return -len(data[high:low].decode(self.encoding, "surrogateescape"))

    def split(self, text: str) -> tuple[list[str], list[str]]:
        """(pieces, separators); only matches that are not empty separate."""
        pieces: list[str] = []
        separators: list[str] = []
        last = 0
        for spans in self.iterate(text):
            begin, end = spans[0]
            if begin == end:
                continue
            pieces.append(text[last:begin])
            separators.append(text[begin:end])
            last = end
        pieces.append(text[last:])
        return pieces, separators


def parse(source: str, icase: bool = False) -> Node:
    """The tree of an expression; RegexError where it is not valid."""
    return RegexParser(source, SYNTAXES["awk"], icase).parse()


def literal_of(tree: Node) -> str | None:
    """The text of an expression that is only characters."""
    items = tree.items if isinstance(tree, Seq) else [tree]
    if items and all(isinstance(item, Char) and item.code < 128 for item in items):
        return "".join(chr(item.code) for item in items if isinstance(item, Char))
    return None


class Translator:
    """Prints a tree for `re`. With `exact` the span must be right too, else only whether there is a match."""

    def __init__(self, exact: bool) -> None:
        self.exact = exact
        self.unbounded = 0

    def translate(self, tree: Node) -> str:
        return self.node(tree, top=True)

    def node(self, node: Node, top: bool = False) -> str:
        if isinstance(node, Char):
            if node.code > 127:
                raise NotSimple
            return re.escape(chr(node.code))
        if isinstance(node, AnyChar):
            return "."
        if isinstance(node, Set):
            return self.set(node)
        if isinstance(node, Empty):
            return ""
        if isinstance(node, Seq):
            return "".join(self.node(item) for item in node.items)
        if isinstance(node, Assert):
            if node.kind not in "^$`'":
                raise NotSimple
            return r"\A" if node.kind in "^`" else r"\Z"
        if isinstance(node, Group):
            return f"({self.node(node.node)})"
        if isinstance(node, Alt):
            return self.alternatives(node, top)
        if isinstance(node, Repeat):
            return self.repeat(node)
        raise NotSimple

    def alternatives(self, node: Alt, top: bool) -> str:
        """Exact only for plain words at the end of everything: the longest is tried first."""
        if self.exact:
            words = [literal_of(item) for item in node.items]
            if not top or any(word is None for word in words):
                raise NotSimple
            ordered = sorted((word for word in words if word is not None), key=len, reverse=True)
            return "|".join(re.escape(word) for word in ordered)
        return f"(?:{'|'.join(self.node(item) for item in node.items)})"

    def repeat(self, node: Repeat) -> str:
        inner = node.node
        if not isinstance(inner, Char | AnyChar | Set) or node.high not in (UNBOUNDED, 1) and node.high > 100:
            raise NotSimple
        if node.high == UNBOUNDED:
            self.unbounded += 1
            if self.unbounded > MAX_UNBOUNDED:
                raise NotSimple
            return self.node(inner) + ("*" if node.low == 0 else "+" if node.low == 1 else f"{{{node.low},}}")
        return self.node(inner) + ("?" if (node.low, node.high) == (0, 1) else f"{{{node.low},{node.high}}}")

    @staticmethod
    def set(node: Set) -> str:
        if any(name not in ASCII_CLASSES for name in node.classes):
            raise NotSimple
        members = [*node.ranges, *(r for name in node.classes for r in ASCII_CLASSES[name])]
        body = "".join(f"\\x{low:02x}-\\x{min(high, 127):02x}" for low, high in members if low < 128)
        if not body:
            return "." if node.negated else "(?!)"
        return f"[{'^' if node.negated else ''}{body}]"


__all__ = ["Matcher", "RegexError", "parse"]
