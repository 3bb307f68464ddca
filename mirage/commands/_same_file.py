"""Are source and target of a copy one file, and may it go on then? The rules of coreutils' copy.c (same_file_ok)."""
from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.commands._backup import Backup
    from mirage.vfs.filesystem import FileSystem
    from mirage.vfs.types import Stat

GO_ON, NOTHING_TO_DO, SAME = range(3)


class How:
    """The options that matter: `never_follow` is cp -P and mv, `remove` cp --remove-destination."""

    __slots__ = ("backup", "hard_link", "moving", "never_follow", "remove", "symbolic_link")

    def __init__(self, backup: Backup, never_follow: bool, moving: bool = False, remove: bool = False,
                 hard_link: bool = False, symbolic_link: bool = False) -> None:
        self.backup, self.never_follow, self.moving = bool(backup.kind), never_follow, moving
        self.remove, self.hard_link, self.symbolic_link = remove, hard_link, symbolic_link


def place(fs: FileSystem, path: str) -> tuple[str, str]:
    """The directory entry that a path names: real directory, name in it."""
    folder, name = os.path.split(path.rstrip("/") or "/")
    return fs.realpath(folder or ".", False), name


def same_name(fs: FileSystem, one: str, other: str) -> bool:
    return place(fs, one) == place(fs, other)


def check(fs: FileSystem, how: How, source: str, target: str, stat: Stat, old: Stat) -> int:
    """GO_ON, NOTHING_TO_DO or SAME; `stat` and `old` are what the copy sees, links followed or not."""
    same = _one_inode(stat, old)
    if same and how.hard_link:
        return NOTHING_TO_DO
    if how.never_follow:
        if stat.is_link and old.is_link:
            if same_name(fs, source, target):
                return SAME
            return GO_ON if how.backup or not same else SAME if how.moving else NOTHING_TO_DO
        source_link, target_link, same_link = stat, old, same
    else:
        if not same:
            return GO_ON
        try:
            source_link, target_link = fs.stat(source, False), fs.stat(target, False)
        except OSError:
            return GO_ON
        same_link = _one_inode(source_link, target_link)
        if source_link.is_link and target_link.is_link and how.remove:
            return GO_ON
    if how.backup:
        if same_link:
            return SAME if same_name(fs, source, target) else GO_ON
        lost = not how.moving and not how.never_follow and source_link.is_link and not target_link.is_link
        return SAME if lost else GO_ON
    if how.moving or how.remove:
        if target_link.is_link:
            return GO_ON
        if same_link and target_link.nlink > 1 and not same_name(fs, source, target):
            return SAME if how.moving else GO_ON
    if not source_link.is_link and not target_link.is_link and not same_link:
        return GO_ON
    if how.moving and stat.is_link and target_link.nlink > 1:
        return SAME if same_name(fs, fs.realpath(source, False), target) else GO_ON
    if how.symbolic_link and target_link.is_link:
        return GO_ON
    return _referents(fs, how, source, target, target_link) if how.never_follow else SAME


def _referents(fs: FileSystem, how: How, source: str, target: str, target_link: Stat) -> int:
    try:
        if not _one_inode(fs.stat(source), fs.stat(target)):
            return GO_ON
    except OSError:
        return GO_ON
    if how.hard_link:
        return GO_ON if target_link.is_link else NOTHING_TO_DO
    return SAME


def _one_inode(one: Stat, other: Stat) -> bool:
    return bool(one.ino) and one.identity == other.identity
