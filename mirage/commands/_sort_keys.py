"""Keys of sort(1): the -k syntax, and functions that map a line to something that compares as the key does."""
from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_POSITION = re.compile(r"([0-9]*)(?:\.([0-9]*))?([bdfgihMnRrV]*)")
_BLANKS = b" \t\n"
_UPPER = bytes(b - 32 if 97 <= b <= 122 else b for b in range(256))
_NOT_DICTIONARY = bytes(b for b in range(256) if not (48 <= b < 58 or 65 <= b < 91 or 97 <= b < 123
                                                      or b in (9, 10, 32)))
_NOT_PRINTING = bytes(b for b in range(256) if not 32 <= b < 127)
_NUMBER = re.compile(rb"[ \t\n]*(-?)([0-9]*)(?:\.([0-9]*))?")
_HUMAN = re.compile(rb"[ \t\n]*(-?)([0-9]*)(?:\.([0-9]*))?([KkMGTPEZYRQ]?)")
_GENERAL = re.compile(rb"[ \t\n\v\f\r]*([-+]?(?:0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][-+]?[0-9]+)?"
                      rb"|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?"
                      rb"|[nN][aA][nN]))")
_MONTHS = {m: i for i, m in enumerate((b"JAN", b"FEB", b"MAR", b"APR", b"MAY", b"JUN", b"JUL", b"AUG", b"SEP",
                                       b"OCT", b"NOV", b"DEC"), 1)}
_POWERS = {b"": 0, b"k": 1, **{bytes((c,)): i for i, c in enumerate(b"KMGTPEZYRQ", 1)}}
MAX_FIELD = 65535
PLACES = 15
_ZEROS = b"0" * PLACES


class KeyError_(Exception):
    """A -k argument that GNU refuses."""

    def __init__(self, problem: str, spec: str) -> None:
        super().__init__(problem, spec)
        self.problem = problem
        self.spec = spec

    def text(self, quote: Callable[[str], str]) -> str:
        return f"{self.problem}: invalid field specification {quote(self.spec)}" if self.problem != "count" \
            else f"invalid number at field start: invalid count at start of {quote(self.spec)}"


class Key:
    """One key. Fields and characters count from 0; end_field None: to the end of the line; end_char 0: whole field."""

    __slots__ = ("end_char", "end_field", "flags", "skip_end", "skip_start", "start_char", "start_field")

    def __init__(self) -> None:
        self.start_field = 0
        self.start_char = 0
        self.end_field: int | None = None
        self.end_char = 0
        self.flags: set[str] = set()
        self.skip_start = self.skip_end = False

    @classmethod
    def parse(cls, text: str) -> Key:
        """POS1[,POS2] with modifiers; raises KeyError_."""
        key = cls()
        found = _POSITION.match(text)
        assert found is not None
        if not found[1]:
            raise KeyError_("count", text)
        if int(found[1]) == 0:
            raise KeyError_("field number is zero", text)
        key.start_field = int(found[1]) - 1
        if found[2] is not None:
            if not found[2]:
                raise KeyError_("invalid number after '.'", text)
            if int(found[2]) == 0:
                raise KeyError_("character offset is zero", text)
            key.start_char = int(found[2]) - 1
        key.flags |= set(found[3]) - {"b"}
        key.skip_start = "b" in found[3]
        rest = text[found.end():]
        if rest.startswith(","):
            found = _POSITION.match(rest, 1)
            assert found is not None
            if not found[1]:
                raise KeyError_("invalid number after ','", text)
            if int(found[1]) == 0:
                raise KeyError_("field number is zero", text)
            key.end_field = int(found[1]) - 1
            if found[2] is not None:
                if not found[2]:
                    raise KeyError_("invalid number after '.'", text)
                key.end_char = int(found[2])
            key.flags |= set(found[3]) - {"b"}
            key.skip_end = "b" in found[3]
            rest = rest[found.end():]
        if rest:
            raise KeyError_("stray character in field spec", text)
        return key

    @property
    def whole_line(self) -> bool:
        return not (self.start_field or self.start_char or self.skip_start) and self.end_field is None


def key_function(key: Key, separator: bytes | None, salt: bytes) -> Callable[[bytes], Any]:
    """line -> something comparable, for one key with its modifiers."""
    extract = _extractor(key, separator)
    convert = _converter(key.flags, salt)
    if extract is None:
        return convert or (lambda line: line)
    if convert is None:
        return extract
    cut, turn = extract, convert
    return lambda line: turn(cut(line))


def integer_key(key: Key, separator: bytes | None) -> Callable[[bytes], int] | None:
    """For -n on one whole field: line -> int, a quicker way for lines where that field is an integer.

    Raises ValueError or IndexError for any other line.
    """
    if key.flags != {"n"} or key.start_char or key.end_char or key.start_field > MAX_FIELD \
            or key.end_field not in (None, key.start_field):
        return None
    at = key.start_field
    if separator is None:
        return lambda line: int(line.split(None, at + 1)[at])
    if separator in b"0123456789-":
        return None
    tab = separator
    return lambda line: int(line.split(tab, at + 1)[at])


def _extractor(key: Key, separator: bytes | None) -> Callable[[bytes], bytes] | None:
    if key.whole_line:
        return None
    start, end = min(key.start_field, MAX_FIELD), key.end_field
    plain = not (key.start_char or key.end_char or key.skip_start or key.skip_end)
    if separator is not None and plain:
        tab = separator
        if end is None:
            return lambda line: parts[start] if len(parts := line.split(tab, start)) > start else b""
        if end == start:
            return lambda line: parts[start] if len(parts := line.split(tab, start + 1)) > start else b""
    if separator is None and plain:
        return _blank_separated(start, end)
    begin_at = _advance(separator, start, stay=False)
    end_at = None
    if end is not None:
        end = min(end, MAX_FIELD)
        end_at = _advance(separator, end if key.end_char else end + 1, stay=not key.end_char)
    start_char, end_char, skip_start, skip_end = key.start_char, key.end_char, key.skip_start, key.skip_end

    def extract(line: bytes) -> bytes:
        a = begin_at(line) if start else 0
        if skip_start:
            a = len(line) - len(line[a:].lstrip(_BLANKS))
        a += start_char
        if end_at is None:
            return line[a:]
        b = end_at(line)
        if end_char:
            if skip_end:
                b = len(line) - len(line[b:].lstrip(_BLANKS))
            b += end_char
        return line[a:b] if b > a else b""
    return extract


def _blank_separated(start: int, end: int | None) -> Callable[[bytes], bytes]:
    """Whole fields between blanks, with the blanks in front of the first one."""
    one = rb"(?:[ \t\n]*[^ \t\n]+)"
    rest = rb"(.*)" if end is None else rb"(%s{%d}|.*)" % (one, max(0, min(end, MAX_FIELD) + 1 - start))
    match = re.compile(rb"%s{%d}%s" % (one, start, rest), re.DOTALL).match

    def extract(line: bytes) -> bytes:
        found = match(line)
        return found[1] if found else b""
    return extract


def _advance(separator: bytes | None, fields: int, stay: bool) -> Callable[[bytes], int]:
    """line -> offset behind `fields` fields; with `stay` before the separator that follows the last one."""
    if separator is None:
        skip = re.compile(rb"(?:[ \t\n]*[^ \t\n]+){%d}" % fields)

        def blank_separated(line: bytes) -> int:
            found = skip.match(line)
            return found.end() if found else len(line)
        return blank_separated
    tab = separator

    def separated(line: bytes) -> int:
        at = -1
        for _ in range(fields):
            at = line.find(tab, at + 1)
            if at < 0:
                return len(line)
        return at if stay else at + 1
    return separated


def _converter(flags: set[str], salt: bytes) -> Callable[[bytes], Any] | None:
    text = _text_converter(flags)
    if "n" in flags:
        return numeric
    if "g" in flags:
        return general
    if "h" in flags:
        return (lambda line: human(line.upper())) if "f" in flags else human
    if "M" in flags:
        return month
    if "R" in flags:
        from hashlib import md5
        return lambda line: (md5(salt + (t := text(line) if text else line) + b"\0").digest(), t)
    if "V" in flags:
        from mirage.commands._version_order import version_key
        return (lambda line: version_key(text(line))) if text else version_key
    return text


def _text_converter(flags: set[str]) -> Callable[[bytes], bytes] | None:
    fold = _UPPER if "f" in flags else None
    delete = _NOT_DICTIONARY if "d" in flags else _NOT_PRINTING if "i" in flags else b""
    if fold is None and not delete:
        return None
    if not delete:
        return lambda line: line.translate(_UPPER)
    return lambda line: line.translate(fold, delete)


def numeric(text: bytes) -> Any:
    """-n: an optional minus, digits, a fraction; anything else is 0. Exact, in units of 10**-PLACES."""
    found = _NUMBER.match(text)
    assert found is not None                                 # of nothing, at the least
    sign, whole, fraction = found.groups()
    if not fraction and len(whole) < 4000:
        value: Any = int(whole + _ZEROS) if whole else 0
    elif len(whole) + len(fraction or b"") > 4000:
        value = _huge(whole, fraction or b"")
    elif len(fraction) <= PLACES:
        value = int(whole + fraction.ljust(PLACES, b"0"))
    else:
        from fractions import Fraction
        value = Fraction(int(whole + fraction), 10 ** (len(fraction) - PLACES))
    return -value if sign else value


def _huge(whole: bytes, fraction: bytes) -> int:
    """Thousands of digits: length and leading digits decide."""
    digits = whole.lstrip(b"0")
    if len(digits) < 3000:
        return int(digits + fraction[:PLACES].ljust(PLACES, b"0"))
    return int(digits[:3000]) * 10 ** (len(digits) - 3000 + PLACES) if len(digits) < 1_000_000 else 1 << 4_000_000


def human(text: bytes) -> tuple[int, Any]:
    """-h: first by suffix (none, K, M, ...), then by number."""
    found = _HUMAN.match(text)
    assert found is not None
    sign, whole, fraction, suffix = found.groups()
    zero = not whole.strip(b"0") and not (fraction or b"").strip(b"0")
    power = 0 if zero else _POWERS[suffix]
    return -power if sign else power, numeric(text)


def general(text: bytes) -> tuple[int, float]:
    """-g: no number < NaN < -inf < ... < inf."""
    found = _GENERAL.match(text)
    if not found:
        return 0, 0.0
    literal = found[1].decode()
    lower = literal.lower()
    value = float.fromhex(literal) if "0x" in lower else float(literal)
    return (1, 0.0) if value != value else (2, value)


def month(text: bytes) -> int:
    return _MONTHS.get(text.lstrip(_BLANKS)[:3].upper(), 0)
