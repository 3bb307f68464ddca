"""The journal: one SQLite table of what was refused, changed, called and typed; sums for what was only looked at."""
from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FIELDS = ("time", "session", "line", "command", "effect", "target", "rule", "verdict", "reason", "bytes", "calls",
          "duration")
SCHEMA = """
CREATE TABLE IF NOT EXISTS journal (
    id INTEGER PRIMARY KEY,
    time REAL NOT NULL,        -- seconds since the epoch
    session TEXT NOT NULL,
    line INTEGER NOT NULL,     -- number of the typed line in its session
    command TEXT NOT NULL,     -- the command, or the typed line itself
    effect TEXT NOT NULL,      -- of the vocabulary; 'line' for the typed line
    target TEXT NOT NULL,      -- a path, "CLI OPERATION", or a mount for sums
    rule TEXT,
    verdict TEXT NOT NULL,     -- allow, deny, hide, ask, stage, limit
    reason TEXT,
    bytes INTEGER,
    calls INTEGER,             -- how many operations this record stands for
    duration REAL              -- seconds
);
CREATE INDEX IF NOT EXISTS journal_session_line ON journal (session, line);
"""
INSERT = f"INSERT INTO journal ({', '.join(FIELDS)}) VALUES ({', '.join('?' * len(FIELDS))})"


class Journal:
    """Appends records; thread-safe. `path` None keeps it in memory. Records of a line are written in one transaction."""

    def __init__(self, path: str | Path | None = None) -> None:
        if path is not None:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path or ":memory:", check_same_thread=False, isolation_level=None)
        if path is not None:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA busy_timeout = 5000")
        self._connection.executescript(SCHEMA)

    def append(self, records: Sequence[tuple[Any, ...]]) -> None:
        """Records are tuples in the order of FIELDS."""
        if not records:
            return
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.executemany(INSERT, records)
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def records(self, where: str = "1", parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Records as dicts, oldest first; `where` is an SQL condition over the columns."""
        with self._lock:
            rows = self._connection.execute(
                f"SELECT {', '.join(FIELDS)} FROM journal WHERE {where} ORDER BY id", parameters).fetchall()
        return [dict(zip(FIELDS, row, strict=True)) for row in rows]

    def close(self) -> None:
        with self._lock:
            self._connection.close()
