"""Every provider with faults on: what is read is right or an errno, what is listed is whole or an errno, and it heals."""
from __future__ import annotations

import contextlib
import errno
import os
import random
import re
import time
from types import SimpleNamespace

import pytest

from mirage.bench.services.http import Simulator
from mirage.vfs.service import Retry
from tests.mounts import test_every_search as everything
from tests.mounts.faulty import FaultyProxy

HTTP = ("linear", "rest", "http")                            # the others' own tests have such faults too
LARGE = ("gmail", "slack", "gdrive", "gcal", "github", "notion", "canvas")
TCP = ("imap", "redis", "mongodb", "s3")
LIMIT = 25                                                   # files that are read


def tree(mount):
    """path -> True for a directory; None where it cannot be listed."""
    found, todo, failed = {}, ["/"], []
    while todo:
        at = todo.pop()
        try:
            entries = [(e.name, e.stat or mount.stat(f"{at.rstrip('/')}/{e.name}")) for e in mount.list(at)]
        except OSError as e:
            assert e.errno
            failed.append(at)
            continue
        for name, stat in entries:
            path = f"{at.rstrip('/')}/{name}"
            found[path] = stat.is_dir
            if stat.is_dir:
                todo.append(path)
    return found, failed


def bytes_of(mount, path):
    """A file's bytes, but for the port of this run's simulator."""
    return re.sub(rb"127\.0\.0\.1:\d+", b"127.0.0.1", mount.read(path))


def check(mount, truth, contents, hurt):
    """Everything of a mount that is hurt; what it gives must be of the truth."""
    found, failed = tree(mount)
    above = tuple(f"{path.rstrip('/')}/" for path in failed)
    assert set(found) <= set(truth)
    missing = [path for path in truth if path not in found and not path.startswith(above)]
    assert not missing, missing[:3]
    right = wrong = 0
    for path, data in contents.items():
        try:
            assert bytes_of(mount, path) == data, path
            right += 1
        except OSError as e:
            assert e.errno and e.errno != errno.ENOENT, (path, e)
            wrong += 1
    assert hurt() > 0
    return right, wrong, len(failed)


def sample(mount, truth):
    files = [path for path, directory in truth.items() if not directory and mount.stat(path).is_file]
    chosen = random.Random(2).sample(files, min(LIMIT, len(files)))
    return {path: data for path in chosen if len(data := bytes_of(mount, path)) < 1 << 20}


@pytest.mark.parametrize("name", [*HTTP, *(pytest.param(name, marks=[pytest.mark.slow, pytest.mark.skipif(
    not os.environ.get("EVERY_SEARCH"), reason="takes minutes; EVERY_SEARCH=1 runs it")]) for name in LARGE)])
def test_over_http(name, tmp_path, monkeypatch):
    started = []
    original = Simulator.start

    def start(self, port=0):
        started.append(self)
        return original(self, port)
    monkeypatch.setattr(Simulator, "start", start)
    with everything.service(name, tmp_path, False, False) as terminal:
        mount = terminal.machine.namespace.find("/x").mount
        truth, locked = tree(mount)                          # locked: what its user may not read
        assert len(truth) > 5
        contents = sample(mount, truth)
    with everything.service(name, tmp_path, False, False) as terminal:
        mount = terminal.machine.namespace.find("/x").mount
        mount.client.retry = Retry(tries=3, base=0.001, most=0.2)
        simulator = started[-1]
        faults = [simulator.fault(kind, match, times=times, **options) for kind, match, times, options in (
            ("status", "", 3, {"status": 500}), ("truncate", "", 4, {}), ("status", "", 3, {"status": 429, "seconds": 0.01}), ("short", "", 3, {}),
            ("reset", "", 3, {}), ("latency", "", 5, {"seconds": 0.01}), ("slow", "", 5, {"seconds": 0.02}), ("status", "", 4, {"status": 503}),
            ("reset", "", 7, {}), ("truncate", "", 9, {}))]
        check(mount, truth, contents, lambda: sum(f.seen for f in faults))
        simulator.heal()
        whole, failed = tree(mount)
        assert whole == truth and failed == locked
        assert all(bytes_of(mount, path) == data for path, data in contents.items())


@contextlib.contextmanager
def over_tcp(name, tmp_path):
    """(make, proxy): a server behind a proxy; make(port) gives a mount of it."""
    with contextlib.ExitStack() as stack:
        if name == "imap":
            pytest.importorskip("pymap")
            from tests.mounts.imap_support import Server, fill, make_mount
            server = Server()
            stack.callback(server.stop)
            fill(server, 5)
            port = server.port

            def make(port):
                return make_mount(SimpleNamespace(port=port))
        elif name == "redis":
            from mirage.mounts.redis import build
            from mirage.mounts.sql.url import DatabaseUrl
            from tests.mounts.redis_support import RedisServer
            server = RedisServer(tmp_path)
            stack.callback(server.stop)
            server.fill()
            server.client.mset({f"many:{n % 7}:{n}": "x" * (n * 7) for n in range(300)})
            port = server.port

            def make(port):
                return build(DatabaseUrl(f"redis://127.0.0.1:{port}/0"))
        elif name == "mongodb":
            pytest.importorskip("mongomock")
            from mirage.bench.services.mongo import MongoSimulator
            from mirage.mounts.mongodb import build
            from mirage.mounts.sql.url import DatabaseUrl
            simulator = stack.enter_context(MongoSimulator(documents=80))
            port = int(simulator.url.rstrip("/").rpartition(":")[2])

            def make(port):
                return build(DatabaseUrl(f"mongodb://127.0.0.1:{port}/?directConnection=true"), timeout=2.0)
        else:
            for library in ("s3fs", "moto.server", "boto3", "httpx"):
                pytest.importorskip(library)
            from mirage.mounts.s3 import build
            from tests.mounts.s3_support import S3, S3Key
            server = stack.enter_context(S3())
            server.reset({f"bucket/{n % 3}/file {n}.txt": (f"line of {n} " * (n * 20)).encode() for n in range(30)})
            port = int(server.address.rpartition(":")[2])

            def make(port):
                return build("bucket", S3Key(), S3Key(), endpoint=f"http://127.0.0.1:{port}", region="us-east-1", timeout=5.0)
        proxy = FaultyProxy(port)
        stack.callback(proxy.close)
        yield make, proxy


@pytest.mark.parametrize("name", TCP)
def test_over_tcp(name, tmp_path):
    with over_tcp(name, tmp_path) as (make, proxy):
        mount = make(proxy.port)
        truth, failed = tree(mount)
        assert not failed and len(truth) > 5
        contents = sample(mount, truth)
        getattr(mount, "close", lambda: None)()
        proxy.share = 0.7
        started = time.monotonic()
        for _ in range(3):
            mount = make(proxy.port)
            check(mount, truth, contents, lambda: 1)
            getattr(mount, "close", lambda: None)()
            if time.monotonic() - started > 5:
                break
        assert proxy.hurt
        proxy.share = 0.0
        mount = make(proxy.port)
        assert tree(mount) == (truth, []) and all(bytes_of(mount, path) == data for path, data in contents.items())
        getattr(mount, "close", lambda: None)()


def test_a_damaged_database_file(tmp_path):
    """SQLite has no connection to cut: the file is."""
    pytest.importorskip("sqlalchemy")
    from mirage.vfs.registry import make_mount
    from tests.mounts.sql_support import make_sqlite
    make_sqlite(tmp_path / "whole.db", rows=2000)
    mount = make_mount("sql", {"url": f"sqlite:///{tmp_path}/whole.db"})
    truth, _ = tree(mount)
    contents = sample(mount, truth)
    mount.close()
    data = (tmp_path / "whole.db").read_bytes()
    right = wrong = 0
    for part in (0.1, 0.5, 0.9):
        (tmp_path / f"cut{part}.db").write_bytes(data[:int(len(data) * part) // 4096 * 4096 + 100])
        mount = make_mount("sql", {"url": f"sqlite:///{tmp_path}/cut{part}.db"})
        for path, wanted in contents.items():
            try:
                assert mount.read(path) == wanted, path
                right += 1
            except OSError as e:
                assert e.errno
                wrong += 1
        mount.close()
    assert wrong > 5
