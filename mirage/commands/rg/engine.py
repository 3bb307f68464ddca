"""Rust's regex syntax on google-re2 (nearly the same language), or PCRE2 for -P."""
from __future__ import annotations

from mirage.text.regex import RegexError, next_char

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Span = tuple[int, int]
    Find = Callable[[int, int], list[Span] | None]

SPECIAL = frozenset("\\^$.[]|()*+?{}#&-~")


def quote(text: str) -> str:
    return "".join("\\" + c if c in SPECIAL else c for c in text)


def perl_classes(text: str) -> str:
    """\\d, \\w, \\s and \\b{start} as Rust knows them (Unicode), for re2 (ASCII)."""
    if "\\" not in text:
        return text
    classes = {"d": r"\p{Nd}", "w": r"\pL\pM\p{Nd}\p{Pc}",
               "s": r"\s\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"}
    out = []
    i, in_set = 0, 0
    while i < len(text):
        c = text[i]
        if c == "[" and not in_set:
            in_set = 1
        elif c == "]" and in_set:
            in_set = 0
        if c == "\\" and i + 1 < len(text):
            letter = text[i + 1]
            i += 2
            if letter in classes:
                out.append(classes[letter] if in_set else f"[{classes[letter]}]")
            elif letter in "DWS" and not in_set:
                out.append(f"[^{classes[letter.lower()]}]")
            elif letter == "<":
                out.append(r"\b")
            elif letter == ">":
                out.append(r"\b")
            else:
                out.append("\\" + letter)
            continue
        out.append(c)
        i += 1
    return "".join(out)


class Engine:
    """One compiled search; `find(data)` gives a function (pos, endpos) -> spans."""

    def __init__(self, patterns: list[str], *, fixed: bool, icase: bool, word: bool, line: bool, pcre: bool,
                 multiline: bool, dotall: bool, unicode: bool) -> None:
        parts = [quote(p) if fixed else p for p in patterns]
        text = "|".join(f"(?:{p})" for p in parts) if len(parts) > 1 else parts[0]
        self.literal: bytes | None = None
        if len(parts) == 1 and not (icase or word or line) and (fixed or not any(c in SPECIAL for c in patterns[0])):
            self.literal = patterns[0].encode("utf-8", "surrogateescape") or None
        self.multiline = multiline
        self.pcre = pcre
        self.variants: dict[bool, Any] = {}
        self.icase = icase
        self.word = word
        if line:
            text = f"^(?:{text})$"
        elif word and pcre:
            text = f"(?<!\\w)(?:{text})(?!\\w)"
        self.text = text
        self.fixed = fixed
        self.dotall = dotall
        self.unicode = unicode
        self.groups = 0
        self.names: dict[str, int] = {}
        if pcre:
            from mirage.text.regex import compile_pcre
            self.regex = compile_pcre(text, icase, utf8=unicode, flags="m" + ("s" if dotall else ""))
            self.groups, self.names = self.regex.groups, dict(self.regex.names)
        else:
            engine = self._re2(True)
            self.groups = engine.NumberOfCapturingGroups() - (1 if word else 0)
            self.names = {name.decode(): index - (1 if word else 0) for name, index in engine.NamedCapturingGroups()}

    def _re2(self, ascii_only: bool) -> Any:
        if ascii_only not in self.variants:
            from re2 import Options, _re2
            options = Options()
            options.log_errors = False
            options.never_nl = not self.multiline
            options.case_sensitive = not self.icase
            options.max_mem = 64 << 20
            text = self.text if ascii_only or not self.unicode else perl_classes(self.text)
            text = text.replace(r"\<", r"\b").replace(r"\>", r"\b") if ascii_only and "\\" in text else text
            if not self.unicode:
                options.encoding = Options.Encoding.LATIN1
            if self.word:
                outside = r"\W" if ascii_only else r"[^\pL\pM\p{Nd}\p{Pc}]"
                text = f"(?:^|{outside})({text})(?:{outside}|$)"
            engine = _re2.RE2(("(?ms)" if self.dotall else "(?m)").encode()
                              + text.encode("utf-8", "surrogateescape"), options)
            if not engine.ok():
                raise RegexError(engine.error().decode("utf-8", "replace"))
            self.variants[ascii_only] = engine
        return self.variants[ascii_only]

    def find(self, data: bytes) -> Find:
        """(pos, endpos) -> spans of the match and its groups."""
        if self.literal is not None:
            literal, size, search = self.literal, len(self.literal), data.find

            def plain(pos: int, endpos: int) -> list[Span] | None:
                at = search(literal, pos, endpos)
                return None if at < 0 else [(at, at + size)]

            return plain
        if self.pcre:
            return self.regex.bind(data)
        from re2 import _re2
        match = self._re2(data.isascii()).Match
        unanchored = _re2.RE2.Anchor.UNANCHORED
        if not self.word:
            def search2(pos: int, endpos: int) -> list[Span] | None:
                spans: list[Span] = match(unanchored, data, pos, endpos)
                return None if spans[0][0] < 0 else spans
            return search2

        def words(pos: int, endpos: int) -> list[Span] | None:
            """The match is group 1; what must surround it may be what the last match ended with."""
            spans: list[Span] = match(unanchored, data, max(pos - 1, 0), endpos)
            if spans[0][0] >= 0 and spans[1][0] < pos:
                spans = match(unanchored, data, pos, endpos)
            return None if spans[0][0] < 0 else spans[1:]

        return words

    def finditer(self, data: bytes) -> Iterator[list[Span]]:
        find = self.find(data)
        pos, end = 0, len(data)
        last = -1
        while pos <= end:
            spans = find(pos, end)
            if spans is None:
                return
            start, stop = spans[0]
            if start == stop:
                if start != last:
                    yield spans
                pos = next_char(data, stop)
            else:
                yield spans
                pos = last = stop
