"""A year of the calendars of Norrsken Instruments, whose mailbox is in bench/services/gmail/seed.py."""
from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from mirage.bench.company import CUSTOMERS, ME, PEOPLE, PROJECTS, SUPPLIERS, parts
from mirage.bench.demo import NOW

if TYPE_CHECKING:
    from mirage.bench.services.gcal.calendars import Calendar, Calendars

__all__ = ["ADDRESS", "NOW", "fill"]
ADDRESS = parts(ME)[1]
APOLLO = "c_apollo@group.calendar.example"
COMPANY = "c_norrsken@group.calendar.example"
SUPPORT = "c_support@group.calendar.example"
HOLIDAYS = "sv.swedish#holiday@group.v.calendar.example"
ZONE = "Europe/Stockholm"
FIRST, DAYS = date(2025, 10, 1), 395                         # one month beyond the clock's end
ROOMS = ("Room Abisko", "Room Sarek", "Café Zentral", "Roof / test stand", "https://meet.example/nrk", "")
PRIVATE = ("Dentist", "Train to Umeå", "School play", "Lunch with Aïcha", "Vårdcentral", "Running 🏃", "美容院", "Call mum")
TALKS = ("{topic}", "{topic}: decision", "{topic} / next steps", "Prepare {topic}", "{project} review: {topic}")


def fill(calendars: Calendars, seed: int = 1, count: int = 500) -> None:
    """Put `count` single events and the recurring ones into empty calendars. The same seed gives the same."""
    rng = random.Random(seed)
    own = calendars.add_calendar(ADDRESS, "Mara Lindqvist", ZONE, primary=True)
    apollo = calendars.add_calendar(APOLLO, "Apollo", ZONE, "writer", description="Milestones and tests")
    company = calendars.add_calendar(COMPANY, "Norrsken / company", ZONE, "owner", description="Everybody sees this")
    support = calendars.add_calendar(SUPPORT, "Support rota", "America/New_York", "writer", summaryOverride="Support")
    holidays = calendars.add_calendar(HOLIDAYS, "Helgdagar i Sverige", ZONE, "reader")
    calendars.add_calendar("c_empty@group.calendar.example", "Ideas", ZONE, "owner")
    _recurring(calendars, own, apollo, company, support)
    _special(calendars, own, apollo, company, holidays)
    _year(calendars, rng, (own, own, apollo, company, support), count)
    calendars.sent.clear()


def _timed(day: date, clock: str, minutes: int, zone: str = ZONE) -> dict[str, Any]:
    start = datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=ZoneInfo(zone))
    end = start + timedelta(minutes=minutes)
    return {"start": {"dateTime": start.isoformat(), "timeZone": zone},
            "end": {"dateTime": end.isoformat(), "timeZone": zone}}


def _days(day: date, length: int = 1) -> dict[str, Any]:
    return {"start": {"date": f"{day}"}, "end": {"date": f"{day + timedelta(days=length)}"}}


def _guests(*people: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{"email": ADDRESS, "displayName": "Mara Lindqvist", "responseStatus": "accepted",
                                    "organizer": True}]
    for n, person in enumerate(people):
        name, address, _ = parts(person)
        found.append({"email": address, "displayName": name,
                      "responseStatus": ("accepted", "needsAction", "tentative", "declined")[n % 4]})
    return found


def _recurring(calendars: Calendars, own: Calendar, apollo: Calendar, company: Calendar, support: Calendar) -> None:
    add = calendars.insert
    add(apollo, {"id": "standup0apollo", "summary": "Apollo stand-up", "location": ROOMS[0],
                 "recurrence": ["RRULE:FREQ=WEEKLY;BYDAY=MO,WE,FR"], "attendees": _guests(*PEOPLE[:3]),
                 **_timed(date(2025, 10, 1), "09:15", 15)})
    add(company, {"id": "fika0fridag", "summary": "Fredagsfika ☕", "location": "Café Zentral",
                  "recurrence": ["RRULE:FREQ=WEEKLY;BYDAY=FR;UNTIL=20261231T225959Z", "EXDATE;TZID=Europe/Stockholm:20251226T143000"],
                  **_timed(date(2025, 10, 3), "14:30", 30)})
    add(own, {"id": "board0meeting", "summary": "Board meeting", "description": "Numbers first, then <b>Apollo</b>.\nBring the quarterly report.",
              "recurrence": ["RRULE:FREQ=MONTHLY;BYDAY=2TU;COUNT=14"], "attendees": _guests(*PEOPLE[1:3]),
              **_timed(date(2025, 10, 14), "16:00", 120)})
    add(own, {"id": "birth0lukas", "summary": "Łukasz' birthday 🎂", "recurrence": ["RRULE:FREQ=YEARLY"],
              "transparency": "transparent", **_days(date(2020, 3, 14))})
    add(support, {"id": "rota0night", "summary": "Night rota", "recurrence": ["RRULE:FREQ=DAILY;INTERVAL=4"],
                  **_timed(date(2025, 10, 2), "20:00", 480, "America/New_York")})
    calendars.change(apollo, "standup0apollo_20260907T071500Z", {
        "summary": "Apollo stand-up (in the lab)", **_timed(date(2026, 9, 7), "10:30", 30)}, False)
    calendars.change(apollo, "standup0apollo_20260914T071500Z", {"location": "Roof / test stand"}, False)
    calendars.delete(apollo, "standup0apollo_20260909T071500Z")
    calendars.delete(own, "board0meeting_20260113T150000Z")


def _special(calendars: Calendars, own: Calendar, apollo: Calendar, company: Calendar, holidays: Calendar) -> None:
    """Events that test what must not break; they do not depend on the seed."""
    add = calendars.insert
    long = "A very long title about the certification of the ultrasonic anemometer in the climate chamber of Umeå university, part two"
    add(own, {"id": "notitle00", **_timed(date(2026, 9, 15), "08:00", 45)})
    add(own, {"id": "slashes00", "summary": "Q3/Q4 plan:\nsales\\support", "description": "first line\r\nsecond; with, commas\\",
              **_timed(date(2026, 9, 15), "08:00", 60)})
    add(own, {"id": "longtitle0", "summary": long, "description": "Wörter und mehr. " * 40, "location": ROOMS[1],
              **_timed(date(2026, 9, 16), "23:30", 90)})
    add(own, {"id": "pairs00001", "summary": "Interview", **_timed(date(2026, 9, 17), "10:00", 60)})
    add(own, {"id": "pairs00002", "summary": "Interview", **_timed(date(2026, 9, 17), "10:00", 60)})
    add(own, {"id": "vacation00", "summary": "Semester i Lofoten", **_days(date(2026, 7, 6), 12)})
    add(own, {"id": "cancelled0", "summary": "Called off", **_timed(date(2026, 9, 18), "09:00", 60)})
    calendars.delete(own, "cancelled0")
    add(own, {"id": "kishocall0", "summary": "Kisho センサー価格", "attendees": _guests("Kisho Sensors <accounts@kisho.example>"),
              **_timed(date(2026, 10, 1), "09:00", 60, "Asia/Tokyo")})
    add(own, {"id": "tentative0", "summary": "Maybe: fair in Hamburg", "status": "tentative", "visibility": "private",
              **_days(date(2026, 10, 20), 3)})
    add(apollo, {"id": "launch0000", "summary": "Apollo launch 🚀", "location": "Hamburg", "description": "Press at ten.",
                 "attendees": _guests(*PEOPLE), **_timed(date(2026, 9, 28), "10:00", 180)})
    add(company, {"id": "offsite000", "summary": "Offsite in Abisko", "location": "STF Turiststation", **_days(date(2026, 9, 23), 3)})
    add(company, {"id": "nolength00", "summary": "Deadline: certification", **_timed(date(2026, 9, 25), "17:00", 0)})
    for name, day in (("Nyårsdagen", date(2026, 1, 1)), ("Midsommardagen", date(2026, 6, 20)), ("Juldagen", date(2025, 12, 25)),
                      ("Sveriges nationaldag", date(2026, 6, 6)), ("Allhelgonadagen", date(2026, 10, 31))):
        add(holidays, {"summary": name, "transparency": "transparent", "visibility": "public", **_days(day)})


def _year(calendars: Calendars, rng: random.Random, choices: tuple[Calendar, ...], count: int) -> None:
    for n in range(count):
        calendar = rng.choice(choices)
        day = FIRST + timedelta(days=rng.randrange(DAYS))
        project = rng.choice(list(PROJECTS))
        topic, text = rng.choice(PROJECTS[project])
        body: dict[str, Any] = {"location": rng.choice(ROOMS) or None}
        kind = rng.random()
        if kind < 0.2:
            body["summary"] = rng.choice(PRIVATE)
        elif kind < 0.35:
            name, address = rng.choice(CUSTOMERS)
            body.update(summary=f"Call: {name}", attendees=_guests(f"{name} <{address}>", rng.choice(PEOPLE)))
        elif kind < 0.45:
            name, address, goods, price = rng.choice(SUPPLIERS)
            body.update(summary=f"{name}: {goods}", description=f"Price so far: EUR {price:.2f}. Write to {address}.")
        else:
            body.update(summary=rng.choice(TALKS).format(topic=topic, project=project), description=f"Agenda: {text}",
                        attendees=_guests(*rng.sample(PEOPLE, rng.randint(1, 4))))
        if rng.random() < 0.12:
            body.update(_days(day, rng.choice((1, 1, 2, 5))))
        else:
            clock = f"{rng.randrange(7, 19):02}:{rng.choice((0, 15, 30, 45)):02}"
            body.update(_timed(day, clock, rng.choice((15, 30, 45, 60, 90, 240)), calendar.entry["timeZone"]))
        if rng.random() < 0.05:
            body["colorId"] = str(rng.randint(1, 11))
        calendars.insert(calendar, {"id": f"event{n:05}", **body})
