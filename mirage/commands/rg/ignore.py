"""gitignore patterns, for ignore files and for -g."""
from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Rule:
    """One line of an ignore file. `matches` takes the path relative to the file's directory."""

    __slots__ = ("directory", "negated", "regex")

    def __init__(self, text: str, nocase: bool = False) -> None:
        self.negated = text.startswith("!")
        if self.negated:
            text = text[1:]
        text = text.removeprefix("\\") if text[:2] in ("\\#", "\\!") else text
        self.directory = text.endswith("/")
        text = text.rstrip("/") if self.directory else text
        anchored = "/" in text
        text = text.lstrip("/")
        source = _translate(text)
        if not anchored:
            source = "(?:.*/)?" + source
        self.regex = _compile(source, nocase)

    def matches(self, path: str, is_dir: bool) -> bool:
        if self.directory and not is_dir or self.regex is None:
            return False
        data = path.encode("utf-8", "surrogateescape")
        return bool(self.regex(data)[0][0] == 0)


def _compile(source: str, nocase: bool) -> Any:
    """A function bytes -> spans of the match of the whole (linear: google-re2); None where the glob is invalid."""
    from re2 import Options, _re2
    options = Options()
    options.log_errors = False
    options.case_sensitive = not nocase
    engine = _re2.RE2(("(?s)" + source).encode("utf-8", "surrogateescape"), options)
    if not engine.ok():
        return None
    whole, match = _re2.RE2.Anchor.ANCHOR_BOTH, engine.Match
    return lambda data: match(whole, data, 0, len(data))


def _translate(text: str) -> str:
    """The glob as a regular expression without nested repetitions: `*` stays inside a component, `**` does not."""
    out = []
    i, n = 0, len(text)
    while i < n:
        c = text[i]
        if text.startswith("**/", i) and (i == 0 or text[i - 1] == "/"):
            out.append("(?:.*/)?")
            i += 3
            continue
        if text.startswith("**", i):
            while i < n and text[i] == "*":
                i += 1
            out.append(".*")
            continue
        i += 1
        if c == "*":
            out.append("[^/]*")
        elif c == "?":
            out.append("[^/]")
        elif c == "[":
            end = i + 1 if text.startswith(("!", "^"), i) else i
            end = text.find("]", end + 1)
            if end < 0:
                out.append("\\[")
                continue
            body = text[i:end].replace("\\", "\\\\")
            if body.startswith("!"):
                body = "^" + body[1:]
            out.append(f"[{body}]")
            i = end + 1
        elif c == "{":
            end = text.find("}", i)
            if end < 0:
                out.append("\\{")
                continue
            out.append("(?:" + "|".join(_translate(part) for part in text[i:end].split(",")) + ")")
            i = end + 1
        elif c == "\\" and i < n:
            out.append(re.escape(text[i]))
            i += 1
        else:
            out.append(re.escape(c))
    return "".join(out)


class IgnoreFile:
    """The rules of one file that lies in `directory` (a path with a slash at the end, or "")."""

    __slots__ = ("directory", "rules")

    def __init__(self, directory: str, text: str) -> None:
        self.directory = directory
        self.rules: list[Rule] = []
        for line in text.split("\n"):
            line = line.rstrip("\r")
            if not line.endswith("\\ "):
                line = line.rstrip(" ")
            if line and not line.startswith("#"):
                self.rules.append(Rule(line))

    def verdict(self, path: str, is_dir: bool) -> bool | None:
        """True: ignored, False: expressly not, None: nothing said."""
        if not path.startswith(self.directory):
            return None
        inner = path[len(self.directory):]
        for rule in reversed(self.rules):
            if rule.matches(inner, is_dir):
                return not rule.negated
        return None


class Overrides:
    """-g and --iglob: the last that matches decides; with a plain one given, files that match none are left out."""

    def __init__(self, globs: list[tuple[str, bool]]) -> None:
        self.rules = [Rule(text, nocase) for text, nocase in globs]
        self.whitelist = any(not rule.negated for rule in self.rules)

    def verdict(self, path: str, is_dir: bool) -> bool | None:
        """True: leave out, False: take, None: nothing said."""
        for rule in reversed(self.rules):
            if rule.matches(path, is_dir):
                return rule.negated
        return True if self.whitelist and not is_dir else None
