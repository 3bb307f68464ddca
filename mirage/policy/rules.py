"""Rules in force: first match wins inside a policy, the strictest answer wins between policies and path aliases."""
from __future__ import annotations

import fnmatch
import re

from mirage.policy.model import PolicyModel, RuleModel, read
from mirage.policy.operands import all_names, command_names
from mirage.policy.patterns import PathPattern
from mirage.policy.vocabulary import CHANGING, FILE_EFFECTS, STAGE_REASON, STRICTNESS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from mirage.policy.operands import Operand

DEVICES = PathPattern("/dev")


class Decision:
    """The answer to one question: an action, the rule that gave it and the reason to show."""

    __slots__ = ("action", "reason", "rule")

    def __init__(self, action: str, rule: Rule | None = None, reason: str = "") -> None:
        self.action = action
        self.rule = rule
        self.reason = reason

    @property
    def rule_name(self) -> str:
        return self.rule.name if self.rule is not None else "default"

    def __repr__(self) -> str:
        return f"Decision({self.action}, {self.rule_name!r}, {self.reason!r})"


ALLOW = Decision("allow")


class Rule:
    """One rule, compiled. `where` is POLICY[INDEX], used as its name when it has none."""

    __slots__ = ("action", "bytes", "calls", "clis", "commands", "effects", "mount_root", "name", "operations", "paths",
                 "reason", "recursive", "seconds", "when")

    def __init__(self, model: RuleModel, where: str) -> None:
        self.name = model.name or where
        self.action = "deny" if model.action == "readonly" else model.action
        self.reason = model.reason or self._default_reason(model.action)
        if model.action == "stage" and model.reason:
            self.reason = f"{STAGE_REASON}: {model.reason}"
        self.paths = tuple(PathPattern(p) for p in model.path) if model.path else ()
        self.commands = tuple(_names(model.command))
        self.clis = tuple(_names(model.cli))
        self.operations = tuple(_names(model.operation))
        self.mount_root = model.operand.mount_root if model.operand else None
        self.recursive = model.operand.recursive if model.operand else None
        self.calls, self.bytes, self.seconds = model.calls, model.bytes, model.seconds
        self.when: Any = None
        if model.when is not None:
            import jmespath
            self.when = jmespath.compile(model.when)
        if model.action == "readonly":
            self.effects: frozenset[str] | None = frozenset(CHANGING)
        elif model.action == "hide":
            self.effects = None                              # a hidden path is hidden for every effect
        else:
            self.effects = frozenset(model.effect) if model.effect else None

    @staticmethod
    def _default_reason(action: str) -> str:
        return {"readonly": "this path is read-only", "stage": STAGE_REASON, "ask": "needs approval",
                "limit": "the limit of the session is reached"}.get(action, "not allowed by the policy")

    @property
    def about_calls(self) -> bool:
        return bool(self.clis or self.operations or self.when is not None)

    def matches_path(self, effect: str, path: str) -> bool:
        if self.commands or self.about_calls or self.mount_root is not None or self.recursive is not None:
            return False
        if self.effects is not None and effect not in self.effects:
            return False
        if not self.paths:
            return self.effects is not None or self.action in ("deny", "ask", "allow", "stage")
        return any(p.covers(path) for p in self.paths)

    def matches_command(self, names: Sequence[str], programs: Sequence[str],
                        operands: Callable[[], Sequence[Operand]]) -> bool:
        """`names`: what the command is called; `programs`: what really runs, where it is a program.

        A rule that restricts is about either; one that allows is about everything that runs.
        """
        if self.paths or self.about_calls:
            return False
        if self.effects is not None and "exec" not in self.effects:
            return False
        if self.effects is None and not self.commands:
            return False
        if self.commands:
            if self.action == "allow" and programs:
                if not all(any(_any(self.commands, n) for n in command_names((p,))) for p in programs):
                    return False
            elif not any(_any(self.commands, n) for p in (*names, *programs) for n in all_names(p)):
                return False
        if self.mount_root is None and self.recursive is None:
            return True
        return any((self.mount_root is None or o.mount_root == self.mount_root) and
                   (self.recursive is None or o.recursive == self.recursive) for o in operands())

    def matches_call(self, cli: str, operation: str, effects: Iterable[str], arguments: Mapping[str, Any]) -> bool:
        if self.paths or self.commands:
            return False
        if self.effects is not None and "call" not in self.effects and not self.effects & set(effects):
            return False
        if self.effects is None and not self.about_calls:
            return False
        if self.clis and not _any(self.clis, cli) or self.operations and not _any(self.operations, operation):
            return False
        return self.when is None or bool(self.when.search(arguments))


def _names(patterns: list[str] | None) -> list[re.Pattern[str]]:
    return [re.compile(fnmatch.translate(p)) for p in patterns or ()]


def _any(patterns: Sequence[re.Pattern[str]], name: str) -> bool:
    return any(p.match(name) for p in patterns)


class RuleSet:
    """One policy document in force."""

    __slots__ = ("allow_paths", "default", "name", "rules")

    def __init__(self, model: PolicyModel) -> None:
        self.name = model.name
        self.default = model.default
        self.allow_paths = None if model.allow_paths is None else tuple(PathPattern(p) for p in model.allow_paths)
        self.rules = tuple(Rule(m, f"{model.name}[{i}]") for i, m in enumerate(model.rules))

    def on_path(self, effect: str, path: str) -> Decision:
        decision = ALLOW
        for rule in self.rules:
            if rule.matches_path(effect, path):
                if rule.action != "allow":
                    decision = Decision(rule.action, rule, rule.reason)
                break
        else:
            if self.default == "deny" and self.allow_paths is None and not DEVICES.covers(path) \
                    and not (effect == "stat" and self._leads_to_allowed(path)):
                decision = Decision("deny", None, f"policy {self.name} allows only what it names")
        if self.allow_paths is None or STRICTNESS[decision.action] >= STRICTNESS["deny"]:
            return decision
        outside = self._inside(self.allow_paths, effect, path)
        return decision if outside is ALLOW else outside

    def _leads_to_allowed(self, path: str) -> bool:
        return any(p.reaches_below(path) for rule in self.rules if rule.action == "allow" for p in rule.paths)

    @staticmethod
    def _inside(allowed: Sequence[PathPattern], effect: str, path: str) -> Decision:
        """The allow_paths part: outside them everything is denied, but looking at the way there."""
        if any(p.covers(path) for p in allowed) or DEVICES.covers(path):
            return ALLOW
        if effect == "stat" and any(p.reaches_below(path) for p in allowed):
            return ALLOW
        return Decision("deny", None, f"outside the paths of this task ({', '.join(p.text for p in allowed)})")

    def on_command(self, names: Sequence[str], programs: Sequence[str],
                   operands: Callable[[], Sequence[Operand]]) -> Decision:
        for rule in self.rules:
            if rule.matches_command(names, programs, operands):
                return ALLOW if rule.action == "allow" else Decision(rule.action, rule, rule.reason)
        return ALLOW

    def on_call(self, cli: str, operation: str, effects: Sequence[str], arguments: Mapping[str, Any]) -> Decision:
        for rule in self.rules:
            try:
                matched = rule.matches_call(cli, operation, effects, arguments)
            except Exception as e:                           # a rule that raises denies
                return Decision("deny", rule, f"the rule {rule.name} failed: {type(e).__name__}")
            if matched:
                return ALLOW if rule.action == "allow" else Decision(rule.action, rule, rule.reason)
        if self.default == "deny":
            return Decision("deny", None, f"policy {self.name} allows only what it names")
        return ALLOW


class Policy:
    """One or several policies in force together. Make it with load, load_all or parse."""

    __slots__ = ("sets",)

    def __init__(self, models: Iterable[PolicyModel]) -> None:
        self.sets = tuple(RuleSet(m) for m in models)

    @classmethod
    def load(cls, source: str | Path) -> Policy:
        """YAML text, a file, or the name of a shipped policy. Raises PolicyError."""
        return cls([read(source)[0]])

    @classmethod
    def load_all(cls, sources: Iterable[str | Path]) -> Policy:
        """Several: all must allow, the strictest answer wins."""
        return cls([read(source)[0] for source in sources])

    def on_path(self, effect: str, path: str) -> Decision:
        return strictest(s.on_path(effect, path) for s in self.sets)

    def each_on_path(self, effect: str, path: str) -> list[Decision]:
        """What each policy says; those that allow are left out."""
        return _restricting(s.on_path(effect, path) for s in self.sets)

    def each_on_command(self, names: Sequence[str], programs: Sequence[str],
                        operands: Callable[[], Sequence[Operand]]) -> list[Decision]:
        return _restricting(s.on_command(names, programs, operands) for s in self.sets)

    def each_on_call(self, cli: str, operation: str, effects: Sequence[str],
                     arguments: Mapping[str, Any]) -> list[Decision]:
        return _restricting(s.on_call(cli, operation, effects, arguments) for s in self.sets)

    def hides(self, path: str) -> bool:
        return self.on_path("stat", path).action == "hide"

    def path_rules(self) -> list[Rule]:
        """Rules about paths that restrict something."""
        return [r for s in self.sets for r in s.rules if r.paths and r.action != "allow"]

    def has_path_rules(self) -> bool:
        return any(s.allow_paths is not None or s.default == "deny" or
                   any(not (r.commands or r.about_calls) for r in s.rules) for s in self.sets)

    def restricts(self, effect: str) -> bool:
        """May this effect on some path get another answer than allow?"""
        return any(s.allow_paths is not None or s.default == "deny" or
                   any(r.action != "allow" and (r.effects is None or effect in r.effects) for r in s.rules)
                   for s in self.sets)

    def moving_lifts(self, old: Sequence[str], new: Sequence[str], is_dir: bool) -> Rule | None:
        """The rule that would cover less after a rename or link, or None; `old`, `new`: all names of the object."""
        restricted = is_dir and any(self.on_path(effect, path).action != "allow"
                                    for effect in FILE_EFFECTS for path in old)
        for s in self.sets:
            for rule in s.rules:
                if not rule.paths:
                    continue
                if rule.action == "allow":
                    if restricted and any(p.reaches_below(path) for p in rule.paths for path in new):
                        return rule
                    continue
                below = is_dir and any(p.reaches_below(path) for p in rule.paths for path in old)
                covers = any(p.covers(path) for p in rule.paths for path in old)
                if below or covers and not any(p.covers(path) for p in rule.paths for path in new):
                    return rule
        return None

    def described(self) -> list[str]:
        """What an agent must know, one line per rule that has a reason or allow_paths (for VFS.md)."""
        lines = []
        for s in self.sets:
            if s.allow_paths is not None:
                lines.append("Only these paths may be used: " + ", ".join(f"`{p.text}`" for p in s.allow_paths))
            for rule in s.rules:
                if rule.action in ("allow", "hide"):
                    continue
                lines.append(_describe(rule))
        return lines


def _describe(rule: Rule) -> str:
    if rule.paths:
        subject = ", ".join(f"`{p.text}`" for p in rule.paths)
    elif rule.commands:
        subject = "some commands" if rule.mount_root is None else "commands over a whole mount"
    else:
        subject = "some operations"
    verb = {"deny": "refused", "ask": "needs approval", "stage": "refused", "limit": "limited"}[rule.action]
    if rule.effects is not None and not rule.commands:
        subject += f" ({', '.join(sorted(rule.effects))})"
    return f"{subject}: {verb}: {rule.reason}"


def _restricting(decisions: Iterable[Decision]) -> list[Decision]:
    return [d for d in decisions if d.action != "allow"]


def strictest(decisions: Iterable[Decision]) -> Decision:
    worst = ALLOW
    for decision in decisions:
        if STRICTNESS[decision.action] > STRICTNESS[worst.action]:
            worst = decision
    return worst
