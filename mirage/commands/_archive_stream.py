"""Compressed streams under archives: readers that find out the format, writers by name."""
from __future__ import annotations

import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.process.files import OpenFile
    from mirage.process.process import Process

BUFFER = 1 << 16
SUFFIXES = {"gz": "gzip", "tgz": "gzip", "taz": "gzip", "bz2": "bzip2", "tbz": "bzip2", "tbz2": "bzip2", "tz2": "bzip2",
            "xz": "xz", "txz": "xz", "lzma": "lzma", "tlz": "lzma"}
MAGIC = ((b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ\0", "xz"))


class BadStream(Exception):
    """Compressed data that cannot be expanded."""


def decompressor(kind: str) -> Any:
    if kind == "gzip":
        return zlib.decompressobj(31)
    if kind == "bzip2":
        import bz2
        return bz2.BZ2Decompressor()
    import lzma
    return lzma.LZMADecompressor()


def compressor(kind: str, level: int = 6) -> Any:
    if kind == "gzip":
        return zlib.compressobj(level, zlib.DEFLATED, 31)
    if kind == "bzip2":
        import bz2
        return bz2.BZ2Compressor(9)
    import lzma
    return lzma.LZMACompressor(lzma.FORMAT_ALONE if kind == "lzma" else lzma.FORMAT_XZ)


class Reader:
    """File-like: read(size) of the plain bytes of a file that may be compressed."""

    def __init__(self, proc: Process, file: OpenFile, kind: str | None = None) -> None:
        self.proc = proc
        self.file = file
        self.buffer = b""
        self.position = 0
        self.raw = self._fill(6)
        self.kind = kind or next((name for magic, name in MAGIC if self.raw.startswith(magic)), "")
        self.machine = decompressor(self.kind) if self.kind else None

    def _fill(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self.file.read(size - len(data))
            if not piece:
                break
            data += piece
        return data

    def read(self, size: int) -> bytes:
        while len(self.buffer) < size:
            piece = self._more(max(65536, size - len(self.buffer)))
            if not piece:
                break
            self.buffer = self.buffer + piece if self.buffer else piece
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        self.position += len(data)
        return data

    def tell(self) -> int:
        return self.position

    def _more(self, size: int) -> bytes:
        self.proc.check()
        if self.machine is None:
            raw, self.raw = self.raw, b""
            return raw or self.file.read(min(size, 1 << 20))
        while True:
            if self.machine.eof:
                rest = self.machine.unused_data or self.raw or self.file.read(65536)
                self.raw = b""
                if not rest.strip(b"\0") or not any(rest.startswith(magic) for magic, _ in MAGIC):
                    return b""
                self.machine = decompressor(self.kind)
                self.raw = rest
            raw, self.raw = self.raw or self.file.read(65536), b""
            if not raw:
                raise BadStream("unexpected end of file")
            try:
                out: bytes = self.machine.decompress(raw)
            except Exception as e:                           # zlib.error, OSError, LZMAError: all mean bad data
                raise BadStream(str(e)) from None
            if out:
                return out


class Writer:
    """write(data) compressed to an open file, in records of BUFFER bytes; finish() writes the rest."""

    def __init__(self, proc: Process, file: OpenFile, kind: str) -> None:
        self.proc = proc
        self.file = file
        self.machine = compressor(kind) if kind else None
        self.size = 0
        self._parts: list[bytes] = []
        self._held = 0

    def write(self, data: bytes) -> None:
        self.size += len(data)
        out = self.machine.compress(data) if self.machine is not None else data
        if out:
            self._parts.append(out)
            self._held += len(out)
            if self._held >= BUFFER:
                self._flush()
        self.proc.check()

    def _flush(self) -> None:
        out, self._parts, self._held = b"".join(self._parts), [], 0
        self.file.write(out)

    def finish(self) -> None:
        if self.machine is not None:
            self._parts.append(self.machine.flush())
        self._flush()
