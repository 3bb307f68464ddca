"""The API of a database for asyncio: the same calls, each on a thread."""
from __future__ import annotations

import asyncio

from mirage.mounts.vfs.database import Vfs

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from types import TracebackType
    from typing import Any


class Awaitables:
    """`await awaitables.name(...)` is what `object.name(...)` gives."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._target, name)
        if not callable(method):
            raise AttributeError(name)

        async def call(*args: Any, **options: Any) -> Any:
            return await asyncio.to_thread(method, *args, **options)

        return call


class AsyncVfs:
    """`async with await Vfs.aopen(path) as vfs: data = await vfs.fs.read("/a")`. `fs`, `kv`, `tools` as in Vfs."""

    def __init__(self, vfs: Vfs) -> None:
        self.vfs = vfs
        self.fs = Awaitables(vfs.fs)
        self.kv = Awaitables(vfs.kv)
        self.tools = Awaitables(vfs.tools)

    @classmethod
    async def open(cls, path: str | os.PathLike[str], **options: Any) -> AsyncVfs:
        return cls(await asyncio.to_thread(Vfs, path, **options))

    async def sync(self) -> None:
        await asyncio.to_thread(self.vfs.sync)

    async def close(self) -> None:
        await asyncio.to_thread(self.vfs.close)

    async def __aenter__(self) -> AsyncVfs:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, failure: BaseException | None,
                        trace: TracebackType | None) -> None:
        await self.close()
