"""What the gate hands out: questions, answers, and the records of what was refused, changed and used."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class _Record:
    __slots__: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if getattr(self, name) is not None}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.as_dict().items())})"


class Ask(_Record):
    """A question to the owner. `id` names it in messages and in the journal.

    effect     of the vocabulary ("call" operations name their first effect that a rule matched)
    target     a path, or "CLI OPERATION", or the command line
    command    argv of the command that asks
    arguments  of a call
    """

    __slots__ = ("arguments", "command", "effect", "id", "reason", "rule", "target")

    def __init__(self, id: str, effect: str, target: str, command: tuple[str, ...],
                 arguments: Mapping[str, Any] | None, rule: str, reason: str) -> None:
        self.id = id
        self.effect = effect
        self.target = target
        self.command = command
        self.arguments = arguments
        self.rule = rule
        self.reason = reason


class Verdict(_Record):
    """The owner's answer: allow or deny, once or for the whole session."""

    __slots__ = ("allowed", "reason", "scope")

    def __init__(self, allowed: bool, scope: str = "once", reason: str = "") -> None:
        if scope not in ("once", "session"):
            raise ValueError(f"scope must be 'once' or 'session', not {scope!r}")
        self.allowed = allowed
        self.scope = scope
        self.reason = reason

    @classmethod
    def allow(cls, scope: str = "once") -> Verdict:
        return cls(True, scope)

    @classmethod
    def deny(cls, reason: str = "", scope: str = "once") -> Verdict:
        return cls(False, scope, reason)


class Refusal(_Record):
    """Something the policy did not let happen. `action` is deny, ask (held), stage or limit; `id` of a held one."""

    __slots__ = ("action", "command", "effect", "id", "reason", "rule", "target")

    def __init__(self, action: str, effect: str, target: str, command: str, rule: str, reason: str,
                 id: str | None = None) -> None:
        self.action = action
        self.effect = effect
        self.target = target
        self.command = command
        self.rule = rule
        self.reason = reason
        self.id = id


class Effect(_Record):
    """Something that changed: a file effect with its path, or a call with the effects it declares."""

    __slots__ = ("command", "effect", "effects", "target")

    def __init__(self, effect: str, target: str, command: str, effects: tuple[str, ...] | None = None) -> None:
        self.effect = effect
        self.target = target
        self.command = command
        self.effects = effects


class Usage(_Record):
    """What a line cost. Times in seconds; `bytes` came from mounts; calls went to services.

    searches, candidates  questions to services and the files that they named, which were read instead of all
    mounts                the same by mount (or CLI): {"/mail": {"calls": 3, "searches": 1, "candidates": 2}}, no zeros
    """

    __slots__ = ("bytes", "calls", "candidates", "commands", "lists", "mounts", "reads", "searches", "seconds", "stats")

    def __init__(self) -> None:
        self.commands = 0
        self.stats = 0
        self.lists = 0
        self.reads = 0
        self.bytes = 0
        self.calls = 0
        self.searches = 0
        self.candidates = 0
        self.seconds = 0.0
        self.mounts: dict[str, dict[str, int]] = {}
