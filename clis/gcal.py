"""`gcal`: make, change and answer events, with the operations and arguments of the usual calendar tools of agents."""
from __future__ import annotations

import errno
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from mirage.clis.framework import Call, OperationError, VirtualCli, operation
from mirage.mounts.gcal.tree import Calendar
from mirage.process import blocking
from mirage.vfs.names import split_id

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mirage.vfs.types import Mount

EventId = Annotated[str, Field(description="id of the event, or the path of its file", min_length=1)]
Calendars = Annotated[str | None, Field(description="id, name or path of a calendar; default: that of the event, else "
                                                    "the primary one")]
Send = Literal["all", "externalOnly", "none"] | None
SENDS = "who gets a mail; default: all when `attendees` is given, else none"
SUFFIX = ".event.json"


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


def _iso(text: str) -> str:
    datetime.fromisoformat(text)
    return text


class When(Arguments):
    dateTime: str | None = Field(None, description="ISO 8601; without an offset in timeZone")
    date: str | None = Field(None, description="instead: a whole day; the end is the day after the last")
    timeZone: str | None = Field(None, description="such as Europe/Berlin; default: the mount's")

    @field_validator("dateTime", "date")
    @classmethod
    def _valid(cls, text: str | None) -> str | None:
        return text if text is None else _iso(text)

    @model_validator(mode="after")
    def _one(self) -> When:
        if (self.dateTime is None) == (self.date is None):
            raise ValueError("give either dateTime or date")
        return self


class Attendee(Arguments):
    email: str = Field(pattern=r"^[^@\s<>,]+@[^@\s<>,]+$")


class Details(Arguments):
    description: str | None = None
    location: str | None = None
    attendees: list[Attendee] | None = None
    recurrence: list[str] | None = Field(None, description='such as ["RRULE:FREQ=WEEKLY"]; [] ends the repetition')
    calendarId: Calendars = None
    sendUpdates: Send = Field(None, description=SENDS)


class CreateEvent(Details):
    summary: str
    start: When
    end: When


class UpdateEvent(Details):
    eventId: EventId
    summary: str | None = None
    start: When | None = None
    end: When | None = None


class OneEvent(Arguments):
    eventId: EventId
    calendarId: Calendars = None


class DeleteEvent(OneEvent):
    sendUpdates: Send = Field(None, description="who gets a mail; default: none")


class ListEvents(Arguments):
    timeMin: str = Field(description="ISO 8601; without an offset in the mount's time zone")
    timeMax: str
    maxResults: int = Field(250, ge=1, le=2500)
    orderBy: Literal["startTime", "updated"] = "startTime"
    q: str | None = Field(None, description="words to search for")
    calendarId: Calendars = None

    _valid = field_validator("timeMin", "timeMax")(_iso)


class FreeBusy(Arguments):
    timeMin: str = Field(description="ISO 8601; without an offset in the mount's time zone")
    timeMax: str
    calendars: list[str] | None = Field(None, description="ids, names or addresses; default: the account's calendars")

    _valid = field_validator("timeMin", "timeMax")(_iso)


class Respond(OneEvent):
    response: Literal["accepted", "declined", "tentative"]
    comment: str | None = None


class QuickAdd(Arguments):
    text: str = Field(description="such as `Dinner with Aïcha tomorrow 19:30`", min_length=1)
    calendarId: Calendars = None


class MoveEvent(OneEvent):
    destination: str = Field(description="id, name or path of the other calendar", min_length=1)


class Nothing(Arguments):
    pass


def _sends(a: Any) -> bool:
    return a.sendUpdates in ("all", "externalOnly") or a.sendUpdates is None and bool(getattr(a, "attendees", None))


MAILS = {"send": _sends}


class GcalCli(VirtualCli):
    """The account of `mount`; `point` is where it is mounted, for the paths in results (None: nowhere)."""

    description = "Make, change, answer and find events."

    def __init__(self, mount: Calendar, point: str | None = "/calendar", name: str = "gcal") -> None:
        super().__init__()
        self.name = name
        self.mount = mount
        self.counters = mount.counters
        self.point = point

    # ---- helpers

    def _do(self, method: str, safe: bool = False, **parameters: Any) -> Any:
        try:
            return blocking.call(partial(self.mount.client.call, f"calendar.{method}", safe, **parameters))
        except OSError as e:
            raise _explained(e) from None

    def _calendar(self, name: str | None) -> str:
        """The id of a calendar: of its id, name or path; None: the primary one."""
        try:
            known = self.mount.items("/")
        except OSError as e:
            raise _explained(e) from None
        if name is None or name == "primary":
            return next((c["id"] for c in known.values() if c.get("primary")), "primary")
        word = name.removeprefix(self.point.rstrip("/") + "/") if self.point is not None else name
        word = word.strip("/").partition("/")[0] if name.startswith("/") else word
        for title, item in known.items():
            if word in (title, item["id"], item["Calendar"]):
                return str(item["id"])
        if "@" in name:
            return name
        raise OperationError(f"no calendar {name!r}; there are: {', '.join(known)}", 404)

    def _event(self, a: Any) -> tuple[str, str]:
        """(calendar id, event id)"""
        id: str = a.eventId
        if "/" not in id:
            seen = self.mount.events.where.get(id) if a.calendarId is None else None
            return seen or self._calendar(a.calendarId), id
        calendar = self._calendar(a.calendarId or id.rpartition("/")[0].rpartition("/")[0])
        return calendar, split_id(id.rpartition("/")[2].removesuffix(SUFFIX))[1] or id

    def _when(self, when: When | None, repeats: bool, patch: bool = False) -> dict[str, Any] | None:
        if when is None:
            return None
        if when.date is not None:
            return {"date": when.date, **({"dateTime": None, "timeZone": None} if patch else {})}
        zone = when.timeZone
        if zone is None and (repeats or datetime.fromisoformat(when.dateTime or "").tzinfo is None):
            zone = self.mount.zone.key
        return {"dateTime": when.dateTime, **({"timeZone": zone} if zone else {}), **({"date": None} if patch else {})}

    def _moment(self, text: str) -> str:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo is not None else at.replace(tzinfo=self.mount.zone)).isoformat()

    def _body(self, a: Any, patch: bool) -> dict[str, Any]:
        body: dict[str, Any] = {key: value for key in ("summary", "description", "location", "recurrence")
                                if (value := getattr(a, key)) is not None}
        if a.attendees is not None:
            body["attendees"] = [{"email": person.email} for person in a.attendees]
        for key in ("start", "end"):
            value = self._when(getattr(a, key), bool(a.recurrence), patch)
            if value is not None:
                body[key] = value
        return body

    def _result(self, calendar: str, event: dict[str, Any]) -> dict[str, Any]:
        """The event, and where its file is; of a series there is one for each instance."""
        if self.point is not None and "recurrence" not in event:
            path = self.mount.path_of(calendar, event)
            return {**event, "path": self.point.rstrip("/") + path} if path else event
        return event

    def _changed(self, calendar: str, event: dict[str, Any]) -> dict[str, Any]:
        self.mount.changed(calendar)
        self.mount.events.where[event["id"]] = calendar
        return self._result(calendar, event)

    # ---- changing

    @operation("Create an event", CreateEvent, effects=("create", "send"), when=MAILS)
    def create_event(self, call: Call, a: CreateEvent) -> Any:
        calendar = self._calendar(a.calendarId)
        return self._changed(calendar, self._do("events.insert", calendarId=calendar, sendUpdates=_updates(a),
                                                body=self._body(a, False)))

    @operation("Change an event; what is not given stays", UpdateEvent, effects=("update", "send"), when=MAILS)
    def update_event(self, call: Call, a: UpdateEvent) -> Any:
        calendar, id = self._event(a)
        body = self._body(a, True)
        if "attendees" in body:                              # who answered stays answered
            known = self._do("events.get", True, calendarId=calendar, eventId=id).get("attendees", ())
            old = {person.get("email"): person for person in known}
            body["attendees"] = [old.get(person["email"], person) for person in body["attendees"]]
        return self._changed(calendar, self._do("events.patch", calendarId=calendar, eventId=id,
                                                sendUpdates=_updates(a), body=body))

    @operation("Delete an event, or one instance of a series", DeleteEvent, effects=("destroy", "send"), when=MAILS)
    def delete_event(self, call: Call, a: DeleteEvent) -> Any:
        calendar, id = self._event(a)
        self._do("events.delete", calendarId=calendar, eventId=id, sendUpdates=_updates(a))
        self.mount.changed(calendar)
        return {"deleted": id}

    @operation("Accept or decline an invitation", Respond, effects=("update", "send"))
    def respond(self, call: Call, a: Respond) -> Any:
        calendar, id = self._event(a)
        people = self._do("events.get", True, calendarId=calendar, eventId=id).get("attendees", [])
        mine = [person for person in people if person.get("self")]
        if not mine:
            raise OperationError("the account is not invited to this event", 400)
        mine[0].update(responseStatus=a.response, **({"comment": a.comment} if a.comment is not None else {}))
        return self._changed(calendar, self._do("events.patch", calendarId=calendar, eventId=id, sendUpdates="all",
                                                body={"attendees": people}))

    @operation("Create an event from a sentence", QuickAdd, effects=("create",))
    def quick_add(self, call: Call, a: QuickAdd) -> Any:
        calendar = self._calendar(a.calendarId)
        return self._changed(calendar, self._do("events.quickAdd", calendarId=calendar, text=a.text))

    @operation("Move an event to another calendar", MoveEvent, effects=("update",))
    def move_event(self, call: Call, a: MoveEvent) -> Any:
        (calendar, id), target = self._event(a), self._calendar(a.destination)
        event = self._do("events.move", calendarId=calendar, eventId=id, destination=target)
        self.mount.changed(calendar)
        return self._changed(target, event)

    # ---- looking

    @operation("Read an event", OneEvent, effects=("read",))
    def get_event(self, call: Call, a: OneEvent) -> Any:
        calendar, id = self._event(a)
        return self._result(calendar, self._do("events.get", True, calendarId=calendar, eventId=id))

    @operation("List events in a time range", ListEvents, effects=("read",))
    def list_events(self, call: Call, a: ListEvents) -> Any:
        calendar = self._calendar(a.calendarId)
        given = {"q": a.q} if a.q else {}
        answer = self._do("events.list", True, calendarId=calendar, singleEvents=True, orderBy=a.orderBy,
                          timeMin=self._moment(a.timeMin), timeMax=self._moment(a.timeMax), maxResults=a.maxResults,
                          **given)
        shown = [{key: event[key] for key in ("id", "summary", "start", "end", "location", "status") if key in event}
                 for event in answer.get("items", ())]
        return {"events": [self._result(calendar, event) for event in shown], "more": "nextPageToken" in answer}

    @operation("List calendars", Nothing, effects=("read",))
    def list_calendars(self, call: Call, a: Nothing) -> Any:
        keys = ("id", "summary", "description", "timeZone", "accessRole", "primary")
        try:
            known = self.mount.items("/")
        except OSError as e:
            raise _explained(e) from None
        return {"calendars": [{**{k: item[k] for k in keys if k in item},
                               **({"path": f"{self.point.rstrip('/')}/{title}"} if self.point is not None else {})}
                              for title, item in known.items()]}

    @operation("Busy times of calendars or people", FreeBusy, effects=("read",))
    def freebusy(self, call: Call, a: FreeBusy) -> Any:
        named = a.calendars if a.calendars is not None else [c["id"] for c in self.mount.items("/").values()]
        answer = self._do("freebusy.query", True, body={
            "timeMin": self._moment(a.timeMin), "timeMax": self._moment(a.timeMax), "timeZone": self.mount.zone.key,
            "items": [{"id": self._calendar(name)} for name in named]})
        return {"calendars": answer.get("calendars", {})}


def _updates(a: Any) -> str:
    return a.sendUpdates or ("all" if _sends(a) else "none")


def _explained(e: OSError) -> OperationError:
    """The service's own words and status."""
    note = str(getattr(e, "note", "") or e.strerror or e)
    return OperationError(note, getattr(e, "status", 0) or errno.errorcode.get(e.errno or 0, "io").lower())


def from_config(name: str, provider: str, options: dict[str, Any], *, mounts: Mapping[str, Mount],
                folder: Path) -> GcalCli:
    """For mirage.yaml. Without options, or with those of a gcal mount's account, the mount's connection is used."""
    from mirage.clis._accounts import account
    return GcalCli(*account(name, "gcal", Calendar, options, mounts, folder, ("token", "credentials")), name)
