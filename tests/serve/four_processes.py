"""A terminal, a program on the mount, the API and the `sqlite3` shell write and read one database at the same time.

    python -m tests.serve.four_processes [SECONDS]

No lock error may reach any of them, and nothing that one of them wrote may be lost. What is said of transactions is how
long one held the write lock: by the clock, which runs on while the processors are with others, and in processor time.
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HELD = """
import time
from mirage.mounts.vfs.connection import Connection
held, enter, leave = [0.0, 0.0], Connection.enter, Connection.leave
def timed_enter(db, begin):
    enter(db, begin)
    if begin and db._depth == 1:
        db.since = time.monotonic(), time.thread_time()
def timed_leave(db, ok):
    last = db._depth == 1
    leave(db, ok)
    if last:
        held[:] = max(held[0], time.monotonic() - db.since[0]), max(held[1], time.thread_time() - db.since[1])
Connection.enter, Connection.leave = timed_enter, timed_leave
"""
SERVER = HELD + """
import sys
from mirage.console.vfs.main import main
status = main(sys.argv[2:])
with open(sys.argv[1], "w") as file:
    print(*held, file=file)
sys.exit(status)
"""
TERMINAL = HELD + """
import sys, time
from mirage import Terminal
from mirage.mounts import Vfs
database, seconds = sys.argv[1], float(sys.argv[2])
number, worst = 0, 0.0
until = time.monotonic() + seconds
with Terminal({"/w": Vfs(database)}, cwd="/w") as t:
    while time.monotonic() < until:
        started = time.monotonic()
        done = t.run(f"echo terminal {number} >> log; echo {number} > own/terminal; mkdir -p d/t{number % 9}; "
                     f"mv own/terminal own/terminal.old; cat own/terminal.old; rm -rf d/t{(number + 4) % 9}")
        worst = max(worst, time.monotonic() - started)
        assert (done.stdout, done.stderr, done.exit_code) == (f"{number}\\n", "", 0), done
        number += 1
print(number, worst, *held)
"""
API = HELD + """
import sys, time
from mirage.mounts import Vfs
database, seconds = sys.argv[1], float(sys.argv[2])
number, worst = 0, 0.0
until = time.monotonic() + seconds
with Vfs(database) as vfs:
    while time.monotonic() < until:
        started = time.monotonic()
        vfs.fs.append("/log", f"api {number}\\n")
        vfs.fs.write("/own/api", str(number))
        vfs.kv.set("api", number)
        assert vfs.fs.read("/own/api") == str(number).encode() and vfs.kv.get("api") == number
        worst = max(worst, time.monotonic() - started)
        number += 1
print(number, worst, *held)
"""
PROGRAM = """
import os, sys, time
place, seconds = sys.argv[1], float(sys.argv[2])
os.chdir(place)
number, worst = 0, 0.0
until = time.monotonic() + seconds
while time.monotonic() < until:
    started = time.monotonic()
    with open("log", "a") as file:
        file.write(f"mount {number}\\n")
    with open("own/mount.new", "w") as file:
        file.write(str(number))
        file.flush()
        if number % 10 == 0:
            os.fsync(file.fileno())
    os.rename("own/mount.new", "own/mount")
    assert open("own/mount").read() == str(number)
    worst = max(worst, time.monotonic() - started)
    number += 1
print(number, worst)
"""
LOCK = """
import sqlite3, sys, time
database, seconds = sys.argv[1], float(sys.argv[2])
db = sqlite3.connect(database, isolation_level=None, timeout=0)
longest, since = 0.0, None
until = time.monotonic() + seconds
while time.monotonic() < until:
    now = time.monotonic()
    try:
        db.execute("BEGIN IMMEDIATE")
        db.execute("ROLLBACK")
        since = None
    except sqlite3.OperationalError:
        since = since or now
        longest = max(longest, time.monotonic() - since)
    time.sleep(0.002)
print(longest)
"""


def shell(database: Path, seconds: float) -> int:
    """The sqlite3 shell, called again and again: how many rows it added."""
    number, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        done = subprocess.run(["sqlite3", database, ".timeout 5000",
                               f"INSERT INTO kv_store (key, value) VALUES ('shell{number}', '{number}');"
                               f"SELECT count(*) FROM fs_inode;"], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        number += 1
    return number


def compete(folder: Path, seconds: float) -> dict[str, str]:
    """All of them for some seconds; what each says. AssertionError where one failed or something is lost."""
    from mirage.mounts import Vfs
    from mirage.mounts.vfs.integrity import check
    from tests.serve.fuse_support import ENVIRONMENT, Served, gone
    database, place = folder / "a.db", folder / "m"
    place.mkdir()
    with Vfs(database) as vfs:
        vfs.fs.mkdir("/own")
        vfs.fs.mkdir("/d")
        vfs.fs.write("/log", "")
    server = Served([sys.executable, "-c", SERVER, folder / "held", "mount", "-f", "--system", database, place], place,
                    folder / "m.err")
    try:
        (folder / "m/log").read_text()
        others = {name: subprocess.Popen([sys.executable, "-c", script, where, str(seconds)], env=ENVIRONMENT,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                  for name, script, where in (("terminal", TERMINAL, database), ("api", API, database),
                                              ("mount", PROGRAM, folder / "m"), ("lock", LOCK, database))}
        rows = shell(database, seconds) if shutil.which("sqlite3") else 0
        said = {}
        for name, process in others.items():
            out, err = process.communicate(timeout=seconds + 60)
            assert process.returncode == 0, f"{name}: {err}"
            said[name] = out.strip()
        seen = (folder / "m/log").read_text().splitlines()
    finally:
        server.stop()
        gone(place)
    said["server"] = "0 " + (folder / "held").read_text()
    with Vfs(database) as vfs:
        assert [p for p in check(vfs.db) if not p.repairable] == []
        lines = vfs.fs.read("/log").decode().splitlines()
        counts = {name: int(said[name].split()[0]) for name in ("terminal", "api", "mount")}
        wanted = sorted(f"{name} {number}" for name, count in counts.items() for number in range(count))
        assert sorted(lines) == wanted, f"{len(lines)} lines, {len(wanted)} written"
        assert seen == lines
        assert sum(1 for pair in vfs.kv.list() if pair[0].startswith("shell")) == rows
    said["sqlite3"] = str(rows)
    return said


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        os.environ.setdefault("LC_ALL", "C.UTF-8")
        for who, what in compete(Path(name), float(sys.argv[1]) if len(sys.argv) > 1 else 60.0).items():
            words = what.split()
            print(f"{who}: " + (f"longest time in which the write lock was never free: {float(what) * 1000:.0f} ms"
                                if who == "lock" else f"{words[0]} rounds") + "".join(
                f", longest transaction {float(words[-2]) * 1000:.0f} ms, {float(words[-1]) * 1000:.0f} ms of processor "
                "time" for _ in words[2:3]))
