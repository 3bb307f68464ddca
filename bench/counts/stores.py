"""Stores in the table: S3 by moto and PostgreSQL, counted by the server; Redis, MongoDB, Notion."""
from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mirage.bench.counts.model import Account, Script, Unavailable, standard
from mirage.terminal import Terminal
from mirage.vfs.secrets import Secret

OPEN = "default: allow"
WAIT = 300                                                   # tenths of a second until a server listens


class Text(Secret):
    """A secret of a server on loopback, which has its text here."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        super().__init__("env:MIRAGE_COUNTS_TOKEN")
        self.text = text

    def reveal(self) -> str:
        return self.text


class _Requests(logging.Handler):
    """The requests of moto's server, which writes a line for each."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if re.search(r"[A-Z]+ \S+ HTTP", record.getMessage()):
            self.log.append(record.getMessage())

    def clear_log(self) -> None:
        self.log.clear()


@contextmanager
def s3() -> Iterator[Account]:
    try:
        import boto3  # type: ignore[import-untyped]
        from moto.server import ThreadedMotoServer
    except ImportError:
        raise Unavailable("moto") from None
    from mirage.clis.s3 import S3Cli
    from mirage.mounts.s3 import build
    requests, werkzeug = _Requests(), logging.getLogger("werkzeug")
    before = werkzeug.level, werkzeug.propagate
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    werkzeug.addHandler(requests)
    werkzeug.setLevel(logging.INFO)
    werkzeug.propagate = False
    try:
        address = "http://{}:{}".format(*server.get_host_and_port())
        client = boto3.client("s3", endpoint_url=address, aws_access_key_id="x", aws_secret_access_key="x",
                              region_name="us-east-1")
        client.create_bucket(Bucket="norrsken")
        for n in range(40):
            client.put_object(Bucket="norrsken", Key=f"reports/2026/report {n}.txt", Body=f"Champagne {n}\n".encode())

        def terminal() -> Terminal:
            mount = build("norrsken", Text("x"), Text("x"), endpoint=address, region="us-east-1")
            return Terminal({"/s3": mount}, clis=[S3Cli(mount)], policy=OPEN)

        scripts = standard("/s3/reports/2026", 40, 1000, "/s3/reports/2026/report 7.txt", 3, "/s3", "", 0,
                           change="s3 put-object --bucket norrsken --key reports/2026/new% --body new", shows="new1")
        scripts.insert(3, Script("grep -r", "grep -rl Champagne /s3", 1 + 40, "a page of all keys + one read per file"))
        for script in scripts:
            if script.name == "second ls":
                script.more = ("mirage-ai does not ask: a listing is believed for ten minutes; ours asks whether "
                               "something changed")
            if not any("s3 put-object" in line for line in script.before):
                script.peer = script.before, script.line
        yield Account(requests, terminal, scripts, {
            "vfs": "S3VFS", "config": "S3Config", "at": "/s3",
            "options": {"bucket": "norrsken", "endpoint_url": address, "path_style": True, "region": "us-east-1",
                        "aws_access_key_id": "x", "aws_secret_access_key": "x"}})
    finally:
        werkzeug.removeHandler(requests)
        werkzeug.level, werkzeug.propagate = before
        server.stop()


class _Statements:
    """The statements in the log of a PostgreSQL server."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.at = 0

    def clear_log(self) -> None:
        self.at = self.file.stat().st_size

    @property
    def log(self) -> list[str]:
        text = self.file.read_bytes()[self.at:].decode("utf-8", "replace")
        return re.findall(r"^.*LOG:  (?:statement|execute [^:]*): .*$", text, re.M)


@contextmanager
def postgres() -> Iterator[Account]:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    program = str(found[-1]) if found else shutil.which("initdb")
    if program is None:
        raise Unavailable("PostgreSQL")
    folder = Path(tempfile.mkdtemp(prefix="mirage-counts-"))
    try:
        with _running(program, folder) as url:
            yield _account(url, folder / "log")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _running(program: str, folder: Path) -> Iterator[str]:
    """The address of a server of its own."""
    other: dict[str, Any] = {}
    if os.getuid() == 0:                                     # PostgreSQL refuses root
        other = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        folder.chmod(0o777)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    subprocess.run([program, "-D", folder / "data", "-U", "owner", "-A", "trust", "-N", "-E", "UTF8"], check=True,
                   stdout=subprocess.DEVNULL, cwd="/", **other)
    with open(folder / "log", "wb") as log:
        server = subprocess.Popen([Path(program).with_name("postgres"), "-D", folder / "data", "-p", str(port), "-h",
                                   "127.0.0.1", "-k", "", "-F", "-c", "log_statement=all"], stdout=log, stderr=log,
                                  cwd="/", **other)
    try:
        yield f"postgresql://owner@127.0.0.1:{port}/postgres"
    finally:
        server.terminate()
        server.wait(30)


def _account(url: str, log: Path) -> Account:
    with _connected(url) as db:
        db.execute("CREATE TABLE stations (id integer PRIMARY KEY, site text, note text)")
        db.execute("INSERT INTO stations SELECT n, 'site ' || n, CASE WHEN n % 100 = 7 THEN 'Champagne' ELSE 'dry' "
                   "END FROM generate_series(1, 400) n")
        db.execute("CREATE TABLE tickets (id integer PRIMARY KEY, subject text)")
        db.execute("INSERT INTO tickets SELECT n, 'ticket ' || n FROM generate_series(1, 50) n")

    def terminal() -> Terminal:
        from mirage.clis.sql import SqlCli
        from mirage.vfs.registry import make_mount
        os.environ["MIRAGE_COUNTS_DATABASE"] = url
        mount: Any = make_mount("sql", {"url": "env:MIRAGE_COUNTS_DATABASE"})
        return Terminal({"/db": mount}, clis=[SqlCli(mount)], policy=OPEN)

    rows, theirs = "/db/public/stations/rows.jsonl", "/db/public/tables/stations/rows.jsonl"
    lines = [("cold ls", "ls /db/public", "ls /db/public/tables", "", ""),
             ("second ls", "ls /db/public", "ls /db/public/tables", "ls /db/public", "ls /db/public/tables"),
             ("cat by path, cold", f"cat {rows}", f"cat {theirs}", "", ""),
             ("second cat", f"cat {rows}", f"cat {theirs}", f"cat {rows}", f"cat {theirs}"),
             ("grep -r", *["grep -rl --include=rows.jsonl Champagne /db"] * 2, "", ""),
             ("head", f"head -n 3 {rows}", f"head -n 3 {theirs}", "", ""),
             ("wc -l", f"wc -l < {rows}", f"wc -l < {theirs}", "", "")]
    scripts = [Script(name, ours, LEAST[name][0], LEAST[name][1], (before,) if before else (),
                      ((their_before,) if their_before else (), peer))
               for name, ours, peer, before, their_before in lines]
    change = "sql execute --sql 'CREATE TABLE IF NOT EXISTS visits (id int)'"
    scripts += [
        Script("ls after a change", "ls /db/public", 1, "the changed catalogue", ("ls /db/public", change)),
        Script("cat of another after it", f"cat {rows}", *LEAST["second cat"], (f"ls /db/public; cat {rows}", change))]
    return Account(_Statements(log), terminal, scripts, {
        "vfs": "PostgresVFS", "config": "PostgresConfig", "at": "/db", "options": {"dsn": url}})


LEAST = {"cold ls": (2, "set-up of the connection + catalogue"), "second ls": (1, "one revalidation: the catalogue"),
         "second cat": (2, "one revalidation: the catalogue; the rows"),
         "cat by path, cold": (3, "set-up of the connection, catalogue, rows"),
         "grep -r": (5, "set-up, catalogue with columns + one search per table + one read per candidate"),
         "head": (3, "set-up of the connection, catalogue, rows"),
         "wc -l": (3, "set-up of the connection, catalogue, a count")}


def _connected(url: str) -> Any:
    import psycopg
    for _ in range(WAIT):
        try:
            return psycopg.connect(url, autocommit=True)
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise Unavailable("PostgreSQL does not start")


class _Own:
    """What the mount of the terminal counts, where the server has no log of requests. A pipeline is one."""

    def __init__(self) -> None:
        self.mount: Any = None
        self.before = 0

    def clear_log(self) -> None:
        self.before = self.mount.counters.calls

    @property
    def log(self) -> range:
        return range(self.mount.counters.calls - self.before)


@contextmanager
def redis() -> Iterator[Account]:
    try:
        import redis as driver
    except ImportError:
        raise Unavailable("redis") from None
    from mirage.clis.redis import RedisCli
    from mirage.vfs.registry import make_mount
    program = shutil.which("redis-server")
    if program is None:
        raise Unavailable("redis-server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
    try:
        client = driver.Redis(port=port)
        for _ in range(WAIT):
            try:
                client.ping()
                break
            except driver.ConnectionError:
                time.sleep(0.1)
        client.mset({f"sessions:2026:{n}": f"Champagne {n}\n" for n in range(40)})
        own = _Own()

        def terminal() -> Terminal:
            own.mount = make_mount("redis", {"url": f"redis://127.0.0.1:{port}/0"})
            return Terminal({"/redis": own.mount}, clis=[RedisCli(own.mount)], policy=OPEN)

        scripts = standard("/redis/sessions/2026", 40, 1000, "/redis/sessions/2026/7", 3, "/redis", "", 0,
                           change="redis set --key sessions:2026:new% --value new", shows="new1")
        least = {"cold ls": (3, "type of the name, pages of SCAN, types and lengths in a batch"),
                 "ls after a change": (4, "one revalidation, type, SCAN, types and lengths in a batch"),
                 "cat of another after it": (3, "one revalidation: something changed; type, value")}
        for script in scripts:
            script.minimum, script.rule = least.get(script.name, (script.minimum, script.rule))
        scripts.insert(3, Script("grep -r", "grep -rl Champagne /redis", 40 + 2,
                                 "SCAN, types and lengths, one read per value"))
        yield Account(own, terminal, scripts)
    finally:
        server.terminate()
        server.wait(10)


@contextmanager
def mongodb() -> Iterator[Account]:
    from mirage.bench.services.mongo import MongoSimulator
    from mirage.clis.mongo import MongoCli
    from mirage.vfs.registry import make_mount
    with MongoSimulator(documents=80) as simulator:
        def terminal() -> Terminal:
            mount: Any = make_mount("mongodb", {"url": simulator.url})
            return Terminal({"/mongo": mount}, clis=[MongoCli(mount)], policy=OPEN)

        file = "/mongo/telemetry/readings/documents.jsonl"
        scripts = standard("/mongo/telemetry", 3, 1000, file, 3, "/mongo", "", 0,
                           change="mongo create-collection --database telemetry --collection fresh%", shows="fresh1")
        again = 2, "one revalidation: the collections; the documents, which have no version"
        for script in scripts:
            if script.name in ("second cat", "cat of another after it"):
                script.minimum, script.rule = again
        yield Account(simulator, terminal, scripts)


def _blocks_above(workspace: Any, items: list[Any]) -> int:
    """How many blocks stand between pages and the pages that they are in."""
    seen: set[str] = set()
    for item in items:
        while item["parent"]["type"] == "block_id" and item["parent"]["block_id"] not in seen:
            seen.add(item["parent"]["block_id"])
            item = workspace.blocks[item["parent"]["block_id"]]
    return len(seen)


@contextmanager
def notion() -> Iterator[Account]:
    from mirage.bench.services.notion import NotionSimulator
    from mirage.clis.notion import NotionCli
    from mirage.mounts.notion.tree import Notion
    with NotionSimulator(rows=1200) as simulator:
        def terminal() -> Terminal:
            mount = Notion(Text("ntn_simulator"), endpoint=simulator.address, rate=0.0)
            return Terminal({"/notion": mount}, clis=[NotionCli(mount)], policy=OPEN)

        with terminal() as one:
            file = one.run("ls -d /notion/Meeting*/*/page.md | head -1").stdout.rstrip("\n")
        above = file.rpartition("/")[0].rpartition("/")[0]
        shared = simulator.workspace.search("")
        inside = _blocks_above(simulator.workspace, shared)
        parent = above.rpartition("__")[2]
        scripts = standard("/notion", len(shared), 100, file, 3, "/notion", "", 0, details=inside, changed=above,
                           fresh=(2, "the changed page + its blocks"),
                           change=f"notion post-page '{{\"parent\": {{\"page_id\": \"{parent}\"}}, \"properties\": "
                                  "{\"title\": [{\"text\": {\"content\": \"New%\"}}]}}'", shows="New1")
        scripts[0].rule = ("pages of 100 of all that is shared, for Notion cannot be asked for what is at the top; and "
                           "each block with a page inside, for its page")
        yield Account(simulator, terminal, scripts)
