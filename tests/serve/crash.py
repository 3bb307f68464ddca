"""Kills programs that write to a database: nothing that was synced may be missing, and the file must be sound.

    python -m tests.serve.crash [COUNT] [KIND...]

Kinds: mount (the server is killed while a program writes through it), api, encrypted; power and power-mount, which also
lose what was not synced (tests/serve/power.py); backup, migrate, checkpoint, clone: the command is killed.
"""
from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.serve.power import Disk

KEY = {"key": "42" * 32, "cipher": "aes256gcm"}
PLACES = 40
ON_MOUNT = """
import os, sys
number = 0
os.chdir(sys.argv[1])                    # not into the directory below the mount when that is gone
print("up", flush=True)
while True:
    name = f"f{number % 40}"
    with open(name + ".new", "wb") as file:
        file.write(b"%d " % number * (5, 2000, 40000)[number % 3])
        file.flush()
        os.fsync(file.fileno())
    os.rename(name + ".new", name)
    fd = os.open(".", os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)
    print(number, flush=True)
    number += 1
"""
BY_API = """
import json, sys
from mirage.mounts import Vfs
vfs = Vfs.open(sys.argv[1], **json.loads(sys.argv[2]))
number = 0
print("up", flush=True)
while True:
    name = f"/f{number % 40}"
    handle = vfs.mount.create(name + ".new", 0o644, 1000, 1000)
    handle.pwrite(b"%d " % number * (5, 2000, 40000)[number % 3], 0)
    handle.sync()
    vfs.mount.rename(name + ".new", name)
    handle.close()
    vfs.sync()
    print(number, flush=True)
    if not number % 7:
        vfs.db.checkpoint()
    number += 1
"""


def check_all(database: Path, said: list[bytes], **words: str) -> int:
    """Is the database sound, and is there what was acknowledged? How many times that was."""
    from mirage.mounts import Vfs
    from mirage.mounts.vfs.integrity import check
    with Vfs.open(database, create=False, **words) as vfs:
        assert [p for p in check(vfs.db) if not p.repairable] == []
        with vfs.db.reading:
            assert vfs.db.execute("SELECT count(*) FROM fs_inode WHERE nlink = 0").fetchone()[0] == 0
        for place, number in {int(n) % PLACES: int(n) for n in said}.items():
            data = vfs.fs.read(f"/f{place}")
            assert data in [b"%d " % n * (5, 2000, 40000)[n % 3] for n in (number, number + PLACES)], (place, number)
    return len(said)


def killed(command: list[str], rest: random.Random, environment: dict[str, str]) -> list[bytes]:
    """Kill a writer at a random moment; what it acknowledged before."""
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
    assert writer.stdout is not None and writer.stdout.readline() == b"up\n"
    time.sleep(rest.uniform(0, 0.4))
    writer.kill()
    return writer.communicate(timeout=20)[0].split()


def api(folder: Path, seed: int, **words: str) -> int:
    import json

    from tests.serve.fuse_support import ENVIRONMENT
    said = killed([sys.executable, "-c", BY_API, os.fspath(folder / "a.db"), json.dumps(words)], random.Random(seed),
                  ENVIRONMENT)
    return check_all(folder / "a.db", said, **words)


def encrypted(folder: Path, seed: int) -> int:
    return api(folder, seed, **KEY)


def synced_disk(folder: Path) -> Disk:
    """With an empty database."""
    from mirage.mounts import Vfs
    from tests.serve.power import Disk
    disk = Disk(folder)
    Vfs(folder / "a.db").close()
    disk.keep(folder / "a.db")
    return disk


def power(folder: Path, seed: int) -> int:
    from tests.serve.fuse_support import ENVIRONMENT
    disk, rest = synced_disk(folder), random.Random(seed)
    said = killed([sys.executable, "-c", BY_API, os.fspath(folder / "a.db"), "{}"], rest,
                  {**ENVIRONMENT, **disk.environment})
    disk.after_a_loss_of_power(folder / "a.db", folder / "after.db", rest)
    return check_all(folder / "after.db", said)


def mount(folder: Path, seed: int, **environment: str) -> list[bytes]:
    from mirage.mounts import Vfs
    from tests.serve.fuse_support import VFS, Served, gone
    path, database = folder / "m", folder / "a.db"
    path.mkdir(exist_ok=True)
    Vfs(database).close()
    found = Served(["env", *(f"{name}={value}" for name, value in environment.items()), *VFS, "mount", "-f", database,
                    path], path, folder / "err")
    writer = subprocess.Popen([sys.executable, "-c", ON_MOUNT, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert writer.stdout is not None and writer.stdout.readline() == b"up\n"
    time.sleep(random.Random(seed).uniform(0.1, 0.8))
    found.process.kill()
    said = writer.communicate(timeout=20)[0].split()
    found.stop()
    gone(path)
    return said


def crash(folder: Path, seed: int) -> int:
    """The server of a mount."""
    return check_all(folder / "a.db", mount(folder, seed))


def power_mount(folder: Path, seed: int) -> int:
    disk = synced_disk(folder)
    said = mount(folder, seed, **disk.environment)
    disk.after_a_loss_of_power(folder / "a.db", folder / "after.db", random.Random(seed))
    return check_all(folder / "after.db", said)


def filled(folder: Path) -> list[bytes]:
    """A database of some megabytes, a part of it in the write-ahead log as after a kill; the numbers of its files."""
    from mirage.mounts import Vfs
    with Vfs(folder / "full.db") as vfs:
        for number in range(PLACES):
            vfs.fs.write(f"/f{number}", b"%d " % number * (5, 2000, 40000)[number % 3])
        vfs.fs.write("/large", os.urandom(20 << 20))
        for ending in ("", "-wal"):
            shutil.copy(f"{folder / 'full.db'}{ending}", f"{folder / 'a.db'}{ending}")
    return [b"%d" % number for number in range(PLACES)]


def command(folder: Path, seed: int, kind: str) -> int:
    """A command is killed; then the database is what it was, and the command does its work."""
    from mirage.mounts import Vfs
    from tests.serve.fuse_support import ENVIRONMENT, VFS, run
    said = filled(folder)
    source, copy = folder / "a.db", folder / "copy.db"
    words = {"backup": ["backup", "a.db", "copy.db"], "migrate": ["migrate", "a.db"],
             "checkpoint": ["integrity", "a.db", "--checkpoint"], "clone": ["clone", "a.db", "source", "made"]}[kind]
    if kind == "migrate":
        with sqlite3.connect(source, isolation_level=None) as db:
            for column in ("atime_nsec", "mtime_nsec", "ctime_nsec", "rdev"):
                db.execute(f"ALTER TABLE fs_inode DROP COLUMN {column}")
            db.execute("DROP TABLE vfs_meta")
        db.close()
    elif kind == "clone":
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", os.fspath(folder / "source")]
        for number in range(300):
            (folder / f"source/d{number % 9}").mkdir(parents=True, exist_ok=True)
            (folder / f"source/d{number % 9}/{number}").write_text(f"{number}\n" * number)
        for step in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]):
            subprocess.run([*git, *step], check=True, stdin=subprocess.DEVNULL)
    process = subprocess.Popen([*VFS, *words], cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    time.sleep(random.Random(seed).uniform(0.1, 1.5 if kind == "clone" else 0.7))
    process.kill()
    process.wait()
    if kind != "migrate":                                    # it may have been before the change
        check_all(source, said)
    if copy.exists():                                        # it appears when it is whole
        check_all(copy, said)
        copy.unlink()
    done = run(*VFS, *words, cwd=folder)
    if done.returncode and kind == "clone":                  # a part of it may be there
        assert "exists already" in done.stderr, done.stderr
        assert run(*VFS, "fs", "a.db", "rm", "-r", "/made", cwd=folder).returncode == 0
        done = run(*VFS, *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    check_all(source, said)
    if kind == "backup":
        check_all(copy, said)
    if kind == "clone":
        with Vfs(source) as vfs:
            assert len(vfs.fs.list("/made/d1")) == 34
    return 1


KINDS = {"mount": crash, "api": api, "encrypted": encrypted, "power": power, "power-mount": power_mount,
         **{kind: lambda folder, seed, kind=kind: command(folder, seed, kind)
            for kind in ("backup", "migrate", "checkpoint", "clone")}}


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for kind in sys.argv[2:] or KINDS:
        synced = 0
        for number in range(count):
            seed = random.randrange(10 ** 9)
            with tempfile.TemporaryDirectory() as name:
                try:
                    synced += KINDS[kind](Path(name), seed)
                except BaseException:
                    print(f"{kind}: failed, seed {seed}", flush=True)
                    raise
            if not (number + 1) % 20 or number + 1 == count:
                print(f"{kind}: {number + 1} kills, {synced} acknowledged, none lost", flush=True)


if __name__ == "__main__":
    main()
