"""A Session: one shell that lives from line to line, its kernel, and the thread it runs on.

`run` works on the caller's thread. Greenlets cannot leave their thread, so a Session moves to a thread of its own,
for good, before it runs a text that may leave jobs behind; there jobs go on between the lines. A job that an
earlier look could not foresee (`&` in a sourced file) goes on only while this thread runs lines.

`exit` ends the line, not the Session: variables, functions and jobs stay. What `exec` did to descriptors stays as
well, but 0 to 2 are opened again for the next line when they were closed. The EXIT trap runs at `exit`, in a line
that is said to be the last one (`final`), and at `close`.
"""
from __future__ import annotations

import atexit
import re
import threading
import time
import weakref

from mirage.process.files import Capture, Input, OpenFile, Source
from mirage.process.kernel import Kernel, dies_of
from mirage.process.process import Process, internal_error_text
from mirage.process.signals import Exit, Killed, LimitExceeded, LineStopped
from mirage.shell.control import Break, Continue, Return, ShellError
from mirage.shell.exec.calls import run_text
from mirage.shell.exec.jobs import JobTable
from mirage.shell.exec.traps import run_exit_trap, run_pending
from mirage.shell.state import Shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mirage.machine import Machine
    from mirage.process.limits import Limits

_JOB = re.compile(r"(?<![&<>|])&(?=[\s;)}'\"`]|$)|\bcoproc\b")
"""A `&` that looks like the end of a command: no part of &&, >&, <&, |&, &> or a URL."""
_LABEL = "bash: -c"
_DRAIN = 0.02                                                # seconds that jobs may go on before a line returns


_LAST_WAIT = 2.0                                             # seconds that a thread has to end at the end of Python
_threaded: weakref.WeakSet[Session] = weakref.WeakSet()      # Sessions with a thread of their own


def _end_threads() -> None:
    for session in list(_threaded):
        session.end_thread()


class Done:
    """What one line gave: stdout, stderr, status, log ((stream name, bytes) in the order written), did it `exit`."""

    __slots__ = ("exited", "log", "status", "stderr", "stdout")

    def __init__(self, stdout: bytes, stderr: bytes, status: int, log: list[tuple[str, bytes]],
                 exited: bool = False) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.status = status
        self.log = log
        self.exited = exited


class Session:
    """The shell of a Terminal. Any thread may call; one line runs at a time."""

    def __init__(self, machine: Machine, limits: Limits, *, env: Mapping[str, str], cwd: str) -> None:
        self.machine = machine
        self.limits = limits
        self.kernel = Kernel(limits, machine.clock)
        self._log: list[tuple[str, bytes]] = []
        self._stdin = Input(Source(b"", "/dev/stdin"))
        self._stdout = Capture("stdout", limits.output, self._log)
        self._stderr = Capture("stderr", limits.output, self._log)
        self.process = Process(self.kernel, machine, ["bash"], env=env, cwd=cwd,
                               fds={0: self._stdin, 1: self._stdout, 2: self._stderr})
        self.shell = Shell(self.process, "bash")
        self.shell.jobs = JobTable()
        self.shell.last_arg = "bash"
        self.process.shell = self.shell
        self.kernel.background_started = self._background_started
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._pinned = 0                                     # id of the thread that jobs are stuck on
        self._moving = False
        self._closed = False
        self._exited = False
        self._first_line = 1
        self._work: Callable[[], None] | None = None

    # ------------------------------------------------------------------------------------------------------- lines

    def run(self, text: str, stdin: bytes | OpenFile = b"", timeout: float | None = None, *, final: bool = False,
            stdout: OpenFile | None = None, stderr: OpenFile | None = None, line: int = 1) -> Done:
        """Run a text. `timeout` in seconds replaces the limit (0: none); `final`: run the EXIT trap at the end;
        `line` is the number of its first line.

        A stream given as `stdout` or `stderr` gets that output as it comes; it is then empty in what is returned.
        """
        with self._lock:
            if self._closed:
                raise ValueError("the Terminal is closed")
            if self._thread is None and (self._moving or _JOB.search(text)):
                self._start_thread()
            self._stdout.forward, self._stderr.forward = stdout, stderr
            self._first_line = line
            if self._thread is None:
                self._come_here()
                return self._run(text, stdin, timeout, final)
            return self._on_thread(lambda: self._run(text, stdin, timeout, final))

    def _run(self, text: str, stdin: bytes | OpenFile, timeout: float | None, final: bool, drain: bool = True) -> Done:
        kernel, process = self.kernel, self.process
        kernel.begin_line()
        process.line = kernel.line
        self._exited = False
        for fd, file in enumerate((self._stdin, self._stdout, self._stderr)):
            if fd not in process.fds:
                process.install(fd, file)
        self._stdin.source = stdin if isinstance(stdin, OpenFile) else Source(stdin, "/dev/stdin")
        limit = self.limits.timeout if timeout is None else timeout
        kernel.deadline = time.monotonic() + limit if limit else None
        box: list[int] = []
        kernel.attach()
        kernel.start(process, lambda: self._body(text, final, box))
        while not box:
            try:
                kernel.run(lambda: bool(box))
            except LineStopped as e:
                guilty = kernel.current
                if isinstance(e, LimitExceeded) and guilty is not None and guilty.line != kernel.line:
                    self._stop_jobs(e)
                else:
                    box.append(self._stopped(e))
        status = box[0]
        if drain and len(kernel.processes) > 1:
            self._drain(final)
        kernel.end_line()
        if self._thread is None and len(kernel.processes) > 1:
            self._pinned = threading.get_ident()
        return self._take(status)

    def _drain(self, final: bool) -> None:
        """Let jobs and process substitutions do what they can do at once; in the last line, all they have to do."""
        kernel = self.kernel
        until = time.monotonic() + _DRAIN
        kernel.hub_waits = True
        try:
            if final:
                kernel.run(lambda: len(kernel.processes) == 1)
            else:
                kernel.run(lambda: not kernel.ready or time.monotonic() > until)
        except LineStopped as e:
            kernel.kill_line(lambda process: process is self.process)
            self._tidy()
            if isinstance(e, LimitExceeded) and e.status != 124:
                self._say(e)
        finally:
            kernel.hub_waits = False

    def _take(self, status: int) -> Done:
        out, err, log = self._stdout, self._stderr, self._log
        done = Done(out.getvalue(), err.getvalue(), status, log, self._exited)
        self._log = out.log = err.log = []
        out.parts, err.parts = [], []
        out.size = err.size = 0
        return done

    def _body(self, text: str, final: bool, box: list[int]) -> None:
        sh = self.shell
        box.append(self._guarded(lambda: self._line(sh, text, final)))
        self._reset(sh)

    def _line(self, sh: Shell, text: str, final: bool) -> int:
        try:
            status = run_text(sh, text, line=self._first_line, label="bash" if sh.interactive else _LABEL)
            if self.process.pending:
                run_pending(sh)
        except Exit as e:
            self._exited = True
            return run_exit_trap(sh, e.status & 0xFF)
        except (Break, Continue, Return):
            status = sh.status
        return run_exit_trap(sh, status) if final else status

    def _guarded(self, line: Callable[[], int]) -> int:
        """line(), whatever happens in it; limits and timeouts pass through to the hub."""
        process = self.process
        try:
            return line() & 0xFF
        except Exit as e:
            return e.status & 0xFF
        except Killed as e:
            if not dies_of(e, process):
                raise
            return 128 + e.number
        except ShellError as e:
            e.report(self.shell)
            return e.status
        except RecursionError:
            raise LimitExceeded("depth: too many nested calls") from None
        except Exception as e:                               # a bug of ours: the agent sees a line, not a traceback
            self.machine.internal_error(process, e)
            process.message(internal_error_text(e))
            return 70
        finally:
            process.stdout.discard()
            process.stderr.discard()

    @staticmethod
    def _reset(sh: Shell) -> None:
        """Whatever a line left half done when it ended."""
        sh.in_condition = sh.loop_depth = sh.depth = sh.frames = sh.function_depth = 0
        sh.call_stack.clear()
        sh.trap_command = None
        sh.line = 1
        while sh.scopes:
            sh.pop_scope()
        for fd in sh.substitution_fds:
            if fd in sh.proc.fds:
                sh.proc.close(fd)
        sh.substitution_fds.clear()

    def _stopped(self, reason: LineStopped) -> int:
        """A limit, the timeout or a cancel ended the line: kill what belongs to it, say why."""
        kernel, main = self.kernel, self.process
        kernel.deadline = None
        limit = isinstance(reason, LimitExceeded)
        kernel.unwind(main)
        kernel.kill_line(lambda process: process is main or not limit and process.line != kernel.line)
        self._tidy()
        self._reset(self.shell)
        self.shell.jobs.prune()
        self.shell.status = reason.status
        self._say(reason)
        return reason.status

    def _stop_jobs(self, reason: LineStopped) -> None:
        """A job of an older line reached a limit: the jobs are over, the running line goes on."""
        kernel = self.kernel
        kernel.kill_line(lambda process: process is self.process or process.line == kernel.line)
        self._tidy()
        self.shell.jobs.prune()
        self._say(reason)

    def _say(self, reason: LineStopped) -> None:
        kind = "limit: " if isinstance(reason, LimitExceeded) else ""
        text = reason.message
        if reason.status == 124 and not kind:
            text = "timeout"
        self._stderr.limit = None
        self._stderr.write(f"mirage: {kind}{text}\n".encode())
        self._stderr.limit = self.limits.output

    def _tidy(self) -> None:
        """Forget greenlets that are gone."""
        kernel = self.kernel
        alive = {id(process.task) for process in kernel.processes.values()}
        tasks = [task for task in kernel.ready if not task.dead and id(task) in alive]
        kernel.ready.clear()
        kernel.ready.extend(tasks)
        if len(kernel.processes) == 1:
            kernel.timers.clear()

    # ------------------------------------------------------------------------------------------------- interactive

    def make_interactive(self, aliases: Mapping[str, str]) -> None:
        """A person types the lines: aliases are expanded, messages carry no line number, jobs are announced."""
        sh = self.shell
        sh.interactive = sh.options.interactive = True
        sh.options.command = False
        sh.shopt["expand_aliases"] = True
        sh.aliases.update(aliases)

    def typed(self, text: str, columns: int, lines: int) -> None:
        """Before a typed line: the history has it, $COLUMNS and $LINES are those of the window."""
        with self._lock:
            self.shell.history.append(text)
            self.shell.set("COLUMNS", str(columns))
            self.shell.set("LINES", str(lines))

    def job_notes(self) -> list[str]:
        """`[1]+  Done  ...` for each job that ended since the last call; those are forgotten."""
        from mirage.shell.builtins.jobs import job_line
        table = self.shell.jobs
        with self._lock:
            ended = [job for job in table if job.done and not job.notified]
            notes = [job_line(self.shell, job) for job in ended]
            for job in ended:
                table.remove(job)
        return notes

    # ----------------------------------------------------------------------------------------------------- threads

    def _background_started(self) -> None:
        self._moving = True

    def _come_here(self) -> None:
        """Jobs that are stuck on another thread cannot be resumed by this one: they are over."""
        if self._pinned and self._pinned != threading.get_ident():
            self._forget_jobs()
        self._pinned = 0

    def _forget_jobs(self) -> None:
        kernel, main = self.kernel, self.process
        for process in list(kernel.processes.values()):
            if process is not main:
                process.task = None
                process.finish(128 + 9)
        self._tidy()

    def move_to_thread(self) -> None:
        """From now on lines run on a thread that belongs to this Session."""
        with self._lock:
            if self._thread is None and not self._closed:
                self._start_thread()

    def _start_thread(self) -> None:
        if self._pinned:
            if self._pinned == threading.get_ident() and len(self.kernel.processes) > 1:
                return                                       # its jobs go on here as long as they live
            self._come_here()
        if not _threaded:
            atexit.unregister(_end_threads)
            atexit.register(_end_threads)
        _threaded.add(self)
        self._thread = threading.Thread(target=self._serve, name="mirage-session", daemon=True)
        self._thread.start()

    def end_thread(self) -> None:
        """At the end of Python: nothing runs any more, whatever it is. Greenlets that live on then crash it."""
        self._closed = True
        thread = self._thread
        if thread is not None:
            self.kernel.cancel()
            self.kernel.post(lambda: None)
            thread.join(_LAST_WAIT)

    def _on_thread(self, function: Callable[[], Done]) -> Done:
        finished = threading.Event()
        box: list[tuple[Done | None, BaseException | None]] = []

        def work() -> None:
            try:
                box.append((function(), None))
            except BaseException as e:                       # raised again in the caller
                box.append((None, e))
            finished.set()

        def deliver() -> None:
            self._work = work

        self.kernel.post(deliver)
        finished.wait()
        done, failure = box[0]
        if failure is not None:
            raise failure
        assert done is not None
        return done

    def _serve(self) -> None:
        """The Session's thread: jobs while there is no line."""
        kernel = self.kernel
        kernel.attach()
        while not self._closed:
            kernel.idle = kernel.hub_waits = True
            try:
                kernel.run(lambda: self._work is not None or self._closed)
            except LineStopped as e:
                kernel.line += 1
                self._stop_jobs(e)
            kernel.idle = kernel.hub_waits = False
            work, self._work = self._work, None
            if work is not None:
                work()

    def cancel(self) -> None:
        """From any thread: stop the running line (status 130), if there is one."""
        if self._lock.locked():
            self.kernel.cancel()

    def chdir(self, path: str) -> None:
        """Go to an absolute path that is a directory; $PWD follows, $OLDPWD stays unset."""
        with self._lock:
            self.process.cwd = path
            self.shell.set("PWD", path)

    def close(self) -> None:
        """Run the EXIT trap, kill what is left. More calls do nothing."""
        with self._lock:
            if self._closed:
                return
            if self._thread is None:
                self._come_here()
                self._finish()
            else:
                self._on_thread(self._finish)
            self._closed = True
            thread, self._thread = self._thread, None
        if thread is not None:
            self.kernel.post(lambda: None)
            thread.join(5)

    def _finish(self) -> Done:
        done = self._run("", b"", 10.0, True, drain=False) if self.shell.traps.get("EXIT") else Done(b"", b"", 0, [])
        self.kernel.attach()
        self.kernel.kill_line(lambda process: process is self.process)
        self.process.finish(done.status)
        return done
