"""The database of the company: customers, products, orders, stations and tickets in a SQLite file."""
from __future__ import annotations

import random
import sqlite3
from datetime import date

FIRST, DAYS = date(2025, 10, 1), 365
TABLES = """
CREATE TABLE employees (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, title TEXT);
CREATE TABLE projects (name TEXT PRIMARY KEY, lead INTEGER NOT NULL REFERENCES employees (id), budget_eur INTEGER);
CREATE TABLE suppliers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, delivers TEXT);
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, contact TEXT NOT NULL, email TEXT NOT NULL UNIQUE,
                        country TEXT, since DATE NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, day DATE NOT NULL, customer_id INTEGER NOT NULL REFERENCES customers (id),
                     stations INTEGER NOT NULL, price_eur DECIMAL(10, 2) NOT NULL, status TEXT NOT NULL);
CREATE TABLE stations (serial TEXT PRIMARY KEY, order_id INTEGER REFERENCES orders (id), model TEXT NOT NULL,
                       firmware TEXT, site TEXT);
CREATE TABLE tickets (id INTEGER PRIMARY KEY, opened DATE NOT NULL, closed DATE, serial TEXT REFERENCES stations (serial),
                      customer_id INTEGER NOT NULL REFERENCES customers (id), subject TEXT NOT NULL,
                      assignee INTEGER REFERENCES employees (id));
CREATE VIEW open_tickets AS SELECT t.id, t.opened, t.subject, t.serial, c.name AS customer FROM tickets t
    JOIN customers c ON c.id = t.customer_id WHERE t.closed IS NULL;
CREATE VIEW revenue AS SELECT c.name AS customer, count(*) AS orders, sum(o.stations) AS stations,
    sum(o.stations * o.price_eur) AS eur FROM orders o JOIN customers c ON c.id = o.customer_id
    WHERE o.status <> 'cancelled' GROUP BY c.id;
"""


def fill(path: str, seed: int = 1, orders: int = 400, tickets: int = 600) -> None:
    """Make the file. The same seed gives the same rows."""
    db = sqlite3.connect(path)
    with db:
        db.executescript(TABLES)
        _people(db)
        _trade(db, random.Random(seed), orders, tickets)
    db.close()
