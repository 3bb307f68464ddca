from __future__ import annotations

import csv
import io
import json
import os
import re
import sqlite3

import pytest

pytest.importorskip("sqlalchemy")

from mirage import Terminal
from mirage.clis.sql import SqlCli
from mirage.mounts.sql import build
from mirage.mounts.sql.url import DatabaseUrl
from mirage.vfs.registry import ProviderError, make_mount
from mirage.vfs.search import Query
from tests.mounts.contract import MountContract, everything, raises
from tests.mounts.sql_support import MariaDB, Postgres, make_sqlite, postgres_bin


@pytest.fixture
def path(tmp_path):
    make_sqlite(tmp_path / "shop.db")
    return tmp_path / "shop.db"


@pytest.fixture
def mount(path):
    mount = build(DatabaseUrl(f"sqlite:///{path}"))
    yield mount
    mount.close()


@pytest.fixture
def terminal(mount):
    with Terminal({"/db": mount}) as terminal:
        yield terminal


class TestContract(MountContract):
    @pytest.fixture
    def mount(self, path):
        mount = build(DatabaseUrl(f"sqlite:///{path}"))
        yield mount
        mount.close()


def lines(mount, path):
    return [json.loads(line) for line in mount.read(path).splitlines()]


# ---- the tree and its formats

def test_tree(terminal):
    assert terminal.run("ls /db/main; ls /db/main/customers").stdout.split("\n") == [
        "customers", "empty", "odd_ name", "oslo", "pairs", "count", "rows.csv", "rows.jsonl", "schema.json", ""]
    assert terminal.run("cat /db/main/customers/count /db/main/empty/count /db/main/oslo/count").stdout == "300\n0\n100\n"


def test_schema(mount):
    schema = json.loads(mount.read("/main/pairs/schema.json"))
    assert (schema["schema"], schema["name"], schema["type"]) == ("main", "pairs", "table")
    assert [(c["name"], c["type"], c["nullable"]) for c in schema["columns"]][2] == ("v", "INTEGER", True)
    assert schema["primary_key"] == ["a", "b"]
    assert schema["foreign_keys"][0]["references"]["table"] == "customers"
    assert json.loads(mount.read("/main/oslo/schema.json"))["type"] == "view"


def test_values_of_every_kind(mount):
    assert mount.read("/main/odd_ name/rows.jsonl").decode() == (
        '{"id": 1, "note": "Grüße, \\"quoted\\"", "ratio": 1.5, "data": "AP8=", "day": null}\n'
        '{"id": 2, "note": "line\\nfoo bar", "ratio": 0.1, "data": null, "day": "2026-03-01"}\n'
        '{"id": 3, "note": "", "ratio": null, "data": "emVicmE=", "day": "2026-03-02"}\n')
    assert mount.read("/main/odd_ name/rows.csv").decode() == (
        'id,note,ratio,data,day\n1,"Grüße, ""quoted""",1.5,AP8=,\n2,"line\nfoo bar",0.1,,2026-03-01\n'
        '3,"",,emVicmE=,2026-03-02\n')
    assert mount.read("/main/empty/rows.csv") == b"id\n" and mount.read("/main/empty/rows.jsonl") == b""


@pytest.mark.parametrize("table", ["customers", "pairs", "oslo", "odd_ name"])
def test_every_row_once_and_in_order(mount, path, table):
    name = table.replace("odd_", "odd/")
    with sqlite3.connect(path) as db:
        expected = [list(row) for row in db.execute(f'SELECT * FROM "{name}"')]
    rows = [list(row.values()) for row in lines(mount, f"/main/{table}/rows.jsonl")]
    plain = [[None if isinstance(v, bytes) else v for v in row] for row in expected]
    assert len(rows) == len(expected)
    if table != "odd_ name":
        assert sorted(map(str, rows)) == sorted(map(str, plain))
    if table in ("customers", "pairs"):
        assert rows == sorted(plain, key=lambda row: (row[0], row[1]))
    data = mount.read(f"/main/{table}/rows.csv").decode()
    assert len(list(csv.reader(io.StringIO(data)))) == len(expected) + 1


def test_keys_with_null_lose_no_row(tmp_path):
    with sqlite3.connect(tmp_path / "n.db") as db:
        db.execute("CREATE TABLE t (k TEXT, v INTEGER, PRIMARY KEY (k, v))")
        db.executemany("INSERT INTO t VALUES (?, ?)", [(None if n % 2 else f"k{n}", n) for n in range(450)])
    db.close()
    mount = build(DatabaseUrl(f"sqlite:///{tmp_path}/n.db"))
    assert sorted(row["v"] for row in lines(mount, "/main/t/rows.jsonl")) == list(range(450))
    mount.close()


def test_a_column_named_rowid(tmp_path):
    with sqlite3.connect(tmp_path / "n.db") as db:
        db.execute("CREATE TABLE t (rowid TEXT, x)")
        db.executemany("INSERT INTO t VALUES ('same', ?)", [(n,) for n in range(350)])
    db.close()
    mount = build(DatabaseUrl(f"sqlite:///{tmp_path}/n.db"))
    assert [row["x"] for row in lines(mount, "/main/t/rows.jsonl")] == list(range(350))
    mount.close()


# ---- cost

def test_head_reads_one_page(path):
    make_sqlite(path.parent / "big.db", 20_000)
    mount = build(DatabaseUrl(f"sqlite:///{path.parent}/big.db"))
    with Terminal({"/db": mount}) as terminal:
        terminal.run("cat /db/main/customers/schema.json")
        for command in ("head -n 3 /db/main/customers/rows.jsonl", "cat /db/main/customers/rows.csv | head -n 4"):
            before = mount.counters.calls
            result = terminal.run(command)
            assert len(result.stdout.splitlines()) in (3, 4) and result.exit_code == 0
            assert mount.counters.calls - before <= 8, command    # the catalogue of a new line, and a page or two
        for command, expected in (("wc -l < /db/main/customers/rows.jsonl", "20000"), ("tail -n 2 /db/main/customers/rows.jsonl | jq -c .id", "19999\n20000"),
                                  ("tail -1 /db/main/customers/rows.csv", "20000,Customer 20000,Bergen"),
                                  ("wc -l /db/main/customers/rows.jsonl", "20000 /db/main/customers/rows.jsonl"),
                                  ("tail -n 3 /db/main/empty/rows.csv; wc -l < /db/main/empty/rows.jsonl; tail -n 3 /db/main/empty/rows.jsonl", "id\n0")):
            before = mount.counters.calls
            assert terminal.run(command).stdout == f"{expected}\n"
            assert mount.counters.calls - before <= 12, command
        assert terminal.run("tail -n 1 /db/main/customers/rows.jsonl").stdout.startswith('{"id": 20000,')
        assert terminal.run("tail -c 30 /db/main/customers/rows.csv | wc -c").stdout == "30\n"


def test_a_loop_over_rows_may_write(path):
    """No cursor stays open between pages: SQLite would answer that the database is locked."""
    mount = build(DatabaseUrl(f"sqlite:///{path}"))
    from mirage.clis.sql import SqlCli
    with Terminal({"/db": mount}, clis=[SqlCli(mount, "/db")]) as terminal:
        result = terminal.run("""head -3 /db/main/customers/rows.jsonl | while read -r line; do
            sql execute --sql "update customers set city = 'Moss' where id = $(jq .id <<< "$line")" || exit 1; done
            grep -c Moss /db/main/customers/rows.jsonl""")
        assert result.stdout.splitlines()[-1] == "3" and result.exit_code == 0, result


# ---- search

WORDS = ["Customer 17", "Oslo", "oslo", "foo", "nfoo", "bar", "zebra", "emVicmE", "AP8", "Grüße", "2026", "0", "1", "city", "k07",
         "null", "quoted", "nowhere", "Bergen", "INTEGER", "03-02", "k_7", "5", "line"]


@pytest.mark.parametrize("ignore_case", [False, True])
def test_search_never_misses(mount, ignore_case):
    contents = {path: mount.read(path).decode() for path, stat in everything(mount) if stat.is_file}
    pushed = 0
    for word in WORDS:
        found = mount.search("/", Query([word], False, ignore_case))
        pattern = re.compile(re.escape(word), re.I if ignore_case else 0)
        expected = {path for path, text in contents.items() if pattern.search(text)}
        if found is not None:
            pushed += 1
            assert expected <= set(found.paths), word
    assert pushed > len(WORDS) - 3
    assert list(mount.search("/", Query(["nowhere to be found"])).paths) == ["/main/odd_ name/rows.jsonl", "/main/odd_ name/rows.csv"]


def test_grep_reads_only_tables_with_hits(terminal, mount):
    result = terminal.run("grep -rl 'Customer 17\"' /db/main/customers /db/main/pairs; grep -rc k07 /db/main/pairs | sort")
    assert result.stdout == ("/db/main/customers/rows.jsonl\n/db/main/pairs/count:0\n/db/main/pairs/rows.csv:7\n"
                             "/db/main/pairs/rows.jsonl:7\n/db/main/pairs/schema.json:0\n")


# ---- errors, secrets, options

def test_a_password_must_be_a_secret():
    with pytest.raises(ProviderError, match="secret") as caught:
        make_mount("sql", {"url": "postgresql://me:hunter2@host/db"})
    assert "hunter2" not in str(caught.value)


def test_the_secret_is_not_shown(monkeypatch):
    monkeypatch.setenv("SHOP_URL", "postgresql://me:hunter2@127.0.0.1:1/db")
    mount = make_mount("sql", {"url": "env:SHOP_URL"})
    assert repr(mount) == "Sql(env:SHOP_URL)"
    with Terminal({"/db": mount}) as terminal:
        result = terminal.run("ls /db")
        assert result.exit_code == 2 and "Input/output error" in result.stderr and "hunter2" not in result.stderr
        assert "sql: " in result.stderr


def test_a_missing_file_and_a_missing_secret(tmp_path):
    raises(2, build(DatabaseUrl(f"sqlite:///{tmp_path}/none.db")).list, "/")
    assert not (tmp_path / "none.db").exists()
    raises(13, build(DatabaseUrl("env:NO_SUCH_URL_HERE")).list, "/")


def test_relative_paths_start_at_the_configuration(path):
    mount = make_mount("sql", {"url": "sqlite:///shop.db"}, path.parent)
    assert [entry.name for entry in mount.list("/")] == ["main"]


def test_files_cannot_be_written(terminal):
    result = terminal.run("echo x > /db/main/customers/count")
    assert result.exit_code == 1 and ("Read-only" in result.stderr or "denied" in result.stderr)


def test_statements_end_in_time(path):
    mount = build(DatabaseUrl(f"sqlite:///{path}"), timeout=0.2)
    error = raises(5, mount.database.query, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) "
                   "SELECT count(*) FROM c", None, 10)
    assert "0.2 s" in error.note


# ---- DuckDB

@pytest.fixture
def duck(tmp_path):
    pytest.importorskip("duckdb_engine")
    import duckdb
    with duckdb.connect(str(tmp_path / "d.duckdb")) as db:
        db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR, price DECIMAL(9, 2), made TIMESTAMP, tags VARCHAR[])")
        db.execute("INSERT INTO t SELECT i, 'name ' || i, i + 0.5, TIMESTAMP '2026-01-01 10:00:00', ['a', 'b'] FROM range(250) r(i)")
        db.execute("CREATE VIEW v AS SELECT name FROM t")
    mount = build(DatabaseUrl(f"duckdb:///{tmp_path}/d.duckdb"))
    yield mount
    mount.close()


@pytest.mark.slow
class TestDuckContract(MountContract):
    @pytest.fixture
    def mount(self, duck):
        return duck


def test_duckdb(duck):
    rows = lines(duck, "/main/t/rows.jsonl")
    assert len(rows) == 250 and rows[7] == {"id": 7, "name": "name 7", "price": 7.5, "made": "2026-01-01T10:00:00", "tags": ["a", "b"]}
    assert b'"price": 7.50,' in duck.read("/main/t/rows.jsonl") and duck.read("/main/v/count") == b"250\n"
    assert json.loads(duck.read("/main/t/schema.json"))["primary_key"] == ["id"]
    for statement in ("SELECT 1; DELETE FROM t", "WITH x AS (SELECT 1) INSERT INTO t(id) VALUES (999)",
                      "SELECT * FROM read_text('/etc/hostname')"):
        with pytest.raises(OSError):
            duck.database.query(statement, None, 10)
    assert duck.read("/main/t/count") == b"250\n"
    assert duck.database.execute("DELETE FROM t WHERE id > 200", None, 10)
    assert duck.read("/main/t/count") == b"201\n"


# ---- the end without the rest

@pytest.mark.parametrize("table", ["customers", "pairs", "oslo", "odd_ name", "empty"])
@pytest.mark.parametrize("file", ["rows.jsonl", "rows.csv"])
def test_tail_and_wc_are_what_reading_gives(terminal, table, file):
    """Keys, rowids, views without order, fields of several lines."""
    for count in (1, 2, 3, 7, 100, 1000):
        path = f"'/db/main/{table}/{file}'"
        result = terminal.run(f"tail -n {count} {path} > a; cat {path} | tail -n {count} > b; cmp a b; "
                              f"wc -l < {path} > a; cat {path} | wc -l > b; cmp a b; tail -n 2 - < {path} | cmp - <(cat {path} | tail -n 2)")
        assert (result.exit_code, result.stdout, result.stderr) == (0, "", ""), count
    result = terminal.run(f"{{ head -n 1; wc -l; }} < {path}; {{ wc -l; cat; }} < {path}")
    assert result.exit_code == 0 and not result.stderr


PATTERNS = """Customer Oslo Bergen 'Customer 1' 'Customer 29[0-9]' ^.*Oslo.*$ quoted Grüße line foo nfoo bar 0.1 1.5 zebra AP8 emVi null
id name city 2026 03 01 k07 k0 150 300 none true Oslo|zebra (foo|quoted) 'Oslo"}' '"city": "Oslo"' '"id": 12,' note day ratio K07 oslo""".split("\n")


def grep_by_row(mount, terminal, point, paths):
    """grep of a file of rows, and with --exact, in which everything is read: the same, with fewer rows read."""
    import shlex
    before = mount.counters.searches
    for number, pattern in enumerate(shlex.split(" ".join(PATTERNS))):
        for turn, flags in enumerate(("", ("-w", "-c", "-o", "-m2", "-x", "-L", "-q", "-H", "-n", "-i", "-F")[number % 11])):
            path = paths[(number + turn) % len(paths)]
            words = f"-E {flags} {shlex.quote(pattern)} {shlex.quote(point + path)}".replace("-E -F", "-F")
            chosen, exact = terminal.run(f"grep {words}"), terminal.run(f"grep --exact {words}")
            assert (chosen.stdout, chosen.exit_code, chosen.stderr) == (exact.stdout, exact.exit_code, exact.stderr), words
    assert mount.counters.searches - before > 20


def test_grep_of_rows(terminal, mount):
    grep_by_row(mount, terminal, "/db", ["/main/customers/rows.jsonl", "/main/odd_ name/rows.jsonl", "/main/pairs/rows.jsonl", "/main/oslo/rows.jsonl"])
    before = mount.counters.bytes, mount.counters.calls
    assert terminal.run("grep 'Customer 299' /db/main/customers/rows.jsonl").stdout.count("\n") == 1
    assert mount.counters.calls - before[1] <= 6


def test_grep_of_rows_under_a_policy(mount):
    policy = "rules: [{path: '/db/main/pairs/**', action: deny, reason: closed}]"
    with Terminal({"/db": mount}, policy=policy) as terminal:
        assert terminal.run("grep -c Oslo /db/main/customers/rows.jsonl; tail -n 1 /db/main/customers/rows.jsonl | jq .id; "
                            "wc -l < /db/main/customers/rows.jsonl").stdout == "100\n300\n300\n"
        result = terminal.run("grep k07 /db/main/pairs/rows.jsonl; tail -n 1 /db/main/pairs/rows.jsonl; wc -l /db/main/pairs/rows.jsonl")
        assert result.stdout == "" and result.stderr.count("mirage: denied: closed") == 3


def test_tail_of_keys_with_null(tmp_path):
    with sqlite3.connect(tmp_path / "n.db") as db:
        db.execute("CREATE TABLE t (k TEXT, v INTEGER, PRIMARY KEY (k, v))")
        db.executemany("INSERT INTO t VALUES (?, ?)", [(None if n % 2 else f"k{n}", n) for n in range(50)])
    db.close()
    mount = build(DatabaseUrl(f"sqlite:///{tmp_path}/n.db"))
    with Terminal({"/db": mount}) as terminal:
        for count in (3, 40):
            assert terminal.run(f"tail -n {count} /db/main/t/rows.jsonl | cmp - <(cat /db/main/t/rows.jsonl | tail -n {count})").exit_code == 0


# ---- MariaDB

@pytest.fixture(scope="module")
def maria(tmp_path_factory):
    import shutil
    if shutil.which("mariadbd") is None:
        pytest.skip("MariaDB is not installed")
    pytest.importorskip("pymysql")
    server = MariaDB(tmp_path_factory.mktemp("maria"))
    try:
        with server.connect() as db, db.cursor() as cursor:
            for statement in ("CREATE DATABASE shop CHARACTER SET utf8mb4", "USE shop", """
                    CREATE TABLE items (id int, part varchar(20), price decimal(9,2), at datetime, day date, flag boolean, data blob,
                        doc json, how enum('happy', 'grumpy'), f double, note text, PRIMARY KEY (id, part))""",
                    "CREATE VIEW cheap AS SELECT id, part FROM items WHERE id < 3", "CREATE TABLE loose (note text)",
                    "INSERT INTO loose VALUES (NULL), ('hello')"):
                cursor.execute(statement)
            cursor.executemany("INSERT INTO items VALUES (%s, %s, %s, '2026-01-01 10:00:00', '2026-01-01', %s, 'ab', %s, 'grumpy', 0.1, %s)",
                               [(n // 2, f"p{n % 2}", n + 0.25, n % 2, '{"word": "Ærlig"}', "line\nzebra" if n == 77 else None) for n in range(420)])
        yield server
    finally:
        server.stop()


@pytest.fixture
def my(maria, monkeypatch):
    monkeypatch.setenv("MARIA_URL", f"mysql://root:canary-of-maria@127.0.0.1:{maria.port}/shop")
    mount = build(DatabaseUrl("env:MARIA_URL"), timeout=1)
    yield mount
    mount.close()


@pytest.mark.slow
class TestMariaContract(MountContract):
    @pytest.fixture
    def mount(self, my):
        return my


def test_mariadb(my):
    assert [entry.name for entry in my.list("/")] == ["shop"] and [entry.name for entry in my.list("/shop")] == ["cheap", "items", "loose"]
    rows = lines(my, "/shop/items/rows.jsonl")
    assert len(rows) == 420 and [(r["id"], r["part"]) for r in rows] == sorted((r["id"], r["part"]) for r in rows)
    assert rows[0] == {"id": 0, "part": "p0", "price": 0.25, "at": "2026-01-01T10:00:00", "day": "2026-01-01", "flag": 0, "data": "YWI=",
                       "doc": '{"word": "Ærlig"}', "how": "grumpy", "f": 0.1, "note": None}
    schema = json.loads(my.read("/shop/items/schema.json"))
    assert schema["primary_key"] == ["id", "part"] and schema["columns"][2]["type"] == "DECIMAL(9, 2)"
    with Terminal({"/db": my}) as terminal:
        assert terminal.run("tail -n 1 /db/shop/items/rows.jsonl | jq -c '[.id, .part]'; wc -l < /db/shop/items/rows.jsonl; cat /db/shop/items/count; "
                            "grep -rl zebra /db").stdout == '[209,"p1"]\n420\n420\n/db/shop/items/rows.jsonl\n/db/shop/items/rows.csv\n'


def test_mariadb_grep_of_rows(my):
    with Terminal({"/db": my}) as terminal:
        for pattern in ("zebra", "p1", "-i P1", "-w grumpy", "Ærlig", "1.25", "'\"id\": 12,'", "quux", "nzebra", "-c 2026", "YWI"):
            words = f"{pattern} /db/shop/items/rows.jsonl"
            assert terminal.run(f"grep {words}").stdout == terminal.run(f"grep --exact {words}").stdout, pattern


def test_mariadb_search_never_misses(my):
    contents = {path: my.read(path).decode() for path, stat in everything(my) if stat.is_file}
    for word in ["p1", "P1", "grumpy", "hello", "1.25", "2026", "Ærlig", "YWI", "zebra", "nzebra", "true", "nothing", "T10", "420", "word"]:
        for ignore_case in (False, True):
            found = my.search("/", Query([word], False, ignore_case))
            pattern = re.compile(re.escape(word), re.I if ignore_case else 0)
            assert found is None or {path for path, text in contents.items() if pattern.search(text)} <= set(found.paths), word
    assert not [p for p in my.search("/shop", Query(["quagga"])).paths if "/loose/" in p]


@pytest.mark.parametrize("statement", [
    "DELETE FROM items", "SELECT 1; DELETE FROM items", "SELECT 'x' INTO OUTFILE '/tmp/mirage-out'", "COMMIT", "EXPLAIN DELETE FROM items",
    "select 1 into/**/dumpfile '/tmp/mirage-out'", "SELECT nothing()", "WITH x AS (SELECT 1) DELETE FROM items"])
def test_mariadb_query_cannot_write(my, statement):
    with pytest.raises(OSError):
        my.database.query(statement, None, 10)
    assert my.read("/shop/items/count") == b"420\n" and not os.path.exists("/tmp/mirage-out")


def test_mariadb_errors(my):
    error = raises(5, my.database.query, "SELECT SLEEP(5)", None, 1)
    assert error.note == "sql: the statement took more than 1 s"
    error = raises(2, my.database.query, "SELECT * FROM shop.nothing", None, 1)
    assert "doesn't exist" in error.note and "canary" not in f"{error!r} {error.note} {my!r} {my.database!r}"
    assert my.database.execute("UPDATE items SET f = 0.2 WHERE id = 1 AND part = 'p0'", None, 1)[2] == 1


# ---- PostgreSQL

@pytest.fixture(scope="module")
def server(tmp_path_factory):
    if postgres_bin() is None:
        pytest.skip("PostgreSQL is not installed")
    pytest.importorskip("psycopg")
    server = Postgres(tmp_path_factory.mktemp("pg"))
    try:
        with server.wait() as db:
            db.execute("""
                CREATE SCHEMA "Sales Dept"; CREATE TYPE mood AS ENUM ('happy', 'grumpy');
                CREATE TABLE t (id int, part text, price numeric(9,2), at timestamptz, day date, flag bool, data bytea, doc jsonb,
                                tags text[], who uuid, how mood, span interval, f double precision, PRIMARY KEY (id, part));
                INSERT INTO t SELECT i / 2, 'p' || i % 2, i + 0.25, '2026-01-01 10:00:00+02', '2026-01-01', i % 2 = 0, 'ab'::bytea,
                    '{"word": "Ærlig"}', ARRAY['x y', NULL], '00000000-0000-0000-0000-00000000000a', 'grumpy', '1 day', 0.1
                    FROM generate_series(1, 420) i;
                CREATE TABLE "Sales Dept"."Orders" (note text); INSERT INTO "Sales Dept"."Orders" VALUES (NULL), ('hello');
                CREATE TABLE "Sales Dept".orders (note text);
                CREATE VIEW v AS SELECT part FROM t; CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM t;
                CREATE ROLE reader LOGIN; GRANT SELECT ON "Sales Dept"."Orders" TO reader;""")
        yield server
    finally:
        server.stop()


@pytest.fixture
def pg(server):
    mount = build(DatabaseUrl(server.url))
    yield mount
    mount.close()


@pytest.mark.slow
class TestPostgresContract(MountContract):
    @pytest.fixture
    def mount(self, pg):
        return pg


def test_postgresql(pg):
    assert [entry.name for entry in pg.list("/")] == ["Sales Dept", "public"]
    names = [entry.name for entry in pg.list("/Sales Dept")]
    assert len(names) == 2 and all(re.fullmatch("[Oo]rders__[0-9a-f]{8}", name) for name in names)
    assert [entry.name for entry in pg.list("/public")] == ["m", "t", "v"]
    rows = lines(pg, "/public/t/rows.jsonl")
    assert len(rows) == 420 and [(r["id"], r["part"]) for r in rows] == sorted((r["id"], r["part"]) for r in rows)
    assert rows[0] == {"id": 0, "part": "p1", "price": 1.25, "at": "2026-01-01T08:00:00+00:00", "day": "2026-01-01", "flag": False,
                       "data": "YWI=", "doc": {"word": "Ærlig"}, "tags": ["x y", None],
                       "who": "00000000-0000-0000-0000-00000000000a", "how": "grumpy", "span": "1 day, 0:00:00", "f": 0.1}
    assert pg.read("/public/m/rows.csv") == b"n\n420\n"


def test_postgresql_grep_of_rows(pg):
    with Terminal({"/db": pg}) as terminal:
        for pattern in ("grumpy", "p1", "-i P1", "Ærlig", "1.25", "'\"id\": 12,'", "quux", "-c 2026", "000a", "'x y'"):
            words = f"{pattern} /db/public/t/rows.jsonl"
            assert terminal.run(f"grep {words}").stdout == terminal.run(f"grep --exact {words}").stdout, pattern


def test_postgresql_search_never_misses(pg):
    contents = {path: pg.read(path).decode() for path, stat in everything(pg) if stat.is_file}
    for word in ["p1", "P1", "grumpy", "hello", "1.25", "2026", "Ærlig", "YWI", "000a", "day", "true", "nothing", "T10", "420"]:
        for ignore_case in (False, True):
            found = pg.search("/", Query([word], False, ignore_case))
            pattern = re.compile(re.escape(word), re.I if ignore_case else 0)
            expected = {path for path, text in contents.items() if pattern.search(text)}
            assert found is None or expected <= set(found.paths), word
    hits = list(pg.search("/Sales Dept", Query(["hello"])).paths)
    assert len(hits) == 2 and all("/Orders__" in path for path in hits)


@pytest.mark.parametrize("statement", [
    "DELETE FROM t", "WITH gone AS (DELETE FROM t RETURNING id) SELECT * FROM gone", "SELECT 1; COMMIT; DELETE FROM t",
    "SELECT set_config('transaction_read_only', 'off', false); DELETE FROM t", "EXPLAIN ANALYZE DELETE FROM t",
    "COMMIT", "SELECT nextval('nothing')"])
def test_postgresql_query_cannot_write(pg, statement):
    with pytest.raises(OSError):
        pg.database.query(statement, None, 10)
    assert pg.read("/public/t/count") == b"420\n"


def test_postgresql_schema(pg, server):
    with server.wait() as db:
        db.execute("""
            CREATE SCHEMA shop; CREATE DOMAIN shop.label AS text; CREATE TABLE shop.kinds (a int, b varchar(20), PRIMARY KEY (b, a));
            CREATE TABLE shop.parts (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, code shop.label NOT NULL, gone int,
                price numeric(9,2) DEFAULT 1.5, twice numeric GENERATED ALWAYS AS (price * 2) STORED, x int, y varchar(20),
                CONSTRAINT kind FOREIGN KEY (y, x) REFERENCES shop.kinds (b, a));
            ALTER TABLE shop.parts DROP COLUMN gone; COMMENT ON COLUMN shop.parts.code IS 'as printed';
            CREATE UNIQUE INDEX by_code ON shop.parts (lower(code), price) INCLUDE (x);
            INSERT INTO shop.parts (code) SELECT 'part ' || n FROM generate_series(1, 3) n""")
    try:
        assert json.loads(pg.read("/shop/parts/schema.json")) == {
            "schema": "shop", "name": "parts", "type": "table",
            "columns": [{"name": "id", "type": "integer", "nullable": False, "default": None},
                        {"name": "code", "type": "shop.label", "nullable": False, "default": None, "comment": "as printed"},
                        {"name": "price", "type": "numeric(9,2)", "nullable": True, "default": "1.5"},
                        {"name": "twice", "type": "numeric", "nullable": True, "default": None},
                        {"name": "x", "type": "integer", "nullable": True, "default": None},
                        {"name": "y", "type": "character varying(20)", "nullable": True, "default": None}],
            "primary_key": ["id"],
            "foreign_keys": [{"columns": ["y", "x"], "references": {"schema": "shop", "table": "kinds", "columns": ["b", "a"]}}],
            "indexes": [{"name": "by_code", "columns": ["lower(code::text)", "price"], "unique": True}]}
        assert json.loads(pg.read("/shop/kinds/schema.json"))["primary_key"] == ["b", "a"]
        assert [row["code"] for row in lines(pg, "/shop/parts/rows.jsonl")] == ["part 1", "part 2", "part 3"]
        assert json.loads(pg.read("/public/v/schema.json")).keys() == {"schema", "name", "type", "columns"}
        with Terminal({"/db": pg}) as terminal:
            assert terminal.run("grep -c 'part [12]' /db/shop/parts/rows.jsonl").stdout == "2\n"
            before = pg.counters.calls
            assert terminal.run("cat /db/shop/parts/rows.csv | wc -l").stdout == "4\n"
            assert pg.counters.calls - before == 2           # the catalogue with the columns, one page
    finally:
        with server.wait() as db:
            db.execute("DROP SCHEMA shop CASCADE")


def test_postgresql_reads_go_on_after_the_server_ended_the_connection(pg, server):
    with Terminal({"/db": pg}, clis=[SqlCli(pg)]) as terminal:
        assert terminal.run("cat /db/public/t/count").stdout == "420\n"
        for line in ("cat /db/public/t/count", "wc -l < /db/public/t/rows.jsonl",
                     "sql query --sql 'SELECT count(*) AS n FROM t' | jq '.[0].n'"):
            with server.wait() as db:
                db.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'owner'")
            result = terminal.run(line)
            assert (result.stdout, result.stderr) == ("420\n", ""), line


def test_postgresql_errors(server):
    mount = build(DatabaseUrl(server.url.replace("owner", "reader")), timeout=0.3)
    error = raises(13, mount.read, "/public/t/rows.jsonl")
    assert "permission denied" in error.note
    error = raises(5, mount.database.query, "SELECT pg_sleep(5)", None, 1)
    assert "0.3 s" in error.note
    mount.close()
    assert os.path.isdir(server.folder)
