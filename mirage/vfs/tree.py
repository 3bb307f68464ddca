"""The tree a Terminal has before anything is mounted: a small Debian-like system of one user, in memory."""
from __future__ import annotations

from mirage.vfs.types import GID, UID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any

    from mirage.mounts.memory import Memory

HOSTNAME = "mirage"

DIRECTORIES = ("/dev", "/etc", "/home", "/media", "/mnt", "/opt", "/proc", "/run", "/srv", "/usr", "/usr/bin",
               "/usr/lib", "/usr/local", "/usr/local/bin", "/usr/local/lib", "/usr/local/share", "/usr/sbin",
               "/usr/share", "/var", "/var/lib", "/var/log")
LINKS = {"/bin": "usr/bin", "/sbin": "usr/sbin", "/lib": "usr/lib"}
SYSTEM = frozenset(path.split("/")[1] for path in (*DIRECTORIES, *LINKS, "/root"))    # names in the root
FILES = {
    "/etc/passwd": "root:x:0:0:root:/root:/bin/bash\n"
                   "user:x:1000:1000:user:/home/user:/bin/bash\n"
                   "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "/etc/group": "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n",
    "/etc/hostname": f"{HOSTNAME}\n",
    "/etc/hosts": f"127.0.0.1\tlocalhost\n127.0.1.1\t{HOSTNAME}\n",
    "/etc/shells": "/bin/sh\n/bin/bash\n/usr/bin/sh\n/usr/bin/bash\n",
    "/etc/os-release": 'PRETTY_NAME="Mirage virtual terminal"\nNAME="Mirage"\nID=mirage\nID_LIKE=debian\n',
}


def default_root(**options: Any) -> Memory:
    """A Memory (with its options) with the usual tree: root's, but for home, /workspace and /tmp."""
    from mirage.mounts.memory import Memory
    memory = Memory(**options)
    memory.setattr("/", uid=0, gid=0)
    for path in DIRECTORIES:
        memory.mkdir(path, 0o755, 0, 0)
    memory.mkdir("/root", 0o700, 0, 0)
    for path in ("/tmp", "/var/tmp"):
        memory.mkdir(path, 0o1777, 0, 0)
    for path in ("/home/user", "/workspace"):
        memory.mkdir(path, 0o755, UID, GID)
    for path, text in FILES.items():
        memory.replace(path, text.encode(), 0o644, 0, 0)
    for path, target in LINKS.items():
        memory.symlink(target, path, 0, 0)
    return memory


def default_mounts(programs: Callable[[], Collection[str]], **options: Any) -> dict[str, Any]:
    """What is mounted where in a new Terminal; `programs` tells the names in /usr/bin."""
    from mirage.mounts.bin import Bin
    from mirage.mounts.dev import Dev
    from mirage.mounts.proc import Proc
    return {"/": default_root(**options), "/dev": Dev(), "/proc": Proc(), "/usr/bin": Bin(programs)}
