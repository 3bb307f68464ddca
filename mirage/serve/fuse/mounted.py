"""A mounted file system: served by threads of this process until it is unmounted."""
from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import weakref

from mirage.serve.fuse import watcher
from mirage.serve.fuse.mount import KIND, SECONDS, MountError, detach_dead, mount_fuse, mounted_at, unmount
from mirage.serve.fuse.server import Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from mirage.vfs.inodes import Inodes

_living: weakref.WeakSet[Mounted] = weakref.WeakSet()


class Mounted:
    """`with Mounted(inodes, "/mnt/x"):` real programs see the file system there.

    mountpoint   a directory; what a dead server left mounted there is taken away first
    source       shown by `mount` and `df`
    allow_other  every user may enter; "root": root may, besides the one who mounts
    readonly     the kernel refuses every change
    watch        a small process takes the mount away should this one be killed
    report       gets exceptions that are bugs of a handler
    Raises MountError, or OSError for a mountpoint that is no directory.
    """

    def __init__(self, inodes: Inodes, mountpoint: str | os.PathLike[str], *, source: str = "vfs", kind: str = KIND,
                 allow_other: bool | str = False, readonly: bool = False, watch: bool = True,
                 report: Callable[[BaseException], None] | None = None) -> None:
        self.path = os.path.abspath(os.fspath(mountpoint))
        detach_dead(self.path)
        if not os.path.isdir(self.path):
            os.listdir(self.path)                            # ENOENT, ENOTDIR
        self.path = os.path.realpath(self.path)
        uids = frozenset((os.getuid(), 0)) if allow_other == "root" else None
        device = mount_fuse(self.path, source=source, kind=kind, checked=inodes.checked, allow_other=bool(allow_other),
                            readonly=readonly)
        self.server = Server(inodes, device, uids=uids, report=report)
        self.server.start()
        self._watcher: subprocess.Popen[bytes] | None = None
        if not self.server.ready.wait(SECONDS):
            with contextlib.suppress(OSError):
                unmount(self.path)
            raise MountError(0, f"cannot mount on {self.path}: the kernel did not begin to ask")
        if watch:
            self._watch()
        _living.add(self)

    def _watch(self) -> None:
        point = mounted_at(self.path)
        if point is not None:
            self._watcher = subprocess.Popen(
                [sys.executable, "-I", "-S", watcher.__file__, self.path, point.device], stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, cwd="/")

    def wait(self, timeout: float | None = None) -> bool:
        """Until it is unmounted (by anybody) and everything is stored; False where that took longer."""
        return self.server.ended.wait(timeout)

    def close(self, patience: float = 1.0) -> None:
        """Unmount. Programs that still use it have `patience` seconds to end; what they wrote is stored then."""
        _living.discard(self)
        if not self.server.ended.is_set():
            with contextlib.suppress(OSError):
                unmount(self.path)
            if not self.wait(patience):
                self.server.abort()
                self.wait(patience)
        if self._watcher is not None and self._watcher.stdin is not None:
            self._watcher.stdin.close()
            self._watcher.wait()
            self._watcher = None

    def __enter__(self) -> Mounted:
        return self

    def __exit__(self, kind: type[BaseException] | None, failure: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


@atexit.register
def _close_all() -> None:
    for mounted in list(_living):
        mounted.close()
