"""Options, operands, input and output of awk."""
from __future__ import annotations

import pytest

from tests.commands.harness import Bench, run_tool

FILES = {"a.txt": "a 1\nb 2\n", "b.txt": "c 3\n", "p.awk": "{ s += $2 }\nEND { print s }\n", "f.awk": "function f(x) { return x * 2 }\n",
         "csv": "x,1\ny,2", "colons": "a:b\n", "tabs": "a b\tc\n", "paragraphs": "\n\nx y\nz\n\n\nw\n"}


@pytest.mark.parametrize(("argv", "stdin", "expected"), [
    (["{print FILENAME, FNR, NR}", "a.txt", "b.txt"], "", "a.txt 1 1\na.txt 2 2\nb.txt 1 3\n"),
    (["-f", "p.awk", "a.txt", "b.txt"], "", "6\n"),
    (["-f", "f.awk", "-e", "BEGIN { print f(4) }"], "", "8\n"),
    (["-F,", "{print $2}", "csv"], "", "1\n2\n"),
    (["-F", ":", "{print $2}", "colons"], "", "b\n"),
    (["-F\\t", "{print $2}", "tabs"], "", "c\n"),
    (["-Ft", "{print $2}", "tabs"], "", "c\n"),
    (["-F", "|", "{print $2}"], "a|b", "b\n"),
    (["-F", " ", "{print $2}"], "  a   b ", "b\n"),
    (["-F", "[ ]", "{print NF}"], " a b", "3\n"),
    (["-F", "", "{print $2}"], "abc", "b\n"),
    (["-v", "x=a\\tb", "-v", "n=010", "BEGIN{print x, n+1}"], "", "a\tb 11\n"),
    (["-vOFS=-", "{print $1,$2}", "a.txt"], "", "a-1\nb-2\n"),
    (["{print v, $1}", "v=1", "b.txt", "v=2", "b.txt"], "", "1 c\n2 c\n"),
    (["BEGIN{print ARGC, ARGV[1]; ARGV[1]=\"b.txt\"} {print}", "a.txt"], "", "2 a.txt\nc 3\n"),
    (["-v", "RS=", "{print NR, $1, NF}", "paragraphs"], "", "1 x 3\n2 w 1\n"),
    (["-n", "{print $1+0}"], "0x1F\n", "31\n"),
    (["--", "BEGIN{print 1}"], "", "1\n"),
    (["BEGINFILE{print \"in\", FILENAME} ENDFILE{print \"out\", FNR}", "a.txt", "b.txt"], "", "in a.txt\nout 2\nin b.txt\nout 1\n"),
    (["BEGINFILE{if(ERRNO){print \"no\"; nextfile}} {print}", "missing", "b.txt"], "", "no\nc 3\n"),
    (["FNR==1{print; nextfile}", "a.txt", "b.txt"], "", "a 1\nc 3\n"),
    (["{while((getline l < \"b.txt\")>0) print \"l\", l; print; close(\"b.txt\")}", "a.txt"], "", "l c 3\na 1\nl c 3\nb 2\n"),
    (["{print > ($1 \".out\"); close($1 \".out\"); getline l < ($1 \".out\"); print l}", "a.txt"], "", "a 1\nb 2\n"),
    (["END{print $0, NF, NR}", "a.txt"], "", "b 2 2 2\n"),
])
def test_output(argv: list[str], stdin: str, expected: str) -> None:
    out, err, status = run_tool(["awk", *argv], FILES, stdin)
    assert (out.decode(), err, status) == (expected, b"", 0)


@pytest.mark.parametrize(("argv", "status", "message"), [
    (["-f", "missing"], 2, "awk: fatal: cannot open source file `missing' for reading: No such file or directory\n"),
    (["{print}", "missing"], 2, "awk: cmd. line:1: fatal: cannot open file `missing' for reading: No such file or directory\n"),
    (["-v", "2x=1", "BEGIN{}"], 2, "awk: fatal: `2x' is not a legal variable name\n"),
    (["-v"], 1, "awk: option requires an argument -- v\n"),
    (["--nosuch", "1"], 1, "awk: unrecognized option '--nosuch'\n"),
    ([], 1, "Usage: awk"),
    (["@include \"x\""], 1, "awk: cmd. line:1: error: cannot open source file `x' for reading: No such file or directory\n"),
    (["BEGIN{print > \"/nodir/x\"}"], 2, "awk: cmd. line:1: fatal: cannot redirect to `/nodir/x': No such file or directory\n"),
])
def test_errors(argv: list[str], status: int, message: str) -> None:
    _, err, got = run_tool(["awk", *argv], FILES)
    assert got == status
    assert err.decode().startswith(message)


def test_the_environment_is_that_of_the_process() -> None:
    out, _, _ = run_tool(["awk", 'BEGIN{print ENVIRON["ONLY_HERE"] "|" ENVIRON["PYTHONPATH"]}'], env={"ONLY_HERE": "yes"})
    assert out == b"yes|\n"


def test_characters_and_bytes() -> None:
    program = '{print length($0), substr($0,2,1), index($0,"o"), toupper($0)}'
    assert run_tool(["awk", program], stdin="h\u00e9llo\n")[0].decode() == "5 \u00e9 5 H\u00c9LLO\n"
    out, _, _ = run_tool(["awk", "{print length($0)}"], stdin="h\u00e9llo\n", env={"LC_ALL": "C"})
    assert out == b"6\n"


def test_bytes_that_are_no_text_pass_through() -> None:
    out, _, _ = run_tool(["awk", "{$2 = $2; print $2, $1}"], stdin=b"\xff\xfe b\n")
    assert out == b"b \xff\xfe\n"


def test_carriage_returns_belong_to_the_field() -> None:
    assert run_tool(["awk", "{print $2 \"|\"}"], stdin=b"a b\r\n")[0] == b"b\r|\n"


def test_records_that_cross_blocks() -> None:
    lines = [f"{n} {'x' * (n % 50)}\u00e9" for n in range(40_000)]
    text = "\n".join(lines) + "\n"
    out, _, _ = run_tool(["awk", "{s += $1; c += length($2)} END{print s, c, NR}"], stdin=text)
    assert out == f"{sum(range(40_000))} {sum(n % 50 + 1 for n in range(40_000))} 40000\n".encode()
    out, _, _ = run_tool(["awk", "-v", "RS=\u00e9\n[0-9]?", "END{print NR}"], stdin=text)
    assert out == b"40000\n"


def test_a_separator_that_changes_between_records() -> None:
    out, _, _ = run_tool(["awk", 'NR==1{RS=";"} {print NR ":" $0}'], stdin="a\nb;c;d\n")
    assert out == b"1:a\n2:b\n3:c\n4:d\n\n"


def test_one_machine_many_programs() -> None:
    bench = Bench()
    for n in range(3):
        assert bench.run(["awk", "BEGIN{x++; print x}"])[0] == b"1\n", n
