"""What the builtins share: option parsing and messages in bash's words, names, numbers."""
from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.shell.state import Shell

USAGE_STATUS = 2

_NUMBER = re.compile(r"[ \t\n\v\f\r]*[-+]?[0-9]+[ \t]*")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def usage(sh: Shell, name: str) -> int:
    """Print `NAME: usage: ...`; the status of a usage error."""
    from mirage.shell.builtins._synopsis import SYNOPSES
    sh.proc.write_error(f"{name}: usage: {SYNOPSES[name]}\n")
    return USAGE_STATUS


def getopt(sh: Shell, name: str, args: Sequence[str], spec: str,
           plus: bool = False) -> tuple[list[tuple[str, str]], list[str]] | None:
    """bash's internal_getopt: options only before the first operand, `--` ends them.

    `spec` is as for getopt(3). An option is reported as (letter, argument), and with `plus` those of `+x` as
    ("+x", ""). None after an error, which is printed with the usage: the builtin then returns USAGE_STATUS.
    """
    options: list[tuple[str, str]] = []
    i, n = 0, len(args)
    while i < n:
        arg = args[i]
        if len(arg) < 2 or (arg[0] != "-" and not (plus and arg[0] == "+")):
            break
        i += 1
        if arg == "--":
            break
        sign = arg[0]
        j = 1
        while j < len(arg):
            letter = arg[j]
            j += 1
            at = spec.find(letter) if letter != ":" else -1
            if at < 0:
                sh.builtin_error(name, f"{sign}{letter}: invalid option")
                usage(sh, name)
                return None
            value = ""
            if spec.startswith(":", at + 1):
                if j < len(arg):
                    value = arg[j:]
                elif i < n:
                    value = args[i]
                    i += 1
                else:
                    sh.builtin_error(name, f"{sign}{letter}: option requires an argument")
                    usage(sh, name)
                    return None
                j = len(arg)
            options.append((letter if sign == "-" else "+" + letter, value))
    return options, list(args[i:])


def no_options(sh: Shell, name: str, args: Sequence[str]) -> list[str] | None:
    """The operands of a builtin without options; None after an error."""
    parsed = getopt(sh, name, args, "")
    return None if parsed is None else parsed[1]


def number(text: str) -> int | None:
    """A decimal integer of 64 bits as bash reads arguments (blanks around it are fine); None for anything else."""
    if len(text) > 100 or _NUMBER.fullmatch(text) is None:
        return None
    value = int(text)
    return value if -1 << 63 <= value < 1 << 63 else None


def split_reference(text: str) -> tuple[str, str | None] | None:
    """`name` or `name[subscript]` as (name, subscript or None); None when it is neither."""
    if text.isascii() and text.isidentifier():
        return text, None
    name, bracket, rest = text.partition("[")
    if not bracket or not (name.isascii() and name.isidentifier()) or len(rest) < 2 or rest[-1] != "]":
        return None
    depth = 1
    for i, char in enumerate(rest):
        if char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
            if not depth and i < len(rest) - 1:
                return None
    return name, rest[:-1]


def is_reference(text: str) -> bool:
    return split_reference(text) is not None


def os_error(sh: Shell, name: str, what: str, error: OSError) -> int:
    """Print `bash: NAME: what: No such file or directory` and the policy's line; status 1."""
    from mirage.process.process import refusal_note
    from mirage.text.quoting import shown

    sh.builtin_error(name, f"{shown(what) if name in ('cd', 'pushd', 'popd') else what}: {error.strerror}")
    if note := refusal_note(error):
        sh.proc.write_error(note)
    return 1
