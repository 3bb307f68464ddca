"""The command line of gawk."""
from __future__ import annotations

from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

USAGE = """Usage: awk [POSIX or GNU style options] -f progfile [--] file ...
Usage: awk [POSIX or GNU style options] [--] 'program' file ...
POSIX options:\t\tGNU long options: (standard)
\t-f progfile\t\t--file=progfile
\t-F fs\t\t\t--field-separator=fs
\t-v var=val\t\t--assign=var=val
Short options:\t\tGNU long options: (extensions)
\t-b\t\t\t--characters-as-bytes
\t-c\t\t\t--traditional
\t-e 'program-text'\t--source='program-text'
\t-E file\t\t\t--exec=file
\t-h\t\t\t--help
\t-n\t\t\t--non-decimal-data
\t-O\t\t\t--optimize
\t-P\t\t\t--posix
\t-r\t\t\t--re-interval
\t-s\t\t\t--no-optimize
\t-S\t\t\t--sandbox
\t-V\t\t\t--version
"""
VERSION = "GNU Awk 5.2.1, API 3.2 (this awk is part of Mirage)\n"
WITH_VALUE = {"f": "file", "F": "field-separator", "v": "assign", "e": "source", "E": "exec", "i": "include",
              "l": "load"}
FLAGS = {"b": "characters-as-bytes", "c": "traditional", "C": "copyright", "g": "gen-pot", "h": "help", "I": "trace",
         "M": "bignum", "N": "use-lc-numeric", "n": "non-decimal-data", "O": "optimize", "P": "posix",
         "r": "re-interval", "s": "no-optimize", "S": "sandbox", "t": "lint-old", "V": "version"}
OPTIONAL = {"d": "dump-variables", "D": "debug", "L": "lint", "o": "pretty-print", "p": "profile"}
LONG = {name: letter for letter, name in [*WITH_VALUE.items(), *FLAGS.items(), *OPTIONAL.items()]}
REFUSED = {"i": "source file", "l": "shared library"}


class Options:
    """sources: (name in messages, text); assignments: (name, value) of -v; flags: letters."""

    def __init__(self) -> None:
        self.sources: list[tuple[str, str]] = []
        self.assignments: list[tuple[str, str]] = []
        self.separator: str | None = None
        self.flags: set[str] = set()
        self.operands: list[str] = []


class Scanner:
    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.args = proc.argv[1:]
        self.at = 0
        self.options = Options()

    def usage(self, message: str = "") -> Exit:
        self.proc.write_error((f"awk: {message}\n" if message else "") + USAGE)
        return Exit(1)

    def fatal(self, text: str) -> Exit:
        self.proc.write_error(f"awk: fatal: {text}\n")
        return Exit(2)

    def scan(self) -> Options:
        args, options = self.args, self.options
        while self.at < len(args):
            arg = args[self.at]
            if arg == "--":
                self.at += 1
                break
            if not arg.startswith("-") or arg == "-":
                break
            self.at += 1
            if arg.startswith("--"):
                self.long(arg[2:])
            else:
                self.short(arg)
            if "E" in options.flags:
                break
        rest = args[self.at:]
        if not options.sources:
            if not rest:
                self.proc.write_error(USAGE)
                raise Exit(1)
            options.sources.append(("cmd. line", rest.pop(0)))
        options.operands = rest
        return options

    def value(self, letter: str) -> str:
        if self.at >= len(self.args):
            raise self.usage(f"option requires an argument -- {letter}")
        self.at += 1
        return self.args[self.at - 1]

    def short(self, arg: str) -> None:
        j = 1
        while j < len(arg):
            letter = arg[j]
            j += 1
            if letter in WITH_VALUE:
                self.set(letter, arg[j:] if j < len(arg) else self.value(letter))
                return
            if letter in OPTIONAL:
                self.set(letter, arg[j:])
                return
            if letter not in FLAGS:
                raise self.usage(f"invalid option -- '{letter}'")
            self.set(letter, "")

    def long(self, text: str) -> None:
        name, eq, value = text.partition("=")
        letter = LONG.get(name)
        if letter is None:
            found = {known: letter for known, letter in LONG.items() if known.startswith(name)}
            if len(set(found.values())) != 1:
                raise self.usage(f"unrecognized option '--{name}'")
            letter = next(iter(found.values()))
        if letter in WITH_VALUE and not eq:
            value = self.value(letter)
        self.set(letter, value)

    def set(self, letter: str, value: str) -> None:
        options, proc = self.options, self.proc
        if letter in ("f", "E"):
            options.sources.append((value, self.read(value)))
            if letter == "E":
                options.flags.add("E")
        elif letter == "e":
            options.sources.append(("cmd. line", value))
        elif letter == "F":
            options.separator = value
        elif letter == "v":
            name, eq, text = value.partition("=")
            if not eq:
                proc.write_error(f"awk: `{value}' argument to `-v' not in `var=value' form\n\n")
                raise self.usage()
            if not name.isidentifier() or not name.isascii():
                raise self.fatal(f"`{name}' is not a legal variable name")
            options.assignments.append((name, text))
        elif letter in REFUSED:
            proc.write_error(f"awk: fatal: cannot open {REFUSED[letter]} `{value}' for reading: "
                             "No such file or directory\n")
            raise Exit(2)
        elif letter == "h":
            proc.stdout.write(USAGE.encode())
            raise Exit(0)
        elif letter in ("V", "C"):
            proc.stdout.write(VERSION.encode())
            raise Exit(0)
        else:
            options.flags.add(letter)

    def read(self, name: str) -> str:
        proc = self.proc
        try:
            if name in ("-", "/dev/stdin"):
                from mirage.commands._io import read_all
                data = read_all(proc, proc.stdin)
            else:
                with proc.opened(name) as file:
                    from mirage.commands._io import read_all
                    data = read_all(proc, file)
        except OSError as e:
            raise self.fatal(f"cannot open source file `{name}' for reading: {e.strerror}") from None
        return data.decode("utf-8", "surrogateescape")


def parse_options(proc: Process) -> Options:
    """Reads proc.argv; prints and raises Exit for errors, --help, --version."""
    return Scanner(proc).scan()
