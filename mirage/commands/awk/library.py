"""Builtin functions of gawk. Numbers are floats, text is str, other arguments any value."""
from __future__ import annotations

import math

from mirage.commands.awk.arrays import by_type, numbered, sorted_keys, walk_order
from mirage.commands.awk.errors import Fatal
from mirage.commands.awk.fields import find_fields
from mirage.commands.awk.randoms import Random
from mirage.commands.awk.values import Array, StrNum, TypedRegex, Unset, input_value, non_decimal, number_of, to_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mirage.commands.awk.regexes import Matcher
    from mirage.process.process import Process

DEFAULT_TIME = "%a %b %e %H:%M:%S %Z %Y"
LARGEST_BITS = 2.0 ** 64


class Library:
    """Part of Runtime."""

    process: Process
    text: Callable[[Any], str]
    matcher: Callable[[str], Matcher]
    format: Callable[..., str]
    splitter_of: Callable[[str], Callable[[str], list[str]]]
    comparison_function: Callable[[str], Callable[..., float]]
    field_mode: str
    FS: Any
    FPAT: Any
    SUBSEP: Any
    IGNORECASE: Any
    RSTART: float
    RLENGTH: float
    get_NF: Callable[[], float]
    any_field: Callable[[float], str]
    flush_output: Callable[[], None]
    _splitter: Callable[[str], list[str]]

    def start_library(self) -> None:
        self._random: Random | None = None                   # seeding costs a millisecond: when it is needed
        self.last_seed = 1.0
        self.substituted = ""
        process = self.process
        self.procinfo = Array({"version": "5.2.1", "strftime": DEFAULT_TIME, "FS": "FS", "platform": "posix",
                               "pid": float(process.pid), "ppid": float(process.parent.pid if process.parent else 1),
                               "uid": 1000.0, "euid": 1000.0, "gid": 1000.0, "egid": 1000.0,
                               "pgrpid": float(process.group)})
        self.procinfo["argv"] = Array((str(n), word) for n, word in enumerate(process.argv))
        self.procinfo["identifiers"] = Array()

    # ---- arithmetic

    def sine(self, x: float) -> float:
        return math.sin(x) if math.isfinite(x) else math.nan

    def cosine(self, x: float) -> float:
        return math.cos(x) if math.isfinite(x) else math.nan

    def arc_tangent(self, y: float, x: float) -> float:
        return math.atan2(y, x)

    def exponential(self, x: float) -> float:
        try:
            return math.exp(x)
        except OverflowError:
            self.warn(f"exp: argument {x:g} is out of range")
            return math.inf

    def logarithm(self, x: float) -> float:
        if x < 0:
            self.warn(f"log: received negative argument {x:g}")
            return -math.nan
        return math.log(x) if x else -math.inf

    def square_root(self, x: float) -> float:
        if x < 0:
            self.warn(f"sqrt: called with negative argument {x:g}")
            return -math.nan
        return math.sqrt(x)

    def integer(self, x: float) -> float:
        return float(math.trunc(x)) if math.isfinite(x) else x

    def warn(self, text: str) -> None:
        self.flush_output()
        self.process.write_error(f"awk: cmd. line:1: warning: {text}\n")

    def rand(self) -> float:
        if self._random is None:
            self._random = Random(int(self.last_seed) & 0xFFFFFFFF if math.isfinite(self.last_seed) else 0)
        return self._random.uniform()

    def srand(self, *seed: Any) -> float:
        before = self.last_seed
        self.last_seed = float(number_of(seed[0])) if seed else float(int(self.process.now()))
        self._random = None
        return before

    # ---- bits

    def _bits(self, name: str, values: tuple[float, ...]) -> list[int]:
        for n, value in enumerate(values, 1):
            if value < 0:
                raise Fatal(f"{name}: argument {n} negative value {value:g} is not allowed" if len(values) > 2
                            else f"{name}({', '.join(f'{v:f}' for v in values)}): negative values are not allowed")
        return [int(value) if value == value and value < LARGEST_BITS else 0 for value in values]

    def bits_and(self, *values: float) -> float:
        numbers = self._bits("and", values)
        result = numbers[0]
        for number in numbers[1:]:
            result &= number
        return float(result)

    def bits_or(self, *values: float) -> float:
        result = 0
        for number in self._bits("or", values):
            result |= number
        return float(result)

    def bits_xor(self, *values: float) -> float:
        result = 0
        for number in self._bits("xor", values):
            result ^= number
        return float(result)

    def shift_left(self, value: float, count: float) -> float:
        number, by = self._bits("lshift", (value, count))
        return float(trim_bits((number << min(by, 64)) & (2 ** 64 - 1)))

    def shift_right(self, value: float, count: float) -> float:
        number, by = self._bits("rshift", (value, count))
        return float(number >> min(by, 64))

    def complement(self, value: float) -> float:
        if value < 0:
            raise Fatal(f"compl({value:f}): negative value is not allowed")
        return float(trim_bits(~int(value) & (2 ** 64 - 1)))

    def strtonum(self, value: Any) -> float:
        if type(value) is float:
            return value
        text = str.__str__(value)
        number = non_decimal(text)
        return number if number is not None else to_number(text)

    # ---- text

    def length(self, value: Any) -> float:
        return float(len(value) if type(value) is Array else len(self.text(value)))

    def substr(self, text: str, start: float, count: float | None) -> str:
        """`count` characters from `start` (from 1), fractions cut off; a start before the text is its beginning."""
        if start != start or count != count:
            return ""
        first = max(int(min(start, 2.0 ** 53)), 1) if start > 0 else 1
        if count is None:
            return text[first - 1:]
        size = int(min(count, 2.0 ** 53)) if count > 0 else 0
        return text[first - 1:first - 1 + size]

    def index(self, text: str, wanted: str) -> float:
        if self.IGNORECASE:
            return float(text.casefold().find(wanted.casefold()) + 1)
        return float(text.find(wanted) + 1)

    def lower(self, text: str) -> str:
        return text.lower() if text.isascii() else "".join([c.lower() if len(c.lower()) == 1 else c for c in text])

    def upper(self, text: str) -> str:
        return text.upper() if text.isascii() else "".join([c.upper() if len(c.upper()) == 1 else c for c in text])

    def match(self, text: str, matcher: Matcher, array: Array | None) -> float:
        spans = matcher.search(text)
        if array is not None:
            array.clear()
        if spans is None:
            self.RSTART, self.RLENGTH = 0.0, -1.0
            return 0.0
        begin, end = spans[0]
        self.RSTART, self.RLENGTH = float(begin + 1), float(end - begin)
        if array is not None:
            for n, (low, high) in enumerate(spans):
                if low >= 0:
                    array[str(n)] = input_value(text[low:high])
                    array[f"{n}{self.SUBSEP}start"] = float(low + 1)
                    array[f"{n}{self.SUBSEP}length"] = float(high - low)
        return self.RSTART

    def split(self, text: str, array: Array, separator: Any, separators: Array | None) -> float:
        """split(): `separator` a Matcher, text, or None for FS."""
        if separators is not None and separators is array:
            raise Fatal("split: cannot use the same array for second and fourth args")
        matches: list[str] = []
        first = 1
        if separator is None and self.field_mode != "FS":
            pieces = self._splitter(text)
        elif separator is None or isinstance(separator, str):
            name = self.text(self.FS) if separator is None else str(separator)
            pieces, matches, first = self._split_by(text, name, separators is not None)
        else:
            pieces, matches = separator.split(text) if text else ([], [])
        array.clear()
        self._fill(array, pieces)
        if separators is not None:
            separators.clear()
            for n, piece in enumerate(matches, first):
                separators[str(n)] = piece
        return float(len(pieces))

    def _split_by(self, text: str, separator: str, wanted: bool) -> tuple[list[str], list[str], int]:
        """(pieces, separators, index of the first separator) for a separator given as text."""
        if not wanted:
            return self.splitter_of(separator)(text), [], 1
        if separator == " ":
            pieces, found = self.matcher("[ \t\n]+").split(text)
            first = 1
            if found and pieces[0] == "":
                first = 0
                pieces = pieces[1:]
            if pieces and pieces[-1] == "":
                pieces.pop()
            return pieces, found, first
        if separator == "":
            return list(text), [""] * max(len(text) - 1, 0), 1
        pieces = self.splitter_of(separator)(text)
        if len(separator) == 1:
            return pieces, [separator] * max(len(pieces) - 1, 0), 1
        return pieces, self.matcher(separator).split(text)[1], 1

    @staticmethod
    def _fill(array: Array, pieces: list[str]) -> None:
        for n, piece in enumerate(pieces, 1):
            array[str(n)] = input_value(piece)

    def patsplit(self, text: str, array: Array, pattern: Matcher, separators: Array | None) -> float:
        fields, found = find_fields(pattern, text)
        array.clear()
        self._fill(array, fields)
        if separators is not None:
            separators.clear()
            for n, piece in enumerate(found):
                separators[str(n)] = piece
        return float(len(fields))

    # ---- substitution

    def substitute(self, matcher: Matcher, replacement: str, text: str, everywhere: bool) -> float:
        """sub and gsub: how many were replaced; the new text is in `substituted`."""
        if "&" not in replacement and "\\" not in replacement:
            parts: list[str] | None = None
        else:
            parts = replacement_parts(replacement)
        out: list[str] = []
        last = count = size = 0
        for spans in matcher.iterate(text):
            begin, end = spans[0]
            new = replacement if parts is None else text[begin:end].join(parts)
            out.append(text[last:begin])
            out.append(new)
            size += len(new)
            last = end
            count += 1
            if not everywhere:
                break
            if size > 1 << 20:
                self.process.kernel.fits(size)
        if count:
            out.append(text[last:])
            self.substituted = "".join(out)
        return float(count)

    def gensub(self, matcher: Matcher, replacement: str, how: Any, text: str) -> str:
        """gensub(): `how` is g or the number of the match to replace."""
        which = 0
        if not (isinstance(how, str) and how[:1] in ("g", "G")):
            which = max(1, int(number_of(how)) if math.isfinite(number_of(how)) else 1)
        parts = general_parts(replacement)
        out: list[str] = []
        last = size = 0
        for number, spans in enumerate(matcher.iterate(text), 1):
            if which and number != which:
                continue
            begin, end = spans[0]
            out.append(text[last:begin])
            for part in parts:
                if type(part) is int:
                    low, high = spans[part] if part < len(spans) else (-1, -1)
                    out.append(text[low:high] if low >= 0 else "")
                else:
                    out.append(str(part))
                size += len(out[-1])
            if size > 1 << 20:
                self.process.kernel.fits(size)
            last = end
            if which:
                break
        out.append(text[last:])
        return "".join(out)

    # ---- time

    def systime(self) -> float:
        return float(int(self.process.now()))

    def strftime(self, *args: Any) -> str:
        from mirage.text.strftime import at, strftime
        form = self.text(args[0]) if args else self.text(self.procinfo["strftime"])
        seconds = number_of(args[1]) if len(args) > 1 else self.process.now()
        utc = len(args) > 2 and bool(number_of(args[2]) or type(args[2]) is str and args[2])
        if not math.isfinite(seconds) or abs(seconds) > 2.5e11:
            return ""
        zone = "UTC" if utc else self.process.env.get("TZ")
        return strftime(form, at(int(seconds // 1), zone), gnu=False)

    def mktime(self, *args: Any) -> float:
        from mirage.commands.awk.times import seconds_of
        utc = len(args) > 1 and bool(number_of(args[1]))
        return seconds_of(self.text(args[0]), "UTC" if utc else self.process.env.get("TZ"))

    # ---- arrays and types

    def _sorted(self, source: Array, target: Array | None, how: str | None, by_value: bool) -> float:
        name = "asort" if by_value else "asorti"
        if how and not how.startswith("@"):
            keys = sorted_keys(source, how, self.text, self.comparison_function(how))
        elif how:
            keys = sorted_keys(source, how, self.text, None)
        elif by_value:
            rank = by_type(self.text)
            keys = sorted(walk_order(source), key=lambda key: rank(source[key]))
        else:
            keys = sorted(source)
        if not by_value and how is None and self.IGNORECASE:
            keys.sort(key=str.casefold)
        items: list[Any] = [source[key] for key in keys] if by_value else list(keys)
        result = numbered(items)
        into = source if target is None else target
        if type(into) is not Array:
            raise Fatal(f"{name}: second argument is not an array")
        into.clear()
        into.update(result)
        return float(len(items))

    def asort(self, source: Array, target: Array | None, how: str | None) -> float:
        return self._sorted(source, target, how, True)

    def asorti(self, source: Array, target: Array | None, how: str | None) -> float:
        return self._sorted(source, target, how, False)

    def is_array(self, value: Any) -> float:
        return 1.0 if type(value) is Array else 0.0

    def typeof(self, value: Any, *rest: Any) -> str:
        names: dict[type, str] = {Array: "array", float: "number", str: "string", StrNum: "strnum", Unset: "untyped",
                                  TypedRegex: "regexp", type(None): "untyped"}
        return names[type(value)]

    def typeof_field(self, index: float) -> str:
        if index > self.get_NF():
            return "unassigned"
        return self.typeof(self.any_field(index))

    def make_boolean(self, value: Any) -> float:
        return 1.0 if number_of(value) or type(value) is str and value else 0.0

    def indirect_builtin(self, name: str, arguments: list[Any]) -> Any:
        """@name() for the builtins that take plain values."""
        simple: dict[str, Callable[..., Any]] = {
            "length": self.length, "tolower": lambda v: self.lower(self.text(v)),
            "toupper": lambda v: self.upper(self.text(v)), "int": lambda v: self.integer(number_of(v)),
            "sin": lambda v: self.sine(number_of(v)), "cos": lambda v: self.cosine(number_of(v)),
            "sqrt": lambda v: self.square_root(number_of(v)), "exp": lambda v: self.exponential(number_of(v)),
            "log": lambda v: self.logarithm(number_of(v)), "strtonum": self.strtonum, "typeof": self.typeof,
            "index": lambda a, b: self.index(self.text(a), self.text(b)),
            "substr": lambda a, b, c=None: self.substr(self.text(a), number_of(b), None if c is None else number_of(c)),
            "sprintf": lambda form, *rest: self.format(self.text(form), list(rest)),
        }
        function = simple.get(name)
        if function is None:
            raise Fatal(f"`{name}' is not a function, so it cannot be called indirectly")
        return function(*arguments)


def trim_bits(value: int) -> int:
    """gawk keeps the low bits that a double can hold."""
    while value >= 1 << 53:
        value &= ~(1 << (value.bit_length() - 1))
    return value


def replacement_parts(text: str) -> list[str]:
    """The text of sub and gsub between the places where the match goes; `\\\\&` is a literal `&`."""
    parts: list[str] = []
    piece: list[str] = []
    at = 0
    while at < len(text):
        c = text[at]
        if c == "\\":
            run = 1
            while text[at + run:at + run + 1] == "\\":
                run += 1
            if text[at + run:at + run + 1] == "&":
                piece.append("\\" * (run // 2))
                if run % 2:
                    piece.append("&")
                    at += run + 1
                else:
                    at += run
                continue
            piece.append("\\" * run)
            at += run
            continue
        if c == "&":
            parts.append("".join(piece))
            piece = []
        else:
            piece.append(c)
        at += 1
    parts.append("".join(piece))
    return parts


def general_parts(text: str) -> list[str | int]:
    """The replacement of gensub: literal pieces, and numbers of groups for `\\\\0` .. `\\\\9` and `&`."""
    parts: list[str | int] = []
    at = 0
    while at < len(text):
        c = text[at]
        if c == "\\" and at + 1 < len(text):
            following = text[at + 1]
            if following.isdigit():
                parts.append(int(following))
            else:
                parts.append(following if following in "&\\" else "\\" + following)
            at += 2
        else:
            parts.append(0 if c == "&" else c)
            at += 1
    return parts


