"""`sql`: queries, and what changes a database."""
from __future__ import annotations

import errno
import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from mirage.clis.framework import Call, OperationError, VirtualCli, operation
from mirage.mounts.sql.mount import Sql
from mirage.mounts.sql.rendering import to_json
from mirage.process import blocking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mirage.mounts.sql.catalog import Relation
    from mirage.vfs.types import Mount

MOST = 10_000


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Statement(Arguments):
    sql: str = Field(description="one statement; :name stands for a parameter", min_length=1)
    parameters: dict[str, Any] | None = Field(None, description="values of :name")


class SomeTables(Arguments):
    schema_name: str | None = Field(None, alias="schema", description="only this schema")


class OneTable(Arguments):
    table: str = Field(description="name, schema.name, or the path of its directory", min_length=1)
    schema_name: str | None = Field(None, alias="schema")


class SqlCli(VirtualCli):
    """The CLI of the database of `service`, which is at `point` if it is mounted."""

    name = "sql"
    description = "Query and change the database. Tables are files too."

    def __init__(self, service: Sql, point: str | None = None, name: str = "sql") -> None:
        super().__init__()
        self.name = name
        self.service = service
        self.point = point
        self.counters = service.counters

    @operation("Run a read-only query", Statement, effects=("read",))
    def query(self, call: Call, a: Statement) -> Any:
        names, rows = _call(self.service.database.query, a.sql, a.parameters, MOST)
        if len(rows) > MOST:
            raise OperationError(f"more than {MOST:,} rows: add LIMIT and OFFSET, or read rows.jsonl", 413)
        return _objects(names, rows)

    @operation("Run a statement that changes data or tables", Statement, effects=("update", "destroy"))
    def execute(self, call: Call, a: Statement) -> Any:
        try:
            names, rows, count = _call(self.service.database.execute, a.sql, a.parameters, MOST)
        finally:
            self.service.changed()
        if not names:
            return {"rows_affected": count}
        more = {"truncated": True} if len(rows) > MOST else {}
        return {"rows_affected": count, "rows": _objects(names, rows[:MOST]), **more}

    @operation("List tables and views", SomeTables, effects=("read",))
    def list_tables(self, call: Call, a: SomeTables) -> Any:
        return [self._shown(directory, found) for directory, found in self._relations()
                if a.schema_name in (None, found.schema)]

    @operation("Columns, types, keys and indexes of a table", OneTable, effects=("read",))
    def describe_table(self, call: Call, a: OneTable) -> Any:
        found = [(directory, relation) for directory, relation in self._relations()
                 if a.schema_name in (None, relation.schema)
                 and a.table.rstrip("/") in (relation.name, f"{relation.schema}.{relation.name}",
                                             self._path(directory, relation))]
        if len(found) != 1:
            where = ", ".join(relation.schema for _, relation in found)
            raise OperationError(f"{a.table} is in several schemas: {where}" if found else f"no table {a.table}", 404)
        return json.loads(_call(self.service.describe_table, found[0][1]))

    def _relations(self) -> list[tuple[str, Relation]]:
        def look() -> list[tuple[str, Relation]]:
            catalog = self.service.catalog()
            return [(directory, relation) for directory, schema in catalog.schemas.items()
                    for relation in catalog.relations(schema).values()]
        found: list[tuple[str, Relation]] = _call(look)
        return found

    def _shown(self, directory: str, relation: Relation) -> dict[str, Any]:
        found = {"schema": relation.schema, "name": relation.name, "type": relation.kind}
        return found if self.point is None else {**found, "path": self._path(directory, relation)}

    def _path(self, directory: str, relation: Relation) -> str | None:
        return None if self.point is None else f"{self.point.rstrip('/')}/{directory}/{relation.file}"


def _objects(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """Rows as objects, in the values that rows.jsonl has; a second column `a` is `a_2`."""
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return [dict(zip(unique, json.loads(to_json(list(row))), strict=True)) for row in rows]


def _call(function: Any, *args: Any) -> Any:
    try:
        return blocking.call(function, *args)
    except OSError as e:
        note = str(getattr(e, "note", "") or e.strerror or e).removeprefix("sql: ")
        raise OperationError(note, errno.errorcode.get(e.errno or 0, "io").lower()) from None


def from_config(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
                folder: Path) -> SqlCli:
    """The CLI of a configuration: of the mount with the same URL; without options, of the first one.

    Raises ValueError for unknown options, and where there is neither a mount nor a URL.
    """
    from mirage.mounts.sql import OPTIONS
    from mirage.vfs.registry import ProviderError, convert
    ready = {}
    for key, value in options.items():
        if key not in OPTIONS:
            raise ProviderError(f"clis.{name}: unknown option {key!r}; there are: {', '.join(sorted(OPTIONS))}")
        ready[key] = convert(name, key, value, OPTIONS[key], folder)
    for point, mount in mounts.items():
        if isinstance(mount, Sql) and (not ready or mount.database.url == ready.get("url")):
            return SqlCli(mount, point, name)
    if "url" not in ready:
        raise ProviderError(f"clis.{name}: give url, or mount sql")
    return SqlCli(Sql(**ready), None, name)
