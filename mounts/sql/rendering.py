"""Rows as JSON lines and CSV.

    database                 JSON                              CSV
    NULL                     null                              nothing; an empty string is ""
    boolean                  true, false                       true, false
    integer, decimal         a number with all its digits      the same
    float                    the shortest that reads the same; "NaN", "Infinity" are strings
    date, time, timestamp    a string, ISO 8601                the same
    blob                     a string, base64                  the same
    array, json              array, object                     JSON
    others (uuid, ...)       their text                        the same
"""
from __future__ import annotations

import base64
import datetime
import decimal
import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CONSTANTS = "null true false NaN Infinity sNaN"          # words of files that no row holds as text


def plain(value: Any) -> Any:
    """`value` in the types of JSON; a decimal.Decimal stays where it is finite."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _not_finite(value)
    if isinstance(value, decimal.Decimal):
        return value if value.is_finite() else str(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return str(value)


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def to_json(value: Any) -> str:
    """JSON text of a value of the database."""
    value = plain(value)
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {to_json(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(to_json(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


class JsonLines:
    """One object per row, keys in the order of the columns."""

    one_line = True

    def __init__(self, columns: Sequence[str]) -> None:
        self._keys = [json.dumps(name, ensure_ascii=False) + ": " for name in columns]

    def head(self) -> bytes:
        return b""

    def rows(self, rows: Iterable[Sequence[Any]]) -> bytes:
        keys = self._keys
        return "".join(["{" + ", ".join([k + to_json(v) for k, v in zip(keys, row, strict=True)]) + "}\n"
                        for row in rows]).encode("utf-8", "replace")


class Csv:
    """RFC 4180 with "\\n", and a first line with the columns."""

    one_line = False

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns

    def head(self) -> bytes:
        return self.rows([self._columns])

    def rows(self, rows: Iterable[Sequence[Any]]) -> bytes:
        return "".join([",".join([_field(v) for v in row]) + "\n" for row in rows]).encode("utf-8", "replace")


def _field(value: Any) -> str:
    value = plain(value)
    if value is None:
        return ""
    text = value if isinstance(value, str) else to_json(value)
    if not text or any(c in text for c in ',"\n\r'):
        return '"' + text.replace('"', '""') + '"'
    return text
