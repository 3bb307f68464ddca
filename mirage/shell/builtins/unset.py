"""unset."""
from __future__ import annotations

from mirage.shell.builtins._common import USAGE_STATUS, getopt, is_reference, split_reference
from mirage.shell.control import ShellError
from mirage.shell.state import NAMEREF, READONLY, Var

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.shell.state import Shell


def builtin_unset(sh: Shell, args: Sequence[str]) -> int:
    parsed = getopt(sh, "unset", args, "fnv")
    if parsed is None:
        return USAGE_STATUS
    letters = {letter for letter, _ in parsed[0]}
    if "f" in letters and "v" in letters:
        sh.builtin_error("unset", "cannot simultaneously unset a function and a variable")
        return 1
    status = 0
    for name in parsed[1]:
        try:
            if "f" in letters:
                _unset_function(sh, name)
                continue
            if "v" in letters and not is_reference(name):
                sh.builtin_error("unset", f"`{name}': not a valid identifier")
                status = 1
                continue
            found = _unset_variable(sh, name, "n" in letters)
            if not found and not letters:
                _unset_function(sh, name)
        except ShellError as e:
            if e.fatal:
                raise
            e.report(sh, "unset")
            status = 1
    return status


def _unset_variable(sh: Shell, name: str, nameref: bool) -> bool:
    """False when there is no such variable."""
    reference = split_reference(name)
    if reference is None:
        return False
    name, subscript = reference
    if nameref and not _is_nameref(sh, name):
        return False                                         # -n is for name references
    if subscript is None:
        return sh.unset(name, nameref)
    if name not in sh.vars:
        return False
    if subscript in ("@", "*") and not (sh.is_assoc(name) and subscript in sh.array(name)):
        if not sh.is_array(name):
            raise ShellError(f"{name}: not an array variable")
        if sh.flags(name) & READONLY:
            raise ShellError(f"{name}: cannot unset: readonly variable")
        sh.set_array(name, {}, sh.is_assoc(name))
        return True
    sh.unset_element(name, sh.subscript_key(name, subscript))
    return True


def _is_nameref(sh: Shell, name: str) -> bool:
    var = sh.vars.get(name)
    return isinstance(var, Var) and bool(var.flags & NAMEREF)


def _unset_function(sh: Shell, name: str) -> None:
    if name not in sh.functions:
        return
    if sh.function_flags.get(name, 0) & READONLY:
        raise ShellError(f"{name}: cannot unset: readonly function")
    del sh.functions[name]
    sh.function_flags.pop(name, None)
    sh.exports_changed()
