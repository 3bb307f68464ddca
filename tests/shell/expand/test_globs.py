"""Pathname expansion and its options. Expected values are those of bash 5.2.37."""

from __future__ import annotations

import pytest

CASES = [
    ('cd /tmp; mkdir g; cd g; touch a.txt b.txt .hid C.TXT \'sp ace\' 1 10; echo *; echo *.txt ? [ab]* [!a]*.txt .h* [[:digit:]]* \'*\' "*".txt \\*.txt no*match',
     '1 10 C.TXT a.txt b.txt sp ace\na.txt b.txt 1 a.txt b.txt b.txt .hid 1 10 * *.txt *.txt no*match\n',
     0,
     ''),
    ('cd /tmp; mkdir -p g/d/e g/.h; cd g; touch d/x.txt d/e/y.txt .h/z; echo */ */* d/*.txt */*/* ./*/x* /tmp/g/d/* d//*.txt',
     'd/ d/e d/x.txt d/x.txt d/e/y.txt ./d/x.txt /tmp/g/d/e /tmp/g/d/x.txt d//x.txt\n',
     0,
     ''),
    ('cd /tmp; mkdir -p g/d/e g/.h; cd g; touch top.txt d/x.txt d/e/y.txt; ln -s d link; shopt -s globstar; echo **/*.txt; echo **; echo **/; echo d/**',
     'd/e/y.txt d/x.txt top.txt\nd d/e d/e/y.txt d/x.txt link top.txt\nd/ d/e/ link/\nd/ d/e d/e/y.txt d/x.txt\n',
     0,
     ''),
    ('cd /tmp; mkdir g; cd g; touch a .b; shopt -s dotglob; echo *; shopt -u dotglob; shopt -s nullglob; echo no* x; shopt -u nullglob; shopt -s nocaseglob; echo A*; shopt -u nocaseglob; set -f; echo *',
     '.b a\nx\na\n*\n',
     0,
     ''),
    ('shopt -s failglob; echo no*match; echo not reached',
     '',
     1,
     'bash: line 1: no match: no*match\n'),
    ('cd /tmp; mkdir g; cd g; touch a.txt b.txt ab.c .dot; shopt -s extglob\necho !(*.txt); echo @(a|b).txt; echo *(a|b).*; echo +([ab])*; echo ?(a)b.c',
     'ab.c\na.txt b.txt\n.dot a.txt ab.c b.txt\na.txt ab.c b.txt\nab.c\n',
     0,
     ''),
    ("cd /tmp; mkdir g; cd g; touch a.txt b.md .c; GLOBIGNORE='*.md'; echo *; unset GLOBIGNORE; echo *; shopt -u globskipdots; echo .*",
     '.c a.txt\na.txt b.md\n. .. .c\n',
     0,
     ''),
    ('cd /tmp; mkdir g; cd g; touch \'x[1]\' \'q\\z\' \'st*r\'; echo x\\[*; echo x[[]*; echo st\\**; echo q\\\\*; v=\'*1]\'; echo $v "$v"; for f in x*; do echo "<$f>"; done',
     'x[1]\nx[1]\nst*r\nq\\z\nx[1] *1]\n<x[1]>\n',
     0,
     ''),
    ('cd /tmp; mkdir g; cd g; touch b é z ä A; echo *; echo [a-z] [[:alpha:]]; p=\'*\'; x=$p; echo "$x"; x=*; echo "$x"; a=(*); echo ${#a[@]}',
     'A b z ä é\nb z A b z ä é\n*\n*\n5\n',
     0,
     ''),
]


@pytest.mark.parametrize(("script", "stdout", "status", "stderr"), CASES)
def test_globs(bash, script: str, stdout: str, status: int, stderr: str) -> None:
    assert bash(script) == (stdout, status, stderr)
