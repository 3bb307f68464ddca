"""Subscripts of arrays: to keys."""

from __future__ import annotations

from mirage.shell import ast
from mirage.shell.errors import ParseError
from mirage.shell.expand.arith import arith_eval, compile_arith

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mirage.shell.state import Shell


def is_pure(parts: Sequence[ast.Part]) -> bool:
    """Can the parts be expanded twice without harm?"""
    for part in parts:
        if isinstance(part, ast.DQuote):
            if not is_pure(part.parts):
                return False
        elif isinstance(part, ast.Param):
            if part.op or part.sub is not None or part.indirect or part.name == "RANDOM":
                return False
        elif not isinstance(part, ast.Lit | ast.Quoted | ast.Tilde):
            return False
    return True


def compile_key(name: str, sub: ast.Subscript) -> Callable[[Shell], int | str]:
    """A closure that gives the key: a text for an associative array, else a number. May raise ArithError."""
    from mirage.shell.expand.word import dquoted_text

    text = dquoted_text(sub.word.parts)
    if isinstance(sub.expr, ast.Num) and "'" not in sub.word.text:
        constant = sub.expr.value

        def constant_key(sh: Shell) -> int | str:
            var = sh.vars.get(name)
            if var.__class__ is not str and var is not None and sh.is_assoc(name):
                return text(sh)
            return constant

        return constant_key
    number = _with_quotes(sub.word.text) if "'" in sub.word.text else compile_arith(ast.Arith(sub.word, sub.expr))

    def key(sh: Shell) -> int | str:
        var = sh.vars.get(name)
        if var.__class__ is not str and var is not None and sh.is_assoc(name):
            return text(sh)
        return number(sh)

    return key




def _with_quotes(text: str) -> Callable[[Shell], int]:
    """An arithmetic subscript that holds single quotes: they stay in the text, and are an error there."""
    from mirage.shell.expand.prompt import expand_text

    return lambda sh: arith_eval(sh, expand_text(sh, text))


def text_key(sh: Shell, name: str, text: str) -> int | str:
    """The key for the text of a subscript, expansions done (`read 'a[$i]'`, a nameref to an element)."""
    from mirage.shell.expand.word import dquoted_text
    from mirage.shell.parse import parse_subscript

    assoc = sh.is_assoc(name)
    if not assoc and text.isascii() and text.isdigit() and len(text) < 10 and (text[0] != "0" or text == "0"):
        return int(text)
    if assoc and not any(char in text for char in "$`\\\"'"):
        return text
    try:
        sub = parse_subscript(text)
    except ParseError:
        return text if assoc else arith_eval(sh, text)
    if assoc:
        return dquoted_text(sub.word.parts)(sh)
    return compile_arith(ast.Arith(sub.word, sub.expr))(sh)
