from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mirage.bench.demo.services import SERVICES as SIMULATED
from mirage.bench.demo.services import STORES
from mirage.console.demo import demo_terminal
from mirage.console.main import main
from tests.console.keyboard import run

SERVICES = (*SIMULATED, *STORES, "/db")
CLIS = ("booking", "canvas", "gcal", "gdrive", "github", "google-doc", "google-sheet", "linear", "mail", "mongo", "notion", "redis", "s3", "slack",
        "sql", "support-mail")


@pytest.fixture(scope="module")
def terminal():
    with demo_terminal() as terminal:
        yield terminal


def demo(capfd, *args):
    status = main(["demo", "exec", *args])
    out, err = capfd.readouterr()
    return status, out, err


def test_the_line_of_the_readme(capfd):
    status, out, err = demo(capfd, 'grep -rl invoice /mail | head -3; jq -r .subject "$(find /mail/INBOX -name "*.email.json" '
                            '| head -1)"; mail send-email --help')
    lines = out.splitlines()
    assert status == 0 and all(line.startswith("/mail/") and line.endswith(".email.json") for line in lines[:3])
    assert lines[4] == "Usage: mail send-email ['{JSON}' | --key value ... | @FILE | -]" and lines[3]
    assert "Effects: send" in out and err.count("\n") == err.count("items not read (--exact reads them)")


def test_sending_shows_in_the_same_line(capfd):
    status, out, err = demo(capfd, "mail send-email --to ingrid@bergenhavn.example --subject Offer --body Hello "
                            "--attachments /docs/sales/price-list.csv | jq -r .path; ls /mail/Sent/2026-09-30; date +%F")
    path, folder, name, day = out.splitlines()
    assert status == 0 and not err and day == "2026-09-30"
    assert path.rpartition("/")[2] == name == folder + ".email.json" and name.startswith("Offer__")


def test_start_asks_nothing_and_loads_little():
    """A service, its simulator, SDK and CLI are loaded when they are looked at."""
    code = ("import sys; from mirage.console.demo import demo_terminal; t = demo_terminal(); "
            "r = t.run('echo hi; ls / /docs; ls -d /mail /gd; type mail notion; cd /slack'); t.close(); "
            "print(*(m for m in sys.modules if m.startswith(('mirage.mounts.', 'mirage.clis.', 'mirage.bench.')) or m in "
            "('googleapiclient', 'httplib2', 'slack_sdk', 'github', 'httpx', 'sqlalchemy', 'graphql', 'sqlite3'))); print(r.exit_code)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    loaded, status = done.stdout.splitlines()
    assert status == "0" and not done.stderr
    assert {".".join(name.split(".")[:3]) for name in loaded.split()} <= {
        "mirage.bench.demo", "mirage.clis.lazy", "mirage.mounts.bin", "mirage.mounts.dev", "mirage.mounts.document", "mirage.mounts.host",
        "mirage.mounts.memory", "mirage.mounts.proc"}, loaded


def test_the_guides_are_short(terminal):
    encoding = pytest.importorskip("bpe_openai").get_encoding("o200k_base")
    vfs, skill = (terminal.run(f"cat /{name}.md").stdout for name in ("VFS", "SKILL"))
    assert vfs.startswith("---\nname: workspace-filesystem\ndescription: ")
    for mount in SERVICES:
        assert f"- `{mount}`" in vfs
    for path in ("`<Folder>/<day>/`: `<Subject>__<id>.email.json`", "`channels/<name>__<id>/<day>/chat.jsonl`", "`<schema>/<table>/`"):
        assert path in vfs
    for form in (".gsheet.json`: `{spreadsheetId, properties: {title}, sheets: [{", ".email.json`: `{id, threadId, folder, date, from, "):
        assert form in vfs
    operations = sum(len(terminal.machine.clis[name].operations) for name in CLIS)
    assert all(f"**{name}**: " in skill for name in CLIS) and "send-email" in skill and "**support-mail**: as **mail**." in skill and "post-message(" in skill
    sizes = [len(encoding.encode(guide)) for guide in (vfs, skill)]
    assert sizes[0] < 1200 and sizes[1] < 2000 and sizes[1] <= 12 * operations, (sizes, operations)


def test_the_tree_is_short(terminal):
    """Two levels: a page of them, for a few calls; the system's directories are there, but not listed."""
    result = terminal.run("tree -L 2 /")
    lines = result.stdout.splitlines()
    assert not result.stderr and len(lines) <= 60 and result.usage.calls < 40, (len(lines), result.usage.calls)
    assert {line[4:] for line in lines if line.startswith(("├", "└"))} == {"SKILL.md", "VFS.md", "docs", "workspace", *(p.split("/")[1] for p in SERVICES)}
    assert {f"/ops/{line[8:]}" for line in lines if line[8:] in ("booking", "mongo", "redis", "s3", "support", "web")} == {p for p in SERVICES if p.startswith("/ops/")}
    assert terminal.run("ls -d /usr/bin /dev/null /tmp; echo x > /dev/null; echo /[d-e]*").stdout == "/dev/null\n/tmp\n/usr/bin\n/db /docs\n"


@pytest.mark.parametrize(("point", "line", "output"), [
    ("/gd", "jq -r '.sheets[].properties.title' '/gd/Finance/Budget 2026.gsheet.json' | head -1; head -1 '/gd/Finance/Budget 2026.gsheet/Apollo.csv'",
     "Apollo\nItem,Planned,Spent,Left\n"),
    ("/calendar", "jq -r .location /calendar/Apollo/2026-09-28/*Apollo?launch*.json", "Hamburg\n"),
    ("/github", "ls /github/norrsken; head -1 /github/norrsken/firmware/tree/main/README.md",
     "cloud\ndocs\nfirmware\nnew-idea\nsync-todo-to-readme\n# Firmware\n"),
    ("/repo", "diff -rq /repo/main /repo/dev | grep -c differ", "3\n"),
    ("/notion", "head -3 /notion/Wiki__*/page.md", "# Wiki\n\n## Norrsken Instruments\n"),
    ("/linear", "jq -r .title /linear/ENG/issues/ENG-1__*.json", "Drift of the quartz\n"),
    ("/canvas", "jq -r .name '/canvas/courses/Firmware testing__102/course.json'", "Firmware testing\n"),
    ("/ops/booking", "jq -r .for /ops/booking/Van/2026-09-30*.json", "Apollo: Launch date\n"),
    ("/ops/web", "head -1 /ops/web/ecb/rates.csv; grep -c 温度 /ops/web/kisho/prices.html", "day,SEK,NOK,JPY,GBP\n1\n"),
    ("/ops/mongo", "cat /ops/mongo/telemetry/readings/count; head -1 /ops/mongo/telemetry/readings/documents.jsonl | jq -r .station", "1125\nNI-1000\n"),
    ("/ops/redis", "cat /ops/redis/flag/new-login; echo; jq -r .name /ops/redis/session/mara.json", "on\nMara Lindqvist\n"),
    ("/ops/s3", "ls /ops/s3; head -2 /ops/s3/backups/borealis/restore*; zcat /ops/s3/backups/borealis/2026-09-30/customers.sql.gz | tail -1",
     "backups\nexports\nRestore test of 6 July 2026, by Søren\n\nINSERT INTO customers VALUES (6, 'Typhoon Watch');\n"),
    ("/ops/support", "ls /ops/support; jq -r .subject /ops/support/INBOX/2026-09-23/*.json", "Drafts\nINBOX\nSent\nSolved\nTrash\nStation offline (NI-1067)\n"),
    ("/db", "jq -r .contact /db/main/customers/rows.jsonl | head -1; cat /db/main/measurements/count", "Ingrid Solheim\n3000\n"),
])
def test_every_service_answers(terminal, point, line, output):
    result = terminal.run(line)
    assert result.stdout == output and not result.stderr, result
    assert point in SERVICES


@pytest.mark.parametrize(("command", "path", "found"), [
    ("google-sheet update-cells --spreadsheet_id '/gd/Finance/Budget 2026.gsheet.json' --sheet Apollo --range B5:B5 --data '[[7500]]'",
     "'/gd/Finance/Budget 2026.gsheet/Apollo.csv'", "7500"),
    ("google-doc create-document --title 'Minutes of today'", "'/gd/Minutes of today.gdoc.json'", "Minutes of today"),
    ("gdrive create-folder --name 'Trip to Halle'", "/gd", "Trip to Halle"),
    ("gcal create-event '{\"summary\": \"Fika\", \"start\": {\"dateTime\": \"2026-10-02T13:00:00Z\"}, \"end\": {\"dateTime\": \"2026-10-02T13:30:00Z\"}}'", "'/calendar/Mara Lindqvist/2026-10-02'", "Fika"),
    ("github create-issue --owner norrsken --repo docs --title Spelling", "/github/norrsken/docs/issues", "Spelling"),
    ("notion patch-block-children --block_id \"$(ls -d /notion/Wiki__*)\" --children '[{\"to_do\": {\"rich_text\": [{\"text\": {\"content\": \"Order masts\"}}]}}]'",
     "/notion/Wiki__*/page.md", "Order masts"),
    ("booking book --thing 1 --day 2026-12-24 --who mara@norrsken.example", "/ops/booking/Van", "2026-12-24 mara@norrsken.example"),
    ("redis set --key flag:dark-mode --value on", "/ops/redis/flag", "dark-mode"),
    ("s3 put-object --bucket exports --key orders/new.csv --body x", "/ops/s3/exports/orders", "new.csv"),
    ("echo y > /ops/s3/exports/orders/by-shell.csv", "/ops/s3/exports/orders", "by-shell.csv"),
    ("mongo insert-many --database support --collection empty --documents '[{\"_id\": \"hello\"}]'", "/ops/mongo/support/empty/documents.jsonl", "hello"),
    ("support-mail send-email --to koehler@uni-halle.example --subject Solved --body 'It works again'", "/ops/support/Sent/*", "Solved__"),
    ("linear create-issue --team ENG --title 'Order masts'", "/linear/ENG/issues", "Order masts"),
    ("canvas create-course --account_id 1 --name Philosophy-7", "/canvas/courses", "Philosophy-7"),
    ("sql execute --sql \"INSERT INTO employees (name, email) VALUES ('Nils Öberg', 'nils@norrsken.example')\"", "/db/main/employees/rows.csv", "Nils Öberg"),
])
def test_a_change_shows_in_the_next_line(terminal, command, path, found):
    """Of each CLI one operation; mail and Slack have tests of their own."""
    before = f"for f in {path}; do if [ -d \"$f\" ]; then ls \"$f\"; else cat \"$f\"; fi; done"
    assert found not in terminal.run(before).stdout
    result = terminal.run(command)
    assert result.exit_code == 0, result
    assert found in terminal.run(before).stdout


def test_slack(capfd):
    status, out, err = demo(capfd, "cat /slack/channels/apollo*/2026-09-22/chat.txt | head -1; slack post-message --channel_id C05RANDOM "
                            "--text 'Hello everybody' | jq -r .path; tail -1 /slack/channels/random__C05RANDOM/2026-09-30/chat.txt; "
                            "grep -rlw --include='chat.*' Champagne /mail /slack; ls /slack/dms | wc -l")
    lines = out.splitlines()
    assert status == 0 and not err and lines[0].startswith("[09:00] Jonas Weiß: The drift is back. @Priya Raman")
    assert lines[1] == "/slack/channels/random__C05RANDOM/2026-09-30/chat.jsonl" and lines[2] == "[16:00] Mara Lindqvist: Hello everybody"
    assert "/slack/channels/general__C01GENERAL/2026-09-24/chat.txt" in lines and lines[-1] == "7"


def test_documents(terminal):
    result = terminal.run("find /docs -type f | wc -l; jq -r '.[0].name' /docs/sales/customers.json; "
                          "head -1 /docs/apollo/budget.csv; echo x > /docs/new")
    assert result.stdout.splitlines()[:3] == ["14", "Bergen Harbour", "item,planned_eur,spent_eur,owner"]
    assert "Read-only file system" in result.stderr


def test_the_course_schedule(terminal):
    result = terminal.run("cd /mail/INBOX/2026-09-09; jq -r '.attachments[0].path' Course*.json; "
                          "grep -c '^| [A-Z].*2026' C*/course_schedule.md; head -1 \"$(jq -r '.attachments[0].path' C*.json)\"")
    assert result.stdout.splitlines()[-3:] == [
        "/mail/INBOX/2026-09-09/Course_Schedule_Notification__6/course_schedule.md", "27", "# Course schedule, autumn 2026"]


def test_options_reach_the_terminal():
    from mirage.mounts.memory import Memory
    with demo_terminal({"/extra": Memory({"a": b"1"})}, env={"X": "y"}, policy="read-only", cwd="/docs") as terminal:
        assert terminal.run("cat /extra/a; echo $X; pwd").stdout == "1y\n/docs\n"
        assert terminal.run("mail send-email --to a@b.example --subject x --body y").exit_code == 126


def test_nothing_is_left_behind():
    import threading
    before = set(threading.enumerate())
    terminal = demo_terminal()
    assert terminal.run("ls /mail /slack/channels /ops/redis /ops/s3 /ops/mongo /ops/support; head -c1 /db/main/orders/rows.csv").exit_code == 0
    folder = terminal.machine.namespace.table.by_point["/db"].mount._folder
    assert os.path.isdir(folder)
    terminal.close()
    assert not os.path.exists(folder)
    for thread in [t for t in set(threading.enumerate()) - before if t.name.endswith(("Simulator", "Server", "Mailbox", "Outbox"))]:
        thread.join(5)
        assert not thread.is_alive()


def test_a_store_starts_when_it_is_used():
    with demo_terminal() as terminal:
        world = terminal.machine.namespace.table.by_point["/ops/s3"].mount._world
        assert "/ops/mongo" in terminal.run("cat /VFS.md; ls /ops; type redis").stdout
        assert {name: waiting.started for name, waiting in world._waiting.items()} == dict.fromkeys(("mongo", "redis", "s3", "mailbox", "smtp"), False)
        assert terminal.run("ls /ops/redis | wc -l").stdout == "6\n"
        assert [name for name, waiting in world._waiting.items() if waiting.started] == ["redis"]


def test_the_same_each_time():
    line = "find /ops -type f | sort | md5sum; cat /ops/booking/*/*.json /ops/web/*/* /ops/redis/*/* /ops/mongo/telemetry/*/* /ops/support/*/*/*.json | md5sum; ls -lR /ops/s3 | md5sum"
    found = []
    for _ in range(2):
        with demo_terminal() as terminal:
            found.append(terminal.run(line).stdout)
    assert found[0] == found[1] and len(set(found[0].splitlines())) == 3


def test_the_root_of_a_mounted_demo_is_whole(terminal):
    """What FUSE and NFS list: names of different objects."""
    from mirage.vfs.inodes import ROOT
    from mirage.vfs.paths import of_machine
    inodes = of_machine(terminal.machine)
    names = {name for name, _, _ in inodes.opendir(ROOT).entries}
    assert names >= set(terminal.run("ls /").stdout.split())
    found = [inodes.lookup(ROOT, name) for name in ("github", "repo", "mail", "ops", "docs")]
    assert None not in found and len({node for node, *_ in found}) == 5


def test_interactive_with_a_pipe(tmp_path):
    done = run(tmp_path, ["demo"], b"cd /mail/Sent\npwd\nls | wc -l\n")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == b"/mail/Sent"
