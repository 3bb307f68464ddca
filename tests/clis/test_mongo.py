from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("pymongo")
pytest.importorskip("mongomock")

from mirage.bench.services.mongo import MongoSimulator
from mirage.clis import make_cli
from mirage.clis.mongo import MongoCli
from mirage.mounts import Memory
from mirage.vfs.registry import make_mount as make_mount_by_name
from tests.clis.support import run
from tests.mounts.mongo_support import make_terminal

PUBLISHED = Path(__file__).parent / "data" / "mongo-operations.json"
SHOP = "--database shop --collection items"


@pytest.fixture(scope="module")
def server():
    with MongoSimulator(documents=80) as simulator:
        yield simulator


@pytest.fixture
def simulator(server):
    kept = server.snapshot()
    server.clear_log()
    yield server
    server.heal()
    server.restore(kept)


@pytest.fixture
def terminal(simulator):
    with make_terminal(simulator) as terminal:
        yield terminal


def cli():
    from mirage.mounts.mongodb import build
    from mirage.mounts.sql.url import DatabaseUrl
    return MongoCli(build(DatabaseUrl("mongodb://127.0.0.1:1/")))


def test_operations_are_those_of_the_published_server():
    published = json.loads(PUBLISHED.read_text())["operations"]
    operations = cli().operations
    assert set(operations) == set(published)
    for name, arguments in published.items():
        schema = operations[name].model.model_json_schema()
        assert set(schema.get("properties", {})) == set(arguments["arguments"]), name
        assert set(schema.get("required", ())) == set(arguments["required"]), name


def test_effects():
    effects = {name: o.effects for name, o in cli().operations.items()}
    assert {name for name, e in effects.items() if e == ("read",)} == {
        "find", "aggregate", "count", "list-databases", "list-collections", "collection-schema", "collection-indexes",
        "collection-storage-size", "db-stats", "explain"}
    assert {name for name, e in effects.items() if e == ("destroy",)} == {"delete-many", "drop-index", "drop-collection", "drop-database"}
    assert effects["rename-collection"] == ("update", "destroy") and effects["update-many"] == ("update",)


def test_reading(terminal):
    found = run(terminal, "mongo find --database support --collection tickets --filter '{\"number\": {\"$lt\": 3}}' --sort '{\"number\": -1}' "
                          "--projection '{\"number\": 1, \"opened\": 1}'")
    assert [d["number"] for d in found] == [2, 1] and set(found[0]) == {"_id", "number", "opened"}
    again = run(terminal, f"mongo find --database support --collection tickets --filter '{json.dumps({'_id': found[0]['_id']})}'")
    assert again[0]["number"] == 2
    after = json.dumps({"opened": {"$gt": found[1]["opened"]}})
    assert run(terminal, f"mongo count --database support --collection tickets --query '{after}'") == {"count": 9}
    assert run(terminal, "mongo aggregate --database support --collection tickets --pipeline '[{\"$group\": {\"_id\": null, \"n\": {\"$max\": \"$number\"}}}]'"
               ) == [{"_id": None, "n": 10}]
    assert len(run(terminal, "mongo find --database telemetry --collection readings --limit 0")) == 60
    assert [c["name"] for c in run(terminal, "mongo list-collections --database support")] == ["customer/notes", "empty", "oddities", "tickets"]
    assert {"name": "telemetry", "size": 4096} in run(terminal, "mongo list-databases")
    assert run(terminal, "mongo collection-schema --database telemetry --collection readings --sampleSize 5")["fields"]["wind.speed"]
    assert run(terminal, "mongo collection-indexes --database telemetry --collection readings")[1]["key"] == {"station": 1, "at": -1}
    assert run(terminal, "mongo collection-storage-size --database telemetry --collection readings")["count"] == 60
    assert run(terminal, "mongo db-stats --database support")["collections"] == 4
    method = json.dumps([{"name": "find", "arguments": {"filter": {"number": 1}}}])
    assert "queryPlanner" in run(terminal, f"mongo explain --database support --collection tickets --method '{method}'")


def test_changes_show_with_the_next_command(simulator, terminal):
    before = simulator.state()
    assert terminal.run("ls /mongo").stdout == "support\ntelemetry\n"
    documents = json.dumps([{"_id": n, "name": f"Ünit {n}", "at": {"$date": "2026-01-01T00:00:00Z"}} for n in range(3)])
    assert run(terminal, f"mongo insert-many {SHOP} --documents '{documents}'") == {"insertedCount": 3, "insertedIds": [0, 1, 2]}
    assert terminal.run("ls /mongo; tail -n 1 /mongo/shop/items/documents.jsonl").stdout == (
        'shop\nsupport\ntelemetry\n{"_id": 2, "name": "Ünit 2", "at": {"$date": "2026-01-01T00:00:00Z"}}\n')
    update = '{"$set": {"sold": true}}'
    assert run(terminal, f"mongo update-many {SHOP} --filter '{{\"_id\": {{\"$gte\": 1}}}}' --update '{update}'") == {"matchedCount": 2, "modifiedCount": 2}
    assert terminal.run("jq -c .sold /mongo/shop/items/documents.jsonl").stdout == "null\ntrue\ntrue\n"
    assert run(terminal, f"mongo update-many {SHOP} --filter '{{\"_id\": 9}}' --update '{update}' --upsert") == {
        "matchedCount": 0, "modifiedCount": 0, "upsertedId": 9}
    assert run(terminal, f"mongo delete-many {SHOP} --filter '{{\"sold\": true}}'") == {"deletedCount": 3}
    assert terminal.run("cat /mongo/shop/items/count").stdout == "1\n"
    assert run(terminal, f"mongo create-index {SHOP} --name byName --definition '[{{\"type\": \"classic\", \"keys\": {{\"name\": 1}}}}]'") == {"name": "byName"}
    assert "byName" in terminal.run("cat /mongo/shop/items/schema.json").stdout
    run(terminal, f"mongo drop-index {SHOP} --indexName byName")
    run(terminal, f"mongo rename-collection {SHOP} --newName things")
    run(terminal, "mongo create-collection --database shop --collection empty")
    assert terminal.run("ls /mongo/shop").stdout == "empty\nthings\n"
    run(terminal, "mongo drop-collection --database shop --collection empty")
    assert set(simulator.diff(before, simulator.state())["added"]) == {"shop.things 0"}
    run(terminal, "mongo drop-database --database shop")
    assert terminal.run("ls /mongo").stdout == "support\ntelemetry\n" and simulator.state() == before


def test_refusals(terminal):
    for line, code, word in (
            ("drop-collection --database support --collection none", "enoent", "ns not found"),
            ("create-collection --database support --collection tickets", "eexist", "already exists"),
            ("drop-index --database support --collection tickets --indexName none", "enoent", "index not found"),
            ("insert-many --database support --collection oddities --documents '[{\"_id\": 1}]'", "eexist", "Duplicate"),
            ("find --database telemetry --collection readings --limit 0 --responseBytesLimit 500", 413, "more than 500 bytes"),
            ("aggregate --database support --collection tickets --pipeline '[{\"$out\": \"x\"}]'", "eacces", "aggregate only reads"),
            ("aggregate --database support --collection tickets --pipeline '[{\"$merge\": \"x\"}]'", "eacces", "aggregate only reads"),
            ("find --database 'a b' --collection c", "einval", "")):
        error = run(terminal, f"mongo {line}", 1)["error"]
        assert error["code"] == code and word in error["message"], error
    assert run(terminal, "mongo find --database a --collection c --filter '{\"_id\": {\"$oid\": \"nonsense\"}}'", 2)["error"]["code"] == "invalid_arguments"
    assert run(terminal, "mongo find --collection c", 2)["error"]["code"] == "invalid_arguments"
    assert "did you mean find" in run(terminal, "mongo fnd", 2)["error"]["message"]


def test_a_lost_answer_changes_once(simulator, terminal):
    before = simulator.state()
    simulator.fault("reset", "insert", after=True)
    assert "connection closed" in run(terminal, f"mongo insert-many {SHOP} --documents '[{{\"a\": 1}}]'", 1)["error"]["message"]
    assert len(simulator.diff(before, simulator.state())["added"]) == 1
    assert terminal.run("wc -l < /mongo/shop/items/documents.jsonl").stdout == "1\n"


def test_policy(simulator):
    policy = ("rules:\n  - {effect: call, cli: mongo, operation: 'insert-*', when: \"database == 'support'\", action: deny, reason: not there}\n"
              "  - {effect: destroy, action: deny, reason: nothing is deleted}\n  - {path: '/mongo/telemetry/**', action: hide}\n")
    with make_terminal(simulator, policy=policy) as terminal:
        before = simulator.state()
        for line in ("insert-many --database support --collection x --documents '[{}]'", "drop-database --database support",
                     "rename-collection --database support --collection tickets --newName empty --dropTarget"):
            result = terminal.run(f"mongo {line}")
            assert result.exit_code == 126 and "mirage: denied:" in result.stderr
        assert simulator.state() == before
        assert terminal.run(f"mongo insert-many {SHOP} --documents '[{{}}]'").exit_code == 0
        assert "telemetry" not in terminal.run("ls /mongo; grep -rl NI- /mongo").stdout
        assert terminal.run("wc -l < /mongo/support/tickets/documents.jsonl; tail -n 1 /mongo/support/tickets/documents.jsonl | jq .number").stdout == "10\n10\n"


def test_from_config(simulator, tmp_path):
    mount = make_mount_by_name("mongodb", {"url": simulator.url}, tmp_path)
    mounts = {"/": Memory(), "/m": mount}
    assert make_cli("db", "mongodb", {}, mounts=mounts, folder=tmp_path).mount is mount
    assert make_cli("db", "mongodb", {"url": simulator.url}, mounts=mounts, folder=tmp_path).mount is mount
    assert make_cli("db", "mongodb", {"url": "env:OTHER"}, mounts=mounts, folder=tmp_path).mount is not mount
    for options in ({"colour": "red"}, {"url": "mongodb://a:b@c/"}):
        with pytest.raises(ValueError):
            make_cli("db", "mongodb", options, mounts={}, folder=tmp_path)
    with pytest.raises(ValueError):
        make_cli("db", "mongodb", {}, mounts={}, folder=tmp_path)


def test_the_example_of_the_readme(simulator, tmp_path, monkeypatch):
    from mirage.config import load
    from mirage.mounts import mongodb
    readme = (Path(mongodb.__file__).parent / "README.md").read_text()
    (tmp_path / "mirage.yaml").write_text(re.search(r"```yaml\n(.*?)```", readme, re.S).group(1))
    monkeypatch.setenv("MONGO_URL", simulator.url)
    command = re.search(r"`(tail -n 1 [^`]*)`", readme).group(1)
    with load(tmp_path / "mirage.yaml").make_terminal() as terminal:
        battery = simulator.client.telemetry.readings.find_one(sort=[("_id", -1)])["battery"]
        assert terminal.run(command).stdout == f"{battery}\n"
        assert run(terminal, "mongo count --database telemetry --collection readings") == {"count": 60}
        assert simulator.url not in terminal.run("env; cat /VFS.md /SKILL.md; cat /proc/*/environ").stdout
