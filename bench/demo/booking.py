"""The company's own service: who has booked the van, the climate chamber, the rooms. Its mount is booking.yaml."""
from __future__ import annotations

import datetime
import random
import re
from typing import TYPE_CHECKING, Any

from mirage.bench.company import PEOPLE, PROJECTS, parts
from mirage.bench.demo import NOW
from mirage.bench.services.clock import Clock
from mirage.bench.services.http import Response, Simulator

if TYPE_CHECKING:
    from mirage.bench.services.http import LogEntry, Request

TOKEN = "booking-simulator"
THINGS = ("Van", "Climate chamber", "Mast at the roof", "Meeting room Kebnekaise")
PAGE = 50


class Bookings(Simulator):
    """Things, their bookings in pages, one booking; POST books, DELETE gives back."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self.bookings: dict[int, dict[str, Any]] = {}
        rng = random.Random(3)
        topics = [f"{project}: {topic}" for project, told in PROJECTS.items() for topic, _ in told]
        for n in range(60):
            day = datetime.date.fromtimestamp(NOW) + datetime.timedelta(days=n // 2 - 20)
            self.add(1 + n % len(THINGS), f"{day}", parts(rng.choice(PEOPLE))[1], rng.choice(topics), NOW)

    def now(self) -> float:
        return self.clock.now()

    def add(self, thing: int, day: str, who: str, what_for: str, at: float) -> dict[str, Any]:
        id = max(self.bookings, default=0) + 1
        made = self.bookings[id] = {"id": id, "thing": thing, "day": day, "who": who, "for": what_for,
                                    "changed": f"{datetime.datetime.fromtimestamp(at, datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"}
        return made

    def handle(self, request: Request, entry: LogEntry) -> Response:
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return self.error(401, "who are you?")
        if request.path == "/things":
            return Response.of_json({"things": [{"id": n, "name": name} for n, name in enumerate(THINGS, 1)]})
        found = re.fullmatch(r"/(things|bookings)/(\d+)(/bookings)?", request.path)
        if not found:
            return self.error(404, "no such thing")
        number = int(found[2])
        if found[1] == "things":
            return self._thing(number, request)
        booking = self.bookings.get(number)
        if booking is None:
            return self.error(404, "no such booking")
        if request.method == "DELETE":
            del self.bookings[number]
        return Response.of_json({"booking": booking})

    def _thing(self, number: int, request: Request) -> Response:
        if not 1 <= number <= len(THINGS):
            return self.error(404, "no such thing")
        if request.method == "POST":
            given = request.json()
            if not re.fullmatch(r"\d{4}-\d\d-\d\d", str(given.get("day"))):
                return self.error(422, "day must be YYYY-MM-DD")
            made = self.add(number, given["day"], str(given.get("who", "")), str(given.get("for", "")), self.now())
            return Response.of_json(made, 201)
        page = int(request.first("page", "1"))
        mine = [b for b in self.bookings.values() if b["thing"] == number]
        return Response.of_json({"bookings": mine[PAGE * (page - 1):PAGE * page]})
