"""The API of a database against agentfs-sdk 0.6.4, and `vfs clone` against `git clone` on a mount: clock time, medians.

    python -m mirage.bench.speed.database [ROUNDS] [--api | --clone]

prints one JSON object. The peer gets an environment of its own under $TMPDIR; clones need the right to mount.
"""
from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mirage.bench import environment

FILES, SIZE = 10_000, 4096
REPOSITORY = 5_000
VFS = (sys.executable, "-m", "mirage.console.vfs.main")
OURS = """
import json, sys, time
from mirage.mounts import Vfs
path, files, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
data = bytes(range(256)) * (size // 256)
with Vfs.open(path) as vfs:
    started = time.perf_counter()
    for number in range(files):
        vfs.fs.write(f"/d{number % 100}/f{number}", data, parents=True)
    vfs.sync()
    wrote = time.perf_counter() - started
with Vfs.open(path) as vfs:
    started = time.perf_counter()
    for number in range(files):
        assert len(vfs.fs.read(f"/d{number % 100}/f{number}")) == size
    read = time.perf_counter() - started
print(json.dumps([wrote, read]))
"""
PEER = """
import asyncio, json, sys, time
from agentfs_sdk import AgentFS, AgentFSOptions
path, files, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
data = bytes(range(256)) * (size // 256)

async def main():
    agent = await AgentFS.open(AgentFSOptions(path=path))
    started = time.perf_counter()
    for number in range(files):
        await agent.fs.write_file(f"/d{number % 100}/f{number}", data)
    wrote = time.perf_counter() - started
    await agent.close()
    agent = await AgentFS.open(AgentFSOptions(path=path))
    started = time.perf_counter()
    for number in range(files):
        assert len(await agent.fs.read_file(f"/d{number % 100}/f{number}", encoding=None)) == size
    read = time.perf_counter() - started
    await agent.close()
    print(json.dumps([wrote, read]))

asyncio.run(main())
"""


def peer() -> str | None:
    """A Python that has agentfs-sdk; None where it cannot be installed."""
    folder = os.path.join(tempfile.gettempdir(), f"agentfs-sdk-0.6.4-{os.getuid()}")
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(os.path.join(folder, "ready")):
        environment.create(Path(folder))
        done = subprocess.run([python, "-m", "pip", "install", "-q", "agentfs-sdk==0.6.4"], capture_output=True)
        if done.returncode:
            return None
        Path(folder, "ready").touch()
    return python


def api(place: Path, rounds: int) -> dict[str, object]:
    """Seconds for 10,000 files of 4 KiB: written (ours: and synced), and read back by a fresh process's cache."""
    other = peer()
    runs: dict[str, list[list[float]]] = {"ours": [], "agentfs-sdk": []}
    for number in range(rounds):
        for name, python, code in (("ours", sys.executable, OURS), ("agentfs-sdk", other, PEER)):
            if python is not None:
                done = subprocess.run([python, "-c", code, str(place / f"{name}{number}.db"), str(FILES), str(SIZE)],
                                      check=True, capture_output=True)
                runs[name].append(json.loads(done.stdout))
                for path in place.glob(f"{name}{number}.db*"):
                    path.unlink()
    return {name: dict(zip(("write", "read"), (statistics.median(column) for column in zip(*found, strict=True)),
                           strict=True)) for name, found in runs.items() if found}


def clones(place: Path, rounds: int) -> dict[str, float]:
    """Seconds for a repository of 5,000 files."""
    source = place / "source"
    _repository(source)
    runs: dict[str, list[float]] = {"vfs clone": [], "git clone on the mount": []}
    for number in range(rounds):
        for name, words in (("vfs clone", ["clone", f"a{number}.db", str(source), "src"]),
                            ("git clone on the mount",
                             ["exec", f"b{number}.db", "git", "clone", "-q", "--no-local", str(source), "src"])):
            if words[0] == "exec":
                subprocess.run([*VFS, "init", f"b{number}"], cwd=place, check=True, capture_output=True)
                words[1] = f"b{number}"
            started = time.perf_counter()
            subprocess.run([*VFS, *words], cwd=place, check=True, capture_output=True)
            runs[name].append(time.perf_counter() - started)
    return {name: statistics.median(found) for name, found in runs.items()}


def _repository(place: Path) -> None:
    import random
    numbers = random.Random(1)
    place.mkdir()
    env = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
           "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}
    for number in range(REPOSITORY):
        folder = place / f"d{number % 100}" / f"e{number % 7}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}.txt").write_bytes(numbers.randbytes(numbers.randrange(200, 6000)).hex().encode())
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"], ["gc", "-q"]):
        subprocess.run(["git", *words], cwd=place, env=env, check=True, capture_output=True)


def main(args: list[str]) -> None:
    rounds = next((int(word) for word in args if word.isdigit()), 3)
    place = Path(tempfile.mkdtemp(prefix="vfs-bench-"))
    try:
        found: dict[str, object] = {}
        if "--clone" not in args:
            found["api"] = api(place, rounds)
        if "--api" not in args:
            found["clone"] = clones(place, rounds)
        print(json.dumps(found, indent=2))
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])
