"""A year in the Linear of Norrsken Instruments: three teams, two projects, cycles of two weeks."""
from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from mirage.bench.company import CUSTOMERS, FIRST, FOUNDER, ME, PEOPLE, PROJECTS, parts
from mirage.bench.demo import NOW
from mirage.bench.services.gmail.texts import BUILDS, REPLIES, TICKETS
from mirage.bench.services.linear.workspace import PROJECT_STATES, STATES

if TYPE_CHECKING:
    from mirage.bench.services.linear.workspace import Workspace

__all__ = ["NOW", "fill"]
TEAMS = (("ENG", "Engineering", "Firmware, enclosures, cloud"), ("SUP", "Support", "Customers and their stations"),
         ("OPS", "Büro & Betrieb", None))
LABELS = (("Bug", None), ("Feature", None), ("Kundenwunsch", "SUP"), ("Certification", "ENG"))


def _at(day: float, hour: float = 0.0) -> float:
    return (FIRST + timedelta(days=day, hours=hour)).timestamp()


def fill(space: Workspace, seed: int = 1, issues: int = 300) -> None:
    """Put about `issues` issues into an empty workspace. The same seed gives the same."""
    rng = random.Random(seed)
    people = [_person(space, ME, admin=True), *(_person(space, person) for person in PEOPLE)]
    space.me = people[0]
    gone = _person(space, FOUNDER, active=False)
    teams = {}
    for n, (key, name, about) in enumerate(TEAMS):
        members = people if key == "ENG" else people[n::2]
        team = space.add("team", _at(0), key=key, name=name, description=about, private=False, timezone="Europe/Stockholm",
                         cyclesEnabled=key == "ENG", memberIds=members)
        teams[key] = team
        for position, (state, kind) in enumerate(STATES):
            space.add("state", _at(0), name=state, type=kind, position=float(position), color="#95a2b3", teamId=team["id"])
    labels = [space.add("label", _at(0), name=name, color="#eb5757", description=None, isGroup=False,
                        teamId=teams[key]["id"] if key else None) for name, key in LABELS]
    for name, kind in PROJECT_STATES:
        space.add("projectStatus", _at(0), name=name, type=kind)
    started = next(s["id"] for s in space.items["projectStatus"].values() if s["type"] == "started")
    projects = {}
    for n, name in enumerate((*PROJECTS, "Q4/Fair\nHamburg", "Apollo")):
        projects[name, n] = space.add("project", _at(n), name=name, slugId=f"{n:02}c0ffee{n:04}", description=f"Everything about {name.split()[0]}",
                                      content=f"# {name.split()[0]}\n\nSee the wiki.", state="started", statusId=started, progress=n / 10,
                                      priority=n % 4, startDate="2025-10-01", targetDate="2026-09-28" if n else None, leadId=people[n],
                                      teamIds=[teams["ENG"]["id"], *([teams["SUP"]["id"]] if n == 1 else [])])
    cycles = [space.add("cycle", _at(14 * n), number=n + 1, name="Abisko/winter" if n == 4 else None, description=None,
                        startsAt=space.stamp(_at(14 * n)), endsAt=space.stamp(_at(14 * n + 14)), completedAt=space.stamp(_at(14 * n + 14)) if n < 25 else None,
                        progress=1.0 if n < 25 else 0.3, teamId=teams["ENG"]["id"]) for n in range(27)]
    _special(space, teams, people, labels, projects, gone)
    _year(space, rng, teams, people, labels, projects, cycles, max(0, issues - 20))


def _person(space: Workspace, text: str, admin: bool = False, active: bool = True) -> str:
    name, address, short = parts(text)
    user = space.add("user", _at(0), name=name, displayName=short, email=address, active=active, admin=admin, guest=False,
                     timezone="Europe/Stockholm", url=f"https://linear.app/norrsken/profiles/{short}")
    return str(user["id"])


def _special(space: Workspace, teams: Any, people: list[str], labels: Any, projects: Any, gone: str) -> None:
    """Issues that test what must not break; their keys and times do not depend on the seed."""
    eng = teams["ENG"]["id"]

    def issue(title: str, day: float, description: str | None = None, **more: Any) -> Any:
        return space.create_issue(_at(day), more.pop("creator", people[1]), teamId=more.pop("teamId", eng), title=title, description=description, **more)
    apollo = next(iter(projects.values()))
    drift = issue("Drift of the quartz", 1, "0.42 kelvin per hour.\nSee **the plot** and `drift.csv`.\n\n- [ ] measure again\n", priority=1,
                  assigneeId=people[4], labelIds=[labels[0]["id"], labels[3]["id"]], projectId=apollo["id"], dueDate="2025-11-01", estimate=3)
    first = space.comment(drift["id"], "Measured it twice.\nSame value.", people[4], at=_at(2))
    space.comment(drift["id"], "Same here: \"quoted\" \\ back", people[2], parent=first["id"], at=_at(2, 1))
    space.add("attachment", _at(2), issueId=drift["id"], title="Plot of the lab", url="https://norrsken.example/plot.png")
    issue("Emulate/replay the rain gauge", 2, parentId=drift["id"])
    issue("", 2, "an issue without a title", creator=gone)
    issue("Two\nlines", 3, None)
    for n in range(2):
        issue("Same title", 3 + n, f"number {n}")
    issue("天気予報 ☔ zeigt Grüße", 4, "Übersetzung fehlt: żółć")
    issue("x" * 200, 4, "long title")
    issue("Long text", 5, "\n".join(f"{n}: minus {n % 31} degrees" for n in range(1500)))
    chatty = issue("Which enclosure?", 6, "Please vote.", assigneeId=people[0])
    for n in range(120):
        space.comment(chatty["id"], f"vote {n}: {'printed' if n % 3 else 'metal'}", people[n % 7], at=_at(6, n / 60))
    old = issue("Archived long ago", 7, "not listed")
    old["archivedAt"] = space.stamp(_at(100))


def _year(space: Workspace, rng: random.Random, teams: Any, people: list[str], labels: Any, projects: Any, cycles: Any, count: int) -> None:
    for made in range(count):
        day, kind = 10 + made * 350 // max(count, 1), rng.random()
        more: dict[str, Any] = {}
        if kind < 0.5:
            project = rng.choice(list(projects.values())[:2])
            topic, text = rng.choice(PROJECTS[project["name"]])
            key, title, more["projectId"] = "ENG", f"{topic}: {rng.choice(('follow-up', 'decide', 'document', 'test'))}", project["id"]
            more["cycleId"] = cycles[min(day // 14, 26)]["id"]
        elif kind < 0.85:
            customer, address = rng.choice(CUSTOMERS)
            title, text = rng.choice(TICKETS)
            key, topic, text = "SUP", title, text.format(serial=f"NI-{rng.randint(1000, 1099)}", name=f"{customer} ({address})")
        elif kind < 0.93:
            branch, step, reason = rng.choice(BUILDS)
            key, topic, title, text = "ENG", "the build", f"{branch} fails in {step}", f"```\n{reason}\n```\n"
            more["labelIds"] = [labels[0]["id"]]
        else:
            key, topic, title, text = "OPS", "the office", rng.choice(("Kaffeemaschine entkalken", "New key for the lab", "Plantes à arroser")), ""
        team = teams[key]
        states = space.related(team, "states")
        state = states[4] if day < 330 and rng.random() < 0.8 else rng.choice(states)
        issue = space.create_issue(_at(day, rng.random() * 9), rng.choice(people), teamId=team["id"], title=title, description=text or None,
                                   priority=rng.randrange(5), stateId=state["id"], assigneeId=rng.choice([*team["memberIds"], None]), **more)
        for n in range(rng.choice((0, 0, 1, 2, 4))):
            space.comment(issue["id"], rng.choice(REPLIES).format(topic=topic, project="Norrsken"), rng.choice(people), at=_at(day + 1, n))
