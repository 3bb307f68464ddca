"""The tree of Google Calendar as a declaration, with hooks for days and for the times of the mount's zone."""
from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from mirage.mounts.gcal.events import Events
from mirage.mounts.gcal.text import agenda, ics
from mirage.mounts.google.client import GoogleClient
from mirage.vfs.days import Days, zone_of
from mirage.vfs.declare import Declared, Directory, File, Rendering, Scope, Service
from mirage.vfs.names import safe_name

if TYPE_CHECKING:
    from mirage.vfs.secrets import Secret

    Event = dict[str, Any]

QUICK = 1.0                                                  # seconds that what is made from known events is kept
EXAMPLE = """\
{"id": "...", "status": "confirmed", "summary": "...", "description": "...", "location": "...",
 "start": {"dateTime": "2026-09-30T09:15:00+02:00", "timeZone": "Europe/Stockholm"}, "end": {"date": "2026-10-01"},
 "attendees": [{"email": "...", "displayName": "...", "responseStatus": "accepted"}], "recurringEventId": "..."}
"""


class Calendar(Declared):
    """The calendars of one account, read-only; changes are made with the CLI `gcal`.

    token, credentials  Secrets: an access token, or the JSON of an authorized user
    endpoint            another server (a simulator)
    tz                  time zone of the days and clock times in names
    past, future        days of the window that is listed, around now
    rate                requests a second; 0: no limit
    ttl                 seconds until changes are asked for again
    cache               bytes to keep
    client              instead of token, credentials, endpoint and rate
    """

    client: GoogleClient

    def __init__(self, token: Secret | None = None, credentials: Secret | None = None, endpoint: str = "",
                 tz: str = "UTC", past: int = 365, future: int = 365, rate: float = 10.0, ttl: float = 30.0,
                 cache: int = 64 << 20, client: GoogleClient | None = None) -> None:
        self.zone = zone_of("gcal", tz)
        if past < 0 or future < 0:
            raise ValueError("gcal: past and future are numbers of days, not below 0")
        client = client or GoogleClient("gcal", token, credentials, endpoint, rate)
        super().__init__(self._service(min(ttl, QUICK)), client, ttl=ttl, cache=cache)
        self.events = Events(client, self.store, Days(self.zone), past, future)

    def _service(self, quick: float) -> Service:
        event = File(
            name="{HHMM}_{Title}", each=self._in_day, unique="always", find=self._event, ttl=0, modified="updated",
            version="etag", about="on the day it begins",
            renderings=[Rendering(suffix=".event.json", format="text", render=_json, example=EXAMPLE)])
        listed = File(
            name="agenda", content=lambda scope: self.events.by_day(scope["calendar"]["id"]), ttl=quick,
            about="events, a line each; calendar.ics beside it", renderings=[
                Rendering(suffix=".txt", format="text", render=lambda days, scope: agenda(days, self.zone))])
        whole = File(
            name="calendar", content=lambda scope: self.events.events(scope["calendar"]["id"], False), ttl=quick,
            renderings=[Rendering(suffix=".ics", format="text",
                                  render=lambda events, scope: ics(scope["calendar"], events.values()))])
        day = Directory(name="{day}", each=self._days, id="day", find=self._day, ttl=0, as_="day", children=[event])
        return Service(name="gcal", summary="Google Calendar. Change it with the `gcal` CLI.", tree=[
            Directory(name="{Calendar}", each=lambda scope: self.calendars(), as_="calendar",
                      children=[listed, whole, day])])

    # ---- hooks

    def calendars(self) -> list[Event]:
        """The calendars, with the title of their directory as `Calendar`."""
        return [{**c, "Calendar": c.get("summaryOverride") or c.get("summary", "")} for c in self.events.calendars()]

    def _days(self, scope: Scope) -> list[Event]:
        return [{"day": day} for day in self.events.by_day(scope["calendar"]["id"])]

    def _day(self, scope: Scope, name: str) -> Event | None:
        return {"day": name} if self.events.day(scope["calendar"]["id"], name) else None

    def _in_day(self, scope: Scope) -> list[Event]:
        return [self._item(e) for e in self.events.day(scope["calendar"]["id"], scope["day"]["day"])]

    def _event(self, scope: Scope, name: str) -> Event | None:
        return next((item for item in self._in_day(scope) if self.stem(item) == name), None)

    def _item(self, event: Event) -> Event:
        """What a file is made from: the event, and the parts of its name."""
        at = event["start"].get("dateTime")
        clock = f"{datetime.fromisoformat(at).astimezone(self.zone):%H%M}" if at else "0000"
        return {"id": event["id"], "HHMM": clock, "Title": safe_name(event.get("summary", "")), "event": event,
                "updated": event.get("updated"), "etag": event.get("etag")}

    @staticmethod
    def stem(item: Event) -> str:
        return f"{safe_name(item['HHMM'] + '_' + item['Title'])}__{item['id']}"

    def path_of(self, calendar: str, event: Event) -> str | None:
        """The path inside the mount of an event's file."""
        for title, item in self.items("/").items():
            if item["id"] == calendar and "start" in event:
                return f"/{title}/{self.events.day_of(event)}/{self.stem(self._item(event))}.event.json"
        return None

    def changed(self, calendar: str) -> None:
        """We changed something in a calendar: the next command sees it."""
        self.events.changed(calendar)
        self.stale([f"/{title}" for title, item in self.items("/").items() if item["id"] == calendar])

    def __repr__(self) -> str:
        return f"Calendar({self.client.endpoint or 'www.googleapis.com'})"


def _json(item: Event, scope: Scope) -> str:
    return json.dumps(item["event"], ensure_ascii=False, indent=2) + "\n"
