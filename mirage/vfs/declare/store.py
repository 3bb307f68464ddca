"""What a declared mount keeps: values with their age, dropped by our own changes, asked for by one thread at a time."""
from __future__ import annotations

import itertools
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from mirage.process import blocking
from mirage.vfs.service import ByteCache

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

OVERHEAD = 200                                               # bytes that an entry costs beside its value


class Kept:
    """A value, and what asks for it again: `validators` is the maker's own (etags)."""

    __slots__ = ("at", "rendered", "serial", "size", "validators", "value")

    def __init__(self, value: Any, size: int, validators: Any = None) -> None:
        self.value = value
        self.size = size
        self.validators = validators
        self.rendered: dict[str, bytes] = {}
        self.at = 0.0
        self.serial = 0


class _Flight:
    """A value that somebody is asking for."""

    __slots__ = ("done", "failure", "kept")

    def __init__(self) -> None:
        self.done = threading.Event()
        self.kept: Kept | None = None
        self.failure: BaseException | None = None


class Store:
    """`limit` in bytes; `ttl` seconds until a value is asked for again."""

    def __init__(self, limit: int, ttl: float) -> None:
        self.ttl = ttl
        self._cache = ByteCache(limit)
        self._lock = threading.Lock()
        self._flights: dict[Hashable, _Flight] = {}
        self._serials = itertools.count(1)
        self._dropped: dict[str, int] = {}                   # path -> serial; of the path alone
        self._below: dict[str, int] = {}                     # path -> serial; of the path and what is below
        self._clear = 0

    def get(self, key: Hashable, path: str, make: Callable[[Kept | None], Kept], ttl: float | None = None) -> Kept:
        """The kept value, else make(previous), where `previous` was good once and may be asked about.

        path  the place in the tree that it belongs to, for `drop`
        """
        kept = self.peek(key, path, ttl)
        if kept is not None:
            return kept
        return blocking.call(partial(self._once, key, path, make, ttl))

    def peek(self, key: Hashable, path: str, ttl: float | None = None) -> Kept | None:
        """The value if it can be used without asking."""
        kept: Kept | None = self._cache.get(key)
        if kept is None or time.monotonic() - kept.at >= (self.ttl if ttl is None else ttl):
            return None
        return None if self._is_dropped(kept, path) else kept

    def mark(self) -> int:
        """For `put`: what is dropped from now on is not believed."""
        with self._lock:
            return next(self._serials)

    def put(self, key: Hashable, kept: Kept, mark: int | None = None) -> Kept:
        """Keep what came along with something else; `mark` from before that was asked for."""
        with self._lock:
            kept.serial = next(self._serials) if mark is None else mark
        kept.at = time.monotonic()
        self._cache.put(key, kept, kept.size + OVERHEAD)
        return kept

    def _is_dropped(self, kept: Kept, path: str) -> bool:
        if kept.serial < self._clear or kept.serial < self._dropped.get(path, 0):
            return True
        if not self._below:
            return False
        at = path
        while at and at != "/":
            if kept.serial < self._below.get(at, 0):
                return True
            at = at.rpartition("/")[0]
        return kept.serial < self._below.get("/", 0)

    def _once(self, key: Hashable, path: str, make: Callable[[Kept | None], Kept], ttl: float | None) -> Kept:
        with self._lock:
            flight = self._flights.get(key)
            first = flight is None
            if flight is None:
                flight = self._flights[key] = _Flight()
                serial = next(self._serials)
        if not first:
            flight.done.wait()
            if flight.failure is not None:
                raise flight.failure
            assert flight.kept is not None
            return flight.kept
        try:
            kept = self.peek(key, path, ttl)
            if kept is None:
                previous: Kept | None = self._cache.get(key)
                if previous is not None and self._is_dropped(previous, path):
                    previous = None
                started = time.monotonic()
                kept = make(previous)
                kept.at, kept.serial = started, serial
                self._cache.put(key, kept, kept.size + OVERHEAD)
            flight.kept = kept
            return kept
        except BaseException as e:
            flight.failure = e
            raise
        finally:
            with self._lock:
                if self._flights.get(key) is flight:
                    del self._flights[key]
            flight.done.set()

    def drop(self, paths: Iterable[str], below: bool = True) -> None:
        """What is kept of these places, and below them, is asked for again."""
        with self._lock:
            serial = next(self._serials)
            for path in paths:
                (self._below if below else self._dropped)[path] = serial
            self._flights.clear()                            # who asks from now on does not wait for older answers

    def clear(self) -> None:
        with self._lock:
            self._clear = next(self._serials)
        self._cache.clear()
