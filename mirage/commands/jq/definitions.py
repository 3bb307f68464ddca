"""Builtins written in jq. Each name/arity maps to one definition; they may use each other and the native ones."""
from __future__ import annotations

DEFINITIONS: dict[str, str] = {
    "arrays/0": 'def arrays: select(type == "array");',
    "objects/0": 'def objects: select(type == "object");',
    "iterables/0": 'def iterables: select(type | . == "array" or . == "object");',
    "booleans/0": 'def booleans: select(type == "boolean");',
    "numbers/0": 'def numbers: select(type == "number");',
    "normals/0": "def normals: select(isnormal);",
    "finites/0": "def finites: select(isfinite);",
    "isfinite/0": 'def isfinite: type == "number" and (isinfinite | not);',
    "strings/0": 'def strings: select(type == "string");',
    "nulls/0": "def nulls: select(. == null);",
    "values/0": "def values: select(. != null);",
    "scalars/0": 'def scalars: select(type | . != "array" and . != "object");',
    "with_entries/1": "def with_entries(f): to_entries | map(f) | from_entries;",
    "paths/1": "def paths(f): path(recurse | select(f)) | select(length > 0);",
    "leaf_paths/0": "def leaf_paths: paths(scalars);",
    "pick/1": "def pick(f): . as $whole | reduce path(f) as $p (null; setpath($p; $whole | getpath($p)));",
    "first/0": "def first: .[0];",
    "last/0": "def last: .[-1];",
    "nth/1": "def nth($n): .[$n];",
    "nth/2": """def nth($n; f): if $n < 0 then error("nth doesn't support negative indices")
                else label $done | foreach f as $item ($n + 1; . - 1; if . <= 0 then $item, break $done else empty end)
                end;""",
    "until/2": "def until(stop; step): def again: if stop then . else step | again end; again;",
    "while/2": "def while(go; step): def again: if go then ., (step | again) else empty end; again;",
    "combinations/0": """def combinations: if length == 0 then [] else .[0][] as $first
                         | (.[1:] | combinations) as $rest | [$first] + $rest end;""",
    "combinations/1": "def combinations(n): . as $whole | [range(n) | $whole] | combinations;",
    "in/1": "def in(whole): . as $key | whole | has($key);",
    "truncate_stream/1": """def truncate_stream(events): . as $depth | null | events | . as $event
                            | if (.[0] | length) > $depth then setpath([0]; $event[0][$depth:]) else empty end;""",
    "fromstream/1": """def fromstream(events): {value: null, done: false} as $start
                       | foreach events as $event ($start;
                           if .done then $start else . end
                           | if $event | length == 2
                             then setpath(["done"]; $event[0] | length == 0) | setpath(["value"] + $event[0]; $event[1])
                             else setpath(["done"]; $event[0] | length == 1) end;
                           if .done then .value else empty end);""",
    "walk/1": """def walk(f): def visit: if type == "object" then map_values(visit)
                 elif type == "array" then map(visit) else . end | f; visit;""",
    "INDEX/2": "def INDEX(rows; key): reduce rows as $row ({}; .[$row | key | tostring] = $row);",
    "INDEX/1": "def INDEX(key): INDEX(.[]; key);",
    "UNIQUE_BY/1": "def UNIQUE_BY(f): [group_by(f)[] | .[0]];",
    "JOIN/2": "def JOIN($index; key): [.[] | [., $index[key]]];",
    "JOIN/3": "def JOIN($index; rows; key): rows | [., $index[key]];",
    "JOIN/4": "def JOIN($index; rows; key; merge): rows | [., $index[key]] | merge;",
    "IN/1": "def IN(values): any(values == .; .);",
    "IN/2": "def IN(source; values): any(source == values; .);",
    "recurse_down/0": "def recurse_down: recurse;",
}
