"""The mount: names of URLs, sizes by HEAD, contents by GET with ranges."""
from __future__ import annotations

import email.utils
import errno
import threading
import time
from typing import TYPE_CHECKING

from mirage.mounts.http.client import HttpClient
from mirage.process import blocking
from mirage.vfs.describe import Description
from mirage.vfs.service import ByteCache, Freshness, service_error
from mirage.vfs.types import S_IFDIR, S_IFREG, Capabilities, Entry, Stat, enoent, error, new_device

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mirage.mounts.http.client import Reply
    from mirage.vfs.secrets import Secret

    Entries = list[Entry]

SMALL = 1 << 20                                              # contents up to here are kept


class Head:
    """What HEAD said of a URL; size None where it is unknown."""

    __slots__ = ("etag", "mtime_ns", "ranges", "size")

    def __init__(self, size: int | None, etag: str, mtime_ns: int, ranges: bool) -> None:
        self.size = size
        self.etag = etag
        self.mtime_ns = mtime_ns
        self.ranges = ranges


class Http:
    """urls      path in the mount -> URL
    token     a Secret, sent as Bearer
    private   servers on loopback and in private networks may be asked
    timeout   seconds without a byte
    ttl       seconds that a HEAD is believed within one typed line; every new line asks again
    max_file  bytes of the largest file
    cache     bytes of contents to keep
    """

    capabilities = Capabilities("read_many", "describe")

    def __init__(self, urls: Mapping[str, str], token: Secret | None = None, private: bool = False,
                 timeout: float = 30.0, ttl: float = 30.0, max_file: int = 1 << 30, cache: int = 64 << 20) -> None:
        self.urls = {f"/{name}": url for name, url in urls.items()}
        self.client = HttpClient(token, private, timeout, max_file)
        self.counters = self.client.counters
        self.contents = ByteCache(cache)
        self.device = new_device()
        self._fresh = Freshness(ttl)
        self._lock = threading.Lock()
        self._heads: dict[str, Head] = {}
        self._made = time.time_ns()
        self._folders = {"/"}
        for path in self.urls:
            while (path := path.rpartition("/")[0]):
                self._folders.add(path)

    # ---- looking

    def _missing(self, path: str) -> OSError:
        above = path
        while (above := above.rpartition("/")[0]):
            if above in self.urls:
                return error(errno.ENOTDIR, path)
        return enoent(path)

    def list(self, path: str) -> Entries:
        if path not in self._folders:
            raise error(errno.ENOTDIR, path) if path in self.urls else self._missing(path)
        prefix = path.rstrip("/") + "/"
        names: dict[str, Stat | None] = {}
        for name in self.urls:
            if name.startswith(prefix):
                first, slash, _ = name[len(prefix):].partition("/")
                names[first] = self._directory() if slash else None
        return [Entry(name, stat) for name, stat in names.items()]

    def stat(self, path: str) -> Stat:
        if path in self._folders:
            return self._directory()
        if path not in self.urls:
            raise self._missing(path)
        head = self.head(path)
        return Stat(S_IFREG | 0o444, head.size, head.mtime_ns, version=head.etag or None)

    def _directory(self) -> Stat:
        return Stat(S_IFDIR | 0o555, 4096, self._made, nlink=2)

    def head(self, path: str) -> Head:
        """What the server says of a file, asked once per typed line."""
        if self._fresh.due():
            with self._lock:
                self._heads.clear()
            self._fresh.done()
        found = self._heads.get(path)
        if found is None:
            found = self._heads[path] = blocking.call(self._ask, path)
        return found

    def _ask(self, path: str) -> Head:
        try:
            reply = self.client.send("HEAD", self.urls[path])
        except OSError as e:
            if getattr(e, "status", 0) not in (400, 405, 501):
                raise
            return Head(None, "", self._made, False)         # a server without HEAD
        headers = reply.headers
        length = headers.get("content-length", "")
        size = int(length) if length.isdigit() and not headers.get("content-encoding") else None
        return Head(size, _version(reply), _time(headers.get("last-modified", "")) or self._made,
                    headers.get("accept-ranges", "") == "bytes")

    # ---- content

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        if path in self._folders:
            raise error(errno.EISDIR, path)
        if path not in self.urls:
            raise self._missing(path)
        head = self.head(path)
        end = None if length is None else offset + length
        if length == 0 or head.size is not None and offset >= head.size:
            return b""
        whole: bytes | None = self.contents.get((path, head.etag)) if head.etag else None
        if whole is not None:
            return whole[offset:end]
        if (offset or end is not None) and head.ranges and head.size is not None and head.size > SMALL:
            return blocking.call(self._range, path, head, offset, min(head.size, end or head.size))
        return blocking.call(self._whole, path, head)[offset:end]

    def _whole(self, path: str, head: Head) -> bytes:
        reply = self.client.send("GET", self.urls[path])
        data = reply.content
        if reply.headers.get("content-encoding", "identity") not in ("", "identity"):
            raise service_error(errno.EIO, "http: the server sends an encoding that was not asked for")
        if _version(reply) != head.etag and head.etag or head.size is not None and len(data) != head.size:
            raise self._changed(path)
        if head.etag and len(data) <= SMALL:
            self.contents.put((path, head.etag), data, len(data))
        return data

    def _range(self, path: str, head: Head, start: int, end: int) -> bytes:
        reply = self.client.send("GET", self.urls[path], {"Range": f"bytes={start}-{end - 1}"})
        if _version(reply) != head.etag and head.etag:
            raise self._changed(path)
        if reply.status == 200:
            return reply.content[start:end]
        if reply.status == 416:
            raise self._changed(path)
        sent = reply.headers.get("content-range", "")
        if not sent.startswith(f"bytes {start}-") or len(reply.content) != end - start:
            raise service_error(errno.EIO, "http: the server sent another range than was asked for")
        return reply.content

    def _changed(self, path: str) -> OSError:
        self._heads.pop(path, None)
        return service_error(errno.EIO, "http: the file changed while it was read")

    def read_many(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | OSError]]:
        """Contents in the order of the paths, several at a time."""
        for path, data in zip(paths, blocking.map_ordered(self.read, paths), strict=True):
            if isinstance(data, Exception) and not isinstance(data, OSError):
                raise data
            yield path, data

    def describe(self) -> Description:
        return Description(f"{len(self.urls)} files of the web.")

    def close(self) -> None:
        self.contents.clear()
        self.client.close()

    def __repr__(self) -> str:
        return f"Http({len(self.urls)} URLs)"


def _version(reply: Reply) -> str:
    """Etag, else the time of the last change, else nothing."""
    return str(reply.headers.get("etag") or reply.headers.get("last-modified") or "")


def _time(text: str) -> int | None:
    try:
        return int(email.utils.parsedate_to_datetime(text).timestamp()) * 10**9
    except (TypeError, ValueError):
        return None
