"""PostgreSQL: its catalogue in one statement, and a dialect that asks a new connection nothing."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = {"v": "view", "m": "materialized view"}              # relkind; the others are tables
TYPES: dict[str, Any] = {
    **dict.fromkeys(("text", "varchar", "bpchar"), sa.String), **dict.fromkeys(("int2", "int4", "int8"), sa.Integer),
    **dict.fromkeys(("numeric", "float4", "float8"), sa.Numeric), "bool": sa.Boolean, "uuid": sa.Uuid,
    "date": sa.Date, **dict.fromkeys(("timestamp", "timestamptz"), sa.DateTime),
    **dict.fromkeys(("time", "timetz"), sa.Time), "interval": sa.Interval}

CATALOGUE = sa.text("""\
SELECT n.nspname, c.relname, c.relkind::text, d.size, d.columns, d.constraints, d.indexes
FROM pg_namespace n
LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'f', 'v', 'm') AND c.relpersistence <> 't'
LEFT JOIN LATERAL (SELECT
  CASE WHEN c.relkind IN ('r', 'm') THEN pg_table_size(c.oid) END AS size,
  (SELECT json_agg(json_build_array(
     a.attname, format_type(a.atttypid, a.atttypmod), coalesce(b.typname, t.typname), coalesce(b.typtype, t.typtype),
     NOT a.attnotnull, CASE WHEN a.attgenerated = '' THEN pg_get_expr(e.adbin, e.adrelid) END,
     col_description(c.oid, a.attnum)) ORDER BY a.attnum)
   FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
   LEFT JOIN pg_type b ON t.typtype = 'd' AND b.oid = t.typbasetype
   LEFT JOIN pg_attrdef e ON e.adrelid = a.attrelid AND e.adnum = a.attnum
   WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
  (SELECT json_agg(json_build_array(k.contype, (
       SELECT json_agg(a.attname ORDER BY u.i) FROM unnest(k.conkey) WITH ORDINALITY u(n, i)
       JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.n), s.nspname, f.relname, (
       SELECT json_agg(a.attname ORDER BY u.i) FROM unnest(k.confkey) WITH ORDINALITY u(n, i)
       JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.n)) ORDER BY k.conname)
   FROM pg_constraint k LEFT JOIN pg_class f ON f.oid = k.confrelid LEFT JOIN pg_namespace s ON s.oid = f.relnamespace
   WHERE k.conrelid = c.oid AND k.contype IN ('p', 'f')) AS constraints,
  (SELECT json_agg(json_build_array(i.relname, (
       SELECT json_agg(coalesce(a.attname, pg_get_indexdef(x.indexrelid, u.i::int, true)) ORDER BY u.i)
       FROM unnest(x.indkey) WITH ORDINALITY u(n, i)
       LEFT JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = u.n
       WHERE u.i <= x.indnkeyatts), x.indisunique) ORDER BY i.relname)
   FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
   WHERE x.indrelid = c.oid AND NOT x.indisprimary) AS indexes
  WHERE c.oid IS NOT NULL AND (CAST(:every AS boolean) OR n.nspname = CAST(:schema AS text)
                               AND c.relname = CAST(:name AS text))) d ON true
WHERE left(n.nspname, 3) <> 'pg_'
ORDER BY 1, 2""")


class Dialect(PGDialect_psycopg):
    """SQLAlchemy's for psycopg, without what it asks of a first connection: that is for its reflection."""

    supports_statement_cache = True

    def initialize(self, connection: sa.Connection) -> None:
        raw: Any = connection.connection.dbapi_connection
        self.server_version_info = divmod(raw.info.server_version, 10_000)


def register() -> None:
    """Make the dialect known to SQLAlchemy, as `postgresql+mirage`."""
    registry.register("postgresql.mirage", __name__, Dialect.__name__)


class Found:
    """A relation in the catalogue: `columns` are (name, type of SQLAlchemy), `details` what schema.json has.

    Both are None where they were not asked for. size: bytes of a table, where it is known.
    """

    __slots__ = ("columns", "details", "key", "kind", "name", "schema", "size")

    def __init__(self, row: Any) -> None:
        self.schema, self.name, relkind, self.size, columns, constraints, indexes = row
        self.kind = KINDS.get(relkind, "table")
        self.columns: list[tuple[str, Any]] | None = None
        self.details: dict[str, Any] | None = None
        self.key: tuple[str, ...] = ()
        if columns is not None:
            self._take(columns, constraints or [], indexes or [])

    def _take(self, columns: list[list[Any]], constraints: list[list[Any]], indexes: list[list[Any]]) -> None:
        self.columns = [(name, _type(base, sort)) for name, _, base, sort, *_ in columns]
        self.details = {"columns": [
            {"name": name, "type": text, "nullable": nullable, "default": default,
             **({"comment": comment} if comment else {})}
            for name, text, _, _, nullable, default, comment in columns]}
        if self.kind != "table":
            return
        self.key = next((tuple(names) for kind, names, *_ in constraints if kind == "p"), ())
        self.details["primary_key"] = list(self.key)
        self.details["foreign_keys"] = [
            {"columns": names, "references": {"schema": schema, "table": table, "columns": theirs}}
            for kind, names, schema, table, theirs in constraints if kind == "f"]
        self.details["indexes"] = [{"name": name, "columns": names, "unique": unique}
                                   for name, names, unique in indexes]


def look(connection: sa.Connection, every: bool, schema: str, name: str) -> Iterator[tuple[str, Found | None]]:
    """(schema, relation) of all there is, (schema, None) for an empty schema; details of one relation or of `every`."""
    for row in connection.execute(CATALOGUE, {"every": every, "schema": schema, "name": name}):
        yield row[0], None if row[1] is None else Found(row)


def _type(base: str, sort: str) -> Any:
    if sort == "e":
        return sa.Enum()
    return TYPES.get(base, sa.types.NullType)()
