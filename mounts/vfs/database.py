"""Vfs: an agent's files, values and tool calls in one SQLite file."""
from __future__ import annotations

import errno
import os
from types import SimpleNamespace

from mirage.mounts.vfs.connection import PATIENCE, Connection, DatabaseError
from mirage.mounts.vfs.kv import KeyValues
from mirage.mounts.vfs.schema import CHUNK_SIZE, SchemaError
from mirage.mounts.vfs.secret import secret_of
from mirage.mounts.vfs.tools import ToolLog
from mirage.mounts.vfs.tree import Tree
from mirage.vfs.facade import Files
from mirage.vfs.filesystem import FileSystem
from mirage.vfs.namespace import Namespace
from mirage.vfs.types import GID, UID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

    from mirage.mounts.vfs.aio import AsyncVfs


class Owned:
    """A mount on which everything new belongs to the terminal's user, whoever makes it."""

    def __init__(self, mount: Any) -> None:
        self._mount = mount
        self.capabilities = mount.capabilities

    def create(self, path: str, mode: int, uid: int, gid: int, exclusive: bool = False) -> Any:
        return self._mount.create(path, mode, UID, GID, exclusive)

    def replace(self, path: str, data: bytes, mode: int, uid: int, gid: int) -> None:
        self._mount.replace(path, data, mode, UID, GID)

    def mkdir(self, path: str, mode: int, uid: int, gid: int) -> None:
        self._mount.mkdir(path, mode, UID, GID)

    def mkfifo(self, path: str, mode: int, uid: int, gid: int) -> None:
        self._mount.mkfifo(path, mode, UID, GID)

    def symlink(self, target: str, path: str, uid: int, gid: int) -> None:
        self._mount.symlink(target, path, UID, GID)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mount, name)


class OwnerFileSystem(FileSystem):
    """Mode bits do not bind the owner of a database."""

    __slots__ = ()
    uid = 0
    gid = 0


class OwnerFiles(Files):
    """Files of a mount, for its owner: no policy, no mode bits."""

    __slots__ = ()

    def __init__(self, mount: Any) -> None:
        machine = SimpleNamespace(namespace=Namespace({"/": Owned(mount)}), gate=None)
        super().__init__(machine)
        self._fs = OwnerFileSystem(machine, self._fs.proc)

    @property
    def filesystem(self) -> FileSystem:
        """The same with every operation of a process: links, owners, times, attributes."""
        return self._fs


class Vfs:
    """A database: `fs` (files), `kv` (values), `tools` (log of calls), and `mount`, the tree as a mount. Thread-safe.

    path        the file, made where it is missing; ":memory:" is gone when it is closed
    readonly    nothing is written, not even by looking
    create      False: FileNotFoundError where there is no file
    chunk_size  of a new file, in bytes
    map_root    files of root (other implementations store no other owner) appear as the user's
    patience    seconds to wait for another program that keeps the database to itself
    key, cipher of an encrypted database, both or none (docs/vfs.md, needs the extra `vfs-crypt`); ValueError
    Raises SchemaError (a ValueError) for what is no Vfs database, or one of another version; OSError.
    Terminal takes the Vfs itself for its mount, and closes it.
    """

    def __init__(self, path: str | os.PathLike[str], *, readonly: bool = False, create: bool = True,
                 chunk_size: int = CHUNK_SIZE, map_root: bool = True, patience: float = PATIENCE,
                 key: str | None = None, cipher: str | None = None) -> None:
        secret = secret_of(key, cipher)
        text = os.fspath(path)
        text = text if text == ":memory:" else os.path.realpath(os.path.expanduser(text))
        self.path = text
        try:
            self.db = Connection(text, readonly=readonly, create=create, chunk_size=chunk_size, uid=UID, gid=GID,
                                 patience=patience, secret=secret)
        except DatabaseError as e:
            e.filename = text
            if e.errno == errno.EIO:
                note = e.note.removeprefix("vfs: ")
                raise SchemaError(f"the database is damaged: {note}" if "malformed" in note
                                  else f"not a Vfs database: {note}") from None
            raise
        self.mount = Tree(self.db, map_root)
        self.kv = KeyValues(self.db)
        self.tools = ToolLog(self.db)
        self.fs = OwnerFiles(self.mount)

    @classmethod
    def open(cls, path: str | os.PathLike[str], **options: Any) -> Vfs:
        """Vfs(path), in the words of the peer."""
        return cls(path, **options)

    @classmethod
    async def aopen(cls, path: str | os.PathLike[str], **options: Any) -> AsyncVfs:
        """The same database with coroutines."""
        from mirage.mounts.vfs.aio import AsyncVfs
        return await AsyncVfs.open(path, **options)

    def sync(self) -> None:
        """Return when everything written so far survives a loss of power."""
        self.mount.flush_all()
        self.db.sync()

    def close(self) -> None:
        self.mount.close()

    def __enter__(self) -> Vfs:
        return self

    def __exit__(self, kind: type[BaseException] | None, failure: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Vfs({self.path!r})"
