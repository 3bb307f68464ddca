"""break, continue, return, exit, eval, source, caller."""
from __future__ import annotations

import pytest

CASES = [
    ('for i in 1 2; do for j in a b; do break 2; done; echo no; done; echo $?', '0\n', 0),
    ('for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done', '1\n3\n', 0),
    ('for i in 1; do break 0; done; echo $?', '1\n', 0, 'bash: line 1: break: 0: loop count out of range\n'),
    ('for i in 1; do break word; done; echo unreachable',
     '',
     128,
     'bash: line 1: break: word: numeric argument required\n'),
    ('for i in 1; do break 1 2; done; echo unreachable', '', 1, 'bash: line 1: break: too many arguments\n'),
    ('break; echo $?',
     '0\n',
     0,
     "bash: line 1: break: only meaningful in a `for', `while', or `until' loop\n"),
    ('f() { break; echo after; }; for i in 1; do f; done',
     'after\n',
     0,
     "environment: line 1: break: only meaningful in a `for', `while', or `until' loop\n"),
    ('f() { return 300; }; f; echo $?', '44\n', 0),
    ('f() { false; return; }; f; echo $?', '1\n', 0),
    ('f() { return word; }; f; echo $?',
     '2\n',
     0,
     'environment: line 1: return: word: numeric argument required\n'),
    ('return 1; echo $?',
     '2\n',
     0,
     "bash: line 1: return: can only `return' from a function or sourced script\n"),
    ('exit 300', '', 44),
    ('exit word', '', 2, 'bash: line 1: exit: word: numeric argument required\n'),
    ('exit 1 2; echo unreachable', '', 1, 'bash: line 1: exit: too many arguments\n'),
    ('(exit 5); echo $?', '5\n', 0),
    ("eval 'echo one;' echo two; eval; echo $?", 'one\ntwo\n0\n', 0),
    ('eval -x; echo $?', '2\n', 0, 'bash: line 1: eval: -x: invalid option\neval: usage: eval [arg ...]\n'),
    ("eval 'echo before; )'; echo $?",
     '2\n',
     0,
     "bash: eval: line 1: syntax error near unexpected token `)'\nbash: eval: line 1: `echo before; )'\n"),
    ('echo \'echo "$0 $1 $#"; x=set; return 4\' > part; . ./part arg; echo "$? $x $#"',
     'bash arg 1\n4 set 0\n',
     0),
    ("echo 'shift; echo $1' > part; set -- p q; . ./part a b; echo $*", 'b\np q\n', 0),
    ("echo 'echo found' > part; PATH=$PWD; . part", 'found\n', 0),
    ('. missing; echo $?', '1\n', 0, 'bash: line 1: missing: No such file or directory\n'),
    ('. ; echo $?',
     '2\n',
     0,
     'bash: line 1: .: filename argument required\n.: usage: . filename [arguments]\n'),
    ('. /; echo $?', '1\n', 0, 'bash: line 1: .: /: is a directory\n'),
    ('f() { caller; caller 0; }; g() { f; }; g', '1 environment\n1 g environment\n', 0),
    ('caller; echo $?', '1\n', 0),
]


@pytest.mark.parametrize("case", CASES, ids=[case[0][:50] for case in CASES])
def test_control(bash, case):
    script, stdout, status, stderr = (*case, "")[:4]
    assert bash(script) == (stdout, status, stderr)
