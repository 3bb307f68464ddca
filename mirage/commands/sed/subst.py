"""The substitution of `s`, compiled to a function on one pattern space."""
from __future__ import annotations

import re

from mirage.text import blocks
from mirage.text.pause import pause, reserve
from mirage.text.regex import next_char

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.commands.sed.script import Piece, Substitution
    from mirage.text.regex import Regex, Span

    Build = Callable[[bytes, list[Span]], bytes]


def builder(pieces: list[Piece]) -> Build:
    """A function (data, spans) -> the replacement's text."""
    if not pieces:
        return lambda data, spans: b""
    if any(p.mode or p.first for p in pieces):
        return lambda data, spans: _with_case(pieces, data, spans)
    if all(p.ref < 0 for p in pieces):
        fixed = b"".join(p.prefix for p in pieces)
        return lambda data, spans: fixed
    parts = [(p.prefix, p.ref) for p in pieces]
    if len(parts) == 1 and parts[0][1] >= 0:
        prefix, ref = parts[0]

        def one(data: bytes, spans: list[Span]) -> bytes:
            start, end = spans[ref]
            return prefix + data[start:end] if start >= 0 else prefix

        return one

    def build(data: bytes, spans: list[Span]) -> bytes:
        out = []
        for prefix, ref in parts:
            if prefix:
                out.append(prefix)
            if ref >= 0:
                start, end = spans[ref]
                if start >= 0:
                    out.append(data[start:end])
        return b"".join(out)

    return build


def fixed_text(pieces: list[Piece]) -> bytes | None:
    """The replacement where it does not depend on the match."""
    if any(p.ref >= 0 or p.mode or p.first for p in pieces):
        return None
    return b"".join(p.prefix for p in pieces)


def _with_case(pieces: list[Piece], data: bytes, spans: list[Span]) -> bytes:
    out: list[bytes] = []
    waiting = ""                                             # \\u or \\l that met only empty text so far
    for p in pieces:
        first = p.first or waiting
        waiting = ""
        if p.prefix:
            out.append(_cased(p.prefix, p.mode, first))
            first = ""
        if p.ref >= 0:
            start, end = spans[p.ref]
            text = data[start:end] if start >= 0 else b""
            if text:
                out.append(_cased(text, p.mode, first))
            else:
                waiting = first
        elif first and not p.prefix:
            waiting = first
    return b"".join(out)


def _cased(raw: bytes, mode: str, first: str) -> bytes:
    text = raw.decode("utf-8", "surrogateescape")
    if mode == "U":
        text = _simple_upper(text)
    elif mode == "L":
        text = _simple_lower(text)
    if first:
        head = _simple_upper(text[0]) if first == "u" else _simple_lower(text[0])
        text = head + text[1:]
    return text.encode("utf-8", "surrogateescape")


def _simple_upper(text: str) -> str:
    """towupper(3): characters whose upper case is longer stay."""
    if text.isascii():
        return text.upper()
    return "".join(u if len(u := c.upper()) == 1 else c for c in text)


def _simple_lower(text: str) -> str:
    if text.isascii():
        return text.lower()
    return "".join(u if len(u := c.lower()) == 1 else c for c in text)


def substitute(data: bytes, regex: Regex, build: Build, number: int, everywhere: bool, utf8: bool) -> bytes | None:
    """`data` with the matches from the `number`th on replaced (only that one unless `everywhere`), None: no match."""
    find = regex.bind(data)
    end = len(data)
    spans = find(0, end)
    if spans is None:
        return None
    out: list[bytes] = []
    copied = pos = count = size = 0
    mark = LARGE
    last = -1
    while spans is not None:
        start, stop = spans[0]
        if start != stop or start != last:
            count += 1
            if count >= number:
                out.append(data[copied:start])
                text = build(data, spans)
                out.append(text)
                size += len(text)
                if size > mark:
                    reserve(3 * (size + end))
                    mark = 2 * size
                if not count % PAUSE_EVERY:
                    pause()
                copied = stop
                if not everywhere:
                    break
        if start == stop:
            pos = next_char(data, stop) if utf8 else stop + 1
            if pos > end:
                break
        else:
            pos = last = stop
        spans = find(pos, end)
    if count < number:
        return None
    out.append(data[copied:])
    return b"".join(out)


def compile_substitution(sub: Substitution, utf8: bool) -> Callable[[bytes, Regex], bytes | None]:
    """A function (pattern space, regex) -> the new pattern space, or None where nothing matched."""
    build = builder(sub.pieces)
    number, everywhere = sub.number, sub.everywhere
    fixed = fixed_text(sub.pieces)

    def general(data: bytes, regex: Regex) -> bytes | None:
        return substitute(data, regex, build, number, everywhere, utf8)

    if fixed is None or number != 1:
        return general
    text = fixed

    def literal(data: bytes, regex: Regex) -> bytes | None:
        if regex.literal_only and (old := regex.literal):
            if old not in data:
                return None
            if len(data) > LARGE or len(text) > LARGE:
                reserve(len(data) + data.count(old) * len(text))
            return data.replace(old, text) if everywhere else data.replace(old, text, 1)
        if regex.literal is not None and regex.literal not in data:
            return None
        return substitute(data, regex, build, 1, everywhere, utf8)

    return literal


LARGE = 1 << 16                                              # bytes from which a result is checked against the limit
PAUSE_EVERY = 4096                                           # matches


_NUMBERED = re.compile(rb"\\[1-9gk]|\(\?[(0-9R&P+]")
"""What in an expression may refer to a group by its number."""


def block_substitution(sub: Substitution) -> Callable[[bytes], bytes] | None:
    """A function on blocks of whole lines that does to each line what the command does; None where it cannot.

    The replacement must bring no newline.
    """
    regex = sub.regex.for_lines() if sub.regex is not None else None
    if regex is None or sub.number != 1 or any(b"\n" in p.prefix for p in sub.pieces):
        return None
    build = builder(sub.pieces)
    fixed = fixed_text(sub.pieces)
    everywhere = sub.everywhere
    if fixed is not None and regex.literal_only and regex.literal:
        return _literal_block(regex.literal, fixed, everywhere)
    edge = regex.only_edge()
    if edge and fixed is not None:
        added = fixed
        if edge == "^":
            return lambda data: added + data[:-1].replace(b"\n", b"\n" + added) + b"\n"
        return lambda data: data.replace(b"\n", added + b"\n")
    whole = not everywhere and any(p.ref == 0 for p in sub.pieces)   # what `&` is needs a group beside the rest
    template = _template(sub.pieces, int(whole))
    opening = b"(" if whole else b"(?:"
    rest, restored = (b"", b"") if everywhere else (rb"([^\n]*+)", b"${%d}" % (regex.groups + 1 + whole))

    def run(data: bytes) -> bytes:
        if regex.literal is not None and regex.literal not in data:
            return data
        if template is not None and (fixed == b"" or not regex.may_be_empty()):
            source = blocks.plain_source(regex, data)
            if source is not None and not (whole and _NUMBERED.search(source)):
                try:
                    return blocks.substitute(opening + source + b")" + rest, template + restored, data)[0]
                except blocks.Unsuited:
                    pass
        return _substitute_block(data, regex, build, everywhere)

    return run


def _literal_block(old: bytes, new: bytes, everywhere: bool) -> Callable[[bytes], bytes]:
    if everywhere:
        return lambda data: data.replace(old, new)
    template = new.replace(b"$", b"$$") + b"$1"

    def run(data: bytes) -> bytes:
        if old not in data:
            return data
        try:
            return blocks.substitute(blocks.literal(old) + rb"([^\n]*+)", template, data)[0]
        except blocks.Unsuited:
            return b"\n".join([line.replace(old, new, 1) for line in data.split(b"\n")])

    return run


def _template(pieces: list[Piece], shift: int) -> bytes | None:
    """The replacement as PCRE2 writes it, with the numbers of groups moved by `shift`."""
    if any(p.mode or p.first for p in pieces):
        return None
    return b"".join(p.prefix.replace(b"$", b"$$") + (b"${%d}" % (p.ref + shift) if p.ref >= 0 else b"") for p in pieces)


def _substitute_block(data: bytes, regex: Regex, build: Build, everywhere: bool) -> bytes:
    find = regex.bind(data)
    newline = data.find
    end = len(data) - 1
    out: list[bytes] = []
    copied = pos = 0
    last = -1
    while pos <= end:
        spans = find(pos, end)
        if spans is None:
            break
        start, stop = spans[0]
        if start == stop:
            pos = next_char(data, stop)
            if start == last:
                continue
        else:
            pos = last = stop
        out.append(data[copied:start])
        out.append(build(data, spans))
        if not len(out) % PAUSE_EVERY:
            pause()
        copied = stop
        if not everywhere:
            pos = newline(b"\n", stop) + 1
            if not pos:
                break
    out.append(data[copied:])
    return b"".join(out)
