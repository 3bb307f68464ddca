"""xargs, tee, expr, tr, cut, comm, join, paste, nl, rev, tac, fold: values of GNU's tools."""
from __future__ import annotations

import shlex

import pytest

from tests.commands.harness import Bench, run_tool

FILES = {"c": "a:b:c\nd:e\nnone\n\n", "s1": "a\nb\nd\n", "s2": "b\nc\nd\n", "u": "b\na\n", "j1": "1 a x\n2 b y\n3 c\n", "j2": "1 A\n3 C z\n4 D\n",
         "n": "l1\n\nl3\n\\:\\:\\:\nh\n\\:\\:\nb1\n\\:\nf\n", "w": "hello\twörld foo\nabc", "d/": None}


@pytest.fixture(scope="module")
def bench():
    return Bench(FILES)


@pytest.mark.parametrize(("line", "out"), [
    ("cut -d: -f2 c", "b\ne\nnone\n\n"), ("cut -d: -f3,1 -s c", "a:c\nd\n"), ("cut -c2-3 c", ":b\n:e\non\n\n"), ("cut -d: -f1- --complement c", "\n\nnone\n\n"),
    ("cut -d: -f1,3 --output-delimiter=XX c", "aXXc\nd\nnone\n\n"), ("cut -b1,3-4 --output-delimiter=_ c", "a_b:\nd_e\nn_ne\n\n"), ("cut -z -c1 s1", "a\0"),
    ("comm s1 s2", "a\n\t\tb\n\tc\n\t\td\n"), ("comm -12 s1 s2", "b\nd\n"), ("comm --total -3 s1 s2", "a\n\tc\n1\t1\t2\ttotal\n"), ("comm --output-delimiter=: s1 s2", "a\n::b\n:c\n::d\n"),
    ("join j1 j2", "1 a x A\n3 c C z\n"), ("join -v1 j1 j2", "2 b y\n"), ("join -a2 -e X -o 0,1.2,2.2 j1 j2", "1 a A\n3 c C\n4 X D\n"), ("join -o auto -a1 -a2 -e - j1 j2", "1 a x A\n2 b y -\n3 c - C\n4 - - D\n"),
    ("join -t : c c", "a:b:c:b:c\nd:e:e\nnone\n\n"), ("paste s1 s2", "a\tb\nb\tc\nd\td\n"), ("paste -d ',:' s1 s2 u", "a,b:b\nb,c:a\nd,d:\n"), ("paste -s -d+ s1", "a+b+d\n"),
    ("paste -d '\\n' s1 u", "a\nb\nb\na\nd\n\n"), ("nl s1", "     1\ta\n     2\tb\n     3\td\n"), ("nl -ba -w2 -s: -v9 -i2 s1", " 9:a\n11:b\n13:d\n"), ("nl -nrz -w3 s1", "001\ta\n002\tb\n003\td\n"),
    ("nl -ha n", "     1\tl1\n       \n     2\tl3\n\n     1\th\n\n     1\tb1\n\n       f\n"), ("nl -bpb -s' ' s1", "       a\n     1 b\n       d\n"), ("rev w", "oof dlröw\tolleh\ncba"), ("tac s1 u", "d\nb\na\na\nb\n"),
    ("tac -s: -b c", ":e\nnone\n\n:c\nd:ba"), ("tac w", "abchello\twörld foo\n"), ("fold -w4 s1", "a\nb\nd\n"), ("fold -sw 8 w", "hello\t\nwörld \nfoo\nabc"), ("fold -b -w 6 w", "hello\t\nwörld\n foo\nabc"),
    ("expr 2 + 3 '*' 4", "14\n"), ("expr '(' 2 + 3 ')' '*' 4", "20\n"), ("expr -7 / 2", "-3\n"), ("expr abc : 'a\\(.\\)'", "b\n"), ("expr wörld : '.*'", "5\n"), ("expr substr héllo 2 2", "él\n"), ("expr index hello lo", "3\n"),
    ("expr 99999999999999999999 + 1", "100000000000000000000\n"), ("expr 2 '<' 10", "1\n"), ("expr a '|' b", "a\n"), ("expr length + 1234", "4\n"),
])
def test_output(bench, line, out):
    assert bench.run(shlex.split(line)) == (out.encode(), b"", 0)


@pytest.mark.parametrize(("line", "stdin", "out"), [
    ("tr a-z A-Z", "héllo", "HéLLO"), ("tr -d '[:space:]'", "a b\tc\n", "abc"), ("tr -s ab", "aabbccaa", "abcca"), ("tr -cd a-c", "xaybz", "ab"), ("tr -c '[:alnum:]' '[_*]'", "a-b c", "a_b_c"),
    ("tr '[:lower:]' '[:upper:]'", "aB", "AB"), ("tr abc '[x*2]y'", "abcd", "xxyd"), ("tr -cs a-z '\\n'", "ab, cd", "ab\ncd"), ("tr '\\101\\n' 'x,'", "A\nB", "x,B"), ("tr -t abc x", "abc", "xbc"), ("tr -ds a b", "aabbb", "b"),
    ("xargs", "a 'b c' d\\ e\n", "a b c d e\n"), ("xargs -n2 echo X", "1 2 3", "X 1 2\nX 3\n"), ("xargs -I{} echo '<{}>'", " a b\n\nc\n", "<a b>\n<c>\n"), ("xargs -0 -n1", "a b\0c\0", "a b\nc\n"), ("xargs -d, echo", "a,b", "a b\n"),
    ("xargs -L1 echo", "a b\nc \nd\n", "a b\nc d\n"), ("xargs -r echo x", "", ""), ("xargs echo x", "", "x\n"), ("xargs -E END", "a END b", "a\n"), ("xargs -s 12 echo", "aa bb cc", "aa bb\ncc\n"), ("xargs -P3 -n1 echo", "1 2 3", "1\n2\n3\n"),
    ("tee x y", "data", "data"), ("paste - -", "1\n2\n3\n", "1\t2\n3\t\n"), ("tac", "1\n2", "21\n"), ("cut -f1 -d ''", "a\n", "a\n"),
])
def test_filters(bench, line, stdin, out):
    assert bench.run(shlex.split(line), stdin=stdin) == (out.encode(), b"", 0)


@pytest.mark.parametrize(("line", "err", "status"), [
    ("cut c", "cut: you must specify a list of bytes, characters, or fields\nTry 'cut --help' for more information.\n", 1), ("cut -f0 c", "cut: fields are numbered from 1\nTry 'cut --help' for more information.\n", 1),
    ("cut -b2-1 c", "cut: invalid decreasing range\nTry 'cut --help' for more information.\n", 1), ("cut -f1 nope", "cut: nope: No such file or directory\n", 1),
    ("tr", "tr: missing operand\nTry 'tr --help' for more information.\n", 1), ("tr z-a x", "tr: range-endpoints of 'z-a' are in reverse collating sequence order\n", 1), ("tr '[:x:]' y", "tr: invalid character class ‘x’\n", 1),
    ("comm s1", "comm: missing operand after ‘s1’\nTry 'comm --help' for more information.\n", 1), ("join -t ab j1 j2", "join: multi-character tab ‘ab’\n", 1), ("fold -w0 w", "fold: invalid number of columns: ‘0’: Numerical result out of range\n", 1),
    ("expr 1 / 0", "expr: division by zero\n", 2), ("expr a + 1", "expr: non-integer argument\n", 2), ("expr 1 +", "expr: syntax error: missing argument after ‘+’\n", 2), ("expr", "expr: missing operand\nTry 'expr --help' for more information.\n", 2),
    ("tac nope", "tac: failed to open 'nope' for reading: No such file or directory\n", 1), ("rev nope", "rev: cannot open nope: No such file or directory\n", 1), ("nl -w0 n", "nl: invalid line number field width: ‘0’: Numerical result out of range\n", 1),
    ("paste nope s1", "paste: nope: No such file or directory\n", 1), ("xargs -n x", "xargs: invalid number \"x\" for -n option\nTry 'xargs --help' for more information.\n", 1), ("xargs nope", "xargs: nope: No such file or directory\n", 127),
])
def test_errors(bench, line, err, status):
    assert bench.run(shlex.split(line), stdin="1") == (b"", err.encode(), status)


def test_statuses(bench):
    assert bench.run(["expr", "0"]) == (b"0\n", b"", 1)
    assert bench.run(["xargs", "false"], stdin="1")[2] == 123
    assert bench.run(["comm", "u", "s1"]) == (b"\ta\n\t\tb\na\n\td\n", b"comm: file 1 is not in sorted order\ncomm: input is not in sorted order\n", 1)
    assert bench.run(["join", "--check-order", "u", "s1"]) == (b"", b"join: u:2: is not sorted: a\n", 1)


def test_tee_writes_all_it_can():
    bench = Bench({"f": "1\n", "d/": None})
    assert bench.run(["tee", "-a", "f", "d", "g"], stdin="2\n") == (b"2\n", b"tee: d: Is a directory\n", 1)
    assert (bench.read("f"), bench.read("g")) == (b"1\n2\n", b"2\n")


def test_squeezing_goes_over_blocks():
    assert run_tool(["tr", "-s", "a"], stdin=b"a" * (3 << 20) + b"b")[0] == b"ab"
