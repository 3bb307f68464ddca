"""What a Layer keeps, in memory."""
from __future__ import annotations

from contextlib import nullcontext

from mirage.mounts.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from mirage.vfs.layer import Origin

    Names = list[str]


class MemoryStore:
    """A store (mirage.vfs.layer.Store) that is gone with the process. Files are copied up whole."""

    partial = False

    def __init__(self, mount: Memory | None = None) -> None:
        self.mount = Memory() if mount is None else mount
        self._whiteouts: set[str] = set()
        self._opaque: set[str] = set()
        self._redirects: dict[str, str] = {}
        self._origins: dict[int, Origin] = {}

    def transaction(self) -> AbstractContextManager[None]:
        return nullcontext()

    def whiteout(self, path: str) -> bool:
        return path in self._whiteouts

    def add_whiteout(self, path: str) -> None:
        self._whiteouts.add(path)

    def remove_whiteout(self, path: str) -> None:
        self._whiteouts.discard(path)

    def whiteouts(self) -> Names:
        return sorted(self._whiteouts)

    def opaque(self, path: str) -> bool:
        return path in self._opaque

    def add_opaque(self, path: str) -> None:
        self._opaque.add(path)

    def redirect(self, path: str) -> str | None:
        return self._redirects.get(path)

    def add_redirect(self, path: str, base: str) -> None:
        self._redirects[path] = base

    def redirects(self) -> Iterable[tuple[str, str]]:
        return list(self._redirects.items())

    def move_marks(self, old: str, new: str) -> None:
        def moved(path: str) -> str:
            return new + path[len(old):] if path == old or path.startswith(old + "/") else path

        self._whiteouts = {moved(path) for path in self._whiteouts}
        self._opaque = {moved(path) for path in self._opaque}
        self._redirects = {moved(path): base for path, base in self._redirects.items()}

    def drop_marks(self, path: str) -> None:
        def kept(mark: str) -> bool:
            return mark != path and not mark.startswith(path + "/")

        self._whiteouts = {mark for mark in self._whiteouts if kept(mark)}
        self._opaque = {mark for mark in self._opaque if kept(mark)}
        self._redirects = {mark: base for mark, base in self._redirects.items() if kept(mark)}

    def origin(self, ino: int) -> Origin | None:
        return self._origins.get(ino)

    def add_origin(self, ino: int, origin: Origin) -> None:
        self._origins[ino] = origin

    def sparse(self, path: str, origin: Origin) -> None:
        raise NotImplementedError

    def chunks(self, ino: int) -> tuple[int, set[int]]:
        raise NotImplementedError
