"""type, command, builtin, hash, enable, alias, help."""
from __future__ import annotations

import pytest

CASES = [
    ('f() { :; }; type f cd if; type -t f cd if ls nope; echo $?',
     'f is a function\nf () \n{ \n    :\n}\ncd is a shell builtin\nif is a shell keyword\nfunction\n'
     'builtin\nkeyword\nfile\n1\n',
     0),
    ('type -a echo | head -1; type -p ls; type -P echo; type nope; echo $?',
     'echo is a shell builtin\n/usr/bin/ls\n/usr/bin/echo\n1\n',
     0,
     'bash: line 1: type: nope: not found\n'),
    ('type -f f; echo $?; type -q; echo $?',
     '1\n2\n',
     0,
     'bash: line 1: type: f: not found\nbash: line 1: type: -q: invalid option\n'
     'type: usage: type [-afptP] name [name ...]\n'),
    ('command -v cd ls if nope; echo $?; command -V cd nope; echo $?',
     'cd\n/usr/bin/ls\nif\n0\ncd is a shell builtin\n0\n',
     0,
     'bash: line 1: command: nope: not found\n'),
    ('cd() { echo function; }; cd /tmp; command cd /tmp; pwd; builtin cd /; pwd', 'function\n/tmp\n/\n', 0),
    ('command nope; echo $?; command; echo $?', '127\n0\n', 0, 'bash: line 1: nope: command not found\n'),
    ('builtin ls; echo $?; builtin nope; echo $?',
     '1\n1\n',
     0,
     'bash: line 1: builtin: ls: not a shell builtin\nbash: line 1: builtin: nope: not a shell builtin\n'),
    ('enable -n cd; type -t cd; cd; echo $?; enable cd; type -t cd',
     '127\nbuiltin\n',
     0,
     'bash: line 1: cd: command not found\n'),
    ('enable -n echo test; enable -n; enable nope; echo $?',
     'enable -n echo\nenable -n test\n1\n',
     0,
     'bash: line 1: enable: nope: not a shell builtin\n'),
    ('enable -ps | head -2; enable | wc -l', 'enable .\nenable :\n61\n', 0),
    ('hash; hash ls; hash -t ls; hash nope; echo $?; hash -d ls; hash -t ls; echo $?; hash -r',
     'hash: hash table empty\n/usr/bin/ls\n1\n1\n',
     0,
     'bash: line 1: hash: nope: not found\nbash: line 1: hash: ls: not found\n'),
    ('alias one=\'echo 1\' two="it\'s"; alias one; alias; unalias one; alias one; echo $?',
     "alias one='echo 1'\nalias one='echo 1'\nalias two='it'\\''s'\n1\n",
     0,
     'bash: line 1: alias: one: not found\n'),
    ("alias 'a b=c'; echo $?; unalias nope; echo $?; unalias; echo $?",
     '1\n1\n2\n',
     0,
     "bash: line 1: alias: `a b': invalid alias name\nbash: line 1: unalias: nope: not found\n"
     'unalias: usage: unalias [-a] name [name ...]\n'),
    ("shopt -s expand_aliases; alias hi='echo hello'; eval 'hi there'; unalias -a; alias",
     'hello there\n',
     0),
    ('help -s cd umask; help nope 2> /dev/null; echo $?',
     'cd: cd [-L|[-P [-e]] [-@]] [dir]\numask: umask [-p] [-S] [mode]\n1\n',
     0),
]


@pytest.mark.parametrize("case", CASES, ids=[case[0][:50] for case in CASES])
def test_names(bash, case):
    script, stdout, status, stderr = (*case, "")[:4]
    assert bash(script) == (stdout, status, stderr)
