"""Mounts for tests: the program `vfs` (or `mirage`) serves in a process of its own, which dies with the test's."""
from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VFS = (sys.executable, "-m", "mirage.console.vfs.main")
MIRAGE = (sys.executable, "-m", "mirage.console")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
PROBE = """
import os, sys
from mirage.serve.fuse.mount import mount_fuse, private_namespace
try:
    private_namespace()
    mount_fuse(sys.argv[1], source="probe")
except OSError as e:
    sys.exit(str(e))
os._exit(0)
"""


@functools.lru_cache(maxsize=1)
def why_not() -> str:
    """Why nothing can be mounted here; "" where it can."""
    if not sys.platform.startswith("linux"):
        return "FUSE mounts need Linux"
    if not os.path.exists("/dev/fuse"):
        return "there is no /dev/fuse"
    if os.geteuid():
        return "mounting for the tests needs root"
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run([sys.executable, "-c", PROBE, place], env=ENVIRONMENT, capture_output=True, text=True,
                              timeout=30)
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


needs_mount = pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")


def needs(*programs: str) -> pytest.MarkDecorator:
    import shutil
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not installed")


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


class Served:
    """A database, or what other words say, mounted at `path`; `process` serves it."""

    def __init__(self, command: Sequence[str | os.PathLike[str]], path: Path, errors: Path) -> None:
        self.path = path
        self.errors = errors
        with errors.open("wb") as file:
            self.process = subprocess.Popen([os.fspath(c) for c in command], env=ENVIRONMENT, stdout=subprocess.PIPE,
                                            stderr=file, preexec_fn=_die_with_parent)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.startswith(b"Mounted"):
            self.process.wait(10)
            raise RuntimeError(f"not mounted: {errors.read_text()}")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End the server; its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return status


@contextlib.contextmanager
def served(database: Path, path: Path, *words: str) -> Iterator[Served]:
    """`vfs mount -f DATABASE PATH`; the database is made where it is missing."""
    from mirage.mounts import Vfs
    path.mkdir(exist_ok=True)
    if not database.exists():
        Vfs(database).close()
    mounted = Served([*VFS, "mount", "-f", "--system", database, path, *words], path, path.parent / f"{path.name}.err")
    try:
        yield mounted
    finally:
        mounted.stop()
        gone(path)


def gone(path: Path, patience: float = 10.0) -> None:
    """Nothing is mounted at the path any more, not even what nobody serves (which os.path.ismount does not see)."""
    from mirage.serve.fuse.mount import mounts
    until = time.monotonic() + patience

    def there() -> bool:
        return any(point.path == os.path.realpath(path) for point in mounts(None))

    while there() and time.monotonic() < until:
        time.sleep(0.05)
    assert not there()


def run(*words: str | os.PathLike[str], cwd: Path | None = None, timeout: float = 60,
        env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([os.fspath(w) for w in words], cwd=cwd, env=env or ENVIRONMENT, capture_output=True, text=True,
                          timeout=timeout, stdin=subprocess.DEVNULL)


def ok(*words: str | os.PathLike[str], cwd: Path | None = None, timeout: float = 60) -> str:
    done = run(*words, cwd=cwd, timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
