"""The gate: every operation of a Machine is asked here first, decided by the policy, and recorded."""
from __future__ import annotations

import errno
import os
import secrets
import time

from mirage.policy.journal import Journal
from mirage.policy.line import Line
from mirage.policy.operands import command_names, operands
from mirage.policy.records import Ask, Verdict
from mirage.policy.rules import ALLOW, Decision, Policy, strictest
from mirage.policy.vocabulary import CHANGING
from mirage.vfs.gateway import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from mirage.machine import Machine
    from mirage.policy.rules import Rule
    from mirage.vfs.namespace import Mounted, Table
    from mirage.vfs.resolve import Target
    from mirage.vfs.types import Entry

CACHE = 50_000
CALL_NOTE = "denied: {}"


class Held(PermissionError):
    """EACCES from the policy; `note` is the line that follows the tool's own message (empty: already said)."""

    note: str

    def __init__(self, path: str, note: str) -> None:
        super().__init__(errno.EACCES, os.strerror(errno.EACCES), path)
        self.note = note


def make_gate(machine: Machine, policy: Policy | str | Path | None, *,
              on_ask: Callable[[Ask], Verdict] | None = None, journal: str | Path | None = None) -> Gate:
    """The gate of a Terminal; `policy` as Terminal takes it. Raises PolicyError."""
    if policy is None:
        policy = Policy(())
    elif not isinstance(policy, Policy):
        policy = Policy.load(policy)
    return Gate(machine, policy, on_ask, Journal(journal))


class Gate:
    """See mirage/vfs/gateway.py for when the FileSystem asks. Thread-safe: shared state is only replaced or added to."""

    def __init__(self, machine: Machine, policy: Policy, on_ask: Callable[[Ask], Verdict] | None,
                 journal: Journal) -> None:
        self.machine = machine
        self.policy = policy
        self.on_ask = on_ask
        self.journal = journal
        self.session = secrets.token_hex(4)
        self._has_paths = policy.has_path_rules()
        self._hides = any(r.action == "hide" for r in policy.path_rules())
        self._commands = any(not r.paths and not r.about_calls for s in policy.sets for r in s.rules)
        self._operands = any(r.mount_root is not None or r.recursive is not None for s in policy.sets for r in s.rules)
        self._cache: dict[tuple[str, str], Decision] = {}
        self._approved: dict[tuple[str, ...], Verdict] = {}
        self._spent: dict[str, list[float]] = {}
        self._lines = 0
        self._line = Line(self, "", 0)
        self._running: dict[int, tuple[str, ...]] = {}
        self._table: Table | None = None
        self._shared: dict[str, list[tuple[Mounted, str]]] = {}

    # ---- paths

    def decide(self, effect: str, target: Target) -> Decision:
        """The strictest answer over every name that the object has."""
        if not self._has_paths:
            return ALLOW
        if target.stat is not None and target.stat.is_char and effect != "stat":
            return ALLOW
        paths = self._names(target)
        if len(paths) == 1:
            return self._on_path(effect, paths[0])
        return strictest(self._on_path(effect, path) for path in paths)

    def _on_path(self, effect: str, path: str) -> Decision:
        key = (effect, path)
        decision = self._cache.get(key)
        if decision is None:
            if len(self._cache) > CACHE:
                self._cache.clear()
            decision = self._cache[key] = self.policy.on_path(effect, path)
        return decision

    def _names(self, target: Target) -> list[str]:
        """The object's paths in the tree: its own first, then those through other mounts and hard links."""
        table = self.machine.namespace.table
        if table is not self._table:
            self._shared = _shared_backends(table)
            self._table = table
        stat = target.stat
        several = stat is not None and stat.nlink > 1 and not stat.is_dir
        if not self._shared and not several:
            return [target.path]
        paths = [target.path]
        for backend, inner in names(target) if several else [target.backend]:
            for mounted, root in self._shared.get(backend, ()) or _of_backend(table, backend):
                if inner == root or root == "/" or inner.startswith(root + "/"):
                    path = mounted.outer(inner if root == "/" else inner[len(root):] or "/")
                    if path not in paths:
                        paths.append(path)
        return paths

    def check(self, effect: str, target: Target, proc: Any, subtree: bool = False) -> None:
        decision = self.decide(effect, target)
        if subtree and decision.action == "allow":
            rule = self._rule_below(target.path)
            if rule is not None:
                decision = Decision("deny", rule, f"a rule of the policy is about something inside: {rule.reason}")
        line, command = self._line, self._command(proc)
        if decision.action != "allow":
            decision = self._settle(decision, effect, target.path, proc, None)
            if decision.action != "allow":
                self._refuse(decision, effect, target.path, proc)
        if effect in CHANGING:
            line.changed(command, effect, target.path, decision.rule_name)
        else:
            line.looked(command, effect, target.mounted.point, decision.rule_name)

    def moving(self, old: Target, new: Target, directory: bool, proc: Any) -> None:
        """A rename or hard link may not take anything out of a rule. Raises like check."""
        if not self._has_paths:
            return
        rule = self.policy.moving_lifts(old.path, new.path, directory)
        decision = Decision("deny", rule, f"it would leave a rule of the policy: {rule.reason}") if rule else \
            self.policy.weaker_at(old.path, new.path)
        if decision is not None:
            reason = decision.reason
            self._refuse(Decision("deny", decision.rule, reason), "link" if not directory else "destroy", old.path,
                         proc)

    def _rule_below(self, path: str) -> Rule | None:
        for rule in self.policy.path_rules():
            if any(p.reaches_below(path) for p in rule.paths):
                return rule
        return None

    def allows(self, effect: str, target: Target, proc: Any) -> bool:
        decision = self.decide(effect, target)
        return decision.action in ("allow", "limit")

    def visible(self, target: Target) -> bool:
        if not self._hides:
            return True
        return self.decide("stat", target).action != "hide"

    def filter(self, directory: Target, entries: list[Entry]) -> list[Entry]:
        if not self._hides:
            return entries
        from mirage.vfs.resolve import Target as Place
        prefix = directory.path.rstrip("/") + "/"
        inner = directory.inner.rstrip("/") + "/"
        kept = []
        table = self.machine.namespace.table
        for entry in entries:
            path = prefix + entry.name
            mounted = table.find(path)
            inside = inner + entry.name if mounted is directory.mounted else mounted.inner(path)
            if self.visible(Place(mounted, inside, path, entry.stat)):
                kept.append(entry)
        return kept

    def moved(self, effect: str, target: Target, size: int, proc: Any) -> None:
        if not size:
            return
        decision = self.decide(effect, target)
        if decision.action == "limit":
            self._spend(decision, effect, target.path, proc, size=size)
        self._line.moved(self._command(proc), effect, target.mounted.point, decision.rule_name, size)

    # ---- commands and calls

    def exec(self, proc: Any, argv: Sequence[str]) -> None:
        """Before a command runs: builtin, function or program. Raises PermissionError (exit status 126)."""
        words = tuple(argv)
        self._running[proc.pid] = words
        self._line.command(words)
        if not self._commands or not words:
            return
        found = operands(words, lambda w: proc.fs.realpath(w, strict=False) if w else w, self._is_mount_root, proc.cwd) \
            if self._operands else []
        decision = self.policy.on_command(command_names(words), found)
        if decision.action != "allow":
            shown = " ".join(words)
            decision = self._settle(decision, "exec", shown, proc, None)
            if decision.action != "allow":
                self._refuse(decision, "exec", shown, proc)

    def _is_mount_root(self, path: str) -> bool:
        """The root of a mount that holds somebody's data, or a directory above one; scratch memory is not."""
        from mirage.mounts.memory import Memory
        prefix = path.rstrip("/") + "/"
        for mounted in self.machine.namespace.mounts():
            if isinstance(mounted.mount, Memory) or mounted.point.startswith(("/dev", "/usr/", "/bin", "/VFS.md",
                                                                              "/SKILL.md")):
                continue
            if mounted.point == path or mounted.point.startswith(prefix):
                return True
        return False

    def call(self, proc: Any, cli: str, operation: str, effects: Sequence[str],
             arguments: Mapping[str, Any]) -> None:
        """Before a virtual CLI's operation runs. Raises PermissionError with `note`."""
        decision = self.policy.on_call(cli, operation, effects, arguments)
        target = f"{cli} {operation}"
        if decision.action != "allow":
            decision = self._settle(decision, "call", target, proc, arguments)
            if decision.action != "allow":
                self._refuse(decision, "call", target, proc)
        command = self._command(proc)
        if set(effects) <= {"read"}:
            self._line.looked(command, "call", target, decision.rule_name)
        else:
            self._line.changed(command, "call", target, decision.rule_name, tuple(effects))

    # ---- answers

    def _settle(self, decision: Decision, effect: str, target: str, proc: Any,
                arguments: Mapping[str, Any] | None) -> Decision:
        """Turn `limit` and `ask` into allow or a refusal."""
        if decision.action == "limit":
            return self._spend(decision, effect, target, proc)
        if decision.action == "ask":
            return self._question(decision, effect, target, proc, arguments)
        return decision

    def _spend(self, decision: Decision, effect: str, target: str, proc: Any, size: int = 0) -> Decision:
        rule = decision.rule
        if rule is None:
            return decision
        spent = self._spent.setdefault(rule.name, [0, 0, time.monotonic()])
        if size:
            spent[1] += size
        else:
            spent[0] += 1
        over = rule.calls is not None and spent[0] > rule.calls or rule.bytes is not None and spent[1] > rule.bytes \
            or rule.seconds is not None and time.monotonic() - spent[2] > rule.seconds
        if not over:
            return Decision("allow", rule, decision.reason)
        if size:
            self._refuse(decision, effect, target, proc)
        return decision

    def _question(self, decision: Decision, effect: str, target: str, proc: Any,
                  arguments: Mapping[str, Any] | None) -> Decision:
        key = (decision.rule_name, effect, target if effect == "call" else target.split(" ")[0] if effect == "exec"
               else "")
        verdict = self._approved.get(key)
        if verdict is None:
            if self.on_ask is None:
                return decision
            ask = Ask(secrets.token_hex(3), effect, target, self._running.get(proc.pid, (self._command(proc),)),
                      arguments, decision.rule_name, decision.reason)
            verdict = self._put(ask, proc)
            if verdict.scope == "session":
                self._approved[key] = verdict
        if verdict.allowed:
            return Decision("allow", decision.rule, decision.reason)
        return Decision("deny", decision.rule, verdict.reason or decision.reason)

    def _put(self, ask: Ask, proc: Any) -> Verdict:
        """The owner's answer; the time it takes does not count as the line's."""
        started = time.monotonic()
        try:
            answer = self.on_ask(ask)  # type: ignore[misc]
        except Exception as e:                               # an approver that fails has not approved
            answer = Verdict.deny(f"the approver failed: {type(e).__name__}")
        if not isinstance(answer, Verdict):
            answer = Verdict.allow() if answer is True else Verdict.deny("refused by the owner")
        kernel = getattr(proc, "kernel", None)
        if kernel is not None and kernel.deadline is not None:
            kernel.deadline += time.monotonic() - started
        return answer

    def _refuse(self, decision: Decision, effect: str, target: str, proc: Any) -> None:
        ask_id = secrets.token_hex(3) if decision.action == "ask" else None
        self._line.refused(self._command(proc), effect, target, decision, ask_id)
        if decision.action == "hide":
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), target)
        pid = getattr(proc, "pid", 0)
        if ask_id is not None:
            note = f"held for approval: {ask_id}: {decision.reason}"
        else:
            note = f"denied: {decision.reason}"
        raise Held(target, note if self._line.first_note(pid, note if ask_id is None else ask_id) else "")

    # ---- lines and records

    def line(self, text: str) -> Line:
        """`with gate.line(text) as line:` around one typed line."""
        self._lines += 1
        self._line = Line(self, text, self._lines)
        self._running.clear()
        return self._line

    def finish(self, line: Line, records: list[tuple[Any, ...]]) -> None:
        self.journal.append(records)
        if self._line is line:
            self._line = Line(self, "", line.number)

    def counters(self) -> tuple[int, int, int]:
        """(calls, searches, candidates) that the mounts and CLIs of this machine have counted so far."""
        calls = searches = candidates = 0
        sources = [m.mount for m in self.machine.namespace.mounts()] + list(self.machine.clis.values())
        for counters in {id(c): c for s in sources if (c := getattr(s, "counters", None)) is not None}.values():
            calls += counters.calls
            searches += counters.searches
            candidates += counters.candidates
        return calls, searches, candidates

    def _command(self, proc: Any) -> str:
        words = self._running.get(getattr(proc, "pid", 0))
        if words:
            return words[0]
        argv = getattr(proc, "argv", None)
        return argv[0] if argv else "api"

    def close(self) -> None:
        if self._line._events:
            self.journal.append(self._line._records())
        self.journal.close()


def _shared_backends(table: Table) -> dict[str, list[tuple[Mounted, str]]]:
    """backend -> its mounts with the backend's path of their roots; only backends that are mounted twice."""
    found: dict[str, list[tuple[Mounted, str]]] = {}
    for mounted in [table.root, *table.nested]:
        backend, root = mounted.backend("/")
        found.setdefault(backend, []).append((mounted, root))
    return {backend: places for backend, places in found.items() if len(places) > 1}


def _of_backend(table: Table, backend: str) -> list[tuple[Mounted, str]]:
    return [(mounted, root) for mounted in [table.root, *table.nested]
            for found, root in [mounted.backend("/")] if found == backend]
