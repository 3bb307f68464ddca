"""Perl expressions as grep -P, ripgrep and Oniguruma (jq) write them, adapted to the PCRE2 binding.

The binding compiles with PCRE2_ALT_BSUX (\\x needs two digits, no \\x{...}) and PCRE2_NEVER_BACKSLASH_C.
"""
from __future__ import annotations

from mirage.text.regex_parse import RegexError

_SPECIAL = frozenset("\\^$.[]|()*+?{}-/#&~ \t\n")


def translate(text: str, syntax: str = "perl") -> str:
    """The expression with escapes that the binding knows."""
    if "\\" not in text and syntax == "perl":
        return text
    out = []
    i, n = 0, len(text)
    in_set = 0
    while i < n:
        c = text[i]
        if c == "[" and (not in_set or not text.startswith("[:", i)):
            in_set = 1 if not in_set else in_set
        elif c == "]" and in_set:
            in_set = 0
        if c != "\\" or i + 1 >= n:
            out.append(c)
            i += 1
            continue
        following = text[i + 1]
        if following == "Q":
            end = text.find("\\E", i + 2)
            end = n if end < 0 else end
            out.append(text[i:end + 2])
            i = end + 2
            continue
        if following == "x" and text.startswith("{", i + 2):
            end = text.find("}", i)
            digits = text[i + 3:end] if end > 0 else ""
            out.append(_code(digits))
            i = end + 1
            continue
        if following == "h" and syntax == "oniguruma":
            out.append("0-9a-fA-F" if in_set else "[0-9a-fA-F]")
        elif following == "H" and syntax == "oniguruma":
            out.append("[^0-9a-fA-F]")
        elif following in "uUlL" and syntax == "perl":
            raise RegexError("PCRE2 does not support \\F, \\L, \\l, \\N{name}, \\U, or \\u")
        else:
            out.append(text[i:i + 2])
        i += 2
    return "".join(out)


def _code(digits: str) -> str:
    try:
        code = int(digits, 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise ValueError
    except ValueError:
        raise RegexError("character code point value in \\x{} or \\o{} is too large") from None
    if code < 256 and (code < 128 or len(digits) <= 2) and code < 128:
        return f"\\x{code:02x}"
    return chr(code)
