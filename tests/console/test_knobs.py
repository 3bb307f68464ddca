"""docs/KNOBS.md names every knob, and says what the program has. docs/vfs.md names the test of every statement."""
from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from mirage.console.vfs.commands import build
from mirage.console.vfs.completions import _shell
from mirage.console.vfs.knobs import VARIABLES, ledger
from mirage.console.vfs.model import Failure, Parsed

ROOT = Path(__file__).resolve().parents[2]
READ = re.compile(r"environ(?:\.get\(|\[|\.pop\(|\.setdefault\()\s*[\"']([A-Z_]+)|getenv\([\"']([A-Z_]+)|env=\"([A-Z_]+)\"|\b(VFS_[A-Z_]+)\b")
NUMBERS = [*range(1, 10), 11, 18, *range(27, 32), 59, *range(78, 103), 104]


def test_T104_the_ledger_is_what_the_program_has():
    assert (ROOT / "docs" / "KNOBS.md").read_text() == ledger()


def test_T104_every_variable_that_is_read_is_in_the_ledger():
    found = set()
    for folder in ("mirage", "mounts", "clis"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.is_symlink() or path.name == "knobs.py" or "__pycache__" in path.parts:
                continue
            for line in path.read_text().splitlines():
                found.update(next(filter(None, match)) for match in READ.findall(line.partition("#")[0]))
    found -= {"VFS_SECRET"}
    assert {"VFS_KEY", "TMPDIR", "SHELL"} <= found
    assert found <= {name for name, *_ in VARIABLES}, found - {name for name, *_ in VARIABLES}


@pytest.mark.parametrize("knob", VARIABLES, ids=lambda knob: knob[0])
def test_T104_every_gate_is_there(knob):
    name, _, _, gate, text = knob
    assert text and (gate == "-" or name in (ROOT / "tests" / gate).read_text())


def test_SHELL_names_the_shell_that_is_meant(monkeypatch):
    parsed = Parsed(build())
    for value, name in (("/bin/zsh", "zsh"), ("/usr/bin/pwsh", "power-shell"), ("/bin/bash", "bash")):
        monkeypatch.setenv("SHELL", value)
        assert _shell(parsed) == name
    monkeypatch.setenv("SHELL", "/bin/csh")
    with pytest.raises(Failure, match="csh"):
        _shell(parsed)


def statements():
    """{number: files in which a test has it in its name}"""
    found: dict[int, set[str]] = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text(), re.M):
            for number in re.findall(r"T(\d+)(?=_|$)", name):
                found.setdefault(int(number), set()).add(os.path.relpath(path, ROOT / "tests"))
    return found


def test_every_statement_has_a_test_and_the_page_says_where():
    found = statements()
    assert [n for n in NUMBERS if n not in found] == []
    text = (ROOT / "docs" / "vfs.md").read_text()
    table = text[text.index("## Where it is shown"):]
    said: dict[int, set[str]] = {}
    for numbers, places in re.findall(r"^\| ((?:T\d+[^|]*)+) \| ([^|]+) \|", table, re.M):
        for first, last in re.findall(r"T(\d+)(?:-T(\d+))?", numbers):
            for number in range(int(first), int(last or first) + 1):
                said.setdefault(number, set()).update(re.findall(r"[\w/]+\.py", places))
    assert {n: sorted(said.get(n, ())) for n in NUMBERS} == {n: sorted(found[n]) for n in NUMBERS}
