"""The syntax tree of a jq program. Nodes are immutable once parsed; `line` is where a name stands."""
from __future__ import annotations

from mirage.commands._tree import Node as Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Identity(Node):
    """`.`"""


class RecurseAll(Node):
    """`..`"""


class Constant(Node):
    """A number, or null, true, false folded from a call."""

    __slots__ = ("value",)
    value: Any


class Index(Node):
    """`target[key]`, also `.name`."""

    __slots__ = ("target", "key")
    target: Node
    key: Node


class Slice(Node):
    """`target[low:high]`"""

    __slots__ = ("target", "low", "high")
    target: Node
    low: Node | None
    high: Node | None


class Iterate(Node):
    """`target[]`"""

    __slots__ = ("target",)
    target: Node


class Text(Node):
    """A string: literal pieces (str) and interpolated filters; `format` is `@name` or None."""

    __slots__ = ("format", "parts")
    format: str | None
    parts: list[str | Node]


class Format(Node):
    """`@name` alone."""

    __slots__ = ("name",)
    name: str


class Array(Node):
    __slots__ = ("body",)
    body: Node | None


class Object(Node):
    __slots__ = ("pairs",)
    pairs: list[tuple[Node, Node]]


class Negate(Node):
    __slots__ = ("body",)
    body: Node


class Pipe(Node):
    __slots__ = ("left", "right")
    left: Node
    right: Node


class Comma(Node):
    __slots__ = ("left", "right")
    left: Node
    right: Node


class Binary(Node):
    """Arithmetic, comparison, `and`, `or`, `//`."""

    __slots__ = ("op", "left", "right")
    op: str
    left: Node
    right: Node


class Assign(Node):
    """`=`, `|=`, `+=` and the like."""

    __slots__ = ("op", "left", "right")
    op: str
    left: Node
    right: Node


class If(Node):
    __slots__ = ("condition", "then", "otherwise")
    condition: Node
    then: Node
    otherwise: Node | None


class Try(Node):
    """`try body catch handler`, and `body?` (no handler)."""

    __slots__ = ("body", "handler")
    body: Node
    handler: Node | None


class Reduce(Node):
    __slots__ = ("source", "patterns", "start", "update")
    source: Node
    patterns: list[Pattern]
    start: Node
    update: Node


class Foreach(Node):
    __slots__ = ("source", "patterns", "start", "update", "extract")
    source: Node
    patterns: list[Pattern]
    start: Node
    update: Node
    extract: Node | None


class Function(Node):
    """`def name(parameters): body;` Parameters that begin with `$` are values."""

    __slots__ = ("name", "parameters", "body")
    name: str
    parameters: list[str]
    body: Node


class Define(Node):
    """A definition and what it is visible in."""

    __slots__ = ("function", "rest")
    function: Function
    rest: Node


class Call(Node):
    __slots__ = ("name", "arguments", "line")
    name: str
    arguments: list[Node]
    line: int


class Variable(Node):
    __slots__ = ("name", "line")
    name: str
    line: int


class Bind(Node):
    """`source as patterns | body`; several patterns are the alternatives of `?//`."""

    __slots__ = ("source", "patterns", "body")
    source: Node
    patterns: list[Pattern]
    body: Node


class Label(Node):
    __slots__ = ("name", "body")
    name: str
    body: Node


class Break(Node):
    __slots__ = ("name", "line")
    name: str
    line: int


class Location(Node):
    """`$__loc__`"""

    __slots__ = ("file", "line")
    file: str
    line: int


class Pattern(Node):
    """Base of what may stand after `as`."""


class NamePattern(Pattern):
    __slots__ = ("name",)
    name: str


class ArrayPattern(Pattern):
    __slots__ = ("items",)
    items: list[Pattern]


class ObjectPattern(Pattern):
    """Entries (variable or None, key filter, pattern of the value or None)."""

    __slots__ = ("entries",)
    entries: list[tuple[str | None, Node, Pattern | None]]


class Import(Node):
    """`import "path" as name {meta};` (`data` when the name is `$name`), `include "path" {meta};` (name None)."""

    __slots__ = ("path", "name", "data", "meta", "line")
    path: str
    name: str | None
    data: bool
    meta: Any
    line: int


class Program(Node):
    """`body` is None in a library; `meta` is the value of the `module` directive."""

    __slots__ = ("meta", "imports", "functions", "body")
    meta: Any
    imports: list[Import]
    functions: list[Function]
    body: Node | None
