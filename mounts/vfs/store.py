"""What a Layer keeps, in a database. Whiteouts are where AgentFS has them too."""
from __future__ import annotations

import time

from mirage.mounts.vfs.names import shown, stored
from mirage.vfs.layer import Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from mirage.mounts.vfs.tree import Tree

    Names = list[str]

MARKS = ("fs_whiteout", "fs_opaque", "fs_redirect")
SIGNED = (1 << 63) - 1                                       # what SQLite keeps of an inode number


class VfsStore:
    """A store (mirage.vfs.layer.Store): the delta is the tree of the database; marks and origins are tables of it."""

    partial = True

    def __init__(self, mount: Tree) -> None:
        self.mount = mount
        self._db = mount.db
        self._loaded = False
        self._whiteouts: set[str] = set()
        self._opaque: set[str] = set()
        self._redirects: dict[str, str] = {}
        mount.listeners.append(self._forget)
        mount.show_owners()

    def _forget(self) -> None:
        self._loaded = False

    def _load(self) -> None:
        """Under the lock."""
        if self._loaded:
            return
        there = {row[0] for row in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        rows = {table: self._db.execute(f"SELECT * FROM {table}").fetchall() if table in there else []
                for table in MARKS}
        self._whiteouts = {shown(row[0]) for row in rows["fs_whiteout"]}
        self._opaque = {shown(row[0]) for row in rows["fs_opaque"]}
        self._redirects = {shown(row[0]): shown(row[1]) for row in rows["fs_redirect"]}
        self._loaded = True

    def transaction(self) -> AbstractContextManager[None]:
        return self._db.writing

    def whiteout(self, path: str) -> bool:
        with self._db.reading:
            self._load()
            return path in self._whiteouts

    def whiteouts(self) -> Names:
        with self._db.reading:
            self._load()
            return sorted(self._whiteouts)

    def add_whiteout(self, path: str) -> None:
        with self._db.writing:
            self._load()
            self._whiteouts.add(path)
            self._db.execute("INSERT OR REPLACE INTO fs_whiteout (path, parent_path, created_at) VALUES (?, ?, ?)",
                             (stored(path), stored(path.rpartition("/")[0] or "/"), int(time.time())))

    def remove_whiteout(self, path: str) -> None:
        with self._db.writing:
            self._load()
            self._whiteouts.discard(path)
            self._db.execute("DELETE FROM fs_whiteout WHERE path = ?", (stored(path),))

    def opaque(self, path: str) -> bool:
        with self._db.reading:
            self._load()
            return path in self._opaque

    def add_opaque(self, path: str) -> None:
        with self._db.writing:
            self._load()
            self._opaque.add(path)
            self._db.execute("INSERT OR REPLACE INTO fs_opaque VALUES (?)", (stored(path),))

    def redirect(self, path: str) -> str | None:
        with self._db.reading:
            self._load()
            return self._redirects.get(path)

    def add_redirect(self, path: str, base: str) -> None:
        with self._db.writing:
            self._load()
            self._redirects[path] = base
            self._db.execute("INSERT OR REPLACE INTO fs_redirect VALUES (?, ?)", (stored(path), stored(base)))

    def redirects(self) -> Iterable[tuple[str, str]]:
        with self._db.reading:
            self._load()
            return list(self._redirects.items())

    def move_marks(self, old: str, new: str) -> None:
        with self._db.writing:
            for table in MARKS:
                for (text,) in self._below(table, old):
                    path = new + shown(text)[len(old):]
                    self._db.execute(f"UPDATE OR REPLACE {table} SET path = ? WHERE path = ?", (stored(path), text))
                    if table == "fs_whiteout":
                        self._db.execute("UPDATE fs_whiteout SET parent_path = ? WHERE path = ?",
                                         (stored(path.rpartition("/")[0] or "/"), stored(path)))
            self._forget()

    def drop_marks(self, path: str) -> None:
        with self._db.writing:
            for table in MARKS:
                for row in self._below(table, path):
                    self._db.execute(f"DELETE FROM {table} WHERE path = ?", row)
            self._forget()

    def _below(self, table: str, path: str) -> list[tuple[str]]:
        text = stored(path)
        return self._db.execute(f"SELECT path FROM {table} WHERE path = ? OR path > ? AND path < ?",
                                (text, text + "/", text + "0")).fetchall()

    def origin(self, ino: int) -> Origin | None:
        with self._db.reading:
            if not self._db.complete:
                return None
            row = self._db.execute(
                "SELECT o.base_path, o.base_ino, o.base_version, o.base_size, o.base_mtime_ns, o.base_ctime_ns,"
                " p.kept_size FROM fs_layer_origin o LEFT JOIN fs_partial_origin p ON p.ino = o.ino WHERE o.ino = ?",
                (ino,)).fetchone()
        return None if row is None else Origin(shown(row[0]), *row[1:])

    def add_origin(self, ino: int, origin: Origin) -> None:
        with self._db.writing:
            self._db.execute("INSERT OR REPLACE INTO fs_layer_origin VALUES (?, ?, ?, ?, ?, ?, ?)",
                             (ino, stored(origin.path), origin.size, origin.mtime_ns, origin.ctime_ns,
                              origin.ino & SIGNED, origin.version))
            self.mount.origin_added(origin.kept is not None)
            if origin.kept is None:
                self._db.execute("DELETE FROM fs_partial_origin WHERE ino = ?", (ino,))
            else:
                self._db.execute("INSERT OR REPLACE INTO fs_partial_origin VALUES (?, ?)", (ino, origin.kept))

    def sparse(self, path: str, origin: Origin) -> None:
        """The file gets its size without any content."""
        with self._db.writing:
            node = self.mount.node(path)
            self.add_origin(node.ino, origin)
            self._db.execute("UPDATE fs_inode SET size = ? WHERE ino = ?", (origin.size, node.ino))
            node.size, node.stat = origin.size, None

    def chunks(self, ino: int) -> tuple[int, set[int]]:
        with self._db.reading:
            present = {row[0] for row in self._db.execute("SELECT chunk_index FROM fs_data WHERE ino = ?", (ino,))}
            held = self.mount.open_files.get(ino)
            if held is not None and held.buffer is not None:
                present.update(held.buffer.chunks)
            return self._db.chunk_size, present
