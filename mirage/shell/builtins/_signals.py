"""Signals by name and number, as `kill` and `trap` take and print them."""
from __future__ import annotations

from mirage.process.signals import NAMES, NUMBERS
from mirage.shell.builtins._common import number

PSEUDO = {"EXIT": 0, "DEBUG": 65, "ERR": 66, "RETURN": 67}


def listed_name(number: int) -> str:
    """`RTMIN+3`, `RTMAX-2`, `TERM`."""
    if 34 < number < 50:
        return f"RTMIN+{number - 34}"
    if 50 <= number < 64:
        return f"RTMAX-{64 - number}"
    return NAMES[number]


def find(text: str, pseudo: bool = False) -> int | None:
    """The number of a signal given by number or by name, with or without SIG, in any case; None for none.

    With `pseudo` also EXIT, DEBUG, ERR and RETURN (see PSEUDO), and 0 for EXIT.
    """
    value = number(text)
    if value is not None:
        return value if value in NAMES or value == 0 else None
    name = text.upper()
    if pseudo and name in PSEUDO:
        return PSEUDO[name]
    return NUMBERS.get(name.removeprefix("SIG")) if name != "EXIT" else 0


def listing() -> str:
    """The table of `kill -l` and `trap -l`."""
    out = []
    for column, value in enumerate(sorted(NAMES), 1):
        out.append(f"{value:2d}) SIG{listed_name(value)}")
        out.append("\n" if column % 5 == 0 else "\t")
    return "".join(out) + ("\n" if len(NAMES) % 5 else "")
