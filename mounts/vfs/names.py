"""Names that are not UTF-8, kept in columns that must be.

A byte that is not part of valid UTF-8 (0x80 to 0xFF) is stored as the character U+F700 + byte, from the private use
area. A name that really has a character U+F780 to U+F7FF has each of its three bytes stored in that way. So every name
of bytes has exactly one stored form, and reading it back gives the same bytes.
"""
from __future__ import annotations

import re

FIRST, LAST = "\uf780", "\uf7ff"
_TO_STORE = re.compile("[\udc80-\udcff\uf780-\uf7ff]")
_STORED = re.compile("[\uf780-\uf7ff]")


def _store(match: re.Match[str]) -> str:
    char = match.group()
    if char <= "\udcff":
        return chr(0xF700 + (ord(char) & 0xFF))
    return "".join(chr(0xF700 + byte) for byte in char.encode())


def stored(name: str) -> str:
    """The text to store for a name (surrogateescape for bytes that are not UTF-8)."""
    return name if name.isascii() else _TO_STORE.sub(_store, name)


def usable(text: object) -> bool:
    """Can what a column holds be a name? Other programs have stored "..", and somebody with a shell anything at all."""
    return isinstance(text, str) and text not in ("", ".", "..") and "/" not in text and "\0" not in text


def shown(text: str | bytes) -> str:
    """The name that a stored text stands for; a blob, where somebody used the sqlite3 shell, for its bytes."""
    if isinstance(text, bytes):
        return text.decode("utf-8", "surrogateescape")
    if text.isascii() or not _STORED.search(text):
        return text
    out = bytearray()
    for char in text:
        if FIRST <= char <= LAST:
            out.append(ord(char) & 0xFF)
        else:
            out += char.encode("utf-8", "surrogateescape")
    return out.decode("utf-8", "surrogateescape")
