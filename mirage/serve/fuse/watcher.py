"""Takes a mount away when the process that served it has died, however that was.

A program of its own (`python -I -S watcher.py MOUNTPOINT DEVICE`), so that nothing of the server can be in its way: it
waits until its standard input ends, which is the other end of a pipe that the server holds open.
"""
import ctypes
import os
import shutil
import signal
import subprocess
import sys


def main() -> None:
    mountpoint, device = sys.argv[1:3]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(0, 4096):
        pass
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        if not any(line.split(" ", 3)[2] == device for line in file):
            return
    if ctypes.CDLL(None).umount2(os.fsencode(mountpoint), 2) == 0:
        return
    program = shutil.which("fusermount3") or shutil.which("fusermount")
    if program is not None:
        subprocess.run([program, "-u", "-z", "--", mountpoint], check=False, capture_output=True)


if __name__ == "__main__":
    main()
