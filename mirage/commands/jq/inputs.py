"""Where a run's input values come from: files or standard input, as JSON, raw lines, one array, or events."""
from __future__ import annotations

from mirage.commands._io import chunks, open_input
from mirage.commands.jq.decode import Reader
from mirage.commands.jq.functions import to_stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mirage.process.process import Process

BLOCK = 1 << 20


class Inputs:
    """Values one by one. `next()` gives a 1-tuple, or None at the end; raises ParseError.

    name    the operand that is being read, None before the first read
    line    newlines seen so far (see Reader.line)
    failed  some operand could not be opened
    """

    def __init__(self, process: Process, operands: list[str], *, raw: bool = False, slurp: bool = False,
                 stream: bool = False, sequence: bool = False) -> None:
        self.process = process
        self.operands = operands
        self.raw = raw
        self.stream = stream
        self.sequence = sequence
        self.begun = False                                   # --seq: was there a record separator?
        self.name: str | None = None
        self._line = 0
        self._reader: Reader | None = None
        self.failed = False
        self.where = "<unknown>"
        self._values = self._slurped() if slurp else self._each()

    @property
    def line(self) -> int:
        return self._line if self._reader is None else self._reader.line

    def next(self) -> tuple[Any] | None:
        for value in self._values:
            return (value,)
        return None

    def _blocks(self) -> Iterator[bytes]:
        """Bytes of all operands after each other."""
        process = self.process
        for operand in self.operands or ["-"]:
            standard = operand == "-" and not self.operands
            try:
                file = process.file(0) if standard else open_input(process, operand)
            except OSError as e:
                process.stdout.flush()
                process.message(f"error: Could not open file {operand}: {e.strerror}")
                self.failed = True
                continue
            self.name = "<stdin>" if standard else operand
            self.where = "<stdin>" if standard else operand
            self._line = 0
            file.incref()
            try:
                yield from chunks(process, file, BLOCK)
            except OSError as e:
                process.stdout.flush()
                process.message(f"error: {e.strerror}: {operand}")
                self.failed = True
            finally:
                file.decref()

    def _each(self) -> Iterator[Any]:
        if self.raw:
            yield from self._lines()
        elif self.stream:
            for value in self._json():
                yield from to_stream(value)
        else:
            yield from self._json()

    def _json(self) -> Iterator[Any]:
        reader = self._reader = Reader()
        held = 0
        where = None
        pending: list[bytes] = []
        wanted = 0
        for block in self._blocks():
            if where is not None and where != self.where:
                if pending:
                    reader.feed(b"".join(pending))
                    pending = []
                reader.new_file()
            where = self.where
            if self.sequence:
                block = self._records(block)
            pending.append(block)
            held += len(block)
            if held < wanted:
                continue
            self.process.kernel.fits(held)
            reader.feed(b"".join(pending))
            pending = []
            yield from reader.values()
            held = len(reader.text) - reader.at
            wanted = 2 * held                                # what is left is scanned again: never too often
        reader.feed(b"".join(pending), final=True)
        yield from reader.values()
        self._line = reader.total_lines()
        self._reader = None

    def _records(self, block: bytes) -> bytes:
        """What counts of application/json-seq: the text behind the first record separator."""
        if not self.begun:
            before, separator, block = block.partition(b"\x1e")
            self.begun = bool(separator)
            if before.strip():
                self.process.stdout.flush()
                self.process.message(f"ignoring parse error: Unfinished abandoned text at EOF at line "
                                     f"{before.count(10) + 1}, column {len(before) - before.rfind(10) - 1}")
        return block.replace(b"\x1e", b" ")

    def _lines(self) -> Iterator[Any]:
        rest = b""
        for block in self._blocks():
            self.process.kernel.fits(len(rest) + len(block))
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            for line in lines:
                self._line += 1
                yield line.decode("utf-8", "replace")
        if rest:
            yield rest.decode("utf-8", "replace")

    def _slurped(self) -> Iterator[Any]:
        if self.raw:
            parts: list[bytes] = []
            size = 0
            for block in self._blocks():
                size += len(block)
                self.process.kernel.fits(size)
                parts.append(block)
            yield b"".join(parts).decode("utf-8", "replace")
            return
        values: list[Any] = []
        for value in self._each():
            values.append(value)
            if len(values) % 65536 == 0:
                self.process.kernel.fits(len(values) * 64)
        yield values
