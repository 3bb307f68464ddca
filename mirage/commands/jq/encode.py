"""JSON text of values: compact or indented, in colour, with jq's own number format.

Most values go through the C encoder of the standard library; what it would write differently is found in its output
or raises, and is then written by a loop of our own.
"""
from __future__ import annotations

import re
from _json import make_encoder as c_make_encoder
from json.encoder import encode_basestring, encode_basestring_ascii

from mirage.commands.jq import numbers
from mirage.commands.jq.numbers import Literal, format_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

DOUBTFUL = re.compile(r"\.0(?![0-9])|[0-9]e[-+]|NaN|Infinity|\x7f")
SIGNS_OF_DOUBT = (".0", "e-", "e+", "NaN", "Infinity", "\x7f")    # one is in every match of DOUBTFUL; quick to look for
MAX_DEPTH = 10_000                                           # of what is printed
COLOURS = ("0;90", "0;39", "0;39", "0;39", "0;32", "1;39", "1;39", "1;34")
KINDS_OF_COLOUR = {type(None): 0, bool: 1, int: 3, float: 3, Literal: 3, str: 4, list: 5, dict: 6}


END = object()


def _unknown(value: Any) -> Any:
    raise TypeError(value)


def quote(text: str) -> str:
    """A JSON string; characters beyond ASCII stay, DEL is escaped."""
    quoted: str = encode_basestring(text)
    return quoted.replace("\x7f", "\\u007f") if "\x7f" in quoted else quoted


def quote_ascii(text: str) -> str:
    quoted: str = encode_basestring_ascii(text)
    return quoted.replace("\x7f", "\\u007f") if "\x7f" in quoted else quoted


_compact = c_make_encoder(None, _unknown, encode_basestring, None, ":", ",", False, False, True)


def dumps(value: Any) -> str:
    """Compact JSON text (what tojson, messages and -c give)."""
    t = type(value)
    if t is str:
        return quote(value)
    if t is list or t is dict:
        return plain(value)
    return scalar(value)


def scalar(value: Any) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    return format_number(value)


def plain(value: Any) -> str:
    """Compact text of an array or object."""
    if not numbers.literals or not holds_literal(value):
        try:
            text = "".join(_compact(value, 0))
        except RecursionError:
            return walk(value, quote, "", False)
        for sign in SIGNS_OF_DOUBT:
            if sign in text:
                break
        else:
            return text
        if DOUBTFUL.search(text) is None:
            return text
    return walk(value, quote, "", False)


def holds_literal(value: Any) -> bool:
    """Is there a Literal inside? (Looks at numbers only as deep as arrays and objects go.)"""
    stack = [value]
    while stack:
        value = stack.pop()
        for item in value.values() if type(value) is dict else value:
            t = type(item)
            if t is list or t is dict:
                stack.append(item)
            elif t is Literal:
                return True
    return False


def walk(value: Any, quote: Callable[[str], str], indent: str, sort: bool) -> str:
    """Text written by a loop (no recursion): compact when `indent` is empty, else one item a line."""
    out: list[str] = []
    put = out.append
    colon = ": " if indent else ":"
    newline = "\n" if indent else ""
    stack: list[tuple[Any, bool, bool]] = []                 # iterator of items, is object, first
    current: Any = iter((value,))
    is_object, first = False, True
    depth = 0
    while True:
        item: Any = next(current, END)
        if item is END:
            if not stack:
                return "".join(out)
            depth -= 1
            put(newline + indent * depth + ("}" if is_object else "]"))
            current, is_object, first = stack.pop()
            continue
        if stack:
            if not first:
                put(",")
            if indent:
                put("\n" + indent * depth)
        first = False
        if is_object:
            key, item = item
            put(quote(key))
            put(colon)
        t = type(item)
        if depth >= MAX_DEPTH:
            put("<skipped: too deep>")
        elif t is str:
            put(quote(item))
        elif t is list:
            if not item:
                put("[]")
                continue
            put("[")
            stack.append((current, is_object, first))
            current, is_object, first = iter(item), False, True
            depth += 1
        elif t is dict:
            if not item:
                put("{}")
                continue
            put("{")
            stack.append((current, is_object, first))
            current, is_object, first = iter(sorted(item.items()) if sort else item.items()), True, True
            depth += 1
        elif t is int:
            put(str(item))
        else:
            put(scalar(item))


class Style:
    """How results are printed. `indent` is what one level is indented by ("" for compact)."""

    __slots__ = ("ascii", "colours", "indent", "sort")

    def __init__(self, indent: str = "  ", sort: bool = False, ascii: bool = False,
                 colours: list[str] | None = None) -> None:
        self.indent = indent
        self.sort = sort
        self.ascii = ascii
        self.colours = colours

    def text(self, value: Any) -> str:
        if self.colours is not None:
            out: list[str] = []
            self._coloured(value, 0, out)
            return "".join(out)
        t = type(value)
        if t is str:
            return quote_ascii(value) if self.ascii else quote(value)
        if t is not list and t is not dict:
            return scalar(value)
        if not self.indent and not self.sort and not self.ascii:
            return plain(value)
        return walk(value, quote_ascii if self.ascii else quote, self.indent, self.sort)

    def _coloured(self, value: Any, depth: int, out: list[str]) -> None:
        colours = self.colours
        assert colours is not None
        t = type(value)
        colour = colours[2 if value is True else KINDS_OF_COLOUR[t]]
        off = "\x1b[0m"
        put = out.append
        quoted = quote_ascii if self.ascii else quote
        if t is not list and t is not dict:
            put(colour + (quoted(value) if t is str else scalar(value)) + off)
            return
        opening, closing = "[]" if t is list else "{}"
        put(colour + opening)
        if not value:
            put(closing + off)
            return
        newline = "\n" + self.indent * (depth + 1) if self.indent else ""
        first = True
        items: Any = enumerate(value) if t is list else sorted(value.items()) if self.sort else value.items()
        for key, item in items:
            put(newline if first else colour + "," + newline)
            if t is dict:
                put(off + colours[7] + quoted(key) + off + colour + (": " if self.indent else ":") + off)
            self._coloured(item, depth + 1, out)
            first = False
        put(colour + ("\n" + self.indent * depth if self.indent else "") + colour + closing + off)


def colours(text: str | None) -> list[str]:
    """Escape sequences for null, false, true, numbers, strings, arrays, objects, keys: defaults and JQ_COLORS."""
    chosen = list(COLOURS)
    if text:
        fields = text.split(":")
        if all(re.fullmatch("[0-9;]*", field) for field in fields):
            chosen[:len(fields[:8])] = fields[:8]
    return [f"\x1b[{field}m" for field in chosen]
