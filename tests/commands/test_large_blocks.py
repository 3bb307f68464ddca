"""Large inputs take the way in C, small ones the way line by line: both must write the same.

A large file is the small one many times over, so what a tool writes of it is what it writes of the small one, repeated.
"""
from __future__ import annotations

import pytest

from tests.commands import harness

LINES = ("one two three", "two,2 b", "", "aaa  bbb", "x", "$HOME [x] a.b", "ERROR: disk 7", "error: net 12  ", " lead",
         "a b c d e f", "tab\there", "déjà vu", "Error disk")
PART = "".join(line + "\n" for line in LINES)
TIMES = 400

REPEATED = (
    "grep o", "grep -v o", "grep -i error", "grep -vi error", "grep -E (disk|net).[0-9]+", "grep -E ^[a-z]+$",
    "grep -vE b+|x", "grep -h [x]", "grep -F [x]", "grep -E a.*b", "grep -w two", "cut -d@ -f1,3", "cut -d@ -f2-",
    "cut -d@ -f3", "cut -d@ -f2-3,5-", "cut -d@ -f1", "cut -d@ -f4,2 -s", "cut -d@ -f2,3 --output-delimiter=:",
    "cut -d, -f2", "tr -s ab", "tr -s @", "tr -d o", "sed s/o/0/", "sed s/o/0/g", "sed -E s/([a-z]+)[@:]([a-z]+)/\\2$1\\1/",
    "sed -E s/[a-z]+/<&>/g", "sed s/[@]*$//", "sed s/a*//", "sed s/\\./&&/g", "sed -e /two/d -e s/x/y/", "sed -n s/b/B/p",
    "uniq", "uniq -c",
)


def run_tool(words: list[str], stdin: str) -> tuple[str, str, int]:
    out, err, status = harness.run_tool(words, stdin=stdin)
    return out.decode(), err.decode(), status


def argv(line: str) -> list[str]:
    return [word.replace("@", " ") for word in line.split(" ")]


@pytest.mark.parametrize("line", REPEATED)
def test_large_is_small_repeated(line: str) -> None:
    words = argv(line)
    small, _, status = run_tool(words, stdin=PART)
    large, err, same = run_tool(words, stdin=PART * TIMES)
    assert (large, err, same) == (small * TIMES, "", status)


def test_counts_and_numbers() -> None:
    for option, at in (("-c", "error"), ("-ci", "error"), ("-cvi", "error"), ("-cE", "a+|b")):
        small = int(run_tool(["grep", option, at], stdin=PART)[0])
        assert run_tool(["grep", option, at], stdin=PART * TIMES)[0] == f"{small * TIMES}\n"
    numbered = run_tool(["grep", "-n", "o"], stdin=PART * TIMES)[0].splitlines()
    everything = (PART * TIMES).split("\n")
    assert numbered == [f"{n}:{line}" for n, line in enumerate(everything, 1) if "o" in line]


def test_an_unfinished_last_line() -> None:
    text = PART * TIMES + "last one"
    assert run_tool(["grep", "one"], stdin=text)[0].endswith("last one\n")
    assert run_tool(["cut", "-d ", "-f2"], stdin=text)[0].endswith("disk\none\n")
    assert run_tool(["sed", "s/one/1/"], stdin=text)[0].endswith("last 1")
    assert run_tool(["tac"], stdin=PART * TIMES)[0] == "".join(
        line + "\n" for line in reversed((PART * TIMES).split("\n")[:-1]))


def test_runs_go_on_over_blocks() -> None:
    text = "a\n" * 700_000 + "b\n" + "c\n" * 3
    assert run_tool(["uniq", "-c"], stdin=text)[0] == " 700000 a\n      1 b\n      3 c\n"
    assert run_tool(["uniq"], stdin=text)[0] == "a\nb\nc\n"


@pytest.mark.parametrize("options", ["", "-r", "-u", "-n", "-k2,2n", "-k2n -u", "-rn -k2,2", "-k2,2nr -s", "-u -k1,1"])
def test_sort_in_pieces_is_sort(options: str) -> None:
    lines = [f"w{i * 7919 % 613} {i * 104729 % 997 - 300}" for i in range(70_000)]
    text = "\n".join(lines) + "\n"
    found = run_tool(["sort", *options.split()], stdin=text)[0]
    assert found == run_tool(["sort", *options.split()], stdin=text + "\0\n")[0].replace("\0\n", "")
