"""fmt: refill paragraphs, with GNU's costs of a line break (after Knuth and Plass)."""
from __future__ import annotations

import re

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import open_input, read_all
from mirage.commands._text import fatal, quote, shell_quote
from mirage.process.process import refusal_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mirage.process.process import Process

SPEC = Spec("0123456789cstuw:p:g:", {
    "crown-margin": ("c", NONE), "prefix": ("p", REQUIRED), "split-only": ("s", NONE),
    "tagged-paragraph": ("t", NONE), "uniform-spacing": ("u", NONE), "width": ("w", REQUIRED), "goal": ("g", REQUIRED)},
    help="Usage: NAME [-WIDTH] [OPTION]... [FILE]...\n"
         "Reformat each paragraph in the FILE(s), writing to standard output.\n"
         "The option -WIDTH is an abbreviated form of --width=DIGITS.\n")
LINE, SENTENCE, NOBREAK, PAREN, PUNCT, CREDIT = 70 ** 2, 50 ** 2, 600 ** 2, 40 ** 2, 40 ** 2, 3 ** 2
WIDOW, ORPHAN = 200 ** 2, 150 ** 2
MAX_WORDS, MAX_CHARS, MAX_COST, MAX_WIDTH = 998, 5000, 1 << 62, 2500
_WORD = re.compile(rb"([^ \t\v\f\r]+)([ \t\v\f\r]*)")


class Word:
    __slots__ = ("cost", "final", "line", "next", "paren", "period", "punct", "space", "text")

    def __init__(self, text: bytes, space: int, spaced: bool, last: bool, at_end: bool, uniform: bool) -> None:
        self.text = text
        core = text[:1] + text[1:].rstrip(b")]'\"")
        self.paren = text[0] in b"(['`\""
        self.punct = 33 <= text[-1] < 127 and not text[-1:].isalnum()
        self.period = core[-1] in b".?!"
        self.final = at_end or self.period and (last or space > 1)
        self.space = (2 if self.final else 1) if last or uniform else space
        self.cost = 0
        self.next = 0
        self.line = 0


class Line:
    """One input line: `indent` of the prefix, `column` where its text begins, `text` ends before the newline."""

    __slots__ = ("column", "ended", "indent", "text")

    def __init__(self, indent: int, column: int, text: bytes, ended: bool) -> None:
        self.indent = indent
        self.column = column
        self.text = text
        self.ended = ended


class Formatter:
    def __init__(self, proc: Process, width: int, goal: int, flags: set[str], prefix: bytes) -> None:
        self.proc = proc
        self.width = width
        self.goal = goal
        self.crown, self.tagged, self.split, self.uniform = (f in flags for f in "ctsu")
        stripped = prefix.lstrip(b" ")
        self.lead = len(prefix) - len(stripped)
        self.full = len(stripped)
        self.prefix = stripped.rstrip(b" ")
        self.tabs = False
        self.first = self.other = self.prefix_indent = self.last_length = 0
        self.words: list[Word] = []
        self.out: list[bytes] = []

    # ---- reading

    def lines(self, data: bytes) -> Iterator[Line]:
        pieces = data.split(b"\n")
        for number, raw in enumerate(pieces):
            ended = number < len(pieces) - 1
            if not ended and not raw:
                return
            yield self.parse_line(raw, ended)

    def _space(self, raw: bytes, at: int, column: int) -> tuple[int, int]:
        while at < len(raw) and raw[at] in b" \t":
            if raw[at] == 9:
                self.tabs = True
                column = (column // 8 + 1) * 8
            else:
                column += 1
            at += 1
        return at, column

    def parse_line(self, raw: bytes, ended: bool) -> Line:
        at, column = self._space(raw, 0, 0)
        if not self.prefix:
            return Line(min(self.lead, column), column, raw[at:], ended)
        indent = column
        for byte in self.prefix:
            if at >= len(raw) or raw[at] != byte:
                return Line(indent, column, raw[at:], ended)
            at += 1
            column += 1
        at, column = self._space(raw, at, column)
        return Line(indent, column, raw[at:], ended)

    def same(self, line: Line | None) -> bool:
        return line is not None and line.indent == self.prefix_indent and line.column >= line.indent + self.full \
            and bool(line.text)

    def run(self, data: bytes) -> None:
        self.tabs = False
        self.other = 0
        self.prefix_indent = 0
        source = self.lines(data)
        line = next(source, None)
        while line is not None:
            self.last_length = 0
            while line is not None and (not line.text or line.indent < self.prefix_indent
                                        or line.column < line.indent + self.full):
                self.copy(line)
                line = next(source, None)
            if line is None:
                break
            line = self.paragraph(line, source)
            self.flush()
            self.proc.check()
        self.flush()

    def copy(self, line: Line) -> None:
        """A blank line, or one without the prefix."""
        if line.column > line.indent or line.text:
            text = self.spaces(0, line.indent)
            shown = self.prefix[:line.column - line.indent]
            text += shown
            here = line.indent + len(shown)
            if line.text:
                text += self.spaces(here, line.column - here)
            self.out.append(text)
        self.out.append(line.text)
        if line.ended:
            self.out.append(b"\n")
        elif not line.text and line.column >= line.indent + len(self.prefix) and line.column > line.indent:
            self.out.append(b"\n")

    def paragraph(self, line: Line, source: Iterator[Line]) -> Line | None:
        """Read, fill and write the paragraph that begins with `line`; the line behind it."""
        self.prefix_indent = line.indent
        self.first = line.column
        self.words = []
        following = self.read_line(line, source)
        self.indent(following, self.same(following))
        if self.split:
            pass
        elif not self.tagged or self.crown or following is not None and following.column != self.first:
            while self.same(following) and following is not None and following.column == self.other:
                following = self.read_line(following, source)
        self.words[-1].period = self.words[-1].final = True
        self.fill()
        self.put(len(self.words))
        return following

    def indent(self, line: Line | None, same: bool) -> None:
        column = line.column if line is not None else 0
        if self.split:
            self.other = self.first
        elif self.crown:
            self.other = column if same else self.first
        elif self.tagged:
            if same and column != self.first:
                self.other = column
            elif self.other == self.first:
                self.other = 3 if self.first == 0 else 0
        else:
            self.other = self.first

    def read_line(self, line: Line, source: Iterator[Line]) -> Line | None:
        text, column = line.text, line.column
        end = len(text)
        for found in _WORD.finditer(text):
            word, gap = found.groups()
            column += len(word)
            start = column
            if gap:
                _, column = self._space(gap, 0, column)
            last = found.end() == end
            self.words.append(Word(word, column - start, bool(gap), last, last and not line.ended, self.uniform))
            if len(self.words) >= MAX_WORDS or len(self.words) % 50 == 0 and \
                    sum(len(w.text) for w in self.words) >= MAX_CHARS:
                self.indent(line, True)
                self.flush_part()
        return next(source, None)

    def flush_part(self) -> None:
        """The buffer is full: write up to a cheap line break near its end."""
        self.fill()
        split, best = len(self.words), MAX_COST
        at = self.words[0].next
        while at < len(self.words):
            word = self.words[at]
            after = self.words[word.next].cost if word.next < len(self.words) else 0
            if word.cost - after < best:
                split, best = at, word.cost - after
            best = min(best + CREDIT, MAX_COST)
            at = word.next
        self.put(split)
        self.words = self.words[split:]

    # ---- choosing breaks

    def fill(self) -> None:
        words, count = self.words, len(self.words)
        for start in range(count - 1, -1, -1):
            best = MAX_COST
            word = words[start]
            length = (self.first if start == 0 else self.other) + len(word.text)
            at = start
            while True:
                at += 1
                if at == count:
                    cost = 0
                else:
                    follower = words[at]
                    cost = ((self.goal - length) * 10) ** 2 + follower.cost
                    if follower.next != count:
                        cost += ((length - follower.line) * 10) ** 2 // 2
                if start == 0 and self.last_length > 0:
                    cost += ((length - self.last_length) * 10) ** 2 // 2
                if cost < best:
                    best, word.next, word.line = cost, at, length
                if at == count:
                    break
                length += words[at - 1].space + len(words[at].text)
                if length >= self.width:
                    break
            word.cost = best + self.base_cost(start)

    def base_cost(self, at: int) -> int:
        words, cost = self.words, LINE
        word = words[at]
        if at > 0:
            before = words[at - 1]
            if before.period:
                cost += -SENTENCE if before.final else NOBREAK
            elif before.punct:
                cost -= PUNCT
            elif at > 1 and words[at - 2].final:
                cost += WIDOW // (len(before.text) + 2)
        if word.paren:
            cost -= PAREN
        elif word.final:
            cost += ORPHAN // (len(word.text) + 2)
        return cost

    # ---- writing

    def spaces(self, column: int, count: int) -> bytes:
        if count <= 0:
            return b""
        target, out = column + count, b""
        if self.tabs:
            tab = target // 8 * 8
            if column + 1 < tab:
                out = b"\t" * (-(-(tab - column) // 8))
                column = tab
        return out + b" " * (target - column)

    def put(self, finish: int) -> None:
        at = 0
        while at < finish:
            end = self.words[at].next
            text = self.spaces(0, self.prefix_indent) + self.prefix
            column = self.prefix_indent + len(self.prefix)
            indent = self.first if at == 0 else self.other
            text += self.spaces(column, indent - column)
            column = max(column, indent)
            for number in range(at, end):
                word = self.words[number]
                text += word.text
                column += len(word.text)
                if number < end - 1:
                    text += self.spaces(column, word.space)
                    column += word.space
            self.last_length = column
            self.out.append(text + b"\n")
            at = end

    def flush(self) -> None:
        self.proc.stdout.write(b"".join(self.out))
        self.out = []


def main(proc: Process) -> int:
    args = proc.argv[1:]
    if args and re.match(r"-[0-9]", args[0]):
        args[0] = "-w" + args[0][1:]
    options, operands = parse(proc, SPEC, args)
    flags: set[str] = set()
    width_text = goal_text = None
    prefix = ""
    for key, value in options:
        if key == "w":
            width_text = value
        elif key == "g":
            goal_text = value
        elif key == "p":
            prefix = value
        elif key.isdecimal():
            proc.message(f"invalid option -- {key}; -WIDTH is recognized only when it is the first\noption; use -w N "
                         "instead")
            proc.write_error(f"Try '{proc.name} --help' for more information.\n")
            return 1
        else:
            flags.add(key)
    width, goal = 75, None
    if width_text is not None:
        width = _number(proc, width_text, MAX_WIDTH)
    if goal_text is not None:
        goal = _number(proc, goal_text, MAX_WIDTH if width_text is None else width)
        if width_text is None:
            width = goal + 10
    if goal is None:
        goal = width * 187 // 200
    formatter = Formatter(proc, width, goal, flags, prefix.encode("utf-8", "surrogateescape"))
    status = 0
    for name in operands or ["-"]:
        try:
            file = open_input(proc, name).incref()
        except OSError as e:
            proc.stdout.flush()
            proc.message("read error" if isinstance(e, IsADirectoryError) else
                         f"cannot open {shell_quote(name, True)} for reading: {e.strerror}")
            proc.write_error(refusal_note(e))
            status = 1
            continue
        try:
            formatter.run(read_all(proc, file))
        finally:
            file.decref()
    return status


def _number(proc: Process, text: str, most: int) -> int:
    if not re.fullmatch(r"\+?[0-9]+", text.strip()):
        raise fatal(proc, f"invalid width: {quote(proc, text)}")
    value = int(text[:400])
    if value > most:
        raise fatal(proc, f"invalid width: {quote(proc, text)}: Numerical result out of range")
    return value
