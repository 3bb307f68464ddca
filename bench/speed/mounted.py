"""A database on a FUSE mount against tmpfs and against SQLite itself: clock time, medians of runs in turns.

Needs the right to mount. Everything happens in a mount namespace of a process of its own: `python -m
mirage.bench.speed.mounted [ROUNDS]` prints one JSON object.
"""
from __future__ import annotations

import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

SIZE = 64 << 20
PIECE = 128 << 10
FILES = 1000
CHUNK = 64 << 10
SERVER = """
import sys
from mirage.console.vfs.main import main
sys.exit(main(["mount", "-f", "--system", *sys.argv[1:]]))
"""


def read_cached(folder: Path) -> float:
    """A file of 64 MiB, in the page cache, in pieces of 128 KiB."""
    fd = os.open(folder / "big", os.O_RDONLY)
    buffer = bytearray(PIECE)
    started = time.perf_counter()
    for at in range(0, SIZE, PIECE):
        os.preadv(fd, [buffer], at)
    seconds = time.perf_counter() - started
    os.close(fd)
    return seconds


def write_synced(folder: Path) -> float:
    """The same file written in pieces of 1 MiB, with one fsync at the end."""
    data = os.urandom(1 << 20)
    fd = os.open(folder / "written", os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
    started = time.perf_counter()
    for _ in range(0, SIZE, len(data)):
        os.write(fd, data)
    os.fsync(fd)
    seconds = time.perf_counter() - started
    os.close(fd)
    (folder / "written").unlink()
    return seconds


def insert_in_bulk(folder: Path) -> float:
    """The same bytes as rows of 64 KiB, 4 MiB in a transaction, and a sync of the write-ahead log at the end."""
    path = folder / "bulk.db"
    data = os.urandom(CHUNK)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA wal_autocheckpoint = 4000")
    db.execute("CREATE TABLE d (ino INTEGER NOT NULL, chunk_index INTEGER NOT NULL, data BLOB NOT NULL,"
               " PRIMARY KEY (ino, chunk_index))")
    started = time.perf_counter()
    for first in range(0, SIZE // CHUNK, 64):
        db.execute("BEGIN IMMEDIATE")
        db.executemany("INSERT INTO d VALUES (1, ?, ?)", ((index, data) for index in range(first, first + 64)))
        db.execute("COMMIT")
    fd = os.open(f"{path}-wal", os.O_RDONLY)
    os.fsync(fd)
    seconds = time.perf_counter() - started
    db.close()
    os.close(fd)
    for name in ("bulk.db", "bulk.db-wal", "bulk.db-shm"):
        (folder / name).unlink(missing_ok=True)
    return seconds


def clone(source: Path, folder: Path) -> float:
    """`git clone` of a repository with 1,000 files."""
    target = folder / "clone"
    started = time.perf_counter()
    subprocess.run(["git", "clone", "--quiet", source, target], check=True, stdin=subprocess.DEVNULL)
    seconds = time.perf_counter() - started
    shutil.rmtree(target)
    return seconds


def make_repository(folder: Path) -> None:
    """As a repository is after work: loose objects, nothing packed."""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", os.fspath(folder)]
    for number in range(FILES):
        place = folder / f"d{number % 20}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"f{number}").write_text(f"{number}: {os.urandom(1500).hex()}\n")
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "all"]):
        subprocess.run([*git, *words], check=True, stdin=subprocess.DEVNULL)


def alternate(one: Callable[[], float], other: Callable[[], float], rounds: int) -> tuple[float, float]:
    """Medians of runs in turns, after one of each to warm up."""
    found: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + 1):
        for place, function in enumerate((one, other)):
            seconds = function()
            if number:
                found[place].append(seconds)
    return statistics.median(found[0]), statistics.median(found[1])


def measure(folder: Path, rounds: int) -> list[dict[str, object]]:
    disk, mounted, memory = folder / "disk", folder / "mounted", folder / "memory"
    for place in (disk, mounted, memory):
        place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", memory], check=True)
    from mirage.mounts.vfs import Vfs
    Vfs(folder / "a.db").close()
    server = subprocess.Popen([sys.executable, "-c", SERVER, folder / "a.db", mounted], stdout=subprocess.PIPE)
    rows = []
    try:
        if server.stdout is None or not server.stdout.readline():
            raise RuntimeError("the database could not be mounted")
        data = os.urandom(SIZE)
        for place in (mounted, memory):
            (place / "big").write_bytes(data)
            read_cached(place)
        rows.append(row("cached read, 64 MiB", "tmpfs", 2.0, *alternate(
            lambda: read_cached(mounted), lambda: read_cached(memory), 3 * rounds)))
        rows.append(row("sequential write, fsync", "SQLite in bulk", 2.0, *alternate(
            lambda: write_synced(mounted), lambda: insert_in_bulk(disk), rounds)))
        if shutil.which("git"):
            make_repository(disk / "source")
            rows.append(row("git clone, 1,000 files", "tmpfs", 12.0, *alternate(
                lambda: clone(disk / "source", mounted), lambda: clone(disk / "source", memory), rounds)))
    finally:
        server.terminate()
        server.wait()
        subprocess.run(["umount", memory], check=False)
    return rows


def row(name: str, against: str, wanted: float, ours: float, other: float) -> dict[str, object]:
    return {"group": "mount", "name": name, "against": against, "ours": ours, "other": other, "ratio": ours / other,
            "wanted": wanted}


def run(show: Callable[[str], None], rounds: int = 3) -> list[dict[str, object]]:
    """The rows, measured by this file as a program in a mount namespace; none where nothing can be mounted."""
    done = subprocess.run(["unshare", "-m", sys.executable, "-m", __name__, str(rounds)], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        show(f"mount: not measured: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
        return []
    rows: list[dict[str, object]] = json.loads(done.stdout)["rows"]
    show(f"\n{'mount (clock)':34} {'ours ms':>10} {'other ms':>10} {'ratio':>8}  against")
    for found in rows:
        ours, other, ratio = (float(str(found[key])) for key in ("ours", "other", "ratio"))
        show(f"{found['name']:34} {ours * 1000:10.2f} {other * 1000:10.2f} {ratio:8.2f}  {found['against']}"
             f" (at most {found['wanted']})")
    return rows


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    with tempfile.TemporaryDirectory() as name:
        print(json.dumps({"rows": measure(Path(name), rounds)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
