"""dd, hexdump, fmt, pr, cal, dc, basenc, dos2unix, getopt, envsubst, fd, less, tput: values from the real programs."""
from __future__ import annotations

import pytest

from mirage.commands import names
from tests.commands.harness import Bench, run_tool

DD = [
    (["conv=swab"], "abcdefg", "badcfeg"),
    (["conv=ucase,swab", "bs=3"], "abcdefgh", "BADCFEHG"),
    (["cbs=3", "conv=block"], "a\nbcdef\n", "a  bcd"),
    (["cbs=4", "conv=unblock"], "ab  cd  ", "ab\ncd\n"),
    (["bs=2", "conv=sync"], "abc", "abc\0"),
    (["bs=1", "skip=2", "count=3"], "abcdefg", "cde"),
    (["iflag=skip_bytes,count_bytes", "skip=1", "count=2"], "abcdef", "bc"),
    (["count=3B"], "abcdef", "abc"),
]


@pytest.mark.parametrize(("operands", "given", "expected"), DD)
def test_dd_copies(operands: list[str], given: str, expected: str) -> None:
    out, err, status = run_tool(["dd", *operands, "status=none"], stdin=given)
    assert (out, err, status) == (expected.encode(), b"", 0)


def test_dd_writes_in_place_and_reports_records() -> None:
    bench = Bench({"f": "12345678"})
    _, err, status = bench.run(["dd", "of=f", "bs=1", "seek=2", "conv=notrunc", "status=noxfer"], "XY")
    assert (bench.read("f"), err, status) == (b"12XY5678", b"2+0 records in\n2+0 records out\n", 0)
    _, err, _ = bench.run(["dd", "of=f", "bs=1", "seek=3", "status=none"], "Z")
    assert bench.read("f") == b"12XZ"
    _, err, _ = bench.run(["dd", "cbs=1", "conv=block", "status=noxfer"], "abc\n")
    assert err == b"0+1 records in\n0+1 records out\n1 truncated record\n"


@pytest.mark.parametrize(("operand", "message"), [
    ("foo", "unrecognized operand 'foo'\nTry 'dd --help' for more information.\n"),
    ("bs=0", "invalid number: '0'\n"), ("conv=lcase,ucase", "cannot combine lcase and ucase\n"),
    ("count=99999999999999999999999", "invalid number: '99999999999999999999999': Value too large for defined data type\n"),
    ("if=nofile", "failed to open 'nofile': No such file or directory\n")])
def test_dd_errors(operand: str, message: str) -> None:
    assert run_tool(["dd", operand]) == (b"", f"dd: {message}".encode(), 1)


HEXDUMP = [
    ([], "abc\n", "0000000 6261 0a63" + " " * 30 + "\n0000004\n"),
    (["-C"], "abc\n", "00000000  61 62 63 0a" + " " * 39 + "|abc.|\n00000004\n"),
    (["-c"], "\0\1a", "0000000  \\0 001   a" + " " * 52 + "\n0000003\n"),
    (["-ve", '/1 "%02x"'], "abc", "616263"),
    (["-e", '4/1 "%02x " "\\n"'], "abcdef", "61 62 63 64\n65 66" + " " * 6 + "\n"),
    (["-s", "2", "-n", "2", "-C"], "abcdef", "00000002  63 64" + " " * 45 + "|cd|\n00000004\n"),
    (["-x"], "ab" * 24, "0000000    6261    6261    6261    6261    6261    6261    6261    6261\n*\n0000030\n"),
]


@pytest.mark.parametrize(("options", "given", "expected"), HEXDUMP)
def test_hexdump(options: list[str], given: str, expected: str) -> None:
    assert run_tool(["hexdump", *options], stdin=given) == (expected.encode(), b"", 0)


def test_fmt_chooses_the_cheapest_breaks() -> None:
    text = ("This is a paragraph with some long lines that should be wrapped at a nice place by fmt, which uses an optimal "
            "algorithm.  It has\ntwo sentences.  And more.\n\n  indented\n  text\n")
    out, _, _ = run_tool(["fmt"], stdin=text)
    assert out.decode() == ("This is a paragraph with some long lines that should be wrapped at a nice\n"
                            "place by fmt, which uses an optimal algorithm.  It has two sentences.\nAnd more.\n\n"
                            "  indented text\n")
    out, _, _ = run_tool(["fmt", "-w", "40"], stdin=text)
    assert out.decode().startswith("This is a paragraph with some long\nlines that should be wrapped at a nice\n")
    assert run_tool(["fmt", "-p", "> ", "-w", "20"], stdin="> one two three four five\nplain\n")[0] == \
        b"> one two three\n> four five\nplain\n"


def test_pr_columns_and_headers() -> None:
    ten = "".join(f"{n}\n" for n in range(1, 11))
    assert run_tool(["pr", "-t", "-3"], stdin=ten)[0] == \
        b"1\t\t\t5\t\t\t8\n2\t\t\t6\t\t\t9\n3\t\t\t7\t\t\t10\n4\n"
    assert run_tool(["pr", "-T", "-3", "-s,"], stdin=ten)[0] == b"1,5,8\n2,6,9\n3,7,10\n4\n"
    assert run_tool(["pr", "-t", "-a", "-3"], stdin=ten)[0] == b"1\t\t\t2\t\t\t3\n4\t\t\t5\t\t\t6\n7\t\t\t8\t\t\t9\n10\n"
    assert run_tool(["pr", "-3", "-n", "-t"], stdin=ten)[0].splitlines()[0] == b"    1\t1\t\t    5\t5\t\t    8\t8"
    out, _, _ = run_tool(["pr", "-h", "T", "-D", "x", "-l", "12"], stdin="a\nb\n")
    assert out.decode() == "\n\nx" + " " * 32 + "T" + " " * 32 + "Page 1\n\n\na\nb\n" + "\n" * 5


def test_calendar() -> None:
    out, _, _ = run_tool(["cal", "9", "1752"])
    assert out.decode().splitlines()[:4] == ["   September 1752     ", "Su Mo Tu We Th Fr Sa  ", "       1  2 14 15 16  ",
                                             "17 18 19 20 21 22 23  "]
    assert run_tool(["cal", "13", "2024"])[1].startswith(b"cal: 13 is neither a month number (1..12) nor a name\n")


DC = [("5 3+p", "8\n"), ("20k 2v p 3 7/p", "1.41421356237309504880\n.42857142857142857142\n"), ("16o 255p", "FF\n"),
      ("[la1+dsa*pla10>y]sy0sa1lyx", "1\n2\n6\n24\n120\n720\n5040\n40320\n362880\n3628800\n"), ("5 3~f", "2\n1\n"),
      ("2 10 7|p", "2\n"), ("10k 2 _3^p", ".1250000000\n"), ("1 2:a 2;ap", "1\n"), ("[1p q 2p]x 3p", "1\n"),
      ("1.23Xp [abc]Zp 97ap", "2\n3\na\n"), ("2 300^p", str(2**300)[:69] + "\\\n" + str(2**300)[69:] + "\n")]


@pytest.mark.parametrize(("program", "expected"), DC)
def test_dc(program: str, expected: str) -> None:
    assert run_tool(["dc", "-e", program])[0].decode() == expected


@pytest.mark.parametrize(("kind", "text"), [
    ("base64", "aGVsbG8/Pg=="), ("base64url", "aGVsbG8_Pg=="), ("base32", "NBSWY3DPH47A===="),
    ("base32hex", "D1IMOR3F7SV0===="), ("base16", "68656C6C6F3F3E"),
    ("base2msbf", "01101000011001010110110001101100011011110011111100111110"),
    ("base2lsbf", "00010110101001100011011000110110111101101111110001111100")])
def test_basenc_both_ways(kind: str, text: str) -> None:
    assert run_tool(["basenc", f"--{kind}", "-w0"], stdin="hello?>")[0].decode() == text
    assert run_tool(["basenc", f"--{kind}", "-d"], stdin=text)[0] == b"hello?>"


def test_line_ends() -> None:
    bench = Bench({"f": "a\r\nb\n", "h": b"a\0\r\n"})
    assert bench.run(["dos2unix", "f"])[1] == b"dos2unix: converting file f to Unix format...\n"
    assert bench.read("f") == b"a\nb\n"
    bench.run(["unix2dos", "-q", "f"])
    assert bench.read("f") == b"a\r\nb\r\n"
    _, err, _ = bench.run(["dos2unix", "h"])
    assert err == b"dos2unix: Binary symbol 0x00 found at line 1\ndos2unix: Skipping binary file h\n"


def test_getopt_quotes_for_the_shell() -> None:
    out, _, status = run_tool(["getopt", "-o", "ab:c::", "-l", "alpha,beta:", "-n", "x", "--", "-a", "-b", "3", "--be=5", "foo",
                               "it's"])
    assert (out, status) == (b" -a -b '3' --beta '5' -- 'foo' 'it'\\''s'\n", 0)
    assert run_tool(["getopt", "-o", "a", "--", "-z"]) == (b" --\n", b"getopt: invalid option -- 'z'\n", 1)
    assert run_tool(["getopt", "-T"])[2] == 4


def test_envsubst() -> None:
    env = {"X": "1", "Y": "two"}
    assert run_tool(["envsubst"], stdin="a $X ${Y} $Z $$ ${1} ${X:-1}\n", env=env)[0] == b"a 1 two  $$ ${1} ${X:-1}\n"
    assert run_tool(["envsubst", "$X"], stdin="$X $Y\n", env=env)[0] == b"1 $Y\n"


FD_FILES = {"a.py": "x", "d/b.py": "y", "d/C.txt": "z", ".h/x.py": "1", "d/.ignore": "b.py\n", "d/sub/a.py": "q", "e": ""}


@pytest.mark.parametrize(("args", "expected"), [
    ([], "a.py d/ d/C.txt d/sub/ d/sub/a.py e"), (["py"], "a.py d/sub/a.py"), (["A.PY"], ""), (["-i", "A.PY"], "a.py d/sub/a.py"),
    (["-t", "d"], "d/ d/sub/"), (["-g", "*.py", "d"], "d/sub/a.py"), (["-e", "PY", "-d", "1"], "a.py"),
    (["-HI", "x"], ".h/x.py d/C.txt"), (["-t", "e"], "e"), (["--min-depth", "2", "-t", "f"], "d/C.txt d/sub/a.py"),
    (["-E", "sub", "a"], "a.py"), (["--format", "{/}:{//}", "py"], "a.py:. a.py:d/sub")])
def test_fd(args: list[str], expected: str) -> None:
    out, err, status = run_tool(["fd", *args], files=FD_FILES)
    assert (out.decode().split(), err, status) == (expected.split(), b"", 0)


def test_fd_runs_commands() -> None:
    out, _, _ = run_tool(["fd", "-g", "*.py", "-X", "echo"], files=FD_FILES)
    assert out == b"./a.py ./d/sub/a.py\n"
    assert run_tool(["fd", "["])[2] == 1


def test_pagers_print() -> None:
    assert run_tool(["less", "f"], files={"f": "1\n2\n"}) == (b"1\n2\n", b"", 0)
    assert run_tool(["more", "f"], files={"f": "1\n"})[0] == b"::::::::::::::\nf\n::::::::::::::\n1\n"


def test_dumb_terminal() -> None:
    assert run_tool(["tput", "cols"]) == (b"80\n", b"", 0)
    assert run_tool(["tput", "setaf", "1"]) == (b"", b"", 1)
    assert run_tool(["tput", "foo"])[1:] == (b"tput: unknown terminfo capability 'foo'\n", 4)


def test_what_cannot_work_says_so_in_one_line() -> None:
    for name in ("ptx", "shred", "watch", "sudo", "mount", "stty"):
        out, err, status = run_tool([name, "x"])
        assert (out, err.count(b"\n"), status) == (b"", 1, 1), name
        assert b"not found" not in err


def test_man_shows_the_help_of_a_tool() -> None:
    out, _, status = run_tool(["man", "tac"])
    assert status == 0 and out.startswith(b"NAME\n       tac - ") and b"Usage: tac" in out
    assert run_tool(["man", "nosuch"]) == (b"", b"No manual entry for nosuch\n", 16)


NO_OPTIONS = {"echo", "expr", "printf", "test", "[", "true", "false"}     # they take any word as an operand
OWN_HELP = {"clear", "unzip", "zipinfo", "zip", "which", "xxd", "false", "test"}    # the real ones answer --help with an error


def test_every_tool_answers_help_and_refuses_unknown_options() -> None:
    bench = Bench()
    for name in names():
        if name not in OWN_HELP:
            out, err, status = bench.run([name, "--help"])
            assert status == 0 and b"sage" in out, (name, out, err)
            assert bench.run([name, "--version"])[2] == 0, name
        if name in NO_OPTIONS:
            continue
        for option in ("--no-such-option-xyz", "-€", "-☃x"):
            if name == "xxd" and option.startswith("--n"):
                continue                                     # its -n takes a name
            out, err, status = bench.run([name, option])
            assert status != 0 and (err or name.endswith(("2unix", "2dos", "2mac"))), (name, option, out, err)


# ---- diff's templates and the other forms of patches

TEN = "".join(f"{n}\n" for n in range(1, 11))
OTHER = TEN.replace("3\n", "", 1).replace("7\n", "seven\n").replace("9\n", "9\nnew\n")


@pytest.mark.parametrize(("options", "expected"), [
    (["-D", "X"], "1\n2\n#ifndef X\n3\n#endif /* ! X */\n4\n5\n6\n#ifndef X\n7\n#else /* X */\nseven\n#endif /* X */\n8\n9\n"
                  "#ifdef X\nnew\n#endif /* X */\n10\n"),
    (["--old-line-format=-%l\n", "--new-line-format=+%L", "--unchanged-line-format="], "-3\n-7\n+seven\n+new\n"),
    (["--changed-group-format=<%<|%>>", "--unchanged-group-format="], "<3\n|><7\n|seven\n><|new\n>"),
    (["--unchanged-group-format=%df-%dl,%.3dN\n", "--changed-group-format=%(n=0?add:%dn)%c'\\012'"],
     "1-2,002\n1\n4-6,003\n1\n8-9,002\nadd\n10-10,001\n")])
def test_diff_templates(options: list[str], expected: str) -> None:
    assert run_tool(["diff", *options, "a", "b"], files={"a": TEN, "b": OTHER}) == (expected.encode(), b"", 1)


@pytest.mark.parametrize("form", ["-c", "-C1", "-e"])
def test_patch_applies_context_diffs_and_ed_scripts(form: str) -> None:
    bench = Bench({"a": TEN, "b": OTHER})
    patch = bench.run(["diff", form, "a", "b"])[0]
    assert bench.run(["patch", "a"], patch) == (b"patching file a\n", b"", 0)
    assert bench.read("a").decode() == OTHER
    if form != "-e":
        assert bench.run(["patch", "-R", "a"], patch)[2] == 0
        assert bench.read("a").decode() == TEN


def test_compressed_files_are_searched_and_shown() -> None:
    bench = Bench({"f": "a+\nb\n"})
    bench.run(["gzip", "f"])
    assert bench.run(["zfgrep", "a+", "f.gz"]) == (b"a+\n", b"", 0)
    assert bench.run(["zegrep", "^(b|c)$", "f.gz"]) == (b"b\n", b"", 0)
    assert bench.run(["zless", "f.gz"]) == (b"a+\nb\n", b"", 0)


def test_a_database_without_a_table_is_no_file() -> None:
    bench = Bench({})
    assert bench.run(["sqlite3", "%"]) == (b"", b"", 0)
    assert bench.run(["sqlite3", "new.db", "select 1"]) == (b"1\n", b"", 0)
    assert bench.run(["ls"])[0] == b""


@pytest.mark.parametrize("url", ["[a-z]", "http://[zz]/", "http://[1-3"])
def test_brackets_that_hold_no_address(url: str) -> None:
    assert Bench({}).run(["curl", "-s", url])[2] == 3
    assert Bench({}).run(["curl", url])[1] == b"curl: (3) URL rejected: Bad IPv6 address\n"
