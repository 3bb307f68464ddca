"""echo and printf."""
from __future__ import annotations

import pytest

CASES = [
    ("echo -n a; echo -e 'b\\tc\\x41\\101\\0101\\c ignored'; echo; echo -E 'a\\t'; echo -x - --",
     'ab\tcA\\101A\na\\t\n-x - --\n',
     0),
    ("echo -ne 'x\\n'; echo -e '\\u00e9\\e[0m' | od -An -tx1", 'x\n c3 a9 1b 5b 30 6d 0a\n', 0),
    ("shopt -s xpg_echo; echo 'a\\tb'", 'a\tb\n', 0),
    ("printf '%s-%d|' a 1 b; echo", 'a-1|b-0|\n', 0),
    ("printf '%5s|%-5s|%.2s|%5.1s|\\n' abc abc abc abc", '  abc|abc  |ab|    a|\n', 0),
    ("printf '%5s|%.1s|\\n' é é | od -An -tx1", ' 20 20 20 c3 a9 7c c3 7c 0a\n', 0),
    ("printf '%d %i %o %x %X %u\\n' 10 -10 8 255 255 -1", '10 -10 10 ff FF 18446744073709551615\n', 0),
    ("printf '%+d|% d|%05d|%-5d|%.3d|%#x|%#o\\n' 5 5 5 5 5 255 8", '+5| 5|00005|5    |005|0xff|010\n', 0),
    ('printf \'%d %d %d %d\\n\' 0x1F 017 "\'A" \'"é\'', '31 15 65 233\n', 0),
    ("printf '%f %.2f %e %g %G %a\\n' 1.5 2.675 12345.678 1e10 1e-10 1",
     '1.500000 2.67 1.234568e+04 1e+10 1E-10 0x8p-3\n',
     0),
    ("printf '%.20f %g %f\\n' 0.1 inf -nan", '0.10000000000000000000 inf -nan\n', 0),
    ("printf '%*d|%-*d|%.*f\\n' 5 1 5 2 2 3.14159", '    1|2    |3.14\n', 0),
    ("printf '%b|' 'a\\tb' '\\0101' 'x\\cy' z; echo", 'a\tb|A|x\n', 0),
    ('printf \'%q \' \'two words\' "it\'s" \'\' \'~\' \'a=b\' $\'nl\\n\' é \'#x\'; echo',
     "two\\ words it\\'s '' \\~ a=b $'nl\\n' é \\#x \n",
     0),
    ("printf '%Q %.3q|\\n' 'a b' 'abcd'", 'a\\ b abc|\n', 0),
    ("printf '%(%Y-%m-%d %H:%M:%S)T\\n' 86399", '1970-01-01 23:59:59\n', 0),
    ("TZ=Asia/Tokyo; printf '%(%H %Z %z)T\\n' 0", '09 JST +0900\n', 0),
    ("printf '%c%c|\\n' hello w", 'hw|\n', 0),
    ('printf \'\\x41\\101\\u00e9\\?\\"\\q\\n\'', 'AAé?"\\q\n', 0),
    ("printf '100%%\\n'", '100%\n', 0),
    ("printf '%d\\n' 12x; echo $?", '12\n1\n', 0, 'bash: line 1: printf: 12x: invalid number\n'),
    ("printf '%d\\n' word; echo $?", '0\n1\n', 0, 'bash: line 1: printf: word: invalid number\n'),
    ("printf '%d\\n' 9223372036854775808; echo $?",
     '9223372036854775807\n0\n',
     0,
     'bash: line 1: printf: warning: 9223372036854775808: Numerical result out of range\n'),
    ("printf '%d\\n' 08; echo $?", '0\n1\n', 0, 'bash: line 1: printf: 08: invalid octal number\n'),
    ("printf '%f\\n' 1.5x; echo $?", '1.500000\n1\n', 0, 'bash: line 1: printf: 1.5x: invalid number\n'),
    ("printf '%y\\n' 1; echo $?", '1\n', 0, "bash: line 1: printf: `y': invalid format character\n"),
    ("printf 'start%'; echo $?", 'start1\n', 0, "bash: line 1: printf: `%': missing format character\n"),
    ('printf -v var \'%03d\' 7; printf -v \'arr[2]\' %s x; printf -v \'nul\' \'a\\0b\'; echo "$var '
     '${arr[2]} $nul"',
     '007 x a\n',
     0),
    ('printf -v 1x a; echo $?', '2\n', 0, "bash: line 1: printf: `1x': not a valid identifier\n"),
    ('printf; echo $?', '2\n', 0, 'printf: usage: printf [-v var] format [arguments]\n'),
    ("printf 'abc%n\\n' count; echo $count", 'abc\n3\n', 0),
    ("printf %d-; echo; printf '%s' ''; echo $?", '0-\n0\n', 0),
    ("printf -- '%s\\n' --", '--\n', 0),
]


@pytest.mark.parametrize("case", CASES, ids=[case[0][:50] for case in CASES])
def test_output(bash, case):
    script, stdout, status, stderr = (*case, "")[:4]
    assert bash(script) == (stdout, status, stderr)
