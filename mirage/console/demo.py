"""`mirage demo`: a small company in simulated services, on loopback, and its documents; nothing of yours."""
from __future__ import annotations

import time

from mirage.bench.demo import DOCS, NOW
from mirage.bench.demo.services import services
from mirage.mounts.host import Host
from mirage.terminal import Terminal
from mirage.vfs.describe import Description
from mirage.vfs.tree import SYSTEM
from mirage.vfs.types import Capabilities

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mirage.vfs.types import Mount

NEEDS = "mirage demo needs the clients of its services: pip install 'mirage-terminal[demo]'"
LIBRARIES = ("googleapiclient", "slack_sdk", "github", "httpx", "graphql", "icalendar", "markdownify", "sqlalchemy",
             "pymongo", "mongomock", "redis", "fakeredis", "s3fs", "moto", "imapclient", "pymap", "aiosmtpd")
UNLISTED = SYSTEM | {"tmp"}                                  # names in the root that are there, but not in listings


def demo_terminal(mounts: Mapping[str, Mount] | None = None, env: Mapping[str, str] | None = None,
                  **options: Any) -> Terminal:
    """The services of mirage.bench.demo.services with their CLIs (simulated), /docs (read-only), /workspace.

    The clock starts at the end of the year that the services tell of. The directories of the system (/usr, /dev, ...)
    and /tmp are there, but listings of / leave them out.

    mounts, env, options  as for Terminal; `mounts` come on top. Raises ImportError where the extra `demo` is missing.
    """
    from importlib.util import find_spec
    if any(find_spec(name) is None for name in LIBRARIES):
        raise ImportError(NEEDS)
    started = time.monotonic()

    def now() -> float:
        return NOW + time.monotonic() - started

    simulated, clis = services(now)
    table: dict[str, Mount] = {**simulated, "/docs": Documents(DOCS), **(mounts or {})}
    options.setdefault("clock", now)
    programs: list[Any] = [*clis, *options.pop("clis", ())]
    terminal = Terminal(table, env=env, clis=programs, **options)
    if "/" not in table:
        terminal.machine.namespace.table.root.mount.unlisted = UNLISTED
    return terminal


class Documents(Host):
    """The documents, with a line of their own in VFS.md."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.capabilities = Capabilities("open", "identity", "lookup", "describe")

    def describe(self) -> Description:
        return Description("Documents of the company (Markdown, CSV, JSON, text).")
