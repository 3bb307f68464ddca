"""du: disk usage of trees."""
from __future__ import annotations

import fnmatch

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import encode, read_operand
from mirage.commands._ls_format import allocated
from mirage.commands._text import BlockSize, block_size, default_block_size, fatal, parse_size, quote, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process
    from mirage.vfs.types import Stat

SPEC = Spec("0abcd:B:DHhkLlmPsSt:xX:", {
    "null": ("0", NONE), "all": ("a", NONE), "apparent-size": ("apparent", NONE), "block-size": ("B", REQUIRED),
    "bytes": ("b", NONE), "total": ("c", NONE), "dereference-args": ("D", NONE), "max-depth": ("d", REQUIRED),
    "files0-from": ("files0", REQUIRED), "human-readable": ("h", NONE), "inodes": ("inodes", NONE),
    "dereference": ("L", NONE), "count-links": ("l", NONE), "no-dereference": ("P", NONE),
    "separate-dirs": ("S", NONE), "si": ("si", NONE), "summarize": ("s", NONE), "threshold": ("t", REQUIRED),
    "time": ("time", OPTIONAL), "time-style": ("timestyle", REQUIRED), "exclude-from": ("X", REQUIRED),
    "exclude": ("exclude", REQUIRED), "one-file-system": ("x", NONE)},
    help="Usage: NAME [OPTION]... [FILE]...\n  or:  NAME [OPTION]... --files0-from=F\n"
         "Summarize device usage of the set of FILEs, recursively for directories.\n")


class Frame:
    """A directory that is being added up: `size` of it and its files, `below` of its directories."""

    __slots__ = ("below", "depth", "latest", "names", "path", "size")

    def __init__(self, path: str, depth: int, names: list[str], size: int, latest: int) -> None:
        self.path = path
        self.depth = depth
        self.names = names
        self.size = size
        self.below = 0
        self.latest = latest


class Usage:
    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.flags: set[str] = set()
        self.unit = default_block_size(proc, ("DU_BLOCK_SIZE", "BLOCK_SIZE", "BLOCKSIZE"))
        self.depth: int | None = None
        self.exclude: list[str] = []
        self.threshold = 0
        self.time = False
        self.end = "\n"
        self.seen: set[tuple[int, int]] = set()
        self.total = 0
        self.latest = 0
        self.status = 0

    def error(self, text: str, e: OSError) -> None:
        self.proc.stdout.flush()
        self.proc.fail(text, e)
        self.status = 1

    def size(self, stat: Stat) -> int:
        if "inodes" in self.flags:
            return 1
        if "apparent" in self.flags:
            return stat.size or 0
        return allocated(stat)

    def show(self, path: str, size: int, depth: int, when: int) -> None:
        if self.depth is not None and depth > self.depth:
            return
        if self.threshold > 0 and size < self.threshold or self.threshold < 0 and size > -self.threshold:
            return
        text = self.unit.show(size) if "inodes" not in self.flags else str(size)
        if self.time:
            from mirage.commands._times import full_iso
            text += "\t" + full_iso(self.proc, when)[:16]
        self.proc.stdout.write(encode(f"{text}\t{path}{self.end}"))

    def excluded(self, path: str) -> bool:
        return any(fnmatch.fnmatchcase(path, p) or any(fnmatch.fnmatchcase(path[i + 1:], p)
                                                       for i, c in enumerate(path) if c == "/") for p in self.exclude)

    def counted(self, stat: Stat) -> bool:
        """Is it a further name of a file that was counted already?"""
        if "l" in self.flags or not stat.ino or stat.nlink < 2 and not stat.is_dir and "L" not in self.flags:
            return False
        if stat.identity in self.seen:
            return True
        self.seen.add(stat.identity)
        return False

    def operand(self, path: str) -> None:
        fs = self.proc.fs
        if self.excluded(path):
            return
        try:
            stat = fs.stat(path, bool(self.flags & {"L", "D", "H"}))
        except OSError as e:
            self.error(f"cannot access {shell_quote(path, True)}", e)
            return
        if self.counted(stat):
            return
        size, when = self.tree(path, stat)
        self.total += size
        self.latest = max(self.latest, when)

    def tree(self, top: str, stat: Stat) -> tuple[int, int]:
        """Sizes of everything below, printed bottom up; without recursion."""
        fs, follow = self.proc.fs, "L" in self.flags
        if not stat.is_dir:
            size = self.size(stat)
            self.show(top, size, 0, stat.mtime_ns)
            return size, stat.mtime_ns
        stack = [self.enter(top, stat, 0)]
        while True:
            frame = stack[-1]
            if not frame.names:
                stack.pop()
                whole = frame.size + frame.below
                self.show(frame.path, frame.size if "S" in self.flags else whole, frame.depth, frame.latest)
                if not stack:
                    return whole, frame.latest
                stack[-1].below += whole
                stack[-1].latest = max(stack[-1].latest, frame.latest)
                continue
            name = frame.names.pop()
            child = f"{frame.path}{name}" if frame.path.endswith("/") else f"{frame.path}/{name}"
            if self.exclude and self.excluded(child):
                continue
            try:
                found = fs.stat(child, follow)
            except OSError as e:
                self.error(f"cannot access {shell_quote(child, True)}", e)
                continue
            if self.counted(found):
                continue
            if found.is_dir:
                if not ("x" in self.flags and found.dev != stat.dev):
                    stack.append(self.enter(child, found, frame.depth + 1))
                continue
            used = self.size(found)
            frame.size += used
            frame.latest = max(frame.latest, found.mtime_ns)
            if "a" in self.flags:
                self.show(child, used, frame.depth + 1, found.mtime_ns)
            self.proc.kernel.tick()

    def enter(self, path: str, folder: Stat, depth: int) -> Frame:
        try:
            names = [entry.name for entry in self.proc.fs.list(path)]
        except OSError as e:
            self.error(f"cannot read directory {shell_quote(path, True)}", e)
            names = []
        names.reverse()
        return Frame(path, depth, names, self.size(folder), folder.mtime_ns)


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    usage = Usage(proc)
    source: str | None = None
    for key, value in options:
        usage.flags.add(key)
        if key == "d":
            depth = parse_size(value, "")
            if depth is None:
                raise usage_error(proc, SPEC, f"invalid maximum depth {quote(proc, value)}")
            usage.depth = depth
        elif key == "B":
            usage.unit = block_size(proc, value)
        elif key in ("h", "si"):
            usage.unit = BlockSize(base=1024 if key == "h" else 1000)
        elif key in ("k", "m"):
            usage.unit = BlockSize(1024 if key == "k" else 1 << 20)
        elif key == "b":
            usage.unit = BlockSize(1)
            usage.flags.add("apparent")
        elif key == "exclude":
            usage.exclude.append(value)
        elif key == "X":
            try:
                usage.exclude += proc.fs.read(value).decode("utf-8", "surrogateescape").splitlines()
            except OSError as e:
                raise fatal(proc, f"{shell_quote(value)}: {e.strerror}") from None
        elif key == "t":
            size = parse_size(value.lstrip("-"), "kKmMGTPEZYRQ")
            if size is None:
                raise fatal(proc, f"invalid --threshold argument '{value}'")
            usage.threshold = -size if value.startswith("-") else size
        elif key == "time":
            usage.time = True
        elif key == "0":
            usage.end = "\0"
        elif key == "files0":
            source = value
    if "s" in usage.flags:
        if "a" in usage.flags:
            raise usage_error(proc, SPEC, "cannot both summarize and show all entries")
        if usage.depth is not None and usage.depth > 0:
            raise usage_error(proc, SPEC, f"warning: summarizing conflicts with --max-depth={usage.depth}")
        usage.depth = 0
    if source is not None:
        if operands:
            raise usage_error(proc, SPEC, f"extra operand {quote(proc, operands[0])}\n"
                              "file operands cannot be combined with --files0-from")
        try:
            data = read_operand(proc, source)
        except OSError as e:
            raise fatal(proc, f"cannot open {shell_quote(source, True)} for reading: {e.strerror}") from None
        operands = [n.decode("utf-8", "surrogateescape") for n in data.split(b"\0") if n]
    for operand in operands or ["."]:
        usage.operand(operand)
    if "c" in usage.flags:
        usage.threshold, usage.depth = 0, None
        usage.show("total", usage.total, 0, usage.latest)
    return usage.status
