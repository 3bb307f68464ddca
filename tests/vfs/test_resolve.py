from __future__ import annotations

import errno

import pytest

from mirage.mounts import Memory
from tests.vfs.support import filesystem, raises


@pytest.fixture
def fs():
    fs = filesystem({"/m": Memory({"file": b"m", "d/e/f": b"f"}), "/n/deep/er": Memory({"other": b"n"})})
    fs.write("here", b"here")
    fs.mkdir("dir")
    fs.write("dir/in", b"in")
    return fs


@pytest.mark.parametrize(("path", "physical"), [
    ("here", "/workspace/here"), ("/workspace//here", "/workspace/here"), ("./here", "/workspace/here"),
    ("dir/../here", "/workspace/here"), ("dir/.", "/workspace/dir"), ("dir/", "/workspace/dir"), ("..", "/"),
    ("../..", "/"), ("/../../m/file", "/m/file"), ("/m/d/../file", "/m/file"), ("/m/../workspace/here", "/workspace/here"),
    ("/", "/"), ("//", "/"), ("/n/deep", "/n/deep"), ("/n/deep/er/other", "/n/deep/er/other"), ("/n/deep/../../m", "/m"),
])
def test_paths(fs, path, physical):
    assert fs.realpath(path) == physical


@pytest.mark.parametrize(("path", "number"), [
    ("", errno.ENOENT), ("missing", errno.ENOENT), ("missing/", errno.ENOENT), ("missing/..", errno.ENOENT),
    ("missing/../here", errno.ENOENT), ("here/", errno.ENOTDIR), ("here/.", errno.ENOTDIR), ("here/..", errno.ENOTDIR),
    ("here/x", errno.ENOTDIR), ("x" * 256, errno.ENAMETOOLONG), ("é" * 128, errno.ENAMETOOLONG),
    ("a/" * 2100, errno.ENAMETOOLONG), ("he\0re", errno.ENOENT), ("/n/missing", errno.ENOENT), ("/n/deep/x/y", errno.ENOENT),
])
def test_errors(fs, path, number):
    e = raises(number, fs.stat, path)
    assert e.filename == path


def test_the_longest_names_that_are_allowed(fs):
    fs.write("x" * 255, b"")
    fs.write("é" * 127 + "x", b"")
    assert fs.exists("./" * 2000 + "here")


def test_links_across_mounts(fs):
    fs.symlink("/m/d", "over")
    fs.symlink("../../workspace/dir", "/m/d/back")
    assert fs.realpath("over/e/f") == "/m/d/e/f"
    assert fs.read("over/back/in") == b"in"
    assert fs.realpath("over/..") == "/m", ".. after a link is the parent of where it leads"
    assert fs.realpath("over/back/../here") == "/workspace/here"
    assert fs.lstat("over").is_link and fs.stat("over").is_dir
    assert fs.lstat("over/").is_dir, "a trailing slash follows the link"


def test_link_loops(fs):
    fs.symlink("b", "a")
    fs.symlink("a", "b")
    fs.symlink("self/x", "self")
    for path in ("a", "b/x", "self", "a/.."):
        raises(errno.ELOOP, fs.stat, path)
    assert fs.lstat("a").is_link
    raises(errno.ELOOP, fs.lstat, "a/")


def test_forty_links_and_no_more(fs):
    fs.write("end", b"end")
    fs.symlink("end", "l1")
    for number in range(2, 42):
        fs.symlink(f"l{number - 1}", f"l{number}")
    assert fs.read("l40") == b"end"
    raises(errno.ELOOP, fs.read, "l41")


def test_dangling_links(fs):
    fs.symlink("target", "dangling")
    fs.symlink("no/such", "hopeless")
    raises(errno.ENOENT, fs.stat, "dangling")
    assert fs.exists("dangling", follow=False) and not fs.exists("dangling")
    fs.write("dangling", b"made")
    assert fs.read("target") == b"made"
    raises(errno.ENOENT, fs.write, "hopeless", b"")


def test_a_link_that_says_slash_demands_a_directory(fs):
    fs.symlink("here/", "l")
    raises(errno.ENOTDIR, fs.read, "l")
    fs.symlink("dir/", "d")
    assert fs.read("d/in") == b"in"


def test_a_link_grown_too_long(fs):
    fs.symlink("d/" * 1500, "long")
    raises(errno.ENAMETOOLONG, fs.stat, "long/" + "e/" * 1500)
    raises(errno.ENAMETOOLONG, fs.symlink, "d/" * 3000, "longer")


def test_virtual_parents(fs):
    assert {e.name for e in fs.list("/")} >= {"m", "n", "workspace", "etc"}
    assert [e.name for e in fs.list("/n")] == ["deep"]
    stat = fs.stat("/n/deep")
    assert stat.is_dir and stat.uid == 0 and stat.ino and stat.dev
    for change in (lambda: fs.mkdir("/n/x"), lambda: fs.write("/n/deep/x", b""), lambda: fs.symlink("x", "/n/x")):
        raises(errno.EACCES, change)
    for path in ("/n", "/n/deep", "/n/deep/er", "/m"):
        raises(errno.EBUSY, fs.rmdir, path)
        raises(errno.EBUSY, fs.rename, path, "/workspace/away")


def test_mounts_below_real_directories_are_listed_with_them():
    fs = filesystem({"/": Memory({"a/real": b"1", "a/b": b"a file where a mount is"}), "/a/b": Memory({"f": b"2"}),
                     "/a/c/d": Memory()}, cwd="/", default=False)
    assert sorted(e.name for e in fs.list("/a")) == ["b", "c", "real"]
    assert {e.name: e.stat.is_dir for e in fs.list("/a")} == {"b": True, "c": True, "real": False}
    assert fs.read("/a/b/f") == b"2"
    assert [path for path, _ in fs.walk("/")] == ["/", "/a", "/a/b", "/a/c", "/a/c/d"]


def test_a_link_of_the_outer_mount_does_not_shadow_the_way_to_a_mount():
    outer = Memory({"elsewhere/x": b"1"})
    outer.symlink("elsewhere", "/a", 1000, 1000)
    fs = filesystem({"/": outer, "/a/b": Memory({"f": b"2"})}, cwd="/", default=False)
    assert fs.lstat("/a").is_dir and fs.read("/a/b/f") == b"2"
    raises(errno.ENOENT, fs.read, "/a/x")


def test_nothing_mounted_at_the_root():
    fs = filesystem({"/only/this": Memory({"f": b"1"})}, cwd="/", default=False)
    assert [e.name for e in fs.list("/")] == ["only"] and fs.read("only/this/f") == b"1"
    raises(errno.EACCES, fs.mkdir, "/new")


def test_search_permission_is_needed_on_the_way(fs):
    fs.mkdir("shut")
    fs.write("shut/f", b"1")
    fs.symlink("shut/f", "way")
    fs.chmod("shut", 0o600)
    for path in ("shut/f", "shut/missing", "way", "shut/.."):
        raises(errno.EACCES, fs.stat, path)
    assert fs.stat("shut").is_dir


def test_realpath_of_what_is_missing(fs):
    fs.symlink("/m/d", "over")
    raises(errno.ENOENT, fs.realpath, "over/new")
    assert fs.realpath("over/new", last_missing=True) == "/m/d/new"
    raises(errno.ENOENT, fs.realpath, "over/new/er", last_missing=True)
    assert fs.realpath("over/new/../er/x", strict=False) == "/m/d/er/x"
    assert fs.realpath("no/such/../thing", strict=False) == "/workspace/no/thing"


def test_the_same_memory_mounted_twice_has_the_same_files():
    shared = Memory({"f": b"1"})
    fs = filesystem({"/a": shared, "/b": shared})
    assert fs.stat("/a/f").identity == fs.stat("/b/f").identity != fs.stat("/etc/passwd").identity
    raises(errno.EXDEV, fs.rename, "/a/f", "/b/g")


def test_abspath_is_only_text(fs):
    assert fs.abspath("a/../b/./c//d") == "/workspace/b/c/d"
    assert fs.abspath("/../x/") == "/x" and fs.abspath("../..") == "/"
