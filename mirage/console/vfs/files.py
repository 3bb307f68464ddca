"""`vfs fs`: look at files and change them, without a mount."""
from __future__ import annotations

import contextlib
import os
import stat as st
import sys

from mirage.console.vfs.model import Failure
from mirage.console.vfs.opening import open_database, view
from mirage.mounts.vfs.database import OwnerFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.console.vfs.model import Parsed
    from mirage.vfs.types import Stat

LETTERS = {st.S_IFDIR: "d", st.S_IFREG: "f", st.S_IFLNK: "l", st.S_IFIFO: "p", st.S_IFCHR: "c", st.S_IFBLK: "b",
           st.S_IFSOCK: "s"}
PIECE = 1 << 20


def letter(stat: Stat) -> str:
    return LETTERS.get(st.S_IFMT(stat.mode), "?")


def absolute(path: str) -> str:
    return path if path.startswith("/") else "/" + path


def ls(parsed: Parsed) -> int:
    path = absolute(parsed.get("FS_PATH"))
    with open_database(parsed) as vfs:
        mount = view(vfs)
        files = OwnerFiles(mount)
        entries = files.list(path) if files.stat(path).is_dir else None
        if entries is None:
            stat = files.stat(path, follow=False)
            out(f"{letter(stat)} {path}")
            return 0
        for entry in sorted(entries, key=lambda e: e.name):
            stat = entry.stat or files.stat(f"{path}/{entry.name}", follow=False)
            out(f"{letter(stat)} {entry.name}")
    return 0


def out(text: str) -> None:
    sys.stdout.buffer.write(os.fsencode(text) + b"\n")
    sys.stdout.buffer.flush()


def cat(parsed: Parsed) -> int:
    with open_database(parsed) as vfs:
        handle = OwnerFiles(view(vfs)).filesystem.open(absolute(parsed.get("FILE_PATH")), os.O_RDONLY)
        try:
            at = 0
            while piece := handle.pread(PIECE, at):
                sys.stdout.buffer.write(piece)
                at += len(piece)
            sys.stdout.buffer.flush()
        finally:
            handle.close()
    return 0


def write(parsed: Parsed) -> int:
    path = absolute(parsed.get("FILE_PATH"))
    with open_database(parsed) as vfs:
        OwnerFiles(view(vfs)).write(path, os.fsencode(parsed.get("CONTENT")), parents=True)
        vfs.sync()
    return 0


def rm(parsed: Parsed) -> int:
    path = absolute(parsed.get("FILE_PATH"))
    with open_database(parsed) as vfs:
        files = OwnerFiles(view(vfs))
        if files.stat(path, follow=False).is_dir and not parsed.get("recursive"):
            raise Failure(f"{path}: Is a directory (remove it with --recursive)")
        files.remove(path, recursive=bool(parsed.get("recursive")))
        vfs.sync()
    return 0


def mkdir(parsed: Parsed) -> int:
    with open_database(parsed) as vfs:
        OwnerFiles(view(vfs)).mkdir(absolute(parsed.get("DIR_PATH")), parents=bool(parsed.get("parents")))
        vfs.sync()
    return 0


def stat(parsed: Parsed) -> int:
    path = absolute(parsed.get("FILE_PATH"))
    with open_database(parsed) as vfs:
        files = OwnerFiles(view(vfs))
        found = files.stat(path, follow=False)
        values = {"path": path, "inode": found.ino, "type": letter(found), "mode": f"{found.mode & 0o7777:04o}",
                  "links": found.nlink, "uid": found.uid, "gid": found.gid, "size": found.size,
                  "accessed": moment(found.atime_ns), "modified": moment(found.mtime_ns),
                  "changed": moment(found.ctime_ns)}
        if found.is_link:
            values["target"] = files.readlink(path)
    if parsed.get("json"):
        import json
        print(json.dumps(values))
    else:
        for name, value in values.items():
            out(f"{name + ':':<10}{value}")
    return 0


def moment(nanoseconds: int) -> str:
    from datetime import UTC, datetime
    seconds, rest = divmod(nanoseconds, 10 ** 9)
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"
    except (ValueError, OverflowError, OSError):
        return f"{seconds}.{rest:09}"


def cp(parsed: Parsed) -> int:
    source, target = parsed.get("SOURCE"), parsed.get("TARGET")
    with open_database(parsed) as vfs:
        inside = Inside(OwnerFiles(view(vfs)))
        here, there = side(source, inside), side(target, inside)
        old, new = source.removeprefix(":"), target.removeprefix(":")
        if there.is_dir(new):
            new = f"{new.rstrip('/')}/{os.path.basename(old.rstrip('/'))}"
        copy(here, old, there, new, bool(parsed.get("recursive")))
        vfs.sync()
    return 0


class Inside:
    """The files of the database, as cp needs them."""

    def __init__(self, files: OwnerFiles) -> None:
        self.files = files
        self.fs = files.filesystem

    def is_dir(self, path: str) -> bool:
        return self.fs.is_dir(absolute(path))

    def exists(self, path: str) -> bool:
        return self.fs.exists(absolute(path))

    def remove(self, path: str) -> None:
        self.fs.unlink(absolute(path))

    def mode(self, path: str) -> int:
        return self.fs.stat(absolute(path), False).mode

    def names(self, path: str) -> list[str]:
        return [entry.name for entry in self.fs.list(absolute(path))]

    def read(self, path: str, offset: int) -> bytes:
        data: bytes = self.fs.machine.namespace.table.root.mount.read(absolute(path), offset, PIECE)
        return data

    def write(self, path: str, data: bytes, offset: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | (0 if offset else os.O_TRUNC)
        handle = self.fs.open(absolute(path), flags)
        try:
            handle.pwrite(data, offset)
        finally:
            handle.close()

    def readlink(self, path: str) -> str:
        return self.fs.readlink(absolute(path))

    def symlink(self, text: str, path: str) -> None:
        self.fs.symlink(text, absolute(path))

    def mkdir(self, path: str) -> None:
        if not self.is_dir(path):
            self.fs.mkdir(absolute(path))

    def chmod(self, path: str, mode: int) -> None:
        self.fs.chmod(absolute(path), mode & 0o7777)


class Outside:
    """The host's files."""

    def is_dir(self, path: str) -> bool:
        return os.path.isdir(path)

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def remove(self, path: str) -> None:
        os.unlink(path)

    def mode(self, path: str) -> int:
        return os.lstat(path).st_mode

    def names(self, path: str) -> list[str]:
        return os.listdir(path)

    def read(self, path: str, offset: int) -> bytes:
        with open(path, "rb") as file:
            file.seek(offset)
            return file.read(PIECE)

    def write(self, path: str, data: bytes, offset: int) -> None:
        with open(path, "r+b" if offset else "wb") as file:
            file.seek(offset)
            file.write(data)

    def readlink(self, path: str) -> str:
        return os.readlink(path)

    def symlink(self, text: str, path: str) -> None:
        os.symlink(text, path)

    def mkdir(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    def chmod(self, path: str, mode: int) -> None:
        os.chmod(path, mode & 0o777)


def side(path: str, inside: Inside) -> Inside | Outside:
    return inside if path.startswith(":") else Outside()


def copy(here: Inside | Outside, old: str, there: Inside | Outside, new: str, recursive: bool) -> None:
    mode = here.mode(old)
    if st.S_ISLNK(mode):
        there.symlink(here.readlink(old), new)
    elif st.S_ISDIR(mode):
        if not recursive:
            raise Failure(f"{old}: Is a directory (copy it with --recursive)")
        there.mkdir(new)
        for name in here.names(old):
            copy(here, f"{old.rstrip('/')}/{name}", there, f"{new.rstrip('/')}/{name}", True)
    elif st.S_ISREG(mode):
        fresh = not there.exists(new)
        try:
            _copy_content(here, old, there, new)
            there.chmod(new, mode)
        except OSError:
            if fresh:                                        # no part of a file stays as if it were one
                with contextlib.suppress(OSError):
                    there.remove(new)
            raise
    else:
        raise Failure(f"{old}: neither a file nor a directory nor a link")


def _copy_content(here: Inside | Outside, old: str, there: Inside | Outside, new: str) -> None:
    at = 0
    while True:
        piece = here.read(old, at)
        if piece or not at:
            there.write(new, piece, at)
        at += len(piece)
        if len(piece) < PIECE:
            return
