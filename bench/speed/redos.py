"""Patterns that send a backtracking matcher into years of work, in every tool that takes patterns.

    python -m mirage.bench.speed.redos             # milliseconds of each; status 1 where one takes a second or more

The patterns are those of published denial-of-service reports and of textbooks on backtracking: nested repeats,
alternatives that overlap, repeats in a row, back-references. The subject makes each of them fail late.
"""
from __future__ import annotations

import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = 1.0                                                  # seconds
REPEATS = 5000                                               # how often the pump is in the subject

# (pattern, prefix, pump, suffix)
EXPRESSIONS = (
    ("^(a+)+$", "", "a", "!"), ("^(a*)*$", "", "a", "!"), ("^(a|aa)+$", "", "a", "!"), ("^(a|a)*$", "", "a", "!"),
    ("^(a|a?)+$", "", "a", "!"), ("^([a-zA-Z]+)*$", "", "a", "!"), ("^(.*a){12}$", "", "a", "!"),
    ("(x+x+)+y", "", "x", "z"), ("(.*)*=(.*)*", "", "x", ""), ("^(([a-z])+.)+[A-Z]([a-z])+$", "", "a", "!"),
    ("^([0-9]+[.]?)+$", "", "1", "x"), ("^(([a-zA-Z0-9])+([-_.])?)+@", "", "a", "!"),
    ("^([a-zA-Z0-9]+([_.-]?[a-zA-Z0-9]+)*)@$", "", "a", "!"), ("(a+)*b", "", "a", "c"), ("((a*)*)*b", "", "a", "c"),
    ("^((ab)*|(ab)*)*$", "", "ab", "c"), ("(a?){20}a{20}c", "", "a", "b"), ("^(a{1,20}){1,20}$", "", "a", "!"),
    ("(.+)+[0-9]$", "", "z", "!"), ("^( *)*x", "", " ", "y"), ("^(([^,]*),?)*;$", "", "a,", "!"),
    ('"(\\\\.|[^"])*"$', '"', "ab", "!"), ("<([^>]+>?)*;", "<", "a", "!"), ("^(/[a-z]*)*/$", "", "/a", "!"),
    ("(a|b|ab)*c", "", "ab", "d"), ("^([a-z]*[a-z]*[a-z]*[a-z]*)$", "", "a", "!"), ("a*a*a*a*a*a*b", "", "a", "c"),
    ("(.*)(.*)(.*)(.*)(.*)x$", "", "y", "z"), ("^(a+)+\\1$", "", "a", "!"), ("(a*)*\\1b", "", "a", "c"),
)
GLOBS = (
    ("+(a|aa)b", "", "a", "c"), ("*(a|a)b", "", "a", "c"), ("+(+(a))b", "", "a", "c"), ("*(*(a|b))c", "", "ab", "d"),
    ("*a*a*a*a*a*a*a*b", "", "a", "c"), ("+(a*)b", "", "a", "c"), ("!(+(a))b", "", "a", "c"),
    ("*(?|??)x", "", "a", "y"), ("+(a|ab|b)c", "", "ab", "d"), ("@(+(a)|+(aa))+(a)b", "", "a", "c"),
)
ON_EXPRESSIONS = (
    ("grep -E", "printf '%s\\n' \"$s\" | grep -cE -- \"$p\""),
    ("grep -P", "printf '%s\\n' \"$s\" | grep -cP -- \"$p\""),
    ("sed -E", "printf '%s\\n' \"$s\" | sed -E \"s#${p//#/[#]}#x#g\" | wc -c"),
    ("awk", "printf '%s\\n' \"$s\" | p=$p awk '{ print match($0, ENVIRON[\"p\"]) }'"),
    ("jq", "jq -n --arg s \"$s\" --arg p \"$p\" '$s | test($p)'"),
    ("[[ =~ ]]", "[[ $s =~ $p ]]; echo $?"),
)
ON_GLOBS = (
    ("${x//}", "y=${s//$p/x}; echo ${#y}"),
    ("${x%%}", "y=${s%%$p}; echo ${#y}"),
    ("case", "case $s in $p) echo yes;; *) echo no;; esac"),
    ("[[ == ]]", "[[ $s == $p ]]; echo $?"),
)


def cases() -> Iterator[tuple[str, str, str, str]]:
    """(tool, pattern, subject, script with the pattern as `$p` and the subject as `$s`)."""
    for places, patterns in ((ON_EXPRESSIONS, EXPRESSIONS), (ON_GLOBS, GLOBS)):
        for pattern, prefix, pump, suffix in patterns:
            for tool, script in places:
                yield tool, pattern, prefix + pump * REPEATS + suffix, f"shopt -s extglob\n{script}"


def main() -> int:
    from mirage.terminal import Terminal
    slow = 0
    for tool, pattern, subject, script in cases():
        with Terminal(env={"p": pattern, "s": subject}) as terminal:
            clock = time.perf_counter()
            result = terminal.run(script)
            seconds = time.perf_counter() - clock
        slow += seconds >= LIMIT
        said = (result.stdout + result.stderr).strip().partition("\n")[0]
        print(f"{tool:9} {pattern:36} {seconds * 1000:8.1f} ms  status {result.exit_code}  {said[:80]}",
              flush=True)
    print(f"{slow} took {LIMIT:.0f} s or more")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
