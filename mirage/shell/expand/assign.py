"""Assignments: ``name=value``, ``name[sub]+=value``, ``name=(...)``."""

from __future__ import annotations

from mirage.shell import ast
from mirage.shell.builtins import ArrayValue, Assignment
from mirage.shell.control import ArithError, ShellError
from mirage.shell.expand.fields import LARGE
from mirage.shell.expand.subscript import compile_key, text_key
from mirage.shell.expand.word import compile_word, compile_words, computed, dquoted_text, word_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from mirage.shell.state import Shell

    Assign: TypeAlias = Callable[[Shell], None]

__all__ = ["assign_array", "compile_assign", "compile_declaration", "element_key"]


_NONE = type(None)


def compile_assign(assign: ast.Assign) -> Assign:
    """A closure that does the assignment. Its errors (readonly, bad subscript, arithmetic) are printed ShellErrors."""
    name, value, append = assign.name, assign.value, assign.op == "+="
    if isinstance(value, ast.ArrayLit):
        if assign.sub is not None:
            return _array_to_element(assign)
        return _array(name, value, append)
    if assign.sub is not None:
        return _element(name, assign.sub, value, append)
    if append:
        return _append(name, word_text(value))
    if value.lit is not None:
        return _constant(name, value.lit)
    if len(value.parts) == 1 and isinstance(value.parts[0], ast.Arith):
        return _computed(name, value.parts[0])
    text = word_text(value)

    def plain(sh: Shell) -> None:
        new = text(sh)
        names = sh.vars
        kind = names.get(name).__class__
        if (kind is str or kind is int or kind is _NONE) and not sh.options.allexport:
            names[name] = new
        else:
            set_variable(sh, name, new)

    return plain


def _computed(name: str, arith: ast.Arith) -> Assign:
    """``name=$((...))``: an ordinary variable takes the number itself."""
    value = computed(arith)

    def assign(sh: Shell) -> None:
        number = value(sh)
        names = sh.vars
        kind = names.get(name).__class__
        if (kind is int or kind is str or kind is _NONE) and not sh.options.allexport:
            names[name] = number
        else:
            set_variable(sh, name, str(number))

    return assign


def set_variable(sh: Shell, name: str, value: str, append: bool = False) -> None:
    """`Shell.set` with its errors printed."""
    try:
        sh.set(name, value, append)
    except ShellError as error:
        raise _printed(sh, error) from None


def _printed(sh: Shell, error: ShellError) -> ShellError:
    """The error, printed; a wrong expression for an integer variable ends ``bash -c``."""
    error.report(sh)
    if isinstance(error, ArithError):
        error.fatal = sh.options.command
    return error


def _constant(name: str, value: str) -> Assign:
    def constant(sh: Shell) -> None:
        names = sh.vars
        kind = names.get(name).__class__
        if (kind is str or kind is int or kind is _NONE) and not sh.options.allexport:
            names[name] = value
        else:
            set_variable(sh, name, value)

    return constant


def _append(name: str, text: Callable[[Shell], str]) -> Assign:
    def append(sh: Shell) -> None:
        new = text(sh)
        old = sh.vars.get(name)
        if old.__class__ is str and not sh.options.allexport:
            size = len(old) + len(new)
            if size > LARGE:
                sh.kernel.fits(size)
                sh.grow(size)
            sh.vars[name] = old + new
        else:
            set_variable(sh, name, new, True)

    return append


def _element(name: str, sub: ast.Subscript, value: ast.Word, append: bool) -> Assign:
    text = word_text(value)
    key = compile_key(name, sub)
    label = f"{name}[{sub.word.text}]"

    def element(sh: Shell) -> None:
        new = text(sh)
        if not sub.word.parts or sub.star and not sh.is_assoc(name):
            raise sh.fail(f"{label}: bad array subscript")
        try:
            at = key(sh)
        except ArithError as error:
            raise _printed(sh, error) from None
        if at == "":
            raise sh.fail(f"{label}: bad array subscript")
        try:
            sh.set_element(name, at, new, append)
        except ShellError as error:
            raise _printed(sh, error) from None

    return element


def _array_to_element(assign: ast.Assign) -> Assign:
    assert assign.sub is not None
    label = f"{assign.name}[{assign.sub.word.text}]"

    def fail(sh: Shell) -> None:
        raise sh.fail(f"{label}: cannot assign list to array member")

    return fail


def _array(name: str, literal: ast.ArrayLit, append: bool) -> Assign:
    if all(sub is None for sub, _, _ in literal.items):
        return _plain_array(name, literal, append)
    value = compile_array(literal)

    def array(sh: Shell) -> None:
        new = value(sh)
        try:
            assign_array(sh, name, new, append)
        except ShellError as error:
            raise _printed(sh, error) from None

    return array


def _plain_array(name: str, literal: ast.ArrayLit, append: bool) -> Assign:
    """``(...)`` without subscripts: a list of fields, which only an associative array takes for keys and values."""
    fields = compile_words([word for _, _, word in literal.items]) if literal.items else lambda sh: []

    def array(sh: Shell) -> None:
        values = fields(sh)
        try:
            if sh.is_assoc(name):
                assign_array(sh, name, ArrayValue([(None, "=", value) for value in values]), append)
            elif append:
                sh.append_elements(name, values)
            else:
                sh.set_array(name, values)
        except ShellError as error:
            raise _printed(sh, error) from None

    return array


def compile_array(literal: ast.ArrayLit) -> Callable[[Shell], ArrayValue]:
    """A closure that expands the items of ``(...)``."""
    items: list[tuple[Callable[[Shell], str] | None, str, Callable[[Shell], str | list[str]]]] = []
    for sub, op, word in literal.items:
        if sub is None:
            items.append((None, "=", compile_word(word)))
        elif any(isinstance(part, ast.Brace | ast.BraceRange) for part in word.parts):
            # braces are expanded before the subscript is looked for: what they make are plain words
            parts = (ast.Lit("["), *sub.word.parts, ast.Lit("]" + op), *word.parts)
            items.append((None, "=", compile_word(ast.Word(parts, None, False))))
        else:
            items.append((dquoted_text(sub.word.parts), op, word_text(word)))

    def value(sh: Shell) -> ArrayValue:
        out: list[tuple[str | None, str, str]] = []
        for key, op, text in items:
            if key is None:
                out += [(None, "=", field) for field in text(sh)]
            else:
                out.append((key(sh), op, text(sh)))  # type: ignore[arg-type]
        return ArrayValue(out)

    return value


def element_key(sh: Shell, name: str, subscript: str) -> int | str:
    """The key for the text of a subscript of `name`, in which expansions are still to be done."""
    return text_key(sh, name, subscript)


def _plain_key(sh: Shell, name: str, text: str) -> int | str:
    """The key for the text of a subscript that is expanded already."""
    if sh.is_assoc(name):
        return text
    from mirage.shell.expand.arith import arith_eval

    return arith_eval(sh, text)


def assign_array(sh: Shell, name: str, value: ArrayValue, append: bool) -> None:
    """``name=(...)`` or ``name+=(...)``. ShellError when readonly or for a bad subscript."""
    assoc = sh.is_assoc(name)
    items = value.items
    plain = not assoc and all(key is None for key, _, _ in items)
    if append and plain:
        sh.append_elements(name, [item for _, _, item in items])
        return
    if not append:
        if plain:
            sh.set_array(name, [item for _, _, item in items])
            return
        sh.set_array(name, {}, assoc)
    if assoc:
        _assign_assoc(sh, name, items)
        return
    current = sh.array(name)
    at = max(current, default=-1) + 1 if current else 0  # type: ignore[operator]
    for key, op, item in items:
        if key is not None:
            at = _plain_key(sh, name, key)
        sh.set_element(name, at, item, op == "+=")
        at += 1


def _assign_assoc(sh: Shell, name: str, items: list[tuple[str | None, str, str]]) -> None:
    """Keys in brackets, or keys and values in turn."""
    if items and items[0][0] is None:
        words = [item for _, _, item in items]
        if len(words) % 2:
            words.append("")
        for key, item in zip(words[::2], words[1::2], strict=True):
            if not key:
                raise ShellError(f"{name}: bad array subscript")
            sh.set_element(name, key, item)
        return
    for subscript, op, item in items:
        if subscript is None:
            sh.error(f"{name}: {item}: must use subscript when assigning associative array")
        elif not subscript:
            raise ShellError(f"[]={item}: bad array subscript")
        else:
            sh.set_element(name, subscript, item, op == "+=")


def compile_declaration(assign: ast.Assign) -> Callable[[Shell], Assignment]:
    """An assignment argument of a declaration builtin, to be expanded only."""
    name, append = assign.name, assign.op == "+="
    key = dquoted_text(assign.sub.word.parts) if assign.sub is not None else None
    value: Callable[[Shell], str | ArrayValue]
    if isinstance(assign.value, ast.ArrayLit):
        value = compile_array(assign.value)
    else:
        value = word_text(assign.value)
    return lambda sh: Assignment(name, key(sh) if key is not None else None, value(sh), append)
