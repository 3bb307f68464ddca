"""test and [."""
from __future__ import annotations

import pytest

CASES = [
    ("[ a ]; echo $?; [ '' ]; echo $?; [ ]; echo $?; test; echo $?", '0\n1\n1\n1\n', 0),
    ("[ 3 -gt 2 ] && [ 2 -le 2 ] && [ 1 -ne 2 ] && [ ' 5 ' -eq 5 ]; echo $?", '0\n', 0),
    ('[ a = a ] && [ a == a ] && [ a != b ] && [ a \\< b ] && [ b \\> a ]; echo $?', '0\n', 0),
    ("[ -n x -a -z '' ] && [ ! -n '' ] && [ \\( a = b -o c \\) -a d ]; echo $?", '0\n', 0),
    ('[ a = b -o c = c -a d = e ]; echo $?', '1\n', 0),
    ('[ ! ! a ]; echo $?; [ ! a = b ]; echo $?; [ \\( a \\) ]; echo $?; [ = ]; echo $?; [ ! = ! ]; echo $?',
     '0\n0\n0\n0\n0\n',
     0),
    ('touch f; mkdir d; ln -s f l; [ -f f ] && [ -d d ] && [ -L l ] && [ -h l ] && [ -e l ] && [ ! -s '
     'f ] && [ -O f ] && [ -G f ]; echo $?',
     '0\n',
     0),
    ('[ -c /dev/null ] && [ -r /dev/null ] && [ ! -x f ]; echo $?', '0\n', 0),
    ('touch -d 2020-01-01 old; touch -d 2021-01-01 new; [ new -nt old ] && [ old -ot new ] && [ new '
     '-nt none ] && [ old -ef ./old ]; echo $?',
     '0\n',
     0),
    ("v=; a=(1); declare -n r=v; [ -v v ] && [ -v 'a[0]' ] && [ ! -v 'a[1]' ] && [ -v 'a[@]' ] && [ "
     '-R r ]; echo $?',
     '0\n',
     0),
    ('set -- x; [ -v 1 ]; echo $?; [ -v 2 ]; echo $?', '0\n1\n', 0),
    ('set -o noglob; [ -o noglob ]; echo $?; [ -o nosuch ]; echo $?', '0\n1\n', 0),
    ('[ -t 0 ]; echo $?; [ -t x ]; echo $?', '1\n1\n', 0),
    ('[ a; echo $?', '2\n', 0, "bash: line 1: [: missing `]'\n"),
    ('[ a b ]; echo $?', '2\n', 0, 'bash: line 1: [: a: unary operator expected\n'),
    ('[ a b c ]; echo $?', '2\n', 0, 'bash: line 1: [: b: binary operator expected\n'),
    ('[ 1 -eq a ]; echo $?', '2\n', 0, 'bash: line 1: [: a: integer expression expected\n'),
    ('[ 1 -eq 99999999999999999999 ]; echo $?',
     '2\n',
     0,
     'bash: line 1: [: 99999999999999999999: integer expression expected\n'),
    ('[ a b c d e ]; echo $?', '2\n', 0, 'bash: line 1: [: too many arguments\n'),
    ('[ -q a ]; echo $?', '2\n', 0, 'bash: line 1: [: -q: unary operator expected\n'),
    ('[ x = y -a ]; echo $?', '2\n', 0, 'bash: line 1: [: argument expected\n'),
    ('[ \\( a b c ]; echo $?', '2\n', 0, "bash: line 1: [: `)' expected, found b\n"),
    ('[ a b -f c ]; echo $?', '2\n', 0, 'bash: line 1: [: too many arguments\n'),
    ('/usr/bin/test 1 -eq x; echo $?', '2\n', 0, 'test: invalid integer ‘x’\n'),
    ('/usr/bin/[ a b c ]; echo $?', '2\n', 0, '[: ‘b’: binary operator expected\n'),
    ('/usr/bin/test a b -f c d; echo $?', '2\n', 0, 'test: extra argument ‘b’\n'),
    ('/usr/bin/test -l abc -eq 3; echo $?', '0\n', 0),
]


@pytest.mark.parametrize("case", CASES, ids=[case[0][:50] for case in CASES])
def test_tests(bash, case):
    script, stdout, status, stderr = (*case, "")[:4]
    assert bash(script) == (stdout, status, stderr)
