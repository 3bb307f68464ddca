"""Tool invocations that differed once, with what the programs of Debian 13 answer (lines.json)."""
from __future__ import annotations

import json
from pathlib import Path

import pytest

from mirage.terminal import Terminal

LINES = json.loads((Path(__file__).parent / "lines.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", LINES, ids=[case["line"][:60] for case in LINES])
def test_line_gives_what_the_program_gives(case: dict[str, object]) -> None:
    with Terminal(cwd="/home/user") as terminal:
        result = terminal.run(str(case["line"]), final=True)
        assert (result.stdout, result.exit_code) == (case["stdout"], case["status"]), result.stderr
        assert not terminal.machine.errors
