"""Which scripts are valid, and what is said about the others: the same as bash."""

from __future__ import annotations

import random

from mirage.shell.parse import ParseOptions, UnitParser, parse
from tests.shell.parser.bash import COMPLAINT, complaints, needs_bash
from tests.shell.parser.constructs import ALL_VALID, INVALID

CONDITIONS = (
    "[[ a b ]]", "[[ a == ]]", "[[ -f ]]", "[[ ( a ]]", "[[ -z a b ]]", "[[ a < b > c ]]", "[[ a\n&& b ]]", "[[ a -foo b ]]",
    "[[ a", "[[ -f", "[[ a -eq", "[[ (a)", "[[ a == b", "[[ a == b|c ]]", "[[ a ==b ]]", '[[ "-f" x ]]', "[[ -f && x ]]",
    "[[ a ; b ]]", "[[ -f ; ]]", "[[ a ==\nb ]]", "[[ a =~ a>b ]]",
)  # fmt: skip


def said(script: str) -> str:
    error = parse(script, extglob=True).error
    return "" if error is None else "\n".join(error.lines()) + "\n"


@needs_bash
def test_bash_takes_the_valid_constructs_and_so_do_we() -> None:
    for script, theirs in zip(ALL_VALID, complaints(ALL_VALID), strict=True):
        assert not COMPLAINT.search(theirs), script
        assert said(script) == "", script


def test_warnings_have_bashs_text() -> None:
    script = parse("a\ncat <<EOF\nb\n")
    assert [warning.text() for warning in script.warnings] == [
        "bash: line 3: warning: here-document at line 2 delimited by end-of-file (wanted `EOF')"
    ]


@needs_bash
def test_errors_have_bashs_text_line_and_source() -> None:
    for script, theirs in zip(INVALID, complaints(INVALID), strict=True):
        assert said(script) == theirs, script


@needs_bash
def test_errors_in_conditions_begin_as_bashs() -> None:
    for script, theirs in zip(CONDITIONS, complaints(CONDITIONS), strict=True):
        assert said(script).split("\n")[0] == theirs.split("\n")[0], script


PIECES = (
    "(", ")", "((", "))", "{", "}", "$(", "`", '"', "'", "\\", "\n", ";", ";;", "&", "|", "<<EOF\n", "<", ">", "[[ ", " ]]",
    "if ", "fi ", "do ", "done ", "case ", "esac", "in ", "$((", "${", "$", "#", " ", "!", "=", "[", "]", "*", "?", "then ",
    "else ", "while ", "for ", "function f ", "time ", "coproc ", "<(", "\\\n", "{a,b}", "a=(", "@(", "\t", "é", "2>&1",
    "<<<", "&>", "||", "&&", ";&", "1",
)  # fmt: skip


def mutants(seed: int, count: int) -> list[str]:
    """Valid constructs with something inserted, removed, cut off or repeated."""
    chance = random.Random(seed)
    sources = [script for script in ALL_VALID if script.strip()]
    made: list[str] = []
    while len(made) < count:
        script = chance.choice(sources)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(script) + 1)
            kind = chance.random()
            if kind < 0.45:
                script = script[:at] + chance.choice(PIECES) + script[at:]
            elif kind < 0.75:
                script = script[:at] + script[at + chance.randint(1, 6) :]
            elif kind < 0.85:
                script = script[:at]
            else:
                other = chance.randrange(len(script) + 1)
                script = script[:at] + script[min(at, other) : max(at, other)] + script[at:]
        made.append(script)
    return made


def test_no_mutant_crashes_the_parser() -> None:
    for script in mutants(1, 4000):
        for extglob in (False, True):
            parsed = parse(script, extglob=extglob)
            for error in (parsed.error,):
                if error is not None:
                    assert error.line >= 1
                    assert error.lines()


@needs_bash
def test_mutants_get_the_verdict_of_bash() -> None:
    scripts = mutants(2, 700)
    wrong = []
    for script, theirs in zip(scripts, complaints(scripts), strict=True):
        if bool(COMPLAINT.search(theirs)) != bool(said(script)):
            wrong.append((script, theirs, said(script)))
    assert len(wrong) <= 5, wrong


def test_units_are_the_script_cut_at_lines() -> None:
    for script in ALL_VALID:
        units = UnitParser(script, ParseOptions(extglob=True))
        items = tuple(item for unit in units for item in unit)
        assert items == parse(script, extglob=True).items, script
