"""Thousands of hostile scripts: `python -m tests.hostile.run [--count N] [--seed N] [--jobs N] [--from N]`.

Each script runs in a Terminal of its own; see `tests.hostile.check` for what must hold. A script is the same for the
same seed and number. Exit status 1 when something did not hold.
"""
from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

BATCH = 500


def worker(seed: int, first: int, count: int) -> None:
    """Run scripts first..first+count-1, a line of JSON before and after each."""
    from tests.hostile.check import check, living_greenlets, living_terminals
    from tests.hostile.grammar import script
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    sys.setswitchinterval(0.001)
    check("python3 -c 0", watchdog=True)                     # its library keeps six descriptors for the whole process
    descriptors, rss = _open_files(), 0
    for number in range(first, first + count):
        text = script(seed, number)
        print(json.dumps({"begin": number}), flush=True)
        outcome = check(text, watchdog=True)
        if number == first + 99:
            rss = _rss()
        print(json.dumps({"end": number, "problems": outcome.problems, "parsed": outcome.parsed,
                          "seconds": outcome.seconds, "status": outcome.status}), flush=True)
    left = {"greenlets": living_greenlets(), "terminals": living_terminals(), "files": _open_files() - descriptors}
    print(json.dumps({"left": left, "grown": _rss() - rss if rss else 0,
                      "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10}), flush=True)


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def _rss() -> int:
    """MiB in memory now."""
    try:
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * resource.getpagesize() >> 20
    except OSError:
        return 0


def batch(seed: int, first: int, count: int) -> dict[str, Any]:
    """One worker process; when it dies, another one goes on behind the script that it died of."""
    out: dict[str, Any] = {"ran": 0, "parsed": 0, "slow": 0, "failed": [], "statuses": {}, "left": [], "peak": 0}
    at, end = first, first + count
    while at < end:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.run", "--worker", str(at), str(end - at), "--seed", str(seed)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines, errors = process.communicate()
        begun = None
        for line in lines.splitlines():
            record = json.loads(line)
            if "begin" in record:
                begun = record["begin"]
            elif "end" in record:
                at, begun = record["end"] + 1, None
                out["ran"] += 1
                out["parsed"] += record["parsed"]
                out["slow"] += record["seconds"] > 0.5
                status = str(record["status"])
                out["statuses"][status] = out["statuses"].get(status, 0) + 1
                if record["problems"]:
                    out["failed"].append((record["end"], record["problems"]))
            else:
                out["peak"] = max(out["peak"], record["peak"])
                if any(record["left"].values()) or record["grown"] > 150:
                    out["left"].append({"first": first, **record})
        if process.returncode:
            number = at if begun is None else begun
            out["failed"].append((number, [f"the worker ended with {process.returncode}: {errors[-3000:]}"]))
            out["ran"] += 1
            at = number + 1
    return out


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.run", description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--show", type=int, help="print the script with this number and run it here")
    parser.add_argument("--worker", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.seed, *options.worker)
        return 0
    from tests.hostile.grammar import script
    if options.show is not None:
        return show(script(options.seed, options.show))
    start = time.monotonic()
    pieces = [(options.seed, first, min(BATCH, options.first + options.count - first))
              for first in range(options.first, options.first + options.count, BATCH)]
    total: dict[str, Any] = {"ran": 0, "parsed": 0, "slow": 0, "peak": 0}
    failed, statuses, left = [], {}, []
    with ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(lambda piece: batch(*piece), pieces):
            for key in ("ran", "parsed", "slow"):
                total[key] += result[key]
            total["peak"] = max(total["peak"], result["peak"])
            failed += result["failed"]
            left += result["left"]
            for status, number in result["statuses"].items():
                statuses[status] = statuses.get(status, 0) + number
            for number, problems in result["failed"]:
                print(f"--- script {number}: {script(options.seed, number)!r}"[:2000])
                for problem in problems:
                    print("    " + problem.strip().replace("\n", "\n    ")[-1500:])
            sys.stdout.flush()
    for record in left:
        print("left behind:", record)
    seconds = time.monotonic() - start
    common = sorted(statuses.items(), key=lambda item: -item[1])[:8]
    print(f"{total['ran']} scripts (seed {options.seed}) in {seconds:.0f} s; {total['parsed']} parsed "
          f"({100 * total['parsed'] // max(1, total['ran'])} %); {total['slow']} longer than 0.5 s; "
          f"peak of a worker {total['peak']} MiB")
    print("exit statuses: " + ", ".join(f"{status}: {number}" for status, number in common))
    print(f"{len(failed)} failed, {len(left)} batches left something behind")
    return 1 if failed or left else 0


def show(text: str) -> int:
    from tests.hostile.check import check
    print(text)
    outcome = check(text, watchdog=True)
    print(f"--- status {outcome.status}, {outcome.seconds:.2f} s, parsed: {outcome.parsed}")
    print("\n".join(outcome.problems))
    return 1 if outcome.problems else 0


if __name__ == "__main__":
    sys.exit(main())
