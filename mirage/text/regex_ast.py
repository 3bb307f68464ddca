"""The tree of a regular expression, and what can be told of it without matching.

Characters are code points; a byte of an invalid sequence is its surrogate escape (U+DC80 to U+DCFF).
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ASCII_CLASSES: dict[str, tuple[tuple[int, int], ...]] = {
    "alpha": ((65, 90), (97, 122)), "digit": ((48, 57),), "alnum": ((48, 57), (65, 90), (97, 122)),
    "upper": ((65, 90),), "lower": ((97, 122),), "space": ((9, 13), (32, 32)), "blank": ((9, 9), (32, 32)),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)), "print": ((32, 126),), "graph": ((33, 126),),
    "cntrl": ((0, 31), (127, 127)), "xdigit": ((48, 57), (65, 70), (97, 102)),
    "word": ((48, 57), (65, 90), (95, 95), (97, 122)),
}
UNBOUNDED = -1


class Node:
    __slots__ = ()


class Empty(Node):
    __slots__ = ()


class Char(Node):
    __slots__ = ("code",)

    def __init__(self, code: int) -> None:
        self.code = code


class AnyChar(Node):
    """`.`: any character (of a line)."""

    __slots__ = ()


class Set(Node):
    """A bracket expression, \\w or \\s: ranges of code points and named classes."""

    __slots__ = ("classes", "negated", "ranges")

    def __init__(self, ranges: Sequence[tuple[int, int]], classes: Sequence[str] = (), negated: bool = False) -> None:
        self.ranges = tuple(ranges)
        self.classes = tuple(classes)
        self.negated = negated

    def ascii(self) -> frozenset[int]:
        """The ASCII members."""
        found: set[int] = set()
        for low, high in [*self.ranges, *(r for name in self.classes for r in ASCII_CLASSES[name])]:
            found.update(range(low, min(high, 127) + 1))
        return frozenset(set(range(128)) - found if self.negated else found)


class Seq(Node):
    __slots__ = ("items",)

    def __init__(self, items: list[Node]) -> None:
        self.items = items


class Alt(Node):
    __slots__ = ("items",)

    def __init__(self, items: list[Node]) -> None:
        self.items = items


class Repeat(Node):
    """`node` from `low` to `high` times (UNBOUNDED: no upper limit)."""

    __slots__ = ("high", "low", "node")

    def __init__(self, node: Node, low: int, high: int) -> None:
        self.node = node
        self.low = low
        self.high = high


class Group(Node):
    __slots__ = ("index", "node")

    def __init__(self, node: Node, index: int) -> None:
        self.node = node
        self.index = index


class Backref(Node):
    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


class Assert(Node):
    """kind: ^ $ (line), ` ' (buffer), b B < > (word)."""

    __slots__ = ("kind",)

    def __init__(self, kind: str) -> None:
        self.kind = kind


WORD = Set((), ("word",))
_WORD_ASCII = WORD.ascii()


def walk(node: Node) -> Iterator[Node]:
    """Every node of the tree, parents first."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (Seq, Alt)):
            stack.extend(reversed(node.items))
        elif isinstance(node, (Repeat, Group)):
            stack.append(node.node)


def fixed_text(node: Node) -> str | None:
    """The one string that the tree matches (assertions and sets excluded), or None."""
    if isinstance(node, Char):
        return chr(node.code)
    if isinstance(node, Empty):
        return ""
    if isinstance(node, Group):
        return fixed_text(node.node)
    if isinstance(node, Seq):
        parts = [fixed_text(item) for item in node.items]
        return None if any(p is None for p in parts) else "".join(p for p in parts if p is not None)
    return None


def required_text(node: Node) -> str:
    """A string that every match contains ("" where none is known); the longest that is easy to see."""
    best = ""
    run = ""
    for item in _flat(node):
        text = chr(item.code) if isinstance(item, Char) else None
        if text is not None:
            run += text
            continue
        if isinstance(item, Assert):
            continue
        if len(run) > len(best):
            best = run
        run = ""
        inner = ""
        if isinstance(item, Repeat) and item.low > 0:
            inner = required_text(item.node)
        elif isinstance(item, Group):
            inner = required_text(item.node)
        if len(inner) > len(best):
            best = inner
    return run if len(run) > len(best) else best


def _flat(node: Node) -> Iterator[Node]:
    if isinstance(node, Seq):
        for item in node.items:
            yield from _flat(item)
    elif isinstance(node, Group):
        yield from _flat(node.node)
    else:
        yield node


def nullable(node: Node) -> bool:
    """May the tree match the empty string (assertions and back-references count as empty)?"""
    if isinstance(node, (Char, AnyChar, Set)):
        return False
    if isinstance(node, Seq):
        return all(nullable(item) for item in node.items)
    if isinstance(node, Alt):
        return any(nullable(item) for item in node.items)
    if isinstance(node, Repeat):
        return node.low == 0 or nullable(node.node)
    if isinstance(node, Group):
        return nullable(node.node)
    return True


def edge_is_word(node: Node, last: bool) -> bool:
    """Is the first (last) character of every match an ASCII-word character for sure, in ASCII text?"""
    if isinstance(node, Char):
        return node.code in _WORD_ASCII
    if isinstance(node, Set):
        return node.ascii() <= _WORD_ASCII
    if isinstance(node, Group):
        return edge_is_word(node.node, last)
    if isinstance(node, Repeat):
        return node.low > 0 and edge_is_word(node.node, last)
    if isinstance(node, Alt):
        return all(edge_is_word(item, last) for item in node.items)
    if isinstance(node, Seq):
        for item in reversed(node.items) if last else node.items:
            if isinstance(item, (Assert, Empty)):
                continue
            if not nullable(item):
                return edge_is_word(item, last)
            if not _maybe_word(item, last):
                return False
    return False


def _maybe_word(node: Node, last: bool) -> bool:
    """Like edge_is_word for a part that may also be empty."""
    if isinstance(node, Repeat):
        return edge_is_word(node.node, last)
    return False


def rewrite(node: Node, change: Callable[[Node], Node]) -> Node:
    """A copy of the tree with `change` applied to each leaf (bottom up)."""
    if isinstance(node, Seq):
        return Seq([rewrite(item, change) for item in node.items])
    if isinstance(node, Alt):
        return Alt([rewrite(item, change) for item in node.items])
    if isinstance(node, Repeat):
        return Repeat(rewrite(node.node, change), node.low, node.high)
    if isinstance(node, Group):
        return Group(rewrite(node.node, change), node.index)
    return change(node)
