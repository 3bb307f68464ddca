"""What GNU tools share about texts: quoting of names in messages, sizes with suffixes, human-readable numbers."""
from __future__ import annotations

import re

from mirage.commands._getopt import Spec, usage_error
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mirage.process.process import Process

_PLAIN = re.compile(r"[A-Za-z0-9%+,\-./:_\]@][A-Za-z0-9%+,\-./:_\]{}#~@]*\Z")
_DOUBLE_QUOTABLE = re.compile(r"[A-Za-z0-9%+,\-./:_\]{}#~@' ]*\Z")
_LETTER_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}


def locale_name(env: Mapping[str, str]) -> str:
    """The locale that rules character types: LC_ALL, else LC_CTYPE, else LANG."""
    return env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or "C"


def is_utf8(env: Mapping[str, str]) -> bool:
    return locale_name(env).upper().replace("-", "").endswith("UTF8")


def quote(proc: Process, text: str) -> str:
    """gnulib's quote(): ‘text’ in a UTF-8 locale, 'text' elsewhere; control characters escaped as in C."""
    left, right = ("\u2018", "\u2019") if is_utf8(proc.env) else ("'", "'")
    body = c_escape(text, right if right == "'" else "")
    return f"{left}{body}{right}"


def c_escape(text: str, quotes: str = '"') -> str:
    """Backslash escapes as in a C string literal; unprintable bytes in octal."""
    if text.isprintable() and "\\" not in text and not any(q in text for q in quotes):
        return text
    out = []
    for char in text:
        code = ord(char)
        if char == "\\" or char in quotes and quotes:
            out.append("\\" + char)
        elif code in _LETTER_ESCAPES:
            out.append(_LETTER_ESCAPES[code])
        elif 0xDC80 <= code <= 0xDCFF:
            out.append(f"\\{code - 0xDC00:03o}")
        elif char.isprintable():
            out.append(char)
        else:
            out.extend(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogateescape"))
    return "".join(out)


def shell_quote(text: str, always: bool = False) -> str:
    """gnulib's shell-escape style (quotef), with `always` its shell-escape-always (quoteaf)."""
    if text.isascii():
        if not always and _PLAIN.match(text) and text not in ("{", "}"):
            return text
        printable = text.isprintable()
    else:
        printable = text.isprintable()
        if printable and not always:
            ascii_part = "".join(c for c in text if c.isascii())
            if not ascii_part or _PLAIN.match("a" + ascii_part if not text[0].isascii() else ascii_part):
                return text
    if "'" not in text:
        if printable:
            return f"'{text}'"
    elif printable and _DOUBLE_QUOTABLE.match("".join(c for c in text if c.isascii())):
        return f'"{text}"'
    out = ["'"]
    escaping = False
    for char in text:
        if char.isprintable():
            if escaping:
                out.append("''")
                escaping = False
            out.append("'\\''" if char == "'" else char)
            continue
        if not escaping:
            out.append("'$'")
            escaping = True
        code = ord(char)
        if code in _LETTER_ESCAPES:
            out.append(_LETTER_ESCAPES[code])
        else:
            out.extend(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogateescape"))
    out.append("'")
    result = "".join(out)
    return result[2:] if result.startswith("''$'") else result


def missing_operand(proc: Process, spec: Spec, after: str | None = None) -> Exit:
    """Report `missing operand`; returns the Exit to raise."""
    text = "missing operand" if after is None else f"missing operand after {quote(proc, after)}"
    return usage_error(proc, spec, text)


def extra_operand(proc: Process, spec: Spec, operand: str) -> Exit:
    return usage_error(proc, spec, f"extra operand {quote(proc, operand)}")


def fatal(proc: Process, text: str, status: int = 1) -> Exit:
    """Print `NAME: text`; returns the Exit to raise."""
    proc.stdout.flush()
    proc.message(text)
    return Exit(status)


def choice(proc: Process, spec: Spec, option: str, value: str, allowed: Sequence[Sequence[str]]) -> str:
    """The first word of the group of synonyms that `value` names or abbreviates; gnulib's XARGMATCH."""
    for group in allowed:
        if value in group:
            return group[0]
    found = [group[0] for group in allowed if any(word.startswith(value) for word in group)] if value else []
    if len(found) == 1:
        return found[0]
    kind = "ambiguous" if len(found) > 1 else "invalid"
    lines = [f"{kind} argument {quote(proc, value)} for {quote(proc, option)}", "Valid arguments are:"]
    lines += ["  - " + ", ".join(quote(proc, word) for word in group) for group in allowed]
    usage_error(proc, spec, "\n".join(lines))
    raise Exit(1)


_POWERS = "KMGTPEZYRQ"
_SIZE = re.compile(r"[ \t\n\v\f\r]*\+?([0-9]*)([a-zA-Z]*)\Z")


def multiplier(suffix: str) -> int | None:
    """What a size suffix (K, KiB, kB, M, ..., b, c, w) multiplies by; None if there is no such suffix."""
    if not suffix:
        return 1
    if suffix in ("b", "c", "w"):
        return {"b": 512, "c": 1, "w": 2}[suffix]
    letter = "K" if suffix[0] == "k" else "M" if suffix[0] == "m" else suffix[0]
    if letter not in _POWERS:
        return None
    rest = suffix[1:]
    if rest in ("", "iB"):
        return int(1024 ** (_POWERS.index(letter) + 1))
    if rest in ("B", "D"):
        return int(1000 ** (_POWERS.index(letter) + 1))
    return None


def parse_size(text: str, suffixes: str = "bkKmMGTPEZYRQ") -> int | None:
    """A count with an optional suffix out of `suffixes`; None where GNU says that it is invalid."""
    found = _SIZE.match(text)
    if not found or not (found[1] or found[2]):
        return None
    digits, suffix = found[1], found[2]
    if suffix and suffix[0] not in suffixes:
        return None
    factor = multiplier(suffix)
    if factor is None or len(digits) > 4000:
        return None
    return (int(digits) if digits else 1) * factor


UINT64 = (1 << 64) - 1


def human(n: int, base: int = 1024) -> str:
    """`ls -h`: at most three digits, rounded up, with K, M, G (k for base 1000)."""
    if n < base:
        return str(n)
    unit, power = 1, 0
    while n >= unit * base and power < len(_POWERS):
        unit *= base
        power += 1
    tenths = -(-n * 10 // unit)
    if tenths < 100:
        text = f"{tenths // 10}.{tenths % 10}"
    else:
        whole = -(-n // unit)
        if whole >= base and power < len(_POWERS):
            power += 1
            text = "1.0"
        else:
            text = str(whole)
    letter = _POWERS[power - 1]
    return text + ("k" if base == 1000 and power == 1 else letter)


class BlockSize:
    """How du, df and ls print sizes: in units of `unit` bytes rounded up, or human-readable with `base`."""

    __slots__ = ("base", "suffix", "unit")

    def __init__(self, unit: int = 1024, suffix: str = "", base: int = 0) -> None:
        self.unit = unit
        self.suffix = suffix
        self.base = base

    def show(self, size: int) -> str:
        if self.base:
            return human(size, self.base)
        return f"{-(-size // self.unit)}{self.suffix}"


def block_size(proc: Process, text: str, option: str = "--block-size") -> BlockSize:
    """The argument of --block-size: `human-readable`, `si`, `1M`, `KB` (a bare suffix is printed too)."""
    text = text.removeprefix("'")
    if text and "human-readable".startswith(text):
        return BlockSize(base=1024)
    if text == "si":
        return BlockSize(base=1000)
    size = parse_size(text, "kKmMGTPEZYRQ")
    if size is None:
        suffix_error = re.match(r"[0-9]+[^0-9]", text) is not None
        raise fatal(proc, f"invalid suffix in {option} argument '{text}'" if suffix_error
                    else f"invalid {option} argument '{text}'")
    if size == 0:
        raise fatal(proc, f"invalid {option} argument '{text}'")
    suffix = "" if text[:1].isdigit() else text.replace("iB", "") if text.endswith("iB") else text
    return BlockSize(size, "k" if suffix == "KB" else suffix)


def default_block_size(proc: Process, names: Iterable[str]) -> BlockSize:
    """From the environment: the first of `names` (DU_BLOCK_SIZE, ...) and BLOCK_SIZE that is set."""
    for name in names:
        if text := proc.env.get(name):
            size = parse_size(text.removeprefix("'"), "kKmMGTPEZYRQ")
            if text in ("human-readable", "si"):
                return BlockSize(base=1024 if text != "si" else 1000)
            if size:
                return BlockSize(size, "" if text[:1].isdigit() else text)
    return BlockSize(512 if "POSIXLY_CORRECT" in proc.env else 1024)


def char_width(char: str) -> int:
    """Columns of one character: 0 for combining, 2 for wide, -1 for control characters."""
    code = ord(char)
    if code < 127:
        return 1 if code >= 32 else -1
    if code < 0x300:
        return 1 if code >= 0xA0 else -1
    import unicodedata
    category = unicodedata.category(char)
    if category in ("Mn", "Me", "Cf"):
        return 0
    if category in ("Cc", "Cs"):
        return -1
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def text_width(text: str) -> int:
    """Columns of a text; unprintable characters count nothing."""
    if text.isascii():
        return len(text) if text.isprintable() else sum(1 for c in text if 32 <= ord(c) < 127)
    return sum(max(0, char_width(c)) for c in text)
