"""pr: paginate or columnate files for printing."""
from __future__ import annotations

import re

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse
from mirage.commands._io import decode, encode, open_input, read_all
from mirage.commands._text import fatal, quote, shell_quote
from mirage.text.strftime import at as moment_at
from mirage.text.strftime import strftime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.process.process import Process

SPEC = Spec("0123456789+abcdD:e::fFh:i::Jl:mn::N:o:rs::S::tTvw:W:", {
    "pages": ("pages", REQUIRED), "columns": ("columns", REQUIRED), "across": ("a", NONE),
    "show-control-chars": ("c", NONE), "double-space": ("d", NONE), "date-format": ("D", REQUIRED),
    "expand-tabs": ("e", OPTIONAL), "form-feed": ("F", NONE), "header": ("h", REQUIRED), "output-tabs": ("i", OPTIONAL),
    "join-lines": ("J", NONE), "length": ("l", REQUIRED), "merge": ("m", NONE), "number-lines": ("n", OPTIONAL),
    "first-line-number": ("N", REQUIRED), "indent": ("o", REQUIRED), "no-file-warnings": ("r", NONE),
    "separator": ("s", OPTIONAL), "sep-string": ("S", OPTIONAL), "omit-header": ("t", NONE),
    "omit-pagination": ("T", NONE), "show-nonprinting": ("v", NONE), "width": ("w", REQUIRED),
    "page-width": ("W", REQUIRED)},
    help="Usage: NAME [OPTION]... [FILE]...\nPaginate or columnate FILE(s) for printing.\n")


class Options:
    def __init__(self) -> None:
        self.flags: set[str] = set()
        self.columns = 1
        self.first_page, self.last_page = 1, 1 << 60
        self.date = ""
        self.header: str | None = None
        self.tab_in, self.tab_in_width = "\t", 8
        self.tab_out, self.tab_out_width = "\t", 8
        self.expand = self.tabify = False
        self.length = 66
        self.number = False
        self.number_separator, self.digits = "\t", 5
        self.first_number: int | None = None
        self.margin = 0
        self.separator: str | None = None
        self.width: int | None = None
        self.truncate = False


def _count(proc: Process, text: str, what: str, least: int = 1) -> int:
    if not re.fullmatch(r"[0-9]+", text) or len(text) > 9 or int(text) < least:
        raise fatal(proc, f"{what}: {quote(proc, text)}")
    return int(text)


def _char_width(proc: Process, value: str, option: str, char: str, width: int) -> tuple[str, int]:
    """The argument [CHAR[WIDTH]] of -e, -i and -n."""
    if value and not value[0].isdigit():
        char, value = value[0], value[1:]
    if value:
        if not value.isdecimal() or len(value) > 6 or int(value) == 0:
            raise fatal(proc, f"'-{option}' extra characters or invalid number in the argument: {quote(proc, value)}")
        width = int(value)
    return char, width


def _options(proc: Process) -> tuple[Options, list[str]]:
    o, args, digits = Options(), [], ""
    for arg in proc.argv[1:]:
        found = re.fullmatch(r"\+([0-9]+)(?::([0-9]+))?", arg)
        args.append(f"--pages={arg[1:]}" if found else arg)
    options, operands = parse(proc, SPEC, args)
    for key, value in options:
        if key.isdecimal():
            digits += key
            o.columns = _count(proc, digits, "invalid number of columns")
            continue
        digits = ""
        if key == "columns":
            o.columns = _count(proc, value, "invalid number of columns")
        elif key == "pages":
            first, colon, last = value.partition(":")
            if not first.isdecimal() or colon and not last.isdecimal():
                raise fatal(proc, f"invalid page range {quote(proc, value)}")
            o.first_page = int(first)
            o.last_page = int(last) if colon else o.last_page
        elif key == "D":
            o.date = value
        elif key == "e":
            o.expand = True
            o.tab_in, o.tab_in_width = _char_width(proc, value, "e", "\t", 8)
        elif key == "i":
            o.tabify = True
            o.tab_out, o.tab_out_width = _char_width(proc, value, "i", "\t", 8)
        elif key == "h":
            o.header = value
        elif key == "l":
            o.length = _count(proc, value, "'-l PAGE_LENGTH' invalid number of lines")
        elif key == "n":
            o.number = True
            o.number_separator, o.digits = _char_width(proc, value, "n", "\t", 5)
        elif key == "N":
            if not re.fullmatch(r"-?[0-9]{1,9}", value):
                raise fatal(proc, f"'-N NUMBER' invalid starting line number: {quote(proc, value)}")
            o.first_number = int(value)
        elif key == "o":
            o.margin = _count(proc, value, "'-o MARGIN' invalid line offset", 0)
        elif key in "sS" and len(key) == 1:
            if key == "s":
                o.separator = value[:1] or "\t"
                if o.width is None:
                    o.flags.add("full")
            else:
                o.separator = value
        elif key == "w":
            o.width = _count(proc, value, "'-w PAGE_WIDTH' invalid number of characters")
        elif key == "W":
            o.width = _count(proc, value, "'-W PAGE_WIDTH' invalid number of characters")
            o.truncate = True
        o.flags.add("F" if key == "f" else key)
    if "m" in o.flags and o.columns > 1:
        raise fatal(proc, "cannot specify number of columns when printing in parallel")
    if "m" in o.flags and "a" in o.flags:
        raise fatal(proc, "cannot specify both printing across and printing in parallel")
    return o, operands


def _width(text: str) -> int:
    """Columns of a text as pr counts them: bytes that are not ASCII take none."""
    if text.isascii() and text.isprintable():
        return len(text)
    return sum((32 <= ord(char) < 127) - (char == "\b") for char in text)


def _cut(text: str, width: int) -> str:
    """As much of a text as has room."""
    if text.isascii():
        return text[:width]
    for place, char in enumerate(text):
        width -= 32 <= ord(char) < 127
        if width < 0:
            return text[:place]
    return text


class Line:
    """An output line; blanks wait for what follows them: they become tabs, or are left out at the end (`tabify`)."""

    __slots__ = ("column", "pending", "tab", "tabify", "text", "width")

    def __init__(self, tabify: bool, tab: str, width: int) -> None:
        self.text = ""
        self.column = self.pending = 0
        self.tabify, self.tab, self.width = tabify, tab, width

    def pad(self, goal: int) -> None:
        """Blanks up to a column."""
        if self.tabify:
            self.pending = max(0, goal - self.column)
        else:
            self.text += " " * (goal - self.column)
            self.column = max(goal, self.column)

    def put(self, text: str, width: Callable[[str], int] = _width) -> None:
        if not self.tabify:
            self.text += text
            self.column += width(text)
            return
        for piece in re.split(r"( +)", text):
            if piece[:1] == " ":
                self.pending += len(piece)
            elif piece:
                self.flush()
                self.text += piece
                self.column += width(piece)

    def flush(self) -> None:
        """Write the blanks that wait, with tabs where they reach a tab stop."""
        column, goal = self.column, self.column + self.pending
        while goal - column > 1 and (after := column + self.width - column % self.width) <= goal:
            self.text += self.tab
            column = after
        self.text += " " * (goal - column)
        self.column, self.pending = goal, 0


class Printer:
    def __init__(self, proc: Process, o: Options, columns: int) -> None:
        self.proc = proc
        self.o = o
        self.columns = columns
        multi = columns > 1
        joined = "J" in o.flags
        self.separator = o.separator if o.separator is not None else ("\t" if joined else " ") if multi else ""
        self.width = o.width or 72
        self.full = joined or "full" in o.flags and o.width is None
        if "s" in o.flags and self.separator == "\t" and not self.full:
            self.separator = ""
        self.align = multi and not self.full
        self.expand = o.expand or multi and self.separator != "\t"
        self.tabify = o.tabify or multi
        used = (columns - 1) * len(self.separator)
        if "m" in o.flags and o.number:
            used += self._number_width()
        self.column_width = (self.width - used) // columns if multi else self.width
        if self.align and self.column_width < 1:
            raise fatal(proc, "page width too narrow")
        self.headed = not o.flags & {"t", "T"} and o.length > 10
        self.body = o.length - (5 if "F" in o.flags else 10) if self.headed else o.length
        self.text_lines = max(1, self.body // 2) if "d" in o.flags else self.body
        self.fed: set[int] = set()                           # pages that a form feed of the input ended
        self.number = 1 if o.first_number is None else o.first_number

    def _number_width(self) -> int:
        o = self.o
        if o.number_separator == "\t":
            return o.digits + 8 - o.digits % 8
        return o.digits + 1

    # ---- input

    def clean(self, line: str) -> str:
        """Tabs expanded and control characters shown, as the options say."""
        flags = self.o.flags
        if line.isprintable() and (not self.expand or self.o.tab_in == "\t"):
            return line
        out, tab, width = [], self.o.tab_in, self.o.tab_in_width
        column = 0
        shift = self._number_width() if self.o.number and self.align and "m" not in self.o.flags else 0
        for place, char in enumerate(line):
            if place == 1:
                column += shift                              # the number comes behind the first character
            if self.expand and char == tab:
                step = width - column % width
                out.append(" " * step)
                column += step
                continue
            code = ord(char)
            if (code < 32 and char != "\t" or code >= 127) and flags & {"c", "v"}:
                raw = encode(char)
                shown = "".join(f"\\{b:03o}" if "v" in flags or b >= 128 else "^" + chr(b ^ 64) for b in raw)
                out.append(shown)
                column += len(shown)
                continue
            if char == "\b":
                column = max(0, column - 1)
            elif 32 <= code < 127:
                column += 1
            out.append(char)
        return "".join(out)

    def pages(self, text: str) -> list[list[str]]:
        """Lines of each page: a form feed ends one (with -T it ends nothing). `fed` gets the numbers of those pages."""
        self.fed = set()
        text = text[:-1] if text.endswith("\n") else text
        per_page = self.text_lines * (self.columns if "m" not in self.o.flags else 1)
        out: list[list[str]] = []
        chunks = text.split("\f")
        if "T" in self.o.flags:
            chunks = [text.replace("\f", "\n").replace("\n\n", "\n") if len(chunks) > 1 else text]
        for place, chunk in enumerate(chunks):
            if place and chunk.startswith("\n"):
                chunk = chunk[1:]
            elif place and not chunk:
                continue
            if place < len(chunks) - 1 and chunk.endswith("\n"):
                chunk = chunk[:-1]
            lines = [self.clean(line) for line in chunk.split("\n")]
            for at in range(0, len(lines), per_page):
                out.append(lines[at:at + per_page])
            if place < len(chunks) - 1:
                self.fed.add(len(out))
        return out

    # ---- output

    def numbered(self, number: int) -> str:
        o = self.o
        return str(number)[-o.digits:].rjust(o.digits) + o.number_separator

    def row(self, cells: list[str | None], numbers: list[int]) -> str:
        """One output line of the cells, which have these numbers; None is a column that has ended."""
        while cells and cells[-1] is None:
            cells.pop()
        o, line = self.o, Line(self.tabify, self.o.tab_out, self.o.tab_out_width)
        line.pad(o.margin)
        merged = "m" in o.flags
        stored = self.columns > 1 and not self.align and not o.flags & {"a", "m"}   # these count from the cell's start
        start = o.margin
        for place, cell in enumerate(cells):
            if place:
                if self.align:
                    line.pad(start + place * self.column_width + (place - 1) * len(self.separator))
                line.put(self.separator, len)
            if self.columns > 1:
                line.flush()
            text = cell or ""
            room = self.column_width
            if o.number and (not place if merged else cell is not None):
                label = self.numbered(numbers[place])
                if self.columns > 1 and label.endswith("\t"):
                    label = label[:-1].ljust(self._number_width())
                line.put(label)
                if merged:
                    start += self._number_width()
                else:
                    room -= self._number_width()
            if self.align:
                text = _cut(text, max(0, room))
            elif self.columns == 1 and o.truncate and "J" not in o.flags:
                text = _cut(text, self.width)
            line.put(text)
            if stored and not line.pending:
                line.column = _width(text.expandtabs(o.tab_in_width)) + (0 if place else o.margin)
        return line.text

    def rows(self, lines: list[str]) -> list[list[str | None]]:
        """The lines of a page as rows of cells."""
        columns = self.columns
        if columns == 1:
            return [[line] for line in lines]
        if "a" in self.o.flags:
            return [list(lines[at:at + columns]) for at in range(0, len(lines), columns)]
        height = min(self.text_lines, -(-len(lines) // columns))
        base, extra = divmod(len(lines), columns)
        full = len(lines) == self.text_lines * columns
        stacks, at = [], 0
        for place in range(columns):
            size = height if full else base + (1 if place < extra else 0)
            stacks.append(lines[at:at + size])
            at += size
        return [[stack[n] if n < len(stack) else None for stack in stacks] for n in range(height)]

    def numbers(self, rows: list[list[str | None]]) -> list[list[int]]:
        """The line numbers of the cells of a page, which go down the columns, or across with -a."""
        out = [[0] * len(row) for row in rows]
        if "m" in self.o.flags:
            places = [(y, 0) for y in range(len(rows))]
        else:
            places = [(y, x) for y, row in enumerate(rows) for x, cell in enumerate(row) if cell is not None]
            if "a" not in self.o.flags:
                places.sort(key=lambda place: (place[1], place[0]))
        for y, x in places:
            out[y][x] = self.number
            self.number += 1
        return out

    def page(self, number: int, rows: list[list[str | None]], title: str, date: str, last: bool,
             unfinished: bool = False) -> None:
        """`unfinished`: the text's last line has no newline."""
        o, out = self.o, []
        if number < o.first_page or number > o.last_page:
            if o.number and o.first_number is None and number < o.first_page:
                self.number += sum(sum(1 for c in row if c is not None) for row in rows) if "m" not in o.flags \
                    else len(rows)
            return
        if self.headed:
            label = f"Page {number}"
            room = max(0, self.width - len(date) - len(title) - len(label))
            left = room // 2
            line = Line(self.tabify, o.tab_out, o.tab_out_width)
            line.pad(o.margin)
            line.flush()
            before, after = " " * max(1, left), " " * max(1, room - left)
            out.append(f"{line.text}\n\n{' ' * o.margin}{date}{before}{title}{after}{label}\n\n\n")
        for row, numbers in zip(rows, self.numbers(rows), strict=True):
            out.append(self.row(row, numbers) + ("\n\n" if "d" in o.flags else "\n"))
        columns_know = self.columns > 1 and "m" not in o.flags and ("a" not in o.flags or len(rows[-1]) < self.columns)
        if out and not self.headed and "d" in o.flags and (columns_know or last and unfinished):
            out[-1] = out[-1][:-1]                           # nothing follows
        if self.headed:
            used = len(rows) * (2 if "d" in o.flags else 1)
            out.append("\f" if "F" in o.flags else "\n" * (self.body - used + 5))
        elif "T" not in o.flags and (number in self.fed or "F" in o.flags and not last):
            out.append("\f")
        self.proc.stdout.write(encode("".join(out)))
        self.proc.check()


def main(proc: Process) -> int:
    o, operands = _options(proc)
    proc.kernel.fits(o.margin + (o.width or 0) + o.length)
    merged = "m" in o.flags and bool(operands)
    printer = Printer(proc, o, len(operands) if merged else o.columns)
    status = 0
    inputs: list[tuple[str, str, float]] = []
    for name in operands or ["-"]:
        try:
            file = open_input(proc, name).incref()
            try:
                data = read_all(proc, file)
                moment = proc.now() if name == "-" else file.stat().mtime_ns / 1e9
            finally:
                file.decref()
        except OSError as e:
            if "r" not in o.flags:
                proc.stdout.flush()
                proc.fail(shell_quote(name), e)
            status = 1
            continue
        inputs.append(("" if name == "-" else name, decode(data), moment))
        if not merged:
            _print(proc, o, printer, *inputs.pop())
            if o.number:
                printer.number = 1 if o.first_number is None else o.first_number
    if merged and inputs:
        _merge(proc, o, printer, inputs)
    return status


def _date(proc: Process, o: Options, moment: float) -> str:
    shown = o.date or ("%b %e %H:%M %Y" if "POSIXLY_CORRECT" in proc.env else "%Y-%m-%d %H:%M")
    return strftime(shown, moment_at(int(moment), proc.env.get("TZ", proc.machine.tz)))


def _print(proc: Process, o: Options, printer: Printer, name: str, text: str, moment: float) -> None:
    if not text:
        return
    pages = printer.pages(text)
    title = name if o.header is None else o.header
    for number, lines in enumerate(pages, 1):
        printer.page(number, printer.rows(lines), title, _date(proc, o, moment) if printer.headed else "",
                     number == len(pages), not text.endswith("\n"))


def _merge(proc: Process, o: Options, printer: Printer, inputs: list[tuple[str, str, float]]) -> None:
    stacks = [printer.pages(text) if text else [] for _, text, _ in inputs]
    count = max(map(len, stacks))
    for number in range(count):
        height = max(len(stack[number]) if number < len(stack) else 0 for stack in stacks)
        rows: list[list[str | None]] = []
        for at in range(height):
            rows.append([stack[number][at] if number < len(stack) and at < len(stack[number]) else ""
                         for stack in stacks])
        printer.page(number + 1, rows, o.header or "", _date(proc, o, proc.now()) if printer.headed else "",
                     number == count - 1)
