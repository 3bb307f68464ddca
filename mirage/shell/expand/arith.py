"""Arithmetic: trees to closures over Python ints, wrapped to 64 bits; errors in bash's words."""

from __future__ import annotations

import re

from mirage.shell import ast
from mirage.shell.arith import wrap
from mirage.shell.control import ArithError
from mirage.shell.errors import ArithSyntaxError
from mirage.shell.expand import integers
from mirage.shell.expand.integers import COMPARISONS, HIGH, LOW, unbound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from mirage.shell.state import Shell

    Value: TypeAlias = Callable[[Shell], int]

__all__ = ["arith_eval", "compile_arith", "number_of", "wrap"]

MAX_LEVEL = 60  # values that are expressions that name variables whose values are expressions ...
_OPERATORS = r"<<=|>>=|\*\*|<<|>>|[/%]=?|[^/%]"
_BLANKS = " \t"
_NUMBER_ERRORS = ("value too great for base", "invalid number", "invalid arithmetic base", "invalid integer constant")
_OPEN_SUBSCRIPT = re.compile(r"([A-Za-z_]\w*)\[[^][]*\Z", re.A)
_QUOTING = re.compile(r"[]['\"\\$`]")
_POWER_OPERAND = r"[-+!~ \t\n]*([A-Za-z0-9_@#]+)[ \t\n]*"


class _Failed(Exception):
    """An error found while running: `detail` is bash's text, `node` the tree node, for the place in the text."""

    def __init__(self, detail: str, node: ast.Node | None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.node = node


def compile_arith(node: ast.Arith | ast.Expr | ast.Word) -> Value:
    """A closure that evaluates; it raises ArithError, unreported.

    What bash would see as text (an expansion that is more than a number) is expanded and evaluated as text.
    """
    if isinstance(node, ast.Word):
        node = ast.Arith(node, None)
    if not isinstance(node, ast.Arith):
        return _guarded(node, lambda sh: "")
    if not node.word.parts:
        return lambda sh: 0
    source = _text_closure(node.word)
    if node.expr is None:
        return lambda sh: arith_eval(sh, source(sh))
    holes = [part for part in node.word.parts if not isinstance(part, ast.Lit | ast.Quoted)]
    if not holes:
        if type(node.expr) is ast.Num:
            value = node.expr.value
            return lambda sh: value
        return _guarded(node.expr, source)
    return _with_holes(node.expr, node.word, holes)


def _text_closure(word: ast.Word) -> Callable[[Shell], str]:
    """The expression's text after expansion."""
    from mirage.shell.expand.word import dquoted_text

    literal = [part.text for part in word.parts if isinstance(part, ast.Lit | ast.Quoted)]
    if len(literal) == len(word.parts):
        text = "".join(literal)
        return lambda sh: text
    return dquoted_text(word.parts)


def _guarded(expr: ast.Expr, source: Callable[[Shell], str]) -> Value:
    body = _compile(expr)
    if not _can_fail(expr):
        return body

    def run(sh: Shell) -> int:
        try:
            return body(sh)
        except _Failed as failure:
            raise _error(failure, expr, source(sh)) from None

    return run


def _can_fail(expr: ast.Expr) -> bool:
    """Holds it an operator that can fail by itself (variables raise finished errors)?"""
    if isinstance(expr, ast.Bin):
        return expr.op in ("/", "%", "**") or _can_fail(expr.left) or _can_fail(expr.right)
    if isinstance(expr, ast.ASet):
        return expr.op in ("/=", "%=") or _can_fail(expr.value)
    if isinstance(expr, ast.Un):
        return _can_fail(expr.arg)
    if isinstance(expr, ast.Tern):
        return _can_fail(expr.cond) or _can_fail(expr.a) or _can_fail(expr.b)
    return False


def _with_holes(expr: ast.Expr, word: ast.Word, holes: list[Any]) -> Value:
    from mirage.shell.expand.word import dquoted_text

    values = [dquoted_text((hole,)) for hole in holes]
    index = {id(hole): number for number, hole in enumerate(holes)}
    pieces = [part.text if isinstance(part, ast.Lit | ast.Quoted) else None for part in word.parts]
    try:
        body = _compile(expr, index)
    except _TextOnly:
        source = dquoted_text(word.parts)
        return lambda sh: arith_eval(sh, source(sh))

    arrays = _arrays_around(pieces)

    def whole(sh: Shell, texts: list[str]) -> str:
        out, number = [], 0
        for piece in pieces:
            if piece is None:
                piece = texts[number]
                if arrays[number] and sh.is_assoc(arrays[number]):
                    piece = _QUOTING.sub(r"\\\g<0>", piece)
                number += 1
            out.append(piece)
        return "".join(out)

    names = _plain_names(holes)

    def numbers_of(sh: Shell) -> list[int] | None:
        """The numbers that are known as such already; None when one is not, or is negative (a text in brackets)."""
        numbers = []
        for name in names:
            value = sh.vars.get(name)
            if not isinstance(value, int) or value < 0:
                return None
            numbers.append(value)
        return numbers

    def run(sh: Shell) -> int:
        texts: list[str] = []
        numbers = numbers_of(sh) if names else None
        if numbers is None:
            texts = [value(sh) for value in values]
            numbers = []
            for text in texts:
                if not (text.isascii() and text.isdigit() and len(text) < 19 and (text[0] != "0" or text == "0")):
                    return arith_eval(sh, whole(sh, texts))
                numbers.append(int(text))
        outer = sh.holes
        sh.holes = numbers
        try:
            return body(sh)
        except _Failed as failure:
            raise _error(failure, expr, whole(sh, texts or [str(number) for number in numbers])) from None
        finally:
            sh.holes = outer

    return run


def _arrays_around(pieces: list[str | None]) -> list[str]:
    """For each expansion the name of the array in whose subscript it stands, or nothing."""
    arrays, before = [], ""
    for piece in pieces:
        if piece is None:
            match = _OPEN_SUBSCRIPT.search(before)
            arrays.append(match[1] if match else "")
            before += "0"
        else:
            before += piece
    return arrays


def _plain_names(holes: list[Any]) -> list[str]:
    """The variables that the expansions are; empty when one is more than ``$name``."""
    names = []
    for part in holes:
        if not isinstance(part, ast.Param) or part.op or part.sub or part.length or part.indirect:
            return []
        names.append(part.name)
    return names if all(name.isidentifier() for name in names) else []


class _TextOnly(Exception):
    """The tree cannot be used: an expansion with possible side effects stands in a subscript."""


# ----------------------------------------------------------------------------------------------------------- texts


def arith_eval(sh: Shell, text: str) -> int:
    """The value of an expression given as text, nothing in it left to expand. Raises ArithError, unreported."""
    number = _quick(text)
    if number is not None:
        return number
    found = _compiled.get(text)
    if found is None:
        from mirage.shell.parse import parse_arith

        try:
            expr = parse_arith(text)
        except ArithSyntaxError as error:
            raise ArithError(f"{_read_so_far(text, error).lstrip(_BLANKS)}: {error}") from None
        if len(_compiled) >= 1024:
            _compiled.clear()
        found = _compiled[text] = _compile(expr), expr
    body, expr = found
    level = sh.arith_level
    if level >= MAX_LEVEL:
        raise ArithError(f'{text}: expression recursion level exceeded (error token is "{text}")')
    sh.arith_level = level + 1
    try:
        return body(sh)
    except _Failed as failure:
        raise _error(failure, expr, text) from None
    except RecursionError:
        raise ArithError(f'{text}: expression recursion level exceeded (error token is "{text}")') from None
    finally:
        sh.arith_level = level


def _read_so_far(text: str, error: ArithSyntaxError) -> str:
    """The part of the expression that bash's message shows: all, or up to a number that is wrong."""
    if error.msg in _NUMBER_ERRORS and error.token:
        match = re.search(rf"(?<![\w@#]){re.escape(error.token)}(?![\w@#])", text)
        if match:
            return text[: match.end()]
    return text


_compiled: dict[str, tuple[Value, ast.Expr]] = {}


def _quick(text: str) -> int | None:
    """The value of a plain decimal number (with a sign, maybe); None for all else."""
    if text.isascii() and text.isdigit():
        if len(text) < 19 and (text[0] != "0" or len(text) == 1):
            return int(text)
        return None
    if not text:
        return 0
    if text[0] == "-" and text.isascii() and text[1:].isdigit() and text[1] != "0" and len(text) < 20:
        return int(text)
    return None


def number_of(sh: Shell, value: str | None) -> int:
    """The number that the value of a variable stands for: a number or an expression; 0 when empty or unset."""
    if value is None:
        return 0
    number = _quick(value)
    return arith_eval(sh, value) if number is None else number


def _error(failure: _Failed, expr: ast.Expr, text: str) -> ArithError:
    token = _token(failure.node, expr, text)
    return ArithError(f'{text.lstrip(_BLANKS)}: {failure.detail} (error token is "{token}")')


def _token(node: ast.Node | None, expr: ast.Expr, text: str) -> str:
    """The rest of the text from the right operand of the operator `node` on."""
    wanted = node.op if isinstance(node, ast.Bin | ast.ASet) else ""
    order: list[ast.Node] = []
    _in_order(expr, wanted, order)
    number = next((place for place, other in enumerate(order) if other is node), 0)
    for match in re.finditer(_OPERATORS, text):
        if match[0] == wanted:
            if not number:
                rest = text[match.end() :].lstrip(_BLANKS)
                if wanted == "**":  # bash has read the operand, and what follows it
                    operand = re.match(_POWER_OPERAND, rest)
                    if operand:
                        rest = rest[operand.end() :] or rest[operand.start(1) :]
                elif wanted in ("/=", "%="):
                    rest = _behind_value(rest)
                return rest
            number -= 1
    return text


def _behind_value(text: str) -> str:
    """What follows the value of an assignment, or the last token of the value when nothing does."""
    depth = 0
    for index, char in enumerate(text):
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        if depth < 0 or not depth and char in ",:":
            return text[index:]
    last = re.search(r"(?:[A-Za-z0-9_@#]+|.)[ \t\n]*\Z", text, re.S)
    return last[0] if last else text


def _in_order(expr: ast.Expr, op: str, out: list[ast.Node]) -> None:
    if isinstance(expr, ast.Bin):
        _in_order(expr.left, op, out)
        if expr.op == op:
            out.append(expr)
        _in_order(expr.right, op, out)
    elif isinstance(expr, ast.ASet):
        if expr.op == op:
            out.append(expr)
        _in_order(expr.value, op, out)
    elif isinstance(expr, ast.Un):
        _in_order(expr.arg, op, out)
    elif isinstance(expr, ast.Tern):
        for part in (expr.cond, expr.a, expr.b):
            _in_order(part, op, out)


# -------------------------------------------------------------------------------------------------------- compiling


def _compile(expr: ast.Expr, holes: dict[int, int] | None = None) -> Value:
    if isinstance(expr, ast.Num):
        value = expr.value
        return lambda sh: value
    if isinstance(expr, ast.AVar):
        return _read(expr, holes)
    if isinstance(expr, ast.AExp):
        if holes is None:
            raise _TextOnly
        index = holes[id(expr.part)]
        return lambda sh: sh.holes[index]
    if isinstance(expr, ast.Bin):
        return _binary(expr, holes)
    if isinstance(expr, ast.Un):
        return _unary(expr, holes)
    if isinstance(expr, ast.Post):
        return _step(expr.arg, 1 if expr.op == "++" else -1, True, holes)
    if isinstance(expr, ast.ASet):
        return _assignment(expr, holes)
    assert isinstance(expr, ast.Tern)
    cond, first, second = _compile(expr.cond, holes), _compile(expr.a, holes), _compile(expr.b, holes)
    return lambda sh: first(sh) if cond(sh) else second(sh)


def _key(node: ast.AVar, holes: dict[int, int] | None) -> Callable[[Shell], int | str]:
    from mirage.shell.expand.subscript import compile_key, is_pure

    assert node.sub is not None
    if holes is not None and not is_pure(node.sub.word.parts):
        raise _TextOnly
    return compile_key(node.name, node.sub)


def _read(node: ast.AVar, holes: dict[int, int] | None) -> Value:
    name = node.name
    if node.sub is not None:
        key = _key(node, holes)
        sub = node.sub

        def read_element(sh: Shell) -> int:
            if not sub.word.parts or sub.star and not sh.is_assoc(name):
                sh.error(f"{name}[{sub.star}]: bad array subscript")
                return 0
            value = sh.get_element(name, key(sh))
            if value is None:
                if sh.options.nounset:
                    raise unbound(sh, f"{name}[{sub.word.text}]")
                return 0
            number = _quick(value)
            return arith_eval(sh, value) if number is None else number

        return read_element

    return integers.read(name)


def _write(node: ast.AVar, holes: dict[int, int] | None) -> Callable[[Shell, int], None]:
    name = node.name
    if node.sub is not None:
        key = _key(node, holes)

        def write_element(sh: Shell, value: int) -> None:
            sh.set_element(name, key(sh), str(value))

        return write_element

    return lambda sh, value: integers.store(sh, name, value)


def _step(node: ast.AVar, by: int, after: bool, holes: dict[int, int] | None) -> Value:
    """``x++`` and its kin; `after`: the value is that before the step."""
    name = node.name
    if node.sub is not None:
        key = _key(node, holes)

        def step_element(sh: Shell) -> int:
            at = key(sh)
            old = number_of(sh, sh.get_element(name, at))
            new = wrap(old + by)
            sh.set_element(name, at, str(new))
            return old if after else new

        return step_element
    return integers.step(name, by, after)


def _unary(expr: ast.Un, holes: dict[int, int] | None) -> Value:
    op = expr.op
    if isinstance(expr.arg, ast.AVar) and op in ("++", "--"):
        return _step(expr.arg, 1 if op == "++" else -1, False, holes)
    arg = _compile(expr.arg, holes)
    if op == "-":
        return lambda sh: wrap(-arg(sh))
    if op == "!":
        return lambda sh: 0 if arg(sh) else 1
    if op == "~":
        return lambda sh: ~arg(sh)
    return arg


def _power(base: int, exponent: int) -> int:
    return wrap(pow(base & 0xFFFFFFFFFFFFFFFF, exponent, 1 << 64))


def _divide(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return wrap(quotient if (left < 0) == (right < 0) else -quotient)


def _remainder(left: int, right: int) -> int:
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


_SIMPLE: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: wrap(a + b),
    "-": lambda a, b: wrap(a - b),
    "*": lambda a, b: wrap(a * b),
    "<<": lambda a, b: wrap(a << (b & 63)),
    ">>": lambda a, b: a >> (b & 63),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


def _combine(op: str, node: ast.Node) -> Callable[[int, int], int]:
    """The function of a strict binary operator; it raises _Failed for `node`."""
    if op in ("/", "%"):
        compute = _divide if op == "/" else _remainder

        def divide(left: int, right: int) -> int:
            if not right:
                raise _Failed("division by 0", node)
            return compute(left, right)

        return divide
    if op == "**":

        def power(left: int, right: int) -> int:
            if right < 0:
                raise _Failed("exponent less than 0", node)
            return _power(left, right)

        return power
    return _SIMPLE[op]


def _binary(expr: ast.Bin, holes: dict[int, int] | None) -> Value:
    op = expr.op
    left, right = _compile(expr.left, holes), _compile(expr.right, holes)
    name, other = _plain_name(expr.left), expr.right
    if name is not None:
        if op in ("+", "-") and type(other) is ast.Num and abs(other.value) < 1 << 62:
            return integers.plus_constant(name, other.value if op == "+" else -other.value)
        if op in COMPARISONS and type(other) is ast.Num:
            return integers.compare(op, name, other.value)
        if op == "+" and (second := _plain_name(other)) is not None:
            return integers.plus_variable(name, second)
    if op == "+":

        def add(sh: Shell) -> int:
            value = left(sh) + right(sh)
            return value if LOW <= value <= HIGH else wrap(value)

        return add
    if op == "-":

        def subtract(sh: Shell) -> int:
            value = left(sh) - right(sh)
            return value if LOW <= value <= HIGH else wrap(value)

        return subtract
    if op == "*":

        def multiply(sh: Shell) -> int:
            value = left(sh) * right(sh)
            return value if LOW <= value <= HIGH else wrap(value)

        return multiply
    if op == "%":

        def remainder(sh: Shell) -> int:
            first, second = left(sh), right(sh)
            if first >= 0 and second > 0:
                return first % second
            if not second:
                raise _Failed("division by 0", expr)
            return _remainder(first, second)

        return remainder
    if op in COMPARISONS:
        holds = COMPARISONS[op]
        return lambda sh: 1 if holds(left(sh), right(sh)) else 0
    if op == "&&":
        return lambda sh: 1 if left(sh) and right(sh) else 0
    if op == "||":
        return lambda sh: 1 if left(sh) or right(sh) else 0
    if op == ",":

        def comma(sh: Shell) -> int:
            left(sh)
            return right(sh)

        return comma
    combine = _combine(op, expr)
    return lambda sh: combine(left(sh), right(sh))


def _plain_name(expr: ast.Expr) -> str | None:
    """The name of a variable without subscript."""
    return expr.name if isinstance(expr, ast.AVar) and expr.sub is None else None


def _assignment(expr: ast.ASet, holes: dict[int, int] | None) -> Value:
    value = _compile(expr.value, holes)
    target = expr.target
    if expr.op != "=":
        combine = _combine(expr.op[:-1], expr)
        if target.sub is not None:
            return _element_update(target, combine, value, holes)
        read = _read(target, holes)
        if expr.op == "+=":
            return integers.add_to(target.name, value)
    elif target.sub is None:
        return integers.assign(target.name, value)
    write = _write(target, holes)
    if expr.op == "=":

        def assign(sh: Shell) -> int:
            number = value(sh)
            write(sh, number)
            return number

        return assign

    def update(sh: Shell) -> int:
        old = read(sh)
        number = combine(old, value(sh))
        write(sh, number)
        return number

    return update


def _element_update(
    target: ast.AVar, combine: Callable[[int, int], int], value: Value, holes: dict[int, int] | None
) -> Value:
    name, key = target.name, _key(target, holes)

    def update(sh: Shell) -> int:
        at = key(sh)
        old = number_of(sh, sh.get_element(name, at))
        number = combine(old, value(sh))
        sh.set_element(name, at, str(number))
        return number

    return update
