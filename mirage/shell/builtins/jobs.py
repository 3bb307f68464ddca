"""jobs, wait, fg, bg, disown, suspend."""
from __future__ import annotations

from mirage.process.signals import SIGCHLD, SIGCONT, SIGINT, SIGPIPE, SIGTERM
from mirage.shell.builtins._common import USAGE_STATUS, encode, getopt, number, split_reference
from mirage.shell.exec.jobs import AmbiguousJob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mirage.process.process import Process
    from mirage.shell.exec.jobs import Job
    from mirage.shell.state import Shell

NOT_A_CHILD = 127


def find_job(sh: Shell, command: str, spec: str) -> Job | None:
    """The job that `%...` names; None after an error message."""
    try:
        job: Job | None = sh.jobs.find(spec) if sh.jobs is not None else None
    except AmbiguousJob:
        sh.builtin_error(command, f"{spec.removeprefix('%').removeprefix('?')}: ambiguous job spec")
        return None
    if job is None:
        sh.builtin_error(command, f"{spec}: no such job")
    return job


def _named(sh: Shell, command: str, word: str) -> Job | None:
    """A job by `%spec`, a number of a job (`jobs 1` is `%1`) or a process id."""
    pid = number(word)
    if pid is not None and word[:1] != "%":
        job: Job | None = sh.jobs.by_pid(pid) if sh.jobs is not None else None
        if job is not None:
            return job
    return find_job(sh, command, word)


# ------------------------------------------------------------------------------------------------------- jobs


def builtin_jobs(sh: Shell, args: Sequence[str]) -> int:
    parsed = getopt(sh, "jobs", args, "lpnrsx")
    if parsed is None:
        return USAGE_STATUS
    options, words = parsed
    letters = {letter for letter, _ in options}
    if "x" in letters:
        return _execute(sh, words)
    table = sh.jobs
    if table is None:
        return 0
    status = 0
    if words:
        jobs = []
        for word in words:
            job = _named(sh, "jobs", word)
            if job is None:
                status = 1
            else:
                jobs.append(job)
    else:
        jobs = list(table)
    out = []
    shown = []
    for job in jobs:
        if ("r" in letters and (job.done or job.stopped)) or ("s" in letters and not job.stopped) \
                or ("n" in letters and (not job.done or job.notified)):
            continue
        shown.append(job)
        out.append(f"{job.leader}\n" if "p" in letters else job_line(sh, job, "l" in letters))
    sh.out(encode("".join(out)))
    if "p" not in letters:
        for job in shown:
            if job.done:
                job.notified = True
        table.clean()
    return status


def job_line(sh: Shell, job: Job, long: bool = False) -> str:
    """`[1]+  Running                 sleep 5 &`."""
    state = job.state()
    pid = f"{job.leader:5d} " if long else " "
    running = " &" if state == "Running" else ""
    return f"[{job.number}]{sh.jobs.marker(job)} {pid}{state:<24}{job.text}{running}\n"


def _execute(sh: Shell, words: Sequence[str]) -> int:
    """`jobs -x command %1`: jobs replaced by process ids."""
    if not words:
        return 0
    argv = []
    for word in words:
        job = None
        if word[:1] == "%" and sh.jobs is not None:
            try:
                job = sh.jobs.find(word)
            except AmbiguousJob:
                job = None
        argv.append(str(job.leader) if job is not None else word)
    return sh.run_command(argv)


# ------------------------------------------------------------------------------------------------------- wait


class _Interrupted(Exception):
    """A trapped signal came while waiting."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _wait_until(sh: Shell, processes: Sequence[Process], done: Callable[[], bool]) -> None:
    """Sleep until done(), woken when any of the processes ends. Raises _Interrupted."""
    from greenlet import getcurrent

    task = getcurrent()
    while not done():
        queues = [process.waiters for process in processes if process.status is None]
        for queue in queues:
            queue.waiters.append(task)
        try:
            sh.kernel.park()
        finally:
            for queue in queues:
                if task in queue.waiters:
                    queue.waiters.remove(task)
        for signal in sh.proc.pending:
            if signal != SIGCHLD or sh.options.posix:
                raise _Interrupted(signal)


def builtin_wait(sh: Shell, args: Sequence[str]) -> int:
    parsed = getopt(sh, "wait", args, "fnp:")
    if parsed is None:
        return USAGE_STATUS
    options, words = parsed
    given = dict(options)
    variable = given.get("p")
    if variable is not None:
        if split_reference(variable) is None:
            sh.builtin_error("wait", f"`{variable}': not a valid identifier")
            return 1
        sh.unset(variable)
    try:
        if "n" in given:
            return _wait_next(sh, words, variable)
        if not words:
            return _wait_all(sh)
        status = 0
        for word in words:
            status = _wait_one(sh, word, variable)
        return status
    except _Interrupted as e:
        from mirage.shell.exec.traps import run_pending

        run_pending(sh)
        return 128 + e.number


def _wait_for(sh: Shell, job: Job) -> None:
    _wait_until(sh, job.processes, lambda: job.done)


def _finish(sh: Shell, job: Job) -> int:
    """A job was waited for: out of the table. That a signal ended it is said on standard error."""
    signal = job.processes[-1].exit_signal
    if signal not in (0, SIGINT, SIGPIPE, SIGTERM) and not job.notified:
        sh.error(f"{job.leader:5} {job.state():<24}{job.text}")
    job.notified = True
    sh.extra["waited for"] = (job.number, job.status or 0, sh.last_bg)
    sh.jobs.remove(job)
    return job.status or 0


def _wait_all(sh: Shell) -> int:
    if sh.jobs is None:
        return 0
    jobs = [job for job in sh.jobs if not job.done]          # the others are still to be told of
    processes = [process for job in jobs for process in job.processes] + list(sh.jobs.watched.values())
    _wait_until(sh, processes, lambda: all(process.status is not None for process in processes))
    for job in jobs:
        _finish(sh, job)
    sh.extra.pop("waited for", None)
    sh.jobs.statuses.clear()
    return 0


def _wait_one(sh: Shell, word: str, variable: str | None) -> int:
    table = sh.jobs
    if word[:1] == "%":
        last = sh.extra.get("waited for")                    # bash keeps that job until the next one starts
        if last is not None and (word, sh.last_bg) == (f"%{last[0]}", last[2]):
            return int(last[1])
        job = find_job(sh, "wait", word)
        if job is None:
            return NOT_A_CHILD
        return _wait_job(sh, job, variable)
    pid = number(word)
    if pid is None or pid < 0:
        sh.builtin_error("wait", f"`{word}': not a pid or valid job spec")
        return 1
    job = table.by_pid(pid) if table is not None else None
    if job is not None and job.pid == pid:
        return _wait_job(sh, job, variable)
    process = table.process(pid) if table is not None else None
    if process is not None:
        _wait_until(sh, [process], lambda: process.status is not None)
        status = process.status or 0
    elif table is not None and pid in table.statuses:
        status = table.statuses[pid]
    else:
        sh.builtin_error("wait", f"pid {pid} is not a child of this shell")
        return NOT_A_CHILD
    if variable is not None:
        sh.assign(variable, str(pid))
    return status


def _wait_job(sh: Shell, job: Job, variable: str | None) -> int:
    _wait_for(sh, job)
    status = _finish(sh, job)
    if variable is not None:
        sh.assign(variable, str(job.pid))
    return status


def _wait_next(sh: Shell, words: Sequence[str], variable: str | None) -> int:
    """`wait -n`: the next job to end, of all or of those named."""
    jobs: list[Job] = []
    if words:
        for word in words:
            pid = number(word)
            job = None
            if pid is not None and word[:1] != "%":
                job = sh.jobs.by_pid(pid) if sh.jobs is not None else None
                if job is None:
                    sh.builtin_error("wait", f"{word}: no such job")
            else:
                job = find_job(sh, "wait", word)
            if job is not None:
                jobs.append(job)
    elif sh.jobs is not None:
        jobs = list(sh.jobs)
    if not jobs:
        return NOT_A_CHILD
    _wait_until(sh, [process for job in jobs for process in job.processes], lambda: any(job.done for job in jobs))
    job = next(job for job in jobs if job.done)
    status = _finish(sh, job)
    if variable is not None:
        sh.assign(variable, str(job.pid))
    return status


# ------------------------------------------------------------------------------------------------ job control


def builtin_fg(sh: Shell, args: Sequence[str]) -> int:
    return _continue(sh, "fg", args, True)


def builtin_bg(sh: Shell, args: Sequence[str]) -> int:
    return _continue(sh, "bg", args, False)


def _continue(sh: Shell, command: str, args: Sequence[str], foreground: bool) -> int:
    if not sh.options.monitor:
        sh.builtin_error(command, "no job control")
        return 1
    parsed = getopt(sh, command, args, "")
    if parsed is None:
        return USAGE_STATUS
    status = 0
    for word in parsed[1] or ["%+"]:
        if word == "%+" and (sh.jobs is None or sh.jobs.current is None):
            sh.builtin_error(command, "current: no such job")
            return 1
        job = find_job(sh, command, word)
        if job is None:
            return 1
        if not foreground and not job.stopped:
            sh.builtin_error(command, f"job {job.number} already in background")
            continue
        job.signal(SIGCONT)
        sh.jobs.touch(job)
        if foreground:
            sh.out(encode(f"{job.text}\n"))
            try:
                _wait_for(sh, job)
            except _Interrupted as e:
                return 128 + e.number
            status = _finish(sh, job)
        else:
            sh.out(encode(f"[{job.number}]{sh.jobs.marker(job)} {job.text} &\n"))
    return status


def builtin_disown(sh: Shell, args: Sequence[str]) -> int:
    parsed = getopt(sh, "disown", args, "ahr")
    if parsed is None:
        return USAGE_STATUS
    options, words = parsed
    letters = {letter for letter, _ in options}
    table = sh.jobs
    status = 0
    if words:
        jobs = []
        for word in words:
            job = _named(sh, "disown", word)
            if job is None:
                status = 1
            else:
                jobs.append(job)
    elif table is None:
        return 1
    elif letters & {"a", "r"}:
        jobs = [job for job in table if "r" not in letters or (not job.done and not job.stopped)]
    else:
        if table.current is None:
            sh.builtin_error("disown", "current: no such job")
            return 1
        jobs = [table.current]
    for job in jobs:
        if "h" in letters:
            job.marked_nohup = True
        else:
            job.disowned = True
            table.remove(job)
    return status


def builtin_suspend(sh: Shell, args: Sequence[str]) -> int:
    parsed = getopt(sh, "suspend", args, "f")
    if parsed is None:
        return USAGE_STATUS
    sh.builtin_error("suspend", "cannot suspend: no job control")
    return 1
