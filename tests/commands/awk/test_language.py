"""The awk language: expressions, statements, functions, records, and its errors."""
from __future__ import annotations

import pytest

from tests.commands.harness import Bench

DATA = 'a b c\nd e f\n'
# (program, output, messages, exit status)
CASES = [
    ('{print $2, $NF, $(NF-1), NF, NR}', 'b c b 3 1\ne f e 3 2\n', '', 0),
    ('{$2="X"; print; $5="y"; print; print NF}', 'a X c\na X c  y\n5\nd X f\nd X f  y\n5\n', '', 0),
    ('{NF=2; print; $0="p q r"; print $2, NF}', 'a b\nq 3\nd e\nq 3\n', '', 0),
    ('NR==2', 'd e f\n', '', 0),
    ('/a/,/d/ {print "in", NR} END {print NR}', 'in 1\nin 2\n2\n', '', 0),
    ('$1=="a"{print "A";next} {print "other"}', 'A\nother\n', '', 0),
    ('BEGIN{x="A"; y=x x; print y y, length(y)}', 'AAAA 2\n', '', 0),
    ('BEGIN{print 1+2*3^2, -2^2, 2^3^2, 7%3, -7%3, !1, !"", 1/4}', '19 -4 512 1 -1 0 1 0.25\n', '', 0),
    ('BEGIN{print 1==1.0, "a"<"b", "10"<"9", 10<9, "abc"~/b/, "x"!~"y"}', '1 1 1 0 1 1\n', '', 0),
    ('{print ($1==0), ($1<5)}', '0 0\n0 0\n', '', 0),
    ('BEGIN{print -1 " " -1, 1 " " 2, 3 -1, "a" -1}', '-1-1 1 2 2 -1\n', '', 0),
    ('BEGIN{a="x"; b=a++; print a, b, ++a, a--, a, a+=5, a^=2, a%=7}', '1 0 2 2 1 6 36 1\n', '', 0),
    ('BEGIN{while(i<3){i++; if(i==2)continue; print i}; do j++; while(j<5); print j; for(;;) if(++k>3) break; print k}', '1\n3\n5\n4\n', '', 0),
    ('BEGIN{for(i=1;i<4;i++) for(j=1;j<4;j++) {if(j==2) break; print i j}}', '11\n21\n31\n', '', 0),
    ('BEGIN{switch("abc"){case /b/: print "re"; case "x": print "falls"; break; default: print "d"}}', 're\nfalls\n', '', 0),
    ('BEGIN{for(i=0;i<4;i++) switch(i){case 1: continue; case 2: print "two"; break; default: print "d" i}}', 'd0\ntwo\nd3\n', '', 0),
    ('BEGIN{x = 1 ? 2 ? "a" : "b" : "c"; print x; print 1>2 ? "p" : "q" > "/dev/stdout"}', '', 'awk: cmd. line:1: BEGIN{x = 1 ? 2 ? "a" : "b" : "c"; print x; print 1>2 ? "p" : "q" > "/dev/stdout"}\nawk: cmd. line:1:                                                       ^ syntax error\n', 1),
    ('BEGIN{if(!(3 in a)) print "no"; if(x==0 && x=="") print "unset"; print length(x)}', 'no\nunset\n0\n', '', 0),
    ('BEGIN{a["k"]; if("k" in a) print "in"; delete a["k"]; print ("k" in a); a[1,2]=3; for(k in a){split(k,p,SUBSEP); print p[1],p[2]}; if((1,2) in a) print "yes"}', 'in\n0\n1 2\nyes\n', '', 0),
    ('BEGIN{a[1][2]=3; a[1][4]=5; print a[1][2], length(a[1]), isarray(a[1]); for(i in a) for(j in a[i]) print i,j,a[i][j]}', '3 2 1\n1 2 3\n1 4 5\n', '', 0),
    ('function f(n){return n<=1?1:n*f(n-1)} BEGIN{print f(10), f(20), f(25)}', '3628800 2432902008176640000 15511210043330986055303168\n', '', 0),
    ('function f(a,  b){b[1]=a; return b[1]} BEGIN{print f(3), f(4)}', '3 4\n', '', 0),
    ('function set(arr,k){arr[k]="v"} BEGIN{set(m,"q"); print m["q"]}', 'v\n', '', 0),
    ('function g(n){if(n==0) return 0; return 1+g(n-1)} BEGIN{print g(3000)}', '3000\n', '', 0),
    ('function h(x){x=5} BEGIN{y=1; h(y); print y, h(2) "|"}', '1 |\n', '', 0),
    ('BEGIN{f="g"; print @f(3)} function g(a){return a*2}', '6\n', '', 0),
    ('BEGIN{exit 3} END{print "end"}', 'end\n', '', 3),
    ('{exit} END{print "end" NR; exit 4}', 'end1\n', '', 4),
    ('function q(){exit 5} {q()} END{print "done"}', 'done\n', '', 5),
    ('BEGIN{printf "%s %d\\n"}', '', "awk: cmd. line:1: fatal: not enough arguments to satisfy format string\n\t`%s %d\n'\n\t ^ ran out for this one\n", 2),
    ('BEGIN{print 1/0}', '', 'awk: cmd. line:1: error: division by zero attempted\n', 1),
    ('{x=0; print 1/x}', '', 'awk: cmd. line:1: (FILENAME=- FNR=1) fatal: division by zero attempted\n', 2),
    ('BEGIN{print $(-1)}', '', 'awk: cmd. line:1: fatal: attempt to access field -1\n', 2),
    ('BEGIN{NF=-1}', '', 'awk: cmd. line:1: fatal: NF set to negative value\n', 2),
    ('BEGIN{x["a"]=1; print x}', '', "awk: cmd. line:1: fatal: attempt to use array `x' in a scalar context\n", 2),
    ('BEGIN{print nosuch(1)}', '', "awk: cmd. line:1: fatal: function `nosuch' not defined\n", 2),
    ('BEGIN{print substr("x"}', '', 'awk: cmd. line:1: BEGIN{print substr("x"}\nawk: cmd. line:1:                       ^ syntax error\n', 1),
    ('BEGIN{print "abc', '', 'awk: cmd. line:1: BEGIN{print "abc\nawk: cmd. line:1:             ^ unterminated string\n', 1),
    ('BEGIN{return}', '', "awk: cmd. line:1: BEGIN{return}\nawk: cmd. line:1:       ^ `return' used outside function context\n", 1),
    ('BEGIN{nextfile}', '', "awk: cmd. line:1: error: `nextfile' used in BEGIN action\n", 1),
    ('BEGIN{print 1==1==1}', '', 'awk: cmd. line:1: BEGIN{print 1==1==1}\nawk: cmd. line:1:                 ^ syntax error\n', 1),
    ('BEGIN{getline; print "got " $0; getline x; print x, NR; print getline, $0}', 'got a b c\nd e f 2\n0 a b c\n', '', 0),
    ('BEGIN{print -0, 1e30, 2^53+1, 0.1+0.2, 1e-5, 100000*100000, 3.0, "3.0", "3.0"+0, "0x1A"+0, ".5"+0, "1e3x"+0}', '0 1000000000000000019884624838656 9007199254740992 0.3 1e-05 10000000000 3 3.0 3 0 0.5 1000\n', '', 0),
    ('BEGIN{print 0x10, 011, 1e3, .5, 5., 1e, 2}', '16 9 1000 0.5 5 1 2\n', '', 0),
    ('BEGIN{CONVFMT="%.2g"; x=3.14159; y=x ""; print y; OFMT="%.3g"; print x, x ""}', '3.1\n3.14 3.1\n', '', 0),
    ('BEGIN{OFS="-"; $0="a b c"; $1=$1; print; NF=NF; print $0}', 'a-b-c\na-b-c\n', '', 0),
    ('BEGIN{printf "%s\\n", "a" "b"; print("x")("y"); print(1,2)}', 'ab\nxy\n1 2\n', '', 0),
    ('BEGIN{regex="^[a-c]+$"; print "abc"~regex, "abd"~regex, "a.b"~"a\\\\.b"}', '1 0 1\n', '', 0),
    ('BEGIN { if (1)\nprint "a"\nelse\nprint "b" }', 'a\n', '', 0),
]


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


@pytest.mark.parametrize(("program", "expected", "messages", "status"), CASES)
def test_program(bench: Bench, program: str, expected: str, messages: str, status: int) -> None:
    out, err, got = bench.run(["awk", program], DATA)
    assert (out.decode(), err.decode(), got) == (expected, messages, status)
