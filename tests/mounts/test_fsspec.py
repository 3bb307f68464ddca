from __future__ import annotations

import errno
import json
import os
import time

import pytest

pytest.importorskip("fsspec")

from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem

from mirage import Terminal
from mirage.mounts.fsspec.mount import FileStore
from mirage.mounts.fsspec.store import Store
from mirage.vfs.registry import make_mount
from tests.mounts.contract import MountContract, join, names, raises
from tests.mounts.s3_support import S3, S3Key

SAMPLE = {"/a.txt": b"alpha\nbeta\n", "/docs/b.txt": b"0123456789", "/docs/deep/c.txt": b"x"}


def in_memory(**options):
    fs = MemoryFileSystem(skip_instance_cache=True)
    fs.store, fs.pseudo_dirs = {}, [""]
    for path, data in SAMPLE.items():
        fs.pipe_file("/root" + path, data)
    return FileStore(Store(lambda: (fs, "/root"), "memory://root", "fsspec:memory"), **options)


def in_folder(folder, **options):
    for path, data in SAMPLE.items():
        (folder / path[1:]).parent.mkdir(parents=True, exist_ok=True)
        (folder / path[1:]).write_bytes(data)
    fs = DirFileSystem(str(folder), LocalFileSystem(skip_instance_cache=True))
    return FileStore(Store(lambda: (fs, ""), "dir://", "fsspec:dir"), **options)


class StoreContract(MountContract):
    def test_a_hole_costs_nothing(self, mount):
        """Such a store has no holes: what is too large is refused at once."""
        handle = mount.open(self.new(mount, "sparse", b"start"), os.O_RDWR, 0)
        raises(errno.EFBIG, handle.truncate, 1 << 33)
        raises(errno.EFBIG, handle.pwrite, b"x", 1 << 32)
        handle.truncate(1 << 24)
        assert handle.pread(7, 0) == b"start\0\0" and handle.pread(9, (1 << 24) - 2) == bytes(2)
        handle.close()
        assert mount.stat(join(self.scratch, "sparse")).size == 1 << 24


class TestMemory(StoreContract):
    @pytest.fixture
    def mount(self):
        return in_memory(writable=True)


class TestMemoryReadOnly(MountContract):
    @pytest.fixture
    def mount(self):
        return in_memory()


class TestFolder(StoreContract):
    @pytest.fixture
    def mount(self, tmp_path):
        return in_folder(tmp_path, writable=True)


# ---- what a terminal sees

def test_tools_write_files():
    with Terminal({"/store": in_memory(writable=True)}) as terminal:
        result = terminal.run("""cd /store; echo one > new.txt; echo two >> new.txt; cat new.txt; mkdir -p x/y; mv new.txt x/y/
            cp -r docs copy; sed -i s/5/five/ copy/b.txt; cat copy/b.txt; echo; find . -type f | sort; rm -r docs x; ls""")
        assert result.stdout == ("one\ntwo\n01234five6789\n./a.txt\n./copy/b.txt\n./copy/deep/c.txt\n./docs/b.txt\n"
                                 "./docs/deep/c.txt\n./x/y/new.txt\na.txt\ncopy\n"), result
        assert result.exit_code == 0 and result.stderr == ""


def test_a_large_file_is_read_by_ranges():
    mount = in_memory()
    mount.store.fs.pipe_file("/root/big", bytes(range(256)) * 40_000)
    asked = []
    cat = mount.store.fs.cat_file
    mount.store.fs.cat_file = lambda path, start=None, end=None, **o: asked.append((start, end)) or cat(path, start, end, **o)
    with Terminal({"/store": mount}) as terminal:
        assert terminal.run("head -c 3 /store/big | od -An -tu1").stdout.split() == ["0", "1", "2"]
        assert asked == [(None, 1 << 18)]
        asked.clear()
        assert terminal.run("wc -l < /store/big").stdout == "40000\n"
        assert 3 <= len(asked) <= 8
        assert terminal.run("tail -c 2 /store/big | od -An -tu1").stdout.split() == ["254", "255"]


def test_a_failed_write_is_an_error_and_keeps_the_old_content(tmp_path):
    mount = in_memory(writable=True)

    def broken(*args, **options):
        raise OSError(errno.ENOSPC, "quota of account exceeded")

    mount.store.fs.pipe_file = broken
    with Terminal({"/store": mount}) as terminal:
        result = terminal.run("cp /store/docs/b.txt /store/a.txt")
        assert result.exit_code == 1 and "No space left" in result.stderr
        assert terminal.run("cat /store/a.txt").stdout == "alpha\nbeta\n"
        assert terminal.run("cp /store/a.txt /store/fresh; ls /store").stdout == "a.txt\ndocs\n"


def test_somebody_elses_change_shows_in_the_next_line():
    mount = in_memory()
    with Terminal({"/store": mount}) as terminal:
        assert terminal.run("ls /store; cat /store/a.txt").stdout == "a.txt\ndocs\nalpha\nbeta\n"
        mount.store.fs.pipe_file("/root/a.txt", b"changed and longer\n")
        mount.store.fs.pipe_file("/root/b.txt", b"")
        assert terminal.run("ls /store; cat /store/a.txt").stdout == "a.txt\nb.txt\ndocs\nchanged and longer\n"


def test_a_folder_of_the_host_is_refused():
    with pytest.raises(ValueError, match="host:DIR"):
        make_mount("fsspec", {"url": "file:///etc"})
    with pytest.raises(ValueError, match="password") as caught:
        make_mount("fsspec", {"url": "sftp://me:hunter2@host/x"})
    assert "hunter2" not in str(caught.value)
    mount = make_mount("fsspec", {"url": "memory://mirage-test-root", "writable": "true"})
    mount.replace("/x", b"1", 0o644, 0, 0)
    assert mount.read("/x") == b"1" and repr(mount) == "FileStore(memory://mirage-test-root)"
    mount.unlink("/x")


def test_errors_have_an_errno_and_the_message(monkeypatch):
    monkeypatch.setenv("STORE_OPTIONS", json.dumps({"password": "hunter2", "username": "x"}))
    mount = make_mount("fsspec", {"url": "ftp://127.0.0.1:1/x", "secrets": "env:STORE_OPTIONS"})
    error = raises(errno.EIO, mount.read, "/y")
    assert "hunter2" not in str(error) + error.note + repr(mount) and error.note.startswith("fsspec:ftp: ")


# ---- S3

@pytest.fixture(scope="module")
def server():
    pytest.importorskip("s3fs")
    pytest.importorskip("moto.server")
    with S3() as server:
        yield server


@pytest.fixture
def s3(server):
    server.reset({"shop" + path: data for path, data in SAMPLE.items()})
    return server.mount("shop", writable=True)


@pytest.mark.slow
class TestS3(StoreContract):
    @pytest.fixture
    def mount(self, s3):
        return s3

    def test_odd_names(self, mount):
        """Keys are UTF-8."""
        for name in ("two words", "back\\slash", "-dash", "quo'te\"", "ünï", "*?[x]", "~", "a+b%20c&d=e", "a" * 255):
            self.new(mount, name, name.encode())
            assert name in names(mount, self.scratch) and mount.read(join(self.scratch, name)) == name.encode()
        raises(errno.EILSEQ, self.new, mount, "\udcff", b"x")

    def test_rename_is_atomic(self, mount):
        """Of one file: the old or the new content is there at any time."""
        path, seen = self.new(mount, "target", b"0" * 10), []
        delete = mount.store.fs.rm_file
        for turn in range(3):
            fresh = self.new(mount, f"fresh{turn}", str(turn).encode() * 10)
            mount.store.fs.rm_file = lambda *a: seen.append(mount.read(path)) or delete(*a)
            mount.rename(fresh, path)
        assert seen == [b"0" * 10, b"1" * 10, b"2" * 10]

    def test_a_change_shows(self, mount):
        path = self.new(mount, "f", b"one")
        before = mount.stat(path)
        time.sleep(1.0)                                      # S3 knows seconds
        mount.replace(path, b"two", 0o644, 0, 0)
        assert mount.stat(path).version != before.version and mount.stat(path).mtime_ns > before.mtime_ns


def test_s3_all_buckets(server):
    server.reset({"one/a.txt": b"1", "two/b/c.txt": b"22"})
    mount = server.mount("", writable=True)
    with Terminal({"/s3": mount}) as terminal:
        assert terminal.run("find /s3 -type f | sort; cat /s3/two/b/c.txt").stdout == "/s3/one/a.txt\n/s3/two/b/c.txt\n22"
        assert terminal.run("mkdir /s3/three").exit_code == 1
        assert terminal.run("echo x > /s3/one/new && mv /s3/one/new /s3/two/ && ls /s3/one /s3/two").stdout.split() == [
            "/s3/one:", "a.txt", "/s3/two:", "b", "new"]


def test_s3_key_that_is_also_a_directory(server):
    server.reset({"shop/a": b"object", "shop/a/b": b"below", "shop/c/": b""})
    mount = server.mount("shop", writable=True)
    assert sorted(names(mount, "/")) == ["a", "a__object", "c"]
    assert mount.read("/a__object") == b"object" and mount.read("/a/b") == b"below" and names(mount, "/c") == []
    assert server.mount("shop").read("/a__object") == b"object"


def test_s3_large_files_go_in_parts(server):
    server.reset({"shop/x": b""})
    mount = server.mount("shop", writable=True)
    data = os.urandom(1 << 20) * 21
    mount.replace("/big", data, 0o644, 0, 0)
    assert mount.stat("/big").size == len(data) and mount.read("/big") == data and mount.stat("/big").version.strip('"').endswith("-3")
    assert mount.read("/big", 5 << 20, 100) == data[5 << 20:(5 << 20) + 100]


def test_s3_requests_of_parts_and_ranges(server):
    """What goes over the wire: a part each 8 MiB, and of a large file only the range that is asked for."""
    server.reset({"shop/x": b""})
    mount = server.mount("shop", writable=True)
    with server.requests() as seen:
        mount.replace("/big", bytes(20 << 20), 0o644, 0, 0)
    parts = [line for line in seen if "partNumber=" in line]
    assert len(parts) == 3 and sum(line.startswith("POST") for line in seen) == 2 and len(seen) <= 7, seen
    with Terminal({"/s3": mount}) as terminal:
        terminal.run("ls /s3")
        before = mount.counters.bytes
        with server.requests() as seen:
            assert terminal.run("head -c 100 /s3/big | wc -c; tail -c 100 /s3/big | wc -c").stdout == "100\n100\n"
        assert sum(line.startswith("GET /shop/big") for line in seen) == 2 and len(seen) <= 4, seen
        assert mount.counters.bytes - before < 1 << 19


def test_s3_calls(server):
    server.reset({f"shop/d/{n}.txt": b"%d" % n for n in range(30)})
    mount = server.mount("shop")
    with Terminal({"/s3": mount}) as terminal:
        for line, most in (("ls /s3/d", 2), ("cat /s3/d/3.txt", 3), ("ls -l /s3/d; cat /s3/d/4.txt; ls /s3/d", 4)):
            before = mount.counters.calls
            assert terminal.run(line).exit_code == 0
            assert mount.counters.calls - before <= most, line


def test_s3_walks_ask_once_for_small_trees(server):
    """The same tree as the listings of each directory give; an odd key, or many, and these are asked for."""
    keys = ["a", "a/b", "a/c d/é.txt", "marker/", "marker/deep/", "z/y/x/w.txt", "top.txt"]
    server.reset({f"shop/{key}": key.encode() for key in keys})
    look = "find . | sort; find a -type f | xargs -d '\\n' cat; ls -R z"

    def seen_of(mount, line):
        with Terminal({"/s3": mount}, cwd="/s3") as terminal, server.requests() as seen:
            result = terminal.run(line)
            assert result.exit_code == 0, result
        return result.stdout, [request for request in seen if "list-type" in request]

    one_by_one = server.mount("shop")
    one_by_one.walk_ahead = None
    expected, listings = seen_of(one_by_one, look)
    assert "./a__object" in expected and "./marker/deep\n" in expected and len(listings) == 8
    assert seen_of(server.mount("shop"), look)[0] == expected
    assert len(seen_of(server.mount("shop"), "find .")[1]) == len(seen_of(server.mount("shop/a"), "grep -r c .")[1]) == 1
    server.client.put_object(Bucket="shop", Key="z//odd", Body=b"")
    assert len(seen_of(server.mount("shop"), "find a z/y")[1]) >= 3
    with Terminal({"/s3": server.mount("", writable=True)}) as terminal:
        assert terminal.run("find /s3 -name w.txt; rm -r /s3/shop/z/y/x; find /s3/shop/z -name w.txt").stdout == (
            "/s3/shop/z/y/x/w.txt\n")


def test_s3_refuses_wrong_buckets(server):
    error = raises(errno.ENOENT, server.mount("no-such-bucket").read, "/x")
    assert S3Key.TEXT not in str(error)
