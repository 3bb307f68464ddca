"""Expansion: words, arithmetic, assignments and tests of the tree to closures over the Shell.

The closures hold no state of a shell: they are made once and shared by all shells that run the same tree. What they
raise is `mirage.shell.control.ShellError`.
"""

from __future__ import annotations

from mirage.shell.expand.arith import arith_eval, compile_arith
from mirage.shell.expand.assign import assign_array, compile_assign, compile_declaration, element_key
from mirage.shell.expand.cond import compile_cond, compile_regex
from mirage.shell.expand.glob import glob
from mirage.shell.expand.prompt import expand_prompt, expand_text
from mirage.shell.expand.word import compile_pattern, compile_word, compile_words, dquoted_text, word_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.shell.ast import Word
    from mirage.shell.state import Shell

compile_single = word_text


def compile_heredoc(body: Word) -> Callable[[Shell], str]:
    """The body of a here-document."""
    if body.lit is not None:
        text = body.lit
        return lambda sh: text
    return dquoted_text(body.parts)


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
    "glob",
]
