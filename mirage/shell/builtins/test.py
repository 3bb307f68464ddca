"""test and [."""
from __future__ import annotations

import operator

from mirage.commands._condition import Evaluator, TestError
from mirage.shell.builtins._common import number, split_reference
from mirage.shell.control import ShellError
from mirage.shell.state import NAMEREF, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mirage.shell.state import Shell


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq, "-ne": operator.ne, "-lt": operator.lt, "-le": operator.le, "-gt": operator.gt,
    "-ge": operator.ge}


def _is_short_number(text: str) -> bool:
    return text.isdigit() and text.isascii() and len(text) < 19


class ShellEvaluator(Evaluator):
    """With the operators that ask the shell."""

    def __init__(self, sh: Shell, words: Sequence[str]) -> None:
        super().__init__(sh.proc, words)
        self.sh = sh

    def variable_test(self, operator: str, word: str) -> bool:
        if operator == "-o":
            return bool(self.sh.options.get(word))
        if operator == "-R":
            var = self.sh.vars.get(word)
            return isinstance(var, Var) and bool(var.flags & NAMEREF and var.value)
        return is_set(self.sh, word)


def is_set(sh: Shell, word: str) -> bool:
    """`-v`: a variable, an element, all elements (`name[@]`), or a positional parameter."""
    position = number(word)
    if position is not None:
        return 0 <= position <= len(sh.positional)
    reference = split_reference(word)
    if reference is None:
        return False
    name, subscript = reference
    if subscript is None:
        return sh.is_set(name)
    if subscript in ("@", "*") and not sh.is_assoc(name):
        return bool(sh.array(name))
    return sh.fetch_subscript(name, subscript) is not None


def builtin_test(sh: Shell, args: Sequence[str]) -> int:
    return _test(sh, "test", args)


def builtin_bracket(sh: Shell, args: Sequence[str]) -> int:
    if not args or args[-1] != "]":
        sh.builtin_error("[", "missing `]'")
        return 2
    return _test(sh, "[", args[:-1])


def _test(sh: Shell, name: str, words: Sequence[str]) -> int:
    if len(words) == 3:
        left, sign, right = words
        if sign in ("=", "==", "!="):
            return 0 if (left == right) is (sign != "!=") else 1
        compare = _COMPARISONS.get(sign)
        if compare is not None and _is_short_number(left) and _is_short_number(right):
            return 0 if compare(int(left), int(right)) else 1
    try:
        return 0 if ShellEvaluator(sh, words).evaluate() else 1
    except TestError as e:
        sh.builtin_error(name, str(e))
        return 2
    except ShellError as e:
        e.report(sh, name)
        return 2
