"""Python source for an awk program.

`make(rt, K)` is the outermost generated function: global variables of the program are its local variables (cells of
the functions inside), K is the table of constants. Only names made of letters, digits and `_`, and numbers of
constants, are ever put into the source; text of the program stays in K.
"""
from __future__ import annotations

from mirage.commands.awk import tree
from mirage.commands.awk.analysis import SETTERS, Analysis, walk
from mirage.commands.awk.errors import Fatal
from mirage.commands.awk.values import TypedRegex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LONG_CHAIN = 40                                              # operands; more nest too deeply for Python's compiler
NUMBER, TEXT, VALUE = "number", "text", "value"
NUMERIC_SPECIALS = frozenset(("NR", "FNR", "NF", "RSTART", "RLENGTH", "ARGIND"))
SPECIALS = NUMERIC_SPECIALS | {"FS", "OFS", "ORS", "RS", "SUBSEP", "CONVFMT", "OFMT", "FILENAME", "IGNORECASE",
                               "FIELDWIDTHS", "FPAT", "RT", "ERRNO", "ARGC", "BINMODE", "LINT", "TEXTDOMAIN"}
KINDS = {"length": NUMBER, "index": NUMBER, "split": NUMBER, "sub": NUMBER, "gsub": NUMBER, "match": NUMBER,
         "substr": TEXT, "gensub": TEXT, "sprintf": TEXT, "tolower": TEXT, "toupper": TEXT, "strftime": TEXT,
         "typeof": TEXT, "dcgettext": TEXT, "dcngettext": TEXT, "bindtextdomain": TEXT}
COMPARISONS = {"<": "_lt", "<=": "_le", ">": "_gt", ">=": "_ge", "==": "_eq", "!=": "_ne"}
HELPERS = """\
    _tn, _ts, _sn, _nt, _ks, _kn = rt.number, rt.text, rt.text_number, rt.number_text, rt.key, rt.number_key
    _no, _vo, _truth, _big = rt.number_output, rt.value_output, rt.truth, rt.big
    _lt, _le, _gt, _ge, _eq, _ne = rt.less, rt.less_equal, rt.greater, rt.greater_equal, rt.equal, rt.not_equal
    _div, _mod, _pow, _store, _sub, _need = rt.divide, rt.modulo, rt.power, rt.store, rt.subarray, rt.need_array
    _out, _fmt, _rx, _order, _check, _call = rt.out, rt.format, rt.matcher, rt.order, rt.check, rt.call
    _field, _fval, _fnum, _line, _lval = rt.field, rt.field_value, rt.field_number, rt.line, rt.line_value
    _fields, _numbers, _values = rt.fields, rt.numbers, rt.values
    UNSET, Array, ranges = rt.unset, rt.array_type, rt.ranges
"""


class Generator:
    """Generates one program. `constants` is K."""

    def __init__(self, program: tree.Program, fold_case: bool = False) -> None:
        self.program = program
        self.analysis = Analysis(program)
        self.constants: list[Any] = []
        self._numbers: dict[Any, str] = {}
        self.lines: list[str] = []
        self.indent = 1
        self.function = ""
        self.assigned: set[str] = set()
        self.temporaries = 0
        self.loops: list[tuple[str, Callable[[], None]]] = []
        self.rule = ""
        self.ranges = 0
        self.steady = not self.analysis.changes_fields()
        self.dynamic_case = "IGNORECASE" in self.analysis.mentioned or fold_case

    # ---- the whole

    def source(self) -> str:
        analysis = self.analysis
        body: list[str] = []
        names: dict[str, list[str]] = {"BEGIN": [], "main": [], "END": [], "BEGINFILE": [], "ENDFILE": []}
        for function in self.program.functions.values():
            body += self.generate_function(function)
        for number, kind in enumerate(("BEGIN", "END", "BEGINFILE", "ENDFILE")):
            for rule in self.program.rules:
                if rule.kind == kind and rule.body is not None:
                    name = f"rule_{number}_{len(names[kind])}"
                    body += self.generate_rule(name, kind, rule.body)
                    names[kind].append(name)
        rules = [rule for rule in self.program.rules if rule.kind == "main"]
        if rules:
            body += self.generate("main_rules", "main", lambda: self.main_rules(rules))
            names["main"].append("main_rules")
        head = ["def make(rt, K):"]
        head += HELPERS.rstrip("\n").split("\n")
        for number in range(len(self.constants)):
            head.append(f"    k{number} = K[{number}]")
        plain = sorted(analysis.globals - SPECIALS)
        for name in plain:
            array = ("", name) in analysis.arrays
            head.append(f"    g_{name} = rt.initial_array({name!r})" if array else f"    g_{name} = UNSET")
        body += self.setters([name for name in plain if ("", name) not in analysis.arrays])
        functions = ", ".join(f"{name!r}: f_{name}" for name in self.program.functions)
        rules_text = ", ".join(f"{kind!r}: [{', '.join(made)}]" for kind, made in names.items())
        body.append(f"    return {{{rules_text}}}, {{{functions}}}, set_global, get_global")
        return "\n".join(head + body) + "\n"

    def generate_rule(self, name: str, kind: str, body: tree.Block) -> list[str]:
        return self.generate(name, kind, lambda: self.statement(body))

    def setters(self, names: list[str]) -> list[str]:
        """How the runtime assigns to a global by name (-v, operands), and reads one."""
        lines = ["    def set_global(name, value):"]
        if names:
            lines.append("        nonlocal " + ", ".join(f"g_{name}" for name in names))
        for name in names:
            lines += [f"        if name == {name!r}:", f"            g_{name} = value"]
        lines += ["        return None", "    def get_global(name):"]
        for name in names:
            lines += [f"        if name == {name!r}:", f"            return g_{name}"]
        lines.append("        return UNSET")
        return lines

    def generate(self, name: str, rule: str, body: Callable[[], None], parameters: str = "",
                 prologue: list[str] | None = None) -> list[str]:
        self.lines, self.indent, self.assigned, self.temporaries = [], 2, set(), 0
        self.loops = []
        self.rule = rule
        body()
        lines = [f"    def {name}({parameters}):"]
        if self.assigned:
            lines.append("        nonlocal " + ", ".join(sorted(self.assigned)))
        lines += prologue or []
        return lines + (self.lines or ["        pass"])

    def generate_function(self, function: tree.Function) -> list[str]:
        self.function = function.name
        prologue = []
        parameters = []
        for name in function.parameters:
            if (function.name, name) in self.analysis.arrays:
                parameters.append(f"l_{name}=None")
                prologue += [f"        if type(l_{name}) is not Array:",
                             f"            l_{name} = _need(l_{name}, {name!r})"]
            else:
                parameters.append(f"l_{name}=UNSET")
        def body() -> None:
            self.statement(function.body)
            self.emit("return UNSET")

        lines = self.generate(f"f_{function.name}", "function", body, ", ".join(parameters), prologue)
        self.function = ""
        return lines

    def main_rules(self, rules: list[tree.Rule]) -> None:
        self.emit("F = None")
        self._main_rules(rules)
        if not any("F := _fields()" in line for line in self.lines):
            del self.lines[0]

    def _main_rules(self, rules: list[tree.Rule]) -> None:
        for rule in rules:
            indent = self.indent
            if isinstance(rule.pattern, tuple):
                number = self.ranges
                self.ranges += 1
                first, last = rule.pattern
                self.emit(f"if ranges[{number}] or {self.condition(first)}:")
                self.indent += 1
                self.emit(f"ranges[{number}] = not {self.condition(last)}")
            elif rule.pattern is not None:
                self.emit(f"if {self.condition(rule.pattern)}:")
                self.indent += 1
            if rule.body is None:
                self.emit("_out(_line() + rt.ORS)")
            else:
                self.block([rule.body])
            self.indent = indent

    # ---- lines

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def block(self, body: list[tree.Node]) -> None:
        before = len(self.lines)
        for node in body:
            self.statement(node)
        if len(self.lines) == before:
            self.emit("pass")

    def constant(self, value: Any) -> str:
        key = (type(value), repr(value))
        if key not in self._numbers:
            self._numbers[key] = f"k{len(self.constants)}"
            self.constants.append(value)
        return self._numbers[key]

    def temporary(self) -> str:
        self.temporaries += 1
        return f"t{self.temporaries}"

    # ---- statements

    def statement(self, node: tree.Node) -> None:
        getattr(self, f"do_{type(node).__name__}")(node)

    def do_Block(self, node: tree.Block) -> None:
        for part in node.body:
            self.statement(part)

    def do_Expression(self, node: tree.Expression) -> None:
        body = node.body
        while isinstance(body, tree.Paren):
            body = body.body
        if isinstance(body, tree.Assign):
            self.assign_statement(body)
        elif isinstance(body, tree.Increment):
            self.emit(self.increment(tree.Increment(body.target, body.delta, False)))
        else:
            self.emit(self.condition(body) if self.is_boolean(body) else self.raw(body))

    def assign_statement(self, node: tree.Assign) -> None:
        target = node.target
        if isinstance(target, tree.Name) and target.name not in SPECIALS and not self.is_array(target):
            self.emit(self.assignment(node)[1:-1].replace(":=", "=", 1) if node.op == "=" or not impure(node.value)
                      else self.assignment(node))
        elif isinstance(target, tree.Element) and node.op == "=":
            self.emit(f"{self.array(target.array)}[{self.keys(target.keys)}] = {self.raw(node.value)}")
        elif isinstance(target, tree.Element):
            steps, fixed, value = self.compound(node)
            for step in steps:
                self.emit(step.replace(" := ", " = ", 1))
            assert isinstance(fixed, Fixed)
            self.emit(f"{fixed.array}[{fixed.key}] = {value}")
        else:
            self.emit(self.assignment(node))

    def do_Print(self, node: tree.Print) -> None:
        if node.formatted:
            values = ", ".join(self.raw(a) for a in node.arguments[1:])
            text = f"_fmt({self.text(node.arguments[0])}, [{values}])"
        elif not node.arguments:
            text = "_line() + rt.ORS"
        else:
            text = " + rt.OFS + ".join(self.output(a) for a in node.arguments) + " + rt.ORS"
        if node.redirect is None:
            self.emit(f"_out({text})")
        else:
            op, target = node.redirect
            self.emit(f"rt.redirected({op!r}, {self.text(target)}, {text})")

    def output(self, node: tree.Node) -> str:
        kind = self.kind(node)
        if kind == NUMBER:
            return f"_no({self.number(node)})"
        if kind == TEXT or isinstance(node, tree.Field):
            return self.text(node)
        return f"_vo({self.raw(node)})"

    def do_If(self, node: tree.If) -> None:
        keyword = "if"
        while True:
            self.emit(f"{keyword} {self.condition(node.condition)}:")
            self.indent += 1
            self.block([node.then])
            self.indent -= 1
            if isinstance(node.otherwise, tree.If):
                node, keyword = node.otherwise, "elif"
                continue
            if node.otherwise is not None:
                self.emit("else:")
                self.indent += 1
                self.block([node.otherwise])
                self.indent -= 1
            return

    def begin_loop(self, head: str) -> None:
        self.emit(head)
        self.indent += 1
        self.emit("rt.budget -= 1")
        self.emit("if rt.budget < 0: _check()")

    def do_While(self, node: tree.While) -> None:
        self.begin_loop(f"while {self.condition(node.condition)}:")
        self.loops.append(("loop", lambda: self.emit("continue")))
        self.block([node.body])
        self.loops.pop()
        self.indent -= 1

    def do_Do(self, node: tree.Do) -> None:
        def again() -> None:
            self.emit(f"if {self.condition(node.condition)}: continue")
            self.emit("break")

        self.begin_loop("while True:")
        self.loops.append(("loop", again))
        self.block([node.body])
        self.loops.pop()
        self.emit(f"if not {self.condition(node.condition)}: break")
        self.indent -= 1

    def do_For(self, node: tree.For) -> None:
        if node.start is not None:
            self.statement(node.start)

        def again() -> None:
            if node.step is not None:
                self.statement(node.step)
            self.emit("continue")

        self.begin_loop(f"while {self.condition(node.condition) if node.condition else 'True'}:")
        self.loops.append(("loop", again))
        self.block([node.body])
        self.loops.pop()
        if node.step is not None:
            self.statement(node.step)
        self.indent -= 1

    def do_ForIn(self, node: tree.ForIn) -> None:
        key = self.temporary()
        self.begin_loop(f"for {key} in _order({self.array(node.array)}):")
        self.emit(self.store(node.target, key))
        self.loops.append(("loop", lambda: self.emit("continue")))
        self.block([node.body])
        self.loops.pop()
        self.indent -= 1

    def do_Switch(self, node: tree.Switch) -> None:
        subject, chosen, again = self.temporary(), self.temporary(), self.temporary()
        self.emit(f"{subject} = {self.raw(node.subject)}")
        keyword, default = "if", len(node.cases)
        for number, (value, _) in enumerate(node.cases):
            if value is None:
                default = number
                continue
            self.emit(f"{keyword} {self.case(subject, value)}: {chosen} = {number}")
            keyword = "elif"
        self.emit(f"else: {chosen} = {default}" if keyword == "elif" else f"{chosen} = {default}")
        self.emit(f"{again} = False")
        self.emit("while True:")
        self.indent += 1

        def outer() -> None:
            self.emit(f"{again} = True")
            self.emit("break")

        self.loops.append(("switch", outer))
        for number, (_, body) in enumerate(node.cases):
            self.emit(f"if {chosen} <= {number}:")
            self.indent += 1
            self.block(body)
            self.indent -= 1
        self.loops.pop()
        self.emit("break")
        self.indent -= 1
        if self.loops:
            self.emit(f"if {again}:")
            self.indent += 1
            self.loops[-1][1]()
            self.indent -= 1

    def case(self, subject: str, value: tree.Node) -> str:
        if isinstance(value, tree.Regex):
            return f"{self.matcher(value)}.test(_ts({subject}))"
        kind = self.kind(value)
        if kind == NUMBER:
            return f"rt.case_number({subject}, {self.number(value)})"
        return f"rt.case_text({subject}, {self.text(value)})"

    def do_Jump(self, node: tree.Jump) -> None:
        if node.kind == "break":
            self.emit("break")
        elif node.kind == "continue":
            self.loops[-1][1]()
        elif node.kind == "next":
            self.emit("return" if self.rule == "main" else "rt.next_record_from_function()")
        else:
            self.emit("rt.skip_file()")

    def do_Exit(self, node: tree.Exit) -> None:
        self.emit(f"rt.exit({self.number(node.status) if node.status is not None else 'None'})")

    def do_Return(self, node: tree.Return) -> None:
        self.emit(f"return {self.raw(node.value) if node.value is not None else 'UNSET'}")

    def do_Delete(self, node: tree.Delete) -> None:
        array = self.array(node.array)
        if node.keys is None:
            self.emit(f"{array}.clear()")
        else:
            self.emit(f"{array}.pop({self.keys(node.keys)}, None)")

    # ---- kinds

    def kind(self, node: tree.Node) -> str:
        """What raw() gives: a float, a str, or any value."""
        if isinstance(node, tree.Paren):
            return self.kind(node.body)
        if isinstance(node, tree.String | tree.Concat):
            return TEXT
        if isinstance(node, tree.Regex):
            return VALUE if node.typed else NUMBER
        if isinstance(node, tree.Name):
            return NUMBER if node.name in NUMERIC_SPECIALS and self.is_global(node.name) else VALUE
        if isinstance(node, tree.Element | tree.Field):
            return VALUE
        if isinstance(node, tree.Conditional):
            then, otherwise = self.kind(node.then), self.kind(node.otherwise)
            return then if then == otherwise else VALUE
        if isinstance(node, tree.Assign):
            return self.kind(node.value) if node.op == "=" else NUMBER
        if isinstance(node, tree.Call):
            return KINDS.get(node.name, NUMBER) if node.builtin else VALUE
        return NUMBER

    @staticmethod
    def is_boolean(node: tree.Node) -> bool:
        return isinstance(node, tree.Compare | tree.Match | tree.In | tree.Logical) or (
            isinstance(node, tree.Unary) and node.op == "!") or isinstance(node, tree.Regex) and not node.typed

    def is_global(self, name: str) -> bool:
        return self.analysis.owner(self.function, name)[0] == ""

    def variable(self, name: str) -> str:
        return f"g_{name}" if self.is_global(name) else f"l_{name}"

    def is_array(self, node: tree.Node) -> bool:
        return isinstance(node, tree.Name) and self.analysis.owner(self.function, node.name) in self.analysis.arrays

    # ---- expressions

    def raw(self, node: tree.Node) -> str:
        """The expression in the form that kind() says."""
        if isinstance(node, tree.Paren):
            return self.raw(node.body)
        if self.is_boolean(node):
            return f"(1.0 if {self.condition(node)} else 0.0)"
        result: str = getattr(self, f"raw_{type(node).__name__}")(node)
        return result

    def number(self, node: tree.Node) -> str:
        while isinstance(node, tree.Paren):
            node = node.body
        kind = self.kind(node)
        if kind == NUMBER:
            return self.raw(node)
        if kind == TEXT:
            return f"_sn({self.raw(node)})"
        if isinstance(node, tree.Field):
            index = constant_index(node)
            if index:
                return self.in_fields(index, "_numbers[{}]", "0.0") or f"_fnum({index})"
        elif isinstance(node, tree.Name) and node.name not in SPECIALS and not self.is_array(node):
            name = self.variable(node.name)
            return f"({name} if type({name}) is float else _tn({name}))"
        return f"_tn({self.raw(node)})"

    def text(self, node: tree.Node) -> str:
        while isinstance(node, tree.Paren):
            node = node.body
        kind = self.kind(node)
        if kind == TEXT:
            return self.raw(node)
        if kind == NUMBER:
            return f"_nt({self.raw(node)})"
        if isinstance(node, tree.Field):
            index = constant_index(node)
            if index:
                return self.in_fields(index, "{}", "''") or f"_field({index})"
            if index == 0:
                return "_line()"
        return f"_ts({self.raw(node)})"

    def condition(self, node: tree.Node) -> str:
        """A Python expression that is true or false."""
        while isinstance(node, tree.Paren):
            node = node.body
        if isinstance(node, tree.Compare):
            return self.comparison(node)
        if isinstance(node, tree.Match):
            test = f"{self.matcher(node.right)}.test({self.text(node.left)})"
            return test if node.positive else f"(not {test})"
        if isinstance(node, tree.Regex) and not node.typed:
            return f"{self.matcher(node)}.test(_line())"
        if isinstance(node, tree.In):
            return f"({self.keys(node.keys)} in {self.array(node.array)})"
        if isinstance(node, tree.Logical):
            return f"({self.condition(node.left)} {'and' if node.op == '&&' else 'or'} {self.condition(node.right)})"
        if isinstance(node, tree.Unary) and node.op == "!":
            return f"(not {self.condition(node.body)})"
        kind = self.kind(node)
        if kind == NUMBER:
            return f"({self.raw(node)} != 0.0)"
        if kind == TEXT:
            return f'({self.raw(node)} != "")'
        return f"_truth({self.raw(node)})"

    def comparison(self, node: tree.Compare) -> str:
        left, right, op = node.left, node.right, node.op
        kinds = {self.kind(left), self.kind(right)}
        if kinds == {NUMBER}:
            return f"({self.number(left)} {op} {self.number(right)})"
        if TEXT in kinds:
            if self.dynamic_case:
                return f"rt.compare_text({op!r}, {self.text(left)}, {self.text(right)})"
            return f"({self.text(left)} {op} {self.text(right)})"
        if isinstance(left, tree.Name) and isinstance(right, tree.Number) and left.name not in SPECIALS:
            name, value = self.variable(left.name), self.raw(right)
            return f"({name} {op} {value} if type({name}) is float else {COMPARISONS[op]}({name}, {value}))"
        return f"{COMPARISONS[op]}({self.raw(left)}, {self.raw(right)})"

    def matcher(self, node: tree.Node) -> str:
        """An expression for the Matcher of a regular expression argument."""
        while isinstance(node, tree.Paren):
            node = node.body
        if isinstance(node, tree.Regex):
            return f"_rx({self.constant(node.source)})"
        return f"_rx({self.text(node)})"

    def raw_Number(self, node: tree.Number) -> str:
        return self.constant(node.value)

    def raw_String(self, node: tree.String) -> str:
        return self.constant(node.value)

    def raw_Regex(self, node: tree.Regex) -> str:
        return self.constant(TypedRegex(node.source))

    def raw_Name(self, node: tree.Name) -> str:
        name = node.name
        if name in SPECIALS and self.is_global(name):
            if name == "NF":
                steady = self.steady and self.rule == "main"
                return "float(len(F or (F := _fields())))" if steady else "rt.get_NF()"
            return f"rt.{name}"
        if self.is_array(node):
            raise_ = self.constant(name)
            return f"rt.array_as_scalar({raise_})"
        return self.variable(name)

    def raw_Element(self, node: tree.Element) -> str:
        return f"{self.array(node.array)}[{self.keys(node.keys)}]"

    def raw_Field(self, node: tree.Field) -> str:
        index = constant_index(node)
        if index == 0:
            return "_lval()"
        if index is not None:
            return self.in_fields(index, "_values[{}]", "''") or f"_fval({index})"
        return f"rt.any_field({self.number(node.index)})"

    def in_fields(self, index: int, found: str, missing: str) -> str | None:
        """$index in the main rules of a program that never changes a field: out of a list in a local variable."""
        if not self.steady or self.rule != "main":
            return None
        name = self.temporary()
        there = found.format(f"{name}[{index - 1}]")
        return f"({there} if len({name} := F or (F := _fields())) >= {index} else {missing})"

    def raw_Group(self, node: tree.Group) -> str:
        raise Fatal("syntax error: a list in parentheses is not a value", 1)

    def raw_Unary(self, node: tree.Unary) -> str:
        body = self.number(node.body)
        return f"(-{body})" if node.op == "-" else f"(+{body})"

    def raw_Binary(self, node: tree.Binary) -> str:
        op = node.op
        if op in "+-*":
            terms = []
            left: tree.Node = node
            group = "+-" if op in "+-" else "*"
            while isinstance(left, tree.Binary) and left.op in group:
                terms.append(f" {left.op} {self.number(left.right)}")
                left = left.left
            first = self.number(left)
            if len(terms) > LONG_CHAIN:
                return f"rt.chain({first}, [{', '.join(self.link(term) for term in reversed(terms))}])"
            return f"({first}{''.join(reversed(terms))})"
        if op in "/%" and isinstance(node.left, tree.Number) and isinstance(node.right, tree.Number) and (
                node.right.value == 0.0):
            raise Fatal("division by zero attempted" + (" in `%'" if op == "%" else ""), 1)
        function = {"/": "_div", "%": "_mod", "^": "_pow"}[op]
        return f"{function}({self.number(node.left)}, {self.number(node.right)})"

    @staticmethod
    def link(term: str) -> str:
        """One step of a chain of sums or products: (operator, operand)."""
        return f"({term[1]!r}, {term[3:]})"

    def raw_Concat(self, node: tree.Concat) -> str:
        parts: list[tree.Node] = []
        left: tree.Node = node
        while isinstance(left, tree.Concat):
            parts.append(left.right)
            left = left.left
        parts.append(left)
        texts = [self.text(part) for part in reversed(parts)]
        joined = " + ".join(texts) if len(texts) <= LONG_CHAIN else f'"".join(({", ".join(texts)}))'
        name = self.temporary()
        return f"({name} if len({name} := {joined}) < 65536 else _big({name}))"

    def raw_Conditional(self, node: tree.Conditional) -> str:
        return f"({self.raw(node.then)} if {self.condition(node.condition)} else {self.raw(node.otherwise)})"

    def raw_Assign(self, node: tree.Assign) -> str:
        return self.assignment(node)

    def raw_Increment(self, node: tree.Increment) -> str:
        return self.increment(node)

    # ---- arrays

    def array(self, node: tree.Name | tree.Element) -> str:
        """An expression for an Array."""
        if isinstance(node, tree.Name):
            if node.name in SPECIALS and self.is_global(node.name):
                return f"rt.scalar_as_array({self.constant(node.name)})"
            return self.variable(node.name)
        return f"_sub({self.array(node.array)}, {self.keys(node.keys)})"

    def keys(self, nodes: list[tree.Node]) -> str:
        if len(nodes) > 1:
            return "(" + " + rt.SUBSEP + ".join(self.text(node) for node in nodes) + ")"
        node = nodes[0]
        while isinstance(node, tree.Paren):
            node = node.body
        kind = self.kind(node)
        if kind == TEXT:
            return self.raw(node)
        if kind == NUMBER:
            return f"_kn({self.raw(node)})"
        if isinstance(node, tree.Field):
            return self.text(node)
        if isinstance(node, tree.Name) and node.name not in SPECIALS and not self.is_array(node):
            name = self.variable(node.name)
            return f"({name} if type({name}) is str else _ks({name}))"
        return f"_ks({self.raw(node)})"

    # ---- assignment

    def store(self, target: tree.Node, value: str) -> str:
        """An expression that assigns the Python expression `value` and gives it back."""
        if isinstance(target, tree.Name):
            name = target.name
            if self.is_array(target):
                return f"rt.array_as_scalar({self.constant(name)})"
            if self.is_global(name):
                if name in SPECIALS:
                    setter = f"set_{name}(" if name in SETTERS else f"set_special({self.constant(name)}, "
                    return f"rt.{setter}{value})"
                self.assigned.add(f"g_{name}")
            return f"({self.variable(name)} := {value})"
        if isinstance(target, tree.Element):
            return f"_store({value}, {self.array(target.array)}, {self.keys(target.keys)})"
        assert isinstance(target, tree.Field)
        index = constant_index(target)
        where = str(float(index)) if index is not None else self.number(target.index)
        return f"rt.set_field({where}, {value})"

    def fixed(self, target: tree.Node) -> tuple[list[str], tree.Node]:
        """(temporaries to compute first, the target with them), so that its subscripts are worked out once."""
        if isinstance(target, tree.Element):
            array, key = self.temporary(), self.temporary()
            steps = [f"{array} := {self.array(target.array)}", f"{key} := {self.keys(target.keys)}"]
            return steps, Fixed(array, key)
        if isinstance(target, tree.Field) and constant_index(target) is None:
            index = self.temporary()
            return [f"{index} := {self.number(target.index)}"], tree.Field(Computed(index))
        return [], target

    def raw_Computed(self, node: Computed) -> str:
        return node.name

    def get(self, target: tree.Node) -> str:
        """The number that a fixed target holds."""
        if isinstance(target, Fixed):
            name = self.temporary()
            return f"({name} if type({name} := {target.array}[{target.key}]) is float else _tn({name}))"
        return self.number(target)

    def old_text(self, target: tree.Node) -> str:
        """The text that a fixed target holds."""
        if isinstance(target, Fixed):
            return f"_ts({target.array}[{target.key}])"
        return self.text(target)

    def put(self, target: tree.Node, value: str) -> str:
        if isinstance(target, Fixed):
            return f"_store({value}, {target.array}, {target.key})"
        return self.store(target, value)

    def assignment(self, node: tree.Assign) -> str:
        if node.op == "=":
            return self.store(node.target, self.raw(node.value))
        steps, target, value = self.compound(node)
        result = self.put(target, value)
        return f"[{', '.join([*steps, result])}][-1]" if steps else result

    def compound(self, node: tree.Assign) -> tuple[list[str], tree.Node, str]:
        """(what to work out first, the target, the new value) of `+=` and its kin."""
        value = self.number(node.value)
        steps: list[str] = []
        if impure(node.value):
            name = self.temporary()
            steps.append(f"{name} := {value}")
            value = name
        more, target = self.fixed(node.target)
        steps += more
        old = self.get(target)
        op = node.op[:-1]
        function = {"/": "_div", "%": "_mod", "^": "_pow"}.get(op)
        where = f", {self.constant(f' in `{op}=' + chr(39))}" if op in "/%" else ""
        return steps, target, f"{function}({old}, {value}{where})" if function else f"{old} {op} {value}"

    def increment(self, node: tree.Increment) -> str:
        steps, target = self.fixed(node.target)
        step = f"{'+' if node.delta > 0 else '-'} 1.0"
        old = self.get(target)
        if not node.postfix:
            result = self.put(target, f"{old} {step}")
            return f"[{', '.join([*steps, result])}][-1]" if steps else result
        name = self.temporary()
        steps.append(f"{name} := {old}")
        steps.append(self.put(target, f"{name} {step}"))
        return f"[{', '.join(steps)}][-2]"

    # ---- calls

    def raw_Call(self, node: tree.Call) -> str:
        if node.builtin:
            from mirage.commands.awk.calls import builtin_call
            return builtin_call(self, node)
        if node.indirect:
            values = ", ".join(self.argument(a) for a in node.arguments)
            return f"rt.indirect({self.text(tree.Name(node.name))}, [{values}])"
        parameters = self.program.functions[node.name].parameters
        arguments = []
        for parameter, argument in zip(parameters, node.arguments, strict=False):
            if (node.name, parameter) in self.analysis.arrays and isinstance(argument, tree.Element):
                arguments.append(self.array(argument))
            else:
                arguments.append(self.argument(argument))
        if node.name in self.analysis.recursive:
            return f"_call({', '.join([f'f_{node.name}', *arguments])})"
        return f"f_{node.name}({', '.join(arguments)})"

    def argument(self, node: tree.Node) -> str:
        """An argument of a user's function: arrays go as they are."""
        if isinstance(node, tree.Name) and self.is_array(node):
            return self.variable(node.name)
        return self.raw(node)

    def raw_Getline(self, node: tree.Getline) -> str:
        source = self.text(node.source) if node.source is not None else "None"
        if node.target is None:
            return f"rt.getline_record({node.kind!r}, {source})"
        name = self.temporary()
        stored = self.store(node.target, "rt.got")
        return f"[{name} := rt.getline_text({node.kind!r}, {source}), {stored} if {name} > 0.0 else None][0]"


class Fixed(tree.Node):
    """An element whose array and key are in temporaries."""

    __slots__ = ("array", "key")
    array: str
    key: str


class Computed(tree.Node):
    """A number in a temporary."""

    __slots__ = ("name",)
    name: str


def constant_index(node: tree.Field) -> int | None:
    """The number of a field where the program says it."""
    index = node.index
    while isinstance(index, tree.Paren):
        index = index.body
    if isinstance(index, tree.Number) and index.value >= 0 and index.value < 1e6:
        return int(index.value)
    return None


def impure(node: tree.Node) -> bool:
    """May working out the expression change variables?"""
    return any(isinstance(part, tree.Assign | tree.Increment | tree.Getline) or isinstance(part, tree.Call)
               and (not part.builtin or part.name in ("sub", "gsub", "split", "match", "srand")) for part in walk(node))


