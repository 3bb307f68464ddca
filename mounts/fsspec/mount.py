"""The mount of a file store: keys as paths, bytes as they are."""
from __future__ import annotations

import datetime
import errno
import os
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from mirage.process import blocking
from mirage.vfs.describe import Description
from mirage.vfs.handles import Draft, RangeHandle, WriteBack
from mirage.vfs.service import ByteCache, Freshness, line_of, on_behalf
from mirage.vfs.types import S_IFDIR, S_IFREG, Capabilities, Entry, Stat, annotate, error, new_device

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mirage.mounts.fsspec.store import Keys

    Entries = list[Entry]
    Info = dict[str, Any]

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
TIMES = ("mtime", "LastModified", "last_modified", "modified", "updated", "created")
TAGS = ("ETag", "etag", "md5Hash", "content_md5", "VersionId", "generation", "crc32c")
SMALL = 1 << 20                                              # contents up to this size are kept, with their tag
AGAIN = 3                                                    # readings of a file that changes meanwhile
KEPT = 16 << 20                                              # bytes in all
SHADOW = "__object"                                          # of a key that is a directory as well
READ_ONLY = ("read_many", "describe", "open")
WRITABLE = ("create", "mkdir", "remove", "rename", "replace")


class _IsFile(NotADirectoryError):
    """A file was listed."""

    def __init__(self, path: str, info: Info) -> None:
        super().__init__(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        self.info = info


class FileStore:
    """A store of fsspec.

    writable  files can be made, changed and removed
    ttl       seconds that a listing is believed within one typed line; every new line asks again
    max_file  bytes of the largest file that can be written
    buckets   the names in the root are buckets: they can be neither made nor removed
    """

    def __init__(self, store: Keys, writable: bool = False, ttl: float = 30.0, max_file: int = 1 << 30,
                 buckets: bool = False) -> None:
        self.store = store
        self.counters = store.counters
        self.writable = writable
        self.buckets = buckets
        self.max_file = max_file
        self.capabilities = Capabilities(*READ_ONLY, *(WRITABLE if writable else ()))
        self.device = new_device()
        self._made = time.time_ns()
        self._lock = threading.Lock()
        self._fresh = Freshness(ttl)
        self._infos: dict[str, Info | None] = {}             # path -> what the store said; None: nothing there
        self._listings: dict[str, dict[str, Info]] = {}      # directory -> name -> info
        self._contents = ByteCache(KEPT)
        self._folders: set[str] = set()                      # of an object store: made here, perhaps empty
        self._drafts: dict[str, Draft] = {}
        self._turn = 0                                       # an answer to an older turn is not kept

    # ---- what the store said

    def forget(self) -> None:
        """Something changed: ask again."""
        with self._lock:
            self._turn += 1
            self._infos.clear()
            self._listings.clear()
        self.store.forget()

    def _refresh(self) -> None:
        if self._fresh.due():
            if not self.store.unchanged():
                self.forget()
            self._fresh.done()

    def _info(self, path: str) -> Info | None:
        """What the store knows of a path, None where there is nothing. Asked once per line."""
        if path == "/" or path in self._folders:
            return {"type": "directory"}
        self._refresh()
        parent, _, name = path.rpartition("/")
        known = self._listings.get(parent or "/")
        if known is not None:
            return known.get(name)
        with self._lock:
            if path in self._infos:
                return self._infos[path]
            turn = self._turn
        try:
            found = self._as_directory(path, name) or blocking.call(self._ask, path)
        except (FileNotFoundError, NotADirectoryError):
            found = self._shadowed(path)
        with self._lock:
            if turn == self._turn:
                self._infos[path] = found
        return found

    def _as_directory(self, path: str, name: str) -> Info | None:
        """A name without an extension is probably that of a directory, which a store of keys tells by its listing.

        Not where files are written: new ones would be looked for twice.
        """
        if self.writable or "." in name or path.endswith(SHADOW) or not self.store.asks_size or not self.store.flat:
            return None
        try:
            return {"type": "directory"} if self._listing(path) else None
        except _IsFile as found:
            return found.info
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _ask(self, path: str) -> Info | None:
        info: Info = self.store.call(path, "info", self.store.full(path))
        return info if info.get("type") in ("file", "directory") else None

    def _shadowed(self, path: str) -> Info | None:
        """The object `a` beside a directory `a`, which is shown as `a__object`."""
        if not path.endswith(SHADOW) or not self.store.flat:
            return None
        parent, _, name = path.rpartition("/")
        return self._listing(parent or "/").get(name) if self._info(parent or "/") is not None else None

    def _listing(self, path: str) -> dict[str, Info]:
        self._refresh()
        known = self._listings.get(path)
        if known is None:
            turn = self._turn
            known = blocking.call(self._ask_listing, path)
            with self._lock:
                if turn == self._turn:
                    self._listings[path] = known
        return known

    def walk_ahead(self, path: str) -> None:
        """A walk of everything below begins: know the listings of all directories, if one answer has them."""
        self._refresh()
        if path in self._listings or not self.store.flat:
            return
        turn = self._turn
        found = blocking.call(self.store.whole_tree, path)
        if found is None:
            return
        listings = {path: {}, **_directories(path, self.store.bare(self.store.full(path)), found)}
        with self._lock:
            if turn == self._turn:
                for directory, infos in listings.items():
                    self._listings[directory] = _entries(infos.values())

    def _ask_listing(self, path: str) -> dict[str, Info]:
        full = self.store.full(path)
        try:
            found = self.store.call(path, "ls", full, detail=True)
        except FileNotFoundError:
            if path == "/" or path in self._folders:
                return {}
            raise
        own = self.store.bare(full)
        for info in found:
            if str(info["name"]).strip("/") == own and info.get("type") == "file" and len(found) == 1 \
                    and not str(info["name"]).endswith("/"):
                raise _IsFile(path, info)
        return _entries(info for info in found if str(info["name"]).strip("/") != own)

    def _missing(self, path: str) -> OSError:
        """ENOTDIR where a name on the way is a file, else ENOENT."""
        at = path.rpartition("/")[0]
        while at:
            info = self._info(at)
            if info is not None or at in self._drafts:
                is_file = at in self._drafts or info is not None and info["type"] == "file"
                return error(errno.ENOTDIR if is_file else errno.ENOENT, path)
            at = at.rpartition("/")[0]
        return error(errno.ENOENT, path)

    # ---- looking

    def stat(self, path: str) -> Stat:
        draft = self._drafts.get(path)
        if draft is not None:
            return self._draft_stat(draft)
        info = self._info(path)
        if info is None:
            raise self._missing(path)
        return self._stat(info)

    def _stat(self, info: Info) -> Stat:
        write = 0o222 if self.writable else 0
        if info["type"] == "directory":
            return Stat(S_IFDIR | 0o555 | write & 0o200, 4096, _time(info) or self._made, nlink=2)
        size = info.get("size")
        when = _time(info)
        tag = next((str(info[key]) for key in TAGS if info.get(key)), None)
        version = tag or (f"{when}-{size}" if when is not None else None)
        return Stat(S_IFREG | 0o444 | write & 0o200, size, when or self._made, version=version)

    def _draft_stat(self, draft: Draft) -> Stat:
        if draft.unread:
            draft.pread(0, 0)
        return Stat(S_IFREG | 0o644, draft.size, draft.mtime_ns, version=f"{draft.mtime_ns}-{draft.size}")

    def list(self, path: str) -> Entries:
        if path in self._drafts:
            raise error(errno.ENOTDIR, path)
        try:
            found = self._listing(path)
        except (FileNotFoundError, NotADirectoryError):
            info = self._info(path)
            raise self._missing(path) if info is None else error(errno.ENOTDIR, path) from None
        entries = {name: self._stat(info) for name, info in found.items()}
        prefix = path.rstrip("/") + "/"
        with self._lock:
            folders, drafts = list(self._folders), list(self._drafts.items())
        for folder in folders:
            if folder.startswith(prefix) and "/" not in (name := folder[len(prefix):]):
                entries[name] = self._stat({"type": "directory"})
        for name, draft in drafts:
            if name.startswith(prefix) and "/" not in name[len(prefix):]:
                entries[name[len(prefix):]] = self._draft_stat(draft)
        return [Entry(name, stat) for name, stat in entries.items()]

    # ---- content

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        draft = self._drafts.get(path)
        if draft is not None:
            return draft.pread(self.max_file if length is None else length, offset)
        info = self._info(path)
        if info is None:
            raise self._missing(path)
        if info["type"] == "directory":
            raise error(errno.EISDIR, path)
        return blocking.call(self._fetch, path, info, offset, length)

    def _fetch(self, path: str, info: Info, offset: int, length: int | None) -> bytes:
        size = info.get("size")
        tag = next((str(info[key]) for key in TAGS if info.get(key)), "") if not self.writable else ""
        if tag and size is not None and size <= SMALL:
            kept: bytes | None = self._contents.get((path, tag))
            if kept is not None:
                return kept[offset:] if length is None else kept[offset:offset + length]
        end = None if length is None else offset + length
        if length == 0 or size is not None and offset >= size:
            return b""
        if size is not None and end is not None:
            end = min(end, size)
        full = self.store.full(path) if not path.endswith(SHADOW) else str(info["name"])
        start = offset or None
        if end is None and size is not None and self.store.asks_size:
            start, end = offset, size + 1                    # a byte more, to see whether it grew
        data: bytes = self.store.call(path, "cat_file", full, start=start, end=end)
        self.counters.add(size=len(data))
        whole = end is None or size is not None and end > size
        if size is not None and len(data) != (size if whole or end is None else end) - offset:
            self.forget()
            for _ in range(AGAIN if not offset and whole else 0):
                fresh = self._ask(path)
                if fresh is None or fresh.get("size") == len(data):
                    break                                    # replaced between the question and the answer: all is new
                data = self.store.call(path, "cat_file", full)
            else:
                fresh = None
            if fresh is not None:
                return bytes(data)
            raise annotate(error(errno.EIO, path), note=f"{self.store.name}: the file changed while it was read")
        if tag and not offset and whole and len(data) <= SMALL:
            self._contents.put((path, tag), bytes(data), len(data) + 200)
        return bytes(data)

    def read_many(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | OSError]]:
        """Contents in the order of the paths, several at a time."""
        line = line_of()
        found = blocking.map_ordered(lambda path: on_behalf(line, self.read, path), paths)
        for path, data in zip(paths, found, strict=True):
            if isinstance(data, Exception) and not isinstance(data, OSError):
                raise data
            yield path, data

    def open(self, path: str, flags: int, mode: int = 0) -> WriteBack | RangeHandle:
        writing = flags & os.O_ACCMODE != os.O_RDONLY or flags & os.O_TRUNC
        stat = self.stat(path)
        if stat.is_dir:
            raise error(errno.EISDIR, path)
        if writing and not self.writable:
            raise error(errno.EROFS, path)
        with self._lock:
            draft = self._drafts.get(path)
            if draft is None and writing:
                load = None if flags & os.O_TRUNC else partial(self._load, path)
                draft = self._draft(path, load)
            if draft is not None:
                draft.handles += 1
        if draft is None:
            return RangeHandle(self, path, stat)
        handle = WriteBack(draft, self._draft_stat, self._release)
        if flags & os.O_TRUNC:
            handle.truncate(0)
        return handle

    def create(self, path: str, mode: int, uid: int, gid: int, exclusive: bool = False) -> WriteBack:
        self._may_be_made(path)
        info = self._info(path)
        if info is not None or path in self._drafts:
            if exclusive:
                raise error(errno.EEXIST, path)
            handle = self.open(path, os.O_RDWR)
            assert isinstance(handle, WriteBack)
            return handle
        with self._lock:
            draft = self._drafts.get(path) or self._draft(path, None)
            draft.handles += 1
        return WriteBack(draft, self._draft_stat, self._release)

    def _draft(self, path: str, load: Any) -> Draft:
        draft = self._drafts[path] = Draft(load, partial(self._put, path), self.max_file)
        return draft

    def _load(self, path: str) -> bytes:
        info = self._info(path)
        if info is None:
            raise error(errno.ENOENT, path)
        if (info.get("size") or 0) > self.max_file:
            raise error(errno.EFBIG, path)
        return self._fetch(path, info, 0, None)

    def _put(self, path: str, file: Any, size: int) -> None:
        self.store.put(path, file, size)
        self.forget()

    def _release(self, draft: Draft) -> None:
        with self._lock:
            draft.handles -= 1
            if not draft.handles:
                for path, other in list(self._drafts.items()):
                    if other is draft:
                        del self._drafts[path]
                draft.discard()

    def replace(self, path: str, data: bytes, mode: int, uid: int, gid: int) -> None:
        import io
        self._may_be_made(path)
        info = self._info(path)
        if info is not None and info["type"] == "directory":
            raise error(errno.EISDIR, path)
        if len(data) > self.max_file:
            raise error(errno.EFBIG, path)
        draft = self._drafts.get(path)
        if draft is not None:
            draft.truncate(0)
            draft.pwrite(data, 0)
            draft.flush()
        else:
            blocking.call(self._put, path, io.BytesIO(data), len(data))

    # ---- names

    def _may_be_made(self, path: str) -> None:
        """Is there a directory for this name?"""
        if path == "/":
            raise error(errno.EEXIST, path)
        parent = path.rpartition("/")[0] or "/"
        if self.buckets and parent == "/":
            raise error(errno.EPERM, path)
        info = self._info(parent)
        if parent in self._drafts or info is not None and info["type"] == "file":
            raise error(errno.ENOTDIR, path)
        if info is None:
            raise self._missing(path)

    def mkdir(self, path: str, mode: int, uid: int, gid: int) -> None:
        if self._info(path) is not None or path in self._drafts:
            raise error(errno.EEXIST, path)
        self._may_be_made(path)
        if self.store.flat:
            self._folders.add(path)
        else:
            blocking.call(partial(self.store.call, path, "mkdir", self.store.full(path), create_parents=False))
            self.forget()

    def unlink(self, path: str) -> None:
        if self.stat(path).is_dir:
            raise error(errno.EISDIR, path)
        draft = self._drafts.pop(path, None)
        if draft is not None:
            draft.discard()
        info = self._info(path)
        if info is not None:
            self._keep_folder(path)
            full = self.store.full(path) if not path.endswith(SHADOW) else str(info["name"])
            blocking.call(self.store.call, path, "rm_file", full)
            self.forget()

    def _keep_folder(self, path: str) -> None:
        """An object store forgets a directory with its last object; here it stays until it is removed."""
        parent = path.rpartition("/")[0]
        if self.store.flat and parent:
            self._folders.add(parent)

    def rmdir(self, path: str) -> None:
        if not self.stat(path).is_dir:
            raise error(errno.ENOTDIR, path)
        if path == "/":
            raise error(errno.EBUSY, path)
        if self.buckets and path.count("/") == 1:
            raise error(errno.EPERM, path)
        if self.list(path):
            raise error(errno.ENOTEMPTY, path)
        if self.store.flat:
            self._keep_folder(path)
            self._folders.discard(path)
        else:
            blocking.call(self.store.call, path, "rmdir", self.store.full(path))
        self.forget()

    def rename(self, old: str, new: str, *, replace: bool = True) -> None:
        """Copies, then deletes, where the store cannot rename: then it is not atomic for whole directories."""
        self._flush(old)
        source = self.stat(old)
        if old == new:
            return
        self._may_be_made(new)
        if source.is_dir and (new + "/").startswith(old + "/"):
            raise error(errno.EINVAL, old)
        self._may_replace(source, new, replace)
        if source.is_dir:
            self._move_directory(old, new)
        else:
            self._move_file(old, new)
        self._keep_folder(old)
        self.forget()

    def _may_replace(self, source: Stat, new: str, replace: bool) -> None:
        info = self._info(new)
        if info is None and new not in self._drafts:
            return
        if not replace:
            raise error(errno.EEXIST, new)
        is_dir = info is not None and info["type"] == "directory"
        if is_dir != source.is_dir:
            raise error(errno.EISDIR if is_dir else errno.ENOTDIR, new)
        if is_dir:
            self.rmdir(new)

    def _flush(self, path: str) -> None:
        """What is open at or below a path is stored before it moves."""
        for name, draft in list(self._drafts.items()):
            if (name + "/").startswith(path + "/"):
                draft.flush()

    def _move_file(self, old: str, new: str) -> None:
        stale = self._drafts.pop(new, None)
        if stale is not None:
            stale.discard()
        blocking.call(self.store.move, old, new)
        draft = self._drafts.pop(old, None)
        if draft is not None:
            draft.moved(partial(self._put, new))
            self._drafts[new] = draft

    def _move_directory(self, old: str, new: str) -> None:
        if not self.store.flat:
            self.mkdir(new, 0o755, 0, 0)
        else:
            self._folders.add(new)
        self.forget()
        for entry in self.list(old):
            below = f"/{entry.name}"
            if entry.stat is not None and entry.stat.is_dir:
                self._move_directory(old + below, new + below)
            else:
                self._move_file(old + below, new + below)
        self.forget()
        self.rmdir(old)

    # ---- description

    def describe(self) -> Description:
        where = self.store.label.removesuffix("://")
        return Description(f"Files of {where}; keys are paths.", writable=self.writable)

    def backend(self, path: str) -> tuple[str, str]:
        """The kind of store, and the path in all of it: that of a bucket or folder is below another's."""
        scheme, _, where = self.store.label.partition("://")
        root = f"/{where.strip('/')}" if where.strip("/") else ""
        return f"store:{scheme}", (root + path).rstrip("/") or "/"

    def __repr__(self) -> str:
        return f"FileStore({self.store.label})"


def _entries(found: Iterable[Info]) -> dict[str, Info]:
    """Name -> info of what is in a directory. A directory comes before a file of its name."""
    entries: dict[str, Info] = {}
    shadows: list[tuple[str, Info]] = []
    for info in found:
        name = str(info["name"]).strip("/").rpartition("/")[2]
        if name in ("", ".", "..") or info.get("type") not in ("file", "directory"):
            continue
        if info["type"] == "file" and entries.get(name, {}).get("type") == "directory":
            shadows.append((name, info))
        else:
            if name in entries:
                shadows.append((name, entries[name]))
            entries[name] = info
    for name, info in shadows:
        if info["type"] == "file":
            entries.setdefault(name + SHADOW, info)
    return entries


def _directories(top: str, own: str, files: Iterable[Info]) -> dict[str, dict[str, Info]]:
    """Directory -> what is in it, of all files below `top`, which is `own` in the store."""
    found: dict[str, dict[str, Info]] = {}
    for info in files:
        above, whole = top, own
        *parts, name = str(info["name"]).strip("/")[len(own):].strip("/").split("/")
        for part in parts:
            whole = f"{whole}/{part}"
            found.setdefault(above, {})[part + "/"] = {"name": whole, "type": "directory", "size": 0}
            above = f"{above.rstrip('/')}/{part}"
            found.setdefault(above, {})
        if not str(info["name"]).endswith("/"):
            found.setdefault(above, {})[name] = info
        else:
            found.setdefault(above, {})[name + "/"] = {"name": f"{whole}/{name}", "type": "directory", "size": 0}
            found.setdefault(f"{above.rstrip('/')}/{name}", {})
    return found


def _time(info: Info) -> int | None:
    """Nanoseconds since the epoch."""
    for key in TIMES:
        value = info.get(key)
        if isinstance(value, datetime.datetime):
            whole = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
            return (whole - EPOCH) // datetime.timedelta(microseconds=1) * 1000
        if isinstance(value, int | float):
            return int(value * 1e9)
    return None
