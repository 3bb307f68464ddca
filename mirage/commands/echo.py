"""echo - display a line of text."""
from __future__ import annotations

from mirage.text.printf import byte, hex_digits, octal_escape, simple_escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

HELP = b"""\
Usage: %s [SHORT-OPTION]... [STRING]...
  or:  %s LONG-OPTION
Echo the STRING(s) to standard output.

  -n             do not output the trailing newline
  -e             enable interpretation of backslash escapes
  -E             disable interpretation of backslash escapes (default)
      --help        display this help and exit
      --version     output version information and exit
"""


def main(proc: Process) -> int:
    args = proc.argv[1:]
    name = proc.argv[0].encode("utf-8", "surrogateescape")
    if args == ["--help"]:
        proc.stdout.write(HELP % (name, name))
        return 0
    if args == ["--version"]:
        proc.stdout.write(b"echo (Mirage)\n")
        return 0
    newline, escapes = True, False
    at = 0
    while at < len(args) and len(args[at]) > 1 and args[at][0] == "-" and not args[at][1:].strip("neE"):
        for letter in args[at][1:]:
            if letter == "n":
                newline = False
            else:
                escapes = letter == "e"
        at += 1
    text = " ".join(args[at:])
    if escapes and "\\" in text:
        text, stopped = expand(text)
        newline = newline and not stopped
    proc.stdout.write((text + "\n" if newline else text).encode("utf-8", "surrogateescape"))
    return 0


def expand(text: str) -> tuple[str, bool]:
    """The text with its escapes replaced, and whether `\\c` ended it."""
    out: list[str] = []
    i = 0
    while (j := text.find("\\", i)) >= 0:
        out.append(text[i:j])
        letter = text[j + 1:j + 2]
        i = j + 2
        simple = simple_escape(letter)
        if simple is not None:
            out.append(simple)
        elif letter == "c":
            return "".join(out), True
        elif letter and letter in "01234567":
            char, i = octal_escape(text, i, 3) if letter == "0" else octal_escape(text, j + 1, 3)
            out.append(char)
        elif letter == "x" and (found := hex_digits(text, i, 2))[0] is not None:
            out.append(byte(found[0]))
            i = found[1]
        else:
            out.append(text[j:i])
    out.append(text[i:])
    return "".join(out), False
