"""Searching one file and printing what rg prints."""
from __future__ import annotations

import re

from mirage.commands._io import encode
from mirage.commands.rg.engine import Engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.commands.rg import Settings
    from mirage.process.process import Process

    Span = tuple[int, int]

_REFERENCE = re.compile(rb"\$(?:\{([^}]*)\}|([0-9A-Za-z_]+)|(\$))")
COLORS = {"path": b"\x1b[35m", "line": b"\x1b[32m", "match": b"\x1b[1m\x1b[31m"}
RESET = b"\x1b[0m"


class Line:
    """A line (or with -U a block of lines) that is printed: its place and its matches."""

    __slots__ = ("end", "matches", "start")

    def __init__(self, start: int, end: int, matches: list[list[Span]]) -> None:
        self.start = start
        self.end = end
        self.matches = matches


class Report:
    def __init__(self, proc: Process, settings: Settings, engine: Engine) -> None:
        self.proc = proc
        self.s = settings
        self.engine = engine
        self.matched = False
        self.first = True
        self.stats = {"matches": 0, "matched_lines": 0, "searched": 0, "files": 0, "bytes": 0, "printed": 0}

    # ---- one file

    def search(self, shown: str, data: bytes, explicit: bool) -> None:
        s = self.s
        self.stats["searched"] += 1
        self.stats["bytes"] += len(data)
        note = b""
        if not s.text and (nul := data.find(b"\0")) >= 0:
            if not explicit and not s.binary:
                if nul < 65536:
                    return
                data = data[:data.rfind(b"\n", 0, nul) + 1]
                note = b'WARNING: stopped searching binary file after match (found "\\0" byte around offset %d)' % nul
            else:
                note = b'binary file matches (found "\\0" byte around offset %d)' % nul
        lines = self._lines(data)
        if note and lines and not (s.count or s.count_matches or s.list_files or s.quiet):
            self.matched = True
            if note.startswith(b"binary"):
                lines = []
        if lines:
            self.matched = True
        self._print(shown, data, lines)
        if note and self.matched and not (s.count or s.count_matches or s.list_files or s.quiet or s.json):
            prefix = self._path(shown) + b": " if s.with_filename else b""
            self.proc.stdout.write(prefix + note + b"\n")

    def _lines(self, data: bytes) -> list[Line]:
        """The selected lines, with their matches (none with -v)."""
        s = self.s
        limit = s.max_count if s.max_count is not None else 1 << 62
        if limit == 0:
            return []
        found: list[Line] = []
        if s.invert:
            matched = iter(self._matching(data, 1 << 62))
            current = next(matched, None)
            pos = 0
            while pos < len(data) and len(found) < limit:
                end = data.find(b"\n", pos) + 1 or len(data)
                while current is not None and current.end <= pos:
                    current = next(matched, None)
                if current is None or current.start >= end:
                    found.append(Line(pos, end, []))
                pos = end
            return found
        return self._matching(data, limit)

    def _matching(self, data: bytes, limit: int) -> list[Line]:
        s = self.s
        need_all = bool(s.only_matching or s.replace is not None or s.count_matches or s.color or s.json or s.column
                        or s.vimgrep or s.multiline or s.stats)
        find = self.engine.find(data)
        total = len(data)
        found: list[Line] = []
        pos = 0
        while pos < total:
            spans = find(pos, total)
            if spans is None:
                break
            start, stop = spans[0]
            if start == total and data[-1:] == b"\n":
                break
            begin = data.rfind(b"\n", 0, start) + 1
            last = stop - 1 if stop > start and data[stop - 1:stop] == b"\n" else stop
            end = data.find(b"\n", last) + 1 or total
            if need_all:
                end, matches = self._all_matches(data, begin, end, spans, find)
            else:
                matches = [spans]
            if found and s.multiline and begin < found[-1].end:
                found[-1].end = max(end, found[-1].end)
                found[-1].matches += matches
            else:
                if len(found) >= limit:
                    break
                found.append(Line(begin, end, matches))
            if s.multiline:
                pos = max(matches[-1][0][1], pos + 1 if matches[-1][0][1] <= pos else 0)
                if len(found) > limit:
                    break
            else:
                pos = end
                if len(found) >= limit:
                    break
            if not len(found) & 1023:
                self.proc.check()
        return found

    def _all_matches(self, data: bytes, begin: int, end: int, spans: list[Span],
                     find: object) -> tuple[int, list[list[Span]]]:
        if self.s.multiline:
            return end, [spans]
        line = data[begin:end - 1] if data[end - 1:end] == b"\n" else data[begin:end]
        matches = []
        for found in self.engine.finditer(line):
            matches.append([(a + begin, b + begin) if a >= 0 else (a, b) for a, b in found])
        return end, matches or [spans]

    # ---- printing

    def _print(self, shown: str, data: bytes, lines: list[Line]) -> None:
        s, write = self.s, self.proc.stdout.write
        count = sum(len(line.matches) for line in lines) if not s.invert else len(lines)
        if lines:
            self.stats["files"] += 1
            self.stats["matched_lines"] += len(lines)
            self.stats["matches"] += count
        if s.quiet:
            return
        end = b"\0" if s.null else b"\n"
        if s.list_files:
            if bool(lines) == (s.list_files == "l"):
                write(self._path(shown) + end)
            return
        if s.count or s.count_matches:
            number = count if s.count_matches else len(lines)
            if number or s.include_zero:
                head = self._path(shown) + (b"\0" if s.null else b":") if s.with_filename else b""
                write(head + b"%d\n" % number)
            return
        if s.json:
            from mirage.commands.rg.json_report import print_json
            print_json(self, shown, data, lines)
            return
        if lines or s.passthru and data:
            self._text(shown, data, lines)

    def _path(self, shown: str) -> bytes:
        text = encode(shown)
        return RESET + COLORS["path"] + text + RESET if self.s.color else text

    def _text(self, shown: str, data: bytes, lines: list[Line]) -> None:
        s, out = self.s, self.proc.stdout
        if s.heading and s.with_filename:
            out.write((b"" if self.first else b"\n") + self._path(shown) + b"\n")
        elif (s.before or s.after) and not s.passthru and not self.first and s.separator is not None:
            out.write(s.separator + b"\n")
        self.first = False
        name = b"" if s.heading or not s.with_filename else self._path(shown)
        printed = 0
        number = 0
        counted = 0
        started = False

        def emit(start: int, end: int, sep: bytes, line: Line | None) -> None:
            nonlocal number, counted
            if s.number:
                number += data.count(b"\n", counted, start)
                counted = start
            self._line(name, data, start, end, sep, number + 1, line)

        if s.passthru:
            selected = {line.start: line for line in lines}
            pos = 0
            last = lines[-1].start if s.max_count is not None and len(lines) == s.max_count else len(data)
            while pos < len(data) and pos <= last:
                end = data.find(b"\n", pos) + 1 or len(data)
                emit(pos, end, b":" if pos in selected else b"-", selected.get(pos))
                pos = end
            return
        for i, line in enumerate(lines):
            begin = line.start
            for _ in range(s.before):
                if begin <= printed:
                    break
                begin = data.rfind(b"\n", 0, begin - 1) + 1 if begin else 0
            if started and begin > printed and (s.before or s.after) and s.separator is not None:
                out.write(s.separator + b"\n")
            while begin < line.start:
                end = data.find(b"\n", begin) + 1
                emit(begin, end, b"-", None)
                begin = end
            emit(line.start, line.end, b":", line)
            printed = line.end
            started = True
            following = lines[i + 1].start if i + 1 < len(lines) else len(data)
            for _ in range(s.after):
                if printed >= following:
                    break
                end = data.find(b"\n", printed) + 1 or len(data)
                emit(printed, end, b"-", None)
                printed = end

    def _head(self, name: bytes, sep: bytes, number: int, column: int | None, offset: int | None) -> bytes:
        s = self.s
        parts = []
        mark = s.match_separator if sep == b":" else s.context_mark
        if name:
            parts.append(name + (b"\0" if s.null else mark))
        if s.number:
            text = b"%d" % number
            parts.append((RESET + COLORS["line"] + text + RESET if s.color else text) + mark)
        if column is not None:
            parts.append(b"%d" % column + mark)
        if offset is not None:
            parts.append(b"%d" % offset + mark)
        return b"".join(parts)

    def _line(self, name: bytes, data: bytes, start: int, end: int, sep: bytes, number: int,
              line: Line | None) -> None:
        s, write = self.s, self.proc.stdout.write
        body = data[start:end]
        body = body[:-1] if body.endswith(b"\n") else body
        offset = start if s.byte_offset else None
        matches = line.matches if line is not None else []
        if s.only_matching and matches:
            for spans in matches:
                a, b = spans[0]
                text = self._replaced(data, spans) if s.replace is not None else data[a:b].removesuffix(b"\n")
                if s.color and text:
                    text = RESET + COLORS["match"] + text + RESET
                column = a - start + 1 if s.column else None
                write(self._head(name, sep, number + data.count(b"\n", start, a), column,
                                 a if s.byte_offset else None) + text + b"\n")
            return
        if s.vimgrep and matches:
            for spans in matches:
                place = spans[0][0] if s.byte_offset else None
                write(self._head(name, sep, number, spans[0][0] - start + 1, place) + body + b"\n")
            return
        if matches and (s.replace is not None or s.color):
            body = self._marked(data, start, start + len(body), matches)
        if s.trim:
            body = body.lstrip(b" \t\r\n\v\f")
        replaced = bool(matches) and s.replace is not None
        if s.max_columns and len(body) + (not replaced) > s.max_columns:     # with its newline, where it is the input's
            if replaced:
                body = b"[Omitted long line with %d matches]" % len(matches)
            else:
                body = b"[Omitted long matching line]" if matches else b"[Omitted long context line]"
        column = matches[0][0][0] - start + 1 if s.column and matches else None
        head = self._head(name, sep, number, column, offset)
        if b"\n" in body:
            rows = []
            for i, row in enumerate(body.split(b"\n")):
                rows.append(self._head(name, sep, number + i, column, offset) + row)
            write(b"\n".join(rows) + b"\n")
            return
        write(head + body + b"\n")

    def _marked(self, data: bytes, start: int, end: int, matches: list[list[Span]]) -> bytes:
        out = []
        at = start
        if self.s.replace is None:
            matches = _joined(matches)
        for spans in matches:
            a, b = spans[0]
            text = self._replaced(data, spans) if self.s.replace is not None else data[a:min(b, end)]
            out.append(data[at:a])
            out.append(RESET + COLORS["match"] + text + RESET if self.s.color and text else text)
            at = b
        out.append(data[at:end] if at < end else b"")
        return b"".join(out)

    def _replaced(self, data: bytes, spans: list[Span]) -> bytes:
        assert self.s.replace is not None

        def group(found: re.Match[bytes]) -> bytes:
            if found[3] is not None:
                return b"$"
            name = (found[1] if found[1] is not None else found[2]).decode("utf-8", "surrogateescape")
            index = int(name) if name.isdecimal() else self.engine.names.get(name, -1)
            if not 0 <= index < len(spans) or spans[index][0] < 0:
                return b""
            return data[spans[index][0]:spans[index][1]]

        return _REFERENCE.sub(group, self.s.replace)


def _joined(matches: list[list[Span]]) -> list[list[Span]]:
    """Matches one right after the other are one coloured text."""
    out: list[list[Span]] = []
    for spans in matches:
        if out and out[-1][0][1] == spans[0][0]:
            out[-1] = [(out[-1][0][0], spans[0][1])]
        else:
            out.append(spans)
    return out
