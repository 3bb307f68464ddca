"""A layer over a base behaves as a plain file system with the same history; what it keeps, and what it leaves alone."""
from __future__ import annotations

import errno
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from mirage.mounts import Host, Memory, Vfs
from mirage.mounts.memory.store import MemoryStore
from mirage.mounts.vfs.store import VfsStore
from mirage.vfs.layer import Layer
from mirage.vfs.types import S_IFDIR, S_IFREG, Capabilities, Entry, Stat, enoent
from tests.mounts.contract import MountContract
from tests.vfs.support import filesystem

SAMPLE = {"a": b"alpha", "b": b"", "d/a": b"one", "d/b": b"two", "d/d/a": b"deep", "e/d/c": b"three", "e/b": b"four"}


def sample():
    memory = Memory(SAMPLE, clock=iter(range(10 ** 17, 10 ** 18, 10 ** 6)).__next__)
    memory.link("/d/a", "/e/a")
    memory.link("/a", "/c")
    memory.symlink("../d/b", "/e/c", 1000, 1000)
    memory.symlink("d", "/f", 1000, 1000)
    memory.setattr("/d/b", mode=0o600, mtime_ns=5)
    memory.setxattr("/a", "user.color", b"red")
    memory.mkfifo("/e/p", 0o640, 1000, 1000)
    return memory


def other_names():
    memory = Memory({"a.txt": b"alpha", "docs/b.txt": b"0123456789", "docs/deep/c.txt": b"x" * 100, "more/b.txt": b"four"})
    memory.link("/docs/b.txt", "/more/same.txt")
    memory.symlink("docs/b.txt", "/pointer", 1000, 1000)
    return memory


class Counting:
    """A service: three methods, no inode numbers, versions; counts how often it is read."""

    capabilities = Capabilities()

    def __init__(self, files):
        self.files = files
        self.reads = []

    def _children(self, path):
        prefix = path.rstrip("/") + "/"
        return sorted({name[len(prefix):].split("/")[0] for name in self.files if name.startswith(prefix)})

    def list(self, path):
        if path in self.files:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        if not self._children(path):
            raise enoent(path)
        return [Entry(name) for name in self._children(path)]

    def stat(self, path):
        if path in self.files:
            return Stat(S_IFREG | 0o444, None, 7, version=f"v{len(self.files[path])}")
        if self._children(path):
            return Stat(S_IFDIR | 0o755, 4096, 7)
        head = path.rpartition("/")[0]
        while head:
            if head in self.files:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
            head = head.rpartition("/")[0]
        raise enoent(path)

    def read(self, path, offset=0, length=None):
        if path not in self.files:
            self.list(path)
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        self.reads.append(path)
        return self.files[path][offset:None if length is None else offset + length]


def store(kind, where=None):
    return MemoryStore() if kind == "memory" else VfsStore(Vfs(":memory:" if where is None else where).mount)


@pytest.fixture(params=["memory", "database"])
def kind(request):
    return request.param


class TestLayerOverMemory(MountContract):
    @pytest.fixture
    def mount(self, kind):
        return Layer(other_names(), store(kind))


class TestLayerOverHost(MountContract):
    @pytest.fixture
    def mount(self, kind, tmp_path):
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs" / "b.txt").write_bytes(b"0123456789" * 1000)
        (tmp_path / "a.txt").write_bytes(b"alpha\n")
        os.symlink("docs/b.txt", tmp_path / "pointer")
        return Layer(Host(tmp_path), store(kind))


class TestLayerOverService(MountContract):
    @pytest.fixture
    def mount(self, kind):
        return Layer(Counting({"/a.json": b'{"a": 1}', "/box/b.json": b"{}" * 50, "/box/deep/c.json": b"[]"}), store(kind))


class TestPartialLayer(MountContract):
    @pytest.fixture
    def mount(self):
        base = Memory({"a.bin": bytes(range(256)) * 4000, "docs/b.bin": b"x" * 200_000})
        return Layer(base, store("database"), partial="on")


class TestLayerOverLayer(MountContract):
    @pytest.fixture
    def mount(self):
        lower = Layer(other_names(), store("memory"))
        lower.rename("/docs", "/papers")
        lower.unlink("/more/b.txt")
        return Layer(lower, store("database"))


# ---- the property

EXAMPLES = int(os.environ.get("LAYER_EXAMPLES", "60"))
NAMES = some.sampled_from("abcdef")
PATHS = some.lists(NAMES, min_size=1, max_size=3).map("/".join)
DATA = some.binary(max_size=12)
OPERATIONS = some.one_of(
    some.tuples(some.just("write"), PATHS, DATA),
    some.tuples(some.just("pwrite"), PATHS, some.integers(0, 20), DATA),
    some.tuples(some.just("append"), PATHS, DATA),
    some.tuples(some.just("truncate"), PATHS, some.integers(0, 20)),
    some.tuples(some.sampled_from(["unlink", "rmdir", "mkdir", "mkfifo"]), PATHS),
    some.tuples(some.just("rename"), PATHS, PATHS),
    some.tuples(some.just("rename"), PATHS, PATHS),
    some.tuples(some.just("link"), PATHS, PATHS),
    some.tuples(some.just("symlink"), PATHS, PATHS),
    some.tuples(some.just("chmod"), PATHS, some.sampled_from([0o700, 0o755, 0o777])),
    some.tuples(some.just("utime"), PATHS, some.integers(1, 9), some.integers(1, 9)),
    some.tuples(some.just("setxattr"), PATHS, some.sampled_from(["user.a", "user.b"]), DATA),
    some.tuples(some.just("open"), PATHS, some.sampled_from([os.O_RDONLY, os.O_RDWR])),
    some.tuples(some.just("use"), some.integers(0, 5), some.integers(0, 20), DATA),
)


class Side:
    def __init__(self, mount):
        self.fs = filesystem({"/": mount}, cwd="/", default=False)
        self.handles = []

    def pwrite(self, path, offset, data):
        handle = self.fs.open(path, os.O_WRONLY)
        try:
            handle.pwrite(data, offset)
        finally:
            handle.close()

    def append(self, path, data):
        handle = self.fs.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            handle.pwrite(data, -1)
        finally:
            handle.close()

    def open(self, path, flags):
        handle = self.fs.open(path, flags)
        if handle.stat().is_file:
            self.handles.append((handle, flags))

    def use(self, number, offset, data):
        if number < len(self.handles):
            handle, flags = self.handles[number]
            if flags == os.O_RDWR and data:
                handle.pwrite(data, offset)
            stat = handle.stat()
            return handle.pread(100, 0), stat.size, stat.nlink

    def do(self, call):
        function = getattr(self, call[0], None) or getattr(self.fs, call[0])
        try:
            return function(*call[1:])
        except OSError as e:
            return errno.errorcode[e.errno]

    def tree(self):
        found, identities = {}, {}
        for directory, entries in self.fs.walk("/"):
            for entry in entries:
                path = f"{directory.rstrip('/')}/{entry.name}"
                stat = self.fs.stat(path, follow=False)
                assert entry.stat.identity == stat.identity and entry.stat.mode == stat.mode and entry.stat.size == stat.size
                identities.setdefault(stat.identity, []).append(path)
                content = None if stat.is_dir or stat.is_fifo else self.fs.readlink(path) if stat.is_link else self.fs.read(path)
                xattr = {name: self.fs.getxattr(path, name, False) for name in self.fs.listxattr(path, False)}
                times = None if stat.mtime_ns > 3 * 10 ** 17 else (stat.mtime_ns, stat.atime_ns)
                found[path] = (stat.mode, stat.uid, stat.gid, None if stat.is_dir else (stat.size, stat.nlink), content, xattr, times)
        return found, sorted(sorted(paths) for paths in identities.values())


def plain():
    """The file system that a layer over sample() must equal; its clock is in another century."""
    memory = sample()
    memory.clock = iter(range(3 * 10 ** 18, 4 * 10 ** 18, 10 ** 6)).__next__
    return memory


def same_as_plain(history, layer):
    expected, got = Side(plain()), Side(layer)
    for number, call in enumerate(history):
        assert got.do(call) == expected.do(call), (number, call)
    assert got.tree() == expected.tree()
    return got


@pytest.mark.parametrize("where", ["memory", "database", "database, partial", "two layers"])
def test_random_histories(where):
    @settings(max_examples=EXAMPLES, deadline=None, report_multiple_bugs=False, suppress_health_check=list(HealthCheck))
    @given(some.lists(OPERATIONS, max_size=30))
    def check(history):
        base = sample()
        before = Side(base).tree()
        if where == "two layers":
            layer = Layer(Layer(base, store("memory")), store("memory"))
        else:
            layer = Layer(base, store(where[:8].rstrip(",")), partial="on" if "partial" in where else "off")
        same_as_plain(history, layer)
        assert Side(base).tree() == before

    check()
