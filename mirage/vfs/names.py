"""Titles of a service's items as file names (docs/mounts.md, "Names")."""
from __future__ import annotations

import re
import unicodedata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LIMIT = 120
_BAD = re.compile(r"[/\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def safe_name(title: str, limit: int = LIMIT) -> str:
    """NFC; `/` and control characters become `_`; at most `limit` bytes of UTF-8; empty, `.` and `..`: untitled."""
    name = _BAD.sub("_", unicodedata.normalize("NFC", title)).strip()
    data = name.encode()
    if len(data) > limit:
        name = data[:limit].decode("utf-8", "ignore").rstrip()
    return "untitled" if name in ("", ".", "..") else name


def with_id(title: str, id: str) -> str:
    """`<Title>__<id>`."""
    return f"{safe_name(title)}__{id}"


def split_id(name: str) -> tuple[str, str]:
    """(title, id) of a name made by with_id; the id is "" where there is none."""
    title, mark, id = name.rpartition("__")
    return (title, id) if mark else (name, "")


def unique_names(items: Iterable[tuple[str, str]]) -> list[str]:
    """File names of (title, id) pairs; `__<id>` (before the extension) on all that collide, letter case ignored."""
    pairs = [(safe_name(title), id) for title, id in items]
    seen: dict[str, int] = {}
    for name, _ in pairs:
        seen[name.casefold()] = seen.get(name.casefold(), 0) + 1
    return [_insert(name, id) if seen[name.casefold()] > 1 else name for name, id in pairs]


def _insert(name: str, id: str) -> str:
    stem, dot, extension = name.rpartition(".")
    return f"{stem}__{id}.{extension}" if dot and stem and len(extension) < 12 else f"{name}__{id}"


def checksum_names(titles: Iterable[str]) -> list[str]:
    """File names of things that have a name and no id; those that collide, letter case ignored, get `__<checksum>`."""
    import zlib
    pairs = [(title, f"{zlib.crc32(title.encode('utf-8', 'replace')):08x}") for title in titles]
    return [safe_name(name) for name in unique_names(pairs)]
