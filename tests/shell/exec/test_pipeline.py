"""Pipelines, subshells, substitutions, coprocesses."""
from __future__ import annotations

from collections.abc import Callable

import pytest

from mirage.shell.exec.session import Done

CASES: dict[str, tuple[str, str, str, int]] = {
    "statuses of the stages": (
        'false | true; echo "$? ${PIPESTATUS[@]}"; true | (exit 3) | (exit 4); echo "$? ${PIPESTATUS[@]}"; ! true | false; echo "$? ${PIPESTATUS[@]}"; true; echo ${PIPESTATUS[@]}',
        '0 1 0\n4 0 3 4\n0 0 1\n0\n',
        "",
        0,
    ),
    "pipefail": (
        'set -o pipefail; true | (exit 3) | true; echo $?; (exit 4) | (exit 5) | true; echo $?; true | true; echo $?',
        '3\n5\n0\n',
        "",
        0,
    ),
    "a writer without reader dies of SIGPIPE": (
        'yes | head -2; echo ${PIPESTATUS[@]}; { echo a; echo b; echo c; } | head -1',
        'y\ny\n141 0\na\n',
        "",
        0,
    ),
    "a reader without writer sees the end": (
        ': | cat; echo $?; : | { read x; echo $?; }',
        '0\n1\n',
        "",
        0,
    ),
    "standard error too": (
        '{ echo out; echo err >&2; } |& sort; ls nofile |& cat',
        "err\nout\nls: cannot access 'nofile': No such file or directory\n",
        "",
        0,
    ),
    "every stage is a subshell, with lastpipe the last is not": (
        'x=1; echo a | x=2; echo $x; echo b | read x; echo $x; shopt -s lastpipe; echo c | read x; echo $x; echo d | while read y; do z=$y; done; echo $z',
        '1\n1\nc\nd\n',
        "",
        0,
    ),
    "subshells change nothing outside": (
        'x=1; cd /; (x=2; cd /tmp; f() { :; }; set -f; trap \'echo t\' USR1; echo "$x $PWD $-" | cut -d\' \' -f1,2); echo $x $PWD; type f 2>/dev/null || echo none',
        '2 /tmp\n1 /\nnone\n',
        "",
        0,
    ),
    "where is the shell": (
        'echo $BASH_SUBSHELL $(echo $BASH_SUBSHELL); (echo $BASH_SUBSHELL; (echo $BASH_SUBSHELL)); { echo $BASH_SUBSHELL; } | cat; (echo $$) | grep -c "^$$\\$"; (echo $BASHPID) | grep -c "^$$\\$"; [ $BASHPID = $$ ] && echo same',
        '0 1\n1\n2\n1\n1\n0\nsame\n',
        "",
        0,
    ),
    "command substitution": (
        'x=$(printf \'a\\n\\n\\n\'); echo "[$x]"; echo "$(echo \'a  b\')" $(echo \'a  b\'); echo `echo \\`echo nested\\``; echo text > f; echo "$(<f)" $(< f); y=$(<nofile); echo "$? [$y]"; echo $(exit 3)$?',
        '[a]\na  b a b\nnested\ntext text\n1 []\n3\n',
        'bash: line 1: nofile: No such file or directory\n',
        0,
    ),
    "command substitution waits for whoever holds its output": (
        'x=$( { sleep 0.05; echo late; } & echo early); echo $x',
        'early late\n',
        "",
        0,
    ),
    "a NUL byte in a substitution": (
        "x=$(printf 'a\\0b'); echo $x",
        'ab\n',
        'bash: line 1: warning: command substitution: ignored null byte in input\n',
        0,
    ),
    "process substitution": (
        'cat <(echo one) <(echo two); while read -r l; do echo "<$l>"; done < <(printf \'a\\nb\'); f() { cat "$1"; }; f <(echo arg); echo <(:) | grep -c \'^/dev/fd/\'',
        'one\ntwo\n<a>\narg\n1\n',
        "",
        0,
    ),
    "output process substitution": (
        'echo text > >(cat -n); sleep 0.05; { echo a; echo b; } > >(wc -l)',
        '     1\ttext\n2\n',
        "",
        0,
    ),
    "waiting for a process substitution": (
        'cat <(exit 7); wait $!; echo $?',
        '7\n',
        "",
        0,
    ),
    "a coprocess": (
        'coproc C { read -r x; echo "got $x"; }; echo hi >&${C[1]}; read -r y <&${C[0]}; echo "$y"; wait $C_PID; echo $?; coproc cat; echo ${#COPROC[@]}',
        'got hi\n0\n2\n',
        "",
        0,
    ),
    "time": (
        "TIMEFORMAT='%%'; time true; TIMEFORMAT=; time false; echo $?; ! time true; echo $?; time | cat",
        "",
        "bash: -c: line 1: syntax error near unexpected token `|'\n"
        "bash: -c: line 1: `TIMEFORMAT='%%'; time true; TIMEFORMAT=; time false; echo $?; ! time true; echo $?; time | cat'\n",
        2,
    ),
    "standard input is shared": (
        'printf \'1\\n2\\n3\\n\' | { read a; (read b; echo "b=$b"); read c; echo "a=$a c=$c"; }',
        'b=2\na=1 c=3\n',
        "",
        0,
    ),
    "a background job does not read the shell's input": (
        'echo data | { cat & wait; echo "left: $(cat)"; }',
        'data\nleft: \n',
        "",
        0,
    ),
    "lastpipe with local variables, break and pipefail": (
        'shopt -s lastpipe; f() { local v; echo 1 | read -r v; echo "v=$v"; }; f; echo x | while read -r l; do break; done; echo $?; set -o pipefail; false | true; echo $?',
        'v=1\n0\n1\n',
        "",
        0,
    ),
    "a file as process substitution": (
        'echo text > f; cat <(<f)',
        'text\n',
        "",
        0,
    ),
    "exit in a stage": (
        '{ exit 3; } | cat; echo $?; exit 5 | true; echo still; f() { (exit 4); }; f; echo $?',
        '0\nstill\n4\n',
        "",
        0,
    ),
}
"""title -> (script, stdout, stderr, status), as bash 5.2.37 does it."""


@pytest.mark.parametrize("title", CASES)
def test_as_bash(title: str, bash: Callable[[str], Done]) -> None:
    script, stdout, stderr, status = CASES[title]
    done = bash(script)
    assert (done.stdout.decode(), done.stderr.decode(), done.status) == (stdout, stderr, status)
