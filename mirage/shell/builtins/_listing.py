"""Variables and functions as `declare -p`, `set` and `export -p` print them."""
from __future__ import annotations

from mirage.shell.state import ASSOC, EXPORT, READONLY, TRACE, Dynamic, Var
from mirage.shell.state_vars import letters
from mirage.text import quoting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mirage.shell.state import Shell
    from mirage.shell.state_vars import Var

_COMPUTED = frozenset((
    "RANDOM", "SRANDOM", "SECONDS", "LINENO", "EPOCHSECONDS", "EPOCHREALTIME", "BASHPID", "BASH_SUBSHELL",
    "BASH_COMMAND", "BASH_ARGV0", "HISTCMD",
))
"""Listed without a value, since bash computes it when the variable is used."""
_UNLISTED = frozenset(("COMP_WORDBREAKS", "PIPESTATUS"))


def _elements(values: dict[int, str] | dict[str, str], assoc: bool) -> str:
    """`([0]="x" [1]="y")`; with a blank before the `)` for an associative array that is not empty."""
    double = quoting.double
    if assoc:
        subscript = quoting.subscript
        body = " ".join(f"[{subscript(str(key))}]={double(value)}" for key, value in values.items())
        return f"({body} )" if body else "()"
    return "(" + " ".join(f"[{key}]={double(value)}" for key, value in values.items()) + ")"


def _value(sh: Shell, var: str | Var) -> str | None:
    """The text behind `name=` in `declare -p`; None for a variable without a value."""
    if isinstance(var, str):
        return quoting.double(var)
    value = var.read(sh)
    if value is None:
        return None
    if isinstance(value, dict):
        ordered = value if isinstance(var, Dynamic) else var.ordered()
        return _elements(ordered, bool(var.flags & ASSOC))
    return quoting.double(value)


def declaration(sh: Shell, name: str, keyword: str | None = None) -> str:
    """`declare -x name="value"`; `keyword` replaces `declare -x` (`export`)."""
    var = sh.entry(name)
    assert var is not None
    flags = "" if isinstance(var, str) else letters(var.flags)
    value = _value(sh, var)
    start = keyword or f"declare -{flags or '-'}"
    return f"{start} {name}" if value is None else f"{start} {name}={value}"


def all_declarations(sh: Shell, wanted: int = 0, keyword: str | None = None) -> list[str]:
    """The lines of `declare -p` for all variables, or those with one of the attributes `wanted`."""
    lines = []
    for name in sorted(sh.vars):
        var = sh.vars[name]
        if wanted and (not isinstance(var, Var) or not var.flags & wanted) or name in _UNLISTED:
            continue
        if name in _COMPUTED and isinstance(var, Dynamic):
            lines.append(f"{keyword or 'declare -' + (letters(var.flags) or '-')} {name}")
        else:
            lines.append(declaration(sh, name, keyword))
    return lines


def assignment(sh: Shell, name: str) -> str | None:
    """`name=value` as `set` lists it; None for a variable without a value."""
    var = sh.entry(name)
    assert var is not None
    if isinstance(var, str):
        return f"{name}={_plain(sh, var)}"
    value = var.read(sh)
    if value is None or (name in _COMPUTED and isinstance(var, Dynamic)):
        return None
    if isinstance(value, dict):
        return f"{name}={_value(sh, var)}"
    return f"{name}={_plain(sh, value)}"


def _plain(sh: Shell, value: str) -> str:
    """The value in `name=value`; POSIX has no `$'...'`."""
    if sh.options.posix and not quoting.is_printable(value):
        return quoting.single(value)
    return quoting.minimal(value)


def all_variables(sh: Shell, functions: bool = True) -> str:
    """The listing of `set` and of `declare` without arguments."""
    names = sorted(sh.vars.keys() - _UNLISTED)
    lines = [line for name in names if (line := assignment(sh, name)) is not None]
    if functions:
        lines += [function_definition(sh, name) for name in sorted(sh.functions)]
    return "".join(line + "\n" for line in lines)


def function_definition(sh: Shell, name: str) -> str:
    """The text of a function, as `declare -f` prints it."""
    from mirage.shell.printer import function_text

    return function_text(sh.functions[name], name)


def function_flags(sh: Shell, name: str) -> str:
    """`declare -fx name`: what `declare -F` prints."""
    flags = sh.function_flags.get(name, 0)
    letters = "".join(letter for flag, letter in ((READONLY, "r"), (TRACE, "t"), (EXPORT, "x")) if flags & flag)
    return f"declare -f{letters} {name}"


def joined(lines: Iterable[str]) -> bytes:
    return "".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape")
