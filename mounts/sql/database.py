"""Connections to one database: one engine that can only read, and one for `sql execute`.

What the database itself can forbid is forbidden there: SQLite opens the file with mode=ro, PostgreSQL and MySQL get
read-only transactions, DuckDB read-only transactions and no access to other files.
"""
from __future__ import annotations

import contextlib
import errno
import re
import sqlite3
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.pool import NullPool, QueuePool

from mirage.vfs.service import Counters, service_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mirage.mounts.sql.url import DatabaseUrl

POSTGRES = "postgresql+mirage"                               # psycopg, see postgres.py
DRIVERS = {"postgresql": POSTGRES, "postgres": POSTGRES, "postgresql+psycopg": POSTGRES, "mysql": "mysql+pymysql",
           "mariadb": "mysql+pymysql", "mariadb+pymysql": "mysql+pymysql"}
NO_FILES = (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH)    # also what VACUUM INTO needs
READING = ("select", "with", "values", "table", "show", "explain", "describe", "desc", "pragma", "(")
DENIED = ("42501", "28P01", "28000")                         # SQLSTATE: no privilege, no such user or password
MYSQL = {1044: errno.EACCES, 1045: errno.EACCES, 1142: errno.EACCES, 1143: errno.EACCES, 1227: errno.EACCES,
         1792: errno.EACCES, 1290: errno.EACCES, 1146: errno.ENOENT, 1049: errno.ENOENT}
STOPPED = (1969, 3024)                                       # MariaDB and MySQL: the statement took too long
SERVER_FILES = re.compile(r"\b(outfile|dumpfile)\b", re.IGNORECASE)
SQLITE_FILE = {"unable to open database file": "; is it there, and may you read it?",
               "file is not a database": "; is it another file, or encrypted?",
               "database disk image is malformed": "", "disk I/O error": "", "database or disk is full": "",
               "database is locked": " by another program; try again",
               "attempt to write a readonly database": ""}
UNKNOWN = ("42P01", "3F000", "42S02")                        # no such table or schema


class Database:
    """One database. `timeout`: seconds that a statement may run (0: no limit)."""

    def __init__(self, url: DatabaseUrl, timeout: float = 30.0) -> None:
        self.url = url
        self.timeout = timeout
        self.counters = Counters()
        self._lock = threading.Lock()
        self._engines: dict[bool, sa.Engine] = {}
        self._address: sa.URL | None = None

    @property
    def address(self) -> sa.URL:
        """The URL as SQLAlchemy has it, with the driver that we use where none is named."""
        if self._address is None:
            try:
                address = sa.make_url(self.url.reveal())
            except LookupError as e:
                raise service_error(errno.EACCES, f"sql: {e}") from None
            except sa.exc.ArgumentError:
                raise service_error(errno.EINVAL, f"sql: {self.url!r} is not a database URL") from None
            self._address = address.set(drivername=DRIVERS.get(address.drivername, address.drivername))
        return self._address

    @property
    def dialect(self) -> str:
        """sqlite, postgresql, mysql, duckdb, ..."""
        return self.address.get_backend_name()

    def engine(self, writing: bool = False) -> sa.Engine:
        with self._lock:
            found = self._engines.get(writing)
            if found is None:
                found = self._engines[writing] = self._make(writing)
            return found

    def _make(self, writing: bool) -> sa.Engine:
        dialect = self.dialect
        if dialect == "sqlite":
            return self._sqlite(writing)
        try:
            if dialect == "duckdb":
                config = {"enable_external_access": "false", "lock_configuration": "true"}
                where = self.address.set(database=self.url.file(self.address.database or ""))
                return sa.create_engine(where, poolclass=NullPool, connect_args={"config": config})
            if self.address.drivername == POSTGRES:
                from mirage.mounts.sql.postgres import register
                register()
            server = dialect in ("postgresql", "mysql")
            level: dict[str, Any] = {"isolation_level": "AUTOCOMMIT"} if server and not writing else {}
            engine = sa.create_engine(self.address, pool_size=4, max_overflow=8, pool_recycle=1800,
                                      pool_pre_ping=writing, hide_parameters=True, connect_args=self._options(dialect),
                                      **level)
        except (ImportError, sa.exc.NoSuchModuleError) as e:
            raise service_error(errno.EINVAL, f"sql: the driver is not installed: {e}") from None
        if dialect in ("postgresql", "mysql"):
            def prepare(connection: Any, record: object) -> None:
                version = connection.get_server_info() if hasattr(connection, "get_server_info") else ""
                commands = _session("mariadb" if "MariaDB" in version else dialect, writing, self.timeout)
                with contextlib.closing(connection.cursor()) as cursor:
                    for command in commands:
                        cursor.execute(command)
                connection.commit()
            sa.event.listen(engine, "connect", prepare)
        return engine

    @staticmethod
    def _options(dialect: str) -> dict[str, Any]:
        return {"connect_timeout": 10} if dialect in ("postgresql", "mysql") else {}

    def _sqlite(self, writing: bool) -> sa.Engine:
        path = self.url.file(self.address.database or "")
        uri = f"file:{quote(path)}?mode={'rw' if writing else 'ro'}"

        def connect() -> sqlite3.Connection:
            connection = sqlite3.connect(uri, uri=True, check_same_thread=False, timeout=5.0)
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
            connection.set_authorizer(_only_this_file)
            return connection

        return sa.create_engine("sqlite://", creator=connect, poolclass=QueuePool, pool_size=4, max_overflow=8)

    @contextlib.contextmanager
    def _limited(self, connection: sa.Connection) -> Iterator[None]:
        """Stop the statements after `timeout` seconds, where the server does not do it."""
        raw: Any = connection.connection.dbapi_connection
        if not self.timeout:
            yield
        elif isinstance(raw, sqlite3.Connection):
            end = time.monotonic() + self.timeout
            raw.set_progress_handler(lambda: time.monotonic() > end, 20_000)
            try:
                yield
            finally:
                raw.set_progress_handler(None, 0)
        elif self.dialect == "duckdb":
            timer = threading.Timer(self.timeout, getattr(raw, "interrupt", raw.close))
            timer.daemon = True
            timer.start()
            try:
                yield
            finally:
                timer.cancel()
        else:
            yield

    def run(self, function: Callable[[sa.Connection], Any], writing: bool = False) -> Any:
        """function(connection), counted as one call; errors of the database are OSError with its message in `note`.

        What only reads is done again, with a new connection, where the server had ended the one that was kept.
        """
        self.counters.add(calls=1)
        engine = self.engine(writing)
        for last in (writing, True):
            try:
                with engine.connect() as connection, self._limited(connection):
                    try:
                        return function(connection)
                    except _errors_of(engine) as e:          # of the driver itself, from a cursor of our own
                        if engine.dialect.is_disconnect(e, connection.connection.dbapi_connection, None):
                            connection.invalidate()
                            raise sa.exc.DBAPIError(None, None, e, connection_invalidated=True) from None
                        raise self._error(e) from None
            except sa.exc.SQLAlchemyError as e:
                if last or not getattr(e, "connection_invalidated", False):
                    raise self._error(e) from None
                engine.dispose()
        raise AssertionError("unreachable")

    def query(self, statement: str, parameters: dict[str, Any] | None, most: int) -> tuple[list[str], list[Any]]:
        """Column names and at most `most` + 1 rows of one statement that reads. OSError EACCES for another."""
        word = statement.split(None, 1)[0].lower() if statement.strip() else ""
        if not word.startswith(READING):
            raise service_error(errno.EACCES, f"sql: query only reads; {word or 'this'} is for execute")
        if self.dialect == "mysql" and SERVER_FILES.search(statement):
            raise service_error(errno.EACCES, "sql: query only reads; INTO OUTFILE and INTO DUMPFILE write files")

        def perform(connection: sa.Connection) -> tuple[list[str], list[Any]]:
            if self.dialect == "duckdb":
                self._one_statement(statement)
                connection.connection.cursor().execute("begin transaction read only")
            result = _perform(connection, statement, parameters)
            try:
                if result.description is None:
                    return [], []
                return [str(column[0]) for column in result.description], list(result.fetchmany(most + 1))
            finally:
                result.close()
                connection.detach()                          # what it set in the session goes with it

        columns, rows = self.run(perform)
        return columns, rows

    def execute(self, statement: str, parameters: dict[str, Any] | None, most: int) -> tuple[list[str], list[Any], int]:
        """Column names, at most `most` + 1 rows (RETURNING) and the number of rows changed; it is committed."""
        def perform(connection: sa.Connection) -> tuple[list[str], list[Any], int]:
            if self.dialect == "duckdb":
                self._one_statement(statement)
            result = _perform(connection, statement, parameters)
            names = [str(column[0]) for column in result.description or ()]
            rows = list(result.fetchmany(most + 1)) if names else []
            count = result.rowcount
            result.close()
            connection.connection.commit()
            return names, rows, max(0, count)

        columns, rows, count = self.run(perform, True)
        return columns, rows, count

    @staticmethod
    def _one_statement(statement: str) -> None:
        import duckdb
        if len(duckdb.extract_statements(statement)) != 1:
            raise service_error(errno.EINVAL, "sql: give one statement")

    def _error(self, error: Exception) -> OSError:
        """The message of the database without our statement, its errno by SQLSTATE where there is one."""
        cause = getattr(error, "orig", None) or error
        text = " ".join(str(cause).split())[:500] or type(cause).__name__
        password = self.address.password
        if password:
            text = text.replace(str(password), "***")
        state = str(getattr(cause, "sqlstate", "") or "")
        code = cause.args[0] if self.dialect == "mysql" and cause.args else None
        number = MYSQL.get(code, errno.EIO) if isinstance(code, int) else errno.EIO
        if isinstance(code, int):
            text = str(cause.args[-1])[:500].replace(str(password or "\0"), "***")
        if code in STOPPED:
            text = f"the statement took more than {self.timeout:g} s"
        elif state in DENIED or "readonly database" in text or "read-only" in text or "not authorized" in text \
                or text == "authorization denied":
            number = errno.EACCES
        elif state in UNKNOWN or text.startswith(("no such table", "unable to open database file")):
            number = errno.ENOENT
        elif isinstance(cause, sqlite3.OperationalError) and text == "interrupted" or state == "57014":
            number, text = errno.EIO, f"the statement took more than {self.timeout:g} s"
        elif text in ("database is locked", "database table is locked"):
            number = errno.EAGAIN
        if isinstance(cause, sqlite3.Error) and text in SQLITE_FILE:
            text = f"{self.url.file(self.address.database or '')}: {text}{SQLITE_FILE[text]}"
        return service_error(number, f"sql: {text}")

    def close(self) -> None:
        with self._lock:
            for engine in self._engines.values():
                engine.dispose()
            self._engines.clear()

    def __repr__(self) -> str:
        return f"Database({self.url!r})"


def _perform(connection: sa.Connection, statement: str, parameters: dict[str, Any] | None) -> Any:
    """The cursor of one statement. psycopg prepares it: the server then takes a single statement only."""
    if parameters:
        return connection.execute(sa.text(statement), parameters).cursor
    cursor: Any = connection.connection.cursor()
    if connection.dialect.driver == "psycopg":
        cursor.execute(statement, prepare=True)
    else:
        cursor.execute(statement)
    return cursor


def _errors_of(engine: sa.Engine) -> Any:
    """The class of all errors of the driver."""
    return engine.dialect.loaded_dbapi.Error


def _session(dialect: str, writing: bool, timeout: float) -> list[str]:
    """What a new connection of a server is told."""
    milliseconds = int(timeout * 1000)
    if dialect == "postgresql":
        settings = {"TimeZone": "UTC", "statement_timeout": milliseconds}
        if not writing:
            settings["default_transaction_read_only"] = "on"
        return ["SELECT " + ", ".join(f"set_config('{name}', '{value}', false)" for name, value in settings.items())]
    if dialect in ("mysql", "mariadb"):
        limit = f"max_execution_time = {milliseconds}" if dialect == "mysql" else f"max_statement_time = {timeout}"
        commands = ["SET time_zone = '+00:00'", f"SET SESSION {limit}"]
        return commands if writing else [*commands, "SET SESSION TRANSACTION READ ONLY"]
    return []


def _only_this_file(action: int, *_: object) -> int:
    return sqlite3.SQLITE_DENY if action in NO_FILES else sqlite3.SQLITE_OK
