from __future__ import annotations

import errno
import json
import os
import time

import pytest

pytest.importorskip("redis")

from mirage import Terminal
from mirage.clis.redis import RedisCli
from mirage.mounts.redis.keys import name_of, part_of
from mirage.vfs.registry import make_mount
from tests.mounts.contract import MountContract, everything, names, raises
from tests.mounts.redis_support import RedisServer


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture
def mount(server):
    server.fill()
    return server.mount(writable=True)


def need_speed(server):
    if not server.real:
        pytest.skip("fakeredis is slow; install redis-server")


class TestContract(MountContract):
    @pytest.fixture
    def mount(self, server):
        server.fill()
        return server.mount(writable=True)

    def test_a_hole_costs_nothing(self, mount):
        """A value is whole and at most 512 MiB."""
        handle = mount.open(self.new(mount, "sparse", b"start"), os.O_RDWR, 0)
        raises(errno.EFBIG, handle.truncate, 1 << 33)
        handle.close()

    def test_rename_is_atomic(self, mount, server):
        need_speed(server)
        super().test_rename_is_atomic(mount)

    def test_readers_do_not_disturb_each_other(self, mount, server):
        need_speed(server)
        super().test_readers_do_not_disturb_each_other(mount)

    def test_a_change_shows(self, mount):
        """Redis knows no times."""
        path = self.new(mount, "f", b"one")
        mount.replace(path, b"three", 0o644, 0, 0)
        assert mount.stat(path).size == 5 and mount.stat(path).version is None


class TestReadOnly(MountContract):
    @pytest.fixture
    def mount(self, server):
        need_speed(server)
        server.fill()
        return server.mount()


def test_tree(mount):
    files = {path for path, stat in everything(mount) if stat.is_file}
    assert files == {"/greeting", "/user/1", "/user/1%keys/name", "/user/1%keys/address.json", "/z/%empty/b", "/bin", "/doc.json",
                     "/odd%2Fname/50%25", "/doc%value.json", "/\udcff/raw", "/queue.json", "/tags.json", "/rank.json", "/session/x"}


def test_values(mount):
    assert mount.read("/user/1%keys/name").decode() == "Åse" and mount.read("/bin") == b"\xff\x00\x01"
    assert mount.read("/bin", 1, 1) == b"\0" and mount.stat("/greeting").size == 5 and mount.stat("/queue.json").size is None
    assert json.loads(mount.read("/user/1%keys/address.json")) == {"city": "Bergen", "zip": "5003"}
    assert json.loads(mount.read("/queue.json")) == ["first", "second", {"base64": "/g=="}]
    assert json.loads(mount.read("/tags.json")) == ["a", "b"]
    assert json.loads(mount.read("/rank.json")) == [{"member": "low", "score": 1.0}, {"member": "high", "score": 2.5}]
    assert mount.read("/doc.json") == b'{"x": 1}' and json.loads(mount.read("/doc%value.json")) == {"k": "v"}


def test_a_key_has_one_path(mount):
    for path in ("/user/1/name", "/greeting%keys", "/user:1", "/user%3A1", "/z/%empty%empty/b", "/tags%value.json",
                 "/user%keys/1", "/gr%65eting", "/tags", "/greeting.json"):
        with pytest.raises(OSError) as caught:
            mount.read(path)
        assert caught.value.errno in (errno.ENOENT, errno.ENOTDIR), path


def test_names_and_parts():
    for part in ("x", "", ".", "..", "a/b", "100%", "%2F", "%empty", "\udcff", "\0", "ü", "a" * 200):
        name = name_of(part)
        assert part_of(name) == part and "/" not in name and "\0" not in name and name not in ("", ".", "..")
    assert part_of("100%") is None and part_of("%2f") is None


def test_writing(server, mount):
    with Terminal({"/redis": mount}) as terminal:
        result = terminal.run("cd /redis; echo -n bye > greeting; mkdir -p app/cfg; echo x > app/cfg/level; cat app/cfg/level; "
                              "echo y >> app/cfg/level; mv bin app/; ls app; rm queue.json; echo '[]' > tags.json")
        assert result.exit_code == 1 and "tags.json: Operation not permitted" in result.stderr
        assert result.stdout == "x\nbin\ncfg\n"
    r = server.client
    assert r.get("greeting") == b"bye" and r.get("app:cfg:level") == b"x\ny\n" and r.get("app:bin") == b"\xff\x00\x01"
    assert not r.exists("queue") and not r.exists("bin") and r.type("tags") == b"set"


def test_replacing_a_value_keeps_its_time_to_live(server, mount):
    mount.replace("/session/x", b"new", 0o644, 0, 0)
    assert server.client.get("session:x") == b"new" and 900 < server.client.ttl("session:x") <= 1000


def test_names_that_no_key_has(mount):
    raises(errno.EINVAL, mount.replace, "/a:b", b"", 0o644, 0, 0)
    raises(errno.EINVAL, mount.replace, "/50%", b"", 0o644, 0, 0)


def test_prefix(server):
    server.fill()
    mount = server.mount(prefix="user:1:")
    assert sorted(names(mount, "/")) == ["address.json", "name"]
    with Terminal({"/redis": mount}) as terminal:
        assert terminal.run("cat /redis/name; cat /redis/greeting").exit_code == 1


def test_calls_and_no_keys_command(server):
    server.client.flushall()
    server.client.mset({f"big:{n // 100}:{n}": str(n) for n in range(5000)})
    mount = server.mount()
    with Terminal({"/redis": mount}) as terminal:
        before = mount.counters.calls
        assert terminal.run("cat /redis/big/7/700").stdout == "700"
        assert mount.counters.calls - before <= 4
        before = mount.counters.calls
        assert len(terminal.run("ls /redis/big/7 /redis/big/8").stdout.split()) == 202
        assert mount.counters.calls - before <= 16               # 5 or more SCANs, and the names of two directories
    if server.real:
        assert "cmdstat_keys" not in server.client.info("commandstats")


def test_too_many_keys_is_an_error(server):
    server.fill()
    assert "mount a prefix" in raises(errno.EFBIG, server.mount(max_keys=3).list, "/").note


def test_errors_and_secrets(monkeypatch):
    with pytest.raises(ValueError, match="secret") as caught:
        make_mount("redis", {"url": "redis://:canary-pw@127.0.0.1:1/0"})
    assert "canary-pw" not in str(caught.value)
    monkeypatch.setenv("REDIS_PW", "canary-pw")
    mount = make_mount("redis", {"url": "redis://127.0.0.1:1/0", "password": "env:REDIS_PW"})
    error = raises(errno.EIO, mount.read, "/x")
    assert "canary-pw" not in str(error) + error.note + repr(mount) and "redis: " in error.note




def test_calls(server):
    """A listing is type, keys, and types with lengths; then one question whether anything was written."""
    server.client.flushall()
    server.client.mset({f"sessions:2026:{n}": f"Champagne {n}" for n in range(40)})
    mount = make_mount("redis", {"url": f"redis://127.0.0.1:{server.port}/0"})
    with Terminal({"/redis": mount}) as terminal:
        def calls(line):
            before = mount.counters.calls
            result = terminal.run(line)
            assert result.exit_code == 0 and not result.stderr
            return mount.counters.calls - before, result.stdout

        tells = server.real                                  # fakeredis has no counter of changes
        assert calls("cat /redis/sessions/2026/7") == (2, "Champagne 7")
        assert calls("ls /redis/sessions/2026 | wc -l")[0] <= 4
        if tells:
            assert calls("ls /redis/sessions/2026 | wc -l") == (1, "40\n")
            assert calls("cat /redis/sessions/2026/7") == (1, "Champagne 7")
            assert calls("cat /redis/sessions/2026/8") == (2, "Champagne 8")
        assert calls("grep -rl Champagne /redis | wc -l")[0] <= 40 + 6
        server.client.set("sessions:2026:7", "changed")
        assert calls("cat /redis/sessions/2026/7")[1] == "changed"
        server.client.rpush("sessions:2026:list", "x")
        server.client.set("sessions:2026:brief", "x", px=80)
        assert calls("ls /redis/sessions/2026 | wc -l")[1] == "42\n"
        time.sleep(0.4)
        assert calls("ls /redis/sessions/2026 | wc -l")[1] == "41\n"
        line = "cat /redis/sessions/2026/8; redis set --key sessions:2026:8 --value other; cat /redis/sessions/2026/8"
    writable = make_mount("redis", {"url": f"redis://127.0.0.1:{server.port}/0", "writable": True})
    with Terminal({"/redis": writable}, clis=[RedisCli(writable)]) as terminal:
        assert terminal.run(line).stdout.endswith("other")
        assert terminal.run("echo new > /redis/sessions/2026/8; cat /redis/sessions/2026/8").stdout == "new\n"
