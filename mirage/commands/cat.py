"""cat: concatenate files, with numbering and visible control characters."""
from __future__ import annotations

import re

from mirage.commands._getopt import NONE, Spec, parse
from mirage.commands._io import Inputs, chunks
from mirage.commands._text import shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.files import OpenFile
    from mirage.process.process import Process

SPEC = Spec("AbeEnstTuv", {
    "show-all": ("A", NONE), "number-nonblank": ("b", NONE), "show-ends": ("E", NONE), "number": ("n", NONE),
    "squeeze-blank": ("s", NONE), "show-tabs": ("T", NONE), "show-nonprinting": ("v", NONE)},
    help="Usage: NAME [OPTION]... [FILE]...\nConcatenate FILE(s) to standard output.\n")

_CONTROL = re.compile(rb"[^\t\n -~]")


def visible(byte: int) -> bytes:
    """One byte in the ^X and M-x notation."""
    if byte >= 128:
        return b"M-" + visible(byte - 128)
    if byte == 127:
        return b"^?"
    return b"^%c" % (byte + 64) if byte < 32 else b"%c" % byte


_VISIBLE = {bytes((b,)): visible(b) for b in range(256)}


class Transform:
    """The options at work; keeps the line number and blank-line state from file to file."""

    def __init__(self, flags: set[str]) -> None:
        self.flags = flags
        self.number = 0
        self.blanks = 0

    def squeeze(self, data: bytes) -> bytes:
        head = len(data) - len(data.lstrip(b"\n"))
        keep = max(0, min(head, 1 - self.blanks))
        if head == len(data):
            self.blanks += head
            return data[:keep]
        body = re.sub(rb"\n{3,}", b"\n\n", data[head:])
        self.blanks = 1 if body.endswith(b"\n\n") else 0
        return data[:keep] + body

    def apply(self, data: bytes) -> bytes:
        flags = self.flags
        if "s" in flags:
            data = self.squeeze(data)
        if "v" in flags:
            data = _CONTROL.sub(lambda m: _VISIBLE[m[0]], data)
        elif "E" in flags:
            data = data.replace(b"\r\n", b"^M\n")
        if "T" in flags:
            data = data.replace(b"\t", b"^I")
        if "n" in flags or "b" in flags:
            lines = data.split(b"\n")
            last = lines.pop()
            if last:
                lines.append(last)
            if "b" in flags:
                number, out = self.number, []
                for line in lines:
                    if line:
                        number += 1
                        out.append(b"%6d\t%s" % (number, line))
                    else:
                        out.append(line)
                self.number = number
            else:
                out = [b"%6d\t%s" % pair for pair in enumerate(lines, self.number + 1)]
                self.number += len(lines)
            data = b"\n".join(out) + (b"" if last or not out else b"\n")
        if "E" in flags:
            data = data.replace(b"\n", b"$\n")
        return data


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    flags: set[str] = set()
    for key, _ in options:
        flags |= {"A": set("vET"), "e": set("vE"), "t": set("vT"), "u": set()}.get(key, {key})
    inputs = Inputs(proc, operands)
    if flags:
        _transformed(proc, inputs, Transform(flags))
        return _finish(proc, operands, inputs)
    for name, file in inputs:
        if _is_output(proc, file):
            proc.stdout.flush()
            proc.message(f"{shell_quote(name)}: input file is output file")
            inputs.status = 1
            continue
        try:
            for data in chunks(proc, file, 131072):
                proc.stdout.write(data)
                proc.stdout.flush()
        except OSError as e:
            if not isinstance(e, IsADirectoryError) and getattr(e, "reading", None) is None:
                raise
            inputs.fail(shell_quote(name), e)
    return _finish(proc, operands, inputs)


def _finish(proc: Process, operands: list[str], inputs: Inputs) -> int:
    """The status; where standard input was read that is closed, closing it fails as well."""
    if 0 not in proc.fds and (not operands or "-" in operands):
        proc.message("closing standard input: Bad file descriptor")
    return inputs.status


def _transformed(proc: Process, inputs: Inputs, transform: Transform) -> None:
    rest = b""
    for name, file in inputs:
        try:
            for data in chunks(proc, file):
                cut = data.rfind(b"\n") + 1
                if not cut:
                    rest += data
                    proc.kernel.fits(len(rest))
                    continue
                proc.stdout.write(transform.apply(rest + data[:cut]))
                proc.stdout.flush()
                rest = data[cut:]
        except OSError as e:
            if not isinstance(e, IsADirectoryError) and getattr(e, "reading", None) is None:
                raise
            inputs.fail(shell_quote(name), e)
    if rest:
        proc.stdout.write(transform.apply(rest))


def _is_output(proc: Process, file: OpenFile) -> bool:
    """Would reading `file` read what we write? (A regular file that stdout appends to.)"""
    output = proc.file(1)
    if not (file.seekable and output.seekable and output.writable):
        return False
    source, target = file.stat(), output.stat()
    if not source.is_file or not source.ino or source.identity != target.identity:
        return False
    return file.tell() < (target.size or 0)
