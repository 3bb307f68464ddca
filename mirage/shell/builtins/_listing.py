"""Variables and functions as `declare -p`, `set` and `export -p` print them."""
from __future__ import annotations

from mirage.shell.state import ARRAY, EXPORT, READONLY, TRACE, Dynamic
from mirage.shell.state_vars import letters
from mirage.text import quoting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mirage.shell.state import Shell
    from mirage.shell.state_vars import Var

_HIDDEN_UNTIL_USED = frozenset((
    "RANDOM", "SRANDOM", "SECONDS", "LINENO", "EPOCHSECONDS", "EPOCHREALTIME", "BASHPID", "BASH_SUBSHELL",
    "BASH_COMMAND", "BASH_ARGV0", "HISTCMD", "COMP_WORDBREAKS", "PIPESTATUS",
))


def array_text(sh: Shell, name: str) -> str:
    """`([0]="x" [1]="y")`; with a blank before the `)` for an associative array that is not empty."""
    return _elements(sh, sh.array(name), sh.is_assoc(name))


def _elements(sh: Shell, values: dict[int, str] | dict[str, str], assoc: bool) -> str:
    double = quoting.double
    if assoc:
        subscript = quoting.subscript
        body = " ".join(f"[{subscript(str(key))}]={double(value)}" for key, value in values.items())
        return f"({body} )" if body else "()"
    return "(" + " ".join(f"[{key}]={double(value)}" for key, value in values.items()) + ")"


def _value(sh: Shell, name: str, var: str | Var) -> str | None:
    """The text behind `name=` in `declare -p`; None for a variable without a value."""
    if isinstance(var, str):
        return quoting.double(var)
    value = var.read(sh)
    if value is None:
        return None
    if isinstance(value, dict):
        ordered = value if isinstance(var, Dynamic) else var.ordered()
        return _elements(sh, ordered, bool(var.flags & ARRAY and sh.is_assoc(name)))
    return quoting.double(value)


def declaration(sh: Shell, name: str, keyword: str | None = None) -> str:
    """`declare -x name="value"`; `keyword` replaces `declare -x` (`export`)."""
    var = sh.vars[name]
    flags = "" if isinstance(var, str) else letters(var.flags)
    value = _value(sh, name, var)
    start = keyword or f"declare -{flags or '-'}"
    return f"{start} {name}" if value is None else f"{start} {name}={value}"


def assignment(sh: Shell, name: str) -> str | None:
    """`name=value` as `set` lists it; None for a variable without a value."""
    var = sh.vars[name]
    if isinstance(var, str):
        return f"{name}={quoting.minimal(var)}"
    value = var.read(sh)
    if value is None or (name in _HIDDEN_UNTIL_USED and isinstance(var, Dynamic)):
        return None
    if isinstance(value, dict):
        return f"{name}={_value(sh, name, var)}"
    return f"{name}={quoting.minimal(value)}"


def all_variables(sh: Shell, functions: bool = True) -> str:
    """The listing of `set` and of `declare` without arguments."""
    lines = [line for name in sorted(sh.vars) if (line := assignment(sh, name)) is not None]
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
