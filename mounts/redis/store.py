"""Redis behind the interface of a file store (mirage/mounts/fsspec/store.py)."""
from __future__ import annotations

import base64
import contextlib
import errno
import json
import os
import threading
from typing import TYPE_CHECKING, Any

from mirage.mounts.redis.keys import JSON, KEYS, VALUE, decode, encode, name_of, part_of
from mirage.vfs.service import Counters, service_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mirage.mounts.sql.url import DatabaseUrl
    from mirage.vfs.secrets import Secret

    Info = dict[str, Any]

STRING = b"string"
NOTHING = b"none"
SMALL, MANY = 64 << 10, 256                                  # bytes of a string that is kept, and how many are
SCAN = 1000                                                  # keys in one answer of SCAN
STATE = ("run_id", "rdb_changes_since_last_save", "rdb_last_save_time", "expired_keys", "evicted_keys")
DENIED = ("NOAUTH", "WRONGPASS", "NOPERM", "READONLY", "invalid username-password pair")


class RedisStore:
    """Keys below `prefix` as files. Names are looked up one by one; a directory is found by a SCAN of the keys."""

    asks_size = False
    flat = True
    name = "redis"

    def __init__(self, url: DatabaseUrl, password: Secret | None, prefix: str, max_keys: int) -> None:
        self.url = url
        self.password = password
        self.prefix = prefix
        self.max_keys = max_keys
        self.label = f"{url!r}" + (f" {prefix}*" if prefix else "")
        self.counters = Counters()
        self._lock = threading.Lock()
        self._client: Any = None
        self._tree: dict[Any, Any] | None = None
        self._state: tuple[Any, ...] | None = ()             # of the database, see _state_of; None: it does not tell
        self._keys: dict[str, tuple[str, bytes]] = {}        # path -> key and type, of strings that were looked up
        self._sizes: dict[str, int] = {}                     # path -> length, as _key found it
        self._values: dict[str, bytes] = {}                  # path -> small string
        self._served: set[str] = set()                       # read since the state was asked for last

    @property
    def client(self) -> Any:
        with self._lock:
            if self._client is None:
                import redis
                from redis.backoff import NoBackoff
                from redis.retry import Retry
                try:
                    password = self.password.reveal() if self.password is not None else None
                    more: dict[str, Any] = {"password": password} if password else {}
                    more["retry"] = Retry(NoBackoff(), 0)    # the library would repeat what may have been carried out
                    self._client = redis.Redis.from_url(self.url.reveal(), socket_timeout=30, socket_connect_timeout=10,
                                                        **more)
                except LookupError as e:
                    raise service_error(errno.EACCES, f"redis: {e}") from None
                except ValueError as e:
                    raise service_error(errno.EINVAL, f"redis: {e}") from None
            return self._client

    # ---- the interface of a store

    def full(self, path: str) -> str:
        return path

    def bare(self, full: str) -> str:
        return full.strip("/")

    def forget(self) -> None:
        self._tree = None
        self._keys.clear()
        self._values.clear()

    def whole_tree(self, path: str) -> None:
        """One SCAN has all keys anyway."""

    def unchanged(self) -> bool:
        """Has nothing been written, and no key expired, since this was asked last? One call."""
        self._served.clear()
        before = self._state
        if not before:
            return False
        with self.errors("/"):
            self.counters.add(calls=1)
            self._state = _state_of(self.client.info())
        return self._state == before

    def call(self, path: str, function: str, *args: Any, **options: Any) -> Any:
        with self.errors(path):
            return getattr(self, function)(*args, **options)

    def put(self, path: str, file: Any, size: int) -> None:
        with self.errors(path):
            try:
                key, kind = self._key(path)
            except FileNotFoundError:                        # a name that no key has
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path) from None
            if kind not in (STRING, NOTHING):
                raise OSError(errno.EPERM, os.strerror(errno.EPERM), path)
            self.counters.add(calls=1)
            self.client.set(encode(key), file.read(size), keepttl=kind == STRING)

    def move(self, old: str, new: str) -> None:
        with self.errors(old):
            key, kind = self._key(old)
            target, _ = self._key(new, kind)
            self.counters.add(calls=1)
            self.client.rename(encode(key), encode(target))

    @contextlib.contextmanager
    def errors(self, path: str) -> Iterator[None]:
        """Errors of Redis as OSError, with its message."""
        import redis
        try:
            yield
        except redis.RedisError as e:
            text = " ".join(str(e).split())[:300]
            number = errno.EACCES if isinstance(e, redis.AuthenticationError) or text.startswith(DENIED) else errno.EIO
            if text.startswith("OOM"):
                number = errno.ENOSPC
            raise service_error(number, f"redis: {text}") from None

    # ---- paths to keys

    def _ask(self, *commands: Sequence[Any]) -> list[Any]:
        """Answers to several commands in one round trip."""
        self.counters.add(calls=1)
        pipe = self.client.pipeline(transaction=False)
        first = self._state == ()
        if first:                                            # asked before what it is the state of
            pipe.info()
        for command in commands:
            pipe.execute_command(*command)
        answers: list[Any] = pipe.execute(raise_on_error=False)
        if first:
            told = answers.pop(0)
            self._state = _state_of(told) if isinstance(told, dict) else None
        for command, answer in zip(commands, answers, strict=True):
            if isinstance(answer, Exception) and command[0] != "STRLEN":
                raise answer
        return answers

    def _key(self, path: str, new: bytes = b"") -> tuple[str, bytes]:
        """(key, type) of a path; the type is `none` where a key can be made. ENOENT where no key has this path.

        new  the type of a value that is to be moved here
        """
        *above, last = path[1:].split("/")
        parts: list[str] = []
        checks: list[tuple[str, bool]] = []                  # (prefix, is it a value too?)
        for name in above:
            part = part_of(name.removesuffix(KEYS))
            if part is None:
                raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            parts.append(part)
            checks.append((":".join(parts), name.endswith(KEYS)))
        plain = part_of(last)
        stem = part_of(last.removesuffix(JSON).removesuffix(VALUE)) if last.endswith(JSON) else None
        base = self.prefix + "".join(part + ":" for part in parts)
        asked = [("TYPE", encode(key)) for prefix, _ in checks for key in _values(self.prefix + prefix)]
        if plain is None and stem is None:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        string_key = base + (plain if plain is not None else (stem or "") + JSON)
        json_key = base + (stem or "")
        *answers, size = self._ask(*asked, ("TYPE", encode(string_key)), ("TYPE", encode(json_key)),
                                   ("STRLEN", encode(string_key)))
        for i, (_, both) in enumerate(checks):
            as_string, as_json = answers[2 * i], answers[2 * i + 1]
            is_value = as_string == STRING or checks[i][0].endswith(JSON) and as_json not in (STRING, NOTHING)
            if is_value != both:
                number = errno.ENOTDIR if is_value else errno.ENOENT
                raise OSError(number, os.strerror(number), path)
        string, container = answers[-2], answers[-1]
        if new not in (b"", STRING):
            if stem is None or string == STRING:
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
            return json_key, container
        if plain is not None and string == STRING:
            self._sizes[path] = size
            return string_key, STRING
        if stem is not None and container not in (STRING, NOTHING) and (plain is None) == (string == STRING):
            return json_key, container
        if plain is None:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return string_key, NOTHING if string == NOTHING else string

    def info(self, path: str) -> Info:
        try:
            key, kind = self._key(path)
        except FileNotFoundError:
            key, kind = "", NOTHING
        if kind == STRING:
            self._keys[path] = key, kind
            return {"name": path, "type": "file", "size": self._sizes.pop(path)}
        if kind != NOTHING and path.endswith(JSON):
            return {"name": path, "type": "file", "size": None}
        above = path.rpartition("/")[0]
        if KEYS in above:
            self.info(above)                                 # ENOENT where nothing collides
        hides = not path.endswith(KEYS) or self.info(path.removesuffix(KEYS))["type"] == "file"
        if hides and self._node(path) is not None:
            return {"name": path, "type": "directory"}
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)

    def _node(self, path: str) -> dict[Any, Any] | None:
        """The directory of the tree of keys, None where there is none."""
        node: Any = self._snapshot()
        for name in path.strip("/").split("/") if path != "/" else ():
            part = part_of(name.removesuffix(KEYS))
            node = node.get(part) if part is not None else None
            if not isinstance(node, dict):
                return None
        return node if path == "/" or any(part is not None for part in node) else None

    def _snapshot(self) -> dict[Any, Any]:
        """Parts of keys -> the parts behind; the entry None says that the key itself exists. SCAN, never KEYS."""
        tree = self._tree
        if tree is not None:
            return tree
        tree = {}
        cursor, count = 0, 0
        pattern = encode("".join("\\" + c if c in "*?[]\\^" else c for c in self.prefix)) + b"*"
        while True:
            self.counters.add(calls=1)
            cursor, keys = self.client.scan(cursor, match=pattern, count=SCAN)
            count += len(keys)
            if count > self.max_keys:
                raise service_error(errno.EFBIG, f"redis: more than {self.max_keys:,} keys: mount a prefix")
            for key in keys:
                node = tree
                for part in decode(key)[len(self.prefix):].split(":"):
                    node = node.setdefault(part, {})
                node[None] = True
            if cursor == 0:
                self._tree = tree
                return tree

    def ls(self, path: str, detail: bool = True) -> list[Info]:
        if path != "/" and not self._is_plain_directory(path):
            info = self.info(path)
            if info["type"] == "file":
                return [info]
        node = self._node(path) or {}
        base = self.prefix + "".join(f"{part_of(name.removesuffix(KEYS))}:" for name in path[1:].split("/") if name)
        parts = sorted(part for part in node if part is not None)
        mine = [part for part in parts if None in node[part]]
        keys = [encode(base + part) for part in mine]
        answers = self._ask(*[("TYPE", key) for key in keys], *[("STRLEN", key) for key in keys]) if keys else []
        kinds = dict(zip(mine, answers[:len(mine)], strict=True))
        strings = [part for part in mine if kinds[part] == STRING]
        sizes = dict(zip(mine, answers[len(mine):], strict=True))
        names: dict[str, Info] = {}
        for part in strings:
            names[name_of(part)] = {"type": "file", "size": sizes[part]}
            self._keys[f"{path.rstrip('/')}/{name_of(part)}"] = base + part, STRING
        for part in mine:
            if kinds[part] not in (STRING, NOTHING):
                name = name_of(part)
                names[f"{name}{VALUE}{JSON}" if name + JSON in names else name + JSON] = {"type": "file", "size": None}
        for part in parts:
            if any(below is not None for below in node[part]):
                name = name_of(part)
                names[name + KEYS if name in names else name] = {"type": "directory"}
        return [{**info, "name": f"{path.rstrip('/')}/{name}"} for name, info in names.items()
                if len(name.encode("utf-8", "surrogateescape")) <= 255]

    def _is_plain_directory(self, path: str) -> bool:
        """Do the keys that are known show a directory, which no name above and no value can be taken for?"""
        node: Any = self._tree
        for name in path[1:].split("/"):
            part = None if name.endswith((KEYS, JSON)) else part_of(name)
            node = node.get(part) if node is not None and part is not None else None
            if node is None or None in node:
                return False
        return bool(node)

    # ---- values

    def cat_file(self, path: str, start: int | None = None, end: int | None = None) -> bytes:
        if path in self._values and path not in self._served:
            self._served.add(path)
            return self._values[path][start or 0:end]
        known = self._keys.pop(path, None)
        key, kind = known or self._key(path)
        if kind == STRING:
            first, last = start or 0, -1 if end is None else end - 1
            try:
                data = bytes(self._ask(("GETRANGE", encode(key), first, last))[0])
            except redis_error("ResponseError"):
                if known is None:
                    raise
                return self.cat_file(path, start, end)       # another type by now
            self._served.add(path)
            if not first and len(data) <= SMALL and len(self._values) < MANY and (end is None or len(data) < end):
                self._values[path] = data
            return data
        if kind == NOTHING:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        text = json.dumps(self.value(key, kind), ensure_ascii=False, indent=2) + "\n"
        data = text.encode("utf-8", "replace")
        return data[start or 0:end]

    def rm_file(self, path: str) -> None:
        key, _ = self._key(path)
        self._ask(("DEL", encode(key)))

    def value(self, key: str, kind: bytes) -> Any:
        """What is in a hash, list, set, zset or stream, as JSON has it."""
        self.counters.add(calls=1)
        name = encode(key)
        if kind == b"hash":
            return {shown_key(field): shown(value) for field, value in self.client.hgetall(name).items()}
        if kind == b"list":
            return [shown(value) for value in self.client.lrange(name, 0, -1)]
        if kind == b"set":
            return [shown(value) for value in sorted(self.client.smembers(name))]
        if kind == b"zset":
            return [{"member": shown(member), "score": score}
                    for member, score in self.client.zrange(name, 0, -1, withscores=True)]
        if kind == b"stream":
            return [{"id": shown(id), "fields": {shown_key(k): shown(v) for k, v in fields.items()}}
                    for id, fields in self.client.xrange(name)]
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP), key)

    def __repr__(self) -> str:
        return self.label


def redis_error(name: str) -> Any:
    import redis
    return getattr(redis, name)


def _state_of(info: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """What is another after each write and each key that expired or was evicted; None where a server does not tell."""
    state = tuple(info.get(name) for name in STATE)
    return None if None in state else state


def _values(prefix: str) -> tuple[str, str]:
    """Keys whose files would have the name of the directory of `prefix`: a string, and a container before .json."""
    return prefix, prefix.removesuffix(JSON) if prefix.endswith(JSON) else prefix


def shown(value: bytes) -> Any:
    """UTF-8 as a string, other bytes as {"base64": ...}."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def shown_key(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")
