"""A second mount of the same account is no way around a rule about the first one, whatever the service."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mirage import Terminal

# service -> (module that it needs, options of a small simulator, a directory below the root that is hidden)
SERVICES = {
    "canvas": ("httpx", {"courses": 3, "enrollments": 30}, "courses"), "gcal": ("googleapiclient", {"events": 20}, "Mara Lindqvist"),
    "gdrive": ("googleapiclient", {"files": 20}, "Finance"), "github": ("github", {"size": 0.05}, "norrsken/firmware/issues"),
    "gmail": ("googleapiclient", {"messages": 10}, "Projects"), "linear": ("httpx", {"issues": 10}, "ENG"), "mongo": ("mongomock", {"documents": 20}, "support"),
    "notion": ("httpx", {"rows": 20}, "Wiki*"), "slack": ("slack_sdk", {"messages": 20}, "users"), "sql": ("sqlalchemy", {}, "main/customers"),
    "s3": ("moto.server", {}, "docs"), "redis": ("redis", {}, "user"),
}


def two_mounts(kind: str, stack: ExitStack, folder: Path) -> tuple[Any, Any]:
    if kind == "sql":
        from mirage.mounts.sql import build
        from mirage.mounts.sql.url import DatabaseUrl
        from tests.mounts.sql_support import make_sqlite
        make_sqlite(folder / "shop.db", rows=5)
        url = f"sqlite:///{folder}/shop.db"
        return build(DatabaseUrl(url)), build(DatabaseUrl(url))
    if kind == "s3":
        pytest.importorskip("s3fs")
        from tests.mounts.s3_support import S3
        store = stack.enter_context(S3())
        store.reset({"shop/docs/b.txt": b"0123", "shop/a.txt": b"x"})
        return store.mount("shop"), store.mount("shop")
    if kind == "redis":
        from tests.mounts.redis_support import RedisServer
        server = RedisServer(folder)
        stack.callback(server.stop)
        server.fill()
        return server.mount(), server.mount()
    simulator: Any = import_module(f"mirage.bench.services.{kind}")
    simulator = getattr(simulator, next(n for n in dir(simulator) if n.endswith("Simulator")))(**SERVICES[kind][1])
    stack.enter_context(simulator)
    make = import_module(f"tests.mounts.{kind}_support").make_mount
    return make(simulator), make(simulator)


@pytest.fixture(params=SERVICES)
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Any, Any]]:
    pytest.importorskip(SERVICES[request.param][0])
    with ExitStack() as stack:
        first, second = two_mounts(request.param, stack, tmp_path)
        yield SERVICES[request.param][2], first, second


@pytest.mark.parametrize("action", ["hide", "deny"])
def test_a_rule_holds_for_every_mount_of_the_account(served: tuple[str, Any, Any], action: str) -> None:
    hidden, first, second = served
    with Terminal({"/one": first, "/two": second}, policy="default: allow") as terminal:
        assert terminal.run(f"ls -d /two/{hidden.replace(' ', chr(92) + ' ')}").exit_code == 0
    policy = f"rules:\n  - {{path: '/one/{hidden}', action: {action}, reason: closed}}\n"
    with Terminal({"/one": first, "/two": second}, policy=policy) as terminal:
        for mount in ("one", "two"):
            result = terminal.run(f"ls /{mount}/{hidden.replace(' ', chr(92) + ' ')}")
            assert result.exit_code == 2 and not result.stdout, result
            assert ("No such file" if action == "hide" else "mirage: denied: closed") in result.stderr


def test_a_folder_of_a_store_is_a_part_of_the_whole() -> None:
    pytest.importorskip("s3fs")
    from mirage.mounts.s3 import build
    assert build("shop/docs").backend("/b.txt") == build("shop").backend("/docs/b.txt") == build("").backend("/shop/docs/b.txt")
