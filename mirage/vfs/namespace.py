"""The mount table: which mount answers for a path, and the directories that lead to a mount.

The table is an immutable snapshot; mounting swaps it. No lock is held while a mount is called.
"""
from __future__ import annotations

import errno
import threading
import time

from mirage.vfs.types import S_IFDIR, S_IFLNK, S_IFMT, Capabilities, Entry, Stat, error, new_device, permitted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Hollow:
    """An empty directory of root that nobody can write: "/" where nothing is mounted."""

    capabilities = Capabilities()

    def __init__(self) -> None:
        self._stat = directory_stat(time.time_ns())

    def list(self, path: str) -> list[Entry]:
        if path != "/":
            raise error(errno.ENOENT, path)
        return []

    def stat(self, path: str) -> Stat:
        if path != "/":
            raise error(errno.ENOENT, path)
        return self._stat

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        raise error(errno.EISDIR if path == "/" else errno.ENOENT, path)


def directory_stat(now: int) -> Stat:
    return Stat(S_IFDIR | 0o755, 4096, now, uid=0, gid=0, nlink=2)


class Mounted:
    """A mount at its place in the tree.

    point   "/" or "/a/b"
    mount   the backend; typed Any because everything beyond list, stat and read is optional
    device  Stat.dev for files of a backend that has no identity of its own
    """

    __slots__ = ("can", "cut", "device", "has_links", "lookup", "mount", "point", "prefix")

    def __init__(self, point: str, mount: Any, device: int) -> None:
        self.point = point
        self.prefix = "/" if point == "/" else point + "/"
        self.cut = 0 if point == "/" else len(point)
        self.mount = mount
        self.device = device
        self.can: Capabilities = mount.capabilities
        self.has_links = hasattr(mount, "readlink")
        self.lookup: Callable[[str, int], Stat | str]
        if "lookup" in self.can:
            self.lookup = mount.lookup if "identity" in self.can else self._found
        elif self.has_links:
            self.lookup = self._walk
        else:
            self.lookup = self._stat

    def inner(self, path: str) -> str:
        """The path inside the mount of a path of the tree."""
        return path[self.cut:] or "/"

    def outer(self, inner: str) -> str:
        """The path in the tree of a path inside the mount."""
        return self.point if inner == "/" else self.prefix + inner[1:]

    def backend(self, inner: str) -> tuple[str, str]:
        """Where the object lives: equal for two mounts of one backend, whatever their places in the tree."""
        where = getattr(self.mount, "backend", None)
        return where(inner) if where is not None else (f"mount:{self.device}", inner)

    def identify(self, inner: str, stat: Stat) -> Stat:
        """Give a Stat without identity the mount's device and an inode number made from the path."""
        if not stat.dev:
            stat.dev = self.device
            if not stat.ino:
                import hashlib
                digest = hashlib.blake2b(inner.encode("utf-8", "surrogateescape"), digest_size=6).digest()
                stat.ino = int.from_bytes(digest, "big") | 1
        return stat

    def _stat(self, path: str, uid: int) -> Stat:
        stat: Stat = self.mount.stat(path)
        return stat if stat.dev else self.identify(path, stat)

    def _found(self, path: str, uid: int) -> Stat | str:
        found: Stat | str = self.mount.lookup(path, uid)
        return found if isinstance(found, str) or found.dev else self.identify(path, found)

    def _walk(self, path: str, uid: int) -> Stat | str:
        at = ""
        if path != "/":
            for name in path[1:].split("/")[:-1]:
                at = f"{at}/{name}"
                stat = self._stat(at, uid)
                kind = stat.mode & S_IFMT
                if kind == S_IFLNK:
                    return at
                if kind != S_IFDIR:
                    raise error(errno.ENOTDIR, path)
                if not permitted(stat, 1, uid):
                    raise error(errno.EACCES, path)
        return self._stat(path, uid)


_FOLDERS = 4096                                              # of which a Table remembers the mount


class Table:
    """One snapshot. `children`: directory -> names of mount points (or ways to one) in it."""

    __slots__ = ("_by_folder", "by_point", "children", "nested", "prefixes", "root", "virtual")

    def __init__(self, mounts: dict[str, Mounted], hollow: Mounted) -> None:
        self.by_point = mounts
        self.root = mounts.get("/") or hollow
        nested = sorted((m for m in mounts.values() if m.point != "/"), key=lambda m: -len(m.point))
        self.nested = tuple(nested)
        self.prefixes = tuple(m.prefix for m in nested)
        self.children: dict[str, list[str]] = {}
        for point in sorted(mounts):
            while point != "/":
                head, _, name = point.rpartition("/")
                head = head or "/"
                names = self.children.setdefault(head, [])
                if name not in names:
                    names.append(name)
                point = head
        self.virtual = directory_stat(time.time_ns())
        self._by_folder: dict[str, Mounted] = {}

    def find(self, path: str) -> Mounted:
        """The mount with the longest prefix of an absolute, normalized path; kept by the folder of the path."""
        mounted = self.by_point.get(path)
        if mounted is None:
            folder = path[:path.rfind("/")]
            mounted = self._by_folder.get(folder)
            if mounted is None:
                if len(self._by_folder) >= _FOLDERS:
                    self._by_folder.clear()
                mounted = self._by_folder[folder] = self._search(path)
        return mounted

    def _search(self, path: str) -> Mounted:
        if (path + "/").startswith(self.prefixes):
            for mounted in self.nested:
                if path.startswith(mounted.prefix) or path == mounted.point:
                    return mounted
        return self.root

    def virtual_stat(self, path: str) -> Stat:
        """The Stat of a directory that exists because a mount is below it."""
        stat = Stat(self.virtual.mode, 4096, self.virtual.mtime_ns, uid=0, gid=0, nlink=2)
        return self.root.identify(path, stat)


class Namespace:
    """Mounts by place. Thread-safe."""

    __slots__ = ("_devices", "_hollow", "_lock", "table")

    def __init__(self, mounts: dict[str, Any] | None = None) -> None:
        self._lock = threading.Lock()
        self._devices: dict[int, int] = {}
        self._hollow = Mounted("/", Hollow(), new_device())
        self.table = Table({}, self._hollow)
        for point, mount in (mounts or {}).items():
            self.mount(point, mount)

    def mount(self, point: str, mount: Any) -> None:
        """Mount at `point`, an absolute path; its parents need not exist. ValueError: it is taken.

        An object that has a mount (a database) stands for it.
        """
        point = clean(point)
        mount = getattr(mount, "mount", mount)
        with self._lock:
            if point in self.table.by_point:
                raise ValueError(f"something is mounted at {point} already")
            device = self._devices.get(id(mount)) or getattr(mount, "device", 0) or new_device()
            self._devices[id(mount)] = device
            self.table = Table({**self.table.by_point, point: Mounted(point, mount, device)}, self._hollow)
        tell = getattr(mount, "mounted_at", None)
        if tell is not None:
            tell(point)

    def unmount(self, point: str) -> Any:
        """Take the mount away; the mount itself is returned and not closed."""
        point = clean(point)
        with self._lock:
            if point not in self.table.by_point:
                raise ValueError(f"nothing is mounted at {point}")
            rest = dict(self.table.by_point)
            mounted = rest.pop(point)
            self.table = Table(rest, self._hollow)
        return mounted.mount

    def mounts(self) -> list[Mounted]:
        """By place, sorted."""
        by_point = self.table.by_point
        return [by_point[point] for point in sorted(by_point)]

    def find(self, path: str) -> Mounted:
        return self.table.find(path)

    def close(self) -> None:
        """Close every mount that can be closed."""
        for mount in {id(m.mount): m.mount for m in self.mounts()}.values():
            close = getattr(mount, "close", None)
            if close is not None:
                close()


def clean(path: str) -> str:
    """An absolute path without empty, `.` and `..` components."""
    if not path.startswith("/"):
        raise ValueError(f"not an absolute path: {path!r}")
    out: list[str] = []
    for name in path.split("/"):
        if name == "..":
            del out[-1:]
        elif name and name != ".":
            out.append(name)
    return "/" + "/".join(out)
