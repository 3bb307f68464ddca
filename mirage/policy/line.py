"""What one typed line did: collected while it runs, written to the journal when it ends."""
from __future__ import annotations

import time

from mirage.policy.records import Effect, Refusal, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.policy.rules import Decision

KEPT = 10_000                                                # records of one line; the rest is only counted


class Line:
    """Context of one line. `refusals`, `effects` and `usage` are final after the `with` block."""

    def __init__(self, gate: Any, text: str, number: int) -> None:
        self._gate = gate
        self.text = text
        self.number = number
        self.usage = Usage()
        self._refusals: list[Refusal] = []
        self._effects: list[Effect] = []
        self._events: list[tuple[Any, ...]] = []
        self._sums: dict[tuple[str, str, str, str], list[int]] = {}
        self._commands: dict[tuple[str, ...], int] = {}
        self._noted: set[tuple[int, str]] = set()
        self._last: set[tuple[str, str, str]] = set()
        self._started = time.monotonic()
        self._time = 0.0

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        return tuple(self._refusals)

    @property
    def effects(self) -> tuple[Effect, ...]:
        return tuple(self._effects)

    def __enter__(self) -> Line:
        self._started = time.monotonic()
        self._time = self._gate.machine.clock()
        self._before = self._gate.counters()
        return self

    def __exit__(self, *exc: object) -> None:
        usage = self.usage
        usage.seconds = time.monotonic() - self._started
        calls, searches, candidates = (after - before for after, before in
                                       zip(self._gate.counters(), self._before, strict=True))
        usage.calls += calls
        usage.searches += searches
        usage.candidates += candidates
        self._gate.finish(self, self._records())

    def command(self, argv: tuple[str, ...]) -> None:
        self.usage.commands += 1
        if argv in self._commands or len(self._commands) < KEPT:
            self._commands[argv] = self._commands.get(argv, 0) + 1

    def looked(self, command: str, effect: str, mount: str, rule: str, size: int = 0) -> None:
        """A stat, list, read or search that was allowed: added up."""
        entry = self._sums.setdefault((command, effect, mount, rule), [0, 0])
        entry[0] += 1
        entry[1] += size
        usage = self.usage
        if effect == "stat":
            usage.stats += 1
        elif effect == "list":
            usage.lists += 1
        elif effect == "read":
            usage.reads += 1

    def moved(self, command: str, effect: str, mount: str, rule: str, size: int) -> None:
        entry = self._sums.setdefault((command, effect, mount, rule), [0, 0])
        entry[1] += size
        if effect == "read":
            self.usage.bytes += size

    def changed(self, command: str, effect: str, target: str, rule: str,
                effects: tuple[str, ...] | None = None) -> None:
        """A change or call that was allowed. The same one again (a loop that appends) is added up."""
        key = (command, effect, target)
        if effect != "call" and key in self._last:
            self._sums.setdefault((command, effect, target, rule), [0, 0])[0] += 1
            return
        self._last.add(key)
        if len(self._effects) < KEPT:
            self._effects.append(Effect(effect, target, command, effects))
            self._event(command, effect, target, rule, "allow", None)

    def refused(self, command: str, effect: str, target: str, decision: Decision, ask_id: str | None) -> None:
        if decision.action != "hide" and len(self._refusals) < KEPT:
            self._refusals.append(Refusal(decision.action, effect, target, command, decision.rule_name,
                                          decision.reason, ask_id))
        if len(self._events) < KEPT:
            self._event(command, effect, target, decision.rule_name, decision.action, decision.reason)

    def first_note(self, pid: int, rule: str) -> bool:
        """Should this process print the reason of this rule? Once is enough."""
        if (pid, rule) in self._noted:
            return False
        self._noted.add((pid, rule))
        return True

    def _event(self, command: str, effect: str, target: str, rule: str, verdict: str, reason: str | None) -> None:
        gate = self._gate
        self._events.append((gate.machine.clock(), gate.session, self.number, command, effect, target, rule, verdict,
                             reason, None, 1, None))

    def _records(self) -> list[tuple[Any, ...]]:
        gate, now = self._gate, self._gate.machine.clock()
        usage = self.usage
        records = [(self._time, gate.session, self.number, self.text, "line", "", None, "allow", None, usage.bytes,
                    usage.commands, usage.seconds)]
        records.extend((self._time, gate.session, self.number, " ".join(argv)[:4096], "exec", argv[0], None, "allow",
                        None, None, count, None) for argv, count in self._commands.items())
        records.extend(self._events)
        records.extend((now, gate.session, self.number, command, effect, mount, rule, "allow", None, size, count, None)
                       for (command, effect, mount, rule), (count, size) in self._sums.items())
        return records
