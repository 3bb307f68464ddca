"""Reading words from the source: quotes and expansions.

`WordReader` goes over the text once, left to right, and makes word parts on the way. It knows nothing of
tokens and commands, except that ``$(...)`` holds some (`WordReader.commands_until_paren`, filled in by the
lexer).
"""

from __future__ import annotations

import re
from bisect import bisect_right

from mirage.shell.arith import LazyPattern, compile_parts, plain_subscript
from mirage.shell.ast import (
    Arith,
    ArrayLit,
    Assign,
    BadSubst,
    CmdSub,
    DQuote,
    HereDoc,
    Lit,
    Param,
    ProcSub,
    Quoted,
    Subscript,
    Word,
)
from mirage.shell.errors import ParseError, ParseWarning
from mirage.shell.words import (
    add_quoted,
    ansi_c,
    arith_subscript,
    flush,
    make_assigned,
    make_word,
    skip_ansi_c,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping
    from typing import Any, TypeVar

    from mirage.shell.ast import ArrayItem, Commands, Part

    T = TypeVar("T")

TOO_DEEP = "nesting too deep"
MAX_NESTING = 60  # of $( ), ${ }, $(( )), [[ ( in each other, all together

BLANK = re.compile(r"(?:[ \t]+|\\\n)*")
RUN = re.compile(r"[^ \t\n\\'\"`$<>&|;()]+")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
WORD_END = frozenset(" \t\n;&|<>()")

_DQUOTE_RUN = re.compile(r'[^\\"`$]+')
_HEREDOC_RUN = re.compile(r"[^\\`$]+")
_BRACE_RUN = re.compile(r"[^\\'\"`$}<>]+")
_BRACE_DQ_RUN = re.compile(r'[^\\"`$}]+')
_PATTERN_RUN = re.compile(r"[^\\'\"`$}/<>]+")
_SUBSCRIPT_RUN = re.compile(r"[^\\'\"`$\[\]]+")
_ARITH_RUN = re.compile(r"[^\\'\"`$()\[\]{};:?]+")
_REGEX_RUN = re.compile(r"[^ \t\n\\'\"`$()<>&;]+")
_ASSIGN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?=|\[)")
_ARRAY_ASSIGN = LazyPattern(r"[A-Za-z_][A-Za-z0-9_]*\+?=\(")
_PARAM_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-]")
_METACHARACTER = re.compile(r"[ \t\n;&|<>()]")
_JOINS = LazyPattern(r"(?:\\\n)+")
_SPECIAL = frozenset("0123456789@*#?$!-")
_JOINED_OR_SINGLE = r"(?s)\\\n|'[^']*'|\\."


def after_blank(text: str, pos: int) -> int:
    """Where the blanks and joined lines at `pos` end."""
    found = BLANK.match(text, pos)
    return found.end() if found else pos


class Mode:
    """How `WordReader.parts` reads: what it may run over at once, where it stops, what is special."""

    __slots__ = ("command", "dquoted", "pair", "regex", "run", "stop")

    def __init__(
        self,
        run: re.Pattern[str],
        stop: str = "",
        *,
        command: bool = False,
        dquoted: bool = False,
        pair: str = "",
        regex: bool = False,
    ) -> None:
        self.run = run
        self.stop = stop  # characters that end it
        self.command = command  # a word of a command: metacharacters end it, extglob groups may hold them
        self.dquoted = dquoted  # inside "...": single quotes are ordinary
        self.pair = pair  # brackets to balance
        self.regex = regex  # the right side of =~


COMMAND_WORD = Mode(RUN, command=True)
FREE_WORD = Mode(re.compile(r"[^\\'\"`$<>]+"))  # a text that is one word as a whole
REGEX_WORD = Mode(_REGEX_RUN, regex=True)
_OPERAND = Mode(_BRACE_RUN, "}")
_DQ_OPERAND = Mode(_BRACE_DQ_RUN, "}", dquoted=True)
_PATTERN = Mode(_PATTERN_RUN, "/}")
_PARENS = Mode(re.compile(r"[^\\'\"`$()]+"), pair="()")
_SUBSCRIPT = Mode(_SUBSCRIPT_RUN, pair="[]")


class Source:
    """A text being parsed, and what the readers nested in each other over it share."""

    __slots__ = (
        "aliases",
        "arith_failed",
        "edits",
        "extglob",
        "first_line",
        "memory",
        "newlines",
        "posix",
        "text",
        "warnings",
        "words",
    )

    def __init__(
        self,
        text: str,
        line: int = 1,
        *,
        extglob: bool = False,
        posix: bool = False,
        aliases: Mapping[str, str] | None = None,
        warnings: list[ParseWarning] | None = None,
    ) -> None:
        self.text = text
        self.first_line = line
        self.extglob = extglob
        self.posix = posix
        self.aliases = aliases
        self.warnings: list[ParseWarning] = [] if warnings is None else warnings
        self.arith_failed: set[int] = set()  # where $(( or (( turned out to be no arithmetic
        self.memory: dict[Hashable, tuple[Any, int, list[HereDoc]] | ParseError] = {}  # see WordReader.remembered
        self.words: dict[str, Word] = {}  # plain words, to make each only once
        self.newlines: list[int] | None = None
        self.edits: list[tuple[int, int, int]] = []  # (position, shift so far, origin) of replaced aliases

    def line(self, pos: int) -> int:
        """The line number of a position."""
        if self.newlines is None:
            text = self.text
            self.newlines = [match.start() for match in re.finditer("\n", text)]
        if self.edits:
            pos = self.origin(pos)
        return self.first_line + bisect_right(self.newlines, pos - 1)

    def origin(self, pos: int) -> int:
        """The position in the text before aliases were replaced."""
        index = bisect_right(self.edits, (pos, len(self.text), 0)) - 1
        if index < 0:
            return pos
        _, shift, origin = self.edits[index]
        return max(pos - shift, origin)

    def replaced(self, start: int, end: int, text: str) -> Source:
        """A copy of the source with an alias put in."""
        self.line(start)  # newlines are counted in the original
        new = Source(
            self.text[:start] + text + self.text[end:],
            self.first_line,
            extglob=self.extglob,
            posix=self.posix,
            aliases=self.aliases,
            warnings=self.warnings,
        )
        new.newlines = self.newlines
        new.words = self.words
        new.arith_failed = {pos for pos in self.arith_failed if pos < start}
        shift = (self.edits[-1][1] if self.edits else 0) + len(text) - (end - start)
        new.edits = [*self.edits, (start, shift, self.origin(start))]
        return new

    def inner(self, text: str, pos: int) -> Source:
        """A source for a text that was taken out of this one at ``pos`` (backquotes, here-documents)."""
        return Source(
            text,
            self.line(pos),
            extglob=self.extglob,
            posix=self.posix,
            aliases=self.aliases,
            warnings=self.warnings,
        )


class WordReader:
    """Reads words and their parts. Methods take a position and give the one after what they read."""

    __slots__ = ("assigning", "level", "pending", "size", "source", "text")

    def __init__(self, source: Source, level: int = 0) -> None:
        self.source = source
        self.text = source.text
        self.size = len(source.text)
        self.level = level
        self.assigning = False  # inside the value of an assignment
        self.pending: list[HereDoc] = []  # here-documents whose bodies have not been read yet
        if level > MAX_NESTING:
            raise self.error(TOO_DEEP, 0)

    # ------------------------------------------------------------------- what the lexer fills in

    def commands_until_paren(self, pos: int) -> tuple[Commands, int]:
        """The commands up to the unmatched ``)``, and the position after it."""
        raise NotImplementedError

    def commands_of(self, source: Source) -> tuple[Commands, ParseError | None]:
        """The commands of a text of its own (backquotes)."""
        raise NotImplementedError

    def read_heredocs(self, pos: int) -> int:
        """Read the bodies of the pending here-documents, which begin at ``pos``."""
        raise NotImplementedError

    # ---------------------------------------------------------------------------------- errors

    def error(self, message: str, pos: int, incomplete: bool = False, expected: tuple[str, ...] = ()) -> ParseError:
        return ParseError(message, pos, self.source.line(min(pos, self.size)), incomplete, expected)

    def unexpected(self, token: str, pos: int, expected: tuple[str, ...] = ()) -> ParseError:
        """bash's usual error, with the offending line."""
        error = self.error(f"syntax error near unexpected token `{token}'", pos, False, expected)
        start = self.text.rfind("\n", 0, pos) + 1
        end = self.text.find("\n", pos)
        error.source = self.text[start : end if end >= 0 else self.size]
        return error

    def unclosed(self, closer: str, start: int) -> ParseError:
        """The end of the text came before ``closer``; bash names the line where the construct began."""
        return self.error(f"unexpected EOF while looking for matching `{closer}'", start, True)

    def end_line(self) -> int:
        """The line bash names for an error at the end of the text."""
        return self.source.line(self.size) + (1 if not self.text.endswith("\n") else 0)

    def nest(self, pos: int) -> None:
        """Count one level of nesting; the caller takes it back from ``self.level``."""
        if self.level >= MAX_NESTING:
            raise self.error(TOO_DEEP, pos)
        self.level += 1

    def source_text(self, start: int, end: int) -> str:
        """The source between two positions as bash keeps it: without backslash-newline pairs."""
        text = self.text[start:end]
        if "\\\n" not in text:
            return text
        return re.sub(_JOINED_OR_SINGLE, lambda match: "" if match[0] == "\\\n" else match[0], text)

    # ----------------------------------------------------------------------------------- words

    def word(self, pos: int) -> tuple[Word, int]:
        """A word of a command. Empty (and the same position) when there is none."""
        text = self.text
        match = RUN.match(text, pos)
        if match:
            end = match.end()
            if end >= self.size or (text[end] in WORD_END and not (text[end] in "<>(" and self.goes_on(end))):
                plain = match.group()
                words = self.source.words
                word = words.get(plain)
                if word is None:
                    word = words[plain] = make_word([Lit(plain)], plain, posix=self.source.posix)
                return word, end
        parts, end = self.parts(pos, COMMAND_WORD)
        return make_word(parts, self.source_text(pos, end), posix=self.source.posix), end

    def goes_on(self, end: int) -> bool:
        """At ``<``, ``>`` or ``(`` after plain text: is it still the same word?"""
        if self.text[end] == "(":
            return self.source.extglob and self.text[end - 1] in "?*+@!"
        return self.text.startswith("(", end + 1)

    def assignment(self, pos: int) -> tuple[Assign, int] | None:
        """``name=value`` and the like, or None."""
        text = self.text
        match = _ASSIGN.match(text, pos)
        if not match:
            return None
        name, op = match.groups()
        end = match.end()
        sub = None
        count = len(self.pending)
        if op == "[":  # bash too takes `name[` for a subscript here
            sub, end = self.subscript(end)
            op = "=" if text.startswith("=", end) else "+=" if text.startswith("+=", end) else ""
            if not op:
                del self.pending[count:]
                return None
            end += len(op)
        if text.startswith("(", end):
            start = end
            items, end = self.array(end + 1)
            if end >= self.size or text[end] in WORD_END:
                return Assign(name, sub, op, ArrayLit(items), self.source_text(pos, end)), end
            _, end = self.parts(end, COMMAND_WORD)  # something sticks to it: bash takes it for a string
            string = self.source_text(start, end)
            value = make_word([Lit(string)], string, plain=True)
            return Assign(name, sub, op, value, self.source_text(pos, end)), end
        start = end
        self.assigning = True
        try:
            parts, end = self.parts(start, COMMAND_WORD)
        finally:
            self.assigning = False
        value = make_assigned(parts, self.source_text(start, end))
        return Assign(name, sub, op, value, self.source_text(pos, end)), end

    def declaration(self, pos: int, arrays_only: bool) -> tuple[Assign, int] | None:
        """An assignment as an argument of a declaration builtin."""
        if arrays_only and not _ARRAY_ASSIGN.match(self.text, pos):
            return None
        level, count = self.level, len(self.pending)
        try:
            found = self.assignment(pos)
        except ParseError as error:  # `[` opens no subscript here
            if not error.incomplete or not error.msg.endswith("`]'"):
                raise
            self.level = level
            del self.pending[count:]
            return None
        if found and found[0].sub:
            for part in found[0].sub.word.parts:
                if type(part) is Lit and _METACHARACTER.search(part.text):
                    del self.pending[count:]
                    return None
        if found and type(found[0].value) is Word:
            assign = found[0]
            if assign.sub:
                key = assign.sub.word.parts
                parts = [Lit(assign.name + "["), *key, Lit("]" + assign.op), *found[0].value.parts]
            else:
                parts = [Lit(assign.name + assign.op), *found[0].value.parts]
            assign.word = make_word(parts, assign.text)
        return found

    def array(self, pos: int) -> tuple[tuple[ArrayItem, ...], int]:
        """After ``name=(``: the items up to the closing parenthesis."""
        text = self.text
        start = pos
        items: list[ArrayItem] = []
        while True:
            pos = self.skip_lines(pos)
            if pos >= self.size:
                raise self.unclosed(")", start)
            char = text[pos]
            if char == ")":
                return tuple(items), pos + 1
            if char == "[":
                item = self._array_item(pos)
                if item:
                    items.append(item[0])
                    pos = item[1]
                    continue
            parts, end = self.parts(pos, COMMAND_WORD)
            if end == pos:
                raise self.unexpected(char, pos)
            items.append((None, "", make_word(parts, self.source_text(pos, end), posix=True)))
            pos = end

    def _array_item(self, pos: int) -> tuple[ArrayItem, int] | None:
        count = len(self.pending)
        sub, end = self.subscript(pos + 1)
        op = "=" if self.text.startswith("=", end) else "+=" if self.text.startswith("+=", end) else ""
        if not op:
            del self.pending[count:]
            return None
        start = end + len(op)
        parts, end = self.parts(start, COMMAND_WORD)
        return (sub, op, make_assigned(parts, self.source_text(start, end))), end

    def subscript(self, pos: int) -> tuple[Subscript, int]:
        """After ``[``: up to the matching ``]``."""
        parts, end = self.parts(pos, _SUBSCRIPT)
        if not self.text.startswith("]", end):
            raise self.unclosed("]", pos)
        word = make_word(parts, self.source_text(pos, end), plain=True)
        return plain_subscript(word, compile_parts(parts, arith_subscript)), end + 1

    def skip_lines(self, pos: int) -> int:
        """Over blanks, newlines (with the here-documents behind them) and comments."""
        text = self.text
        while True:
            pos = after_blank(text, pos)
            if text.startswith("\n", pos):
                pos += 1
                if self.pending:
                    pos = self.read_heredocs(pos)
            elif text.startswith("#", pos):
                end = text.find("\n", pos)
                pos = end if end >= 0 else self.size
            else:
                return pos

    # ----------------------------------------------------------------------------------- parts

    def parts(self, pos: int, mode: Mode) -> tuple[list[Part], int]:
        """Read word parts until a character that ends them in this mode."""
        text, size = self.text, self.size
        run = mode.run
        parts: list[Part] = []
        plain: list[str] = []  # unquoted text not yet made into a Lit
        pairs = groups = 0
        group_start = pos
        while pos < size:
            match = run.match(text, pos)
            if match:
                plain.append(match.group())
                pos = match.end()
                if pos >= size:
                    break
            char = text[pos]
            if groups:  # inside @(...) and its kin
                if char in "()":
                    groups += 1 if char == "(" else -1
                if char in "() \t\n|<>&;":
                    plain.append(char)
                    pos += 1
                    continue
            elif mode.pair and char in mode.pair:
                if char == mode.pair[0]:
                    pairs += 1
                elif pairs:
                    pairs -= 1
                else:
                    break
                plain.append(char)
                pos += 1
                continue
            elif char in mode.stop:
                break
            if char == "\\":
                if text.startswith("\n", pos + 1):
                    pos += 2
                elif pos + 1 >= size or (mode.dquoted and text[pos + 1] not in '$`"\\}'):
                    plain.append("\\")
                    pos += 1
                else:
                    flush(parts, plain)
                    add_quoted(parts, text[pos + 1])
                    pos += 2
            elif char == "'":
                if mode.dquoted:
                    plain.append(char)
                    pos += 1
                    continue
                end = text.find("'", pos + 1)
                if end < 0:
                    raise self.unclosed("'", pos)
                flush(parts, plain)
                add_quoted(parts, text[pos + 1 : end])
                pos = end + 1
            elif char == '"':
                flush(parts, plain)
                pos = self.double_quote(parts, pos)
            elif char == "$":
                ansi = mode is _DQ_OPERAND and text.startswith("'", pos + 1)  # "${x-$'..'}" is decoded
                part, end = self.dollar(pos, mode.dquoted and not ansi)
                if part is None:
                    plain.append("$")
                    pos += 1
                    continue
                flush(parts, plain)
                if type(part) is Quoted:
                    add_quoted(parts, part.text)
                else:
                    parts.append(part)
                pos = end
            elif char == "`":
                flush(parts, plain)
                part, pos = self.backquote(pos, mode.dquoted)
                parts.append(part)
            elif char in "<>" and not mode.regex and not mode.dquoted and text.startswith("(", pos + 1):
                flush(parts, plain)
                body, end = self.commands_until_paren(pos + 2)
                parts.append(ProcSub(char, body, text[pos:end]))
                pos = end
            elif char == "(" and mode.command and self.source.extglob and plain and plain[-1][-1] in "?*+@!":
                groups += 1
                group_start = pos
                plain.append(char)
                pos += 1
            elif mode.regex:
                if char == "(":
                    pairs += 1
                elif char == ")":
                    if not pairs:
                        break
                    pairs -= 1
                elif not pairs:
                    break
                plain.append(char)
                pos += 1
            elif mode.command:
                break
            else:
                plain.append(char)
                pos += 1
        if groups:
            raise self.unclosed(")", group_start)
        if mode.regex and pairs:
            raise self.unclosed(")", pos)
        flush(parts, plain)
        return parts, pos

    def double_quote(self, parts: list[Part], pos: int) -> int:
        """At ``"``: append a DQuote, or a Quoted when nothing inside needs expansion."""
        text = self.text
        match = _DQUOTE_RUN.match(text, pos + 1)
        end = match.end() if match else pos + 1
        if text.startswith('"', end):
            add_quoted(parts, text[pos + 1 : end])
            return end + 1
        inner, end = self.double_quoted(pos + 1, '"')
        if not text.startswith('"', end):
            raise self.unclosed('"', pos)
        if not inner:
            add_quoted(parts, "")
        elif len(inner) == 1 and type(inner[0]) is Quoted:
            add_quoted(parts, inner[0].text)
        else:
            parts.append(DQuote(tuple(inner)))
        return end + 1

    def double_quoted(self, pos: int, closer: str) -> tuple[list[Part], int]:
        """The parts inside double quotes; without a closer: of a here-document, to the end of the text."""
        text, size = self.text, self.size
        run = _DQUOTE_RUN if closer else _HEREDOC_RUN
        escapes = '$`\\"' if closer else "$`\\"
        parts: list[Part] = []
        plain: list[str] = []
        while pos < size:
            match = run.match(text, pos)
            if match:
                plain.append(match.group())
                pos = match.end()
                if pos >= size:
                    break
            char = text[pos]
            if char == closer:
                break
            if char == "\\":
                following = text[pos + 1 : pos + 2]
                if following == "\n":
                    pos += 2
                elif following and following in escapes:
                    plain.append(following)
                    pos += 2
                else:
                    plain.append("\\")
                    pos += 1
                continue
            if char == "$":
                part, end = self.dollar(pos, True)
                if part is None:
                    plain.append("$")
                    pos += 1
                    continue
            else:
                part, end = self.backquote(pos, bool(closer))
            if plain:
                parts.append(Quoted("".join(plain)))
                plain.clear()
            parts.append(part)
            pos = end
        if plain:
            parts.append(Quoted("".join(plain)))
        return parts, pos

    def dollar(self, pos: int, dquoted: bool) -> tuple[Part | None, int]:
        """At ``$``: the expansion, or None when the dollar is an ordinary character."""
        text = self.text
        start = pos
        char = text[pos + 1 : pos + 2]
        if char == "\\" and text.startswith("\n", pos + 2):  # $\<newline>name
            end = pos + 1
            while text.startswith("\\\n", end):
                end += 2
            if not _PARAM_NAME.match(text, end) and text[end : end + 1] not in ("{", "("):
                return None, pos
            pos = end - 1
            char = text[end : end + 1]
        if char and char in "{([":
            return self.remembered((start, dquoted), lambda: self._bracketed(start, pos + 2, char, dquoted))
        match = NAME.match(text, pos + 1)
        if match:
            return Param(match.group(), text=f"${match.group()}"), match.end()
        if char in _SPECIAL:
            return Param(char, text=f"${char}"), pos + 2
        if char == "'" and not dquoted:
            end = skip_ansi_c(text, pos + 2)
            if end >= self.size:
                raise self.unclosed("'", pos)
            return Quoted(ansi_c(text[pos + 2 : end])), end + 1
        if char == '"' and not dquoted:
            parts: list[Part] = []
            end = self.double_quote(parts, pos + 1)
            return parts[0], end
        return None, pos

    def _bracketed(self, start: int, pos: int, char: str, dquoted: bool) -> tuple[Part | None, int]:
        """After ``${``, ``$(`` or ``$[``."""
        text = self.text
        if char == "{":
            self.nest(start)
            result = self.braced(start, pos, dquoted)
            self.level -= 1
            return result
        if char == "[":
            arith, end = self.arith(pos, "]")
            if not arith:
                raise self.unclosed("]", start)
            return arith, end + 1
        if text.startswith("(", pos) and start not in self.source.arith_failed:
            arith, end = self.try_arith(pos + 1, start)
            if arith:
                return arith, end
        return self._command_substitution(start, pos)

    def _command_substitution(self, start: int, pos: int) -> tuple[CmdSub, int]:
        """After ``$(``. What begins with ``$((`` and is no arithmetic may be no commands either: bash notices when
        it expands it."""
        text = self.text
        level, pending = self.level, [*self.pending]
        try:
            body, end = self.commands_until_paren(pos)
            return CmdSub(body, False, text[start:end]), end
        except ParseError as error:
            if not text.startswith("(", pos) or error.msg == TOO_DEEP:
                raise
            if error.incomplete:  # bash takes $(( for arithmetic to the end
                raise self.unclosed(")", start) from None
            self.level, self.pending = level, pending
            _, end = self.parts(pos, _PARENS)
            if not text.startswith(")", end):
                raise
            return CmdSub((), False, text[start : end + 1], error), end + 1

    def remembered(self, key: Hashable, read: Callable[[], tuple[T, int]]) -> tuple[T, int]:
        """What ``read`` gives, kept under a key that has the position in it.

        Some constructs are read twice: first as one thing, then, when that fails, as another. Where they stand in
        each other, doing everything inside twice as well would take exponential time.
        """
        memory = self.source.memory
        known = memory.get(key)
        if known is None:
            count = len(self.pending)
            try:
                result, end = read()
            except ParseError as error:
                if error.msg != TOO_DEEP:
                    memory[key] = error.copy()  # without the traceback
                raise
            memory[key] = (result, end, self.pending[count:])
            return result, end
        if isinstance(known, ParseError):
            raise known.copy()
        result, end, documents = known
        self.pending += documents
        return result, end

    def backquote(self, pos: int, dquoted: bool) -> tuple[CmdSub, int]:
        """At a backquote."""
        text, size = self.text, self.size
        end = pos + 1
        pieces: list[str] = []
        while True:
            if end >= size:
                raise self.unclosed("`", pos)
            char = text[end]
            if char == "`":
                break
            if char == "\\" and end + 1 < size:
                following = text[end + 1]
                if following in "$`\\" or (dquoted and following == '"'):
                    pieces.append(following)
                elif following != "\n":
                    pieces.append("\\" + following)
                end += 2
            else:
                pieces.append(char)
                end += 1
        self.nest(pos)
        body, error = self.commands_of(self.source.inner("".join(pieces), pos))
        self.level -= 1
        return CmdSub(body, True, text[pos : end + 1], error), end + 1

    # --------------------------------------------------------------------------------- ${...}

    def braced(self, start: int, pos: int, dquoted: bool) -> tuple[Part, int]:
        """After ``${``: up to and with the closing brace."""
        text = self.text
        pos = self._joined(pos)
        length = False
        indirect = ""
        char = text[pos : pos + 1]
        if char == "#":
            match = _PARAM_NAME.match(text, pos + 1)
            if match and text[match.end() : match.end() + 1] in ("}", "["):
                length = True
                pos += 1
        elif char == "!" and self._is_indirect(pos):
            indirect = "!"
            pos += 1
        match = _PARAM_NAME.match(text, pos)
        if not match:
            return self._bad(start)
        name = match.group()
        pos = match.end()
        sub = None
        if text.startswith("[", pos) and name not in _SPECIAL:
            level = self.level
            try:
                sub, pos = self.subscript(pos + 1)
            except ParseError as error:
                if not error.msg.endswith("`]'"):
                    raise
                self.level = level
                return self._bad(start)
        pos = self._joined(pos)
        char = text[pos : pos + 1]
        if indirect and char in ("@", "*") and text.startswith("}", pos + 1):
            return self._param(start, pos + 2, name, sub, indirect="prefix" + char)
        if indirect and char == "}" and sub is not None and sub.star:
            return self._param(start, pos + 1, name, sub, indirect="keys")
        if char == "}":
            return self._param(start, pos + 1, name, sub, length, indirect)
        if length or not char:
            return self._bad(start)
        if char == ":" and text[pos + 1 : pos + 2] not in ("-", "=", "?", "+"):
            return self._slice(start, pos + 1, name, sub, indirect)
        if char == "@":
            if text[pos + 1 : pos + 2] in tuple("UuLQEPAKak") and text.startswith("}", pos + 2):
                return self._param(start, pos + 3, name, sub, False, indirect, "@" + text[pos + 1])
            return self._bad(start)
        if char in "/":
            return self._replacement(start, pos + 1, name, sub, indirect)
        if char == ":":
            op = text[pos : pos + 2]
        elif char in "-=?+":
            op = char
        elif char in "#%^,~":
            op = char * 2 if text.startswith(char, pos + 1) else char
        else:
            return self._bad(start)
        pos += len(op)
        as_text = op[-1] in "-=?+"
        parts, end = self.parts(pos, _DQ_OPERAND if as_text and dquoted else _OPERAND)
        if not text.startswith("}", end):
            raise self.unclosed("}", start)
        if as_text and self.assigning and not dquoted:
            word = make_assigned(parts, self.source_text(pos, end))
        else:
            word = make_word(parts, self.source_text(pos, end), plain=True, tilde=as_text and not dquoted)
        return self._param(start, end + 1, name, sub, False, indirect, op, word)

    def _joined(self, pos: int) -> int:
        match = _JOINS.match(self.text, pos)
        return match.end() if match else pos

    def _is_indirect(self, pos: int) -> bool:
        """At ``${!``: indirection, rather than the parameter ``$!``?"""
        text = self.text
        match = _PARAM_NAME.match(text, pos + 1)
        if not match or text.startswith("!}", pos):
            return False
        return match.group() not in "@*?$!-" or text[match.end() : match.end() + 1] in ("}", "[", ":")

    def _param(
        self,
        start: int,
        end: int,
        name: str,
        sub: Subscript | None,
        length: bool = False,
        indirect: str = "",
        op: str = "",
        arg: Word | Arith | None = None,
        arg2: Word | Arith | None = None,
    ) -> tuple[Part, int]:
        return Param(name, sub, length, indirect, op, arg, arg2, self.source_text(start, end)), end

    def _slice(self, start: int, pos: int, name: str, sub: Subscript | None, indirect: str) -> tuple[Part, int]:
        offset, end = self.arith(pos, ":}")
        length = None
        if offset and self.text.startswith(":", end):
            length, end = self.arith(end + 1, "}")
        if not offset or not self.text.startswith("}", end):
            raise self.unclosed("}", start)
        return self._param(start, end + 1, name, sub, False, indirect, ":", offset, length)

    def _replacement(self, start: int, pos: int, name: str, sub: Subscript | None, indirect: str) -> tuple[Part, int]:
        text = self.text
        op = "/"
        char = text[pos : pos + 1]
        if char and char in "/#%":
            op = "/" + char
            pos += 1
        if op == "//" and text.startswith("/", pos):  # a slash behind the operator belongs to the pattern
            parts, end = self.parts(pos + 1, _PATTERN)
            parts.insert(0, Lit("/"))
        else:
            parts, end = self.parts(pos, _PATTERN)
        pattern = make_word(parts, self.source_text(pos, end), plain=True)
        replacement = None
        if text.startswith("/", end):
            pos = end + 1
            parts, end = self.parts(pos, _OPERAND)
            replacement = make_word(parts, self.source_text(pos, end), plain=True, tilde=True)
        if not text.startswith("}", end):
            raise self.unclosed("}", start)
        return self._param(start, end + 1, name, sub, False, indirect, op, pattern, replacement)

    def _bad(self, start: int) -> tuple[Part, int]:
        """``${`` that is no valid expansion: bash reads over it and complains when it runs."""
        _, end = self.parts(start + 2, _OPERAND)
        if not self.text.startswith("}", end):
            raise self.unclosed("}", start)
        return BadSubst(self.text[start : end + 1]), end + 1

    # ----------------------------------------------------------------------------- arithmetic

    def try_arith(self, pos: int, start: int) -> tuple[Arith | None, int]:
        """After ``((`` at ``start``: the expression and the position after ``))``; None when it is no
        arithmetic but two open parentheses of commands."""
        level, pending, warnings = self.level, len(self.pending), len(self.source.warnings)
        try:
            arith, end = self.arith(pos, "))")
        except ParseError as error:
            if error.incomplete or error.msg == TOO_DEEP:
                raise
            arith, end = None, pos
        if arith:
            return arith, end + 2
        self.level = level
        del self.pending[pending:], self.source.warnings[warnings:]
        self.source.arith_failed.add(start)
        return None, start

    def arith(self, pos: int, closer: str) -> tuple[Arith | None, int]:
        """The text of an expression up to ``closer``: ``))``, or any of its characters. None when that does
        not come where it should."""
        self.nest(pos)
        text, size, start = self.text, self.size, pos
        double = closer == "))"
        parts: list[Part] = []
        plain: list[str] = []
        depth = questions = 0
        while True:
            match = _ARITH_RUN.match(text, pos)
            if match:
                plain.append(match.group())
                pos = match.end()
            if pos >= size:
                raise self.unclosed(")" if closer == ";" else closer[-1], start)
            char = text[pos]
            if char == "$":
                if text.startswith("'", pos + 1):  # bash makes a single-quoted string of it, for the evaluator
                    end = skip_ansi_c(text, pos + 2)
                    if end >= size:
                        raise self.unclosed("'", pos)
                    plain.append(f"'{ansi_c(text[pos + 2 : end])}'")
                    pos = end + 1
                    continue
                if text.startswith('"', pos + 1):  # $".." is a plain string
                    pos += 1
                    continue
                part, end = self.dollar(pos, True)
                if part is None:
                    plain.append("$")
                    pos += 1
                    continue
                flush(parts, plain)
                parts.append(part)
                pos = end
            elif char == "`":
                flush(parts, plain)
                part, pos = self.backquote(pos, False)
                parts.append(part)
            elif char == '"':
                flush(parts, plain)
                quoted: list[Part] = []
                pos = self.double_quote(quoted, pos)
                for part in quoted:
                    if type(part) is DQuote:
                        parts.extend(Lit(p.text) if type(p) is Quoted else p for p in part.parts)
                    elif type(part) is Quoted and part.text:
                        parts.append(Lit(part.text))
            elif char == "'":
                end = text.find("'", pos + 1)
                if end < 0:
                    raise self.unclosed("'", pos)
                plain.append(text[pos : end + 1])
                pos = end + 1
            elif char == "\\":
                if not text.startswith("\n", pos + 1):
                    plain.append(text[pos : pos + 2])
                pos += 2
            else:
                if depth == 0:
                    if double and char == ")":
                        if text.startswith("))", pos):
                            break
                        return self._no_arith(pos)
                    if not double and char in closer and not (char == ":" and questions):
                        break
                if char == "(" or char in "[{" and not double:
                    depth += 1
                elif char == ")" or char in "]}" and not double:
                    depth -= 1
                    if depth < 0:
                        return self._no_arith(pos)
                elif char == "?":
                    questions += 1
                elif char == ":" and questions:
                    questions -= 1
                plain.append(char)
                pos += 1
        flush(parts, plain)
        self.level -= 1
        word = Word(tuple(parts), None, False, self.source_text(start, pos))
        return Arith(word, compile_parts(parts, arith_subscript)), pos

    def _no_arith(self, pos: int) -> tuple[None, int]:
        self.level -= 1
        return None, pos
