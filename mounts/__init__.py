"""The providers, one folder each. Import them as `mirage.mounts`; a name here is imported on first use."""
from __future__ import annotations

if not __name__.startswith("mirage."):
    raise ImportError("import mirage.mounts instead of mounts: the folder is a room of the package mirage")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.mounts.host import Host
    from mirage.mounts.memory import Memory
    from mirage.mounts.vfs import Vfs
    from mirage.vfs.registry import make_mount

__all__ = ["Host", "Memory", "Vfs", "make_mount"]


def __getattr__(name: str) -> object:
    if name == "Memory":
        from mirage.mounts.memory import Memory
        return Memory
    if name == "Host":
        from mirage.mounts.host import Host
        return Host
    if name == "Vfs":
        from mirage.mounts.vfs import Vfs
        return Vfs
    if name == "make_mount":
        from mirage.vfs.registry import make_mount
        return make_mount
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
