"""cat, head, tail, wc, sort, uniq, seq, expand and their like: output and status as coreutils 9.7 gives them."""
from __future__ import annotations

import shlex

import pytest

from tests.commands.harness import Bench, run_tool

FILES = {
    "fruit": "pear 3\napple 10\nfig 1\napple 2\n",
    "numbers": "10\n9\n-3\n2.5\n",
    "sizes": "1K\n2M\n500\n1G\n",
    "versions": "v1.10\nv1.9\nv1\n",
    "tabs": "a\tb\n\tc\n",
    "doubled": "a\na\nB\nb\nc\n",
    "blanks": "x\n\n\n\ny\n",
    "odd name": "text\n",
    "accents": "é à\n",
    "empty": "",
    "dir/inner": "1\n",
}

CASES = [
    ("cat -A tabs", "a^Ib$\n^Ic$\n", 0),
    ("cat -s blanks", "x\n\ny\n", 0),
    ("cat -n blanks", "     1\tx\n     2\t\n     3\t\n     4\t\n     5\ty\n", 0),
    ("cat -b blanks", "     1\tx\n\n\n\n     2\ty\n", 0),
    ("head -n -1 fruit", "pear 3\napple 10\nfig 1\n", 0),
    ("head -c 4 fruit", "pear", 0),
    ("head -n 1 fruit empty", "==> fruit <==\npear 3\n\n==> empty <==\n", 0),
    ("tail -n +3 fruit", "fig 1\napple 2\n", 0),
    ("tail -c 3 fruit", " 2\n", 0),
    ("tail -1 fruit", "apple 2\n", 0),
    ("wc fruit accents", " 4  8 30 fruit\n 1  2  6 accents\n 5 10 36 total\n", 0),
    ("wc -m accents", "4 accents\n", 0),
    ("wc -L tabs", "9 tabs\n", 0),
    ("sort fruit", "apple 10\napple 2\nfig 1\npear 3\n", 0),
    ("sort -k2,2nr fruit", "apple 10\npear 3\napple 2\nfig 1\n", 0),
    ("sort -k1,1 -k2n fruit", "apple 2\napple 10\nfig 1\npear 3\n", 0),
    ("sort -n numbers", "-3\n2.5\n9\n10\n", 0),
    ("sort -h sizes", "500\n1K\n2M\n1G\n", 0),
    ("sort -V versions", "v1\nv1.9\nv1.10\n", 0),
    ("sort -fu doubled", "a\nB\nc\n", 0),
    ("sort -c fruit", "", 1),
    ("sort -nh fruit", "", 2),
    ("uniq -c doubled", "      2 a\n      1 B\n      1 b\n      1 c\n", 0),
    ("uniq -di doubled", "a\nB\n", 0),
    ("uniq -u doubled", "B\nb\nc\n", 0),
    ("seq 1 0.5 2", "1.0\n1.5\n2.0\n", 0),
    ("seq -w 9 11", "09\n10\n11\n", 0),
    ("seq -s, 5 -2 1", "5,3,1\n", 0),
    ("seq -f %.2f 2", "1.00\n2.00\n", 0),
    ("seq 2 1", "", 0),
    ("expand -t4 tabs", "a   b\n    c\n", 0),
    ("basename -s .txt a/b.txt c.txt", "b\nc\n", 0),
    ("dirname /a/b/ c", "/a\n.\n", 0),
    ("numfmt --to=iec 1024 123456", "1.0K\n121K\n", 0),
    ("numfmt --from=si 2K", "2000\n", 0),
    ("base64 fruit", "cGVhciAzCmFwcGxlIDEwCmZpZyAxCmFwcGxlIDIK\n", 0),
    ("base32 empty", "", 0),
    ("md5sum empty", "d41d8cd98f00b204e9800998ecf8427e  empty\n", 0),
    ("cksum fruit", "4192905530 30 fruit\n", 0),
    ("sum empty", "00000     0 empty\n", 0),
    ("od -An -tx1 -N 4 fruit", " 70 65 61 72\n", 0),
    ("od -c tabs", "0000000   a  \\t   b  \\n  \\t   c  \\n\n0000007\n", 0),
    ("xxd -p fruit", "7065617220330a6170706c652031300a66696720310a6170706c6520320a\n", 0),
    ("xxd -l 4 fruit", "00000000: 7065 6172                                pear\n", 0),
    ("strings -n 5 fruit", "pear 3\napple 10\nfig 1\napple 2\n", 0),
    ("column -t fruit", "pear   3\napple  10\nfig    1\napple  2\n", 0),
    ("factor 84 97", "84: 2 2 3 7\n97: 97\n", 0),
    ("tsort fruit", None, 0),
    ("split -l 3 fruit part", "", 0),
    ("csplit -s fruit 3", "", 0),
    ("truncate -s 4 fruit", "", 0),
]


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(FILES)


@pytest.mark.parametrize(("line", "output", "status"), CASES, ids=[c[0] for c in CASES])
def test_output_and_status(line: str, output: str | None, status: int) -> None:
    out, _, code = run_tool(shlex.split(line), FILES)
    assert code == status
    if output is not None:
        assert out.decode() == output


ERRORS = [
    ("cat nope", "cat: nope: No such file or directory\n", 1),
    ("cat dir", "cat: dir: Is a directory\n", 1),
    ("cat 'no name'", "cat: 'no name': No such file or directory\n", 1),
    ("cat -y", "cat: invalid option -- 'y'\nTry 'cat --help' for more information.\n", 1),
    ("head -n x fruit", "head: invalid number of lines: ‘x’\n", 1),
    ("tail nope", "tail: cannot open 'nope' for reading: No such file or directory\n", 1),
    ("sort -k0 fruit", "sort: field number is zero: invalid field specification ‘0’\n", 2),
    ("sort nope", "sort: cannot read: nope: No such file or directory\n", 2),
    ("seq x", "seq: invalid floating point argument: ‘x’\nTry 'seq --help' for more information.\n", 1),
    ("uniq a b c", "uniq: extra operand ‘c’\nTry 'uniq --help' for more information.\n", 1),
    ("basename", "basename: missing operand\nTry 'basename --help' for more information.\n", 1),
    ("numfmt abc", "numfmt: invalid number: ‘abc’\n", 2),
    ("factor x", "factor: ‘x’ is not a valid positive integer\n", 1),
    ("truncate fruit", "truncate: you must specify either ‘--size’ or ‘--reference’\n"
     "Try 'truncate --help' for more information.\n", 1),
]


@pytest.mark.parametrize(("line", "message", "status"), ERRORS, ids=[e[0] for e in ERRORS])
def test_error_wording(bench: Bench, line: str, message: str, status: int) -> None:
    out, err, code = bench.run(shlex.split(line))
    assert (out, err.decode(), code) == (b"", message, status)


def test_messages_use_ascii_quotes_outside_utf8() -> None:
    _, err, _ = run_tool(["head", "-n", "x"], env={"LC_ALL": "C"})
    assert err == b"head: invalid number of lines: 'x'\n"


def test_digest_check_reports_each_file() -> None:
    bench = Bench({"a": "1\n", "b": "2\n"})
    lines, _, _ = bench.run(["sha256sum", "a", "b"])
    bench.put("sums", lines)
    bench.put("b", "changed\n")
    out, err, code = bench.run(["sha256sum", "-c", "sums"])
    assert out == b"a: OK\nb: FAILED\n"
    assert err == b"sha256sum: WARNING: 1 computed checksum did NOT match\n"
    assert code == 1


def test_base64_decodes_what_it_encoded_in_pieces() -> None:
    data = bytes(range(256)) * 2000
    bench = Bench({"data": data})
    encoded, _, _ = bench.run(["base64", "data"])
    assert max(map(len, encoded.splitlines())) == 76
    decoded, _, code = bench.run(["base64", "-d"], stdin=encoded)
    assert (decoded, code) == (data, 0)


def test_invalid_base64_keeps_what_was_good() -> None:
    out, err, code = run_tool(["base64", "-d"], stdin="YWJj!")
    assert (out, err, code) == (b"abc", b"base64: invalid input\n", 1)


def test_sort_output_may_be_its_input() -> None:
    bench = Bench({"f": "b\na\n"})
    assert bench.run(["sort", "-o", "f", "f"])[2] == 0
    assert bench.read("f") == b"a\nb\n"


def test_split_names_grow_when_they_run_out() -> None:
    bench = Bench({"f": "x\n" * 700})
    assert bench.run(["split", "-l", "1", "f"])[2] == 0
    names = sorted(e.name for e in bench.root.fs.list(bench.cwd))
    assert "xaa" in names and "xyz" in names and "xzaaa" in names


def test_xxd_reverts_its_own_dump() -> None:
    data = bytes(range(200))
    dump, _, _ = Bench({"d": data}).run(["xxd", "d"])
    assert run_tool(["xxd", "-r"], stdin=dump)[0] == data
