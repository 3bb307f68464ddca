"""Open inodes and their content: what is written waits in memory and is stored in short transactions."""
from __future__ import annotations

import errno
import os
import time

from mirage.mounts.vfs import content
from mirage.mounts.vfs.handle import Open
from mirage.mounts.vfs.naming import SHORT, Naming
from mirage.mounts.vfs.nodes import SECOND, Node
from mirage.vfs.types import (
    unprivileged,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

DIRTY = 32 << 20                                             # bytes that wait in memory, of all files together
WAITS = 200_000_000                                          # nanoseconds, see flush_old


class Contents(Naming):
    """Files by inode number."""

    def read_node(self, node: Node, offset: int, length: int) -> bytes:
        """Under the lock."""
        held = self.open_files.get(node.ino) if self.dirty else None
        buffer = held.buffer if held is not None else None
        size = node.size if buffer is None else max(node.size, buffer.end)
        length = min(length, size - offset)
        if length <= 0:
            return b""
        stored_length = min(length, node.size - offset)
        data = content.read(self.db, node.ino, offset, stored_length) if stored_length > 0 else b""
        if buffer is not None:
            data = buffer.overlay(data.ljust(length, b"\0"), offset)
        return data

    def hold(self, ino: int, fresh: bool = False) -> Open | None:
        """One more handle for an inode; None: it has just been removed by another process. Under the lock.

        fresh  it was made in the running transaction
        """
        held = self.open_files.get(ino)
        if held is None:
            if not self.db.readonly:
                if not self.opens.hold(ino):
                    return None
                if not fresh and self.db.execute("SELECT 1 FROM fs_inode WHERE ino = ?", (ino,)).fetchone() is None:
                    self.opens.drop(ino)
                    return None
            held = self.open_files[ino] = Open(ino)
        held.count += 1
        return held

    def release(self, held: Open) -> None:
        """One handle less; the last one of a file without names removes it. Its buffer is flushed already."""
        if self.closed:
            return
        with self.db.lock:
            held.count -= 1
            if held.count:
                return
            if self.lingers:
                self._lingering.append(held)
                return
        self._let_go(held)

    def _let_go(self, held: Open) -> None:
        with self.db.reading:
            if held.count or self.open_files.get(held.ino) is not held:
                return                                       # opened again, or removed
            del self.open_files[held.ino]
            self.opens.drop(held.ino)
            node = self.load(held.ino)
            unnamed = node is not None and not node.nlink and not self.db.readonly
        if unnamed:
            self.remove_inode(held.ino)

    def settle(self, lingers: bool) -> None:
        """Let go of the files that were closed since the last call. Until the next call, files that are closed wait
        for it if `lingers`: a file is often opened again at once."""
        with self.db.lock:
            waiting, self._lingering = self._lingering, []
            self.lingers = lingers
        for held in waiting:
            self._let_go(held)

    def pwrite(self, held: Open, data: bytes | memoryview, offset: int, keeps_mode: bool = False) -> int:
        """Where what was written ends; `offset` -1 appends. `keeps_mode`: the set-user and set-group bits stay."""
        buffer = held.buffer
        if buffer is not None and (buffer.dirty + len(data) > SHORT or self.dirty >= DIRTY):
            self.flush(held)
        if len(data) > SHORT:
            for at in range(0, len(data), SHORT):
                end = self.pwrite(held, data[at:at + SHORT], offset if offset < 0 else offset + at, keeps_mode)
            return end
        with self.db.glancing:
            node = self.load(held.ino)
            if node is None:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
            buffer = held.buffer
            size = node.size if buffer is None else max(node.size, buffer.end)
            at = size if offset < 0 else offset
            content.check_size(at + len(data))
            if data:
                if buffer is None:
                    buffer = held.buffer = content.Buffer(self.db.chunk_size, size, keeps_mode)
                elif offset < 0 and buffer.appends:
                    at = buffer.end
                buffer.keeps_mode = buffer.keeps_mode and keeps_mode
                before = buffer.dirty
                buffer.write(data, at, offset < 0, self.now())
                self.dirty += buffer.dirty - before
            return at + len(data)

    def flush(self, held: Open, stored: Callable[[Node], object] | None = None) -> None:
        """What waits in memory goes into the database, in one transaction, at the end of which `stored` is called."""
        buffer = held.buffer
        if buffer is None:
            return
        self.db.make_room(buffer.dirty)
        try:
            with self.db.writing:
                buffer = held.buffer
                if buffer is None:
                    return
                node = self.load(held.ino)
                held.buffer = None
                self.dirty -= buffer.dirty
                if node is None:
                    raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
                self._store(node, buffer)
                if stored is not None:
                    stored(node)
        except OSError:
            if held.buffer is None and buffer is not None:
                held.buffer = buffer
                self.dirty += buffer.dirty
            raise

    def _store(self, node: Node, buffer: content.Buffer) -> None:
        now = buffer.time
        if buffer.appends and node.size != buffer.base:
            buffer = buffer.moved(node.size)                 # another process made it longer
        size = max(node.size, buffer.written())
        first = min(buffer.chunks)
        partial = self._is_partial(node.ino)
        content.grow(self.db, node.ino, node.size, first * buffer.size + buffer.chunks[first][1][0][0], partial)
        for index in sorted(buffer.chunks):
            held, ranges = buffer.chunks[index]
            content.write(self.db, node.ino, size, index, ranges, held)
        mode = node.mode if buffer.keeps_mode else unprivileged(node.mode)
        self.db.execute("UPDATE fs_inode SET size = ?, mode = ?, mtime = ?, mtime_nsec = ?, ctime = ?, ctime_nsec = ?"
                        " WHERE ino = ?", (size, mode, *divmod(now, SECOND), *divmod(now, SECOND), node.ino))
        node.size, node.mode, node.mtime, node.ctime, node.stat = size, mode, now, now, None

    def _is_partial(self, ino: int) -> bool:
        if self._partial is None:
            self._partial = self.db.execute("SELECT 1 FROM fs_partial_origin LIMIT 1").fetchone() is not None
        return self._partial and self.db.execute("SELECT 1 FROM fs_partial_origin WHERE ino = ?",
                                                 (ino,)).fetchone() is not None

    def origin_added(self, partial: bool) -> None:
        """A file comes from a base, or a part of it still is there. In a transaction."""
        self._partial = partial or self._partial
        self._beside = True

    def truncate(self, held: Open, size: int, always: bool = False) -> None:
        """Cut or grow to `size` bytes, at once."""
        content.check_size(size)
        if size:
            self.flush(held)
        self.shorten(held.ino, size)
        with self.db.writing:
            if held.buffer is not None and not size:
                self.dirty -= held.buffer.dirty
                held.buffer = None
            node = self.load(held.ino)
            if node is None:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
            self.resize(node, size)

    def shorten(self, ino: int, size: int) -> None:
        """Cut a file that is to have `size` bytes from its end, in short transactions, until one more will do."""
        rows = max(1, SHORT // self.db.chunk_size)
        first = -(-size // self.db.chunk_size)
        with self.db.reading:
            node = self.load(ino)
            if node is None or node.size - size <= SHORT:
                return
        while True:
            self.db.make_room()
            with self.db.writing:
                row = self.db.execute("SELECT chunk_index FROM fs_data WHERE ino = ? AND chunk_index >= ?"
                                      " ORDER BY chunk_index DESC LIMIT 1 OFFSET ?", (ino, first, rows)).fetchone()
                node = self.load(ino)
                if row is None or node is None:
                    return
                self.resize(node, min(node.size, (row[0] + 1) * self.db.chunk_size))

    def resize(self, node: Node, size: int) -> None:
        """In a transaction, behind `shorten`."""
        if size < node.size:
            content.shrink(self.db, node.ino, size)
            self.db.execute("UPDATE fs_partial_origin SET kept_size = min(kept_size, ?) WHERE ino = ?",
                            (size, node.ino))
        elif size > node.size:
            content.grow(self.db, node.ino, node.size, size, self._is_partial(node.ino))
        node.size = size
        self.content_changed(node)

    def flush_all(self) -> None:
        """Everything that waits in memory goes into the database. The first error is raised after all were tried."""
        failure: OSError | None = None
        for held in list(self.open_files.values()):
            try:
                self.flush(held)
            except OSError as e:
                failure = failure or e
        if failure is not None:
            raise failure

    def flush_old(self) -> None:
        """The same for what nobody has added to for a while, so that others see it. Errors are for sync and close."""
        until = time.time_ns() - WAITS
        for held in list(self.open_files.values()):
            buffer = held.buffer
            if buffer is not None and buffer.time < until:
                try:
                    self.flush(held)
                except OSError:
                    continue
