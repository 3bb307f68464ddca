"""Lines that virtual shells got wrong, with what bash 5.2.37 and the GNU tools of Debian 13 answer (lines.json)."""
from __future__ import annotations

import json
from pathlib import Path

import pytest

from mirage.terminal import Terminal

LINES = json.loads((Path(__file__).parent / "lines.json").read_text(encoding="utf-8"))
FILES = {"a.txt": "foo bar baz\nhello world\nbar none\nfoo again\nlast one\n", "nums.txt": "5\n3\n9\n3\n1\n5\n5\n",
         "data.json": '{"a": [1, 2], "b": "x"}\n', "sub/one.log": "first\nsecond\n", "sub/two.txt": "third\n"}


@pytest.mark.parametrize("case", LINES, ids=[case["line"][:60] for case in LINES])
def test_line_gives_what_bash_gives(case: dict[str, object]) -> None:
    with Terminal(cwd="/home/user") as terminal:
        for name, text in FILES.items():
            terminal.fs.write(f"/home/user/{name}", text, parents=True)
        result = terminal.run(str(case["line"]), final=True)
        assert (result.stdout, result.exit_code) == (case["stdout"], case["status"]), result.stderr
        assert not terminal.machine.errors
