"""What the options of grep ask for, with GNU's error texts."""
from __future__ import annotations

from mirage.process.signals import Exit
from mirage.text.regex import utf8_locale

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

USAGE = "Usage: grep [OPTION]... PATTERNS [FILE]...\n"
VERSION = """grep (GNU grep) 3.11
This is the grep of Mirage, written to behave like GNU grep.
"""
HELP = """\
Usage: grep [OPTION]... PATTERNS [FILE]...
Search for PATTERNS in each FILE.
Example: grep -i 'hello world' menu.h main.c
PATTERNS can contain multiple patterns separated by newlines.

Pattern selection and interpretation:
  -E, --extended-regexp     PATTERNS are extended regular expressions
  -F, --fixed-strings       PATTERNS are strings
  -G, --basic-regexp        PATTERNS are basic regular expressions
  -P, --perl-regexp         PATTERNS are Perl regular expressions
  -e, --regexp=PATTERNS     use PATTERNS for matching
  -f, --file=FILE           take PATTERNS from FILE
  -i, --ignore-case         ignore case distinctions in patterns and data
      --no-ignore-case      do not ignore case distinctions (default)
  -w, --word-regexp         match only whole words
  -x, --line-regexp         match only whole lines
  -z, --null-data           a data line ends in 0 byte, not newline

Miscellaneous:
  -s, --no-messages         suppress error messages
  -v, --invert-match        select non-matching lines
  -V, --version             display version information and exit
      --help                display this help text and exit

Output control:
  -m, --max-count=NUM       stop after NUM selected lines
  -b, --byte-offset         print the byte offset with output lines
  -n, --line-number         print line number with output lines
      --line-buffered       flush output on every line
  -H, --with-filename       print file name with output lines
  -h, --no-filename         suppress the file name prefix on output
      --label=LABEL         use LABEL as the standard input file name prefix
  -o, --only-matching       show only nonempty parts of lines that match
  -q, --quiet, --silent     suppress all normal output
      --binary-files=TYPE   assume that binary files are TYPE;
                            TYPE is 'binary', 'text', or 'without-match'
  -a, --text                equivalent to --binary-files=text
  -I                        equivalent to --binary-files=without-match
  -d, --directories=ACTION  how to handle directories;
                            ACTION is 'read', 'recurse', or 'skip'
  -D, --devices=ACTION      how to handle devices, FIFOs and sockets;
                            ACTION is 'read' or 'skip'
  -r, --recursive           like --directories=recurse
  -R, --dereference-recursive  likewise, but follow all symlinks
      --include=GLOB        search only files that match GLOB (a file pattern)
      --exclude=GLOB        skip files that match GLOB
      --exclude-from=FILE   skip files that match any file pattern from FILE
      --exclude-dir=GLOB    skip directories that match GLOB
  -L, --files-without-match  print only names of FILEs with no selected lines
  -l, --files-with-matches  print only names of FILEs with selected lines
  -c, --count               print only a count of selected lines per FILE
  -T, --initial-tab         make tabs line up (if needed)
  -Z, --null                print 0 byte after FILE name
      --exact               with -r: read every file of a service, where its
                            own search could leave some out

Context control:
  -B, --before-context=NUM  print NUM lines of leading context
  -A, --after-context=NUM   print NUM lines of trailing context
  -C, --context=NUM         print NUM lines of output context
  -NUM                      same as --context=NUM
      --group-separator=SEP  print SEP on line between matches with context
      --no-group-separator  do not print separator for matches with context
      --color[=WHEN],
      --colour[=WHEN]       use markers to highlight the matching strings;
                            WHEN is 'always', 'never', or 'auto'
  -U, --binary              do not strip CR characters at EOL (MSDOS/Windows)

When FILE is '-', read standard input.  With no FILE, read '.' if
recursive, '-' otherwise.  With fewer than two FILEs, assume -h.
Exit status is 0 if any line is selected, 1 otherwise;
if any error occurs and -q is not given, the exit status is 2.
"""
COLORS = {"mt": "", "ms": "01;31", "mc": "01;31", "sl": "", "cx": "", "fn": "35", "ln": "32", "bn": "32", "se": "36"}


class Options:
    """One field per option; the defaults are those of plain grep."""

    def __init__(self) -> None:
        self.matcher = "G"                                   # G, E, F or P
        self.patterns: list[str] = []
        self.files: list[str] = []
        self.icase = self.word = self.line = self.invert = False
        self.null_data = self.text = self.without_binary = False
        self.count = self.quiet = self.only_matching = False
        self.list_files = ""                                 # "l", "L" or ""
        self.max_count: int | None = None
        self.before = self.after = -1
        self.number = self.byte_offset = self.initial_tab = False
        self.null_name = self.line_buffered = self.no_messages = False
        self.with_filename: bool | None = None
        self.label = "(standard input)"
        self.separator: bytes | None = b"--"
        self.directories = "read"                            # read, recurse, skip
        self.devices = ""                                    # read, skip, or "": read only if named
        self.follow = False
        self.exact = False                                   # never let a service search
        self.globs: list[tuple[str, bool]] = []              # (pattern, is it --include)
        self.dir_globs: list[str] = []
        self.colors: dict[str, str] | None = None            # None: no colour
        self.erase = b"\x1b[K"
        self.reverse = False
        self.utf8 = True

    @property
    def quiet_output(self) -> bool:
        """Nothing but names, counts or the status is wanted."""
        return self.quiet or self.count or bool(self.list_files)


def usage_exit(proc: Process, text: str, status: int = 2) -> Exit:
    proc.message(text)
    return Exit(status)


def read_options(proc: Process, given: list[tuple[str, str]], operands: list[str], default: str) -> Options:
    """Options from the parsed command line."""
    o = Options()
    o.utf8 = utf8_locale(proc.env)
    chosen = ""
    digits = ""
    context = -1
    patterns: list[str] | None = None
    color = "never"
    warn_u = False
    for key, value in given:
        if key in "EFGP" and len(key) == 1:
            if chosen and chosen != key:
                raise usage_exit(proc, "conflicting matchers specified")
            chosen = key
        elif key.isdecimal():
            digits += key
        elif key in ("A", "B", "C"):
            number = _length(proc, value)
            if key == "A":
                o.after = number
            elif key == "B":
                o.before = number
            else:
                context = number
        elif key == "e":
            patterns = [*(patterns or []), *value.split("\n")]
        elif key == "f":
            patterns = [*(patterns or []), *_pattern_file(proc, value)]
        elif key == "m":
            o.max_count = _max_count(proc, value)
        elif key == "d":
            o.directories = _directories(proc, value)
        elif key == "D":
            if value not in ("read", "skip"):
                raise usage_exit(proc, "unknown devices method")
            o.devices = value
        elif key == "binary-files":
            if value not in ("binary", "text", "without-match"):
                raise usage_exit(proc, "unknown binary-files type")
            o.text, o.without_binary = value == "text", value == "without-match"
        elif key == "color":
            color = _color(proc, value)
        elif key in ("include", "exclude"):
            o.globs.append((value, key == "include"))
        elif key == "exclude-dir":
            o.dir_globs.append(value.rstrip("/") or "/")
        elif key == "exclude-from":
            o.globs += [(line, False) for line in _pattern_file(proc, value) if line]
        elif key == "V":
            proc.stdout.write(VERSION.encode())
            raise Exit(0)
        elif key == "u":
            warn_u = True
        else:
            _flag(o, key, value)
    if warn_u:
        proc.message("warning: --unix-byte-offsets (-u) is obsolete")
    if digits:
        context = _length(proc, digits)
    o.before = context if o.before < 0 else o.before
    o.after = context if o.after < 0 else o.after
    o.matcher = chosen or default or "G"
    if patterns is None:
        if not operands:
            proc.write_error(f"{USAGE}Try 'grep --help' for more information.\n")
            raise Exit(2)
        patterns = operands.pop(0).split("\n")
    o.patterns = list(dict.fromkeys(patterns))
    o.files = operands
    if o.with_filename is None:
        o.with_filename = len(operands) > 1 or (o.directories == "recurse" and _names_directory(proc, operands))
    if color == "always" or color == "auto" and _terminal(proc):
        o.colors = _grep_colors(proc, o)
    return o


def _flag(o: Options, key: str, value: str) -> None:
    """Options that only set a field."""
    if key in ("i", "y"):
        o.icase = True
    elif key == "no-ignore-case":
        o.icase = False
    elif key in "wxvzacqonbTZs" and len(key) == 1:
        name = {"w": "word", "x": "line", "v": "invert", "z": "null_data", "a": "text", "c": "count", "q": "quiet",
                "o": "only_matching", "n": "number", "b": "byte_offset", "T": "initial_tab", "Z": "null_name",
                "s": "no_messages"}[key]
        setattr(o, name, True)
        if key == "a":
            o.without_binary = False
    elif key == "I":
        o.without_binary, o.text = True, False
    elif key in ("l", "L"):
        o.list_files = key
    elif key in ("r", "R"):
        o.directories = "recurse"
        o.follow = key == "R"
    elif key == "exact":
        o.exact = True
    elif key == "H":
        o.with_filename = True
    elif key == "h":
        o.with_filename = False
    elif key == "label":
        o.label = value
    elif key == "line-buffered":
        o.line_buffered = True
    elif key == "group-separator":
        o.separator = value.encode("utf-8", "surrogateescape")
    elif key == "no-group-separator":
        o.separator = None


def _length(proc: Process, text: str) -> int:
    if not text.isdecimal() or not text.isascii():
        raise usage_exit(proc, f"{text}: invalid context length argument")
    return min(int(text), 1 << 62)


def _max_count(proc: Process, text: str) -> int | None:
    digits = text[1:] if text[:1] in ("-", "+") else text
    if not digits.isdecimal() or not digits.isascii():
        raise usage_exit(proc, "invalid max count")
    return None if text.startswith("-") else int(digits)


def _directories(proc: Process, value: str) -> str:
    names = ("read", "recurse", "skip")
    found = [name for name in names if value and name.startswith(value)]
    if value in names:
        found = [value]
    if len(found) == 1:
        return found[0]
    kind = "ambiguous" if found else "invalid"
    proc.message(f"{kind} argument ‘{value}’ for ‘--directories’")
    proc.write_error("Valid arguments are:\n" + "".join(f"  - ‘{name}’\n" for name in names)
                     + f"{USAGE}Try 'grep --help' for more information.\n")
    raise Exit(1)


def _color(proc: Process, value: str) -> str:
    if value in ("", "auto", "tty", "if-tty"):
        return "auto"
    if value in ("always", "yes", "force"):
        return "always"
    if value in ("never", "no", "none"):
        return "never"
    proc.stdout.write(HELP.encode())
    raise Exit(0)


def _terminal(proc: Process) -> bool:
    return proc.fds[1].isatty() and proc.env.get("TERM", "dumb") != "dumb" if 1 in proc.fds else False


def _grep_colors(proc: Process, o: Options) -> dict[str, str]:
    colors = dict(COLORS)
    old = proc.env.get("GREP_COLOR")
    if old:
        proc.message(f"warning: GREP_COLOR='{old}' is deprecated; use GREP_COLORS='mt={old}'")
        colors["ms"] = colors["mc"] = old
    for item in proc.env.get("GREP_COLORS", "").split(":"):
        name, eq, value = item.partition("=")
        if eq and value.replace(";", "").isdecimal() or eq and not value:
            if name == "mt":
                colors["ms"] = colors["mc"] = value
            elif name in colors:
                colors[name] = value
        elif name == "ne":
            o.erase = b""
        elif name == "rv":
            o.reverse = True
    if o.reverse and o.invert:
        colors["sl"], colors["cx"] = colors["cx"], colors["sl"]
    return colors


def _pattern_file(proc: Process, name: str) -> list[str]:
    from mirage.commands._io import decode, read_operand
    try:
        data = read_operand(proc, name)
    except OSError as e:
        proc.fail(name, e)
        raise Exit(2) from None
    if not data:
        return []
    return decode(data[:-1] if data.endswith(b"\n") else data).split("\n")


def _names_directory(proc: Process, operands: list[str]) -> bool:
    return not operands or any(proc.fs.is_dir(name) for name in operands if name != "-")
