"""Telemetry and fleet of Norrsken Instruments' stations in MongoDB, and what customers say about them."""
from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import bson
from bson import ObjectId

from mirage.bench.company import CUSTOMERS, PROJECTS
from mirage.bench.demo import NOW
from mirage.bench.services.gmail.texts import TICKETS

__all__ = ["NOW", "fill"]
START = datetime.fromtimestamp(NOW, UTC).replace(tzinfo=None) - timedelta(days=360)
PLACES = ("Abisko", "Tromsø", "Łódź", "São Paulo", "Reykjavík", "札幌", "Kraków", "Bergen", "Umeå", "Zürich")
MODELS = ("NS-100", "NS-200", "Apollo", "Borealis gateway")
STATES = ("ok", "ok", "ok", "ok", "low battery", "offline", "calibration due")


def fill(client: Any, seed: int = 1, documents: int = 16000) -> None:
    """Fill an empty server with about `documents`. The same seed gives the same; the oddities do not depend on it."""
    rng = random.Random(seed)
    stations = [_station(n, rng) for n in range(max(5, documents // 80))]
    client.telemetry.stations.insert_many(stations)
    readings = [_reading(n, stations[n % len(stations)], rng) for n in range(documents * 3 // 4)]
    client.telemetry.readings.insert_many(readings)
    client.telemetry.readings.create_index([("station", 1), ("at", -1)], name="station_at")
    client.support.tickets.insert_many([_ticket(n, rng) for n in range(max(10, documents // 8))])
    client.support["customer/notes"].insert_many([
        {"_id": n, "name": name, "mail": mail, "note": rng.choice(PROJECTS["Apollo"])[1]} for n, (name, mail) in enumerate(CUSTOMERS)])
    client.support.create_collection("empty")
    client.support.oddities.insert_many(_oddities())


def _id(kind: int, n: int) -> ObjectId:
    return ObjectId(f"66{kind:02x}{n:020x}")


def _station(n: int, rng: random.Random) -> dict[str, Any]:
    return {"_id": f"NI-{1000 + n}", "model": rng.choice(MODELS), "installed": START + timedelta(days=n % 300),
            "place": {"name": rng.choice(PLACES), "location": {"type": "Point", "coordinates": [round(rng.uniform(5, 25), 4),
                                                                                                round(rng.uniform(50, 69), 4)]}},
            "owner": rng.choice(CUSTOMERS)[0], "firmware": f"2.{n % 7}.{n % 4}", "active": n % 9 != 0,
            "sensors": [{"kind": kind, "serial": f"K{n:04}{i}"} for i, kind in enumerate(("wind", "rain", "temperature")[:1 + n % 3])]}


def _reading(n: int, station: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    return {"_id": _id(1, n), "station": station["_id"], "at": START + timedelta(minutes=43 * n % 518400),
            "wind": {"speed": round(rng.expovariate(0.2), 2), "direction": rng.randrange(360)},
            "temperature": round(rng.gauss(4, 9), 1), "rain": round(max(0.0, rng.gauss(-1, 1)), 1),
            "battery": rng.randrange(11, 101), "state": rng.choice(STATES), "sequence": bson.Int64(10**10 + n)}


def _ticket(n: int, rng: random.Random) -> dict[str, Any]:
    name, address = rng.choice(CUSTOMERS)
    subject, text = rng.choice(TICKETS)
    return {"_id": _id(2, n), "number": n + 1, "subject": subject, "from": {"name": name, "address": address},
            "text": text.format(serial=f"NI-{1000 + rng.randrange(100)}", name=name), "opened": START + timedelta(hours=4 * n),
            "tags": rng.sample(("hardware", "billing", "storm", "API", "Größe"), rng.randrange(4)), "open": rng.random() < 0.2}


def _oddities() -> list[dict[str, Any]]:
    """One of each kind of value, and ids of several types in one collection."""
    return [
        {"_id": 1, "text": "größer \"als\" \\ 1\nzweite Zeile zebra", "empty": "", "nothing": None, "list": [], "object": {}},
        {"_id": 2.5, "decimal": bson.Decimal128("12.50"), "long": bson.Int64(2**60), "double": 0.1, "infinite": float("inf")},
        {"_id": "text id", "binary": b"\x00\xff", "pattern": bson.Regex("^a.b$", "i"), "time": bson.Timestamp(1790000000, 1)},
        {"_id": _id(3, 1), "old": datetime(1, 1, 1), "code": bson.Code("return 1"), "nested": [["deep quagga"], [{"k": "v"}]]},
        {"_id": {"a": 1, "b": "x"}, "key with. dots": 1, "ключ": "значение"},
        {"_id": datetime(2026, 9, 30, 16), "big": "x" * 100_000},
        {"_id": "uuid", "uuid": bson.Binary(bytes(range(16)), 4)}]
