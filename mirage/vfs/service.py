"""What every mount of a remote service needs: counters, retries, a rate limit, a bounded cache, errors as errno.

The functions that wait run on threads of the pool (mirage.process.blocking), so they may simply sleep.
"""
from __future__ import annotations

import errno
import os
import random
import threading
import time
from collections import OrderedDict

from mirage.vfs.secrets import hide
from mirage.vfs.types import annotate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import Any, TypeVar

    T = TypeVar("T")

ERRNO = {400: errno.EINVAL, 401: errno.EACCES, 403: errno.EACCES, 404: errno.ENOENT, 409: errno.EEXIST,
         410: errno.ENOENT, 413: errno.EFBIG, 429: errno.EAGAIN}


class Counters:
    """What a mount and its CLI cost so far: HTTP requests, bytes received, searches, candidates of searches."""

    __slots__ = ("_lock", "bytes", "calls", "candidates", "searches")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.calls = 0
        self.bytes = 0
        self.searches = 0
        self.candidates = 0

    def add(self, calls: int = 0, size: int = 0, searches: int = 0, candidates: int = 0) -> None:
        with self._lock:
            self.calls += calls
            self.bytes += size
            self.searches += searches
            self.candidates += candidates


class Failure(Exception):
    """A request that failed: `status` of HTTP, or 0 where there was no (whole) answer.

    wait  seconds that the service asks for (Retry-After), or None
    """

    def __init__(self, status: int, message: str, wait: float | None = None) -> None:
        message = hide(message)
        super().__init__(message)
        self.status = status
        self.message = message
        self.wait = wait

    @property
    def refused(self) -> bool:
        """The service did not carry it out: it can be sent again whatever it does."""
        return self.status == 429

    @property
    def transient(self) -> bool:
        """Trying again may help."""
        return self.status in (0, 408, 429) or self.status >= 500


def service_error(number: int, note: str, status: int = 0) -> OSError:
    """An OSError of a service; `note` is its own message, `status` the HTTP status (0: no answer)."""
    return annotate(OSError(number, os.strerror(number)), note=hide(note), status=status)


def as_oserror(service: str, failure: Failure) -> OSError:
    """404 ENOENT, 401 and 403 EACCES, 429 EAGAIN, 413 EFBIG, the rest EIO; with the service's message."""
    note = f"{service}: {failure.message}"
    if failure.status == 429 and failure.wait:
        note += f" (try again in {failure.wait:.0f} s)"
    number = ERRNO.get(failure.status, errno.EIO)
    return service_error(number, note, failure.status)


def connection_failed(place: str, error: Exception | None = None) -> Failure:
    """The Failure of a connection to `place`, a URL or `host:port`; no more of a URL is shown than its server."""
    from urllib.parse import urlsplit
    server = urlsplit(place).netloc.rpartition("@")[2] if "://" in place else place
    kind = f" ({type(error).__name__})" if error is not None else ""
    return Failure(0, f"the connection failed: {server or 'no server'}{kind}; check its address and the network")


class Retry:
    """How often and how long to try.

    tries  requests at most, the first one included
    base   seconds before the second one; doubles, with a random part
    most   the longest wait in seconds; a service that asks for more is not waited for. Quotas are by the minute
    """

    __slots__ = ("base", "most", "tries")

    def __init__(self, tries: int = 5, base: float = 0.25, most: float = 65.0) -> None:
        self.tries = tries
        self.base = base
        self.most = most

    def pause(self, attempt: int, failure: Failure) -> float | None:
        """Seconds to wait after attempt number `attempt` (from 1), or None to give up."""
        if attempt >= self.tries or not failure.transient:
            return None
        if failure.wait is not None:
            return failure.wait if failure.wait <= self.most else None
        return min(self.most, self.base * float(2 ** (attempt - 1))) * (0.5 + random.random() / 2)

    def run(self, service: str, attempt: Callable[[], T], safe: bool = True) -> T:
        """attempt() until it does not raise Failure. `safe`: sending it twice does no harm.

        What may have been carried out is not sent again unless it is safe. Raises OSError.
        """
        number = 1
        while True:
            try:
                return attempt()
            except Failure as failure:
                pause = self.pause(number, failure) if safe or failure.refused else None
                if pause is None:
                    raise as_oserror(service, failure) from None
                time.sleep(pause)
                number += 1


class RateLimiter:
    """A token bucket: `rate` units a second, `burst` at once; 0 is no limit."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate = rate
        self.burst = burst
        self._lock = threading.Lock()
        self._level = burst
        self._at = time.monotonic()

    def take(self, units: float) -> None:
        """Wait until `units` are there."""
        if not self.rate:
            return
        with self._lock:
            now = time.monotonic()
            self._level = min(self.burst, self._level + (now - self._at) * self.rate) - units
            self._at = now
            pause = -self._level / self.rate
        if pause > 0:
            time.sleep(pause)


class ByteCache:
    """Least recently used values, bounded by the sum of their sizes in bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()

    def get(self, key: Hashable) -> Any:
        """The value, or None."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: Any, size: int) -> None:
        """Keep a value; one that is larger than the cache is not kept."""
        with self._lock:
            old = self._values.pop(key, None)
            if old is not None:
                self.size -= old[1]
            if size > self.limit:
                return
            self._values[key] = (value, size)
            self.size += size
            while self.size > self.limit:
                _, (_, gone) = self._values.popitem(last=False)
                self.size -= gone

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            return key in self._values

    def drop(self, key: Hashable) -> None:
        with self._lock:
            old = self._values.pop(key, None)
            if old is not None:
                self.size -= old[1]

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self.size = 0


class Freshness:
    """When to ask the service whether something changed: once per typed line, else every `ttl` seconds.

    Outside of a process (doors without lines) it is every `ttl` seconds, and at least every second.
    """

    def __init__(self, ttl: float) -> None:
        self.ttl = ttl
        self._line: tuple[int, int] | None = None
        self._at = -1e9

    def due(self) -> bool:
        line = line_of()
        age = time.monotonic() - self._at
        if line is None:
            return age >= min(self.ttl, 1.0)
        return line != self._line or age >= self.ttl

    def done(self) -> None:
        """It was asked just now."""
        self._line = line_of()
        self._at = time.monotonic()

    def expire(self) -> None:
        """Ask at the next occasion."""
        self._line = None
        self._at = -1e9


_behalf = threading.local()


def line_of() -> tuple[int, int] | None:
    """The typed line that runs here: (its kernel, its number); None outside of a process."""
    from mirage.process import blocking
    kernel = blocking.current_kernel()
    return getattr(_behalf, "line", None) if kernel is None else (id(kernel), kernel.line)


def on_behalf(line: tuple[int, int] | None, function: Callable[..., T], *args: Any) -> T:
    """function(*args) on a thread of the pool, as a part of that line."""
    before = getattr(_behalf, "line", None)
    _behalf.line = line
    try:
        return function(*args)
    finally:
        _behalf.line = before
