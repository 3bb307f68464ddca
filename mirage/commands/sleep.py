"""sleep: wait for the sum of the given times."""
from __future__ import annotations

import re

from mirage.commands._getopt import Spec, parse
from mirage.commands._text import missing_operand, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("", help="Usage: NAME NUMBER[SUFFIX]...\nPause for NUMBER seconds, where NUMBER is an integer or "
                     "floating-point.\n"
                     "SUFFIX may be 's','m','h', or 'd', for seconds, minutes, hours, days.\n")

_TIME = re.compile(r"[ \t\n]*\+?([0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?|0[xX][0-9a-fA-F]+"
                   r"|inf(?:inity)?)([smhd]?)\Z", re.IGNORECASE)
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(text: str) -> float | None:
    """A duration with an optional unit; None when it is not one."""
    found = _TIME.match(text)
    if not found or found[2].isupper():
        return None
    value = float(int(found[1], 16)) if found[1].lower().startswith("0x") else float(found[1])
    return value * UNITS[found[2]]


def main(proc: Process) -> int:
    _, operands = parse(proc, SPEC)
    if not operands:
        raise missing_operand(proc, SPEC)
    total, failed = 0.0, False
    for operand in operands:
        value = seconds(operand)
        if value is None:
            proc.message(f"invalid time interval {quote(proc, operand)}")
            failed = True
        else:
            total += value
    if failed:
        proc.write_error(f"Try '{proc.name} --help' for more information.\n")
        return 1
    proc.kernel.sleep(min(total, 1e9))
    return 0
