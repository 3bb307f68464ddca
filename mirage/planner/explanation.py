"""What the planner found out about a text."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage.planner.checks import UNKNOWN
from mirage.policy.vocabulary import CHANGING
from mirage.vfs.estimate import Cost

if TYPE_CHECKING:
    from mirage.planner.checks import Finding

FIELDS = ("calls", "bytes", "searches")


class Step:
    """What one command does with one place.

    mount   where the place is mounted, or the name of a CLI; "" for files of the terminal itself
    action  of mirage/vfs/estimate.py, or "write", "call", or "unknown": it depends on `path`, which is a word then
    """

    __slots__ = ("action", "command", "cost", "mount", "path")

    def __init__(self, command: str, mount: str, action: str, path: str, cost: Cost) -> None:
        self.command = command
        self.mount = mount
        self.action = action
        self.path = path
        self.cost = cost

    def as_dict(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in ("command", "mount", "action", "path")}
        found |= {name: getattr(self.cost, name).as_dict() for name in FIELDS}
        return {**found, "note": self.cost.note} if self.cost.note else found


class Explanation:
    """`steps` in the order of the text; `calls`, `bytes` and `searches` (Ranges) of all of it, in the units of
    Result.usage; `effects`: findings about changes, calls, and what the policy would not let happen; `unknown`: what
    only running tells."""

    def __init__(self, text: str, steps: list[Step], findings: list[Finding]) -> None:
        self.text = text
        self.steps = steps
        self.findings = findings
        total = Cost()
        for cost in self._by_mount().values():
            total = total.plus(cost)
        self.calls, self.bytes, self.searches = total.calls, total.bytes, total.searches

    def _by_mount(self) -> dict[str, Cost]:
        """One command may find what an earlier one has fetched: of their least costs only the largest is sure."""
        found: dict[str, Cost] = {}
        for step in self.steps:
            before = found.get(step.mount)
            found[step.mount] = step.cost if before is None else before.after(step.cost)
        return found

    @property
    def effects(self) -> list[Finding]:
        return [f for f in self.findings if f.effect in (*CHANGING, "call") or f.action not in ("allow", UNKNOWN)]

    @property
    def unknown(self) -> list[Finding]:
        return [f for f in self.findings if f.action == UNKNOWN]

    def as_dict(self) -> dict[str, Any]:
        return {"command": self.text, "total": {name: getattr(self, name).as_dict() for name in FIELDS},
                "steps": [step.as_dict() for step in self.steps], "effects": [f.as_dict() for f in self.effects],
                "unknown": [f.as_dict() for f in self.unknown]}

    def __str__(self) -> str:
        lines: list[str] = []
        last = None
        for step in self.steps:
            if step.command != last:
                lines.append(step.command)
                last = step.command
            costs = {name: str(getattr(step.cost, name)) for name in FIELDS}
            spent = ", ".join(f"{name} {cost}" for name, cost in costs.items() if cost != "0")
            note = f"  ({step.cost.note})" if step.cost.note else ""
            lines.append(f"  {step.action:8} {step.path}: {spent or 'nothing to pay for'}{note}")
        for finding in self.effects:
            why = f": {finding.reason}" if finding.reason and finding.action != "allow" else ""
            lines.append(f"effect: {finding.effect} {finding.target}"
                         + (f" ({finding.action}{why})" if finding.action != "allow" else ""))
        lines += [f"unknown: {finding.target}: {finding.reason}" for finding in self.unknown]
        lines.append("total: " + ", ".join(f"{name} {getattr(self, name)}" for name in FIELDS))
        return "\n".join(dict.fromkeys(lines[:-1])) + ("\n" if lines[:-1] else "") + lines[-1]
