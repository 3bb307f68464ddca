"""Random bash: scripts from a grammar of constructs and tools, and mutations of a seed corpus. Deterministic by seed."""
from __future__ import annotations

import random
import re
from functools import partial
from pathlib import Path

CORPUS = [text for text in (Path(__file__).parent / "corpus.txt").read_text("utf-8").split("\n----\n") if text.strip()]

NAMES = ["a", "b", "c", "x", "y", "i", "arr", "m", "IFS", "PATH", "HOME", "REPLY", "OPTIND", "RANDOM", "_", "PS4", "LINENO", "BASH_REMATCH"]
FILES = ["f", "g", "data.txt", "d/e", "no/such", "*", "d", "/dev/null", "/dev/stdin", "/etc/passwd", "p", "?", "-", "/", ".", "..", "link", "'a b'", "/dev/fd/3", "/tmp/q"]
NUMBERS = ["0", "1", "2", "-1", "3", "7", "10", "08", "0x1f", "2#101", "64#_", "255", "256", "65536", "2147483648", "9223372036854775807",
           "-9223372036854775808", "9223372036854775808", "99999999999999999999999", "1e9", "0.5", "1000000", "007", "-0", "+5"]
WORDS = ["foo", "bar", "a b", "", "--", "-n", "-e", "*", "[a-z]", "~", "$", "\\", "'", '"', "é", "😀", "\t", "\n", "%s\\n", "%d", "{a,b}", "{1..3}",
         "a=b", "a/b/c", "x" * 70, "\x01", "\x7f", "\udcff", "\udc80\udcfe", "#", "!", "&", ";", "(", ")", "=~", "\\n\\t\\0", "%", "@", "^a.*$", "/x/"]
REGEXES = ["a", "^a", "b$", ".*", "(a|b)+", "[[:alpha:]]+", "[^a-c]", "a{2,3}", "\\(a\\)\\1", "(x+x+)+y", "a**", "[", "(", "\\", "*", "^*", "a{,3}", "[]a]", "[a-",
           "\\<a\\>", "(a)(b)?", "a|", "", "\\bfoo\\b", "[[.a.]]", "[[:foo:]]", "x{1000}", "(?<n>a)", "(?i)A", "\\w+", "\\d", "$^", "é+", "."]
GLOBS = ["*", "?", "[a-c]*", "*.txt", "**", "[!a]", "[^a]", "[", "[]", "[a", "!(a)", "@(a|b)", "+(a)", "*(ab|c)", "?(x)", "a*b*c", "\\*", "[[:digit:]]", "d/*", "*/", ".*", "é*"]
FORMATS = ["%s", "%d", "%5d", "%-5s|", "%05.2f", "%x", "%o", "%q", "%b", "%c", "%%", "%", "%*d", "%.*s", "%(%F)T", "%n", "%1$s", "\\n", "\\x41", "\\u20ac", "\\0101", "%e", "%a", "%i %u", "%99999999999d", "%.9999999s"]

AWK = [
            "{print $1}", "{print NF, NR, $NF}", "BEGIN{print 1/3; print -1 % 3; print 2^10}", "/«r»/", "/«r»/{n++} END{print n}", "{a[$1]++} END{for(k in a) print k, a[k]}", "BEGIN{while((getline l < \"f\")>0) print l}", "{gsub(/a/,\"&&\"); print}", "{$2=\"\"; print}", "{$5=1; print NF}", "BEGIN{printf \"%s %d %c %5.2f\\n\", \"a\", 3.7, 65, 1e300}", "function f(n){return n<2?n:f(n-1)+f(n-2)} BEGIN{print f(10)}", "BEGIN{n=split(\"a:b:c\",x,\":\"); print n, x[2]}", "NR==1,NR==3", "!s[$0]++", "END{print $0}", "BEGIN{\"echo hi\"|getline x; print x}", "{print > \"out\"}", "{print | \"sort\"}", "BEGIN{exit 3} END{print 1}", "BEGIN{print length(), substr(\"hello\",2,3), index(\"abc\",\"c\"), toupper(\"a\")}", "BEGIN{print match(\"foobar\",/o+/), RSTART, RLENGTH}", "BEGIN{x[1,2]=3; for(k in x){split(k,p,SUBSEP); print p[1]}; delete x}", "BEGIN{print substr(\"x\",-1,99999999999), sprintf(\"%*d\",3,4)}", "BEGIN{getline; print; next}", "{next} END{print NR}", "BEGIN{RS=\"\"}{print}", "BEGIN{FS=\",\";OFS=\"-\"}{$1=$1}1", "BEGIN{print 1==1.0, \"a\"<\"b\", 1 \" \" 2, -\"3x\"}", "BEGIN{system(\"exit 3\"); print system(\"true\")}", "BEGIN{print strftime(\"%Y\",0), srand(1), int(rand()*0)}", "BEGIN{print gensub(/(a)/,\"<\\\\1>\",\"g\",\"banana\")}", "BEGIN{print toupper(x) length(x) x+0}", "BEGIN{a=1;a+=a++ + ++a;print a}", "BEGIN{do{i++;if(i==3)continue}while(i<5);print i}", "BEGIN{printf \"%d %i %o %x %u %e %g\\n\",\"0x1A\",1e18,8,255,-1,1,1e100}", "{", "BEGIN{print", "BEGIN{f(}", "BEGIN{print $(-1)}", "BEGIN{print 1/0}", "BEGIN{NF=-1}", "BEGIN{print ENVIRON[\"HOME\"], ARGV[0], ARGC, PROCINFO[\"pid\"]>0}", "@include \"x\"", "BEGIN{asort(a);asorti(b,c);print length(c)}", "BEGIN{switch(1){case 1:print \"a\"}}", "BEGIN{print and(5,3), xor(1,2), lshift(1,70), compl(0)}", "BEGIN { print substr(\"é😀\", 2, 1), length(\"é\") }", "BEGIN{x=\"A\"; while(i++<20) x=x x; print length(x)}"
]
JQ = [".", ".a", ".[]", ".a.b?", "keys", "length", "map(.+1)", "[range(5)]", "{a:1}|.a", "if . then 1 else 2 end", "try error(\"x\") catch .", "reduce range(5) as $i (0;.+$i)", "[limit(3;range(10))]", "[.[]?]|sort", "to_entries", "\"\\(1+2)\"", "@base64", "@csv", "@sh", "@uri", "@tsv", "@html", "@json", "tojson|fromjson", "test(\"a+\")", "[match(\"a\";\"g\").offset]", "sub(\"a\";\"b\")", "gsub(\"\";\"-\")", "split(\",\")", "ascii_downcase", "input", "[inputs]", "$ENV|type", "env.HOME", "now|type", "0|todate", "\"2020-01-01T00:00:00Z\"|fromdate", "[1,[2]]|flatten", "def f(x): x+1; f(2)", "label $o|1,break $o,2", "[.[]|select(.>1)]", "$__loc__", "input_line_number", "ltrimstr(\"a\")", "tonumber", "tostring", "1/0", ". as [$a,$b]|$a", "[recurse]|length", "..", "path(..)", "[paths]", "getpath([\"a\"])", "setpath([\"a\"];1)", "del(.a)", "with_entries(.value|=1)", "group_by(.a)", "min_by(.)", "unique", "any", "all", "[splits(\"a\")]", "ascii", "implode", "explode", "1e1000", "nan|isnan", "infinite", "-1|sqrt", "pow(2;64)", "[1,2]-[2]", "{} * {}", "\"a\"*3", "\"a\"*0", "[.]|@text", "@base64d", "limit(0;1)", "first(empty)", "until(.>10;.+1)?", "[foreach range(3) as $i (0;.+$i)]", "ltrimstr(1)", "error", "error(null)", "halt_error", "halt", "$a", "$__prog_args", "getpath(1)", "tojson", "strptime(\"%Y\")", "mktime", "gmtime", "strftime(\"%Y\")", "splits(1)", "ascii(65)", "@foo", "{(1):2}", "[", "{", "|", ".[", "\"\\u00e9\\ud83d\"", ".[1:2]", ".[-1:]", ".[\"a\"]", ".a[]=1", ".a|=empty", "limit(-1;1)", "tostream", "fromstream(tostream)", "truncate_stream(1;tostream)", "walk(.)", "env|length", "builtins|length", "input_filename", "significand", "getpath([1,2])", "combinations", "ascii_upcase", "indices(1)", "inside({})", "contains(1)", "splits(\"\")", "have_decnum", "abs", "toarray", "trim", "pick(.a)", "debug", "scan(\"a\")", "IN(1,2)", "ltrimstr", "getpath", "repeat(1)|first", "[.[] as {a:$x} ?// [$x] | $x]", "100000000000000000000000001", "[range(0;10;0)]|length", "@sh \"echo \\(.)\"", "limit(3;repeat(1))"]
FIND = ["-name '*'", "-type f", "-type d", "-name '[a-'", "-maxdepth 1", "-mindepth 1", "-empty", "-size +0", "-size -1k", "-newer f", "-print", "-print0", "-exec echo {} \\;", "-exec echo {} +", "-delete", "-o", "!", "\\(", "\\)", "-prune", "-printf '%p %s\\n'", "-printf '%'", "-path './d*'", "-regex '.*'", "-iname A", "-perm 644", "-perm /111", "-mtime -1", "-user user", "-quit", "-ls", "-false", "-execdir pwd \\;", "-ok echo {} \\;", "-links 1", "-inum 5", "-fprint f", "-depth", "-samefile f", "-xtype l", "-nope", "-exec", "-regextype x", "-mmin 5", "-size x", "-readable", "-a", ","]
BUILTINS = 67                                                # how many of COMMANDS are builtins
COMMANDS = (Path(__file__).parent / "commands.txt").read_text("utf-8").splitlines()
"""Templates: «W» is a word, «S» words, «N» a number, «a¦b» one of both, ... (see `Generator.fill`)."""


HEREDOC = ["cat", "read x", "sh", 'while read l; do echo "$l"; done', ":"]


class Generator:
    """One random script: `Generator(rng).script()`."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.depth = 0

    def pick(self, items: list[str] | str) -> str:
        return self.rng.choice(items)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def script(self) -> str:
        lines = [self.command() for _ in range(self.rng.choice((1, 1, 1, 2, 2, 3, 4)))]
        return self.pick(["\n", "; ", "\n", " && ", " || "]).join(lines)

    # ---- words

    def quoted(self, text: str) -> str:
        """`text` as a word that parses, mostly."""
        kind = self.rng.random()
        if kind < 0.45 and "'" not in text:
            return f"'{text}'"
        if kind < 0.6 and not re.search(r'["\\$`]', text):
            return f'"{text}"'
        if kind < 0.65:
            return "$'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
        if re.fullmatch(r"[\w./:=,%@+-]+", text):
            return text
        return "'" + text.replace("'", "'\\''") + "'"

    def word(self) -> str:
        kind = self.rng.random()
        if kind < 0.25:
            return self.quoted(self.pick(WORDS))
        if kind < 0.35:
            return self.pick(NUMBERS)
        if kind < 0.45:
            return self.pick(FILES)
        if kind < 0.5:
            return self.pick(["*", "?", "[a-c]*", "*.txt", "**", "d/*", "*/", ".*"])
        if kind < 0.75:
            return self.parameter() if self.chance(0.4) else f'"{self.parameter()}"'
        if kind < 0.8:
            return f"$(({self.arith()}))"
        if kind < 0.86:
            return self.substitution()
        if kind < 0.9:
            return self.brace()
        if kind < 0.93:
            return f'"{self.pick(["a", "", "x y"])}{self.parameter()}{self.substitution()}"'
        return "".join(self.word() for _ in range(2))

    def words(self, most: int = 4) -> str:
        return " ".join(self.word() for _ in range(self.rng.randint(0, most)))

    def brace(self) -> str:
        return self.pick(["{a,b}", "{1..5}", "{a..e}", "{5..1..2}", "x{,y}z", "{1..3}{a,b}", "{a,{b,c}}", "{01..10}", "{1..99999999999}", "{a..1}", "{,}", "{-3..3}", "{z..a..5}", "{1..10..0}", "{a,b"])

    def name(self) -> str:
        return self.pick(NAMES)

    def parameter(self) -> str:
        name = self.pick([*NAMES, "1", "2", "@", "*", "#", "?", "$", "!", "0", "-", "arr[@]", "arr[*]", "arr[1]", "m[k]", "arr[-1]", "10"])
        kind = self.rng.random()
        if kind < 0.3 and "[" not in name and len(name) == 1:
            return f"${name}"
        if kind < 0.4:
            return "${" + name + "}"
        if kind < 0.46:
            return "${#" + name + "}"
        if kind < 0.5:
            return "${!" + name + self.pick(["", "*", "@", "[@]"]) + "}"
        if kind < 0.64:
            return "${" + name + self.pick([":-", "-", ":=", "=", ":+", "+", ":?", "?"]) + (self.word() if self.chance(0.6) else "") + "}"
        if kind < 0.76:
            return "${" + name + self.pick(["#", "##", "%", "%%"]) + self.pick(GLOBS) + "}"
        if kind < 0.88:
            return "${" + name + self.pick(["/", "//", "/#", "/%"]) + self.pick(GLOBS) + "/" + self.pick(["", "x", "&", "$a", "[&]"]) + "}"
        if kind < 0.94:
            return "${" + name + ":" + self.pick([" -1", "0", "1", "a", "1+1", "99999999999999999999", " -3"]) + self.pick(["", ":1", ":-1", ":99", ": -2"]) + "}"
        return "${" + name + self.pick(["^", "^^", ",", ",,", "~~", "@Q", "@E", "@P", "@A", "@a", "@U", "@L", "@K", "@k", "@Z"]) + "}"

    def substitution(self) -> str:
        if self.depth > 3:
            return "$(:)"
        body = self.command()
        if self.chance(0.1) and "`" not in body and "\\" not in body:
            return f"`{body}`"
        return f"$( {body} )"

    def arith(self, depth: int = 0) -> str:
        kind = self.rng.random()
        if depth > 4 or kind < 0.3:
            return self.pick([*NUMBERS[:19], "a", "b", "i", "x", "arr[0]", "$a", "arr[i]", "y", "RANDOM%7"])
        inner = partial(self.arith, depth + 1)
        if kind < 0.65:
            return inner() + self.pick(["+", "-", "*", "/", "%", "**", "<<", ">>", "<", "<=", "==", "!=", "&", "|", "^", "&&", "||", ",", " - "]) + inner()
        if kind < 0.73:
            return self.pick(["-", "+", "!", "~"]) + inner()
        if kind < 0.8:
            return f"({inner()})"
        if kind < 0.86:
            return f"{inner()}?{inner()}:{inner()}"
        if kind < 0.93:
            return self.pick(["a", "b", "i", "arr[1]", "x"]) + self.pick(["=", "+=", "-=", "*=", "/=", "%=", "<<=", "|=", "**="]) + inner()
        return self.pick(["a++", "--b", "++i", "x--", "a b", "1 2", "", "08", "(", "1+", "a[", "1/0", "$((1))"])

    # ---- commands

    def command(self) -> str:
        if self.depth > 5:
            return self.pick([":", "true", "false", "echo x", "((0))"])
        self.depth += 1
        try:
            kind = self.rng.random()
            if kind < 0.3:
                return self.simple()
            if kind < 0.5:
                return self.fill(self.pick(COMMANDS[BUILTINS:]))
            if kind < 0.63:
                return self.pipeline()
            if kind < 0.9:
                return self.compound()
            return self.special()
        finally:
            self.depth -= 1

    def fill(self, template: str) -> str:
        """A template of COMMANDS with everything between « and » chosen."""
        out, at = [], 0
        while (start := template.find("«", at)) >= 0:
            level, end, cuts = 1, start + 1, [start + 1]
            while level:
                char = template[end]
                level += (char == "«") - (char == "»")
                if char == "¦" and level == 1:
                    cuts.append(end + 1)
                end += 1
            cuts.append(end)
            out.append(template[at:start])
            which = self.rng.randrange(len(cuts) - 1)
            inner = template[cuts[which]:cuts[which + 1] - 1]
            out.append(self.fill(inner) if len(cuts) > 2 else self.part(inner))
            at = end
        return "".join(out) + template[at:]

    def part(self, kind: str) -> str:
        if kind == "I":
            return self.pick(["", "", " <<< " + self.word(), " < f", " f", " f g", " /etc/passwd", " -", " < data.txt", " nope", " d"])
        lists = {"N": NUMBERS, "F": FILES, "V": NAMES, "T": FORMATS}
        if kind in lists:
            return self.pick(lists[kind])
        makers = {"W": self.word, "S": self.words, "C": self.command, "sed": self.sed, "awk": self.awk, "jq": self.jq, "find": self.find, "A": self.arith}
        if kind in ("sed", "awk", "jq"):
            return self.quoted(makers[kind]())
        if kind in makers:
            return makers[kind]()
        return self.quoted({"QC": self.command, "QA": self.arith, "QT": lambda: self.pick(FORMATS), "R": lambda: self.pick(REGEXES)}[kind]())

    def simple(self) -> str:
        kind = self.rng.random()
        if kind < 0.25:
            text = "echo " + self.words()
        elif kind < 0.4:
            text = self.assignment()
        elif kind < 0.5:
            text = "printf " + self.quoted("".join(self.pick(FORMATS) for _ in range(self.rng.randint(1, 3)))) + " " + self.words(3)
        elif kind < 0.85:
            text = self.fill(self.pick(COMMANDS[:BUILTINS]))
        else:
            text = self.word() + " " + self.words(2)
        if self.chance(0.15):
            text = self.assignment() + " " + text
        return text + (self.redirection() if self.chance(0.2) else "")

    def assignment(self) -> str:
        name = self.name()
        kind = self.rng.random()
        if kind < 0.5:
            return name + self.pick(["=", "=", "+="]) + self.word()
        if kind < 0.75:
            return self.pick(["arr", "arr", "m", name]) + self.pick(["=", "+="]) + "(" + self.words(4) + self.pick(["", " [3]=x", " [k]=v", " [-1]=z", " [a]=$a"]) + ")"
        return self.pick(["arr", "m", name]) + "[" + self.pick(["0", "1", "-1", "k", "$a", "a+1", "@", "", "'a b'", "99999999999", "$(echo 2)", "1/0"]) + "]" + self.pick(["=", "+="]) + self.word()

    def redirection(self) -> str:
        kind = self.rng.random()
        if kind < 0.45:
            return " " + self.pick([">", ">>", "<", "2>", "&>", "<>", ">|", "2>>", "3<", "9>", "{fd}<", "0<"]) + " " + self.pick(FILES[:5] + FILES[7:] + ["f", "g"])
        if kind < 0.7:
            return " " + self.pick(["2>&1", ">&2", "<&-", "1>&-", "3>&1", "2>&-", "<&3", ">&9", "3<&0", "1>&2-", ">&$a", "0<&1"])
        if kind < 0.82:
            return " <<< " + self.word()
        if kind < 0.9:
            return " < <( " + self.command() + " )"
        return " > >( " + self.command() + " )"



    def sed(self) -> str:
        regex, other = self.pick(REGEXES), self.pick(["x", "&", "\\1", "\\n", "\\U&", "", "[&]", "\\L\\1\\E", "/"])
        address = self.pick(["", "", "1", "$", "/a/", "1,3", "/a/,/b/", "0~2", "1!", "2,+1", "0,/x/", "/a/I", "$!", "1,~2", "\\,a,"])
        body = self.pick([f"s/{regex}/{other}/{self.pick(['', 'g', 'p', '2', 'gI', 'w f', 'e', 'M', '0', '3g'])}", "d", "p", "=", "q", "Q3", "n", "N", "D", "P", "G", "H", "h", "g", "x", "l", "y/abc/xyz/", "y/ab/c/", "a\\foo", "i bar", "c\\", "r f", "w g", "b", ":a;s/a/b/;ta", ":a;N;$!ba;s/\\n/,/g", "{p;d}", "{", "}", "e echo", "z", "F", "R g", "W g", "T", "#n", "l 5", "v", "s/a/b", "k", "tx;:x", "s,a,b,", "r /dev/stdin"])
        return f"{address}{body}"

    def awk(self) -> str:
        return self.pick(AWK).replace("«r»", self.pick(REGEXES[:6]))

    def jq(self) -> str:
        return self.pick(JQ) if self.chance(0.6) else self.pick(JQ) + self.pick([" | ", ", ", " // "]) + self.pick(JQ)

    def find(self) -> str:
        return " ".join(self.pick(FIND) for _ in range(self.rng.randint(0, 4)))

    def pipeline(self) -> str:
        parts = [self.command() for _ in range(self.rng.randint(2, 3))]
        return self.pick(["", "", "", "! ", "time "]) + self.pick([" | ", " | ", " |& "]).join(parts)

    def compound(self) -> str:
        body = self.command
        kind = self.rng.randrange(16)
        tail = self.redirection() if self.chance(0.2) else ""
        if kind == 0:
            return f"for {self.name()} in {self.words()}; do {body()}; done{tail}"
        if kind == 1:
            return f"for ((i=0;i<{self.pick(['3', '5', '2', 'x'])};i++)); do {body()}; done{tail}"
        if kind == 2:
            return f"while {self.pick(['read -r x', '((i++<3))', '[ $((n+=1)) -lt 4 ]', 'false', 'shift', body()])}; do {body()}; {self.pick(['break', 'break', ':', 'continue'])}; done{tail}"
        if kind == 3:
            return f"if {body()}; then {body()}; {self.pick(['', f'elif {body()}; then {body()};'])} {self.pick(['', f'else {body()};'])} fi{tail}"
        if kind == 4:
            return f"case {self.word()} in {self.pick(GLOBS[:8])}) {body()};; {self.pick(GLOBS[:4])}|b) {body()} {self.pick([';;', ';&', ';;&'])} *) {body()};; esac{tail}"
        if kind == 5:
            return f"( {body()} ){tail}"
        if kind == 6:
            return f"{{ {body()}; {body()}; }}{tail}"
        if kind == 7:
            return f"f1() {{ {body()}; }}; f1 {self.words(2)}"
        if kind == 8:
            return f"f2() ( {body()} ); f2 {self.words(2)} | cat"
        if kind == 9:
            return f"[[ {self.condition()} ]]{tail}"
        if kind == 10:
            return f"(( {self.arith()} ))"
        if kind == 11:
            return f"{body()} {self.pick(['&&', '||'])} {body()}"
        if kind == 12:
            return f"{body()} & {self.pick(['wait', 'wait $!', ':', 'jobs', 'kill $!; wait', 'kill -9 %1', ''])}"
        if kind == 13:
            end = self.pick(["E", "'E'", '"E"'])
            text = self.pick(["plain", f"{self.parameter()} {self.substitution()}", "a\\$b `echo x`", "\ttab", "$((1+1))", "\udcff é"])
            return f"{self.pick(HEREDOC)} {self.pick(['<<', '<<-', '3<<'])}{end}\n{text}\nE\n"
        if kind == 14:
            return f"select x in {self.words(2)}; do {body()}; break; done <<< 1"
        return f"coproc {self.pick(['', 'C '])}{{ {body()}; }}; {self.pick(['read -t 0.1 x <&${COPROC[0]}', 'wait', 'echo x >&${COPROC[1]}', ':'])}"

    def condition(self) -> str:
        kind = self.rng.random()
        if kind < 0.25:
            return f"{self.word()} =~ {self.pick(['a+', '^(a|b)*$', '[[:digit:]]', '(x)(y)?', '$a', '.', '^$', '[a-c]{2}'])}"
        if kind < 0.5:
            return f"{self.word()} {self.pick(['==', '!=', '='])} {self.pick(GLOBS)}"
        if kind < 0.65:
            return f"{self.word()} {self.pick(['-eq', '-lt', '-ge', '<', '>', '-nt', '-ef'])} {self.word()}"
        if kind < 0.8:
            return f"{self.pick(['-f', '-d', '-n', '-z', '-v', '-o', '-e', '-t', '-s', '-R'])} {self.word()}"
        if kind < 0.9:
            return f"{self.condition()} {self.pick(['&&', '||'])} {self.condition()}"
        return f"! {self.condition()}" if kind < 0.95 else f"( {self.condition()} )"

    def special(self) -> str:
        """What costs much, goes deep, or never ends by itself."""
        n = self.rng.randint(2, 60)
        return self.pick([
            "x=a; for i in {1..40}; do x=$x$x; done", "echo {1..999999999} | wc -w", "f1(){ f1; }; f1", ":(){ :|:& };:", "yes | head -c 3000000 | wc -c", "printf '%1000000000d' 1", "((9**9**9))",
            "(" * n + "echo" + ")" * n, "{ " * n + "echo" + "; }" * n, "$(" * n + "echo" + ")" * n, "if :; then " * n + ":" + "; fi" * n, "echo $((" + "(" * n * 20 + "1" + ")" * n * 20 + "))", "[[ " + "! " * n + "a ]]", "eval " * n + "echo hi", "echo " + "${a:-" * n + "x" + "}" * n,
            "head -c 1G /dev/zero > f", "cat /dev/zero | head -c 10 | od -c", "read -n 5 x < /dev/zero", "mapfile -n 2 arr < /dev/urandom", "truncate -s 1G f; wc -c f", "seq 100000 | sort -rn | head -1", "seq 30000 | awk '{s+=$1} END{print s}'", "x=$(seq 20000); echo ${#x} ${x//1/yy} | wc -c", "arr=({1..5000}); echo ${arr[@]: -1} ${#arr[@]}", "trap 'kill -USR1 $$' USR1; kill -USR1 $$ & sleep 0.05; kill -9 %1", "exec 0<&- 1>&- 2>&-", "exec 3>&1 4<&0 5>f; echo x >&5; exec 5>&-", "mkfifo p; echo x > p & cat p", "mkfifo p; timeout 0.05 cat p", "coproc cat; echo hi >&${COPROC[1]}; read x <&${COPROC[0]}; echo $x", "diff <(seq 5) <(seq 6)", "tee >(cat) >(wc -l) <<< x", "cat <(echo a) <(echo b)", "while :; do echo x; done | head -2", "sleep 5 & disown; kill $!", "( trap '' TERM; kill $BASHPID; echo alive )", "set -m; sleep 0.01 & fg", "wait & wait; wait $!", "jq -n '[range(100000)]|length'", "awk 'BEGIN{while(i++<30000) a[i]=i; print length(a)}'", "sed ':a;s/^.\\{1,300\\}$/x&/;ta' <<< a | wc -c", "printf '%s\\n' {1..2000} | xargs -n 100 echo | wc -l", "bc <<< '2^2000'", "find / | wc -l", "ls -R / > /dev/null", "grep -r root / 2>/dev/null | head -1", "for i in 1 2 3; do (sleep 0.001; echo $i) & done; wait", "ulimit -n 3; exec 9<f", "unset PATH; ls", "PATH=; ls", "IFS=; echo $*", "cd /; cd /nope; cd -", "rm -rf /", "rm -rf ~ . *", "mv / x; cp -r / x", "export $(printf 'a%s=b ' {1..500}); env | wc -l", "set -- {1..5000}; shift 4999; echo $1", "timeout 0.05 sh -c 'while :; do :; done'", "kill -STOP $$; echo on", "x='$(eval echo \"$x\")'; eval \"echo $x\"", "declare -n r=r2 r2=r; echo $r", "a=b b=a; echo $((a))", "echo '. ./s' > s; . ./s", "alias q='q q'; q", "exec {a}<f {b}<f; echo $a $b", "sh -c 'kill -9 $$'; echo $?", "set -e; false; echo no", "return 3", "exit 300", "while :; do break 99; done", "f1(){ local x=$1; ((x)) && f1 $((x-1)); }; f1 300; echo $?",
        ])


def mutate(rng: random.Random, text: str) -> str:
    """A seed script with a few things changed: bytes, tokens, lines, pieces of others."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        tokens = re.findall(r"\s+|\w+|.", text, re.DOTALL)
        if not tokens:
            break
        at = rng.randrange(len(tokens))
        kind = rng.randrange(12)
        if kind == 0:
            del tokens[at]
        elif kind == 1:
            tokens.insert(at, rng.choice(tokens))
        elif kind == 2:
            tokens[at] = rng.choice(NUMBERS)
        elif kind == 3:
            tokens[at] = rng.choice([";", "|", "&", "&&", "||", "(", ")", "{", "}", "<", ">", "\n", "'", '"', "`", "$", "$(", "${", "((", "[[", "]]", "<<", "<(", "\\", "!", "#", "*", "=", "%"])
        elif kind == 4:
            tokens.insert(at, Generator(rng).word())
        elif kind == 5:
            other = rng.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 6:
            tokens = tokens[:at] if rng.random() < 0.5 else tokens[at:]
        elif kind == 7:
            tokens[at] = rng.choice(WORDS)
        elif kind == 8:
            other = re.findall(r"\s+|\w+|.", rng.choice(CORPUS), re.DOTALL)
            start = rng.randrange(len(other))
            tokens[at:at + rng.randint(0, 3)] = other[start:start + rng.randint(1, 8)]
        elif kind == 9:
            tokens.insert(at, "\n" + Generator(rng).command() + "\n")
        elif kind == 10 and tokens[at].isalnum():
            tokens[at] = Generator(rng).parameter()
        else:
            piece = tokens[at:at + rng.randint(1, 6)]
            tokens[at:at] = piece * rng.choice((1, 2, 20))
        text = "".join(tokens)
    return text


def script(seed: int, number: int) -> str:
    """Script `number` of a run with this seed."""
    rng = random.Random(f"{seed}:{number}")
    if rng.random() < 0.6:
        return Generator(rng).script()
    return mutate(rng, rng.choice(CORPUS))
