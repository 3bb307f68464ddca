"""What something would cost, told without asking a service: ranges where only doing it tells.

A mount may have `estimate(path, action, queries=()) -> Cost` (undeclared, like `statfs`): what `action` at `path` would
cost from what is known now, finding the path included. It never sends a request. Actions:

  stat      look at the one name
  list      list the directory
  read      read the whole file
  walk      list everything below
  read_all  walk and read everything below
  search    `search` with each of `queries`, then read what it names (or everything, where it leaves that to the caller)

Requests that are sent again after a failure are not counted, though they do count in Result.usage.
"""
from __future__ import annotations

ACTIONS = ("stat", "list", "read", "walk", "read_all", "search")


class Range:
    """From `low` to `high`; high None: nobody knows."""

    __slots__ = ("high", "low")

    def __init__(self, low: int = 0, high: int | None = 0) -> None:
        self.low = low
        self.high = high

    def plus(self, other: Range) -> Range:
        """Both are done."""
        high = None if self.high is None or other.high is None else self.high + other.high
        return Range(self.low + other.low, high)

    def after(self, other: Range) -> Range:
        """Both are done, and what one of them asked for may be known to the other: only the larger one is sure."""
        return Range(max(self.low, other.low), self.plus(other).high)

    def either(self, other: Range) -> Range:
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return Range(min(self.low, other.low), high)

    @property
    def maybe(self) -> Range:
        """Perhaps it is not done at all."""
        return Range(0, self.high)

    @property
    def often(self) -> Range:
        """Done any number of times."""
        return Range(0, 0 if self.high == 0 else None)

    def __contains__(self, number: int) -> bool:
        return self.low <= number and (self.high is None or number <= self.high)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Range) and (self.low, self.high) == (other.low, other.high)

    def __hash__(self) -> int:
        return hash((self.low, self.high))

    def as_dict(self) -> dict[str, int | None]:
        return {"min": self.low, "max": self.high}

    def __str__(self) -> str:
        high = "?" if self.high is None else f"{self.high:,}"
        return high if self.low == self.high else f"{self.low:,}..{high}"

    def __repr__(self) -> str:
        return f"Range({self})"


class Cost:
    """Calls to the service, bytes of files that are read, searches by the service. `note` says more, for people."""

    __slots__ = ("bytes", "calls", "note", "searches")

    def __init__(self, calls: Range | None = None, bytes: Range | None = None, searches: Range | None = None,
                 note: str = "") -> None:
        self.calls = calls or Range()
        self.bytes = bytes or Range()
        self.searches = searches or Range()
        self.note = note

    def _with(self, other: Cost, name: str) -> Cost:
        calls, size, searches = (getattr(getattr(self, field), name)(getattr(other, field))
                                 for field in ("calls", "bytes", "searches"))
        return Cost(calls, size, searches, self.note or other.note)

    def plus(self, other: Cost) -> Cost:
        return self._with(other, "plus")

    def after(self, other: Cost) -> Cost:
        return self._with(other, "after")

    def either(self, other: Cost) -> Cost:
        return self._with(other, "either")

    @property
    def maybe(self) -> Cost:
        return Cost(self.calls.maybe, self.bytes.maybe, self.searches.maybe, self.note)

    @property
    def often(self) -> Cost:
        return Cost(self.calls.often, self.bytes.often, self.searches.often, self.note)

    def __repr__(self) -> str:
        return f"Cost(calls={self.calls}, bytes={self.bytes}, searches={self.searches})"


def calls(low: int, high: int | None) -> Cost:
    """So many calls, and nothing else."""
    return Cost(Range(low, high))


def unknown(searches: int = 0) -> Cost:
    return Cost(Range(0, None), Range(0, None), Range(0, searches))
