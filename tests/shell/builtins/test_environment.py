"""umask, ulimit, times, history, fc, compgen, complete, bind."""
from __future__ import annotations

import pytest

CASES = [
    ('umask; umask -S; umask -p; umask 027; umask; umask g+w,o=r; umask -S; umask 888; echo $?; umask '
     'w; echo $?',
     '0022\nu=rwx,g=rx,o=rx\numask 0022\n0027\nu=rwx,g=rwx,o=r\n1\n1\n',
     0,
     'bash: line 1: umask: 888: octal number out of range\n'
     "bash: line 1: umask: `w': invalid symbolic mode operator\n"),
    ('umask 077; touch private; stat -c %a private; (umask 0; umask); umask', '600\n0000\n0077\n', 0),
    ('ulimit -c; ulimit -p; ulimit -c -p; ulimit word; echo $?; ulimit -Z; echo $?',
     '0\n8\ncore file size              (blocks, -c) 0\npipe size                (512 bytes, -p) 8\n1\n'
     '2\n',
     0,
     'bash: line 1: ulimit: word: invalid number\nbash: line 1: ulimit: -Z: invalid option\n'
     'ulimit: usage: ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]\n'),
    ('ulimit -S -s 1024; ulimit -s; (ulimit -s 512; ulimit -s); ulimit -s', '1024\n512\n1024\n', 0),
    ('times | wc -l; times x | wc -l', '2\n2\n', 0),
    ("history -s 'echo one'; history -s echo two; history; history 1; fc -l; fc -ln; fc -s; fc -s "
     'two=three; history -d 1; history; history -c; history',
     '    1  echo one\n    2  echo two\n    2  echo two\n1\t echo one\n2\t echo two\n\t echo one\n'
     '\t echo two\ntwo\nthree\n    1  echo three\n',
     0,
     'echo two\necho three\n'),
    ('fc -s; echo $?; history word; echo $?; history -d 9; echo $?',
     '1\n1\n1\n',
     0,
     'bash: line 1: fc: no command found\nbash: line 1: history: word: numeric argument required\n'
     'bash: line 1: history: 9: history position out of range\n'),
    ("compgen -W 'one two three' t; compgen -b ec; compgen -k whi; compgen -A signal SIGTE; compgen "
     '-A shopt extg; compgen -v HOM',
     'two\nthree\necho\nwhile\nSIGTERM\nextglob\nHOME\n',
     0),
    ('f() { :; }; compgen -A function f; touch b1 b2; mkdir b3; compgen -f b | sort; compgen -d b; '
     "compgen -W 'a b c' -X b -P '<' -S '>'",
     'f\nb1\nb2\nb3\nb3\n<a>\n<c>\n',
     0),
    ('compgen -W \'x\' y; echo $?; compgen -A nope; echo $?; compgen -W \'$HOME "two words"\'',
     '1\n2\n/home/user\ntwo words\n',
     0,
     'bash: line 1: compgen: nope: invalid action name\n'),
    ("complete -W 'a b' -o nospace tool; complete -p tool; compopt +o nospace tool; complete -p; "
     'complete -r; complete -p; complete -p tool; echo $?',
     "complete -o nospace -W 'a b' tool\ncomplete -W 'a b' tool\n1\n",
     0,
     'bash: line 1: complete: tool: no completion specification\n'),
    ('compopt; echo $?; bind; echo $?',
     '1\n0\n',
     0,
     'bash: line 1: compopt: not currently executing completion function\n'
     'bash: line 1: bind: warning: line editing not enabled\n'),
]


@pytest.mark.parametrize("case", CASES, ids=[case[0][:50] for case in CASES])
def test_environment(bash, case):
    script, stdout, status, stderr = (*case, "")[:4]
    assert bash(script) == (stdout, status, stderr)
