"""Shell patterns (``* ? [...]`` and, on request, extglob groups) as matchers.

A pattern is cut at its stars into segments of fixed width, so that matching needs only `find` and `rfind` of segments
and never backtracks. Extglob groups are matched by a set of positions held in one integer, a bit per position.
Works on str, a byte that is not UTF-8 being one (surrogate) character; ranges go by code point, as in C.UTF-8.
"""

from __future__ import annotations

import re

from mirage.text.pause import pause

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    Replacement: TypeAlias = str | Callable[[str], str]
    Unit: TypeAlias = "str | Bracket | Group | None"  # a character, a bracket, a group; None is `?`; "" is `*`

_SPECIAL = r"[*?\[\]\\!@+(|)^-]"
_ASCII_CLASSES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": r"\x00-\x7f", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "punct": r"!-/:-@\[-`{-~", "space": r" \t-\r",
    "upper": "A-Z", "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_NON_ASCII: dict[str, Callable[[str], bool]] = {
    "alnum": str.isalnum,
    "alpha": str.isalnum,
    "blank": lambda char: char in "\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a\u205f\u3000",
    "cntrl": lambda char: "\x80" <= char <= "\x9f" or char in "\u2028\u2029",
    "graph": lambda char: char.isprintable() and not char.isspace(),
    "lower": str.islower,
    "print": lambda char: char.isprintable() or char.isspace() and char not in "\x85\u2028\u2029",
    "punct": lambda char: char.isprintable() and not char.isalnum() and not char.isspace(),
    "space": lambda char: char.isspace() and char not in "\x85\xa0\u2007\u202f",
    "upper": str.isupper,
    "word": str.isalnum,
}
_NAMES = {
    "NUL": "\0", "tab": "\t", "newline": "\n", "vertical-tab": "\v", "form-feed": "\f", "carriage-return": "\r",
    "space": " ", "exclamation-mark": "!", "quotation-mark": '"', "number-sign": "#", "dollar-sign": "$",
    "percent-sign": "%", "ampersand": "&", "apostrophe": "'", "left-parenthesis": "(", "right-parenthesis": ")",
    "asterisk": "*", "plus-sign": "+", "comma": ",", "hyphen": "-", "hyphen-minus": "-", "minus": "-", "period": ".",
    "full-stop": ".", "dot": ".", "slash": "/", "solidus": "/", "colon": ":", "semicolon": ";", "less-than-sign": "<",
    "equals-sign": "=", "greater-than-sign": ">", "question-mark": "?", "commercial-at": "@",
    "left-square-bracket": "[", "backslash": "\\", "reverse-solidus": "\\", "right-square-bracket": "]",
    "circumflex": "^", "circumflex-accent": "^", "underscore": "_", "low-line": "_", "grave-accent": "`",
    "left-brace": "{", "left-curly-bracket": "{", "vertical-line": "|", "right-brace": "}",
    "right-curly-bracket": "}", "tilde": "~",
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9",
}  # fmt: skip


def escape(text: str) -> str:
    """`text` as a pattern that matches only itself."""
    return re.sub(_SPECIAL, r"\\\g<0>", text)


def has_magic(text: str, extglob: bool = False) -> bool:
    """Does the pattern hold anything but literal (or escaped) characters?"""
    return any(unit.__class__ is not str or unit == "" for unit in _parse(text, extglob))


def compile(text: str, extglob: bool = True, nocase: bool = False) -> Pattern:
    """The matcher of a pattern; a backslash makes the next character literal. Compiled ones are kept."""
    key = text, extglob, nocase
    found = _cache.get(key)
    if found is None:
        if len(_cache) >= 512:
            _cache.clear()
        found = _cache[key] = _make(_parse(text, extglob), nocase)
    return found


# ----------------------------------------------------------------------------------------------------------- parsing


class Bracket:
    """``[...]``: `ranges` of characters and names of `classes`."""

    __slots__ = ("classes", "negated", "nocase", "ranges")

    def __init__(self, negated: bool) -> None:
        self.negated = negated
        self.ranges: list[tuple[str, str]] = []
        self.classes: list[str] = []
        self.nocase = False

    def test(self, char: str) -> bool:
        return self._test(char) is not self.negated

    def _test(self, char: str) -> bool:
        if self._in_range(char) or self._in_class(char):
            return True
        return self.nocase and (self._in_range(char.lower()) or self._in_range(char.upper()))

    def _in_range(self, char: str) -> bool:
        return any(low <= char <= high for low, high in self.ranges)

    def _in_class(self, char: str) -> bool:
        """Classes know the cases of letters even where they do not count."""
        if not self.classes:
            return False
        if char < "\x80":
            return any(re.match(f"[{_ASCII_CLASSES[name]}]", char) for name in self.classes)
        if "\udc80" <= char <= "\udcff":
            return False
        return any(name in _NON_ASCII and _NON_ASCII[name](char) for name in self.classes)

    def regex(self) -> str:
        """As a class of `re`, without what the named classes hold beyond ASCII."""
        if not self.ranges and not self.classes:
            return r"[\s\S]" if self.negated else r"(?!)"
        inner = "".join(
            _in_class(low) if low == high else f"{_in_class(low)}-{_in_class(high)}" for low, high in self.ranges
        )
        inner += "".join(_ASCII_CLASSES[name] for name in self.classes)
        return f"[{'^' if self.negated else ''}{inner}]"

    @property
    def ascii_only(self) -> bool:
        """Do the classes hold ASCII characters only?"""
        return not any(name in _NON_ASCII for name in self.classes)


class Group:
    """An extglob group: `op` is one of ``? * + @ !``, `alternatives` are lists of units."""

    __slots__ = ("alternatives", "op")

    def __init__(self, op: str, alternatives: list[list[Unit]]) -> None:
        self.op = op
        self.alternatives = alternatives


def _in_class(char: str) -> str:
    return "\\" + char if char in "\\]^-[&~|" else char


def _parse(text: str, extglob: bool) -> list[Unit]:
    units: list[Unit] = []
    pos, size = 0, len(text)
    while pos < size:
        char = text[pos]
        if extglob and char in "?*+@!" and text[pos + 1 : pos + 2] == "(":
            end = group_end(text, pos + 2)
            if end > 0:
                units.append(Group(char, [_parse(part, extglob) for part in alternatives(text, pos + 2, end)]))
                pos = end + 1
                continue
        pos += 1
        if char == "\\":
            if pos < size:
                units.append(text[pos])
                pos += 1
            else:
                units.append("\\")
        elif char == "?":
            units.append(None)
        elif char == "*":
            if not units or units[-1] != "":
                units.append("")
        elif char == "[":
            found = _bracket(text, pos)
            if found is None:
                units.append("[")
            else:
                bracket, pos = found
                units.append(bracket)
        else:
            units.append(char)
    return units


def group_end(text: str, pos: int) -> int:
    """The offset of the parenthesis that closes the group whose inside begins at `pos`; -1 without one."""
    depth = 1
    while pos < len(text):
        char = text[pos]
        if char == "\\":
            pos += 1
        elif char == "[":
            found = _bracket(text, pos + 1)
            if found:
                pos = found[1]
                continue
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if not depth:
                return pos
        pos += 1
    return -1


def alternatives(text: str, pos: int, end: int) -> Iterator[str]:
    """The alternatives of the group whose inside is ``text[pos:end]``."""
    start, depth = pos, 0
    while pos < end:
        char = text[pos]
        if char == "\\":
            pos += 1
        elif char == "[":
            found = _bracket(text, pos + 1)
            if found:
                pos = found[1]
                continue
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        elif char == "|" and not depth:
            yield text[start:pos]
            start = pos + 1
        pos += 1
    yield text[start:end]


def _bracket(text: str, pos: int) -> tuple[Bracket, int] | None:
    """The bracket whose inside begins at `pos` and the offset behind it; None when it is not closed."""
    size = len(text)
    bracket = Bracket(text[pos : pos + 1] in ("!", "^"))
    pos += bracket.negated
    first = True
    while pos < size:
        char = text[pos]
        if char == "]" and not first:
            return bracket, pos + 1
        first = False
        if char == "[" and text[pos + 1 : pos + 2] == ":":
            end = text.find(":]", pos + 2)
            if end > 0:
                name = text[pos + 2 : end]
                pos = end + 2
                if name in _ASCII_CLASSES:
                    bracket.classes.append(name)
                continue
        low, pos = _bracket_char(text, pos)
        if pos < size - 1 and text[pos] == "-" and text[pos + 1] != "]":
            high, pos = _bracket_char(text, pos + 1)
            if low and high and low <= high:
                bracket.ranges.append((low, high))
        elif low:
            bracket.ranges.append((low, low))
    return None


def _bracket_char(text: str, pos: int) -> tuple[str, int]:
    """One character of a bracket (maybe written ``[.x.]``, ``[=x=]`` or with a backslash); '' for a bad name."""
    char = text[pos]
    if char == "\\" and pos + 1 < len(text):
        return text[pos + 1], pos + 2
    mark = text[pos + 1 : pos + 2]
    if char == "[" and mark in (".", "="):
        end = text.find(mark + "]", pos + 2)
        if end > 0:
            name = text[pos + 2 : end]
            return name if len(name) == 1 else _NAMES.get(name, ""), end + 2
    return char, pos + 1


# ---------------------------------------------------------------------------------------------------------- matchers


class Pattern:
    """A compiled pattern. Offsets count characters; -1 means that nothing matches.

    literal  the only text that matches, or None
    """

    __slots__ = ("literal",)

    def __init__(self, literal: str | None = None) -> None:
        self.literal = literal

    def matches(self, text: str) -> bool:
        """Does the whole text match?"""
        raise NotImplementedError

    def is_one_character(self) -> bool:
        """Is whatever matches exactly one character long?"""
        return False

    def prefix(self, text: str, longest: bool) -> int:
        """The end of the shortest or longest prefix that matches."""
        raise NotImplementedError

    def suffix(self, text: str, longest: bool) -> int:
        """The start of the shortest or longest suffix that matches."""
        raise NotImplementedError

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """(start, end) of the leftmost-longest matches, left to right; empty ones too, but not at the end."""
        raise NotImplementedError


class _Literal:
    """A segment of plain characters."""

    __slots__ = ("text", "width")

    def __init__(self, text: str) -> None:
        self.text = text
        self.width = len(text)

    def at(self, text: str, pos: int) -> bool:
        return text.startswith(self.text, pos)

    def find(self, text: str, start: int, end: int) -> int:
        return text.find(self.text, start, end)

    def rfind(self, text: str, start: int, end: int) -> int:
        return text.rfind(self.text, start, end)


class _Regex:
    """A segment with brackets, ``?`` or letters of either case: a regular expression of fixed width."""

    __slots__ = ("_last", "_source", "_search", "width")

    def __init__(self, source: str, width: int, nocase: bool) -> None:
        self._source = f"(?s{'i' if nocase else ''}:{source})"
        self._search = re.compile(self._source)
        self._last: re.Pattern[str] | None = None
        self.width = width

    def at(self, text: str, pos: int) -> bool:
        return self._search.match(text, pos) is not None

    def find(self, text: str, start: int, end: int) -> int:
        found = self._search.search(text, start, end)
        return found.start() if found else -1

    def rfind(self, text: str, start: int, end: int) -> int:
        if start > end:
            return -1
        if self._last is None:
            self._last = re.compile(f"(?s:.*)({self._source})")
        found = self._last.match(text, start, end)
        return found.start(1) if found else -1


class _Segments(Pattern):
    """No stars, or ``head*middle*...*tail``."""

    __slots__ = ("ends", "head", "middle", "star", "tail")

    def __init__(self, segments: list[_Literal | _Regex]) -> None:
        self.head = segments[0]
        first, last = segments[0], segments[-1]
        self.ends = (first.text, last.text) if len(segments) == 2 and isinstance(first, _Literal) \
            and isinstance(last, _Literal) else None         # `head*tail`, the most frequent form
        self.star = len(segments) > 1
        self.middle = segments[1:-1]
        self.tail = segments[-1]
        head = self.head
        super().__init__(head.text if not self.star and isinstance(head, _Literal) else None)

    def matches(self, text: str) -> bool:
        head = self.head
        if self.ends is not None:
            first, last = self.ends
            return text.startswith(first) and text.endswith(last) and len(text) >= len(first) + len(last)
        if not self.star:
            return len(text) == head.width and head.at(text, 0)
        end = len(text) - self.tail.width
        if end < head.width or not head.at(text, 0) or not self.tail.at(text, end):
            return False
        if not self.middle:
            return True
        pos = self._middle(text, head.width)
        return 0 <= pos <= end

    def _middle(self, text: str, pos: int) -> int:
        size = len(text)
        for segment in self.middle:
            pos = segment.find(text, pos, size)
            if pos < 0:
                return -1
            pos += segment.width
        return pos

    def prefix(self, text: str, longest: bool) -> int:
        return self._end(text, 0, longest) if self.head.at(text, 0) else -1

    def _end(self, text: str, start: int, longest: bool) -> int:
        """The end of a match whose head stands at `start`."""
        pos = start + self.head.width
        if not self.star:
            return pos
        pos = self._middle(text, pos)
        if pos < 0:
            return -1
        tail, size = self.tail, len(text)
        if not tail.width:
            return size if longest else pos
        pos = tail.rfind(text, pos, size) if longest else tail.find(text, pos, size)
        return -1 if pos < 0 else pos + tail.width

    def suffix(self, text: str, longest: bool) -> int:
        end = len(text) - self.tail.width
        if end < 0 or not self.tail.at(text, end):
            return -1
        if not self.star:
            return end
        for segment in reversed(self.middle):
            end = segment.rfind(text, 0, end)
            if end < 0:
                return -1
        if not self.head.width:
            return 0 if longest else end
        return self.head.find(text, 0, end) if longest else self.head.rfind(text, 0, end)

    def is_one_character(self) -> bool:
        return not self.star and self.head.width == 1

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        head, size, pos = self.head, len(text), 0
        while pos < size or not pos:
            start = head.find(text, pos, size)
            if start < 0:
                return
            end = self._end(text, start, True)
            if end < 0:
                return
            yield start, end
            pos = end if end > start else end + 1


class _Groups(Pattern):
    """A pattern with extglob groups: short texts by sets of positions, long ones by google-re2 unless it negates."""

    __slots__ = ("_backward", "_forward", "backward", "negation", "nocase", "units")

    def __init__(self, units: list[Unit], nocase: bool) -> None:
        super().__init__()
        self.units = units
        self.backward = _reversed(units)
        self.nocase = nocase
        self.negation = _has_negation(units)
        self._forward: re.Pattern[bytes] | None = None
        self._backward: re.Pattern[bytes] | None = None

    def matches(self, text: str) -> bool:
        if len(text) > SHORT and not self.negation:
            return self._forward_regex().fullmatch(_encoded(text)) is not None
        return bool(_Positions(text, self.nocase).ends(self.units, 1) >> len(text))

    def prefix(self, text: str, longest: bool) -> int:
        if len(text) > SHORT and not self.negation:
            return _regex_end(self._forward_regex(), text, longest)
        ends = _Positions(text, self.nocase).ends(self.units, 1)
        return _highest(ends) if longest else _lowest(ends)

    def suffix(self, text: str, longest: bool) -> int:
        if len(text) > SHORT and not self.negation:
            if self._backward is None:
                self._backward = _re2_compile(self.backward, self.nocase)
            length = _regex_end(self._backward, text[::-1], longest)
        else:
            ends = _Positions(text[::-1], self.nocase).ends(self.backward, 1)
            length = _highest(ends) if longest else _lowest(ends)
        return -1 if length < 0 else len(text) - length

    def _forward_regex(self) -> re.Pattern[bytes]:
        if self._forward is None:
            self._forward = _re2_compile(self.units, self.nocase)
        return self._forward

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        if not self.negation:
            yield from self._fast_spans(text)
            return
        positions = _Positions(text, self.nocase)
        pos, size = 0, len(text)
        while pos < size or not pos:
            end = _highest(positions.ends(self.units, 1 << pos))
            if end < 0:
                pos += 1
                continue
            yield pos, end
            pos = end if end > pos else pos + 1

    def _fast_spans(self, text: str) -> Iterator[tuple[int, int]]:
        regex = self._forward_regex()
        data = _encoded(text)
        ascii_only = len(data) == len(text)
        at = 0  # bytes
        char = 0  # the same place in characters
        pos = 0
        while pos < len(data) or not pos:
            found = regex.search(data, pos)
            if found is None:
                return
            start, end = found.span()
            if ascii_only:
                yield start, end
            else:
                char += len(data[at:start].decode("utf-8"))
                width = len(data[start:end].decode("utf-8"))
                yield char, char + width
                char += width
                at = end
            pos = end
            if end == start:
                pos += 1
                while pos < len(data) and data[pos] & 0xC0 == 0x80:
                    pos += 1


SHORT = 256  # characters, up to which sets of positions are the faster way
_PAUSE_EVERY = 64  # turns
_TURN = 2048  # bits for which a turn takes as long as for its other work
MAX_WORK = 1 << 29  # bits that the positions of one text may take together


class PatternTooComplex(Exception):
    """A pattern with a negated group (``!(...)``) would take too long on a text of this length."""


def _encoded(text: str) -> bytes:
    """UTF-8; bytes that are not are characters of a private plane, as in the expressions."""
    return text.translate(_TO_PLANE_16).encode("utf-8") if not text.isascii() else text.encode("ascii")


def _re2_compile(units: list[Unit], nocase: bool) -> re.Pattern[bytes]:
    import re2

    options = re2.Options()
    options.longest_match = True
    options.case_sensitive = not nocase
    options.dot_nl = True
    options.log_errors = False
    compiled: re.Pattern[bytes] = re2.compile(_re2_source(units).encode(), options)
    return compiled


def _regex_end(regex: re.Pattern[bytes], text: str, longest: bool) -> int:
    """The end, in characters, of the shortest or longest match at the start of the text; -1 without one."""
    data = _encoded(text)
    found = regex.match(data)
    if found is None:
        return -1
    end = found.end()
    if not longest:
        low = 0
        while low < end:  # the shortest match is the shortest text that holds one at its start
            middle = (low + end) // 2
            if regex.match(data, 0, middle) is None:
                low = middle + 1
            else:
                end = middle
    return len(data[:end].decode("utf-8"))


_TO_PLANE_16 = {0xDC00 + byte: 0x10FE00 + byte for byte in range(128, 256)}


class _Positions:
    """A text, with the positions of each character as a bit set."""

    __slots__ = ("cache", "everywhere", "nocase", "text", "turns", "work")

    def __init__(self, text: str, nocase: bool) -> None:
        self.text = text
        self.nocase = nocase
        self.everywhere = (1 << len(text)) - 1
        self.cache: dict[str | Bracket, int] = {}
        self.turns = 0
        self.work = 0

    def where(self, unit: str | Bracket) -> int:
        mask = self.cache.get(unit)
        if mask is None:
            test = self._tester(unit)
            if self.text.isascii():
                table = bytes(49 if test(chr(code)) else 48 for code in range(128)) + bytes(128)
                bits = self.text.encode("ascii").translate(table)[::-1].decode("ascii")
            else:
                known = {char: "1" if test(char) else "0" for char in set(self.text)}
                bits = "".join([known[char] for char in reversed(self.text)])
            mask = self.cache[unit] = int(bits or "0", 2)
        return mask

    def _tester(self, unit: str | Bracket) -> Callable[[str], bool]:
        if isinstance(unit, Bracket):
            return unit.test
        if not self.nocase:
            return unit.__eq__
        wanted = unit.lower()
        return lambda char: char.lower() == wanted

    def ends(self, units: list[Unit], starts: int) -> int:
        """Where a match of `units` that begins at one of `starts` can end."""
        for unit in units:
            if not starts:
                return 0
            if unit is None:
                starts = (starts & self.everywhere) << 1
            elif unit == "":
                starts = self.from_on(starts)
            elif isinstance(unit, Group):
                starts = self.group(unit, starts)
            else:
                starts = (starts & self.where(unit)) << 1
        return starts

    def from_on(self, starts: int) -> int:
        """All positions from the first of `starts` on."""
        low = starts & -starts
        return (self.everywhere << 1 | 1) & ~(low - 1)

    def group(self, group: Group, starts: int) -> int:
        op = group.op
        if op == "!":
            return self.negated(group, starts)
        once = self.alternatives(group, starts)
        if op == "@":
            return once
        if op == "?":
            return once | starts
        reached = once
        fresh = once
        while fresh:
            self.turn()
            fresh = self.alternatives(group, fresh) & ~reached
            reached |= fresh
        return reached | starts if op == "*" else reached

    def negated(self, group: Group, starts: int) -> int:
        """The ends of ``!(...)``: all but those of the alternatives, for each start by itself."""
        missing = self.from_on(starts)
        result = 0
        while starts and missing:
            low = starts & -starts
            starts ^= low
            self.turn()
            result |= self.from_on(low) & ~self.alternatives(group, low)
            missing &= ~result
        return result

    def turn(self) -> None:
        """One more start of a negation, or round of a repeated group."""
        self.work += len(self.text) + _TURN
        self.turns += 1
        if self.work > MAX_WORK:
            raise PatternTooComplex
        if not self.turns % _PAUSE_EVERY:
            pause()

    def alternatives(self, group: Group, starts: int) -> int:
        result = 0
        for units in group.alternatives:
            result |= self.ends(units, starts)
        return result


def _highest(mask: int) -> int:
    return mask.bit_length() - 1


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _reversed(units: list[Unit]) -> list[Unit]:
    return [
        Group(unit.op, [_reversed(part) for part in unit.alternatives]) if isinstance(unit, Group) else unit
        for unit in reversed(units)
    ]


def _has_negation(units: list[Unit]) -> bool:
    return any(
        isinstance(unit, Group) and (unit.op == "!" or any(_has_negation(part) for part in unit.alternatives))
        for unit in units
    )


_RE2_CLASSES = {
    "alnum": r"0-9A-Za-z\p{L}\p{N}", "alpha": r"A-Za-z\p{L}\p{Nl}", "lower": r"\p{Ll}", "upper": r"\p{Lu}",
    "punct": r"!-/:-@\[-`{-~\p{P}\p{S}", "space": r" \t-\r\x{2000}-\x{200a}\x{3000}", "word": r"0-9A-Za-z_\p{L}\p{N}",
    "print": r" -~\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}", "graph": r"!-~\p{L}\p{M}\p{N}\p{P}\p{S}",
}  # fmt: skip


def _re2_source(units: list[Unit]) -> str:
    parts = []
    for unit in units:
        if unit is None:
            parts.append(".")
        elif unit == "":
            parts.append(".*")
        elif isinstance(unit, Group):
            inner = "|".join(_re2_source(part) for part in unit.alternatives)
            parts.append(f"(?:{inner}){'' if unit.op == '@' else unit.op}")
        elif isinstance(unit, Bracket):
            parts.append(_re2_class(unit))
        else:
            parts.append(re.escape(str(unit).translate(_TO_PLANE_16)))
    return "".join(parts)


def _re2_class(bracket: Bracket) -> str:
    inner = "".join(
        f"\\x{{{ord(low.translate(_TO_PLANE_16)):x}}}-\\x{{{ord(high.translate(_TO_PLANE_16)):x}}}"
        for low, high in bracket.ranges
    )
    inner += "".join(_RE2_CLASSES.get(name, _ASCII_CLASSES[name]) for name in bracket.classes)
    if not inner:
        return "." if bracket.negated else r"[^\x00-\x{10FFFF}]"
    return f"[{'^' if bracket.negated else ''}{inner}]"


def _make(units: list[Unit], nocase: bool) -> Pattern:
    if any(unit.__class__ is Group for unit in units):
        _fold(units, nocase)
        return _Groups(units, nocase)
    segments: list[_Literal | _Regex] = []
    segment: list[Unit] = []
    for unit in [*units, ""]:
        if unit != "":
            segment.append(unit)
            continue
        segments.append(_segment(segment, nocase))
        segment = []
    if units and units[-1] == "":
        segments.append(_Literal(""))
    return _Segments(segments)


def _fold(units: list[Unit], nocase: bool) -> None:
    for unit in units:
        if isinstance(unit, Bracket):
            unit.nocase = nocase
        elif isinstance(unit, Group):
            for part in unit.alternatives:
                _fold(part, nocase)


def _segment(units: list[Unit], nocase: bool) -> _Literal | _Regex:
    plain = [unit for unit in units if isinstance(unit, str)]
    if len(plain) == len(units):
        text = "".join(plain)
        if not nocase or text.lower() == text.upper():
            return _Literal(text)
    source = "".join(
        "." if unit is None else _bracket_source(unit, nocase) if isinstance(unit, Bracket) else re.escape(str(unit))
        for unit in units
    )
    return _Regex(source, len(units), nocase)


_BEYOND_ASCII = {
    "alnum": r"[^\W_]", "alpha": r"[^\W_]", "word": r"[^\W_]", "graph": r"(?!\s)[^\x80-\xa0\udc80-\udcff]",
    "print": r"[^\x80-\x9f\udc80-\udcff]", "punct": r"[^\w\s\x80-\xa0\udc80-\udcff]", "space": r"(?![\x85\xa0])\s",
    "blank": r"(?![\x85\xa0])\s", "cntrl": r"[\x80-\x9f\u2028\u2029]",
}  # fmt: skip


def _bracket_source(bracket: Bracket, nocase: bool) -> str:
    """As a regular expression of one character; letters beyond ASCII are tested where a class asks for them."""
    plain = bracket.regex()
    if bracket.ascii_only:
        return plain
    parts = []
    for name in bracket.classes:
        if name in _BEYOND_ASCII:
            parts.append(rf"(?![\x00-\x7f]){_BEYOND_ASCII[name]}")
        elif name in ("lower", "upper"):
            parts.append(f"(?-i:{_cased(name)})")
            parts.append(f"(?-i:[{_ASCII_CLASSES[name]}])")
    rest = Bracket(False)
    rest.ranges = bracket.ranges
    rest.classes = [name for name in bracket.classes if name not in ("lower", "upper")]
    whole = "|".join([rest.regex(), *parts])
    return rf"(?!{whole})[\s\S]" if bracket.negated else f"(?:{whole})"


_CASED_BLOCKS = (
    (0x80, 0x590), (0x10A0, 0x1100), (0x13A0, 0x1400), (0x1C80, 0x2190),
    (0x2C00, 0x2E00), (0xA640, 0xA800), (0xAB30, 0xABC0), (0xFF21, 0xFF5B),
)  # fmt: skip
_cased_cache: dict[str, str] = {}


def _cased(name: str) -> str:
    """A class of the upper or lower case letters beyond ASCII (of the basic plane)."""
    found = _cased_cache.get(name)
    if found is None:
        test = str.islower if name == "lower" else str.isupper
        ranges: list[list[int]] = []
        for first, last in _CASED_BLOCKS:
            for code in range(first, last):
                if test(chr(code)):
                    if ranges and ranges[-1][1] == code - 1:
                        ranges[-1][1] = code
                    else:
                        ranges.append([code, code])
        found = _cased_cache[name] = "[" + "".join(f"\\u{low:04x}-\\u{high:04x}" for low, high in ranges) + "]"
    return found


_cache: dict[tuple[str, bool, bool], Pattern] = {}
