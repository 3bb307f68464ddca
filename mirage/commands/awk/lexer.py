"""Tokens of awk. Whether `/` divides or begins a regular expression depends on the token before it."""
from __future__ import annotations

import re

from mirage.commands.awk.errors import SyntaxProblem

KEYWORDS = frozenset(("BEGIN", "END", "BEGINFILE", "ENDFILE", "function", "func", "if", "else", "while", "for", "do",
                      "break", "continue", "next", "nextfile", "exit", "return", "delete", "in", "getline", "print",
                      "printf", "switch", "case", "default"))
BUILTINS = frozenset(("length", "substr", "index", "split", "sub", "gsub", "gensub", "match", "sprintf", "sin", "cos",
                      "atan2", "exp", "log", "sqrt", "int", "rand", "srand", "tolower", "toupper", "system", "close",
                      "fflush", "strftime", "systime", "mktime", "and", "or", "xor", "lshift", "rshift", "compl",
                      "strtonum", "asort", "asorti", "patsplit", "typeof", "isarray", "mkbool", "dcgettext",
                      "dcngettext", "bindtextdomain"))
ENDS_OPERAND = frozenset(("name", "number", "string", "regex", "builtin", ")", "]", "$", "++", "--"))
TOKEN = re.compile(r"""
    (?P<space>(?:[ \t\r\f\v]+|\\\r?\n)+)
  | (?P<comment>\#[^\n]*)
  | (?P<newline>\n)
  | (?P<hex>0[xX][0-9a-fA-F]+)
  | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
  | (?P<word>[A-Za-z_][A-Za-z_0-9]*(?:::[A-Za-z_][A-Za-z_0-9]*)?)
  | (?P<string>")
  | (?P<typed>@/)
  | (?P<op>\*\*=|\|&|\*\*|&&|\|\||\+\+|--|\+=|-=|\*=|/=|%=|\^=|==|<=|>=|!=|!~|>>|[{}()\[\];,+\-*/%^!<>|?:~$=@])
""", re.VERBOSE)
SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "/": "/", "a": "\a", "b": "\b", "f": "\f",
                  "v": "\v"}
OCTAL = re.compile("[0-7]{1,3}")
HEX = re.compile("[0-9a-fA-F]{1,2}")


class Token:
    """kind: name function builtin number string regex typed newline end, or the keyword or operator itself."""

    __slots__ = ("at", "kind", "line", "value")

    def __init__(self, kind: str, value: str, line: int, at: int) -> None:
        self.kind = kind
        self.value = value
        self.line = line
        self.at = at


class Lexer:
    """All tokens of one source text; `name` is what messages call it. `warnings` collects gawk's."""

    def __init__(self, text: str, name: str = "cmd. line") -> None:
        self.text = text
        self.name = name
        self.warnings: list[str] = []
        self.tokens: list[Token] = []

    def problem(self, at: int, what: str) -> SyntaxProblem:
        """A message in gawk's form: the source line, then a caret below the place."""
        start = self.text.rfind("\n", 0, at) + 1
        end = self.text.find("\n", at)
        line = self.text.count("\n", 0, at) + 1
        shown = self.text[start:end if end >= 0 else len(self.text)]
        where = f"awk: {self.name}:{line}: "
        return SyntaxProblem(f"{where}{shown}\n{where}{' ' * (at - start)}^ {what}\n")

    def warn(self, line: int, text: str) -> None:
        self.warnings.append(f"awk: {self.name}:{line}: warning: {text}\n")

    def scan(self) -> list[Token]:
        text, tokens = self.text, self.tokens
        at, line, size = 0, 1, len(text)
        previous = ""
        while at < size:
            found = TOKEN.match(text, at)
            if found is None:
                raise self.problem(at, "syntax error")
            kind, value, start = found.lastgroup or "", found.group(), at
            at = found.end()
            if kind in ("space", "comment"):
                line += value.count("\n")
                continue
            if kind == "string":
                value, at = self.string(at, line)
                tokens.append(Token("string", value, line, start))
            elif kind == "typed":
                value, at = self.regex(at)
                tokens.append(Token("typed", value, line, start))
            elif kind == "newline":
                tokens.append(Token("newline", value, line, start))
                line += 1
            elif kind in ("number", "hex"):
                tokens.append(Token("number", value, line, start))
            elif kind == "word":
                tokens.append(self.word(value, line, start, text[at:at + 1]))
            elif value[0] == "/" and previous not in ENDS_OPERAND:
                value, at = self.regex(start + 1)
                tokens.append(Token("regex", value, line, start))
            else:
                value = {"**": "^", "**=": "^="}.get(value, value)
                tokens.append(Token(value, value, line, start))
            previous = tokens[-1].kind
        tokens.append(Token("end", "", line, size))
        return tokens

    @staticmethod
    def word(value: str, line: int, start: int, following: str) -> Token:
        if value in KEYWORDS:
            kind = "function" if value == "func" else value
            return Token(kind, value, line, start)
        if value in BUILTINS:
            return Token("builtin", value, line, start)
        return Token("call" if following == "(" else "name", value, line, start)

    def string(self, at: int, line: int) -> tuple[str, int]:
        """(value, position after the closing quote)"""
        text = self.text
        parts: list[str] = []
        start = at
        while True:
            c = text[at:at + 1]
            if c == "" or c == "\n":
                raise self.problem(start - 1, "unterminated string")
            if c == '"':
                return "".join(parts), at + 1
            if c == "\\":
                if text[at + 1:at + 2] == "":
                    raise self.problem(start - 1, "unterminated string")
                piece, at = self.escape(at + 1, line)
                parts.append(piece)
            else:
                parts.append(c)
                at += 1

    def escape(self, at: int, line: int) -> tuple[str, int]:
        """What the escape whose letter is at `at` stands for, and the position behind it."""
        text = self.text
        c = text[at]
        if c in SIMPLE_ESCAPES:
            if c == "/":
                self.warn(line, "escape sequence `\\/' treated as plain `/'")
            return SIMPLE_ESCAPES[c], at + 1
        if c == "\n":
            return "", at + 1
        found = OCTAL.match(text, at)
        if found:
            return byte(int(found.group(), 8) & 255), found.end()
        if c == "x":
            found = HEX.match(text, at + 1)
            if found:
                return byte(int(found.group(), 16)), found.end()
        self.warn(line, f"escape sequence `\\{c}' treated as plain `{c}'")
        return c, at + 1

    def regex(self, at: int) -> tuple[str, int]:
        """(source, position after the closing slash); a slash in brackets does not close."""
        text = self.text
        start = at
        bracket = False
        while True:
            c = text[at:at + 1]
            if c == "" or c == "\n":
                raise self.problem(start - 1, "unterminated regexp")
            if c == "\\":
                if text[at + 1:at + 2] in ("", "\n"):
                    raise self.problem(start - 1, "unterminated regexp")
                at += 2
                continue
            if bracket:
                if c == "[" and text[at + 1:at + 2] in (":", ".", "="):
                    close = text.find(text[at + 1] + "]", at + 2)
                    if close > 0:
                        at = close + 2
                        continue
                if c == "]":
                    bracket = False
            elif c == "[":
                bracket = True
                if text[at + 1:at + 2] == "^":
                    at += 1
                if text[at + 1:at + 2] == "]":
                    at += 1
            elif c == "/":
                return text[start:at].replace("\\/", "/").replace("\\\n", ""), at + 1
            at += 1


def byte(code: int) -> str:
    """A character below 128, or the surrogate that stands for one byte of a UTF-8 sequence."""
    return chr(code) if code < 128 else chr(0xDC00 + code)


def unescape(text: str) -> str:
    """Escapes in the value of -v and of assignments among the operands."""
    if "\\" not in text:
        return text
    lexer = Lexer(text)
    parts: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            piece, at = lexer.escape(at + 1, 1)
            parts.append(piece)
        else:
            parts.append(text[at])
            at += 1
    return rejoin("".join(parts))


def rejoin(text: str) -> str:
    """Bytes written as escapes become the characters that they form together."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
