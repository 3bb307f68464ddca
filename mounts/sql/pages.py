"""The rows of a table in pages, as text, read when they are asked for."""
from __future__ import annotations

import copy
import errno
import os
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from mirage.process import blocking
from mirage.vfs.types import Stat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mirage.mounts.sql.catalog import Relation
    from mirage.mounts.sql.database import Database
    from mirage.mounts.sql.rendering import Csv, JsonLines
    from mirage.vfs.search import Query

    Rows = Sequence[Sequence[Any]]

FIRST, MOST = 100, 5000                                      # rows of the first page, and of the largest
SMALL = 256 << 10                                            # bytes of a table that is read in one page
WHOLE = 50_000                                               # rows of such a page
TAIL_MOST = 100_000                                          # rows from the end that are asked for
KEEP = 16 << 20                                              # bytes of one open file that are kept for going back
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


class RowsHandle:
    """An open rows.jsonl or rows.csv: reads the pages up to where it is read, and no further.

    Bytes behind are kept up to KEEP; going back further starts again.
    """

    __slots__ = ("_at", "_data", "_end", "_pages", "_stat", "_text", "_turn")
    seekable = True
    is_dir = False

    def __init__(self, pages: Pages, text: JsonLines | Csv, stat: Stat) -> None:
        self._pages = pages
        self._text = text
        self._stat = stat
        self._start()

    def _start(self) -> None:
        self._turn = iter(self._pages)
        self._data = bytearray(self._text.head())
        self._at = 0                                         # offset of the first byte of _data
        self._end = False

    def pread(self, size: int, offset: int) -> bytes:
        if offset < self._at:
            self._start()
        while not self._end and self._at + len(self._data) <= offset:
            self._more()
        start = offset - self._at
        return bytes(self._data[start:start + size])

    def _more(self) -> None:
        rows = next(self._turn, None)
        if rows is None:
            self._end = True
            size = self._at + len(self._data)
            self._stat = Stat(self._stat.mode, size, self._stat.mtime_ns, nlink=1)
            return
        self._data += self._text.rows(rows)
        if len(self._data) > KEEP:
            gone = len(self._data) - KEEP // 2
            del self._data[:gone]
            self._at += gone

    def count_lines(self) -> int | None:
        """JSON has one line for each row; a field of CSV may have several."""
        return self._pages.count() if self._text.one_line else None

    def last_lines(self, count: int) -> bytes | None:
        rows = self._pages.last(count)
        if rows is None:
            return None
        data = (self._text.head() if len(rows) < count else b"") + self._text.rows(rows)
        return b"\n".join(data.split(b"\n")[-count - 1:])

    def lines_with(self, queries: Sequence[Query]) -> RowsHandle | None:
        pages = self._pages.only(queries) if self._text.one_line else None
        return None if pages is None else RowsHandle(pages, self._text, self._stat)

    def pwrite(self, data: bytes, offset: int) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    def truncate(self, size: int) -> None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    def stat(self) -> Stat:
        """The size is None until the end was read."""
        return self._stat

    def sync(self) -> None:
        """Nothing is pending."""

    def close(self) -> None:
        self._turn = iter(())
