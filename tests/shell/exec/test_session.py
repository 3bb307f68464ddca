"""A Session: state between lines, threads, jobs that outlive a line, cancel, close."""
from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

import pytest

from mirage.shell.exec.session import Session

Make = Callable[..., Session]


def test_state_stays_between_lines(session: Session) -> None:
    session.run("x=1; f() { echo f$1; }; cd /tmp; set -f; alias a=b; exec 3>/tmp/log")
    done = session.run("echo $x $PWD $-; f 2; alias; echo text >&3; exec 3>&-; cat /tmp/log")
    assert done.stdout == b"1 /tmp fhBc\nf2\nalias a='b'\ntext\n"
    assert done.status == 0


def test_exit_ends_the_line_only(session: Session) -> None:
    done = session.run("x=2; f() { while :; do exit 5; done; }; echo a; f; echo b")
    assert (done.stdout, done.status) == (b"a\n", 5)
    assert session.run("echo $x ${#FUNCNAME[@]}; break").stdout == b"2 0\n"


def test_the_status_of_the_last_line_stays(session: Session) -> None:
    session.run("(exit 3)")
    assert session.run("echo $?").stdout == b"3\n"


def test_log_holds_both_streams_in_order(session: Session) -> None:
    done = session.run("echo a; echo b >&2; echo c")
    assert done.log == [("stdout", b"a\n"), ("stderr", b"b\n"), ("stdout", b"c\n")]


def test_stdin(session: Session) -> None:
    assert session.run("read a; cat", b"one\ntwo\n").stdout == b"two\n"
    assert session.run("cat").stdout == b""


def test_exec_of_output_holds_for_later_lines(session: Session) -> None:
    session.run("exec 4>&1 >/tmp/out")
    assert session.run("echo hidden; echo shown >&4").stdout == b"shown\n"
    assert session.run("exec >&4 4>&-; cat /tmp/out").stdout == b"hidden\n"


def test_exit_trap_runs_at_exit_and_in_the_final_line(make_session: Make) -> None:
    session = make_session()
    assert session.run("trap 'echo bye' EXIT; echo a").stdout == b"a\n"
    assert session.run("exit 3").stdout == b"bye\n"
    assert session.run("trap 'echo bye $?' EXIT; (exit 4)", final=True).stdout == b"bye 4\n"


def test_exit_trap_runs_at_close(make_session: Make) -> None:
    session = make_session()
    session.run("trap 'echo bye > /tmp/bye' EXIT")
    files = session.process.fs
    session.close()
    assert files.read("/tmp/bye") == b"bye\n"
    with pytest.raises(ValueError, match="closed"):
        session.run("echo")


def test_short_lines_need_no_thread(session: Session) -> None:
    before = threading.active_count()
    session.run("echo a | cat; x=$(echo b); cat <(echo c) && true || false; echo 'http://x/?a=1&b=2' 2>&1 &> /tmp/f")
    assert threading.active_count() == before


def test_jobs_go_on_between_lines(session: Session) -> None:
    assert session.run("{ sleep 0.05; echo late; } & echo now").stdout == b"now\n"
    time.sleep(0.15)
    assert session.run("jobs; wait; echo end").stdout == (
        b"late\n[1]+  Done                    { sleep 0.05; echo late; }\nend\n"
    )


def test_a_job_of_a_sourced_file_goes_on_with_the_lines_of_its_thread(session: Session) -> None:
    session.process.fs.write("/tmp/lib", b"{ sleep 0.02; echo late; } &\n")
    before = threading.active_count()
    session.run(". /tmp/lib")
    assert threading.active_count() == before
    assert session.run("wait; echo end").stdout == b"late\nend\n"


def test_a_job_stuck_on_another_thread_is_over(session: Session) -> None:
    session.process.fs.write("/tmp/lib", b"sleep 5 &\n")
    starter = threading.Thread(target=lambda: session.run(". /tmp/lib"))
    starter.start()
    starter.join()
    assert session.run("wait; echo $?").stdout == b"0\n"


def test_cancel_from_another_thread(session: Session) -> None:
    for text in ("sleep 10", "while :; do :; done", "cat <(sleep 10)", "sleep 10 & wait"):
        timer = threading.Timer(0.05, session.cancel)
        timer.start()
        done = session.run(text)
        assert (done.status, done.stderr) == (130, b"mirage: cancelled\n"), text
    assert session.run("echo ok").stdout == b"ok\n"


def test_one_line_at_a_time(session: Session) -> None:
    outputs: list[bytes] = []
    threads = [
        threading.Thread(target=lambda n=n: outputs.append(session.run(f"x={n}; sleep 0.002; echo $x | cat").stdout))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outputs) == [b"%d\n" % n for n in range(8)]


def test_many_sessions_on_many_threads(make_session: Make) -> None:
    wrong: list[object] = []

    def work(session: Session) -> None:
        for n in range(10):
            done = session.run(f"f() {{ local a=$1; echo $((a * 2)); }}; x=$(f {n}); echo $x | cat; sleep 0.001 & wait")
            if done.stdout != b"%d\n" % (n * 2):
                wrong.append(done.stdout)

    threads = [threading.Thread(target=work, args=(make_session(),)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_fork_before_the_first_line(session: Session) -> None:
    child = os.fork()
    if not child:
        os._exit(session.run("sleep 0.01 & wait; echo a | cat; exit 7").status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert session.run("echo parent").stdout == b"parent\n"


def test_a_killed_shell_leaves_the_session_usable(session: Session) -> None:
    assert session.run("kill -9 $$; echo no").status == 137
    assert session.run("echo ok").stdout == b"ok\n"


def test_fork_copies_every_slot_of_the_shell(session: Session) -> None:
    from mirage.shell.exec.pipeline import fork

    sub = fork(session.shell)
    assert [name for name in type(sub).__slots__ if not hasattr(sub, name)] == []
    assert [name for name in type(sub.options).__slots__ if not hasattr(sub.options, name)] == []
    sub.proc.finish(0)
