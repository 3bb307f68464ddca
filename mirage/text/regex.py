"""Regular expressions of GNU's tools on bytes: POSIX basic and extended ones, and Perl's.

    rx = compile_bre("a\\\\(b*\\\\)\\\\+", syntax="grep")          # grep sed expr basic posix-basic emacs find-grep
    rx = compile_ere("a|ab", icase=True)                       # extended ([[ =~ ]], regcomp), egrep esed awk ...
    rx = compile_pcre(r"(?<=x)y")                              # grep -P; syntax="oniguruma" for jq
    rx = compile_fixed(["one", "two"])                         # grep -F

    m = rx.search(data, pos=0, endpos=None)   -> Match | None      m.span(n), start(n), end(n), group(n), groups()
    rx.match(data, pos)                        anchored at pos       rx.fullmatch(data)
    for m in rx.finditer(data)                 as sed and awk go on: an empty match next to the last one is no match
    find = rx.bind(data)                       for many searches in one buffer: find(pos, endpos) -> [(start, end), ...]
                                               of the match and its groups ((-1, -1): unset), or None

`search` from pos > 0 sees what is before pos: ^ does not match there, \\b looks back. Patterns are str with surrogate
escapes (or bytes). Matching is POSIX leftmost-longest and linear in the size of the data (google-re2). Patterns with
back-references, and some word assertions beside non-ASCII text, go to PCRE2 under a limit that depends on the size of
the data: RegexTooComplex is raised there, nothing hangs.

Options of all: icase; utf8 (False: LC_ALL=C, a character is a byte); lines (the subject is a block of lines, as in
grep: ^ and $ are those of lines, and nothing matches a newline); multiline (^ and $ of lines, all else may match a
newline: sed's M, awk never); swap (`lines` for grep -z: newline and NUL have changed places in the subject).
`literal` is a byte string that every match contains (None: not known); `literal_only`: it is the whole pattern and is
to be compared byte by byte, so that bytes.find does the search. Compiled patterns are kept in an LRU; a Regex is
immutable for its user and may be used by several threads.
"""
from __future__ import annotations

from functools import lru_cache

from mirage.text.regex_ast import (
    Alt,
    Assert,
    Backref,
    Char,
    Node,
    Seq,
    Set,
    fixed_text,
    nullable,
    required_text,
    rewrite,
    walk,
)
from mirage.text.regex_parse import SYNTAXES, Parser, RegexError, literal_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    Span = tuple[int, int]
    Finder = Callable[[int, int], list[Span] | None]
    Wrap = Callable[[Node, int], tuple[Node, int]]

CACHE = 512
MAX_MEM = 64 << 20
PCRE_STEPS = 400_000_000                                     # about one second of compiled code
PCRE_STEPS_PLAIN = 40_000_000                                # the same for PCRE2's interpreter
NO_UTF_CHECK = 0x40000000
ANCHORED = 0x80000000


class RegexTooComplex(RegexError):
    """Matching took more steps than the data's size allows."""


class Match:
    """What was found: `spans` of the whole and of the groups, (-1, -1) where a group took no part."""

    __slots__ = ("data", "spans")

    def __init__(self, data: bytes, spans: list[Span]) -> None:
        self.data = data
        self.spans = spans

    def span(self, group: int = 0) -> Span:
        return self.spans[group]

    def start(self, group: int = 0) -> int:
        return self.spans[group][0]

    def end(self, group: int = 0) -> int:
        return self.spans[group][1]

    def group(self, group: int = 0) -> bytes | None:
        start, end = self.spans[group]
        return None if start < 0 else self.data[start:end]

    def groups(self) -> tuple[bytes | None, ...]:
        return tuple(self.group(n) for n in range(1, len(self.spans)))


class Regex:
    """A compiled pattern; made by the compile_* functions."""

    __slots__ = ("_engines", "_pcre_source", "_tree", "_ucp", "_unicode", "groups", "icase", "lines", "literal",
                 "literal_only", "multiline", "names", "sensitive", "swap", "warnings", "word_edges")

    def __init__(self, tree: Node | None, groups: int, *, icase: bool, utf8: bool, lines: bool, multiline: bool,
                 swap: bool, pcre: str | None = None, ucp: bool = True, warnings: Sequence[str] = ()) -> None:
        self._tree = tree
        self._pcre_source = pcre
        self._ucp = ucp
        self._unicode = utf8
        self._engines: dict[Any, Any] = {}
        self.groups = groups
        self.icase = icase
        self.lines = lines
        self.multiline = multiline
        self.swap = swap
        self.warnings = tuple(warnings)
        self.names: Mapping[str, int] = {}
        self.literal: bytes | None = None
        self.literal_only = False
        self.word_edges = False
        self.sensitive = False
        if tree is not None:
            self._analyse(tree)

    def _analyse(self, tree: Node) -> None:
        for node in walk(tree):
            if isinstance(node, Assert) and node.kind in "bB<>":
                self.word_edges = True
            elif isinstance(node, Set) and any(name not in ("digit", "xdigit") for name in node.classes):
                self.sensitive = True
            elif isinstance(node, Char) and 0xDC80 <= node.code <= 0xDCFF:
                self._unicode = False
            elif isinstance(node, Set) and any(low >= 0xDC80 and high <= 0xDCFF for low, high in node.ranges):
                self._unicode = False
        text = fixed_text(tree)
        if text is not None and not (self.lines and "\n" in text):
            raw = text.encode("utf-8", "surrogateescape")
            if not self.icase or raw.lower() == raw.upper() and raw.isascii():
                self.literal = raw
                self.literal_only = self.groups == 0
        else:
            needed = required_text(tree)
            if needed and not self.icase:
                self.literal = needed.encode("utf-8", "surrogateescape")
        if self.swap and self.literal is not None and (b"\n" in self.literal or b"\0" in self.literal):
            self.literal = None
            self.literal_only = False

    # ---- searching

    def search(self, data: bytes, pos: int = 0, endpos: int | None = None) -> Match | None:
        spans = self.bind(data)(pos, len(data) if endpos is None else endpos)
        return None if spans is None else Match(data, spans)

    def match(self, data: bytes, pos: int = 0) -> Match | None:
        """The longest match that begins at `pos`."""
        spans = self.bind(data, anchored=True)(pos, len(data))
        return None if spans is None else Match(data, spans)

    def fullmatch(self, data: bytes) -> Match | None:
        """A match of all the data (also where that is not the longest alternative taken first)."""
        spans = self.bind(data, anchored=True)(0, len(data))
        return Match(data, spans) if spans is not None and spans[0][1] == len(data) else None

    def test(self, data: bytes) -> bool:
        if self.literal_only and self.literal is not None:
            return self.literal in data
        return self.bind(data, captures=False)(0, len(data)) is not None

    def finditer(self, data: bytes, pos: int = 0, endpos: int | None = None) -> Iterator[Match]:
        """Matches that do not overlap; an empty one directly behind the previous match does not count."""
        end = len(data) if endpos is None else endpos
        find = self.bind(data)
        last = -1
        while pos <= end:
            spans = find(pos, end)
            if spans is None:
                return
            start, stop = spans[0]
            if start == stop:
                if start != last:
                    yield Match(data, spans)
                pos = next_char(data, stop) if self._unicode else stop + 1
            else:
                yield Match(data, spans)
                pos = last = stop
        return

    def bind(self, data: bytes, captures: bool = True, anchored: bool = False) -> Finder:
        """The search function for one buffer. Without `captures` only the whole match's span is asked for."""
        if self._tree is None:
            return self._perl(data, anchored)
        if self.literal_only and not anchored:
            return _literal_finder(data, self.literal or b"")
        captures = captures and self.groups > 0
        unicode = self._unicode
        if unicode and (self.word_edges or self.sensitive) and data.isascii():
            unicode = False
        if not (unicode and self.word_edges):
            engine = self._re2(unicode, captures)
            if engine is not None:
                return _re2_finder(engine, data, anchored)
        return self._pcre(data, unicode, anchored)

    # ---- engines

    def for_lines(self) -> Regex | None:
        """The same for blocks of lines (`lines`), where a match in one line alone is the same; else None."""
        tree = self._tree
        if tree is None or self.lines:
            return self if self.lines else None
        key = ("lines",)
        if key not in self._engines:
            odd = any(isinstance(n, Assert) and n.kind in "`'" or isinstance(n, Char) and n.code == 10
                      for n in walk(tree))
            self._engines[key] = None if odd else Regex(
                tree, self.groups, icase=self.icase, utf8=self._unicode, lines=True, multiline=False, swap=False)
        found: Regex | None = self._engines[key]
        return found

    def begins_line(self) -> bool:
        """Does every match begin with ^, so that a line has at most one?"""
        tree = self._tree
        first = tree.items[0] if isinstance(tree, Seq) and tree.items else tree
        return isinstance(first, Assert) and first.kind == "^"

    def only_edge(self) -> str:
        """"^" or "$" where that is the whole pattern, else ""."""
        tree = self._tree
        return tree.kind if isinstance(tree, Assert) and tree.kind in "^$" else ""

    def may_be_empty(self) -> bool:
        """Can the pattern match the empty string? (re and sed differ on an empty match behind another.)"""
        return self._tree is None or nullable(self._tree)

    def python(self) -> tuple[re.Pattern[bytes], int] | None:
        """(an equal pattern of Python's re for ASCII bytes, risk), see regex_python; None where there is none."""
        if "python" not in self._engines:
            from mirage.text.regex_python import compile_plain
            tree = self._tree
            usable = tree is not None and not self.swap and (self.lines or not self.multiline)
            self._engines["python"] = compile_plain(tree, self.icase, self.lines) if usable and tree else None
        found: tuple[re.Pattern[bytes], int] | None = self._engines["python"]
        return found

    def _re2(self, unicode: bool, captures: bool) -> Any:
        key = ("re2", unicode, captures)
        try:
            return self._engines[key]
        except KeyError:
            engine = self._engines[key] = self._compile_re2(unicode, captures)
            return engine

    def _compile_re2(self, unicode: bool, captures: bool) -> Any:
        from re2 import Options, _re2

        from mirage.text.regex_print import Printer, Unprintable
        tree = self._tree
        assert tree is not None
        options = Options()
        options.longest_match = True
        options.log_errors = False
        options.max_mem = MAX_MEM
        if self.icase:
            if unicode:
                options.case_sensitive = False
            else:
                tree = rewrite(tree, fold_ascii)
        if not unicode:
            options.encoding = Options.Encoding.LATIN1
        printer = Printer("re2", unicode=unicode, lines=self.lines, multiline=self.multiline, swap=self.swap,
                          captures=captures)
        try:
            text = printer.print(tree)
        except Unprintable:
            return None
        if self.multiline or self.lines:
            text = "(?m)" + text
        engine = _re2.RE2(text.encode(), options)
        if not engine.ok():
            raise RegexError("Regular expression too big")
        return engine

    def _pcre(self, data: bytes, unicode: bool, anchored: bool) -> Finder:
        """PCRE2 on a tree that re2 cannot express."""
        unicode = unicode and not data.isascii() and valid_utf8(data)
        source = self._engines.get(("pcre", unicode))
        if source is None:
            from mirage.text.regex_print import Printer
            tree = self._tree
            assert tree is not None
            printer = Printer("pcre", unicode=unicode, lines=self.lines, multiline=self.multiline, swap=self.swap)
            flags = ("i" if self.icase else "") + ("m" if self.multiline or self.lines else "")
            text = printer.print(tree)
            source = self._engines["pcre", unicode] = (f"(?{flags})" if flags else "") + text
        return _PcreFinder(source, unicode, self.groups, data, anchored)

    def _perl(self, data: bytes, anchored: bool) -> Finder:
        assert self._pcre_source is not None
        plain = self._pcre_source.isascii() and data.isascii()
        unicode = self._unicode and not plain and valid_utf8(data)
        return _PcreFinder(self._pcre_source, unicode, self.groups, data, anchored, self._ucp)


def _literal_finder(data: bytes, literal: bytes) -> Finder:
    find = data.find
    size = len(literal)

    def search(pos: int, endpos: int) -> list[Span] | None:
        at = find(literal, pos, endpos)
        return None if at < 0 else [(at, at + size)]

    return search


def _re2_finder(engine: Any, data: bytes, anchored: bool) -> Finder:
    from re2 import _re2
    match = engine.Match
    anchor = _re2.RE2.Anchor.ANCHOR_START if anchored else _re2.RE2.Anchor.UNANCHORED

    def search(pos: int, endpos: int) -> list[Span] | None:
        spans: list[Span] = match(anchor, data, pos, endpos)
        return None if spans[0][0] < 0 else spans

    return search


class _PcreFinder:
    """find(pos, endpos) with PCRE2: a step limit by size, the interpreter where the JIT's stack is too small."""

    __slots__ = ("code", "context", "data", "groups", "match", "options", "plain", "size", "source", "span", "ucp",
                 "unicode")

    def __init__(self, source: str, unicode: bool, groups: int, data: bytes, anchored: bool,
                 ucp: bool = True) -> None:
        from pcre2 import _cy
        self.source = source
        self.unicode = unicode
        self.ucp = ucp
        self.data = data
        self.groups = groups
        size = max(1, 1 << (len(data) >> 4).bit_length() << 4)
        self.size = size
        self.code = pcre_code(source, unicode, max(2000, min(10_000_000, PCRE_STEPS // size)), True, ucp)
        self.plain: Any = None
        self.match = _cy.match
        self.span = _cy.match_substring_span_bynumber
        self.context = pcre_context()
        self.options = NO_UTF_CHECK | (ANCHORED if anchored else 0)

    def __call__(self, pos: int, endpos: int) -> list[Span] | None:
        from pcre2 import LibraryError
        data = self.data
        try:
            found = self.match(self.plain or self.code, data, endpos, pos, self.context, self.options)[0]
        except LibraryError as e:
            if "JIT" not in str(e):
                raise RegexTooComplex(str(e)) from None
            steps = max(2000, min(5_000_000, PCRE_STEPS_PLAIN // self.size * 10))
            self.plain = pcre_code(self.source, self.unicode, steps, False, self.ucp)
            try:
                found = self.match(self.plain, data, endpos, pos, self.context, self.options)[0]
            except LibraryError as e2:
                raise RegexTooComplex(str(e2)) from None
        if not found:
            return None
        span = self.span
        return [span(found, data, n) for n in range(self.groups + 1)]


@lru_cache(CACHE)
def pcre_code(source: str, unicode: bool, limit: int, jit: bool, ucp: bool = True) -> Any:
    """PCRE2's code object; RegexError with PCRE2's own words."""
    from pcre2 import PatternError, RegexFlag, _cy
    raw = source.encode("utf-8", "surrogateescape")
    try:
        code = _cy.compile(b"(*LIMIT_MATCH=%d)" % limit + raw, int(RegexFlag.UNICODE) if unicode else 0,
                           0 if ucp else int(_cy.CompileOption.UCP))
    except PatternError as e:
        raise RegexError(str(e).partition("; ")[2] or str(e)) from None
    if jit:
        from pcre2 import LibraryError
        try:
            _cy.jit_compile(code)
        except LibraryError:
            pass
    return code


@lru_cache(1)
def pcre_context() -> Any:
    from pcre2 import _cy
    return _cy.create_match_context()


# ---- helpers

def valid_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def next_char(data: bytes, at: int) -> int:
    """The offset behind the character at `at` (a byte that begins none counts as one)."""
    if at >= len(data):
        return at + 1
    first = data[at]
    if first < 0xC2:
        return at + 1
    size = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    tail = data[at + 1:at + size]
    if len(tail) == size - 1 and all(0x80 <= b < 0xC0 for b in tail):
        return at + size
    return at + 1


def fold_ascii(node: Node) -> Node:
    """The leaf with the other case of each ASCII letter added."""
    if isinstance(node, Char):
        c = node.code
        if 65 <= c <= 90 or 97 <= c <= 122:
            return Set(((c, c), (c ^ 32, c ^ 32)))
    elif isinstance(node, Set):
        extra = [(max(low, a) ^ 32, min(high, b) ^ 32) for low, high in node.ranges for a, b in ((65, 90), (97, 122))
                 if max(low, a) <= min(high, b)]
        if extra or "upper" in node.classes or "lower" in node.classes:
            classes = ["alpha" if c in ("upper", "lower") else c for c in node.classes]
            return Set([*node.ranges, *extra], classes, node.negated)
    return node


def utf8_locale(env: Mapping[str, str]) -> bool:
    """Do LC_ALL, LC_CTYPE, LANG (the first that is set) name a UTF-8 locale?"""
    name = env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or "C"
    return "utf8" in name.lower().replace("-", "")


# ---- compiling

def _text(pattern: str | bytes) -> str:
    return pattern.decode("utf-8", "surrogateescape") if isinstance(pattern, bytes) else pattern


@lru_cache(CACHE)
def _compiled(text: str, syntax: str, icase: bool, utf8: bool, lines: bool, multiline: bool, swap: bool) -> Regex:
    parser = Parser(text, SYNTAXES[syntax], icase)
    tree = parser.parse()
    rx = Regex(tree, parser.groups, icase=icase, utf8=utf8, lines=lines, multiline=multiline, swap=swap,
               warnings=parser.warnings)
    _check(rx, parser.backrefs)
    return rx


def _check(rx: Regex, backrefs: bool) -> None:
    """Errors of size are reported when compiling, not at the first search."""
    if not backrefs and not rx.literal_only and not rx.word_edges:
        rx._re2(False, rx.groups > 0)


def compile_bre(pattern: str | bytes, icase: bool = False, *, syntax: str = "basic", utf8: bool = True,
                lines: bool = False, multiline: bool = False, swap: bool = False) -> Regex:
    """A basic regular expression; RegexError with glibc's text."""
    return _compiled(_text(pattern), syntax, icase, utf8, lines, multiline, swap)


def compile_ere(pattern: str | bytes, icase: bool = False, *, syntax: str = "extended", utf8: bool = True,
                lines: bool = False, multiline: bool = False, swap: bool = False) -> Regex:
    """An extended regular expression; RegexError with glibc's text."""
    return _compiled(_text(pattern), syntax, icase, utf8, lines, multiline, swap)


def compile_fixed(patterns: Sequence[str | bytes], icase: bool = False, *, utf8: bool = True, lines: bool = False,
                  swap: bool = False) -> Regex:
    """Fixed strings, any of them."""
    return compile_many([_text(p) for p in patterns], "fixed", icase, utf8=utf8, lines=lines, swap=swap)


def compile_many(patterns: Sequence[str], syntax: str, icase: bool = False, *, utf8: bool = True, lines: bool = False,
                 swap: bool = False, wrap: Wrap | None = None) -> Regex:
    """Several patterns as alternatives, each with its own groups and back-references (grep -e A -e B).

    syntax   a name of SYNTAXES, or "fixed" for strings
    wrap     (tree, groups) -> (tree, groups): what to put around the whole (grep -x, -w)
    """
    return _many(tuple(patterns), syntax, icase, utf8, lines, swap, wrap)


@lru_cache(CACHE)
def _many(patterns: tuple[str, ...], syntax: str, icase: bool, utf8: bool, lines: bool, swap: bool,
          wrap: Wrap | None) -> Regex:
    if len(patterns) == 1 and syntax != "fixed" and wrap is None:
        return _compiled(patterns[0], syntax, icase, utf8, lines, False, swap)
    trees: list[Node] = []
    warnings: list[str] = []
    groups = 0
    backrefs = False
    extra = 0 if wrap is None else wrap(Seq([]), 0)[1]       # groups that the wrapping opens before the patterns'
    for text in patterns:
        if syntax == "fixed":
            trees.append(literal_tree(text))
            continue
        parser = Parser(text, SYNTAXES[syntax], icase)
        tree = parser.parse()
        trees.append(_shift(tree, groups + extra) if parser.backrefs and groups + extra else tree)
        warnings += parser.warnings
        groups += parser.groups
        backrefs = backrefs or parser.backrefs
    tree = trees[0] if len(trees) == 1 else Alt(trees)
    if wrap is not None:
        tree, groups = wrap(tree, groups)
    rx = Regex(tree, groups, icase=icase, utf8=utf8, lines=lines, multiline=False, swap=swap, warnings=warnings)
    _check(rx, backrefs)
    return rx


def _shift(tree: Node, by: int) -> Node:
    def change(node: Node) -> Node:
        return Backref(node.index + by) if isinstance(node, Backref) else node

    return rewrite(tree, change)


@lru_cache(CACHE)
def _perl(text: str, icase: bool, utf8: bool, flags: str, syntax: str, ucp: bool) -> Regex:
    from mirage.text.regex_perl import translate
    source = translate(text, syntax)
    used = ("i" if icase else "") + flags
    source = (f"(?{used})" if used else "") + source
    code = pcre_code(source, utf8, 10_000_000, False, ucp)
    from pcre2 import _cy
    rx = Regex(None, _cy.pattern_capture_count(code), icase=icase, utf8=utf8, lines=False, multiline="m" in flags,
               swap=False, pcre=source, ucp=ucp)
    rx.names = _cy.pattern_name_dict(code)
    return rx


def compile_pcre(pattern: str | bytes, icase: bool = False, *, utf8: bool = True, flags: str = "",
                 syntax: str = "perl", ucp: bool = True) -> Regex:
    """A Perl expression; `flags` are letters of (?...) such as m, s, x. `names` maps group names to numbers.

    ucp      \\w, \\d, \\b and [[:alpha:]] know Unicode (False: ASCII only, as grep -P)
    """
    return _perl(_text(pattern), icase, utf8, flags, syntax, ucp)


__all__ = ["Match", "Regex", "RegexError", "RegexTooComplex", "compile_bre", "compile_ere", "compile_fixed",
           "compile_many", "compile_pcre", "next_char", "utf8_locale"]
