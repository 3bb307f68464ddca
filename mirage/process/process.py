"""A process: descriptors, directory, environment, signals, and the greenlet that runs it.

A tool is a function `main(proc: Process) -> int`. It sees files only through `proc.fs` (the gated namespace,
relative to the process's directory) and descriptors, and starts others only through `proc.spawn`.
"""
from __future__ import annotations

import errno
import os
import sys

from greenlet import getcurrent

from mirage.process.files import HandleFile, OpenFile, Output, Pipe, PipeBoth, PipeReader, PipeWriter, oserror
from mirage.process.kernel import dies_of
from mirage.process.signals import (
    IGNORED_BY_DEFAULT,
    SIGCONT,
    SIGKILL,
    SIGSTOP,
    STOPPING,
    Exit,
    Killed,
    LimitExceeded,
    LineStopped,
)
from mirage.vfs.types import annotate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from mirage.machine import Machine
    from mirage.process.kernel import Kernel, Task
    from mirage.vfs.filesystem import FileSystem

    Main = Callable[["Process"], int]


_WRITE_FAILED = {
    "grep": 2, "egrep": 2, "fgrep": 2, "sort": 2, "sed": 4, "jq": 2, "diff": 2, "cmp": 2, "ls": 2, "expr": 3,
    "env": 125, "printenv": 2, "tar": 2, "patch": 2, "xxd": 3,
}
"""The exit status of a program that cannot write its output, where that is not 1."""


class Process:
    """One process of a Session. `argv[0]` is its name in messages.

    cwd      absolute logical path (may contain symbolic links, as $PWD)
    env      exported variables, name -> text (surrogateescape)
    fds      descriptor table, int -> OpenFile; use dup/close/install to keep reference counts right
    status   exit status once it has ended (128+n when killed by signal n), else None
    pending  signals not delivered yet; `ignored` and `caught` decide what deliver() does with them
    """

    __slots__ = ("argv", "caught", "cwd", "env", "exit_signal", "fds", "fs", "group", "ignored", "kernel", "line",
                 "machine", "on_exit", "outer", "parent", "pending", "pid", "shell", "status", "stderr", "stdout",
                 "stopped", "task", "umask", "waiters")

    def __init__(self, kernel: Kernel, machine: Machine, argv: Sequence[str], *, parent: Process | None = None,
                 env: Mapping[str, str] | None = None, cwd: str | None = None,
                 fds: Mapping[int, OpenFile] | None = None, umask: int | None = None) -> None:
        self.kernel = kernel
        self.machine = machine
        self.argv = list(argv)
        self.parent = parent
        self.pid: int = kernel.new_pid()
        self.group: int = parent.group if parent else self.pid
        self.env: dict[str, str] = dict(env if env is not None else parent.env if parent else {})
        self.cwd: str = cwd if cwd is not None else parent.cwd if parent else "/"
        self.umask: int = umask if umask is not None else parent.umask if parent else 0o022
        table = fds if fds is not None else parent.fds if parent else {}
        self.fds: dict[int, OpenFile] = {n: f.incref() for n, f in table.items()}
        self.ignored: set[int] = set(parent.ignored) if parent and parent.ignored else set()
        self.caught: set[int] = set()
        self.pending: list[int] = []
        self.stopped = False
        self.status: int | None = None
        self.exit_signal = 0
        self.task: Task | None = None
        self.outer: Process | None = None                    # whose greenlet it runs on, while it does
        self.shell: Any = None                               # the interpreter that runs in this process, if any
        self.on_exit: list[Callable[[], None]] = []
        self.waiters = kernel.queue()
        self.line: int = parent.line if parent else kernel.line
        self.fs: FileSystem = machine.filesystem(self)
        self.stdout = Output(self, 1)
        self.stderr = Output(self, 2)
        kernel.register(self)

    # ---- descriptors

    @property
    def name(self) -> str:
        return self.argv[0].rsplit("/", 1)[-1] if self.argv else ""

    def file(self, fd: int) -> OpenFile:
        """The open file of a descriptor; EBADF when it is closed."""
        try:
            return self.fds[fd]
        except KeyError:
            raise oserror(errno.EBADF) from None

    @property
    def stdin(self) -> OpenFile:
        return self.file(0)

    def install(self, fd: int, file: OpenFile) -> None:
        """Make `fd` refer to `file` (dup2), closing what it was."""
        file.incref()
        old = self.fds.get(fd)
        self.fds[fd] = file
        if old is not None:
            old.decref()

    def allocate(self, file: OpenFile, lowest: int = 0) -> int:
        """The lowest free descriptor >= `lowest` now refers to `file`."""
        fd = lowest
        while fd in self.fds:
            fd += 1
        self.fds[fd] = file.incref()
        return fd

    def close(self, fd: int) -> None:
        file = self.fds.pop(fd, None)
        if file is None:
            raise oserror(errno.EBADF)
        file.decref()

    def close_all(self) -> None:
        fds, self.fds = self.fds, {}
        for file in fds.values():
            try:
                file.decref()
            except OSError:
                if self.status == 0:
                    self.status = 1

    def pipe(self) -> tuple[OpenFile, OpenFile]:
        """(reader, writer); no descriptor is allocated and no reference counted yet."""
        pipe = Pipe(self.kernel)
        return PipeReader(pipe), PipeWriter(pipe)

    def open(self, path: str, flags: int = os.O_RDONLY, mode: int = 0o666) -> OpenFile:
        """open(2) through the gate: regular files, /dev/fd/N and /dev/std*, FIFOs (blocks for the other end).

        No reference is counted: pass the result to install/allocate, or use `with proc.opened(...)`.
        """
        self.kernel.tick()
        fd = self._device_fd(path)
        if fd is not None:
            return self._reopen(fd, path, flags)
        handle = self.fs.open(path, flags, mode)
        stat = handle.stat() if not handle.seekable else None
        if stat is not None and stat.is_fifo:
            return self._open_fifo(stat.identity, flags, path)
        return HandleFile(handle, flags, path)

    def opened(self, path: str, flags: int = os.O_RDONLY, mode: int = 0o666) -> Opened:
        """`with proc.opened(path) as f:` closes the file at the end; `-` is not special here."""
        return Opened(self.open(path, flags, mode))

    def _device_fd(self, path: str) -> int | None:
        """The descriptor N that /dev/fd/N, /proc/self/fd/N, /dev/stdin, ... name; None for any other path."""
        if path[:1] != "/":
            if not self.cwd.startswith(("/dev", "/proc/self/fd")):
                return None
            path = self.fs.abspath(path)
        if not path.startswith(("/dev/", "/proc/self/fd/")):
            return None
        names = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
        if path in names:
            return names[path]
        tail = path.rsplit("/", 1)[1]
        if path in (f"/dev/fd/{tail}", f"/proc/self/fd/{tail}") and tail.isdecimal():
            return int(tail)
        return None

    def _reopen(self, fd: int, path: str, flags: int) -> OpenFile:
        file = self.fds.get(fd)
        if file is None:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        wanted = flags & os.O_ACCMODE
        if wanted != os.O_RDONLY and not file.writable or wanted == os.O_RDONLY and not file.readable:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)
        if flags & os.O_TRUNC and file.seekable and file.writable:
            file.truncate(0)
        return file

    def _open_fifo(self, identity: tuple[int, int], flags: int, path: str) -> OpenFile:
        kernel = self.kernel
        pipe = kernel._fifos.get(identity)
        if pipe is None:
            pipe = kernel._fifos[identity] = Pipe(kernel)
        mode = flags & os.O_ACCMODE
        if mode == os.O_RDWR:
            return PipeBoth(pipe, path)
        end: PipeReader | PipeWriter
        if mode == os.O_RDONLY:
            end = PipeReader(pipe, path)
            pipe.writable.wake()
            while not pipe.writers and not pipe.size:
                pipe.readable.wait()
        else:
            end = PipeWriter(pipe, path)
            pipe.readable.wake()
            while not pipe.readers:
                pipe.writable.wait()
        return end

    # ---- children

    def spawn(self, argv: Sequence[str], *, fds: Mapping[int, OpenFile] | None = None,
              env: Mapping[str, str] | None = None, cwd: str | None = None) -> Process:
        """Start a program as a child; what cannot be started raises OSError (ENOENT: not found, EACCES, ...).

        `fds` overrides single descriptors of this process's table for the child.
        """
        main = self.machine.program(self, argv)
        table = dict(self.fds)
        if fds:
            table.update(fds)
        child = Process(self.kernel, self.machine, argv, parent=self, env=env, cwd=cwd, fds=table)
        child.launch(main)
        return child

    def run(self, argv: Sequence[str], *, fds: Mapping[int, OpenFile] | None = None,
            env: Mapping[str, str] | None = None, cwd: str | None = None) -> int:
        """spawn and wait; the exit status."""
        self.stdout.flush()
        return self.wait(self.spawn(argv, fds=fds, env=env, cwd=cwd))

    def wait(self, child: Process) -> int:
        while child.status is None:
            child.waiters.wait()
        return child.status

    def launch(self, main: Main) -> None:
        """Run `main(self)` on a greenlet of its own."""
        self.kernel.start(self, lambda: self.execute(main))

    def execute(self, main: Main) -> int:
        """Run `main(self)` on the running greenlet to its end: flush, close, set status, wake who waits.

        Used by launch, and by a shell that waits for a foreground program anyway.
        """
        kernel = self.kernel
        status = 1
        task: Task = getcurrent()
        outer = task.process
        if outer is not self:
            self.outer = outer
            self.task = task
            task.process = self
        kernel.current = self
        try:
            try:
                if self.pending:                             # killed before it began
                    self.deliver()
                status = main(self)
                self.flush()
            except Exit as e:
                status = e.status
                self.flush()
        except Killed as e:
            if not dies_of(e, self):
                raise
            self.exit_signal = e.number
            status = 128 + e.number
        except LineStopped as e:
            if kernel.stopped is None:
                kernel.stopped = e
            raise
        except OSError as e:
            status = self._failed_write(e)
        except RecursionError:
            raise LimitExceeded("depth: too many nested calls") from None
        except Exception as e:                               # a bug of ours: the agent sees a line, not a traceback
            status = self._internal_error(e)
        finally:
            kernel.current = outer
            if outer is not self:
                task.process = outer
                self.outer = None
            self.stdout.discard()
            self.stderr.discard()
            self.finish(status & 0xFF)
        if outer is not self and outer.pending:
            outer.deliver()
        return self.status if self.status is not None else status

    def stack(self) -> Iterator[Process]:
        """This process and those further out on the greenlet it runs on."""
        process: Process | None = self
        while process is not None:
            yield process
            process = process.outer

    def flush(self) -> None:
        self.stdout.flush()
        self.stderr.flush()

    def _failed_write(self, e: OSError) -> int:
        """An OSError that the tool did not handle: reading a file failed (a service), else writing its output."""
        source = getattr(e, "reading", None)
        try:
            if source is not None:
                self.stdout.flush()
                self.fail(source, e)
                return 1
            self.stdout.discard()
            self.message(f"write error: {e.strerror}")
        except OSError:
            pass
        return _WRITE_FAILED.get(self.name, 1)

    def _internal_error(self, e: Exception) -> int:
        self.machine.internal_error(self, e)
        try:
            self.message(internal_error_text(e))
        except OSError:
            pass
        return 70

    def finish(self, status: int) -> None:
        """The process has ended with `status`; its descriptors are closed and its parent may wait for it."""
        if self.status is not None:
            return
        self.status = status
        self.kernel.processes.pop(self.pid, None)
        self.kernel.attention.discard(self)
        for callback in self.on_exit:
            callback()
        self.close_all()
        self.waiters.wake()

    # ---- signals

    def deliver(self) -> None:
        """Act on pending signals: die, stop, or leave them to the shell's traps."""
        left = []
        for number in self.pending:
            if number in self.caught:
                left.append(number)
            elif number == SIGSTOP or number in STOPPING and number not in self.ignored:
                self.stopped = True
            elif number == SIGCONT or number in IGNORED_BY_DEFAULT:
                self.stopped = self.stopped and number != SIGCONT
            elif number == SIGKILL or number not in self.ignored:
                self.pending = left
                raise Killed(number, self)
        self.pending = left

    # ---- messages

    def write_error(self, text: str) -> None:
        """Text to standard error at once (after what the tool has buffered there)."""
        self.stderr.flush()
        file = self.fds.get(2)
        if file is not None:
            file.write(text.encode("utf-8", "surrogateescape"))

    def message(self, text: str) -> None:
        """`NAME: text` and a newline on standard error; in an `except` block also why the policy refused."""
        error = sys.exception()
        note = ""
        if isinstance(error, PermissionError):
            note = refusal_note(error)
            annotate(error, note_told=bool(note))            # not again, should the tool add it itself
        self.write_error(f"{self.name}: {text}\n{note}")

    def fail(self, what: str, error: OSError) -> None:
        """GNU's `NAME: what: No such file or directory`; a refusal of the policy adds its own line."""
        self.write_error(f"{self.name}: {what}: {error.strerror}\n{refusal_note(error)}")

    # ---- time and work

    def check(self) -> None:
        """Call every few hundred kilobytes of work: deadline, cancel, signals, other processes."""
        self.kernel.check()

    def now(self) -> float:
        """Seconds since the epoch on the Terminal's clock."""
        return self.kernel.clock()


class Opened:
    """Context manager of one OpenFile."""

    __slots__ = ("file",)

    def __init__(self, file: OpenFile) -> None:
        self.file = file.incref()

    def __enter__(self) -> OpenFile:
        return self.file

    def __exit__(self, *exc: object) -> None:
        self.file.decref()


def internal_error_text(error: Exception) -> str:
    """What the agent reads instead of a traceback; a package that is not installed is named."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return (f"not available: the Python package '{error.name}' is not installed where this terminal runs; "
                "the extras of mirage-terminal bring what services need")
    return f"internal error: {type(error).__name__}"


def refusal_note(error: OSError) -> str:
    """The line that follows an error message when the policy refused (once in a process) or a service said why."""
    if getattr(error, "note_told", False):
        annotate(error, note_told=False)
        return ""
    take = getattr(error, "take_note", None)
    note = take() if take is not None else getattr(error, "note", None)
    return f"mirage: {note}\n" if note else ""


__all__ = ["LimitExceeded", "Opened", "Process", "internal_error_text", "refusal_note"]
