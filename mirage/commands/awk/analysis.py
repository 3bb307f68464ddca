"""Which names are arrays, which functions call themselves, and what a program mentions."""
from __future__ import annotations

from mirage.commands.awk import tree
from mirage.commands.awk.errors import Fatal, SyntaxProblem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

SETTERS = frozenset(("NF", "FS", "RS", "FIELDWIDTHS", "FPAT", "IGNORECASE"))
BUILTIN_ARRAYS = ("ENVIRON", "ARGV", "PROCINFO", "SYMTAB", "FUNCTAB")
ARRAY_ARGUMENTS = {"split": (1, 3), "match": (2,), "asort": (0, 1), "asorti": (0, 1), "patsplit": (1, 3)}


def children(node: Any) -> Iterator[tree.Node]:
    """The nodes directly inside a node (or list, or tuple)."""
    if isinstance(node, tree.Node):
        for name in node.__slots__:
            yield from children_of(getattr(node, name))


def children_of(value: Any) -> Iterator[tree.Node]:
    if isinstance(value, tree.Node):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from children_of(item)


def walk(node: tree.Node) -> Iterator[tree.Node]:
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(children(node))


class Analysis:
    """arrays: (function name or "", variable) of every array; globals: all global names; recursive: function names."""

    def __init__(self, program: tree.Program) -> None:
        self.program = program
        self.arrays: set[tuple[str, str]] = {("", name) for name in BUILTIN_ARRAYS}
        self.globals: set[str] = set()
        self.mentioned: set[str] = set()
        self.indirect = False
        self.warnings = ""
        self._parts: list[tuple[str, tree.Node]] = []
        for rule in program.rules:
            self._parts += [("", part) for part in children(rule)]
        self._parts += [(f.name, f.body) for f in program.functions.values()]
        self._nodes = [(owner, node) for owner, part in self._parts for node in walk(part)]
        self._check_calls()
        self._find_arrays()
        self.recursive = self._find_recursive()

    def nodes(self, kind: type) -> Iterator[Any]:
        """All nodes of one class."""
        return (node for _, node in self._nodes if isinstance(node, kind))

    def changes_fields(self) -> bool:
        """May the program change $0, a field, or how records are split?"""
        for _, node in self._nodes:
            if isinstance(node, tree.Getline):
                return True
            if isinstance(node, tree.Assign | tree.Increment | tree.ForIn):
                target = node.target
                if isinstance(target, tree.Field) or isinstance(target, tree.Name) and target.name in SETTERS:
                    return True
            elif isinstance(node, tree.Call):
                if node.indirect or node.builtin and node.name in ("sub", "gsub") and (
                        len(node.arguments) < 3 or not isinstance(node.arguments[2], tree.Name | tree.Element)):
                    return True
        return False

    def owner(self, function: str, name: str) -> tuple[str, str]:
        """Whose variable a name is: a parameter, or a global one ("")."""
        known = self.program.functions.get(function)
        return (function, name) if known is not None and name in known.parameters else ("", name)

    def _check_calls(self) -> None:
        functions = self.program.functions
        for owner, node in self._nodes:
            if isinstance(node, tree.Name):
                self.mentioned.add(node.name)
                if self.owner(owner, node.name)[0] == "":
                    if node.name in functions:
                        raise SyntaxProblem(f"awk: cmd. line:1: error: function `{node.name}' called with space "
                                            "between name and `('\nor used as a variable or an array\n")
                    self.globals.add(node.name)
            elif isinstance(node, tree.Call) and not node.builtin:
                if node.indirect:
                    self.indirect = True
                    self.globals.add(node.name)
                    self.mentioned.add(node.name)
                elif node.name not in functions:
                    raise Fatal(f"function `{node.name}' not defined")
                elif len(node.arguments) > len(functions[node.name].parameters):
                    self.warnings += (f"awk: cmd. line:{node.line}: warning: function `{node.name}' called with more "
                                      "arguments than declared\n")

    def _find_arrays(self) -> None:
        arrays = self.arrays
        for owner, node in self._nodes:
            for name in array_uses(node):
                arrays.add(self.owner(owner, name))
        changed = True
        while changed:
            changed = False
            for owner, node in self._nodes:
                if not isinstance(node, tree.Call) or node.builtin or node.indirect:
                    continue
                parameters = self.program.functions[node.name].parameters
                for parameter, argument in zip(parameters, node.arguments, strict=False):
                    if isinstance(argument, tree.Name) and (node.name, parameter) in arrays:
                        found = self.owner(owner, argument.name)
                        if found not in arrays:
                            arrays.add(found)
                            changed = True

    def _find_recursive(self) -> set[str]:
        calls: dict[str, set[str]] = {name: set() for name in self.program.functions}
        for owner, node in self._nodes:
            if owner and isinstance(node, tree.Call) and not node.builtin:
                calls[owner] |= set(calls) if node.indirect else {node.name}
        found = set()
        for start in calls:
            seen: set[str] = set()
            stack = list(calls[start])
            while stack:
                name = stack.pop()
                if name not in seen:
                    seen.add(name)
                    stack.extend(calls[name])
            if start in seen:
                found.add(start)
        return found


def array_uses(node: tree.Node) -> Iterator[str]:
    """Names that a node uses as arrays."""
    if isinstance(node, tree.Element | tree.In | tree.ForIn | tree.Delete):
        if isinstance(node.array, tree.Name):
            yield node.array.name
    elif isinstance(node, tree.Call) and node.builtin:
        for position in ARRAY_ARGUMENTS.get(node.name, ()):
            if position < len(node.arguments):
                argument = node.arguments[position]
                if isinstance(argument, tree.Name):
                    yield argument.name
