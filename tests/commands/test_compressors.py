"""zip, unzip, bzip2, xz, zgrep: what Info-ZIP, bzip2 1.0.8 and xz 5.8 print and leave behind."""
from __future__ import annotations

import bz2
import io
import lzma
import zipfile
from types import ModuleType

import pytest

from tests.commands.harness import Bench


@pytest.fixture
def bench() -> Bench:
    made = Bench({"d/f": "hello\n", "d/s/z": b"\0" * 3000})
    for name in ("d/f", "d/s/z", "d/s", "d"):
        made.run(["touch", "-d", "2020-01-02 03:04:06", name])
    return made


def test_zip_reports_and_lists(bench: Bench) -> None:
    out, err, code = bench.run(["zip", "-r", "a", "d"])
    assert (err, code) == (b"", 0)
    assert sorted(out.splitlines()) == [b"  adding: d/ (stored 0%)", b"  adding: d/f (stored 0%)",
                                        b"  adding: d/s/ (stored 0%)", b"  adding: d/s/z (deflated 99%)"]
    assert bench.run(["zip", "a.zip", "d/f"])[0] == b"updating: d/f (stored 0%)\n"
    out, _, _ = bench.run(["unzip", "-l", "a.zip", "d/f"])
    assert out == (b"Archive:  a.zip\n  Length      Date    Time    Name\n---------  ---------- -----   ----\n"
                   b"        6  2020-01-02 03:04   d/f\n---------                     -------\n"
                   b"        6                     1 file\n")
    assert bench.run(["zip", "-d", "a.zip", "d/s/*"])[0] == b"deleting: d/s/\ndeleting: d/s/z\n"


def test_zip_nothing_to_do(bench: Bench) -> None:
    out, err, code = bench.run(["zip", "a.zip", "nope"])
    assert (out, code) == (b"", 12)
    assert err == b"\tzip warning: name not matched: nope\n\nzip error: Nothing to do! (a.zip)\n"


def test_unzip_extracts_with_times_and_asks_before_replacing(bench: Bench) -> None:
    bench.run(["zip", "-qr", "a.zip", "d"])
    assert bench.run(["unzip", "-q", "a.zip", "-d", "o"]) == (b"", b"", 0)
    assert bench.run(["stat", "-c", "%s %Y", "o/d/s/z"])[0] == b"3000 1577934246\n"
    bench.put("o/d/f", "mine\n")
    out, err, code = bench.run(["unzip", "a.zip", "d/f", "-d", "o"], stdin="n\n")
    assert err == b"replace o/d/f? [y]es, [n]o, [A]ll, [N]one, [r]ename: " and code == 0
    assert bench.read("o/d/f") == b"mine\n"
    assert bench.run(["unzip", "-o", "a.zip", "d/f", "-d", "o"])[0] == \
        b"Archive:  a.zip\n extracting: o/d/f                   \n"
    assert bench.run(["unzip", "-p", "a.zip", "d/f"])[0] == b"hello\n"


def test_unzip_stays_inside() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("../up", "x")
        archive.writestr("/root", "y")
    bench = Bench({"w/evil.zip": buffer.getvalue()})
    _, err, code = bench.run(["unzip", "-q", "evil.zip"], cwd=bench.path("w"))
    assert code == 1 and b"skipped" in err and b"stripped absolute path" in err
    assert bench.run(["ls", "w"])[0] == b"evil.zip\nroot\nup\n"


def test_unzip_of_no_archive(bench: Bench) -> None:
    assert bench.run(["unzip", "nope"])[1:] == (
        b"unzip:  cannot find or open nope, nope.zip or nope.ZIP.\n", 9)
    assert bench.run(["unzip", "d/f"])[2] == 9


@pytest.mark.parametrize(("pack", "unpack", "suffix", "library"), [
    ("bzip2", "bunzip2", ".bz2", bz2), ("xz", "unxz", ".xz", lzma)])
def test_round_trip(bench: Bench, pack: str, unpack: str, suffix: str, library: ModuleType) -> None:
    assert bench.run([pack, "d/f"]) == (b"", b"", 0)
    data = bench.read("d/f" + suffix)
    assert library.decompress(data) == b"hello\n"
    assert bench.run([unpack, "-k", "d/f" + suffix]) == (b"", b"", 0)
    assert bench.read("d/f") == b"hello\n"
    assert bench.run([unpack, "d/f" + suffix])[2] == 1
    assert bench.run([pack, "-t", "d/f" + suffix]) == (b"", b"", 0)


def test_wrong_formats(bench: Bench) -> None:
    assert bench.run(["bzcat"], stdin="x\n") == (b"", b"bzcat: (stdin) is not a bzip2 file.\n", 2)
    assert bench.run(["xzcat"], stdin="x\n") == (b"", b"xzcat: (stdin): File format not recognized\n", 1)


def test_zgrep_reads_compressed_files(bench: Bench) -> None:
    bench.run(["gzip", "d/f"])
    assert bench.run(["zgrep", "ell", "d/f.gz"]) == (b"hello\n", b"", 0)
    assert bench.run(["zgrep", "-c", "zzz", "d/f.gz"]) == (b"0\n", b"", 1)
