"""Events to read: agenda.txt, and calendar.ics (RFC 5545, through the library icalendar)."""
from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable

    Event = dict[str, Any]

ACCEPTED = {"accepted": "ACCEPTED", "declined": "DECLINED", "tentative": "TENTATIVE", "needsAction": "NEEDS-ACTION"}
CLASSES = {"public": "PUBLIC", "private": "PRIVATE", "confidential": "CONFIDENTIAL"}


def agenda(days: dict[str, list[Event]], zone: ZoneInfo) -> str:
    """Day by day, one line an event: times, title, place, people (who declined, is left out)."""
    lines = []
    for day, events in sorted(days.items()):
        lines.append(f"{date.fromisoformat(day):%a} {day}")
        for event in events:
            parts = [_line(event.get("summary", "")) or "untitled", _line(event.get("location", ""))]
            parts.append(", ".join(_line(p.get("displayName") or p.get("email", "")) for p in event.get("attendees", ())
                                   if not p.get("self") and p.get("responseStatus") != "declined"))
            lines.append(f"  {_span(event, day, zone):<11}  {' | '.join(p for p in parts if p)}")
        lines.append("")
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(text.split())


def _span(event: Event, day: str, zone: ZoneInfo) -> str:
    if "date" in event["start"]:
        last = f"{date.fromisoformat(event['end']['date']) - timedelta(days=1)}"
        return "all day" if last <= day else f"until {last}"
    start, end = (datetime.fromisoformat(event[key]["dateTime"]).astimezone(zone) for key in ("start", "end"))
    until = f"{end:%H:%M}" if end.date() == start.date() else f"{end:%Y-%m-%d %H:%M}"
    return f"{start:%H:%M}-{until}"


def ics(calendar: dict[str, Any], events: Iterable[Event]) -> bytes:
    """The events with their rules; changed instances as RECURRENCE-ID, cancelled ones as EXDATE."""
    from icalendar import Calendar, vText
    whole = Calendar()
    whole.add("prodid", "-//Mirage//gcal//EN")
    whole.add("version", "2.0")
    whole.add("x-wr-calname", vText(calendar["Calendar"]))
    whole.add("x-wr-timezone", calendar.get("timeZone", "UTC"))
    known = sorted(events, key=lambda e: e["id"])
    cancelled: dict[str, list[Any]] = {}
    for event in known:
        if event.get("status") == "cancelled" and "originalStartTime" in event:
            cancelled.setdefault(event["recurringEventId"], []).append(_time(event["originalStartTime"]))
    for event in known:
        if event.get("status") != "cancelled" and "start" in event:
            whole.add_component(_component(event, cancelled.get(event["id"], [])))
    years = [int(times[:4]) for e in known if "start" in e for times in e["start"].values() if times[:4].isdigit()]
    whole.add_missing_timezones(date(min(years, default=2000), 1, 1), date(max(years, default=2000) + 5, 1, 1))
    text: bytes = whole.to_ical()
    return text


def _time(times: dict[str, str]) -> date | datetime:
    if "date" in times:
        return date.fromisoformat(times["date"])
    at = datetime.fromisoformat(times["dateTime"])
    try:
        return at.astimezone(ZoneInfo(times["timeZone"]))
    except (KeyError, ValueError, ZoneInfoNotFoundError):
        return at.astimezone(UTC)


def _component(event: Event, cancelled: list[Any]) -> Any:
    from icalendar import Event as Component
    from icalendar import vCalAddress, vRecur
    found = Component()
    found.add("uid", event.get("iCalUID") or event["id"])
    changed = datetime.fromisoformat(event.get("updated") or "1970-01-01T00:00:00Z")
    found.add("dtstamp", changed)
    found.add("last-modified", changed)
    for key in ("summary", "description", "location", "htmlLink"):
        if event.get(key):
            found.add("url" if key == "htmlLink" else key, event[key].replace("\r\n", "\n"))
    found.add("dtstart", _time(event["start"]))
    found.add("dtend", _time(event["end"]))
    if "originalStartTime" in event:
        found.add("recurrence-id", _time(event["originalStartTime"]))
    for line in event.get("recurrence", ()):
        name, _, value = line.partition(":")
        kind = name.partition(";")[0].upper()
        if kind in ("RRULE", "EXRULE"):
            found.add(kind, vRecur.from_ical(value))
        else:
            found.add(kind, [_listed(text, name, event) for text in value.split(",")])
    for at in cancelled:
        found.add("exdate", at)
    found.add("sequence", int(event.get("sequence", 0)))
    found.add("status", str(event.get("status", "confirmed")).upper())
    found.add("transp", str(event.get("transparency", "opaque")).upper())
    if event.get("visibility") in CLASSES:
        found.add("class", CLASSES[event["visibility"]])
    people = [("organizer", event["organizer"])] if event.get("organizer", {}).get("email") else []
    people += [("attendee", person) for person in event.get("attendees", ()) if person.get("email")]
    for name, person in people:
        address = vCalAddress(f"mailto:{person['email']}")
        if person.get("displayName"):
            address.params["CN"] = person["displayName"]
        if name == "attendee":
            address.params["PARTSTAT"] = ACCEPTED.get(person.get("responseStatus", ""), "NEEDS-ACTION")
        found.add(name, address)
    return found


def _listed(text: str, name: str, event: Event) -> date | datetime:
    """A value of EXDATE or RDATE."""
    if len(text) == 8:
        return datetime.strptime(text, "%Y%m%d").date()
    if text.endswith("Z"):
        return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    zone = name.partition("TZID=")[2].partition(";")[0] or event["start"].get("timeZone", "UTC")
    return datetime.strptime(text, "%Y%m%dT%H%M%S").replace(tzinfo=ZoneInfo(zone))
