"""What grep and rg would ask of a mount's search, from their words alone."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage.process.signals import Exit
from mirage.text.regex import RegexError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.vfs.search import Query

GREPS = ("grep", "egrep", "fgrep")


class _Nowhere:
    """Takes what a tool would print, and finds no files."""

    def write(self, data: bytes) -> int:
        return len(data)

    def is_dir(self, path: str) -> bool:
        return False


class _Words:
    """As much of a process as the parsers of options need."""

    def __init__(self, words: Sequence[str]) -> None:
        self.argv = list(words)
        self.env: dict[str, str] = {"LANG": "C.UTF-8"}
        self.fds: dict[int, Any] = {}
        self.stdout = _Nowhere()
        self.fs = _Nowhere()

    @property
    def name(self) -> str:
        return self.argv[0]

    def message(self, text: str) -> None:
        """Nobody reads it."""

    def write_error(self, text: str) -> None:
        """Nobody reads it."""


def queries(name: str, words: Sequence[str]) -> list[Query] | None:
    """None where everything would be read, or where that cannot be told."""
    proc: Any = _Words([name, *words[1:]])
    try:
        return _grep(proc) if name in GREPS else _rg(proc) if name == "rg" else None
    except (Exit, RegexError, AttributeError, OSError):      # patterns that are in a file: only running reads it
        return None


def _grep(proc: Any) -> list[Query] | None:
    from mirage.commands._getopt import parse
    from mirage.commands.grep import SPEC
    from mirage.commands.grep.files import asked
    from mirage.commands.grep.options import read_options
    given, operands = parse(proc, SPEC)
    default = {"egrep": "E", "fgrep": "F"}.get(proc.name, "")
    return asked(read_options(proc, given, operands, default))


def _rg(proc: Any) -> list[Query] | None:
    from mirage.commands.rg import Settings, apply_option, asked
    from mirage.commands.rg.options import parse
    given, operands = parse(proc)
    settings = Settings()
    for option, value in given:
        apply_option(proc, settings, option, value)
    if settings.files:
        return None
    if settings.patterns is None:
        settings.patterns = operands[:1]
    return asked(settings)
