"""Proc: /proc with the processes of the session that looks, and nothing of the host."""
from __future__ import annotations

import errno
import time

from mirage.mounts.dev import running
from mirage.vfs.types import S_IFDIR, S_IFLNK, S_IFREG, UID, Capabilities, Entry, Stat, error, new_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILES = ("cmdline", "comm", "environ", "status")


class Proc:
    """Mounted at /proc: `version`, and for each process (and `self`) cmdline, comm, cwd, environ, fd and status.

    Process.open opens /proc/self/fd/N itself.
    """

    capabilities = Capabilities()

    def __init__(self) -> None:
        self.device = new_device()
        self._now = time.time_ns()

    def _find(self, path: str) -> tuple[Any, str]:
        """(process or None, name in its directory) for a path; ENOENT where there is nothing."""
        names = path[1:].split("/") if path != "/" else []
        if not names:
            return None, ""
        if names[0] == "version":
            if len(names) > 1:
                raise error(errno.ENOTDIR, path)
            return None, "version"
        here = running()
        process = None
        if here is not None and names[0] == "self":
            process = here
        elif here is not None and names[0].isascii() and names[0].isdecimal():
            process = here.kernel.processes.get(int(names[0]))
        name = "/".join(names[1:])
        if process is None:
            raise error(errno.ENOENT, path)
        known = name in ("", "cwd", "fd", *FILES)
        if not known and names[1] in ("cwd", *FILES):
            raise error(errno.ENOTDIR, path)
        if not known and not (names[1] == "fd" and len(names) == 3 and self._descriptor(process, names[2])):
            raise error(errno.ENOENT, path)
        return process, name

    @staticmethod
    def _descriptor(process: Any, name: str) -> Any:
        return process.fds.get(int(name)) if name.isascii() and name.isdecimal() and len(name) < 10 else None

    def list(self, path: str) -> list[Entry]:
        process, name = self._find(path)
        if path == "/":
            here = running()
            pids = [] if here is None else ["self", *map(str, sorted(here.kernel.processes))]
            return [Entry(entry) for entry in [*pids, "version"]]
        if name == "fd":
            return [Entry(str(fd)) for fd in sorted(process.fds)]
        if process is None or name:
            raise error(errno.ENOTDIR, path)
        return [Entry(entry) for entry in sorted(("cwd", "fd", *FILES))]

    def stat(self, path: str) -> Stat:
        process, name = self._find(path)
        if name.startswith("fd/"):
            stat: Stat = self._descriptor(process, name[3:]).stat()
            return stat
        kind = S_IFLNK | 0o777 if name == "cwd" else S_IFREG | 0o444 if name else S_IFDIR | 0o555
        if name == "fd":
            kind = S_IFDIR | 0o500
        size = 0 if kind & S_IFDIR or name == "cwd" else len(self._content(process, name))
        owner = UID if process is not None else 0
        return Stat(kind, size, self._now, uid=owner, gid=owner)

    def readlink(self, path: str) -> str:
        process, name = self._find(path)
        if name != "cwd":
            raise error(errno.EINVAL, path)
        return str(process.cwd)

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        process, name = self._find(path)
        if name in ("", "fd"):
            raise error(errno.EISDIR, path)
        if name != "version" and name not in FILES:
            raise error(errno.EINVAL, path)
        return self._content(process, name)[offset:None if length is None else offset + length]

    @staticmethod
    def _content(process: Any, name: str) -> bytes:
        if name == "version":
            text = "Mirage virtual terminal\n"
        elif name == "cmdline":
            text = "".join(word + "\0" for word in process.argv)
        elif name == "environ":
            text = "".join(f"{key}={value}\0" for key, value in process.env.items())
        elif name == "comm":
            text = process.name[:15] + "\n"
        else:
            state = "T (stopped)" if process.stopped else "R (running)" if process is running() else "S (sleeping)"
            parent = process.parent.pid if process.parent is not None else 0
            text = (f"Name:\t{process.name[:15]}\nState:\t{state}\nTgid:\t{process.pid}\nPid:\t{process.pid}\n"
                    f"PPid:\t{parent}\n" + "".join(f"{x}:\t{UID}\t{UID}\t{UID}\t{UID}\n" for x in ("Uid", "Gid")))
        return text.encode("utf-8", "surrogateescape")
