"""Google's Calendar API v3 over HTTP on loopback: `with CalendarSimulator() as calendar: calendar.address`."""
from __future__ import annotations

from mirage.bench.services.gcal.server import CalendarSimulator

__all__ = ["CalendarSimulator"]
