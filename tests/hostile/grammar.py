"""Random bash: scripts from a grammar of constructs and tools, and mutations of a seed corpus. Deterministic by seed."""
from __future__ import annotations

import random
import re
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
TABS = "'\\n\\t'"
FORMATS = ["%s", "%d", "%5d", "%-5s|", "%05.2f", "%x", "%o", "%q", "%b", "%c", "%%", "%", "%*d", "%.*s", "%(%F)T", "%n", "%1$s", "\\n", "\\x41", "\\u20ac", "\\0101", "%e", "%a", "%i %u", "%99999999999d", "%.9999999s"]


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
        inner = lambda: self.arith(depth + 1)  # noqa: E731
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
                return self.tool()
            if kind < 0.63:
                return self.pipeline()
            if kind < 0.9:
                return self.compound()
            return self.special()
        finally:
            self.depth -= 1

    def simple(self) -> str:
        kind = self.rng.random()
        if kind < 0.25:
            text = "echo " + self.words()
        elif kind < 0.4:
            text = self.assignment()
        elif kind < 0.5:
            text = "printf " + self.quoted("".join(self.pick(FORMATS) for _ in range(self.rng.randint(1, 3)))) + " " + self.words(3)
        elif kind < 0.85:
            text = self.builtin()
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

    def builtin(self) -> str:
        rng, word, words, name = self.rng, self.word, self.words, self.name
        return self.pick([
            f"read {self.pick(['', '-r', '-a arr', '-n 3', '-d x', '-t 0', '-N 2', '-u 3', '-p x', '-s', '-e', '-i x'])} {name()} {name()}",
            f"set -- {words()}", f"set {self.pick(['-e', '+e', '-u', '-x', '-f', '-o pipefail', '-C', '-n', '-v', '-a', '-T', '-E', '+x', '-o', '-b', '-m', '-k', '-B', '-H', '-P'])}",
            f"shift {self.pick(NUMBERS)}", f"unset {self.pick(['', '-v', '-f', '-n'])} {self.pick(['a', 'arr[0]', 'arr[@]', 'x', 'm[k]', 'PATH', 'IFS', 'f1', '1', 'a b'])}",
            f"declare {self.pick(['-a', '-A', '-i', '-r', '-x', '-n', '-l', '-u', '-p', '-f', '-g', '-t', '-c', '+x', '-F', '-I', '-ia', '-An'])} {self.pick(['arr', 'm', name()])}{self.pick(['', '=' + word(), '=(' + words() + ')', '+=3'])}",
            f"export {self.pick(['', '-n', '-p', '-f'])} {name()}{self.pick(['', '=' + word()])}", f"readonly {self.pick(['', '-a', '-p'])} {self.pick(['b', 'y', 'c'])}{self.pick(['', '=' + word()])}",
            f"test {words()}", f"[ {words()} ]", f"[ {word()} {self.pick(['=', '!=', '-eq', '-lt', '-nt', '-ef', '<', '-o', '-a', '=='])} {word()} ]", f"[ {self.pick(['-f', '-d', '-n', '-z', '-e', '-x', '-v', '-o', '-t', '-R', '!', '-s', '-L'])} {word()} ]",
            f"local {name()}={word()}", f"eval {self.quoted(self.command())}", f"eval {words()}", f"cd {self.pick([*FILES, '-', '~', ''])}", "pwd", f"pushd {self.pick(FILES)}", f"popd {self.pick(['', '+1', '-n', '-0'])}", f"dirs {self.pick(['', '-c', '-v', '+1'])}",
            f"trap {self.quoted(self.command())} {self.pick(['EXIT', 'ERR', 'DEBUG', 'RETURN', 'USR1', 'INT', 'TERM', 'CHLD', 'PIPE', '0', 'SIGHUP', 'KILL', '99'])}", "trap -p", "trap - EXIT ERR", "trap '' PIPE TERM",
            f"kill -{self.pick(['USR1', 'TERM', '0', 'l', 'CHLD', 'STOP', 'CONT', 'PIPE', 'KILL', '9', '99', 'HUP', 'INT', 'TSTP'])} {self.pick(['$$', '$!', '%1', '0', '$BASHPID', '-1', '99999', '-$$', '%%', '1'])}",
            f"type {self.pick(['', '-a', '-t', '-p', '-P', '-f'])} {self.pick(['cd', 'ls', 'nope', 'f1', 'if', 'echo'])}", f"command {self.pick(['', '-v', '-V', '-p'])} {self.pick(['ls', 'echo x', 'cd', 'nope', 'f1'])}", f"builtin {self.pick(['echo', 'cd', 'nope', 'eval :'])}",
            f"hash {self.pick(['', '-r', 'ls', '-t ls', '-d ls', '-l', '-p /x y'])}", "alias " + self.pick(['', 'l=ls', 'e=echo\\ ', '-p', 'nope', 'a=b']), f"unalias {self.pick(['-a', 'l', 'nope'])}",
            f"mapfile {self.pick(['', '-t', '-n 2', '-s 1', '-O 3', '-d x', '-c 1 -C echo', '-u 3'])} arr", f"getopts {self.pick(['ab:c', ':ab', '', 'a::'])} x {words(2)}", f"let {self.quoted(self.arith())}", f"let {words(2)}",
            f"shopt {self.pick(['-s', '-u', '-p', '-q', '-o', ''])} {self.pick(['extglob', 'nullglob', 'globstar', 'lastpipe', 'nocasematch', 'dotglob', 'failglob', 'expand_aliases', 'inherit_errexit', 'localvar_inherit', 'nope', 'extdebug', 'patsub_replacement', 'sourcepath', 'xpg_echo'])}",
            "times", f"ulimit {self.pick(['', '-a', '-n', '-n 5', '-c 0', '-v x'])}", f"umask {self.pick(['', '077', '-S', 'u=rwx', '999', '000', 'a-w'])}", f"wait {self.pick(['', '$!', '%1', '-n', '99', '-n -p x', '-f'])}", f"jobs {self.pick(['', '-l', '-p', '-r', '-x echo %1'])}", "fg", "bg", "disown", "disown -a", "suspend -f",
            f"exit {self.pick([*NUMBERS, ''])}", f"return {self.pick(['', '3', 'x', '256'])}", f"break {self.pick(['', '2', '0', 'x'])}", f"continue {self.pick(['', '2', '99'])}", ":", "true", "false", f"logout {self.pick(['', '3'])}",
            f"source {self.pick(['f', 'nope', '/dev/null', '/dev/stdin', '<(echo echo hi)', 'd'])} {words(2)}", f"history {self.pick(['', '-c', '3', '-s x', '-d 1', '-w f', '-p x'])}", f"fc {self.pick(['-l', '-s', '-ln', ''])}", f"compgen {self.pick(['-c', '-v', '-f', '-W abc', '-A function', '-b', '-d', '-e', '-k'])} {word()}", f"complete {self.pick(['', '-p', '-W x y', '-r', '-F f z'])}", f"enable {self.pick(['', '-n echo', '-a', 'echo', '-p', '-f x y', '-d x'])}",
            f"printf -v {self.pick(['a', 'arr[2]', 'm[k]', '1', 'x y'])} {self.quoted(self.pick(FORMATS))} {words(2)}", f"exec {self.pick(['', '3<f', '4>&1', '3<&-', '9>g', '{fd}<f', '5<>f', '>&2', '2>/dev/null', 'true', 'nope', '-a x echo hi', '-c env'])}", f"caller {self.pick(['', '0', '1', 'x'])}", "bind -l", f"help {self.pick(['', 'cd', 'nope', '-d cd', '-s let'])}", "select=1", "coproc cat",
        ]) if rng.random() < 2 else ""

    def tool(self) -> str:
        rng, word, words, quoted = self.rng, self.word, self.words, self.quoted
        regex, number, file = quoted(self.pick(REGEXES)), self.pick(NUMBERS), self.pick(FILES)
        feed = self.pick(["", "", " <<< " + word(), " < f", " f", " f g", " /etc/passwd", " -", " < data.txt", " nope", " d"])
        return self.pick([
            f"grep {self.pick(['', '-i', '-v', '-c', '-n', '-o', '-E', '-P', '-F', '-w', '-x', '-r', '-l', '-L', '-q', '-A1', '-m 1', '-z', '-oP', '-e', '-f f', '--color=always', '-nH', '-b', '-C 2', '-rl', '--include=*.txt -r', '-a'])} {regex}{feed}",
            f"sed {self.pick(['', '-n', '-E', '-z', '-s', '-i', '-i.bak', '-u', '-l 5'])} {quoted(self.sed())}{feed}",
            f"awk {self.pick(['', '-F:', '-v a=' + word(), '-F ' + quoted(self.pick(REGEXES)), '-f f', '-v OFS=-'])} {quoted(self.awk())}{feed}",
            f"jq {self.pick(['', '-n', '-r', '-c', '-s', '-R', '-j', '-a', '-e', '-S', '--arg a b', '--argjson a 1', '-Rn', '-nr', '--tab', '--indent 3', '--seq', '--stream', '-C', '--args', '--slurpfile a f'])} {quoted(self.jq())}{feed}",
            f"find {self.pick(['', '.', 'd', '/', 'nope', '-H .'])} {self.find()}",
            f"xargs {self.pick(['', '-n 1', '-I{}', '-0', '-P 2', '-d x', '-L 1', '-r', '-t', '-a f', '-s 20', '-E x', '-n 0', '-I'])} {self.pick(['echo', 'echo {}', 'sh -c :', 'nope', 'false', ''])}{feed}",
            f"sort {self.pick(['', '-n', '-r', '-u', '-k2', '-t: -k1,1n', '-h', '-V', '-R', '-c', '-m', '-z', '-o f', '-k', '-k0', '-s -k1.2', '-M', '-g', '-b', '-f', '-d', '-i', '-k 99999999999', '-S 1K'])}{feed}",
            f"cut {self.pick(['-c 1-3', '-d: -f1', '-f 2-', '-b -2', '-c 0', '-f', '-d xy -f1', '-c 5-1', '-f 1,3 --complement -d,', '-s -f2', '-c 99999999999999999999'])}{feed}",
            f"tr {self.pick(['a-z A-Z', '-d a', '-s x', '-c a b', '-cd [:alpha:]', 'a', 'z-a x', '[:upper:] [:lower:]', '[a*] b', 'ab [c*3]', '[=a=] b', '\\\\000-\\\\377 x', '-t abc d'])}{feed}",
            f"head {self.pick(['', '-n 1', '-c 5', '-n -1', '-c -2', '-5', '-n x', '-qn1', '-z', '-n 99999999999999999999', '-c 1K'])}{feed}", f"tail {self.pick(['', '-n 1', '-c 5', '-n +2', '-5', '-n x', '-r', '-c +99999999', '-z', '-q'])}{feed}",
            f"wc {self.pick(['', '-l', '-w', '-c', '-m', '-L', '--files0-from=f'])}{feed}", f"uniq {self.pick(['', '-c', '-d', '-u', '-i', '-f 1', '-s 2', '-w 1', '-D', '--group', '-z', '-cd'])}{feed}", f"cat {self.pick(['', '-n', '-A', '-b', '-s', '-v', '-E', '-T'])}{feed}", f"tac {self.pick(['', '-s x', '-r -s ' + regex, '-b'])}{feed}", f"rev{feed}", f"nl {self.pick(['', '-ba', '-w 3', '-n rz', '-s x', '-b p' + self.pick(REGEXES[:5]), '-v ' + number, '-i 0'])}{feed}",
            f"seq {number} {self.pick([number, '', '3', '1 5'])} | head -3", f"seq {self.pick(['-w', '-s,', '-f %g', '-f %x', '-f %5.2f'])} {self.pick(['1 5', '0 .5 2', '5 1', '1 0 1', '-3 3', 'x', '10 -3 1'])}", f"tee {file}{feed}", f"paste {self.pick(['', '-s', '-d,', '-sd+', '-d ' + TABS, '- -'])}{feed}", f"join {self.pick(['', '-t:', '-1 2', '-a1', '-v 2', '-o 1.1,2.2', '-e x -o auto'])} f g", f"comm {self.pick(['', '-12', '-3', '--total'])} f g", f"diff {self.pick(['', '-u', '-c', '-q', '-r', '-y', '-w', '-e', '--color', '-U 0', '-n'])} {file} g", f"cmp {self.pick(['', '-s', '-l', '-n 3', '-i 1'])} f {file}", f"split {self.pick(['-l 1', '-b 2', '-n 3', '-n l/2', '-C 5', '-d -a 1', '-n r/2/4'])} f", f"csplit f {regex}", f"fold {self.pick(['', '-w 3', '-s', '-b', '-w 0'])}{feed}", f"fmt {self.pick(['', '-w 10', '-u', '-s'])}{feed}", f"expand {self.pick(['', '-t 4', '-t 1,3', '-i', '-t 0'])}{feed}", f"unexpand -a{feed}", f"column {self.pick(['', '-t', '-s:', '-ts:', '-c 20', '-J -N a', '-x'])}{feed}",
            f"od {self.pick(['', '-c', '-x', '-An -tx1', '-t d4', '-j 1 -N 2', '-w3', '-S 3', '-t fF', '-Ax'])}{feed}", f"xxd {self.pick(['', '-p', '-r', '-r -p', '-i', '-c 4', '-s 1', '-l 2', '-b', '-u', '-s -3', '-r -s -5'])}{feed}", f"base64 {self.pick(['', '-d', '-w 0', '-di'])}{feed}", f"base32 {self.pick(['', '-d'])}{feed}", f"md5sum {self.pick(['', '-c', '--tag', '-z'])}{feed}", f"sha256sum {self.pick(['', '-c', '-b'])}{feed}", f"cksum {self.pick(['', '-a md5', '-a crc'])}{feed}", f"sum{feed}", f"gzip {self.pick(['', '-c', '-d', '-k', '-l', '-t', '-9', '-cd'])}{feed}", f"gunzip -c{feed}", f"zcat{feed}", f"bzip2 -c{feed} | bunzip2", f"xz {self.pick(['-c', '-d', '-l'])}{feed}", f"tar {self.pick(['cf t.tar', 'tf t.tar', 'xf t.tar', 'czf t.tgz', 'cf - ', 'xvf', 'tvf', 'rf t.tar', 'xzf', '--delete -f t.tar', 'uf t.tar'])} {file}", f"zip {self.pick(['z.zip f', '-r z.zip d', '-'])}", "unzip -l z.zip",
            f"ls {self.pick(['', '-l', '-a', '-R', '-1', '-t', '-S', '-F', '-la', '-d', '-i', '-h', '--color', '-x', '-m', '-Q', '-b', '-s', '-lt', '--full-time -l', '-U', '-w 10 -C'])} {file}", f"cp {self.pick(['', '-r', '-a', '-n', '-u', '-l', '-s', '-v', '-t d', '-b', '--parents', '-T'])} {file} {self.pick(FILES)}", f"mv {self.pick(['', '-n', '-f', '-v', '-b', '-t d', '-T'])} {file} {self.pick(FILES[:4])}", f"rm {self.pick(['', '-f', '-r', '-rf', '-i', '-d', '-v'])} {self.pick(FILES[:8])}", f"mkdir {self.pick(['', '-p', '-m 700', '-v'])} {file}", f"rmdir {self.pick(['', '-p'])} {file}", f"touch {self.pick(['', '-c', '-d yesterday', '-t 202001010000', '-r f', '-a', '-d x', '-h'])} {file}", f"ln {self.pick(['', '-s', '-sf', '-f', '-sr', '-n', '-T'])} {file} {self.pick(FILES[:4] + ['link'])}", f"chmod {self.pick(['644', 'u+x', '-R 755', '0', 'a-rwx', 'x', '+t', '=', '7777'])} {file}", f"chown {self.pick(['user', 'x', ':user', '0:0'])} {file}", f"stat {self.pick(['', '-c %s', '-f', '-L', '-c ' + quoted('%a %n %F %y'), '--printf=' + quoted('%i\\n'), '-t'])} {file}", f"readlink {self.pick(['', '-f', '-e', '-m', '-n'])} {file}", f"realpath {self.pick(['', '-m', '-s', '--relative-to=/', '-e'])} {file}", f"basename {self.pick(['', '-a', '-s .txt'])} {words(2)}", f"dirname {words(2)}", f"du {self.pick(['', '-s', '-a', '-h', '-b', '-d 1', '-c', '--inodes'])} {file}", "df", f"mktemp {self.pick(['', '-d', '-u', '-p d', 'xXXXX', 'x'])}", f"truncate -s {self.pick(['0', '5', '+3', '1K', '-1', '%4', '99999999999999', 'x', '<2', '10T'])} {file}", f"file {file}", f"tree {self.pick(['', '-a', '-L 1', '-d', '-J', '-f', '-s'])}", "mkfifo p", f"shred -u {file}", f"install -m 600 f {file}", f"sync {file}", f"mount {file}",
            f"date {self.pick(['+%s', '-u', '-d @0', '-d tomorrow', '+%Y', '-d ' + word(), '-Iseconds', '-R', '-r f', '+%N%q%:z', '-s x', '-d ' + number])}", f"expr {words(3)}", f"expr {number} {self.pick(['+', '-', chr(92) + '*', '/', '%', ':', '=', chr(92) + '<'])} {self.pick(NUMBERS)}", f"bc {self.pick(['', '-l'])} <<< {quoted(self.arith())}", f"factor {number}", f"numfmt {self.pick(['--to=iec', '--from=si', '--to=si', '--grouping', '--format=%f', '--padding=9'])} {number}", f"shuf {self.pick(['-n 1', '-e a b', '-i 1-5', '-r -n 3', '-i 5-1', '-n 0'])}{feed}", f"yes {word()} | head -2", f"timeout {self.pick(['1', '0.01', '0', 'x', '-s KILL 1', '-k 1 1', '1d'])} {self.pick(['true', 'sleep 0.1', 'yes >/dev/null', 'nope', 'cat'])}", f"sleep {self.pick(['0', '0.01', 'x', '-1', '0 0.01', '1e-3'])}", f"env {self.pick(['', '-i', '-u HOME', 'A=1', '-i A=1 env', '-S x', '-C d', '-0'])} {self.pick(['', 'true', 'printenv', 'nope', 'sh -c :'])}", f"printenv {self.pick(NAMES)}", f"nohup {self.pick(['echo x', 'nope'])}", f"nice {self.pick(['', 'echo', '-n 5 true'])}", f"id {self.pick(['', '-u', '-un', 'nope', '-G'])}", "whoami", "hostname", f"uname {self.pick(['', '-a', '-r', '-z'])}", "nproc", "arch", "tty", f"which {self.pick(['ls', '-a sh', 'nope'])}", f"ps {self.pick(['', 'aux', '-ef', '-o pid'])}", f"getconf {self.pick(['ARG_MAX', 'x'])}", f"look a{feed}", f"tsort{feed}", f"pr{feed}", f"strings{feed}", f"hexdump -C{feed}", f"iconv -f {self.pick(['latin1', 'utf-8', 'x'])} -t {self.pick(['utf-8', 'ascii', 'utf-16', 'ascii//TRANSLIT'])}{feed}", f"dos2unix{feed}", f"curl {word()}", f"rg {self.pick(['', '-n', '-i', '-l', '-o', '-c', '-w', '-F', '--json', '-U', '-A1', '-g *.txt', '-r x', '--files', '-v', '-t py', '-P'])} {regex}{self.pick(['', ' .', feed])}", f"python3 -c {word()}", f"yq . f", f"patch {self.pick(['', '-p1', '-R'])} < f", f"sqlite3 {word()}", f"git {self.pick(['status', 'log', 'init'])}",
            f"sh -c {quoted(self.command())} {words(2)}", f"bash {self.pick(['-c', '-ec', '-xc', '-uc', '-nc', '-O extglob -c', '--posix -c', '-s', '-z', '-ic'])} {quoted(self.command())}", f"sh f {words(2)}", "bash < f", f"bash -s {word()} <<< {quoted(self.command())}",
        ]) if rng.random() < 2 else ""

    def sed(self) -> str:
        regex, other = self.pick(REGEXES), self.pick(["x", "&", "\\1", "\\n", "\\U&", "", "[&]", "\\L\\1\\E", "/"])
        address = self.pick(["", "", "1", "$", "/a/", "1,3", "/a/,/b/", "0~2", "1!", "2,+1", "0,/x/", "/a/I", "$!", "1,~2", "\\,a,"])
        body = self.pick([f"s/{regex}/{other}/{self.pick(['', 'g', 'p', '2', 'gI', 'w f', 'e', 'M', '0', '3g'])}", "d", "p", "=", "q", "Q3", "n", "N", "D", "P", "G", "H", "h", "g", "x", "l", "y/abc/xyz/", "y/ab/c/", "a\\foo", "i bar", "c\\", "r f", "w g", "b", ":a;s/a/b/;ta", ":a;N;$!ba;s/\\n/,/g", "{p;d}", "{", "}", "e echo", "z", "F", "R g", "W g", "T", "#n", "l 5", "v", "s/a/b", "k", "tx;:x", "s,a,b,", "r /dev/stdin"])
        return f"{address}{body}"

    def awk(self) -> str:
        regex = self.pick(REGEXES[:6])
        return self.pick([
            "{print $1}", "{print NF, NR, $NF}", "BEGIN{print 1/3; print -1 % 3; print 2^10}", f"/{regex}/", f"/{regex}/{{n++}} END{{print n}}", "{a[$1]++} END{for(k in a) print k, a[k]}", "BEGIN{while((getline l < \"f\")>0) print l}", "{gsub(/a/,\"&&\"); print}", "{$2=\"\"; print}", "{$5=1; print NF}", "BEGIN{printf \"%s %d %c %5.2f\\n\", \"a\", 3.7, 65, 1e300}", "function f(n){return n<2?n:f(n-1)+f(n-2)} BEGIN{print f(10)}", "BEGIN{n=split(\"a:b:c\",x,\":\"); print n, x[2]}", "NR==1,NR==3", "!s[$0]++", "END{print $0}", "BEGIN{\"echo hi\"|getline x; print x}", "{print > \"out\"}", "{print | \"sort\"}", "BEGIN{exit 3} END{print 1}", "BEGIN{print length(), substr(\"hello\",2,3), index(\"abc\",\"c\"), toupper(\"a\")}", "BEGIN{print match(\"foobar\",/o+/), RSTART, RLENGTH}", "BEGIN{x[1,2]=3; for(k in x){split(k,p,SUBSEP); print p[1]}; delete x}", "BEGIN{print substr(\"x\",-1,99999999999), sprintf(\"%*d\",3,4)}", "BEGIN{getline; print; next}", "{next} END{print NR}", "BEGIN{RS=\"\"}{print}", "BEGIN{FS=\",\";OFS=\"-\"}{$1=$1}1", "BEGIN{print 1==1.0, \"a\"<\"b\", 1 \" \" 2, -\"3x\"}", "BEGIN{system(\"exit 3\"); print system(\"true\")}", "BEGIN{print strftime(\"%Y\",0), srand(1), int(rand()*0)}", "BEGIN{print gensub(/(a)/,\"<\\\\1>\",\"g\",\"banana\")}", "BEGIN{print toupper(x) length(x) x+0}", "BEGIN{a=1;a+=a++ + ++a;print a}", "BEGIN{do{i++;if(i==3)continue}while(i<5);print i}", "BEGIN{printf \"%d %i %o %x %u %e %g\\n\",\"0x1A\",1e18,8,255,-1,1,1e100}", "{", "BEGIN{print", "BEGIN{f(}", "BEGIN{print $(-1)}", "BEGIN{print 1/0}", "BEGIN{NF=-1}", "BEGIN{print ENVIRON[\"HOME\"], ARGV[0], ARGC, PROCINFO[\"pid\"]>0}", "@include \"x\"", "BEGIN{asort(a);asorti(b,c);print length(c)}", "BEGIN{switch(1){case 1:print \"a\"}}", "BEGIN{print and(5,3), xor(1,2), lshift(1,70), compl(0)}", "BEGIN { print substr(\"é😀\", 2, 1), length(\"é\") }", "BEGIN{x=\"A\"; while(i++<20) x=x x; print length(x)}"])

    def jq(self) -> str:
        return self.pick([".", ".a", ".[]", ".a.b?", "keys", "length", "map(.+1)", "[range(5)]", "{a:1}|.a", "if . then 1 else 2 end", "try error(\"x\") catch .", "reduce range(5) as $i (0;.+$i)", "[limit(3;range(10))]", "[.[]?]|sort", "to_entries", "\"\\(1+2)\"", "@base64", "@csv", "@sh", "@uri", "@tsv", "@html", "@json", "tojson|fromjson", "test(\"a+\")", "[match(\"a\";\"g\").offset]", "sub(\"a\";\"b\")", "gsub(\"\";\"-\")", "split(\",\")", "ascii_downcase", "input", "[inputs]", "$ENV|type", "env.HOME", "now|type", "0|todate", "\"2020-01-01T00:00:00Z\"|fromdate", "[1,[2]]|flatten", "def f(x): x+1; f(2)", "label $o|1,break $o,2", "[.[]|select(.>1)]", "$__loc__", "input_line_number", "ltrimstr(\"a\")", "tonumber", "tostring", "1/0", ". as [$a,$b]|$a", "[recurse]|length", "..", "path(..)", "[paths]", "getpath([\"a\"])", "setpath([\"a\"];1)", "del(.a)", "with_entries(.value|=1)", "group_by(.a)", "min_by(.)", "unique", "any", "all", "[splits(\"a\")]", "ascii", "implode", "explode", "1e1000", "nan|isnan", "infinite", "-1|sqrt", "pow(2;64)", "[1,2]-[2]", "{} * {}", "\"a\"*3", "\"a\"*0", "[.]|@text", "@base64d", "limit(0;1)", "first(empty)", "until(.>10;.+1)?", "[foreach range(3) as $i (0;.+$i)]", "ltrimstr(1)", "error", "error(null)", "halt_error", "halt", "$a", "$__prog_args", "getpath(1)", "tojson", "strptime(\"%Y\")", "mktime", "gmtime", "strftime(\"%Y\")", "splits(1)", "ascii(65)", "@foo", "{(1):2}", "[", "{", "|", ".[", "\"\\u00e9\\ud83d\"", ".[1:2]", ".[-1:]", ".[\"a\"]", ".a[]=1", ".a|=empty", "limit(-1;1)", "tostream", "fromstream(tostream)", "truncate_stream(1;tostream)", "walk(.)", "env|length", "builtins|length", "input_filename", "significand", "getpath([1,2])", "combinations", "ascii_upcase", "indices(1)", "inside({})", "contains(1)", "splits(\"\")", "have_decnum", "abs", "toarray", "trim", "pick(.a)", "debug", "scan(\"a\")", "IN(1,2)", "ltrimstr", "getpath", "repeat(1)|first", "[.[] as {a:$x} ?// [$x] | $x]", "100000000000000000000000001", "[range(0;10;0)]|length", "@sh \"echo \\(.)\"", "limit(3;repeat(1))"])

    def find(self) -> str:
        return " ".join(self.pick(["-name '*'", "-type f", "-type d", "-name '[a-'", "-maxdepth 1", "-mindepth 1", "-empty", "-size +0", "-size -1k", "-newer f", "-print", "-print0", "-exec echo {} \\;", "-exec echo {} +", "-delete", "-o", "!", "\\(", "\\)", "-prune", "-printf '%p %s\\n'", "-printf '%'", "-path './d*'", "-regex '.*'", "-iname A", "-perm 644", "-perm /111", "-mtime -1", "-user user", "-quit", "-ls", "-false", "-execdir pwd \\;", "-ok echo {} \\;", "-links 1", "-inum 5", "-fprint f", "-depth", "-samefile f", "-xtype l", "-nope", "-exec", "-regextype x", "-mmin 5", "-size x", "-readable", "-a", ","]) for _ in range(self.rng.randint(0, 4)))

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
            return f"{self.pick(['cat', 'read x', 'sh', 'while read l; do echo "$l"; done', ': '])} {self.pick(['<<', '<<-', '3<<'])}{end}\n{text}\nE\n"
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
