"""ask, limit, stage, call, when; several policies; time spent on an answer."""
from __future__ import annotations

import asyncio
import time

import pytest
from pydantic import BaseModel

from mirage import Terminal
from mirage.clis.framework import VirtualCli, operation
from mirage.policy import Policy, PolicyError, Verdict
from tests.policy.support import rule, terminal

ASK = rule("ask", path="/data", effect="destroy", reason="SURE")


class Message(BaseModel):
    channel: str
    text: str = ""


class Slack(VirtualCli):
    name, description = "slack", "Chat."

    def __init__(self):
        super().__init__()
        self.sent = []

    @operation("Post", Message, effects=("send",))
    def post_message(self, call, arguments):
        self.sent.append(arguments.channel)
        return {"ok": True}

    @operation("Read", Message, effects=("read",))
    def read_channel(self, call, arguments):
        return {"text": "hello"}


class Owner:
    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def __call__(self, ask):
        self.asked.append(ask)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def test_without_anybody_to_ask_it_is_held():
    with terminal(ASK) as t:
        result = t.run("rm /data/pub.txt")
        held = result.refusals[0]
        assert result.stderr == ("rm: cannot remove '/data/pub.txt': Permission denied\n"
                                 f"mirage: held for approval: {held.id}: SURE\n")
        assert (held.action, held.effect, held.target, held.command) == ("ask", "destroy", "/data/pub.txt", "rm")
        assert t.fs.exists("/data/pub.txt")
        assert held.id in t.machine.gate.journal.records("verdict = 'ask'")[0]["reason"]
    with terminal(rule("ask", effect="exec", command="rm", reason="SURE")) as t:
        result = t.run("rm /data/pub.txt")
        assert result.exit_code == 126 and f"mirage: held for approval: {result.refusals[0].id}: SURE\n" in result.stderr


def test_once_session_and_no():
    owner = Owner(Verdict.allow())
    with terminal(ASK, on_ask=owner) as t:
        assert t.run("rm /data/pub.txt").exit_code == 0
        assert t.run("rm /data/x.pem").exit_code == 0
        assert [(a.effect, a.target, a.command) for a in owner.asked] == [
            ("destroy", "/data/pub.txt", ("rm", "/data/pub.txt")), ("destroy", "/data/x.pem", ("rm", "/data/x.pem"))]
    owner = Owner(Verdict.allow("session"))
    with terminal(ASK, on_ask=owner) as t:
        assert t.run("rm /data/pub.txt /data/x.pem; > /data/dir/a.txt").exit_code == 0
        assert len(owner.asked) == 1
    owner = Owner(Verdict.deny("NOT TODAY"))
    with terminal(ASK, on_ask=owner) as t:
        assert t.run("rm /data/pub.txt").stderr.endswith("mirage: denied: NOT TODAY\n")
        assert t.run("rm /data/pub.txt").exit_code == 1 and len(owner.asked) == 2
    owner = Owner(Verdict.deny("NEVER", "session"))
    with terminal(ASK, on_ask=owner) as t:
        t.run("rm /data/pub.txt; rm /data/x.pem")
        assert len(owner.asked) == 1 and t.fs.exists("/data/x.pem")


def test_one_question_for_one_thing():
    owner = Owner(Verdict.allow())
    with terminal(rule("ask", path="/data/pub.txt"), on_ask=owner) as t:
        assert t.run("cat /data/pub.txt; cat /data/pub.txt").stdout == "public\n" * 2
        assert sorted({a.effect for a in owner.asked}) == ["read"] and len(owner.asked) == 2


@pytest.mark.parametrize("owner", [lambda ask: 1 / 0, lambda ask: None, lambda ask: "yes", lambda ask: Verdict.deny()])
def test_no_answer_is_no(owner):
    with terminal(ASK, on_ask=owner) as t:
        assert t.run("rm /data/pub.txt").exit_code == 1 and t.fs.exists("/data/pub.txt")


def test_the_time_of_an_answer_is_not_the_line_s():
    def slow(ask):
        time.sleep(1.0)
        return Verdict.allow()
    with terminal(ASK, on_ask=slow) as t:
        t.run("rm -f /tmp/none; sleep 0")                    # loads the tools
        result = t.run("rm /data/pub.txt; sleep 0.05; echo done", timeout=0.8)
        assert result.stdout == "done\n" and result.exit_code == 0


def test_arun_asks_as_well():
    with terminal(ASK, on_ask=Owner(Verdict.allow())) as t:
        result = asyncio.run(t.arun("rm /data/pub.txt; echo $?"))
        assert result.stdout == "0\n" and [e.effect for e in result.effects] == ["destroy"]


def test_an_approver_may_look_around():
    def look(ask):
        return Verdict.allow() if t.fs.read(ask.target) == b"public\n" else Verdict.deny()
    with terminal(ASK, on_ask=look) as t:
        assert t.run("rm /data/pub.txt /data/dir/a.txt").exit_code == 1
        assert not t.fs.exists("/data/pub.txt") and t.fs.exists("/data/dir/a.txt")


def test_answers_of_two_policies_are_two_answers():
    policy = Policy.load_all([ASK, rule("ask", path="/data", effect="destroy", reason="REALLY")])
    owner = Owner(Verdict.allow("session"), Verdict.deny("no", "session"))
    with terminal(policy, on_ask=owner) as t:
        assert t.run("rm /data/pub.txt").exit_code == 1
        assert sorted(a.reason for a in owner.asked) == ["REALLY", "SURE"]
    policy = Policy.load_all([ASK, rule("limit", path="/data", effect="destroy", calls="1")])
    with terminal(policy, on_ask=Owner(Verdict.allow())) as t:
        assert t.run("rm /data/pub.txt").exit_code == 0 and t.run("rm /data/x.pem").exit_code == 1


def test_stage():
    with terminal(rule("stage", path="/data", effect="create", reason="LATER")) as t:
        result = t.run("touch /data/new")
        assert result.stderr.endswith("mirage: denied: staging changes is not available in this version: LATER\n")
        assert result.refusals[0].action == "stage"
    with terminal(rule("stage", effect="send")) as t:
        assert t.machine.gate.policy.sets[0].rules[0].reason == "staging changes is not available in this version"


def test_limits():
    with terminal(rule("limit", path="/data", effect="read", calls=2)) as t:
        assert t.run("cat /data/pub.txt; cat /data/pub.txt").exit_code == 0
        result = t.run("cat /data/pub.txt")
        assert result.stderr.endswith("mirage: denied: the limit of the session is reached\n")
        assert result.refusals[0].action == "limit"
        with pytest.raises(PermissionError):
            t.fs.read("/data/pub.txt")
    with terminal(rule("limit", path="/data", effect="read", bytes=10)) as t:
        assert t.run("cat /data/pub.txt").exit_code == 0
        assert t.run("cat /data/pub.txt").exit_code == 1
        assert t.run("cat /data/dir/a.txt").stdout == ""
    with terminal(rule("limit", path="/data", effect="write", bytes=10)) as t:
        assert t.run("for i in 1 2 3 4 5 6 7 8; do echo 12345 >> /data/pub.txt; done").exit_code != 0
        assert len(t.fs.read("/data/pub.txt")) <= len("public\n") + 10
    with terminal(rule("limit", path="/data", effect="read", seconds=0.05)) as t:
        assert t.run("cat /data/pub.txt; sleep 0.1; cat /data/pub.txt").stdout == "public\n"
    with terminal(rule("limit", effect="exec", command="seq", calls=3)) as t:
        result = t.run("for i in 1 2 3 4 5; do seq 1; done")
        assert result.stdout == "1\n" * 3 and result.exit_code == 126


def test_calls():
    slack = Slack()
    policy = """
rules:
  - {effect: call, cli: slack, operation: "post-*", when: "channel != 'C1'", action: deny, reason: "only C1"}
"""
    with Terminal(policy=policy, clis=[slack]) as t:
        result = t.run("slack post-message '{\"channel\": \"C2\"}'; echo $?; slack post-message --channel C1; echo $?")
        assert result.stdout.startswith("126\n") and slack.sent == ["C1"]
        assert result.stderr.endswith("mirage: denied: only C1\n")
        assert [(e.effect, e.target, e.effects) for e in result.effects] == [("call", "slack post-message", ("send",))]
        assert t.run("slack read-channel --channel C2").exit_code == 0
    owner = Owner(Verdict.allow("session"))
    with Terminal(policy="rules: [{effect: send, action: ask}]", clis=[slack], on_ask=owner) as t:
        assert t.run("slack post-message --channel C9; slack post-message --channel C8").exit_code == 0
        assert owner.asked[0].arguments == {"channel": "C9", "text": ""} and len(owner.asked) == 1
    with Terminal(policy="default: deny", clis=[slack]) as t:
        assert t.run("slack read-channel --channel C").exit_code == 126
    with Terminal(policy="read-only", clis=[slack]) as t:
        assert t.run("slack read-channel --channel C").exit_code == 0
        assert t.run("slack post-message --channel C").exit_code == 126


def test_a_hidden_cli():
    with Terminal(policy="rules: [{path: /usr/bin/slack, action: hide}]", clis=[Slack()]) as t:
        for line in ("slack --help", "which slack", "cat /SKILL.md", "cat /VFS.md", "ls /usr/bin", "compgen -c sla"):
            assert "slack" not in t.run(line).stdout, line
        assert t.run("slack --help").stderr == "bash: line 1: slack: command not found\n"


@pytest.mark.parametrize("when", ["starts_with(text, `1`)", "length(nothing) > `1`", "abs(channel)"])
def test_a_condition_that_fails_denies(when):
    policy = f'rules: [{{effect: call, cli: slack, when: "{when}", action: allow}}]'
    slack = Slack()
    with Terminal(policy=policy, clis=[slack]) as t:
        result = t.run("slack post-message --channel C1")
        assert result.exit_code == 126 and not slack.sent and " failed: " in result.refusals[0].reason


def test_the_strictest_of_several_wins():
    order = ["allow", "limit", "ask", "deny", "hide"]
    for weak in range(len(order)):
        for strong in range(weak, len(order)):
            sources = [rule(order[i], path="/data/pub.txt", **({"calls": 9} if order[i] == "limit" else {}))
                       for i in (weak, strong)]
            for both in (sources, sources[::-1]):
                assert Policy.load_all(both).on_path("read", "/data/pub.txt").action == order[strong]
    with terminal(Policy.load_all(["read-only", rule("allow", path="/data")])) as t:
        assert t.run("> /data/pub.txt").exit_code == 1


@pytest.mark.parametrize(("text", "place"), [
    ("rulez: []", "unknown key 'rulez'"),
    ("rules: [{path: /x, action: deny, reazon: y}]", "rules.0.reazon"),
    ("rules: [{path: /x, action: forbid}]", "rules.0.action: unknown action 'forbid'"),
    ("rules: [{path: /x, effect: [read, erase], action: deny}]", "rules.0.effect: unknown effect 'erase'"),
    ("rules: [{path: /x}]", "rules.0.action"),
    ("rules: [{action: hide}]", "rules.0: hide needs a path"),
    ("rules: [{path: /x/../y, action: hide}]", "rules.0.path"),
    ("rules: [{path: /x, command: rm, action: deny}]", "rules.0"),
    ("rules: [{path: /x, action: limit}]", "rules.0: limit needs"),
    ("rules: [{effect: call, cli: x, when: 'a ==', action: deny}]", "rules.0.when: not a jmespath"),
    ("allow_paths: [data]", "allow_paths: 'data' must begin with /"),
    ("default: maybe", "default"),
    ("rules: [{path: /x, action: readonly, effect: read}]", "rules.0: readonly"),
    ("rules: {path: /x}", "rules"), ("- a\n- b", "expected keys"), ("rules: [", "not valid YAML"),
    ("no-such-policy", "no shipped policy is named"), ("./none.yaml", "cannot read"),
])
def test_what_is_wrong_with_a_policy(text, place):
    with pytest.raises(PolicyError) as wrong:
        Terminal(policy=text)
    assert place in str(wrong.value)
