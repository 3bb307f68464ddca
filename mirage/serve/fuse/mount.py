"""Mounting and unmounting: mount(2) where that is allowed (root, also of a user namespace), else through fusermount3.

Attempts are bounded: a mount(2) that hangs, as one may behind a connection that is just being closed, ends in an error.
"""
from __future__ import annotations

import array
import contextlib
import ctypes
import errno
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

DEVICE = "/dev/fuse"
KIND = "fuse.vfs"
SECONDS = 5.0                                                # for all attempts together
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REC, MS_SLAVE = 1, 2, 4, 1 << 14, 1 << 19
MNT_DETACH = 2
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000


class MountError(OSError):
    """The mount could not be made; the message says why."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(number, message)

    def __str__(self) -> str:
        return str(self.strerror)


class MountPoint:
    """A line of /proc/self/mountinfo about a file system of ours."""

    __slots__ = ("device", "kind", "options", "path", "source")

    def __init__(self, path: str, device: str, kind: str, source: str, options: str) -> None:
        self.path = path
        self.device = device
        self.kind = kind
        self.source = source
        self.options = options

    @property
    def dead(self) -> bool:
        """Is nobody serving it any more?"""
        try:
            os.stat(self.path)
        except OSError as e:
            return e.errno in (errno.ENOTCONN, errno.ECONNABORTED)
        return False


_libc = ctypes.CDLL(None, use_errno=True)


def _system(function: str, *args: object) -> None:
    """A call of libc that returns -1 and sets errno. OSError."""
    if getattr(_libc, function)(*args) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def mount_fuse(mountpoint: str, *, source: str, kind: str = KIND, checked: bool = True, allow_other: bool = False,
               readonly: bool = False) -> int:
    """Mount on a directory; the descriptor of the connection, which is to be served at once.

    checked      the kernel checks mode bits (default_permissions)
    allow_other  other users than the one who mounts may enter
    MountError: what was tried and why it failed.
    """
    if not os.path.exists(DEVICE):
        raise MountError(errno.ENODEV, f"there is no {DEVICE}: this system cannot mount FUSE file systems")
    until = time.monotonic() + SECONDS
    failure: OSError | None = None
    try:
        return _by_kernel(mountpoint, source, kind, checked, allow_other, readonly, until)
    except OSError as e:
        failure = e
    if failure.errno in (errno.EPERM, errno.EACCES):
        program = shutil.which("fusermount3") or shutil.which("fusermount")
        if program is None:
            raise MountError(failure.errno, f"cannot mount on {mountpoint}: {failure.strerror}, and there is no "
                             "fusermount3 (package fuse3), which lets an ordinary user mount")
        return _by_helper(program, mountpoint, source, kind, checked, allow_other, readonly, until)
    if isinstance(failure, MountError):
        raise failure
    raise MountError(failure.errno or errno.EIO, f"cannot mount on {mountpoint}: {failure.strerror}")


def _by_kernel(mountpoint: str, source: str, kind: str, checked: bool, allow_other: bool, readonly: bool,
               until: float) -> int:
    device = os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC)       # in the user namespace that mounts
    options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
    options += (",default_permissions" if checked else "") + (",allow_other" if allow_other else "")
    flags = MS_NOSUID | MS_NODEV | (MS_RDONLY if readonly else 0)
    try:
        _bounded(lambda: _system("mount", os.fsencode(source), os.fsencode(mountpoint), kind.encode(), flags,
                                 options.encode()), until, mountpoint)
    except BaseException:
        os.close(device)
        raise
    return device


def _bounded(call: Callable[[], None], until: float, mountpoint: str) -> None:
    """call(), tried again while the device is busy; MountError ETIMEDOUT where it does not return in time."""
    while True:
        result: list[BaseException | None] = []

        def attempt(result: list[BaseException | None] = result) -> None:
            try:
                call()
                result.append(None)
            except BaseException as e:
                result.append(e)

        thread = threading.Thread(target=attempt, daemon=True)
        thread.start()
        thread.join(max(0.1, until - time.monotonic()))
        if not result:
            raise MountError(errno.ETIMEDOUT, f"cannot mount on {mountpoint}: mount(2) did not return within "
                             f"{SECONDS:.0f} seconds; wait a little and try again")
        failure = result[0]
        if failure is None:
            return
        if not isinstance(failure, OSError) or failure.errno not in (errno.EBUSY, errno.EAGAIN, errno.EINTR) \
                or time.monotonic() > until:
            raise failure
        time.sleep(0.1)


def _by_helper(program: str, mountpoint: str, source: str, kind: str, checked: bool, allow_other: bool,
               readonly: bool, until: float) -> int:
    """fusermount3 mounts, and sends the descriptor through a socket."""
    options = ["nosuid", "nodev", f"fsname={_escaped(source)}", f"subtype={kind.partition('.')[2]}"]
    options += ["default_permissions"] * checked + ["allow_other"] * allow_other + ["ro"] * readonly
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen([program, "-o", ",".join(options), "--", mountpoint], pass_fds=[theirs.fileno()],
                                   env={**os.environ, "_FUSE_COMMFD": str(theirs.fileno())}, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        theirs.close()
        ours.settimeout(max(0.1, until - time.monotonic()))
        received = array.array("i")
        try:
            _, ancillary, _, _ = ours.recvmsg(1, socket.CMSG_SPACE(received.itemsize))
            for level, what, data in ancillary:
                if (level, what) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    received.frombytes(data[:received.itemsize])
        except TimeoutError:
            process.kill()
        message = process.communicate()[1].decode(errors="replace").strip()
    if not received:
        raise MountError(errno.EPERM, f"cannot mount on {mountpoint}: {message or f'{program} failed'}")
    os.set_inheritable(received[0], False)
    return received[0]


def _escaped(source: str) -> str:
    return source.replace("\\", "\\\\").replace(",", "\\,")


def unmount(mountpoint: str, lazy: bool = True) -> None:
    """Take the mount away; `lazy`: also while it is in use, it goes when its last user has gone. OSError."""
    try:
        _system("umount2", os.fsencode(mountpoint), MNT_DETACH if lazy else 0)
        return
    except OSError as e:
        if e.errno != errno.EPERM:
            raise
    program = shutil.which("fusermount3") or shutil.which("fusermount")
    if program is None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM), mountpoint)
    done = subprocess.run([program, "-u", *(["-z"] if lazy else []), "--", mountpoint], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=SECONDS, check=False)
    if done.returncode:
        message = done.stderr.decode(errors="replace").strip()
        raise OSError(errno.EBUSY if "busy" in message else errno.EPERM, message, mountpoint)


def mounts(kind: str | None = KIND) -> list[MountPoint]:
    """The mounts of our kind that this process sees (None: of every FUSE kind), in the order they were made."""
    found = []
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            left, _, right = line.rstrip("\n").partition(" - ")
            fields, (there, source, options) = left.split(" "), right.split(" ", 2)
            if there == kind or kind is None and there.partition(".")[0] == "fuse":
                found.append(MountPoint(_plain(fields[4]), fields[2], there, _plain(source), options))
    return found


def _plain(text: str) -> str:
    """Octal escapes of mountinfo."""
    parts = text.split("\\")
    return parts[0] + "".join(chr(int(part[:3], 8)) + part[3:] if part[:3].isdigit() else "\\" + part
                              for part in parts[1:])


def mounted_at(path: str) -> MountPoint | None:
    """The last of our mounts that was made at a path."""
    real = os.path.abspath(path)
    return next((m for m in reversed(mounts()) if m.path == real), None)


def detach_dead(path: str) -> bool:
    """Take a mount away that a killed server left behind at a path. Was there one?"""
    found = mounted_at(path)
    if found is None or not found.dead:
        return False
    unmount(found.path)
    return True


def users(point: MountPoint) -> list[int]:
    """The processes that have a directory or a file of the mount open. Those of others are not seen by a plain user."""
    major, _, minor = point.device.partition(":")
    device = os.makedev(int(major), int(minor))
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        places = [f"/proc/{pid}/cwd", f"/proc/{pid}/root"]
        with contextlib.suppress(OSError):
            places += [f"/proc/{pid}/fd/{fd}" for fd in os.listdir(f"/proc/{pid}/fd")]
        for place in places:
            with contextlib.suppress(OSError):
                if os.readlink(place).startswith(point.path) and os.stat(place).st_dev == device:
                    found.append(int(pid))
                    break
    return found


def private_namespace() -> bool:
    """Give this process a mount namespace of its own, which ends with it and its children. False: not allowed.

    Whoever may not do that makes a user namespace around it, in which he keeps his numbers.
    """
    uid, gid = os.getuid(), os.getgid()
    try:
        _system("unshare", CLONE_NEWNS)
    except OSError:
        try:
            _alone()
            _system("unshare", CLONE_NEWNS | CLONE_NEWUSER)
            for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
                with open(f"/proc/self/{name}", "w") as file:
                    file.write(text)
        except OSError:
            return False
    _system("mount", b"none", b"/", None, MS_REC | MS_SLAVE, None)
    return True


def _alone() -> None:
    """Wait for threads that have ended to be gone for the kernel too: only a single thread gets a user namespace."""
    until = time.monotonic() + 1
    while len(os.listdir("/proc/self/task")) > 1 and time.monotonic() < until:
        time.sleep(0.005)


def stop_signals(signals: tuple[int, ...] = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)) -> threading.Event:
    """An event that these signals set, for a server that waits for its end. Call it from the main thread."""
    wanted = threading.Event()
    for number in signals:
        signal.signal(number, lambda *_: wanted.set())
    return wanted
