"""What one typed line did: collected while it runs, written to the journal as it goes on and when it ends."""
from __future__ import annotations

import threading
import time

from mirage.policy.records import Effect, Refusal, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.policy.records import Verdict
    from mirage.policy.rules import Decision

KEPT = 10_000                                                # records of one line; the rest is only counted
BATCH, FLOWS = 32, 256                                       # commands, and looks at files, that are counted at once
DISTINCT = 20                                                # different argv of one command; the rest is added up
SHOWN = 4096                                                 # characters of a command in the journal
COUNTED = ("calls", "searches", "candidates")
WRITE_EVERY = 1.0                                            # seconds after which records are written meanwhile


class Line:
    """Context of one line. `refusals`, `effects` and `usage` are final after the `with` block. Thread-safe.

    answers  what the owner said to questions of this line
    waited   seconds spent on them
    status   exit status of the line, once it is known
    """

    def __init__(self, gate: Any, text: str, number: int) -> None:
        self._gate = gate
        self.text = text
        self.number = number
        self.usage = Usage()
        self.answers: dict[tuple[object, ...], Verdict] = {}
        self.waited = 0.0
        self.status: int | None = None
        self._lock = threading.Lock()
        self._refusals: list[Refusal] = []
        self._effects: list[Effect] = []
        self._events: list[tuple[Any, ...]] = []
        self._sums: dict[tuple[str, str, str, str, str], list[int]] = {}
        self._ran: list[tuple[str, ...]] = []
        self._flows: list[tuple[str, str, str, str, int, int]] = []
        self._commands: dict[str, dict[tuple[str, ...], int]] = {}
        self._noted: set[tuple[int, str]] = set()
        self._seen: set[tuple[str, str, str, str]] = set()
        self._started = time.monotonic()
        self._written = self._started
        self._time = 0.0

    @property
    def started(self) -> float:
        """Seconds since the epoch, by the terminal's clock."""
        return self._time

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        return tuple(self._refusals)

    @property
    def effects(self) -> tuple[Effect, ...]:
        return tuple(self._effects)

    @property
    def pending(self) -> bool:
        """Is there anything that take_records would give?"""
        return bool(self._events or self._sums or self._commands or self._ran
                    or self._flows)

    def __enter__(self) -> Line:
        self._started = time.monotonic()
        self._time = self._gate.machine.clock()
        self._before = self._gate.counters()
        return self

    def __exit__(self, *exc: object) -> None:
        usage = self.usage
        usage.seconds = max(0.0, time.monotonic() - self._started - self.waited)
        for place, after in self._gate.counters().items():
            spent = [n - m for n, m in zip(after, self._before.get(place, (0, 0, 0)), strict=True)]
            if any(spent):
                usage.mounts[place] = {name: n for name, n in zip(COUNTED, spent, strict=True) if n}
                usage.calls += spent[0]
                usage.searches += spent[1]
                usage.candidates += spent[2]
        self._gate.finish(self)

    def command(self, argv: tuple[str, ...]) -> None:
        """A command is about to run; those of a loop are added up per command."""
        self._ran.append(argv)                               # no lock: it would take longer than all the rest
        if len(self._ran) >= BATCH:
            with self._lock:
                self._count()

    def _count(self) -> None:
        """Add up what happened since the last time."""
        usage = self.usage
        flows = self._flows[:]
        del self._flows[:len(flows)]
        for command, effect, mount, rule, count, size in flows:
            self._add(command, effect, mount, rule, "allow", count, size)
            if effect == "read":
                usage.reads += count
                usage.bytes += size
            elif effect == "stat":
                usage.stats += count
            elif effect == "list":
                usage.lists += count
        batch = self._ran[:]
        del self._ran[:len(batch)]
        usage.commands += len(batch)
        commands = self._commands
        for argv in batch:
            counts = commands.get(argv[0])
            if counts is None:
                counts = commands[argv[0]] = {}
            if argv in counts:
                counts[argv] += 1
            elif len(counts) < DISTINCT:
                counts[argv] = 1
            else:
                rest = (argv[0], "...")
                counts[rest] = counts.get(rest, 0) + 1

    def looked(self, command: str, effect: str, mount: str, rule: str) -> None:
        """A stat, list, read or search that was allowed: added up."""
        self._flows.append((command, effect, mount, rule, 1, 0))
        if len(self._flows) >= FLOWS:
            with self._lock:
                self._count()

    def moved(self, command: str, effect: str, mount: str, rule: str, size: int) -> None:
        self._flows.append((command, effect, mount, rule, 0, size))
        if len(self._flows) >= FLOWS:
            with self._lock:
                self._count()

    def changed(self, command: str, effect: str, target: str, rule: str,
                effects: tuple[str, ...] | None = None) -> None:
        """A change that happened, or a call that was allowed. The same change again (a loop) is added up."""
        key = (command, effect, target, "")
        with self._lock:
            if effect != "call" and key in self._seen or len(self._effects) >= KEPT:
                self._add(command, effect, target if key in self._seen else "", rule, "allow", 1, 0)
                return
            self._seen.add(key)
            self._effects.append(Effect(effect, target, command, effects))
        self._event(command, effect, target, rule, "allow", None)

    def refused(self, command: str, effect: str, target: str, decision: Decision, ask_id: str | None) -> None:
        """A refusal; what a rule hides is known to the journal only."""
        key = (command, effect, target, decision.action)
        with self._lock:
            hidden = decision.action == "hide"
            if hidden and key in self._seen or len(self._refusals) >= KEPT or len(self._seen) >= 2 * KEPT:
                self._add(command, effect, "", decision.rule_name, decision.action, 1, 0)
                return
            self._seen.add(key)
            if not hidden:
                self._refusals.append(Refusal(decision.action, effect, target, command, decision.rule_name,
                                              decision.reason, ask_id))
        reason = f"{ask_id}: {decision.reason}" if ask_id else decision.reason
        self._event(command, effect, target, decision.rule_name, decision.action, reason)

    def first_note(self, pid: int, note: str) -> bool:
        """Should this process print this reason? Once is enough."""
        key = (pid, note)
        if key in self._noted:
            return False
        self._noted.add(key)
        return True

    def _add(self, command: str, effect: str, mount: str, rule: str, verdict: str, count: int, size: int) -> None:
        key = (command, effect, mount, rule, verdict)
        entry = self._sums.get(key)
        if entry is None:
            entry = self._sums[key] = [0, 0]
        entry[0] += count
        entry[1] += size

    def _event(self, command: str, effect: str, target: str, rule: str, verdict: str, reason: str | None) -> None:
        gate = self._gate
        self._events.append((gate.machine.clock(), gate.session, self.number, command, effect, target[:SHOWN], rule,
                             verdict, reason, None, 1, None))
        now = time.monotonic()
        if now - self._written > WRITE_EVERY:
            self._written = now
            gate.journal.append(self.take_records(False))

    def take_records(self, final: bool) -> list[tuple[Any, ...]]:
        """The records not written yet; sums and the line itself with `final` only."""
        gate, now = self._gate, self._gate.machine.clock()
        with self._lock:
            records, self._events = self._events, []
            if not final:
                return records
            self._count()
            sums, self._sums = self._sums, {}
            commands, self._commands = self._commands, {}
        usage = self.usage
        first: list[tuple[Any, ...]] = []
        if self.number and self._time:
            first.append((self._time, gate.session, self.number, self.text, "line", "", None, "allow", None,
                          usage.bytes, usage.commands, usage.seconds))
        first.extend((self._time or now, gate.session, self.number, _shown(argv), "exec", argv[0][:SHOWN], None,
                      "allow", None, None, count, None)
                     for counts in commands.values() for argv, count in counts.items())
        records.extend((now, gate.session, self.number, command, effect, mount, rule, verdict, None, size, count, None)
                       for (command, effect, mount, rule, verdict), (count, size) in sums.items())
        return first + records


def _shown(argv: tuple[str, ...]) -> str:
    return " ".join(argv)[:SHOWN]
