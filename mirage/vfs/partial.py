"""A file of a layer of which only the changed chunks are in the delta; the base provides the rest."""
from __future__ import annotations

from mirage.vfs.handles import flush

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.vfs.layer import Origin, Store
    from mirage.vfs.types import Handle, Stat


class PartialHandle:
    """upper   the delta's file; a chunk that it has is complete
    lower   the base's file
    origin  tells how many bytes of the base still count (`kept`)
    """

    __slots__ = ("_ino", "_lower", "_store", "_upper", "origin", "seekable")
    is_dir = False

    def __init__(self, upper: Handle, lower: Handle, origin: Origin, store: Store, ino: int) -> None:
        self._upper = upper
        self._lower = lower
        self._store = store
        self._ino = ino
        self.origin = origin
        self.seekable = upper.seekable

    def _kept(self) -> int:
        """Bytes of the base that still show; what a truncation took away does not come back."""
        origin = self._store.origin(self._ino)
        return origin.kept or 0 if origin is not None else 0

    def pread(self, size: int, offset: int) -> bytes:
        total = self._upper.stat().size or 0
        size = min(size, total - offset)
        if size <= 0:
            return b""
        kept = self._kept()
        if offset >= kept:
            return self._upper.pread(size, offset)
        chunk, present = self._store.chunks(self._ino)
        out = bytearray(self._upper.pread(size, offset))
        at = offset
        while at < min(offset + size, kept):
            index = at // chunk
            end = min((index + 1) * chunk, offset + size, kept)
            if index not in present:
                while end < min(offset + size, kept) and end // chunk not in present:
                    end = min(end + chunk, offset + size, kept)
                self._copy(out, at, end, offset)
            at = end
        return bytes(out)

    def _copy(self, out: bytearray, at: int, end: int, offset: int) -> None:
        while at < end and (piece := self._lower.pread(end - at, at)):
            out[at - offset:at - offset + len(piece)] = piece
            at += len(piece)

    def pwrite(self, data: bytes, offset: int) -> int:
        end = (self._upper.stat().size or 0 if offset < 0 else offset) + len(data)
        self._fill(max(0, end - len(data)), end)
        return self._upper.pwrite(data, offset)

    def _fill(self, start: int, end: int) -> None:
        """The chunks at both ends of what is written, where it does not cover them, come from the base first."""
        kept = self._kept()
        if start >= end or start >= kept and start % self._store.chunks(self._ino)[0] == 0:
            return
        chunk, present = self._store.chunks(self._ino)
        for index in {start // chunk, (end - 1) // chunk}:
            low, high = index * chunk, min((index + 1) * chunk, kept)
            if index in present or low >= high or start <= low and end >= high:
                continue
            piece = bytearray(high - low)
            self._copy(piece, low, high, low)
            self._upper.pwrite(bytes(piece), low)

    def truncate(self, size: int) -> None:
        kept = self._kept()
        if size < kept:
            chunk, present = self._store.chunks(self._ino)
            if size % chunk and size // chunk not in present:
                low = size // chunk * chunk
                piece = bytearray(size - low)
                self._copy(piece, low, size, low)
                self._upper.pwrite(bytes(piece), low)
        self._upper.truncate(size)

    def stat(self) -> Stat:
        return self._upper.stat()

    def flush(self) -> None:
        flush(self._upper)

    def sync(self) -> None:
        self._upper.sync()

    def close(self) -> None:
        try:
            self._lower.close()
        finally:
            self._upper.close()
