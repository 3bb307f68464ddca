"""Simulators that enforce the published quotas, mounts with their default limits: all is read, no refusal is seen.

The clock of both sides runs SPEED times as fast, so that a minute of waiting takes a second.
"""
from __future__ import annotations

import importlib
import time

import pytest

from mirage import Terminal
from mirage.bench.services.http import Quota
from mirage.vfs import service

SPEED = 40.0


class Fast:
    """The module `time`, SPEED times as fast."""

    def monotonic(self):
        return time.monotonic() * SPEED

    def sleep(self, seconds):
        time.sleep(seconds / SPEED)

    def __getattr__(self, name):
        return getattr(time, name)


def units_of_gmail(request):
    """A list or message is 5 units (developers.google.com/workspace/gmail/api/reference/quota); a batch is the sum."""
    return 5.0 * max(1, request.body.count(b"\nGET ")) if "/batch" in request.path else 5.0


# A minute of: units of Gmail for a user; calls of Slack's methods of tiers 2 and 3; points of GitHub's secondary limit and of its
# search; requests of Notion (3 a second); an hour of requests of Linear.
QUOTAS = {
    "gmail": [Quota(15_000, 60, "", units_of_gmail)],
    "slack": [*(Quota(20, 60, method) for method in ("conversations.list", "users.list", "search.messages")),
              *(Quota(50, 60, method) for method in ("conversations.history", "conversations.replies"))],
    "github": [Quota(900, 60), Quota(30, 60, "/search/issues"), Quota(10, 60, "/search/code")],
    "notion": [Quota(180, 60)],
    "linear": [Quota(5_000, 3600)]}
SIMULATORS = {"gmail": ("GmailSimulator", {"messages": 400}), "slack": ("SlackSimulator", {"messages": 500}), "github": ("GitHubSimulator", {"size": 0.4}),
              "notion": ("NotionSimulator", {"rows": 60}), "linear": ("LinearSimulator", {"issues": 120})}
MOUNTS = {"gmail": ("gmail.mount", "Gmail", ""), "slack": ("slack.tree", "Slack", "api/"), "github": ("github.tree", "GitHub", ""),
          "notion": ("notion.tree", "Notion", ""), "linear": ("linear.tree", "Linear", "")}
LIBRARIES = {"gmail": "googleapiclient", "slack": "slack_sdk", "github": "github", "notion": "httpx", "linear": "graphql"}


def token_of(name, support):
    from mirage.bench.demo.services import DemoToken
    return DemoToken("simulator-token") if name == "gmail" else support.Token()


COMMAND = "grep -rc --exclude='*.bin' --exclude='*.zip' e /x"


@pytest.mark.parametrize(("name", "share"), [(name, share) for name in QUOTAS for share in (1.0, 0.2)
                                            if (name, share) != ("notion", 0.2)])   # 36 requests a minute: six wait for one place
def test_quotas(name, share, monkeypatch):
    """The published ones; and a fifth of them, where others use the account as well: what is refused is asked for again."""
    pytest.importorskip(LIBRARIES[name])
    kind, size = SIMULATORS[name]
    support = importlib.import_module(f"tests.mounts.{name}_support")
    module, mount, behind = MOUNTS[name]
    make = getattr(importlib.import_module(f"mirage.mounts.{module}"), mount)
    with getattr(importlib.import_module(f"mirage.bench.services.{name}"), kind)(**size) as simulator:
        if name == "slack":
            del simulator.workspace.conversations["C10OTHERS"]       # not ours to read
        with Terminal({"/x": support.make_mount(simulator)}, policy="default: allow") as terminal:
            wanted = terminal.run(COMMAND)
        simulator.clear_log()
        simulator.quotas = [Quota(max(q.units * share, 5.0), q.seconds, q.match, q.cost, lambda: time.monotonic() * SPEED) for q in QUOTAS[name]]
        monkeypatch.setattr(service, "time", Fast())
        with Terminal({"/x": make(token_of(name, support), endpoint=simulator.address + behind)}, policy="default: allow") as terminal:
            asked = terminal.run(COMMAND)
        refused = sum(q.refused for q in simulator.quotas)
        print(name, "requests", len(simulator.log), "refused", refused)
        assert asked.stderr == wanted.stderr and "429" not in asked.stderr
        assert asked.stdout == wanted.stdout and asked.stdout.count("\n") > 100
        assert refused <= len(simulator.log) * (0.05 if share == 1 else 0.5), (refused, len(simulator.log))
