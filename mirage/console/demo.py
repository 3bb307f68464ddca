"""`mirage demo`: a small company's mailbox and Slack (simulated, on loopback) and documents; nothing of yours."""
from __future__ import annotations

import threading
import time

from mirage.bench.demo import DOCS, NOW
from mirage.clis.lazy import LazyCli
from mirage.mounts.host import Host
from mirage.terminal import Terminal
from mirage.vfs.describe import Description
from mirage.vfs.lazy import LazyMount
from mirage.vfs.secrets import Secret
from mirage.vfs.types import Capabilities

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mirage.clis.framework import VirtualCli
    from mirage.mounts.gmail.mount import Gmail
    from mirage.mounts.slack.tree import Slack
    from mirage.vfs.service import Counters
    from mirage.vfs.types import Mount

NEEDS = "mirage demo needs the clients of Gmail and Slack: pip install 'mirage-terminal[demo]'"
LIBRARIES = ("googleapiclient", "slack_sdk")


class DemoToken(Secret):
    """The access token of a simulator."""

    __slots__ = ("_text",)

    def __init__(self, text: str = "simulator-token") -> None:
        super().__init__("env:MIRAGE_DEMO_TOKEN")
        self._text = text

    def reveal(self) -> str:
        return self._text


def demo_terminal(mounts: Mapping[str, Mount] | None = None, env: Mapping[str, str] | None = None,
                  **options: Any) -> Terminal:
    """/mail and `mail`, /slack and `slack` (simulated), /docs (read-only), /workspace.

    The clock starts at the end of the year that mail and Slack tell of.

    mounts, env, options  as for Terminal; `mounts` come on top. Raises ImportError where the extra `demo` is missing.
    """
    from importlib.util import find_spec
    if any(find_spec(name) is None for name in LIBRARIES):
        raise ImportError(NEEDS)
    started = time.monotonic()

    def now() -> float:
        return NOW + time.monotonic() - started

    mail = LazyMount(lambda counters: demo_mail(now, counters), ("read_many", "describe", "search"))

    def make_cli() -> VirtualCli:
        from mirage.clis.mail import MailCli
        return MailCli(mail.made, "/mail")

    slack = LazyMount(lambda counters: demo_slack(now, counters), ("read_many", "describe", "search"))

    def make_slack_cli() -> VirtualCli:
        from mirage.clis.slack import SlackCli
        return SlackCli(slack.made, "/slack")

    table: dict[str, Mount] = {"/mail": mail, "/slack": slack, "/docs": Documents(DOCS), **(mounts or {})}
    options.setdefault("clock", now)
    clis = [LazyCli("mail", make_cli, mail.counters), LazyCli("slack", make_slack_cli, slack.counters),
            *options.pop("clis", ())]
    return Terminal(table, env=env, clis=clis, **options)


def demo_mail(now: Callable[[], float], counters: Counters) -> Gmail:
    """The company's mailbox; its simulator starts when something is asked."""
    from mirage.bench.services.gmail import GmailSimulator
    from mirage.bench.services.gmail.mailbox import Clock
    from mirage.mounts.gmail.client import GmailClient
    from mirage.mounts.gmail.mount import Gmail
    starting = threading.Lock()
    simulators: list[GmailSimulator] = []

    class Client(GmailClient):
        def connect(self) -> None:
            with starting:
                if not simulators:
                    simulators.append(GmailSimulator(clock=Clock(now(), now)))
                    self.endpoint = simulators[0].start()
            super().connect()

        def close(self) -> None:
            super().close()
            for simulator in simulators:
                simulator.stop()

    client = Client(DemoToken(), None, rate=0.0)
    client.counters = counters
    return Gmail(client=client)


def demo_slack(now: Callable[[], float], counters: Counters) -> Slack:
    """The company's Slack; its simulator starts when something is asked."""
    from mirage.bench.services.gmail.mailbox import Clock
    from mirage.bench.services.slack import SlackSimulator
    from mirage.bench.services.slack.server import USER
    from mirage.mounts.slack.client import SlackClient
    from mirage.mounts.slack.tree import Slack
    starting = threading.Lock()
    simulators: list[SlackSimulator] = []

    class Client(SlackClient):
        def connect(self) -> None:
            with starting:
                if not simulators:
                    simulators.append(SlackSimulator(clock=Clock(now(), now)))
                    self.endpoint = f"{simulators[0].start()}api/"

        def close(self) -> None:
            super().close()
            for simulator in simulators:
                simulator.stop()

    client = Client(DemoToken(USER), rate=0.0)
    client.counters = counters
    return Slack(client=client)


class Documents(Host):
    """The documents, with a line of their own in VFS.md."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.capabilities = Capabilities("open", "identity", "lookup", "describe")

    def describe(self) -> Description:
        return Description("Documents of the company (Markdown, CSV, JSON, text).")
