"""Copies and migrations of a database. A target appears only when it is whole, and never replaces what is there."""
from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from mirage.mounts.vfs import content, integrity, schema
from mirage.mounts.vfs.connection import connect, disconnect
from mirage.mounts.vfs.database import Vfs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from sqlite3 import Connection
    from typing import Any

    from mirage.mounts.vfs.secret import Secret

    Progress = Callable[[int, int], None]                    # how much is done, of how much

DENSE = 1 << 30                                              # bytes of holes that a copy fills at most
INSTRUCTIONS = 200_000                                       # of SQLite's machine, between two looks at the progress
PAGES = 1000                                                 # copied at a time
SIDECARS = ("-wal", "-shm", "-journal", "-open")


class Refused(ValueError):
    """What was asked for is not done; the message says why."""


def base_of(vfs: Vfs) -> str | None:
    """The host's directory that the database is a layer over, or None."""
    with vfs.db.reading:
        if "fs_overlay_config" not in schema.tables(vfs.db.sql):
            return None
        row = vfs.db.execute("SELECT value FROM fs_overlay_config WHERE key = 'base_path'").fetchone()
    return None if row is None else str(row[0])


def set_base(vfs: Vfs, directory: str) -> None:
    with vfs.db.writing:
        vfs.db.execute("INSERT OR REPLACE INTO fs_overlay_config VALUES ('base_path', ?)", (directory,))


def layer_of(vfs: Vfs, **options: Any) -> Any:
    """The layer over the base of the database; its tree alone where it has none. OSError where the base is missing."""
    base = base_of(vfs)
    if base is None:
        return vfs.mount
    from mirage.mounts.host import Host
    from mirage.mounts.vfs.store import VfsStore
    from mirage.vfs.layer import Layer
    return Layer(Host(base), VfsStore(vfs.mount), **options)


def backup(source: Vfs, target: str, materialize: bool = False, progress: Progress | None = None) -> None:
    """A copy of the database that needs nothing else, with the same key. Refused where files depend on the base."""
    if not materialize and integrity.partial_files(source.db):
        raise Refused("the database has partial-origin files, which need the base directory: use --materialize")
    with publishing(target) as temporary:
        copy(source, temporary, progress)
        with reopened(temporary, source.db.secret) as made:
            if materialize:
                fill_from_base(made)
            fill_holes(made)


def reopened(path: str, secret: Secret | None, readonly: bool = False) -> Vfs:
    """A database of which there is a Secret."""
    if secret is None:
        return Vfs(path, create=False, readonly=readonly)
    return Vfs(path, create=False, readonly=readonly, key=secret.key.hex(), cipher=secret.cipher)


def copy(source: Vfs, target: str, progress: Progress | None = None) -> None:
    """Everything that is committed, in a new file; other programs may go on writing."""
    if not source.db.readonly:
        source.mount.flush_all()
        if source.db.secret is None:
            with source.db.reading, watching(source.db.sql, target, progress):
                source.db.execute("VACUUM INTO ?", (target,))
            with raw(target) as connection:
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
            return
    with raw(target, "rwc", source.db.secret) as connection:
        copy_pages(source.db.sql, connection, progress)


@contextlib.contextmanager
def watching(connection: Connection, target: str, progress: Progress | None) -> Iterator[None]:
    """While SQLite fills `target`: how long it is, of the bytes that the source has."""
    if progress is None:
        yield
        return
    pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))

    def look() -> int:
        with contextlib.suppress(OSError):
            progress(os.stat(target).st_size, pages * size)
        return 0

    connection.set_progress_handler(look, INSTRUCTIONS)
    try:
        yield
    finally:
        connection.set_progress_handler(None, 0)


def copy_pages(source: Connection, target: Connection, progress: Progress | None = None) -> None:
    """SQLite's backup: a consistent copy, page by page."""
    if progress is None:
        source.backup(target)
    else:
        source.backup(target, pages=PAGES, progress=lambda _, left, all: progress(all - left, all))


def fill_from_base(vfs: Vfs) -> int:
    """Partial files get all their content; how many there were. OSError ESTALE where the base has changed."""
    with vfs.db.reading:
        if not vfs.db.complete:
            return 0
        files = [row[0] for row in vfs.db.execute("SELECT ino FROM fs_partial_origin")]
    if not files:
        return 0
    layer = layer_of(vfs)
    if layer is vfs.mount:
        raise Refused("the database has partial-origin files, but no base directory")
    for ino in files:
        fill_file(vfs, layer, ino)
    return len(files)


def fill_file(vfs: Vfs, layer: Any, ino: int) -> None:
    store, size = layer.store, vfs.db.chunk_size
    origin = store.origin(ino)
    lower = layer._checked(origin, origin.path)
    try:
        _, present = store.chunks(ino)
        for index in range(-(-origin.kept // size)):
            if index in present:
                continue
            want = min(size, origin.kept - index * size)
            data = _exactly(lower, want, index * size)
            with vfs.db.writing:
                node = vfs.mount.load(ino)
                if node is not None:
                    length = min(size, node.size - index * size)
                    content.put(vfs.db, ino, index, data.ljust(length, b"\0"))
    finally:
        lower.close()
    origin.kept = None
    store.add_origin(ino, origin)


def _exactly(handle: Any, size: int, offset: int) -> bytes:
    out = b""
    while len(out) < size and (piece := handle.pread(size - len(out), offset + len(out))):
        out += piece
    return out.ljust(size, b"\0")


def fill_holes(vfs: Vfs) -> None:
    """Missing chunks become zeros (other implementations show such files too short), as long as they are few."""
    size = vfs.db.chunk_size
    with vfs.db.reading:
        partial = "fs_partial_origin" in schema.tables(vfs.db.sql)
        rows = vfs.db.execute(
            "SELECT i.ino, i.size, count(d.chunk_index) FROM fs_inode i LEFT JOIN fs_data d ON d.ino = i.ino"
            " WHERE i.mode & 61440 = 32768 AND i.size > 0"
            + (" AND i.ino NOT IN (SELECT ino FROM fs_partial_origin)" if partial else "")
            + " GROUP BY i.ino HAVING count(d.chunk_index) * ? < i.size", (size,)).fetchall()
    if sum(length - chunks * size for _, length, chunks in rows) > DENSE:
        return
    for ino, length, _ in rows:
        with vfs.db.writing:
            present = {row[0] for row in vfs.db.execute("SELECT chunk_index FROM fs_data WHERE ino = ?", (ino,))}
            for index in range(-(-length // size)):
                if index not in present:
                    content.put(vfs.db, ino, index, bytes(min(size, length - index * size)))


def migrate(path: str, dry_run: bool = False, secret: Secret | None = None) -> tuple[str, list[str]]:
    """Bring the file up to date in one transaction. (version it had, what was done or would be done)."""
    with raw(path, "rw", secret) as connection:
        before = schema.version(connection)
        connection.execute("BEGIN IMMEDIATE")
        try:
            steps = schema.migrate(connection)
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("ROLLBACK" if dry_run else "COMMIT")
        return before or "", steps


def migrate_copy(path: str, target: str, overwrite: bool = False, secret: Secret | None = None,
                 progress: Progress | None = None) -> tuple[str, list[str]]:
    """The same for a copy; the source is only read."""
    if overwrite and os.path.exists(target):
        with raw(target, "ro", secret) as old:
            schema.version(old)                              # nothing but a database is overwritten
    with publishing(target, overwrite) as temporary:
        with raw(path, "ro", secret) as source, raw(temporary, "rwc", secret) as copied:
            copy_pages(source, copied, progress)
        return migrate(temporary, secret=secret)


@contextlib.contextmanager
def raw(path: str, mode: str = "rw", secret: Secret | None = None) -> Iterator[Connection]:
    """A bare connection for the time of the block."""
    connection = connect(path, mode, secret)
    try:
        yield connection
    finally:
        disconnect(connection, path)


def state(path: str, secret: Secret | None = None) -> dict[str, Any]:
    """What a database says, whatever its version: names, kinds, owners, times, content, values, calls."""
    found: dict[str, Any] = {}
    with raw(path, "ro", secret) as connection:
        columns = set(schema.columns(connection, "fs_inode"))
        fields = [name for name in ("mode", "uid", "gid", "size", "atime", "mtime", "ctime", "rdev") if name in columns]
        inodes = {row[0]: row[1:] for row in connection.execute(f"SELECT ino, {', '.join(fields)} FROM fs_inode")}
        found["inodes"] = {ino: dict(zip(fields, row, strict=True)) | {"rdev": 0} for ino, row in inodes.items()}
        found["names"] = connection.execute("SELECT parent_ino, name, ino FROM fs_dentry ORDER BY 1, 2").fetchall()
        found["links"] = connection.execute("SELECT ino, target FROM fs_symlink ORDER BY 1").fetchall()
        digest = hashlib.sha256()
        for ino, index, data in connection.execute("SELECT ino, chunk_index, data FROM fs_data ORDER BY 1, 2"):
            digest.update(f"{ino}.{index}.{len(data)}:".encode() + content.as_bytes(data))
        found["data"] = digest.hexdigest()
        there = schema.tables(connection)
        for table, what in (("kv_store", "key, value"),
                            ("tool_calls", "id, name, parameters, result, error, started_at")):
            query = f"SELECT {what} FROM {table} ORDER BY 1"
            found[table] = connection.execute(query).fetchall() if table in there else []
    return found


def contents(mount: Any) -> dict[str, tuple[int, int | None, str]]:
    """(mode, size, digest of the content or target) of every path."""
    found = {}
    todo = ["/"]
    while todo:
        at = todo.pop()
        for entry in mount.list(at):
            path = f"{at.rstrip('/')}/{entry.name}"
            stat = mount.stat(path)
            if stat.is_dir:
                todo.append(path)
            text = mount.readlink(path) if stat.is_link else ""
            found[path] = (stat.mode, None if stat.is_dir else stat.size,
                           _digest(mount, path) if stat.is_file else text)
    return found


def _digest(mount: Any, path: str) -> str:
    digest = hashlib.sha256()
    handle = mount.open(path, os.O_RDONLY)
    try:
        at = 0
        while piece := handle.pread(1 << 20, at):
            digest.update(piece)
            at += len(piece)
    finally:
        handle.close()
    return digest.hexdigest()


@contextlib.contextmanager
def publishing(target: str, overwrite: bool = False) -> Iterator[str]:
    """A name beside `target` to write to; it gets the name `target` when the block ends well, else it is removed."""
    if not overwrite and os.path.lexists(target):
        raise Refused(f"{target} exists already")
    folder = os.path.dirname(os.path.abspath(target))
    temporary = os.path.join(folder, f".{os.path.basename(target)}.{os.urandom(6).hex()}")
    try:
        yield temporary
        for ending in SIDECARS:
            Path(temporary + ending).unlink(missing_ok=True)
        fd = os.open(temporary, os.O_RDONLY)                 # nobody has the new file open
        os.fsync(fd)
        os.close(fd)
        if overwrite:
            os.replace(temporary, target)
            for ending in SIDECARS:
                Path(target + ending).unlink(missing_ok=True)
        else:
            try:
                os.link(temporary, target)
            except FileExistsError:
                raise Refused(f"{target} exists already") from None
    finally:
        for ending in ("", *SIDECARS):
            Path(temporary + ending).unlink(missing_ok=True)


def checkpoint(vfs: Vfs) -> bool:
    """Move the write-ahead log into the main file; False where another program is in the way."""
    with vfs.db.lock:
        busy, _, _ = vfs.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy
