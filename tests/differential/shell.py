"""Random shell scripts, deterministic by seed: what two shells must answer alike, and nothing that depends on time.

A script is a list of lines, each of which can be left out without making the others impossible to parse.
"""
from __future__ import annotations

import random

from tests.differential.features import FEATURES, fill

SCALARS = ("a", "b", "c", "x", "y")
VALUES = ("", "0", "1", "7", "-3", "010", "abc", "a b", " lead", "trail ", "a  b\tc", "x:y::z", "*.txt", "[ab]*", "a\\b", "héllo",
          "AbC dEf", "path/to/file.tar.gz", "'q'", '"d"', "~", "$a", "-n", "a=b", "1,2,3", "foo.bar", "a/b/c", "?", "\\*", "aXbXc", "日本")
PATTERNS = ("*", "?", "a*", "*b", "[a-c]*", "*.txt", "*/", "/*", "*.*", "[!a]*", "?b*", "X", "b", "*X*", " ", "[[:upper:]]", "[[:digit:]]*",
            "\\*", "a?c", "é", "*[[:space:]]*", "[^x]", "''", "[]a]*", "[a-", "l*o")
EXTENDED = ("@(a|b)*", "+([0-9])", "*(ab|c)", "?(a)b*", "!(a*)", "!(*.txt)", "+(a|b|X)")
IFS = ("' '", "$' \\t\\n'", "','", "':'", "''", "' :'", "'X'", "$'\\n'", "'/'")
NUMBERS = ("0", "1", "2", "3", "5", "7", "10", "-1", "-4", "0x1f", "010", "2#101", "16#ff", "9223372036854775807")
FORMATS = ("%s", "%5s", "%-5s|", "%.2s", "%d", "%05d", "%+d", "%x", "%#o", "%q", "%b", "%c", "%%", "<%s>", "%3d|", "%-6q|", "%X", "%u",
           "%5.1f", "%e", "%g", "%*d", "%.*s", "%i", "%s %s", "[%s]", "%8.3s|", "%s\\t", "\\x41%s", "\\101\\n")
OPERATORS = ("+", "-", "*", "/", "%", "**", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "|", "^", "&&", "||", ",")


class ShellScripts:
    """`lines()`: a random script."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.depth = 0
        self.functions = 0
        self.heredocs = 0

    # ---------------------------------------------------------------------------------------------------- choices

    def pick(self, items: tuple[str, ...] | list[str]) -> str:
        return self.rng.choice(items)

    def maybe(self, share: float) -> bool:
        return self.rng.random() < share

    def lines(self) -> list[str]:
        lines = ["exec 2>&1"] if self.maybe(0.2) else []
        if self.maybe(0.25):
            lines.append(self.options())
        lines += self.setup()
        statements = [self.statement() for _ in range(self.rng.randint(2, 6))]
        if self.maybe(0.6):
            statements = statements[:2] + [self.feature() for _ in range(self.rng.randint(1, 3))]
            self.rng.shuffle(statements)
        lines += statements
        lines.append(self.report())
        return lines

    def feature(self) -> str:
        """A template of `features.py`, filled."""
        slots = {"W": self.word, "E": self.expansion, "I": self.inside, "V": lambda: self.single(self.pick(VALUES)),
                 "P": self.pattern, "A": self.arithmetic, "N": lambda: self.pick(NUMBERS), "C": self.simple_line,
                 "B": self.body, "T": self.test, "X": lambda: self.pick(SCALARS)}
        return fill(self.pick(FEATURES[self.pick(list(FEATURES))]), self.pick, slots)

    def options(self) -> str:
        return self.pick(["set -e", "set -u", "set -o pipefail", "set -eu", "set -f", "shopt -s extglob", "shopt -s nullglob",
                          "shopt -s dotglob", "shopt -s nocasematch", "shopt -s globstar", "set -euo pipefail", "shopt -s lastpipe",
                          "set -o noclobber", "set -a", "shopt -s nocaseglob", "shopt -s failglob", "shopt -s inherit_errexit",
                          "set -E", "set -o posix", "shopt -s xpg_echo", "shopt -s extglob globstar"])

    def setup(self) -> list[str]:
        lines = [f"{name}={self.single(self.pick(VALUES))}" for name in self.rng.sample(SCALARS, self.rng.randint(1, 4))]
        if self.maybe(0.5):
            items = " ".join(self.single(self.pick(VALUES)) for _ in range(self.rng.randint(0, 4)))
            lines.append(f"arr=({items})")
        if self.maybe(0.25):
            items = " ".join(f"[{self.pick(('k', 'l', 'a b', '1'))!r}]={self.single(self.pick(VALUES))}" for _ in range(1))
            lines.append(f"declare -A m=({items})")
        if self.maybe(0.3):
            lines.append("set -- " + " ".join(self.single(self.pick(VALUES)) for _ in range(self.rng.randint(0, 4))))
        if self.maybe(0.15):
            lines.append(f"IFS={self.pick(IFS)}")
        return lines

    def report(self) -> str:
        return self.pick(['echo "status $?"', 'declare -p a b c x y 2>/dev/null', 'printf "<%s>" "$@" "${arr[@]}"; echo',
                          'echo "$a|$b|$c|$x|$y"', 'declare -p arr 2>/dev/null; echo "$#"', "set -- $a $b; echo $#"])

    # ------------------------------------------------------------------------------------------------------ words

    def single(self, text: str) -> str:
        """`text` quoted one way or another."""
        kind = self.rng.randint(0, 3)
        if kind == 0 and text and all(char.isalnum() or char in "./:,=-" for char in text):
            return text
        if kind == 1 and not set(text) & set('"\\$`!'):
            return f'"{text}"'
        if kind == 2 and "'" not in text and "\\" not in text:
            return f"$'{text}'"
        return "'" + text.replace("'", "'\\''") + "'"

    def parameter(self) -> str:
        """What stands between `${` and the operator."""
        kind = self.rng.random()
        if kind < 0.6:
            return self.pick(SCALARS)
        if kind < 0.7:
            return self.pick(("1", "2", "@", "*", "3"))
        if kind < 0.9:
            return self.pick(("arr[@]", "arr[*]", "arr[0]", "arr[1]", "arr[-1]", "arr", "arr[a]", "arr[1+1]"))
        return self.pick(("m[k]", "m[@]", "m['a b']", "m[*]", "nope"))

    def pattern(self) -> str:
        kind = self.rng.random()
        if kind < 0.75:
            return self.pick(PATTERNS)
        if kind < 0.85:
            return self.pick(EXTENDED)
        return self.pick(('$a', '"$b"', "${x}*", "'*'", '"?"', "\\?"))

    def expansion(self) -> str:
        kind = self.rng.random()
        name = self.parameter()
        if kind < 0.25:
            return f"${{{name}}}" if self.maybe(0.5) else f"${self.pick((*SCALARS, '@', '*', '#', '1', '2'))}"
        if kind < 0.4:
            return f"${{{name}{self.pick((':-', '-', ':=', '=', ':+', '+'))}{self.operand()}}}" if name not in "123@*" else f"${{{name}:-{self.operand()}}}"
        if kind < 0.55:
            return f"${{{name}{self.pick(('#', '##', '%', '%%'))}{self.pattern()}}}"
        if kind < 0.67:
            return f"${{{name}{self.pick(('/', '//', '/#', '/%'))}{self.pattern().replace('/', ':')}/{self.pick(('', 'Z', '<&>', '$x', '[]', 'a b'))}}}"
        if kind < 0.75:
            return f"${{{name}:{self.pick(('0', '1', '2', ' -1', ' -2', '1:1', '0:2', '1:-1', ' -3:2', 'y', '2:0', '0:1+1'))}}}"
        if kind < 0.8:
            return f"${{{name}{self.pick(('^', '^^', ',', ',,', '~', '~~'))}{self.pick(('', '', '[a-c]', '?', 'b'))}}}"
        if kind < 0.84:
            return f"${{#{name}}}"
        if kind < 0.87:
            return f"${{{name}@{self.pick(('Q', 'U', 'u', 'L', 'E', 'A', 'a', 'K', 'k'))}}}"
        if kind < 0.89:
            return self.pick(("${!a}", "${!x}", "${!arr[@]}", "${!m[@]}", "${!a*}", "${!x@}"))
        if kind < 0.95:
            return f"$(({self.arithmetic()}))"
        return f"$({self.simple()})" if self.depth < 3 else "$(echo hi)"

    def operand(self) -> str:
        return self.pick(("", "w", "d e", "$b", '"$c"', "'q r'", "${x:-z}", "*", "~", '"a  b"', "\\$", "é", '"$@"', "{1,2}"))

    def word(self) -> str:
        kind = self.rng.random()
        if kind < 0.2:
            return self.single(self.pick(VALUES))
        if kind < 0.35:
            return self.pick(("foo", "bar", "1", "2", "a.txt", "-x", "é", "~", "a=~", "x~"))
        if kind < 0.6:
            return self.expansion()
        if kind < 0.8:
            return f'"{self.inside()}"'
        if kind < 0.86:
            return self.pick(("{a,b}", "{1..3}", "x{,y}z", "{a..c}{1,2}", "{3..1}", "{01..03}", "a{b,{c,d}}", "{x}", "{1..5..2}", "{$a,b}",
                              "{a,b", "\\{a,b}", "{z..x}", "{-1..1}", "'{a,b}'", "{a..}"))
        if kind < 0.94:
            return self.pick(("*", "*.txt", "?.txt", "[ab]*", "d/*", "*/", "*/*", "[!a]*", ".*", "**", "no*match", "d*/x*", "\\*", "'*'", "*é*", "[[:upper:]]*",
                              "a*[t]", "**/*.txt", "$a*", '"$a"*', "./*", "@(a|b)*"))
        return self.pick(("foo", "pre")) + self.expansion() + self.pick(("", "post", '"$y"'))

    def inside(self) -> str:
        """The inside of double quotes."""
        out = []
        for _ in range(self.rng.randint(1, 3)):
            out.append(self.pick(("t ", "a", "\\$", "\\\\", "'", "  ", "*", "\\x", "é", "~", "{a,b}")) if self.maybe(0.4) else self.expansion())
        return "".join(out)

    def arithmetic(self, depth: int = 0) -> str:
        kind = self.rng.random()
        if depth > 2 or kind < 0.35:
            return self.pick((*NUMBERS, "y", "i", "n", "arr[0]", "$#", "${#a}", "n+1", "i++", "--n", "y"))
        if kind < 0.75:
            return f"{self.arithmetic(depth + 1)} {self.pick(OPERATORS)} {self.arithmetic(depth + 1)}"
        if kind < 0.85:
            return f"({self.arithmetic(depth + 1)})"
        if kind < 0.9:
            return f"{self.pick(('-', '!', '~', '+'))}{self.arithmetic(depth + 1)}"
        if kind < 0.95:
            return f"{self.arithmetic(depth + 1)} ? {self.arithmetic(depth + 1)} : {self.arithmetic(depth + 1)}"
        return f"{self.pick(('n', 'i', 'arr[1]'))} {self.pick(('=', '+=', '-=', '*=', '<<=', '|=', '^='))} {self.arithmetic(depth + 1)}"

    # --------------------------------------------------------------------------------------------------- commands

    def words(self, most: int = 3) -> str:
        return " ".join(self.word() for _ in range(self.rng.randint(1, most)))

    def simple(self) -> str:
        self.depth += 1
        try:
            return self._simple()
        finally:
            self.depth -= 1

    def _simple(self) -> str:
        kind = self.rng.random()
        if kind < 0.28:
            return f"echo {self.pick(('', '', '', '-n ', '-e '))}{self.words()}"
        if kind < 0.45:
            return f"printf '{self.pick(FORMATS)}{self.pick(('', chr(92) + 'n', ' '))}' {self.words()}"
        if kind < 0.5:
            return f"printf '<%s>' {self.words()}; echo"
        if kind < 0.6:
            return self.assignment()
        if kind < 0.65:
            return f"test {self.condition()}"
        if kind < 0.7:
            return f"[[ {self.double_condition()} ]]"
        if kind < 0.74:
            return f"(( {self.arithmetic()} ))"
        if kind < 0.78:
            return self.pick(("true", "false", ":", "shift", "return 3", "break", "continue", "unset a", "unset 'arr[0]'", "unset arr b", "exit 3", "shift 2",
                              "local z=1", "cd d", "pwd", "cd .. && pwd", "type -t echo f1", "hash -r", "umask", "let n+=2", "let 'n=3' i=n*2", "export a",
                              "readonly c", "set -- $a", "set -- \"$a\" \"$b\"", "declare -i n=3+4", "declare -u x=abc", "declare -l y=ABC", "typeset -r z=1", "wait",
                              "declare -n ref=a; ref=new; echo $a", "eval 'echo $a'", "eval \"x=$a\"", "command echo hi", "builtin printf hi", "getopts ab: o -a -b v",
                              "echo $FUNCNAME", "echo ${PIPESTATUS[*]}", "echo $-", "echo $?", "echo $LINENO", "declare -f f1", "f1 a b", "f2 'x y' z", "mapfile -t arr < f.txt"))
        if kind < 0.83:
            return f"cat <<{self.pick(('E', chr(39) + 'E' + chr(39), '-E'))}\n{self.inside()}\n\t{self.pick(VALUES)}\nE\n" if self.maybe(0.4) else f"cat <<< {self.word()}"
        if kind < 0.88:
            return f"{self.pick(('read', 'read -r', 'IFS=: read -r', 'IFS= read -r', 'read -a arr', 'read -d :', 'read -n 3', 'IFS=, read'))} {'' if self.maybe(0.2) else self.pick(('x y', 'x', 'a b c'))} <<< {self.word()}"
        if kind < 0.91:
            return f"{self.pick(SCALARS)}={self.word_for_value()} {self.pick(('f1 p q', 'eval echo ' + chr(39) + '$a$b' + chr(39), 'printenv a', 'true'))}"
        if kind < 0.96:
            return self.pick(("cat f.txt", "sort f.txt", "head -n2 f.txt", "wc -l < f.txt", "grep a f.txt", "tr a-z A-Z < f.txt", "sed s/a/b/ f.txt", "cut -c1-3 f.txt",
                              "ls", "ls d", "cat nope 2>/dev/null", "tail -n1 f.txt", "rev f.txt", "uniq f.txt", "nl f.txt", "seq 3", "basename a/b.txt .txt", "dirname a/b"))
        return f"{self.pick(('command', 'builtin', 'eval'))} {self.pick(('echo', 'printf %s' + chr(92) + chr(92) + 'n'))} {self.words(2)}"

    def word_for_value(self) -> str:
        return self.pick((self.expansion(), self.single(self.pick(VALUES)), f'"{self.inside()}"'))

    def assignment(self) -> str:
        kind = self.rng.random()
        if kind < 0.5:
            return f"{self.pick(SCALARS)}{self.pick(('=', '=', '+='))}{self.word_for_value()}"
        if kind < 0.65:
            return f"arr{self.pick(('=', '+='))}({self.words() if self.maybe(0.9) else ''})"
        if kind < 0.8:
            return f"arr[{self.pick(('0', '1', '5', '-1', 'n', 'n++', '1+1'))}]{self.pick(('=', '+='))}{self.word_for_value()}"
        if kind < 0.9:
            return f"m[{self.pick(('k', '$a', 'a b', chr(34) + '$b' + chr(34), '1'))}]={self.word_for_value()}"
        return self.pick(("i=0 n=5", "declare -i n", "declare -a arr", "declare -A m", "printf -v x '%03d' 7", "printf -v 'arr[2]' hi", "IFS=,", "IFS=:", "unset IFS",
                          "declare -x a=exp", "arr=([3]=x [1]=y z)", "local a=1", "declare -g y=glob", "declare x+=more"))

    def condition(self) -> str:
        kind = self.rng.random()
        if kind < 0.3:
            return f"{self.pick(('-n', '-z', '-e', '-f', '-d', '-s', '-v', '-r'))} {self.word()}"
        if kind < 0.6:
            return f'"{self.inside()}" {self.pick(("=", "!=", "==", chr(92) + "<", chr(92) + ">"))} {self.word()}'
        if kind < 0.8:
            return f"{self.pick(NUMBERS)} {self.pick(('-eq', '-ne', '-lt', '-le', '-gt', '-ge'))} {self.pick((*NUMBERS, '$y', '$#', 'x'))}"
        if kind < 0.9:
            return f"! {self.condition()}"
        return f"{self.condition()} {self.pick(('-a', '-o'))} {self.condition()}"

    def double_condition(self) -> str:
        kind = self.rng.random()
        if kind < 0.25:
            return f"{self.pick(('-n', '-z', '-e', '-f', '-d', '-v', '! -s'))} {self.pick(('$a', '$x', 'f.txt', 'd', 'arr', 'nope', 'arr[1]', chr(34) + '$b' + chr(34)))}"
        if kind < 0.5:
            return f"{self.pick(('$a', '$b', chr(34) + '$x' + chr(34), 'abc', '${arr[0]}'))} {self.pick(('==', '!=', '=', '<', '>'))} {self.pattern()}"
        if kind < 0.65:
            return f"{self.pick(('$a', '$b', '$x', 'foo.bar', 'ab12'))} =~ {self.pick(('^a', 'b$', '[0-9]+', '(a)(b)?', '^[[:alpha:]]+', '$y', chr(34) + '.' + chr(34), 'a|b', '^(.)(.*)$', chr(92) + '.', 'x*'))}"
        if kind < 0.8:
            return f"{self.pick((*NUMBERS, 'y', '$#', 'n'))} {self.pick(('-eq', '-lt', '-ge', '-ne'))} {self.pick((*NUMBERS, 'n', 'i+1'))}"
        if kind < 0.9:
            return f"{self.double_condition()} {self.pick(('&&', '||'))} {self.double_condition()}"
        return f"! ( {self.double_condition()} )"

    def statement(self) -> str:
        self.depth += 1
        try:
            return self._statement()
        finally:
            self.depth -= 1

    def body(self) -> str:
        return "\n".join(self.statement() if self.maybe(0.3) else self.simple() for _ in range(self.rng.randint(1, 2)))

    def _statement(self) -> str:
        if self.depth > 3:
            return self.simple()
        kind = self.rng.random()
        if kind < 0.35:
            return self.simple()
        if kind < 0.42:
            return f"{self.simple_line()} {self.pick(('&&', '||'))} {self.simple()}"
        if kind < 0.5:
            return f"{self.simple_line()} | {self.pipe_end()}"
        if kind < 0.56:
            return f"if {self.test()}; then\n{self.body()}\n{'else' + chr(10) + self.body() + chr(10) if self.maybe(0.5) else ''}fi"
        if kind < 0.64:
            return f"for i in {self.words()}; do\n{self.body()}\ndone"
        if kind < 0.68:
            return f"for ((i=0; i<{self.pick(('0', '2', '3'))}; i++)); do\n{self.body()}\ndone"
        if kind < 0.72:
            return f"n=0; while (( n++ < {self.pick(('1', '2', '3'))} )); do\n{self.body()}\ndone"
        if kind < 0.79:
            return f"case {self.word()} in\n{self.pattern()}) {self.body()} {self.pick((';;', ';&', ';;&'))}\n{self.pattern()}|{self.pattern()}) {self.body()};;\n*) echo other;;\nesac"
        if kind < 0.85 and self.depth <= 2:
            self.functions += 1
            name = self.pick(("f1", "f2"))
            local = self.pick(("", "local a=in\n", "local x y=1\n", "local -a arr=(l m)\n", "local -i n=4\n", "local IFS=,\n"))
            return f"{name}() {{\n{local}{self.simple()}\n{self.pick(('', 'return 2', 'echo $# $1', 'return'))}\n}}\n{name} {self.words(2)}; echo \"rc $?\""
        if kind < 0.9:
            opener, closer = self.rng.choice(("()", "{}"))
            return f"{opener}\n{self.body()}\n{closer}"
        if kind < 0.93:
            return self.pick(("trap 'echo bye' EXIT", "trap 'echo err $?' ERR", "trap - EXIT", "trap 'echo dbg' DEBUG; :; trap - DEBUG", "trap 'echo ret' RETURN", "trap -p",
                              "trap 'echo usr' USR1; kill -USR1 $$", "trap '' TERM; trap -p TERM"))
        if kind < 0.97:
            return self.redirected()
        return f"while {self.pick(('read -r', 'IFS= read -r', 'IFS=: read -r', 'read'))} x y; do\n{self.simple()}\ndone < f.txt"

    def simple_line(self) -> str:
        """A simple command on one line (no here-document)."""
        while True:
            text = self.simple()
            if "\n" not in text:
                return text

    def test(self) -> str:
        return self.pick((f"[[ {self.double_condition()} ]]", f"test {self.condition()}", f"(( {self.arithmetic()} ))", self.simple_line(), f"! {self.simple_line()}"))

    def pipe_end(self) -> str:
        return self.pick(("cat", "tr a-z A-Z", "wc -l", "{ read x; echo \"got $x\"; }", "while read -r l; do echo \"<$l>\"; done", "sort", "head -n1", "sed 's/a/A/g'", "cat -A",
                          "read y", "grep -c .", "od -An -c", "(cat; echo end)", "tail -n1", "mapfile -t arr", "xargs echo", "cut -d: -f1"))

    def redirected(self) -> str:
        return self.pick((
            f"{self.simple_line()} > out.txt; cat out.txt", f"{self.simple_line()} >> f.txt; cat f.txt", f"{{ {self.simple_line()}; echo e >&2; }} 2>&1 | sort",
            f"{self.simple_line()} 2>/dev/null", f"{{ {self.simple_line()}; }} > out.txt; wc -c < out.txt", f"exec 3>out.txt; {self.simple_line()} >&3; exec 3>&-; cat out.txt",
            f"{self.simple_line()} &> out.txt; head -c 100 out.txt | wc -l", "exec 4< f.txt; read -u 4 x; echo \"$x\"; exec 4<&-", f"cat < <({self.simple_line()})",
            f"{self.simple_line()} > >(cat) ; wait", f"paste <({self.simple_line()}) f.txt", "cat < nope; echo $?", f"{self.simple_line()} >&-", f"x=$({self.simple_line()} 2>&1 >/dev/null); echo ${{#x}} | wc -l",
            f"{self.simple_line()} | tee out.txt | wc -l; cat out.txt", "echo new >| out.txt; cat out.txt", "> out.txt; [ -s out.txt ]; echo $?", f"( {self.simple_line()} ) < f.txt"))
