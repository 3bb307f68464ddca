"""Putting words together from their parts: tildes, braces, quote removal.

The reader (`mirage.shell.reader`) finds the parts; the functions here finish the word.
"""

from __future__ import annotations

import re

from mirage.shell.arith import LazyPattern, compile_parts, plain_subscript
from mirage.shell.ast import Brace, BraceRange, Lit, Quoted, Subscript, Tilde, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.shell.ast import Part

MAX_BRACES = 100

_GLOB = re.compile(r"[*?\[]|[@+!]\(")
_LOOKS_ASSIGNED = LazyPattern(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^]]*\])?\+?=")
_TILDE = LazyPattern(r"~([A-Za-z_][A-Za-z0-9_.-]*|[+-]?[0-9]+|[+-])?(?=/|:|$)")


def flush(parts: list[Part], plain: list[str]) -> None:
    """Make the collected text a Lit."""
    if plain:
        text = "".join(plain)
        if parts and type(parts[-1]) is Lit:
            parts[-1] = Lit(parts[-1].text + text)
        else:
            parts.append(Lit(text))
        plain.clear()


def add_quoted(parts: list[Part], text: str) -> None:
    """Append quoted text; neighbours become one part."""
    last = parts[-1] if parts else None
    if type(last) is Quoted:
        parts[-1] = Quoted(last.text + text)
    else:
        parts.append(Quoted(text))


def make_word(
    parts: list[Part], text: str, *, plain: bool = False, braces: bool = True, tilde: bool = False, posix: bool = False
) -> Word:
    """Finish a word. ``plain``: an operand of an expansion, without tildes (unless ``tilde``) and braces; ``posix``:
    a tilde in what only looks like an assignment stays."""
    if not parts:
        return Word((), "", False, text)
    if tilde or not plain:
        parts = _with_tilde(parts)
        if braces and not posix and "~" in text and "=" in text:
            parts = _like_assignment(parts)
    if braces and not plain:
        for part in parts:
            if type(part) is Lit and "{" in part.text:
                parts = expand_braces(parts)
                break
    return _finished(parts, text)


def make_assigned(parts: list[Part], text: str) -> Word:
    """Finish the value of an assignment: tildes also after each colon, no braces."""
    if not parts:
        return Word((), "", False, text)
    return _finished(_assigned(parts), text)


def _assigned(parts: list[Part]) -> list[Part]:
    result: list[Part] = []
    for part in _with_tilde(parts):
        if type(part) is not Lit or ":~" not in part.text:
            result.append(part)
            continue
        for index, piece in enumerate(re.split(":(?=~)", part.text)):
            if index:
                result.append(Lit(":"))
                result.extend(_tilde_first(piece))
            elif piece:
                result.append(Lit(piece))
    return result


def _like_assignment(parts: list[Part]) -> list[Part]:
    """``echo a=~/x``: tildes count as in an assignment, though it is none."""
    first = parts[0]
    match = _LOOKS_ASSIGNED.match(first.text) if type(first) is Lit else None
    if not match or type(first) is not Lit:
        return parts
    rest = first.text[match.end() :]
    value = [Lit(rest), *parts[1:]] if rest else parts[1:]
    return [Lit(match.group()), *(_assigned(value) if value else ())]


def _finished(parts: list[Part], text: str) -> Word:
    glob = False
    static: list[str] | None = []
    for part in parts:
        if type(part) is Lit:
            if not glob and text != "[" and _GLOB.search(part.text):
                glob = True
            if static is not None:
                static.append(part.text)
        elif type(part) is Quoted:
            if static is not None:
                static.append(part.text)
        else:
            static = None
    return Word(tuple(parts), None if static is None or glob else "".join(static), glob, text)


def _with_tilde(parts: list[Part]) -> list[Part]:
    first = parts[0]
    if type(first) is not Lit or not first.text.startswith("~"):
        return parts
    match = _TILDE.match(first.text)
    if not match or (match.end() == len(first.text) and len(parts) > 1):
        return parts
    return _tilde_first(first.text) + parts[1:]


def _tilde_first(text: str) -> list[Part]:
    match = _TILDE.match(text)
    if not match:
        return [Lit(text)]
    rest = text[match.end() :]
    parts: list[Part] = [Tilde(match.group(1) or "")]
    if rest:
        parts.append(Lit(rest))
    return parts


def arith_subscript(parts: tuple[Part, ...]) -> Subscript:
    """The subscript of a variable inside an expression, from the parts between the brackets."""
    expr = compile_parts(parts, arith_subscript)
    unquoted: list[Part] = []
    for part in parts:
        if type(part) is Lit and ("'" in part.text or "\\" in part.text or '"' in part.text):
            add_quoted(unquoted, unquote(part.text))
        else:
            unquoted.append(part)
    text = "".join(part.text if type(part) is Lit else "" for part in parts)
    return plain_subscript(make_word(unquoted, text, plain=True), expr)


# ----------------------------------------------------------------------------------------------------- braces

_RANGE = LazyPattern(r"([-+]?[0-9]+|[A-Za-z])\.\.([-+]?[0-9]+|[A-Za-z])(?:\.\.([-+]?[0-9]+))?\Z")


def expand_braces(parts: list[Part]) -> list[Part]:
    """Find ``{a,b}`` and ``{x..y}`` in the unquoted text of a word."""
    items: list[str | Part] = []
    for part in parts:
        if type(part) is Lit:
            items.extend(part.text)
        else:
            items.append(part)
    opened: list[int] = []
    closers: dict[int, int] = {}
    commas: dict[int, list[int]] = {}
    for index, item in enumerate(items):
        if item == "{":
            if index and items[index - 1] == "$":  # `$` that is no expansion: bash leaves ${ alone
                continue
            opened.append(index)
            commas[index] = []
            if len(opened) > MAX_BRACES:
                return parts
        elif item == "}" and opened:
            closers[opened.pop()] = index
        elif item == "," and opened:
            commas[opened[-1]].append(index)
    if not closers:
        return parts
    return _packed(_braced(items, 0, len(items), closers, commas))


def _braced(
    items: Sequence[str | Part], low: int, high: int, closers: dict[int, int], commas: dict[int, list[int]]
) -> list[str | Part]:
    result: list[str | Part] = []
    index = low
    while index < high:
        item = items[index]
        end = closers.get(index, high) if item == "{" else high
        if end >= high:
            result.append(item)
            index += 1
            continue
        if commas[index]:
            alternatives: list[Word] = []
            start = index + 1
            for comma in [*commas[index], end]:
                inner = _packed(_braced(items, start, comma, closers, commas))
                plain = index > 0  # a tilde only counts where the word begins
                alternatives.append(make_word(inner, "", braces=False, plain=plain) if inner else Word((), "", False))
                start = comma + 1
            result.append(Brace(tuple(alternatives)))
        else:
            sequence = _range(items[index + 1 : end])
            if sequence:
                result.append(sequence)
            else:
                result.append("{")
                result.extend(_braced(items, index + 1, end, closers, commas))
                result.append("}")
        index = end + 1
    return result


def _range(items: Sequence[str | Part]) -> BraceRange | None:
    text = "".join(item if isinstance(item, str) else HARD for item in items)
    match = _RANGE.match(text)
    if not match or match[1].lstrip("+-").isdigit() != match[2].lstrip("+-").isdigit():
        return None
    return BraceRange(match[1], match[2], match[3])


HARD = "\0"


def _packed(items: Sequence[str | Part]) -> list[Part]:
    parts: list[Part] = []
    plain: list[str] = []
    for item in items:
        if isinstance(item, str):
            plain.append(item)
        else:
            flush(parts, plain)
            parts.append(item)
    flush(parts, plain)
    return parts


# ----------------------------------------------------------------------------------------------------- quotes

_ANSI = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_ANSI_ESCAPE = (
    r"\\(?:(?P<plain>[abeEfnrtv\\'\"?])|(?P<oct>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})|x\{(?P<hexes>[0-9a-fA-F]+)\}"
    r"|u(?P<u>[0-9a-fA-F]{1,4})|U(?P<U>[0-9a-fA-F]{1,8})|c(?P<ctl>\\\\|.))"
)


def ansi_c(text: str) -> str:
    """Decode the inside of ``$'...'``. Bytes that do not make up UTF-8 become lone surrogates."""
    if "\\" not in text:
        return text
    text = re.sub(_ANSI_ESCAPE, _ansi_char, text, flags=re.S)
    if any("\udc80" <= char <= "\udcff" for char in text):
        text = _joined_bytes(text)
    return text.split("\0", 1)[0]


def _joined_bytes(text: str) -> str:
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a \\u escape named a surrogate
        return text


def _ansi_char(match: re.Match[str]) -> str:
    kind = match.lastgroup
    value = match[kind] if kind else ""
    if kind == "plain":
        return _ANSI[value]
    if kind == "ctl":
        return "\x7f" if value == "?" else chr(ord(value[0]) & 0x1F)
    if kind in ("oct", "hex", "hexes"):
        byte = int(value, 8 if kind == "oct" else 16) & 255
        return chr(byte) if byte < 128 else chr(0xDC00 + byte)
    code = int(value, 16)
    return chr(code) if code < 0x110000 else "\ufffd"


def skip_ansi_c(text: str, pos: int) -> int:
    """The position of the quote that ends ``$'...``, or one not below the length of the text."""
    size = len(text)
    while pos < size:
        char = text[pos]
        if char == "'":
            return pos
        pos += 2 if char == "\\" else 1
    return size


def unquote(text: str) -> str:
    """Remove quotes, without any expansion (here-document delimiters)."""
    out: list[str] = []
    pos = 0
    size = len(text)
    while pos < size:
        char = text[pos]
        if char == "\\":
            out.append(text[pos + 1 : pos + 2])
            pos += 2
        elif char == "'":
            end = text.find("'", pos + 1)
            end = end if end >= 0 else size
            out.append(text[pos + 1 : end])
            pos = end + 1
        elif char == '"':
            pos += 1
            while pos < size and text[pos] != '"':
                if text[pos] == "\\" and text[pos + 1 : pos + 2] in ('"', "\\", "$", "`"):
                    pos += 1
                out.append(text[pos])
                pos += 1
            pos += 1
        elif char == "$" and text[pos + 1 : pos + 2] == "'":
            end = skip_ansi_c(text, pos + 2)
            out.append(ansi_c(text[pos + 2 : end]))
            pos = end + 1
        elif char == "$" and text[pos + 1 : pos + 2] == '"':
            pos += 1
        else:
            out.append(char)
            pos += 1
    return "".join(out)
