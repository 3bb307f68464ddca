"""`mirage demo`: a small company's mailbox (simulated, on loopback) and documents, with nothing of yours in it."""
from __future__ import annotations

import threading
import time

from mirage.bench.demo import DOCS, NOW
from mirage.clis.lazy import LazyCli
from mirage.mounts.gmail.client import GmailClient
from mirage.mounts.gmail.mount import Gmail
from mirage.mounts.host import Host
from mirage.terminal import Terminal
from mirage.vfs.describe import Description
from mirage.vfs.secrets import Secret
from mirage.vfs.types import Capabilities

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mirage.bench.services.gmail import GmailSimulator
    from mirage.clis.framework import VirtualCli
    from mirage.vfs.types import Mount

NEEDS = "mirage demo needs the Gmail client: pip install 'mirage-terminal[demo]'"


class DemoToken(Secret):
    """The access token of the simulator."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("env:MIRAGE_DEMO_TOKEN")

    def reveal(self) -> str:
        return "simulator-token"


class DemoClient(GmailClient):
    """Starts the simulator when the mailbox is first looked at; its clock starts with the Terminal's."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__(DemoToken(), None, rate=0.0)
        self._clock = now
        self._starting = threading.Lock()
        self._simulator: GmailSimulator | None = None

    @property
    def simulator(self) -> GmailSimulator:
        with self._starting:
            if self._simulator is None:
                from mirage.bench.services.gmail import GmailSimulator
                from mirage.bench.services.gmail.mailbox import Clock
                self._simulator = GmailSimulator(clock=Clock(self._clock(), self._clock))
        return self._simulator

    def connect(self) -> None:
        self.endpoint = self.simulator.start()
        super().connect()

    def close(self) -> None:
        super().close()
        if self._simulator is not None:
            self._simulator.stop()


def demo_terminal(mounts: Mapping[str, Mount] | None = None, env: Mapping[str, str] | None = None,
                  **options: Any) -> Terminal:
    """/mail and `mail` (Gmail, simulated), /docs (read-only), /workspace; the clock starts at the end of the mail.

    mounts, env, options  as for Terminal; `mounts` come on top. Raises ImportError where the extra `demo` is missing.
    """
    from importlib.util import find_spec
    if find_spec("googleapiclient") is None:
        raise ImportError(NEEDS)
    started = time.monotonic()

    def now() -> float:
        return NOW + time.monotonic() - started

    mail = Gmail(client=DemoClient(now))

    def make_cli() -> VirtualCli:
        from mirage.clis.mail import MailCli
        return MailCli(mail, "/mail")

    table: dict[str, Mount] = {"/mail": mail, "/docs": Documents(DOCS), **(mounts or {})}
    options.setdefault("clock", now)
    clis = [LazyCli("mail", make_cli, mail.counters), *options.pop("clis", ())]
    return Terminal(table, env=env, clis=clis, **options)


class Documents(Host):
    """The documents, with a line of their own in VFS.md."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.capabilities = Capabilities("open", "identity", "lookup", "describe")

    def describe(self) -> Description:
        return Description("Documents of the company (Markdown, CSV, JSON, text).")
