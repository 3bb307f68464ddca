"""`make bench`: start-up against `python -c pass`, lines and loops against the real bash and GNU tools.

    python -m mirage.bench.speed [--json FILE] [--only NAME] [--no-wheel]

The wheel is built and installed into a temporary virtual environment (needs the package index), so that start-up is
what a user has. bash runs only scripts of this file, in an empty temporary folder.
"""
from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 5

SCRIPTS = {
    "arithmetic loop, 100,000": "s=0; for ((i=0;i<100000;i++)); do ((s+=i)); done; echo $s",
    "while read, 100,000 lines": "n=0; while read -r line; do ((n++)); done < lines.txt; echo $n",
    "function calls, 20,000": "f(){ local x=$1; r=$((x+1)); }; r=0; for ((i=0;i<20000;i++)); do f $r; done; echo $r",
    "string building, 20,000": "s=; for ((i=0;i<20000;i++)); do s+=ab; done; echo ${#s}",
    "command substitutions, 2,000": "for ((i=0;i<2000;i++)); do x=$(echo $i); done; echo $x",
    "pipeline, 10 MB": "cat big.txt | grep ERROR | wc -l",
    "grep -E, 10 MB": "grep -cE 'ERROR.*(disk|net) [0-9]+' big.txt",
    "sort, 10 MB": "sort big.txt | tail -1",
    "cut | sort | uniq -c, 10 MB": "cut -d' ' -f3 big.txt | sort | uniq -c | sort -rn | head -3",
    "sed s///g, 10 MB": "sed 's/ERROR/error/g' big.txt | tail -1",
    "awk sum by key, 10 MB": "awk '{s[$3]+=$5} END{for(k in s) n++; print n}' big.txt",
}


class Row:
    """One comparison: median seconds of ours and of the other, and the ratio (below 1: ours is faster)."""

    def __init__(self, name: str, ours: float, other: float, against: str) -> None:
        self.name, self.ours, self.other, self.against = name, ours, other, against

    @property
    def ratio(self) -> float:
        return self.ours / self.other

    def __str__(self) -> str:
        return f"{self.name:32} {self.ours * 1000:10.2f} {self.other * 1000:10.2f} {self.ratio:8.2f}  {self.against}"


def alternate(ours: Callable[[], object], other: Callable[[], object], rounds: int = ROUNDS) -> tuple[float, float]:
    """Median seconds of both, run in turns so that noise hits them alike; one round to warm up."""
    times: tuple[list[float], list[float]] = ([], [])
    for i in range(rounds + 1):
        for which, function in enumerate((ours, other)):
            started = time.perf_counter()
            function()
            if i:
                times[which].append(time.perf_counter() - started)
    return statistics.median(times[0]), statistics.median(times[1])


def cold_start(folder: Path) -> Row:
    """`mirage exec 'echo hi'` from an installed wheel against `python -c pass` of the same environment."""
    environment = folder / "env"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    pip = [environment / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, str(ROOT)], check=True)
    script = environment / "bin/mirage"

    def ours() -> None:
        subprocess.run([script, "exec", "echo hi"], check=True, stdout=subprocess.DEVNULL, cwd=folder)

    def python() -> None:
        subprocess.run([environment / "bin/python", "-c", "pass"], check=True, cwd=folder)

    ours()
    return Row("cold start: echo hi", *alternate(ours, python, 15), "python -c pass")


def live_echo() -> Row:
    """`echo hi` in a live Terminal against a fresh `bash -c`."""
    from mirage.terminal import Terminal
    with Terminal() as terminal:
        count = 500

        def ours() -> None:
            for _ in range(count):
                terminal.run("echo hi")

        def bash() -> None:
            subprocess.run(["bash", "-c", "echo hi"], check=True, stdout=subprocess.DEVNULL)

        mine, other = alternate(ours, bash, 15)
    return Row("live: echo hi", mine / count, other, "bash -c 'echo hi'")


def scripts(folder: Path, only: str | None) -> list[Row]:
    from mirage.mounts.memory import Memory
    from mirage.terminal import Terminal
    lines = "".join(f"line {i} of the file\n" for i in range(100_000)).encode()
    kinds = ("disk", "net", "cpu", "ram")
    big = "".join(f"2026-01-{i % 28 + 1:02} {('INFO', 'WARN', 'ERROR')[i % 3]} host{i % 97} {kinds[i % 4]} {i * 7919 % 10007} ms\n"
                  for i in range(290_000)).encode()
    (folder / "lines.txt").write_bytes(lines)
    (folder / "big.txt").write_bytes(big)
    rows = []
    with Terminal({"/bench": Memory({"lines.txt": lines, "big.txt": big})}, cwd="/bench") as terminal:
        for name, script in SCRIPTS.items():
            if only and only not in name:
                continue
            answers: dict[str, bytes] = {}

            def ours(script: str = script, answers: dict[str, bytes] = answers) -> None:
                answers["ours"] = terminal.run(script).stdout_bytes

            def bash(script: str = script, answers: dict[str, bytes] = answers) -> None:
                answers["bash"] = subprocess.run(["bash", "-c", script], cwd=folder, stdout=subprocess.PIPE, check=True,
                                                 env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}).stdout

            rows.append(Row(name, *alternate(ours, bash, 3), "bash"))
            if answers["ours"] != answers["bash"]:
                print(f"different answers: {name}: {answers}", file=sys.stderr)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure Mirage against other programs in the same run.")
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--only", help="only workloads whose name contains this")
    parser.add_argument("--no-wheel", action="store_true", help="leave out the cold start, which builds a wheel")
    options = parser.parse_args()
    if shutil.which("bash") is None:
        print("bash was not found: nothing to compare with", file=sys.stderr)
        return 1
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    rows = []
    print(f"{'workload':32} {'ours ms':>10} {'other ms':>10} {'ratio':>8}  against")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for make in (*(() if options.no_wheel else (lambda: cold_start(folder),)), live_echo):
            if options.only is None:
                rows.append(make())
                print(rows[-1], flush=True)
        for row in scripts(folder, options.only):
            rows.append(row)
            print(row, flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps([{**vars(r), "ratio": r.ratio} for r in rows], indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
