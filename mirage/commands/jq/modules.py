"""`import` and `include`: modules are found in the terminal's files only, below the directories of -L."""
from __future__ import annotations

from mirage.commands.jq import tree
from mirage.commands.jq.compiler import FunctionCode, Scope
from mirage.commands.jq.decode import all_values
from mirage.commands.jq.errors import CompileError, JqError, ModuleError, ParseError
from mirage.commands.jq.parser import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.commands.jq.compiler import Compiler
    from mirage.process.process import Process

DEFAULT_SEARCH = ("~/.jq", "$ORIGIN/../lib/jq", "$ORIGIN/../lib")


class Modules:
    """Finds, parses and links modules; each file is read once per run."""

    def __init__(self, process: Process | None, search: list[str]) -> None:
        self.process = process
        self.search = search
        self._libraries: dict[str, Scope] = {}
        self._data: dict[str, Any] = {}
        self._loading: set[str] = set()

    def search_list(self) -> list[str]:
        return self.search or list(DEFAULT_SEARCH)

    # ---- files

    def _directories(self, node: tree.Import, origin: str | None) -> list[str]:
        meta = node.meta.get("search") if isinstance(node.meta, dict) else None
        listed = [meta] if isinstance(meta, str) else [d for d in meta if isinstance(d, str)] if meta else []
        base = origin if origin is not None else "."
        found = [d if d.startswith("/") else f"{base}/{d}" for d in listed]
        home = self.process.env.get("HOME", "/") if self.process is not None else "/"
        for directory in self.search_list():
            if directory.startswith("~/") or directory == "~":
                directory = home + directory[1:]
            elif directory.startswith("$ORIGIN/"):
                directory = "/usr/bin" + directory[7:]
            found.append(directory)
        return found

    def find(self, node: tree.Import, origin: str | None, suffix: str) -> str:
        """The file of a module; ModuleError in jq's words when there is none."""
        path = node.path
        parts = path.split("/")
        if path.startswith("/") or ".." in parts:
            raise ModuleError("Relative paths to modules may not traverse to parent directories "
                              f"({path})")
        if any(a == b for a, b in zip(parts, parts[1:], strict=False)):
            raise ModuleError(f"module names must not have equal consecutive components: {path}")
        if self.process is not None:
            for directory in self._directories(node, origin):
                for name in (f"{directory}/{path}{suffix}", f"{directory}/{path}/{parts[-1]}{suffix}"):
                    if self.process.fs.is_file(name):
                        return name
        raise ModuleError(f"module not found: {path}\n")

    def _read(self, name: str) -> bytes:
        assert self.process is not None
        try:
            return self.process.fs.read(name)
        except OSError as e:
            raise ModuleError(f"Could not open {name}: {e.strerror}\n") from None

    # ---- linking

    def link(self, compiler: Compiler, program: tree.Program, scope: Scope, origin: str | None) -> Scope:
        """The scope with everything that the program imports."""
        for node in program.imports:
            if node.data:
                value = self.data(node, origin)
                scope = Scope(scope, f"${node.name}::{node.name}", (value,), 0)
                scope = Scope(scope, f"${node.name}", (value,), 0)
                continue
            library = self.library(compiler, node, origin)
            prefix = f"{node.name}::" if node.name else ""
            found: list[tuple[str, FunctionCode]] = []
            walk: Scope | None = library
            while walk is not None:
                if isinstance(walk.content, FunctionCode):
                    found.append((walk.name, walk.content))
                walk = walk.outer
            for name, code in reversed(found):
                scope = scope.defined(prefix + name, code)
        return scope

    def library(self, compiler: Compiler, node: tree.Import, origin: str | None) -> Scope:
        name = self.find(node, origin, ".jq")
        known = self._libraries.get(name)
        if known is not None:
            return known
        if name in self._loading:
            raise ModuleError(f"circular import of {name}\n")
        self._loading.add(name)
        program = parse(self._read(name).decode("utf-8", "replace"), name)
        if program.body is not None:
            raise ModuleError("library should only have function definitions, not a main expression")
        imported = self.link(compiler, program, Scope(None, "", None, 0), name.rpartition("/")[0])
        scope = Scope(imported, "", None, 0)
        for function in program.functions:
            scope = compiler.define(function, scope)
        own: Scope | None = scope
        chain: list[Scope] = []
        while own is not None and own is not imported:
            chain.append(own)
            own = own.outer
        exported: Scope | None = None
        for entry in reversed(chain):
            if isinstance(entry.content, FunctionCode):
                compiler.body(entry.content)
                exported = Scope(exported, entry.name, entry.content, 0)
        self._loading.discard(name)
        self._libraries[name] = exported or Scope(None, "", None, 0)
        return self._libraries[name]

    def data(self, node: tree.Import, origin: str | None) -> Any:
        name = self.find(node, origin, ".json")
        if name not in self._data:
            try:
                self._data[name] = all_values(self._read(name))
            except ParseError as e:
                raise CompileError(f"error loading data file {name}: {e}") from None
        return self._data[name]

    # ---- modulemeta

    def meta(self, value: Any) -> dict[str, Any]:
        """The metadata of the module named `value`, with what it imports and defines."""
        if type(value) is not str:
            raise JqError("modulemeta input module name must be a string")
        try:
            name = self.find(tree.Import(value, None, False, None, 1), None, ".jq")
            program = parse(self._read(name).decode("utf-8", "replace"), name)
        except CompileError as e:
            raise JqError(e.message.rstrip("\n")) from None
        meta = dict(program.meta or {})
        deps = []
        for node in program.imports:
            entry: dict[str, Any] = dict(node.meta or {})
            if node.name is not None:
                entry["as"] = node.name
            entry["is_data"] = node.data
            entry["relpath"] = node.path
            deps.append(entry)
        meta["deps"] = deps
        meta["defs"] = [f"{f.name}/{len(f.parameters)}" for f in program.functions]
        return meta
