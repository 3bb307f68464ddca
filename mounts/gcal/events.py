"""What is known of the calendars: every event of a window of days, kept up to date by Google's sync tokens."""
from __future__ import annotations

import errno
import math
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from mirage.vfs.declare.store import Kept
from mirage.vfs.service import service_error

if TYPE_CHECKING:
    from mirage.mounts.google.client import GoogleClient
    from mirage.vfs.days import Days
    from mirage.vfs.declare.store import Store

    Event = dict[str, Any]

PAGE = 2500                                                  # the most that Google gives
DAY = 86400


class Events:
    """past, future  days of the window around now"""

    def __init__(self, client: GoogleClient, store: Store, days: Days, past: int, future: int) -> None:
        self.client = client
        self.store = store
        self.days = days
        self.past = past
        self.future = future
        self._lock = threading.Lock()
        self._grouped: dict[str, tuple[dict[str, Event], dict[str, list[Event]]]] = {}
        self._changes: dict[str, int] = {}                   # calendar -> how often we changed something in it
        self.where: dict[str, str] = {}                      # event -> the calendar in which it was seen
        self._today: tuple[str, tuple[int, int]] = ("", (0, 0))
        self._latest: dict[tuple[str, bool], Any] = {}       # the key of what was known last

    def calendars(self) -> list[dict[str, Any]]:
        """The calendars in the account's list."""
        def make(previous: Kept | None) -> Kept:
            found = self.client.pages("calendar.calendarList.list", "items", maxResults=250)
            return Kept(found, 800 * len(found))
        calendars: list[dict[str, Any]] = self.store.get(("calendars",), "/.calendars", make).value
        return calendars

    def window(self) -> tuple[int, int]:
        """First second of the window, and the first after it; both at midnight of the mount's zone."""
        now = self.client.now()
        today = self.days.of(int(now * 1000))
        if self._today[0] == today:
            return self._today[1]
        ends = []
        for days in (-self.past, self.future + 1):
            bounds = self.days.bounds(self.days.of(int((now + days * DAY) * 1000)))
            assert bounds is not None
            ends.append(bounds[0])
        self._today = (today, (ends[0], ends[1]))
        return self._today[1]

    # ---- events

    def events(self, calendar: str, single: bool = True) -> dict[str, Event]:
        """id -> event of the window, the same object while nothing changes.

        single  recurring events as their instances; else the events with rules, and their exceptions
        """
        window, place = self.window(), f"/.events/{calendar}"
        key = (calendar, single, window, self._changes.get(calendar, 0))

        def make(previous: Kept | None) -> Kept:
            latest = self._latest.get((calendar, single))
            if previous is None and latest is not None and latest[2] == window:
                previous = self.store.peek(latest, place, math.inf)
            known = None
            if previous is not None and previous.validators:
                known = self._changed(calendar, single, window, previous)
            if known is None:
                found, token = self._walk(calendar, singleEvents=single, timeMin=_iso(window[0]),
                                          timeMax=_iso(window[1]))
                known = Kept({e["id"]: e for e in found}, len(str(found)), token)
            self._latest[calendar, single] = key
            return known
        events: dict[str, Event] = self.store.get(key, place, make).value
        return events

    def _changed(self, calendar: str, single: bool, window: tuple[int, int], previous: Kept) -> Kept | None:
        """What is known, with the changes since; None where everything must be asked for again."""
        try:
            changes, token = self._walk(calendar, singleEvents=single, syncToken=previous.validators)
        except OSError as e:
            if getattr(e, "status", 0) == 410:               # the token is too old
                return None
            raise
        if not changes:
            return Kept(previous.value, previous.size, token)
        series = {e.get("recurringEventId") for e in previous.value.values()}
        if single and any("recurringEventId" in e or "recurrence" in e or e["id"] in series for e in changes):
            return None                                      # of a series: which instances are gone is not told
        events: dict[str, Event] = dict(previous.value)
        for event in changes:
            gone = event.get("status") == "cancelled" and "recurringEventId" not in event
            if gone:
                events = {k: e for k, e in events.items() if event["id"] not in (k, e.get("recurringEventId"))}
            elif self._inside(event, window):
                events[event["id"]] = event
            else:
                events.pop(event["id"], None)
        return Kept(events, previous.size + len(str(changes)), token)

    def _inside(self, event: Event, window: tuple[int, int]) -> bool:
        if "recurrence" in event or "start" not in event:
            return True
        return self.start(event) < window[1] and self.start(event, "end") >= window[0]

    def _walk(self, calendar: str, **parameters: Any) -> tuple[list[Event], str]:
        """(all items, the token to ask for changes with)"""
        found: list[Event] = []
        page = ""
        while True:
            more: dict[str, Any] = {"pageToken": page} if page else {}
            answer = self.client.call("calendar.events.list", calendarId=calendar, maxResults=PAGE, **parameters,
                                      **more)
            found += answer.get("items", ())
            before, page = page, answer.get("nextPageToken", "")
            self.where.update((e["id"], calendar) for e in answer.get("items", ()))
            if not page:
                return found, answer.get("nextSyncToken", "")
            if page == before:
                raise service_error(errno.EIO, "gcal: the pages of events go round in a circle")

    def start(self, event: Event, key: str = "start") -> float:
        """Seconds since the epoch of the start (or `end`)."""
        times = event[key]
        if "date" in times:
            bounds = self.days.bounds(times["date"])
            return float(bounds[0]) if bounds is not None else 0.0
        return datetime.fromisoformat(times["dateTime"]).timestamp()

    def day_of(self, event: Event) -> str:
        """The day of the mount's zone in which the event starts; an all-day one has its own."""
        date = event["start"].get("date")
        return str(date) if date else self.days.of(int(self.start(event) * 1000))

    # ---- days

    def by_day(self, calendar: str) -> dict[str, list[Event]]:
        """day -> the events that start in it, in order of time."""
        events = self.events(calendar)
        with self._lock:
            known = self._grouped.get(calendar)
        if known is not None and known[0] is events:
            return known[1]
        groups: dict[str, list[Event]] = {}
        for event in sorted((e for e in events.values() if "start" in e), key=lambda e: (self.start(e), e["id"])):
            groups.setdefault(self.day_of(event), []).append(event)
        with self._lock:
            self._grouped[calendar] = (events, groups)
        return groups

    def day(self, calendar: str, day: str) -> list[Event]:
        """The events that start in a day, asked for alone where that day, or the calendar, was not listed."""
        bounds = self.days.bounds(day)
        if bounds is None:
            return []
        window = self.window()
        if window[0] <= bounds[0] < window[1] and self._latest.get((calendar, True), ())[2:3] == (window,):
            return self.by_day(calendar).get(day, [])

        def make(previous: Kept | None) -> Kept:             # all-day events begin and end in the calendar's own zone
            found, _ = self._walk(calendar, singleEvents=True, timeMin=_iso(bounds[0] - DAY),
                                  timeMax=_iso(bounds[1] + DAY))
            found = [e for e in found if "start" in e and self.day_of(e) == day]
            found.sort(key=lambda e: (self.start(e), e["id"]))
            return Kept(found, len(str(found)))
        events: list[Event] = self.store.get(("day", calendar, day), f"/.day/{calendar}/{day}", make).value
        return events

    def changed(self, calendar: str) -> None:
        """We changed something in it: ask what is new before the next answer."""
        with self._lock:
            self._changes[calendar] = self._changes.get(calendar, 0) + 1
        self.store.drop([f"/.day/{calendar}"])


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
