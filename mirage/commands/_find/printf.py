"""-printf's format and -ls's line."""
from __future__ import annotations

import stat as st

from mirage.commands._find.tests import LETTERS, UsageError, time_of
from mirage.commands._find.visit import Visit
from mirage.commands._io import encode
from mirage.commands._times import local, short
from mirage.commands._users import group_name, user_name
from mirage.text.strftime import strftime
from mirage.vfs.types import S_IFMT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.commands._find.expression import CommandLine

    Part = bytes | Callable[[Visit], bytes]

ESCAPES = {"a": b"\a", "b": b"\b", "f": b"\f", "n": b"\n", "r": b"\r", "t": b"\t", "v": b"\v", "\\": b"\\"}
FIELDS = "abcdDfFgGhHiklmMnpPsStuUyYZ%"


def compile_format(line: CommandLine, text: str) -> Callable[[Visit], bytes]:
    """A function that renders one file; warns about what it does not know, as GNU."""
    parts: list[Part] = []
    i = 0
    while i < len(text):
        c = text[i]
        if c == "\\" and i + 1 < len(text):
            i += 1
            c = text[i]
            if c in ESCAPES:
                parts.append(ESCAPES[c])
            elif c == "c":
                break
            elif c in "01234567":
                end = i
                while end < len(text) and end < i + 3 and text[end] in "01234567":
                    end += 1
                parts.append(bytes((int(text[i:end], 8) & 0xFF,)))
                i = end - 1
            else:
                line.proc.message(f"warning: unrecognized escape `\\{c}'")
                parts.append(encode("\\" + c))
        elif c == "%":
            i = _directive(line, text, i, parts)
        else:
            parts.append(encode(c))
        i += 1
    merged = _merge(parts)
    if len(merged) == 1 and isinstance(merged[0], bytes):
        fixed = merged[0]
        return lambda visit: fixed
    return lambda visit: b"".join([p if isinstance(p, bytes) else p(visit) for p in merged])


def _merge(parts: list[Part]) -> list[Part]:
    out: list[Part] = []
    for part in parts:
        if isinstance(part, bytes) and out and isinstance(out[-1], bytes):
            out[-1] = out[-1] + part
        else:
            out.append(part)
    return out


def _directive(line: CommandLine, text: str, i: int, parts: list[Part]) -> int:
    """Add the directive at text[i]; the index of its last character."""
    begin = i
    i += 1
    while i < len(text) and text[i] in "-+ #0":
        i += 1
    flags = text[begin + 1:i]
    while i < len(text) and text[i].isdecimal():
        i += 1
    digits = text[begin + 1 + len(flags):i]
    width = min(int(digits or 0), 1 << 16)
    precision = -1
    if i < len(text) and text[i] == ".":
        i += 1
        start = i
        while i < len(text) and text[i].isdecimal():
            i += 1
        precision = min(int(text[start:i] or 0), 1 << 16)
    if i >= len(text):
        if i == begin + 1:
            raise UsageError("error: % at end of format string")
        parts.append(encode(text[begin:]))
        return i
    c = text[i]
    if c in "ABCT":
        if i + 1 >= len(text):
            raise UsageError(f"error: %{c} at end of format string")
        i += 1
        letter = text[i]
        value = _time_field(line, {"A": "a", "B": "B", "C": "c", "T": "m"}[c], letter)
    elif c == "%":
        parts.append(b"%")
        return i
    elif c in FIELDS:
        value = _field(line, c)
    else:
        line.proc.message(f"warning: unrecognized format directive `%{c}'")
        parts.append(encode(text[begin:i + 1]))
        return i
    parts.append(_padded(value, flags, width, precision, c in "dGiknbsUm", c))
    return i


def _padded(value: Callable[[Visit], str], flags: str, width: int, precision: int,
            number: bool, letter: str) -> Callable[[Visit], bytes]:
    if not width and precision < 0 and not flags:
        return lambda visit: value(visit).encode("utf-8", "surrogateescape")

    def render(visit: Visit) -> bytes:
        body = value(visit)
        if precision >= 0 and not number:
            body = body[:precision]
        if number and "+" in flags and not body.startswith("-"):
            body = "+" + body
        if "#" in flags and letter == "m":
            body = "0" + body
        if "-" in flags:
            return encode(body.ljust(width))
        if "0" in flags and number:
            return encode(body.zfill(width))
        return encode(body.rjust(width))

    return render


def _field(line: CommandLine, c: str) -> Callable[[Visit], str]:
    proc = line.proc
    size_of = line.tests.size_of
    simple: dict[str, Callable[[Visit], str]] = {
        "d": lambda v: str(v.depth), "D": lambda v: str(v.stat.dev), "f": _base, "F": lambda v: "tmpfs",
        "G": lambda v: str(v.stat.gid), "g": lambda v: group_name(proc, v.stat.gid), "h": _folder,
        "H": lambda v: v.start, "i": lambda v: str(v.stat.ino), "k": lambda v: str(-(-v.stat.blocks // 2)),
        "b": lambda v: str(v.stat.blocks), "m": lambda v: f"{v.stat.mode & 0o7777:o}",
        "M": lambda v: st.filemode(v.stat.mode), "n": lambda v: str(v.stat.nlink), "p": lambda v: v.path,
        "P": _below, "s": lambda v: str(size_of(v)), "u": lambda v: user_name(proc, v.stat.uid),
        "U": lambda v: str(v.stat.uid), "y": lambda v: LETTERS.get(v.stat.mode & S_IFMT, "U"), "Z": lambda v: "",
        "S": lambda v: f"{v.stat.blocks * 512 / s:g}" if (s := size_of(v)) else "1",
    }
    if c in simple:
        return simple[c]
    if c in "act":
        which = "m" if c == "t" else c
        return lambda v: _ctime(line, time_of(v.stat, which))
    if c == "l":
        def link(v: Visit) -> str:
            if not v.stat.is_link:
                return ""
            try:
                return proc.fs.readlink(v.path)
            except OSError:
                return ""
        return link

    def followed(v: Visit) -> str:
        if not v.stat.is_link:
            return LETTERS.get(v.stat.mode & S_IFMT, "U")
        try:
            return LETTERS.get(proc.fs.stat(v.path).mode & S_IFMT, "U")
        except FileNotFoundError:
            return "N"
        except OSError as e:
            import errno
            return "L" if e.errno == errno.ELOOP else "?"

    return followed


def _base(visit: Visit) -> str:
    if visit.depth:
        return visit.name
    path = visit.path
    stripped = path.rstrip("/")
    return path[path.rfind("/", 0, len(stripped)) + 1:] if stripped else "/"


def _folder(visit: Visit) -> str:
    stripped = visit.path.rstrip("/")
    at = stripped.rfind("/")
    if at < 0:
        return "." if stripped else ""
    return stripped[:at]


def _below(visit: Visit) -> str:
    return visit.path[len(visit.start):].lstrip("/") if visit.depth else ""


def _fraction(ns: int) -> str:
    return f"{ns % 1_000_000_000:09d}0"


def _ctime(line: CommandLine, ns: int) -> str:
    when = local(line.proc, ns)
    return strftime("%a %b %e %H:%M:%S.", when) + _fraction(ns) + strftime(" %Y", when)


def _time_field(line: CommandLine, which: str, letter: str) -> Callable[[Visit], str]:
    proc = line.proc
    if letter == "@":
        return lambda v: f"{time_of(v.stat, which) // 1_000_000_000}.{_fraction(time_of(v.stat, which))}"
    formats = {"+": "%Y-%m-%d+%H:%M:%S", "T": "%H:%M:%S", "X": "%H:%M:%S", "S": "%S"}
    if letter in formats:
        text = formats[letter]
        return lambda v: strftime(text, local(proc, time_of(v.stat, which))) + "." + _fraction(time_of(v.stat, which))
    if letter == "c":
        return lambda v: strftime("%a %b %e %H:%M:%S %Y", local(proc, time_of(v.stat, which)))
    if letter not in "aAbBdDhHIjklmMpryYwWxUZz@eFGgnsuVR":
        line.proc.message(f"warning: unrecognized format directive `%T{letter}'")
        return lambda v: f"%T{letter}"
    return lambda v: strftime("%" + letter, local(proc, time_of(v.stat, which)))


def list_line(line: CommandLine, visit: Visit) -> bytes:
    """As ls -dils."""
    proc, stat = line.proc, visit.stat
    name = _escaped(visit.path)
    if stat.is_link:
        try:
            name += " -> " + _escaped(proc.fs.readlink(visit.path))
        except OSError:
            pass
    when = short(proc, stat.mtime_ns, line.settings.now_ns / 1e9)
    size = line.tests.size_of(visit)
    return encode(f"{stat.ino:9d} {-(-stat.blocks // 2):6d} {st.filemode(stat.mode)} {stat.nlink:3d} "
                  f"{user_name(proc, stat.uid):<8} {group_name(proc, stat.gid):<8} {size:8d} {when} {name}\n")


def _escaped(name: str) -> str:
    if name.isalnum():
        return name
    out = []
    special = {"\\": "\\\\", "\n": "\\n", "\b": "\\b", "\r": "\\r", "\t": "\\t", "\f": "\\f", " ": "\\ ", '"': '\\"'}
    for c in name:
        if c in special:
            out.append(special[c])
        elif " " < c < "\x7f":
            out.append(c)
        else:
            out.append("".join(f"\\{b:03o}" for b in encode(c)))
    return "".join(out)
