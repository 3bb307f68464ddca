from __future__ import annotations

import errno
import os

import pytest

from mirage.mounts import Memory
from mirage.process.kernel import Kernel
from mirage.process.limits import Limits
from mirage.process.signals import LimitExceeded
from tests.vfs.support import filesystem, raises
from tests.vfs.test_namespace import Plain

CREATE = os.O_WRONLY | os.O_CREAT


@pytest.fixture
def fs():
    fs = filesystem({"/m": Memory({"file": b"m"}), "/plain": Plain()})
    fs.write("f", b"content")
    fs.mkdir("d")
    return fs


def test_umask(fs):
    fs.proc.umask = 0o027
    fs.open("a", CREATE, 0o666).close()
    fs.mkdir("b", 0o777)
    fs.mkfifo("c", 0o666)
    fs.write("e", b"")
    assert [fs.stat(p).mode & 0o777 for p in "abce"] == [0o640, 0o750, 0o640, 0o640]


def test_open_flags(fs):
    raises(errno.EEXIST, fs.open, "f", CREATE | os.O_EXCL)
    raises(errno.EISDIR, fs.open, "d", os.O_WRONLY)
    raises(errno.EISDIR, fs.open, "d", CREATE)
    raises(errno.EISDIR, fs.open, "d/", CREATE)
    raises(errno.EISDIR, fs.open, "new/", CREATE)
    raises(errno.ENOTDIR, fs.open, "f", os.O_RDONLY | os.O_DIRECTORY)
    raises(errno.ENOENT, fs.open, "none", os.O_RDWR)
    raises(errno.ENOTDIR, fs.open, "f/", os.O_RDONLY)
    fs.symlink("f", "l")
    raises(errno.ELOOP, fs.open, "l", os.O_RDONLY | os.O_NOFOLLOW)
    raises(errno.EEXIST, fs.open, "l", CREATE | os.O_EXCL)
    fs.symlink("nowhere", "dangling")
    raises(errno.EEXIST, fs.open, "dangling", CREATE | os.O_EXCL)
    directory = fs.open("d", os.O_RDONLY | os.O_DIRECTORY)
    assert directory.is_dir and directory.stat().is_dir
    raises(errno.EISDIR, directory.pread, 10, 0)
    fs.open("f", os.O_WRONLY | os.O_TRUNC).close()
    assert fs.read("f") == b""


def test_append_and_whole_files(fs):
    handle = fs.open("f", os.O_WRONLY | os.O_APPEND)
    assert handle.pwrite(b"+more", -1) == 12
    assert fs.read("f") == b"content+more"
    fs.write("f", b"less")
    assert fs.read("f") == b"less"
    raises(errno.EISDIR, fs.read, "d")
    raises(errno.EISDIR, fs.write, "d", b"")
    raises(errno.ENOENT, fs.write, "no/such", b"")
    raises(errno.EISDIR, fs.write, "new/", b"")
    fs.truncate("f", 2)
    assert fs.read("f") == b"le"


def test_a_fifo_is_opened_without_its_mount(fs):
    fs.mkfifo("p")
    handle = fs.open("p", os.O_RDONLY)
    assert handle.stat().is_fifo and not handle.seekable
    assert handle.stat().identity == fs.stat("p").identity
    raises(errno.EINVAL, fs.read, "p")


def test_what_root_owns_is_not_ours(fs):
    for change in (lambda: fs.write("/etc/new", b""), lambda: fs.write("/etc/passwd", b""), lambda: fs.unlink("/etc/passwd"),
                   lambda: fs.mkdir("/new"), lambda: fs.rmdir("/opt"), lambda: fs.rename("/etc/passwd", "/tmp/x"),
                   lambda: fs.list("/root"), lambda: fs.open("/etc/passwd", os.O_RDWR), lambda: fs.mkdir("/usr/bin/x"),
                   lambda: fs.write("/dev/new", b""), lambda: fs.unlink("/usr/bin/grep"), lambda: fs.symlink("x", "/etc/x")):
        raises(errno.EACCES, change)
    for change in (lambda: fs.chmod("/etc/passwd", 0o666), lambda: fs.chown("f", 0, 0), lambda: fs.chown("/etc", 1000, 1000),
                   lambda: fs.utime("/etc/passwd", 1, 1), lambda: fs.link("/etc/passwd", "/tmp/p")):
        raises(errno.EPERM, change)
    fs.chown("f", 1000, -1)
    assert b"user:x:1000" in fs.read("/etc/passwd")


def test_sticky_directories(fs):
    root = fs.machine.namespace.find("/").mount
    root.replace("/tmp/roots", b"x", 0o666, 0, 0)
    fs.write("/tmp/mine", b"y")
    raises(errno.EPERM, fs.unlink, "/tmp/roots")
    raises(errno.EPERM, fs.rename, "/tmp/roots", "/tmp/other")
    raises(errno.EPERM, fs.rename, "/tmp/mine", "/tmp/roots")
    fs.write("/tmp/roots", b"z")
    fs.unlink("/tmp/mine")


def test_rename(fs):
    fs.rename("f", "d/g")
    assert fs.read("d/g") == b"content" and not fs.exists("f")
    fs.mkdir("e")
    raises(errno.EINVAL, fs.rename, "d", "d/x")
    raises(errno.ENOTEMPTY, fs.rename, "e", "d")
    raises(errno.EISDIR, fs.rename, "d/g", "e")
    raises(errno.ENOTDIR, fs.rename, "e", "d/g")
    raises(errno.ENOTDIR, fs.rename, "d/g/", "x")
    raises(errno.ENOTDIR, fs.rename, "d/g", "x/")
    raises(errno.EXDEV, fs.rename, "d/g", "/m/g")
    raises(errno.ENOENT, fs.rename, "none", "x")
    raises(errno.EBUSY, fs.rename, ".", "x")
    raises(errno.EBUSY, fs.rename, "d", "e/..")
    fs.rename("e", "new/")
    assert fs.stat("new").is_dir
    fs.symlink("d", "l")
    fs.rename("l", "l2")
    assert fs.readlink("l2") == "d"
    fs.link("d/g", "same")
    fs.rename("d/g", "same")
    assert fs.exists("d/g") and fs.exists("same")


def test_moving_a_directory_elsewhere_needs_its_own_write_permission(fs):
    fs.mkdir("d/sub")
    fs.chmod("d/sub", 0o555)
    raises(errno.EACCES, fs.rename, "d/sub", "sub")
    fs.rename("d/sub", "d/sub2")


def test_links(fs):
    fs.link("f", "g")
    assert fs.stat("f").nlink == 2
    raises(errno.EXDEV, fs.link, "f", "/m/f")
    raises(errno.EEXIST, fs.link, "f", "g")
    raises(errno.EPERM, fs.link, "d", "d2")
    fs.symlink("f", "s")
    fs.link("s", "s2")
    assert fs.lstat("s2").is_link
    fs.link("s", "s3", follow=True)
    assert fs.lstat("s3").is_file
    raises(errno.EEXIST, fs.symlink, "x", "s")
    raises(errno.ENOENT, fs.symlink, "", "new")
    raises(errno.ENOENT, fs.symlink, "x", "new/")
    raises(errno.EINVAL, fs.readlink, "f")


def test_removing(fs):
    raises(errno.EISDIR, fs.unlink, "d")
    raises(errno.ENOTDIR, fs.rmdir, "f")
    raises(errno.EINVAL, fs.rmdir, "d/.")
    raises(errno.ENOTEMPTY, fs.rmdir, "d/..")
    raises(errno.ENOTDIR, fs.unlink, "f/")
    fs.symlink("d", "l")
    raises(errno.ENOTDIR, fs.rmdir, "l")
    fs.unlink("l")
    fs.rmdir("d/")
    assert [e.name for e in fs.list(".")] == ["f"]


def test_access(fs):
    fs.chmod("f", 0o400)
    assert fs.access("f", os.R_OK) and not fs.access("f", os.W_OK) and not fs.access("f", os.X_OK)
    assert fs.access("f", os.F_OK) and not fs.access("none", os.F_OK)
    assert fs.access("/usr/bin/grep", os.X_OK) and not fs.access("/usr/bin/grep", os.W_OK)
    assert fs.access("/dev/null", os.R_OK | os.W_OK)
    assert not fs.access("/plain/f", os.W_OK)


def test_times(fs):
    fs.utime("f", None, 5)
    assert fs.stat("f").mtime_ns == 5 != fs.stat("f").atime_ns
    fs.symlink("f", "l")
    fs.utime("l", 7, 7, follow=False)
    assert fs.lstat("l").mtime_ns == 7 and fs.stat("l").mtime_ns == 5


def test_extended_attributes(fs):
    fs.setxattr("f", "user.k", b"v")
    assert fs.getxattr("f", "user.k") == b"v" and fs.listxattr("f") == ["user.k"]
    fs.removexattr("f", "user.k")
    assert fs.listxattr("/plain/f") == []
    raises(errno.EOPNOTSUPP, fs.getxattr, "/usr/bin/grep", "user.k")
    raises(errno.EROFS, fs.setxattr, "/plain/f", "user.k", b"")


def test_the_smallest_mount_works(fs):
    assert fs.read("/plain/f") == b"x"
    handle = fs.open("/plain/g", os.O_RDONLY)
    assert handle.pread(100, 0) == b"x" and handle.stat().size == 1 and handle.pread(1, 1) == b""
    entries = {e.name: e.stat for e in fs.list("/plain")}
    assert entries["f"].identity == fs.stat("/plain/f").identity != entries["g"].identity
    raises(errno.EROFS, fs.write, "/plain/f", b"")
    raises(errno.EROFS, fs.open, "/plain/f", os.O_WRONLY)


def test_walk(fs):
    for path in ("d/a/b", "d/c"):
        fs.mkdir(path.rpartition("/")[0]) if not fs.exists(path.rpartition("/")[0]) else None
        fs.mkdir(path)
    fs.write("d/a/x", b"")
    fs.symlink("..", "d/a/up")
    assert [(p, [e.name for e in es]) for p, es in fs.walk("d")] == [
        ("d", ["a", "c"]), ("d/a", ["b", "x", "up"]), ("d/a/b", []), ("d/c", [])]
    assert [p for p, _ in fs.walk("d", follow=True)] == ["d", "d/a", "d/a/b", "d/c"]
    fs.symlink("/workspace/d/c", "d/a/to")
    assert [p for p, _ in fs.walk("d", follow=True)] == ["d", "d/a", "d/a/b", "d/a/to", "d/c"]
    seen = []
    for path, entries in fs.walk("d"):
        seen.append(path)
        entries[:] = [e for e in entries if e.name != "a"]
    assert seen == ["d", "d/c"]
    fs.chmod("d/a", 0)
    failures = []
    assert [p for p, _ in fs.walk("d", onerror=lambda path, e: failures.append((path, e.errno)))] == ["d", "d/a", "d/c"]
    assert failures == [("d/a", errno.EACCES)]
    raises(errno.ENOTDIR, lambda: list(fs.walk("f")))


def test_whole_reads_ask_the_memory_limit_first(fs):
    fs.proc.kernel = Kernel(Limits(memory=1000))
    fs.truncate("f", 1 << 40)
    with pytest.raises(LimitExceeded):
        fs.read("f")


def test_mount_points(fs):
    assert fs.mount_point("/m/file") == "/m" and fs.mount_point("f") == "/" and fs.mount_point("/m/new") == "/m"
    assert fs.is_mount_root("/m") and not fs.is_mount_root("/m/file") and fs.is_mount_root("/")
    assert fs.statfs("/m")[0] > 0 and fs.statfs("/plain") == (0, 0)
