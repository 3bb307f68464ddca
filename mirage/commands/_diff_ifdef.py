"""diff -D and the group and line formats: both files in one output, merged by templates."""
from __future__ import annotations

import re

from mirage.commands._diff_output import File

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ITEM = re.compile(rb"%(?:([<>=%])|c'(\\[0-7]{1,3}|.)'|(-?[0-9]*(?:\.[0-9]*)?[doxX])([a-zA-Z])|([lL])"
                   rb"|\((-?[0-9]+|[a-zA-Z])=(-?[0-9]+|[a-zA-Z])\?)", re.DOTALL)
MAX_WIDTH = 10_000


def ifdef_formats(name: str) -> dict[str, bytes]:
    """What -D NAME means."""
    word = name.encode("utf-8", "surrogateescape").replace(b"%", b"%%")
    return {"old-group": b"#ifndef %s\n%%<#endif /* ! %s */\n" % (word, word),
            "new-group": b"#ifdef %s\n%%>#endif /* %s */\n" % (word, word),
            "changed-group": b"#ifndef %s\n%%<#else /* %s */\n%%>#endif /* %s */\n" % (word, word, word)}


class Merger:
    """Writes groups of lines; `formats` has old-group, new-group, changed-group, unchanged-group, old-line, ..."""

    def __init__(self, a: File, b: File, formats: dict[str, bytes], out: Callable[[bytes], None]) -> None:
        self.a = a
        self.b = b
        self.formats = formats
        self.out = out

    def write(self, changes: Sequence[tuple[int, int, int, int]]) -> None:
        at_a = at_b = 0
        for a0, a1, b0, b1 in changes:
            self.group("unchanged-group", at_a, a0, at_b, b0)
            kind = "changed-group" if a0 < a1 and b0 < b1 else "old-group" if a0 < a1 else "new-group"
            self.group(kind, a0, a1, b0, b1)
            at_a, at_b = a1, b1
        self.group("unchanged-group", at_a, len(self.a.lines), at_b, len(self.b.lines))

    def group(self, kind: str, a0: int, a1: int, b0: int, b1: int) -> None:
        if a0 == a1 and b0 == b1:
            return
        default = {"old-group": b"%<", "new-group": b"%>", "unchanged-group": b"%="}
        text = self.formats.get(kind)
        if text is None and kind in ("old-group", "new-group"):
            text = self.formats.get("changed-group")
        if text is None:
            text = default[kind] if kind in default else \
                self.formats.get("old-group", b"%<") + self.formats.get("new-group", b"%>")
        self.expand(text, a0, a1, b0, b1)

    def expand(self, text: bytes, a0: int, a1: int, b0: int, b1: int) -> None:
        at = 0
        while at < len(text):
            found = _ITEM.match(text, at)
            if not found:
                end = text.find(b"%", at + 1)
                end = len(text) if end < 0 else end
                self.out(text[at:end])
                at = end
                continue
            at = found.end()
            if found[6] is not None:
                at = self.condition(found, text, at, a0, a1, b0, b1)
            elif found[1] == b"<":
                self.lines("old-line", self.a, a0, a1)
            elif found[1] == b">":
                self.lines("new-line", self.b, b0, b1)
            elif found[1] == b"=":
                self.lines("unchanged-line", self.a, a0, a1)
            elif found[1] == b"%":
                self.out(b"%")
            elif found[2] is not None:
                self.out(_char(found[2]))
            elif found[3] is not None:
                self.out(_printed(found[3], self.number(found[4], a0, a1, b0, b1)))
            else:
                self.out(found[0])

    def condition(self, found: re.Match[bytes], text: bytes, at: int, a0: int, a1: int, b0: int, b1: int) -> int:
        """%(A=B?T:E): `at` is behind the `?`; returns where the text goes on."""
        parts, depth, start = [], 0, at
        while at < len(text):
            if text[at:at + 2] == b"%(":
                depth += 1
            elif text[at:at + 1] == b")" and depth:
                depth -= 1
            elif not depth and text[at:at + 1] in (b":", b")"):
                parts.append(text[start:at])
                start = at + 1
                if text[at:at + 1] == b")":
                    break
            at += 1
        same = self.number(found[6], a0, a1, b0, b1) == self.number(found[7], a0, a1, b0, b1)
        chosen = parts[0] if same and parts else parts[1] if not same and len(parts) > 1 else b""
        self.expand(chosen, a0, a1, b0, b1)
        return at + 1

    @staticmethod
    def number(letter: bytes, a0: int, a1: int, b0: int, b1: int) -> int:
        if not letter.isalpha():
            return int(letter[:15])
        low, high = (a0, a1) if letter.islower() else (b0, b1)
        values = {b"f": low + 1, b"l": high, b"n": high - low, b"e": low, b"m": high + 1}
        return values.get(letter.lower(), 0)

    def lines(self, kind: str, file: File, low: int, high: int) -> None:
        form = self.formats.get(kind)
        for number in range(low, high):
            whole = file.lines[number]
            end = b"" if number == len(file.lines) - 1 and not file.complete else b"\n"
            if form is None:
                self.out(whole + b"\n")
                continue

            def item(found: re.Match[bytes], whole: bytes = whole, end: bytes = end, number: int = number) -> bytes:
                if found[5] is not None:
                    return whole + end if found[5] == b"L" else whole
                if found[2] is not None:
                    return _char(found[2])
                if found[3] is not None and found[4] == b"n":
                    return _printed(found[3], number + 1)
                return b"%" if found[1] == b"%" else found[0]
            self.out(_ITEM.sub(item, form))


def _char(text: bytes) -> bytes:
    return bytes((int(text[1:], 8) & 255,)) if text[:1] == b"\\" and len(text) > 1 else text


def _printed(spec: bytes, value: int) -> bytes:
    width, _, precision = spec[:-1].lstrip(b"-").partition(b".")
    if max(int(width[:9] or 0), int(precision[:9] or 0)) > MAX_WIDTH:
        return b""
    return (b"%" + spec) % value
