"""The log of tool calls: what an agent did, when, and how it ended. Times in seconds since the epoch, as the peer's."""
from __future__ import annotations

import json
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.mounts.vfs.connection import Connection

    Calls = list["ToolCall"]

FIELDS = ("id", "name", "parameters", "result", "error", "status", "started_at", "completed_at", "duration_ms")
STATUS = ("pending", "success", "error")


class ToolCall:
    """One call. `parameters` and `result` are what JSON says; `status` is pending, success or error."""

    __slots__ = FIELDS

    def __init__(self, row: tuple[Any, ...]) -> None:
        self.id: int
        self.name: str
        self.error: str | None
        self.status: str
        self.started_at: int
        self.completed_at: int | None
        self.duration_ms: int | None
        (self.id, self.name, parameters, result, self.error, self.status, self.started_at, self.completed_at,
         self.duration_ms) = row
        self.parameters = _json(parameters)
        self.result = _json(result)

    def as_dict(self) -> dict[str, Any]:
        return {field: getattr(self, field) for field in FIELDS}

    def __repr__(self) -> str:
        return f"ToolCall({self.as_dict()})"


class ToolLog:
    """`vfs.tools`."""

    def __init__(self, db: Connection) -> None:
        self._db = db

    def start(self, name: str, parameters: Any = None) -> int:
        """A call begins; its id."""
        text = None if parameters is None else json.dumps(parameters)
        with self._db.writing:
            cursor = self._db.execute("INSERT INTO tool_calls (name, parameters, status, started_at)"
                                      " VALUES (?, ?, 'pending', ?)", (name, text, int(time.time())))
            return int(cursor.lastrowid or 0)

    def success(self, id: int, result: Any = None) -> None:
        self._end(id, "success", None if result is None else json.dumps(result), None)

    def error(self, id: int, error: str) -> None:
        self._end(id, "error", None, error)

    def _end(self, id: int, status: str, result: str | None, error: str | None) -> None:
        now = time.time()
        with self._db.writing:
            done = self._db.execute(
                "UPDATE tool_calls SET status = ?, result = ?, error = ?, completed_at = ?,"
                " duration_ms = (? - started_at) * 1000 WHERE id = ?",
                (status, result, error, int(now), int(now), id)).rowcount
        if not done:
            raise KeyError(f"no tool call {id}")

    def record(self, name: str, started: float, completed: float, parameters: Any = None, result: Any = None,
               error: str | None = None) -> int:
        """A call that is over already; its id."""
        with self._db.writing:
            cursor = self._db.execute(
                "INSERT INTO tool_calls (name, parameters, result, error, status, started_at, completed_at,"
                " duration_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (name, None if parameters is None else json.dumps(parameters),
                 None if result is None else json.dumps(result), error, "success" if error is None else "error",
                 int(started), int(completed), int((completed - started) * 1000)))
            return int(cursor.lastrowid or 0)

    def get(self, id: int) -> ToolCall | None:
        found = self.list(where="id = ?", values=(id,))
        return found[0] if found else None

    def list(self, limit: int | None = None, name: str | None = None, status: str | None = None,
             since: float | None = None, *, where: str = "1", values: tuple[Any, ...] = ()) -> Calls:
        """The newest first. `where` is a condition of SQL over FIELDS."""
        conditions, given = [where], list(values)
        for column, operator, value in (("name", "=", name), ("status", "=", status), ("started_at", ">=", since)):
            if value is not None:
                conditions.append(f"{column} {operator} ?")
                given.append(value)
        with self._db.reading:
            if "status" not in self._columns():              # of another implementation: completed calls only
                source = ("(SELECT *, CASE WHEN error IS NULL THEN 'success' ELSE 'error' END AS status"
                          " FROM tool_calls)")
            else:
                source = "tool_calls"
            rows = self._db.execute(
                f"SELECT {', '.join(FIELDS)} FROM {source} WHERE {' AND '.join(conditions)}"
                " ORDER BY started_at DESC, id DESC LIMIT ?", (*given, -1 if limit is None else limit)).fetchall()
        return [ToolCall(row) for row in rows]

    def _columns(self) -> set[str]:
        return {row[1] for row in self._db.execute("PRAGMA table_info(tool_calls)")}


def _json(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text
