"""grep on every service against reading all of it: 200 patterns over the whole, in `exact` and in what is the default.

The seeds are small and have all hard cases. `EVERY_SEARCH=1 pytest -m slow tests/mounts/test_every_search.py` takes larger ones.
"""
from __future__ import annotations

import contextlib
import os

import pytest

from mirage import Terminal
from tests.mounts.honesty import check_honest

SERVICES = ("gmail", "linear", "sql", "redis", "s3", "http", "rest")     # those that read a small seed again in moments
ASKED = ("gmail", "linear", "sql")                               # have a search
LARGE = ("gmail", "imap", "slack", "gdrive", "gcal", "github", "notion", "linear", "canvas", "sql", "mongodb")


def over_http(name, simulator, options, **size):
    """A terminal for a service that has a simulator and tests/mounts/NAME_support.py."""
    import importlib
    module, _, kind = simulator.partition(":")
    for library in {"gmail": ["googleapiclient"], "gdrive": ["googleapiclient"], "gcal": ["googleapiclient", "icalendar"], "slack": ["slack_sdk"],
                    "github": ["github"], "linear": ["httpx", "graphql"], "canvas": ["httpx", "markdownify"], "mongo": ["pymongo", "mongomock"]}.get(name, ["httpx"]):
        pytest.importorskip(library)
    made = getattr(importlib.import_module(f"mirage.bench.services.{module}"), kind)(**size)
    support = importlib.import_module(f"tests.mounts.{name}_support")
    stack = contextlib.ExitStack()
    stack.enter_context(made)
    return stack, support.make_mount(made, **options), made


@contextlib.contextmanager
def service(name, tmp_path, large, asked):
    """A Terminal with all of a service at /x; `asked`: its search is used whatever it costs to read all."""
    more = {"bound": 0} if asked and name in ("gmail", "imap", "notion", "mongodb") else {}
    http = {
        "gmail": ("gmail:GmailSimulator", {"ttl": 600.0, "cache": 400 << 20, **more}, {"messages": 300 if large else 5}),
        "slack": ("slack:SlackSimulator", {"ttl": 600.0}, {"messages": 300 if large else 30}),
        "gdrive": ("gdrive:DriveSimulator", {"ttl": 600.0}, {"files": 200 if large else 40}),
        "gcal": ("gcal:CalendarSimulator", {"ttl": 600.0}, {"events": 200 if large else 20}),
        "github": ("github:GitHubSimulator", {"ttl": 600.0}, {"size": 0.5 if large else 0.05}),
        "notion": ("notion:NotionSimulator", {"ttl": 600.0, **more}, {"rows": 300 if large else 3}),
        "linear": ("linear:LinearSimulator", {"ttl": 600.0}, {"issues": 100 if large else 26}),
        "canvas": ("canvas:CanvasSimulator", {"ttl": 600.0}, {"courses": 8 if large else 3, "enrollments": 300 if large else 30}),
        "mongodb": ("mongo:MongoSimulator", {"ttl": 600.0}, {"documents": 800 if large else 60})}
    with contextlib.ExitStack() as stack:
        if name in http:
            simulator, options, size = http[name]
            inner, mount, made = over_http("mongo" if name == "mongodb" else name, simulator, options, **size)
            stack.enter_context(inner)
            if name == "slack":
                del made.workspace.conversations["C10OTHERS"]        # not ours to read
        else:
            mount = {"imap": imap, "sql": sql, "redis": redis, "s3": s3, "http": http_list, "rest": rest}[name](stack, tmp_path, large)
        yield stack.enter_context(Terminal({"/x": mount}, policy="default: allow"))


def imap(stack, tmp_path, large):
    for library in ("pymap", "imapclient"):
        pytest.importorskip(library)
    from tests.mounts.imap_support import Server, fill, make_mount
    server = Server()
    stack.callback(server.stop)
    fill(server, 200 if large else 8)
    return make_mount(server, ttl=600.0)


def sql(stack, tmp_path, large):
    pytest.importorskip("sqlalchemy")
    from mirage.vfs.registry import make_mount
    from tests.mounts.sql_support import make_sqlite
    make_sqlite(tmp_path / "shop.db", rows=300 if large else 30)
    return make_mount("sql", {"url": f"sqlite:///{tmp_path}/shop.db"})


def redis(stack, tmp_path, large):
    pytest.importorskip("redis")
    from tests.mounts.redis_support import RedisServer
    server = RedisServer(tmp_path)
    stack.callback(server.stop)
    server.fill()
    return server.mount()


def s3(stack, tmp_path, large):
    for library in ("s3fs", "moto.server", "boto3", "httpx"):
        pytest.importorskip(library)
    from tests.mounts.s3_support import S3
    server = stack.enter_context(S3())
    server.reset({f"bucket/{n % 3}/file {n}.txt": f"line one of {n}\nGrüße aus Umeå, \"quoted\" {n * 7}\nNI-10{n:02}\n".encode() for n in range(20)})
    return server.mount("bucket")


def http_list(stack, tmp_path, large):
    pytest.importorskip("httpx")
    from mirage.bench.demo.web import Website
    from mirage.bench.services.clock import Clock
    from mirage.vfs.registry import make_mount
    site = stack.enter_context(Website(Clock(1.79e9)))
    return make_mount("http", {"urls": {name: site.address + name for name in site.pages}, "private": True})


def rest(stack, tmp_path, large):
    pytest.importorskip("httpx")
    from mirage.bench.demo.booking import Bookings
    from mirage.bench.demo.services import SERVICES as DEMO
    from mirage.bench.demo.services import DemoToken
    from mirage.bench.services.clock import Clock
    from mirage.mounts.rest import build
    desk = stack.enter_context(Bookings(Clock(1.79e9)))
    return build(DEMO["/ops/booking"].options["file"], DemoToken("booking-simulator"), desk.address, rate=0.0, ttl=600.0)


@pytest.mark.parametrize("name", SERVICES)
def test_exact_gives_all_and_says_nothing(name, tmp_path):
    with service(name, tmp_path, False, False) as terminal:
        report = check_honest(terminal, "/x", exact=True, count=200)
    assert report.tried >= 100 and report.found > 40, report
    assert name in ("sql", "mongodb") or report.pushed == 0, report          # what a database finds is exact


@pytest.mark.parametrize("name", ASKED)
def test_what_a_search_leaves_out_is_announced(name, tmp_path):
    with service(name, tmp_path, False, True) as terminal:
        report = check_honest(terminal, "/x", count=200)
    assert report.tried >= 100 and report.pushed > 10, report


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("EVERY_SEARCH"), reason="takes minutes; EVERY_SEARCH=1 runs it")
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("name", LARGE)
def test_large(name, exact, tmp_path):
    with service(name, tmp_path, True, not exact) as terminal:
        print(name, "exact" if exact else "auto", check_honest(terminal, "/x", exact=exact, count=200))
