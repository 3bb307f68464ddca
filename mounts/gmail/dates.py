"""Days and times of messages in the mount's time zone."""
from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo


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
            start = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=self.zone)
            after = (start.replace(tzinfo=None) + timedelta(days=1)).replace(tzinfo=self.zone)
        except (ValueError, OverflowError):
            return None
        return int(start.astimezone(UTC).timestamp()), int(after.astimezone(UTC).timestamp())
