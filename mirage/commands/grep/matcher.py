"""From patterns to a search over blocks of lines.

A matcher gives `lines(data)`: next(pos) -> (start, end) of the first line at or behind `pos` (the start of a line)
that has a match, and `spans(start, end)`: the non-empty matches in one line.
"""
from __future__ import annotations

from mirage.commands._io import encode
from mirage.process.signals import Exit
from mirage.text.blocks import Marked, Unsuited, literal, mark_lines, plain_source
from mirage.text.regex import RegexError, RegexTooComplex, compile_many, compile_pcre, next_char
from mirage.text.regex_ast import Alt, Assert, Group, Node, Seq, Set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mirage.commands.grep.options import Options
    from mirage.process.process import Process
    from mirage.text.regex import Regex

    Line = tuple[int, int]
    NextLine = Callable[[int], Line | None]

NEWLINE = b"\n"
SWAP = bytes.maketrans(b"\n\0", b"\0\n")
SAMPLE = 65536
LARGE = 16384                                                # bytes of a block that is searched as a whole
RARE = 64                                                    # a literal seen less often in the sample is found first


class Matcher:
    """Base: matches nothing (no patterns)."""

    def source(self, data: bytes) -> bytes | None:
        """The pattern for `mirage.text.blocks`, where that is the way to search this block."""
        return None

    def lines(self, data: bytes) -> NextLine:
        return lambda pos: None

    def spans(self, data: bytes, start: int, end: int) -> Iterator[Line]:
        return iter(())


class LiteralMatcher(Matcher):
    """One fixed string, found with bytes.find."""

    def __init__(self, literal: bytes) -> None:
        self.literal = literal

    def source(self, data: bytes) -> bytes | None:
        if NEWLINE in self.literal or not self.literal:
            return None
        if data.count(self.literal, 0, SAMPLE) * 12 < data.count(NEWLINE, 0, SAMPLE):
            return None                                      # few lines: bytes.find goes from one to the next
        return literal(self.literal)

    def lines(self, data: bytes) -> NextLine:
        find, rfind, literal, total = data.find, data.rfind, self.literal, len(data)

        def next_line(pos: int) -> Line | None:
            at = find(literal, pos)
            if at < 0:
                return None
            end = find(NEWLINE, at)
            return rfind(NEWLINE, 0, at) + 1, end if end >= 0 else total

        return next_line

    def spans(self, data: bytes, start: int, end: int) -> Iterator[Line]:
        size = len(self.literal)
        at = data.find(self.literal, start, end)
        while at >= 0:
            yield at, at + size
            at = data.find(self.literal, at + size, end)


class FoldedMatcher(LiteralMatcher):
    """One ASCII string in any case: searched in the text in lower case."""

    def source(self, data: bytes) -> bytes | None:
        return b"(?i)" + literal(self.literal)

    def lines(self, data: bytes) -> NextLine:
        return super().lines(data.lower())

    def spans(self, data: bytes, start: int, end: int) -> Iterator[Line]:
        for a, b in super().spans(data[start:end].lower(), 0, end - start):
            yield start + a, start + b


class EveryLine(Matcher):
    """The empty pattern."""

    def lines(self, data: bytes) -> NextLine:
        find, total = data.find, len(data)

        def next_line(pos: int) -> Line | None:
            if pos >= total:
                return None
            end = find(NEWLINE, pos)
            return pos, end if end >= 0 else total

        return next_line


class RegexMatcher(Matcher):
    """A regular expression over lines; `group` is the one whose span is the match (-w has context around it)."""

    def __init__(self, regex: Regex, group: int = 0, utf8: bool = True) -> None:
        self.regex = regex
        self.group = group
        self.utf8 = utf8

    def source(self, data: bytes) -> bytes | None:
        rare = self.regex.literal
        if self.group or self.regex.may_be_empty() or rare and data.count(rare, 0, SAMPLE) < RARE:
            return None
        return plain_source(self.regex, data)

    def lines(self, data: bytes) -> NextLine:
        search = self.regex.bind(data, captures=False)
        literal = self.regex.literal
        if literal and data.count(literal, 0, SAMPLE) < RARE:
            return self._by_literal(data, literal)
        find, rfind, total = data.find, data.rfind, len(data)

        def next_line(pos: int) -> Line | None:
            try:
                found = search(pos, total)
            except RegexTooComplex:
                return each_line(pos)
            if found is None:
                return None
            at = found[0][0]
            if at >= total and pos < total and data[-1] == 10:
                return None                                  # only the empty line behind the last newline
            end = find(NEWLINE, found[0][1])
            return rfind(NEWLINE, 0, at) + 1, end if end >= 0 else total

        each_line = self._line_by_line(data)
        return next_line

    def _by_literal(self, data: bytes, literal: bytes) -> NextLine:
        """Look at lines that contain what every match contains."""
        find, rfind, total = data.find, data.rfind, len(data)
        search = self.regex.bind(data, captures=False)

        def next_line(pos: int) -> Line | None:
            while True:
                at = find(literal, pos)
                if at < 0:
                    return None
                start = max(rfind(NEWLINE, 0, at) + 1, pos)
                end = find(NEWLINE, at)
                end = end if end >= 0 else total
                found = search(start, min(end + 1, total))
                if found is not None and found[0][1] <= end:
                    return start, end
                pos = end + 1

        return next_line

    def _line_by_line(self, data: bytes) -> NextLine:
        find, total, regex = data.find, len(data), self.regex

        def next_line(pos: int) -> Line | None:
            while pos < total:
                end = find(NEWLINE, pos)
                end = end if end >= 0 else total
                if regex.test(data[pos:end]):
                    return pos, end
                pos = end + 1
            return None

        return next_line

    def spans(self, data: bytes, start: int, end: int) -> Iterator[Line]:
        line = data[start:end]
        search = self.regex.bind(line)
        group, pos, size = self.group, 0, len(line)
        while pos <= size:
            found = search(pos - 1 if group and pos else pos, size)
            if found is not None and group and found[group][0] < pos:
                found = search(pos, size)
            if found is None:
                return
            a, b = found[group]
            if a == b:
                pos = next_char(line, b) if self.utf8 else b + 1
                continue
            yield start + a, start + b
            pos = b


class PerlMatcher(Matcher):
    """-P: PCRE2. `safe`: nothing in the pattern can see a newline, so that whole blocks are searched."""

    def __init__(self, regex: Regex, mode: str, utf8: bool) -> None:
        self.regex = regex
        self.mode = mode                                     # "safe", "verify", "line"; "zero": -z, swapped bytes
        self.utf8 = utf8

    def lines(self, data: bytes) -> NextLine:
        each_line = self._line_by_line(data)
        if self.mode in ("line", "zero") or not _searchable(data, self.utf8):
            return each_line
        search = self.regex.bind(data)
        find, rfind, total, verify = data.find, data.rfind, len(data), self.mode == "verify"
        test = self.regex.test

        def next_line(pos: int) -> Line | None:
            while True:
                try:
                    found = search(pos, total)
                except RegexTooComplex:
                    return each_line(pos)
                if found is None:
                    return None
                at = found[0][0]
                if at >= total and pos < total and data[-1] == 10:
                    return None
                start = max(rfind(NEWLINE, 0, at) + 1, pos)
                end = find(NEWLINE, at)
                end = end if end >= 0 else total
                if not verify or test(data[start:end]):
                    return start, end
                pos = end + 1
                if pos >= total:
                    return None

        return next_line

    def _line_by_line(self, data: bytes) -> NextLine:
        find, total, test, swapped = data.find, len(data), self.regex.test, self.mode == "zero"

        def next_line(pos: int) -> Line | None:
            while pos < total:
                end = find(NEWLINE, pos)
                end = end if end >= 0 else total
                line = data[pos:end]
                if test(line.translate(SWAP) if swapped else line):
                    return pos, end
                pos = end + 1
            return None

        return next_line

    def spans(self, data: bytes, start: int, end: int) -> Iterator[Line]:
        line = data[start:end]
        if self.mode == "zero":
            line = line.translate(SWAP)
        search = self.regex.bind(line)
        pos, size = 0, len(line)
        while pos <= size:
            found = search(pos, size)
            if found is None:
                return
            a, b = found[0]
            if a >= b:
                pos = next_char(line, max(b, pos)) if self.utf8 else max(b, pos) + 1
                continue
            yield start + a, start + b
            pos = b


def _searchable(data: bytes, utf8: bool) -> bool:
    """PCRE2 in UTF mode needs valid text; blocks with other bytes are searched line by line."""
    if not utf8 or data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def make_matcher(proc: Process, o: Options) -> Matcher:
    """The matcher for the options; RegexError as grep prints it. Prints grep's warnings about odd patterns."""
    if not o.patterns:
        return Matcher()
    if o.matcher == "P":
        return _perl(proc, o)
    if o.matcher != "F" and not o.word and not o.line and all(_is_plain(p, o.matcher) for p in o.patterns):
        plain = True
    else:
        plain = o.matcher == "F"
    if plain and not o.word and not o.line and not o.icase:
        if "" in o.patterns:
            return EveryLine()
        if len(o.patterns) == 1 and not (o.null_data and ("\n" in o.patterns[0] or "\0" in o.patterns[0])):
            return LiteralMatcher(encode(o.patterns[0]))
    if plain and o.icase and len(o.patterns) == 1 and not o.word and not o.line and not o.null_data:
        text = o.patterns[0]
        if text and text.isascii() and not set(text.lower()) & set("ks\n\0"):
            return FoldedMatcher(encode(text.lower()))
    syntax = "fixed" if plain else "egrep" if o.matcher == "E" else "grep"
    regex = compile_many(o.patterns, syntax, o.icase, utf8=o.utf8, lines=True, swap=o.null_data,
                         wrap=_line if o.line else _word if o.word else None)
    for text in regex.warnings:
        proc.message(f"warning: {text}")
    return RegexMatcher(regex, 1 if o.word and not o.line else 0, o.utf8)


def _is_plain(text: str, matcher: str) -> bool:
    special = "\\[.*^$" if matcher == "G" else "\\[.*^$+?{|()"
    return not any(c in text for c in special)


def _line(tree: Node, groups: int) -> tuple[Node, int]:
    return Seq([Assert("^"), tree, Assert("$")]), groups


def _word(tree: Node, groups: int) -> tuple[Node, int]:
    """The match with what must surround it; the match is group 1, the pattern's groups follow."""
    outside = Set((), ("word",), True)
    return Seq([Alt([Assert("^"), outside]), Group(tree, 1), Alt([outside, Assert("$")])]), groups + 1


# ---- whole blocks

def select(matcher: Matcher, data: bytes, invert: bool) -> bytes:
    """The lines of a block (which ends with a newline) that match, or do not."""
    found = marked(matcher, data)
    if found is not None:
        return found.select(invert)
    next_line = matcher.lines(data)
    total = len(data)
    parts: list[bytes] = []
    begin = end = pos = 0
    while pos < total:
        line = next_line(pos)
        if line is None:
            break
        start = line[0]
        pos = line[1] + 1
        if start != end:
            parts.append(data[end:start] if invert else data[begin:end])
            begin = start
        end = pos
    if invert:
        parts.append(data[end:])
    else:
        parts.append(data[begin:end])
    return b"".join(parts)


def marked(matcher: Matcher, data: bytes) -> Marked | None:
    """The block with its matching lines marked, where it is large enough and the pattern allows it."""
    if len(data) < LARGE:
        return None
    source = matcher.source(data)
    if source is None:
        return None
    try:
        return mark_lines(source, data)
    except Unsuited:
        return None


# ---- -P

def _perl(proc: Process, o: Options) -> Matcher:
    if len(o.patterns) != 1:
        proc.message("the -P option only supports a single pattern")
        raise Exit(2)
    text = o.patterns[0]
    compile_pcre(text, o.icase, utf8=o.utf8, ucp=False)  # errors are those of the pattern as it was given
    if o.line:
        text = f"^(?:{text})$"
    elif o.word:
        text = f"(?<!\\w)(?:{text})(?!\\w)"
    regex = compile_pcre(text, o.icase, utf8=o.utf8, flags="" if o.null_data else "m", ucp=False)
    return PerlMatcher(regex, "zero" if o.null_data else _newline_mode(o.patterns[0]), o.utf8)


def _newline_mode(text: str) -> str:
    """What a newline in the subject could do to the pattern: nothing, shift a match, or more."""
    sees = any(s in text for s in ("[^", "\\s", "\\S", "\\W", "\\D", "\\R", "\\v", "\\n", "\\x", "\\h", "\\H", "\\N",
                                   "\\X", "\\A", "\\z", "\\Z", "\\G", "\\P", "\\p", "\\V", "\\o", "\\c", "\\0",
                                   "\\C", "[[:",
                                   "(?s", "(?-", "(*"))
    if not sees:
        return "safe"
    odd = any(s in text for s in ("(?=", "(?!", "(?<", "(?>", "(?(", "(*", "++", "*+", "?+", "}+", "\\A", "\\z", "\\Z",
                                  "\\G", "\\K", "(?s", "(?-", "(?R", "(?1", "(?&"))
    return "line" if odd else "verify"


__all__ = ["Matcher", "RegexError", "make_matcher"]
