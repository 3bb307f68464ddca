"""grep, egrep, fgrep: print lines that match patterns (GNU grep 3.11)."""
from __future__ import annotations

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse
from mirage.commands.grep.options import HELP, USAGE, Options, read_options
from mirage.process.signals import Exit
from mirage.text.regex import RegexError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec(
    "A:B:C:D:EFGHILPTUVX:abcd:e:f:hiLlm:noqRrsuvwxyZz0123456789",
    {
        "after-context": ("A", REQUIRED), "basic-regexp": ("G", NONE), "before-context": ("B", REQUIRED),
        "binary": ("U", NONE), "binary-files": ("binary-files", REQUIRED), "byte-offset": ("b", NONE),
        "color": ("color", OPTIONAL), "colour": ("color", OPTIONAL), "context": ("C", REQUIRED),
        "count": ("c", NONE), "dereference-recursive": ("R", NONE), "devices": ("D", REQUIRED),
        "directories": ("d", REQUIRED), "exact": ("exact", NONE), "exclude": ("exclude", REQUIRED),
        "exclude-dir": ("exclude-dir", REQUIRED), "exclude-from": ("exclude-from", REQUIRED),
        "extended-regexp": ("E", NONE), "file": ("f", REQUIRED),
        "files-with-matches": ("l", NONE), "files-without-match": ("L", NONE), "fixed-regexp": ("F", NONE),
        "fixed-strings": ("F", NONE), "group-separator": ("group-separator", REQUIRED), "ignore-case": ("i", NONE),
        "include": ("include", REQUIRED), "initial-tab": ("T", NONE), "invert-match": ("v", NONE),
        "label": ("label", REQUIRED), "line-buffered": ("line-buffered", NONE), "line-number": ("n", NONE),
        "line-regexp": ("x", NONE), "max-count": ("m", REQUIRED), "no-filename": ("h", NONE),
        "no-group-separator": ("no-group-separator", NONE), "no-ignore-case": ("no-ignore-case", NONE),
        "no-messages": ("s", NONE), "null": ("Z", NONE), "null-data": ("z", NONE), "only-matching": ("o", NONE),
        "perl-regexp": ("P", NONE), "quiet": ("q", NONE), "recursive": ("r", NONE), "regexp": ("e", REQUIRED),
        "silent": ("q", NONE), "text": ("a", NONE), "unix-byte-offsets": ("u", NONE), "version": ("V", NONE),
        "with-filename": ("H", NONE), "word-regexp": ("w", NONE),
    },
    help=HELP, status=2, usage=USAGE)


def main(proc: Process) -> int:
    default = {"egrep": "E", "fgrep": "F"}.get(proc.name, "")
    if default:
        proc.argv[0] = "grep"
    given, operands = parse(proc, SPEC)
    options = read_options(proc, given, operands, default)
    return search(proc, options)


def search(proc: Process, options: Options) -> int:
    from mirage.commands.grep.files import Walker
    from mirage.commands.grep.matcher import make_matcher
    from mirage.commands.grep.scan import Scanner
    try:
        matcher = make_matcher(proc, options)
    except RegexError as e:
        proc.message(str(e))
        raise Exit(2) from None
    scanner = Scanner(proc, options, matcher)
    walker = Walker(proc, options, scanner)
    nothing = options.max_count == 0 or not options.patterns and not options.invert
    if nothing and options.list_files != "L":
        return 1
    walker.run(options.files)
    proc.stdout.flush()
    if scanner.failed and not (options.quiet and scanner.matched):
        return 2
    return 0 if scanner.matched else 1
