"""Content of a file with large holes: only the chunks that were written exist."""
from __future__ import annotations

CHUNK = 64 * 1024


class Sparse:
    """A byte sequence of length `size`, zero where nothing was written. `allocated` counts the bytes held."""

    __slots__ = ("chunks", "size")

    def __init__(self, data: bytes | bytearray = b"", size: int = 0) -> None:
        self.chunks: dict[int, bytearray] = {}
        self.size = 0
        if data:
            self.write(0, data)
        self.size = max(self.size, size)

    def __len__(self) -> int:
        return self.size

    @property
    def allocated(self) -> int:
        return len(self.chunks) * CHUNK

    def cost(self, offset: int, length: int) -> int:
        """Bytes that writing `length` bytes at `offset` would add to `allocated`."""
        indexes = range(offset // CHUNK, -(-(offset + length) // CHUNK))
        return sum(CHUNK for index in indexes if index not in self.chunks)

    def write(self, offset: int, data: bytes | bytearray) -> None:
        at, total, view = 0, len(data), memoryview(data)
        while at < total:
            index, start = divmod(offset + at, CHUNK)
            piece = view[at:at + CHUNK - start]
            chunk = self.chunks.get(index)
            if chunk is None:
                chunk = self.chunks[index] = bytearray(CHUNK)
            chunk[start:start + len(piece)] = piece
            at += len(piece)
        self.size = max(self.size, offset + total)

    def read(self, offset: int, length: int) -> bytes:
        end = min(self.size, offset + length)
        if end <= offset:
            return b""
        out = bytearray(end - offset)
        first, last = offset // CHUNK, (end - 1) // CHUNK
        if last - first < len(self.chunks):
            indexes = [index for index in range(first, last + 1) if index in self.chunks]
        else:
            indexes = [index for index in self.chunks if first <= index <= last]
        for index in indexes:
            start = index * CHUNK
            low, high = max(start, offset), min(start + CHUNK, end)
            out[low - offset:high - offset] = memoryview(self.chunks[index])[low - start:high - start]
        return bytes(out)

    def resize(self, size: int) -> None:
        if size < self.size:
            last, keep = divmod(size, CHUNK)
            for index in [i for i in self.chunks if i > last or (i == last and not keep)]:
                del self.chunks[index]
            if keep and last in self.chunks:
                self.chunks[last][keep:] = bytes(CHUNK - keep)
        self.size = size
