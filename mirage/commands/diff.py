"""diff: compare files and directories line by line."""
from __future__ import annotations

import fnmatch
import re

from mirage.commands._diff_output import Change, File, Style, Writer
from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import encode, read_operand
from mirage.commands._text import c_escape
from mirage.process.signals import Exit
from mirage.text import myers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.process.process import Process
    from mirage.text.regex import Regex
    from mirage.vfs.types import Stat

FORMATS = ("old-group", "new-group", "changed-group", "unchanged-group", "old-line", "new-line", "unchanged-line")
SPEC = Spec("0123456789abBcC:dD:eEfF:hHiI:lL:nNpPqrsS:tTuU:vwW:x:X:yZ", {
    "text": ("a", NONE), "ignore-space-change": ("b", NONE), "ignore-blank-lines": ("B", NONE),
    "brief": ("q", NONE), "color": ("color", OPTIONAL), "context": ("C", OPTIONAL), "ed": ("e", NONE),
    "exclude": ("x", REQUIRED), "exclude-from": ("X", REQUIRED), "expand-tabs": ("t", NONE), "forward-ed": ("f", NONE),
    "from-file": ("from", REQUIRED), "to-file": ("to", REQUIRED), "horizon-lines": ("horizon", REQUIRED),
    "ignore-case": ("i", NONE), "ignore-file-name-case": ("filecase", NONE), "ignore-matching-lines": ("I", REQUIRED),
    "ignore-tab-expansion": ("E", NONE), "ignore-trailing-space": ("Z", NONE), "initial-tab": ("T", NONE),
    "label": ("L", REQUIRED), "left-column": ("left", NONE), "minimal": ("d", NONE), "new-file": ("N", NONE),
    "no-dereference": ("nofollow", NONE), "normal": ("normal", NONE), "palette": ("palette", REQUIRED),
    "rcs": ("n", NONE), "recursive": ("r", NONE), "report-identical-files": ("s", NONE),
    "show-c-function": ("p", NONE), "show-function-line": ("F", REQUIRED), "side-by-side": ("y", NONE),
    "speed-large-files": ("H", NONE), "starting-file": ("S", REQUIRED), "strip-trailing-cr": ("cr", NONE),
    "suppress-blank-empty": ("blankempty", NONE), "suppress-common-lines": ("nocommon", NONE),
    "tabsize": ("tabsize", REQUIRED), "unidirectional-new-file": ("P", NONE), "unified": ("U", OPTIONAL),
    "ifdef": ("D", REQUIRED), "line-format": ("line", REQUIRED),
    **{f"{kind}-format": (kind, REQUIRED) for kind in FORMATS},
    "width": ("W", REQUIRED), "ignore-all-space": ("w", NONE)},
    help="Usage: NAME [OPTION]... FILES\nCompare FILES line by line.\n", status=2, usage="diff: ")

_STYLES = {"c": "context", "C": "context", "u": "unified", "U": "unified", "e": "ed", "f": "forward", "n": "rcs",
           "y": "side", "normal": "normal", "D": "ifdef", "line": "ifdef", **dict.fromkeys(FORMATS, "ifdef")}
_LOWER = bytes(b + 32 if 65 <= b <= 90 else b for b in range(256))


class Side:
    """One file to compare: how it is called, and what is there (stat None: missing, taken as empty)."""

    __slots__ = ("name", "path", "stat")

    def __init__(self, name: str, path: str, stat: Stat | None) -> None:
        self.name = name
        self.path = path
        self.stat = stat


class Differ:
    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.style = Style()
        self.flags: set[str] = set()
        self.labels: list[str] = []
        self.exclude: list[str] = []
        self.ignore_lines: list[Regex] = []
        self.start = ""
        self.arguments: list[str] = []
        self.status = 0

    def raise_status(self, status: int) -> None:
        self.status = max(self.status, status)

    def error(self, name: str, e: OSError) -> None:
        self.proc.stdout.flush()
        self.proc.fail(name, e)
        self.raise_status(2)

    def say(self, text: str) -> None:
        self.proc.stdout.write(encode(text) + b"\n")

    # ---- files

    def stat(self, name: str) -> Stat | None:
        if name == "-":
            return self.proc.file(0).stat()
        return self.proc.fs.stat(name, "nofollow" not in self.flags)

    def operands(self, left: str, right: str) -> None:
        sides: list[Side] = []
        failed = False
        for name, allowed in ((left, self.flags & {"N", "P"}), (right, self.flags & {"N"})):
            try:
                sides.append(Side(name, name, self.stat(name)))
            except OSError as e:
                if allowed and isinstance(e, FileNotFoundError) and (not sides or sides[0].stat is not None):
                    sides.append(Side(name, name, None))
                else:
                    self.error(name, e)
                    failed = True
        if failed or len(sides) < 2:
            return
        a, b = sides
        dir_a, dir_b = a.stat is not None and a.stat.is_dir, b.stat is not None and b.stat.is_dir
        if dir_a != dir_b and a.stat is not None and b.stat is not None:
            folder, file = (a, b) if dir_a else (b, a)
            if file.name == "-":
                self.proc.message("cannot compare '-' to a directory")
                self.raise_status(2)
                return
            name = folder.name.rstrip("/") + "/" + file.name.rstrip("/").rpartition("/")[2]
            try:
                folder.name = folder.path = name
                folder.stat = self.stat(name)
            except OSError as e:
                self.error(name, e)
                return
        self.compare(a, b, top=True)

    def compare(self, a: Side, b: Side, top: bool = False) -> None:
        dir_a, dir_b = a.stat is not None and a.stat.is_dir, b.stat is not None and b.stat.is_dir
        if dir_a and dir_b and a.stat is not None and b.stat is not None and a.stat.identity == b.stat.identity \
                and self.style.kind not in ("side", "ifdef"):
            return
        if dir_a and (dir_b or b.stat is None) or dir_b and a.stat is None:
            if top or "r" in self.flags:
                self.directories(a, b)
            else:
                self.say(f"Common subdirectories: {a.name} and {b.name}")
            return
        if a.stat is not None and b.stat is not None:
            kind_a, kind_b = _kind(a.stat), _kind(b.stat)
            if dir_a != dir_b or not (a.stat.is_file and b.stat.is_file) and kind_a != kind_b and not top:
                self.say(f"File {a.name} is a {kind_a} while file {b.name} is a {kind_b}")
                self.raise_status(1)
                return
            if a.stat.is_link and b.stat.is_link:
                if self.proc.fs.readlink(a.path) != self.proc.fs.readlink(b.path):
                    self.say(f"Symbolic links {a.name} and {b.name} differ")
                    self.raise_status(1)
                return
        self.contents(a, b, top)

    def directories(self, a: Side, b: Side) -> None:
        names: list[set[str]] = []
        for side in (a, b):
            try:
                entries = self.proc.fs.list(side.path) if side.stat is not None else []
            except OSError as e:
                self.error(side.name, e)
                return
            names.append({e.name for e in entries if not any(fnmatch.fnmatchcase(e.name, p) for p in self.exclude)})
        for name in sorted(names[0] | names[1], key=encode):
            if self.start and encode(name) < encode(self.start):
                continue
            sides = []
            for side, here in ((a, names[0]), (b, names[1])):
                child = f"{side.name.rstrip('/') or '/'}/{name}" if side.name != "/" else f"/{name}"
                stat = None
                if name in here:
                    try:
                        stat = self.stat(child)
                    except OSError as e:
                        self.error(child, e)
                        break
                sides.append(Side(child, child, stat))
            if len(sides) < 2:
                continue
            self.child(a, b, name, sides[0], sides[1])
            self.proc.check()

    def child(self, a: Side, b: Side, name: str, left: Side, right: Side) -> None:
        missing_left, missing_right = left.stat is None, right.stat is None
        if missing_right and "N" not in self.flags or missing_left and not self.flags & {"N", "P"}:
            folder = b.name if missing_left else a.name
            self.say(f"Only in {_quoted(folder)}: {_quoted(name)}")
            self.raise_status(1)
            return
        present = right.stat if missing_left else left.stat
        if (missing_left or missing_right) and present is not None and present.is_dir and "r" not in self.flags:
            self.say(f"Common subdirectories: {left.name} and {right.name}")
            return
        self.compare(left, right)

    def read(self, side: Side) -> bytes:
        if side.stat is None:
            return b""
        return read_operand(self.proc, side.path)

    def contents(self, a: Side, b: Side, top: bool) -> None:
        same_file = a.stat is not None and b.stat is not None and a.stat.ino and a.stat.identity == b.stat.identity
        data: list[bytes] = []
        if same_file and a.path != "-" and not self.flags & {"s"} and self.style.kind not in ("side", "ifdef"):
            return
        for side in (a, b):
            if side.path == "-" and data and a.path == "-":
                data.append(data[0])
                continue
            try:
                data.append(self.read(side))
            except OSError as e:
                self.error(side.name, e)
        if len(data) < 2:
            return
        if "cr" in self.flags:
            data = [d.replace(b"\r\n", b"\n") for d in data]
        changed = data[0] != data[1]
        binary = "a" not in self.flags and any(b"\0" in d[:65536] for d in data)
        if binary and changed:
            if "q" in self.flags:
                self.say(f"Files {self.shown(a, 0)} and {self.shown(b, 1)} differ")
            else:
                self.command_line(a, b, top)
                self.say(f"Binary files {self.shown(a, 0)} and {self.shown(b, 1)} differ")
            self.raise_status(1)
            return
        changes: list[Change] = []
        files = [File(d, encode(self.header(s, n))) for n, (d, s) in enumerate(zip(data, (a, b)))]
        plain = not self.ignoring()
        if changed or self.style.kind in ("side", "ifdef"):
            if "q" in self.flags and plain and changed:
                changes = [(0, 1, 0, 1)]
            else:
                changes = self.find(files[0], files[1])
        ignorable = self.ignorable(files[0], files[1])
        real = [c for c in changes if not ignorable(c)]
        if not real:
            if self.style.kind in ("side", "ifdef") and "q" not in self.flags:
                self.print(files, changes, ignorable, a, b, top)
            if "s" in self.flags:
                self.say(f"Files {self.shown(a, 0)} and {self.shown(b, 1)} are identical")
            return
        self.raise_status(1)
        if "q" in self.flags:
            self.say(f"Files {self.shown(a, 0)} and {self.shown(b, 1)} differ")
            return
        self.print(files, changes, ignorable, a, b, top)

    def print(self, files: list[File], changes: list[Change], ignorable: Callable[[Change], bool], a: Side, b: Side,
              top: bool) -> None:
        self.command_line(a, b, top)
        Writer(files[0], files[1], self.style, self.proc.stdout.write).write(changes, ignorable)
        if self.style.kind in ("ed", "forward"):
            for file, side in zip(files, (a, b)):
                if not file.complete:
                    self.proc.stdout.flush()
                    self.proc.write_error(f"diff: {side.name}: No newline at end of file\n\n")
                    self.raise_status(2)

    def command_line(self, a: Side, b: Side, top: bool) -> None:
        if not top:
            names = [*self.labels[:2], a.name, b.name][:2] if len(self.labels) > 1 else [*self.labels, b.name] \
                if self.labels else [a.name, b.name]
            words = ["diff", *self.arguments, *names]
            self.say(" ".join(_shell(word) for word in words))

    def shown(self, side: Side, number: int) -> str:
        """What a message calls a file: its label, if it has one."""
        return _quoted(self.labels[number] if number < len(self.labels) else side.name)

    def header(self, side: Side, number: int) -> str:
        if number < len(self.labels):
            return self.labels[number]
        from mirage.commands._times import full_iso
        stat = side.stat
        when = 0 if stat is None else stat.mtime_ns
        if stat is not None and side.path == "-" and not stat.is_file:
            when = int(self.proc.now() * 1e9)
        return f"{_quoted(side.name)}\t{full_iso(self.proc, when)}"

    # ---- what counts as equal

    def ignoring(self) -> bool:
        return bool(self.flags & set("bBEiwZ")) or bool(self.ignore_lines)

    def keys(self, file: File) -> list[bytes]:
        """What of each line is compared."""
        flags, lines = self.flags, file.lines
        if "w" in flags:
            lines = [line.translate(None, b" \t\n\v\f\r") for line in lines]
        elif "b" in flags:
            lines = [re.sub(rb"[ \t\v\f\r]+", b" ", line).rstrip(b" ") for line in lines]
        else:
            if "E" in flags:
                lines = [line.expandtabs(self.style.tab) for line in lines]
            if "Z" in flags:
                lines = [line.rstrip(b" \t\v\f\r") for line in lines]
        if "i" in flags:
            lines = [line.translate(_LOWER) for line in lines]
        if not file.complete and lines and not flags & set("wbZ") and self.style.kind not in ("ed", "forward"):
            lines = [*lines[:-1], lines[-1] + b"\n"]
        return lines

    def find(self, a: File, b: File) -> list[Change]:
        classes: dict[bytes, int] = {}
        number = [[classes.setdefault(key, len(classes)) for key in self.keys(file)] for file in (a, b)]
        horizon = self.style.context if self.style.kind in ("context", "unified") else 0
        return myers.changes(number[0], number[1], "d" in self.flags, horizon, self.proc.check)

    def ignorable(self, a: File, b: File) -> Callable[[Change], bool]:
        if "B" not in self.flags and not self.ignore_lines:
            return lambda change: False
        blank = re.compile(rb"[ \t\v\f\r]*\Z" if self.flags & set("wbZ") else rb"\Z")

        def skip(change: Change) -> bool:
            lines = a.lines[change[0]:change[1]] + b.lines[change[2]:change[3]]
            return all("B" in self.flags and blank.match(line) or any(p.search(line) for p in self.ignore_lines)
                       for line in lines)
        return skip


def _kind(stat: Stat) -> str:
    from mirage.commands.stat import kind
    return kind(stat)


def _quoted(name: str) -> str:
    if re.search(r'[\x00-\x1f"\\ ]', name):
        escaped = c_escape(name)
        return f'"{escaped}"' if escaped != name else name
    return name


def _shell(word: str) -> str:
    from mirage.commands._text import shell_quote
    return shell_quote(word)


def main(proc: Process) -> int:
    differ = Differ(proc)
    options, operands = parse(proc, SPEC)
    given = ""
    context_digits = ""
    source = target = None
    for key, value in options:
        differ.flags.add(key)
        if key in _STYLES:
            style = _STYLES[key]
            if given and given != style:
                proc.message("conflicting output style options")
                proc.write_error("diff: Try 'diff --help' for more information.\n")
                return 2
            given = style
            if style == "ifdef":
                _format(differ, key, value)
            elif key in "CU" and value:
                differ.style.context = _number(proc, value, "invalid context length")
        elif key.isdecimal():
            context_digits += key
        elif key == "L":
            differ.labels.append(value)
        elif key == "x":
            differ.exclude.append(value)
        elif key == "X":
            differ.exclude += proc.fs.read(value).decode("utf-8", "surrogateescape").splitlines() \
                if proc.fs.exists(value) else []
        elif key == "S":
            differ.start = value
        elif key == "I":
            differ.ignore_lines.append(_regex(proc, value))
        elif key == "F":
            differ.style.function = _regex(proc, value)
        elif key == "W":
            differ.style.width = _number(proc, value, "invalid width")
        elif key == "tabsize":
            differ.style.tab = _number(proc, value, "invalid tabsize")
        elif key == "color":
            if value not in ("", "always", "never", "auto"):
                raise usage_error(proc, SPEC, f"invalid color '{value}'")
            differ.style.color = value == "always" or value in ("", "auto") and proc.file(1).isatty()
        elif key == "from":
            source = value
        elif key == "to":
            target = value
    _finish(differ, given, context_digits)
    differ.arguments = _repeatable(proc.argv[1:], operands)
    if source is not None or target is not None:
        for operand in operands:
            left, right = (source, operand) if source is not None else (operand, target or "")
            differ.operands(left, right)
        return differ.status
    if len(operands) < 2:
        missing = f"missing operand after '{proc.argv[-1]}'"
        raise usage_error(proc, SPEC, missing)
    if len(operands) > 2:
        raise usage_error(proc, SPEC, f"extra operand '{operands[2]}'")
    differ.operands(operands[0], operands[1])
    return differ.status


def _format(differ: Differ, key: str, value: str) -> None:
    from mirage.commands._diff_ifdef import ifdef_formats
    formats = differ.style.formats
    if key == "D":
        formats.update({k: v for k, v in ifdef_formats(value).items() if k not in formats})
        return
    text = value.encode("utf-8", "surrogateescape")
    for kind in ("old-line", "new-line", "unchanged-line") if key == "line" else (key,):
        formats[kind] = text


def _finish(differ: Differ, given: str, digits: str) -> None:
    style, flags = differ.style, differ.flags
    if "p" in flags:
        style.function = _regex(differ.proc, "^[A-Za-z$_]")
        given = given or "context"
    style.kind = given or "normal"
    if digits:
        style.context = int(digits)
        if not given:
            style.kind = "context"
    style.initial_tab, style.expand_tabs = "T" in flags, "t" in flags
    style.left_column, style.suppress_common = "left" in flags, "nocommon" in flags
    style.suppress_blank_empty = "blankempty" in flags
    if "nocommon" in flags and not given:
        style.kind = "normal"


def _repeatable(args: list[str], operands: list[str]) -> list[str]:
    """The options as typed, for the `diff -r a/x b/x` lines."""
    left = list(operands)
    out = []
    ended = False
    for arg in args:
        if arg == "--" and not ended:
            ended = True
        elif left and arg == left[0] and (ended or not arg.startswith("-") or arg == "-"):
            left.pop(0)
        else:
            out.append(arg)
    return out


def _number(proc: Process, text: str, problem: str) -> int:
    if not text.isdecimal() or len(text) > 15:
        raise usage_error(proc, SPEC, f"{problem} '{text}'")
    return int(text)


def _regex(proc: Process, text: str) -> Regex:
    """A basic regular expression for -I and -F."""
    from mirage.text.regex import RegexError, compile_bre
    try:
        return compile_bre(text)
    except RegexError:
        proc.message(f"{text}: Invalid regular expression")
        raise Exit(2) from None
