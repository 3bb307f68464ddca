"""A part of the hostile run, and what it found before."""
from __future__ import annotations

import pytest

from mirage import Limits
from tests.hostile.check import check, living_greenlets, living_terminals
from tests.hostile.grammar import script

FOUND = {
    "an array for a variable that bash computes": "declare -g OPTIND=(g 'a b' 0x1fp); FUNCNAME=(a); RANDOM=(1 2)",
    "closed standard descriptors": "exec 0<&- 1>&- 2>&- && whoami",
    "closed by a pair of redirections": "exec 3>log; echo one >&3; exec 3>&->&-; cat log",
    "NUL bytes never make a character": "timeout 0.1 bash -c 'read -n 5 x < /dev/zero'",
    "history from a file without end": "history -r /dev/zero",
    "bytes that are no text, as YAML": "printf 'a: \\xff\\n' | yq .a; yq . f",
    "one busy job between lines": "while :; do :; done & echo started",
    "a busy pipeline between lines": "yes > /dev/null & echo started",
    "case of long text that is not ASCII": "x=$(yes é | head -c 1M); x=${x^^}; echo ${#x} ${x,,} | wc -c",
    "sed that doubles": "sed ':a;s/.*/&&/;ta' <<< xx",
    "a tab stop far away": "expand -t 1000000000 <<< $'\\ta'",
    "a negated group in a negated group": "shopt -s extglob\ns=$(printf 'x%.0s' {1..2000}); [[ $s == *!(*!(*x)*)y ]]",
    "a hundred thousand commands in a line": "eval \"$(printf 'x%s=y;' {1..100000})\"",
    "a trap that signals itself": "trap 'kill -USR1 $$' USR1; kill -USR1 $$",
    "a file per line": "yes | split -l 1",
    "set -n in a pipeline": "set -n |& ( trap '' TERM; kill $BASHPID; echo alive ); (set -n; echo x); f() { set -n; echo x; }; f & wait",
    "a job of a loop in a pipeline": "rev f | for i in 1 2; do (sleep 0.001; echo $i) & done; wait",
    "a job that prints after its line": "tee >(cat) >(wc -l) <<< x && hash -r & :",
}


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND.keys())
def test_found_before(text: str) -> None:
    assert check(text).problems == []


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_random_scripts(first: int) -> None:
    parsed, before = 0, (living_greenlets(), living_terminals())
    for number in range(first, first + 50):
        text = script(7, number)
        outcome = check(text, Limits(timeout=1, steps=50_000, processes=64, output=1 << 20, memory=64 << 20, depth=200))
        problems = [problem for problem in outcome.problems if not problem.startswith("took ")]  # the machine may be busy
        assert not problems, f"script {number}: {text!r}"
        parsed += outcome.parsed
    assert parsed >= 25
    left = (living_greenlets(), living_terminals())          # other tests of this process may have left some
    assert left[0] <= before[0] and left[1] <= before[1]


def test_the_same_seed_gives_the_same_scripts() -> None:
    assert [script(3, number) for number in range(30)] == [script(3, number) for number in range(30)]
    assert script(3, 0) != script(4, 0)


def test_the_check_can_fail() -> None:
    """What a broken engine would show is seen."""
    from mirage import commands
    original = commands.find("pwd")
    assert original is not None
    try:
        commands._mains["pwd"] = lambda proc: 1 // 0
        assert any("ZeroDivisionError" in problem for problem in check("/usr/bin/pwd").problems)
    finally:
        commands._mains["pwd"] = original
