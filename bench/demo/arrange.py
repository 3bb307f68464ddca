"""The demo's own order: what lies in the root of a simulator goes below less, so that two levels of all fit a screen."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mirage.bench.services.gcal import CalendarSimulator
    from mirage.bench.services.gdrive import DriveSimulator
    from mirage.bench.services.gmail import GmailSimulator
    from mirage.bench.services.notion import NotionSimulator

LABELS = ("Alerts", "Customers", "HR", "Invoices")           # go below OFFICE
OFFICE = "Office"
CALENDARS = ("Helgdagar i Sverige", "Ideas", "Support rota")     # are left out
FOLDERS = {"Field data": "Projects", "Support": "Projects", "HR": "Finance"}     # the rest goes below REST
REST = "Office pool"
PAGES = {"Campaigns": "Sales", "Q3/Q4 plan": "Operations", "Log of the Abisko test": "Operations",
         "Meeting notes": "Wiki", "How to write here": "Wiki", "Shared from the board": "Wiki"}


def mail(simulator: GmailSimulator) -> None:
    box = simulator.mailbox
    for id, name in box.labels.items():
        if name in LABELS:
            box.labels[id] = f"{OFFICE}/{name}"


def calendar(simulator: CalendarSimulator) -> None:
    known = simulator.calendars.calendars
    for id in [id for id, found in known.items() if found.entry["summary"] in CALENDARS]:
        del known[id]


def drive(simulator: DriveSimulator) -> None:
    store = simulator.store
    top = {file.resource["name"]: file.resource for file in store.children(store.root)}
    for name, resource in top.items():
        above = FOLDERS.get(name, REST)
        if name not in {REST, *FOLDERS.values()}:
            resource["parents"] = [top[above]["id"]]


def notion(simulator: NotionSimulator) -> None:
    from mirage.bench.services.notion.workspace import title_of
    space = simulator.workspace
    items: dict[str, Any] = {**space.pages, **space.databases}
    places = {title_of(item): id for id, item in items.items() if item["parent"]["type"] == "workspace"}
    for id, item in items.items():
        above = PAGES.get(title_of(item), "")
        if above and (item["parent"]["type"] == "workspace" or item["parent"].get("page_id") in space.hidden):
            item["parent"] = {"type": "page_id", "page_id": places[above]}
            space.children[places[above]].append(id)
