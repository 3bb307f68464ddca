"""The command line of fd, with the error texts of its parser (clap)."""
from __future__ import annotations

import re

from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

FLAGS = {
    "H": "hidden", "I": "no-ignore", "u": "unrestricted", "s": "case-sensitive", "i": "ignore-case", "g": "glob",
    "F": "fixed-strings", "a": "absolute-path", "l": "list-details", "L": "follow", "p": "full-path", "0": "print0",
    "q": "quiet", "1": "max-one-result", "h": "help", "V": "version"}
VALUES = {"d": "max-depth", "E": "exclude", "t": "type", "e": "extension", "S": "size", "o": "owner", "x": "exec",
          "X": "exec-batch", "c": "color", "j": "threads", "C": "base-directory"}
LONG_FLAGS = {*FLAGS.values(), "no-hidden", "ignore", "no-ignore-vcs", "ignore-vcs", "no-require-git", "require-git",
              "no-ignore-parent", "no-global-ignore-file", "regex", "relative-path", "no-follow", "prune",
              "show-errors", "one-file-system", "has-results", "and", "no-unrestricted", "mount"}
LONG_VALUES = {*VALUES.values(), "maxdepth", "min-depth", "exact-depth", "changed-within", "changed-before", "newer",
               "older", "changed-after", "change-newer-than", "change-older-than", "batch-size", "ignore-file",
               "max-results", "path-separator", "search-path", "format", "and", "hyperlink", "strip-cwd-prefix"}
OPTIONAL = {"strip-cwd-prefix", "hyperlink"}
TYPES = {"f": "file", "d": "directory", "l": "symlink", "b": "block-device", "c": "char-device", "x": "executable",
         "e": "empty", "s": "socket", "p": "pipe"}
NAMES = {"max-depth": "depth", "exclude": "pattern", "type": "filetype", "extension": "ext", "size": "size",
         "exec": "cmd", "exec-batch": "cmd", "color": "when", "threads": "num", "base-directory": "path"}
HELP = """A program to find entries in your filesystem

Usage: NAME [OPTIONS] [pattern] [path]...

Arguments:
  [pattern]  the search pattern (a regular expression, unless '--glob' is used; optional)
  [path]...  the root directories for the filesystem search (optional)

Options:
  -H, --hidden                     Search hidden files and directories
  -I, --no-ignore                  Do not respect .(git|fd)ignore files
  -s, --case-sensitive             Case-sensitive search (default: smart case)
  -i, --ignore-case                Case-insensitive search (default: smart case)
  -g, --glob                       Glob-based search (default: regular expression)
  -F, --fixed-strings              Treat the pattern as a literal string
  -a, --absolute-path              Show absolute instead of relative paths
  -l, --list-details               Use a long listing format with file metadata
  -L, --follow                     Follow symbolic links
  -p, --full-path                  Search full abs. path (default: filename only)
  -d, --max-depth <depth>          Set maximum search depth (default: none)
  -E, --exclude <pattern>          Exclude entries that match the given glob pattern
  -t, --type <filetype>            Filter by type: file (f), directory (d/dir), symlink (l),
                                   executable (x), empty (e), socket (s), pipe (p), char-device
                                   (c), block-device (b)
  -e, --extension <ext>            Filter by file extension
  -S, --size <size>                Limit results based on the size of files
      --changed-within <date|dur>  Filter by file modification time (newer than)
      --changed-before <date|dur>  Filter by file modification time (older than)
      --format <fmt>               Print results according to template
  -x, --exec <cmd>...              Execute a command for each search result
  -X, --exec-batch <cmd>...        Execute a command with all search results at once
  -c, --color <when>               When to use colors [default: auto]
  -h, --help                       Print help
  -V, --version                    Print version
"""


def problem(proc: Process, text: str, status: int = 2) -> Exit:
    proc.write_error(f"error: {text}\n\nFor more information, try '--help'.\n")
    return Exit(status)


class Options:
    def __init__(self) -> None:
        self.pattern = ""
        self.paths: list[str] = []
        self.more_patterns: list[str] = []
        self.hidden = self.no_ignore = self.no_ignore_vcs = self.no_ignore_parent = self.no_require_git = False
        self.glob = self.fixed = self.absolute = self.details = self.follow = self.full_path = self.null = False
        self.quiet = self.prune = self.show_errors = self.strip_prefix = self.strip_asked = False
        self.case = "smart"
        self.min_depth: int | None = None
        self.max_depth: int | None = None
        self.exclude: list[str] = []
        self.types: list[str] = []
        self.extensions: list[str] = []
        self.sizes: list[tuple[str, int]] = []
        self.newer: float | None = None
        self.older: float | None = None
        self.owner: tuple[int | None, bool, int | None, bool] | None = None
        self.max_results = 0
        self.execute: list[list[str]] = []
        self.batch: list[list[str]] = []
        self.format: str | None = None
        self.separator = ""
        self.base_directory: str | None = None
        self.search_paths: list[str] = []


def parse(proc: Process) -> Options:
    o, words, args, at = Options(), [], proc.argv[1:], 0
    while at < len(args):
        arg = args[at]
        at += 1
        if arg == "--":
            words += args[at:]
            break
        if arg.startswith("--"):
            name, equals, value = arg[2:].partition("=")
            if name in LONG_FLAGS and name not in LONG_VALUES and not equals:
                _flag(proc, o, name)
            elif name in LONG_VALUES:
                if not equals and name not in OPTIONAL:
                    value, at = _value(proc, args, at, name, f"--{name}")
                at = _apply(proc, o, name, value, args, at)
            else:
                raise _unknown(proc, arg.partition("=")[0])
        elif arg.startswith("-") and len(arg) > 1:
            place = 1
            while place < len(arg):
                letter = arg[place]
                place += 1
                if letter in FLAGS:
                    _flag(proc, o, FLAGS[letter])
                elif letter in VALUES:
                    value = arg[place:].removeprefix("=")
                    if not value:
                        value, at = _value(proc, args, at, VALUES[letter], f"--{VALUES[letter]}")
                    at = _apply(proc, o, VALUES[letter], value, args, at)
                    break
                else:
                    raise _unknown(proc, f"-{letter}")
        else:
            words.append(arg)
    if o.search_paths:
        o.paths = o.search_paths + words[1:]
    else:
        o.paths = words[1:]
    if o.fixed and o.glob:
        raise problem(proc, "the argument '--fixed-strings' cannot be used with '--glob'")
    if o.strip_asked and o.paths:
        raise problem(proc, "the argument '--strip-cwd-prefix[=<when>]' cannot be used with '[path]...'")
    o.pattern = words[0] if words else ""
    if o.details:
        o.batch = [["ls", "-l", "--color=never", "--human-readable", "-d"]]
        o.details = True
    return o


def _unknown(proc: Process, option: str) -> Exit:
    tip = f"\n\n  tip: to pass '{option}' as a value, use '-- {option}'"
    return problem(proc,
                   f"unexpected argument '{option}' found{tip}\n\nUsage: {proc.name} [OPTIONS] [pattern] [path]...")


def _value(proc: Process, args: list[str], at: int, name: str, option: str) -> tuple[str, int]:
    if at >= len(args):
        dots = "..." if name in ("exec", "exec-batch") else ""
        raise problem(proc, f"a value is required for '{option} <{NAMES.get(name, name)}>{dots}' but none was supplied")
    return args[at], at + 1


def _flag(proc: Process, o: Options, name: str) -> None:
    if name == "help":
        proc.stdout.write(HELP.replace("NAME", proc.name).encode())
        raise Exit(0)
    if name == "version":
        proc.stdout.write(f"{proc.name} 10.2.0 (Mirage)\n".encode())
        raise Exit(0)
    if name in ("case-sensitive", "ignore-case"):
        o.case = "sensitive" if name == "case-sensitive" else "ignore"
    elif name == "unrestricted":
        o.hidden = o.no_ignore = True
    elif name in ("ignore", "no-hidden", "relative-path", "no-follow", "ignore-vcs", "require-git", "regex"):
        attribute = {"ignore": "no_ignore", "no-hidden": "hidden", "relative-path": "absolute", "no-follow": "follow",
                     "ignore-vcs": "no_ignore_vcs", "require-git": "no_require_git", "regex": "glob"}[name]
        setattr(o, attribute, False)
    elif name == "max-one-result":
        o.max_results = 1
    else:
        attribute = {"fixed-strings": "fixed", "absolute-path": "absolute", "list-details": "details", "print0": "null",
                     "has-results": "quiet"}.get(name, name.replace("-", "_"))
        setattr(o, attribute, True)


def _number(proc: Process, name: str, value: str) -> int:
    if not value.isdecimal() or len(value) > 18:
        raise problem(proc, f"invalid value '{value}' for '--{name} <{NAMES.get(name, name)}>': invalid digit found in "
                            "string")
    return int(value)


def _apply(proc: Process, o: Options, name: str, value: str, args: list[str], at: int) -> int:
    if name in ("exec", "exec-batch"):
        command = [value]
        while at < len(args) and args[at] != ";":
            command.append(args[at])
            at += 1
        (o.execute if name == "exec" else o.batch).append(command)
        return at + 1
    if name in ("max-depth", "maxdepth", "min-depth", "exact-depth"):
        depth = _number(proc, name, value)
        if name != "min-depth":
            o.max_depth = depth
        if name in ("min-depth", "exact-depth"):
            o.min_depth = depth
    elif name == "exclude":
        o.exclude.append(value)
    elif name == "type":
        kind = TYPES.get(value) or ("directory" if value == "dir" else value if value in TYPES.values() else "")
        if not kind:
            raise problem(proc,
                          f"invalid value '{value}' for '--type <filetype>'\n  [possible values: file, directory, "
                                "symlink, block-device, char-device, executable, empty, socket, pipe]")
        o.types.append(kind)
    elif name == "extension":
        o.extensions.append(value.lstrip(".").lower())
    elif name == "size":
        o.sizes.append(_size(proc, value))
    elif name in ("changed-within", "newer", "changed-after", "change-newer-than"):
        o.newer = _moment(proc, value)
    elif name in ("changed-before", "older", "change-older-than"):
        o.older = _moment(proc, value)
    elif name == "owner":
        o.owner = _owner(proc, value)
    elif name == "max-results":
        o.max_results = _number(proc, name, value)
    elif name == "path-separator":
        o.separator = value
    elif name == "search-path":
        o.search_paths.append(value)
    elif name == "base-directory":
        o.base_directory = value
    elif name == "format":
        o.format = value
    elif name == "and":
        o.more_patterns.append(value)
    elif name == "strip-cwd-prefix":
        o.strip_prefix, o.strip_asked = value in ("", "always"), True
    elif name == "color" and value not in ("auto", "always", "never"):
        raise problem(proc, f"invalid value '{value}' for '--color <when>'\n  [possible values: auto, always, never]")
    return at


def _size(proc: Process, text: str) -> tuple[str, int]:
    found = re.fullmatch(r"([+-]?)([0-9]{1,15})(b|[kmgt](?:i?b?)?)?", text, re.IGNORECASE)
    if not found:
        raise problem(proc, f"invalid value '{text}' for '--size <size>': '{text}' is not a valid size constraint. See "
                            "'fd --help'.")
    unit = (found[3] or "b").lower()
    power = "bkmgt".index(unit[0])
    return found[1], int(found[2]) * (1024 if "i" in unit else 1000) ** power


def _moment(proc: Process, text: str) -> float:
    """A duration before now (10h, 2weeks, 1d 3h) or a date; seconds since the epoch."""
    units = {"s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600,
             "d": 86400, "day": 86400, "w": 604800, "week": 604800, "M": 2630016, "month": 2630016, "y": 31557600,
             "year": 31557600}
    parts = re.findall(r"([0-9]{1,9})\s*([A-Za-z]+)\s*", text)
    if parts and re.fullmatch(r"(?:[0-9]{1,9}\s*[A-Za-z]+\s*)+", text):
        seconds = 0
        for count, unit in parts:
            factor = units.get(unit) or units.get(unit.removesuffix("s"))
            if factor is None:
                break
            seconds += int(count) * factor
        else:
            return proc.now() - seconds
    import datetime
    if text.startswith("@") and text[1:].isdecimal():
        return float(text[1:15])
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        proc.write_error(f"[fd error]: '{text}' is not a valid date or duration. See 'fd --help'.\n")
        raise Exit(1) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()


def _owner(proc: Process, text: str) -> tuple[int | None, bool, int | None, bool]:
    ids: list[tuple[int | None, bool]] = []
    user, _, group = text.partition(":")
    for word, table in ((user, {name: uid for uid, (name, _) in proc.machine.users.items()}),
                        (group, {name: gid for gid, name in proc.machine.groups.items()})):
        negated, word = word.startswith("!"), word.removeprefix("!")
        number = int(word) if word.isdecimal() else table.get(word) if word else None
        if word and number is None:
            raise problem(proc, f"invalid value '{text}' for '--owner <user:group>': '{word}' is not a recognized name")
        ids.append((number, negated))
    return *ids[0], *ids[1]
