"""Searching one open file in blocks of whole lines, and printing what was selected."""
from __future__ import annotations

import errno
import os

from mirage.commands._io import BLOCK, encode, line_blocks
from mirage.commands.grep.matcher import (
    SWAP,
    EveryLine,
    LiteralMatcher,
    Matcher,
    PerlMatcher,
    RegexMatcher,
    marked,
)
from mirage.text.regex import RegexTooComplex
from mirage.vfs.types import S_IFMT, S_IFREG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mirage.commands.grep.options import Options
    from mirage.process.files import OpenFile
    from mirage.process.process import Process

NEWLINE = b"\n"
BUFFER = 98304                                               # grep's buffer: how far before a NUL text is printed


class Scanner:
    """matched: some line was selected; failed: an error was reported; done: -q has its answer."""

    def __init__(self, proc: Process, options: Options, matcher: Matcher) -> None:
        self.proc = proc
        self.options = options
        self.matcher = matcher
        self.matched = False
        self.failed = False
        self.done = False
        self.separate = False                                # something was printed: groups get a separator
        o = options
        self.context = o.before >= 0 or o.after >= 0
        self.plain = not (self.context or o.number or o.byte_offset or o.only_matching or o.colors or o.initial_tab
                          or o.line_buffered)
        self.numbered = o.number and not (self.context or o.byte_offset or o.only_matching or o.colors or o.initial_tab
                                          or o.line_buffered or o.max_count is not None or o.null_data)
        kinds = isinstance(matcher, LiteralMatcher) or isinstance(matcher, RegexMatcher) and not matcher.group \
            or isinstance(matcher, PerlMatcher) and matcher.mode == "safe"
        self.only = o.only_matching and kinds and not (self.context or o.number or o.byte_offset or o.colors or o.invert
                                                       or o.initial_tab or o.line_buffered or o.max_count is not None)
        self.output = self._output_identity()

    def fail(self, name: str, error: OSError) -> None:
        self.failed = True
        if not self.options.no_messages:
            self.proc.stdout.flush()
            self.proc.fail(name, error)

    def _output_identity(self) -> tuple[int, int] | None:
        """The regular file that standard output is, which must not be an input as well."""
        o = self.options
        if o.quiet_output or o.max_count in (0, 1) or 1 not in self.proc.fds:
            return None
        stat = self.proc.fds[1].stat()
        return stat.identity if stat.mode & S_IFMT == S_IFREG and stat.ino else None

    def scan(self, shown: str, file: OpenFile, standard_input: bool = False) -> None:
        """Search one file and print what the options ask for."""
        proc, o = self.proc, self.options
        try:
            if self.output is not None and file.readable:
                stat = file.stat()
                if stat.mode & S_IFMT == S_IFREG and stat.identity == self.output:
                    self.failed = True
                    if not o.no_messages:
                        proc.message(f"{shown}: input file is also the output")
                    return
            run = FileRun(self, shown, file)
            count = run.search()
            if standard_input:
                run.restore_position(count)
        except RegexTooComplex:
            self.failed = True
            proc.stdout.flush()
            proc.message(f"{shown}: exceeded PCRE's backtracking limit")
            return
        except OSError as e:
            self.fail(shown, e)
            return
        self._summary(shown, count)
        if count:
            self.matched = True
            self.done = o.quiet

    def directory(self, shown: str) -> None:
        """A directory that is not searched: an error, then a file without matches."""
        self.fail(shown, OSError(errno.EISDIR, os.strerror(errno.EISDIR)))
        self._summary(shown, 0)

    def _summary(self, shown: str, count: int) -> None:
        o, write = self.options, self.proc.stdout.write
        if o.quiet:
            return
        name = paint(o, "fn", encode(shown))
        if o.count and not o.list_files:
            head = b""
            if o.with_filename:
                head = name + (b"\0" if o.null_name else paint(o, "se", b":"))
            write(head + b"%d\n" % count)
        if o.list_files and (count > 0) == (o.list_files == "l"):
            write(name + (b"\0" if o.null_name else b"\n"))
        if o.line_buffered:
            self.proc.stdout.flush()


def paint(o: Options, name: str, text: bytes) -> bytes:
    """`text` in the colour of a GREP_COLORS capability."""
    if o.colors is None or not o.colors[name]:
        return text
    return b"\x1b[" + o.colors[name].encode() + b"m" + o.erase + text + b"\x1b[m" + o.erase


class FileRun:
    """The search of one file: where it is, what was printed, and what is pending."""

    def __init__(self, scanner: Scanner, shown: str, file: OpenFile) -> None:
        self.scanner = scanner
        self.proc = scanner.proc
        self.o = scanner.options
        self.matcher = scanner.matcher
        self.shown = shown
        self.file = file
        self.left = self.o.max_count if self.o.max_count is not None else 1 << 62
        self.quiet = self.o.quiet_output
        self.first_only = self.o.quiet or bool(self.o.list_files)
        self.binary = False
        self.binary_matched = False
        self.base = 0                                        # file offset of data[0]
        self.number = 0                                      # newlines before `counted`
        self.counted = 0
        self.printed: int | None = None                      # end of what was printed, in data
        self.pending = 0                                     # context lines still to print behind a match
        self.after_last = 0                                  # file offset behind the last selected line
        self.start = 0
        self.width = 0
        self.name = paint(self.o, "fn", encode(shown)) if self.o.with_filename else b""

    # ---- the loop over blocks

    def search(self) -> int:
        """The number of selected lines; prints them unless quiet."""
        o = self.o
        if o.max_count is not None and self.file.seekable:
            self.start = self.file.tell()
        if o.initial_tab:
            stat = self.file.stat()
            size = stat.size if stat.mode & S_IFMT == S_IFREG and stat.size is not None else 2 ** 64 - 2
            self.width = len(str(size + (1 if o.number else 0)))
        total = 0
        carry = b""
        text = o.text or o.null_data
        blocks = line_blocks(self.proc, self.file, b"\0" if o.null_data else NEWLINE)
        for block in blocks:
            if self.binary or not text and b"\0" in block:
                if not self.binary:
                    total += self._before_nul(carry, block)
                    if self.left <= 0 or self.first_only and total:
                        break
                    block, carry = self._rest, self._carry
                if o.without_binary:
                    return 0
                block = block.replace(b"\0", NEWLINE)
                if not o.count:
                    self.first_only = self.quiet = True
            total += self._block(carry, block)
            carry = self._carry
            if self.left <= 0 and not self.pending or self.first_only and total:
                break
            self.proc.check()
        if self.binary and total > self._before_binary or self.binary_matched:
            if not o.quiet_output:
                self.proc.stdout.flush()
                self.proc.message(f"{self.shown}: binary file matches")
                self.scanner.separate = self.scanner.separate or max(o.before, o.after) >= 0
        return total

    def _before_nul(self, carry: bytes, block: bytes) -> int:
        """Search the lines that grep would have printed before it saw the NUL; sets `_rest`."""
        self.binary = True
        offset = self.base + len(carry)
        edge = (offset + block.find(b"\0")) // BUFFER * BUFFER - offset
        cut = block.rfind(NEWLINE, 0, edge) + 1 if edge > 0 else 0
        self._rest, self._carry = block[cut:], carry
        count = self._block(carry, block[:cut]) if cut else 0
        self._before_binary = count
        return count

    def _block(self, carry: bytes, block: bytes) -> int:
        """Search `block`; `carry` are lines before it that were searched already. Sets `_carry`."""
        raw = carry + block if carry else block
        data = raw.translate(SWAP) if self.o.null_data else raw
        start = len(carry)
        if self.left <= 0:
            self._trailing(data, raw, len(data), not self._valid(block))
            self._keep(data, raw)
            return 0
        if self.quiet or self.o.count:
            count = self._count(data, start)
        elif self.scanner.only and self._valid(block):
            count = self._only_matching(data, raw, start)
        elif self.scanner.numbered and self._valid(block):
            count = self._numbered(data, raw, start)
        elif self.scanner.plain and self._valid(block):
            count = self._plain(data, raw, start)
        else:
            count = self._general(data, raw, start)
        self._keep(data, raw)
        return count

    def _valid(self, block: bytes) -> bool:
        """Can no line of the block make the file binary?"""
        if self.o.text or not self.o.utf8 or block.isascii():
            return True
        try:
            block.decode()
        except UnicodeDecodeError:
            return False
        return True

    def _keep(self, data: bytes, raw: bytes) -> None:
        """Which lines of this block the next one needs as context before a match."""
        total = len(data)
        if self.o.number:
            self.number += data.count(NEWLINE, self.counted)
        cut = total
        if self.o.before > 0 and not self.quiet:
            floor = self.printed or 0
            for _ in range(min(self.o.before, total)):
                if cut <= floor:
                    break
                cut = data.rfind(NEWLINE, 0, cut - 1) + 1 if cut else 0
            cut = max(cut, floor)
        if self.o.number:
            self.number -= data.count(NEWLINE, cut)
        self.counted = 0
        self.base += cut
        if self.printed is not None:
            self.printed = 0 if self.printed == cut else -1
        self._carry = raw[cut:]

    # ---- selection

    def _ranges(self, data: bytes, pos: int) -> Iterator[tuple[int, int]]:
        """Selected lines from `pos` on, as ranges that end behind the newline (or with the data).

        Without -v each is one line; with -v each may be many.
        """
        next_line = self.matcher.lines(data)
        total = len(data)
        if not self.o.invert:
            while pos < total:
                line = next_line(pos)
                if line is None:
                    return
                start, end = line
                pos = end + 1
                yield start, pos if pos < total else total
            return
        while pos < total:
            line = next_line(pos)
            if line is None:
                yield pos, total
                return
            start, end = line
            if start > pos:
                yield pos, start
            pos = end + 1

    def _count(self, data: bytes, pos: int) -> int:
        """How many lines are selected, at most `left`; stops at the first one when that is enough."""
        wanted = 1 if self.first_only else self.left
        total = len(data)
        count = 0
        matcher = self.matcher
        found = marked(matcher, data[pos:] if pos else data) if wanted > total else None
        if found is not None:
            count = found.text.count(NEWLINE) - found.count if self.o.invert else found.count
            self._selected(count, total)
            return count
        if not self.o.invert:
            next_line = self.matcher.lines(data)
            if type(self.matcher) is EveryLine and wanted > total:
                count = data.count(NEWLINE, pos) + (data[-1:] != NEWLINE and pos < total)
                pos = total
            elif type(self.matcher) is LiteralMatcher and wanted > total:
                count, pos = _count_literal(data, self.matcher.literal, pos), total
            while pos < total and count < wanted:
                line = next_line(pos)
                if line is None:
                    break
                pos = line[1] + 1
                count += 1
            self._selected(count, min(pos, total))
            return count
        for start, end in self._ranges(data, pos):
            lines = data.count(NEWLINE, start, end) + (data[end - 1] != 10)
            if count + lines >= wanted:
                for _ in range(wanted - count):
                    at = data.find(NEWLINE, start)
                    start = at + 1 if at >= 0 else total
                self._selected(wanted, start)
                return wanted
            count += lines
            pos = end
        self._selected(count, pos)
        return count

    def _selected(self, count: int, end: int) -> None:
        if count:
            self.left -= count
            self.after_last = self.base + end

    # ---- printing

    def _plain(self, data: bytes, raw: bytes, pos: int) -> int:
        """Whole lines with at most the file's name before each."""
        head = self._plain_head()
        parts: list[bytes] = []
        count = 0
        end = pos
        single = not self.o.invert and self.left >= 1 << 60
        matcher = self.matcher
        if self.left > len(data) and not head and not self.o.null_data:
            found = marked(matcher, data[pos:] if pos else data)
            if found is not None:
                kept = found.select(self.o.invert)
                self.proc.stdout.write(kept)
                count = kept.count(NEWLINE) if self.o.invert else found.count
                self._selected(count, len(data))
                return count
        if single and not head:
            begin = end = -1
            for start, stop in self._ranges(data, pos):
                count += 1
                if start != end:
                    if end > 0:
                        parts.append(raw[begin:end])
                    begin = start
                end = stop
            if end > 0:
                parts.append(raw[begin:end])
        elif single:
            for start, end in self._ranges(data, pos):
                count += 1
                parts.append(head + raw[start:end])
        else:
            for start, end in self._ranges(data, pos):
                lines = data.count(NEWLINE, start, end) + (data[end - 1] != 10)
                if count + lines >= self.left:
                    lines = self.left - count
                    end = _forward(data, start, lines)
                count += lines
                if head:
                    mark = b"\0" if self.o.null_data else NEWLINE
                    body = raw[start:end - 1] if data[end - 1] == 10 else raw[start:end]
                    parts.append(head + body.replace(mark, mark + head) + mark)
                else:
                    parts.append(raw[start:end])
                if count >= self.left:
                    break
        if parts:
            last = parts[-1]
            mark = b"\0" if self.o.null_data else NEWLINE
            if not last.endswith(mark):
                parts.append(mark)
            self.proc.stdout.write(b"".join(parts))
        self._selected(count, end)
        return count

    def _numbered(self, data: bytes, raw: bytes, pos: int) -> int:
        """-n, with at most the file's name before the number."""
        head = self._plain_head()
        matcher = self.matcher
        parts: list[bytes] = []
        found = marked(matcher, data)
        if found is not None and found.mark not in head:
            sign, wanted = found.mark[0], not self.o.invert
            lines = found.text.split(NEWLINE)
            lines.pop()
            parts = [b"%b%d:%b\n" % (head, n, line) for n, line in enumerate(lines, self.number + 1)
                     if (sign in line) is wanted]
            text = b"".join(parts)
            self.proc.stdout.write(text.translate(None, found.mark) if wanted else text)
            self._selected(len(parts), len(data))
            return len(parts)
        number, counted, count_lines = self.number + 1, 0, data.count
        for start, stop in self._ranges(data, pos):
            number += count_lines(NEWLINE, counted, start)
            counted = start
            if self.o.invert:
                for line in _split(raw, start, stop):
                    parts.append(b"%b%d:%b" % (head, number, line))
                    number += 1
                counted = stop
            else:
                parts.append(b"%b%d:%b" % (head, number, raw[start:stop]))
        if parts:
            if not parts[-1].endswith(NEWLINE):
                parts.append(NEWLINE)
                self._selected(len(parts) - 1, len(data))
                self.proc.stdout.write(b"".join(parts))
                return len(parts) - 1
            self.proc.stdout.write(b"".join(parts))
        self._selected(len(parts), len(data))
        return len(parts)

    def _only_matching(self, data: bytes, raw: bytes, pos: int) -> int:
        """-o with at most the file's name before each match: searched through the block, not line by line."""
        head = self._plain_head()
        mark = b"\0" if self.o.null_data else NEWLINE
        find = data.find
        try:
            found = self._matches_in(data, pos)
        except RegexTooComplex:
            return self._general(data, raw, pos)
        count, line_end = 0, -1
        for a, _ in found:
            if a > line_end:
                count += 1
                line_end = find(NEWLINE, a)
                if line_end < 0:
                    break
        texts = [raw[a:b] for a, b in found if b > a]
        if texts:
            self.proc.stdout.write(head + (mark + head).join(texts) + mark)
        self._selected(count, len(data))
        return count

    def _matches_in(self, data: bytes, pos: int) -> list[tuple[int, int]]:
        """Where the matches of a block are; an empty one stands for its line."""
        matcher, total = self.matcher, len(data)
        if isinstance(matcher, LiteralMatcher):
            return list(matcher.spans(data, pos, total))
        assert isinstance(matcher, (RegexMatcher, PerlMatcher))
        found: list[tuple[int, int]] = []
        regex = matcher.regex
        plain = regex.python() if isinstance(matcher, RegexMatcher) and data.isascii() else None
        if plain is not None and not plain[1]:
            return [m.span() for m in plain[0].finditer(data, pos, total - 1 if data[-1:] == NEWLINE else total)]
        search = regex.bind(data, captures=False)
        limit = total - 1 if data[-1:] == NEWLINE else total
        while pos <= limit:
            spans = search(pos, total)
            if spans is None:
                break
            a, b = spans[0]
            if a >= total and data[-1:] == NEWLINE:
                break
            found.append((a, b))
            pos = b if b > a else b + 1
        return found

    def _plain_head(self) -> bytes:
        if not self.o.with_filename:
            return b""
        return self.name + (b"\0" if self.o.null_name else b":")

    def _general(self, data: bytes, raw: bytes, pos: int) -> int:
        """Line by line: heads, context, -o, colours, and a look for bytes that are no text."""
        o = self.o
        count = 0
        check = not (o.text or not o.utf8) and not self._valid(raw)
        for start, stop in self._ranges(data, pos):
            while start < stop:
                end = _forward(data, start, 1) if o.invert else stop
                self._line(data, raw, start, end, check)
                count += 1
                self.left -= 1
                self.after_last = self.base + end
                start = end
                if o.line_buffered:
                    self.proc.stdout.flush()
                if self.left <= 0:
                    self._trailing(data, raw, len(data), check)
                    return count
        self._trailing(data, raw, len(data), check)
        return count

    def _line(self, data: bytes, raw: bytes, start: int, end: int, check: bool) -> None:
        """Print one selected line with its context."""
        o, scanner = self.o, self.scanner
        if scanner.context:
            self._trailing(data, raw, start, check)
            before = start
            floor = max(self.printed or 0, 0)
            for _ in range(min(max(o.before, 0), start)):
                if before <= floor:
                    break
                before = data.rfind(NEWLINE, 0, before - 1) + 1 if before else 0
            if scanner.separate and before != self.printed and o.separator is not None:
                self.proc.stdout.write(paint(o, "se", o.separator) + NEWLINE)
            while before < start:
                stop = _forward(data, before, 1)
                self._print(data, raw, before, stop, b"-", check)
                before = stop
        self._print(data, raw, start, end, b":", check)
        self.pending = max(o.after, 0)

    def _trailing(self, data: bytes, raw: bytes, limit: int, check: bool) -> None:
        """Context behind the last match, up to `limit`."""
        at = self.printed if self.printed is not None and self.printed >= 0 else 0
        while self.pending and at < limit:
            stop = _forward(data, at, 1)
            self._print(data, raw, at, stop, b"-", check)
            self.pending -= 1
            at = stop

    def _print(self, data: bytes, raw: bytes, start: int, end: int, sep: bytes, check: bool) -> None:
        """One line; `sep` is `:` for a selected one, `-` for context. A line that is no text is left out."""
        o = self.o
        body = end - 1 if data[end - 1] == 10 else end
        if check and not _is_text(raw[start:body]):
            self.binary_matched = True
            return
        matching = (sep == b":") != o.invert
        mark = b"\0" if o.null_data else NEWLINE
        out: list[bytes] = []
        if o.only_matching:
            if matching:
                color = "ms" if sep == b":" else "mc"
                for a, b in self.matcher.spans(data, start, body):
                    out += (self._head(data, a, sep), paint(o, color, raw[a:b]), mark)
        else:
            out.append(self._head(data, start, sep, body > start))
            out.append(self._coloured(data, raw, start, body, sep, matching) if o.colors else raw[start:body])
            out.append(mark)
        self.proc.stdout.write(b"".join(out))
        self.printed = end
        self.scanner.separate = True

    def _head(self, data: bytes, at: int, sep: bytes, text: bool = True) -> bytes:
        o = self.o
        parts: list[bytes] = []
        mark = paint(o, "se", sep)
        if o.with_filename:
            parts += (self.name, b"\0" if o.null_name else mark)
        if o.number:
            self.number += data.count(NEWLINE, self.counted, at)
            self.counted = at
            parts += (paint(o, "ln", b"%*d" % (self.width, self.number + 1)), mark)
        if o.byte_offset:
            parts += (paint(o, "bn", b"%*d" % (self.width, self.base + at)), mark)
        if o.initial_tab and parts and text:
            parts.append(b"\t")
        return b"".join(parts)

    def _coloured(self, data: bytes, raw: bytes, start: int, end: int, sep: bytes, matching: bool) -> bytes:
        o = self.o
        assert o.colors is not None
        line = "sl" if (sep == b":") != (o.invert and o.reverse) else "cx"
        color = "ms" if sep == b":" else "mc"
        out: list[bytes] = []
        at = start
        if matching and o.colors[color]:
            for a, b in self.matcher.spans(data, start, end):
                if a > at:
                    out.append(paint(o, line, raw[at:a]))
                out.append(paint(o, color, raw[a:b]))
                at = b
        if at < end:
            out.append(paint(o, line, raw[at:end]))
        return b"".join(out)

    # ---- standard input's position

    def restore_position(self, count: int) -> None:
        """Leave the offset of standard input where GNU leaves it: behind the last line of -m, else at the end."""
        if not self.file.seekable:
            return
        if self.left <= 0 and self.o.max_count is not None:
            self.file.seek(self.start + self.after_last)
        elif count and self.first_only:
            self.file.seek(0, os.SEEK_END)

    _rest = b""
    _carry = b""
    _before_binary = 0


def _split(data: bytes, start: int, stop: int) -> list[bytes]:
    """The lines of a part, each with its newline (but perhaps the last one)."""
    lines = data[start:stop].split(NEWLINE)
    last = lines.pop()
    whole = [line + NEWLINE for line in lines]
    return [*whole, last] if last else whole


def _forward(data: bytes, start: int, lines: int) -> int:
    """The offset behind `lines` lines from `start`."""
    for _ in range(lines):
        at = data.find(NEWLINE, start)
        if at < 0:
            return len(data)
        start = at + 1
    return start


def _count_literal(data: bytes, literal: bytes, pos: int) -> int:
    """Lines with the string, from the start of a line on."""
    find, count = data.find, 0
    while (at := find(literal, pos)) >= 0:
        count += 1
        pos = find(NEWLINE, at) + 1
        if not pos:
            break
    return count


def _is_text(line: bytes) -> bool:
    if line.isascii():
        return True
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


__all__ = ["BLOCK", "Scanner"]
