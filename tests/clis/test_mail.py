from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from mirage import Terminal
from mirage.bench.services.gmail import GmailSimulator
from mirage.clis import make_cli
from mirage.clis.mail import MailCli
from mirage.mounts.gmail.mount import Gmail
from mirage.mounts.memory import Memory
from mirage.policy import Verdict
from tests.clis.support import run
from tests.mounts.gmail_support import COURSE, Token, make_mount, make_terminal

INBOX_MAIL = f"/mail{COURSE}.email.json"


@pytest.fixture
def simulator():
    with GmailSimulator(messages=40) as simulator:
        yield simulator


@pytest.fixture
def terminal(simulator):
    with make_terminal(simulator) as terminal:
        yield terminal


def changes(simulator, before):
    return simulator.diff(before, simulator.state())["messages"]


def test_operations_are_those_of_the_usual_server():
    """Names (`send_email` is send-email), arguments, types, defaults, requirement; ours may have optional ones beside."""
    published = json.loads((Path(__file__).parent / "data" / "mail-operations.json").read_text())
    cli = MailCli(Gmail(Token("x")))
    assert set(published) <= set(cli.operations)
    for name, arguments in published.items():
        schema = cli.operations[name].model.model_json_schema()
        assert set(arguments) <= set(schema["properties"]), name
        assert set(schema.get("required", ())) == {k for k, a in arguments.items() if a.get("required")}, name
        for key, argument in arguments.items():
            mine = schema["properties"][key]
            assert argument["type"] in {part.get("type") for part in (mine, *mine.get("anyOf", ()))}, (name, key)
            assert mine.get("default") == argument.get("default"), (name, key)
    assert set(cli.operations) - set(published) == {"label-emails", "trash-emails", "send-draft"}


# ---- sending

def test_what_is_sent_is_in_sent_with_the_next_command(simulator, terminal):
    before = simulator.state()
    terminal.run("ls /mail/Sent")
    result = terminal.run("""mail send-email '{"to": "Ingrid <ingrid@bergenhavn.example>", "subject": "Grüße: 12/3",
        "body": "Fünf Stationen.\\nMara"}' > out; jq -r .path out; ls /mail/Sent/2026-09-30; cat "$(jq -r .path out)" """)
    path, name, *content = result.stdout.split("\n", 2)
    assert path == f"/mail/Sent/2026-09-30/{name}" and name.startswith("Grüße: 12_3__") and result.stderr == ""
    mail = json.loads(content[0])
    assert mail["to"] == ["Ingrid <ingrid@bergenhavn.example>"] and mail["body"] == "Fünf Stationen.\nMara\n"
    assert mail["from"] == "mara@norrsken.example" and mail["labels"] == ["SENT"]
    added = changes(simulator, before)["added"]
    assert [m["subject"] for m in added.values()] == ["Grüße: 12/3"]
    assert [e.effects for e in result.effects if e.effect == "call"] == [("send",)]


def test_arguments_in_every_form(simulator, terminal):
    forms = ["mail send-email --to a@b.example --subject One --body text",
             "mail send-email --to=a@b.example '{\"subject\": \"Two\", \"body\": \"text\"}'",
             "echo '{\"to\": \"a@b.example\", \"subject\": \"Three\", \"body\": \"text\"}' | mail send-email -",
             "echo '{\"to\": \"a@b.example\", \"subject\": \"Four\", \"body\": \"text\"}' > f; mail send-email @f"]
    before = simulator.state()
    for form in forms:
        run(terminal, form)
    assert [m["subject"] for m in changes(simulator, before)["added"].values()] == ["One", "Two", "Three", "Four"]


def test_attachments_are_files_of_the_terminal(simulator, terminal):
    before = simulator.state()
    run(terminal, "printf 'a,b\\n' > 'my list.csv'; mail send-email --to a@b.example --subject Files --body x --cc c@d.example "
        f"--bcc e@f.example --html_body '<b>x</b>' --attachments 'my list.csv' --attachments /mail{COURSE}/course_schedule.md")
    (message,) = changes(simulator, before)["added"].values()
    assert [a["name"] for a in message["attachments"]] == ["my list.csv", "course_schedule.md"]
    assert message["attachments"][0]["size"] == 4 and message["cc"] == "c@d.example" and message["bcc"] == "e@f.example"
    assert "<b>x</b>" in message["text"]
    assert terminal.run("cat /mail/Sent/2026-09-30/Files__*/my*").stdout == "a,b\n"


def test_large_attachments_are_uploaded(simulator, terminal):
    before = simulator.state()
    terminal.fs.write("/workspace/big.bin", bytes(range(256)) * 24_000)
    run(terminal, "mail send-email --to a@b.example --subject Big --body x --attachments big.bin")
    assert simulator.calls("POST /upload/gmail/v1/users/me/messages/send") == 1
    (message,) = changes(simulator, before)["added"].values()
    assert message["attachments"][0]["size"] == 256 * 24_000
    terminal.fs.write("/workspace/huge.bin", bytes(26 << 20))
    error = run(terminal, "mail send-email --to a@b.example --subject Big --body x --attachments huge.bin", 1)
    assert error["error"]["code"] == 413


def test_reply_and_forward(simulator, terminal):
    before = simulator.state()
    run(terminal, f"mail reply-email --email_id '{INBOX_MAIL}' --body 'Thank you.' --cc x@y.example")
    run(terminal, "mail reply-email --email_id 6 --body 'To all.' --reply_all")
    run(terminal, "mail forward-email --email_id 6 --to priya@norrsken.example --body 'Please look.'")
    reply, to_all, forward = changes(simulator, before)["added"].values()
    assert reply["subject"] == "Re: Course_Schedule_Notification" and reply["threadId"] == "6" == to_all["threadId"]
    assert reply["to"] == "Alpine Training Institute <office@alpine-training.example>" and reply["cc"] == "x@y.example"
    assert to_all["cc"] == ""                                # nobody else but the owner had it
    assert forward["subject"] == "Fwd: Course_Schedule_Notification" and forward["to"] == "priya@norrsken.example"
    assert "Please look." in forward["text"] and "From: Alpine Training Institute" in forward["text"]
    assert [a["name"] for a in forward["attachments"]] == ["course_schedule.md"]


def test_a_lost_answer_never_sends_twice(simulator, terminal):
    before = simulator.state()
    run(terminal, "mail check-connection")
    simulator.fault("reset", "messages/send", after=True)
    error = run(terminal, "mail send-email --to a@b.example --subject Once --body x", 1)
    assert "connection failed" in error["error"]["message"]
    assert len(changes(simulator, before)["added"]) == 1
    simulator.heal()
    simulator.fault("status", "messages/send", status=503)
    run(terminal, "mail send-email --to a@b.example --subject Never --body x", 1)
    assert simulator.calls("messages/send") == 2
    simulator.heal()
    simulator.fault("status", "messages/send", status=429, times=1, seconds=0.01)
    run(terminal, "mail send-email --to a@b.example --subject Later --body x")


# ---- looking

def test_lists_and_searches(simulator, terminal):
    found = run(terminal, "mail get-emails --page_size 5")
    assert len(found["emails"]) == 5 and found["emails"][0]["date"] > found["emails"][4]["date"]
    assert all(terminal.fs.exists(e["path"]) for e in found["emails"])
    found = run(terminal, "mail search-emails --query 'from:alpine has:attachment'")
    assert [e["id"] for e in found["emails"]] == ["6"] and not found["more"]
    assert run(terminal, "mail search-emails --query anything --folder Sent")["emails"] == []
    assert run(terminal, f"mail read-email --email_id {INBOX_MAIL}")["body"].startswith("Dear Ms Lindqvist")
    assert {h["name"] for h in run(terminal, "mail get-email-headers --email_id 6")["headers"]} >= {"From", "Message-ID"}
    assert run(terminal, "mail check-connection")["address"] == "mara@norrsken.example"
    assert run(terminal, "mail download-attachment --email_id 6 --attachment_filename course_schedule.md") \
        == {"path": "course_schedule.md", "size": len(terminal.fs.read("/workspace/course_schedule.md"))}


# ---- filing

def test_marks_and_labels(simulator, terminal):
    run(terminal, """mail mark-emails '{"email_ids": ["6"], "status": "unread"}'""")
    assert '"UNREAD"' in terminal.run(f"cat {INBOX_MAIL}").stdout
    run(terminal, "mail mark-emails --email_ids 6 --status read")
    assert '"UNREAD"' not in terminal.run(f"cat {INBOX_MAIL}").stdout
    run(terminal, "mail label-emails --email_ids 6 --add Projects/Apollo --remove INBOX")
    assert terminal.run(f"ls /mail/Projects/Apollo/2026-09-09; ls {INBOX_MAIL}").exit_code == 2
    labels = {simulator.mailbox.labels[x] for x in simulator.mailbox.get("6").labels}
    assert "Projects/Apollo" in labels and "INBOX" not in labels


def test_moving_trashing_deleting(simulator, terminal):
    answer = run(terminal, "mail move-email --email_id 6 --target_folder Archive")
    assert answer["path"].startswith("/mail/Archive/2026-09-09/") and terminal.fs.exists(answer["path"])
    answer = run(terminal, "mail move-email --email_id 6 --target_folder /mail/INBOX")
    assert answer["path"] == INBOX_MAIL
    answer = run(terminal, "mail trash-emails --email_ids 6")["emails"][0]
    assert answer["path"].startswith("/mail/Trash/") and not terminal.fs.exists(INBOX_MAIL)
    assert run(terminal, "mail delete-email --email_id 6") == {"deleted": ["6"]}
    assert terminal.run("ls /mail/Trash/2026-09-09").exit_code == 2 and "6" not in simulator.state()["messages"]
    ids = [e["id"] for e in run(terminal, "mail get-emails --page_size 3")["emails"]]
    run(terminal, f"mail move-emails '{json.dumps({'email_ids': ids[:2], 'target_folder': 'Customers'})}'")
    run(terminal, f"mail delete-emails '{json.dumps({'email_ids': ids[1:]})}'")
    assert set(ids) & set(simulator.state()["messages"]) == {ids[0]}


def test_folders(simulator, terminal):
    terminal.run("ls /mail")
    answer = run(terminal, "mail create-folder --folder_name Projects/Ceres")
    assert answer["path"] == "/mail/Projects/Ceres" and terminal.run("ls /mail/Projects").stdout.count("Ceres") == 1
    run(terminal, "mail move-email --email_id 6 --target_folder Projects/Ceres")
    assert run(terminal, "mail get-mailbox-stats --folder_name Projects/Ceres")["folders"][0]["messages"] == 1
    assert run(terminal, "mail get-unread-count --folder_name Projects/Ceres") == {"Projects/Ceres": 1}
    run(terminal, "mail delete-folder --folder_name Projects/Ceres")
    assert not terminal.fs.exists("/mail/Projects/Ceres")
    assert terminal.fs.exists(f"/mail/Archive{COURSE[6:]}.email.json")
    names = [f["name"] for f in run(terminal, "mail get-folders")["folders"]]
    assert {"INBOX", "Sent", "Projects/Apollo"} <= set(names)
    assert run(terminal, "mail create-folder --folder_name inbox", 1)["error"]["code"] == 409
    assert "there are: " in run(terminal, "mail get-emails --folder Nowhere", 1)["error"]["message"]


def test_drafts(simulator, terminal):
    draft = run(terminal, "mail save-draft --subject Idea --body 'first' --to a@b.example")
    assert draft["path"].startswith("/mail/Drafts/2026-09-30/Idea__")
    changed = run(terminal, f"mail update-draft --draft_id {draft['id']} --body second")
    assert changed["id"] == draft["id"] and changed["path"] != draft["path"] and not terminal.fs.exists(draft["path"])
    mail = json.loads(terminal.fs.read(changed["path"]))
    assert (mail["subject"], mail["body"], mail["to"]) == ("Idea", "second\n", ["a@b.example"])
    assert changed["id"] in [d["id"] for d in run(terminal, "mail get-drafts")["drafts"]]
    sent = run(terminal, f"mail send-draft --draft_id '{changed['path']}'")
    assert sent["path"].startswith("/mail/Sent/") and not terminal.fs.exists(changed["path"])
    other = run(terminal, "mail save-draft --subject Bad --body x")
    run(terminal, f"mail delete-draft --draft_id {other['messageId']}")
    assert not terminal.fs.exists(other["path"]) and not [d for d in simulator.mailbox.drafts if d == other["id"]]


# ---- archives

def test_export_and_import(simulator, terminal):
    terminal.run("mail label-emails --email_ids 6 --add STARRED; mail move-email --email_id 6 --target_folder Customers")
    before = terminal.run("cat /mail/Customers/2026-09-09/Course*.json | jq -S 'del(.id, .threadId, .attachments)'").stdout
    assert run(terminal, "mail export-emails --folder Customers --export_path c.json")["exported"] > 5
    run(terminal, "mail delete-email --email_id 6")
    state = simulator.state()
    terminal.run("jq '.emails |= map(select(.subject | startswith(\"Course\")))' c.json > one.json")
    (made,) = run(terminal, "mail import-emails --import_path one.json")["emails"]
    assert made["path"].startswith("/mail/Customers/2026-09-09/Course_Schedule_Notification__") and made["id"] != "6"
    assert terminal.run(f"cat '{made['path']}' | jq -S 'del(.id, .threadId, .attachments)'").stdout == before and '"STARRED"' in before
    assert terminal.run("head -1 /mail/Customers/2026-09-09/Course*/course_schedule.md").stdout.startswith("# Course schedule")
    assert len(changes(simulator, state)["added"]) == 1 and simulator.calls("messages/send") == 0
    terminal.run("mkdir d; cat /mail/INBOX/2026-09-*/*1.eml > d/none.eml; printf 'Subject: Alone\\n\\ntext\\n' > d/a.eml; rm d/none.eml; echo x > d/b.txt")
    found = run(terminal, "mail import-emails --import_path d --target_folder Invoices")
    assert found["imported"] == 1 and "/mail/Invoices/" in found["emails"][0]["path"]
    assert "not a file of export-emails" in run(terminal, "echo {} > x.json; mail import-emails --import_path x.json", 1)["error"]["message"]
    assert run(terminal, "mail export-emails --folder INBOX --export_all_folders", 2)["error"]["code"] == "invalid_arguments"


# ---- errors

@pytest.mark.parametrize(("line", "status", "text"), [
    ("mail send-email --to nobody --subject x --body y", 2, "not an e-mail address"),
    ("mail send-email --to 'a@b.example, c' --subject x --body y", 2, "not an e-mail address"),
    ("mail send-email --to a@b.example --subject $'x\\nBcc: evil@x.example' --body y", 2, "one line"),
    ("mail send-email --to a@b.example --body y", 2, "subject is required"),
    ("mail send-email --to a@b.example --subject x --body y --priority high", 2, "unknown argument"),
    ("mail send-email --to a@b.example --subject x --body y --attachments none.txt", 1, "none.txt: No such file"),
    ("mail read-email --email_id 77", 1, "no message '77'"), ("mail read-email --email_id ../../etc", 1, "no message"),
    ("mail mark-emails --email_ids 6 --status purple", 2, "status"), ("mail fly", 2, "no operation"),
    ("mail move-email --email_id 6 --target_folder Sent", 1, "cannot be moved"),
    ("mail delete-folder --folder_name INBOX", 1, "Invalid")])
def test_errors_are_json(terminal, line, status, text):
    assert text in run(terminal, line, status)["error"]["message"]
    assert not terminal.machine.errors


def test_refused_scope(simulator):
    simulator.tokens["reader"] = "https://www.googleapis.com/auth/gmail.readonly"
    with make_terminal(simulator, make_mount(simulator, "reader")) as terminal:
        assert terminal.run("ls /mail/INBOX").exit_code == 0
        error = run(terminal, "mail send-email --to a@b.example --subject x --body y", 1)["error"]
        assert error["code"] == 403 and "insufficient" in error["message"]


# ---- policy and secrets

ASK = "rules:\n  - {effect: send, action: ask, reason: 'a person looks at mail first'}\n"


def test_ask_holds_a_send(simulator):
    before = simulator.state()
    line = "mail send-email --to a@b.example --subject Held --body x"
    with make_terminal(simulator, policy=ASK) as terminal:
        result = terminal.run(line)
        assert result.exit_code == 126 and "held for approval" in result.stderr and "a person looks" in result.stderr
        assert result.refusals and terminal.run("mail get-emails").exit_code == 0
        assert terminal.run("mail save-draft --subject x --body y > d; mail send-draft --draft_id $(jq -r .id d)").exit_code == 126
    assert [m["subject"] for m in changes(simulator, before)["added"].values()] == ["x"]
    asked = []

    def owner(ask):
        asked.append(ask)
        return Verdict.allow() if "Yes" in str(ask.arguments) else Verdict.deny("not today")

    with make_terminal(simulator, policy=ASK, on_ask=owner) as terminal:
        assert terminal.run(line).exit_code == 126
        assert terminal.run(line.replace("Held", "Yes")).exit_code == 0
        assert asyncio.run(terminal.arun(line)).exit_code == 126
        assert asyncio.run(terminal.arun(line.replace("Held", "Yes"))).exit_code == 0
        assert asked[0].target == "mail send-email" and asked[0].arguments["subject"] == "Held"
        assert asyncio.run(terminal.arun("ls /mail/Sent/2026-09-30 | wc -l")).stdout == "2\n"


def test_attachments_go_through_the_gate(simulator):
    policy = "rules:\n  - {path: '/workspace/secret*', effect: [read], action: deny, reason: private}\n"
    before = simulator.state()
    with make_terminal(simulator, policy=policy) as terminal:
        terminal.run("echo x > secret.txt")
        error = run(terminal, "mail send-email --to a@b.example --subject x --body y --attachments secret.txt", 1)
        assert "Permission denied" in error["error"]["message"]
    assert not changes(simulator, before)["added"]


def test_credentials_are_never_seen_inside(simulator):
    simulator.tokens["CANARY-4711"] = simulator.tokens["simulator-token"]
    with make_terminal(simulator, make_mount(simulator, "CANARY-4711")) as terminal:
        seen = [terminal.run(line) for line in (
            "env; set; cat /VFS.md /SKILL.md; mail --help; mail check-connection; mail get-folders; ls -la /mail",
            f"cat {INBOX_MAIL}; grep -rlw Apollo /mail; mail read-email --email_id nope")]
        simulator.tokens.clear()
        seen += [terminal.run("cat /mail/Sent/*/*; mail send-email --to a@b.example --subject x --body y")]
        text = "".join(f"{r.stdout}{r.stderr}{r!r}{r.effects}{r.refusals}" for r in seen)
        assert "CANARY" not in text + repr(terminal.machine.clis) + repr(terminal.machine.errors)


# ---- making one

def test_from_configuration(simulator, tmp_path, monkeypatch):
    monkeypatch.setenv("MAIL_TEST_TOKEN", "simulator-token")
    mount = make_mount(simulator)
    shared = make_cli("mail", "gmail", {}, mounts={"/post": mount}, folder=tmp_path)
    assert isinstance(shared, MailCli) and shared.service is mount and shared.point == "/post"
    same = make_cli("m", "gmail", {"token": Token("x"), "endpoint": simulator.address}, mounts={"/post": mount}, folder=tmp_path)
    assert same.service is mount and same.name == "m"
    alone = make_cli("m", "gmail", {"token": "env:MAIL_TEST_TOKEN", "endpoint": simulator.address}, mounts={"/": Memory()},
                     folder=tmp_path)
    with Terminal({}, clis=[alone]) as terminal:
        assert "path" not in run(terminal, "m send-email --to a@b.example --subject x --body y")
    for options in ({}, {"colour": "red"}, {"token": "hunter2"}):
        with pytest.raises(ValueError) as caught:
            make_cli("mail", "gmail", options, mounts={}, folder=tmp_path)
        assert "hunter2" not in str(caught.value)


def test_help_shows_arguments_and_effects(terminal):
    text = terminal.run("mail reply-email --help").stdout
    assert "Effects: send" in text and '"email_id"' in text and '"title"' not in text
