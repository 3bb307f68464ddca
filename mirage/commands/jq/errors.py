"""How evaluating a jq program ends early."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class JqError(Exception):
    """An error value that `try` may catch."""

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.value = value


class BreakLabel(Exception):
    """`break $label`: ends the `label` that made the mark `token`."""

    def __init__(self, token: object) -> None:
        super().__init__()
        self.token = token


class Halt(Exception):
    """`halt` and `halt_error`: the program ends with `status`; `text` goes to standard error as it is."""

    def __init__(self, status: int, text: str = "") -> None:
        super().__init__(status)
        self.status = status
        self.text = text


class CompileError(Exception):
    """The program is not valid: `message` is jq's, `line` counts from 1."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class ModuleError(CompileError):
    """A module cannot be found or read; the message carries no place in the program."""


class ParseError(Exception):
    """A text is not JSON; the message is jq's and names line and column."""
