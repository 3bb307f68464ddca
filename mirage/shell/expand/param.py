"""Parameter expansion: ``${...}`` with every operator, to closures that give a Value."""

from __future__ import annotations

import re

from mirage.shell import ast
from mirage.shell.control import ArithError, ShellError, SubstringError
from mirage.shell.expand.fields import LARGE, join, star_separator
from mirage.shell.state_vars import NAMEREF, Var
from mirage.text import pattern as patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from mirage.shell.state import Shell

    Value: TypeAlias = "str | Several | None"
    Scalar: TypeAlias = Callable[[Shell], str | None]
    List: TypeAlias = Callable[[Shell], list[str]]
    Change: TypeAlias = Callable[[str], str]

_TARGET = r"(?s:([A-Za-z_][A-Za-z0-9_]*)(?:\[(.+)\])?|[0-9]+|[@*#?$!-])"
_CHECK_EVERY = 1 << 14


class Several:
    """The elements that ``$@``, ``${a[*]}`` and the like expand to; `star`: in double quotes they are one field."""

    __slots__ = ("items", "star")

    def __init__(self, items: list[str], star: bool) -> None:
        self.items = items
        self.star = star


def is_several(part: ast.Param) -> bool:
    """May it expand to several elements? (An indirect one may: its target can be ``a[@]``.)"""
    if part.length:
        return False
    if part.indirect:
        return True
    return part.name in ("@", "*") or part.sub is not None and bool(part.sub.star)


def joins(part: ast.Param) -> bool:
    """Are its elements one field in double quotes (``"$*"``)?"""
    if part.indirect:
        return part.indirect == "prefix*" or part.indirect == "keys" and _star(part) == "*"
    return part.name == "*" or _star(part) == "*"


def uses_word(part: ast.Param) -> bool:
    """Is it one of ``${x-word}`` and ``${x+word}``, so that a Value of None stands for the word?"""
    return part.op in ("-", ":-", "+", ":+")


def error_of(sh: Shell, label: str) -> ShellError:
    """The error of ``set -u``, printed."""
    return sh.fail(f"{label}: unbound variable", sh.fatal_status(), True)


def special(name: str) -> Callable[[Shell], str]:
    """``$?``, ``$#``, ``$$``, ``$!``, ``$-`` and ``$0``."""
    if name == "?":
        return lambda sh: str(sh.status)
    if name == "#":
        return lambda sh: str(len(sh.positional))
    if name == "$":
        return lambda sh: str(sh.shell_pid)
    if name == "-":
        return lambda sh: sh.options.dash()
    if name == "0":
        return lambda sh: sh.name

    def last_background(sh: Shell) -> str:
        if sh.last_bg:
            return str(sh.last_bg)
        if sh.options.nounset:
            raise error_of(sh, "$!")
        return ""

    return last_background


def compile_value(part: ast.Param, quoted: bool) -> Callable[[Shell], Value]:
    """A closure that gives the Value of any Param. None: unset, or that the word of the operator is wanted."""
    indirect = part.indirect
    if indirect == "!":
        return _indirect(part, quoted)
    if indirect.startswith("prefix"):
        prefix, star = part.name, indirect.endswith("*")
        return _operated(part, None, lambda sh: _names(sh, prefix), star, quoted)
    if indirect == "keys":
        name, star = part.name, part.sub is not None and part.sub.star == "*"
        return _operated(part, None, lambda sh: sh.keys(name), star, quoted)
    if is_several(part):
        return _operated(part, None, _elements(part), part.name == "*" or _star(part) == "*", quoted)
    if part.length and (part.name in ("@", "*") or _star(part)):
        return _count(part)
    return _operated(part, _scalar(part), None, False, quoted)


def _star(part: ast.Param) -> str:
    return part.sub.star if part.sub is not None else ""


def _label(part: ast.Param) -> str:
    if part.sub is not None:
        return f"{part.name}[{part.sub.word.text}]"
    return part.name


def _dollar_label(part: ast.Param) -> str:
    """As `_label`; positional parameters with their ``$``, as the messages of ``set -u`` have it."""
    return f"${part.name}" if part.name.isdigit() else _label(part)


def _names(sh: Shell, prefix: str) -> list[str]:
    return sorted(
        name
        for name, var in sh.vars.items()
        if name.startswith(prefix) and (var.__class__ is not Var or var.value is not None or _hides_value(sh, name))
    )


def _hides_value(sh: Shell, name: str) -> bool:
    """Is there a value behind the local variable of that name? (bash lists the name then.)"""
    hidden = (scope.get(name) for scope in sh.scopes)
    return any(isinstance(var, str | int) or isinstance(var, Var) and var.value is not None for var in hidden)


# ---------------------------------------------------------------------------------------------- values without operator


def _scalar(part: ast.Param) -> Scalar:
    name = part.name
    if part.sub is not None:
        return _element(part)
    if name.isdigit() and name != "0":
        index = int(name) - 1
        return lambda sh: sh.positional[index] if index < len(sh.positional) else None
    if name == "!":
        return lambda sh: str(sh.last_bg) if sh.last_bg else None
    if name == "@" or name == "*":
        return lambda sh: join(sh, sh.positional, star_separator(sh) if name == "*" else " ")
    if not (name[0].isalpha() or name[0] == "_"):
        return special(name)

    def variable(sh: Shell) -> str | None:
        value = sh.vars.get(name)
        if value is None or isinstance(value, str):
            return value
        return sh.scalar(name, value)

    return variable


def _element(part: ast.Param) -> Scalar:
    from mirage.shell.expand.subscript import compile_key

    assert part.sub is not None
    name, key = part.name, compile_key(part.name, part.sub)
    if not part.sub.word.parts:
        message = f"{part.text}: bad substitution"

        def fail(sh: Shell) -> str | None:
            raise sh.bad_substitution(message)

        return fail

    def element(sh: Shell) -> str | None:
        try:
            at = key(sh)
        except ArithError as error:
            error.report(sh)
            error.fatal = sh.options.command
            raise
        return sh.get_element(name, at)

    return element


def _joined_elements(part: ast.Param) -> Scalar:
    """All elements with spaces between; None where there is nothing."""
    several = _elements(part)
    return lambda sh: " ".join(several(sh)) or None


def _elements(part: ast.Param) -> List:
    name = part.name
    if name in ("@", "*"):
        return lambda sh: sh.positional
    return lambda sh: sh.elements(name)


def _count(part: ast.Param) -> Callable[[Shell], Value]:
    name = part.name
    if name in ("@", "*"):
        return lambda sh: str(len(sh.positional))

    def count(sh: Shell) -> Value:
        values = sh.array(name)
        if not values and sh.options.nounset and sh.lookup(name) is None:
            raise sh.fail(f"{name}: unbound variable")
        return str(len(values))

    return count


# ----------------------------------------------------------------------------------------------------------- indirect


def _indirect(part: ast.Param, quoted: bool) -> Callable[[Shell], Value]:
    if part.sub is not None and part.sub.star:
        source = _joined_elements(part)
    else:
        source = _scalar(ast.Param(part.name, part.sub))
    name, label = part.name, _label(part)
    known: dict[str, Callable[[Shell], Value]] = {}

    def value(sh: Shell) -> Value:
        var = sh.vars.get(name)
        if isinstance(var, Var) and var.flags & NAMEREF and part.sub is None and var.value is not None:
            return var.value  # type: ignore[return-value]
        target = source(sh)
        if target is None:
            if part.sub is None and (sh.is_array(name) or isinstance(var, Var) and not var.flags & NAMEREF):
                return ""
            raise sh.fail(f"{label}: invalid indirect expansion")
        if not target and name in ("@", "*"):
            return ""
        found = known.get(target)
        if found is None:
            if len(known) >= 64:
                known.clear()
            found = known[target] = _compile_target(sh, part, target, quoted)
        return found(sh)

    return value


def _compile_target(sh: Shell, part: ast.Param, target: str, quoted: bool) -> Callable[[Shell], Value]:
    from mirage.shell.errors import ParseError
    from mirage.shell.parse import parse_subscript

    match = re.fullmatch(_TARGET, target)
    if match is None:
        raise sh.fail(f"{target}: invalid variable name")
    sub = None
    if match[2] is not None:
        try:
            sub = parse_subscript(match[2])
        except ParseError:
            raise sh.fail(f"{target}: invalid variable name") from None
    node = ast.Param(match[1] or target, sub, False, "", part.op, part.arg, part.arg2, part.text)
    return compile_value(node, quoted)


# ---------------------------------------------------------------------------------------------------------- operators


def _operated(
    part: ast.Param, scalar: Scalar | None, elements: List | None, star: bool, quoted: bool
) -> Callable[[Shell], Value]:
    """The operator of `part` applied to a scalar, or to all elements."""
    op = part.op
    if part.length:
        assert scalar is not None
        return _length(part, scalar)
    if op == "":
        if elements is not None:
            return lambda sh: Several(elements(sh), star)
        assert scalar is not None
        return _checked(part, scalar)
    if uses_word(part):
        return _default(op, scalar, elements, star)
    if op in ("=", ":="):
        return _assigning(part, scalar, elements, star)
    if op in ("?", ":?"):
        return _demanding(part, scalar, elements, star)
    if op == ":":
        return _substring(part, scalar, elements, star)
    if op[0] == "@" and op[1] in "AaKk":
        from mirage.shell.expand.transform import describe

        return describe(part, scalar, elements, star)
    changer = _changer(part, quoted)
    if elements is not None:
        return lambda sh: _change_all(sh, changer(sh), elements(sh), star)
    assert scalar is not None

    def change(sh: Shell) -> Value:
        value = scalar(sh)
        if value is None:
            if sh.options.nounset:
                raise error_of(sh, _dollar_label(part))
            return ""
        return changer(sh)(value)

    return change


def _change_all(sh: Shell, change: Change, values: Sequence[str], star: bool) -> Several:
    return Several([change(value) for value in values], star)


def _checked(part: ast.Param, scalar: Scalar) -> Callable[[Shell], Value]:
    label = _dollar_label(part)

    def checked(sh: Shell) -> Value:
        value = scalar(sh)
        if value is None:
            if sh.options.nounset:
                raise error_of(sh, label)
            return ""
        return value

    return checked


def _length(part: ast.Param, scalar: Scalar) -> Callable[[Shell], Value]:
    label = _dollar_label(part)
    name = part.name if part.sub is not None else ""
    bare = part.name

    def length(sh: Shell) -> Value:
        value = scalar(sh) if not name or name in sh.vars else None  # without a variable the subscript is not evaluated
        if value is None:
            if sh.options.nounset:
                raise error_of(sh, label)
            return "0"
        var = sh.vars.get(bare)
        if isinstance(var, Var) and var.flags & NAMEREF and not name and sh.resolve(bare)[1] is not None:
            return "0"                                       # a reference to an element has no length
        if not value.isascii() and counts_bytes(sh):
            return str(len(value.encode("utf-8", "surrogateescape")))
        return str(len(value))

    return length


def counts_bytes(sh: Shell) -> bool:
    """Is the locale one in which a character is a byte (``LC_ALL=C``)?"""
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        value = sh.get(name)
        if value:
            return value in ("C", "POSIX")
    return True


def _default(op: str, scalar: Scalar | None, elements: List | None, star: bool) -> Callable[[Shell], Value]:
    """``-``, ``:-``, ``+``, ``:+``: None where the word is to be used."""
    empty_counts = op[0] == ":"
    wants_set = op[-1] == "+"
    if elements is not None:

        def several(sh: Shell) -> Value:
            values = elements(sh)
            given = bool(values) and not (empty_counts and len(values) == 1 and not values[0])
            if wants_set:
                return None if given else Several([], star)
            return Several(values, star) if given else None

        return several
    assert scalar is not None
    if wants_set:

        def alternative(sh: Shell) -> Value:
            value = scalar(sh)
            return "" if value is None or empty_counts and not value else None

        return alternative
    if not empty_counts:
        return scalar
    return lambda sh: scalar(sh) or None


def _is_missing(op: str, values: Sequence[str] | None) -> bool:
    return not values or op[0] == ":" and len(values) == 1 and not values[0]


def _current(sh: Shell, scalar: Scalar | None, elements: List | None, star: bool) -> tuple[list[str], Value]:
    if elements is not None:
        values = elements(sh)
        return values, Several(values, star)
    assert scalar is not None
    value = scalar(sh)
    return [] if value is None else [value], value


def _assigning(
    part: ast.Param, scalar: Scalar | None, elements: List | None, star: bool
) -> Callable[[Shell], Value]:
    from mirage.shell.expand.word import word_text

    assert isinstance(part.arg, ast.Word)
    word = word_text(part.arg)
    name, sub = part.name, part.sub
    key = None
    if sub is not None and not sub.star:
        from mirage.shell.expand.subscript import compile_key

        key = compile_key(name, sub)

    def assign(sh: Shell) -> Value:
        values, value = _current(sh, scalar, elements, star)
        if not _is_missing(part.op, values):
            return value
        if not (name[0].isalpha() or name[0] == "_"):
            raise sh.fail(f"${name}: cannot assign in this way")
        if sub is not None and sub.star and not sh.is_assoc(name):
            raise sh.fail(f"{name}[{sub.star}]: bad array subscript")
        text = word(sh)
        try:
            if key is not None:
                sh.set_element(name, key(sh), text)
            elif sub is not None:
                sh.set_element(name, sub.star, text)
                return text
            else:
                sh.set(name, text)
        except ShellError as error:
            error.report(sh)
            raise
        assert scalar is not None
        return scalar(sh) or ""

    return assign


def _demanding(
    part: ast.Param, scalar: Scalar | None, elements: List | None, star: bool
) -> Callable[[Shell], Value]:
    from mirage.shell.expand.word import word_text

    assert isinstance(part.arg, ast.Word)
    word = word_text(part.arg) if part.arg.parts else None
    standard = "parameter null or not set" if part.op == ":?" else "parameter not set"

    def demand(sh: Shell) -> Value:
        values, value = _current(sh, scalar, elements, star)
        if not _is_missing(part.op, values):
            return value
        text = word(sh) if word is not None else standard
        raise sh.fail(f"{_label(part)}: {text}", sh.fatal_status(), True)

    return demand


# ---------------------------------------------------------------------------------------------------------- substring


def _substring(
    part: ast.Param, scalar: Scalar | None, elements: List | None, star: bool
) -> Callable[[Shell], Value]:
    from mirage.shell.expand.arith import compile_arith

    assert isinstance(part.arg, ast.Arith)
    offset = compile_arith(part.arg)
    length = compile_arith(part.arg2) if isinstance(part.arg2, ast.Arith) else None
    length_text = part.arg2.word.text if isinstance(part.arg2, ast.Arith) else ""
    name = part.name
    if length is None and not part.arg.word.text:

        def fail(sh: Shell) -> Value:
            raise sh.bad_substitution(f"{part.text}: bad substitution")

        return fail

    def numbers(sh: Shell) -> tuple[int, int | None]:
        try:
            return offset(sh), None if length is None else length(sh)
        except ArithError as error:
            error.report(sh, _label(part))
            raise

    if elements is not None:
        if name in ("@", "*"):

            def positional(sh: Shell) -> Value:
                start, count = numbers(sh)
                values = [sh.name, *sh.positional]
                return Several(_slice(sh, values, start, count, length_text, len(values)), star)

            return positional

        def sliced(sh: Shell) -> Value:
            if not sh.array(name):
                return Several([], star)
            start, count = numbers(sh)
            if not sh.is_array(name):
                value = sh.get(name) or ""
                begin, end = _bounds(sh, len(value), start, count, length_text)
                return Several([value[begin:end]], star)
            array = sh.array(name)
            if sh.is_assoc(name):
                place = start if start >= 0 else start + len(array) + 1  # bash counts these from 1
                if place < 0:
                    return Several([], star)
                values = list(array.values())
                return Several(_slice(sh, values, max(place - 1, 0), count, length_text, len(values)), star)
            if start < 0:
                start += (max(array) + 1) if array else 0  # type: ignore[operator]
                if start < 0:
                    return Several([], star)
            values = [value for key, value in array.items() if key >= start]  # type: ignore[operator]
            if not values:
                return Several([], star)
            return Several(_slice(sh, values, 0, count, length_text, len(values)), star)

        return sliced
    assert scalar is not None

    def substring(sh: Shell) -> Value:
        value = scalar(sh)
        if value is None:
            if sh.options.nounset:
                raise error_of(sh, _dollar_label(part))
            return ""
        start, count = numbers(sh)
        if not value.isascii() and counts_bytes(sh):
            data = value.encode("utf-8", "surrogateescape")
            begin, end = _bounds(sh, len(data), start, count, length_text)
            return data[begin:end].decode("utf-8", "surrogateescape")
        begin, end = _bounds(sh, len(value), start, count, length_text)
        return value[begin:end]

    return substring


def _substring_error(sh: Shell, text: str) -> SubstringError:
    error = SubstringError(f"{text.strip()}: substring expression < 0")
    error.report(sh)
    return error


def _bounds(sh: Shell, size: int, start: int, count: int | None, text: str) -> tuple[int, int]:
    if start < 0:
        start += size
    if start < 0 or start > size:
        return 0, 0
    if count is None:
        return start, size
    if count < 0:
        end = size + count
        if end < start:
            raise _substring_error(sh, text)
        return start, end
    return start, start + count


def _slice(sh: Shell, values: list[str], start: int, count: int | None, text: str, size: int) -> list[str]:
    if start < 0:
        start += size
        if start < 0:
            return []
    if count is None:
        return values[start:]
    if count < 0:
        if start > size:
            return []
        raise _substring_error(sh, text)
    return values[start : start + count]


# ---------------------------------------------------------------------------------------------------- changing texts


def _changer(part: ast.Param, quoted: bool) -> Callable[[Shell], Change]:
    """A closure that gives the function to apply to the value, or to each element."""
    op = part.op
    if op in ("#", "##"):
        return _remove_prefix(_pattern(part), op == "##")
    if op in ("%", "%%"):
        return _remove_suffix(_pattern(part), op == "%%")
    if op[0] == "/":
        return _replace(part, quoted)
    if op[0] in "^,~":
        from mirage.shell.expand.transform import case_change

        return case_change(op, _pattern(part) if isinstance(part.arg, ast.Word) and part.arg.parts else None)
    from mirage.shell.expand.transform import transform

    return transform(op)


def _pattern(part: ast.Param, nocase: bool = False) -> Callable[[Shell], patterns.Pattern]:
    from mirage.shell.expand.word import pattern_text

    assert isinstance(part.arg, ast.Word)
    text = pattern_text(part.arg.parts)
    make = patterns.compile
    if nocase:
        return lambda sh: make(text(sh), sh.shopt["extglob"], sh.shopt["nocasematch"])
    return lambda sh: make(text(sh), sh.shopt["extglob"])


def _remove_prefix(pattern: Callable[[Shell], patterns.Pattern], longest: bool) -> Callable[[Shell], Change]:
    def changer(sh: Shell) -> Change:
        matcher = pattern(sh)
        literal = matcher.literal
        if literal is not None:
            return lambda value: value.removeprefix(literal)

        def change(value: str) -> str:
            end = matcher.prefix(value, longest)
            return value if end <= 0 else value[end:]

        return change

    return changer


def _remove_suffix(pattern: Callable[[Shell], patterns.Pattern], longest: bool) -> Callable[[Shell], Change]:
    def changer(sh: Shell) -> Change:
        matcher = pattern(sh)
        literal = matcher.literal
        if literal is not None:
            return lambda value: value.removesuffix(literal)

        def change(value: str) -> str:
            start = matcher.suffix(value, longest)
            return value if start < 0 else value[:start]

        return change

    return changer


def _replace(part: ast.Param, quoted: bool) -> Callable[[Shell], Change]:
    pattern = _pattern(part, True)
    template = _replacement(part.arg2, quoted)
    op = part.op

    def changer(sh: Shell) -> Change:
        matcher = pattern(sh)
        replacement = template(sh)
        literal = matcher.literal
        if literal == "" and op in ("/", "//"):
            return lambda value: value
        if op == "/#":
            return lambda value: _replace_span(value, 0, matcher.prefix(value, True), replacement)
        if op == "/%":
            return lambda value: _replace_end(value, matcher.suffix(value, True), replacement)
        if literal is not None and replacement.__class__ is str:
            return lambda value: _replace_literal(sh, value, literal, replacement, op == "//")
        return lambda value: _replace_spans(sh, value, matcher, replacement, op == "//")

    return changer


def _put(replacement: str | tuple[str, ...], match: str) -> str:
    return replacement if replacement.__class__ is str else match.join(replacement)


def _replace_span(value: str, start: int, end: int, replacement: str | tuple[str, ...]) -> str:
    return value if end < 0 else value[:start] + _put(replacement, value[start:end]) + value[end:]


def _replace_end(value: str, start: int, replacement: str | tuple[str, ...]) -> str:
    return value if start < 0 else value[:start] + _put(replacement, value[start:])


def _replace_literal(sh: Shell, value: str, literal: str, replacement: str, everywhere: bool) -> str:
    if len(value) > LARGE or len(replacement) > LARGE:
        count = value.count(literal) if everywhere else 1
        sh.kernel.fits(len(value) + count * max(0, len(replacement) - len(literal)))
    return value.replace(literal, replacement) if everywhere else value.replace(literal, replacement, 1)


def _replace_spans(
    sh: Shell, value: str, matcher: patterns.Pattern, replacement: str | tuple[str, ...], everywhere: bool
) -> str:
    if everywhere and matcher.is_one_character():
        return _replace_characters(sh, value, matcher, replacement)
    out: list[str] = []
    done = total = 0
    for number, (start, end) in enumerate(matcher.spans(value)):
        text = _put(replacement, value[start:end])
        out.append(value[done:start])
        out.append(text)
        total += start - done + len(text)
        done = end
        if not everywhere:
            break
        if not number % _CHECK_EVERY:
            sh.kernel.fits(total)
            sh.kernel.check()
    out.append(value[done:])
    return "".join(out)


def _replace_characters(
    sh: Shell, value: str, matcher: patterns.Pattern, replacement: str | tuple[str, ...]
) -> str:
    table = {ord(char): _put(replacement, char) for char in set(value) if matcher.matches(char)}
    if len(value) <= LARGE:
        return value.translate(table)
    longest = max(map(len, table.values()), default=0)
    out: list[str] = []
    for start in range(0, len(value), LARGE):
        out.append(value[start : start + LARGE].translate(table))
        sh.kernel.fits(2 * max(len(value), start * longest))
        sh.kernel.check()
    return "".join(out)


def _replacement(word: ast.Word | ast.Arith | None, quoted: bool) -> Callable[[Shell], str | tuple[str, ...]]:
    """The replacement text; with ``patsub_replacement`` an unquoted ``&`` stands for the match."""
    from mirage.shell.expand.word import concatenation, part_text

    if not isinstance(word, ast.Word) or not word.parts:
        return lambda sh: ""
    plain = concatenation([part_text(part, quoted) for part in word.parts])
    if all(isinstance(part, ast.Quoted | ast.DQuote) for part in word.parts):
        return plain
    escaped = concatenation([_ampersands(part, quoted) for part in word.parts])
    if all(isinstance(part, ast.Lit | ast.Quoted) for part in word.parts):
        constant = _template(escaped(None))  # type: ignore[arg-type]
        fallback = plain(None)  # type: ignore[arg-type]
        return lambda sh: constant if sh.shopt["patsub_replacement"] else fallback

    def replacement(sh: Shell) -> str | tuple[str, ...]:
        if not sh.shopt["patsub_replacement"]:
            return plain(sh)
        text = escaped(sh)
        return _template(text) if "&" in text or "\\" in text else text

    return replacement


def _ampersands(part: ast.Part, quoted: bool) -> Callable[[Shell], str]:
    from mirage.shell.expand.word import part_text

    text = part_text(part, quoted)
    if isinstance(part, ast.Quoted | ast.DQuote):
        return lambda sh: text(sh).replace("\\", "\\\\").replace("&", "\\&")
    return text


def _template(text: str) -> str | tuple[str, ...]:
    pieces: list[str] = []
    piece = ""
    pos = 0
    while pos < len(text):
        char = text[pos]
        if char == "\\" and text[pos + 1 : pos + 2] in ("&", "\\"):
            piece += text[pos + 1]
            pos += 2
            continue
        if char == "&":
            pieces.append(piece)
            piece = ""
        else:
            piece += char
        pos += 1
    if not pieces:
        return piece
    return (*pieces, piece)



