"""The builtins: where each one is, loaded when it is first called.

A builtin is `f(sh, args) -> status`; the elements of `args` are str, for those in DECLARATION also `Assignment`.
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.shell.state import Shell

    Builtin = Callable[..., int]

_MODULES: dict[str, tuple[str, ...]] = {
    "alias": ("alias", "unalias"),
    "attributes": ("declare", "typeset", "local", "export", "readonly"),
    "cd": ("cd", "pwd"),
    "commands": ("builtin", "command", "enable", "hash", "type"),
    "complete": ("bind", "compgen", "complete", "compopt"),
    "control": ("break", "caller", "continue", "eval", "exec", "exit", "false", "let", "logout", "return", "shift",
                "source", "true"),
    "dirs": ("dirs", "popd", "pushd"),
    "echo": ("echo",),
    "getopts": ("getopts",),
    "help": ("help",),
    "history": ("fc", "history"),
    "jobs": ("bg", "disown", "fg", "jobs", "suspend", "wait"),
    "kill": ("kill",),
    "mapfile": ("mapfile", "readarray"),
    "printf": ("printf",),
    "read": ("read",),
    "resources": ("times", "ulimit", "umask"),
    "set": ("set", "shopt"),
    "test": ("test",),
    "trap": ("trap",),
    "unset": ("unset",),
}

TABLE: dict[str, str] = {
    name: f"mirage.shell.builtins.{module}:builtin_{name}" for module, names in _MODULES.items() for name in names
}
"""name -> "module:function"."""
TABLE.update({
    ":": "mirage.shell.builtins.control:builtin_true",
    ".": "mirage.shell.builtins.control:builtin_dot",
    "[": "mirage.shell.builtins.test:builtin_bracket",
})

SPECIAL = frozenset((
    ".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift", "source",
    "times", "trap", "unset",
))
"""POSIX special builtins."""

DECLARATION = frozenset(("declare", "typeset", "local", "export", "readonly"))

NAMES = tuple(sorted(TABLE))
"""All builtins in the order of `enable`."""

_loaded: dict[str, Builtin] = {}


def load(name: str) -> Builtin | None:
    """The function of a builtin, whether enabled or not; None when there is none of that name."""
    function = _loaded.get(name)
    if function is None:
        entry = TABLE.get(name)
        if entry is None:
            return None
        from importlib import import_module

        module, _, attribute = entry.partition(":")
        function = _loaded[name] = getattr(import_module(module), attribute)
    return function


def find(sh: Shell, name: str) -> Builtin | None:
    """The function of a builtin that `enable -n` did not switch off in this shell."""
    function = _loaded.get(name)
    if function is None:
        if name not in TABLE:
            return None
        function = load(name)
    if "disabled" in sh.extra and name in sh.extra["disabled"]:
        return None
    return function


def is_enabled(sh: Shell, name: str) -> bool:
    """Is `name` a builtin that is not switched off?"""
    return name in TABLE and name not in sh.extra.get("disabled", ())


class ArrayValue:
    """The expanded `(...)` of an assignment to a declaration builtin.

    items  (key, op, value): key is None for the next index, else the text of the subscript; op is `=` or `+=`
    """

    __slots__ = ("items",)

    def __init__(self, items: list[tuple[str | None, str, str]]) -> None:
        self.items = items


class Assignment:
    """`name[key]=value` as an argument of a declaration builtin, expanded. `key`: the text of the subscript or None;
    `append` for `+=`."""

    __slots__ = ("append", "key", "name", "value")

    def __init__(self, name: str, key: str | None, value: str | ArrayValue, append: bool = False) -> None:
        self.name = name
        self.key = key
        self.value = value
        self.append = append

    def text(self) -> str:
        """As one word, for messages and for `set -x`."""
        subscript = "" if self.key is None else f"[{self.key}]"
        if isinstance(self.value, str):
            value = self.value
        else:
            value = "(" + " ".join(f"[{key}]{op}{item}" if key is not None else item
                                   for key, op, item in self.value.items) + ")"
        return f"{self.name}{subscript}{'+' if self.append else ''}={value}"
