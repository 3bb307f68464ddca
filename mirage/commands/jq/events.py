"""jq's streaming parser, for a text with an error: the events before it, and its own messages."""
from __future__ import annotations

from mirage.commands.jq.decode import MAX_DEPTH, Machine
from mirage.commands.jq.errors import ParseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class EventMachine(Machine):
    """Collects events; `stack` is the path: a number for an array, a key for an object (None before the first key,
    True before another one)."""

    def __init__(self, text: str, at: int) -> None:
        super().__init__(text, at)
        self.events: list[Any] = []
        self.last = ""                                       # value, a token, or "" at the top

    def put(self, value: Any) -> None:
        if self.ready or self.last == "value":
            raise ParseError("Expected separator between values")
        self.last = "value" if self.stack else ""
        self.next, self.ready = value, True

    def emit(self, closing: bool = False) -> None:
        self.events.append([list(self.stack), self.next])
        if closing:
            self.events.append([list(self.stack)])
        self.ready = False

    def structure(self, token: str) -> None:
        if token in "[{":
            self.open(token)
        elif token == ":":
            self.colon()
        elif token == ",":
            self.comma()
        else:
            self.close(token)

    def open(self, token: str) -> None:
        if self.ready or self.last == "value":
            raise ParseError("Expected a separator between values")
        if self.last == "{":
            raise ParseError(f"Expected string key after '{{', not '{token}'")
        if self.last == "," and type(self.stack[-1]) is not int:
            raise ParseError(f"Expected string key after ',' in object, not '{token}'")
        if len(self.stack) >= MAX_DEPTH:
            raise ParseError("Exceeds depth limit for parsing")
        self.stack.append(0 if token == "[" else None)
        self.last = token

    def colon(self) -> None:
        if not self.stack or type(self.stack[-1]) is int:
            raise ParseError("':' not as part of an object")
        if not self.ready:
            raise ParseError("Expected string key before ':'")
        if type(self.next) is not str:
            raise ParseError("Object keys must be strings")
        if self.last != "value":
            raise ParseError("':' should follow a key")
        self.stack[-1] = self.next
        self.ready, self.last = False, ":"

    def comma(self) -> None:
        if self.last != "value":
            raise ParseError("Expected value before ','")
        if not self.stack:
            raise ParseError("',' not as part of an object or array")
        top = self.stack[-1]
        if type(top) not in (int, str):
            raise ParseError("Objects must consist of key:value pairs")
        if self.ready:
            self.emit()
        self.stack[-1] = top + 1 if type(top) is int else True
        self.last = ","

    def close(self, token: str) -> None:
        array = token == "]"
        if not self.stack:
            raise ParseError(f"Unmatched '{token}' at the top-level")
        if self.last == ",":
            raise ParseError("Expected another array element" if array else "Expected another key:value pair")
        top = self.stack[-1]
        if (type(top) is int) != array:
            raise ParseError(f"Unmatched '{token}' in the middle of an {'object' if array else 'array'}")
        if self.ready:
            if not array and type(top) is not str:
                raise ParseError("Objects must consist of key:value pairs")
            self.emit(closing=True)
        elif self.last == ":":
            raise ParseError("Missing value in key:value pair")
        elif self.last not in "[{":
            self.events.append([list(self.stack)])
        self.stack.pop()
        if self.last in "[{":
            self.events.append([list(self.stack), [] if array else {}])
        self.last = "value" if self.stack else ""
