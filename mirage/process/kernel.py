"""The tiny kernel: greenlet processes of one Session, switched when they block, under limits.

One Kernel belongs to one Session. `run(main)` makes the calling thread its hub until the main greenlet ends;
every greenlet is a child of that hub. Blocking means: put yourself on a WaitQueue (or a timer, or a future of
the thread pool) and switch to the hub. Nothing here may switch while a threading lock is held.
"""
from __future__ import annotations

import heapq
import os
import threading
import time
from collections import deque

from greenlet import GreenletExit, getcurrent, greenlet

from mirage.process.signals import SIGCONT, Killed, LimitExceeded, LineStopped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from mirage.process.limits import Limits
    from mirage.process.process import Process

    T = TypeVar("T")

QUANTUM = 256                                                # ticks between two looks at clock, signals, others
LOOK_EVERY = 0.05                                            # seconds between two looks at the memory of Python
SPARE = 32 << 20                                             # bytes of modules and the like that a line may load
_running: set[Kernel] = set()                                # those whose line runs now, on any thread


def resident() -> int:
    """Bytes of memory that this Python process holds; 0 where /proc does not tell."""
    try:
        fd = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        return int(os.read(fd, 100).split()[1]) * os.sysconf("SC_PAGE_SIZE")
    finally:
        os.close(fd)


class Task(greenlet):
    """A greenlet with the stack of processes that run on it (the last one is running)."""

    process: Process
    kernel: Kernel
    caller: Task | None = None                               # who waits for it in call_deep


class WaitQueue:
    """Greenlets that wait for one condition. Every wait loops: `while not condition: queue.wait()`."""

    __slots__ = ("kernel", "waiters")

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.waiters: list[Task] = []

    def wait(self, until: float | None = None) -> bool:
        """Sleep until wake() or the monotonic time `until`; False when the time came first."""
        task = getcurrent()
        self.waiters.append(task)
        try:
            return self.kernel.park(until)
        finally:
            if task in self.waiters:
                self.waiters.remove(task)

    def wake(self) -> None:
        if self.waiters:
            waiters, self.waiters = self.waiters, []
            self.kernel.ready.extend(waiters)


class Kernel:
    """Scheduler, clock and limits of one Session."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.time) -> None:
        self.limits = limits
        self.clock = clock
        self.ready: deque[Task] = deque()
        self.timers: list[tuple[float, int, Task, list[bool]]] = []
        self.processes: dict[int, Process] = {}
        self.budget = QUANTUM                                # ticks left until the next look
        self.granted = QUANTUM                               # what `budget` started from
        self.steps = 0
        self.deadline: float | None = None
        self.line = 0
        self.stopped: LineStopped | None = None
        self.next_pid = 2
        self.memory = 0                                      # bytes charged now
        self.held = 0                                        # bytes of shell values when they were last counted
        self._resident = 0                                   # resident() at the first look of a line; 0: not yet
        self._next_look = 0.0
        self.hub: greenlet = None                            # until attach()
        self.current: Process | None = None                  # whose code runs now
        self._sequence = 0
        self._pending = 0                                    # futures that run on the pool
        self._inbox: deque[Callable[[], None]] = deque()
        self._bell = threading.Event()
        self._cancel = False
        self.idle = False                                    # between lines: nothing to do is no deadlock
        self.hub_waits = False                               # the hub wants to look at `done` even if only one is busy
        self._fifos: dict[object, Any] = {}
        self.attention: set[Process] = set()                 # shells that have to run a trap soon
        self.background_started: Callable[[], None] | None = None  # called when a job may outlive its line

    def queue(self) -> WaitQueue:
        return WaitQueue(self)

    # ---- life of greenlets

    def start(self, process: Process, body: Callable[[], object]) -> Task:
        """A new greenlet that runs `body` for `process` as soon as the running one blocks."""
        task = Task(body, self.hub)
        task.process = process
        task.kernel = self
        process.task = task
        self.ready.append(task)
        return task

    def call_deep(self, body: Callable[[], T]) -> T:
        """Run `body()` on a fresh greenlet that the hub starts, so that the C stack does not grow; its result.

        For nested shell functions: call it every 20 levels or so.
        """
        caller: Task = getcurrent()
        box: list[Any] = [None, None, False]
        processes = list(caller.process.stack())

        def run() -> None:
            try:
                box[0] = body()
            except BaseException as e:                       # re-raised in the caller below
                box[1] = e
            box[2] = True
            self.ready.appendleft(caller)

        task = Task(run, self.hub)
        task.process = caller.process
        task.kernel = self
        task.caller = caller
        task.gr_context = caller.gr_context
        for process in processes:
            process.task = task
        self.ready.appendleft(task)
        try:
            while not box[2]:
                self.hub.switch()
        finally:
            for process in processes:
                process.task = caller
            if not box[2] and not task.dead:
                task.throw()
        self.current = caller.process
        if box[1] is not None:
            raise box[1]
        result: T = box[0]
        return result

    def park(self, until: float | None = None) -> bool:
        """Give the thread away until somebody puts this greenlet on `ready`; delivers signals on return."""
        task: Task = getcurrent()
        process = task.process
        if process.pending:
            self._deliver(process)
        timer = None
        if until is not None:
            timer = [True, False]                            # armed, fired
            self._sequence += 1
            heapq.heappush(self.timers, (until, self._sequence, task, timer))
        try:
            self.hub.switch()
        finally:
            self.current = process
            if timer:
                timer[0] = False
        self._deliver(process)
        return not (timer and timer[1])

    def _deliver(self, process: Process) -> None:
        """Signals of `process` and of those further out on its greenlet, which wait for it; sleep while stopped."""
        while True:
            stopped = False
            one: Process | None = process
            while one is not None:
                if one.pending:
                    one.deliver()
                stopped = stopped or one.stopped
                one = one.outer
            if not stopped:
                return
            self.hub.switch()
            self.current = process

    def yield_(self) -> None:
        """Let every other ready greenlet run once."""
        self.ready.append(getcurrent())
        self.park()

    def sleep(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.park(until)

    # ---- limits

    def tick(self) -> None:
        """One executed command or loop turn. Hot callers inline it: `k.budget -= 1; if k.budget < 0: ...`"""
        self.budget -= 1
        if self.budget < 0:
            self.slow_tick()

    def slow_tick(self) -> None:
        """Every QUANTUM ticks: count steps, look at the clock, at signals, and let others run."""
        self.steps += self.granted - self.budget
        self.granted = self.budget = 0 if self.attention else QUANTUM
        if self.limits.steps and self.steps > self.limits.steps:
            raise LimitExceeded(f"steps: more than {self.limits.steps} commands and loop turns")
        self.check()

    def check(self) -> None:
        """For tools: call it every few hundred kilobytes or milliseconds of work."""
        now = time.monotonic()
        if self.stopped is not None:
            self._stop(self.stopped)
        if now > self._next_look:
            self._look_at_memory(now)
        if self._cancel:
            self._cancel = False
            self._stop(LineStopped("cancelled", 130))
        if self.deadline is not None and now > self.deadline:
            self._stop(LineStopped("timeout", 124))
        if self._inbox:
            self._drain()
        if self.timers and self.timers[0][0] <= now:
            self._fire(now)
        if self.ready or self.hub_waits:
            self.yield_()
        else:
            process = self.current
            if process is not None and (process.pending or process.outer is not None):
                self._deliver(process)

    def _stop(self, reason: LineStopped) -> None:
        """Raise `reason` in a process of the line; one of an older line only leaves it to the hub."""
        self.stopped = reason
        process = self.current
        if process is not None and process.line == self.line:
            raise reason
        self.yield_()

    def charge(self, size: int) -> None:
        """About to hold `size` more bytes (a value, a buffer): raises before they are allocated."""
        self.fits(size)
        self.memory += size

    def fits(self, size: int) -> None:
        """Are `size` more bytes (a value and its copies) within the memory limit? Raises if not; counts nothing."""
        limit = self.limits.memory
        if limit and self.memory + self.held + size > limit:
            if self.held and self.memory + size <= limit:
                self.count_values()
            if self.memory + self.held + size > limit:
                raise LimitExceeded(f"memory: more than {limit} bytes")

    def count_values(self) -> None:
        """Add up what the variables of all living shells hold; a text that several share counts once."""
        seen: set[int] = set()
        self.held = sum(process.shell.held(seen) for process in self.processes.values() if process.shell is not None)

    def _look_at_memory(self, now: float) -> None:
        """The net under what is counted: how much the whole Python process has grown since the line began.

        Where lines run on several threads, what they may use counts together.
        """
        self._next_look = now + LOOK_EVERY
        limit = self.limits.memory
        if not limit:
            return
        used = resident()
        if not self._resident:
            self._resident = used
        elif used - self._resident > (limit + (limit >> 2) + SPARE) * max(1, len(_running)):
            self._resident = 0
            self._stop(LimitExceeded(f"memory: more than {limit} bytes"))

    def begin_line(self) -> None:
        """A new line: its steps and its memory count from here."""
        self.line += 1
        self.steps = 0
        self.granted = self.budget
        self._cancel = False
        self._resident = 0
        self._next_look = 0.0
        _running.add(self)

    def end_line(self) -> None:
        self.deadline = None
        _running.discard(self)

    def release(self, size: int) -> None:
        self.memory = max(0, self.memory - size)

    def register(self, process: Process) -> None:
        limit = self.limits.processes
        if limit and len(self.processes) >= limit:
            raise LimitExceeded(f"processes: more than {limit} at one time")
        self.processes[process.pid] = process

    def new_pid(self) -> int:
        self.next_pid += 1
        return self.next_pid - 1

    # ---- the world outside this thread

    def post(self, callback: Callable[[], None]) -> None:
        """From any thread: run `callback` on the hub soon."""
        self._inbox.append(callback)
        self._bell.set()

    def cancel(self) -> None:
        """From any thread: stop the running line (status 130)."""
        self._cancel = True
        self._bell.set()

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a blocking function on the pool; this greenlet waits, the others go on."""
        from mirage.process.pool import submit
        queue, box = self.queue(), []
        line = self.line

        def finished(result: Any, failure: BaseException | None) -> None:
            def deliver() -> None:
                self._pending -= 1
                if line == self.line or queue.waiters:
                    box.append((result, failure))
                    queue.wake()
            self.post(deliver)

        self._pending += 1
        submit(function, args, finished)
        while not box:
            queue.wait()
        result, failure = box[0]
        if failure is not None:
            raise failure
        return result

    def _drain(self) -> None:
        self._bell.clear()
        while self._inbox:
            self._inbox.popleft()()

    def _fire(self, now: float) -> None:
        timers = self.timers
        while timers and timers[0][0] <= now:
            _, _, task, timer = heapq.heappop(timers)
            if timer[0]:
                timer[1] = True
                self.ready.append(task)

    # ---- the hub

    def run(self, done: Callable[[], bool], timeout: float | None = None) -> None:
        """Make this thread the hub until `done()`; raises LineStopped on timeout, cancel or deadlock.

        The caller has put at least one greenlet on `ready` with start(); `self.hub` must be set by
        attach() first.
        """
        ready, timers = self.ready, self.timers
        while not done():
            if self.stopped is not None:
                stopped, self.stopped = self.stopped, None
                raise stopped
            if ready:
                task = ready.popleft()
                if not task.dead:
                    self.current = task.process
                    task.switch()
                continue
            self._wait_outside(timers)

    def _wait_outside(self, timers: list[tuple[float, int, Task, list[bool]]]) -> None:
        if self._inbox:
            self._drain()
            return
        if self._cancel:
            self._cancel = False
            raise LineStopped("cancelled", 130)
        while timers and not timers[0][3][0]:
            heapq.heappop(timers)
        now = time.monotonic()
        if timers and timers[0][0] <= now:
            self._fire(now)
            return
        if self.deadline is not None and now >= self.deadline:
            raise LineStopped("timeout", 124)
        if not timers and not self._pending and self.idle:
            self._bell.wait()
            self._bell.clear()
            return
        if not timers and not self._pending:
            raise LimitExceeded("deadlock: every process waits for another one", 124)
        until = min(x for x in (timers[0][0] if timers else None, self.deadline, now + 3600) if x is not None)
        self._bell.wait(max(0.0, until - now))
        self._bell.clear()

    def attach(self) -> None:
        """The current greenlet of this thread becomes the hub."""
        self.hub = getcurrent()

    def kill_line(self, keep: Callable[[Process], bool] = lambda p: False) -> None:
        """Unwind every process but those that `keep` names; used when a line was stopped."""
        for process in list(self.processes.values()):
            if not keep(process):
                self.unwind(process)
                process.finish(128 + 9)
        self.stopped = None
        self.attention.clear()

    def unwind(self, process: Process) -> None:
        """Throw the greenlets of `process` away, the innermost first, so that their `finally` clauses run."""
        task = process.task
        while task is not None:
            caller = task.caller
            if task is not getcurrent() and not task.dead:
                self.current = process
                try:
                    task.throw(GreenletExit)
                except BaseException:  # the unwinding of one must not spare the next
                    pass
            task = caller

    # ---- signals

    def kill(self, process: Process, number: int) -> None:
        """Send signal `number` to `process` (0 only asks whether it is there)."""
        if number == 0 or process.status is not None:
            return
        if number == SIGCONT:
            process.stopped = False
        process.pending.append(number)
        if number in process.caught:
            self.attention.add(process)
            self.steps += self.granted - self.budget
            self.granted = self.budget = 0
        task = process.task
        if process is self.current:
            process.deliver()
        elif task is not None and task not in self.ready and task is not getcurrent():
            self.ready.append(task)


def dies_of(error: Killed, process: Process) -> bool:
    """Is this Killed meant for `process` (and not for a process further out on the same greenlet)?"""
    return error.process is None or error.process is process
