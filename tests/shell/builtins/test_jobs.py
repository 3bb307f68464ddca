"""jobs, wait, kill, trap, disown."""
from __future__ import annotations

import pytest

CASES = [
    ('(exit 3) & wait $!; echo $?', '3\n', 0),
    ('(exit 3) & p=$!; (exit 4) & wait $! $p; echo $?', '3\n', 0),
    ('sleep 5 & jobs; kill %1; wait %1; echo $?; jobs', '[1]+  Running                 sleep 5 &\n143\n', 0),
    ('sleep 5 & sleep 6 & jobs; kill %sleep; echo $?; kill %1 %2; wait',
     '[1]-  Running                 sleep 5 &\n[2]+  Running                 sleep 6 &\n1\n',
     0,
     'bash: line 1: kill: sleep: ambiguous job spec\n'),
    ('true & sleep 0.05; jobs; jobs', '[1]+  Done                    true\n', 0),
    ('(exit 7) & sleep 0.05; jobs', '[1]+  Exit 7                  ( exit 7 )\n', 0),
    ('(exit 4) & sleep 0.05; (exit 5) & wait -n; echo $?; wait -n; echo $?; wait -n; echo $?',
     '4\n5\n127\n',
     0),
    ('(exit 6) & wait -n -p who; echo $?; [ $who = $! ]; echo $?', '6\n0\n', 0),
    ('wait 99999; echo $?; wait %3; echo $?; wait word; echo $?; wait -x; echo $?',
     '127\n127\n1\n2\n',
     0,
     'bash: line 1: wait: pid 99999 is not a child of this shell\nbash: line 1: wait: %3: no such job\n'
     "bash: line 1: wait: `word': not a pid or valid job spec\nbash: line 1: wait: -x: invalid option\n"
     'wait: usage: wait [-fn] [-p var] [id ...]\n'),
    ('sleep 5 & disown; jobs; disown %9; echo $?', '1\n', 0, 'bash: line 1: disown: %9: no such job\n'),
    ('fg; echo $?; bg; echo $?; suspend; echo $?',
     '1\n1\n1\n',
     0,
     'bash: line 1: fg: no job control\nbash: line 1: bg: no job control\n'
     'bash: line 1: suspend: cannot suspend: no job control\n'),
    ('jobs -x echo hi; jobs %4; echo $?', 'hi\n1\n', 0, 'bash: line 1: jobs: %4: no such job\n'),
    ('kill -l 9 TERM 137 EXIT 0; kill -l nope; echo $?',
     'KILL\n15\nKILL\n0\nEXIT\n1\n',
     0,
     'bash: line 1: kill: nope: invalid signal specification\n'),
    ('kill -l | head -2; kill -l | tail -1',
     ' 1) SIGHUP\t 2) SIGINT\t 3) SIGQUIT\t 4) SIGILL\t 5) SIGTRAP\n'
     ' 6) SIGABRT\t 7) SIGBUS\t 8) SIGFPE\t 9) SIGKILL\t10) SIGUSR1\n63) SIGRTMAX-1\t64) SIGRTMAX\t\n',
     0),
    ('kill; echo $?; kill -NOPE 1; echo $?; kill word; echo $?; kill 99999; echo $?; kill -0 $$; echo '
     '$?; kill -s; echo $?',
     '2\n1\n1\n1\n0\n1\n',
     0,
     'kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]\n'
     'bash: line 1: kill: NOPE: invalid signal specification\n'
     'bash: line 1: kill: word: arguments must be process or job IDs\n'
     'bash: line 1: kill: (99999) - No such process\n'
     'bash: line 1: kill: -s: option requires an argument\n'),
    ("trap 'echo caught' USR1; kill -USR1 $$; echo after", 'caught\nafter\n', 0),
    ("trap '' TERM; kill $$; echo alive", 'alive\n', 0),
    ('{ (kill -9 $BASHPID); } 2> /dev/null; echo $?', '137\n', 0),
    ("trap 'echo a' INT EXIT; trap -p INT; trap; trap - INT; trap; trap - EXIT",
     "trap -- 'echo a' SIGINT\ntrap -- 'echo a' EXIT\ntrap -- 'echo a' SIGINT\ntrap -- 'echo a' EXIT\n",
     0),
    ("trap 'x' nosuch; echo $?; trap only; echo $?; trap -x; echo $?",
     '1\n2\n2\n',
     0,
     'bash: line 1: trap: nosuch: invalid signal specification\n'
     'trap: usage: trap [-lp] [[arg] signal_spec ...]\nbash: line 1: trap: -x: invalid option\n'
     'trap: usage: trap [-lp] [[arg] signal_spec ...]\n'),
    ('trap "echo \'q\'" USR1 usr2 SIGTERM; trap -p; (trap); trap 15; trap -p TERM',
     "trap -- 'echo '\\''q'\\''' SIGUSR1\ntrap -- 'echo '\\''q'\\''' SIGUSR2\n"
     "trap -- 'echo '\\''q'\\''' SIGTERM\ntrap -- 'echo '\\''q'\\''' SIGUSR1\n"
     "trap -- 'echo '\\''q'\\''' SIGUSR2\ntrap -- 'echo '\\''q'\\''' SIGTERM\n",
     0),
    ("trap 'echo got' USR1; (sleep 0.1; kill -USR1 $$) & wait $!; echo $?", 'got\n138\n', 0),
    ("trap 'echo err $?' ERR; false; f() { (exit 3); }; f; true", 'err 1\nerr 3\n', 0),
]


@pytest.mark.parametrize("case", CASES, ids=[case[0][:50] for case in CASES])
def test_jobs(bash, case):
    script, stdout, status, stderr = (*case, "")[:4]
    assert bash(script) == (stdout, status, stderr)
