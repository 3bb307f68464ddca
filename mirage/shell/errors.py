"""What can be wrong with a script, in bash's words."""

from __future__ import annotations


class ParseError(Exception):
    """A syntax error.

    msg         bash's text without the ``bash: line N: `` prefix: ``syntax error near unexpected token `fi'``
    line        the line bash names
    source      the offending source line that bash prints as a second message, or None when it prints none
    near        the token of a second message ``syntax error near `token'`` (of ``[[``), or None
    detail      the second message in full where it is not the source line, else None
    pos         offset into the text
    incomplete  True when more input could make the script valid: an interactive terminal asks for it
    expected    the grammar's token names that could have followed
    nested      True inside ``$(...)`` and the like: more than the text it stands in is given up
    """

    def __init__(
        self,
        msg: str,
        pos: int = 0,
        line: int = 1,
        incomplete: bool = False,
        expected: tuple[str, ...] = (),
        source: str | None = None,
    ) -> None:
        super().__init__(f"line {line}: {msg}")
        self.msg = msg
        self.pos = pos
        self.line = line
        self.incomplete = incomplete
        self.expected = expected
        self.source = source
        self.detail: str | None = None
        self.near: str | None = None
        self.nested = False

    def copy(self) -> ParseError:
        """The same error, to be raised again: a raised exception collects a traceback."""
        other = ParseError(self.msg, self.pos, self.line, self.incomplete, self.expected, self.source)
        other.detail = self.detail
        other.near = self.near
        other.nested = self.nested
        return other

    def lines(self, prefix: str = "bash") -> tuple[str, ...]:
        """The messages as bash prints them, one per entry, without newlines."""
        first = f"{prefix}: line {self.line}: {self.msg}"
        second = self.detail
        if second is None:
            if self.source is None:
                return (first,)
            second = f"`{self.source}'"
        seconds = (second,) if self.near is None else (f"syntax error near `{self.near}'", second)
        return (first, *(f"{prefix}: line {self.line}: {text}" for text in seconds))


class ParseWarning:
    """A warning of the parser: ``bash: line {line}: warning: {msg}``."""

    __slots__ = ("line", "msg")

    def __init__(self, msg: str, line: int) -> None:
        self.msg = msg
        self.line = line

    def __repr__(self) -> str:
        return f"ParseWarning({self.msg!r}, {self.line})"

    def text(self, prefix: str = "bash") -> str:
        """The message as bash prints it."""
        return f"{prefix}: line {self.line}: warning: {self.msg}"


class ArithSyntaxError(Exception):
    """A malformed arithmetic expression.

    msg    bash's words: ``syntax error: operand expected``
    token  the rest of the text where it went wrong
    ``str()`` is what bash prints after the expression: ``msg (error token is "token")``.
    """

    def __init__(self, msg: str, token: str = "") -> None:
        super().__init__(f'{msg} (error token is "{token}")')
        self.msg = msg
        self.token = token
