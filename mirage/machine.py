"""A Machine: namespace, gate, journal, programs and identity. Thread-safe; sessions and servers share it."""
from __future__ import annotations

import errno
import os
import time

from mirage import commands
from mirage.mounts.bin import Bin
from mirage.vfs.filesystem import FileSystem
from mirage.vfs.resolve import resolve
from mirage.vfs.types import annotate, enoent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mirage.clis.framework import VirtualCli
    from mirage.policy.gate import Gate
    from mirage.process.process import Main, Process
    from mirage.vfs.facade import Actor
    from mirage.vfs.namespace import Namespace
    from mirage.vfs.progress import Progress
    from mirage.vfs.types import Stat

DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
SHELL = "/usr/bin/bash"


class Machine:
    """What every process of a Terminal shares.

    namespace  the mount table, ungated; processes see it through filesystem(proc)
    gate       decides on every operation, or None where there is no policy and no journal
    clis       virtual CLIs by name; they are programs of /usr/bin like the tools
    users      uid -> (name, home); groups: gid -> name
    net        hosts that curl and wget may reach; none by default
    index      the file that `search` asks, on the host
    progress   told how far reading from services has come, where somebody watches
    errors     the last internal errors (name of the program, exception), newest last, for the owner
    """

    def __init__(self, namespace: Namespace, *, gate: Gate | None = None,
                 clis: Mapping[str, VirtualCli] | None = None, hostname: str = "mirage", tz: str = "UTC",
                 clock: Callable[[], float] = time.time, net: Iterable[str] = ()) -> None:
        self.namespace = namespace
        self.gate = gate
        self.clis: dict[str, VirtualCli] = dict(clis or {})
        self.hostname = hostname
        self.net = tuple(net)
        self.tz = tz
        self.clock = clock
        self.users = {0: ("root", "/root"), 1000: ("user", "/home/user"), 65534: ("nobody", "/nonexistent")}
        self.groups = {0: "root", 1000: "user", 65534: "nogroup"}
        self.progress: Progress | None = None
        self.index: str | None = None
        self.errors: list[tuple[str, Exception]] = []
        self._programs: frozenset[str] | None = None
        self._found: tuple[object, dict[str, None]] = (None, {})  # a Table, and the paths in it that are tools

    def filesystem(self, proc: Process | Actor) -> FileSystem:
        return FileSystem(self, proc)

    def program_names(self) -> frozenset[str]:
        """What /usr/bin lists."""
        if self._programs is None:
            self._programs = frozenset((*commands.names(), *self.clis))
        return self._programs

    def cli_names(self) -> list[str]:
        """The CLIs that the policy does not hide, sorted."""
        gate = self.gate
        return sorted(name for name in self.clis if gate is None or not gate.policy.hides(f"/usr/bin/{name}"))

    def find_program(self, proc: Process, name: str) -> str | None:
        """The path that running `name` would use ($PATH search; with a slash: itself if executable)."""
        if "/" in name:
            return name if self._executable(proc, name) else None
        if not name:
            return None
        for folder in proc.env.get("PATH", DEFAULT_PATH).split(":"):
            path = f"{folder.rstrip('/') if folder != '/' else ''}/{name}" if folder else f"./{name}"
            if self._executable(proc, path):
                return path
        return None

    def _executable(self, proc: Process, path: str) -> bool:
        try:
            return self._tool_at(proc, path, True) is not None or _runnable(proc.fs.stat(path))
        except OSError:
            return False

    def _tool_at(self, proc: Process, path: str, strict: bool = False) -> str | None:
        """The path of the tool that `path` is; `strict`: OSError where there is nothing at all.

        Where path rules deny /usr/bin it is found all the same: rules about commands decide on it; one that is hidden,
        or reached by another name that may not be used, is not.
        """
        whole = path if path.startswith("/") else f"{proc.cwd}/{path}"
        table, gate, known = self.namespace.table, self.gate, self._found
        if known[0] is not table:
            known = self._found = table, {}
        if whole in known[1] and (gate is None or not gate.hides):
            return whole
        try:
            target = resolve(table, whole)
        except OSError:
            if strict:
                raise
            return None
        if not isinstance(target.mounted.mount, Bin) or target.stat is None or not target.stat.is_file:
            return None
        if gate is not None:
            if not gate.visible(target):
                return None
            if whole.rpartition("/")[0] not in ("/bin", "/usr/bin"):
                proc.fs.realpath(path)
        if target.path == whole and whole.startswith("/usr/bin/"):
            known[1][whole] = None
        return target.path

    def program(self, proc: Process, argv: Sequence[str], path: str | None = None) -> Main:
        """The `main` that executing argv would run, after the gate agreed; `path`: where argv[0] was found before.

        Raises OSError: ENOENT (no such command or file), EACCES (not executable, or refused), EISDIR, ENOTDIR,
        ENOEXEC (a binary).
        """
        name = argv[0]
        if path is None:
            path = self.find_program(proc, name) if "/" not in name else name
        if path is None:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        loaded: list[str] = []
        main = self._load(proc, path, 0, loaded)
        if self.gate is not None:
            self.gate.exec(proc, argv, loaded)
        return main

    def _load(self, proc: Process, path: str, depth: int, loaded: list[str]) -> Main:
        """`main` of the program at `path`; `loaded` gets its path and, for a script, those of its interpreters."""
        tool = self._tool_at(proc, path)
        loaded.append(tool or path)
        if tool is not None:
            return self._tool(tool.rpartition("/")[2])
        stat = proc.fs.stat(path)
        if stat.is_dir:
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not _runnable(stat):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)
        head = _head(proc, path)
        if head.startswith(b"#!"):
            return self._script(proc, path, head, depth, loaded)
        if b"\0" in head.partition(b"\n")[0] or head.startswith(b"\x7fELF"):
            raise OSError(errno.ENOEXEC, os.strerror(errno.ENOEXEC), path)
        return self._interpreted(self._load(proc, SHELL, depth + 1, loaded), [SHELL], path)

    def _tool(self, name: str) -> Main:
        cli = self.clis.get(name)
        if cli is not None:
            return cli.main
        main = commands.find(name)
        if main is None:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        return main

    def _script(self, proc: Process, path: str, head: bytes, depth: int, loaded: list[str]) -> Main:
        if depth >= 4:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        line = head[2:].partition(b"\n")[0].strip(b" \t").decode("utf-8", "surrogateescape")
        interpreter, _, argument = line.partition(" ")
        if not interpreter:
            return self._interpreted(self._load(proc, SHELL, depth + 1, loaded), [SHELL], path)
        before = [interpreter, argument.strip(" \t")] if argument.strip(" \t") else [interpreter]
        try:
            return self._interpreted(self._load(proc, interpreter, depth + 1, loaded), before, path)
        except FileNotFoundError:
            raise annotate(enoent(path), interpreter=interpreter) from None

    @staticmethod
    def _interpreted(main: Main, before: list[str], path: str) -> Main:
        def run(proc: Process) -> int:
            proc.argv = [*before, path, *proc.argv[1:]]
            return main(proc)
        return run

    def internal_error(self, proc: Process, error: Exception) -> None:
        """Keep an exception that no tool should let out; the agent only sees one line of text."""
        self.errors.append((proc.name, error))
        del self.errors[:-20]


def _runnable(stat: Stat) -> bool:
    return stat.is_file and bool(stat.mode & 0o111)


def _head(proc: Process, path: str) -> bytes:
    with proc.opened(path) as file:
        return file.read(256)
