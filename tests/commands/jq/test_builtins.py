"""The builtin functions of jq."""
from __future__ import annotations

import pytest

from tests.commands.harness import Bench

# (program, input, output and messages of `jq -c`, exit status)
CASES = [
    ('length', '[1,2]', '2\n', 0),
    ('[.[]|length]', '[[],{},"é",-5,null]', '[0,0,1,5,0]\n', 0),
    ('utf8bytelength', '"é"', '2\n', 0),
    ('keys, keys_unsorted', '{"b":1,"a":2}', '["a","b"]\n["b","a"]\n', 0),
    ('has("a"), has("z")', '{"a":null}', 'true\nfalse\n', 0),
    ('map(has(1))', '[[1,2],[1]]', '[true,false]\n', 0),
    ('add', '[[1],[2]]', '[1,2]\n', 0),
    ('add', '{"a":1,"b":2}', '3\n', 0),
    ('any, all', '[true,false]', 'true\nfalse\n', 0),
    ('any(.>2), all(.>0)', '[1,2,3]', 'true\ntrue\n', 0),
    ('flatten, flatten(1)', '[1,[2,[3]]]', '[1,2,3]\n[1,2,[3]]\n', 0),
    ('sort', '[3,"a",null,[1],{"a":1},true,false,1]', '[null,false,true,1,3,"a",[1],{"a":1}]\n', 0),
    ('sort_by(.a,.b)', '[{"a":2,"b":1},{"a":1,"b":2},{"a":1,"b":1}]', '[{"a":1,"b":1},{"a":1,"b":2},{"a":2,"b":1}]\n', 0),
    ('group_by(.k)', '[{"k":2,"v":1},{"k":1},{"k":2,"v":2}]', '[[{"k":1}],[{"k":2,"v":1},{"k":2,"v":2}]]\n', 0),
    ('unique, unique_by(length)', '["b","a","cc","b"]', '["a","b","cc"]\n["b","cc"]\n', 0),
    ('min, max, min_by(-.), max_by(-.)', '[3,1,2]', '1\n3\n3\n1\n', 0),
    ('reverse', '[1,2,3]', '[3,2,1]\n', 0),
    ('contains("bar"), inside("xfoobarx")', '"foobar"', 'true\ntrue\n', 0),
    ('contains({a:[1]})', '{"a":[1,2],"b":3}', 'true\n', 0),
    ('startswith("ab"), endswith("bc"), ltrimstr("a"), rtrimstr("c")', '"abc"', 'true\ntrue\n"bc"\n"ab"\n', 0),
    ('split(","), join("-")?', '"a,b"', '["a","b"]\n', 0),
    ('join("-")', '["a",1,null,true]', '"a-1--true"\n', 0),
    ('ascii_downcase, ascii_upcase', '"aBé"', '"abé"\n"ABé"\n', 0),
    ('explode|., implode', '"aé"', '[97,233]\n"aé"\n', 0),
    ('[.[]|tostring], [.[]|tojson]', '[1,"a",[1]]', '["1","a","[1]"]\n["1","\\"a\\"","[1]"]\n', 0),
    ('[.[]|tonumber]', '["1","-2.5"," 3 "]', '[1,-2.5,3]\n', 0),
    ('fromjson', '"{\\"a\\":[1,2]}"', '{"a":[1,2]}\n', 0),
    ('indices("b"), index("b"), rindex("b")', '"abcb"', '[1,3]\n1\n3\n', 0),
    ('indices(1), indices([1,2])', '[1,2,1,2]', '[0,2]\n[0,2]\n', 0),
    ('transpose', '[[1,2],[3]]', '[[1,3],[2,null]]\n', 0),
    ('[combinations]', '[[1,2],[3,4]]', '[[1,3],[1,4],[2,3],[2,4]]\n', 0),
    ('walk(if type=="number" then .+1 else . end)', '[1,{"a":2}]', '[2,{"a":3}]\n', 0),
    ('with_entries(.value+=1)', '{"a":1}', '{"a":2}\n', 0),
    ('from_entries', '[{"key":"a","value":1},{"name":"b","value":null}]', '{"a":1,"b":null}\n', 0),
    ('to_entries', '{"a":1}', '[{"key":"a","value":1}]\n', 0),
    ('tostream', '{"a":[1,2]}', '[["a",0],1]\n[["a",1],2]\n[["a",1]]\n[["a"]]\n', 0),
    ('fromstream(1|truncate_stream([[0],1],[[1,0],2],[[1,0]],[[1]]))', 'null', '[2]\n', 0),
    ('getpath(["a","b"]), getpath(["x","y"])', '{"a":{"b":1}}', '1\nnull\n', 0),
    ('[getpath(["a"],["b"])]', '{"a":1,"b":2}', '[1,2]\n', 0),
    ('setpath(["a",1];5), delpaths([["a"]])', '{"a":[1]}', '{"a":[1,5]}\n{}\n', 0),
    ('pick(.a.b,.c)', '{"a":{"b":1,"x":2},"c":3,"d":4}', '{"a":{"b":1},"c":3}\n', 0),
    ('bsearch(3), bsearch(0), bsearch(9)', '[1,3,5]', '1\n-1\n-4\n', 0),
    ('test("B"), test("B";"i")', '"abc"', 'false\ntrue\n', 0),
    ('[match("a(b)?";"g")|[.offset,.length,.captures[0].string]]', '"abaé ab"', '[[0,2,"b"],[2,1,null],[5,2,"b"]]\n', 0),
    ('capture("(?<y>[0-9]{4})-(?<m>[0-9]{2})")', '"on 2024-03-01"', '{"y":"2024","m":"03"}\n', 0),
    ('[scan("[a-z]+")], [scan("([a-z])([0-9])")]', '"a1 b2"', '["a","b"]\n[["a","1"],["b","2"]]\n', 0),
    ('sub("(?<x>b)";"[\\(.x)]"), gsub("[ab]";"-"), gsub("";"_")', '"abc"', '"a[b]c"\n"--c"\n"_a_b_c_"\n', 0),
    ('[sub("a";"x","y")]', '"aa"', '["xa","ya"]\n', 0),
    ('split("[0-9]+";null)', '"a1b22c"', '["a","b","c"]\n', 0),
    ('@text, @json, @html', '"<&\'\\">"', '"<&\'\\">"\n"\\"<&\'\\\\\\">\\""\n"&lt;&amp;&apos;&quot;&gt;"\n', 0),
    ('@uri, @base64', '"é a/b"', '"%C3%A9%20a%2Fb"\n"w6kgYS9i"\n', 0),
    ('@base64d', '"4pyTIG9r"', '"✓ ok"\n', 0),
    ('@csv, @tsv', '[1,"a\\tb\\"",null,true]', '"1,\\"a\\tb\\"\\"\\",,true"\n"1\\ta\\\\tb\\"\\t\\ttrue"\n', 0),
    ('todate, (todate|fromdate)', '1425599621', '"2015-03-05T23:53:41Z"\n1425599621\n', 0),
    ('strptime("%Y-%m-%dT%H:%M:%SZ")|., mktime', '"2015-03-05T23:51:47Z"', '[2015,2,5,23,51,47,4,63]\n1425599507\n', 0),
    ('strftime("%A, %B %d, %Y %j %H:%M:%S %Z")', '1425599621', '"Thursday, March 05, 2015 064 23:53:41 UTC"\n', 0),
    ('gmtime', '1425599621.25', '[2015,2,5,23,53,41.25,4,63]\n', 0),
    ('[.[]|floor,ceil,round,trunc,fabs]', '[1.5,-1.5]', '[1,2,2,1,1.5,-2,-1,-2,-1,1.5]\n', 0),
    ('pow(2;10), log2, sqrt, (5%3), (-5%3), (5.9%2.1)', '16', '1024\n4\n4\n2\n-2\n1\n', 0),
    ('[.[]|significand,logb]', '[8,10]', '[1,3,1.25,3]\n', 0),
    ('[.[]|isinfinite,isnormal]', '[1,0]', '[false,true,false,false]\n', 0),
    ('infinite, -infinite|tostring', 'null', '"1.7976931348623157e+308"\n"-1.7976931348623157e+308"\n', 0),
    ('type, ([.[]|type])', '[1,"a",null,true,{},[]]', '"array"\n["number","string","null","boolean","object","array"]\n', 0),
    ('INDEX(.id)', '[{"id":1,"v":"a"},{"id":2,"v":"b"}]', '{"1":{"id":1,"v":"a"},"2":{"id":2,"v":"b"}}\n', 0),
    ('[limit(2;.[])], first, last, nth(1), first(.[]), last(.[]), nth(2;.[])', '[1,2,3]', '[1,2]\n1\n3\n2\n1\n3\n3\n', 0),
    ('[until(.>100;.*2)], [.,1]|tojson', '1', '"[128]"\n"[1,1]"\n', 0),
    ('[while(.<10;.*2)], [recurse(if .<3 then .+1 else empty end)]', '1', '[1,2,4,8]\n[1,2,3]\n', 0),
    ('isempty(empty), isempty(1)', 'null', 'true\nfalse\n', 0),
    ('splits("x")|ascii_upcase', '"axb"', '"A"\n"B"\n', 0),
    ('ltrimstr(1), rtrimstr(null)', '"a"', '"a"\n"a"\n', 0),
    ('error(null)?', 'null', '', 0),
    ('tojson', '[1.0,1.50,100000000000000000000,1e1000]', '"[1.0,1.50,100000000000000000000,1E+1000]"\n', 0),
    ('abs', '-3', '3\n', 0),
    ('getpath(["a"]) as [$x] | $x', '{"a":[4]}', '4\n', 0),
    ('input', '1 2', '2\n', 0),
    ('[inputs]', '1 2 3', '[2,3]\n', 0),
    ('@json "v=\\(.)"', '{"a":1}', '"v={\\"a\\":1}"\n', 0),
    ('ascii_downcase, @text "\\(.)!"', '"A"', '"a"\n"A!"\n', 0),
    ('halt', '1', '', 0),
]


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


@pytest.mark.parametrize(("program", "data", "expected", "status"), CASES)
def test_program(bench: Bench, program: str, data: str, expected: str, status: int) -> None:
    out, err, got = bench.run(["jq", "-c", program], data)
    assert (out.decode(), err.decode(), got) == (expected, "", status)
