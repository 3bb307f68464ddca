"""getopts."""
from __future__ import annotations

from mirage.shell.builtins._common import USAGE_STATUS, getopt, number, usage
from mirage.shell.control import ShellError
from mirage.shell.state import Dynamic, is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.shell.state import Shell


def builtin_getopts(sh: Shell, args: Sequence[str]) -> int:
    parsed = getopt(sh, "getopts", args, "")
    if parsed is None:
        return USAGE_STATUS
    words = parsed[1]
    if len(words) < 2:
        return usage(sh, "getopts")
    spec, name, *given = words
    values = given if len(words) > 2 else sh.positional
    silent = spec[:1] == ":"
    report = not silent and (sh.get("OPTERR") or "") != "0"
    if silent:
        spec = spec[1:]
    letter, argument, index, offset = _next(spec, values, *_state(sh))
    _set_state(sh, index, offset)
    if letter is None:
        _store(sh, name, "?", None)
        return 1
    found = spec.find(letter) if letter != ":" else -1
    if found < 0:
        if report:
            sh.proc.write_error(f"{sh.name}: illegal option -- {letter}\n")
        return _store(sh, name, "?", letter if silent else None)
    if spec.startswith(":", found + 1) and argument is None:
        if report:
            sh.proc.write_error(f"{sh.name}: option requires an argument -- {letter}\n")
        return _store(sh, name, ":" if silent else "?", letter if silent else None)
    return _store(sh, name, letter, argument)


def _state(sh: Shell) -> tuple[int, int]:
    """OPTIND and the offset in that word. A local OPTIND has a state of its own."""
    if isinstance(sh.vars.get("OPTIND"), Dynamic):
        return sh.optind, sh.getopts_offset
    index = number(sh.get("OPTIND") or "") or 1
    known, offset = sh.extra.get("getopts", (0, 0))
    return index, offset if known == index else 0


def _set_state(sh: Shell, index: int, offset: int) -> None:
    if isinstance(sh.vars.get("OPTIND"), Dynamic):
        sh.optind, sh.getopts_offset = index, offset
    else:
        sh.set("OPTIND", str(index))
        sh.extra["getopts"] = index, offset


def _next(spec: str, values: Sequence[str], index: int, offset: int) -> tuple[str | None, str | None, int, int]:
    """(letter or None at the end, its argument, OPTIND, offset in that word) after one step."""
    index = min(max(index, 1), len(values) + 1)
    word = values[index - 1] if index <= len(values) else None
    if offset and (word is None or offset >= len(word)):
        offset = 0
    if not offset:
        if word is None or len(word) < 2 or word[0] != "-":
            return None, None, index, 0
        if word == "--":
            return None, None, index + 1, 0
        offset = 1
    assert word is not None
    letter = word[offset]
    offset += 1
    found = spec.find(letter) if letter != ":" else -1
    argument = None
    if found >= 0 and spec.startswith(":", found + 1):
        if offset < len(word):
            argument = word[offset:]
            return letter, argument, index + 1, 0
        if index < len(values):
            return letter, values[index], index + 2, 0
        return letter, None, index + 1, 0
    if offset >= len(word):
        return letter, None, index + 1, 0
    return letter, None, index, offset


def _store(sh: Shell, name: str, letter: str, argument: str | None) -> int:
    if argument is None:
        sh.unset("OPTARG")
    else:
        sh.set("OPTARG", argument)
    if not is_name(name):
        sh.builtin_error("getopts", f"`{name}': not a valid identifier")
        return 1
    try:
        sh.set(name, letter)
    except ShellError as e:
        e.report(sh)
        return USAGE_STATUS
    return 0
