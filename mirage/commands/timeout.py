"""timeout: run a program with a time limit."""
from __future__ import annotations

import time

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse, usage_error
from mirage.commands._run import start_program
from mirage.commands._text import quote
from mirage.commands.sleep import seconds
from mirage.process.signals import NAMES, NUMBERS, SIGCONT, SIGKILL, SIGTERM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("fk:ps:v", {
    "foreground": ("f", NONE), "kill-after": ("k", REQUIRED), "preserve-status": ("p", NONE),
    "signal": ("s", REQUIRED), "verbose": ("v", NONE)}, status=125, permute=False,
    help="Usage: NAME [OPTION]... DURATION COMMAND [ARG]...\nStart COMMAND, and kill it if still running after "
         "DURATION.\n")


def _duration(proc: Process, text: str) -> float:
    value = seconds(text)
    if value is None:
        raise usage_error(proc, SPEC, f"invalid time interval {quote(proc, text)}")
    return value


def _signal(proc: Process, text: str) -> int:
    number = int(text) if text.isdecimal() else NUMBERS.get(text.upper().removeprefix("SIG"), 0)
    if number == 0 and text not in ("0", "EXIT") or number > 64:
        raise usage_error(proc, SPEC, f"{quote(proc, text)}: invalid signal")
    return number


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    number, kill_after = SIGTERM, 0.0
    preserve = verbose = False
    for key, value in options:
        if key == "k":
            kill_after = _duration(proc, value)
        elif key == "s":
            number = _signal(proc, value)
        elif key == "p":
            preserve = True
        elif key == "v":
            verbose = True
    if len(operands) < 2:
        proc.write_error("Try 'timeout --help' for more information.\n")
        return 125
    limit = _duration(proc, operands[0])
    child = start_program(proc, operands[1:], "failed to run command ")
    if isinstance(child, int):
        return child
    if limit <= 0:
        return proc.wait(child)
    if _wait(proc, child, limit):
        return child.status or 0
    send(proc, child, number, verbose, operands[1])
    killed = False
    if kill_after > 0 and not _wait(proc, child, kill_after):
        send(proc, child, SIGKILL, verbose, operands[1])
        killed = True
    status = proc.wait(child)
    if killed or number == SIGKILL and child.exit_signal == SIGKILL:
        return 128 + SIGKILL
    return status if preserve else 124


def send(proc: Process, child: Process, number: int, verbose: bool, name: str) -> None:
    """The signal goes to the child and to what it has started."""
    if verbose:
        proc.message(f"sending signal {NAMES.get(number, str(number))} to command {quote(proc, name)}")
    kernel = proc.kernel
    for process in list(kernel.processes.values()):
        if _descends(process, child):
            kernel.kill(process, number)
            if number not in (SIGKILL, SIGCONT):
                kernel.kill(process, SIGCONT)


def _descends(process: Process, ancestor: Process) -> bool:
    at: Process | None = process
    while at is not None:
        if at is ancestor:
            return True
        at = at.parent
    return False


def _wait(proc: Process, child: Process, limit: float) -> bool:
    """Wait for the child's end, at most `limit` seconds; did it end?"""
    until = time.monotonic() + min(limit, 1e9)
    while child.status is None:
        if time.monotonic() >= until:
            return False
        child.waiters.wait(until)
    return True
