from __future__ import annotations

import pytest

from mirage import Terminal


@pytest.mark.parametrize(("line", "stdout", "status"), [
    ("TERM=xterm clear", "\x1b[H\x1b[2J\x1b[3J", 0), ("clear -T xterm-256color -x", "\x1b[H\x1b[2J", 0), ("clear", "", 1),
    ("TERM= clear", "", 1), ("TERM=xterm clear a", "", 1), ("TERM=xterm clear -z", "", 1),
])
def test_clear(line: str, stdout: str, status: int) -> None:
    result = Terminal().run(line)
    assert (result.stdout, result.exit_code) == (stdout, status)
