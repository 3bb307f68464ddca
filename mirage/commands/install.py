"""install: copy files and set their attributes."""
from __future__ import annotations

from mirage.commands._backup import Backup
from mirage.commands._copy import Copier, join
from mirage.commands._getopt import NONE, OPTIONAL, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import encode
from mirage.commands._mode import Mode
from mirage.commands._text import fatal, quote, shell_quote
from mirage.commands._users import group_id, user_id
from mirage.commands.basename import base_name
from mirage.commands.cp import check_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("bcCsDdg:m:o:pt:TvS:Z", {
    "backup": ("backup", OPTIONAL), "compare": ("C", NONE), "directory": ("d", NONE), "group": ("g", REQUIRED),
    "mode": ("m", REQUIRED), "owner": ("o", REQUIRED), "preserve-timestamps": ("p", NONE), "strip": ("s", NONE),
    "suffix": ("S", REQUIRED), "target-directory": ("t", REQUIRED), "no-target-directory": ("T", NONE),
    "verbose": ("v", NONE), "debug": ("debug", NONE)},
    help="Usage: NAME [OPTION]... [-T] SOURCE DEST\n  or:  NAME [OPTION]... SOURCE... DIRECTORY\n"
         "  or:  NAME [OPTION]... -t DIRECTORY SOURCE...\n  or:  NAME [OPTION]... -d DIRECTORY...\n")


class Installer:
    def __init__(self, proc: Process, values: dict[str, str]) -> None:
        self.proc = proc
        self.verbose = "v" in values
        self.compare = "C" in values
        self.status = 0
        self.uid = self.gid = -1
        if values.get("o"):
            uid = user_id(proc, values["o"])
            if uid is None:
                raise fatal(proc, f"invalid user {shell_quote(values['o'], True)}")
            self.uid = uid
        if values.get("g"):
            gid = group_id(proc, values["g"])
            if gid is None:
                raise fatal(proc, f"invalid group {shell_quote(values['g'], True)}")
            self.gid = gid
        try:
            mode = Mode(values.get("m", "755"))
        except ValueError:
            raise fatal(proc, f"invalid mode {quote(proc, values['m'])}") from None
        self.mode = mode
        self.times = "p" in values

    def finish(self, path: str, is_dir: bool) -> None:
        fs = self.proc.fs
        if self.uid != -1 or self.gid != -1:
            fs.chown(path, self.uid, self.gid)
        fs.chmod(path, self.mode.apply(0, is_dir, self.proc.umask))

    def error(self, text: str, e: OSError) -> None:
        self.status = 1
        self.proc.stdout.flush()
        self.proc.fail(text, e)

    def folders(self, path: str, finish_last: bool) -> bool:
        """mkdir -p with messages of its own."""
        proc, at = self.proc, ""
        parts = path.rstrip("/").split("/")
        for number, part in enumerate(parts):
            at = part if number == 0 else f"{at}/{part}"
            if not part or proc.fs.is_dir(at):
                if finish_last and number == len(parts) - 1 and part:
                    self.finish(at, True)
                continue
            try:
                proc.fs.mkdir(at)
                if self.verbose:
                    proc.stdout.write(encode(f"install: creating directory {shell_quote(at, True)}\n"))
                if finish_last and number == len(parts) - 1:
                    self.finish(at, True)
            except OSError as e:
                self.error(f"cannot create directory {quote(proc, at)}", e)
                return False
        return True

    def file(self, source: str, target: str, backup: Backup) -> None:
        proc = self.proc
        if proc.fs.is_dir(source):
            proc.stdout.flush()
            proc.message(f"omitting directory {shell_quote(source, True)}")
            self.status = 1
            return
        if self.compare and self.equal(source, target):
            return
        copier = Copier(proc)
        copier.dereference, copier.backup = "L", backup
        copier.remove_destination = not backup.kind
        copier.verbose = self.verbose
        if not copier.copy(source, target):
            self.status = 1
            return
        try:
            self.finish(target, False)
            if self.times:
                stat = proc.fs.stat(source)
                proc.fs.utime(target, stat.atime_ns, stat.mtime_ns)
        except OSError as e:
            self.error(f"cannot change permissions of {shell_quote(target, True)}", e)

    def equal(self, source: str, target: str) -> bool:
        fs = self.proc.fs
        try:
            a, b = fs.stat(source), fs.stat(target, False)
            mode = self.mode.apply(0, False, self.proc.umask)
            return b.is_file and a.size == b.size and b.mode & 0o7777 == mode and fs.read(source) == fs.read(target)
        except OSError:
            return False


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    values = dict(options)
    installer = Installer(proc, values)
    backup = Backup.from_options(proc, SPEC, options)
    if not operands:
        raise usage_error(proc, SPEC, "missing file operand")
    if "d" in values:
        for operand in operands:
            installer.folders(operand, True)
        return installer.status
    folder = values.get("t")
    if "T" in values and len(operands) > 2:
        raise usage_error(proc, SPEC, f"extra operand {shell_quote(operands[2], True)}")
    if folder is None and len(operands) == 1:
        raise usage_error(proc, SPEC, f"missing destination file operand after {shell_quote(operands[0], True)}")
    if folder is not None:
        if "T" in values:
            raise fatal(proc, "cannot combine --target-directory (-t) and --no-target-directory (-T)")
        if "D" in values and not installer.folders(folder, False):
            return installer.status
        check_directory(proc, folder, "failed to access ")
    elif len(operands) > 2 or proc.fs.is_dir(operands[-1]) and "T" not in values:
        folder = operands.pop()
        check_directory(proc, folder, "target ")
    if folder is None:
        source, target = operands
        parent = target.rstrip("/").rpartition("/")[0]
        if "D" in values and parent and not installer.folders(parent, False):
            return installer.status
        installer.file(source, target, backup)
        return installer.status
    for operand in operands:
        installer.file(operand, join(folder, base_name(operand)), backup)
    return installer.status
