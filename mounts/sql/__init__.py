"""A database as files: /<schema>/<table>/{schema.json,rows.jsonl,rows.csv,count}, read-only."""
from __future__ import annotations

from mirage.mounts.sql.url import DatabaseUrl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.mounts.sql.mount import Sql

OPTIONS: dict[str, object] = {"url": DatabaseUrl, "timeout": float, "ttl": float, "schemas": str}
ARGUMENT = "url"


def build(url: DatabaseUrl, **options: Any) -> Sql:
    """The mount; see Sql for the options."""
    from mirage.mounts.sql.mount import Sql
    return Sql(url, **options)
