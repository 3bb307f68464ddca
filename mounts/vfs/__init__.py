"""Vfs: a file system, a key-value store and a log of tool calls in one SQLite file (docs/vfs.md)."""
from __future__ import annotations

from mirage.mounts.vfs.database import Vfs
from mirage.mounts.vfs.schema import SchemaError
from mirage.vfs.registry import HostPath
from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.mounts.vfs.tree import Tree

__all__ = ["SchemaError", "Vfs", "build"]

ARGUMENT = "file"
SUFFIXES = {"ro": ("readonly", True), "rw": ("readonly", False)}
OPTIONS = {"file": HostPath, "readonly": bool, "key": Secret, "cipher": str}


def build(file: str, readonly: bool = False, key: Secret | None = None, cipher: str | None = None) -> Tree:
    """The provider `vfs`: the tree of the database `file`, which is made where it is missing."""
    try:
        return Vfs(file, readonly=readonly, key=None if key is None else key.reveal().strip(), cipher=cipher).mount
    except ValueError as e:                                  # SchemaError, or a key that is none
        raise OSError(0, str(e), file) from None
