"""Options, inputs, modules and exit statuses of jq."""
from __future__ import annotations

import pytest

from tests.commands.harness import Bench, run_tool

FILES = {"a.json": '{"a":1}\n{"a":2}\n', "b.json": "[1,2]", "lines.txt": "x\ny", "prog.jq": ".a # the field\n| . + 1",
         "lib/m.jq": 'module {"about": "m"}; import "n" as n; def twice: . * 2; def four: n::two | twice;',
         "lib/n.jq": "def two: 2;", "lib/d.json": '{"k":[1]}', "lib/bad.jq": "def x: 1; x"}


@pytest.mark.parametrize(("argv", "stdin", "expected"), [
    (["."], '{"a":[1,{"b":null}],"c":{}}', '{\n  "a": [\n    1,\n    {\n      "b": null\n    }\n  ],\n  "c": {}\n}\n'),
    (["-c", "."], "1 [2] {}", "1\n[2]\n{}\n"),
    (["-r", ".[]"], '["a","b\\n",1]', "a\nb\n\n1\n"),
    (["-j", ".[]"], '["a",1]', "a1"),
    (["-a", "."], '"\u00e9\U0001f600"', '"\\u00e9\\ud83d\\ude00"\n'),
    (["-S", "-c", "."], '{"b":1,"a":{"d":1,"c":2}}', '{"a":{"c":2,"d":1},"b":1}\n'),
    (["--tab", "."], "[1]", "[\n\t1\n]\n"),
    (["--indent", "1", "."], "[1]", "[\n 1\n]\n"),
    (["-n", "[inputs]", "-c"], "1 2", "[1,2]\n"),
    (["-s", "-c", "."], "1 2", "[1,2]\n"),
    (["-R", "."], "a\nb", '"a"\n"b"\n'),
    (["-Rs", "."], "a\nb\n", '"a\\nb\\n"\n'),
    (["-c", "--stream", "."], '{"a":[1,{"b":2}]} 3 []',
     '[["a",0],1]\n[["a",1,"b"],2]\n[["a",1,"b"]]\n[["a",1]]\n[["a"]]\n[[],3]\n[[],[]]\n'),
    (["-n", "--arg", "x", "1", "--argjson", "y", '{"z":2}', "-c", "[$x,$y,$ARGS.named]"], "",
     '["1",{"z":2},{"x":"1","y":{"z":2}}]\n'),
    (["-nc", "--args", "$ARGS.positional", "a", "b"], "", '["a","b"]\n'),
    (["-nc", "$ARGS.positional", "--jsonargs", "1", '{"a":2}'], "", '[1,{"a":2}]\n'),
    (["-c", "[.,input_line_number]"], '{"a":1}\n{"a":2}\n', '[{"a":1},1]\n[{"a":2},2]\n'),
    (["--seq", "-c", "."], "\x1e[1]\n", "\x1e[1]\n"),
    (["--raw-output0", ".[]"], '["a","b"]', "a\0b\0"),
    (["-Cc", "."], '[1,{"a":null}]',
     '\x1b[1;39m[\x1b[0;39m1\x1b[0m\x1b[1;39m,\x1b[1;39m{\x1b[0m\x1b[1;34m"a"\x1b[0m\x1b[1;39m:\x1b[0m'
     '\x1b[0;90mnull\x1b[0m\x1b[1;39m\x1b[1;39m}\x1b[0m\x1b[1;39m\x1b[1;39m]\x1b[0m\n'),
    (["-1"], "null", "-1\n"),
    (["-nr", '"a","b"|debug'], "", "a\nb\n"),
])
def test_output(argv: list[str], stdin: str, expected: str) -> None:
    out, _, status = run_tool(["jq", *argv], FILES, stdin)
    assert (out.decode(), status) == (expected, 0)


@pytest.mark.parametrize(("argv", "expected"), [
    ([".a", "a.json"], "1\n2\n"),
    (["-c", "[., input_filename]", "b.json"], '[[1,2],"b.json"]\n'),
    (["-f", "prog.jq", "a.json"], "2\n3\n"),
    (["-nc", "--slurpfile", "s", "a.json", "--rawfile", "r", "lines.txt", "[$s,$r]"], '[[{"a":1},{"a":2}],"x\\ny"]\n'),
    (["-n", "-L", "lib", 'import "m" as m; m::four'], "4\n"),
    (["-n", "-L", "lib", 'include "m"; 5 | twice'], "10\n"),
    (["-nc", "-L", "lib", 'import "d" as $d; $d, $d::d'], '[{"k":[1]}]\n[{"k":[1]}]\n'),
    (["-nc", "-L", "lib", '"m" | modulemeta | [.about, .deps[0].relpath, .defs]'], '["m","n",["twice/0","four/0"]]\n'),
])
def test_files(argv: list[str], expected: str) -> None:
    out, err, status = run_tool(["jq", *argv], FILES)
    assert (out.decode(), err, status) == (expected, b"", 0)


@pytest.mark.parametrize(("argv", "stdin", "status", "message"), [
    (["-e", "."], "null", 1, ""),
    (["-e", "."], "0", 0, ""),
    (["-e", "empty"], "1", 4, ""),
    (["-e", "error"], '"x"', 5, "jq: error (at <stdin>:0): x\n"),
    ([".", "missing"], "", 2, "jq: error: Could not open file missing: No such file or directory\n"),
    (["-Z", "."], "", 2, "jq: Unknown option -Z\n"),
    (["--nope", "."], "", 2, "jq: Unknown option --nope\n"),
    (["--arg", "x"], "", 2, "jq: --arg takes two parameters (e.g. --arg varname value)\n"),
    (["--argjson", "x", "{", "."], "", 2, "jq: invalid JSON text passed to --argjson\n"),
    (["--indent", "9", "."], "", 2, "jq: --indent takes a number between -1 and 7\n"),
    (["-n", "--slurpfile", "x", "missing", "."], "", 2,
     "jq: Bad JSON in --slurpfile x missing: Could not open missing: No such file or directory\n"),
    (["-n", 'import "nope" as n; 1'], "", 3, "jq: error: module not found: nope\n"),
    (["-n", "-L", "lib", 'import "bad" as b; 1'], "", 3,
     "jq: error: library should only have function definitions, not a main expression\n"),
    (["-n", 'import "../a" as a; 1'], "", 3, "jq: error: Relative paths to modules may not traverse"),
])
def test_status(argv: list[str], stdin: str, status: int, message: str) -> None:
    _, err, got = run_tool(["jq", *argv], FILES, stdin)
    assert got == status
    assert err.decode().startswith(message)


def test_good_values_before_a_bad_one_are_printed() -> None:
    out, err, status = run_tool(["jq", "-c", "."], stdin="1\n[2]\nx\n")
    assert (out, err, status) == (b"1\n[2]\n", b"jq: parse error: Invalid numeric literal at line 4, column 0\n", 5)


def test_an_error_of_one_value_does_not_stop_the_others() -> None:
    out, err, status = run_tool(["jq", ".a"], stdin='{"a":1}\n[]\n{"a":3}\n')
    assert (out, err, status) == (b"1\n3\n", b'jq: error (at <stdin>:2): Cannot index array with string "a"\n', 5)


def test_the_environment_is_that_of_the_process() -> None:
    out, _, _ = run_tool(["jq", "-nc", "[env.ONLY_HERE, $ENV.ONLY_HERE, env.PYTHONPATH]"], env={"ONLY_HERE": "yes"})
    assert out == b'["yes","yes",null]\n'


def test_values_that_cross_the_blocks_of_a_file() -> None:
    values = [{"n": n, "text": "é" * (n % 7), "x": n / 8} for n in range(30_000)]
    import json
    text = "\n".join(json.dumps(value, ensure_ascii=False) for value in values)
    out, _, status = run_tool(["jq", "-n", "reduce inputs as $v (0; . + $v.n)"], {"big": text}, text)
    assert (out, status) == (f"{sum(range(30_000))}\n".encode(), 0)


def test_bytes_that_are_no_text() -> None:
    out, _, _ = run_tool(["jq", "-R", "."], stdin=b"\xffa\n")
    assert out == '"\ufffda"\n'.encode()


def test_colours_from_the_environment() -> None:
    bench = Bench()
    out, _, _ = bench.run(["jq", "-nCc", "[null]"], env={"JQ_COLORS": "1;31"})
    assert b"\x1b[1;31mnull" in out
