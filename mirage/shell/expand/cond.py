"""The inside of ``[[ ]]``."""

from __future__ import annotations

from mirage.commands._condition import (
    INTEGER_OPERATORS,
    compare_files,
    compare_integers,
    file_test,
    less,
)
from mirage.shell import ast
from mirage.shell.control import ShellError
from mirage.shell.expand.arith import number_of
from mirage.shell.expand.word import compile_pattern, concatenation, part_text, word_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from mirage.shell.state import Shell

    Condition: TypeAlias = Callable[[Shell], bool]

_ERE_SPECIAL = frozenset("\\.[]{}()*+?^$|")


def compile_cond(node: ast.Test) -> Condition:
    """A closure that gives the value of the test; ShellError (unreported) for bad arithmetic, with status 2 for a
    bad regular expression."""
    if isinstance(node, ast.CGroup):
        return compile_cond(node.arg)
    if isinstance(node, ast.CNot):
        inner = compile_cond(node.arg)
        return lambda sh: not inner(sh)
    if isinstance(node, ast.CLog):
        left, right = compile_cond(node.left), compile_cond(node.right)
        if node.op == "&&":
            return lambda sh: left(sh) and right(sh)
        return lambda sh: left(sh) or right(sh)
    if isinstance(node, ast.CWord):
        text = word_text(node.word)
        return lambda sh: text(sh) != ""
    if isinstance(node, ast.CUn):
        return _unary(node)
    assert isinstance(node, ast.CBin)
    return _binary(node)


def _unary(node: ast.CUn) -> Condition:
    op, text = node.op, word_text(node.arg)
    if op == "-n":
        return lambda sh: text(sh) != ""
    if op == "-z":
        return lambda sh: text(sh) == ""
    if op in ("-v", "-R", "-o"):
        from mirage.shell.builtins.test import ShellEvaluator

        return lambda sh: ShellEvaluator(sh, ()).variable_test(op, text(sh))
    return lambda sh: file_test(sh.proc, op, text(sh))


def _binary(node: ast.CBin) -> Condition:
    op = node.op
    left = word_text(node.left)
    if op in ("=", "==", "!="):
        return _match(left, node.right, op == "!=")
    if op == "=~":
        return _regex(left, node.right)
    right = word_text(node.right)
    if op == "<":
        return lambda sh: less(left(sh), right(sh))
    if op == ">":
        return lambda sh: less(right(sh), left(sh))
    if op in INTEGER_OPERATORS:
        return lambda sh: compare_integers(number_of(sh, left(sh)), op, number_of(sh, right(sh)))
    return lambda sh: compare_files(sh.proc, left(sh), op, right(sh))


def _match(left: Callable[[Shell], str], right: ast.Word, negated: bool) -> Condition:
    pattern = compile_pattern(right, True)
    literal = right.lit if not right.glob else None
    if literal is not None and "\\" not in literal:
        return lambda sh: (
            (left(sh) == literal) is not negated
            if not sh.shopt["nocasematch"]
            else pattern(sh).matches(left(sh)) is not negated
        )

    def match(sh: Shell) -> bool:
        value = left(sh)
        return pattern(sh).matches(value) is not negated

    return match


def escape_ere(text: str) -> str:
    """`text` as an extended regular expression that matches only itself."""
    return "".join("\\" + char if char in _ERE_SPECIAL else char for char in text)


def compile_regex(word: ast.Word) -> Callable[[Shell], str]:
    """The right side of ``=~``: quoted parts match literally."""
    return concatenation([_regex_part(part) for part in word.parts])


def _regex_part(part: ast.Part) -> Callable[[Shell], str]:
    if isinstance(part, ast.Quoted):
        text = escape_ere(part.text)
        return lambda sh: text
    if isinstance(part, ast.DQuote | ast.Tilde):
        inner = part_text(part, False)
        return lambda sh: escape_ere(inner(sh))
    return part_text(part, False)


def _regex(left: Callable[[Shell], str], right: ast.Word) -> Condition:
    source = compile_regex(right)

    def search(sh: Shell) -> bool:
        from mirage.text.regex import RegexError, compile_ere

        value = left(sh)
        try:
            regex = compile_ere(source(sh), sh.shopt["nocasematch"])
        except RegexError:
            sh.replace_array("BASH_REMATCH", {})
            raise ShellError("", 2) from None
        found = regex.search(value.encode("utf-8", "surrogateescape"))
        groups: list[bytes | None] = [] if found is None else [found.group(0), *found.groups()]
        values = {
            index: group.decode("utf-8", "surrogateescape") if group else "" for index, group in enumerate(groups)
        }
        sh.replace_array("BASH_REMATCH", values)
        return found is not None

    return search
