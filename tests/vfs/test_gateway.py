from __future__ import annotations

import errno
import os

import pytest

from mirage.mounts import Host, Memory
from mirage.vfs.gateway import EFFECTS, linked
from mirage.vfs.resolve import resolve
from tests.vfs.support import RecordingGate, filesystem, raises

F, D, NEW = "/m/f", "/m/d", "/m/new"


@pytest.fixture
def gated():
    memory = Memory({"f": b"content", "empty": b"", "d/x": b"1", "secret/key": b"k"})
    memory.symlink("f", "/l", 1000, 1000)
    memory.symlink("secret/key", "/way", 1000, 1000)
    memory.symlink("/m/d", "/secret/out", 1000, 1000)
    gate = RecordingGate()
    return filesystem({"/m": memory}, gate=gate, cwd="/m"), gate


@pytest.mark.parametrize(("operation", "asked"), [
    (lambda fs: fs.stat("f"), [("stat", F)]),
    (lambda fs: fs.stat("l"), [("stat", F)]),
    (lambda fs: fs.lstat("l"), [("stat", "/m/l")]),
    (lambda fs: fs.readlink("l"), [("stat", "/m/l")]),
    (lambda fs: fs.list("d"), [("list", D)]),
    (lambda fs: list(fs.walk("d")), [("list", D)]),
    (lambda fs: fs.read("f"), [("read", F)]),
    (lambda fs: fs.open("l", os.O_RDONLY), [("read", F)]),
    (lambda fs: fs.open("d", os.O_RDONLY), [("list", D)]),
    (lambda fs: fs.open("f", os.O_RDWR), [("read", F), ("write", F)]),
    (lambda fs: fs.open("f", os.O_WRONLY | os.O_APPEND), [("write", F)]),
    (lambda fs: fs.open("f", os.O_WRONLY | os.O_TRUNC), [("destroy", F)]),
    (lambda fs: fs.open("f", os.O_RDONLY | os.O_TRUNC), [("read", F), ("destroy", F)]),
    (lambda fs: fs.open("empty", os.O_WRONLY | os.O_TRUNC), [("write", "/m/empty")]),
    (lambda fs: fs.open("f", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), [("destroy", F)]),
    (lambda fs: fs.open("new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), [("create", NEW)]),
    (lambda fs: fs.write("f", b"x"), [("destroy", F)]),
    (lambda fs: fs.write("new", b"x"), [("create", NEW)]),
    (lambda fs: fs.truncate("f", 100), [("write", F)]),
    (lambda fs: fs.truncate("f", 7), [("write", F)]),
    (lambda fs: fs.truncate("f", 3), [("write", F), ("destroy", F)]),
    (lambda fs: fs.mkdir("new"), [("create", NEW)]),
    (lambda fs: fs.mkfifo("new"), [("create", NEW)]),
    (lambda fs: fs.unlink("f"), [("destroy", F)]),
    (lambda fs: fs.unlink("l"), [("destroy", "/m/l")]),
    (lambda fs: (fs.unlink("d/x"), fs.rmdir("d")), [("destroy", "/m/d/x"), ("destroy", D)]),
    (lambda fs: fs.rename("f", "new"), [("destroy", F), ("create", NEW)]),
    (lambda fs: fs.rename("f", "empty"), [("destroy", F), ("destroy", "/m/empty")]),
    (lambda fs: fs.rename("d", "new"), [("destroy", D, True), ("create", NEW, True)]),
    (lambda fs: fs.link("f", "new"), [("link", F), ("link", NEW), ("create", NEW)]),
    (lambda fs: fs.symlink("f", "new"), [("link", NEW), ("create", NEW)]),
    (lambda fs: fs.chmod("l", 0o600), [("setattr", F)]),
    (lambda fs: fs.chown("f", 1000, 1000), [("setattr", F)]),
    (lambda fs: fs.utime("l", 1, 1, follow=False), [("setattr", "/m/l")]),
    (lambda fs: fs.setxattr("f", "user.a", b""), [("setattr", F)]),
    (lambda fs: fs.open("/dev/null", os.O_WRONLY | os.O_TRUNC), []),
])
def test_what_is_asked(gated, operation, asked):
    fs, gate = gated
    operation(fs)
    assert gate.take() == asked
    assert {effect for effect, *_ in asked} <= set(EFFECTS)


@pytest.mark.parametrize(("effect", "path", "operation"), [
    ("stat", F, lambda fs: fs.stat("l")),
    ("list", D, lambda fs: fs.list("d")),
    ("read", F, lambda fs: fs.read("l")),
    ("read", F, lambda fs: fs.open("f", os.O_RDWR)),
    ("write", F, lambda fs: fs.open("f", os.O_RDWR)),
    ("destroy", F, lambda fs: fs.write("f", b"")),
    ("destroy", F, lambda fs: fs.open("f", os.O_WRONLY | os.O_TRUNC)),
    ("destroy", F, lambda fs: fs.open("f", os.O_WRONLY).truncate(1)),
    ("destroy", F, lambda fs: fs.truncate("f", 1)),
    ("destroy", F, lambda fs: fs.unlink("f")),
    ("destroy", F, lambda fs: fs.rename("f", "new")),
    ("destroy", F, lambda fs: fs.rename("empty", "f")),
    ("create", NEW, lambda fs: fs.rename("f", "new")),
    ("create", NEW, lambda fs: fs.write("new", b"")),
    ("create", NEW, lambda fs: fs.symlink("f", "new")),
    ("create", NEW, lambda fs: fs.link("f", "new")),
    ("link", F, lambda fs: fs.link("f", "new")),
    ("setattr", F, lambda fs: fs.chmod("f", 0o600)),
])
def test_a_refusal_comes_before_anything_happens(gated, effect, path, operation):
    fs, gate = gated
    memory = fs.machine.namespace.find("/m").mount
    before = [(e.name, e.stat.mode, e.stat.version, e.stat.nlink) for e in memory.list("/")]
    gate.refused.add((effect, path))
    e = raises(errno.EACCES, operation, fs)
    assert e.note == "denied: the test says so"
    assert [(e.name, e.stat.mode, e.stat.version, e.stat.nlink) for e in memory.list("/")] == before


def test_what_is_hidden_does_not_exist(gated):
    fs, gate = gated
    gate.hidden = ("/m/secret",)
    for path in ("secret", "secret/key", "secret/none", "secret/key/below", "secret/..", "secret/../f", "way",
                 "secret/out", "secret/out/x", "/m/d/../secret/key"):
        raises(errno.ENOENT, fs.stat, path)
        raises(errno.ENOENT, fs.read, path)
        assert not fs.access(path, os.F_OK)
    for create in (lambda: fs.mkdir("secret"), lambda: fs.write("secret", b""), lambda: fs.write("secret/new", b""),
                   lambda: fs.symlink("x", "secret"), lambda: fs.rename("f", "secret"), lambda: fs.link("f", "secret"),
                   lambda: fs.open("way", os.O_WRONLY | os.O_CREAT), lambda: fs.write("way", b"")):
        raises(errno.ENOENT, create)
    assert "secret" not in [e.name for e in fs.list(".")]
    assert all("secret" not in path for path, _ in fs.walk("/"))
    assert fs.lstat("way").is_link
    assert gate.take()[-1][0] in ("list", "stat")


def test_access_asks_without_consequences(gated):
    fs, gate = gated
    gate.refused.add(("write", F))
    assert fs.access("f", os.R_OK) and not fs.access("f", os.W_OK)
    assert gate.take() == []


def test_bytes_are_counted(gated):
    fs, gate = gated
    fs.read("f")
    handle = fs.open("f", os.O_RDWR)
    handle.pread(3, 0)
    handle.pwrite(b"12345", 0)
    fs.write("new", b"123")
    assert gate.bytes == {"read": 10, "write": 8}


def test_moves_are_shown_with_both_names(gated):
    fs, gate = gated
    fs.rename("f", "g")
    fs.link("g", "d/h")
    fs.rename("d", "e")
    assert gate.moves == [("/m/f", "/m/g", False), ("/m/g", "/m/d/h", False), ("/m/d", "/m/e", True)]


def test_names_of_hard_links_and_of_other_mounts(tmp_path):
    memory = Memory({"a": b"1", "d/": None})
    memory.link("/a", "/d/b")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "f").write_bytes(b"x")
    os.link(tmp_path / "sub" / "f", tmp_path / "g")
    fs = filesystem({"/m": memory, "/n": memory, "/all": Host(tmp_path), "/part": Host(tmp_path / "sub")})

    def find(path):
        return resolve(fs.machine.namespace.table, path)

    assert {k: sorted(v) for k, v in linked(memory).items()} == {memory.stat("/a").identity: ["/a", "/d/b"]}
    assert find("/m/a").backend == find("/n/a").backend
    assert find("/all/sub/f").backend == find("/part/f").backend == ("host", str(tmp_path / "sub" / "f"))
    assert [sorted(v) for v in linked(find("/all").mounted.mount).values()] == [["/g", "/sub/f"]]
    assert find("/m/d").identity == find("/n/d").identity


def test_a_gate_sees_hard_links_of_hidden_files_when_it_looks():
    class ByName(RecordingGate):
        def visible(self, target):
            return target.stat is None or "/keep/a" not in linked(memory).get(target.identity, ())

    memory = Memory({"keep/a": b"1", "b": b"2"})
    memory.link("/keep/a", "/alias")
    fs = filesystem({"/m": memory}, gate=ByName())
    raises(errno.ENOENT, fs.read, "/m/alias")
    assert fs.read("/m/b") == b"2"
