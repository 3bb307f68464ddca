"""Servers and data for the tests of databases."""
from __future__ import annotations

import glob
import os
import shutil
import socket
import sqlite3
import subprocess
import time

NOTES = [(1, "Grüße, \"quoted\"", 1.5, b"\x00\xff", None), (2, "line\nfoo bar", 0.1, None, "2026-03-01"),
         (3, "", None, b"zebra", "2026-03-02")]


def make_sqlite(path, rows=300):
    """A small shop: a table with a key, one with odd names and values, one without a key, and a view."""
    with sqlite3.connect(path) as db:
        db.executescript("""
            CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT DEFAULT 'Bergen');
            CREATE TABLE "odd/ name" (id INTEGER, note TEXT, ratio REAL, data BLOB, day DATE);
            CREATE TABLE pairs (a INTEGER, b TEXT, v INTEGER REFERENCES customers(id), PRIMARY KEY (a, b));
            CREATE VIEW oslo AS SELECT name FROM customers WHERE city = 'Oslo';
            CREATE TABLE empty (id INTEGER PRIMARY KEY);""")
        db.executemany("INSERT INTO customers VALUES (?, ?, ?)",
                       [(n, f"Customer {n}", "Oslo" if n % 3 == 0 else "Bergen") for n in range(1, rows + 1)])
        db.executemany('INSERT INTO "odd/ name" VALUES (?, ?, ?, ?, ?)', NOTES)
        db.executemany("INSERT INTO pairs VALUES (?, ?, ?)", [(n // 40, f"k{n % 40:02}", n % 5 or None) for n in range(250)])
    db.close()


class MariaDB:
    """A server of its own in `folder`, without users and passwords."""

    def __init__(self, folder):
        self.port = free_port()
        os.makedirs(f"{folder}/data/mysql")
        me = ["--user=root"] if os.getuid() == 0 else []
        self.server = subprocess.Popen(
            ["mariadbd", "--no-defaults", f"--datadir={folder}/data", f"--tmpdir={folder}", f"--port={self.port}", *me,
             "--bind-address=127.0.0.1", f"--socket={folder}/s", f"--pid-file={folder}/pid", "--skip-grant-tables",
             "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=16M"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")

    def connect(self):
        import pymysql
        for _ in range(150):
            try:
                return pymysql.connect(host="127.0.0.1", port=self.port, user="root", autocommit=True)
            except pymysql.OperationalError:
                time.sleep(0.1)
        raise AssertionError("MariaDB does not start")

    def stop(self):
        self.server.terminate()
        self.server.wait(20)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def postgres_bin():
    """The folder of Debian's initdb and postgres, or None."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    path = found[-1] if found else shutil.which("initdb")
    return os.path.dirname(path) if path else None


class Postgres:
    """A server of its own in `folder`, run by an unprivileged user (PostgreSQL refuses root)."""

    def __init__(self, folder):
        self.folder, self.port, self.bin = str(folder), free_port(), postgres_bin()
        self.as_user = {}
        if os.getuid() == 0:
            self.as_user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
            at = self.folder
            while at not in ("/", "/tmp"):
                os.chmod(at, os.stat(at).st_mode | 0o055)
                at = os.path.dirname(at)
            os.chmod(self.folder, 0o777)
        data = f"{self.folder}/data"
        self.run("initdb", "-D", data, "-U", "owner", "-A", "trust", "-N", "-E", "UTF8", "--locale=C.UTF-8")
        self.server = subprocess.Popen(
            [f"{self.bin}/postgres", "-D", data, "-p", str(self.port), "-h", "127.0.0.1", "-k", "", "-F"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", **self.as_user)

    def run(self, program, *args):
        subprocess.run([f"{self.bin}/{program}", *args], check=True, stdout=subprocess.DEVNULL, cwd="/",
                       timeout=60, **self.as_user)

    @property
    def url(self):
        return f"postgresql://owner@127.0.0.1:{self.port}/postgres"

    def wait(self):
        import psycopg
        for _ in range(150):
            try:
                return psycopg.connect(self.url, autocommit=True)
            except psycopg.OperationalError:
                time.sleep(0.1)
        raise AssertionError("PostgreSQL does not start")

    def stop(self):
        self.server.terminate()
        self.server.wait(20)
