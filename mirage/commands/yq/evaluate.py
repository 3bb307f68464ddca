"""The operators of yq: every one takes a list of nodes and gives a list of nodes."""
from __future__ import annotations

from mirage.commands.yq import functions
from mirage.commands.yq.node import (
    MAP,
    SCALAR,
    SEQ,
    Node,
    YqError,
    as_number,
    boolean,
    null,
    number,
    scalar,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mirage.commands.yq.parser import Tree
    from mirage.process.process import Process

COMMENTS = {"line_comment": "note", "lineComment": "note", "head_comment": "head", "headComment": "head",
            "foot_comment": "foot", "footComment": "foot"}


class Evaluator:
    """Evaluates trees; `names` are the files by index. `together` (eval-all): operators see all documents at once."""

    def __init__(self, proc: Process, names: list[str], together: bool = False) -> None:
        self.together = together
        self.proc = proc
        self.names = names
        self.steps = 0

    def run(self, tree: Tree, nodes: list[Node], variables: Mapping[str, list[Node]] | None = None) -> list[Node]:
        self.steps += 1
        if not self.steps % 2000:
            self.proc.check()
        found: list[Node] = getattr(self, f"on_{tree[0]}")(tree, nodes, variables or {})
        return found

    # ---- paths

    def on_self(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        return nodes

    def on_constant(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        return [null() if tree[1] == "null" else boolean(tree[1] == "true")]

    def on_number(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        text = tree[1]
        return [scalar(text, "!!float" if "." in text or "e" in text.lower() else "!!int")]

    def on_string(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        text = tree[1]
        if "\\(" in text:
            return [scalar(functions.interpolate(self, text, [node], variables)) for node in nodes] or [scalar(text)]
        return [scalar(text)]

    def on_variable(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        if tree[1] == "$ENV":
            from mirage.commands.yq.node import from_python
            return [from_python(dict(self.proc.env))]
        if tree[1] not in variables:
            raise YqError(f"Variable {tree[1]} not defined")
        return list(variables[tree[1]])

    def on_negative(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        return [number(-as_number(node)) for node in self.run(tree[1], nodes, variables)]

    def on_optional(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        try:
            return self.run(tree[1], nodes, variables)
        except YqError:
            return []

    def on_field(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        out: list[Node] = []
        for node in self.run(tree[1], nodes, variables):
            out += self.field(node, tree[2])
        return out

    def field(self, node: Node, name: str) -> list[Node]:
        node = node.follow()
        if node.kind == MAP:
            if "*" in name:
                from mirage.text import pattern
                glob = pattern.compile(name, extglob=False)
                return [value for key, value in node.items if glob.matches(key.value)]
            found = node.get(name)
            return [found if found is not None else missing(node, scalar(name))]
        if node.kind == SEQ:
            if name.lstrip("-").isdecimal():
                return [self.element(node, int(name))]
            raise YqError(f"cannot index array with '{name}' (strconv.ParseInt: parsing \"{name}\": invalid syntax)")
        if node.tag == "!!null":
            return [missing(node, scalar(name))]
        return [null()] if node.kind == SCALAR else []

    def element(self, node: Node, at: int) -> Node:
        if at < 0:
            at += len(node.items)
            if at < 0:
                raise YqError(f"index [{at - len(node.items)}] out of range, array size is {len(node.items)}")
        if at < len(node.items):
            found: Node = node.items[at]
            return found
        return missing(node, scalar(str(at), "!!int"))

    def on_index(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        out: list[Node] = []
        for node in self.run(tree[1], nodes, variables):
            for item in tree[2]:
                for key in self.run(item, nodes, variables):
                    real = node.follow()
                    if key.tag == "!!int" and real.kind == SEQ:
                        out.append(self.element(real, int(as_number(key))))
                    elif key.tag == "!!int" and real.kind == SCALAR and real.tag == "!!null":
                        out.append(missing(real, key))
                    else:
                        out += self.field(real, key.value)
        return out

    def on_slice(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        out = []
        for node in self.run(tree[1], nodes, variables):
            node = node.follow()
            ends = []
            for part in tree[2:4]:
                ends.append(None if part is None else int(as_number(self.run(part, nodes, variables)[0])))
            if node.kind == SEQ:
                fresh = Node(SEQ, "!!seq", "", node.style)
                for item in node.items[ends[0]:ends[1]]:
                    fresh.append(item.copy())
                out.append(fresh)
            elif node.tag == "!!str":
                out.append(scalar(node.value[ends[0]:ends[1]]))
            elif node.tag == "!!null":
                out.append(Node(SEQ, "!!seq"))
            else:
                raise YqError(f"cannot slice {node.tag}")
        return out

    def on_each(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        out: list[Node] = []
        for node in self.run(tree[1], nodes, variables):
            node = node.follow()
            if node.kind == MAP:
                for key, value in node.items:
                    if key.tag == "!!merge":
                        out += functions.merged(value)
                    else:
                        out.append(value)
            elif node.kind == SEQ:
                out += node.items
        return out

    def on_recurse(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        out: list[Node] = []
        stack = list(reversed(nodes))
        while stack:
            node = stack.pop()
            out.append(node)
            if node.kind == MAP:
                for key, value in reversed(node.items):
                    stack.append(value)
                    if tree[1]:
                        stack.append(key)
            elif node.kind == SEQ:
                stack += reversed(node.items)
        return out

    # ---- building

    def on_collect(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        fresh = Node(SEQ, "!!seq")
        for node in self.run(tree[1], nodes, variables) if tree[1] is not None else ():
            fresh.append(node.copy())
        return [fresh]

    def on_object(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        out: list[Node] = []
        for node in nodes or [null()]:
            made = [Node(MAP, "!!map")]
            for key_tree, value_tree in tree[1]:
                grown = []
                for key in self.run(key_tree, [node], variables):
                    for value in self.run(value_tree, [node], variables):
                        for one in made:
                            fresh = one.copy()
                            fresh.put(scalar(key.value), value.copy())
                            grown.append(fresh)
                made = grown
                self.proc.kernel.fits(len(made) * 1000)
            out += made
        return out

    def on_env(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        text = self.proc.env.get(tree[1])
        if text is None:
            raise YqError(f"Value for env variable '{tree[1]}' not provided in env()")
        if tree[2]:
            return [scalar(text)]
        from mirage.commands.yq.reader import documents
        found = documents(self.proc, text)
        return [found[0]] if found else [null()]

    def on_bind(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        out: list[Node] = []
        for value in self.run(tree[1], nodes, variables):
            out += self.run(tree[3], nodes, {**variables, tree[2]: [value]})
        return out

    def on_reduce(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        state = self.run(tree[3], nodes, variables)
        for value in self.run(tree[1], nodes, variables):
            state = self.run(tree[4], state, {**variables, tree[2]: [value]})
        return state

    # ---- operators

    def on_binary(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        operator, left, right = tree[1:4]
        if operator == "|":
            return self.run(right, self.run(left, nodes, variables), variables)
        if operator == ",":
            return self.run(left, nodes, variables) + self.run(right, nodes, variables)
        if operator in ("=", "|=", "+=", "-=", "*=", "//="):
            return self.assign(tree, nodes, variables)
        if operator == "//":
            found = [node for node in self.run(left, nodes, variables) if node.truth]
            return found or self.run(right, nodes, variables)
        out: list[Node] = []
        for context in [nodes] if self.together or not nodes else [[node] for node in nodes]:
            lefts = self.run(left, context, variables)
            if operator in ("and", "or"):
                for a in lefts:
                    if a.truth == (operator == "or"):
                        out.append(boolean(a.truth))
                    else:
                        out += [boolean(b.truth) for b in self.run(right, context, variables)]
                continue
            rights = self.run(right, context, variables)
            if operator == "*" and not rights:
                out += lefts
            for a in lefts:
                for b in rights:
                    out.append(functions.combine(self, operator, a, b, tree[4]))
        return out

    def assign(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        operator, left, right, flags = tree[1:]
        if left[0] == "call" and self._metadata(left, right, operator, nodes, variables):
            return nodes
        if left[0] == "binary" and left[1] == "|" and left[3][0] == "call" \
                and self._metadata(left[3], right, operator, self.run(left[2], nodes, variables), variables):
            return nodes
        targets = self.run(left, nodes, variables)
        if operator == "=":
            values = self.run(right, nodes, variables)
            for target in targets:
                if values:
                    self.store(target, values[0] if len(values) == 1 or len(values) != len(targets)
                               else values[targets.index(target)])
            return nodes
        for target in targets:
            if operator == "|=":
                values = self.run(right, [target], variables)
                if values:
                    self.store(target, values[0])
                continue
            for value in self.run(right, nodes, variables):
                if operator == "//=":
                    if not target.truth:
                        self.store(target, value)
                else:
                    self.store(target, functions.combine(self, operator[0], target, value, flags))
        return nodes

    @staticmethod
    def store(target: Node, value: Node) -> None:
        target.attach()
        if target is not value:
            target.take(value, True)

    def _metadata(self, call: Tree, right: Tree, operator: str, nodes: list[Node], variables: Any) -> bool:
        """`.a line_comment = "x"`, `.. style = "double"`, `tag`, `anchor`, `alias`, `comments`."""
        name, arguments = call[1], call[2]
        if name not in (*COMMENTS, "comments", "style", "tag", "anchor", "alias", "key", "path"):
            return False
        targets = self.run(arguments[0], nodes, variables) if arguments else nodes
        for target in targets:
            values = self.run(right, [target] if operator == "|=" else nodes, variables)
            if not values:
                continue
            functions.set_metadata(target, COMMENTS.get(str(name), str(name)), values[0].value)
        return True

    def on_format(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        return [functions.formatted(self, tree[1], node) for node in nodes]

    def on_call(self, tree: Tree, nodes: list[Node], variables: Any) -> list[Node]:
        return functions.call(self, tree[1], tree[2], nodes, variables)


def missing(parent: Node, key: Node) -> Node:
    node = null()
    node.parent, node.key, node.attached = parent, key, False
    node.document, node.file = parent.document, parent.file
    return node

