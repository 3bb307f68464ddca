"""mv: rename files, or copy and remove them where a rename is not possible."""
from __future__ import annotations

import errno

from mirage.commands import _same_file
from mirage.commands._backup import Backup
from mirage.commands._copy import Copier, join
from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import encode
from mirage.commands._prompt import yes
from mirage.commands._text import choice, shell_quote
from mirage.commands.basename import base_name
from mirage.commands.cp import UPDATES, split_operands
from mirage.vfs.types import Stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("bfint:uvS:TZ", {
    "backup": ("backup", OPTIONAL), "debug": ("debug", NONE), "exchange": ("exchange", NONE), "force": ("f", NONE),
    "interactive": ("i", NONE), "no-clobber": ("n", NONE), "no-copy": ("nocopy", NONE),
    "no-target-directory": ("T", NONE), "strip-trailing-slashes": ("strip", NONE), "suffix": ("S", REQUIRED),
    "target-directory": ("t", REQUIRED), "update": ("update", OPTIONAL), "verbose": ("v", NONE),
    "context": ("Z", NONE)},
    help="Usage: NAME [OPTION]... [-T] SOURCE DEST\n  or:  NAME [OPTION]... SOURCE... DIRECTORY\n"
         "  or:  NAME [OPTION]... -t DIRECTORY SOURCE...\nRename SOURCE to DEST, or move SOURCE(s) to DIRECTORY.\n")


class Mover:
    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.interactive = self.verbose = self.update = self.no_copy = self.exchange = False
        self.no_clobber = ""
        self.backup = Backup()
        self.status = 0

    def error(self, text: str, e: OSError | None = None) -> None:
        self.status = 1
        self.proc.stdout.flush()
        if e is None:
            self.proc.message(text)
        else:
            self.proc.fail(text, e)

    def move(self, source: str, target: str) -> None:
        fs, proc = self.proc.fs, self.proc
        from_shown, to_shown = shell_quote(source, True), shell_quote(target, True)
        try:
            stat = fs.stat(source, False)
            if source.endswith("/") and not stat.is_dir and not fs.is_dir(source):
                raise OSError(errno.ENOTDIR, "Not a directory")
        except OSError as e:
            self.error(f"cannot stat {from_shown}", e)
            return
        try:
            old: Stat | None = fs.stat(target.rstrip("/") or target, False)
        except NotADirectoryError as e:
            self.error(f"cannot stat {to_shown}", e)
            return
        except OSError:
            old = None
        if base_name(source) in (".", "..") and source.rstrip("/"):
            self.error(f"cannot move {from_shown} to {to_shown}", OSError(errno.EBUSY, "Device or resource busy"))
            return
        if stat.is_dir and (fs.abspath(target).rstrip("/") + "/").startswith(fs.abspath(source).rstrip("/") + "/"):
            if old is not None and stat.identity == old.identity and fs.abspath(source) == fs.abspath(target):
                self.error(f"{from_shown} and {to_shown} are the same file")
            else:
                self.error(f"cannot move {from_shown} to a subdirectory of itself, {to_shown}")
            return
        if old is not None:
            if not self.replace(source, target, stat, old):
                return
        elif target.endswith("/") and not stat.is_dir:
            self.error(f"cannot move {from_shown} to {to_shown}", OSError(errno.ENOTDIR, "Not a directory"))
            return
        try:
            backup = self.backup.make(proc, target)
        except OSError as e:
            self.error(f"cannot backup {to_shown}", e)
            return
        try:
            if self.exchange and old is not None:
                self.swap(source, target)
            else:
                fs.rename(source, target)
        except OSError as e:
            if e.errno in (errno.EXDEV, errno.ENOSYS) and not self.no_copy:
                self.across(source, target, backup)
            elif e.errno in (errno.ENOTEMPTY, errno.EEXIST):
                self.error(f"cannot overwrite {to_shown}", OSError(errno.ENOTEMPTY, "Directory not empty"))
            else:
                self.error(f"cannot move {from_shown} to {to_shown}", e)
            return
        if self.verbose:
            extra = f" (backup: {shell_quote(backup, True)})" if backup else ""
            verb = "exchanged" if self.exchange else "renamed"
            arrow = "<->" if self.exchange else "->"
            proc.stdout.write(encode(f"{verb} {from_shown} {arrow} {to_shown}{extra}\n"))

    def swap(self, source: str, target: str) -> None:
        fs = self.proc.fs
        temporary = target.rstrip("/") + ".~exchange~"
        fs.rename(target, temporary)
        fs.rename(source, target)
        fs.rename(temporary, source)

    def replace(self, source: str, target: str, stat: Stat, old: Stat) -> bool:
        """May `target` be replaced?"""
        proc, fs = self.proc, self.proc.fs
        from_shown, to_shown = shell_quote(source, True), shell_quote(target, True)
        if self.exchange:
            return True
        if self.no_clobber == "fail":
            self.error(f"not replacing {to_shown}")
            return False
        if self.no_clobber:
            return False
        found = _same_file.check(fs, _same_file.How(self.backup, True, moving=True), source, target, stat, old)
        if found == _same_file.SAME:
            self.error(f"{from_shown} and {to_shown} are the same file")
        if found != _same_file.GO_ON:
            return False
        if self.update and not stat.is_dir and old.mtime_ns >= stat.mtime_ns:
            return False
        if stat.is_dir and not old.is_dir and not self.backup.kind:
            self.error(f"cannot overwrite non-directory {to_shown} with directory {from_shown}")
            return False
        if not stat.is_dir and old.is_dir and not self.backup.kind:
            self.error(f"cannot overwrite directory {to_shown} with non-directory {from_shown}")
            return False
        if self.interactive and not yes(proc, f"overwrite {to_shown}? "):
            self.status = 1
            return False
        return True

    def across(self, source: str, target: str, backup: str) -> None:
        """Copy with everything, then remove the source."""
        from mirage.commands.rm import Remover
        proc = self.proc
        copier = Copier(proc)
        copier.recursive, copier.dereference, copier.moving = True, "P", True
        copier.preserve = {"mode", "ownership", "timestamps", "links"}
        copier.remove_destination = True
        if self.verbose:
            proc.stdout.write(encode(f"copied {shell_quote(source, True)} -> {shell_quote(target, True)}\n"))
        if not copier.copy(source, target) or copier.status:
            self.status = 1
            return
        remover = Remover(proc)
        remover.recursive, remover.force, remover.verbose = True, True, self.verbose
        remover.top(source.rstrip("/") or source)
        self.status |= remover.status


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    mover = Mover(proc)
    folder: str | None = None
    flags: set[str] = set()
    for key, value in options:
        flags.add(key)
        if key == "t":
            folder = value
        elif key == "f":
            mover.interactive, mover.no_clobber = False, ""
        elif key == "i":
            mover.interactive, mover.no_clobber = True, ""
        elif key == "n":
            mover.interactive, mover.no_clobber = False, "skip"
        elif key in ("u", "update"):
            word = choice(proc, SPEC, "--update", value, UPDATES) if value else "older"
            mover.update = word == "older"
            mover.no_clobber = {"none": "skip", "none-fail": "fail"}.get(word, "")
    mover.verbose = "v" in flags
    mover.no_copy = "nocopy" in flags
    mover.exchange = "exchange" in flags
    mover.backup = Backup.from_options(proc, SPEC, options)
    if mover.no_clobber and mover.backup.kind:
        raise usage_error(proc, SPEC, "cannot combine --backup with --exchange, -n, or --update=none-fail")
    if "strip" in flags:
        operands = [o.rstrip("/") or o for o in operands]
    sources, target, folder = split_operands(proc, operands, folder, "T" in flags)
    if folder is None:
        assert target is not None
        mover.move(sources[0], target)
        return mover.status
    made: set[str] = set()
    for source in sources:
        place = join(folder, base_name(source))
        if place in made and mover.backup.kind != "numbered":
            mover.error(f"will not overwrite just-created {shell_quote(place, True)} with {shell_quote(source, True)}")
            continue
        mover.move(source, place)
        made.add(place)
    return mover.status
