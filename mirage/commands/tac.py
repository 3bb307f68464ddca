"""tac: concatenate files, last record first (GNU coreutils 9.7)."""
from __future__ import annotations

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import BLOCK, encode, open_input, read_all
from mirage.commands._text import fatal, quote, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process
    from mirage.text.regex import Regex

SPEC = Spec("brs:", {"before": ("b", NONE), "regex": ("r", NONE), "separator": ("s", REQUIRED)}, help="""\
Usage: NAME [OPTION]... [FILE]...
Write each FILE to standard output, last line first.

  -b, --before             attach the separator before instead of after
  -r, --regex              interpret the separator as a regular expression
  -s, --separator=STRING   use STRING as the separator instead of newline
      --help        display this help and exit
      --version     output version information and exit
""")


def main(proc: Process) -> int:
    given, operands = parse(proc, SPEC)
    before = use_regex = False
    separator = "\n"
    for key, value in given:
        if key == "b":
            before = True
        elif key == "r":
            use_regex = True
        else:
            separator = value
    regex: Regex | None = None
    mark = encode(separator) or b"\0"
    if use_regex:
        from mirage.text.regex import RegexError, compile_bre
        if not separator:
            raise fatal(proc, "separator cannot be empty")
        try:
            regex = compile_bre(separator, syntax="emacs", multiline=True)
        except RegexError as e:
            raise fatal(proc, str(e)) from None
    status = 0
    for name in operands or ["-"]:
        try:
            file = open_input(proc, name).incref()
        except IsADirectoryError as e:
            proc.stdout.flush()
            proc.message(f"{shell_quote(name)}: read error: {e.strerror}")
            status = 1
            continue
        except OSError as e:
            proc.stdout.flush()
            proc.message(f"failed to open {quote_open(proc, name)} for reading: {e.strerror}")
            status = 1
            continue
        try:
            data = read_all(proc, file)
        finally:
            file.decref()
        if regex is None and len(mark) == 1 and not before and data[-1:] == mark:
            _write_lines(proc, data, mark)
        else:
            _write(proc, data, _matches(data, regex, mark), before)
    return status


def quote_open(proc: Process, name: str) -> str:
    return shell_quote(name, always=True) if name.isprintable() else quote(proc, name)


def _matches(data: bytes, regex: Regex | None, mark: bytes) -> list[tuple[int, int]]:
    if regex is not None:
        return [span for span in _regex_matches(data, regex) if span[1] > span[0]]
    if len(mark) == 1:
        found = []
        at = data.find(mark)
        while at >= 0:
            found.append((at, at + 1))
            at = data.find(mark, at + 1)
        return found
    found = []
    at = data.rfind(mark)
    while at >= 0:
        found.append((at, at + len(mark)))
        at = data.rfind(mark, 0, at)
    found.reverse()
    return found


def _regex_matches(data: bytes, regex: Regex) -> list[tuple[int, int]]:
    """GNU searches backwards: the last match is taken first, each one where it begins last."""
    found = []
    match = regex.bind(data, captures=False, anchored=True)
    limit = at = len(data)
    while at > 0:
        at -= 1
        spans = match(at, limit)
        if spans is not None and spans[0][1] > at:
            found.append((at, spans[0][1]))
            limit = at
    found.reverse()
    return found


def _write_lines(proc: Process, data: bytes, mark: bytes) -> None:
    """The lines of data, all of which end with `mark`, in blocks from the end."""
    end = len(data)
    while end:
        start = data.rfind(mark, 0, max(end - BLOCK, 0)) + 1
        lines = data[start:end].split(mark)
        lines.pop()
        lines.reverse()
        proc.stdout.write(mark.join(lines) + mark)
        proc.check()
        end = start


def _write(proc: Process, data: bytes, marks: list[tuple[int, int]], before: bool) -> None:
    write = proc.stdout.write
    end = len(data)
    for start, stop in reversed(marks):
        cut = start if before else stop
        if cut < end:
            write(data[cut:end])
            end = cut
    if end:
        write(data[:end])
