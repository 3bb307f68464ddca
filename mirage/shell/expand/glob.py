"""Pathname expansion."""

from __future__ import annotations

import re

from mirage.text import pattern as patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mirage.shell.state import Shell
    from mirage.vfs.filesystem import FileSystem
    from mirage.vfs.types import Entry


def expand_pattern(sh: Shell, pattern: str, text: str) -> list[str]:
    """The names that match `pattern`, sorted; without any, what nullglob and failglob say, else `text` itself."""
    shopt = sh.shopt
    if not patterns.has_magic(pattern, shopt["extglob"]) and not _has_brackets(pattern):
        return [text]
    found = glob(sh, pattern)
    if found:
        return found
    if shopt["failglob"]:
        raise sh.fail(f"no match: {text}")
    return [] if shopt["nullglob"] else [text]


def _has_brackets(pattern: str) -> bool:
    """An opening bracket and a closing one behind it make a pattern for bash, whatever is between them (`a[]`)."""
    if "[" not in pattern or "]" not in pattern:
        return False
    bare = re.sub(r"\\.", "", pattern, flags=re.S)
    return -1 < bare.find("[") < bare.rfind("]")


def glob(sh: Shell, pattern: str) -> list[str]:
    """The sorted names that match `pattern` under the options of the shell; empty when nothing does."""
    walker = _Walker(sh)
    walker.match("", _components(pattern))
    found = walker.found
    ignored = sh.get("GLOBIGNORE")
    if ignored:
        found = _not_ignored(found, ignored, sh)
    found.sort(key=sort_key)
    return found


def sort_key(name: str) -> str:
    """Sorts as C.UTF-8 does: by code points, bytes that are not UTF-8 last."""
    if name.isascii():
        return name
    return "".join(chr(ord(char) + 0x100000) if "\udc80" <= char <= "\udcff" else char for char in name)


def _components(pattern: str) -> list[tuple[str, str]]:
    """(component, the slashes after it); the first component is empty for an absolute pattern."""
    out: list[tuple[str, str]] = []
    start = pos = 0
    size = len(pattern)
    depth = 0
    while pos < size:
        char = pattern[pos]
        if char == "\\":
            if pattern[pos + 1 : pos + 2] == "/":
                pattern = pattern[:pos] + pattern[pos + 1 :]
                size -= 1
                continue
            pos += 2
            continue
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        if char == "/":
            end = pos
            while end < size and pattern[end] == "/":
                end += 1
            out.append((pattern[start:pos], pattern[pos:end]))
            start = pos = end
            continue
        pos += 1
    out.append((pattern[start:], ""))
    return out


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    out, pos = [], 0
    while pos < len(text):
        if text[pos] == "\\" and pos + 1 < len(text):
            pos += 1
        out.append(text[pos])
        pos += 1
    return "".join(out)


def _not_ignored(found: list[str], ignored: str, sh: Shell) -> list[str]:
    """What GLOBIGNORE leaves: ``.`` and ``..`` never."""
    lists = [_components(text) for text in _split_colons(ignored)]
    extglob, nocase = sh.shopt["extglob"], sh.shopt["nocaseglob"]
    kept = []
    for name in found:
        if name.rsplit("/", 1)[-1] in (".", ".."):
            continue
        parts = name.split("/")
        for components in lists:
            further = len(components) < len(parts) and components[-1][0].endswith("*")  # bash's last * takes slashes
            if (further or len(components) == len(parts)) and all(
                patterns.compile(pattern, extglob, nocase).matches(part)
                for (pattern, _), part in zip(components, parts, strict=False)
            ):
                break
        else:
            kept.append(name)
    return kept


def _split_colons(text: str) -> list[str]:
    out, piece, pos = [], "", 0
    while pos < len(text):
        if text[pos] == "\\" and pos + 1 < len(text):
            piece += text[pos : pos + 2]
            pos += 2
            continue
        if text[pos] == ":":
            out.append(piece)
            piece = ""
        else:
            piece += text[pos]
        pos += 1
    out.append(piece)
    return [part for part in out if part]


class _Walker:
    """One expansion: `match` goes down the components and collects names in `found`."""

    __slots__ = ("dots", "extglob", "found", "fs", "globstar", "nocase", "sh")

    def __init__(self, sh: Shell) -> None:
        shopt = sh.shopt
        self.sh = sh
        self.fs: FileSystem = sh.proc.fs
        self.extglob = shopt["extglob"]
        self.nocase = shopt["nocaseglob"]
        self.globstar = shopt["globstar"]
        self.dots = shopt["dotglob"] or bool(sh.get("GLOBIGNORE"))
        self.found: list[str] = []

    def match(self, prefix: str, components: list[tuple[str, str]], at: int = 0) -> None:
        """`prefix`: what is matched so far, ending in a slash (or empty)."""
        component, slashes = components[at]
        last = at == len(components) - 1
        if not component:
            if not last:
                self.match(prefix + slashes, components, at + 1)
            elif prefix:
                self.found.append(prefix)
            return
        if self.globstar and component == "**":
            self._any_depth(prefix, components, at)
            return
        if not patterns.has_magic(component, self.extglob) and not (self.nocase and _has_letters(component)):
            path = prefix + _unescape(component)
            if last:
                if self._exists(path):
                    self.found.append(path)
            elif self.fs.is_dir(path):
                self.match(path + slashes, components, at + 1)
            return
        matcher = patterns.compile(component, self.extglob, self.nocase)
        self.sh.kernel.tick()
        dots = self.dots or _begins_with_dot(component, self.extglob)
        matches = matcher.matches
        entries: Iterable[Entry] = self._list(prefix)
        names: list[tuple[str, Entry | None]] = [
            (entry.name, entry)
            for entry in entries
            if (dots or not entry.name.startswith(".")) and matches(entry.name)
        ]
        if not self.sh.shopt["globskipdots"]:
            names += [(name, None) for name in (".", "..") if component.startswith(".") and matches(name)]
        if last:
            self.found += [prefix + name for name, _ in names]
            return
        for name, entry in names:
            path = prefix + name
            if entry is None or self._is_dir(path, entry):
                self.match(path + slashes, components, at + 1)

    def _any_depth(self, prefix: str, components: list[tuple[str, str]], at: int) -> None:
        """``**``: any number of directories (symbolic links are not followed), as the last component also files."""
        while at + 1 < len(components) and components[at + 1][0] == "**":
            at += 1
        last = at == len(components) - 1
        if last:
            if prefix:
                self.found.append(prefix)
        else:
            self.match(prefix, components, at + 1)
        self._below(prefix, components, at, last)

    def _below(self, prefix: str, components: list[tuple[str, str]], at: int, last: bool) -> None:
        pending = [prefix]
        while pending:
            directory = pending.pop()
            self.sh.kernel.tick()
            for entry in self._list(directory):
                name = entry.name
                if name.startswith(".") and not self.dots:
                    continue
                path = directory + name
                stat = entry.stat
                if stat is None:
                    try:
                        stat = self.fs.stat(path, False)
                    except OSError:
                        continue
                if last:
                    self.found.append(path)
                if stat.is_link and not last and not components[at + 1][0] and self.fs.is_dir(path):
                    self.found.append(path + "/")
                if stat.is_dir:
                    if not last:
                        self.match(path + "/", components, at + 1)
                    pending.append(path + "/")

    def _list(self, prefix: str) -> Iterable[Entry]:
        try:
            return self.fs.list(prefix or ".")
        except OSError:
            return ()

    def _is_dir(self, path: str, entry: Entry) -> bool:
        stat = entry.stat
        if stat is not None and not stat.is_link:
            return stat.is_dir
        return self.fs.is_dir(path)

    def _exists(self, path: str) -> bool:
        try:
            self.fs.stat(path, False)
        except OSError:
            return False
        return True


def _begins_with_dot(pattern: str, extglob: bool) -> bool:
    """Does the pattern itself match a leading period (perhaps after a group that can be empty, or inside one)?"""
    if pattern.startswith((".", "\\.")):
        return True
    if not extglob or pattern[1:2] != "(" or pattern[0] not in "?*+@":
        return False
    end = patterns.group_end(pattern, 2)
    if end < 0:
        return False
    if any(_begins_with_dot(part, True) for part in patterns.alternatives(pattern, 2, end)):
        return True
    return pattern[0] in "?*" and _begins_with_dot(pattern[end + 1 :], True)


def _has_letters(text: str) -> bool:
    return text.lower() != text.upper()
