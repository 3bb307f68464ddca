"""Expansion: words, arithmetic, assignments and tests of the tree to closures over the Shell.

The closures hold no state of a shell: they are made once and shared by all shells that run the same tree. What they
raise is `mirage.shell.control.ShellError`. What a short script does not need is loaded at its first use.
"""

from __future__ import annotations

from mirage.shell.expand.arith import arith_eval, compile_arith
from mirage.shell.expand.assign import assign_array, compile_assign, compile_declaration, element_key
from mirage.shell.expand.word import compile_pattern, compile_word, compile_words, dquoted_text, word_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.shell.ast import Test, Word
    from mirage.shell.state import Shell

compile_single = word_text


def compile_heredoc(body: Word) -> Callable[[Shell], str]:
    """The body of a here-document."""
    if body.lit is not None:
        text = body.lit
        return lambda sh: text
    return dquoted_text(body.parts)


def compile_cond(node: Test) -> Callable[[Shell], bool]:
    """The inside of ``[[ ]]``; see `mirage.shell.expand.cond`."""
    from mirage.shell.expand import cond

    return cond.compile_cond(node)


def compile_regex(word: Word) -> Callable[[Shell], str]:
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
