"""The named functions of yq, and arithmetic between nodes."""
from __future__ import annotations

import re
from functools import cmp_to_key

from mirage.commands.yq.node import (
    ALIAS,
    MAP,
    SCALAR,
    SEQ,
    Node,
    YqError,
    as_number,
    boolean,
    from_python,
    integer,
    null,
    number,
    resolve,
    scalar,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.commands.yq.evaluate import Evaluator
    from mirage.commands.yq.parser import Tree

STYLES = {"double": '"', "single": "'", "literal": "|", "folded": ">", "flow": "flow", "": "", "tagged": ""}
STYLE_NAMES = {'"': "double", "'": "single", "|": "literal", ">": "folded", "flow": "flow", "": ""}
_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)(?::?-([^}]*))?\})")


def merged(value: Node) -> list[Node]:
    target = value.follow()
    out: list[Node] = []
    for source in target.items if target.kind == SEQ else [target]:
        source = source.follow()
        if source.kind == MAP:
            out += [item for _, item in source.items]
    return out


def is_number(node: Node) -> bool:
    return node.tag in ("!!int", "!!float")


def combine(ev: Evaluator, operator: str, a: Node, b: Node, flags: str) -> Node:
    """One binary operation; `flags` are those of `*` (+ append, d deep, ? existing only, n new only, c comments)."""
    a, b = a.follow(), b.follow()
    if operator in ("==", "!="):
        return boolean(equal(a, b) == (operator == "=="))
    if operator in ("<", "<=", ">", ">="):
        order = compare(a, b)
        return boolean({"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[operator])
    if operator == "+":
        return _add(a, b)
    if operator == "-":
        if a.kind == SEQ:
            fresh = Node(SEQ, a.tag, "", a.style)
            drop = b.items if b.kind == SEQ else [b]
            for item in a.items:
                if not any(equal(item, other) for other in drop):
                    fresh.append(item.copy())
            return fresh
        return _numeric(operator, a, b)
    if operator == "*":
        if a.kind == MAP and b.kind == MAP or a.kind == SEQ and b.kind == SEQ:
            fresh = a.copy()
            merge(ev, fresh, b, flags)
            return fresh
        if is_number(a) and is_number(b):
            return _numeric(operator, a, b)
        if a.tag == "!!str" and b.tag == "!!int" or a.tag == "!!int" and b.tag == "!!str":
            text, count = (a.value, as_number(b)) if a.tag == "!!str" else (b.value, as_number(a))
            ev.proc.kernel.fits(len(text) * max(0, int(count)))
            return scalar(text * int(count))
        return a if b.tag == "!!null" else b
    if operator == "/" and a.tag == "!!str" and b.tag == "!!str":
        return from_python(a.value.split(b.value) if b.value else list(a.value))
    return _numeric(operator, a, b)


def _add(a: Node, b: Node) -> Node:
    if a.tag == "!!null" and a.kind == SCALAR:
        return b
    if b.tag == "!!null" and b.kind == SCALAR:
        return a
    if a.kind == SEQ:
        fresh = a.copy()
        for item in b.items if b.kind == SEQ else [b]:
            fresh.append(item.copy())
        return fresh
    if a.kind == MAP and b.kind == MAP:
        fresh = a.copy()
        for key, value in b.items:
            _set(fresh, key, value.copy())
        return fresh
    if a.kind != b.kind:
        raise YqError(f"{b.tag} () cannot be added to a {a.tag} ()")
    if is_number(a) and is_number(b):
        return _numeric("+", a, b)
    fresh = a.copy()
    fresh.value += b.value
    if not is_number(a) or not is_number(b):
        fresh.tag = "!!str"
    return fresh


def _set(node: Node, key: Node, value: Node) -> None:
    for pair in node.items:
        if pair[0].value == key.value:
            value.parent, value.key = node, pair[0]
            pair[1] = value
            return
    node.put(key.copy(), value)


def _numeric(operator: str, a: Node, b: Node) -> Node:
    if not is_number(a) or not is_number(b):
        verb = {"-": "subtracted from", "*": "multiplied with", "/": "divided by", "%": "divided (modulo) by"}
        raise YqError(f"{b.tag} () cannot be {verb.get(operator, 'added to')} {a.tag} ()" if operator == "-" else
                      f"{a.tag} cannot be {verb.get(operator, 'added to')} {b.tag}")
    x, y = as_number(a), as_number(b)
    if operator in "/%" and not y:
        if operator == "%" and isinstance(x, int) and isinstance(y, int):
            raise YqError("cannot modulo by 0")
        return scalar("+Inf", "!!float") if operator == "/" else scalar("NaN", "!!float")
    if operator == "/":
        return number(x / y)
    if operator == "%":
        import math
        return number(math.fmod(x, y) if not isinstance(x, int) or not isinstance(y, int)
                      else int(math.copysign(abs(x) % abs(y), x)))
    value = x + y if operator == "+" else x - y if operator == "-" else x * y
    fresh = number(value)
    if isinstance(x, float) or isinstance(y, float):
        fresh.tag = "!!float"
    return fresh


def merge(ev: Evaluator, into: Node, other: Node, flags: str) -> None:
    ev.proc.check()
    if into.kind == SEQ and other.kind == SEQ:
        if "+" in flags:
            for item in other.items:
                into.append(item.copy())
        elif "d" in flags:
            for at, item in enumerate(other.items):
                if at < len(into.items):
                    _merge_value(ev, into.items[at], item, flags)
                else:
                    into.append(item.copy())
        else:
            into.take(other)
        return
    for key, value in other.items:
        found = next((pair for pair in into.items if pair[0].value == key.value), None)
        if found is None:
            if "?" not in flags:
                into.put(key.copy(), value.copy())
        else:
            _merge_value(ev, found[1], value, flags)


def _merge_value(ev: Evaluator, into: Node, value: Node, flags: str) -> None:
    if into.kind == value.kind and into.kind in (MAP, SEQ):
        merge(ev, into, value, flags)
    elif "n" not in flags:
        into.take(value, True)


def equal(a: Node, b: Node) -> bool:
    a, b = a.follow(), b.follow()
    if a.kind != b.kind:
        return False
    if a.kind == SCALAR:
        if b.tag == "!!str" and a.tag == "!!str" and ("*" in b.value or "?" in b.value):
            from mirage.text import pattern
            return pattern.compile(b.value, extglob=False).matches(a.value)
        if is_number(a) and is_number(b):
            return as_number(a) == as_number(b)
        if a.tag == "!!null" or b.tag == "!!null":
            return a.tag == b.tag
        return a.value == b.value and (a.tag == b.tag or "!!str" in (a.tag, b.tag) and a.tag not in ("!!int",))
    if len(a.items) != len(b.items):
        return False
    if a.kind == SEQ:
        return all(equal(x, y) for x, y in zip(a.items, b.items, strict=True))
    return all((other := b.get(key.value)) is not None and equal(value, other) for key, value in a.items)


_RANK = {"!!null": 0, "!!bool": 1, "!!int": 2, "!!float": 2, "!!timestamp": 3, "!!str": 3, "!!seq": 4, "!!map": 5}


def compare(a: Node, b: Node) -> int:
    a, b = a.follow(), b.follow()
    left, right = _RANK.get(a.tag, 3), _RANK.get(b.tag, 3)
    if left != right:
        return -1 if left < right else 1
    x: Any
    y: Any
    if left == 2:
        x, y = as_number(a), as_number(b)
    elif a.kind == SCALAR:
        x, y = a.value, b.value
    else:
        x, y = len(a.items), len(b.items)
    return int(x > y) - int(x < y)


_order = cmp_to_key(compare)


def interpolate(ev: Evaluator, text: str, nodes: list[Node], variables: Any) -> str:
    """`\\(expression)` inside a string."""
    from mirage.commands.yq.parser import parse
    out, at = [], 0
    while (start := text.find("\\(", at)) >= 0:
        out.append(text[at:start])
        depth, end = 1, start + 2
        while end < len(text) and depth:
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        values = ev.run(parse(text[start + 2:end - 1]), nodes, variables)
        out.append("\n".join(_text(node) for node in values))
        at = end
    return "".join(out) + text[at:]


def _text(node: Node) -> str:
    if node.kind == SCALAR:
        return node.value
    from mirage.commands.yq.writer import to_yaml
    return to_yaml(node).rstrip("\n")


def set_metadata(node: Node, what: str, text: str) -> None:
    if what in ("note", "head", "foot", "comments"):
        text = "\n".join(line if not line or line.startswith("#") else f"# {line}"
                         for line in text.split("\n")) if text \
            else ""
        owner = node.key if what == "head" and node.key is not None and node.parent is not None \
            and node.parent.kind == MAP else node
        for name in ("note", "head", "foot") if what == "comments" else (what,):
            setattr(owner if name == "head" else node, name, text)
            if what == "comments" and node.key is not None:
                setattr(node.key, name, text)
    elif what == "style":
        if text not in STYLES:
            raise YqError(f"unknown style {text}")
        node.style = "" if node.kind == SCALAR and text == "flow" else STYLES[text]
    elif what == "tag":
        node.tag = text
    elif what == "anchor":
        node.anchor = text
    elif what == "alias":
        node.kind, node.value, node.items = ALIAS, text, [node.copy()]
    elif what == "key" and node.key is not None:
        node.key.value = text


def formatted(ev: Evaluator, name: str, node: Node) -> Node:
    from mirage.commands.yq import writer
    if name == "json" or name == "json0":
        return scalar(writer.to_json(node, 0))
    if name == "yaml":
        return scalar(writer.to_yaml(node))
    if name in ("csv", "tsv"):
        return scalar(writer.to_csv(node, "," if name == "csv" else "\t").rstrip("\n"))
    if name == "props":
        return scalar(writer.to_props(node))
    if name == "xml":
        return scalar(writer.to_xml(node, 2))
    text = node.value
    if name in ("base64", "base64d"):
        import base64
        if name == "base64":
            return scalar(base64.b64encode(text.encode("utf-8", "surrogateescape")).decode())
        try:
            return scalar(base64.b64decode(text + "=" * (-len(text) % 4)).decode("utf-8", "surrogateescape"))
        except ValueError:
            raise YqError(f"illegal base64 data in '{text[:40]}'") from None
    if name in ("uri", "urid"):
        from urllib.parse import quote_plus, unquote_plus
        return scalar(quote_plus(text, safe="~") if name == "uri" else unquote_plus(text))
    if name == "sh":
        return scalar(text if re.fullmatch(r"[A-Za-z0-9_./:=@%+,-]+", text) else "'" + text.replace("'", "'\\''") + "'")
    if name in ("jsond", "yamld"):
        return _parsed(ev, text)
    raise YqError(f"unknown format @{name}")


def _parsed(ev: Evaluator, text: str) -> Node:
    from mirage.commands.yq.reader import documents
    found = documents(ev.proc, text)
    return found[0] if found else null()


def _regex(text: str) -> Any:
    from mirage.text.regex import RegexError, compile_pcre
    try:
        return compile_pcre(text)
    except RegexError as e:
        raise YqError(f"error parsing regexp: {e}") from None


def path_of(node: Node) -> list[Any]:
    out: list[Any] = []
    at: Node | None = node
    while at is not None and at.key is not None:
        out.append(int(at.key.value) if at.key.tag == "!!int" and at.parent is not None and at.parent.kind == SEQ
                   else at.key.value)
        at = at.parent
    return out[::-1]


def sort_keys(node: Node) -> None:
    if node.kind == MAP:
        node.items.sort(key=lambda pair: pair[0].value)


def delete(targets: list[Node]) -> None:
    for target in targets:
        parent = target.parent
        if parent is None:
            continue
        if parent.kind == MAP:
            parent.items = [pair for pair in parent.items if pair[1] is not target and pair[0] is not target]
        elif parent.kind == SEQ:
            parent.items = [item for item in parent.items if item is not target]
            for at, item in enumerate(parent.items):
                item.key = integer(at)


def entries(node: Node) -> Node:
    node = node.follow()
    fresh = Node(SEQ, "!!seq")
    pairs = node.items if node.kind == MAP else [[integer(n), item] for n, item in enumerate(node.items)]
    for key, value in pairs:
        entry = Node(MAP, "!!map")
        entry.put(scalar("key"), key.copy())
        entry.put(scalar("value"), value.copy())
        fresh.append(entry)
    return fresh


def from_entries(node: Node) -> Node:
    fresh = Node(MAP, "!!map")
    for entry in node.follow().items:
        key = entry.get("key") or entry.get("k") or entry.get("name")
        value = entry.get("value") or entry.get("v")
        if key is not None:
            _set(fresh, key.copy(), value.copy() if value is not None else null())
    return fresh


def explode(node: Node) -> Node:
    """Aliases and merge keys replaced by what they stand for."""
    if node.kind == ALIAS:
        twin = explode(node.follow())
        twin.anchor = ""
        return twin
    twin = Node(node.kind, node.tag, node.value, node.style)
    if node.kind == SEQ:
        for item in node.items:
            twin.append(explode(item))
    elif node.kind == MAP:
        for key, value in node.items:
            if key.tag == "!!merge":
                target = value.follow()
                for source in target.items if target.kind == SEQ else [target]:
                    for name, item in explode(source.follow()).items:
                        if twin.get(name.value) is None:
                            twin.put(name, item)
            else:
                _set(twin, key, explode(value))
    return twin


def _sequence(items: list[Node], style: str = "") -> Node:
    fresh = Node(SEQ, "!!seq", "", style)
    for item in items:
        fresh.append(item.copy())
    return fresh


def call(ev: Evaluator, name: str, arguments: list[Tree], nodes: list[Node], variables: Any) -> list[Node]:
    function = _WHOLE.get(name)
    if function is not None:
        out: list[Node] = function(ev, arguments, nodes, variables)
        return out
    out = []
    for node in nodes:
        found = _one(ev, name, arguments, node, variables)
        out += found if isinstance(found, list) else [found]
    return out


def _del(ev: Evaluator, arguments: list[Tree], nodes: list[Node], variables: Any) -> list[Node]:
    for argument in arguments:
        delete(ev.run(argument, nodes, variables))
    return nodes


def _with(ev: Evaluator, arguments: list[Tree], nodes: list[Node], variables: Any) -> list[Node]:
    for target in ev.run(arguments[0], nodes, variables):
        ev.run(arguments[1], [target], variables)
    return nodes


def _map(ev: Evaluator, arguments: list[Tree], nodes: list[Node], variables: Any) -> list[Node]:
    out = []
    for node in nodes:
        real = node.follow()
        values = real.items if real.kind == SEQ else [value for _, value in real.items]
        out.append(_sequence([found for value in values for found in ev.run(arguments[0], [value], variables)],
                             real.style))
    return out


_WHOLE: dict[str, Any] = {"del": _del, "with": _with, "map": _map, "empty": lambda ev, arguments, nodes, variables: [],
                          "now": lambda ev, arguments, nodes, variables: [scalar(_now(ev), "!!timestamp")]}


def _now(ev: Evaluator) -> str:
    from mirage.text.strftime import at, strftime
    return strftime("%Y-%m-%dT%H:%M:%SZ", at(int(ev.proc.now()), "UTC"))


def _one(ev: Evaluator, name: str, arguments: list[Tree], node: Node, variables: Any) -> Node | list[Node]:
    """One function on one node."""
    real = node.follow()

    def argument(at: int = 0) -> list[Node]:
        return ev.run(arguments[at], [node], variables)

    def text_argument(at: int = 0) -> str:
        values = argument(at)
        return values[0].value if values else ""

    if name in ("select", "filter"):
        if name == "filter":
            return _sequence([item for item in real.items
                              if any(v.truth for v in ev.run(arguments[0], [item], variables))])
        return [node] if any(value.truth for value in argument()) else []
    if name == "map_values":
        fresh = real.copy()
        for pair in fresh.items:
            target = pair[1] if isinstance(pair, list) else pair
            values = ev.run(arguments[0], [target], variables)
            if values:
                target.take(values[0], True)
        return fresh
    if name == "keys":
        if real.kind == MAP:
            return _sequence([key for key, _ in real.items])
        if real.kind == SEQ:
            return from_python(list(range(len(real.items))))
        raise YqError(f"cannot get keys of {real.tag}, keys only works for maps and arrays")
    if name == "length":
        return integer(len(real.items) if real.kind != SCALAR else 0 if real.tag == "!!null" else
                       len(real.value))
    if name == "has":
        key = argument()[0]
        if real.kind == SEQ:
            return boolean(key.tag == "!!int" and 0 <= as_number(key) < len(real.items))
        return boolean(real.kind == MAP and real.get(key.value) is not None)
    if name in ("to_entries", "from_entries", "with_entries"):
        if real.tag == "!!null" and real.kind == SCALAR:
            return []
        if name == "to_entries":
            return entries(real)
        if name == "from_entries":
            return from_entries(real)
        return from_entries(_sequence([found for entry in entries(real).items
                                       for found in ev.run(arguments[0], [entry], variables)]))
    if name in ("sort", "sort_by", "min", "max", "min_by", "max_by", "group_by", "unique", "unique_by", "first", "last",
                "reverse", "shuffle", "flatten", "any", "all", "any_c", "all_c", "add", "join", "pivot", "toarray"):
        return _sequence_function(ev, name, arguments, real, variables)
    if name in ("sort_keys", "sortKeys"):
        for target in argument():
            sort_keys(target)
        return node
    if name == "not":
        return boolean(not node.truth)
    if name in ("upcase", "ascii_upcase", "downcase", "ascii_downcase", "trim"):
        if real.tag != "!!str":
            what = "trim" if name == "trim" else "change case"
            raise YqError(f"cannot {what} with {real.tag}, can only operate on strings. ")
        return scalar(real.value.strip() if name == "trim" else real.value.upper() if name.endswith("upcase")
                      else real.value.lower())
    if name in ("split", "test", "match", "capture", "sub", "contains", "startswith", "endswith", "ltrimstr",
                "rtrimstr",
                "inside", "splits"):
        return _string_function(ev, name, real, argument, text_argument, len(arguments))
    if name in ("tag", "type"):
        return scalar(real.tag if node.kind == SCALAR or not node.tag else node.tag)
    if name == "kind":
        return scalar({MAP: "map", SEQ: "seq", SCALAR: "scalar", ALIAS: "alias"}[node.kind])
    if name == "style":
        return scalar(STYLE_NAMES.get(node.style, ""))
    if name == "anchor":
        return scalar(node.anchor)
    if name == "alias":
        return scalar(node.value if node.kind == ALIAS else "")
    if name in ("line_comment", "lineComment"):
        return scalar(_uncommented(node.note or (node.key.note if node.key else "")))
    if name in ("head_comment", "headComment"):
        owner = node.key if node.key is not None and node.parent is not None and node.parent.kind == MAP else node
        return scalar(_uncommented(node.head or owner.head))
    if name in ("foot_comment", "footComment"):
        return scalar(_uncommented(node.foot))
    if name == "path":
        return from_python(path_of(node))
    if name in ("parent", "root"):
        up = node.parent
        while name == "root" and up is not None and up.parent is not None:
            up = up.parent
        return [up] if up is not None else [node] if name == "root" else []
    if name == "parents":
        above, up = [], node.parent
        while up is not None:
            above.append(up)
            up = up.parent
        return _sequence(above)
    if name == "key":
        return [node.key.copy()] if node.key is not None else []
    if name == "is_key":
        return boolean(node.parent is not None and node.key is None)
    if name in ("line", "column"):
        return integer(node.line if name == "line" else node.column)
    if name == "filename":
        return scalar(ev.names[node.file] if node.file < len(ev.names) else "")
    if name in ("file_index", "fileIndex", "fi"):
        return integer(_top(node).file)
    if name in ("document_index", "documentIndex", "di"):
        return integer(_top(node).document)
    return _conversion(ev, name, arguments, node, real, argument, text_argument)


def _top(node: Node) -> Node:
    while node.parent is not None:
        node = node.parent
    return node


def _uncommented(text: str) -> str:
    return "\n".join(re.sub(r"\A# ?", "", line) for line in text.strip("\n").split("\n"))


def _conversion(ev: Evaluator, name: str, arguments: list[Tree], node: Node, real: Node, argument: Any,
                text_argument: Any) -> Node | list[Node]:
    from mirage.commands.yq import writer
    if name in ("to_json", "tojson"):
        indent = int(as_number(argument()[0])) if arguments else 2
        return scalar(writer.to_json(node, indent) + ("\n" if indent else ""))
    if name in ("to_yaml", "toyaml"):
        return scalar(writer.to_yaml(node))
    if name in ("to_props", "to_csv", "to_tsv", "to_xml"):
        return formatted(ev, name[3:], node)
    if name in ("from_json", "fromjson", "from_yaml", "fromyaml"):
        return _parsed(ev, node.value)
    if name in ("from_xml", "from_csv", "from_tsv", "from_props"):
        from mirage.commands.yq.formats import decode
        return decode(ev.proc, node.value, name[5:])
    if name in ("to_string", "tostring"):
        return scalar(_text(real)) if real.kind == SCALAR else scalar(writer.to_json(real, 0))
    if name in ("to_number", "tonumber"):
        tag = resolve(node.value)
        if tag not in ("!!int", "!!float"):
            raise YqError(f"cannot convert node value [{node.value}] at path {'.'.join(map(str, path_of(node)))} "
                          f"of tag {node.tag} to number")
        return scalar(node.value, tag)
    if name == "abs":
        return number(abs(as_number(real)))
    if name == "envsubst":
        return scalar(_VARIABLE.sub(lambda m: ev.proc.env.get(m[1] or m[2]) or m[3] or "", node.value))
    if name == "explode":
        for target in argument() if arguments else [node]:
            target.take(explode(target))
            target.anchor = ""
        return node
    if name in ("pick", "omit"):
        wanted = [item.value for item in argument()[0].items]
        if real.kind == SEQ:
            return _sequence([item for at, item in enumerate(real.items) if (str(at) in wanted) == (name == "pick")])
        fresh = Node(MAP, real.tag, "", real.style)
        if name == "pick":
            pairs = [pair for want in wanted for pair in real.items if pair[0].value == want]
        else:
            pairs = [pair for pair in real.items if pair[0].value not in wanted]
        for key, value in pairs:
            fresh.put(key.copy(), value.copy())
        return fresh
    if name in ("load", "load_str", "loadstr"):
        path = text_argument()
        try:
            text = ev.proc.fs.read(path).decode("utf-8", "surrogateescape")
        except OSError as e:
            raise YqError(f"Failed to load {path}: open {path}: {(e.strerror or '').lower()}") from None
        return _parsed(ev, text) if name == "load" else scalar(text)
    if name == "eval":
        from mirage.commands.yq.parser import parse
        return ev.run(parse(text_argument()), [node])
    if name == "range":
        ends = [int(as_number(argument(at)[0])) for at in range(len(arguments))]
        low, high = (0, ends[0]) if len(ends) == 1 else (ends[0], ends[1])
        ev.proc.kernel.fits(max(0, high - low) * 500)
        return [integer(n) for n in range(low, high)]
    if name == "error":
        raise YqError(text_argument())
    if name in ("split_doc", "splitDoc", "collect", "is_null"):
        return boolean(real.tag == "!!null") if name == "is_null" else node
    raise YqError(f"'{name}' is not supported in this terminal")


def _sequence_function(ev: Evaluator, name: str, arguments: list[Tree], real: Node,
                       variables: Any) -> Node | list[Node]:
    items = real.items if real.kind == SEQ else [value for _, value in real.items] if real.kind == MAP else []

    def key(item: Node) -> Any:
        found = ev.run(arguments[0], [item], variables)
        return tuple(_order(value) for value in found)

    if name in ("sort", "sort_by"):
        return _sequence(sorted(items, key=_order if name == "sort" else key), real.style)
    if name in ("min", "max", "min_by", "max_by"):
        chosen = (min if name.startswith("min") else max)(items, key=key if name.endswith("_by") else _order,
                                                          default=None)
        return [chosen] if chosen is not None else []
    if name in ("group_by", "unique", "unique_by"):
        groups: dict[str, list[Node]] = {}
        for item in items:
            values = ev.run(arguments[0], [item], variables) if arguments else [item]
            groups.setdefault("\0".join(f"{v.tag}{_text(v.follow())}" for v in values), []).append(item)
        if name == "group_by":
            return _sequence([_sequence(group) for group in groups.values()])
        return _sequence([group[0] for group in groups.values()], real.style)
    if name in ("first", "last"):
        if arguments:
            items = [item for item in items if any(v.truth for v in ev.run(arguments[0], [item], variables))]
        return [items[0 if name == "first" else -1]] if items else [] if arguments else null()
    if name in ("reverse", "shuffle"):
        order = list(reversed(items))
        if name == "shuffle":
            import random
            random.shuffle(order)
        return _sequence(order, real.style)
    if name == "flatten":
        depth = int(as_number(ev.run(arguments[0], [real], variables)[0])) if arguments else -1
        return _sequence(_flat(items, depth), real.style)
    if name in ("any", "all"):
        return boolean((any if name == "any" else all)(item.truth for item in items))
    if name in ("any_c", "all_c"):
        truths = [any(v.truth for v in ev.run(arguments[0], [item], variables)) for item in items]
        return boolean(any(truths) if name == "any_c" else all(truths))
    if name == "add":
        total = null()
        for item in items:
            total = combine(ev, "+", total, item, "")
        return total
    if name == "join":
        return scalar(ev.run(arguments[0], [real], variables)[0].value.join(
            "" if item.tag == "!!null" else item.follow().value for item in items))
    if name == "toarray":
        return real if real.kind == SEQ else _sequence([real])
    rows = [item.items for item in items]
    return _sequence([_sequence([row[at] for row in rows if at < len(row)])
                      for at in range(max(map(len, rows), default=0))])


def _flat(items: list[Node], depth: int) -> list[Node]:
    out: list[Node] = []
    for item in items:
        out += _flat(item.items, depth - 1) if item.kind == SEQ and depth != 0 else [item]
    return out


def _string_function(ev: Evaluator, name: str, real: Node, argument: Any, text_argument: Any,
                     count: int) -> Node | list[Node]:
    if name == "contains":
        return boolean(_contains(real, argument()[0].follow()))
    if name == "inside":
        return boolean(_contains(argument()[0].follow(), real))
    text = real.value
    if real.kind != SCALAR:
        raise YqError(f"cannot {name} with {real.tag}, can only {name} strings")
    if name in ("split", "splits"):
        if real.tag == "!!null":
            return []
        return from_python(text.split(text_argument()) if text_argument() else list(text))
    if name in ("startswith", "endswith"):
        return boolean(getattr(text, name)(text_argument()))
    if name in ("ltrimstr", "rtrimstr"):
        return scalar(text.removeprefix(text_argument()) if name == "ltrimstr" else text.removesuffix(text_argument()))
    regex = _regex(text_argument())
    data = text.encode("utf-8", "surrogateescape")
    if name == "test":
        return boolean(regex.search(data) is not None)
    if name == "sub":
        replacement = text_argument(1)
        out, at = [], 0
        for found in regex.finditer(data):
            out.append(data[at:found.start()].decode("utf-8", "surrogateescape"))
            out.append(_filled(replacement, found))
            at = found.end()
        return scalar("".join(out) + data[at:].decode("utf-8", "surrogateescape"))
    every = "g" in text_argument(1) if count > 1 else False
    found_all = list(regex.finditer(data)) if every else [m for m in [regex.search(data)] if m is not None]
    names = _group_names(regex)
    if name == "capture":
        return [from_python({group: _group(m, at) for at, group in names.items()}) for m in found_all]
    shown = []
    for m in found_all:
        captures = [{"string": _group(m, at), "offset": m.start(at), "length": max(0, m.end(at) - m.start(at)),
                     **({"name": names[at]} if at in names else {})} for at in range(1, len(m.groups()) + 1)]
        shown.append(from_python({"string": _group(m, 0), "offset": m.start(), "length": m.end() - m.start(),
                                  "captures": captures}))
    return shown


def _filled(replacement: str, found: Any) -> str:
    """$1 and ${1} in a replacement."""
    return re.sub(r"\$(?:\{([0-9]{1,4})\}|([0-9]{1,4}))", lambda m: _group(found, int(m[1] or m[2])), replacement)


def _group(found: Any, at: int) -> str:
    try:
        value = found.group(at)
    except IndexError:
        return ""
    return value.decode("utf-8", "surrogateescape") if value is not None else ""


def _group_names(regex: Any) -> dict[int, str]:
    names = getattr(regex, "names", None) or {}
    return {at: name for name, at in names.items()}


def _contains(a: Node, b: Node) -> bool:
    if a.kind != b.kind:
        return False
    if a.kind == SCALAR:
        return b.value in a.value if a.tag == "!!str" == b.tag else equal(a, b)
    if a.kind == SEQ:
        return all(any(_contains(item.follow(), want.follow()) for item in a.items) for want in b.items)
    return all((value := a.get(key.value)) is not None and _contains(value.follow(), want.follow()) for key,
               want in b.items)

