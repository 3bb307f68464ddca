"""Builtin functions and variables of awk, the order of arrays, redirections."""
from __future__ import annotations

import pytest

from tests.commands.harness import Bench

DATA = 'a b c\nd e f\n'
# (program, output, messages, exit status)
CASES = [
    ('BEGIN{print substr("hello",2,3), substr("hello",0), substr("hello",4,10), substr("hello",6) "|"}', 'ell hello lo |\n', '', 0),
    ('BEGIN{print index("abc","c"), index("abc","x"), length("héllo"), toupper("é"), tolower("ÀB")}', '3 0 5 É àb\n', '', 0),
    ('BEGIN{print match("foobar","o+"), RSTART, RLENGTH, match("x","y"), RSTART, RLENGTH}', '2 2 2 0 0 -1\n', '', 0),
    ('BEGIN{print match("foobar",/(o+)(b)/,m), m[0], m[1], m[2], m[1,"start"], m[2,"length"]}', '2 oob oo b 2 1\n', '', 0),
    ('BEGIN{s="aaa"; print gsub(/a/,"b&\\\\&",s), s; t="hello"; sub(/l+/,"[&]",t); print t}', '3 ba&ba&ba&\nhe[ll]o\n', '', 0),
    ('BEGIN{s="abc"; gsub(//,"-",s); print s; gsub(/$/,"!",s); print s; u="aaa"; print gsub(/^a/,"b",u), u}', '-a-b-c-\n-a-b-c-!\n1 baa\n', '', 0),
    ('BEGIN{s="a.b"; gsub(".","x",s); print s; s="a.b"; gsub("\\\\.","x",s); print s; s="x"; sub(/x/,"a\\\\\\\\&b",s); print s}', 'xxx\naxb\na\\xb\n', '', 0),
    ('{sub($1,"<&>"); print; gsub(/[a-z]/,"(&)",$2); print}', '<a> b c\n<a> (b) c\n<d> e f\n<d> (e) f\n', '', 0),
    ('BEGIN{print gensub(/(.)(.)/,"\\\\2\\\\1","g","abcd"), gensub(/a/,"x",2,"aaa"), gensub(/b(.)/,"[\\\\1\\\\0&]",1,"abcabd")}', 'badc axa a[cbcbc]abd\n', '', 0),
    ('BEGIN{n=split("a:b:c",x,":"); print n,x[1],x[3]; print split("",x), length(x); n=split("abc",x,""); print n,x[2]}', '3 a c\n0 0\n3 b\n', '', 0),
    ('BEGIN{n=split(" a  b ",x); print n,x[1]; n=split("a1b22c",x,/[0-9]+/,s); print n,s[1],s[2]; n=split(" a b ",y," ",z); print n, "[" z[0] "]" z[1] "]" z[2] "]"}', '2 a\n3 1 22\n2 [ ] ] ]\n', '', 0),
    ('BEGIN{n=patsplit("a1b22",x,/[0-9]+/,s); print n,x[1],x[2],s[0],s[1]}', '2 1 22 a b\n', '', 0),
    ('BEGIN{printf "%d %i %5.2f|%-5s|%05d|%+d|% d|%x|%X|%o|%c|%c|%e|%g|%%\\n",3.9,-2,3.14159,"ab",42,7,8,255,255,8,65,"hello",12345.678,1e10}', '3 -2  3.14|ab   |00042|+7| 8|ff|FF|10|A|h|1.234568e+04|1e+10|%\n', '', 0),
    ('BEGIN{printf "%2$s %1$s|%*d|%-*d|%.*f|%5c|%.3s\\n","a","b"}', '', "awk: cmd. line:1: fatal: fatal: must use `count$' on all formats or none\n", 2),
    ('BEGIN{printf "%*d|%-*d|%.*f|%5c|%.3s|%#x|%u\\n",5,42,5,42,2,3.14159,"xyz","abcdef",255,-1}', '   42|42   |3.14|    x|abc|0xff|18446744073709551615\n', '', 0),
    ('BEGIN{printf "%d %d %x\\n", "0x1A", 2^63, -1}', '0 9223372036854775808 ffffffffffffffff\n', '', 0),
    ('BEGIN{print and(12,10), or(12,10), xor(12,10), lshift(1,4), rshift(16,2), compl(0), strtonum("0x1F"), strtonum("017")}', '8 14 6 16 4 9007199254740991 31 15\n', '', 0),
    ('BEGIN{print int(-3.7), int("3abc"), sqrt(2), exp(1), log(10), sin(1), cos(1), atan2(1,2)}', '-3 3 1.41421 2.71828 2.30259 0.841471 0.540302 0.463648\n', '', 0),
    ('BEGIN{print rand(), rand(); print srand(5), srand(7); srand(5); print rand(), rand()}', '0.924046 0.593909\n1 5\n0.1978 0.779258\n', '', 0),
    ('BEGIN{print strftime("%Y-%m-%d %H:%M:%S",0), mktime("2020 01 02 03 04 05"), strftime("%A",86400,1), mktime("bad")}', '1970-01-01 00:00:00 1577934245 Friday -1\n', '', 0),
    ('BEGIN{a["x"]=3;a["y"]=1;a["z"]=2; n=asort(a,b); print n,b[1],b[3]; n=asorti(a,c); print c[1],c[3]}', '3 1 3\nx z\n', '', 0),
    ('BEGIN{a["x"]=3;a["y"]=1;a["z"]=2; PROCINFO["sorted_in"]="@val_num_desc"; for(k in a) print k; PROCINFO["sorted_in"]="@ind_str_asc"; for(k in a) print k}', 'x\nz\ny\nx\ny\nz\n', '', 0),
    ('function cmp(i1,v1,i2,v2){return v2-v1} BEGIN{a["x"]=3;a["y"]=1;a["z"]=2; PROCINFO["sorted_in"]="cmp"; for(k in a) print k; asort(a,b,"cmp"); print b[1]}', 'x\nz\ny\n3\n', '', 0),
    ('BEGIN{for(i=1;i<=12;i++) a[i]; for(k in a) printf "%s ",k; print ""}', '1 2 3 4 5 6 7 8 9 10 11 12 \n', '', 0),
    ('BEGIN{for(i=-4;i<=4;i++) a[i]; for(k in a) printf "%s ",k; print ""}', '0 4 -4 -1 3 -3 -2 2 1 \n', '', 0),
    ('BEGIN{n=split("apple banana cherry date fig grape kiwi lemon mango",x); for(i=1;i<=n;i++) a[x[i]]; for(k in a) printf "%s ",k; print ""}', 'mango fig apple banana grape lemon cherry kiwi date \n', '', 0),
    ('BEGIN{for(i=1;i<=90;i++) a["key" i]; for(k in a) printf "%s ",k; print ""}', 'key1 key2 key20 key3 key21 key4 key22 key5 key23 key6 key24 key7 key25 key8 key26 key40 key9 key27 key41 key28 key42 key29 key43 key44 key45 key46 key60 key47 key61 key48 key62 key49 key63 key64 key65 key66 key80 key67 key81 key68 key82 key69 key83 key84 key85 key86 key87 key88 key89 key10 key11 key12 key13 key14 key15 key16 key17 key30 key18 key31 key19 key32 key33 key34 key35 key36 key50 key37 key51 key38 key52 key39 key53 key54 key55 key56 key70 key57 key71 key58 key72 key59 key73 key74 key75 key76 key90 key77 key78 key79 \n', '', 0),
    ('BEGIN{a["x"];a[1];a["y"];a[2];a["01"];a[1.5];a[-1]; for(k in a) printf "%s ",k; print ""}', '-1 x y 1.5 01 1 2 \n', '', 0),
    ('BEGIN{for(i=0;i<40;i++) a[i*7919+13]; for(k in a) printf "%s ",k; print ""}', '237583 308854 285097 300935 87122 95041 213826 110879 197988 229664 245502 142555 205907 277178 293016 190069 261340 221745 166312 253421 134636 182150 102960 118798 150474 158393 269259 126717 174231 13 7932 15851 23770 31689 39608 47527 55446 63365 71284 79203 \n', '', 0),
    ('BEGIN{print typeof(x), typeof("s"), typeof(1), typeof(@/x/), typeof($1); $0="3 x"; print typeof($1), typeof($2), typeof($9)}', 'untyped string number regexp unassigned\nstrnum string unassigned\n', '', 0),
    ('BEGIN{IGNORECASE=1; print "ABC"~/abc/, "ABC"=="abc", index("ABC","b")}', '1 1 2\n', '', 0),
    ('BEGIN{FIELDWIDTHS="2 1 *"} {print $1 "|" $2 "|" $3}', 'a |b| c\nd |e| f\n', '', 0),
    ('BEGIN{FPAT="[a-z]"} {print $1 "|" $2 "|" NF}', 'a|b|3\nd|e|3\n', '', 0),
    ('BEGIN{RS="b"} {print NR": "$0, RT}', '1: a  b\n2:  c\nd e f\n \n', '', 0),
    ('BEGIN{RS=""} {print NR": "$1, NF}', '1: a 6\n', '', 0),
    ('BEGIN{RS="[0-9 ]+"} {print $0 "|" RT}', 'a| \nb| \nc\nd| \ne| \nf\n|\n', '', 0),
    ('BEGIN{FS=","} {print $1}', 'a b c\nd e f\n', '', 0),
    ('BEGIN{print 1e308*10, -1e308*10, "+inf"+0, "nan"+0, "+nan"+0}', '+inf -inf +inf 0 +nan\n', '', 0),
    ('BEGIN{print "A" > "/dev/stderr"; print "B"; printf "C\\n" > "/dev/stdout"}', 'B\nC\n', 'A\n', 0),
    ('BEGIN{print > "out"; print "x" >> "out"; close("out"); while((getline l < "out")>0) print "l:" l; print close("out"), close("none")}', 'l:\nl:x\n0 -1\n', '', 0),
    ('BEGIN{print (getline l < "/nonexistent"), ERRNO}', '-1 No such file or directory\n', '', 0),
    ('BEGIN{print toupper(substr("abc",1,1)) substr("abc",2), sprintf("%03d",7)}', 'Abc 007\n', '', 0),
]


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


@pytest.mark.parametrize(("program", "expected", "messages", "status"), CASES)
def test_program(bench: Bench, program: str, expected: str, messages: str, status: int) -> None:
    out, err, got = bench.run(["awk", program], DATA)
    assert (out.decode(), err.decode(), got) == (expected, messages, status)
