"""A simulated workspace with a mount, for tests of the mount, the CLI and the search."""
from __future__ import annotations

from mirage import Terminal
from mirage.bench.services.slack import SlackSimulator
from mirage.clis.slack import SlackCli
from mirage.mounts.slack.tree import Slack
from mirage.vfs.service import Retry
from tests.mounts.support import Given

USER, BOT = "xoxp-simulator", "xoxb-simulator"
QUICK = Retry(tries=3, base=0.01, most=0.5)
APOLLO = "/channels/apollo__C02APOLLO/2026-09-22"
GENERAL = "/slack/channels/general__C01GENERAL"


class Token(Given):
    place, default = "env:SLACK_TEST_TOKEN", USER


def make_mount(simulator: SlackSimulator, token: str = USER, **options: object) -> Slack:
    mount = Slack(Token(token), endpoint=f"{simulator.address}api/", rate=0.0, **options)
    mount.client.retry = QUICK
    return mount


def make_terminal(simulator: SlackSimulator, mount: Slack | None = None, **options: object) -> Terminal:
    mount = mount or make_mount(simulator)
    return Terminal({"/slack": mount}, clis=[SlackCli(mount)], **options)
