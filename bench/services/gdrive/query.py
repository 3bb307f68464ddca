"""The query language of files.list: `name contains 'x' and ('me' in owners or not trashed = true)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Predicate = Callable[[Any], bool]

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:\\.|[^'\\])*')|(?P<word>[A-Za-z][A-Za-z]*)|(?P<op><=|>=|!=|=|<|>)|(?P<paren>[()]))"
)
WORD = re.compile(r"[^\W_]+")
TEXTS = ("name", "mimeType", "fullText")
TIMES = ("modifiedTime", "createdTime", "viewedByMeTime")
FLAGS = ("trashed", "starred", "sharedWithMe")


def words(text: str) -> list[str]:
    """What the index knows of a text."""
    return [w.casefold() for w in WORD.findall(text)]


def parse(text: str, root: str) -> Predicate:
    """The predicate over stored files. `root` is the id of My Drive; ValueError for what the service refuses."""
    tokens: list[tuple[str, str]] = []
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(text[at:])
        tokens.append((str(match.lastgroup), match.group(str(match.lastgroup))))
        at = match.end()
    parser = _Parser(tokens, root)
    found = parser.any_of() if tokens else lambda file: True
    if parser.tokens:
        raise ValueError("more than a query")
    return found


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]], root: str) -> None:
        self.tokens = tokens
        self.root = root

    def _next(self) -> tuple[str, str]:
        if not self.tokens:
            raise ValueError("the query ends too early")
        return self.tokens.pop(0)

    def _word(self, word: str) -> bool:
        if self.tokens and self.tokens[0] == ("word", word):
            self.tokens.pop(0)
            return True
        return False

    def any_of(self) -> Predicate:
        parts = [self.all_of()]
        while self._word("or"):
            parts.append(self.all_of())
        return lambda file: any(part(file) for part in parts)

    def all_of(self) -> Predicate:
        parts = [self.one()]
        while self._word("and"):
            parts.append(self.one())
        return lambda file: all(part(file) for part in parts)

    def one(self) -> Predicate:
        if self._word("not"):
            inner = self.one()
            return lambda file: not inner(file)
        kind, value = self._next()
        if (kind, value) == ("paren", "("):
            inner = self.any_of()
            if self._next() != ("paren", ")"):
                raise ValueError("a parenthesis is open")
            return inner
        if kind == "text":
            return self._member(_unquote(value))
        if kind != "word":
            raise ValueError(value)
        return self._comparison(value, *self._next(), *self._next())

    def _member(self, value: str) -> Predicate:
        if not self._word("in"):
            raise ValueError("`in` is missing")
        field = self._next()[1]
        if field == "parents":
            wanted = self.root if value == "root" else value
            return lambda file: wanted in file.resource.get("parents", ())
        if field in ("owners", "writers", "readers"):
            roles = {"owners": ("owner",), "writers": ("owner", "organizer", "writer"),
                     "readers": ("owner", "organizer", "writer", "commenter", "reader")}[field]
            return lambda file: any(
                p.get("emailAddress") == (file.me if value == "me" else value) and p["role"] in roles
                for p in file.permissions.values()
            )
        raise ValueError(field)

    @staticmethod
    def _comparison(field: str, kind: str, op: str, value_kind: str, raw: str) -> Predicate:
        value = _unquote(raw) if value_kind == "text" else raw
        if field == "fullText" and op == "contains":
            phrase = value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else ""
            wanted = words(phrase or value)
            return lambda file: bool(wanted) and file.has(wanted, bool(phrase))
        if field == "name" and op == "contains":
            wanted = words(value)
            return lambda file: all(any(w.startswith(x) for w in words(file.resource["name"])) for x in wanted)
        if field == "mimeType" and op == "contains":
            return lambda file: value in file.resource["mimeType"]
        if field in TEXTS and op in ("=", "!=") and field != "fullText" and value_kind == "text":
            return lambda file: (file.resource[field] == value) == (op == "=")
        if field in TIMES and kind == "op":
            return lambda file: _compare(file.resource.get(field, "")[:19], op, value[:19])
        if field in FLAGS and op in ("=", "!=") and value in ("true", "false"):
            wanted_flag = (value == "true") == (op == "=")
            return lambda file: bool(file.flag(field)) == wanted_flag
        raise ValueError(f"{field} {op}")


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1])


def _compare(mine: str, op: str, other: str) -> bool:
    return {"=": mine == other, "!=": mine != other, "<": mine < other, "<=": mine <= other, ">": mine > other,
            ">=": mine >= other}[op]
