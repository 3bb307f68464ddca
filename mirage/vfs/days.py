"""Days and times of a service's items in the mount's time zone."""
from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Days:
    """Milliseconds since the epoch as a day folder's name or an ISO 8601 time."""

    def __init__(self, zone: ZoneInfo) -> None:
        self.zone = zone

    def _at(self, milliseconds: int) -> datetime:
        try:
            return datetime.fromtimestamp(milliseconds // 1000, self.zone)
        except (OverflowError, ValueError, OSError):
            return datetime.fromtimestamp(0, self.zone)

    def of(self, milliseconds: int) -> str:
        """`2026-09-09`"""
        return self._at(milliseconds).strftime("%Y-%m-%d")

    def iso(self, milliseconds: int) -> str:
        """`2026-09-09T07:15:00Z`, or with the offset of the zone."""
        return self._at(milliseconds).isoformat().replace("+00:00", "Z")

    def bounds(self, day: str) -> tuple[int, int] | None:
        """First second of a day and of the next one; None where there is no such day."""
        try:
            if DAY.fullmatch(day) is None:
                return None
            date = datetime.fromisoformat(day)
            start, after = (d.replace(tzinfo=self.zone) for d in (date, date + timedelta(days=1)))
        except (ValueError, OverflowError):
            return None
        return int(start.astimezone(UTC).timestamp()), int(after.astimezone(UTC).timestamp())


def zone_of(service: str, name: str) -> ZoneInfo:
    """The time zone of an option `tz`; ValueError where there is none of that name."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{service}: unknown time zone {name!r}") from None
