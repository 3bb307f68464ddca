"""Documents of nodes -> YAML as go-yaml writes it, JSON, properties, CSV, XML."""
from __future__ import annotations

import re

from mirage.commands.yq.node import ALIAS, MAP, MAX_DEPTH, SCALAR, SEQ, Node, YqError, resolve, to_python

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_INDICATORS = "-?:,[]{}#&*!|>'\"%@`"
_ESCAPES = {"\0": "\\0", "\a": "\\a", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f", "\r": "\\r",
            "\x1b": "\\e", '"': '\\"', "\\": "\\\\", "\x85": "\\N", "\u2028": "\\L", "\u2029": "\\P"}


def plain_allowed(text: str, flow: bool) -> bool:
    if not text or text[0] in " \t\n" or text[-1] in " \t\n" or "\n" in text:
        return False
    if text.startswith(("---", "...")):
        return False
    if text[0] in _INDICATORS and not (text[0] in "-?:" and len(text) > 1 and text[1] not in " \t\n"
                                       and not (flow and text[1] in ",[]{}")):
        return False
    if ": " in text or " #" in text or text.endswith(":") or "\t#" in text:
        return False
    if flow and any(c in text for c in ",?[]{}"):
        return False
    return text.isprintable()


def double_quoted(text: str) -> str:
    out = []
    for char in text:
        if char in _ESCAPES:
            out.append(_ESCAPES[char])
        elif char.isprintable():
            out.append(char)
        else:
            code = ord(char)
            if 0xDC80 <= code <= 0xDCFF:
                code -= 0xDC00
            out.append(f"\\x{code:02X}" if code < 256 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}")
    return '"' + "".join(out) + '"'


class YamlWriter:
    """One document; `indent` columns a level."""

    def __init__(self, indent: int = 2) -> None:
        self.indent = max(1, indent)
        self.out: list[str] = []

    def document(self, node: Node) -> str:
        self.out = []
        if node.kind == SCALAR or node.kind == ALIAS or not node.items or node.style == "flow":
            if node.head:
                self.comment(node.head, 0)
            self.out.append(self.inline(node, 0, False) + self.note(node) + "\n")
        else:
            lead = self.properties(node).strip()
            if lead:
                self.out.append(lead + "\n")
            self.block(node, 0, False)
        if node.foot:
            self.comment(node.foot, 0)
        return "".join(self.out)

    def comment(self, text: str, depth: int) -> None:
        pad = " " * depth
        for line in text.split("\n"):
            self.out.append(f"{pad}{line}\n" if line else "\n")

    @staticmethod
    def note(node: Node) -> str:
        return f" {node.note}" if node.note else ""

    def properties(self, node: Node) -> str:
        """`&anchor !tag `."""
        text = f"&{node.anchor} " if node.anchor else ""
        default = {MAP: "!!map", SEQ: "!!seq"}.get(node.kind)
        if default is not None:
            return text + (f"{node.tag} " if node.tag not in (default, "") else "")
        if node.kind == SCALAR and node.tag not in ("!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp",
                                                    "!!merge"):
            text += f"{node.tag} "
        return text

    def block(self, node: Node, depth: int, inlined: bool) -> None:
        """The lines of a collection; `inlined`: the first one continues a `- `."""
        if depth > MAX_DEPTH * self.indent:
            raise YqError("too deep")
        for item in node.items:
            if node.kind == MAP:
                key, value = item
                if key.head:
                    if inlined and self.out and self.out[-1].endswith("- "):
                        dash = self.out.pop()
                        self.comment(key.head, depth - self.indent)
                        self.out.append(dash)
                    else:
                        self.comment(key.head, depth)
                self.out.append("" if inlined else " " * depth)
                simple = key.kind == SCALAR or key.kind == ALIAS
                self.out.append((self.inline(key, depth, False) if simple else "? " + self.inline(key, depth, True))
                                + ":")
                self.value(key, value, depth)
                if key.foot:
                    self.comment(key.foot, depth)
            else:
                head = item.head or (item.items[0][0].head if item.kind == MAP and item.items and item.style != "flow"
                                     else "")
                if item.head:
                    self.comment(head, depth)
                self.out.append("" if inlined else " " * depth)
                if item.kind in (MAP, SEQ) and item.items and item.style != "flow":
                    lead = self.properties(item)
                    if lead:
                        self.out.append(f"- {lead.rstrip()}\n")
                        self.block(item, depth + self.indent, False)
                    else:
                        self.out.append("-" + " " * (self.indent - 1))
                        self.block(item, depth + self.indent, True)
                else:
                    text = self.inline(item, depth + self.indent, False)
                    self.out.append(f"-{' ' * (self.indent - 1) if text else ''}{text}{self._literal_note(item)}\n")
            inlined = False

    def value(self, key: Node, value: Node, depth: int) -> None:
        if value.kind in (MAP, SEQ) and value.items and value.style != "flow":
            lead = self.properties(value).rstrip()
            self.out.append(f"{' ' if lead else ''}{lead}{self.note(key) or self.note(value)}\n")
            self.block(value, depth + self.indent, False)
            return
        text = self.inline(value, depth + self.indent, False)
        note = self._literal_note(value) or self.note(key)
        self.out.append(f"{' ' if text else ''}{text}{note}\n")

    def _literal_note(self, node: Node) -> str:
        return "" if node.kind == SCALAR and node.style in ("|", ">") else self.note(node)

    def inline(self, node: Node, depth: int, flow: bool) -> str:
        """A node in the line; block scalars continue on lines indented by `depth`."""
        if node.kind == ALIAS:
            return f"*{node.value}"
        lead = self.properties(node)
        if node.kind == SEQ:
            return lead + "[" + ", ".join(self.inline(item, depth, True) for item in node.items) + "]"
        if node.kind == MAP:
            return lead + "{" + ", ".join(f"{self.inline(key, depth, True)}: {self.inline(value, depth, True)}"
                                          for key, value in node.items) + "}"
        return (lead + self.scalar(node, depth, flow)).rstrip(" ") if node.value == "" and not node.style \
            else lead + self.scalar(node, depth, flow)

    def scalar(self, node: Node, depth: int, flow: bool) -> str:
        text, style = node.value, node.style
        if node.tag == "!!str":
            if style == "" and "\n" in text and not flow:
                style = "|"
            elif style == "" and resolve(text) not in ("!!str", "!!merge"):
                style = '"'
        elif style == "" and (plain_allowed(text, flow) or not text):
            return text
        if style in ("|", ">") and (flow or not text.strip("\n") or re.search(r"[ \t]\n", text) and style == ">"):
            style = '"'
        if style == "" and plain_allowed(text, flow):
            return text
        if style in ("|", ">"):
            return self.literal(text, style, depth, node.note)
        if style == '"' or not text.isprintable() and "\n" not in text or "\n" in text:
            return double_quoted(text)
        return "'" + text.replace("'", "''") + "'"

    @staticmethod
    def literal(text: str, style: str, depth: int, note: str) -> str:
        body = text.rstrip("\n")
        tail = len(text) - len(body)
        mark = "-" if tail == 0 else "+" if tail > 1 else ""
        hint = "2" if body.startswith((" ", "\n")) else ""
        pad = " " * max(depth, 2)
        if style == ">":
            body = re.sub(r"\n(?=[^ \t\n])", "\n\n", body) if "\n" in body else body
        lines = [pad + line if line else "" for line in body.split("\n")]
        lines += [""] * (tail - 1 if tail > 1 else 0)
        comment = f" {note}" if note else ""
        return f"{style}{hint}{mark}{comment}\n" + "\n".join(lines)


def to_yaml(node: Node, indent: int = 2) -> str:
    return YamlWriter(indent).document(node)


# ---- JSON


def to_json(node: Node, indent: int = 2, depth: int = 0) -> str:
    """JSON as Go's encoder prints it; numbers keep their text."""
    import json
    if depth > MAX_DEPTH:
        raise YqError("too deep")
    node = node.follow()
    if node.kind == SCALAR:
        if node.tag == "!!null":
            return "null"
        if node.tag == "!!bool":
            return node.value.lower()
        if node.tag in ("!!int", "!!float"):
            if re.fullmatch(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", node.value):
                return node.value
            value = to_python(node)
            return json.dumps(value) if value == value and value not in (float("inf"),
                                                                         float("-inf")) else f'"{node.value}"'
        return json.dumps(node.value, ensure_ascii=False)
    pad, end = ("\n" + " " * (indent * (depth + 1)), "\n" + " " * (indent * depth)) if indent else ("", "")
    if node.kind == SEQ:
        if not node.items:
            return "[]"
        return "[" + pad + ("," + pad).join(to_json(item, indent, depth + 1) for item in node.items) + end + "]"
    pairs = [(key.value, value) for key, value in node.items]
    if any(key.tag == "!!merge" for key, _ in node.items):
        from mirage.commands.yq.node import from_python
        pairs = [(name, from_python(value)) for name, value in to_python(node).items()]
    if not pairs:
        return "{}"
    colon = ": " if indent else ":"
    return "{" + pad + ("," + pad).join(json.dumps(name, ensure_ascii=False) + colon + to_json(value, indent, depth + 1)
                                        for name, value in pairs) + end + "}"


# ---- the others


def to_props(node: Node) -> str:
    return "".join(f"{path} = {text}\n" for path, text in _leaves(node, ""))


def _leaves(node: Node, path: str) -> Iterator[tuple[str, str]]:
    node = node.follow()
    if node.kind == SCALAR:
        if path or node.tag != "!!null":
            yield path, node.value
        return
    for number, item in enumerate(node.items):
        key, value = (item[0].value, item[1]) if node.kind == MAP else (str(number), item)
        yield from _leaves(value, f"{path}.{key}" if path else key)


def to_csv(node: Node, separator: str) -> str:
    """A sequence of sequences, of mappings (with a header), or one row."""
    import csv
    import io
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    node = node.follow()
    if node.kind != SEQ:
        raise YqError(f"csv encoding only works for arrays, got: {node.tag}")
    rows = [item.follow() for item in node.items]
    if rows and rows[0].kind == MAP:
        header = [key.value for key, _ in rows[0].items]
        writer.writerow(header)
        for row in rows:
            cells = [row.get(name) if row.kind == MAP else None for name in header]
            writer.writerow(["" if cell is None else _cell(cell) for cell in cells])
    elif rows and rows[0].kind == SEQ:
        for row in rows:
            writer.writerow([_cell(cell) for cell in row.items])
    else:
        writer.writerow([_cell(cell) for cell in rows])
    return out.getvalue()


def _cell(node: Node) -> str:
    node = node.follow()
    if node.kind != SCALAR:
        raise YqError(f"csv encoding only works for arrays of scalars (string/numbers/booleans), "
                      f"child[0] is a {node.tag}")
    return node.value


def to_xml(node: Node, indent: int) -> str:
    out: list[str] = []
    node = node.follow()
    if node.kind != MAP:
        raise YqError(f"xml encoding only works for maps, got: {node.tag}")
    for key, value in node.items:
        _element(out, key.value, value, 0, indent)
    return "".join(out)


def _element(out: list[str], name: str, node: Node, depth: int, indent: int) -> None:
    from xml.sax.saxutils import escape, quoteattr
    node = node.follow()
    pad = " " * (indent * depth)
    if node.kind == SEQ:
        for item in node.items:
            _element(out, name, item, depth, indent)
        return
    if node.kind == SCALAR:
        out.append(f"{pad}<{name}>{escape('' if node.tag == '!!null' else node.value)}</{name}>\n")
        return
    attributes = "".join(f" {key.value[2:]}={quoteattr(value.value)}" for key, value in node.items
                         if key.value.startswith("+@"))
    content = [value.value for key, value in node.items if key.value == "+content"]
    children = [(key.value, value) for key, value in node.items if not key.value.startswith("+")]
    if not children:
        out.append(f"{pad}<{name}{attributes}>{escape(''.join(content))}</{name}>\n")
        return
    out.append(f"{pad}<{name}{attributes}>{escape(''.join(content))}\n")
    for child, value in children:
        _element(out, child, value, depth + 1, indent)
    out.append(f"{pad}</{name}>\n")


def encode(node: Node, form: str, indent: int, unwrap: bool) -> str:
    """One result in the output format."""
    if form == "json":
        plain = node.follow()
        if unwrap and plain.kind == SCALAR and plain.tag == "!!str" and indent < 0:
            return plain.value + "\n"
        return to_json(node, max(indent, 0)) + "\n"
    if form == "props":
        return to_props(node)
    if form in ("csv", "tsv"):
        return to_csv(node, "," if form == "csv" else "\t")
    if form == "xml":
        return to_xml(node, indent)
    if unwrap and node.kind == SCALAR:
        return node.value + "\n"
    return to_yaml(node, indent)


__all__ = ["encode", "to_json", "to_yaml"]
