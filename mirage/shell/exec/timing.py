"""`time`: what a pipeline took, printed as TIMEFORMAT says."""
from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.shell.exec.compile import Run
    from mirage.shell.state import Shell

DEFAULT_FORMAT = "\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS"
POSIX_FORMAT = "real %2R\nuser %2U\nsys %2S"


def timed(run: Run, posix: bool) -> Run:
    def run_timed(sh: Shell) -> int:
        start, cpu = time.monotonic(), time.thread_time()
        try:
            return run(sh)
        finally:
            real, user = time.monotonic() - start, time.thread_time() - cpu
            text = POSIX_FORMAT if posix else sh.get("TIMEFORMAT")
            if text is None:
                text = DEFAULT_FORMAT
            if text:
                report = format_times(text, real, user, 0.0)
                if report is None:
                    sh.error(f"TIMEFORMAT: `{bad_character(text)}': invalid format character")
                else:
                    sh.proc.write_error(report + "\n")
    return run_timed


def format_times(text: str, real: float, user: float, system: float) -> str | None:
    """TIMEFORMAT expanded; None when it holds an unknown format character."""
    out: list[str] = []
    values = {"R": real, "U": user, "S": system}
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char != "%" or at >= len(text):
            out.append(char)
            continue
        precision, long = 3, False
        if text[at] == "%":
            out.append("%")
            at += 1
            continue
        if text[at] == "P":
            out.append(f"{100 * (user + system) / real if real else 0:.2f}")
            at += 1
            continue
        if text[at].isdecimal():
            precision = min(int(text[at]), 3)
            at += 1
        if text[at:at + 1] == "l":
            long = True
            at += 1
        value = values.get(text[at:at + 1])
        if value is None:
            return None
        at += 1
        out.append(_seconds(value, precision, long))
    return "".join(out)


def bad_character(text: str) -> str:
    for at, char in enumerate(text[:-1]):
        if char == "%":
            tail = text[at + 1:].lstrip("0123456789").removeprefix("l")
            if tail[:1] not in ("R", "U", "S", "P", "%"):
                return tail[:1]
    return ""


def _seconds(value: float, precision: int, long: bool) -> str:
    thousandths = int(value * 1000)
    minutes, rest = divmod(thousandths, 60000) if long else (0, thousandths)
    whole, fraction = divmod(rest, 1000)
    text = f"{whole}.{fraction:03}"[:-(3 - precision) or None] if precision else str(whole)
    return f"{minutes}m{text}s" if long else text
