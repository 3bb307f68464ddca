from __future__ import annotations

import pytest

pytest.importorskip("redis")

from mirage import Terminal
from mirage.clis import make_cli
from mirage.clis.redis import RedisCli
from tests.clis.support import run
from tests.mounts.redis_support import RedisServer


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture
def terminal(server):
    server.fill()
    mount = server.mount()
    with Terminal({"/redis": mount}, clis=[RedisCli(mount)]) as terminal:
        yield terminal


def test_looking(terminal):
    assert run(terminal, "redis get --key greeting") == "hello" and run(terminal, "redis get --key nothing") is None
    assert run(terminal, "redis type --key tags") == "set" and run(terminal, "redis smembers --key tags") == ["a", "b"]
    assert run(terminal, "redis hget --key user:1:address --field city") == "Bergen"
    assert run(terminal, "redis hgetall --key user:1:address") == {"city": "Bergen", "zip": "5003"}
    assert run(terminal, "redis lrange --key queue --stop 0") == ["first"]
    assert run(terminal, "redis zrange --key rank") == ["low", "high"]
    assert 900 < run(terminal, "redis ttl --key session:x") <= 1000 and run(terminal, "redis ttl --key greeting") == -1
    assert run(terminal, "redis scan-keys --pattern 'user:*'")["complete"] is True
    assert len(run(terminal, "redis scan-keys --count 3")["keys"]) == 3


def test_changes_show_with_the_next_command(terminal):
    result = terminal.run("""ls /redis/app 2>&1; redis set --key app:level --value high --expiration 60; cat /redis/app/level; echo
        redis hset --key app:cfg --field a --value 1; cat /redis/app/cfg.json; redis rpush --key app:q --values x --values y
        redis lpush --key app:q --values w; jq -c . /redis/app/q.json; redis lpop --key app:q; redis rpop --key app:q
        redis delete --keys app:q --keys app:cfg; ls /redis/app; redis ttl --key app:level | jq '. > 50'""")
    assert result.stdout.splitlines() == [
        "ls: cannot access '/redis/app': No such file or directory", 'true', "high", "1", "{", '  "a": "1"', "}", "2", "3",
        '["w","x","y"]', '"w"', '"y"', "2", "level", "true"], result


def test_more_changes(server, terminal):
    for line, answer in (("sadd --key tags --values c", 1), ("srem --key tags --values a", 1), ("zadd --key rank --member m --score 1.5", 1),
                         ("zrem --key rank --values low", 1), ("incr --key n --amount 5", 5), ("expire --key n --seconds 9", 1),
                         ("persist --key n", 1), ("hdel --key doc --field k", 1), ("publish --channel c --message m", 0)):
        assert run(terminal, f"redis {line}") == answer, line
    assert run(terminal, "redis rename --key greeting --new_key hi") is True and server.client.get("hi") == b"hello"


def test_errors(terminal):
    assert "WRONGTYPE" in run(terminal, "redis get --key tags", 1)["error"]["message"]
    assert run(terminal, "redis get", 2)["error"]["code"] == "invalid_arguments"


def test_effects():
    cli = make_cli("redis", "redis", {"url": "redis://127.0.0.1:1/0"}, mounts={}, folder=".")
    effects = {name: operation.effects for name, operation in cli.operations.items()}
    assert effects["get"] == ("read",) and effects["delete"] == ("destroy",) and effects["publish"] == ("send",)
    assert effects["set"] == ("create", "update") and {name for name, e in effects.items() if e == ("read",)} == {
        "get", "scan-keys", "type", "ttl", "hget", "hgetall", "lrange", "smembers", "zrange"}
