"""The company's database, a SQLite file: orders, customers, suppliers, stock as in the documents; stations, tickets."""
from __future__ import annotations

import csv
import json
import os
import random
import sqlite3
from datetime import timedelta
from typing import Any

from mirage.bench.company import FIRST, ME, MY_TITLE, PEOPLE, PROJECTS, TITLES, parts
from mirage.bench.demo import DOCS
from mirage.bench.services.gmail.texts import TICKETS

DAYS = 364
STATIONS = 100                                               # NI-1000 to NI-1099, as in mail, chats and issues
SITES = ("Abisko", "Bergen", "Halle", "Skye", "Tromsø", "Trieste", "稚内", "Umeå")
BUDGETS = {"Apollo": 240_000, "Borealis": 180_000}
TABLES = """
CREATE TABLE employees (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, title TEXT);
CREATE TABLE projects (name TEXT PRIMARY KEY, lead INTEGER NOT NULL REFERENCES employees (id), budget_eur INTEGER);
CREATE TABLE suppliers (name TEXT PRIMARY KEY, goods TEXT, contact TEXT, payment_days INTEGER, rating TEXT);
CREATE TABLE products (sku TEXT PRIMARY KEY, description TEXT, price_eur INTEGER, price_from_10_eur INTEGER,
  in_stock INTEGER, reserved INTEGER, reorder_at INTEGER);
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, contact TEXT, email TEXT UNIQUE,
  country TEXT, stations INTEGER);
CREATE TABLE orders (id INTEGER PRIMARY KEY, day DATE NOT NULL, customer_id INTEGER REFERENCES customers (id),
  sku TEXT REFERENCES products (sku), quantity INTEGER, unit_price_eur INTEGER, state TEXT NOT NULL);
CREATE TABLE stations (serial TEXT PRIMARY KEY, model TEXT REFERENCES products (sku),
  customer_id INTEGER REFERENCES customers (id), site TEXT, firmware TEXT, installed DATE);
CREATE TABLE tickets (id INTEGER PRIMARY KEY, opened DATE NOT NULL, closed DATE, subject TEXT NOT NULL,
  serial TEXT REFERENCES stations (serial), assignee INTEGER REFERENCES employees (id));
CREATE TABLE measurements (serial TEXT REFERENCES stations (serial), day DATE, wind_kmh REAL, rain_mm REAL,
  temperature REAL, battery INTEGER, PRIMARY KEY (serial, day));
CREATE VIEW open_tickets AS SELECT t.id, t.opened, t.subject, t.serial, c.name AS customer, e.name AS assignee
  FROM tickets t JOIN stations s USING (serial) JOIN customers c ON c.id = s.customer_id
  LEFT JOIN employees e ON e.id = t.assignee WHERE t.closed IS NULL;
CREATE VIEW revenue AS SELECT c.name AS customer, count(*) AS orders, sum(o.quantity * o.unit_price_eur) AS eur
  FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.state <> 'cancelled' GROUP BY c.id;
"""


def make_database(path: str, seed: int = 1, tickets: int = 500, days: int = 30) -> None:
    """Write the file. The same seed gives the same rows.

    days  of measurements of each station, until the end of September
    """
    if os.path.exists(path):                                 # of an attempt that failed
        os.unlink(path)
    db = sqlite3.connect(path)
    with db:
        db.executescript(TABLES)
        _from_documents(db)
        _from_stations(db, random.Random(seed), tickets, days)
    db.close()


def _insert(db: sqlite3.Connection, table: str, rows: list[tuple[Any, ...]]) -> None:
    db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def _rows(name: str) -> list[dict[str, Any]]:
    """The rows of a document: CSV with a header, or JSON."""
    with open(os.path.join(DOCS, name), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file)) if name.endswith(".csv") else json.load(file)


def _from_documents(db: sqlite3.Connection) -> None:
    staff = [(*parts(ME)[:2], MY_TITLE), *((*parts(p)[:2], t) for p, t in zip(PEOPLE, TITLES, strict=True))]
    _insert(db, "employees", [(n, *person) for n, person in enumerate(staff, 1)])
    _insert(db, "projects", [(name, n, BUDGETS[name]) for n, name in enumerate(PROJECTS, 2)])
    _insert(db, "suppliers", [(r["supplier"], r["goods"], r["contact"], r["payment_days"], r["rating"])
                              for r in _rows("company/operations/suppliers.csv")])
    stock: Any = _rows("company/operations/stock.json")
    held = {item["sku"]: (item["in_stock"], item["reserved"], item["reorder_at"]) for item in stock["items"]}
    prices = _rows("sales/price-list.csv")
    _insert(db, "products", [(r["product"], r["description"], r["price_eur"], r["price_from_10_eur"],
                              *held.get(r["product"], (None, None, None))) for r in prices])
    customers = _rows("sales/customers.json")
    _insert(db, "customers", [tuple(c[key] for key in ("id", "name", "contact", "email", "country", "stations"))
                              for c in customers])
    ids = {c["name"]: c["id"] for c in customers}
    _insert(db, "orders", [(r["order"], r["date"], ids[r["customer"]], r["product"], r["quantity"], r["unit_price_eur"],
                            r["state"]) for r in _rows("sales/orders-2026.csv")])


def _from_stations(db: sqlite3.Connection, rng: random.Random, tickets: int, days: int) -> None:
    def day(n: int) -> str:
        return f"{FIRST + timedelta(days=n):%Y-%m-%d}"

    customers = [id for id, in db.execute("SELECT id FROM customers ORDER BY id")]
    serials = [f"NI-{1000 + n}" for n in range(STATIONS)]
    models = ("APOLLO", "NI-300", "NI-200")
    _insert(db, "stations", [(serial, models[n % 3], rng.choice(customers), SITES[n % len(SITES)],
                              f"2.{n % 5}.{n % 3}", day(3 * n)) for n, serial in enumerate(serials)])
    rows = []
    for n in range(tickets):
        opened = n * DAYS // tickets
        closed = opened + rng.randrange(1, 40)
        rows.append((n + 1, day(opened), day(closed) if closed < DAYS and rng.random() < 0.9 else None,
                     rng.choice(TICKETS)[0], rng.choice(serials), rng.choice((4, 5, None))))
    _insert(db, "tickets", rows)
    _insert(db, "measurements", [
        (serial, day(DAYS - days + n), round(rng.expovariate(0.05), 1), round(max(0.0, rng.gauss(-2, 4)), 1),
         round(rng.gauss(9, 6), 1), rng.randrange(11, 101)) for serial in serials for n in range(days)])
