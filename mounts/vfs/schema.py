"""The tables. agentfs-sdk 0.6.4 reads and writes the same file, so there are no triggers, checks, generated columns,
WITHOUT ROWID tables, or auto_vacuum: it fails on them.

Versions: 0.0 has no nlink, 0.2 no nanoseconds, 0.4 is what the peer writes, 0.6 adds the tables of EXTENSION. The peer
rewrites fs_config.schema_version whenever it opens a file, so the version is told by looking at the columns and by
vfs_meta, which only we write.
"""
from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

VERSION = "0.6"
OLDEST = "0.0"
CHUNK_SIZE = 65536
ROOT = 1

BASE = """
CREATE TABLE IF NOT EXISTS fs_config (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS fs_inode (
    ino INTEGER PRIMARY KEY AUTOINCREMENT,
    mode INTEGER NOT NULL,
    nlink INTEGER NOT NULL DEFAULT 0,
    uid INTEGER NOT NULL DEFAULT 0,
    gid INTEGER NOT NULL DEFAULT 0,
    size INTEGER NOT NULL DEFAULT 0,
    atime INTEGER NOT NULL,
    mtime INTEGER NOT NULL,
    ctime INTEGER NOT NULL,
    rdev INTEGER NOT NULL DEFAULT 0,
    atime_nsec INTEGER NOT NULL DEFAULT 0,
    mtime_nsec INTEGER NOT NULL DEFAULT 0,
    ctime_nsec INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS fs_dentry (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    parent_ino INTEGER NOT NULL,
    ino INTEGER NOT NULL,
    UNIQUE(parent_ino, name)
);
CREATE TABLE IF NOT EXISTS fs_data (
    ino INTEGER NOT NULL,
    chunk_index INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (ino, chunk_index)
);
CREATE TABLE IF NOT EXISTS fs_symlink (ino INTEGER PRIMARY KEY, target TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS kv_store (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    created_at INTEGER DEFAULT (unixepoch()),
    updated_at INTEGER DEFAULT (unixepoch())
);
CREATE INDEX IF NOT EXISTS idx_kv_store_created_at ON kv_store(created_at);
CREATE TABLE IF NOT EXISTS tool_calls (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    parameters TEXT,
    result TEXT,
    error TEXT,
    status TEXT NOT NULL DEFAULT 'pending',
    started_at INTEGER NOT NULL,
    completed_at INTEGER,
    duration_ms INTEGER
);
CREATE INDEX IF NOT EXISTS idx_tool_calls_name ON tool_calls(name);
CREATE INDEX IF NOT EXISTS idx_tool_calls_started_at ON tool_calls(started_at);
"""

EXTENSION = """
CREATE TABLE IF NOT EXISTS fs_whiteout (
    path TEXT PRIMARY KEY, parent_path TEXT NOT NULL DEFAULT '', created_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS idx_fs_whiteout_parent ON fs_whiteout(parent_path);
CREATE TABLE IF NOT EXISTS fs_origin (delta_ino INTEGER PRIMARY KEY, base_ino INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS fs_overlay_config (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS fs_opaque (path TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS fs_redirect (path TEXT PRIMARY KEY, base_path TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS fs_layer_origin (
    ino INTEGER PRIMARY KEY,
    base_path TEXT NOT NULL,
    base_size INTEGER NOT NULL,
    base_mtime_ns INTEGER NOT NULL,
    base_ctime_ns INTEGER NOT NULL,
    base_ino INTEGER NOT NULL,
    base_version TEXT
);
CREATE TABLE IF NOT EXISTS fs_partial_origin (ino INTEGER PRIMARY KEY, kept_size INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS fs_xattr (
    ino INTEGER NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (ino, name)
);
CREATE TABLE IF NOT EXISTS vfs_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS vfs_dentry_ino ON fs_dentry(ino);
CREATE INDEX IF NOT EXISTS vfs_inode_unnamed ON fs_inode(nlink) WHERE nlink = 0;
"""

REQUIRED = ("fs_config", "fs_inode", "fs_dentry", "fs_data", "fs_symlink")
COLUMNS = {"fs_config": {"key", "value"}, "fs_dentry": {"id", "name", "parent_ino", "ino"},
           "fs_data": {"ino", "chunk_index", "data"}, "fs_symlink": {"ino", "target"},
           "fs_inode": {"ino", "mode", "uid", "gid", "size", "atime", "mtime", "ctime"}}
NANOSECONDS = ("atime_nsec", "mtime_nsec", "ctime_nsec", "rdev")


class SchemaError(ValueError):
    """Not a Vfs database, or one of a version that this program cannot use."""


def tables(connection: Connection) -> set[str]:
    return {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def columns(connection: Connection, table: str) -> list[str]:
    """Names of a table's columns in order; none where there is no such table."""
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def version(connection: Connection) -> str | None:
    """"0.0", "0.2", "0.4" or "0.6" by what is there, a newer one by vfs_meta; None for an empty file.

    SchemaError where the file has other tables but not ours.
    """
    there = tables(connection)
    if not there:
        return None
    missing = [name for name in REQUIRED if name not in there]
    if missing:
        raise SchemaError(f"not a Vfs database: there is no table {missing[0]}")
    for table, needed in COLUMNS.items():
        if absent := needed.difference(columns(connection, table)):
            raise SchemaError(f"not a Vfs database: {table} has no column {min(absent)}")
    inode = columns(connection, "fs_inode")
    if "nlink" not in inode:
        return "0.0"
    if any(name not in inode for name in NANOSECONDS):
        return "0.2"
    if "vfs_meta" not in there:
        return "0.4"
    row = connection.execute("SELECT value FROM vfs_meta WHERE key = 'schema_version'").fetchone()
    return str(row[0]) if row else "0.4"


def number(text: str) -> tuple[int, ...]:
    """"0.6" as (0, 6), for comparing."""
    try:
        return tuple(int(part) for part in text.split("."))
    except ValueError:
        raise SchemaError(f"unknown schema version {text!r}") from None


def complete(connection: Connection) -> bool:
    """Has the file every table that we use, in the shape that we need?"""
    there = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    needed = ("vfs_meta", "fs_redirect", "fs_layer_origin", "fs_partial_origin", "fs_opaque", "fs_xattr",
              "fs_whiteout", "fs_origin", "vfs_dentry_ino", "vfs_inode_unnamed", "kv_store", "tool_calls")
    return all(name in there for name in needed) and "status" in columns(connection, "tool_calls") \
        and version(connection) == VERSION


def create(connection: Connection, chunk_size: int, uid: int, gid: int, now: int) -> None:
    """All tables and the root directory of a new database. Within the caller's transaction."""
    _script(connection, BASE)
    connection.execute("INSERT INTO fs_config VALUES ('chunk_size', ?), ('schema_version', '0.4')", (str(chunk_size),))
    seconds, nano = divmod(now, 10 ** 9)
    connection.execute("INSERT INTO fs_inode (ino, mode, nlink, uid, gid, size, atime, mtime, ctime, atime_nsec,"
                       " mtime_nsec, ctime_nsec) VALUES (?, 16877, 1, ?, ?, 0, ?, ?, ?, ?, ?, ?)",
                       (ROOT, uid, gid, seconds, seconds, seconds, nano, nano, nano))
    extend(connection)


def extend(connection: Connection) -> None:
    """Bring a database of version 0.4 or later to VERSION. Within the caller's transaction; idempotent."""
    if "fs_whiteout" in tables(connection) and "parent_path" not in columns(connection, "fs_whiteout"):
        connection.execute("ALTER TABLE fs_whiteout ADD COLUMN parent_path TEXT NOT NULL DEFAULT ''")
    _script(connection, BASE)
    _script(connection, EXTENSION)
    _complete_tool_calls(connection)
    connection.execute("INSERT OR REPLACE INTO vfs_meta VALUES ('schema_version', ?)", (VERSION,))


def _complete_tool_calls(connection: Connection) -> None:
    """The log of other implementations keeps completed calls only and has no `status`: rebuild it with the column."""
    there = columns(connection, "tool_calls")
    if "status" in there:
        return
    connection.execute("ALTER TABLE tool_calls RENAME TO vfs_old_tool_calls")
    for index in ("idx_tool_calls_name", "idx_tool_calls_started_at"):
        connection.execute(f"DROP INDEX IF EXISTS {index}")
    _script(connection, BASE)
    connection.execute(
        "INSERT INTO tool_calls (id, name, parameters, result, error, status, started_at, completed_at, duration_ms)"
        " SELECT id, name, parameters, result, error, CASE WHEN error IS NULL THEN 'success' ELSE 'error' END,"
        " started_at, completed_at, duration_ms FROM vfs_old_tool_calls")
    connection.execute("DROP TABLE vfs_old_tool_calls")


def migrate(connection: Connection) -> list[str]:
    """Any older version to VERSION, within the caller's transaction; what was done, in words."""
    done = []
    at = version(connection)
    if at is None:
        raise SchemaError("not a Vfs database: the file is empty")
    if number(at) > number(VERSION):
        raise SchemaError(f"the database has schema version {at}, this program knows {VERSION}")
    inode = columns(connection, "fs_inode")
    if "nlink" not in inode:
        connection.execute("ALTER TABLE fs_inode ADD COLUMN nlink INTEGER NOT NULL DEFAULT 0")
        done.append("add fs_inode.nlink")
    unlinked = connection.execute(
        "SELECT 1 FROM fs_inode WHERE nlink < 1 AND ino IN (SELECT ino FROM fs_dentry) OR ino = 1 AND nlink < 1"
        " LIMIT 1").fetchone()
    if unlinked:
        connection.execute(
            "UPDATE fs_inode SET nlink = CASE WHEN mode & 61440 = 16384 THEN 1 ELSE"
            " (SELECT count(*) FROM fs_dentry d WHERE d.ino = fs_inode.ino) END"
            " WHERE ino = 1 OR ino IN (SELECT ino FROM fs_dentry)")
        done.append("count the links of every inode")
    for name in NANOSECONDS:
        if name not in inode:
            connection.execute(f"ALTER TABLE fs_inode ADD COLUMN {name} INTEGER NOT NULL DEFAULT 0")
            done.append(f"add fs_inode.{name}")
    if not complete(connection):
        extend(connection)
        done.append(f"add the tables of version {VERSION}")
        connection.execute("UPDATE fs_config SET value = '0.4' WHERE key = 'schema_version'")
    return done


def _script(connection: Connection, text: str) -> None:
    """executescript() would commit first."""
    for statement in text.split(";"):
        if statement.strip():
            connection.execute(statement)


def now_seconds() -> int:
    return int(time.time())
