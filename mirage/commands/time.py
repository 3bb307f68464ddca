"""time - run a program and summarize its use of resources (GNU time)."""
from __future__ import annotations

import os
import time as clock

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse, usage_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

DEFAULT = ("%Uuser %Ssystem %Eelapsed %PCPU (%Xavgtext+%Davgdata %Mmaxresident)k\n"
           "%Iinputs+%Ooutputs (%Fmajor+%Rminor)pagefaults %Wswaps")
PORTABLE = "real %e\nuser %U\nsys %S"
VERBOSE = """\
\tCommand being timed: "%C"
\tUser time (seconds): %U
\tSystem time (seconds): %S
\tPercent of CPU this job got: %P
\tElapsed (wall clock) time (h:mm:ss or m:ss): %E
\tAverage shared text size (kbytes): %X
\tAverage unshared data size (kbytes): %D
\tAverage stack size (kbytes): %p
\tAverage total size (kbytes): %K
\tMaximum resident set size (kbytes): %M
\tAverage resident set size (kbytes): %t
\tMajor (requiring I/O) page faults: %F
\tMinor (reclaiming a frame) page faults: %R
\tVoluntary context switches: %w
\tInvoluntary context switches: %c
\tSwaps: %W
\tFile system inputs: %I
\tFile system outputs: %O
\tSocket messages sent: %s
\tSocket messages received: %r
\tSignals delivered: %k
\tPage size (bytes): %Z
\tExit status: %x"""
SPEC = Spec("af:o:pqvhV", {
    "append": ("a", NONE), "format": ("f", REQUIRED), "output": ("o", REQUIRED), "portability": ("p", NONE),
    "quiet": ("q", NONE), "verbose": ("v", NONE),
}, status=125, permute=False, help="""\
Usage: NAME [OPTIONS] COMMAND [ARG]...
Run COMMAND, then print system resource usage.

  -a, --append              with -o FILE, append instead of overwriting
  -f, --format=FORMAT       use the specified FORMAT instead of the default
  -o, --output=FILE         write to FILE instead of STDERR
  -p, --portability         print the real, user and sys time as POSIX has it
  -q, --quiet               do not print information about abnormal program
                            termination (non-zero exit codes or signals)
  -v, --verbose             print all resource usage information
      --help                display this help and exit
      --version             output version information and exit
""")


class Usage:
    """What is known about a run: times in seconds; nothing else is counted apart in this terminal."""

    __slots__ = ("argv", "elapsed", "status", "user")

    def __init__(self, argv: list[str], elapsed: float, user: float, status: int) -> None:
        self.argv = argv
        self.elapsed = elapsed
        self.user = user
        self.status = status


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    if any(key in "hV" for key, _ in options):
        proc.argv = [proc.argv[0], "--help" if options[0][0] == "h" else "--version"]
        return main(proc)
    if not operands:
        raise usage_error(proc, SPEC, "missing program to run")
    given = dict(options)
    text = given.get("f", DEFAULT)
    for key, _ in options:
        text = PORTABLE if key == "p" else VERBOSE if key == "v" else given["f"] if key == "f" else text
    started, cpu = clock.monotonic(), clock.thread_time()
    proc.flush()
    signal = 0
    try:
        child = proc.spawn(operands)
        status = proc.wait(child)
        signal = child.exit_signal
    except OSError as e:
        proc.fail(f"cannot run {operands[0]}", e)
        status = 127 if isinstance(e, FileNotFoundError) else 126
    usage = Usage(operands, clock.monotonic() - started, clock.thread_time() - cpu, 0 if signal else status)
    lines = format_usage(text, usage)
    if "q" not in given:
        if signal:
            lines = f"Command terminated by signal {signal}\n{lines}"
        elif status:
            lines = f"Command exited with non-zero status {status}\n{lines}"
    if "o" not in given:
        proc.write_error(lines)
        return status
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if "a" in given else os.O_TRUNC)
    try:
        with proc.opened(given["o"], flags) as file:
            file.write(lines.encode("utf-8", "surrogateescape"))
    except OSError as e:
        proc.fail(given["o"], e)
        return 1
    return status


def format_usage(text: str, usage: Usage) -> str:
    out = []
    i = 0
    while i < len(text):
        char, letter = text[i], text[i + 1:i + 2]
        i += 2
        if char == "%":
            out.append(_resource(letter, usage) if letter else "?")
        elif char == "\\":
            out.append({"t": "\t", "n": "\n", "\\": "\\"}.get(letter, "?\\" + letter if letter else "?\\"))
        else:
            out.append(char)
            i -= 1
    return "".join(out) + "\n"


def _resource(letter: str, usage: Usage) -> str:
    if letter == "%":
        return "%"
    if letter == "C":
        return " ".join(usage.argv)
    if letter == "e":
        return f"{usage.elapsed:.2f}"
    if letter == "E":
        minutes, seconds = divmod(usage.elapsed, 60)
        hours, minutes = divmod(int(minutes), 60)
        return f"{hours}:{minutes:02d}:{int(seconds):02d}" if hours else f"{minutes}:{seconds:05.2f}"
    if letter == "U":
        return f"{usage.user:.2f}"
    if letter == "S":
        return "0.00"
    if letter == "P":
        return f"{int(usage.user * 100 / usage.elapsed)}%" if usage.elapsed > 0 else "?%"
    if letter == "x":
        return str(usage.status)
    if letter == "Z":
        return "4096"
    return "0" if letter in "XDMIOFRWKpktwcrs" else f"?{letter}"
