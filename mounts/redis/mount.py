"""The mount of Redis: a file store whose .json files cannot be written, with the time to live of each key."""
from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from mirage.mounts.fsspec.mount import FileStore
from mirage.mounts.redis.keys import JSON
from mirage.vfs.describe import Description, Format
from mirage.vfs.types import error

if TYPE_CHECKING:
    from typing import Any

    from mirage.mounts.redis.store import RedisStore
    from mirage.vfs.handles import RangeHandle, WriteBack


class Redis(FileStore):
    """See FileStore for `writable`, `ttl` and `max_file`."""

    store: RedisStore

    def __init__(self, store: RedisStore, **options: Any) -> None:
        super().__init__(store, max_file=512 << 20, **options)

    def open(self, path: str, flags: int, mode: int = 0) -> WriteBack | RangeHandle:
        writing = flags & os.O_ACCMODE != os.O_RDONLY or flags & os.O_TRUNC
        if writing and self.writable and self._is_container(path):
            raise error(errno.EPERM, path)
        return super().open(path, flags, mode)

    def replace(self, path: str, data: bytes, mode: int, uid: int, gid: int) -> None:
        if self._is_container(path):
            raise error(errno.EPERM, path)
        super().replace(path, data, mode, uid, gid)

    def _is_container(self, path: str) -> bool:
        if not path.endswith(JSON):
            return False
        info = self._info(path)
        return info is not None and info["type"] == "file" and info["size"] is None

    def describe(self) -> Description:
        return Description(
            "Redis: keys as paths, `:` is `/`. `redis ttl` tells how long a key lives; the `redis` CLI changes it.",
            [("<key>", "a string"), ("<key>.json", "a hash, list, set, sorted set, stream")],
            [Format(JSON, '{"field": "value"}\n', note="hash; lists and sets are arrays, sorted sets "
                    '[{"member", "score"}]')],
            writable=self.writable)

    def backend(self, path: str) -> tuple[str, str]:
        """The database, and the path in a mount of all its keys."""
        prefix = self.store.prefix
        if prefix and not prefix.endswith(":"):
            return f"redis:{self.store.label}", path
        where = "/" + prefix.replace(":", "/").rstrip("/") + path
        return f"redis:{self.store.url!r}", where.replace("//", "/").rstrip("/") or "/"

    def __repr__(self) -> str:
        return f"Redis({self.store.label})"
