"""`--backend nfs`: the database is exported on loopback and mounted by the kernel's own NFS client."""
from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time

from mirage.console.vfs.model import Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from mirage.mounts.vfs import Vfs
    from mirage.vfs.inodes import Inodes

NO_MOUNT = 4


def why_not() -> str:
    """Why this machine cannot mount over NFS; "" where it can, as far as can be told beforehand."""
    with contextlib.suppress(OSError):
        with open("/proc/filesystems", encoding="ascii") as file:
            known = {line.split()[-1] for line in file}
        if not {"nfs", "nfs4"} & known and not os.path.isdir(f"/lib/modules/{os.uname().release}/kernel/fs/nfs"):
            return "the kernel has no NFS client"
    if shutil.which("mount.nfs") is None:
        return "the program mount.nfs is not installed (Debian: nfs-common)"
    if os.geteuid():
        return "mounting over NFS needs root"
    return ""


def is_mounted(path: str) -> bool:
    """Is an NFS file system mounted there, also one whose server does not answer any more?"""
    from mirage.serve.fuse.mount import mounts
    return any(point.path == path for point in mounts("nfs"))


class NfsMounted:
    """`with NfsMounted(vfs, inodes, place):` the same face as mirage.serve.fuse.mounted.Mounted."""

    def __init__(self, vfs: Vfs, inodes: Inodes, mountpoint: str) -> None:
        from mirage.mounts.vfs.inodes import TreeInodes
        from mirage.serve.nfs.server import NfsServer
        reason = why_not()
        if reason:
            raise Failure(f"{reason}; use --backend fuse", NO_MOUNT)
        self.path = os.path.realpath(mountpoint)
        self._server = NfsServer(inodes, stable=isinstance(inodes, TreeInodes), sync=vfs.db.sync)
        port = self._server.port
        options = f"vers=3,tcp,port={port},mountport={port},nolock,soft,timeo=10,retrans=2"
        done = subprocess.run(["mount", "-t", "nfs", "-o", options + (",ro" if vfs.db.readonly else ""), "127.0.0.1:/",
                               self.path], capture_output=True, text=True, timeout=60)
        if done.returncode:
            self._server.close()
            lines = done.stderr.strip().splitlines()
            raise Failure(f"cannot mount over NFS: {lines[-1] if lines else 'mount failed'}", NO_MOUNT)

    def wait(self, timeout: float | None = None) -> bool:
        """Until it is unmounted by anybody; False where that took longer."""
        until = None if timeout is None else time.monotonic() + timeout
        while is_mounted(self.path):
            if until is not None and time.monotonic() >= until:
                return False
            time.sleep(0.1)
        return True

    def close(self) -> None:
        if is_mounted(self.path) and subprocess.run(["umount", self.path], capture_output=True).returncode:
            subprocess.run(["umount", "-l", self.path], capture_output=True)
        self._server.close()

    def __enter__(self) -> NfsMounted:
        return self

    def __exit__(self, kind: type[BaseException] | None, failure: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()
