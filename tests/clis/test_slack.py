from __future__ import annotations

import json
from pathlib import Path

import pytest

from mirage import Terminal
from mirage.bench.services.slack import SlackSimulator
from mirage.clis import make_cli
from mirage.clis.slack import SlackCli
from mirage.mounts.memory import Memory
from mirage.mounts.slack.tree import Slack
from tests.clis.support import run
from tests.mounts.slack_support import APOLLO, GENERAL, Token, make_mount, make_terminal

SCHEMAS = Path(__file__).parent / "data" / "slack-operations.json"


@pytest.fixture
def simulator():
    with SlackSimulator(messages=60) as simulator:
        yield simulator


@pytest.fixture
def terminal(simulator):
    with make_terminal(simulator) as terminal:
        yield terminal


def test_operations_are_those_of_the_usual_server():
    """Names (`slack_post_message` is post-message), arguments, their types, defaults and whether they are required."""
    published = json.loads(SCHEMAS.read_text())
    cli = SlackCli(Slack(Token()))
    assert set(cli.operations) == set(published)
    for name, arguments in published.items():
        schema = cli.operations[name].model.model_json_schema()
        assert set(schema["properties"]) == set(arguments), name
        assert set(schema.get("required", ())) == {k for k, a in arguments.items() if a.get("required")}, name
        for key, argument in arguments.items():
            mine = schema["properties"][key]
            types = {mine.get("type"), *(part.get("type") for part in mine.get("anyOf", ()))}
            assert types & {argument["type"], "integer" if argument["type"] == "number" else ""}, (name, key)
            assert mine.get("default") == argument.get("default"), (name, key)


def test_effects():
    effects = {name: o.effects for name, o in SlackCli(Slack(Token())).operations.items()}
    assert effects.pop("post-message") == effects.pop("reply-to-thread") == ("send",)
    assert effects.pop("add-reaction") == ("update",) and set(effects.values()) == {("read",)}


def test_a_message_is_in_the_chat_of_the_day_at_once(simulator, terminal):
    terminal.run(f"cat {GENERAL}/*/chat.jsonl {GENERAL}/*/files/*; ls {GENERAL}; ls /slack/channels /slack/dms /slack/users")
    before = simulator.state()
    simulator.clear_log()
    result = terminal.run(f"slack post-message --channel_id C01GENERAL --text 'Grüße an alle\nZeile 2' | tee out | jq -r .path; "
                          f"ls {GENERAL} | tail -1; cat {GENERAL}/2026-09-30/chat.txt; cat \"$(jq -r .path out)\"")
    lines = result.stdout.splitlines()
    assert lines[:4] == [f"{GENERAL}/2026-09-30/chat.jsonl", "2026-09-30", "[16:00] Mara Lindqvist: Grüße an alle", "  Zeile 2"]
    assert json.loads(lines[4])["text"] == "Grüße an alle\nZeile 2"
    (added,) = simulator.diff(before, simulator.state())["added"].values()
    assert added["user"] == "U01MARA" and [e.effects for e in result.effects if e.effect == "call"] == [("send",)]
    assert [e.path.rpartition("/")[2] for e in simulator.log] == ["chat.postMessage", "conversations.history"]
    simulator.clear_log()
    terminal.run(f"cat {GENERAL}/*/chat.jsonl > all; ls /slack/dms /slack/users /slack/channels")
    assert simulator.log == []


def test_replies_and_reactions_are_under_their_parent(simulator, terminal):
    ts = terminal.run(f"jq -r 'select(.replies).ts' /slack{APOLLO}/chat.jsonl").stdout.strip()
    simulator.clear_log()
    result = run(terminal, f"slack reply-to-thread --channel_id /slack{APOLLO} --thread_ts {ts.replace('.', '')} --text 'I see.'")
    assert result["thread_ts"] == ts and result["path"] == f"/slack{APOLLO}/chat.jsonl"
    assert terminal.run(f"jq -r 'select(.replies).replies[-1].text' /slack{APOLLO}/chat.jsonl").stdout == "I see.\n"
    assert len(simulator.log) <= 4, simulator.log
    run(terminal, f"slack add-reaction --channel_id C02APOLLO --timestamp {result['ts']} --reaction :tada:")
    assert terminal.run(f"tail -1 /slack{APOLLO}/chat.txt").stdout == "      :tada: 1\n"
    error = run(terminal, f"slack add-reaction --channel_id C02APOLLO --timestamp {result['ts']} --reaction tada", 1)
    assert error["error"] == {"code": 409, "message": "slack: already_reacted"}


def test_direct_messages_and_conversations_that_were_not_listed(simulator, terminal):
    result = run(terminal, "slack post-message --channel_id D01WITHJONAS --text Hej")
    assert result["path"] == "/slack/dms/jonas__D01WITHJONAS/2026-09-30/chat.jsonl"
    assert terminal.run(f"jq -r .text {result['path']}; ls /slack/dms/jonas*/ | tail -1").stdout == "Hej\n2026-09-30\n"
    result = run(terminal, "slack post-message --channel_id C08EMPTY --text First")
    assert terminal.run(f"cat {result['path']} | wc -l; ls /slack/channels/new-ideas*/").stdout == "1\n2026-09-30\n"


def test_looking(terminal):
    found = run(terminal, "slack list-channels --limit 3")
    more = run(terminal, f"slack list-channels '{{\"limit\": 200, \"cursor\": \"{found['next_cursor']}\"}}'")
    names = [c["name"] for c in (*found["channels"], *more["channels"])]
    assert len(found["channels"]) == 3 and "leadership" in names and "fair-2025" not in names and "next_cursor" not in more
    history = run(terminal, f"slack get-channel-history --channel_id {GENERAL} --limit 2")["messages"]
    assert len(history) == 2 and history[0]["ts"] > history[1]["ts"]
    thread = run(terminal, "slack get-thread-replies --channel_id C02APOLLO --thread_ts 1790067600.000119")["messages"]
    assert len(thread) == 3 and thread[0]["reply_count"] == 2
    assert len(run(terminal, "slack get-users")["members"]) == 9
    profile = run(terminal, "slack get-user-profile --user_id /slack/users/soren__U05SOREN.json")["profile"]
    assert profile["real_name"] == "Søren Dahl"


def test_refusals_of_the_service(terminal):
    for line, code, word in (("post-message --channel_id C99 --text x", 404, "channel_not_found"),
                             ("post-message --channel_id C09FAIR --text x", 403, "is_archived"),
                             ("post-message --channel_id C10OTHERS --text x", 403, "not_in_channel"),
                             ("reply-to-thread --channel_id C01GENERAL --thread_ts 1.2 --text x", 404, "thread_not_found"),
                             ("add-reaction --channel_id C02APOLLO --timestamp 1790067600.000119 --reaction 'no no'", 400, "invalid_name"),
                             ("get-user-profile --user_id U99", 404, "user_not_found")):
        assert run(terminal, f"slack {line}", 1)["error"] == {"code": code, "message": f"slack: {word}"}
    assert run(terminal, "slack post-message --channel_id C1 --text ''", 2)["error"]["code"] == "invalid_arguments"
    assert "did you mean post-message" in run(terminal, "slack post-mesage", 2)["error"]["message"]


def test_a_lost_answer_never_posts_twice(simulator, terminal):
    before = simulator.state()
    terminal.run(f"ls {GENERAL}")
    simulator.fault("reset", "chat.postMessage", after=True)
    error = run(terminal, "slack post-message --channel_id C01GENERAL --text Once", 1)
    assert "connection failed" in error["error"]["message"]
    assert len(simulator.diff(before, simulator.state())["added"]) == 1
    assert terminal.run(f"cat {GENERAL}/2026-09-30/chat.txt").stdout == "[16:00] Mara Lindqvist: Once\n"
    simulator.heal()
    simulator.fault("status", "chat.postMessage", status=503)
    run(terminal, "slack post-message --channel_id C01GENERAL --text Never", 1)
    assert simulator.calls("chat.postMessage") == 2
    simulator.heal()
    simulator.fault("status", "chat.postMessage", status=429, times=1, seconds=0.01)
    run(terminal, "slack post-message --channel_id C01GENERAL --text Later")


def test_policy(simulator):
    policy = ("rules:\n  - {effect: call, cli: slack, operation: 'post-*', when: \"channel_id != 'C05RANDOM'\", action: deny, "
              "reason: only in random}\n  - {path: '/slack/dms/**', action: hide}\n")
    with make_terminal(simulator, policy=policy) as terminal:
        before = simulator.state()
        result = terminal.run("slack post-message --channel_id C01GENERAL --text x")
        assert result.exit_code == 126 and "mirage: denied: only in random" in result.stderr
        assert simulator.state() == before
        assert terminal.run("slack post-message --channel_id C05RANDOM --text x").exit_code == 0
        result = terminal.run("grep -rlw --include='chat.*' Friday /slack; ls /slack")
        assert "dms" not in result.stdout + result.stderr


def test_what_was_posted_is_found_before_the_index_knows_it():
    with SlackSimulator(messages=40, index_lag=1000) as simulator, make_terminal(simulator, make_mount(simulator, lag=5)) as terminal:
        ts = terminal.run(f"jq -r 'select(.replies).ts' /slack{APOLLO}/chat.jsonl").stdout.strip()
        terminal.run(f"slack reply-to-thread --channel_id C02APOLLO --thread_ts {ts} --text 'a quagga'; "
                     "slack post-message --channel_id C01GENERAL --text 'one zebra'")
        assert f"/slack{APOLLO}/chat.txt" in terminal.run("grep -rlw --include='*.txt' quagga /slack").stdout
        assert f"{GENERAL}/2026-09-30/chat.txt" in terminal.run("grep -rlw --include='*.txt' zebra /slack").stdout


def test_from_config(simulator, tmp_path):
    mount = make_mount(simulator)
    mounts = {"/": Memory(), "/chat": mount}
    cli = make_cli("talk", "slack", {}, mounts=mounts, folder=tmp_path)
    assert cli.mount is mount and cli.point == "/chat" and cli.name == "talk"
    other = make_cli("slack", "slack", {"token": "env:OTHER"}, mounts=mounts, folder=tmp_path)
    assert other.mount is not mount and other.point is None
    for options in ({"colour": "red"}, {"token": "xoxb-1"}):
        with pytest.raises(ValueError):
            make_cli("slack", "slack", options, mounts=mounts, folder=tmp_path)
    with pytest.raises(ValueError):
        make_cli("slack", "slack", {}, mounts={}, folder=tmp_path)
    with Terminal({"/chat": mount}, clis=[cli]) as terminal:
        assert json.loads(terminal.run("talk post-message --channel_id C01GENERAL --text x").stdout)["path"].startswith("/chat/channels/")


def test_the_example_of_the_readme(simulator, tmp_path, monkeypatch):
    import re

    from mirage.config import load
    from mirage.mounts import slack
    text = re.search(r"```yaml\n(.*?)```", (Path(slack.__file__).parent / "README.md").read_text(), re.S).group(1)
    (tmp_path / "mirage.yaml").write_text(text.replace("tz:", f"endpoint: '{simulator.address}api/', rate: 0, tz:"))
    monkeypatch.setenv("SLACK_TOKEN", "xoxp-simulator")
    with load(tmp_path / "mirage.yaml").make_terminal() as terminal:
        assert terminal.run("slack post-message --channel_id C08EMPTY --text Hej >out; cat \"$(jq -r .path out | sed s/jsonl/txt/)\"").stdout \
            == "[18:00] Mara Lindqvist: Hej\n"
        result = terminal.run("grep -rl xoxp- / 2>/dev/null; env; slack get-users; cat /proc/*/environ")
        assert "xoxp-" not in result.stdout + result.stderr
