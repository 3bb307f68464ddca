"""rg as ripgrep 14.1."""
from __future__ import annotations

import json

import pytest

from tests.commands.harness import Bench

FILES = {"a.txt": "foo bar\nbaz\nFoo foo\n", "d/b.py": "import foo\nx = 1\nfoo()\n", "d/.hid": "foo\n", "e.md": "# T\nfoo-bar\n", "bin": "x\0foo\n", ".ignore": "*.md\n", "m": "a\nb\nc\n"}


@pytest.fixture(scope="module")
def bench():
    return Bench(FILES)


@pytest.mark.parametrize(("args", "out", "status"), [
    ("foo a.txt", "foo bar\nFoo foo\n", 0), ("foo", "a.txt:foo bar\na.txt:Foo foo\nd/b.py:import foo\nd/b.py:foo()\n", 0), ("-n foo ./d", "./d/b.py:1:import foo\n./d/b.py:3:foo()\n", 0), ("-S foo -c", "a.txt:2\nd/b.py:2\n", 0),
    ("-l foo", "a.txt\nd/b.py\n", 0), ("-o fo+ a.txt", "foo\nfoo\n", 0), ("-r ${1}x (o)o a.txt", "fox bar\nFox fox\n", 0), ("-v foo a.txt", "baz\n", 0), ("-w foo e.md", "foo-bar\n", 0), ("-F foo( d", "d/b.py:foo()\n", 0),
    ("-t py foo", "d/b.py:import foo\nd/b.py:foo()\n", 0), ("-g *.txt foo", "a.txt:foo bar\na.txt:Foo foo\n", 0), ("-g !d foo -l", "a.txt\n", 0), ("--hidden -l foo d", "d/.hid\nd/b.py\n", 0), ("--no-ignore -l foo", "a.txt\nd/b.py\ne.md\n", 0),
    ("--files", "a.txt\nbin\nd/b.py\nm\n", 0), ("--vimgrep -i foo a.txt", "a.txt:1:1:foo bar\na.txt:3:1:Foo foo\na.txt:3:5:Foo foo\n", 0), ("-U -n a\\nb m", "1:a\n2:b\n", 0), ("-C1 -n b m", "1-a\n2:b\n3-c\n", 0), ("-m1 foo a.txt", "foo bar\n", 0),
    ("--heading foo d", "d/b.py\nimport foo\nfoo()\n", 0), ("-P (?<=f)oo -o a.txt", "oo\noo\n", 0), ("zzz", "", 1), ("--sortr path -l foo", "d/b.py\na.txt\n", 0), ("--count-matches foo a.txt", "2\n", 0), ("foo bin", 'binary file matches (found "\\0" byte around offset 1)\n', 0),
])
def test_output(bench, args, out, status):
    assert bench.run(["rg", *args.split(" ")]) == (out.encode(), b"", status)


def test_errors(bench):
    assert bench.run(["rg"])[2] == 2
    assert bench.run(["rg", "--bogus", "x"]) == (b"", b"rg: unrecognized flag --bogus\n", 2)
    assert bench.run(["rg", "(", "a.txt"])[2] == 2
    assert bench.run(["rg", "x", "nope"]) == (b"", b"rg: nope: No such file or directory (os error 2)\n", 2)


def test_standard_input_and_json(bench):
    assert bench.run(["rg", "b"], stdin="ab\nc\n")[0] == b"ab\n"
    rows = [json.loads(line) for line in bench.run(["rg", "--json", "baz", "a.txt"])[0].splitlines()]
    assert [row["type"] for row in rows] == ["begin", "match", "end", "summary"]
    assert rows[1]["data"] == {"path": {"text": "a.txt"}, "lines": {"text": "baz\n"}, "line_number": 2, "absolute_offset": 8,
                               "submatches": [{"match": {"text": "baz"}, "start": 0, "end": 3}]}


def test_gitignore_counts_inside_a_repository():
    files = {".gitignore": "*.log\n!keep.log\n/build/\n", "x.log": "hit\n", "keep.log": "hit\n", "build/o": "hit\n", "sub/build/p": "hit\n"}
    assert Bench(files).run(["rg", "-l", "hit"])[0] == b"build/o\nkeep.log\nsub/build/p\nx.log\n"
    assert Bench({**files, ".git/": None}).run(["rg", "-l", "hit"])[0] == b"keep.log\nsub/build/p\n"
