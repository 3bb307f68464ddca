"""No expansion takes more memory or time than the limits allow, and the Terminal stays usable."""

from __future__ import annotations

import time

import pytest

from mirage import Limits, Terminal


@pytest.fixture(scope="module")
def terminal():
    with Terminal(cwd="/home/user", limits=Limits(memory=32 << 20, timeout=20)) as terminal:
        yield terminal


@pytest.mark.parametrize(
    "script",
    [
        "echo {1..999999999}",
        "echo {1..99}{1..99}{1..99}{1..99}{1..99}",
        "x=a; while :; do x=$x$x; done",
        "x=a; while :; do x+=$x; done",
        'x=a; while :; do x="$x-$x"; done',
        "x=aaaaaaaaaa; while :; do x=${x//a/aaaaaaaaaa}; done",
        "x=aaaaaaaaaa; while :; do x=${x//[a]/&&&&&&&&&&}; done",
        'a=(1 2 3); while :; do a+=("${a[@]}"); done',
        "while :; do a[i++]=xxxxxxxxxxxxxxxx; done",
        "declare -A h; while :; do h[k$((i++))]=x$i; done",
        'b=$(printf %1000000d 1); while :; do c[i++]=$b$i; done',
    ],
)  # fmt: skip
def test_memory(terminal: Terminal, script: str) -> None:
    result = terminal.run(script)
    assert (result.exit_code, result.stdout) == (137, "")
    assert result.stderr.startswith("mirage: limit: memory:")
    assert terminal.run("unset x a h c b i; echo alive").stdout == "alive\n"


def test_recursive_arithmetic_ends(terminal: Terminal) -> None:
    result = terminal.run("x=y; y=x; echo $((x)); echo not reached")
    assert result.exit_code == 1 and "expression recursion level exceeded" in result.stderr


def test_large_values_are_handled_at_once(terminal: Terminal) -> None:
    start = time.process_time()
    result = terminal.run(
        "x=$(printf '%02000000d' 7); y=${x//0/ab}; z=${x%7}; w=${x#*7}; echo ${#y} ${#z} ${#w} ${x//[1-9]/}x ${#x} | wc -c;"
        " set -- ${x//0/ }; echo $#; [[ $x == *0*0*0*7 ]]; echo $?; [[ $x =~ (0+)7$ ]]; echo ${#BASH_REMATCH[1]}"
    )
    assert result.stdout == "2000027\n1\n0\n1999999\n"
    assert time.process_time() - start < 10
