"""The real programs, confined: every script gets a new root directory in memory, no network, no privileges, little time.

As root on Linux this needs nothing else: a small server process leaves the network, forks for every script and puts
the child into mount, pid and uts namespaces of its own, with an empty tmpfs as ``/``, the reference's ``/usr`` below
it read-only, and the uid 1000. Without root bubblewrap (``bwrap``) does the same.

`Jail(reference)`: a directory that holds a Debian 13 (made by debootstrap, say), or ``/`` for the programs of this
machine. `available` says whether it can work here, `versions` what the reference holds.
"""
from __future__ import annotations

import base64
import ctypes
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HOME = "/home/user"
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": HOME, "PWD": HOME, "USER": "user", "LOGNAME": "user",
               "SHELL": "/bin/bash", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb"}
TIME = 10.0                                                  # seconds for one script
GRACE = 0.5                                                  # seconds for processes that outlive it
OUTPUT = 4 << 20                                             # bytes read of each stream
STDIN = 60_000                                               # bytes of standard input: what a pipe takes at once
UID = 1000
MTIME = 1_700_000_000                                        # of every file: listings do not depend on the day
WANTED = {"bash": r"version 5\.2\.", "grep": r"3\.11", "sed": r"4\.9", "awk": r"GNU Awk 5\.2", "sort": r"9\.7",
          "jq": r"1\.7", "find": r"4\.10", "tar": r"1\.35"}

_NEW_MOUNTS, _NEW_UTS, _NEW_IPC, _NEW_PIDS, _NEW_NETWORK = 0x20000, 0x4000000, 0x8000000, 0x20000000, 0x40000000
_READ_ONLY, _NO_SUID, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 2, 32, 4096, 16384, 1 << 18
_ETC = {"passwd": f"root:x:0:0:root:/root:/bin/bash\nuser:x:{UID}:{UID}::{HOME}:/bin/bash\n",
        "group": f"root:x:0:\nuser:x:{UID}:\n", "nsswitch.conf": "passwd: files\ngroup: files\n"}


class Answer:
    """What a script gave; `late`: it was stopped, status and output mean nothing."""

    __slots__ = ("late", "status", "stderr", "stdout")

    def __init__(self, stdout: bytes, stderr: bytes, status: int, late: bool = False) -> None:
        self.stdout, self.stderr, self.status, self.late = stdout, stderr, status, late


def available(reference: str) -> str:
    """Why there can be no jail here; empty when there can."""
    if not sys.platform.startswith("linux"):
        return "needs Linux"
    if not os.path.exists(os.path.join(reference, "usr/bin/bash")):
        return f"no bash in {reference}"
    if os.geteuid() and shutil.which("bwrap") is None:
        return "needs root or bubblewrap (bwrap)"
    try:
        with Jail(reference) as jail:
            answer = jail.run("id -u; pwd", {})
    except (OSError, RuntimeError) as error:
        return f"no jail: {error}"
    if answer.stdout != f"{UID}\n{HOME}\n".encode():
        return f"the jail does not work: {answer.stderr.decode(errors='replace')[:200]}"
    return ""


def versions(jail: Jail) -> tuple[dict[str, str], list[str]]:
    """The first line that each program says about itself, and those that are not what Mirage follows."""
    found, other = {}, []
    for name, pattern in WANTED.items():
        found[name] = jail.run(f"{name} --version | head -n1", {}).stdout.decode(errors="replace").strip()
        if not re.search(pattern, found[name]):
            other.append(name)
    return found, other


class Jail:
    """Runs scripts one after the other; a context manager."""

    def __init__(self, reference: str) -> None:
        self.reference = reference
        self.server: subprocess.Popen[bytes] | None = None
        if os.geteuid() == 0:
            self.server = subprocess.Popen([sys.executable, __file__, reference], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE)

    def __enter__(self) -> Jail:
        return self

    def __exit__(self, *exc: object) -> None:
        if self.server is not None:
            assert self.server.stdin
            self.server.stdin.close()
            self.server.wait(10)

    def run(self, script: str, files: dict[str, bytes], stdin: bytes = b"") -> Answer:
        """`bash -c script` in a home directory with these files (relative paths)."""
        if self.server is None:
            return _bubblewrap(self.reference, script, files, stdin)
        request = {"script": script, "files": {name: _pack(data) for name, data in files.items()}, "stdin": _pack(stdin)}
        assert self.server.stdin and self.server.stdout
        self.server.stdin.write(json.dumps(request).encode() + b"\n")
        self.server.stdin.flush()
        line = self.server.stdout.readline()
        if not line:
            raise RuntimeError("the jail's server has ended")
        answer = json.loads(line)
        return Answer(base64.b64decode(answer["stdout"]), base64.b64decode(answer["stderr"]), answer["status"],
                      answer["late"])


def _pack(data: bytes) -> str:
    return base64.b64encode(data).decode()


def put_files(root: Path, files: dict[str, bytes]) -> None:
    """The files below `root`, with a fixed time; a name that ends in a slash is a directory."""
    for name, data in files.items():
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for folder, _, names in os.walk(root, topdown=False):
        for name in [*names, ""]:
            path = Path(folder) / name
            os.utime(path, (MTIME, MTIME))
            if os.geteuid() == 0:
                os.chown(path, UID, UID)


# ------------------------------------------------------------------------------------------------------- bubblewrap


def _bubblewrap(reference: str, script: str, files: dict[str, bytes], stdin: bytes) -> Answer:
    usr = os.path.join(reference, "usr")
    with tempfile.TemporaryDirectory(prefix="mirage-reference-") as scratch:
        home, etc = Path(scratch) / "home", Path(scratch) / "etc"
        home.mkdir()
        etc.mkdir()
        put_files(home, files)
        for name, text in _ETC.items():
            (etc / name).write_text(text)
        argv = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--uid", str(UID), "--gid", str(UID),
                "--hostname", "localhost", "--ro-bind", usr, "/usr", "--proc", "/proc", "--dev", "/dev",
                "--tmpfs", "/tmp", "--ro-bind", str(etc), "/etc", "--bind", str(home), HOME, "--chdir", HOME, "--clearenv"]
        for name in ("bin", "sbin", "lib", "lib64"):
            argv += ["--symlink", f"usr/{name}", f"/{name}"]
        for name, value in ENVIRONMENT.items():
            argv += ["--setenv", name, value]
        try:
            done = subprocess.run([*argv, "/bin/bash", "-c", "--", script], input=stdin, capture_output=True, timeout=TIME,
                                  preexec_fn=_limit)
        except subprocess.TimeoutExpired:
            return Answer(b"", b"", -1, late=True)
        return Answer(done.stdout, done.stderr, done.returncode & 0xFF)


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (32 << 20, 32 << 20))
    resource.setrlimit(resource.RLIMIT_CPU, (int(TIME), int(TIME)))
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


# ------------------------------------------------------------------------------------------------------- the server


_libc = ctypes.CDLL(None, use_errno=True)


def _mount(source: str | None, target: str, kind: str | None = None, flags: int = 0, data: str | None = None) -> None:
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, data)]
    if _libc.mount(texts[0], texts[1], texts[2], flags, texts[3]):
        number = ctypes.get_errno()
        raise OSError(number, f"mount {target}: {os.strerror(number)}")


def _unshare(flags: int) -> None:
    if _libc.unshare(flags):
        number = ctypes.get_errno()
        raise OSError(number, f"unshare: {os.strerror(number)}")


def serve(reference: str) -> None:
    """Answer requests, a line of JSON each, until the end of standard input."""
    _unshare(_NEW_IPC | _NEW_NETWORK)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        files = {name: base64.b64decode(text) for name, text in request["files"].items()}
        answer = _confined(reference, request["script"], files, base64.b64decode(request["stdin"]))
        reply = {"stdout": _pack(answer.stdout), "stderr": _pack(answer.stderr), "status": answer.status,
                 "late": answer.late}
        sys.stdout.buffer.write(json.dumps(reply).encode() + b"\n")
        sys.stdout.buffer.flush()


def _confined(reference: str, script: str, files: dict[str, bytes], stdin: bytes) -> Answer:
    """One script. The outer child only makes the pid namespace; the inner one is its init: all die with it."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given, feed = os.pipe()
        os.write(feed, stdin[:STDIN])
        os.close(feed)
        reader, writer = os.pipe()
        outer = os.fork()
        if not outer:
            try:
                os.close(reader)
                os.setpgid(0, 0)
                _unshare(_NEW_MOUNTS | _NEW_UTS | _NEW_PIDS)
                init = os.fork()
                if not init:
                    streams = [given, out.fileno(), err.fileno()]
                    os.write(writer, struct.pack("i", _init(reference, script, files, streams)))
                    os._exit(0)
                os.close(writer)
                signal.alarm(int(TIME) + 2)
                os.waitpid(init, 0)
            except BaseException as error:                   # said on the script's stderr
                os.write(err.fileno(), f"jail: {error}\n".encode())
            finally:
                os._exit(0)
        os.close(writer)
        os.close(given)
        os.waitpid(outer, 0)
        status = os.read(reader, 4)
        os.close(reader)
        out.seek(0)
        err.seek(0)
        code = struct.unpack("i", status)[0] if len(status) == 4 else -1
        return Answer(out.read(OUTPUT), err.read(OUTPUT), code, late=code < 0)


def _init(reference: str, script: str, files: dict[str, bytes], streams: list[int]) -> int:
    """Build the root directory, run the script in it; its status, -1 when it took too long."""
    root = Path("/mnt")                                      # any directory: what is mounted there is private
    _mount(None, "/", None, _RECURSIVE | _PRIVATE)
    _mount("tmpfs", str(root), "tmpfs", _NO_SUID, "mode=755,size=64m")
    for name in ("usr", "dev", "proc", "etc", "tmp", HOME[1:]):
        (root / name).mkdir(parents=True)
    _mount(os.path.join(reference, "usr"), str(root / "usr"), None, _BIND | _RECURSIVE)
    _mount(None, str(root / "usr"), None, _BIND | _REMOUNT | _READ_ONLY | _NO_SUID)
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / name).symlink_to("usr/" + name)
    os.umask(0)
    for name, minor in (("null", 3), ("zero", 5), ("full", 7), ("urandom", 9)):
        os.mknod(root / "dev" / name, 0o020666, os.makedev(1, minor))
    os.umask(0o022)
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        (root / "dev" / name).symlink_to("/proc/self/fd" + target)
    _mount("proc", str(root / "proc"), "proc", _NO_SUID)
    for name, text in _ETC.items():
        (root / "etc" / name).write_text(text)
    (root / "tmp").chmod(0o1777)
    _libc.sethostname(b"localhost", 9)
    put_files(root / HOME[1:], files)
    child = os.fork()
    if not child:
        _become(root, script, streams)
    ended = time.monotonic() + TIME
    while time.monotonic() < ended:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            _let_finish()
            return code if code >= 0 else 128 - code
        time.sleep(0.001)
    return -1


def _let_finish() -> None:
    """What the script left running may still write, as `echo x > >(cat)` does."""
    ended = time.monotonic() + GRACE
    try:
        while time.monotonic() < ended:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.003)
    except ChildProcessError:
        return


def _become(root: Path, script: str, streams: list[int]) -> Any:
    """The child: no privileges any more, then bash."""
    try:
        os.setpgid(0, 0)
        os.chroot(root)
        os.chdir(HOME)
        os.setgroups([])
        os.setresgid(UID, UID, UID)
        os.setresuid(UID, UID, UID)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, 256)
        resource.setrlimit(resource.RLIMIT_NPROC, (200, 200))
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        _limit()
        os.execve("/bin/bash", ["bash", "-c", "--", script], ENVIRONMENT)
    finally:
        os._exit(125)


if __name__ == "__main__":
    serve(sys.argv[1])
