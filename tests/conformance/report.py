"""`make conformance CASES=DIR`: run a folder of cases (run.py, cases.jsonl) and write docs/conformance.md.

Without the folder it says so and ends with status 0: the cases are not part of this project.
"""
from __future__ import annotations

import argparse
import collections
import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.conformance.known import reason

ROOT = Path(__file__).resolve().parents[2]
HEADER = """\
# Conformance

Cases that were collected from the test suites of other shells and tools, with the answers of bash 5.2.37 and the GNU tools of
Debian 13, run against Mirage. A case passes when stdout is the same byte for byte and the exit status is the same.

`make conformance CASES=DIR` runs them (DIR holds `run.py` and `cases.jsonl`; they are not part of this project) and writes this
page.

"""


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the conformance cases and write docs/conformance.md.")
    parser.add_argument("cases", nargs="?", help="folder with run.py and cases.jsonl")
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--timeout", default="15", help="seconds for one case")
    options = parser.parse_args()
    if not options.cases or not (Path(options.cases) / "run.py").is_file():
        print(f"skipped: no cases in {options.cases or '(CASES is not set)'}; run: make conformance CASES=DIR")
        return 0
    folder = Path(options.cases)
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "results.jsonl"
        subprocess.run([sys.executable, str(folder / "run.py"), "--engine",
                        f"{ROOT / 'tests/conformance/engine.py'}:MirageEngine", "--jobs", options.jobs,
                        "--timeout", options.timeout, "--cases", str(folder / "cases.jsonl"), "--out", str(out)],
                       cwd=ROOT, check=False)
        rows = [json.loads(line) for line in out.read_text().splitlines()]
    (ROOT / "docs/conformance.md").write_text(page(rows))
    print(f"\nwritten: docs/conformance.md\n{summary(rows)}")
    return 0


def summary(rows: list[dict[str, Any]]) -> str:
    shell = [r for r in rows if r["area"].startswith("bash/")]
    bad = [r for r in rows if r.get("kind") in ("timeout", "crash")]
    return f"bash/*: {rate(shell)}, all: {rate(rows)}, crashes and hangs: {len(bad)}"


def rate(rows: list[dict[str, Any]]) -> str:
    passed = sum(r["pass"] for r in rows)
    return f"{passed} of {len(rows)} ({100 * passed / max(1, len(rows)):.1f} %)"


def page(rows: list[dict[str, Any]]) -> str:
    areas: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)
    for row in rows:
        areas[row["area"]].append(row)
    lines = [f"Run of {datetime.date.today().isoformat()}: {summary(rows)}.", "", "| area | passed | cases | % |",
             "|---|---|---|---|"]
    for area in sorted(areas):
        passed = sum(r["pass"] for r in areas[area])
        lines.append(f"| {area} | {passed} | {len(areas[area])} | {100 * passed / len(areas[area]):.1f} |")
    failed = [r for r in rows if not r["pass"]]
    reasons: dict[str, list[str]] = collections.defaultdict(list)
    for row in failed:
        reasons[reason(row["id"])].append(f"`{row['id']}` ({row['area']})")
    unknown = reasons.pop("", [])
    lines += ["", "## Failing cases", ""]
    lines += [f"- {why}: {', '.join(names)}" for why, names in sorted(reasons.items())]
    if unknown:
        lines += ["", "Without an explanation:", "", *(f"- {name}" for name in unknown)]
    return HEADER + "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
