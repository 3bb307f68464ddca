"""rm: remove files and trees."""
from __future__ import annotations

import errno

from mirage.commands._getopt import NONE, OPTIONAL, Spec, parse
from mirage.commands._prompt import yes
from mirage.commands._text import choice, missing_operand, shell_quote
from mirage.vfs.types import Stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("dfirvIR", {
    "force": ("f", NONE), "interactive": ("interactive", OPTIONAL), "one-file-system": ("one", NONE),
    "no-preserve-root": ("noroot", NONE), "preserve-root": ("root", OPTIONAL), "recursive": ("r", NONE),
    "dir": ("d", NONE), "verbose": ("v", NONE)},
    help="Usage: NAME [OPTION]... [FILE]...\nRemove (unlink) the FILE(s).\n")

WHENS = (("never", "no", "none"), ("once",), ("always", "yes"))


class Remover:
    def __init__(self, proc: Process) -> None:
        self.proc = proc
        self.force = self.recursive = self.directories = self.verbose = self.one_system = False
        self.always = False
        self.status = 0

    def error(self, path: str, e: OSError) -> None:
        self.status = 1
        self.proc.stdout.flush()
        self.proc.fail(f"cannot remove {shell_quote(path, True)}", e)

    def say(self, text: str) -> None:
        if self.verbose:
            self.proc.stdout.write(text.encode("utf-8", "surrogateescape") + b"\n")

    def ask(self, path: str, stat: Stat) -> bool:
        """May it go? Asked with -i, and for write-protected files when stdin is a terminal."""
        if not self.always:
            if self.force or stat.is_link or not self.proc.file(0).isatty():
                return True
            if self.proc.fs.access(path, 2):
                return True
        protected = not stat.is_link and not self.proc.fs.access(path, 2)
        kind = "symbolic link" if stat.is_link else "directory" if stat.is_dir else "fifo" if stat.is_fifo else \
            "regular empty file" if stat.is_file and not stat.size else "regular file"
        guard = "write-protected " if protected else ""
        return yes(self.proc, f"remove {guard}{kind} {shell_quote(path, True)}? ")

    def top(self, path: str) -> None:
        name = path.rstrip("/").rpartition("/")[2]
        if name in (".", ".."):
            self.proc.stdout.flush()
            self.proc.message("refusing to remove '.' or '..' directory: skipping " + shell_quote(path, True)) \
                if self.recursive or self.directories else self.error(path, _is_directory(path))
            self.status = 1
            return
        try:
            stat = self.proc.fs.stat(path, False)
        except OSError as e:
            if not (self.force and e.errno in (errno.ENOENT, errno.ENOTDIR)):
                self.error(path, e)
            return
        if path.endswith("/") and stat.is_link and self.proc.fs.is_dir(path):
            self.error(path, OSError(errno.ENOTDIR, "Not a directory"))
            return
        if stat.is_dir and not self.recursive:
            if not self.directories:
                self.error(path, _is_directory(path))
            elif self.ask(path, stat):
                self.directory(path)
            return
        if not stat.is_dir:
            self.file(path, stat)
            return
        self.tree(path, stat)

    def file(self, path: str, stat: Stat) -> bool:
        if not self.ask(path, stat):
            return False
        try:
            self.proc.fs.unlink(path)
        except OSError as e:
            if self.force and e.errno == errno.ENOENT:
                return True
            self.error(path, e)
            return False
        self.say(f"removed {shell_quote(path, True)}")
        return True

    def directory(self, path: str) -> bool:
        try:
            self.proc.fs.rmdir(path)
        except OSError as e:
            self.error(path, e)
            return False
        self.say(f"removed directory {shell_quote(path, True)}")
        return True

    def tree(self, top: str, stat: Stat) -> None:
        """Depth first, without recursion; a directory with something left is left too."""
        fs = self.proc.fs
        if self.always and not yes(self.proc, f"descend into directory {shell_quote(top, True)}? "):
            return
        stack: list[tuple[str, list[str] | None]] = [(top, None)]
        kept: set[str] = set()
        while stack:
            path, todo = stack[-1]
            if todo is None:
                try:
                    names = [entry.name for entry in fs.list(path)]
                except OSError as e:
                    self.error(path, e)
                    kept.add(path)
                    stack.pop()
                    kept.add(path.rstrip("/").rpartition("/")[0])
                    continue
                names.reverse()
                todo = names
                stack[-1] = (path, todo)
            if not todo:
                stack.pop()
                parent = path.rstrip("/").rpartition("/")[0]
                if path in kept:
                    if parent and path != top:
                        kept.add(stack[-1][0])
                    continue
                if self.always and not yes(self.proc, f"remove directory {shell_quote(path, True)}? ") \
                        or not self.directory(path):
                    if stack:
                        kept.add(stack[-1][0])
                continue
            child = f"{path}{todo.pop()}" if path.endswith("/") else f"{path}/{todo.pop()}"
            try:
                stat = fs.stat(child, False)
            except FileNotFoundError:
                continue
            except OSError as e:
                self.error(child, e)
                kept.add(path)
                continue
            if stat.is_dir:
                if self.always and not yes(self.proc, f"descend into directory {shell_quote(child, True)}? "):
                    kept.add(path)
                    continue
                stack.append((child, None))
            elif not self.file(child, stat):
                kept.add(path)
            self.proc.kernel.tick()


def _is_directory(path: str) -> OSError:
    return OSError(errno.EISDIR, "Is a directory", path)


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    remover = Remover(proc)
    once = False
    preserve_root = True
    for key, value in options:
        if key == "f":
            remover.force, remover.always, once = True, False, False
        elif key == "i":
            remover.always, remover.force, once = True, False, False
        elif key == "I":
            once, remover.always, remover.force = True, False, False
        elif key == "interactive":
            word = choice(proc, SPEC, "--interactive", value, WHENS) if value else "always"
            remover.always, once = word == "always", word == "once"
            remover.force = word == "never" and remover.force
        elif key in "rR":
            remover.recursive = True
        elif key == "d":
            remover.directories = True
        elif key == "v":
            remover.verbose = True
        elif key == "noroot":
            preserve_root = False
    if not operands:
        if remover.force:
            return 0
        raise missing_operand(proc, SPEC)
    if once and (remover.recursive or len(operands) > 3):
        how = " recursively" if remover.recursive else ""
        noun = "argument" if len(operands) == 1 else "arguments"
        if not yes(proc, f"remove {len(operands)} {noun}{how}? "):
            return 0
    for operand in operands:
        if remover.recursive and preserve_root and _is_root(proc, operand):
            proc.stdout.flush()
            shown = shell_quote(operand, True)
            proc.message(f"it is dangerous to operate recursively on {shown}"
                         + ("" if operand == "/" else " (same as '/')"))
            proc.message("use --no-preserve-root to override this failsafe")
            remover.status = 1
            continue
        remover.top(operand)
    return remover.status


def _is_root(proc: Process, path: str) -> bool:
    if path.strip("/") == "":
        return path != ""
    if path.rstrip("/").rpartition("/")[2] in (".", ".."):
        return False
    return path.startswith("/") and path.rstrip("/").rpartition("/")[2] == "" and proc.fs.abspath(path) == "/"
