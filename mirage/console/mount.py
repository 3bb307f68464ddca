"""`mirage mount MOUNTPOINT`: the namespace that the options describe, as a directory for real programs."""
from __future__ import annotations

import os
import sys

from mirage.console.options import Parsed, UsageError
from mirage.console.setup import make_terminal

NO_MOUNT = 4
HELP = """\
Usage: mirage mount [OPTION]... MOUNTPOINT
       mirage demo mount MOUNTPOINT

Shows the files of a terminal to real programs, below MOUNTPOINT, an empty directory of this machine. It stays in the
foreground: Ctrl-C, or `umount MOUNTPOINT`, ends it. The policy holds; what it would ask about is refused.
Needs Linux with FUSE (/dev/fuse); an ordinary user also fusermount3.
Exit status: 0 when it was unmounted, 4 if it could not be mounted.
The options are those of mirage; see: mirage --help

Examples:
  mirage mount --mount /src=host:. /mnt/all
  mirage mount -f mirage.yaml /mnt/all
"""


def mount(parsed: Parsed, demo: bool) -> int:
    """Serve until it is unmounted or a signal comes; the exit status, 4 where it could not be mounted."""
    if parsed.get("help"):
        sys.stdout.write(HELP)
        return 0
    if len(parsed.operands) != 1:
        raise UsageError("mount needs one MOUNTPOINT, a directory")
    from mirage.serve.fuse.mount import stop_signals
    from mirage.serve.fuse.mounted import Mounted
    from mirage.vfs.paths import folders, of_machine, refuse_own_mountpoint
    place = os.path.abspath(parsed.operands[0])
    stop = stop_signals()
    with make_terminal(parsed, demo, records=True) as terminal:
        machine = terminal.machine
        try:
            refuse_own_mountpoint([f for m in machine.namespace.mounts() for f in folders(m.mount)], place)
            mounted = Mounted(of_machine(machine), place, source="mirage", kind="fuse.mirage")
        except (OSError, ValueError) as e:
            text = f"{e.filename}: {e.strerror}" if isinstance(e, OSError) and e.filename else str(e)
            print(f"mirage: {text}", file=sys.stderr)
            return NO_MOUNT
        with mounted:
            print(f"Mounted on {place}; `umount {place}` or Ctrl-C ends it", flush=True)
            while not mounted.wait(0) and not stop.wait(0.1):
                pass
    return 0
