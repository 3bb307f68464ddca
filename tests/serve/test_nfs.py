"""The NFS server: its answers call by call, and two clients of others."""
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading

import pytest

from mirage.mounts import Vfs
from mirage.mounts.vfs.inodes import TreeInodes
from mirage.mounts.vfs.integrity import check
from mirage.serve.nfs.server import NfsServer
from mirage.serve.nfs.xdr import opaque, text, u32, u64
from tests.serve import nfs_client as n
from tests.serve.nfs_client import Client


@pytest.fixture
def vfs(tmp_path):
    with Vfs.open(tmp_path / "n.db") as vfs:
        vfs.fs.chmod("/", 0o777)
        yield vfs
        assert check(vfs.db) == []


@pytest.fixture
def server(vfs):
    bugs = []
    with NfsServer(TreeInodes(vfs.mount), stable=True, sync=vfs.db.sync, report=bugs.append) as server:
        yield server
    assert bugs == []


@pytest.fixture
def client(server):
    client = Client(server, os.getuid() or 1000)
    yield client
    client.close()


@pytest.fixture
def root(server):
    client = Client(server, 0, 0)
    yield client
    client.close()


def test_files_are_made_written_read_and_removed(client, vfs):
    top = client.root
    handle = client.create(top, "f", 0o640)
    client.write(handle, b"hello", 3)
    assert client.read(handle) == b"\0\0\0hello" and client.read(handle, 2, 4) == b"el" and client.read(handle, 9, 99) == b""
    found = client.attributes(handle)
    assert (found.type, found.mode, found.size, found.nlink) == (1, 0o640, 8, 1)
    assert client.lookup(top, "f") == handle and client.lookup(top, "g") == 2
    assert client.call(n.LINK, handle, top, text("g"))[0] == 0 and client.attributes(handle).nlink == 2
    assert client.call(n.REMOVE, top, text("f"))[0] == 0 and client.read(client.lookup(top, "g")) == b"\0\0\0hello"
    assert client.call(n.RENAME, top, text("g"), top, text("h"))[0] == 0 and vfs.fs.read("/h") == b"\0\0\0hello"
    assert client.call(n.REMOVE, top, text("h"))[0] == 0 and client.attributes(handle) == 70 and client.read(handle) == 70


def test_directories_links_and_special_files(client, root):
    top = client.root
    inner = client.mkdir(top, "d", 0o750)
    assert client.attributes(top).nlink == 3 and client.attributes(inner).mode == 0o750
    assert client.lookup(inner, "..") == top and client.lookup(inner, ".") == inner and client.mount("/d") == inner
    assert client.mount("/nowhere") is None
    client.create(inner, "f")
    assert client.call(n.RMDIR, top, text("d"))[0] == 66 and client.call(n.REMOVE, top, text("d"))[0] == 21
    link = client.made(*client.call(n.SYMLINK, top, text("l"), n.KEEP, text("d/f")))
    status, reply = client.call(n.READLINK, link)
    assert status == 0 and reply.flag() and n.Attributes(reply).type == 5 and reply.text() == "d/f"
    fifo = client.made(*client.call(n.MKNOD, top, text("p"), u32(7), n.KEEP))
    assert client.attributes(fifo).type == 7
    device = u32(4), n.KEEP, u32(1), u32(3)
    assert client.call(n.MKNOD, top, text("c"), *device)[0] == 1
    assert root.attributes(root.made(*root.call(n.MKNOD, top, text("c"), *device))).rdev == (1, 3)
    for name in ("", ".", "..", "a/b"):
        assert client.create(top, name) == 22
    assert client.create(top, "x" * 256) == 63 and client.mkdir(top, "é" * 127) not in (63, 22)


def test_a_directory_is_listed_whole_in_pieces_while_it_changes(client, vfs):
    for number in range(300):
        vfs.fs.write(f"/file-{number:03}", b"")
    wanted = {".", "..", *(f"file-{number:03}" for number in range(300))}
    for procedure in (n.READDIR, n.READDIRPLUS):
        found = client.names(client.root, procedure, 1024)
        assert {name for _, name in found} == wanted and len(found) == len(wanted)
        assert len({cookie for cookie, _ in found}) == len(found)
    (_, gone), (middle, _) = found[10], found[150]
    vfs.fs.remove(f"/{gone}")
    vfs.fs.write("/another", b"")
    status, reply = client.call(n.READDIR, client.root, u64(middle), bytes(8), u32(1 << 16))
    assert status == 0
    n.Attributes(reply) if reply.flag() else None
    reply.fixed(8)
    rest = []
    while reply.flag():
        reply.u64()
        rest.append(reply.text())
        reply.u64()
    assert [name for name in rest if name != "another"] == [name for _, name in found[151:]]
    assert client.call(n.READDIR, client.root, u64(0), bytes(8), u32(10))[0] == 10005


def test_attributes_are_set_and_guarded(client, root):
    handle = client.create(client.root, "f")
    client.write(handle, b"0123456789")
    change = u32(1) + u32(0o600) + u32(0) * 2 + u32(1) + u64(4) + u32(2) + u32(7) + u32(8) + u32(2) + u32(9) + u32(10)
    assert client.call(n.SETATTR, handle, change, u32(0))[0] == 0
    found = client.attributes(handle)
    assert (found.mode, found.size, found.atime, found.mtime) == (0o600, 4, (7, 8), (9, 10))
    assert client.call(n.SETATTR, handle, n.KEEP, u32(1) + u32(1) + u32(1))[0] == 10002
    assert client.call(n.SETATTR, handle, n.KEEP, u32(1) + u32(found.ctime[0]) + u32(found.ctime[1]))[0] == 0
    owner = u32(0) + u32(1) + u32(55) + u32(0) * 4
    assert client.call(n.SETATTR, handle, owner, u32(0))[0] == 1
    assert root.call(n.SETATTR, handle, owner, u32(0))[0] == 0 and client.attributes(handle).uid == 55


def test_mode_bits_hold_for_who_calls(server, client):
    other = Client(server, 77, 77, (88,))
    handle = client.create(client.root, "mine", 0o600)
    client.write(handle, b"x")
    assert other.read(handle) == 13 and other.write(handle, b"y") == 13
    status, reply = other.call(n.ACCESS, handle, u32(0x3F))
    n.Attributes(reply) if reply.flag() else None
    assert status == 0 and reply.u32() == 0
    inner = client.mkdir(client.root, "d", 0o700)
    assert other.lookup(inner, "x") == 13 and other.create(inner, "x") == 13
    client.call(n.SETATTR, client.root, u32(1) + u32(0o1777) + u32(0) * 5, u32(0))
    own = other.create(other.root, "own")
    assert isinstance(own, bytes)
    assert other.call(n.REMOVE, other.root, text("own"))[0] == 0
    other.close()


def test_the_same_call_again_is_not_done_again(client):
    client.create(client.root, "f")
    assert [client.call(n.REMOVE, client.root, text("f"), xid=9)[0] for _ in range(2)] == [0, 0]
    assert client.call(n.REMOVE, client.root, text("f"), xid=10)[0] == 2
    verifier = u32(2) + b"12345678"
    handle = client.made(*client.call(n.CREATE, client.root, text("x"), verifier))
    assert client.made(*client.call(n.CREATE, client.root, text("x"), verifier)) == handle
    assert client.call(n.CREATE, client.root, text("x"), u32(2) + b"87654321")[0] == 17
    assert client.create(client.root, "x", how=1) == 17


def test_nonsense_is_answered_in_the_terms_of_the_protocol(client):
    assert client.call(n.GETATTR, opaque(b"no handle of ours"))[0] == 10001
    assert client.call(n.GETATTR, opaque(b"VFS3" + bytes(8) + (999).to_bytes(8, "big")))[0] == 70
    assert client.send(n.NFS, n.GETATTR, b"")[0] == 4 and client.send(n.NFS, 99, b"")[0] == 3
    assert client.send(n.NFS, 0, b"", version=4)[0] == 2 and client.send(100000, 0, b"")[0] == 1
    assert client.send(n.NFS, 0, b"")[0] == 0


SERVE = """
import sys
from mirage.mounts import Vfs
from mirage.mounts.vfs.inodes import TreeInodes
from mirage.serve.nfs.server import NfsServer
vfs = Vfs.open(sys.argv[1])
server = NfsServer(TreeInodes(vfs.mount), stable=True, sync=vfs.db.sync)
print(server.port, flush=True)
sys.stdin.read()
"""


class Killed:
    """A server in a process of its own."""

    def __init__(self, path):
        self.process = subprocess.Popen([sys.executable, "-c", SERVE, str(path)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.host, self.port = "127.0.0.1", int(self.process.stdout.readline())

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def test_handles_outlive_the_server_and_what_was_committed_too(tmp_path):
    first = Killed(tmp_path / "k.db")
    client = Client(first, 0, 0)
    handle = client.create(client.root, "f")
    verifier = client.write(handle, b"c" * 100_000)
    assert client.commit(handle) == verifier
    late = client.write(handle, b"d" * 10, 100_000)
    assert late == verifier
    directory = client.mkdir(client.root, "d")
    first.kill()
    client.close()
    second = Killed(tmp_path / "k.db")
    client = Client(second, 0, 0)
    assert client.read(handle)[:100_000] == b"c" * 100_000 and client.attributes(directory).type == 2
    assert client.commit(handle) != verifier                 # so the client sends again what it had not committed
    second.kill()
    client.close()


def test_several_clients_at_once(server, vfs):
    def work(number):
        client = Client(server, 0, 0)
        inner = client.mkdir(client.root, f"d{number}")
        for at in range(20):
            handle = client.create(inner, f"f{at}")
            client.write(handle, bytes([number]) * 5000, stable=2 if at % 5 == 0 else 0)
        client.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    vfs.sync()
    assert all(vfs.fs.read(f"/d{number}/f{at}") == bytes([number]) * 5000 for number in range(4) for at in range(20))


def test_a_layer_is_served_too(tmp_path):
    from mirage.mounts.vfs.maintenance import layer_of, set_base
    from mirage.vfs.paths import of_mount
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "f").write_text("of the base")
    with Vfs.open(tmp_path / "n.db") as vfs:
        set_base(vfs, str(tmp_path / "base"))
        with NfsServer(of_mount(layer_of(vfs)), stable=False, sync=vfs.db.sync) as server:
            client = Client(server, 0, 0)
            handle = client.lookup(client.root, "f")
            assert client.read(handle) == b"of the base"
            client.write(handle, b"IN", stable=2)
            assert client.read(handle) == b"IN the base" and (tmp_path / "base" / "f").read_text() == "of the base"
            assert {name for _, name in client.names(client.root)} == {".", "..", "f"}
            client.close()


@pytest.mark.skipif(shutil.which("nfs-cp") is None, reason="libnfs-utils is not installed")
def test_libnfs(server, vfs, tmp_path):
    vfs.fs.chmod("/", 0o777)
    data = os.urandom(2_500_000)
    (tmp_path / "big").write_bytes(data)
    where = f"nfs://127.0.0.1//big?nfsport={server.port}&mountport={server.port}"
    subprocess.run(["nfs-cp", str(tmp_path / "big"), where], check=True, timeout=60, stdout=subprocess.DEVNULL)
    assert subprocess.run(["nfs-cat", where], check=True, timeout=60, stdout=subprocess.PIPE).stdout == data
    listed = subprocess.run(["nfs-ls", where.replace("//big", "/")], check=True, timeout=60, stdout=subprocess.PIPE).stdout
    assert b"big" in listed and b"2500000" in listed
    vfs.sync()
    assert vfs.fs.read("/big") == data


def test_nfs_rs(server, vfs):
    nfs_rs = pytest.importorskip("nfs_rs")
    client = nfs_rs.Client.connect(f"nfs://127.0.0.1/?nfsport={server.port}&mountport={server.port}&uid=0&gid=0")
    client.mkdir("/d")
    data = os.urandom(700_000)
    with client.open("/d/f", "wb") as file:
        file.write(data)
    with client.open("/d/f", "rb") as file:
        assert file.read() == data
    client.symlink("f", "/d/l")
    assert sorted(client.listdir("/d")) == ["f", "l"] and client.readlink("/d/l") in ("f", b"f")
    client.rename("/d/f", "/d/g")
    client.truncate("/d/g", 10)
    client.chmod("/d/g", 0o600)
    assert client.stat("/d/g").size == 10
    client.remove("/d/l")
    client.close()
    vfs.sync()
    assert vfs.fs.read("/d/g") == data[:10] and vfs.fs.stat("/d/g").mode & 0o777 == 0o600
