"""The grammar of bc: text to nested tuples (kind, ...)."""
from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Node = tuple[Any, ...]

_TOKEN = re.compile(r"""(?P<space>(?:[ \t\r\f\v]|\\\n)+)|(?P<comment>/\*.*?\*/|\#[^\n]*)|(?P<string>"[^"]*")
|(?P<number>[0-9A-F](?:[0-9A-F]|\\\n)*(?:\.(?:[0-9A-F]|\\\n)*)?|\.[0-9A-F](?:[0-9A-F]|\\\n)*)
|(?P<name>[a-z][a-z0-9_]*)|(?P<op>\+\+|--|&&|\|\||[-+*/%^<>=!]=|\^=|[-+*/%^<>=!(){}\[\],;\n.&])""", re.VERBOSE
| re.DOTALL)
KEYWORDS = {"define", "auto", "if", "else", "while", "for", "break", "continue", "return", "print", "quit", "halt",
            "length", "scale", "sqrt", "read", "ibase", "obase", "last", "limits", "warranty", "void", "random"}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "^="}
RELATIONS = {"<", "<=", ">", ">=", "==", "!="}
MAX_DEPTH = 200


class BcError(Exception):
    """A runtime error: the statement is abandoned."""

    def __init__(self, text: str, function: str = "(main)", address: int = 0) -> None:
        super().__init__(text)
        self.text = text
        self.function = function
        self.address = address


class SyntaxProblem(Exception):
    def __init__(self, line: int, text: str = "syntax error") -> None:
        super().__init__(text)
        self.line = line
        self.text = text


class Quit(Exception):
    """`quit` was read: bc ends at once, even before the line is executed."""


class Parser:
    """A recursive-descent parser that gives the statements of one input line at a time.

    `problem`: what POSIX does not know in the line that was read last (bc -s refuses it).
    """

    def __init__(self, text: str) -> None:
        self.problem = ""
        self.condition = False                               # in the condition of if, while, for
        self.text = text
        self.at = 0
        self.number_line = 1
        self.kind = ""
        self.value = ""
        self.depth = 0
        self.advance()

    def advance(self) -> None:
        """Read the next token into kind and value; kind "" at the end."""
        while self.at < len(self.text):
            found = _TOKEN.match(self.text, self.at)
            if found is None:
                self.kind, self.value = "bad", self.text[self.at]
                self.at += 1
                return
            self.at = found.end()
            kind = found.lastgroup or ""
            if kind in ("space", "comment"):
                self.number_line += found[0].count("\n")
                continue
            self.kind, self.value = kind, found[0]
            if self.value == "\n":
                self.number_line += 1
            return
        self.kind = self.value = ""

    def object(self, text: str) -> None:
        """Something that GNU's bc has and POSIX has not."""
        self.problem = self.problem or text

    def named(self, name: str) -> None:
        if len(name) > 1:
            self.object("multiple letter name")

    def conditional(self) -> Node:
        """The expression of if, while and for, the only places for a comparison."""
        before, self.condition = self.condition, True
        found = self.expression()
        self.condition = before
        return found

    def is_op(self, *values: str) -> bool:
        return self.kind == "op" and self.value in values

    def is_name(self, *values: str) -> bool:
        return self.kind == "name" and self.value in values

    def error(self) -> SyntaxProblem:
        return SyntaxProblem(self.number_line)

    def expect(self, value: str) -> None:
        if not (self.kind == "op" and self.value == value):
            raise self.error()
        self.advance()

    def newlines(self) -> None:
        while self.is_op("\n"):
            self.advance()

    def skip_line(self) -> None:
        """After an error: go on behind the next newline."""
        while self.kind and not self.is_op("\n"):
            self.advance()
        self.depth = 0
        if self.kind:
            self.advance()

    # ---- statements

    def line(self) -> list[Node] | None:
        """The statements up to the next newline; None at the end of the text."""
        self.depth = 0
        self.problem = ""
        if not self.kind:
            return None
        if self.is_name("define"):
            return [self.definition()]
        out: list[Node] = []
        while self.kind and not self.is_op("\n"):
            if self.is_op(";"):
                self.advance()
                continue
            out.append(self.statement())
            if self.kind and not self.is_op(";", "\n"):
                raise self.error()
        if self.kind:
            self.advance()
        return out

    def definition(self) -> Node:
        self.advance()
        void = self.is_name("void")
        if void:
            self.object("void functions")
            self.advance()
        if self.kind != "name":
            raise self.error()
        name = self.value
        self.named(name)
        self.advance()
        self.expect("(")
        parameters = self.names(")")
        self.expect(")")
        self.newlines()
        self.expect("{")
        if not self.is_op("\n"):
            self.object("End of line required")
        self.newlines()
        autos: list[tuple[str, bool]] = []
        if self.is_name("auto"):
            self.advance()
            autos = self.names(";", "\n")
            if not self.is_op(";", "\n"):
                raise self.error()
            self.advance()
        body = self.block_rest()
        return "define", name, parameters, autos, body, void

    def names(self, *ends: str) -> list[tuple[str, bool]]:
        """(name, is an array) ... up to one of `ends`."""
        out: list[tuple[str, bool]] = []
        while not self.is_op(*ends):
            if self.is_op("*", "&"):
                self.advance()
            if self.kind != "name":
                raise self.error()
            name, array = self.value, False
            self.named(name)
            self.advance()
            if self.is_op("["):
                self.advance()
                self.expect("]")
                array = True
            out.append((name, array))
            if not self.is_op(","):
                break
            self.advance()
        return out

    def block_rest(self) -> list[Node]:
        """Statements up to the closing brace."""
        out: list[Node] = []
        while not self.is_op("}"):
            if self.is_op(";", "\n"):
                self.advance()
                continue
            if not self.kind:
                raise self.error()
            out.append(self.statement())
            if not self.is_op(";", "\n", "}"):
                raise self.error()
        self.advance()
        return out

    def statement(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise SyntaxProblem(self.number_line, "too deep")
        try:
            return self._statement()
        finally:
            self.depth -= 1

    def _statement(self) -> Node:
        if self.is_op("{"):
            self.advance()
            return "block", self.block_rest()
        if self.kind == "string":
            text = self.value[1:-1]
            self.advance()
            return "string", text
        if self.kind == "name" and self.value in KEYWORDS:
            word = self.value
            if word in ("break", "continue", "halt", "limits", "warranty"):
                if word in ("continue", "halt"):
                    self.object(f"{word} statement")
                self.advance()
                return (word,)
            if word == "quit":
                raise Quit
            if word == "return":
                self.advance()
                if self.is_op(";", "\n", "}") or not self.kind:
                    return "return", None
                value = self.expression()
                if value[0] != "group":
                    self.object("return expression requires parenthesis")
                return "return", value
            if word == "print":
                return self.print_statement()
            if word == "if":
                return self.if_statement()
            if word == "while":
                self.advance()
                self.expect("(")
                condition = self.conditional()
                self.expect(")")
                self.newlines()
                return "while", condition, self.statement()
            if word == "for":
                return self.for_statement()
            if word in ("auto", "define", "else"):
                raise self.error()
        value = self.expression()
        return "value", value

    def print_statement(self) -> Node:
        self.object("print statement")
        self.advance()
        parts: list[Node] = []
        while True:
            if self.kind == "string":
                parts.append(("text", self.value[1:-1]))
                self.advance()
            else:
                parts.append(self.expression())
            if not self.is_op(","):
                return "print", parts
            self.advance()

    def if_statement(self) -> Node:
        self.advance()
        self.expect("(")
        condition = self.conditional()
        self.expect(")")
        self.newlines()
        then = self.statement()
        saved = (self.at, self.kind, self.value, self.number_line)
        self.newlines()
        if self.is_op(";"):
            self.advance()
            self.newlines()
        if self.is_name("else"):
            self.object("else clause in if statement")
            self.advance()
            self.newlines()
            return "if", condition, then, self.statement()
        self.at, self.kind, self.value, self.number_line = saved
        return "if", condition, then, None

    def for_statement(self) -> Node:
        self.advance()
        self.expect("(")
        parts: list[Node | None] = []
        for end, parse in ((";", self.expression), (";", self.conditional), (")", self.expression)):
            if self.is_op(end):
                self.object("Missing expression in for statement")
            parts.append(None if self.is_op(end) else parse())
            self.expect(end)
        self.newlines()
        return "for", parts[0], parts[1], parts[2], self.statement()

    # ---- expressions, loosest first: || && ! relation assignment + - * / % ^ unary- ++ --

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise SyntaxProblem(self.number_line, "too deep")
        try:
            left = self.conjunction()
            while self.is_op("||"):
                self.object("|| operator")
                self.advance()
                left = ("or", left, self.conjunction())
            return left
        finally:
            self.depth -= 1

    def conjunction(self) -> Node:
        left = self.negation()
        while self.is_op("&&"):
            self.object("&& operator")
            self.advance()
            left = ("and", left, self.negation())
        return left

    def negation(self) -> Node:
        if self.is_op("!"):
            self.object("! operator")
            self.advance()
            return "not", self.negation()
        return self.relation()

    def relation(self) -> Node:
        left = self.assignment()
        while self.is_op(*RELATIONS):
            operator = self.value
            if not self.condition:
                self.object("comparison in expression")
            self.advance()
            left = ("relation", operator, left, self.assignment())
        return left

    def assignment(self) -> Node:
        left = self.sum()
        if self.is_op(*ASSIGNMENTS):
            if left[0] not in ("variable", "element", "special"):
                raise self.error()
            operator = self.value
            self.advance()
            return "assign", operator[:-1], left, self.assignment()
        return left

    def sum(self) -> Node:
        left = self.product()
        while self.is_op("+", "-"):
            operator = self.value
            self.advance()
            left = ("binary", operator, left, self.product())
        return left

    def product(self) -> Node:
        left = self.power()
        while self.is_op("*", "/", "%"):
            operator = self.value
            self.advance()
            left = ("binary", operator, left, self.power())
        return left

    def unary(self) -> Node:
        if self.is_op("!"):                                  # takes all up to the next comparison
            return self.negation()
        if self.is_op("-"):
            self.advance()
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise SyntaxProblem(self.number_line, "too deep")
            operand = self.unary()
            self.depth -= 1
            return "negative", operand
        return self.postfix()

    def power(self) -> Node:
        left = self.unary()
        if self.is_op("^"):
            self.advance()
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise SyntaxProblem(self.number_line, "too deep")
            right = self.power()
            self.depth -= 1
            return "binary", "^", left, right
        return left

    def postfix(self) -> Node:
        if self.is_op("++", "--"):
            operator = self.value
            self.advance()
            target = self.primary()
            if target[0] not in ("variable", "element", "special"):
                raise self.error()
            return "before", operator[0], target
        value = self.primary()
        if self.is_op("++", "--"):
            if value[0] not in ("variable", "element", "special"):
                raise self.error()
            value = ("after", self.value[0], value)
            self.advance()
        return value

    def primary(self) -> Node:
        kind, value = self.kind, self.value
        if kind == "number":
            self.advance()
            return "number", value.replace("\\\n", "")
        if self.is_op("("):
            self.advance()
            inner = self.expression()
            self.expect(")")
            return "group", inner
        if self.is_op("."):
            self.object("Last variable")
            self.advance()
            return "special", "last"
        if kind != "name":
            raise self.error()
        self.advance()
        if value in ("length", "sqrt", "read") or value == "scale" and self.is_op("("):
            self.expect("(")
            argument: Node | None = None
            if value == "read":
                self.object("read function")
            if not self.is_op(")"):
                argument = self.conditional()
            self.expect(")")
            if argument is None and value != "read":
                raise self.error()
            return "builtin", value, argument
        if value in ("scale", "ibase", "obase", "last"):
            if value == "last":
                self.object("Last variable")
            return "special", value
        if value in KEYWORDS:
            raise self.error()
        self.named(value)
        if self.is_op("("):
            self.advance()
            arguments: list[Node] = []
            while not self.is_op(")"):
                arguments.append(self.argument())
                if not self.is_op(","):
                    break
                self.advance()
            self.expect(")")
            return "call", value, arguments
        if self.is_op("["):
            self.advance()
            index = self.expression()
            self.expect("]")
            return "element", value, index
        return "variable", value

    def argument(self) -> Node:
        """An expression, or `a[]` for a whole array."""
        saved = (self.at, self.kind, self.value, self.number_line)
        if self.kind == "name":
            name = self.value
            self.advance()
            if self.is_op("["):
                self.advance()
                if self.is_op("]"):
                    self.advance()
                    return "array", name
        self.at, self.kind, self.value, self.number_line = saved
        return self.expression()
