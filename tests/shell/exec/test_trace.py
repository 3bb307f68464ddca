"""`set -x`, `set -v`, PS4."""
from __future__ import annotations

from collections.abc import Callable

import pytest

from mirage.shell.exec.session import Done

CASES: dict[str, tuple[str, str, str, int]] = {
    "every kind of command": (
        'set -x; echo "a b" \'\'; x=1 y=2; X=1 true; for i in a; do :; done; case x in x) :; esac; [[ a == a* && -n b ]]; ((1+1)); for ((i=0;i<1;i++)); do :; done; a=(1 "2 3"); a[3]=4; x+=5; f() { local z=1; }; f \'q r\'; export E=1; ! true; (echo sub); echo $(echo cs); eval \'echo ev\'; select s in a; do break; done <<< 1',
        'a b \nsub\ncs\nev\n',
        "+ echo 'a b' ''\n"
        '+ x=1\n'
        '+ y=2\n'
        '+ X=1\n'
        '+ true\n'
        '+ for i in a\n'
        '+ :\n'
        '+ case x in\n'
        '+ :\n'
        '+ [[ a == a* ]]\n'
        '+ [[ -n b ]]\n'
        '+ (( 1+1 ))\n'
        '+ (( i=0 ))\n'
        '+ (( i<1 ))\n'
        '+ :\n'
        '+ (( i++ ))\n'
        '+ (( i<1 ))\n'
        '+ a=(1 "2 3")\n'
        '+ a[3]=4\n'
        '+ x+=5\n'
        "+ f 'q r'\n"
        '+ local z=1\n'
        '+ export E=1\n'
        '+ E=1\n'
        '+ true\n'
        '+ echo sub\n'
        '++ echo cs\n'
        '+ echo cs\n'
        "+ eval 'echo ev'\n"
        '++ echo ev\n'
        '+ select s in a\n'
        '1) a\n'
        '#? + break\n',
        0,
    ),
    "PS4": (
        "PS4='+$LINENO:${FUNCNAME[0]} '; f() {\n"
        'echo in\n'
        '}\n'
        'set -x\n'
        'f',
        'in\n',
        '+5: f\n+2:f echo in\n',
        0,
    ),
    "PS4 that cannot be expanded": (
        "PS4='$((1/0))'; set -x; echo a; echo $?",
        'a\n0\n',
        'bash: line 1: 1/0: division by 0 (error token is "0")\n'
        '$((1/0))echo a\n'
        'bash: line 1: 1/0: division by 0 (error token is "0")\n'
        '$((1/0))echo 0\n',
        0,
    ),
    "another descriptor": (
        'exec 5>t; BASH_XTRACEFD=5; set -x; echo a; set +x; cat t',
        'a\n+ echo a\n+ set +x\n',
        "",
        0,
    ),
    "verbose": (
        'set -v\n'
        'echo a\n'
        'set +v\n'
        'echo b',
        'a\nb\n',
        'echo a\nset +v\n',
        0,
    ),
    "read, not run": (
        'set -n; echo no\n'
        'echo no',
        "",
        "",
        0,
    ),
    "quoting": (
        'set -x; echo $\'a\\tb\' "it\'s" \'a"b\' \'$x\' \'*\' \'a=b\' \'~\' \'#\' é',
        'a\tb it\'s a"b $x * a=b ~ # é\n',
        '+ echo \'a\tb\' \'it\'\\\'\'s\' \'a"b\' \'$x\' \'*\' a=b \'~\' \'#\' é\n',
        0,
    ),
}
"""title -> (script, stdout, stderr, status), as bash 5.2.37 does it."""


@pytest.mark.parametrize("title", CASES)
def test_as_bash(title: str, bash: Callable[[str], Done]) -> None:
    script, stdout, stderr, status = CASES[title]
    done = bash(script)
    assert (done.stdout.decode(), done.stderr.decode(), done.status) == (stdout, stderr, status)
