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
    from collections.abc import Iterator, Sequence

    from mirage.mounts.sql.url import DatabaseUrl
    from mirage.vfs.secrets import Secret

    Info = dict[str, Any]

STRING = b"string"
NOTHING = b"none"
SCAN = 1000                                                  # keys in one answer of SCAN
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
        for command in commands:
            pipe.execute_command(*command)
        answers: list[Any] = pipe.execute()
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
        answers = self._ask(*asked, ("TYPE", encode(string_key)), ("TYPE", encode(json_key)))
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
            return {"name": path, "type": "file", "size": self._ask(("STRLEN", encode(key)))[0]}
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
        if path != "/":
            info = self.info(path)
            if info["type"] == "file":
                return [info]
        node = self._node(path) or {}
        base = self.prefix + "".join(f"{part_of(name.removesuffix(KEYS))}:" for name in path[1:].split("/") if name)
        parts = sorted(part for part in node if part is not None)
        mine = [part for part in parts if None in node[part]]
        kinds = self._of_each("TYPE", base, mine)
        strings = [part for part in mine if kinds[part] == STRING]
        sizes = self._of_each("STRLEN", base, strings)
        names: dict[str, Info] = {}
        for part in strings:
            names[name_of(part)] = {"type": "file", "size": sizes[part]}
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

    def _of_each(self, command: str, base: str, parts: Sequence[str]) -> dict[str, Any]:
        """Part -> the answer for its key."""
        answers = self._ask(*[(command, encode(base + part)) for part in parts]) if parts else []
        return dict(zip(parts, answers, strict=True))

    # ---- values

    def cat_file(self, path: str, start: int | None = None, end: int | None = None) -> bytes:
        key, kind = self._key(path)
        if kind == STRING:
            if start is None and end is None:
                return bytes(self._ask(("GET", encode(key)))[0] or b"")
            last = -1 if end is None else end - 1
            return bytes(self._ask(("GETRANGE", encode(key), start or 0, last))[0])
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
