"""Google Calendar as files: /<Calendar>/<YYYY-MM-DD>/<HHMM>_<Title>__<id>.event.json, agenda.txt, calendar.ics."""
from __future__ import annotations

from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.mounts.gcal.tree import Calendar

OPTIONS: dict[str, object] = {"token": Secret, "credentials": Secret, "endpoint": str, "tz": str, "past": int,
                              "future": int, "rate": float, "ttl": float, "cache": int}


def build(**options: Any) -> Calendar:
    """The mount; see Calendar for the options."""
    from mirage.mounts.gcal.tree import Calendar
    return Calendar(**options)
