"""The index of a git repository (gitformat-index, version 2), written for files that are just as it says."""
from __future__ import annotations

import hashlib
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

SECOND = 10 ** 9
_ENTRY = struct.Struct(">10I")


class Entry:
    """One file. `mode` is git's: 0o100644, 0o100755, 0o120000. Without times, git looks at the file's content."""

    __slots__ = ("ctime", "digest", "ino", "mode", "mtime", "path", "size")

    def __init__(self, path: bytes, mode: int, digest: bytes) -> None:
        self.path = path
        self.mode = mode
        self.digest = digest
        self.ino = self.size = self.mtime = self.ctime = 0


def index(entries: Iterable[Entry], trees: dict[bytes, bytes], device: int, owner: tuple[int, int]) -> bytes:
    """The file's bytes. `trees`: the digest of each directory's tree by path (b"" the root); `owner`: as stat shows."""
    ordered = sorted(entries, key=lambda e: e.path)
    out = [b"DIRC", struct.pack(">II", 2, len(ordered))]
    for e in ordered:
        ctime, mtime = divmod(e.ctime, SECOND), divmod(e.mtime, SECOND)
        known = (device & 0xFFFFFFFF, e.ino & 0xFFFFFFFF) if e.ino else (0, 0)
        out.append(_ENTRY.pack(*ctime, *mtime, *known, e.mode, *(owner if e.ino else (0, 0)), e.size & 0xFFFFFFFF))
        out.append(e.digest)
        out.append(struct.pack(">H", min(len(e.path), 0xFFF)))
        out.append(e.path)
        out.append(bytes(8 - (40 + len(e.digest) + 2 + len(e.path)) % 8))
    if trees:
        body = _cached_tree(ordered, trees)
        out.append(b"TREE" + struct.pack(">I", len(body)) + body)
    data = b"".join(out)
    wide = len(next(iter(trees.values()), ordered[0].digest if ordered else bytes(20))) == 32
    return data + (hashlib.sha256 if wide else hashlib.sha1)(data).digest()


def _cached_tree(ordered: list[Entry], trees: dict[bytes, bytes]) -> bytes:
    """The extension that tells git that the index is what the commit has, directory by directory."""
    counts = dict.fromkeys(trees, 0)
    below: dict[bytes, list[bytes]] = {path: [] for path in trees}
    for path in sorted(trees):
        if path:
            below[path.rpartition(b"/")[0]].append(path)
    for entry in ordered:
        path = entry.path
        while path:
            path = path.rpartition(b"/")[0]
            counts[path] += 1
    out = []
    todo = [b""]
    while todo:
        path = todo.pop()
        out.append(b"%s\0%d %d\n" % (path.rpartition(b"/")[2], counts[path], len(below[path])) + trees[path])
        todo.extend(reversed(below[path]))
    return b"".join(out)
