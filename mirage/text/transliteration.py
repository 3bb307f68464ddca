"""What `iconv -t ...//TRANSLIT` writes for a character that the target has not (glibc 2.41, locale C.UTF-8)."""
from __future__ import annotations

import unicodedata

_EXCEPTIONS = """\
	300-36f 591-5bd 5bf 5c1-5c2 5c4-5c5 5c7 610-61a 64b-65f 670 6d6-6dc 6df-6e4 6e7-6e8 6ea-6ed 897-89f
	8ca-8e1 8e3-8ff 1ab0-1ace 1dc0-1dff 200b 2060-2063 20d0-20f0 3099-309a fb1e fe00-fe0f fe20-fe2d feff
 0/3 	2189
 1/ 	215f
 1/10 	2152
 1/2 	bd
 1/3 	2153
 1/4 	bc
 1/5 	2155
 1/6 	2159
 1/7 	2150
 1/8 	215b
 1/9 	2151
 2/3 	2154
 2/5 	2156
 3/4 	be
 3/5 	2157
 3/8 	215c
 4/5 	2158
 5/6 	215a
 5/8 	215d
 7/8 	215e
!	a1 ac
!<	226e
!<->	21ae
!<=	21cd 2270
!<=>	21ce
!<>	2278
!<~	2274
!=	2260
!==	2262
!=>	21cf
!>	226f
!><	2279
!>=	2271
!>~	2275
!~	2241
!~-	2244
!~=	2247
!~~	2249
"	201c-201d 201f
#	29e3 29e5
&	204a
'	b4 2bc 2c8 2018-2019 201b
''	2dd
'n	149
(	27ee
((	27ec 2985
(0)	24ea
(1)	2460
(10)	2469
(11)	246a
(12)	246b
(13)	246c
(14)	246d
(15)	246e
(16)	246f
(17)	2470
(18)	2471
(19)	2472
(2)	2461
(20)	2473
(21)	3251
(22)	3252
(23)	3253
(24)	3254
(25)	3255
(26)	3256
(27)	3257
(28)	3258
(29)	3259
(3)	2462
(30)	325a
(31)	325b
(32)	325c
(33)	325d
(34)	325e
(35)	325f
(36)	32b1
(37)	32b2
(38)	32b3
(39)	32b4
(4)	2463
(40)	32b5
(41)	32b6
(42)	32b7
(43)	32b8
(44)	32b9
(45)	32ba
(46)	32bb
(47)	32bc
(48)	32bd
(49)	32be
(5)	2464
(50)	32bf
(6)	2465
(7)	2466
(8)	2467
(9)	2468
(A)	24b6
(B)	24b7
(C)	a9 24b8
(D)	24b9
(E)	24ba
(F)	24bb
(G)	24bc
(H)	24bd
(I)	24be
(J)	24bf
(K)	24c0
(L)	24c1
(M)	24c2
(N)	24c3
(O)	24c4
(P)	24c5
(Q)	24c6
(R)	ae 24c7
(S)	24c8
(T)	24c9
(TM)	2122
(U)	24ca
(V)	24cb
(W)	24cc
(X)	24cd
(Y)	24ce
(Z)	24cf
(a)	24d0
(b)	24d1
(c)	24d2
(d)	24d3
(e)	24d4
(f)	24d5
(g)	24d6
(h)	24d7
(i)	24d8
(j)	24d9
(k)	24da
(l)	24db
(m)	24dc
(n)	24dd
(o)	24de
(p)	24df
(q)	24e0
(r)	24e1
(s)	24e2
(t)	24e3
(u)	24e4
(v)	24e5
(w)	24e6
(x)	24e7
(y)	24e8
(z)	24e9
(|	2987
)	27ef
))	27ed 2986
*	2217
+	2020 250c 2510 2514 2518 251c 2524 252c 2534 253c 29fe
+-	b1
,	b8 201a
,,	201e
-	ad 2010-2013 2015 2212 2500 29ff
--	2014
->	2192
.	b7
/	f7 2044 2215 2571 27cb 29f8
:	2d0 2236
:)	263a-263b
<	2039 2329 27e8 29fc 3008
<-	2190
<->	2194
<3	2661 2665 2764
<<	ab 226a 27ea
<<<	22d8
<=	21d0 2264
<=>	21d4
<|	2989
=	30a0
=>	21d2
>	203a 232a 27e9 29fd 3009
>=	2265
>>	bb 226b 27eb
>>>	22d9
?	a8 af 1c4-1c6 2d8-2db 37a 384-385 1e9b 1fbd 1fbf-1fc1 1fcd-1fcf 1fdd-1fdf 1fed-1fee 1ffd-1ffe 2007 2017
?	203e 309b-309c fc5e-fc63 fe49-fe4c fe70 fe72 fe74 fe76 fe78 fe7a fe7c fe7e ffe3
A	23a 1d00
A/m	33df
ACK	2406
AE	c6 1e2 1fc 1d01
AMD	58f
B	181-182 243 299 1d03
BEL	2407
BS	2408
C	187 23b 1d04
C/kg	33c6
C=	20a1
CAN	2418
CE	20a0
CR	240d
Cr	20a2
D	d0 110 189-18b 1d05-1d06
DC1	2411
DC2	2412
DC3	2413
DC4	2414
DEL	2421
DLE	2410
Dong	20ab
E	190 246 1d07
EM	2419
ENQ	2405
EOT	2404
ESC	241b
ETB	2417
ETX	2403
EUR	20ac
F	191
FF	240c
FS	241c
Fr.	20a3
G	193 1e4 262 29b
GBP	a3
GEL	20be
GRD	20af
GS	241d
H	126 29c
HT	2409
I	196-197 26a 1d7b
ILS	20aa
INR	20b9
J	248 1d0a
JPY	a5
K	198 1d0b
KRW	20a9
KZT	20b8
L	13f 141 23d 29f 1d0c
L.	20a4
LF	240a
LL	1efa
M	1d0d
N	14a 19d 274
NAK	2415
NL	2424
NUL	2400
O	d8 1fe 1d0f
OE	152 276
OI	1a2
P	1a4 1d18
PHP	20b1
Pts	20a7
R	24c 280
RS	241e
RUB	20bd
Rx	211e
SI	240f
SO	240e
SOH	2401
SP	2420
SS	1e9e
STX	2402
SUB	241a
SYN	2416
T	166 1ac 1ae 23e 1d1b
TH	de
TL	20ba
U	244 1d1c 1d7e
UAH	20b4
US	241f
V	1b2 1d20 1efc
V/m	33de
VT	240b
W	1d21
Y	1b3 24e 28f 1efe
Z	1b5 224 1d22
[|	27e6
\\	2216 2572 27cd 29f5 29f9
^	2c6
_	2cd 2423
`	2cb 2035
``	2036
```	2037
a	1d8f 1e9a
ae	e6 1e3 1fd
b	180 183 253 1d6c 1d80
c	a2 188 23c 255
cm^2	33a0
cm^3	33a4
d	f0 111 18c 221 256-257 1d6d 1d81 1d91
db	238
dm^2	3378
dm^3	3379
dz	2a3 2a5
e	247 25b 1d92-1d93 212e
f	192 1d6e 1d82
g	1e5 260-261 1d83
h	127 266-267
hv	195
i	131 268 1d96
j	237 249 25f 29d
k	199 1d84
km^2	33a2
km^3	33a6
l	140 142 19a 234 26b-26d 1d85
ll	1efb
ls	2aa
lz	2ab
m	271 1d6f 1d86
m/s	33a7
m/s^2	33a8
m^2	33a1
m^3	33a5
mm^2	339f
mm^3	33a3
n	14b 19e 235 272-273 1d70 1d87
o	f8 1ff 2022 25e6
oe	153
oi	1a3
p	1a5 1d71 1d7d 1d88
q	138 2a0
qp	239
r	24d 27c-27e 1d72-1d73 1d89
rad/s	33ae
rad/s^2	33af
s	23f 282 1d74 1d8a 1e9c-1e9d
ss	df
t	167 1ab 1ad 236 288 1d75
th	fe 1d7a
ts	2a6
u	b5 289 3bc 1d99
uA	3382
uF	338c
uV	33b6
uW	33bc
ue	1d6b
ug	338d
ul	3395
um	339b
us	33b2
v	28b 1d8c 1efd
x	d7 1d8d
y	1b4 24f 1eff
z	1b6 225 240 290-291 1d76 1d8e
{|	2983
|	a6 2223 2502
|)	2988
|>	298a
|]	27e7
||	2225
|||	2980
|}	2984
~	2dc 223c
"""
"""Replacement, tab, code points in hexadecimal: where it is not the compatibility decomposition without its marks."""

_table: dict[str, str] = {}


def replacement(char: str) -> str:
    """The text that stands for `char`; `?` where there is none."""
    if not _table:
        for row in _EXCEPTIONS.splitlines():
            text, codes = row.split("\t")
            for code in codes.split():
                first, _, last = code.partition("-")
                for number in range(int(first, 16), int(last or first, 16) + 1):
                    _table[chr(number)] = text
    found = _table.get(char)
    if found is not None:
        return found
    plain = "".join(c for c in unicodedata.normalize("NFKD", char) if not unicodedata.combining(c))
    return plain if plain and plain.isascii() else "?"
