"""Traps on signals and on EXIT, ERR, DEBUG, RETURN."""
from __future__ import annotations

from collections.abc import Callable

import pytest

from mirage.shell.exec.session import Done

CASES: dict[str, tuple[str, str, str, int]] = {
    "a signal at the next command": (
        'trap \'echo "int $?"\' INT; (exit 3); kill -INT $$; echo after; trap - INT; trap -p INT',
        'int 0\nafter\n',
        "",
        0,
    ),
    "a signal while a job is waited for": (
        "trap 'echo usr1' USR1; sleep 5 & p=$!; (sleep 0.05; kill -USR1 $$) & wait $p; echo $?; kill $p; wait $p; echo $?",
        'usr1\n138\n143\n',
        "",
        0,
    ),
    "a program in the foreground is not interrupted": (
        "trap 'echo usr1' USR1; (sleep 0.05; kill -USR1 $$) & sleep 0.15; echo end",
        'usr1\nend\n',
        "",
        0,
    ),
    "default and ignored signals": (
        'trap \'\' TERM; kill -TERM $$; echo alive; bash -c \'kill -TERM $$; echo "child alive"\'; trap - TERM; (kill -TERM $BASHPID; echo no); echo $?',
        'alive\nchild alive\n143\n',
        'Terminated\n',
        0,
    ),
    "death by signal ends the shell": (
        'kill -TERM $$; echo no',
        "",
        "",
        143,
    ),
    "exit in a trap": (
        "trap 'echo term; exit 9' TERM; kill $$; echo no",
        'term\n',
        "",
        9,
    ),
    "EXIT": (
        'trap \'echo "bye $?"\' EXIT; f() { exit 4; }; f',
        'bye 4\n',
        "",
        4,
    ),
    "EXIT may change the status": (
        'trap \'echo "bye $?"; exit 8\' EXIT; exit 3',
        'bye 3\n',
        "",
        8,
    ),
    "EXIT in subshells, substitutions and pipelines": (
        'trap \'echo main\' EXIT; (trap \'echo sub\' EXIT; echo in); x=$(trap \'echo cs\' EXIT; echo out); echo "[$x]"; echo a | { trap \'echo pipe\' EXIT; cat; }; (echo none)',
        'in\nsub\n[out\ncs]\na\npipe\nnone\nmain\n',
        "",
        0,
    ),
    "EXIT after an unset variable": (
        "set -u; trap 'echo bye' EXIT; echo $none; echo no",
        'bye\n',
        'bash: line 1: none: unbound variable\n',
        127,
    ),
    "ERR where set -e would count": (
        'trap \'echo "err $? $BASH_COMMAND"\' ERR; false; (exit 3); false || true; if false; then :; fi; ! true; true | false; [[ a == b ]]; ((0)); x=$(exit 4)',
        'err 1 false\n'
        'err 3 ( exit 3 )\n'
        'err 1 false\n'
        'err 1 [[ a == b ]]\n'
        'err 1 ((0))\n'
        'err 4 x=$(exit 4)\n',
        "",
        4,
    ),
    "ERR in functions with set -E only": (
        'trap \'echo "err $LINENO"\' ERR; f() {\n'
        'false; :; }\n'
        'f; set -E\n'
        'f',
        'err 2\n',
        "",
        0,
    ),
    "DEBUG before every simple command": (
        'trap \'echo "dbg $LINENO $BASH_COMMAND"\' DEBUG\n'
        'x=1; echo a\n'
        'for i in 1 2; do :; done\n'
        'f() { echo in; }\n'
        'f; (echo sub); true | cat\n'
        '[[ a ]]; ((1)); case a in a) :; esac',
        'dbg 2 x=1\n'
        'dbg 2 echo a\n'
        'a\n'
        'dbg 3 for i in 1 2\n'
        'dbg 3 :\n'
        'dbg 3 for i in 1 2\n'
        'dbg 3 :\n'
        'dbg 5 f\n'
        'in\n'
        'sub\n'
        'dbg 5 true\n'
        'dbg 5 cat\n'
        'dbg 6 [[ -n a ]]\n'
        'dbg 6 ((1))\n'
        'dbg 6 case a in \n'
        'dbg 6 :\n',
        "",
        0,
    ),
    "DEBUG in functions with set -T, skipping with extdebug": (
        'trap \'echo "dbg $BASH_COMMAND"\' DEBUG; set -T; f() { :; }; f; trap - DEBUG; trap \'[[ $BASH_COMMAND != "echo no" ]]\' DEBUG; shopt -s extdebug; echo no; echo yes',
        'dbg set -T\ndbg f\ndbg f\ndbg :\ndbg trap - DEBUG\nyes\n',
        "",
        0,
    ),
    "RETURN": (
        "f() { trap 'echo ret' RETURN; return 3; }; f; echo $?; g() { :; }; g; echo ':' > s; trap 'echo source' RETURN; . ./s; g; set -T; g",
        'ret\n3\nsource\nsource\n',
        "",
        0,
    ),
    "what a trap does not change": (
        "trap 'false' USR1; true; kill -USR1 $$; echo $?; trap 'x=$?' USR1; (exit 5); kill -USR1 $$; echo $x",
        '0\n0\n',
        "",
        0,
    ),
    "a subshell sees the traps of its parent until it sets one": (
        "trap 'echo hi' USR2; (trap -p USR2; trap 'a' USR1; trap -p USR1)",
        "trap -- 'echo hi' SIGUSR2\ntrap -- 'a' SIGUSR1\n",
        "",
        0,
    ),
    "a trap that resets itself": (
        "trap 'echo got; trap - TERM; kill -TERM $$' TERM; kill $$; echo no",
        'got\n',
        "",
        143,
    ),
    "exec does not run EXIT": (
        "trap 'echo E' EXIT; exec true",
        "",
        "",
        0,
    ),
    "BASH_COMMAND in a trap": (
        'trap \'echo "$BASH_COMMAND"\' USR1; kill -USR1 $$; for i in 1; do kill -USR1 $$; done',
        'kill -USR1 $$\nkill -USR1 $$\n',
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
