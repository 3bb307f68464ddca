from __future__ import annotations

import json
import urllib.error
import urllib.request
from urllib.parse import quote, urlencode

import pytest

pytest.importorskip("dateutil")

from mirage.bench.services.gcal import CalendarSimulator

APOLLO = quote("c_apollo@group.calendar.example", safe="")


@pytest.fixture
def simulator():
    with CalendarSimulator(events=20) as simulator:
        yield simulator


def ask(simulator, method, path, body=None, headers=None, **query):
    request = urllib.request.Request(
        f"{simulator.address}calendar/v3/{path}?{urlencode(query)}", json.dumps(body).encode() if body is not None else None,
        {"Authorization": "Bearer simulator-token", **(headers or {})}, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read() or b"null")


def refused(simulator, *args, **options):
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(simulator, *args, **options)
    detail = json.loads(caught.value.read() or b"{}").get("error", {"errors": [{}]})
    caught.value.close()
    return caught.value.code, detail["errors"][0].get("reason")


def test_the_same_seed_gives_the_same_bytes():
    first, second, other = CalendarSimulator(events=50), CalendarSimulator(events=50), CalendarSimulator(seed=2, events=50)
    assert json.dumps(first.state()) == json.dumps(second.state()) != json.dumps(other.state())
    assert len(CalendarSimulator().state()) > 500


def test_pages_and_sync_tokens(simulator):
    found, token = [], ""
    while True:
        answer = ask(simulator, "GET", f"calendars/{APOLLO}/events", singleEvents="true", timeMin="2026-09-01T00:00:00Z",
                     timeMax="2026-10-01T00:00:00Z", maxResults=5, **({"pageToken": token} if token else {}))
        found += answer["items"]
        token = answer.get("nextPageToken")
        assert ("nextSyncToken" in answer) is (token is None)
        if token is None:
            break
    assert len(found) == len({e["id"] for e in found}) > 10
    sync = answer["nextSyncToken"]
    assert ask(simulator, "GET", f"calendars/{APOLLO}/events", singleEvents="true", syncToken=sync)["items"] == []
    ask(simulator, "DELETE", f"calendars/{APOLLO}/events/launch0000")
    changed = ask(simulator, "GET", f"calendars/{APOLLO}/events", singleEvents="true", syncToken=sync)["items"]
    assert [(e["id"], e["status"]) for e in changed] == [("launch0000", "cancelled")]
    assert refused(simulator, "GET", f"calendars/{APOLLO}/events", syncToken=sync, timeMin="2026-01-01T00:00:00Z")[0] == 400
    simulator.calendars.oldest = 10**6
    assert refused(simulator, "GET", f"calendars/{APOLLO}/events", syncToken=sync) == (410, "fullSyncRequired")


def test_series(simulator):
    window = {"timeMin": "2026-09-07T00:00:00Z", "timeMax": "2026-09-15T00:00:00Z"}
    found = ask(simulator, "GET", f"calendars/{APOLLO}/events/standup0apollo/instances", **window)["items"]
    assert [e["start"]["dateTime"][:16] for e in found] == ["2026-09-07T10:30", "2026-09-11T09:15", "2026-09-14T09:15"]
    assert found[0]["originalStartTime"]["dateTime"] == "2026-09-07T09:15:00+02:00" and "recurrence" not in found[1]
    masters = ask(simulator, "GET", f"calendars/{APOLLO}/events", **window)["items"]
    assert {e["id"] for e in masters if e["status"] == "cancelled"} == {"standup0apollo_20260909T071500Z"}
    winter = ask(simulator, "GET", f"calendars/{APOLLO}/events/standup0apollo_20261102T081500Z")
    assert winter["start"]["dateTime"] == "2026-11-02T09:15:00+01:00"
    assert refused(simulator, "GET", f"calendars/{APOLLO}/events/standup0apollo_20261103T081500Z") == (404, "notFound")
    assert ask(simulator, "GET", f"calendars/{APOLLO}/events", singleEvents="true", orderBy="startTime", **window)["items"][0]["start"]
    assert refused(simulator, "GET", f"calendars/{APOLLO}/events", orderBy="startTime")[0] == 400


def test_changes_and_preconditions(simulator):
    before, kept = simulator.state(), simulator.snapshot()
    made = ask(simulator, "POST", "calendars/primary/events", {"id": "abcde", "summary": "x", "start": {"date": "2026-01-01"}, "end": {"date": "2026-01-02"}})
    assert refused(simulator, "POST", "calendars/primary/events", {**made}) == (409, "duplicate")
    ask(simulator, "PATCH", "calendars/primary/events/abcde", {"summary": "y", "location": "z"}, {"If-Match": made["etag"]})
    assert refused(simulator, "PATCH", "calendars/primary/events/abcde", {"summary": "q"}, {"If-Match": made["etag"]})[0] == 412
    ask(simulator, "PUT", "calendars/primary/events/abcde", {"start": {"date": "2026-01-01"}, "end": {"date": "2026-01-02"}})
    event = ask(simulator, "GET", "calendars/primary/events/abcde")
    assert "summary" not in event and "location" not in event and event["status"] == "confirmed"
    assert refused(simulator, "GET", "calendars/primary/events/abcde", headers={"If-None-Match": event["etag"]})[0] == 304
    imported = ask(simulator, "POST", "calendars/primary/events/import", {**event, "iCalUID": "own@x", "id": "fghij"})
    assert imported["iCalUID"] == "own@x" and set(simulator.diff(before, simulator.state())["added"]) == {
        "mara@norrsken.example abcde", "mara@norrsken.example fghij"}
    ask(simulator, "DELETE", "calendars/primary/events/abcde")
    assert refused(simulator, "DELETE", "calendars/primary/events/abcde") == (410, "deleted")
    assert refused(simulator, "POST", "calendars/sv.swedish%23holiday%40group.v.calendar.example/events", {}) == (403, "requiredAccessLevel")
    simulator.restore(kept)
    assert simulator.state() == before
    assert ask(simulator, "GET", "calendars/primary/events/notitle00", fields="id,start/timeZone") == {
        "id": "notitle00", "start": {"timeZone": "Europe/Stockholm"}}


def test_tokens_and_faults(simulator):
    simulator.expire_tokens()
    assert refused(simulator, "GET", "users/me/calendarList") == (401, "authError")
    simulator.reset()
    simulator.tokens["simulator-token"] = "https://www.googleapis.com/auth/calendar.readonly"
    assert refused(simulator, "DELETE", "calendars/primary/events/notitle00") == (403, "insufficientPermissions")
    simulator.fault("status", "calendarList", status=429, seconds=2, times=1)
    assert refused(simulator, "GET", "users/me/calendarList") == (429, "rateLimitExceeded")
    assert len(ask(simulator, "GET", "users/me/calendarList")["items"]) == 6
