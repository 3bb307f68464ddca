"""Redirections: every operator, their order, errors, and what stays after `exec`."""
from __future__ import annotations

from collections.abc import Callable

import pytest

from mirage.shell.exec.session import Done

CASES: dict[str, tuple[str, str, str, int]] = {
    "words after a redirection stay": (
        'echo a > f b; cat f; > g echo x; cat g; wc -l < f 2>/dev/null; 2>&1 echo y',
        'a b\nx\n1\ny\n',
        "",
        0,
    ),
    "the last of several outputs gets the text, all are created": (
        'echo hi > one > two; cat one; echo -; cat two',
        '-\nhi\n',
        "",
        0,
    ),
    "append, read and write, clobber": (
        'echo a > f; echo b >> f; cat f; exec 3<>f; read -u 3 x; echo "[$x]" >&3; exec 3>&-; cat f; set -C; echo no > f; echo $?; echo yes >| f; cat f; echo fine > /dev/null',
        'a\nb\na\n[a]\n1\nyes\n',
        'bash: line 1: f: cannot overwrite existing file\n',
        0,
    ),
    "duplicate, move, close": (
        'exec 3>f; exec 4>&3-; echo a >&4; echo b >&3; echo $?; cat f; exec 4>&-; echo c >&4',
        '1\na\n',
        'bash: line 1: 3: Bad file descriptor\nbash: line 1: 4: Bad file descriptor\n',
        1,
    ),
    "a variable gets a descriptor from 10 on": (
        'exec {fd}>f; echo $fd; echo text >&$fd; exec {fd}>&-; cat f; echo x >&$fd; echo $?',
        '10\ntext\n1\n',
        'bash: line 1: $fd: Bad file descriptor\n',
        0,
    ),
    "a named descriptor of a builtin or group stays open, of a program not": (
        'echo a {v}>g; echo "v=$v"; { :; } {q}>g; echo "q=$q"; cat /dev/null {w}>g; echo "w=$w"',
        'a\nv=10\nq=11\nw=\n',
        "",
        0,
    ),
    "both streams": (
        '{ echo out; echo err >&2; } &> f; { echo more >&2; } &>> f; cat f; n=file; { echo o; echo e >&2; } >& $n; cat file',
        'out\nerr\nmore\no\ne\n',
        "",
        0,
    ),
    "ambiguous, empty and missing targets": (
        'a="x y"; echo hi > $a; echo $?; echo hi > $none; echo $?; echo hi > ""; echo $?; echo hi > no/dir; echo $?; cat < missing; echo $?; echo hi > /',
        '1\n1\n1\n1\n1\n',
        'bash: line 1: $a: ambiguous redirect\n'
        'bash: line 1: $none: ambiguous redirect\n'
        'bash: line 1: : No such file or directory\n'
        'bash: line 1: no/dir: No such file or directory\n'
        'bash: line 1: missing: No such file or directory\n'
        'bash: line 1: /: Is a directory\n',
        1,
    ),
    "a redirection that fails skips the command, also of a group, and unsets nothing": (
        'echo printed > no/f || echo failed; { echo in; } > no/f; echo $?; if true; then echo in; fi < missing; echo $?; x=1 > no/f; echo "$x $?"',
        'failed\n1\n1\n1 1\n',
        'bash: line 1: no/f: No such file or directory\n'
        'bash: line 1: no/f: No such file or directory\n'
        'bash: line 1: missing: No such file or directory\n'
        'bash: line 1: no/f: No such file or directory\n',
        0,
    ),
    "the error message obeys the redirections before it": (
        'echo hi 2>err > no/f; cat err',
        'bash: line 1: no/f: No such file or directory\n',
        "",
        0,
    ),
    "closed standard output": (
        'echo a >&-; echo $?; printf x 1>&-; echo $?; : >&-; echo $?',
        '1\n1\n0\n',
        'bash: line 1: echo: write error: Bad file descriptor\n'
        'bash: line 1: printf: write error: Bad file descriptor\n',
        0,
    ),
    "redirections of compound commands and functions": (
        'for i in 1 2; do echo $i; done > f; while read -r l; do echo "<$l>"; done < f; f() { echo "f $1"; echo e >&2; } > g 2>&1; f a; cat g; case x in x) echo c;; esac > h; cat h; (echo s) > s; cat s; [[ a ]] > t; ((1)) > u; ls t u',
        '<1>\n<2>\nf a\ne\nc\ns\nt\nu\n',
        "",
        0,
    ),
    "exec keeps them": (
        'exec 5>log 6<&0; echo to log >&5; exec 5>&-; cat log; exec >out; echo in out; exec >&2; cat out',
        'to log\n',
        'in out\n',
        0,
    ),
    "they are undone after a function that returns and a loop that breaks": (
        'f() { { echo a; return 3; } > f; echo no; }; f; echo "$?"; cat f; while :; do echo b; break; done > g; echo c; cat g',
        '3\na\nc\nb\n',
        "",
        0,
    ),
    "here-documents, expanded, quoted, with tabs, two at once": (
        'x=v; cat <<A - <<B\n'
        'one\n'
        'A\n'
        '$x $(echo sub) $((1+1)) \\$x\n'
        'B\n'
        "cat <<'E'\n"
        '$x `y`\n'
        'E\n'
        'cat <<-E\n'
        '\ttab $x\n'
        '\tE',
        'v sub 2 $x\n$x `y`\ntab v\n',
        "",
        0,
    ),
    "here-strings are not split or expanded again": (
        'x=\'a  b *\'; cat <<< $x; cat <<< "$x"; cat <<< \'"q"\'; read a b <<< "1 2"; echo "$b $a"',
        'a  b *\na  b *\n"q"\n2 1\n',
        "",
        0,
    ),
    "/dev/fd and /dev/stdin": (
        'echo in | cat /dev/stdin; cat /dev/fd/3 3<<< three; cat /dev/fd/9; read x < /dev/stdin <<< line; echo $x',
        'in\nthree\nline\n',
        'cat: /dev/fd/9: No such file or directory\n',
        0,
    ),
    "no network": (
        'exec 3<>/dev/tcp/1.2.3.4/80; echo $?; echo x > /dev/udp/nohost.example/53; echo $?',
        '1\n1\n',
        'bash: connect: Network is unreachable\n'
        'bash: line 1: /dev/tcp/1.2.3.4/80: Network is unreachable\n'
        'bash: line 1: nohost.example: Name or service not known\n'
        'bash: line 1: /dev/udp/nohost.example/53: Invalid argument\n',
        0,
    ),
    "a descriptor that is not open": (
        'echo x >&9; echo $?; cat <&8; echo $?; exec 7<&9; echo not reached',
        '1\n1\nnot reached\n',
        'bash: line 1: 9: Bad file descriptor\n'
        'bash: line 1: 8: Bad file descriptor\n'
        'bash: line 1: 9: Bad file descriptor\n',
        0,
    ),
    "a bare redirection with a variable has its own process": (
        '{v}<<< text; echo "[$v] $?"',
        '[] 0\n',
        "",
        0,
    ),
    "a pattern that fits one file": (
        'touch only.txt; echo x > *.txt; cat only.txt; touch two.txt; echo y > *.txt; echo $?',
        'x\n1\n',
        'bash: line 1: *.txt: ambiguous redirect\n',
        0,
    ),
    "redirections nest": (
        'f() { echo a; } >f1; { f; echo b; } >f2; cat f1 f2; while read -r x; do echo $x; read -r y < f2; echo $y; done < f1',
        'a\nb\na\nb\n',
        "",
        0,
    ),
    "exec in a function": (
        'f() { exec 3>&1; exec >log; echo in log; exec >&3; }; f; echo out; cat log',
        'out\nin log\n',
        "",
        0,
    ),
    "one descriptor read by several commands": (
        "exec 3< <(printf '1\\n2\\n3\\n'); read -r -u3 a; read -r b <&3; cat <&3; echo $a$b",
        '3\n12\n',
        "",
        0,
    ),
    "several inputs: the last one counts": (
        'echo one > a; echo two > b; cat a - b <<< mid; cat < a < b; cat 3< a <&3; cat 4<<< four /dev/fd/4',
        'one\nmid\ntwo\ntwo\none\nfour\n',
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
