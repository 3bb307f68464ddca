"""Is a database what it should be? Each check has a name; what other implementations leave behind can be repaired."""
from __future__ import annotations

import contextlib
import json
import os
import sqlite3

from mirage.mounts.vfs import schema
from mirage.mounts.vfs.names import shown, stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mirage.mounts.vfs.connection import Connection

    Problems = list["Problem"]
    Progress = Callable[[int, int], None]

LIMIT = 100                                                  # problems reported for each check

# (name, what is wrong, query that gives one row of values for each problem)
CHECKS = (
    ("root", "inode 1 is missing or no directory", "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM fs_inode WHERE ino = 1"
     " AND mode & 61440 = 16384)"),
    ("dentry-inode", "name {1!r} in directory {2} points to inode {0}, which does not exist",
     "SELECT ino, name, parent_ino FROM fs_dentry d WHERE NOT EXISTS (SELECT 1 FROM fs_inode i WHERE i.ino = d.ino)"),
    ("dentry-parent", "name {1!r} is in inode {0}, which is no directory",
     "SELECT parent_ino, name FROM fs_dentry d WHERE NOT EXISTS (SELECT 1 FROM fs_inode i WHERE i.ino = d.parent_ino"
     " AND i.mode & 61440 = 16384)"),
    ("name", "name {1!r} in directory {0} cannot be a name",
     "SELECT parent_ino, name FROM fs_dentry WHERE name IN ('', '.', '..') OR instr(name, '/')"
     " OR typeof(name) <> 'text'"),
    ("name-twice", "name {1!r} is in directory {0} several times",
     "SELECT parent_ino, name FROM fs_dentry GROUP BY parent_ino, name HAVING count(*) > 1"),
    ("directory-names", "directory {0} has {1} names",
     "SELECT d.ino, count(*) FROM fs_dentry d JOIN fs_inode i ON i.ino = d.ino WHERE i.mode & 61440 = 16384"
     " GROUP BY d.ino HAVING count(*) > 1"),
    ("inode", "inode {0} has values that cannot be",
     "SELECT ino FROM fs_inode WHERE typeof(mode) <> 'integer' OR mode NOT BETWEEN 0 AND 4294967295 OR size < 0"
     + "".join(f" OR typeof({name}) <> 'integer'" for name in (
         "nlink", "uid", "gid", "size", "rdev", "atime", "mtime", "ctime", "atime_nsec", "mtime_nsec", "ctime_nsec"))),
    ("nlink", "inode {0} counts {1} names and has {2}",
     "SELECT i.ino, i.nlink, count(d.ino) FROM fs_inode i LEFT JOIN fs_dentry d ON d.ino = i.ino"
     " WHERE i.mode & 61440 <> 16384 GROUP BY i.ino HAVING i.nlink <> count(d.ino)"),
    ("size", "inode {0} has {1} bytes in chunks and a size of {2}",
     "SELECT i.ino, sum(length(d.data)), i.size FROM fs_inode i JOIN fs_data d ON d.ino = i.ino"
     " WHERE i.mode & 61440 = 32768 GROUP BY i.ino HAVING sum(length(d.data)) > i.size"),
    ("chunk", "chunk {1} of inode {0} has {2} bytes",
     "SELECT d.ino, d.chunk_index, length(d.data) FROM fs_data d JOIN fs_inode i ON i.ino = d.ino"
     " WHERE length(d.data) > :chunk OR d.chunk_index < 0 OR d.chunk_index * :chunk >= max(i.size, 1)"
     " OR i.mode & 61440 <> 32768 OR length(d.data) < :chunk AND (d.chunk_index + 1) * :chunk < i.size"),
    ("chunk-inode", "{1} chunks belong to inode {0}, which does not exist",
     "SELECT ino, count(*) FROM fs_data d WHERE NOT EXISTS (SELECT 1 FROM fs_inode i WHERE i.ino = d.ino)"
     " GROUP BY ino"),
    ("symlink", "symbolic link {0} has no target",
     "SELECT ino FROM fs_inode i WHERE mode & 61440 = 40960"
     " AND NOT EXISTS (SELECT 1 FROM fs_symlink s WHERE s.ino = i.ino)"),
    ("time", "inode {0} has nanoseconds beyond a second",
     "SELECT ino FROM fs_inode WHERE max(atime_nsec, mtime_nsec, ctime_nsec) > 999999999"
     " OR min(atime_nsec, mtime_nsec, ctime_nsec) < 0"),
    ("reachable", "directory {0} cannot be reached from the root",
     "WITH RECURSIVE r(ino) AS (SELECT 1 UNION SELECT d.ino FROM fs_dentry d JOIN r ON d.parent_ino = r.ino)"
     " SELECT d.ino FROM fs_dentry d JOIN fs_inode i ON i.ino = d.ino"
     " WHERE i.mode & 61440 = 16384 AND d.ino NOT IN (SELECT ino FROM r)"),
)
# left behind by other implementations, or by a process that died: no harm, and removed by the repair
REPAIRS = (
    ("orphan", "inode {0} has no name",
     "SELECT ino FROM fs_inode i WHERE ino <> 1 AND (nlink = 0 OR mode & 61440 = 16384)"
     " AND NOT EXISTS (SELECT 1 FROM fs_dentry d WHERE d.ino = i.ino)"),
    ("symlink-row", "the target of link {0} is left, the link is not",
     "SELECT ino FROM fs_symlink s WHERE NOT EXISTS (SELECT 1 FROM fs_inode i WHERE i.ino = s.ino)"),
)

STEPS = len(CHECKS) + len(REPAIRS) + 1


class Problem:
    """check  its name; `repairable`: it does no harm, and repair() removes it"""

    __slots__ = ("check", "message", "repairable")

    def __init__(self, check: str, message: str, repairable: bool = False) -> None:
        self.check = check
        self.message = message
        self.repairable = repairable

    def as_dict(self) -> dict[str, Any]:
        return {"check": self.check, "message": self.message, "repairable": self.repairable}


def check(db: Connection, progress: Progress | None = None) -> Problems:
    """What is wrong: SQLite's own check, then the schema's rules. `progress` is told of each: how many, of how many."""
    tell = progress or (lambda done, all: None)
    tell(0, STEPS)
    found: Problems = []
    with db.reading:
        try:
            for (text,) in db.execute(f"PRAGMA integrity_check({LIMIT})").fetchall():
                if text != "ok":
                    found.append(Problem("sqlite", str(text)))
            found.extend(_length(db))
            if found:
                return found
            db.execute("BEGIN")
            try:
                found.extend(_rows(db, tell))
            finally:
                db.execute("COMMIT")
        except sqlite3.DatabaseError as e:
            found.append(Problem("sqlite", str(e)))
    return found


def _length(db: Connection) -> Problems:
    """SQLite takes what is missing at the end for zeros. What is still in the log is not missed."""
    if db.path == ":memory:":
        return []
    pages, size = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    there, logged = os.stat(db.path).st_size, 0
    with contextlib.suppress(FileNotFoundError):
        logged = os.stat(db.path + "-wal").st_size
    if logged or there >= pages * size:
        return []
    return [Problem("sqlite", f"the file has {there} bytes, {pages} pages of {size} are {pages * size}")]


def _rows(db: Connection, tell: Progress) -> Problems:
    found: Problems = []
    done = 0
    there = schema.tables(db.sql)
    for checks, repairable in ((CHECKS, False), (REPAIRS, True)):
        for name, message, query in checks:
            done += 1
            tell(done, STEPS)
            values = {"chunk": db.chunk_size} if ":chunk" in query else {}
            for row in db.execute(f"{query} LIMIT {LIMIT}", values):
                found.append(Problem(name, message.format(*row), repairable))
    if "fs_whiteout" in there:
        for (path,) in db.execute("SELECT path FROM fs_whiteout"):
            if not path.startswith("/") or path != "/" and (path.endswith("/") or "//" in path):
                found.append(Problem("whiteout", f"whiteout {path!r} is no normalized path"))
            elif _names_something(db, shown(path)):
                found.append(Problem("whiteout", f"there is a file at the whiteout {path!r}"))
    for key, value in db.execute("SELECT key, value FROM kv_store") if "kv_store" in there else ():
        try:
            json.loads(value)
        except (ValueError, TypeError):
            found.append(Problem("kv", f"the value of {key!r} is not JSON"))
    if "tool_calls" in there:
        for (id,) in db.execute("SELECT id FROM tool_calls WHERE result IS NOT NULL AND error IS NOT NULL"):
            found.append(Problem("tool-call", f"tool call {id} has a result and an error"))
    return found


def _names_something(db: Connection, path: str) -> bool:
    ino = 1
    for name in path[1:].split("/"):
        row = db.execute("SELECT ino FROM fs_dentry WHERE parent_ino = ? AND name = ?", (ino, stored(name))).fetchone()
        if row is None:
            return False
        ino = row[0]
    return True


def partial_files(db: Connection) -> int:
    """How many files need the base for a part of their content."""
    with db.reading:
        if "fs_partial_origin" not in schema.tables(db.sql):
            return 0
        return int(db.execute("SELECT count(*) FROM fs_partial_origin").fetchone()[0])


def repair(db: Connection) -> int:
    """Remove what does no harm and is not needed; how many rows."""
    done = 0
    with db.writing:
        for _, _, query in REPAIRS:
            for (ino,) in db.execute(query).fetchall():
                for table in ("fs_data", "fs_symlink", "fs_xattr", "fs_inode"):
                    done += db.execute(f"DELETE FROM {table} WHERE ino = ?", (ino,)).rowcount
        for table, key in (("fs_origin", "delta_ino"), ("fs_layer_origin", "ino"), ("fs_partial_origin", "ino")):
            done += db.execute(f"DELETE FROM {table} WHERE {key} NOT IN (SELECT ino FROM fs_inode)").rowcount
    return done
