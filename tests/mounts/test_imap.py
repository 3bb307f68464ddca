from __future__ import annotations

import errno
import json
import threading
from datetime import datetime
from pathlib import Path

import pytest

pytest.importorskip("pymap", reason="the IMAP server of these tests")
pytest.importorskip("imapclient")

from mirage.mounts.imap.account import _criteria, _without_bcc
from mirage.mounts.imap.folders import Folders
from mirage.mounts.mail.message import attachments, body
from mirage.mounts.mail.mime import from_bytes, from_structure
from mirage.vfs.registry import ProviderError
from mirage.vfs.registry import make_mount as mount_by_name
from mirage.vfs.search import Query
from tests.mounts.contract import MountContract, files, raises
from tests.mounts.honesty import check_honest
from tests.mounts.imap_support import PASSWORD, USER, Server, Token, day, fill, make_mount, make_terminal, message

README = Path(__file__).parents[2] / "mounts" / "imap" / "README.md"


@pytest.fixture(scope="module")
def shared():
    server = Server()
    fill(server)
    yield server
    server.stop()


@pytest.fixture
def server():
    server = Server()
    server.append("INBOX", message("First", "one\n"), day(1), "\\Seen")
    yield server
    server.stop()


class TestContract(MountContract):
    @pytest.fixture
    def mount(self, shared):
        mount = make_mount(shared)
        mount.list("/")
        shared.drop()                                        # whatever is open breaks, and heals
        yield mount
        mount.close()


def names(mount, path):
    return [e.name for e in mount.list(path)]


def the_file(mount, day, start):
    return next(f"/INBOX/{day}/{n}" for n in names(mount, f"/INBOX/{day}") if n.startswith(start) and n.endswith(".json"))


# ---- the tree

def test_it_is_the_tree_of_gmail(shared):
    mount = make_mount(shared)
    assert names(mount, "/") == ["Büro Umeå", "Drafts", "INBOX", "Projects", "Sent", "Trash"]
    assert names(mount, "/Projects") == ["Apollo"] and names(mount, "/Drafts") == []
    path = the_file(mount, "2026-09-09", "Course")
    value = json.loads(mount.read(path))
    assert list(value) == ["id", "threadId", "folder", "date", "from", "to", "cc", "bcc", "replyTo", "subject", "body", "labels",
                           "attachments"]
    assert value["folder"] == "INBOX" and value["date"] == "2026-09-09T07:15:00Z" and value["labels"] == ["INBOX"]
    data = mount.read(value["attachments"][0]["path"].removeprefix("/mail"))
    assert data.startswith(b"# Course schedule") and value["attachments"][0]["size"] == len(data)
    raw = mount.read(path.removesuffix(".email.json") + ".eml")
    assert b"Subject: Course_Schedule_Notification\r\n" in raw and raw.endswith(b"--\r\n")


def test_hard_messages(shared):
    mount = make_mount(shared)
    texts = {p: json.loads(d) for p, d in mount.read_many([f for f in files(mount) if f.endswith(".json")])}
    by_subject = {v["subject"]: v for v in texts.values()}
    assert by_subject["Política"]["body"] == "Hola Mara,\n\nla política está lista.\n" and "STARRED" in by_subject["Política"]["labels"]
    assert by_subject["見積書"]["body"] == "見積書\n"
    assert by_subject["Grüße: Q3/Q4 💡"]["from"] == "Łukasz Nowak <lukasz@norrsken.example>"
    assert any("/untitled__" in p for p, v in texts.items() if v["subject"] == "")
    assert [a["name"] for a in by_subject["Two files"]["attachments"]] == ["report.txt", "ünï.csv"]
    assert by_subject["Re: Large"]["threadId"] == "<large@test.example>" and by_subject["Plants"]["folder"] == "Büro Umeå"
    (inner,) = by_subject["Fwd: inner"]["attachments"]
    assert inner["mimeType"] == "message/rfc822" and b"the inner text" in mount.read(inner["path"].removeprefix("/mail"))
    for value in texts.values():
        for file in value["attachments"]:
            assert len(mount.read(file["path"].removeprefix("/mail"))) == file["size"], file


def test_of_a_large_message_only_the_text_is_fetched(shared):
    mount = make_mount(shared)
    path = the_file(mount, "2026-09-14", "Large")
    before = mount.counters.bytes
    value = json.loads(mount.read(path))
    assert value["body"].strip() == "the recording" and value["attachments"][0]["size"] == 1 << 20
    assert mount.counters.bytes - before < 10_000
    file = value["attachments"][0]["path"].removeprefix("/mail")
    assert mount.read(file, 256, 4) == bytes([0, 1, 2, 3]) and mount.stat(file).size == 1 << 20


def test_a_wrong_name_is_no_name(shared):
    mount = make_mount(shared)
    good = the_file(mount, "2026-09-09", "Course")
    for path in (good.replace("Course_S", "Other_S"), good.replace("2026-09-09", "2026-09-10"), good.replace("/INBOX/", "/Sent/"),
                 good.replace("__", "__9"), "/INBOX/2026-09-09/x__1.ffffff.email.json", "/INBOX/2026-13-77", "/INBOX/2020-01-01",
                 "/Nowhere", f"{good.removesuffix('.email.json')}/none.md", "/INBOX/2026-09-09/no id.email.json"):
        raises(errno.ENOENT, mount.stat, path)
        raises(errno.ENOENT, make_mount(shared).stat, path)


def test_days_are_in_the_time_zone_of_the_mount(shared):
    mount = make_mount(shared, tz="Pacific/Auckland")
    assert any(n.startswith("Re: Large") for n in names(mount, "/INBOX/2026-09-15"))
    assert not any(n.startswith("Re: Large") for n in names(make_mount(shared, tz="Pacific/Auckland"), "/INBOX/2026-09-14"))


def test_folders_by_use_and_by_name():
    folders = Folders([((b"\\HasNoChildren",), b".", "INBOX"), ((), b".", "INBOX.Sent Items"), ((b"\\Trash",), b".", "INBOX.Papierkorb"),
                       ((b"\\Noselect",), b".", "Shared"), ((), b".", "Shared.Team/A"), ((), b".", "UNREAD"), ((), b".", "2026-01-01")])
    assert folders.special == {"Trash": "INBOX.Papierkorb", "Sent": "INBOX.Sent Items"}
    assert sorted(f.path for f in folders.root.walk() if f.label) == ["2026-01-01__2026-01-01", "INBOX", "Sent", "Shared/Team_A", "Trash", "UNREAD"]
    assert folders.of(frozenset({"INBOX", "UNREAD"}))[0].path == "INBOX" and folders.raw(folders.label_of("unread")) == "UNREAD"
    assert folders.shown(frozenset({"INBOX.Sent Items", "STARRED"})) == ["STARRED", "Sent"]
    assert folders.name_for("A/B") == "INBOX.A.B" and Folders([((), b"/", "INBOX")]).name_for("A/B") == "A/B"


def test_structure_and_message_give_the_same_parts(shared):
    mount = make_mount(shared)
    metas = mount.box.messages(mount.box.folders().find("INBOX"))
    for meta in metas:
        whole = from_bytes(mount.box.raw(meta.id))
        assert [(a.name, a.part, a.mime_type) for a in attachments(whole)] == [(a.name, a.part, a.mime_type) for a in meta.attachments]
    text = from_structure(([(b"TEXT", b"PLAIN", (b"CHARSET", b"utf-8"), None, None, b"7BIT", 5, 1, None, None),
                            (b"IMAGE", b"PNG", (b"NAME", b"x.png"), None, None, b"BASE64", 9, None,
                             (b"ATTACHMENT", (b"FILENAME*0*", b"utf-8''%C3%BCn", b"FILENAME*1*", b"%C3%AF.png")))], b"MIXED"), b"Subject: a\r\n")
    assert [(a.title, a.part, a.size) for a in attachments(text)] == [("ünï.png", "2", None)] and body(text) == ""


# ---- cost and freshness

def test_calls_are_as_few_as_can_be(shared):
    with make_terminal(shared) as terminal:
        counters = terminal.machine.namespace.find("/mail").mount.counters

        def calls(line):
            before = counters.calls
            result = terminal.run(line)
            assert result.exit_code == 0, result
            return counters.calls - before
        assert calls("echo hi; ls /; cat /VFS.md; mail --help; mail send-email --help") == 0
        assert calls("ls /mail") == 2                        # login, folders
        assert calls("ls /mail/INBOX") == 2                  # open, one FETCH for all messages
        assert calls("ls /mail/INBOX; ls -l /mail/INBOX/*") == 2                             # open again, flags
        assert calls("cat /mail/INBOX/2026-08-*/*.json | grep -c subject") <= 2 + 4          # 1, 8 and 50 at a time
        assert calls("cat /mail/INBOX/2026-08-*/*.json > /dev/null") == 2
    with make_terminal(shared) as terminal:
        counters = terminal.machine.namespace.find("/mail").mount.counters
        path = the_file(make_mount(shared), "2026-09-09", "Course")
        assert '"Course_Schedule' in terminal.run(f"cat /mail{path}").stdout
        assert counters.calls == 4, "login, folders, open, and one FETCH"
        terminal.run("ls /mail/INBOX/2026-09-13")
        assert counters.calls <= 4 + 3


def test_changes_by_others_show_in_the_next_line(server):
    with make_terminal(server) as terminal:
        assert "First" in terminal.run("ls /mail/INBOX/2026-09-01").stdout
        server.append("INBOX", message("Fresh news", "hello\n"), day(2))
        assert "Fresh news" in terminal.run("ls /mail/INBOX/2026-09-02").stdout
        other = server.login()
        other.select("INBOX")
        other.store("1", "+FLAGS", "(\\Flagged)")
        other.store("2", "+FLAGS", "(\\Seen)")
        assert '"STARRED"' in terminal.run("cat /mail/INBOX/2026-09-01/*.json").stdout
        assert '"UNREAD"' not in terminal.run("cat /mail/INBOX/2026-09-02/*.json").stdout
        other.store("1", "+FLAGS", "(\\Deleted)")
        other.expunge()
        assert terminal.run("ls /mail/INBOX/2026-09-01").exit_code == 2
        other.create("Later")
        terminal.machine.namespace.find("/mail").mount.box._folders_fresh.expire()
        assert terminal.run("ls /mail/Later").exit_code == 0
        other.logout()


# ---- failures

def test_a_broken_connection_heals(server):
    with make_terminal(server) as terminal:
        for _ in range(3):
            assert "First" in terminal.run("cat /mail/INBOX/*/*.json").stdout
            server.drop()
        result = terminal.run("mail mark-emails --status unread --email_ids /mail/INBOX/2026-09-01/First*.json")
        assert result.exit_code == 0 and not terminal.machine.errors


def test_what_does_not_heal_is_an_errno(server):
    with make_terminal(server) as terminal:
        terminal.run("ls /mail/INBOX/*")
        server.stop()
        result = terminal.run("cat /mail/INBOX/2026-09-01/*.json; ls /mail/Sent")
        assert result.stdout == "" and "mirage: imap: the connection failed" in result.stderr
        terminal.machine.namespace.find("/mail").mount.box.touch("INBOX")
        with pytest.raises(OSError) as caught:
            terminal.fs.list("/mail/INBOX")
        assert caught.value.errno == errno.EIO and not terminal.machine.errors


def test_a_wrong_password_is_eacces_and_shows_nowhere(shared):
    mount = make_mount(shared)
    mount.client._secrets = (Token("CANARY-wrong"), None)
    with pytest.raises(PermissionError) as caught:
        mount.list("/")
    assert "CANARY" not in f"{caught.value!r} {caught.value.note} {mount!r} {mount.client!r}"
    with make_terminal(shared) as terminal:
        seen = [terminal.run(line) for line in ("env; cat /VFS.md /SKILL.md; mail check-connection; ls -la /mail",
                                                "mail send-email --to a@b.example --subject x --body y; mail read-email --email_id nope")]
        assert PASSWORD not in "".join(f"{r.stdout}{r.stderr}{r!r}{r.effects}" for r in seen) + repr(terminal.machine.clis)


def test_threads_share_one_mount(shared):
    mount, failures = make_mount(shared), []

    def look():
        try:
            assert len(files(mount)) > 30
        except BaseException as e:
            failures.append(e)
    threads = [threading.Thread(target=look) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures


def test_options_are_checked():
    good = {"host": "h", "user": "u", "password": "env:A"}
    assert mount_by_name("imap", good).box and mount_by_name("imap", {**good, "port": "1143", "tls": "none"}).client.port == 1143
    for options in ({}, {"host": "h", "user": "u"}, {**good, "token": "env:B"}, {**good, "tls": "maybe"}, {**good, "search": "fast"},
                    {**good, "tz": "Mars/Olympus"}, {**good, "password": "hunter2"}, {**good, "smtp_tls": "no"}):
        with pytest.raises((ProviderError, ValueError)) as caught:
            mount_by_name("imap", options)
        assert "hunter2" not in str(caught.value)


# ---- search

@pytest.fixture(scope="module")
def tiny():
    server = Server()
    fill(server, count=2, folders=False)
    yield server
    server.stop()


def test_search_is_honest(tiny):
    with make_terminal(tiny) as terminal:
        report = check_honest(terminal, "/mail", count=60)
        assert report.tried > 50 and report.pushed > 25 and report.announced == 0, report


def test_exact_reads_everything_and_says_nothing(tiny):
    with make_terminal(tiny, make_mount(tiny, search="exact")) as terminal:
        report = check_honest(terminal, "/mail", exact=True, count=200)
        assert report.pushed == 0 and report.tried > 150 and report.found > 100


def test_parts_of_words_are_pushed_down(shared):
    mount = make_mount(shared)
    found = mount.search("/", Query(["hampagn"], names=lambda name: name.endswith(".json")))
    assert any("Apollo ships" in p for p in found.paths) and len(found.paths) < 10 and found.complete
    assert mount.search("/", Query(["ab"])) is None and mount.search("/INBOX/2026-09-09", Query(["schedule"])) is None
    bounded = make_mount(shared, bound=0)
    found = bounded.search("/", Query(["hampagn"]))
    assert not found.complete and found.skipped >= 2 and "items not read (--exact reads them)" in found.note
    with make_terminal(shared, bounded) as terminal:
        result = terminal.run("grep -rl hampagn /mail")
        assert "Apollo ships" in result.stdout and "items not read" in result.stderr


def test_queries_of_the_cli():
    assert _criteria('from:anna subject:"two words" after:2026/01/31 is:unread plain') == [
        "FROM", "anna", "SUBJECT", "two words", "SINCE", datetime(2026, 1, 31).date(), "UNSEEN", "TEXT", "plain"]
    with pytest.raises(OSError):
        _criteria("before:yesterday")
    raw = b"From: a@b\r\nBcc: x@y,\r\n z@w\r\nbcc: q@r\r\nSubject: Bcc: no\r\n\r\nBcc: body\r\n"
    assert _without_bcc(raw) == b"From: a@b\r\nSubject: Bcc: no\r\n\r\nBcc: body\r\n"


# ---- CONDSTORE, with a server of a few lines

class Scripted(threading.Thread):
    """Speaks enough IMAP for one folder with messages that have modification sequences; `said` are its commands."""

    def __init__(self):
        import socket
        super().__init__(daemon=True)
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.messages, self.modseq, self.said = {1: "\\Seen", 2: ""}, 7, []
        self.start()

    def run(self):
        while True:
            connection, _ = self.listening.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        stream = connection.makefile("rwb")

        def say(text):
            stream.write(text.encode() + b"\r\n")
            stream.flush()
        say("* OK [CAPABILITY IMAP4rev1 CONDSTORE] ready")
        for line in stream:
            tag, command = line.decode().split(" ", 1)
            self.said.append(command.strip())
            if command.startswith("LIST"):
                say('* LIST () "/" INBOX')
            elif command.startswith("CAPABILITY"):
                say("* CAPABILITY IMAP4rev1 CONDSTORE")
            elif command.startswith(("EXAMINE", "SELECT")):
                say(f"* {len(self.messages)} EXISTS")
                say("* OK [UIDVALIDITY 5]")
                say(f"* OK [UIDNEXT {max(self.messages) + 1}]")
                say(f"* OK [HIGHESTMODSEQ {self.modseq}]")
            elif command.startswith("UID FETCH"):
                for n, (uid, flags) in enumerate(self.messages.items(), 1):
                    header = f"Subject: number {uid}\r\n\r\n"
                    more = (f' INTERNALDATE "0{uid}-Sep-2026 10:00:00 +0000" RFC822.SIZE 50 BODYSTRUCTURE ("TEXT" "PLAIN" NIL NIL NIL "7BIT" 5 1)'
                            f" BODY[HEADER.FIELDS (SUBJECT)] {{{len(header)}}}\r\n{header}") if "BODYSTRUCTURE" in command else ""
                    say(f"* {n} FETCH (UID {uid} FLAGS ({flags}){more})")
            say(f"{tag} OK done")


def test_with_condstore_one_command_tells_that_nothing_changed():
    scripted = Scripted()
    mount = make_mount(scripted)
    box = mount.box
    assert names(mount, "/INBOX") == ["2026-09-01", "2026-09-02"]

    def next_line():
        scripted.said.clear()
        box._state("INBOX").fresh.expire()
        return [n for d in names(mount, "/INBOX") for n in names(mount, f"/INBOX/{d}")]
    assert len(next_line()) == 2 and [c.split()[0] for c in scripted.said] == ["EXAMINE"]
    scripted.messages[2], scripted.modseq = "\\Seen", 8
    assert len(next_line()) == 2 and [c.split()[:2] for c in scripted.said] == [["EXAMINE", '"INBOX"'], ["UID", "FETCH"]]
    assert all("UNREAD" not in m.labels for m in box.messages(box.folders().find("INBOX")))
    del scripted.messages[1]
    scripted.messages[3], scripted.modseq = "", 9
    assert [n.split("__")[0] for n in next_line()] == ["number 2", "number 3"]


# ---- documentation

def test_the_example_of_the_readme(shared):
    import re
    (command, output), = re.findall(r"```console\n\$ (.*)\n((?:.*\n)*?)```", README.read_text())
    with make_terminal(shared) as terminal:
        result = terminal.run(command)
        assert re.sub(r"\d+\.[0-9a-f]{6}", "<id>", result.stdout) == output and result.exit_code == 0


def test_describe_is_short(shared):
    with make_terminal(shared) as terminal:
        text = terminal.run("cat /VFS.md").stdout
    assert "`/mail/<Folder>/<day>/<Subject>__<id>.email.json`" in text and len(text) < 2000
    assert USER not in text
