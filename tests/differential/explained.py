"""Differences with a reason: what a case must look like for each, and why Mirage answers otherwise."""
from __future__ import annotations

import re

from tests.differential.compare import Difference
from tests.differential.jail import Answer

EXPLAINED: tuple[tuple[str, str, str, str], ...] = (
    (r"awk", r"[axp]\b", r"attempt to use (scalar|array)|not an array|scalar parameter",
     "gawk looks at the whole program to tell a scalar from an array: where one is used as both it names the other one"),
    (r"shell|text", r"(?m)(^|[;&|({]|then|do) *(set|declare|typeset|local|export|env|printenv)( -p)?\s*($|[;|<>&)]|2>)", r"",
     "a listing of all variables shows the machine (HOSTNAME, ...)"),
    (r"stat|ls|find|text", r"\b(stat (?!.*-c)|ls -\w*[lsS]|-ls\b|%s)", r"",
     "sizes and inodes of directories, device numbers and change times are those of the file system"),
    (r"shell", r"\$\{[^}]*/[^}]*\[[!^]\]", r"",
     "bash counts the length of a pattern with `[^]` or `[!]` and a bracket wrongly: such a substitution never matches"),
    (r"shell", r"\(.*\[[^]]*\]=[^)]*\{", r"",
     "bash takes `[key]={a,b}` in the list of an indexed array for two words without a key"),
    (r"shell", r"\*\*", r"exponent less than 0",
     "bash looks at the exponent in the branch of `?:`, `&&` and `||` that is not taken as well"),
    (r"shell", r"[-+*/%&|^<>]=|[+-]{2}|=|set -\w*u|nounset", r"attempted assignment|syntax error|operand expected|recursion level|unbound variable|bad array|expected for cond",
     "an arithmetic error: bash has done by then what stands before it (assignments, the look at unset names)"),
    (r"shell", r"IFS=[\s\S]*(=|<<<\s*)\S*\$\{(@|\*|arr\[[@*]\])[#%@]|IFS=[\s\S]*<<[-E'][\s\S]*\$\{?\*", r"", "what separates the elements of ${@%x} and of $* in a here-document where IFS is not the usual one"),
    (r"shell", r'"[^"]*\$\{\*[^"]*\$\{?@', r"", "beside ${@} in the same double quotes bash makes several fields of a changed ${*}"),
    (r"shell", r"[/%]", r'division by 0 \(error token is "\w+[^\w"]',
     "an arithmetic error: bash meets the division by 0 before it reads on to what is no expression"),
    (r"shell", r"\b(for|while|until|select)\b[\s\S]*\b(break|continue)\b", r"bad substitution|invalid indirect|substring expr|line \d+: [^:\n]*: (syntax error|division|unbound|value too)",
     "after an error that abandons a loop bash still counts itself in it: a later `break` ends the script"),
    (r"shell", r"-n", r"circular name reference", "a local reference with its own name leads to the outer variable: bash warns at every use, here once"),

    (r"shell", r"posix[\s\S]*trap -p", r"", "`trap -p` in POSIX mode lists the signals without a trap, too"),
    (r"shell", r"\$\{\*@[Kk]", r"", "beside another list in the same double quotes bash makes ${*@K} several fields"),
    (r"text", r"cp .*-b.*-f|cp .*-f.*-b", r"", "cp -b -f FILE FILE (one name): cp makes a backup, here it is the same file"),
    (r"awk", r"gensub\(.*(\\\\[0-9]|(match|index|length|int)\b)", r"", "gawk reads behind its buffer for a group of gensub in what was a number"),
    (r"grep", r"b\.bin| \*|-[rR]", r"binary file matches", "where the first NUL is in a last line without a newline, we have printed the lines before it"),
    (r"rg", r"(--vimgrep|-o|--only-matching|--count-matches).*[*?]", r"", "empty matches inside a character of several bytes"),
    (r"awk", r"[%/] *0", r"error: division by zero", "gawk divides constants before it runs a program"),
    (r"awk", r"%c", r"", "gawk prints for %c of an empty field the byte that stands behind it in its buffer"),
    (r"awk", r"\| *\"", r"fatal", "after a fatal error gawk does not wait for its commands: their output comes some time"),
    (r"jq", r"", r"(trim|rtrim|ltrim|add/1|abs|toarray|have_decnum|have_literal_numbers|pick|skip)(/\d)? is not defined", "a function of the next jq"),
    (r"jq", r"(reduce|foreach|label|def|if) ", r"syntax error, unexpected", "reduce, foreach, if as terms: as of the next jq"),
    (r"jq", r"leaf_paths", r"leaf_paths/0 is not defined", "jq's manual has leaf_paths, that build has not"),
    (r"jq", r"--stream.*-s|-s.*--stream", r"", "with --stream and -s jq prints the last event behind the array unless white space ends its input"),
    (r"jq", r"--seq", r"Unfinished abandoned text", "--seq without a record in the input: jq complains and forgets what -s has gathered"),
    (r"numfmt", r"--format.*--format", r"", "of two --format numfmt keeps the precision of the first"),
    (r"jq", r"\bascii\b(?!_)", r"ascii/0 is not defined", "jq's manual has ascii, that build has not"),
    (r"text|others", r"pr -?.*-m", r"", "pr -m counts the bytes of a cell that is not ASCII for its tabs"),
    (r"shell", r"case \$\{arr\[[@*]\]%+\*\} in", r"", "bash crashes on a pattern removed from all elements of an array as the word of `case`"),
    (r"shell", r"2>&1[\s\S]*(kill|wait|disown)", r"\(\d+\) - |pid \d+", "the number of a process in a message"),
    (r"find", r"-fprint", r"", "the change times of what a run makes are those of the moment"),
    (r"text", r"iconv -f utf-16", r"", "what iconv makes of bytes that are no UTF-16"),
    (r"grep", r"-P.* b\.bin", r"", "PCRE2 on bytes that are no UTF-8: grep skips them, we search them as bytes"),
    (r"tr", r"-t.*-c|-c.*-t", r"complemented", "-c with -t: tr looks at the complement before it cuts it"),
    (r"sed", r"-s ", r"", "-s and a file without a newline at its end: sed loses what `a` has for its last line"),
    (r"xxd", r"-s -(?!\d)|-c [^0-9]", r"", "xxd takes what is no number for 0"),
    (r"shell", r"(?m)^\{ .*[<>][^\n]*$(?![\s\S]*\})", r"\{: command not found", "a brace before a redirection at the end of the text"),
)
"""(pattern of the kind of case, pattern found in the script, pattern found in what the real one says on stderr, reason)."""


CRASHED = 128 + 11                                           # a status: bash died of SIGSEGV
_PARALLEL = re.compile(r"[<>]\(|[^|&>]\|[^|]|[^&>]&\s|coproc")


def _unnumbered(answer: Answer) -> bytes:
    return re.sub(rb"/dev/fd/\d+", b"/dev/fd/N", answer.stdout)


def reason(found: Difference) -> str:
    """Why the answers to this case may differ; empty where they may not."""
    kind, script = found.case.kind, found.case.script
    real, mine = found.real, found.mine
    if kind == "shell" and real.status == CRASHED != mine.status >= 0 and not re.search(r"SEGV|kill -11", script):
        return "bash crashes (its stack, where a function calls itself for ever)"
    if (kind == "shell" and re.search(r"2>&1|>\(", script) and _PARALLEL.search(script) and real.status == mine.status
            and sorted(real.stdout.split(b"\n")) == sorted(mine.stdout.split(b"\n"))):
        return "the order of the lines of processes that run side by side and write to the same file"
    if kind == "shell" and "<(" in script and real.status == mine.status and _unnumbered(real) == _unnumbered(mine):
        return "which descriptor a process substitution gets"
    stderr = (real.stderr + real.stdout if "2>&1" in script else real.stderr).decode(errors="replace")
    for kinds, pattern, said, text in EXPLAINED:
        if re.fullmatch(kinds, kind.rstrip("2")) and re.search(pattern, script) and re.search(said, stderr):
            return text
    return ""
