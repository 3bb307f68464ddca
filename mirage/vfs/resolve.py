"""From a path to the object it names, as path_resolution(7): links across mounts, `..` physically, limits."""
from __future__ import annotations

import errno

from mirage.vfs.types import S_IFDIR, S_IFLNK, S_IFMT, UID, Stat, annotate, error, permitted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.vfs.gateway import Gate
    from mirage.vfs.namespace import Mounted, Table

MAX_LINKS = 40
NAME_MAX = 255
PATH_MAX = 4096


class Target:
    """What a path named when it was resolved.

    path     absolute and physical: no link in it but perhaps the last component
    mounted  the mount that answers, and `inner`, the path in it
    stat     of the object (of the link itself where it was not followed); None: there is no such name yet
    parent   Stat of the directory for the new name, where `stat` is None
    slash    what was resolved ended in a slash, so that only a directory can get this name
    """

    __slots__ = ("inner", "mounted", "parent", "path", "slash", "stat")

    def __init__(self, mounted: Mounted, inner: str, path: str, stat: Stat | None) -> None:
        self.mounted = mounted
        self.inner = inner
        self.path = path
        self.stat = stat
        self.parent: Stat | None = None
        self.slash = False

    @property
    def backend(self) -> tuple[str, str]:
        """(backend, path in it): equal for every name that mounts of one backend give to this place."""
        return self.mounted.backend(self.inner)

    @property
    def identity(self) -> tuple[int, int] | None:
        """(dev, ino), equal for all hard links of the object."""
        return self.stat.identity if self.stat is not None else None

    def __repr__(self) -> str:
        return f"Target({self.path!r})"


def resolve(table: Table, path: str, follow: bool = True, uid: int = UID, gate: Gate | None = None,
            create: bool = False) -> Target:
    """The object that the absolute `path` names.

    follow  also through a link that is the last component
    create  a missing last component gives a Target with `stat` None instead of ENOENT
    Raises OSError ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG, or what the mount raises; `place` of the error
    is the Target where it happened. What the gate hides is ENOENT, and nothing on the way to it or through it
    tells more; a link, or a directory left by `..`, that may not be looked at is EACCES.
    """
    if len(path) > NAME_MAX or not path.isascii() or "\0" in path:
        check_length(path)
    must_be_directory = False
    rest = ""
    if "/." in path or "//" in path or path[-1:] == "/":
        at, rest, must_be_directory = split(path)
        create = create and not ends_in_dots(path)
    else:
        at = path
    links = 0
    while True:
        mounted = table.find(at)
        inner = at[mounted.cut:] or "/"
        target = Target(mounted, inner, at, None)
        if gate is not None and not gate.visible(target):
            raise _at(target, errno.ENOENT, path)
        try:
            found = mounted.lookup(inner, uid)
        except OSError as e:
            if at in table.children:
                found = table.virtual_stat(at)
            elif e.errno == errno.ENOENT and create and not rest:
                try:
                    target.parent = parent_stat(table, at, uid)
                except OSError as missing:
                    annotate(missing, place=target)
                    raise
                target.slash = must_be_directory
                return target
            else:
                e.filename = path
                del e.filename2
                annotate(e, place=target)
                raise
        if isinstance(found, str):
            link = mounted.outer(found)
            if link in table.children:                       # the mount below makes it a directory
                raise _at(target, errno.ENOENT, path)
            tail = at[len(link) + 1:]
            rest = f"{tail}/{rest}" if rest else tail
        else:
            kind = found.mode & S_IFMT
            if kind == S_IFLNK and at in table.children:
                found, kind = table.virtual_stat(at), S_IFDIR
            if kind != S_IFLNK or not (follow or rest or must_be_directory):
                target.stat = found
                if gate is not None and found.nlink > 1 and kind != S_IFDIR and not gate.visible(target):
                    raise _at(target, errno.ENOENT, path)
                if not rest:
                    if must_be_directory and kind != S_IFDIR:
                        raise _at(target, errno.ENOTDIR, path)
                    return target
                if kind != S_IFDIR:
                    raise _at(target, errno.ENOTDIR, path)
                if not permitted(found, 1, uid) or gate is not None and not gate.passable(target):
                    raise _at(target, errno.EACCES, path)
                at, rest, slash = split(f"{at.rpartition('/')[0]}/{rest[3:]}")
                must_be_directory = must_be_directory or slash
                continue
            link = at
        links += 1
        if links > MAX_LINKS:
            raise error(errno.ELOOP, path)
        if gate is not None:
            place = Target(mounted, mounted.inner(link), link, None)
            if not gate.visible(place):
                raise _at(place, errno.ENOENT, path)
            if not gate.passable(place):
                raise _at(place, errno.EACCES, path)
        text = mounted.mount.readlink(mounted.inner(link))
        if not text:
            raise error(errno.ENOENT, path)
        create = create and (bool(rest) or not ends_in_dots(text))
        base = "" if text[0] == "/" else link.rpartition("/")[0] + "/"
        whole = f"{base}{text}/{rest}" if rest else base + text
        check_length(whole, path)
        at, rest, slash = split(whole)
        must_be_directory = must_be_directory or slash


def _at(place: Target, number: int, path: str) -> OSError:
    return annotate(error(number, path), place=place)


def parent_stat(table: Table, path: str, uid: int) -> Stat:
    """Stat of the directory that holds a physical path; ENOENT or ENOTDIR where there is none."""
    head = path.rpartition("/")[0] or "/"
    mounted = table.find(head)
    try:
        found = mounted.lookup(mounted.inner(head), uid)
    except OSError:
        if head in table.children:
            return table.virtual_stat(head)
        raise
    if isinstance(found, str):
        raise error(errno.ENOENT, path)
    if found.mode & S_IFMT != S_IFDIR:
        raise error(errno.ENOTDIR, path)
    if not permitted(found, 1, uid):
        raise error(errno.EACCES, path)
    return found


def split(path: str) -> tuple[str, str, bool]:
    """(normalized path up to the first `..`, the rest from that `..` on, does it demand a directory?)"""
    names = path.split("/")
    slash = names[-1] in ("", ".")
    names = [name for name in names if name and name != "."]
    if ".." in names:
        cut = names.index("..")
        return "/" + "/".join(names[:cut]), "/".join(names[cut:]), slash
    return "/" + "/".join(names), "", slash


def ends_in_dots(path: str) -> bool:
    """Is the last component `.` or `..`, which cannot be the name of anything new?"""
    return path.rstrip("/").rpartition("/")[2] in (".", "..")


def check_length(path: str, shown: str | None = None) -> None:
    """ENAMETOOLONG for a component above 255 bytes or a path above 4096 (with its terminating NUL)."""
    data = path.encode("utf-8", "surrogateescape")
    if len(data) >= PATH_MAX or max(map(len, data.split(b"/"))) > NAME_MAX:
        raise error(errno.ENAMETOOLONG, shown or path)
    if b"\0" in data:
        raise error(errno.ENOENT, shown or path)
