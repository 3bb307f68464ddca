"""The syntax tree of an awk program."""
from __future__ import annotations

from mirage.commands._tree import Node as Node


class Number(Node):
    __slots__ = ("value",)
    value: float


class String(Node):
    __slots__ = ("value",)
    value: str


class Regex(Node):
    """`/source/`; alone it is matched against $0. `typed` for @/source/."""

    __slots__ = ("source", "typed")
    source: str
    typed: bool


class Name(Node):
    """A variable or parameter."""

    __slots__ = ("name",)
    name: str


class Element(Node):
    """`array[keys]`; `array` is a Name, or an Element for arrays of arrays."""

    __slots__ = ("array", "keys")
    array: Name | Element
    keys: list[Node]


class Field(Node):
    __slots__ = ("index",)
    index: Node


class Group(Node):
    """`(a, b)` as in `(a, b) in array` and `print (a, b)`."""

    __slots__ = ("items",)
    items: list[Node]


class Paren(Node):
    """An expression in parentheses."""

    __slots__ = ("body",)
    body: Node


class Unary(Node):
    """op: - + !"""

    __slots__ = ("op", "body")
    op: str
    body: Node


class Binary(Node):
    """Arithmetic: + - * / % ^"""

    __slots__ = ("op", "left", "right")
    op: str
    left: Node
    right: Node


class Concat(Node):
    __slots__ = ("left", "right")
    left: Node
    right: Node


class Compare(Node):
    __slots__ = ("op", "left", "right")
    op: str
    left: Node
    right: Node


class Match(Node):
    """`left ~ right` (positive) or `left !~ right`."""

    __slots__ = ("positive", "left", "right")
    positive: bool
    left: Node
    right: Node


class In(Node):
    __slots__ = ("keys", "array")
    keys: list[Node]
    array: Name | Element


class Logical(Node):
    """op: && ||"""

    __slots__ = ("op", "left", "right")
    op: str
    left: Node
    right: Node


class Conditional(Node):
    __slots__ = ("condition", "then", "otherwise")
    condition: Node
    then: Node
    otherwise: Node


class Assign(Node):
    """op: = += -= *= /= %= ^="""

    __slots__ = ("op", "target", "value")
    op: str
    target: Node
    value: Node


class Increment(Node):
    __slots__ = ("target", "delta", "postfix")
    target: Node
    delta: int
    postfix: bool


class Call(Node):
    """A user's function, or a builtin when `builtin`. `indirect`: @name(...)."""

    __slots__ = ("name", "arguments", "builtin", "indirect", "line")
    name: str
    arguments: list[Node]
    builtin: bool
    indirect: bool
    line: int


class Getline(Node):
    """kind: main, file, command, coprocess."""

    __slots__ = ("kind", "source", "target")
    kind: str
    source: Node | None
    target: Node | None


# ---- statements

class Block(Node):
    __slots__ = ("body",)
    body: list[Node]


class Expression(Node):
    __slots__ = ("body",)
    body: Node


class Print(Node):
    """`print` and `printf` (formatted); redirect: (op, target) or None."""

    __slots__ = ("formatted", "arguments", "redirect")
    formatted: bool
    arguments: list[Node]
    redirect: tuple[str, Node] | None


class If(Node):
    __slots__ = ("condition", "then", "otherwise")
    condition: Node
    then: Node
    otherwise: Node | None


class While(Node):
    __slots__ = ("condition", "body")
    condition: Node
    body: Node


class Do(Node):
    __slots__ = ("body", "condition")
    body: Node
    condition: Node


class For(Node):
    __slots__ = ("start", "condition", "step", "body")
    start: Node | None
    condition: Node | None
    step: Node | None
    body: Node


class ForIn(Node):
    __slots__ = ("target", "array", "body")
    target: Node
    array: Name | Element
    body: Node


class Switch(Node):
    """cases: (None for default | Node, statements)"""

    __slots__ = ("subject", "cases")
    subject: Node
    cases: list[tuple[Node | None, list[Node]]]


class Jump(Node):
    """kind: break continue next nextfile"""

    __slots__ = ("kind", "line")
    kind: str
    line: int


class Exit(Node):
    __slots__ = ("status",)
    status: Node | None


class Return(Node):
    __slots__ = ("value",)
    value: Node | None


class Delete(Node):
    """`delete array[keys]`, or the whole array when keys is None."""

    __slots__ = ("array", "keys")
    array: Name | Element
    keys: list[Node] | None


# ---- program

class Rule(Node):
    """kind: BEGIN END BEGINFILE ENDFILE main; pattern: None, a Node, or a range (Node, Node)."""

    __slots__ = ("kind", "pattern", "body")
    kind: str
    pattern: Node | tuple[Node, Node] | None
    body: Block | None


class Function(Node):
    __slots__ = ("name", "parameters", "body", "line")
    name: str
    parameters: list[str]
    body: Block
    line: int


class Program(Node):
    __slots__ = ("rules", "functions")
    rules: list[Rule]
    functions: dict[str, Function]
