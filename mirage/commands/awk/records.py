"""Records of an input: split at RS in whole buffers."""
from __future__ import annotations

import re

from mirage.commands.awk.regexes import Matcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.process.files import OpenFile
    from mirage.process.process import Process

BLOCK = 1 << 18
# What str.split() takes for white space and awk does not.
UNUSUAL_SPACE = re.compile("[\x0b-\r\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")


class Records:
    """The records of one open file. `next(separator)` gives a str, or None at the end.

    terminator  what ended the last record (RT)
    plain       str.split() finds only awk's blanks (space, tab, newline) in the records at hand
    A separator is given with each call, since RS may change between records; what was split for the old one is joined
    again. `separator`: "\\n" or another single character, "" for paragraphs, else a regular expression.
    """

    def __init__(self, process: Process, file: OpenFile, encoding: str,
                 matcher: Callable[[str], Matcher]) -> None:
        self.process = process
        self.file = file.incref()
        self.encoding = encoding
        self.matcher = matcher
        self.terminator = ""
        self.plain = False
        self._bytes = b""                                    # an unfinished character or line
        self._text = ""                                      # decoded text from `_at` on is still to come
        self._at = 0
        self.lines: list[str] = []                          # records that are split already, newest first
        self._ends: list[str] = []                           # what ended each, where that is not always the same
        self._mark = "\n"                                    # what they were split at
        self._end = False

    def close(self) -> None:
        self.file.decref()

    def next(self, separator: str) -> str | None:
        if separator == self._mark and self.lines:
            self.terminator = self._ends.pop() if self._ends else separator
            return self.lines.pop()
        if self.lines:
            self._rejoin()
        if len(separator) == 1:
            return self._single(separator)
        self.plain = False
        return self._paragraph() if not separator else self._regex(separator)

    def same_end(self) -> str | None:
        """What ends all of `lines`; None where there are none, or it is not the same everywhere."""
        return None if self._ends or not self.lines else self._mark

    def _rejoin(self) -> None:
        """RS has changed: what was split in advance becomes text again."""
        if self._ends:
            rest = "".join([line + end for line, end in zip(reversed(self.lines), reversed(self._ends), strict=True)])
        else:
            rest = self._mark.join(reversed(self.lines)) + self._mark
        self._text = rest + self._text[self._at:]
        self._at = 0
        self.lines, self._ends = [], []

    # ---- reading

    def _read(self) -> bool:
        """More text behind what is left; False at the end of the file."""
        if self._end:
            return False
        data = self.file.read(BLOCK)
        self.process.check()
        left = self._text[self._at:]
        self._at = 0
        if not data:
            self._end = True
            self._text = left + self._bytes.decode(self.encoding, "surrogateescape")
            self._bytes = b""
            return bool(self._text)
        self.process.kernel.fits(len(left) + len(data) + len(self._bytes))
        data = self._bytes + data if self._bytes else data
        cut = len(data)
        if self.encoding == "utf-8" and data[-1] >= 0x80:
            cut = complete(data)
        self._bytes = data[cut:]
        self._text = left + data[:cut].decode(self.encoding, "surrogateescape")
        return True

    def _rest(self) -> str | None:
        """What is left when no separator follows any more."""
        text = self._text[self._at:]
        self._text, self._at = "", 0
        self.terminator = ""
        self.plain = False
        return text or None

    # ---- splitting

    def _single(self, separator: str) -> str | None:
        if self._text.find(separator, self._at) < 0 and not self._gather(separator):
            return self._rest()
        last = self._text.rfind(separator, self._at)
        block = self._text[self._at:last]
        self.plain = UNUSUAL_SPACE.search(block) is None
        self.lines = block.split(separator)
        self.lines.reverse()
        self._mark = separator
        self._at = last + 1
        self.terminator = separator
        return self.lines.pop()

    def _gather(self, separator: str) -> bool:
        """Read until the separator turns up; pieces are joined once."""
        pieces = [self._text[self._at:]]
        self._text, self._at = "", 0
        found = False
        size = len(pieces[0])
        while not found and self._read():
            found = separator in self._text
            size += len(self._text)
            self.process.kernel.fits(size)
            pieces.append(self._text)
            self._text = ""
        self._text = "".join(pieces)
        return found

    def _paragraph(self) -> str | None:
        while True:
            while self._text.startswith("\n", self._at) or self._at >= len(self._text):
                if self._at >= len(self._text) and not self._read():
                    return None
                while self._text.startswith("\n", self._at):
                    self._at += 1
            end = self._text.find("\n\n", self._at)
            if end >= 0:
                after = end + 2
                while after < len(self._text) and self._text[after] == "\n":
                    after += 1
                if after < len(self._text) or self._end:
                    record = self._text[self._at:end]
                    self.terminator = self._text[end:after]
                    self._at = after
                    return record
            if not self._read():
                break
        text = self._rest()
        if text is not None and text.endswith("\n"):
            stripped = text.rstrip("\n")
            self.terminator = text[len(stripped):]
            return stripped
        return text

    def _regex(self, separator: str) -> str | None:
        """All records of the buffer but the last are split at once: a match at its end may go on in the next block."""
        matcher = self.matcher(separator)
        while True:
            text = self._text
            lines: list[str] = []
            ends: list[str] = []
            last = self._at
            for spans in matcher.iterate(text, last):
                begin, end = spans[0]
                if begin == end:
                    continue
                if end == len(text) and not self._end:
                    break
                lines.append(text[last:begin])
                ends.append(text[begin:end])
                last = end
            self._at = last
            if lines:
                lines.reverse()
                ends.reverse()
                self.lines, self._ends, self._mark = lines, ends, separator
                self.terminator = ends.pop()
                return lines.pop()
            if not self._read() and self._end:
                if not self._more_matches(matcher):
                    return self._rest()

    def _more_matches(self, matcher: Matcher) -> bool:
        """Is there a separator in what is left, now that nothing follows?"""
        return any(spans[0][0] < spans[0][1] for spans in matcher.iterate(self._text, self._at))


def complete(data: bytes) -> int:
    """How much of the data does not end within a UTF-8 character."""
    size = len(data)
    for back in range(1, min(4, size) + 1):
        byte = data[size - back]
        if byte >= 0xC0:
            needed = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2
            return size - back if needed > back else size
        if byte < 0x80:
            break
    return size
