"""Tab stops as expand and unexpand take them: `8`, `4,8,12`, `4,/8`, `4,+8`."""
from __future__ import annotations

import re
from bisect import bisect_right

from mirage.commands._text import fatal, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.process.process import Process


class TabStops:
    """`size`: distance of regular stops (0: none); `listed`: explicit stops before them."""

    __slots__ = ("base", "listed", "size")

    def __init__(self, listed: list[int], size: int, base: int) -> None:
        self.listed = listed
        self.size = size
        self.base = base

    @property
    def regular(self) -> bool:
        return not self.listed

    def after(self, column: int) -> int:
        """The column of the next stop; the next column where there is none."""
        return self.next_stop(column) or column + 1

    def next_stop(self, column: int) -> int | None:
        at = bisect_right(self.listed, column)
        if at < len(self.listed):
            return self.listed[at]
        if self.size:
            return column + self.size - (column - self.base) % self.size
        return None


def read_stops(proc: Process, texts: Sequence[str]) -> TabStops:
    """All -t arguments together."""
    listed: list[int] = []
    size, base = 0, 0
    extend = increment = None
    for text in texts:
        for part in re.split(r"[, \t]+", text):
            if not part:
                continue
            found = re.fullmatch(r"([/+]?)([0-9]+)", part)
            if not found:
                bad = re.search(r"[^0-9]", part.lstrip("/+") if part[0] in "/+" else part)
                tail = part[bad.start():] if bad else part
                raise fatal(proc, f"tab size contains invalid character(s): {quote(proc, tail)}")
            value = int(found[2])
            if value >= 1 << 63:
                raise fatal(proc, f"tab stop is too large {quote(proc, part)}")
            if found[1] == "/":
                extend = value
            elif found[1] == "+":
                increment = value
            else:
                if value == 0:
                    raise fatal(proc, "tab size cannot be 0")
                if listed and value <= listed[-1]:
                    raise fatal(proc, "tab sizes must be ascending")
                listed.append(value)
    if extend and increment:
        raise fatal(proc, "'/' specifier is mutually exclusive with '+'")
    if extend:
        size = extend
    elif increment:
        size, base = increment, listed[-1] if listed else 0
    elif len(listed) == 1:
        size, listed = listed[0], []
    elif not listed:
        size = 8
    return TabStops(listed, size, base)
