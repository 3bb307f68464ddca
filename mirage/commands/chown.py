"""chown and chgrp: change owner and group."""
from __future__ import annotations

from mirage.commands._getopt import NONE, REQUIRED, Spec, parse
from mirage.commands._io import encode
from mirage.commands._text import fatal, missing_operand, quote, shell_quote
from mirage.commands._users import group_id, group_name, user_id, user_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process
    from mirage.vfs.types import Stat

SPEC = Spec("RcfvHLPh", {
    "changes": ("c", NONE), "dereference": ("deref", NONE), "no-dereference": ("h", NONE), "from": ("from", REQUIRED),
    "no-preserve-root": ("noroot", NONE), "preserve-root": ("root", NONE), "quiet": ("f", NONE), "silent": ("f", NONE),
    "verbose": ("v", NONE), "recursive": ("R", NONE), "reference": ("ref", REQUIRED)},
    help="Usage: NAME [OPTION]... [OWNER][:[GROUP]] FILE...\n  or:  NAME [OPTION]... --reference=RFILE FILE...\n"
         "Change the owner and/or group of each FILE.\n")


class Owner:
    """A user, a group or both: the numbers (-1: not named) and the names that -v shows (None: not given)."""

    __slots__ = ("gid", "group", "uid", "user")

    def __init__(self, uid: int = -1, gid: int = -1, user: str | None = None, group: str | None = None) -> None:
        self.uid, self.gid, self.user, self.group = uid, gid, user, group

    def numbers_as_names(self) -> None:
        """A number that has no name given is shown as it is; a group name alone gets an empty user before it."""
        if self.user is None and self.group is not None:
            self.user = ""
        if self.user is None and self.uid != -1:
            self.user = str(self.uid)
        if self.group is None and self.gid != -1:
            self.group = str(self.gid)


class Change:
    def __init__(self, proc: Process, flags: set[str], new: Owner, source: Owner) -> None:
        self.proc = proc
        self.flags = flags
        self.new = new
        self.source = source
        self.status = 0
        recursive = "R" in flags
        self.follow_top = bool(flags & {"H", "L"}) if recursive else "h" not in flags
        self.follow_below = "L" in flags
        self.change_referent = self.follow_top and "h" not in flags

    def error(self, text: str, e: OSError) -> None:
        self.status = 1
        if "f" not in self.flags:
            self.proc.stdout.flush()
            self.proc.fail(text, e)

    def change(self, path: str, stat: Stat) -> None:
        """Change one file."""
        proc, new, source = self.proc, self.new, self.source
        if stat.is_link and self.change_referent:
            try:
                stat = proc.fs.stat(path)
            except OSError as e:
                self.error(f"cannot dereference {shell_quote(path, True)}", e)
                self.failed(path, None)
                return
        uid = new.uid if new.uid not in (-1, stat.uid) else -1
        gid = new.gid if new.gid not in (-1, stat.gid) else -1
        wanted = source.uid in (-1, stat.uid) and source.gid in (-1, stat.gid)
        changed = wanted and (uid != -1 or gid != -1)
        if changed:
            try:
                proc.fs.chown(path, uid, gid, self.change_referent)
            except OSError as e:
                what = "group" if new.uid == -1 else "ownership"
                self.error(f"changing {what} of {shell_quote(path, True)}", e)
                self.failed(path, stat)
                return
        what = "group" if new.user is None and new.group is not None else "ownership"
        before, after = self.old_label(stat), _label(new.user, new.group)
        if changed and self.flags & {"v", "c"}:
            self.say(f"changed {what} of {shell_quote(path, True)} from {before} to {after}")
        elif "v" in self.flags:
            shown = f" as {before}" if before is not None else ""
            self.say(f"{what} of {shell_quote(path, True)} retained{shown}")

    def failed(self, path: str, stat: Stat | None) -> None:
        """What -v says about a file that could not be changed, `stat` as it is (None: not known)."""
        if "v" not in self.flags:
            return
        new = self.new
        text = f"failed to change {'group' if new.user is None and new.group is not None else 'ownership'} " \
               f"of {shell_quote(path, True)}"
        before = self.old_label(stat) if stat is not None else None
        after = _label(new.user, new.group)
        if before is not None:
            text += f" from {before}"
        self.say(f"{text} to {after}" if after is not None else text)

    def say(self, text: str) -> None:
        self.proc.stdout.write(encode(text + "\n"))

    def old_label(self, stat: Stat) -> str | None:
        proc, new = self.proc, self.new
        return _label(user_name(proc, stat.uid) if new.user is not None else None,
                      group_name(proc, stat.gid) if new.group is not None else None)

    def tree(self, top: str) -> None:
        """A file; with -R what is below it first."""
        fs, recursive = self.proc.fs, "R" in self.flags
        if recursive and "root" in self.flags and fs.abspath(top) == "/":
            self.proc.message(f"it is dangerous to operate recursively on {shell_quote(top, True)}")
            self.proc.message("use --no-preserve-root to override this failsafe")
            self.status = 1
            return
        stack: list[tuple[str, Stat | None]] = [(top, None)]
        while stack:
            path, stat = stack.pop()
            if stat is not None:
                self.change(path, stat)
                continue
            follow = self.follow_top if path is top else self.follow_below
            try:
                stat = self.look(path, follow)
            except OSError as e:
                self.error(f"cannot access {shell_quote(path, True)}", e)
                self.failed(path, None)
                continue
            stack.append((path, stat))
            if not recursive or not stat.is_dir:
                continue
            try:
                entries = fs.list(path)
            except OSError as e:
                self.error(f"cannot read directory {shell_quote(path, True)}", e)
                self.failed(path, None)
                stack.pop()
                continue
            stack.extend((f"{path.rstrip('/')}/{entry.name}", None) for entry in reversed(entries))
            self.proc.check()

    def look(self, path: str, follow: bool) -> Stat:
        """stat, of the link itself where it leads nowhere."""
        try:
            return self.proc.fs.stat(path, follow)
        except OSError:
            if not follow:
                raise
        return self.proc.fs.stat(path, False)


def _label(user: str | None, group: str | None) -> str | None:
    return user if group is None else group if user is None else f"{user}:{group}"


def parse_owner(proc: Process, text: str) -> Owner:
    """`user:group`, `user:`, `:group`; `user.group` with a warning. An unknown name is fatal."""
    user, colon, _ = text.partition(":")
    if not colon and user and user_id(proc, user) is None and "." in user:
        other = text.replace(".", ":", 1)
        name, _, group = other.partition(":")
        if (not name or user_id(proc, name) is not None) and (not group or group_id(proc, group) is not None):
            proc.message(f"warning: '.' should be ':': {quote(proc, text)}")
            text = other
    return _split_owner(proc, text)


def _split_owner(proc: Process, text: str) -> Owner:
    user, colon, group = text.partition(":")
    new = Owner()
    if user:
        found = user_id(proc, user)
        if found is None:
            raise fatal(proc, f"invalid user: {quote(proc, text)}")
        new.uid = found
        named = found in proc.machine.users and proc.machine.users[found][0] == user
        new.user = user if named else None
        if colon and not group:
            if not named:
                raise fatal(proc, f"invalid spec: {quote(proc, text)}")
            new.gid = found
            new.group = group_name(proc, new.gid)
    if group:
        found = group_id(proc, group)
        if found is None:
            raise fatal(proc, f"invalid group: {quote(proc, text)}")
        new.gid = found
        new.group = group if proc.machine.groups.get(found) == group else None
    return new


def _new_owner(proc: Process, operands: list[str], reference: str | None) -> Owner:
    """What the files get: from --reference or the first operand, which it takes away."""
    by_group = proc.name == "chgrp"
    if reference is not None:
        try:
            stat = proc.fs.stat(reference)
        except OSError as e:
            raise fatal(proc, f"failed to get attributes of {shell_quote(reference, True)}: {e.strerror}") from None
        group = group_name(proc, stat.gid)
        return Owner(-1, stat.gid, None, group) if by_group \
            else Owner(stat.uid, stat.gid, user_name(proc, stat.uid), group)
    name = operands.pop(0)
    if not by_group:
        new = parse_owner(proc, name)
        new.numbers_as_names()
        return new
    found = group_id(proc, name) if name else -1
    if found is None:
        raise fatal(proc, f"invalid group: {quote(proc, name)}")
    return Owner(-1, found, None, name.removeprefix("+") or None)


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    flags: set[str] = set()
    for key, _ in options:
        if key in ("h", "deref"):
            flags -= {"h", "deref"}
        elif key in "HLP":
            flags -= {"H", "L", "P"}
        flags.add(key)
    values = dict(options)
    if "R" in flags and "deref" in flags and not flags & {"H", "L"}:
        raise fatal(proc, "-R --dereference requires either -H or -L")
    needed = 1 if "ref" in values else 2
    if len(operands) < needed:
        raise missing_operand(proc, SPEC, operands[-1] if operands else None)
    new = _new_owner(proc, operands, values.get("ref"))
    source = parse_owner(proc, values["from"]) if "from" in values else Owner()
    change = Change(proc, flags, new, source)
    for operand in operands:
        change.tree(operand)
    return change.status
