"""The same script in a Terminal."""
from __future__ import annotations

import posixpath

from mirage.terminal import Terminal
from tests.differential.jail import ENVIRONMENT, HOME, MTIME, TIME, UID, Answer


def run(script: str, files: dict[str, bytes], stdin: bytes = b"") -> Answer:
    """What Mirage gives; an internal error counts as status -2."""
    env = {name: value for name, value in ENVIRONMENT.items() if name not in ("HOME", "PWD")}
    with Terminal(cwd="/", env=env) as terminal:
        root = terminal.machine.namespace.find("/").mount
        made = set()
        for name, data in {"": b"", **files}.items():
            path = posixpath.normpath(f"{HOME}/{name}")
            folders = [part for part in (path if name.endswith("/") or not name else posixpath.dirname(path)).split("/") if part]
            for depth in range(1, len(folders) + 1):
                folder = "/" + "/".join(folders[:depth])
                if folder not in made:
                    made.add(folder)
                    try:
                        root.mkdir(folder, 0o755, UID, UID)
                    except FileExistsError:
                        pass
            if name and not name.endswith("/"):
                root.replace(path, data, 0o644, UID, UID)
                made.add(path)
        for path in made:
            root.setattr(path, atime_ns=MTIME * 10**9, mtime_ns=MTIME * 10**9)
        terminal.chdir(HOME)
        result = terminal.run(script, stdin=stdin, timeout=TIME, final=True)
        status = -2 if terminal.machine.errors else result.exit_code
        return Answer(result.stdout_bytes, result.stderr_bytes, status, late=b"mirage: timeout" in result.stderr_bytes)
