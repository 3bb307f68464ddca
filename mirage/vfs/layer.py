"""Copy-on-write: a Layer shows a base as if it could be written; what is changed is kept in a store.

Any mount can be the base, also a service or another Layer. The store has a writable mount, the delta, which holds what
is new or changed at the path where it shows, and marks by path:

  whiteout   the base's object of this name is gone
  opaque     this directory of the delta shows nothing of the base
  redirect   this directory of the delta shows the content of another directory of the base: it was renamed

A directory of the delta without a mark shows the base's directory of the same name as well. The first change of a file
copies it up, with mode, owner, times and extended attributes; all its hard links in the base go with it. Opening for
reading copies nothing, and a file that is open keeps showing what is written to it later.

The base must not change under the layer, but for new files of a service. No lock and no transaction of the store is
held while the base is called: changes wait for each other through mirage.process.blocking.
"""
from __future__ import annotations

import errno
import os
import threading
import time

from mirage.process import blocking
from mirage.vfs.gateway import linked
from mirage.vfs.handles import RangeHandle, flush
from mirage.vfs.namespace import Mounted
from mirage.vfs.partial import PartialHandle
from mirage.vfs.types import (
    S_IFCHR,
    S_IFDIR,
    S_IFIFO,
    S_IFLNK,
    S_IFMT,
    S_IFREG,
    Capabilities,
    Entry,
    Stat,
    error,
    new_device,
    permitted,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from typing import Any, Protocol

    from mirage.vfs.types import Handle

    Entries = list[Entry]
    Names = list[str]
    Readers = list["BaseHandle"]
    Xattrs = list[tuple[str, bytes]]
else:
    Protocol = object

BASE_INO = 1 << 48                                           # set in the inode numbers that come from the base
LEVEL = 49                                                   # first bit for the number of layers below, see _number
PIECE = 1 << 20                                              # bytes copied at a time
AT_ONCE = 2 << 20                                            # a file up to this size is copied in one transaction
TEMPORARY = ".mirage-copy-"
THRESHOLD = 1 << 20                                          # bytes above which `auto` keeps a file's origin


class Origin:
    """Where a copied object of the delta came from.

    path, ino, version  of the base's object (`version` is opaque: for a service it is all that can be compared)
    size, mtime_ns, ctime_ns  its fingerprint
    kept                bytes at the beginning that the base still provides where the delta has no chunk; None: none,
                        the content was copied whole
    """

    __slots__ = ("ctime_ns", "ino", "kept", "mtime_ns", "path", "size", "version")

    def __init__(self, path: str, ino: int, version: str | None, size: int = 0, mtime_ns: int = 0, ctime_ns: int = 0,
                 kept: int | None = None) -> None:
        self.path = path
        self.ino = ino
        self.version = version
        self.size = size
        self.mtime_ns = mtime_ns
        self.ctime_ns = ctime_ns
        self.kept = kept

    def matches(self, stat: Stat) -> bool:
        """Is the base's object still what it was? Its version decides where both have one."""
        if self.size != stat.size or self.mtime_ns != stat.mtime_ns:
            return False
        return self.version is None or stat.version is None or self.version == stat.version


class Store(Protocol):
    """What a Layer keeps its changes in. Marks are by path of the layer; origins by inode of the delta.

    Transactions are atomic where the store lasts: all of the block, or nothing when an exception leaves it.
    `sparse(path, origin)` makes an existing empty file of the delta one of origin.size bytes without content;
    `chunks(ino)` tells its chunk size and which chunks it has. Only for stores with `partial`.
    """

    mount: Any
    partial: bool

    def transaction(self) -> AbstractContextManager[None]: ...
    def whiteout(self, path: str) -> bool: ...
    def add_whiteout(self, path: str) -> None: ...
    def remove_whiteout(self, path: str) -> None: ...
    def whiteouts(self) -> Names: ...
    def opaque(self, path: str) -> bool: ...
    def add_opaque(self, path: str) -> None: ...
    def redirect(self, path: str) -> str | None: ...
    def add_redirect(self, path: str, base: str) -> None: ...
    def redirects(self) -> Iterable[tuple[str, str]]: ...
    def move_marks(self, old: str, new: str) -> None: ...
    def drop_marks(self, path: str) -> None: ...
    def origin(self, ino: int) -> Origin | None: ...
    def add_origin(self, ino: int, origin: Origin) -> None: ...
    def sparse(self, path: str, origin: Origin) -> None: ...
    def chunks(self, ino: int) -> tuple[int, set[int]]: ...


class Place:
    """What a path of the layer is.

    stat    as the delta or the base gives it
    upper   it is in the delta
    base    where the base has it; of a directory in the delta: whose content shows as well; None: nowhere
    parent  of the directory above; its `base` tells whether something of the base may lie under the name
    """

    __slots__ = ("base", "parent", "path", "stat", "upper")

    def __init__(self, path: str, stat: Stat, upper: bool, base: str | None, parent: Place | None) -> None:
        self.path = path
        self.stat = stat
        self.upper = upper
        self.base = base
        self.parent = parent

    @property
    def under(self) -> str | None:
        """The base's path that this name would show if the delta had nothing here."""
        parent = self.parent
        return None if parent is None or parent.base is None else join(parent.base, self.path.rpartition("/")[2])


class Layer:
    """base       any mount
    store      keeps the changes
    partial    "off": a changed file is copied whole; "on": only its changed chunks; "auto": above `threshold` bytes
    on_change  called with (path, Stat or None) before the first change of a path; may raise to refuse it
    """

    capabilities = Capabilities("open", "create", "mkdir", "remove", "rename", "link", "symlink", "setattr", "xattr",
                                "identity", "mkfifo", "lookup", "replace")

    def __init__(self, base: Any, store: Store, *, partial: str = "off", threshold: int = THRESHOLD,
                 on_change: Callable[[str, Stat | None], None] | None = None) -> None:
        if partial not in ("off", "on", "auto"):
            raise ValueError(f"partial must be off, on or auto, not {partial!r}")
        base = getattr(base, "mount", base)
        self.base = base
        self.store = store
        self.delta = store.mount
        self.partial = partial
        self.threshold = threshold
        self.on_change = on_change
        self.device = new_device()
        self.level: int = getattr(base, "level", 0) + 1      # layers, this one included
        self._base = Mounted("/", base, new_device())
        self._lock = threading.Lock()
        self._busy = False
        self._changed: set[str] = set()
        self._readers: dict[int, list[BaseHandle]] = {}
        self._linked: dict[tuple[int, int], Names] | None = None
        for entry in list(self.delta.list("/")):
            if entry.name.startswith(TEMPORARY):             # a copy that a crash cut off
                self.delta.unlink("/" + entry.name)

    # ---- finding

    def _walk(self, path: str, uid: int = 0) -> Place | str:
        """The place, or the path of the first symbolic link before the last component."""
        store = self.store
        place = Place("/", self.delta.stat("/"), True, None if store.opaque("/") else "/", None)
        names = path[1:].split("/") if path != "/" else []
        for number, name in enumerate(names):
            kind = place.stat.mode & S_IFMT
            if kind != S_IFDIR:
                if kind == S_IFLNK:
                    return place.path
                raise error(errno.ENOTDIR, path)
            if uid and not permitted(place.stat, 1, uid):
                raise error(errno.EACCES, path)
            at = join(place.path, name)
            stat = self._upper(at)
            if stat is not None:
                place = Place(at, stat, True, self._merged(at, stat, place, name), place)
            elif place.base is None or store.whiteout(at):
                raise error(errno.ENOENT, path)
            elif place.upper and number < len(names) - 1 and not self._whiteouts_below(at):
                return self._lower(path, place, names[number:], uid)
            else:
                below = join(place.base, name)
                place = Place(at, self._base_stat(below, path), False, below, place)
        return place

    def _upper(self, path: str) -> Stat | None:
        try:
            above: Stat = self.delta.stat(path)
            return above
        except FileNotFoundError:
            return None

    def _merged(self, path: str, stat: Stat, parent: Place, name: str) -> str | None:
        if stat.mode & S_IFMT != S_IFDIR or self.store.opaque(path):
            return None
        redirect = self.store.redirect(path)
        if redirect is not None or parent.base is None:
            return redirect
        below = join(parent.base, name)
        try:
            return below if self._base_stat(below, path).is_dir else None
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _base_stat(self, base: str, path: str) -> Stat:
        try:
            stat: Stat = self.base.stat(base)
        except OSError as e:
            e.filename = path
            del e.filename2
            raise
        return stat if stat.dev else self._base.identify(base, stat)

    def _whiteouts_below(self, path: str) -> bool:
        return any(mark.startswith(path + "/") for mark in self.store.whiteouts())

    def _lower(self, path: str, place: Place, rest: Names, uid: int) -> Place | str:
        """The rest of a path that only the base can have: one call."""
        below = join(place.base or "/", "/".join(rest))
        try:
            found = self._base.lookup(below, uid)
        except OSError as e:
            e.filename = path
            del e.filename2
            raise
        if isinstance(found, str):
            return join(place.path, found[len(place.base or "/"):].lstrip("/"))
        head = below.rpartition("/")[0] or "/"
        parent = Place(path.rpartition("/")[0] or "/", place.stat, False, head, place)
        return Place(path, found, False, below, parent)

    def _place(self, path: str) -> Place:
        place = self._walk(path)
        if isinstance(place, str):
            raise error(errno.ENOTDIR, path)
        return place

    def _parent(self, path: str) -> Place:
        """The directory for a name that is going to change."""
        if path == "/":
            raise error(errno.EBUSY, path)
        parent = self._place(path.rpartition("/")[0] or "/")
        if not parent.stat.is_dir:
            raise error(errno.ENOTDIR, path)
        return parent

    def _find(self, path: str) -> Place | None:
        try:
            return self._place(path)
        except FileNotFoundError:
            return None

    def _show(self, place: Place) -> Stat:
        return self._shown(place.stat, place.upper, place.upper and place.base is not None)

    def _shown(self, stat: Stat, upper: bool, merged: bool = False) -> Stat:
        """With the layer's device, an inode number that copying up does not change, and size of a partial file."""
        origin = self.store.origin(stat.ino) if upper else None
        below = stat.ino if not upper else origin.ino if origin is not None else None
        ino = self._number(stat.ino if below is None else below, below is not None)
        return Stat(stat.mode, stat.size, stat.mtime_ns, atime_ns=stat.atime_ns, ctime_ns=stat.ctime_ns,
                    btime_ns=stat.btime_ns, uid=stat.uid, gid=stat.gid, nlink=1 if merged else stat.nlink, ino=ino,
                    dev=self.device, rdev=stat.rdev, blocks=stat.blocks,
                    version=None if stat.version is None else f"{'u' if upper else 'l'}{stat.version}")

    def _number(self, ino: int, below: bool) -> int:
        """An inode number that no object of the delta and none of the layers below share."""
        if below:
            return ino | BASE_INO if self.level == 1 else ino
        return ino | self.level - 1 << LEVEL

    def lookup(self, path: str, uid: int) -> Stat | str:
        place = self._walk(path, uid)
        return place if isinstance(place, str) else self._show(place)

    def stat(self, path: str) -> Stat:
        return self._show(self._place(path))

    def list(self, path: str) -> Entries:
        place = self._place(path)
        if not place.stat.is_dir:
            raise error(errno.ENOTDIR, path)
        return self._entries(place)

    def _entries(self, place: Place) -> Entries:
        found: Entries = []
        taken: set[str] = set()
        if place.upper:
            for entry in self.delta.list(place.path):
                if entry.name.startswith(TEMPORARY) and place.path == "/":
                    continue
                taken.add(entry.name)
                stat = entry.stat if entry.stat is not None else self.delta.stat(join(place.path, entry.name))
                merged = place.base is not None and stat.is_dir and not self.store.opaque(join(place.path, entry.name))
                found.append(Entry(entry.name, self._shown(stat, True, merged)))
        if place.base is not None:
            for entry in self.base.list(place.base):
                if entry.name in taken or self.store.whiteout(join(place.path, entry.name)):
                    continue
                stat = entry.stat
                if stat is not None and not stat.dev:
                    self._base.identify(join(place.base, entry.name), stat)
                found.append(Entry(entry.name, None if stat is None else self._shown(stat, False)))
        return found

    def readlink(self, path: str) -> str:
        place = self._place(path)
        if not place.stat.is_link:
            raise error(errno.EINVAL, path)
        text: str = self.delta.readlink(path) if place.upper else self.base.readlink(place.base)
        return text

    def statfs(self, path: str) -> tuple[int, int]:
        measure = getattr(self.delta, "statfs", None)
        return measure("/") if measure is not None else (0, 0)

    # ---- content

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        place = self._place(path)
        self._regular(place, path)
        if not place.upper:
            data: bytes = self.base.read(place.base, offset, length)
            return data
        origin = self.store.origin(place.stat.ino)
        if origin is None or origin.kept is None:
            data = self.delta.read(path, offset, length)
            return data
        handle = self.open(path, os.O_RDONLY)
        try:
            size = handle.stat().size or 0
            return handle.pread(size - offset if length is None else length, offset) if offset < size else b""
        finally:
            handle.close()

    @staticmethod
    def _regular(place: Place, path: str) -> None:
        kind = place.stat.mode & S_IFMT
        if kind not in (S_IFREG, S_IFCHR):
            raise error(errno.EISDIR if kind == S_IFDIR else errno.ELOOP if kind == S_IFLNK else errno.EINVAL, path)

    def open(self, path: str, flags: int, mode: int = 0) -> Handle:
        place = self._place(path)
        self._regular(place, path)
        if not place.upper:
            if not flags & (os.O_ACCMODE | os.O_TRUNC):
                return self._open_base(place)
            with Change(self):
                place = self._place(path)
                if not place.upper:
                    self._announce(place.path, place.stat)
                    self._copy_up(place, content=not flags & os.O_TRUNC)
        return self._open_upper(path, flags, mode)

    def _open_upper(self, path: str, flags: int, mode: int = 0) -> Handle:
        if flags & os.O_TRUNC and self.store.partial:
            place = self._place(path)
            origin = self.store.origin(place.stat.ino)
            if origin is not None and origin.kept is not None:
                with Change(self), self.store.transaction():
                    origin.kept = None                       # nothing of the base is left
                    self.store.add_origin(place.stat.ino, origin)
        handle: Handle = self.delta.open(path, flags, mode)
        ino = handle.stat().ino
        origin = self.store.origin(ino)
        if origin is not None and origin.kept is not None:
            below = self._checked(origin, path)
            handle = PartialHandle(handle, below, origin, self.store, ino)
        return LayerHandle(self, handle)

    def _checked(self, origin: Origin, path: str) -> Handle:
        """The base's file that provides the rest of a partial one; ESTALE where it is not what it was."""
        try:
            stat = self._base_stat(origin.path, path)
        except (FileNotFoundError, NotADirectoryError):
            raise error(errno.ESTALE, path) from None
        if not origin.matches(stat):
            raise error(errno.ESTALE, path)
        return self._open_lower(origin.path, stat)

    def _open_lower(self, base: str, stat: Stat) -> Handle:
        if "open" in self._base.can:
            handle: Handle = self.base.open(base, os.O_RDONLY, 0)
            return handle
        return RangeHandle(self.base, base, stat)

    def _open_base(self, place: Place) -> BaseHandle:
        handle = BaseHandle(self, self._open_lower(place.base or "/", place.stat), place.stat)
        with self._lock:
            self._readers.setdefault(place.stat.ino, []).append(handle)
        return handle

    def create(self, path: str, mode: int, uid: int, gid: int, exclusive: bool = False) -> Handle:
        with Change(self):
            there = self._find(path)
            if there is None:
                self._new(path, lambda: self.delta.create(path, mode, uid, gid, True).close())
            elif exclusive:
                raise error(errno.EEXIST, path)
        if there is not None:
            return self.open(path, os.O_RDWR)
        return self._open_upper(path, os.O_RDWR)

    def replace(self, path: str, data: bytes, mode: int, uid: int, gid: int) -> None:
        with Change(self):
            there = self._find(path)
            if there is None:
                return self._new(path, lambda: self.delta.replace(path, data, mode, uid, gid))
            self._regular(there, path)
            if not there.upper:
                self._announce(path, there.stat)
                self._copy_up(there, content=False)
            with self.store.transaction():
                stat = self.delta.stat(path)
                origin = self.store.origin(stat.ino)
                self.delta.replace(path, data, mode, uid, gid)
                if origin is not None:
                    origin.kept = None
                    self.store.add_origin(self.delta.stat(path).ino, origin)

    # ---- copying up

    def _announce(self, path: str, stat: Stat | None) -> None:
        """Tell the hook, once for each path."""
        if self.on_change is not None and path not in self._changed and not self.store.whiteout(path):
            self.on_change(path, stat)
            self._changed.add(path)

    def _up_directory(self, path: str) -> None:
        """A directory of the base, and those above it, exist in the delta as well; its content stays where it is."""
        place = self._place(path)
        if place.upper:
            return
        parent = path.rpartition("/")[0] or "/"
        self._up_directory(parent)
        xattr = self._base_xattr(place)
        with self.store.transaction():
            above = self.delta.stat(parent)
            self.delta.mkdir(place.path, place.stat.mode & 0o7777, place.stat.uid, place.stat.gid)
            self._like_base(place, xattr)
            self.delta.setattr(parent, atime_ns=above.atime_ns, mtime_ns=above.mtime_ns)

    def _like_base(self, place: Place, xattr: Iterable[tuple[str, bytes]], kept: int | None = None) -> None:
        """What was just made at the place gets the attributes and the origin of the base's object. In a transaction."""
        stat, path = place.stat, place.path
        for name, value in xattr:
            self.delta.setxattr(path, name, value)
        mode = None if stat.is_link else stat.mode & 0o7777
        self.delta.setattr(path, mode=mode, uid=stat.uid, gid=stat.gid, atime_ns=stat.atime_ns, mtime_ns=stat.mtime_ns)
        made = self.delta.stat(path)
        self.store.add_origin(made.ino, _origin(place, kept))

    def _base_xattr(self, place: Place) -> Xattrs:
        if "xattr" not in self._base.can or place.base is None:
            return []
        return [(name, self.base.getxattr(place.base, name)) for name in self.base.listxattr(place.base)]

    def _copy_up(self, place: Place, content: bool = True) -> None:
        """A file, link or FIFO of the base gets into the delta, under all the names that it has in the layer."""
        names = self._other_names(place)
        folders = {name.rpartition("/")[0] or "/" for name in (place.path, *names)}
        for folder in folders:
            self._up_directory(folder)
        self._copy(place, folders, content, names)
        for reader in self._take_readers(place.stat.ino):
            reader.switch(self._open_upper(place.path, os.O_RDONLY))
        place.upper, place.stat, place.base = True, self.delta.stat(place.path), None

    def _copy(self, place: Place, folders: set[str], content: bool, names: Names) -> None:
        path, stat = place.path, place.stat
        kind = stat.mode & S_IFMT
        xattr = self._base_xattr(place)
        size = stat.size
        kept: int | None = None
        temporary = ""
        data = b""
        text = ""
        if kind == S_IFLNK:
            text = self.base.readlink(place.base)
        elif kind == S_IFREG and content:
            if self._keeps_origin(size):
                kept = size
            elif size is None or size <= AT_ONCE:
                data = self.base.read(place.base)
            else:
                temporary = self._copy_to_temporary(place)
        with self.store.transaction():
            above = [(folder, self.delta.stat(folder)) for folder in folders]
            if temporary:
                self.delta.rename(temporary, path)
            elif kind == S_IFLNK:
                self.delta.symlink(text, path, stat.uid, stat.gid)
            elif kind == S_IFIFO:
                self.delta.mkfifo(path, stat.mode & 0o7777, stat.uid, stat.gid)
            elif kind == S_IFREG:
                self.delta.replace(path, data, stat.mode & 0o7777, stat.uid, stat.gid)
                if kept is not None:
                    self.store.sparse(path, _origin(place, kept))
            else:
                raise error(errno.EPERM, path)               # no mount can make a device
            for name in names:
                self.delta.link(path, name)
            self._like_base(place, xattr, kept)
            for folder, was in above:
                self.delta.setattr(folder, atime_ns=was.atime_ns, mtime_ns=was.mtime_ns)

    def _keeps_origin(self, size: int | None) -> bool:
        if self.partial == "off" or not self.store.partial or not size:
            return False
        return self.partial == "on" or size > self.threshold

    def _copy_to_temporary(self, place: Place) -> str:
        """A long file is copied in pieces to a name that nobody sees."""
        temporary = f"/{TEMPORARY}{os.urandom(8).hex()}"
        source = self._open_lower(place.base or "/", place.stat)
        target = self.delta.create(temporary, 0o600, 0, 0, True)
        try:
            at = 0
            while piece := source.pread(PIECE, at):
                at = target.pwrite(piece, at)
            target.close()
        except BaseException:
            target.close()
            self.delta.unlink(temporary)
            raise
        finally:
            source.close()
        return temporary

    def _other_names(self, place: Place) -> Names:
        """The further paths of the layer that show the same file of the base."""
        if "identity" not in self._base.can or place.stat.nlink < 2 or place.stat.is_dir:
            return []
        if self._linked is None:
            self._linked = linked(self.base)
        found = []
        for base in self._linked.get(place.stat.identity, ()):
            for path in self._shown_at(base):
                if path != place.path:
                    found.append(path)
        return found

    def _shown_at(self, base: str) -> Names:
        """The paths of the layer that show this path of the base, and not something of the delta."""
        candidates = [base]
        for path, target in self.store.redirects():
            if base.startswith(target + "/"):
                candidates.append(path + base[len(target):])
        shown = []
        for path in candidates:
            try:
                place = self._walk(path)
            except OSError:
                continue
            if isinstance(place, Place) and not place.upper and place.base == base:
                shown.append(path)
        return shown

    def _take_readers(self, ino: int) -> Readers:
        with self._lock:
            return self._readers.pop(ino, [])

    def _closed(self, handle: BaseHandle) -> None:
        with self._lock:
            readers = self._readers.get(handle.ino, [])
            if handle in readers:
                readers.remove(handle)
                if not readers:
                    del self._readers[handle.ino]

    # ---- names

    def _new(self, path: str, make: Callable[[], object], directory: bool = False) -> None:
        """Make something at a name where nothing is."""
        parent = self._parent(path)
        self._announce(path, None)
        self._up_directory(parent.path)
        with self.store.transaction():
            self.store.remove_whiteout(path)
            make()
            if directory and parent.base is not None:
                self.store.add_opaque(path)

    def _none_at(self, path: str) -> None:
        if path == "/" or self._find(path) is not None:
            raise error(errno.EEXIST, path)

    def mkdir(self, path: str, mode: int, uid: int, gid: int) -> None:
        with Change(self):
            self._none_at(path)
            self._new(path, lambda: self.delta.mkdir(path, mode, uid, gid), directory=True)

    def symlink(self, target: str, path: str, uid: int, gid: int) -> None:
        with Change(self):
            self._none_at(path)
            self._new(path, lambda: self.delta.symlink(target, path, uid, gid))

    def mkfifo(self, path: str, mode: int, uid: int, gid: int) -> None:
        with Change(self):
            self._none_at(path)
            self._new(path, lambda: self.delta.mkfifo(path, mode, uid, gid))

    def link(self, old: str, new: str) -> None:
        with Change(self):
            place = self._place(old)
            if place.stat.is_dir:
                raise error(errno.EPERM, old, new)
            self._none_at(new)
            self._parent(new)
            if not place.upper:
                self._announce(old, place.stat)
                self._copy_up(place)
            self._new(new, lambda: self.delta.link(old, new))

    def _covers(self, place: Place) -> bool:
        """Would the base show something at this name if the delta had nothing there?"""
        if not place.upper:
            return True
        if place.under is None:
            return False
        try:
            self._base_stat(place.under, place.path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def _touched(self, directory: str) -> None:
        """The times of a directory from which a name went away that was not in the delta."""
        self.delta.setattr(directory, mtime_ns=time.time_ns())

    def unlink(self, path: str) -> None:
        with Change(self):
            parent = self._parent(path)
            place = self._place(path)
            if place.stat.is_dir:
                raise error(errno.EISDIR, path)
            self._announce(path, place.stat)
            self._away(place)
            covers = self._covers(place)
            self._up_directory(parent.path)
            with self.store.transaction():
                if place.upper:
                    self.delta.unlink(path)
                else:
                    self._touched(parent.path)
                if covers:
                    self.store.add_whiteout(path)

    def _away(self, place: Place) -> None:
        """Before a file loses a name: one with several names, or one that is open, is copied up to count them."""
        if not place.upper and not place.stat.is_dir and self._other_names(place):
            self._copy_up(place)
        elif not place.upper:
            for reader in self._take_readers(place.stat.ino):
                reader.unlinked = True

    def rmdir(self, path: str) -> None:
        with Change(self):
            parent = self._parent(path)
            place = self._place(path)
            if not place.stat.is_dir:
                raise error(errno.ENOTDIR, path)
            if self._entries(place):
                raise error(errno.ENOTEMPTY, path)
            self._announce(path, place.stat)
            covers = self._covers(place)
            self._up_directory(parent.path)
            with self.store.transaction():
                if place.upper:
                    self.delta.rmdir(path)
                else:
                    self._touched(parent.path)
                self.store.drop_marks(path)
                if covers:
                    self.store.add_whiteout(path)

    def rename(self, old: str, new: str, *, replace: bool = True) -> None:
        with Change(self):
            source = self._parent(old)
            target = self._parent(new)
            place = self._place(old)
            directory = place.stat.is_dir
            if directory and new.startswith(old + "/"):
                raise error(errno.EINVAL, old, new)
            there = self._find(new)
            if there is not None:
                if self._show(there).ino == self._show(place).ino and replace:
                    return
                self._may_replace(there, directory, replace, old, new)
            self._announce(old, place.stat)
            self._announce(new, None if there is None else there.stat)
            if there is not None:
                self._away(there)
            under = place.under
            covers = self._covers(place)
            if directory:
                self._up_directory(place.path)
            elif not place.upper:
                self._copy_up(place)
            self._up_directory(source.path)
            target = self._parent(new)
            self._up_directory(target.path)
            with self.store.transaction():
                if there is not None and there.upper and directory:
                    self.delta.rmdir(new)
                self.store.drop_marks(new)
                self.delta.rename(old, new)
                if directory:
                    self.store.move_marks(old, new)
                    if place.base is not None:
                        self.store.add_redirect(new, place.base)
                    elif target.base is not None:
                        self.store.add_opaque(new)
                if covers and under is not None:
                    self.store.add_whiteout(old)

    def _may_replace(self, there: Place, directory: bool, replace: bool, old: str, new: str) -> None:
        if not replace:
            raise error(errno.EEXIST, old, new)
        if there.stat.is_dir:
            if not directory:
                raise error(errno.EISDIR, old, new)
            if self._entries(there):
                raise error(errno.ENOTEMPTY, old, new)
        elif directory:
            raise error(errno.ENOTDIR, old, new)

    # ---- attributes

    def _up(self, path: str) -> None:
        """Whatever is at the path can be changed in the delta afterwards."""
        place = self._place(path)
        if not place.upper:
            self._announce(path, place.stat)
            if place.stat.is_dir:
                self._up_directory(place.path)
            else:
                self._copy_up(place)

    def setattr(self, path: str, *, mode: int | None = None, uid: int | None = None, gid: int | None = None,
                atime_ns: int | None = None, mtime_ns: int | None = None) -> None:
        with Change(self):
            self._up(path)
            self.delta.setattr(path, mode=mode, uid=uid, gid=gid, atime_ns=atime_ns, mtime_ns=mtime_ns)

    def getxattr(self, path: str, name: str) -> bytes:
        place = self._place(path)
        if not place.upper and "xattr" not in self._base.can:
            raise error(errno.ENODATA, path)
        value: bytes = self.delta.getxattr(path, name) if place.upper else self.base.getxattr(place.base, name)
        return value

    def listxattr(self, path: str) -> Names:
        place = self._place(path)
        if place.upper:
            return list(self.delta.listxattr(path))
        return list(self.base.listxattr(place.base)) if "xattr" in self._base.can else []

    def setxattr(self, path: str, name: str, value: bytes) -> None:
        with Change(self):
            self._up(path)
            self.delta.setxattr(path, name, value)

    def removexattr(self, path: str, name: str) -> None:
        with Change(self):
            self.getxattr(path, name)
            self._up(path)
            self.delta.removexattr(path, name)

    # ---- the whole

    def changes(self) -> Iterable[tuple[str, str, Stat | None]]:
        """("A" | "M" | "D", path, Stat): what is new, changed or gone, sorted by path.

        A directory that is in the delta only because something below it changed is not in the list, nor is what was in
        a directory that is gone. Of a renamed one everything is in it, as new.
        """
        found: dict[str, tuple[str, str, Stat | None]] = {}
        todo = ["/"]
        while todo:
            at = todo.pop()
            above = self._place(at)
            other = above.base != at                         # renamed or new: what the base has at this path is gone
            shown = {entry.name for entry in (self._entries(above) if other else self.delta.list(at))}
            for name in shown:
                path = join(at, name)
                if path.startswith("/" + TEMPORARY):
                    continue
                place = self._place(path)
                if place.stat.is_dir:
                    todo.append(path)
                letter = self._letter(place)
                if letter:
                    found[path] = (letter, path, self._show(place))
            for name in self._base_names(at) - shown if other else ():
                found[join(at, name)] = ("D", join(at, name), None)
        for path in self.store.whiteouts():
            if self._find(path) is None and self._was(path) is not None:
                found[path] = ("D", path, None)
        return [found[path] for path in sorted(found)]

    def _was(self, path: str) -> Stat | None:
        """What the base has at the path; None where it has nothing, as where it has a link or file on the way."""
        try:
            return self._base_stat(path, path)
        except OSError as e:
            if e.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                return None
            raise

    def _base_names(self, path: str) -> set[str]:
        was = self._was(path)
        return {entry.name for entry in self.base.list(path)} if was is not None and was.is_dir else set()

    def _letter(self, place: Place) -> str:
        """How the place differs from what the base has under its name; "" where it does not."""
        was = self._was(place.path)
        if was is None:
            return "A"
        now = place.stat
        if now.is_dir and was.is_dir and place.base == place.path:
            return "M" if (now.mode, now.uid, now.gid) != (was.mode, was.uid, was.gid) else ""
        return "M"

    def close(self) -> None:
        """Close the base and the delta."""
        for mount in (self.base, self.delta):
            close = getattr(mount, "close", None)
            if close is not None:
                close()


class Change:
    """`with Change(layer):` one change at a time; who has to wait lets other processes of the terminal go on."""

    __slots__ = ("_layer",)

    def __init__(self, layer: Layer) -> None:
        self._layer = layer

    def __enter__(self) -> None:
        layer = self._layer
        while True:
            with layer._lock:
                if not layer._busy:
                    layer._busy = True
                    return
            blocking.sleep(0.001)

    def __exit__(self, *exc: object) -> None:
        self._layer._busy = False


class LayerHandle:
    """An open file of the delta, seen as one of the layer."""

    __slots__ = ("_handle", "_layer", "seekable")
    is_dir = False

    def __init__(self, layer: Layer, handle: Handle) -> None:
        self._layer = layer
        self._handle = handle
        self.seekable = handle.seekable

    def pread(self, size: int, offset: int) -> bytes:
        return self._handle.pread(size, offset)

    def pwrite(self, data: bytes, offset: int) -> int:
        return self._handle.pwrite(data, offset)

    def truncate(self, size: int) -> None:
        self._handle.truncate(size)

    def stat(self) -> Stat:
        return self._layer._shown(self._handle.stat(), True)

    def flush(self) -> None:
        flush(self._handle)

    def sync(self) -> None:
        self._handle.sync()

    def close(self) -> None:
        self._handle.close()


class BaseHandle:
    """A file of the base, open for reading; once it is copied up, the copy."""

    __slots__ = ("_handle", "_layer", "_stat", "_switched", "ino", "seekable", "unlinked")
    is_dir = False

    def __init__(self, layer: Layer, handle: Handle, stat: Stat) -> None:
        self._layer = layer
        self._handle = handle
        self._stat = stat
        self._switched = False
        self.ino = stat.ino
        self.seekable = handle.seekable
        self.unlinked = False

    def switch(self, handle: Handle) -> None:
        old, self._handle, self._switched = self._handle, handle, True
        old.close()

    def pread(self, size: int, offset: int) -> bytes:
        return self._handle.pread(size, offset)

    def pwrite(self, data: bytes, offset: int) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    def truncate(self, size: int) -> None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    def stat(self) -> Stat:
        if self._switched:
            return self._handle.stat()
        stat = self._layer._shown(self._handle.stat() if self._stat.size is None else self._stat, False)
        if self.unlinked:
            stat.nlink = 0
        return stat

    def sync(self) -> None:
        """Nothing was written."""

    def close(self) -> None:
        self._layer._closed(self)
        self._handle.close()


def join(directory: str, name: str) -> str:
    return f"{directory}/{name}" if directory != "/" else f"/{name}"


def _origin(place: Place, kept: int | None = None) -> Origin:
    stat = place.stat
    return Origin(place.base or place.path, stat.ino, stat.version, stat.size or 0, stat.mtime_ns, stat.ctime_ns, kept)
