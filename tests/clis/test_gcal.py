from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("googleapiclient")

from mirage import Terminal
from mirage.bench.services.gcal import CalendarSimulator
from mirage.clis import make_cli
from mirage.clis.gcal import GcalCli
from mirage.mounts.gcal.tree import Calendar
from tests.clis.support import run
from tests.mounts.gcal_support import OWN, Token, make_mount, make_terminal

SCHEMAS = Path(__file__).parent / "data" / "gcal-operations.json"
LAUNCH = "/calendar/Apollo/2026-09-28/1000_Apollo launch 🚀__launch0000.event.json"


@pytest.fixture
def simulator():
    with CalendarSimulator(events=20) as simulator:
        yield simulator


@pytest.fixture
def terminal(simulator):
    with make_terminal(simulator) as terminal:
        yield terminal


def create(terminal, **arguments):
    times = {"start": {"dateTime": "2026-10-02T10:00:00"}, "end": {"dateTime": "2026-10-02T11:00:00"}}
    terminal.fs.write("/workspace/new.json", json.dumps({"summary": "New", **times, **arguments}).encode())
    return run(terminal, "gcal create-event @/workspace/new.json")


def test_operations_are_those_of_the_usual_server():
    """Names (`create_event` is create-event) and arguments, types, requirement; ours may have optional ones beside."""
    published = json.loads(SCHEMAS.read_text())
    cli = GcalCli(Calendar(Token()))
    assert set(published) <= set(cli.operations)
    for name, arguments in published.items():
        schema = cli.operations[name].model.model_json_schema()
        assert set(arguments) <= set(schema["properties"]), name
        assert set(schema.get("required", ())) == {k for k, a in arguments.items() if a.get("required")}, name
        for key, argument in arguments.items():
            mine = schema["properties"][key]
            types = {part.get("type", "object" if "$ref" in part else None) for part in (mine, *mine.get("anyOf", ()))}
            assert types & {argument["type"], "integer" if argument["type"] == "number" else ""}, (name, key)
    assert set(cli.operations) - set(published) == {"respond", "quick-add", "move-event", "list-calendars", "freebusy"}


def test_a_new_event_is_in_its_day_at_once_and_nothing_else_is_asked(simulator, terminal):
    terminal.run("ls /calendar/*; cat /calendar/*/agenda.txt")
    simulator.clear_log()
    event = create(terminal, location="Room Sarek", recurrence=None)
    assert event["start"] == {"dateTime": "2026-10-02T10:00:00+02:00", "timeZone": "Europe/Stockholm"}
    assert event["path"] == f"{OWN}/2026-10-02/1000_New__{event['id']}.event.json"
    result = terminal.run(f"cat '{event['path']}' | jq -r .location; ls {OWN.replace(' ', '?')}/2026-10-02; grep -c New '{OWN}/agenda.txt'")
    assert result.stdout.startswith("Room Sarek\n1000_New__") and result.stdout.endswith("\n1\n")
    assert [e.method for e in simulator.log] == ["POST", "GET"] and "syncToken" in simulator.log[1].query
    simulator.clear_log()
    terminal.run("ls /calendar/*; cat /calendar/*/agenda.txt")
    assert simulator.log == []


def test_inviting_is_sending(simulator, terminal):
    before = simulator.state()
    event = create(terminal, attendees=[{"email": "jonas@norrsken.example"}])
    assert simulator.calendars.sent == [(event["id"], "invitation", "jonas@norrsken.example")]
    create(terminal, attendees=[{"email": "jonas@norrsken.example"}], sendUpdates="none")
    assert len(simulator.calendars.sent) == 1
    run(terminal, f"gcal update-event --eventId {event['id']} --location Roof")
    run(terminal, f"gcal delete-event --eventId '{event['path']}' --sendUpdates all")
    assert [s[1] for s in simulator.calendars.sent] == ["invitation", "cancellation"]
    assert len(simulator.diff(before, simulator.state())["added"]) == 2


def test_effects_follow_the_arguments(simulator):
    policy = "rules:\n  - {effect: send, action: deny, reason: no mails}\n"
    with make_terminal(simulator, policy=policy) as terminal:
        event = create(terminal)
        result = terminal.run("gcal create-event @/workspace/new.json")
        assert [e.effects for e in result.effects if e.effect == "call"] == [("create",)]
        line = "gcal update-event --eventId {} '{{\"attendees\": [{{\"email\": \"a@b.example\"}}]}}'".format(event["id"])
        result = terminal.run(line)
        assert result.exit_code == 126 and "no mails" in result.stderr
        assert terminal.run(f"gcal delete-event --eventId {event['id']} --sendUpdates all").exit_code == 126
        assert terminal.run(f"gcal respond --eventId '{LAUNCH}' --response declined").exit_code == 126
        assert terminal.run(f"gcal delete-event --eventId {event['id']}").exit_code == 0
    assert simulator.calendars.sent == []


def test_updates(simulator, terminal):
    moved = run(terminal, f"gcal update-event --eventId '{LAUNCH}' " + """'{"start": {"dateTime": "2026-09-29T15:00:00+02:00"},
        "end": {"dateTime": "2026-09-29T16:00:00+02:00"}, "summary": "Apollo launch"}'""")
    assert moved["path"] == "/calendar/Apollo/2026-09-29/1500_Apollo launch__launch0000.event.json"
    assert not terminal.fs.exists(LAUNCH) and terminal.fs.exists(moved["path"]) and len(moved["attendees"]) == 7
    people = json.dumps({"attendees": [{"email": "jonas@norrsken.example"}, {"email": "new@b.example"}]})
    changed = run(terminal, f"gcal update-event --eventId launch0000 --sendUpdates none '{people}'")
    assert [p["responseStatus"] for p in changed["attendees"]] == ["accepted", "needsAction"]
    whole = run(terminal, """gcal update-event --eventId launch0000 '{"start": {"date": "2026-09-30"}, "end": {"date": "2026-10-02"}}'""")
    assert whole["start"] == {"date": "2026-09-30"} and whole["path"].startswith("/calendar/Apollo/2026-09-30/0000_")
    back = run(terminal, """gcal update-event --eventId launch0000 '{"start": {"dateTime": "2026-09-30T09:00:00"}, "end": {"dateTime": "2026-09-30T10:00:00"}}'""")
    assert back["start"]["timeZone"] == "Europe/Stockholm" and "date" not in back["start"]


def test_series_and_their_instances(simulator, terminal):
    event = create(terminal, recurrence=["RRULE:FREQ=DAILY;COUNT=5"])
    assert "path" not in event
    assert terminal.run(f"ls '{OWN}'/2026-10-0[2-6] | grep -c New__{event['id']}").stdout == "5\n"
    run(terminal, f"gcal delete-event --eventId {event['id']}_20261003T080000Z")
    one = run(terminal, f"gcal update-event --eventId {event['id']}_20261004T080000Z --summary Other")
    assert one["path"].startswith(f"{OWN}/2026-10-04/1000_Other__")
    text = terminal.run(f"grep -E '^  10:00-11:00  (New|Other)' '{OWN}/agenda.txt'").stdout
    assert text.count("New") == 3 and text.count("Other") == 1
    assert terminal.run(f"grep -c -e EXDATE -e RECURRENCE-ID '{OWN}/calendar.ics'").stdout.strip() >= "2"
    run(terminal, f"gcal update-event --eventId {event['id']} '{{\"recurrence\": []}}'")
    assert terminal.run(f"grep -c ':00  New' '{OWN}/agenda.txt'").stdout == "1\n"


def test_answering_moving_and_quick_ones(simulator, terminal):
    answered = run(terminal, f"gcal respond --eventId '{LAUNCH}' --response tentative --comment 'Train is late'")
    mine = next(p for p in answered["attendees"] if p.get("self"))
    assert mine["responseStatus"] == "tentative" and mine["comment"] == "Train is late" and len(simulator.calendars.sent) == 6
    assert run(terminal, "gcal respond --eventId notitle00 --response accepted", 1)["error"]["code"] == 400
    moved = run(terminal, f"gcal move-event --eventId '{LAUNCH}' --destination 'Mara Lindqvist'")
    assert moved["path"].startswith(f"{OWN}/2026-09-28/1000_Apollo launch") and not terminal.fs.exists(LAUNCH)
    quick = run(terminal, "gcal quick-add --text 'Fika with Søren tomorrow 14:30'")
    assert quick["path"].startswith(f"{OWN}/2026-10-01/1430_Fika with Søren__")


def test_looking(simulator, terminal):
    assert run(terminal, f"gcal get-event --eventId '{LAUNCH}'")["path"] == LAUNCH
    terminal.run("ls /calendar/Apollo")
    assert run(terminal, "gcal get-event --eventId launch0000")["path"] == LAUNCH            # seen in another calendar
    found = run(terminal, "gcal list-events --timeMin 2026-09-15 --timeMax 2026-09-16T00:00:00Z --maxResults 2")
    assert [e["id"] for e in found["events"]] == ["notitle00", "slashes00"] and "attendees" not in found["events"][0]
    assert all(terminal.fs.exists(e["path"]) for e in found["events"])
    found = run(terminal, "gcal list-events --timeMin 2026-09-01 --timeMax 2026-10-01 --calendarId /calendar/Apollo --q Hamburg")
    assert [e["id"] for e in found["events"]] == ["launch0000"] and not found["more"]
    calendars = run(terminal, "gcal list-calendars")["calendars"]
    assert calendars[1]["path"] == "/calendar/Apollo" and sum("primary" in c for c in calendars) == 1
    busy = run(terminal, "gcal freebusy --timeMin 2026-09-28T00:00:00+02:00 --timeMax 2026-09-29 --calendars Apollo --calendars x@y.example")
    assert busy["calendars"]["c_apollo@group.calendar.example"]["busy"][:2] == [
        {"start": "2026-09-28T07:15:00Z", "end": "2026-09-28T07:30:00Z"}, {"start": "2026-09-28T08:00:00Z", "end": "2026-09-28T11:00:00Z"}]
    assert busy["calendars"]["x@y.example"]["errors"][0]["reason"] == "notFound"


@pytest.mark.parametrize(("line", "status", "text"), [
    ("create-event --summary x", 2, "start is required"),
    ("""create-event '{"summary": "x", "start": {"dateTime": "noon"}, "end": {"date": "2026-01-01"}}'""", 2, "start.dateTime"),
    ("""create-event '{"summary": "x", "start": {}, "end": {"date": "2026-01-01"}}'""", 2, "either dateTime or date"),
    ("""create-event '{"summary": "x", "start": {"date": "2026-01-02"}, "end": {"date": "2026-01-01"}}'""", 1, "time range is empty"),
    ("""create-event '{"summary": "x", "start": {"date": "2026-01-01"}, "end": {"date": "2026-01-02"}, "attendees": [{"email": "x"}]}'""", 2, "email"),
    ("get-event --eventId nothing00", 1, "Not Found"), ("delete-event --eventId cancelled0", 1, "deleted"),
    ("get-event --eventId x --calendarId Nowhere", 1, "there are: Mara Lindqvist, Apollo, "), ("fly", 2, "no operation"),
    ("quick-add --text x --calendarId 'Helgdagar i Sverige'", 1, "writer access"),
    ("list-events --timeMin tomorrow --timeMax 2026-01-01", 2, "timeMin")])
def test_errors_are_json(terminal, line, status, text):
    assert text in run(terminal, f"gcal {line}", status)["error"]["message"]
    assert not terminal.machine.errors


def test_a_lost_answer_never_creates_twice(simulator, terminal):
    run(terminal, "gcal list-calendars")
    before = simulator.state()
    simulator.fault("reset", "POST", after=True)
    assert "connection failed" in run(terminal, "gcal quick-add --text Once", 1)["error"]["message"]
    assert len(simulator.diff(before, simulator.state())["added"]) == 1 and simulator.calls("POST") == 1


def test_from_config(simulator, tmp_path):
    mount = make_mount(simulator)
    cli = make_cli("cal", "gcal", {}, mounts={"/c": mount}, folder=tmp_path)
    assert cli.mount is mount and cli.point == "/c" and cli.name == "cal"
    alone = make_cli("cal", "gcal", {"token": Token(), "endpoint": simulator.address}, mounts={}, folder=tmp_path)
    with Terminal({}, clis=[alone]) as terminal:
        assert "path" not in run(terminal, "cal quick-add --text x")
    for options in ({}, {"colour": "red"}, {"token": "hunter2"}):
        with pytest.raises(ValueError) as caught:
            make_cli("cal", "gcal", options, mounts={}, folder=tmp_path)
        assert "hunter2" not in str(caught.value)
