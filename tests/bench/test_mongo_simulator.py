"""The small MongoDB, asked by the real driver."""
from __future__ import annotations

import pytest

pytest.importorskip("mongomock")

import pymongo
from pymongo.errors import AutoReconnect, BulkWriteError, OperationFailure

from mirage.bench.services.mongo import MongoSimulator


@pytest.fixture(scope="module")
def server():
    with MongoSimulator(documents=400) as simulator:
        yield simulator


@pytest.fixture
def client(server):
    server.heal()
    server.clear_log()
    with pymongo.MongoClient(server.url, serverSelectionTimeoutMS=3000, retryReads=False) as client:
        yield client


def test_a_seed_is_a_server():
    one, two, other = (MongoSimulator(seed=seed, documents=100) for seed in (1, 1, 2))
    assert one.state() == two.state() != other.state() and 90 < len(one.state()) < 130


def test_cursors_have_batches(server, client):
    readings = client.telemetry.readings
    assert len(list(readings.find())) == 300 and server.calls("getMore") == 1
    server.clear_log()
    assert len(list(readings.find(batch_size=50))) == 300 and server.calls("getMore") in (5, 6)
    with readings.find(batch_size=10) as cursor:
        assert next(cursor)["station"] == "NI-1000"
    assert server.calls("killCursors") == 1 and not server._cursors
    assert [d["battery"] for d in readings.find({"battery": {"$gt": 90}}, {"battery": 1}).sort("battery", -1).limit(2)] == \
        sorted((d["battery"] for d in readings.find()), reverse=True)[:2]


def test_changes(server, client):
    before, kept = server.state(), server.snapshot()
    things = client.shop.things
    assert things.insert_many([{"_id": n} for n in range(5)]).inserted_ids == [0, 1, 2, 3, 4]
    assert things.update_one({"_id": 1}, {"$set": {"a": 2}}).modified_count == 1
    assert things.replace_one({"_id": 2}, {"b": 3}).matched_count == 1
    assert things.delete_many({"_id": {"$gt": 2}}).deleted_count == 2
    with pytest.raises(BulkWriteError):
        things.insert_many([{"_id": 7}, {"_id": 1}, {"_id": 8}])
    assert things.create_index([("a", 1)], name="a") == "a" and len(list(things.list_indexes())) == 2
    assert {k.split()[1] for k in server.diff(before, server.state())["added"]} == {"0", "1", "2", "7"}
    client.drop_database("shop")
    assert server.state() == before
    client.support.tickets.drop()
    server.restore(kept)
    assert server.state() == before


def test_types_by_aggregation(client):
    fields = client.support.oddities.aggregate([{"$project": {"kv": {"$objectToArray": "$$ROOT"}}}, {"$unwind": "$kv"},
                                                {"$group": {"_id": {"k": "$kv.k", "t": {"$type": "$kv.v"}}}}])
    found = {(d["_id"]["k"], d["_id"]["t"]) for d in fields}
    assert {("_id", "int"), ("_id", "double"), ("_id", "objectId"), ("_id", "date"), ("decimal", "decimal"), ("long", "long"),
            ("binary", "binData"), ("nested", "array"), ("nothing", "null"), ("object", "object"), ("pattern", "regex")} <= found


def test_errors_and_faults(server, client):
    with pytest.raises(OperationFailure, match="no such command"):
        client.admin.command("frobnicate")
    with pytest.raises(OperationFailure) as caught:
        client.support.command("drop", "none")
    assert caught.value.code == 26
    server.fault("error", "find", name="Unauthorized", times=1)
    with pytest.raises(OperationFailure) as caught:
        client.support.tickets.find_one()
    assert caught.value.code == 13 and client.support.tickets.find_one()["number"] == 1
    server.fault("reset", "count", times=1)
    with pytest.raises(AutoReconnect):
        client.support.command("count", "tickets")
