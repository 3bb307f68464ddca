"""Templates of what scripts do beside plain commands: traps, here-documents, descriptors, declarations, ...

In a template `«a¦b¦c»` is one of the alternatives (they may be nested), and a slot stands for something generated:
`§W` a word, `§E` an expansion, `§I` the inside of double quotes, `§V` a quoted value, `§P` a pattern, `§A` arithmetic,
`§N` a number, `§C` a simple command on one line, `§B` a body (one or two commands), `§T` a test, `§X` a name.
"""
from __future__ import annotations

import re
from collections.abc import Callable

_INNERMOST = re.compile("«([^«»]*)»")
_SLOT = re.compile("§([A-Z])")

FEATURES: dict[str, tuple[str, ...]] = {
    "trap": (
        "trap 'echo \"«bye¦$?¦$LINENO¦$BASH_COMMAND¦${FUNCNAME[0]}¦$1¦$x»\"' «EXIT¦ERR¦DEBUG¦RETURN¦EXIT ERR¦0»\n§C\n«§C¦false¦(exit 3)¦f() { §C; return 2; }; f»",
        "trap 'echo usr $?; «:¦false¦§C¦return 4¦break»' USR1\nkill -USR1 $$; echo after\n«§C¦f() { kill -USR1 $$; echo in; }; f; echo $?¦for i in 1 2; do kill -USR1 $$; echo $i; done»",
        "f() { trap 'echo ret $?' RETURN; «§C¦return 3¦:»; }\nf «a b¦»; echo \"$?\"; «f2() { :; }; f2¦trap -p RETURN¦source ./s.sh»",
        "set «-E¦-T¦-ET¦-eE»\ntrap 'echo \"T $LINENO $?\"' «ERR¦DEBUG¦RETURN»\nf() { «false¦:¦§C¦return 1»; }\n«f¦f || echo no¦if f; then echo y; fi¦(f)¦x=$(f); echo \"$x\"¦f | cat¦! f»; echo end",
        "( trap 'echo sub' EXIT; «exit 2¦§C¦false¦:» ); echo $?",
        "x=$(trap 'echo sub' EXIT; §C); echo \"$x\"",
        "trap «'echo a'¦''¦-» «INT¦TERM¦HUP¦USR2»; trap -p; (trap -p); «trap - TERM INT; trap -p¦trap -l | head -n1¦trap -p INT»",
        "set -e; trap 'echo «err¦$?¦$LINENO»' «ERR¦EXIT»\n§C\n«false¦(exit 5)¦[[ a == b ]]¦(( 0 ))¦f() { false; echo no; }; f¦x=$(false)¦local x¦! true¦true | false»\necho end",
        "trap 'trap - «EXIT¦ERR»; echo once' «EXIT¦ERR»; false; exit 4",
        "f() { trap 'echo dbg' DEBUG; §C; trap - DEBUG; }; f; echo end",
        "trap '«exit 7¦§C; exit¦(exit 3)¦false»' EXIT; «exit 2¦false¦§C¦:»",
        "kill -TERM $BASHPID; echo $?", "(kill -«TERM¦KILL¦USR1¦HUP¦9» $BASHPID); echo $?", "bash -c 'kill -«TERM¦INT¦9» $$'; echo $?",
        "trap 'echo chld' CHLD; (exit 1); true | false; echo x", "trap 'echo \"dbg: $BASH_COMMAND\"' DEBUG\n§B\n«for i in 1 2; do §C; done¦[[ a ]]¦(( 1 ))¦case a in a) echo c;; esac¦x=1 y=2»\ntrap - DEBUG",
    ),
    "heredoc": (
        "cat «<<¦<<-»«E¦'E'¦\"E\"¦\\E»\n\t§I\n$x `echo hi` \\$x \\\\ $(( 1 + 1 )) ${a:-«b¦'q'¦\"d e\"¦$(echo $x)»}\n\\\n\tend\n§I\nE",
        "f() { cat <<E; }\n$1 §I\nE\nf «a¦'b c'¦\"$x\"»; f",
        "x=$(cat <<E\n§I\nE\n)\necho \"[$x]\"", "cat <<A; cat <<'B'\n§I\nA\n$x §I\nB", "cat <<A - <<B\n1\nA\n2 $x\nB", "cat 3<<A <<B «<&3¦0<&3¦»\n1 §I\nA\n2\nB",
        "while read -r l; do echo \"<$l>\"; done <<E\n§I\n  two  words\nE", "cat <<E | «tr a-z A-Z¦wc -c¦while read l; do echo \"[$l]\"; done»\n§I\nE", "for i in 1 2; do cat <<E\n$i §I\nE\ndone",
        "x=$(cat <<'E'\n$x ) \"quote\nE\n); echo \"$x\"", "cat <<E\n$(cat <<F\ninner $x\nF\n)\nouter\nE", "cat <<\"E F\"\n$x\nE F", "if cat <<E; then echo y; fi\n§I\nE", "{ cat; echo -; cat; } <<E\n§I\nE",
        "cat <<E && echo yes || echo no\n${x«:-¦-¦:+¦+¦:=¦#¦%¦^^¦,,»«w¦'w'¦\"w\"¦a b¦\\$¦*»}\n${arr[«@¦*¦0»]} \"$*\" '$x'\nE", "cat <<E\n\"${a}\" \\\"q\\\" \\`b\\` \\a \\\n joined «$((x++))¦$x$a¦${#a}¦$'q'¦~»\nE",
        "cat <<E\nno end", "eval 'cat <<E\n$x §I\nE'", "f() { while read -r x; do echo \"$x\"; done <<E\n$1\n$2\nE\n}; f 'a b' «c¦\"$a\"»; declare -f f", "cat <<-E\n\t\ttabs\n\t  $x\n\tE", "read -r x y <<E\n§I\nE\necho \"$x|$y\"", "cat <<< «§W¦\"§I\"¦$'a\\nb'¦{a,b}¦*¦~» «<<< b¦»",
        "mapfile -t arr <<E\n§I\nb\n\nc\nE\necho \"${#arr[@]} ${arr[@]}\"", "(cat <<E\n§I\nE\n) | cat", "echo `cat <<E\n$x\nE\n`", "cat <<E >out.txt; cat out.txt\n§I\nE", "case $(cat <<E\nabc\nE\n) in a*) echo m;; esac",
    ),
    "getopts": (
        "set -- «-a -b val rest¦-ab¦-bval -c x¦-x -a¦-b¦-- -a¦-a -- -b¦-a x -b y¦-abc val¦-?¦-:¦''»\nwhile getopts «ab:c¦:ab:c¦ab:¦:b:¦a:b:» o; do echo \"$o ${OPTARG-unset} $OPTIND\"; done; echo \"end $o $OPTIND $?\"; shift $((OPTIND - 1)); echo \"$@\"",
        "f() { local OPTIND«=1¦» o; while getopts «xy:¦:xy:» o \"$@\"; do case $o in x) echo X;; y) echo \"Y$OPTARG\";; «\\?¦*») echo \"bad $OPTARG\";; :) echo \"arg $OPTARG\";; esac; done; echo $OPTIND; }; f «-x -y 1¦-y¦-z¦-xy2 r»; f -x",
        "getopts ab: o «-a -b v¦-b¦-q¦-ab¦x» 2>&1; echo \"$? $o $OPTARG $OPTIND\"; getopts ab: o -a -b v; echo \"$? $o $OPTARG $OPTIND\"", "OPTERR=0; getopts :a: o -a; echo \"$o $OPTARG\"; getopts a: o -a 2>&1; echo $?; getopts; getopts a 2>&1",
    ),
    "mapfile": (
        "«mapfile¦readarray» «-t¦-n 2¦-s 1¦-t -n 1 -s 1¦-O 2¦-t -O 3¦-d :¦-d ''¦-t -d ,¦-C 'echo cb' -c 1¦-t -C 'echo cb' -c 2¦-u 3¦-u 3 -t» «arr¦x¦m¦»  «< f.txt¦<<< \"§I\"¦< <(printf 'a:b,c\\nd:e\\n')¦3< f.txt < a.txt¦< B.txt»; echo $?; declare -p arr MAPFILE x 2>&1",
        "f() { local -a l; mapfile -t l < «f.txt¦nope¦a.txt»; echo \"${#l[@]} ${l[0]}\"; }; f; declare -p l", "mapfile -t arr < <(«§C¦seq 3¦printf 'a\\n\\nb'¦printf ''»); for i in \"${!arr[@]}\"; do echo \"$i=${arr[i]}\"; done", "readonly -a r=(1); mapfile r < f.txt; echo $?; mapfile -t 1x; echo $?; mapfile -n x a; echo $?; mapfile -O -1 a < a.txt; echo $?",
    ),
    "read": (
        "read «-r¦-d :¦-d ''¦-n 2¦-n 0¦-N 3¦-N 10¦-a arr¦-ra arr¦-s¦-t 0¦-p prompt¦-d x -r¦-rd ''¦-n1 -r» «x¦x y¦x y a¦» <<< «§W¦\"§I\"¦'a b c'¦' a\\ b '¦$'a\\nb'¦'x:y:z'¦'a\\'»; echo \"$? [$x] [$y] [$a] [$REPLY]\"; «declare -p arr¦»",
        "IFS=«:¦,¦' '¦''¦' :'¦x¦$'\\n'¦'\\'» read «-r¦¦-a arr¦-ra arr» «x y¦x¦x y a¦» <<< «'a:b:c'¦' a : b '¦'::'¦'a,b,,c,'¦'a::b::'¦§W¦'a\\:b:c'¦' x'»; echo \"[$x] [$y] [$a] [$REPLY] ${#arr[@]} ${arr[*]@Q}\"",
        "while «read -r¦IFS= read -r¦read¦IFS=: read -r¦read -n 3¦read -rd ' '» x «y¦»; do echo \"<$x|$y>\"; done < «f.txt¦a.txt¦<(printf 'a b\\nc')¦<(printf 'x\\\\\\ny z\\n\\n')»; echo \"$x|$y|$?\"",
        "exec 3< f.txt; read -u 3 x; read -ru 3 y; read -u 3 -n 2 a; echo \"$x|$y|$a\"; exec 3<&-; read -u 3 x; echo $?", "printf 'a\\0b\\0' | while IFS= read -rd '' x; do echo \"[$x]\"; done", "read x < B.txt; echo $?; read -n 5 x <<< ab; echo \"$x $?\"; read -N 5 x <<< ab; echo \"$x $?\"",
        "read «1x¦x 'y z'¦-q x¦-n x y¦-t x y¦-u 9 x¦-u x y¦-d¦a[1] a[2]¦'m[k]'¦a[» <<< \"1 2\"; echo \"$? ${a[*]}\"", "{ read a; read -r b; cat; } < f.txt; echo \"$a|$b\"", "echo \"§I\" | { read -r «x y¦-a arr»; echo \"$x|$y|${arr[1]}\"; }",
        "read -r «x¦x y» < <(«§C»); echo \"$?:$x:$y\"", "read -e x <<< hi; echo $x; read -i pre x <<< in; echo $x; read -t 0.01 x < B.txt; echo $?; read -t -1 x; echo $?",
    ),
    "coproc": (
        "coproc { read x; echo \"got $x\"; }; echo §V >&${COPROC[1]}; read -r y <&${COPROC[0]}; echo \"$y\"; wait $COPROC_PID; echo $?", "coproc P { tr a-z A-Z; }; echo abc >&${P[1]}; exec {P[1]}>&-; cat <&${P[0]}; wait; echo $?",
        "coproc cat; echo hi >&\"${COPROC[1]}\"; read -r x <&\"${COPROC[0]}\"; echo \"$x ${#COPROC[@]}\"; kill $COPROC_PID; wait $COPROC_PID 2>/dev/null; echo $?",
    ),
    "select": (
        "select x in «a b c¦§W¦\"$@\"»; do echo \"$REPLY:$x\"; «break¦[[ $x ]] && break¦:»; done <<< «1¦2¦9¦$'x\\n2'¦$'\\n1'¦''» 2>&1; echo $?", "PS3=«'> '¦''»; select x in «one two¦{1..12}»; do echo \"[$x]\"; break; done <<< 2 2>&1", "set -- p q; select x; do echo $x; break; done <<< 1 2>/dev/null",
    ),
    "procsub": (
        "cat <(§C) <(echo «$x¦b»); «diff <(echo a) <(echo «a¦b»); echo $?¦»", "while read -r l; do x+=$l; done < <(§C); echo \"$x\"", "echo «§V¦$x» > >(cat); wait; echo done", "f() { cat \"$1\"; }; f <(echo «$x¦a»)", "paste -d, <(seq 2) <(printf 'a\\nb\\n')", "cat < <(cat < <(echo deep $x))", "exec 3< <(seq 3); read -u 3 a; cat <&3; exec 3<&-; echo $a",
        "tee >(cat >/dev/null) <<< §V | cat", "[[ -e <(:) ]]; echo $?; x=<(:); echo ${x%/*}", "echo <(:) >/dev/null; ls -d <(:) | tr 0-9 N", "sort <(echo b; echo a) - <<< c",
    ),
    "nameref": (
        "f() { local -n r=«$1¦x¦arr¦m¦arr[1]¦m[k]»; «r=new¦r+=more¦echo \"$r\"¦echo \"${r[0]}\"¦r[1]=e¦unset r¦unset -n r¦r=(1 2)¦echo \"${!r}\"¦echo \"${#r}\"¦echo \"${r[@]}\"¦echo \"${r^^}\"¦echo \"${r:-none}\"»; }\nf «x¦arr¦a¦nope»; declare -p x arr a nope 2>&1",
        "declare -n r=«x¦arr¦arr[0]¦nope¦m¦arr[@]»; «r=v¦(( r++ ))¦read r <<< in¦for r in a b; do echo $r; done¦printf -v r '%s' pv¦r+=z¦unset r¦declare -p r¦declare r=q¦export r¦echo \"$r\" \"${!r}\" \"${r[0]}\" \"${r[@]}\"¦[[ -v r ]]; echo $?¦[[ -R r ]]; echo $?»; declare -p x arr r nope 2>&1",
        "declare -n r=r; echo $?; declare -n a=b b=a; echo \"$a\" 2>&1; f() { declare -n x=$1; x=1; }; f x; echo $?; declare -n 1x; declare -n q='a b'; echo $?", "declare -n r; r=x; r=val; echo \"$x $r\"; unset -n r; echo \"[$r]\"",
        "f() { local -n out=$1; shift; out=(\"$@\"); }; f res «a 'b c'¦\"$@\"¦»; declare -p res", "g() { local -n r=$1; h r; }; h() { local -n q=$1; q+=x; }; v=1; g v; echo $v",
    ),
    "assoc": (
        "declare -A m=([«k¦'a b'¦\"$x\"¦$a¦1+1¦@¦'*'¦é»]=§V [«l¦k¦'x y'»]=«2¦§W»); m[«k¦'a]b'¦$x¦\"$a\"¦*¦0¦'$q'»]«=¦+=»§V; for i in \"${!m[@]}\"; do echo \"$i=${m[$i]}\"; done | sort; echo \"${#m[@]}\"",
        "declare -A m=(«a 1 b 2¦a 1 b¦[a]=1 b¦[x]=1 [x]=2¦''  1¦$x $a»); declare -p m 2>&1; echo \"$?\"", "declare -A m; «m=(a 1)¦m[]=x¦m['']=x¦m[a]+=y¦m=x¦m+=([z]=1)¦m+=(q r)¦unset 'm[a]'¦unset m[k]¦(( m[k]++ ))¦(( m[$x] += 2 ))¦let 'm[a b]=3'¦read 'm[k]' <<< v¦printf -v 'm[a b]' '%d' 5¦m[$(echo k)]=c¦m[`echo k`]=b»; echo $?; declare -p m",
        "declare -A m=([a]=1 [b]=«2¦'x y'»); echo \"${m[@]«@Q¦@K¦@A¦@a¦@k¦/1/Z¦:0:1¦^^¦#?»}\" ; [[ -v m[«a¦z¦@»] ]]; echo $?; echo \"${m[a]«:-d¦:+alt¦@Q¦@a»}\" \"${!m[*]}\"",
        "f() { local -A l=([x]=$1); l[y]=$2; echo \"${l[x]} ${l[y]} ${#l[@]}\"; }; f §W §W; declare -p l", "declare -A m=([one]=1); declare -p m; declare -a m; declare +A m; declare -r m; m[z]=1; echo $?",
    ),
    "arith": (
        "(( «i = §A¦n += §A, i++¦i++ + ++i¦arr[i++] = §A¦n = i > 2 ? 1 : 0¦x = y = 3¦i <<= 2¦i ^= 5¦a[0]++¦n--¦!n¦~i¦i && n++¦i || n++¦(i = 2) * (n = 3)¦m[k] = 4» )); echo \"$? $i $n ${arr[*]} $x $y ${m[k]}\"",
        "let «'i = 3 * 4' n=i+1¦i++¦'i=1,n=2'¦i=0¦'a[1]=5'¦»; echo \"$? $i $n\"; i=«08¦0x¦1a¦a.b¦'1 2'¦3#2¦65#1¦2#9¦-¦''¦x y»; echo $(( i )) $(( i + 1 ))", "echo $(( «1 +¦1 2¦)¦(1¦1 / 0¦5 % 0¦2 ** -1¦a b¦1 ? 2¦1 = 2¦++1¦08¦0xg¦'1'¦\"2\"¦\\1¦1,2¦1 ,¦x=¦\"$x\" + 1¦$((1+1))*2¦[1]¦1..2» )); echo $?",
        "for (( «i=0; i<3; i++¦;;¦i=5, n=0; i>n; i--, n++¦i=0; i<2; ¦; i<2; i++» )); do echo \"$i $n\"; «break¦continue¦(( i++ > 4 )) && break¦i=9»; done; echo $i", "declare -i i=«3*4¦x¦010¦0x1F¦1+¦'2 * 3'¦y¦»; i+=«1¦i¦-5¦x»; echo \"$i $?\"; i=abc; echo $i; i='1 +'; echo \"$? $i\"",
        "x=«1¦5¦-3»; echo $(( x «+¦-¦*¦/¦%¦<<¦>>¦&¦|¦^¦<¦==¦**¦&&¦||¦,» «2¦0¦x¦-1¦63¦64¦(x++)» )) $x", "echo $(( 9223372036854775807 + «1¦0¦-1» )) $(( -9223372036854775808 «/ -1¦% -1¦- 1¦* -1» )) $(( 1 << «62¦63¦64¦65¦-1» )) $(( «16#fF¦2#11¦36#zZ¦64#@_¦0x10¦017¦10#08» ))",
        "echo $[ 1 + §N ] $(( $(echo 3) * ${#x} )); (( «0¦1¦-1¦x¦§A» )) && echo true || echo false", "f() { echo called >&2; return 1; }; (( x = $(f 2>/dev/null; echo 4) )); echo $x; a='b+1' b='c*2' c=3; echo $(( a )) $(( a * 2 )); a=a; echo $(( a ))",
    ),
    "extglob": (
        "shopt -s extglob\ncase «$x¦§V¦ab12¦aab» in «+([a-c])*¦@(a|b)*([0-9])¦!(a*)¦?(x)*y¦*(a)+(b)¦!(*.txt|*.c)¦+(a|!(b))» ) echo m «1;;¦2;&¦3;;&»\n«a*¦§P») echo n;;\n*) echo o;;\nesac", "shopt -s extglob\necho \"${x«#¦##¦%¦%%¦/¦//»«+([a-z])¦*(a|b)¦?(a)¦@(a|b c)¦!(x)»}\" «!(a*)¦*.@(txt|md)¦+(?).txt¦@(d|f*)/*¦?(x)*¦!(*.txt)»",
        "shopt -s extglob; [[ «$x¦$a¦foo.txt» «==¦!=» «*.@(txt|c)¦!(a)¦+(?)¦\"+(?)\"¦@($a|$x)¦*(«a|b»)» ]]; echo $?", "shopt -s extglob «nullglob¦dotglob¦failglob¦nocaseglob»; echo «!(f*)¦.!(|.)¦@(*.TXT|d)¦d/*(?)¦+([[:alpha:]]).txt¦no@(pe)»; echo $?", "shopt -u extglob; echo +(a) 2>&1; [[ aa == +(a) ]]; echo $?",
    ),
    "brace": (
        "echo «{a,b}{1..3}¦{a,{b,c}}d¦{1..10..3}¦{a..e..2}¦{5..1}¦{-2..2}¦{01..10..4}¦x{,}y¦{a,b\\,c}¦{$x,$a}¦{\"a b\",c}¦a{b}c¦{a,}¦{,a}{,b}¦{a..z..10}¦{1..3}{a,b}¦{1..-3..2}¦{0001..2}¦{a,b}$x¦$x{1,2}¦${x}{a,b}¦\"{a,b}\"¦{a,'}',b}¦{~,x}¦{*.txt,d}¦{`echo a`,b}¦{$(echo a b),c}¦{{a,b},{c,d}}¦{1..2}..{3,4}¦a={b,c}¦{a,b}={1,2}¦{9223372036854775806..9223372036854775807}¦{1..3..0}¦{a..C}¦{1..a}¦{,}¦{}¦{a}¦\\{a,b\\}»",
        "x={a,b}; echo $x; arr=({1..3} x{a,b}); echo \"${#arr[@]} ${arr[@]}\"; set +B; echo {a,b}; set -B; declare -p arr", "for i in {«1..3¦a..c¦3..1¦x,y z,w»}; do echo $i; done; cat <<< {a,b}; [[ {a,b} == {a,b} ]]; echo $?; case {a,b} in {a,b}) echo m;; esac", "echo ${x:-{a,b}} \"${x:-{a,b}}\" ${nope:-{a,b}} ${nope:-a{b,c}d} $((1+1)){a,b} <({a,b} 2>/dev/null)>/dev/null",
    ),
    "glob": (
        "shopt -s globstar «nullglob¦dotglob¦¦failglob¦nocaseglob»; echo **; echo **/ «d/**¦**/*.txt¦**/.*¦./**/x¦**/**¦a**¦**/d»", "shopt -«s¦u» «nullglob¦dotglob¦failglob¦nocaseglob¦globskipdots¦globasciiranges¦nocasematch¦extglob»; echo «*x*¦.*¦[A-C]*¦F*¦no*¦*/.*¦[[:alpha:]]*¦'*'$x*¦\"$x\"*¦?(a)*»; echo $?",
        "GLOBIGNORE=«'*.txt'¦'a*:B*'¦.¦'*'¦d»; echo * «.*¦d/*»; unset GLOBIGNORE; echo *", "set -f; echo *; x='*'; echo $x \"$x\"; set +f; echo $x «[$x]¦\\$x¦*$x»", "mkdir -p 'g d' g/h; touch 'g d/a b' g/h/x g/'[z]' g/'\\'; echo g*/* g/[[]* g/\\[* g/*/ 'g d'/* g/[\\\\]* \"g\"/?; for i in g*/*; do echo \"<$i>\"; done",
        "touch a1 a2 a10 B1; echo a[0-9]* a[!1]* [[:lower:]]1 [^a]1 [a-z]1 ?1 a? a?? «[[:digit:]a]*¦[]a]*¦[a-]*¦[!a-z]*¦a[\\1]»",
    ),
    "shopt": (
        "shopt «-q¦-s¦-u¦-p¦-o¦-po¦-qo» «extglob¦nullglob¦errexit¦nope¦pipefail¦expand_aliases¦lastpipe¦sourcepath¦checkwinsize¦interactive_comments» «dotglob¦»; echo $?", "set «-o¦+o» «pipefail¦errexit¦nope¦noglob¦nounset¦posix¦allexport¦physical¦braceexpand»; echo \"$? $-\"; set +o | grep «pipefail¦glob¦err¦posix»; shopt -o «pipefail¦noglob»", "echo $-; set -f «-u¦-C¦-a¦+B»; echo $-; set -- «-a¦-x b¦$x»; echo $#; set - a b; echo \"$#\"; set -z; echo $?; set -o | grep -c on",
        "shopt -s lastpipe; echo «a b¦§W» | read x y; echo \"$x|$y\"; seq 3 | while read i; do n=$i; done; echo $n", "shopt -s inherit_errexit; set -e; x=$(false; echo no); echo \"$x\"", "f() { local -; set «-f¦-e¦-u¦-x» 2>/dev/null; echo $-; }; f 2>/dev/null; echo $-", "shopt -s nocasematch; case ABC in «abc¦a*¦[a-c]*») echo m;; *) echo n;; esac; [[ FOO == foo ]]; echo $?; [[ FOO =~ f(o) ]]; echo \"$? ${BASH_REMATCH[1]}\"; x=AbC; echo ${x/b/Z} ${x#a}",
    ),
    "program": (
        "set -euo pipefail\nmain() {\nlocal -a items=(\"$@\")\nlocal i total=0\nfor i in \"${items[@]}\"; do\n[[ $i =~ ^[0-9]+$ ]] || { echo \"bad: $i\" >&2; «continue¦return 2¦exit 3»; }\n(( total += i «¦|| true» ))\ndone\necho \"total $total\"\n}\nmain «1 2 3¦1 x 3¦0¦5 08¦»\necho end",
        "set -euo pipefail\ntrap 'echo \"cleanup $?\"' EXIT\nrun() { «grep -c zzz f.txt¦cat nope 2>/dev/null¦false | true¦true¦echo \"$undefined\"¦local x=$(false); echo kept¦x=$(false)¦return 0»; }\n«run¦run || echo handled¦if run; then echo ok; else echo \"no $?\"; fi¦out=$(run); echo \"$out\"¦run | cat¦! run¦run && echo and»\necho done",
        "set -eu\nwhile IFS=«=¦:¦,» read -r k v; do\n[[ -z $k || $k == \\#* ]] && continue\ndeclare \"cfg_$k=$v\"\ndone <<'E'\na=1\n# note\nb=x y\n\nc\nE\nfor n in ${!cfg_@}; do echo \"$n -> ${!n}\"; done", "fact() { local n=$1; (( n <= 1 )) && { echo 1; return; }; echo $(( n * $(fact $((n - 1))) )); }; fact «5¦10¦0¦x»", "fib() { (( $1 < 2 )) && return $1; fib $(( $1 - 1 )); local a=$?; fib $(( $1 - 2 )); return $(( a + $? )); }; fib «7¦10»; echo $?",
        "stack=(); push() { stack+=(\"$1\"); }; pop() { local n=$(( ${#stack[@]} - 1 )); (( n >= 0 )) || return 1; REPLY=${stack[n]}; unset 'stack[n]'; }\npush a; push §V; pop && echo \"$REPLY\"; pop; echo \"$REPLY\"; pop || echo empty; declare -p stack", "declare -A seen=(); for w in «a b a c b¦$x $a¦one two one»; do (( ++seen[$w] )) || true; done; for w in $(printf '%s\\n' \"${!seen[@]}\" | sort); do printf '%s:%d ' \"$w\" \"${seen[$w]}\"; done; echo",
        "usage() { cat <<-E\n\tusage: $0 [-h] §I\n\tE\n\texit «0¦2»\n}\n«[[ ${1-} ]] || usage¦usage | cat¦(usage); echo $?»", "retry() { local n=$1; shift; until \"$@\"; do (( n-- > 0 )) || return 1; echo \"left $n\"; done; }; retry 2 «false¦test -e f.txt¦§C»; echo $?", "IFS=$'\\n'; for l in $(sort f.txt); do printf '[%s]' \"$l\"; done; echo; unset IFS", "while read -r a b _; do printf '%-5s|%5s\\n' \"$a\" \"$b\"; done < t.txt",
        "log() { printf '%s: %s\\n' \"${FUNCNAME[1]}\" \"$*\"; }; f() { log in \"$@\"; g \"$1\"; }; g() { log deep; echo \"${FUNCNAME[*]} ${#BASH_LINENO[@]} ${BASH_LINENO[0]} ${BASH_SOURCE[0]}\"; caller; caller 0; caller «1¦2¦9»; }\nf «a b¦$x»",
    ),
    "function": (
        "f() { echo \"$# $1 ${2-none} $*\"; «shift; echo \"$@\"¦set -- n; echo $1¦local x=l; g¦return «3¦256¦-1¦x¦»¦unset -f f¦echo \"$0\"»; }; g() { echo \"g sees $x\"; x=changed; }; f «a 'b c'¦\"$@\"¦$x¦»; echo \"$? $x $#\"; f 2>/dev/null", "function f { local x=$1 «y=$x¦-r y=2¦-a y=(1 2)¦-i y=2+3¦-u y=abc¦-x y=e»; declare -p x y; }; f «1¦a b¦$a»; echo \"$x|$y\"; declare -p y", "f() { local a«=§W¦¦=$(false)»; echo \"$? [$a]\"; a=2; }; f; echo \"[$a]\"; local z=1; echo $?", "f() (\n§C; x=sub; exit 3\n)\nf; echo \"$? $x\"", "f() { «if¦while» «false¦§T»; do :; done; }", "f() for i; do echo \"-$i\"; done\nf «a b¦\"$x\"¦$x¦»", "f() [[ $1 == «a*¦$2» ]]\nf abc a; echo $?; f() (( $1 > 2 )); f 3 && echo big; f() { f2() { echo inner; }; }; f; f2; declare -F | head -n 3; declare -f f f2",
        "f() { §C; } >out.txt 2>&1; f; cat out.txt; declare -f f", "f() { eval \"$1\"; echo after; }; f «'return 4'¦'local q=1; echo $q'¦'echo $1'¦break¦'x=5'»; echo \"$? $x\"", "f() { g; echo \"f $?\"; }; g() { return 2; echo no; }; f; f() { f() { echo two; }; echo one; }; f; f", "readonly -f f; f() { :; }; echo $?; f() { echo a; }; readonly -f f; f() { echo b; }; f; unset -f f; echo $?", "f() { while :; do «return 5¦break¦for i in 1 2; do break 2; done¦for i in 1 2; do continue 2; done; break»; done; echo x; }; f; echo $?",
        "f() { local IFS=«:¦,¦''¦x»; echo \"$*\" $*; printf '<%s>' $1; echo; }; f «a b¦a:b,c d¦\"$x\" \"$a\"»; echo \"$*\" $*", "x=«1¦out»; f() { echo $x; x=2; local x=3; g; echo $x; unset x; echo \"$x\"; }; g() { echo $x; x=4; }; x=tmp f; echo $x", "f() { echo \"$FUNCNAME $LINENO\"; }\nf\nf() {\n\necho $LINENO\n§C\n}\nf",
    ),
    "slices": (
        "set -- a 'b c' d e; echo \"${@:«1¦2¦0¦-1¦2:2¦1:-1¦0:1¦5¦ -2¦ -2:1¦9¦x¦1:x»}\" \"${*:«2¦1:2¦ -1»}\" ${#@} \"${@#«a¦?»}\" \"${@/«b¦ »/Z}\" \"${@^}\"", "arr=(«a b c d¦[2]=x [5]=y [9]=z¦§W §W¦''  q¦»); echo \"${arr[@]:«0¦1¦1:2¦ -1¦ -2:1¦2:-1¦6¦0:0¦n¦3:9»}\" \"${#arr[@]}\" \"${!arr[@]}\" \"${arr[-1]«¦-d¦:-e»}\" \"${arr[@]: -2}\"", "x=«abcdef¦héllo¦''¦a b»; echo \"${x:«1¦1:2¦ -2¦ -3:2¦1:-1¦0:-9¦9¦2:0¦n¦a¦1+1:1¦(1)¦$((1)):1» }\"; echo \"[${x:«1¦ -1¦0:1»}]\"",
        "arr=(one two three); «unset 'arr[«1¦-1¦9¦@¦0»]'¦arr[-1]=z¦arr[7]=q¦arr+=(f g)¦arr[-9]=x¦arr=(\"${arr[@]:1}\")¦arr=([1]=b [0]=a c)¦arr+=([5]=k l)¦unset arr¦arr[1]+=x¦arr=¦arr+=s»; declare -p arr; echo \"$? ${#arr[@]} ${#arr[0]} ${arr[@]}\"", "arr=(a b); for i in \"${arr[@]«¦/a/x¦#a¦%b¦^¦:1¦@Q¦-d¦:+y»}\" \"${nope[@]«¦-d¦:-e f¦+g»}\"; do echo \"<$i>\"; done", "IFS=«,¦''¦x¦' ,'»; arr=(a 'b c' d); echo \"${arr[*]}\" ${arr[*]} \"${arr[@]}\" \"${arr[*]/b/Z}\" \"${!arr[*]}\" ${!arr[@]}; x=\"${arr[*]}\"; y=${arr[@]}; echo \"$x|$y\"; unset IFS",
    ),
    "transform": (
        "x=«§V¦$'a\\nb'¦\"it's\"¦''»; echo \"${x@«Q¦A¦a¦k¦K¦U¦u¦L¦E¦P»}\" ${x@«Q¦A¦a¦K¦U»} \"${x[@]@«Q¦A¦a¦k¦K»}\" \"${nope@«Q¦A¦a¦U»}\"", "arr=(§V §V); echo \"${arr[@]@«Q¦A¦a¦k¦K¦U¦u¦L¦E¦P»}\" \"${arr[*]@«Q¦A¦a¦k¦K»}\" ${arr[0]@«Q¦a¦A»} \"${arr@«Q¦a¦A¦K»}\"; for i in \"${arr[@]@«k¦Q¦A»}\"; do echo \"<$i>\"; done", "declare -«i¦r¦x¦u¦l¦ir¦a¦A¦c¦ix» v=«5¦abc¦AbC»; echo \"${v@a} ${v@A} ${v@Q}\"; declare -p v; v=«7¦Xy»; echo \"$? $v\"", "set -- «a 'b c'¦''¦\"$x\"»; echo \"${@@Q}\" \"${*@Q}\" \"${@@A}\" \"${1@Q}\" \"${1@U}\" \"${@@K}\" ${@@k}; printf '%q ' \"$@\"; echo", "f() { echo \"${1@Q} ${@@Q}\"; local -i l=3; echo ${l@a} ${l@A}; }; f §W; x='\\u \\w \\$ \\\\ \\t \\101'; echo \"${x@P}\" | head -c 20 | tr -d '\\n' | wc -c; x='$a\\n'; echo \"${x@P}\" \"${x@E}\"",
    ),
    "quotes": (
        "echo \"a\"'b'$'c\\t«\\x41¦\\101¦\\u00e9¦\\e¦\\cA¦\\\\¦\\'¦\\q»'d\\ e$\"f\"\"$(echo \"in «\\\"q\\\"¦'q'¦\"$x\"»\")\"`echo «\\`echo deep\\`¦\\\\\\\\¦\"$x\"¦\\$x»`", "echo \"${x:-\"«a b¦$a¦*»\"}\" \"${x:-'q'}\" ${x:-'a  b'} \"${x:+\"${a:-'d'}\"}\" \"${x#'a'}\" \"${x#\"$a\"}\" \"${x/\"a\"/'b'}\" ${x/a/\"b c\"} \"${x//\\//\\\\}\"", "echo $'\\«n¦t¦0¦x¦u¦U0001F600¦a¦x4¦x414¦1234¦c?¦cz»' | od -An -c; echo -e '\\«n¦t¦0101¦x41¦c stop¦u00e9¦e[0m¦\\\\¦q» end' | od -An -c", "x=\"a\\b\\\"\\$\\`\\n\\\nz\"; echo \"$x\" '$x' \\$x \\\\ \\\"; y='it'\\''s'; echo \"$y\" \"${#y}\"; echo \"\\!\" '!' \"a!b\"", "echo \"$(echo \"$(echo \"«$x¦a  b¦'¦)¦\\\\»\")\")\" $(echo $(echo a  b)) `echo \\`echo n\\`` \"`echo \"q\"`\"", "echo \"$((1 + \"2\"))\" $(( \"$y\" + 0 )) \"${arr[\"0\"]}\" \"${m[\"k\"]}\" \"${m['k']}\" ${x:\"1\":'2'}", "printf '%s|' a\\ b 'a b' \"a b\" $'a\\tb' a\"b\"c '' \"\" \"$nope\" $nope; echo",
    ),
    "printf": (
        "printf -v «x¦'arr[2]'¦'m[k]'¦1x¦'a b'¦arr» «'%s-%d'¦'%05.1f'¦'%q'¦'%b'¦'%(%Y-%m-%d)T'» «§W¦5¦'a\\tb'¦0»; echo \"$? $x ${arr[*]}\"", "TZ=«UTC¦UTC+3¦EST5EDT» printf '%(«%Y-%m-%d¦%H:%M:%S¦%s¦%j %U¦%a %b %e¦%F %T¦%D¦%y%%¦%Z¦%c¦%10Y¦%-d¦¦%Q»)T\\n' «0¦86400¦1700000000¦-86400¦2000000000¦x¦253402300799»", "printf '%«5¦-5¦05¦+¦ ¦#¦.3¦8.3¦-8.2¦*¦.*¦+.2¦'»«s¦d¦x¦o¦f¦e¦g¦c¦q¦b¦i¦u¦X¦E¦G¦a¦Q» |' «§W¦3¦-7¦3.14159¦0x1f¦\\'A¦1e3¦abc¦''¦-0¦9223372036854775808¦inf¦5 6»; echo \"$?\"", "printf '«%s\\n¦%s %s\\n¦%d,%s;¦\\x41\\102\\u263a\\n¦%%¦%5¦%z¦no\\cend¦%b|¦%s\\0¦%-+5d|¦%*d|¦%.*f|¦%1$s¦%n¦%ls¦%hhd¦%lld» ' «a b c¦1 2 3¦'x y'¦-3 7¦\"$x\"¦»; echo \" $?\"", "printf \"«-- %s¦-v¦-x¦%s¦» \" a; echo $?; printf; echo $?; printf -v; echo $?; printf -- '-%s\\n' a; printf '%s\\n' -- -a; printf '%d\\n' «010¦0b1¦08¦1x¦' 5'¦'5 '¦+3¦--3¦\"'é\"¦'\"'»; echo $?",
    ),
    "regex": (
        "[[ «$x¦$a¦foo.bar¦ab12cd¦'a b'¦héllo» =~ «([a-z]+)([0-9]*)¦^(.)(.)?¦(a|b)+¦.$¦[[:space:]]¦\"a.\"¦a\\.b¦$a¦^$¦(x)?¦([^.]*)\\.(.*)¦\\bfoo¦(¦[a¦a{2}¦é¦^.{5}$¦'.'$» ]]; echo \"$? ${#BASH_REMATCH[@]} ${BASH_REMATCH[*]@Q}\"", "re='«^([^=]+)=(.*)$¦(a)(b)?(c)¦[[:upper:]]+¦^[[:alnum:]_]+$¦\\.¦a b¦(.*)(.)»'; if [[ «k=v=w¦ac¦HeLLo¦$x¦a.b¦'a b'» =~ $re ]]; then printf '<%s>' \"${BASH_REMATCH[@]}\"; else echo no; fi; echo; [[ a =~ b ]]; echo \"${#BASH_REMATCH[@]}\"; [[ «$re¦x» =~ \"$re\" ]]; echo $?", "x='a1b22c333'; while [[ $x =~ ([0-9]+) ]]; do echo \"${BASH_REMATCH[1]}\"; x=${x#*\"${BASH_REMATCH[1]}\"}; done",
    ),
    "dirs": (
        "mkdir -p p/q r; pushd p «>/dev/null¦»; pushd «q¦../r¦nope¦+1¦-n /tmp¦» «>/dev/null¦»; dirs «-v¦-p¦-l¦+0¦-0¦+1¦-1¦+9¦-c¦»; popd «+1¦-0¦-n¦+9¦» «>/dev/null¦»; dirs; echo \"$? ${DIRSTACK[@]} ${#DIRSTACK[@]} $PWD\"; popd; popd; echo $?", "cd «d¦nope¦-¦..¦''¦~¦/¦-P d¦-L d¦d extra¦--» «2>/dev/null¦»; echo \"$? $PWD $OLDPWD\"; pwd «-P¦-L¦»; cd - «>/dev/null¦»; echo \"$?\"", "CDPATH=«.:d¦/¦/home/user/d¦:d»; cd «sub¦d¦x»; echo \"$? ${PWD##*/}\"; unset CDPATH; shopt -s «autocd¦cdable_vars¦cdspell»; v=/tmp; cd v 2>&1; pwd", "echo ~ ~+ ~- ~root ~nope ~/x x=~ x=~:~ \"~\" ~\"\" a~ ${x:-~}; x=~/d; echo $x; x=a:~; echo $x; HOME=/h; echo ~; unset HOME; echo ~",
    ),
    "command": (
        "«type¦type -t¦type -a¦type -p¦type -P¦type -f¦command -v¦command -V» «echo¦f¦if¦ls¦cat¦nope¦test¦[¦cd¦ll¦time¦f echo nope¦./s.sh¦{¦''»; echo $?", "f() { echo fn; }; alias ll='ls -l'; «type f¦type -t f ll¦command -V f ll¦command -v ll f¦type ll»; echo $?", "echo() { builtin echo \"my $*\"; }; echo a; command echo b; builtin echo c; «\\echo d¦'echo' e¦unset -f echo; echo f¦command -v echo¦builtin ls¦builtin nope¦builtin»; command echo $?", "command «-p ls d¦-x¦nope¦¦-v¦-- echo hi¦exec echo gone¦cd d¦export q=1¦exit 3¦return 2¦break¦eval 'echo e'¦. ./s.sh» ; command echo \"$? $q ${PWD##*/}\"", "hash «-r¦ls¦nope¦-t ls¦-l¦-d ls¦-p /bin/ls foo¦-t nope¦»; echo $?; hash | head -n1; enable -n «echo¦nope¦test»; type -t echo; enable echo; enable -p | head -n2",
        "alias «a='echo hi'¦a¦-p¦nope¦a='echo x ' b=y¦'q q'=1»; echo $?; shopt -s expand_aliases\nalias e='echo al' g='e '\ne «one¦$x»\ng e\nunalias «e¦nope¦-a¦»; echo $?; e 2>/dev/null || echo gone", "shopt -s expand_aliases\nalias x1='if true; then' x2='fi' x3='for i in'\nx1 echo yes; x2\nx3 a b; do echo $i; done\nalias f='echo alias'; f() { echo func; }\nf z", "enable -n test; test 1; echo $?; enable test; help nope >/dev/null 2>&1; echo $?; times >/dev/null; ulimit -n >/dev/null; umask «022¦-S¦u=rwx,g=,o=¦9¦-p¦777»; echo $?; umask; umask -S",
    ),
    "eval": (
        "eval «'echo $x'¦\"echo '$x'\"¦echo '$a' '\"$b\"'¦'x=5; echo $x'¦'for i in 1 2; do echo $i; done'¦'if'¦'echo a; )'¦'return 3'¦''¦'echo $LINENO'¦'echo \"$(echo \"in $x\")\"'¦-- echo hi¦'f() { echo ef; }'»; echo \"$? $x\"; f 2>/dev/null", "source ./s.sh «a b¦¦$x»; echo \"$? $x $# $*\"; . ./«nope¦s.sh¦d»; echo $?; source; echo $?", "printf '%s\\n' 'echo \"s: $0 $1 $# ${BASH_SOURCE[0]} $LINENO\"' 'shift' '«return 3¦exit 4¦set -- new¦false¦x=fromfile¦local y=1¦f() { echo \"$BASH_SOURCE\"; }» ; :' > t.sh; set -- p q; «. ./t.sh¦source ./t.sh 1 2¦bash t.sh 1 2¦f1() { . ./t.sh z; echo \"after $?\"; }; f1 k¦(. ./t.sh)¦. t.sh»; echo \"$? $* $x\"; type -t f", "bash -c 'echo \"$0 $1 $# $-\" «; exit 3¦; echo $BASHPID >/dev/null¦; echo $SHLVL» ' «name arg¦¦a b c»; echo $?; bash «-e¦-u¦-x¦-n¦-f¦-c¦-o pipefail¦-O extglob¦+B» -c 'echo {a,b} *.txt; false; echo $nope end' 2>&1; echo $?", "echo 'echo \"stdin $1 $x\"; read l; echo \"got $l\"' | cat - f.txt | bash -s «a b¦-- q¦»; echo $?", "x=1 bash -c 'echo $x'; export x=2; bash -c 'echo $x; x=3'; echo $x; env -i y=1 bash -c 'echo \"[$x]$y\"'; bash -c 'f() { return 3; }; f'; echo $?; bash nope.sh; echo $?; bash d; echo $?; bash -c 'exec nope'; echo $?",
    ),
    "exec": (
        "exec 3>out.txt; echo a >&3; «echo b >&3; exec 3>&-¦exec 4>&3 3>&-; echo c >&4¦{ echo d; } >&3¦exec 3>>out.txt; echo e >&3»; cat out.txt; echo x >&3; echo $?", "exec 5<f.txt 6<&5; read -u 5 a; read -u 6 b; echo \"$a|$b\"; exec 5<&- 6<&-; cat <&5; echo $?", "{ echo out; echo err >&2; } «2>&1¦>/dev/null¦2>/dev/null¦>&2¦2>&1 >/dev/null¦3>&1 >&2 2>&3¦&>/dev/null¦>out.txt 2>&1¦>&out.txt¦1>&- » | cat; cat out.txt 2>/dev/null", "exec {fd}>out.txt; echo hi >&$fd; exec {fd}>&-; cat out.txt; echo \"$((fd > 9))\"; echo q >&$fd; echo $?", "echo a > out.txt; echo b 1<>out.txt; cat out.txt; exec 7<>out.txt; read -u 7 x; echo c >&7; cat out.txt; set -C; echo z > out.txt; echo $?; echo y >| out.txt; set +C; cat out.txt", "echo hi >«d¦nope/x¦''¦\"$nope\"¦{a,b}¦*.txt¦&9¦&x¦\"a b\"¦$x» ; echo $?; cat «<nope¦<''¦<&9¦< d¦0<&-»; echo $?", "(exec echo replaced; echo no); exec «nope¦echo last¦-a name bash -c 'echo $0'¦-c env¦./s.sh¦-l bash -c 'echo $0'»; echo \"still $?\"", "f() { echo out; echo err >&2; }; f 2>&1 >/dev/null | cat; x=$(f 2>&1); echo \"$x\"; f >out.txt 2>&1; wc -l < out.txt; { f; } 2>/dev/null >&2; f &>> out.txt; wc -l <out.txt", "exec 2>&1; «nope¦cd nope¦cat nope¦echo ${x?msg}¦: ${nope:?}¦readonly z=1; z=2¦[ 1 -eq a ]¦[[ 1 -eq 1x ]]¦(( 1 / 0 ))¦shift 9¦unset 1x¦export 1x=2¦declare -z¦kill nope¦wait 99999¦fg¦jobs nope¦return¦break¦local x¦trap x NOPE¦test a b c d¦. nope¦source¦ulimit -Z¦umask x¦exit a¦read 1x <<< a¦let¦let 1+¦getopts¦printf %d x¦echo $((1+))¦arr[x y]=1¦arr[-1]=2¦x[1 2]=3¦f() { local -r q=1; q=2; }; f¦eval 'if'¦eval '(('»; echo $?",
    ),
    "jobs": (
        "(«sleep 0.01; ¦»exit «0¦3») & wait $!; echo $?; wait; echo $?", "(exit 3) & p=$!; (exit 4) & q=$!; wait $p; echo $?; wait $q; echo $?; wait $p; echo $?", "(exit 5) & wait -n; echo $?; wait -n; echo $?", "sleep 0.3 & (exit 2) & wait -n; echo $?; wait; echo $?", "{ sleep 0.01; echo bg; } & wait; echo fg; jobs; echo $?", "sleep 5 & kill $!; wait $! 2>/dev/null; echo $?; kill -0 $!; echo $?", "set -m; (exit 3) & wait %1; echo $?; set +m", "x=$( (sleep 0.01; echo late) & echo early ); echo \"$x\"", "sleep 0.3 & echo $(( $! > 0 )); jobs -p | wc -l; wait; jobs | wc -l; disown 2>&1; kill %1 2>&1; wait %1 2>&1; echo $?", "f() { sleep 0.01; return 4; }; f & wait $!; echo $?; wait -n -p who; echo \"$? ${who-unset}\"; (exit 7) & wait -p who $!; echo \"$? $(( who == $! ))\"", "true & false & wait; echo $?; wait 1; echo $?; wait x; echo $?; : & wait $! ; echo \"$? ${PIPESTATUS[@]}\"",
        "trap 'echo t' USR1; (sleep 0.1; kill -USR1 $$) & wait; echo \"$?\"; wait; echo $?", "false | true | (exit 3); echo \"${PIPESTATUS[@]} $?\"; ! true | false; echo \"${PIPESTATUS[*]}\"; set -o pipefail; «true¦false» | true; echo $?",
    ),
    "case": (
        "case «$x¦§W¦abc¦''¦\"a b\"¦$(echo q)¦*¦[a]» in «(¦»«a|b¦*b*¦§P¦\"$a\"¦$a¦'*'¦\\*¦[!a]*¦''¦\"a b\"¦esac») §C «;;¦;&¦;;&»\n§P) echo two «;;¦;&¦;;&»\n«*¦?*¦§P») echo three; esac; echo $?", "case a in a) ;; esac; echo $?; case b in a) false;; esac; echo $?; case a in a) false;; esac; echo $?; case $x in esac; echo $?", "for i in a B 3 '' 'x y' é '*'; do case $i in [[:lower:]]) echo low;;& [[:alpha:]]) echo alpha;; [0-9]) echo dig;& '') echo fall;; *\\ *) echo space;; \\*) echo star;; *) echo else; esac; done", "case «$x¦abc» in a*) case $a in b) echo in;; *) echo «no;;¦no» esac;; *) if true; then case 1 in 1) echo n;; esac; fi; esac",
    ),
    "ifs": (
        "IFS=«:¦,¦' '¦''¦' :'¦x¦$'\\t'¦$' \\t:'¦'\\'¦'*'¦a»; x=«'a:b::c'¦' a b '¦':a:'¦'a , b'¦'x1x2x'¦$'\\ta\\tb'¦'::'¦'*:?'¦§V»; set -- $x; echo $#; printf '<%s>' \"$@\"; echo; set -- $x$x; printf '<%s>' \"$@\"; echo; printf '<%s>' a$x\"b\"$x; echo; for i in $x; do printf '[%s]' \"$i\"; done; echo; y=$x; echo \"$*\" $y; unset IFS; echo \"$*\"", "IFS=«:¦''¦x»; set -- a 'b:c' 'xdx'; echo $* \"$*\" $@ \"$@\" \"${*:2}\" ${*#a}; for i in $*; do printf '<%s>' $i; done; for i in \"$*\" x\"$@\"y; do printf '[%s]' \"$i\"; done; x=$*; y=\"$@\"; z=$@; echo \"$x|$y|$z\"; case $* in a:*) echo m;; esac; [[ $* == a* ]]; cat <<< $*; cat <<E\n$* $@\nE", "f() { echo $#; printf '<%s>' \"$@\"; echo; }; IFS=«:¦,¦' '¦''»; f $(«echo 'a:b c'¦printf 'a,b\\n'¦printf ' a  b '¦printf ':'») `echo x:y` $((1)) ${x//a/:} ${nope:-a:b \"c:d\"} «$@¦$*¦\"$*\"¦${arr[*]}¦${arr[@]}»", "IFS=«,¦:»; read -ra p <<< «a,b,,c¦a:b:¦,a¦' a , b'»; echo \"${#p[@]}\"; echo \"${p[*]}\"; IFS=- ; echo \"${p[*]}\" ${p[*]}; printf '%s\\n' \"${p[@]/%/$IFS}\"; unset IFS; x='  a  b  '; echo $x | od -An -c | head -n1; IFS=; echo $x",
    ),
    "declare": (
        "declare «-p nope¦-x x=1¦-r x=2¦-i x=1+1¦-u x=ab¦-l x=AB¦-c x=ab¦-a x=1¦-A x=1¦-a x=(1 2)¦-A x=([a]=1)¦-ir x=3¦-t x¦-g x=4¦-z x¦+x x¦+r x¦-f nope¦-F f¦1x=3¦x+=5¦-i x+=5¦-n x=a¦x=(a b)¦'x=(a b)'¦\"x=$a\"¦x=$a y=*¦-a 'x=(a b)'¦x[1]=2¦'x[1]=2'¦-- x=5¦-ia x=(1+1 2*3)»; echo $?; declare -p x y 2>&1; x=«new¦5+5»; echo \"$? ${x[*]}\"", "«export¦readonly¦local¦typeset» «x=«1¦a b¦$a¦*¦~»¦x¦-n x¦-p x¦-a x=(1 2)¦-f f¦1x¦x y=2¦'x=q'¦x+=more¦-x x»; echo $?; declare -p x 2>&1; printenv x; (x=2); echo $?", "readonly r=1; «r=2¦unset r¦declare r=3¦local r=4¦read r <<< 5¦for r in 6; do echo l; done¦(( r++ ))¦r+=7¦printf -v r 8¦export r=9¦r=1 true¦r=1 f¦let r=2¦: ${r:=3}¦mapfile r <f.txt¦getopts a r -a¦unset -v r¦declare +r r»; echo \"$? $r\"", "unset «x¦-v x¦-f x¦x y nope¦'arr[0]'¦arr[1]¦'m[k]'¦-n x¦1x¦'arr[@]'¦'arr[x]'¦-fv x¦¦PATH; ls¦IFS»; echo \"$? ${x-unset} ${arr[*]}\"", "x=1; f() { «declare¦local¦typeset» «x¦x=2¦-x x=3¦-g x=4¦-r x¦-I x¦-i x=1+1»; declare -p x; x=9; }; f; declare -p x; f; x=tmp f",
    ),
    "lineno": (
        "echo $LINENO $(echo $LINENO) «<(echo) >/dev/null¦»\necho $(\necho $LINENO\n)\ncat <(\necho $LINENO\n)\n(echo $LINENO\necho $LINENO)\neval 'echo $LINENO\necho $LINENO'\nf() { echo $LINENO\necho $LINENO; }\nf\nx=`echo $LINENO`; echo $x \\\n$LINENO\necho \"$LINENO\n\" $LINENO", "exec 2>&1\n\n$(\nnope1\n)\nf() {\nnope2\n(nope3)\n}\nf\n{ nope4; } | cat\nif nope5; then :; fi\neval '\nnope6'\nx=$(nope7\n\nnope8)\necho \"$x\"\nfor i in 1; do\nnope9\ndone\n«cat <(nope10)¦case a in\na) nope11;;\nesac¦[[ a -eq\n1x ]]¦while nope12; do :; done¦nope13 &\nwait»", "f() {\n§C\n(( 1 / 0 ))\n«cd nope¦echo ${x?e}¦readonly LINENO¦LINENO=40; echo $LINENO»\n} 2>&1\nf\necho \"$?\" $LINENO",
    ),
    "parameter": (
        "echo \"${x«-¦:-¦+¦:+¦=¦:=¦?¦:?»«w¦$a¦'q'¦\"d\"¦¦a b¦}q¦\\}»}\" \"${nope«-¦:-¦+¦:+¦=¦:=»«w¦$a¦'q'¦\"d\"¦¦a b»}\" ${nope2«:=¦=»a b}; echo \"$? $nope $nope2\"", "x=«aXbXc¦path/to/f.tar.gz¦héllo¦'a b a'¦''»; echo \"${x«#¦##¦%¦%%»«*X¦*/¦.*¦*.¦?¦X*¦§P»}\" \"${x«/¦//¦/#¦/%»«X¦a¦?¦*¦[a-c]¦/¦§P»«/-¦/¦/&&¦/\\&¦/$a¦/\"&\"¦»}\" \"${x«^¦^^¦,¦,,¦~¦~~»«¦[a-c]¦?¦X»}\" ${#x}", "y=x; z=y; x=val; arr=(a b); r='arr[1]'; q='arr[@]'; echo \"${!y}\" \"${!z}\" \"${!r}\" \"${!q}\" \"${!nope}\" \"${!y:-d}\" \"${!y^^}\" \"${!y#v}\" \"${!x*}\" \"${!a@}\" \"${!#}\" \"${!1}\"", "echo \"$#\" \"${#}\" \"${#@}\" \"${#*}\" \"${#1}\" \"$*\" \"${10}\" \"$10\" \"$-\" | tr -d 's'; set -- «a b c d e f g h i j k¦»; echo \"${10} $10 ${11-none} ${#10} ${@:10}\"; shift «3¦99¦x¦-1»; echo \"$? $1\"", "echo ${x:?«msg¦\"m $a\"¦»} ${nope«:?¦?»«gone¦¦a  b¦\"$x\"»}; echo not here", "echo \"${x/}\" \"${x//}\" \"${x/a}\" \"${x/#/p}\" \"${x/%/s}\" \"${x//a/}\" \"${x/\\//s}\" \"${x//[^a-z]/_}\" \"${x/*/q}\" \"${x//?/.}\" \"${x/a/$'\\n'}\" \"${x@Q}\"", "set -u; echo \"«$nope¦${nope-d}¦${#nope}¦${nope[0]}¦${arr[9]}¦$1¦$@¦${arr[@]}¦${nope[@]}¦${!nope}¦${nope:1}¦${nope#a}¦${nope^}¦$((nope))¦$((nope++))¦${m[z]}¦$!»\"; echo after",
        "echo «${x!}¦${x@Z}¦${1x}¦${}¦${x y}¦${#x:1}¦${x:}¦${x::}¦${x:::}¦${-}¦${#-}¦${?}¦${$:0:0}¦${##}¦${#?}¦${x[}¦${x[]}¦${x[1]y}¦${!}¦${!x@Q}¦${x^^^}¦${x,,[}¦${@x}¦${*:}¦${x/#}¦${x:a b}»; echo $?",
    ),
}
"""Area -> templates."""


def fill(template: str, pick: Callable[[list[str]], str], slots: dict[str, Callable[[], str]]) -> str:
    """A template with alternatives chosen by `pick`, innermost first, and slots filled."""
    while "«" in template:
        template = _INNERMOST.sub(lambda found: pick(found[1].split("¦")), template)
    return _SLOT.sub(lambda found: slots[found[1]](), template)
