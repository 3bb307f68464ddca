"""What is in the database: schemas, tables and views, their columns and keys, with path-safe names."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from mirage.vfs.names import checksum_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mirage.mounts.sql.database import Database

SYSTEM = {"information_schema", "pg_catalog", "mysql", "performance_schema", "sys", "pg_toast"}

DUCK: dict[str, Any] = {
    "VARCHAR": sa.String, "BOOLEAN": sa.Boolean, "UUID": sa.Uuid, "DATE": sa.Date, "TIME": sa.Time,
    "DECIMAL": sa.Numeric, "DOUBLE": sa.Numeric, "FLOAT": sa.Numeric,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP WITH TIME ZONE"), sa.DateTime),
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
                     "UBIGINT"), sa.Integer)}


class Relation:
    """A table or view. `file` is its name as a directory; columns are known after Catalog.columns()."""

    __slots__ = ("columns", "details", "file", "key", "kind", "name", "schema", "size")

    def __init__(self, schema: str, name: str, kind: str, file: str) -> None:
        self.schema = schema
        self.name = name
        self.kind = kind
        self.file = file
        self.columns: list[tuple[str, Any]] | None = None    # (name, type of SQLAlchemy, or its text)
        self.key: tuple[str, ...] = ()
        self.details: dict[str, Any] = {}
        self.size: int | None = None                         # bytes of all rows, where the database says it


class Catalog:
    """One look at the database; a new one is made when it may have changed.

    only    schemas that are shown; none: all but the system's
    wanted  schema and relation whose columns are needed at once;  every: those of all relations are
    """

    def __init__(self, database: Database, only: Iterable[str] = (), wanted: tuple[str, str] = ("", ""),
                 every: bool = False) -> None:
        self.database = database
        self._duck = database.dialect == "duckdb"
        self._postgres = database.dialect == "postgresql"
        self._relations: dict[str, dict[str, Relation]] = {}
        all_names = self._look(every, *wanted) if self._postgres else database.run(self._schemas)
        names = [name for name in all_names if name.lower() not in SYSTEM or name in only]
        chosen = [name for name in names if not only or name in only]
        self.schemas: dict[str, str] = dict(zip(checksum_names(chosen), chosen, strict=True))

    def relations(self, schema: str) -> dict[str, Relation]:
        """File name -> table or view, of a schema by its own name."""
        found = self._relations.get(schema)
        if found is None:
            kinds: dict[str, str] = self.database.run(lambda c: self._tables(c, schema))
            found = self._relations[schema] = _named(schema, kinds)
        return found

    def columns(self, relation: Relation) -> list[tuple[str, Any]]:
        if relation.columns is None:
            if self._postgres:
                self._look(False, relation.schema, relation.name)
            else:
                read = self._duck_columns if self._duck else self._columns
                self.database.run(lambda c: read(c, relation))
        return relation.columns or []

    def all_columns(self) -> None:
        """Know the columns of all relations, where one statement tells them."""
        if self._postgres and any(r.columns is None for s in self.schemas.values() for r in self.relations(s).values()):
            self._look(True)

    def _look(self, every: bool, schema: str = "", name: str = "") -> list[str]:
        """The schemas of PostgreSQL. Their relations are known then, and the columns of those asked for."""
        from mirage.mounts.sql.postgres import Found, look
        rows = self.database.run(lambda c: list(look(c, every, schema, name)))
        by_schema: dict[str, dict[str, Found]] = {}
        for own, found in rows:
            by_schema.setdefault(own, {}).update({} if found is None else {found.name: found})
        for own, known in by_schema.items():
            relations = self._relations.setdefault(own, _named(own, {name: r.kind for name, r in known.items()}))
            for relation in relations.values():
                told = known.get(relation.name)
                if told is not None and told.columns is not None and told.details is not None:
                    relation.columns, relation.details, relation.key = told.columns, told.details, told.key
                    relation.size = told.size
        return list(by_schema)

    # ---- asking

    def _schemas(self, connection: sa.Connection) -> list[str]:
        if self._duck:
            rows = connection.exec_driver_sql("select distinct schema_name from information_schema.schemata "
                                              "where catalog_name = current_database() order by 1")
            return [row[0] for row in rows]
        return sorted(sa.inspect(connection).get_schema_names())

    def _tables(self, connection: sa.Connection, schema: str) -> dict[str, str]:
        if self._duck:
            rows = connection.exec_driver_sql(
                "select table_name, table_type from information_schema.tables "
                "where table_catalog = current_database() and table_schema = ?", (schema,))
            return {name: "view" if kind == "VIEW" else "table" for name, kind in rows}
        inspector = sa.inspect(connection)
        kinds = dict.fromkeys(inspector.get_table_names(schema), "table")
        kinds.update(dict.fromkeys(inspector.get_view_names(schema), "view"))
        try:
            kinds.update(dict.fromkeys(inspector.get_materialized_view_names(schema), "materialized view"))
        except NotImplementedError:
            return kinds
        return kinds

    def _columns(self, connection: sa.Connection, relation: Relation) -> None:
        inspector = sa.inspect(connection)
        name, schema = relation.name, relation.schema
        columns = inspector.get_columns(name, schema)
        details: dict[str, Any] = {"columns": [_column(column, connection.dialect) for column in columns]}
        if relation.kind == "table":
            relation.key = tuple(inspector.get_pk_constraint(name, schema).get("constrained_columns") or ())
            details["primary_key"] = list(relation.key)
            details["foreign_keys"] = [
                {"columns": list(key["constrained_columns"]),
                 "references": {"schema": key.get("referred_schema") or schema, "table": key["referred_table"],
                                "columns": list(key["referred_columns"])}}
                for key in inspector.get_foreign_keys(name, schema)]
            details["indexes"] = [{"name": index["name"], "columns": list(index["column_names"]),
                                   "unique": bool(index["unique"])} for index in inspector.get_indexes(name, schema)]
        relation.details = details
        relation.columns = [(str(column["name"]), column["type"]) for column in columns]

    @staticmethod
    def _duck_columns(connection: sa.Connection, relation: Relation) -> None:
        where = "where table_name = ? and {0} = ? and {1} = current_database()"
        rows = connection.exec_driver_sql(
            "select column_name, data_type, is_nullable, column_default from information_schema.columns "
            + where.format("table_schema", "table_catalog") + " order by ordinal_position",
            (relation.name, relation.schema)).fetchall()
        keys = connection.exec_driver_sql(
            "select constraint_column_names from duckdb_constraints() "
            + where.format("schema_name", "database_name") + " and constraint_type = 'PRIMARY KEY'",
            (relation.name, relation.schema)).fetchall()
        relation.key = tuple(keys[0][0]) if keys else ()
        relation.details = {
            "columns": [{"name": name, "type": kind, "nullable": nullable == "YES", "default": default}
                        for name, kind, nullable, default in rows],
            "primary_key": list(relation.key)}
        relation.columns = [(name, _duck_type(kind)) for name, kind, _, _ in rows]


def _named(schema: str, kinds: Mapping[str, str]) -> dict[str, Relation]:
    """File name -> relation, of the names and kinds of a schema."""
    order = sorted(kinds)
    return {file: Relation(schema, name, kinds[name], file)
            for file, name in zip(checksum_names(order), order, strict=True)}


def _duck_type(text: str) -> Any:
    """What a type of DuckDB is to SQLAlchemy; NullType where it is of no kind that matters here."""
    return DUCK.get("DECIMAL" if text.startswith("DECIMAL(") and text.endswith(")") else text, sa.types.NullType)()


def _column(column: Any, dialect: sa.Dialect) -> dict[str, Any]:
    try:
        kind = column["type"].compile(dialect)
    except sa.exc.CompileError:
        kind = "unknown"
    found = {"name": str(column["name"]), "type": str(kind), "nullable": bool(column["nullable"]),
             "default": None if column.get("default") is None else str(column["default"])}
    if column.get("comment"):
        found["comment"] = str(column["comment"])
    return found
