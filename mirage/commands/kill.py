"""kill - send a signal to processes (as procps does)."""
from __future__ import annotations

import re

from mirage.process.signals import NAMES, NUMBERS, SIGTERM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

HELP = """
Usage:
 kill [options] <pid> [...]

Options:
 <pid> [...]            send signal to every <pid> listed
 -<signal>, -s, --signal <signal>
                        specify the <signal> to be sent
 -q, --queue <value>    integer value to be sent with the signal
 -l, --list=[<signal>]  list all signal names, or convert one to a name
 -L, --table            list all signal names in a nice table

 -h, --help     display this help and exit
 -V, --version  output version information and exit

For more details see kill(1).
"""


def main(proc: Process) -> int:
    words = proc.argv[1:]
    signal: int | None = SIGTERM
    pids: list[str] = []
    while words:
        word = words.pop(0)
        if word == "--":
            pids += words
            break
        if word in ("-l", "--list"):
            return _list(proc, words[0] if words else "")
        if word.startswith("--list="):
            return _list(proc, word[7:])
        if word in ("-L", "--table"):
            return _table(proc)
        if word in ("-h", "--help"):
            proc.stdout.write(HELP.encode())
            return 0
        if word in ("-V", "--version"):
            proc.stdout.write(b"kill (Mirage)\n")
            return 0
        if word in ("-s", "--signal", "-q", "--queue"):
            if not words:
                return _usage(proc, word[-1])
            value = words.pop(0)
            signal = signal if word in ("-q", "--queue") else _number(value)
        elif word.startswith("--signal="):
            signal = _number(word[9:])
        elif word[:1] == "-" and not pids:
            signal = _number(word[1:])
            if signal is None:
                return _usage(proc, word[1:2])
        else:
            pids.append(word)
    if not pids:
        proc.write_error(HELP)
        return 1
    return _send(proc, pids, signal)


def _usage(proc: Process, letter: str) -> int:
    proc.write_error(f"{proc.argv[0]}: invalid argument {letter}\n{HELP}")
    return 1


def _number(text: str) -> int | None:
    if text.isdecimal() and text.isascii() and len(text) < 10:
        return int(text)
    name = text.upper().removeprefix("SIG")
    return {"POLL": 29, "EXIT": 0}.get(name, NUMBERS.get(name))


def _send(proc: Process, pids: list[str], signal: int | None) -> int:
    status = 0
    kernel = proc.kernel
    for word in pids:
        if re.fullmatch("[-+]?[0-9]{1,18}", word) is None:
            proc.write_error(f"{proc.argv[0]}: failed to parse argument: '{word}'\n")
            status = 1
            continue
        pid = int(word)
        if pid > 0:
            targets = [kernel.processes[pid]] if pid in kernel.processes else []
        else:
            group = proc.group if pid == 0 else -pid
            targets = [process for process in kernel.processes.values() if process.group == group and pid != -1]
        if signal is None or signal != 0 and signal not in NAMES:
            problem = "Invalid argument"
        elif not targets:
            problem = "Operation not permitted" if pid in (1, -1) else "No such process"
        else:
            for process in sorted(targets, key=lambda process: process is proc):
                kernel.kill(process, signal)
            continue
        proc.write_error(f"{proc.argv[0]}: ({pid}): {problem}\n")
        status = 1
    return status


def _names() -> list[tuple[int, str]]:
    return [(number, "POLL" if number == 29 else NAMES[number]) for number in range(1, 32)]


def _list(proc: Process, text: str) -> int:
    if text:
        number = _number(text)
        if number is not None and number > 128:
            number -= 128
        if number is None or number not in dict(_names()):
            proc.write_error(f"{proc.argv[0]}: unknown signal name {text}\n")
            return 0
        proc.stdout.write(f"{number if not text.isdecimal() else dict(_names())[number]}\n".encode())
        return 0
    line = ""
    for _, name in _names():
        if len(line) + len(name) + 1 > 78:
            proc.stdout.write(f"{line}\n".encode())
            line = name
        else:
            line += f" {name}" if line else name
    proc.stdout.write(f"{line}\n".encode())
    return 0


def _table(proc: Process) -> int:
    out = []
    for number, name in _names():
        out.append(f"{number:2d} {name:<8}")
        if number % 7 == 0:
            out[-1] = out[-1].rstrip() + "\n"
        elif number == 31:
            out[-1] += "\n"
        else:
            out[-1] += " " if len(name) > 8 else ""
    proc.stdout.write("".join(out).encode())
    return 0
