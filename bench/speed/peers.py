"""Virtual shells from PyPI on the same workloads, each in its own virtual environment and process."""
from __future__ import annotations

import io
import json
import select
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mirage.bench import environment
from mirage.bench.speed.measure import median_cpu, outside
from mirage.bench.speed.workloads import Workload

PEERS = ("mirage-ai", "bashkit", "just-bash")
DRIVER = Path(__file__).with_name("peer_driver.py")
LOADING = 300.0                                              # seconds for a peer to take in all files
BUSY = 15                                                    # seconds of the clock for one of processor time, at most


def install(peer: str, folder: Path) -> tuple[Path, str] | None:
    """(its Python, its version); None where it does not install."""
    show = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    try:
        python = environment.create(folder / f"env-{peer}")
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", peer], check=True,
                       capture_output=True, timeout=600)
        found = subprocess.run([python, "-c", show, peer], check=True, capture_output=True, text=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return python, found.stdout.strip()


def cold_start(python: Path, peer: str, folder: Path) -> float:
    """Seconds of processor time of a new process that makes a shell and runs `echo hi`; the median of five."""
    empty = folder / "empty"
    empty.mkdir(exist_ok=True)
    run: list[str | Path] = [python, DRIVER, peer, empty, "60", "echo hi"]
    return median_cpu([outside(run, folder) for _ in range(6)][1:])


class Driver:
    """A peer's process over the workloads that are left."""

    def __init__(self, python: Path, peer: str, folder: Path, left: Sequence[Workload],
                 timeout: float) -> None:
        self.process = subprocess.Popen([python, DRIVER, peer, folder, f"{timeout:g}"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/")
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([[w.name, w.script] for w in left]).encode())
        self.process.stdin.close()
        self.pending = b""

    def answer(self, timeout: float) -> dict[str, Any] | None:
        """The next line; None where the time is over or the process ended."""
        assert isinstance(self.process.stdout, io.BufferedReader)
        end = time.monotonic() + timeout
        while b"\n" not in self.pending:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))
            data = self.process.stdout.read1(65536) if ready else b""
            if not data:
                return None
            self.pending += data
        line, _, self.pending = self.pending.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


def measure(python: Path, peer: str, folder: Path, chosen: Sequence[Workload],
            timeout: float) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, {"cpu": seconds, "status", "size"} or {"error": ...}). One run of each: slow ones are slow enough.

    `timeout`: seconds of processor time for one.
    """
    left = list(chosen)
    failures = 0
    while left:
        driver = Driver(python, peer, folder, left, timeout)
        try:
            if driver.answer(LOADING) is None:
                failures += 1
                if failures < 3:
                    continue
                yield from ((w.name, {"error": "did not start"}) for w in left)
                return
            failures = 0
            while left:
                workload = left.pop(0)
                answer = driver.answer(timeout * BUSY)
                if answer is None:
                    ended = driver.process.poll() is not None
                    yield workload.name, {"error": "crashed" if ended else f"more than {timeout:g} s"}
                    break
                yield workload.name, answer
                if "error" in answer:
                    break
        finally:
            driver.end()


def measure_peers(folder: Path, files: Path, chosen: Sequence[Workload], ours: dict[str, tuple[float, int]],
                  timeout: float, say: Callable[[str], object]) -> dict[str, Any]:
    """All peers; `ours`: name -> (seconds of processor time, bytes of output) of Mirage in the same run."""
    report: dict[str, Any] = {}
    for peer in PEERS:
        installed = install(peer, folder)
        if installed is None:
            say(f"\n{peer}: does not install here")
            continue
        python, version = installed
        say(f"\n{peer + ' ' + version:34} {'ours ms':>10} {'its ms':>10} {'its/ours':>8}")
        results: dict[str, Any] = {}
        report[peer] = {"version": version, "start": cold_start(python, peer, folder), "results": results}
        say(f"{'cold start: echo hi':34} {'':>10} {report[peer]['start'] * 1000:10.2f}")
        for name, result in measure(python, peer, files, chosen, timeout):
            results[name] = result
            seconds, size = ours[name]
            if "error" in result:
                say(f"{name:34} {seconds * 1000:10.2f} {'':>10} {'':>8}  {result['error']}")
                continue
            note = "" if result["size"] == size else f"  its output differs (status {result['status']})"
            say(f"{name:34} {seconds * 1000:10.2f} {result['cpu'] * 1000:10.2f} {result['cpu'] / seconds:8.1f}{note}")
    return report


__all__ = ["PEERS", "measure_peers"]
