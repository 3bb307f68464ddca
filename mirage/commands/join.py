"""join: join lines of two files on a common field (GNU coreutils 9.7)."""
from __future__ import annotations

from mirage.commands._getopt import NONE, Spec, parse
from mirage.commands._io import decode, encode, line_lists, open_input
from mirage.commands._text import extra_operand, fatal, missing_operand, quote, shell_quote
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mirage.process.files import OpenFile
    from mirage.process.process import Process

    Fields = list[bytes]

SPEC = Spec("a:e:i1:2:j:o:t:v:z", {
    "ignore-case": ("i", NONE), "check-order": ("check", NONE), "nocheck-order": ("nocheck", NONE),
    "zero-terminated": ("z", NONE), "header": ("header", NONE)}, help="""\
Usage: NAME [OPTION]... FILE1 FILE2
For each pair of input lines with identical join fields, write a line to
standard output.  The default join field is the first, delimited by blanks.

  -a FILENUM             also print unpairable lines from file FILENUM, where
                           FILENUM is 1 or 2, corresponding to FILE1 or FILE2
  -e STRING              replace missing (empty) input fields with STRING;
  -i, --ignore-case      ignore differences in case when comparing fields
  -j FIELD               equivalent to '-1 FIELD -2 FIELD'
  -o FORMAT              obey FORMAT while constructing output line
  -t CHAR                use CHAR as input and output field separator
  -v FILENUM             like -a FILENUM, but suppress joined output lines
  -1 FIELD               join on this FIELD of file 1
  -2 FIELD               join on this FIELD of file 2
      --check-order      check that the input is correctly sorted
      --nocheck-order    do not check that the input is correctly sorted
      --header           treat the first line in each file as field headers
  -z, --zero-terminated  line delimiter is NUL, not newline
      --help        display this help and exit
      --version     output version information and exit
""")


class Options:
    def __init__(self) -> None:
        self.unpaired = [False, False]
        self.paired = True
        self.empty = b""
        self.icase = False
        self.fields: list[int | None] = [None, None]
        self.format: list[tuple[int, int]] | None = None     # (file 0..2, field); 0 is the join field
        self.auto = False
        self.separator: bytes | None = None
        self.end = b"\n"
        self.order = "default"
        self.header = False


def main(proc: Process) -> int:
    given, operands = parse(proc, SPEC)
    o = Options()
    after_format = False
    for key, value in given:
        after_format = False
        if key in ("a", "v"):
            if value not in ("1", "2"):
                raise fatal(proc, f"invalid file number: {quote(proc, value)}")
            o.unpaired[int(value) - 1] = True
            o.paired = o.paired and key == "a"
        elif key == "e":
            o.empty = encode(value)
        elif key == "i":
            o.icase = True
        elif key in ("1", "2"):
            _set_field(proc, o, int(key) - 1, value)
        elif key == "j":
            _set_field(proc, o, 0, value)
            _set_field(proc, o, 1, value)
        elif key == "o":
            if value == "auto":
                o.auto = True
            else:
                _formats(proc, o, value)
                after_format = True
        elif key == "t":
            raw = encode(value)
            o.separator = b"\0" if raw == b"\\0" else raw
            if len(o.separator) > 1 and len(decode(o.separator)) > 1:
                raise fatal(proc, f"multi-character tab {quote(proc, value)}")
            if not raw:
                o.separator = b"\n"
        elif key == "z":
            o.end = b"\0"
        elif key == "header":
            o.header = True
        else:
            o.order = key
    while after_format and len(operands) > 2:
        _formats(proc, o, operands.pop(0))
    if len(operands) < 2:
        raise missing_operand(proc, SPEC, operands[-1] if operands else None)
    if len(operands) > 2:
        raise extra_operand(proc, SPEC, operands[2])
    if operands[0] == operands[1] == "-":
        raise fatal(proc, "both files cannot be standard input: No such file or directory")
    return Join(proc, o, operands).run()


def _set_field(proc: Process, o: Options, index: int, text: str) -> None:
    if not text.isdecimal() or int(text) == 0:
        raise fatal(proc, f"invalid field number: {quote(proc, text)}")
    number = min(int(text), 1 << 40) - 1
    old = o.fields[index]
    if old is not None and old != number:
        raise fatal(proc, f"incompatible join fields {old}, {number}")
    o.fields[index] = number


def _formats(proc: Process, o: Options, text: str) -> None:
    o.format = o.format or []
    for item in text.replace(",", " ").replace("\t", " ").split(" "):
        if not item:
            continue
        if item == "0":
            o.format.append((0, 0))
            continue
        file, dot, field = item.partition(".")
        if file not in ("0", "1", "2"):
            if file[:1] in ("1", "2") or not file:
                raise fatal(proc, f"invalid field specifier: {quote(proc, item)}")
            raise fatal(proc, f"invalid file number in field spec: {quote(proc, item)}")
        if not dot or file == "0":
            raise fatal(proc, f"invalid field specifier: {quote(proc, item)}")
        if not field.isdecimal() or int(field) == 0:
            raise fatal(proc, f"invalid field number: {quote(proc, field)}")
        o.format.append((int(file), int(field) - 1))


class Source:
    """One file: its current line's fields, and groups of lines with one key."""

    def __init__(self, join: Join, name: str, index: int) -> None:
        self.join = join
        self.name = name
        self.index = index
        self.field = join.o.fields[index] or 0
        self.lines = self._read(join.proc, name, join.o.end)
        self.number = 0
        self.previous: bytes | None = None
        self.disordered = False
        self.current: Fields | None = None

    def _read(self, proc: Process, name: str, end: bytes) -> Iterator[bytes]:
        file = self.join.open(name)
        try:
            for lines in line_lists(proc, file, end):
                yield from lines
        finally:
            file.decref()

    def advance(self, check: bool = True) -> None:
        line = next(self.lines, None)
        if line is None:
            self.current = None
            return
        self.number += 1
        self.current = self.join.split(line)
        key = self.key()
        if check:
            self._check(key, line)
        self.previous = key

    def _check(self, key: bytes, line: bytes) -> None:
        join = self.join
        if self.previous is None or self.previous <= key or join.o.order == "nocheck" or self.disordered:
            return
        if join.o.order == "check" or join.unpairable:
            join.proc.stdout.flush()
            join.proc.message(f"{self.name}:{self.number}: is not sorted: {decode(line)}")
            self.disordered = True
            if join.o.order == "check":
                raise Exit(1)

    def key(self) -> bytes:
        fields = self.current or []
        key = fields[self.field] if self.field < len(fields) else b""
        return key.upper() if self.join.o.icase else key

    def group(self) -> list[Fields]:
        """The lines from here on with the same key."""
        key = self.key()
        found: list[Fields] = []
        while self.current is not None and self.key() == key:
            found.append(self.current)
            self.join.proc.kernel.fits(len(found) * 64)
            self.advance()
        return found


class Join:
    def __init__(self, proc: Process, o: Options, names: list[str]) -> None:
        self.proc = proc
        self.o = o
        self.unpairable = False
        self.opened = {name: self._open(name) for name in names}
        self.files = [Source(self, name, i) for i, name in enumerate(names)]
        self.glue = b" " if o.separator is None else o.separator if o.separator != b"\n" else b""

    def _open(self, name: str) -> OpenFile:
        try:
            return open_input(self.proc, name).incref()
        except OSError as e:
            self.proc.stdout.flush()
            self.proc.fail(shell_quote(name), e)
            raise Exit(1) from None

    def open(self, name: str) -> OpenFile:
        """The file opened for `name`, or opened once more where both operands name the same one."""
        return self.opened.pop(name, None) or self._open(name)

    def split(self, line: bytes) -> Fields:
        separator = self.o.separator
        if separator is None:
            return [part for part in line.replace(b"\t", b" ").replace(b"\n", b" ").split(b" ") if part]
        if separator == b"\n":
            return [line]
        return line.split(separator) if line else []

    def run(self) -> int:
        one, two = self.files
        one.advance()
        two.advance()
        o = self.o
        if o.auto and o.format is None:
            o.format = [(0, 0)]
            for i, file in enumerate(self.files):
                count = len(file.current or [])
                o.format += [(i + 1, n) for n in range(count) if n != file.field]
        if o.header and (one.current is not None or two.current is not None):
            self.write(one.current, two.current)
            for file in self.files:
                file.previous = None
                file.advance(check=False)
                file.previous = file.key() if file.current is not None else None
        work = 0
        while one.current is not None and two.current is not None:
            a, b = one.key(), two.key()
            if a < b:
                self._unpaired(0)
            elif a > b:
                self._unpaired(1)
            else:
                lefts, rights = one.group(), two.group()
                if o.paired:
                    for left in lefts:
                        for right in rights:
                            self.write(left, right)
                        self.proc.check()
            work += 1
            if not work & 2047:
                self.proc.check()
        for i, file in enumerate(self.files):
            while file.current is not None and (o.unpaired[i] or o.order != "nocheck"):
                self._unpaired(i, False)
        if any(file.disordered for file in self.files):
            self.proc.stdout.flush()
            self.proc.message("input is not in sorted order")
            return 1
        return 0

    def _unpaired(self, index: int, unpairable: bool = True) -> None:
        """A line without partner; at the end of the other file that is not `unpairable`: no check of the order."""
        file = self.files[index]
        fields = file.current or []
        if self.o.unpaired[index]:
            self.write(fields if index == 0 else None, fields if index == 1 else None)
        file.advance()                                       # the line behind it is not checked yet
        self.unpairable = self.unpairable or unpairable

    def write(self, left: Fields | None, right: Fields | None) -> None:
        o = self.o
        one, two = self.files
        key_file, key_line = (one, left) if left is not None else (two, right)
        assert key_line is not None
        key = key_line[key_file.field] if key_file.field < len(key_line) else b""
        if o.format is not None:
            out = []
            for number, field in o.format:
                if number == 0:
                    text = key
                else:
                    line = left if number == 1 else right
                    text = line[field] if line is not None and field < len(line) else b""
                out.append(text or o.empty)
        else:
            out = [key or o.empty]
            for file, line in ((one, left), (two, right)):
                if line is not None:
                    out += [text or o.empty for n, text in enumerate(line) if n != file.field]
        self.proc.stdout.write(self.glue.join(out) + o.end)
