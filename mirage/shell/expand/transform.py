"""``${x@Q}`` and its kin, ``${x^}`` and its kin."""

from __future__ import annotations

import re

from mirage.shell import ast
from mirage.shell.state_vars import ARRAY, ASSOC, Var, letters
from mirage.text import pattern as patterns
from mirage.text.quoting import double, quote, subscript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.shell.expand.param import Change, List, Scalar, Value
    from mirage.shell.state import Shell

_ESCAPE = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.))", re.S
)
_NAMED = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def _upper(char: str) -> str:
    changed = char.upper()
    return changed if len(changed) == 1 else char


def _lower(char: str) -> str:
    changed = char.lower()
    return changed if len(changed) == 1 else char


def _toggle(char: str) -> str:
    return _lower(char) if char.isupper() else _upper(char)


def upper(text: str) -> str:
    """To upper case, a character for a character."""
    changed = text.upper()
    return changed if len(changed) == len(text) else _each(_upper, text)


def lower(text: str) -> str:
    """To lower case, a character for a character."""
    changed = text.lower()
    return changed if len(changed) == len(text) and "Σ" not in text else _each(_lower, text)


def _each(change: Change, text: str) -> str:
    return text.translate({ord(char): change(char) for char in set(text)})


def case_change(
    op: str, pattern: Callable[[Shell], patterns.Pattern] | None
) -> Callable[[Shell], Change]:
    """``^ ^^ , ,, ~ ~~``: the first or all characters, where they match the pattern (None: any)."""
    each = {"^": _upper, ",": _lower, "~": _toggle}[op[0]]
    if len(op) == 1:

        def first(sh: Shell) -> Change:
            matcher = pattern(sh) if pattern is not None else None

            def change(value: str) -> str:
                if not value or matcher is not None and not matcher.matches(value[0]):
                    return value
                return each(value[0]) + value[1:]

            return change

        return first
    whole = {"^": upper, ",": lower}.get(op[0])

    def every(sh: Shell) -> Change:
        if pattern is None:
            return whole if whole is not None else lambda value: _each(each, value)
        matcher = pattern(sh)

        def change(value: str) -> str:
            table = {char: each(char) for char in set(value) if matcher.matches(char)}
            return value.translate({ord(char): changed for char, changed in table.items()})

        return change

    return every


def transform(op: str) -> Callable[[Shell], Change]:
    """``@U @u @L @Q @E @P``."""
    if op == "@P":
        from mirage.shell.expand.prompt import expand_prompt

        return lambda sh: lambda value: expand_prompt(sh, value)
    change = _TRANSFORMATIONS[op]
    return lambda sh: change


def _capitalized(text: str) -> str:
    return upper(text[:1]) + text[1:]


def unescape(text: str) -> str:
    """Backslash escapes decoded as in ``$'...'``."""
    if "\\" not in text:
        return text
    text = _ESCAPE.sub(_decode, text)
    if any("\udc80" <= char <= "\udcff" for char in text):  # bytes may have become characters
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    return text.partition("\0")[0]


def _decode(match: re.Match[str]) -> str:
    named, two, four, eight, octal, control = match.groups()
    if named:
        return _NAMED.get(named, named)
    if control:
        return chr(ord(control.upper()) ^ 64) if control != "?" else "\x7f"
    if octal or two:
        byte = int(octal, 8) & 255 if octal else int(two, 16)
        return chr(byte) if byte < 128 else chr(0xDC00 + byte)
    code = int(four or eight, 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else match[0]


_TRANSFORMATIONS: dict[str, Change] = {"@U": upper, "@L": lower, "@u": _capitalized, "@Q": quote, "@E": unescape}


def describe(part: ast.Param, scalar: Scalar | None, elements: List | None, star: bool) -> Callable[[Shell], Value]:
    """``@A @a @K @k``, which tell of the variable as well as of its value."""
    from mirage.shell.expand.param import Several, error_of

    op, name = part.op[1], part.name

    def several(sh: Shell) -> Value:
        if name in ("@", "*"):
            return Several(_positional(sh, op), star)
        flags = sh.flags(name)
        array = sh.array(name)
        if op == "a":
            return Several([letters(flags)] * len(array) if flags else [], star)
        if op == "A":
            if not array and not flags & ARRAY:
                return Several([], star)
            text = declaration(sh, name)
            return Several(text.split(" ", 2) if " " in (sh.get("IFS") or " ") else [text], star)
        if not flags & ARRAY:
            return Several([quote(value) for value in array.values()], star)
        if op == "k":
            return Several([text for key, value in array.items() for text in (str(key), value)], star)
        return Several([_pairs(array, bool(flags & ASSOC))] if array else [], star)

    def single(sh: Shell) -> Value:
        assert scalar is not None
        value = scalar(sh)
        flags = sh.flags(name)
        if value is None and sh.options.nounset and sh.lookup(name) is None:
            raise error_of(sh, name)
        if op == "a":
            return letters(flags) if sh.lookup(name) is not None else ""
        if op == "A":
            return _declare_scalar(name, flags, value) if sh.lookup(name) is not None else ""
        return "" if value is None else quote(value)

    return several if elements is not None else single


def _positional(sh: Shell, op: str) -> list[str]:
    words = sh.positional
    if op == "A":
        return ["set", "--", *map(quote, words)] if words else []
    if op == "a":
        return [""] * len(words)
    return [quote(word) for word in words]


def _declare_scalar(name: str, flags: int, value: str | None) -> str:
    if value is None:
        return f"declare -{letters(flags)} {name}" if flags else ""
    return f"declare -{letters(flags)} {name}={quote(value)}" if flags else f"{name}={quote(value)}"


def _pairs(array: dict[int, str] | dict[str, str], assoc: bool) -> str:
    pairs = [f"{subscript(str(key)) if assoc else key} {double(value)}" for key, value in array.items()]
    return " ".join(pairs) + (" " if assoc else "")


def declaration(sh: Shell, name: str) -> str:
    """``declare -a name=([0]="x")`` of an array, as `declare -p` prints it."""
    name, _ = sh.resolve(name)
    flags = sh.flags(name)
    assoc = bool(flags & ASSOC)
    found = sh.lookup(name)
    if isinstance(found, Var) and found.value is None:
        return f"declare -{letters(flags)} {name}"
    keys = [subscript(str(key)) if assoc else str(key) for key in sh.array(name)]
    items = " ".join(f"[{key}]={double(value)}" for key, value in zip(keys, sh.elements(name), strict=True))
    if not flags & ARRAY:
        return _declare_scalar(name, flags, sh.get(name))
    return f"declare -{letters(flags)} {name}=({items}{' ' if assoc and items else ''})"
