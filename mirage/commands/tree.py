"""tree: list directories as a tree (tree 2.2.1)."""
from __future__ import annotations

import fnmatch
import stat as st

from mirage.commands._io import encode
from mirage.commands._ls_format import DEFAULT_COLORS
from mirage.commands._times import local
from mirage.commands._users import group_name, user_name
from mirage.process.signals import Exit
from mirage.vfs.types import Stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.process.process import Process

USAGE = """usage: tree [-acdfghilnpqrstuvxACDFJQNSUX] [-L level [-R]] [-H [-]baseHREF]
	[-T title] [-o filename] [-P pattern] [-I pattern] [--gitignore]
	[--gitfile[=]file] [--matchdirs] [--metafirst] [--ignore-case]
	[--nolinks] [--hintro[=]file] [--houtro[=]file] [--inodes] [--device]
	[--sort[=]name] [--dirsfirst] [--filesfirst] [--filelimit[=]#] [--si]
	[--du] [--prune] [--charset[=]X] [--timefmt[=]format] [--fromfile]
	[--fromtabfile] [--fflinks] [--info] [--infofile[=]file] [--noreport]
	[--hyperlink] [--scheme[=]schema] [--authority[=]host] [--opt-toggle]
	[--version] [--help] [--] [directory ...]
"""
LETTERS = set("acdfghilnpqrstuvxACDFJQNSUX")
VALUED_LONG = ("filelimit", "charset", "timefmt", "sort", "gitfile", "hintro", "houtro", "infofile", "scheme",
               "authority")
PLAIN_LONG = ("dirsfirst", "filesfirst", "noreport", "si", "du", "prune", "inodes", "device", "matchdirs", "metafirst",
              "ignore-case", "nolinks", "gitignore", "info", "fromfile", "fromtabfile", "fflinks", "hyperlink",
              "opt-toggle")
SORTS = ("name", "version", "size", "mtime", "ctime", "none")
UTF8 = ("│\u00a0\u00a0 ", "├── ", "└── ")
ASCII = ("|   ", "|-- ", "`-- ")


class Node:
    """One name; `stat` is not followed, `target` is where a link points, `real` what is there."""

    __slots__ = ("children", "error", "name", "path", "real", "size", "stat", "target")

    def __init__(self, name: str, path: str, stat: Stat) -> None:
        self.name = name
        self.path = path
        self.stat = stat
        self.target: str | None = None
        self.real: Stat | None = stat
        self.children: list[Node] | None = None
        self.error = ""
        self.size = stat.size or 0

    @property
    def is_dir(self) -> bool:
        return self.real is not None and self.real.is_dir


class Options:
    def __init__(self) -> None:
        self.flags: set[str] = set()
        self.level: int | None = None
        self.include: list[str] = []
        self.exclude: list[str] = []
        self.limit = 0
        self.timefmt: str | None = None
        self.sort = "name"
        self.output: str | None = None
        self.ascii = False


class Tree:
    def __init__(self, proc: Process, options: Options) -> None:
        self.proc = proc
        self.o = options
        self.flags = options.flags
        self.bars = ASCII if options.ascii else UTF8
        self.dirs = self.files = 0
        self.status = 0
        self.total = 0
        self.now = proc.now()
        self.colors = DEFAULT_COLORS if "C" in self.flags and "n" not in self.flags else None

    def write(self, text: str) -> None:
        self.proc.stdout.write(encode(text))

    # ---- reading

    def matches(self, name: str, patterns: list[str], is_dir: bool) -> bool:
        fold = "ignore-case" in self.flags
        subject = name.lower() if fold else name
        for pattern in patterns:
            for part in pattern.split("|"):
                if part.endswith("/"):
                    if not is_dir:
                        continue
                    part = part[:-1]
                if fnmatch.fnmatchcase(subject, part.lower() if fold else part):
                    return True
        return False

    def wanted(self, node: Node) -> bool:
        flags = self.flags
        if node.name.startswith(".") and "a" not in flags:
            return False
        is_dir = node.stat.is_dir
        if "d" in flags and not node.is_dir:
            return False
        if self.o.exclude and self.matches(node.name, self.o.exclude, is_dir):
            return False
        if self.o.include and (not is_dir or "matchdirs" in flags):
            return self.matches(node.name, self.o.include, is_dir)
        return True

    def load(self, node: Node, depth: int, seen: frozenset[tuple[int, int]]) -> None:
        """Read the children of a directory, and theirs."""
        fs, o = self.proc.fs, self.o
        try:
            entries = fs.list(node.path)
        except OSError:
            node.error = "error opening dir"
            self.status = 2
            return
        children = []
        for entry in entries:
            path = f"{node.path.rstrip('/')}/{entry.name}" if node.path != "/" else f"/{entry.name}"
            try:
                stat = entry.stat if entry.stat is not None and entry.stat.size is not None else fs.stat(path, False)
            except OSError:
                continue
            child = Node(entry.name, path, stat)
            if stat.is_link:
                self.resolve(child)
            if self.wanted(child):
                children.append(child)
        self.proc.check()
        if o.limit and len(children) > o.limit:
            node.error = f"{len(children)} entries exceeds filelimit, not opening dir"
            return
        self.sort(children)
        node.children = children
        if o.level is None or depth < o.level:
            for child in children:
                if not child.is_dir or child.stat.is_link and "l" not in self.flags:
                    continue
                identity = child.real.identity if child.real is not None else (0, 0)
                if child.stat.is_link and identity in seen:
                    child.error = "recursive, not followed"
                    continue
                self.load(child, depth + 1, seen | {identity} if "l" in self.flags else seen)
        if "prune" in self.flags:
            node.children = [c for c in children if not c.stat.is_dir or c.children or c.error]
        if "du" in self.flags:
            node.size += sum(c.size for c in node.children)

    def resolve(self, node: Node) -> None:
        fs = self.proc.fs
        try:
            node.target = fs.readlink(node.path)
        except OSError:
            node.target = None
        try:
            node.real = fs.stat(node.path)
        except OSError:
            node.real = None

    def sort(self, nodes: list[Node]) -> None:
        flags, kind = self.flags, self.o.sort
        if kind != "none":
            nodes.sort(key=lambda n: encode(n.name))
            if kind == "version":
                from mirage.commands._version_order import version_key
                nodes.sort(key=lambda n: version_key(encode(n.name)))
            elif kind == "size":
                nodes.sort(key=lambda n: -(n.stat.size or 0))
            elif kind == "mtime":
                nodes.sort(key=lambda n: n.stat.mtime_ns)
            elif kind == "ctime":
                nodes.sort(key=lambda n: n.stat.ctime_ns)
            if "r" in flags:
                nodes.reverse()
        if "dirsfirst" in flags:
            nodes.sort(key=lambda n: not n.is_dir)
        elif "filesfirst" in flags:
            nodes.sort(key=lambda n: n.is_dir)

    # ---- printing

    def info(self, node: Node) -> str:
        """The bracketed columns in front of a name."""
        flags, stat = self.flags, node.stat
        parts = []
        if "inodes" in flags:
            parts.append(f"{stat.ino:7d}")
        if "device" in flags:
            parts.append(f"{stat.dev:3d}")
        if "p" in flags:
            parts.append(st.filemode(stat.mode))
        if "u" in flags:
            parts.append(f"{user_name(self.proc, stat.uid):<8.32}")
        if "g" in flags:
            parts.append(f"{group_name(self.proc, stat.gid):<8.32}")
        if "s" in flags or "h" in flags or "si" in flags or "du" in flags:
            parts.append(self.size(node.size))
        if "D" in flags or self.o.timefmt is not None:
            parts.append(self.time(stat))
        return f"[{' '.join(parts)}]  " if parts else ""

    def size(self, size: int) -> str:
        if "h" in self.flags or "si" in self.flags:
            base = 1000 if "si" in self.flags else 1024
            return f"{size:4d}" if size < base else f"{human_tree(size, base):>4}"
        return f"{size:11d}"

    def time(self, stat: Stat) -> str:
        ns = stat.ctime_ns if "c" in self.flags else stat.mtime_ns
        when = local(self.proc, ns)
        if self.o.timefmt is not None:
            from mirage.text.strftime import strftime
            return strftime(self.o.timefmt, when, ns % 10**9)
        recent = self.now - 6 * 30 * 24 * 3600 <= ns / 1e9 <= self.now
        return f"{when:%b} {when.day:2d} {when:%H:%M}" if recent else f"{when:%b} {when.day:2d}  {when.year}"

    def name(self, node: Node, top: bool) -> str:
        flags = self.flags
        text = node.path if top or "f" in flags else node.name
        if "q" in flags:
            text = "".join(c if c.isprintable() else "?" for c in text)
        if "Q" in flags:
            text = f'"{text}"'
        if self.colors is not None:
            text = self.painted(node, text)
        mark = self.mark(node.stat) if node.target is None else ""
        if node.target is not None:
            target = f'"{node.target}"' if "Q" in flags else node.target
            text += f" -> {target}"
            if node.real is not None:
                mark = self.mark(node.real)
        return text + mark

    def painted(self, node: Node, text: str) -> str:
        assert self.colors is not None
        stat = node.stat
        key = "di" if stat.is_dir else "ln" if stat.is_link else "pi" if stat.is_fifo else \
            "ex" if stat.mode & 0o111 else ""
        return f"\033[{self.colors[key] if key else '00'}m{text}\033[0m"

    def mark(self, stat: Stat) -> str:
        if "F" not in self.flags:
            return ""
        if stat.is_dir:
            return "/"
        if stat.is_fifo:
            return "|"
        if stat.is_link:
            return "@"
        return "*" if stat.mode & 0o111 else ""

    def count(self, node: Node) -> None:
        if node.is_dir:
            self.dirs += 1
        else:
            self.files += 1

    def top(self, path: str) -> Node | None:
        try:
            stat = self.proc.fs.stat(path)
        except OSError:
            self.status = 2
            return None
        node = Node(path, path, stat)
        if stat.is_dir:
            self.load(node, 1, frozenset({stat.identity}))
        else:
            node.error = "error opening dir"
        return node

    def text(self, path: str) -> None:
        node = self.top(path)
        if node is None:
            self.write(f"{path}  [error opening dir]\n")
            return
        if node.children or not node.is_dir:
            self.count(node)
        if "du" in self.flags:
            self.total += node.size
        if node.error and node.children is None:
            self.write(f"{self.info(node) if node.is_dir else ''}{self.name(node, True)}  [{node.error}]\n")
            return
        self.write(self.info(node) + self.name(node, True) + "\n")
        indent = "i" in self.flags
        stack: list[tuple[Node, str, bool]] = []

        def push(nodes: list[Node], prefix: str) -> None:
            for number, child in reversed(list(enumerate(nodes))):
                stack.append((child, prefix, number == len(nodes) - 1))
        push(node.children or [], "")
        while stack:
            child, prefix, last = stack.pop()
            self.count(child)
            line = self.info(child) + self.name(child, False)
            if child.error:
                line += f"  [{child.error}]"
            bar = "" if indent else prefix + (self.bars[2] if last else self.bars[1])
            self.write(f"{bar}{line}\n")
            if child.children:
                push(child.children, prefix + ("    " if last else self.bars[0]))
            self.proc.kernel.tick()

    def report(self) -> None:
        if "noreport" in self.flags:
            return
        text = ""
        if "du" in self.flags:
            shown = self.size(self.total)
            text = f"{shown}{'' if 'h' in self.flags or 'si' in self.flags else ' bytes'} used in "
            if "h" not in self.flags and "si" not in self.flags:
                text = " " + text
        text += f"{self.dirs} director{'y' if self.dirs == 1 else 'ies'}"
        if "d" not in self.flags:
            text += f", {self.files} file{'' if self.files == 1 else 's'}"
        self.write(f"\n{text}\n")

    # ---- JSON and XML

    def attributes(self, node: Node) -> list[tuple[str, str, bool]]:
        """(name, value, is a number) of the chosen columns."""
        flags, stat = self.flags, node.stat
        out: list[tuple[str, str, bool]] = []
        if "inodes" in flags:
            out.append(("inode", str(stat.ino), True))
        if "device" in flags:
            out.append(("dev", str(stat.dev), True))
        if "p" in flags:
            out += [("mode", f"{stat.mode & 0o7777:04o}", False), ("prot", st.filemode(stat.mode), False)]
        if "u" in flags:
            out.append(("user", user_name(self.proc, stat.uid), False))
        if "g" in flags:
            out.append(("group", group_name(self.proc, stat.gid), False))
        if "s" in flags or "h" in flags or "si" in flags or "du" in flags:
            human_size = "h" in flags or "si" in flags
            out.append(("size", self.size(node.size).strip(), not human_size))
        if "D" in flags:
            out.append(("time", self.time(stat), False))
        return out

    @staticmethod
    def kind(stat: Stat) -> str:
        return "directory" if stat.is_dir else "link" if stat.is_link else "fifo" if stat.is_fifo else \
            "char" if stat.is_char else "file"

    def json(self, paths: list[str]) -> None:
        self.write("[\n")
        for number, path in enumerate(paths):
            node = self.top(path)
            if node is None:
                self.write(f',"name":{_json(path)},"contents":[{{"error": "error opening dir"}}\n  ]}}\n')
                continue
            self.count(node)
            self.write(self.json_node(node, 1, True) + ("," if number < len(paths) - 1 else "") + "\n")
        if "noreport" not in self.flags:
            files = "" if "d" in self.flags else f',"files":{self.files}'
            size = f'"size":{self.total},' if "du" in self.flags else ""
            self.write(f',\n  {{"type":"report",{size}"directories":{self.dirs}{files}}}\n')
        self.write("]\n")

    def json_node(self, node: Node, depth: int, top: bool) -> str:
        pad = "  " * depth if "i" not in self.flags else ""
        name = node.path if top or "f" in self.flags else node.name
        head = f'{pad}{{"type":"{self.kind(node.stat)}","name":{_json(name)}'
        if node.target is not None:
            head += f',"target":{_json(node.target)}'
        for key, value, number in self.attributes(node):
            head += f',"{key}":{value if number else _json(value)}'
        if node.error and node.children is None:
            return head + f',"error": "{node.error}"}}'
        if not node.stat.is_dir and not node.children:
            return head + "}"
        if not node.children:
            return head + (',"contents":[\n' + pad + "]}" if top
                           else "}") if node.children is None or top else head + "}"
        parts = []
        for child in node.children:
            self.count(child)
            parts.append(self.json_node(child, depth + 1, False))
        return head + ',"contents":[\n' + ",\n".join(parts) + f"\n{pad}]}}"

    def xml(self, paths: list[str]) -> None:
        self.write('<?xml version="1.0" encoding="UTF-8"?>\n<tree>\n')
        for path in paths:
            node = self.top(path)
            if node is None:
                self.write(f'  <directory name="{_xml(path)}"><error>opening dir</error></directory>\n')
                continue
            self.count(node)
            self.write(self.xml_node(node, 1, True))
        if "noreport" not in self.flags:
            files = "" if "d" in self.flags else f"    <files>{self.files}</files>\n"
            self.write(f"  <report>\n    <directories>{self.dirs}</directories>\n{files}  </report>\n")
        self.write("</tree>\n")

    def xml_node(self, node: Node, depth: int, top: bool) -> str:
        pad, kind = "  " * depth, self.kind(node.stat)
        name = node.path if top or "f" in self.flags else node.name
        head = f'{pad}<{kind} name="{_xml(name)}"'
        if node.target is not None:
            head += f' target="{_xml(node.target)}"'
        for key, value, _ in self.attributes(node):
            head += f' {key}="{_xml(value)}"'
        if not node.children:
            return f"{head}></{kind}>\n"
        body = []
        for child in node.children:
            self.count(child)
            body.append(self.xml_node(child, depth + 1, False))
        return f"{head}>\n{''.join(body)}{pad}</{kind}>\n"


def human_tree(size: int, base: int) -> str:
    """tree -h: one decimal below ten, rounded to nearest."""
    units, value = "BKMGTPEZY", float(size)
    index = 0
    while value >= base and index < len(units) - 1:
        value /= base
        index += 1
    return f"{value:.1f}{units[index]}" if value < 10 else f"{value:.0f}{units[index]}"


def _json(text: str) -> str:
    out = []
    for char in text:
        if char in '"\\':
            out.append("\\" + char)
        elif char in "\b\f\n\r\t":
            out.append({"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}[char])
        elif ord(char) < 32:
            out.append(f"\\u{ord(char):04x}")
        else:
            out.append(char)
    return '"' + "".join(out) + '"'


def _xml(text: str) -> str:
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(char, entity)
    return text


def _fail(proc: Process, text: str, usage: bool = False) -> Exit:
    proc.stdout.flush()
    proc.write_error(f"tree: {text}\n" + (USAGE if usage else ""))
    return Exit(1)


def parse_arguments(proc: Process) -> tuple[Options, list[str]]:
    """tree has its own option syntax: `-L 2`, `-L2`, clusters, `--name value` and `--name=value`."""
    o, paths = Options(), []
    args = proc.argv[1:]
    args.reverse()

    def value_of(option: str) -> str:
        if not args:
            raise _fail(proc, f"Missing argument to {option} option.")
        return args.pop()
    ended = False
    while args:
        arg = args.pop()
        if ended or not arg.startswith("-") or arg == "-":
            paths.append(arg)
        elif arg == "--":
            ended = True
        elif arg.startswith("--"):
            _long(proc, o, arg[2:], value_of)
        else:
            rest = arg[1:]
            while rest:
                letter, rest = rest[0], rest[1:]
                if letter in "LPIoHT":
                    if letter == "L" and rest:
                        value, rest = rest, ""
                    else:
                        value = value_of("-" + letter)
                    _valued(proc, o, letter, value)
                elif letter in LETTERS:
                    o.flags.add(letter)
                elif letter == "R":
                    continue
                else:
                    raise _fail(proc, f"Invalid argument -`{letter}'.", True)
    return o, paths


def _valued(proc: Process, o: Options, letter: str, value: str) -> None:
    if letter == "L":
        if not value.isdecimal() or int(value) == 0:
            raise _fail(proc, "Invalid level, must be greater than 0.")
        o.level = int(value)
    elif letter == "P":
        o.include.append(value)
    elif letter == "I":
        o.exclude.append(value)
    elif letter == "o":
        o.output = value


def _long(proc: Process, o: Options, text: str, value_of: Callable[[str], str]) -> None:
    name, equals, value = text.partition("=")
    if name == "help":
        proc.stdout.write(USAGE.encode())
        raise Exit(0)
    if name == "version":
        proc.stdout.write(b"tree v2.2.1 (Mirage)\n")
        raise Exit(0)
    if name in PLAIN_LONG and not equals:
        o.flags.add(name)
    elif name in VALUED_LONG:
        if not equals:
            value = value_of("--" + name)
        if name == "filelimit":
            o.limit = int(value) if value.isdecimal() else 0
        elif name == "charset":
            o.ascii = value.upper().replace("-", "") not in ("UTF8",)
        elif name == "timefmt":
            o.timefmt = value
        elif name == "sort":
            if value not in SORTS:
                raise _fail(proc, f"Sort type '{value}' not valid, should be one of: {','.join(SORTS)}")
            o.sort = value
    else:
        raise _fail(proc, f"Invalid argument `--{text}'.", True)


def main(proc: Process) -> int:
    import os

    o, paths = parse_arguments(proc)
    for letter, kind in (("v", "version"), ("t", "mtime"), ("c", "ctime"), ("U", "none")):
        if letter in o.flags:
            o.sort = kind
    if o.output is not None:
        try:
            proc.install(1, proc.open(o.output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
        except OSError:
            raise _fail(proc, f"invalid filename '{o.output}'") from None
    tree = Tree(proc, o)
    paths = paths or ["."]
    if "J" in o.flags:
        tree.json(paths)
    elif "X" in o.flags:
        tree.xml(paths)
    else:
        for path in paths:
            tree.text(path)
        tree.report()
    return tree.status
