from __future__ import annotations

import pytest

pytest.importorskip("sqlalchemy")

from mirage import Terminal
from mirage.clis import make_cli
from mirage.clis.sql import SqlCli
from mirage.mounts.sql import build
from mirage.mounts.sql.url import DatabaseUrl
from tests.clis.support import run
from tests.mounts.sql_support import make_sqlite


@pytest.fixture
def terminal(tmp_path):
    make_sqlite(tmp_path / "shop.db")
    mount = build(DatabaseUrl(f"sqlite:///{tmp_path}/shop.db"))
    with Terminal({"/db": mount}, clis=[SqlCli(mount, "/db")], policy=None) as terminal:
        yield terminal


def test_query(terminal):
    assert run(terminal, "sql query --sql \"select id, name from customers where id < 3 and name not like '100%'\"") == [
        {"id": 1, "name": "Customer 1"}, {"id": 2, "name": "Customer 2"}]
    assert run(terminal, """sql query '{"sql": "select count(*) n from customers where city = :c", "parameters": {"c": "Oslo"}}'""") \
        == [{"n": 100}]
    assert run(terminal, "sql query --sql 'select 1 as a, 2 as a'") == [{"a": 1, "a_2": 2}]


@pytest.mark.parametrize("statement", ["delete from customers", "with x as (select 1) insert into customers select 1000, 'x', 'y'",
                                       "attach '/tmp/other.db' as o", "select 1; delete from customers", "vacuum into '/tmp/c.db'"])
def test_query_only_reads(terminal, statement):
    error = run(terminal, f'sql query --sql "{statement}"', 1)["error"]
    assert error["code"] in ("eacces", "eio") and error["message"]
    assert terminal.run("cat /db/main/customers/count").stdout == "300\n"


def test_execute_shows_with_the_next_command(terminal):
    assert run(terminal, "sql execute --sql \"insert into customers values (301, '100%', 'Moss')\"") == {"rows_affected": 1}
    assert terminal.run("cat /db/main/customers/count; tail -n 1 /db/main/customers/rows.csv").stdout == "301\n301,100%,Moss\n"
    assert run(terminal, "sql execute --sql 'delete from customers where id > 298 returning id'")["rows"] == [
        {"id": 299}, {"id": 300}, {"id": 301}]
    result = terminal.run("sql execute --sql 'create table fresh (x)' && ls /db/main | grep fresh; cat /db/main/fresh/count")
    assert result.stdout.splitlines()[1:] == ["fresh", "0"]


def test_execute_reaches_no_other_file(terminal, tmp_path):
    for statement in (f"attach '{tmp_path}/o.db' as o", f"vacuum into '{tmp_path}/o.db'"):
        assert run(terminal, f'sql execute --sql "{statement}"', 1)["error"]["code"] in ("eacces", "eio")
    assert not (tmp_path / "o.db").exists()


def test_tables(terminal):
    tables = run(terminal, "sql list-tables --schema main")
    assert {"schema": "main", "name": "odd/ name", "type": "table", "path": "/db/main/odd_ name"} in tables
    for name in ("pairs", "main.pairs", "/db/main/pairs"):
        assert run(terminal, f"sql describe-table --table {name}")["primary_key"] == ["a", "b"]
    assert run(terminal, "sql describe-table --table nothing", 1)["error"]["code"] == 404


def test_errors_are_those_of_the_database(terminal):
    assert "no such table: nowhere" in run(terminal, "sql query --sql 'select * from nowhere'", 1)["error"]["message"]
    assert run(terminal, "sql query", 2)["error"]["code"] == "invalid_arguments"


def test_effects_are_declared(terminal):
    mount = build(DatabaseUrl("sqlite:///x.db"))
    effects = {name: operation.effects for name, operation in SqlCli(mount).operations.items()}
    assert effects == {"query": ("read",), "execute": ("update", "destroy"), "list-tables": ("read",), "describe-table": ("read",)}


def test_from_configuration(tmp_path):
    make_sqlite(tmp_path / "shop.db")
    mount = build(DatabaseUrl("sqlite:///shop.db", tmp_path))
    cli = make_cli("sql", "sql", {}, mounts={"/db": mount}, folder=tmp_path)
    assert cli.service is mount and cli.point == "/db"
    other = make_cli("db2", "sql", {"url": "sqlite:///other.db"}, mounts={"/db": mount}, folder=tmp_path)
    assert other.service is not mount and other.name == "db2"
    with pytest.raises(ValueError, match="give url"):
        make_cli("sql", "sql", {}, mounts={}, folder=tmp_path)
