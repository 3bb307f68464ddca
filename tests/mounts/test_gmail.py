from __future__ import annotations

import errno
import json
import math
import re
import threading
import time
from pathlib import Path

import pytest

from mirage.bench.services.clock import Clock
from mirage.bench.services.gmail import GmailSimulator
from mirage.bench.services.gmail.seed import NOW
from mirage.mounts.gmail.mount import Gmail
from mirage.vfs.registry import ProviderError
from mirage.vfs.registry import make_mount as mount_by_name
from mirage.vfs.search import Query
from mirage.vfs.secrets import hide
from mirage.vfs.service import Retry
from tests.mounts.contract import MountContract
from tests.mounts.gmail_support import COURSE, QUICK, Token, everything, make_mount, make_terminal, user_credentials


@pytest.fixture(scope="module")
def small():
    with GmailSimulator(messages=60) as simulator:
        yield simulator


@pytest.fixture
def simulator():
    with GmailSimulator(messages=60) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def year():
    with GmailSimulator(messages=600) as simulator:
        yield simulator


class TestContract(MountContract):
    @pytest.fixture
    def mount(self, small):
        small.heal()
        small.fault("status", "/messages", times=3, status=429, seconds=0.02)
        small.fault("status", "batch", times=1, status=503)
        small.fault("reset", "batch", times=1)
        small.fault("truncate", "batch", times=1)
        mount = make_mount(small)
        mount.client.retry = Retry(tries=8, base=0.01, most=1.0)
        yield mount
        small.heal()


# ---- the tree

def test_folders_are_labels(small):
    mount = make_mount(small)
    names = [e.name for e in mount.list("/")]
    assert {"INBOX", "Sent", "Drafts", "Trash", "Spam", "Archive", "Projects", "Invoices"} <= set(names)
    assert "Apollo" in [e.name for e in mount.list("/Projects")]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", e.name) for e in mount.list("/INBOX"))


def test_the_example_of_the_documentation(small):
    mount = make_mount(small)
    assert {e.name for e in mount.list("/INBOX/2026-09-09")} >= {f"{COURSE[18:]}.email.json", COURSE[18:]}
    value = json.loads(mount.read(f"{COURSE}.email.json"))
    assert list(value) == ["id", "threadId", "folder", "date", "from", "to", "cc", "bcc", "replyTo", "subject", "body",
                           "labels", "attachments"]
    assert value["id"] == "6" and value["folder"] == "INBOX" and value["date"] == "2026-09-09T07:15:00Z"
    data = mount.read(f"{COURSE}/course_schedule.md")
    assert data.startswith(b"# Course schedule")
    assert value["attachments"] == [{"name": "course_schedule.md", "mimeType": "text/markdown", "size": len(data),
                                     "path": f"/mail{COURSE}/course_schedule.md"}]


def test_attachment_paths_follow_the_mount_point(small):
    mount = make_mount(small)
    mount.mounted_at("/post/box")
    assert json.loads(mount.read(f"{COURSE}.email.json"))["attachments"][0]["path"].startswith("/post/box/INBOX/2026-")


def test_hard_subjects_have_safe_names(small):
    names = {path.rpartition("/")[2] for path in everything(make_mount(small))}
    stems = {re.sub(r"__[0-9a-f]+\.email\.json$", "", name) for name in names}
    assert {"untitled", "Q3_Q4 plan: sales\\support _ 50% off?", "Two_lines in_a subject", "🎉 Apollo ships! 🚀"} <= stems
    long = next(s for s in stems if s.startswith("A very long"))
    assert 110 < len(long.encode()) <= 120


def test_attachments_of_one_name_are_told_apart(small):
    contents = {path: data for path, data in everything(make_mount(small)).items() if "Two files" in path}
    files = {path.rpartition("/")[2]: data for path, data in contents.items() if "/Two files" in path}
    assert files["report__1.txt"] == b"first report\n" and files["report__2.txt"] == b"second report\n"
    assert files["a_b.txt"] == b"a name with a slash\n"


def test_html_only_mail_reads_as_text(small):
    body = next(json.loads(d)["body"] for p, d in everything(make_mount(small)).items() if "Política" in p)
    assert body == "Hola Mara,\n\nla política está lista.\n\nMes | Días\nAgosto | 20\n\nUn saludo & gracias\n"


def test_large_attachment(small):
    path = next(p for p in everything_names(make_mount(small)) if p.endswith("test-field.bin"))
    mount = make_mount(small)
    assert mount.stat(path).size == 10 << 20
    data = mount.read(path)
    assert len(data) == 10 << 20 and mount.read(path, 5 << 20, 16) == data[5 << 20:(5 << 20) + 16]


def everything_names(mount):
    found, todo = [], ["/INBOX"]
    while todo:
        at = todo.pop()
        for entry in mount.list(at):
            path = f"{at}/{entry.name}"
            (todo if entry.stat.is_dir else found).append(path)
    return found


def test_the_raw_message_is_there_but_not_listed(small):
    mount = make_mount(small)
    assert not any(e.name.endswith(".eml") for e in mount.list("/INBOX/2026-09-09"))
    raw = mount.read(f"{COURSE}.eml")
    assert b"Subject: Course_Schedule_Notification" in raw and mount.stat(f"{COURSE}.eml").size == len(raw)


def test_a_wrong_name_is_no_name(small):
    mount = make_mount(small)
    for path in ("/INBOX/2026-09-09/Other__6.email.json", "/INBOX/2026-09-10/Course_Schedule_Notification__6.email.json",
                 "/Sent/2026-09-09/Course_Schedule_Notification__6.email.json", "/INBOX/2026-09-09/x__ffff.email.json",
                 "/INBOX/2026-09-09/no id.email.json", "/INBOX/2026-13-77", "/INBOX/2020-01-01", f"{COURSE}/none.md"):
        with pytest.raises(FileNotFoundError):
            mount.stat(path)


def test_days_are_in_the_time_zone_of_the_mount(simulator):
    late = Clock(NOW)
    simulator.mailbox.clock = late                           # 16:00 UTC
    simulator.mailbox.deliver("a@b.example", "late", "x")
    names = [e.name for e in make_mount(simulator, tz="Pacific/Auckland").list("/INBOX")]
    assert "2026-10-01" in names
    value = json.loads(next(d for p, d in everything(make_mount(simulator, tz="Pacific/Auckland")).items() if "/late__" in p))
    assert value["date"].startswith("2026-10-01T05:00:01+13:00")


def test_message_in_several_folders(small):
    mount = make_mount(small)
    paths = [p for p in everything(mount) if "Champagne" in p or "Apollo ships" in p]
    assert [p.split("/")[1] for p in sorted(paths)] == ["INBOX", "Projects"]
    assert sorted(mount.names(paths[0])) == sorted(paths) and mount.stat(paths[0]).nlink == 2


def test_a_rule_about_one_folder_holds_in_the_others(small):
    terminal = make_terminal(small, policy="rules:\n  - {path: '/mail/Projects/**', action: hide}\n")
    with terminal:
        found = terminal.run("find /mail -name '*Apollo ships*'; cat /mail/INBOX/*/*Apollo*ships*; ls /mail")
        assert "Apollo ships" not in found.stdout and "Projects" not in found.stdout


# ---- what it costs

def test_listing_costs_pages_and_batches(year):
    mount = make_mount(year)
    terminal = make_terminal(year, mount)
    with terminal:
        year.clear_log()
        count = len(terminal.run("ls /mail/INBOX/*").stdout.split("email.json")) - 1
        assert count == 125
        assert len(year.log) <= 1 + 1 + math.ceil(count / 100), year.log
        year.clear_log()
        terminal.run("ls /mail/INBOX")
        assert len(year.log) <= 1
        year.clear_log()
        result = terminal.run("ls /mail/INBOX/2026-09-09; ls /mail/INBOX | wc -l; stat /mail/INBOX/2026-09-09")
        assert len(year.log) <= 1 and result.usage.calls == len(year.log)


def test_one_file_by_its_path_is_few_calls(year):
    with make_terminal(year) as terminal:
        year.clear_log()
        assert '"id": "6"' in terminal.run(f"cat /mail{COURSE}.email.json").stdout
        assert len(year.log) <= 2, year.log
        year.clear_log()
        assert '"id": "6"' in terminal.run(f"cat /mail{COURSE}.email.json").stdout
        assert len(year.log) <= 1, year.log


def test_old_day_of_an_unlisted_folder_is_asked_alone(year):
    with make_terminal(year) as terminal:
        year.clear_log()
        assert "Course_Schedule" in terminal.run("ls /mail/INBOX/2026-09-09").stdout
        assert len(year.log) <= 4 and sum(e.parts for e in year.log) < 10, year.log


def test_reading_in_order_reads_ahead(year):
    with make_terminal(year) as terminal:
        terminal.run("ls /mail/Customers")
        year.clear_log()
        result = terminal.run("cat /mail/Customers/*/*.email.json | jq -r .id | wc -l")
        assert result.stdout == "68\n", result.stderr
        assert len(year.log) <= 8, year.log


def test_grep_fetches_many_at_a_time(year):
    with make_terminal(year) as terminal:
        terminal.run("find /mail > /dev/null")
        fault = year.fault("latency", seconds=0.05)
        try:
            year.clear_log()
            year.busiest = 0
            result = terminal.run("grep -r --exact --include='*.email.json' -l 'no such text anywhere' /mail")
        finally:
            year.heal()
        assert result.exit_code == 1 and result.stderr == "" and fault.seen
        assert len(year.log) <= 25 and sum(e.parts for e in year.log) >= 590
        assert year.busiest > 1


def test_nothing_is_asked_before_it_is_needed(year):
    year.clear_log()
    with make_terminal(year) as terminal:
        terminal.run("echo hi; ls /; cat /VFS.md; mail --help; mail send-email --help")
    assert year.log == []


# ---- freshness

def test_changes_by_others_show_in_the_next_line(simulator):
    box = simulator.mailbox
    with make_terminal(simulator) as terminal:
        before = terminal.run("find /mail -name '*.email.json'").stdout
        new = box.deliver("Kim <kim@news.example>", "Fresh news", "hello")
        assert terminal.run("ls /mail/INBOX/2026-09-30").stdout == f"Fresh news__{new.id}.email.json\n"
        box.change_labels([new.id], [], ["INBOX"])
        assert terminal.run("ls /mail/INBOX/2026-09-30").exit_code == 2
        assert "Fresh news" in terminal.run("ls /mail/Archive/2026-09-30").stdout
        box.change_labels([new.id], ["STARRED"], [])
        assert '"STARRED"' in terminal.run("cat /mail/Archive/2026-09-30/*.json").stdout
        box.trash([new.id])
        assert "Fresh news" in terminal.run("ls /mail/Trash/2026-09-30; ls /mail/Archive/2026-09-30").stdout
        box.delete([new.id])
        assert terminal.run("ls /mail/Trash/2026-09-30").exit_code == 2
        assert terminal.run("find /mail -name '*.email.json'").stdout == before


def test_a_history_that_is_too_old_means_start_again(simulator):
    with make_terminal(simulator) as terminal:
        terminal.run("ls /mail/INBOX")
        new = simulator.mailbox.deliver("a@b.example", "After a long time", "x")
        simulator.mailbox.oldest_history = simulator.mailbox.history_id + 100
        assert f"After a long time__{new.id}" in terminal.run("ls /mail/INBOX/2026-09-30").stdout


def test_new_label_is_found(simulator):
    with make_terminal(simulator) as terminal:
        terminal.run("ls /mail")
        simulator.mailbox.create_label("Fresh/Inner")
        mount = terminal.machine.namespace.find("/mail").mount
        mount.box._labels_fresh.expire()
        assert terminal.run("ls /mail/Fresh").stdout == "Inner\n"


# ---- faults

def test_a_short_retry_after_is_waited_for(simulator):
    mount = make_mount(simulator)
    fault = simulator.fault("status", "batch", times=2, status=429, seconds=0.05)
    started = time.monotonic()
    assert mount.list("/")
    assert fault.seen == 2 and time.monotonic() - started >= 0.1


def test_rate_limits_inside_a_batch_are_tried_again(simulator):
    mount = make_mount(simulator)
    mount.list("/")
    fault = simulator.fault("status", "GET /gmail/v1/users/me/messages/", times=7, status=429)
    assert len(mount.list("/INBOX")) > 5 and fault.seen == 7


@pytest.mark.parametrize(("fault", "number"), [
    ({"kind": "status", "status": 429, "seconds": 30.0}, errno.EAGAIN), ({"kind": "status", "status": 500}, errno.EIO),
    ({"kind": "status", "status": 403}, errno.EACCES), ({"kind": "status", "status": 401}, errno.EACCES),
    ({"kind": "reset"}, errno.EIO), ({"kind": "truncate"}, errno.EIO), ({"kind": "short"}, errno.EIO)])
def test_what_does_not_heal_is_an_errno(simulator, fault, number):
    with make_terminal(simulator) as terminal:
        terminal.run("ls /mail/INBOX/2026-09-09")            # the names are known, not the content
        simulator.fault(match="batch", **fault)
        result = terminal.run(f"cat /mail{COURSE}.email.json")
        assert result.exit_code == 1
        assert result.stdout == "" and "mirage: gmail: " in result.stderr
        with pytest.raises(OSError) as caught:
            terminal.fs.read(f"/mail{COURSE}.email.json")
        assert caught.value.errno == number
        if number == errno.EAGAIN:
            assert "try again in 30 s" in result.stderr and "Resource temporarily unavailable" in result.stderr
        assert not terminal.machine.errors
        simulator.heal()
        assert terminal.run(f"jq -r .id /mail{COURSE}.email.json").stdout == "6\n"


def test_slow_answers_time_out(simulator):
    from mirage.mounts.google import client
    mount = make_mount(simulator)
    mount.list("/")
    mount.client.retry = QUICK.__class__(tries=1)
    old, client.TIMEOUT = client.TIMEOUT, 0.2
    try:
        mount.client._local = threading.local()
        simulator.fault("latency", "batch", seconds=0.6)
        with pytest.raises(OSError) as caught:
            mount.list("/INBOX")
    finally:
        client.TIMEOUT = old
    assert caught.value.errno == errno.EIO and "in time" in caught.value.note


def test_expired_access_is_refreshed(simulator):
    mount = Gmail(credentials=user_credentials(simulator), endpoint=simulator.address, rate=0.0)
    assert mount.list("/")
    simulator.expire_tokens()
    assert mount.list("/INBOX") and mount.read(f"{COURSE}.email.json")
    assert simulator.calls("/token") >= 1
    simulator.expire_tokens()
    assert len(everything(mount)) > 60                       # many threads at once
    token = mount.client._credentials.token                 # not written in any configuration: hidden all the same
    assert len(token) >= 6 and hide(f"refused: {token}") == "refused: ***"


def test_refused_credentials_are_eacces_without_secrets(simulator):
    for options in ({"token": Token("CANARY-token")}, {"credentials": user_credentials(simulator, "CANARY-refresh")},
                    {"credentials": Token("CANARY not json")}, {"credentials": Token('{"client_id": "CANARY"}')}):
        mount = Gmail(**options, endpoint=simulator.address, rate=0.0)
        mount.client.retry = QUICK
        with pytest.raises(PermissionError) as caught:
            mount.list("/")
        shown = f"{caught.value} {caught.value!r} {caught.value.note} {mount!r} {mount.client!r} {vars(mount)}"
        assert "CANARY" not in shown and "s3cret" not in shown


def test_a_missing_secret_names_only_its_reference(simulator):
    mount = mount_by_name("gmail", {"token": "env:NO_SUCH_MAIL_TOKEN", "endpoint": simulator.address})
    with pytest.raises(PermissionError) as caught:
        mount.list("/")
    assert "env:NO_SUCH_MAIL_TOKEN" in caught.value.note


def test_options_are_checked():
    for options in ({}, {"token": "env:A", "credentials": "env:B"}, {"token": "env:A", "search": "fast"},
                    {"token": "env:A", "tz": "Mars/Olympus"}, {"token": "hunter2"}, {"token": "env:A", "colour": "red"}):
        with pytest.raises((ProviderError, ValueError)) as caught:
            mount_by_name("gmail", options)
        assert "hunter2" not in str(caught.value)


def test_threads_share_one_mount(simulator):
    mount = make_mount(simulator)
    failures = []

    def look():
        try:
            assert len(everything(mount)) > 60
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures


# ---- search

WORDS = ("invoice Apollo Norrsken firmware Kisho anemometers Weiß budget certification the champagne refund NI Mara "
         "attached nice othing ntext PDF pdf markdown plain text application octet stream zip png csv Invoices Customers "
         "Sent INBOX Archive UNREAD STARRED id subject body mail labels 2026 09 07 16 2490 88 240 1042 1003 report "
         "course_schedule course schedule Course_Schedule_Notification Lindqvist lindqvist mara example norrsken "
         "política Días Hola saludo Gr Grüße board margins footage recording Two lines old program very long rain wind "
         "Q3 Q4 sales support wiki rocket WON prize password click Bergen Halle Köhler koehler uni halle Re Fwd "
         "calibration values kelvin offset invite ics review vacaciones 見積書 misaki tanaka drone bin test field "
         "warranty courier update restart Alpine Training Institute Seats autumn September").split()


@pytest.fixture(scope="module")
def searched():
    with GmailSimulator(messages=150, index_lag=300) as simulator:
        simulator.mailbox.deliver("New <new@late.example>", "Brandnew zebra", "A quagga and an invoice.\nnext line")
        simulator.mailbox.deliver("Old <old@late.example>", "Second zebra", "Only an okapi, number 74123.")
        mount = make_mount(simulator, lag=300.0)
        yield simulator, mount, everything(make_mount(simulator))


def test_no_whole_word_is_missed(searched):
    simulator, mount, contents = searched
    texts = {path: data.decode("utf-8", "surrogateescape") for path, data in contents.items()
             if len(data) < 1 << 20}
    assert len(WORDS) >= 100
    asked = 0
    for number, word in enumerate((*WORDS, "zebra", "quagga", "okapi", "next")):
        ignore_case = number % 3 == 0
        pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE if ignore_case else 0)
        expected = {path for path, text in texts.items() if pattern.search(text)}
        for top in ("/", "/INBOX", "/Projects") if number % 5 == 0 else ("/",):
            found = mount.search(top, Query([word], True, ignore_case))
            if found is None:
                continue
            asked += 1
            assert found.complete and not found.note
            wanted = {p for p in expected if p.startswith("/" if top == "/" else top + "/")}
            assert wanted <= set(found.paths), (word, top, wanted - set(found.paths))
    assert asked > 80, "most of the words should be asked of the service"


def test_grep_gives_the_same_with_and_without_the_service(searched):
    simulator, mount, _ = searched
    with make_terminal(simulator, make_mount(simulator, lag=300.0)) as terminal:
        for word in ("invoice", "Apollo", "zebra", "quagga", "anemometers", "plain", "Weiß", "74123"):
            service = terminal.run(f"grep -rwn '{word}' /mail")
            exact = terminal.run(f"grep --exact -rwn '{word}' /mail")
            assert service.stdout == exact.stdout and service.exit_code == exact.exit_code == 0, word
            assert service.stderr == exact.stderr
        assert terminal.run("grep -rlw zebra /mail").usage.searches == 1
        assert terminal.run("cd /mail/INBOX; grep -rlw zebra").stdout.startswith("2026-09-30/Brandnew")
        assert terminal.run(r"grep -rl 'a \bquagga\b and' /mail; grep -rl 'A quagga and an' /mail").stdout.count("\n") == 1


def test_grep_asks_little_for_a_rare_word(year):
    with make_terminal(year) as terminal:
        terminal.run("ls /mail")
        year.clear_log()
        result = terminal.run("grep -rlw --include='*.email.json' Champagne /mail")
        assert result.stdout.count("Apollo ships") == 2
        assert len(year.log) <= 6 and result.usage.searches == 1, year.log
        assert result.usage.candidates < 200


def test_names_that_grep_leaves_out_are_not_read(year):
    with make_terminal(year) as terminal:
        assert terminal.run("grep -rlw --include='*.csv' freight /mail").stdout.count(".csv\n") >= 20
        found = terminal.run("grep -rlw --exclude-dir=Invoices --exclude='*.csv' freight /mail").stdout
        assert found and "/Invoices/" not in found and ".csv" not in found


def test_above_the_bound_the_service_is_asked_and_it_is_said(year):
    with make_terminal(year, make_mount(year, bound=100)) as terminal:
        result = terminal.run("grep -rl nvoic /mail")
        assert re.fullmatch(r"grep: /mail: searched by the service for whole words; \d+ items not read "
                            r"\(--exact reads them\)\n", result.stderr)
        assert terminal.run("grep -rl --exact nvoic /mail").stdout.count("\n") > 100
        assert terminal.run("grep -rl nvoic /mail/HR").stderr == ""
    with make_terminal(year, make_mount(year, search="exact", bound=10)) as terminal:
        result = terminal.run("grep -rlw Champagne /mail/Projects")
        assert result.usage.searches == 0 and result.stdout.count("\n") == 1
    with make_terminal(year, make_mount(year, search="service")) as terminal:
        result = terminal.run("grep -rl champagn /mail/INBOX")
        assert result.exit_code == 1 and "items not read" in result.stderr


def test_counts_and_files_without_a_match_are_those_of_reading_everything(small):
    with make_terminal(small) as terminal:
        for options in ("-rwc", "-rwL", "-rwce zebra"):
            pushed = terminal.run(f"grep {options} -e Apollo /mail/INBOX")
            exact = terminal.run(f"grep --exact {options} -e Apollo /mail/INBOX")
            assert pushed.usage.searches >= 1 and exact.usage.searches == 0 and pushed.usage.reads < exact.usage.reads
            assert pushed.stdout == exact.stdout and pushed.exit_code == exact.exit_code and pushed.stdout.count("\n") > 20
        assert terminal.run("grep -rwv Apollo /mail/INBOX").usage.searches == 0


def test_search_shows_nothing_that_is_hidden(year):
    policy = ("rules:\n  - {path: '/mail/INBOX/**', action: hide}\n"
              "  - {path: '/mail/Invoices/**', effect: [list], action: deny, reason: closed}\n")
    with make_terminal(year, policy=policy) as terminal:
        result = terminal.run("grep -rlw --include='*.json' Champagne /mail; grep -rlw --include='*.json' Amount /mail")
        assert "INBOX" not in result.stdout and "Invoices/" not in result.stdout
        assert "grep: /mail/Invoices: Permission denied" in result.stderr


def test_describe(small):
    with make_terminal(small) as terminal:
        text = terminal.run("cat /VFS.md").stdout
    assert "`/mail`" in text and "## `.email.json` format" in text and "Read-only" in text
    example = re.search(r"```json\n(.*?)```", text, re.S).group(1)
    assert list(json.loads(example)) == list(json.loads(make_mount(small).read(f"{COURSE}.email.json")))


def test_the_example_of_the_readme(small):
    text = (Path(__file__).parents[2] / "mounts" / "gmail" / "README.md").read_text()
    (command, output), = re.findall(r"```console\n\$ (.*)\n((?:.*\n)*?)```", text)
    with make_terminal(small) as terminal:
        assert terminal.run(command).stdout == output
