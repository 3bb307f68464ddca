"""The MOUNT program, version 3: from a path to the handle of a directory."""
from __future__ import annotations

from mirage.serve.nfs.nfs3 import STATUS
from mirage.serve.nfs.rpc import AUTH_NONE, AUTH_SYS, Credentials
from mirage.serve.nfs.xdr import Reader, opaque, text, u32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.serve.nfs.nfs3 import Export
    from mirage.serve.nfs.rpc import Procedure


class MountProgram:
    """The only export is `/`; directories below it can be mounted too."""

    number, version = 100005, 3
    once: frozenset[int] = frozenset()

    def __init__(self, export: Export) -> None:
        self._export = export
        self.procedures: dict[int, Procedure] = {0: self._nothing, 1: self._mount, 2: self._dump, 3: self._nothing,
                                                 4: self._nothing, 5: self._exports}

    def _nothing(self, who: Credentials, args: Reader) -> bytes:
        return b""

    def _mount(self, who: Credentials, args: Reader) -> bytes:
        try:
            node = self._export.resolve(args.text(1024))
        except OSError as e:
            return u32(STATUS.get(e.errno or 0, 5))
        return b"".join((u32(0), opaque(self._export.handle(node)), u32(2), u32(AUTH_SYS), u32(AUTH_NONE)))

    def _dump(self, who: Credentials, args: Reader) -> bytes:
        return u32(0)

    def _exports(self, who: Credentials, args: Reader) -> bytes:
        return u32(1) + text("/") + u32(0) + u32(0)
