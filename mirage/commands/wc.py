"""wc: count lines, words, characters and bytes."""
from __future__ import annotations

import re

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import chunks, decode, open_input, read_all
from mirage.commands._text import char_width, choice, fatal, is_utf8, quote, shell_quote
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.files import OpenFile
    from mirage.process.process import Process
    from mirage.vfs.types import Stat

SPEC = Spec("clLmw", {
    "bytes": ("c", NONE), "chars": ("m", NONE), "lines": ("l", NONE), "words": ("w", NONE),
    "max-line-length": ("L", NONE), "files0-from": ("files0", REQUIRED), "total": ("total", REQUIRED),
    "debug": ("debug", NONE)},
    help="Usage: NAME [OPTION]... [FILE]...\n  or:  NAME [OPTION]... --files0-from=F\n"
         "Print newline, word, and byte counts for each FILE, and a total line if\nmore than one FILE is specified.\n")

_WORD_MAP = bytes(32 if b in b" \t\n\r\v\f" else 120 for b in range(256))
_WIDE_SPACE = re.compile(rb"\xc2\xa0|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81[\x9f\xa0]|\xe3\x80\x80")


class Counts:
    __slots__ = ("bytes", "chars", "lines", "longest", "words")

    def __init__(self) -> None:
        self.lines = self.words = self.chars = self.bytes = self.longest = 0

    def add(self, other: Counts) -> None:
        self.lines += other.lines
        self.words += other.words
        self.chars += other.chars
        self.bytes += other.bytes
        self.longest = max(self.longest, other.longest)


def count(proc: Process, file: OpenFile, wanted: set[str], utf8: bool) -> Counts:
    """Count the rest of an open file; only what `wanted` names."""
    counts = Counts()
    if wanted == {"c"} and file.seekable:
        stat = file.stat()
        if stat.is_file and stat.size is not None:
            counts.bytes = max(0, stat.size - file.tell())
            file.seek(max(file.tell(), stat.size))
            return counts
    if wanted == {"l"} and (number := file.count_lines()) is not None:
        counts.lines = number
        return counts
    in_word = False
    column = 0
    pending = b""
    for data in chunks(proc, file):
        counts.bytes += len(data)
        if "l" in wanted:
            counts.lines += data.count(b"\n")
        if not wanted & {"w", "m", "L"}:
            continue
        ascii_only = data.isascii() and not pending
        if not ascii_only and utf8:
            data = pending + data
            cut = _complete(data)
            data, pending = data[:cut], data[cut:]
        in_word, column = _characters(data, counts, wanted, utf8 and not ascii_only, in_word, column)
    if pending:
        _characters(pending, counts, wanted, True, in_word, column)
    return counts


def _complete(data: bytes) -> int:
    """Length without an unfinished UTF-8 sequence at the end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            need = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
            return len(data) if need <= back else len(data) - back
    return len(data)


def _characters(data: bytes, counts: Counts, wanted: set[str], wide: bool, in_word: bool,
                column: int) -> tuple[bool, int]:
    if not data:
        return in_word, column
    if "w" in wanted:
        spaced = _WIDE_SPACE.sub(b" ", data) if wide else data
        marks = spaced.translate(_WORD_MAP)
        counts.words += marks.count(b" x") + (not in_word and marks[0] == 120)
        in_word = marks[-1] == 120
    if "m" in wanted:
        if not wide:
            counts.chars += len(data)
        else:
            try:
                counts.chars += len(data.decode())
            except UnicodeDecodeError:
                counts.chars += len(data.decode("utf-8", "ignore"))
    if "L" in wanted:
        column = _longest(data, counts, wide, column)
    return in_word, column


def _longest(data: bytes, counts: Counts, wide: bool, column: int) -> int:
    """Columns of the longest line so far; the column reached at the end of `data`."""
    text = data.decode("utf-8", "ignore") if wide else data.decode("latin-1")
    last = column
    for line in re.split("[\n\r\f]", text):
        last = column
        if line.isascii() and line.isprintable():
            last += len(line)
        else:
            for char in line:
                if char == "\t":
                    last += 8 - last % 8
                elif wide or char.isascii():
                    last += max(0, char_width(char))
        counts.longest = max(counts.longest, last)
        column = 0
    return last


def _names(proc: Process, source: str, operands: list[str]) -> list[str]:
    if operands:
        proc.message(f"extra operand {quote(proc, operands[0])}\nfile operands cannot be combined with --files0-from")
        proc.write_error(f"Try '{proc.name} --help' for more information.\n")
        raise Exit(1)
    try:
        file = open_input(proc, source)
    except OSError as e:
        raise fatal(proc, f"cannot open {shell_quote(source, True)} for reading: {e.strerror}") from None
    file.incref()
    try:
        data = read_all(proc, file)
    finally:
        file.decref()
    return [decode(name) for name in data.split(b"\0")[:None if not data.endswith(b"\0") else -1]] if data else []


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    wanted, total, source = set(), "auto", None
    for key, value in options:
        if key == "total":
            total = choice(proc, SPEC, "--total", value, (("auto",), ("always",), ("only",), ("never",)))
        elif key == "files0":
            source = value
        elif key != "debug":
            wanted.add(key)
    wanted = wanted or {"l", "w", "c"}
    names: list[str] = operands or ["-"]
    if source is not None:
        names = _names(proc, source, operands)
    width = 1 if total == "only" else _width(proc, names, wanted, source)
    utf8 = is_utf8(proc.env)
    status, done, sums = 0, 0, Counts()
    for name in names:
        if not name:
            proc.stdout.flush()
            proc.message("invalid zero-length file name")
            status = 1
            continue
        if source == "-" and name == "-":
            proc.stdout.flush()
            proc.message("when reading file names from standard input, no file name of '-' allowed")
            status = 1
            continue
        done += 1
        counts = Counts()
        try:
            file = open_input(proc, name)
            file.incref()
            try:
                counts = count(proc, file, wanted, utf8)
            finally:
                file.decref()
        except IsADirectoryError as e:
            proc.stdout.flush()
            proc.fail(shell_quote(name), e)
            status = 1
        except OSError as e:
            proc.stdout.flush()
            proc.fail(shell_quote(name), e)
            status = 1
            continue
        sums.add(counts)
        if total != "only":
            _print(proc, counts, wanted, width, name if source is not None or operands else None)
    if total == "only" or total == "always" or total == "auto" and len(names) > 1:
        _print(proc, sums, wanted, width, None if total == "only" else "total")
    return status


def _print(proc: Process, counts: Counts, wanted: set[str], width: int, name: str | None) -> None:
    fields = [("l", counts.lines), ("w", counts.words), ("m", counts.chars), ("c", counts.bytes), ("L", counts.longest)]
    line = " ".join(f"{value:{width}d}" for key, value in fields if key in wanted)
    if name is not None:
        line += " " + (shell_quote(name) if "\n" in name else name)
    proc.stdout.write(line.encode("utf-8", "surrogateescape") + b"\n")


def _width(proc: Process, names: list[str], wanted: set[str], source: str | None) -> int:
    """Columns of a number: as GNU guesses it from the sizes of the files before reading them."""
    if len(names) == 1 and len(wanted) == 1 or not names:
        return 1
    least, total = 1, 0
    for name in names:
        try:
            stat: Stat = proc.file(0).stat() if name == "-" else proc.fs.stat(name)
        except OSError:
            continue
        if stat.is_file and stat.size is not None:
            total += stat.size
        else:
            least = 7
    return max(least, len(str(total)))
