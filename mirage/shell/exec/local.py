"""`local name=value ...` in a function, without the way through the builtin: the most frequent command of functions.

Only for names that are plain strings or unset; everything else goes to the builtin.
"""
from __future__ import annotations

from mirage.shell import ast
from mirage.shell.exec.traps import slow_tick
from mirage.shell.expand import compile_single

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mirage.shell.exec.compile import Run
    from mirage.shell.state import Shell


_PLAIN = (str, int, type(None))                              # classes of the values of ordinary variables


def compile_local(node: ast.Simple, general: Run) -> Run:
    """`general`, the command as any other, behind a short cut where the arguments allow one."""
    parts = _parts(node.words[1:])
    if parts is None or node.assigns or node.redirs:
        return general
    if len(parts) > 1:
        return _several(node.line, general, parts)
    (name, value), = parts
    line = node.line

    def run(sh: Shell) -> int:
        variables = sh.vars
        old = variables.get(name)
        if old.__class__ not in _PLAIN or not _is_plain(sh):
            return general(sh)
        kernel = sh.kernel
        kernel.budget -= 1
        if kernel.budget < 0:
            slow_tick(sh)
        sh.line = line
        text = value(sh)
        scope = sh.scopes[-1]
        if name not in scope:
            scope[name] = variables.get(name)
        sh.grown += len(text)
        variables[name] = text
        sh.last_arg = name
        sh.pipestatus = None
        sh.status = 0
        return 0
    return run


def _several(line: int, general: Run, parts: Sequence[tuple[str, Callable[[Shell], str]]]) -> Run:
    """The same for more than one name: all values are expanded first."""
    last = parts[-1][0]

    def run(sh: Shell) -> int:
        variables = sh.vars
        if not _is_plain(sh):
            return general(sh)
        for name, _ in parts:
            if variables.get(name).__class__ not in _PLAIN:
                return general(sh)
        kernel = sh.kernel
        kernel.budget -= 1
        if kernel.budget < 0:
            slow_tick(sh)
        sh.line = line
        texts = [(name, value(sh)) for name, value in parts]
        scope = sh.scopes[-1]
        for name, text in texts:
            if name not in scope:
                scope[name] = variables.get(name)
            sh.grown += len(text)
            variables[name] = text
        sh.last_arg = last
        sh.pipestatus = None
        sh.status = 0
        return 0
    return run


def _parts(words: Sequence[ast.Word | ast.Assign]) -> list[tuple[str, Callable[[Shell], str]]] | None:
    out: list[tuple[str, Callable[[Shell], str]]] = []
    for word in words:
        if not isinstance(word, ast.Assign) or word.sub is not None or word.op != "=":
            return None
        if not isinstance(word.value, ast.Word) or "{" in word.text and _has_braces(word):
            return None
        out.append((word.name, compile_single(word.value)))
    return out or None


def _has_braces(assign: ast.Assign) -> bool:
    """Are there braces that make more than one word of it?"""
    return assign.word is not None and any(isinstance(part, ast.Brace | ast.BraceRange) for part in assign.word.parts)


def _is_plain(sh: Shell) -> bool:
    """Nothing of the shell's state makes more of it than saving the old strings and setting new ones."""
    scopes = sh.scopes
    if not sh.function_depth or scopes[-1].temporary or len(scopes) > 1 and scopes[-2].temporary:
        return False
    options, gate = sh.options, sh.machine.gate
    return not (sh.traps or options.xtrace or options.allexport or "local" in sh.functions
                or gate is not None and gate.rules_commands
                or sh.extra and "local" in sh.extra.get("disabled", ()))
