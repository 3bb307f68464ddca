"""A mount that is made when it is first looked at: the modules of a declared service take a fifth of a second."""
from __future__ import annotations

import threading
import time

from mirage.vfs.service import Counters
from mirage.vfs.types import S_IFDIR, Capabilities, Stat, new_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from mirage.vfs.describe import Description
    from mirage.vfs.estimate import Cost
    from mirage.vfs.search import Candidates, Query
    from mirage.vfs.types import Entry, Handle


class LazyMount:
    """Stands for the mount that make(counters) gives, which counts there.

    capabilities  those of that mount; of open (for reading), read_many, search and describe
    """

    def __init__(self, make: Callable[[Counters], Any], capabilities: Sequence[str]) -> None:
        self.capabilities = Capabilities(*capabilities)
        self.counters = Counters()
        self.device = new_device()
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
                mount = self._make(self.counters)
                if hasattr(mount, "device"):
                    mount.device = self.device
                if hasattr(mount, "mounted_at"):
                    mount.mounted_at(self._point)
                self._mount = mount
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

    def open(self, path: str, flags: int, mode: int = 0) -> Handle:
        handle: Handle = self.made.open(path, flags, mode)
        return handle

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

    def walk_ahead(self, path: str) -> None:
        ahead = getattr(self.made, "walk_ahead", None)
        if ahead is not None:
            ahead(path)

    def ages_with_content(self, path: str) -> bool:
        says = getattr(self.made, "ages_with_content", None)
        return says is not None and bool(says(path))

    def describe(self) -> Description:
        found: Description = self.made.describe()
        return found

    def close(self) -> None:
        if self._mount is not None and hasattr(self._mount, "close"):
            self._mount.close()


class LazyStore(LazyMount):
    """For a store of files that may be writable."""

    def create(self, path: str, mode: int, uid: int, gid: int, exclusive: bool = False) -> Handle:
        handle: Handle = self.made.create(path, mode, uid, gid, exclusive)
        return handle

    def replace(self, path: str, data: bytes, mode: int, uid: int, gid: int) -> None:
        self.made.replace(path, data, mode, uid, gid)

    def mkdir(self, path: str, mode: int, uid: int, gid: int) -> None:
        self.made.mkdir(path, mode, uid, gid)

    def unlink(self, path: str) -> None:
        self.made.unlink(path)

    def rmdir(self, path: str) -> None:
        self.made.rmdir(path)

    def rename(self, old: str, new: str, *, replace: bool = True) -> None:
        self.made.rename(old, new, replace=replace)


class LazyLinkMount(LazyMount):
    """For a mount that has symbolic links; perhaps with the capability lookup."""

    def lookup(self, path: str, uid: int) -> Stat | str:
        found: Stat | str = self.stat(path) if path == "/" else self.made.lookup(path, uid)
        return found

    def readlink(self, path: str) -> str:
        text: str = self.made.readlink(path)
        return text
