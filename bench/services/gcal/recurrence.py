"""Times of events as the API writes them, and the instances of recurring ones (RFC 5545 rules through dateutil)."""
from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    Event = dict[str, Any]
    Times = dict[str, str]


def moment(times: Times, zone: ZoneInfo) -> datetime:
    """Aware start or end; an all-day one begins at midnight of the calendar's zone."""
    if "date" in times:
        return datetime.combine(date.fromisoformat(times["date"]), datetime.min.time(), zone)
    at = datetime.fromisoformat(times["dateTime"])
    return at if at.tzinfo is not None else at.replace(tzinfo=ZoneInfo(times.get("timeZone", zone.key)))


def instance_id(master: str, times: Times, zone: ZoneInfo) -> str:
    """`<master>_20260930T070000Z`, or `<master>_20260930` of an all-day event."""
    if "date" in times:
        return f"{master}_{times['date'].replace('-', '')}"
    return f"{master}_{moment(times, zone).astimezone(UTC):%Y%m%dT%H%M%SZ}"


def write(at: datetime, times: Times, zone: ZoneInfo) -> Times:
    """`at` in the form of `times`, in the calendar's zone."""
    if "date" in times:
        return {"date": at.date().isoformat()}
    found = {"dateTime": at.astimezone(zone).isoformat(timespec="seconds").replace("+00:00", "Z")}
    return {**found, "timeZone": times.get("timeZone", zone.key)}


def starts(master: Event, zone: ZoneInfo, after: datetime, before: datetime) -> Iterator[datetime]:
    """Starts of the instances that end after `after` and begin before `before`, without exceptions."""
    from dateutil.rrule import rruleset, rrulestr
    all_day = "date" in master["start"]
    first = moment(master["start"], zone)
    length = moment(master["end"], zone) - first
    own = ZoneInfo(master["start"].get("timeZone", zone.key))
    first = first.astimezone(own) if not all_day else first.replace(tzinfo=None)
    rules = rruleset()
    for line in master["recurrence"]:
        name, _, value = line.partition(":")
        kind = name.partition(";")[0].upper()
        if kind == "RRULE":
            rules.rrule(rrulestr(value, dtstart=first))
            continue
        for text in value.split(","):
            (rules.exdate if kind == "EXDATE" else rules.rdate)(_listed(text, name, own, all_day))
    low, high = after - length, before
    if all_day:
        low, high = (t.astimezone(zone).replace(tzinfo=None) for t in (low, high))
    for at in rules.between(low, high, inc=True):
        found = at.replace(tzinfo=zone) if all_day else at
        if found + length > after and found < before:
            yield found


def _listed(text: str, name: str, own: ZoneInfo, all_day: bool) -> datetime:
    if len(text) == 8:
        at = datetime.strptime(text, "%Y%m%d")
        return at if all_day else at.replace(tzinfo=own)
    if text.endswith("Z"):
        return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    zone = name.partition("TZID=")[2].partition(";")[0]
    return datetime.strptime(text, "%Y%m%dT%H%M%S").replace(tzinfo=ZoneInfo(zone) if zone else own)


def instance(master: Event, at: datetime, zone: ZoneInfo) -> Event:
    """One instance as the API gives it where nobody changed it."""
    length = moment(master["end"], zone) - moment(master["start"], zone)
    if "date" in master["start"]:
        days = (date.fromisoformat(master["end"]["date"]) - date.fromisoformat(master["start"]["date"])).days
        end = {"date": (at.date() + timedelta(days=days)).isoformat()}
    else:
        end = write(at + length, master["end"], zone)
    start = write(at, master["start"], zone)
    found = {k: v for k, v in master.items() if k != "recurrence"}
    return {**found, "id": instance_id(master["id"], start, zone), "start": start, "end": end,
            "recurringEventId": master["id"], "originalStartTime": start}
