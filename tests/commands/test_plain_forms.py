"""Frequent forms of sort -n, grep -n, find and ls -R, which go quick ways, and forms just beside them: GNU's values."""
from __future__ import annotations

import shlex

import pytest

from tests.commands.harness import Bench

LOG = "".join(f"{'ok' if i % 2 else 'no'} {i}\n" for i in range(1, 7))
FILES = {"n": "7\n007\n-0\n0\n7\n1_0\n5\n", "i": "10\n9\n-3\n9\n", "cut": "10\n9\n-3\n9", "z": "7\n07\n7\n", "log": LOG,
         "last": LOG + "ok end", "d/.json": "hit\n", "d/a.json": "hit\n", "d/ajson": "hit\n", "l/.h": "x", "l/e/x": "x",
         "t/f": "x", "empty": ""}


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(FILES)


@pytest.mark.parametrize(("line", "out"), [
    ("sort -n n", "-0\n0\n1_0\n5\n007\n7\n7\n"),
    ("sort -rn i", "10\n9\n9\n-3\n"),
    ("sort -nu cut", "-3\n9\n10\n"),
    ("sort -nu z", "7\n"),
    ("sort -n empty", ""),
    ("grep -n ok log", "1:ok 1\n3:ok 3\n5:ok 5\n"),
    ("grep -nv ok log", "2:no 2\n4:no 4\n6:no 6\n"),
    ("grep -nH ok last", "last:1:ok 1\nlast:3:ok 3\nlast:5:ok 5\nlast:7:ok end\n"),
    ("find l -mindepth 2", "l/e/x\n"),
    ("find t", "t\nt/f\n"),
    ("ls -R l", "l:\ne\n\nl/e:\nx\n"),
    ("ls -AR l", "l:\n.h\ne\n\nl/e:\nx\n"),
    ("grep -rl '--include=.*json' hit d", "d/.json\n"),
    ("grep -rl '--include=*a*.json' hit d", "d/a.json\n"),
])
def test_output(bench: Bench, line: str, out: str) -> None:
    assert bench.run(shlex.split(line)) == (out.encode(), b"", 0)
