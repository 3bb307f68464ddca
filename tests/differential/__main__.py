"""Many generated cases, ours against the real programs: `python -m tests.differential [--count N] [--seed S]
[--only shell|tools|TOOL] [--rootfs DIR]`.

Prints every difference, made small, and a summary; the exit status is 1 when there is one without an explanation
(`explained.py`). Case numbers go on from `--first`; the same seed and number give the same case.
"""
from __future__ import annotations

import argparse
import collections
import os
import sys
import time

from tests.differential.cases import case
from tests.differential.compare import compare, shrink
from tests.differential.explained import reason
from tests.differential.jail import Jail, available, versions
from tests.differential.tools import TOOLS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description="Compare with the real programs.")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", choices=["shell", "tools", *TOOLS], default="")
    parser.add_argument("--rootfs", default=os.environ.get("MIRAGE_REFERENCE", "/"), help="directory with a Debian 13")
    parser.add_argument("--keep", action="store_true", help="do not make differences small")
    options = parser.parse_args()
    problem = available(options.rootfs)
    if problem:
        print(f"skipped: {problem}")
        return 0
    seen: collections.Counter[str] = collections.Counter()
    explained: collections.Counter[str] = collections.Counter()
    unexplained = 0
    started = time.monotonic()
    with Jail(options.rootfs) as jail:
        found, other = versions(jail)
        print("reference: " + "; ".join(found.values()))
        if other:
            print(f"not the versions that Mirage follows: {', '.join(other)}; differences may be theirs")
        for number in range(options.first, options.first + options.count):
            one = case(options.seed, number, options.only)
            seen[one.kind] += 1
            if not (number + 1) % 1000:
                print(f"... {number + 1}: {unexplained} unexplained", file=sys.stderr, flush=True)
            difference = compare(jail, one)
            if difference is None:
                continue
            if not options.keep:
                difference = shrink(jail, difference)
            why = reason(difference)
            if why:
                explained[why] += 1
                continue
            unexplained += 1
            print(f"{difference.text()}\n  (seed {options.seed}, number {number})", flush=True)
    print(f"{options.count} runs in {time.monotonic() - started:.0f} s, {unexplained} unexplained differences, "
          f"{sum(explained.values())} explained")
    for why, count in explained.most_common():
        print(f"  {count}: {why}")
    print("runs: " + ", ".join(f"{kind} {count}" for kind, count in sorted(seen.items())))
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
