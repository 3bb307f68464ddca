"""Filters and sorts of POST /v1/databases/{id}/query."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage.bench.services.notion.values import invalid, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    Page = dict[str, Any]
    Predicate = Callable[[Page], bool]

TEXT = ("title", "rich_text", "url", "email", "phone_number")
TIMESTAMPS = ("created_time", "last_edited_time")


def value_of(page: Page, name: str) -> Any:
    """What comparisons see: text, number, option names, date, truth."""
    found = next((v for k, v in page["properties"].items() if name in (k, v["id"])), None)
    if found is None:
        raise invalid(f"Could not find property with name or id: {name}")
    value = found[found["type"]]
    if found["type"] in ("title", "rich_text"):
        return plain(value)
    if found["type"] in ("select", "status"):
        return value["name"] if value else None
    if found["type"] == "multi_select":
        return [one["name"] for one in value]
    if found["type"] == "people":
        return [one["id"] for one in value]
    if found["type"] == "date":
        return value["start"] if value else None
    return value


def _text(operator: str, wanted: Any) -> Callable[[Any], bool]:
    low = str(wanted).casefold()
    tests: dict[str, Callable[[Any], bool]] = {
        "equals": lambda v: (v or "") == wanted,
        "does_not_equal": lambda v: (v or "") != wanted,
        "contains": lambda v: low in (v or "").casefold(),
        "does_not_contain": lambda v: low not in (v or "").casefold(),
        "starts_with": lambda v: (v or "").casefold().startswith(low),
        "ends_with": lambda v: (v or "").casefold().endswith(low),
    }
    return tests[operator]


def _ordered(operator: str, wanted: Any) -> Callable[[Any], bool]:
    tests: dict[str, Callable[[Any], bool]] = {
        "equals": lambda v: v == wanted, "does_not_equal": lambda v: v != wanted,
        "greater_than": lambda v: v is not None and v > wanted, "less_than": lambda v: v is not None and v < wanted,
        "greater_than_or_equal_to": lambda v: v is not None and v >= wanted,
        "less_than_or_equal_to": lambda v: v is not None and v <= wanted,
        "after": lambda v: v is not None and v[:len(wanted)] > wanted,
        "before": lambda v: v is not None and v[:len(wanted)] < wanted,
        "on_or_after": lambda v: v is not None and v[:len(wanted)] >= wanted,
        "on_or_before": lambda v: v is not None and v[:len(wanted)] <= wanted}
    return tests[operator]


def _list(operator: str, wanted: Any) -> Callable[[Any], bool]:
    tests: dict[str, Callable[[Any], bool]] = {"contains": lambda v: wanted in v,
                                              "does_not_contain": lambda v: wanted not in v}
    return tests[operator]


def _condition(kind: str, condition: Any) -> Callable[[Any], bool]:
    if not isinstance(condition, dict) or len(condition) != 1:
        raise invalid(f"body failed validation: body.filter.{kind} should have one condition.")
    (operator, wanted), = condition.items()
    if operator == "is_empty":
        return lambda v: v in (None, "", [])
    if operator == "is_not_empty":
        return lambda v: v not in (None, "", [])
    make = _text if kind in TEXT else _list if kind in ("multi_select", "people", "relation") else _ordered
    try:
        return make(operator, wanted)
    except KeyError:
        raise invalid(f"body failed validation: body.filter.{kind}.{operator} should be not present.") from None


def predicate(given: Any, schema: dict[str, Any]) -> Predicate:
    """A filter object as a function of a page."""
    if not isinstance(given, dict):
        raise invalid("body failed validation: body.filter should be an object.")
    for word, rule in (("and", all), ("or", any)):
        if word in given:
            parts = [predicate(part, schema) for part in given[word]]
            return lambda page: rule(part(page) for part in parts)
    kind = next((k for k in given if k not in ("property", "timestamp")), "")
    if "timestamp" in given:
        stamp = given["timestamp"]
        test = _condition("date", given.get(stamp))
        return lambda page: test(page[stamp])
    name = given.get("property", "")
    declared = next((p for n, p in schema.items() if name in (n, p["id"])), None)
    if declared is None:
        raise invalid(f"Could not find property with name or id: {name}")
    if declared["type"] != kind:
        raise invalid(f"database property {declared['type']} does not match filter {kind}")
    test = _condition(kind, given[kind])
    return lambda page: test(value_of(page, name))


def arrange(pages: list[Page], sorts: Any, schema: dict[str, Any]) -> list[Page]:
    """Sorted by several keys; what has no value stands at the end."""
    for sort in reversed(sorts or []):
        stamp, name = sort.get("timestamp"), sort.get("property", "")
        if stamp not in TIMESTAMPS and not any(name in (n, p["id"]) for n, p in schema.items()):
            raise invalid(f"Could not find sort property with name or id: {name}")
        down = sort.get("direction") == "descending"

        def key(page: Page, stamp: Any = stamp, name: str = name) -> Any:
            return page[stamp] if stamp else value_of(page, name)
        full = [page for page in pages if key(page) not in (None, "", [])]
        pages = sorted(full, key=key, reverse=down) + [page for page in pages if key(page) in (None, "", [])]
    return pages
