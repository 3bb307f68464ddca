"""The journal: one SQLite table of what was refused, changed, called and typed; sums for what was only looked at."""
from __future__ import annotations

import threading
from collections import deque
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection
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


TOOL_CALL = ("INSERT INTO tool_calls (name, parameters, result, error, status, started_at, completed_at, duration_ms)"
             " VALUES ('bash', ?, ?, ?, ?, ?, ?, ?)")
KEPT = 100_000                                               # records kept where there is no file


class Journal:
    """Appends records; thread-safe. Records of one call are written in one transaction.

    path  the SQLite file (write-ahead log: others can read it meanwhile, a crash loses no committed record);
          None keeps the last 100,000 records in memory
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self._lock = threading.Lock()
        self._memory: deque[tuple[Any, ...]] = deque(maxlen=KEPT)
        self._connection: Connection | None = None
        self._keeps_calls = False
        if path is not None:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._connection = _connect(str(path))
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute("PRAGMA busy_timeout = 5000")
            self._connection.executescript(SCHEMA)
            self._keeps_calls = keeps_tool_calls(self._connection)

    def append(self, records: Sequence[tuple[Any, ...]]) -> None:
        """Records are tuples in the order of FIELDS."""
        if not records:
            return
        with self._lock:
            if self._connection is None:
                self._memory.extend(records)
            else:
                _insert(self._connection, records)

    def line(self, text: str, started: float, seconds: float, status: int) -> None:
        """A typed line is over. Only a Vfs database keeps it here as well: in its log of tool calls."""
        if self._keeps_calls and self._connection is not None:
            import json
            values = (json.dumps({"command": text}), *((json.dumps({"exit_code": 0}), None, "success") if status == 0
                      else (None, f"exit status {status}", "error")), int(started), int(started + seconds),
                      int(seconds * 1000))
            with self._lock:
                self._connection.execute(TOOL_CALL, values)

    def records(self, where: str = "1", parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Records as dicts, oldest first; `where` is an SQL condition over the columns."""
        with self._lock:
            connection = self._connection
            if connection is None:
                connection = _connect(":memory:")
                connection.executescript(SCHEMA)
                _insert(connection, list(self._memory))
            rows = connection.execute(
                f"SELECT {', '.join(FIELDS)} FROM journal WHERE {where} ORDER BY id", parameters).fetchall()
        return [dict(zip(FIELDS, row, strict=True)) for row in rows]

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()


def keeps_tool_calls(connection: Connection) -> bool:
    """Is the file a Vfs database (docs/vfs.md)? Then typed lines are tool calls of the agent too."""
    return bool(connection.execute("SELECT 1 FROM pragma_table_info('tool_calls') WHERE name = 'status'"
                                   " AND EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'fs_inode')").fetchone())


def _connect(path: str) -> Connection:
    import sqlite3
    return sqlite3.connect(path, check_same_thread=False, isolation_level=None)


def _insert(connection: Connection, records: Sequence[tuple[Any, ...]]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany(INSERT, [[_storable(value) for value in record] for record in records])
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _storable(value: Any) -> Any:
    """SQLite takes no lone surrogates (bytes of a name that are not UTF-8)."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode()
    return value
