"""Accept/reject of our parser against bash, for every ``script`` of a file of JSON lines.

    python -m tests.shell.parser.agreement CASES.jsonl [--show N]

Both sides read the same text with ``extglob`` on. ``bash -n`` leaves with 0 after some errors (those in ``[[ ]]``), so
its messages count too. Scripts are read by bash, never run (``-n``, restricted, no PATH, an empty folder).
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mirage.shell.parse import parse

BASH = shutil.which("bash")
COMPLAINT = re.compile("syntax error|unexpected EOF|unexpected arg|unexpected tok|expected")


def bash_verdict(script: str, folder: str) -> tuple[bool, str]:
    """Does bash take the script, and what does it say?"""
    assert BASH
    done = subprocess.run(
        [BASH, "--norc", "-r", "-O", "extglob", "-n"],
        input=script.encode("utf-8", "surrogateescape"),
        capture_output=True,
        env={"PATH": "/nonexistent", "LC_ALL": "C.UTF-8"},
        cwd=folder,
        timeout=20,
    )
    said = done.stderr.decode("utf-8", "replace").strip()
    return done.returncode == 0 and not COMPLAINT.search(said), said


def disagreements(scripts: list[tuple[str, str]]) -> Iterator[tuple[str, str, str, str]]:
    """``(name, script, bash's words, ours)`` where the verdicts differ."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        verdicts = pool.map(lambda item: bash_verdict(item[1], folder), scripts)
        for (name, script), (valid, said) in zip(scripts, verdicts, strict=True):
            error = parse(script, extglob=True).error
            if (error is None) != valid:
                yield name, script, said.split("\n")[0] if not valid else "accepts", str(error or "accepts")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("cases", type=Path)
    options.add_argument("--show", type=int, default=50)
    given = options.parse_args()
    scripts: list[tuple[str, str]] = []
    for number, line in enumerate(given.cases.read_text("utf-8").splitlines(), 1):
        case = json.loads(line)
        if isinstance(case.get("script"), str) and "\0" not in case["script"]:
            scripts.append((str(case.get("id", number)), case["script"]))
    found = list(disagreements(scripts))
    for name, script, theirs, ours in found[: given.show]:
        print(f"{name}\n  bash: {theirs}\n  ours: {ours}\n  {script[:300]!r}")
    print(f"{len(scripts)} scripts, {len(found)} disagreements")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
