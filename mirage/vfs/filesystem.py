"""The gated namespace as one process sees it: proc.fs. Paths may be relative to the process's directory.

Every operation resolves its path, asks the gate (mirage/vfs/gateway.py says what), checks mode bits as the
kernel would for the user, and only then calls the mount. Every error is an OSError whose filename is the path
given.
"""
from __future__ import annotations

import errno
import os

from mirage.vfs.gateway import GatedHandle
from mirage.vfs.handles import DirectoryHandle, FifoHandle, RangeHandle
from mirage.vfs.resolve import Target, parent_stat, resolve
from mirage.vfs.types import (
    GID,
    S_IFCHR,
    S_IFDIR,
    S_IFIFO,
    S_IFLNK,
    S_IFMT,
    UID,
    Entry,
    Stat,
    error,
    permitted,
    unprivileged,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator
    from typing import Any

    from mirage.vfs.namespace import Mounted
    from mirage.vfs.types import Handle

    OnError = Callable[[str, OSError], None]
    Entries = list[Entry]
    Names = list[str]

READ, WRITE, SEARCH = 4, 2, 1
STICKY = 0o1000


class FileSystem:
    """`machine` gives namespace and gate; `proc` gives cwd, umask and (where it has one) kernel."""

    __slots__ = ("machine", "proc")
    uid = UID
    gid = GID

    def __init__(self, machine: Any, proc: Any) -> None:
        self.machine = machine
        self.proc = proc

    # ---- resolution and checks

    def _find(self, path: str, follow: bool = True, create: bool = False) -> Target:
        if not path:
            raise error(errno.ENOENT, path)
        machine = self.machine
        whole = path if path[0] == "/" else f"{self.proc.cwd}/{path}"
        try:
            return resolve(machine.namespace.table, whole, follow, self.uid, machine.gate, create)
        except OSError as e:
            e.filename = path
            place = getattr(e, "place", None)
            if machine.gate is not None and place is not None:
                self._reveals(place, path)
            raise

    def _reveals(self, target: Target, path: str) -> None:
        """Before an error that tells something of `target`: EACCES instead where it may not be looked at."""
        try:
            self.machine.gate.reveals(target, self.proc)
        except OSError as e:
            e.filename = path
            del e.filename2
            raise

    def _error(self, target: Target, number: int, path: str, path2: str | None = None) -> OSError:
        """The error to raise, unless the gate has a say: then that."""
        if self.machine.gate is not None:
            self._reveals(target, path)
        return error(number, path, path2)

    def _done(self, *effects: tuple[str, Target]) -> None:
        gate = self.machine.gate
        if gate is not None:
            for effect, target in effects:
                gate.done(effect, target, self.proc)

    def _ask(self, effect: str, target: Target, path: str, subtree: bool = False) -> None:
        gate = self.machine.gate
        if gate is not None:
            try:
                gate.check(effect, target, self.proc, subtree)
            except OSError as e:
                e.filename = path
                del e.filename2
                raise

    def _ask_moving(self, old: Target, new: Target | None, path: str, directory: bool) -> None:
        gate = self.machine.gate
        if gate is not None:
            try:
                gate.moving(old, new, directory, self.proc)
            except OSError as e:
                e.filename = path
                del e.filename2
                raise

    def _need(self, stat: Stat | None, want: int, path: str) -> None:
        if stat is None or not permitted(stat, want, self.uid, self.gid):
            raise error(errno.EACCES, path)

    def _parent(self, target: Target) -> Stat:
        if target.parent is not None:
            return target.parent
        return parent_stat(self.machine.namespace.table, target.path, self.uid)

    def _fixed(self, target: Target, path: str) -> None:
        """EBUSY for a mount point, or a directory that leads to one."""
        table = self.machine.namespace.table
        if target.path == target.mounted.point or target.path in table.children:
            raise error(errno.EBUSY, path)

    def _may_remove(self, target: Target, path: str) -> None:
        """May the directory that holds `target` lose it?"""
        parent, stat = self._parent(target), target.stat
        self._need(parent, WRITE | SEARCH, path)
        if parent.mode & STICKY and self.uid and stat is not None and self.uid not in (stat.uid, parent.uid):
            raise error(errno.EPERM, path)

    @staticmethod
    def _able(target: Target, capability: str, path: str, otherwise: int = errno.EPERM) -> None:
        """EROFS where nothing can be created in the mount, `otherwise` where only this cannot be done."""
        if capability not in target.mounted.can:
            raise error(otherwise if target.mounted.can.writable else errno.EROFS, path)

    def _place(self, path: str) -> Target | None:
        """The name that an operation on names is about: a link is not followed, even with a slash behind it.

        None: the last component is `.` or `..`, or there is none.
        """
        name = path.rstrip("/")
        last = name.rpartition("/")[2]
        if last in ("", ".", ".."):
            self._find(f"{name[:-len(last)] or '.'}/." if name else path)
            return None
        try:
            return self._find(name, follow=False, create=True)
        except OSError as e:
            e.filename = path
            raise

    def _new(self, path: str, capability: str, effects: tuple[str, ...] = ("create",)) -> Target:
        """The place for a new name: checked, allowed, and nothing there."""
        target = self._place(path)
        if target is None:
            raise error(errno.EEXIST, path)
        if target.stat is not None:
            raise self._error(target, errno.EEXIST, path)
        if path.endswith("/") and capability != "mkdir":
            raise error(errno.ENOENT, path)
        for effect in effects:
            self._ask(effect, target, path)
        self._need(self._parent(target), WRITE | SEARCH, path)
        self._able(target, capability, path)
        return target

    # ---- looking

    def stat(self, path: str, follow: bool = True) -> Stat:
        """stat(2), or lstat(2) with follow=False."""
        target = self._find(path, follow)
        found = target.stat
        assert found is not None                             # _find finds
        gate = self.machine.gate
        if gate is not None:
            self._ask("stat", target, path)
            found = gate.shown(found)
        return found

    def lstat(self, path: str) -> Stat:
        return self.stat(path, False)

    def exists(self, path: str, follow: bool = True) -> bool:
        """Is there such an object? False on any error, as for a dangling link."""
        try:
            self.stat(path, follow)
        except OSError:
            return False
        return True

    def is_dir(self, path: str) -> bool:
        try:
            return self.stat(path).mode & S_IFMT == S_IFDIR
        except OSError:
            return False

    def is_file(self, path: str) -> bool:
        try:
            return self.stat(path).is_file
        except OSError:
            return False

    def readlink(self, path: str) -> str:
        """The text of a link; EINVAL for anything else."""
        target = self._find(path, follow=False)
        self._ask("stat", target, path)
        if target.stat is None or target.stat.mode & S_IFMT != S_IFLNK:
            raise error(errno.EINVAL, path)
        found: str = self._call(path, target.mounted.mount.readlink, target.inner)
        return found

    def access(self, path: str, mode: int) -> bool:
        """access(2) with os.R_OK, W_OK, X_OK, F_OK; also False where policy or a read-only mount refuses."""
        try:
            target = self._find(path)
        except OSError:
            return False
        stat, gate = target.stat, self.machine.gate
        if stat is None or (mode and not permitted(stat, mode, self.uid, self.gid)):
            return False
        device = stat.mode & S_IFMT == S_IFCHR
        if mode & os.W_OK and not device and not target.mounted.can.writable:
            return False
        if gate is None or device:
            return True
        effects = ["stat"]
        if mode & os.R_OK:
            effects.append("list" if stat.is_dir else "read")
        if mode & os.W_OK:
            effects.append("create" if stat.is_dir else "write")
        return all(gate.allows(effect, target, self.proc) for effect in effects)

    def allows(self, effect: str, path: str) -> bool:
        """Does the policy allow an effect here without asking anybody? False where there is nothing."""
        gate = self.machine.gate
        try:
            return gate is None or bool(gate.allows(effect, self._find(path), self.proc))
        except OSError:
            return False

    def shows(self, path: str) -> bool:
        """May this name be spoken of? False where the policy hides it, whether anything is there or not."""
        gate = self.machine.gate
        if gate is None:
            return True
        at = self.abspath(path)
        mounted = self.machine.namespace.table.find(at)
        return bool(gate.visible(Target(mounted, mounted.inner(at), at, None)))

    def statfs(self, path: str) -> tuple[int, int]:
        """(total, free) in bytes of the mount that holds `path`; zeros where it does not know."""
        target = self._find(path)
        measure = getattr(target.mounted.mount, "statfs", None)
        return measure(target.inner) if measure is not None else (0, 0)

    def abspath(self, path: str) -> str:
        """Absolute, with `.` and `..` taken out of the text (as `cd -L` does); no look at the files."""
        names: Names = []
        whole = path if path[:1] == "/" else f"{self.proc.cwd}/{path}"
        for name in whole.split("/"):
            if name == "..":
                del names[-1:]
            elif name and name != ".":
                names.append(name)
        return "/" + "/".join(names)

    def realpath(self, path: str, strict: bool = True, last_missing: bool = False) -> str:
        """The physical path. strict: all of it must exist (but the last component with last_missing).

        Not strict: resolved as far as it exists, the rest taken as it is (`realpath -m`).
        """
        if strict:
            return self._find(path, create=last_missing).path
        try:
            return self._find(path, create=True).path
        except OSError as e:
            if e.errno == errno.ELOOP or not path:
                raise
        names = [name for name in (path if path[:1] == "/" else f"{self.proc.cwd}/{path}").split("/") if name]
        at = "/"
        for name in names:
            if name == ".":
                continue
            if name == "..":
                at = at.rpartition("/")[0] or "/"
                continue
            step = f"{at.rstrip('/')}/{name}"
            try:
                at = self._find(step, create=True).path
            except OSError:
                at = step
        return at

    def mount_point(self, path: str) -> str:
        """Where the mount is mounted that holds `path`."""
        return self._find(path, create=True).mounted.point

    def is_mount_root(self, path: str) -> bool:
        target = self._find(path)
        return target.path == target.mounted.point

    # ---- directories

    def list(self, path: str) -> Entries:
        """The names in a directory, without `.` and `..`, in the mount's order; hidden ones are absent."""
        target = self._find(path)
        found: Entries = self._call(path, self._list, target, path)
        return found

    def _list(self, target: Target, path: str) -> Entries:
        stat, mounted = target.stat, target.mounted
        if stat is None or stat.mode & S_IFMT != S_IFDIR:
            raise self._error(target, errno.ENOTDIR, path)
        self._ask("list", target, path)
        self._need(stat, READ, path)
        names = self.machine.namespace.table.children.get(target.path)
        inner = target.inner
        entries: Entries
        if names is None:
            entries = mounted.mount.list(inner)
            if type(entries) is not list:
                entries = list(entries)
        else:
            entries = self._spliced(target, names)
        if "identity" not in mounted.can:
            prefix = inner if inner == "/" else inner + "/"
            for entry in entries:
                if entry.stat is not None and not entry.stat.dev:
                    mounted.identify(prefix + entry.name, entry.stat)
        gate = self.machine.gate
        if gate is not None:
            entries = gate.filter(target, entries)
        return entries

    def _spliced(self, target: Target, names: Names) -> Entries:
        """What the mount lists, and the ways to mounts below; these hide entries of their name.

        A mount may have `unlisted`, names in its root that are there, but not in the listing.
        """
        try:
            entries = list(target.mounted.mount.list(target.inner))
        except (FileNotFoundError, NotADirectoryError):      # only the way to a mount
            entries = []
        taken = set(names)
        kept = [entry for entry in entries if entry.name not in taken]
        table = self.machine.namespace.table
        for name in names:
            at = f"{target.path.rstrip('/')}/{name}"
            try:
                stat = resolve(table, at, False, 0).stat
            except OSError:                                  # a service that is down still has its directory
                stat = table.virtual_stat(at)
            kept.append(Entry(name, stat))
        unlisted = getattr(target.mounted.mount, "unlisted", ()) if target.inner == "/" else ()
        return [entry for entry in kept if entry.name not in unlisted] if unlisted else kept

    def walk(self, path: str, follow: bool = False, onerror: OnError | None = None,
             known: Container[str] = ()) -> Iterator[tuple[str, Entries]]:
        """(directory, entries with stat) in pre-order, depth first in listing order, across mounts.

        The consumer may remove directories from the list to keep the walk out of them. A directory that
        cannot be read is given to `onerror` and then yielded empty. Directories begin with `path` as it was
        given. With `follow`, links to directories are entered unless they lead back to one being walked.
        The directories in `known` (as they are yielded) come empty, without being listed.
        """
        target = self._find(path)
        if target.stat is None or not target.stat.is_dir:
            raise self._error(target, errno.ENOTDIR, path)
        yield from self._walk(target, path, follow, onerror, known)

    def _walk(self, top: Target, path: str, follow: bool, onerror: OnError | None,
              known: Container[str]) -> Iterator[tuple[str, Entries]]:
        table = self.machine.namespace.table
        todo: list[tuple[Target, str, tuple[tuple[int, int], ...]]] = [(top, path, ())]
        entered: list[object] = []
        while todo:
            target, shown, above = todo.pop()
            if shown in known:
                yield shown, []
                continue
            try:
                if target.mounted not in entered:
                    entered.append(target.mounted)
                    ahead = getattr(target.mounted.mount, "walk_ahead", None)
                    if ahead is not None:
                        ahead(target.inner)
                entries = self._list(target, shown)
                self._complete(target, entries)
            except OSError as e:
                e.filename = shown
                if onerror is not None:
                    onerror(shown, e)
                entries = []
            yield shown, entries
            here: list[tuple[Target, str, tuple[tuple[int, int], ...]]] = []
            prefix = shown if shown[-1:] == "/" else shown + "/"
            outer = target.path if target.path == "/" else target.path + "/"
            inner = target.inner if target.inner == "/" else target.inner + "/"
            mounted = target.mounted
            crosses = target.path in table.children
            chain = (*above, target.stat.identity) if follow and target.stat is not None else ()
            for entry in entries:
                stat = entry.stat
                kind = stat.mode & S_IFMT if stat is not None else 0
                if kind == S_IFDIR:
                    if crosses:
                        at = outer + entry.name
                        found = table.find(at)
                        child = Target(found, found.inner(at), at, stat)
                    else:
                        child = Target(mounted, inner + entry.name, outer + entry.name, stat)
                    here.append((child, prefix + entry.name, chain))
                elif kind == S_IFLNK and follow:
                    try:
                        child = self._find(prefix + entry.name)
                    except OSError:
                        continue
                    if child.stat is not None and child.stat.is_dir and child.stat.identity not in chain:
                        here.append((child, prefix + entry.name, chain))
            todo.extend(reversed(here))

    def _complete(self, target: Target, entries: Entries) -> None:
        """Fill in the stats that a listing left out; names that are gone meanwhile are dropped."""
        if all(entry.stat is not None for entry in entries):
            return
        gone = []
        prefix = target.inner if target.inner == "/" else target.inner + "/"
        gate = self.machine.gate
        kinds = gate.kinds(target, entries) if gate is not None else {}
        for entry in entries:
            if entry.stat is None:
                entry.stat = kinds.get(entry.name)
            if entry.stat is None:
                try:
                    entry.stat = target.mounted.identify(prefix + entry.name,
                                                         target.mounted.mount.stat(prefix + entry.name))
                except FileNotFoundError:
                    gone.append(entry)
        for entry in gone:
            entries.remove(entry)

    # ---- content

    def open(self, path: str, flags: int = os.O_RDONLY, mode: int = 0o666) -> Handle:
        """open(2). A directory opens for reading only; a FIFO gives a handle whose stat().is_fifo is True."""
        exclusive = flags & os.O_CREAT and flags & os.O_EXCL
        if flags & os.O_CREAT and path[-1:] == "/" and self._place(path) is not None:
            raise error(errno.EISDIR, path)
        follow = not (exclusive or flags & os.O_NOFOLLOW)
        target = self._find(path, follow, create=bool(flags & os.O_CREAT))
        stat = target.stat
        if stat is None:
            return self._create(target, path, flags, mode)
        if exclusive:
            raise self._error(target, errno.EEXIST, path)
        kind = stat.mode & S_IFMT
        access = flags & os.O_ACCMODE
        writing = access != os.O_RDONLY or flags & os.O_TRUNC
        if kind == S_IFLNK:
            raise self._error(target, errno.ELOOP, path)
        gate = self.machine.gate
        if kind == S_IFDIR:
            if writing or flags & os.O_CREAT:
                raise self._error(target, errno.EISDIR, path)
            self._ask("list", target, path)
            self._need(stat, READ, path)
            return DirectoryHandle(stat if gate is None else gate.shown(stat))
        if flags & os.O_DIRECTORY:
            raise self._error(target, errno.ENOTDIR, path)
        effect = "destroy" if flags & os.O_TRUNC and stat.size != 0 else "write"
        if gate is not None and kind != S_IFCHR:
            if access != os.O_WRONLY:
                self._ask("read", target, path)
            if writing:
                self._ask(effect, target, path)
        self._need(stat, (0 if access == os.O_WRONLY else READ) | (WRITE if writing else 0), path)
        if kind == S_IFIFO and "mkfifo" in target.mounted.can:
            return FifoHandle(stat)
        mounted = target.mounted
        handle: Handle
        if "open" in mounted.can:
            if writing and kind != S_IFCHR and not mounted.can.writable:
                raise error(errno.EROFS, path)
            handle = self._call(path, mounted.mount.open, target.inner, flags)
        elif writing:
            raise error(errno.EROFS if not mounted.can.writable else errno.EPERM, path)
        else:
            handle = RangeHandle(mounted.mount, target.inner, stat)
        if gate is None or kind == S_IFCHR:
            return handle
        if writing and effect == "destroy":
            self._done((effect, target))
        return GatedHandle(handle, gate, target, self.proc)

    def _create(self, target: Target, path: str, flags: int, mode: int) -> Handle:
        if target.slash or flags & os.O_DIRECTORY:
            raise self._error(target, errno.EISDIR if target.slash else errno.EINVAL, path)
        self._ask("create", target, path)
        self._need(self._parent(target), WRITE | SEARCH, path)
        self._able(target, "create", path)
        try:
            handle: Handle = self._call(path, target.mounted.mount.create, target.inner,
                                        mode & ~self.proc.umask, self.uid, self.gid, True)
        except FileExistsError:                              # made meanwhile: "create" was the wrong question
            if flags & os.O_EXCL:
                raise
            return self.open(path, flags & ~os.O_CREAT)
        gate = self.machine.gate
        if gate is None:
            return handle
        self._done(("create", target))
        return GatedHandle(handle, gate, target, self.proc)

    def read(self, path: str) -> bytes:
        """The whole content; within the Terminal's memory limit."""
        target = self._find(path)
        stat, mounted, kernel = target.stat, target.mounted, getattr(self.proc, "kernel", None)
        if stat is None or not (stat.is_file or stat.is_char):
            raise self._error(target, errno.EISDIR if stat is not None and stat.is_dir else errno.EINVAL, path)
        if stat.is_file:
            self._ask("read", target, path)
        self._need(stat, READ, path)
        if kernel is not None and stat.size:
            kernel.fits(stat.size)
        data: bytes = self._call(path, mounted.mount.read, target.inner)
        if self.machine.gate is not None:
            self.machine.gate.moved("read", target, len(data), self.proc)
        return data

    def reader(self, directory: str) -> Callable[[str, Stat], bytes]:
        """read(name, its stat) for regular files that were just listed in `directory`, which is looked up once."""
        prefix = directory if directory.endswith("/") else directory + "/"
        machine, table = self.machine, self.machine.namespace.table
        gate, kernel = machine.gate, getattr(self.proc, "kernel", None)

        def plain(name: str, stat: Stat) -> bytes:
            return self.read(prefix + name)

        try:
            above = self._find(prefix)
        except OSError:
            return plain
        if above.stat is None or above.path in table.children or not permitted(above.stat, SEARCH, self.uid, self.gid):
            return plain
        mounted = above.mounted
        inner, outer = above.inner.rstrip("/") + "/", above.path.rstrip("/") + "/"

        def read(name: str, stat: Stat) -> bytes:
            if stat.nlink > 1 or machine.namespace.table is not table:
                return self.read(prefix + name)
            path = prefix + name
            target = Target(mounted, inner + name, outer + name, stat)
            self._ask("read", target, path)
            self._need(stat, READ, path)
            if kernel is not None and stat.size:
                kernel.fits(stat.size)
            try:
                data: bytes = mounted.mount.read(target.inner)
            except OSError:                                  # not what was listed any more, perhaps
                return self.read(path)
            if gate is not None:
                gate.moved("read", target, len(data), self.proc)
            return data
        return read

    def write(self, path: str, data: bytes) -> None:
        """Replace the whole content, making the file where it is missing (mode 0666 less the umask)."""
        target = self._find(path, create=True)
        if "replace" not in target.mounted.can or (target.stat is not None and not target.stat.is_file):
            handle = self.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            try:
                handle.pwrite(data, 0)
            finally:
                handle.close()
            return
        stat = target.stat
        if stat is None:
            if target.slash:
                raise self._error(target, errno.EISDIR, path)
            effect = "create"
            self._ask(effect, target, path)
            self._need(self._parent(target), WRITE | SEARCH, path)
        else:
            effect = "destroy" if stat.size != 0 else "write"
            self._ask(effect, target, path)
            self._need(stat, WRITE, path)
        if self.machine.gate is not None:
            self.machine.gate.moved("write", target, len(data), self.proc)
        self._call(path, target.mounted.mount.replace, target.inner, data, 0o666 & ~self.proc.umask,
                   self.uid, self.gid)
        self._done((effect, target))

    def truncate(self, path: str, size: int) -> None:
        """Cut or grow (with zeros) to `size` bytes."""
        handle = self.open(path, os.O_WRONLY)
        try:
            handle.truncate(size)
        finally:
            handle.close()

    # ---- names

    def mkdir(self, path: str, mode: int = 0o777) -> None:
        target = self._new(path, "mkdir")
        mode &= ~self.proc.umask
        self._call(path, target.mounted.mount.mkdir, target.inner, mode, self.uid, self.gid)
        self._done(("create", target))

    def mkfifo(self, path: str, mode: int = 0o666) -> None:
        target = self._new(path, "mkfifo")
        mode &= ~self.proc.umask
        self._call(path, target.mounted.mount.mkfifo, target.inner, mode, self.uid, self.gid)
        self._done(("create", target))

    def symlink(self, text: str, path: str) -> None:
        """A link at `path` that says `text`."""
        if not text:
            raise error(errno.ENOENT, text, path)
        if len(text.encode("utf-8", "surrogateescape")) >= 4096:
            raise error(errno.ENAMETOOLONG, text, path)
        target = self._new(path, "symlink", ("link", "create"))
        self._call(path, target.mounted.mount.symlink, text, target.inner, self.uid, self.gid)
        self._done(("create", target), ("link", target))

    def link(self, source: str, path: str, follow: bool = False) -> None:
        """A further name for a file; EXDEV across mounts, EPERM for a directory."""
        old = self._find(source, follow)
        new = self._place(path)
        stat = old.stat
        if new is None:
            raise error(errno.EEXIST, source, path)
        if new.stat is not None:
            raise self._error(new, errno.EEXIST, source, path)
        if path.endswith("/"):
            raise error(errno.ENOENT, source, path)
        if old.mounted is not new.mounted:
            raise self._error(new, errno.EXDEV, source, path)
        if stat is None or stat.is_dir:
            raise self._error(old, errno.EPERM, source, path)
        self._ask("link", old, source)
        self._ask("link", new, path)
        self._ask("create", new, path)
        self._ask_moving(old, new, source, False)
        self._need(self._parent(new), WRITE | SEARCH, path)
        self._able(new, "link", path)
        if self.uid not in (0, stat.uid) and not permitted(stat, READ | WRITE, self.uid, self.gid):
            raise error(errno.EPERM, source, path)
        self._call(source, old.mounted.mount.link, old.inner, new.inner)
        self._done(("link", old), ("create", new))

    def unlink(self, path: str) -> None:
        target = self._place(path)
        if target is None:
            raise error(errno.EISDIR, path)
        stat = target.stat
        if stat is None:
            raise self._error(target, errno.ENOENT, path)
        if stat.is_dir:
            raise self._error(target, errno.EISDIR, path)
        if path.endswith("/"):
            raise self._error(target, errno.ENOTDIR, path)
        self._fixed(target, path)
        self._ask("destroy", target, path)
        if stat.nlink > 1:
            self._ask_moving(target, None, path, False)
        self._may_remove(target, path)
        self._able(target, "remove", path)
        self._call(path, target.mounted.mount.unlink, target.inner)
        self._done(("destroy", target))

    def rmdir(self, path: str) -> None:
        target = self._place(path)
        if target is None:
            last = path.rstrip("/").rpartition("/")[2]
            raise error({".": errno.EINVAL, "..": errno.ENOTEMPTY}.get(last, errno.EBUSY), path)
        if target.stat is None:
            raise self._error(target, errno.ENOENT, path)
        if not target.stat.is_dir:
            raise self._error(target, errno.ENOTDIR, path)
        self._fixed(target, path)
        self._ask("destroy", target, path)
        self._may_remove(target, path)
        self._able(target, "remove", path)
        try:
            self._call(path, target.mounted.mount.rmdir, target.inner)
        except OSError as e:
            raise self._not_empty(e, target, path) from None
        self._done(("destroy", target))

    def _not_empty(self, failure: OSError, target: Target, path: str) -> OSError:
        """EBUSY, as for a mount point, where all that keeps a directory from being empty is hidden."""
        if failure.errno not in (errno.ENOTEMPTY, errno.EEXIST) or self.machine.gate is None:
            return failure
        entries = list(target.mounted.mount.list(target.inner))
        return failure if self.machine.gate.filter(target, entries) else error(errno.EBUSY, path)

    def rename(self, old: str, new: str) -> None:
        """rename(2): atomic, replaces what is at `new`; EXDEV across mounts."""
        source, target = self._place(old), self._place(new)
        if source is None or target is None:
            raise error(errno.EBUSY, old, new)
        stat, there = source.stat, target.stat
        if stat is None:
            raise self._error(source, errno.ENOENT, old, new)
        directory = stat.is_dir
        if not directory and (old.endswith("/") or new.endswith("/")):
            raise self._error(source, errno.ENOTDIR, old, new)
        self._fixed(source, old)
        self._fixed(target, new)
        if source.mounted is not target.mounted:
            raise error(errno.EXDEV, old, new)
        if target.path.startswith(source.path + "/"):
            raise error(errno.EINVAL, old, new)
        if source.path.startswith(target.path + "/"):
            raise error(errno.ENOTEMPTY, old, new)
        if there is not None and there.identity == stat.identity and there.dev:
            return
        self._ask("destroy", source, old, directory)
        if there is None:
            self._ask("create", target, new, directory)
        else:
            self._ask("destroy", target, new, directory)
            if there.nlink > 1 and not there.is_dir:
                self._ask_moving(target, None, new, False)
        self._ask_moving(source, target, old, directory)
        self._may_remove(source, old)
        self._may_remove(target, new)
        self._able(source, "rename", old)
        if directory and source.path.rpartition("/")[0] != target.path.rpartition("/")[0]:
            self._need(stat, WRITE, old)
        try:
            source.mounted.mount.rename(source.inner, target.inner)
        except OSError as e:
            e.filename, e.filename2 = old, new
            raise self._not_empty(e, target, new) from None
        self._done(("destroy", source), ("create" if there is None else "destroy", target))

    # ---- attributes

    def chmod(self, path: str, mode: int, follow: bool = True) -> None:
        target = self._change(path, follow)
        if target.stat is not None and self.uid and target.stat.gid != self.gid and not target.stat.is_dir:
            mode &= ~0o2000
        self._call(path, self._setattr(target), target.inner, mode=mode & 0o7777)
        self._done(("setattr", target))

    def chown(self, path: str, uid: int, gid: int, follow: bool = True) -> None:
        """-1 keeps. The user may give nothing away: EPERM for any other owner or group."""
        target = self._change(path, follow)
        stat = target.stat
        given = stat is None or uid not in (-1, stat.uid) or gid not in (-1, stat.gid, self.gid)
        if self.uid and given:
            raise error(errno.EPERM, path)
        mode = None if stat is None or stat.is_dir else unprivileged(stat.mode)
        changed = {} if mode is None or stat is None or mode == stat.mode else {"mode": mode & 0o7777}
        self._call(path, self._setattr(target), target.inner, uid=None if uid == -1 else uid,
                   gid=None if gid == -1 else gid, **changed)
        self._done(("setattr", target))

    def utime(self, path: str, atime_ns: int | None, mtime_ns: int | None, follow: bool = True) -> None:
        """None keeps. Also allowed to whoever may write the file, as touch(1) needs."""
        target = self._change(path, follow, writer_too=True)
        self._call(path, self._setattr(target), target.inner, atime_ns=atime_ns, mtime_ns=mtime_ns)
        self._done(("setattr", target))

    def _change(self, path: str, follow: bool, writer_too: bool = False) -> Target:
        target = self._find(path, follow)
        stat = target.stat
        self._ask("setattr", target, path)
        if stat is not None and self.uid not in (0, stat.uid) \
                and not (writer_too and permitted(stat, WRITE, self.uid, self.gid)):
            raise error(errno.EPERM, path)
        self._able(target, "setattr", path)
        return target

    @staticmethod
    def _setattr(target: Target) -> Callable[..., None]:
        change: Callable[..., None] = target.mounted.mount.setattr
        return change

    # ---- extended attributes

    def getxattr(self, path: str, name: str, follow: bool = True) -> bytes:
        target = self._find(path, follow)
        self._ask("stat", target, path)
        if "xattr" not in target.mounted.can:
            raise error(errno.EOPNOTSUPP, path)
        found: bytes = self._call(path, target.mounted.mount.getxattr, target.inner, name)
        return found

    def listxattr(self, path: str, follow: bool = True) -> Names:
        target = self._find(path, follow)
        self._ask("stat", target, path)
        if "xattr" not in target.mounted.can:
            return []
        found: Names = self._call(path, target.mounted.mount.listxattr, target.inner)
        return found

    def setxattr(self, path: str, name: str, value: bytes, follow: bool = True) -> None:
        target = self._find(path, follow)
        self._ask("setattr", target, path)
        self._able(target, "xattr", path, errno.EOPNOTSUPP)
        self._need(target.stat, WRITE, path)
        self._call(path, target.mounted.mount.setxattr, target.inner, name, value)
        self._done(("setattr", target))

    def removexattr(self, path: str, name: str, follow: bool = True) -> None:
        target = self._find(path, follow)
        self._ask("setattr", target, path)
        self._able(target, "xattr", path, errno.EOPNOTSUPP)
        self._need(target.stat, WRITE, path)
        self._call(path, target.mounted.mount.removexattr, target.inner, name)
        self._done(("setattr", target))

    # ---- search

    def searches(self, path: str, queries: Any, reaches: Callable[[Names], bool]) -> Any:
        """directory -> candidates (or an OSError) of the mounts at and below `path` that can search: pushdown.py."""
        from mirage.vfs.pushdown import searches
        return searches(self, path, queries, reaches)

    def is_remote(self, path: str) -> bool:
        """Does looking there cost something? Mounts of services count what they do. Links are not followed."""
        return hasattr(self.machine.namespace.table.find(self.abspath(path)).mount, "counters")

    def ages_with_content(self, path: str) -> bool:
        """Does the mount say that nothing below a directory is younger than the directory? Links are not followed."""
        path = self.abspath(path)
        mounted = self.machine.namespace.table.find(path)
        says = getattr(mounted.mount, "ages_with_content", None)
        return says is not None and bool(says(mounted.inner(path)))

    def reads_many(self, path: str) -> bool:
        """Does read_many() fetch files of the mount at `path` several at a time? Links are not followed."""
        return "read_many" in self.machine.namespace.table.find(self.abspath(path)).can

    def read_many(self, paths: Names, unseen: bool = False) -> Iterator[tuple[str, bytes | OSError]]:
        """(path, whole content or error) in the order of `paths`; where the mount can, fetched several at a time.

        unseen  nobody has listed them: a service is asked for several at a time
        """
        if unseen and len(paths) > 1:
            self._meet(paths)
        found: list[tuple[str, Target | OSError]] = []
        for path in paths:
            try:
                target = self._find(path)
                if target.stat is not None and target.stat.is_file and "read_many" in target.mounted.can:
                    self._ask("read", target, path)
                    self._need(target.stat, READ, path)
                found.append((path, target))
            except OSError as e:
                found.append((path, e))
        together: dict[int, tuple[Mounted, Names]] = {}
        for _, place in found:
            if isinstance(place, Target) and place.stat is not None and place.stat.is_file \
                    and "read_many" in place.mounted.can:
                together.setdefault(id(place.mounted), (place.mounted, []))[1].append(place.inner)
        progress = self.machine.progress
        if progress is not None:
            for mounted, inner in together.values():
                progress.expect(mounted.point, len(inner))
        contents = {key: iter(mounted.mount.read_many(inner)) for key, (mounted, inner) in together.items()}
        for path, place in found:
            if isinstance(place, OSError):
                yield path, place
            elif id(place.mounted) in contents and place.stat is not None and place.stat.is_file:
                if progress is not None:
                    progress.read(place.mounted.point)
                yield path, self._moved(path, place, next(contents[id(place.mounted)])[1])
            else:
                try:
                    yield path, self.read(path)
                except OSError as e:
                    yield path, e

    def expect(self, path: str, count: int) -> None:
        """So many files below `path` are going to be read: for whoever watches."""
        if self.machine.progress is not None:
            self.machine.progress.expect(self.machine.namespace.table.find(self.abspath(path)).point, count)

    def _meet(self, paths: Names) -> None:
        """Let the mounts look these files up, several at a time; what they say is asked again in order."""
        from mirage.process import blocking
        from mirage.vfs.service import line_of, on_behalf
        line, table = line_of(), self.machine.namespace.table

        def look(path: str) -> None:
            mounted = table.find(path)
            on_behalf(line, mounted.mount.stat, mounted.inner(path))

        for _ in blocking.map_ordered(look, [p for p in map(self.abspath, paths) if "read_many" in table.find(p).can]):
            pass

    def _moved(self, path: str, target: Target, data: bytes | OSError) -> bytes | OSError:
        """Content that a mount gave: within the memory limit, and counted."""
        if isinstance(data, OSError):
            data.filename = path
            return data
        kernel = getattr(self.proc, "kernel", None)
        if kernel is not None:
            kernel.fits(len(data))
        if self.machine.gate is not None:
            try:
                self.machine.gate.moved("read", target, len(data), self.proc)
            except OSError as e:
                return e
        return data

    @staticmethod
    def _call(path: str, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """A mount's method; its errors get the path that the caller knows."""
        try:
            return function(*args, **options)
        except OSError as e:
            e.filename = path
            del e.filename2
            raise
