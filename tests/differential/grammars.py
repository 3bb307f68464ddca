"""Programs for awk, sed, jq, bc and find made by small grammars, and patterns for grep and rg."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.differential.tools import ToolRuns

FILES = ("f.txt", "g.txt", "n.txt", "c.csv", "f.txt g.txt", "t.txt", "s1.txt", "w.txt", "e.txt", "d/x.txt")

GENSUB_REPLACEMENTS = ('<&>', 'X', '', '[\\\\0]', '\\\\1')
SPLITTERS = ('', ', \"\"', ', \"a\"', ', /[ ,:]+/', ', \" \"', ', \".\"')
SUB_REPLACEMENTS = ('<&>', 'X', '', '\\\\&', 'a&b&', 'é')
OUTPUTS = ('> \"out\"', '>> \"out\"', '| \"cat\"', '| \"sort -r\"')
CASES = ('1', '\"a\"', '/^f/', '\"10\"')
JQ_KEYS = ('\"b\"', '\"k\", \"c\"', '.a?')
JQ_CATCHES = ('.', '\"caught\"', 'length')
JQ_REGEX_ENDS = ('', '; \"g\"', '; \"X\"', '; null', '; \"<\\(.n?)>\"', '; \"x\"; \"g\"')
JQ_INDEXES = ('0', '1', '\"a\"', '1:2', ':-1', 'null', '[1]', '1.7', '1.2:3.5')
JQ_TARGETS = ('.a', '.[0]', '.[]', '.b.c', '.[1:]', '..', '.[-1]', '.a, .b', '(.a, .b)', '.[]?', 'first(.[]?)', '.[]?.a?', '.name', 'select(.a?)', '.a[1]', '(.. | numbers?)', 'getpath([\"a\",\"b\"])', 'if .a? then .a else . end', '(.a // .b)', 'limit(1; .[]?)', 'recurse', 'empty', '$x')
JQ_FUNCTIONS = ('map', 'select', 'sort_by', 'group_by', 'unique_by', 'min_by', 'max_by', 'map_values', 'with_entries', 'recurse', 'path', 'paths', 'first', 'last', 'any', 'all', 'del', 'to_entries | map', 'isempty', 'tojson | test', 'walk', 'error', 'has', 'in', 'inside', 'contains', 'index', 'indices', 'join', 'split', 'startswith', 'endswith', 'ltrimstr', 'rtrimstr', 'ascii', 'bsearch', 'delpaths', 'getpath', 'flatten', 'range', 'tojson | sub(\"a\"; \"b\") | select', 'combinations', 'limit(2; .[]?) | select', 'fromstream', 'env | has', 'splits', 'nth', 'until(true; .) | map', 'while(false; .) | map', 'repeat(empty) | map', 'input_filename | select', 'ltrimstr(\"a\") | select', 'getpath([\"a\"])? | select', 'truncate_stream', 'limit(1; repeat(1)) | select', 'debug', '@base64 | select', 'tojson | match', 'tojson | capture', 'tojson | scan', 'INDEX', 'IN', 'ascii_downcase?, select', 'to_entries? | map', 'halt_error? // select', 'label $f | select')


# ---- regular expressions

def regex(r: ToolRuns, extended: bool = True, depth: int = 0) -> str:
    """A POSIX regular expression without a slash."""
    atoms = ("a", "b", "o", ".", "[a-c]", "[^a]", "[[:digit:]]", "[[:alpha:]]", "\\.", "1", " ", "é", "x", "an", "[0-9]", "\\w", "fo")
    out = []
    for _ in range(r.rng.randint(1, 3)):
        atom = r.pick(atoms)
        if depth < 2 and r.maybe(0.2):
            inner = regex(r, extended, depth + 1)
            atom = f"({inner})" if extended else f"\\({inner}\\)"
        if r.maybe(0.35):
            atom += r.pick(("*", "+", "?", "{1,2}", "{2}") if extended else ("*", "\\+", "\\?", "\\{1,2\\}", "\\{2\\}"))
        out.append(atom)
    text = "".join(out)
    if depth == 0 and r.maybe(0.2):
        text = "^" + text
    if depth == 0 and r.maybe(0.2):
        text += "$"
    if depth < 2 and r.maybe(0.15):
        text += ("|" if extended else "\\|") + regex(r, extended, depth + 1)
    return text


# ---- awk

def awk_expression(r: ToolRuns, depth: int = 0) -> str:
    if depth > 2 or r.maybe(0.35):
        return r.pick(("$1", "$2", "$NF", "$0", "NR", "NF", "x", "y", "n", "1", "2", "0", "-1", "3.5", "\"a\"", "\"10\"", "\"\"", "\" \"", "FNR", "a[$1]", "a[1]", "length", "\"3x\"", "1e3", "0.1"))

    def one() -> str:
        return awk_expression(r, depth + 1)
    kind = r.rng.randint(0, 16)
    if kind <= 3:
        return f"({one()} {r.pick(('+', '-', '*', '%', '^', '<', '<=', '==', '!=', '>', '>=', '&&', '||'))} {one()})"
    if kind == 4:
        return f"({one()} {one()})"
    if kind == 5:
        return f"({one()} ~ /{regex(r)}/)"
    if kind == 6:
        return f"({one()} ? {one()} : {one()})"
    if kind == 7:
        return f"substr({one()}, {r.pick(('1', '2', '0', '1.5'))}{r.pick(('', ', 2', ', 1', ', 0', ', 10'))})"
    if kind == 8:
        return f"{r.pick(('toupper', 'tolower', 'length', 'int', '-', '!', '+'))}({one()})"
    if kind == 9:
        return f"index({one()}, {one()})"
    if kind == 10:
        return f"sprintf(\"{r.pick(('%d', '%s', '%5s|', '%-5s|', '%.2f', '%05d', '%x', '%o', '%e', '%g', '%5.1f', '%.3s', '%+d', '% d', '%i', '%%%s'))}\", {one()})"
    if kind == 11:
        return f"match({one()}, /{regex(r)}/)"
    if kind == 12:
        return f"gensub(/{regex(r)}/, \"{r.pick(GENSUB_REPLACEMENTS)}\", \"{r.pick(('g', '1', '2', 'G'))}\", {one()})"
    if kind == 13:
        return f"({r.pick(('x', 'y', 'n', '$1', '$2', 'a[1]'))} {r.pick(('=', '+=', '-=', '*='))} {one()})"
    if kind == 14:
        return r.pick(("x++", "++y", "n--", "(1 in a)", "($1 in a)", "a[NR]++", "-x", "!y", "$(1)", "$(NF)"))
    if kind == 15:
        return f"split({one()}, p{r.pick(SPLITTERS)})"
    return f"({one()} in a)"


def awk_statement(r: ToolRuns, depth: int = 0) -> str:
    def expression() -> str:
        return awk_expression(r, 1)
    kind = r.rng.randint(0, 15)
    if depth > 1:
        kind = min(kind, 6)
    if kind <= 2:
        return f"print {', '.join(expression() for _ in range(r.rng.randint(1, 3)))}"
    if kind == 3:
        return f"printf \"{r.pick(('%s %s', '%d|%5s', '%-4s|%s', '%c%s', '%5.2f %s', '%s'))}\\n\", {expression()}, {expression()}"
    if kind == 4:
        return f"{r.pick(('x', 'y', 'n', '$1', '$2', '$3', 'a[$1]', 'a[NR]', 'NF', '$0', '$(NF+1)'))} {r.pick(('=', '=', '+='))} {r.pick((expression(), '2', 'NR'))}"
    if kind == 5:
        return f"{r.pick(('gsub', 'sub'))}(/{regex(r)}/, \"{r.pick(SUB_REPLACEMENTS)}\"{r.pick(('', ', $1', ', $2', ', x'))})"
    if kind == 6:
        return r.pick(("next", "x++", "delete a[$1]", "n += NF", "print", "getline", "$1 = $1", "delete a", "nextfile", "exit", "exit 3", "print NR\": \"$0", "OFS = \"-\"", "FS = \",\"", "y = y $1", "print p[1], p[2]", "a[$1] = a[$1] NR"))
    if kind <= 8:
        return f"if ({expression()}) {{ {awk_statement(r, depth + 1)} }}" + (f" else {awk_statement(r, depth + 1)}" if r.maybe(0.4) else "")
    if kind == 9:
        return f"for (i = 1; i <= {r.pick(('3', 'NF', '2'))}; i++) {{ {awk_statement(r, 2)}; {r.pick(('print i, $i', 'if (i == 2) break', 'if (i == 1) continue', 's = s $i'))} }}"
    if kind == 10:
        return f"i = 0; while (i++ < {r.pick(('2', '3'))}) {{ {awk_statement(r, 2)} }}"
    if kind == 11:
        return f"i = 3; do {{ {awk_statement(r, 2)}; i-- }} while (i > 0)"
    if kind == 12:
        return "for (k in a) c += length(k) + a[k]"
    if kind == 13:
        return f"print {expression()} {r.pick(OUTPUTS)}"
    if kind == 14:
        return f"z = f({expression()}, {expression()}); print z"
    return f"switch ({expression()}) {{ case {r.pick(CASES)}: {awk_statement(r, 2)}; break; default: {awk_statement(r, 2)} }}"


def awk_program(r: ToolRuns) -> str:
    out = []
    for _ in range(r.rng.randint(1, 3)):
        pattern = r.pick(("", "", "", "BEGIN", "END", f"/{regex(r)}/", f"!/{regex(r)}/", "NR == 2", "NR == 1, NR == 2", f"/{regex(r)}/, /{regex(r)}/", awk_expression(r, 1), "NF", "NR % 2", "BEGINFILE", "ENDFILE"))
        body = "; ".join(awk_statement(r) for _ in range(r.rng.randint(1, 3)))
        out.append(f"{pattern} {{ {body} }}".strip() if pattern in ("BEGIN", "END", "BEGINFILE", "ENDFILE") or r.maybe(0.8) else f"{pattern};" if pattern else "{ print }")
    if "f(" in " ".join(out):
        out.append("function f(u, v) { " + r.pick(("return u v", "return u + v", "if (u > v) return u; return v", "u = u + 1; return u", "a[u] = v", "return")) + " }")
    return " ".join(out)


def awk(r: ToolRuns) -> str:
    return f"awk {r.options(('-F:', '-F,', '-v x=3', '-v y=abc', '-v OFS=-', '-F' + chr(39) + '[ ,]' + chr(39), '-v n=0x11', '-v RS=', '-v ORS=' + chr(39) + '|' + chr(39)), 2)} {r.quote(awk_program(r))} {r.pick((*FILES, 'f.txt x=7 g.txt'))}"


# ---- sed

def sed(r: ToolRuns) -> str:
    extended = r.maybe(0.5)
    lines: list[str] = []
    open_blocks = 0
    for _ in range(r.rng.randint(1, 5)):
        one = regex(r, extended)
        address = r.pick(("", "", "", "1", "2", "$", "2,3", "1!", f"/{one}/", f"/{one}/,/{regex(r, extended)}/", "$!", "0~2", "1~2", "2~3", "2,+1", f"/{one}/!", f"/{one}/,+1", f"0,/{one}/", "2,~2", f"/{one}/I", "3,1", f"2,/{one}/", f"/{one}/,3", f"\\,{one},", "1,3!", f"/{one}/,$", f"/{one}/,~2", "//"))
        command = r.pick((f"s/{regex(r, extended)}/{r.pick(('X', '[&]', '', '<&&>', chr(92) + 'n', 'a' + chr(92) + 'tb', chr(92) + 'U&', chr(92) + 'u&', chr(92) + 'L&' + chr(92) + 'Ex'))}/{r.pick(('', 'g', '2', 'p', 'gp', 'I', '2g', 'w out', 'Ig'))}",
                          "p", "p", "d", "=", "n", "N", "D", "P", "h", "H", "g", "G", "x", "q", "Q", "l", "a\\\nadded", "i\\\nbefore", "c\\\nchanged", "a text", "y/abc/xyz/", "{", "{", "r g.txt", "w out", "F", "z", "b", "b end", "t", "t end", "T", "R g.txt", "W out", "n;n", "N;N;s/\\n/+/", "$!N", "N;P;D", "s//Z/", "l 20", "H;x;s/\\n/,/g;x", "e echo hi", "r nope", "2q", "$!{h;d}", "x;G", "G;h;$!d"))
        lines.append(address + command)
        if command == "{":
            open_blocks += 1
        elif open_blocks and r.maybe(0.4):
            lines.append("}")
            open_blocks -= 1
    lines += ["}"] * open_blocks
    script = "\n".join(lines)
    if "end" in script:
        script += "\n:end"
    return f"sed {'-E' if extended else ''} {r.options(('-n', '-n', '-s', '-z', '-u', '-i', '-l 9'), 2)} {r.quote(script)} {r.pick(FILES)}{r.pick(('', '', '; cat out', '; cat f.txt'))}"


# ---- jq

JQ_NAMES = ("length", "keys", "type", "add", "any", "all", "flatten", "sort", "unique", "reverse", "min", "max", "tojson", "tostring", "tonumber", "ascii_downcase", "ascii_upcase", "explode", "implode", "to_entries", "from_entries", "transpose", "not", "floor", "sqrt", "fabs", "values", "nulls", "strings",
            "numbers", "arrays", "objects", "iterables", "scalars", "booleans", "empty", "first", "last", "tostream", "paths", "leaf_paths", "utf8bytelength", "@json", "@text", "@csv", "@tsv", "@html", "@uri", "@sh", "@base64", "@base64d", "infinite", "isnan", "isinfinite", "isnormal", "keys_unsorted", "fromjson", "todate", "ceil", "round", "trunc", "tojson | fromjson", "getpath([\"a\"])", "env | type", "input_line_number", "halt", "now | type", "splits(\" \")", "combinations", "ascii", "significand", "logb", "exp10", "gamma", "trunc", "min_by(.)", "error", "pick(.a)", "debug", "getpath([])", "limit(1; .[]?)", "inputs", "ltrimstr(\"a\")", "@text \"<\\(.)>\"", "walk(.)")


def jq_filter(r: ToolRuns, depth: int = 0) -> str:
    if depth > 3 or r.maybe(0.3):
        return r.pick((".", ".a", ".[0]", ".[]", ".[]?", ".b?", "..", ".[1:]", ".[-1]", ".[:2]", "1", "null", "\"a\"", "\"x\\(.)\"", "[]", "{}", "true", "false", "-1", "2.5", "$x", "$__loc__", "\"b c\"", ".name", ".a.b?", ".[\"k\"]?", "empty", "[1,2,3]", "{a: 1}", "{\"a\": [1, 2]}", "[3, null, \"a\"]", "1e3", "100000000000000000000", ".a[]?", "0.10"))

    def one() -> str:
        return jq_filter(r, depth + 1)
    kind = r.rng.randint(0, 27)
    if kind <= 2:
        return f"{one()} | {one()}"
    if kind == 3:
        return f"({one()}, {one()})"
    if kind <= 5:
        return f"({one()} {r.pick(('+', '-', '*', '/', '%', '==', '!=', '<', '<=', '>', 'and', 'or', '//'))} {one()})"
    if kind <= 8:
        return f"({one()} | {r.pick(JQ_NAMES)}{r.pick(('', '', '?'))})"
    if kind == 9:
        return f"[{one()}]"
    if kind == 10:
        return f"{{a: ({one()}), ({r.pick(JQ_KEYS)}): ({one()})}}"
    if kind == 11:
        return f"if {one()} then {one()}{r.pick((' else ' + one(), ''))} end"
    if kind == 12:
        return f"try ({one()}) catch {r.pick(JQ_CATCHES)}"
    if kind == 13:
        return f"({one()})?"
    if kind == 14:
        return f"reduce {r.pick(('.[]?', 'range(3)', one()))} as $i ({r.pick(('0', '[]', 'null', one()))}; {r.pick(('. + $i', '. + [$i]', '$i', one()))})"
    if kind == 15:
        return f"[foreach {r.pick(('.[]?', 'range(3)'))} as $i ({r.pick(('0', 'null'))}; {r.pick(('. + 1', '$i', one()))}{r.pick(('', '; [$i, .]'))})]"
    if kind == 16:
        return f"({one()} as {r.pick(('$y', '[$y]', '{a: $y}', '[$y, $z]', '{$a, b: [$y]}', '[$y] ?// $y'))} | {r.pick(('$y?', one(), '[.]'))})".replace("$y?", "[$y]")
    if kind == 17:
        return f"{r.pick(JQ_FUNCTIONS)}({one()})"
    if kind == 18:
        return f"({r.pick(JQ_TARGETS)} {r.pick(('=', '|=', '+=', '-=', '*=', '//=', '/=', '%='))} {one()})"
    if kind == 19:
        return f"(label $f | {one()}, break $f, {one()})"
    if kind == 20:
        return f"limit({r.pick(('0', '1', '2', '-1'))}; {one()})"
    if kind == 21:
        return f"(def f: {one()}; {one()} | f)"
    if kind == 22:
        return f"(def g($p; q): {r.pick(('$p + q', '[$p, q]', 'q', '[q, q]'))}; g({one()}; {one()}))"
    if kind == 23:
        return f"({one()} | {r.pick(('test', 'match', 'capture', 'scan', 'split', 'sub', 'gsub', 'splits'))}(\"{r.pick(('a', '[a-c]+', '(?<n>.)', '', '^', 'b$', '.', ' '))}\"{r.pick(JQ_REGEX_ENDS)}))"
    if kind == 24:
        return f"range({r.pick(('3', '1; 3', '0; 5; 2', '3; 0; -1', '1.5', '0'))})"
    if kind == 25:
        return f"@{r.pick(('json', 'csv', 'tsv', 'html', 'uri', 'sh', 'base64', 'text'))} \"v: \\({one()})\""
    if kind == 26:
        return f"({one()} | .[{r.pick(JQ_INDEXES)}]{r.pick(('', '?'))})"
    return f"{one()} | not"


def jq(r: ToolRuns) -> str:
    return f"jq {r.options(('-c', '-c', '-c', '-r', '-S', '-n', '-s', '-e', '-j', '-a', '--tab', '-R', '-C', '--stream', '--seq', '--indent 3', '--raw-output0'), 2)} --argjson x {r.pick(('1', '[1,2]', '{}', 'null'))} {r.quote(jq_filter(r))} {r.pick(('j.json', 'j.json', 'j.json', 'j.json j.json', 'e.txt', 'n.txt'))}"


# ---- bc and dc

def bc_expression(r: ToolRuns, depth: int = 0) -> str:
    if depth > 2 or r.maybe(0.3):
        return r.pick(("1", "2", "3.50", ".25", "10", "x", "y", "a[1]", "-2", "100", "0", "7", "12.345", "scale", "1.10"))

    def one() -> str:
        return bc_expression(r, depth + 1)
    return r.pick((f"({one()} {r.pick('+-*/%')} {one()})", f"{one()} {r.pick('+-*/%')} {one()}", f"({one()})^{r.pick(('2', '3', '0', '-2'))}", f"-({one()})", f"{r.pick(('sqrt', 'length', 'scale'))}({one()})", f"({one()} {r.pick(('<', '<=', '==', '!=', '>', '>='))} {one()})", "x++", "--y", f"f({one()})", f"(x = {one()})", f"!({one()})", f"({one()} && {one()})", f"({one()} || {one()})"))


def bc(r: ToolRuns) -> str:
    lines = ["define f(n) { " + r.pick(("return n*2;", "auto k; k = n + 1; return (k);", "if (n < 1) return (1); return (n * 2);", "x = n; return;")) + " }"]
    for _ in range(r.rng.randint(1, 4)):
        lines.append(r.pick((bc_expression(r), bc_expression(r), f"{r.pick(('x', 'y', 'a[1]', 'scale', 'x += 1; y'))} = {bc_expression(r)}", f"scale = {r.pick(('0', '2', '5', '10'))}; {bc_expression(r)}", f"if ({bc_expression(r)}) {bc_expression(r)} else {bc_expression(r)}", f"for (i = 0; i < 3; i++) {{ {bc_expression(r)}; }}", f"obase = {r.pick(('2', '16', '10', '20'))}; {bc_expression(r)}", f"ibase = {r.pick(('2', '8', '10'))}; {r.pick(('11', '101', '7'))}", f"print {bc_expression(r)}, \"\\n\"", f"while (x < 3) {{ x += 1; if (x == 2) {r.pick(('break', 'continue', 'x'))} ; }}", "limits")))
    text = "\n".join(lines)
    return f"bc {r.pick(('', '-l', '-q', '-s', ''))} <<< {r.quote(text)}"


# ---- grep, rg, fd

def grep(r: ToolRuns) -> str:
    kind = r.pick(("", "-E", "-E", "-P", "-F", "-G"))
    pattern = regex(r, kind in ("-E", "-P"))
    if kind == "-P" and r.maybe(0.4):
        pattern = r.pick(("\\d+", "a(?=p)", "(?<=a)p", "(?i)FOO", "\\bfoo\\b", "(?:a|b)+", "a.*?e", "(\\w)\\1", "\\K.", "o\\Ko", "[^\\W\\d]+", "(?<n>a)\\k<n>", "\\Aa", "e\\Z", "x*+", "\\p{L}+", "\\h", "(?s).", "(a)|b\\1", "\\x61", "^(?!.*a)"))
    more = r.options(("-i", "-v", "-c", "-n", "-o", "-l", "-L", "-q", "-s", "-h", "-H", "-b", "-A1", "-B2", "-C1", "-m1", "-m 2", "-a", "-z", "--color=always", "-w", "-x", "-T", "-Z", "--no-group-separator", "--group-separator=@@", "--label=L", "-U", "--null", "-e b", "--line-buffered", "-2", "-y"), 4)
    where = r.pick((*FILES, "b.bin", "-r .", "-r d", "-r --include=*.txt .", "-r --exclude=f.txt .", "-r --exclude-dir=sub .", "d", "nope f.txt", "-d skip *", "-d read d", "-rl d .", "-R d", "--binary-files=without-match b.bin", "--binary-files=text b.bin", "- < f.txt", "-r"))
    if "r" in where.partition(" ")[0] or "R" in where.partition(" ")[0]:
        more = " ".join(word for word in more.split(" ") if word[:2] not in ("-A", "-B", "-C", "-z", "-Z", "-2", "-m", "1", "2") and word != "--null")
    return f"grep {kind} {more} -e {r.quote(pattern)} {where}" + (" | sort" if "-r" in where or "-R" in where else "")


def rg(r: ToolRuns) -> str:
    more = r.options(("-i", "-S", "-v", "-c", "-n", "-N", "-o", "-l", "--files-without-match", "-q", "-A1", "-B1", "-C1", "-m1", "-w", "-x", "-F", "--column", "-b", "--heading", "--no-heading", "-H", "-I", "--count-matches", "-r X", "-r '<$0>'", "--trim", "-U", "--passthru", "-0", "--vimgrep", "-a", "--color=always", "-M 10", "--no-line-number", "-P", "--context-separator=@@", "--hidden", "-g '*.txt'", "-g '!f.txt'", "-t txt", "-T txt", "--max-depth 1", "-e foo", "--stats | head -n 3", "--only-matching", "--json | wc -l", "-uu", "--include-zero", "--field-match-separator=@", "--max-columns-preview", "--sort path"), 3)
    pattern = r.pick((regex(r), regex(r), r.pick(("\\d+", "foo|bar", "(?i)FOO", "\\bfoo\\b", "^$", "a.*e", "(\\w)", "[", "(", "x{2,1}", "é", "\\p{L}+", "(?P<n>a)", "."))))
    piped = "|" in more and "wc" in more or "head" in more
    return f"rg {'' if piped else more} {r.quote(pattern)} {r.pick(FILES)}" if r.maybe(0.6) else f"rg --sort path {'' if piped else more} {r.quote(pattern)} {r.pick(('', '.', 'd', 'f.txt d', 'nope', 'd f.txt'))} < /dev/null"


def fd(r: ToolRuns) -> str:
    return f"fdfind {r.options(('-t f', '-t d', '-e txt', '-d 1', '-H', '-I', '-g', '-F', '-i', '-s', '-p', '-0', '-E d', '-E *.txt', '--min-depth 2', '-a', '-x echo', '-S +2b', '-t e', '-u', '-l | wc -l', '--color never', '-q', '-t x', '-S -1k', '--exact-depth 1', '-c never', '--format {/}'), 3)} {r.pick(('', '.', 'txt', '^f', 'x', 'D', '*.txt', 'nope', '[', 'e$', 'sub', '/x', 'f.txt'))} {r.pick(('', '', 'd', '.', 'nope', 'd .'))} | tr '\\0' '\\n' | sort"


# ---- find

def find(r: ToolRuns, depth: int = 0) -> str:
    test = r.pick(("-type f", "-type d", "-type f,d", "-name '*.txt'", "-name 'd*'", "-iname 'F*'", "-path '*/d/*'", "-size 0", "-type f -size -2", "-type f -size +10c", "-type f -size -1k", "-empty", "-perm 644", "-perm -444", "-perm /222", "-newer f.txt", "-mtime +10", "-user user", "-group user", "-links 1", "-regex '.*/[df].*'", "-iregex '.*TXT'", "-true", "-false", "-readable", "-writable", "-executable", "-samefile f.txt", "-wholename './d*'", "-lname x", "-uid 1000", "-nogroup", "-newermt 2023-01-01", "! -newermt 2024-01-01", "-prune", "-print", "-printf '%f\\n'", "-depth", "-inum 0", "-type f -size 1", "-daystart -mtime 1", "-xtype d"))
    if depth < 2 and r.maybe(0.5):
        return f"{r.pick(('', '! ', '-not '))}\\( {find(r, depth + 1)} {r.pick(('-o', '-a', '', ',', '-or', '-and'))} {find(r, depth + 1)} \\)"
    return test


def find_line(r: ToolRuns) -> str:
    start = r.pick((".", "d", "", "f.txt d", "./d/", "* -maxdepth 1", ". -mindepth 1", "-L .", "-H d", "-P d", "-O2 d", ". -maxdepth 2"))
    forms = ("%p", "%f", "%h", "%P", "%d", "%y", "%m", "%M", "%u", "%g", "%U", "%G", "%H", "%l", "%Y", "%TY-%Tm-%Td", "%T@", "%Ts", "%TH:%TM", "%n", "%%", "\\t", "%5d|", "%-8f|", "%.3f", "%Tj", "%Ta", "%TF", "%TT", "%T+", "%Tc", "%F_", "\\x", "%q")
    action = r.pick(("", "", "-print", "-printf '" + " ".join(r.pick(forms) for _ in range(3)) + "\\n'", "-print0", "-exec echo {} \\;", "-exec echo x{}y {} \\;", "-exec basename -a {} +", "-ok echo {} \\;", "-delete", "-exec false {} \\; -print", "-exec test -s {} \\; -print", "-fprint out -print", "-type f -printf '%s %p\\n'", "-exec sh -c 'echo $0' {} \\;"))
    return f"find {start} {find(r)} {action} < /dev/null | tr '\\0' '\\n' | sort; ls"


GRAMMARS: dict[str, Callable[[ToolRuns], str]] = {"awk2": awk, "sed2": sed, "jq2": jq, "bc2": bc, "grep2": grep, "rg": rg, "fd": fd, "find2": find_line}
"""Name of a kind of case to what makes a line for it."""
