"""The forms in which diff prints changes: normal, unified, context, ed, RCS, side by side."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mirage.text.regex import Regex

Change = tuple[int, int, int, int]
RESET, BOLD, RED, GREEN, CYAN = b"\033[0m", b"\033[1m", b"\033[31m", b"\033[32m", b"\033[36m"
NO_NEWLINE = b"\n\\ No newline at end of file\n"


class Style:
    """Options of the printed form. `ignorable(change)` is True for a change that -B or -I hides."""

    def __init__(self) -> None:
        self.kind = "normal"
        self.formats: dict[str, bytes] = {}                  # of kind "ifdef": group and line formats
        self.context = 3
        self.color = False
        self.function: Regex | None = None
        self.initial_tab = False
        self.expand_tabs = False
        self.tab = 8
        self.width = 130
        self.left_column = self.suppress_common = False
        self.suppress_blank_empty = False


class File:
    """Lines without their newlines; `complete` is False when the last one has none."""

    __slots__ = ("complete", "header", "lines")

    def __init__(self, data: bytes, header: bytes) -> None:
        self.header = header
        self.lines = data.split(b"\n")
        self.complete = not self.lines[-1]
        if self.complete:
            self.lines.pop()

    def line(self, number: int) -> bytes:
        """A line with its newline, or with the note that it has none."""
        if number == len(self.lines) - 1 and not self.complete:
            return self.lines[number] + NO_NEWLINE
        return self.lines[number] + b"\n"


class Writer:
    def __init__(self, a: File, b: File, style: Style, write: Callable[[bytes], None]) -> None:
        self.a = a
        self.b = b
        self.style = style
        self.out = write

    def paint(self, color: bytes, text: bytes) -> bytes:
        if not self.style.color:
            return text
        body, newline, rest = text.partition(b"\n")
        return color + body + RESET + newline + rest

    def shown(self, prefix: bytes, file: File, number: int) -> bytes:
        text = file.line(number)
        style = self.style
        if style.suppress_blank_empty and prefix in (b" ", b"  ") and text == b"\n":
            return text
        if style.initial_tab:
            prefix = prefix.rstrip(b" ") + b"\t"
        return prefix + self.spread(text)

    def spread(self, line: bytes) -> bytes:
        """The line, with -t its tabs as blanks."""
        return line.expandtabs(self.style.tab) if self.style.expand_tabs else line

    def write(self, changes: Sequence[Change], ignorable: Callable[[Change], bool]) -> None:
        kind = self.style.kind
        if kind in ("unified", "context"):
            self.out(self.paint(BOLD, (b"--- " if kind == "unified" else b"*** ") + self.a.header + b"\n"))
            self.out(self.paint(BOLD, (b"+++ " if kind == "unified" else b"--- ") + self.b.header + b"\n"))
            for group in self.hunks(changes, ignorable):
                (self.unified if kind == "unified" else self.context)(group)
        elif kind == "ifdef":
            from mirage.commands._diff_ifdef import Merger
            Merger(self.a, self.b, self.style.formats, self.out).write(changes)
        elif kind == "side":
            SideBySide(self).write(changes, ignorable)
        elif kind in ("ed", "forward"):
            for change in reversed(changes) if kind == "ed" else changes:
                if not ignorable(change):
                    self.ed(change)
        else:
            for change in changes:
                if not ignorable(change):
                    (self.normal if kind == "normal" else self.rcs)(change)

    # ---- grouping with context

    def hunks(self, changes: Sequence[Change], ignorable: Callable[[Change], bool]) -> list[list[Change]]:
        """Changes less than twice the context apart go together; groups of only ignorable ones are dropped."""
        context = self.style.context
        groups: list[list[Change]] = []
        near = 2 * context + 1
        for change in changes:
            if groups:
                gap = change[0] - groups[-1][-1][1]
                limit = context if ignorable(change) else near
                if gap < limit or gap < near and not ignorable(change):
                    groups[-1].append(change)
                    continue
            groups.append([change])
        return [g for g in groups if not all(ignorable(c) for c in g)]

    def bounds(self, group: list[Change]) -> tuple[int, int, int, int]:
        context = self.style.context
        a0, b0, a1, b1 = group[0][0], group[0][2], group[-1][1], group[-1][3]
        before, before_b = min(context, a0), min(context, b0)
        after = min(context, len(self.a.lines) - a1)
        after_b = min(context, len(self.b.lines) - b1)
        return a0 - before, a1 + after, b0 - before_b, b1 + after_b

    def function_line(self, start: int) -> bytes:
        pattern = self.style.function
        if pattern is None:
            return b""
        for number in range(start - 1, -1, -1):
            if pattern.search(self.a.lines[number]):
                return b" " + self.a.lines[number].lstrip(b" \t\v\f\r")[:40].rstrip(b" \t\v\f\r\n")
        return b""

    def unified(self, group: list[Change]) -> None:
        a0, a1, b0, b1 = self.bounds(group)
        head = b"@@ -%s +%s @@" % (_unified_range(a0, a1), _unified_range(b0, b1))
        function = self.function_line(a0)
        self.out((CYAN + head + RESET if self.style.color else head) + function + b"\n")
        parts, at = [], a0
        for x0, x1, y0, y1 in group:
            parts += [self.shown(b" ", self.a, n) for n in range(at, x0)]
            parts += [self.paint(RED, self.shown(b"-", self.a, n)) for n in range(x0, x1)]
            parts += [self.paint(GREEN, self.shown(b"+", self.b, n)) for n in range(y0, y1)]
            at = x1
        parts += [self.shown(b" ", self.a, n) for n in range(at, a1)]
        self.out(b"".join(parts))

    def context(self, group: list[Change]) -> None:
        a0, a1, b0, b1 = self.bounds(group)
        out = [b"***************" + self.function_line(a0) + b"\n"]
        sides = ((self.a, a0, a1, 0, b"*** ", b" ****\n", b"- ", RED),
                 (self.b, b0, b1, 2, b"--- ", b" ----\n", b"+ ", GREEN))
        for file, low, high, which, left, right, mark, color in sides:
            out.append(self.paint(CYAN, left + _context_range(low, high) + right))
            if not any(change[which] != change[which + 1] for change in group):
                continue
            at = low
            for change in group:
                start, end = change[which], change[which + 1]
                out += [self.shown(b"  ", file, n) for n in range(at, start)]
                both = change[0] != change[1] and change[2] != change[3]
                out += [self.paint(color, self.shown(b"! " if both else mark, file, n)) for n in range(start, end)]
                at = end
            out += [self.shown(b"  ", file, n) for n in range(at, high)]
        self.out(b"".join(out))

    # ---- forms without context

    def normal(self, change: Change) -> None:
        x0, x1, y0, y1 = change
        letter = b"c" if x0 != x1 and y0 != y1 else b"d" if x0 != x1 else b"a"
        parts = [self.paint(CYAN, _range(x0, x1) + letter + _range(y0, y1) + b"\n")]
        parts += [self.paint(RED, self.shown(b"< ", self.a, n)) for n in range(x0, x1)]
        if letter == b"c":
            parts.append(b"---\n")
        parts += [self.paint(GREEN, self.shown(b"> ", self.b, n)) for n in range(y0, y1)]
        self.out(b"".join(parts))

    def rcs(self, change: Change) -> None:
        x0, x1, y0, y1 = change
        if x1 > x0:
            self.out(b"d%d %d\n" % (x0 + 1, x1 - x0))
        if y1 > y0:
            self.out(b"a%d %d\n" % (x1, y1 - y0))
            last = len(self.b.lines) - 1
            self.out(b"".join(self.spread(self.b.lines[n]) + (b"\n" if n < last or self.b.complete else b"")
                              for n in range(y0, y1)))

    def ed(self, change: Change) -> None:
        x0, x1, y0, y1 = change
        letter = b"c" if x0 != x1 and y0 != y1 else b"d" if x0 != x1 else b"a"
        if self.style.kind == "forward":
            self.out(letter + _range(x0, x1).replace(b",", b" ") + b"\n")
        else:
            self.out(_range(x0, x1) + letter + b"\n")
        if letter == b"d":
            return
        inserting = True
        for n in range(y0, y1):
            line = self.b.lines[n]
            if not inserting:
                self.out(b"a\n")
                inserting = True
            if line == b"." and self.style.kind == "ed":
                self.out(b"..\n.\ns/.//\n")
                inserting = False
            else:
                self.out(self.spread(line) + b"\n")
        if inserting:
            self.out(b".\n")


def _range(low: int, high: int) -> bytes:
    """Line numbers from 1: `3,5`, `4`; the line before for an empty range."""
    if high - low > 1:
        return b"%d,%d" % (low + 1, high)
    return b"%d" % high


def _unified_range(low: int, high: int) -> bytes:
    if high - low == 1:
        return b"%d" % high
    return b"%d,%d" % (low + 1 if high > low else low, high - low)


def _context_range(low: int, high: int) -> bytes:
    return b"%d,%d" % (low + 1, high) if high - low > 1 else b"%d" % high


class SideBySide:
    def __init__(self, writer: Writer) -> None:
        self.w = writer
        style = writer.style
        tab = 1 if style.expand_tabs else style.tab
        width = style.width
        offset = (width + tab + 3) // (2 * tab) * tab
        self.half = 0 if offset <= 3 or width <= offset else min(offset - 3, width - offset)
        self.second = offset if self.half else width
        self.expand, self.tab = style.expand_tabs, style.tab

    def write(self, changes: Sequence[Change], ignorable: Callable[[Change], bool]) -> None:
        a, b = self.w.a, self.w.b
        at_a = at_b = 0
        for change in changes:
            if ignorable(change):
                continue
            x0, x1, y0, y1 = change
            self.common(at_a, x0, at_b, y0)
            both = min(x1 - x0, y1 - y0)
            for n in range(both):
                self.row(a, x0 + n, b"|", b, y0 + n)
            for n in range(x0 + both, x1):
                self.row(a, n, b"<", None, 0)
            for n in range(y0 + both, y1):
                self.row(None, 0, b">", b, n)
            at_a, at_b = x1, y1
        self.common(at_a, len(a.lines), at_b, len(b.lines))

    def common(self, a0: int, a1: int, b0: int, b1: int) -> None:
        style = self.w.style
        if style.suppress_common:
            return
        a, b = self.w.a, self.w.b
        for n in range(max(a1 - a0, b1 - b0)):
            left, right = a0 + n < a1, b0 + n < b1
            if style.left_column:
                self.row(a, a0 + n, b"(", None, 0)
            elif left and right:
                self.row(a, a0 + n, b" ", b, b0 + n)
            elif left:
                self.row(a, a0 + n, b")", None, 0)
            else:
                self.row(None, 0, b"(", b, b0 + n)

    def row(self, left: File | None, left_number: int, separator: bytes, right: File | None, right_number: int) -> None:
        out: list[bytes] = []
        column = 0
        newline = False
        if left is not None:
            newline = left_number < len(left.lines) - 1 or left.complete
            column = self.cell(out, left.lines[left_number], 0)
        right_newline = right is not None and (right_number < len(right.lines) - 1 or right.complete)
        if separator != b" ":
            column = self.advance(out, column, (self.half + self.second - 1) // 2) + 1
            if separator == b"|" and newline != right_newline:
                separator = b"/" if newline else b"\\"
            out.append(separator)
        if right is not None:
            newline = newline or right_newline
            text = right.lines[right_number]
            if text:
                column = self.advance(out, column, self.second)
                self.cell(out, text, column)
        if newline:
            out.append(b"\n")
        color = {b"<": RED, b">": GREEN}.get(separator)
        line = b"".join(out)
        self.w.out(self.w.paint(color, line) if color else line)

    def advance(self, out: list[bytes], column: int, to: int) -> int:
        if not self.expand:
            at = column + self.tab - column % self.tab
            while at <= to:
                out.append(b"\t")
                column = at
                at += self.tab
        out.append(b" " * (to - column))
        return to

    def cell(self, out: list[bytes], line: bytes, indent: int) -> int:
        """One half line, cut to its width; the column behind it."""
        from mirage.commands._text import char_width
        position = shown = 0
        for char in line.decode("utf-8", "surrogateescape"):
            if char == "\t":
                spaces = self.tab - position % self.tab
                if position == shown:
                    stop = shown + spaces
                    if self.expand:
                        stop = min(stop, self.half)
                        out.append(b" " * (stop - shown))
                        shown = stop
                    elif stop < self.half:
                        shown = stop
                        out.append(b"\t")
                position += spaces
                continue
            position += max(0, char_width(char))
            if position <= self.half:
                shown = position
                out.append(char.encode("utf-8", "surrogateescape"))
        return shown
