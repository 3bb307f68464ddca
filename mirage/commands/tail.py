"""tail: the last lines or bytes of files, and following them as they grow."""
from __future__ import annotations

import os
import re

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse
from mirage.commands._io import chunks, open_input
from mirage.commands._text import choice, fatal, parse_size, quote, shell_quote
from mirage.process.signals import SIGPIPE, Killed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.files import OpenFile
    from mirage.process.process import Process

SPEC = Spec("c:fFn:qs:vz", {
    "bytes": ("c", REQUIRED), "follow": ("follow", OPTIONAL), "lines": ("n", REQUIRED), "pid": ("pid", REQUIRED),
    "quiet": ("q", NONE), "silent": ("q", NONE), "retry": ("retry", NONE), "sleep-interval": ("s", REQUIRED),
    "max-unchanged-stats": ("max", REQUIRED), "verbose": ("v", NONE), "zero-terminated": ("z", NONE)},
    help="Usage: NAME [OPTION]... [FILE]...\nPrint the last 10 lines of each FILE to standard output.\n")

_OBSOLETE = re.compile(r"([-+])([0-9]*)([bcl]?)(f?)\Z")
BLOCK = 65536
POLL = 0.05


class Followed:
    """A file under `tail -f`: name, open file (None while missing), how far it was printed."""

    __slots__ = ("file", "identity", "name", "offset")

    def __init__(self, name: str, file: OpenFile | None) -> None:
        self.name = name
        self.file = file
        self.offset = file.tell() if file is not None and file.seekable else 0
        self.identity = file.stat().identity if file is not None else None


class Tail:
    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.unit = "n"
        self.count = 10
        self.from_start = False
        self.delimiter = b"\n"
        self.headers = False
        self.by_name = False
        self.retry = False
        self.pids: list[int] = []
        self.shown: str | None = None
        self.first = True

    def header(self, name: str) -> None:
        if self.headers and self.shown != name:
            label = "standard input" if name == "-" else name
            text = f"{'' if self.first else chr(10)}==> {label} <==\n"
            self.proc.stdout.write(text.encode("utf-8", "surrogateescape"))
        self.shown = name
        self.first = False

    def show(self, file: OpenFile) -> None:
        proc, count, out = self.proc, self.count, self.proc.stdout
        if self.from_start:
            if self.unit == "c":
                skip_bytes(proc, file, count - 1)
            else:
                skip_lines(proc, file, count - 1, self.delimiter)
            for data in chunks(proc, file):
                out.write(data)
        elif self.unit == "c":
            last_bytes(proc, file, count)
        else:
            last_lines(proc, file, count, self.delimiter)

    def follow(self, files: list[Followed], interval: float) -> None:
        """Print what is appended until every --pid is gone, or the line's time is over."""
        proc = self.proc
        while files:
            proc.stdout.flush()
            if self.pids and not any(pid in proc.kernel.processes for pid in self.pids):
                return
            proc.kernel.sleep(min(interval, POLL))
            if 1 in proc.fds and proc.fds[1].broken:
                raise Killed(SIGPIPE)
            for item in files:
                if self.by_name:
                    self._reopen(item)
                if item.file is not None:
                    self._grown(item)

    def _grown(self, item: Followed) -> None:
        file = item.file
        assert file is not None
        size = file.stat().size or 0
        if size < item.offset:
            self.proc.stdout.flush()
            self.proc.message(f"{shell_quote(item.name)}: file truncated")
            item.offset = 0
            file.seek(0)
        if size > item.offset:
            self.header(item.name)
            for data in chunks(self.proc, file):
                self.proc.stdout.write(data)
            item.offset = file.tell()

    def _reopen(self, item: Followed) -> None:
        proc = self.proc
        try:
            now = proc.fs.stat(item.name).identity
        except OSError as e:
            if item.file is not None:
                proc.stdout.flush()
                proc.message(f"{shell_quote(item.name, True)} has become inaccessible: {e.strerror}")
                item.file.decref()
                item.file = item.identity = None
            return
        if now == item.identity:
            return
        verb = "has appeared" if item.file is None else "has been replaced"
        try:
            file = open_input(proc, item.name)
        except OSError:
            return
        proc.stdout.flush()
        proc.message(f"{shell_quote(item.name, True)} {verb};  following new file")
        if item.file is not None:
            item.file.decref()
        file.incref()
        item.file, item.identity, item.offset = file, now, 0


def main(proc: Process) -> int:
    args = proc.argv[1:]
    state = Tail(proc)
    follow = False
    single = len(args) == 1 or len(args) == 2 and not re.match(r"-.", args[1]) \
        or 2 <= len(args) <= 3 and args[1] == "--"
    if args and single and (old := _OBSOLETE.match(args[0])) and (old[2] or old[3] or args[0][0] == "+"):
        if old[2] or old[3] in ("l", "b") or args[0][0] == "+":
            count = int(old[2] or 10) * (512 if old[3] == "b" else 1)
            unit = "c" if old[3] in ("b", "c") else "n"
            args[:1] = [f"-{unit}{'+' if old[1] == '+' else ''}{count}", *(["-f"] if old[4] else [])]
    elif args and (old := re.match(r"-([0-9]+)([bcl]?)(f?)\Z", args[0])):
        if len(args) > 1 and not single:
            raise fatal(proc, f"option used in invalid context -- {args[0][1]}")
        args[:1] = [f"-{'c' if old[2] in ('b', 'c') else 'n'}{old[1]}", *(["-f"] if old[3] else [])]
    options, operands = parse(proc, SPEC, args)
    state.headers = len(operands) > 1
    interval = 1.0
    for key, value in options:
        if key in "cn":
            state.unit = key
            state.from_start = state.from_start or value.startswith("+")
            size = parse_size(value[1:] if value[:1] in ("+", "-") else value)
            if size is None:
                raise fatal(proc, f"invalid number of {'bytes' if key == 'c' else 'lines'}: {quote(proc, value)}")
            state.count = size
        elif key == "f":
            follow = True
        elif key == "follow":
            follow = True
            mode = choice(proc, SPEC, "--follow", value, (("descriptor",), ("name",))) if value else "descriptor"
            state.by_name = mode == "name"
        elif key == "F":
            follow = state.by_name = state.retry = True
        elif key == "retry":
            state.retry = True
        elif key == "s":
            try:
                interval = float(value)
            except ValueError:
                raise fatal(proc, f"invalid number of seconds: {quote(proc, value)}") from None
        elif key == "pid":
            if not value.isdecimal():
                raise fatal(proc, f"invalid PID: {quote(proc, value)}")
            state.pids.append(int(value))
        elif key in "qv":
            state.headers = key == "v"
        elif key == "z":
            state.delimiter = b"\0"
    if not state.count and not state.from_start and not follow:
        return 0                                             # nothing to show: no file is opened
    return _run(proc, state, operands or ["-"], follow, interval)


def _run(proc: Process, state: Tail, operands: list[str], follow: bool, interval: float) -> int:
    status = 0
    followed: list[Followed] = []
    for name in operands:
        try:
            file = open_input(proc, name)
        except IsADirectoryError:
            state.header(name)
            proc.stdout.flush()
            proc.message(f"error reading {shell_quote(name, True)}: Is a directory")
            status = 1
            continue
        except OSError as e:
            proc.stdout.flush()
            proc.fail(f"cannot open {shell_quote(name, True)} for reading", e)
            status = 1
            if follow and state.retry:
                followed.append(Followed(name, None))
            continue
        file.incref()
        state.header(name)
        state.show(file)
        if follow and file.seekable and name != "-":
            followed.append(Followed(name, file))
        else:
            file.decref()
    if follow and followed:
        try:
            state.follow(followed, interval)
        finally:
            for item in followed:
                if item.file is not None:
                    item.file.decref()
    elif follow and status:
        proc.stdout.flush()
        proc.message("no files remaining")
    return status


def _size(file: OpenFile) -> int | None:
    """Bytes up to the end where the file can be read backwards, else None."""
    if not file.seekable:
        return None
    stat = file.stat()
    return stat.size if stat.is_file else None


def skip_bytes(proc: Process, file: OpenFile, count: int) -> None:
    if count <= 0:
        return
    if _size(file) is not None:
        file.seek(count, os.SEEK_CUR)
        return
    while count > 0:
        data = file.read(min(BLOCK, count))
        if not data:
            return
        count -= len(data)
        proc.check()


def skip_lines(proc: Process, file: OpenFile, count: int, delimiter: bytes) -> None:
    while count > 0:
        data = file.read(BLOCK)
        if not data:
            return
        here = data.count(delimiter)
        if here >= count:
            rest = data.split(delimiter, count)[-1]
            proc.stdout.write(rest)
            return
        count -= here
        proc.check()


def last_bytes(proc: Process, file: OpenFile, count: int) -> None:
    size = _size(file)
    if size is not None:
        start = file.tell()
        if size - count > start:
            file.seek(size - count)
        for data in chunks(proc, file):
            proc.stdout.write(data)
        return
    held, total = [], 0
    for data in chunks(proc, file):
        held.append(data)
        total += len(data)
        while held and total - len(held[0]) >= count:
            total -= len(held.pop(0))
        proc.kernel.fits(total)
    if count:
        proc.stdout.write(b"".join(held)[-count:])


def last_lines(proc: Process, file: OpenFile, count: int, delimiter: bytes) -> None:
    size = _size(file)
    if size is None and delimiter == b"\n" and (asked := file.last_lines(count)) is not None:
        proc.stdout.write(asked)
        return
    if size is not None:
        _last_lines_backwards(proc, file, count, delimiter, size)
        return
    from collections import deque
    held: deque[tuple[bytes, int]] = deque()
    lines, total = 0, 0
    for data in chunks(proc, file):
        here = data.count(delimiter)
        held.append((data, here))
        lines += here
        total += len(data)
        while len(held) > 1 and lines - held[0][1] > count:
            block, gone = held.popleft()
            lines -= gone
            total -= len(block)
        proc.kernel.fits(total)
    data = b"".join(block for block, _ in held)
    proc.stdout.write(data[_line_start(data, count, delimiter):])


def _line_start(data: bytes, count: int, delimiter: bytes) -> int:
    """Offset of the last `count` lines of data (0 when there are not more)."""
    if count == 0:
        return len(data)
    end = len(data) - 1 if data.endswith(delimiter) else len(data)
    for _ in range(count):
        end = data.rfind(delimiter, 0, end)
        if end < 0:
            return 0
    return end + 1


def _last_lines_backwards(proc: Process, file: OpenFile, count: int, delimiter: bytes, size: int) -> None:
    start = file.tell()
    if count == 0:
        file.seek(max(start, size))
        return
    position, found, first = size, 0, True
    begin = start
    while position > start:
        block = min(BLOCK, position - start)
        position -= block
        file.seek(position)
        data = file.read(block)
        end = len(data)
        if first:
            first = False
            if data.endswith(delimiter):
                end -= 1
        here = data.count(delimiter, 0, end)
        if found + here >= count:
            for _ in range(count - found):
                end = data.rfind(delimiter, 0, end)
            begin = position + end + 1
            break
        found += here
        proc.check()
    file.seek(begin)
    for data in chunks(proc, file):
        proc.stdout.write(data)
