"""Mirage as an engine of a case runner: `run.py --engine tests/conformance/engine.py:MirageEngine`.

The runner (outside this project) gives each case a forked process: files, stdin, script; we answer with stdout,
stderr and exit status.
"""
from __future__ import annotations

import contextlib
import posixpath
from typing import Any

from run import Engine, Outcome

ENVIRONMENT = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC", "LOGNAME": "user", "SHELL": "/bin/bash"}


class MirageEngine(Engine):
    """One Terminal per case, with the case's files in memory."""

    name = "mirage"

    def preload(self) -> None:
        import mirage.terminal
        from mirage import commands
        from mirage.shell import parse
        parse.parse("echo hi")
        for name in ("cat", "grep", "sed", "awk", "jq", "sort", "ls", "find", "head", "wc", "bash"):
            with contextlib.suppress(ImportError, AttributeError):
                commands.find(name)
        self.terminal = mirage.terminal.Terminal

    def version(self) -> str:
        import mirage
        return mirage.__version__

    def run(self, case: Any) -> Any:
        from mirage.shell.exec.traps import set_trap
        with self.terminal(cwd="/", env={**ENVIRONMENT, **case.env}) as terminal:
            root = terminal.machine.namespace.find("/").mount
            root.setattr("/", uid=1000, gid=1000)            # the cases expect a root directory of the user
            for path in [case.cwd + "/", *case.files]:
                self.put(root, path, case.files.get(path, b""))
            terminal.chdir(posixpath.normpath(case.cwd))
            set_trap(terminal.session.shell, "XFSZ", "")     # the recorded answers come from below a Python, which does
            result = terminal.run(case.script, stdin=case.stdin, timeout=30, final=True)
            return Outcome(result.stdout_bytes, result.stderr_bytes, result.exit_code)

    @staticmethod
    def put(root: Any, path: str, data: bytes) -> None:
        """A file (or, with a final slash, a directory) of the user, with the directories above it."""
        names = [name for name in path.split("/") if name]
        folders = names if path.endswith("/") else names[:-1]
        for i in range(len(folders)):
            try:
                root.mkdir("/" + "/".join(folders[:i + 1]), 0o755, 1000, 1000)
            except FileExistsError:
                continue
        if not path.endswith("/"):
            root.replace("/" + "/".join(names), data, 0o644, 1000, 1000)
