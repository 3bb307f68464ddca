"""The example in each service's README gives what it shows.

A block of console lines runs in one terminal: what is shown below a line that begins with `$ ` is its output.
"""
from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest

from mirage import Terminal
from mirage.vfs.registry import make_mount, names

MOUNTS = Path(__file__).parents[2] / "mounts"
DEMO = ("gdrive", "github", "slack", "sql")
ELSEWHERE = {"canvas": "tests/clis/test_canvas.py", "gcal": "tests/mounts/test_gcal.py", "gmail": "tests/mounts/test_gmail.py",
             "imap": "tests/mounts/test_imap.py", "linear": "tests/mounts/test_linear.py", "mongodb": "tests/clis/test_mongo.py",
             "notion": "tests/mounts/test_notion.py"}
FILES = ("host", "memory", "vfs")                            # docs/mounts.md, docs/vfs.md


def example(service: str) -> list[tuple[str, str]]:
    """(line, its output) of the README's console block."""
    block, = re.findall(r"^```console\n(.*?)^```$", (MOUNTS / service / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M)


def check(terminal: Terminal, service: str) -> None:
    lines = example(service)
    assert lines and any(output for _, output in lines)
    for line, output in lines:
        result = terminal.run(line)
        assert (result.stdout, result.stderr, result.exit_code) == (output, "", 0), line


@pytest.mark.parametrize("service", DEMO)
def test_in_the_demo(service):
    for library in ("googleapiclient", "github", "httpx", "slack_sdk", "graphql", "icalendar", "markdownify", "sqlalchemy"):
        pytest.importorskip(library)
    from mirage.console.demo import demo_terminal
    with demo_terminal() as terminal:
        check(terminal, service)


def test_redis(tmp_path):
    pytest.importorskip("redis")
    from mirage.clis.redis import RedisCli
    from tests.mounts.redis_support import RedisServer
    server = RedisServer(tmp_path)
    try:
        server.fill()
        mount = server.mount(writable=True)
        with Terminal({"/redis": mount}, clis=[RedisCli(mount)]) as terminal:
            check(terminal, "redis")
    finally:
        server.stop()


def test_s3():
    for library in ("s3fs", "moto.server", "boto3", "httpx"):
        pytest.importorskip(library)
    from mirage.clis.s3 import S3Cli
    from tests.mounts.s3_support import S3
    with S3() as server:
        server.reset({"my-bucket/reports/2026/sales.csv": b"customer,stations\nBergen Harbour,34\n"})
        mount = server.mount("my-bucket/reports")
        with Terminal({"/data": mount}, clis=[S3Cli(mount)]) as terminal:
            check(terminal, "s3")


def test_fsspec():
    pytest.importorskip("fsspec")
    with Terminal({"/files": make_mount("fsspec", {"url": "memory://readme", "writable": True})}) as terminal:
        check(terminal, "fsspec")


def test_http():
    pytest.importorskip("httpx")
    from mirage.bench.services.http import LogEntry, Request, Response, Simulator

    class Bank(Simulator):
        def handle(self, request: Request, entry: LogEntry) -> Response:
            return Response(200, b"currency,rate\nSEK,11.42\n")

    with Bank() as bank:
        urls = {"spec/rfc9110.txt": f"{bank.address}rfc/rfc9110.txt", "rates.csv": f"{bank.address}rates.csv"}
        with Terminal({"/web": make_mount("http", {"urls": urls, "private": True})}) as terminal:
            check(terminal, "http")


def test_rest(tmp_path, monkeypatch):
    pytest.importorskip("httpx")
    from mirage.config import load
    from tests.mounts.declare_support import TOKEN, Desk, blocks
    monkeypatch.setenv("DESK_TOKEN", TOKEN)
    with Desk() as desk:
        declaration, config = blocks("yaml")
        (tmp_path / "desk.yaml").write_text(declaration.replace("https://desk.example/api", desk.address))
        (tmp_path / "mirage.yaml").write_text(config)
        with contextlib.ExitStack() as stack:
            terminal = stack.enter_context(load(tmp_path / "mirage.yaml").make_terminal())
            check(terminal, "rest")


def test_no_service_is_left_out():
    run_here = {*DEMO, "redis", "s3", "fsspec", "http", "rest"}
    assert run_here | set(ELSEWHERE) == set(names()) - set(FILES)
    for service, test in ELSEWHERE.items():
        assert "README" in (Path(__file__).parents[2] / test).read_text(encoding="utf-8"), service
