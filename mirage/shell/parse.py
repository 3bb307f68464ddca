"""The public side of the parser.

`parse` takes a whole script; `UnitParser` takes it a complete line at a time, as bash does, so that an
`alias` or a `shopt -s extglob` acts on the lines after it. The other functions parse pieces that come up at
run time: arithmetic, subscripts, array literals, text that is expanded as if in double quotes.

Parsed texts are kept, up to a number of bytes, and shared by all threads: nodes are never changed once made.
"""

from __future__ import annotations

from _thread import allocate_lock
from collections import OrderedDict

from mirage.shell import arith as _arith
from mirage.shell.actions import END
from mirage.shell.ast import ArrayLit, Lit, Quoted, Script, Subscript, Word
from mirage.shell.driver import parse_unit
from mirage.shell.errors import ArithSyntaxError, ParseError, ParseWarning
from mirage.shell.lexer import Lexer
from mirage.shell.reader import FREE_WORD, TOO_DEEP, Source
from mirage.shell.words import arith_subscript, make_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping
    from typing import Any, Protocol, TypeVar

    from mirage.shell.ast import Commands, Expr

    T = TypeVar("T")

    class OptionsLike(Protocol):
        """Anything with these attributes; `UnitParser` reads them before every unit."""

        @property
        def aliases(self) -> Mapping[str, str] | None: ...
        @property
        def extglob(self) -> bool: ...
        @property
        def posix(self) -> bool: ...


CACHE_BYTES = 32 << 20  # of trees, estimated from the length of their texts
_BYTES_PER_CHARACTER = 24
_BYTES_PER_ENTRY = 1500


class ParseOptions:
    """What changes how a text is parsed. Aliases: name to text, None when expansion is off."""

    __slots__ = ("aliases", "extglob", "posix")

    def __init__(self, aliases: Mapping[str, str] | None = None, extglob: bool = False, posix: bool = False) -> None:
        self.aliases = aliases
        self.extglob = extglob
        self.posix = posix


# ------------------------------------------------------------------------------------------------------ cache


class _Cache:
    """Least recently used, bounded by estimated bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self.lock = allocate_lock()
        self.entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()

    def get(self, key: Hashable) -> Any:
        """The value, or None."""
        with self.lock:
            entry = self.entries.get(key)
            if entry is None:
                return None
            self.entries.move_to_end(key)
            return entry[0]

    def put(self, key: Hashable, value: Any, length: int) -> None:
        """Keep the value parsed from a text of this length."""
        size = length * _BYTES_PER_CHARACTER + _BYTES_PER_ENTRY
        if size > self.limit // 2:
            return
        with self.lock:
            old = self.entries.pop(key, None)
            if old:
                self.used -= old[1]
            self.entries[key] = (value, size)
            self.used += size
            while self.used > self.limit:
                self.used -= self.entries.popitem(last=False)[1][1]

    def clear(self) -> None:
        """Forget everything."""
        with self.lock:
            self.entries.clear()
            self.used = 0


_cache = _Cache(CACHE_BYTES)


def clear_cache() -> None:
    """Forget all parsed texts."""
    _cache.clear()


# ---------------------------------------------------------------------------------------------------- scripts


class _Unit:
    """One complete line: its commands and where it stands."""

    __slots__ = ("end", "items", "start", "warnings")

    def __init__(self, items: Commands, start: int, end: int, warnings: tuple[ParseWarning, ...]) -> None:
        self.items = items
        self.start = start
        self.end = end
        self.warnings = warnings


class _Parsed:
    """A whole text, parsed without aliases."""

    __slots__ = ("error", "last_warnings", "script", "units")

    def __init__(
        self, units: tuple[_Unit, ...], error: ParseError | None, last_warnings: tuple[ParseWarning, ...]
    ) -> None:
        self.units = units
        self.error = error
        self.last_warnings = last_warnings
        items = tuple(item for unit in units for item in unit.items)
        warnings = tuple(warning for unit in units for warning in unit.warnings)
        self.script = Script(items, error, warnings + last_warnings)


class UnitParser:
    """Parses one complete top-level line (or more lines, when the command goes on) at a time.

    The options are read again before every unit. After `next`:

    text      the source of the unit just given
    line      the line it begins on
    warnings  a tuple of ParseWarning made by it (also after a ParseError and at the end)
    error     the ParseError, once it was raised; nothing follows it
    """

    __slots__ = (
        "_cached", "_counted", "_index", "_lexer", "_options", "_pos", "_source_text", "_units", "_used",
        "error", "first_line", "line", "text", "warnings",
    )  # fmt: skip

    def __init__(self, text: str, options: OptionsLike | None = None, line: int = 1) -> None:
        self._source_text = text
        self._options: OptionsLike = options if options is not None else ParseOptions()
        self._lexer: Lexer | None = None
        self._pos = 0
        self._index = 0
        self._units: list[_Unit] | None = []  # what to cache at the end; None when options changed on the way
        self._used = (bool(self._options.extglob), bool(self._options.posix))
        self._cached: _Parsed | None = _cache.get(self._key(line))
        self.first_line = line
        self.line = line
        self._counted = 0  # where the line number `line` was counted up to
        self.text = ""
        self.warnings: tuple[ParseWarning, ...] = ()
        self.error: ParseError | None = None

    def renumbered(self, shift: int) -> UnitParser:
        """A parser of what is left, whose line numbers are `shift` higher: bash counts on from an abandoned command."""
        at = self._pos
        line = self.line + self._source_text.count("\n", self._counted, at)
        return UnitParser(self._source_text[at:], self._options, line + shift)

    def __iter__(self) -> Iterator[Commands]:
        while True:
            unit = self.next()
            if unit is None:
                return
            yield unit

    def next(self) -> Commands | None:
        """The commands of the next unit; None at the end of the text. Raises ParseError."""
        self.warnings = ()
        if self.error is not None:
            return None
        options = self._options
        aliases = options.aliases or None
        used = (bool(options.extglob), bool(options.posix))
        if self._cached is not None:
            if aliases is None and used == self._used:
                return self._replay(self._cached)
            self._cached = None
            self._units = None
        if aliases is not None or used != self._used:
            self._units = None
        return self._parse(aliases, used)

    def _key(self, line: int) -> Hashable:
        return ("script", self._source_text, self._used, line)

    def _replay(self, parsed: _Parsed) -> Commands | None:
        if self._index < len(parsed.units):
            unit = parsed.units[self._index]
            self._index += 1
            self._pos = unit.end
            self._show(unit)
            return unit.items
        self.warnings = parsed.last_warnings
        if parsed.error is not None:
            self.error = parsed.error
            raise parsed.error.copy()
        return None

    def _show(self, unit: _Unit) -> None:
        self.text = self._source_text[unit.start : unit.end]
        self.warnings = unit.warnings
        if unit.start:
            self.line += self._source_text.count("\n", self._counted, unit.start)
            self._counted = unit.start

    def _parse(self, aliases: Mapping[str, str] | None, used: tuple[bool, bool]) -> Commands | None:
        lexer = self._ready(aliases, used)
        warnings = lexer.source.warnings
        try:
            while True:
                start = self._pos
                unit = parse_unit(lexer)
                self._pos = min(lexer.source.origin(lexer.pos), len(self._source_text))
                if unit is END:
                    break
                if unit is not None:
                    found = _Unit(unit, start, self._pos, tuple(warnings))
                    warnings.clear()
                    if self._units is not None:
                        self._units.append(found)
                    self._show(found)
                    return found.items
        except ParseError as error:
            self.error = error
        except RecursionError:
            self.error = lexer.error(TOO_DEEP, lexer.pos)
        self.warnings = tuple(warnings)
        self._finish()
        if self.error is not None:
            raise self.error.copy()
        return None

    def _ready(self, aliases: Mapping[str, str] | None, used: tuple[bool, bool]) -> Lexer:
        """The lexer, set up for the next unit."""
        lexer = self._lexer
        if lexer is None:
            source = Source(self._source_text, self.first_line)
            lexer = self._lexer = Lexer(source, self._pos)
        source = lexer.source
        source.aliases = aliases
        if (source.extglob, source.posix) != used:
            source.extglob, source.posix = used
            source.words.clear()
        return lexer

    def _finish(self) -> None:
        if self._units is not None:
            self._cached = _Parsed(tuple(self._units), self.error, self.warnings)
            _cache.put(self._key(self.first_line), self._cached, len(self._source_text))
            self._index = len(self._units)

    def rest(self) -> Script:
        """All that is left, as one Script."""
        if self._cached is not None and self._index == 0 and not self._options.aliases:
            return self._cached.script
        items: list[Any] = []
        warnings: list[ParseWarning] = []
        error: ParseError | None = None
        try:
            while (unit := self.next()) is not None:
                items.extend(unit)
                warnings.extend(self.warnings)
        except ParseError as caught:
            error = caught
        warnings.extend(self.warnings)
        if self._cached is not None and len(items) == len(self._cached.script.items):
            return self._cached.script
        return Script(tuple(items), error, tuple(warnings))


def units(text: str, options: OptionsLike | None = None, line: int = 1) -> UnitParser:
    """A UnitParser over a text."""
    return UnitParser(text, options, line)


def parse(
    text: str,
    *,
    aliases: Mapping[str, str] | None = None,
    extglob: bool = False,
    posix: bool = False,
    line: int = 1,
) -> Script:
    """Parse a whole text. Never raises: what comes before a syntax error is in ``items``, the error in
    ``error``.

    ``extglob`` is off as in ``bash -c``; ``line`` is the number of the first line.
    """
    return UnitParser(text, ParseOptions(aliases, extglob, posix), line).rest()


def needs_more(text: str, *, aliases: Mapping[str, str] | None = None, extglob: bool = False) -> bool:
    """Could more lines complete the command that the text begins? (For an interactive terminal.)"""
    stripped = text[:-1] if text.endswith("\n") else text
    if (len(stripped) - len(stripped.rstrip("\\"))) % 2:
        return True
    script = parse(text, aliases=aliases, extglob=extglob)
    if script.error is not None:
        return script.error.incomplete
    return bool(script.warnings)


# ----------------------------------------------------------------------------------------------------- pieces


def _piece(kind: str, text: str, extglob: bool, make: Callable[[str, bool], T]) -> T:
    key = (kind, text, extglob)
    value: T | None = _cache.get(key)
    if value is None:
        try:
            value = make(text, extglob)
        except RecursionError:
            raise ParseError(TOO_DEEP) from None
        _cache.put(key, value, len(text))
    return value


def parse_dquoted(text: str, *, extglob: bool = False) -> Word:
    """A text to be expanded as a here-document body is: as if in double quotes, a ``"`` being ordinary
    (``PS4``, ``${x@P}``). The parts of the Word are those of a DQuote. Raises ParseError."""
    return _piece("dquoted", text, extglob, _make_dquoted)


def _make_dquoted(text: str, extglob: bool) -> Word:
    parts, _ = Lexer(Source(text, extglob=extglob)).double_quoted(0, "")
    if not parts:
        return Word((), "", False, text)
    first = parts[0]
    lit = first.text if len(parts) == 1 and type(first) is Quoted else None
    return Word(tuple(parts), lit, False, text)


def parse_word(text: str, *, extglob: bool = False) -> Word:
    """A text as one word: quotes, expansions and tildes count, blanks and metacharacters are ordinary.
    Raises ParseError."""
    return _piece("word", text, extglob, _make_word)


def _make_word(text: str, extglob: bool) -> Word:
    parts, _ = Lexer(Source(text, extglob=extglob)).parts(0, FREE_WORD)
    return make_word(parts, text, plain=True, tilde=True)


def parse_subscript(text: str) -> Subscript:
    """The inside of the brackets of ``name[...]``. Raises ParseError."""
    return _piece("subscript", text, False, _make_subscript)


def _make_subscript(text: str, extglob: bool) -> Subscript:
    parts, _ = Lexer(Source(text, extglob=extglob)).parts(0, FREE_WORD)
    word = make_word(parts, text, plain=True)
    return _arith.plain_subscript(word, _arith.compile_parts(word.parts, arith_subscript))


def parse_array(text: str, *, extglob: bool = False) -> ArrayLit:
    """An array literal with its parentheses, as ``declare "a=(1 2)"`` has it. Raises ParseError."""
    return _piece("array", text, extglob, _make_array)


def _make_array(text: str, extglob: bool) -> ArrayLit:
    lexer = Lexer(Source(text, extglob=extglob))
    if not text.startswith("("):
        raise lexer.unexpected(text[:1] or "newline", 0)
    items, end = lexer.array(1)
    if text[end:].strip(" \t\n"):
        raise lexer.unexpected(text[end:], end)
    return ArrayLit(items)


def parse_arith(text: str) -> Expr:
    """The text of an arithmetic expression, already expanded (``let``, integer variables, `Arith.word` after
    its expansion). Expansions are possible only in subscripts. Raises ArithSyntaxError."""
    key = ("arith", text)
    value: Expr | None = _cache.get(key)
    if value is None:
        value = _arith.parse_text(text, _text_subscript)
        _cache.put(key, value, len(text))
    return value


def _text_subscript(parts: tuple[Any, ...]) -> Subscript:
    text = "".join(part.text for part in parts if type(part) is Lit)
    try:
        return parse_subscript(text)
    except ParseError:
        raise ArithSyntaxError("bad array subscript", text) from None


__all__ = [
    "ArithSyntaxError",
    "ParseError",
    "ParseOptions",
    "ParseWarning",
    "Script",
    "UnitParser",
    "clear_cache",
    "needs_more",
    "parse",
    "parse_arith",
    "parse_array",
    "parse_dquoted",
    "parse_subscript",
    "parse_word",
    "units",
]
