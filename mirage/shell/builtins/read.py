"""read."""
from __future__ import annotations

import re
import time

from mirage.process.files import PipeBoth, PipeReader
from mirage.process.signals import SIGALRM
from mirage.shell.builtins._common import USAGE_STATUS, getopt, number, split_reference
from mirage.shell.control import ShellError
from mirage.shell.state import ASSOC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.process.files import OpenFile
    from mirage.shell.state import Shell

_SECONDS = re.compile(r"[ \t]*\+?([0-9]*\.?[0-9]*)[ \t]*")
_BLANKS = " \t\n"
_BLANK_RUN = re.compile(r"[ \t\n]+")
_LONG = 4096
_HIDDEN = 0xD800                                             # an escaped character of IFS is hidden as _HIDDEN + n


class _Options:
    __slots__ = ("array", "count", "delimiter", "exact", "fd", "plain", "prompt", "raw", "timeout")

    def __init__(self) -> None:
        self.array: str | None = None
        self.count: int | None = None                       # characters of -n and -N
        self.delimiter = 10
        self.exact = False                                   # -N
        self.fd = 0
        self.prompt = ""
        self.raw = False
        self.timeout: float | None = None
        self.plain = False                                   # lines of standard input to names, nothing else asked for


_parsed: dict[tuple[str, ...], tuple[_Options, list[str]]] = {}


def _arguments(sh: Shell, args: Sequence[str]) -> tuple[_Options, list[str]] | int:
    """Options and names, remembered for the next turn of a loop; the status after an error."""
    found = _parsed.get(key := tuple(args))
    if found is not None:
        return found
    parsed = getopt(sh, "read", args, "ersa:d:i:n:N:p:t:u:")
    if parsed is None:
        return USAGE_STATUS
    letters, names = parsed
    options = _Options()
    for letter, value in letters:
        if letter == "r":
            options.raw = True
        elif not _set_option(sh, options, letter, value):
            return 1
    first = options.array or (names[0] if names else None)
    if first is not None and split_reference(first) is None:
        sh.builtin_error("read", f"`{first}': not a valid identifier")
        return 1
    options.plain = not (options.array or options.count is not None or options.timeout is not None or options.fd
                         or options.prompt) and bool(names) and all(
        name.isascii() and name.isidentifier() for name in names)
    if len(_parsed) >= 256:
        _parsed.clear()
    _parsed[key] = options, names
    return options, names


def builtin_read(sh: Shell, args: Sequence[str]) -> int:
    arguments = _arguments(sh, args)
    if isinstance(arguments, int):
        return arguments
    return read_names(sh, *arguments)


def plain_options(raw: bool) -> _Options:
    """Those of `read name ...`, or of `read -r name ...`."""
    options = _Options()
    options.raw, options.plain = raw, True
    return options


def read_names(sh: Shell, options: _Options, names: Sequence[str]) -> int:
    """Read a line and assign it; the status."""
    begun: bytes | None = None
    if options.plain:
        found = _read_plain(sh, options, names)
        if isinstance(found, int):
            return found
        begun = found
    file = sh.proc.fds.get(options.fd)
    if file is None:
        sh.builtin_error("read", f"{options.fd}: invalid file descriptor: Bad file descriptor")
        return 1
    if options.timeout == 0:
        return 0 if file.ready() else 1
    if options.prompt and file.isatty():
        sh.proc.write_error(options.prompt)
    try:
        line, status = _read_line(sh, file, options, begun)
    except OSError as e:
        sh.builtin_error("read", f"{options.fd}: read error: {e.strerror}")
        return 1
    text = line.decode("utf-8", "surrogateescape")
    if "\0" in text:
        text = text.replace("\0", "")
    hidden = ""
    ifs = sh.get("IFS")
    if ifs is None:
        ifs = " \t\n"
    if not options.raw and "\\" in text:
        text, hidden = _unescape(text, ifs)
    try:
        if options.array is not None:
            return _assign_array(sh, options.array, split_fields(text, ifs), hidden) or status
        if not names:
            sh.set("REPLY", _show(text, hidden))
        elif options.exact:
            _assign(sh, names[0], _show(text, hidden))
            for name in names[1:]:
                _assign(sh, name, "")
        else:
            _assign_names(sh, names, text, ifs, hidden)
    except _BadName as e:
        sh.builtin_error("read", f"`{e}': not a valid identifier")
        return 1
    except ShellError as e:
        e.report(sh)
        return 1
    return status


def _read_plain(sh: Shell, options: _Options, names: Sequence[str]) -> int | bytes | None:
    """`read [-r] name ...` with an IFS of blanks, or none: the status. Else the line that was read, or None."""
    file = sh.proc.fds.get(0)
    variables = sh.vars
    ifs = sh.get("IFS")
    if file is None or sh.options.allexport or ifs != _BLANKS and ifs != "":
        return None
    delimiter = options.delimiter
    try:
        line = file.readline(delimiter)
    except OSError as e:
        sh.builtin_error("read", f"0: read error: {e.strerror}")
        return 1
    if b"\\" in line and not options.raw or b"\0" in line:
        return line
    status = 1
    if line and line[-1] == delimiter:
        line, status = line[:-1], 0
    text = line.decode("utf-8", "surrogateescape")
    if ifs:
        text = text.strip(_BLANKS)
    if len(names) == 1:
        name = names[0]
        kind = variables.get(name).__class__
        if (kind is str or kind is int) and len(text) <= _LONG:
            variables[name] = text
            return status
        fields = [text]
    else:
        last = len(names) - 1
        if not ifs:
            fields = [text]
        elif "  " in text or "\t" in text or "\n" in text:
            fields = _BLANK_RUN.split(text, last)
        else:
            fields = text.split(" ", last)
        if len(fields) <= last:
            fields += [""] * (last + 1 - len(fields))
    at = 0
    for value in fields:
        name = names[at]
        at += 1
        kind = variables.get(name).__class__
        if (kind is str or kind is int) and len(value) <= _LONG:
            variables[name] = value
            continue
        try:
            sh.set(name, value)
        except ShellError as e:
            e.report(sh)
            return 1
    return status


def _set_option(sh: Shell, options: _Options, letter: str, value: str) -> bool:
    """Take an option with an argument; False after an error."""
    if letter == "a":
        options.array = value
    elif letter == "d":
        options.delimiter = value.encode("utf-8", "surrogateescape")[0] if value else 0
    elif letter in "nN":
        count = number(value)
        if count is None or count < 0:
            sh.builtin_error("read", f"{value}: invalid number")
            return False
        options.count, options.exact = count, letter == "N"
    elif letter == "p":
        options.prompt = value
    elif letter == "t":
        match = _SECONDS.fullmatch(value)
        if match is None or match[1] in ("", "."):
            sh.builtin_error("read", f"{value}: invalid timeout specification")
            return False
        options.timeout = float(match[1])
    elif letter == "u":
        fd = number(value)
        if fd is None or fd < 0:
            sh.builtin_error("read", f"{value}: invalid file descriptor specification")
            return False
        options.fd = fd
    return True


# ------------------------------------------------------------------------------------------------------ input


def _read_line(sh: Shell, file: OpenFile, options: _Options, begun: bytes | None) -> tuple[bytes, int]:
    """The line without its delimiter, and the status: 1 at the end of the file, 142 when the time is over.
    `begun`: a line that was read already."""
    if options.count is not None:
        return _read_count(sh, file, options)
    if options.raw and options.timeout is None:
        line = file.readline(options.delimiter) if begun is None else begun
        if line and line[-1] == options.delimiter:
            return line[:-1], 0
        return line, 1
    until = None if options.timeout is None else time.monotonic() + options.timeout
    delimiter = options.delimiter
    parts: list[bytes] = []
    size = 0
    while True:
        if begun is not None:
            data, begun = begun, None
        elif until is None:
            data = file.readline(delimiter)
        else:
            limit = _wait(file, until)
            if limit is None:
                return b"".join(parts), 128 + SIGALRM
            data = file.readline(delimiter, limit)
        if not data:
            return b"".join(parts), 1
        if data[-1] != delimiter:
            parts.append(data)
            size += len(data)
            sh.kernel.fits(size)
            if until is None:
                return b"".join(parts), 1
            continue
        line = b"".join((*parts, data[:-1])) if parts else data[:-1]
        if options.raw or not line.endswith(b"\\") or (len(line) - len(line.rstrip(b"\\"))) % 2 == 0:
            return line, 0
        # the delimiter was escaped: a newline disappears with its backslash, anything else stays
        parts = [line[:-1] if delimiter == 10 else line + data[-1:]]
        size = len(parts[0])


def _wait(file: OpenFile, until: float) -> int | None:
    """Bytes that can be read without waiting, once there are any; None when the time came first."""
    reader = file.reader if isinstance(file, PipeBoth) else file
    if not isinstance(reader, PipeReader):
        return 1 << 62
    while not reader.ready():
        if time.monotonic() >= until:
            return None
        reader.pipe.readable.wait(until)
    return reader.pipe.size or 1


def _read_count(sh: Shell, file: OpenFile, options: _Options) -> tuple[bytes, int]:
    """For -n and -N: so many characters, never reading more bytes than that needs."""
    until = None if options.timeout is None else time.monotonic() + options.timeout
    count = options.count or 0
    if not count:
        return b"", 0
    delimiter = options.delimiter
    line = b""
    while True:
        missing = count - _characters(line, options.raw)
        if missing <= 0:
            return line, 0
        limit = missing
        if until is not None:
            available = _wait(file, until)
            if available is None:
                return line, 128 + SIGALRM
            limit = min(limit, available)
        data = file.read(limit) if options.exact else file.readline(delimiter, limit)
        if not data:
            return line, 1
        line += data if not delimiter else data.replace(b"\0", b"")
        sh.kernel.fits(3 * len(line))
        sh.kernel.tick()
        if not options.exact and data[-1] == delimiter:
            body = line[:-1]
            if options.raw or (len(body) - len(body.rstrip(b"\\"))) % 2 == 0:
                return body, 0


def _characters(line: bytes, raw: bool) -> int:
    """How many characters of the result these bytes make; an unfinished one at the end does not count."""
    if not raw and b"\\" in line:
        line = re.sub(rb"\\(?:\n|(.)|$)", rb"\1", line, flags=re.DOTALL)
    line = line.replace(b"\0", b"")
    if line.isascii():
        return len(line)
    text = line.decode("utf-8", "surrogateescape")
    tail = 0
    for back in range(1, min(4, len(line)) + 1):
        lead = line[-back]
        if lead >= 0xC0:
            tail = back if back < (2 if lead < 0xE0 else 3 if lead < 0xF0 else 4) else 0
            break
        if lead < 0x80:
            break
    return len(text) - tail


# ----------------------------------------------------------------------------------------------------- fields


def _unescape(text: str, ifs: str) -> tuple[str, str]:
    """Backslashes removed; escaped characters of IFS hidden from splitting. (text, the hidden characters)."""
    def plain(match: re.Match[str]) -> str:
        char = match[1]
        if not char or char == "\n":
            return ""
        at = ifs.find(char)
        return char if at < 0 or at >= 0x400 else chr(_HIDDEN + at)

    return re.sub(r"\\(.?)", plain, text, flags=re.DOTALL), ifs[:0x400]


def _show(text: str, hidden: str) -> str:
    """The text with hidden characters as they are."""
    if not hidden:
        return text
    return text.translate({_HIDDEN + at: char for at, char in enumerate(hidden)})


_patterns: dict[str, tuple[str, re.Pattern[str], re.Pattern[str]]] = {}


def _pattern(ifs: str) -> tuple[str, re.Pattern[str], re.Pattern[str]]:
    """(the whitespace in IFS, a field with its delimiter, a delimiter)."""
    found = _patterns.get(ifs)
    if found is None:
        blanks = "".join(char for char in " \t\n" if char in ifs)
        others = "".join(char for char in ifs if char not in " \t\n")
        blank = f"[{blanks}]*" if blanks else ""
        other = f"[{re.escape(others)}]" if others else r"(?!)"
        delimiter = rf"{blank}{other}{blank}" + (f"|[{blanks}]+" if blanks else "")
        field = f"[^{re.escape(ifs)}]*" if ifs else r"[\s\S]*"
        if len(_patterns) > 64:
            _patterns.clear()
        found = _patterns[ifs] = (blanks, re.compile(f"({field})(?:{delimiter}|\\Z)"), re.compile(delimiter))
    return found


def split_fields(text: str, ifs: str) -> list[str]:
    """All fields of a text (hidden characters still hidden)."""
    if not ifs:
        return [text] if text else []
    if ifs == " \t\n":
        return text.replace("\t", " ").replace("\n", " ").strip(" ").split(" ") if "  " not in text and text.strip(
            ifs) and "\t" not in text and "\n" not in text else [f for f in re.split("[ \t\n]+", text) if f]
    blanks, _, delimiter = _pattern(ifs)
    if blanks:
        text = text.strip(blanks)
    if not text:
        return []
    fields = delimiter.split(text)
    if not fields[-1]:
        fields.pop()
    return fields


class _BadName(Exception):
    """A variable name that is none."""


def _assign(sh: Shell, name: str, value: str) -> None:
    if name.isascii() and name.isidentifier():
        sh.set(name, value)
    elif split_reference(name) is None:
        raise _BadName(name)
    else:
        sh.assign(name, value)


def _assign_names(sh: Shell, names: Sequence[str], text: str, ifs: str, hidden: str) -> None:
    """One field to each name, what is left to the last one."""
    if len(names) == 1 and ifs == " \t\n":
        _assign(sh, names[0], _show(text.strip(ifs), hidden))
        return
    blanks, field, _ = _pattern(ifs)
    at = 0
    if blanks:
        text = text.lstrip(blanks)
    for name in names[:-1]:
        match = field.match(text, at)
        assert match is not None
        _assign(sh, name, _show(match[1], hidden))
        at = match.end()
    rest = text[at:] if at else text
    if ifs == blanks:                                        # only whitespace separates
        rest = rest.rstrip(blanks) if blanks else rest
    elif rest and ifs:
        match = field.match(rest)
        assert match is not None
        rest = match[1] if match.end() == len(rest) else rest.rstrip(blanks) if blanks else rest
    _assign(sh, names[-1], _show(rest, hidden))


def _assign_array(sh: Shell, name: str, fields: list[str], hidden: str) -> int:
    if sh.flags(name) & ASSOC:
        sh.builtin_error("read", f"{name}: not an indexed array")
        return 1
    sh.set_array(name, [_show(value, hidden) for value in fields] if hidden else fields)
    return 0
