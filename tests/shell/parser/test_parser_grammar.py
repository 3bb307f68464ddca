"""The tables: from bashlex, kept in the user's cache, equal to bashlex's own engine at work."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from mirage.shell import driver, grammar
from mirage.shell.actions import END, action_for
from mirage.shell.lexer import Lexer
from mirage.shell.parse import parse
from mirage.shell.reader import Source
from tests.shell.parser.constructs import ALL_VALID

ROOT = Path(__file__).parents[3]


def stored(folder: Path) -> list[Path]:
    return sorted(folder.glob("mirage/*"))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_tables_are_kept_in_the_users_cache(cache: Path) -> None:
    first = grammar.load()
    (path,) = stored(cache)
    written = path.stat().st_mtime_ns
    assert grammar.load() == first
    assert stored(cache) == [path]
    assert path.stat().st_mtime_ns == written


def test_a_damaged_cache_is_rebuilt(cache: Path) -> None:
    good = grammar.load()
    (path,) = stored(cache)
    data = path.read_bytes()
    middle = len(data) // 2
    for damaged in (
        b"",
        b"x",
        data[:-1],
        data + b"x",
        data[:middle],
        data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
    ):
        path.write_bytes(damaged)
        assert grammar.load() == good
        assert path.read_bytes() == data
    path.unlink()
    path.mkdir()
    assert grammar.load() == good


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert grammar.load()[2]
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(blocked))
    assert grammar.load()[2]


def test_processes_that_start_together_do_not_disturb_each_other(cache: Path) -> None:
    results: list[object] = []
    threads = [threading.Thread(target=lambda: results.append(grammar.load())) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(stored(cache)) == 1
    assert all(result == results[0] for result in results)


def python(code: str, cache: Path) -> str:
    path = os.pathsep.join([str(ROOT), *(entry for entry in sys.path if "site-packages" in entry)])
    environment = {"PYTHONPATH": path, "XDG_CACHE_HOME": str(cache), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, env=environment, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_others_can_use_bashlex_in_the_same_process(cache: Path) -> None:
    code = (
        "import mirage.shell.parse as p; assert p.parse('a | b').error is None\n"
        "import bashlex; print(bashlex.parse('a | b')[0].kind); assert p.parse('x').error is None"
    )
    assert python(code, cache) == "pipeline"  # an empty cache: built in this process
    assert python(code, cache) == "pipeline"


def test_a_warm_start_loads_little(cache: Path) -> None:
    grammar.load()
    code = (
        "import sys, re, collections, bisect; before = set(sys.modules)\n"
        "import mirage.shell.parse as p; assert p.parse('echo hi').items\n"
        "print(*sorted(name for name in set(sys.modules) - before if not name.startswith('mirage')))"
    )
    loaded = set(python(code, cache).split())
    heavy = {
        "bashlex",
        "typing",
        "dataclasses",
        "enum",
        "logging",
        "json",
        "importlib.metadata",
        "hashlib",
        "inspect",
        "threading",
    }
    assert not loaded & heavy


def test_a_production_without_an_action_is_refused() -> None:
    with pytest.raises(ImportError, match="without an action"):
        action_for("new_command", ("NEW", "WORD"))


class _Token:
    def __init__(self, kind: str, value: object) -> None:
        self.type = kind
        self.value = value


def bashlex_engine() -> Any:
    """bashlex's own LRParser, with our tables and actions."""
    from bashlex import yacc

    tables = driver.tables()

    class Production:
        pass

    class Table:
        pass

    def call(make: Any, lhs: str) -> Any:
        def reduce(values: Any) -> None:
            arguments = [symbol.value for symbol in values.slice[1:]]
            values.slice[0].value = arguments[0] if make is None else make(values.context, arguments)
            if lhs == grammar.START:
                values.accept()

        return reduce

    table: Any = Table()
    table.lr_productions = []
    table.lr_action = dict(enumerate(tables.action))
    table.lr_goto = dict(enumerate(tables.goto))
    for length, lhs, make in tables.productions:
        production: Any = Production()
        production.name = production.str = lhs
        production.len = length
        production.callable = call(make, lhs)
        table.lr_productions.append(production)
    engine = yacc.LRParser(table, None)
    engine.action = table.lr_action
    engine.goto = table.lr_goto
    engine.defaulted_states = {state: rule for state, rule in enumerate(tables.reduction) if rule}
    return engine


def test_bashlexs_own_engine_makes_the_same_trees() -> None:
    engine = bashlex_engine()

    class Tokens:
        def __init__(self, lexer: Lexer) -> None:
            self.lexer = lexer

        def token(self) -> _Token:
            return _Token(*self.lexer.next())

    for script in ALL_VALID:
        lexer = Lexer(Source(script, extglob=True))
        items: list[object] = []
        while True:
            unit = copy.copy(engine).parse(lexer=Tokens(lexer), context=lexer)
            if unit is END or (unit is None and lexer.pos >= lexer.size):
                break
            items.extend(unit or ())
        assert tuple(items) == parse(script, extglob=True).items, script
