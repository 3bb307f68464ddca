"""awk under limits: nothing hangs, nothing grows without bound, deep programs end with a message."""
from __future__ import annotations

import pytest

from mirage.process.limits import Limits
from mirage.process.signals import LineStopped
from tests.commands.harness import Bench


@pytest.mark.parametrize("program", ['BEGIN{s="a"; while(1) s=s s}', 'BEGIN{printf "%1000000000d", 1}',
                                     'BEGIN{x=sprintf("%*d", 999999999, 1)}', "BEGIN{NF=40000000}",
                                     "BEGIN{while(1) a[i++]}"])
def test_size_is_checked_first(program: str) -> None:
    with pytest.raises(LineStopped, match="memory"):
        Bench(limits=Limits(timeout=20, memory=64 << 20)).run(["awk", program])


@pytest.mark.parametrize("program", ["BEGIN{while(1);}", "BEGIN{for(;;) x++}", "BEGIN{do x++; while(1)}",
                                     "function f(){for(;;) if(0) break} BEGIN{f()}", 'BEGIN{for(;;) print "x" > "/dev/null"}'])
def test_the_deadline_ends_loops(program: str) -> None:
    with pytest.raises(LineStopped):
        Bench(limits=Limits(timeout=0.3)).run(["awk", program])


def test_recursion() -> None:
    bench = Bench()
    assert bench.run(["awk", "function f(n){return n ? 1+f(n-1) : 0} BEGIN{print f(5000)}"])[0] == b"5000\n"
    out, err, status = bench.run(["awk", "function f(n){return f(n+1)} BEGIN{f(0)}"])
    assert (out, status) == (b"", 2)
    assert b"nested too deeply" in err


@pytest.mark.parametrize("regex", ["^(a+)+$", "(a|aa)*$", "(a*)*b", "a*a*a*a*b"])
def test_patterns_that_would_backtrack_for_ever(regex: str) -> None:
    out, _, status = Bench(limits=Limits(timeout=10)).run(["awk", f"!/{regex}/{{print NR}}"], "a" * 5000 + "!\n")
    assert status == 0
    assert out == (b"" if regex.endswith("*$") else b"1\n")


def test_long_programs() -> None:
    bench = Bench()
    assert bench.run(["awk", "BEGIN{print " + "1+" * 3000 + "1}"])[0] == b"3001\n"
    assert bench.run(["awk", 'BEGIN{x="ab"; print length(' + "x " * 3000 + ")}"])[0] == b"6000\n"
    assert bench.run(["awk", "BEGIN{print " + "(" * 50 + "1" + ")" * 50 + "}"])[0] == b"1\n"
    assert bench.run(["awk", "BEGIN{print " + "(" * 5000 + "1" + ")" * 5000 + "}"])[2] in (1, 2)
    chain = "".join(f"if (x == {n}) print {n}; else " for n in range(100)) + "print \"none\""
    assert bench.run(["awk", f"BEGIN{{x = 77; {chain}}}"])[0] == b"77\n"


def test_text_of_the_program_never_becomes_code() -> None:
    program = 'BEGIN { x = "\\"); import os; (\\""; a["__import__(1)"] = x; for (k in a) print k, a[k] }'
    assert Bench().run(["awk", program])[0] == b'__import__(1) "); import os; ("\n'
    assert Bench().run(["awk", "BEGIN { lambda = 1; None = 2; print lambda + None; import = 3; print import }"])[0] == b"3\n3\n"
