"""`bash` as a program."""
from __future__ import annotations

from collections.abc import Callable

import pytest

from mirage.shell.exec.session import Done

CASES: dict[str, tuple[str, str, str, int]] = {
    "-c with name and arguments": (
        'bash -c \'echo "$0 $1 $#"\' name a b; bash -c \'echo $0\'; bash -c \'exit 300\'; echo $?',
        'name a 2\nbash\n44\n',
        "",
        0,
    ),
    "scripts": (
        'printf \'echo "$0 $@ $LINENO ${BASH_SOURCE[0]}"\\nnosuch\\nexit 3\\n\' > s; bash s a b; echo $?; bash ./s; bash -x s x 2>&1 | head -1',
        "s a b 1 s\n3\n./s  1 ./s\n+ echo 's x 1 s'\n",
        's: line 2: nosuch: command not found\n./s: line 2: nosuch: command not found\n',
        0,
    ),
    "standard input": (
        'echo \'echo "$0 $1"\' | bash -s arg; printf \'read x\\ndata\\necho "got $x"\\n\' | bash; bash <<< \'echo here; exit 4\'; echo $?',
        'bash arg\ngot data\nhere\n4\n',
        "",
        0,
    ),
    "options": (
        "bash -e -c 'false; echo no'; echo $?; bash -uc 'echo $none'; echo $?; bash -euc 'echo $none'; echo $?; bash -o pipefail -c 'false | true; echo $?'; bash -O extglob -c 'case ab in @(ab)) echo yes; esac'; bash --norc --noprofile -c 'echo $-'; bash --posix -c 'shopt -o posix'; bash +B -c 'echo {a,b}'",
        '1\n127\n1\n1\nyes\nhBc\nposix          \ton\n{a,b}\n',
        'bash: line 1: none: unbound variable\nbash: line 1: none: unbound variable\n',
        0,
    ),
    "errors of the command line": (
        'bash -c; echo $?; bash nofile; echo $?; bash -o nosuch -c :; echo $?; bash -O nosuch -c :; echo $?; mkdir d; bash d; echo $?; bash --rcfile; echo $?',
        '2\n127\n2\n2\n126\n2\n',
        'bash: -c: option requires an argument\n'
        'bash: nofile: No such file or directory\n'
        'bash: line 0: bash: nosuch: invalid option name\n'
        'bash: line 0: nosuch: invalid shell option name\n'
        'd: d: Is a directory\n'
        'bash: rcfile: option requires an argument\n',
        0,
    ),
    "usage": (
        'bash -Z; echo $?; bash --help; bash --version | head -1',
        '2\n'
        'GNU bash, version 5.2.37(1)-release-(x86_64-pc-linux-gnu)\n'
        'Usage:\tbash [GNU long option] [option] ...\n'
        '\tbash [GNU long option] [option] script-file ...\n'
        'GNU long options:\n'
        '\t--debug\n'
        '\t--debugger\n'
        '\t--dump-po-strings\n'
        '\t--dump-strings\n'
        '\t--help\n'
        '\t--init-file\n'
        '\t--login\n'
        '\t--noediting\n'
        '\t--noprofile\n'
        '\t--norc\n'
        '\t--posix\n'
        '\t--pretty-print\n'
        '\t--rcfile\n'
        '\t--restricted\n'
        '\t--verbose\n'
        '\t--version\n'
        'Shell options:\n'
        '\t-ilrsD or -c command or -O shopt_option\t\t(invocation only)\n'
        '\t-abefhkmnptuvxBCEHPT or -o option\n'
        'Type `bash -c "help set"\' for more information about shell options.\n'
        "Type `bash -c help' for more information about shell builtin commands.\n"
        "Use the `bashbug' command to report bugs.\n"
        '\n'
        'bash home page: <http://www.gnu.org/software/bash>\n'
        'General help using GNU software: <http://www.gnu.org/gethelp/>\n'
        'GNU bash, version 5.2.37(1)-release (x86_64-pc-linux-gnu)\n',
        'bash: -Z: invalid option\n'
        'Usage:\tbash [GNU long option] [option] ...\n'
        '\tbash [GNU long option] [option] script-file ...\n'
        'GNU long options:\n'
        '\t--debug\n'
        '\t--debugger\n'
        '\t--dump-po-strings\n'
        '\t--dump-strings\n'
        '\t--help\n'
        '\t--init-file\n'
        '\t--login\n'
        '\t--noediting\n'
        '\t--noprofile\n'
        '\t--norc\n'
        '\t--posix\n'
        '\t--pretty-print\n'
        '\t--rcfile\n'
        '\t--restricted\n'
        '\t--verbose\n'
        '\t--version\n'
        'Shell options:\n'
        '\t-ilrsD or -c command or -O shopt_option\t\t(invocation only)\n'
        '\t-abefhkmnptuvxBCEHPT or -o option\n',
        0,
    ),
    "syntax errors": (
        'bash -c \'echo a; fi\'; echo $?; printf \'echo a\\nif\\nfi\\n\' > s; bash s; echo $?; bash -n s; echo $?; echo \'echo "\' | bash; echo $?; bash -c \'cat <<E\n'
        "x'",
        '2\na\n2\n2\n2\nx\n',
        "bash: -c: line 1: syntax error near unexpected token `fi'\n"
        "bash: -c: line 1: `echo a; fi'\n"
        "s: line 3: syntax error near unexpected token `fi'\n"
        "s: line 3: `fi'\n"
        "s: line 3: syntax error near unexpected token `fi'\n"
        "s: line 3: `fi'\n"
        'bash: line 1: unexpected EOF while looking for matching `"\'\n'
        "bash: line 2: warning: here-document at line 1 delimited by end-of-file (wanted `E')\n",
        0,
    ),
    "what a child inherits": (
        'x=1; export y=2; f() { :; }; cd /tmp; trap \'\' USR1; bash -c \'echo "[$x] $y $PWD"; trap -p USR1; type f 2>/dev/null || echo none\'',
        "[] 2 /tmp\ntrap -- '' SIGUSR1\nnone\n",
        "",
        0,
    ),
    "SHELLOPTS in the environment": (
        "export SHELLOPTS; set -f; bash -c 'echo *'",
        '*\n',
        "",
        0,
    ),
}
"""title -> (script, stdout, stderr, status), as bash 5.2.37 does it."""


@pytest.mark.parametrize("title", CASES)
def test_as_bash(title: str, bash: Callable[[str], Done]) -> None:
    script, stdout, stderr, status = CASES[title]
    done = bash(script)
    assert (done.stdout.decode(), done.stderr.decode(), done.status) == (stdout, stderr, status)
