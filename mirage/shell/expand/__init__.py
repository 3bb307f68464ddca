"""Expansion: words, arithmetic, assignments and tests of the tree to closures over the Shell.

The closures hold no state of a shell: they are made once and shared by all shells that run the same tree. What they
raise is `mirage.shell.control.ShellError`. What a short script does not need is loaded at its first use.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mirage.shell import ast
    from mirage.shell.builtins import ArrayValue, Assignment
    from mirage.shell.state import Shell
    from mirage.text.pattern import Pattern


def compile_words(words: Sequence[ast.Word]) -> Callable[[Shell], list[str]]:
    """Several words: the fields of all."""
    from mirage.shell.expand import word as module

    return module.compile_words(words)


def compile_word(word: ast.Word) -> Callable[[Shell], list[str]]:
    """All expansions: a closure that gives the fields."""
    from mirage.shell.expand import word as module

    return module.compile_word(word)


def compile_single(word: ast.Word) -> Callable[[Shell], str]:
    """A word without splitting and globbing (an assigned value, a case word, a here-string)."""
    from mirage.shell.expand import word as module

    return module.word_text(word)


def compile_pattern(word: ast.Word) -> Callable[[Shell], Pattern]:
    """A closure that gives the matcher of a case or ``[[ == ]]`` pattern, by the options of the shell."""
    from mirage.shell.expand import word as module

    return module.compile_pattern(word)


def compile_arith(node: ast.Arith | ast.Expr | ast.Word) -> Callable[[Shell], int]:
    """A closure that evaluates; it raises ArithError, unreported."""
    from mirage.shell.expand import arith

    return arith.compile_arith(node)


def arith_eval(sh: Shell, text: str) -> int:
    """The value of an expression given as text, nothing in it left to expand. Raises ArithError, unreported."""
    from mirage.shell.expand import arith

    return arith.arith_eval(sh, text)


def compile_assign(node: ast.Assign) -> Callable[[Shell], None]:
    """A closure that does the assignment. Its errors (readonly, bad subscript, arithmetic) are printed ShellErrors."""
    from mirage.shell.expand import assign

    return assign.compile_assign(node)


def compile_declaration(node: ast.Assign) -> Callable[[Shell], Assignment]:
    """An assignment argument of a declaration builtin, to be expanded only."""
    from mirage.shell.expand import assign

    return assign.compile_declaration(node)


def assign_array(sh: Shell, name: str, value: ArrayValue, append: bool) -> None:
    """``name=(...)`` or ``name+=(...)``. ShellError when readonly or for a bad subscript."""
    from mirage.shell.expand import assign

    assign.assign_array(sh, name, value, append)


def element_key(sh: Shell, name: str, subscript: str) -> int | str:
    """The key for the text of a subscript of `name`, in which expansions are still to be done."""
    from mirage.shell.expand import assign

    return assign.element_key(sh, name, subscript)


def compile_heredoc(body: ast.Word) -> Callable[[Shell], str]:
    """The body of a here-document."""
    if body.lit is not None:
        text = body.lit
        return lambda sh: text
    from mirage.shell.expand import word as module

    return module.dquoted_text(body.parts)


def compile_cond(node: ast.Test) -> Callable[[Shell], bool]:
    """The inside of ``[[ ]]``; see `mirage.shell.expand.cond`."""
    from mirage.shell.expand import cond

    return cond.compile_cond(node)


def compile_regex(word: ast.Word) -> Callable[[Shell], str]:
    """The right side of ``=~``."""
    from mirage.shell.expand import cond

    return cond.compile_regex(word)


def expand_text(sh: Shell, text: str) -> str:
    """A text expanded as if in double quotes (PS4)."""
    from mirage.shell.expand import prompt

    return prompt.expand_text(sh, text)


def expand_prompt(sh: Shell, text: str) -> str:
    """A prompt string: backslash escapes, then as `expand_text`."""
    from mirage.shell.expand import prompt

    return prompt.expand_prompt(sh, text)


__all__ = [
    "arith_eval",
    "assign_array",
    "compile_arith",
    "compile_assign",
    "compile_cond",
    "compile_declaration",
    "compile_heredoc",
    "compile_pattern",
    "compile_regex",
    "compile_single",
    "compile_word",
    "compile_words",
    "element_key",
    "expand_prompt",
    "expand_text",
]
