"""The variables that bash computes: RANDOM, SECONDS, FUNCNAME, PIPESTATUS, ..."""

from __future__ import annotations

from mirage.shell.state_vars import ASSOC, INDEXED, INTEGER, READONLY, Dynamic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.shell.state import Shell
    from mirage.shell.state_vars import Value

BASH_VERSION = "5.2.37(1)-release"
BASH_VERSINFO = ("5", "2", "37", "1", "release", "x86_64-pc-linux-gnu")
COMP_WORDBREAKS = " \t\n\"'@><=;|&(:"


def _integer(text: str) -> int:
    """Leading decimal digits of an assigned text, as strtol reads them; 0 without."""
    text = text.strip(" \t\n")
    end = 1 if text[:1] in ("-", "+") else 0
    while end < len(text) and text[end] in "0123456789":
        end += 1
    digits = text[:end]
    return int(digits) if digits.strip("+-") else 0


class Random:
    """bash's generator (Park and Miller's minimal standard): ``RANDOM=42`` gives bash's sequence."""

    __slots__ = ("last", "seed")

    def __init__(self, seed: int) -> None:
        self.seed = seed & 0xFFFFFFFF
        self.last = 0

    def step(self) -> int:
        state = self.seed or 123459876
        high, low = divmod(state, 127773)
        state = 16807 * low - 2836 * high
        self.seed = state + 0x7FFFFFFF if state < 0 else state
        return (self.seed >> 16 ^ self.seed & 0xFFFF) & 0x7FFF

    def next(self) -> int:
        value = self.step()
        while value == self.last:
            value = self.step()
        self.last = value
        return value


def _random(sh: Shell) -> str:
    if sh.random is None:
        sh.random = Random(sh.proc.pid ^ int(sh.proc.now() * 1000000))
    return str(sh.random.next())


def _seed(sh: Shell, text: str) -> None:
    sh.random = Random(_integer(text))


def _srandom(sh: Shell) -> str:
    import os

    return str(int.from_bytes(os.urandom(4), "little"))


def _seconds(sh: Shell) -> str:
    return str(int(sh.proc.now() - sh.seconds_base))


def _set_seconds(sh: Shell, text: str) -> None:
    sh.seconds_base = float(int(sh.proc.now()) - _integer(text))


def _set_line(sh: Shell, text: str) -> None:
    sh.line = _integer(text)


def _level(sh: Shell) -> str:
    """The words of a simple command in a pipeline are expanded before that counts as a subshell."""
    return str(sh.subshell_level - sh.extra.get("plain_stages", ()).count(len(sh.call_stack)))


def _set_level(sh: Shell, text: str) -> None:
    sh.subshell_level = _integer(text)


def _history_number(sh: Shell) -> str:
    return str(len(sh.history) + 1) if sh.options.history else "0"


def _epoch_realtime(sh: Shell) -> str:
    return f"{sh.proc.now():.6f}"


def _funcname(sh: Shell) -> Value:
    if not sh.function_depth:
        return None
    return dict(enumerate(frame.function for frame in reversed(sh.call_stack)))


def _source(sh: Shell) -> Value:
    return dict(enumerate(frame.source for frame in reversed(sh.call_stack)))


def _line_numbers(sh: Shell) -> Value:
    return dict(enumerate(str(frame.line) for frame in reversed(sh.call_stack)))


def _dir_stack(sh: Shell) -> Value:
    return dict(enumerate([sh.proc.cwd, *sh.dir_stack]))


def _groups(sh: Shell) -> Value:
    return {0: "1000"}


def _pipe_status(sh: Shell) -> Value:
    return dict(enumerate(map(str, sh.pipestatus if sh.pipestatus is not None else (sh.status,))))


def _argc(sh: Shell) -> Value:
    frames = [frame for frame in reversed(sh.call_stack) if frame.args is not None]
    return dict(enumerate(str(len(frame.args or ())) for frame in frames))


def _argv(sh: Shell) -> Value:
    return dict(enumerate(arg for frame in reversed(sh.call_stack) for arg in reversed(frame.args or ())))


def _command(sh: Shell) -> str:
    text = sh.command if sh.trap_command is None else sh.trap_command
    return text if text.__class__ is str else text()  # type: ignore[operator]


def _set_name(sh: Shell, text: str) -> None:
    sh.name = text


def _last_argument(sh: Shell) -> str:
    return sh.last_arg


def _set_last_argument(sh: Shell, text: str) -> None:
    sh.last_arg = text


def _hashed(sh: Shell) -> Value:
    return dict(sh.hash_table)


def _aliases(sh: Shell) -> Value:
    return dict(sh.aliases)


def _shellopts(sh: Shell) -> str:
    return sh.options.shellopts()


def _bashopts(sh: Shell) -> str:
    return ":".join(name for name, on in sh.shopt.items() if on)


def _set_optind(sh: Shell, text: str) -> None:
    sh.optind = _integer(text)
    sh.getopts_offset = 0


TABLE: dict[str, Dynamic] = {
    "RANDOM": Dynamic(_random, _seed, INTEGER),
    "SRANDOM": Dynamic(_srandom, None, INTEGER),
    "SECONDS": Dynamic(_seconds, _set_seconds),
    "LINENO": Dynamic(lambda sh: str(sh.line), _set_line),
    "EPOCHSECONDS": Dynamic(lambda sh: str(int(sh.proc.now()))),
    "EPOCHREALTIME": Dynamic(_epoch_realtime),
    "BASHPID": Dynamic(lambda sh: str(sh.proc.pid), None, INTEGER),
    "BASH_SUBSHELL": Dynamic(_level, _set_level),
    "BASH_COMMAND": Dynamic(_command),
    "BASH_ARGV0": Dynamic(lambda sh: sh.name, _set_name),
    "HISTCMD": Dynamic(_history_number, None, INTEGER),
    "FUNCNAME": Dynamic(_funcname, None, INDEXED),
    "BASH_SOURCE": Dynamic(_source, None, INDEXED),
    "BASH_LINENO": Dynamic(_line_numbers, None, INDEXED),
    "BASH_ARGC": Dynamic(_argc, None, INDEXED),
    "BASH_ARGV": Dynamic(_argv, None, INDEXED),
    "DIRSTACK": Dynamic(_dir_stack, None, INDEXED),
    "GROUPS": Dynamic(_groups, None, INDEXED),
    "PIPESTATUS": Dynamic(_pipe_status, None, INDEXED),
    "BASH_CMDS": Dynamic(_hashed, None, ASSOC),
    "BASH_ALIASES": Dynamic(_aliases, None, ASSOC),
    "SHELLOPTS": Dynamic(_shellopts, None, READONLY),
    "BASHOPTS": Dynamic(_bashopts, None, READONLY),
    "OPTIND": Dynamic(lambda sh: str(sh.optind), _set_optind, INTEGER),
    "_": Dynamic(_last_argument, _set_last_argument),
}
"""Shared by all shells; a shell that gives one of them an attribute gets a copy."""

_LOADABLES = "/usr/local/lib/bash:/usr/lib/bash:/opt/local/lib/bash:/usr/pkg/lib/bash:/opt/pkg/lib/bash:."
CONSTANTS: dict[str, str] = {
    "BASH": "/usr/bin/bash",
    "BASH_LOADABLES_PATH": _LOADABLES,
    "BASH_VERSION": BASH_VERSION,
    "COMP_WORDBREAKS": COMP_WORDBREAKS,
    "HOSTTYPE": "x86_64",
    "IFS": " \t\n",
    "MACHTYPE": "x86_64-pc-linux-gnu",
    "OPTERR": "1",
    "OSTYPE": "linux-gnu",
    "PS4": "+ ",
}
"""Variables that every shell starts with (those of the environment win, except BASH, BASH_VERSION and IFS)."""
