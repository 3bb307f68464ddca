"""uptime: how long this terminal has been running."""
from __future__ import annotations

import time

from mirage.commands._getopt import NONE, Spec, parse
from mirage.text.strftime import at, strftime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

HELP = """
Usage:
 uptime [options]

Options:
 -p, --pretty   show uptime in pretty format
 -s, --since    system up since
 -h, --help     display this help and exit
 -V, --version  output version information and exit
"""
SPEC = Spec("pshV", {"pretty": ("p", NONE), "since": ("s", NONE), "help": ("h", NONE), "version": ("V", NONE)},
            help=HELP)
_started = time.time()


def main(proc: Process) -> int:
    keys = {key for key, _ in parse(proc, SPEC)[0]}
    now = proc.now()
    seconds = max(0, int(time.time() - _started))
    hours, minutes = seconds // 3600, seconds // 60 % 60
    days, hours = hours // 24, hours % 24
    zone = proc.env.get("TZ", proc.machine.tz)
    if "h" in keys or "V" in keys:
        text = HELP if "h" in keys else "uptime (Mirage)\n"
    elif "s" in keys:
        text = strftime("%Y-%m-%d %H:%M:%S\n", at(int(now) - seconds, zone))
    elif "p" in keys:
        parts = [f"{n} {word}{'' if n == 1 else 's'}" for n,
                 word in ((days, "day"), (hours, "hour"), (minutes, "minute"))
                 if n or word == "minute" and not days and not hours]
        text = "up " + ", ".join(parts) + "\n"
    else:
        up = f"{hours}:{minutes:02d}" if hours else f"{minutes} min"
        up = f"{days} day{'' if days == 1 else 's'}, {up}" if days else up
        text = f" {strftime('%H:%M:%S', at(int(now), zone))} up {up},  1 user,  load average: 0.00, 0.00, 0.00\n"
    proc.stdout.write(text.encode())
    return 0
