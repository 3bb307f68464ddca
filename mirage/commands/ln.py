"""ln: make links between files."""
from __future__ import annotations

import errno

from mirage.commands._backup import Backup
from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import encode
from mirage.commands._prompt import yes
from mirage.commands._same_file import same_name
from mirage.commands._text import extra_operand, fatal, quote, shell_quote
from mirage.commands.basename import base_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process
    from mirage.vfs.types import Stat

SPEC = Spec("bdfFiLnPrsS:t:Tv", {
    "backup": ("backup", OPTIONAL), "directory": ("d", NONE), "no-dereference": ("n", NONE),
    "no-target-directory": ("T", NONE), "force": ("f", NONE), "interactive": ("i", NONE), "suffix": ("S", REQUIRED),
    "target-directory": ("t", REQUIRED), "logical": ("L", NONE), "physical": ("P", NONE), "relative": ("r", NONE),
    "symbolic": ("s", NONE), "verbose": ("v", NONE)},
    help="Usage: NAME [OPTION]... [-T] TARGET LINK_NAME\n  or:  NAME [OPTION]... TARGET\n"
         "  or:  NAME [OPTION]... TARGET... DIRECTORY\n  or:  NAME [OPTION]... -t DIRECTORY TARGET...\n")


class Linker:
    def __init__(self, proc: Process, flags: set[str], backup: Backup) -> None:
        self.proc = proc
        self.flags = flags
        self.backup = backup
        self.status = 0

    def error(self, text: str, e: OSError | None = None) -> None:
        self.status = 1
        self.proc.stdout.flush()
        if e is None:
            self.proc.message(text)
        else:
            self.proc.fail(text, e)

    def link(self, source: str, target: str) -> None:
        proc, flags, fs = self.proc, self.flags, self.proc.fs
        symbolic = "s" in flags
        if not symbolic:
            try:
                stat = fs.stat(source, "L" in flags)
            except OSError as e:
                self.error(f"failed to access {shell_quote(source, True)}", e)
                return
            if stat.is_dir:
                self.error(f"{shell_quote(source)}: hard link not allowed for directory")
                return
        backup = ""
        if fs.exists(target, follow=False) and (flags & set("fi") or self.backup.kind):
            old = fs.stat(target, False)
            if old.is_dir:
                self.error(f"{shell_quote(target)}: cannot overwrite directory")
                return
            if not (symbolic and self.backup.kind) and self.one_name(source, target, old):
                self.error(f"{shell_quote(source, True)} and {shell_quote(target, True)} are the same file")
                return
            if "i" in flags and not yes(proc, f"replace {shell_quote(target, True)}? "):
                return
            try:
                backup = self.backup.make(proc, target)
                if not backup:
                    fs.unlink(target)
            except OSError as e:
                self.error(f"cannot remove {shell_quote(target, True)}", e)
                return
        text = self.relative(source, target) if symbolic and "r" in flags else source
        try:
            if symbolic:
                fs.symlink(text, target)
            else:
                fs.link(source, target, "L" in flags)
        except OSError as e:
            kind = "symbolic link" if symbolic else "hard link"
            shown = shell_quote(target, True)
            if symbolic and (not source or e.errno == errno.ENAMETOOLONG):
                shown += f" -> {shell_quote(text, True)}"
            elif not symbolic and e.errno not in (errno.EDQUOT, errno.EEXIST, errno.ENOSPC, errno.EROFS):
                shown += f" => {shell_quote(source, True)}"
            self.error(f"failed to create {kind} {shown}", e)
            return
        if "v" in flags:
            arrow = "->" if symbolic else "=>"
            saved = f"{shell_quote(backup, True)} ~ " if backup else ""
            proc.stdout.write(encode(f"{saved}{shell_quote(target, True)} {arrow} {shell_quote(text, True)}\n"))

    def one_name(self, source: str, target: str, old: Stat) -> bool:
        """Would removing `target` (what is there: `old`) take the source away?"""
        fs = self.proc.fs
        try:
            new = fs.stat(source, "s" in self.flags or "L" in self.flags)
        except OSError:
            return False
        if not new.ino or new.identity != old.identity:
            return False
        return new.nlink == 1 or same_name(fs, source, target)

    def relative(self, source: str, target: str) -> str:
        from mirage.commands.realpath import canonical, relative_to
        folder = canonical(self.proc, target.rpartition("/")[0] or ("/" if target.startswith("/") else "."), "m")
        return relative_to(canonical(self.proc, source, "m"), folder)


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    flags = {key for key, _ in options}
    for key, _ in options:
        if key in "fi":
            flags.discard("i" if key == "f" else "f")
        elif key in "LP":
            flags.discard("P" if key == "L" else "L")
    values = dict(options)
    backup = Backup.from_options(proc, SPEC, options)
    folder = values.get("t")
    if not operands:
        raise usage_error(proc, SPEC, "missing file operand")
    if folder is not None and "T" in flags:
        raise fatal(proc, "cannot combine --target-directory and --no-target-directory")
    if "r" in flags and "s" not in flags:
        raise fatal(proc, "cannot do --relative without --symbolic")
    if "T" in flags:
        if len(operands) == 1:
            raise usage_error(proc, SPEC, f"missing destination file operand after {quote(proc, operands[0])}")
        if len(operands) > 2:
            raise extra_operand(proc, SPEC, operands[2])
    linker = Linker(proc, flags, backup)
    if folder is None:
        if len(operands) == 1:
            operands.append(".")
        last = operands[-1]
        single = len(operands) == 2
        is_folder = proc.fs.is_dir(last) and not ("n" in flags and proc.fs.stat(last, False).is_link)
        if single and ("T" in flags or not is_folder):
            linker.link(operands[0], last)
            return linker.status
        if not is_folder:
            try:
                proc.fs.stat(last)
                reason = "Not a directory"
            except OSError as e:
                reason = e.strerror or ""
            raise fatal(proc, f"target {shell_quote(last, True)}: {reason}")
        folder = operands.pop()
    else:
        try:
            if not proc.fs.stat(folder).is_dir:
                raise fatal(proc, f"target {shell_quote(folder, True)} is not a directory")
        except OSError as e:
            raise fatal(proc, f"failed to access {shell_quote(folder, True)}: {e.strerror}") from None
    for operand in operands:
        name = base_name(operand)
        linker.link(operand, f"{folder}{name}" if folder.endswith("/") else f"{folder}/{name}")
    return linker.status
