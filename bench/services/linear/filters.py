"""Linear's filters: comparators on values, nested filters on what an object is related to, `some` of a list."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Look = Callable[[Any, str], Any]

COMPARATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda v, w: v == w, "neq": lambda v, w: v != w, "in": lambda v, w: v in w, "nin": lambda v, w: v not in w,
    "null": lambda v, w: (v is None) == w, "contains": lambda v, w: w in (v or ""),
    "notContains": lambda v, w: w not in (v or ""), "startsWith": lambda v, w: (v or "").startswith(w),
    "endsWith": lambda v, w: (v or "").endswith(w), "eqIgnoreCase": lambda v, w: (v or "").lower() == w.lower(),
    "containsIgnoreCase": lambda v, w: w.lower() in (v or "").lower(),
    "notContainsIgnoreCase": lambda v, w: w.lower() not in (v or "").lower(),
    "startsWithIgnoreCase": lambda v, w: (v or "").lower().startswith(w.lower()),
    "lt": lambda v, w: v is not None and v < w, "lte": lambda v, w: v is not None and v <= w,
    "gt": lambda v, w: v is not None and v > w, "gte": lambda v, w: v is not None and v >= w}


def matches(item: Any, filter: dict[str, Any], look: Look) -> bool:
    """Does an object pass? `look(object, field)` gives a value, a related object, or a list of them."""
    return all(_field(item, name, wanted, look) for name, wanted in filter.items())


def _field(item: Any, name: str, wanted: Any, look: Look) -> bool:
    if name == "and":
        return all(matches(item, part, look) for part in wanted)
    if name == "or":
        return any(matches(item, part, look) for part in wanted)
    if name == "null":
        return (item is None) is bool(wanted)
    value = look(item, name) if item is not None else None
    if isinstance(value, list):
        if "every" in wanted:
            return all(matches(one, wanted["every"], look) for one in value)
        part = wanted.get("some", wanted)
        return any(matches(one, part, look) for one in value)
    if value is not None and not isinstance(value, str | int | float | bool):
        return matches(value, wanted, look)
    if (
        item is None
        or value is None
        and any(isinstance(w, dict | list) and key not in ("in", "nin") for key, w in wanted.items())
    ):
        return matches(None, wanted, look) if item is not None and wanted.get("null") else False
    return all(COMPARATORS[key](value, w) for key, w in wanted.items())
