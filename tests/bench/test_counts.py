"""Calls that commands cost, against the least that would do; bench/counts has the scripts."""
from __future__ import annotations

import json

import pytest

from mirage.bench.counts.__main__ import markdown, row
from mirage.bench.counts.model import Count, Script, Unavailable, count, standard
from mirage.bench.counts.services import SERVICES

# Stores that take more than the least (docs/counts.md): no script may take more than so many.
MORE = {"postgres": 65, "redis": 5, "mongodb": 3, "notion": 55}


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_no_more_calls_than_needed(service):
    try:
        with service.open() as account:
            counts = list(count(account, service.name))
    except Unavailable as e:
        pytest.skip(f"not installed: {e}")
    assert {"cold ls", "second ls", "second cat", "cat by path, cold"} <= {c.script.name for c in counts}
    for found in counts:
        assert not found.problem, found
        assert found.output, found
        assert found.ours <= max(found.script.minimum, MORE.get(service.name, 0)), found


def test_rules_and_table():
    scripts = standard("/m/in", 250, 100, "/m/in/f", 2, "/m", "word", 3, first=1, details=2, change="touch x")
    assert [s.minimum for s in scripts] == [6, 1, 1, 5, 3, 4]
    text = markdown([row(Count("m", scripts[0], 6, 50)), row(Count("m", Script("a", "b | c", 1, "why"), 2, problem="bad"))])
    assert "| m | cold ls | `ls '/m/in'` | 6 | first call + pages of 100 + batches of names | 6 | 50 |" in text
    assert "`b \\| c`" in text and "[1] m, a: bad" in text
    assert json.dumps(row(Count("m", scripts[0], 6)))
