"""A Redis server for tests: Debian's redis-server where it is installed, else fakeredis over TCP."""
from __future__ import annotations

import shutil
import subprocess
import threading
import time

import pytest

from mirage.mounts.redis import build
from mirage.mounts.sql.url import DatabaseUrl
from tests.mounts.sql_support import free_port

PASSWORD = "canary-of-redis"


class RedisServer:
    def __init__(self, folder):
        self.port = free_port()
        program = shutil.which("redis-server")
        self.real = program is not None
        if program:
            self.process = subprocess.Popen(
                [program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)],
                stdout=subprocess.DEVNULL)
        else:
            fakeredis = pytest.importorskip("fakeredis", reason="neither redis-server nor fakeredis is installed")
            self.fake = fakeredis.TcpFakeServer(("127.0.0.1", self.port))
            threading.Thread(target=self.fake.serve_forever, daemon=True).start()
        self.client = self.connect()

    def connect(self):
        import redis
        client = redis.Redis(port=self.port, socket_timeout=5)
        for _ in range(100):
            try:
                client.ping()
                return client
            except redis.ConnectionError:
                time.sleep(0.05)
        raise AssertionError("Redis does not start")

    def stop(self):
        self.client.close()
        if self.real:
            self.process.terminate()
            self.process.wait(10)
        else:
            self.fake.shutdown()
            self.fake.server_close()

    def fill(self):
        r = self.client
        r.flushall()
        r.mset({"greeting": "hello", "user:1:name": "Åse", "user:1": "one", "z::b": "empty part", "bin": b"\xff\x00\x01",
                "odd/name:50%": "odd", "doc.json": '{"x": 1}', b"\xff:raw": "not UTF-8"})
        r.hset("user:1:address", mapping={"city": "Bergen", "zip": "5003"})
        r.hset("doc", mapping={"k": "v"})
        r.rpush("queue", "first", "second", b"\xfe")
        r.sadd("tags", "b", "a")
        r.zadd("rank", {"low": 1, "high": 2.5})
        r.set("session:x", "data", ex=1000)

    def mount(self, **options):
        return build(DatabaseUrl(f"redis://127.0.0.1:{self.port}/0"), **options)
