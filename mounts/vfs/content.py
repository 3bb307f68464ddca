"""Content of files: chunks in fs_data, and what was written but is not there yet.

Missing chunks and short ones read as zeros. Every chunk but the last is stored whole; a gap of up to HOLE bytes is
stored as zeros (agentfs-sdk shows a file with missing chunks too short), a larger one stays a hole.
"""
from __future__ import annotations

import errno
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.mounts.vfs.connection import Connection

HOLE = 1 << 20
PIECE = 1 << 20                                              # bytes read, or removed, under one lock
MAX_FILE_SIZE = (1 << 44) - 4096


def read(db: Connection, ino: int, offset: int, length: int) -> bytes:
    """Bytes of the stored content; `offset` and `length` lie within the size of the file. Under the lock."""
    size = db.chunk_size
    first, start = divmod(offset, size)
    last = (offset + length - 1) // size
    if first == last:
        if start or length < size // 2:
            row = db.execute("SELECT substr(data, ?, ?) FROM fs_data WHERE ino = ? AND chunk_index = ?",
                             (start + 1, length, ino, first)).fetchone()
        else:
            row = db.execute("SELECT data FROM fs_data WHERE ino = ? AND chunk_index = ?", (ino, first)).fetchone()
        data = as_bytes(row[0]) if row is not None else b""
        return data if len(data) == length else data[:length].ljust(length, b"\0")
    out = bytearray(length)
    view = memoryview(out)
    for index, blob in db.execute("SELECT chunk_index, data FROM fs_data WHERE ino = ? AND chunk_index >= ?"
                                  " AND chunk_index <= ? ORDER BY chunk_index", (ino, first, last)):
        at = index * size - offset
        skip = max(0, -at)
        piece = memoryview(as_bytes(blob))[skip:min(size, length - at)]
        view[at + skip:at + skip + len(piece)] = piece
    return bytes(out)


def write(db: Connection, ino: int, new_size: int, index: int, ranges: list[list[int]],
          buffer: bytes | bytearray) -> None:
    """Put the `ranges` of `buffer` (a chunk long) into chunk `index` of a file that will have `new_size` bytes."""
    low, high = ranges[0][0], ranges[-1][1]
    needed = max(high, min(db.chunk_size, new_size - index * db.chunk_size))
    if len(ranges) == 1 and not low and high == needed:
        put(db, ino, index, memoryview(buffer)[:high])
        return
    merged = bytearray(chunk(db, ino, index))
    if len(merged) < needed:
        merged.extend(bytes(needed - len(merged)))
    for a, b in ranges:
        merged[a:b] = memoryview(buffer)[a:b]
    put(db, ino, index, merged)


def chunk(db: Connection, ino: int, index: int) -> bytes:
    row = db.execute("SELECT data FROM fs_data WHERE ino = ? AND chunk_index = ?", (ino, index)).fetchone()
    return as_bytes(row[0]) if row is not None else b""


def as_bytes(data: bytes | str) -> bytes:
    """What the column `data` holds; text, where somebody used the sqlite3 shell."""
    return data.encode() if isinstance(data, str) else data


def put(db: Connection, ino: int, index: int, data: bytes | bytearray | memoryview) -> None:
    db.execute("INSERT OR REPLACE INTO fs_data (ino, chunk_index, data) VALUES (?, ?, ?)", (ino, index, data))


def put_all(db: Connection, ino: int, data: bytes | memoryview, first: int = 0) -> None:
    """Whole content from chunk `first` on."""
    size = db.chunk_size
    view = memoryview(data)
    if len(view) <= size:
        if len(view):
            db.execute("INSERT INTO fs_data (ino, chunk_index, data) VALUES (?, ?, ?)", (ino, first, view))
        return
    db.executemany("INSERT INTO fs_data (ino, chunk_index, data) VALUES (?, ?, ?)",
                   ((ino, first + at // size, view[at:at + size]) for at in range(0, len(view), size)))


def grow(db: Connection, ino: int, old: int, new: int, partial: bool) -> None:
    """The file of `old` bytes is going to have bytes only from `new` on: fill the last chunk and a small gap.

    Of a `partial` file only a chunk that is there, since a missing one may be the base's.
    """
    size = db.chunk_size
    if new <= old:
        return
    last, used = divmod(old, size)
    end, rest = divmod(new, size)
    if used:
        held = chunk(db, ino, last)
        wanted = size if end > last else rest
        if len(held) < wanted and (held or new - old <= HOLE and not partial):
            put(db, ino, last, held + bytes(wanted - len(held)))
        last += 1
    if new - old <= HOLE and not partial:
        for index in range(last, end):
            put(db, ino, index, bytes(size))
        if rest and end >= last:
            put(db, ino, end, bytes(rest))


def shrink(db: Connection, ino: int, size: int) -> None:
    """Nothing is kept from byte `size` on."""
    last, used = divmod(size, db.chunk_size)
    db.execute("DELETE FROM fs_data WHERE ino = ? AND chunk_index >= ?", (ino, last + bool(used)))
    if used:
        held = chunk(db, ino, last)
        if len(held) > used:
            put(db, ino, last, held[:used])


def clear(db: Connection, ino: int, offset: int, end: int, size: int, most: int) -> int:
    """The bytes from `offset` to `end`, at most `size`, of a file of `size` bytes read as zeros; a large range becomes
    a hole. Where more than `most` bytes are stored there only the first of them go: the offset behind those."""
    chunk_size = db.chunk_size
    row = db.execute("SELECT chunk_index FROM fs_data WHERE ino = ? AND chunk_index >= ? ORDER BY chunk_index"
                     " LIMIT 1 OFFSET ?", (ino, offset // chunk_size, max(1, most // chunk_size))).fetchone()
    if row is not None:
        end = min(end, row[0] * chunk_size)
    hole = end - offset > HOLE
    for index in (range(offset // chunk_size, -(-end // chunk_size)) if not hole and end > offset
                  else {offset // chunk_size, (end - 1) // chunk_size} if end > offset else ()):
        held = bytearray(chunk(db, ino, index))
        low, high = max(0, offset - index * chunk_size), min(chunk_size, end - index * chunk_size)
        if low < len(held):
            held[low:min(high, len(held))] = bytes(min(high, len(held)) - low)
            put(db, ino, index, held)
    if hole:
        first, last = -(-offset // chunk_size), end // chunk_size if end < size else -(-end // chunk_size)
        db.execute("DELETE FROM fs_data WHERE ino = ? AND chunk_index >= ? AND chunk_index < ?", (ino, first, last))
    return end


def seek(db: Connection, ino: int, offset: int, size: int, data: bool) -> int:
    """The first byte from `offset` on that is data (or that is in a hole; the end counts as one). ENXIO: none."""
    if not 0 <= offset < size:
        raise OSError(errno.ENXIO, os.strerror(errno.ENXIO))
    chunk_size = db.chunk_size
    index = offset // chunk_size
    rows = db.execute("SELECT chunk_index FROM fs_data WHERE ino = ? AND chunk_index >= ? ORDER BY chunk_index",
                      (ino, index))
    for (found,) in rows:
        if data:
            rows.close()
            return max(offset, int(found) * chunk_size)
        if found != index:
            rows.close()
            break
        index += 1
    if data:
        raise OSError(errno.ENXIO, os.strerror(errno.ENXIO))
    return min(size, max(offset, index * chunk_size))


class Buffer:
    """What was written to one inode and is not in the database yet."""

    __slots__ = ("appends", "base", "chunks", "dirty", "end", "keeps_mode", "size", "time")

    def __init__(self, chunk_size: int, base: int, keeps_mode: bool = False) -> None:
        self.size = chunk_size
        self.base = base                                     # size of the file when the first byte was written
        self.end = base
        self.appends = True                                  # nothing but appends so far
        self.dirty = 0
        self.time = 0
        self.keeps_mode = keeps_mode                         # the set-user and set-group bits stay: root wrote it
        self.chunks: dict[int, tuple[bytearray | bytes, list[list[int]]]] = {}

    def write(self, data: bytes | memoryview, offset: int, append: bool, now: int) -> None:
        if not append:
            self.appends = False
        view, size, at = memoryview(data), self.size, 0
        while at < len(view):
            index, start = divmod(offset + at, size)
            piece = view[at:at + size - start]
            at += len(piece)
            if len(piece) == size:
                self.dirty += size - (_covered(self.chunks[index][1]) if index in self.chunks else 0)
                self.chunks[index] = (bytes(piece), [[0, size]])
                continue
            held, ranges = self.chunks.get(index) or (bytearray(), [])
            if not isinstance(held, bytearray):
                held = bytearray(held)
            self.chunks[index] = (held, ranges)
            if len(held) < start:
                held.extend(bytes(start - len(held)))        # as long as what was written so far
            held[start:start + len(piece)] = piece
            self.dirty += _add(ranges, start, start + len(piece))
        self.end = max(self.end, offset + len(view))
        self.time = now

    def written(self) -> int:
        """Where what was written ends."""
        last = max(self.chunks)
        return last * self.size + self.chunks[last][1][-1][1]

    def overlay(self, data: bytes, offset: int) -> bytes:
        """`data`, read at `offset` from the database, with what is newer here."""
        out, size = bytearray(data), self.size
        for index in range(offset // size, (offset + len(out) - 1) // size + 1) if out else ():
            found = self.chunks.get(index)
            if found is not None:
                base = index * size - offset
                for a, b in found[1]:
                    low, high = max(a + base, 0), min(b + base, len(out))
                    if low < high:
                        out[low:high] = memoryview(found[0])[low - base:high - base]
        return bytes(out)

    def moved(self, base: int) -> Buffer:
        """The same appends for a file that is `base` bytes long by now."""
        whole = Buffer(self.size, base, self.keeps_mode)
        for index in sorted(self.chunks):
            held, ranges = self.chunks[index]
            for a, b in ranges:
                whole.write(bytes(memoryview(held)[a:b]), whole.end, True, self.time)
        return whole


def _covered(ranges: list[list[int]]) -> int:
    return sum(b - a for a, b in ranges)


def _add(ranges: list[list[int]], low: int, high: int) -> int:
    """Add [low, high) to sorted, disjoint ranges; how many bytes are new."""
    if ranges and ranges[-1][0] <= low <= ranges[-1][1] <= high:
        new = high - ranges[-1][1]
        ranges[-1][1] = high
        return new
    before = _covered(ranges)
    kept = [r for r in ranges if r[1] < low or r[0] > high]
    joined = [r for r in ranges if r[1] >= low and r[0] <= high]
    kept.append([min([low, *(r[0] for r in joined)]), max([high, *(r[1] for r in joined)])])
    ranges[:] = sorted(kept)
    return _covered(ranges) - before


def check_size(size: int) -> None:
    """EINVAL or EFBIG for what cannot be the size of a file."""
    if size < 0:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    if size > MAX_FILE_SIZE:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
