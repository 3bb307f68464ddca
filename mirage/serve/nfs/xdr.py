"""The external data representation (RFC 4506), as far as NFS needs it."""
from __future__ import annotations

import struct

_U32 = struct.Struct(">I")
_U64 = struct.Struct(">Q")


class BadArguments(Exception):
    """A call whose arguments cannot be read."""


class Reader:
    """Reads values from the arguments of a call. BadArguments where they are too short, or a length too large."""

    __slots__ = ("_at", "_data")

    def __init__(self, data: bytes | memoryview) -> None:
        self._data = memoryview(data)
        self._at = 0

    def _take(self, size: int) -> memoryview:
        end = self._at + size
        if end > len(self._data):
            raise BadArguments
        piece = self._data[self._at:end]
        self._at = end
        return piece

    def u32(self) -> int:
        return int(_U32.unpack(self._take(4))[0])

    def u64(self) -> int:
        return int(_U64.unpack(self._take(8))[0])

    def flag(self) -> bool:
        return self.u32() != 0

    def fixed(self, size: int) -> bytes:
        piece = bytes(self._take(size))
        self._take(-size % 4)
        return piece

    def view(self, limit: int) -> memoryview:
        """Opaque data of up to `limit` bytes, not copied."""
        size = self.u32()
        if size > limit:
            raise BadArguments
        piece = self._take(size)
        self._take(-size % 4)
        return piece

    def opaque(self, limit: int) -> bytes:
        return bytes(self.view(limit))

    def text(self, limit: int = 4096) -> str:
        return self.opaque(limit).decode("utf-8", "surrogateescape")

    def rest(self) -> memoryview:
        return self._data[self._at:]


def u32(value: int) -> bytes:
    return _U32.pack(value & 0xFFFFFFFF)


def u64(value: int) -> bytes:
    return _U64.pack(value & 0xFFFFFFFFFFFFFFFF)


def opaque(data: bytes | memoryview) -> bytes:
    return b"".join((_U32.pack(len(data)), data, bytes(-len(data) % 4)))


def text(value: str) -> bytes:
    return opaque(value.encode("utf-8", "surrogateescape"))
