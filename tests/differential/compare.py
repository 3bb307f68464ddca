"""One case, both answers; and the smallest case that still differs."""
from __future__ import annotations

from tests.differential import ours
from tests.differential.cases import Case
from tests.differential.jail import Answer, Jail

TRIALS = 150                                                 # scripts tried to make one smaller


class Difference:
    """A case on which the answers differ."""

    __slots__ = ("case", "mine", "real")

    def __init__(self, case: Case, real: Answer, mine: Answer) -> None:
        self.case, self.real, self.mine = case, real, mine

    def text(self) -> str:
        used = {name: data for name, data in self.case.files.items() if name.rsplit("/", 1)[-1] in self.case.script}
        rows = [f"--- {self.case.kind}", self.case.script.rstrip("\n")]
        rows += [f"    {name}: {data!r}" for name, data in used.items()]
        if self.case.stdin:
            rows.append(f"    stdin: {self.case.stdin!r}")
        for label, answer in (("real", self.real), ("ours", self.mine)):
            rows.append(f"  {label}: {answer.status} {answer.stdout[-600:]!r} {answer.stderr[-300:]!r}")
        return "\n".join(rows)


def compare(jail: Jail, case: Case) -> Difference | None:
    """None when stdout and exit status are the same (or the real one takes too long)."""
    real = jail.run(case.script, case.files, case.stdin)
    if real.late:
        return None
    mine = ours.run(case.script, case.files, case.stdin)
    if (real.stdout, real.status) == (mine.stdout, mine.status):
        return None
    return Difference(case, real, mine)


def new_trouble(shorter: Difference, longer: Difference) -> bool:
    """Has the real bash a complaint about the shorter script that it had not about the longer one, or died of it?"""
    if shorter.real.status > 128 and shorter.real.status != longer.real.status:
        return True
    said, before = (one.real.stderr + one.real.stdout for one in (shorter, longer))
    return any(text in said and text not in before for text in (b"command not found", b"syntax error", b"unexpected EOF", b"Usage:", b"--help"))


def shrink(jail: Jail, found: Difference) -> Difference:
    """Leave out lines, then words, then files, as long as the answers differ."""
    left = TRIALS
    best = found

    def differs(lines: list[str], stdin: bytes) -> bool:
        nonlocal left, best
        if left <= 0 or not lines:
            return False
        left -= 1
        other = compare(jail, Case(best.case.kind, lines, best.case.files, stdin))
        if other is None or new_trouble(other, best):
            return False
        best = other
        return True

    if best.case.stdin:
        differs(best.case.lines, b"")
    lines = [line for text in best.case.lines for line in (text.split("\n") if "<<" not in text else [text])]
    if lines != best.case.lines:
        differs(lines, best.case.stdin)
    changed = True
    while changed and left > 0:
        changed = False
        for size in (4, 2, 1):
            at = 0
            while at < len(best.case.lines) and left > 0:
                if len(best.case.lines) > size and differs(best.case.lines[:at] + best.case.lines[at + size:], best.case.stdin):
                    changed = True
                else:
                    at += size
    for number in range(len(best.case.lines)):
        at = 0
        while number < len(best.case.lines) and left > 0:
            words = best.case.lines[number].split(" ")
            if at >= len(words) or len(words) == 1:
                break
            shorter = " ".join(words[:at] + words[at + 1:])
            if not differs([*best.case.lines[:number], shorter, *best.case.lines[number + 1:]], best.case.stdin):
                at += 1
    return best
