"""Quoting of words as bash prints them, so that its output can be read back as input."""
from __future__ import annotations

import re

# Texts, not compiled here: start-up pays for each; the module `re` keeps what was used.
_UNPRINTABLE = "[\x00-\x1f\x7f-\x9f\ud800-\udfff]"
_BACKSLASHED = r"[ \t\n'\"\\|&;()<>!{}*\[\]?^$`,]|\A[#~]|(?<=[:=])~"
_METACHARACTERS = r"[ \t\n'\"\\|&;()<>!{}*\[\]?^$`]|\A[#~]|(?<=[:=])~"
_IN_DOUBLE_QUOTES = r'([$`"\\])'
_NAMED = {"\a": "\\a", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f", "\r": "\\r", "\x1b": "\\E"}


def is_printable(text: str) -> bool:
    """No control characters and no bytes that are not UTF-8."""
    return (text.isascii() and text.isprintable()) or re.search(_UNPRINTABLE, text) is None


def ansi_c(text: str) -> str:
    """`$'...'`: every control character and undecodable byte as an escape."""
    text = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{re.sub(_UNPRINTABLE, _escape, text)}'"


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return _NAMED.get(char) or "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogateescape"))


def single(text: str) -> str:
    """`'...'`; a quote inside becomes `'\\''`, and a quote alone `\\'`."""
    return "\\'" if text == "'" else "'" + text.replace("'", "'\\''") + "'"


def shown(text: str) -> str:
    """A name in a message: as it is, unless it holds what does not print."""
    return text if is_printable(text) else ansi_c(text)


def quote(text: str) -> str:
    """As `${name@Q}`: always quoted."""
    return single(text) if is_printable(text) else ansi_c(text)


def backslash(text: str) -> str:
    """As `printf %q`: a backslash before each character that is special to the shell."""
    if not text:
        return "''"
    if not is_printable(text):
        return ansi_c(text)
    return re.sub(_BACKSLASHED, r"\\\g<0>", text)


def double(text: str) -> str:
    """As the values in `declare -p`: `"..."`, or `$'...'` for what does not print."""
    return '"' + re.sub(_IN_DOUBLE_QUOTES, r"\\\1", text) + '"' if is_printable(text) else ansi_c(text)


def minimal(text: str) -> str:
    """As the values in the listing of `set`: quoted only when the shell would not read it back as it is."""
    if not is_printable(text):
        return ansi_c(text)
    return single(text) if re.search(_METACHARACTERS, text) else text



def subscript(key: str) -> str:
    """A key of an associative array as `declare -p` prints it between brackets."""
    if not is_printable(key):
        return ansi_c(key)
    return double(key) if key in ("@", "*", "") or re.search(_METACHARACTERS, key) else key
