"""Subshells, pipelines, background jobs and coprocesses: each part is a process of its own."""
from __future__ import annotations

from mirage.process.files import Source
from mirage.process.process import Process
from mirage.shell import ast
from mirage.shell.exec.calls import MAX_FRAMES, run_body
from mirage.shell.exec.compile import compile_command, compile_commands, unchecked
from mirage.shell.exec.jobs import JobTable, notify, report_death
from mirage.shell.exec.traps import child_ended, failed, inherit, run_debug, slow_tick
from mirage.shell.printer import command_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mirage.process.files import OpenFile
    from mirage.shell.ast import Command
    from mirage.shell.exec.compile import Run
    from mirage.shell.state import Shell

SUBSHELL_WEIGHT = 12                                         # Python frames that a subshell on this greenlet adds


# ---------------------------------------------------------------------------------------------------------- subshells


def fork(sh: Shell, fds: Mapping[int, OpenFile] | None = None, *, keep_jobs: bool = False) -> Shell:
    """A subshell with a process of its own (not started); `fds`: its descriptor table instead of the parent's."""
    proc = sh.proc
    child = Process(proc.kernel, proc.machine, proc.argv, parent=proc, fds=fds)
    sub = sh.fork(child)
    child.shell = sub
    if sh.traps or "parent_traps" in sub.extra:
        inherit(sh, sub)
    if sh.jobs is not None:
        sub.jobs = sh.jobs.copy() if keep_jobs else JobTable()
    sub.loop_depth = 0
    return sub


def run_here(sub: Shell, run: Run) -> int:
    """Run a subshell on this greenlet to its end; its exit status."""
    process = sub.proc
    frames = sub.frames + SUBSHELL_WEIGHT
    if frames > MAX_FRAMES:
        sub.frames = 0
        return process.kernel.call_deep(
            lambda: process.execute(lambda proc: run_body(sub, run)))
    sub.frames = frames
    return process.execute(lambda proc: run_body(sub, run))


def launch(sub: Shell, run: Run) -> Process:
    """Run a subshell on a greenlet of its own."""
    sub.frames = 0
    process = sub.proc
    process.launch(lambda proc: run_body(sub, run))
    return process


def in_subshell(sh: Shell, run: Run) -> int:
    return run_here(fork(sh), run)


def compile_subshell(node: ast.Subshell) -> Run:
    inner = compile_commands(node.body)
    line = node.line

    def run(sh: Shell) -> int:
        kernel = sh.kernel
        kernel.budget -= 1
        if kernel.budget < 0:
            slow_tick(sh)
        sh.line = line
        sh.command = describe
        sub = fork(sh)
        sub.base_line = (len(sh.call_stack), line)
        status = run_here(sub, inner)
        if sub.proc.exit_signal:
            report_death(sh, sub.proc)
        if sh.traps:
            child_ended(sh)
        if sh.jobs.jobs:
            notify(sh)
        sh.line = line
        sh.pipestatus = None
        sh.status = status
        return failed(sh, status, line) if status else 0

    def describe() -> str:
        return command_text(node)
    return run


# ---------------------------------------------------------------------------------------------------------- pipelines


def compile_pipeline(node: ast.Pipeline) -> Run:
    run = _compile_stages(node) if len(node.cmds) > 1 else (
        compile_command(node.cmds[0]) if node.cmds else _no_command)
    if node.negated:
        run = _negated(unchecked(run))
    if node.timed:
        from mirage.shell.exec.timing import timed
        run = timed(run, node.timed == "p")
    return run


def _no_command(sh: Shell) -> int:
    sh.status = 0
    return 0


def _negated(run: Run) -> Run:
    def negated(sh: Shell) -> int:
        status = run(sh)
        if sh.pipestatus is None:
            sh.pipestatus = (status,)
        sh.status = 0 if status else 1
        return sh.status
    return negated


def _stage(command: Command) -> Run:
    """One stage, which has its process already: a subshell needs none of its own."""
    if isinstance(command, ast.Subshell):
        command = ast.Group(command.body, command.redirs, command.line)
    return compile_command(command, alone=type(command) is ast.Simple)


def _compile_stages(node: ast.Pipeline) -> Run:
    stages = tuple(_stage(command) for command in node.cmds)
    last_here = compile_command(node.cmds[-1])
    merged = tuple(pipe == "|&" for pipe in node.pipes)
    simples = _simples(node.cmds)
    twice = isinstance(node.cmds[-1], ast.Subshell)          # bash runs the ERR trap for the subshell as well
    pipeline_line = getattr(node.cmds[-1], "line", 0)

    def describe() -> str:
        return command_text(node.cmds[-1])

    def run(sh: Shell) -> int:
        kernel = sh.kernel
        kernel.budget -= 1
        if kernel.budget < 0:
            slow_tick(sh)
        line = pipeline_line or sh.line
        sh.command = describe
        lastpipe = sh.shopt["lastpipe"] and not sh.options.monitor
        subs, reader = _start(sh, stages, merged, simples, lastpipe)
        statuses = [sub.proc for sub in subs]
        if lastpipe:
            last = _last_here(sh, last_here, reader)
        else:
            last = run_here(subs[-1], stages[-1])
            if subs[-1].proc.exit_signal:
                report_death(sh, subs[-1].proc)
        codes = [sh.proc.wait(process) for process in statuses]
        if lastpipe:
            codes.append(last)
        status = codes[-1]
        if sh.options.pipefail:
            status = next((code for code in reversed(codes) if code), 0)
        sh.line = line
        sh.pipestatus = codes
        sh.status = status
        if sh.traps:
            for _ in statuses:
                child_ended(sh)
        if status:
            if twice and codes[-1] and not lastpipe:
                failed(sh, codes[-1], line)
            failed(sh, status, line)
            sh.pipestatus = codes
        return status
    return run


def _simples(commands: Sequence[Command]) -> tuple[ast.Simple | None, ...]:
    """Each simple command, None for others."""
    return tuple(command if isinstance(command, ast.Simple) else None for command in commands)


def _start(sh: Shell, stages: Sequence[Run], merged: Sequence[bool], simples: Sequence[ast.Simple | None],
           lastpipe: bool) -> tuple[list[Shell], OpenFile | None]:
    """Fork every stage and launch all but the last; the reader of the last pipe is for `lastpipe`."""
    proc = sh.proc
    subs: list[Shell] = []
    reader: OpenFile | None = None
    last = len(stages) - 1
    for index in range(last if lastpipe else last + 1):
        table = dict(proc.fds)
        if reader is not None:
            table[0] = reader
        writer: OpenFile | None = None
        next_reader: OpenFile | None = None
        if index < last:
            next_reader, writer = proc.pipe()
            table[1] = writer
            if merged[index]:
                table[2] = writer
        simple = simples[index]
        if simple is not None and "DEBUG" in sh.traps:
            sh.command = command_text(simple)
            run_debug(sh, simple.line)
        sub = fork(sh, table, keep_jobs=simple is not None)
        sub.extra["stdin_redirected"] = reader is not None
        if simple is not None and last:
            sub.extra["plain_stages"] = (*sub.extra.get("plain_stages", ()), len(sub.call_stack))
        subs.append(sub)
        reader = next_reader
    for sub, stage in zip(subs if lastpipe else subs[:-1], stages, strict=False):
        launch(sub, stage)
    if last and not lastpipe:
        proc.kernel.yield_()                                 # they begin before the last one does
    return subs, reader


def _last_here(sh: Shell, run: Run, reader: OpenFile | None) -> int:
    """`lastpipe`: the last stage in this shell, reading from the pipe."""
    from mirage.shell.exec.redirect import restore
    proc = sh.proc
    old = proc.fds.get(0)
    undo = [(0, old.incref() if old is not None else None)]
    if reader is not None:
        proc.install(0, reader)
    try:
        return run(sh)
    finally:
        restore(sh, undo)


# --------------------------------------------------------------------------------------------------------- background


def compile_background(node: ast.Background) -> Run:
    command = node.cmd
    if isinstance(command, ast.Pipeline) and len(command.cmds) > 1 and not command.negated and not command.timed:
        stages: tuple[Run, ...] = tuple(_stage(stage) for stage in command.cmds)
        simples = _simples(command.cmds)
        merged = tuple(pipe == "|&" for pipe in command.pipes)
    else:
        stages = (_stage(command),)
        simples = _simples((command,))
        merged = ()

    def text() -> str:
        return command_text(command)

    def run(sh: Shell) -> int:
        kernel = sh.kernel
        kernel.budget -= 1
        if kernel.budget < 0:
            slow_tick(sh)
        background_seen(sh)
        limit = kernel.limits.processes
        if limit and len(kernel.processes) > limit // 2:
            kernel.yield_()                                  # let some of them end first
        subs, _ = _start(sh, stages, merged, simples, False)
        first = subs[0].proc
        if not sh.options.monitor:
            if not sh.extra.get("stdin_redirected"):
                first.install(0, Source(b"", "/dev/null"))
            for sub in subs:
                sub.proc.ignored.update((2, 3))
        launch(subs[-1], stages[-1])
        add_job(sh, [sub.proc for sub in subs], text)
        sh.pipestatus = None
        sh.status = 0
        return 0
    return run


def add_job(sh: Shell, processes: Sequence[Process], text: Callable[[], str]) -> None:
    """Enter processes that run in the background as a job; `$!` is the last."""
    table = sh.jobs
    if len(table.jobs) > 200:
        table.prune()
    job = table.add(processes, text)
    sh.last_bg = job.pid
    for process in processes:
        process.on_exit.append(lambda: child_ended(sh))
    if sh.interactive and not sh.subshell_level:
        sh.proc.write_error(f"[{job.number}] {job.pid}\n")


def background_seen(sh: Shell) -> None:
    """Tell the Session that a job may outlive this line."""
    notify = sh.kernel.background_started
    if notify is not None:
        notify()


def compile_coproc(node: ast.Coproc) -> Run:
    name = node.name
    stage = _stage(node.body)

    def text() -> str:
        return command_text(node)

    def run(sh: Shell) -> int:
        background_seen(sh)
        proc = sh.proc
        from_child, child_out = proc.pipe()
        child_in, to_child = proc.pipe()
        table = dict(proc.fds)
        table[0], table[1] = child_in, child_out
        sub = fork(sh, table)
        read_fd, write_fd = _allocate_high(proc, from_child, 63), _allocate_high(proc, to_child, 60)
        sh.set_array(name, [str(read_fd), str(write_fd)])
        sh.set(name + "_PID", str(sub.proc.pid))
        launch(sub, stage)
        add_job(sh, [sub.proc], text)
        sub.proc.on_exit.append(lambda: _coproc_ended(sh, write_fd, to_child))
        sh.pipestatus = None
        sh.status = 0
        return 0
    return run


def _allocate_high(proc: Process, file: OpenFile, highest: int) -> int:
    """The highest free descriptor <= `highest` (as bash does for pipes it keeps) now refers to `file`."""
    fd = highest
    while fd in proc.fds and fd > 10:
        fd -= 1
    if fd in proc.fds:
        return proc.allocate(file, 64)
    proc.fds[fd] = file.incref()
    return fd


def _coproc_ended(sh: Shell, write_fd: int, writer: OpenFile) -> None:
    """The coprocess ended: its input is closed; what it wrote may still be read."""
    if sh.proc.fds.get(write_fd) is writer:
        sh.proc.close(write_fd)
