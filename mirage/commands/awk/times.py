"""mktime(): "YYYY MM DD HH MM SS [DST]" as seconds since the epoch."""
from __future__ import annotations

from datetime import UTC, datetime, timedelta

from mirage.text import timezones


def seconds_of(text: str, zone: str | None) -> float:
    """-1 where the text does not hold six integers; values out of range carry over."""
    words = text.split()
    try:
        numbers = [int(word) for word in words[:7]]
    except ValueError:
        return -1.0
    if len(numbers) < 6:
        return -1.0
    year, month, day, hour, minute, second = numbers[:6]
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    if not 1 <= year <= 9999:
        return -1.0
    try:
        when = datetime(year, month, 1) + timedelta(days=day - 1, hours=hour, minutes=minute, seconds=second)
    except OverflowError:
        return -1.0
    tz = timezones.find(zone) if zone else UTC
    return float(int(when.replace(tzinfo=tz).timestamp()))
