"""The Notion of Norrsken Instruments: a wiki, meeting notes, and tables of campaigns, tasks and customers."""
from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from mirage.bench.company import CUSTOMERS, FIRST, ME, PEOPLE, PROJECTS, SUPPLIERS, parts
from mirage.bench.demo import NOW
from mirage.bench.services.gmail.texts import REPLIES, TICKETS
from mirage.bench.services.notion.values import COLORS, rich, text

if TYPE_CHECKING:
    from mirage.bench.services.notion.workspace import Workspace

    Object = dict[str, Any]

__all__ = ["NOW", "fill"]
WORKSPACE: Object = {"type": "workspace", "workspace": True}
REGIONS = ("Norrland", "Skåne", "Zürich", "São Paulo", "Hokkaidō", "Tromsø", "Wien", "Galway", "Łódź", "Århus")
THEMES = ("Snow load", "Rain gauge", "Harbour wind", "Frost alarm", "School weather", "Vineyard", "Ski resort", "Airport", "Farm day", "Storm season")


def block(kind: str, content: str = "", **more: Any) -> Object:
    """A block of text."""
    return {"type": kind, kind: {"rich_text": rich(content), **more}}


def title(name: str) -> Object:
    return {"title": {"id": "title", "type": "title", "title": rich(name)}}


def _at(day: int, hour: int = 0) -> float:
    return (FIRST + timedelta(days=day, hours=hour)).timestamp()


def below(page: Object) -> Object:
    return {"type": "page_id", "page_id": page["id"]}


def fill(space: Workspace, seed: int = 1, rows: int = 5000) -> None:
    """Fill an empty workspace. The same seed gives the same; fewer rows also mean fewer meetings and tasks."""
    rng = random.Random(seed)
    space.me = space.add_user("Mirage", bot=True)
    people = [space.add_user(*parts(person)[:2]) for person in (ME, *PEOPLE)]
    small = rows < 1000
    _wiki(space, people)
    _formats(space, people)
    _odd(space, people)
    _meetings(space, rng, people, 5 if small else 40)
    campaigns(space, rng, people, rows)
    _tasks(space, rng, people, 8 if small else 160)
    _customers(space, rng, people)


def _wiki(space: Workspace, people: list[Object]) -> None:
    wiki = space.add_page(WORKSPACE, title("Wiki"), [
        block("heading_1", "Norrsken Instruments"), block("paragraph", "Everything that we know about weather stations."),
        {"type": "table_of_contents", "table_of_contents": {"color": "default"}}], at=_at(1), by=people[0]["id"],
        icon={"type": "emoji", "emoji": "📚"})
    engineering = space.add_page(below(wiki), title("Engineering"), [
        block("paragraph", "Firmware, enclosures, radio."), block("bulleted_list_item", "Ask Jonas for access to the lab")], at=_at(2))
    firmware = space.add_page(below(engineering), title("Firmware"), [
        block("heading_2", "Milestones"), *[block("numbered_list_item", text) for _, text in PROJECTS["Apollo"][:6]],
        block("code", "make flash SERIAL=NI-1042\n", language="shell")], at=_at(40))
    space.add_page(below(firmware), title("Rain gauge/calibration"), [
        block("paragraph", "Pour 100 ml in ten minutes; the quartz drifts by 0.42 kelvin per hour."),
        block("to_do", "Measure again in winter", checked=False), block("to_do", "Buy a pipette", checked=True)], at=_at(200))
    space.add_page(below(engineering), title("Radio"), [block("paragraph", "Spurious emissions at 868 MHz: see the lab's report.")], at=_at(60))
    hr = space.add_page(below(wiki), title("Büro & Personal"), [
        block("paragraph", "Urlaub, Reisekosten, Schlüssel."), block("quote", "Wer zuletzt geht, macht das Licht aus.")], at=_at(5))
    (columns,) = space.append(hr["id"], [{"type": "column_list", "column_list": {"children": [
        {"type": "column", "column": {"children": [block("paragraph", "left")]}},
        {"type": "column", "column": {"children": [block("paragraph", "right")]}}]}}], at=_at(5))
    right = space.listed(columns["id"])[1]
    space.add_page({"type": "block_id", "block_id": right["id"]}, title("Reisekosten (in einer Spalte)"),
                   [block("paragraph", "Second class, receipts within 30 days.")], at=_at(6))
    for n, (project, topics) in enumerate(PROJECTS.items()):
        page = space.add_page(below(wiki), title(project), [block("paragraph", f"Project {project}.")], at=_at(10 + n))
        space.append(page["id"], [block("toggle", topic, children=[block("paragraph", text)]) for topic, text in topics[:4]], at=_at(20 + n))


def _formats(space: Workspace, people: list[Object]) -> None:
    """One page with every kind of block."""
    page = space.add_page(WORKSPACE, title("How to write here"), [
        block("heading_1", "Formatting"),
        {"type": "paragraph", "paragraph": {"rich_text": [
            text("bold", bold=True), text(" and "), text("italic", italic=True), text(" and "), text("gone", strikethrough=True),
            text(" and "), text("code()", code=True), text(" and "), text("a link", "https://norrsken.example/a b"), text(" and "),
            {"type": "equation", "equation": {"expression": "E = mc^2"}},
            {"type": "mention", "mention": {"type": "user", "user": {"object": "user", "id": people[1]["id"]}}, "plain_text": "@Jonas Weiß"}]}},
        block("bulleted_list_item", "one", children=[block("bulleted_list_item", "one point one", children=[block("paragraph", "deep")])]),
        block("bulleted_list_item", "two"),
        block("numbered_list_item", "first", children=[block("numbered_list_item", "inner"), block("numbered_list_item", "inner two")]),
        block("numbered_list_item", "second"),
        block("to_do", "done", checked=True), block("to_do", "open", checked=False),
        block("toggle", "Click me", children=[block("paragraph", "hidden\nlines")]),
        block("quote", "To be\nor not", children=[block("paragraph", "a child of the quote")]),
        block("callout", "Careful with the mast!", icon={"type": "emoji", "emoji": "⚠️"}),
        block("code", "print('```')\nx = 1", language="python", caption=rich("an example")),
        {"type": "equation", "equation": {"expression": "v = \\frac{s}{t}"}},
        {"type": "divider", "divider": {}},
        {"type": "table", "table": {"table_width": 2, "has_column_header": True, "has_row_header": False, "children": [
            {"type": "table_row", "table_row": {"cells": [rich("Sensor"), rich("Drift")]}},
            {"type": "table_row", "table_row": {"cells": [rich("ultra|sonic"), [text("0.1", bold=True)]]}}]}},
        {"type": "image", "image": {"type": "external", "external": {"url": "https://norrsken.example/mast.png"}, "caption": rich("The mast")}},
        {"type": "file", "file": {"type": "external", "external": {"url": "https://norrsken.example/data.csv"}, "caption": [], "name": "data.csv"}},
        {"type": "bookmark", "bookmark": {"url": "https://weather.example/", "caption": []}},
        {"type": "synced_block", "synced_block": {"synced_from": None, "children": [block("paragraph", "synced text")]}}], at=_at(30),
        icon={"type": "emoji", "emoji": "✍️"})
    space.append(page["id"], [{"type": "link_to_page", "link_to_page": {"type": "page_id", "page_id": page["id"]}}], at=_at(31))


def _odd(space: Workspace, people: list[Object]) -> None:
    """Titles and sizes that test what must not break."""
    odd = space.add_page(WORKSPACE, title("Q3/Q4 plan"), [block("paragraph", "Slash in the title.")], at=_at(300))
    for name in ("", "Two\nlines", "Notes", "Notes", "notes", "..", "天気予報 ☔", "x" * 200, "Notes__2"):
        space.add_page(below(odd), title(name), [block("paragraph", f"content of {name[:20]!r}")] if name else [], at=_at(301))
    long = space.add_page(WORKSPACE, title("Log of the Abisko test"), at=_at(310), by=people[3]["id"])
    lines = [block("paragraph", f"{n // 12:02}:{n % 12 * 5:02} minus {n % 31} degrees, {'radio lost' if n % 50 == 7 else 'all well'}") for n in range(300)]
    for at in range(0, 300, 100):
        space.append(long["id"], lines[at:at + 100], at=_at(310))
    secret = space.add_page(WORKSPACE, title("Board only"), [block("paragraph", "Salaries")], at=_at(50))
    space.hidden.add(secret["id"])
    space.add_page(below(secret), title("Shared from the board"), [block("paragraph", "The dividend is EUR 0.40.")], at=_at(51))
    gone = space.add_page(WORKSPACE, title("Old draft"), [block("paragraph", "in the trash")], at=_at(52))
    gone["archived"] = gone["in_trash"] = True


def _meetings(space: Workspace, rng: random.Random, people: list[Object], count: int) -> None:
    meetings = space.add_page(WORKSPACE, title("Meeting notes"), [block("paragraph", "Newest at the end.")], at=_at(3))
    for n in range(count):
        project = rng.choice(tuple(PROJECTS))
        topic, content = rng.choice(PROJECTS[project])
        day = 7 + n * 350 // count
        space.add_page(below(meetings), title(f"{(FIRST + timedelta(days=day)):%Y-%m-%d} {project}: {topic}"), [
            block("heading_2", "Decisions"), block("paragraph", content[0].upper() + content[1:]),
            *[block("bulleted_list_item", rng.choice(REPLIES).format(topic=topic, project=project)) for _ in range(3)],
            block("heading_2", "To do"), block("to_do", f"{rng.choice(people)['name']}: follow up on {topic}", checked=bool(n % 2))], at=_at(day, 2))


def _options(kind: str, *names: str) -> Object:
    options = [{"id": f"{kind[0]}{n:03}", "name": name, "color": COLORS[n % len(COLORS)]} for n, name in enumerate(names)]
    return {"type": kind, kind: {"options": options}}


CAMPAIGN: Object = {
    "Campaign": {"title": {}}, "Start date": {"date": {}}, "End date": {"date": {}},
    "Locality": _options("select", "Local", "National", "International"),
    "Channel": _options("select", "Radio", "Print", "Search", "Social", "Fair", "Mail"),
    "Status": _options("status", "Planned", "Running", "Finished"), "Engagement rate": {"number": {"format": "number"}},
    "Click-through rate": {"number": {"format": "percent"}}, "Impressions": {"number": {}}, "Clicks": {"number": {}},
    "Conversions": {"number": {}}, "Budget": {"number": {"format": "euro"}}, "Spend": {"number": {"format": "euro"}},
    "Tags": _options("multi_select", "spring", "storm", "schools", "B2B", "neu"), "Owner": {"people": {}},
    "Landing page": {"url": {}}, "Contact": {"email": {}}, "Approved": {"checkbox": {}}, "Remarks": {"rich_text": {}}}


def campaigns(space: Workspace, rng: random.Random, people: list[Object], count: int) -> None:
    """The table of advertising campaigns: three share the best engagement rate of those begun in 2015 to 2023."""
    table = space.add_database(WORKSPACE, rich("Campaigns"), _copy(CAMPAIGN), at=_at(4), description=rich("Advertising since 2013"))
    schema = table["properties"]

    def chosen(name: str, value: Any) -> Any:
        options = schema[name][schema[name]["type"]]["options"]
        return next(dict(option) for option in options if option["name"] == value)
    best = {count // 5: "2017-05-29", count // 2: "2019-11-04", count * 4 // 5: "2022-02-14"}
    for n in range(count):
        start = datetime(2013, 1, 7, tzinfo=UTC) + timedelta(days=rng.randrange(4700))
        if not n % 11 and 2015 <= start.year <= 2023:
            start = start.replace(year=2024)
        rate = round(rng.uniform(0.5, 14.9), 1) if 2015 <= start.year <= 2023 else round(rng.uniform(0.5, 16.5), 1)
        locality = rng.choice(("Local", "National", "International"))
        if n in best:
            start, rate, locality = datetime.fromisoformat(best[n]), 15.0, ("National", "International")[n % 2]
        impressions, budget = rng.randrange(500, 400_000), rng.randrange(5, 400) * 100
        clicks = int(impressions * rate / 200)
        name = f"{rng.choice(THEMES)} {rng.choice(REGIONS)} {start:%Y}" if n % 97 else ("", "Sommer/Herbst", "50 % off, \"today\"")[n // 97 % 3]
        values: Object = {
            "Campaign": rich(name), "Start date": {"start": f"{start:%Y-%m-%d}", "end": None, "time_zone": None},
            "End date": {"start": f"{start + timedelta(days=30):%Y-%m-%d}", "end": None, "time_zone": None} if n % 7 else None,
            "Locality": chosen("Locality", locality), "Channel": chosen("Channel", rng.choice(("Radio", "Print", "Search", "Social", "Fair", "Mail"))),
            "Status": chosen("Status", "Finished" if start.year < 2026 else "Running"), "Engagement rate": rate if n % 53 else None,
            "Click-through rate": round(rate / 200, 4), "Impressions": impressions, "Clicks": clicks, "Conversions": clicks // 9,
            "Budget": budget, "Spend": round(budget * rng.uniform(0.6, 1.1), 2),
            "Tags": [chosen("Tags", tag) for tag in rng.sample(("spring", "storm", "schools", "B2B", "neu"), n % 3)],
            "Owner": [rng.choice(people)], "Landing page": f"https://norrsken.example/c/{n}", "Contact": rng.choice(CUSTOMERS)[1],
            "Approved": bool(n % 5), "Remarks": rich(rng.choice(TICKETS)[0] if n % 13 == 0 else "")}
        space.add_page({"type": "database_id", "database_id": table["id"]}, {
            key: {"id": schema[key]["id"], "type": schema[key]["type"], schema[key]["type"]: value} for key, value in values.items()},
            at=_at(4, 1) + n * 60, by=people[n % len(people)]["id"])


def _copy(schema: Object) -> Object:
    import copy
    return copy.deepcopy(schema)


def _table(space: Workspace, parent: Object, name: str, schema: Object, rows: list[tuple[Object, list[Object]]], day: int) -> Object:
    table = space.add_database(below(parent), rich(name), schema, at=_at(day))
    for values, content in rows:
        ready = {}
        for key, declared in table["properties"].items():
            value, kind = values[key], declared["type"]
            if kind in ("select", "status") and value is not None:
                value = next(dict(o) for o in declared[kind]["options"] if o["name"] == value)
            ready[key] = {"id": declared["id"], "type": kind, kind: rich(value) if kind in ("title", "rich_text") else value}
        space.add_page({"type": "database_id", "database_id": table["id"]}, ready, content, at=_at(day, 3))
    return table


def _tasks(space: Workspace, rng: random.Random, people: list[Object], count: int) -> None:
    operations = space.add_page(WORKSPACE, title("Operations"), [block("paragraph", "What is to be done.")], at=_at(8))
    rows = []
    for n in range(count):
        project = rng.choice(tuple(PROJECTS))
        topic, content = rng.choice(PROJECTS[project])
        due = FIRST + timedelta(days=rng.randrange(20, 380))
        rows.append(({"Task": f"{topic} ({n + 1})", "State": rng.choice(("To do", "Doing", "Done")), "Project": project,
                      "Due": {"start": f"{due:%Y-%m-%d}", "end": None, "time_zone": None}, "Who": [rng.choice(people)], "Points": rng.choice((1, 2, 3, 5, None))},
                     [block("paragraph", content), block("to_do", "ask the customer", checked=bool(n % 3))]))
    _table(space, operations, "Tasks", {
        "Task": {"title": {}}, "State": _options("status", "To do", "Doing", "Done"), "Project": _options("select", *PROJECTS),
        "Due": {"date": {}}, "Who": {"people": {}}, "Points": {"number": {}}}, rows, 9)


def _customers(space: Workspace, rng: random.Random, people: list[Object]) -> None:
    sales = space.add_page(WORKSPACE, title("Sales"), [block("paragraph", "Customers and suppliers.")], at=_at(12))
    rows: list[tuple[Object, list[Object]]]
    rows = [({"Name": name, "Mail": mail, "Stage": rng.choice(("Lead", "Offer", "Won", "Lost")), "Value": rng.randrange(10, 300) * 100,
              "Remarks": f"wants {thing}, station NI-{rng.randint(1000, 1099)}"}, [block("paragraph", f"Talked to {name}.")])
            for (name, mail), thing in zip(CUSTOMERS, ("ten stations", "an API key", "a discount", "training", "spare parts", "snow sensors"), strict=True)]
    rows += [({"Name": name, "Mail": mail, "Stage": None, "Value": price, "Remarks": f"supplier of {what}"}, []) for name, mail, what, price in SUPPLIERS]
    _table(space, sales, "CRM", {"Name": {"title": {}}, "Mail": {"email": {}}, "Stage": _options("select", "Lead", "Offer", "Won", "Lost"),
                                 "Value": {"number": {"format": "euro"}}, "Remarks": {"rich_text": {}}}, rows, 13)
