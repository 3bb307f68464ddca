"""The simulator: HTTP requests of the Calendar API to methods of Calendars."""
from __future__ import annotations

import base64
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from mirage.bench.services.clock import Clock
from mirage.bench.services.gcal.calendars import Calendar, CalendarError, Calendars, invalid
from mirage.bench.services.gcal.seed import ADDRESS, NOW, fill
from mirage.bench.services.gmail import fields
from mirage.bench.services.google import GoogleService
from mirage.bench.services.http import LogEntry, Request, Response

if TYPE_CHECKING:
    from collections.abc import Callable

READ = "https://www.googleapis.com/auth/calendar.readonly"
FULL = "https://www.googleapis.com/auth/calendar"
MESSAGES = {401: "Invalid Credentials", 403: "Insufficient Permission", 404: "Not Found", 429: "Rate Limit Exceeded",
            500: "Backend Error", 503: "Backend Error"}
REASONS = {401: "authError", 403: "insufficientPermissions", 404: "notFound", 429: "rateLimitExceeded",
           500: "backendError", 503: "backendError"}
NOT_WITH_SYNC = ("iCalUID", "orderBy", "q", "timeMin", "timeMax", "updatedMin")
QUICK = re.compile(r"\s*\b(today|tomorrow|\d{4}-\d\d-\d\d)\b|\s*\b(?:at )?(\d{1,2}):(\d\d)\b")


class CalendarSimulator(GoogleService):
    """The calendars of one account.

    events  how many single events the seed makes, beside the recurring ones
    clock   by default it stands at the end of the seed's year
    tokens  access token -> scope; refresh tokens give new ones
    """

    def __init__(self, seed: int = 1, events: int = 500, clock: Clock | None = None) -> None:
        super().__init__(FULL)
        self.clock = clock or Clock(NOW)
        self.calendars: Calendars
        self._events = events
        self.reset(seed, events)

    def reset(self, seed: int = 1, events: int | None = None) -> None:
        """New calendars with the events of the seed, in the size that it had unless another is given."""
        self._events = events = self._events if events is None else events
        self.calendars = Calendars(ADDRESS, self.clock)
        fill(self.calendars, seed, events)

    @property
    def kept(self) -> Calendars:
        return self.calendars

    # ---- requests

    def error(self, status: int, message: str = "", headers: dict[str, str] | None = None,
              reason: str = "") -> Response:
        message, reason = message or MESSAGES.get(status, "Error"), reason or REASONS.get(status, "invalid")
        return Response.of_json({"error": {"errors": [{"domain": "global", "reason": reason, "message": message}],
                                           "code": status, "message": message}}, status, headers)

    def handle(self, request: Request, entry: LogEntry) -> Response:
        if request.path == "/token":
            return self.refresh(request)
        scope = self.scope_of(request)
        if scope is None:
            return self.unauthorized()
        if scope == READ and request.method != "GET" and request.path != "/calendar/v3/freeBusy":
            return self.error(403)
        try:
            for method, pattern, function in ROUTES:
                found = re.fullmatch("/calendar/v3" + pattern, request.path)
                if found is not None and method == request.method:
                    return self._reply(request, function(self, request, *map(unquote, found.groups())))
            return self.error(404)
        except CalendarError as e:
            return self.error(e.status, str(e), reason=e.reason)
        except (ValueError, KeyError, TypeError, AttributeError) as e:
            return self.error(400, f"Invalid value: {type(e).__name__}")

    @staticmethod
    def _reply(request: Request, value: dict[str, Any] | None) -> Response:
        if value is None:
            return Response(204)
        etag = str(value.get("etag", ""))
        if request.method == "GET" and etag and request.headers.get("if-none-match") == etag:
            return Response(304, headers={"ETag": etag})
        mask = request.first("fields")
        value = fields.apply(fields.parse(mask), value) if mask else value
        return Response.of_json(value, headers={"ETag": etag} if etag else None)

    def _notify(self, request: Request) -> bool:
        return request.first("sendUpdates") in ("all", "externalOnly") or request.first("sendNotifications") == "true"

    # ---- calendars

    def _list_calendars(self, request: Request) -> dict[str, Any]:
        entries = [c.entry for c in self.calendars.calendars.values()]
        etag = f'"p{len(entries)}"'
        return _page(request, {"kind": "calendar#calendarList", "etag": etag}, entries, 100, 250)

    def _entry(self, request: Request, id: str) -> dict[str, Any]:
        return self.calendars.calendar(id).entry

    def _calendar(self, request: Request, id: str) -> dict[str, Any]:
        entry = self.calendars.calendar(id).entry
        return {"kind": "calendar#calendar", **{k: entry[k] for k in ("etag", "id", "summary", "timeZone")}}

    def _free_busy(self, request: Request) -> dict[str, Any]:
        body = request.json()
        after, before = _time(body["timeMin"]), _time(body["timeMax"])
        if after is None or before is None:
            raise invalid("Missing timeMin or timeMax.", "required")
        found: dict[str, Any] = {}
        for item in body.get("items", ()):
            try:
                busy = self.calendars.busy(self.calendars.calendar(item["id"]), after, before)
                found[item["id"]] = {"busy": busy}
            except CalendarError:
                found[item["id"]] = {"errors": [{"domain": "global", "reason": "notFound"}], "busy": []}
        return {"kind": "calendar#freeBusy", "timeMin": body["timeMin"], "timeMax": body["timeMax"], "calendars": found}

    # ---- events

    def _list_events(self, request: Request, id: str) -> dict[str, Any]:
        calendar = self.calendars.calendar(id)
        single, order = request.first("singleEvents") == "true", request.first("orderBy")
        after, before = _time(request.first("timeMin")), _time(request.first("timeMax"))
        if order not in ("", "startTime", "updated") or order == "startTime" and not single:
            raise invalid("The requested ordering is not available for the particular query.")
        if after and before and after >= before:
            raise invalid("The specified time range is empty.", "timeRangeEmpty")
        since, sync = None, request.first("syncToken")
        if sync:
            if any(request.first(name) for name in NOT_WITH_SYNC):
                raise invalid("Sync token cannot be used together with other query restrictions.")
            since = _decode(sync, "sync")
            if since is None or since < self.calendars.oldest:
                raise CalendarError(410, "Sync token is no longer valid, a full sync is required.", "fullSyncRequired")
        serial = self.calendars.serial
        found = self.calendars.select(calendar, after, before, single, request.first("showDeleted") == "true", since)
        if request.first("q"):
            found = [e for e in found if self.calendars.matches(e, request.first("q"))]
        if request.first("updatedMin"):
            found = [e for e in found if e["updated"] >= request.first("updatedMin")]
        if request.first("iCalUID"):
            found = [e for e in found if e.get("iCalUID") == request.first("iCalUID")]
        if order == "updated":
            found.sort(key=lambda e: (e["updated"], e["id"]))
        last = {} if order or request.first("q") or request.first("updatedMin") else \
            {"nextSyncToken": _encode(serial, "sync")}
        head = {"kind": "calendar#events", "etag": f'"p{max(calendar.serials.values(), default=0)}"',
                "summary": calendar.entry["summary"], "timeZone": calendar.entry["timeZone"],
                "accessRole": calendar.entry["accessRole"], "defaultReminders": []}
        return _page(request, head, found, 250, 2500, last)

    def _get(self, request: Request, id: str, event: str) -> dict[str, Any]:
        return self.calendars.get(self.calendars.calendar(id), event)

    def _instances(self, request: Request, id: str, event: str) -> dict[str, Any]:
        calendar = self.calendars.calendar(id)
        master = self.calendars.get(calendar, event)
        now = datetime.fromtimestamp(self.now(), UTC)
        after = _time(request.first("timeMin")) or now - timedelta(days=730)
        before = _time(request.first("timeMax")) or now + timedelta(days=730)
        found = self.calendars.instances(calendar, master, after, before, request.first("showDeleted") == "true")
        found.sort(key=lambda e: str(e["start"]))
        return _page(request, {"kind": "calendar#events", "etag": master["etag"]}, found, 250, 2500)

    def _writable(self, id: str) -> Calendar:
        return self.calendars.calendar(id, write=True)

    def _insert(self, request: Request, id: str) -> dict[str, Any]:
        return self.calendars.insert(self._writable(id), request.json(), self._notify(request))

    def _import(self, request: Request, id: str) -> dict[str, Any]:
        body = request.json()
        if not body.get("iCalUID"):
            raise invalid("Missing iCalUID.", "required")
        return self.calendars.insert(self._writable(id), body, imported=True)

    def _quick_add(self, request: Request, id: str) -> dict[str, Any]:
        """`Dinner 2026-10-02 19:30`, `tomorrow 9:00`; without a time the whole day."""
        calendar, text = self._writable(id), request.first("text")
        now = datetime.fromtimestamp(self.now(), calendar.zone)
        day, clock = now.date(), None
        for word, hour, minute in QUICK.findall(text):
            if hour:
                clock = f"{int(hour):02}:{minute}:00"
            elif word == "tomorrow":
                day = now.date() + timedelta(days=1)
            elif word != "today":
                day = datetime.strptime(word, "%Y-%m-%d").date()
        if clock is None:
            times = {"start": {"date": f"{day}"}, "end": {"date": f"{day + timedelta(days=1)}"}}
        else:
            at = datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=calendar.zone)
            times = {"start": {"dateTime": at.isoformat()}, "end": {"dateTime": (at + timedelta(hours=1)).isoformat()}}
        body = {"summary": QUICK.sub("", text).strip(), **times}
        return self.calendars.insert(calendar, body, self._notify(request))

    def _patch(self, request: Request, id: str, event: str) -> dict[str, Any]:
        return self._change(request, id, event, False)

    def _update(self, request: Request, id: str, event: str) -> dict[str, Any]:
        return self._change(request, id, event, True)

    def _change(self, request: Request, id: str, event: str, whole: bool) -> dict[str, Any]:
        calendar = self._writable(id)
        return self.calendars.change(calendar, event, request.json(), whole, request.headers.get("if-match", ""),
                                     self._notify(request))

    def _delete(self, request: Request, id: str, event: str) -> None:
        self.calendars.delete(self._writable(id), event, self._notify(request))

    def _move(self, request: Request, id: str, event: str) -> dict[str, Any]:
        return self.calendars.move(self._writable(id), event, self._writable(request.first("destination")),
                                   self._notify(request))


EVENTS = "/calendars/([^/]+)/events"
ROUTES: tuple[tuple[str, str, Callable[..., dict[str, Any] | None]], ...] = (
    ("GET", "/users/me/calendarList", CalendarSimulator._list_calendars),
    ("GET", "/users/me/calendarList/([^/]+)", CalendarSimulator._entry),
    ("GET", "/calendars/([^/]+)", CalendarSimulator._calendar),
    ("POST", "/freeBusy", CalendarSimulator._free_busy),
    ("GET", EVENTS, CalendarSimulator._list_events),
    ("POST", EVENTS, CalendarSimulator._insert),
    ("POST", EVENTS + "/import", CalendarSimulator._import),
    ("POST", EVENTS + "/quickAdd", CalendarSimulator._quick_add),
    ("GET", EVENTS + "/([^/]+)", CalendarSimulator._get),
    ("PATCH", EVENTS + "/([^/]+)", CalendarSimulator._patch),
    ("PUT", EVENTS + "/([^/]+)", CalendarSimulator._update),
    ("DELETE", EVENTS + "/([^/]+)", CalendarSimulator._delete),
    ("GET", EVENTS + "/([^/]+)/instances", CalendarSimulator._instances),
    ("POST", EVENTS + "/([^/]+)/move", CalendarSimulator._move))


def _page(request: Request, head: dict[str, Any], items: list[Any], default: int, most: int,
          last: dict[str, Any] | None = None) -> dict[str, Any]:
    """One page: `last` is what only the last one has."""
    token = request.first("pageToken")
    at = _decode(token, "page") if token else 0
    if at is None:
        raise invalid("Invalid page token value.")
    size = min(max(int(request.first("maxResults", str(default))), 1), most)
    more = {"nextPageToken": _encode(at + size, "page")} if at + size < len(items) else last or {}
    return {**head, **more, "items": items[at:at + size]}


def _encode(number: int, kind: str) -> str:
    return base64.urlsafe_b64encode(f"{kind}:{number}".encode()).decode()


def _decode(token: str, kind: str) -> int | None:
    try:
        text = base64.urlsafe_b64decode(token).decode()
        return int(text.removeprefix(f"{kind}:")) if text.startswith(f"{kind}:") else None
    except ValueError:
        return None


def _time(text: str) -> datetime | None:
    if not text:
        return None
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise invalid("Bad Request", "badRequest")
    return at
