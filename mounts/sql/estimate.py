"""What an action on a database would cost in statements, from what is known of its tables now."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage.vfs.estimate import Cost, Range, calls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.mounts.sql.mount import Sql


def estimate(mount: Sql, path: str, action: str, queries: Sequence[Any] = ()) -> Cost:
    parts = path.strip("/").split("/") if path != "/" else []
    schemas = 1                                              # a line asks which there are
    reading = action in ("read", "read_all", "search")
    if not parts and action == "stat":
        return calls(0, 0)
    if not parts and action == "list":
        return calls(schemas, schemas)
    if not parts or len(parts) == 1 and action not in ("stat", "list", "walk"):
        return Cost(Range(schemas, None), Range(0, None if reading else 0), _searches(action, queries))
    if len(parts) == 1 and action == "stat":
        return calls(schemas, schemas)
    found = calls(schemas, schemas + 1)                      # no schema of that name: no more is asked
    if action not in ("read", "read_all", "search") or len(parts) < 2:
        return found
    if len(parts) == 3 and parts[2] in ("schema.json", "count"):
        return found.plus(Cost(Range(0, 1), Range(0, None)))
    return found.plus(Cost(Range(0, None), Range(0, None), _searches(action, queries)))


def _searches(action: str, queries: Sequence[Any]) -> Range:
    return Range(0, None if queries else 0) if action == "search" else Range()
