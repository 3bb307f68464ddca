"""A simulated Notion with a mount, for tests of the mount, the CLI and the search."""
from __future__ import annotations

from mirage import Terminal
from mirage.bench.services.notion import NotionSimulator
from mirage.clis.notion import NotionCli
from mirage.mounts.notion.tree import Notion
from mirage.vfs.service import Retry
from tests.mounts.support import Given

TOKEN = "ntn_simulator"
QUICK = Retry(tries=4, base=0.01, most=1.5)


class Token(Given):
    place, default = "env:NOTION_TEST_TOKEN", TOKEN


def make_mount(simulator: NotionSimulator, token: str = TOKEN, rate: float = 0.0, **options: object) -> Notion:
    mount = Notion(Token(token), endpoint=simulator.address, rate=rate, **options)
    mount.client.retry = QUICK
    return mount


def make_terminal(simulator: NotionSimulator, mount: Notion | None = None, **options: object) -> Terminal:
    mount = mount or make_mount(simulator)
    return Terminal({"/notion": mount}, clis=[NotionCli(mount)], **options)


def named(mount: Notion, path: str) -> str:
    """The path whose names begin with these titles: /Wiki/Engineering."""
    at = ""
    for title in path.strip("/").split("/"):
        at = next(f"{at}/{e.name}" for e in mount.list(at or "/") if e.name.rpartition("__")[0] == title or e.name == title)
    return at


def paths_called(simulator: NotionSimulator) -> list[str]:
    """What was asked, ids left out: ["GET pages", "GET blocks children", "POST databases query"]."""
    found = []
    for entry in simulator.log:
        parts = [part for part in entry.path.removeprefix("/v1/").split("/") if len(part) < 30]
        found.append(" ".join([entry.method, *parts]))
    return found
