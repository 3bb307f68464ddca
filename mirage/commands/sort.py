"""sort: sort, merge or check lines, in the byte order of the C and C.UTF-8 locales."""
from __future__ import annotations

import heapq
import os
import re
from functools import cmp_to_key, partial
from itertools import groupby

from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse
from mirage.commands._io import decode, encode, open_input, read_all, split_lines
from mirage.commands._sort_keys import Key, KeyError_, integer_key, key_function, numeric
from mirage.commands._text import choice, fatal, parse_size, quote, shell_quote
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mirage.process.process import Process

SPEC = Spec("bdfghiMnRrVcCmo:sS:t:T:uzk:y:", {
    "ignore-leading-blanks": ("b", NONE), "dictionary-order": ("d", NONE), "ignore-case": ("f", NONE),
    "general-numeric-sort": ("g", NONE), "ignore-nonprinting": ("i", NONE), "month-sort": ("M", NONE),
    "human-numeric-sort": ("h", NONE), "numeric-sort": ("n", NONE), "random-sort": ("R", NONE),
    "random-source": ("random", REQUIRED), "reverse": ("r", NONE), "sort": ("sort", REQUIRED),
    "version-sort": ("V", NONE), "batch-size": ("batch", REQUIRED), "check": ("check", OPTIONAL),
    "compress-program": ("compress", REQUIRED), "debug": ("debug", NONE), "files0-from": ("files0", REQUIRED),
    "key": ("k", REQUIRED), "merge": ("m", NONE), "output": ("o", REQUIRED), "stable": ("s", NONE),
    "buffer-size": ("S", REQUIRED), "field-separator": ("t", REQUIRED), "temporary-directory": ("T", REQUIRED),
    "parallel": ("parallel", REQUIRED), "unique": ("u", NONE), "zero-terminated": ("z", NONE)},
    help="Usage: NAME [OPTION]... [FILE]...\n  or:  NAME [OPTION]... --files0-from=F\n"
         "Write sorted concatenation of all FILE(s) to standard output.\n", status=2)

SORTS = (("general-numeric",), ("human-numeric",), ("month",), ("numeric",), ("random",), ("version",))
PIECE = 1 << 16                                              # lines that are sorted in one step
_ODD = (b"_", b"+", b"\r", b"\v", b"\f", b"\0")              # where int() and split() differ from sort
_SORT_LETTER = {"general-numeric": "g", "human-numeric": "h", "month": "M", "numeric": "n", "random": "R",
                "version": "V"}
_OLD_KEY = re.compile(r"\+([0-9]+)(?:\.([0-9]+))?([bdfgihMnRrV]*)\Z")
_OLD_END = re.compile(r"-([0-9]+)(?:\.([0-9]+))?([bdfgihMnRrV]*)\Z")


class Job:
    """The options of one call."""

    def __init__(self) -> None:
        self.flags: set[str] = set()
        self.keys: list[Key] = []
        self.separator: bytes | None = None
        self.delimiter = b"\n"
        self.output: str | None = None
        self.check = ""
        self.random_source: str | None = None
        self.files0: str | None = None
        self.quick: dict[Callable[[bytes], Any], Callable[[bytes], int]] = {}  # key function -> integer_key


def main(proc: Process) -> int:
    job = Job()
    options, operands = parse(proc, SPEC, _traditional(proc.argv[1:]))
    for key, value in options:
        _option(proc, job, key, value)
    if job.files0 is not None:
        operands = _names(proc, job.files0, operands)
    elif job.check and len(operands) > 1:
        proc.message(f"extra operand {shell_quote(operands[1], True)} not allowed with -{job.check}")
        return 2
    own = [k.flags if k.flags or k.skip_start or k.skip_end else job.flags for k in job.keys]
    for order in own or [job.flags]:
        _check_compatible(proc, order)
    if job.check and job.output is not None:
        raise fatal(proc, f"options '-{'C' if job.check == 'C' else 'c'}o' are incompatible", 2)
    keys = _finish_keys(proc, job)
    operands = operands or ["-"]
    for name in operands:
        if name != "-" and not proc.fs.access(name, os.R_OK):
            _cannot_read(proc, name)
    if job.check:
        return _check(proc, job, keys, operands[0])
    if "m" in job.flags:
        lines = _merge(proc, job, keys, operands)
    else:
        data = [_read(proc, name, job.delimiter) for name in operands]
        lines = _sort(proc, job, keys, data)
    _write(proc, job, lines)
    return 0


def _option(proc: Process, job: Job, key: str, value: str) -> None:
    if key == "k":
        try:
            job.keys.append(Key.parse(value))
        except KeyError_ as e:
            raise fatal(proc, e.text(lambda text: quote(proc, text)), 2) from None
    elif key == "t":
        text = encode(value)
        if not text:
            raise fatal(proc, "empty tab", 2)
        if text == b"\\0":
            text = b"\0"
        if len(text) > 1:
            raise fatal(proc, f"multi-character tab {quote(proc, value)}", 2)
        if job.separator not in (None, text):
            raise fatal(proc, "incompatible tabs", 2)
        job.separator = text
    elif key == "o":
        if job.output is not None and job.output != value:
            raise fatal(proc, "multiple output files specified", 2)
        job.output = value
    elif key == "z":
        job.delimiter = b"\0"
    elif key in ("c", "C", "check"):
        mode = key
        if key == "check":
            words = (("quiet", "silent"), ("diagnose-first",))
            mode = "C" if value and choice(proc, SPEC, "--check", value, words) == "quiet" else "c"
        if job.check and job.check != mode:
            raise fatal(proc, "options '-cC' are incompatible", 2)
        job.check = mode
    elif key == "sort":
        job.flags.add(_SORT_LETTER[choice(proc, SPEC, "--sort", value, SORTS)])
    elif key == "random":
        job.random_source = value
    elif key == "files0":
        job.files0 = value
    elif key == "S":
        if parse_size(value.removesuffix("%"), "bkKmMGTPEZYRQ") is None:
            raise fatal(proc, f"invalid -S argument '{value}'", 2)
    elif key == "parallel":
        if parse_size(value, "") is None:
            raise fatal(proc, f"invalid --parallel argument {quote(proc, value)}", 2)
        if int(value) == 0:
            raise fatal(proc, "number in parallel must be nonzero", 2)
    elif key == "debug":
        raise fatal(proc, "--debug is not available in this terminal", 2)
    elif key not in ("T", "batch", "compress", "y"):
        job.flags.add(key)


def _traditional(args: list[str]) -> list[str]:
    """`+POS1 [-POS2]` as `-k`."""
    out: list[str] = []
    i = 0
    while i < len(args):
        arg = args[i]
        i += 1
        if arg == "--":
            return out + args[i - 1:]
        found = _OLD_KEY.match(arg)
        if not found:
            out.append(arg)
            continue
        text = f"{int(found[1]) + 1}" + (f".{int(found[2]) + 1}" if found[2] else "") + found[3]
        if i < len(args) and (end := _OLD_END.match(args[i])):
            i += 1
            field = int(end[1]) + (1 if end[2] and int(end[2]) else 0)
            text += f",{field}" + (f".{int(end[2])}" if end[2] and int(end[2]) else "") + end[3]
        out.append("-k" + text)
    return out


def _check_compatible(proc: Process, flags: set[str]) -> None:
    kinds = [letter for letter in "ghMnRV" if letter in flags]
    if len(flags & set("gnhM")) + bool(flags & set("VRdi")) > 1 or "n" in flags and flags & set("di"):
        shown = "".join(c for c in "dfghiMnRV" if c in flags and c in [*kinds, "d", "i"])
        raise fatal(proc, f"options '-{shown}' are incompatible", 2)


def _finish_keys(proc: Process, job: Job) -> list[tuple[Callable[[bytes], Any], bool]]:
    """(function, reverse) per key; keys without options of their own take the global ones."""
    order = job.flags & set("bdfghiMnRrV")
    salt = b""
    if "R" in order or any("R" in k.flags for k in job.keys):
        salt = _salt(proc, job.random_source)
    out = []
    for key in job.keys:
        if not key.flags and not key.skip_start and not key.skip_end:
            key.flags = order - {"b"}
            key.skip_start = key.skip_end = "b" in order
        function = key_function(key, job.separator, salt)
        quick = integer_key(key, job.separator)
        if quick is not None:
            job.quick[function] = quick
        out.append((function, "r" in key.flags))
    if not job.keys and order - {"r"}:
        key = Key()
        key.flags = order - {"b"}
        key.skip_start = key.skip_end = "b" in order
        function = key_function(key, job.separator, salt)
        if function is numeric:
            job.quick[function] = int
        out.append((function, "r" in order))
    return out


def _salt(proc: Process, source: str | None) -> bytes:
    if source is None:
        return os.urandom(16)
    try:
        with proc.opened(source) as file:
            data = file.read(16)
    except OSError as e:
        raise fatal(proc, f"{shell_quote(source)}: {e.strerror}", 2) from None
    if len(data) < 16:
        raise fatal(proc, f"{shell_quote(source)}: end of file", 2)
    return data


def _cannot_read(proc: Process, name: str) -> None:
    try:
        with proc.opened(name):
            return
    except OSError as e:
        proc.fail(f"cannot read: {shell_quote(name)}", e)
        raise Exit(2) from None


def _read(proc: Process, name: str, delimiter: bytes) -> bytes:
    """A whole input; its last line ends with the delimiter."""
    try:
        file = open_input(proc, name)
        file.incref()
        try:
            data = read_all(proc, file)
        finally:
            file.decref()
    except IsADirectoryError as e:
        raise fatal(proc, f"read failed: {shell_quote(name)}: {e.strerror}", 2) from None
    except OSError as e:
        proc.fail(f"cannot read: {shell_quote(name)}", e)
        raise Exit(2) from None
    if data and not data.endswith(delimiter):
        data += delimiter
    return data


def _names(proc: Process, source: str, operands: list[str]) -> list[str]:
    if operands:
        proc.message(f"extra operand {quote(proc, operands[0])}\nfile operands cannot be combined with --files0-from")
        proc.write_error("Try 'sort --help' for more information.\n")
        raise Exit(2)
    try:
        proc.fs.stat(source) if source != "-" else None
    except OSError as e:
        raise fatal(proc, f"open failed: {shell_quote(source)}: {e.strerror}", 2) from None
    data = _read(proc, source, b"\0")
    names = [decode(name) for name in data.split(b"\0")[:-1]]
    if not names:
        raise fatal(proc, f"no input from {quote(proc, source)}", 2)
    for number, name in enumerate(names, 1):
        if not name:
            raise fatal(proc, f"{shell_quote(source)}:{number}: invalid zero-length file name", 2)
    return names


def _sort(proc: Process, job: Job, keys: list[tuple[Callable[[bytes], Any], bool]], data: list[bytes]) -> list[bytes]:
    joined = data[0] if len(data) == 1 else b"".join(data)
    del data[:]
    lines = split_lines(proc, joined, job.delimiter)
    plain = not any(byte in joined for byte in _ODD)
    del joined
    lines.pop()
    proc.check()
    reverse = "r" in job.flags
    unique = "u" in job.flags
    if not keys:
        return _sort_lines(proc, list(set(lines)) if unique else lines, reverse)
    if plain and len(keys) == 1 and job.quick.get(keys[0][0]) is int:
        numbers = _sort_integers(proc, lines, unique, keys[0][1])
        if numbers is not None:
            return numbers
    if unique and len(keys) == 1:
        function, backwards = keys[0]
        found = _values(proc, job, function, lines, plain)
        found.reverse()
        first = dict(zip(found, reversed(lines), strict=True))
        return [first[value] for value in sorted(first, reverse=backwards)]
    if not unique and "s" not in job.flags:
        lines = _sort_lines(proc, lines, reverse)
    for function, backwards in reversed(keys):
        values = iter(_values(proc, job, function, lines, plain))
        lines.sort(key=partial(next, values), reverse=backwards)
        proc.check()
    if unique:
        functions = [function for function, _ in keys]
        lines = [next(run) for _, run in groupby(lines, lambda line: [f(line) for f in functions])]
    return lines


def _sort_lines(proc: Process, lines: list[Any], reverse: bool) -> list[Any]:
    """Lines by byte, or numbers; in pieces that are merged in pairs, so that no step holds the interpreter for long."""
    runs = []
    for start in range(0, len(lines), PIECE):
        run = lines[start:start + PIECE]
        run.sort(reverse=reverse)
        runs.append(run)
        proc.check()
    del lines[:]
    while len(runs) > 1:
        merged = []
        for i in range(0, len(runs), 2):
            run = runs[i]
            if i + 1 < len(runs):
                run += runs[i + 1]
                runs[i + 1] = []
                run.sort(reverse=reverse)                    # finds the two runs and merges them
            merged.append(run)
            proc.check()
        runs = merged
    return runs[0] if runs else []


def _sort_integers(proc: Process, lines: list[bytes], unique: bool, reverse: bool) -> list[bytes] | None:
    """Whole lines by number, where all are integers in their shortest form: the numbers alone are sorted.

    Any other form is longer, so that equal lengths in total say that no line has one.
    """
    numbers: list[int] = []
    for start in range(0, len(lines), PIECE):
        try:
            numbers += map(int, lines[start:start + PIECE])
        except ValueError:
            return None
        proc.check()
    if sum(map(len, map(str, numbers))) != sum(map(len, lines)):
        return None
    ordered = _sort_lines(proc, list(set(numbers)) if unique else numbers, reverse)
    return "\n".join(map(str, ordered)).encode().split(b"\n") if ordered else []


def _values(proc: Process, job: Job, function: Callable[[bytes], Any], lines: list[bytes], plain: bool) -> list[Any]:
    """The key of every line. Integers in plain fields are read the quick way as long as there are only such."""
    quick = job.quick.get(function) if plain else None
    values: list[Any] = []
    for start in range(0, len(lines), PIECE):
        piece = lines[start:start + PIECE]
        if quick is not None:
            try:
                values += map(quick, piece)
                proc.check()
                continue
            except (ValueError, IndexError):
                return _values(proc, job, function, lines, False)
        values += map(function, piece)
        proc.check()
    return values


def _comparer(job: Job, keys: list[tuple[Callable[[bytes], Any], bool]]) -> Callable[[bytes, bytes], int]:
    last_resort = not keys or "s" not in job.flags and "u" not in job.flags
    sign = -1 if "r" in job.flags else 1

    def compare(a: bytes, b: bytes) -> int:
        for function, reverse in keys:
            x, y = function(a), function(b)
            if x != y:
                return (-1 if x < y else 1) * (-1 if reverse else 1)
        if last_resort and a != b:
            return (-1 if a < b else 1) * sign
        return 0
    return compare


def _merge(proc: Process, job: Job, keys: list[tuple[Callable[[bytes], Any], bool]], names: list[str]) -> list[bytes]:
    compare = _comparer(job, keys)
    inputs = [split_lines(proc, _read(proc, name, job.delimiter), job.delimiter)[:-1] for name in names]
    lines = list(heapq.merge(*inputs, key=cmp_to_key(compare)))
    if "u" in job.flags:
        kept: list[bytes] = []
        for line in lines:
            if not kept or compare(kept[-1], line):
                kept.append(line)
        lines = kept
    return lines


def _check(proc: Process, job: Job, keys: list[tuple[Callable[[bytes], Any], bool]], name: str) -> int:
    lines = split_lines(proc, _read(proc, name, job.delimiter), job.delimiter)[:-1]
    compare = _comparer(job, keys)
    limit = 0 if "u" in job.flags else 1
    for i in range(1, len(lines)):
        if compare(lines[i - 1], lines[i]) >= limit:
            if job.check == "c":
                proc.write_error(f"sort: {name}:{i + 1}: disorder: {decode(lines[i])}\n")
            return 1
        if not i & 0xFFFF:
            proc.check()
    return 0


def _write(proc: Process, job: Job, lines: list[bytes]) -> None:
    if job.output is not None:
        try:
            proc.install(1, proc.open(job.output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
        except OSError as e:
            proc.fail(f"open failed: {shell_quote(job.output)}", e)
            raise Exit(2) from None
    for start in range(0, len(lines), 4096):
        proc.stdout.write(job.delimiter.join(lines[start:start + 4096]) + job.delimiter)
        if not start & 0xFFFF:
            proc.check()
