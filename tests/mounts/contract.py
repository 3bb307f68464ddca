"""What every mount must do, tested on the mount itself.

Subclass MountContract as TestSomething and override `mount` with a fixture that gives a fresh mount with at least one
file of more than 3 bytes, one directory with something in it, and no more than a few hundred files. What a mount cannot
do, by its capabilities, is skipped. `scratch` is a directory in which new names may be made.
"""
from __future__ import annotations

import errno
import os
import stat as st
import threading
import time
from types import SimpleNamespace

import pytest

from mirage.vfs.facade import Actor
from mirage.vfs.filesystem import FileSystem
from mirage.vfs.gateway import linked
from mirage.vfs.namespace import Namespace
from mirage.vfs.types import Capabilities

METHODS = {
    "open": ["open"], "create": ["create"], "mkdir": ["mkdir"], "remove": ["unlink", "rmdir"], "rename": ["rename"],
    "link": ["link"], "symlink": ["symlink", "readlink"], "setattr": ["setattr"], "mkfifo": ["mkfifo"],
    "xattr": ["getxattr", "setxattr", "listxattr", "removexattr"], "read_many": ["read_many"],
    "search": ["search"], "watch": ["watch"], "describe": ["describe"], "lookup": ["lookup"], "replace": ["replace"],
    "identity": [],
}
ODD_NAMES = ["two words", "new\nline", "back\\slash", "-dash", "quo'te\"", "ünï", "\udcff\udcfe", "*?[x]", "~", "a" * 255]


def need(mount, *capabilities):
    for capability in capabilities:
        if capability not in mount.capabilities:
            pytest.skip(f"the mount cannot {capability}")


def raises(number, function, *args, **options):
    """function(*args) must raise exactly this errno."""
    try:
        result = function(*args, **options)
    except OSError as e:
        assert e.errno == number, f"{errno.errorcode.get(e.errno)} instead of {errno.errorcode[number]}"
        return e
    raise AssertionError(f"{errno.errorcode[number]} was not raised, but {result!r} returned")


def join(directory, name):
    return f"{directory.rstrip('/')}/{name}"


def everything(mount):
    """(path, Stat) of all that the mount shows, without following links."""
    found, todo = [("/", mount.stat("/"))], ["/"]
    while todo:
        directory = todo.pop()
        for entry in mount.list(directory):
            path = join(directory, entry.name)
            stat = entry.stat or mount.stat(path)
            found.append((path, stat))
            if stat.is_dir:
                todo.append(path)
    return found


def files(mount):
    return [path for path, stat in everything(mount) if stat.is_file]


def a_file(mount):
    for path in files(mount):
        if len(mount.read(path)) > 3:
            return path
    raise AssertionError("the mount of the test has no file of more than 3 bytes")


def a_directory(mount):
    for path, stat in everything(mount):
        if stat.is_dir and path != "/" and list(mount.list(path)):
            return path
    raise AssertionError("the mount of the test has no directory with something in it")


def names(mount, directory):
    return [entry.name for entry in mount.list(directory)]


def system(mount):
    """The mount as the root of a tree, seen by the user."""
    return FileSystem(SimpleNamespace(namespace=Namespace({"/": mount}), gate=None), Actor("test"))


def in_threads(count, function):
    failures = []

    def run(number):
        try:
            function(number)
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive(), "a thread hangs"
    if failures:
        raise failures[0]


class MountContract:
    scratch = "/"

    @pytest.fixture
    def mount(self):
        raise NotImplementedError

    def new(self, mount, name, data=b""):
        """A new file in scratch; its path."""
        path = join(self.scratch, name)
        handle = mount.create(path, 0o644, 1000, 1000, True)
        if data:
            handle.pwrite(data, 0)
        handle.close()
        return path

    def folder(self, mount, name):
        path = join(self.scratch, name)
        mount.mkdir(path, 0o755, 1000, 1000)
        return path

    # ---- what is declared

    def test_promised_methods_exist(self, mount):
        assert isinstance(mount.capabilities, Capabilities)
        for capability, methods in METHODS.items():
            if capability in mount.capabilities:
                for method in methods:
                    assert callable(getattr(mount, method, None)), f"{capability} without {method}"

    # ---- looking

    def test_root_is_a_directory(self, mount):
        assert mount.stat("/").is_dir

    def test_names_are_names(self, mount):
        for path, stat in everything(mount):
            if stat.is_dir:
                found = names(mount, path)
                assert len(found) == len(set(found)), f"a name twice in {path}"
                for name in found:
                    assert name not in ("", ".", "..") and "/" not in name and "\0" not in name
                    assert len(name.encode("utf-8", "surrogateescape")) <= 255

    def test_listing_agrees_with_stat(self, mount):
        for path, stat in everything(mount):
            again = mount.stat(path)
            assert st.S_IFMT(stat.mode) == st.S_IFMT(again.mode), path
            assert stat.mtime_ns == again.mtime_ns and stat.identity == again.identity, path
            if stat.size is not None and again.size is not None:
                assert stat.size == again.size, path

    def test_listing_is_repeatable(self, mount):
        for path, stat in everything(mount):
            if stat.is_dir:
                assert names(mount, path) == names(mount, path)

    def test_size_is_what_reading_gives(self, mount):
        for path in files(mount):
            data = mount.read(path)
            assert type(data) is bytes
            assert mount.stat(path).size in (None, len(data)), path

    def test_ranges(self, mount):
        path = a_file(mount)
        data = mount.read(path)
        size = len(data)
        for offset, length in [(0, 1), (1, 2), (size - 1, 1), (size - 1, 100), (size, 10), (size + 50, 10), (0, 0), (1, None)]:
            end = None if length is None else offset + length
            assert mount.read(path, offset, length) == data[offset:end], (offset, length)

    def test_version_is_stable(self, mount):
        for path in files(mount):
            first = mount.stat(path).version
            mount.read(path)
            assert mount.stat(path).version == first, path

    def test_missing(self, mount):
        for path in ("/no such name", "/no such name/below", join(a_directory(mount), "no such name")):
            raises(errno.ENOENT, mount.stat, path)
            raises(errno.ENOENT, mount.read, path)
            raises(errno.ENOENT, lambda p: list(mount.list(p)), path)

    def test_wrong_kind(self, mount):
        path = a_file(mount)
        raises(errno.ENOTDIR, lambda: list(mount.list(path)))
        raises(errno.ENOTDIR, mount.stat, path + "/below")
        raises(errno.EISDIR, mount.read, a_directory(mount))

    def test_links_can_be_read(self, mount):
        for path, stat in everything(mount):
            if stat.is_link:
                assert mount.readlink(path)
            elif hasattr(mount, "readlink"):
                raises(errno.EINVAL, mount.readlink, path)

    def test_lookup_agrees_with_stat(self, mount):
        need(mount, "lookup")
        for path, stat in everything(mount):
            found = mount.lookup(path, 1000)
            assert not isinstance(found, str) and found.identity == stat.identity, path
        raises(errno.ENOENT, mount.lookup, "/no such name", 1000)
        raises(errno.ENOENT, mount.lookup, "/no such name/below", 1000)
        raises(errno.ENOTDIR, mount.lookup, a_file(mount) + "/below", 1000)

    def test_identity_is_one_per_file(self, mount):
        need(mount, "identity")
        seen = {}
        for path, stat in everything(mount):
            assert stat.dev and stat.ino, path
            if not stat.is_dir and stat.nlink > 1:
                continue
            assert stat.identity not in seen, f"{path} and {seen.get(stat.identity)}"
            seen[stat.identity] = path

    def test_handle_reads_what_read_gives(self, mount):
        need(mount, "open")
        path = a_file(mount)
        data = mount.read(path)
        handle = mount.open(path, os.O_RDONLY, 0)
        try:
            got, at = b"", 0
            while piece := handle.pread(3, at):
                assert type(piece) is bytes and len(piece) <= 3
                got += piece
                at += len(piece)
            assert got == data
            assert handle.pread(10, len(data) + 5) == b""
            assert handle.stat().size == len(data) and handle.seekable
        finally:
            handle.close()

    def test_readers_do_not_disturb_each_other(self, mount):
        paths = files(mount)[:20]
        expected = {path: mount.read(path) for path in paths}
        tree = sorted(path for path, _ in everything(mount))

        def look(number):
            for path in paths[number % 3:]:
                assert mount.read(path) == expected[path]
            assert sorted(path for path, _ in everything(mount)) == tree

        in_threads(8, look)

    def test_walk_through_the_filesystem(self, mount):
        seen = set()
        for directory, entries in system(mount).walk("/"):
            for entry in entries:
                assert entry.stat is not None
                seen.add(join(directory, entry.name))
        assert seen == {path for path, _ in everything(mount)} - {"/"}

    def test_read_many_keeps_the_order(self, mount):
        need(mount, "read_many")
        paths = [*files(mount)[:10], "/no such name"]
        results = list(mount.read_many(paths))
        assert [path for path, _ in results] == paths
        assert all(data == mount.read(path) for path, data in results[:-1])
        assert isinstance(results[-1][1], FileNotFoundError)

    # ---- a mount that cannot be written

    def test_read_only_refuses_every_change(self, mount):
        if mount.capabilities.writable:
            pytest.skip("the mount is writable")
        fs, path, directory = system(mount), a_file(mount), a_directory(mount)
        before = [(p, s.mode, s.mtime_ns) for p, s in everything(mount)]
        data = mount.read(path)
        for change in (lambda: fs.write(path, b"x"), lambda: fs.write("/new", b"x"), lambda: fs.unlink(path),
                       lambda: fs.mkdir("/new"), lambda: fs.rmdir(directory), lambda: fs.rename(path, "/new"),
                       lambda: fs.symlink("x", "/new"), lambda: fs.link(path, "/new"), lambda: fs.chmod(path, 0o600),
                       lambda: fs.utime(path, 1, 1), lambda: fs.truncate(path, 0), lambda: fs.mkfifo("/new"),
                       lambda: fs.open(path, os.O_RDWR), lambda: fs.open(path, os.O_RDONLY | os.O_TRUNC),
                       lambda: fs.open("/new", os.O_WRONLY | os.O_CREAT)):
            with pytest.raises(OSError) as caught:
                change()
            assert caught.value.errno in (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTEMPTY)
        assert [(p, s.mode, s.mtime_ns) for p, s in everything(mount)] == before
        assert mount.read(path) == data

    # ---- content

    def test_create_and_read_back(self, mount):
        need(mount, "create")
        path = self.new(mount, "new", b"hello")
        assert mount.read(path) == b"hello"
        stat = mount.stat(path)
        assert stat.is_file and stat.size == 5 and "new" in names(mount, self.scratch)
        raises(errno.EEXIST, mount.create, path, 0o644, 1000, 1000, True)
        mount.create(path, 0o644, 1000, 1000, False).close()
        assert mount.read(path) == b"hello"
        raises(errno.ENOENT, mount.create, join(self.scratch, "no/such"), 0o644, 1000, 1000, False)
        raises(errno.ENOTDIR, mount.create, path + "/below", 0o644, 1000, 1000, False)

    def test_write_in_place(self, mount):
        need(mount, "create", "open")
        path = self.new(mount, "f", b"0123456789")
        handle = mount.open(path, os.O_RDWR, 0)
        assert handle.pwrite(b"ab", 3) == 5
        assert handle.pread(100, 0) == b"012ab56789"
        assert handle.pwrite(b"xyz", 9) == 12
        assert handle.pwrite(b"!", -1) == 13
        assert handle.pwrite(b"end", 20) == 23
        handle.close()
        assert mount.read(path) == b"012ab5678xyz!" + bytes(7) + b"end"
        assert mount.stat(path).size == 23

    def test_truncate(self, mount):
        need(mount, "create", "open")
        path = self.new(mount, "f", b"0123456789")
        handle = mount.open(path, os.O_RDWR, 0)
        handle.truncate(4)
        assert mount.read(path) == b"0123" and handle.stat().size == 4
        handle.truncate(8)
        assert mount.read(path) == b"0123" + bytes(4)
        handle.truncate(0)
        assert mount.read(path) == b"" and handle.pread(1, 0) == b""
        handle.close()
        mount.open(self.new(mount, "g", b"gone"), os.O_WRONLY | os.O_TRUNC, 0).close()
        assert mount.read(join(self.scratch, "g")) == b""

    def test_a_hole_costs_nothing(self, mount):
        need(mount, "create", "open")
        path = self.new(mount, "sparse", b"start")
        handle = mount.open(path, os.O_RDWR, 0)
        handle.truncate(1 << 33)
        assert mount.stat(path).size == 1 << 33 and mount.stat(path).blocks < 1 << 16
        assert handle.pread(8, (1 << 33) - 4) == bytes(4)
        handle.pwrite(b"middle", 1 << 32)
        assert handle.pread(10, (1 << 32) - 2) == b"\0\0middle\0\0"
        assert handle.pread(7, 0) == b"start\0\0"
        handle.truncate(3)
        handle.truncate(10)
        assert handle.pread(100, 0) == b"sta" + bytes(7)
        handle.close()

    def test_a_change_shows(self, mount):
        need(mount, "create", "open")
        path = self.new(mount, "f", b"one")
        before = mount.stat(path)
        time.sleep(0.02)
        handle = mount.open(path, os.O_WRONLY, 0)
        handle.pwrite(b"two", 0)
        handle.close()
        after = mount.stat(path)
        assert after.mtime_ns > before.mtime_ns and after.ctime_ns > before.ctime_ns
        assert after.version is None or after.version != before.version

    def test_file_outlives_its_name(self, mount):
        need(mount, "create", "open", "remove", "rename", "identity")
        path = self.new(mount, "f", b"kept")
        handle = mount.open(path, os.O_RDWR, 0)
        mount.rename(path, path + "2")
        assert handle.pread(10, 0) == b"kept"
        mount.unlink(path + "2")
        assert handle.pread(10, 0) == b"kept" and handle.stat().nlink == 0
        handle.pwrite(b"x", 0)
        self.new(mount, "f", b"another")
        assert handle.pread(10, 0) == b"xept"
        handle.close()
        assert mount.read(path) == b"another"

    def test_replace(self, mount):
        need(mount, "replace")
        path = join(self.scratch, "whole")
        mount.replace(path, b"first", 0o640, 1000, 1000)
        modes = "setattr" in mount.capabilities
        assert mount.read(path) == b"first" and (not modes or mount.stat(path).mode & 0o777 == 0o640)
        mount.replace(path, b"second one", 0o600, 1000, 1000)
        assert mount.read(path) == b"second one" and (not modes or mount.stat(path).mode & 0o777 == 0o640)
        assert names(mount, self.scratch).count("whole") == 1
        raises(errno.EISDIR, mount.replace, a_directory(mount), b"", 0o644, 1000, 1000)
        raises(errno.ENOENT, mount.replace, "/no such/name", b"", 0o644, 1000, 1000)

    def test_appends_of_threads_all_arrive(self, mount):
        need(mount, "create", "open")
        path = self.new(mount, "log")

        def append(number):
            handle = mount.open(path, os.O_WRONLY | os.O_APPEND, 0)
            for turn in range(50):
                handle.pwrite(f"{number}:{turn}\n".encode(), -1)
            handle.close()

        in_threads(6, append)
        lines = mount.read(path).decode().splitlines()
        assert sorted(lines) == sorted(f"{n}:{t}" for n in range(6) for t in range(50))

    # ---- names

    def test_odd_names(self, mount):
        need(mount, "create", "remove")
        for name in ODD_NAMES:
            self.new(mount, name, name.encode("utf-8", "surrogateescape"))
        assert set(ODD_NAMES) <= set(names(mount, self.scratch))
        for name in ODD_NAMES:
            path = join(self.scratch, name)
            assert mount.read(path) == name.encode("utf-8", "surrogateescape")
            mount.unlink(path)
        assert not set(ODD_NAMES) & set(names(mount, self.scratch))

    def test_directories(self, mount):
        need(mount, "mkdir", "create", "remove")
        path = self.folder(mount, "d")
        stat = mount.stat(path)
        assert stat.is_dir and stat.mode & 0o777 == 0o755 and names(mount, path) == []
        raises(errno.EEXIST, mount.mkdir, path, 0o755, 1000, 1000)
        raises(errno.ENOENT, mount.mkdir, path + "/x/y", 0o755, 1000, 1000)
        file = self.new(mount, "d/f", b"1")
        raises(errno.ENOTDIR, mount.mkdir, file + "/x", 0o755, 1000, 1000)
        raises(errno.EEXIST, mount.mkdir, file, 0o755, 1000, 1000)
        raises(errno.ENOTEMPTY, mount.rmdir, path)
        raises(errno.ENOTDIR, mount.rmdir, file)
        raises(errno.EISDIR, mount.unlink, path)
        mount.unlink(file)
        raises(errno.ENOENT, mount.unlink, file)
        mount.rmdir(path)
        raises(errno.ENOENT, mount.rmdir, path)
        raises(errno.ENOENT, mount.stat, path)

    def test_rename_files(self, mount):
        need(mount, "rename", "create", "mkdir")
        one, two = self.new(mount, "one", b"1"), self.new(mount, "two", b"2")
        mount.rename(one, two)
        assert mount.read(two) == b"1" and "one" not in names(mount, self.scratch)
        mount.rename(two, two)
        assert mount.read(two) == b"1"
        raises(errno.ENOENT, mount.rename, one, two)
        directory = self.folder(mount, "d")
        raises(errno.EISDIR, mount.rename, two, directory)
        raises(errno.ENOENT, mount.rename, two, join(self.scratch, "no/such"))
        mount.rename(two, directory + "/in")
        assert mount.read(directory + "/in") == b"1"
        other = self.new(mount, "other", b"3")
        raises(errno.EEXIST, mount.rename, other, directory + "/in", replace=False)
        assert mount.read(directory + "/in") == b"1"

    def test_rename_directories(self, mount):
        need(mount, "rename", "create", "mkdir")
        a, b = self.folder(mount, "a"), self.folder(mount, "b")
        file = self.new(mount, "a/f", b"1")
        raises(errno.EINVAL, mount.rename, a, a + "/below")
        mount.rename(a, b)
        assert mount.read(b + "/f") == b"1" and "a" not in names(mount, self.scratch)
        raises(errno.ENOENT, mount.read, file)
        a = self.folder(mount, "a")
        raises(errno.ENOTEMPTY, mount.rename, a, b)
        raises(errno.ENOTDIR, mount.rename, a, b + "/f")
        self.folder(mount, "b/sub")
        mount.rename(b + "/sub", a + "/sub")
        raises(errno.EINVAL, mount.rename, a, a + "/sub/x")
        assert names(mount, a) == ["sub"]

    def test_rename_is_atomic(self, mount):
        need(mount, "rename", "create", "open")
        path = self.new(mount, "target", b"0" * 10)
        stop = threading.Event()

        def work(number):
            if number == 0:
                for turn in range(60):
                    fresh = self.new(mount, f"fresh{turn}", str(turn % 10).encode() * 10)
                    mount.rename(fresh, path)
                stop.set()
            else:
                while not stop.is_set():
                    data = mount.read(path)
                    assert len(data) == 10 and len(set(data)) == 1

        in_threads(3, work)

    def test_hard_links(self, mount):
        need(mount, "link", "create", "open", "remove", "mkdir")
        one, two = self.new(mount, "one", b"1"), join(self.scratch, "two")
        mount.link(one, two)
        assert mount.stat(one).nlink == mount.stat(two).nlink == 2
        assert mount.stat(one).identity == mount.stat(two).identity
        handle = mount.open(two, os.O_WRONLY | os.O_TRUNC, 0)
        handle.pwrite(b"changed", 0)
        handle.close()
        assert mount.read(one) == b"changed"
        raises(errno.EEXIST, mount.link, one, two)
        raises(errno.ENOENT, mount.link, join(self.scratch, "none"), join(self.scratch, "three"))
        raises(errno.EPERM, mount.link, self.folder(mount, "d"), join(self.scratch, "three"))
        if "identity" in mount.capabilities:
            assert sorted(linked(mount)[mount.stat(one).identity]) == sorted([one, two])
        mount.rename(one, two)
        assert {"one", "two"} <= set(names(mount, self.scratch))
        mount.unlink(one)
        assert mount.read(two) == b"changed" and mount.stat(two).nlink == 1

    def test_symbolic_links(self, mount):
        need(mount, "symlink", "create", "remove")
        file, link = self.new(mount, "file", b"1"), join(self.scratch, "link")
        for text in ("file", "/absolute/elsewhere", "../../up", "no such", "trailing/", "\udcff ü"):
            mount.symlink(text, link, 1000, 1000)
            stat = mount.stat(link)
            assert stat.is_link and mount.readlink(link) == text
            assert stat.size == len(text.encode("utf-8", "surrogateescape"))
            raises(errno.EEXIST, mount.symlink, text, link, 1000, 1000)
            mount.unlink(link)
        assert mount.read(file) == b"1"

    def test_lookup_stops_at_the_first_link(self, mount):
        need(mount, "symlink", "mkdir", "lookup")
        self.folder(mount, "d")
        link = join(self.scratch, "l")
        mount.symlink("d", link, 1000, 1000)
        mount.symlink("../l", join(self.scratch, "d/m"), 1000, 1000)
        assert mount.lookup(link, 1000).is_link
        assert mount.lookup(link + "/x/y", 1000) == link
        assert mount.lookup(join(self.scratch, "d/m/z"), 1000) == join(self.scratch, "d/m")

    def test_fifo(self, mount):
        need(mount, "mkfifo")
        path = join(self.scratch, "pipe")
        mount.mkfifo(path, 0o600, 1000, 1000)
        assert mount.stat(path).is_fifo
        raises(errno.EEXIST, mount.mkfifo, path, 0o600, 1000, 1000)

    # ---- attributes

    def test_attributes(self, mount):
        need(mount, "setattr", "create", "mkdir")
        for path in (self.new(mount, "f", b"1"), self.folder(mount, "d")):
            kind = st.S_IFMT(mount.stat(path).mode)
            mount.setattr(path, mode=0o751)
            assert mount.stat(path).mode == kind | 0o751
            mount.setattr(path, mtime_ns=1_234_567_890_123_456_789)
            assert mount.stat(path).mtime_ns == 1_234_567_890_123_456_789
            mount.setattr(path, atime_ns=987_654_321_000_000_001)
            stat = mount.stat(path)
            assert (stat.atime_ns, stat.mtime_ns) == (987_654_321_000_000_001, 1_234_567_890_123_456_789)
            assert stat.mode == kind | 0o751
        raises(errno.ENOENT, mount.setattr, join(self.scratch, "none"), mode=0o600)

    def test_permissions_hold_for_the_user(self, mount):
        need(mount, "setattr", "create", "mkdir", "open")
        fs = system(mount)
        directory, file = self.folder(mount, "d"), self.new(mount, "d/f", b"secret")
        mount.setattr(file, mode=0)
        raises(errno.EACCES, fs.read, file)
        raises(errno.EACCES, fs.open, file, os.O_WRONLY)
        mount.setattr(file, mode=0o644)
        mount.setattr(directory, mode=0o444)
        raises(errno.EACCES, fs.stat, file)
        raises(errno.EACCES, fs.read, file)
        assert [e.name for e in fs.list(directory)] == ["f"]
        mount.setattr(directory, mode=0o111)
        assert fs.read(file) == b"secret"
        raises(errno.EACCES, fs.list, directory)
        raises(errno.EACCES, fs.unlink, file)
        raises(errno.EACCES, fs.write, directory + "/new", b"")
        mount.setattr(directory, mode=0o755)
        fs.unlink(file)

    def test_xattr(self, mount):
        need(mount, "xattr", "create")
        path = self.new(mount, "f")
        raises(errno.ENODATA, mount.getxattr, path, "user.a")
        mount.setxattr(path, "user.a", b"\0value")
        mount.setxattr(path, "user.b", b"")
        assert mount.getxattr(path, "user.a") == b"\0value" and set(mount.listxattr(path)) == {"user.a", "user.b"}
        mount.removexattr(path, "user.a")
        assert mount.listxattr(path) == ["user.b"]
        raises(errno.ENODATA, mount.removexattr, path, "user.a")
