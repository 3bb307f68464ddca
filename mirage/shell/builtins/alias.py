"""alias and unalias."""
from __future__ import annotations

import re

from mirage.shell.builtins._common import USAGE_STATUS, encode, getopt, usage
from mirage.text import quoting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.shell.builtins import Assignment
    from mirage.shell.state import Shell

_INVALID_NAME = re.compile(r"[ \t\n'\"\\|&;()<>$`/]")


def _line(sh: Shell, name: str) -> str:
    dashes = "-- " if name.startswith("-") else ""
    return f"alias {dashes}{name}={quoting.single(sh.aliases[name]) if sh.aliases[name] else chr(39) * 2}\n"


def builtin_alias(sh: Shell, args: Sequence[str | Assignment]) -> int:
    parsed = getopt(sh, "alias", [arg if isinstance(arg, str) else arg.text() for arg in args], "p")
    if parsed is None:
        return USAGE_STATUS
    options, words = parsed
    if options or not words:
        if not sh.aliases:
            return 0
        sh.out(encode("".join(_line(sh, name) for name in sorted(sh.aliases))))
    status = 0
    for word in words:
        name, eq, value = word.partition("=")
        if eq and name:
            if _INVALID_NAME.search(name):
                sh.builtin_error("alias", f"`{name}': invalid alias name")
                status = 1
            else:
                sh.aliases[name] = value
        elif word in sh.aliases:
            sh.out(encode(_line(sh, word)))
        else:
            sh.builtin_error("alias", f"{word}: not found")
            status = 1
    return status


def builtin_unalias(sh: Shell, args: Sequence[str]) -> int:
    parsed = getopt(sh, "unalias", args, "a")
    if parsed is None:
        return USAGE_STATUS
    options, words = parsed
    if options:
        sh.aliases.clear()
        return 0
    if not words:
        return usage(sh, "unalias")
    status = 0
    for word in words:
        if sh.aliases.pop(word, None) is None:
            sh.builtin_error("unalias", f"{word}: not found")
            status = 1
    return status
