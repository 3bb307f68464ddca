from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from mirage import Terminal
from mirage.bench.services.notion import NotionSimulator
from mirage.clis.notion import NotionCli
from mirage.clis.registry import make_cli
from mirage.mounts import Memory
from tests.mounts.notion_support import Token, make_mount, make_terminal, named, paths_called

SCHEMAS = Path(__file__).parent / "data" / "notion-operations.json"
TEXT = [{"text": {"content": "Grüße\nzwei"}}]


@pytest.fixture
def simulator():
    with NotionSimulator(rows=4) as simulator:
        yield simulator


@pytest.fixture
def mount(simulator):
    return make_mount(simulator)


@pytest.fixture
def terminal(simulator, mount):
    with make_terminal(simulator, mount) as terminal:
        yield terminal


def run(terminal, operation, status=0, **arguments):
    result = terminal.run(f"notion {operation} {shlex.quote(json.dumps(arguments))}")
    assert result.exit_code == status, result
    return json.loads(result.stdout if status == 0 else result.stderr.splitlines()[0])


def test_operations_are_those_of_the_published_server():
    """Names (`API-post-page` is post-page), arguments, types, defaults, and which are required."""
    published = json.loads(SCHEMAS.read_text())
    cli = NotionCli(make_mount_without_server())
    assert set(cli.operations) == set(published) and len(published) == 19
    for name, arguments in published.items():
        schema = cli.operations[name].model.model_json_schema()
        assert set(schema.get("properties", ())) == set(arguments), name
        assert set(schema.get("required", ())) == {k for k, a in arguments.items() if a.get("required")}, name
        for key, argument in arguments.items():
            mine = schema["properties"][key]
            assert argument["type"] in {mine.get("type"), *(part.get("type") for part in mine.get("anyOf", ()))}, (name, key)
            if (name, key) != ("update-a-block", "archived"):          # published: true; here nothing is trashed unasked
                assert mine.get("default") == argument.get("default"), (name, key)


def make_mount_without_server():
    from mirage.mounts.notion.tree import Notion
    return Notion(Token())


def test_effects(simulator):
    cli = NotionCli(make_mount_without_server())
    effects = {name: o.effects for name, o in cli.operations.items() if o.effects != ("read",)}
    assert effects == {"patch-block-children": ("create",), "post-page": ("create",), "create-a-database": ("create",),
                       "create-a-comment": ("create",), "update-a-block": ("update", "destroy"), "patch-page": ("update", "destroy"),
                       "update-a-database": ("update",), "delete-a-block": ("destroy",)}
    with make_terminal(simulator, policy="rules:\n  - {effect: destroy, action: deny, reason: nothing goes}\n") as terminal:
        wiki = terminal.run("echo /notion/Wiki*").stdout.strip()
        run(terminal, "patch-page", page_id=wiki, icon={"emoji": "🌍"})
        for operation, more in (("patch-page", {"in_trash": True}), ("patch-page", {"archived": True})):
            run(terminal, operation, 126, page_id=wiki, **more)
        run(terminal, "delete-a-block", 126, block_id=wiki)
        block = run(terminal, "get-block-children", block_id=wiki)["results"][0]["id"]
        run(terminal, "update-a-block", block_id=block, type={"heading_1": {"rich_text": TEXT}})
        run(terminal, "update-a-block", 126, block_id=block, archived=True)


def test_a_new_page_is_there_at_once_and_nothing_else_is_asked_for(simulator, mount, terminal):
    engineering, sales = named(mount, "/Wiki/Engineering"), named(mount, "/Sales")
    terminal.run(f"cat /notion{engineering}/page.md /notion{engineering}/*/page.md /notion{sales}/page.md; find /notion -name page.json")
    before = simulator.state()
    simulator.clear_log()
    made = run(terminal, "post-page", parent={"page_id": f"/notion{engineering}"}, properties={"title": [{"text": {"content": "Antenna / mast"}}]},
               children=[{"paragraph": {"rich_text": TEXT}}, json.dumps({"to_do": {"rich_text": TEXT, "checked": True}})])
    assert made["path"] == f"/notion{engineering}/Antenna _ mast__{made['id'].replace('-', '')}"
    assert len(simulator.diff(before, simulator.state())["added"]) == 3
    assert [e.path for e in simulator.log] == ["/v1/pages"]
    simulator.clear_log()
    result = terminal.run(f"ls '/notion{engineering}' | grep -c Antenna; cat '{made['path']}/page.md'; grep -c Antenna '/notion{engineering}/page.md'")
    assert result.stdout == "1\n# Antenna / mast\n\nGrüße\nzwei\n\n- [x] Grüße\n      zwei\n1\n".replace("      zwei", "  zwei")
    assert paths_called(simulator) == ["GET blocks children", "GET pages", "GET blocks children"]
    simulator.clear_log()
    terminal.run(f"cat /notion{engineering}/Firmware*/page.md /notion{sales}/page.md; find /notion -name page.json")
    assert simulator.log == []


def test_blocks(simulator, mount, terminal):
    page = named(mount, "/Wiki/Engineering/Firmware/Rain gauge_calibration")
    terminal.run(f"cat '/notion{page}/page.md'")
    simulator.clear_log()
    answer = run(terminal, "patch-block-children", block_id=f"/notion{page}/page.md", children=[{"toggle": {"rich_text": TEXT}}])
    toggle = answer["results"][0]["id"]
    assert terminal.run(f"tail -2 '/notion{page}/page.md'").stdout == "- Grüße\n  zwei\n"
    assert paths_called(simulator) == ["PATCH blocks children", "GET pages", "GET blocks children"]
    run(terminal, "patch-block-children", block_id=toggle, children=[{"paragraph": {"rich_text": [{"text": {"content": "inside"}}]}}])
    assert terminal.run(f"tail -1 '/notion{page}/page.md'").stdout == "  inside\n"
    inside = run(terminal, "get-block-children", block_id=toggle)["results"][0]
    run(terminal, "update-a-block", block_id=inside["id"], type={"paragraph": {"rich_text": [{"text": {"content": "changed"}}]}})
    assert terminal.run(f"tail -1 '/notion{page}/page.md'").stdout == "  changed\n"
    assert run(terminal, "retrieve-a-block", block_id=inside["id"])["paragraph"]["rich_text"][0]["plain_text"] == "changed"
    run(terminal, "delete-a-block", block_id=toggle)
    assert "zwei" not in terminal.run(f"cat '/notion{page}/page.md'").stdout
    run(terminal, "delete-a-block", block_id=page[-32:])
    result = terminal.run(f"ls '/notion{page}'; ls '/notion{page.rpartition('/')[0]}'")
    assert "No such file" in result.stderr and result.stdout == "page.json\npage.md\n"


def test_rows_and_titles(simulator, mount, terminal):
    table = named(mount, "/Sales/CRM")
    terminal.run(f"wc -l /notion{table}/rows.*; ls /notion{table}/rows /notion")
    simulator.clear_log()
    row = run(terminal, "post-page", parent={"database_id": f"/notion{table}"}, properties={
        "Name": {"title": [{"text": {"content": "New customer"}}]}, "Value": {"number": 7}, "Stage": {"select": {"name": "Lead"}}})
    assert terminal.run(f"tail -1 /notion{table}/rows.csv; ls /notion{table}/rows | grep -c .").stdout \
        == f"{row['id']},New customer,,Lead,7,\n13\n"
    assert paths_called(simulator) == ["POST pages", "GET databases", "POST databases query"]
    simulator.clear_log()
    run(terminal, "patch-page", page_id=row["path"], properties={"Value": {"number": 8.5}, "Name": {"title": [{"text": {"content": "Old customer"}}]}})
    assert terminal.run(f"tail -1 /notion{table}/rows.csv; cat /notion{table}/rows/Old*/page.json | jq .properties.Value.number").stdout \
        == f"{row['id']},Old customer,,Lead,8.5,\n8.5\n"
    assert paths_called(simulator) == ["PATCH pages", "GET databases", "GET blocks children"]
    run(terminal, "patch-page", page_id=row["id"], in_trash=True)
    assert terminal.run(f"wc -l < /notion{table}/rows.jsonl; ls /notion{table}/rows | grep -c customer").stdout == "12\n0\n"
    run(terminal, "update-a-database", database_id=table, title=[{"text": {"content": "Customers"}}], properties={"Stage": None, "Phone": {"phone_number": {}}})
    assert terminal.run("head -1 /notion/Sales*/Customers*/rows.csv").stdout == "id,Name,Mail,Value,Remarks,Phone\n"
    run(terminal, "patch-page", page_id=terminal.run("echo /notion/Wiki__*").stdout.strip(), properties={"title": [{"text": {"content": "Handbook"}}]})
    assert terminal.run("ls /notion | grep -c -e Handbook -e Wiki").stdout == "1\n"
    made = run(terminal, "create-a-database", parent={"type": "page_id", "page_id": terminal.run("echo /notion/Handbook*").stdout.strip()},
               title=[{"text": {"content": "Keys"}}], properties={"Key": {"title": {}}})
    assert terminal.run(f"ls {made['path']}").stdout == "database.json\nrows\nrows.csv\nrows.jsonl\n"


def test_looking(simulator, mount, terminal):
    table = named(mount, "/Campaigns")
    found = run(terminal, "post-database-query", database_id=f"/notion{table}/rows.jsonl", sorts=[{"property": "Engagement rate", "direction": "descending"}],
                filter={"property": "Engagement rate", "number": {"greater_than": 2}}, page_size=2)
    rates = [row["properties"]["Engagement rate"]["number"] for row in found["results"]]
    assert len(rates) == 2 and rates == sorted(rates, reverse=True) and found["has_more"]
    assert [r["object"] for r in run(terminal, "post-search", query="CRM", filter={"property": "object", "value": "database"})["results"]] == ["database"]
    assert run(terminal, "retrieve-a-database", database_id=table)["title"][0]["plain_text"] == "Campaigns"
    people = run(terminal, "get-users", page_size=3)
    more = run(terminal, "get-users", start_cursor=people["next_cursor"])
    assert len(people["results"]) == 3 and len(more["results"]) == 5
    assert run(terminal, "get-user", user_id=more["results"][0]["id"])["type"] == "person" and run(terminal, "get-self")["type"] == "bot"
    wiki = named(mount, "/Wiki")
    assert run(terminal, "retrieve-a-page", page_id=wiki, filter_properties="title")["properties"]["title"]["title"][0]["plain_text"] == "Wiki"
    item = run(terminal, "retrieve-a-page-property", page_id=wiki, property_id="title")
    assert item["results"][0]["title"]["plain_text"] == "Wiki"
    run(terminal, "create-a-comment", parent={"page_id": f"/notion{wiki}"}, rich_text=TEXT)
    assert run(terminal, "retrieve-a-comment", block_id=wiki)["results"][0]["rich_text"][0]["plain_text"] == "Grüße\nzwei"


def test_refusals_of_the_service(simulator, mount, terminal):
    wiki, table = named(mount, "/Wiki")[-32:], named(mount, "/Campaigns")[-32:]
    for operation, arguments, code, part in (
            ("retrieve-a-page", {"page_id": "0" * 32}, 404, "Could not find page with ID"),
            ("retrieve-a-page", {"page_id": table}, 400, "is a database, not a page"),
            ("retrieve-a-page", {"page_id": "nonsense"}, 400, "should be a valid uuid"),
            ("post-page", {"parent": {"page_id": wiki}, "properties": {"Nope": {"number": 1}}}, 400, "not a property that exists"),
            ("post-page", {"parent": {}, "properties": {}}, 400, "body.parent.page_id should be defined"),
            ("patch-block-children", {"block_id": wiki, "children": [{"paragraf": {}}]}, 400, "should be a known block type"),
            ("patch-block-children", {"block_id": wiki, "children": [{"paragraph": {"rich_text": [{"text": {"content": "x" * 2001}}]}}]}, 400, "≤ `2000`"),
            ("post-database-query", {"database_id": table, "filter": {"property": "Budget", "select": {"equals": "x"}}}, 400, "does not match filter"),
            ("post-database-query", {"database_id": table, "page_size": 101}, 400, "≤ `100`")):
        error = run(terminal, operation, 1, **arguments)["error"]
        assert error["code"] == code and part in error["message"], (operation, error)
    assert "did you mean post-page" in terminal.run("notion post-pages").stderr
    assert run(terminal, "post-page", 2, parent={"page_id": wiki}, properties={}, children=["{"])["error"]["code"] == "invalid_arguments"
    assert run(terminal, "retrieve-a-page", 2)["error"]["message"].startswith("page_id is required")


def test_a_lost_answer_is_not_sent_again(simulator, mount, terminal):
    page = named(mount, "/Wiki")
    terminal.run(f"cat /notion{page}/page.md")
    before = simulator.state()
    simulator.fault("reset", "PATCH", after=True)
    error = run(terminal, "patch-block-children", 1, block_id=page, children=[{"paragraph": {"rich_text": TEXT}}])
    assert "connection failed" in error["error"]["message"]
    assert len(simulator.diff(before, simulator.state())["added"]) == 1
    assert terminal.run(f"tail -1 /notion{page}/page.md").stdout == "zwei\n"
    simulator.heal()
    simulator.fault("status", "PATCH", status=429, times=1, seconds=0.01)
    run(terminal, "patch-block-children", block_id=page, children=[{"paragraph": {"rich_text": TEXT}}])


def test_from_config(simulator, tmp_path, mount):
    mounts = {"/": Memory(), "/wiki": mount}
    cli = make_cli("wiki", "notion", {}, mounts=mounts, folder=tmp_path)
    assert cli.mount is mount and cli.point == "/wiki" and cli.name == "wiki"
    other = make_cli("notion", "notion", {"token": "env:OTHER"}, mounts=mounts, folder=tmp_path)
    assert other.mount is not mount and other.point is None
    for options in ({"colour": "red"}, {"token": "ntn_1"}):
        with pytest.raises(ValueError):
            make_cli("notion", "notion", options, mounts=mounts, folder=tmp_path)
    with pytest.raises(ValueError):
        make_cli("notion", "notion", {}, mounts={}, folder=tmp_path)
    with Terminal({"/wiki": mount}, clis=[cli]) as terminal:
        made = json.loads(terminal.run(f"wiki post-page --parent '{{\"page_id\": \"{named(mount, '/Sales')}\"}}' --properties '{{}}'").stdout)
        assert made["path"].startswith("/wiki/Sales__")
