"""umask, ulimit, times."""
from __future__ import annotations

import re

from mirage.shell.builtins._common import USAGE_STATUS, encode, getopt, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.shell.state import Shell

# ------------------------------------------------------------------------------------------------------ umask

_WHO = re.compile("[ugoa]*")
_BITS = {"r": 4, "w": 2, "x": 1, "X": 1}
_SHIFTS = {"u": 6, "g": 3, "o": 0}


def builtin_umask(sh: Shell, args: Sequence[str]) -> int:
    parsed = getopt(sh, "umask", args, "pS")
    if parsed is None:
        return USAGE_STATUS
    options, words = parsed
    letters = {letter for letter, _ in options}
    if words:
        text = words[0]
        if text[:1].isdecimal():
            if not re.fullmatch("[0-7]+", text) or len(text) > 20 or int(text, 8) > 0o7777:
                sh.builtin_error("umask", f"{text}: octal number out of range")
                return 1
            sh.proc.umask = int(text, 8) & 0o777
        else:
            mask = _symbolic(sh, text)
            if mask is None:
                return 1
            sh.proc.umask = mask
    if words and "S" not in letters:
        return 0
    text = _text(sh.proc.umask) if "S" in letters else f"{sh.proc.umask:04o}"
    if "p" in letters and not words:
        text = f"umask {'-S ' if 'S' in letters else ''}{text}"
    sh.out(encode(text + "\n"))
    return 0


def _text(mask: int) -> str:
    return ",".join(f"{who}=" + "".join(letter for letter, bit in (("r", 4), ("w", 2), ("x", 1))
                                        if not mask >> shift & bit) for who, shift in _SHIFTS.items())


def _symbolic(sh: Shell, text: str) -> int | None:
    """The mask after a symbolic mode; None after an error message."""
    allowed = ~sh.proc.umask & 0o777
    for clause in text.split(","):
        match = _WHO.match(clause)
        who = match[0] if match else ""
        operator = clause[len(who):len(who) + 1]
        if operator not in ("+", "-", "="):
            sh.builtin_error("umask", f"`{operator}': invalid symbolic mode operator")
            return None
        bits = 0
        for letter in clause[len(who) + 1:]:
            if letter not in _BITS:
                sh.builtin_error("umask", f"`{letter}': invalid symbolic mode character")
                return None
            bits |= _BITS[letter]
        for name in "ugo" if not who or "a" in who else who:
            shift = _SHIFTS[name]
            if operator == "+":
                allowed |= bits << shift
            elif operator == "-":
                allowed &= ~(bits << shift)
            else:
                allowed = allowed & ~(7 << shift) | bits << shift
    return ~allowed & 0o777


# ----------------------------------------------------------------------------------------------------- ulimit

_UNLIMITED = None
_TABLE: dict[str, tuple[str, str, int | None]] = {
    "R": ("real-time non-blocking time", "microseconds", _UNLIMITED),
    "c": ("core file size", "blocks", 0),
    "d": ("data seg size", "kbytes", _UNLIMITED),
    "e": ("scheduling priority", "", 0),
    "f": ("file size", "blocks", _UNLIMITED),
    "i": ("pending signals", "", 63_448),
    "l": ("max locked memory", "kbytes", 8192),
    "m": ("max memory size", "kbytes", _UNLIMITED),
    "n": ("open files", "", 1024),
    "p": ("pipe size", "512 bytes", 8),
    "q": ("POSIX message queues", "bytes", 819_200),
    "r": ("real-time priority", "", 0),
    "s": ("stack size", "kbytes", 8192),
    "t": ("cpu time", "seconds", _UNLIMITED),
    "u": ("max user processes", "", 63_448),
    "v": ("virtual memory", "kbytes", _UNLIMITED),
    "x": ("file locks", "", _UNLIMITED),
}
_HARD = {"n": 1_048_576, "s": _UNLIMITED, "c": _UNLIMITED}


def builtin_ulimit(sh: Shell, args: Sequence[str]) -> int:
    """A table of this shell's own: nothing enforces it (see the Terminal's limits)."""
    parsed = getopt(sh, "ulimit", args, "SHa" + "".join(_TABLE))
    if parsed is None:
        return USAGE_STATUS
    options, words = parsed
    kinds = {letter for letter, _ in options if letter in "SH"}
    wanted = [letter for letter, _ in options if letter not in "SHa"]
    if any(letter == "a" for letter, _ in options):
        sh.out(encode("".join(_line(sh, letter, kinds) for letter in _TABLE)))
        return 0
    wanted = wanted or ["f"]
    if not words:
        for letter in wanted:
            sh.out(encode(_line(sh, letter, kinds) if len(wanted) > 1 else _show(sh, letter, kinds) + "\n"))
        return 0
    for letter in wanted:
        if not _set(sh, letter, words[0], kinds):
            return 1
    return 0


def _limits(sh: Shell, letter: str) -> tuple[int | None, int | None]:
    """(soft, hard)."""
    changed: dict[str, tuple[int | None, int | None]] = sh.extra.get("ulimit", {})
    default = _TABLE[letter][2]
    return changed.get(letter) or (default, _HARD.get(letter, default))


def _show(sh: Shell, letter: str, kinds: set[str]) -> str:
    soft, hard = _limits(sh, letter)
    value = hard if kinds == {"H"} else soft
    return "unlimited" if value is None else str(value)


def _line(sh: Shell, letter: str, kinds: set[str]) -> str:
    name, unit, _ = _TABLE[letter]
    label = f"({unit}, -{letter})" if unit else f"(-{letter})"
    return f"{name:<20}{label:>20} {_show(sh, letter, kinds)}\n"


def _set(sh: Shell, letter: str, text: str, kinds: set[str]) -> bool:
    soft, hard = _limits(sh, letter)
    value: int | None
    if text == "unlimited":
        value = None
    elif text in ("hard", "soft"):
        value = hard if text == "hard" else soft
    else:
        value = number(text)
        if value is None or value < 0:
            sh.builtin_error("ulimit", f"{text}: invalid number")
            return False
    name = _TABLE[letter][0]
    if letter == "p":
        sh.builtin_error("ulimit", f"{name}: cannot modify limit: Invalid argument")
        return False
    both = kinds in (set(), {"S", "H"})
    if hard is not None and (value is None or value > hard):
        sh.builtin_error("ulimit", f"{name}: cannot modify limit: Operation not permitted")
        return False
    if kinds == {"H"} and value is not None and (soft is None or soft > value):
        sh.builtin_error("ulimit", f"{name}: cannot modify limit: Invalid argument")
        return False
    pair = (value, value) if both else (soft, value) if kinds == {"H"} else (value, hard)
    sh.extra["ulimit"] = {**sh.extra.get("ulimit", {}), letter: pair}
    return True


# ------------------------------------------------------------------------------------------------------ times


def builtin_times(sh: Shell, args: Sequence[str]) -> int:
    """User and system time of the shell and of its children: here one thread does the work of all."""
    parsed = getopt(sh, "times", args, "")
    if parsed is None:
        return USAGE_STATUS
    import time

    seconds = time.thread_time()
    used = f"{int(seconds // 60)}m{seconds % 60:.3f}s"
    sh.out(encode(f"{used} 0m0.000s\n0m0.000s 0m0.000s\n"))
    return 0
