"""Variables that are more than a plain string: attributes, arrays, computed values.

Outside `mirage.shell.state` a Var is read only: subshells share them until one side changes one.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from mirage.shell.state import Shell

    Indexed: TypeAlias = dict[int, str]
    Assoc: TypeAlias = dict[str, str]
    Value: TypeAlias = str | Indexed | Assoc | None

EXPORT, READONLY, INTEGER, LOWER, UPPER, CAPITAL, NAMEREF, TRACE, INDEXED, ASSOC = (1 << n for n in range(10))
CASES = LOWER | UPPER | CAPITAL
ARRAY = INDEXED | ASSOC
LETTERS = ((INDEXED, "a"), (ASSOC, "A"), (INTEGER, "i"), (NAMEREF, "n"), (READONLY, "r"), (TRACE, "t"), (EXPORT, "x"),
           (CAPITAL, "c"), (LOWER, "l"), (UPPER, "u"))  # fmt: skip


def letters(flags: int) -> str:
    """The attribute letters in the order of ``declare -p`` and ``${x@a}``."""
    return "".join(letter for flag, letter in LETTERS if flags & flag)


class Var:
    """A variable with attributes.

    value   str; None (declared, unset); dict[int, str] when INDEXED; dict[str, str] when ASSOC
    fresh   how many keys at the end of the dict are not in their place yet (see `ordered`)
    owner   the Shell.token of the only shell that may change this object
    """

    __slots__ = ("flags", "fresh", "owner", "value")

    def __init__(self, value: Value = None, flags: int = 0, owner: object = None) -> None:
        self.value = value
        self.flags = flags
        self.owner = owner
        self.fresh = len(value) if value.__class__ is dict else 0

    def copy(self, owner: object) -> Var:
        value = self.value
        new = Var(value.copy() if value.__class__ is dict else value, self.flags, owner)
        new.fresh = self.fresh
        return new

    def read(self, sh: Shell) -> Value:
        """The value; computed for a Dynamic."""
        return self.value

    def ordered(self) -> dict[int, str] | dict[str, str]:
        """The dict of an array, its keys in bash's order: by index, or by bash's hash table."""
        value = self.value
        if self.fresh:
            if self.flags & ASSOC:
                self.value = assoc_order(value, self.fresh)  # type: ignore[arg-type]
            else:
                self.value = dict(sorted(value.items()))  # type: ignore[union-attr]
            self.fresh = 0
        return self.value  # type: ignore[return-value]

    def top(self) -> int:
        """The highest index of an indexed array, -1 when it is empty."""
        value = self.value
        if not value:
            return -1
        last: int = max(value) if self.fresh else next(reversed(value))  # type: ignore[assignment]
        return last


class Dynamic(Var):
    """A variable whose value is computed: ``compute(sh)``; ``assign(sh, text)`` takes assignments (None: ignored)."""

    __slots__ = ("assign", "compute")

    def __init__(
        self,
        compute: Callable[[Shell], Value],
        assign: Callable[[Shell, str], None] | None = None,
        flags: int = 0,
    ) -> None:
        super().__init__(None, flags)
        self.compute = compute
        self.assign = assign

    def copy(self, owner: object) -> Dynamic:
        new = Dynamic(self.compute, self.assign, self.flags)
        new.owner = owner
        return new

    def read(self, sh: Shell) -> Value:
        return self.compute(sh)


def _hash(key: str) -> int:
    """bash's hash_string: FNV-1, 32 bits, over signed chars."""
    value = 2166136261
    for byte in key.encode("utf-8", "surrogateescape"):
        value = value * 16777619 & 0xFFFFFFFF
        value ^= byte if byte < 128 else byte | 0xFFFFFF00
    return value


def assoc_order(value: dict[str, str], fresh: int) -> dict[str, str]:
    """The dict with its keys as bash's hash table walks them: by bucket, newest first in a bucket.

    The last `fresh` keys were added since the dict was in that order.
    """
    keys = list(value)
    old = len(keys) - fresh
    keys = keys[old:][::-1] + keys[:old]
    buckets = 1024
    while len(keys) > buckets * 2:
        buckets *= 4
    keys.sort(key=lambda key: _hash(key) & buckets - 1)
    return {key: value[key] for key in keys}
