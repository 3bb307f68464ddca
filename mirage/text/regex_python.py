"""Trees that Python's re matches exactly as POSIX would and in bounded time, printed for it.

re is backtracking, but for short matches it is several times faster than a call into re2, and its `sub` works on a
whole buffer. Only sequences of single characters, sets and repetitions of these are taken (there greedy matching is
the longest), and alternatives of fixed strings none of which begins another. Bytes must be ASCII.
"""
from __future__ import annotations

from mirage.text.regex_ast import (
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
    fixed_text,
    nullable,
)
from mirage.text.regex_print import Printer

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

ALL = frozenset(range(128))
NEWLINE_ONLY = frozenset((10,))


class NotPlain(Exception):
    """The tree is outside the subset."""


def compile_plain(tree: Node, icase: bool, lines: bool) -> tuple[re.Pattern[bytes], int] | None:
    """(pattern for ASCII bytes, risk), or None. risk 0: linear; 1: a line costs up to the square of its length."""
    import re
    items = _flatten(tree)
    try:
        risk = _risk(items, lines)
        text = _Possessive("re", unicode=False, lines=lines).sequence(items, lines)
    except NotPlain:
        return None
    if risk > 1:
        return None
    return re.compile(text.encode(), (re.IGNORECASE if icase else 0) | (re.MULTILINE if lines else 0)), risk


def _flatten(node: Node) -> list[Node]:
    if isinstance(node, Seq):
        return [part for item in node.items for part in _flatten(item)]
    return [] if isinstance(node, Empty) else [node]


def members(node: Node, lines: bool) -> frozenset[int]:
    """The ASCII characters that a single-character node matches."""
    if isinstance(node, Char):
        return frozenset((node.code,))
    found = ALL if isinstance(node, AnyChar) else node.ascii() if isinstance(node, Set) else None
    if found is None:
        raise NotPlain
    return found - NEWLINE_ONLY if lines else found


def _first(items: list[Node], lines: bool) -> frozenset[int]:
    """Which characters a match of the items can begin with (ALL where it may be empty)."""
    found: frozenset[int] = frozenset()
    for item in items:
        if isinstance(item, Assert):
            if item.kind == "$" and lines:
                return found | NEWLINE_ONLY
            continue
        if isinstance(item, Group):
            inner = _flatten(item.node)
            found |= _first(inner, lines)
            if not nullable(item.node):
                return found
        elif isinstance(item, Alt):
            for branch in item.items:
                text = fixed_text(branch)
                if not text:
                    raise NotPlain
                found |= frozenset((ord(text[0]),))
            return found
        elif isinstance(item, Repeat):
            found |= members(item.node, lines)
            if item.low:
                return found
        else:
            return found | members(item, lines)
    return ALL


def _risk(items: list[Node], lines: bool) -> int:
    """How many repetitions may be scanned again and again."""
    flat = _unroll(items)
    start = _first(items, lines)
    risk = 0
    for i, item in enumerate(flat):
        if not isinstance(item, Repeat):
            continue
        if item.high != UNBOUNDED and item.high * 1 <= 8 or i == len(flat) - 1:
            continue
        inside = members(item.node, lines)
        if inside & start or inside & _first(flat[i + 1:], lines):
            risk += 1
    return risk


def _unroll(items: list[Node]) -> list[Node]:
    out: list[Node] = []
    for item in items:
        if isinstance(item, Group):
            out += _unroll(_flatten(item.node))
        else:
            out.append(item)
    return out


class _Possessive(Printer):
    """Prints repetitions possessively where what follows cannot begin inside them."""

    def sequence(self, items: list[Node], lines: bool) -> str:
        flat = _unroll(items)
        rest = {id(item): flat[i + 1:] for i, item in enumerate(flat)}
        return "".join(self._part(item, rest, lines) for item in items)

    def _part(self, item: Node, rest: dict[int, list[Node]], lines: bool) -> str:
        if isinstance(item, Group):
            return "(" + "".join(self._part(part, rest, lines) for part in _flatten(item.node)) + ")"
        if isinstance(item, Repeat):
            inside = members(item.node, lines)
            text = self._repeat(item, False)
            following = rest[id(item)]
            if following and not inside & _first(following, lines):
                return text + "+"
            return text
        if isinstance(item, Alt):
            texts = [fixed_text(branch) for branch in item.items]
            if any(not text for text in texts):
                raise NotPlain
            words = [text for text in texts if text]
            if any(a != b and b.startswith(a) for a in words for b in words):
                raise NotPlain
            return self._node(item, False)
        if isinstance(item, Assert):
            if item.kind not in "^$bB":
                raise NotPlain
            return self._assert(item.kind, None, None)
        if isinstance(item, (Char, Set, AnyChar)):
            if isinstance(item, Char) and item.code > 127:
                raise NotPlain
            return self._node(item, False)
        raise NotPlain
