"""What must hold after any script whatever: `check(script)` runs it in a Terminal of its own and lists what does not."""
from __future__ import annotations

import faulthandler
import gc
import re
import time
import traceback

from mirage import Limits, Terminal
from mirage.process.kernel import Task

TIMEOUT = 1.0
GRACE = 1.0                                                  # seconds a line may last beyond its timeout
LIMITS = Limits(timeout=TIMEOUT, steps=200_000, processes=64, output=1 << 20, memory=64 << 20, depth=300)
TREE = {"f": b"foo bar\nb 2\na:1:x\n\xff\xfe raw\n", "g": b"bar\nfoo\n", "data.txt": b"3 c\n1 a\n20 b\n" * 5, "d/e/x.txt": b"deep\n"}
_STAYS = re.compile(r"&|coproc|exec|>\(|<\(|\}[<>]|<<|trap|enable|fc|history")
"""What may leave a job or a descriptor behind on purpose."""


class Outcome:
    """problems: texts, empty when all is well; parsed: no syntax error; seconds it took; status."""

    __slots__ = ("parsed", "problems", "seconds", "status")

    def __init__(self, problems: list[str], parsed: bool, seconds: float, status: int) -> None:
        self.problems = problems
        self.parsed = parsed
        self.seconds = seconds
        self.status = status


def check(script: str, limits: Limits = LIMITS, *, watchdog: bool = False) -> Outcome:
    """Run one script. With `watchdog` a hang prints the stacks and ends the whole Python process."""
    problems: list[str] = []
    timeout = limits.timeout or TIMEOUT
    if watchdog:
        faulthandler.dump_traceback_later(timeout + 20, exit=True)
    terminal = Terminal(limits=limits)
    terminal.fs.mkdir("/workspace/d/e", parents=True)
    for path, data in TREE.items():
        terminal.fs.write(f"/workspace/{path}", data)
    kernel = terminal.session.kernel
    start = time.monotonic()
    parsed, status = True, -1
    try:
        result = terminal.run(script, stdin=b"in 1\nin 2\n")
        seconds = time.monotonic() - start
        status = result.exit_code
        parsed = b"syntax error" not in result.stderr_bytes and b"unexpected EOF" not in result.stderr_bytes
        if not 0 <= status <= 255:
            problems.append(f"status {status}")
        if b"internal error" in result.stderr_bytes:
            problems.append("internal error on stderr")
        if len(kernel.processes) > 1 and not _STAYS.search(script):
            problems.append(f"processes left: {[p.argv for p in kernel.processes.values()]}")
        descriptors = sorted(terminal.session.process.fds)
        if descriptors != [0, 1, 2] and not _STAYS.search(script):
            problems.append(f"descriptors {descriptors}")
        for name in ("stdout", "stderr", "merged"):
            getattr(result, name).encode()
        problems += _usable(terminal)
    except BaseException as e:
        seconds = time.monotonic() - start
        problems.append("raised " + "".join(traceback.format_exception(e)))
        if isinstance(e, KeyboardInterrupt):
            raise
    if seconds > timeout + GRACE:
        problems.append(f"took {seconds:.1f} s")
    before_close = time.monotonic()
    try:
        terminal.close()
    except BaseException as e:
        problems.append("close raised " + "".join(traceback.format_exception(e)))
    if time.monotonic() - before_close > 3:
        problems.append(f"close took {time.monotonic() - before_close:.1f} s")
    if kernel.processes:
        problems.append(f"processes after close: {[p.argv for p in kernel.processes.values()]}")
    for name, error in terminal.machine.errors:
        problems.append(f"internal error in {name}: " + "".join(traceback.format_exception(error)))
    if watchdog:
        faulthandler.cancel_dump_traceback_later()
    return Outcome(problems, parsed, seconds, status)


def _usable(terminal: Terminal) -> list[str]:
    """The next line of the Terminal, undisturbed by functions, traps and options that the script set."""
    shell = terminal.session.shell
    shell.functions.clear()
    shell.aliases.clear()
    shell.traps.clear()
    shell.extra.pop("disabled", None)
    shell.options = type(shell.options)()
    for fd in (0, 1, 2):
        if fd in terminal.session.process.fds:               # `exec >file` stays, as in any shell; closed ones come back
            terminal.session.process.close(fd)
    result = terminal.run("builtin echo ok", timeout=5)
    if "ok" not in result.stdout:                            # a job may print as well, or send a signal
        return [f"not usable: {result!r}"]
    return []


def living_greenlets() -> int:
    """Greenlets of processes that have begun and not ended, in all Terminals of this Python."""
    gc.collect()
    return sum(1 for thing in gc.get_objects() if isinstance(thing, Task) and thing and not thing.dead)


def living_terminals() -> int:
    gc.collect()
    return sum(1 for thing in gc.get_objects() if isinstance(thing, Terminal))
