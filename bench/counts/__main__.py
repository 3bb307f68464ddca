"""Print the table, and write it as JSON and Markdown."""
from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from mirage.bench.counts.model import Count, Unavailable, count
from mirage.bench.counts.services import SERVICES

HEAD = """\
# Calls, counted

What one command costs in requests, counted in the logs of the simulators, beside the least that would do and beside
mirage-ai {version} with the same scripts on the same simulators. Made by `make counts`. Every line runs in a new
terminal; a batch or pipeline is one request, for IMAP a command, for SQL a statement. Redis has no log: there the
mount counts. 0 at a second time means that nobody asks whether something changed. "cat of another after it" is a
file that was read before a change elsewhere.

| service | what | command | least | why | ours | mirage-ai |
|---|---|---|---|---|---|---|
"""


def row(found: Count) -> dict[str, Any]:
    script = found.script
    return {"service": found.service, "what": script.name, "command": script.line, "least": script.minimum,
            "why": script.rule, "ours": found.ours, "peer": found.peer,
            "problem": found.problem or (script.more if dearer(found) else "")}


def dearer(found: Count) -> bool:
    """Did ours take more than mirage-ai?"""
    return found.peer is not None and found.ours > found.peer


def markdown(rows: list[dict[str, Any]]) -> str:
    from mirage.bench.counts.peer import VERSION
    lines = [HEAD.format(version=VERSION)]
    notes = []
    for found in rows:
        peer = "" if found["peer"] is None else str(found["peer"])
        if found["problem"]:
            notes.append(f"{found['service']}, {found['what']}: {found['problem']}")
            peer += f" [{len(notes)}]"
        lines.append(f"| {found['service']} | {found['what']} | `{found['command'].replace('|', chr(92) + '|')}` | "
                     f"{found['least']} | {found['why']} | {found['ours']} | {peer.strip()} |\n")
    lines += ["\n", *(f"[{number}] {note}\n" for number, note in enumerate(notes, 1))] if notes else []
    return "".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m mirage.bench.counts", description=__doc__)
    parser.add_argument("--service", action="append", help="only this one; may repeat")
    parser.add_argument("--peer", action="store_true", help="also mirage-ai, in an environment below ~/.cache/mirage")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    options = parser.parse_args()
    python = None
    if options.peer:
        from mirage.bench.counts.peer import environment
        python = environment()
        if python is None:
            print("mirage-ai does not install here", file=sys.stderr)
    rows = []
    everything: list[Count] = []
    print(f"{'service':8} {'what':20} {'least':>6} {'ours':>6} {'mirage-ai':>10}")
    for service in SERVICES:
        if options.service and service.name not in options.service:
            continue
        try:
            with service.open() as account:
                counts = list(count(account, service.name))
                if python is not None:
                    from mirage.bench.counts.peer import add
                    add(python, account, counts)
        except Unavailable as e:
            print(f"{service.name:8} not installed here: {e}")
            continue
        everything += counts
        for found in counts:
            peer = "" if found.peer is None else str(found.peer)
            print(f"{service.name:8} {found.script.name:20} {found.script.minimum:6} {found.ours:6} {peer:>10}  "
                  f"{found.problem}")
            rows.append(row(found))
    worse = [found for found in everything
             if found.ours > found.script.minimum or dearer(found) and not found.script.more]
    for found in worse:
        print(f"{found.service}, {found.script.name}: more calls than needed", file=sys.stderr)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(markdown(rows), encoding="utf-8")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
