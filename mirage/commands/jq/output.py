"""Printing results: text style, separators, NUL and record separators."""
from __future__ import annotations

from mirage.commands.jq.encode import Style, colours, quote_ascii
from mirage.commands.jq.errors import JqError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.commands.jq.options import Options
    from mirage.process.process import Process

RESULTS_PER_CHECK = 256


class Printer:
    """Writes each result to standard output."""

    def __init__(self, proc: Process, options: Options) -> None:
        self.proc = proc
        self.raw = options.raw_output
        self.nul = options.nul_output
        self.ascii = options.ascii
        self.end = b"\0" if options.nul_output else b"" if options.join_output else b"\n"
        self.begin = b"\x1e" if options.sequence else b""
        self.unbuffered = options.unbuffered
        palette = colours(proc.env.get("JQ_COLORS")) if options.colour else None
        self.style = Style(options.indent, options.sort_keys, options.ascii, palette)
        self._left = RESULTS_PER_CHECK

    def print(self, value: Any) -> None:
        if self.raw and type(value) is str:
            if self.nul and "\0" in value:
                raise JqError("Cannot dump a string containing NUL with --raw-output0 option")
            text = quote_ascii(value)[1:-1] if self.ascii else value
            if self.ascii:
                text = quote_ascii(value)
        else:
            text = self.style.text(value)
        proc = self.proc
        proc.stdout.write(self.begin + text.encode("utf-8", "replace") + self.end)
        if self.unbuffered:
            proc.stdout.flush()
        self._left -= 1
        if self._left < 0:
            self._left = RESULTS_PER_CHECK
            proc.check()
