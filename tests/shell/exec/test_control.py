"""Compound commands: their statuses, loops and their control, case, errors in them."""
from __future__ import annotations

from collections.abc import Callable

import pytest

from mirage.shell.exec.session import Done

CASES: dict[str, tuple[str, str, str, int]] = {
    "statuses": (
        'if :; then false; fi; echo $?; if false; then :; fi; echo $?; while false; do :; done; echo $?; for x in; do :; done; echo $?; case a in b) ;; esac; echo $?; until true; do false; done; echo $?; case x in x) false;; esac; echo $?; { false; }; echo $?; (exit 3); echo $?',
        '1\n0\n0\n0\n0\n0\n1\n1\n3\n',
        "",
        0,
    ),
    "break and continue over several levels": (
        'for i in 1 2 3; do for j in a b; do [ $i$j = 1b ] && continue 2; [ $i$j = 2b ] && break 2; echo $i$j; done; echo end $i; done; echo $?; while :; do break 9; done; echo $?',
        '1a\n2a\n0\n0\n',
        "",
        0,
    ),
    "break outside of a loop, with bad arguments": (
        'break; echo $?; for i in 1; do break 0; echo no; done; echo $?; for i in 1; do continue x; done; echo no',
        '0\n1\n',
        "bash: line 1: break: only meaningful in a `for', `while', or `until' loop\n"
        'bash: line 1: break: 0: loop count out of range\n'
        'bash: line 1: continue: x: numeric argument required\n',
        128,
    ),
    "break in eval and in a function": (
        "for i in 1 2 3; do eval 'if [ $i = 2 ]; then continue; fi'; echo $i; done; f() { break; }; for i in 1 2; do f; echo $i; done",
        '1\n3\n1\n2\n',
        "environment: line 1: break: only meaningful in a `for', `while', or `until' loop\n"
        "environment: line 1: break: only meaningful in a `for', `while', or `until' loop\n",
        0,
    ),
    "break in the condition of a loop": (
        'i=0; while ((i++)); break; do :; done; echo $i; until break; do :; done; echo $?',
        '1\n0\n',
        "",
        0,
    ),
    "for over the positional parameters and over words that change": (
        'set -- a "b c"; for x; do echo "<$x>"; set -- z; done; for x in $*; do echo $x; done; for i in {1..3}; do i=9; echo $i; done',
        '<a>\n<b c>\nz\n9\n9\n9\n',
        "",
        0,
    ),
    "for with a bad name, a readonly one": (
        'for 1x in a; do :; done; echo $?; readonly r; for r in a; do echo no; done; echo no\n'
        'echo "$?"',
        '1\nno\n0\n',
        "bash: line 1: `1x': not a valid identifier\nbash: line 1: r: readonly variable\n",
        0,
    ),
    "arithmetic for": (
        'for ((i=0; i<3; i++)); do ((i==1)) && continue; echo $i; done; for ((;;)); do break; done; for ((i=0, j=5; i<j; i+=2, j--)) { echo $i$j; }; echo $?',
        '0\n2\n05\n24\n0\n',
        "",
        0,
    ),
    "arithmetic errors": (
        "((1/0)); echo $?; for ((i=0; i<1/0; i++)); do :; done; echo $?; let 'x='; echo $?; echo $((1/0)); echo no\n"
        'echo next',
        '1\n1\n1\nnext\n',
        'bash: line 1: ((: 1/0: division by 0 (error token is "0")\n'
        'bash: line 1: ((: i<1/0: division by 0 (error token is "0")\n'
        'bash: line 1: let: x=: syntax error: operand expected (error token is "=")\n'
        'bash: line 1: 1/0: division by 0 (error token is "0")\n',
        0,
    ),
    "case: patterns, falling through, quoting": (
        'case abc in a*) echo 1;;& *c) echo 2;& x) echo 3;; *) echo no;; esac; x=\'*\'; case a in "$x") echo no;; $x) echo star;; esac; case \'*\' in \\*) echo lit;; esac; case x in [[:alpha:]]) echo class;; esac; shopt -s nocasematch; case ABC in abc) echo nocase;; esac',
        '1\n2\n3\nstar\nlit\nclass\nnocase\n',
        "",
        0,
    ),
    "select prints its menu on standard error": (
        'select x in one two; do echo "$x $REPLY"; break; done <<< $\'\\n7\\n2\'; PS3=\'? \'; select x in a; do echo "$x"; done <<< 1; echo $?',
        ' 7\na\n\n1\n',
        '1) one\n2) two\n#? 1) one\n2) two\n#? 1) a\n? ? ',
        0,
    ),
    "the menu has columns": (
        'COLUMNS=30; select x in one two three four five six seven eight nine ten; do break; done <<< 1',
        "",
        '1) one\t    6) six\n'
        '2) two\t    7) seven\n'
        '3) three    8) eight\n'
        '4) four\t    9) nine\n'
        '5) five\t   10) ten\n'
        '#? ',
        0,
    ),
    "negation and lists": (
        '! true; echo $?; ! false; echo $?; ! { false; }; echo $?; true && false || echo or; false && true; echo $?; ! ! false; echo $?',
        '1\n0\n0\nor\n1\n1\n',
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
