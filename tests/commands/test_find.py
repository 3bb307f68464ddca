"""find as GNU findutils 4.10."""
from __future__ import annotations

import pytest

from tests.commands.harness import Bench

FILES = {"d/a.txt": "hello", "d/z": "", "d/big": "x" * 2000, "d/lnk": ("link", "a.txt"), "d/dang": ("link", "nope"), "d/dl": ("link", "sub"),
         "d/sub/sp ace": "x", "d/sub/deep/f.c": "y", "d/empty/": None}


@pytest.fixture(scope="module")
def bench():
    bench = Bench(FILES)
    bench.root.fs.chmod(bench.path("d/z"), 0o755)
    bench.root.fs.utime(bench.path("d/z"), None, 1_704_164_645_250_000_000)
    return bench


@pytest.mark.parametrize(("args", "want"), [
    ("d -name *.txt", ["d/a.txt"]), ("d -type d", ["d", "d/sub", "d/sub/deep", "d/empty"]), ("d -type l", ["d/lnk", "d/dang", "d/dl"]),
    ("d -maxdepth 1 -type f", ["d/a.txt", "d/z", "d/big"]), ("d -mindepth 3", ["d/sub/deep/f.c"]), ("d -empty", ["d/z", "d/empty"]),
    ("d -size +1k -type f", ["d/big"]), ("d -size 5c -type f", ["d/a.txt"]), ("d -perm 755 -type f", ["d/z"]), ("d -perm -111 -type f", ["d/z"]),
    ("d -perm /u+x -type f", ["d/z"]), ("d -iname A*", ["d/a.txt"]), ("d -path d/sub/*", ["d/sub/sp ace", "d/sub/deep", "d/sub/deep/f.c"]),
    ("d -regex .*/[az].*", ["d/a.txt", "d/z"]), ("d -regextype posix-extended -regex .*/(f\\.c|z)", ["d/z", "d/sub/deep/f.c"]),
    ("d -name sub -prune -o -type f -print", ["d/a.txt", "d/z", "d/big"]), ("d -name z -o -name big", ["d/z", "d/big"]),
    ("d ! -type d ! -type l -name ?", ["d/z"]), ("d ( -name z -o -name big ) -size 0", ["d/z"]), ("d -xtype f -type l", ["d/lnk"]), ("d -xtype l", ["d/dang"]),
    ("-L d -type l", ["d/dang"]), ("d -lname a*", ["d/lnk"]), ("d -newer d/z -name a.txt", ["d/a.txt"]), ("d -mtime +30 -type f", ["d/z"]),
    ("d -newermt 2024-01-03 -type f -name z", []), ("d -mmin -5 -name big", ["d/big"]), ("d -samefile d/a.txt", ["d/a.txt"]), ("d -false", []),
    ("d/dl", ["d/dl"]), ("-H d/dl -maxdepth 1", ["d/dl", "d/dl/sp ace", "d/dl/deep"]), ("d -name deep -printf %h:%f:%d:%y:%P\\n", ["d/sub:deep:2:d:sub/deep"]),
    ("d -name z -printf %m|%s|%u|%T@|%TY-%Tm-%Td\\n", ["755|0|user|1704164645.2500000000|2024-01-02"]), ("d -name z -printf [%5f][%-3f]\\n", ["[    z][z  ]"]),
    ("d -depth -path *deep*", ["d/sub/deep/f.c", "d/sub/deep"]), ("d -name z -exec echo x{}y ;", ["xd/zy"]), ("d -maxdepth 1 -type f -exec echo {} +", ["d/a.txt d/z d/big"]),
    ("d -name f.c -execdir echo {} ;", ["./f.c"]), ("d -name z -exec false ; -print", []), ("d -user user -name z", ["d/z"]), ("d -links 1 -name big", ["d/big"]),
])
def test_output(bench, args, want):
    out, err, status = bench.run(["find", *args.split(" ")])
    assert (sorted(out.decode().splitlines()), err, status) == (sorted(want), b"", 0)


@pytest.mark.parametrize(("args", "message"), [
    ("nope", "‘nope’: No such file or directory"), ("d -foo", "unknown predicate `-foo'"), ("d -name", "missing argument to `-name'"), ("d -type x", "Unknown argument to -type: x"),
    ("d -size 1z", "invalid -size type `z'"), ("d -perm 9", "invalid mode ‘9’"), ("d ( -name z", "invalid expression; I was expecting to find a ')' somewhere but did not see one."),
    ("d -name z )", "you have too many ')'"), ("d -name z -o", "expected an expression after '-o'"), ("d -maxdepth x", "Expected a positive decimal integer argument to -maxdepth, but got ‘x’"),
    ("d -user foo", "invalid user name or UID argument to -user: ‘foo’"), ("d -newermt foo", "I cannot figure out how to interpret ‘foo’ as a date or time"),
    ("d -exec echo {}", "missing argument to `-exec'"), ("d -regex \\(", "failed to compile regular expression '\\(': Unmatched ( or \\("), ("d -mtime x", "invalid argument `x' to `-mtime'"),
])
def test_errors(bench, args, message):
    out, err, status = bench.run(["find", *args.split(" ")])
    assert (out, err.decode(), status) == (b"", f"find: {message}\n", 1)


def test_order_is_depth_first(bench):
    assert bench.run(["find", "d/sub"])[0] == b"d/sub\nd/sub/sp ace\nd/sub/deep\nd/sub/deep/f.c\n"
    assert bench.run(["find", "d/sub", "-depth"])[0] == b"d/sub/sp ace\nd/sub/deep/f.c\nd/sub/deep\nd/sub\n"
    assert bench.run(["find", "d/sub", "-print0"])[0] == b"d/sub\0d/sub/sp ace\0d/sub/deep\0d/sub/deep/f.c\0"


def test_delete_and_files():
    bench = Bench({"t/a": "1", "t/b/c": "2", "keep": "3"})
    assert bench.run(["find", "t", "-name", "a", "-fprint", "list", "-delete"]) == (b"", b"", 0)
    assert bench.read("list") == b"t/a\n"
    assert bench.run(["find", "t", "-name", "b", "-delete"]) == (b"", "find: cannot delete ‘t/b’: Directory not empty\n".encode(), 1)
    assert bench.run(["find", "t", "-delete"]) == (b"", b"", 0)
    assert bench.run(["find", "."])[0] == b".\n./keep\n./list\n"
    assert bench.run(["find", "-files0-from", "-", "-maxdepth", "0"], stdin=b"keep\0list\0")[0] == b"keep\nlist\n"


def test_quit_and_link_loops():
    bench = Bench({"l/x": "1", "l/up": ("link", "..")})
    assert bench.run(["find", "l", "-name", "x", "-print", "-quit"])[0] == b"l/x\n"
    out, err, status = bench.run(["find", "-L", "l", "-name", "x"])
    assert status == 1 and b"File system loop detected" in err and b"l/x\n" in out
