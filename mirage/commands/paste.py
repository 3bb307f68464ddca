"""paste: merge lines of files (GNU coreutils 9.7)."""
from __future__ import annotations

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import encode, line_lists, open_input
from mirage.commands._text import fatal, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mirage.process.files import OpenFile
    from mirage.process.process import Process

SPEC = Spec("d:sz", {"delimiters": ("d", REQUIRED), "serial": ("s", NONE), "zero-terminated": ("z", NONE)}, help="""\
Usage: NAME [OPTION]... [FILE]...
Write lines consisting of the sequentially corresponding lines from
each FILE, separated by TABs, to standard output.

  -d, --delimiters=LIST   reuse characters from LIST instead of TABs
  -s, --serial            paste one file at a time instead of in parallel
  -z, --zero-terminated    line delimiter is NUL, not newline
      --help        display this help and exit
      --version     output version information and exit
""")
ESCAPES = {"0": b"", "b": b"\b", "f": b"\f", "n": b"\n", "r": b"\r", "t": b"\t", "v": b"\v", "\\": b"\\"}


def main(proc: Process) -> int:
    given, operands = parse(proc, SPEC)
    serial, end, glue = False, b"\n", [b"\t"]
    for key, value in given:
        if key == "s":
            serial = True
        elif key == "z":
            end = b"\0"
        else:
            glue = _delimiters(proc, value)
    names = operands or ["-"]
    return _serial(proc, names, glue, end) if serial else _parallel(proc, names, glue, end)


def _delimiters(proc: Process, text: str) -> list[bytes]:
    if not text:
        return [b""]
    out: list[bytes] = []
    i = 0
    while i < len(text):
        if text[i] == "\\":
            i += 1
            if i >= len(text):
                raise fatal(proc, f"delimiter list ends with an unescaped backslash: {text}")
            out.append(ESCAPES[text[i]] if text[i] in ESCAPES else encode(text[i]))
        else:
            out += [bytes((b,)) for b in encode(text[i])]
        i += 1
    return out


def _serial(proc: Process, names: list[str], glue: list[bytes], end: bytes) -> int:
    status = 0
    for name in names:
        try:
            file = open_input(proc, name).incref()
        except OSError as e:
            proc.stdout.flush()
            proc.fail(shell_quote(name), e)
            status = 1
            continue
        count = 0
        try:
            for lines in line_lists(proc, file, end):
                if len(glue) == 1:
                    text = glue[0].join(lines)
                    proc.stdout.write(glue[0] + text if count else text)
                    count += len(lines)
                    continue
                for line in lines:
                    if count:
                        line = glue[(count - 1) % len(glue)] + line
                    proc.stdout.write(line)
                    count += 1
        finally:
            file.decref()
        proc.stdout.write(end)
    return status


def _lines(proc: Process, file: OpenFile, end: bytes) -> Iterator[bytes]:
    for lines in line_lists(proc, file, end):
        yield from lines


def _parallel(proc: Process, names: list[str], glue: list[bytes], end: bytes) -> int:
    files: list[OpenFile] = []
    try:
        for name in names:
            try:
                files.append(open_input(proc, name).incref())
            except OSError as e:
                raise fatal(proc, f"{shell_quote(name)}: {e.strerror}") from None
        standard = None
        sources: list[Iterator[bytes] | None] = []
        for name, file in zip(names, files, strict=True):
            if name == "-":                                  # all `-` share one stream
                standard = standard or _lines(proc, file, end)
                sources.append(standard)
            else:
                sources.append(_lines(proc, file, end))
        between = [glue[i % len(glue)] for i in range(len(sources) - 1)]
        _merge(proc, sources, between, end)
    finally:
        for file in files:
            file.decref()
    return 0


def _merge(proc: Process, sources: list[Iterator[bytes] | None], between: list[bytes], end: bytes) -> None:
    write = proc.stdout.write
    one = between[0] if between and all(b == between[0] for b in between) else None
    while True:
        row: list[bytes] = []
        found = False
        for i, source in enumerate(sources):
            line = next(source, None) if source is not None else None
            if line is None:
                sources[i] = None
                row.append(b"")
            else:
                found = True
                row.append(line)
        if not found:
            return
        if one is not None:
            write(one.join(row) + end)
        else:
            parts = [row[0]]
            for mark, text in zip(between, row[1:], strict=True):
                parts += (mark, text)
            write(b"".join(parts) + end)
