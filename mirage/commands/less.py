"""less, more, zless, zmore: there is no screen to page on, so files are printed."""
from __future__ import annotations

import re

from mirage.commands._archive_stream import BadStream, Reader
from mirage.commands._io import chunks, open_input
from mirage.process.process import refusal_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

LESS_HELP = """Usage: less [options] [file]...

This terminal has no screen to page on: less prints the files as they are. Its options are read, and change nothing.
"""
MORE_HELP = """
Usage:
 more [options] <file>...

Display the contents of a file in a terminal.

Options:
 -d, --silent          display help instead of ringing bell
 -f, --logical         count logical rather than screen lines
 -l, --no-pause        suppress pause after form feed
 -c, --print-over      do not scroll, display text and clean line ends
 -p, --clean-print     do not scroll, clean screen and display text
 -e, --exit-on-eof     exit on end-of-file
 -s, --squeeze         squeeze multiple blank lines into one
 -u, --plain           suppress underlining and bold
 -n, --lines <number>  the number of lines per screenful
 -<number>             same as --lines
 +<number>             display file beginning from line number
 +/<pattern>           display file beginning from pattern match

 -h, --help            display this help
 -V, --version         display version

For more details see more(1).
"""
LESS_FLAGS = frozenset("?aABcCdeEfFgGiIJKLmMnNqQrRsSuUVwWX")
LESS_VALUES = frozenset("bhjkoOpPtTxyzD\"#")
LESS_LONG = frozenset((
    "quit-at-eof", "QUIT-AT-EOF", "quit-if-one-screen", "ignore-case", "IGNORE-CASE", "no-init", "raw-control-chars",
    "RAW-CONTROL-CHARS", "chop-long-lines", "squeeze-blank-lines", "line-numbers", "LINE-NUMBERS", "force", "quiet",
    "silent", "QUIET", "SILENT", "long-prompt", "LONG-PROMPT", "clear-screen", "CLEAR-SCREEN", "mouse", "use-color",
    "follow-name", "incsearch", "wordwrap", "tilde", "hilite-search", "HILITE-SEARCH", "no-lessopen", "quit-on-intr",
    "no-keypad", "status-column", "search-skip-screen"))
LESS_LONG_VALUES = frozenset(("tabs", "prompt", "pattern", "tag", "window", "shift", "jump-target", "buffers",
                              "log-file",
                              "max-forw-scroll", "max-back-scroll", "color", "rscroll", "header"))
MORE_FLAGS = frozenset("dflcpesu")


def main(proc: Process) -> int:
    parsed = _more(proc) if proc.name == "more" else _less(proc)
    if isinstance(parsed, int):
        return parsed
    flags, names, start, pattern = parsed
    more = proc.name == "more"
    for name in names or ["-"]:
        try:
            if name != "-" and proc.fs.is_dir(name):
                text = f"\n*** {name}: directory ***\n\n" if more else f"{name} is a directory\n"
                proc.stdout.write(text.encode("utf-8", "surrogateescape"))
                continue
            file = open_input(proc, name).incref()
        except OSError as e:
            if more:
                proc.stdout.flush()
                proc.message(f"cannot open {name}: {e.strerror}")
            else:
                proc.stdout.write(f"{name}: {e.strerror}\n".encode("utf-8", "surrogateescape"))
                proc.write_error(refusal_note(e))
            continue
        try:
            if more and names:
                line = b":" * 14
                proc.stdout.write(line + b"\n" + name.encode("utf-8", "surrogateescape") + b"\n" + line + b"\n")
            if proc.name.startswith("z"):
                reader = Reader(proc, file)
                while data := reader.read(1 << 16):
                    proc.stdout.write(data)
            elif not more or not flags & {"s"} and start == 1 and pattern is None:
                for data in chunks(proc, file):
                    proc.stdout.write(data)
                    proc.stdout.flush()
            else:
                _show(proc, b"".join(chunks(proc, file)), flags, start, pattern)
        except BadStream:
            proc.stdout.flush()
            proc.write_error(f"\ngzip: {name}: unexpected end of file\n")
        finally:
            file.decref()
    return 0


def _show(proc: Process, data: bytes, flags: set[str], start: int, pattern: str | None) -> None:
    proc.kernel.fits(3 * len(data))
    lines = data.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    first = max(0, start - 1)
    if pattern is not None:
        from mirage.text.regex import RegexError, compile_bre
        try:
            search = compile_bre(pattern).search
        except RegexError:
            search = None
        first = next((n for n, line in enumerate(lines) if search is not None and search(line)), 0)
    out, blank = [], False
    for line in lines[first:]:
        if "s" in flags and blank and not line:
            continue
        blank = not line
        out.append(line)
    proc.stdout.write(b"\n".join(out) + (b"\n" if out else b""))


def _less(proc: Process) -> int | tuple[set[str], list[str], int, str | None]:
    flags: set[str] = set()
    names: list[str] = []
    start, pattern = 1, None
    args, at = proc.argv[1:], 0
    while at < len(args):
        arg = args[at]
        at += 1
        if arg == "--":
            names += args[at:]
            break
        if arg in ("--help", "--version", "-V", "-?"):
            proc.stdout.write(LESS_HELP.encode() if arg in ("--help", "-?") else b"less 668 (Mirage)\n")
            return 0
        if arg.startswith("+"):
            if arg[1:].lstrip("+g").isdecimal():
                start = int(arg[1:].lstrip("+g")[:12])
            elif arg.startswith("+/"):
                pattern = arg[2:]
        elif arg.startswith("--"):
            name, equals, _ = arg[2:].partition("=")
            if name in LESS_LONG_VALUES:
                at += not equals
            elif name in LESS_LONG:
                flags |= {"squeeze-blank-lines": {"s"}, "LINE-NUMBERS": {"N"}}.get(name, set())
            else:
                return _no_option(proc, arg)
        elif arg.startswith("-") and len(arg) > 1:
            place = 1
            while place < len(arg):
                letter = arg[place]
                place += 1
                if letter in LESS_VALUES:
                    at += place >= len(arg)
                    break
                if letter.isdecimal() or letter in "+~$":
                    continue
                if letter not in LESS_FLAGS:
                    return _no_option(proc, f"-{letter}")
                flags.add(letter)
        else:
            names.append(arg)
    return flags, names, start, pattern


def _no_option(proc: Process, option: str) -> int:
    proc.write_error(f"There is no {option} option (\"less --help\" for help)\n")
    return 1


def _more(proc: Process) -> int | tuple[set[str], list[str], int, str | None]:
    flags: set[str] = set()
    names: list[str] = []
    start, pattern = 1, None
    args, at = proc.argv[1:], 0
    while at < len(args):
        arg = args[at]
        at += 1
        if arg == "--":
            names += args[at:]
            break
        if arg in ("-h", "--help", "-V", "--version"):
            proc.stdout.write(MORE_HELP.encode() if "h" in arg else b"more from util-linux 2.41 (Mirage)\n")
            return 0
        if re.fullmatch(r"\+[0-9]{1,12}", arg):
            start = int(arg[1:])
        elif arg.startswith("+/"):
            pattern = arg[2:]
        elif re.fullmatch(r"-[0-9]+", arg) or arg.startswith("--lines="):
            continue
        elif arg in ("-n", "--lines"):
            at += 1
        elif arg in ("--silent", "--logical", "--no-pause", "--print-over", "--clean-print", "--exit-on-eof",
                     "--plain"):
            continue
        elif arg == "--squeeze":
            flags.add("s")
        elif arg.startswith("-") and len(arg) > 1:
            bad = next((c for c in arg[1:] if c not in MORE_FLAGS), None)
            if arg.startswith("--") or bad is not None:
                text = f"unrecognized option '{arg}'" if arg.startswith("--") else f"invalid option -- '{bad}'"
                proc.message(text)
                proc.write_error("Try 'more --help' for more information.\n")
                return 1
            flags |= set(arg[1:])
        else:
            names.append(arg)
    if not names and proc.file(0).isatty():
        proc.message("bad usage")
        proc.write_error("Try 'more --help' for more information.\n")
        return 1
    return flags, names, start, pattern
