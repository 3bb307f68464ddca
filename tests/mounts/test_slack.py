from __future__ import annotations

import errno
import json
import re

import pytest

from mirage.bench.services.slack import SlackSimulator
from mirage.mounts.slack.text import plain
from mirage.mounts.slack.tree import Slack
from mirage.vfs.registry import ProviderError
from mirage.vfs.registry import make_mount as mount_by_name
from mirage.vfs.search import Query
from mirage.vfs.service import Retry
from tests.mounts.contract import MountContract, everything, raises
from tests.mounts.slack_support import APOLLO, BOT, GENERAL, QUICK, Token, make_mount, make_terminal


@pytest.fixture(scope="module")
def small():
    """Without the channel that nobody may read."""
    with SlackSimulator(messages=60) as simulator:
        del simulator.workspace.conversations["C10OTHERS"]
        yield simulator


@pytest.fixture
def simulator():
    with SlackSimulator(messages=60) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def year():
    with SlackSimulator(messages=700) as simulator:
        del simulator.workspace.conversations["C10OTHERS"]
        yield simulator


class TestContract(MountContract):
    @pytest.fixture
    def mount(self, small):
        small.heal()
        small.fault("status", "conversations", times=3, status=429, seconds=0.02)
        small.fault("status", "users.list", times=1, status=500)
        small.fault("reset", "conversations.history", times=2)
        small.fault("truncate", "/api/", times=3)
        small.fault("short", "/api/", times=2)
        small.fault("truncate", "/files-pri/", times=1)
        small.fault("short", "/files-pri/", times=1)
        mount = make_mount(small)
        mount.client.retry = Retry(tries=12, base=0.01, most=1.0)
        yield mount
        small.heal()


# ---- the tree

def test_names(simulator):
    mount = make_mount(simulator)
    assert [e.name for e in mount.list("/")] == ["channels", "dms", "users"]
    assert "büro-umeå__C07BUERO" in [e.name for e in mount.list("/channels")]
    assert [e.name for e in mount.list("/dms")][-3:] == ["mpdm-mara--jonas--priya-1__G02GROUP", "priya__D02WITHPRIYA",
                                                        "soren__D04WITHSOREN"]
    assert "build_release__U20BUILD.json" in [e.name for e in mount.list("/users")]
    assert json.loads(mount.read("/users/priya__U03PRIYA.json"))["profile"]["title"] == "Cloud platform"
    assert [e.name for e in mount.list(APOLLO)] == ["chat.jsonl", "chat.txt", "files"]
    assert mount.list("/channels/new-ideas__C08EMPTY") == []


def test_threads_are_in_place(small):
    mount = make_mount(small)
    lines = [json.loads(line) for line in mount.read(f"{APOLLO}/chat.jsonl").decode().splitlines()]
    parent = next(m for m in lines if m.get("reply_count"))
    assert [r["user"] for r in parent["replies"]] == ["U03PRIYA", "U05SOREN"] and parent["ts"].endswith(".000119")
    assert parent["text"].startswith("The drift is back. <@U03PRIYA>") and "replies" not in parent["replies"][0]
    raises(errno.ENOENT, mount.stat, "/channels/apollo__C02APOLLO/2026-09-23/none")


def test_text_is_for_people(small):
    text = make_mount(small).read(f"{APOLLO}/chat.txt").decode()
    assert ("[09:00] Jonas Weiß: The drift is back. @Priya Raman can you look at #support? See the wiki "
            "(https://wiki.norrsken.example/drift) & the plot.\n  [file: drift plot.png]\n") in text
    assert "\n    [2026-09-23 07:05] Søren Dahl: Measured it twice.\n      Same value.\n" in text
    assert plain("<!here> <mailto:a@b.example|a@b.example> &lt;b&gt; <#C9>", str) == "@here mailto:a@b.example <b> #C9"


def test_files(small):
    mount = make_mount(small)
    listed = {e.name: e.stat.size for e in mount.list(f"{APOLLO}/files")}
    assert {"drift plot.png", "q3_q4 drift.csv", "notes__F003TEXT.txt", "notes__F004TEXT.txt"} == set(listed)
    assert mount.read(f"{APOLLO}/files/q3_q4 drift.csv") == b"hour,kelvin\n1,0.42\n"
    assert mount.read(f"{APOLLO}/files/notes__F003TEXT.txt").decode() == "Temperaturdrift: Quarz prüfen.\n"
    day = "/channels/general__C01GENERAL/2026-09-26/files"
    assert [e.name for e in mount.list(day)] == ["Reiserichtlinie.pdf", "recording.bin"]
    assert mount.stat(f"{day}/recording.bin").size == 2 << 20 and mount.read(f"{day}/recording.bin", 256, 3) == b"\0\1\2"


def test_a_wrong_name_is_no_name(small):
    mount = make_mount(small)
    for path in ("/channels/other__C01GENERAL", "/channels/untitled__D01WITHJONAS", "/channels/mpdm-mara--jonas--priya-1__G02GROUP",
                 "/channels/general__C99", "/channels/general", "/dms/jonas__D02WITHPRIYA", "/channels/general__C01GENERAL/2026-9-24",
                 "/channels/general__C01GENERAL/2026-13-77", "/channels/general__C01GENERAL/2026-09- 4", f"{APOLLO}/other.txt",
                 "/channels/general__C01GENERAL/2020-01-01", "/users/jonas__U03PRIYA.json", f"{APOLLO}/files/none"):
        raises(errno.ENOENT, mount.stat, path)


def test_days_are_in_the_time_zone_of_the_mount(simulator):
    simulator.workspace.add_message("C08EMPTY", "U02JONAS", "late", "1790805600.000000")      # 2026-09-30 22:00 UTC
    mount = make_mount(simulator, tz="Asia/Tokyo")
    assert [e.name for e in mount.list("/channels/new-ideas__C08EMPTY")] == ["2026-10-01"]
    assert mount.read("/channels/new-ideas__C08EMPTY/2026-10-01/chat.txt").decode() == "[07:00] Jonas Weiß: late\n"
    raises(errno.ENOENT, mount.stat, "/channels/new-ideas__C08EMPTY/2026-09-30")


def test_a_channel_that_may_not_be_read(simulator):
    with make_terminal(simulator) as terminal:
        result = terminal.run("ls /slack/channels/others__C10OTHERS; ls /slack/channels | grep -c .")
        assert "Permission denied" in result.stderr and "mirage: slack: not_in_channel" in result.stderr
        assert result.stdout == "11\n"


# ---- cost and freshness

def test_calls_are_as_few_as_can_be(year):
    with make_terminal(year) as terminal:
        year.clear_log()
        terminal.run("echo hi; ls /; cat /VFS.md; slack --help; slack post-message --help")
        assert year.log == []
        assert terminal.run(f"cat /slack{APOLLO}/chat.jsonl | wc -l").stdout == "1\n"
        assert [e.path.rpartition("/")[2] for e in year.log] == ["conversations.info", "conversations.history",
                                                                 "conversations.replies"]
        assert float(year.log[1].query["oldest"][0]) == 1790035200 and float(year.log[1].query["latest"][0]) == 1790121600
        year.clear_log()
        days = terminal.run("ls /slack/channels/borealis__C03BOREALIS").stdout.count("\n")
        assert days > 50 and len(year.log) == 2, year.log       # the channel, and its history in one page
        year.clear_log()
        result = terminal.run("cat /slack/channels/borealis__C03BOREALIS/*/chat.jsonl | jq -c 'select(.reply_count)' | wc -l")
        threads = int(result.stdout)
        assert year.calls() == year.calls("conversations.replies") == threads == result.usage.calls
        year.clear_log()
        terminal.run("cat /slack/channels/borealis__C03BOREALIS/*/chat.*; ls -l /slack/channels/borealis__C03BOREALIS/*/files")
        assert year.calls("users.list") == year.calls() <= 1


def test_a_long_history_lists_its_newest_days_and_has_the_others(simulator):
    space = simulator.workspace
    for n in range(1200):
        space.add_message("C08EMPTY", "U02JONAS", f"number {n}", f"{1788220800 + n * 2000}.000000")
    mount = make_mount(simulator, pages=1)
    names = [e.name for e in mount.list("/channels/new-ideas__C08EMPTY")]
    assert names[-1] == "2026-09-28" and names[0] == "2026-09-06" and len(names) == 23
    assert b"number 0" in mount.read("/channels/new-ideas__C08EMPTY/2026-09-01/chat.txt")
    full = make_mount(simulator)
    assert len(full.list("/channels/new-ideas__C08EMPTY")) == 28
    for name in names:
        path = f"/channels/new-ideas__C08EMPTY/{name}/chat.jsonl"
        assert mount.read(path) == full.read(path), name


def test_changes_by_others_show_after_the_ttl(simulator):
    mount = make_mount(simulator)
    path = "/channels/büro-umeå__C07BUERO"
    before = mount.list(path)
    simulator.workspace.add_message("C07BUERO", "U02JONAS", "new", "1790780000.000000")
    assert [e.name for e in mount.list(path)] == [e.name for e in before]
    mount.store.ttl = 0.0
    assert [e.name for e in mount.list(path)] == [*(e.name for e in before), "2026-09-30"]
    assert mount.read(f"{path}/2026-09-30/chat.txt") == "[14:53] Jonas Weiß: new\n".encode()


# ---- failures

@pytest.mark.parametrize(("fault", "number"), [
    ({"kind": "status", "status": 429, "seconds": 30.0}, errno.EAGAIN), ({"kind": "status", "status": 500}, errno.EIO),
    ({"kind": "status", "status": 403}, errno.EACCES), ({"kind": "status", "status": 401}, errno.EACCES),
    ({"kind": "reset"}, errno.EIO), ({"kind": "truncate"}, errno.EIO), ({"kind": "short"}, errno.EIO)])
def test_what_does_not_heal_is_an_errno(simulator, fault, number, capfd):
    with make_terminal(simulator) as terminal:
        terminal.run("ls /slack/channels/apollo__C02APOLLO")
        simulator.fault(match="conversations.replies", **fault)
        result = terminal.run(f"cat /slack{APOLLO}/chat.jsonl")
        assert result.stdout == "" and result.exit_code == 1 and "mirage: slack: " in result.stderr
        with pytest.raises(OSError) as caught:
            terminal.fs.read(f"/slack{APOLLO}/chat.jsonl")
        assert caught.value.errno == number and not terminal.machine.errors
        simulator.heal()
        assert terminal.run(f"jq -r '.replies|length' /slack{APOLLO}/chat.jsonl").stdout == "2\n"
    assert capfd.readouterr() == ("", "")                    # slack-sdk logs errors; not into the user's terminal


def test_tokens_show_nowhere(simulator):
    mount = make_mount(simulator, "xoxp-CANARY")
    with pytest.raises(PermissionError) as caught:
        mount.list("/channels")
    assert caught.value.note == "slack: invalid_auth"
    assert "CANARY" not in f"{caught.value!r} {mount!r} {mount.client!r}"
    simulator.fault("status", "conversations", status=401, reason="xoxp-CANARY is bad")
    with pytest.raises(OSError) as caught:
        mount.list("/channels")
    assert "CANARY" not in f"{caught.value!r} {caught.value.note}"


def test_a_new_token_is_asked_for_when_the_old_one_is_refused(simulator):
    token = Token("xoxp-old")
    mount = Slack(token, endpoint=f"{simulator.address}api/", rate=0.0)
    raises(errno.EACCES, mount.list, "/channels")
    token.text = "xoxp-simulator"
    assert mount.list("/channels")


def test_files_are_fetched_from_slack_only(simulator):
    mount = make_mount(simulator)
    for url in ("https://evil.example/x", "https://slack.com.evil.example/x", "file:///etc/passwd", "http://127.0.0.1:1/x"):
        assert not mount.client.ours(url)
        raises(errno.EACCES, mount.client.send, "GET", url, raw=True)
    real = Slack(Token())
    assert real.client.ours("https://files.slack.com/x") and not real.client.ours("http://files.slack.com/x")
    path = f"{APOLLO}/files/drift plot.png"
    simulator.tokens["xoxp-simulator"] = None                # files lead to the page to sign in
    raises(errno.EACCES, mount.client.send, "GET", f"{simulator.address}files-pri/T-F001PLOT/file", raw=True)
    simulator.tokens["xoxp-simulator"] = "user"
    assert mount.read(path)
    del simulator.workspace.files["F002DATA"]
    raises(errno.ENOENT, mount.read, f"{APOLLO}/files/q3_q4 drift.csv")
    assert simulator.calls("signin") == 0


def test_options_are_checked():
    for options in ({}, {"token": "env:A", "search": "fast"}, {"token": "env:A", "tz": "Mars/Olympus"},
                    {"token": "xoxb-hunter2"}, {"token": "env:A", "colour": "red"}):
        with pytest.raises((ProviderError, ValueError)) as caught:
            mount_by_name("slack", options)
        assert "hunter2" not in str(caught.value)


# ---- search

WORDS = """Apollo drift quartz kelvin plot wiki Champagne champagne eyes tada Salaries budget Friday Measured Same value
firmware customers station Goodbye pleasure policy drive talk board course plantas riega quién rainbow thinking_face Jonas Priya
support general reply_count user type text failed build timeout signature Kisho Hagen strike roof coffee machine Lunch Café
Snow Abisko Photos Reminder sheets adapter USB stickers desk party anemometer offline Refund approved Approved owner
responsible numbers decide tomorrow doubts wait autumn month nswer notes Temperaturdrift 0 42 2026 09 22 C02APOLLO U03PRIYA
white_check_mark danger message 雨のち晴れ 天気予報 kanelbullar zebra quagga next""".split()


@pytest.fixture(scope="module")
def searched():
    with SlackSimulator(messages=160, index_lag=100) as simulator:
        del simulator.workspace.conversations["C10OTHERS"]
        space = simulator.workspace
        now = simulator.now()
        space.add_message("C05RANDOM", "U02JONAS", "one zebra\nnext line", f"{now - 20:.6f}")
        space.add_message("C05RANDOM", "U02JONAS", "an older quagga", f"{now - 5000:.6f}")
        mount = make_mount(simulator)
        texts = {}
        other = make_mount(simulator)
        for path, stat in everything(other):
            if stat.is_file and "/files/" not in path:
                texts[path] = other.read(path).decode()
        yield simulator, mount, texts


def test_no_whole_word_is_missed(searched):
    simulator, mount, texts = searched
    asked = 0
    for number, word in enumerate(WORDS):
        pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE if number % 3 == 0 else 0)
        for top in ("/", "/channels", "/dms", "/channels/apollo__C02APOLLO") if number % 6 == 0 else ("/",):
            found = mount.search(top, Query([word], True, number % 3 == 0, names=lambda name: name.startswith("chat.")))
            if found is None:
                continue
            asked += 1
            assert found.complete and not found.note
            inside = top.rstrip("/") + "/"
            wanted = {p for p, text in texts.items() if p.startswith(inside) and "/users/" not in p and pattern.search(text)}
            assert wanted <= set(found.paths), (word, top, wanted - set(found.paths))
            assert set(found.paths) <= set(texts)
    assert asked > 60, asked


def test_grep_gives_the_same_with_and_without_the_service(searched):
    simulator, _, _ = searched
    with make_terminal(simulator) as terminal:
        for word in ("quartz", "Champagne", "zebra", "quagga", "eyes", "Salaries"):
            service = terminal.run(f"grep -rwn --include='chat.*' '{word}' /slack")
            exact = terminal.run(f"grep --exact -rwn --include='chat.*' '{word}' /slack")
            assert service.stdout == exact.stdout and service.exit_code == exact.exit_code == 0, word
            assert service.stderr == exact.stderr == "" and service.usage.searches == 1
        result = terminal.run("grep -rlw quagga /slack")
        assert re.fullmatch(r"grep: /slack: searched by the service for whole words; \d+ items not read "
                            r"\(--exact reads them\)\n", result.stderr)


def test_other_patterns_follow_the_mode(searched):
    simulator, _, _ = searched
    with make_terminal(simulator) as terminal:
        result = terminal.run("grep -rl --include='chat.*' quagg /slack")
        assert result.usage.searches == 0 and result.stderr == "" and result.stdout.count("\n") == 2
    with make_terminal(simulator, make_mount(simulator, bound=3)) as terminal:
        result = terminal.run("grep -rl --include='chat.*' quagg /slack")
        assert result.usage.searches == 1 and "items not read" in result.stderr and result.exit_code == 1
    with make_terminal(simulator, make_mount(simulator, search="exact")) as terminal:
        assert terminal.run("grep -rlw --include='chat.*' quagga /slack").usage.searches == 0


def test_a_bot_cannot_search_and_says_so(searched):
    simulator, _, _ = searched
    with make_terminal(simulator, make_mount(simulator, BOT)) as terminal:
        result = terminal.run("grep -rlw --include='chat.*' quagga /slack")
        assert "not_allowed_token_type" in result.stderr
    mount = Slack(Token(BOT), Token(), endpoint=f"{simulator.address}api/", rate=0.0)
    mount.client.retry = QUICK
    assert len(mount.search("/", Query(["quagga"], True, names=lambda name: name == "chat.txt")).paths) >= 1


def test_describe(small):
    with make_terminal(small) as terminal:
        text = terminal.run("cat /VFS.md").stdout
    assert "`/slack/channels/<name>__<id>/<day>/chat.jsonl`" in text and "## `chat.jsonl` format" in text and GENERAL


def test_find_by_time_leaves_out_older_days(simulator):
    """A chat has the time of its last message, reply or edit; what cannot be younger is not asked for."""
    def found(expression):
        with make_terminal(simulator) as terminal:
            simulator.clear_log()
            result = terminal.run(f"find /slack/channels/apollo* {expression} | sort")
            assert result.exit_code == 0, result
            return result.stdout, len(simulator.log)

    for when in ("-newermt 2026-09-10", "-mtime -40", "-newermt 2026-09-10 -type f", "-newermt 2020-01-01", "-newermt 2030-01-01"):
        pruned, whole = found(when), found(f"\\( {when} -o -false \\)")
        assert pruned[0] == whole[0] and pruned[1] <= whole[1], when
    few, everything_asked = found("-newermt 2026-09-10 -name 'chat.*'"), found("\\( -newermt 2026-09-10 -name 'chat.*' -o -false \\)")
    assert few[0].count("\n") > 1 and few[1] < everything_asked[1], (few[1], everything_asked[1])
    assert found("! -newermt 2026-09-10")[0].count("\n") > few[0].count("\n")
    with make_terminal(simulator) as terminal:
        line = "stat -c %Y chat.jsonl; jq -s '[.[] | (.ts, .latest_reply // \"0\", .edited.ts // \"0\") | tonumber | floor] | max' chat.jsonl"
        days = terminal.run("ls /slack/channels/apollo*").stdout.split()
        assert len(days) > 3
        for day in days:
            result = terminal.run(f"cd /slack/channels/apollo__C02APOLLO/{day} && {line}")
            assert len(set(result.stdout.split())) == 1 and not result.stderr, (day, result)
