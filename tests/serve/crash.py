"""Kills the server of a mount while a program writes through it: nothing that was synced may be missing.

    python -m tests.serve.crash [COUNT]
"""
from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WRITER = """
import os, sys
number = 0
os.chdir(sys.argv[1])                    # not into the directory below the mount when that is gone
print("up", flush=True)
while True:
    name = f"f{number % 50}"
    with open(name + ".new", "wb") as file:
        file.write(b"%d " % number * 2000)
        file.flush()
        os.fsync(file.fileno())
    os.rename(name + ".new", name)
    fd = os.open(".", os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)
    print(number, flush=True)
    number += 1
"""


def crash(folder: Path, seed: int) -> int:
    """One kill at a random moment; how many files were acknowledged before it."""
    from mirage.mounts import Vfs
    from mirage.mounts.vfs.integrity import check
    from tests.serve.fuse_support import VFS, Served, gone
    path, database = folder / "m", folder / "a.db"
    path.mkdir(exist_ok=True)
    Vfs(database).close()
    found = Served([*VFS, "mount", "-f", database, path], path, folder / "err")
    writer = subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert writer.stdout is not None and writer.stdout.readline() == b"up\n"
    time.sleep(random.Random(seed).uniform(0.1, 0.8))
    found.process.kill()
    output = writer.communicate(timeout=20)[0].split()
    found.stop()
    gone(path)
    with Vfs(database) as vfs:
        assert [p for p in check(vfs.db) if not p.repairable] == []
        last = {int(n) % 50: int(n) for n in output}
        for place, number in last.items():
            data = vfs.fs.read(f"/f{place}")
            assert data in (b"%d " % number * 2000, b"%d " % (number + 50) * 2000), (place, number, data[:20])
    return len(output)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    synced = 0
    for number in range(count):
        with tempfile.TemporaryDirectory() as name:
            synced += crash(Path(name), random.randrange(10 ** 9))
        if not (number + 1) % 20:
            print(f"{number + 1} kills, {synced} synced files, none lost", flush=True)
