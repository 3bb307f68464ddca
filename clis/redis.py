"""`redis`: the commands that agents use of Redis."""
from __future__ import annotations

import errno
import json
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from mirage.clis.framework import Call, OperationError, VirtualCli, operation
from mirage.mounts.redis.mount import Redis
from mirage.mounts.redis.store import shown
from mirage.process import blocking

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mirage.vfs.types import Mount

Text = Annotated[str, Field(min_length=1)]


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class OneKey(Arguments):
    key: Text = Field(description="the key, with its colons")


class ManyKeys(Arguments):
    keys: list[str] = Field(min_length=1)


class SetString(OneKey):
    value: str
    expiration: int | None = Field(None, ge=1, description="seconds until it expires")


class Amount(OneKey):
    amount: int = 1


class OneField(OneKey):
    field: str


class SetField(OneField):
    value: str


class Values(OneKey):
    values: list[str] = Field(min_length=1)


class Range(OneKey):
    start: int = 0
    stop: int = -1


class Score(OneKey):
    member: str
    score: float


class Expire(OneKey):
    seconds: int = Field(ge=1)


class Rename(OneKey):
    new_key: Text


class Scan(Arguments):
    pattern: str = "*"
    count: int = Field(1000, ge=1, le=100_000, description="at most so many keys")


class Publish(Arguments):
    channel: Text
    message: str


class RedisCli(VirtualCli):
    """The CLI of the server of `service`; keys are whole, also where the mount has a prefix."""

    name = "redis"
    description = "Read and change keys. Strings, hashes, lists, sets are files too."

    def __init__(self, service: Redis, name: str = "redis") -> None:
        super().__init__()
        self.name = name
        self.service = service
        self.counters = service.counters

    def _ask(self, *command: Any) -> Any:
        """The answer to one command, as JSON has it."""
        store = self.service.store

        def ask() -> Any:
            with store.errors(""):
                return store._ask(command)[0]
        try:
            return _plain(blocking.call(ask))
        except OSError as e:
            note = str(getattr(e, "note", "") or e.strerror or e).removeprefix("redis: ")
            raise OperationError(note, errno.errorcode.get(e.errno or 0, "io").lower()) from None

    def _change(self, *command: Any) -> Any:
        try:
            return self._ask(*command)
        finally:
            self.service.forget()

    # ---- looking

    @operation("Read a string", OneKey, effects=("read",))
    def get(self, call: Call, a: OneKey) -> Any:
        return self._ask("GET", a.key)

    @operation("List keys by pattern (SCAN)", Scan, effects=("read",))
    def scan_keys(self, call: Call, a: Scan) -> Any:
        seen: dict[str, Any] = {}                            # SCAN may give a key twice
        cursor: Any = 0
        while True:
            cursor, keys = self._ask("SCAN", cursor, "MATCH", a.pattern, "COUNT", 1000)
            seen.update((json.dumps(key), key) for key in keys)
            if int(cursor) == 0 or len(seen) >= a.count:
                found = list(seen.values())
                return {"keys": found[:a.count], "complete": int(cursor) == 0 and len(found) <= a.count}

    @operation("Type of a key", OneKey, effects=("read",))
    def type(self, call: Call, a: OneKey) -> Any:
        return self._ask("TYPE", a.key)

    @operation("Seconds until a key expires: -1 never, -2 no such key", OneKey, effects=("read",))
    def ttl(self, call: Call, a: OneKey) -> Any:
        return self._ask("TTL", a.key)

    @operation("Read a field of a hash", OneField, effects=("read",))
    def hget(self, call: Call, a: OneField) -> Any:
        return self._ask("HGET", a.key, a.field)

    @operation("Read a hash", OneKey, effects=("read",))
    def hgetall(self, call: Call, a: OneKey) -> Any:
        return self._ask("HGETALL", a.key)

    @operation("Read a list", Range, effects=("read",))
    def lrange(self, call: Call, a: Range) -> Any:
        return self._ask("LRANGE", a.key, a.start, a.stop)

    @operation("Read a set", OneKey, effects=("read",))
    def smembers(self, call: Call, a: OneKey) -> Any:
        return sorted(self._ask("SMEMBERS", a.key), key=json.dumps)

    @operation("Read a sorted set", Range, effects=("read",))
    def zrange(self, call: Call, a: Range) -> Any:
        return self._ask("ZRANGE", a.key, a.start, a.stop)

    # ---- changing

    @operation("Set a string", SetString, effects=("create", "update"))
    def set(self, call: Call, a: SetString) -> Any:
        return self._change("SET", a.key, a.value, *(("EX", a.expiration) if a.expiration else ()))

    @operation("Add to a number", Amount, effects=("create", "update"))
    def incr(self, call: Call, a: Amount) -> Any:
        return self._change("INCRBY", a.key, a.amount)

    @operation("Delete keys", ManyKeys, effects=("destroy",))
    def delete(self, call: Call, a: ManyKeys) -> Any:
        return self._change("DEL", *a.keys)

    @operation("Give a key another name; replaces", Rename, effects=("update", "destroy"))
    def rename(self, call: Call, a: Rename) -> Any:
        return self._change("RENAME", a.key, a.new_key)

    @operation("Let a key expire", Expire, effects=("update", "destroy"))
    def expire(self, call: Call, a: Expire) -> Any:
        return self._change("EXPIRE", a.key, a.seconds)

    @operation("Keep a key that would expire", OneKey, effects=("update",))
    def persist(self, call: Call, a: OneKey) -> Any:
        return self._change("PERSIST", a.key)

    @operation("Set a field of a hash", SetField, effects=("create", "update"))
    def hset(self, call: Call, a: SetField) -> Any:
        return self._change("HSET", a.key, a.field, a.value)

    @operation("Delete a field of a hash", OneField, effects=("destroy",))
    def hdel(self, call: Call, a: OneField) -> Any:
        return self._change("HDEL", a.key, a.field)

    @operation("Put values before a list", Values, effects=("create", "update"))
    def lpush(self, call: Call, a: Values) -> Any:
        return self._change("LPUSH", a.key, *a.values)

    @operation("Put values behind a list", Values, effects=("create", "update"))
    def rpush(self, call: Call, a: Values) -> Any:
        return self._change("RPUSH", a.key, *a.values)

    @operation("Take the first value of a list", OneKey, effects=("destroy",))
    def lpop(self, call: Call, a: OneKey) -> Any:
        return self._change("LPOP", a.key)

    @operation("Take the last value of a list", OneKey, effects=("destroy",))
    def rpop(self, call: Call, a: OneKey) -> Any:
        return self._change("RPOP", a.key)

    @operation("Add members to a set", Values, effects=("create", "update"))
    def sadd(self, call: Call, a: Values) -> Any:
        return self._change("SADD", a.key, *a.values)

    @operation("Remove members of a set", Values, effects=("destroy",))
    def srem(self, call: Call, a: Values) -> Any:
        return self._change("SREM", a.key, *a.values)

    @operation("Add a member to a sorted set", Score, effects=("create", "update"))
    def zadd(self, call: Call, a: Score) -> Any:
        return self._change("ZADD", a.key, a.score, a.member)

    @operation("Remove members of a sorted set", Values, effects=("destroy",))
    def zrem(self, call: Call, a: Values) -> Any:
        return self._change("ZREM", a.key, *a.values)

    @operation("Send a message to a channel", Publish, effects=("send",))
    def publish(self, call: Call, a: Publish) -> Any:
        return self._ask("PUBLISH", a.channel, a.message)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return shown(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(_plain(key)): _plain(item) for key, item in value.items()}
    return value


def from_config(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
                folder: Path) -> RedisCli:
    """The CLI of a configuration: of the server of the options; without options, of the first Redis mount.

    Raises ValueError for unknown options, and where there is neither a mount nor a URL.
    """
    from mirage.vfs.registry import ProviderError, make_mount
    if options:
        return RedisCli(make_mount("redis", options, folder), name)
    for mount in mounts.values():
        if isinstance(mount, Redis):
            return RedisCli(mount, name)
    raise ProviderError(f"clis.{name}: give url, or mount redis")
