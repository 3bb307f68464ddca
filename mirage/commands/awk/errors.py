"""How an awk program ends early."""
from __future__ import annotations


class SyntaxProblem(Exception):
    """The program cannot be parsed: `text` is the whole message, several lines perhaps; exit status 1."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Fatal(Exception):
    """gawk's `fatal:` errors while the program runs; exit status 2 (1 for `error:`)."""

    def __init__(self, text: str, status: int = 2) -> None:
        super().__init__(text)
        self.text = text
        self.status = status


class NextRecord(Exception):
    """`next` inside a function."""


class NextFile(Exception):
    """`nextfile`"""


class ExitProgram(Exception):
    """`exit`"""
