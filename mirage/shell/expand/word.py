"""Words to closures.

Three views of a part: `text` (one string, nothing split), `emit` (added to Fields, with splitting and globbing) and
`pattern` (a pattern in which quoted characters carry a backslash).
"""

from __future__ import annotations

import re

from mirage.shell import ast
from mirage.shell.expand import brace
from mirage.shell.expand.fields import DEFAULT_IFS, LARGE, MAGIC, NEEDS_WORK, Fields, join, split_text, star_separator
from mirage.shell.expand.param import compile_value, error_of, is_several, joins, special, uses_word
from mirage.text import pattern as patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from mirage.shell.expand.param import Value
    from mirage.shell.state import Shell

    Text: TypeAlias = Callable[[Shell], str]
    Emit: TypeAlias = Callable[[Shell, Fields], None]
    Expand: TypeAlias = Callable[[Shell], list[str]]


_NUMBER = re.compile(r"\s*-?(0|[1-9][0-9]{0,8})\s*")
_TRANSFORMATION = r"\$\{!?(?:[A-Za-z_][A-Za-z0-9_]*(?:\[[^]]*\])?|[0-9]+|[@*])@"

# ------------------------------------------------------------------------------------------------------ one string


def constant(value: str) -> Text:
    return lambda sh: value


def concatenation(texts: Sequence[Text]) -> Text:
    """The results of closures, joined."""
    if not texts:
        return constant("")
    if len(texts) == 1:
        return texts[0]
    if len(texts) == 2:
        first, second = texts

        def both(sh: Shell) -> str:
            head, tail = first(sh), second(sh)
            if len(head) + len(tail) > LARGE:
                sh.kernel.fits(len(head) + len(tail))
                sh.grow(len(head) + len(tail))
            return head + tail

        return both

    def all_of_them(sh: Shell) -> str:
        return join(sh, [text(sh) for text in texts])

    return all_of_them


def dquoted_text(parts: Sequence[ast.Part]) -> Text:
    """Parts expanded as if in double quotes, to one string (``$@`` joined with spaces)."""
    return concatenation([part_text(part, True) for part in parts])


def word_text(word: ast.Word) -> Text:
    """A word without splitting and globbing (an assigned value, a case word, a here-string)."""
    if word.lit is not None:
        return constant(word.lit)
    parts = brace.without(word.parts)
    return concatenation([part_text(part, False) for part in parts])


def part_text(part: ast.Part, quoted: bool) -> Text:
    if isinstance(part, ast.Lit | ast.Quoted):
        return constant(part.text)
    if isinstance(part, ast.DQuote):
        return dquoted_text(part.parts)
    if isinstance(part, ast.Param):
        return _param_text(part, quoted)
    if isinstance(part, ast.CmdSub):
        return _command_text(part, quoted)
    if isinstance(part, ast.Arith):
        return _arith_text(part)
    if isinstance(part, ast.Tilde):
        user = part.user
        return lambda sh: tilde(sh, user)
    if isinstance(part, ast.ProcSub):
        return _process_text(part)
    if isinstance(part, ast.BadSubst):
        return _bad_substitution(part)
    return constant(brace.source(part))


def _bad_substitution(part: ast.BadSubst) -> Text:
    message = part.error or f"{part.text}: bad substitution"

    transformation = re.match(_TRANSFORMATION, part.text)

    def fail(sh: Shell) -> str:
        if transformation:
            raise sh.fail(message, sh.fatal_status(), True)
        raise sh.bad_substitution(message)

    return fail


def _process_text(part: ast.ProcSub) -> Text:
    from mirage.shell.exec.substitution import located

    body = located(part)
    return lambda sh: sh.process_substitution(part.dir, body(sh))


def _command_text(part: ast.CmdSub, dquoted: bool) -> Text:
    body, error = part.body, part.error
    if error is None:
        from mirage.shell.exec.substitution import capture, located, with_aliases

        text = "" if part.backtick else part.text[2:-1]
        commands = located(part, dquoted)

        def substituted(sh: Shell) -> str:
            if text and sh.aliases and sh.shopt["expand_aliases"]:
                return capture(sh, with_aliases(sh, text, body))
            return capture(sh, commands(sh))

        return substituted

    def broken(sh: Shell) -> str:
        text = sh.capture(body)
        for line in error.lines(f"{sh.name}: command substitution"):
            sh.proc.write_error(line + "\n")
        sh.status = 1
        return text

    return broken


def _arith_text(part: ast.Arith) -> Text:
    number = computed(part)
    return lambda sh: str(number(sh))


def computed(part: ast.Arith) -> Callable[[Shell], int]:
    """The number of ``$((...))``; its errors are printed."""
    from mirage.shell.control import ArithError
    from mirage.shell.expand.arith import compile_arith

    number = compile_arith(part)

    def value(sh: Shell) -> int:
        try:
            return number(sh)
        except ArithError as error:
            error.report(sh)
            if sh.options.posix and not sh.interactive:
                error.fatal, error.status = True, sh.fatal_status()
            raise

    return value


def _param_text(part: ast.Param, quoted: bool) -> Text:
    name = part.name
    if not (part.op or part.sub or part.length or part.indirect):
        if name not in ("@", "*"):
            return plain(name)
        if name == "@":
            return lambda sh: join(sh, sh.positional, " ")
        return lambda sh: join(sh, sh.positional, star_separator(sh))
    value = compile_value(part, quoted)
    if uses_word(part):
        return _default_text(part, value, quoted)

    def text(sh: Shell) -> str:
        found = value(sh)
        return found if found.__class__ is str else _joined(sh, found)

    return text


def _joined(sh: Shell, value: Value) -> str:
    """The value of a Param as one string: several elements joined as the context without splitting does."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return join(sh, value.items, star_separator(sh) if value.star else " ")


def _default_text(part: ast.Param, value: Callable[[Shell], Value], quoted: bool) -> Text:
    assert isinstance(part.arg, ast.Word)
    default = concatenation([part_text(inner, quoted) for inner in part.arg.parts])

    def text(sh: Shell) -> str:
        found = value(sh)
        if found.__class__ is str:
            return found
        return default(sh) if found is None else _joined(sh, found)

    return text


def plain(name: str) -> Text:
    """``$name``: one dictionary look-up for an ordinary variable."""
    if name.isdigit() and name != "0":
        index = int(name) - 1

        def positional(sh: Shell) -> str:
            words = sh.positional
            if index < len(words):
                return words[index]
            if sh.options.nounset:
                raise error_of(sh, "$" + name)
            return ""

        return positional
    if not (name[0].isalpha() or name[0] == "_"):
        return special(name)

    def variable(sh: Shell) -> str:
        value = sh.vars.get(name)
        if value.__class__ is str:
            return value
        if value.__class__ is int:
            return str(value)
        if value is not None:
            value = sh.scalar(name, value)  # type: ignore[arg-type]
            if value is not None:
                return value
        if sh.options.nounset:
            raise error_of(sh, name)
        return ""

    return variable


def tilde(sh: Shell, user: str) -> str:
    """What ``~user`` stands for."""
    if not user:
        home = sh.get("HOME")
        return _home(sh, "") or "/" if home is None else home
    if user == "+":
        return sh.get("PWD") or "~+"
    if user == "-":
        return sh.get("OLDPWD") or "~-"
    if user.lstrip("+-").isdigit():
        stack = [sh.proc.cwd, *sh.dir_stack]
        index = int(user.lstrip("+-"))
        if index < len(stack):
            return stack[-1 - index] if user[0] == "-" else stack[index]
        return "~" + user
    return _home(sh, user) or "~" + user


def _home(sh: Shell, user: str) -> str | None:
    """The home directory of a user; '' means the one who runs the shell."""
    for uid, (name, home) in sh.machine.users.items():
        if name == user if user else uid == 1000:
            return home
    return None


# ---------------------------------------------------------------------------------------------------------- fields


def emit_part(part: ast.Part, quoted: bool, split: bool = False) -> Emit:
    """`split`: literal text counts as the result of an expansion (the word of ``${x:-word}``)."""
    if isinstance(part, ast.Quoted):
        text: str = part.text
        return lambda sh, fields: fields.quoted(text)
    if isinstance(part, ast.Lit):
        text = part.text
        if quoted:
            return lambda sh, fields: fields.quoted(text)
        if split:
            return lambda sh, fields: fields.expansion(text)
        return lambda sh, fields: fields.literal(text)
    if isinstance(part, ast.DQuote):
        return _emit_dquote(part.parts)
    if isinstance(part, ast.Param):
        return _emit_param(part, quoted)
    value = part_text(part, quoted)
    if quoted or isinstance(part, ast.Tilde | ast.ProcSub):
        return lambda sh, fields: fields.quoted(value(sh))
    return lambda sh, fields: fields.expansion(value(sh))


def may_be_several(parts: Sequence[ast.Part]) -> bool:
    """Can the parts make more or less than one field inside double quotes?"""
    for part in parts:
        if isinstance(part, ast.Param):
            if is_several(part) and not joins(part):
                return True
            if uses_word(part) and isinstance(part.arg, ast.Word) and may_be_several(part.arg.parts):
                return True
        elif isinstance(part, ast.DQuote) and may_be_several(part.parts):
            return True
    return False


def _emit_dquote(parts: Sequence[ast.Part]) -> Emit:
    if not may_be_several(parts):
        text = dquoted_text(parts)
        return lambda sh, fields: fields.quoted(text(sh))
    emits = []
    beside = any(isinstance(part, ast.Param) and is_several(part) and not uses_word(part) and not joins(part)
                 for part in parts)
    for part in parts:
        if may_be_several((part,)):
            emits.append(_emit_param(part, True, beside) if isinstance(part, ast.Param) else emit_part(part, True))
        elif isinstance(part, ast.Param) and part.op == "=" and part.sub is None and not part.indirect:
            emits.append(_emit_assigned(part))
        else:
            emits.append(_emit_unless_empty(part_text(part, True), _shows_empty(part)))

    def emit(sh: Shell, fields: Fields) -> None:
        for each in emits:
            each(sh, fields)

    return emit


def _emit_unless_empty(text: Text, shows: Callable[[Shell], bool] | None) -> Emit:
    """Beside ``"$@"`` an empty expansion makes no field of its own, unless `shows` says so."""

    def emit(sh: Shell, fields: Fields) -> None:
        value = text(sh)
        if value or shows is not None and shows(sh):
            fields.quoted(value)

    return emit


def _emit_assigned(part: ast.Param) -> Emit:
    """``${x=}`` beside ``"$@"``: a field, though empty, where it assigns."""
    text = part_text(part, True)
    value = compile_value(ast.Param(part.name, None, False, "", "-", ast.Word((), "", False)), True)

    def emit(sh: Shell, fields: Fields) -> None:
        assigns = value(sh) is None
        found = text(sh)
        if found or assigns:
            fields.quoted(found)

    return emit


def _shows_empty(part: ast.Part) -> Callable[[Shell], bool] | None:
    """bash quotes the result of some operators as such: it is a field even when it is empty."""
    if not isinstance(part, ast.Param) or part.length or part.indirect or is_several(part):
        return None
    if part.op == ":=":
        return lambda sh: True
    if part.sub is not None and not part.sub.word.text.isdigit():
        return None                                          # it is not to be worked out twice
    if part.op[:1] not in ("#", "%", "/", "^", ",", "~", "@") and part.op != ":":
        return None
    value = compile_value(ast.Param(part.name, part.sub, False, "", "-", ast.Word((), "", False)), True)
    if part.op[0] in "#%":
        return lambda sh: bool(value(sh))
    if part.op == ":" and isinstance(part.arg, ast.Arith) and _NUMBER.fullmatch(part.arg.word.text):
        start = int(part.arg.word.text)
        return lambda sh: (found := value(sh)) is not None and -len(found) <= start <= len(found)  # type: ignore[arg-type]
    return lambda sh: value(sh) is not None


def _emit_param(part: ast.Param, quoted: bool, beside: bool = False) -> Emit:
    """`beside`: a ``$@`` stands in the same double quotes, so that an empty list with an empty default is no field."""
    if not (part.op or part.sub or part.length or part.indirect):
        if part.name == "@":
            return lambda sh, fields: fields.several(sh.positional, quoted)
        if part.name == "*" and not quoted:
            return lambda sh, fields: fields.several(sh.positional, False)
        text = part_text(part, quoted)
        if quoted:
            return lambda sh, fields: fields.quoted(text(sh))
        return lambda sh, fields: fields.expansion(text(sh))
    value = compile_value(part, quoted)
    joiner = _null_ifs_joiner(part)
    word: list[Emit] = []
    is_default = uses_word(part)
    if is_default:
        assert isinstance(part.arg, ast.Word)
        word = [emit_part(inner, quoted, True) for inner in part.arg.parts]

    def emit(sh: Shell, fields: Fields) -> None:
        found = value(sh)
        if found.__class__ is str:
            if quoted:
                fields.quoted(found)
            else:
                fields.expansion(found)
        elif found is None:
            fresh = not fields.started
            for each in word:
                each(sh, fields)
            if beside and fresh:
                fields.forget_empty()
            if quoted and (is_default and not beside or not is_several(part)):
                fields.quoted("")
        elif quoted and found.star:  # type: ignore[union-attr]
            fields.quoted(_joined(sh, found))
        elif joiner is not None and not quoted and not fields.ifs:
            joined = joiner.join(found.items)  # type: ignore[union-attr]
            if joined:
                fields.literal(joined)
        else:
            fields.several(found.items, quoted)  # type: ignore[union-attr]

    return emit


def _null_ifs_joiner(part: ast.Param) -> str | None:
    """What bash joins the elements with where IFS is empty and they would be fields of their own; None: nothing."""
    if part.indirect == "keys":
        return " " if part.sub is not None and part.sub.star == "*" else None
    if part.indirect == "prefix*":
        return ""
    return " " if part.op in ("#", "##", "%", "%%") and part.name not in ("@", "*") else None


def compile_word(word: ast.Word) -> Expand:
    """All expansions: a closure that gives the fields."""
    text = single_field(word)
    if text is not None:
        return lambda sh: [text(sh)]
    if any(isinstance(part, ast.Brace | ast.BraceRange) for part in word.parts):
        return brace.compile_braces(word, compile_word)
    if len(word.parts) == 1:
        part = word.parts[0]
        if isinstance(part, ast.Param) and not is_several(part) and not uses_word(part):
            return _split(part_text(part, False))
        if isinstance(part, ast.CmdSub | ast.Arith):
            return _split(part_text(part, False))
        if isinstance(part, ast.DQuote) and len(part.parts) == 1:
            inner = part.parts[0]
            if isinstance(inner, ast.Param) and inner.name == "@" and not (inner.op or inner.length or inner.indirect):
                return lambda sh: list(sh.positional)
    emits = [emit_part(part, False) for part in word.parts]
    whole = _plain_text(word)

    def expand(sh: Shell) -> list[str]:
        if whole is not None:
            value = whole(sh)
            if value and NEEDS_WORK.search(value) is None and sh.vars.get("IFS") == DEFAULT_IFS:
                return [value]
        fields = Fields(sh)
        for emit in emits:
            emit(sh, fields)
        return fields.finish()

    return expand


def _plain_text(word: ast.Word) -> Text | None:
    """The text of a word of literals and variables, which can be read twice; None for any other word."""
    for part in word.parts:
        if isinstance(part, ast.Param):
            if part.op or part.indirect or part.length or part.sub is not None or is_several(part):
                return None
        elif not isinstance(part, ast.Lit):
            return None
    return concatenation([part_text(part, False) for part in word.parts])


def _split(text: Text) -> Expand:
    def expand(sh: Shell) -> list[str]:
        value = text(sh)
        if not value:
            return []
        if (value.isalnum() or NEEDS_WORK.search(value) is None) and sh.vars.get("IFS") == DEFAULT_IFS:
            return [value]
        return split_text(sh, value)

    return expand


def single_field(word: ast.Word) -> Text | None:
    """The closure of a word that always is exactly one field; None when it may be another number."""
    if word.lit is not None:
        return constant(word.lit) if not word.glob else None
    if not word.parts:
        return None
    for part in word.parts:
        if isinstance(part, ast.Quoted | ast.Tilde | ast.ProcSub):
            continue
        if isinstance(part, ast.Lit) and not MAGIC.search(part.text):
            continue
        if isinstance(part, ast.DQuote) and not may_be_several(part.parts):
            continue
        return None
    return concatenation([part_text(part, False) for part in word.parts])


def compile_words(words: Sequence[ast.Word]) -> Expand:
    """Several words: the fields of all."""
    texts = [single_field(word) for word in words]
    single = [text for text in texts if text is not None]
    if len(single) == len(texts):
        if len(single) == 1:
            only = single[0]
            return lambda sh: [only(sh)]
        if len(single) == 2:
            first, second = single
            return lambda sh: [first(sh), second(sh)]
        return lambda sh: [text(sh) for text in single]
    if len(words) == 1:
        return compile_word(words[0])
    if len(words) == 2 and texts[0] is not None:
        head, rest = texts[0], compile_word(words[1])
        return lambda sh: [head(sh), *rest(sh)]
    parts: list[tuple[Text | None, Expand]] = [
        (text, compile_word(word)) for text, word in zip(texts, words, strict=True)
    ]

    def expand(sh: Shell) -> list[str]:
        out: list[str] = []
        for text, fields in parts:
            if text is not None:
                out.append(text(sh))
            else:
                out += fields(sh)
        return out

    return expand


# -------------------------------------------------------------------------------------------------------- patterns


def pattern_text(parts: Sequence[ast.Part], quoted: bool = False) -> Text:
    """A pattern: what is quoted is escaped, results of unquoted expansions count as patterns."""
    return concatenation([_pattern_part(part, quoted) for part in brace.without(parts)])


def _pattern_part(part: ast.Part, quoted: bool) -> Text:
    if isinstance(part, ast.Lit):
        text = part.text
        return constant(patterns.escape(text) if quoted else text)
    if isinstance(part, ast.Quoted):
        return constant(patterns.escape(part.text))
    if isinstance(part, ast.DQuote):
        inner = dquoted_text(part.parts)
        return lambda sh: patterns.escape(inner(sh))
    if isinstance(part, ast.Tilde):
        inner = part_text(part, False)
        return lambda sh: patterns.escape(inner(sh))
    if isinstance(part, ast.Param) and uses_word(part) and not quoted:
        assert isinstance(part.arg, ast.Word)
        value = compile_value(part, False)
        default = pattern_text(part.arg.parts)

        def chosen(sh: Shell) -> str:
            found = value(sh)
            return default(sh) if found is None else _joined(sh, found)

        return chosen
    return part_text(part, quoted)


def compile_pattern(word: ast.Word, always_extglob: bool = False) -> Callable[[Shell], patterns.Pattern]:
    """A closure that gives the matcher of a case or ``[[ == ]]`` pattern, by the options of the shell."""
    text = pattern_text(word.parts)
    if all(isinstance(part, ast.Lit | ast.Quoted) for part in word.parts):
        return _constant_pattern(text, always_extglob)

    def pattern(sh: Shell) -> patterns.Pattern:
        shopt = sh.shopt
        return patterns.compile(text(sh), always_extglob or shopt["extglob"], shopt["nocasematch"])

    return pattern


def _constant_pattern(text: Text, always_extglob: bool) -> Callable[[Shell], patterns.Pattern]:
    known: dict[tuple[bool, bool], patterns.Pattern] = {}

    def pattern(sh: Shell) -> patterns.Pattern:
        shopt = sh.shopt
        key = shopt["extglob"], shopt["nocasematch"]
        found = known.get(key)
        if found is None:
            found = known[key] = patterns.compile(text(sh), always_extglob or key[0], key[1])
        return found

    return pattern
