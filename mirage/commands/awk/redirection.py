"""Input and output of a program: standard streams, files, pipes, getline, and the operands."""
from __future__ import annotations

import os
import re

from mirage.commands.awk.analysis import SETTERS
from mirage.commands.awk.errors import Fatal, NextFile
from mirage.commands.awk.generator import SPECIALS
from mirage.commands.awk.lexer import unescape
from mirage.commands.awk.records import Records
from mirage.commands.awk.values import Array, number_of
from mirage.process.process import refusal_note
from mirage.process.signals import SIGPIPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mirage.commands.awk.regexes import Matcher
    from mirage.process.files import OpenFile
    from mirage.process.process import Process

FLUSH_AT = 1 << 15
ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z_0-9]*)=(.*)", re.DOTALL)


class Writer:
    """Text on its way to an open file; `child` is the process behind a pipe."""

    __slots__ = ("_parts", "_size", "child", "encoding", "file", "kind", "process", "unbuffered")

    def __init__(self, process: Process, file: OpenFile, encoding: str, kind: str, child: Process | None = None,
                 unbuffered: bool = False) -> None:
        self.process = process
        self.file = file.incref()
        self.encoding = encoding
        self.kind = kind
        self.child = child
        self.unbuffered = unbuffered
        self._parts: list[str] = []
        self._size = 0

    def write(self, text: str) -> None:
        self._parts.append(text)
        self._size += len(text)
        if self._size >= FLUSH_AT or self.unbuffered:
            self.flush()

    def flush(self) -> None:
        if self._parts:
            data = "".join(self._parts).encode(self.encoding, "surrogateescape")
            self._parts, self._size = [], 0
            if self.child is None:
                self.file.write(data)
            else:
                self._to_child(data)

    def _to_child(self, data: bytes) -> None:
        """A command that does not read is no error, as in gawk."""
        ignored = self.process.ignored
        added = SIGPIPE not in ignored
        ignored.add(SIGPIPE)
        try:
            self.file.write(data)
        except BrokenPipeError:
            return
        finally:
            if added:
                ignored.discard(SIGPIPE)

    def close(self) -> None:
        self.flush()
        self.file.decref()


class Reader:
    """Records of a file or of a command's output, for getline."""

    __slots__ = ("child", "records")

    def __init__(self, records: Records, child: Process | None = None) -> None:
        self.records = records
        self.child = child


class Redirection:
    """Part of Runtime."""

    process: Process
    encoding: str
    matcher: Callable[[str], Matcher]
    text: Callable[[Any], str]
    input_value: Callable[[str], str]
    set_record: Callable[[str], None]
    set_global: Callable[[str, Any], None]
    set_special: Callable[[str, Any], Any]
    check: Callable[[], None]
    budget: int
    separator: str
    record: str
    plain: bool
    _is_split: bool
    _stale: bool
    NR: float
    FNR: float
    FILENAME: Any
    RT: Any
    ERRNO: Any
    ARGC: Any
    ARGIND: float
    rule: str
    rules: dict[str, list[Callable[[], Any]]]
    global_names: set[str]
    array_names: set[str]

    def start_redirection(self) -> None:
        self.argv = Array()
        self._input: Records | None = None
        self._argument = 1
        self._used_operand = False
        self._finished = False
        self.got: Any = ""
        self._writers: dict[str, Writer] = {}
        self._readers: dict[tuple[str, str], Reader] = {}
        self._output: list[str] = []
        self._output_size = 0

    # ---- standard output

    def out(self, text: str) -> None:
        self._output.append(text)
        self._output_size += len(text)
        if self._output_size > FLUSH_AT:
            self.flush_output()

    def flush_output(self) -> None:
        """Text of print goes to the descriptor."""
        if self._output:
            data = "".join(self._output).encode(self.encoding, "surrogateescape")
            self._output, self._output_size = [], 0
            self.process.stdout.write(data)
        self.process.stdout.flush()
        self.process.check()

    def flush_all(self) -> None:
        self.flush_output()
        for writer in self._writers.values():
            writer.flush()

    # ---- output redirections

    def redirected(self, op: str, target: str, text: str) -> None:
        if op in (">", ">>") and target in ("/dev/stdout", "-"):
            self.out(text)
            return
        writer = self._writers.get(target)
        if writer is None:
            writer = self._writers[target] = self._open_writer(op, target)
        writer.write(text)

    def _open_writer(self, op: str, target: str) -> Writer:
        if target == "":
            raise Fatal(f"expression for `{op}' redirection has null string value")
        self.flush_all()
        process = self.process
        if op in ("|", "|&"):
            reader, pipe = process.pipe()
            fds = {0: reader}
            if op == "|&":
                back, answer = process.pipe()
                fds[1] = answer
                records = Records(process, back, self.encoding, self.matcher)
                self._readers["coprocess", target] = Reader(records)
            child = process.spawn(["sh", "-c", target], fds=fds)
            return Writer(process, pipe, self.encoding, op, child)
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if op == ">" else os.O_APPEND)
        try:
            file = process.file(2) if target == "/dev/stderr" else process.open(target, flags)
        except OSError as e:
            raise Fatal(f"cannot redirect to `{target}': {e.strerror}\n{refusal_note(e)}".rstrip("\n")) from None
        return Writer(process, file, self.encoding, op, unbuffered=target == "/dev/stderr")

    # ---- getline

    def _source(self, kind: str, name: str) -> Records | None:
        reader = self._readers.get((kind, name))
        if reader is None:
            reader = self._open_reader(kind, name)
            if reader is None:
                return None
            self._readers[kind, name] = reader
        return reader.records

    def _open_reader(self, kind: str, name: str) -> Reader | None:
        process = self.process
        if name == "":
            raise Fatal(f"expression for `{'<' if kind == 'file' else '|'}' redirection has null string value")
        if kind == "file":
            try:
                if name in ("-", "/dev/stdin"):
                    if self._input is not None and self.FILENAME in ("", "-"):
                        return Reader(self._input)
                    file = process.file(0)
                else:
                    file = process.open(name, os.O_RDONLY)
                    if getattr(getattr(file, "handle", None), "is_dir", False):
                        raise IsADirectoryError(21, os.strerror(21))
            except OSError as e:
                process.write_error(refusal_note(e))
                self.ERRNO = e.strerror
                return None
            return Reader(Records(process, file, self.encoding, self.matcher))
        self.flush_all()
        pipe_reader, pipe_writer = process.pipe()
        if kind == "coprocess":
            self._writers[name] = self._open_writer("|&", name)
            return self._readers[kind, name]
        child = process.spawn(["sh", "-c", name], fds={1: pipe_writer})
        return Reader(Records(process, pipe_reader, self.encoding, self.matcher), child)

    def _next_text(self, kind: str, name: str | None) -> float:
        """1 and the record in `got`, 0 at the end, -1 for an error."""
        if kind == "main":
            return 1.0 if self.next_record(set_line=False) else 0.0
        if kind == "coprocess" and name in self._writers:
            self._writers[name or ""].flush()
        records = self._source(kind, name or "")
        if records is None:
            return -1.0
        try:
            text = records.next(self.separator)
        except OSError as e:
            self.ERRNO = e.strerror
            return -1.0
        if text is None:
            return 0.0
        self.RT = records.terminator
        self.got = text
        return 1.0

    def getline_record(self, kind: str, name: str | None) -> float:
        """getline without a variable: sets $0 and NF."""
        if kind == "main":
            return 1.0 if self.next_record() else 0.0
        status = self._next_text(kind, name)
        if status > 0:
            self.set_record(self.got)
        return status

    def getline_text(self, kind: str, name: str | None) -> float:
        """getline with a variable: the value is in `got`."""
        status = self._next_text(kind, name)
        if status > 0:
            self.got = self.input_value(self.got)
            if kind in ("command", "coprocess"):
                self.NR += 1.0
        return status

    # ---- the main input

    def next_record(self, set_line: bool = True) -> bool:
        """The next record of the operands; counts NR and FNR."""
        while True:
            records = self._input
            if records is None:
                if not self._open_next():
                    return False
                continue
            try:
                text = records.next(self.separator)
            except OSError as e:
                self._read_error(e)
                text = None
            if text is not None:
                self.budget -= 1
                if self.budget < 0:
                    self.check()
                self.NR += 1.0
                self.FNR += 1.0
                self.RT = records.terminator
                if set_line:
                    self.record = text
                    self.plain = records.plain
                    self._is_split = False
                    self._stale = False
                else:
                    self.got = text
                return True
            self.close_input()

    def split_records(self, main: Callable[[], object]) -> None:
        """Run `main` for the records that the input has split in advance, as long as it leaves them as they are."""
        records = self._input
        mark = records.same_end() if records is not None else None
        if records is None or mark is None:
            return
        lines, plain = records.lines, records.plain
        while lines and self._input is records and self.separator == mark and records.lines is lines:
            self.budget -= 1
            if self.budget < 0:
                self.check()
            self.NR += 1.0
            self.FNR += 1.0
            self.RT = mark
            self.record = lines.pop()
            self.plain = plain
            self._is_split = False
            self._stale = False
            main()

    def _read_error(self, error: OSError) -> None:
        self.flush_output()
        self.process.write_error(f"awk: warning: error reading input file `{self.FILENAME}': {error.strerror}\n")

    def close_input(self) -> None:
        """The end of the current operand."""
        records, self._input = self._input, None
        if records is None:
            return
        records.close()
        if self.rules["ENDFILE"]:
            was, self.rule = self.rule, "ENDFILE"
            for rule in self.rules["ENDFILE"]:
                rule()
            self.rule = was

    def _open_next(self) -> bool:
        """Open the next operand that is a file, doing the assignments before it."""
        if self._finished:
            return False
        while self._argument < number_of(self.ARGC):
            index, self._argument = self._argument, self._argument + 1
            key = str(index)
            if key not in self.argv:
                continue
            operand = self.text(self.argv[key])
            if operand == "":
                continue
            if self.assign_operand(operand):
                continue
            self._used_operand = True
            self.ARGIND = float(index)
            if self._open(operand):
                return True
        self._finished = True
        if self._used_operand:
            return False
        self._used_operand = True
        return self._open("-")

    def assign_operand(self, operand: str) -> bool:
        """Is the operand an assignment? Then do it."""
        found = ASSIGNMENT.match(operand)
        if found is None:
            return False
        self.assign(found.group(1), found.group(2))
        return True

    def assign(self, name: str, text: str) -> None:
        """`name=text` of the command line."""
        if name in self.array_names:
            raise Fatal(f"cannot use array `{name}' as a variable")
        value = self.input_value(unescape(text))
        if name in SETTERS:
            getattr(self, f"set_{name}")(value)
        elif name in SPECIALS:
            self.set_special(name, value)
        else:
            self.set_global(name, value)

    def _open(self, operand: str) -> bool:
        process = self.process
        error: OSError | None = None
        try:
            if operand in ("-", "/dev/stdin"):
                file = process.file(0)
            else:
                file = process.open(operand, os.O_RDONLY)
                if getattr(getattr(file, "handle", None), "is_dir", False):
                    self.flush_output()
                    process.write_error(f"awk: warning: command line argument `{operand}' is a directory: skipped\n")
                    file.incref().decref()
                    return False
        except OSError as e:
            error = e
        self.FNR = 0.0
        self.FILENAME = operand
        self.ERRNO = error.strerror if error is not None else ""
        if error is None:
            self._input = Records(process, file, self.encoding, self.matcher)
        if self.rules["BEGINFILE"]:
            was, self.rule = self.rule, "BEGINFILE"
            self.set_record("")
            try:
                for rule in self.rules["BEGINFILE"]:
                    rule()
            except NextFile:
                self.rule = was
                self.close_input()
                return False
            self.rule = was
        if error is not None:
            note = refusal_note(error)
            text = f"cannot open file `{operand}' for reading: {error.strerror}"
            raise Fatal(text + "\n" + note.rstrip() if note else text)
        return True

    # ---- closing

    def close(self, name: str, how: str | None = None, flush: bool = True) -> float:
        """close(): the exit status of a pipe, 0 for a file, -1 where nothing is open."""
        status = -1.0
        writer = self._writers.pop(name, None) if how != "from" else None
        if writer is not None:
            if flush:
                self.flush_output()
            writer.close()
            status = 0.0
            if writer.child is not None and how != "to":
                status = self._exit_status(writer.child)
        for kind in ("file", "command", "coprocess"):
            reader = self._readers.pop((kind, name), None) if how != "to" else None
            if reader is not None:
                if reader.records is not self._input:
                    reader.records.close()
                status = max(status, 0.0)
                if reader.child is not None:
                    status = self._exit_status(reader.child)
        return status

    def _exit_status(self, child: Process) -> float:
        status = self.process.wait(child)
        return 256.0 + child.exit_signal if child.exit_signal else float(status)

    def fflush(self, name: str | None = None) -> float:
        if name:
            writer = self._writers.get(name)
            if writer is None:
                return 0.0 if name == "/dev/stdout" else -1.0
            writer.flush()
            return 0.0
        self.flush_all()
        return 0.0

    def system(self, command: str) -> float:
        self.flush_all()
        process = self.process
        child = process.spawn(["sh", "-c", command])
        status = process.wait(child)
        return 256.0 + child.exit_signal if child.exit_signal else float(status)

    def close_all(self) -> None:
        """At the end: commands are waited for, then what was printed since they began goes out, as gawk does it."""
        for name in list(self._writers):
            self.close(name, flush=False)
        self.flush_output()
        for _, name in list(self._readers):
            self.close(name)
        self.close_input_quietly()

    def close_input_quietly(self) -> None:
        records, self._input = self._input, None
        if records is not None:
            records.close()
