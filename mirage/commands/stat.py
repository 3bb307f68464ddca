"""stat: the status of files and file systems."""
from __future__ import annotations

import re
import stat as st

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import encode
from mirage.commands._text import choice, fatal, missing_operand, quote, shell_quote
from mirage.commands._times import full_iso
from mirage.commands._users import group_name, user_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process
    from mirage.vfs.types import Stat

SPEC = Spec("c:fLt", {
    "dereference": ("L", NONE), "file-system": ("f", NONE), "cached": ("cached", REQUIRED), "format": ("c", REQUIRED),
    "printf": ("printf", REQUIRED), "terse": ("t", NONE)},
    help="Usage: NAME [OPTION]... FILE...\nDisplay file or file system status.\n")

_DIRECTIVE = re.compile(r"%([-+ #0']*)([0-9]*)(?:\.([0-9]*))?([HL]?[a-zA-Z%])?")
_ESCAPES = {"a": 7, "b": 8, "e": 27, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, '"': 34, "\\": 92}
BLOCK = 4096
TERSE = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n"
TERSE_SYSTEM = "%n %i %l %t %s %S %b %f %a %c %d\n"
SYSTEM = ('  File: "%n"\n    ID: %-8i Namelen: %-7l Type: %T\nBlock size: %-10s Fundamental block size: %S\n'
          "Blocks: Total: %-10b Free: %-10f Available: %a\nInodes: Total: %-10c Free: %d\n")


def kind(stat: Stat) -> str:
    """`regular file`, `directory` and so on."""
    if stat.is_file:
        return "regular empty file" if stat.size == 0 else "regular file"
    names = {st.S_IFDIR: "directory", st.S_IFLNK: "symbolic link", st.S_IFIFO: "fifo",
             st.S_IFCHR: "character special file",
             st.S_IFBLK: "block special file", st.S_IFSOCK: "socket"}
    return names.get(st.S_IFMT(stat.mode), "weird file")


class Subject:
    """One file and its values by directive letter: int, text, or (nanoseconds,) for a time."""

    def __init__(self, proc: Process, name: str, stat: Stat) -> None:
        self.proc = proc
        self.name = name
        self.stat = stat

    def value(self, letter: str) -> int | str | tuple[int] | None:
        s, proc = self.stat, self.proc
        minor, major = s.dev & 0xff | s.dev >> 12 & ~0xff, s.dev >> 8 & 0xfff
        rminor, rmajor = s.rdev & 0xff | s.rdev >> 12 & ~0xff, s.rdev >> 8 & 0xfff
        from mirage.commands._ls_format import allocated
        table: dict[str, int | str | tuple[int]] = {
            "a": s.mode & 0o7777, "A": st.filemode(s.mode), "b": allocated(s) // 512, "B": 512, "C": "?", "d": s.dev,
            "D": s.dev, "f": s.mode, "F": kind(s), "g": s.gid, "h": s.nlink, "i": s.ino, "n": self.name, "o": BLOCK,
            "s": s.size or 0, "r": s.rdev, "R": s.rdev, "t": rmajor, "T": rminor, "u": s.uid,
            "w": self.when(s.btime_ns),
            "W": ((s.btime_ns or 0),) if s.btime_ns else 0, "x": self.when(s.atime_ns), "X": (s.atime_ns,),
            "y": self.when(s.mtime_ns), "Y": (s.mtime_ns,), "z": self.when(s.ctime_ns), "Z": (s.ctime_ns,),
            "Hd": major, "Ld": minor, "Hr": rmajor, "Lr": rminor}
        if letter == "G":
            return group_name(proc, s.gid)
        if letter == "U":
            return user_name(proc, s.uid)
        if letter == "N":
            text = shell_quote(self.name, True)
            return f"{text} -> {shell_quote(proc.fs.readlink(self.name), True)}" if s.is_link else text
        if letter == "m":
            return proc.fs.mount_point(self.name)
        return table.get(letter)

    def when(self, ns: int | None) -> str:
        return "-" if ns is None else full_iso(self.proc, ns)


class System(Subject):
    def __init__(self, proc: Process, name: str) -> None:
        total, free = proc.fs.statfs(name)
        super().__init__(proc, name, proc.fs.stat(name))
        self.total, self.free = total // BLOCK, free // BLOCK

    def value(self, letter: str) -> int | str | tuple[int] | None:
        table: dict[str, int | str | tuple[int]] = {
            "a": self.free, "b": self.total, "c": 1000000, "d": 999000, "f": self.free, "i": 0, "l": 255,
            "n": self.name,
            "s": BLOCK, "S": BLOCK, "t": 0x1021994, "T": "tmpfs"}
        return table.get(letter)


OCTAL, HEX = {"a"}, {"D", "f", "R", "t", "T"}


def render(subject: Subject, template: str, escapes: bool) -> bytes:
    """A --format (or with `escapes` a --printf) text filled in."""
    if escapes:
        template = _unescape(subject.proc, template)
    is_system = isinstance(subject, System)

    def replace(found: re.Match[str]) -> str:
        flags, width, precision, letter = found.groups()
        if letter is None:
            return found[0]
        if letter == "%":
            return "%"
        if len(letter) == 2 and letter[1] not in "dr":
            return "?" + letter[1]
        value = subject.value(letter)
        if value is None:
            return "?"
        return field(value, letter, flags, int(width or 0), precision, is_system)
    text = _DIRECTIVE.sub(replace, template)
    return encode(text)


def field(value: int | str | tuple[int], letter: str, flags: str, width: int, precision: str | None,
          is_system: bool) -> str:
    width = min(width, 1 << 20)
    left, zero = "-" in flags, "0" in flags and "-" not in flags
    if isinstance(value, tuple):
        text = _seconds(value[0], precision)
    elif isinstance(value, str):
        text = value if precision is None else value[:int(precision or 0)]
        zero = False
    else:
        if letter in OCTAL and not is_system:
            text = f"{value:o}"
            if "#" in flags and value:
                text = "0" + text
        elif letter in HEX or is_system and letter in "it":
            text = f"{value:x}"
            if "#" in flags and value:
                text = "0x" + text
        else:
            text = str(value)
            if "+" in flags:
                text = "+" + text
            elif " " in flags and letter not in OCTAL:
                text = " " + text
        if precision:
            text = text.rjust(int(precision), "0")
    if len(text) < width:
        text = text.ljust(width) if left else text.rjust(width, "0" if zero else " ")
    return text


def _seconds(ns: int, precision: str | None) -> str:
    whole, rest = divmod(ns, 1_000_000_000)
    if precision is None:
        return str(whole)
    digits = int(precision) if precision else 9
    if digits == 0:
        return str(whole)
    return f"{whole}." + (f"{rest:09d}" + "0" * max(0, min(digits, 1000) - 9))[:digits]


def _unescape(proc: Process, text: str) -> str:
    def replace(found: re.Match[str]) -> str:
        body = found[1]
        if body[:1] in "01234567" and body:
            return chr(int(body, 8) & 0xFF) if int(body, 8) & 0xFF < 128 else chr(0xDC00 + (int(body, 8) & 0xFF))
        if body[:1] == "x" and len(body) > 1:
            code = int(body[1:], 16)
            return chr(code) if code < 128 else chr(0xDC00 + code)
        if body in _ESCAPES:
            return chr(_ESCAPES[body])
        if not body:
            proc.message("warning: backslash at end of format")
            return "\\"
        proc.message(f"warning: unrecognized escape '\\{body}'")
        return body
    return re.sub(r"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.|\Z)", replace, text, flags=re.DOTALL)


def default_format(subject: Subject) -> str:
    s = subject.stat
    device = "Device: %Hd,%Ld\tInode: %-10i  Links: "
    device += "%-5h Device type: %Hr,%Lr\n" if s.is_char else "%h\n"
    return (f"  File: %n\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\n{device}"
            "Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: %x\nModify: %y\nChange: %z\n Birth: %w\n")


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    follow = terse = system = escapes = False
    template: str | None = None
    for key, value in options:
        if key == "c":
            template, escapes = value + "\n", False
        elif key == "printf":
            template, escapes = value, True
        elif key == "L":
            follow = True
        elif key == "f":
            system = True
        elif key == "t":
            terse = True
        else:
            choice(proc, SPEC, "--cached", value, (("default",), ("never",), ("always",)))
    if not operands:
        raise missing_operand(proc, SPEC)
    status = 0
    for operand in operands:
        try:
            subject = _subject(proc, operand, follow, system)
        except OSError as e:
            proc.stdout.flush()
            verb = "cannot read file system information for" if system else "cannot statx"
            proc.fail(f"{verb} {shell_quote(operand, True)}", e)
            status = 1
            continue
        text = template
        if text is None:
            text = (TERSE_SYSTEM if system else TERSE) if terse else SYSTEM if system else default_format(subject)
        if template is None and not terse and not system:
            proc.stdout.write(_default(subject, text))
        else:
            proc.stdout.write(render(subject, text, escapes))
    return status


def _arrow(subject: Subject) -> str:
    return f"{subject.name} -> {subject.proc.fs.readlink(subject.name)}"


def _default(subject: Subject, text: str) -> bytes:
    """The default form shows a link's names without quotes."""
    if subject.stat.is_link:
        head, _, rest = text.partition("\n")
        return encode(f"  File: {_arrow(subject)}\n") + render(subject, rest, False)
    return render(subject, text, False)


def _subject(proc: Process, name: str, follow: bool, system: bool) -> Subject:
    if system:
        if name == "-":
            raise fatal(proc, f"using {quote(proc, '-')} to denote standard input does not work in file system mode")
        return System(proc, name)
    if name == "-":
        return Subject(proc, name, proc.file(0).stat())
    return Subject(proc, name, proc.fs.stat(name, follow))
