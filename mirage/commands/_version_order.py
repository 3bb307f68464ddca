"""The order of version numbers in names: gnulib's filevercmp as a sort key (ls -v, sort -V)."""
from __future__ import annotations

import re

_PARTS = re.compile(rb"([^0-9]*)([0-9]*)")
_SUFFIX = re.compile(rb"(?:\.[A-Za-z~][A-Za-z0-9~]*)*\Z")
_ORDER = [-2 if b == 126 else b if chr(b).isalpha() and b < 128 else b + 256 for b in range(256)]


def _parts(name: bytes) -> tuple[int, ...]:
    """Characters in their order, 0 before each number, -1 at the end."""
    out: list[int] = []
    for found in _PARTS.finditer(name):
        text, number = found.groups()
        out.extend(_ORDER[b] for b in text)
        if number:
            out.append(0)
            out.append(int(number) if len(number) < 4000 else len(number) << 14000)
    out.append(-1)
    return tuple(out)


def version_key(name: bytes) -> tuple[object, ...]:
    """Compares like filevercmp: "" < "." < ".." < hidden < others, then without file suffixes, then with them."""
    if name in (b"", b".", b".."):
        return (len(name),)
    rank = 4
    if name.startswith(b"."):
        rank = 3
        name = name[1:]
    suffix = _SUFFIX.search(name)
    prefix = name[:suffix.start()] if suffix else name
    full = _parts(name)
    return rank, _parts(prefix) if len(prefix) < len(name) else full, full
