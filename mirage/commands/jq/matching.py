"""Regular expressions: test, match, capture, scan, split, splits, sub, gsub."""
from __future__ import annotations

from functools import lru_cache

from mirage.commands.jq.errors import JqError
from mirage.commands.jq.filters import Filter, product
from mirage.commands.jq.values import add, kind, reserve, unfit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from mirage.commands.jq.compiler import Compiler
    from mirage.text.regex import Regex

ONIGURUMA = {                                                # PCRE2's words and Oniguruma's
    "missing closing parenthesis": "end pattern with unmatched parenthesis",
    "unmatched closing parenthesis": "unmatched close parenthesis",
    "missing terminating ] for character class": "premature end of char-class",
    "quantifier does not follow a repeatable item": "target of repeat operator is not specified",
    "\\ at end of pattern": "end pattern at escape",
    "numbers out of order in {} quantifier": "too big wide range value",
    "reference to non-existent subpattern": "invalid backref number/name",
    "range out of order in character class": "empty range in char class",
}
FLAGS = frozenset("gimnpslx")


class Finder:
    """A regular expression with its flags, ready for one string after another."""

    def __init__(self, pattern: Any, flags: Any, subject: Any) -> None:
        if type(subject) is not str:
            raise unfit(subject, "cannot be matched, as it is not a string")
        if type(pattern) is not str:
            raise unfit(pattern, "cannot be matched, as it is not a string")
        if flags is not None and type(flags) is not str:
            raise unfit(flags, "is not a string")
        text = flags or ""
        if not FLAGS.issuperset(text):
            raise JqError(f"{text} is not a valid modifier string")
        self.everywhere = "g" in text
        self.skip_empty = "n" in text
        self.regex = compiled(pattern, text)
        self.subject = subject
        self.data = subject.encode("utf-8", "surrogatepass")
        self.ascii = len(self.data) == len(subject)

    def spans(self) -> Iterator[list[tuple[int, int]]]:
        """Spans (in characters) of each match and its groups; (-1, -1) for a group that took no part."""
        from mirage.text.regex import RegexTooComplex, next_char
        data = self.data
        find = self.regex.bind(data)
        at = 0
        to_characters = self._same if self.ascii else self._characters()
        while at <= len(data):
            try:
                found = find(at, len(data))
            except RegexTooComplex:
                raise JqError("Regex failure: match-stack limit over") from None
            if found is None:
                return
            start, end = found[0]
            if not (self.skip_empty and start == end):
                yield [to_characters(span) for span in found]
            if not self.everywhere:
                return
            at = end if end > start else next_char(data, end)

    def found(self) -> bool:
        """Is there any match?"""
        from mirage.text.regex import RegexTooComplex
        if self.skip_empty:
            return any(True for _ in self.spans())
        try:
            return self.regex.test(self.data)
        except RegexTooComplex:
            raise JqError("Regex failure: match-stack limit over") from None

    @staticmethod
    def _same(span: tuple[int, int]) -> tuple[int, int]:
        return span

    def _characters(self) -> Callable[[tuple[int, int]], tuple[int, int]]:
        data = self.data
        known = [0, 0]                                       # a byte offset and its character

        def offset(at: int) -> int:
            if at < known[0]:
                return known[1] - len(data[at:known[0]].decode("utf-8", "surrogatepass"))
            known[1] += len(data[known[0]:at].decode("utf-8", "surrogatepass"))
            known[0] = at
            return known[1]

        return lambda span: span if span[0] < 0 else (offset(span[0]), offset(span[1]))

    def group_names(self) -> list[str | None]:
        names: list[str | None] = [None] * self.regex.groups
        for name, number in self.regex.names.items():
            names[number - 1] = name
        return names


@lru_cache(256)
def compiled(pattern: str, flags: str) -> Regex:
    from mirage.text.regex import RegexError, compile_pcre
    inline = ("x" if "x" in flags else "") + ("s" if "p" in flags else "")
    try:
        return compile_pcre(pattern, "i" in flags, flags=inline, syntax="oniguruma")
    except RegexError as e:
        text = ONIGURUMA.get(str(e), str(e))
        raise JqError(f"Regex failure: {text}") from None


def match_objects(finder: Finder) -> Iterator[dict[str, Any]]:
    names = finder.group_names()
    subject = finder.subject
    for spans in finder.spans():
        start, end = spans[0]
        captures: list[Any] = []
        for name, (low, high) in zip(names, spans[1:], strict=True):
            capture: dict[str, Any]
            if start == end:
                capture = {"offset": start, "string": "", "length": 0}
            elif low == high:
                capture = {"offset": low, "string": "" if low >= 0 else None, "length": 0}
            else:
                capture = {"offset": low, "length": high - low, "string": subject[low:high]}
            capture["name"] = name
            captures.append(capture)
        yield {"offset": start, "length": end - start, "string": subject[start:end], "captures": captures}


def named(finder: Finder, spans: list[tuple[int, int]]) -> dict[str, Any]:
    """The object of named groups."""
    subject = finder.subject
    none = "" if spans[0][0] == spans[0][1] else None
    return {name: subject[low:high] if low >= 0 else none
            for name, (low, high) in zip(finder.group_names(), spans[1:], strict=True) if name is not None}


def arguments(value: Any, pattern: Any, *flags: Any) -> Finder:
    """The forms (re), (re; flags), ([re, flags])."""
    if flags:
        return Finder(pattern, flags[0], value)
    if type(pattern) is list and pattern:
        return Finder(pattern[0], pattern[1] if len(pattern) > 1 else None, value)
    if type(pattern) is not str:
        raise JqError(f"{kind(pattern)} not a string or array")
    return Finder(pattern, None, value)


def test(value: Any, *args: Any) -> bool:
    finder = arguments(value, *args)
    finder.everywhere = False
    return finder.found()


def match(value: Any, *args: Any) -> Iterator[Any]:
    return match_objects(arguments(value, *args))


def capture(value: Any, *args: Any) -> Iterator[Any]:
    finder = arguments(value, *args)
    for spans in finder.spans():
        yield named(finder, spans)


def _with_g(value: Any, pattern: Any, flags: Any) -> Finder:
    return Finder(pattern, add("g", flags), value)


def scan(value: Any, pattern: Any, flags: Any = None) -> Iterator[Any]:
    finder = _with_g(value, pattern, flags)
    subject = finder.subject
    for spans in finder.spans():
        if len(spans) > 1:
            yield [subject[low:high] if low >= 0 else None for low, high in spans[1:]]
        else:
            yield subject[spans[0][0]:spans[0][1]]


def splits(value: Any, pattern: Any, flags: Any = None) -> Iterator[Any]:
    finder = _with_g(value, pattern, flags)
    last = 0
    for spans in finder.spans():
        yield finder.subject[last:spans[0][0]]
        last = spans[0][1]
    yield finder.subject[last:]


def split(value: Any, pattern: Any, flags: Any) -> list[Any]:
    return list(splits(value, pattern, flags))


def spread(function: Callable[..., Iterator[Any]]) -> Callable[[Compiler, list[Filter]], Filter]:
    """A builtin that gives a stream for each combination of arguments."""
    def build(compiler: Compiler, args: list[Filter]) -> Filter:
        streams = product(function, args).stream

        def stream(v: Any, env: Any) -> Iterator[Any]:
            for results in streams(v, env):
                yield from results

        return Filter(stream=stream)

    return build


def plain(function: Callable[..., Any]) -> Callable[[Compiler, list[Filter]], Filter]:
    return lambda compiler, args: product(function, args)


def substitution(everywhere: bool) -> Callable[[Compiler, list[Filter]], Filter]:
    """sub and gsub: the n-th results of the replacement for all matches make the n-th result."""
    def build(compiler: Compiler, args: list[Filter]) -> Filter:
        pattern, replacement = args[0], args[1].stream
        flags = args[2] if len(args) > 2 else Filter(lambda v, env: "")
        run = compiler.run

        def replace(v: Any, env: Any, regex: Any, letters: Any) -> Iterator[Any]:
            finder = Finder(regex, add(letters, "g") if everywhere else letters, v)
            subject = finder.subject
            results: list[list[str]] = []
            last = size = 0
            for spans in finder.spans():
                run.tick()
                start, end = spans[0]
                gap = subject[last:start]
                last = end
                for n, text in enumerate(replacement(named(finder, spans), env)):
                    if n == len(results):
                        results.append([])
                    piece = add(gap, text)
                    size += len(piece)
                    results[n].append(piece)
                reserve(size)
            if not results:
                yield subject
            for pieces in results:
                yield "".join(pieces) + subject[last:]

        def stream(v: Any, env: Any) -> Iterator[Any]:
            for letters in flags.stream(v, env):
                for regex in pattern.stream(v, env):
                    yield from replace(v, env, regex, letters)

        return Filter(stream=stream)

    return build


SPECIAL: dict[str, Callable[[Compiler, list[Filter]], Filter]] = {
    "test/1": plain(test), "test/2": plain(test), "match/1": spread(match), "match/2": spread(match),
    "capture/1": spread(capture), "capture/2": spread(capture), "scan/1": spread(scan), "scan/2": spread(scan),
    "splits/1": spread(splits), "splits/2": spread(splits), "split/2": plain(split),
    "sub/2": substitution(False), "sub/3": substitution(False), "gsub/2": substitution(True),
    "gsub/3": substitution(True),
}
