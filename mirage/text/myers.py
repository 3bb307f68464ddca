"""Differences of two sequences as GNU diff finds them: Myers's algorithm with its discarding and shifting of lines.

Sequences are lists of ints (equivalence classes of lines). Follows diffutils' analyze.c and gnulib's diffseq.h, so
that the same lines are reported as changed.
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MIN_COST = 4096


def changes(a: Sequence[int], b: Sequence[int], minimal: bool = False, horizon: int = 0,
            check: Callable[[], None] | None = None) -> list[tuple[int, int, int, int]]:
    """Changed regions (a_start, a_end, b_start, b_end), in order. `check` is called now and then.

    `horizon` lines of the common beginning and end take part, as far as changes may be shifted over them.
    """
    low = 0
    limit = min(len(a), len(b))
    while low < limit and a[low] == b[low]:
        low += 1
    high_a, high_b = len(a), len(b)
    while high_a > low and high_b > low and a[high_a - 1] == b[high_b - 1]:
        high_a -= 1
        high_b -= 1
    if low == high_a and low == high_b:
        return []
    extra = min(horizon, len(a) - high_a)
    low -= min(horizon, low)
    mid_a, mid_b = list(a[low:high_a + extra]), list(b[low:high_b + extra])
    changed_a, changed_b = _changed(mid_a, mid_b, minimal, check or _nothing)
    _shift(mid_a, changed_a, changed_b)
    _shift(mid_b, changed_b, changed_a)
    return _script(changed_a, changed_b, len(mid_a), len(mid_b), low)


def _nothing() -> None:
    return


def _script(changed_a: bytearray, changed_b: bytearray, size_a: int, size_b: int,
            low: int) -> list[tuple[int, int, int, int]]:
    out = []
    i = j = 0
    while i < size_a or j < size_b:
        if changed_a[i + 1] or changed_b[j + 1]:
            start_i, start_j = i, j
            while changed_a[i + 1]:
                i += 1
            while changed_b[j + 1]:
                j += 1
            out.append((start_i + low, i + low, start_j + low, j + low))
        i += 1
        j += 1
    return out


def _changed(a: list[int], b: list[int], minimal: bool, check: Callable[[], None]) -> tuple[bytearray, bytearray]:
    """Flags per line with one flag of padding at each end."""
    changed_a, changed_b = bytearray(len(a) + 2), bytearray(len(b) + 2)
    kept_a, real_a = _keep(a, b, changed_a, minimal)
    kept_b, real_b = _keep(b, a, changed_b, minimal)
    _compare(kept_a, kept_b, real_a, real_b, changed_a, changed_b, minimal, check)
    return changed_a, changed_b


def _keep(lines: list[int], other: list[int], changed: bytearray, minimal: bool) -> tuple[list[int], list[int]]:
    """Without the lines that would only confuse: those that are not in the other file, and runs around them."""
    counts: dict[int, int] = {}
    for line in other:
        counts[line] = counts.get(line, 0) + 1
    end = len(lines)
    many, rest = 5, end // 64 >> 2
    while rest > 0:
        many *= 2
        rest >>= 2
    discards = bytearray(end)
    for i, line in enumerate(lines):
        matches = counts.get(line, 0)
        if not matches:
            discards[i] = 1
        elif matches > many:
            discards[i] = 2
    _settle(discards)
    kept, real = [], []
    for i, line in enumerate(lines):
        if minimal or not discards[i]:
            kept.append(line)
            real.append(i)
        else:
            changed[i + 1] = 1
    return kept, real


def _settle(discards: bytearray) -> None:
    """Cancel provisional discards (2) but those inside runs of certain ones (1)."""
    end, i = len(discards), 0
    while i < end:
        if discards[i] == 2:
            discards[i] = 0
        elif discards[i]:
            j = i
            provisional = 0
            while j < end and discards[j]:
                provisional += discards[j] == 2
                j += 1
            while j > i and discards[j - 1] == 2:
                j -= 1
                discards[j] = 0
                provisional -= 1
            length = j - i
            if provisional * 4 > length:
                while j > i:
                    j -= 1
                    if discards[j] == 2:
                        discards[j] = 0
            else:
                _thin(discards, i, length)
                i += length - 1
        i += 1


def _thin(discards: bytearray, start: int, length: int) -> None:
    minimum, rest = 1, length >> 2 >> 2
    while rest > 0:
        minimum <<= 1
        rest >>= 2
    minimum += 1
    j = consecutive = 0
    while j < length:
        if discards[start + j] != 2:
            consecutive = 0
        else:
            consecutive += 1
            if consecutive == minimum:
                j -= consecutive
            elif consecutive > minimum:
                discards[start + j] = 0
        j += 1
    last = start + length - 1
    for origin, step in ((start, 1), (last, -1)):
        consecutive = 0
        for j in range(length):
            at = origin + step * j
            if j >= 8 and discards[at] == 1:
                break
            if discards[at] == 2:
                consecutive = 0
                discards[at] = 0
            elif discards[at] == 0:
                consecutive = 0
            else:
                consecutive += 1
            if consecutive == 3:
                break


def _compare(a: list[int], b: list[int], real_a: list[int], real_b: list[int], changed_a: bytearray,
             changed_b: bytearray, minimal: bool, check: Callable[[], None]) -> None:
    """Divide and conquer: find the middle of a shortest path, go on with both halves."""
    diagonals = len(a) + len(b) + 3
    cost = 1
    rest = diagonals
    while rest:
        cost <<= 1
        rest >>= 2
    cost = max(MIN_COST, cost)
    offset = len(b) + 1
    forward, backward = [0] * diagonals, [0] * diagonals
    todo = [(0, len(a), 0, len(b), minimal)]
    while todo:
        x, x_end, y, y_end, find_minimal = todo.pop()
        while x < x_end and y < y_end and a[x] == b[y]:
            x += 1
            y += 1
        while x < x_end and y < y_end and a[x_end - 1] == b[y_end - 1]:
            x_end -= 1
            y_end -= 1
        if x == x_end:
            for i in range(y, y_end):
                changed_b[real_b[i] + 1] = 1
        elif y == y_end:
            for i in range(x, x_end):
                changed_a[real_a[i] + 1] = 1
        else:
            x_mid, y_mid, low_minimal, high_minimal = _middle(
                a, b, x, x_end, y, y_end, find_minimal, forward, backward, offset, cost, check)
            todo.append((x_mid, x_end, y_mid, y_end, high_minimal))
            todo.append((x, x_mid, y, y_mid, low_minimal))


def _middle(a: list[int], b: list[int], x_off: int, x_lim: int, y_off: int, y_lim: int, find_minimal: bool,
            forward: list[int], backward: list[int], offset: int, too_expensive: int,
            check: Callable[[], None]) -> tuple[int, int, bool, bool]:
    d_min, d_max = x_off - y_lim, x_lim - y_off
    f_mid, b_mid = x_off - y_off, x_lim - y_lim
    f_min = f_max = f_mid
    b_min = b_max = b_mid
    odd = (f_mid - b_mid) & 1
    forward[offset + f_mid] = x_off
    backward[offset + b_mid] = x_lim
    huge = 1 << 62
    cost = work = 0
    while True:
        cost += 1
        if f_min > d_min:
            f_min -= 1
            forward[offset + f_min - 1] = -1
        else:
            f_min += 1
        if f_max < d_max:
            f_max += 1
            forward[offset + f_max + 1] = -1
        else:
            f_max -= 1
        work += f_max - f_min + b_max - b_min
        if work > 100_000:
            work = 0
            check()
        for d in range(f_max, f_min - 1, -2):
            low, high = forward[offset + d - 1], forward[offset + d + 1]
            x = high if low < high else low + 1
            y = x - d
            while x < x_lim and y < y_lim and a[x] == b[y]:
                x += 1
                y += 1
            forward[offset + d] = x
            if odd and b_min <= d <= b_max and backward[offset + d] <= x:
                return x, y, True, True
        if b_min > d_min:
            b_min -= 1
            backward[offset + b_min - 1] = huge
        else:
            b_min += 1
        if b_max < d_max:
            b_max += 1
            backward[offset + b_max + 1] = huge
        else:
            b_max -= 1
        for d in range(b_max, b_min - 1, -2):
            low, high = backward[offset + d - 1], backward[offset + d + 1]
            x = low if low < high else high - 1
            y = x - d
            while x_off < x and y_off < y and a[x - 1] == b[y - 1]:
                x -= 1
                y -= 1
            backward[offset + d] = x
            if not odd and f_min <= d <= f_max and x <= forward[offset + d]:
                return x, y, True, True
        if not find_minimal and cost >= too_expensive:
            return _give_up(forward, backward, offset, (f_min, f_max), (b_min, b_max), x_off, x_lim, y_off, y_lim)


def _give_up(forward: list[int], backward: list[int], offset: int, f: tuple[int, int], b: tuple[int, int], x_off: int,
             x_lim: int, y_off: int, y_lim: int) -> tuple[int, int, bool, bool]:
    """Too expensive: take the better of the two furthest points so far."""
    f_best, fx = -1, 0
    for d in range(f[1], f[0] - 1, -2):
        x = min(forward[offset + d], x_lim)
        y = x - d
        if y_lim < y:
            x, y = y_lim + d, y_lim
        if f_best < x + y:
            f_best, fx = x + y, x
    b_best, bx = 1 << 62, 0
    for d in range(b[1], b[0] - 1, -2):
        x = max(x_off, backward[offset + d])
        y = x - d
        if y < y_off:
            x, y = y_off + d, y_off
        if x + y < b_best:
            b_best, bx = x + y, x
    if x_lim + y_lim - b_best < f_best - (x_off + y_off):
        return fx, f_best - fx, True, False
    return bx, b_best - bx, False, True


def _shift(lines: list[int], changed: bytearray, other: bytearray) -> None:
    """Move runs of changes so that they merge, and as far down as they go. Flags have one of padding in front."""
    end = len(lines)
    i = j = 0
    while True:
        while i < end and not changed[i + 1]:
            while other[j + 1]:
                j += 1
            j += 1
            i += 1
        if i == end:
            return
        start = i
        i += 1
        while changed[i + 1]:
            i += 1
        while other[j + 1]:
            j += 1
        while True:
            length = i - start
            while start and lines[start - 1] == lines[i - 1]:
                start -= 1
                changed[start + 1] = 1
                i -= 1
                changed[i + 1] = 0
                while changed[start]:
                    start -= 1
                j -= 1
                while other[j + 1]:
                    j -= 1
            corresponding = i if other[j] else end
            while i != end and lines[start] == lines[i]:
                changed[start + 1] = 0
                start += 1
                changed[i + 1] = 1
                i += 1
                while changed[i + 1]:
                    i += 1
                j += 1
                while other[j + 1]:
                    corresponding = i
                    j += 1
            if length == i - start:
                break
        while corresponding < i:
            start -= 1
            changed[start + 1] = 1
            i -= 1
            changed[i + 1] = 0
            j -= 1
            while other[j + 1]:
                j -= 1
