"""chmod: change permission bits."""
from __future__ import annotations

import re
import stat as st

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse, usage_error
from mirage.commands._io import encode
from mirage.commands._mode import Mode
from mirage.commands._text import fatal, quote, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process
    from mirage.vfs.filesystem import FileSystem
    from mirage.vfs.types import Stat

SPEC = Spec("RcfvHLPhrwxXstugoa,+=01234567", {
    "changes": ("c", NONE), "dereference": ("deref", NONE), "no-dereference": ("h", NONE),
    "no-preserve-root": ("noroot", NONE), "preserve-root": ("root", NONE), "quiet": ("f", NONE),
    "silent": ("f", NONE), "verbose": ("v", NONE), "recursive": ("R", NONE), "reference": ("ref", REQUIRED)},
    help="Usage: NAME [OPTION]... MODE[,MODE]... FILE...\n  or:  NAME [OPTION]... OCTAL-MODE FILE...\n"
         "  or:  NAME [OPTION]... --reference=RFILE FILE...\nChange the mode of each FILE to MODE.\n")

_DASHED = re.compile(r"-[rwxXstugoa0-7,+=-]+\Z")


class Change:
    def __init__(self, proc: Process, mode: Mode, flags: set[str]) -> None:
        self.proc = proc
        self.mode = mode
        self.flags = flags
        self.status = 0
        self.follow_top = not flags & {"h", "P"} if "R" in flags else "h" not in flags
        self.follow_below = bool(flags & {"L", "deref"})
        self.checked = False

    def error(self, text: str, e: OSError) -> None:
        self.status = 1
        if "f" not in self.flags:
            self.proc.stdout.flush()
            self.proc.fail(text, e)

    def say(self, text: str) -> None:
        self.proc.stdout.write(encode(text + "\n"))

    def not_accessed(self, path: str) -> None:
        if "v" in self.flags:
            self.say(f"{shell_quote(path, True)} could not be accessed")

    def one(self, path: str, stat: Stat) -> None:
        proc = self.proc
        shown = shell_quote(path, True)
        if stat.is_link:
            if "v" in self.flags:
                self.say(f"neither symbolic link {shown} nor referent has been changed")
            return
        old = stat.mode & 0o7777
        new = self.mode.apply(old, stat.is_dir, proc.umask)
        before, after = st.filemode(stat.mode)[1:], st.filemode(stat.mode & ~0o7777 | new)[1:]
        change = f"mode of {shown} from {old:04o} ({before}) to {new:04o} ({after})"
        try:
            proc.fs.chmod(path, new)
        except OSError as e:
            self.error(f"changing permissions of {shown}", e)
            if "v" in self.flags:
                self.say(f"failed to change {change}")
            return
        if old != new and self.flags & {"v", "c"}:
            self.say(change.replace(f"{shown} from", f"{shown} changed from", 1))
        elif "v" in self.flags:
            self.say(f"mode of {shown} retained as {old:04o} ({before})")
        if self.checked and self.mode.refused_bits(old, stat.is_dir, proc.umask):
            wanted = self.mode.apply(old, stat.is_dir, 0)
            proc.stdout.flush()
            proc.message(f"{shell_quote(path)}: new permissions are {after}, "
                         f"not {st.filemode(stat.mode & ~0o7777 | wanted)[1:]}")
            self.status = 1

    def stat(self, path: str, follow: bool) -> Stat | None:
        """What `path` is; None after a message when it cannot be told."""
        fs = self.proc.fs
        try:
            return fs.stat(path, follow)
        except OSError as e:
            if follow and _is_link(fs, path):
                self.status = 1
                if "f" not in self.flags:
                    self.proc.stdout.flush()
                    self.proc.message(f"cannot operate on dangling symlink {shell_quote(path, True)}")
            else:
                self.error(f"cannot access {shell_quote(path, True)}", e)
        self.not_accessed(path)
        return None

    def tree(self, path: str) -> None:
        proc = self.proc
        recursive = "R" in self.flags
        if recursive and "root" in self.flags and _is_root(proc.fs, path):
            proc.message(f"it is dangerous to operate recursively on {shell_quote(path, True)}")
            proc.message("use --no-preserve-root to override this failsafe")
            self.status = 1
            return
        stack = [path]
        while stack:
            name = stack.pop()
            top = name is path
            stat = self.stat(name, self.follow_top if top else self.follow_below)
            if stat is None:
                continue
            self.one(name, stat)
            if not recursive or not stat.is_dir:
                continue
            try:
                entries = proc.fs.list(name)
            except OSError as e:
                self.error(f"cannot read directory {shell_quote(name, True)}", e)
                self.not_accessed(name)
                continue
            prefix = name if name.endswith("/") else name + "/"
            stack.extend(prefix + entry.name for entry in reversed(entries))
            proc.check()


def _is_link(fs: FileSystem, path: str) -> bool:
    try:
        return fs.stat(path, False).is_link
    except OSError:
        return False


def _is_root(fs: FileSystem, path: str) -> bool:
    try:
        return fs.realpath(path) == "/"
    except OSError:
        return False


def main(proc: Process) -> int:
    args, mode_texts = [], []
    rest = proc.argv[1:]
    for number, arg in enumerate(rest):
        if arg == "--":
            args += rest[number:]
            break
        if _DASHED.match(arg) and not arg.startswith("--"):
            mode_texts.append(arg)
        else:
            args.append(arg)
    options, operands = parse(proc, SPEC, args)
    flags = {key for key, _ in options}
    reference = next((value for key, value in reversed(options) if key == "ref"), None)
    dashed = bool(mode_texts)
    if mode_texts and reference is not None:
        raise usage_error(proc, SPEC, "cannot combine mode and --reference options")
    if not mode_texts and reference is None:
        if operands:
            mode_texts = [operands.pop(0)]
    if not operands:
        if mode_texts:
            raise usage_error(proc, SPEC, f"missing operand after {quote(proc, rest[-1])}" if not dashed
                              else "missing operand")
        raise usage_error(proc, SPEC, "missing operand")
    if reference is not None:
        try:
            mode = Mode(f"{proc.fs.stat(reference).mode & 0o7777:05o}")
        except OSError as e:
            raise fatal(proc, f"failed to get attributes of {shell_quote(reference, True)}: {e.strerror}") from None
    else:
        try:
            mode = Mode(",".join(mode_texts))
        except ValueError:
            raise usage_error(proc, SPEC, f"invalid mode: {quote(proc, ','.join(mode_texts))}") from None
    change = Change(proc, mode, flags)
    change.checked = dashed
    for operand in operands:
        change.tree(operand)
    return change.status
