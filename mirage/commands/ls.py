"""ls, dir, vdir: list directories."""
from __future__ import annotations

import fnmatch
import stat as st

from mirage.commands import _ls_format as fmt
from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse, usage_error
from mirage.commands._text import (
    BlockSize,
    block_size,
    choice,
    default_block_size,
    fatal,
    quote,
    shell_quote,
    text_width,
)
from mirage.vfs.types import Stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mirage.process.process import Process

SPEC = Spec("abcdfghiklmnopqrstuvw:xABCDFGHI:LNQRST:UXZ1", {
    "all": ("a", NONE), "almost-all": ("A", NONE), "author": ("author", NONE), "escape": ("b", NONE),
    "block-size": ("block", REQUIRED), "ignore-backups": ("B", NONE), "color": ("color", OPTIONAL),
    "directory": ("d", NONE), "dired": ("D", NONE), "classify": ("classify", OPTIONAL),
    "file-type": ("filetype", NONE), "format": ("format", REQUIRED), "full-time": ("fulltime", NONE),
    "group-directories-first": ("dirsfirst", NONE), "no-group": ("G", NONE), "human-readable": ("h", NONE),
    "si": ("si", NONE), "dereference-command-line": ("H", NONE),
    "dereference-command-line-symlink-to-dir": ("derefdir", NONE), "hide": ("hide", REQUIRED),
    "hyperlink": ("hyperlink", OPTIONAL), "indicator-style": ("indicator", REQUIRED), "inode": ("i", NONE),
    "ignore": ("I", REQUIRED), "kibibytes": ("k", NONE), "dereference": ("L", NONE), "numeric-uid-gid": ("n", NONE),
    "literal": ("N", NONE), "hide-control-chars": ("q", NONE), "show-control-chars": ("showcontrol", NONE),
    "quote-name": ("Q", NONE), "quoting-style": ("quoting", REQUIRED), "reverse": ("r", NONE),
    "recursive": ("R", NONE), "size": ("s", NONE), "sort": ("sort", REQUIRED), "time": ("time", REQUIRED),
    "time-style": ("timestyle", REQUIRED), "tabsize": ("T", REQUIRED), "width": ("w", REQUIRED),
    "context": ("Z", NONE), "zero": ("zero", NONE)},
    help="Usage: NAME [OPTION]... [FILE]...\nList information about the FILEs (the current directory by default).\n",
    status=2)

FORMATS = (("verbose", "long"), ("commas",), ("horizontal", "across"), ("vertical",), ("single-column",))
SORTS = (("none",), ("size",), ("time",), ("version",), ("extension",), ("name",), ("width",))
TIMES = (("atime", "access", "use"), ("ctime", "status"), ("mtime", "modification"), ("birth", "creation"))
INDICATORS = (("none",), ("slash",), ("file-type",), ("classify",))
QUOTINGS = (("literal",), ("shell",), ("shell-always",), ("shell-escape",), ("shell-escape-always",), ("c",),
            ("c-maybe",), ("escape",), ("locale",), ("clocale",))
WHENS = (("always", "yes", "force"), ("never", "no", "none"), ("auto", "tty", "if-tty"))


class Item:
    """One file to list. `stat` is of what is shown; `target` says what a symbolic link points to."""

    __slots__ = ("failed", "name", "path", "stat", "target", "target_stat")

    def __init__(self, name: str, path: str, stat: Stat | None = None) -> None:
        self.name = name
        self.path = path
        self.stat = stat
        self.target: str | None = None
        self.target_stat: Stat | None = None
        self.failed = False


class Options:
    """Everything that the command line decided."""

    def __init__(self, proc: Process) -> None:
        tty = proc.file(1).isatty()
        name = proc.name
        self.format = "vertical" if tty or name == "dir" else "verbose" if name == "vdir" else "single-column"
        self.quoting = "escape" if name in ("dir", "vdir") else "shell-escape" if tty else "literal"
        self.hide_control = tty and name == "ls"
        self.all = self.almost = self.backups_hidden = False
        self.directory = self.recursive = self.reverse = False
        self.sort = ""
        self.time = "mtime"
        self.time_given = False
        self.indicator = "none"
        self.inode = self.blocks = self.author = self.context = False
        self.numeric = False
        self.owner = self.group = True
        self.dirs_first = False
        self.dereference = ""
        self.color = False
        self.time_style = ""
        self.ignore: list[str] = []
        self.hide: list[str] = []
        self.size_unit: BlockSize | None = None
        self.block_unit = default_block_size(proc, ("LS_BLOCK_SIZE", "BLOCK_SIZE"))
        if any(proc.env.get(n) for n in ("LS_BLOCK_SIZE", "BLOCK_SIZE")):
            self.size_unit = self.block_unit
        columns = proc.env.get("COLUMNS", "")
        self.width = int(columns) if columns.isdecimal() and len(columns) < 9 else proc.file(1).columns() or 80
        self.tab = 8
        self.end = "\n"


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    opts = Options(proc)
    for key, value in options:
        _option(proc, opts, key, value)
    if opts.time_given and not opts.sort and opts.format != "verbose":
        opts.sort = "time"
    opts.sort = opts.sort or "name"
    if not opts.time_style:
        opts.time_style = proc.env.get("TIME_STYLE") or "locale"
    if opts.format == "verbose" or opts.time_style.startswith("+"):
        _check_time_style(proc, opts)
    if not opts.dereference:
        opts.dereference = "none" if opts.directory or opts.indicator == "classify" or opts.format == "verbose" \
            else "commandlinedir"
    return Lister(proc, opts).run(operands)


def _option(proc: Process, o: Options, key: str, value: str) -> None:
    simple = _SIMPLE.get(key)
    if simple is not None:
        for attribute, setting in simple:
            setattr(o, attribute, setting)
    elif key == "w":
        if not value.isdecimal() or len(value) > 19:
            raise fatal(proc, f"invalid line width: {quote(proc, value)}", 2)
        o.width = int(value)
    elif key == "T":
        if not value.isdecimal():
            raise fatal(proc, f"invalid tab size: {quote(proc, value)}", 2)
        o.tab = int(value)
    elif key == "1":
        if o.format != "verbose":
            o.format = "single-column"
    elif key == "f":
        o.all, o.sort = True, "none"
    elif key == "I":
        o.ignore.append(value)
    elif key == "hide":
        o.hide.append(value)
    elif key == "block":
        o.block_unit = o.size_unit = block_size(proc, value)
    elif key in ("h", "si"):
        o.block_unit = o.size_unit = BlockSize(base=1024 if key == "h" else 1000)
    elif key == "k":
        if o.size_unit is None:
            o.block_unit = BlockSize(1024)
    elif key == "format":
        o.format = choice(proc, SPEC, "--format", value, FORMATS)
    elif key == "sort":
        o.sort = choice(proc, SPEC, "--sort", value, SORTS)
    elif key == "time":
        o.time = choice(proc, SPEC, "--time", value, TIMES)
        o.time_given = True
    elif key == "timestyle":
        o.time_style = value
    elif key == "indicator":
        o.indicator = choice(proc, SPEC, "--indicator-style", value, INDICATORS)
    elif key == "quoting":
        o.quoting = choice(proc, SPEC, "--quoting-style", value, QUOTINGS)
    elif key == "classify":
        if _when(proc, "--classify", value):
            o.indicator = "classify"
    elif key == "color":
        o.color = _when(proc, "--color", value)
    elif key == "hyperlink":
        _when(proc, "--hyperlink", value)


def _when(proc: Process, option: str, value: str) -> bool:
    word = choice(proc, SPEC, option, value, WHENS) if value else "always"
    return word == "always" or word == "auto" and proc.file(1).isatty()


_SIMPLE: dict[str, tuple[tuple[str, Any], ...]] = {
    "a": (("all", True),), "A": (("almost", True), ("all", False)), "author": (("author", True),),
    "b": (("quoting", "escape"),),
    "B": (("backups_hidden", True),), "c": (("time", "ctime"), ("time_given", True)), "d": (("directory", True),),
    "D": (), "F": (("indicator", "classify"),), "filetype": (("indicator", "file-type"),),
    "fulltime": (("format", "verbose"), ("time_style", "full-iso")), "dirsfirst": (("dirs_first", True),),
    "g": (("format", "verbose"), ("owner", False)), "G": (("group", False),), "H": (("dereference", "commandline"),),
    "derefdir": (("dereference", "commandlinedir"),), "i": (("inode", True),), "l": (("format", "verbose"),),
    "L": (("dereference", "always"),), "m": (("format", "commas"),), "n": (("format", "verbose"), ("numeric", True)),
    "N": (("quoting", "literal"),), "o": (("format", "verbose"), ("group", False)), "p": (("indicator", "slash"),),
    "q": (("hide_control", True),), "showcontrol": (("hide_control", False),), "Q": (("quoting", "c"),),
    "r": (("reverse", True),), "R": (("recursive", True),), "s": (("blocks", True),), "S": (("sort", "size"),),
    "t": (("sort", "time"),), "u": (("time", "atime"), ("time_given", True)), "U": (("sort", "none"),),
    "v": (("sort", "version"),), "x": (("format", "horizontal"),), "X": (("sort", "extension"),),
    "C": (("format", "vertical"),), "Z": (("context", True),),
    "zero": (("end", "\0"), ("format", "single-column"), ("quoting", "literal"), ("color", False),
             ("hide_control", False)),
}


def _check_time_style(proc: Process, o: Options) -> None:
    style = o.time_style
    if style.startswith("+"):
        return
    while style.startswith("posix-"):
        style = "locale"
    known = ("full-iso", "long-iso", "iso", "locale")
    found = [k for k in known if k == style] or [k for k in known if style and k.startswith(style)]
    if len(found) != 1:
        kind = "ambiguous" if found else "invalid"
        raise usage_error(
            proc, SPEC, f"{kind} argument {quote(proc, o.time_style)} for {quote(proc, 'time style')}\n"
            "Valid arguments are:\n  - [posix-]full-iso\n  - [posix-]long-iso\n  - [posix-]iso\n"
            "  - [posix-]locale\n  - +FORMAT (e.g., +%H:%M) for a 'date'-style format")
    o.time_style = found[0]


class Lister:
    def __init__(self, proc: Process, options: Options) -> None:
        self.proc = proc
        self.o = options
        self.status = 0
        self.printed = False
        self.printer = fmt.Printer(proc, options)
        o = options
        self.need_stat = bool(o.format == "verbose" or o.blocks or o.inode or o.sort in ("time", "size")
                              or o.dirs_first or o.recursive or self.printer.colors)
        self.need_type = o.indicator != "none"

    def error(self, what: str, e: OSError, serious: bool) -> None:
        self.proc.stdout.flush()
        self.proc.fail(what, e)
        if serious:
            self.status = 2
        elif not self.status:
            self.status = 1

    def run(self, operands: list[str]) -> int:
        files: list[Item] = []
        folders: list[Item] = []
        for name in operands or ["."]:
            item = Item(name, name)
            if not self.stat_operand(item):
                continue
            assert item.stat is not None
            (folders if item.stat.is_dir and not self.o.directory else files).append(item)
        if self.o.sort != "none" or self.o.dirs_first:
            files, folders = self.sorted(files), self.sorted(folders)
        if files:
            self.printer.show(files)
            self.printed = True
        headers = len(operands) > 1 or self.o.recursive
        stack = [(item, headers) for item in reversed(folders)]
        while stack:
            item, header = stack.pop()
            children = self.directory(item, header, serious=True)
            stack.extend((child, True) for child in reversed(children))
            self.proc.check()
        return self.status

    def stat_operand(self, item: Item) -> bool:
        fs, mode = self.proc.fs, self.o.dereference
        try:
            if mode in ("always", "commandline", "commandlinedir"):
                try:
                    found = fs.stat(item.path)
                except OSError:
                    if mode == "always":
                        raise
                    found = None
                if found is None or mode == "commandlinedir" and not found.is_dir:
                    found = fs.stat(item.path, False)
                item.stat = found
            else:
                item.stat = fs.stat(item.path, False)
        except OSError as e:
            self.error(f"cannot access {shell_quote(item.path, True)}", e, True)
            return False
        self.resolve_link(item)
        return True

    def resolve_link(self, item: Item) -> None:
        stat = item.stat
        if stat is None or not stat.is_link:
            return
        if self.o.format == "verbose":
            try:
                item.target = self.proc.fs.readlink(item.path)
            except OSError as e:
                self.error(f"cannot read symbolic link {shell_quote(item.path, True)}", e, False)
        if self.o.indicator != "none" or self.printer.colors or self.o.dirs_first:
            try:
                item.target_stat = self.proc.fs.stat(item.path)
            except OSError:
                item.target_stat = None

    def hidden(self, name: str) -> bool:
        o = self.o
        if name.startswith(".") and not (o.all or o.almost):
            return True
        if o.backups_hidden and name.endswith("~"):
            return True
        if o.hide and not (o.all or o.almost) and any(_matches(name, pattern) for pattern in o.hide):
            return True
        return any(_matches(name, pattern) for pattern in o.ignore)

    def directory(self, item: Item, header: bool, serious: bool) -> list[Item]:
        """Print one directory; the subdirectories to visit next with -R."""
        proc, o = self.proc, self.o
        try:
            entries = list(proc.fs.list(item.path))
        except OSError as e:
            self.error(f"cannot open directory {shell_quote(item.path, True)}", e, serious)
            return []
        prefix = item.path if item.path.endswith("/") else item.path + "/"
        items = []
        if o.all:
            items = [Item(".", prefix + "."), Item("..", prefix + "..")]
            items = [i for i in items if not any(_matches(i.name, p) for p in o.ignore)]
        plain = not (o.ignore or o.hide or o.backups_hidden)
        for entry in entries:
            name = entry.name
            if plain and name[:1] != "." or not self.hidden(name):
                items.append(Item(name, prefix + name, entry.stat))
        if self.need_stat or self.need_type or o.dereference == "always":
            for number, child in enumerate(items):
                self.stat_child(child)
                if not number & 0xFF:
                    proc.check()
        if header:
            if self.printed:
                self.printer.write(o.end if o.end == "\n" else "\n")
            self.printer.write(self.printer.quoted(item.path, header=True) + ":\n")
        self.printed = True
        if o.format == "verbose" or o.blocks:
            total = sum(fmt.allocated(i.stat) for i in items if i.stat is not None)
            self.printer.write(f"total {o.block_unit.show(total)}{o.end}")
        items = self.sorted(items)
        self.printer.show(items)
        if not o.recursive:
            return []
        return [Item(i.path, i.path, i.stat) for i in items
                if i.stat is not None and i.stat.is_dir and i.name not in (".", "..")]

    def stat_child(self, item: Item) -> None:
        fs = self.proc.fs
        follow = self.o.dereference == "always"
        try:
            if item.stat is None or follow and item.stat.is_link or item.stat.size is None and self.need_stat:
                item.stat = fs.stat(item.path, follow)
        except OSError as e:
            if follow and item.stat is not None:
                self.error(f"cannot access {shell_quote(item.path, True)}", e, False)
                item.failed = True
            elif item.stat is None:
                self.error(f"cannot access {shell_quote(item.path, True)}", e, False)
                item.failed = True
            return
        self.resolve_link(item)

    def sorted(self, items: list[Item]) -> list[Item]:
        o = self.o
        if o.sort != "none":
            items.sort(key=lambda i: _bytes(i.name), reverse=o.reverse and o.sort == "name")
            key = _sort_key(o)
            if key is not None:
                if o.reverse:
                    items.reverse()
                items.sort(key=key, reverse=o.reverse)
        if o.dirs_first:
            items.sort(key=lambda i: not _is_directory(i))
        return items


def _sort_key(o: Options) -> Callable[[Item], Any] | None:
    if o.sort == "size":
        return lambda i: -(i.stat.size or 0) if i.stat else 0
    if o.sort == "time":
        return lambda i: -(fmt.time_of(i.stat, o.time) or 0) if i.stat else 0
    if o.sort == "version":
        from mirage.commands._version_order import version_key
        return lambda i: version_key(_bytes(i.name))
    if o.sort == "extension":
        return lambda i: _bytes(i.name[i.name.rfind("."):] if "." in i.name else "")
    if o.sort == "width":
        return lambda i: text_width(i.name)
    return None


def _is_directory(item: Item) -> bool:
    stat = item.target_stat if item.stat is not None and item.stat.is_link else item.stat
    return stat is not None and st.S_ISDIR(stat.mode)


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _matches(name: str, pattern: str) -> bool:
    if name.startswith(".") and not pattern.startswith("."):
        return False
    return fnmatch.fnmatchcase(name, pattern.replace("[^", "[!"))
