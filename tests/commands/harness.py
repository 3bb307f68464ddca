"""Run one tool in a Process over a Memory namespace, without a shell.

    out, err, status = run_tool(["grep", "-n", "x", "a.txt"], files={"a.txt": "xyz\\n"})

The working directory is /workspace; `files` are relative to it (or absolute): text or bytes, None or a name that ends in
"/" for a directory, ("link", target) for a symbolic link. `Bench` keeps the machine for several runs.
"""
from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from mirage.machine import DEFAULT_PATH, Machine
from mirage.process.files import Capture, Source
from mirage.process.kernel import Kernel
from mirage.process.limits import Limits
from mirage.process.process import Process
from mirage.vfs.namespace import Namespace
from mirage.vfs.tree import default_mounts

Content = str | bytes | None | tuple[str, str]
ENV = {"HOME": "/home/user", "USER": "user", "LANG": "C.UTF-8", "TZ": "UTC", "PATH": DEFAULT_PATH}


class Bench:
    """A machine whose tools can be run one after the other; `internal` holds exceptions that a tool let out."""

    def __init__(self, files: Mapping[str, Content] | None = None, *, limits: Limits | None = None,
                 cwd: str = "/workspace") -> None:
        self.machine = Machine(Namespace())
        for path, mount in default_mounts(self.machine.program_names).items():
            self.machine.namespace.mount(path, mount)
        self.limits = limits or Limits(timeout=30)
        self.cwd = cwd
        self.root = self.process(["init"], cwd="/")
        self.make_directories(cwd)
        for name, content in (files or {}).items():
            self.put(name, content)

    @property
    def internal(self) -> list[tuple[str, Exception]]:
        return self.machine.errors

    def process(self, argv: Sequence[str], *, cwd: str | None = None, env: Mapping[str, str] | None = None,
                fds: Mapping[int, Any] | None = None) -> Process:
        kernel = Kernel(self.limits)
        kernel.attach()
        return Process(kernel, self.machine, argv, env={**ENV, **(env or {})}, cwd=cwd or self.cwd, fds=fds)

    def path(self, name: str) -> str:
        return name if name.startswith("/") else f"{self.cwd}/{name}"

    def make_directories(self, path: str) -> None:
        at = ""
        for part in path.strip("/").split("/"):
            at += "/" + part
            if not self.root.fs.is_dir(at):
                self.root.fs.mkdir(at)

    def put(self, name: str, content: Content) -> None:
        path = self.path(name)
        if content is None or name.endswith("/"):
            self.make_directories(path)
            return
        self.make_directories(path.rpartition("/")[0])
        if isinstance(content, tuple):
            self.root.fs.symlink(content[1], path)
        else:
            self.root.fs.write(path, content.encode() if isinstance(content, str) else content)

    def read(self, name: str) -> bytes:
        return self.root.fs.read(self.path(name))

    def run(self, argv: Sequence[str], stdin: bytes | str = b"", env: Mapping[str, str] | None = None, *,
            cwd: str | None = None) -> tuple[bytes, bytes, int]:
        """(stdout, stderr, status) of one tool; an exception that it lets out is raised here."""
        out, err = Capture("stdout"), Capture("stderr")
        source = Source(stdin.encode() if isinstance(stdin, str) else stdin)
        proc = self.process(argv, cwd=cwd, env=env, fds={0: source, 1: out, 2: err})
        before = len(self.internal)
        main = self.machine._tool(argv[0].rpartition("/")[2])
        kernel = proc.kernel
        kernel.deadline = time.monotonic() + (self.limits.timeout or 3600)
        proc.launch(main)
        kernel.run(lambda: proc.status is not None)
        if len(self.internal) > before:
            raise self.internal[-1][1]
        assert proc.status is not None
        return out.getvalue(), err.getvalue(), proc.status


def run_tool(argv: Sequence[str], files: Mapping[str, Content] | None = None, stdin: bytes | str = b"",
             env: Mapping[str, str] | None = None) -> tuple[bytes, bytes, int]:
    """(stdout, stderr, status) of one tool over a fresh machine with `files`."""
    return Bench(files).run(argv, stdin, env)
