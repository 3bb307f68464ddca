"""Running a parsed script over the input (execute.c of sed 4.9)."""
from __future__ import annotations

import os

from mirage.commands._io import decode, encode, read_all
from mirage.commands.sed.files import InPlace, Input, Output, Reader
from mirage.commands.sed.subst import compile_substitution
from mirage.process.files import Capture
from mirage.process.process import refusal_note
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.commands.sed.script import Address, Command, Script
    from mirage.process.files import OpenFile
    from mirage.process.process import Process
    from mirage.text.regex import Regex

    Action = Callable[[Command], int | None]

END, NEXT, AGAIN, QUIT = 1 << 30, -2, -3, -4                 # autoprint; no print; D's restart; leave
NAMES = {"=": "number", "{": "block"}


class Machine:
    """Pattern space, hold space and all files of one run."""

    def __init__(self, proc: Process, script: Script, source: Input, *, quiet: bool, delimiter: bytes, posix: bool,
                 unbuffered: bool, width: int, debug: bool = False) -> None:
        self.proc = proc
        self.commands = script.commands
        self.utf8 = script.utf8
        self.source = source
        self.quiet = quiet
        self.delimiter = delimiter
        self.posix = posix
        self.unbuffered = unbuffered
        self.width = width
        self.space = b""
        self.complete = True                                 # the line had its newline
        self.hold = b""
        self.hold_complete = True
        self.replaced = False
        self.status = 0
        self.last_regex: Regex | None = None
        self.queue: list[bytes | str] = []                   # texts (a, R), names of files (r) to put behind the line
        self.stdout = Output(proc.stdout.write, proc.stdout.flush, delimiter)
        self.out = self.stdout
        self.files: dict[str, Output] = {}
        self.open_files: list[tuple[OpenFile, list[bytes]]] = []
        self.line_files: dict[str, Reader | None] = {}
        self.program: list[tuple[Command, Action]] = []
        source.switched = self._switched
        source.restarted = self._restarted
        for command in self.commands:
            for name in (command.label if command.name in ("w", "W") else "",
                         command.sub.output if command.sub else ""):
                if name:
                    self._output(name)
            self.program.append((command, self._action(command)))

    # ---- files

    def _restarted(self) -> None:
        """Another file with -s or -i: nothing is held, no range is active."""
        self.hold, self.hold_complete = b"", True
        for command in self.commands:
            command.active = command.closed = False

    def _switched(self, edit: InPlace | None) -> None:
        self.out = self.stdout if edit is None else Output(edit.write, edit.flush, self.delimiter)

    def _output(self, name: str) -> Output:
        """The output file of w; it is emptied when the script starts."""
        found = self.files.get(name)
        if found is not None:
            return found
        proc = self.proc
        if name == "/dev/stdout":
            found = Output(proc.stdout.write, proc.stdout.flush, self.delimiter)
        elif name == "/dev/stderr":
            found = Output(lambda data: proc.write_error(decode(data)), lambda: None, self.delimiter)
        else:
            try:
                file = proc.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC).incref()
            except OSError as e:
                proc.write_error(f"sed: couldn't open file {name}: {e.strerror}\n{refusal_note(e)}")
                raise Exit(4) from None
            parts: list[bytes] = []

            def flush() -> None:
                if parts:
                    data = b"".join(parts)
                    parts.clear()
                    file.write(data)

            found = Output(parts.append, flush, self.delimiter)
            self.open_files.append((file, parts))
        self.files[name] = found
        return found

    def _flush_files(self) -> None:
        for output in self.files.values():
            output.flush()

    # ---- the loop

    def run(self) -> int:
        source, proc = self.source, self.proc
        budget = 0
        try:
            while source.more():
                self.space, self.complete = source.line()
                self.replaced = False
                budget += 1 + (len(self.space) >> 10)
                if budget > 500:
                    budget = 0
                    proc.check()
                while (result := self._cycle()) == AGAIN:
                    self._append()
                    proc.kernel.tick()
                if result == QUIT:
                    break
                self._append()
                if self.unbuffered:
                    self.out.flush()
        finally:
            self._close()
        return self.status or source.status

    def _close(self) -> None:
        if self.source.reader is not None:
            self._drain()
        self._flush_files()
        self.source.close_current()
        for file, _ in self.open_files:
            file.decref()

    def _drain(self) -> None:
        """q and Q with -i: the rest of the file is kept."""
        reader = self.source.reader
        if self.source.edit is None or reader is None:
            return
        while reader.more():
            line, complete = reader.line()
            self.out.line(line, complete)

    def _cycle(self) -> int:
        """One pass of the script over the pattern space."""
        program = self.program
        pc, size = 0, len(program)
        kernel = self.proc.kernel
        while pc < size:
            command, action = program[pc]
            if command.a1 is None or self._selected(command):
                if command.negated:
                    pc = command.target if command.name == "{" else pc + 1
                    continue
            elif not command.negated:
                pc = command.target if command.name == "{" else pc + 1
                continue
            jump = action(command)
            if jump is None:
                pc += 1
            elif jump < 0:
                return jump
            else:
                if jump <= pc:
                    kernel.tick()
                pc = jump
        if not self.quiet:
            self.out.line(self.space, self.complete)
        return NEXT

    # ---- addresses

    def _matches(self, address: Address) -> bool:
        kind = address.kind
        if kind == "line":
            return self.source.number == address.number
        if kind == "regex":
            regex = address.regex
            if regex is None:
                regex = self._last()
            self.last_regex = regex
            return regex.test(self.space)
        if kind == "last":
            return self.source.last()
        if kind == "step":
            number = self.source.number
            if address.step <= 0:
                return number == address.number
            return number >= address.number and (number - address.number) % address.step == 0
        return False

    def _last(self) -> Regex:
        if self.last_regex is None:
            self.proc.stdout.flush()
            self.proc.message("-e expression #1, char 0: no previous regular expression")
            raise Exit(1)
        return self.last_regex

    def _selected(self, command: Command) -> bool:
        a1, a2 = command.a1, command.a2
        assert a1 is not None
        if a2 is None:
            return self._matches(a1)
        number = self.source.number
        if not command.active:
            if a1.kind == "line" and a1.number == 0:
                if command.closed:
                    return False
                command.closed = True
                command.active = not self._matches(a2)
                return True
            late = a1.kind == "line" and not command.closed and number > a1.number
            if not late and not self._matches(a1):           # a line number that was passed unseen starts it, too
                return False
            command.closed = True
            if a2.kind == "line":
                command.end = a2.number
                if late and number > a2.number:
                    return False
            elif a2.kind == "plus":
                command.end = number + a2.number
            elif a2.kind == "multiple":
                command.end = number + a2.number - number % a2.number if a2.number else number
            else:
                command.active = a2.kind != "last" or not self.source.last()
                return True
            command.active = command.end > number
            return True
        if a2.kind in ("line", "plus", "multiple"):
            if number >= command.end:
                command.active = False
            return number <= command.end or a2.kind != "line"
        if self._matches(a2):
            command.active = False
        return True

    # ---- commands

    def _action(self, command: Command) -> Action:
        name = command.name
        if name == "s":
            return self._substituter(command)
        method = {"{": "block", "}": "block", "=": "line_number"}.get(name) or f"do_{name}"
        found: Action = getattr(self, method)
        return found

    def block(self, command: Command) -> int | None:
        return None

    def line_number(self, command: Command) -> int | None:
        self.out.line(b"%d" % self.source.number)
        return None

    def do_a(self, command: Command) -> int | None:
        self.queue.append(command.text)
        return None

    def do_i(self, command: Command) -> int | None:
        if command.text:
            self.out.line(command.text[:-1])
        return None

    def do_c(self, command: Command) -> int | None:
        if command.a2 is None or not command.active or command.negated:
            self.out.raw(command.text[:-1] + self.delimiter)
        return NEXT

    def do_b(self, command: Command) -> int | None:
        return command.target

    def do_t(self, command: Command) -> int | None:
        if self.replaced:
            self.replaced = False
            return command.target
        return None

    def do_T(self, command: Command) -> int | None:
        if not self.replaced:
            return command.target
        self.replaced = False
        return None

    def do_d(self, command: Command) -> int | None:
        return NEXT

    def do_D(self, command: Command) -> int | None:
        at = self.space.find(self.delimiter)
        if at < 0:
            return NEXT
        self.space = self.space[at + 1:]
        return AGAIN

    def do_e(self, command: Command) -> int | None:
        output = self._execute(command.text or self.space)
        if command.text:
            self.out.raw(output)
        else:
            self.space = output[:-1] if output.endswith(self.delimiter) else output
            self.complete = True
        return None

    def do_F(self, command: Command) -> int | None:
        self.out.line(encode(self.source.name))
        return None

    def do_g(self, command: Command) -> int | None:
        self.space, self.complete = self.hold, self.hold_complete
        return None

    def do_G(self, command: Command) -> int | None:
        self.proc.kernel.fits(len(self.space) + len(self.hold))
        self.space = self.space + self.delimiter + self.hold
        self.complete = self.hold_complete
        return None

    def do_h(self, command: Command) -> int | None:
        self.hold, self.hold_complete = self.space, self.complete
        return None

    def do_H(self, command: Command) -> int | None:
        self.proc.kernel.fits(len(self.space) + len(self.hold))
        self.hold = self.hold + self.delimiter + self.space
        self.hold_complete = self.complete
        return None

    def do_x(self, command: Command) -> int | None:
        self.space, self.hold = self.hold, self.space
        self.complete, self.hold_complete = self.hold_complete, self.complete
        return None

    def do_l(self, command: Command) -> int | None:
        self.out.raw(listed(self.space, command.number if command.number >= 0 else self.width, self.delimiter))
        return None

    def do_n(self, command: Command) -> int | None:
        if not self.quiet:
            self.out.line(self.space, self.complete)
        if self.source.last():
            return NEXT
        self._append()
        self.space, self.complete = self.source.line()
        self.replaced = False
        return None

    def do_N(self, command: Command) -> int | None:
        if self.source.last():
            if not self.posix and not self.quiet and "POSIXLY_CORRECT" not in self.proc.env:
                self.out.line(self.space, self.complete)
            return NEXT
        self._append()
        line, self.complete = self.source.line()
        self.proc.kernel.fits(len(self.space) + len(line))
        self.space = self.space + self.delimiter + line
        self.replaced = False
        return None

    def do_p(self, command: Command) -> int | None:
        self.out.line(self.space, self.complete)
        return None

    def do_P(self, command: Command) -> int | None:
        at = self.space.find(self.delimiter)
        if at < 0:
            self.out.line(self.space, self.complete)
        else:
            self.out.line(self.space[:at])
        return None

    def do_q(self, command: Command) -> int | None:
        if not self.quiet:
            self.out.line(self.space, self.complete)
        self.out.raw(b"")                                    # GNU ends the last line here, though it had no newline
        self._append()
        self.status = max(command.number, 0)
        return QUIT

    def do_Q(self, command: Command) -> int | None:
        self.status = max(command.number, 0)
        return QUIT

    def do_r(self, command: Command) -> int | None:
        self.queue.append(command.label)
        return None

    def do_R(self, command: Command) -> int | None:
        name = command.label
        if name not in self.line_files:
            try:
                file = self.proc.file(0) if name == "/dev/stdin" else self.proc.open(name)
                self.line_files[name] = Reader(self.proc, file.incref(), self.delimiter)
            except OSError as e:                             # GNU says nothing; the policy's reason is said
                self.proc.write_error(refusal_note(e))
                self.line_files[name] = None
        reader = self.line_files[name]
        if reader is not None and reader.more():
            line, complete = reader.line()
            self.queue.append(line + self.delimiter if complete else line)
        return None

    def do_v(self, command: Command) -> int | None:
        return None

    def do_w(self, command: Command) -> int | None:
        self._output(command.label).line(self.space, self.complete)
        return None

    def do_W(self, command: Command) -> int | None:
        at = self.space.find(self.delimiter)
        output = self._output(command.label)
        if at < 0:
            output.line(self.space, self.complete)
        else:
            output.line(self.space[:at])
        return None

    def do_y(self, command: Command) -> int | None:
        table = command.table
        if isinstance(table, bytes):
            self.space = self.space.translate(table) if table else self.space
        else:
            mapping = {ord(decode(old)): decode(new) for old, new in table}
            self.space = encode(decode(self.space).translate(mapping))
        return None

    def do_z(self, command: Command) -> int | None:
        self.space = b""
        return None

    def _substituter(self, command: Command) -> Action:
        sub = command.sub
        assert sub is not None
        replace = compile_substitution(sub, self.utf8)
        fixed_regex = sub.regex
        output = self._output(sub.output) if sub.output else None
        plain = not (sub.print or sub.evaluate or output)
        top = max((p.ref for p in sub.pieces), default=0)

        def run(command: Command) -> int | None:
            regex = fixed_regex
            if regex is None:
                regex = self._last()
                if top > regex.groups:
                    self.proc.stdout.flush()
                    self.proc.message(f"-e expression #1, char 0: invalid reference \\{top} on `s' command's RHS")
                    raise Exit(1)
            self.last_regex = regex
            new = replace(self.space, regex)
            if new is None:
                return None
            self.replaced = True
            self.space = new
            if plain:
                return None
            if sub.print == 2:
                self.out.line(self.space, self.complete)
            if sub.evaluate:
                text = self._execute(self.space)
                self.space = text[:-1] if text.endswith(self.delimiter) else text
            if sub.print == 1:
                self.out.line(self.space, self.complete)
            if output is not None:
                output.line(self.space, self.complete)
            return None

        return run

    # ---- help

    def _append(self) -> None:
        """Print what waits behind the line (dump_append)."""
        if not self.queue:
            return
        queue, self.queue = self.queue, []
        self.out.raw(b"")                                    # the newline that the line lacked, whatever follows
        for what in queue:
            if isinstance(what, bytes):
                self.out.raw(what)
            else:
                self._flush_files()
                self._copy(what)

    def _copy(self, name: str) -> None:
        try:
            file = (self.proc.file(0) if name == "/dev/stdin" else self.proc.open(name)).incref()
        except OSError as e:
            self.proc.write_error(refusal_note(e))
            return
        try:
            data = read_all(self.proc, file)
        except OSError:
            return
        finally:
            file.decref()
        if data:
            self.out.raw(data)

    def _execute(self, text: bytes) -> bytes:
        """The output of a command of the shell."""
        self.proc.stdout.flush()
        self._flush_files()
        capture = Capture("stdout")
        self.proc.run(["sh", "-c", decode(text)], fds={1: capture})
        return capture.getvalue()


def listed(space: bytes, width: int, delimiter: bytes) -> bytes:
    """The unambiguous form of `l`, folded at `width` (0: not)."""
    units = [_LISTED[b] for b in space]
    out: list[bytes] = []
    column = 0
    for unit in units:
        if width > 0 and column + len(unit) > width - 1:
            out.append(b"\\" + delimiter)
            column = 0
        out.append(unit)
        column += len(unit)
    return b"".join(out) + b"$" + delimiter


_LISTED = [bytes((b,)) if 32 <= b < 127 and b != 92 else b"\\%03o" % b for b in range(256)]
for _code, _text in ((92, b"\\\\"), (7, b"\\a"), (8, b"\\b"), (12, b"\\f"), (10, b"\\n"), (13, b"\\r"), (9, b"\\t"),
                     (11, b"\\v")):
    _LISTED[_code] = _text
