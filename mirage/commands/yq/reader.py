"""YAML text -> documents of nodes, with comments (from PyYAML's events; its C parser where there is one)."""
from __future__ import annotations

import bisect
import re

from mirage.commands.yq.node import ALIAS, MAP, MAX_DEPTH, SCALAR, SEQ, Node, YqError, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mirage.process.process import Process

_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#")


def documents(proc: Process, text: str) -> list[Node]:
    """The documents of a YAML stream."""
    import yaml
    loader = getattr(yaml, "CLoader", yaml.Loader)
    builder = Builder(proc, text)
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.event(event, yaml)
    except UnicodeEncodeError:
        raise YqError("yaml: invalid leading UTF-8 octet") from None
    except yaml.YAMLError as e:
        mark = getattr(e, "problem_mark", None)
        place = f"line {mark.line + 1}: " if mark is not None else ""
        raise YqError(f"yaml: {place}{getattr(e, 'problem', None) or 'invalid input'}") from None
    if "#" in text:
        Comments(builder, text).assign()
    return builder.documents


class Builder:
    def __init__(self, proc: Process, text: str) -> None:
        self.proc = proc
        self.documents: list[Node] = []
        self.stack: list[tuple[Node, list[Node]]] = []       # an open collection and the key that waits for its value
        self.anchors: dict[str, Node] = {}
        self.order: list[Node] = []                          # every node as it begins
        self.spans: list[tuple[int, int, int, int]] = []     # scalars: first line, column, last line, column
        self.ends: dict[int, Node] = {}                      # line -> the last node that ends there
        self.marks: list[int] = []                           # lines of the `---`
        self.count = 0

    def event(self, event: Any, yaml: Any) -> None:
        self.count += 1
        if not self.count % 5000:
            self.proc.check()
        kind = type(event).__name__
        if kind == "ScalarEvent":
            plain = event.style is None or event.style == ""
            tag = _short(event.tag) if event.tag and event.tag != "!" else resolve(event.value) if event.implicit[0] \
                and plain else "!!str"
            node = Node(SCALAR, tag, event.value, "" if plain else event.style)
            self.add(node, event)
            self.spans.append((event.start_mark.line, event.start_mark.column, event.end_mark.line,
                               event.end_mark.column))
            if event.style in ("|", ">"):
                self.ends[event.start_mark.line] = node
            elif event.end_mark.line != event.start_mark.line or event.value or event.style or event.tag:
                self.ends[event.end_mark.line] = node
            else:
                self.ends[event.start_mark.line] = node
        elif kind == "AliasEvent":
            node = Node(ALIAS, "", event.anchor)
            target = self.anchors.get(event.anchor)
            if target is None:
                raise YqError(f"yaml: unknown anchor '{event.anchor}' referenced")
            node.items = [target]
            self.add(node, event)
            self.ends[event.end_mark.line] = node
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            mapping = kind == "MappingStartEvent"
            tag = _short(event.tag) if event.tag else "!!map" if mapping else "!!seq"
            node = Node(MAP if mapping else SEQ, tag, "", "flow" if event.flow_style else "")
            self.add(node, event)
            self.stack.append((node, []))
            if len(self.stack) > MAX_DEPTH:
                raise YqError("yaml: exceeded max depth")
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            node, _ = self.stack.pop()
            if node.style == "flow":
                self.ends[event.end_mark.line] = node
        elif kind == "DocumentStartEvent":
            self.anchors = {}
            if event.explicit:
                self.marks.append(event.start_mark.line)

    def add(self, node: Node, event: Any) -> None:
        node.line, node.column = event.start_mark.line + 1, event.start_mark.column + 1
        node.document = len(self.documents) - (1 if self.stack else 0)
        self.order.append(node)
        if getattr(event, "anchor", None) and node.kind != ALIAS:
            node.anchor = event.anchor
            self.anchors[event.anchor] = node
        if not self.stack:
            self.documents.append(node)
            return
        parent, waiting = self.stack[-1]
        if parent.kind == SEQ:
            parent.append(node)
        elif waiting:
            parent.put(waiting.pop(), node)
        else:
            waiting.append(node)
            node.parent = parent


def _short(tag: str) -> str:
    return "!!" + tag[18:] if tag.startswith("tag:yaml.org,2002:") else tag


class Comments:
    """Finds the comments of the text and hangs them on the nodes near them."""

    def __init__(self, builder: Builder, text: str) -> None:
        self.b = builder
        self.lines = text.split("\n")

    def assign(self) -> None:
        order = [node for node in self.b.order if node.kind != MAP or node.style == "flow" or not node.items]
        order = [node for node in order if not (node.kind == SEQ and node.style != "flow" and node.items)]
        starts = [node.line for node in order]
        block: list[str] = []
        for line, whole, text in self.found():
            if whole:
                block.append(text)
                if line + 1 < len(self.lines) and self.lines[line + 1].lstrip().startswith("#"):
                    continue
                blank = line + 1 >= len(self.lines) or not self.lines[line + 1].strip()
                self._head(block, order, starts, line, blank)
                block = []
            else:
                node = self.b.ends.get(line)
                if node is not None:
                    node.note = text

    def _head(self, block: list[str], order: list[Node], starts: list[int], line: int, blank: bool) -> None:
        at = bisect.bisect_right(starts, line + 1)
        text = "\n".join(block)
        ends = at < len(order) and at > 0 and any(line < mark < order[at].line for mark in self.b.marks)
        if ends:
            self._foot(self.b.documents[order[at - 1].document], text, line - len(block))
        elif at < len(order):
            node = order[at]
            separator = "\n\n" if node.head and blank else "\n"
            node.head = f"{node.head}{separator}{text}" if node.head else text + ("\n" if blank else "")
        elif self.b.documents:
            self._foot(self.b.documents[-1], text, line - len(block))

    def _foot(self, document: Node, text: str, above: int) -> None:
        """A comment behind everything; a blank line before it (`above`) is kept."""
        blank = "\n" if 0 <= above < len(self.lines) and not self.lines[above].strip() else ""
        document.foot = f"{document.foot}\n{blank}{text}" if document.foot else blank + text

    def found(self) -> Iterator[tuple[int, bool, str]]:
        """(line, alone on its line, text) of every comment, leaving out those inside scalars."""
        spans = sorted(self.b.spans)
        inside: dict[int, list[tuple[int, int]]] = {}
        covered: set[int] = set()
        for first, column, last, end in spans:
            if first == last:
                inside.setdefault(first, []).append((column, end))
                continue
            header = self.lines[first][column:] if first < len(self.lines) else ""
            if header[:1] in ("|", ">"):
                covered.update(range(first + 1, last + (1 if end else 0)))
            else:
                inside.setdefault(first, []).append((column, 1 << 30))
                covered.update(range(first + 1, last))
                inside.setdefault(last, []).append((0, end))
        for line, text in enumerate(self.lines):
            if "#" not in text or line in covered:
                continue
            for match in _COMMENT.finditer(text):
                if not any(start <= match.start() < end for start, end in inside.get(line, ())):
                    yield line, not text[:match.start()].strip(), text[match.start():].rstrip()
                    break
