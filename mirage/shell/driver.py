"""The LR loop: drives the lexer's tokens through bashlex's tables and our actions."""

from __future__ import annotations

from mirage.shell.actions import action_for
from mirage.shell.errors import ParseError
from mirage.shell.grammar import START, load
from mirage.text.pause import pause

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from mirage.shell.actions import Action
    from mirage.shell.grammar import RawTables

    class TokenSource(Protocol):
        """What the loop and the actions need of a lexer."""

        def next(self) -> tuple[str, Any]: ...
        def syntax_error(self, token: str, value: Any, expected: tuple[str, ...]) -> ParseError: ...


class Tables:
    """LALR tables with our actions.

    ``reduction[state]`` is the production number (negative) of a state in which nothing else can happen, so
    that no token has to be read; 0 where one is needed. As in yacc this matters: the lexer must not run ahead
    of the parser.
    """

    __slots__ = ("action", "goto", "productions", "reduction")

    def __init__(self, raw: RawTables) -> None:
        self.action, self.goto, rules = raw
        self.reduction = [0] * len(self.action)
        for state, row in enumerate(self.action):
            targets = set(row.values())
            if len(targets) == 1 and min(targets) < 0:
                self.reduction[state] = min(targets)
        self.productions: list[tuple[int, str, Action | None]] = [
            (len(rhs), lhs, None if number == 0 else action_for(lhs, rhs)) for number, (lhs, rhs) in enumerate(rules)
        ]


_PAUSE_EVERY = 1024  # tokens
_tables: Tables | None = None


def tables() -> Tables:
    """The tables, loaded at the first use (a race loads them twice, harmlessly)."""
    global _tables
    if _tables is None:
        _tables = Tables(load())
    return _tables


def parse_unit(lexer: TokenSource) -> Any:
    """Parse one complete command: a tuple of commands; None for a blank line, `END` at the end."""
    table = _tables or tables()
    action, goto, reduction, productions = table.action, table.goto, table.reduction, table.productions
    next_token = lexer.next
    states = [0]
    values: list[Any] = []
    state = 0
    token: str | None = None
    value: Any = None
    left = _PAUSE_EVERY
    while True:
        step = reduction[state]
        if not step:
            if token is None:
                token, value = next_token()
            try:
                step = action[state][token]
            except KeyError:
                raise lexer.syntax_error(token, value, tuple(sorted(action[state]))) from None
        if step > 0:
            states.append(step)
            values.append(value)
            state = step
            token = None
            left -= 1
            if not left:
                left = _PAUSE_EVERY
                pause()
            continue
        length, lhs, make = productions[-step]
        if make is None:  # a unit production: the value stays
            states.pop()
        else:
            if length:
                arguments = values[-length:]
                del values[-length:]
                del states[-length:]
            else:
                arguments = []
            result = make(lexer, arguments)
            if lhs == START:
                return result
            values.append(result)
        state = goto[states[-1]][lhs]
        states.append(state)
