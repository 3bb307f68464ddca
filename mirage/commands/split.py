"""split: cut a file into pieces."""
from __future__ import annotations

import os
import re

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import chunks, encode, open_input, read_all
from mirage.commands._text import extra_operand, fatal, parse_size, quote, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mirage.process.files import OpenFile
    from mirage.process.process import Process

SPEC = Spec("a:b:C:del:n:t:ux", {
    "suffix-length": ("a", REQUIRED), "additional-suffix": ("additional", REQUIRED), "bytes": ("b", REQUIRED),
    "line-bytes": ("C", REQUIRED), "numeric-suffixes": ("numeric", OPTIONAL), "hex-suffixes": ("hex", OPTIONAL),
    "elide-empty-files": ("e", NONE), "filter": ("filter", REQUIRED), "lines": ("l", REQUIRED),
    "number": ("n", REQUIRED), "separator": ("t", REQUIRED), "unbuffered": ("u", NONE), "verbose": ("verbose", NONE)},
    help="Usage: NAME [OPTION]... [FILE [PREFIX]]\nOutput pieces of FILE to PREFIXaa, PREFIXab, ...;\n"
         "default size is 1000 lines, and default PREFIX is 'x'.\n")

ALPHABETS = {"": "abcdefghijklmnopqrstuvwxyz", "d": "0123456789", "x": "0123456789abcdef"}


class Names:
    """The names of the pieces: fixed length, or growing when none was given (xaa .. xyz, xzaaa ..)."""

    def __init__(self, proc: Process, prefix: str, alphabet: str, length: int | None, start: int, extra: str) -> None:
        self.proc = proc
        self.prefix = prefix
        self.alphabet = alphabet
        self.fixed = length is not None
        self.length = length or 2
        self.index = start
        self.extra = extra
        self.lead = ""

    def __next__(self) -> str:
        base = len(self.alphabet)
        limit = base ** self.length
        if not self.fixed and self.index >= limit - limit // base:
            self.lead += self.alphabet[-1]
            self.length += 1
            self.index = 0
            limit = base ** self.length
        if self.index >= limit:
            raise fatal(self.proc, "output file suffixes exhausted")
        digits, index = "", self.index
        for _ in range(self.length):
            index, digit = divmod(index, base)
            digits = self.alphabet[digit] + digits
        self.index += 1
        return f"{self.prefix}{self.lead}{digits}{self.extra}"

    def __iter__(self) -> Names:
        return self


class Splitter:
    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.kind = ""
        self.size = 1000
        self.separator = b"\n"
        self.filter: str | None = None
        self.elide = self.verbose = False
        self.names: Names | None = None
        self.out: OpenFile | None = None
        self.child: Process | None = None
        self.status = 0

    # ---- pieces

    def open(self) -> None:
        """Begin the next piece."""
        proc = self.proc
        self.close()
        assert self.names is not None
        name = next(self.names)
        if self.filter is not None:
            if self.verbose:
                proc.stdout.write(encode(f"executing with FILE={shell_quote(name, True)}\n"))
            proc.stdout.flush()
            reader, writer = proc.pipe()
            self.out = writer.incref()
            shell = proc.env.get("SHELL") or "/bin/sh"
            self.child = proc.spawn([shell, "-c", self.filter], fds={0: reader}, env={**proc.env, "FILE": name})
            return
        if self.verbose:
            proc.stdout.write(encode(f"creating file {shell_quote(name, True)}\n"))
        try:
            self.out = proc.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC).incref()
        except OSError as e:
            raise fatal(proc, f"{shell_quote(name)}: {e.strerror}") from None

    def write(self, data: bytes) -> None:
        if self.out is not None and data:
            self.out.write(data)

    def close(self) -> None:
        if self.out is not None:
            out, self.out = self.out, None
            out.decref()
        if self.child is not None:
            child, self.child = self.child, None
            status = self.proc.wait(child)
            if status:
                self.proc.message(f"with FILE={next_name(child)}, exit {status} from command: {self.filter}")
                self.status = 1

    # ---- ways to cut

    def by_lines(self, file: OpenFile) -> None:
        left = 0
        for data in chunks(self.proc, file):
            at = 0
            while at < len(data):
                if not left:
                    self.open()
                    left = self.size
                end = at
                while left:
                    found = data.find(self.separator, end)
                    if found < 0:
                        end = len(data)
                        break
                    end = found + 1
                    left -= 1
                self.write(data[at:end])
                at = end

    def by_bytes(self, file: OpenFile) -> None:
        left = 0
        while True:
            data = file.read(min(left or self.size, 1 << 20))
            if not data:
                return
            if not left:
                self.open()
                left = self.size
            self.write(data)
            left -= len(data)
            self.proc.check()

    def by_line_bytes(self, file: OpenFile) -> None:
        """As many whole lines as fit; longer lines are cut."""
        data = read_all(self.proc, file)
        at = 0
        while at < len(data):
            end = min(at + self.size, len(data))
            if end < len(data):
                cut = data.rfind(self.separator, at, end)
                if cut >= 0:
                    end = cut + 1
            self.open()
            self.write(data[at:end])
            at = end
            self.proc.check()

    def by_number(self, file: OpenFile, how: str, wanted: int) -> None:
        """-n: `how` is "", l or r; `wanted` one piece to print, 0 for all as files."""
        data = read_all(self.proc, file)
        pieces = self._round_robin(data) if how == "r" else self._lines(data) if how == "l" else self._bytes(data)
        for number, piece in enumerate(pieces, 1):
            if wanted:
                if number == wanted:
                    self.proc.stdout.write(piece)
                    return
            elif piece or not self.elide:
                self.open()
                self.write(piece)

    def _bytes(self, data: bytes) -> Iterator[bytes]:
        size, more = divmod(len(data), self.size)
        at = 0
        for number in range(self.size):
            end = at + size + (1 if number < more else 0)
            yield data[at:end]
            at = end

    def _lines(self, data: bytes) -> Iterator[bytes]:
        """A line belongs to the piece in whose share its first byte is."""
        shares = []
        at = 0
        size, more = divmod(len(data), self.size)
        for number in range(self.size):
            at += size + (1 if number < more else 0)
            shares.append(at)
        start = 0
        for number, share in enumerate(shares):
            if start >= share and number < self.size - 1:
                yield b""
                continue
            if number == self.size - 1:
                end = len(data)
            else:
                found = data.find(self.separator, share - 1)
                end = len(data) if found < 0 else found + 1
            yield data[start:end]
            start = end

    def _round_robin(self, data: bytes) -> Iterator[bytes]:
        lines = data.split(self.separator)
        last = lines.pop()
        lines = [line + self.separator for line in lines] + ([last] if last else [])
        for number in range(self.size):
            yield b"".join(lines[number::self.size])


def next_name(child: Process) -> str:
    return child.env.get("FILE", "")


def main(proc: Process) -> int:
    args = [re.sub(r"^-([0-9]+)$", r"-l\1", a) if re.fullmatch(r"-[0-9]+", a) else a for a in proc.argv[1:]]
    options, operands = parse(proc, SPEC, args)
    s = Splitter(proc)
    length: int | None = None
    alphabet, start, extra, how, wanted = "", 0, "", "", 0
    for key, value in options:
        if key in ("l", "b", "C", "n"):
            if s.kind:
                raise usage_error(proc, SPEC, "cannot split in more than one way")
            s.kind = key
            if key == "n":
                how, wanted, s.size = _number(proc, value)
            else:
                size = parse_size(value)
                if not size:
                    what = "lines" if key == "l" else "bytes"
                    raise fatal(proc, f"invalid number of {what}: {quote(proc, value)}")
                s.size = size
        elif key == "a":
            number = parse_size(value, "")
            if number is None:
                raise fatal(proc, f"invalid suffix length: {quote(proc, value)}")
            length = number or None
        elif key in ("d", "numeric", "x", "hex"):
            alphabet = "d" if key in ("d", "numeric") else "x"
            if value:
                try:
                    start = int(value, 16 if alphabet == "x" else 10)
                except ValueError:
                    raise usage_error(proc, SPEC, f"{quote(proc, value)}: invalid start value for "
                                      f"{'hexadecimal' if alphabet == 'x' else 'numerical'} suffix") from None
        elif key == "additional":
            if "/" in value:
                raise usage_error(proc, SPEC, f"invalid suffix {quote(proc, value)}, contains directory separator")
            extra = value
        elif key == "t":
            if not value:
                raise fatal(proc, "empty record separator")
            text = "\0" if value == "\\0" else value
            if len(text) > 1:
                raise fatal(proc, f"multi-character separator {quote(proc, value)}")
            s.separator = encode(text)
        elif key == "filter":
            s.filter = value
        elif key == "e":
            s.elide = True
        elif key == "verbose":
            s.verbose = True
    if len(operands) > 2:
        raise extra_operand(proc, SPEC, operands[2])
    if s.filter is not None and wanted:
        raise usage_error(proc, SPEC, "--filter does not process a chunk extracted to stdout")
    letters = ALPHABETS[alphabet]
    if length is None and (s.kind == "n" and not wanted or start):
        length = max(2, _digits(s.size + start - 1 if s.kind == "n" else start, len(letters)))
    s.names = Names(proc, operands[1] if len(operands) > 1 else "x", letters, length, start, extra)
    name = operands[0] if operands else "-"
    try:
        file = open_input(proc, name).incref()
    except IsADirectoryError as e:
        raise fatal(proc, f"{shell_quote(name)}: {e.strerror}") from None
    except OSError as e:
        raise fatal(proc, f"cannot open {shell_quote(name, True)} for reading: {e.strerror}") from None
    try:
        if s.kind == "n":
            s.by_number(file, how, wanted)
        else:
            {"": s.by_lines, "l": s.by_lines, "b": s.by_bytes, "C": s.by_line_bytes}[s.kind](file)
    finally:
        file.decref()
        s.close()
    return s.status


def _digits(highest: int, base: int) -> int:
    count = 1
    while base ** count <= highest:
        count += 1
    return count


def _number(proc: Process, text: str) -> tuple[str, int, int]:
    """CHUNKS of -n: N, K/N, l/N, l/K/N, r/N, r/K/N as (how, K or 0, N)."""
    how, rest = (text[0], text[2:]) if text[:2] in ("l/", "r/") else ("", text)
    first, slash, second = rest.partition("/")
    total = parse_size(second if slash else first, "bkKmMGTPEZYRQ")
    if not total or total > 1_000_000:
        raise fatal(proc, f"invalid number of chunks: {quote(proc, second if slash else first)}")
    if not slash:
        return how, 0, total
    which = parse_size(first, "bkKmMGTPEZYRQ")
    if not which or which > total:
        raise fatal(proc, f"invalid chunk number: {quote(proc, first)}")
    return how, which, total
