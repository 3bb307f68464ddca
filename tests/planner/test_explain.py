"""What is told before a line runs, against what running it costs."""
from __future__ import annotations

import json

import pytest

from mirage import Terminal
from mirage.bench.services.gmail import GmailSimulator
from mirage.bench.services.slack import SlackSimulator
from mirage.console.main import main
from mirage.mounts.memory import Memory
from mirage.vfs.estimate import Cost, Range
from mirage.vfs.registry import make_mount
from tests.mounts import gmail_support, slack_support
from tests.mounts.sql_support import make_sqlite

COURSE = "/mail/INBOX/2026-09-09/Course_Schedule_Notification__6"
FILES = {"a.txt": b"12345\n", "b.txt": b"x" * 100, "d/c.txt": b"apple\n"}


@pytest.fixture(scope="module")
def gmail():
    with GmailSimulator(messages=60) as simulator:
        yield simulator


@pytest.fixture
def mail(gmail):
    with gmail_support.make_terminal(gmail) as terminal:
        yield terminal


@pytest.fixture
def local():
    with Terminal({"/data": Memory(FILES)}, policy="default: allow", cwd="/data") as terminal:
        yield terminal


def holds(terminal, line):
    """The explanation of a line that is then run; what it cost must lie within."""
    told = terminal.explain(line)
    usage = terminal.run(line).usage
    for name in ("calls", "bytes", "searches"):
        assert getattr(usage, name) in getattr(told, name), (line, name, getattr(usage, name), str(told))
    return told


MAIL_LINES = [
    "ls /mail", "ls /mail", "ls /mail/INBOX", "ls -l /mail/INBOX", "stat /mail/INBOX", f"cat {COURSE}.email.json",
    f"cat {COURSE}.email.json", f"cat {COURSE}/course_schedule.md", f"ls {COURSE}", "cat /mail/INBOX/nothing__77.email.json",
    "find /mail/INBOX -name '*.md'", "find /mail -maxdepth 1", "grep -rlw invoice /mail/INBOX", "grep -rlw invoice /mail",
    "grep -rl nvoic /mail/INBOX", "grep -rw 'no such words anywhere' /mail", "rg -lw Apollo /mail", "tree /mail/Sent",
    "cat /mail/INBOX/*/*.json | wc -l", "for f in /mail/Sent/*; do ls $f; done", "[[ -d /mail/INBOX ]] && ls /mail/INBOX | head -1",
    f"jq -r .subject < {COURSE}.email.json", "false && cat /mail/INBOX/x", "cd /mail/INBOX; ls", "test -e /mail/Nope || echo no",
    f"wc -c {COURSE}.email.json; wc -l {COURSE}.email.json", "cat /VFS.md", "grep -r --exact Apollo /mail/Sent | head -1", "ls / /mail",
    "mail search-emails '{\"query\": \"invoice\"}'", f"diff {COURSE}.email.json {COURSE}/course_schedule.md", "if true; then ls /mail; fi"]


def test_what_lines_on_mail_cost_lies_within(gmail):
    """Cold, and again with what the lines before left in the cache."""
    with gmail_support.make_terminal(gmail) as terminal:
        for line in MAIL_LINES:
            holds(terminal, line)
    for line in MAIL_LINES[::3]:
        with gmail_support.make_terminal(gmail) as terminal:
            holds(terminal, line)


def test_explaining_asks_nothing(gmail, mail):
    gmail.clear_log()
    for line in MAIL_LINES:
        mail.explain(line)
    assert not gmail.log


def test_what_is_known_makes_it_sure(mail):
    assert mail.explain(f"cat {COURSE}.email.json").calls == Range(1, 2)
    holds(mail, f"cat {COURSE}.email.json")
    again = holds(mail, f"cat {COURSE}.email.json")
    assert again.calls == Range(1, 2)                         # what changed meanwhile
    assert mail.explain("ls /mail/INBOX").calls == Range(2, None)
    mail.run("ls /mail/INBOX")
    assert holds(mail, "ls /mail/INBOX").calls == Range(1, 2)
    found = holds(mail, "grep -rw invoice /mail")
    assert found.searches == Range(0, 1) and "whole words: invoice" in str(found)
    assert mail.explain("grep -rv invoice /mail").searches == Range(0, 0)


SLACK_LINES = [
    "ls /slack", "ls /slack/channels", "ls /slack/channels", "ls /slack/channels/apollo__C02APOLLO",
    "cat /slack/channels/apollo__C02APOLLO/2026-09-22/chat.txt", "cat /slack/channels/apollo__C02APOLLO/2026-09-22/chat.jsonl",
    "cat /slack/channels/nothing__C77/2026-09-22/chat.txt", "ls /slack/users", "cat /slack/users/priya__U03PRIYA.json",
    "grep -rlw --include='chat.*' quartz /slack", "find /slack/channels -maxdepth 1", "ls -R /slack/dms", "ls /slack/nope", "stat /slack/users",
    "grep -rl --include='chat.*' uart /slack/channels/apollo__C02APOLLO"]


def test_what_lines_on_slack_cost_lies_within():
    with SlackSimulator(messages=40) as simulator:
        with slack_support.make_terminal(simulator) as terminal:
            for line in SLACK_LINES:
                holds(terminal, line)
        for line in SLACK_LINES[::2]:
            with slack_support.make_terminal(simulator) as terminal:
                simulator.clear_log()
                terminal.explain(line)
                assert not simulator.log
                holds(terminal, line)


def test_what_lines_on_a_database_cost_lies_within(tmp_path):
    make_sqlite(tmp_path / "shop.db", rows=300)
    with Terminal({"/db": make_mount("sql", {"url": f"sqlite:///{tmp_path}/shop.db"})}, policy="default: allow") as terminal:
        for line in ("ls /db", "ls /db/main", "ls /db/main/customers", "cat /db/main/customers/count", "cat /db/nope/x/count",
                     "head -3 /db/main/customers/rows.jsonl", "wc -l /db/main/customers/rows.csv", "cat /db/main/pairs/schema.json",
                     "grep -rl 'Customer 17' /db", "find /db -name count", "ls /db"):
            told = holds(terminal, line)
            assert told.calls.low == 1


@pytest.mark.parametrize(("line", "size"), [
    ("cat a.txt", Range(6, 6)), ("cat a.txt b.txt", Range(100, 106)), ("head -1 b.txt", Range(0, 100)), ("cat a.txt && cat b.txt", Range(6, 106)),
    ("if true; then cat b.txt; fi", Range(0, 100)), ("while false; do cat b.txt; done", Range(0, None)), ("grep -r apple .", Range(0, 112)),
    ("cat nothing", Range(0, 0)), ("wc -c < a.txt", Range(0, 6)), ("cat *.txt", Range(100, 106)), ("cat a.txt | head -1", Range(0, 6)),
    ("f() { cat a.txt; }; f", Range(0, None)), ("exit; cat a.txt", Range(0, 6)), ("echo $(cat a.txt)", Range(6, 6)), ("cp -r . /tmp/x", Range(0, 112)),
    ("ls; stat a.txt", Range(0, 0)), ("cat $x", Range(0, None)), ("echo a.txt | xargs cat", Range(0, None)), ("echo $x", Range(0, 0)),
    ("env A=1 cat a.txt", Range(6, 6)), ("bash -c 'cat a.txt'", Range(6, 6)), ("tar cf /tmp/t.tar d", Range(0, 6))])
def test_bytes_of_local_files(local, line, size):
    assert holds(local, line).bytes == size
    assert local.explain(line).calls == Range(0, 0)


def test_effects_verdicts_and_what_is_unknown():
    rules = "rules: [{path: '/data/d/**', effect: [destroy], action: deny, reason: keep it}]"
    with Terminal({"/data": Memory(FILES)}, policy=rules, cwd="/data") as terminal:
        told = terminal.explain("rm d/c.txt; echo hi > new; cat $x")
        assert [(f.effect, f.target, f.action) for f in told.effects] == [("destroy", "/data/d/c.txt", "deny"), ("create", "/data/new", "allow")]
        assert "effect: destroy /data/d/c.txt (deny: keep it)" in str(told) and "unknown: $x: depends on $x" in str(told)
        assert terminal.fs.exists("/data/d/c.txt") and not terminal.fs.exists("/data/new")
        with pytest.raises(ValueError, match=r"syntax|expected|unexpected"):
            terminal.explain("if true")


def test_the_program(capsys, tmp_path):
    (tmp_path / "f").write_text("hello\n")
    assert main(["explain", "--mount", f"/src=host:{tmp_path}", "cat /src/f"]) == 0
    assert capsys.readouterr().out == "cat /src/f\n  read     /src/f: bytes 6\ntotal: calls 0, bytes 6, searches 0\n"
    assert main(["explain", "--json", "--mount", f"/src=host:{tmp_path}", "cat /src/f; rm /src/f"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["total"]["bytes"] == {"min": 6, "max": 6} and told["steps"][0]["action"] == "read"
    assert told["effects"][0]["effect"] == "destroy"
    assert main(["explain", "if"]) == 2 and main(["explain"]) == 2 and main(["explain", "--help"]) == 0
    assert main(["exec", "--usage", "true"]) == 0 and "usage: bytes 0, calls 0" in capsys.readouterr().err


def test_ranges():
    assert [str(Range(1, 1)), str(Range(1, 4)), str(Range(0, None)), str(Range(1000, 2000))] == ["1", "1..4", "0..?", "1,000..2,000"]
    one, many = Cost(Range(1, 2)), Cost(Range(3, None))
    assert one.plus(one).calls == Range(2, 4) and one.after(many).calls == Range(3, None)
    assert one.either(many).calls == Range(1, None) and one.maybe.calls == Range(0, 2) and one.often.calls == Range(0, None)
    assert 2 in Range(1, 2) and 3 not in Range(1, 2) and 10**9 in Range(1, None)
