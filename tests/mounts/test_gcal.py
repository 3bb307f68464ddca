from __future__ import annotations

import errno
import json
import re
from datetime import date, datetime
from pathlib import Path

import pytest

pytest.importorskip("googleapiclient")
pytest.importorskip("icalendar")

import icalendar

from mirage.bench.services.gcal import CalendarSimulator
from mirage.mounts.gcal.text import ics
from mirage.vfs.registry import ProviderError
from mirage.vfs.registry import make_mount as mount_by_name
from mirage.vfs.service import Retry
from tests.mounts.contract import MountContract, files, raises
from tests.mounts.gcal_support import OWN, make_mount, make_terminal
from tests.mounts.honesty import check_honest

README = Path(__file__).parents[2] / "mounts" / "gcal" / "README.md"


@pytest.fixture(scope="module")
def small():
    with CalendarSimulator(events=20) as simulator:
        yield simulator


@pytest.fixture
def simulator():
    with CalendarSimulator(events=20) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def year():
    with CalendarSimulator() as simulator:
        yield simulator


class TestContract(MountContract):
    @pytest.fixture
    def mount(self, small):
        small.heal()
        small.fault("status", "calendarList", times=2, status=429, seconds=0.02)
        small.fault("status", "/events", times=2, status=500)
        small.fault("status", "/events", times=1, status=403, reason="userRateLimitExceeded")
        small.fault("reset", "/events", times=2)
        small.fault("truncate", "/events", times=2)
        small.fault("short", "/events", times=1)
        mount = make_mount(small, past=20, future=20)
        mount.client.retry = Retry(tries=12, base=0.01, most=1.0)
        yield mount
        small.heal()


def names(mount, path):
    """What is in a directory; nothing where it is absent."""
    try:
        return [e.name for e in mount.list(path)]
    except FileNotFoundError:
        return []


# ---- the tree

def test_calendars_days_and_events(small):
    mount = make_mount(small)
    assert names(mount, "/") == ["Apollo", "Helgdagar i Sverige", "Ideas", "Mara Lindqvist", "Norrsken _ company", "Support"]
    assert names(mount, "/Ideas") == ["agenda.txt", "calendar.ics"]
    assert names(mount, "/Helgdagar i Sverige")[:2] == ["2025-12-25", "2026-01-01"]
    found = names(mount, "/Mara Lindqvist/2026-09-15")
    assert found[:2] == ["0800_Q3_Q4 plan:_sales\\support__slashes00.event.json", "0800_untitled__notitle00.event.json"]
    assert {"1000_Interview__pairs00001.event.json", "1000_Interview__pairs00002.event.json"} <= set(names(mount, "/Mara Lindqvist/2026-09-17"))
    long = next(n for n in names(mount, "/Mara Lindqvist/2026-09-16") if n.startswith("2330_A very"))
    assert len(long.removesuffix("__longtitle0.event.json").encode()) <= 120
    event = json.loads(mount.read("/Norrsken _ company/2026-09-23/0000_Offsite in Abisko__offsite000.event.json"))
    assert event["start"] == {"date": "2026-09-23"} and event["end"] == {"date": "2026-09-26"} and "Title" not in event


def test_series_are_their_instances_and_changes_count(small):
    mount = make_mount(small)
    monday = names(mount, "/Apollo/2026-09-07")
    assert "1030_Apollo stand-up (in the lab)__standup0apollo_20260907T071500Z.event.json" in monday
    assert not any(n.startswith("0915_Apollo stand-up") for n in monday)
    assert "stand-up" not in str(names(mount, "/Apollo/2026-09-09"))
    assert "cancelled0" not in str(names(mount, "/Mara Lindqvist/2026-09-18"))
    assert "2025-12-26" not in names(mount, "/Norrsken _ company")       # the fika that was taken out


def test_days_are_in_the_time_zone_of_the_mount(small):
    path = "0900_Kisho センサー価格__kishocall0.event.json"
    assert path in names(make_mount(small, tz="Asia/Tokyo"), "/Mara Lindqvist/2026-10-01")
    late = make_mount(small, tz="America/Los_Angeles")
    assert "1700_" + path[5:] in names(late, "/Mara Lindqvist/2026-09-30")
    assert any("Semester" in n for n in names(late, "/Mara Lindqvist/2026-07-06"))       # a whole day has no zone
    assert "0000_Semester i Lofoten__vacation00.event.json" in names(make_mount(small, tz="Asia/Tokyo"), "/Mara Lindqvist/2026-07-06")


def test_the_window_bounds_what_is_listed_not_what_is_there(small):
    mount = make_mount(small, past=10, future=5)
    days = [n for n in names(mount, "/Apollo") if n[0] == "2"]
    assert min(days) >= "2026-09-20" and max(days) <= "2026-10-05"
    assert "0915_Apollo stand-up__standup0apollo_20251001T071500Z.event.json" in names(mount, "/Apollo/2025-10-01")


def test_a_wrong_name_is_no_name(small):
    mount = make_mount(small)
    for path in ("/Mara Lindqvist/2026-09-15/0801_untitled__notitle00.event.json", "/Apollo/2026-09-15/0800_untitled__notitle00.event.json",
                 "/Mara Lindqvist/2026-09-14/0800_untitled__notitle00.event.json", "/Mara Lindqvist/2026-9-15", "/Mara Lindqvist/2026-13-01",
                 "/Mara Lindqvist/1999-01-01", "/mara@norrsken.example", "/Ideas/2026-09-15", "/Apollo/calendar.txt",
                 "/Mara Lindqvist/2026-09-18/0900_Called off__cancelled0.event.json"):
        raises(errno.ENOENT, mount.stat, path)
        raises(errno.ENOENT, make_mount(small).stat, path)


def test_agenda(small):
    text = make_mount(small).read("/Norrsken _ company/agenda.txt").decode()
    assert "Wed 2026-09-23\n  until 2026-09-25  Offsite in Abisko | STF Turiststation\n" in text
    assert re.search(r"Fri 2026-09-25\n(?:  .*\n)*  17:00-17:00  Deadline: certification\n", text)
    own = make_mount(small).read("/Mara Lindqvist/agenda.txt").decode()
    assert "  23:30-2026-09-17 01:00  A very long title" in own and "  08:00-08:45  untitled\n" in own
    assert "Board meeting | Priya Raman, Aïcha Benali" in own and "  08:00-09:00  Q3/Q4 plan: sales\\support\n" in own


def test_the_ics_file_is_valid_and_complete(small):
    data = make_mount(small).read("/Apollo/calendar.ics")
    assert max(map(len, data.split(b"\r\n"))) <= 75 and b"\n" not in data.replace(b"\r\n", b"")
    calendar = icalendar.Calendar.from_ical(data)
    events = calendar.walk("VEVENT")
    master = next(e for e in events if e["UID"] == "standup0apollo@google.com" and "RRULE" in e)
    assert master["RRULE"]["BYDAY"] == ["MO", "WE", "FR"] and master["DTSTART"].params["TZID"] == "Europe/Stockholm"
    assert [d.dt.isoformat() for d in master["EXDATE"].dts] == ["2026-09-09T09:15:00+02:00"]
    moved = [e for e in events if "RECURRENCE-ID" in e]
    assert sorted(e["RECURRENCE-ID"].dt.date() for e in moved) == [date(2026, 9, 7), date(2026, 9, 14)]
    assert {str(z["TZID"]) for z in calendar.walk("VTIMEZONE")} >= {"Europe/Stockholm"}
    assert {a.params["PARTSTAT"] for a in master["ATTENDEE"]} == {"ACCEPTED", "NEEDS-ACTION", "TENTATIVE"}
    own = icalendar.Calendar.from_ical(make_mount(small).read("/Mara Lindqvist/calendar.ics")).walk("VEVENT")
    plan = next(e for e in own if str(e["UID"]).startswith("slashes00"))
    assert str(plan["SUMMARY"]) == "Q3/Q4 plan:\nsales\\support" and str(plan["DESCRIPTION"]) == "first line\nsecond; with, commas\\"
    birthday = next(e for e in own if str(e["UID"]).startswith("birth0lukas"))
    assert birthday["DTSTART"].dt == date(2020, 3, 14) and str(birthday["TRANSP"]) == "TRANSPARENT"
    assert not any(str(e["UID"]).startswith("cancelled0") for e in own)


def test_lists_of_dates_in_the_ics_file():
    event = {"id": "a", "start": {"dateTime": "2026-03-01T09:00:00+01:00", "timeZone": "Europe/Paris"},
             "end": {"dateTime": "2026-03-01T10:00:00+01:00"}, "recurrence": [
                 "RRULE:FREQ=DAILY;UNTIL=20260401T000000Z", "EXDATE;TZID=Europe/Paris:20260302T090000,20260303T090000",
                 "RDATE:20260501T070000Z"]}
    whole = {"id": "b", "summary": "x" * 300 + "é" * 50, "start": {"date": "2026-03-01"}, "end": {"date": "2026-03-02"},
             "recurrence": ["RRULE:FREQ=YEARLY", "EXDATE;VALUE=DATE:20270301"]}
    data = ics({"Calendar": "X, Y; Z", "timeZone": "Europe/Paris"}, [event, whole])
    assert b"EXDATE;TZID=Europe/Paris:20260302T090000,20260303T090000\r\n" in data and b"RDATE:20260501T070000Z\r\n" in data
    assert b"EXDATE;VALUE=DATE:20270301\r\n" in data and b"X-WR-CALNAME:X\\, Y\\; Z\r\n" in data
    assert all(len(line) <= 75 for line in data.split(b"\r\n"))
    assert str(icalendar.Calendar.from_ical(data).walk("VEVENT")[1]["SUMMARY"]) == whole["summary"]


# ---- cost and freshness

def test_calls_are_as_few_as_can_be(year):
    with make_terminal(year) as terminal:
        year.clear_log()
        terminal.run("echo hi; ls /; cat /VFS.md; gcal --help; gcal create-event --help")
        assert year.log == []
        assert '"Q3/Q4 plan' in terminal.run(f"cat '{OWN}/2026-09-15/'*slashes00*").stdout
        assert [e.path.rpartition("/")[2] for e in year.log] == ["calendarList", "events"]
        year.clear_log()
        assert terminal.run("ls /calendar/Apollo | wc -l; ls /calendar/Apollo > /dev/null; cat /calendar/Apollo/agenda.txt "
                            "/calendar/Apollo/2026-0*/*.json | grep -c summary").exit_code == 0
        assert len(year.log) == 1 and year.log[0].query["singleEvents"] == ["true"], year.log
        year.clear_log()
        terminal.run("cat /calendar/*/calendar.ics | wc -c; cat /calendar/*/*.ics | wc -c; find /calendar | wc -l")
        assert len(year.log) == 6 + 5, year.log


def test_changes_by_others_are_asked_for_with_a_sync_token(simulator):
    mount = make_mount(simulator, ttl=0.0)
    calendars, days = simulator.calendars, "/Mara Lindqvist/2026-09-17"
    own = calendars.calendar("primary")
    assert "1000_Interview__pairs00001.event.json" in names(mount, days) and names(mount, "/Mara Lindqvist")
    calendars.delete(own, "pairs00001")
    calendars.change(own, "pairs00002", {"start": {"dateTime": "2026-09-18T11:00:00+02:00"}, "end": {"dateTime": "2026-09-18T12:00:00+02:00"}}, False)
    simulator.clear_log()
    days_now = names(mount, "/Mara Lindqvist")
    asked = [e for e in simulator.log if e.path.endswith("/events")]
    assert len(asked) == 1 and "syncToken" in asked[0].query and "timeMin" not in asked[0].query
    assert "2026-09-18" in days_now and "1100_Interview__pairs00002.event.json" in names(mount, "/Mara Lindqvist/2026-09-18")
    assert "pairs" not in str(names(mount, days))
    calendars.change(own, "board0meeting", {"summary": "Styrelsemöte"}, False)           # a series: all of it again
    simulator.clear_log()
    assert any("Styrelsemöte" in n for n in names(mount, "/Mara Lindqvist/2026-09-08"))
    calendars.delete(own, "board0meeting")
    assert "Styrelsemöte" not in str(names(mount, "/Mara Lindqvist/2026-09-08"))
    assert b"SUMMARY:Styrelse" not in mount.read("/Mara Lindqvist/calendar.ics")


def test_a_sync_token_that_is_too_old_means_start_again(simulator):
    mount = make_mount(simulator, ttl=0.0)
    assert names(mount, "/Apollo")
    simulator.calendars.oldest = 10**6
    simulator.calendars.insert(simulator.calendars.calendar("c_apollo@group.calendar.example"), {
        "id": "newevent00".replace("w", "u"), "summary": "New", "start": {"date": "2026-09-13"}, "end": {"date": "2026-09-14"}})
    assert "0000_New__neuevent00.event.json" in names(mount, "/Apollo/2026-09-13")


def test_many_events_are_many_pages(simulator):
    own = simulator.calendars.calendar("primary")
    for n in range(2600):
        simulator.calendars.insert(own, {"id": f"bulk{n:05}", "summary": f"number {n}", "start": {"date": "2026-09-12"}, "end": {"date": "2026-09-13"}})
    mount = make_mount(simulator)
    names(mount, "/")
    simulator.clear_log()
    assert len(names(mount, "/Mara Lindqvist/2026-09-12")) >= 2600
    assert len(simulator.log) == 2


# ---- failures

@pytest.mark.parametrize(("fault", "number"), [
    ({"kind": "status", "status": 429, "seconds": 30.0}, errno.EAGAIN), ({"kind": "status", "status": 500}, errno.EIO),
    ({"kind": "status", "status": 403}, errno.EACCES), ({"kind": "status", "status": 401}, errno.EACCES),
    ({"kind": "reset"}, errno.EIO), ({"kind": "truncate"}, errno.EIO), ({"kind": "short"}, errno.EIO)])
def test_what_does_not_heal_is_an_errno(simulator, fault, number):
    with make_terminal(simulator) as terminal:
        terminal.run("ls /calendar")
        simulator.fault(match="/events", **fault)
        result = terminal.run("cat /calendar/Apollo/agenda.txt")
        assert result.stdout == "" and result.exit_code == 1 and "mirage: gcal: " in result.stderr
        with pytest.raises(OSError) as caught:
            terminal.fs.list("/calendar/Apollo")
        assert caught.value.errno == number and not terminal.machine.errors
        simulator.heal()
        assert terminal.run("grep -c stand-up /calendar/Apollo/agenda.txt").exit_code == 0


def test_tokens_show_nowhere(simulator):
    mount = make_mount(simulator, "CANARY-4711")
    with pytest.raises(PermissionError) as caught:
        mount.list("/")
    assert "CANARY" not in f"{caught.value!r} {caught.value.note} {mount!r} {mount.client!r}"


def test_options_are_checked():
    for options in ({}, {"token": "env:A", "tz": "Mars/Olympus"}, {"token": "ya29.hunter2"}, {"token": "env:A", "past": "-1"},
                    {"token": "env:A", "colour": "red"}, {"token": "env:A", "credentials": "env:B"}):
        with pytest.raises((ProviderError, ValueError)) as caught:
            mount_by_name("gcal", options)
        assert "hunter2" not in str(caught.value)


# ---- everything together

def test_grep_finds_what_is_there(small):
    """There is no search to ask: a listing has whole events, so reading all is the fewest calls."""
    with make_terminal(small, make_mount(small, past=5, future=1)) as terminal:
        report = check_honest(terminal, "/calendar", exact=True, count=200)
        assert report.tried > 150 and report.found > 100
        small.clear_log()
        terminal.run("grep -rlw Abisko /calendar")
        assert len(small.log) <= 12


def test_a_hidden_calendar_is_not_reached_through_another(small):
    policy = "rules:\n  - {path: '/calendar/Mara Lindqvist/**', action: hide}\n"
    with make_terminal(small, policy=policy) as terminal:
        for calendar in ("Mara Lindqvist", "Apollo", "Ideas"):
            assert terminal.run(f"cat '/calendar/{calendar}/2026-09-15/0800_untitled__notitle00.event.json'").exit_code == 1


def test_the_example_of_the_readme(small):
    text = README.read_text()
    (command, output), = re.findall(r"```console\n\$ (.*)\n((?:.*\n)*?)```", text)
    with make_terminal(small) as terminal:
        result = terminal.run(command)
        assert result.stdout == output and result.exit_code == 0


def test_describe_is_short(small):
    with make_terminal(small) as terminal:
        text = terminal.run("cat /VFS.md").stdout
    assert "`/calendar/<Calendar>/<day>/<HHMM>_<Title>__<id>.event.json`" in text and len(text) < 2000


def test_every_event_is_one_file(small):
    mount = make_mount(small)
    found = [path for path in files(mount) if path.endswith(".event.json")]
    ids = [json.loads(mount.read(path))["id"] for path in found]
    assert len(ids) == len(set(ids)) > 300
    for path in found:
        event = json.loads(mount.read(path))
        start = event["start"].get("date") or datetime.fromisoformat(event["start"]["dateTime"]).date().isoformat()
        assert abs((date.fromisoformat(path.split("/")[2]) - date.fromisoformat(start)).days) <= 1
