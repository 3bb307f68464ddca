"""Random operations on each file system of ours and on a real directory must give the same answers and leave the same tree."""
from __future__ import annotations

import errno
import os
import random

import pytest

from mirage.mounts import Host, Memory, Vfs
from tests.vfs.support import filesystem

NAMES = ["a", "b", "c", "d", "a", "b", "..", ".", ""]
FLAGS = [os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT | os.O_EXCL,
         os.O_WRONLY | os.O_CREAT | os.O_TRUNC, os.O_WRONLY | os.O_APPEND, os.O_RDONLY | os.O_DIRECTORY,
         os.O_RDONLY | os.O_NOFOLLOW, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW]


class Kernel:
    """The operations of FileSystem that the test uses, as system calls below `base`."""

    def __init__(self, base):
        self.base = base

    def _at(self, path):
        return f"{self.base}/{path}"

    def stat(self, path, follow=True):
        return os.stat(self._at(path), follow_symlinks=follow)

    def realpath(self, path):
        fd = os.open(self._at(path), os.O_PATH)
        try:
            return os.readlink(f"/proc/self/fd/{fd}")
        finally:
            os.close(fd)

    def list(self, path):
        return os.listdir(self._at(path))

    def readlink(self, path):
        return os.readlink(self._at(path))

    def mkdir(self, path):
        os.mkdir(self._at(path), 0o755)

    def rmdir(self, path):
        os.rmdir(self._at(path))

    def unlink(self, path):
        os.unlink(self._at(path))

    def rename(self, old, new):
        os.rename(self._at(old), self._at(new))

    def link(self, old, new):
        os.link(self._at(old), self._at(new), follow_symlinks=False)

    def symlink(self, text, path):
        os.symlink(text, self._at(path))

    def use(self, path, flags, offset, data):
        fd = os.open(self._at(path), flags, 0o644)
        try:
            if flags & os.O_ACCMODE == os.O_RDONLY:
                return os.pread(fd, 100, 0)
            if flags & os.O_APPEND:
                return os.write(fd, data)
            return os.pwrite(fd, data, offset)
        finally:
            os.close(fd)

    def truncate(self, path, size):
        os.truncate(self._at(path), size)


class Ours(Kernel):
    def __init__(self, fs, base):
        super().__init__(base)
        self.fs = fs
        for name in ("stat", "readlink", "mkdir", "rmdir", "unlink", "rename", "link", "symlink", "truncate", "realpath"):
            setattr(self, name, getattr(fs, name))

    def list(self, path):
        return [entry.name for entry in self.fs.list(path)]

    def use(self, path, flags, offset, data):
        handle = self.fs.open(path, flags, 0o644)
        try:
            if flags & os.O_ACCMODE == os.O_RDONLY:
                return handle.pread(100, 0)
            offset = -1 if flags & os.O_APPEND else offset
            handle.pwrite(data, offset)
            return len(data)
        finally:
            handle.close()


def some_path(rng):
    return "/".join(rng.choice(NAMES) for _ in range(rng.randint(1, 4))).lstrip("/") or "a"


def operation(rng):
    path, other = some_path(rng), some_path(rng)
    data, size = rng.randbytes(rng.randint(1, 20)), rng.randint(0, 30)
    flags = rng.choice(FLAGS)
    return rng.choice([
        ("stat", path), ("stat", path, False), ("realpath", path), ("list", path), ("readlink", path), ("mkdir", path),
        ("mkdir", path), ("rmdir", path), ("unlink", path), ("rename", path, other), ("rename", path, other),
        ("link", path, other), ("symlink", other, path), ("symlink", rng.choice("abcd"), path), ("use", path, flags, size, data),
        ("use", path, flags, size, data), ("truncate", path, size)])


def answer(side, call):
    try:
        result = getattr(side, call[0])(*call[1:])
    except OSError as e:
        return errno.errorcode[e.errno]
    if call[0] == "stat":
        mode, size, nlink = (result.mode, result.size, result.nlink) if hasattr(result, "mode") else \
            (result.st_mode, result.st_size, result.st_nlink)
        directory = mode & 0o170000 == 0o040000
        return mode, None if directory else (size, nlink)
    return sorted(result) if call[0] == "list" else result


def whole_tree(side, path="."):
    found = {}
    for name in side.list(path):
        below = f"{path}/{name}"
        found[below] = answer(side, ("stat", below, False))
        kind = found[below][0] & 0o170000
        if kind == 0o040000:
            found.update(whole_tree(side, below))
        elif kind == 0o120000:
            found[below] = (found[below], side.readlink(below))
        else:
            found[below] = (found[below], side.use(below, os.O_RDONLY, 0, b""))
    return found


def database(file, base):
    vfs = Vfs.open(file)
    vfs.fs.mkdir(base, parents=True)
    return vfs.mount


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("backend", ["memory", "host", "vfs"])
def test_random_operations(tmp_path, seed, backend):
    rng = random.Random(seed)
    base = tmp_path.resolve() / "1" / "2" / "3" / "4" / "base"      # `..` never gets above the test's own folders
    base.mkdir(parents=True)
    if backend in ("memory", "vfs"):
        memory = Memory({str(base): None}) if backend == "memory" else database(tmp_path / "agent.db", str(base))
        fs = filesystem({"/": memory}, cwd=str(base), default=False)
    else:
        for name in ("real", "mine"):
            (tmp_path / name / "1" / "2" / "3" / "4" / "base").mkdir(parents=True)
        host = Host(tmp_path / "mine", writable=True)
        fs = filesystem({str(tmp_path.resolve() / "real"): host}, cwd=str(tmp_path / "real" / "1" / "2" / "3" / "4" / "base"), default=False)
        base = tmp_path / "real" / "1" / "2" / "3" / "4" / "base"
    kernel, ours = Kernel(str(base)), Ours(fs, str(base))
    history = []
    for _ in range(600):
        call = operation(rng)
        history.append(call)
        expected, got = answer(kernel, call), answer(ours, call)
        assert got == expected, history[-12:]
    assert whole_tree(ours) == whole_tree(kernel)
