"""set, shopt, shift, getopts, let."""
from __future__ import annotations

import pytest

CASES = [
    ('set -- a \'b c\'; echo "$# $2"; set --; echo $#', '2 b c\n0\n', 0),
    ('set -x -- p q; set +x; echo $1', 'p\n', 0, '+ set +x\n'),
    ('set -eu -o pipefail; echo $-; set +eu +o pipefail; echo $-', 'ehuBc\nhBc\n', 0),
    ('set - a b; echo $*; set + c; echo $*', 'a b\nc\n', 0),
    ('set -o | head -3', 'allexport      \toff\nbraceexpand    \ton\nemacs          \toff\n', 0),
    ('set +o | grep -e noglob -e braceexpand', 'set -o braceexpand\nset +o noglob\n', 0),
    ('set -o nosuch; echo $?', '2\n', 0, 'bash: line 1: set: nosuch: invalid option name\n'),
    ('set -Z; echo $?',
     '2\n',
     0,
     'bash: line 1: set: -Z: invalid option\n'
     'set: usage: set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]\n'),
    ("set -o vi; set -o | grep -e '^vi' -e emacs", 'emacs          \toff\nvi             \ton\n', 0),
    ("v=1 w='two words'; x=$'line\\n'; a=([2]=z); set | grep -e '^[vwxa]='",
     'a=([2]="z")\nv=1\nw=\'two words\'\nx=$\'line\\n\'\n',
     0),
    ('f() { echo body; }; set | tail -4', 'f () \n{ \n    echo body\n}\n', 0),
    ('shopt nullglob extglob; echo $?', 'nullglob       \toff\nextglob        \toff\n1\n', 0),
    ('shopt -s nullglob; shopt -p nullglob; shopt -q nullglob; echo $?; shopt -u nullglob; shopt -q '
     'nullglob; echo $?',
     'shopt -s nullglob\n0\n1\n',
     0),
    ('shopt -s nosuch; echo $?', '1\n', 0, 'bash: line 1: shopt: nosuch: invalid shell option name\n'),
    ('shopt -o errexit; shopt -so errexit; shopt -po errexit', 'errexit        \toff\nset -o errexit\n', 0),
    ('shopt -su extglob; echo $?',
     '1\n',
     0,
     'bash: line 1: shopt: cannot set and unset shell options simultaneously\n'),
    ('shopt | wc -l; shopt -s | wc -l; shopt | head -2',
     '57\n13\nautocd         \toff\nassoc_expand_once\toff\n',
     0),
    ('shopt -s compat42 compat44; shopt compat42 compat44', 'compat42       \toff\ncompat44       \ton\n', 1),
    ('set -- a b c d; shift; echo $*; shift 2; echo $*; shift 5; echo "$? $*"', 'b c d\nd\n1 d\n', 0),
    ('shift word; echo $?', '1\n', 0, 'bash: line 1: shift: word: numeric argument required\n'),
    ('set -- a; shift -1; echo $?', '1\n', 0, 'bash: line 1: shift: -1: shift count out of range\n'),
    ('set -- a b; shift 1 2; echo unreachable', '', 1, 'bash: line 1: shift: too many arguments\n'),
    ('while getopts ab:c o -ac -b arg -bjoined rest; do echo "$o ${OPTARG-none} $OPTIND"; done; echo '
     '"$o $OPTIND"',
     'a none 1\nc none 2\nb arg 4\nb joined 5\n? 5\n',
     0),
    ('while getopts :b: o -x -b; do echo "$o $OPTARG"; done', '? x\n: b\n', 0),
    ('while getopts b: o -x -b; do echo "$o ${OPTARG-none}"; done',
     '? none\n? none\n',
     0,
     'bash: illegal option -- x\nbash: option requires an argument -- b\n'),
    ('OPTERR=0; getopts a o -z; echo "$? $o"', '0 ?\n', 0),
    ('getopts a o -- -a; echo "$? $OPTIND"', '1 2\n', 0),
    ('set -- -a x; getopts a o; shift $((OPTIND - 1)); echo "$o $*"', 'a x\n', 0),
    ('getopts; echo $?', '2\n', 0, 'getopts: usage: getopts optstring name [arg ...]\n'),
    ('let \'x = 3\' \'y = x * 2\'; echo "$? $x $y"; let 0; echo $?', '0 3 6\n1\n', 0),
    ('let; echo $?', '1\n', 0, 'bash: line 1: let: expression expected\n'),
    ("let 'x = 1 +'; echo $?",
     '1\n',
     0,
     'bash: line 1: let: x = 1 +: syntax error: operand expected (error token is "+")\n'),
]


@pytest.mark.parametrize("case", CASES, ids=[case[0][:50] for case in CASES])
def test_options(bash, case):
    script, stdout, status, stderr = (*case, "")[:4]
    assert bash(script) == (stdout, status, stderr)
