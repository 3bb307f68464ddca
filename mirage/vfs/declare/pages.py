"""An open file whose content comes in pages: they are asked for up to where it is read, and no further."""
from __future__ import annotations

from typing import TYPE_CHECKING

from mirage.vfs.handles import StatHandle
from mirage.vfs.types import Stat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEEP = 16 << 20                                              # bytes of one open file that are kept for going back


class PagesHandle(StatHandle):
    """pages  gives the bytes of every page, from the first one each time it is called

    Bytes behind are kept up to KEEP; going back further starts again.
    """

    __slots__ = ("_at", "_data", "_end", "_pages", "_turn")
    seekable = True

    def __init__(self, pages: Callable[[], Iterator[bytes]], stat: Stat) -> None:
        super().__init__(stat)
        self._pages = pages
        self._start()

    def _start(self) -> None:
        self._turn = self._pages()
        self._data = bytearray()
        self._at = 0                                         # offset of the first byte of _data
        self._end = False

    def pread(self, size: int, offset: int) -> bytes:
        if offset < self._at:
            self._start()
        while not self._end and self._at + len(self._data) <= offset:
            self._more()
        start = offset - self._at
        return bytes(self._data[start:start + size])

    def _more(self) -> None:
        piece = next(self._turn, None)
        if piece is None:
            self._end = True
            self._stat = Stat(self._stat.mode, self._at + len(self._data), self._stat.mtime_ns)
            return
        self._data += piece
        if len(self._data) > KEEP + len(piece):
            gone = len(self._data) - KEEP
            del self._data[:gone]
            self._at += gone

    def close(self) -> None:
        self._turn = iter(())


def read_range(pages: Iterator[bytes], offset: int, length: int | None) -> bytes:
    """The bytes from `offset`, `length` at most; no page behind them is asked for."""
    pieces: list[bytes] = []
    while length is None or length > 0:
        piece = next(pages, None)
        if piece is None:
            break
        part = piece[offset:] if length is None else piece[offset:offset + length]
        offset = max(0, offset - len(piece))
        pieces.append(part)
        length = None if length is None else length - len(part)
    return b"".join(pieces)
