"""Calls that commands cost, against the least that would do; bench/counts has the scripts."""
from __future__ import annotations

import json
from pathlib import Path

import pytest

from mirage.bench.counts.__main__ import markdown, row
from mirage.bench.counts.model import Count, Script, Unavailable, count, standard
from mirage.bench.counts.services import SERVICES


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_no_more_calls_than_needed(service):
    try:
        with service.open() as account:
            counts = list(count(account, service.name))
    except Unavailable as e:
        pytest.skip(f"not installed: {e}")
    names = {c.script.name for c in counts}
    assert {"cold ls", "second ls", "second cat", "cat by path, cold"} <= names
    assert service.name in ("http", "repo") or {"ls after a change", "cat of another after it"} <= names
    for found in counts:
        assert not found.problem, found
        assert found.output, found
        assert found.ours <= found.script.minimum, found


def test_the_table_has_every_service_and_keeps_what_it_says():
    """docs/counts.md: ours is never more than the least, nor more than mirage-ai where no note says why."""
    text = (Path(__file__).parents[2] / "docs/counts.md").read_text(encoding="utf-8")
    rows = [line.replace("\\|", "").strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    assert {row[0] for row in rows} == {service.name for service in SERVICES}
    for service, what, _, least, _, ours, *peer in rows:
        assert int(ours) <= int(least), (service, what)
        number, _, note = (peer[0] if peer else "").strip(" |").partition(" ")
        assert not number or int(ours) <= int(number) or note, (service, what)
    compared = {row[0] for row in rows if len(row) > 6 and row[6].strip(" |")}
    assert {"gmail", "slack", "repo", "s3", "postgres"} <= compared


def test_rules_and_table():
    scripts = standard("/m/in", 250, 100, "/m/in/f", 2, "/m", "word", 3, first=1, details=2, change="touch %", shows="f%")
    assert [s.minimum for s in scripts] == [6, 1, 1, 5, 3, 5, 1]
    assert (scripts[5].before[1], scripts[5].shows, scripts[6].before[1]) == ("touch 1", "f1", "touch 2")
    text = markdown([row(Count("m", scripts[0], 6, 50)), row(Count("m", Script("a", "b | c", 1, "why"), 2, problem="bad"))])
    assert "| m | cold ls | `ls '/m/in'` | 6 | first call + pages of 100 + batches of names | 6 | 50 |" in text
    assert "`b \\| c`" in text and "[1] m, a: bad" in text
    dear = Script("second ls", "ls", 1, "why", more="it asks")
    assert row(Count("m", dear, 1, 0))["problem"] == "it asks" and row(Count("m", dear, 1, 1))["problem"] == ""
    assert json.dumps(row(Count("m", scripts[0], 6)))
