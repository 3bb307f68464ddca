"""Which database files this process has open, and whether with the plain SQLite or with the one for encrypted files.

Closing a descriptor of a file drops every lock that the process has on it, so a file is looked into only while nobody
here has it open, and two SQLite libraries are never on one file.
"""
from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import struct
import threading

from mirage.mounts.vfs.schema import SchemaError

TURSO = b"Turso\0"
FLOCK = struct.Struct("hhqqi4x")

_lock = threading.Lock()
_open: dict[str, tuple[bool, int]] = {}                      # path -> (encrypted, connections)


def enter(path: str, encrypted: bool, create: bool) -> None:
    """One more connection. SchemaError for what it cannot be for; FileNotFoundError."""
    path = os.path.realpath(path)
    with _lock:
        kind, count = _open.get(path, (encrypted, 0))
        if kind != encrypted:
            raise SchemaError("the database is encrypted: give its key and cipher" if kind
                              else "the database is not encrypted: leave key and cipher away")
        if not count:
            _look(path, encrypted, create)
        _open[path] = (encrypted, count + 1)


def leave(path: str) -> None:
    path = os.path.realpath(path)
    with _lock:
        kind, count = _open[path]
        if count > 1:
            _open[path] = (kind, count - 1)
        else:
            del _open[path]


def user(path: str) -> int | None:
    """The number of a process that has the database open, which may be this one; None: nobody has.

    Every program that uses SQLite keeps a lock on the shared memory of the write-ahead log, and while it works on the
    file itself.
    """
    path = os.path.realpath(path)
    with _lock:
        if path in _open:
            return os.getpid()
        for place in (path + "-shm", path):
            with contextlib.suppress(FileNotFoundError):
                number = _holder(place)
                if number is not None:
                    return number
    return None


def _holder(path: str) -> int | None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        kind, _, _, _, number = FLOCK.unpack(fcntl.fcntl(fd, fcntl.F_GETLK, FLOCK.pack(fcntl.F_WRLCK, 0, 0, 0, 0)))
    finally:
        os.close(fd)
    return None if kind == fcntl.F_UNLCK else number


def _look(path: str, encrypted: bool, create: bool) -> None:
    try:
        info = os.stat(path)
    except FileNotFoundError:
        if create:
            return
        raise
    if not stat.S_ISREG(info.st_mode):
        raise SchemaError("not a Vfs database: not a regular file")
    if not info.st_size:
        return
    with open(path, "rb") as file:
        head = file.read(16)
    if encrypted and head == b"SQLite format 3\0":
        raise SchemaError("the database is not encrypted: leave key and cipher away")
    if not encrypted and head.startswith(TURSO):
        raise SchemaError("the database is encrypted: give its key and cipher")
