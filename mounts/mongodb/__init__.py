"""MongoDB as files: /<db>/<collection>/{documents.jsonl,schema.json,count}, read-only (README.md)."""
from __future__ import annotations

from mirage.mounts.sql.url import DatabaseUrl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.mounts.mongodb.mount import MongoDB

OPTIONS: dict[str, object] = {"url": DatabaseUrl, "timeout": float, "ttl": float, "databases": str, "sample": int,
                              "bound": int}
ARGUMENT = "url"


def build(url: DatabaseUrl, **options: Any) -> MongoDB:
    """The mount; see MongoDB for the options."""
    from mirage.mounts.mongodb.mount import MongoDB
    return MongoDB(url, **options)
