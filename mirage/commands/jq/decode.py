"""JSON texts from a stream of bytes, as jq reads them: many values after each other, jq's own error texts.

The C scanner of the standard library does the work; where a text is not plain JSON (jq takes nan, +1, 01, .5, and
says where an error is), a token machine in the manner of jq's reads it instead.
"""
from __future__ import annotations

import codecs
import re
from json.scanner import c_make_scanner  # type: ignore[attr-defined]

from mirage.commands.jq.errors import ParseError
from mirage.commands.jq.numbers import literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

MAX_DEPTH = 256
CONTROL = 0x20
BEGINNINGS = '[{"'
SPACE = re.compile(r"[ \t\r\n]*")
# Numbers whose text says more than their double: trailing zeros, exponents, many digits, many leading zeros, -0.
EXOTIC = re.compile(r"\.[0-9]*0(?![0-9])|[0-9][eE][-+]?[0-9]|[0-9]{16}|0\.0000|-0(?!\.[0-9])|[0-9]\.[0-9]{12}")
EXOTIC_WHOLE = re.compile(r"[0-9]{16}|-0(?!\.[0-9])")
LARGE = 1 << 16                                              # of a text from which on RE2 looks for what is exotic
# The same for RE2, which has no look-ahead: a little more matches.
EXOTIC_LARGE = (rb"\.[0-9]*0(?:[^0-9]|$)|[0-9][eE][-+]?[0-9]|[0-9]{16}|0\.0000|-0(?:[^.]|$)|-0\.(?:[^0-9]|$)"
                rb"|[0-9]\.[0-9]{12}")
BAD_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
TOKEN = re.compile(r'[\[\]{}:,"]|[^\[\]{}:," \t\r\n]+|[ \t\r\n]+')
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class _Context:
    """What c_make_scanner reads its settings from."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    memo: dict[str, str] = {}

    def __init__(self, parse_float: Callable[[str], Any], parse_int: Callable[[str], Any]) -> None:
        self.parse_float = parse_float
        self.parse_int = parse_int
        self.parse_constant = self._refuse

    @staticmethod
    def _refuse(text: str) -> Any:
        raise ValueError(text)


fast_scan = c_make_scanner(_Context(float, int))
mixed_scan = c_make_scanner(_Context(literal, int))
exact_scan = c_make_scanner(_Context(literal, literal))


def is_exotic(text: str, at: int) -> bool:
    """Might numbers in text[at:] be exotic? Surely not where this is False."""
    if len(text) - at < LARGE:
        return EXOTIC.search(text, at) is not None
    import re2
    return re2.search(EXOTIC_LARGE, text[at:].encode("utf-8", "replace")) is not None


class Reader:
    """Values of a text that comes in pieces. `feed` bytes, `close` at the end, and take from `values()`.

    line    newlines up to the end of the line where the last value ended (what messages and input_line_number say)
    """

    def __init__(self) -> None:
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text = ""
        self.at = 0
        self.base_line = 0                                   # newlines in what was dropped from `text`
        self.base_column = 0
        self.final = False
        self.started = False
        self._counted = 0                                    # newlines in text[:_counted] are _lines
        self._lines = 0

    @property
    def line(self) -> int:
        text = self.text
        if self.at > self._counted:
            newline = text.find("\n", self.at)
            end = newline + 1 if newline >= 0 else len(text)
            self._lines += text.count("\n", self._counted, end)
            self._counted = end
        return self.base_line + self._lines

    def feed(self, data: bytes, final: bool = False) -> None:
        """More of the text; `final` says that nothing follows."""
        piece = self.decoder.decode(data, final)
        if not self.started and piece:
            self.started = True
            piece = piece.removeprefix("\ufeff")
        if self.at:
            done = self.text[:self.at]
            lines = done.count("\n")
            self.base_line += lines
            self.base_column = (len(done) - done.rfind("\n") - 1) + (0 if lines else self.base_column)
            self.text = self.text[self.at:]
            self.at = self._counted = self._lines = 0
        self.text += piece
        self.final = final

    def new_file(self) -> None:
        """What is fed from here on is another file: its lines are counted from 0."""
        self.base_line = -self.text.count("\n")
        self.base_column = 0

    def total_lines(self) -> int:
        return self.base_line + self.text.count("\n")

    def values(self) -> Iterator[Any]:
        """Complete values of what was fed so far; the rest waits for more. Raises ParseError."""
        text = self.text
        size = len(text)
        scan = fast_scan
        if is_exotic(text, self.at):
            scan = exact_scan if EXOTIC_WHOLE.search(text, self.at) else mixed_scan
        careful = "\\u" in text and BAD_ESCAPE.search(text, self.at) is not None
        space = SPACE.match
        while True:
            at = self.at
            if at < size and text[at] == "\n":
                at += 1
            if at == size or text[at] not in BEGINNINGS:
                blank = space(text, at)
                assert blank is not None
                at = blank.end()
            if at == size:
                if self.final:
                    self.at = at
                return
            if careful:
                value, end = self._slow(at)
            else:
                try:
                    value, end = scan(text, at)
                except (StopIteration, ValueError, RecursionError):
                    value, end = self._slow(at)
                else:
                    if end == size and not self.final and text[end - 1] not in '"]}':
                        return
                    if end < size and text[at] not in BEGINNINGS and text[end] not in ' \t\r\n[{"':
                        value, end = self._slow(at)
            if end < 0:
                return
            self.at = end
            yield value

    def _slow(self, at: int) -> tuple[Any, int]:
        """(value, end) by the token machine; end -1 when more text is needed."""
        machine = Machine(self.text, at)
        try:
            return machine.value(self.final)
        except ParseError as e:
            raise self._located(machine, e) from None

    def _located(self, machine: Machine, error: ParseError) -> ParseError:
        self._lines = self.text.count("\n")
        self._counted = len(self.text)
        before = self.text[:machine.at]
        lines = before.count("\n")
        column = len(before) - before.rfind("\n") - 1 + (0 if lines else self.base_column)
        where = f"at {'EOF at ' if machine.at_end else ''}line {self.base_line + lines + 1}, column {column}"
        return ParseError(f"{error} {where}")

    def broken_events(self) -> tuple[list[Any], ParseError | None]:
        """After a ParseError of `values`: the events of the value with the error, and the streaming parser's error."""
        from mirage.commands.jq.events import EventMachine
        machine = EventMachine(self.text, self.at)
        try:
            machine.value(self.final)
        except ParseError as e:
            return machine.events, self._located(machine, e)
        return machine.events, None


class Machine:
    """jq's parser for one value: a stack of open arrays, objects, and keys that wait for their value."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.at_end = False
        self.stack: list[Any] = []
        self.ready = False
        self.next: Any = None

    def value(self, final: bool) -> tuple[Any, int]:
        text = self.text
        match = TOKEN.match
        while True:
            found = match(text, self.at)
            if found is None:
                break
            token = found.group()
            start = self.at
            if token == '"':
                if self.ready and not self.stack:
                    return self.next, start
                end = self._string_end()
                if end < 0:
                    self.at = len(text)
                    if not final:
                        return None, -1
                    self.at_end = True
                    raise ParseError("Unfinished string")
                self.at = end
                self.put(unescape(text[start + 1:end - 1]))
            elif token in "[]{}:,":
                self.at = start + 1
                self.structure(token)
            elif token[0] in " \t\r\n":
                self.at = found.end()
                continue
            else:
                end = found.end()
                self.at_end = end == len(text)
                if self.at_end and not final:
                    return None, -1
                self.at = end if self.at_end else end + 1
                self.put(word(token))
                self.at = end
                self.at_end = False
            if self.ready and not self.stack:
                return self.next, self.at
        if not final:
            return None, -1
        self.at_end = True
        raise ParseError("Unfinished JSON term")

    def _string_end(self) -> int:
        text, at = self.text, self.at + 1
        while True:
            quote = text.find('"', at)
            if quote < 0:
                return -1
            back = quote - 1
            while text[back] == "\\" and back >= self.at + 1:
                back -= 1
            if (quote - 1 - back) % 2 == 0:
                return quote + 1
            at = quote + 1

    def put(self, value: Any) -> None:
        if self.ready:
            raise ParseError("Expected separator between values")
        self.next = value
        self.ready = True

    def structure(self, token: str) -> None:
        stack = self.stack
        top = stack[-1] if stack else None
        if token in "[{":
            if len(stack) >= MAX_DEPTH:
                raise ParseError("Exceeds depth limit for parsing")
            if self.ready:
                raise ParseError("Expected separator between values")
            stack.append([] if token == "[" else {})
        elif token == ":":
            if not self.ready:
                raise ParseError("Expected string key before ':'")
            if type(top) is not dict:
                raise ParseError("':' not as part of an object")
            if type(self.next) is not str:
                raise ParseError("Object keys must be strings")
            stack.append(self.next)
            self.ready = False
        elif token == ",":
            if not self.ready:
                raise ParseError("Expected value before ','")
            if type(top) is list:
                top.append(self.next)
            elif type(top) is str:
                stack.pop()
                stack[-1][top] = self.next
            else:
                raise ParseError("',' not as part of an object or array" if top is None
                                 else "Objects must consist of key:value pairs")
            self.ready = False
        elif token == "]":
            if type(top) is not list:
                raise ParseError("Unmatched ']'")
            if self.ready:
                top.append(self.next)
            elif top:
                raise ParseError("Expected another array element")
            self.next = stack.pop()
            self.ready = True
        else:
            self.close_object(top)

    def close_object(self, top: Any) -> None:
        stack = self.stack
        if not stack:
            raise ParseError("Unmatched '}'")
        if self.ready:
            if type(top) is not str:
                raise ParseError("Objects must consist of key:value pairs")
            stack.pop()
            stack[-1][top] = self.next
        elif type(top) is not dict:
            raise ParseError("Unmatched '}'")
        elif top:
            raise ParseError("Expected another key-value pair")
        self.next = stack.pop()
        self.ready = True


def word(token: str) -> Any:
    """The value of a run of letters and digits."""
    first = token[0]
    if first in "tfn":
        expected = {"t": "true", "f": "false", "n": "nan" if len(token) == 3 else "null"}[first]
        if token != expected:
            raise ParseError("Invalid literal")
        return {"true": True, "false": False, "null": None, "nan": float("nan")}[token]
    try:
        return literal(token)
    except ValueError:
        raise ParseError("Invalid numeric literal") from None


def unescape(raw: str) -> str:
    """The text of a string token (without its quotes)."""
    for c in raw:
        if ord(c) < CONTROL:
            raise ParseError("Invalid string: control characters from U+0000 through U+001F must be escaped")
    if "\\" not in raw:
        return raw
    out: list[str] = []
    at = 0
    while True:
        slash = raw.find("\\", at)
        if slash < 0:
            out.append(raw[at:])
            return "".join(out)
        out.append(raw[at:slash])
        letter = raw[slash + 1:slash + 2]
        at = slash + 2
        if letter == "u":
            code = _code(raw[at:at + 4])
            at += 4
            if 0xD800 <= code < 0xDC00:
                if raw[at:at + 2] != "\\u":
                    raise ParseError("Invalid \\uXXXX\\uXXXX surrogate pair escape")
                low = _code(raw[at + 2:at + 6])
                at += 6
                if not 0xDC00 <= low < 0xE000:
                    raise ParseError("Invalid \\uXXXX\\uXXXX surrogate pair escape")
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
            out.append("\ufffd" if 0xDC00 <= code < 0xE000 else chr(code))
        elif letter in ESCAPES and letter:
            out.append(ESCAPES[letter])
        else:
            raise ParseError("Invalid escape" if letter else "Expected escape character at end of string")


def _code(digits: str) -> int:
    if len(digits) < 4:
        raise ParseError("Invalid \\uXXXX escape")
    if re.fullmatch("[0-9a-fA-F]{4}", digits) is None:
        raise ParseError("Invalid characters in \\uXXXX escape")
    return int(digits, 16)


def loads(text: str) -> Any:
    """The one value of a text, as `fromjson`; ParseError carries jq's message without the text."""
    reader = Reader()
    reader.started = True
    reader.text = text
    reader.final = True
    found = reader.values()
    value = next(found, reader)
    if value is reader:
        raise ParseError("Expected JSON value")
    if next(found, reader) is not reader:
        raise ParseError("Unexpected extra JSON values")
    return value


def all_values(data: bytes) -> list[Any]:
    """Every value of a whole text."""
    reader = Reader()
    reader.feed(data, final=True)
    return list(reader.values())


__all__ = ["Reader", "all_values", "loads"]
