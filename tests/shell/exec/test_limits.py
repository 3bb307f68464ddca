"""Whatever a line does, it ends within its limits, says why, and the next line works."""
from __future__ import annotations

from collections.abc import Callable

import pytest

from mirage.shell.exec.session import Session

Make = Callable[..., Session]
MIB = 1 << 20

ENDLESS = {
    "a loop": "while :; do :; done",
    "a loop in a child shell": "bash -c 'bash -c \"while :; do :; done\"'",
    "a tool": "yes > /dev/null",
    "a pipeline of tools": "cat /dev/zero | cat > /dev/null",
    "a loop that reads": "yes | while read -r x; do :; done",
    "sleep": "sleep 100",
    "a substitution": "x=$(sleep 100)",
    "a process substitution": "read -r x < <(sleep 100)",
    "waiting for a job": "sleep 100 & wait",
    "a trap that raises its signal": "trap 'kill -USR1 $$' USR1; kill -USR1 $$",
    "arithmetic for": "for ((;;)); do :; done",
    "exec": "exec sleep 100",
}


@pytest.mark.parametrize("what", ENDLESS)
def test_timeout(what: str, make_session: Make) -> None:
    session = make_session()
    done = session.run(ENDLESS[what], timeout=0.15)
    assert (done.status, done.stderr) == (124, b"mirage: timeout\n")
    assert session.run("echo ok; jobs", timeout=5).stdout == b"ok\n"
    assert len(session.kernel.processes) == 1


DEPTH = {
    "functions": "f() { f; }; f",
    "functions in compound commands": "f() { if true; then while true; do case x in x) { f; } ;; esac; done; fi; }; f",
    "eval": "f() { eval f; }; f",
    "source": "echo '. ./s' > s; . ./s",
    "local variables": "f() { local x=1; f; }; f",
    "with a DEBUG trap": "trap : DEBUG; set -T; f() { f; }; f",
}


@pytest.mark.parametrize("what", DEPTH)
def test_depth(what: str, make_session: Make) -> None:
    session = make_session(timeout=20)
    done = session.run(DEPTH[what])
    assert (done.status, done.stderr) == (137, b"mirage: limit: depth: more than 1000 nested calls\n")
    done = session.run("f() { echo $1 ${#FUNCNAME[@]}; }; f ok")
    assert done.stdout == b"ok 1\n"


@pytest.mark.parametrize("text", ["f() { (f); }; f", "f() { $(f); }; f", "f() { f | f; }; f", "f() { f | f & }; f",
                                  ":() { : | : & }; :", "while :; do sleep 100 & done",
                                  "f() { bash -c f; }; export -f f; f"])
def test_processes(text: str, make_session: Make) -> None:
    session = make_session(timeout=20, processes=40)
    stderr = session.run(text).stderr
    done = session.run("echo ok")
    assert done.stdout == b"ok\n"
    assert stderr + done.stderr == b"mirage: limit: processes: more than 40 at one time\n"


@pytest.mark.parametrize("text", ["x=a; while :; do x=$x$x; done", "x=a; while :; do x+=$x; done", "x=$(yes)",
                                  "x=$(cat /dev/zero)", "echo {1..999999999}", "x=$(printf %1000000000d 1)",
                                  "a=(); while :; do a+=(xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx); done"])
def test_memory(text: str, make_session: Make) -> None:
    session = make_session(timeout=20, memory=4 * MIB)
    done = session.run(text)
    assert (done.status, done.stderr) == (137, b"mirage: limit: memory: more than 4194304 bytes\n")
    assert session.run("unset x a; x=$(echo ok); echo $x").stdout == b"ok\n"


def test_output(make_session: Make) -> None:
    session = make_session(timeout=20, output=MIB)
    done = session.run("yes")
    assert (done.status, len(done.stdout)) == (137, MIB)
    assert done.stderr == b"mirage: limit: output: stdout is larger than 1048576 bytes\n"
    assert session.run("echo ok").stdout == b"ok\n"


def test_steps(make_session: Make) -> None:
    session = make_session(timeout=20, steps=10_000)
    assert session.run("for ((i = 0; i < 4000; i++)); do :; done").status == 0
    done = session.run("while :; do :; done")
    assert (done.status, done.stderr) == (137, b"mirage: limit: steps: more than 10000 commands and loop turns\n")
    assert session.run("for ((i = 0; i < 4000; i++)); do :; done; echo ok").stdout == b"ok\n"


def test_deadlock_is_seen_at_once(make_session: Make) -> None:
    session = make_session(timeout=20)
    done = session.run("mkfifo p; cat p")
    assert (done.status, done.stderr) == (124, b"mirage: limit: deadlock: every process waits for another one\n")


def test_a_job_that_reaches_a_limit_does_not_stop_the_line(make_session: Make) -> None:
    session = make_session(timeout=20, memory=4 * MIB)
    session.run("{ sleep 0.05; x=$(yes); echo no; } & :")
    done = session.run("sleep 0.2; echo ok")
    assert (done.stdout, done.status) == (b"ok\n", 0)
    assert done.stderr == b"mirage: limit: memory: more than 4194304 bytes\n"


def test_a_timeout_leaves_older_jobs_alone(make_session: Make) -> None:
    session = make_session(timeout=20)
    session.run("{ sleep 0.3; echo job; } &")
    assert session.run("while :; do :; done", timeout=0.1).status == 124
    assert session.run("wait; echo end").stdout == b"job\nend\n"


def test_shells_in_shells(make_session: Make) -> None:
    session = make_session(timeout=20, processes=250)
    done = session.run("export n=0; f() { ((n++ < 200)) && bash -c f || echo bottom; }; export -f f; f")
    assert (done.stdout, done.stderr) == (b"bottom\n", b"")


def test_deep_recursion_works(make_session: Make) -> None:
    session = make_session(timeout=20)
    done = session.run("f() { if (($1)); then f $(($1 - 1)); else echo bottom; fi; }; f 990")
    assert done.stdout == b"bottom\n"
    done = session.run("f() { if (($1)); then eval 'f $(($1 - 1))'; else echo bottom; fi; }; f 490")
    assert done.stdout == b"bottom\n"
    done = session.run("f() { (($1)) && (f $(($1 - 1))) || echo bottom; }; f 300")
    assert done.stdout == b"bottom\n"
    deep = "{ " * 300 + "echo deep; " + "}; " * 300
    assert session.run(deep).stdout == b"deep\n"


def test_a_limit_of_calls_beyond_the_default(make_session: Make) -> None:
    session = make_session(timeout=30, depth=5000)
    done = session.run("f() { (($1)) && f $(($1 - 1)) || echo bottom; }; f 4900")
    assert done.stdout == b"bottom\n"
