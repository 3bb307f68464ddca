"""Patterns that send backtracking matchers into years of work end in every tool, with a result or a clear error."""
from __future__ import annotations

from itertools import groupby

import pytest

from mirage import Limits, Terminal
from mirage.bench.speed.redos import EXPRESSIONS, GLOBS, cases

TIMED_OUT = 124
BY_TOOL = {tool: list(group) for tool, group in groupby(sorted(cases()), key=lambda case: case[0])}
CLEAR = ("grep: ", "sed: ", "awk: ", "jq: error", "bash: ")


def test_forty_patterns():
    assert len({pattern for pattern, *_ in (*EXPRESSIONS, *GLOBS)}) == 40


@pytest.mark.parametrize("tool", BY_TOOL)
def test_no_pattern_runs_into_the_limit_of_time(tool):
    for _, pattern, subject, script in BY_TOOL[tool]:
        with Terminal(env={"p": pattern, "s": subject}, limits=Limits(timeout=10)) as terminal:
            result = terminal.run(script)
        assert result.exit_code != TIMED_OUT, pattern
        assert result.stdout or result.stderr.startswith(CLEAR), (pattern, result)
