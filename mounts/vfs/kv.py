"""The key-value store: JSON values by key."""
from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.mounts.vfs.connection import Connection

    Pairs = list[tuple[str, Any]]


class KeyValues:
    """`vfs.kv`. Values are what JSON can say; each call is a transaction of its own."""

    def __init__(self, db: Connection) -> None:
        self._db = db

    def get(self, key: str, default: Any = None) -> Any:
        with self._db.reading:
            row = self._db.execute("SELECT value FROM kv_store WHERE key = ?", (key,)).fetchone()
        return default if row is None else json.loads(row[0])

    def set(self, key: str, value: Any) -> None:
        text = json.dumps(value)
        with self._db.writing:
            self._db.execute("INSERT INTO kv_store (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE"
                             " SET value = excluded.value, updated_at = unixepoch()", (key, text))

    def delete(self, key: str) -> bool:
        """Was it there?"""
        with self._db.writing:
            return self._db.execute("DELETE FROM kv_store WHERE key = ?", (key,)).rowcount > 0

    def list(self, prefix: str = "") -> Pairs:
        """(key, value) of all keys that begin with `prefix`, sorted."""
        with self._db.reading:
            rows = self._db.execute("SELECT key, value FROM kv_store WHERE substr(key, 1, ?) = ? ORDER BY key",
                                    (len(prefix), prefix)).fetchall()
        return [(key, json.loads(value)) for key, value in rows]
