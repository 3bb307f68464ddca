"""A year in the Slack of Norrsken Instruments: the people of the mailbox in bench/services/gmail/seed.py."""
from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from mirage.bench.company import CUSTOMERS, FIRST, FOUNDER, ME, MY_TITLE, PEOPLE, PROJECTS, TITLES, parts
from mirage.bench.demo import NOW
from mirage.bench.services.gmail.files import pdf, png
from mirage.bench.services.gmail.texts import BUILDS, PRIVATE, REPLIES, TICKETS

if TYPE_CHECKING:
    from mirage.bench.services.slack.workspace import Workspace

__all__ = ["NOW", "fill"]
DAYS = 363
EMOJI = ("tada", "eyes", "+1", "white_check_mark", "thinking_face", "rainbow")
SMALL_TALK = ("Who has the key to the roof?", "The coffee machine is broken again :coffee:", "Lunch at *Café Zentral* at 12?",
              "Snow in Abisko, 31° below. Photos tonight.", "Reminder: time sheets until Friday", "Fika in 10 minutes — kanelbullar!",
              "Does anybody have an adapter, USB-C → HDMI?", "天気予報: 雨のち晴れ ☔", "New stickers are at the front desk 🎉")
CHANNELS = (("C01GENERAL", "general", "Company-wide announcements"), ("C02APOLLO", "apollo", "Station without moving parts"),
            ("C03BOREALIS", "borealis", "The new data platform"), ("C04SUPPORT", "support", "Customers and their stations"),
            ("C05RANDOM", "random", "Everything else"), ("C06BUILDS", "builds", "What the build server says"),
            ("C07BUERO", "büro-umeå", "Möbel, nycklar, växter"), ("C08EMPTY", "new-ideas", ""))


def fill(space: Workspace, seed: int = 1, count: int = 900) -> None:
    """Put about `count` messages (replies included) into an empty workspace. The same seed gives the same."""
    rng = random.Random(seed)
    people = _people(space)
    for id, name, purpose in CHANNELS:
        space.add_conversation(id, name=name, is_channel=True, is_private=False, is_archived=False,
                               purpose={"value": purpose}, num_members=len(people))
    space.add_conversation("C09FAIR", name="fair-2025", is_channel=True, is_private=False, is_archived=True,
                           purpose={"value": "Hamburg fair"}, num_members=4)
    space.add_conversation("C10OTHERS", member=False, name="others", is_channel=True, is_private=False, is_archived=False,
                           purpose={"value": "a channel without us"}, num_members=2)
    space.add_conversation("G01LEAD", name="leadership", is_channel=True, is_private=True, is_archived=False,
                           purpose={"value": "Mara, Priya, Aïcha"}, num_members=3)
    for n, id in enumerate(people[1:], 1):
        space.add_conversation(f"D{n:02}WITH{id[3:]}", is_im=True, user=id, is_user_deleted=False)
    space.add_conversation("G02GROUP", name="mpdm-mara--jonas--priya-1", is_mpim=True, is_private=True, num_members=3)
    _special(space)
    _year(space, rng, people, max(0, count - 30))


def _people(space: Workspace) -> list[str]:
    space.me = "U01MARA"
    name, address, login = parts(ME)
    space.add_user("U01MARA", login, name, address, MY_TITLE, is_admin=True)
    ids = ["U01MARA"]
    for n, (person, title) in enumerate(zip(PEOPLE, TITLES, strict=True), 2):
        name, address, login = parts(person)
        ids.append(f"U{n:02}{login.upper()}")
        space.add_user(ids[-1], login, name, address, title)
    space.add_user("U20BUILD", "build/release", "Build / Release", is_bot=True)
    name, address, login = parts(FOUNDER)
    space.add_user("U21GONE", login, name, address, "Founder", deleted=True)
    return ids


def _ts(day: float, hour: int = 9, minute: int = 0, part: int = 0) -> str:
    at = FIRST + timedelta(days=int(day), hours=hour - 8, minutes=minute)
    return f"{int(at.timestamp())}.{part:06}"


def _special(space: Workspace) -> None:
    """Messages that test what must not break; their ids and times do not depend on the seed."""
    def file(id: str, name: str, kind: str, content: bytes, day: int, **more: Any) -> dict[str, Any]:
        return space.add_file(id, name, kind, content, "U02JONAS", int(float(_ts(day))), **more)

    parent = _ts(356, 9, 0, 119)
    space.add_message("C02APOLLO", "U02JONAS", "The drift is back. <@U03PRIYA> can you look at <#C04SUPPORT|support>? "
                      "See <https://wiki.norrsken.example/drift|the wiki> &amp; the plot.", parent, files=[
                          file("F001PLOT", "drift plot.png", "image/png", png(4), 356),
                          file("F002DATA", "q3/q4 drift.csv", "text/csv", b"hour,kelvin\n1,0.42\n", 356)])
    space.add_message("C02APOLLO", "U03PRIYA", "It is the quartz again: 0.42 kelvin per hour.", _ts(356, 9, 40, 0), thread=parent,
                      files=[file("F003TEXT", "notes.txt", "text/plain", "Temperaturdrift: Quarz prüfen.\n".encode(), 356)])
    space.add_message("C02APOLLO", "U05SOREN", "Measured it twice.\nSame value.", _ts(357, 7, 5, 0), thread=parent,
                      files=[file("F004TEXT", "notes.txt", "text/plain", b"second notes\n", 357)],
                      reactions=[{"name": "eyes", "users": ["U01MARA"], "count": 1}])
    space.add_message("C01GENERAL", "U01MARA", "Apollo ships on Monday! Champagne at four. :champagne:", _ts(358, 15),
                      reactions=[{"name": "tada", "users": ["U02JONAS", "U07ELENA"], "count": 2}])
    space.add_message("C01GENERAL", "U01MARA", "<!channel> a &lt; b &amp;&amp; \"quoted\" \\ back", _ts(359, 8), edited={"user": "U01MARA", "ts": _ts(359, 8, 1)})
    space.add_message("C01GENERAL", "U21GONE", "Goodbye, it was a pleasure.", _ts(30, 16))
    space.add_message("C01GENERAL", "U04AICHA", "The travel policy is on the drive.", _ts(360, 9), files=[
        file("F005DRIVE", "policy", "application/vnd.google-apps.document", b"", 360, mode="external", is_external=True,
             url_private="https://docs.example/policy", url_private_download="https://docs.example/policy"),
        file("F006PDF", "Reiserichtlinie.pdf", "application/pdf", pdf("Travel", "second class"), 360),
        file("F007BIG", "recording.bin", "application/octet-stream", bytes(range(256)) * 8192, 360)])
    space.add_message("C07BUERO", "U07ELENA", "¿Quién riega las plantas? 🌱", _ts(361, 10))
    space.add_message("C09FAIR", "U07ELENA", "Booth 12 is ours.", _ts(20, 10))
    space.add_message("C10OTHERS", "U02JONAS", "Surprise party for Mara", _ts(340, 10))
    space.add_message("G01LEAD", "U04AICHA", "Salaries: the budget grows by 4 percent.", _ts(350, 9))
    space.add_message("G02GROUP", "U03PRIYA", "Shall we three talk before the board?", _ts(351, 9))
    space.add_message("D01WITHJONAS", "U02JONAS", "Can I take Friday off?", _ts(352, 9))
    space.add_message("D01WITHJONAS", "U01MARA", "Of course.", _ts(352, 9, 4))


def _year(space: Workspace, rng: random.Random, people: list[str], count: int) -> None:
    made = 0
    while made < count:
        day, hour, minute, part = rng.randrange(DAYS), rng.randrange(7, 17), rng.randrange(60), made + 200
        ts, who = _ts(day, hour, minute, part), rng.choice(people)
        kind = rng.random()
        channel, topic, project = "C05RANDOM", "lunch", "Norrsken"
        if kind < 0.42:
            channel, project = rng.choice((("C02APOLLO", "Apollo"), ("C03BOREALIS", "Borealis")))
            topic, text = rng.choice(PROJECTS[project])
            text = f"*{topic}*: {text}"
        elif kind < 0.6:
            channel, topic = "C04SUPPORT", "the ticket"
            customer, address = rng.choice(CUSTOMERS)
            title, _ = rng.choice(TICKETS)
            text = f"{customer} (<mailto:{address}|{address}>): {title}, station NI-{rng.randint(1000, 1099)}"
        elif kind < 0.7:
            branch, step, reason = rng.choice(BUILDS)
            channel, who, topic, text = "C06BUILDS", "U20BUILD", "the build", f"build {1000 + made}: {branch} failed in {step}"
            space.add_message(channel, who, text, ts, subtype="bot_message", bot_id="B01",
                              attachments=[{"color": "danger", "text": reason, "fallback": reason}])
            made += 1
            continue
        elif kind < 0.9:
            text = rng.choice(SMALL_TALK)
        else:
            n = rng.randrange(1, len(people))
            channel, who, text = f"D{n:02}WITH{people[n][3:]}", rng.choice((people[0], people[n])), rng.choice(PRIVATE)
        more: dict[str, Any] = {}
        if rng.random() < 0.2:
            users = rng.sample(people, rng.randint(1, 3))
            more["reactions"] = [{"name": rng.choice(EMOJI), "users": users, "count": len(users)}]
        if rng.random() < 0.02:
            id = f"F1{made:05}"
            more["files"] = [space.add_file(id, f"{topic} {made}.csv", "text/csv", f"topic,value\n{topic},{made}\n".encode(),
                                            who, int(float(ts)))]
        space.add_message(channel, who, text, ts, **more)
        made += 1
        for n in range(rng.choice((0, 0, 0, 0, 1, 2, 5))):
            space.add_message(channel, rng.choice(people), rng.choice(REPLIES).format(topic=topic, project=project),
                              f"{int(float(ts)) + 600 * (n + 1)}.{part:06}", thread=ts)
            made += 1
