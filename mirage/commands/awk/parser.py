"""From awk text to a syntax tree: recursive descent over gawk's grammar."""
from __future__ import annotations

from mirage.commands.awk import tree
from mirage.commands.awk.errors import SyntaxProblem
from mirage.commands.awk.lexer import Lexer, Token, rejoin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

ASSIGNMENTS = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "^="))
STARTS_OPERAND = frozenset(("number", "string", "regex", "typed", "name", "call", "builtin", "$", "!", "(", "-", "+",
                            "++", "--", "@"))
ARITY = {"length": (0, 1), "substr": (2, 3), "index": (2, 2), "split": (2, 4), "sub": (2, 3), "gsub": (2, 3),
         "gensub": (3, 4), "match": (2, 3), "sin": (1, 1), "cos": (1, 1), "atan2": (2, 2), "exp": (1, 1),
         "log": (1, 1), "sqrt": (1, 1), "int": (1, 1), "rand": (0, 0), "srand": (0, 1), "tolower": (1, 1),
         "toupper": (1, 1), "system": (1, 1), "close": (1, 2), "fflush": (0, 1), "strftime": (0, 3),
         "systime": (0, 0), "mktime": (1, 2), "lshift": (2, 2), "rshift": (2, 2), "compl": (1, 1),
         "strtonum": (1, 1), "asort": (1, 3), "asorti": (1, 3), "patsplit": (2, 4), "typeof": (1, 2),
         "isarray": (1, 1), "mkbool": (1, 1), "and": (2, 99), "or": (2, 99), "xor": (2, 99), "sprintf": (1, 9999),
         "dcgettext": (1, 3), "dcngettext": (1, 5), "bindtextdomain": (1, 2)}
MAX_NESTING = 150


class Parser:
    """One program, perhaps of several sources (each parsed by its own Parser into the same Program)."""

    def __init__(self, text: str, name: str, program: tree.Program) -> None:
        self.lexer = Lexer(text, name)
        self.name = name
        self.tokens = self.lexer.scan()
        self.at = 0
        self.program = program
        self.no_greater = False                              # `>` is a redirection, not a comparison
        self.function: tree.Function | None = None
        self.loops = 0
        self.switches = 0
        self.depth = 0
        self.rule = ""

    # ---- tokens

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def next(self) -> Token:
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
        return token

    def sees(self, *kinds: str) -> bool:
        return self.tokens[self.at].kind in kinds

    def accept(self, kind: str) -> bool:
        if self.tokens[self.at].kind == kind:
            self.next()
            return True
        return False

    def expect(self, kind: str) -> Token:
        if self.tokens[self.at].kind != kind:
            raise self.error()
        return self.next()

    def error(self, token: Token | None = None) -> SyntaxProblem:
        token = token or self.token
        what = "unexpected newline or end of string" if token.kind in ("end", "newline") else "syntax error"
        return self.lexer.problem(token.at, what)

    def plain_error(self, text: str, line: int) -> SyntaxProblem:
        return SyntaxProblem(f"awk: {self.name}:{line}: error: {text}\n")

    def skip_newlines(self) -> None:
        while self.sees("newline"):
            self.next()

    def skip_ends(self) -> None:
        while self.sees("newline", ";"):
            self.next()

    # ---- program

    def parse(self) -> None:
        self.skip_ends()
        while not self.sees("end"):
            self.item()
            self.skip_ends()

    def item(self) -> None:
        token = self.token
        if token.kind == "function":
            self.function_definition()
            return
        if token.kind == "@":
            raise self.directive()
        if token.kind in ("BEGIN", "END", "BEGINFILE", "ENDFILE"):
            self.next()
            if not self.sees("{"):
                raise SyntaxProblem(f"awk: {self.name}:{token.line}: {token.kind} blocks must have an action part\n")
            self.rule = token.kind
            self.program.rules.append(tree.Rule(token.kind, None, self.block()))
            return
        self.rule = "main"
        pattern: tree.Node | tuple[tree.Node, tree.Node] | None = None
        if not self.sees("{"):
            first = self.expression()
            pattern = first
            if self.accept(","):
                self.skip_newlines()
                pattern = (first, self.expression())
        body = self.block() if self.sees("{") else None
        if body is None and not self.sees(";", "newline", "end"):
            raise self.error()
        self.program.rules.append(tree.Rule("main", pattern, body))

    def directive(self) -> SyntaxProblem:
        start = self.next()
        word = self.token
        if word.value in ("include", "load") and self.tokens[self.at + 1].kind == "string":
            file = self.tokens[self.at + 1].value
            kind = "source file" if word.value == "include" else "shared library"
            return self.plain_error(f"cannot open {kind} `{file}' for reading: No such file or directory", start.line)
        return self.error(word)

    def function_definition(self) -> None:
        line = self.next().line
        token = self.next()
        if token.kind not in ("name", "call"):
            raise self.error(token)
        if token.value in self.program.functions:
            raise self.plain_error(f"function name `{token.value}' previously defined", line)
        self.expect("(")
        parameters: list[str] = []
        while not self.sees(")"):
            parameter = self.expect("name").value
            if parameter == token.value:
                raise self.plain_error(f"function `{parameter}': cannot use function name as parameter name", line)
            if parameter in parameters:
                raise self.plain_error(f"function `{token.value}': parameter #{len(parameters) + 1}, `{parameter}', "
                                       f"duplicates parameter #{parameters.index(parameter) + 1}", line)
            parameters.append(parameter)
            if not self.accept(","):
                break
            self.skip_newlines()
        self.expect(")")
        self.skip_newlines()
        function = tree.Function(token.value, parameters, tree.Block([]), line)
        self.program.functions[token.value] = function
        self.function = function
        function.body = self.block()
        self.function = None

    # ---- statements

    def block(self) -> tree.Block:
        self.expect("{")
        body: list[tree.Node] = []
        self.skip_ends()
        while not self.sees("}"):
            body.append(self.statement())
            self.skip_ends()
        self.next()
        return tree.Block(body)

    def statement(self) -> tree.Node:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self.plain_error("program is nested too deeply", self.token.line)
        try:
            return self._statement()
        finally:
            self.depth -= 1

    def _statement(self) -> tree.Node:
        kind = self.token.kind
        if kind == "{":
            return self.block()
        if kind == "if":
            return self.if_statement()
        if kind == "while":
            self.next()
            condition = self.condition()
            if self.accept(";"):
                return tree.While(condition, tree.Block([]))
            return tree.While(condition, self.body())
        if kind == "do":
            return self.do_statement()
        if kind == "for":
            return self.for_statement()
        if kind == "switch":
            return self.switch_statement()
        if kind == ";":
            self.next()
            return tree.Block([])
        node = self.simple_statement()
        self.end_statement()
        return node

    def end_statement(self) -> None:
        if self.sees(";", "newline"):
            self.next()
        elif not self.sees("}", "end"):
            raise self.error()
        elif self.sees("end"):
            raise self.error()

    def condition(self) -> tree.Node:
        self.expect("(")
        condition = self.nested(self.expression)
        self.expect(")")
        return condition

    def body(self) -> tree.Node:
        self.loops += 1
        self.skip_newlines()
        node = self.statement()
        self.loops -= 1
        return node

    def if_statement(self) -> tree.Node:
        self.next()
        condition = self.condition()
        self.skip_newlines()
        then = self.statement()
        mark = self.at
        self.skip_ends()
        if self.accept("else"):
            self.skip_newlines()
            return tree.If(condition, then, self.statement())
        self.at = mark
        return tree.If(condition, then, None)

    def do_statement(self) -> tree.Node:
        self.next()
        body = self.body()
        self.skip_ends()
        self.expect("while")
        condition = self.condition()
        self.end_statement()
        return tree.Do(body, condition)

    def for_statement(self) -> tree.Node:
        self.next()
        self.expect("(")
        tokens, at = self.tokens, self.at
        if tokens[at].kind == "name" and tokens[at + 1].kind == "in" and tokens[at + 2].kind == "name":
            mark = self.at
            target = tree.Name(self.next().value)
            self.next()
            array = self.array()
            if self.accept(")"):
                return tree.ForIn(target, array, self.body())
            self.at = mark
        start = step = condition = None
        if not self.sees(";"):
            start = self.nested(self.simple_statement)
        self.expect(";")
        self.skip_newlines()
        if not self.sees(";"):
            condition = self.nested(self.expression)
        self.expect(";")
        self.skip_newlines()
        if not self.sees(")"):
            step = self.nested(self.simple_statement)
        self.expect(")")
        if self.accept(";"):
            return tree.For(start, condition, step, tree.Block([]))
        return tree.For(start, condition, step, self.body())

    def switch_statement(self) -> tree.Node:
        self.next()
        subject = self.condition()
        self.skip_newlines()
        self.expect("{")
        self.skip_ends()
        cases: list[tuple[tree.Node | None, list[tree.Node]]] = []
        self.switches += 1
        while not self.accept("}"):
            if self.accept("default"):
                value = None
            else:
                self.expect("case")
                value = self.unary()
            self.expect(":")
            self.skip_ends()
            body: list[tree.Node] = []
            while not self.sees("case", "default", "}"):
                body.append(self.statement())
                self.skip_ends()
            cases.append((value, body))
        self.switches -= 1
        return tree.Switch(subject, cases)

    def simple_statement(self) -> tree.Node:
        token = self.token
        kind = token.kind
        if kind in ("print", "printf"):
            return self.print_statement()
        if kind in ("break", "continue", "next", "nextfile"):
            return self.jump()
        if kind == "exit":
            self.next()
            return tree.Exit(None if self.sees(";", "newline", "}", "end") else self.expression())
        if kind == "return":
            self.next()
            if self.function is None:
                raise self.lexer.problem(token.at, "`return' used outside function context")
            return tree.Return(None if self.sees(";", "newline", "}", "end") else self.expression())
        if kind == "delete":
            return self.delete_statement()
        return tree.Expression(self.expression())

    def jump(self) -> tree.Node:
        token = self.next()
        kind = token.kind
        if kind == "break" and not self.loops and not self.switches:
            raise self.plain_error("`break' is not allowed outside a loop or switch", token.line)
        if kind == "continue" and not self.loops:
            raise self.plain_error("`continue' is not allowed outside a loop", token.line)
        if kind in ("next", "nextfile") and self.function is None and self.rule != "main":
            allowed = kind == "nextfile" and self.rule == "BEGINFILE"
            if not allowed:
                raise self.plain_error(f"`{kind}' used in {self.rule} action", token.line)
        return tree.Jump(kind, token.line)

    def delete_statement(self) -> tree.Node:
        self.next()
        paren = self.accept("(")
        node = self.array()
        if paren:
            self.expect(")")
        if isinstance(node, tree.Element):
            return tree.Delete(node.array, node.keys)
        return tree.Delete(node, None)

    def print_statement(self) -> tree.Node:
        formatted = self.next().kind == "printf"
        arguments: list[tree.Node] = []
        saved, self.no_greater = self.no_greater, True
        if not self.sees(";", "newline", "}", "end", ">", ">>", "|", "|&"):
            arguments = self.expressions()
            if len(arguments) == 1 and isinstance(arguments[0], tree.Group):
                arguments = arguments[0].items
        redirect = None
        if self.sees(">", ">>", "|", "|&"):
            op = self.next().kind
            redirect = (op, self.concatenation())
        self.no_greater = saved
        if formatted and not arguments:
            raise self.error()
        return tree.Print(formatted, arguments, redirect)

    def expressions(self) -> list[tree.Node]:
        items = [self.expression()]
        while self.accept(","):
            self.skip_newlines()
            items.append(self.expression())
        return items

    # ---- expressions

    def nested(self, parse: Callable[[], tree.Node]) -> tree.Node:
        """Parse inside parentheses or brackets, where `>` compares."""
        saved, self.no_greater = self.no_greater, False
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self.plain_error("program is nested too deeply", self.token.line)
        node = parse()
        self.depth -= 1
        self.no_greater = saved
        return node

    def expression(self) -> tree.Node:
        condition = self.logical_or()
        if not self.sees("?"):
            return condition
        self.next()
        self.skip_newlines()
        then = self.expression()
        self.skip_newlines()
        self.expect(":")
        self.skip_newlines()
        return tree.Conditional(condition, then, self.expression())

    def logical_or(self) -> tree.Node:
        left = self.logical_and()
        while self.accept("||"):
            self.skip_newlines()
            left = tree.Logical("||", left, self.logical_and())
        return left

    def logical_and(self) -> tree.Node:
        left = self.membership()
        while self.accept("&&"):
            self.skip_newlines()
            left = tree.Logical("&&", left, self.membership())
        return left

    def membership(self) -> tree.Node:
        left = self.matching()
        while self.sees("in"):
            self.next()
            keys = left.items if isinstance(left, tree.Group) else [left]
            left = tree.In(keys, self.array())
        return left

    def matching(self) -> tree.Node:
        left = self.comparison()
        while self.sees("~", "!~"):
            positive = self.next().kind == "~"
            left = tree.Match(positive, left, self.comparison())
        return left

    def comparison(self) -> tree.Node:
        left = self.piped()
        if self.sees("<", "<=", "==", "!=", ">=") or self.sees(">") and not self.no_greater:
            op = self.next().kind
            left = tree.Compare(op, left, self.piped())
            if self.sees("<", "<=", "==", "!=", ">=") or self.sees(">") and not self.no_greater:
                raise self.error()
        return left

    def piped(self) -> tree.Node:
        """`command | getline` with what follows it."""
        left = self.concatenation()
        while self.sees("|", "|&") and self.tokens[self.at + 1].kind == "getline":
            kind = "command" if self.next().kind == "|" else "coprocess"
            self.next()
            left = tree.Getline(kind, left, self.optional_target())
        return left

    def concatenation(self) -> tree.Node:
        left = self.additive()
        while self.sees(*STARTS_OPERAND) and not self.sees("+", "-"):
            left = tree.Concat(left, self.additive())
        return left

    def additive(self) -> tree.Node:
        left = self.multiplicative()
        while self.sees("+", "-"):
            op = self.next().kind
            left = tree.Binary(op, left, self.multiplicative())
        return left

    def multiplicative(self) -> tree.Node:
        left = self.unary()
        while self.sees("*", "/", "%"):
            op = self.next().kind
            left = tree.Binary(op, left, self.unary())
        return left

    def unary(self) -> tree.Node:
        if self.sees("!", "-", "+"):
            op = self.next().kind
            self.depth += 1
            if self.depth > MAX_NESTING:
                raise self.plain_error("program is nested too deeply", self.token.line)
            body = self.unary()
            self.depth -= 1
            return tree.Unary(op, body)
        return self.power()

    def power(self) -> tree.Node:
        base = self.postfix()
        if self.sees("^"):
            self.next()
            exponent: tree.Node
            if self.sees("-", "+", "!"):
                op = self.next().kind
                exponent = tree.Unary(op, self.power())
            else:
                exponent = self.power()
            return tree.Binary("^", base, exponent)
        return base

    def postfix(self) -> tree.Node:
        if self.sees("++", "--"):
            delta = 1 if self.next().kind == "++" else -1
            target = self.primary()
            self.need_target(target)
            return tree.Increment(target, delta, False)
        node = self.primary()
        if isinstance(node, tree.Name | tree.Element | tree.Field):
            if self.sees("++", "--"):
                return tree.Increment(node, 1 if self.next().kind == "++" else -1, True)
            if self.token.kind in ASSIGNMENTS:
                op = self.next().kind
                self.skip_newlines()
                return tree.Assign(op, node, self.expression())
        return node

    def need_target(self, node: tree.Node) -> None:
        if not isinstance(node, tree.Name | tree.Element | tree.Field):
            raise self.error()

    def primary(self) -> tree.Node:
        token = self.next()
        kind = token.kind
        if kind == "number":
            return tree.Number(number(token.value))
        if kind == "string":
            return tree.String(rejoin(token.value))
        if kind in ("regex", "typed"):
            return tree.Regex(token.value, kind == "typed")
        if kind == "$":
            return tree.Field(self.field_index())
        if kind == "name":
            self.at -= 1
            return self.array()
        if kind == "call":
            return self.call(token)
        if kind == "builtin":
            return self.builtin(token)
        if kind == "(":
            return self.parenthesis()
        if kind == "getline":
            return self.getline()
        if kind == "@":
            name = self.next()
            if name.kind != "call":
                raise self.error(name)
            call = self.call(name)
            return tree.Call(call.name, call.arguments, False, True, token.line)
        if kind in ("-", "+", "!"):
            return tree.Unary(kind, self.unary())
        self.at -= kind != "end"
        raise self.error(token)

    def field_index(self) -> tree.Node:
        if self.sees("++", "--"):
            delta = 1 if self.next().kind == "++" else -1
            target = self.primary()
            self.need_target(target)
            return tree.Increment(target, delta, False)
        if self.sees("-", "+", "!"):
            op = self.next().kind
            return tree.Unary(op, self.field_index())
        return self.primary()

    def array(self) -> tree.Name | tree.Element:
        """A name with its subscripts, if any."""
        token = self.expect("name")
        node: tree.Name | tree.Element = tree.Name(token.value)
        while self.sees("["):
            self.next()
            saved, self.no_greater = self.no_greater, False
            keys = self.expressions()
            self.no_greater = saved
            self.expect("]")
            node = tree.Element(node, keys)
        return node

    def parenthesis(self) -> tree.Node:
        def inside() -> tree.Node:
            items = self.expressions()
            return tree.Group(items) if len(items) > 1 else tree.Paren(items[0])

        node = self.nested(inside)
        self.expect(")")
        return node

    def getline(self) -> tree.Node:
        target = self.optional_target()
        if self.accept("<"):
            return tree.Getline("file", self.redirect_source(), target)
        if self.function is None and self.rule in ("BEGINFILE", "ENDFILE"):
            raise self.plain_error(f"non-redirected `getline' invalid inside `{self.rule}' rule", self.token.line)
        return tree.Getline("main", None, target)

    def redirect_source(self) -> tree.Node:
        """What `getline <` reads: no concatenation."""
        return self.postfix()

    def optional_target(self) -> tree.Node | None:
        if self.sees("name"):
            return self.array()
        if self.sees("$"):
            self.next()
            return tree.Field(self.field_index())
        return None

    def arguments(self) -> list[tree.Node]:
        self.expect("(")
        self.skip_newlines()
        items: list[tree.Node] = []
        saved, self.no_greater = self.no_greater, False
        while not self.sees(")"):
            items.append(self.expression())
            self.skip_newlines()
            if not self.accept(","):
                break
            self.skip_newlines()
        self.expect(")")
        self.no_greater = saved
        return items

    def call(self, token: Token) -> tree.Call:
        return tree.Call(token.value, self.arguments(), False, False, token.line)

    def builtin(self, token: Token) -> tree.Node:
        name = token.value
        if not self.sees("("):
            if name != "length":
                raise self.error()
            return tree.Call(name, [], True, False, token.line)
        arguments = self.arguments()
        low, high = ARITY[name]
        if not low <= len(arguments) <= high:
            close = self.tokens[self.at - 1].at
            raise self.lexer.problem(close, f"{len(arguments)} is invalid as number of arguments for {name}")
        if name == "index" and isinstance(arguments[1], tree.Regex):
            raise SyntaxProblem(f"awk: {self.name}:{token.line}: fatal: index: regexp constant as second argument is "
                                "not allowed\n")
        return tree.Call(name, arguments, True, False, token.line)


def number(text: str) -> float:
    """The value of a number in program text: decimal, 0x hexadecimal, 0 octal."""
    if text[:2] in ("0x", "0X"):
        return float(int(text, 16))
    if len(text) > 1 and text[0] == "0" and text.isdecimal() and not set(text) & {"8", "9"}:
        return float(int(text, 8))
    return float(text)
