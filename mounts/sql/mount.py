"""The mount: /<schema>/<table>/{schema.json,rows.jsonl,rows.csv,count}."""
from __future__ import annotations

import errno
import json
import os
import threading
import time
from typing import TYPE_CHECKING, Any

from mirage.mounts.sql.catalog import Catalog, Relation
from mirage.mounts.sql.database import Database
from mirage.mounts.sql.pages import Pages, RowsHandle
from mirage.mounts.sql.rendering import Csv, JsonLines
from mirage.process import blocking
from mirage.vfs.describe import Description, Format
from mirage.vfs.handles import RangeHandle
from mirage.vfs.service import Freshness
from mirage.vfs.types import S_IFDIR, S_IFREG, Capabilities, Entry, Stat, enoent, error, new_device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.mounts.sql.url import DatabaseUrl
    from mirage.vfs.estimate import Cost
    from mirage.vfs.search import Candidates, Query

    Entries = list[Entry]
    Columns = list[tuple[str, Any]]
    Places = list[tuple[str, Relation, str]]

FILES = ("schema.json", "rows.jsonl", "rows.csv", "count")
NEEDING = ("schema.json", "rows.jsonl", "rows.csv")          # the columns
WRITERS: dict[str, type[JsonLines] | type[Csv]] = {"rows.jsonl": JsonLines, "rows.csv": Csv}


class Sql:
    """One database, read-only; `sql execute` changes it.

    url      a DatabaseUrl
    timeout  seconds that a statement may run; 0 is no limit
    ttl      seconds until a long line looks again which tables there are; every new line looks once
    schemas  only these, separated by commas; default: all but the system's
    """

    capabilities = Capabilities("open", "search", "describe")

    def __init__(self, url: DatabaseUrl, timeout: float = 30.0, ttl: float = 30.0, schemas: str = "") -> None:
        self.database = Database(url, timeout)
        self.counters = self.database.counters
        self.device = new_device()
        self.only = tuple(name.strip() for name in schemas.split(",") if name.strip())
        self._fresh = Freshness(ttl)
        self._lock = threading.Lock()
        self._known: Catalog | None = None
        self._made = time.time_ns()

    def catalog(self, wanted: tuple[str, str] = ("", ""), every: bool = False) -> Catalog:
        """What tables there are, asked once per typed line.

        wanted  schema and table whose columns are needed next;  every: those of all tables are
        """
        with self._lock:
            known = self._known if not self._fresh.due() else None
        if known is None:
            known = blocking.call(Catalog, self.database, self.only, wanted, every)
            with self._lock:
                self._known = known
                self._fresh.done()
        return known

    def changed(self) -> None:
        """Tables may have been made or dropped."""
        with self._lock:
            self._fresh.expire()

    def columns(self, relation: Relation) -> Columns:
        return relation.columns or blocking.call(self.catalog().columns, relation)

    # ---- paths

    def _find(self, path: str) -> tuple[str | None, Relation | None, str]:
        """(schema, relation, file); ENOENT and ENOTDIR."""
        if path == "/":
            return None, None, ""
        parts = path[1:].split("/")
        catalog = self.catalog((parts[0], parts[1])) if len(parts) == 3 and parts[2] in NEEDING else self.catalog()
        schema = catalog.schemas.get(parts[0])
        if schema is None:
            raise enoent(path)
        if len(parts) == 1:
            return schema, None, ""
        relation = blocking.call(catalog.relations, schema).get(parts[1])
        if relation is None or len(parts) > 2 and parts[2] not in FILES:
            raise enoent(path)
        if len(parts) > 3:
            raise error(errno.ENOTDIR, path)
        return schema, relation, parts[2] if len(parts) == 3 else ""

    def list(self, path: str) -> Entries:
        schema, relation, file = self._find(path)
        if file:
            raise error(errno.ENOTDIR, path)
        if relation is not None:
            return [Entry(name, self._file()) for name in FILES]
        catalog = self.catalog()
        names = catalog.schemas if schema is None else blocking.call(catalog.relations, schema)
        return [Entry(name, self._directory()) for name in names]

    def stat(self, path: str) -> Stat:
        return self._file() if self._find(path)[2] else self._directory()

    def _file(self) -> Stat:
        return Stat(S_IFREG | 0o444, None, self._made)

    def _directory(self) -> Stat:
        return Stat(S_IFDIR | 0o555, 4096, self._made, nlink=2)

    # ---- content

    def _open_file(self, path: str) -> tuple[Relation, str]:
        _, relation, file = self._find(path)
        if relation is None or not file:
            raise error(errno.EISDIR, path)
        return relation, file

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        relation, file = self._open_file(path)
        if file not in WRITERS:
            data = self.describe_table(relation) if file == "schema.json" else self._count(relation)
            return data[offset:] if length is None else data[offset:offset + length]
        rows = self.rows(relation, file)
        pieces: list[bytes] = []
        left = length
        while left != 0 and (piece := rows.pread(1 << 62 if left is None else left, offset)):
            pieces.append(piece)
            offset += len(piece)
            left = None if left is None else left - len(piece)
        return b"".join(pieces)

    def open(self, path: str, flags: int, mode: int = 0) -> RowsHandle | RangeHandle:
        if flags & os.O_ACCMODE != os.O_RDONLY or flags & os.O_TRUNC:
            raise error(errno.EROFS, path)
        relation, file = self._open_file(path)
        if file in WRITERS:
            return self.rows(relation, file)
        return RangeHandle(self, path, self._file())

    def rows(self, relation: Relation, file: str) -> RowsHandle:
        columns = self.columns(relation)
        text = WRITERS[file]([name for name, _ in columns])
        return RowsHandle(Pages(self.database, relation, columns), text, self._file())

    def describe_table(self, relation: Relation) -> bytes:
        """The content of schema.json."""
        self.columns(relation)
        found = {"schema": relation.schema, "name": relation.name, "type": relation.kind, **relation.details}
        return (json.dumps(found, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "replace")

    def _count(self, relation: Relation) -> bytes:
        from sqlalchemy import func, select, table
        query = select(func.count()).select_from(table(relation.name, schema=relation.schema))
        number = blocking.call(self.database.run, lambda connection: connection.execute(query).scalar_one())
        return b"%d\n" % number

    # ---- search and description

    def search(self, path: str, query: Query) -> Candidates | None:
        """Files below a directory that may hold a match (mirage/mounts/sql/search.py)."""
        from mirage.mounts.sql.search import search
        return search(self, path, query)

    def places(self, path: str) -> Places:
        """(path, relation, file) of every file at or below `path`."""
        if path == "/" or path.count("/") == 1:
            blocking.call(self.catalog(every=True).all_columns)
        schema, relation, file = self._find(path)
        if relation is not None:
            return [(path, relation, file)] if file else [(f"{path}/{name}", relation, name) for name in FILES]
        catalog = self.catalog()
        schemas = catalog.schemas if schema is None else {path[1:]: schema}
        return [(f"/{directory}/{name}/{each}", found, each) for directory, own in schemas.items()
                for name, found in blocking.call(catalog.relations, own).items() for each in FILES]

    def estimate(self, path: str, action: str, queries: Sequence[Query] = ()) -> Cost:
        """What an action would cost in statements (mirage/vfs/estimate.py)."""
        from mirage.mounts.sql.estimate import estimate
        return estimate(self, path, action, queries)

    def backend(self, path: str) -> tuple[str, str]:
        """The database, for rules about another mount of it."""
        return f"sql:{self.database.url!r}", path

    def describe(self) -> Description:
        return Description(
            "Database: schemas, then tables and views. `head`, `tail -n` and `wc -l` of rows.jsonl are cheap. "
            "Change it with the `sql` CLI.",
            [("<schema>/<table>/rows.jsonl", "a row a line"),
             ("<schema>/<table>/rows.csv", "the same as CSV"),
             ("<schema>/<table>/schema.json", "columns, types, keys, indexes"),
             ("<schema>/<table>/count", "number of rows")],
            [Format("rows.jsonl", '{"id": 1, "name": "...", "price": 12.50, "created": "2026-01-31T09:00:00"}\n')])

    def close(self) -> None:
        self.database.close()

    def __repr__(self) -> str:
        return f"Sql({self.database.url!r})"
