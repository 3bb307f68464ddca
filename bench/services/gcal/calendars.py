"""The state behind the simulated Calendar: calendars, events, a counter of changes. Thread-safe, ids deterministic."""
from __future__ import annotations

import copy
import hashlib
import re
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mirage.bench.services.gcal.recurrence import instance, moment, starts, write

if TYPE_CHECKING:
    from mirage.bench.services.clock import Clock

    Event = dict[str, Any]

ALPHABET = "0123456789abcdefghijklmnopqrstuv"
FAR = timedelta(days=730)
ID = re.compile(r"[0-9a-v]{5,1024}")
READ_ONLY = ("kind", "etag", "htmlLink", "created", "updated", "creator", "organizer", "recurringEventId",
             "originalStartTime", "id", "iCalUID")
WORD = re.compile(r"\w+")


class CalendarError(Exception):
    """An error of the API: HTTP status, message, and the reason of Google's error list."""

    def __init__(self, status: int, message: str, reason: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


def not_found() -> CalendarError:
    return CalendarError(404, "Not Found", "notFound")


def invalid(message: str, reason: str = "invalid") -> CalendarError:
    return CalendarError(400, message, reason)


class Calendar:
    """`entry` as in the calendarList; `serials`: event -> number of its last change."""

    __slots__ = ("entry", "events", "serials", "zone")

    def __init__(self, entry: dict[str, Any]) -> None:
        self.entry = entry
        self.zone = ZoneInfo(entry["timeZone"])
        self.events: dict[str, Event] = {}
        self.serials: dict[str, int] = {}


class Calendars:
    """me  the address of the account"""

    def __init__(self, me: str, clock: Clock) -> None:
        self.me = me
        self.clock = clock
        self.lock = threading.RLock()
        self.calendars: dict[str, Calendar] = {}
        self.serial = 1
        self.oldest = 0                                      # sync tokens before this are too old
        self.sent: list[tuple[str, str, str]] = []           # notifications: (event, what, to whom)

    # ---- filling and looking

    def add_calendar(self, id: str, summary: str, zone: str, role: str = "owner", **more: Any) -> Calendar:
        entry = {"kind": "calendar#calendarListEntry", "etag": '"1"', "id": id, "summary": summary, "timeZone": zone,
                 "colorId": "14", "selected": True, "accessRole": role, "defaultReminders": [], **more}
        self.calendars[id] = Calendar(entry)
        return self.calendars[id]

    def calendar(self, id: str, write: bool = False) -> Calendar:
        if id == "primary":
            id = self.me
        found = self.calendars.get(id)
        if found is None:
            raise not_found()
        if write and found.entry["accessRole"] not in ("owner", "writer"):
            raise CalendarError(403, "You need to have writer access to this calendar.", "requiredAccessLevel")
        return found

    def get(self, calendar: Calendar, id: str) -> Event:
        """An event, or an instance of a recurring one."""
        found = calendar.events.get(id)
        if found is not None:
            return found
        master, mark, when = id.rpartition("_")
        series = calendar.events.get(master) if mark else None
        if series is None or "recurrence" not in series:
            raise not_found()
        try:
            form = "%Y%m%dT%H%M%SZ" if "T" in when else "%Y%m%d"
            zone = UTC if "T" in when else calendar.zone
            at = datetime.strptime(when, form).replace(tzinfo=zone)
        except ValueError:
            raise not_found() from None
        for start in starts(series, calendar.zone, at - timedelta(seconds=1), at + timedelta(seconds=1)):
            made = instance(series, start, calendar.zone)
            if made["id"] == id:
                return made
        raise not_found()

    def instances(self, calendar: Calendar, master: Event, after: datetime, before: datetime,
                  deleted: bool = False) -> list[Event]:
        """The instances of a recurring event, changed ones as they are now."""
        found = []
        for at in starts(master, calendar.zone, after, before):
            made = instance(master, at, calendar.zone)
            if made["id"] not in calendar.events:
                found.append(made)
        for event in calendar.events.values():
            if event.get("recurringEventId") == master["id"] and (deleted or event["status"] != "cancelled") \
                    and self.inside(calendar, event, after, before):
                found.append(event)
        return found

    def inside(self, calendar: Calendar, event: Event, after: datetime | None, before: datetime | None) -> bool:
        times = event.get("start") or event.get("originalStartTime")
        if times is None:
            return True
        start = moment(times, calendar.zone)
        end = moment(event["end"], calendar.zone) if "end" in event else start + timedelta(seconds=1)
        return (after is None or end > after or start >= after) and (before is None or start < before)

    def select(self, calendar: Calendar, after: datetime | None, before: datetime | None, single: bool, deleted: bool,
               since: int | None = None) -> list[Event]:
        """Events of a window. `since`: only what changed after that serial, deleted ones included."""
        now = datetime.fromtimestamp(self.clock.now(), UTC)
        low, high = after or now - FAR, before or now + FAR
        found: dict[str, Event] = {}
        with self.lock:
            for id, event in list(calendar.events.items()):
                if since is not None and calendar.serials[id] <= since:
                    continue
                gone = event["status"] == "cancelled"
                exception = "recurringEventId" in event
                if gone and not (deleted or since is not None or exception and not single):
                    continue
                if "recurrence" in event and not gone and single:
                    found.update((e["id"], e) for e in self.instances(calendar, event, low, high, deleted))
                elif "recurrence" in event and not gone:
                    if any(True for _ in starts(event, calendar.zone, low, high)):
                        found[id] = event
                elif self.inside(calendar, event, after, before):
                    found[id] = event
            return sorted(found.values(), key=lambda e: (self._start(calendar, e), e["id"]))

    def _start(self, calendar: Calendar, event: Event) -> float:
        times = event.get("start") or event.get("originalStartTime")
        return moment(times, calendar.zone).timestamp() if times else 0.0

    @staticmethod
    def matches(event: Event, text: str) -> bool:
        """Does an event have all the words, as the parameter `q` wants it?"""
        people = [*event.get("attendees", ()), event.get("organizer", {})]
        texts = [str(event.get(k, "")) for k in ("summary", "description", "location")]
        texts += [str(p.get(k, "")) for p in people for k in ("displayName", "email")]
        words = {w.casefold() for w in WORD.findall(" ".join(texts))}
        return all(w.casefold() in words for w in WORD.findall(text))

    # ---- changing

    def new_id(self) -> str:
        digest = hashlib.sha256(f"event {self.serial}".encode()).digest()
        return "".join(ALPHABET[b % 32] for b in digest[:26])

    def put(self, calendar: Calendar, event: Event) -> Event:
        with self.lock:
            self.serial += 1
            event["etag"] = f'"{self.serial:016}"'
            event["updated"] = _stamp(self.clock.now())
            calendar.events[event["id"]] = event
            calendar.serials[event["id"]] = self.serial
            return event

    def insert(self, calendar: Calendar, body: Event, notify: bool = False, imported: bool = False) -> Event:
        with self.lock:
            id = body.get("id") or self.new_id()
            if not ID.fullmatch(id):
                raise invalid("Invalid resource id value.")
            old = calendar.events.get(id)
            if old is not None and not imported:
                raise CalendarError(409, "The requested identifier already exists.", "duplicate")
            uid = body.get("iCalUID") or f"{id}@google.com"
            if imported:
                same = next((e for e in calendar.events.values() if e.get("iCalUID") == uid), None)
                id = same["id"] if same is not None else id
            person = {"email": self.me, "self": True}
            event = {"kind": "calendar#event", "etag": "", "id": id, "status": body.get("status", "confirmed"),
                     "htmlLink": f"https://calendar.example/event?eid={id}", "created": _stamp(self.clock.now()),
                     "updated": "", "creator": person, "organizer": body.get("organizer") or self._organizer(calendar),
                     "iCalUID": uid, "sequence": 0, "reminders": {"useDefault": True}, "eventType": "default"}
            event.update({k: v for k, v in body.items() if k not in READ_ONLY and v is not None})
            self._check(calendar, event)
            self.put(calendar, event)
            self._notify(event, "invitation", notify)
            return event

    def _organizer(self, calendar: Calendar) -> dict[str, Any]:
        id = calendar.entry["id"]
        if id == self.me:
            return {"email": self.me, "self": True}
        return {"email": id, "displayName": calendar.entry["summary"], "self": True}

    def change(self, calendar: Calendar, id: str, body: Event, whole: bool, match: str = "",
               notify: bool = False) -> Event:
        """patch, or update where `whole`: what is not in the body goes away."""
        with self.lock:
            old = self.get(calendar, id)
            if old["status"] == "cancelled" and body.get("status") != "confirmed":
                raise CalendarError(404, "Not Found", "notFound")
            if match and match not in ("*", old["etag"]):
                raise CalendarError(412, "Precondition Failed", "conditionNotMet")
            if whole and not {"start", "end"} <= set(body):
                raise invalid("Missing end time." if "start" in body else "Missing start time.", "required")
            kept = {k: v for k, v in old.items() if not whole or k in (*READ_ONLY, "status", "sequence", "eventType")}
            event = _merged(copy.deepcopy(kept), {k: v for k, v in body.items() if k not in READ_ONLY})
            self._check(calendar, event)
            if any(event.get(k) != old.get(k) for k in ("start", "end", "recurrence")):
                event["sequence"] = old.get("sequence", 0) + 1
            self.put(calendar, event)
            if "recurrence" in old and "recurrence" not in event:
                self._cancel_instances(calendar, id)
            self._notify(event, "update", notify)
            return event

    def _cancel_instances(self, calendar: Calendar, id: str) -> None:
        for event in [e for e in calendar.events.values() if e.get("recurringEventId") == id]:
            self.put(calendar, {**event, "status": "cancelled"})

    def delete(self, calendar: Calendar, id: str, notify: bool = False) -> None:
        with self.lock:
            old = self.get(calendar, id)
            if old["status"] == "cancelled":
                raise CalendarError(410, "Resource has been deleted", "deleted")
            self._notify(old, "cancellation", notify)
            self.put(calendar, {**copy.deepcopy(old), "status": "cancelled"})
            self._cancel_instances(calendar, id)

    def move(self, source: Calendar, id: str, target: Calendar, notify: bool = False) -> Event:
        with self.lock:
            event = self.get(source, id)
            if "recurringEventId" in event:
                raise invalid("Cannot change the organizer of an instance.", "cannotChangeOrganizerOfInstance")
            moved = copy.deepcopy(event)
            moved["organizer"] = self._organizer(target)
            self.put(source, {**event, "status": "cancelled"})
            self._notify(moved, "update", notify)
            return self.put(target, moved)

    def _notify(self, event: Event, what: str, wanted: bool) -> None:
        if wanted:
            self.sent += [(event["id"], what, p["email"]) for p in event.get("attendees", ())
                          if p.get("email") not in ("", self.me)]

    def _check(self, calendar: Calendar, event: Event) -> None:
        """Times in the calendar's zone, people with their fields. Raises CalendarError for what cannot be."""
        for key in ("start", "end"):
            times = event.get(key)
            if not isinstance(times, dict) or bool(times.get("date")) == bool(times.get("dateTime")):
                raise invalid(f"Missing {key} time." if not times else f"Invalid {key} time.", "required")
            times = {k: v for k, v in times.items() if v}
            try:
                if "dateTime" in times:
                    at = datetime.fromisoformat(times["dateTime"])
                    if "timeZone" not in times and (at.tzinfo is None or "recurrence" in event):
                        raise invalid(f"Missing time zone definition for {key} time.", "required")
                event[key] = write(moment(times, calendar.zone), times, calendar.zone)
            except (ValueError, ZoneInfoNotFoundError):
                raise invalid(f"Invalid value for {key} time.") from None
        if ("date" in event["start"]) != ("date" in event["end"]):
            raise invalid("Start and end times must either both be date or both be dateTime.")
        start, end = moment(event["start"], calendar.zone), moment(event["end"], calendar.zone)
        if end < start or end == start and "date" in event["start"]:
            raise invalid("The specified time range is empty.", "timeRangeEmpty")
        if not event.get("recurrence"):
            event.pop("recurrence", None)
        else:
            try:
                next(starts(event, calendar.zone, start - timedelta(days=1), start + timedelta(days=1)), None)
            except (ValueError, KeyError, TypeError):
                raise invalid("Invalid recurrence rule.") from None
        for person in event.get("attendees", ()):
            if "@" not in str(person.get("email", "")):
                raise invalid("Invalid attendee email.")
            person.setdefault("responseStatus", "needsAction")
            if person["email"] == self.me:
                person["self"] = True

    # ---- comparing

    def busy(self, calendar: Calendar, after: datetime, before: datetime) -> list[dict[str, str]]:
        spans = sorted((moment(e["start"], calendar.zone), moment(e["end"], calendar.zone))
                       for e in self.select(calendar, after, before, True, False)
                       if e.get("transparency") != "transparent")
        merged: list[list[datetime]] = []
        for start, end in spans:
            if merged and start <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end)
            elif end > start:
                merged.append([start, end])
        return [{"start": _iso(max(s, after)), "end": _iso(min(e, before))} for s, e in merged]

    def state(self) -> dict[str, Any]:
        """`<calendar> <event>` -> the event, without what changes by itself; and the notifications."""
        with self.lock:
            found: dict[str, Any] = {
                f"{id} {event['id']}": {k: copy.deepcopy(v) for k, v in event.items() if k not in ("etag", "updated")}
                for id, calendar in self.calendars.items() for event in calendar.events.values()}
            return {**found, "notifications": list(self.sent)}

    def snapshot(self) -> Any:
        with self.lock:
            return copy.deepcopy(([(c.entry, c.events, c.serials) for c in self.calendars.values()], self.serial,
                                  self.sent))

    def restore(self, snapshot: Any) -> None:
        with self.lock:
            parts, self.serial, self.sent = copy.deepcopy(snapshot)
            self.calendars = {}
            for entry, events, serials in parts:
                calendar = self.calendars[entry["id"]] = Calendar(entry)
                calendar.events, calendar.serials = events, serials


def _merged(event: Event, body: Event) -> Event:
    """JSON merge patch: null takes away, objects are merged, lists are replaced."""
    for key, value in body.items():
        if value is None:
            event.pop(key, None)
        elif isinstance(value, dict) and isinstance(event.get(key), dict):
            event[key] = _merged(dict(event[key]), value)
        else:
            event[key] = value
    return event


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")



