"""Differences between trees, index and working tree: patches, --stat, --numstat, names."""
from __future__ import annotations

import hashlib

from mirage.commands._diff_output import File, Style, Writer
from mirage.text import myers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mirage.commands.git.store import Repository

Files = "Mapping[str, tuple[int, str]]"
NULL = "0" * 40


class Change:
    """One changed path; modes are 0 and shas "" where the side has no such file."""

    __slots__ = ("new", "new_mode", "new_sha", "old", "old_mode", "old_sha", "path", "source")

    def __init__(self, path: str, old_mode: int, new_mode: int, old: Callable[[], bytes], new: Callable[[], bytes],
                 old_sha: str, new_sha: str) -> None:
        self.path = path
        self.source = path
        self.old_mode = old_mode
        self.new_mode = new_mode
        self.old = old
        self.new = new
        self.old_sha = old_sha
        self.new_sha = new_sha

    @property
    def letter(self) -> str:
        return "A" if not self.old_mode else "D" if not self.new_mode else "R" if self.source != self.path else "M"


def blob_sha(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def trees(repo: Repository, old: Mapping[str, tuple[int, str]], new: Mapping[str, tuple[int, str]],
          paths: list[str]) -> list[Change]:
    """Changes between two sets of files, in the order of their paths; exact renames are found."""
    out = []
    for path in sorted(old.keys() | new.keys(), key=lambda p: p.encode("utf-8", "surrogateescape")):
        a, b = old.get(path, (0, "")), new.get(path, (0, ""))
        if a == b or paths and not matches(path, paths):
            continue
        out.append(Change(path, a[0], b[0], _reader(repo, a), _reader(repo, b), a[1], b[1]))
    return renames(out)


def _reader(repo: Repository, entry: tuple[int, str]) -> Callable[[], bytes]:
    mode, sha = entry
    if mode == 0o160000:
        return lambda: f"Subproject commit {sha}\n".encode()
    return lambda: repo.blob(sha)


def renames(changes: list[Change]) -> list[Change]:
    """A file that went and one that came with the same content are one rename."""
    gone = {c.old_sha: c for c in reversed(changes) if not c.new_mode}
    out, used = [], set()
    for change in changes:
        if not change.old_mode and change.new_sha in gone and gone[change.new_sha] not in used:
            source = gone[change.new_sha]
            used.add(source)
            change.source, change.old_mode, change.old, change.old_sha = source.path, source.old_mode, source.old, \
                source.old_sha
        out.append(change)
    return [c for c in out if c not in used]


def matches(path: str, paths: list[str]) -> bool:
    from mirage.text import pattern
    return any(not p or path == p or path.startswith(p.rstrip("/") + "/") or any(c in p for c in "*?[")
               and pattern.compile(p, extglob=False).matches(path) for p in paths)


def is_binary(data: bytes) -> bool:
    return b"\0" in data[:8000]


def compare(a: File, b: File, check: Callable[[], None]) -> list[tuple[int, int, int, int]]:
    numbers: dict[bytes, int] = {}
    sides = []
    for file in (a, b):
        side = [numbers.setdefault(line, len(numbers)) for line in file.lines]
        if not file.complete and side:
            side[-1] = numbers.setdefault(file.lines[-1] + b"\n\\", len(numbers))
        sides.append(side)
    return myers.changes(sides[0], sides[1], check=check)


def counts(repo: Repository, change: Change) -> tuple[int, int] | None:
    """(lines added, lines removed); None for binary files."""
    old, new = change.old(), change.new()
    if is_binary(old) or is_binary(new):
        return None
    found = compare(File(old, b""), File(new, b""), repo.proc.check)
    return sum(b1 - b0 for _, _, b0, b1 in found), sum(a1 - a0 for a0, a1, _, _ in found)


def patch(repo: Repository, change: Change, context: int, out: Callable[[bytes], None]) -> None:
    """One file of a patch."""
    old_name, new_name = f"a/{_quoted(change.source)}", f"b/{_quoted(change.path)}"
    head = f"diff --git {old_name} {new_name}\n"
    if not change.old_mode:
        head += f"new file mode {change.new_mode:06o}\n"
    elif not change.new_mode:
        head += f"deleted file mode {change.old_mode:06o}\n"
    elif change.old_mode != change.new_mode:
        head += f"old mode {change.old_mode:06o}\nnew mode {change.new_mode:06o}\n"
    if change.source != change.path and change.old_mode:
        head += f"similarity index 100%\nrename from {change.source}\nrename to {change.path}\n"
    old, new = change.old(), change.new()
    if old == new and change.old_mode and change.new_mode:
        out(head.encode("utf-8", "surrogateescape"))
        return
    new_sha = change.new_sha or (blob_sha(new) if change.new_mode else NULL)
    mode = f" {change.old_mode:06o}" if change.old_mode == change.new_mode else ""
    head += f"index {(change.old_sha or NULL)[:7]}..{new_sha[:7]}{mode}\n"
    if is_binary(old) or is_binary(new):
        a, b = old_name if change.old_mode else "/dev/null", new_name if change.new_mode else "/dev/null"
        out((head + f"Binary files {a} and {b} differ\n").encode("utf-8", "surrogateescape"))
        return
    before, after = File(old, b""), File(new, b"")
    found = compare(before, after, repo.proc.check)
    if not found:
        out(head.encode("utf-8", "surrogateescape"))
        return
    head += f"--- {old_name if change.old_mode else '/dev/null'}\n+++ {new_name if change.new_mode else '/dev/null'}\n"
    out(head.encode("utf-8", "surrogateescape"))
    style = Style()
    style.kind, style.context = "unified", context
    writer = Writer(before, after, style, out)
    for group in writer.hunks(found, lambda change: False):
        parts: list[bytes] = []
        hunk = Writer(before, after, style, parts.append)
        hunk.unified(group)
        text = b"".join(parts)
        first, newline, rest = text.partition(b"\n")
        out(first + _function(before, writer.bounds(group)[0]) + newline + rest)


def _function(file: File, start: int) -> bytes:
    """The last line before the hunk that begins with a letter, `_` or `$`: what it belongs to."""
    for number in range(start - 1, -1, -1):
        line = file.lines[number]
        if line[:1].isalpha() or line[:1] in (b"_", b"$"):
            return b" " + line[:80].rstrip()
    return b""


def _quoted(name: str) -> str:
    return name


def stat(repo: Repository, changes: list[Change], width: int = 80) -> str:
    """--stat: a line for each file and the sum."""
    if not changes:
        return ""
    rows = []
    for change in changes:
        name = renamed(change)
        rows.append((name, counts(repo, change), change))
    totals = [sum(found) for _, found, _ in rows if found is not None]
    most = max(totals, default=0)
    digits = max(len(str(most)), 3 if any(found is None for _, found, _ in rows) else 0)
    names = min(max(len(name) for name, _, _ in rows), width * 5 // 8)
    bar = width - names - digits - 6
    lines = []
    for name, found, change in rows:
        shown = name if len(name) <= names else "..." + name[len(name) - names + 3:]
        if found is None:
            lines.append(f" {shown:<{names}} | {'Bin':>{digits}} {len(change.old())} -> {len(change.new())} bytes\n")
            continue
        plus, minus = found
        total = plus + minus
        if most > bar:
            scaled = _scale(total, bar, most)
            shown_plus, shown_minus = (_scale(plus, bar, most), 0) if plus >= minus else (0, _scale(minus, bar, most))
            if plus and minus and scaled < 2:
                scaled = 2
            if plus >= minus:
                shown_minus = scaled - shown_plus
            else:
                shown_plus = scaled - shown_minus
        else:
            shown_plus, shown_minus = plus, minus
        graph = "+" * shown_plus + "-" * shown_minus
        lines.append(f" {shown:<{names}} | {total:>{digits}}{' ' if graph else ''}{graph}\n")
    return "".join(lines) + short_stat([found for _, found, _ in rows])


def renamed(change: Change) -> str:
    """The path, or for a rename `old => new` with what both share before and behind in front of braces."""
    old, new = change.source, change.path
    if old == new:
        return new
    start = 0
    for at, (a, b) in enumerate(zip(old, new, strict=False)):
        if a != b:
            break
        if a == "/":
            start = at + 1
    end = 0
    for at in range(1, min(len(old), len(new)) - start + 1):
        if old[-at] != new[-at]:
            break
        if old[-at] == "/":
            end = at
    if not start and not end:
        return f"{old} => {new}"
    middle = f"{{{old[start:len(old) - end]} => {new[start:len(new) - end]}}}"
    return old[:start] + middle + (old[len(old) - end:] if end else "")


def _scale(value: int, width: int, most: int) -> int:
    return 1 + value * (width - 1) // most if value else 0


def short_stat(found: list[tuple[int, int] | None]) -> str:
    plus = sum(f[0] for f in found if f is not None)
    minus = sum(f[1] for f in found if f is not None)
    text = f" {len(found)} file{'' if len(found) == 1 else 's'} changed"
    if plus or not minus:
        text += f", {plus} insertion{'' if plus == 1 else 's'}(+)"
    if minus or not plus:
        text += f", {minus} deletion{'' if minus == 1 else 's'}(-)"
    return text + "\n"


class Form:
    """Which forms a command prints, from its options."""

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.context = 3

    def take(self, word: str) -> bool:
        """Is `word` an option of this kind?"""
        if word in ("-p", "-u", "--patch"):
            self.kinds.append("patch")
        elif word in ("--stat", "--shortstat", "--numstat", "--name-only", "--name-status", "--raw", "--summary") \
                or word.startswith("--stat="):
            self.kinds.append(word[2:].partition("=")[0])
        elif word.startswith("-U") and word[2:].isdecimal() or word.startswith("--unified=") and word[10:].isdecimal():
            self.context = int(word.lstrip("-U").removeprefix("nified=") if word.startswith("-U") else word[10:])
            self.kinds.append("patch")
        elif word in ("--no-color", "--color=never", "--no-ext-diff", "-M", "-C", "--find-renames", "--minimal",
                      "--color",
                      "--no-renames", "--text", "-a", "--no-prefix=false", "--color=auto"):
            return True
        elif word in ("-s", "--no-patch"):
            self.kinds.append("none")
        else:
            return False
        return True

    def show(self, repo: Repository, changes: list[Change], out: Callable[[bytes], None], default: str) -> None:
        kinds = self.kinds or ([default] if default else [])
        if "none" in kinds:
            return
        for place, kind in enumerate(dict.fromkeys(kinds)):
            if kind == "patch":
                if place and changes:
                    out(b"\n")
                for change in changes:
                    patch(repo, change, self.context, out)
                continue
            text = ""
            if kind == "stat":
                text = stat(repo, changes)
            elif kind == "shortstat" and changes:
                text = short_stat([counts(repo, c) for c in changes])
            elif kind == "numstat":
                for change in changes:
                    found = counts(repo, change)
                    text += (f"{found[0]}\t{found[1]}" if found else "-\t-") + f"\t{renamed(change)}\n"
            elif kind == "name-only":
                text = "".join(f"{c.path}\n" for c in changes)
            elif kind == "name-status":
                text = "".join(f"R100\t{c.source}\t{c.path}\n" if c.letter == "R" else f"{c.letter}\t{c.path}\n"
                               for c in changes)
            elif kind == "raw":
                text = "".join(f":{c.old_mode:06o} {c.new_mode:06o} {(c.old_sha or NULL)[:7]} "
                               f"{(c.new_sha or NULL)[:7]} "
                               f"{c.letter}\t{c.path}\n" for c in changes)
            out(text.encode("utf-8", "surrogateescape"))
