"""rg's options (ripgrep 14.1)."""
from __future__ import annotations

from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

# name -> (short letter or "", takes a value)
FLAGS: dict[str, tuple[str, bool]] = {
    "after-context": ("A", True), "before-context": ("B", True), "context": ("C", True), "count": ("c", False),
    "count-matches": ("", False), "color": ("", True), "colors": ("", True), "column": ("", False),
    "no-column": ("", False), "context-separator": ("", True), "no-context-separator": ("", False),
    "crlf": ("", False), "debug": ("", False), "trace": ("", False), "regexp": ("e", True), "engine": ("", True),
    "file": ("f", True), "files": ("", False), "files-with-matches": ("l", False), "files-without-match": ("", False),
    "fixed-strings": ("F", False), "no-fixed-strings": ("", False), "follow": ("L", False), "no-follow": ("", False),
    "glob": ("g", True), "iglob": ("", True), "glob-case-insensitive": ("", False), "heading": ("", False),
    "no-heading": ("", False), "help": ("h", False), "hidden": (".", False), "no-hidden": ("", False),
    "ignore-case": ("i", False), "case-sensitive": ("s", False), "smart-case": ("S", False),
    "ignore-file": ("", True), "ignore-file-case-insensitive": ("", False), "include-zero": ("", False),
    "invert-match": ("v", False), "no-invert-match": ("", False), "json": ("", False), "line-buffered": ("", False),
    "block-buffered": ("", False), "line-number": ("n", False), "no-line-number": ("N", False),
    "line-regexp": ("x", False), "max-columns": ("M", True), "max-columns-preview": ("", False),
    "max-count": ("m", True), "max-depth": ("d", True), "max-filesize": ("", True), "mmap": ("", False),
    "no-mmap": ("", False), "multiline": ("U", False), "no-multiline": ("", False), "multiline-dotall": ("", False),
    "no-config": ("", False), "no-ignore": ("", False), "ignore": ("", False), "no-ignore-dot": ("", False),
    "no-ignore-exclude": ("", False), "no-ignore-files": ("", False), "no-ignore-global": ("", False),
    "no-ignore-messages": ("", False), "no-ignore-parent": ("", False), "no-ignore-vcs": ("", False),
    "no-messages": ("", False), "no-require-git": ("", False), "no-unicode": ("", False), "null": ("0", False),
    "null-data": ("", False), "one-file-system": ("", False), "only-matching": ("o", False),
    "path-separator": ("", True), "passthru": ("", False), "passthrough": ("", False), "pcre2": ("P", False),
    "no-pcre2": ("", False), "pretty": ("p", False), "quiet": ("q", False), "regex-size-limit": ("", True),
    "dfa-size-limit": ("", True), "replace": ("r", True), "sort": ("", True), "sortr": ("", True),
    "sort-files": ("", False), "stats": ("", False), "stop-on-nonmatch": ("", False), "text": ("a", False),
    "binary": ("", False), "no-binary": ("", False), "threads": ("j", True), "trim": ("", False),
    "type": ("t", True), "type-not": ("T", True), "type-add": ("", True), "type-clear": ("", True),
    "type-list": ("", False), "unrestricted": ("u", False), "version": ("V", False), "vimgrep": ("", False),
    "with-filename": ("H", False), "no-filename": ("I", False), "word-regexp": ("w", False),
    "byte-offset": ("b", False), "exact": ("", False),
    "field-match-separator": ("", True), "field-context-separator": ("", True), "encoding": ("E", True),
    "search-zip": ("z", False), "pre": ("", True), "pre-glob": ("", True), "auto-hybrid-regex": ("", False),
    "hyperlink-format": ("", True), "hostname-bin": ("", True), "generate": ("", True),
}
LETTERS = {letter: name for name, (letter, _) in FLAGS.items() if letter}
UNSUPPORTED = {"pre", "search-zip", "generate", "encoding"}
HELP = """\
ripgrep 14.1.1
Andrew Gallant <jamslam@gmail.com>

ripgrep (rg) recursively searches the current directory for lines matching
a regex pattern. By default, ripgrep will respect gitignore rules and
automatically skip hidden files/directories and binary files.

USAGE:
  rg [OPTIONS] PATTERN [PATH ...]

OPTIONS (those of ripgrep 14.1; see its manual):
"""


def help_text() -> str:
    lines = [HELP]
    for name, (letter, value) in FLAGS.items():
        shown = f"-{letter}, --{name}" if letter else f"    --{name}"
        lines.append(f"  {shown}{'=VALUE' if value else ''}\n")
    return "".join(lines)


def fail(proc: Process, text: str) -> Exit:
    proc.stdout.flush()
    proc.write_error(f"rg: {text}\n")
    return Exit(2)


def parse(proc: Process) -> tuple[list[tuple[str, str]], list[str]]:
    """([(long name, value)], operands)."""
    args = proc.argv[1:]
    found: list[tuple[str, str]] = []
    operands: list[str] = []
    i = 0

    def value_of(shown: str) -> str:
        nonlocal i
        if i >= len(args):
            raise fail(proc, f"missing value for flag {shown}: missing argument for option '{shown}'")
        i += 1
        return args[i - 1]

    while i < len(args):
        arg = args[i]
        i += 1
        if arg == "--":
            operands += args[i:]
            break
        if arg.startswith("--"):
            name, eq, value = arg[2:].partition("=")
            if name not in FLAGS:
                raise fail(proc, f"unrecognized flag --{name}")
            if FLAGS[name][1]:
                found.append((name, value if eq else value_of(f"--{name}")))
            elif eq:
                raise fail(proc, f"invalid CLI arguments: unexpected argument for option '--{name}': {value!r}")
            else:
                found.append((name, ""))
        elif arg.startswith("-") and len(arg) > 1:
            j = 1
            while j < len(arg):
                letter = arg[j]
                j += 1
                if letter not in LETTERS:
                    raise fail(proc, f"unrecognized flag -{letter}")
                name = LETTERS[letter]
                if FLAGS[name][1]:
                    value = arg[j:].removeprefix("=") if j < len(arg) else value_of(f"-{letter}")
                    found.append((name, value))
                    break
                found.append((name, ""))
        else:
            operands.append(arg)
    return found, operands


def number(proc: Process, name: str, text: str) -> int:
    if not (text.isdecimal() and text.isascii()):
        raise fail(proc, f"error parsing flag --{name}: value is not a valid number: invalid digit found in string")
    return min(int(text), 1 << 62)
