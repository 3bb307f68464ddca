"""Reading patches: unified, context, normal diffs to hunks; ed scripts to commands."""
from __future__ import annotations

import re

_UNIFIED = re.compile(rb"@@ -([0-9]+)(?:,([0-9]+))? \+([0-9]+)(?:,([0-9]+))? @@")
_NORMAL = re.compile(rb"([0-9]+)(?:,([0-9]+))?([acd])([0-9]+)(?:,([0-9]+))?\r?\n?\Z")
_CONTEXT_OLD = re.compile(rb"\*\*\* ([0-9]+)(?:,([0-9]+))? \*\*\*\*")
_CONTEXT_NEW = re.compile(rb"--- ([0-9]+)(?:,([0-9]+))? ----")
_ED = re.compile(rb"([0-9]+)(?:,([0-9]+))?([acd])\n?\Z")
NO_NEWLINE = b"\\ No newline"


class Malformed(Exception):
    """The patch breaks off or counts wrong; carries the line number."""


class Hunk:
    """`rows` are (sign, line) with sign b" ", b"-" or b"+"; starts count from 1."""

    __slots__ = ("header", "new_start", "old_start", "rows")

    def __init__(self, old_start: int, new_start: int, header: bytes = b"") -> None:
        self.old_start = old_start
        self.new_start = new_start
        self.header = header
        self.rows: list[tuple[bytes, bytes]] = []

    @property
    def old(self) -> list[bytes]:
        return [line for sign, line in self.rows if sign != b"+"]

    @property
    def new(self) -> list[bytes]:
        return [line for sign, line in self.rows if sign != b"-"]

    def context(self) -> tuple[int, int]:
        """Lines of context before the first change and behind the last one."""
        signs = [sign for sign, _ in self.rows]
        before = next((n for n, sign in enumerate(signs) if sign != b" "), len(signs))
        after = next((n for n, sign in enumerate(reversed(signs)) if sign != b" "), len(signs))
        return before, after

    def reversed(self) -> Hunk:
        out = Hunk(self.new_start, self.old_start, self.header)
        swap = {b"+": b"-", b"-": b"+", b" ": b" "}
        rows = [(swap[sign], line) for sign, line in self.rows]
        at = 0
        while at < len(rows):                                # deletions come before insertions
            end = at
            while end < len(rows) and rows[end][0] != b" ":
                end += 1
            out.rows += sorted(rows[at:end], key=lambda row: row[0] == b"+")
            out.rows += rows[end:end + 1]
            at = end + 1
        return out


class FilePatch:
    """Hunks, or the commands (first line, last line, letter, text) of an ed script."""

    __slots__ = ("hunks", "index", "new_name", "old_name", "script")

    def __init__(self) -> None:
        self.old_name = self.new_name = self.index = ""
        self.hunks: list[Hunk] = []
        self.script: list[tuple[int, int, bytes, list[bytes]]] = []


def _name(line: bytes) -> str:
    text = line.rstrip(b"\r\n")
    return (text.split(b"\t")[0] if b"\t" in text else text.split(b" ")[0]).decode("utf-8", "surrogateescape")


def parse(data: bytes) -> list[FilePatch]:
    """All patches of a text; what is between them is ignored. Raises Malformed."""
    lines = data.splitlines(keepends=True) if b"\r" not in data else [x + b"\n" for x in data.split(b"\n")]
    out: list[FilePatch] = []
    current = FilePatch()
    at = 0
    while at < len(lines):
        line = lines[at]
        following = lines[at + 1] if at + 1 < len(lines) else b""
        if line.startswith(b"Index: "):
            current = FilePatch()
            current.index = line[7:].strip().decode("utf-8", "surrogateescape")
        elif line.startswith(b"--- ") and following.startswith(b"+++ "):
            index = current.index if not current.hunks else ""
            current = FilePatch()
            current.index, current.old_name, current.new_name = index, _name(line[4:]), _name(following[4:])
            at += 2
            continue
        elif line.startswith(b"*** ") and following.startswith(b"--- ") and not _CONTEXT_OLD.match(line):
            index = current.index if not current.hunks else ""
            current = FilePatch()
            current.index, current.old_name, current.new_name = index, _name(line[4:]), _name(following[4:])
            at += 2
            continue
        elif found := _CONTEXT_OLD.match(line):
            at = _context(current, found, lines, at)
            if current not in out:
                out.append(current)
            continue
        elif found := _UNIFIED.match(line):
            at = _unified(current, found, lines, at)
            if current not in out:
                out.append(current)
            continue
        elif found := _NORMAL.match(line):
            at = _normal(current, found, lines, at)
            if current not in out:
                out.append(current)
            continue
        elif not current.hunks and (found := _ED.match(line)):
            at = _ed(current, found, lines, at)
            if current not in out:
                out.append(current)
            continue
        at += 1
    return out


def _ed(patch: FilePatch, found: re.Match[bytes], lines: list[bytes], at: int) -> int:
    """One command of an ed script with its text, which `s/.//` may have shortened and `a` continued."""
    text: list[bytes] = []
    at += 1
    reading = found[3] != b"d"
    while reading:
        if at >= len(lines):
            raise Malformed(at)
        line = lines[at]
        at += 1
        if line == b".\n":
            reading = False
            if at < len(lines) and lines[at] == b"s/.//\n" and text:
                text[-1] = text[-1][1:]
                at += 1
                if at < len(lines) and lines[at] == b"a\n":
                    at += 1
                    reading = True
        else:
            text.append(line)
    patch.script.append((int(found[1]), int(found[2] or found[1]), found[3], text))
    return at


def _side(lines: list[bytes], at: int, count: int, signs: bytes) -> tuple[list[tuple[bytes, bytes]], int]:
    """Up to `count` lines of one half of a context hunk."""
    rows: list[tuple[bytes, bytes]] = []
    while len(rows) < count and at < len(lines) and lines[at][:1] in signs.split(b"|") and lines[at][1:2] in (b" ",
                                                                                                              b"\n"):
        rows.append((lines[at][:1], lines[at][2:]))
        at += 1
        if at < len(lines) and lines[at].startswith(NO_NEWLINE):
            rows[-1] = (rows[-1][0], rows[-1][1].rstrip(b"\n"))
            at += 1
    return rows, at


def _context(patch: FilePatch, found: re.Match[bytes], lines: list[bytes], at: int) -> int:
    start, end = int(found[1]), int(found[2] or found[1])
    hunk_line = lines[at]
    old, at = _side(lines, at + 1, end - start + 1 if end else 0, b" |!|-")
    second = _CONTEXT_NEW.match(lines[at]) if at < len(lines) else None
    if second is None:
        raise Malformed(at + 1)
    new_start, new_end = int(second[1]), int(second[2] or second[1])
    new, at = _side(lines, at + 1, new_end - new_start + 1 if new_end else 0, b" |!|+")
    if not old:
        old = [row for row in new if row[0] == b" "]
    if not new:
        new = [row for row in old if row[0] == b" "]
    hunk = Hunk(start, new_start, hunk_line)
    i = j = 0
    while i < len(old) or j < len(new):
        if i < len(old) and old[i][0] != b" ":
            hunk.rows.append((b"-", old[i][1]))
            i += 1
        elif j < len(new) and new[j][0] != b" ":
            hunk.rows.append((b"+", new[j][1]))
            j += 1
        elif i < len(old) and j < len(new):
            hunk.rows.append((b" ", old[i][1]))
            i, j = i + 1, j + 1
        else:
            raise Malformed(at)
    patch.hunks.append(hunk)
    return at


def _unified(patch: FilePatch, found: re.Match[bytes], lines: list[bytes], at: int) -> int:
    hunk = Hunk(int(found[1]), int(found[3]), lines[at])
    old_left, new_left = int(found[2] or 1), int(found[4] or 1)
    at += 1
    while old_left or new_left:
        if at >= len(lines):
            raise Malformed(at)
        line = lines[at]
        at += 1
        sign, text = line[:1], line[1:]
        if line in (b"\n", b"\r\n"):
            sign, text = b" ", line
        if sign not in (b" ", b"+", b"-"):
            raise Malformed(at)
        hunk.rows.append((sign, text))
        old_left -= sign != b"+"
        new_left -= sign != b"-"
        if at < len(lines) and lines[at].startswith(NO_NEWLINE):
            hunk.rows[-1] = (sign, text.rstrip(b"\n"))
            at += 1
    patch.hunks.append(hunk)
    return at


def _normal(patch: FilePatch, found: re.Match[bytes], lines: list[bytes], at: int) -> int:
    start, end = int(found[1]), int(found[2] or found[1])
    hunk = Hunk(start, int(found[4]), lines[at])
    removed = end - start + 1 if found[3] != b"a" else 0
    added = int(found[5] or found[4]) - int(found[4]) + 1 if found[3] != b"d" else 0
    at += 1
    for sign, mark, count in ((b"-", b"< ", removed), (b"+", b"> ", added)):
        if sign == b"+" and removed and added and lines[at:at + 1] == [b"---\n"]:
            at += 1
        for _ in range(count):
            if at >= len(lines) or not lines[at].startswith(mark):
                raise Malformed(at + 1)
            text = lines[at][2:]
            at += 1
            if at < len(lines) and lines[at].startswith(NO_NEWLINE):
                text = text.rstrip(b"\n")
                at += 1
            hunk.rows.append((sign, text))
    patch.hunks.append(hunk)
    return at
