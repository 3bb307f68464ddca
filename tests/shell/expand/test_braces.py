"""Brace expansion. Expected values are those of bash 5.2.37."""

from __future__ import annotations

import pytest

CASES = [
    ('echo {a,b,c} x{1,2}y {a,{b,c}d} {a,b}{1,2} {,a}b a{,b} {a,b,}',
     'a b c x1y x2y a bd cd a1 a2 b1 b2 b ab a ab a b\n',
     0,
     ''),
    ('echo {1..5} {5..1} {1..10..3} {-2..2} {10..1..-4} {a..e} {e..a..2} {A..C} {3..3}',
     '1 2 3 4 5 5 4 3 2 1 1 4 7 10 -2 -1 0 1 2 10 6 2 a b c d e e c a A B C 3\n',
     0,
     ''),
    ('echo {01..10} {001..3} {-02..1} {1..03} {+1..+3}',
     '01 02 03 04 05 06 07 08 09 10 001 002 003 -02 -01 000 001 01 02 03 1 2 3\n',
     0,
     ''),
    ('echo {} {a} {a..} {1..a} {1.2..3} "{a,b}" \'{a,b}\' {a\\,b,c} {a,b\\} \\{a,b}',
     '{} {a} {a..} {1..a} {1.2..3} {a,b} {a,b} a,b c {a,b} {a,b}\n',
     0,
     ''),
    ('x=v; echo {$x,b} {$x}{1,2} ${x}{1,2} "$x"{1,2} {"a b",c} {$((1 + 1)),$(echo s)}',
     'v b {v}1 {v}2 v1 v2 v1 v2 a b c 2 s\n',
     0,
     ''),
    ('echo {{1..2},{a,b}} a{b,c{d,e}}f {1..2}{a..b}{x,y}',
     '1 2 a b abf acdf acef 1ax 1ay 1bx 1by 2ax 2ay 2bx 2by\n',
     0,
     ''),
    ('x_c=long; x=short; echo {$x,b}_{c,d}',
     'long b_c b_d\n',
     0,
     ''),
    ('set +B; echo {a,b} {1..3}; set -B; echo {a,b}',
     '{a,b} {1..3}\na b\n',
     0,
     ''),
    ('for i in {1..3}; do printf \'%s.\' $i; done; a=({1..4}); echo ${#a[@]}; printf \'<%s>\' {,x,y} "{1..2}"',
     '1.2.3.4\n<x><y><{1..2}>',
     0,
     ''),
]


@pytest.mark.parametrize(("script", "stdout", "status", "stderr"), CASES)
def test_braces(bash, script: str, stdout: str, status: int, stderr: str) -> None:
    assert bash(script) == (stdout, status, stderr)
