"""One company in every service: whoever is in one is in the others, under the same name and address."""
from __future__ import annotations

import pytest

pytest.importorskip("googleapiclient")
pytest.importorskip("github")
pytest.importorskip("httpx")
pytest.importorskip("slack_sdk")
pytest.importorskip("graphql")
pytest.importorskip("icalendar")
pytest.importorskip("markdownify")
pytest.importorskip("sqlalchemy")

from mirage.bench.company import CUSTOMER_NAMES, CUSTOMERS, FOUNDER, ME, PEOPLE, PROJECTS, SUPPLIERS, parts
from mirage.console.demo import demo_terminal

STAFF = {parts(person)[1]: parts(person)[0] for person in (ME, *PEOPLE)}
LOGINS = {parts(person)[2] for person in (ME, *PEOPLE)}
GONE = parts(FOUNDER)[1]
OTHERS = {address for _, address in CUSTOMERS} | {address for _, address, _, _ in SUPPLIERS}


@pytest.fixture(scope="module")
def terminal():
    with demo_terminal() as terminal:
        yield terminal


def lines(terminal, text):
    result = terminal.run(text)
    assert not result.stderr.replace("mirage: canvas: user not authorized to perform that action (403)\n", ""), result.stderr[:300]
    return result.stdout.splitlines()


@pytest.mark.parametrize(("where", "line"), [
    ("Slack", "cat /slack/users/*.json | jq -r 'select((.is_bot or .deleted) | not) | .profile | \"\\(.email) \\(.real_name)\"'"),
    ("Notion", "notion get-users | jq -r '.results[] | select(.type == \"person\") | \"\\(.person.email) \\(.name)\"'"),
    ("Linear", "jq -r '\"\\(.email) \\(.name)\"' /linear/ENG/members.jsonl"),
    ("database", "jq -r '\"\\(.email) \\(.name)\"' /db/main/employees/rows.jsonl"),
    ("Canvas", "cat /canvas/courses/*__10[1-9]/enrollments.jsonl /canvas/courses/*__11*/enrollments.jsonl | "
               "jq -r 'select(.type == \"TeacherEnrollment\") | .user | \"\\(.login_id) \\(.name)\"' | sort -u"),
])
def test_everybody_is_there(terminal, where, line):
    found = dict(entry.split(" ", 1) for entry in lines(terminal, line))
    assert found == STAFF, where


def test_logins_of_github_are_people(terminal):
    found = set(lines(terminal, "cat /github/norrsken/*/issues/*.json | jq -r '.user.login, .assignees[].login, .comment_list[].user.login' | sort -u"))
    assert LOGINS - {"mara"} <= found <= LOGINS | {"build-bot"}


def test_guests_of_the_calendar_are_known(terminal):
    found = set(lines(terminal, "cat /calendar/*/*/*.event.json | jq -r '.attendees[]?.email' | sort -u"))
    assert set(STAFF) <= found <= set(STAFF) | OTHERS


def test_senders_of_the_company_are_people(terminal):
    found = set(lines(terminal, "find /mail -name '*.email.json' -exec jq -r '.from, .to[], .cc[]' {} + | grep -o '[^< ]*@norrsken.example' | sort -u"))
    assert set(STAFF) <= found <= set(STAFF) | {GONE} | {f"{name}@norrsken.example" for name in ("build", "support", "team", "all", "info")}


def test_drive_is_shared_with_people(terminal):
    found = set(lines(terminal, "gdrive list-permissions --file_id '/gd/Finance/Budget 2026.gsheet.json' | jq -r '.. | .emailAddress? // empty'"))
    assert len(found) > 1 and found <= set(STAFF)


def test_customers_suppliers_and_projects_agree(terminal):
    assert lines(terminal, "jq -r .name /db/main/customers/rows.jsonl") == list(CUSTOMER_NAMES)
    assert lines(terminal, "jq -r '\"\\(.contact) \\(.email)\"' /db/main/customers/rows.jsonl") == [f"{n} {a}" for n, a in CUSTOMERS]
    assert lines(terminal, "jq -r '.contact' /db/main/suppliers/rows.jsonl | sort") == sorted(address for _, address, _, _ in SUPPLIERS)
    assert lines(terminal, "tail -n +2 /docs/sales/orders-2026.csv | wc -l; cat /db/main/orders/count")[0] == lines(terminal, "cat /db/main/orders/count")[0]
    for project in PROJECTS:
        for place in ("/gd/Projects", "/mail/Projects", "/docs", "/calendar", "/slack/channels", "/notion/Wiki__*", "/linear/ENG/projects"):
            if (project, place) != ("Borealis", "/calendar"):
                assert lines(terminal, f"ls -d {place}/*{project}* {place}/*{project.lower()}* 2>/dev/null"), (project, place)
    assert set(lines(terminal, "jq -r .name /db/main/projects/rows.jsonl")) == set(PROJECTS)


def test_launch_is_on_one_day(terminal):
    assert lines(terminal, "ls -d /calendar/Apollo/*/*'Apollo launch'* | cut -d/ -f4") == ["2026-09-28"]
    assert "2026-09-28" in lines(terminal, "grep '^| Launch' /docs/apollo/plan.md")[0]
    assert lines(terminal, "grep -rl '28 September' /mail/Projects/Apollo --include='*Launch date*' | head -1")


def test_there_are_thousands_of_things(terminal):
    """One channel is not ours to read."""
    count = int(lines(terminal, "find /mail /slack /gd /calendar /github /notion /linear /db -type f 2>/dev/null | wc -l")[0])
    assert count > 5000


def test_stores_tell_of_the_same_company(terminal):
    assert lines(terminal, "jq -r .name /ops/redis/session/*.json | sort") == sorted(STAFF.values())
    assert set(lines(terminal, "jq -r .customer /ops/s3/exports/stations/*.jsonl | sort -u")) == set(CUSTOMER_NAMES)
    assert lines(terminal, "cat /ops/s3/exports/orders/*.csv | grep -vc ^order; cat /db/main/orders/count")[:1] == lines(terminal, "cat /db/main/orders/count")
    assert set(lines(terminal, "cat /ops/support/Solved/*/*.json | jq -r .from | sort -u")) <= {f"{n} <{a}>" for n, a in CUSTOMERS}
    assert set(lines(terminal, "jq -r .who /ops/booking/*/*.json | sort -u")) <= set(STAFF)


@pytest.mark.parametrize(("name", "options", "of"), [
    ("gmail:GmailSimulator", {"messages": 10}, "mailbox"), ("slack:SlackSimulator", {"messages": 10}, "workspace"),
    ("linear:LinearSimulator", {"issues": 10}, "workspace"), ("gcal:CalendarSimulator", {"events": 10}, "calendars"),
    ("gdrive:DriveSimulator", {"files": 40}, "store"), ("notion:NotionSimulator", {"rows": 40}, "workspace"),
    ("github:GitHubSimulator", {"size": 0.05}, "hub"), ("canvas:CanvasSimulator", {"courses": 2, "enrollments": 20}, "campus"),
    ("mongo:MongoSimulator", {"documents": 100}, "client")])
def test_reset_keeps_the_size(name, options, of):
    import importlib
    module, _, kind = name.partition(":")
    simulator = getattr(importlib.import_module(f"mirage.bench.services.{module}"), kind)(**options)
    made, before = getattr(simulator, of), len(str(simulator.state()))
    simulator.reset()
    assert getattr(simulator, of) is not made and abs(len(str(simulator.state())) - before) < before / 50
