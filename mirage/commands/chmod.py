"""chmod: change permission bits."""
from __future__ import annotations

import re
import stat as st

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse, usage_error
from mirage.commands._mode import Mode
from mirage.commands._text import fatal, quote, shell_quote
from mirage.process.process import refusal_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process
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
        self.follow = "h" not in flags
        self.checked = False

    def error(self, text: str, e: OSError) -> None:
        self.status = 1
        if "f" not in self.flags:
            self.proc.stdout.flush()
            self.proc.message(f"{text}: {e.strerror}")
            self.proc.write_error(refusal_note(e))

    def one(self, path: str, stat: Stat, follow: bool = True) -> None:
        proc = self.proc
        old = stat.mode & 0o7777
        new = self.mode.apply(old, stat.is_dir, proc.umask)
        try:
            proc.fs.chmod(path, new, follow)
        except OSError as e:
            self.error(f"changing permissions of {shell_quote(path, True)}", e)
            return
        if "v" in self.flags or "c" in self.flags and old != new:
            before, after = st.filemode(stat.mode)[1:], st.filemode(stat.mode & ~0o7777 | new)[1:]
            shown = shell_quote(path, True)
            text = (f"mode of {shown} changed from {old:04o} ({before}) to {new:04o} ({after})" if old != new
                    else f"mode of {shown} retained as {old:04o} ({before})")
            proc.stdout.write(text.encode("utf-8", "surrogateescape") + b"\n")
        if self.checked and self.mode.refused_bits(old, stat.is_dir, proc.umask):
            wanted = self.mode.apply(old, stat.is_dir, 0)
            proc.stdout.flush()
            proc.message(f"{shell_quote(path)}: new permissions are {st.filemode(stat.mode & ~0o7777 | new)[1:]}, "
                         f"not {st.filemode(stat.mode & ~0o7777 | wanted)[1:]}")
            self.status = 1

    def tree(self, path: str) -> None:
        proc = self.proc
        try:
            stat = proc.fs.stat(path, self.follow)
        except OSError as e:
            try:
                link = proc.fs.stat(path, False).is_link
            except OSError:
                link = False
            if link:
                self.status = 1
                if "f" not in self.flags:
                    proc.message(f"cannot operate on dangling symlink {shell_quote(path, True)}")
            else:
                self.error(f"cannot access {shell_quote(path, True)}", e)
            return
        recursive = "R" in self.flags and stat.is_dir
        if "R" in self.flags and "root" in self.flags and proc.fs.realpath(path) == "/":
            proc.message(f"it is dangerous to operate recursively on {shell_quote(path, True)}")
            proc.message("use --no-preserve-root to override this failsafe")
            self.status = 1
            return
        self.one(path, stat, self.follow)
        if not recursive:
            return
        stack = [path]
        while stack:
            folder = stack.pop()
            try:
                entries = proc.fs.list(folder)
            except OSError as e:
                self.error(f"cannot read directory {shell_quote(folder, True)}", e)
                continue
            prefix = folder if folder.endswith("/") else folder + "/"
            below = []
            for entry in entries:
                child = prefix + entry.name
                try:
                    stat = proc.fs.stat(child, False)
                except OSError as e:
                    self.error(f"cannot access {shell_quote(child, True)}", e)
                    continue
                if stat.is_link:
                    continue
                self.one(child, stat, False)
                if stat.is_dir:
                    below.append(child)
            stack.extend(reversed(below))
            proc.check()


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
