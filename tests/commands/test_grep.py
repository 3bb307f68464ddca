"""grep as GNU grep 3.11 prints it."""
from __future__ import annotations

import pytest

from mirage import Terminal
from tests.commands.harness import Bench, run_tool

TEXT = "foo bar\nbaz\nfoo foo\n"
WORDS = "a.b foo_bar foo\nfoobar\nfoo-\n"
MARKS = "1\n2\nm\n4\n5\n6\n7\nm\nm\n10\n11\n"
FILES = {"a": TEXT, "w": WORDS, "m": MARKS, "d/a": TEXT, "d/.h": TEXT, "d/s/b.txt": TEXT, "bin": "x\0foo\n", "inv": b"foo\n\xe9 foo\nfoo\n",
         "z": "a\nb\0c\n", "u": "Ünï wörd\n", "p": "baz\nfoo b\n"}


@pytest.fixture(scope="module")
def bench():
    return Bench(FILES)


@pytest.mark.parametrize(("args", "out", "status"), [
    ("foo a", "foo bar\nfoo foo\n", 0), ("-c foo a d/a", "a:2\nd/a:2\n", 0), ("-v foo a", "baz\n", 0), ("-vc foo a", "1\n", 0),
    ("-n foo a", "1:foo bar\n3:foo foo\n", 0), ("-o foo a", "foo\nfoo\nfoo\n", 0), ("-ob o a", "1:o\n2:o\n13:o\n14:o\n17:o\n18:o\n", 0),
    ("-w foo w", "a.b foo_bar foo\nfoo-\n", 0), ("-ow foo.* w", "foo_bar foo\nfoobar\nfoo-\n", 0), ("-x baz a", "baz\n", 0),
    ("-i FOO a", "foo bar\nfoo foo\n", 0), ("-F a.b w", "a.b foo_bar foo\n", 0), ("-E ba(r|z) a", "foo bar\nbaz\n", 0),
    ("-e baz -e bar a", "foo bar\nbaz\n", 0), ("-f p a", "foo bar\nbaz\n", 0), ("-l foo a w m", "a\nw\n", 0), ("-L foo a w m", "m\n", 0),
    ("-q foo a nope", "", 0), ("zzz a", "", 1), ("-m1 foo a", "foo bar\n", 0), ("-c -m1 foo a", "1\n", 0), ("-h foo a d/a", "foo bar\nfoo foo\n" * 2, 0),
    ("-A1 -n m m", "3:m\n4-4\n--\n8:m\n9:m\n10-10\n", 0), ("-B1 m m", "2\nm\n--\n7\nm\nm\n", 0), ("-C1 -c m m", "3\n", 0),
    ("-m2 -A1 m m", "m\n4\n--\nm\nm\n", 0), ("--no-group-separator -A0 m m", "m\nm\nm\n", 0), ("-vn -A1 [0-9] m", "3:m\n4-4\n--\n8:m\n9:m\n10-10\n", 0),
    ("-Z -l foo a", "a\0", 0), ("-zc . z", "2\n", 0), ("-z ^c z", "c\n\0", 0), ("-z a.b z", "a\nb\0", 0), ("-T -n foo a", " 1:\tfoo bar\n 3:\tfoo foo\n", 0),
    ("-P fo(?=o.b) -o a", "fo\n", 0), ("-oP \\w+ u", "n\nw\nrd\n", 0), ("-o \\w* u", "Ünï\nwörd\n", 0), ("-oi ünÏ u", "Ünï\n", 0),
    ("-r foo d/s", "d/s/b.txt:foo bar\nd/s/b.txt:foo foo\n", 0), ("-rl foo d --include=*.txt", "d/s/b.txt\n", 0), ("-rl foo d --exclude-dir=s --exclude=.h", "d/a\n", 0),
    ("-rl --include *.txt foo d", "d/s/b.txt\n", 0), ("-E (o)\\1 -c a", "2\n", 0), ("-c ^ a", "3\n", 0), ("-a foo bin", "x\0foo\n", 0), ("-c foo bin", "1\n", 0),
    ("-I foo bin", "", 1), ("-on '' a", "", 0), ("--color=always bar a", "foo \x1b[01;31m\x1b[Kbar\x1b[m\x1b[K\n", 0),
])
def test_output(bench, args, out, status):
    argv = [a.replace("''", "") for a in args.split(" ")]
    assert bench.run(["grep", *argv]) == (out.encode(), b"", status)


@pytest.mark.parametrize(("args", "err", "status"), [
    ("foo nope", "grep: nope: No such file or directory\n", 2), ("foo d", "grep: d: Is a directory\n", 2), ("-s foo nope", "", 2),
    ("( a -E", "grep: Unmatched ( or \\(\n", 2), ("-P ( a", "grep: missing closing parenthesis\n", 2), ("-A x foo a", "grep: x: invalid context length argument\n", 2),
    ("-m x foo a", "grep: invalid max count\n", 2), ("-E -P x a", "grep: conflicting matchers specified\n", 2), ("foo bin", "grep: bin: binary file matches\n", 0),
    ("-Y x", "grep: invalid option -- 'Y'\nUsage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information.\n", 2),
    ("-P -e a -e b a", "grep: the -P option only supports a single pattern\n", 2), ("-f nope a", "grep: nope: No such file or directory\n", 2),
])
def test_errors(bench, args, err, status):
    assert bench.run(["grep", *args.split(" ")])[1:] == (err.encode(), status)


def test_a_line_that_is_no_text_is_left_out(bench):
    assert bench.run(["grep", "-n", "foo", "inv"]) == (b"1:foo\n3:foo\n", b"grep: inv: binary file matches\n", 0)
    assert bench.run(["grep", "-c", "foo", "inv"], env={"LC_ALL": "C"})[0] == b"3\n"


def test_standard_input_keeps_its_place():
    """A program behind `grep -m1` reads on where grep stopped."""
    with Terminal() as terminal:
        result = terminal.run(r"printf 'one\ntwo\nthree\n' > f; { grep -m1 t; cat; } < f")
    assert result.stdout == "two\nthree\n"


def test_last_line_without_newline():
    assert run_tool(["grep", "b"], stdin="ab") == (b"ab\n", b"", 0)
    assert run_tool(["grep", "-c", "x$"], stdin="x") == (b"1\n", b"", 0)
    assert run_tool(["grep", "-v", "q"], stdin="a\n\nb") == (b"a\n\nb\n", b"", 0)


def test_aliases_and_odd_patterns():
    assert run_tool(["egrep", "a|b"], stdin="b\n")[0] == b"b\n"
    assert run_tool(["fgrep", "a|b"], stdin="a|b\nb\n")[0] == b"a|b\n"
    assert run_tool(["grep", "-E", "*a"], stdin="a\n") == (b"a\n", b"grep: warning: * at start of expression\n", 0)
    assert run_tool(["grep", "-e", "a\nb"], stdin="a\nc\nb\n")[0] == b"a\nb\n"


@pytest.mark.parametrize("args", [
    ["needle"], ["-i", "NEEDLE"], ["-E", "n.e+dle"], ["-v", "needle"], ["-n", "needle"], ["-o", "needle"], ["-c", "needle"], ["-w", "needle"],
    ["-P", "ne+dle"], ["-H", "needle"], ["-F", "-x", "a needle here 7"],
])
@pytest.mark.parametrize("share", [1, 40])
def test_block_search_agrees_with_line_search(args, share):
    """Dense and rare matches take different paths; both must give what looking at each line gives."""
    import re
    lines = [f"a needle here {i % 9}" if i % share == 0 else f"nothing {i}" for i in range(20000)]
    data = "".join(f"{line}\n" for line in lines)
    out, err, status = run_tool(["grep", *args], stdin=data)
    if "-x" in args:
        chosen = [(i, line) for i, line in enumerate(lines, 1) if line == args[-1]]
    else:
        chosen = [(i, line) for i, line in enumerate(lines, 1) if bool(re.search("needle", line)) != ("-v" in args)]
    if "-c" in args:
        want = f"{len(chosen)}\n"
    elif "-o" in args:
        want = "needle\n" * len(chosen)
    else:
        head = "(standard input):" if "-H" in args else ""
        want = "".join(f"{head}{str(i) + ':' if '-n' in args else ''}{line}\n" for i, line in chosen)
    assert (out.decode(), err, status) == (want, b"", 0 if chosen else 1)


def test_hostile_input_does_not_hang_it():
    run_tool(["grep", "-E", "(a+)+$"], stdin="a" * 200_000 + "!\n")
    out, err, status = run_tool(["grep", "-P", "^(a+)+$"], stdin="a" * 60 + "!\n")
    assert (status, err) == (2, b"grep: (standard input): exceeded PCRE's backtracking limit\n")
