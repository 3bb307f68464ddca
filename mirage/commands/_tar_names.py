"""tar --transform: sed's `s` command on member names."""
from __future__ import annotations

from mirage.text.regex import Regex, RegexError, compile_bre, compile_ere


class TransformError(Exception):
    """What is wrong with a --transform argument, in GNU's words."""


class Transform:
    """One `s/REGEXP/REPLACEMENT/FLAGS`. `kinds` says which names it applies to: r(egular), s(ymlink), h(ard link)."""

    __slots__ = ("kinds", "number", "parts", "regex", "whole")

    def __init__(self, regex: Regex, parts: list[str | int], flags: str) -> None:
        self.regex = regex
        self.parts = parts
        self.whole = "g" in flags
        digits = "".join(c for c in flags if c.isdecimal())
        self.number = int(digits) if digits else 1
        self.kinds = set("rsh")
        for flag in flags:
            if flag in "RSH":
                self.kinds.discard(flag.lower())
            elif flag in "rsh":
                self.kinds.add(flag)

    @classmethod
    def parse(cls, text: str) -> list[Transform]:
        """All `;`-separated expressions; raises TransformError."""
        out, at = [], 0
        while at < len(text):
            if text[at] in "; \t\n":
                at += 1
                continue
            if text[at] != "s" or at + 1 >= len(text):
                raise TransformError("Invalid transform expression")
            mark = text[at + 1]
            fields: list[str] = []
            current, i = "", at + 2
            while i < len(text) and len(fields) < 2:
                char = text[i]
                if char == "\\" and i + 1 < len(text):
                    current += text[i + 1] if text[i + 1] == mark and mark not in "&\\" else text[i:i + 2]
                    i += 2
                    continue
                if char == mark:
                    fields.append(current)
                    current = ""
                else:
                    current += char
                i += 1
            if len(fields) < 2:
                raise TransformError("Invalid transform expression")
            end = i
            while end < len(text) and text[end] != ";":
                end += 1
            flags = text[i:end].strip()
            if flags.strip("gixrRsShH0123456789"):
                raise TransformError("Unknown flag in transform expression: " + flags.strip("gixrRsShH0123456789")[0])
            compile_regex = compile_ere if "x" in flags else compile_bre
            try:
                regex = compile_regex(fields[0], "i" in flags)
            except RegexError as e:
                raise TransformError(f"Invalid transform expression: {e}") from None
            out.append(cls(regex, _replacement(fields[1]), flags))
            at = end
        return out

    def apply(self, name: str, kind: str) -> str:
        if kind not in self.kinds:
            return name
        data = name.encode("utf-8", "surrogateescape")
        out, at, count = [], 0, 0
        while at <= len(data):
            found = self.regex.search(data, at)
            if found is None:
                break
            count += 1
            start, end = found.span()
            if count < self.number:
                out.append(data[at:max(end, at + 1) if start == end else end])
                at = end if end > start else end + 1
                continue
            out.append(data[at:start])
            for part in self.parts:
                out.append(part.encode("utf-8", "surrogateescape") if isinstance(part, str)
                           else (found.group(part) or b"") if part < len(found.spans) else b"")
            if end == start:
                out.append(data[end:end + 1])
                at = end + 1
            else:
                at = end
            if not self.whole:
                break
        out.append(data[at:])
        return b"".join(out).decode("utf-8", "surrogateescape")


def _replacement(text: str) -> list[str | int]:
    """Literal texts and group numbers."""
    parts: list[str | int] = []
    literal, i = "", 0
    while i < len(text):
        char = text[i]
        if char == "&" or char == "\\" and text[i + 1:i + 2].isdecimal():
            if literal:
                parts.append(literal)
                literal = ""
            parts.append(0 if char == "&" else int(text[i + 1]))
            i += 1 if char == "&" else 2
            continue
        if char == "\\" and i + 1 < len(text):
            literal += {"n": "\n", "t": "\t"}.get(text[i + 1], text[i + 1])
            i += 2
            continue
        literal += char
        i += 1
    if literal:
        parts.append(literal)
    return parts
