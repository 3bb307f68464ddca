"""What the demo's S3, Redis and web pages hold: backups and exports, sessions and queues, pages of suppliers."""
from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import os
import random
from typing import TYPE_CHECKING, Any

from mirage.bench.company import CUSTOMER_NAMES, CUSTOMERS, ME, PEOPLE, SUPPLIERS, parts
from mirage.bench.demo import DOCS, NOW

if TYPE_CHECKING:
    from collections.abc import Iterator

END = datetime.datetime.fromtimestamp(NOW, datetime.UTC)
BUCKETS = ("backups", "exports")
NIGHTS = 14                                                  # of backups that are kept
PAGES = ("cloudharbor/status.json", "ecb/rates.csv", "kisho/prices.html")
SITES = ("Abisko", "Bergen", "Halle", "Skye", "Tromsø", "Trieste", "稚内", "Umeå")
RESTORE = """Restore test of 6 July 2026, by Søren

Copy of the night, 212 customers, into an empty database of CloudHarbor.
09:00 start; 11:05 measurements are back; 12:20 indexes are built, the sums agree.
3 hours 20 minutes; the goal was two. Next: restore the partitions of the year first.
"""


def objects() -> Iterator[tuple[str, str, bytes, datetime.datetime]]:
    """(bucket, key, content, when it was written)"""
    with open(os.path.join(DOCS, "sales", "orders-2026.csv"), encoding="utf-8", newline="") as file:
        orders = list(csv.DictReader(file))
    for month in sorted({order["date"][:7] for order in orders}):
        text = io.StringIO()
        rows = csv.DictWriter(text, orders[0].keys(), lineterminator="\n")
        rows.writeheader()
        rows.writerows(order for order in orders if order["date"].startswith(month))
        year, number = map(int, month.split("-"))
        first = datetime.datetime(year + number // 12, number % 12 + 1, 1, 4, tzinfo=datetime.UTC)
        yield "exports", f"orders/{month}.csv", text.getvalue().encode(), min(first, END)
    rng = random.Random(1)
    for number, (name, (_, address)) in enumerate(zip(CUSTOMER_NAMES, CUSTOMERS, strict=True)):
        lines = [json.dumps({"serial": f"NI-{1000 + n}", "customer": name, "contact": address, "site": SITES[n % len(SITES)],
                             "rain_mm": round(rng.expovariate(0.05), 1)}, ensure_ascii=False)
                 for n in range(number, 100, len(CUSTOMER_NAMES))]
        yield "exports", f"stations/{name}.jsonl", ("\n".join(lines) + "\n").encode(), END - datetime.timedelta(days=1)
    for night in range(NIGHTS):
        when = (END - datetime.timedelta(days=night)).replace(hour=2, minute=14)
        dump = f"-- Borealis, {when:%Y-%m-%d}\n" + "".join(
            f"INSERT INTO customers VALUES ({n}, '{name}');\n" for n, name in enumerate(CUSTOMER_NAMES, 1))
        yield "backups", f"borealis/{when:%Y-%m-%d}/customers.sql.gz", gzip.compress(dump.encode(), mtime=0), when
        yield "backups", f"borealis/{when:%Y-%m-%d}/measurements.sql.gz", gzip.compress(rng.randbytes(60_000), mtime=0), when
    yield "backups", "borealis/restore-2026-07-06.txt", RESTORE.encode(), datetime.datetime(2026, 7, 6, 12, 40, tzinfo=datetime.UTC)
    yield "backups", "README.md", b"Every night at 02:14 UTC; kept for 14 days.\n", datetime.datetime(2026, 1, 5, 9, tzinfo=datetime.UTC)


def fill_s3() -> None:
    """Put the objects into moto's S3 of this process, with their dates."""
    from moto.core.models import DEFAULT_ACCOUNT_ID
    from moto.s3.models import s3_backends
    backend: Any = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
    for bucket in BUCKETS:
        backend.buckets.pop(bucket, None)
        s3_backends.bucket_accounts.pop(bucket, None)
    for bucket, key, data, when in objects():
        if bucket not in backend.buckets:
            backend.create_bucket(bucket, "us-east-1").creation_date = datetime.datetime(2025, 10, 1, 9)
        made = backend.put_object(bucket, key, data)
        made.last_modified = when.replace(tzinfo=None)


def fill_redis(client: Any) -> None:
    """Sessions, feature flags, queues and counters of the Borealis dashboard."""
    for number, person in enumerate((ME, *PEOPLE)):
        name, address, login = parts(person)
        client.hset(f"session:{login}", mapping={"name": name, "email": address, "since": f"2026-09-30T{8 + number:02}:02:00Z",
                                                 "page": ("/map", "/alerts", "/billing")[number % 3]})
    client.mset({"flag:new-login": "on", "flag:map-clusters": "off", "flag:apollo-beta": "Bergen Harbour,University of Halle"})
    client.rpush("queue:exports", *(json.dumps({"job": n, "customer": name, "format": "csv"}, ensure_ascii=False)
                                    for n, name in enumerate(CUSTOMER_NAMES, 412)))
    client.rpush("queue:mail", *(json.dumps({"to": address, "template": "station-offline", "serial": f"NI-{1000 + 7 * n}"})
                                 for n, (_, address) in enumerate(CUSTOMERS)))
    client.zadd("alerts:stations", {f"NI-{1000 + 13 * n % 100}": n * n % 17 for n in range(20)})
    client.sadd("maintenance", "NI-1004", "NI-1031", "NI-1077")
    client.mset({f"limit:{name.lower().replace(' ', '-')}": 3600 // (n + 1) for n, name in enumerate(CUSTOMER_NAMES)})


def pages() -> dict[str, bytes]:
    """path -> content of the web pages."""
    rng = random.Random(2)
    days = [END.date() - datetime.timedelta(days=n) for n in range(60, -1, -1)]
    rates = "day,SEK,NOK,JPY,GBP\n" + "".join(
        f"{day},{11.4 + rng.gauss(0, 0.05):.3f},{11.7 + rng.gauss(0, 0.05):.3f},{163 + rng.gauss(0, 1):.2f},{0.86 + rng.gauss(0, 0.004):.4f}\n"
        for day in days)
    kisho = next(s for s in SUPPLIERS if s[0].startswith("Kisho"))
    sensors = "".join(f"<tr><td>{name}</td><td>{price:.2f} EUR</td></tr>\n"
                      for name, price in (("Humidity KH-7", kisho[3]), ("Ultrasonic KU-2", 412.5), ("温度 KT-1", 31.0)))
    return {
        "ecb/rates.csv": rates.encode(),
        "kisho/prices.html": f"<html><title>{kisho[0]}</title><h1>Price list 2026</h1>\n<table>\n{sensors}</table></html>\n".encode(),
        "cloudharbor/status.json": (json.dumps({"page": "CloudHarbor status", "incidents": [
            {"day": "2026-03-03", "title": "None of ours: a customer's certificate expired", "minutes": 0},
            {"day": "2026-08-17", "title": "Disks of region north were slow", "minutes": 95}]}, indent=1) + "\n").encode()}
