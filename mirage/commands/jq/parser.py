"""From jq text to a syntax tree: a precedence climber over the grammar of jq 1.7."""
from __future__ import annotations

from mirage.commands.jq import tree
from mirage.commands.jq.errors import CompileError
from mirage.commands.jq.lexer import Token, tokenize, unexpected
from mirage.commands.jq.numbers import format_number, literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_NESTING = 200
PIPE, COMMA, ALTERNATIVE, ASSIGN, OR, AND, COMPARE, SUM, PRODUCT = range(9)
LEVELS: dict[str, int] = {"|": PIPE, ",": COMMA, "//": ALTERNATIVE, "or": OR, "and": AND, "+": SUM, "-": SUM,
                          "*": PRODUCT, "/": PRODUCT, "%": PRODUCT}
LEVELS.update(dict.fromkeys(("=", "|=", "+=", "-=", "*=", "/=", "%=", "//="), ASSIGN))
LEVELS.update(dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), COMPARE))
NON_ASSOCIATIVE = (ASSIGN, COMPARE)
TERM_ENDS = frozenset((")", "]", "}", ";", ":", "end"))


class Parser:
    """One program or library; `name` is what `$__loc__` calls it."""

    def __init__(self, text: str, name: str = "<top-level>") -> None:
        self.name = name
        self.tokens = tokenize(text)
        self.at = 0
        self.depth = 0

    # ---- tokens

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def next(self) -> Token:
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
        return token

    def sees(self, value: str) -> bool:
        token = self.tokens[self.at]
        return token.value == value and token.kind in ("op", "keyword")

    def accept(self, value: str) -> bool:
        if self.sees(value):
            self.at += 1
            return True
        return False

    def expect(self, value: str) -> Token:
        if not self.sees(value):
            raise self.error()
        return self.next()

    def error(self, token: Token | None = None) -> CompileError:
        token = token or self.token
        names = {"number": "LITERAL", "name": "IDENT", "field": "FIELD", "variable": "BINDING", "format": "FORMAT",
                 "string": "QQSTRING_START", "end": "end of file", "keyword": str(token.value)}
        what = names.get(token.kind) or (f"'{token.value}'" if len(token.value) == 1 else str(token.value))
        return CompileError(unexpected(what), token.line)

    # ---- programs

    def program(self) -> tree.Program:
        """A main program or a library (no expression after the definitions)."""
        meta: Any = None
        if self.accept("module"):
            meta = self.constant(self.term(), "Module metadata must be constant")
            if not isinstance(meta, dict):
                raise CompileError("Module metadata must be an object", self.token.line)
            self.expect(";")
        imports = []
        while self.sees("import") or self.sees("include"):
            imports.append(self.import_())
        functions = []
        while self.sees("def"):
            functions.append(self.function())
        body = None if self.token.kind == "end" else self.pipe()
        if self.token.kind != "end":
            raise self.error()
        return tree.Program(meta, imports, functions, body)

    def import_(self) -> tree.Import:
        line = self.token.line
        include = self.next().value == "include"
        token = self.next()
        if token.kind != "string":
            raise self.error(token)
        if any(not isinstance(part, str) for part in token.value):
            raise CompileError("Import path must be constant", token.line)
        path = "".join(token.value)
        name, data = None, False
        if not include:
            self.expect("as")
            token = self.next()
            if token.kind not in ("name", "variable"):
                raise self.error(token)
            data = token.kind == "variable"
            name = token.value.lstrip("$")
        meta: Any = None
        if not self.sees(";"):
            meta = self.constant(self.term(), "Module metadata must be constant")
            if not isinstance(meta, dict):
                raise CompileError("Module metadata must be an object", self.token.line)
        self.expect(";")
        return tree.Import(path, name, data, meta, line)

    def constant(self, node: tree.Node, message: str) -> Any:
        """The value of a literal without calls or variables."""
        if isinstance(node, tree.Constant):
            return node.value
        if isinstance(node, tree.Text) and all(isinstance(part, str) for part in node.parts):
            return "".join(str(part) for part in node.parts)
        if isinstance(node, tree.Object):
            return {self.constant(k, message): self.constant(v, message) for k, v in node.pairs}
        if isinstance(node, tree.Array):
            return [self.constant(item, message) for item in commas(node.body)]
        if isinstance(node, tree.Call) and node.name in ("null", "true", "false"):
            return {"null": None, "true": True, "false": False}[node.name]
        raise CompileError(message, self.token.line)

    def function(self) -> tree.Function:
        self.expect("def")
        token = self.next()
        if token.kind not in ("name", "keyword"):
            raise self.error(token)
        parameters = []
        if self.accept("("):
            while True:
                parameter = self.next()
                if parameter.kind not in ("name", "variable", "keyword"):
                    raise self.error(parameter)
                parameters.append(parameter.value)
                if not self.accept(";"):
                    break
            self.expect(")")
        self.expect(":")
        body = self.pipe()
        self.expect(";")
        return tree.Function(token.value, parameters, body)

    # ---- expressions

    def pipe(self) -> tree.Node:
        return self.expression(PIPE)

    def expression(self, level: int) -> tree.Node:
        """An expression whose operators bind at least as tightly as `level`."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise CompileError("function is nested too deeply", self.token.line)
        try:
            return self._expression(level)
        finally:
            self.depth -= 1

    def _expression(self, level: int) -> tree.Node:
        left = self.operand()
        while True:
            token = self.token
            op = token.value if token.kind in ("op", "keyword") else ""
            mine = LEVELS.get(op, -1)
            if mine < level:
                return left
            self.next()
            if mine == ALTERNATIVE:
                right = self.expression(mine)
            else:
                right = self.expression(mine + 1)
            left = self.combine(op, mine, left, right)
            if mine in NON_ASSOCIATIVE and LEVELS.get(self.token.value if self.token.kind == "op" else "") == mine:
                raise self.error()

    @staticmethod
    def combine(op: str, level: int, left: tree.Node, right: tree.Node) -> tree.Node:
        if level == PIPE:
            return tree.Pipe(left, right)
        if level == COMMA:
            return tree.Comma(left, right)
        if level == ASSIGN:
            return tree.Assign(op, left, right)
        return tree.Binary(op, left, right)

    def operand(self) -> tree.Node:
        if self.sees("def"):
            function = self.function()
            return tree.Define(function, self.pipe())
        if self.accept("label"):
            name = self.next()
            if name.kind != "variable":
                raise self.error(name)
            self.expect("|")
            return tree.Label(name.value[1:], self.pipe())
        if self.accept("-"):
            return tree.Negate(self.expression(PRODUCT + 1))
        term = self.term()
        if self.accept("as"):
            patterns = self.patterns()
            self.expect("|")
            return tree.Bind(term, patterns, self.pipe())
        return term

    def patterns(self) -> list[tree.Pattern]:
        patterns = [self.pattern()]
        while self.accept("?//"):
            patterns.append(self.pattern())
        return patterns

    def pattern(self) -> tree.Pattern:
        token = self.next()
        if token.kind == "variable":
            return tree.NamePattern(token.value[1:])
        if token.value == "[" and token.kind == "op":
            items = [self.pattern()]
            while self.accept(","):
                items.append(self.pattern())
            self.expect("]")
            return tree.ArrayPattern(items)
        if token.value == "{" and token.kind == "op":
            entries = [self.pattern_entry()]
            while self.accept(","):
                entries.append(self.pattern_entry())
            self.expect("}")
            return tree.ObjectPattern(entries)
        raise self.error(token)

    def pattern_entry(self) -> tuple[str | None, tree.Node, tree.Pattern | None]:
        token = self.next()
        name: str | None = None
        key: tree.Node
        if token.kind == "variable":
            name = token.value[1:]
            key = tree.Text(None, [name])
            if not self.sees(":"):
                return name, key, None
        elif token.kind in ("name", "keyword"):
            key = tree.Text(None, [token.value])
        elif token.kind == "string":
            key = self.text(token, None)
        elif token.value == "(" and token.kind == "op":
            key = self.pipe()
            self.expect(")")
            refuse_constant(key, token.line)
        else:
            raise self.error(token)
        self.expect(":")
        return name, key, self.pattern()

    # ---- terms

    def term(self) -> tree.Node:
        node = self.postfix(self.primary())
        return node

    def postfix(self, node: tree.Node) -> tree.Node:
        """Indexes, slices, iteration and `?` behind a term."""
        start = node
        while True:
            token = self.token
            if token.kind == "field":
                self.next()
                node = tree.Index(node, tree.Text(None, [token.value[1:]]))
            elif token.kind != "op":
                return node
            elif token.value == "." and self.tokens[self.at + 1].kind == "string":
                self.next()
                node = tree.Index(node, self.text(self.next(), None))
            elif token.value == "." and self.tokens[self.at + 1].kind == "op" and self.tokens[self.at + 1].value == "[":
                self.next()
            elif token.value == "[":
                self.next()
                node = self.bracket(node)
            elif token.value == "?":
                self.next()
                node = _optional(node) if node is not start else tree.Try(node, None)
                start = node
            else:
                return node

    def bracket(self, target: tree.Node) -> tree.Node:
        if self.accept("]"):
            return tree.Iterate(target)
        if self.accept(":"):
            high = self.pipe()
            self.expect("]")
            return tree.Slice(target, None, high)
        key = self.pipe()
        if self.accept(":"):
            if self.accept("]"):
                return tree.Slice(target, key, None)
            high = self.pipe()
            self.expect("]")
            return tree.Slice(target, key, high)
        self.expect("]")
        return tree.Index(target, key)

    def primary(self) -> tree.Node:
        token = self.next()
        kind, value = token.kind, token.value
        if kind == "op":
            return self.punctuation(token)
        if kind == "number":
            return tree.Constant(literal(value))
        if kind == "string":
            return self.text(token, None)
        if kind == "format":
            if self.token.kind == "string":
                return self.text(self.next(), value)
            return tree.Format(value[1:])
        if kind == "field":
            return tree.Index(tree.Identity(), tree.Text(None, [value[1:]]))
        if kind == "variable":
            if value == "$__loc__":
                return tree.Location(self.name, token.line)
            return tree.Variable(value[1:], token.line)
        if kind == "name":
            return self.call(token)
        if kind == "keyword":
            return self.keyword(token)
        raise self.error(token)

    def punctuation(self, token: Token) -> tree.Node:
        value = token.value
        if value == ".":
            if self.token.kind == "string":
                return tree.Index(tree.Identity(), self.text(self.next(), None))
            if self.token.kind == "name":
                raise CompileError('try .["field"] instead of .field for unusually named fields', token.line)
            return tree.Identity()
        if value == "..":
            return tree.RecurseAll()
        if value == "(":
            node = self.pipe()
            self.expect(")")
            return node
        if value == "[":
            if self.accept("]"):
                return tree.Array(None)
            node = self.pipe()
            self.expect("]")
            return tree.Array(node)
        if value == "{":
            return self.object()
        raise self.error(token)

    def call(self, token: Token) -> tree.Node:
        name = token.value
        if name == "break" and self.token.kind == "variable":
            return tree.Break(self.next().value[1:], token.line)
        arguments = []
        if self.accept("("):
            while True:
                arguments.append(self.pipe())
                if not self.accept(";"):
                    break
            self.expect(")")
        return tree.Call(name, arguments, token.line)

    def keyword(self, token: Token) -> tree.Node:
        value = token.value
        if value == "if":
            return self.conditional()
        if value == "try":
            body = self.handler()
            handler = self.handler() if self.accept("catch") else None
            return tree.Try(body, handler)
        if value == "reduce":
            source, patterns = self.loop_head()
            start = self.pipe()
            self.expect(";")
            update = self.pipe()
            self.expect(")")
            return tree.Reduce(source, patterns, start, update)
        if value == "foreach":
            source, patterns = self.loop_head()
            start = self.pipe()
            self.expect(";")
            update = self.pipe()
            extract = self.pipe() if self.accept(";") else None
            self.expect(")")
            return tree.Foreach(source, patterns, start, update, extract)
        if value == "def":
            self.at -= 1
            function = self.function()
            return tree.Define(function, self.pipe())
        if value == "__loc__":
            return tree.Call(value, [], token.line)
        raise self.error(token)

    def handler(self) -> tree.Node:
        """What may follow `try` and `catch`: a term, perhaps negated."""
        if self.accept("-"):
            return tree.Negate(self.term())
        return self.term()

    def loop_head(self) -> tuple[tree.Node, list[tree.Pattern]]:
        source = self.term()
        self.expect("as")
        patterns = self.patterns()
        self.expect("(")
        return source, patterns

    def conditional(self) -> tree.Node:
        condition = self.pipe()
        self.expect("then")
        then = self.pipe()
        otherwise: tree.Node | None = None
        if self.accept("elif"):
            return tree.If(condition, then, self.conditional())
        if self.accept("else"):
            otherwise = self.pipe()
        self.expect("end")
        return tree.If(condition, then, otherwise)

    def text(self, token: Token, format: str | None) -> tree.Node:
        parts: list[str | tree.Node] = []
        for part in token.value:
            if isinstance(part, str):
                parts.append(part)
            else:
                tokens, at = self.tokens, self.at
                self.tokens, self.at = part, 0
                parts.append(self.pipe())
                if self.token.kind != "end":
                    raise self.error()
                self.tokens, self.at = tokens, at
        return tree.Text(format, parts)

    def object(self) -> tree.Node:
        pairs: list[tuple[tree.Node, tree.Node]] = []
        if self.accept("}"):
            return tree.Object(pairs)
        while True:
            pairs.append(self.pair())
            if self.accept("}"):
                return tree.Object(pairs)
            if not self.accept(","):
                raise self.error()

    def pair(self) -> tuple[tree.Node, tree.Node]:
        token = self.next()
        kind, value = token.kind, token.value
        key: tree.Node
        if kind == "variable":
            name = value[1:]
            variable: tree.Node = (tree.Location(self.name, token.line) if name == "__loc__"
                                   else tree.Variable(name, token.line))
            if self.accept(":"):
                return variable, self.object_value()
            return tree.Text(None, [name]), variable
        if kind in ("name", "keyword"):
            key = tree.Text(None, [value])
        elif kind == "number":
            key = tree.Constant(literal(value))
        elif kind == "string":
            key = self.text(token, None)
        elif kind == "format":
            key = self.text(self.next(), value) if self.token.kind == "string" else tree.Format(value[1:])
        elif value == "(" and kind == "op":
            key = self.pipe()
            self.expect(")")
            self.expect(":")
            refuse_constant(key, token.line)
            return key, self.object_value()
        else:
            raise self.error(token)
        if self.accept(":"):
            return key, self.object_value()
        return key, tree.Index(tree.Identity(), key)

    def object_value(self) -> tree.Node:
        """Terms joined by `|`, perhaps negated: anything else needs parentheses."""
        node = tree.Negate(self.term()) if self.accept("-") else self.term()
        while self.accept("|"):
            node = tree.Pipe(node, self.object_value())
        return node


def refuse_constant(key: tree.Node, line: int) -> None:
    """A constant in parentheses must be a string to be a key."""
    if isinstance(key, tree.Constant):
        raise CompileError(f"Cannot use number ({format_number(key.value)}) as object key", line)
    if isinstance(key, tree.Call) and key.name in ("null", "true", "false") and not key.arguments:
        kind = "null" if key.name == "null" else "boolean"
        raise CompileError(f"Cannot use {kind} ({key.name}) as object key", line)


def commas(node: tree.Node | None) -> list[tree.Node]:
    """The operands of a comma expression, in order."""
    if node is None:
        return []
    if isinstance(node, tree.Comma):
        return [*commas(node.left), *commas(node.right)]
    return [node]


def parse(text: str, name: str = "<top-level>") -> tree.Program:
    """The tree of a program or library. Raises CompileError."""
    return Parser(text, name).program()


def _optional(node: tree.Node) -> tree.Node:
    """`node?`: behind an index only that step may fail, not what it is taken of (`.a.b?` is `.a | .b?`)."""
    target: tree.Node
    step: tree.Node
    if isinstance(node, tree.Index) and _is_constant(node.key):
        target, step = node.target, tree.Index(tree.Identity(), node.key)
    elif isinstance(node, tree.Slice) and _is_constant(node.low) and _is_constant(node.high):
        target, step = node.target, tree.Slice(tree.Identity(), node.low, node.high)
    elif isinstance(node, tree.Iterate):
        target, step = node.target, tree.Iterate(tree.Identity())
    else:
        return tree.Try(node, None)
    if isinstance(target, tree.Identity):
        return tree.Try(node, None)
    return tree.Pipe(target, tree.Try(step, None))


def _is_constant(key: tree.Node | None) -> bool:
    """Does the key not depend on the input?"""
    if isinstance(key, tree.Text):
        return all(isinstance(part, str) for part in key.parts)
    return key is None or isinstance(key, tree.Constant)
