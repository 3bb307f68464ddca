"""set and shopt."""
from __future__ import annotations

from mirage.shell.builtins._common import USAGE_STATUS, encode, getopt, usage
from mirage.shell.state_options import LETTERS, NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mirage.shell.state import Shell


def builtin_set(sh: Shell, args: Sequence[str]) -> int:
    if not args:
        from mirage.shell.builtins._listing import all_variables

        sh.out(encode(all_variables(sh, not sh.options.posix)))
        return 0
    if not _check(sh, args):
        return usage(sh, "set")
    i, n = 0, len(args)
    while i < n:
        arg = args[i]
        if arg == "--":
            sh.positional = list(args[i + 1:])
            return 0
        if arg == "-":
            sh.options.xtrace = sh.options.verbose = False
            if i + 1 < n:
                sh.positional = list(args[i + 1:])
            return 0
        if arg[:1] not in ("-", "+"):
            sh.positional = list(args[i:])
            return 0
        on = arg[0] == "-"
        i += 1
        for letter in arg[1:]:
            if letter != "o":
                sh.options.set_letter(letter, on)
                continue
            if i >= n or args[i][:1] in ("-", "+"):
                _list_options(sh, on)
                continue
            if not sh.options.set(args[i], on):
                sh.builtin_error("set", f"{args[i]}: invalid option name")
                return USAGE_STATUS
            i += 1
    return 0


def _check(sh: Shell, args: Sequence[str]) -> bool:
    """Are all letters known? (bash looks before it changes anything.)"""
    i = 0
    while i < len(args):
        arg = args[i]
        if arg in ("--", "-") or arg[:1] not in ("-", "+"):
            return True
        for letter in arg[1:]:
            if letter == "o":
                if i + 1 < len(args) and args[i + 1][:1] not in ("-", "+"):
                    i += 1
            elif letter not in LETTERS:
                sh.builtin_error("set", f"{arg[0]}{letter}: invalid option")
                return False
        i += 1
    return True


def _list_options(sh: Shell, readable: bool) -> None:
    if readable:
        lines = [f"{name:<15}\t{_state(sh.options.get(name))}" for name in NAMES]
    else:
        lines = [f"set {'-' if sh.options.get(name) else '+'}o {name}" for name in NAMES]
    sh.out(encode("\n".join(lines) + "\n"))


def _state(on: bool | None) -> str:
    return "on" if on else "off"


class _SetNames:
    """`shopt -o`: the options of `set -o`."""

    __slots__ = ("sh",)
    kind = "invalid option name"

    def __init__(self, sh: Shell) -> None:
        self.sh = sh

    def names(self) -> Iterable[str]:
        return NAMES

    def get(self, name: str) -> bool | None:
        return self.sh.options.get(name)

    def set(self, name: str, on: bool) -> None:
        self.sh.options.set(name, on)

    def command(self, name: str) -> str:
        return f"set {'-' if self.get(name) else '+'}o {name}"


class _ShoptNames:
    """The options of shopt proper."""

    __slots__ = ("sh",)
    kind = "invalid shell option name"

    def __init__(self, sh: Shell) -> None:
        self.sh = sh

    def names(self) -> Iterable[str]:
        return self.sh.shopt

    def get(self, name: str) -> bool | None:
        return self.sh.shopt.get(name)

    def set(self, name: str, on: bool) -> None:
        if name not in ("restricted_shell", "login_shell"):
            self.sh.shopt[name] = on
        if name.startswith("compat") and on:
            for other in self.sh.shopt:
                if other.startswith("compat") and other != name:
                    self.sh.shopt[other] = False

    def command(self, name: str) -> str:
        return f"shopt {'-s' if self.get(name) else '-u'} {name}"


def builtin_shopt(sh: Shell, args: Sequence[str]) -> int:
    parsed = getopt(sh, "shopt", args, "psuoq")
    if parsed is None:
        return USAGE_STATUS
    letters = {letter for letter, _ in parsed[0]}
    if "s" in letters and "u" in letters:
        sh.builtin_error("shopt", "cannot set and unset shell options simultaneously")
        return 1
    table = _SetNames(sh) if "o" in letters else _ShoptNames(sh)
    words = parsed[1]
    if words and letters & {"s", "u"}:
        status = 0
        for name in words:
            if table.get(name) is None:
                sh.builtin_error("shopt", f"{name}: {table.kind}")
                status = 1
            else:
                table.set(name, "s" in letters)
        return status
    lines, status = [], 0
    for name in words or table.names():
        on = table.get(name)
        if on is None:
            sh.builtin_error("shopt", f"{name}: {table.kind}")
            status = 1
            continue
        if not words and letters & {"s", "u"} and on is not ("s" in letters):
            continue
        if words and not on:
            status = 1
        lines.append(table.command(name) if "p" in letters else f"{name:<15}\t{_state(on)}")
    if "q" not in letters and lines:
        sh.out(encode("\n".join(lines) + "\n"))
    return status
