"""Processor time of ours and of another program, in turns."""
from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


class Timing:
    """One run: seconds of processor time (user and system) and of the clock, and what was written."""

    __slots__ = ("clock", "cpu", "output")

    def __init__(self, cpu: float, clock: float, output: bytes) -> None:
        self.cpu, self.clock, self.output = cpu, clock, output


def inside(function: Callable[[], bytes]) -> Timing:
    """A call in this process, all its threads counted."""
    cpu, clock = time.process_time(), time.perf_counter()
    output = function()
    return Timing(time.process_time() - cpu, time.perf_counter() - clock, output)


def outside(argv: Sequence[str | Path], cwd: Path, env: Mapping[str, str] = ENVIRONMENT) -> Timing:
    """A program, with the children it waited for; its output goes to a file in memory where there is such a place."""
    with tempfile.TemporaryFile(dir=memory_folder()) as out:
        clock = time.perf_counter()
        process = subprocess.Popen(argv, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        clock = time.perf_counter() - clock
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return Timing(usage.ru_utime + usage.ru_stime, clock, out.read())


def memory_folder() -> str | None:
    return "/dev/shm" if os.path.isdir("/dev/shm") and os.access("/dev/shm", os.W_OK) else None


def alternate(ours: Callable[[], Timing], other: Callable[[], Timing],
              rounds: int) -> tuple[list[Timing], list[Timing]]:
    """Runs in turns so that noise hits both alike, after one round to warm up."""
    runs: tuple[list[Timing], list[Timing]] = ([], [])
    for number in range(rounds + 1):
        for place, function in enumerate((ours, other)):
            timing = function()
            if number:
                runs[place].append(timing)
    return runs


def median_cpu(runs: Sequence[Timing]) -> float:
    return statistics.median(run.cpu for run in runs)


def median_clock(runs: Sequence[Timing]) -> float:
    return statistics.median(run.clock for run in runs)
