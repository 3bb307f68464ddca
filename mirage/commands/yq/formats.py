"""JSON, properties, CSV, TSV and XML -> a document of nodes."""
from __future__ import annotations

from mirage.commands.yq.node import MAP, SEQ, Node, YqError, from_python, null, resolve, scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from xml.etree.ElementTree import Element

    from mirage.process.process import Process


def decode(proc: Process, text: str, form: str) -> Node:
    found = decode_all(proc, text, form)
    return found[0] if found else null()


def decode_all(proc: Process, text: str, form: str) -> list[Node]:
    """The documents in a text; YqError where it cannot be read."""
    if form == "yaml":
        from mirage.commands.yq.reader import documents
        return documents(proc, text)
    if form == "json":
        return _json(text)
    if form == "props":
        return [_props(text)]
    if form in ("csv", "tsv"):
        return [_csv(text, "," if form == "csv" else "\t")]
    if form == "xml":
        return [_xml(text)]
    if form == "toml":
        import tomllib
        try:
            return [from_python(tomllib.loads(text))]
        except tomllib.TOMLDecodeError as e:
            raise YqError(f"toml: {e}") from None
    raise YqError(f"unknown format '{form}' please use [yaml|json|props|csv|tsv|xml|toml]")


def _json(text: str) -> list[Node]:
    import json

    class Literal(str):
        pass

    decoder = json.JSONDecoder(parse_float=Literal, parse_int=Literal)

    def build(value: Any) -> Node:
        if isinstance(value, Literal):
            return scalar(str(value), resolve(str(value)))
        if isinstance(value, dict | list):
            node = Node(MAP, "!!map") if isinstance(value, dict) else Node(SEQ, "!!seq")
            if isinstance(value, dict):
                for key, item in value.items():
                    node.put(scalar(key), build(item))
            else:
                for item in value:
                    node.append(build(item))
            return node
        return from_python(value)

    out: list[Node] = []
    at = 0
    try:
        while True:
            while at < len(text) and text[at] in " \t\r\n":
                at += 1
            if at >= len(text):
                return out
            value, at = decoder.raw_decode(text, at)
            out.append(build(value))
    except (ValueError, RecursionError) as e:
        raise YqError(f"json: {getattr(e, 'msg', 'nested too deeply')}") from None


def _props(text: str) -> Node:
    top = Node(MAP, "!!map")
    for line in text.splitlines():
        line = line.strip()
        if not line or line[0] in "#!":
            continue
        name, _, value = line.partition("=" if "=" in line else ":")
        at = top
        parts = name.strip().split(".")[:100]
        for number, part in enumerate(parts):
            if number == len(parts) - 1:
                at.put(scalar(part), scalar(value.strip(), resolve(value.strip())))
                break
            found = at.get(part)
            if found is None or found.kind != MAP:
                found = Node(MAP, "!!map")
                at.put(scalar(part), found)
            at = found
    return top


def _csv(text: str, separator: str) -> Node:
    import csv
    import io
    rows = list(csv.reader(io.StringIO(text), delimiter=separator))
    out = Node(SEQ, "!!seq")
    for row in rows[1:]:
        if not row:
            continue
        node = Node(MAP, "!!map")
        for name, cell in zip(rows[0], row, strict=False):
            node.put(scalar(name), scalar(cell, resolve(cell)) if cell else scalar("", "!!null"))
        out.append(node)
    return out


def _xml(text: str) -> Node:
    from xml.etree import ElementTree
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise YqError("xml: documents with a DOCTYPE are not supported in this terminal")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as e:
        raise YqError(f"xml: {e}") from None
    top = Node(MAP, "!!map")
    top.put(scalar(root.tag), _element(root, 0))
    return top


def _element(element: Element, depth: int) -> Node:
    if depth > 300:
        raise YqError("xml: nested too deeply")
    content = (element.text or "").strip()
    if not len(element) and not element.attrib:
        return scalar(content, resolve(content) if content else "!!null") if content else null()
    node = Node(MAP, "!!map")
    for name, value in element.attrib.items():
        node.put(scalar(f"+@{name}"), scalar(value, resolve(value)))
    if content:
        node.put(scalar("+content"), scalar(content, resolve(content)))
    for child in element:
        made = _element(child, depth + 1)
        found = node.get(child.tag)
        if found is None:
            node.put(scalar(child.tag), made)
        elif found.kind == SEQ and found.style == "repeated":
            found.append(made)
        else:
            both = Node(SEQ, "!!seq", "", "repeated")
            for pair in node.items:
                if pair[0].value == child.tag:
                    both.append(found)
                    both.append(made)
                    pair[1], both.parent, both.key = both, node, pair[0]
    for pair in node.items:
        if pair[1].style == "repeated":
            pair[1].style = ""
    return node
