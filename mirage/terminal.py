"""Terminal = Machine (namespace, gate, journal, CLIs) + Session (shell state): the object that a harness uses."""
from __future__ import annotations

import errno
import os
from functools import partial

from mirage.machine import DEFAULT_PATH, Machine
from mirage.mounts.document import Document
from mirage.mounts.memory import Memory
from mirage.process.limits import Limits
from mirage.shell.exec.session import Session
from mirage.vfs.facade import Actor, Files
from mirage.vfs.namespace import Namespace
from mirage.vfs.tree import default_mounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from typing import Any

    from mirage.clis.framework import VirtualCli
    from mirage.planner import Explanation
    from mirage.policy import Ask, Policy, Refusal, Verdict
    from mirage.policy.records import Effect, Usage
    from mirage.process.files import OpenFile
    from mirage.vfs.types import Mount

MERGED_LIMIT = 30_000
DEFAULT_CWD = "/workspace"


class Result:
    """What one line did.

    stdout, stderr  text; bytes that are not UTF-8 appear as backslash escapes
    exited          the line ended with `exit` (the Terminal can still be used)
    exit_code       0 to 255; 124 timeout, 130 cancelled, 137 a limit, 126 refused by the policy
    refusals        what the policy refused or held, in order
    effects         what the line changed or called, in order
    usage           calls, bytes, searches and time it took
    merged          both streams in the order they were written, cut in the middle for a model's context
    """

    __slots__ = ("_log", "effects", "exit_code", "exited", "refusals", "stderr_bytes", "stdout_bytes", "usage")

    def __init__(self, stdout: bytes, stderr: bytes, exit_code: int, log: list[tuple[str, bytes]] | None,
                 refusals: tuple[Refusal, ...] = (), effects: tuple[Effect, ...] = (),
                 usage: Usage | None = None, exited: bool = False) -> None:
        self.exited = exited
        self.stdout_bytes = stdout
        self.stderr_bytes = stderr
        self.exit_code = exit_code
        self.refusals = refusals
        self.effects = effects
        self.usage = usage
        self._log = log or []

    @property
    def stdout(self) -> str:
        return self.stdout_bytes.decode("utf-8", "backslashreplace")

    @property
    def stderr(self) -> str:
        return self.stderr_bytes.decode("utf-8", "backslashreplace")

    @property
    def merged(self) -> str:
        text = b"".join(data for _, data in self._log).decode("utf-8", "backslashreplace")
        return cut_middle(text, MERGED_LIMIT)

    def as_dict(self) -> dict[str, Any]:
        """The shape of `mirage exec --json`."""
        return {"stdout": self.stdout, "stderr": self.stderr, "exit_code": self.exit_code,
                "refusals": [r.as_dict() for r in self.refusals], "effects": [e.as_dict() for e in self.effects],
                "usage": self.usage.as_dict() if self.usage is not None else {}}

    def __repr__(self) -> str:
        return f"Result(exit_code={self.exit_code}, stdout={self.stdout!r}, stderr={self.stderr!r})"


def _guide(machine: Machine, name: str) -> str:
    from mirage import vfsmd
    if name == "skill_md":
        return vfsmd.skill_md(machine)
    return vfsmd.vfs_md(machine, machine.gate.policy if machine.gate is not None else None)


def _checked(mounts: Any, cwd: Any, env: Any, limits: Any) -> Limits:
    """The limits; TypeError or ValueError says which argument cannot be, and what to write."""
    if mounts is not None and not hasattr(mounts, "items"):
        raise TypeError(f"mounts must be a dict of path -> mount, not {type(mounts).__name__}")
    for path, mount in (mounts or {}).items():
        if not hasattr(getattr(mount, "mount", mount), "capabilities"):
            raise TypeError(f"mounts: {path}: {mount!r} is no mount; for a folder: Host(...) of mirage.mounts")
    for name, value in (env or {}).items():
        if not (isinstance(name, str) and isinstance(value, str)):
            raise TypeError(f"env: {name!r}: names and values must be texts, not {value!r}")
    if not cwd.startswith("/"):
        raise ValueError(f"cwd must be an absolute path, not {cwd!r}")
    if not isinstance(limits, Limits | None):
        raise TypeError(f"limits must be Limits(timeout=..., ...), not {type(limits).__name__}")
    return limits or Limits()


def cut_middle(text: str, limit: int) -> str:
    """`text`, or its beginning and end with a note between them how to see what was left out."""
    if len(text) <= limit:
        return text
    half = limit // 2
    left_out = len(text) - 2 * half
    note = f"\n[... {left_out:,} characters left out; save the output with > FILE and read it in parts ...]\n"
    return text[:half] + note + text[-half:]


class Terminal:
    """A virtual terminal. Use it from any thread; one line runs at a time. Also a context manager.

    mounts   path -> Mount; the usual tree (/tmp, /home/user, /workspace, /etc, /dev, /usr/bin) is there as well,
             unless "/" is given
    policy   YAML text, a file, the name of a shipped policy, or a Policy; None allows everything
    clis     virtual CLIs, each a program of /usr/bin
    on_ask   answers what the policy holds for approval; None refuses it
    journal  an SQLite file that records refusals, changes, calls and typed commands; None keeps them in memory
    tz       time zone of the terminal, an IANA name
    index    the file that `mirage index` made, which the command `search` asks
    net      hosts that curl and wget may reach (".example.com": all below it too); none by default, private ones never
    """

    def __init__(self, mounts: Mapping[str, Mount] | None = None, policy: Policy | str | Path | None = None,
                 clis: Iterable[VirtualCli] = (), cwd: str = DEFAULT_CWD, env: Mapping[str, str] | None = None,
                 limits: Limits | None = None, on_ask: Callable[[Ask], Verdict] | None = None,
                 journal: str | Path | None = None, *, tz: str = "UTC", hostname: str = "mirage",
                 clock: Callable[[], float] | None = None, net: Iterable[str] = (),
                 index: str | Path | None = None) -> None:
        limits = _checked(mounts, cwd, env, limits)
        by_name = {cli.name: cli for cli in clis}
        options: dict[str, Any] = {"clock": clock} if clock else {}
        self.machine = Machine(Namespace(), clis=by_name, hostname=hostname, tz=tz, net=net, **options)
        self.machine.index = str(index) if index is not None else None
        self._mount(mounts or {})
        if policy is not None or journal is not None or by_name:
            from mirage.policy.gate import make_gate
            self.machine.gate = make_gate(self.machine, policy, on_ask=on_ask, journal=journal)
        environment = {"HOME": "/home/user", "USER": "user", "LOGNAME": "user", "SHELL": "/bin/bash",
                       "HOSTNAME": hostname, "LANG": "C.UTF-8", "TZ": tz, "PATH": DEFAULT_PATH, "TERM": "dumb"}
        environment.update(env or {})
        if cwd == DEFAULT_CWD and not self.machine.filesystem(Actor("mirage")).is_dir(cwd):
            cwd = "/"                                        # a root of the user's own without /workspace
        self.session = Session(self.machine, limits, env=environment, cwd=cwd)
        self.fs = Files(self.machine)
        self._count_memory()

    def _mount(self, mounts: Mapping[str, Mount]) -> None:
        """The default tree, unless "/" is given, under the mounts; VFS.md and SKILL.md where nothing has the name."""
        machine = self.machine

        def clock() -> int:
            return int(machine.clock() * 1e9)

        table = dict(mounts) if "/" in mounts else {**default_mounts(machine.program_names, clock=clock), **mounts}
        for path, mount in table.items():
            machine.namespace.mount(path, mount)
        for path, write in (("/VFS.md", "vfs_md"), ("/SKILL.md", "skill_md")):
            if path not in table and not machine.filesystem(Actor("mirage")).exists(path):
                machine.namespace.mount(path, Document(partial(_guide, machine, write)))

    def _count_memory(self) -> None:
        """Files in memory count against the memory limit; a Memory that another Terminal counts already stays there."""
        kernel = self.session.kernel
        for mounted in self.machine.namespace.mounts():
            memory = mounted.mount
            if isinstance(memory, Memory) and memory.charge is None:
                memory.charge, memory.release = kernel.charge, kernel.release

    @classmethod
    def from_config(cls, path: str | Path, **overrides: Any) -> Terminal:
        """The Terminal that a mirage.yaml describes; keyword arguments override its values."""
        from mirage.config import load
        return load(path).make_terminal(**overrides)

    def run(self, text: str, stdin: bytes | str | OpenFile = b"", timeout: float | None = None, *,
            stdout: OpenFile | None = None, stderr: OpenFile | None = None, final: bool = False,
            line: int = 1) -> Result:
        """Run a line (or a script) of bash. `timeout` in seconds overrides the limit (0: none). Never raises for
        what the line does; ValueError after close().

        With `stdout` or `stderr` that stream goes there as it comes and is empty in the Result. `final` says that it is
        the last line: jobs are waited for and the EXIT trap runs at its end. `line` numbers its first line in messages.
        """
        if isinstance(stdin, str):
            stdin = stdin.encode()
        gate = self.machine.gate
        if gate is None:
            done = self.session.run(text, stdin, timeout, stdout=stdout, stderr=stderr, final=final, line=line)
            return Result(done.stdout, done.stderr, done.status, done.log, exited=done.exited)
        with gate.line(text) as record:
            done = self.session.run(text, stdin, timeout, stdout=stdout, stderr=stderr, final=final, line=line)
            record.status = done.status
        return Result(done.stdout, done.stderr, done.status, done.log, record.refusals, record.effects, record.usage,
                      done.exited)

    def explain(self, text: str) -> Explanation:
        """What a line would read, ask and change, and the calls, bytes and searches it would cost, without running it
        and without asking a service. Raises ValueError where it does not parse."""
        from mirage.planner import explain
        return explain(self, text)

    async def arun(self, text: str, stdin: bytes | str = b"", timeout: float | None = None) -> Result:
        """run() for asyncio: the line runs on the Session's own thread; cancelling the task stops the line."""
        import asyncio
        self.session.move_to_thread()
        future = asyncio.get_running_loop().run_in_executor(None, self.run, text, stdin, timeout)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            self.session.cancel()
            await asyncio.wait([future])
            raise

    @property
    def cwd(self) -> str:
        """The shell's working directory."""
        return self.session.process.cwd

    def variable_names(self) -> list[str]:
        """Names of the shell's variables, for completion."""
        return list(self.session.shell.vars)

    def function_names(self) -> list[str]:
        return list(self.session.shell.functions)

    def chdir(self, path: str) -> None:
        """What `cd` does, from outside. Raises OSError."""
        if not self.machine.filesystem(self.session.process).stat(path).is_dir:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        self.session.chdir(path)

    def cancel(self) -> None:
        """From another thread or a signal handler: stop the running line (status 130)."""
        self.session.cancel()

    def tools(self, style: str = "openai") -> list[dict[str, Any]]:
        """The tool definition for a model: "openai", "anthropic" or "mcp"."""
        from mirage.tools import definitions
        return definitions(self, style)

    def call(self, tool_name: str, arguments: Mapping[str, Any] | str) -> str:
        """Run what a model called; the text to give back to it."""
        from mirage.tools import call
        return call(self, tool_name, arguments)

    def close(self) -> None:
        """End background jobs, run the EXIT trap, close the CLIs, the journal and the mounts."""
        self.session.close()
        for cli in self.machine.clis.values():
            cli.close()
        if self.machine.gate is not None:
            self.machine.gate.close()
        self.machine.namespace.close()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
