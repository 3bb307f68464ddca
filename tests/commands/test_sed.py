"""sed as GNU sed 4.9 behaves."""
from __future__ import annotations

import pytest

from tests.commands.harness import Bench, run_tool

FIVE = "one\ntwo\nthree\nfour\nfive\n"


@pytest.mark.parametrize(("args", "out"), [
    (["s/o/0/"], "0ne\ntw0\nthree\nf0ur\nfive\n"), (["s/e/E/2"], "one\ntwo\nthreE\nfour\nfive\n"), (["-n", "s/e/E/gp"], "onE\nthrEE\nfivE\n"),
    (["-n", "2p"], "two\n"), (["-n", "2,3p"], "two\nthree\n"), (["-n", "$p"], "five\n"), (["2q"], "one\ntwo\n"), (["/t/d"], "one\nfour\nfive\n"),
    (["/t/!d"], "two\nthree\n"), (["-n", "/two/,/four/p"], "two\nthree\nfour\n"), (["-n", "2,+1p"], "two\nthree\n"), (["-n", "1~2p"], "one\nthree\nfive\n"),
    (["-n", "2,~2p"], "two\nthree\nfour\n"), (["0,/one/d"], "two\nthree\nfour\nfive\n"), (["1,/one/d"], ""), (["4,2d"], "one\ntwo\nthree\nfive\n"[:0] + "one\ntwo\nthree\nfive\n"),
    (["1!G;h;$!d"], "five\nfour\nthree\ntwo\none\n"), (["$!N;s/\\n/ /"], "one two\nthree four\nfive\n"), ([":a;N;$!ba;s/\\n/,/g"], "one,two,three,four,five\n"),
    (["$!N;P;D"], FIVE), (["n;d"], "one\nthree\nfive\n"), (["1{x;p;x}"], "\n" + FIVE), (["-E", "s/(.)(.*)/\\2\\1/"], "neo\nwot\nhreet\nourf\nivef\n"),
    (["s/.*/\\u&/;2s/$/\\LX/"], "One\nTwox\nThree\nFour\nFive\n"), (["-E", "s/(o)(.)/\\U\\1\\E\\2/"], "One\ntwo\nthree\nfOur\nfive\n"),
    (["2i\\  x", "-s"], "one\n  x\n" + FIVE[4:]), (["$a end"], FIVE + "end\n"), (["2,3c new"], "one\nnew\nfour\nfive\n"), (["2!c c"], "c\ntwo\nc\nc\nc\n"),
    (["y/abc/ABC/;=", "-n"], "1\n2\n3\n4\n5\n"), (["s/one/X/;ta;s/$/!/;:a"], "X\ntwo!\nthree!\nfour!\nfive!\n"), (["s/t/a\\\nb/"], "one\na\nbwo\na\nbhree\nfour\nfive\n"),
    (["-z", "s/\\n/;/g"], "one;two;three;four;five;"), (["/two/s//[&]/"], "one\n[two]\nthree\nfour\nfive\n"), (["N;N;s/^t/T/Mg"], "one\nTwo\nThree\nfour\nfive\n"),
    (["s|t|\\||"], "one\n|wo\n|hree\nfour\nfive\n"), (["s/[/]/x/;s/x*$/./"], "one.\ntwo.\nthree.\nfour.\nfive.\n"), (["-n", "/o/{s//0/;p}"], "0ne\ntw0\nf0ur\n"),
    (["3!{/f/!d}"], "three\nfour\nfive\n"), (["#n"], ""), (["-n", "l;2q"], "one$\ntwo$\n"), (["5!d;F"], "-\nfive\n"), (["-e", "1a\\", "-e", "x"], "one\nx\n" + FIVE[4:]),
    (["/^$/d;s/^/> /"], "> one\n> two\n> three\n> four\n> five\n"), (["s/x*/-/g;q"], "-o-n-e-\n"), (["--expression=2d", "--quiet", "-e", "p"], "one\nthree\nfour\nfive\n"),
])
def test_scripts(args, out):
    assert run_tool(["sed", *args], stdin=FIVE) == (out.encode(), b"", 0)


@pytest.mark.parametrize(("script", "message", "status"), [
    ("s/a", "-e expression #1, char 3: unterminated `s' command", 1), ("s/a/b/k", "-e expression #1, char 7: unknown option to `s'", 1),
    ("k", "-e expression #1, char 1: unknown command: `k'", 1), ("{p", "-e expression #1, char 0: unmatched `{'", 1), ("p}", "-e expression #1, char 2: unexpected `}'", 1),
    ("1,p", "-e expression #1, char 3: unexpected `,'", 1), ("bx", "can't find label for jump to `x'", 4), ("s/(/\\1/", "-e expression #1, char 7: invalid reference \\1 on `s' command's RHS", 1),
    ("y/ab/c/", "-e expression #1, char 7: strings for `y' command are different lengths", 1), ("a", "-e expression #1, char 1: expected \\ after `a', `c' or `i'", 1),
    ("s//x/", "-e expression #1, char 0: no previous regular expression", 1), ("0p", "-e expression #1, char 2: invalid usage of line address 0", 1),
    ("s/\\(/x/", "-e expression #1, char 7: Unmatched ( or \\(", 1), ("p x", "-e expression #1, char 3: extra characters after command", 1),
])
def test_errors(script, message, status):
    out, err, got = run_tool(["sed", script], stdin=FIVE)
    assert (out, err.decode(), got) == (b"", f"sed: {message}\n", status)


def test_missing_newline_is_kept():
    assert run_tool(["sed", "s/b/c/"], stdin="a\nb")[0] == b"a\nc"
    assert run_tool(["sed", "p"], stdin="a\nb")[0] == b"a\na\nb\nb"
    assert run_tool(["sed", "$d"], stdin="a\nb")[0] == b"a\n"
    assert run_tool(["sed", "", "x", "y"], files={"x": "1", "y": "2\n"})[0] == b"1\n2\n"


def test_in_place():
    bench = Bench({"a": "x\n", "b": "x", "d/": None, "l": ("link", "a")})
    bench.root.fs.chmod(bench.path("a"), 0o640)
    assert bench.run(["sed", "-i.bak", "s/x/y/", "a", "b", "d"]) == (b"", b"sed: couldn't edit d: not a regular file\n", 4)
    assert (bench.read("a"), bench.read("a.bak"), bench.read("b")) == (b"y\n", b"x\n", b"y")
    assert bench.root.fs.stat(bench.path("a")).mode & 0o777 == 0o640
    assert bench.run(["sed", "-n", "-i", "p;1w out", "b"])[2] == 0
    assert (bench.read("b"), bench.read("out")) == (b"y", b"y")
    bench.run(["sed", "-i", "1q", "a"])
    assert sorted(e.name for e in bench.root.fs.list("/workspace")) == ["a", "a.bak", "b", "b.bak", "d", "l", "out"]


def test_files_read_and_written():
    bench = Bench({"a": "1\n2\n", "t": "T\n", "s.sed": "1d\ns/2/two/\n"})
    assert bench.run(["sed", "1r t", "a"])[0] == b"1\nT\n2\n"
    assert bench.run(["sed", "R t", "a"])[0] == b"1\nT\n2\n"
    assert bench.run(["sed", "-f", "s.sed", "a"])[0] == b"two\n"
    assert bench.run(["sed", "-n", "/2/w new", "a"]) == (b"", b"", 0)
    assert bench.read("new") == b"2\n"
    assert bench.run(["sed", "p", "nope", "a"]) == (b"1\n1\n2\n2\n", b"sed: can't read nope: No such file or directory\n", 2)
    assert bench.run(["sed", "-s", "-n", "$p", "a", "t"])[0] == b"2\nT\n"


@pytest.mark.parametrize("script", ["s/a[0-9]*/<&>/g", "s/[0-9]\\+$/N/", "s/ *$//", "s/b*/-/g", "/7/d", "s/a/x/;s/x/y/;/y1/d", "s/\\(a\\)\\([0-9]\\)/\\2\\1/", "3,5d", "y/a1/b2/"])
def test_block_and_line_execution_agree(script):
    """`-u` goes line by line, without it simple scripts run over blocks."""
    data = "".join(f"a{i} b  \n" for i in range(300)) + "a7 tail"
    assert run_tool(["sed", script], stdin=data) == run_tool(["sed", "-u", script], stdin=data)
