"""The Drive of Norrsken Instruments: the people, projects and suppliers of the mailbox in bench/services/gmail/seed.py."""
from __future__ import annotations

import hashlib
import random
from datetime import date, timedelta
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from mirage.bench import company
from mirage.bench.company import CUSTOMERS, FIRST, PEOPLE, PROJECTS, SUPPLIERS, parts
from mirage.bench.demo import NOW
from mirage.bench.services.gdrive.documents import Document, Paragraph, Presentation, Table
from mirage.bench.services.gdrive.grid import Spreadsheet, dated, money
from mirage.bench.services.gdrive.office import docx, pptx, xlsx
from mirage.bench.services.gdrive.store import DOC, FOLDER, SHEET, SHORTCUT, SLIDES, as_text
from mirage.bench.services.gmail.files import pdf, png
from mirage.bench.services.gmail.texts import REPLIES, TICKETS

if TYPE_CHECKING:
    from mirage.bench.services.gdrive.store import DriveStore

__all__ = ["ME", "NOW", "fill"]
ME = parts(company.ME)[1]
OFFICE = "application/vnd.openxmlformats-officedocument."
WORD, CALC, SHOW = OFFICE + "wordprocessingml.document", OFFICE + "spreadsheetml.sheet", OFFICE + "presentationml.presentation"
BIG = 10 << 20
STATIONS = ("Abisko", "Bergen", "Halle", "Skye", "Tromsø", "Trieste", "稚内")
TEAMS = ("Boston Bruins", "Buffalo Sabres", "Calgary Flames", "Chicago Blackhawks", "Colorado Avalanche", "Dallas Stars", "Detroit Red Wings",
         "Edmonton Oilers", "Florida Panthers", "Montreal Canadiens", "New York Rangers", "Ottawa Senators", "Seattle Kraken",
         "Toronto Maple Leafs", "Vancouver Canucks", "Winnipeg Jets")


class _Seed:
    def __init__(self, store: DriveStore, seed: int) -> None:
        self.store = store
        self.rng = random.Random(seed)
        self.count = 0

    def when(self) -> float:
        """A time in the year, later for every item."""
        self.count += 1
        return (FIRST + timedelta(hours=7 * self.count % 8600, minutes=self.count % 60)).timestamp()

    def folder(self, parent: str, name: str) -> str:
        return self.store.add(parent, name, FOLDER, at=self.when())

    def file(self, parent: str, name: str, kind: str, data: bytes, text: str | None = None, owner: str = "") -> str:
        return self.store.add(parent, name, kind, data, as_text(data, kind) if text is None else text, self.when(), owner)

    def text(self, parent: str, name: str, text: str, kind: str = "text/plain") -> str:
        return self.file(parent, name, kind, text.encode())

    def pdf(self, parent: str, name: str, title: str, text: str) -> str:
        return self.file(parent, name, "application/pdf", pdf(title, text), f"{title}\n{text}")

    def sheet(self, parent: str, title: str, tabs: dict[str, list[list[Any]]], owner: str = "") -> str:
        at = self.when()
        id = self.store.add(parent, title, SHEET, at=at, owner=owner)
        made = self.store.sheets[id] = Spreadsheet(id, title)
        for name, rows in tabs.items():
            made.add(name, rows)
        self.store.reindex(id, at)
        return id

    def document(self, parent: str, title: str, blocks: list[Paragraph | Table], owner: str = "") -> str:
        at = self.when()
        id = self.store.add(parent, title, DOC, at=at, owner=owner)
        made = self.store.documents[id] = Document(id, title, blocks)
        made.lists = {"kix.b0": [""] * 9, "kix.n0": ["DECIMAL", "ALPHA", "ROMAN"] * 3}
        self.store.reindex(id, at)
        return id

    def slides(self, parent: str, title: str, slides: list[tuple[str, list[str], str]]) -> str:
        at = self.when()
        id = self.store.add(parent, title, SLIDES, at=at)
        self.store.presentations[id] = Presentation(id, title, slides)
        self.store.reindex(id, at)
        return id

    def shortcut(self, parent: str, name: str, target: str) -> str:
        kind = self.store.files[target].resource["mimeType"]
        return self.store.add(parent, name, SHORTCUT, at=self.when(), shortcutDetails={"targetId": target, "targetMimeType": kind})


def fill(store: DriveStore, seed: int = 1, count: int = 300) -> None:
    """Put about `count` items into an empty Drive. The same seed gives the same."""
    make = _Seed(store, seed)
    finance = _finance(make)
    projects = _projects(make)
    _people(make)
    _odd(make)
    _shared(make, finance, projects)
    _fun(make)
    field = make.folder("root", "Field data")
    made = {}
    for number in range(max(0, count - len(store.files))):
        station = STATIONS[number % len(STATIONS)]
        if station not in made:
            made[station] = make.folder(field, station)
        day = FIRST.date() + timedelta(days=number * 3 % 360)
        _measurements(make, made[station], station, day, number)


def _measurements(make: _Seed, folder: str, station: str, day: date, number: int) -> None:
    if number % 9 == 8:
        make.file(folder, f"webcam {day}.png", "image/png", png(number), "")
    elif number % 9 == 7:
        make.pdf(folder, f"Visit {day}.pdf", f"Service visit {station}", f"{make.rng.choice(REPLIES).format(topic='the anemometer', project='Apollo')}\nBattery 11 percent.")
    elif number % 9 == 6:
        rows: list[list[Any]] = [["Hour", "Wind m/s", "Humidity"], *([hour, round(make.rng.uniform(0, 30), 1), make.rng.randint(20, 99)] for hour in range(0, 24, 6))]
        make.sheet(folder, f"Station {day}", {"Hours": [*rows, ["Mean", f"=AVERAGE(B2:B{len(rows)})", ""]]})
    else:
        lines = "".join(f"{day}T{hour:02}:00Z,{make.rng.uniform(-30, 25):.1f},{make.rng.uniform(0, 30):.1f}\n" for hour in range(24))
        make.text(folder, f"{day}.csv", "time,temperature,wind\n" + lines, "text/csv")


def _finance(make: _Seed) -> str:
    finance = make.folder("root", "Finance")
    budget: list[list[Any]] = [["Item", "Planned", "Spent", "Left"]]
    for row, (item, planned) in enumerate((("Staff", 128000.0), ("Sensors", 41000.0), ("Certification", 23500.5), ("Travel", 18000.0), ("Fair in Hamburg", 9500.0)), 2):
        budget.append([item, money(planned), money(round(planned * 0.37, 2)), f"=B{row}-C{row}"])
    budget.append(["Total", "=SUM(B2:B6)", "=SUM(C2:C6)", "=B7-C7"])
    sheet = make.sheet(finance, "Budget 2026", {"Apollo": budget, "Ändringar & Q3/Q4": [["Date", "What"], [dated(date(2026, 3, 3)), "certificate, \"urgent\""], [dated(date(2026, 9, 28)), "launch\nin Hamburg"]], "Empty": []})
    make.store.permit(make.store.files[sheet], "aicha@norrsken.example", "writer")
    invoices = make.folder(finance, "Invoices")
    for month in range(12):
        day = date(2025 + (9 + month) // 12, (9 + month) % 12 + 1, 1)
        folder = make.folder(invoices, f"{day:%Y-%m}")
        for n, (name, _, item, price) in enumerate(SUPPLIERS):
            if (month + n) % 2:
                amount = round(price * make.rng.uniform(1, 4), 2)
                number = f"{day:%y%m}{n:02}"
                make.pdf(folder, f"{number} {name}.pdf", f"Invoice {number}", f"{name}\n{item}: EUR {amount}\nDue in 30 days.")
    rows: list[list[Any]] = [["Invoice", "Supplier", "Date", "Net", "Paid"]]
    for n in range(60):
        name, _, _, price = SUPPLIERS[n % len(SUPPLIERS)]
        rows.append([f"I-{1000 + n}", name, dated(FIRST.date() + timedelta(days=6 * n)), money(round(price * (1 + n % 5), 2)), n % 3 != 0])
    make.sheet(finance, "Ledger", {"2026": rows})
    make.file(finance, "Price list.xlsx", CALC, xlsx({"Prices": [["Product", "EUR"], ["Apollo", 2490], ["Apollo, ten or more", 2340.5]], "Notes": [["Valid until"], ["Christmas"]]}),
              "Prices Product EUR Apollo 2490 Apollo, ten or more 2340.5 Notes Valid until Christmas")
    return finance


def _projects(make: _Seed) -> dict[str, str]:
    top, found = make.folder("root", "Projects"), {}
    for project, topics in PROJECTS.items():
        folder = found[project] = make.folder(top, project)
        notes = make.folder(folder, "Notes")
        for n, (topic, text) in enumerate(topics):
            who = PEOPLE[n % len(PEOPLE)].partition(" <")[0]
            make.document(notes, topic, [
                Paragraph([(topic, {})], "TITLE"), Paragraph([("Written by ", {}), (who, {"bold": True}), (f" for {project}.", {})]),
                Paragraph([("Decision", {})], "HEADING_2"), Paragraph([(text, {})]),
                *(Paragraph([(reply.format(topic=topic, project=project), {})], bullet=("kix.b0", k % 2))
                  for k, reply in enumerate(make.rng.sample(REPLIES, 2))), Paragraph([])])
        make.slides(folder, f"{project} board meeting", [
            (f"{project}: where we are", ["On time", "Within the budget", topics[0][0]], "Say thank you to Søren."),
            ("Risks", [topic for topic, _ in topics[-3:]], "")])
        make.text(folder, "README.md", f"# {project}\n\n" + "".join(f"- {topic}: {text}\n" for topic, text in topics), "text/markdown")
        make.text(folder, "config.json", f'{{"project": "{project.lower()}", "interval": 600, "codename": "fjällräv"}}\n', "application/json")
        make.file(folder, "sensor board.bin", "application/octet-stream", hashlib.shake_128(project.encode()).digest(4096), "")
    make.document(found["Apollo"], "Field manual", _manual())
    make.document(found["Apollo"], "Launch plan", [Paragraph([("Launch plan", {})], "HEADING_1"),
        Paragraph([("We launch on 28 September. See ", {}), ("the wiki", {"link": {"url": "https://wiki.norrsken.example/quokka"}}), (".", {})])])
    document = make.store.documents[make.store.find("name = 'Launch plan'")[0].resource["id"]]
    document.tabs = [("Menü", [Paragraph([("Gravlax and ", {}), ("Zimtschnecken", {"italic": True})])])]
    make.store.reindex(document.id, make.when())
    return found


def _manual() -> list[Paragraph | Table]:
    """Everything that the Markdown has a form for."""
    return [
        Paragraph([("Field manual", {})], "TITLE"), Paragraph([("For the ", {}), ("Apollo", {"bold": True, "italic": True}), (" station", {})], "SUBTITLE"),
        Paragraph([("Setting up", {})], "HEADING_1"),
        Paragraph([("Dig a hole", {})], bullet=("kix.n0", 0)), Paragraph([("two spades deep", {})], bullet=("kix.n0", 1)),
        Paragraph([("Raise the mast ", {}), ("carefully", {"italic": True})], bullet=("kix.n0", 0)),
        Paragraph([("Tools", {})], "HEADING_2"),
        Paragraph([("spade", {})], bullet=("kix.b0", 0)), Paragraph([("13 mm spanner", {})], bullet=("kix.b0", 1)),
        Paragraph([("Never ", {"bold": True}), ("in a storm", {"strikethrough": True}), (" alone. Type ", {}), ("make flash", {"weightedFontFamily": {"fontFamily": "Courier New"}}),
                   (" first; see ", {}), ("the drawings", {"link": {"url": "https://wiki.norrsken.example/masts"}}), (".", {})]),
        Table([["Part", "Torque | Nm"], ["mast", "25"], ["sensor\nhead", "4"]]),
        Paragraph([("Ask ", {}), {"person": {"personId": "p1", "personProperties": {"name": "Søren Dahl", "email": "soren@norrsken.example"}}}, (" before noon.\vHe knows.", {})]),
        Paragraph([{"horizontalRule": {}}]), Paragraph([("風速計 🌬", {})], "HEADING_3"), Paragraph([])]


def _people(make: _Seed) -> None:
    hr = make.folder("root", "HR")
    for person in PEOPLE:
        name = person.partition(" <")[0]
        make.file(hr, f"Contract {name}.docx", WORD, docx(
            [("Title", "Employment contract"), ("Normal", f"between Norrsken Instruments and *{name}*."), ("Heading1", "Duties"),
             ("ListBullet", "Measure the weather"), ("ListBullet", "Answer customers")], [["Year", "Salary"], ["2026", "EUR 54,000"]]),
            f"Employment contract between Norrsken Instruments and {name}. Duties Measure the weather Answer customers Year Salary 2026 EUR 54,000")
    make.file(hr, "Welcome.pptx", SHOW, pptx([("Välkommen!", ["Your first day", "Fika at 3"]), ("Keys", ["Ask Elena for the lab"])]),
              "Välkommen! Your first day Fika at 3 Keys Ask Elena for the lab")
    support = make.folder("root", "Support")
    for n, (customer, address) in enumerate(CUSTOMERS):
        title, text = TICKETS[n % len(TICKETS)]
        make.text(support, f"{customer}.txt", f"From: {address}\nSubject: {title}\n\n{text.format(serial=f'NI-{100 + n}', name=customer)}")


def _odd(make: _Seed) -> None:
    """Names and files that are hard."""
    odd = make.folder("root", "Übrigens: odd / names")
    for text in ("first\n", "second\n"):
        make.text(odd, "notes.txt", text)
    make.text(odd, "NOTES.txt", "third, in capitals\n")
    make.text(odd, "", "no name\n")
    make.text(odd, "Q3/Q4 drift.csv", "hour,kelvin\n1,0.42\n", "text/csv")
    make.text(odd, "two\nlines.txt", "a name of two lines\n")
    make.text(odd, "..", "dots\n")
    make.text(odd, "x" * 140 + ".txt", "a long name\n")
    make.text(odd, "Übersicht.txt", "decomposed\n")
    make.text(odd, "it's \"quoted\" \\ $HOME.txt", "quotes\n")
    make.text(odd, "empty.txt", "")
    make.document(odd, "Plan", [Paragraph([("Plan A", {})])])
    make.text(odd, "Plan.md", "# Plan B\n", "text/markdown")
    make.sheet(odd, "Same", {"Tab": [["one"]]})
    make.sheet(odd, "Same", {"Tab": [["two"]], "a/b": [["x", "=A1"], ["=1/0"]], "A/B": [["y"]]})
    make.store.add(odd, "Feedback", "application/vnd.google-apps.form", at=make.when())
    make.store.add(odd, "Mast", "application/vnd.google-apps.drawing", at=make.when())
    make.folder(odd, "Twins")
    make.folder(odd, "Twins")
    make.folder(odd, ".shared")
    make.file(odd, "broken.pdf", "application/pdf", b"%PDF-1.4\nnot really", "")
    make.text("root", "todo.txt", "Buy sensors\nCall Kisho\n")
    film = make.folder("root", "Films")
    make.store.add(film, "drone.mp4", "video/mp4", partial(_film), at=make.when())
    gone = make.folder("root", "Old stuff")
    make.text(gone, "inside.txt", "below a folder in the trash\n")
    trashed = make.text("root", "Budget 2024 (old).txt", "nobody needs it\n")
    for id in (gone, trashed):
        make.store.files[id].resource["trashed"] = True
    make.store.settle()


@cache
def _film() -> bytes:
    return hashlib.shake_128(b"drone footage").digest(BIG)


def _shared(make: _Seed, finance: str, projects: dict[str, str]) -> None:
    sales = make.store.add_drive("Sales / Försäljning")
    make.store.add_drive("Empty drive")
    offers = make.folder(sales, "Offers")
    for n, (customer, _) in enumerate(CUSTOMERS):
        make.document(offers, f"Offer {customer}", [Paragraph([(f"Offer for {customer}", {})], "HEADING_1"), Paragraph([(f"{n + 1} stations at EUR 2,490", {})])])
    make.sheet(sales, "Pipeline", {"2026": [["Customer", "Stage"], *([customer, ("lead", "offer", "won")[n % 3]] for n, (customer, _) in enumerate(CUSTOMERS))]})
    foreign = make.document("", "Partner agreement", [Paragraph([("Partner agreement", {})], "TITLE"), Paragraph([("Both partners like lingonberries.", {})])], owner="legal@kisho.example")
    make.store.permit(make.store.files[foreign], ME, "reader")
    links = make.folder("root", "Links")
    budget = next(f for f in make.store.children(finance) if f.resource["name"] == "Budget 2026")
    make.shortcut(links, "The budget", budget.resource["id"])
    make.shortcut(links, "Apollo", projects["Apollo"])
    make.shortcut(links, "Agreement", foreign)
    make.shortcut(links, "Offers", offers)
    make.shortcut(links, "Gone", make.store.find("name = 'Budget 2024 (old).txt'")[0].resource["id"])


def _fun(make: _Seed) -> None:
    """A long table: a season of ice hockey for the office pool."""
    rows: list[list[Any]] = [["Date", "Start (ET)", "Visitor", "G", "Home", "G", "Status", "Notes"]]
    rng = random.Random(7)
    for n in range(420):
        home, away = rng.sample(TEAMS, 2)
        goals = [rng.randint(0, 6), rng.randint(0, 6)]
        rows.append([dated(date(2025, 10, 7) + timedelta(days=n // 3)), ("7:00 PM", "7:30 PM", "10:00 PM")[n % 3], away, goals[0], home, goals[1],
                     "Regulation" if goals[0] != goals[1] else "Overtime", ""])
    pool = make.folder("root", "Office pool")
    make.sheet(pool, "NHL schedule 2025-26", {"Schedule": rows, "Guesses": [["Who", "Points"], *([p.partition(" <")[0], 10 + n] for n, p in enumerate(PEOPLE))]})
