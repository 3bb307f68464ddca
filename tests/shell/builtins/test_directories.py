"""cd, pwd, pushd, popd, dirs."""
from __future__ import annotations

import pytest

CASES = [
    ('cd /tmp; cd -; echo "$PWD $OLDPWD"', '/home/user\n/home/user /tmp\n', 0),
    ('mkdir -p real/sub; ln -s real link; cd link/sub; pwd; pwd -P; cd ..; pwd; cd -P .; pwd',
     '/home/user/link/sub\n/home/user/real/sub\n/home/user/link\n/home/user/real\n',
     0),
    ('cd missing; echo $?', '1\n', 0, 'bash: line 1: cd: missing: No such file or directory\n'),
    ('touch file; cd file; echo $?', '1\n', 0, 'bash: line 1: cd: file: Not a directory\n'),
    ('cd a b; echo $?', '1\n', 0, 'bash: line 1: cd: too many arguments\n'),
    ('cd -q; echo $?',
     '2\n',
     0,
     'bash: line 1: cd: -q: invalid option\ncd: usage: cd [-L|[-P [-e]] [-@]] [dir]\n'),
    ('unset HOME; cd; echo $?', '1\n', 0, 'bash: line 1: cd: HOME not set\n'),
    ('unset OLDPWD; cd -; echo $?', '1\n', 0, 'bash: line 1: cd: OLDPWD not set\n'),
    ('mkdir -p base/dir; CDPATH=base; cd dir; echo $?', '/home/user/base/dir\n0\n', 0),
    ('mkdir -p base/dir dir; CDPATH=:base; cd dir; echo $?; pwd', '0\n/home/user/dir\n', 0),
    ('cd missing/..; echo $?', '1\n', 0, 'bash: line 1: cd: missing/..: No such file or directory\n'),
    ('cd /usr/../tmp/./; pwd', '/tmp\n', 0),
    ('shopt -s cdable_vars; where=/tmp; cd where; pwd', '/tmp\n/tmp\n', 0),
    ('pushd /tmp; pushd /usr; dirs -v; popd; popd; popd; echo $?',
     '/tmp ~\n/usr /tmp ~\n 0  /usr\n 1  /tmp\n 2  ~\n/tmp ~\n~\n1\n',
     0,
     'bash: line 1: popd: directory stack empty\n'),
    ('pushd; echo $?', '1\n', 0, 'bash: line 1: pushd: no other directory\n'),
    ('cd /tmp; pushd /usr > /dev/null; pushd /usr/bin > /dev/null; pushd +1; pushd -0; dirs +1; dirs -l -p',
     '/usr /tmp /usr/bin\n/usr/bin /usr /tmp\n/usr\n/usr/bin\n/usr\n/tmp\n',
     0),
    ('pushd -n /tmp; pwd; dirs', '~ /tmp\n/home/user\n~ /tmp\n', 0),
    ('pushd missing; echo $?', '1\n', 0, 'bash: line 1: pushd: missing: No such file or directory\n'),
    ('pushd +x; echo $?',
     '2\n',
     0,
     'bash: line 1: pushd: +x: invalid number\npushd: usage: pushd [-n] [+N | -N | dir]\n'),
    ('cd /tmp; pushd /usr > /dev/null; popd +1; popd -n +5; echo $?; dirs -c; dirs',
     '/usr\n1\n/usr\n',
     0,
     'bash: line 1: popd: directory stack empty\n'),
    ('dirs word; echo $?',
     '2\n',
     0,
     'bash: line 1: dirs: word: invalid option\ndirs: usage: dirs [-clpv] [+N] [-N]\n'),
    ('echo ~+ ~-; pushd /tmp > /dev/null; echo ~1 ${DIRSTACK[1]}',
     '/home/user ~-\n/home/user /home/user\n',
     0),
]


@pytest.mark.parametrize("case", CASES, ids=[case[0][:50] for case in CASES])
def test_directories(bash, case):
    script, stdout, status, stderr = (*case, "")[:4]
    assert bash(script) == (stdout, status, stderr)
