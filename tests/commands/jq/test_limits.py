"""jq under limits: nothing hangs, nothing grows without bound, deep programs end with a message."""
from __future__ import annotations

import pytest

from mirage.process.limits import Limits
from mirage.process.signals import LineStopped
from tests.commands.harness import Bench


@pytest.mark.parametrize("program", ['"a" * 1e9', "reduce range(50) as $i (\"aaaaaaaa\"; . + .)",
                                     '"x" | gsub(""; "y" * 80000000)'])
def test_size_is_checked_first(program: str) -> None:
    with pytest.raises(LineStopped, match="memory"):
        Bench(limits=Limits(timeout=20, memory=64 << 20)).run(["jq", "-n", program])


@pytest.mark.parametrize("program", ["range(1e15) | empty", "repeat(1) | empty", "until(false; .)", "[recurse(.)] | length",
                                     "last(while(true; .))", "path(repeat(.a)) | empty", "reduce repeat(1) as $x (0; .)"])
def test_the_deadline_ends_loops(program: str) -> None:
    with pytest.raises(LineStopped):
        Bench(limits=Limits(timeout=0.3)).run(["jq", "-n", program])


def test_recursion_a_few_thousand_deep() -> None:
    bench = Bench()
    assert bench.run(["jq", "-n", "def f: if . >= 5000 then . else . + 1 | f end; 0 | f"])[0] == b"5000\n"
    assert bench.run(["jq", "-n", "def f: if . == 0 then 0 else 1 + (. - 1 | f) end; 3000 | f"])[0] == b"3000\n"


def test_endless_recursion_is_an_error() -> None:
    out, err, status = Bench().run(["jq", "-n", "def f: 1 + f; f"])
    assert (out, status) == (b"", 5)
    assert b"nested too deeply" in err


def test_a_pattern_that_would_backtrack_for_ever() -> None:
    out, err, status = Bench().run(["jq", "-n", '"' + "a" * 40 + '!" | test("^(a+)+$")'])
    assert (out, status) == (b"", 5)
    assert b"Regex failure" in err


def test_deep_data() -> None:
    bench = Bench()
    assert bench.run(["jq", "."], "[" * 1000)[2] == 5
    assert bench.run(["jq", "-n", "reduce range(9000) as $i (1; [.]) | tojson | length"])[0] == b"18001\n"
    assert bench.run(["jq", "-nc", "reduce range(9000) as $i (1; [.]) | flatten"])[0] == b"[1]\n"


def test_a_program_that_is_nested_too_deeply() -> None:
    assert Bench().run(["jq", "-n", "(" * 5000 + "1" + ")" * 5000])[2] == 3


def test_long_pipes_and_sums() -> None:
    bench = Bench()
    assert bench.run(["jq", "-n", "0" + " | . + 1" * 150])[0] == b"150\n"
    assert bench.run(["jq", "-n", " + ".join(["1"] * 150)])[0] == b"150\n"
