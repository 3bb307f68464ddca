"""The jq language: operators, paths, bindings, control, assignment."""
from __future__ import annotations

import pytest

from tests.commands.harness import Bench

# (program, input, output and messages of `jq -c`, exit status)
CASES = [
    ('.a.b.c', '{"a":{"b":{"c":7}}}', '7\n', 0),
    ('.a[1:]|.[0]', '{"a":[1,2,3]}', '2\n', 0),
    ('.["x y"]?', '[1]', '', 0),
    ('..', '[1,[2]]', '[1,[2]]\n1\n[2]\n2\n', 0),
    ('[.[]|select(.n>1)|.s]', '[{"n":1,"s":"a"},{"n":2,"s":"b"}]', '["b"]\n', 0),
    ('[(1,2)+(10,20)]', 'null', '[11,12,21,22]\n', 0),
    ('[{a:(1,2),b:(3,4)}]', 'null', '[{"a":1,"b":3},{"a":1,"b":4},{"a":2,"b":3},{"a":2,"b":4}]\n', 0),
    ('1,2|.*10', 'null', '10\n20\n', 0),
    ('. as [$a,{b:$c}]|$a+$c', '[1,{"b":2}]', '3\n', 0),
    ('.[] as [$x] ?// $x | [$x]', '[[1],2]', '[1]\n[2]\n', 0),
    ('[[3]]|.[] as [$a] ?// $a | if ($a|type)=="number" then error("no") else $a end', 'null', '[3]\n', 0),
    ('reduce .[] as $x (0;.+$x)', '[1,2,3]', '6\n', 0),
    ('reduce empty as $x (4;.)', 'null', '4\n', 0),
    ('[foreach .[] as $x (0;.+$x;[$x,.])]', '[1,2,3]', '[[1,1],[2,3],[3,6]]\n', 0),
    ('[label $out|foreach .[] as $x (0;.+1;if .>2 then .,break $out else . end)]', '[9,9,9,9]', '[1,2,3]\n', 0),
    ('if .>3 then "big" elif .>1 then "mid" else "small" end', '2', '"mid"\n', 0),
    ('if . then 1 end', 'false', 'false\n', 0),
    ('try error("boom") catch "caught "+.', 'null', '"caught "\n', 0),
    ('[.[]|try tonumber catch "bad"]', '["1","x"]', '[1,"bad"]\n', 0),
    ('[.[]?]', '3', '[]\n', 0),
    ('def fac: if .<=1 then 1 else .*(.-1|fac) end; fac', '10', '3628800\n', 0),
    ('def twice(f): f|f; twice(.*3)', '2', '18\n', 0),
    ('def pair($a;$b): [$a,$b]; [pair(1,2;3,4)]', 'null', '[[1,3],[1,4],[2,3],[2,4]]\n', 0),
    ('def f(g): def h: g; [h,h]; f(.+1)', '1', '[2,2]\n', 0),
    ('"\\(1+2) is \\("three" as $x|$x)"', 'null', '"3 is three"\n', 0),
    ('@csv "row: \\(.)"', '[1,"a\\"b",null]', '"row: 1,\\"a\\"\\"b\\","\n', 0),
    ('@sh "echo \\(.)"', '["a b","it\'s"]', '"echo \'a b\' \'it\'\\\\\'\'s\'"\n', 0),
    ('.a += 1 | .b //= 5 | .c -= 1', '{"a":1,"c":3}', '{"a":2,"c":2,"b":5}\n', 0),
    ('.[] |= .+1', '{"a":1,"b":2}', '{"a":2,"b":3}\n', 0),
    ('(.[]|select(.>=2)) |= empty', '[1,2,3,1]', '[1,1]\n', 0),
    ('.a[1].b = 9', '{}', '{"a":[null,{"b":9}]}\n', 0),
    ('.a = (1,2)', '{}', '{"a":1}\n{"a":2}\n', 0),
    ('del(.[0,2])', '[1,2,3]', '[2]\n', 0),
    ('to_entries|map(.value)|add', '{"a":1,"b":2}', '3\n', 0),
    ('[paths]', '{"a":[1]}', '[["a"],["a",0]]\n', 0),
    ('path(..)', '[[1]]', '[]\n[0]\n[0,0]\n', 0),
    ('[limit(3;repeat(.))]', '1', '[1,1,1]\n', 0),
    ('first(range(5;10))', 'null', '5\n', 0),
    ('[range(0;10;3)],[range(5;0;-2)]', 'null', '[0,3,6,9]\n[5,3,1]\n', 0),
    ('[.[]//"none"]', '[null,false,1]', '[1]\n', 0),
    ('1 as $x | [$x, $x+1 as $y | $y]', 'null', '[1,2]\n', 0),
    ('.a?.b?', '1', '', 0),
    ('{a,"b":2,(.k):3,@base64 "x":4,$__loc__}', '{"a":1,"k":"z"}', '{"a":1,"b":2,"z":3,"x":4,"__loc__":{"file":"<top-level>","line":1}}\n', 0),
    ('[.[]|not]', '[null,false,0,""]', '[true,true,false,false]\n', 0),
    ('not and 1, (true or error)', 'false', 'true\ntrue\n', 0),
    ('-(1,2)', 'null', '-1\n-2\n', 0),
    ('. == {"b":2,"a":1}', '{"a":1,"b":2}', 'true\n', 0),
    ('[true==1, 1==1.0, "1"==1, [1,true]==[1,1]]', 'null', '[false,true,false,false]\n', 0),
    ('[1,2,3]|IN(2), (.[]|IN(2,3))', 'null', 'false\nfalse\ntrue\ntrue\n', 0),
    ('env|type, ($ENV|type)', 'null', '"object"\n"object"\n', 0),
    ('. as $d | [keys[] | {k:., v:$d[.]}]', '{"b":1,"a":2}', '[{"k":"a","v":2},{"k":"b","v":1}]\n', 0),
    ('input_line_number', '1', '0\n', 0),
    ('{"a":{"b":1}} * {"a":{"c":2}}', 'null', '{"a":{"b":1,"c":2}}\n', 0),
    ('[splits(", *")]', '"a, b,c"', '["a","b","c"]\n', 0),
    ('"x" * 3, "x" * 0', 'null', '"xxx"\n""\n', 0),
    ('100000000000000000000, 1.10, 1e3, [.]|tojson', '1.50', '"100000000000000000000"\n"1.10"\n"1E+3"\n"[1.50]"\n', 0),
    ('.+0, -., tostring', '100000000000000000001', '1e+20\n-1e+20\n"100000000000000000001"\n', 0),
    ('[1e17,0.00001,1e-7,123456789012,1/3]|map(.+0)', 'null', '[1e+17,1e-05,1e-07,123456789012,0.3333333333333333]\n', 0),
    ('nan|isnan, (nan < nan), ([nan]|sort)', 'null', 'true\ntrue\n[null]\n', 0),
    ('[limit(0;error)]', 'null', '[]\n', 0),
]


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


@pytest.mark.parametrize(("program", "data", "expected", "status"), CASES)
def test_program(bench: Bench, program: str, data: str, expected: str, status: int) -> None:
    out, err, got = bench.run(["jq", "-c", program], data)
    assert (out.decode(), err.decode(), got) == (expected, "", status)
