"""The job table of one shell: what `&`, `coproc` and stopped commands left, as `jobs`, `wait`, `kill %1` see it."""
from __future__ import annotations

from mirage.process.signals import DESCRIPTIONS, NAMES, SIGINT, SIGPIPE, SIGTERM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mirage.process.process import Process
    from mirage.shell.state import Shell

REMEMBERED = 4096                                            # statuses of ended jobs that `wait PID` can still ask for


class AmbiguousJob(Exception):
    """`%text` fits more than one job."""


class Job:
    """One pipeline in the background.

    number     as in `%1`
    processes  its processes, first to last; the last one's id is `$!` and its status that of the job
    text       the command as bash prints it (made when asked for)
    notified   its end was shown by `jobs` or taken by `wait`
    disowned   no longer in the table; marked_nohup: `disown -h`
    """

    __slots__ = ("_text", "disowned", "marked_nohup", "notified", "number", "processes")

    def __init__(self, number: int, processes: Sequence[Process], text: str | Callable[[], str]) -> None:
        self.number = number
        self.processes = list(processes)
        self._text = text
        self.notified = False
        self.disowned = False
        self.marked_nohup = False

    @property
    def text(self) -> str:
        if not isinstance(self._text, str):
            self._text = self._text()
        return self._text

    @property
    def pid(self) -> int:
        """`$!`: the last process."""
        return self.processes[-1].pid

    @property
    def leader(self) -> int:
        """The process group: the first process; what `jobs -p` prints."""
        return self.processes[0].pid

    @property
    def status(self) -> int | None:
        """The exit status of the job; None while a process of it is alive."""
        if any(process.status is None for process in self.processes):
            return None
        return self.processes[-1].status

    @property
    def stopped(self) -> bool:
        return any(process.status is None and process.stopped for process in self.processes)

    @property
    def done(self) -> bool:
        return self.status is not None

    def state(self, status_of: Process | None = None) -> str:
        """As `jobs` prints it: Running, Stopped, Done, Exit 3, Terminated, ..."""
        process = status_of or self.processes[-1]
        status = process.status if status_of is not None else self.status
        if status is None:
            return "Stopped" if (process.stopped if status_of is not None else self.stopped) else "Running"
        if process.exit_signal:
            return DESCRIPTIONS.get(process.exit_signal, f"Signal {process.exit_signal}")
        return "Done" if status == 0 else f"Exit {status}"

    def signal(self, number: int) -> None:
        """Send a signal to every process of the job that is alive."""
        for process in self.processes:
            if process.status is None:
                process.kernel.kill(process, number)


class JobTable:
    """Jobs by number, and the statuses of those that are gone by process id."""

    __slots__ = ("_order", "jobs", "statuses", "watched")

    def __init__(self) -> None:
        self.watched: dict[int, Process] = {}                # process substitutions, that only `wait PID` knows
        self.jobs: dict[int, Job] = {}
        self._order: list[int] = []                          # least recently started or stopped first
        self.statuses: dict[int, int] = {}

    def __iter__(self) -> Iterator[Job]:
        return iter([self.jobs[number] for number in sorted(self.jobs)])

    def __len__(self) -> int:
        return len(self.jobs)

    def copy(self) -> JobTable:
        """For a subshell that may list them."""
        new = JobTable()
        new.jobs = dict(self.jobs)
        new._order = list(self._order)
        return new

    def add(self, processes: Sequence[Process], text: str | Callable[[], str]) -> Job:
        number = max(self.jobs, default=0) + 1
        job = self.jobs[number] = Job(number, processes, text)
        self._order.append(number)
        return job

    def touch(self, job: Job) -> None:
        """`job` was stopped or continued: it is the current one now."""
        if job.number in self._order:
            self._order.remove(job.number)
            self._order.append(job.number)

    def remove(self, job: Job) -> None:
        """Forget a job; its status can still be asked for by process id."""
        if self.jobs.get(job.number) is not job:
            return
        del self.jobs[job.number]
        self._order.remove(job.number)
        for process in job.processes:
            if process.status is not None:
                self.remember(process.pid, process.status)

    def remember(self, pid: int, status: int) -> None:
        self.statuses[pid] = status
        if len(self.statuses) > REMEMBERED:
            del self.statuses[next(iter(self.statuses))]

    def watch(self, process: Process) -> None:
        """A child that is no job, but can be waited for by its id."""
        for pid in [pid for pid, known in self.watched.items() if known.status is not None]:
            self.remember(pid, self.watched.pop(pid).status or 0)
        self.watched[process.pid] = process

    def process(self, pid: int) -> Process | None:
        """The child with this id, of a job or watched."""
        job = self.by_pid(pid)
        if job is not None:
            return next(process for process in job.processes if process.pid == pid)
        return self.watched.get(pid)

    def clean(self) -> None:
        """Forget the jobs that ended and were reported."""
        for job in list(self.jobs.values()):
            if job.done and job.notified:
                self.remove(job)

    def prune(self) -> None:
        """Before a new job: the ended ones of a shell that never reports them make room."""
        for job in list(self.jobs.values()):
            if job.done:
                self.remove(job)

    def _recent(self) -> list[Job]:
        jobs = [self.jobs[number] for number in reversed(self._order)]
        stopped = [job for job in jobs if job.stopped]
        running = [job for job in jobs if not job.done and not job.stopped]
        return stopped + running + [job for job in jobs if job.done]

    @property
    def current(self) -> Job | None:
        """`%+`: the last stopped job, else the last one started."""
        jobs = self._recent()
        return jobs[0] if jobs else None

    @property
    def previous(self) -> Job | None:
        """`%-`."""
        jobs = self._recent()
        return jobs[1] if len(jobs) > 1 else jobs[0] if jobs else None

    def marker(self, job: Job) -> str:
        """`+`, `-` or a blank, as `jobs` prints it."""
        if job is self.current:
            return "+"
        return "-" if job is self.previous else " "

    def find(self, spec: str) -> Job | None:
        """The job that `%1`, `%+`, `%-`, `%text`, `%?text` names; None for none. Raises AmbiguousJob."""
        text = spec.removeprefix("%")
        if text[:1] in ("", "%", "+"):
            return self.current
        if text[0] == "-":
            return self.previous
        if text.isascii() and text.isdecimal():
            return self.jobs.get(int(text))
        if text.startswith("?"):
            found = [job for job in self if text[1:] in job.text]
        else:
            found = [job for job in self if job.text.startswith(text)]
        if len(found) > 1:
            raise AmbiguousJob(spec)
        return found[0] if found else None

    def by_pid(self, pid: int) -> Job | None:
        """The job one of whose processes has this id."""
        for job in self.jobs.values():
            for process in job.processes:
                if process.pid == pid:
                    return job
        return None


def killed_text(number: int) -> str:
    """What bash calls the death by a signal: `Terminated`, `Killed`, ..."""
    return DESCRIPTIONS.get(number) or f"Signal {NAMES.get(number, number)}"


def report_death(sh: Shell, child: Process) -> None:
    """`bash: line 1:   123 Killed      command`, for a program in the foreground that a signal ended."""
    number = child.exit_signal
    if number in (SIGINT, SIGPIPE):
        return
    if number == SIGTERM:
        sh.proc.write_error(killed_text(number) + "\n")
        return
    command = sh.command if isinstance(sh.command, str) else sh.command()
    sh.error(f"{child.pid:5} {killed_text(number):<24}{command}")


def notify(sh: Shell) -> None:
    """After a foreground command: tell of jobs that a signal ended, and forget them."""
    table: JobTable = sh.jobs
    for job in list(table.jobs.values()):
        if job.notified or not job.done:
            continue
        number = job.processes[-1].exit_signal
        if number and number not in (SIGINT, SIGPIPE, SIGTERM) and not sh.interactive:
            sh.error(f"{job.pid:5} {killed_text(number):<24}{job.text}")
            table.remove(job)
