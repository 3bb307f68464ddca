"""Whole blocks of lines worked on in C: PCRE2's substitute, compiled to machine code.

Only for patterns whose time is known to be bounded (fixed strings, single characters, `Regex.python()`): PCRE2 cannot
be stopped in one call. Blocks are bytes; a pattern is bytes of PCRE2's syntax where ^ and $ are those of lines.
"""
from __future__ import annotations

from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.text.regex import Regex

NEWLINE = b"\n"
SHORT = 200                                                  # bytes of a line for which its square is no matter
_MARKS = b"\x01\x02\x03\x04\x05\x06\x0e\x0f"
_SPECIAL = frozenset(b"\\^$.|?*+()[]{}-#& \t")


class Unsuited(Exception):
    """PCRE2 could not do it in its limits: take the plain way."""


@lru_cache(256)
def _code(pattern: bytes) -> Any:
    from pcre2 import LibraryError, PatternError, _cy
    try:
        code = _cy.compile(b"(*LF)(?m)" + pattern, 0)
        _cy.jit_compile(code)
    except (LibraryError, PatternError):
        return None
    return code


def substitute(pattern: bytes, template: bytes, block: bytes) -> tuple[bytes, int]:
    """(the block with every match replaced, number of matches). `$1` in the template is a group, `$$` a dollar.

    Raises Unsuited.
    """
    from pcre2 import LibraryError, _cy
    code = _code(pattern)
    if code is None:
        raise Unsuited
    try:
        found: tuple[bytes, int] = _cy.substitute(
            code, template, block, 0, options=int(_cy.SubstituteOption.GLOBAL | _cy.SubstituteOption.UNSET_EMPTY))
    except LibraryError:
        raise Unsuited from None
    return found


def literal(text: bytes) -> bytes:
    """The pattern that matches just these bytes."""
    return b"".join(b"\\" + bytes((c,)) if c in _SPECIAL else b"\\x%02x" % c if c < 32 else bytes((c,)) for c in text)


def plain_source(regex: Regex, block: bytes) -> bytes | None:
    """The pattern of a Regex of lines, where it is one of bounded time over this block; else None."""
    if not block.isascii():
        return None
    plain = regex.python()
    if plain is None or plain[1] and not has_short_lines(block, SHORT):
        return None
    return (b"(?i)" if regex.icase else b"") + plain[0].pattern


def has_short_lines(block: bytes, limit: int) -> bool:
    """Is no line longer than `limit`, about? (Surely none is longer than twice that.)"""
    at, total, rfind = 0, len(block), block.rfind
    while total - at > limit:
        end = rfind(NEWLINE, at, at + limit) + 1
        if not end:
            return False
        at = end
    return True


class Marked:
    """A block in which the lines that match carry a mark at their end. count: how many they are."""

    __slots__ = ("count", "mark", "text")

    def __init__(self, text: bytes, mark: bytes, count: int) -> None:
        self.text = text
        self.mark = mark
        self.count = count

    def select(self, invert: bool) -> bytes:
        """The matching lines, or the others; each with a newline at its end."""
        sign = b"=" if invert else b"!"
        kept, _ = substitute(rb"^[^\n]*+(?<" + sign + literal(self.mark) + rb")\n", b"", self.text)
        return kept if invert else kept.translate(None, self.mark)


def mark_lines(pattern: bytes, block: bytes) -> Marked:
    """Search every line of a block; a newline is added where the last one has none. The pattern must not match
    nothing, and no newline. Raises Unsuited."""
    mark = next((bytes((c,)) for c in _MARKS if c not in block), None)
    if mark is None:
        raise Unsuited
    if block[-1:] != NEWLINE:
        block += NEWLINE
    text, count = substitute(b"(?:" + pattern + rb")[^\n]*+", b"$0" + mark, block)
    return Marked(text, mark, count)


__all__ = ["Marked", "Unsuited", "has_short_lines", "literal", "mark_lines", "plain_source", "substitute"]
