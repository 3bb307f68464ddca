"""trap."""
from __future__ import annotations

from mirage.process.signals import NAMES
from mirage.shell.builtins import _signals as signals
from mirage.shell.builtins._common import USAGE_STATUS, encode, getopt, usage
from mirage.text import quoting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.shell.state import Shell

_PSEUDO_NAMES = {value: name for name, value in signals.PSEUDO.items()}


def _key(value: int) -> str:
    """The key of `sh.traps`."""
    return _PSEUDO_NAMES.get(value) or NAMES[value]


def _line(value: int, text: str) -> str:
    name = _PSEUDO_NAMES.get(value) or "SIG" + signals.listed_name(value)
    return f"trap -- {quoting.single(text) if text else chr(39) * 2} {name}\n"


def builtin_trap(sh: Shell, args: Sequence[str]) -> int:
    parsed = getopt(sh, "trap", args, "lp")
    if parsed is None:
        return USAGE_STATUS
    options, words = parsed
    letters = {letter for letter, _ in options}
    if "l" in letters:
        sh.out(encode(signals.listing()))
        return 0
    if not words or "p" in letters:
        return _show(sh, words)
    if len(words) == 1 and (signals.find(words[0], True) is None or sh.options.posix and not _is_number(words[0])):
        return usage(sh, "trap")
    text: str | None = words[0]
    if text == "-":
        text, names = None, words[1:]
    elif len(words) == 1 or _is_number(words[0]):
        text, names = None, words
    else:
        names = words[1:]
    from mirage.shell.exec.traps import set_trap

    status = 0
    for name in names:
        value = signals.find(name, True)
        if value is None:
            sh.builtin_error("trap", f"{name}: invalid signal specification")
            status = 1
        else:
            set_trap(sh, _key(value), text)
    return status


def _is_number(text: str) -> bool:
    """`trap 2 3` resets both: a first argument that is an unsigned signal number."""
    return text.isdecimal() and text.isascii() and signals.find(text) is not None


def _show(sh: Shell, names: Sequence[str]) -> int:
    shown: dict[str, str] = sh.extra.get("parent_traps") or sh.traps
    status = 0
    out = []
    if not names:
        for value in (0, *sorted(NAMES), 65, 66, 67):
            text = shown.get(_key(value))
            if text is not None:
                out.append(_line(value, text))
    for name in names:
        found = signals.find(name, True)
        if found is None:
            sh.builtin_error("trap", f"{name}: invalid signal specification")
            status = 1
            continue
        text = shown.get(_key(found))
        if text is not None:
            out.append(_line(found, text))
    sh.out(encode("".join(out)))
    return status
