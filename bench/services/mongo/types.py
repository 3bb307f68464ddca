"""What mongomock's aggregation lacks of what we ask: the operator `$type`."""
from __future__ import annotations

import datetime
import functools
import re
from typing import Any

import bson
from mongomock import aggregate

NAMES: tuple[tuple[Any, str], ...] = (
    (bool, "bool"), (bson.Int64, "long"), (int, "int"), (float, "double"), (str, "string"), (dict, "object"), ((list, tuple), "array"),
    (bson.ObjectId, "objectId"), ((datetime.datetime, bson.DatetimeMS), "date"), (bson.Decimal128, "decimal"),
    (bson.Regex, "regex"), (re.Pattern, "regex"), (bson.Timestamp, "timestamp"), ((bytes, bson.Binary), "binData"),
    (bson.MinKey, "minKey"), (bson.MaxKey, "maxKey"), (bson.Code, "javascript"))


def type_name(value: Any) -> str:
    """The name that MongoDB gives to the type of a value."""
    if value is None:
        return "null"
    if type(value) is int and not -2**31 <= value < 2**31:
        return "long"
    return next((name for kind, name in NAMES if isinstance(value, kind)), "binData")


@functools.cache
def install() -> None:
    """Teach mongomock the operator."""
    parser: Any = aggregate._Parser
    plain = parser.parse

    def parse(self: Any, expression: Any) -> Any:
        if isinstance(expression, dict) and list(expression) == ["$type"]:
            try:
                return type_name(self.parse(expression["$type"]))
            except KeyError:
                return "missing"
        return plain(self, expression)

    parser.parse = parse
