"""What the FileSystem asks of a policy gate, and the handle that keeps asking after open.

The gate is `machine.gate`; None means that nothing is forbidden. It lives in mirage/policy; this module knows
only its shape. Every question comes before the mount is called, after links were resolved.

Which effects an operation asks for (`x` is the resolved Target):

  stat, lstat, readlink, access        stat x
  list, walk, opening a directory      list x (each directory of a walk)
  read, open for reading               read x
  open O_CREAT, mkdir, mkfifo (new)    create x
  open for writing, append             write x; O_TRUNC of a file that is not empty: destroy x instead
  truncate, Handle.truncate            destroy x when it gets shorter, else write x
  unlink, rmdir                        destroy x; then `moving` where the file has other names
  rename old new                       destroy old; create new, or destroy new where it exists
                                       (subtree=True when a directory moves: rules below either name
                                       count); then `moving`
  link src dst                         link src, link dst, create dst; then `moving`
  symlink dst                          link dst, create dst
  chmod, chown, utime, setxattr        setattr x
  candidates (search push-down)        search x

Opening a character device (/dev/null) is not asked about, only whether it is visible: nothing in it can
change. Resolution asks `visible` for the place itself, for every link it goes through and every directory it
leaves by `..` (also `passable` for these two); a second time with `stat` set for a file with several hard links,
whose other names the gate finds with `linked`. An error that tells whether a name exists is first shown to
`reveals`. What an operation changed is reported with `done` once the mount has carried it out.
"""
from __future__ import annotations

from mirage.vfs.handles import flush
from mirage.vfs.types import S_IFDIR, S_IFMT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from mirage.vfs.resolve import Target
    from mirage.vfs.types import Entry, Handle, Stat
else:
    Protocol = object

EFFECTS = ("stat", "list", "read", "search", "create", "write", "destroy", "setattr", "link")


class Gate(Protocol):
    """The policy's side. All methods are thread-safe and may block only through mirage.process.blocking."""

    def check(self, effect: str, target: Target, proc: Any, subtree: bool = False) -> None:
        """Return, or raise: PermissionError (EACCES) with `note`, or FileNotFoundError for what is hidden.

        `target.stat` is None for a name that does not exist yet. `proc`: the process, or the Actor of a door.
        `subtree`: whatever lies below the target takes part as well.
        """

    def moving(self, old: Target, new: Target | None, directory: bool, proc: Any) -> None:
        """A rename or hard link to `new`, its effects allowed: may the object leave the rules about `old`?

        `new` is None where the name goes and the file lives on under other ones.
        """

    def allows(self, effect: str, target: Target, proc: Any) -> bool:
        """The same question without consequences: no journal record, no question to the owner."""

    hides: bool
    """Is anything hidden at all?"""

    def refuses(self, effect: str, target: Target) -> bool:
        """Is the answer a refusal, whoever asks? Without consequences, as `allows`."""

    def refuses_below(self, effect: str, directory: Target) -> bool:
        """May a rule refuse this effect for something in the directory? Says nothing of what is there."""

    def visible(self, target: Target) -> bool:
        """False where the policy hides the target, or anything above it."""

    def filter(self, directory: Target, entries: list[Entry]) -> list[Entry]:
        """The entries of a listing without the hidden ones; may return the same list.

        An entry that `stat` is refused for has no `stat` afterwards.
        """

    def kinds(self, directory: Target, entries: list[Entry]) -> dict[str, Stat]:
        """For a walk: of the entries that `stat` is refused for, a Stat that only tells the kind."""

    def passable(self, target: Target) -> bool:
        """May a path lead through this link, or leave this directory by `..`?"""

    def reveals(self, target: Target, proc: Any) -> None:
        """An error is about to tell something of the target: PermissionError where `stat` is refused for it."""

    def shown(self, stat: Stat) -> Stat:
        """The Stat to show: a directory's link count must not count hidden directories."""

    def moved(self, effect: str, target: Target, size: int, proc: Any) -> None:
        """`size` bytes were read, or will be written (journal sums, `limit`); may raise like check."""

    def done(self, effect: str, target: Target, proc: Any) -> None:
        """The mount has carried out what `check` allowed."""


def linked(mount: Any) -> dict[tuple[int, int], list[str]]:
    """identity -> every path in the mount, of the files with several hard links. Reads the whole tree."""
    found: dict[tuple[int, int], list[str]] = {}
    todo = [""]
    while todo:
        at = todo.pop()
        try:
            entries = mount.list(at or "/")
        except OSError:
            continue
        for entry in entries:
            try:
                stat = entry.stat or mount.stat(f"{at}/{entry.name}")
            except OSError:
                continue
            if stat.mode & S_IFMT == S_IFDIR:
                todo.append(f"{at}/{entry.name}")
            elif stat.nlink > 1:
                found.setdefault(stat.identity, []).append(f"{at}/{entry.name}")
    return found


class GatedHandle:
    """An open file under a gate: counts what is moved, and asks before the file gets shorter."""

    __slots__ = ("_gate", "_handle", "_proc", "_target", "_written", "is_dir", "seekable", "stat")

    def __init__(self, handle: Handle, gate: Gate, target: Target, proc: Any) -> None:
        self._handle = handle
        self._gate = gate
        self._target = target
        self._proc = proc
        self.seekable = handle.seekable
        self.stat = handle.stat
        self.is_dir = False
        self._written = False

    def pread(self, size: int, offset: int) -> bytes:
        data = self._handle.pread(size, offset)
        self._gate.moved("read", self._target, len(data), self._proc)
        return data

    def pwrite(self, data: bytes, offset: int) -> int:
        self._gate.moved("write", self._target, len(data), self._proc)
        end = self._handle.pwrite(data, offset)
        if not self._written:
            self._written = True
            self._gate.done("write", self._target, self._proc)
        return end

    def truncate(self, size: int) -> None:
        effect = "write"
        if size < (self._handle.stat().size or 0):
            effect = "destroy"
            self._gate.check(effect, self._target, self._proc)
        self._handle.truncate(size)
        self._gate.done(effect, self._target, self._proc)

    def count_lines(self) -> int | None:
        ask = getattr(self._handle, "count_lines", None)
        number: int | None = ask() if ask is not None else None
        return number

    def last_lines(self, count: int) -> bytes | None:
        ask = getattr(self._handle, "last_lines", None)
        data: bytes | None = ask(count) if ask is not None else None
        if data is not None:
            self._gate.moved("read", self._target, len(data), self._proc)
        return data

    def lines_with(self, queries: Any) -> Handle | None:
        ask = getattr(self._handle, "lines_with", None)
        found = ask(queries) if ask is not None else None
        return None if found is None else GatedHandle(found, self._gate, self._target, self._proc)

    def flush(self) -> None:
        flush(self._handle)

    def sync(self) -> None:
        self._handle.sync()

    def close(self) -> None:
        self._handle.close()
