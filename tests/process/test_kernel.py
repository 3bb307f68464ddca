"""The kernel: greenlet processes, signals, deep calls, killing a line."""
from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from mirage.process.files import Capture
from mirage.process.kernel import Kernel
from mirage.process.limits import Limits
from mirage.process.process import Process
from mirage.process.signals import NUMBERS, SIGKILL, SIGTERM, Exit, LimitExceeded, LineStopped

USR1 = NUMBERS["USR1"]


class Bench:
    """A kernel whose processes have no files but descriptors."""

    def __init__(self, **limits: Any) -> None:
        self.kernel = Kernel(Limits(**limits))
        self.machine: Any = SimpleNamespace(filesystem=lambda proc: None, internal_error=lambda proc, error: None)

    def process(self, parent: Process | None = None) -> Process:
        return Process(self.kernel, self.machine, ["test"], parent=parent)

    def run(self, main: Callable[[Process], int]) -> int:
        self.kernel.attach()
        process = self.process()
        process.launch(main)
        self.kernel.run(lambda: process.status is not None)
        assert process.status is not None
        return process.status


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_child_on_the_same_greenlet_dies_alone(bench: Bench) -> None:
    def child_main(child: Process) -> int:
        child.kernel.kill(child, SIGTERM)
        return 0

    def main(proc: Process) -> int:
        child = bench.process(proc)
        assert child.execute(child_main) == 128 + SIGTERM
        assert child.exit_signal == SIGTERM
        assert bench.kernel.current is proc
        return 3

    assert bench.run(main) == 3


def test_a_signal_for_the_outer_process_ends_both(bench: Bench) -> None:
    children: list[Process] = []

    def main(proc: Process) -> int:
        child = bench.process(proc)
        children.append(child)
        killer = bench.process(proc)
        killer.launch(lambda me: bench.kernel.kill(proc, SIGTERM) or 0)
        child.execute(lambda me: bench.kernel.sleep(3600) or 0)
        return 0

    assert bench.run(main) == 128 + SIGTERM
    assert children[0].status is not None


def test_a_process_killed_before_it_began(bench: Bench) -> None:
    ran: list[int] = []

    def main(proc: Process) -> int:
        child = bench.process(proc)
        child.launch(lambda me: ran.append(1) or 0)
        bench.kernel.kill(child, SIGKILL)
        return proc.wait(child)

    assert bench.run(main) == 128 + SIGKILL
    assert ran == []


def test_a_caught_signal_stays_pending(bench: Bench) -> None:
    def main(proc: Process) -> int:
        proc.caught.add(USR1)
        bench.kernel.kill(proc, USR1)
        bench.kernel.sleep(0.01)
        return 0 if proc.pending == [USR1] else 1

    assert bench.run(main) == 0


def test_deep_calls_do_not_grow_the_stack(bench: Bench) -> None:
    def nest(level: int) -> int:
        if not level:
            return 7
        if level % 20:
            return nest(level - 1)
        below: int = bench.kernel.call_deep(lambda: nest(level - 1))
        return below

    assert bench.run(lambda proc: nest(20_000)) == 7


def test_deep_calls_pass_exceptions_and_signals(bench: Bench) -> None:
    def raising() -> None:
        raise Exit(9)

    assert bench.run(lambda proc: bench.kernel.call_deep(raising)) == 9

    def main(proc: Process) -> int:
        killer = bench.process(proc)
        killer.launch(lambda me: bench.kernel.kill(proc, SIGTERM) or 0)
        bench.kernel.call_deep(lambda: bench.kernel.sleep(5))
        return 0

    assert bench.run(main) == 128 + SIGTERM


def test_kill_line_unwinds_deep_calls_and_blocked_processes(bench: Bench) -> None:
    unwound: list[str] = []

    def blocked(name: str, wait: Callable[[], object]) -> Callable[[Process], int]:
        def main(proc: Process) -> int:
            try:
                wait()
            finally:
                unwound.append(name)
            return 0
        return main

    kernel = bench.kernel
    kernel.attach()

    def deep() -> None:
        try:
            kernel.sleep(60)
        finally:
            unwound.append("inner")

    reader, writer = bench.process().pipe()
    processes = [bench.process() for _ in range(3)]
    processes[0].launch(blocked("deep", lambda: kernel.call_deep(deep)))
    processes[1].launch(blocked("pipe", lambda: reader.read(1)))
    processes[2].launch(blocked("sleep", lambda: kernel.sleep(60)))
    kernel.deadline = time.monotonic() + 0.05
    with pytest.raises(LineStopped, match="timeout"):
        kernel.run(lambda: False)
    kernel.kill_line()
    assert sorted(unwound) == ["deep", "inner", "pipe", "sleep"]
    assert unwound.index("inner") < unwound.index("deep")
    assert not kernel.processes
    assert writer.writable


def test_recursion_becomes_a_limit(bench: Bench) -> None:
    def endless() -> int:
        return endless()

    with pytest.raises(LimitExceeded, match="depth"):
        bench.run(lambda proc: endless())


def test_processes_are_limited() -> None:
    bench = Bench(processes=3)

    def main(proc: Process) -> int:
        while True:
            bench.process(proc)

    with pytest.raises(LimitExceeded, match="processes: more than 3"):
        bench.run(main)


def test_output_flushes_nothing_for_nothing(bench: Bench) -> None:
    def main(proc: Process) -> int:
        proc.stdout.write(b"")
        proc.stdout.flush()
        return 0

    assert bench.run(main) == 0


def test_ticks_count_steps_also_around_signals() -> None:
    bench = Bench(steps=5_000)

    def main(proc: Process) -> int:
        proc.caught.add(USR1)
        for turn in range(4_000):
            if turn % 100 == 0:
                bench.kernel.kill(proc, USR1)
                proc.pending.clear()
            bench.kernel.tick()
        return 0

    assert bench.run(main) == 0
    assert 3_700 <= bench.kernel.steps <= 4_000


def test_capture_keeps_the_order_of_both_streams() -> None:
    log: list[tuple[str, bytes]] = []
    out, err = Capture("stdout", 10, log), Capture("stderr", 10, log)
    out.write(b"a")
    err.write(b"b")
    out.write(b"c")
    assert (out.getvalue(), err.getvalue()) == (b"ac", b"b")
    assert log == [("stdout", b"a"), ("stderr", b"b"), ("stdout", b"c")]
    with pytest.raises(LimitExceeded):
        out.write(b"0123456789")
    assert out.getvalue() == b"ac01234567"
