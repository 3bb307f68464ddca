from __future__ import annotations

import errno
import os
import socket
import threading
from types import SimpleNamespace

import pytest

from mirage.mounts import Host, Memory
from mirage.mounts.host import beneath
from mirage.vfs.facade import Actor
from mirage.vfs.filesystem import FileSystem
from mirage.vfs.namespace import Namespace
from tests.mounts.contract import MountContract, raises

SECRET = b"a secret outside of the mount\n"


def fill(directory):
    (directory / "docs" / "deep").mkdir(parents=True)
    (directory / "void").mkdir()
    (directory / "a.txt").write_bytes(b"alpha\nbeta\n")
    (directory / "empty").write_bytes(b"")
    (directory / "docs" / "deep" / "blob.bin").write_bytes(bytes(range(256)) * 700)
    (directory / "docs" / "link").symlink_to("../a.txt")
    return directory


@pytest.fixture(params=["openat2", "stepwise"])
def way(request, monkeypatch):
    """Both ways to open below a directory, where the kernel has both."""
    if request.param == "stepwise":
        monkeypatch.setattr(beneath, "_available", False)
    else:
        monkeypatch.setattr(beneath, "_available", None)
        fd = os.open("/", beneath.O_PATH)
        found = beneath._probe(fd)
        os.close(fd)
        if not found:
            pytest.skip("this kernel has no openat2")
    return request.param


class TestWritableHost(MountContract):
    @pytest.fixture
    def mount(self, tmp_path, way):
        host = Host(fill(tmp_path), writable=True)
        yield host
        host.close()


class TestReadOnlyHost(MountContract):
    @pytest.fixture
    def mount(self, tmp_path, way):
        host = Host(fill(tmp_path))
        yield host
        host.close()


@pytest.fixture
def place(tmp_path, way):
    """A folder to mount (`in`), and beside it things that nobody may reach."""
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret").write_bytes(SECRET)
    (tmp_path / "in" / "plain").write_bytes(b"plain\n")
    (tmp_path / "in" / "sub").mkdir()
    return tmp_path


def tree(host, **more):
    machine = SimpleNamespace(namespace=Namespace({"/": Memory({"etc/passwd": b"virtual\n"}), "/host": host, **more}), gate=None)
    return FileSystem(machine, Actor("test"))


def test_a_link_to_the_outside_ends_in_the_virtual_tree(place):
    (place / "in" / "up").symlink_to("../out/secret")
    (place / "in" / "upup").symlink_to("../" * 20 + str(place / "out" / "secret")[1:])
    (place / "in" / "absolute").symlink_to(place / "out" / "secret")
    (place / "in" / "folder").symlink_to(place / "out")
    (place / "in" / "passwd").symlink_to("/etc/passwd")
    host = Host(place / "in", writable=True)
    fs = tree(host)
    for name in ("up", "upup", "absolute", "folder/secret"):
        raises(errno.ENOENT, fs.read, f"/host/{name}")
        raises(errno.ENOENT, fs.stat, f"/host/{name}")
    assert fs.read("/host/passwd") == b"virtual\n"
    raises(errno.ENOENT, fs.list, "/host/folder")
    raises(errno.ENOENT, fs.write, "/host/folder/new", b"x")
    assert os.listdir(place / "out") == ["secret"]
    for inner in ("/up", "/upup", "/absolute", "/folder/secret"):
        raises(errno.ELOOP, host.open, inner, os.O_RDONLY)
        raises(errno.ELOOP, beneath.open_beneath, host._fd, inner, os.O_RDONLY)


def test_a_link_inside_is_followed_inside(place):
    (place / "in" / "sub" / "to").symlink_to("../plain")
    fs = tree(Host(place / "in"))
    assert fs.read("/host/sub/to") == b"plain\n"
    assert fs.readlink("/host/sub/to") == "../plain"


def test_dotdot_given_to_the_mount_itself(place):
    host = Host(place / "in", writable=True)
    for path in ("/../out/secret", "/sub/../../out/secret", "/..", "/sub/.."):
        for action in (host.stat, host.read, host.list, host.readlink, host.unlink):
            with pytest.raises(OSError):
                action(path)
        with pytest.raises(OSError):
            host.rename("/plain", path)
        with pytest.raises(OSError):
            host.create(path, 0o644, 1000, 1000)
    with pytest.raises(OSError):
        host.read("/plain\0/../../out/secret")
    assert (place / "out" / "secret").read_bytes() == SECRET


def test_dotdot_at_the_top_stays_in_the_tree(place):
    fs = tree(Host(place / "in"))
    raises(errno.ENOENT, fs.read, "/host/../out/secret")
    assert fs.stat("/host/..").identity == fs.stat("/").identity


def test_magic_links_lead_nowhere():
    host = Host("/proc")
    fs = tree(host)
    for path in ("/self/root/etc/passwd", "/self/cwd/.", f"/{os.getpid()}/root/etc/passwd", f"/{os.getpid()}/fd/0"):
        with pytest.raises(OSError):
            host.read(path)
    assert fs.read("/host/self/root/etc/passwd") == b"virtual\n"
    assert b"Name:" in fs.read(f"/host/{os.getpid()}/status")


def test_hard_links_made_before_can_be_read_and_not_changed(place):
    os.link(place / "out" / "secret", place / "in" / "linked")
    host = Host(place / "in", writable=True)
    fs = tree(host)
    assert fs.read("/host/linked") == SECRET
    before = os.stat(place / "out" / "secret")
    for change in (lambda: fs.write("/host/linked", b"x"), lambda: fs.open("/host/linked", os.O_WRONLY),
                   lambda: fs.open("/host/linked", os.O_RDWR | os.O_CREAT), lambda: fs.truncate("/host/linked", 0),
                   lambda: fs.open("/host/linked", os.O_WRONLY | os.O_TRUNC), lambda: fs.chmod("/host/linked", 0o777),
                   lambda: fs.utime("/host/linked", 1, 1), lambda: host.create("/linked", 0o644, 1000, 1000)):
        raises(errno.EPERM, change)
    fs.link("/host/linked", "/host/again")
    raises(errno.EPERM, fs.open, "/host/again", os.O_WRONLY)
    after = os.stat(place / "out" / "secret")
    assert (place / "out" / "secret").read_bytes() == SECRET
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    fs.unlink("/host/linked")
    raises(errno.EPERM, fs.open, "/host/again", os.O_WRONLY)
    Host(place / "in", writable=True, hardlinks=True).open("/again", os.O_WRONLY).pwrite(b"A", 0)
    assert (place / "out" / "secret").read_bytes() == b"A" + SECRET[1:]


def test_hard_links_made_inside_can_be_changed(place):
    fs = tree(Host(place / "in", writable=True))
    fs.link("/host/plain", "/host/two")
    fs.link("/host/plain", "/host/three")
    fs.open("/host/two", os.O_WRONLY).pwrite(b"P", 0)
    fs.unlink("/host/three")
    fs.open("/host/two", os.O_WRONLY).pwrite(b"Q", 0)
    assert fs.read("/host/plain") == b"Qlain\n"
    fs.link("/host/plain", "/host/three")
    fs.write("/host/fresh", b"")
    fs.rename("/host/fresh", "/host/three")
    os.link(place / "in" / "plain", place / "out" / "stolen")
    raises(errno.EPERM, fs.open, "/host/two", os.O_WRONLY)


def test_special_files_are_listed_and_not_opened(place):
    os.mkfifo(place / "in" / "fifo")
    server = socket.socket(socket.AF_UNIX)
    os.chdir(place / "in")
    server.bind("socket")
    fs = tree(Host(place / "in", writable=True))
    assert {"fifo", "socket"} <= {entry.name for entry in fs.list("/host")}
    for name in ("fifo", "socket"):
        for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
            raises(errno.EACCES, fs.open, f"/host/{name}", flags)
    server.close()
    if os.geteuid() == 0:
        os.mknod(place / "in" / "zero", 0o666 | 0o020000, os.makedev(1, 5))
        raises(errno.EACCES, fs.open, "/host/zero", os.O_RDONLY)


def test_setuid_is_dropped(place):
    os.chmod(place / "in" / "plain", 0o4755)
    fs = tree(Host(place / "in", writable=True))
    assert fs.stat("/host/plain").mode & 0o7777 == 0o755
    fs.write("/host/new", b"")
    fs.chmod("/host/new", 0o6755)
    assert os.stat(place / "in" / "new").st_mode & 0o7777 == 0o755


def test_owners(place):
    fs = tree(Host(place / "in", writable=True))
    assert (fs.stat("/host/plain").uid, fs.stat("/host/plain").gid) == (1000, 1000)
    raises(errno.EPERM, fs.chown, "/host/plain", 0, 0)
    fs.chown("/host/plain", 1000, 1000)
    if os.geteuid() == 0:
        os.chown(place / "in" / "plain", 4242, 4242)
        os.chmod(place / "in" / "plain", 0o600)
        assert fs.stat("/host/plain").uid == 65534
        raises(errno.EACCES, fs.read, "/host/plain")


def test_modes_do_not_depend_on_the_umask_of_the_host(place):
    fs = tree(Host(place / "in", writable=True))
    old = os.umask(0o077)
    try:
        fs.mkdir("/host/d", 0o775)
        fs.open("/host/f", os.O_WRONLY | os.O_CREAT, 0o664).close()
        fs.write("/host/g", b"")
    finally:
        os.umask(old)
    assert [fs.stat(p).mode & 0o777 for p in ("/host/d", "/host/f", "/host/g")] == [0o755, 0o644, 0o644]


def test_replace_leaves_nothing_behind_when_it_fails(place, monkeypatch):
    host = Host(place / "in", writable=True)
    before = sorted(os.listdir(place / "in"))

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("mirage.mounts.host._write_all", full)
    raises(errno.ENOSPC, host.replace, "/plain", b"x", 0o644, 1000, 1000)
    assert sorted(os.listdir(place / "in")) == before and (place / "in" / "plain").read_bytes() == b"plain\n"


def test_two_mounts_of_one_folder_are_one_backend(place):
    one, two = Host(place / "in"), Host(place / "in" / "sub")
    (place / "in" / "sub" / "f").write_bytes(b"x")
    assert one.backend("/sub/f") == two.backend("/f")
    assert one.stat("/sub/f").identity == two.stat("/f").identity


def test_missing_folder_and_file_instead_of_folder(place):
    with pytest.raises(FileNotFoundError):
        Host(place / "nowhere")
    with pytest.raises(NotADirectoryError):
        Host(place / "in" / "plain")


@pytest.mark.parametrize("kind", ["directory", "file"])
def test_swapping_in_a_link_never_leads_out(place, kind):
    """A thread exchanges a real name for a link to the outside as fast as it can, while all operations run."""
    inside = place / "in"
    (inside / "real").mkdir()
    (inside / "real" / "secret").write_bytes(b"harmless\n")
    (inside / "safe").write_bytes(b"harmless\n")
    if kind == "directory":
        (inside / "evil").symlink_to(place / "out")
        real, evil, at, target = inside / "real", inside / "evil", inside / "swap", "/host/swap/secret"
    else:
        (inside / "evil").symlink_to(place / "out" / "secret")
        real, evil, at, target = inside / "safe", inside / "evil", inside / "swap", "/host/swap"
    host = Host(inside, writable=True)
    fs = tree(host)
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            for name in (real, evil):
                os.rename(name, at)
                os.rename(at, name)

    thread = threading.Thread(target=swap)
    thread.start()
    inner = target.removeprefix("/host")
    met = set()
    try:
        for turn in range(400):
            for action in (lambda: fs.read(target), lambda: host.read(inner)):
                try:
                    data = action()
                except OSError as e:
                    met.add(e.errno)
                else:
                    met.add(0)
                    assert data != SECRET
            for action in (lambda: host.open(inner, os.O_RDWR).pwrite(b"OVERWRITTEN", 0),
                           lambda: host.setattr(inner, mode=0o666), lambda: host.setattr(inner, mtime_ns=1),
                           lambda: host.create(inner + "new", 0o644, 1000, 1000).close(),
                           lambda: host.unlink(inner + "new"), lambda: host.list("/swap")):
                try:
                    result = action()
                except OSError:
                    continue
                if isinstance(result, list):
                    assert all(entry.name.startswith("secret") for entry in result)
    finally:
        stop.set()
        thread.join()
    assert met - {0}, "the race never met a link or a missing name"
    status = os.stat(place / "out" / "secret")
    assert (place / "out" / "secret").read_bytes() == SECRET
    assert status.st_mode & 0o777 == 0o644 and status.st_mtime_ns > 10_000
    assert os.listdir(place / "out") == ["secret"]
