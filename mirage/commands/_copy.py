"""Copying files and trees: what cp, mv (across mounts) and install share."""
from __future__ import annotations

import errno
import os

from mirage.commands import _same_file
from mirage.commands._backup import Backup
from mirage.commands._io import BLOCK, encode
from mirage.commands._prompt import yes
from mirage.commands._text import shell_quote
from mirage.vfs.types import Stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mirage.process.files import OpenFile
    from mirage.process.process import Process


def join(folder: str, name: str) -> str:
    return folder + name if folder.endswith("/") else f"{folder}/{name}"


class Copier:
    """One cp. `preserve` holds mode, ownership, timestamps, links; `dereference` is L (always), H (operands), P."""

    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.fs = proc.fs
        self.recursive = False
        self.dereference = ""
        self.preserve: set[str] = set()
        self.no_preserve_mode = False
        self.hard_link = self.symbolic_link = False
        self.force = self.interactive = self.remove_destination = False
        self.no_clobber = ""
        self.update = False
        self.verbose = self.debug = False
        self.attributes_only = False
        self.backup = Backup()
        self.moving = False
        self.status = 0
        self.seen: dict[tuple[int, int], str] = {}
        self.made: set[tuple[int, int]] = set()
        self.operands = ("", "")
        self.made_paths: set[str] = set()                    # directories made for this operand

    # ---- reporting

    def error(self, text: str, e: OSError | None = None) -> bool:
        self.status = 1
        self.proc.stdout.flush()
        if e is None:
            self.proc.message(text)
        else:
            self.proc.fail(text, e)
        return False

    def say(self, source: str, target: str, backup: str = "") -> None:
        if self.verbose:
            extra = f" (backup: {shell_quote(backup, True)})" if backup else ""
            self.proc.stdout.write(encode(f"{shell_quote(source, True)} -> {shell_quote(target, True)}{extra}\n"))

    # ---- copying

    def copy(self, source: str, target: str, operand: bool = True) -> bool:
        """Copy one operand, with what is below it; False when something failed."""
        todo: list[tuple[str, str, bool] | None] = [(source, target, operand)]   # None: the open directory is done
        after: list[tuple[str, str, Stat]] = []
        fine = True
        self.operands, self.made_paths = (source, target), set()
        while todo:
            item = todo.pop()
            if item is None:
                self.finish_directory(*after.pop())
                continue
            one_source, one_target, is_operand = item
            try:
                below = self.one(one_source, one_target, is_operand)
            except _Failed:
                fine = False
                continue
            if below is not None:
                stat, names = below
                after.append((one_source, one_target, stat))
                todo.append(None)
                todo.extend((join(one_source, n), join(one_target, n), False) for n in reversed(names))
            self.proc.check()
        return fine

    def one(self, source: str, target: str, operand: bool) -> tuple[Stat, list[str]] | None:
        """Copy one file; for a directory: make it, and give its stat and the names to go on with."""
        follow = self.dereference == "L" or self.dereference == "H" and operand
        try:
            stat = self.fs.stat(source, follow)
        except OSError as e:
            raise _Failed(self.error(f"cannot stat {shell_quote(source, True)}", e)) from None
        if stat.is_dir and not self.recursive:
            raise _Failed(self.error(f"-r not specified; omitting directory {shell_quote(source, True)}"))
        old = self._existing(source, target, stat)
        if old is not None and self.same(source, target, stat, old):
            return None
        if stat.is_dir:
            return self.directory(source, target, stat, old)
        if old is not None and not self._may_replace(source, target, stat, old):
            return None
        backup = ""
        if old is not None and self.backup.kind:
            try:
                backup = self.backup.make(self.proc, target)
            except OSError as e:
                raise _Failed(self.error(f"cannot backup {shell_quote(target, True)}", e)) from None
            old = None
        try:
            self.leaf(source, target, stat, old, follow, backup)
        except _Failed:
            if backup and not self.fs.exists(target, follow=False):
                self._quietly(lambda: self.fs.rename(backup, target))
            raise
        return None

    def _existing(self, source: str, target: str, stat: Stat) -> Stat | None:
        links_kept = not stat.is_file or self.hard_link or self.symbolic_link or self.moving \
            or self.remove_destination or bool(self.backup.kind)
        try:
            old = self.fs.stat(target, False)
        except FileNotFoundError:
            return None
        except OSError as e:
            if e.errno == errno.ENOTDIR:
                raise _Failed(self.error(f"cannot stat {shell_quote(target, True)}", e)) from None
            return None
        if old.is_link and not links_kept:
            try:
                return self.fs.stat(target)
            except OSError as e:
                if self.force and e.errno == errno.ELOOP:
                    return old
                raise _Failed(self.error(f"not writing through dangling symlink {shell_quote(target, True)}")) from None
        return old

    def same(self, source: str, target: str, stat: Stat, old: Stat) -> bool:
        """Is there nothing to do, as it is one file? Where that is an error it is reported."""
        how = _same_file.How(self.backup, self.dereference == "P", self.moving, self.remove_destination,
                             self.hard_link, self.symbolic_link)
        found = _same_file.check(self.fs, how, source, target, stat, old)
        if found == _same_file.SAME:
            shown = f"{shell_quote(source, True)} and {shell_quote(target, True)}"
            raise _Failed(self.error(f"{shown} are the same file"))
        return found == _same_file.NOTHING_TO_DO

    def _may_replace(self, source: str, target: str, stat: Stat, old: Stat) -> bool:
        shown = shell_quote(target, True)
        if old.is_dir:
            raise _Failed(self.error(f"cannot overwrite directory {shown} with non-directory "
                                     f"{shell_quote(source, True)}"))
        if self.no_clobber == "fail":
            raise _Failed(self.error(f"not replacing {shown}"))
        if self.no_clobber:
            if self.debug:
                self.proc.stdout.write(encode(f"skipped {shown}\n"))
            return False
        if self.update and old.mtime_ns >= stat.mtime_ns:
            return False
        if self.interactive and not yes(self.proc, f"overwrite {shown}? "):
            self.status = 1
            return False
        return True

    def directory(self, source: str, target: str, stat: Stat, old: Stat | None) -> tuple[Stat, list[str]]:
        if old is not None and not old.is_dir:
            raise _Failed(self.error(f"cannot overwrite non-directory {shell_quote(target, True)} with directory "
                                     f"{shell_quote(source, True)}"))
        if self.fs.abspath(source).rstrip("/") in self.made_paths:
            top, here = (shell_quote(name, True) for name in self.operands)
            raise _Failed(self.error(f"cannot copy a directory, {top}, into itself, {here}"))
        if old is None:
            try:
                self.fs.mkdir(target, 0o777 if self.no_preserve_mode else stat.mode & 0o777 | 0o700)
            except OSError as e:
                raise _Failed(self.error(f"cannot create directory {shell_quote(target, True)}", e)) from None
            self.say(source, target)
            self.made.add(self.fs.stat(target).identity)
            self.made_paths.add(self.fs.abspath(target).rstrip("/"))
        try:
            names = [entry.name for entry in self.fs.list(source)]
        except OSError as e:
            raise _Failed(self.error(f"cannot access {shell_quote(source, True)}", e)) from None
        return stat, names

    def finish_directory(self, source: str, target: str, stat: Stat) -> None:
        made = self.fs.stat(target).identity in self.made if self.fs.exists(target) else False
        if made and not self.no_preserve_mode and not stat.mode & 0o200 and "mode" not in self.preserve:
            self.try_chmod(target, stat.mode & 0o777 & ~self.proc.umask)
        self.attributes(source, target, stat)

    def leaf(self, source: str, target: str, stat: Stat, old: Stat | None, follow: bool, backup: str) -> None:
        fs, shown = self.fs, shell_quote(target, True)
        earlier = None
        if "links" in self.preserve and stat.nlink > 1 and stat.ino:
            earlier = self.seen.get(stat.identity)
            self.seen.setdefault(stat.identity, target)
        replaced = False
        if old is not None and (self.remove_destination or self.hard_link or self.symbolic_link or stat.is_link
                                or earlier is not None or old.is_link and self.force):
            if (self.hard_link or self.symbolic_link) and not (self.force or self.interactive
                                                               or self.remove_destination):
                kind = "hard link" if self.hard_link else "symbolic link"
                if self.hard_link:
                    raise _Failed(self.error(
                        f"cannot create {kind} {shown} to {shell_quote(source, True)}: File exists"))
                raise _Failed(self.error(f"cannot create {kind} {shown} to {shell_quote(source, True)}: File exists"))
            try:
                fs.unlink(target)
            except OSError as e:
                raise _Failed(self.error(f"cannot remove {shown}", e)) from None
            if self.verbose:
                self.proc.stdout.write(encode(f"removed {shown}\n"))
            replaced, old = True, None
        self.say(source, target, backup)
        if self.symbolic_link:
            if not source.startswith("/") and "/" in target.rstrip("/"):
                raise _Failed(self.error(f"{shell_quote(target)}: can make relative symbolic links only in current "
                                         "directory"))
            self._try(f"cannot create symbolic link {shown} to {shell_quote(source, True)}",
                      lambda: fs.symlink(source, target))
            return
        if self.hard_link and not stat.is_dir:
            self._try(f"cannot create hard link {shown} to {shell_quote(source, True)}",
                      lambda: fs.link(source, target, follow))
            return
        if earlier is not None:
            first = earlier
            self._try(f"cannot create hard link {shown} to {shell_quote(first, True)}", lambda: fs.link(first, target))
            return
        if stat.is_link:
            try:
                text = fs.readlink(source)
            except OSError as e:
                raise _Failed(self.error(f"cannot read symbolic link {shell_quote(source, True)}", e)) from None
            self._try(f"cannot create symbolic link {shown}", lambda: fs.symlink(text, target))
            if "timestamps" in self.preserve:
                self._quietly(lambda: fs.utime(target, stat.atime_ns, stat.mtime_ns, False))
            return
        if stat.is_fifo and self.recursive:
            self._try(f"cannot create fifo {shown}", lambda: fs.mkfifo(target, stat.mode & 0o777))
        else:
            self.content(source, target, stat, old is not None and not replaced)
        self.attributes(source, target, stat, new=old is None)

    def content(self, source: str, target: str, stat: Stat, exists: bool) -> None:
        """The bytes; a new file gets the source's mode through the umask."""
        proc, shown = self.proc, shell_quote(target, True)
        try:
            reader = proc.open(source, os.O_RDONLY)
        except OSError as e:
            raise _Failed(self.error(f"cannot open {shell_quote(source, True)} for reading", e)) from None
        reader.incref()
        try:
            mode = 0o666 if self.no_preserve_mode else stat.mode & 0o777
            flags = os.O_WRONLY | (0 if exists else os.O_CREAT) | (0 if self.attributes_only else os.O_TRUNC)
            try:
                if target.endswith("/") and not exists:
                    raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), target)
                writer = proc.open(target, flags, mode)
            except OSError as e:
                if not (exists and self.force):
                    raise _Failed(self.error(f"cannot create regular file {shown}", e)) from None
                self._try(f"cannot remove {shown}", lambda: self.fs.unlink(target))
                if self.verbose:
                    proc.stdout.write(encode(f"removed {shown}\n"))
                try:
                    writer = proc.open(target, os.O_WRONLY | os.O_CREAT, mode)
                except OSError as again:
                    raise _Failed(self.error(f"cannot create regular file {shown}", again)) from None
            writer.incref()
            try:
                if not self.attributes_only:
                    self.pump(reader, writer, source, target)
            finally:
                try:
                    writer.decref()
                except OSError as e:
                    raise _Failed(self.error(f"failed to close {shown}", e)) from None
        finally:
            reader.decref()

    def pump(self, reader: OpenFile, writer: OpenFile, source: str, target: str) -> None:
        while True:
            try:
                data = reader.read(BLOCK)
            except OSError as e:
                raise _Failed(self.error(f"error reading {shell_quote(source, True)}", e)) from None
            if not data:
                return
            try:
                writer.write(data)
            except OSError as e:
                raise _Failed(self.error(f"error writing {shell_quote(target, True)}", e)) from None
            self.proc.check()

    # ---- attributes

    def attributes(self, source: str, target: str, stat: Stat, new: bool = True) -> None:
        fs, preserve = self.fs, self.preserve
        if "ownership" in preserve:
            now = fs.stat(target)
            if (now.uid, now.gid) != (stat.uid, stat.gid):
                self._quietly(lambda: fs.chown(target, stat.uid, stat.gid))
        if "mode" in preserve:
            self.try_chmod(target, stat.mode & 0o7777)
        if "timestamps" in preserve:
            try:
                fs.utime(target, stat.atime_ns, stat.mtime_ns)
            except OSError as e:
                raise _Failed(self.error(f"preserving times for {shell_quote(target, True)}", e)) from None

    def try_chmod(self, target: str, mode: int) -> None:
        self._quietly(lambda: self.fs.chmod(target, mode))

    def _try(self, text: str, action: Callable[[], object]) -> None:
        try:
            action()
        except OSError as e:
            raise _Failed(self.error(text, e)) from None

    @staticmethod
    def _quietly(action: Callable[[], object]) -> None:
        """Attributes that a mount cannot keep are not worth an error."""
        try:
            action()
        except OSError:
            pass


class _Failed(Exception):
    """This file could not be copied; the message is out already."""
