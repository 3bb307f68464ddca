"""A mount that is made when it is first looked at: the modules of a declared service take a fifth of a second."""
from __future__ import annotations

import threading
import time

from mirage.vfs.service import Counters
from mirage.vfs.types import S_IFDIR, Capabilities, Stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from mirage.vfs.describe import Description
    from mirage.vfs.estimate import Cost
    from mirage.vfs.search import Candidates, Query
    from mirage.vfs.types import Entry


class LazyMount:
    """Stands for the mount that make(counters) gives, which counts there.

    capabilities  those of that mount; of read_many, search and describe
    """

    def __init__(self, make: Callable[[Counters], Any], capabilities: Sequence[str]) -> None:
        self.capabilities = Capabilities(*capabilities)
        self.counters = Counters()
        self._make = make
        self._lock = threading.Lock()
        self._mount: Any = None
        self._point = "/"
        self._born = time.time_ns()

    @property
    def made(self) -> Any:
        """The mount itself."""
        with self._lock:
            if self._mount is None:
                self._mount = self._make(self.counters)
                self._mount.mounted_at(self._point)
            return self._mount

    def mounted_at(self, point: str) -> None:
        self._point = point

    def list(self, path: str) -> Iterable[Entry]:
        found: Iterable[Entry] = self.made.list(path)
        return found

    def stat(self, path: str) -> Stat:
        if path == "/":
            return Stat(S_IFDIR | 0o555, 4096, self._born, nlink=2)
        found: Stat = self.made.stat(path)
        return found

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        data: bytes = self.made.read(path, offset, length)
        return data

    def read_many(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | OSError]]:
        results: Iterator[tuple[str, bytes | OSError]] = self.made.read_many(paths)
        return results

    def search(self, path: str, query: Query) -> Candidates | None:
        found: Candidates | None = self.made.search(path, query)
        return found

    def names(self, path: str) -> Sequence[str]:
        """Every path of an item; a mount may have several for one."""
        find = getattr(self.made, "names", None)
        paths: Sequence[str] = find(path) if find is not None else [path]
        return paths

    def estimate(self, path: str, action: str, queries: Sequence[Query] = ()) -> Cost:
        """Nothing is known before the mount is made."""
        from mirage.vfs.estimate import unknown
        estimate = getattr(self._mount, "estimate", None)
        found: Cost = estimate(path, action, queries) if estimate is not None else unknown(len(queries))
        return found

    def describe(self) -> Description:
        found: Description = self.made.describe()
        return found

    def close(self) -> None:
        if self._mount is not None:
            self._mount.close()


class LazyLinkMount(LazyMount):
    """For a mount that has symbolic links."""

    def readlink(self, path: str) -> str:
        text: str = self.made.readlink(path)
        return text
