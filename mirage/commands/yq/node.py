"""The tree of a YAML document: nodes that keep style, anchors and comments, and know where they hang."""
from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAP, SEQ, SCALAR, ALIAS = "mapping", "sequence", "scalar", "alias"
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9_]*|0[0-9_]+)\Z|0x[0-9a-fA-F_]+\Z|0o[0-7_]+\Z|0b[01_]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z|"
                    r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?"
                   r"(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?)?\Z")
MAX_DEPTH = 400


class YqError(Exception):
    """What yq reports as `Error: text`, with status 1."""


class Node:
    __slots__ = ("anchor", "attached", "column", "document", "file", "foot", "head", "items", "key", "kind", "line",
                 "note", "parent", "style", "tag", "value")

    def __init__(self, kind: str, tag: str, value: str = "", style: str = "") -> None:
        self.kind = kind
        self.tag = tag
        self.value = value
        self.style = style                                   # "", ' " | > for scalars, "flow" for collections
        self.items: list[Any] = []                           # nodes of a sequence, [key, value] pairs of a mapping
        self.anchor = ""
        self.head = self.note = self.foot = ""               # comments before, on the line, behind
        self.line = self.column = 0
        self.parent: Node | None = None
        self.key: Node | None = None
        self.attached = True
        self.document = self.file = 0

    def copy(self) -> Node:
        twin = Node(self.kind, self.tag, self.value, self.style)
        for name in ("anchor", "head", "note", "foot", "line", "column", "document", "file"):
            setattr(twin, name, getattr(self, name))
        if self.kind == MAP:
            for key, value in self.items:
                twin.put(key.copy(), value.copy())
        elif self.kind == ALIAS:
            twin.items = self.items
        else:
            for value in self.items:
                twin.append(value.copy())
        return twin

    def put(self, key: Node, value: Node) -> None:
        value.parent, value.key, value.attached = self, key, True
        key.parent = self
        self.items.append([key, value])

    def append(self, value: Node) -> None:
        value.parent, value.key, value.attached = self, scalar(str(len(self.items)), "!!int"), True
        self.items.append(value)

    def take(self, other: Node, keep_comments: bool = False) -> None:
        """Become what `other` is, in place."""
        other = other.copy()
        styled = self.style if keep_comments and self.kind == other.kind == SCALAR and self.tag == other.tag else None
        self.kind, self.tag, self.value, self.items = other.kind, other.tag, other.value, other.items
        self.style = styled if styled is not None and not other.style else other.style
        if not keep_comments or other.note or other.head:
            self.note, self.head = other.note or self.note, other.head or self.head
        for item in self.items if self.kind != ALIAS else ():
            for part in item if isinstance(item, list) else [item]:
                part.parent = self

    def attach(self) -> None:
        """A node that `.a.b` found missing becomes part of its parent (which may be missing too)."""
        if self.attached or self.parent is None or self.key is None:
            return
        parent = self.parent
        parent.attach()
        index = self.key.tag == "!!int"
        if parent.kind == SCALAR and parent.tag == "!!null":
            parent.kind, parent.tag, parent.value, parent.style = (SEQ, "!!seq", "", "") if index else (MAP, "!!map",
                                                                                                        "", "")
        if parent.kind == SEQ and index:
            at = int(self.key.value)
            if at > len(parent.items) + 100_000:
                raise YqError(f"index [{at}] out of range")
            while len(parent.items) < at:
                parent.append(null())
            key = self.key
            parent.append(self)
            self.key = key
        elif parent.kind == MAP:
            for pair in parent.items:
                if pair[0].value == self.key.value:
                    pair[1] = self
                    self.attached = True
                    return
            parent.put(self.key, self)
        self.attached = True

    @property
    def truth(self) -> bool:
        return not (self.tag == "!!null" or self.tag == "!!bool" and self.value.lower() == "false")

    def follow(self) -> Node:
        """The node that an alias stands for."""
        node, turns = self, 0
        while node.kind == ALIAS and turns < 100:
            node, turns = node.items[0], turns + 1
        return node

    def get(self, name: str) -> Node | None:
        found: Node | None
        for key, value in self.items:
            if key.value == name and key.kind == SCALAR:
                found = value
                return found
        for key, value in self.items:
            if key.tag == "!!merge":
                merged: Node = value.follow()
                for source in reversed(merged.items) if merged.kind == SEQ else [merged]:
                    node: Node = source.follow()
                    found = node.get(name) if node.kind == MAP else None
                    if found is not None:
                        return found
        return None


def scalar(value: str, tag: str = "!!str", style: str = "") -> Node:
    return Node(SCALAR, tag, value, style)


def null() -> Node:
    return Node(SCALAR, "!!null", "null")


def boolean(value: bool) -> Node:
    return Node(SCALAR, "!!bool", "true" if value else "false")


def integer(value: int) -> Node:
    return Node(SCALAR, "!!int", str(value))


def number(value: float) -> Node:
    if isinstance(value, int):
        return integer(value)
    if value != value or value in (float("inf"), float("-inf")):
        return Node(SCALAR, "!!float", ".nan" if value != value else "+.inf" if value > 0 else "-.inf")
    text = repr(value)
    if text.endswith(".0"):
        text = text[:-2]
    return Node(SCALAR, "!!float", text)


def resolve(text: str) -> str:
    """The tag of a plain scalar (YAML 1.2 core schema, with timestamps and merge keys as go-yaml has them)."""
    if text in ("", "~", "null", "Null", "NULL"):
        return "!!null"
    first = text[0]
    if first in "tTfF" and text in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return "!!bool"
    if first in "-+.0123456789":
        if _INT.match(text):
            return "!!int"
        if _FLOAT.match(text):
            return "!!float"
        if _DATE.match(text):
            return "!!timestamp"
    return "!!merge" if text == "<<" else "!!str"


def as_number(node: Node) -> float:
    text = node.value.replace("_", "")
    try:
        if node.tag == "!!int":
            return int(text, 0) if text[:2].lower() in ("0x", "0o", "0b") else int(text[:4000])
        return float(text.replace(".inf", "inf").replace(".nan", "nan").lower())
    except ValueError:
        raise YqError(f"cannot convert node value [{node.value}] of tag {node.tag} to number") from None


def from_python(value: Any) -> Node:
    if value is None:
        return null()
    if isinstance(value, bool):
        return boolean(value)
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, str):
        return scalar(value)
    node = Node(MAP, "!!map") if isinstance(value, dict) else Node(SEQ, "!!seq")
    if isinstance(value, dict):
        for key, item in value.items():
            node.put(scalar(str(key)), from_python(item))
    else:
        for item in value:
            node.append(from_python(item))
    return node


def to_python(node: Node, depth: int = 0) -> Any:
    """Plain Python values; merge keys applied."""
    if depth > MAX_DEPTH:
        raise YqError("too deep")
    node = node.follow()
    if node.kind == SEQ:
        return [to_python(item, depth + 1) for item in node.items]
    if node.kind == MAP:
        out: dict[str, Any] = {}
        for key, value in node.items:
            if key.tag == "!!merge":
                target = value.follow()
                for source in target.items if target.kind == SEQ else [target]:
                    for name, item in to_python(source, depth + 1).items():
                        out.setdefault(name, item)
        for key, value in node.items:
            if key.tag != "!!merge":
                out[key.value] = to_python(value, depth + 1)
        return out
    if node.tag == "!!null":
        return None
    if node.tag == "!!bool":
        return node.value.lower() == "true"
    if node.tag in ("!!int", "!!float"):
        return as_number(node)
    return node.value
