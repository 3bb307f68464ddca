"""The command line of jq."""
from __future__ import annotations

from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.process.process import Process

HINT = """Use jq --help for help with command-line options,
or see the jq manpage, or online docs  at https://jqlang.github.io/jq
"""
USAGE = """Usage:\tjq [options] <jq filter> [file...]
\tjq [options] --args <jq filter> [strings...]
\tjq [options] --jsonargs <jq filter> [JSON_TEXTS...]

"""
HELP = """jq - commandline JSON processor [version 1.7]

""" + USAGE + """Command options:
  -n, --null-input          use null as the single input value
  -R, --raw-input           read each line as a string
  -s, --slurp               read all inputs into one array
  -c, --compact-output      one line per result
  -r, --raw-output          strings without quotes and escapes
      --raw-output0         like -r, with NUL after each result
  -j, --join-output         like -r, with nothing after each result
  -a, --ascii-output        only ASCII characters in the output
  -S, --sort-keys           objects with sorted keys
  -C, --color-output        coloured output
  -M, --monochrome-output   no colours
      --tab                 indent with tabs
      --indent n            indent with n spaces (at most 7)
      --unbuffered          flush after each result
      --stream              inputs as events [path, leaf]
      --stream-errors       the same, errors as events
      --seq                 application/json-seq
  -f, --from-file file      the program is in a file
  -L directory              where modules are
      --arg name value      $name is a string
      --argjson name value  $name is a JSON value
      --slurpfile name file $name is the array of a file's JSON values
      --rawfile name file   $name is a file's text
      --args                further operands are strings of $ARGS.positional
      --jsonargs            further operands are JSON values of $ARGS.positional
  -e, --exit-status         exit status by the last result
  -V, --version             the version
  -h, --help                this help
  --                        no options after this
"""
SHORT = {"n": "null_input", "R": "raw_input", "s": "slurp", "c": "compact", "r": "raw_output", "j": "join_output",
         "a": "ascii", "S": "sort_keys", "C": "colour", "M": "monochrome", "e": "exit_status", "f": "from_file",
         "h": "help", "V": "version"}
LONG = {"null-input": "null_input", "raw-input": "raw_input", "slurp": "slurp", "compact-output": "compact",
        "raw-output": "raw_output", "raw-output0": "nul_output", "join-output": "join_output", "ascii-output": "ascii",
        "sort-keys": "sort_keys", "color-output": "colour", "monochrome-output": "monochrome", "tab": "tab",
        "unbuffered": "unbuffered", "stream": "stream", "stream-errors": "stream_errors", "seq": "sequence",
        "from-file": "from_file", "exit-status": "exit_status", "help": "help", "version": "version",
        "build-configuration": "build"}
TWO = {"arg": "--arg takes two parameters (e.g. --arg varname value)",
       "argjson": "--argjson takes two parameters (e.g. --argjson varname text)",
       "slurpfile": "--slurpfile takes two parameters (e.g. --slurpfile varname filename)",
       "rawfile": "--rawfile takes two parameters (e.g. --rawfile varname filename)"}


class Options:
    """What the command line asks for."""

    def __init__(self) -> None:
        self.program = "."
        self.operands: list[str] = []
        self.named: dict[str, Any] = {}
        self.positional: list[Any] = []
        self.search: list[str] = []
        self.indent = "  "
        self.null_input = self.raw_input = self.slurp = self.raw_output = self.nul_output = False
        self.join_output = self.ascii = self.sort_keys = self.colour = self.stream = self.sequence = False
        self.exit_status = self.unbuffered = self.from_file = False

    def arguments(self) -> dict[str, Any]:
        """The global variables of the program."""
        return {**self.named, "ARGS": {"positional": self.positional, "named": self.named}}


def usage_error(proc: Process, text: str, status: int = 2) -> Exit:
    proc.message(text)
    proc.write_error(HINT)
    return Exit(status)


class Scanner:
    """One pass over argv: options may stand anywhere; the first other word is the program."""

    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.args = proc.argv[1:]
        self.at = 0
        self.options = Options()
        self.words: list[str] = []
        self.mode = "files"
        self.program: str | None = None
        self.only_words = False
        self.width = 2
        self.compact = self.tab = False

    def scan(self) -> Options:
        args = self.args
        while self.at < len(args):
            arg = args[self.at]
            self.at += 1
            if self.only_words or not arg.startswith("-") or arg == "-" or not (arg[1] == "-" or arg[1].isalpha()):
                self.word(arg)                               # -1 and -(.a) are programs
            elif arg == "--":
                self.only_words = True
            elif arg.startswith("--"):
                self.long(arg[2:])
            else:
                self.short(arg)
        return self.finish()

    def word(self, arg: str) -> None:
        options = self.options
        if self.program is None:
            self.program = arg
        elif self.mode == "files":
            options.operands.append(arg)
        elif self.mode == "args":
            options.positional.append(clean(arg))
        else:
            options.positional.append(self.json(arg, "--jsonargs"))

    def json(self, text: str, option: str) -> Any:
        from mirage.commands.jq.decode import loads
        from mirage.commands.jq.errors import ParseError
        try:
            return loads(clean(text))
        except ParseError:
            raise usage_error(self.proc, f"invalid JSON text passed to {option}") from None

    def short(self, arg: str) -> None:
        if arg.startswith("-L"):
            self.directory(arg[2:])
            return
        for letter in arg[1:]:
            name = SHORT.get(letter)
            if name is None:
                raise usage_error(self.proc, f"Unknown option {arg}")
            self.set(name)

    def directory(self, value: str) -> None:
        if not value:
            if self.at >= len(self.args):
                raise usage_error(self.proc, "-L takes a parameter: (e.g. -L /search/path or -L/search/path)")
            value = self.args[self.at]
            self.at += 1
        self.options.search.append(value)

    def long(self, name: str) -> None:
        proc = self.proc
        if name in LONG:
            self.set(LONG[name])
        elif name in TWO:
            if self.at + 2 > len(self.args):
                raise usage_error(proc, TWO[name])
            variable, value = self.args[self.at:self.at + 2]
            self.at += 2
            self.options.named.setdefault(variable, self.value(name, variable, value))
        elif name == "indent":
            if self.at >= len(self.args):
                raise usage_error(proc, "--indent takes one parameter")
            self.set_indent(self.args[self.at])
            self.at += 1
        elif name in ("args", "jsonargs"):
            self.mode = name
        elif name == "library-path":
            self.directory("")
        else:
            raise usage_error(proc, f"Unknown option --{name}")

    def set_indent(self, text: str) -> None:
        try:
            width = int(text)
        except ValueError:
            width = 0
        if not -1 <= width <= 7:
            raise usage_error(self.proc, "--indent takes a number between -1 and 7")
        self.width = width
        self.compact, self.tab = False, width < 0

    def value(self, option: str, variable: str, text: str) -> Any:
        if option == "arg":
            return clean(text)
        if option == "argjson":
            return self.json(text, "--argjson")
        from mirage.commands.jq.decode import all_values
        from mirage.commands.jq.errors import ParseError
        try:
            data = self.proc.fs.read(text)
            return all_values(data) if option == "slurpfile" else data.decode("utf-8", "replace")
        except OSError as e:
            self.proc.message(f"Bad JSON in --{option} {variable} {text}: Could not open {text}: {e.strerror}")
        except ParseError as e:
            self.proc.message(f"Bad JSON in --{option} {variable} {text}: {e}")
        raise Exit(2)

    def set(self, name: str) -> None:
        options = self.options
        if name == "help":
            self.proc.stdout.write(HELP.encode())
            raise Exit(0)
        if name == "version":
            self.proc.stdout.write(b"jq-1.7\n")
            raise Exit(0)
        if name == "build":
            self.proc.stdout.write(b"mirage\n")
            raise Exit(0)
        if name == "compact":
            self.compact, self.tab = True, False
        elif name == "tab":
            self.compact, self.tab = False, True
        elif name == "monochrome":
            options.colour = False
        else:
            setattr(options, "stream" if name == "stream_errors" else name, True)
        if name in ("join_output", "nul_output"):
            options.raw_output = True

    def finish(self) -> Options:
        options, proc = self.options, self.proc
        options.indent = "" if self.compact else "\t" if self.tab else " " * self.width
        if options.from_file:
            if self.program is None:
                raise usage_error(proc, "no program file given")
            try:
                options.program = proc.fs.read(self.program).decode("utf-8", "replace")
            except OSError as e:
                proc.message(f"error: Could not open {self.program}: {e.strerror}")
                raise Exit(2) from None
        elif self.program is not None:
            options.program = clean(self.program)
        elif options.named or options.null_input and not self.args:
            options.program = "."
        return options


def clean(text: str) -> str:
    """A word as text: bytes that are not UTF-8 become U+FFFD."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def parse_options(proc: Process) -> Options:
    """Reads proc.argv; prints and raises Exit for errors, --help, --version."""
    return Scanner(proc).scan()
