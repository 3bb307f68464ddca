"""clear: an empty screen, with the sequences that every terminal of today knows; nothing on a dumb one."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

USAGE = """Usage: clear [options]

Options:
  -T TERM     use this instead of $TERM
  -V          print curses-version
  -x          do not try to clear scrollback
"""
HOME, SCREEN, SCROLLBACK = b"\x1b[H", b"\x1b[2J", b"\x1b[3J"


def main(proc: Process) -> int:
    term, keep, words = proc.env.get("TERM"), False, proc.argv[1:]
    while words:
        word = words.pop(0)
        if word == "-V":
            proc.stdout.write(b"ncurses 6.5.20250216\n")
            return 0
        if word == "-x":
            keep = True
        elif word.startswith("-T") and (word[2:] or words):
            term = word[2:] or words.pop(0)
        else:
            wrong = f"{proc.name}: invalid option -- '{word[1]}'\n" if word[:1] == "-" and len(word) > 1 else ""
            proc.write_error(wrong + USAGE)
            return 1
    if not term:
        proc.write_error("TERM environment variable not set.\n")
        return 1
    if term == "dumb":
        return 1
    proc.stdout.write(HOME + SCREEN + (b"" if keep else SCROLLBACK))
    return 0
