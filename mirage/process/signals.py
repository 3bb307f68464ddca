"""Signals, exits and limits as BaseExceptions, so that no `except Exception` swallows them."""
from __future__ import annotations

NUMBERS: dict[str, int] = {
    "HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "TRAP": 5, "ABRT": 6, "BUS": 7, "FPE": 8, "KILL": 9, "USR1": 10,
    "SEGV": 11, "USR2": 12, "PIPE": 13, "ALRM": 14, "TERM": 15, "STKFLT": 16, "CHLD": 17, "CONT": 18,
    "STOP": 19, "TSTP": 20, "TTIN": 21, "TTOU": 22, "URG": 23, "XCPU": 24, "XFSZ": 25, "VTALRM": 26,
    "PROF": 27, "WINCH": 28, "IO": 29, "PWR": 30, "SYS": 31,
}
NUMBERS.update({"RTMIN": 34, "RTMAX": 64})
for _n in range(1, 16):
    NUMBERS[f"RTMIN+{_n}"] = 34 + _n
for _n in range(14, 0, -1):
    NUMBERS[f"RTMAX-{_n}"] = 64 - _n
NAMES: dict[int, str] = {number: name for name, number in reversed(NUMBERS.items())}

SIGHUP, SIGINT, SIGQUIT, SIGKILL, SIGPIPE, SIGALRM, SIGTERM = 1, 2, 3, 9, 13, 14, 15
SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU = 17, 18, 19, 20, 21, 22

IGNORED_BY_DEFAULT = frozenset((SIGCHLD, SIGCONT, 23, 28))
STOPPING = frozenset((SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU))

DESCRIPTIONS: dict[int, str] = {
    1: "Hangup", 2: "Interrupt", 3: "Quit", 4: "Illegal instruction", 5: "Trace/breakpoint trap", 6: "Aborted",
    7: "Bus error", 8: "Floating point exception", 9: "Killed", 10: "User defined signal 1",
    11: "Segmentation fault", 12: "User defined signal 2", 13: "Broken pipe", 14: "Alarm clock", 15: "Terminated",
    16: "Stack fault", 24: "CPU time limit exceeded", 25: "File size limit exceeded", 26: "Virtual timer expired",
    27: "Profiling timer expired", 29: "I/O possible", 30: "Power failure", 31: "Bad system call",
}


class ProcessEnd(BaseException):
    """Something that ends a process without being an error of its code."""


class Exit(ProcessEnd):
    """The process ends with `status`; pending output is still flushed."""

    def __init__(self, status: int = 0) -> None:
        super().__init__(status)
        self.status = status


class Killed(ProcessEnd):
    """`process` dies of signal `number`; nothing is flushed. `process` None: whoever runs now."""

    def __init__(self, number: int, process: object = None) -> None:
        super().__init__(number)
        self.number = number
        self.process = process


class LineStopped(BaseException):
    """The whole line is over (limit, timeout, cancel); every process of it is unwound with this."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


class LimitExceeded(LineStopped):
    """A limit of the Terminal was reached; `message` goes to stderr as `mirage: limit: <message>`."""

    def __init__(self, message: str, status: int = 137) -> None:
        super().__init__(message, status)
