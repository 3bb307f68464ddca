"""`mirage exec COMMAND`: output as it comes, the command's exit status."""
from __future__ import annotations

import os
import sys

from mirage.console.setup import make_terminal, timeout_of
from mirage.process.files import OpenFile, Sink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.console.options import Parsed
    from mirage.terminal import Result


def execute(parsed: Parsed, demo: bool) -> int:
    command = parsed.operands[0]
    timeout = timeout_of(parsed)
    stdin: OpenFile | bytes = b""
    if command == "-":
        command = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    elif not sys.stdin.closed:
        stdin = HostInput()
    with make_terminal(parsed, demo) as terminal:
        if parsed.get("json"):
            import json
            result = terminal.run(command, stdin=stdin, timeout=timeout)
            print(json.dumps(result.as_dict(), ensure_ascii=False))
        else:
            result = terminal.run(command, stdin=stdin, timeout=timeout,
                                  stdout=Sink(emitter(1), "/dev/stdout", tty=False),
                                  stderr=Sink(emitter(2), "/dev/stderr", tty=False))
        if parsed.get("usage"):
            print_usage(result)
    return result.exit_code


def print_usage(result: Result) -> None:
    usage = result.usage.as_dict() if result.usage is not None else {}
    print("usage: " + (", ".join(f"{k} {v}" for k, v in usage.items()) or "nothing"), file=sys.stderr)


def emitter(fd: int) -> object:
    """A function that writes bytes to a descriptor of the host, all of them."""
    def emit(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view):]
    return emit


class HostInput(OpenFile):
    """The host's standard input, read only when the line reads it."""

    __slots__ = ("buffer",)

    def __init__(self) -> None:
        super().__init__(os.O_RDONLY, "/dev/stdin")
        self.buffer = b""

    def read(self, size: int) -> bytes:
        if self.buffer:
            data, self.buffer = self.buffer[:size], self.buffer[size:]
            return data
        return self._fetch(size)

    def readline(self, delimiter: int = 10, limit: int = 1 << 62) -> bytes:
        mark = bytes((delimiter,))
        while mark not in self.buffer and len(self.buffer) < limit:
            data = self._fetch(65536)
            if not data:
                break
            self.buffer += data
        end = min(self.buffer.find(mark) + 1 or len(self.buffer), limit)
        line, self.buffer = self.buffer[:end], self.buffer[end:]
        return line

    def _fetch(self, size: int) -> bytes:
        import select

        from mirage.process import blocking
        try:
            if select.select([0], [], [], 0)[0]:
                return os.read(0, size)
            return blocking.call(os.read, 0, size)
        except OSError:
            return b""

    def ready(self) -> bool:
        import select
        return bool(self.buffer or select.select([0], [], [], 0)[0])
