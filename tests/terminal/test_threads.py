"""Threads, asyncio, fork, jobs between lines, closing: a Terminal may be used from anywhere."""
from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mirage import Limits, Terminal
from mirage.mounts import Host


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    with Terminal(limits=Limits(timeout=20)) as terminal:
        yield terminal


def python(code: str, timeout: float = 30) -> str:
    """What a fresh Python prints; it must end by itself."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_one_terminal_from_many_threads(terminal: Terminal) -> None:
    def work(number: int) -> str:
        return terminal.run(f"n=$((n+1)); seq 20 | while read -r x; do echo {number}; done | sort -u").stdout

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(60))) == [f"{number}\n" for number in range(60)]
    assert terminal.run("echo $n").stdout == "60\n"


def test_many_terminals_on_many_threads() -> None:
    def work(number: int) -> str:
        with Terminal() as terminal:
            terminal.run(f"x={number}; f() {{ echo $((x+$1)); }}; echo $x > file & wait")
            return terminal.run("seq 5 | while read -r i; do f $i; done | paste -sd, ; cat file").stdout

    with ThreadPoolExecutor(6) as pool:
        expected = [",".join(str(n + i) for i in range(1, 6)) + f"\n{n}\n" for n in range(30)]
        assert list(pool.map(work, range(30))) == expected


def test_many_terminals_on_one_thread() -> None:
    terminals = [Terminal() for _ in range(30)]
    for number, terminal in enumerate(terminals):
        terminal.run(f"x={number}; sleep 0.01 && echo done > flag &")
    assert [t.run("wait; echo $x $(cat flag)").stdout for t in terminals] == [f"{n} done\n" for n in range(30)]
    for terminal in terminals:
        terminal.close()


def test_threads_and_asyncio_at_once(terminal: Terminal) -> None:
    async def main() -> list[str]:
        results = await asyncio.gather(
            *(terminal.arun(f"n=$((n+1)); echo a{i}") for i in range(10)),
            *(asyncio.to_thread(terminal.run, f"n=$((n+1)); echo t{i}") for i in range(10)))
        return [result.stdout for result in results]

    assert asyncio.run(main()) == [f"a{i}\n" for i in range(10)] + [f"t{i}\n" for i in range(10)]
    assert terminal.run("echo $n").stdout == "20\n"


def test_asyncio_goes_on_while_lines_run(tmp_path: Path) -> None:
    """Both lines are busy until the event loop makes a file."""
    async def main() -> list[str]:
        with Terminal({"/host": Host(tmp_path)}) as one, Terminal({"/host": Host(tmp_path)}) as two:
            running = [asyncio.ensure_future(t.arun("until [[ -e /host/go ]]; do :; done; echo over")) for t in (one, two)]
            for _ in range(20):
                await asyncio.sleep(0.005)
            assert not any(line.done() for line in running)
            (tmp_path / "go").touch()
            return [(await line).stdout for line in running]

    assert asyncio.run(main()) == ["over\n", "over\n"]


def test_cancelled_task_stops_its_line(terminal: Terminal) -> None:
    async def main() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(terminal.arun("x=1; sleep inf"), 0.1)

    asyncio.run(main())
    assert terminal.run("echo $x").stdout == "1\n"


def test_jobs_go_on_between_lines(terminal: Terminal) -> None:
    terminal.run("(sleep 0.05; echo done > flag) &")
    time.sleep(0.5)
    assert terminal.fs.read("/workspace/flag") == b"done\n"


def test_jobs_across_lines_of_different_threads(terminal: Terminal) -> None:
    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        first.submit(terminal.run, "coproc cat; exec 5>&${COPROC[1]} 6<&${COPROC[0]}; sleep 0.05 & p=$!").result()
        second.submit(terminal.run, "echo hello >&5").result()
        assert first.submit(terminal.run, "read -r x <&6; wait $p; echo $x $?").result().stdout == "hello 0\n"
        assert second.submit(terminal.run, "jobs -r | wc -l").result().stdout == "1\n"


def test_a_job_that_no_look_foresees_is_over_on_another_thread(terminal: Terminal) -> None:
    """Without a thread of its own a Session cannot take a greenlet along; the line after it still works."""
    terminal.fs.write("/workspace/s", b"sleep inf &\n")
    with ThreadPoolExecutor(1) as first:
        first.submit(terminal.run, ". ./s; x=1").result()
    assert terminal.run("echo $x; wait; echo over").stdout == "1\nover\n"
    assert len(terminal.session.kernel.processes) == 1


@pytest.mark.parametrize("job", ["while :; do :; done &", "sleep inf &", "yes > /dev/null &", "coproc cat", "(trap '' TERM INT HUP; sleep inf) &", "kill -STOP $BASHPID & "])
def test_close_while_a_job_runs(job: str) -> None:
    before = threading.active_count()
    terminal = Terminal()
    terminal.run(job)
    terminal.close()
    terminal.close()
    assert terminal.session.kernel.processes == {}
    assert threading.active_count() == before
    with pytest.raises(ValueError):
        terminal.run("echo x")


def test_close_waits_for_the_line_of_another_thread() -> None:
    terminal = Terminal()
    with ThreadPoolExecutor(1) as pool:
        line = pool.submit(terminal.run, "sleep 0.3; echo whole")
        time.sleep(0.1)
        terminal.close()
        assert line.result().stdout == "whole\n"


def test_exit_trap_runs_at_close_once() -> None:
    from mirage.mounts import Memory
    files = Memory()
    terminal = Terminal(mounts={"/keep": files})
    terminal.run("trap 'echo bye >> /keep/log' EXIT; sleep inf &")
    terminal.close()
    assert files.read("/log") == b"bye\n"


def test_no_thread_before_the_first_job() -> None:
    code = """
import threading
from mirage import Terminal
t = Terminal()
t.run("seq 10 | sort | while read x; do (echo $x); done; x=$(date); cat <(echo a)")
print(threading.active_count())
t.run("sleep 0 & wait")
print(threading.active_count())
t.close()
print(threading.active_count())
"""
    assert python(code) == "1\n2\n1\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_before_the_first_run() -> None:
    code = """
import os
from mirage import Terminal
t = Terminal()
pid = os.fork()
print(t.run("x=$((x+1)); sleep 0.01 & wait; echo $x; seq 3 | tail -1").stdout, end="", flush=True)
if pid:
    assert os.waitpid(pid, 0)[1] == 0
"""
    assert python(code) == "1\n3\n1\n3\n"


@pytest.mark.parametrize("job", ["while :; do :; done &", "sleep inf &", "coproc cat; yes > /dev/null &", "trap 'sleep inf' EXIT"])
def test_the_interpreter_ends_with_live_jobs(job: str) -> None:
    assert python(f"from mirage import Terminal\nt = Terminal()\nt.run({job!r})\nprint('end')", timeout=20) == "end\n"


def test_a_terminal_nobody_holds_is_collected() -> None:
    import gc
    import weakref
    terminal = Terminal()
    terminal.run("f() { echo x; }; f; seq 5 | sort; x=$(f)")
    gone = weakref.ref(terminal.session)
    terminal.close()
    del terminal
    gc.collect()
    assert gone() is None
