"""One SQLite connection, shared by the threads of a process: short transactions, retries, errors as errno.

The lock is held only while SQLite runs, never while anything can switch to another process of the terminal: who has to
wait for another program's transaction gives the lock back and sleeps through mirage.process.blocking.
"""
from __future__ import annotations

import errno
import os
import random
import sqlite3
import threading
import time

from mirage.mounts.vfs import schema, users
from mirage.process import blocking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any

    from mirage.mounts.vfs.secret import Secret

PATIENCE = 30.0                                              # seconds to wait for other programs' transactions
GLANCE = 0.002                                               # seconds
CHECKPOINT_PAGES = 4000
ROOMY = 256 << 20                                            # bytes free, with which nobody has to look closer
LOOK = 0.05                                                  # seconds for which that holds
SPARE = 512 << 10                                            # bytes that stay free for removing files
ERRNO = {sqlite3.SQLITE_FULL: errno.ENOSPC, sqlite3.SQLITE_READONLY: errno.EROFS, sqlite3.SQLITE_BUSY: errno.EBUSY,
         sqlite3.SQLITE_LOCKED: errno.EBUSY, sqlite3.SQLITE_CANTOPEN: errno.ENOENT, sqlite3.SQLITE_TOOBIG: errno.EFBIG,
         sqlite3.SQLITE_NOMEM: errno.ENOMEM, sqlite3.SQLITE_PERM: errno.EACCES}


NO_ROOM = (4874,)                                            # SQLITE_IOERR_SHMSIZE: shared memory cannot grow


class DatabaseError(OSError):
    """What SQLite says went wrong, as an OSError; `note` is its text."""

    def __init__(self, number: int, note: str) -> None:
        super().__init__(number, os.strerror(number))
        self.note = note


def as_oserror(failure: sqlite3.Error) -> DatabaseError:
    code = getattr(failure, "sqlite_errorcode", 0)
    if code in NO_ROOM:
        return DatabaseError(errno.ENOSPC, "vfs: no space left beside the database")
    return DatabaseError(ERRNO.get(code & 0xFF, errno.EIO), f"vfs: {failure}")


def is_busy(failure: sqlite3.Error) -> bool:
    return getattr(failure, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class Connection:
    """path        of the file, or ":memory:"
    readonly    never writes, not even the version
    chunk_size  of the file; where it is new, of the file to be made
    secret      of an encrypted file
    on_change   called (under the lock) when what was read before may be wrong: others wrote, or a rollback
    on_end      called (under the lock) when a transaction that wrote has ended, one way or the other
    on_idle     called, without the lock, after a transaction that wrote was committed

    Raises SchemaError for a file that is no Vfs database of a known version, DatabaseError for any other trouble.
    """

    def __init__(self, path: str, *, readonly: bool = False, create: bool = True, chunk_size: int = schema.CHUNK_SIZE,
                 uid: int = 0, gid: int = 0, patience: float = PATIENCE, secret: Secret | None = None) -> None:
        self.path = path
        self.secret = secret
        self.readonly = readonly
        self.patience = patience
        self.chunk_size = chunk_size
        self.on_change: Callable[[], None] = _nothing
        self.on_end: Callable[[], None] = _nothing
        self.on_idle: Callable[[], None] = _nothing
        self.lock = threading.RLock()
        self.reading = Reading(self)
        self.glancing = Glancing(self)
        self.writing = Writing(self)
        self._depth = 0
        self._version = -1
        self._complete = False
        self._synced_directory = False
        self._other: sqlite3.Connection | None = None
        self._roomy_until = 0.0
        self._sql: sqlite3.Connection = self._connect("ro" if readonly else "rwc" if create else "rw")
        self.execute = self._sql.execute
        self.executemany = self._sql.executemany
        try:
            self._prepare(create, chunk_size, uid, gid)
        except sqlite3.Error as e:
            disconnect(self._sql, path)
            raise as_oserror(e) from None
        except BaseException:
            disconnect(self._sql, path)
            raise

    def _connect(self, mode: str) -> sqlite3.Connection:
        try:
            return connect(self.path, mode, self.secret, 0.02)
        except sqlite3.Error as e:
            raise as_oserror(e) from None

    def _prepare(self, create: bool, chunk_size: int, uid: int, gid: int) -> None:
        found = self._patiently(lambda: schema.version(self._sql))
        if found is None and (self.readonly or not create):
            raise schema.SchemaError("not a Vfs database: the file is empty")
        if found is not None and schema.number(found) < (0, 4):
            raise schema.SchemaError(f"the database has schema version {found}; bring it up to date with `vfs migrate`")
        if found is not None and schema.number(found) > schema.number(schema.VERSION):
            raise schema.SchemaError(f"the database has schema version {found}, this program knows up to "
                                     f"{schema.VERSION}")
        if not self.readonly:
            self._sql.execute("PRAGMA synchronous = NORMAL")
            self._sql.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
            self._sql.execute("PRAGMA journal_size_limit = 67108864")
            self._sql.execute("PRAGMA temp_store = MEMORY")
        if found is None:
            self._patiently(lambda: self._sql.execute("PRAGMA journal_mode = WAL").fetchone())
            with self.writing:
                if schema.version(self._sql) is None:
                    schema.create(self._sql, chunk_size, uid, gid, time.time_ns())
                self._complete = True
        row = self._patiently(lambda: self._sql.execute(
            "SELECT value FROM fs_config WHERE key = 'chunk_size'").fetchone())
        size = int(row[0]) if row and str(row[0]).isdigit() else 4096
        if not 1 <= size <= 1 << 26:
            raise schema.SchemaError(f"not a Vfs database: a chunk size of {row[0]}")
        self.chunk_size = size
        self.complete = self._complete or schema.complete(self._sql)

    @property
    def complete(self) -> bool:
        """Does the file have our own tables? The first transaction that writes makes them."""
        return self._complete

    @complete.setter
    def complete(self, value: bool) -> None:
        self._complete = value

    def _patiently(self, step: Callable[[], Any]) -> Any:
        """step() until no other program's lock is in the way."""
        until = time.monotonic() + self.patience
        pause = 0.001
        while True:
            try:
                return step()
            except sqlite3.Error as e:
                if not is_busy(e) or time.monotonic() > until:
                    raise
            blocking.sleep(pause * (0.5 + random.random()))
            pause = min(pause * 2, 0.02)

    def enter(self, begin: bool) -> None:
        """Take the lock and, with `begin`, start a transaction that may write. Nested transactions are one."""
        until = 0.0
        pause = 0.001
        while True:
            self.lock.acquire()
            if self._depth:
                self._depth += begin
                return
            try:
                if begin:
                    self.execute("BEGIN IMMEDIATE")
                version = self.execute("PRAGMA data_version").fetchone()[0]
                if version != self._version:
                    self._version = version
                    self.on_change()
                if begin:
                    self._depth = 1
                    if not self._complete and schema.version(self._sql) is not None:
                        schema.extend(self._sql)
                        self._complete = True
                return
            except BaseException as e:
                if self._sql.in_transaction:
                    self.execute("ROLLBACK")
                self._depth = 0
                self.lock.release()
                if not isinstance(e, sqlite3.Error):
                    raise
                until = until or time.monotonic() + self.patience
                if not is_busy(e) or time.monotonic() > until:
                    raise as_oserror(e) from None
            blocking.sleep(pause * (0.5 + random.random()))
            pause = min(pause * 2, 0.02)

    def leave(self, ok: bool) -> None:
        """End what enter(True) began: commit, or take everything back."""
        try:
            self._depth -= 1
            if self._depth:
                return
            if ok:
                self.execute("COMMIT")
        except sqlite3.Error as e:
            ok = False
            raise as_oserror(e) from None
        finally:
            if not self._depth and not ok:
                if self._sql.in_transaction:
                    self.execute("ROLLBACK")
                self.on_change()
            if not self._depth:
                self.on_end()
            self.lock.release()

    @property
    def in_transaction(self) -> bool:
        return self._depth > 0

    def sync(self) -> None:
        """Return when everything that was committed survives a loss of power.

        Commits wait for no disk; this does: the write-ahead log is synced by a descriptor of its own (SQLite keeps no
        locks on that file). What is no longer in the log was synced by the checkpoint that moved it.
        """
        if self.path == ":memory:":
            return
        try:
            fd = os.open(self.path + "-wal", os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
        if not self._synced_directory:
            fd = os.open(os.path.dirname(self.path) or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)
            self._synced_directory = True

    def checkpoint(self) -> None:
        """Move what is in the write-ahead log into the file, through a connection of its own: nobody waits.

        For one thread that does so again and again; then a transaction that ends does so only in case of need.
        """
        if self.path == ":memory:" or self.readonly:
            return
        if self._other is None:
            self._other = self._connect("rw")
            with self.lock:
                self._sql.execute(f"PRAGMA wal_autocheckpoint = {4 * CHECKPOINT_PAGES}")
        try:
            self._other.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.Error as e:
            if not is_busy(e):
                raise as_oserror(e) from None

    def make_room(self, size: int = 0) -> None:
        """Before `size` bytes are stored: DatabaseError ENOSPC where what the write-ahead log holds could not be moved
        into the file any more afterwards, for then nothing could be removed either. Not in a transaction."""
        if self._depth or time.monotonic() < self._roomy_until or self.path == ":memory:" or self.readonly \
                or self._spare(size) >= 0:
            return
        try:
            with self.lock:
                if not self._depth:
                    self.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as e:
            if not is_busy(e) and getattr(e, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_FULL:
                raise as_oserror(e) from None
        if size and self._spare(size) < 0:
            raise DatabaseError(errno.ENOSPC, "vfs: no space left beside the database")

    def _spare(self, size: int) -> int:
        """Bytes that are free beyond what moving the log, and storing and moving `size` bytes more, needs."""
        try:
            real = os.statvfs(os.path.dirname(self.path) or ".")
            free = real.f_bavail * real.f_frsize
            if free > ROOMY:
                self._roomy_until = time.monotonic() + LOOK
                return ROOMY
            with self.lock:
                page, pages, unused = (self.execute(f"PRAGMA {name}").fetchone()[0]
                                       for name in ("page_size", "page_count", "freelist_count"))
            grows = max(0, page * pages - os.stat(self.path).st_size)
        except (OSError, sqlite3.Error):
            return ROOMY                                     # storing will say what is wrong
        return int(free - grows - size - max(0, size - page * unused) - SPARE)

    @property
    def sql(self) -> sqlite3.Connection:
        return self._sql

    def close(self) -> None:
        with self.lock:
            if self._other is not None:
                disconnect(self._other, self.path)
            disconnect(self._sql, self.path)


class Reading:
    """`with connection.reading:` the lock, and caches that are true. One object for all: it has no state."""

    __slots__ = ("_connection",)

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.enter(False)

    def __exit__(self, kind: type[BaseException] | None, failure: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._connection.lock.release()
        if isinstance(failure, sqlite3.Error):
            raise as_oserror(failure) from None


class Glancing:
    """`with connection.glancing:` the same, for who can bear to see another program's transaction GLANCE later."""

    __slots__ = ("_connection", "_looked")

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._looked = 0.0

    def __enter__(self) -> None:
        now = time.monotonic()
        if now - self._looked > GLANCE:
            self._connection.enter(False)
            self._looked = now
        else:
            self._connection.lock.acquire()

    def __exit__(self, kind: type[BaseException] | None, failure: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._connection.lock.release()
        if isinstance(failure, sqlite3.Error):
            raise as_oserror(failure) from None


class Writing:
    """`with connection.writing:` one transaction: all of it, or nothing where an exception leaves the block."""

    __slots__ = ("_connection",)

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        if self._connection.readonly:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        self._connection.enter(True)

    def __exit__(self, kind: type[BaseException] | None, failure: BaseException | None,
                 trace: TracebackType | None) -> None:
        connection = self._connection
        connection.leave(failure is None)
        if isinstance(failure, sqlite3.Error):
            raise as_oserror(failure) from None
        if failure is None and not connection.in_transaction:
            connection.on_idle()


def connect(path: str, mode: str, secret: Secret | None = None, timeout: float = 10) -> sqlite3.Connection:
    """A bare connection, each statement a transaction of its own; `mode` is ro, rw or rwc. To be ended by disconnect().

    timeout  seconds to wait for other connections' locks
    Raises SchemaError for a file that the `secret`, or the lack of one, does not fit; sqlite3.Error; OSError.
    """
    if path == ":memory:":
        if secret is not None:
            raise schema.SchemaError("a database in memory is not encrypted: leave key and cipher away")
        return sqlite3.connect(path, check_same_thread=False, isolation_level=None, cached_statements=256)
    users.enter(path, secret is not None, mode == "rwc")
    try:
        if secret is not None:
            try:
                from mirage.mounts.vfs.encrypted import Database
            except ImportError as e:
                raise schema.SchemaError(f"encrypted databases need {e.name}: "
                                         "pip install 'mirage-terminal[vfs-crypt]'") from None
            return Database(uri(path, mode), mode, secret, timeout)      # type: ignore[return-value]
        return sqlite3.connect(uri(path, mode), uri=True, check_same_thread=False, isolation_level=None,
                               cached_statements=256, timeout=timeout)
    except BaseException:
        users.leave(path)
        raise


def uri(path: str, mode: str) -> str:
    """SQLite's name for the file. Where nothing can be written beside it, it is read as one that nobody changes."""
    from urllib.parse import quote
    text = f"file:{quote(os.fsencode(path))}?mode={mode}"
    if mode == "ro" and not os.access(os.path.dirname(path) or ".", os.W_OK):
        try:
            logged = os.stat(path + "-wal").st_size
        except OSError:
            logged = 0
        if not logged:
            text += "&immutable=1"
    return text


def disconnect(connection: sqlite3.Connection, path: str) -> None:
    try:
        connection.close()
    finally:
        if path != ":memory:":
            users.leave(path)


def _nothing() -> None:
    """Nothing is cached."""
