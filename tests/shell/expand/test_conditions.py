"""The operators of [[ ]], and case. Expected values are those of bash 5.2.37."""

from __future__ import annotations

import pytest

CASES = [
    ("t() { [[ $1 == $2 ]] && printf 1 || printf 0; }; t abc 'a*'; t abc 'a?c'; t abc '[a-c]bc'; t abc '[!a]*'; t 'a*' 'a\\*'; t abc ''; t '' '*'; t ']' '[]]'; t - '[a-]'; t é '?'; t $'a\\nb' 'a*b'",
     '11101011111',
     0,
     ''),
    ('x=\'a*\'; [[ abc == $x ]]; echo $?; [[ abc == "$x" ]]; echo $?; [[ abc != a"*" ]]; echo $?; [[ \'a*\' == $x ]]; echo $?',
     '0\n1\n0\n0\n',
     0,
     ''),
    ("[[ ab == +(a|b) && x == !(y) && '' == ?(z) && aXb == a@(X|Y)b ]]; echo $?; [[ abc == *(a|c) ]]; echo $?",
     '0\n1\n',
     0,
     ''),
    ("[[ abc < abd && b > a && ! a < a ]]; echo $?; [[ -n x && -z '' && x && ! '' ]]; echo $?; [[ (a == b || c == c) && d ]]; echo $?",
     '0\n0\n0\n',
     0,
     ''),
    ("x=5; [[ x -eq 5 && 3+4 -gt 6 && 0x10 -le 16 && -1 -lt 0 && '' -eq 0 ]]; echo $?; [[ 1x -eq 1 ]]; echo $?; [[ 08 -eq 8 ]]; echo $?",
     '0\n1\n1\n',
     0,
     'bash: line 1: [[: 1x: value too great for base (error token is "1x")\nbash: line 1: [[: 08: value too great for base (error token is "08")\n'),
    ('[[ foo123bar =~ ([a-z]+)([0-9]+)(x)? ]]; echo $? "${BASH_REMATCH[@]}" ${#BASH_REMATCH[@]}; [[ abc =~ ^b ]]; echo $? ${#BASH_REMATCH[@]}',
     '0 foo123 foo 123  4\n1 0\n',
     0,
     ''),
    ('re=\'^(a|b)+$\'; [[ abba =~ $re ]]; echo $? ${BASH_REMATCH[1]}; [[ abba =~ "$re" ]]; echo $?; [[ \'a.c\' =~ a\\.c ]]; echo $?; [[ abc =~ a"."c ]]; echo $?; [[ x =~ [ ]]; echo $?',
     '0 a\n1\n0\n1\n2\n',
     0,
     ''),
    ('cd /tmp; touch f; mkdir d; ln -s f l; ln -s none dang; echo x > full; chmod 600 f; [[ -e f && -f f && -d d && -L l && ! -e dang && -h dang && -s full && ! -s f && -r f && ! -x f && f -ef l && -O f ]]; echo $?',
     '0\n',
     0,
     ''),
    ('cd /tmp; touch -d 2001-01-01 old; touch new; [[ new -nt old && old -ot new && new -nt none && ! none -nt new && -c /dev/null && ! -t 0 ]]; echo $?',
     '0\n',
     0,
     ''),
    ('v=1; a=(1 2); declare -A h=([k]=1); declare -n r=v; [[ -v v && -v a && -v a[1] && ! -v a[9] && -v h[k] && ! -v h[z] && ! -v none && -R r && ! -R v ]]; echo $?; [[ -o errexit ]]; echo $?',
     '0\n1\n',
     0,
     ''),
    ('shopt -s nocasematch; [[ ABC == a* && ABC =~ abc ]]; echo $?; case ABC in abc) echo y;; esac; x=ABC; echo ${x/b/-} ${x#a}',
     '0\ny\nA-C ABC\n',
     0,
     ''),
    ('case abc in a*) echo 1;;& *c) echo 2;& z) echo 3;; *) echo 4;; esac; case \'a*\' in "a*") echo q;; esac; case x in a|x) echo or;; esac; case \'\' in \'\') echo e;; esac',
     '1\n2\n3\nq\nor\ne\n',
     0,
     ''),
    ('p=\'[ab]*\'; case abc in $p) echo pat;; esac; case abc in "$p") echo no;; *) echo lit;; esac; case \'[ab]*\' in "$p") echo same;; esac; case [a] in \\[a\\]) echo br;; esac',
     'pat\nlit\nsame\nbr\n',
     0,
     ''),
    ("case é in [[:alpha:]]) echo a;; esac; case É in [[:upper:]]) echo u;; esac; case b in [c-a]) echo no;; *) echo none;; esac; case a in [[:foo:]]) echo no;; *) echo none;; esac; case ']' in [!a]) echo n;; esac",
     'a\nu\nnone\nnone\nn\n',
     0,
     ''),
]


@pytest.mark.parametrize(("script", "stdout", "status", "stderr"), CASES)
def test_conditions(bash, script: str, stdout: str, status: int, stderr: str) -> None:
    assert bash(script) == (stdout, status, stderr)
