"""Errors of jq: of the program (status 3, only the kind is compared), of values and of the input (5)."""
from __future__ import annotations

import pytest

from tests.commands.harness import Bench

# (program, input, output, message or None where it is a compile error, exit status)
CASES = [
    ('.a', '[1]', '', 'jq: error (at <stdin>:0): Cannot index array with string "a"\n', 5),
    ('.[0]', '{"a":1}', '', 'jq: error (at <stdin>:0): Cannot index object with number\n', 5),
    ('.[]', '1', '', 'jq: error (at <stdin>:0): Cannot iterate over number (1)\n', 5),
    ('.a.b', '{"a":5}', '', 'jq: error (at <stdin>:0): Cannot index number with string "b"\n', 5),
    ('keys', 'null', '', 'jq: error (at <stdin>:0): null (null) has no keys\n', 5),
    ('.+1', '{}', '', 'jq: error (at <stdin>:0): object ({}) and number (1) cannot be added\n', 5),
    ('.-1', '"a"', '', 'jq: error (at <stdin>:0): string ("a") and number (1) cannot be subtracted\n', 5),
    ('{}/1', 'null', '', 'jq: error (at <stdin>:0): object ({}) and number (1) cannot be divided\n', 5),
    ('.*{}', '[]', '', 'jq: error (at <stdin>:0): array ([]) and object ({}) cannot be multiplied\n', 5),
    ('1/0', 'null', '', 'jq: error (at <stdin>:0): number (1) and number (0) cannot be divided because the divisor is zero\n', 5),
    ('1%0', 'null', '', 'jq: error (at <stdin>:0): number (1) and number (0) cannot be divided (remainder) because the divisor is zero\n', 5),
    ('error', '"oops"', '', 'jq: error (at <stdin>:0): oops\n', 5),
    ('error', '{"a":1}', '', 'jq: error (at <stdin>:0) (not a string): {"a":1}\n', 5),
    ('error(null)', '1', '', 'jq: error (at <stdin>:0) (not a string): null\n', 5),
    ('tonumber', '"abc"', '', "jq: error (at <stdin>:0): Invalid numeric literal at EOF at line 1, column 3 (while parsing 'abc')\n", 5),
    ('tonumber', '[1]', '', 'jq: error (at <stdin>:0): array ([1]) cannot be parsed as a number\n', 5),
    ('fromjson', '"[1,2"', '', "jq: error (at <stdin>:0): Unfinished JSON term at EOF at line 1, column 4 (while parsing '[1,2')\n", 5),
    ('fromjson', '"1 2"', '', "jq: error (at <stdin>:0): Unexpected extra JSON values (while parsing '1 2')\n", 5),
    ('implode', '["a"]', '', 'jq: error (at <stdin>:0): string ("a") can\'t be imploded, unicode codepoint needs to be numeric\n', 5),
    ('join(",")', '[[1]]', '', 'jq: error (at <stdin>:0): string ("") and array ([1]) cannot be added\n', 5),
    ('@csv', '[{}]', '', 'jq: error (at <stdin>:0): object ({}) is not valid in a csv row\n', 5),
    ('@sh', '{}', '', 'jq: error (at <stdin>:0): object ({}) can not be escaped for shell\n', 5),
    ('test("(")', '"a"', '', 'jq: error (at <stdin>:0): Regex failure: end pattern with unmatched parenthesis\n', 5),
    ('test(1)', '"a"', '', 'jq: error (at <stdin>:0): number not a string or array\n', 5),
    ('test("a")', '1', '', 'jq: error (at <stdin>:0): number (1) cannot be matched, as it is not a string\n', 5),
    ('test("a";"q")', '"a"', '', 'jq: error (at <stdin>:0): q is not a valid modifier string\n', 5),
    ('has("a")', '[1]', '', 'jq: error (at <stdin>:0): Cannot check whether array has a string key\n', 5),
    ('contains(1)', '{}', '', 'jq: error (at <stdin>:0): object ({}) and number (1) cannot have their containment checked\n', 5),
    ('split(1)', '"a"', '', 'jq: error (at <stdin>:0): split input and separator must be strings\n', 5),
    ('startswith(1)', '"a"', '', 'jq: error (at <stdin>:0): startswith() requires string inputs\n', 5),
    ('ltrimstr', '"a"', '', None, 3),
    ('nosuch(1)', '1', '', None, 3),
    ('$nosuch', '1', '', None, 3),
    ('break $x', '1', '', None, 3),
    ('. as [$a] | $b', '1', '', None, 3),
    ('{(1):2}', '1', '', None, 3),
    ('. as {(true):$x} | $x', '1', '', None, 3),
    ('@nosuch', '1', '', 'jq: error (at <stdin>:0): nosuch is not a valid format\n', 5),
    ('range(1;"a")', 'null', '', 'jq: error (at <stdin>:0): Range bounds must be numeric\n', 5),
    ('.[1.5:"a"]', '[1]', '', 'jq: error (at <stdin>:0): Array/string slice indices must be integers\n', 5),
    ('{}|.[1:]', '1', '', 'jq: error (at <stdin>:0): Cannot index object with object\n', 5),
    ('.[-5]=1', '[1]', '', 'jq: error (at <stdin>:0): Out of bounds negative array index\n', 5),
    ('.[1:]=5', '[1,2]', '', 'jq: error (at <stdin>:0): A slice of an array can only be assigned another array\n', 5),
    ('path(1)', '[1]', '', 'jq: error (at <stdin>:0): Invalid path expression with result 1\n', 5),
    ('path(map(.)|.[0])', '[1]', '', 'jq: error (at <stdin>:0): Invalid path expression near attempt to access element 0 of [1]\n', 5),
    ('(1|.a)=2', '{}', '', 'jq: error (at <stdin>:0): Invalid path expression near attempt to access element "a" of 1\n', 5),
    ('delpaths(1)', '{}', '', 'jq: error (at <stdin>:0): Paths must be specified as an array\n', 5),
    ('flatten(-1)', '[]', '', 'jq: error (at <stdin>:0): flatten depth must not be negative\n', 5),
    ('nth(-1;1)', '1', '', "jq: error (at <stdin>:0): nth doesn't support negative indices\n", 5),
    ('strftime("%Y")', '"x"', '', 'jq: error (at <stdin>:0): strftime/1 requires parsed datetime inputs\n', 5),
    ('mktime', '[1]', '', 'jq: error (at <stdin>:0): mktime requires parsed datetime inputs\n', 5),
    ('strptime("%Y")', '"abc"', '', 'jq: error (at <stdin>:0): date "abc" does not match format "%Y"\n', 5),
    ('fromdate', '"abc"', '', 'jq: error (at <stdin>:0): date "abc" does not match format "%Y-%m-%dT%H:%M:%SZ"\n', 5),
    ('min', '1', '', 'jq: error (at <stdin>:0): number (1) and number (1) cannot be iterated over\n', 5),
    ('sort', '1', '', 'jq: error (at <stdin>:0): number (1) cannot be sorted, as it is not an array\n', 5),
    ('length', 'true', '', 'jq: error (at <stdin>:0): boolean (true) has no length\n', 5),
    ('utf8bytelength', '1', '', 'jq: error (at <stdin>:0): number (1) only strings have UTF-8 byte length\n', 5),
    ('explode', '1', '', 'jq: error (at <stdin>:0): explode input must be a string\n', 5),
    ('-.', '"a"', '', 'jq: error (at <stdin>:0): string ("a") cannot be negated\n', 5),
    ('getpath(1)', '1', '', 'jq: error (at <stdin>:0): Path must be specified as an array\n', 5),
    ('"very-long-string-here"-1', 'null', '', 'jq: error (at <stdin>:0): string ("very-long-...) and number (1) cannot be subtracted\n', 5),
    ('[1,[2,[3,"a long text"]]]-{}', 'null', '', 'jq: error (at <stdin>:0): array ([1,[2,[3,"a...) and object ({}) cannot be subtracted\n', 5),
    ('halt_error', '"bye\\n"', '', 'bye\n', 5),
    ('halt_error', '{"a":1}', '', '{"a":1}\n', 5),
    ('halt_error(3)', 'null', '', '', 3),
    ('1 +', '1', '', None, 3),
    ('{', '1', '', None, 3),
    ('.a.', '1', '', None, 3),
    ('if 1 then 2', '1', '', None, 3),
    ('1 2', '1', '', None, 3),
    ('}', '1', '', None, 3),
    ('"abc', '1', '', None, 3),
    ('"\\x"', '1', '', None, 3),
    ('.', '{"a":1', '', 'jq: parse error: Unfinished JSON term at EOF at line 1, column 6\n', 5),
    ('.', '[1 2]', '', 'jq: parse error: Expected separator between values at line 1, column 5\n', 5),
    ('.', '{"a" 1}', '', 'jq: parse error: Expected separator between values at line 1, column 7\n', 5),
    ('.', '[1,]', '', 'jq: parse error: Expected another array element at line 1, column 4\n', 5),
    ('.', '{"a":1,}', '', 'jq: parse error: Expected another key-value pair at line 1, column 8\n', 5),
    ('.', 'tru', '', 'jq: parse error: Invalid literal at EOF at line 1, column 3\n', 5),
    ('.', 'nul', '', 'jq: parse error: Invalid literal at EOF at line 1, column 3\n', 5),
    ('.', '}', '', "jq: parse error: Unmatched '}' at line 1, column 1\n", 5),
    ('.', '{"a":1}}', '{"a":1}\n', "jq: parse error: Unmatched '}' at line 1, column 8\n", 5),
    ('.', "'a'", '', 'jq: parse error: Invalid numeric literal at EOF at line 1, column 3\n', 5),
    ('.', '"a\\ud83dx"', '', 'jq: parse error: Invalid \\uXXXX\\uXXXX surrogate pair escape at line 1, column 10\n', 5),
    ('.', '1 2 x', '1\n2\n', 'jq: parse error: Invalid numeric literal at EOF at line 1, column 5\n', 5),
]


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


@pytest.mark.parametrize(("program", "data", "expected", "message", "status"), CASES)
def test_error(bench: Bench, program: str, data: str, expected: str, message: str | None, status: int) -> None:
    out, err, got = bench.run(["jq", "-c", program], data)
    assert (out.decode(), got) == (expected, status)
    if message is not None:
        assert err.decode() == message
    else:
        assert err.startswith(b"jq: error: ") and b"compile error" in err
