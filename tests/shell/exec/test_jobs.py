"""Background jobs, `wait`, `kill`, the job table."""
from __future__ import annotations

from collections.abc import Callable

import pytest

from mirage.shell.exec.session import Done

CASES: dict[str, tuple[str, str, str, int]] = {
    "the status of a job": (
        '(exit 3) & wait $!; echo $?; (exit 4) & wait %1; echo $?; wait; echo $?; wait 99999; echo $?; wait %7; echo $?',
        '3\n4\n0\n127\n127\n',
        'bash: line 1: wait: pid 99999 is not a child of this shell\n'
        'bash: line 1: wait: %7: no such job\n',
        0,
    ),
    "wait -n": (
        '(sleep 0.05; exit 3) & (sleep 0.1; exit 4) & wait -n; echo $?; wait -n; echo $?; wait -n; echo $?',
        '3\n4\n127\n',
        "",
        0,
    ),
    "jobs lists what runs": (
        'sleep 0.2 & jobs; sleep 0.2 | cat & jobs %+; wait',
        '[1]+  Running                 sleep 0.2 &\n'
        '[2]+  Running                 sleep 0.2 | cat &\n',
        "",
        0,
    ),
    "stop, continue, kill": (
        'sleep 5 & p=$!; kill -STOP $p; jobs; kill -CONT $p; jobs; kill $p; wait $p; echo $?; sleep 5 & kill -9 %+; wait $! 2>/dev/null; echo $?',
        '[1]+  Running                 sleep 5 &\n'
        '[1]+  Running                 sleep 5 &\n'
        '143\n'
        '137\n',
        "",
        0,
    ),
    "order of output": (
        '{ sleep 0.05; echo bg; } & echo fg; wait; echo done',
        'fg\nbg\ndone\n',
        "",
        0,
    ),
    "no job control": (
        'sleep 0.1 & fg; echo $?; bg; echo $?; wait',
        '1\n1\n',
        'bash: line 1: fg: no job control\nbash: line 1: bg: no job control\n',
        0,
    ),
    "a job of a pipeline and of a function": (
        'echo x | cat & wait; f() { sleep 0.01; return 6; }; f & wait $!; echo $?; for i in 1 2 3; do (exit $i) & done; wait; echo $?',
        'x\n6\n0\n',
        "",
        0,
    ),
    "disown and subshells": (
        'sleep 0.1 & disown; jobs; (sleep 0.05 & wait; echo sub); (echo inner &) ; wait; sleep 0.05',
        'sub\ninner\n',
        "",
        0,
    ),
    "ids": (
        'true & [ $! -gt $$ ] && echo greater; wait; kill -0 $$; echo $?; kill -0 99999; echo $?',
        'greater\n0\n1\n',
        'bash: line 1: kill: (99999) - No such process\n',
        0,
    ),
    "killed in the foreground": (
        "bash -c 'kill -TERM $$'; echo $?; bash -c 'kill -INT $$'; echo $?; bash -c 'kill -PIPE $$'; echo $?",
        '143\n130\n141\n',
        'Terminated\n',
        0,
    ),
    "a job killed by a signal is reported after the next command": (
        'sleep 5 & kill -9 $!; sleep 0.05; echo x; jobs; echo y',
        'x\ny\n',
        'bash: line 1:     3 Killed                  sleep 5\n',
        0,
    ),
    "a finished job is listed once": (
        'sleep 0.01 & sleep 0.1; echo a; jobs; jobs',
        'a\n[1]+  Done                    sleep 0.01\n',
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
