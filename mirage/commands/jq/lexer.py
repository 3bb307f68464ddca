"""Tokens of the jq language."""
from __future__ import annotations

import re

from mirage.commands.jq.errors import CompileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KEYWORDS = frozenset(("def", "if", "then", "elif", "else", "end", "as", "reduce", "foreach", "try", "catch", "label",
                      "import", "include", "and", "or", "__loc__", "module"))

TOKEN = re.compile(r"""
    (?P<space>(?:[ \t\r\n]+|\#(?:\\(?:\r\n|[\s\S])|[^\n\\])*)+)
  | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
  | (?P<field>\.[a-zA-Z_][a-zA-Z_0-9]*)
  | (?P<variable>\$(?:[a-zA-Z_][a-zA-Z_0-9]*::)*[a-zA-Z_][a-zA-Z_0-9]*)
  | (?P<name>(?:[a-zA-Z_][a-zA-Z_0-9]*::)*[a-zA-Z_][a-zA-Z_0-9]*)
  | (?P<format>@[a-zA-Z0-9_]+)
  | (?P<op>\?//=|\?//|//=|\|=|\+=|-=|\*=|/=|%=|==|!=|<=|>=|//|\.\.|[.?=;,:|+\-*/%$<>()\[\]{}])
  | (?P<quote>")
""", re.VERBOSE)

STRING = re.compile(r'[^"\\]+|\\[^(u]|\\u[0-9a-fA-F]{0,4}|\\\(|"')
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
LONE = re.compile("[\ud800-\udfff]")


class Token:
    """`kind`: number, field, variable, name, keyword, format, op, string, end. `value` of a string: its parts.

    A part is a str, or the tokens of an interpolation.
    """

    __slots__ = ("kind", "line", "value")

    def __init__(self, kind: str, value: Any, line: int) -> None:
        self.kind = kind
        self.value = value
        self.line = line


def tokenize(text: str) -> list[Token]:
    """All tokens of a program; ends with a token of kind `end`. Raises CompileError."""
    tokens, _ = _scan(text, 0, 1, nested=False)
    return tokens


def _scan(text: str, at: int, line: int, nested: bool) -> tuple[list[Token], int]:
    tokens: list[Token] = []
    depth = 0
    size = len(text)
    while at < size:
        found = TOKEN.match(text, at)
        if found is None:
            raise CompileError(unexpected("INVALID_CHARACTER"), line)
        kind = found.lastgroup or ""
        value = found.group()
        at = found.end()
        if kind == "quote":
            parts, at, end_line = _string(text, at, line)
            tokens.append(Token("string", parts, line))
            line = end_line
            continue
        if kind == "space":
            line += value.count("\n")
            continue
        if kind == "op":
            if value in "([{":
                depth += 1
            elif value in ")]}":
                depth -= 1
                if depth < 0:
                    if nested and value == ")":
                        tokens.append(Token("end", "", line))
                        return tokens, at
                    raise CompileError(unexpected("INVALID_CHARACTER"), line)
        elif kind == "name" and value in KEYWORDS:
            kind = "keyword"
        tokens.append(Token(kind, value, line))
    if nested:
        raise CompileError(unexpected("end of file"), line)
    tokens.append(Token("end", "", line))
    return tokens, at


def _string(text: str, at: int, line: int) -> tuple[list[Any], int, int]:
    """(parts, position after the closing quote, line) of a string whose opening quote is before `at`."""
    parts: list[Any] = []
    piece: list[str] = []
    while True:
        found = STRING.match(text, at)
        if found is None:
            raise CompileError(unexpected("end of file, expecting QQSTRING_TEXT or QQSTRING_INTERP_START or "
                                          "QQSTRING_END"), line)
        part = found.group()
        start, at = at, found.end()
        line += part.count("\n")
        if part == '"':
            break
        if part == "\\(":
            if piece:
                parts.append(join(piece))
                piece = []
            tokens, at = _scan(text, at, line, nested=True)
            line = tokens[-1].line
            parts.append(tokens)
        elif part[0] != "\\":
            piece.append(part)
        elif part[1] == "u" and len(part) == 6:
            piece.append(chr(int(part[2:], 16)))
        elif part[1] in ESCAPES:
            piece.append(ESCAPES[part[1]])
        else:
            raise CompileError(f"Invalid escape at line 1, column {len(part) + 2} (while parsing "
                               f"'\"{text[start:at]}\"')", line)
    if piece:
        parts.append(join(piece))
    return parts, at, line


def join(pieces: list[str]) -> str:
    """Pieces of a string as one; surrogate pairs become characters and lone ones U+FFFD."""
    text = "".join(pieces)
    if LONE.search(text):
        text = SURROGATES.sub(lambda m: m.group().encode("utf-16", "surrogatepass").decode("utf-16"), text)
        text = LONE.sub("\ufffd", text)
    return text


def unexpected(what: str) -> str:
    return f"syntax error, unexpected {what} (Unix shell quoting issues?)"
