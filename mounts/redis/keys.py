"""Keys as paths: `:` is `/`; what a name cannot hold is percent-encoded, so that every key has one path.

`%2F` is a slash in a key, `%25` a percent sign, `%empty` nothing between two colons.
"""
from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

EMPTY = "%empty"
KEYS = "%keys"                                               # behind the name of a directory that is a value as well
VALUE = "%value"                                             # before .json, where a string has the name itself
JSON = ".json"
_BAD = re.compile(r"[%/:\0]")


def name_of(part: str) -> str:
    """A part of a key as a file name."""
    if part in (".", ".."):
        return "%2E" * len(part)
    return _BAD.sub(lambda match: f"%{ord(match.group()):02X}", part) if part else EMPTY


def part_of(name: str) -> str | None:
    """The part of a key for a file name; None where no part has this name."""
    if name == EMPTY:
        return ""
    part = unquote_to_bytes(name.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
    return part if name_of(part) == name and ":" not in part else None


def encode(key: str) -> bytes:
    return key.encode("utf-8", "surrogateescape")


def decode(key: bytes) -> str:
    return key.decode("utf-8", "surrogateescape")
