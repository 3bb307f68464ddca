"""Tokens of the shell language.

`Lexer` gives the tokens that the grammar's tables are made for, one at a time. What a character means depends
on where it stands, so the lexer keeps a state (command position, pattern of a `case`, ...), in its own right,
without asking the parser. A token is ``(name, value)``; the value is what the actions put into the tree, or
the position of a keyword.

``$(...)`` holds commands: a second lexer continues over the same text until the unmatched parenthesis, and
the driver runs a second time.
"""

from __future__ import annotations

import re

from mirage.shell.actions import END
from mirage.shell.arith import LazyPattern
from mirage.shell.ast import BadSubst, DQuote, HereDoc, Lines, Quoted, Word
from mirage.shell.cond import ConditionReader
from mirage.shell.driver import parse_unit
from mirage.shell.errors import ParseError, ParseWarning
from mirage.shell.reader import COMMAND_WORD, RUN, TOO_DEEP, WORD_END, Source, after_blank
from mirage.shell.words import make_assigned, unquote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from mirage.shell.ast import Arith, Command, Commands, Part

    Token: TypeAlias = tuple[str, Any]

MAX_BLOCKS = 1000  # of { }, ( ), if, for, ... in each other

# States: what the next word is.
COMMAND, AFTER_ASSIGN, ARGUMENT = "command", "after assign", "argument"
TARGET, DELIMITER = "target", "delimiter"
FOR_NAME, FOR_IN, CASE_WORD, CASE_IN, PATTERN = "for name", "for in", "case word", "case in", "pattern"
FUNCTION_NAME, FUNCTION_PARENS, AFTER_TIME = "function name", "function parens", "after time"
COPROC_NAME, COPROC_BODY, ENDED = "coproc name", "coproc body", "ended"

_COMMAND_LIKE = frozenset((COMMAND, ENDED, AFTER_TIME, COPROC_NAME, COPROC_BODY))

_OPERATOR = re.compile(r";;&|;;|;&|;|&&|&>>|&>|&|\|\||\|&|\||<<<|<<-|<<|<&|<>|<(?!\()|>>|>&|>\||>(?!\()|\(|\)")
_NUMBER = LazyPattern(r"[0-9]+(?=[<>](?!\())")
_VARIABLE = LazyPattern(r"\{([A-Za-z_][A-Za-z0-9_]*(?:\[[^\]\n]*\])?)\}(?=[<>](?!\())")
_OPERATORS = {
    ";;&": "SEMI_SEMI_AND", ";;": "SEMI_SEMI", ";&": "SEMI_AND", ";": "SEMICOLON", "&&": "AND_AND",
    "&>>": "AND_GREATER_GREATER", "&>": "AND_GREATER", "&": "AMPERSAND", "||": "OR_OR", "|&": "BAR_AND",
    "|": "BAR", "<<<": "LESS_LESS_LESS", "<<-": "LESS_LESS_MINUS", "<<": "LESS_LESS", "<&": "LESS_AND",
    "<>": "LESS_GREATER", "<": "LESS", ">>": "GREATER_GREATER", ">&": "GREATER_AND", ">|": "GREATER_BAR",
    ">": "GREATER", "(": "LEFT_PAREN", ")": "RIGHT_PAREN",
}  # fmt: skip
_REDIRECTIONS = frozenset(("<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">", "&>", "&>>"))
_RESERVED = {
    "if": "IF", "then": "THEN", "else": "ELSE", "elif": "ELIF", "fi": "FI", "case": "CASE", "esac": "ESAC",
    "for": "FOR", "select": "SELECT", "while": "WHILE", "until": "UNTIL", "do": "DO", "done": "DONE",
    "function": "FUNCTION", "time": "TIME", "{": "LEFT_CURLY", "}": "RIGHT_CURLY", "!": "BANG",
    "[[": "COND_START", "]]": "COND_END", "coproc": "COPROC", "in": "IN",
}  # fmt: skip
_AFTER_RESERVED = {
    "for": FOR_NAME, "select": FOR_NAME, "case": CASE_WORD, "function": FUNCTION_NAME, "time": AFTER_TIME,
    "coproc": COPROC_NAME, "fi": ENDED, "done": ENDED, "esac": ENDED, "}": ENDED,
}  # fmt: skip
_OPENERS = frozenset(("if", "for", "select", "case", "while", "until", "{"))
_CLOSERS = frozenset(("fi", "done", "esac", "}"))
_DECLARATIONS = {
    "declare": "all", "typeset": "all", "local": "all", "export": "all", "readonly": "all", "alias": "all",
    "eval": "arrays", "let": "arrays",
}  # fmt: skip


class Lexer(ConditionReader):
    """The token source of the driver."""

    __slots__ = (
        "after_pipe",
        "alias_ends",
        "alias_next",
        "assignments",
        "blocks",
        "command_pos",
        "here_string",
        "heredoc_op",
        "nested",
        "parens",
        "pos",
        "queue",
        "resume",
        "state",
        "token_pos",
    )

    def __init__(self, source: Source, pos: int = 0, *, nested: bool = False, level: int = 0, blocks: int = 0) -> None:
        super().__init__(source, level)
        self.pos = pos
        self.nested = nested  # inside $( ): an unmatched ) is the end
        self.queue: list[Token] = []  # tokens read ahead or given back
        self.state = COMMAND
        self.resume = ARGUMENT  # the state after a redirection
        self.heredoc_op = ""
        self.here_string = False
        self.assignments = ""  # "all" among arguments of a declaration builtin, "arrays" of eval and let
        self.after_pipe = False
        self.parens = 0
        self.blocks = blocks
        self.token_pos = pos  # start of the token just read
        self.command_pos = pos  # start of the command being read
        self.alias_ends: list[tuple[str, int]] = []  # aliases being read, with the ends of their texts
        self.alias_next: list[int] = []  # the first word at or behind these is looked up too (trailing blank)

    def line(self, pos: int) -> int:
        """The line number of a position."""
        return self.source.line(pos)

    # ------------------------------------------------------------------------------------------------- tokens

    def next(self) -> Token:
        """The next token."""
        if self.queue:
            return self.queue.pop(0)
        text = self.text
        pos = after_blank(text, self.pos)
        if pos < self.size and text[pos] == "#":
            end = text.find("\n", pos)
            pos = end if end >= 0 else self.size
        self.token_pos = pos
        if pos >= self.size:
            self.pos = self.read_heredocs(pos) if self.pending else pos
            return "EOF", None
        char = text[pos]
        state = self.state
        if char == "\n":
            self.pos = self.read_heredocs(pos + 1) if self.pending else pos + 1
            if state not in (FOR_IN, CASE_IN, PATTERN):
                self.state = COMMAND
            self.assignments = ""
            self.after_pipe = False
            return "NEWLINE", "\n"
        if char in ";&|<>()":
            match = _OPERATOR.match(text, pos)
            if match:
                return self._operator(*self._whole_operator(match.group(), match.end(), pos), pos, state)
        if "0" <= char <= "9":
            match = _NUMBER.match(text, pos)
            if match and state != PATTERN:
                return self._descriptor(int(match.group()), "NUMBER", match.end(), pos)
        elif char == "{" and state != PATTERN:
            match = _VARIABLE.match(text, pos)
            if match:
                return self._descriptor(match.group(1), "REDIR_WORD", match.end(), pos)
        if state == TARGET:
            return self._target(pos)
        if state == DELIMITER:
            return self._delimiter(pos)
        return self._word_token(pos, state)

    def _whole_operator(self, operator: str, end: int, pos: int) -> tuple[str, int]:
        """An operator may be split by backslash-newline."""
        text = self.text
        if text.startswith("\\\n", end):
            end, operator = pos, ""
            while True:
                after = end
                while text.startswith("\\\n", after):
                    after += 2
                if after < self.size and operator + text[after] in _OPERATORS:
                    operator += text[after]
                    end = after + 1
                else:
                    break
        return operator, end

    def _descriptor(self, value: int | str, name: str, end: int, pos: int) -> Token:
        self.pos = end
        if self.state == COMMAND:
            self.command_pos = pos
        elif self.state in (TARGET, DELIMITER):
            self.state = self.resume
        return name, value

    def _operator(self, operator: str, end: int, pos: int, state: str) -> Token:
        self.pos = end
        if operator in _REDIRECTIONS:
            if state not in (TARGET, DELIMITER):
                if state in (COMMAND, AFTER_ASSIGN, AFTER_TIME):
                    self.resume = AFTER_ASSIGN
                else:
                    self.resume = ENDED if state == ENDED else ARGUMENT
            if state == COMMAND:
                self.command_pos = pos
            self.state = TARGET
            self.here_string = operator == "<<<"  # its tildes are those of an assigned value
            if operator in ("<<", "<<-"):
                self.state = DELIMITER
                self.heredoc_op = operator
            return _OPERATORS[operator], operator
        self.after_pipe = operator in ("|", "|&")
        if operator == "(":
            return self._open_paren(pos, end, state)
        if operator == ")":
            return self._close_paren(pos, state)
        if operator in (";;", ";&", ";;&"):
            self.state = PATTERN
        elif not (operator == "|" and state == PATTERN):
            self.state = COMMAND
        self.assignments = ""
        return _OPERATORS[operator], operator

    def _open_paren(self, pos: int, end: int, state: str) -> Token:
        if self.text.startswith("((", pos) and state in (COMMAND, FOR_NAME, AFTER_TIME):
            if state == FOR_NAME:
                return self._arith_for(pos)
            if pos not in self.source.arith_failed:
                arith, after = self.try_arith(pos + 2, pos)
                if arith:
                    self.pos = after
                    self.state = ENDED
                    self.command_pos = after
                    return "ARITH_CMD", arith
                self.pos = end
        if state == PATTERN:
            return "LEFT_PAREN", pos
        self.parens += 1
        self._check_blocks(pos)
        self.state = FUNCTION_PARENS if state in (ARGUMENT, FUNCTION_NAME) else COMMAND
        return "LEFT_PAREN", pos

    def _close_paren(self, pos: int, state: str) -> Token:
        if state == PATTERN:
            self.state = COMMAND
            return "RIGHT_PAREN", pos
        if self.parens == 0 and self.nested:
            self.pos = pos
            return "EOF", ")"
        self.parens -= 1
        self.state = COMMAND if state == FUNCTION_PARENS else ENDED
        return "RIGHT_PAREN", pos

    def _check_blocks(self, pos: int) -> None:
        if self.parens + self.blocks > MAX_BLOCKS:
            raise self.error(TOO_DEEP, pos)

    def _arith_for(self, pos: int) -> Token:
        """``for ((init; cond; step))``"""
        start = after_blank(self.text, pos + 2)
        expressions: list[Arith] = []
        while True:
            arith, end = self.arith(start, ";" if len(expressions) < 2 else "))")
            if arith is None:
                break
            if len(expressions) == 2 and ";" in arith.word.text:
                break
            expressions.append(arith)
            if len(expressions) == 3:
                self.pos = end + 2
                self.state = COMMAND
                return "ARITH_FOR_EXPRS", tuple(expressions)
            start = after_blank(self.text, end + 1)
        whole, after = self.arith(pos + 2, "))")
        if whole is None:
            raise self.unexpected("(", pos)
        extra = whole.word.text.count(";") > 2
        complaint = "`;' unexpected" if extra else "arithmetic expression required"
        error = self.error("syntax error: " + complaint, pos)
        error.detail = f"syntax error: `{self.text[pos : after + 2]}'"
        raise error

    # -------------------------------------------------------------------------------------------------- words

    def _target(self, pos: int) -> Token:
        """The word behind a redirection operator."""
        if self.here_string:
            self.here_string = False
            parts, end = self.parts(pos, COMMAND_WORD)
            word = make_assigned(parts, self.source_text(pos, end))
        else:
            word, end = self.word(pos)
        if end == pos:
            raise self.unexpected(self.text[pos], pos)
        self.pos = end
        self.state = self.resume
        return "WORD", word

    def _delimiter(self, pos: int) -> Token:
        """The word behind ``<<``; the body follows on the next line."""
        parts, end = self.parts(pos, COMMAND_WORD)
        self.state = self.resume
        if end == pos:
            self.pos = pos
            return self._word_token(pos, self.resume)
        raw = self.source_text(pos, end)
        quoted = any(type(part) is Quoted or type(part) is DQuote for part in parts)
        document = HereDoc(unquote(raw) if quoted else raw, quoted, self.heredoc_op == "<<-")
        self.pending.append(document)
        self.pos = end
        return "WORD", document

    def _word_token(self, pos: int, state: str) -> Token:
        text = self.text
        if self.source.aliases and not self.nested and self._alias_position(pos, state) and self._replace_alias(pos):
            return self.next()
        if state in _COMMAND_LIKE:
            token = self._reserved_word(pos, state)
            if token:
                return token
            if state == COPROC_NAME:
                word, end = self.word(pos)
                self._advance(end, pos)
                self.command_pos = pos
                self.state = COPROC_BODY
                self.assignments = ""
                return "WORD", word
            if state in (COMMAND, AFTER_TIME):
                self.command_pos = pos
                state = COMMAND
            else:
                state = ARGUMENT
        if state in (COMMAND, AFTER_ASSIGN):
            found = self.assignment(pos)
            if found:
                self.pos = found[1]
                self.state = AFTER_ASSIGN
                return "ASSIGNMENT_WORD", found[0]
        elif state == ARGUMENT and self.assignments:
            found = self.declaration(pos, self.assignments == "arrays")
            if found:
                self.pos = found[1]
                return "WORD", found[0]
        if state in (FOR_IN, CASE_IN):
            match = RUN.match(text, pos)
            keyword = match.group() if match else ""
            if keyword == "in":
                self.pos = pos + 2
                self.state = PATTERN if state == CASE_IN else ARGUMENT
                self.assignments = ""
                return "IN", pos
            if state == FOR_IN and keyword in ("do", "{"):
                self.pos = pos + len(keyword)
                self.state = COMMAND
                self._block(keyword, pos)
                return _RESERVED[keyword], pos
        elif state == PATTERN and self._at_esac(pos):
            self.pos = pos + 4
            self.state = ENDED
            self._block("esac", pos)
            return "ESAC", pos
        word, end = self.word(pos)
        self._advance(end, pos)
        if state in (COMMAND, AFTER_ASSIGN):
            self.state = ARGUMENT
            self.assignments = _DECLARATIONS.get(word.text, "")
        elif state == FOR_NAME:
            self.state = FOR_IN
        elif state == CASE_WORD:
            self.state = CASE_IN
        elif state == FUNCTION_NAME:
            self._after_function_name(end)
        return "WORD", word

    def _at_esac(self, pos: int) -> bool:
        after = pos + 4
        if not self.text.startswith("esac", pos) or after < self.size and self.text[after] not in WORD_END:
            return False
        return self.text[max(0, pos - 100) : pos].rstrip()[-1:] not in ("(", "|")  # there it is a word

    def _advance(self, end: int, pos: int) -> None:
        if end == pos:
            raise self.unexpected(self.text[pos], pos)
        self.pos = end

    def _after_function_name(self, pos: int) -> None:
        """``function f``: ``()``, or the body at once."""
        pos = after_blank(self.text, pos)
        if self.text.startswith("(", pos) and not self.text.startswith("((", pos):
            if self.text.startswith(")", after_blank(self.text, pos + 1)):
                return
            self.queue.append(("NEWLINE", "\n"))  # tells the grammar that the parenthesis is a subshell's
        self.state = COMMAND

    def _reserved_word(self, pos: int, state: str) -> Token | None:
        text = self.text
        word, end = self._plain_word(pos)
        if not word or (end < self.size and (text[end] not in WORD_END or (text[end] in "<>(" and self.goes_on(end)))):
            return None
        if word in _RESERVED:
            if word == "time" and self.after_pipe:
                return None
            return self._reserved(word, pos, end)
        if state == AFTER_TIME:
            if word == "-p":
                self.pos = end
                return "TIMEOPT", word
            if word == "--":
                self.pos = end
                self.state = COMMAND
                return "TIMEIGN", word
        return None

    def _plain_word(self, pos: int) -> tuple[str, int]:
        """The unquoted text at ``pos``; backslash-newline may split it."""
        text = self.text
        match = RUN.match(text, pos)
        if not match:
            return "", pos
        end = match.end()
        word = match.group()
        while text.startswith("\\\n", end):
            match = RUN.match(text, end + 2)
            if not match:
                return word, end + 2
            word += match.group()
            end = match.end()
        return word, end

    def _reserved(self, word: str, pos: int, end: int) -> Token:
        self.pos = end
        self.state = _AFTER_RESERVED.get(word, COMMAND)
        self._block(word, pos)
        if word == "coproc":
            self.command_pos = pos
        elif word == "[[":
            test, self.pos, place = self.condition(end)
            self.state = ENDED
            self.command_pos = pos
            self.queue.append(("COND_CMD", test))
            self.queue.append(("COND_END", place))
        return _RESERVED[word], pos

    def _block(self, word: str, pos: int) -> None:
        if word in _OPENERS:
            self.blocks += 1
            self._check_blocks(pos)
        elif word in _CLOSERS:
            self.blocks -= 1

    # ------------------------------------------------------------------------------------------------ aliases

    def _alias_position(self, pos: int, state: str) -> bool:
        """Is the word at ``pos`` to be looked up?"""
        if state in (COMMAND, AFTER_ASSIGN, AFTER_TIME):
            return True
        return any(place <= pos for place in self.alias_next)

    def _replace_alias(self, pos: int) -> bool:
        """Put the text of an alias in the place of the word at ``pos``, if it is one."""
        word, end = self._plain_word(pos)
        following = self.text[end : end + 1]
        if following and following in "'\"\\":  # a quoted word: no alias, and the next word still may be one
            return False
        invited = [place for place in self.alias_next if place <= pos]
        self.alias_next = [place for place in self.alias_next if place > pos]
        if not word or (following and following not in WORD_END):
            return False
        value = self.source.aliases.get(word) if self.source.aliases else None
        if value is None:
            return False
        self.alias_ends = [active for active in self.alias_ends if active[1] > pos]
        if any(active[0] == word for active in self.alias_ends):
            return False
        blank = value[-1:] in (" ", "\t")
        if not blank and following and following in "<>&|;(":
            value += " "  # its last word does not join what follows
        self.source = self.source.replaced(pos, end, value)
        self.text = self.source.text
        self.size = len(self.text)
        shift = len(value) - (end - pos)
        self.alias_ends = [(active, stop + shift) for active, stop in self.alias_ends]
        self.alias_next = [place + shift for place in self.alias_next]
        if invited:
            self.alias_next.append(pos)  # the first word of the text is looked up too
        end = pos + len(value)
        self.alias_ends.append((word, end))
        if blank:
            self.alias_next.append(end)
        self.pos = pos
        return True

    # ---------------------------------------------------------------------------------------- nested commands

    def commands_until_paren(self, pos: int) -> tuple[Commands, int]:
        """The commands up to the unmatched ``)``, and the position after it."""
        return self.remembered(pos, lambda: self._commands_until_paren(pos))

    def _commands_until_paren(self, pos: int) -> tuple[Commands, int]:
        self.nest(pos)
        inner = Lexer(self.source, pos, nested=True, level=self.level, blocks=self.blocks + self.parens)
        items: list[Command] = []
        breaks: list[int] = []
        while True:
            try:
                unit = parse_unit(inner)
            except ParseError as error:
                error.nested = not error.incomplete
                raise
            if unit is END:
                break
            if unit is not None:
                if type(unit) is Lines:
                    breaks.extend(len(items) + index for index in unit.breaks)
                items.extend(unit)
        self.level -= 1
        end = inner.pos
        if not inner.text.startswith(")", end):
            raise self._unclosed_paren()
        if inner.source is not self.source:  # aliases were replaced: back to our own positions
            end -= inner.source.edits[-1][1] - (self.source.edits[-1][1] if self.source.edits else 0)
        self.pending += inner.pending  # their bodies follow on the line outside
        if breaks and len(items) > 1:
            lines = Lines(items)
            lines.breaks = frozenset(index for index in breaks if index < len(items) - 1)
            return lines, end + 1
        return tuple(items), end + 1

    def _unclosed_paren(self) -> ParseError:
        error = self.unclosed(")", self.size)
        error.line = self.end_line()
        return error

    def commands_of(self, source: Source) -> tuple[Commands, ParseError | None]:
        """The commands of a text of its own (backquotes)."""
        lexer = Lexer(source, level=self.level, blocks=self.blocks + self.parens)
        items: list[Command] = []
        try:
            while True:
                unit = parse_unit(lexer)
                if unit is END:
                    return tuple(items), None
                if unit is not None:
                    items.extend(unit)
        except ParseError as error:
            if error.msg == TOO_DEEP:
                raise
            return tuple(items), error

    # ----------------------------------------------------------------------------------------- here-documents

    def read_heredocs(self, pos: int) -> int:
        """Read the bodies of the pending here-documents, which begin at ``pos``."""
        pending, self.pending = self.pending, []
        for document in pending:
            pos = self._heredoc(document, pos)
        self.pos = pos
        return pos

    def _heredoc(self, document: HereDoc, pos: int) -> int:
        size, start = self.size, pos
        delimiter = document.delim
        lines: list[str] = []
        while True:
            if pos >= size:
                self._warn_unterminated(delimiter, start)
                break
            line, end = self._heredoc_line(pos, document.quoted)
            if document.strip:
                line = line.lstrip("\t")
            if line == delimiter:
                pos = min(end + 1, size)
                break
            if self.nested and line.startswith(delimiter):
                tail = line[len(delimiter) :]
                if tail.lstrip(" \t").startswith(")"):  # the parenthesis that ends the substitution
                    pos = end - len(tail)
                    break
            lines.append(line + "\n")
            pos = end + 1
        document.text = "".join(lines)
        document.body = self._heredoc_body(document, start)
        return min(pos, size)

    def _heredoc_line(self, pos: int, quoted: bool) -> tuple[str, int]:
        """The line at ``pos`` and its end; backslash-newline joins lines unless the delimiter was quoted."""
        text, size = self.text, self.size
        line = ""
        while True:
            end = text.find("\n", pos)
            end = end if end >= 0 else size
            line += text[pos:end]
            if quoted or end >= size or (len(line) - len(line.rstrip("\\"))) % 2 == 0:
                return line, end
            line = line[:-1]
            pos = end + 1

    def _warn_unterminated(self, delimiter: str, start: int) -> None:
        last = self.end_line() - 1
        begun = max(self.source.line(start) - 1, self.source.first_line)
        message = f"here-document at line {begun} delimited by end-of-file (wanted `{delimiter}')"
        self.source.warnings.append(ParseWarning(message, last))

    def _heredoc_body(self, document: HereDoc, start: int) -> Word:
        body = document.text
        if not body:
            return Word((), "", False)
        if document.quoted or not ("$" in body or "`" in body or "\\" in body):
            return Word((Quoted(body),), body, False, body)
        parts: list[Part]
        inner = Lexer(self.source.inner(body, start), level=self.level)
        try:
            parts = inner.double_quoted(0, "")[0]
        except ParseError as error:  # an error only when it is expanded
            parts = [BadSubst(body, error.msg)]
        lit = None
        if len(parts) == 1 and type(parts[0]) is Quoted:
            lit = parts[0].text
        return Word(tuple(parts), lit, False, body)

    # ------------------------------------------------------------------------------------------------- errors

    def syntax_error(self, token: str, value: Any, row: tuple[str, ...]) -> ParseError:
        """The error for a token that the grammar does not allow here."""
        expected = tuple(name for name in row if name not in ("EOF", "$end", "NEWLINE"))
        if token == "EOF" and value != ")":
            if self.nested:
                return self._unclosed_paren()
            if "NEWLINE" not in row and not self.text.endswith("\n"):  # bash reads a newline there
                return self.unexpected("newline", self.size, expected)
            error = self.error("syntax error: unexpected end of file", self.size, True, expected)
            error.line = self.end_line()
            return error
        shown = "newline" if token == "NEWLINE" else self.text[self.token_pos : self.pos] or ")"
        return self.unexpected(shown, self.token_pos, expected)
