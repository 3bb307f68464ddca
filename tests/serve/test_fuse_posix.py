"""What POSIX and Linux say of file operations, on a mounted database; each statement is also tried on the host's disk.

The statements are those that pjdfstest checks, in a table of our own; `make pjdfstest` runs the original.
"""
from __future__ import annotations

import contextlib
import errno
import itertools
import os
import socket
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.serve.fuse_support import needs_mount, served

pytestmark = needs_mount
OTHER, THIRD = 65534, 65533
NAME = "n" * 255
KINDS = ("file", "dir", "fifo", "socket", "block", "char", "symlink")
numbers = itertools.count()


@pytest.fixture(scope="module")
def folder():
    """A directory that every user can reach."""
    with tempfile.TemporaryDirectory() as name:
        found = Path(name).resolve()
        found.chmod(0o755)
        yield found


@pytest.fixture(scope="module")
def mounted(folder):
    with served(folder / "a.db", folder / "m") as found:
        yield found.path


@pytest.fixture(params=["mount", "disk"])
def place(request, folder):
    """An empty directory with mode 0777, on the mount and on the host's disk."""
    top = request.getfixturevalue("mounted") if request.param == "mount" else folder
    found = top / f"t{next(numbers)}"
    found.mkdir()
    found.chmod(0o777)
    return found


@contextlib.contextmanager
def user(uid: int, gid: int | None = None, groups: tuple[int, ...] = ()) -> Iterator[None]:
    before = os.getgroups()
    os.setgroups(groups)
    os.setegid(uid if gid is None else gid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(before)


@contextlib.contextmanager
def fails(number: int) -> Iterator[None]:
    with pytest.raises(OSError) as failure:
        yield
    assert errno.errorcode[failure.value.errno] == errno.errorcode[number]


def make(kind: str, path: Path, mode: int = 0o644) -> None:
    if kind == "file":
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
    elif kind == "dir":
        os.mkdir(path, mode)
    elif kind == "fifo":
        os.mkfifo(path, mode)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(str(path))
    elif kind in ("block", "char"):
        os.mknod(path, (stat.S_IFBLK if kind == "block" else stat.S_IFCHR) | mode, os.makedev(1, 2))
    else:
        os.symlink("target", path)


def remove(kind: str, path: Path) -> None:
    (os.rmdir if kind == "dir" else os.unlink)(path)


def times(path: Path) -> tuple[int, int, int]:
    found = os.lstat(path)
    return found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns


class Touched:
    """`with Touched(path, "mc"):` its mtime and ctime move; with "" nothing does."""

    def __init__(self, path: Path, which: str) -> None:
        self.path, self.which = path, which

    def __enter__(self) -> None:
        self.before = times(self.path)
        time.sleep(0.012)                                    # the disk's clock ticks every 4 to 10 ms

    def __exit__(self, kind, failure, trace) -> None:
        if kind is None:
            after = times(self.path)
            moved = "".join(c for c, a, b in zip("amc", self.before, after, strict=True) if b > a)
            assert moved.replace("a", "") == self.which


CREATORS: dict[str, Callable[[Path], None]] = {
    **{kind: partial(make, kind) for kind in KINDS},
    "link": lambda path: os.link(_source(path), path), "rename": lambda path: os.rename(_source(path), path),
}


def _source(path: Path) -> Path:
    top = next(p for p in path.parents if p.name.startswith("t") and p.name[1:].isdigit())
    found = top / "source"
    if not found.exists():
        found.touch()
    return found


@pytest.mark.parametrize("how", CREATORS)
def test_names_that_cannot_be_made(place, how):
    create = CREATORS[how]
    (place / "plain").touch()
    with fails(errno.ENOENT):
        create(place / "missing" / "x")
    with fails(errno.ENOTDIR):
        create(place / "plain" / "x")
    if how != "socket":                                      # its address has another limit
        with fails(errno.ENAMETOOLONG):
            create(place / (NAME + "n"))
        with fails(errno.ENAMETOOLONG):
            create(place / "/".join(["d" * 200] * 25))
    os.symlink("loop2", place / "loop1")
    os.symlink("loop1", place / "loop2")
    with fails(errno.ELOOP):
        create(place / "loop1" / "x")
    (place / "closed").mkdir(0o755)
    for uid, mode in ((OTHER, 0o755), (OTHER, 0o700)):
        (place / "closed").chmod(mode)
        _source(place / "x").chmod(0o666)
        os.chown(place / "source", OTHER, OTHER)
        with user(uid), fails(errno.EACCES):
            create(place / "closed" / "x")
    for there in KINDS:
        if how == "rename":
            continue
        target = place / f"there-{there}"
        make(there, target)
        with fails(errno.EADDRINUSE if how == "socket" else errno.EEXIST):
            create(target)
    if how != "socket":
        create(place / NAME)
        assert (place / NAME).lstat()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_made_has_mode_owner_and_times(place, kind):
    before = os.umask(0o022)
    try:
        with Touched(place, "mc"):
            make(kind, place / "a", 0o777)
        found = os.lstat(place / "a")
        if kind not in ("symlink", "socket"):
            assert stat.S_IMODE(found.st_mode) == 0o755
        test = {"file": stat.S_ISREG, "dir": stat.S_ISDIR, "fifo": stat.S_ISFIFO, "socket": stat.S_ISSOCK,
                "block": stat.S_ISBLK, "char": stat.S_ISCHR, "symlink": stat.S_ISLNK}[kind]
        assert test(found.st_mode)
        if kind in ("block", "char"):
            assert (os.major(found.st_rdev), os.minor(found.st_rdev)) == (1, 2)
        assert found.st_nlink == (2 if kind == "dir" else 1)
        assert abs(found.st_mtime - time.time()) < 5
        if kind not in ("block", "char"):
            with user(OTHER, THIRD):
                make(kind, place / "b")
            found = os.lstat(place / "b")
            assert (found.st_uid, found.st_gid) == (OTHER, THIRD)
            (place / "shared").mkdir()
            os.chown(place / "shared", 0, THIRD)
            (place / "shared").chmod(0o2777)
            with user(OTHER):
                make(kind, place / "shared" / "c")
            found = os.lstat(place / "shared" / "c")
            assert found.st_gid == THIRD and bool(found.st_mode & stat.S_ISGID) == (kind == "dir")
        with Touched(place, "mc"):
            remove(kind, place / "a")
        with fails(errno.ENOENT):
            os.lstat(place / "a")
    finally:
        os.umask(before)


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "dir"])
def test_hard_links(place, kind):
    make(kind, place / "a")
    with Touched(place / "a", "c"), Touched(place, "mc"):
        os.link(place / "a", place / "b", follow_symlinks=False)
    assert os.lstat(place / "a").st_nlink == 2
    assert os.lstat(place / "a").st_ino == os.lstat(place / "b").st_ino
    if kind not in ("symlink",):
        os.chmod(place / "b", 0o600)
        assert stat.S_IMODE(os.lstat(place / "a").st_mode) == 0o600
    with Touched(place / "b", "c"):
        os.unlink(place / "a")
    assert os.lstat(place / "b").st_nlink == 1
    os.rename(place / "b", place / "c")
    os.link(place / "c", place / "d", follow_symlinks=False)
    os.rename(place / "c", place / "d")                      # two names of one file: nothing happens
    assert os.lstat(place / "c").st_nlink == 2


def test_directories_have_no_hard_links_and_are_not_unlinked(place):
    (place / "d").mkdir()
    with fails(errno.EPERM):
        os.link(place / "d", place / "e")
    with fails(errno.EISDIR):
        os.unlink(place / "d")
    with fails(errno.ENOENT):
        os.unlink(place / "missing")
    (place / "f").touch()
    with fails(errno.ENOTDIR):
        os.unlink(place / "f" / "x")


def test_removing_directories(place):
    (place / "d" / "e").mkdir(parents=True)
    assert os.lstat(place / "d").st_nlink == 3
    with fails(errno.ENOTEMPTY):
        os.rmdir(place / "d")
    (place / "f").touch()
    with fails(errno.ENOTDIR):
        os.rmdir(place / "f")
    with fails(errno.ENOENT):
        os.rmdir(place / "missing")
    with fails(errno.EINVAL):
        os.rmdir(f"{place}/d/e/.")
    with fails(errno.ENOTEMPTY):
        os.rmdir(f"{place}/d/e/..")
    with Touched(place / "d", "mc"):
        os.rmdir(place / "d" / "e")
    assert os.lstat(place / "d").st_nlink == 2
    fd = os.open(place / "d", os.O_RDONLY)
    os.rmdir(place / "d")
    assert os.fstat(fd).st_nlink == 0
    with fails(errno.ENOENT):
        os.open("x", os.O_CREAT | os.O_WRONLY, dir_fd=fd)
    os.close(fd)


@pytest.mark.parametrize("old", KINDS)
@pytest.mark.parametrize("new", KINDS)
def test_renaming_over_what_is_there(place, old, new):
    make(old, place / "a")
    make(new, place / "b")
    ino = os.lstat(place / "a").st_ino
    if old == "dir" and new != "dir":
        with fails(errno.ENOTDIR):
            os.rename(place / "a", place / "b")
    elif old != "dir" and new == "dir":
        with fails(errno.EISDIR):
            os.rename(place / "a", place / "b")
    else:
        with Touched(place, "mc"):
            os.rename(place / "a", place / "b")
        assert os.lstat(place / "b").st_ino == ino and os.listdir(place) == ["b"]


def test_renaming(place):
    (place / "d" / "e").mkdir(parents=True)
    with fails(errno.EINVAL):
        os.rename(place / "d", place / "d" / "e" / "x")
    with fails(errno.ENOTEMPTY):
        os.rename(place / "d" / "e", place / "d")
    (place / "g").mkdir()
    (place / "g" / "full").touch()
    with fails(errno.ENOTEMPTY):
        os.rename(place / "d", place / "g")
    with fails(errno.ENOENT):
        os.rename(place / "missing", place / "x")
    with Touched(place / "d", "mc"), Touched(place / "g", "mc"):
        os.rename(place / "d" / "e", place / "g" / "e")
    assert (os.lstat(place / "d").st_nlink, os.lstat(place / "g").st_nlink) == (2, 3)
    assert os.stat(f"{place}/g/e/..").st_ino == os.stat(place / "g").st_ino
    with fails(errno.EBUSY), contextlib.chdir(place / "g"):
        os.rename(".", place / "x")


@pytest.mark.parametrize("flags, there, result", [
    (1, True, errno.EEXIST), (1, False, 0), (2, True, 0), (2, False, errno.ENOENT), (3, True, errno.EINVAL),
])
def test_rename_flags(place, flags, there, result):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    (place / "a").write_text("a")
    if there:
        (place / "d").mkdir()
        (place / "d" / "below").touch()
    done = libc.renameat2(-100, os.fsencode(place / "a"), -100, os.fsencode(place / "d"), flags)
    assert (ctypes.get_errno() if done else 0) == result
    if flags == 2 and there:
        assert (place / "d").read_text() == "a" and (place / "a" / "below").exists()
        assert os.lstat(place).st_nlink == 3
    elif not result:
        assert (place / "d").read_text() == "a"
    else:
        assert (place / "a").read_text() == "a"


def test_exchanging_a_directory_between_directories(place):
    import ctypes
    (place / "a" / "sub").mkdir(parents=True)
    (place / "b").mkdir()
    (place / "b" / "file").write_text("x")
    done = ctypes.CDLL(None).renameat2(-100, os.fsencode(place / "a" / "sub"), -100, os.fsencode(place / "b" / "file"), 2)
    assert done == 0 and (place / "b" / "file").is_dir() and (place / "a" / "sub").read_text() == "x"
    assert (os.lstat(place / "a").st_nlink, os.lstat(place / "b").st_nlink) == (2, 3)


STICKY = [(directory, file, allowed) for directory in (OTHER, THIRD) for file in (OTHER, THIRD)
          for allowed in [OTHER in (directory, file)]]


@pytest.mark.parametrize("kind", ["file", "dir", "fifo", "symlink"])
@pytest.mark.parametrize("directory, owner, allowed", STICKY)
def test_sticky_directories(place, kind, directory, owner, allowed):
    (place / "s").mkdir()
    os.chown(place / "s", directory, 0)
    (place / "s").chmod(0o1777)
    make(kind, place / "s" / "a")
    os.chown(place / "s" / "a", owner, 0, follow_symlinks=False)
    with user(OTHER), contextlib.nullcontext() if allowed else fails(errno.EPERM):
        if kind == "dir":
            os.rmdir(place / "s" / "a")
        else:
            os.rename(place / "s" / "a", place / "s" / "b")
            os.unlink(place / "s" / "b")


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "symlink"])
def test_changing_modes(place, kind):
    make(kind, place / "a")
    with Touched(place / "a", "c"):
        os.chmod(place / "a", 0o111)
    assert stat.S_IMODE(os.lstat(place / "a").st_mode) == 0o111
    os.symlink("a", place / "l")
    os.chmod(place / "l", 0o222)
    assert stat.S_IMODE(os.lstat(place / "a").st_mode) == 0o222
    os.chown(place / "a", OTHER, OTHER)
    with user(THIRD), fails(errno.EPERM):
        os.chmod(place / "a", 0o777)
    with user(OTHER):
        os.chmod(place / "a", 0o7755)
    mode = stat.S_IMODE(os.lstat(place / "a").st_mode)
    assert mode == 0o7755
    os.chown(place / "a", OTHER, THIRD)
    os.chmod(place / "a", 0o755)
    with user(OTHER):
        os.chmod(place / "a", 0o2755)                        # a group that one is not in
    assert bool(os.lstat(place / "a").st_mode & stat.S_ISGID) is False
    with fails(errno.ENOENT):
        os.chmod(place / "missing", 0o644)


@pytest.mark.parametrize("kind", KINDS)
def test_changing_owners(place, kind):
    make(kind, place / "a")
    with Touched(place / "a", "c"):
        os.chown(place / "a", 123, 456, follow_symlinks=False)
    found = os.lstat(place / "a")
    assert (found.st_uid, found.st_gid) == (123, 456)
    os.chown(place / "a", -1, 457, follow_symlinks=False)
    assert (os.lstat(place / "a").st_uid, os.lstat(place / "a").st_gid) == (123, 457)
    with user(OTHER), fails(errno.EPERM):
        os.chown(place / "a", OTHER, OTHER, follow_symlinks=False)
    os.chown(place / "a", OTHER, OTHER, follow_symlinks=False)
    with user(OTHER, OTHER, (THIRD,)):
        os.chown(place / "a", -1, THIRD, follow_symlinks=False)
        with fails(errno.EPERM):
            os.chown(place / "a", -1, 77, follow_symlinks=False)
    assert os.lstat(place / "a").st_gid == THIRD
    if kind not in ("dir", "symlink"):
        for uid in (0, OTHER):
            os.chmod(place / "a", 0o6755)
            with user(uid, OTHER) if uid else contextlib.nullcontext():
                os.chown(place / "a", OTHER, OTHER)
            assert stat.S_IMODE(os.lstat(place / "a").st_mode) == 0o755
        os.chmod(place / "a", 0o6655)
        with user(OTHER):
            os.chown(place / "a", OTHER, OTHER)
        assert not os.lstat(place / "a").st_mode & stat.S_ISUID


@pytest.mark.parametrize("uid, left", [(OTHER, 0o777), (0, 0o6777)])
def test_writing_takes_set_user_bits_away(place, uid, left):
    for change in ("write", "truncate", "ftruncate"):
        path = place / change
        path.write_text("12345")
        path.chmod(0o6777)
        with user(uid) if uid else contextlib.nullcontext():
            if change == "write":
                with path.open("r+") as file:
                    file.write("x")
            elif change == "truncate":
                os.truncate(path, 1)
            else:
                with path.open("r+") as file:
                    file.truncate(1)
        time.sleep(0.06)
        assert stat.S_IMODE(path.lstat().st_mode) == left, change


def test_truncating(place):
    path = place / "f"
    path.write_bytes(b"0123456789")
    with Touched(path, "mc"):
        os.truncate(path, 4)
    assert path.read_bytes() == b"0123"
    os.truncate(path, 10)
    assert path.read_bytes() == b"0123" + bytes(6)
    with Touched(path, "mc"):
        os.truncate(path, 1 << 40)
    assert path.stat().st_size == 1 << 40 and path.stat().st_blocks < 1 << 20
    with fails(errno.EINVAL):
        os.truncate(path, -1)
    for kind, number in (("dir", errno.EISDIR), ("fifo", errno.EINVAL)):
        make(kind, place / kind)
        with fails(number):
            os.truncate(place / kind, 0)
    path.chmod(0o644)
    with user(OTHER), fails(errno.EACCES):
        os.truncate(path, 0)
    fd = os.open(path, os.O_RDONLY)
    with fails(errno.EINVAL):
        os.ftruncate(fd, 0)
    os.close(fd)
    with Touched(path, "mc"):
        path.open("w").close()
    assert path.stat().st_size == 0


def test_opening(place):
    path = place / "f"
    path.write_text("x")
    os.symlink("f", place / "l")
    os.symlink("nowhere", place / "dangling")
    with fails(errno.EEXIST):
        os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    with fails(errno.EEXIST):
        os.open(place / "dangling", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    with fails(errno.ELOOP):
        os.open(place / "l", os.O_RDONLY | os.O_NOFOLLOW)
    with fails(errno.EISDIR):
        os.open(place, os.O_WRONLY)
    with fails(errno.ENOTDIR):
        os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    with fails(errno.ENOENT):
        os.open(place / "missing", os.O_RDWR)
    os.close(os.open(place / "dangling", os.O_CREAT | os.O_WRONLY, 0o600))
    assert (place / "nowhere").exists()
    make("fifo", place / "p")
    with fails(errno.ENXIO):
        os.open(place / "p", os.O_WRONLY | os.O_NONBLOCK)
    make("socket", place / "s")
    with fails(errno.ENXIO):
        os.open(place / "s", os.O_RDONLY)
    fd = os.open(place / "new", os.O_CREAT | os.O_RDWR, 0)   # the mode does not bind this descriptor
    os.write(fd, b"yes")
    os.close(fd)
    with user(OTHER), fails(errno.EACCES):
        os.open(place / "new", os.O_RDONLY)


@pytest.mark.parametrize("mode", range(8))
@pytest.mark.parametrize("who", ["owner", "group", "other"])
def test_mode_bits_decide(place, mode, who):
    path = place / "f"
    path.write_text("x")
    os.chown(path, OTHER, THIRD)
    path.chmod(mode << {"owner": 6, "group": 3, "other": 0}[who])
    uid, gid = {"owner": (OTHER, OTHER), "group": (1234, THIRD), "other": (1234, 1234)}[who]
    with user(uid, gid):
        for flags, bits in ((os.O_RDONLY, 4), (os.O_WRONLY, 2), (os.O_RDWR, 6)):
            with contextlib.nullcontext() if mode & bits == bits else fails(errno.EACCES):
                os.close(os.open(path, flags))


def test_setting_times(place):
    path = place / "f"
    path.write_text("x")
    with Touched(path, "c"):
        os.utime(path, ns=(1_234_567_890_123_456_789, path.stat().st_mtime_ns))
    os.utime(path, ns=(1_000_000_001, -5_000_000_001))
    assert times(path)[:2] == (1_000_000_001, -5_000_000_001)
    os.utime(path, ns=(0, (1 << 33) * 10 ** 9))
    assert path.stat().st_mtime == 1 << 33
    os.symlink("f", place / "l")
    os.utime(place / "l", ns=(5, 6), follow_symlinks=False)
    assert times(place / "l")[:2] == (5, 6) and path.stat().st_atime_ns == 0
    path.chmod(0o666)
    with user(OTHER):
        os.utime(path)                                       # who may write may set them to now
        with fails(errno.EPERM):
            os.utime(path, ns=(1, 1))
    path.chmod(0o644)
    with user(OTHER), fails(errno.EACCES):
        os.utime(path)
    assert abs(path.stat().st_mtime - time.time()) < 5


def test_links_are_followed_so_far(place):
    os.symlink("x" * 4095, place / "long")
    assert len(os.readlink(place / "long")) == 4095 == os.lstat(place / "long").st_size
    with fails(errno.ENAMETOOLONG):
        os.symlink("x" * 4096, place / "longer")
    with fails(errno.ENOENT):
        os.symlink("", place / "empty")
    (place / "f").touch()
    with fails(errno.EINVAL):
        os.readlink(place / "f")
    os.symlink("self", place / "self")
    for call in (os.stat, os.listdir, lambda p: os.chmod(p, 0o644), lambda p: os.truncate(p, 0)):
        with fails(errno.ELOOP):
            call(place / "self")


def test_a_file_lives_without_a_name(place):
    path = place / "f"
    fd = os.open(path, os.O_CREAT | os.O_RDWR)
    os.write(fd, b"one")
    os.unlink(path)
    assert os.fstat(fd).st_nlink == 0
    os.write(fd, b"two")
    os.fsync(fd)
    assert os.pread(fd, 10, 0) == b"onetwo"
    os.ftruncate(fd, 2)
    os.fchmod(fd, 0o600)
    assert os.fstat(fd).st_size == 2
    os.close(fd)
    assert not os.listdir(place)


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 65535, 65536, 200_001])
def test_reading_and_writing_at_offsets(place, size):
    path = place / "f"
    fd = os.open(path, os.O_CREAT | os.O_RDWR)
    assert os.pwrite(fd, b"end", size) == 3
    assert os.fstat(fd).st_size == size + 3
    assert os.pread(fd, size + 10, 0) == bytes(size) + b"end"
    assert os.pread(fd, 10, size + 3) == b""
    os.close(fd)
    with path.open("ab") as file:
        file.write(b"more")
    assert path.read_bytes()[-7:] == b"endmore"
