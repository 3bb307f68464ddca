"""`vfs mount`, `vfs exec`, `vfs init -c`, `vfs prune mounts`. Status 4: the mount could not be made."""
from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

from mirage.console.vfs.model import Failure, UsageError
from mirage.console.vfs.opening import locate, open_database
from mirage.console.vfs.private import private_temporary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mirage.console.vfs.model import Parsed
    from mirage.console.vfs.nfs_backend import NfsMounted
    from mirage.mounts.vfs import Vfs
    from mirage.serve.fuse.mounted import Mounted
    from mirage.vfs.inodes import Inodes

NO_MOUNT = 4
MISSING = "the following required arguments were not provided:\n  "


# ---- vfs mount

def mount(parsed: Parsed) -> int:
    if parsed.get("ID_OR_PATH") is None:
        return list_mounts()
    if parsed.get("MOUNTPOINT") is None:
        raise UsageError(f"{MISSING}<MOUNTPOINT>", parsed.command)
    check_backend(parsed)
    if parsed.get("ID_OR_PATH") == ":memory:":
        raise Failure("a database in memory ends with this program: there is nothing to mount")
    path = os.path.abspath(locate(parsed.get("ID_OR_PATH")))
    parsed.values["ID_OR_PATH"] = path
    mountpoint = os.path.abspath(parsed.get("MOUNTPOINT"))
    if parsed.get("foreground"):
        return _serve(parsed, mountpoint, lambda: print(f"Mounted {path} on {mountpoint}", flush=True))
    return in_background(lambda ready: _serve(parsed, mountpoint, ready))


def list_mounts() -> int:
    from mirage.serve.fuse.mount import mounts
    found = mounts()
    if not found:
        print("No mounts.")
    for point in found:
        print(f"{point.source} on {point.path}{' (dead: its server is gone)' if point.dead else ''}")
    return 0


def check_backend(parsed: Parsed) -> None:
    if parsed.get("backend") == "nfs":
        from mirage.console.vfs.nfs_backend import why_not
        if reason := why_not():
            raise Failure(f"{reason}; use --backend fuse", NO_MOUNT)


def _serve(parsed: Parsed, mountpoint: str, ready: Callable[[], None]) -> int:
    """Mount, say so, and serve until it is unmounted or a signal comes."""
    from mirage.serve.fuse.mount import stop_signals
    stop = stop_signals()
    with open_database(parsed) as vfs, mounting(vfs, mountpoint, parsed) as mounted:
        ready()
        while not mounted.wait(0) and not stop.wait(0.1):
            pass
    return 0


@contextlib.contextmanager
def mounting(vfs: Vfs, mountpoint: str, parsed: Parsed) -> Iterator[Mounted | NfsMounted]:
    """The database, or its layer, on a directory. Failure with status 4."""
    if parsed.get("backend") == "nfs":
        from mirage.console.vfs.nfs_backend import NfsMounted
        with NfsMounted(vfs, inodes_of(vfs, parsed)[0], mountpoint) as exported:
            yield exported
        return
    from mirage.serve.fuse.mounted import Mounted
    allow: bool | str = bool(parsed.get("system")) or ("root" if parsed.get("allow_root") else False)
    try:
        inodes, places = inodes_of(vfs, parsed)
        from mirage.vfs.paths import refuse_own_mountpoint
        refuse_own_mountpoint(places, mountpoint)
        mounted = Mounted(inodes, mountpoint, source=vfs.path, allow_other=allow, readonly=vfs.db.readonly)
    except ValueError as e:
        raise Failure(str(e), NO_MOUNT) from None
    except OSError as e:
        raise Failure(str(e) if e.filename is None else f"{e.filename}: {e.strerror}", NO_MOUNT) from None
    with mounted:
        yield mounted


def inodes_of(vfs: Vfs, parsed: Parsed) -> tuple[Inodes, list[str]]:
    """What is served, and the places of the host that it consists of."""
    from mirage.mounts.vfs.inodes import TreeInodes
    from mirage.mounts.vfs.maintenance import layer_of
    from mirage.vfs.inodes import Owners
    options = {}
    if parsed.get("partial_origin"):
        options["partial"] = parsed.get("partial_origin")
    if parsed.get("partial_origin_threshold_bytes") is not None:
        options["threshold"] = _number(parsed, "partial_origin_threshold_bytes", "BYTES")
    me, uid, gid = (os.getuid(), os.getgid()), _number(parsed, "uid", "UID"), _number(parsed, "gid", "GID")
    layer = layer_of(vfs, **options)
    if layer is vfs.mount:
        return TreeInodes(vfs.mount, Owners(me, uid, gid), alone=True), [vfs.path]
    from mirage.vfs.paths import folders, of_mount
    return of_mount(layer, Owners(me, uid, gid, swap=False)), folders(layer)


def _number(parsed: Parsed, name: str, placeholder: str) -> int | None:
    text = parsed.get(name)
    if text is None:
        return None
    if not text.isdigit():
        raise UsageError(f"invalid value '{text}' for '--{name.replace('_', '-')} <{placeholder}>'", parsed.command)
    return int(text)


def in_background(serve: Callable[[Callable[[], None]], int]) -> int:
    """serve(ready) in a process of its own, which goes on after this one has returned; its failure is this one's."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        os.close(writer)
        with os.fdopen(reader, "rb") as file:
            if file.read(1) == b"+":
                return 0
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(reader)
    os.setsid()
    private_temporary().open()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def ready() -> None:
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        os.close(null)
        os.chdir("/")
        os.write(writer, b"+")
        os.close(writer)

    return serve(ready)


# ---- vfs exec

def execute(parsed: Parsed) -> int:
    check_backend(parsed)
    return run_inside(parsed, parsed.get("COMMAND"))


def run_inside(parsed: Parsed, command: Sequence[str]) -> int:
    """Mount at a private place, run the command there, unmount. Its exit status, 128 + N after signal N."""
    return inside(parsed, lambda vfs, place: run(command, place))


def inside(parsed: Parsed, work: Callable[[Vfs, str], int], create: bool = False) -> int:
    """work(database, directory) with the database mounted at a private directory; `create`: it is made if missing."""
    from mirage.serve.fuse.mount import private_namespace
    if os.geteuid() == 0:
        private_namespace()                                  # nobody else sees the mount, and it ends with this process
    place = private_temporary().mountpoint()
    with open_database(parsed, create=create) as vfs:
        try:
            with mounting(vfs, place, parsed):
                return work(vfs, place)
        except Failure as e:
            if e.status != NO_MOUNT or os.geteuid() == 0:
                raise
            failure = e
    if not private_namespace():                              # an ordinary user without fusermount3
        raise failure
    with open_database(parsed) as vfs, mounting(vfs, place, parsed):
        return work(vfs, place)


def run(command: Sequence[str], place: str) -> int:
    """The command with `place` as its directory; signals that end this process go to it."""
    env = {**private_temporary().environment(), "PWD": place}
    env.pop("VFS_KEY", None)                                 # the program gets the files, not the key
    waiting: list[int] = []
    pass_on: Callable[[int], object] = waiting.append

    def came(number: int, frame: object) -> None:
        if number in (signal.SIGTERM, signal.SIGHUP):        # the keyboard's reach the program anyway
            pass_on(number)

    before = {number: signal.signal(number, came)
              for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
              if signal.getsignal(number) != signal.SIG_IGN}
    try:
        process = subprocess.Popen(list(command), cwd=place, env=env)
        pass_on = process.send_signal
        for number in waiting:                               # came before there was anybody to get it
            process.send_signal(number)
        status = process.wait()
    except FileNotFoundError:
        print(f"Error: {command[0]}: command not found", file=sys.stderr)
        return 127
    except OSError as e:
        print(f"Error: {command[0]}: {e.strerror}", file=sys.stderr)
        return 126
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return status if status >= 0 else 128 - status


# ---- vfs prune mounts

def prune(parsed: Parsed) -> int:
    """Unmount what nobody uses: mounts whose server is gone, and those that no process has anything open in."""
    from mirage.serve.fuse.mount import mounts, unmount, users
    found = [point for point in mounts() if point.dead or not users(point)]
    if not found:
        print("No unused mounts.")
        return 0
    for point in found:
        print(f"{point.source} on {point.path}{' (dead)' if point.dead else ''}")
    if not parsed.get("force") and not _confirmed(len(found)):
        print("Nothing was unmounted.")
        return 1
    failed = 0
    for point in found:
        try:
            unmount(point.path)
            print(f"Unmounted {point.path}")
        except OSError as e:
            failed += 1
            print(f"Error: {point.path}: {e.strerror}", file=sys.stderr)
    return 1 if failed else 0


def _confirmed(count: int) -> bool:
    sys.stdout.write(f"Unmount {'it' if count == 1 else f'these {count}'}? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
