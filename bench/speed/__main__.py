"""`make bench`: Mirage against the real bash and GNU tools, workload by workload, in one run.

    python -m mirage.bench.speed [--json FILE] [--only TEXT] [--rounds N] [--no-wheel] [--peers]

The figure that counts is the ratio of processor times (medians, runs in turns). bash runs only the scripts of
`workloads.py`, in a temporary folder. For the cold start the wheel is built and installed into a temporary virtual
environment (needs the package index), so that start-up is what a user has. `--peers` installs other virtual shells
from PyPI, each into its own environment.
"""
from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from mirage.bench import environment
from mirage.bench.speed import data, mounted
from mirage.bench.speed.fairness import longest_stalls, stream_memory
from mirage.bench.speed.measure import Timing, alternate, inside, median_clock, median_cpu, memory_folder, outside
from mirage.bench.speed.workloads import Workload, peer_workloads, workloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.terminal import Result
    from mirage.vfs.types import Mount

ROOT = Path(__file__).resolve().parents[2]


class Row:
    """One comparison in seconds; ratio: processor time of ours by that of the other (below 1: ours takes less)."""

    def __init__(self, group: str, name: str, ours: list[Timing], other: list[Timing], against: str,
                 count: int = 1) -> None:
        self.group, self.name, self.against = group, name, against
        self.ours, self.other = median_cpu(ours) / count, median_cpu(other)
        self.ours_clock, self.other_clock = median_clock(ours) / count, median_clock(other)
        self.size = len(ours[0].output)
        self.ratio = self.ours / max(self.other, 1e-9)

    def __str__(self) -> str:
        return f"{self.name:34} {self.ours * 1000:10.2f} {self.other * 1000:10.2f} {self.ratio:8.2f}  {self.against}"


def cold_start(folder: Path) -> Row:
    """`mirage exec 'echo hi'` from an installed wheel against `python -c pass` of the same environment."""
    python = environment.create(folder / "env")
    pip: list[str | Path] = [python, "-m", "pip", "install", "--quiet",
                             "--disable-pip-version-check"]
    subprocess.run([*pip, str(ROOT)], check=True)
    here = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}
    script = python.with_name("mirage")
    runs = alternate(lambda: outside([script, "exec", "echo hi"], folder, here),
                     lambda: outside([python, "-c", "pass"], folder, here), 15)
    return Row("start", "cold start: echo hi", *runs, "python -c pass")


def live_echo(folder: Path) -> Row:
    """`echo hi` in a live Terminal against a fresh `bash -c`."""
    from mirage.terminal import Terminal
    with Terminal() as terminal:
        count = 500

        def ours() -> bytes:
            for _ in range(count):
                terminal.run("echo hi")
            return b""

        runs = alternate(lambda: inside(ours), lambda: outside(["bash", "-c", "echo hi"], folder), 15)
    return Row("start", "live: echo hi", *runs, "bash -c 'echo hi'", count)


def compare(folder: Path, files: dict[str, bytes], chosen: list[Workload], rounds: int) -> Iterator[Row]:
    """Every workload in a Terminal with files in memory (or a host mount of the folder) and in bash there.

    The policy gate and the journal are on, as where an agent works.
    """
    from mirage.mounts.host import Host
    from mirage.mounts.memory import Memory
    from mirage.terminal import Terminal
    mounts: dict[str, Mount] = {"/bench": Memory(files), "/host": Host(str(folder), writable=True)}
    with Terminal(mounts, policy="default: allow\n", cwd="/bench") as terminal:
        for workload in chosen:
            where = "/host" if workload.name.startswith("host:") else "/bench"

            def ours(script: str = f"(cd {where}\n{workload.script}\n)") -> Timing:
                return inside(lambda: _output(terminal.run(script)))

            def bash(script: str = workload.script) -> Timing:
                return outside(["bash", "-c", script], folder)

            mine, theirs = alternate(ours, bash, rounds)
            if not same(workload, mine[0].output, theirs[0].output):
                print(f"{workload.name}: the outputs differ: {mine[0].output[:200]!r} {theirs[0].output[:200]!r}",
                      file=sys.stderr)
            yield Row(workload.group, workload.name, mine, theirs, "bash, GNU")


def against_peers(folder: Path, rounds: int, timeout: float, show: Callable[[Row], None]) -> dict[str, object]:
    """Smaller workloads over a tenth of the files: Mirage and bash in turns, then one peer after the other."""
    from mirage.bench.speed.peers import measure_peers
    small = folder / "small"
    small.mkdir()
    files = data.make(10)
    data.write(small, files)
    ours: dict[str, tuple[float, int]] = {}
    for row in compare(small, files, peer_workloads(), rounds):
        ours[row.name] = row.ours, row.size
        show(row)
    return measure_peers(folder, small, peer_workloads(), ours, timeout, print)


def _output(result: Result) -> bytes:
    if result.stderr_bytes:
        print(result.stderr, file=sys.stderr)
    return result.stdout_bytes


def same(workload: Workload, ours: bytes, theirs: bytes) -> bool:
    return ours == theirs if workload.ordered else sorted(ours.split(b"\n")) == sorted(theirs.split(b"\n"))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m mirage.bench.speed",
                                     description="Measure Mirage against other programs in the same run.")
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--only", help="only workloads whose group or name contains this")
    parser.add_argument("--rounds", type=int, default=3, help="measured runs of each workload (default 3)")
    parser.add_argument("--no-wheel", action="store_true", help="leave out the cold start, which builds a wheel")
    parser.add_argument("--peers", action="store_true", help="also measure virtual shells from PyPI")
    parser.add_argument("--timeout", type=float, default=10.0,
                        help="seconds of processor time for one workload of a peer (default 10)")
    options = parser.parse_args()
    if shutil.which("bash") is None:
        print("bash was not found: nothing to compare with", file=sys.stderr)
        return 1
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    report: dict[str, object] = {"machine": platform.platform(), "python": platform.python_version(),
                                 "processors": os.cpu_count(), "load": os.getloadavg()}
    chosen = [w for w in workloads() if not options.only or options.only in w.name or options.only in w.group]
    rows: list[Row] = []

    def show(row: Row) -> None:
        if not rows or rows[-1].group != row.group:
            print(f"\n{row.group:34} {'ours ms':>10} {'other ms':>10} {'ratio':>8}  against")
        rows.append(row)
        print(row, flush=True)

    with tempfile.TemporaryDirectory(dir=memory_folder()) as name:
        folder = Path(name) / "data"
        folder.mkdir()
        files = data.make()
        data.write(folder, files)
        starts: list[Callable[[Path], Row]] = [live_echo] if options.no_wheel else [cold_start, live_echo]
        for start in starts if options.only is None else ():
            show(start(Path(name)))
        for row in compare(folder, files, chosen, options.rounds):
            show(row)
        report["rows"] = [vars(row) for row in rows]
        if options.only is None or options.only == "stalls":
            report["stalls"] = longest_stalls(print)
        if options.only is None or options.only == "streams":
            report["memory"] = stream_memory(print)
        if options.only is None or options.only == "fuse":
            report["mount"] = mounted.run(print, options.rounds)
        if options.peers:
            report["peers"] = against_peers(Path(name), options.rounds, options.timeout, show)
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
