"""ps: the processes of one session."""
from __future__ import annotations

import re

from mirage.commands._io import encode
from mirage.process.signals import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

HELP = """
Usage:
 ps [options]

Basic options:
 -A, -e               all processes
 -a                   all with tty, except session leaders
  a                   all with tty, including other users
 -f                   full-format, including command lines
 -o, -O <format>      user-defined format
 -p, --pid <PID>      process id
 -u, --user <UID>     effective user id or name
 -C <command>         command name
 -h, --no-headers     do not print header

For more details see ps(1).
"""
COLUMNS = {                                                  # name -> (heading, width, right-justified)
    "pid": ("PID", 7, True), "ppid": ("PPID", 7, True), "pgid": ("PGID", 7, True), "sid": ("SID", 7, True),
    "tty": ("TTY", 8, False), "tt": ("TT", 8, False), "tname": ("TTY", 8, False), "time": ("TIME", 8, True),
    "cputime": ("TIME", 8, True), "comm": ("COMMAND", 15, False), "ucmd": ("CMD", 15, False),
           "ucomm": ("COMMAND", 15, False),
    "cmd": ("CMD", 27, False), "args": ("COMMAND", 27, False), "command": ("COMMAND", 27, False),
    "user": ("USER", 8, False), "uid": ("UID", 5, True), "uname": ("USER", 8, False), "euser": ("EUSER", 8, False),
    "stat": ("STAT", 4, False), "state": ("S", 1, False), "s": ("S", 1, False), "%cpu": ("%CPU", 4, True),
    "pcpu": ("%CPU", 4, True), "%mem": ("%MEM", 4, True), "pmem": ("%MEM", 4, True), "rss": ("RSS", 5, True),
    "vsz": ("VSZ", 6, True), "stime": ("STIME", 5, True), "start": ("STARTED", 8, True), "c": ("C", 2, True),
    "etime": ("ELAPSED", 11, True), "etimes": ("ELAPSED", 7, True), "ni": ("NI", 3, True), "nice": ("NI", 3, True),
    "pri": ("PRI", 3, True), "fuser": ("UID", 8, False)}
FULL = [("fuser", "UID"), ("pid", "PID"), ("ppid", "PPID"), ("c", "C"), ("stime", "STIME"), ("tty", "TTY"),
        ("time", "TIME"), ("cmd", "CMD")]
BSD = [("user", "USER"), ("pid", "PID"), ("%cpu", "%CPU"), ("%mem", "%MEM"), ("vsz", "VSZ"), ("rss", "RSS"),
       ("tty", "TTY"), ("stat", "STAT"), ("stime", "START"), ("bsdtime", "TIME"), ("args", "COMMAND")]


def _fail(proc: Process, text: str) -> Exit:
    proc.write_error(f"error: {text}\n\n{HELP.lstrip()}")
    return Exit(1)


def main(proc: Process) -> int:
    words, at = proc.argv[1:], 0
    columns: list[tuple[str, str]] = []
    headed, full, bsd = True, False, False
    pids: set[int] | None = None
    names: set[str] = set()
    while at < len(words):
        word = words[at]
        at += 1
        if word in ("--help", "--version", "-V"):
            proc.stdout.write(HELP.encode() if word == "--help" else b"ps from procps-ng 4.0.4 (Mirage)\n")
            return 0
        if word in ("--no-headers", "--no-heading"):
            headed = False
            continue
        found = re.fullmatch(r"--(format|pid|ppid|user|sort)(?:=(.*))?", word)
        letters = {"format": "o", "pid": "p", "ppid": "P", "user": "u", "sort": "k"}[found[1]] if found else \
            word.lstrip("-") if not word.startswith("--") else ""
        if not letters or word == "-":
            raise _fail(proc, "unknown gnu long option" if word.startswith("--") else "unsupported option")
        if letters.isdecimal():
            pids = (pids or set()) | {int(letters[:9])}
            continue
        value = found[2] if found else None
        for place, letter in enumerate(letters):
            if letter in "opCuUkPtgG" and not (letter in "u" and not word.startswith("-")):
                rest = letters[place + 1:]
                text = value if value is not None else rest
                if not text:
                    if at >= len(words):
                        raise _fail(proc, "list of " + ("format specifiers must follow -o" if letter == "o" else
                                                        "process IDs must follow -p"))
                    text = words[at]
                    at += 1
                if letter == "o":
                    columns += _format(proc, text)
                elif letter == "p":
                    if not re.fullmatch(r"[0-9, ]+", text):
                        raise _fail(proc, "process ID list syntax error")
                    pids = (pids or set()) | {int(n[:9]) for n in re.split(r"[, ]+", text) if n}
                elif letter == "C":
                    names |= set(text.split(","))
                break
            if letter == "f":
                full = True
            elif letter == "u" and not word.startswith("-"):
                bsd = True
            elif letter == "h":
                headed = False
            elif letter not in "aAexwlFjHTLmrdZcy":
                raise _fail(proc, "unsupported SysV option" if word.startswith("-")
                            else "unsupported option (BSD syntax)")
    columns = columns or (BSD if bsd else FULL if full else
                          [("pid", "PID"), ("tty", "TTY"), ("time", "TIME"), ("ucmd", "CMD")])
    rows = [p for _, p in sorted(proc.kernel.processes.items()) if p.status is None
            and (pids is None or p.pid in pids) and (not names or p.name in names)]
    if proc not in rows and pids is None and not names:
        rows.append(proc)
    if headed and any(title for _, title in columns):
        proc.stdout.write(encode(_line(columns, [title for _, title in columns]) + "\n"))
    for one in rows:
        proc.stdout.write(encode(_line(columns, [_value(proc, one, key) for key, _ in columns]) + "\n"))
    return 0 if rows else 1


def _format(proc: Process, text: str) -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    while text:
        found = re.match(r"[ ,]*([a-z%_]+)(=?)", text)
        if not found or found[1] not in COLUMNS:
            raise _fail(proc, f"unknown user-defined format specifier \"{text.strip(' ,').split(',')[0]}\"")
        name = found[1]
        text = text[found.end():]
        if found[2]:
            if "," in text and re.search(r",[a-z%]+=", text):
                title, _, text = text.partition(",")
            else:
                title, text = text, ""
            out.append((name, title))
        else:
            out.append((name, COLUMNS[name][0]))
    return out


def _line(columns: list[tuple[str, str]], values: list[str]) -> str:
    out = []
    for number, ((key, title), value) in enumerate(zip(columns, values, strict=True)):
        _, width, right = COLUMNS.get(key, ("", 6, True))
        width = max(width, len(title))
        last = number == len(columns) - 1
        out.append(value.rjust(width) if right else value if last else value.ljust(width))
    return " ".join(out)


def _value(proc: Process, one: Process, key: str) -> str:
    shell = one.shell is not None
    command = " ".join(one.argv) or "bash"
    if key in ("pid", "ppid", "pgid", "sid"):
        parent = one.parent.pid if one.parent is not None else 1
        return str({"pid": one.pid, "ppid": parent, "pgid": one.group, "sid": one.group}[key])
    if key in ("comm", "ucmd", "ucomm"):
        return (one.name or ("bash" if shell else "?"))[:15]
    if key in ("user", "uname", "euser", "fuser"):
        return "user"
    state = "R" if one is proc else "T" if one.stopped else "S"
    values = {"tty": "?", "tt": "?", "tname": "?", "time": "00:00:00", "cputime": "00:00:00", "bsdtime": "0:00",
              "cmd": command, "args": command, "command": command, "uid": "1000", "stat": state, "state": state,
              "s": state, "etime": "00:00", "ni": "0", "nice": "0", "pri": "19"}
    if key in ("stime", "start"):
        from mirage.text.strftime import at, strftime
        return strftime("%H:%M" if key == "stime" else "%H:%M:%S",
                        at(int(proc.now()), proc.env.get("TZ", proc.machine.tz)))
    return values.get(key, "0.0" if key in ("%cpu", "pcpu", "%mem", "pmem") else "0")
