"""Gmail's search syntax over tokens: words, "phrases", operators, - OR {} () ."""
from __future__ import annotations

import re
import time
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.bench.services.gmail.mailbox import Stored

WORD = re.compile(r"[^\W_]+")
TOKEN = re.compile(r'-?[A-Za-z_]+:"[^"]*"|"[^"]*"|[{}()]|-(?=[{("])|[^\s{}()"]+')
UNITS = {"d": 86400, "m": 30 * 86400, "y": 365 * 86400, "h": 3600}
FOLDERS = {"inbox": "INBOX", "sent": "SENT", "draft": "DRAFT", "drafts": "DRAFT", "trash": "TRASH", "spam": "SPAM",
           "starred": "STARRED", "important": "IMPORTANT", "unread": "UNREAD"}


def words(text: str) -> list[str]:
    """The tokens of a text: letters and digits, case folded; `_` separates."""
    return WORD.findall(text.casefold())


class _Text(HTMLParser):
    """The text that a reader sees: tags other than those inside a line separate words."""

    INLINE = ("a", "b", "i", "em", "strong", "span", "u", "font", "small", "code")

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._hidden = False

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._hidden = tag in ("script", "style")
        if tag not in self.INLINE:
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = False
        if tag not in self.INLINE:
            self.parts.append(" ")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def _plain(kind: str, text: str) -> str:
    if kind != "text/html":
        return text
    parser = _Text()
    parser.feed(text)
    return "".join(parser.parts)


class Document:
    """What the index knows of one message."""

    __slots__ = ("all", "attachments", "date", "everything", "fields", "fresh", "labels")

    def __init__(self, message: Stored) -> None:
        self.fields = {name: words(message.header(name)) for name in ("from", "to", "cc", "bcc", "subject")}
        self.attachments = [p.filename.casefold() for p in message.attachments()]
        body = [w for p in message.body.walk() if p.mime_type.startswith("text/") and not p.filename
                for w in words(_plain(p.mime_type, p.content.decode("utf-8", "replace")))]
        names = [w for name in self.attachments for w in words(name)]
        self.all = [w for field in self.fields.values() for w in (*field, "")] + [*body, "", *names]
        self.everything = frozenset(self.all)
        self.date = message.date / 1000
        self.labels: set[str] = set()
        self.fresh = False


class Index:
    """Documents of messages, made when they are first searched."""

    def __init__(self) -> None:
        self._documents: dict[str, Document] = {}

    def of(self, message: Stored, names: dict[str, str], fresh: bool) -> Document:
        document = self._documents.get(message.id)
        if document is None:
            document = self._documents[message.id] = Document(message)
        document.labels = {label.casefold() for label in message.labels}
        document.labels |= {_label(names[label]) for label in message.labels if label in names}
        document.fresh = fresh
        return document

    def forget(self, id: str) -> None:
        self._documents.pop(id, None)


def _label(name: str) -> str:
    return re.sub(r"[\s/]", "-", name.casefold())


class Query:
    """A parsed query. `everywhere`: it names spam or trash, so these are searched as well."""

    def __init__(self, test: Callable[[Document], bool], everywhere: bool) -> None:
        self.matches = test
        self.everywhere = everywhere


def parse_query(text: str, now: float) -> Query:
    """Gmail is lenient: whatever is no operator is a word."""
    parser = _Parser(TOKEN.findall(text), now)
    tests = []
    while parser.at < len(parser.tokens):
        tests.append(parser.sequence(("OR",)))
        parser.at += parser.peek() in (")", "}")
    return Query(_all(tests), parser.everywhere)


def _all(tests: list[Callable[[Document], bool]]) -> Callable[[Document], bool]:
    return tests[0] if len(tests) == 1 else lambda d: all(t(d) for t in tests)


def _any(tests: list[Callable[[Document], bool]]) -> Callable[[Document], bool]:
    return tests[0] if len(tests) == 1 else lambda d: any(t(d) for t in tests)


class _Parser:
    def __init__(self, tokens: list[str], now: float) -> None:
        self.tokens = tokens
        self.at = 0
        self.now = now
        self.everywhere = False

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def sequence(self, _: Any = None) -> Callable[[Document], bool]:
        """Terms up to a closing bracket; `a OR b` binds tighter than the space."""
        tests: list[Callable[[Document], bool]] = []
        while self.peek() and self.peek() not in (")", "}"):
            if self.peek() == "AND":
                self.at += 1
                continue
            choice = [self.term()]
            while self.peek() == "OR":
                self.at += 1
                if self.peek() and self.peek() not in (")", "}"):
                    choice.append(self.term())
            tests.append(_any(choice))
        return _all(tests) if tests else lambda d: True

    def term(self) -> Callable[[Document], bool]:
        token = self.peek()
        self.at += 1
        if token == "-":
            inner = self.term()
            return lambda d: not inner(d)
        if token == "(":
            inner = self.sequence()
            self.at += self.peek() == ")"
            return inner
        if token == "{":
            tests = []
            while self.peek() and self.peek() != "}":
                if self.peek() == "OR":
                    self.at += 1
                    continue
                tests.append(self.term())
            self.at += 1
            return _any(tests) if tests else lambda d: True
        if token.startswith("-") and len(token) > 1:
            everywhere = self.everywhere
            negated = self._single(token[1:])
            self.everywhere = everywhere
            return lambda d: not negated(d)
        return self._single(token)

    def _single(self, token: str) -> Callable[[Document], bool]:
        name, colon, value = token.partition(":")
        value = value.strip('"')
        if colon and value and not token.startswith('"'):
            test = self._operator(name.lower(), value)
            if test is not None:
                return test
        return phrase(token.strip('"'), "")

    def _operator(self, name: str, value: str) -> Callable[[Document], bool] | None:
        if name in ("from", "to", "cc", "bcc", "subject"):
            if name == "to":
                tests = [phrase(value, field) for field in ("to", "cc", "bcc")]
                return lambda d: any(t(d) for t in tests)
            return phrase(value, name)
        low = value.casefold()
        if name in ("label", "in", "is"):
            if low in ("spam", "trash", "anywhere"):
                self.everywhere = True
            if low == "anywhere":
                return lambda d: True
            if low == "read":
                return lambda d: "unread" not in d.labels
            label = FOLDERS.get(low, _label(value)).casefold()
            return lambda d: label in d.labels
        if name == "has":
            if low == "attachment":
                return lambda d: bool(d.attachments)
            if low in ("nouserlabels", "userlabels"):
                none = low == "nouserlabels"
                return lambda d: none != any(x.startswith("label_") for x in d.labels)
            return lambda d: False
        if name == "filename":
            return lambda d: any(low in f for f in d.attachments)
        if name in ("after", "newer"):
            start = self._date(value)
            return (lambda d: d.date >= start) if start is not None else None
        if name in ("before", "older"):
            end = self._date(value)
            return (lambda d: d.date < end) if end is not None else None
        if name in ("newer_than", "older_than") and re.fullmatch(r"\d+[dmyh]", low):
            limit = self.now - int(low[:-1]) * UNITS[low[-1]]
            return (lambda d: d.date >= limit) if name == "newer_than" else (lambda d: d.date < limit)
        return None

    @staticmethod
    def _date(value: str) -> float | None:
        if value.isdigit() and len(value) >= 9:
            return float(value)
        match = re.fullmatch(r"(\d{4})[/-](\d{1,2})[/-](\d{1,2})", value)
        if match is None:
            return None
        import calendar
        try:
            return float(calendar.timegm(time.strptime("-".join(match.groups()), "%Y-%m-%d")))
        except ValueError:
            return None


def phrase(text: str, field: str) -> Callable[[Document], bool]:
    """All tokens of `text` one after the other, in a field or anywhere; a message too new for the index has none."""
    wanted = words(text)
    size = len(wanted)

    def test(d: Document) -> bool:
        if d.fresh or not wanted:
            return not wanted
        if not field and not d.everything.issuperset(wanted):
            return False
        tokens = d.fields[field] if field else d.all
        if size == 1:
            return wanted[0] in tokens
        return any(tokens[i:i + size] == wanted for i in range(len(tokens) - size + 1))

    return test
