"""getopt(1): parse command options for a script (util-linux)."""
from __future__ import annotations

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse
from mirage.commands._io import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

HELP = """
Usage:
 getopt <optstring> <parameters>
 getopt [options] [--] <optstring> <parameters>
 getopt [options] -o|--options <optstring> [options] [--] <parameters>

Parse command options.

Options:
 -a, --alternative             allow long options starting with single -
 -l, --longoptions <longopts>  the long options to be recognized
 -n, --name <progname>         the name under which errors are reported
 -o, --options <optstring>     the short options to be recognized
 -q, --quiet                   disable error reporting by getopt(3)
 -Q, --quiet-output            no normal output
 -s, --shell <shell>           set quoting conventions to those of <shell>
 -T, --test                    test for getopt(1) version
 -u, --unquoted                do not quote the output

 -h, --help                    display this help
 -V, --version                 display version

For more details see getopt(1).
"""
SPEC = Spec("ao:l:n:qQs:TuhV", {
    "options": ("o", REQUIRED), "longoptions": ("l", REQUIRED), "quiet": ("q", NONE), "quiet-output": ("Q", NONE),
    "shell": ("s", REQUIRED), "test": ("T", NONE), "unquoted": ("u", NONE), "help": ("h", NONE),
    "alternative": ("a", NONE), "name": ("n", REQUIRED), "version": ("V", NONE)}, help=HELP, status=2, permute=False)


class Scanner:
    """getopt_long(3) over the parameters; errors are counted and reported under `name`."""

    def __init__(self, proc: Process, short: str, long: dict[str, int], alternative: bool, name: str, quiet: bool,
                 quoted: bool, shell: str) -> None:
        self.proc = proc
        self.order = short[0] if short[:1] in ("+", "-") else "+" if "POSIXLY_CORRECT" in proc.env else ""
        body = short[1:] if short[:1] in ("+", "-") else short
        self.short = Spec(body.lstrip(":")).short
        self.long = long
        self.alternative = alternative
        self.name = name
        self.quiet = quiet or body.startswith(":")
        self.quoted = quoted
        self.shell = shell
        self.failed = False
        self.out: list[str] = []

    def error(self, text: str) -> None:
        self.failed = True
        if not self.quiet:
            self.proc.write_error(f"{self.name}: {text}\n")

    def quote(self, text: str) -> str:
        if not self.quoted:
            return text
        text = text.replace("'", "'\\''")
        if self.shell in ("csh", "tcsh"):
            text = text.replace("!", "'\\!'").replace("\n", "'\\\\n'")
        return f"'{text}'"

    def run(self, words: list[str]) -> None:
        rest: list[str] = []
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            if word == "--":
                rest += words[at:]
                break
            if word.startswith("--") or self.alternative and word.startswith("-") and len(word) > 2 \
                    and self._known(word[1:].partition("=")[0]):
                at = self._long(word, words, at)
            elif word.startswith("-") and len(word) > 1:
                at = self._short(word, words, at)
            elif self.order == "+":
                rest += [word, *words[at:]]
                break
            elif self.order == "-":
                self.out.append(self.quote(word))
            else:
                rest.append(word)
        self.out.append("--")
        self.out += map(self.quote, rest)

    def _known(self, name: str) -> bool:
        return any(full.startswith(name) for full in self.long)

    def _long(self, word: str, words: list[str], at: int) -> int:
        dashes = "--" if word.startswith("--") else "-"
        name, equals, value = word[len(dashes):].partition("=")
        found = [name] if name in self.long else [full for full in self.long if full.startswith(name)]
        if not found:
            self.error(f"unrecognized option '{dashes}{name}'")
            return at
        if len(found) > 1:
            listed = " ".join(f"'--{full}'" for full in found)
            self.error(f"option '{dashes}{name}{equals}{value}' is ambiguous; possibilities: {listed}")
            return at
        kind = self.long[found[0]]
        shown = f"--{found[0]}" if dashes == "--" else f"-{found[0]}"
        if kind == NONE and equals:
            self.error(f"option '{shown}' doesn't allow an argument")
            return at
        if kind == REQUIRED and not equals:
            if at >= len(words):
                self.error(f"option '{shown}' requires an argument")
                return at
            value = words[at]
            at += 1
        self.out.append(f"--{found[0]}")
        if kind != NONE:
            self.out.append(self.quote(value))
        return at

    def _short(self, word: str, words: list[str], at: int) -> int:
        place = 1
        while place < len(word):
            letter = word[place]
            place += 1
            kind = self.short.get(letter)
            if kind is None or letter == ":":
                self.error(f"invalid option -- '{letter}'")
                continue
            if kind == NONE:
                self.out.append(f"-{letter}")
                continue
            value = word[place:]
            if not value and kind == REQUIRED:
                if at >= len(words):
                    self.error(f"option requires an argument -- '{letter}'")
                    return at
                value = words[at]
                at += 1
            self.out += [f"-{letter}", self.quote(value)]
            return at
        return at


def main(proc: Process) -> int:
    args = proc.argv[1:]
    if not args:
        proc.message("missing optstring argument")
        proc.write_error("Try 'getopt --help' for more information.\n")
        return 2
    if not args[0].startswith("-") or "GETOPT_COMPATIBLE" in proc.env:
        scanner = Scanner(proc, args[0], {}, False, "getopt", False, False, "bash")
        scanner.run(args[1:])
        proc.stdout.write(encode(" " + " ".join(scanner.out) + "\n"))
        return 1 if scanner.failed else 0
    options, operands = parse(proc, SPEC)
    long: dict[str, int] = {}
    short: str | None = None
    name, shell, flags = "getopt", "bash", set()
    for key, value in options:
        if key == "h":
            proc.stdout.write(HELP.encode())
            return 0
        if key == "V":
            proc.stdout.write(b"getopt from util-linux 2.41 (Mirage)\n")
            return 0
        if key == "T":
            return 4
        if key == "l":
            for word in value.replace(",", " ").split():
                bare = word.rstrip(":")
                long[bare] = min(len(word) - len(bare), OPTIONAL)
        elif key == "o":
            short = value
        elif key == "n":
            name = value
        elif key == "s":
            if value not in ("sh", "bash", "csh", "tcsh"):
                proc.message("unknown shell after -s or --shell argument")
                proc.write_error("Try 'getopt --help' for more information.\n")
                return 2
            shell = value
        flags.add(key)
    if short is None and not long:
        if not operands:
            proc.message("missing optstring argument")
            proc.write_error("Try 'getopt --help' for more information.\n")
            return 2
        short = operands.pop(0)
    scanner = Scanner(proc, short or "", long, "a" in flags, name, "q" in flags, "u" not in flags, shell)
    scanner.run(operands)
    if "Q" not in flags:
        proc.stdout.write(encode(" " + " ".join(scanner.out) + "\n"))
    return 1 if scanner.failed else 0
