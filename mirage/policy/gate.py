"""The gate: every operation of a Machine is asked here first, decided by the policy, and recorded.

mirage/vfs/gateway.py says when the FileSystem asks. Thread-safe: what is shared is replaced as a whole or guarded
by a lock that is never held while a mount or an approver is called.
"""
from __future__ import annotations

import errno
import os
import secrets
import threading
import time

from mirage.policy.aliases import Aliases
from mirage.policy.journal import Journal
from mirage.policy.line import Line
from mirage.policy.operands import command_names, operands
from mirage.policy.records import Ask, Verdict
from mirage.policy.rules import ALLOW, Decision, Policy, strictest
from mirage.policy.vocabulary import CHANGING, FILE_EFFECTS, STRICTNESS
from mirage.vfs.resolve import Target
from mirage.vfs.types import S_IFDIR, S_IFMT, Entry, Stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any, NoReturn

    from mirage.machine import Machine
    from mirage.policy.operands import Operand
    from mirage.policy.rules import Rule
    from mirage.vfs.namespace import Table

CACHE = 50_000
REFUSING = ("deny", "hide", "stage")
SYSTEM = ("/dev", "/proc", "/usr/", "/bin", "/VFS.md", "/SKILL.md")


class Held(PermissionError):
    """EACCES from the policy; `note` is the line that follows a tool's own message."""

    note: str

    def __init__(self, path: str, note: str, line: Line, pid: int) -> None:
        super().__init__(errno.EACCES, os.strerror(errno.EACCES), path)
        self.note = note
        self._line = line
        self._pid = pid

    def take_note(self) -> str:
        """The note, once for each process and line; then nothing."""
        return self.note if self._line.first_note(self._pid, self.note) else ""


def make_gate(machine: Machine, policy: Policy | str | Path | None, *,
              on_ask: Callable[[Ask], Verdict] | None = None, journal: str | Path | None = None) -> Gate:
    """The gate of a Terminal; `policy` as Terminal takes it. Raises PolicyError."""
    if policy is None:
        policy = Policy(())
    elif not isinstance(policy, Policy):
        policy = Policy.load(policy)
    return Gate(machine, policy, on_ask, Journal(journal))


class Gate:
    """The policy in force over one Machine."""

    def __init__(self, machine: Machine, policy: Policy, on_ask: Callable[[Ask], Verdict] | None,
                 journal: Journal) -> None:
        self.machine = machine
        self.policy = policy
        self.on_ask = on_ask
        self.journal = journal
        self.session = secrets.token_hex(4)
        self._has_paths = policy.has_path_rules()
        self._hides = any(r.action == "hide" for r in policy.path_rules())
        self._blinds = self._has_paths and policy.restricts("stat")
        self.rules_commands = any(not r.paths and not r.about_calls for s in policy.sets for r in s.rules)
        self._cache: dict[tuple[str, str], Decision] = {}
        self._by_name: dict[tuple[str, tuple[str, ...]], list[Decision]] = {}
        self._counted: tuple[Table | None, tuple[tuple[str, Any], ...]] = (None, ())
        self._aliases = Aliases(machine)
        self._lock = threading.Lock()
        self._approved: dict[tuple[object, ...], Verdict] = {}
        self._spent: dict[Rule, list[float]] = {}
        self._lines = 0
        self._api = Line(self, "", 0)                        # what happens outside every line
        self._line = self._api
        self._running: dict[int, tuple[str, ...]] = {}
        self._roots: tuple[Table | None, frozenset[str]] = (None, frozenset())

    # ---- paths

    def decide(self, effect: str, target: Target) -> Decision:
        """The strictest answer over every name that the object has."""
        if not self._has_paths:
            return ALLOW
        stat = target.stat
        decision = self._cache.get((effect, target.path)) or self._on_path(effect, target.path)
        if self.machine.namespace.table is not self._aliases.unshared or stat is not None and stat.nlink > 1:
            paths = self._aliases.names(target)
            if len(paths) > 1:
                decision = strictest(self._on_path(effect, path) for path in paths)
        if decision is not ALLOW and effect != "stat" and stat is not None and stat.is_char:
            return ALLOW
        return decision

    def _on_path(self, effect: str, path: str) -> Decision:
        key = (effect, path)
        decision = self._cache.get(key)
        if decision is None:
            if len(self._cache) > CACHE:
                self._cache.clear()
            decision = self._cache[key] = self.policy.on_path(effect, path)
        return decision

    def check(self, effect: str, target: Target, proc: Any, subtree: bool = False) -> None:
        if not self._has_paths and not subtree:              # most terminals: nothing to decide, only to record
            if effect not in CHANGING:
                self._line_of(proc).looked(self._command(proc), effect, target.mounted.point, "default")
            return
        decision = self.decide(effect, target) if self._has_paths else ALLOW
        if subtree and decision.action not in REFUSING:
            self._check_below(effect, target, proc)
        if decision is not ALLOW:
            found = [d for path in self._aliases.names(target) for d in self.policy.each_on_path(effect, path)]
            self._settle(found, effect, target.path, proc)
        if effect not in CHANGING:
            rule = decision.rule
            self._line_of(proc).looked(self._command(proc), effect, target.mounted.point,
                                       "default" if rule is None else rule.name)

    def _check_below(self, effect: str, target: Target, proc: Any) -> None:
        """A directory may not be moved where a rule is about something in it."""
        rule = next((r for path in self._aliases.tree(target) for r in self.policy.path_rules()
                     if any(p.reaches_below(path) for p in r.paths)), None)
        if rule is not None:
            self._stays(rule, effect, target, proc)

    def _stays(self, rule: Rule, effect: str, target: Target, proc: Any) -> None:
        """Refuse to move something; EBUSY, as for a mount point, where the reason is hidden."""
        if rule.action == "hide":
            self._line_of(proc).refused(self._command(proc), effect, target.path,
                                        Decision("hide", rule, rule.reason), None)
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), target.path)
        self._refuse(Decision("deny", rule, f"it would leave a rule of the policy: {rule.reason}"), effect,
                     target.path, proc)

    def moving(self, old: Target, new: Target | None, directory: bool, proc: Any) -> None:
        """A rename or hard link, or the removal of one of several hard links, may not take anything out of a rule."""
        if not self._has_paths:
            return
        effect = "link" if new is not None and not directory else "destroy"
        before = self._aliases.names(old)
        after = self._aliases.names(new) if new is not None else []
        if not directory:                                    # its other hard links stay what they are
            own = self._aliases.names(Target(old.mounted, old.inner, old.path, None))
            after = [*after, *(path for path in before if path not in own)]
        if not after:
            return
        rule = self.policy.moving_lifts(before, after, directory)
        if rule is not None:
            self._stays(rule, effect, old, proc)
        for looked_at in FILE_EFFECTS:
            was = strictest(self._on_path(looked_at, path) for path in before)
            will = strictest(self._on_path(looked_at, path) for path in after)
            if STRICTNESS[will.action] < STRICTNESS[was.action]:
                self._refuse(Decision("deny", was.rule, was.reason), effect, old.path, proc)
        if new is not None and not directory:
            self._aliases.add(old, new)

    def allows(self, effect: str, target: Target, proc: Any) -> bool:
        return self.decide(effect, target).action in ("allow", "limit")

    @property
    def hides(self) -> bool:
        """Is anything hidden at all?"""
        return self._hides

    def refuses(self, effect: str, target: Target) -> bool:
        return self.decide(effect, target).action in REFUSING

    def refuses_below(self, effect: str, directory: Target) -> bool:
        """May a rule refuse this effect for something in the directory? Says nothing of what is there."""
        if not self._has_paths or not self.policy.restricts(effect):
            return False
        return self.refuses(effect, directory) or any(
            rule.action in ("deny", "stage") and (rule.effects is None or effect in rule.effects)
            and any(p.covers(path) or p.reaches_below(path) for p in rule.paths)
            for path in self._aliases.names(directory) for rule in self.policy.path_rules())

    def visible(self, target: Target) -> bool:
        return not self._hides or self.decide("stat", target).action != "hide"

    def passable(self, target: Target) -> bool:
        return not self._blinds or self.decide("stat", target).action not in REFUSING

    def reveals(self, target: Target, proc: Any) -> None:
        if self._blinds:
            decision = self.decide("stat", target)
            if decision.action == "hide":
                self._line_of(proc).refused(self._command(proc), "stat", target.path, decision, None)
            elif decision.action in ("deny", "stage", "ask"):
                self._refuse(Decision("deny", decision.rule, decision.reason), "stat", target.path, proc)

    def shown(self, stat: Stat) -> Stat:
        """Directories have one link under a policy that hides, as on file systems that do not count."""
        if not self._hides or stat.nlink == 1 or stat.mode & S_IFMT != S_IFDIR:
            return stat
        return Stat(stat.mode, stat.size, stat.mtime_ns, atime_ns=stat.atime_ns, ctime_ns=stat.ctime_ns,
                    btime_ns=stat.btime_ns, uid=stat.uid, gid=stat.gid, nlink=1, ino=stat.ino, dev=stat.dev,
                    rdev=stat.rdev, blocks=stat.blocks, version=stat.version)

    def filter(self, directory: Target, entries: list[Entry]) -> list[Entry]:
        if not self._blinds:
            return entries
        kept = []
        for entry, decision in self._stats(directory, entries):
            stat = entry.stat
            if decision.action == "hide":
                continue
            if decision.action in ("allow", "limit"):
                shown = stat if stat is None else self.shown(stat)
                kept.append(entry if shown is stat else Entry(entry.name, shown))
            else:
                kept.append(Entry(entry.name, None))
        return kept

    def kinds(self, directory: Target, entries: list[Entry]) -> dict[str, Stat]:
        if not self._blinds:
            return {}
        mount, prefix = directory.mounted.mount, directory.inner.rstrip("/") + "/"
        found = {}
        for entry, decision in self._stats(directory, [e for e in entries if e.stat is None]):
            if decision.action not in ("allow", "limit"):
                try:
                    found[entry.name] = Stat(mount.stat(prefix + entry.name).mode & S_IFMT, None)
                except OSError:
                    continue
        return found

    def _stats(self, directory: Target, entries: list[Entry]) -> list[tuple[Entry, Decision]]:
        """Each entry with the decision on its `stat`."""
        table = self.machine.namespace.table
        crosses = directory.path in table.children
        plain = not crosses and table is self._aliases.unshared
        prefix = directory.path.rstrip("/") + "/"
        inner = directory.inner.rstrip("/") + "/"
        mounted = directory.mounted
        found = []
        for entry in entries:
            path, stat = prefix + entry.name, entry.stat
            if plain and stat is not None and (stat.nlink == 1 or stat.mode & S_IFMT == S_IFDIR):
                found.append((entry, self._on_path("stat", path)))
                continue
            at = table.find(path) if crosses else mounted
            place = Target(at, inner + entry.name if at is mounted else at.inner(path), path, stat)
            found.append((entry, self.decide("stat", place)))
        return found

    def moved(self, effect: str, target: Target, size: int, proc: Any) -> None:
        if not size:
            return
        decision = self.decide(effect, target) if self._has_paths else ALLOW
        if decision is not ALLOW and decision.action != "allow":
            for path in self._aliases.names(target):
                for limited in self.policy.each_on_path(effect, path):
                    if limited.action == "limit":
                        self._spend(limited, effect, target.path, proc, size)
        self._line_of(proc).moved(self._command(proc), effect, target.mounted.point, decision.rule_name, size)

    def done(self, effect: str, target: Target, proc: Any) -> None:
        if effect == "destroy" and target.stat is not None and target.stat.is_dir:
            self._aliases.moved()
        self._line_of(proc).changed(self._command(proc), effect, target.path, self.decide(effect, target).rule_name)

    # ---- commands and calls

    def begin(self, proc: Any, argv: Sequence[Any]) -> None:
        """The shell is about to set up a command: what its redirections do is done in its name."""
        self._running[proc.pid] = _words(argv)

    def exec(self, proc: Any, argv: Sequence[Any], programs: Sequence[str] = ()) -> None:
        """Before a command runs: builtin, function or program. Raises PermissionError (exit status 126).

        programs  what really runs, whatever the command is called: the tool, and for a script its interpreters
        """
        words = self._running[proc.pid] = _words(argv)
        if self.rules_commands and words:
            decisions = self._on_command(words, tuple(programs), proc)
            if decisions:
                try:
                    self._settle(decisions, "exec", " ".join(words), proc)
                except OSError as e:
                    e.filename = words[0]
                    raise
        (self._line if proc.kernel is not None else self._api).command(words)

    def ran(self, proc: Any, words: tuple[str, ...]) -> None:
        """`exec` for a shell of this Terminal where no rule is about commands (`rules_commands`): it is recorded."""
        self._running[proc.pid] = words
        self._line.command(words)

    def _on_command(self, words: tuple[str, ...], programs: tuple[str, ...], proc: Any) -> list[Decision]:
        """Kept by name, where no rule looked at the operands."""
        key = (words[0], programs)
        known = self._by_name.get(key)
        if known is not None:
            return known
        paths: list[Operand] | None = None

        def found() -> list[Operand]:
            nonlocal paths
            if paths is None:
                paths = operands([programs[0], *words[1:]] if programs else words,
                                 lambda word: _real(proc, word), self.is_mount_root, proc.cwd)
            return paths
        decisions = self.policy.each_on_command(command_names(words), programs, found)
        if paths is None:
            if len(self._by_name) > CACHE:
                self._by_name.clear()
            self._by_name[key] = decisions
        return decisions

    def is_mount_root(self, path: str) -> bool:
        """The root of a mount that holds somebody's data, or a directory above one; scratch memory is not."""
        table = self.machine.namespace.table
        known, roots = self._roots
        if known is not table:
            from mirage.mounts.memory import Memory
            found = set()
            for mounted in table.nested if table.root.point not in table.by_point else (table.root, *table.nested):
                point = mounted.point
                if isinstance(mounted.mount, Memory) or point.startswith(SYSTEM):
                    continue
                while point not in found:
                    found.add(point)
                    point = point.rpartition("/")[0] or "/"
            roots = frozenset(found)
            self._roots = (table, roots)
        return path in roots

    def call(self, proc: Any, cli: str, operation: str, effects: Sequence[str],
             arguments: Mapping[str, Any]) -> None:
        """Before a virtual CLI's operation runs. Raises PermissionError with `note`."""
        decisions = self.policy.each_on_call(cli, operation, effects, arguments)
        target = f"{cli} {operation}"
        if decisions:
            self._settle(decisions, "call", target, proc, arguments)
        rule = strictest(decisions).rule_name
        if set(effects) <= {"read"}:
            self._line_of(proc).looked(self._command(proc), "call", target, rule)
        else:
            self._line_of(proc).changed(self._command(proc), "call", target, rule, tuple(effects))

    # ---- answers

    def _settle(self, decisions: Sequence[Decision], effect: str, target: str, proc: Any,
                arguments: Mapping[str, Any] | None = None) -> None:
        """Raise unless every policy is content: nothing refuses, every question is answered, no limit is reached."""
        worst = max(decisions, key=lambda d: (d.action in REFUSING, STRICTNESS[d.action]))
        if worst.action in REFUSING:
            self._refuse(worst, effect, target, proc)
        seen: set[int] = set()
        for decision in sorted(decisions, key=lambda d: -STRICTNESS[d.action]):
            if decision.action == "allow" or id(decision.rule) in seen:
                continue
            seen.add(id(decision.rule))
            if decision.action == "ask":
                self._question(decision, effect, target, proc, arguments)
            else:
                self._spend(decision, effect, target, proc)

    def _spend(self, decision: Decision, effect: str, target: str, proc: Any, size: int = 0) -> None:
        rule = decision.rule
        if rule is None:
            return
        now = time.monotonic()
        with self._lock:
            spent = self._spent.setdefault(rule, [0, 0, now])
            if size:
                spent[1] += size
            else:
                spent[0] += 1
            over = rule.calls is not None and spent[0] > rule.calls \
                or rule.bytes is not None and spent[1] > rule.bytes \
                or rule.seconds is not None and now - spent[2] > rule.seconds
        if over:
            self._refuse(decision, effect, target, proc)

    def _question(self, decision: Decision, effect: str, target: str, proc: Any,
                  arguments: Mapping[str, Any] | None) -> None:
        """Ask the owner. A session's answer holds for the rule and effect, and for the operation of a call or the
        name of a command; another one for the same question of the same process in the same line."""
        line = self._line_of(proc)
        subject = target if effect == "call" else target.split(" ")[0] if effect == "exec" else ""
        key = (decision.rule, effect, subject)
        once = (decision.rule, effect, target, getattr(proc, "pid", 0))
        verdict = self._approved.get(key)
        if verdict is None and effect in FILE_EFFECTS:
            verdict = line.answers.get(once)
        if verdict is None:
            approver = self.on_ask
            if approver is None or getattr(proc, "unattended", False):
                self._refuse(decision, effect, target, proc)
            ask = Ask(secrets.token_hex(3), effect, target, self._argv(proc),
                      arguments, decision.rule_name, decision.reason)
            verdict = self._put(approver, ask, proc, line)
            if verdict.scope == "session":
                self._approved[key] = verdict
            line.answers[once] = verdict
        if not verdict.allowed:
            self._refuse(Decision("deny", decision.rule, verdict.reason or decision.reason), effect, target, proc)

    def _put(self, approver: Callable[[Ask], object], ask: Ask, proc: Any, line: Line) -> Verdict:
        """The owner's answer; the time it takes does not count as the line's."""
        started = time.monotonic()
        try:
            answer = approver(ask)
        except Exception as e:                               # an approver that fails has not approved
            answer = Verdict.deny(f"the approver failed: {type(e).__name__}")
        if not isinstance(answer, Verdict):
            answer = Verdict.allow() if answer is True else Verdict.deny("refused by the owner")
        waited = time.monotonic() - started
        line.waited += waited
        kernel = getattr(proc, "kernel", None)
        if kernel is not None and kernel.deadline is not None:
            kernel.deadline += waited
        return answer

    def _refuse(self, decision: Decision, effect: str, target: str, proc: Any) -> NoReturn:
        ask_id = secrets.token_hex(3) if decision.action == "ask" else None
        line = self._line_of(proc)
        line.refused(self._command(proc), effect, target, decision, ask_id)
        if decision.action == "hide":
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), target)
        note = f"held for approval: {ask_id}: {decision.reason}" if ask_id else f"denied: {decision.reason}"
        raise Held(target, note, line, getattr(proc, "pid", 0))

    # ---- lines and records

    def line(self, text: str) -> Line:
        """`with gate.line(text) as line:` around one typed line."""
        self._lines += 1
        self._line = Line(self, text, self._lines)
        self._running.clear()
        return self._line

    def _line_of(self, proc: Any) -> Line:
        """What a process does belongs to the line that runs; what a door (Python, HTTP) does, to none."""
        return self._line if getattr(proc, "kernel", None) is not None else self._api

    def finish(self, line: Line) -> None:
        if self._line is line:
            self._line = self._api
        records = line.take_records(True)
        if self._api.pending:
            records.extend(self._api.take_records(True))
        self.journal.append(records)
        if line.status is not None:
            self.journal.line(line.text, line.started, line.usage.seconds, line.status)

    def counters(self) -> dict[str, tuple[int, int, int]]:
        """place of a mount, or name of a CLI -> (calls, searches, candidates); what several share counts once."""
        table, counted = self._counted
        if table is not self.machine.namespace.table:
            table = self.machine.namespace.table
            sources = [(m.point, m.mount) for m in (table.root, *table.nested)] + list(self.machine.clis.items())
            seen: dict[int, tuple[str, Any]] = {}
            for place, source in sources:
                counters = getattr(source, "counters", None)
                if counters is not None:
                    seen.setdefault(id(counters), (place, counters))
            counted = tuple(seen.values())
            self._counted = (table, counted)
        return {place: (c.calls, c.searches, c.candidates) for place, c in counted}

    def _argv(self, proc: Any) -> tuple[str, ...]:
        return self._running.get(getattr(proc, "pid", 0)) or tuple(proc.argv)

    def _command(self, proc: Any) -> str:
        words = self._running.get(getattr(proc, "pid", 0)) or proc.argv
        return words[0] if words else ""

    def write_down(self) -> None:
        """What doors did outside every line gets into the journal now; a line does that at its end."""
        if self._api.pending:
            self.journal.append(self._api.take_records(True))

    def close(self) -> None:
        self.journal.append(self._api.take_records(True))
        self.journal.close()


def _real(proc: Any, word: str) -> str:
    """The place that a word names, as far as it can be told."""
    try:
        found: str = proc.fs.realpath(word, strict=False)
    except OSError:
        found = proc.fs.abspath(word)
    return found


def _words(argv: Sequence[Any]) -> tuple[str, ...]:
    """The words of a command; assignments of a declaration builtin are objects with a `text`."""
    for word in argv:
        if word.__class__ is not str:
            return tuple([word if word.__class__ is str else word.text() for word in argv])
    return tuple(argv)
