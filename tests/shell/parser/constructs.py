"""Constructs of the shell language, by group: valid ones, and ones that bash rejects."""

from __future__ import annotations

VALID: dict[str, tuple[str, ...]] = {
    "simple": (
        "ls -la /gd | grep x", "a; b & c", "a && b || c; d", "a &\nb", "! grep -q x f", "time ls -l", "time -p ls | wc",
        "time -- ls", "a |& b", "a |\n b |\n c", "a && # c\n b", "! ! a", "time ! a", "! time a", "time", "!",
    ),
    "assignment": (
        "a=1", "a=1 b=$x cmd", "a+=x", "a= cmd", 'export A=1 B="x y"', "a=$(ls) b=`ls`", "a=~/x:~/y", "PATH=$PATH:/x ls",
        "a=b=c", "local x=$1 y", "export a=~/x b[1]=2", "let x=1+2 'y = 3'", "eval a=(1 2)", "alias ll='ls -l'",
    ),
    "array": (
        "a=(x y)", "a=()", 'a=(x "y z" $w $(cmd))', "a+=(z)", "a[1]=x", "a[i+1]=x", 'a["k"]=v', "a[$i]+=2",
        'declare -A m=([k]=v [b]="c d")', "declare -a l", "a=(\n  x # c\n  y\n)", "a=([2]=x y)", 'local -a v=("$@")',
        "readarray -t a < <(ls)", "a=([x]=$(a;b) [y]+=z)", "a[${#a[@]}]=x",
    ),
    "parameter": (
        "echo $x ${x} $1 ${10} $@ $* $# $? $$ $! $- $0", "echo ${x:-y}", 'echo "${x:-$y}"', "echo ${x:-${y:-z}}",
        "echo ${x:=1} ${x:?err msg} ${x:+z}", "echo ${x-y} ${x+z}", "echo ${#x}", "echo ${#a[@]} ${#a[0]}",
        'echo "${a[@]}" "${a[*]}"', "echo ${a[i+1]} ${a[$i]} ${a[-1]}", "echo ${!a[@]} ${!x} ${!pre*}",
        "echo ${x#*/} ${x##*/} ${x%.*} ${x%%.*}", "echo ${x/a/b} ${x//a/b} ${x/#a/b} ${x/%a/b}",
        'echo ${x//\\//_} ${x//"}"/b}', "echo ${x^} ${x^^} ${x,} ${x,,} ${x^^[a-c]}", "echo ${x@Q} ${a[@]@A} ${x@U}",
        "echo ${x:1} ${x:1:2} ${x: -3} ${x:(-3):2} ${a[@]:1:2}", "echo ${x:-}}", "echo \"${x:-\"a b\"}\" \"${x:-'q'}\"",
        'echo ${x:-$(echo "}")}', "echo ${x}y$z.txt", 'echo "a${x}b$y c"', "echo ${x:-<(ls)}", "echo ${!x:-y} ${!a[1]}",
        "echo ${#} ${#-} ${##} ${#?} ${-} ${!} ${?}", "echo ${x!y} ${x y}", "echo \"${x#'a'}\" \"${x%$'\\n'}\"",
        "echo ${@:1:2} ${*%x} ${@/a/b}", "echo ${a[x]:?y} ${a[${b[1]}]}", "echo ${x:$((1+1)):${#y}}", "echo ${x/a} ${x//}",
    ),
    "arithmetic": (
        "echo $((1+2))", "echo $((i++))", "x=$(( (a+b) * 2 ** 3 ))", "echo $(( x > 3 ? 1 : 0 ))",
        "echo $((16#ff + 0x1f + 010))", "echo $((a[1]+${#b[@]}))", "echo $(( $(echo 1) + `echo 2` ))", "((i<3))",
        "((i++, j--))", "(( x = y << 2 )) && echo t", "if ((a > b)); then :; fi", "while ((i--)); do :; done", "let i++",
        "echo $[1+2]", 'echo "$((x * 2))%"', "((a<b||c>d)) || ((x))", "for ((i=0;i<10;i++)); do echo $i; done",
        "for ((;;)); do break; done", "for (( i=0, j=9 ; i<j ; i++, j-- )) { echo; }", "for ((i=0;i<3;i++))\ndo\necho\ndone",
        "echo $((1 $op 2)) $((x$y)) $((1+))", "(( a[$(x; y)] += 1 ))", 'echo $(("1" + "$x")) $(( $\'1\' ))', "echo $(( 1 +\n2 ))",
    ),
    "condition": (
        "[[ -f x && ! -d y ]]", "[[ $x =~ re ]]", "[[ $x =~ ^([a-z]+)\\ (.*)$ ]]", "[[ $a == *.txt ]]", '[[ $a != "x y" ]]',
        '[[ -z $x || -n "$y" ]]', "[[ $a -lt 3 ]]", "[[ ( a == b ) && c ]]", "[[ $a < $b ]]", "[[ $x == @(a|b) ]]",
        "if [[ $x ]]; then :; fi", "[[ a == b\n&& c ]]", "[[ ! $x ]] && echo", '[ -f x ] && [ "$a" = b ]',
        "test ! -e x -a -d y", "[[ -v a[1] ]]", "[[ $x == $y* ]] > f", "[[ $x =~ $re && $y ]]", "[[\n-n a # c\n]]",
        "[[ ! ( a || ! b ) ]]", "[[ ! ! a ]]", "[[ a =~ (b c)|d ]]", "[[ a=b ]]", "[[ a =~ [[:space:]]*(a)?b ]]", "[[ x == a\\ b ]]",
    ),
    "case": (
        "case $x in a) echo;; esac", "case $x in a|b) ;; *) c;; esac", "case $x in (a) echo;; esac",
        "case \"$x\" in \"a b\") echo;; '*') echo;; esac", "case x in a) b;;& c) d;& *) e;; esac", "case x in a) b\nesac",
        "case x in\n  a)\n    b\n    ;;\n  # c\n  *)\n    d ;;\nesac", "case x in esac",
        "case $1 in -h|--help) usage; exit;; -*) ;; esac", "case x in [a-z]*) ;; ?) ;; esac", "case in in in) echo;; esac",
        "case x in if) a;; esac", "case x\nin a) b;; esac > f", "case x in a) b & ;; c) d | e;; esac",
    ),
    "loop": (
        "for i in a b c; do echo $i; done", "for i; do echo $i; done", 'for i in "$@"\ndo\necho\ndone',
        'for i in *.txt; do cat "$i"; done > out', "for i in; do :; done", "for i in a b; { echo $i; }",
        'while read -r l; do echo "$l"; done < f', "while read l; do echo; done < <(ls)", "until false; do break; done",
        "while :; do a; b; done | sort", "select x in a b; do break; done", "select x; do echo; done", "select x in; do a; done",
        "while true\ndo\n\n  # c\n  a\n\ndone &", "for 1x in a; do b; done", "for i\ndo a; done", "for do in a; do b; done",
        "while a & b; do c & done", "for i in a; do b; done & c",
    ),
    "if": (
        "if a; then b; fi", "if a; then b; else c; fi", "if a; then b; elif c; then d; else e; fi",
        "if a\nthen\n  b\nelif c\nthen d\nelif e; then f\nfi", "if ! a; then b; fi > f", "if a | b && c; then d; fi",
        "if (a); then { b; }; fi", "if a; b; then c; d; fi", "if a & then b & fi",
    ),
    "function": (
        "f() { echo; }", "f () ( echo )", "function f { echo; }", "function f() { echo; } > log 2>&1",
        "f()\n{\n  local x=1\n  return $x\n}\nf", "a-b.c() { :; }", "f() if a; then b; fi", "f() { g() { :; }; g; }",
        "f() { :; }; f a b", "function f\n{\n:\n}", "f() [[ a ]]", "f() ((1))", "function f ( a )", "f() { a; } < x | b",
    ),
    "group": (
        "(a; b)", "{ a; b; }", "(a) && { b; } || (c)", "( (a) )", "((a); b)", "{ a; } 2>/dev/null | b", "(\na\nb\n)",
        "(cd x && ls) > f 2>&1 &", "{ a; b; } < in > out", "{ a & }", "( a & )", "{ { a; }; }",
    ),
    "redirection": (
        "a > f", "a >> f 2>&1", "a &> f", "a &>> f", "a 2> /dev/null < in", "a >| f <> g", "a >&2", "a 2>&-", "a {fd}>f",
        "exec {fd}>&-", "exec 3< f 4>g", "> f", "> f a b < g c", "a <<< word", 'a <<< "$x y"', "a <<< $(b)", 'a > "$x.txt"',
        "a 3>&1 1>&2 2>&3", "a>f b", "echo 2 >f", "echo 2>f", "a <&3", "a 2>&1-", "a >&$x 2>&$y <&$z", "a >& f", "a 5<>f",
        "a {v[1]}<f", "echo 2>(true)", "a >&$x- <&-", "a>f>g", "a 1>f 0<g",
    ),
    "heredoc": (
        "cat <<EOF\nhi $x\nEOF", "cat <<'EOF'\nhi $x\nEOF", 'cat <<"E F"\nx\nE F', "cat <<-EOF\n\ta\n\t\tb\n\tEOF",
        "cat <<EOF | wc -l\na\nEOF", "cat <<A <<B\n1\nA\n2\nB\necho x", "cat <<EOF > f && echo ok\nbody\nEOF\nls",
        "f() {\ncat <<EOF\nx\nEOF\n}\nf", "for i in 1 2; do\ncat <<EOF\n$i\nEOF\ndone", "x=$(cat <<EOF\na\nEOF\n)",
        "x=$(cat <<'EOF'\nit's ) \"q\nEOF\n)\necho $x", "if true; then cat <<EOF; fi\nx\nEOF",
        "cat <<EOF\n$(ls `pwd`) ${x:-y} $((1+2)) \\$z\nEOF", 'cat <<EOF\n<xml a="b">\n</xml>\nEOF', "cat <<\\EOF\n$x\nEOF",
        "python3 - <<'PY'\nprint(\"a\" if 1 else 'b')\nPY", "cat <<EOF\nEOF", "a <<X; b <<Y\n1\nX\n2\nY",
        "while read l; do echo $l; done <<EOF\na\nb\nEOF", "cat <<EOF\na\\\nEOF\nEOF", "a <<X && b <<Y || c\n1\nX\n2\nY",
        "{ a <<X; } | b <<Y\n1\nX\n2\nY", "a <<X & b\n1\nX", "while a <<X; do b; done\n1\nX", "(a <<X)\n1\nX",
        "case x in a) b <<X;; esac\n1\nX", "if a <<X; then b <<Y; else c <<Z; fi\n1\nX\n2\nY\n3\nZ", "{ a; } <<X\n1\nX\nb",
        "cat <<EOF 2>&1 | a | b <<F\nx\nEOF\ny\nF\nc", "cat 3<<EOF {v}<<F\nx\nEOF\ny\nF",
    ),
    "substitution": (
        "echo $(ls)", "echo $(echo $(echo $(echo x)))", 'echo "$(echo "$(echo "x y")")"', "echo `ls`", "echo `echo \\`ls\\``",
        'echo "`echo \\"a b\\"`"', "x=$(case a in a) echo 1;; esac)", "x=$(case a in (a) echo 1;; esac)", "echo $( (a) )",
        "echo $((a); b)", "echo $(a # c )\n)", "echo $(<f)", "echo $(a\nb\nc)", "echo $(a;)", "echo $(for i in a; do echo $i; done)",
        "echo $(if a; then b; fi)", "diff <(sort a) <(sort b)", "tee >(wc -l) < f", "cat <(echo <(ls))", 'echo $(echo ")")',
        "echo $(echo ')')", "echo $(f() { a; }; f)", "echo $()", 'echo "$(cat <<EOF\na"b\nEOF\n)"', "echo $(a | b && c || d)",
        "x=$(\n  a |\n  b\n)", "echo $(a; b\nc &\nd)", "echo $(while a\ndo b; c\nd\ndone)", "echo $( { a; } 2>&1 )", "echo `if`",
        "!<(true); time<(true); do<(true)",
    ),
    "quote": (
        "echo 'a b' \"c d\" e\\ f", "echo $'a\\n\\t\\x41\\u00e9\\''", 'echo $"loc $x"', 'echo "a\\"b\\$c\\\\d\\`"', "echo 'it'\\''s'",
        "echo a'b'c\"d\"e", 'echo ""', "echo '' x", 'echo "a\nb"', "echo 'a\nb' c", 'echo "$x"', "echo '$x' \"'$x'\"",
        "echo 'a'b'c'", "echo \\$x \\\\ \\;", 'echo "a\\\nb"', "grep -E 'a|b' \"f\"", "awk '{print $1}' f",
        'sed -e "s/$x/\\\\n/g" f', "echo $'\\c?\\cA\\c\\\\x'", "echo \"$'a'\"",
    ),
    "brace": (
        "echo {a,b}", "echo {1..3}", "echo {a..c}{1,2}", "echo x{a,b{1,2}}y", "mkdir -p {a,b}/c", "cp f{,.bak}",
        'echo {} {a} "{a,b}"', "echo {a,b", "find . -exec ls {} \\;", "echo {01..10..2}", 'echo a{$x,"b c"}d', "echo {a,{b,c},d}",
    ),
    "glob": (
        "ls *.txt ?x [a-z]* [!a]", "ls !(*.txt)", "echo @(a|b)c +(x) ?(y) *(z)", "ls **/*.py", "echo ~ ~/x ~root/y a~ ~+ ~-",
        "ls \\*.txt '*'.txt", "rm -f x[0-9][0-9]",
    ),
    "comment": (
        "# only comment", "a # c", "a #c\nb", "#!/bin/bash\n\na", "a\n# c\n\n\nb", 'echo a#b "#c" \\#d', "a # it's \"q",
        "a;# c\nb", "{ # c\na # d\n}", "$((x # 2))",
    ),
    "newline": (
        "a\nb\nc", "\n\na", "a\n\n\n", "a \\\n  b \\\n  c", "a;\nb;", "a && \\\nb", "if a; then\n\n\nb\n\nfi", "", "   ",
        "a\\\nb c", 'ec\\\nho "x"', " \n a  \n  b ", "foo\\", "i\\\nf a; then b; fi", "a &\\\n& b",
    ),
    "misc": (
        "coproc cat", "coproc X { cat; }", "coproc { cat; } > f", "a | while read x; do echo $x; done", "set -- a b; shift",
        'trap "echo x" EXIT', 'eval "$x"', ". ./f", 'echo héllo 世界 "日本"', "é=1", "echo {a,b}$x\"c\"'d'`e`$(f)",
        'find . -name "*.py" -exec grep -l x {} + 2>/dev/null | head -5', "curl -s \"http://x/?a=1&b=2\" | jq -r '.a[] | .b'",
        'git log --pretty=format:"%h %s" | head', "x=${1:?usage: $0 file}", 'echo "${arr[@]/#/-I}"',
        'printf "%s\\n" "${a[@]}" | sort | uniq -c', '[ "$#" -lt 2 ] && { echo usage >&2; exit 1; }',
        'for f in $(ls | grep -v "^#"); do mv "$f" "${f%.txt}.md"; done', "ls -l | awk '{s+=$5} END {print s}'",
        "echo $x if then done", "echo for case } {",
    ),
}  # fmt: skip

INVALID: tuple[str, ...] = (
    'echo "abc', "echo 'abc", "echo $(ls", "echo `ls", "if a; then b", "if a; b; fi", "for i in a; do b", "a | | b", "a && ",
    "(a; b", "{ a; b", "a )", "case x in a) b", "fi", "echo ${x", "((1+", "a > ", "a >\n", "done", ";", "f() {", "a ;; b",
    "echo <(ls", "while a; do b; fi", "a=(b", "a=(b\nc\n", "a=( ; )", "cmd a=(1)", "()", "a\n\nb | )\nc", "echo $(if)",
    "echo $(a; )) b", 'echo "$(a |)"', "a[1=2\nb", "select", "for", "case", "case x", "case x in a", "function", "f()", "f(",
    "! |", "&& a", "a & & b", "a <<", "a <<\n", "echo (a)", "a (b)", "a () b", "f() a", "case x in esac)", "in", "do a", "then",
    "{ a }", "case a in b) c;; d e) f;; esac", "for i in a b do c; done", "echo a > > b", "a\n  echo x ( y  \nb", "a; b;\n\n;",
    "case x in if) a;; esac) ;; esac", "echo $((1", "echo $((1+2)", "for ((i=0;i<3)); do a; done", "for ((a;b;c;d)); do e; done",
    "for ((i=0\n", "if true; then\n echo \"a\n fi\n", "echo $[1+", "echo $'a", "[[ a ]] b", "echo `a", "if a; then b; fi fi",
)  # fmt: skip

ALL_VALID: tuple[str, ...] = tuple(script for scripts in VALID.values() for script in scripts)
