"""The rows of a table in pages, as text, read when they are asked for."""
from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from mirage.process import blocking
from mirage.vfs.declare.pages import PagesHandle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mirage.mounts.sql.catalog import Relation
    from mirage.mounts.sql.database import Database
    from mirage.mounts.sql.rendering import Csv, JsonLines
    from mirage.vfs.search import Query
    from mirage.vfs.types import Stat

    Rows = Sequence[Sequence[Any]]

FIRST, MOST = 100, 5000                                      # rows of the first page, and of the largest
SMALL = 256 << 10                                            # bytes of a table that is read in one page
WHOLE = 50_000                                               # rows of such a page
TAIL_MOST = 100_000                                          # rows from the end that are asked for
SORTABLE = (sa.String, sa.Integer, sa.Numeric, sa.DateTime, sa.Date, sa.Time, sa.Boolean, sa.Uuid)
ROWIDS = ("rowid", "_rowid_", "oid")


class Pages:
    """Pages of one relation. Ordered by the primary key, the next page begins behind the last key.

    Without a key: by SQLite's rowid, where there is one; else by all columns that can be sorted, with OFFSET.
    """

    def __init__(self, database: Database, relation: Relation, columns: Sequence[tuple[str, Any]]) -> None:
        self.database = database
        self._columns = columns
        self._first = WHOLE if relation.size is not None and relation.size <= SMALL else FIRST
        self._where: Any = None                              # only these rows
        self.names = [name for name, _ in columns]
        self._from = sa.table(relation.name, *[sa.column(name) for name in self.names], schema=relation.schema)
        self._hidden = ""
        self._key: list[sa.ColumnElement[Any]] = [self._from.c[name] for name in relation.key]
        if not self._key and database.dialect == "sqlite" and relation.kind == "table":
            taken = {name.lower() for name in self.names}
            self._hidden = next((name for name in ROWIDS if name not in taken), "")
            if self._hidden:
                self._key = [sa.literal_column(self._hidden)]
        self._order = self._key or [self._from.c[name] for name, kind in columns if _sortable(kind)]

    def __iter__(self) -> Iterator[Rows]:
        size, offset, extra = self._first, 0, len(self._key)
        last: Sequence[Any] | None = None
        while True:
            query = self._query(size, offset, last)
            rows = blocking.call(self._fetch, query)
            if rows:
                offset += len(rows)
                if extra:
                    last = rows[-1][-extra:]
                    if any(value is None for value in last):  # SQLite allows NULL in a key: nothing is behind it
                        last = None
                    yield [row[:-extra] for row in rows]
                else:
                    yield rows
            if len(rows) < size:
                return
            size = min(size * 2, MOST)

    def only(self, queries: Sequence[Query]) -> Pages | None:
        """The rows whose line may match one of the queries; None where every row may."""
        from mirage.mounts.sql.search import rows_with
        where = rows_with(self._from, self._columns, queries, self.database.dialect)
        if where is None:
            return None
        self.database.counters.add(searches=1)
        found = copy.copy(self)
        found._where = where
        return found

    def count(self) -> int:
        """How many rows there are."""
        query = sa.select(sa.func.count()).select_from(self._from)
        number: int = blocking.call(self.database.run, lambda connection: connection.execute(query).scalar_one())
        return number

    def last(self, count: int) -> Rows | None:
        """The last rows, in order; None where the order is not a total one, or for very many."""
        if not self._key or count > TAIL_MOST:
            return None
        order = [column.desc() for column in self._key]
        rows = blocking.call(self._fetch, self._query(count, 0, None).order_by(None).order_by(*order))
        extra = len(self._key)
        if any(value is None for row in rows for value in row[-extra:]):
            return None                                      # SQLite allows NULL in a key, and then several equal ones
        return [row[:-extra] for row in reversed(rows)]

    def _fetch(self, query: sa.Select[Any]) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self.database.run(lambda c: [tuple(row) for row in c.execute(query)])
        return rows

    def _query(self, size: int, offset: int, last: Sequence[Any] | None) -> sa.Select[Any]:
        shown = [self._from.c[name] for name in self.names]
        again = [column.label(f"mirage_key_{i}") for i, column in enumerate(self._key)]
        query = sa.select(*shown, *again).select_from(self._from).order_by(*self._order).limit(size)
        if self._where is not None:
            query = query.where(self._where)
        return query.offset(offset) if last is None else query.where(_behind(self._key, last))


def _behind(key: Sequence[sa.ColumnElement[Any]], last: Sequence[Any]) -> sa.ColumnElement[bool]:
    """(a, b) > (x, y), written out: not every database has it."""
    choices = []
    for i, column in enumerate(key):
        same = [key[j] == last[j] for j in range(i)]
        choices.append(sa.and_(*same, column > last[i]))
    return sa.or_(*choices)


def _sortable(kind: Any) -> bool:
    """Can every database order by a column of this type?"""
    return isinstance(kind, SORTABLE)


class RowsHandle(PagesHandle):
    """An open rows.jsonl or rows.csv."""

    __slots__ = ("_table", "_text")

    def __init__(self, table: Pages, text: JsonLines | Csv, stat: Stat) -> None:
        self._table = table
        self._text = text
        super().__init__(self._pieces, stat)

    def _pieces(self) -> Iterator[bytes]:
        yield self._text.head()
        yield from map(self._text.rows, self._table)

    def count_lines(self) -> int | None:
        """JSON has one line for each row; a field of CSV may have several."""
        return self._table.count() if self._text.one_line else None

    def last_lines(self, count: int) -> bytes | None:
        rows = self._table.last(count)
        if rows is None:
            return None
        data = (self._text.head() if len(rows) < count else b"") + self._text.rows(rows)
        return b"\n".join(data.split(b"\n")[-count - 1:])

    def lines_with(self, queries: Sequence[Query]) -> RowsHandle | None:
        table = self._table.only(queries) if self._text.one_line else None
        return None if table is None else RowsHandle(table, self._text, self._stat)
