"""The inside of ``[[ ... ]]``."""

from __future__ import annotations

from mirage.shell.arith import LazyPattern
from mirage.shell.ast import CBin, CGroup, CLog, CNot, CUn, CWord
from mirage.shell.reader import COMMAND_WORD, REGEX_WORD, RUN, WORD_END, WordReader, after_blank
from mirage.shell.words import make_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

    from mirage.shell.ast import Test, Word
    from mirage.shell.errors import ParseError

_UNARY = frozenset("-" + letter for letter in "abcdefghkprstuwxGLNOSznovR")
_BINARY = LazyPattern(r"(<|>)(?!\()|(==|=~|!=|=|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))(?=[ \t\n;&|<>()]|\\\n|\Z)")


class ConditionReader(WordReader):
    """Recursive descent over the text of a conditional command; methods as in WordReader."""

    __slots__ = ("_extglob",)

    def condition(self, pos: int) -> tuple[Test, int, int]:
        """After ``[[``: the expression, the position after ``]]``, and the one whose line bash takes for the whole."""
        self._extglob = self.source.extglob
        try:
            test, read = self._or(pos)
            pos = self.skip_lines(read)
            if pos >= self.size:
                raise self.error("unexpected EOF while looking for `]]'", pos, True)
            if not self._at_end(pos):
                raise self._trailing(pos)
            return test, pos + 2, pos if type(test) is CLog else read
        finally:
            self.source.extglob = self._extglob

    def _or(self, pos: int) -> tuple[Test, int]:
        left, pos = self._and(pos)
        while True:
            after = self.skip_lines(pos)
            if not self.text.startswith("||", after):
                return left, pos
            right, pos = self._and(after + 2)
            left = CLog("||", left, right)

    def _and(self, pos: int) -> tuple[Test, int]:
        left, pos = self._term(pos)
        while True:
            after = self.skip_lines(pos)
            if not self.text.startswith("&&", after):
                return left, pos
            right, pos = self._term(after + 2)
            left = CLog("&&", left, right)

    def _term(self, pos: int) -> tuple[Test, int]:
        text = self.text
        negated = False
        pos = self.skip_lines(pos)
        while text.startswith("!", pos) and self._is_not(pos + 1):
            negated = not negated
            pos = self.skip_lines(pos + 1)
        test: Test
        if text.startswith("(", pos):
            self.nest(pos)
            inner, pos = self._or(pos + 1)
            self.level -= 1
            pos = self.skip_lines(pos)
            if not text.startswith(")", pos):
                raise self._wrong(pos, "unexpected token `{}', expected `)'", "expected `)'")
            test, pos = CGroup(inner), pos + 1
        else:
            test, pos = self._test(pos)
        return (CNot(test) if negated else test), pos

    def _is_not(self, pos: int) -> bool:
        following = self.text[pos : pos + 1]
        return following in (" ", "\t", "\n") or (following == "(" and not self._extglob)

    def _test(self, pos: int) -> tuple[Test, int]:
        if self._at_end(pos):
            raise self._missing(pos)
        word, end = self._word(pos)
        if end == pos:
            raise self._missing(pos)
        after = after_blank(self.text, end)
        token = self.text[pos:end]
        if token in _UNARY:
            return self._unary(token, after)
        if self._test_ends(after) and after < self.size:
            return CWord(word), end
        match = _BINARY.match(self.text, after)
        if not match:
            complaint = "conditional binary operator expected"
            raise self._wrong(after, "unexpected token `{}', " + complaint, complaint)
        return self._binary(word, match)

    def _unary(self, op: str, pos: int) -> tuple[Test, int]:
        complaint = "unexpected argument `{}' to conditional unary operator"
        if self._test_ends(pos):
            raise self._wrong(pos, complaint, complaint)
        arg, end = self._word(pos)
        if end == pos:
            raise self._wrong(pos, complaint, complaint)
        return CUn(op, arg), end

    def _binary(self, left: Word, match: re.Match[str]) -> tuple[Test, int]:
        op = match[1] or match[2]
        pos = after_blank(self.text, match.end())
        complaint = "unexpected argument `{}' to conditional binary operator"
        if self._at_end(pos) or pos >= self.size:
            raise self._wrong(pos, complaint, complaint)
        if op == "=~":
            parts, end = self.parts(pos, REGEX_WORD)
            right = make_word(parts, self.source_text(pos, end), plain=True, tilde=True)
        else:
            self.source.extglob = self._extglob or op in ("=", "==", "!=")  # these patterns may hold groups anyway
            right, end = self._word(pos)
            self.source.extglob = self._extglob
        if end == pos:
            raise self._wrong(pos, complaint, complaint)
        return CBin(op, left, right), end

    def _test_ends(self, pos: int) -> bool:
        return pos >= self.size or self.text.startswith(("&&", "||", ")"), pos) or self._at_end(pos)

    def _at_end(self, pos: int) -> bool:
        return self.text.startswith("]]", pos) and (pos + 2 >= self.size or self.text[pos + 2] in WORD_END)

    def _word(self, pos: int) -> tuple[Word, int]:
        parts, end = self.parts(pos, COMMAND_WORD)
        return make_word(parts, self.source_text(pos, end), braces=False), end

    # ------------------------------------------------------------------------------------------------- errors

    def _token(self, pos: int) -> str:
        """What stands at a position, as bash names it."""
        if pos >= self.size or self.text[pos] == "\n":
            return "newline"
        match = RUN.match(self.text, pos)
        if match:
            return match.group()
        for operator in ("&&", "||", ";;"):
            if self.text.startswith(operator, pos):
                return operator
        return self.text[pos]

    def _wrong(self, pos: int, message: str, word_message: str) -> ParseError:
        """``message`` names the token; for an ordinary word bash says ``word_message`` instead."""
        token = self._token(pos)
        ordinary = token != "]]" and pos < self.size and self.text[pos] not in WORD_END
        error = self.error((word_message if ordinary else message).format(token), pos, pos >= self.size)
        error.near, error.source = self._near(pos)
        return error

    def _missing(self, pos: int) -> ParseError:
        """A test was expected."""
        if pos >= self.size:
            error = self.error("unexpected token `EOF' in conditional command", pos, True)
            error.line = self.end_line()
            error.detail = "syntax error: unexpected end of file"
            return error
        near, line = self._near(pos)
        token = self._token(pos)
        if token == "]]":
            error = self.error(f"syntax error near `{near}'", pos)
        else:
            error = self.error(f"unexpected token `{token}' in conditional command", pos)
            error.near = near
        error.source = line
        return error

    def _near(self, pos: int) -> tuple[str, str]:
        """(what bash takes for the wrong token when it stands behind it: the run before that, the line)"""
        start = self.text.rfind("\n", 0, pos) + 1
        end = self.text.find("\n", pos)
        line = self.text[start:end if end >= 0 else self.size]
        at = pos - start
        if at < len(line):
            at = self._word(pos)[1] - start if line[at] not in WORD_END else at + len(self._token(pos))
        at = min(at, len(line) - 1)
        while at and line[at] in " \t":
            at -= 1
        last = at
        while at and line[at] not in " \t;|&":
            at -= 1
        while at < last and line[at] in " \t":
            at += 1
        return line[at:last + 1], line

    def _trailing(self, pos: int) -> ParseError:
        """Something behind a complete expression."""
        message = "syntax error in conditional expression"
        return self._wrong(pos, message + ": unexpected token `{}'", message)
