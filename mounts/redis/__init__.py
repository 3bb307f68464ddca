"""Redis as files: /<key with : as />; strings as they are, other values as .json."""
from __future__ import annotations

from mirage.mounts.sql.url import DatabaseUrl
from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.mounts.fsspec.mount import FileStore

OPTIONS: dict[str, object] = {"url": DatabaseUrl, "password": Secret, "prefix": str, "writable": bool, "ttl": float,
                              "max_keys": int}
ARGUMENT = "url"


def build(url: DatabaseUrl, password: Secret | None = None, prefix: str = "", max_keys: int = 1_000_000,
          **more: object) -> FileStore:
    """url: redis://host:port/db; prefix: only keys that begin with it, which is left out of the names."""
    from mirage.mounts.redis.mount import Redis
    from mirage.mounts.redis.store import RedisStore
    return Redis(RedisStore(url, password, prefix, max_keys), **more)
