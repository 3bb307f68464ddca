"""chown and chgrp: change owner and group."""
from __future__ import annotations

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._text import fatal, missing_operand, quote, shell_quote
from mirage.commands._users import group_id, group_name, user_id, user_name
from mirage.process.process import refusal_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("RcfvHLPh", {
    "changes": ("c", NONE), "dereference": ("deref", NONE), "no-dereference": ("h", NONE), "from": ("from", REQUIRED),
    "no-preserve-root": ("noroot", NONE), "preserve-root": ("root", NONE), "quiet": ("f", NONE), "silent": ("f", NONE),
    "verbose": ("v", NONE), "recursive": ("R", NONE), "reference": ("ref", REQUIRED)},
    help="Usage: NAME [OPTION]... [OWNER][:[GROUP]] FILE...\n  or:  NAME [OPTION]... --reference=RFILE FILE...\n"
         "Change the owner and/or group of each FILE.\n")


class Change:
    def __init__(self, proc: Process, flags: set[str], uid: int, gid: int) -> None:
        self.proc = proc
        self.flags = flags
        self.uid = uid
        self.gid = gid
        self.source = (-1, -1)
        self.status = 0

    def error(self, text: str, e: OSError) -> None:
        self.status = 1
        if "f" not in self.flags:
            self.proc.stdout.flush()
            self.proc.message(f"{text}: {e.strerror}")
            self.proc.write_error(refusal_note(e))

    def one(self, path: str, follow: bool) -> bool:
        """Change one file; True for a directory to go into."""
        proc, by_group = self.proc, self.proc.name == "chgrp"
        try:
            stat = proc.fs.stat(path, follow)
        except OSError as e:
            self.error(f"cannot access {shell_quote(path, True)}", e)
            return False
        if self.source[0] not in (-1, stat.uid) or self.source[1] not in (-1, stat.gid):
            return stat.is_dir
        uid = self.uid if self.uid not in (-1, stat.uid) else -1
        gid = self.gid if self.gid not in (-1, stat.gid) else -1
        if uid != -1 or gid != -1:
            try:
                proc.fs.chown(path, uid, gid, follow)
            except OSError as e:
                self.error(f"changing {'group' if by_group else 'ownership'} of {shell_quote(path, True)}", e)
                return stat.is_dir
        changed = uid != -1 or gid != -1
        if "v" in self.flags or "c" in self.flags and changed:
            self.report(path, (stat.uid, stat.gid), changed)
        return stat.is_dir

    def report(self, path: str, old: tuple[int, int], changed: bool) -> None:
        proc = self.proc
        what = "group" if proc.name == "chgrp" else "ownership"
        before, after = self.label(*old), self.label(self.uid, self.gid)
        text = f"changed {what} of {shell_quote(path, True)} from {before} to {after}" if changed \
            else f"{what} of {shell_quote(path, True)} retained as {after or before}"
        proc.stdout.write(text.encode("utf-8", "surrogateescape") + b"\n")

    def label(self, uid: int, gid: int) -> str:
        user = user_name(self.proc, uid) if uid != -1 and self.uid != -1 else ""
        group = group_name(self.proc, gid) if gid != -1 and self.gid != -1 else ""
        return f"{user}:{group}" if user and group else user or (group if self.proc.name == "chgrp" else f":{group}")

    def tree(self, top: str) -> None:
        follow = "h" not in self.flags
        recursive = "R" in self.flags
        if recursive and "root" in self.flags and self.proc.fs.abspath(top) == "/":
            self.proc.message(f"it is dangerous to operate recursively on {shell_quote(top, True)}")
            self.proc.message("use --no-preserve-root to override this failsafe")
            self.status = 1
            return
        stack = [top]
        while stack:
            path = stack.pop()
            if not self.one(path, follow and (not recursive or path == top)) or not recursive:
                continue
            try:
                entries = self.proc.fs.list(path)
            except OSError as e:
                self.error(f"cannot read directory {shell_quote(path, True)}", e)
                continue
            stack.extend(f"{path.rstrip('/')}/{entry.name}" for entry in reversed(entries))
            self.proc.check()


def owner(proc: Process, text: str) -> tuple[int, int]:
    """`user:group`, `user:`, `:group`, `user.group`; -1 for what is not named."""
    user, colon, group = text.partition(":")
    uid = gid = -1
    if user:
        found = user_id(proc, user)
        if found is None:
            raise fatal(proc, f"invalid user: {quote(proc, text)}")
        uid = found
        if colon and not group:
            gid = uid
    if group:
        found = group_id(proc, group)
        if found is None:
            raise fatal(proc, f"invalid group: {quote(proc, text)}")
        gid = found
    return uid, gid


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    flags = {key for key, _ in options}
    values = dict(options)
    needed = 1 if "ref" in values else 2
    if len(operands) < needed:
        raise missing_operand(proc, SPEC, operands[-1] if operands else None)
    if "ref" in values:
        try:
            stat = proc.fs.stat(values["ref"])
        except OSError as e:
            raise fatal(proc, f"failed to get attributes of {shell_quote(values['ref'], True)}: {e.strerror}") from None
        uid, gid = stat.uid, stat.gid
        if proc.name == "chgrp":
            uid = -1
    elif proc.name == "chgrp":
        uid = -1
        name = operands.pop(0)
        found = group_id(proc, name) if name else -1
        if found is None:
            raise fatal(proc, f"invalid group: {quote(proc, name)}")
        gid = found
    else:
        uid, gid = owner(proc, operands.pop(0))
    change = Change(proc, flags, uid, gid)
    if "from" in values:
        change.source = owner(proc, values["from"])
    for operand in operands:
        change.tree(operand)
    return change.status
