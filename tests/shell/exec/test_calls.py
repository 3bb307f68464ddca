"""Functions, `eval`, `source`, `return`, line numbers."""
from __future__ import annotations

from collections.abc import Callable

import pytest

from mirage.shell.exec.session import Done

CASES: dict[str, tuple[str, str, str, int]] = {
    "arguments, local variables, return": (
        'f() { local x=1 y; g; echo "$x $# $*"; return 7; }; g() { x=2; }; x=0; f a "b c"; echo "$? $x"; h() { return; }; false; h; echo $?; k() { return 256; }; k; echo $?',
        '2 2 a b c\n7 0\n1\n0\n',
        "",
        0,
    ),
    "the body may be any compound command": (
        'f() ( x=1; exit 3 ); f; echo "$? $x"; g() if true; then echo if; fi; g; h() for i in 1 2; do echo $i; done; h; function k { echo k; }; k; l() [[ $1 ]]; l a && echo l',
        '3 \nif\n1\n2\nk\nl\n',
        "",
        0,
    ),
    "nested definitions, unset, redefinition while running": (
        'f() { f2() { echo inner; }; f() { echo second; }; echo first; }; f; f; f2; unset -f f; f; echo $?',
        'first\nsecond\ninner\n127\n',
        'bash: line 1: f: command not found\n',
        0,
    ),
    "names and stack": (
        'f() { echo "$FUNCNAME ${#FUNCNAME[@]} ${FUNCNAME[*]} ${BASH_LINENO[*]} $LINENO"; }\n'
        'g() {\n'
        'f\n'
        '}\n'
        'g; caller; echo $?',
        'f 2 f g 3 5 1\n1\n',
        "",
        0,
    ),
    "recursion": (
        'fact() { if (($1 <= 1)); then echo 1; else echo $(($1 * $(fact $(($1 - 1))))); fi; }; fact 12; sum() { (($1)) && { ((s += $1)); sum $(($1 - 1)); }; }; sum 500; echo $s',
        '479001600\n125250\n',
        "",
        0,
    ),
    "FUNCNEST": (
        'FUNCNEST=5; f() { ((n++)); f; }; f; echo no\n'
        'echo $n',
        '5\n',
        'environment: line 1: f: maximum function nesting level exceeded (5)\n',
        0,
    ),
    "return outside of functions": (
        "return 3; echo $?; (return 4; echo no); echo $?; f() { (return 5); echo $?; eval 'return 6'; echo no; }; f; echo $?",
        '2\nno\n0\n5\n6\n',
        "bash: line 1: return: can only `return' from a function or sourced script\n"
        "bash: line 1: return: can only `return' from a function or sourced script\n",
        0,
    ),
    "eval": (
        "eval; echo $?; eval 'echo a; (exit 3)'; echo $?; eval 'if'; echo $?; eval 'echo b\n"
        'echo c $LINENO\'; x=1; eval "y=\\$x" \'z=2\'; echo $y$z',
        '0\na\n3\n2\nb\nc 3\n12\n',
        'bash: eval: line 2: syntax error: unexpected end of file\n',
        0,
    ),
    "source: arguments, return, positional parameters": (
        'printf \'echo "$# $1 $0"; shift; return 5; echo no\\n\' > lib; set -- p q; . ./lib a b; echo "$? $*"; . ./lib; echo "$? $*"; source ./none; echo $?; . ; echo $?',
        '2 a bash\n5 p q\n2 p bash\n5 q\n1\n2\n',
        'bash: line 1: ./none: No such file or directory\n'
        'bash: line 1: .: filename argument required\n'
        '.: usage: . filename [arguments]\n',
        0,
    ),
    "source: errors name the file": (
        "printf 'nosuch\\necho x; if; echo y\\n' > bad; . ./bad; echo $?",
        '2\n',
        './bad: line 1: nosuch: command not found\n'
        "./bad: line 2: syntax error near unexpected token `;'\n"
        "./bad: line 2: `echo x; if; echo y'\n",
        0,
    ),
    "a syntax error: what stands before it runs": (
        'echo a\n'
        'echo b; fi\n'
        'echo c',
        'a\n',
        "bash: -c: line 2: syntax error near unexpected token `fi'\n"
        "bash: -c: line 2: `echo b; fi'\n",
        2,
    ),
    "line numbers": (
        'echo $LINENO\n'
        'f() { echo $LINENO\n'
        'echo $LINENO; }\n'
        'f; echo "$LINENO\n'
        '$LINENO"\n'
        'nosuch',
        '1\n2\n3\n5\n5\n',
        'bash: line 6: nosuch: command not found\n',
        127,
    ),
    "aliases act on later lines": (
        'shopt -s expand_aliases\n'
        "alias a='echo A' b='a '; a same line\n"
        'a x; b a; \\a\n'
        'unalias a\n'
        'a',
        'A x\nA echo A\n',
        'bash: line 2: a: command not found\n'
        'bash: line 3: a: command not found\n'
        'bash: line 5: a: command not found\n',
        127,
    ),
    "extglob acts on later lines": (
        "echo 'shopt'; shopt -s extglob\n"
        'case ab in @(a|ab)) echo match;; esac',
        'shopt\nmatch\n',
        "",
        0,
    ),
    "prefixes of messages": (
        "f() { nosuch; }; f; printf 'nosuch\\nf() { nosuch; }\\nf\\n' > s; bash s; . ./s",
        "",
        'environment: line 1: nosuch: command not found\n'
        's: line 1: nosuch: command not found\n'
        's: line 2: nosuch: command not found\n'
        './s: line 1: nosuch: command not found\n'
        './s: line 2: nosuch: command not found\n',
        127,
    ),
    "unset variables and bad substitutions": (
        '(set -u; echo $none); echo $?; (echo ${x?message}); echo $?; echo ${x!y}; echo no\n'
        'echo "next $?"',
        '1\n1\nnext 1\n',
        'bash: line 1: none: unbound variable\n'
        'bash: line 1: x: message\n'
        'bash: line 1: ${x!y}: bad substitution\n',
        0,
    ),
    "eval that defines, lines in eval": (
        'eval \'f() { echo $LINENO; }\'; f; eval "\n'
        'echo \\$LINENO\n'
        'nosuch"',
        '1\n4\n',
        'bash: line 5: nosuch: command not found\n',
        127,
    ),
    "source from standard input and a process substitution": (
        ". /dev/stdin <<< 'echo sourced'; source <(echo 'echo from ps; v=5'); echo $v; echo 'echo $#' > s; . ./s a b c; f() { . ./s; }; f 1 2",
        'sourced\nfrom ps\n5\n3\n2\n',
        "",
        0,
    ),
    "local options and IFS": (
        'f() { local -; set -f; echo *; }; touch zz; f; echo *; g() { local IFS=:; echo "$*"; }; g a b',
        '*\nzz\na:b\n',
        "",
        0,
    ),
    "set in functions and eval": (
        'set -- a b; f() { set -- x; echo $1 $#; }; f; echo $1 $#; eval set -- p q r; echo $#',
        'x 1\na 2\n3\n',
        "",
        0,
    ),
    "unusual function names": (
        'function a.b { echo dotted; }; a.b; a-b() { echo dash; }; a-b; 1f() { echo one; }; 1f',
        'dotted\ndash\none\n',
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
