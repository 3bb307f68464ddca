"""python3, python: Python code in the sandbox Monty (the optional library pydantic-monty); else a refusal."""
from __future__ import annotations

import re
import time

from mirage.commands._io import decode, encode, open_input, read_all
from mirage.process.blocking import call
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.process.process import Process

HELP = """usage: python3 [option] ... [-c cmd | file | -] [arg] ...

Runs a part of Python in a sandbox: no third-party packages, no network and no files but
standard input (as the variable STDIN) and the arguments (as the list ARGV).

-c cmd : program passed in as string (terminates option list)
-h     : print this help message and exit
-V     : print the version number and exit
"""


def _source(proc: Process) -> tuple[str, list[str]]:
    args = proc.argv[1:]
    while args and args[0] in ("-u", "-B", "-s", "-E", "-I", "-S", "-q"):
        args = args[1:]
    if args[:1] in (["-h"], ["--help"]):
        proc.stdout.write(HELP.encode())
        raise Exit(0)
    if args[:1] in (["-V"], ["--version"]):
        proc.stdout.write(b"Python 3.14 (Monty, Mirage)\n")
        raise Exit(0)
    if args[:1] == ["-c"]:
        if len(args) < 2:
            proc.write_error("Argument expected for the -c option\n" + HELP)
            raise Exit(2)
        return args[1], ["-c", *args[2:]]
    if args and args[0].startswith("-") and args[0] != "-":
        proc.write_error(f"unknown option {args[0]}\nusage: python3 [option] ... [-c cmd | file | -] [arg] ...\n"
                         "Try `python3 -h' for more information.\n")
        raise Exit(2)
    name = args[0] if args else "-"
    try:
        file = open_input(proc, name).incref()
    except OSError as e:
        proc.message(f"can't open file '{proc.fs.abspath(name)}': [Errno {e.errno}] {e.strerror}")
        raise Exit(2) from None
    try:
        return decode(read_all(proc, file)), args or [""]
    finally:
        file.decref()


def main(proc: Process) -> int:
    source, argv = _source(proc)
    try:
        import pydantic_monty
    except ImportError:
        proc.message("not available in this terminal: its owner has not installed the extra mirage-terminal[python]; "
                     "use awk, jq, bc or the shell")
        return 127
    stdin = decode(read_all(proc, proc.file(0))) if argv[0] not in ("-", "") and "STDIN" in source else ""
    limits = proc.kernel.limits
    left = max(0.1, proc.kernel.deadline - time.monotonic()) if proc.kernel.deadline is not None else 60.0
    output, error, status = call(_run, pydantic_monty, source, {"ARGV": argv, "STDIN": stdin}, min(left, 60.0),
                                 min(limits.memory or 1 << 28, 1 << 28))
    for stream, text in output:
        (proc.stdout.write if stream == "stdout" else proc.stderr.write)(encode(text))
    proc.flush()
    if error:
        proc.write_error(error if error.endswith("\n") else error + "\n")
    return status


def _run(monty: Any, source: str, inputs: dict[str, Any], seconds: float,
         memory: int) -> tuple[list[tuple[str, str]], str, int]:
    """(pieces of output, error text, status) of a program in a fresh sandbox."""
    streams = monty.CollectStreams()
    limits = {"max_feed_duration_secs": seconds, "max_memory": memory, "max_total_sleep_secs": seconds}
    try:
        with monty.Monty() as pool, pool.checkout(limits=limits) as session:
            session.feed_run(source, inputs=inputs, print_callback=streams)
    except monty.MontyRuntimeError as e:
        text = e.display()
        found = re.search(r"SystemExit(?:: (.*))?\s*\Z", text)
        if found:
            code = found[1] or "0"
            return streams.output, "" if code.lstrip("-").isdecimal() else code, \
                int(code[:9]) & 255 if code.lstrip("-").isdecimal() else 1
        return streams.output, text, 1
    except monty.MontyError as e:
        return streams.output, e.display() if hasattr(e, "display") else f"SyntaxError: {e}", 1
    return streams.output, "", 0
