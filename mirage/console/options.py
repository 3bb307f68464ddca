"""Options of the `mirage` program, parsed here because argparse costs more than running `echo hi` does."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FLAG, VALUE, LIST = 0, 1, 2

TERMINAL_OPTIONS = {
    "-f": ("config", VALUE), "--config": ("config", VALUE), "--mount": ("mount", LIST),
    "--policy": ("policy", LIST), "--cwd": ("cwd", VALUE), "--env": ("env", LIST),
    "--index": ("index", VALUE), "--no-embeddings": ("no-embeddings", FLAG),
    "--timeout": ("timeout", VALUE), "--json": ("json", FLAG), "--usage": ("usage", FLAG),
    "-h": ("help", FLAG), "--help": ("help", FLAG), "--version": ("version", FLAG),
}


class UsageError(Exception):
    """A bad command line; the text says what and names the help."""


class Parsed:
    """Options by name (a list for those that repeat), the operands in order and where they stand in the arguments."""

    __slots__ = ("operands", "places", "values")

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.operands: list[str] = []
        self.places: list[int] = []

    def get(self, name: str, default: Any = None) -> Any:
        return self.values.get(name, default)


def parse(args: Sequence[str], table: dict[str, tuple[str, int]] = TERMINAL_OPTIONS) -> Parsed:
    """Options may stand before and after operands; `--` ends them. Raises UsageError."""
    parsed, i = Parsed(), 0
    while i < len(args):
        arg = args[i]
        i += 1
        if arg == "--":
            parsed.operands.extend(args[i:])
            parsed.places.extend(range(i, len(args)))
            break
        if not arg.startswith("-") or arg == "-":
            parsed.operands.append(arg)
            parsed.places.append(i - 1)
            continue
        name, equals, value = arg.partition("=")
        if not arg.startswith("--") and len(arg) > 2 and arg[:2] in table:
            name, equals, value = arg[:2], "=", arg[2:]      # -fFILE
        if name not in table:
            raise UsageError(f"unknown option {name}")
        key, kind = table[name]
        if kind == FLAG:
            if equals:
                raise UsageError(f"option {name} takes no value")
            parsed.values[key] = True
            continue
        if not equals:
            if i >= len(args):
                raise UsageError(f"option {name} needs a value")
            value = args[i]
            i += 1
        if kind == LIST:
            parsed.values.setdefault(key, []).append(value)
        else:
            parsed.values[key] = value
    return parsed
