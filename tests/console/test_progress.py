"""The line that tells how far reading from services has come."""
from __future__ import annotations

import time

import pytest

from mirage import Terminal
from mirage.bench.services.gmail import GmailSimulator
from mirage.vfs.progress import Progress
from tests.mounts.word_search import WordSearch

pytest.importorskip("pty")
from tests.console.keyboard import Keyboard


def test_it_appears_after_a_second_and_vanishes(tmp_path):
    with GmailSimulator(messages=40) as simulator:
        (tmp_path / "mirage.yaml").write_text(
            f"mounts:\n  /mail: {{provider: gmail, token: 'env:T', endpoint: '{simulator.address}', rate: 0.0}}\n")
        keyboard = Keyboard(tmp_path, "-f", "mirage.yaml", env={"T": "simulator-token"})
        try:
            keyboard.prompt()
            keyboard.line("ls /mail > /dev/null")
            assert "waiting" not in keyboard.prompt() and "reading" not in keyboard.text
            simulator.fault("latency", seconds=0.5)
            keyboard.line("grep -rl --exact --include='*.json' e /mail | wc -l")
            keyboard.expect(r"waiting for /mail \(\d+ calls\)|reading /mail: \d+/\d+")
            keyboard.expect(r"\n\d+\n")
            after = keyboard.prompt()
            assert "waiting" not in after.replace("user@mirage", "") and "reading" not in after
            raw = keyboard.raw.decode("utf-8", "replace")
            shown = max(raw.rfind("waiting for"), raw.rfind("reading /mail"))
            assert "\x1b[2K" in raw[shown:], "the line is erased"
        finally:
            keyboard.close()


def test_a_quick_line_starts_no_thread_that_writes(capsys):
    from mirage.console.progress import ProgressLine
    with Terminal({"/s": WordSearch({"a.txt": b"apple\n", "b.txt": b"x\n"})}, policy="default: allow") as terminal:
        line = ProgressLine(terminal)
        with line:
            terminal.run("grep -r apple /s")
        assert line.progress.places == {"/s": [2, 2]} and line.text().startswith("waiting for /s (")
        line.progress.places["/s"] = [1, 1200]
        assert line.text() == "reading /s: 1/1,200"
        time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_counts():
    progress = Progress()
    progress.expect("/m", 100)
    progress.expect("/m", 16)                                # the first of them
    progress.read("/m")
    assert progress.places == {"/m": [1, 100]}
    progress.clear()
    assert progress.places == {}
