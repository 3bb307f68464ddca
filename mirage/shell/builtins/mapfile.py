"""mapfile, readarray."""
from __future__ import annotations

from mirage.shell.builtins._common import USAGE_STATUS, decode, getopt, number
from mirage.shell.control import ShellError
from mirage.shell.state import ASSOC, is_name
from mirage.text import quoting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mirage.process.files import OpenFile
    from mirage.shell.state import Shell

BLOCK = 1 << 20


def builtin_mapfile(sh: Shell, args: Sequence[str]) -> int:
    return _mapfile(sh, "mapfile", args)


def builtin_readarray(sh: Shell, args: Sequence[str]) -> int:
    return _mapfile(sh, "readarray", args)


class _Options:
    __slots__ = ("callback", "count", "delimiter", "fd", "origin", "quantum", "skip", "strip")

    def __init__(self) -> None:
        self.callback = ""
        self.count = 0
        self.delimiter = b"\n"
        self.fd = 0
        self.origin: int | None = None
        self.quantum = 5000
        self.skip = 0
        self.strip = False


def _mapfile(sh: Shell, command: str, args: Sequence[str]) -> int:
    parsed = getopt(sh, command, args, "d:u:n:O:tC:c:s:")
    if parsed is None:
        return USAGE_STATUS
    options = _Options()
    for letter, value in parsed[0]:
        if not _set_option(sh, command, options, letter, value):
            return 1
    name = parsed[1][0] if parsed[1] else "MAPFILE"
    if not name:
        sh.builtin_error(command, "empty array variable name")
        return USAGE_STATUS
    if not is_name(name):
        sh.builtin_error(command, f"`{name}': not a valid identifier")
        return 1
    file = sh.proc.fds.get(options.fd)
    if file is None:
        sh.builtin_error(command, f"{options.fd}: invalid file descriptor: Bad file descriptor")
        return 1
    if sh.flags(name) & ASSOC:
        sh.builtin_error(command, f"{name}: not an indexed array")
        return 1
    try:
        return _fill(sh, name, file, options)
    except ShellError as e:
        e.report(sh)
        return 1
    except OSError:                                          # as for bash, what cannot be read is empty
        return 0


def _set_option(sh: Shell, command: str, options: _Options, letter: str, value: str) -> bool:
    if letter == "t":
        options.strip = True
        return True
    if letter == "C":
        options.callback = value
        return True
    if letter == "d":
        options.delimiter = value.encode("utf-8", "surrogateescape")[:1] or b"\0"
        return True
    parsed = number(value)
    what = {"u": "file descriptor specification", "n": "line count", "O": "array origin", "s": "line count",
            "c": "callback quantum"}[letter]
    if parsed is None or parsed < (1 if letter == "c" else 0):
        sh.builtin_error(command, f"{value}: invalid {what}")
        return False
    attribute = {"u": "fd", "n": "count", "O": "origin", "s": "skip", "c": "quantum"}[letter]
    setattr(options, attribute, parsed)
    return True


def _fill(sh: Shell, name: str, file: OpenFile, options: _Options) -> int:
    first = options.origin
    if first is None:
        sh.set_array(name, ())
        first = 0
    else:
        sh.append_elements(name, ())                         # it is an array now, even without a line
    delimiter = options.delimiter[0]
    for _ in range(options.skip):
        if not file.readline(delimiter):
            return 0
    lines = _some_lines(file, delimiter, options.count) if options.count else _all_lines(sh, file, options.delimiter)
    if options.callback:
        for at, raw in enumerate(lines):
            line = _text(raw, options)
            if (at + 1) % options.quantum == 0:
                sh.eval_text(f"{options.callback} {first + at} {quoting.quote(line) if line else chr(39) * 2}")
            sh.set_element(name, first + at, line)
        return 0
    texts = [_text(raw, options) for raw in lines]
    if first == 0 and options.origin is None:
        sh.set_array(name, texts)
    else:
        for at, line in enumerate(texts):
            sh.set_element(name, first + at, line)
    return 0


def _text(raw: bytes, options: _Options) -> str:
    if options.strip and raw.endswith(options.delimiter):
        raw = raw[:-1]
    if 0 in raw:
        raw = raw[:raw.index(0)]
    return decode(raw)


def _some_lines(file: OpenFile, delimiter: int, count: int) -> Iterator[bytes]:
    for _ in range(count):
        line = file.readline(delimiter)
        if not line:
            return
        yield line


def _all_lines(sh: Shell, file: OpenFile, delimiter: bytes) -> list[bytes]:
    parts, size = [], 0
    while data := file.read(BLOCK):
        parts.append(data)
        size += len(data)
        sh.kernel.fits(size * 3)
        sh.kernel.check()
    whole = b"".join(parts)
    if delimiter == b"\n":
        lines = whole.split(b"\n")
    else:
        lines = whole.split(delimiter)
    last = lines.pop()
    result = [line + delimiter for line in lines]
    if last:
        result.append(last)
    return result
