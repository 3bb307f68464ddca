"""A layer over a base behaves as a plain file system with the same history; what it keeps, and what it leaves alone."""
from __future__ import annotations

import errno
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from mirage.mounts import Host, Memory, Vfs
from mirage.mounts.memory.store import MemoryStore
from mirage.mounts.vfs.integrity import check
from mirage.mounts.vfs.store import VfsStore
from mirage.vfs.layer import Layer
from mirage.vfs.types import S_IFDIR, S_IFREG, Capabilities, Entry, Stat, enoent
from tests.mounts.contract import MountContract, in_threads, raises
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


def store(kind, where=":memory:", **options):
    return MemoryStore() if kind == "memory" else VfsStore(Vfs(where, **options).mount)


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
        base = Memory({"a.bin": bytes(range(256)) * 100, "docs/b.bin": b"x" * 30_000})
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
    def equal(history):
        base = sample()
        before = Side(base).tree()
        if where == "two layers":
            layer = Layer(Layer(base, store("memory")), store("memory"))
        elif where == "database, partial":                   # with chunks so short that every file has several
            layer = Layer(base, store("database", chunk_size=4), partial="on")
        else:
            layer = Layer(base, store(where))
        same_as_plain(history, layer)
        assert Side(base).tree() == before
        assert Side(Layer(layer.base, layer.store)).tree() == Side(layer).tree()
        if where.startswith("database"):
            assert [p for p in check(layer.delta.db) if not p.repairable] == []

    equal()


# ---- what it leaves alone, and what it keeps

def test_looking_copies_nothing(kind):
    base, kept = Counting({"/a": b"alpha", "/d/b": b"beta"}), store(kind)
    layer = Layer(base, kept)
    fs = filesystem({"/": layer}, cwd="/", default=False)
    assert fs.read("/a") == b"alpha" and [e.name for e in fs.list("/d")] == ["b"]
    handle = fs.open("/d/b")
    assert handle.pread(10, 0) == b"beta"
    handle.close()
    assert kept.mount.list("/") == [] and list(layer.changes()) == []


def test_replacing_a_file_of_a_service_does_not_read_it(kind):
    base = Counting({"/a": b"alpha", "/b": b"beta"})
    layer = Layer(base, store(kind))
    layer.replace("/a", b"new", 0o644, 1000, 1000)
    layer.open("/b", os.O_WRONLY | os.O_TRUNC).close()
    layer.unlink("/b")
    assert base.reads == [] and layer.read("/a") == b"new"
    raises(errno.ENOENT, layer.stat, "/b")


def test_what_copying_up_keeps(kind):
    base = sample()
    base.setattr("/d", mode=0o1750, uid=0, gid=7, mtime_ns=12_345_000_000_001)
    base.setxattr("/d", "user.d", b"1")
    base.setattr("/a", uid=7, mode=0o4711, mtime_ns=9)
    layer = Layer(base, store(kind))
    before = {path: layer.stat(path) for path in ("/d", "/a", "/d/b")}
    layer.open("/d/b", os.O_RDWR).close()
    layer.open("/a", os.O_RDWR).close()
    for path, was in before.items():
        now = layer.stat(path)
        assert (now.mode, now.uid, now.gid, now.mtime_ns, now.atime_ns, now.ino) == \
            (was.mode, was.uid, was.gid, was.mtime_ns, was.atime_ns, was.ino), path
    assert layer.getxattr("/d", "user.d") == b"1" and layer.getxattr("/a", "user.color") == b"red"


def test_an_open_file_shows_what_is_written_later(kind):
    layer = Layer(sample(), store(kind))
    reader = layer.open("/a", os.O_RDONLY)
    writer = layer.open("/c", os.O_WRONLY)                   # its other name
    writer.pwrite(b"OMEGA", 0)
    assert reader.pread(10, 0) == b"OMEGA"
    writer.close()
    reader.close()


def test_the_hook_is_told_before_the_first_change(kind):
    told = []
    base = sample()

    def hook(path, stat):
        told.append((path, None if stat is None else stat.size))
        if path == "/b":
            raise PermissionError(errno.EACCES, "no", path)

    layer = Layer(base, store(kind), on_change=hook)
    raises(errno.EACCES, layer.replace, "/b", b"x", 0o644, 1000, 1000)
    assert layer.read("/b") == b""
    for data in (b"1", b"2"):
        layer.replace("/a", data, 0o644, 1000, 1000)
    layer.replace("/new", b"", 0o644, 1000, 1000)
    layer.unlink("/e/b")
    layer.rename("/d", "/moved")
    assert told == [("/b", 0), ("/a", 5), ("/new", None), ("/e/b", 4), ("/d", 4096), ("/moved", None)]


def test_a_database_keeps_the_layer(tmp_path):
    path = tmp_path / "layer.db"
    layer = Layer(sample(), store("database", path))
    layer.rename("/d", "/g")
    layer.rename("/g/d", "/e/x")
    layer.unlink("/g/b")
    layer.mkdir("/d", 0o755, 1000, 1000)
    layer.replace("/d/new", b"1", 0o644, 1000, 1000)
    expected = Side(layer).tree()
    layer.close()
    with Vfs(path) as vfs:
        assert check(vfs.db) == []
    again = Layer(sample(), store("database", path))
    assert Side(again).tree() == expected
    assert again.read("/e/x/a") == b"deep" and [e.name for e in again.list("/d")] == ["new"]
    again.close()


def test_renaming_a_directory_of_the_base_copies_no_file(tmp_path):
    base = Memory({f"big/{n}/{m}": b"x" * 10_000 for n in range(20) for m in range(20)})
    kept = store("database", tmp_path / "layer.db")
    layer = Layer(base, kept)
    layer.rename("/big", "/huge")
    layer.rename("/huge/7", "/seven")
    assert len(layer.list("/huge")) == 19 and layer.read("/seven/3") == b"x" * 10_000
    raises(errno.ENOENT, layer.stat, "/big")
    with kept.mount.db.reading:
        assert kept.mount.db.execute("SELECT count(*) FROM fs_data").fetchone()[0] == 0


def test_a_copy_that_a_crash_cut_off_is_not_seen(tmp_path):
    base = Memory({"big": b"x" * (5 << 20)})
    vfs = Vfs(tmp_path / "layer.db")
    vfs.fs.write("/.mirage-copy-1234", b"half")
    layer = Layer(base, VfsStore(vfs.mount))
    assert [e.name for e in layer.list("/")] == ["big"] and not vfs.fs.exists("/.mirage-copy-1234")
    handle = layer.open("/big", os.O_RDWR)
    handle.pwrite(b"y", 0)
    handle.close()
    assert layer.read("/big", 0, 2) == b"yx" and len(layer.read("/big")) == 5 << 20
    assert [e.name for e in vfs.fs.list("/")] == ["big"]
    vfs.close()


def test_T28_one_byte_of_a_large_file_costs_one_chunk():
    base = Memory({"big": bytes(range(256)) * 40_000})
    kept = store("database")
    layer = Layer(base, kept, partial="auto", threshold=1 << 20)
    handle = layer.open("/big", os.O_RDWR)
    handle.pwrite(b"!", 5_000_000)
    handle.pwrite(b"end", -1)
    expected = bytearray(base.read("/big"))
    expected[5_000_000] = ord("!")
    expected += b"end"
    assert layer.read("/big") == bytes(expected)
    handle.truncate(5_100_000)
    handle.truncate(5_300_000)
    handle.close()
    assert layer.read("/big") == bytes(expected[:5_100_000]) + bytes(200_000)
    with kept.mount.db.reading:
        assert kept.mount.db.execute("SELECT count(*) FROM fs_data").fetchone()[0] <= 3


def test_T27_only_three_policies():
    with pytest.raises(ValueError):
        Layer(Memory(), store("memory"), partial="sometimes")


def test_T31_a_base_that_changed_is_not_mixed_in():
    base = Memory({"big": bytes(300_000)})
    layer = Layer(base, store("database"), partial="on")
    handle = layer.open("/big", os.O_RDWR)
    handle.pwrite(b"!", 0)
    handle.close()
    base.replace("/big", b"y" * 300_000, 0o644, 1000, 1000)
    raises(errno.ESTALE, layer.read, "/big")


def test_threads_change_one_layer():
    layer = Layer(Memory({f"d/{n}": b"base" for n in range(40)}), store("database"))

    def work(number):
        for turn in range(number, 40, 4):
            handle = layer.open(f"/d/{turn}", os.O_RDWR)
            handle.pwrite(b"NEW!", 0)
            handle.close()
            layer.rename(f"/d/{turn}", f"/d/{turn}.moved")

    in_threads(4, work)
    assert sorted(e.name for e in layer.list("/d")) == sorted(f"{n}.moved" for n in range(40))
    assert all(layer.read(f"/d/{n}.moved") == b"NEW!" for n in range(40))


# ---- what differs

def letters(layer):
    return [(letter, path) for letter, path, _ in layer.changes()]


def test_changes_tell_what_came_and_went_with_renamed_and_replaced_directories():
    layer = Layer(Memory({"d/a": b"1", "d/e/b": b"2", "old/x": b"3", "old/y": b"4"}), MemoryStore())
    layer.rename("/old", "/new")
    layer.unlink("/new/y")
    for path in ("/d/e/b", "/d/a"):
        layer.unlink(path)
    for path in ("/d/e", "/d"):
        layer.rmdir(path)
    layer.mkdir("/d", 0o755, 1000, 1000)
    layer.replace("/d/a", b"other", 0o644, 1000, 1000)
    assert letters(layer) == [("M", "/d"), ("M", "/d/a"), ("D", "/d/e"), ("A", "/new"), ("A", "/new/x"), ("D", "/old")]


def test_changes_where_the_base_has_a_link_on_the_way(tmp_path):
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to("target")
    layer = Layer(Host(str(tmp_path)), MemoryStore())
    layer.unlink("/link")
    layer.mkdir("/link", 0o755, 1000, 1000)
    layer.replace("/link/f", b"new", 0o644, 1000, 1000)
    layer.setattr("/target", mode=0o700)
    assert letters(layer) == [("M", "/link"), ("A", "/link/f"), ("M", "/target")]


def test_stacked_layers_share_no_inode_numbers():
    """Else a file of one layer would be taken for a hard link of another one's."""
    with Vfs(":memory:") as vfs:
        vfs.fs.write("/base", b"0")
        layer, kept = vfs.mount, []
        for number in range(4):
            kept.append(Vfs(":memory:"))
            layer = Layer(layer, VfsStore(kept[-1].mount))
            layer.replace(f"/f{number}", b"%d" % number, 0o644, 1000, 1000)
        names = [entry.name for entry in layer.list("/")]
        numbers = {name: layer.stat(f"/{name}").ino for name in names}
        assert len(names) == len(set(numbers.values())) == 5
        for name in names:
            layer.setattr(f"/{name}", mode=0o600)
        assert {name: layer.stat(f"/{name}").ino for name in names} == numbers
        layer.rename("/f0", "/f1")
        assert layer.read("/f1") == b"0" and not [e for e in layer.list("/") if e.name == "f0"]
        for made in kept:
            made.close()
