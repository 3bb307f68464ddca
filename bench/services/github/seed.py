"""A year of Norrsken Instruments on GitHub: the people of the mailbox in bench/services/gmail, their code and issues."""
from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from mirage.bench.company import COMPANY, CUSTOMERS, FIRST, ME, PEOPLE, PROJECTS, parts
from mirage.bench.demo import NOW
from mirage.bench.services.github.objects import LINK, MODULE, PROGRAM
from mirage.bench.services.gmail.files import png
from mirage.bench.services.gmail.texts import BUILDS, REPLIES, TICKETS

if TYPE_CHECKING:
    from mirage.bench.services.github.hub import Hub, Repository

__all__ = ["NOW", "OWNER", "fill"]
OWNER = "norrsken"
LOGINS = tuple(parts(person)[2] for person in PEOPLE)
SENSORS = ("wind", "rain", "humidity", "pressure", "radiation", "soil", "snow", "lightning")
MODULES = ("api", "alerts", "billing", "charts", "exports", "ingest", "login", "stations")
LABELS = ("bug", "enhancement", "question", "good first issue", "field test", "übersetzung")
MODULE_SHA = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def at(day: float, hour: int = 9, minute: int = 0) -> float:
    return (FIRST + timedelta(days=day, hours=hour - 8, minutes=minute)).timestamp()


def fill(hub: Hub, seed: int = 1, size: float = 1.0) -> None:
    """Put everything into an empty hub. The same seed gives the same."""
    rng = random.Random(seed)
    for person in (ME, *PEOPLE):
        name, address, login = parts(person)
        hub.add_user(login, name, address)
    hub.add_user("build-bot", "Build / Release", "build@norrsken.example", kind="Bot")
    hub.add_user(OWNER, COMPANY, "info@norrsken.example", kind="Organization", members=("mara", *LOGINS))
    hub.add_user("kisho", "Kisho Sensors K.K.", "oss@kisho.example", kind="Organization", members=("hiroshi",))
    hub.add_user("hiroshi", "田中 浩", "hiroshi@kisho.example")
    _firmware(hub, rng, size)
    _cloud(hub, rng, size)
    _todo(hub)
    _docs(hub)
    hub.add_repo(OWNER, "new-idea", at(300), description="nothing here yet")
    dots = hub.add_repo("mara", "dotfiles", at(2), private=True)
    hub.commit(dots, "main", {".bashrc": b"alias ll='ls -l'\n", "vim/.vimrc": b"set number\n"}, "My settings", "mara", at(2))
    sdk = hub.add_repo("kisho", "sensor-sdk", at(1), description="SDK for Kisho sensors")
    hub.commit(sdk, "main", {"README.md": "# センサー SDK\n\nHumidity and pressure.\n".encode(), "sdk.h": b"int kisho_read(void);\n"},
               "First release", "hiroshi", at(1))


def _c(sensor: str, n: int) -> bytes:
    return (f"/* {sensor} sensor, revision {n} */\n#include \"{sensor}.h\"\n#include <stdint.h>\n\n"
            f"static uint16_t calibrate(uint16_t raw)\n{{\n    /* drift of the quartz: see the lab notes {n} */\n"
            f"    return raw * {97 + n} / 100;\n}}\n\nint {sensor}_read_{n}(uint16_t *value)\n{{\n"
            f"    uint16_t raw = bus_read(0x{40 + n:02x});\n    if (raw == 0xffff)\n        return -{n + 1};\n"
            f"    *value = calibrate(raw);\n    return 0;\n}}\n").encode()


def _firmware(hub: Hub, rng: random.Random, size: float) -> None:
    repo = hub.add_repo(OWNER, "firmware", at(0), description="Firmware of the stations (Apollo)")
    files: dict[str, Any] = {
        "README.md": "# Firmware\n\nReads all sensors in 40 ms. Build with `make`.\n\nLizenz: für innen.\n".encode(),
        "Makefile": b"all: build\n\nbuild:\n\tcc -o firmware src/*.c\n", "VERSION": b"commit $Format:%H$\n",
        ".gitattributes": b"internal export-ignore\nVERSION export-subst\n", "internal/notes.txt": b"the quartz drifts\n",
        ".gitmodules": b'[submodule "vendor/sdk"]\n\tpath = vendor/sdk\n\turl = https://github.com/kisho/sensor-sdk.git\n',
        "vendor/sdk": (MODULE, MODULE_SHA), "scripts/flash.sh": (PROGRAM, b"#!/bin/sh\nset -e\necho flashing \"$1\"\n"),
        "LATEST.md": (LINK, b"docs/manual.md"), "docs/broken": (LINK, b"../no/such file"), "docs/source": (LINK, b"../src"),
        "docs/manual.md": b"# Manual\n\nHold the button for three seconds.\n", "docs/empty.txt": b"",
        "docs/Überblick – Sensoren.md": "# Überblick\n\nWind, Regen, Schnee.\n".encode(), "docs/no newline.txt": b"the last line",
        "images/board.png": png(5), "images/boot.bin": bytes(range(256)) * 16, "docs/crlf.txt": b"one\r\ntwo\r\n",
        "data/calibration.csv": "".join(f"{n},{n * 7919 % 65521},{n * 104729 % 65521}\n" for n in range(90_000)).encode()}
    for sensor in SENSORS:
        files[f"include/{sensor}.h"] = f"#pragma once\nint {sensor}_read(void);\n".encode()
        for n in range(max(2, int(20 * size))):
            files[f"src/{sensor}/{sensor}_{n:02}.c"] = _c(sensor, n)
        for n in range(max(1, int(6 * size))):
            files[f"tests/{sensor}/test_{n}.py"] = f"def test_{sensor}_{n}():\n    assert read('{sensor}') == {n}\n".encode()
    first = hub.commit(repo, "main", files, "Import from the old server", "soren", at(0))
    _history(hub, rng, repo, size, "Apollo")
    hub.set_ref(repo, "refs/tags/v0.9", first.sha, at(5))
    tip = hub.commit_of(repo, "main").sha
    annotated = hub.objects.add_tag("v1.0", tip, hub.signature("soren"), int(at(250)), "First release")
    hub.set_ref(repo, "refs/tags/v1.0", annotated, at(250))
    hub.set_ref(repo, "refs/tags/rel/2026-09", tip, at(340))
    hub.set_ref(repo, "refs/heads/dev", tip, at(340))
    hub.commit(repo, "dev", {"src/wind/wind_00.c": _c("wind", 99), "src/new.c": b"int ready;\n", "docs/crlf.txt": None},
               "Faster bus", "jonas", at(341))
    hub.set_ref(repo, "refs/heads/feature/ultrasonic", tip, at(342))
    hub.commit(repo, "feature/ultrasonic", {"src/ultrasonic.c": "/* Ultraschall: prüfen */\nint ping(void);\n".encode()},
               "Ultrasonic sensor\n\nDrifts least.", "priya", at(342))
    hub.add_release(repo, "soren", "v0.9", at(6), name="Beta", body="For the pilot customers.")
    hub.add_release(repo, "soren", "v1.0", at(251), name="1.0: Apollo", body="* reads in 40 ms\n* fixes #1\n")
    hub.add_release(repo, "soren", "rel/2026-09", at(341), name=None, body=None, prerelease=True)
    hub.add_release(repo, "soren", "v1.1", at(360), name="draft", body="not yet", draft=True)
    _special(hub, repo)


def _special(hub: Hub, repo: Repository) -> None:
    """Issues and pull requests that test what must not break; the last ones of their repository."""
    for title, body in (("Crash / reboot when it hails", "Steps:\n1. hail\n2. reboot\n\n```\nwatchdog: 42\n```"),
                        ("Line one\nline two", "A title with a newline."), (".", "A title of one dot."),
                        ("Größe der Gehäuse prüfen 📏", None), ("x" * 256, "A long title."),
                        ("Crash / reboot when it hails", "The same title again. Körper mit \"quotes\" and \\ backslash.")):
        hub.add_issue(repo, "elena", title, body, at(350), labels=("bug",))
    number = len(repo.issues)
    hub.add_comment(repo, number, "priya", "I cannot reproduce it: the zephyr test is green.", at(351))
    hub.add_comment(repo, number, "build-bot", "Duplicate?\n\n> A quote", at(351, 10))
    pull = hub.add_pull(repo, "priya", "Ultrasonic / wind", "feature/ultrasonic", "main", f"Adds the sensor.\n\nFixes #{number}", at(352))
    hub.add_comment(repo, pull["number"], "jonas", "Looks good on the roof.", at(353))
    hub.add_review(repo, pull["number"], "soren", "REQUEST_CHANGES", "Please say why.", at=at(353, 11),
                   comments=[{"path": "src/ultrasonic.c", "position": 1, "body": "Which unit?"}])
    hub.add_status(repo, repo.refs["refs/heads/feature/ultrasonic"], "success", "ci/build", "all green", at(352, 10))
    hub.add_status(repo, repo.refs["refs/heads/feature/ultrasonic"], "pending", "ci/hardware", "waiting for the rack", at(352, 11))


def _history(hub: Hub, rng: random.Random, repo: Repository, size: float, project: str) -> None:
    """A year of issues, merged and open pull requests, runs."""
    count = max(4, int(120 * size))
    pulls = 0
    for n in range(count):
        day = 3 + n * 340 / count
        who = rng.choice(LOGINS)
        topic, text = rng.choice(PROJECTS[project])
        if n % 3 == 2:
            branch = f"work/{pulls}"
            pulls += 1
            hub.set_ref(repo, f"refs/heads/{branch}", repo.refs["refs/heads/main"], at(day))
            hub.commit(repo, branch, {f"notes/{topic.replace(' ', '-').lower()}-{pulls}.md": f"# {topic}\n\n{text}\n".encode()},
                       f"Notes on {topic.lower()}", who, at(day, 10))
            issue = hub.add_pull(repo, who, f"Notes on {topic.lower()}", branch, "main", text, at(day, 11))
            sha = repo.pulls[issue["number"]]["sha"]
            bad = rng.random() < 0.25
            step, reason = "Run tests", rng.choice(BUILDS)[2] if bad else ""
            hub.add_run(repo, branch, sha, at(day, 11, 5), "failure" if bad else "success", step=step)
            hub.add_status(repo, sha, "failure" if bad else "success", "ci/build", reason or "all green", at(day, 11, 9))
            if not bad:
                other = rng.choice([login for login in LOGINS if login != who])
                hub.add_review(repo, issue["number"], other, "APPROVE", rng.choice(("", "Nice.")), at=at(day, 14))
                hub.merge(repo, issue["number"], other, rng.choice(("merge", "squash")), at=at(day, 15))
                del repo.refs[f"refs/heads/{branch}"]
            continue
        customer, _ = rng.choice(CUSTOMERS)
        title, body = rng.choice(TICKETS)
        serial = f"NI-{rng.randint(1000, 1099)}"
        if n % 2:
            title, body = f"{topic}: {serial}", text
        issue = hub.add_issue(repo, who, title, body.format(serial=serial, name=customer), at(day), labels=rng.sample(LABELS, rng.choice((0, 1, 1, 2))),
                              assignees=rng.sample(LOGINS, rng.choice((0, 1))))
        for k in range(rng.choice((0, 0, 1, 2, 4))):
            hub.add_comment(repo, issue["number"], rng.choice(LOGINS), rng.choice(REPLIES).format(topic=topic, project=project), at(day, 10 + k))
        if rng.random() < 0.6:
            hub.edit_issue(repo, issue["number"], {"state": "closed"}, at(day + 2))


def _cloud(hub: Hub, rng: random.Random, size: float) -> None:
    repo = hub.add_repo(OWNER, "cloud", at(1), description="Data platform (Borealis)", private=True)
    files: dict[str, Any] = {"README.md": b"# Cloud\n\nThe data platform.\n", "pyproject.toml": b"[project]\nname = \"cloud\"\n",
                             "config/production.yaml": b"region: north\nkey_name: STATION_API_KEY\n",
                             "run": (PROGRAM, b"#!/bin/sh\nexec python -m cloud\n")}
    for module in MODULES:
        for n in range(max(1, int(12 * size))):
            files[f"cloud/{module}/part_{n}.py"] = (
                f'"""{module.title()} of the stations, part {n}."""\n\n\ndef {module}_{n}(station):\n'
                f"    # TODO: limit the number of {module}\n    return station['{module}'] + {n}\n").encode()
    hub.commit(repo, "main", files, "Start of Borealis", "priya", at(1))
    _history(hub, rng, repo, size / 2, "Borealis")


MAIN: dict[str, str] = {
    "README.md": "# sync-todo\n\nKeeps the TODO list below in step with the code.\n\n## TODO\n\n- [ ] src/sync.py:3: read the branch from the command line\n"
                 "- [ ] src/render.py:5: sort by file\n",
    ".gitignore": "__pycache__/\n*.pyc\n", "setup.cfg": "[metadata]\nname = sync-todo\n",
    "src/__init__.py": "", "src/sync.py": "import sys\n\n# TODO: read the branch from the command line\nBRANCH = 'main'\n\n\ndef sync(path):\n    return scan(path)\n",
    "src/scan.py": "import re\n\nMARK = re.compile(r'#\\s*(TODO|FIXME)')\n\n\ndef scan(path):\n    with open(path) as f:\n        return [line for line in f if MARK.search(line)]\n",
    "src/render.py": "def render(items):\n    lines = []\n    for item in items:\n        # a line per item\n        # TODO: sort by file\n        lines.append(f'- [ ] {item}')\n    return lines\n",
    "src/legacy.py": "# FIXME: remove with version 2\ndef old():\n    return None\n",
    "tests/test_scan.py": "from src.scan import scan\n\n\ndef test_scan(tmp_path):\n    assert scan\n",
    "tests/test_render.py": "from src.render import render\n\n\ndef test_render():\n    assert render(['a']) == ['- [ ] a']\n",
    "docs/usage.md": "# Usage\n\nRun it before you push.\n"}
DEV: dict[str, str | None] = {
    "src/sync.py": "import sys\n\nBRANCH = sys.argv[1] if len(sys.argv) > 1 else 'main'\n\n\ndef sync(path):\n    # TODO: follow symbolic links\n    return scan(path)\n",
    "src/cache.py": "# TODO: bound the cache\nCACHE = {}\n\n\ndef get(key):\n    return CACHE.get(key)  # FIXME: expire entries\n",
    "src/legacy.py": None,
    "src/render.py": "def render(items):\n    return [f'- [ ] {item}' for item in sorted(items)]\n",
    "tests/test_cache.py": "from src.cache import get\n\n\ndef test_get():\n    # todo: a test with more than one key\n    assert get('x') is None\n",
    "docs/usage.md": "# Usage\n\nRun it before you push.\n\nIt changes README.md only. TODO lists in documents are not read.\n"}


def _todo(hub: Hub) -> None:
    repo = hub.add_repo(OWNER, "sync-todo-to-readme", at(200), description="Keeps the TODO list of a README")
    hub.commit(repo, "main", {path: text.encode() for path, text in MAIN.items()}, "First version", "lukasz", at(200))
    hub.set_ref(repo, "refs/heads/dev", repo.refs["refs/heads/main"], at(210))
    hub.commit(repo, "dev", {path: text.encode() if text is not None else None for path, text in DEV.items()},
               "Cache, and the branch as an argument", "lukasz", at(211))
    hub.add_issue(repo, "lukasz", "README of dev is out of date", "The list still has what was done.", at(212), labels=("bug",))


def _docs(hub: Hub) -> None:
    repo = hub.add_repo(OWNER, "docs", at(10), description="Handbuch – manual – マニュアル", default_branch="trunk")
    files: dict[str, Any] = {"index.md": "# Handbuch\n\nWillkommen bei Norrsken.\n".encode(), "日本語/マニュアル.md": "# マニュアル\n\n雨と風。\n".encode(),
                             "español/guía rápida.md": "# Guía\n\nLa estación mide la lluvia.\n".encode()}
    for project, topics in PROJECTS.items():
        for topic, text in topics:
            files[f"{project}/{topic}.md"] = f"# {topic}\n\n{text}\n".encode()
    hub.commit(repo, "trunk", files, "Handbuch", "elena", at(10))
    hub.add_issue(repo, "elena", "Fehlende Übersetzung", "Japanisch fehlt noch.", at(20), labels=("übersetzung",))

