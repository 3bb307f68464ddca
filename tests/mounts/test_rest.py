from __future__ import annotations

import json
import re

import pytest

from mirage import Terminal
from mirage.config import load
from mirage.vfs.registry import ProviderError, make_mount
from mirage.vfs.spec import open_spec
from tests.mounts.declare_support import TOKEN, Desk, Library, Token, blocks, library_module


@pytest.fixture
def desk():
    with Desk() as simulator:
        yield simulator


@pytest.fixture
def terminal(desk, tmp_path, monkeypatch):
    """The files of the guide as a user would have them."""
    declaration, config = blocks("yaml")[:2]
    (tmp_path / "desk.yaml").write_text(declaration.replace("https://desk.example/api", desk.address), encoding="utf-8")
    (tmp_path / "mirage.yaml").write_text(config, encoding="utf-8")
    monkeypatch.setenv("DESK_TOKEN", TOKEN)
    with load(tmp_path / "mirage.yaml").make_terminal() as terminal:
        yield terminal


# ---- the service in YAML

def test_yaml_service_is_read_with_unix_tools(terminal, desk):
    assert terminal.run("ls /desk").stdout.splitlines() == ["Büro_Küche", "Network", "Printers__1", "printers__3", "untitled"]
    assert terminal.run("jq -r .comments[0].text /desk/Büro*/'Same title__22.json'").stdout == "comment 22\n"
    assert terminal.run("grep -rl 'printer 7 hums' /desk | wc -l").stdout == "2\n"
    assert terminal.run("cat /desk/untitled/*__8.md").stdout.startswith("# Ticket 7: paper / ink\n\nThe printer 7")
    assert terminal.run("find /desk -newermt 2026-09-20 -name '*.md' | wc -l").stdout == "5\n"


def test_yaml_operations_change_what_is_read_next(terminal, desk):
    assert terminal.run("ls /desk/Network; desk --help").stdout.count("create-ticket") == 1
    result = terminal.run("desk create-ticket --project 5 --title 'No paper' --body 'Tray 2.'; ls /desk/Network; "
                          "cat /desk/Network/*.md")
    assert json.loads(result.stdout.splitlines()[0])["id"] == 24
    assert result.stdout.splitlines()[1:3] == ["No paper__24.json", "No paper__24.md"] and result.stdout.endswith("Tray 2.\n")
    result = terminal.run("""jq -r .state /desk/Network/*.json; desk close-ticket '{"ticket": 24}' >out; jq -r .state /desk/Network/*.json""")
    assert result.stdout == "open\nclosed\n"
    assert [e.effects for e in result.effects if e.effect == "call"] == [("update",)]


def test_yaml_operations_check_their_arguments(terminal, desk):
    desk.clear_log()
    for line, part in (("desk create-ticket --project x --title t", "project"), ("desk create-ticket --title t", "project"),
                       ("desk close-ticket --ticket 1 --state open", "state"), ("desk close-ticket --ticket 1 --colour red", "colour")):
        result = terminal.run(line)
        assert result.exit_code == 2 and part in json.loads(result.stderr)["error"]["message"]
    assert desk.log == []
    result = terminal.run("desk close-ticket --ticket 77")
    assert result.exit_code == 1 and json.loads(result.stderr)["error"] == {"code": 404, "message": "desk: no such ticket (404)"}


def test_a_lost_answer_is_not_sent_twice(terminal, desk):
    desk.fault("reset", "POST /projects", after=True, times=1)
    result = terminal.run("desk create-ticket --project 5 --title Once; ls /desk/Network")
    assert "connection failed" in result.stderr and result.stdout.splitlines() == ["Once__24.json", "Once__24.md"]
    desk.fault("status", "POST /projects", status=429, times=1, seconds=0.01)
    assert terminal.run("desk create-ticket --project 5 --title Later").exit_code == 0


def test_policy_sees_the_arguments(desk, tmp_path, monkeypatch):
    (tmp_path / "desk.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
    monkeypatch.setenv("DESK_TOKEN", TOKEN)
    from mirage.clis.rest import RestCli
    mount = open_spec(f"rest:{tmp_path}/desk.yaml?token=env:DESK_TOKEN&endpoint={desk.address}&ttl=5")
    policy = "rules: [{effect: call, cli: desk, operation: 'create-*', when: 'project == `5`', action: deny, reason: closed}]"
    with Terminal({"/desk": mount}, clis=[RestCli(mount)], policy=policy) as terminal:
        assert terminal.run("desk create-ticket --project 5 --title x").exit_code == 126
        assert terminal.run("desk create-ticket --project 2 --title x").exit_code == 0
        shown = terminal.run("env; cat /VFS.md /SKILL.md; desk create-ticket --help; desk close-ticket --ticket 99; cat /proc/mounts")
        assert "CANARY" not in shown.stdout + shown.stderr and "create-ticket(" in shown.stdout


def test_mistakes_in_a_declaration_name_file_and_place(tmp_path):
    good = blocks("yaml")[0]
    for wrong, part in ((good.replace("cursor: ", "x").replace("next: next_cursor", ""), "paging"), ("a: [", "no YAML"),
                        (good.replace("unique: always", "unique: sometimes"), "unique"), ("[]", "top"),
                        (good.replace("effects: [create]", "effects: [explode]"), "operations.create-ticket.effects"),
                        (good.replace("file: ", "colour: red\n        file: "), "colour"),
                        (good.replace("base_url: https", "base_url: file"), "base_url")):
        (tmp_path / "x.yaml").write_text(wrong, encoding="utf-8")
        with pytest.raises(ProviderError) as caught:
            make_mount("rest", {"file": "x.yaml"}, tmp_path)
        assert "x.yaml" in str(caught.value) and part in str(caught.value), str(caught.value)
    with pytest.raises(OSError):
        make_mount("rest", {"file": "none.yaml"}, tmp_path)
    with pytest.raises(ProviderError):
        make_mount("rest", {"token": "env:X"}, tmp_path)


# ---- the service in Python

def test_python_service_of_the_guide():
    with Library() as simulator:
        guide = library_module()
        mount = guide["library"](Token(), simulator.address)
        with Terminal({"/library": mount}, clis=[guide["LibraryCli"](mount)]) as terminal:
            assert terminal.run("cat '/library/Poetry/Poems 3.md'").stdout == "# Poems 3\n\nØ. Dahl, shelf Poetry, here\n"
            assert terminal.run("wc -c < /library/Science/scans/972.txt; stat -c %s /library/Science/scans/970.txt").stdout == "650\n650\n"
            assert terminal.run("wc -c < /library/loans.jsonl").stdout == "0\n"
            result = terminal.run("for n in 1 3 5 7 9; do library lend-book --isbn 97$n --reader Kim; done > out; "
                                  "wc -l < /library/loans.jsonl; grep -rlw lent /library --include='*.md' | wc -l")
            assert result.stdout == "5\n5\n" and result.usage.calls < 60
            assert terminal.run("library lend-book --isbn 1 --reader Kim").exit_code == 1
            simulator.fault("truncate", "/scan")
            result = terminal.run("cat /library/Science/scans/974.txt")
            assert result.stdout == "" and "not complete: 325 of 650 bytes" in result.stderr


def test_a_service_is_less_than_250_lines():
    assert len(blocks("yaml")[0].splitlines()) < 60 and len(blocks("python")[0].splitlines()) < 80
    assert all(re.search(r"\S", text) for text in (*blocks("yaml"), *blocks("python")))
