"""diff, cmp, tar, gzip, bc, date, timeout, env: values of diffutils 3.10, tar 1.35, gzip 1.13, bc 1.07, coreutils 9.7."""
from __future__ import annotations

import gzip as python_gzip
import io
import random
import shlex
import tarfile

import pytest

from mirage.text import myers
from tests.commands.harness import Bench, run_tool

FILES = {
    "old": "a\nb\nc\nd\ne\nf\ng\n",
    "new": "a\nB\nc\nd\ne\nf\ng\nh",
    "spaced": "a\nb \nc\nd\ne\nf\ng\n",
    "left/same": "1\n", "left/changed": "1\n", "left/only": "x\n",
    "right/same": "1\n", "right/changed": "2\n",
    "binary": b"\0\1\2",
    "empty": "",
}

OUTPUTS = [
    ("diff old new", "2c2\n< b\n---\n> B\n7a8\n> h\n\\ No newline at end of file\n", 1),
    ("diff -u --label a --label b old new",
     "--- a\n+++ b\n@@ -1,7 +1,8 @@\n a\n-b\n+B\n c\n d\n e\n f\n g\n+h\n\\ No newline at end of file\n", 1),
    ("diff -U1 --label a --label b old new",
     "--- a\n+++ b\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -7 +7,2 @@\n g\n+h\n\\ No newline at end of file\n", 1),
    ("diff -C1 --label a --label b old new",
     "*** a\n--- b\n***************\n*** 1,3 ****\n  a\n! b\n  c\n--- 1,3 ----\n  a\n! B\n  c\n"
     "***************\n*** 7 ****\n--- 7,8 ----\n  g\n+ h\n\\ No newline at end of file\n", 1),
    ("diff -n old new", "d2 1\na2 1\nB\na7 1\nh", 1),
    ("diff -y -W 20 old spaced", "a\ta\nb     |\tb \nc\tc\nd\td\ne\te\nf\tf\ng\tg\n", 1),
    ("diff -b old spaced", "", 0),
    ("diff -q old new", "Files old and new differ\n", 1),
    ("diff -s old old", "Files old and old are identical\n", 0),
    ("diff binary old", "Binary files binary and old differ\n", 1),
    ("diff -r left right", "diff -r left/changed right/changed\n1c1\n< 1\n---\n> 2\nOnly in left: only\n", 1),
    ("diff -rq left right", "Files left/changed and right/changed differ\nOnly in left: only\n", 1),
    ("cmp old spaced", "old spaced differ: byte 4, line 2\n", 1),
    ("cmp -l old spaced", None, 1),
    ("cmp -s old old", "", 0),
    ("date -u -d @0", "Thu Jan  1 00:00:00 UTC 1970\n", 0),
    ("date -d '2024-02-29 +1 year' +%F", "2025-03-01\n", 0),
    ("date -d '2020-01-31 -1 month' +%FT%T", "2019-12-31T00:00:00\n", 0),
    ("date -R -d '1 May 2021 3pm'", "Sat, 01 May 2021 15:00:00 +0000\n", 0),
    ("date -d 'TZ=\"America/New_York\" 2021-07-01 09:00'", "Thu Jul  1 13:00:00 UTC 2021\n", 0),
    ("date --iso-8601=seconds -d @1000000000", "2001-09-09T01:46:40+00:00\n", 0),
    ("env -i A=1 B=2 env", "A=1\nB=2\n", 0),
    ("env -S 'echo \"a b\" c'", "a b c\n", 0),
    ("timeout 5 basename a/b", "b\n", 0),
    ("timeout 0.05 sleep 5", "", 124),
    ("timeout -s KILL 0.05 sleep 5", "", 137),
    ("timeout --preserve-status 0.05 sleep 5", "", 143),
    ("timeout 1 no-such-program", "", 127),
    ("nice -n 5 basename x/y", "y\n", 0),
    ("id -un", "user\n", 0),
]


@pytest.mark.parametrize(("line", "output", "status"), OUTPUTS, ids=[o[0] for o in OUTPUTS])
def test_output_and_status(line: str, output: str | None, status: int) -> None:
    out, _, code = run_tool(shlex.split(line), FILES)
    assert code == status
    if output is not None:
        assert out.decode() == output


def test_changes_turn_one_sequence_into_the_other() -> None:
    generator = random.Random(7)
    for _ in range(200):
        width = generator.choice((2, 5, 50))
        a = [generator.randrange(width) for _ in range(generator.randrange(80))]
        b = [generator.randrange(width) for _ in range(generator.randrange(80))]
        for horizon in (0, 3):
            rebuilt: list[int] = []
            at = 0
            for a_start, a_end, b_start, b_end in myers.changes(a, b, horizon=horizon):
                rebuilt += a[at:a_start] + b[b_start:b_end]
                at = a_end
            assert rebuilt + a[at:] == b


def test_many_changes_between_repetitive_files_stay_few() -> None:
    generator = random.Random(3)
    a = [generator.randrange(2) for _ in range(3000)]
    b = [generator.randrange(2) for _ in range(3000)]
    changed = sum(x1 - x0 + y1 - y0 for x0, x1, y0, y1 in myers.changes(a, b))
    assert changed < 1600


BC = [
    ("scale=2; 10/3", "3.33\n"), ("2^100", "1267650600228229401496703205376\n"), ("-7 % 3", "-1\n"), ("-2^2", "4\n"),
    ("scale=10; sqrt(2)", "1.4142135623\n"), ("obase=16; 255", "FF\n"), ("ibase=2; 1010", "10\n"), (".5 * .5", ".2\n"),
    ("define f(n) { if (n < 2) return 1; return n * f(n-1) }\nf(20)", "2432902008176640000\n"),
    ("for (i = 0; i < 3; i++) print i, \" \"", "0 1 2 "), ("length(123.45); scale(1.50)", "5\n2\n"),
    ("a[2] = 7; a[2] + a[3]", "7\n"), ("1 == 1 && 2 > 3 || !0", "1\n"), ("x = 5\nx++; x", "5\n6\n"),
]


@pytest.mark.parametrize(("program", "output"), BC, ids=[b[0][:30] for b in BC])
def test_bc(program: str, output: str) -> None:
    assert run_tool(["bc"], stdin=program + "\n") == (output.encode(), b"", 0)


def test_bc_goes_on_after_errors() -> None:
    out, err, code = run_tool(["bc"], stdin="1/0\n2 +\n3\n")
    assert (out, code) == (b"3\n", 0)
    assert b"Divide by zero" in err and b"syntax error" in err


def test_bc_library_and_long_lines() -> None:
    assert run_tool(["bc", "-l"], stdin="4*a(1)\ne(1)\n")[0] == b"3.14159265358979323844\n2.71828182845904523536\n"
    out, _, _ = run_tool(["bc"], stdin="2^300\n")
    assert out.splitlines()[0].endswith(b"\\") and len(out.splitlines()[0]) == 69


def test_bc_refuses_numbers_without_end() -> None:
    out, err, _ = run_tool(["bc"], stdin="9^9^9\n1\n")
    assert out == b"1\n" and b"too large" in err


def test_gzip_round_trip_keeps_name_mode_and_time() -> None:
    bench = Bench({"f": "hello\n" * 100})
    bench.run(["touch", "-d", "@1000", "f"])
    bench.run(["chmod", "640", "f"])
    assert bench.run(["gzip", "f"]) == (b"", b"", 0)
    assert python_gzip.decompress(bench.read("f.gz")) == b"hello\n" * 100
    assert bench.run(["gunzip", "f.gz"]) == (b"", b"", 0)
    assert bench.run(["stat", "-c", "%s %a %Y", "f"])[0] == b"600 640 1000\n"


def test_zcat_reads_all_members_and_reports_garbage() -> None:
    data = python_gzip.compress(b"one\n") + python_gzip.compress(b"two\n")
    assert run_tool(["zcat"], stdin=data) == (b"one\ntwo\n", b"", 0)
    out, err, code = run_tool(["zcat"], stdin=data + b"junk")
    assert (out, code) == (b"one\ntwo\n", 2)
    assert err == b"\ngzip: stdin: decompression OK, trailing garbage ignored\n"
    out, err, code = run_tool(["zcat"], stdin=data[:-6])
    assert (code, err) == (1, b"\ngzip: stdin: unexpected end of file\n")


@pytest.fixture
def tree() -> Bench:
    bench = Bench({"d/f": "hi\n", "d/s/g": "yo\n", "d/l": ("link", "f")})
    for name in ("d/f", "d/s/g", "d/s", "d"):
        bench.run(["touch", "-d", "@86400", name])
    return bench


@pytest.mark.parametrize("letter", ["", "z", "j", "J"])
def test_tar_round_trip(tree: Bench, letter: str) -> None:
    assert tree.run(["tar", f"c{letter}f", "a", "d"]) == (b"", b"", 0)
    tree.run(["rm", "-r", "d"])
    assert tree.run(["tar", "xf", "a"]) == (b"", b"", 0)
    assert tree.read("d/s/g") == b"yo\n"
    assert tree.run(["stat", "-c", "%Y %F", "d", "d/f"])[0] == b"86400 directory\n86400 regular file\n"
    assert tree.run(["readlink", "d/l"])[0] == b"f\n"


def test_tar_listing_and_selection(tree: Bench) -> None:
    tree.run(["tar", "cf", "a", "d"])
    out, _, _ = tree.run(["tar", "tvf", "a", "d/s/g"])
    assert out == b"-rw-r--r-- user/user         3 1970-01-02 00:00 d/s/g\n"
    assert tree.run(["tar", "tf", "a", "--exclude=s"])[0].split() == [b"d/", b"d/f", b"d/l"]
    assert tree.run(["tar", "xOf", "a", "d/f"])[0] == b"hi\n"
    out, err, code = tree.run(["tar", "tf", "a", "nope"])
    assert (out, code) == (b"", 2)
    assert err == b"tar: nope: Not found in archive\ntar: Exiting with failure status due to previous errors\n"


def test_tar_archives_are_readable_elsewhere_and_padded(tree: Bench) -> None:
    tree.run(["tar", "cf", "a", "--transform=s,^d,e,", "--owner=root:0", "d"])
    data = tree.read("a")
    assert len(data) % 10240 == 0
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        assert archive.getmember("e/s/g").uname == "root"
        member = archive.extractfile("e/f")
        assert member is not None and member.read() == b"hi\n"


def test_tar_append_update_delete(tree: Bench) -> None:
    tree.run(["tar", "cf", "a", "d/f"])
    tree.put("late", "1\n")
    tree.run(["tar", "rf", "a", "late"])
    assert tree.run(["tar", "uvf", "a", "late", "d/s/g"])[0] == b"d/s/g\n"
    tree.run(["tar", "--delete", "-f", "a", "late"])
    assert tree.run(["tar", "tf", "a"])[0] == b"d/f\nd/s/g\n"


def test_tar_never_leaves_its_directory() -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in ("../outside", "/absolute", "inside"):
            info = tarfile.TarInfo(name)
            info.size = 2
            archive.addfile(info, io.BytesIO(b"x\n"))
    bench = Bench({"work/evil.tar": buffer.getvalue()})
    out, err, code = bench.run(["tar", "xf", "evil.tar"], cwd=bench.path("work"))
    assert code == 2 and b"Member name contains '..'" in err and b"Removing leading `/'" in err
    assert bench.run(["ls", "work"])[0] == b"absolute\nevil.tar\ninside\n"
    assert not bench.root.fs.exists("/absolute")


def test_tar_usage_errors() -> None:
    _, err, code = run_tool(["tar", "-f", "x"])
    assert code == 2 and err.startswith(b"tar: You must specify one of the '-Acdtrux'")
    _, err, code = run_tool(["tar", "cf", "x"])
    assert code == 2 and err.startswith(b"tar: Cowardly refusing to create an empty archive\n")
    _, err, code = run_tool(["tar", "xf", "-"], stdin="no archive\n" * 100)
    assert code == 2 and err.startswith(b"tar: This does not look like a tar archive\n")


PATCH = "--- f\n+++ g\n@@ -1,5 +1,5 @@\n a\n-b\n+B\n c\n d\n e\n"


def test_patch_applies_reverses_and_notices_both() -> None:
    bench = Bench({"f": "a\nb\nc\nd\ne\n", "p": PATCH})
    assert bench.run(["patch", "-i", "p"]) == (b"patching file f\n", b"", 0)
    assert bench.read("f") == b"a\nB\nc\nd\ne\n"
    out, _, code = bench.run(["patch", "-N", "-i", "p"])
    assert code == 1 and b"Reversed (or previously applied) patch detected!  Skipping patch.\n" in out
    assert bench.run(["patch", "-R", "-s", "-i", "p"]) == (b"", b"", 0)
    assert bench.read("f") == b"a\nb\nc\nd\ne\n"


def test_patch_searches_and_saves_what_fails() -> None:
    bench = Bench({"f": "x\ny\na\nb\nc\nd\ne\n", "q": "other\n", "p": PATCH})
    assert bench.run(["patch", "f", "p"])[0] == \
        b"patching file f\nHunk #1 succeeded at 3 with fuzz 2 (offset 2 lines).\n"
    assert bench.read("f.orig") == b"x\ny\na\nb\nc\nd\ne\n"
    out, _, code = bench.run(["patch", "q", "p"])
    assert code == 1 and out.endswith(b"1 out of 1 hunk FAILED -- saving rejects to file q.rej\n")
    assert bench.read("q.rej") == PATCH.encode()


def test_patch_of_garbage() -> None:
    assert run_tool(["patch"], stdin="junk\n") == (
        b"", b"patch: **** Only garbage was found in the patch input.\n", 2)
