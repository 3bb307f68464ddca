"""The contract suite must notice mounts that break the contract."""
from __future__ import annotations

import errno
import os

import pytest

from mirage.mounts import Memory
from mirage.vfs.types import Capabilities, Entry, Stat, error
from tests.mounts.contract import MountContract

SAMPLE = {"a.txt": b"alpha\nbeta\n", "docs/b.txt": b"0123456789", "docs/c.txt": b"x"}


class ListsTwice(Memory):
    def list(self, path):
        return [*super().list(path), *super().list(path)]


class GuessesSizes(Memory):
    def stat(self, path):
        stat = super().stat(path)
        return stat if stat.is_dir else Stat(stat.mode, 4096, stat.mtime_ns, ino=stat.ino, dev=stat.dev)

    def list(self, path):
        return [Entry(entry.name) for entry in super().list(path)]


class IgnoresRanges(Memory):
    def read(self, path, offset=0, length=None):
        return super().read(path)


class AnswersMissing(Memory):
    def read(self, path, offset=0, length=None):
        try:
            return super().read(path, offset, length)
        except FileNotFoundError:
            return b""


class WrongErrno(Memory):
    def rmdir(self, path):
        try:
            super().rmdir(path)
        except OSError:
            raise error(errno.EACCES, path) from None


class NotExclusive(Memory):
    def create(self, path, mode, uid, gid, exclusive=False):
        return super().create(path, mode, uid, gid, False)


class RenameKeepsOld(Memory):
    def rename(self, old, new, *, replace=True):
        self.replace(new, self.read(old), 0o644, 1000, 1000)


class CopiesLinks(Memory):
    def link(self, old, new):
        self.replace(new, self.read(old), 0o644, 1000, 1000)


class LosesTimes(Memory):
    def setattr(self, path, **changes):
        changes = {key: value // 10**9 * 10**9 if key.endswith("_ns") and value else value for key, value in changes.items()}
        super().setattr(path, **changes)


class OpensByName(Memory):
    """A handle that finds its file by its name each time."""

    def open(self, path, flags, mode=0):
        outer = self
        real = super().open(path, flags, mode)

        class Handle:
            seekable = True

            def pread(self, size, offset):
                return outer.read(path, offset, size)

            def __getattr__(self, name):
                return getattr(real, name)

        return Handle()


class AppendsWithoutLock(Memory):
    def open(self, path, flags, mode=0):
        real = super().open(path, flags, mode)

        class Handle:
            seekable = True

            def pwrite(self, data, offset):
                if offset == -1:
                    import time
                    offset = real.stat().size
                    time.sleep(0.0005)
                return real.pwrite(data, offset)

            def __getattr__(self, name):
                return getattr(real, name)

        return Handle()


class FollowsLinks(Memory):
    def lookup(self, path, uid):
        found = super().lookup(path, uid)
        return super().stat(found) if isinstance(found, str) else found


class PromisesTooMuch(Memory):
    capabilities = Capabilities("open", "create", "watch")


class SaysReadOnlyAndWrites:
    """A mount whose open writes although no capability says so."""

    capabilities = Capabilities("open")

    def __init__(self, files):
        self._memory = Memory(files)
        self.list, self.stat, self.read = self._memory.list, self._memory.stat, self._memory.read

    def open(self, path, flags, mode=0):
        return self._memory.open(path, flags | os.O_TRUNC, mode)


@pytest.mark.parametrize(("broken", "test"), [
    (ListsTwice, "names_are_names"),
    (GuessesSizes, "size_is_what_reading_gives"),
    (IgnoresRanges, "ranges"),
    (AnswersMissing, "missing"),
    (WrongErrno, "directories"),
    (NotExclusive, "create_and_read_back"),
    (RenameKeepsOld, "rename_files"),
    (RenameKeepsOld, "rename_directories"),
    (CopiesLinks, "hard_links"),
    (LosesTimes, "attributes"),
    (OpensByName, "file_outlives_its_name"),
    (AppendsWithoutLock, "appends_of_threads_all_arrive"),
    (FollowsLinks, "lookup_stops_at_the_first_link"),
    (PromisesTooMuch, "promised_methods_exist"),
    (SaysReadOnlyAndWrites, "handle_reads_what_read_gives"),
])
def test_a_broken_mount_is_noticed(broken, test):
    check = getattr(MountContract(), f"test_{test}")
    check(Memory(SAMPLE))
    with pytest.raises((AssertionError, OSError)):
        check(broken(SAMPLE))
