"""`mirage exec COMMAND`: output as it comes, the command's exit status."""
from __future__ import annotations

import os
import sys

from mirage.console.setup import make_terminal, timeout_of
from mirage.console.streams import HostInput, HostOutput, host_input
from mirage.process.signals import SIGHUP, SIGINT, SIGTERM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.console.options import Parsed
    from mirage.process.files import OpenFile
    from mirage.terminal import Result, Terminal


def execute(parsed: Parsed, demo: bool) -> int:
    """Run the operand (`-`: standard input) as one line; the exit status is the line's, 128 + N after signal N."""
    command = parsed.operands[0]
    timeout = timeout_of(parsed)
    stdin = host_input()
    if command == "-":
        command = _read_all(stdin).decode("utf-8", "surrogateescape")
        stdin = b""
    extra: dict[str, Any] = {}
    if isinstance(stdin, HostInput) and stdin.tty:
        from mirage.console.owner import owner_here
        extra["on_ask"] = owner_here()
    stdout = HostOutput(1, "/dev/stdout")
    if stdout.tty:
        parsed.values.setdefault("env", []).insert(0, f"TERM={os.environ.get('TERM', 'dumb')}")
    records = bool(parsed.get("json") or parsed.get("usage"))
    with make_terminal(parsed, demo, records=records, **extra) as terminal:
        stop = Stop(terminal, extra.get("on_ask"))
        stop.install(SIGINT, SIGTERM, SIGHUP)
        if parsed.get("json"):
            import json
            result = terminal.run(command, stdin=stdin, timeout=timeout)
            print(json.dumps(result.as_dict(), ensure_ascii=False), flush=True)
        else:
            result = terminal.run(command, stdin=stdin, timeout=timeout, final=True, stdout=stdout,
                                  stderr=HostOutput(2, "/dev/stderr"))
        if parsed.get("usage"):
            print_usage(result)
    if isinstance(stdin, HostInput):
        stdin.give_back()
    return stop.status or result.exit_code


class Stop:
    """A signal handler that stops the running line; `status` is then 128 plus the signal's number."""

    def __init__(self, terminal: Terminal, owner: Any = None) -> None:
        self.terminal = terminal
        self.owner = owner
        self.status = 0

    def install(self, *numbers: int) -> None:
        """Become the handler of these signals, but of those that the host ignores (nohup)."""
        import _signal  # `signal` without its enums: start-up is short
        for number in numbers:
            if _signal.getsignal(number) != _signal.SIG_IGN:
                _signal.signal(number, self)

    def __call__(self, number: int, frame: object) -> None:
        self.status = 128 + number
        self.terminal.cancel()
        if self.owner is not None:
            self.owner.stopped.set()


def print_usage(result: Result) -> None:
    """One line for all, and one for each mount or CLI that was asked something."""
    usage = result.usage.as_dict() if result.usage is not None else {}
    mounts = usage.pop("mounts", {})
    print("usage: " + (", ".join(f"{k} {v}" for k, v in usage.items()) or "nothing"), file=sys.stderr)
    for place, spent in mounts.items():
        print(f"usage: {place}: " + ", ".join(f"{k} {v}" for k, v in spent.items()), file=sys.stderr)


def _read_all(stdin: OpenFile | bytes) -> bytes:
    if isinstance(stdin, bytes):
        return stdin
    return b"".join(iter(lambda: stdin.read(1 << 20), b""))
