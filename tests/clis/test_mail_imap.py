"""The same CLI over IMAP and SMTP."""
from __future__ import annotations

import json
import socket

import pytest

pytest.importorskip("pymap", reason="the IMAP server of these tests")
pytest.importorskip("imapclient")
pytest.importorskip("aiosmtpd", reason="the SMTP server of these tests")

from mirage import Terminal
from mirage.clis import make_cli
from mirage.clis.mail import MailCli
from tests.clis.support import run
from tests.mounts.imap_support import PASSWORD, USER, Inbox, Server, Token, day, make_mount, make_terminal, message

INBOX_MAIL = "/mail/INBOX/2026-09-09/Course_Schedule_Notification__*.email.json"


@pytest.fixture
def server():
    server = Server()
    other = server.login()
    for name in ("Sent", "Drafts", "Trash", "Projects"):
        other.create(name)
    other.logout()
    server.append("INBOX", message("Course_Schedule_Notification", "Dear Ms Lindqvist,\n",
                                   files={"course_schedule.md": ("text/markdown", b"# Schedule\n")}), day(9), "\\Seen")
    server.append("INBOX", message("Second", "two\n", "Anna <anna@b.example>", Cc="Bert <bert@b.example>"), day(10))
    yield server
    server.stop()


@pytest.fixture
def smtp():
    from aiosmtpd.controller import Controller
    inbox = Inbox()
    with socket.create_server(("127.0.0.1", 0)) as free:
        inbox.port = free.getsockname()[1]
    listening = Controller(inbox, hostname="127.0.0.1", port=inbox.port)
    listening.start()
    yield inbox
    listening.stop()


@pytest.fixture
def terminal(server, smtp):
    with make_terminal(server, smtp_port=smtp.port) as terminal:
        yield terminal


def found(terminal, pattern):
    return terminal.run(f"ls -d {pattern}").stdout.strip()


def test_what_is_sent_is_in_sent_with_the_next_command(terminal, smtp):
    terminal.run("ls /mail/Sent")
    result = terminal.run("""printf 'a,b\\n' > list.csv; mail send-email '{"to": "Ingrid <ingrid@bergenhavn.example>", "cc": "c@d.example",
        "bcc": "e@f.example", "subject": "Grüße: 12/3", "body": "Fünf Stationen.\\nMara", "attachments": ["list.csv"]}' > out;
        jq -r .path out; ls /mail/Sent/*; cat "$(jq -r .path out)"; cat /mail/Sent/*/*/list.csv""")
    path, listed, *rest = result.stdout.split("\n", 2)
    assert path.startswith("/mail/Sent/20") and "/Grüße: 12_3__" in path and result.stderr == "" and listed
    mail = json.loads(rest[0][rest[0].index("{"):rest[0].rindex("}") + 1])
    assert mail["to"] == ["Ingrid <ingrid@bergenhavn.example>"] and mail["body"].startswith("Fünf Stationen.\nMara\n")
    assert mail["bcc"] == ["e@f.example"] and mail["labels"] == ["Sent"] and result.stdout.endswith("a,b\n")
    ((sender, people, data),) = smtp.received
    assert sender == USER and people == ["ingrid@bergenhavn.example", "c@d.example", "e@f.example"] and b"e@f.example" not in data
    assert [e.effects for e in result.effects if e.effect == "call"] == [("send",)]


def test_a_recipient_that_is_refused_is_an_error_and_nothing_is_in_sent(terminal, smtp):
    error = run(terminal, "mail send-email --to nobody@b.example --subject x --body y", 1)["error"]
    assert "no such user" in error["message"] and error["code"] == 400
    assert found(terminal, "/mail/Sent/*") == "" and not smtp.received


def test_without_a_server_for_sending_it_says_so(server):
    with make_terminal(server) as terminal:
        error = run(terminal, "mail send-email --to a@b.example --subject x --body y", 1)["error"]
        assert "smtp: the connection failed" in error["message"] and PASSWORD not in str(error)


def test_reply_and_forward(terminal, smtp):
    run(terminal, "mail reply-email --email_id /mail/INBOX/2026-09-10/Second__*.json --body 'Thank you.' --reply_all")
    run(terminal, f"mail forward-email --email_id {INBOX_MAIL} --to priya@norrsken.example --body 'Please look.'")
    reply, forward = (data.decode() for _, _, data in smtp.received)
    assert smtp.received[0][1] == ["anna@b.example", "bert@b.example"] and "Subject: Re: Second" in reply and "In-Reply-To: <" in reply
    assert "course_schedule.md" in forward and "Subject: Fwd: Course" in forward
    assert found(terminal, "/mail/Sent/*/Re*.json") and found(terminal, "/mail/Sent/*/Fwd*.json")


def test_lists_and_searches(terminal):
    listed = run(terminal, "mail get-emails --page_size 1")
    assert listed["emails"][0]["subject"] == "Second" and listed["more"] and terminal.fs.exists(listed["emails"][0]["path"])
    assert [e["subject"] for e in run(terminal, "mail search-emails --query 'from:anna after:2026-09-10'")["emails"]] == ["Second"]
    assert run(terminal, "mail search-emails --query 'subject:nothing' --folder '*'")["emails"] == []
    assert len(run(terminal, "mail search-emails --query 'is:read' --folder '*'")["emails"]) == 1
    assert "date such as" in run(terminal, "mail search-emails --query before:soon", 1)["error"]["message"]
    assert run(terminal, f"mail read-email --email_id {INBOX_MAIL}")["body"].startswith("Dear Ms Lindqvist")
    assert {h["name"] for h in run(terminal, f"mail get-email-headers --email_id {INBOX_MAIL}")["headers"]} >= {"From", "Message-ID"}
    assert run(terminal, "mail check-connection")["address"] == USER
    assert run(terminal, f"mail download-attachment --email_id {INBOX_MAIL} --attachment_filename course_schedule.md")["size"] == 11


def test_marks_moves_and_deletes(terminal):
    run(terminal, f"mail mark-emails --status starred --email_ids {INBOX_MAIL} --email_ids /mail/INBOX/2026-09-10/Second*.json")
    assert terminal.run("cat /mail/INBOX/*/*.json | grep -c STARRED").stdout == "2\n"
    run(terminal, f"mail mark-emails --status unread --email_ids {INBOX_MAIL}")
    assert '"UNREAD"' in terminal.run(f"cat {INBOX_MAIL}").stdout
    assert "use move-email" in run(terminal, f"mail label-emails --email_ids {INBOX_MAIL} --add Projects", 1)["error"]["message"]
    moved = run(terminal, f"mail move-email --email_id {INBOX_MAIL} --target_folder Projects")
    assert moved["path"].startswith("/mail/Projects/2026-09-09/Course_") and terminal.fs.exists(moved["path"])
    assert terminal.run(f"ls {INBOX_MAIL}").exit_code == 2
    trashed = run(terminal, f"mail trash-emails --email_ids {moved['id']}")["emails"][0]
    assert trashed["path"].startswith("/mail/Trash/") and not terminal.fs.exists(moved["path"])
    assert run(terminal, f"mail delete-email --email_id '{trashed['path']}'") == {"deleted": [trashed["id"]]}
    assert found(terminal, "/mail/Trash/*") == "" and run(terminal, f"mail read-email --email_id {trashed['id']}", 1)["error"]["code"] == 404


def test_folders(terminal):
    assert run(terminal, "mail create-folder --folder_name Projects/Cérès")["path"] == "/mail/Projects/Cérès"
    run(terminal, f"mail move-email --email_id {INBOX_MAIL} --target_folder Projects/Cérès")
    stats = {f["name"]: f["messages"] for f in run(terminal, "mail get-folders")["folders"]}
    assert stats["INBOX"] == 1 and stats["Projects/Cérès"] == 1
    assert run(terminal, "mail get-unread-count --folder_name INBOX") == {"INBOX": 1}
    assert run(terminal, "mail create-folder --folder_name projects", 1)["error"]["code"] == 409
    run(terminal, "mail delete-folder --folder_name Projects/Cérès")
    assert not terminal.fs.exists("/mail/Projects/Cérès")


def test_drafts(terminal, smtp):
    draft = run(terminal, "mail save-draft --subject Idea --body first --to a@b.example")
    assert draft["path"].startswith("/mail/Drafts/20") and '"DRAFT"' in terminal.run(f"cat '{draft['path']}'").stdout
    changed = run(terminal, f"mail update-draft --draft_id {draft['id']} --body second")
    assert not terminal.fs.exists(draft["path"]) and json.loads(terminal.fs.read(changed["path"]))["body"].startswith("second\n")
    assert [d["id"] for d in run(terminal, "mail get-drafts")["drafts"]] == [changed["id"]]
    sent = run(terminal, f"mail send-draft --draft_id '{changed['path']}'")
    assert sent["path"].startswith("/mail/Sent/") and found(terminal, "/mail/Drafts/*") == "" and len(smtp.received) == 1


def test_export_and_import(terminal, smtp):
    run(terminal, f"mail move-email --email_id {INBOX_MAIL} --target_folder Projects")
    before = terminal.run("cat /mail/INBOX/*/*.json /mail/Projects/*/*.json | jq -c '[.subject, .date, .body, .labels]'").stdout
    assert run(terminal, "mail export-emails --export_all_folders --export_path all.json")["exported"] == 2
    for path in terminal.run("ls /mail/INBOX/*/*.json /mail/Projects/*/*.json").stdout.splitlines():
        run(terminal, f"mail delete-email --email_id '{path}'")
    run(terminal, "mail delete-folder --folder_name Projects")
    assert run(terminal, "mail import-emails --import_path all.json")["imported"] == 2
    after = terminal.run("cat /mail/INBOX/*/*.json /mail/Projects/*/*.json | jq -c '[.subject, .date, .body, .labels]'").stdout
    assert after.replace("\\n\\n\"", "\\n\"").count("\n") == before.count("\n") == 2 and "Second" in after and '"Projects"' in after
    terminal.run("mkdir d; cat /mail/INBOX/*/Second__*.eml > d/x.eml")
    assert "target_folder is needed" in run(terminal, "mail import-emails --import_path d --preserve_folders false", 2)["error"]["message"]
    assert not smtp.received


def test_from_configuration(server, tmp_path, monkeypatch):
    monkeypatch.setenv("IMAP_TEST_PASSWORD", PASSWORD)
    mount = make_mount(server)
    same = {"host": "127.0.0.1", "user": USER, "port": server.port, "password": Token()}
    for options in ({}, same):
        cli = make_cli("m", "imap", options, mounts={"/post": mount}, folder=tmp_path)
        assert isinstance(cli, MailCli) and cli.service is mount and cli.point == "/post"
    alone = make_cli("m", "imap", {**same, "tls": "none", "password": "env:IMAP_TEST_PASSWORD"}, mounts={}, folder=tmp_path)
    with Terminal({}, clis=[alone]) as terminal:
        assert run(terminal, "m get-unread-count --folder_name INBOX") == {"INBOX": 1}
    with pytest.raises(ValueError):
        make_cli("m", "imap", {}, mounts={}, folder=tmp_path)
