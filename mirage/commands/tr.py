"""tr: translate, squeeze, or delete bytes (GNU coreutils 9.7)."""
from __future__ import annotations

import re

from mirage.commands._getopt import NONE, Spec, parse, usage_error
from mirage.commands._io import chunks, encode
from mirage.commands._text import fatal, missing_operand, quote
from mirage.text.blocks import Unsuited, substitute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("cCdst", {
    "complement": ("c", NONE), "delete": ("d", NONE), "squeeze-repeats": ("s", NONE), "truncate-set1": ("t", NONE)},
    permute=False, help="""\
Usage: NAME [OPTION]... STRING1 [STRING2]
Translate, squeeze, and/or delete characters from standard input,
writing to standard output.  STRING1 and STRING2 specify arrays of
characters ARRAY1 and ARRAY2 that control the action.

  -c, -C, --complement    use the complement of ARRAY1
  -d, --delete            delete characters in ARRAY1, do not translate
  -s, --squeeze-repeats   replace each sequence of a repeated character
                            that is listed in the last specified ARRAY,
                            with a single occurrence of that character
  -t, --truncate-set1     first truncate ARRAY1 to length of ARRAY2
      --help        display this help and exit
      --version     output version information and exit
""")
CLASSES: dict[str, bytes] = {
    "alnum": bytes([*range(48, 58), *range(65, 91), *range(97, 123)]),
    "alpha": bytes([*range(65, 91), *range(97, 123)]),
    "blank": b"\t ", "cntrl": bytes([*range(32), 127]), "digit": bytes(range(48, 58)), "graph": bytes(range(33, 127)),
    "lower": bytes(range(97, 123)), "print": bytes(range(32, 127)),
    "punct": bytes(b for b in range(33, 127) if not chr(b).isalnum()), "space": b"\t\n\v\f\r ",
    "upper": bytes(range(65, 91)), "xdigit": b"0123456789ABCDEFabcdef",
}
ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}


class Element:
    """kind: "text" (bytes), "class" (name) or "repeat" (one byte, count; 0: as many as are needed)."""

    __slots__ = ("count", "data", "kind", "name")

    def __init__(self, kind: str, data: bytes, name: str = "", count: int = 1) -> None:
        self.kind = kind
        self.data = data
        self.name = name
        self.count = count


def main(proc: Process) -> int:
    given, operands = parse(proc, SPEC)
    flags = {"c" if key == "C" else key for key, _ in given}
    delete, squeeze = "d" in flags, "s" in flags
    if not operands:
        raise missing_operand(proc, SPEC)
    two = delete == squeeze
    most = 2 if squeeze or not delete else 1
    if two and len(operands) < 2:
        proc.message(f"missing operand after {quote(proc, operands[0])}")
        proc.write_error(f"Two strings must be given when "
                         f"{'both deleting and squeezing repeats' if delete else 'translating'}.\n"
                         f"Try '{proc.name} --help' for more information.\n")
        return 1
    if len(operands) > most:
        text = f"extra operand {quote(proc, operands[most])}"
        if len(operands) == 2:
            text += "\nOnly one string may be given when deleting without squeezing repeats."
        raise usage_error(proc, SPEC, text)
    translating = len(operands) == 2 and not delete
    first = SetParser(proc, operands[0]).parse()
    second = SetParser(proc, operands[1]).parse() if len(operands) == 2 else []
    set1 = _expand(proc, first, "c" in flags, translating)
    table = bytes(range(256))
    removed = b""
    if delete:
        removed = set1
        squeezed = _plain(proc, second) if squeeze else b""
    elif translating:
        table, squeezed = _translation(proc, first, second, set1, flags)
    else:
        squeezed = set1
    return _filter(proc, table, removed, squeezed if squeeze else b"")


def _filter(proc: Process, table: bytes, removed: bytes, squeezed: bytes) -> int:
    members = sorted(set(squeezed))
    pattern = b"([" + b"".join(b"\\x%02x" % b for b in members) + b"])\\1++" if members else None
    last = b""
    write = proc.stdout.write
    plain = table == bytes(range(256))
    translate = None if plain else table
    try:
        for data in chunks(proc, proc.stdin):
            if removed or translate is not None:
                data = data.translate(translate, removed)
            if pattern is not None and data:
                data = _squeeze(pattern, data)
                if last and data[:1] == last and data[0] in squeezed:
                    data = data[1:]
                last = data[-1:] or last
            write(data)
    except OSError as e:
        if e.errno == 32:
            raise
        proc.stdout.flush()
        proc.message(f"read error: {e.strerror}")
        return 1
    return 0


def _squeeze(pattern: bytes, data: bytes) -> bytes:
    try:
        return substitute(pattern, b"$1", data)[0]
    except Unsuited:
        return re.sub(pattern, rb"\1", data)


# ---- sets

def _plain(proc: Process, elements: list[Element]) -> bytes:
    return b"".join(e.data * max(e.count, 1) if e.kind == "repeat" else e.data for e in elements)


def _expand(proc: Process, elements: list[Element], complement: bool, translating: bool) -> bytes:
    """The first set as bytes."""
    if any(e.kind == "repeat" and e.count == 0 for e in elements):
        raise fatal(proc, "the [c*] repeat construct may not appear in string1")
    members = b"".join(e.data * e.count for e in elements)
    if complement:
        return bytes(b for b in range(256) if b not in members)
    return members


def _translation(proc: Process, first: list[Element], second: list[Element], set1: bytes,
                 flags: set[str]) -> tuple[bytes, bytes]:
    """(table, second set)."""
    if any(e.kind == "class" and e.name not in ("upper", "lower", "=") for e in second):
        raise fatal(proc, "when translating, the only character classes that may appear in\n"
                          "string2 are 'upper' and 'lower'")
    if any(e.name == "=" for e in second):
        raise fatal(proc, "[=c=] expressions may not appear in string2 when translating")
    if sum(1 for e in second if e.kind == "repeat" and e.count == 0) > 1:
        raise fatal(proc, "only one [c*] repeat construct may appear in string2")
    complement, truncate = "c" in flags, "t" in flags
    length = sum(len(e.data) * e.count for e in second)
    missing = max(0, len(set1) - length)
    for e in second:
        if e.kind == "repeat" and e.count == 0:
            e.count = missing
            length += missing
    if not truncate and not length and set1:
        if not second:
            raise fatal(proc, "when not truncating set1, string2 must be non-empty")
    set2 = b"".join(e.data * e.count for e in second)
    cases = [e for e in second if e.kind == "class"]
    if cases and not complement:
        set1, set2 = _cases(proc, first, second, len(set1), truncate)
    elif cases and complement and not truncate and len(set1) > len(set2) and second[-1].kind == "class":
        raise fatal(proc, "when translating with string1 longer than string2,\n"
                          "the latter string must not end with a character class")
    if truncate:
        set1 = set1[:len(set2)]
    elif set2 and len(set1) > len(set2):
        if second[-1].kind == "class" and not (cases and not complement):
            raise fatal(proc, "when translating with string1 longer than string2,\n"
                              "the latter string must not end with a character class")
        set2 += set2[-1:] * (len(set1) - len(set2))
    if complement and any(e.kind == "class" for e in first) and len(set(set2[:len(set1)])) > 1:
        raise fatal(proc, "when translating with complemented character classes,\n"
                          "string2 must map all characters in the domain to one")
    table = list(range(256))
    for old, new in zip(set1, set2, strict=False):
        table[old] = new
    return bytes(table), set2


def _cases(proc: Process, first: list[Element], second: list[Element], size: int, truncate: bool) -> tuple[bytes,
    bytes]:
    """[:lower:] against [:upper:] at the same place: the pair converts case."""
    starts: dict[int, Element] = {}
    at = 0
    for e in first:
        if e.kind == "class" and e.name in ("lower", "upper"):
            starts[at] = e
        at += len(e.data) * e.count
    at = 0
    for e in second:
        if e.kind == "class":
            if at not in starts:
                raise fatal(proc, "misaligned [:upper:] and/or [:lower:] construct")
        at += len(e.data) * e.count
    return b"".join(e.data * e.count for e in first), b"".join(e.data * e.count for e in second)


class SetParser:
    """STRING1 or STRING2 cut into elements."""

    def __init__(self, proc: Process, text: str) -> None:
        self.proc = proc
        self.units: list[tuple[int, bool]] = []              # (byte, was it escaped)
        self._unescape(encode(text))
        self.at = 0

    def _unescape(self, raw: bytes) -> None:
        i, units = 0, self.units
        while i < len(raw):
            c = raw[i]
            i += 1
            if c != 92:
                units.append((c, False))
                continue
            if i >= len(raw):
                self.proc.message("warning: an unescaped backslash at end of string is not portable")
                units.append((92, False))
                continue
            letter = chr(raw[i])
            i += 1
            if letter in ESCAPES:
                units.append((ESCAPES[letter], True))
            elif letter in "01234567":
                digits = letter
                while i < len(raw) and len(digits) < 3 and chr(raw[i]) in "01234567":
                    digits += chr(raw[i])
                    i += 1
                if int(digits, 8) > 255:
                    self.proc.message(f"warning: the ambiguous octal escape \\{digits} is being\n\t"
                                      f"interpreted as the 2-byte sequence \\0{digits[:2]}, {digits[2]}")
                    digits = digits[:2]
                    i -= 1
                units.append((int(digits, 8), True))
            else:
                units.append((raw[i - 1], True))

    def parse(self) -> list[Element]:
        units = self.units
        out: list[Element] = []
        text = "".join(chr(b) if not escaped else "\ufffd" for b, escaped in units)
        i = 0
        while i < len(units):
            if text.startswith(("[:", "[="), i):
                mark = text[i + 1]
                end = text.find(mark + "]", i + 2)
                if end >= 0 and (end > i + 2 or mark == "="):
                    found = self._named(mark, bytes(b for b, _ in units[i + 2:end]), text, i, end)
                    if found is not None:
                        out.append(found)
                        i = end + 2
                        continue
                elif end == i + 2 and mark == ":":
                    raise fatal(self.proc, "missing character class name '[::]'")
            if text.startswith("[", i) and i + 2 < len(units) and text[i + 2] == "*":
                end = text.find("]", i + 3)
                digits = text[i + 3:end] if end >= 0 else "x"
                if end >= 0 and (not digits or digits.isdecimal() and digits.isascii()):
                    count = int(digits, 8 if digits.startswith("0") else 10) if digits else 0
                    out.append(Element("repeat", bytes((units[i + 1][0],)), count=min(count, 1 << 20)))
                    i = end + 1
                    continue
                if end >= 0 and "*" not in digits and digits and digits[0].isdecimal():
                    raise fatal(self.proc, f"invalid repeat count {quote(self.proc, digits)} in [c*n] construct")
            if i + 2 < len(units) and text[i + 1] == "-":
                low, high = units[i][0], units[i + 2][0]
                if high < low:
                    shown = "".join(_shown(b) for b in (low,)) + "-" + _shown(high)
                    raise fatal(self.proc, f"range-endpoints of '{shown}' are in reverse collating sequence order")
                out.append(Element("text", bytes(range(low, high + 1))))
                i += 3
                continue
            out.append(Element("text", bytes((units[i][0],))))
            i += 1
        return out

    def _named(self, mark: str, name: bytes, text: str, begin: int, end: int) -> Element | None:
        if mark == ":":
            known = name.decode("latin-1")
            if known in CLASSES:
                return Element("class", CLASSES[known], known)
            if text[begin + 2:begin + 4] == "*]" or text.startswith("*", begin + 2):
                return None
            raise fatal(self.proc, f"invalid character class {quote(self.proc, known)}")
        if len(name) == 1:
            return Element("text", name, "=")
        if not name and not text.startswith("=]", end + 1):
            raise fatal(self.proc, "missing equivalence class character '[==]'")
        if not name:
            return None
        raise fatal(self.proc, f"{name.decode('utf-8', 'surrogateescape')}: equivalence class operand must be a single "
                               "character")


def _shown(byte: int) -> str:
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
