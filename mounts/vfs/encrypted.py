"""Encrypted databases: ordinary SQLite (apsw) above files whose pages are encrypted, with the face of sqlite3.

What reaches the disk is encrypted always: pages of the main file and of the write-ahead log, which is the only
journal; temporary tables stay in memory. Frames of the log carry SQLite's checksums of the ciphertext, as Turso's do:
SQLite computes them of the plain pages, so each frame written is given its checksum anew, and recovery after a crash
reads whole frames as they are.
"""
from __future__ import annotations

import itertools
import sqlite3
import struct
import threading

import apsw

from mirage.mounts.vfs.pages import FRAME_HEADER, PAGE, BadPage, Codec, checksum
from mirage.mounts.vfs.schema import SchemaError
from mirage.mounts.vfs.secret import CIPHERS
from mirage.mounts.vfs.users import TURSO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from mirage.mounts.vfs.secret import Secret

LOG_HEADER = 32
JOURNALS = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUBJOURNAL | apsw.SQLITE_OPEN_TEMP_DB \
    | apsw.SQLITE_OPEN_TEMP_JOURNAL | apsw.SQLITE_OPEN_TRANSIENT_DB | apsw.SQLITE_OPEN_SUPER_JOURNAL


class Refused(Exception):
    """A file that this key is not for; the message says why."""


class File(apsw.VFSFile):
    """The main file and its log, through the codec. No other file is opened: it would hold pages in the clear."""

    def __init__(self, codec: Codec, name: Any, flags: list[int]) -> None:
        if flags[0] & JOURNALS:
            raise apsw.CantOpenError("a file beside an encrypted database would not be encrypted")
        self._codec = codec
        self._main = bool(flags[0] & apsw.SQLITE_OPEN_MAIN_DB)
        self._log = bool(flags[0] & apsw.SQLITE_OPEN_WAL)
        super().__init__("", name, flags)
        if self._main:
            self._check()

    def _check(self) -> None:
        """Is the key the right one? Before anything is written."""
        size = self.xFileSize()
        if not size:
            return
        page = super().xRead(min(PAGE, size), 0)
        if not page.startswith(TURSO):
            raise Refused("not a Vfs database: it is not encrypted")
        if page[:16] != self._codec.mark:
            other = [name for name, (number, _, _) in CIPHERS.items() if page[6:7] == bytes([number])]
            raise Refused("the key or cipher is wrong: the database is encrypted with "
                          + (other[0] if other else "an unknown one"))
        if size < PAGE or page[16:18] != PAGE.to_bytes(2, "big") or page[20] != self._codec.reserved:
            raise Refused("the database is damaged: its first page is not whole")
        try:
            self._codec.decrypt(1, page)
        except BadPage:
            raise Refused("the key or cipher is wrong, or the database is damaged") from None

    def _in_frame(self, offset: int) -> int:
        return (offset - LOG_HEADER) % (FRAME_HEADER + PAGE)

    def _is_page(self, offset: int) -> bool:
        return self._log and offset >= LOG_HEADER and self._in_frame(offset) == FRAME_HEADER

    def xRead(self, amount: int, offset: int) -> bytes:
        if self._main:
            start = offset // PAGE * PAGE                    # SQLite also reads parts of page 1
            page = super().xRead(PAGE, start)
            if len(page) == PAGE:
                page = self._codec.decrypt(start // PAGE + 1, page)
            return page[offset - start:offset - start + amount]
        data = super().xRead(amount, offset)
        if len(data) == PAGE and self._is_page(offset):
            return self._codec.decrypt(int.from_bytes(super().xRead(4, offset - FRAME_HEADER), "big"), data)
        return data

    def xWrite(self, data: Any, offset: int) -> None:
        if self._main:
            if len(data) != PAGE or offset % PAGE:
                raise apsw.IOError("what is written is no page")
            super().xWrite(self._codec.encrypt(offset // PAGE + 1, bytes(data)), offset)
        elif self._is_page(offset):
            if len(data) != PAGE:
                raise apsw.IOError("what is written is no page")
            self._write_frame(bytes(data), offset)
        else:
            super().xWrite(data, offset)

    def _write_frame(self, page: bytes, offset: int) -> None:
        """The page, and the checksum in the frame's header, which goes on from that of the frame before."""
        start = offset - FRAME_HEADER
        header = super().xRead(FRAME_HEADER, start)          # number of the page, size at commit, salts, checksums
        sealed = self._codec.encrypt(int.from_bytes(header[:4], "big"), page)
        before = LOG_HEADER - 8 if start == LOG_HEADER else start - PAGE - 8
        order = ">" if super().xRead(4, 0)[3] & 1 else "<"
        sums = checksum(header[:8] + sealed, order, *struct.unpack(">II", super().xRead(8, before)))
        super().xWrite(sealed, offset)
        super().xWrite(struct.pack(">II", *sums), start + 16)


class FileSystem(apsw.VFS):
    """SQLite's own, with encrypted files."""

    def __init__(self, name: str, codec: Codec) -> None:
        self.name = name
        self.codec = codec
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: list[int]) -> File:
        return File(self.codec, name, flags)


_lock = threading.Lock()
_systems: dict[Secret, FileSystem] = {}
_numbers = itertools.count(1)


def file_system(secret: Secret) -> FileSystem:
    with _lock:
        if secret not in _systems:
            _systems[secret] = FileSystem(f"vfs-encrypted-{next(_numbers)}", Codec(secret))
        return _systems[secret]


class Failure(sqlite3.DatabaseError):
    """What went wrong, as sqlite3 would tell it."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.sqlite_errorcode = code


def _failure(error: Exception) -> Failure:
    if isinstance(error, apsw.Error):
        code = getattr(error, "extendedresult", 0) or getattr(error, "result", 0) or apsw.SQLITE_ERROR
        return Failure(str(error).partition(": ")[2] or str(error), code)
    return Failure(f"database disk image is malformed: {error}", apsw.SQLITE_CORRUPT)


class Rows:
    """A cursor."""

    __slots__ = ("_connection", "_cursor")

    def __init__(self, connection: apsw.Connection, cursor: Any) -> None:
        self._connection = connection
        self._cursor = cursor

    def fetchone(self) -> Any:
        try:
            return self._cursor.fetchone()
        except (apsw.Error, BadPage) as e:
            raise _failure(e) from None

    def fetchall(self) -> list[Any]:
        try:
            return list(self._cursor.fetchall())
        except (apsw.Error, BadPage) as e:
            raise _failure(e) from None

    def __iter__(self) -> Rows:
        return self

    def __next__(self) -> Any:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    @property
    def lastrowid(self) -> int:
        return self._connection.last_insert_rowid()

    @property
    def rowcount(self) -> int:
        return self._connection.changes()

    def close(self) -> None:
        self._cursor.close(True)


class Database:
    """One connection; `uri` names the file, `mode` is ro, rw, rwc. sqlite3.Error as sqlite3; SchemaError: wrong key."""

    def __init__(self, uri: str, mode: str, secret: Secret, timeout: float) -> None:
        flags = apsw.SQLITE_OPEN_URI | {"ro": apsw.SQLITE_OPEN_READONLY, "rw": apsw.SQLITE_OPEN_READWRITE,
                 "rwc": apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE}[mode]
        self._writable = mode != "ro"
        system = file_system(secret)
        try:
            self._sql = apsw.Connection(uri, flags=flags, vfs=system.name)
        except Refused as e:
            raise SchemaError(str(e)) from None
        except (apsw.Error, BadPage) as e:
            raise _failure(e) from None
        self._sql.set_busy_timeout(int(timeout * 1000))
        self.execute("PRAGMA temp_store = MEMORY").fetchall()
        if mode == "rwc":
            self._sql.reserve_bytes("main", system.codec.reserved)
            self.execute(f"PRAGMA page_size = {PAGE}").fetchall()
            if not self.execute("PRAGMA page_count").fetchone()[0]:      # what sets up the log needs no file
                self.execute("PRAGMA journal_mode = MEMORY").fetchall()

    def execute(self, statement: str, values: Any = None) -> Rows:
        try:
            return Rows(self._sql, self._sql.execute(statement, values))
        except (apsw.Error, BadPage) as e:
            raise _failure(e) from None

    def executemany(self, statement: str, values: Iterable[Any]) -> Rows:
        try:
            return Rows(self._sql, self._sql.executemany(statement, values))
        except (apsw.Error, BadPage) as e:
            raise _failure(e) from None

    @property
    def in_transaction(self) -> bool:
        return self._sql.in_transaction

    def backup(self, target: Database, *, pages: int = 1000,
               progress: Callable[[int, int, int], None] | None = None) -> None:
        """Everything, into another database of this kind."""
        try:
            with target._sql.backup("main", self._sql, "main") as copy:
                while not copy.done:
                    copy.step(pages)
                    if progress is not None:
                        progress(0, copy.remaining, copy.page_count)
        except (apsw.Error, BadPage) as e:
            raise _failure(e) from None

    def close(self) -> None:
        try:
            self._sql.close()
        except (apsw.Error, BadPage) as e:
            if self._writable:                               # else: the last one could not tidy up, and need not
                raise _failure(e) from None
