"""tput and reset of a dumb terminal: no colours, no cursor movement."""
from __future__ import annotations

from mirage.commands._getopt import Spec, parse, usage_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

USAGE = """Usage: tput [options] [command]

Options:
  -S <<       read commands from standard input
  -T TERM     use this instead of $TERM
  -V          print curses-version
  -x          do not try to clear scrollback

Commands:
  clear       clear the screen
  init        initialize the terminal
  reset       reinitialize the terminal
  capname     unlike clear/init/reset, print value for capability "capname"
"""
SPEC = Spec("ST:Vx", help=USAGE, status=2)
BOOLEANS = {"am": True, "bw": False, "xenl": False, "km": False, "mir": False, "msgr": False, "hs": False, "bce": False}
NUMBERS = ("cols", "lines", "colors", "it", "pairs", "xmc", "wsl", "ncv")
STRINGS = frozenset((
    "bold", "sgr0", "sgr", "setaf", "setab", "setf", "setb", "smul", "rmul", "smso", "rmso", "rev", "dim", "blink",
    "invis", "sitm", "ritm", "cup", "home", "clear", "el", "el1", "ed", "civis", "cnorm", "cvvis", "smcup", "rmcup",
    "sc",
    "rc", "cuu", "cud", "cuf", "cub", "cuu1", "cuf1", "cub1", "hpa", "vpa", "il1", "dl1", "ich1", "dch1", "kcuu1",
    "kcud1",
    "kcuf1", "kcub1", "kbs", "is1", "is2", "is3", "rs1", "rs2", "rs3", "op", "oc", "flash", "smir", "rmir", "smkx",
    "rmkx", "csr", "ri", "hts", "tbc", "tsl", "fsl", "dsl"))


def main(proc: Process) -> int:
    if proc.name == "reset":
        return _reset(proc)
    options, operands = parse(proc, SPEC)
    keys = {key for key, _ in options}
    if "V" in keys:
        proc.stdout.write(b"ncurses 6.5 (Mirage)\n")
        return 0
    if "S" in keys:
        lines = b"".join(iter(lambda: proc.file(0).read(65536), b"")).decode("utf-8", "replace").splitlines()
        status = 0
        for line in lines:
            if line.split():
                status = max(status, _one(proc, line.split()))
        return status
    if not operands:
        proc.write_error(USAGE)
        return 2
    return _one(proc, operands)


def _reset(proc: Process) -> int:
    spec = Spec("T:Vx", help=f"Usage: {proc.name} [options]\n\nOptions:\n  -T TERM     use this instead of $TERM\n"
                             "  -V          print curses-version\n  -x          do not try to clear scrollback\n")
    options, operands = parse(proc, spec)
    if operands:
        raise usage_error(proc, spec, f"extra operand '{operands[0]}'")
    if any(key == "V" for key, _ in options):
        proc.stdout.write(b"ncurses 6.5 (Mirage)\n")
    return 0


def _one(proc: Process, words: list[str]) -> int:
    name = words[0]
    if name == "longname":
        proc.stdout.write(b"80-column dumb tty")
        return 0
    if name in BOOLEANS:
        return 0 if BOOLEANS[name] else 1
    if name in NUMBERS:
        value = {"cols": proc.env.get("COLUMNS", ""), "lines": proc.env.get("LINES", "")}.get(name, "")
        default = {"cols": "80", "lines": "24"}.get(name, "-1")
        proc.stdout.write((value if value.isdecimal() else default).encode() + b"\n")
        return 0
    if name == "bel":
        proc.stdout.write(b"\a")
        return 0
    if name in ("cr", "cud1", "ind", "nel"):
        proc.stdout.write(b"\r" if name == "cr" else b"\r\n" if name == "nel" else b"\n")
        return 0
    if name in ("init", "reset"):
        return 0
    if name in STRINGS:
        return 1
    proc.message(f"unknown terminfo capability '{name}'")
    return 4
