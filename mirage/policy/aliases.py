"""Every path that an object has in the tree: through further mounts of its backend, and through hard links."""
from __future__ import annotations

import time

from mirage.vfs.gateway import linked
from mirage.vfs.types import S_IFDIR, S_IFMT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.vfs.namespace import Mounted, Table
    from mirage.vfs.resolve import Target

    Index = dict[tuple[int, int], list[str]]

AGE = 1.0                                                    # seconds that an index of hard links is good for
PATIENCE = 10                                                # or this many times what making it took


class Aliases:
    """Thread-safe: caches are replaced as a whole."""

    def __init__(self, machine: Any) -> None:
        self._machine = machine
        self.unshared: Table | None = None                   # the table, where nothing is mounted twice in it
        self._shared: tuple[Table | None, dict[str, list[tuple[Mounted, str]]]] = (None, {})
        self._index: tuple[Table | None, Index, float] = (None, {}, 0.0)

    def shared(self, table: Table) -> dict[str, list[tuple[Mounted, str]]]:
        """backend -> its mounts with the backend's path of their roots; only backends that are mounted twice."""
        known, shared = self._shared
        if known is not table:
            found: dict[str, list[tuple[Mounted, str]]] = {}
            for mounted in (table.root, *table.nested):
                backend, root = mounted.backend("/")
                found.setdefault(backend, []).append((mounted, root))
            shared = {backend: places for backend, places in found.items() if len(places) > 1}
            self._shared = (table, shared)
            self.unshared = None if shared else table
        return shared

    def names(self, target: Target) -> list[str]:
        """The object's own path first."""
        table = self._machine.namespace.table
        shared, stat = self.shared(table), target.stat
        several = stat is not None and stat.nlink > 1 and stat.mode & S_IFMT != S_IFDIR
        paths = [target.path]
        if shared:
            backend, inner = target.backend
            for mounted, root in shared.get(backend, ()):
                if inner == root or root == "/" or inner.startswith(root + "/"):
                    path = mounted.outer(inner if root == "/" else inner[len(root):] or "/")
                    if path not in paths:
                        paths.append(path)
        if several and stat is not None and "identity" in target.mounted.can:
            paths.extend(path for path in self._links(table, stat.identity) if path not in paths)
        elif several:                                        # a service whose items are in several folders
            find = getattr(target.mounted.mount, "names", None)
            for inner in find(target.inner) if find is not None else ():
                path = target.mounted.outer(inner)
                if path not in paths:
                    paths.append(path)
        return paths

    def tree(self, target: Target) -> list[str]:
        """Paths under which something below a directory appears: its names, and mounts of a folder in it."""
        paths = self.names(target)
        shared = self.shared(self._machine.namespace.table)
        if shared:
            backend, inner = target.backend
            prefix = inner.rstrip("/") + "/"
            for mounted, root in shared.get(backend, ()):
                if root.startswith(prefix) and mounted.point not in paths:
                    paths.append(mounted.point)
        return paths

    def add(self, old: Target, new: Target) -> None:
        """`old` gets the further or other name `new`; a name that goes is kept until the index is made anew."""
        table, index, _ = self._index
        stat = old.stat
        if stat is None or table is not self._machine.namespace.table:
            return
        known = index.get(stat.identity)
        if known is not None:
            known.extend(self.names(new))
        elif stat.nlink == 1:
            index[stat.identity] = [*self.names(old), *self.names(new)]

    def moved(self) -> None:
        """A directory got another name: the paths of an index of hard links are wrong."""
        if self._index[0] is not None:
            self._index = (None, {}, 0.0)

    def _links(self, table: Table, identity: tuple[int, int]) -> list[str]:
        known, index, until = self._index
        if known is not table or identity not in index or time.monotonic() > until:
            started = time.monotonic()
            index = {}
            mounts = {id(m.mount): m.mount for m in (table.root, *table.nested) if "identity" in m.can}
            found = {key: linked(mount) for key, mount in mounts.items()}
            for mounted in (table.root, *table.nested):
                for number, paths in found.get(id(mounted.mount), {}).items():
                    index.setdefault(number, []).extend(mounted.outer(path) for path in paths)
            ended = time.monotonic()
            self._index = (table, index, ended + max(AGE, PATIENCE * (ended - started)))
        return index.get(identity, [])
