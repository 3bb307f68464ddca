"""The inode protocol, without a kernel: a database by its inodes, anything else by paths."""
from __future__ import annotations

import errno
import os

import pytest

from mirage import Terminal
from mirage.mounts import Host, Memory, Vfs
from mirage.mounts.vfs.inodes import TreeInodes
from mirage.mounts.vfs.store import VfsStore
from mirage.policy import Verdict
from mirage.vfs.inodes import ROOT, Changes, Owners
from mirage.vfs.layer import Layer
from mirage.vfs.paths import folders, of_machine, of_mount, refuse_own_mountpoint

ME = (os.getuid(), os.getgid())


@pytest.fixture(params=["database", "layer", "memory"])
def inodes(request, tmp_path):
    if request.param == "database":
        vfs = Vfs(tmp_path / "a.db")
        yield TreeInodes(vfs.mount)
        vfs.close()
    elif request.param == "layer":
        (tmp_path / "base").mkdir()
        vfs = Vfs(tmp_path / "a.db")
        yield of_mount(Layer(Host(tmp_path / "base"), VfsStore(vfs.mount)))
        vfs.close()
    else:
        yield of_mount(Memory())


def put(inodes, parent: int, name: str, data: bytes) -> int:
    (node, _), handle = inodes.create(parent, name, 0o644, os.O_RDWR, *ME)
    handle.pwrite(memoryview(data), 0, False)
    handle.flush()
    handle.close()
    return node


def test_names_become_nodes_and_stay_them(inodes):
    node = put(inodes, ROOT, "a", b"one")
    assert inodes.lookup(ROOT, "a")[0] == node and inodes.lookup(ROOT, "b") is None
    inodes.rename(ROOT, "a", ROOT, "b", 0)
    assert inodes.lookup(ROOT, "b")[0] == node and inodes.lookup(ROOT, "a") is None
    linked = inodes.link(node, ROOT, "c")
    assert linked[0] == node and linked[1].nlink == 2
    directory, _ = inodes.mkdir(ROOT, "d", 0o755, *ME)
    inodes.rename(ROOT, "b", directory, "b", 0)
    assert inodes.lookup(directory, "b")[0] == node
    inodes.rename(ROOT, "d", ROOT, "e", 0)
    handle = inodes.open(inodes.lookup(directory, "b")[0], os.O_RDONLY)
    assert handle.pread(10, 0) == b"one"
    handle.close()
    with pytest.raises(OSError) as failure:
        inodes.rename(ROOT, "e", ROOT, "c", 1)
    assert failure.value.errno == errno.EEXIST


def test_an_open_file_lives_without_names(inodes):
    node = put(inodes, ROOT, "a", b"one")
    handle = inodes.open(node, os.O_RDWR)
    inodes.unlink(ROOT, "a")
    assert inodes.lookup(ROOT, "a") is None and inodes.getattr(node, handle).nlink == 0
    handle.pwrite(memoryview(b"two"), 3, False)
    assert handle.pread(10, 0) == b"onetwo"
    handle.close()
    again = put(inodes, ROOT, "a", b"other")
    assert again != node


def test_listings_are_what_they_were_when_opened(inodes):
    for name in ("a", "b", "c"):
        put(inodes, ROOT, name, b"")
    listing = inodes.opendir(ROOT)
    inodes.unlink(ROOT, "b")
    put(inodes, ROOT, "d", b"")
    assert sorted(name for name, _, _ in listing.entries) == ["a", "b", "c"]
    nodes = {name: listing.enter(number) for number, (name, _, _) in enumerate(listing.entries)}
    assert nodes["a"][0] == inodes.lookup(ROOT, "a")[0]


def test_appends_go_to_the_end(inodes):
    node = put(inodes, ROOT, "a", b"12345")
    handle = inodes.open(node, os.O_WRONLY | os.O_APPEND)
    assert handle.direct and handle.pwrite(memoryview(b"67"), 0, False) == 7
    handle.flush()
    handle.close()
    assert inodes.getattr(node).size == 7


def test_attributes(inodes):
    node = put(inodes, ROOT, "a", b"12345")
    changes = Changes()
    changes.mode, changes.size, changes.mtime_ns = 0o6711, 2, 5_000_000_007
    stat = inodes.setattr(node, changes)
    assert (stat.mode & 0o7777, stat.size, stat.mtime_ns) == (0o6711, 2, 5_000_000_007)
    changes = Changes()
    changes.size, changes.drop_privileges = 1, True
    assert inodes.setattr(node, changes).mode & 0o7777 == 0o711
    assert inodes.getattr(node).uid == ME[0]
    link, shown = inodes.symlink(ROOT, "l", "a", *ME)
    assert inodes.readlink(link) == "a" and shown.is_link


def test_what_the_kernel_must_forget(tmp_path):
    with Vfs(tmp_path / "a.db") as mine, Vfs(tmp_path / "a.db") as theirs:
        inodes = TreeInodes(mine.mount)
        node = put(inodes, ROOT, "a", b"one")
        assert inodes.lookup(ROOT, "missing") is None
        inodes.tend()
        assert inodes.tend() == ([], [])
        put(inodes, ROOT, "b", b"own changes are known")
        assert inodes.tend() == ([], [])
        theirs.fs.write("/missing", "x")
        nodes, names = inodes.tend()
        assert ROOT in nodes and names == [(ROOT, "missing")] and node not in nodes
        theirs.fs.write("/a", "two")
        assert node in inodes.tend()[0]
        theirs.fs.remove("/a")
        nodes, names = inodes.tend()
        assert node in nodes and (ROOT, "a") in names
        mine.fs.write("/c", "a terminal of this process")
        assert ROOT in inodes.tend()[0]
        inodes.close()


def test_every_owner_can_be_stored():
    for me in ((0, 0), (1000, 1000), (1234, 99)):
        owners = Owners(me)
        for uid in (0, 1, 1000, 1234, 65534):
            if uid or not me[0]:
                assert owners.shown(*owners.stored(uid, uid))[0] == uid
        assert owners.shown(1000, 1000) == me and owners.stored(*me) == (1000, 1000)
    assert Owners((1234, 99)).shown(0, 0) == (1234, 99)      # what other implementations store
    assert Owners((1234, 99), swap=False).shown(0, 1234) == (0, 1234)
    assert Owners((0, 0), 7, 8).shown(1, 2) == (7, 8)


def test_an_approver_is_not_asked_through_a_door():
    asked = []

    def approve(ask):
        asked.append(ask)
        return Verdict.allow()

    policy = "default: allow\nrules:\n  - {effect: create, path: '/w/**', action: ask, reason: ask first}\n"
    with Terminal({"/w": Memory()}, policy=policy, on_ask=approve) as terminal:
        inodes = of_machine(terminal.machine)
        parent = inodes.lookup(ROOT, "w")[0]
        with pytest.raises(PermissionError):
            inodes.mkdir(parent, "d", 0o755, *ME)
        inodes.tend()
        found = terminal.machine.gate.journal.records("verdict = 'ask'")
        assert not asked and [r["target"] for r in found] == ["/w/d"] and found[0]["reason"].endswith(": ask first")
        assert terminal.run("mkdir /w/d").exit_code == 0 and len(asked) == 1


def test_a_mount_does_not_contain_its_place(tmp_path):
    (tmp_path / "base" / "in").mkdir(parents=True)
    with Vfs(tmp_path / "a.db") as vfs:
        layer = Layer(Host(tmp_path / "base"), VfsStore(vfs.mount))
        places = folders(layer)
        assert sorted(places) == sorted([str(tmp_path / "base"), str(tmp_path / "a.db")])
        for refused in (tmp_path / "base", tmp_path / "base" / "in", tmp_path):
            with pytest.raises(ValueError):
                refuse_own_mountpoint(places, str(refused))
        refuse_own_mountpoint(places, str(tmp_path / "beside"))
