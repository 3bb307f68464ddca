"""Simple commands: lookup, temporary assignments, statuses, `exec`, `$_`."""
from __future__ import annotations

from collections.abc import Callable

import pytest

from mirage.shell.exec.session import Done

CASES: dict[str, tuple[str, str, str, int]] = {
    "functions come before builtins, builtins before programs": (
        'echo() { builtin echo "f: $*"; }; echo a; command echo b; unset -f echo; echo c; type -t echo',
        'f: a\nb\nc\nbuiltin\n',
        "",
        0,
    ),
    "not found, not executable, a directory": (
        'nosuch; echo $?; ./nosuch; echo $?; touch x; ./x; echo $?; /bin; echo $?; x/y; echo $?; ""; echo $?',
        '127\n127\n126\n126\n126\n127\n',
        'bash: line 1: nosuch: command not found\n'
        'bash: line 1: ./nosuch: No such file or directory\n'
        'bash: line 1: ./x: Permission denied\n'
        'bash: line 1: /bin: Is a directory\n'
        'bash: line 1: x/y: Not a directory\n'
        'bash: line 1: : command not found\n',
        0,
    ),
    "a script without interpreter line, one with, one with a bad one": (
        'printf \'echo plain $1 $0\\n\' > p; printf \'#!/bin/bash\\necho "$0 $@"; exit 7\\n\' > s; printf \'#!/no/such\\n\' > q; chmod +x p s q; ./p a; ./s a b; echo $?; ./q; echo $?',
        'plain a ./p\n./s a b\n7\n127\n',
        'bash: line 1: ./q: cannot execute: required file not found\n',
        0,
    ),
    "temporary assignments": (
        'x=1; x=2 eval \'echo $x\'; echo $x; f() { echo "f $x"; x=5; }; x=3 f; echo $x; x=4 y=$x env | grep \'^[xy]=\' | sort',
        '2\n1\nf 3\n1\nx=4\ny=4\n',
        "",
        0,
    ),
    "temporary assignments stay before a special builtin in POSIX mode": (
        'x=1; x=2 :; echo $x; set -o posix; x=3 :; echo $x; x=4 true; echo $x',
        '1\n3\n3\n',
        "",
        0,
    ),
    "a readonly variable as temporary assignment": (
        'readonly r=1; r=2 echo runs; echo $?',
        'runs\n0\n',
        'bash: line 1: r: readonly variable\n',
        0,
    ),
    "an assignment to a readonly variable discards the line": (
        'readonly r=1; r=2; echo no\n'
        'echo "next $?"',
        'next 1\n',
        'bash: line 1: r: readonly variable\n',
        0,
    ),
    "the status of assignments is that of the last substitution": (
        'x=$(exit 3); echo $?; x=1; echo $?; x=$(exit 4) y=$(exit 5); echo $?; x=$(exit 6) true; echo $?; $(exit 7); echo $?; $(:); echo $?',
        '3\n0\n5\n0\n7\n0\n',
        "",
        0,
    ),
    "words that expand to nothing": (
        '$none; echo $?; false; $none; echo $?; x=5 $none; echo $x; $none echo found',
        '0\n0\n5\nfound\n',
        "",
        0,
    ),
    "words are expanded before assignments take effect": (
        'x=old; x=new echo $x; y=1 z=$y; echo "[$z]"',
        'old\n[1]\n',
        "",
        0,
    ),
    "the last argument": (
        'echo a b > /dev/null; echo $_; : last; echo $_; x=1; echo "[$_]"',
        'b\nlast\n[]\n',
        "",
        0,
    ),
    "exec replaces the shell, or fails": (
        '(exec echo replaced; echo no); (exec nosuch; echo no); echo $?; (exec -a name bash -c \'echo $0\'); shopt -s execfail; exec nosuch; echo "here $?"; exec bash -c \'echo end; exit 4\'; echo no',
        'replaced\n127\nname\nhere 127\nend\n',
        'bash: line 1: exec: nosuch: not found\nbash: line 1: exec: nosuch: not found\n',
        4,
    ),
    "exec of a directory": (
        'exec /bin',
        "",
        'bash: line 1: /bin: Is a directory\n'
        'bash: line 1: exec: /bin: cannot execute: Is a directory\n',
        126,
    ),
    "the handler of unknown commands": (
        'command_not_found_handle() { echo "no $1 ($#)"; return 5; }; zork a b; echo $?',
        'no zork (3)\n5\n',
        "",
        0,
    ),
    "the path of a program is remembered until PATH changes": (
        "mkdir a b; printf 'echo A\\n' > a/prog; printf 'echo B\\n' > b/prog; chmod +x a/prog b/prog; PATH=$PWD/a:$PWD/b:$PATH; prog; rm a/prog; prog; PATH=$PATH; prog",
        'A\nB\n',
        'bash: line 1: /home/user/a/prog: No such file or directory\n',
        0,
    ),
    "exported functions reach a child shell": (
        'f() { echo "from $1"; }; export -f f; bash -c \'f child\'; unset -f f; bash -c f; echo $?',
        'from child\n127\n',
        'bash: line 1: f: command not found\n',
        0,
    ),
    "an empty or missing PATH": (
        'PATH=; ls; echo $?; PATH=/nope; ls; echo $?; unset PATH; ls / > /dev/null; echo $?; /bin/echo ok',
        '127\n127\n127\nok\n',
        'bash: line 1: ls: No such file or directory\n'
        'bash: line 1: ls: command not found\n'
        'bash: line 1: ls: No such file or directory\n',
        0,
    ),
    "quoted names and names from expansions": (
        '$\'echo\' hi; \\echo hi; "ec"ho hi; e=echo; $e hi; x=\'echo a b\'; $x; "$x"; echo $?',
        'hi\nhi\nhi\nhi\na b\n127\n',
        'bash: line 1: echo a b: command not found\n',
        0,
    ),
}
"""title -> (script, stdout, stderr, status), as bash 5.2.37 does it."""


@pytest.mark.parametrize("title", CASES)
def test_as_bash(title: str, bash: Callable[[str], Done]) -> None:
    script, stdout, stderr, status = CASES[title]
    done = bash(script)
    assert (done.stdout.decode(), done.stderr.decode(), done.status) == (stdout, stderr, status)
