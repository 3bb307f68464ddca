"""Where a run's input values come from: files or standard input, as JSON, raw lines, one array, or events."""
from __future__ import annotations

from mirage.commands._io import chunks, open_input
from mirage.commands.jq.decode import Reader
from mirage.commands.jq.errors import ParseError
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
            yield from self._events()
        else:
            yield from self._json()

    def _events(self) -> Iterator[Any]:
        """The events of --stream; of a broken text those before the error."""
        try:
            for value in self._json():
                yield from to_stream(value)
        except ParseError as e:
            if self._reader is None:
                raise
            events, error = self._reader.broken_events()
            yield from events
            raise error or e from None

    def _json(self) -> Iterator[Any]:
        if self.sequence:
            yield from self._records()
            return
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

    def _records(self) -> Iterator[Any]:
        """The records of application/json-seq (RFC 7464): what is no JSON is skipped up to the next separator."""
        data = b"".join(self._whole())
        records = data.split(b"\x1e")
        if len(records) == 1:
            self._ignore(f"Unfinished abandoned text at EOF at line {data.count(10) + 1}, "
                         f"column {len(data) - data.rfind(10) - 1}")
        for number, record in enumerate(records[1:], 2):
            reader = self._reader = Reader()
            reader.feed(record, final=True)
            cut = record[-1:].strip() != b""                 # no white space before the next separator or the end
            last = number == len(records)
            try:
                for value in reader.values():
                    if cut and reader.at == len(reader.text) and _may_go_on(value, last):
                        self._ignore("Potentially truncated top-level numeric value" if last else "Truncated value")
                    else:
                        yield value
            except ParseError as e:
                self._ignore(str(e))
        self._reader = None

    def _whole(self) -> list[bytes]:
        parts: list[bytes] = []
        size = 0
        for block in self._blocks():
            size += len(block)
            self.process.kernel.fits(size)
            parts.append(block)
        return parts

    def _ignore(self, text: str) -> None:
        self.process.stdout.flush()
        self.process.message(f"ignoring parse error: {text}")

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
            yield b"".join(self._whole()).decode("utf-8", "replace")
            return
        values: list[Any] = []
        for value in self._each():
            values.append(value)
            if len(values) % 65536 == 0:
                self.process.kernel.fits(len(values) * 64)
        yield values


def _may_go_on(value: Any, last: bool) -> bool:
    """Might more characters behind it have made another value? (At the end only a number counts.)"""
    if value is None or type(value) is bool:
        return not last
    return type(value) not in (str, list, dict)
