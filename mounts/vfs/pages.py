"""Turso's encryption of pages, and SQLite's checksum of frames of the write-ahead log.

A page on disk is ciphertext, tag and nonce; the last two fill the bytes that SQLite leaves free at its end. Page 1
begins with a mark in the place of SQLite's, and SQLite's header in the clear, which is authenticated. The number of
other pages is not: who can write to the file could exchange two of them unnoticed.
"""
from __future__ import annotations

import os

import numpy

from mirage.mounts.vfs.secret import CIPHERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.mounts.vfs.secret import Secret

PAGE = 4096
TAG = 16
CLEAR = 100                                                  # bytes of page 1 that can be read without the key
SQLITE = b"SQLite format 3\0"
TURSO = b"Turso\0"
FRAME_HEADER = 24


class BadPage(Exception):
    """A page that this key does not open."""


class Codec:
    """Encrypts and decrypts pages of one database. `reserved`: the bytes at a page's end that SQLite must spare."""

    def __init__(self, secret: Secret) -> None:
        number, _, self._nonce = CIPHERS[secret.cipher]
        self.reserved = TAG + self._nonce
        self.mark = TURSO + bytes([number]) + bytes(9)
        self._padding = bytes(self.reserved)
        self._seal, self._open = _aes(secret) if secret.cipher.startswith("aes") else _aegis(secret)

    def decrypt(self, number: int, page: bytes) -> bytes:
        """BadPage where the key, the cipher or the page is wrong."""
        sealed, nonce = page[:PAGE - self._nonce], page[PAGE - self._nonce:]
        try:
            if number > 1:
                return self._open(nonce, sealed, b"") + self._padding
            return SQLITE + page[16:CLEAR] + self._open(nonce, sealed[CLEAR:], page[:CLEAR]) + self._padding
        except Exception:                                    # each library has an exception of its own for it
            raise BadPage(f"page {number} cannot be decrypted") from None

    def encrypt(self, number: int, page: bytes) -> bytes:
        nonce = os.urandom(self._nonce)
        plain = page[:PAGE - self.reserved]
        if number > 1:
            return self._seal(nonce, plain, b"") + nonce
        header = self.mark + page[16:CLEAR]
        return header + self._seal(nonce, plain[CLEAR:], header) + nonce


def _aes(secret: Secret) -> tuple[Callable[..., bytes], Callable[..., bytes]]:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    gcm = AESGCM(secret.key)
    return gcm.encrypt, gcm.decrypt


def _aegis(secret: Secret) -> tuple[Callable[..., bytes], Callable[..., bytes]]:
    import importlib
    aegis, key = importlib.import_module(f"aeg.{secret.cipher}"), secret.key

    def seal(nonce: bytes, data: bytes, about: bytes) -> bytes:
        return bytes(aegis.encrypt(key, nonce, data, about or None, maclen=TAG))

    def unseal(nonce: bytes, data: bytes, about: bytes) -> bytes:
        return bytes(aegis.decrypt(key, nonce, data, about or None, maclen=TAG))

    return seal, unseal


def _weights(count: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """What each of the last `count` words adds to the first sum, and to the second; the last word last."""
    words = []
    even, odd = (1, 1), (0, 1)                               # what the words of a pair add: (first sum, second sum)
    for _ in range(count // 2):
        words += [odd, even]
        even, odd = _step(even), _step(odd)
    words.reverse()
    return (numpy.array([word[0] for word in words], dtype=numpy.uint32),
            numpy.array([word[1] for word in words], dtype=numpy.uint32))


def _step(sums: tuple[int, int]) -> tuple[int, int]:
    """The sums after a pair of words that are 0."""
    one = sums[0] + sums[1] & 0xFFFFFFFF
    return one, sums[1] + one & 0xFFFFFFFF


FIRST, SECOND = _weights(2 + (PAGE + 8) // 4)


def checksum(data: bytes, order: str, first: int, second: int) -> tuple[int, int]:
    """SQLite's running checksum of a frame (8 bytes of its header, then the page); `order` is that of the log."""
    words = numpy.empty(2 + len(data) // 4, dtype=numpy.uint32)
    words[0], words[1] = first, (second - first) & 0xFFFFFFFF
    words[2:] = numpy.frombuffer(data, dtype=f"{order}u4")
    return int(FIRST[-len(words):].dot(words)), int(SECOND[-len(words):].dot(words))
