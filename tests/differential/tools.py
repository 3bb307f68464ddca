"""Random invocations of the tools over generated files, deterministic by seed."""
from __future__ import annotations

import random
from collections.abc import Callable

from tests.differential.grammars import GRAMMARS

LETTERS = "abcxyzABC012 "
WORDS = ("apple", "Banana", "cherry", "apple", "date", "fig", "foo", "bar", "baz", "Foo", "a", "b", "zebra", "10", "9", "2", "100", "-5", "3.14", "1e3", "0x1f",
         "1K", "2M", "Jan", "feb", "v1.2", "v1.10", "x_y", "a-b", "héllo", "ünï", "日本語", "*", "a.b", "#c", "", "q\\t", "end.")
REGEXES = ("a", "^a", "b$", "[a-c]", "[^a]*", "o\\+", "a*", ".", "", "an", "[[:digit:]]\\+", "\\(a\\)\\(n\\)", "x\\|y", "foo", "\\.", "^$", "e.*e", "\\<a", "r\\>", "[[:upper:]]",
           "é", "a\\{1,2\\}", "^[^ ]* ", "[0-9]", "\\bfoo\\b", "\\w\\+", "[]a]", "[a-", "\\(.\\)\\1", "^\\(.*\\)$", "*a", "a**", " ")
EXTENDED = ("a|b", "^(a|f)", "o+", "[0-9]{2,}", "(a)(n)?", "x?y", ".", "^$", "fo{2}", "(.)\\1", "[[:alpha:]]+$", "\\.", "a{,2}b", "(^a|e$)", "\\bbar", "[^a-z]+", "()", "a||b", "é|ü",
            "^[[:space:]]*", "(ab*)+", "[.]", "\\w+", "z$|^b")
REPLACEMENTS = ("X", "[&]", "", "\\1", "\\U&", "\\n", "a\\tb", "&&", "\\u&\\E-")
HEXDUMP = "-e '4/1 \"%02x \" \"|\"'"
OPERAND = ("f.txt", "g.txt", "n.txt", "c.csv", "f.txt g.txt", "t.txt", "-", "d/x.txt", "e.txt", "nope.txt", "w.txt", "")


class ToolRuns:
    """`line(tool)`: a command line; `files()`: the tree it runs in; `stdin()`."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def pick(self, items: tuple[str, ...] | list[str] | str) -> str:
        return self.rng.choice(items)

    def maybe(self, share: float) -> bool:
        return self.rng.random() < share

    # ------------------------------------------------------------------------------------------------------ files

    def files(self) -> dict[str, bytes]:
        files = {name: self.text() for name in ("f.txt", "g.txt", "d/x.txt")}
        files["w.txt"] = "\n".join(" ".join(self.rng.choice(WORDS) for _ in range(self.rng.randint(0, 14))) for _ in range(4)).encode() + b"\n"
        files["n.txt"] = "".join(f"{self.rng.choice(('', ' ', '-'))}{self.rng.randint(0, 200)}{self.rng.choice(('', '', '.5', 'K', ' x', 'e2'))}\n" for _ in range(self.rng.randint(1, 9))).encode()
        files["c.csv"] = "".join(",".join(self.rng.choice(WORDS) for _ in range(self.rng.choice((3, 3, 3, 2, 4)))) + "\n" for _ in range(self.rng.randint(1, 7))).encode()
        files["t.txt"] = "".join("\t".join(self.rng.choice(WORDS) for _ in range(3)) + "\n" for _ in range(self.rng.randint(1, 6))).encode()
        files["j.json"] = self.json().encode()
        files["s1.txt"] = "".join(sorted(f"{self.rng.choice('abcdef')} {self.rng.choice(WORDS)}\n" for _ in range(self.rng.randint(0, 6)))).encode()
        files["s2.txt"] = "".join(sorted(f"{self.rng.choice('abcdef')} {self.rng.choice(WORDS)}\n" for _ in range(self.rng.randint(0, 6)))).encode()
        files["e.txt"] = b""
        files["b.bin"] = bytes(self.rng.choice((0, 1, 10, 32, 65, 97, 127, 128, 195, 169, 255)) for _ in range(self.rng.randint(0, 40)))
        files["d/sub/deep.txt"] = b"deep\n"
        files["d/empty/"] = b""
        return files

    def text(self) -> bytes:
        lines = [self.rng.choice((" ", " ", "  ", "\t", ":", "")).join(self.rng.choice(WORDS) for _ in range(self.rng.randint(0, 4))) for _ in range(self.rng.randint(0, 8))]
        if lines and self.maybe(0.3):
            lines.append(lines[-1])
        data = "\n".join(lines).encode()
        return data if self.maybe(0.15) or not data else data + b"\n"

    def stdin(self) -> bytes:
        return self.text() if self.maybe(0.5) else b""

    def json(self, depth: int = 0) -> str:
        kind = self.rng.random()
        if depth > 2 or (depth and kind < 0.45):
            return self.pick(("1", "2.5", "-3", "1e3", "null", "true", "false", '"abc"', '"a b"', '""', '"é\\n"', "0", "10", '"10"', "1.0", "[]", "{}", "100000000000000000000"))
        if kind < 0.72:
            return "[" + ", ".join(self.json(depth + 1) for _ in range(self.rng.randint(0, 4))) + "]"
        return "{" + ", ".join(f'"{key}": {self.json(depth + 1)}' for key in self.rng.sample(("a", "b", "c", "k", "name"), self.rng.randint(0, 4))) + "}"

    # --------------------------------------------------------------------------------------------------- building

    def options(self, choices: tuple[str, ...], most: int = 3) -> str:
        count = self.rng.randint(0, min(most, len(choices)))
        return " ".join(self.rng.sample(choices, count))

    def operand(self) -> str:
        return self.pick(OPERAND)

    @staticmethod
    def quote(text: str) -> str:
        return "'" + text.replace("'", "'\\''") + "'"

    def line(self, tool: str) -> str:
        text = TOOLS[tool](self)
        if self.maybe(0.12):
            text += f" | {self.pick(('head -n3', 'wc', 'sort', 'od -c | head -n5', 'cat -A', 'tail -n2', 'tr a-z A-Z'))}"
        return text


def _grep(r: ToolRuns) -> str:
    kind = r.pick(("", "", "-E", "-F", "-P", "-w", "-x"))
    regex = r.pick(EXTENDED) if kind in ("-E", "-P") else r.pick(REGEXES)
    return f"grep {kind} {r.options(('-i', '-v', '-c', '-n', '-o', '-l', '-L', '-q', '-s', '-h', '-H', '-b', '-A1', '-B1', '-C1', '-m1', '-m2', '-a', '-z', '--color=always', '-e foo', '--include=*.txt', '-T', '-Z', '--no-filename'))} {r.quote(regex)} {r.pick((*OPERAND, 'b.bin', 'd', 'd/x.txt', '*'))}"


def _sed(r: ToolRuns) -> str:
    commands = []
    extended = r.maybe(0.3)
    for _ in range(r.rng.randint(1, 3)):
        address = r.pick(("", "", "", "1", "2", "$", "2,3", "1!", "/a/", "/b/,/c/", "$!", "0~2", "1~2", "2,+1", "/foo/!", "/a/,+1", "0,/a/", "2,~2", "/A/I", "3,1", "$,1"))
        regex = r.pick(EXTENDED if extended else REGEXES).replace("/", ".")
        command = r.pick((f"s/{regex}/{r.pick(REPLACEMENTS)}/{r.pick(('', 'g', '2', 'p', 'gp', 'I', 'g2', 'w out', 'M'))}", "p", "d", "=", "n", "N", "D", "P", "h", "H",
                          "g", "G", "x", "q", "q3", "Q", "l", "a\\text", "i\\text", "c\\text", "a text", "y/abc/xyz/", "{p;d}", "r g.txt", "w out", "F", "z", "b", "bx", ":x", "t", "ta;:a", "l 5",
                          "e", "R g.txt", "W out", "T", "s//Z/", "#c", "}"))
        commands.append(f"-e {r.quote(address + command)}")
    return f"sed {'-E' if extended else ''} {r.options(('-n', '-s', '-z', '-u', '--posix', '-l 10'), 2)} {' '.join(commands)} {r.operand()}"


AWK = ("{print $1}", "{print NF, NR, $NF}", "END{print NR}", "{n+=$1} END{print n}", "{a[$1]++} END{for(k in a) print k, a[k] | \"sort\"}", "/a/", "!/a/{print FILENAME, FNR}", "NR==2", "NR%2", "NR==1,NR==3",
       "{$2=\"X\"; print}", "{$5=1; print; print NF}", "{NF=2; print}", "{print length($0), length($1)}", "{print substr($0,2,3)}", "{print toupper($0)}", "{gsub(/a/,\"<&>\"); print}", "{print sub(/o/,\"0\"), $0}",
       "{print index($0,\"a\"), match($0,/[0-9]+/), RSTART, RLENGTH}", "{n=split($0,p,/[ :,]/); print n, p[1], p[n]}", "{printf \"%5s|%-5s|%d|%.2f|%c|%x\\n\", $1, $2, $1, $2, $1, $1}", "{print $1 > \"out\"} END{close(\"out\"); while((getline l < \"out\")>0) print \"r\", l}",
       "BEGIN{FS=\",\"} {print $2}", "BEGIN{OFS=\"-\"} {$1=$1; print}", "BEGIN{RS=\"\"} {print NR\":\"$0}", "BEGIN{RS=\"a\"} {print}", "{print ($1 > $2), ($1 == $2), ($1 < 10)}", "{print -$1, +$2, !$1, $1 ^ 2, $1 % 3}", "{print $1 $2, $1 \" \" $2+1}",
       "function f(x){return x<2?1:x*f(x-1)} {print f(NR)}", "{while(i<3) i++; print i; i=0}", "{for(i=NF;i>0;i--) printf \"%s \", $i; print \"\"}", "BEGIN{while((getline l < \"g.txt\")>0) n++; print n}", "{if($1~/^[0-9]/) print \"num\"; else print \"str\"}",
       "{print; next; print \"no\"}", "NR==2{exit 3} {print} END{print \"end\"}", "{delete a; a[NR]=$0; for(i in a) print i}", "{print gensub(/(.)(.)/,\"\\\\2\\\\1\",\"g\")}", "{print tolower($1) == tolower($2)}", "BEGIN{printf \"%d %i %o %x %e %g %s\\n\", 3.9, -3.9, 8, 255, 1234.5, 0.0001, \"s\"}",
       "BEGIN{print 1/3, 1e6, 1e20, 100000, 0.1+0.2, 2**10, -7%3, 1==1.0, \"a\"<\"b\", \"10\"<\"9\", 10<9}", "BEGIN{print length(\"é\"), toupper(\"é\"), substr(\"héllo\",2,2), index(\"日本\",\"本\")}", "{a[NR]=$1} END{n=asort(a); for(i=1;i<=n;i++) print a[i]}", "{x[$1,$2]=NR} END{for(k in x){split(k,p,SUBSEP); print p[1]\"/\"p[2] | \"sort\"}}",
       "BEGIN{\"echo hi\"|getline x; print x}", "{print NR in a, (1 in a); a[NR]}", "BEGIN{print substr(\"hello\",0,2), substr(\"hello\",-1), substr(\"hello\",2), substr(\"hello\",10)}", "BEGIN{print strtonum(\"0x1F\"), int(-3.7), int(\"4x\"), sqrt(16), exp(0), log(1)}", "BEGIN{printf \"%s %5.1f%% %05d %+d\\n\", \"a\", 12.345, 42, 7}",
       "BEGINFILE{print FILENAME} ENDFILE{print FNR}", "BEGIN{FIELDWIDTHS=\"2 3 1\"} {print $1\"|\"$2\"|\"$3}", "BEGIN{FPAT=\"[a-z]+\"} {print NF, $1}", "BEGIN{IGNORECASE=1} /foo/", "{switch($1){case \"a\": print 1; break; case /^f/: print 2; default: print 3}}", "{print $(NF-1)}", "{$3=\"\"; print NF\":\"$0}",
       "{print NR==1 ? \"first\" : \"rest\"}", "{do {print $1; c++} while(c<2)}", "length > 5", "$1 ~ \"^a\" && NF > 1 || /x/", "BEGIN{PROCINFO[\"sorted_in\"]=\"@ind_str_asc\"} {a[$1]=$2} END{for(k in a) print k, a[k]}", "{print > \"/dev/stderr\"} END{print \"k\"}", "BEGIN{print and(12,10), or(12,10), xor(12,10), lshift(1,4), rshift(16,2)}",
       "BEGIN{print strftime(\"%Y-%m-%d\", 0, 1), mktime(\"2020 01 01 00 00 00\")}", "BEGIN { CONVFMT=\"%.2g\"; a=3.14159; b=a \"\"; print b }", "BEGIN { OFMT=\"%.2f\"; print 3.14159, 3 }", "{ print length() }", "BEGIN{ print length(x), x+0, x\"\" ; x[1]; print length(x) }", "BEGIN{print patsplit(\"a1b22\",p,/[0-9]+/), p[2]}", "{ getline; print }", "{ getline x; print x, NR }")


def _awk(r: ToolRuns) -> str:
    return f"awk {r.options(('-F:', '-F,', '-F' + chr(39) + '[ :]' + chr(39), '-v x=3', '-v OFS=-', '-F' + chr(39) + chr(92) + 't' + chr(39), '-F' + chr(39) + '|' + chr(39)), 2)} {r.quote(r.pick(AWK))} {r.pick(('f.txt', 'n.txt', 'c.csv', 't.txt', 'f.txt g.txt', 'x=5 f.txt', '-', 'nope.txt', 'e.txt'))}"


JQ = (".", ".[]", ".[]?", ".a", ".a?", ".[0]?", ".[-1]?", ".[1:]?", "length?", "keys?", "map(.)?", "type", "tojson", "tostring", "to_entries?", "[..]", "[.. | numbers]", "[.. | strings | length]", "[paths]", "map(type)?", "flatten?", "sort?", "unique?", "add?", "reverse?", "[.[]? | select(. != null)]",
      "if type == \"array\" then length else keys end?", "[limit(2; .[]?)]", "first(.[]?)", "any?, all?", "min?, max?", "group_by(type)?", "sort_by(tojson)?", "[.[]? | tojson | fromjson]", ". as $x | [$x]", "reduce .[]? as $i (0; . + 1)", "[foreach .[]? as $i (0; .+1)]", "with_entries(.value |= tostring)?", "del(.[0]?)", "del(.a)?", ".a = 1",
      ".[0] = 5", "has(0)?, has(\"a\")?", "contains([])?", "[.[]? | @base64]", "@json", "@text", "[.[]? | tostring | @uri]", "[.[]? | arrays | @csv]?", "[.[]? | tostring | ascii_downcase, ascii_upcase]", "[.[]? | strings | explode | implode]", "[.[]? | strings | test(\"a\")]", "[.[]? | strings | sub(\"a\"; \"b\")]", "[.[]? | strings | split(\"\")]",
      "[.[]? | numbers | floor, sqrt, -.]", "[.[]? | numbers | . * 2 + 1, . / 3, . % 2]?", "tostream", "[tostream] | fromstream(.[])", "walk(if type == \"number\" then . + 1 else . end)", "[leaf_paths]", "getpath([\"a\"])?", "try error(\"x\") catch .", ".[]? //= 3", "(.a // \"d\")?", "[.[]?, 1] | @sh?", "input?", "[inputs]", "env | type", "$ENV | type", "ltrimstr(\"a\")", "splits(\"a\")?",
      "[range(0; 3)]", "[range(5; 0; -2)]", "[1, [2]] | flatten", "{a: 1} + {b: 2}", "{\"a b\": 1} | .\"a b\"", "\"x\\(1 + 2)y\"", "[1,2,3] - [2]", "[3,1,2] | sort, min, max, add", "\"abc\" | .[1:2], test(\"B\"; \"i\")", "[\"a\",\"b\"] | join(\"-\")", "\"a,b\" | split(\",\")", "1, null, \"a\" | tojson", "[1,1,2] | unique, group_by(.), index(1)?", "{} | .a.b.c = 1", "[.[]?] | transpose?",
      "\"2015-03-05T23:51:47Z\" | fromdate", "0 | todate", "1e1000, -1e1000, 0.1, 1.0, 100, 1e17, 3.0e5", "[splits(\", \")]?", "nan < 1, nan == nan", "[1,2] | combinations?", "\"test\" | ltrimstr(\"te\"), rtrimstr(\"st\"), startswith(\"t\")", "def f(x): x * 2; f(3)", "label $out | 1, break $out, 2", "[.[]? | (numbers, strings)]", "path(..)", "[paths(type == \"number\")]", "to_entries? | from_entries?", "limit(3; repeat(1))", "[until(. == 0 or true; 1)]",
      "ascii?", "@html \"<\\(.)>\"", "input_line_number", "halt_error?", "error?", ".[\"a\"]?", ".. |= .", "[.[]? | objects | keys_unsorted]", "map_values(.)?", "map_values(empty)?", "[.[]? | strings | match(\"a\").offset]", "[.[]? | strings | [scan(\"[a-z]\")]]", "{a, b}?", "{(\"x\", \"y\"): 1}", "[.[]? as [$p, $q] | $p]?", ".[1:] = [9]?", "[.[:2][]?]", "indices(1)?", "inside([1])?", "tojson | ascii_downcase", "splits", ".a.b.c?", ".[", "{", "isvalid(1)?", "getpath([0, \"a\"])?", "significand?", "[.[]? | numbers | tostring]", "ltrimstr(1)", "$__loc__", "@base64d?", "[.[]?|strings|ascii_downcase|@base64|@base64d]")


def _jq(r: ToolRuns) -> str:
    return f"jq {r.options(('-c', '-r', '-S', '-n', '-s', '-e', '-j', '-a', '--tab', '--indent 1', '-R', '-C', '--arg v 1', '--argjson w 2', '--seq', '--stream'), 3)} {r.quote(r.pick(JQ))} {r.pick(('j.json', 'j.json', 'j.json j.json', 'e.txt', 'n.txt', 'nope.json'))}"


def _sort(r: ToolRuns) -> str:
    return f"sort {r.options(('-n', '-r', '-u', '-f', '-b', '-d', '-g', '-h', '-V', '-M', '-s', '-k2', '-k1,1', '-k2,2n', '-k2.2,2.3', '-t:', '-t,', '-k2nr', '-c', '-C', '-m', '-z', '-i', '-k1.2b', '-k3,3r', '-o out', '-k2V', '-k1,1f'))} {r.operand()}"


def _cut(r: ToolRuns) -> str:
    what = r.pick(("-f1", "-f2", "-f1,3", "-f2-", "-f-2", "-c1-3", "-c2", "-b1-4", "-c-2", "-f3,1", "-c5-", "-b2,4", "-f1-2,4-", "-f0", "-c3-1", ""))
    return f"cut {what} {r.options(('-d:', '-d,', '-s', '--complement', '--output-delimiter=+', '-z', '-d' + chr(39) + ' ' + chr(39), '-n'))} {r.operand()}"


def _tr(r: ToolRuns) -> str:
    sets = ("a-z", "A-Z", "abc", "xyz", "[:upper:]", "[:lower:]", "[:digit:]", "0-9", " ", "\\n", "[:space:]", "aeiou", "[=a=]", "[x*]", "[a*3]", "\\t", "a-", "[:alnum:]", "[:punct:]", "z-a", "\\101", "", "é")
    return f"tr {r.options(('-d', '-s', '-c', '-t', '-C'), 2)} {r.quote(r.pick(sets))} {r.quote(r.pick(sets)) if r.maybe(0.7) else ''} < {r.pick(('f.txt', 'g.txt', 'n.txt', 'w.txt'))}"


def _uniq(r: ToolRuns) -> str:
    return f"uniq {r.options(('-c', '-d', '-u', '-i', '-f1', '-s2', '-w3', '-z', '-D', '--group', '--group=both', '--all-repeated=separate', '-f 2'))} {r.pick(('f.txt', 'g.txt', 's1.txt', '-', 'e.txt', 'nope'))}"


def _head(r: ToolRuns) -> str:
    return f"head {r.options(('-n2', '-n-2', '-c5', '-c-3', '-q', '-v', '-3', '-n 0', '-z', '-c 1K', '-n +2'), 2)} {r.operand()}"


def _tail(r: ToolRuns) -> str:
    return f"tail {r.options(('-n2', '-n+2', '-c5', '-c+3', '-q', '-v', '-3', '-n 0', '-z', '+2', '-c 1K', '-n -1'), 2)} {r.operand()}"


def _wc(r: ToolRuns) -> str:
    return f"wc {r.options(('-l', '-w', '-c', '-m', '-L', '--total=always', '--total=never', '--total=only'))} {r.pick((*OPERAND, 'b.bin', '*.txt'))}"


def _find(r: ToolRuns) -> str:
    tests = ("-type f", "-type d", "-name '*.txt'", "-name 'd*'", "-iname 'D*'", "-path './d*'", "-type f -size 0", "-type f -size -2", "-type f -size +10c", "-empty", "-maxdepth 1", "-mindepth 2", "-maxdepth 2", "! -name '*.txt'", "-o -name e.txt",
             "-regex '.*x.*'", "-perm 644", "-perm -u+w", "-perm /111", "-newer f.txt", "-prune", "-not -type d", "\\( -name a -o -name d \\)", "-user user", "-type f -links 1", "-wholename '*/d/*'", "-depth", "-true", "-false", "-name '[f-g]*'", "-mtime +1", "-regextype posix-extended -regex '.*/(f|g).txt'", "-samefile f.txt", "-xtype f")
    actions = ("", "", "-print", "-printf '%p %y %m %d %f %h\\n'", "-printf '%P|%u|%t\\n'", "-print0", "-exec echo {} \\;", "-exec basename -a {} +", "-exec grep -l a {} +", "-delete", "-printf '%TY %Tm %l|\\n'", "-execdir echo {} \\;", "-type f -printf '%-10f|%5s|\\n'", "-fprint out", "-printf '%H %M\\n'")
    return f"find {r.pick(('.', 'd', '', 'f.txt d', 'nope', './d/', '*'))} {' '.join(r.rng.sample(tests, r.rng.randint(0, 3)))} {r.pick(actions)} | tr '\\0' '\\n' | LC_ALL=C sort"


def _paste(r: ToolRuns) -> str:
    return f"paste {r.options(('-s', '-d,', '-d:-', '-d' + chr(39) + chr(92) + 'n' + chr(39), '-z', '-d' + chr(39) + chr(92) + '0' + chr(39)), 2)} {r.pick(('f.txt g.txt', 'f.txt', '- - < f.txt', 'n.txt f.txt g.txt', 'e.txt f.txt', 'f.txt - < g.txt', 'nope f.txt'))}"


def _join(r: ToolRuns) -> str:
    return f"join {r.options(('-1 2', '-2 2', '-a1', '-a2', '-v1', '-v2', '-o 1.1,2.2', '-e X', '-t:', '-i', '-o auto', '-j 1', '--nocheck-order', '--check-order', '--header', '-z', '-o 0,1.2'))} {r.pick(('s1.txt s2.txt', 's1.txt s1.txt', 's1.txt e.txt', 'f.txt g.txt', 's1.txt -', 's1.txt nope'))}"


def _comm(r: ToolRuns) -> str:
    return f"comm {r.options(('-1', '-2', '-3', '-12', '-23', '--output-delimiter=+', '--total', '--check-order', '--nocheck-order', '-z'), 2)} {r.pick(('s1.txt s2.txt', 's1.txt s1.txt', 's2.txt e.txt', 'f.txt g.txt', 's1.txt nope'))}"


def _nl(r: ToolRuns) -> str:
    return f"nl {r.options(('-ba', '-bn', '-bt', '-w3', '-s:', '-v5', '-i2', '-nln', '-nrz', '-nrn', '-p', '-l2', '-b pa', '-ha', '-d ab'))} {r.operand()}"


def _fold(r: ToolRuns) -> str:
    return f"fold {r.options(('-w5', '-w 10', '-s', '-b', '-w1', '-c', '-20'), 2)} {r.pick(('f.txt', 'w.txt', 't.txt', '-', 'nope'))}"


def _expand(r: ToolRuns) -> str:
    return f"{r.pick(('expand', 'unexpand'))} {r.options(('-t4', '-i', '-t 2,5,9', '-t /3', '-t 1,+4'), 2)} {r.pick(('t.txt', 'f.txt', 'w.txt', '-'))}" if r.maybe(0.6) else f"unexpand {r.options(('-a', '-t3', '--first-only'), 2)} {r.pick(('t.txt', 'w.txt'))}"


def _date(r: ToolRuns) -> str:
    inputs = ("2024-02-29", "2024-01-31 +1 month", "@0", "@1700000000", "2024-03-10 12:34:56", "1 Jan 2020", "2020-12-31T23:59:59Z", "2024-01-01 -1 day", "next year", "2024-05-05 3 weeks ago", "Mar 5 2021 5pm", "2021-06-15 12:00 +0200", "2024-02-30", "foo", "20240115", "10:30 2022-01-01", "2022-01-01 10:30 PM",
              "Sun, 06 Nov 1994 08:49:37 GMT", "1/2/2023", "2023-W05", "last day", "2024-01-01 2 fortnights", "2024-03-31 -1 month", "@-1", "@1.5", "2024-01-01 12:00 EST", "Thursday 2024-01-01", "2024-01-01 tomorrow", "2024-01-01 next friday", "2024-01-01T10:00:00.123456", "31 dec 99", "")
    formats = ("+%F", "+%Y-%m-%d %H:%M:%S", "+%s", "+%A %B %d %j", "+%U %V %G %u %w", "+%I:%M %p", "+%e|%k|%l", "+%y%C", "+%D %T %R", "+%n%t%%", "+%N", "+%3N", "+%-d %_m %03d", "+%^a %#b", "+%c", "+%x %X", "+%z %:z %Z", "+%q", "+%h %g", "-R", "-I", "-Iseconds", "--rfc-3339=date", "-u", "", "+%10Y|%-5d|%+4Y", "+%P", "+%::z %:::z", "+%E %O %Q", "+%s.%N")
    text = r.pick(inputs)
    if text in ("next year", "last day", "2024-01-01 tomorrow", "", "31 dec 99") or "next" in text:
        text = "2024-01-15 " + r.pick(("yesterday", "+1 week", "1 hour ago", "noon", "midnight", "-90 minutes", "+2 years 3 months", "monday", "sat"))
    return f"date {r.pick(('-u ', '', ''))}-d {r.quote(text)} {r.quote(r.pick(formats))}".replace(" ''", "")


def _printf(r: ToolRuns) -> str:
    formats = ("%s\\n", "%d\\n", "%5.2f|", "%-8s|", "%x %o %X\\n", "%c%c\\n", "%b\\n", "%q\\n", "%e %g %G\\n", "%+d % d %05d\\n", "%*s|\\n", "%.3s\\n", "%%\\n", "\\x41\\u00e9\\101\\n", "%s %s\\n", "%i %u\\n", "%#x %#o\\n", "%a\\n", "\\c", "%", "%z", "%5c|", "%.0f\\n", "%'d\\n", "%ld %lld\\n", "%-5d|%5s|", "%1$s", "a\\tb\\\\n", "%08.3f\\n", "%.10g\\n", "%5%\\n")
    values = ("1", "-5", "3.7", "abc", "", "0x1f", "010", "'A", "1e3", "99999999999999999999", "a b", "é", "%d", "\\n", "\\x41", "+3", " 7", "8z", "-0", "0.1", "1000000", "2.5", "inf", "nan", "-", "x'y")
    program = r.pick(("printf", "printf", "/usr/bin/printf"))
    return f"{program} {r.quote(r.pick(formats))} {' '.join(r.quote(r.pick(values)) for _ in range(r.rng.randint(0, 4)))}"


def _seq(r: ToolRuns) -> str:
    numbers = ("1", "5", "3", "10", "-2", "0.5", "2.50", "1e1", "0", "-1", "007", "1.1", "100", "x", "1.0", "0x10")
    return f"seq {r.options(('-w', '-s,', '-f %03g', '-f %.2f', '-s' + chr(39) + ' ' + chr(39), '-f %e', '-f x%gy', '-t x'), 2)} {' '.join(r.pick(numbers) for _ in range(r.rng.randint(1, 3)))} | head -n 20"


def _names(r: ToolRuns) -> str:
    paths = ("a/b/c.txt", "/", "//", "a", "a/", "/a", "a//b//", "", ".", "..", "./x", "/usr/lib/x.so", "a.b.c", "x.txt", "-a", "é/ü")
    if r.maybe(0.5):
        return f"basename {r.options(('-a', '-s .txt', '-z'), 2)} {' '.join(r.quote(r.pick(paths)) for _ in range(r.rng.randint(1, 3)))}"
    return f"dirname {r.options(('-z',), 1)} {' '.join(r.quote(r.pick(paths)) for _ in range(r.rng.randint(1, 3)))}"


def _stat(r: ToolRuns) -> str:
    plain = r.maybe(0.5)
    forms = ("-c %n:%s:%a", "-c %h", "-c %10s:%-5a:%05u", "-L -c %s", "--printf %n\\\\n") if plain else ("-c %n:%a", "-c %A-%F", "-c %U:%G:%u", "-c %Y", "-c %y", "-c %N", "-c %f")
    names = ("f.txt", "e.txt", "f.txt g.txt", "nope", "d/x.txt") if plain else ("f.txt", "d", "e.txt", "f.txt g.txt", "nope", "d/x.txt")
    return f"stat {r.pick(forms)} {r.pick(names)}"


def _ls(r: ToolRuns) -> str:
    return f"ls {r.options(('-a', '-A', '-1', '-r', '-R', '-F', '-p', '-d', '-m', '-x', '-C', '-w 40', '-Q', '-B', '-v', '-X', '--group-directories-first', '-b', '-N', '-T4', '--color=always', '-I ' + chr(39) + '*.txt' + chr(39)), 3)} {r.pick(('', 'd', '*.txt', 'f.txt d', 'nope', '.', 'd/*'))}" if r.maybe(0.8) else f"ls -l{r.pick(('', 'n', 'G', 'o', 'g', 'h', 'Q'))} {r.pick(('--time-style=+%F', '--time-style=long-iso', '--full-time', ''))} {r.pick(('f.txt', 'f.txt g.txt e.txt', 'n.txt', '*.csv *.json'))}"


def _diff(r: ToolRuns) -> str:
    return f"diff {r.options(('-u', '-c', '-q', '-s', '-i', '-w', '-b', '-B', '-U1', '-y -W 40', '-e', '-n', '-r', '-N', '--label a --label b', '--normal', '-a', '-E', '-t', '-T', '-I a', '--suppress-common-lines', '--brief', '-C1', '-F a'), 2)} {r.pick(('f.txt g.txt', 'f.txt f.txt', 's1.txt s2.txt', 'n.txt f.txt', 'e.txt f.txt', 'd d', 'f.txt nope', 'f.txt d', '- g.txt < f.txt', 'b.bin f.txt'))} | sed -E 's/^(---|[+]{{3}}|[*]{{3}}) (.*)\t.*/\\1 \\2/'"


def _od(r: ToolRuns) -> str:
    return f"od {r.options(('-c', '-x', '-An', '-tx1', '-to1', '-td1', '-a', '-b', '-j2', '-N5', '-w8', '-v', '-Ax', '-Ad', '-tx2', '-tc', '-s', '-tu4', '-tx1z', '-S2', '-td2', '-tf4'))} {r.pick(('b.bin', 'f.txt', 'e.txt', '-', 'nope', 'b.bin f.txt'))}"


def _xxd(r: ToolRuns) -> str:
    return f"xxd {r.options(('-p', '-u', '-c 8', '-g 1', '-l 10', '-s 3', '-i', '-b', '-e', '-d', '-g 0', '-c 5', '-a', '-s -4'), 3)} {r.pick(('b.bin', 'f.txt', 'e.txt'))}"


def _base64(r: ToolRuns) -> str:
    tool = r.pick(("base64", "base64", "base32", "basenc --base16", "basenc --base64url", "basenc --z85"))
    if r.maybe(0.3):
        return f"{tool} {r.pick(('b.bin', 'f.txt'))} | {tool} -d {r.options(('-i',), 1)}"
    return f"{tool} {r.options(('-w0', '-w 10', '-d', '-i'), 2)} {r.pick(('b.bin', 'f.txt', 'e.txt', '-'))}"


def _column(r: ToolRuns) -> str:
    return f"column {r.options(('-t', '-s:', '-s,', '-o ' + chr(39) + '|' + chr(39), '-x', '-c 40', '-R1', '-N A,B,C', '-n', '-e'), 3)} {r.pick(('f.txt', 'c.csv', 't.txt', 'n.txt', 's1.txt'))}"


def _numfmt(r: ToolRuns) -> str:
    values = ("1000", "1024", "1500000", "1K", "2.5M", "1Ki", "-5", "0", "999999", "1e3", "abc", "12345678", "0.5", "1G", "10 K")
    return f"numfmt {r.options(('--to=si', '--to=iec', '--from=si', '--from=iec', '--to=iec-i', '--from=auto', '--padding=8', '--padding=-8', '--format=%.2f', '--suffix=B', '--grouping', '--round=down', '--round=nearest', '--invalid=ignore', '--to-unit=10', '--from-unit=2', '--format=%08f'), 3)} {' '.join(r.quote(r.pick(values)) for _ in range(r.rng.randint(1, 3)))}"


def _tar(r: ToolRuns) -> str:
    make = f"tar --sort=name -c{r.pick(('', 'z', 'v'))}f out.tar {r.pick(('f.txt', 'f.txt g.txt', 'd', 'd f.txt', 'nope f.txt', '--exclude=deep.txt d', '-C d x.txt', '--transform=s/f/g/ f.txt'))}"
    return f"{make}; tar -{r.pick(('tf', 'tvf', 'xvf', 'xOf', 'tf'))} out.tar {r.pick(('', '', 'f.txt', 'd/x.txt', 'nope', '--wildcards ' + chr(39) + '*x*' + chr(39)))} | sed 's/  */ /g'"


def _text(r: ToolRuns) -> str:
    return r.pick((
        f"tac {r.options(('-s a', '-b', '-r'), 2)} {r.operand()}", f"rev {r.pick(('f.txt', 'w.txt', 't.txt'))}", f"cat {r.options(('-n', '-b', '-s', '-A', '-E', '-T', '-v', '-e', '-t'))} {r.pick((*OPERAND, 'b.bin'))}",
        f"fmt {r.options(('-w 20', '-s', '-u', '-c', '-t', '-g 10', '-p a'), 2)} {r.pick(('w.txt', 'f.txt'))}", f"strings {r.options(('-n2', '-t d', '-a'), 2)} b.bin", f"split -l2 {r.options(('-d', '-a3', '--additional-suffix=.x'), 2)} f.txt p; ls p*; head -n1 p*",
        f"shuf -n0 f.txt; shuf -e a | wc -l; shuf -i 3-3 {r.pick(('', '-r -n2', '-z'))}", "tsort s1.txt", f"csplit {r.options(('-s', '-z', '-f q', '-n1', '-k'), 3)} f.txt {r.pick(('2', '/a/', '%b%', '2 3', '/a/+1', '1'))}; ls | head -n20", f"cksum {r.options(('-a md5', '-a crc', '--untagged -a sha1', '-a bsd', '-a sysv', '-a sha256 --tag'), 1)} f.txt e.txt",
        f"{r.pick(('md5sum', 'sha1sum', 'sha256sum', 'sha512sum', 'b2sum', 'sum', 'sum -s', 'md5sum --tag', 'md5sum -z'))} f.txt b.bin", f"truncate -s {r.pick(('5', '+3', '-2', '0', '%4', '/4', '<3', '>9'))} f.txt; wc -c f.txt", f"pr {r.options(('-t', '-n', '-2', '-l20', '-w 40', '-d', '-m', '-h x', '-s:'), 3)} -t f.txt g.txt",
        f"cmp {r.options(('-s', '-l', '-b', '-n 3', '-i 1'), 2)} {r.pick(('f.txt g.txt', 'f.txt f.txt', 'b.bin f.txt', 'e.txt f.txt'))}", f"expr {r.pick(('1 + 2', '7 % 3', 'abc : a', 'abc : ' + chr(39) + chr(92) + '(.*' + chr(92) + ')c' + chr(39), 'length héllo', 'substr hello 2 3', 'index hello l', '1 = 1', 'a ' + chr(92) + '< b', '5 / 0', '0 ' + chr(92) + '| x', '3 ' + chr(92) + '& 0', 'match abc b', '-- -1 + 1', '1 +', chr(92) + '( 2 + 3 ' + chr(92) + ') ' + chr(92) + '* 2'))}",
        f"factor {r.pick(('12', '97', '0', '1', '18446744073709551557', '100 x', '-5', '360 7'))}", f"xargs {r.options(('-n1', '-n2', '-I{} echo x{}', '-L1', '-t', '-r', '-d: echo', '-s 40', '-0', '-P1', '-a g.txt'), 2)} < {r.pick(('f.txt', 'n.txt', 'e.txt'))}", f"tee {r.options(('-a',), 1)} out.txt < f.txt; cat out.txt", f"test {r.pick(('-f', '-d', '-e', '-s', '-x', '-r', '-h'))} {r.pick(('f.txt', 'd', 'e.txt', 'nope'))}; echo $?",
        f"du {r.options(('-a', '-b', '-s', '-c', '-d1', '-S', '--apparent-size'), 2)} -b f.txt e.txt", f"realpath {r.options(('-m', '-e', '-s', '--relative-to=d', '--relative-base=/home'), 2)} {r.pick(('f.txt', 'd/../f.txt', 'nope', 'd/x/y', '.'))}", f"touch -d {r.pick(('2020-01-01', '@5', '2021-02-03T04:05'))} q; stat -c %Y q", f"mkdir {r.options(('-p', '-v', '-m 700'), 2)} {r.pick(('q', 'q/r', 'd', 'q w'))}; ls -d q* d",
        f"cp {r.options(('-r', '-v', '-n', '-u', '-b', '-t d', '-T', '-a', '-f'), 2)} {r.pick(('f.txt q', 'f.txt d', 'd q', 'nope q', 'f.txt g.txt d', 'f.txt f.txt', 'f.txt g.txt q'))}; find . | sort", f"mv {r.options(('-v', '-n', '-b', '-t d', '-T', '-f', '-u'), 2)} {r.pick(('f.txt q', 'f.txt d', 'd q', 'nope q', 'f.txt g.txt d', 'f.txt f.txt', 'd/x.txt .'))}; find . | sort", f"rm {r.options(('-r', '-f', '-v', '-d', '-i < /dev/null'), 2)} {r.pick(('f.txt', 'd', 'nope', 'd/empty', 'f.txt nope', '.', 'd/*'))}; find . | sort",
        f"ln {r.options(('-s', '-f', '-v', '-r', '-n', '-b', '-t d'), 3)} {r.pick(('f.txt q', 'd q', 'nope q', 'f.txt d', 'f.txt g.txt'))}; find . -printf '%p %l\\n' | sort", f"chmod {r.options(('-v', '-c', '-R', '-f'), 2)} {r.pick(('600', 'u+x', 'go-r', 'a=r', '+x', '755', 'u=rwx,g=u', '-w', 'g+s', '1777', 'u+X', 'z'))} {r.pick(('f.txt', 'd', 'nope', 'f.txt g.txt'))}; stat -c '%a %n' f.txt d", f"env -i {r.pick(('A=1', 'A=1 B=2', '-u A', ''))} env", f"iconv -f {r.pick(('utf8', 'latin1', 'utf-16'))} -t {r.pick(('utf8', 'ascii//TRANSLIT', 'latin1', 'utf16le', 'ascii'))} {r.pick(('-c', ''))} f.txt | od -An -tx1",
        f"look {r.pick(('-f', '-d', ''))} {r.pick(('a', 'b', 'x'))} s1.txt", f"zcat <(gzip -c f.txt); gzip -{r.pick(('k', 'kv', '9k'))} f.txt; ls f*; gunzip -{r.pick(('c', 'tv', 'k'))} f.txt.gz 2>/dev/null | head -n 3", f"echo '{r.pick(('1+2', '2^10', 'scale=3; 10/3', '7%3', 'sqrt(2)', 'x=5; x*2', '1/0', 'if (1<2) 3', 'for(i=0;i<3;i++) i', 'ibase=16; FF', 'obase=2; 10', '-5/2', '2.50*2', 'length(123.45)', 'define f(n) { return n*2; } f(4)', '10 > 9 && 1'))}' | bc {r.pick(('', '-l'))}",
    ))


def _dump(r: ToolRuns) -> str:
    return r.pick((
        f"hexdump {r.options(('-C', '-c', '-b', '-d', '-o', '-x', '-v', '-n 9', '-s 3', HEXDUMP), 2)} {r.pick(('b.bin', 'f.txt', 'e.txt', 'nope'))}",
        f"cksum {r.options(('-a md5', '-a crc', '-a crc32b', '--untagged -a sha1', '-a bsd', '-a sysv', '-a sha224', '-a sha384 --tag', '-a blake2b -l 16', '-z', '--base64 -a sha256', '--raw -a bsd'), 2)} {r.pick(('f.txt', 'e.txt', 'f.txt b.bin', 'nope'))} | od -c | head -n9",
        f"b2sum {r.options(('-l 64', '-l 8', '--tag', '-z', '-b'), 2)} {r.pick(('f.txt', 'e.txt b.bin', 'nope', '-'))}",
        f"{r.pick(('md5sum', 'sha1sum', 'sha224sum', 'sha384sum', 'b2sum'))} f.txt e.txt > q; {r.pick(('', 'echo x >> f.txt; ', 'rm e.txt; ', 'echo bad >> q; '))}{r.pick(('md5sum', 'sha1sum', 'sha224sum', 'b2sum'))} -c {r.options(('--quiet', '--status', '-w', '--ignore-missing', '--strict'), 2)} q",
        f"{r.pick(('base32', 'basenc --base32hex', 'basenc --base2msbf', 'basenc --base2lsbf', 'basenc --base58', 'basenc --base64', 'basenc --z85'))} {r.options(('-w0', '-w 7', '-d', '-i'), 2)} {r.pick(('b.bin', 'f.txt', 'e.txt', '-'))}",
        f"dd if={r.pick(('f.txt', 'b.bin', 'e.txt', 'nope'))} {r.options(('bs=3', 'count=2', 'skip=1', 'conv=ucase', 'conv=swab', 'conv=notrunc of=g.txt', 'seek=2 of=q', 'iflag=skip_bytes skip=2', 'cbs=5 conv=block', 'cbs=5 conv=unblock', 'conv=sync ibs=8', 'count=5 iflag=count_bytes', 'obs=2'))} status=none; cat q g.txt 2>/dev/null | od -c | tail -n4",
        f"iconv {r.options(('-c', '-f utf8', '-f latin1'), 2)} -t {r.pick(('utf8', 'ascii//TRANSLIT', 'latin1', 'utf16le', 'utf-32be', 'ascii', 'cp1252//TRANSLIT', 'iso8859-15', 'cp437'))} {r.pick(('f.txt', 'w.txt', 'b.bin'))} | od -An -tx1",
        f"strings {r.options(('-n2', '-t d', '-t x', '-t o', '-a', '-n 1', '-3', '-f'), 2)} {r.pick(('b.bin', 'f.txt', 'e.txt'))}",
    ))


def _calculate(r: ToolRuns) -> str:
    number = r.pick(("1", "-2", "3.50", "0", "12", "100.25", ".5", "2^8", "7%3", "10/3", "-7/2", "(1+2)*3"))
    other = r.pick(("1", "-2", "3.5", "0", "12", "7", ".25", "2"))
    program = r.pick((f"{number}+{other}", f"scale=3; {number}/{other}", f"{number}*{other}", f"x={number}; x^2; x", f"{number} < {other}", f"{number} == {other} || 0", f"sqrt({other})", f"length({number})", f"scale({number})",
                      f"ibase=16; A+{other}", f"obase=2; {other}", f"obase=16; 255; {number}", f"a[1]={number}; a[1]+a[2]", f"define f(x) {{ if (x < 1) return 1; return x*f(x-1); }} f({other})", f"for (i=0; i<3; i++) print i, \" \"; {number}",
                      "while (i < 2) { i += 1; i }", f"x = {number}; x += {other}; x", "++x; x++; x", f"if ({number}) 5 else 6", f"{number} /* c */ + 1", f"last + {number}", f"scale=20; {number}/7", "1; 2; halt; 3", f"e({other})", f"{number} {other}", "1 +", "x = = 2", "\"text\"", f"print {number}, \"a\\n\""))
    machine = r.pick((f"{other} {r.pick(('2', '3.5', '_4', '0'))} {r.pick(('+', '-', '*', '/', '%', '^', '~'))} p", "2 k 10 3 / p", "5 d * p f", "1 2 3 r f", "[p] x", "[1 p] sa la x", "10 i 2 o 255 p", "9 v p", "1 2 >a p", "[a] p n", "3 z p c z p", "1 2 3 f", "16 o 255 p", "q", "x", "2 3 4 | p"))
    return r.pick((f"echo '{program}' | bc {r.pick(('', '-l', '-q'))}", f"echo '{program}' | bc {r.pick(('', '-l', '-s'))}", f"dc -e '{machine}'", f"factor {r.pick(('12', '97', '0', '1', '2 3 5', '1000000007', '100 x', '-5', '360 7', '18446744073709551616', '4294967297', '-h 64'))}",
                   f"expr {r.pick(('1', '-3', 'abc', '07', '5'))} {r.pick(('+', '-', chr(92) + '*', '/', '%', '=', '!=', chr(92) + '<', chr(92) + '>=', ':', chr(92) + '|', chr(92) + '&'))} {r.pick(('2', '0', 'abc', '7', chr(39) + chr(92) + '(.*' + chr(92) + ')' + chr(39), '-1', 'a.', chr(39) + chr(39)))}",
                   f"expr {r.pick(('length', 'index abc', 'substr hello', 'match hello'))} {r.pick(('c', '2 3', 'hel*', 'l', '0 2', '9 1'))}", f"cal {r.pick(('2 2024', '1 1', '9 1752', '-3 1 2020', '2023', '13 2020', '-m 5 2021', '-y 1999', '0', '-j 3 2022', '-1 7 2025'))}",
                   f"seq -f {r.pick(('%g', '%.2f', '%05.1f', '%e', '%x', '%', 'a%gb', '%%%g', '%10g', '%-5g|'))} {r.pick(('3', '1 3', '0 .5 2', '3 -1 1', '5 1'))}"))


def _names_of_files(r: ToolRuns) -> str:
    verbose = r.pick(("-v", "-v", "-c", "-f", "-vR", ""))
    names = r.pick(("f.txt", "nope", "f.txt nope", "d/x.txt", "/etc/passwd", "''", "d/empty", "f.txt/x"))
    return r.pick((
        f"chmod {verbose} {r.pick(('600', 'u+x', 'go-r', 'a=r', '+x', 'u=rwx,g=u', 'g+s', '1777', 'z', '--reference=g.txt'))} {names}", f"chown {verbose} {r.pick(('0', 'user', ':user', 'user:user', 'root:', 'nobody9', '+1000', ':', '0:0'))} {names}", f"chgrp {verbose} {r.pick(('0', 'user', 'nogroup9', '1000'))} {names}",
        f"mktemp {r.options(('-u', '-d', '-t', '-p d', '--suffix=.x', '-q'), 2)} {r.pick(('tmp.XXXXXX', 'XX', 'nope/aXXX', 'a/bXXX', 'noxs', 'x.XXX y'))} > /tmp/made; echo $?; sed 's/[A-Za-z0-9]*\\(\\.x\\)*$//; s/tmp.*/tmp/' /tmp/made; rm -rf $(cat /tmp/made)", f"install {r.options(('-v', '-D', '-m 600', '-b', '-C', '-T', '-p'), 3)} {r.pick(('f.txt q', 'f.txt d', 'nope q', 'f.txt g.txt d', 'f.txt n/o/q', '-d q/r', 'f.txt f.txt'))}; find . | sort; stat -c %a q",
        f"cp {r.options(('-v', '-n', '-b', '-f', '-T', '-l', '-s', '-P', '-a', '--remove-destination', '--parents', '-u', '--attributes-only'), 3)} {r.pick(('f.txt g.txt', 'f.txt f.txt', 'f.txt d', 'f.txt f.txt d', 'd/x.txt d', 'nope d', 'f.txt nope/x', 'g.txt /etc', '-r d q', '-r d d'))}; find . -type f | sort; cat g.txt",
        f"ln -s f.txt l; ln f.txt h; {r.pick(('cp', 'mv', 'ln', 'ln -s'))} {r.options(('-v', '-f', '-b', '-T', '-n'), 2)} {r.pick(('f.txt', 'l', 'h'))} {r.pick(('f.txt', 'l', 'h'))}; find . -printf '%p %y %l\n' | sort", f"truncate {r.pick(('-s 5', '-s +3', '-s -2', '-s %4', '-r f.txt', '-c -s 1', '-s x', '-o -s 1', ''))} {r.pick(('g.txt', 'q', 'd', ''))}; wc -c g.txt q",
        f"rmdir {r.options(('-p', '-v', '--ignore-fail-on-non-empty'), 2)} {r.pick(('d/empty', 'd', 'nope', 'f.txt', 'd/empty nope'))}; ls d", f"mkdir {r.options(('-p', '-v', '-m 700', '-m u+x,go='), 2)} {r.pick(('q', 'q/r', 'd', 'q w q', 'f.txt/x', 'd/a/b', '/usr/x'))}; find . -type d | sort; stat -c %a q",
        f"split {r.options(('-l2', '-b 5', '-C 10', '-n 3', '-n l/2', '-n r/2', '-d', '-x', '-a 3', '--additional-suffix=.x', '-e', '--numeric-suffixes=5', '-n 2/3', '-t a'), 3)} f.txt {r.pick(('', 'p'))}; head -n3 x* p* 2>/dev/null", f"unlink {names}; link f.txt {r.pick(('q', 'g.txt', 'nope/x'))}; ls", f"touch {r.pick(('-d @5', '-t 202001020304.05', '-d 2021-01-01', '-r f.txt', '-d foo', '-c'))} {r.pick(('q', 'g.txt', 'nope/x'))}; stat -c '%n %Y' q g.txt",
        f"readlink {r.options(('-f', '-e', '-m', '-n', '-v', '-z'), 2)} {r.pick(('f.txt', 'nope', 'd/../f.txt', 'nope/x', '.'))}", f"pathchk {r.options(('-p', '-P'), 2)} {r.pick(('f.txt', 'a/b', '-x', 'a:b', '', 'é'))}", f"csplit {r.options(('-s', '-z', '-f q', '-n1', '-k', '--suppress-matched', '-b %03d.t'), 3)} f.txt {r.pick(('2', '/a/', '%b%', '2 3', '/a/+1', '1', '/a/ ' + chr(39) + '{*}' + chr(39), '2 ' + chr(39) + '{1}' + chr(39), '3 2', '/a/-1', '%a% /b/', '9', '/[0-9]/ /a/'))}; ls | head -n20",
    ))


def _run_others(r: ToolRuns) -> str:
    return r.pick((
        f"env {r.options(('-i', '-u HOME', 'A=1', 'B=x y', '-0', '-C d'), 2)} {r.pick(('printenv A HOME', 'pwd', 'nope', 'sh -c ' + chr(39) + 'echo $A$B' + chr(39)))}", f"env -S {r.quote(r.pick(('echo a b', 'A=1 printenv A', 'echo ' + chr(39) + 'a  b' + chr(39), 'printf %s' + chr(92) + '_x', 'echo ${HOME}', 'echo $HOME', '-i printenv')))}",
        f"xargs {r.options(('-n1', '-n2', '-I{} echo x{}', '-L1', '-t', '-r', '-d: echo', '-s 40', '-0', '-a g.txt', '-d ' + chr(39) + chr(92) + 'n' + chr(39), '-E b', '-x', '-n2 -r echo q'), 2)} < {r.pick(('f.txt', 'n.txt', 'e.txt', 'w.txt'))}", f"printf '{r.pick(('a b', 'a', '', 'a ' + chr(92) + '042b c' + chr(92) + '042', 'x' + chr(92) + 'ny'))}' | xargs {r.pick(('-n1', '-I% echo [%]', 'sh -c ' + chr(39) + 'exit 3' + chr(39), 'nope', 'false', '-n1 sh -c ' + chr(39) + 'exit 255' + chr(39), '-p', 'printf ' + chr(39) + '<%s>' + chr(39)))}",
        f"tee {r.options(('-a', '-i', '-p'), 2)} {r.pick(('out.txt', 'out.txt g.txt', 'd', 'nope/x', '-', ''))} < f.txt; cat out.txt g.txt", f"timeout {r.options(('-s KILL', '-k 1', '--preserve-status', '-v', '--foreground'), 2)} {r.pick(('5 echo a', '0.05 sleep 5', '1 false', '1 nope', 'x echo', '5', '0 echo b', '1m sh -c ' + chr(39) + 'exit 7' + chr(39)))}",
        f"/usr/bin/test {r.pick(('-n a', '-z a', 'a = a', '1 -lt 2', '-e f.txt', '-s e.txt', '! -d d', 'a', '', '1 -eq x', '-f f.txt -a -d d', 'a -o', '( a )', 'f.txt -nt g.txt', 'f.txt -ef f.txt', '-t 0', 'a < b', '-l abc -gt 2', 'a == b', '-q x'))}", f"/usr/bin/[ {r.pick(('a = a', '-d d', '1 -gt 2', '', '! x'))} {r.pick((']', ']', ''))}",
        f"nice {r.pick(('-n 5 ', '', '-5 ', '-n x '))}{r.pick(('echo a', 'nope', 'false'))}", f"nohup {r.pick(('echo a', 'nope', ''))} < /dev/null | cat", f"nproc {r.pick(('--ignore=1000', '--all | wc -l', 'x'))} | head -n1 | wc -l", f"shuf {r.pick(('-n0 f.txt', '-e a', '-i 3-3', '-n2 -i 1-1 -r', '-i 5-3', '-e', '-n x f.txt', '--random-source=b.bin -n1 e.txt', '-i 1-3 | sort', 'f.txt | sort', '-z -e a | od -c', '-o out e.txt'))}",
        f"tsort {r.pick(('s1.txt', 'f.txt', 'e.txt', 'nope', '- <<< ' + chr(39) + 'a b b c c a d' + chr(39), '- <<< ' + chr(39) + 'a b c d b c' + chr(39)))}", f"look {r.options(('-f', '-d', '-a', '-t a'), 2)} {r.pick(('a', 'b', 'x', 'Fo'))} s1.txt", f"dos2unix {r.options(('-n', '-k', '-q'), 1)} f.txt g.txt 2>/dev/null; unix2dos -q f.txt; od -c f.txt | head -n 5",
        f"pr {r.options(('-t', '-n', '-2', '-3', '-l20', '-l 12', '-w 40', '-d', '-m', '-h x', '-a -2', '-o 3', '-J', '-n: ', '-N 5', '+2', '-T', '-F', '-i', '-e'), 3)} {r.pick(('w.txt', 'n.txt', 'f.txt g.txt'))} | sed 's/20[0-9-]* [0-9:]*//'", f"fmt {r.options(('-w 20', '-s', '-u', '-c', '-t', '-g 10', '-p a', '-w 5', '-30'), 2)} {r.pick(('w.txt', 'f.txt', 't.txt', 'e.txt', 'nope'))}",
        f"echo {r.pick(('a', 'b'))} > q; diff -u f.txt g.txt > p; patch {r.options(('-R', '-s', '-b', '--dry-run', '-p0', '-N', '-o out'), 2)} f.txt < p; cat f.txt", f"getopt {r.options(('-u', '-q', '-Q', '-a', '-n prog', '-l long,arg:', '-s sh'), 2)} -o ab:c:: -- {r.pick(('-a x', '-b', '-b v -c', '-cx y', '--long', '--arg', '--arg=z q', '-a -- -b', '-z', ''))}", f"tput {r.pick(('cols', 'lines', 'bold', 'sgr0', 'setaf 1', 'nope', 'clear', 'colors', 'el'))} | od -c",
        f"which {r.options(('-a', '-s'), 1)} {r.pick(('ls', 'nope', 'ls nope', ''))} | wc -l", f"numfmt {r.options(('--field 2', '--field=-', '-d,', '--header', '--to=iec', '--from=iec', '--format=%10.1f', '-z'), 3)} < {r.pick(('n.txt', 'c.csv', 'f.txt'))}", f"du {r.options(('-a', '-s', '-c', '-h', '--inodes'), 2)} --apparent-size -b f.txt e.txt nope",
    ))


def _packed(r: ToolRuns) -> str:
    tool, end = r.pick(("gzip .gz", "bzip2 .bz2", "xz .xz", "zstd .zst")).split()
    return r.pick((
        f"{tool} {r.options(('-k', '-f', '-v', '-9', '-1', '-q'), 2)} f.txt e.txt 2>/dev/null; ls f.txt* e.txt*; {tool} -dc f.txt{end}", f"{tool} -c f.txt g.txt > q{end}; {tool} {r.pick(('-d', '-dk', '-t', '-df', '-dq'))} q{end} 2>/dev/null; echo $?; ls q*; cat q", f"{tool} {r.pick(('-d nope' + end, '-d f.txt', '-t f.txt', 'd', 'nope', '-d < f.txt', '-d < e.txt', '-cd < b.bin'))} 2>/dev/null",
        f"gzip {r.pick(('', '-n', '-N'))} -c f.txt > q.gz; {r.pick(('zcat q.gz', 'zcat q', 'gunzip -c q.gz nope', 'zgrep -c a q.gz', 'zgrep -n a q.gz f.txt', 'gzip -l q.gz | wc -l', 'gunzip -t q.gz', 'gunzip -S .gz q.gz; ls q*', 'zgrep zzz q.gz'))}",
        f"tar -c{r.pick(('z', 'j', 'J', ''))}f q.t {r.pick(('f.txt', 'd', 'nope', '--sort=name d f.txt'))}; tar {r.pick(('-tf', '-xvf', '-xOf', '-df'))} q.t | sort",
    ))


TOOLS: dict[str, Callable[[ToolRuns], str]] = {
    "grep": _grep, "sed": _sed, "awk": _awk, "jq": _jq, "sort": _sort, "cut": _cut, "tr": _tr, "uniq": _uniq, "head": _head, "tail": _tail, "wc": _wc, "find": _find, "paste": _paste, "join": _join, "comm": _comm, "nl": _nl,
    "fold": _fold, "expand": _expand, "date": _date, "printf": _printf, "seq": _seq, "names": _names, "stat": _stat, "ls": _ls, "diff": _diff, "od": _od, "xxd": _xxd, "base64": _base64, "column": _column, "numfmt": _numfmt, "tar": _tar, "text": _text, "dump": _dump, "calculate": _calculate, "files": _names_of_files, "others": _run_others, "packed": _packed, **GRAMMARS,
}
"""Tool, or family of small ones, to what makes a command line for it."""
