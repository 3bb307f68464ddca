"""The services of `mirage demo`: for each a server, a mount and CLIs, which are loaded when they are looked at.

Those with an API over HTTP have a simulator of ours, which starts with the first request. The stores below OPS have a
stand-in or a library's server, which starts with the first connection (bench/demo/waiting.py).
"""
from __future__ import annotations

import os

from mirage.clis.lazy import LazyCli
from mirage.vfs.lazy import LazyLinkMount, LazyMount, LazyStore
from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mirage.bench.demo.waiting import Waiting
    from mirage.bench.services.http import OnDemand
    from mirage.clis.framework import VirtualCli
    from mirage.mounts.sql.mount import Sql
    from mirage.vfs.service import Counters

USUAL = ("read_many", "search", "describe")
FILES = ("read_many", "describe", "open", "create", "mkdir", "remove", "rename", "replace")     # of a writable store
OPS = "/ops"                                                 # servers of the operations, side by side


class DemoToken(Secret):
    """The access token of a simulator."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        super().__init__("env:MIRAGE_DEMO_TOKEN")
        self._text = text

    def reveal(self) -> str:
        return self._text


class DemoService:
    """How to come by a service with an API over HTTP.

    simulator     "module:class" below mirage.bench, which takes `size` and a clock
    arrange       "module:function" below mirage.bench, called with the new simulator
    mount         "module:class" below mirage.mounts, which takes `token` and `options`
    clis          names and "module:class" below mirage.clis, each made for the mount
    endpoint      the mount's option with the simulator's address, and what comes behind that
    capabilities  of the mount;  links: it has symbolic links
    below         what the mount shows of the service (for rules of a policy about another mount of it)
    """

    def __init__(self, simulator: str, mount: str, clis: Mapping[str, str], token: str, *,
                 endpoint: tuple[str, str] = ("endpoint", ""), capabilities: tuple[str, ...] = USUAL,
                 links: bool = False, below: str = "", arrange: str = "", size: Mapping[str, int] | None = None,
                 **options: Any) -> None:
        self.simulator = simulator
        self.mount = mount
        self.clis = clis
        self.token = token
        self.endpoint = endpoint
        self.capabilities = capabilities
        self.links = links
        self.below = below
        self.arrange = arrange
        self.size = size or {}
        self.options = options


class DemoStore:
    """How to come by a store that speaks a protocol of its own.

    server        "function" of mirage.bench.demo.stores
    mount         "function" of mirage.bench.demo.mounts, called with the server's port and `options`
    more          further servers, whose ports the mount gets as well
    """

    def __init__(self, server: str, mount: str, clis: Mapping[str, str], capabilities: tuple[str, ...],
                 *more: str) -> None:
        self.server = server
        self.mount = mount
        self.clis = clis
        self.capabilities = capabilities
        self.more = more


TODO = "norrsken/sync-todo-to-readme"
SERVICES = {
    "/mail": DemoService("services.gmail:GmailSimulator", "gmail.mount:Gmail", {"mail": "mail:MailCli"}, "simulator-token",
                         arrange="demo.arrange:mail"),
    "/slack": DemoService("services.slack:SlackSimulator", "slack.tree:Slack", {"slack": "slack:SlackCli"},
                          "xoxp-simulator", endpoint=("endpoint", "api/")),
    "/gd": DemoService("services.gdrive:DriveSimulator", "gdrive.mount:Drive", {
        "gdrive": "gdrive:DriveCli", "google-sheet": "google_sheet:SheetCli", "google-doc": "google_doc:DocCli"},
        "simulator-token", links=True, arrange="demo.arrange:drive"),
    "/calendar": DemoService("services.gcal:CalendarSimulator", "gcal.tree:Calendar", {"gcal": "gcal:GcalCli"},
                             "simulator-token", capabilities=("read_many", "describe"), arrange="demo.arrange:calendar"),
    "/github": DemoService("services.github:GitHubSimulator", "github.tree:GitHub", {"github": "github:GitHubCli"},
                           "ghp_simulator", links=True, capabilities=(*USUAL, "lookup")),
    "/repo": DemoService("services.github:GitHubSimulator", "github.tree:GitHub", {}, "ghp_simulator", links=True,
                         capabilities=(*USUAL, "lookup"), below=f"/{TODO}/tree", repo=TODO),
    "/notion": DemoService("services.notion:NotionSimulator", "notion.tree:Notion", {"notion": "notion:NotionCli"},
                           "ntn_simulator", capabilities=(*USUAL, "open"), size={"rows": 1200},
                           arrange="demo.arrange:notion"),
    "/linear": DemoService("services.linear:LinearSimulator", "linear.tree:Linear", {"linear": "linear:LinearCli"},
                           "lin_api_simulator"),
    "/canvas": DemoService("services.canvas:CanvasSimulator", "canvas.tree:Canvas", {"canvas": "canvas:CanvasCli"},
                           "canvas-simulator", endpoint=("url", ""), capabilities=("read_many", "describe"), account=1),
    f"{OPS}/booking": DemoService("demo.booking:Bookings", "rest:build", {"booking": "rest:RestCli"}, "booking-simulator",
                                  capabilities=("read_many", "describe"),
                                  file=os.path.join(os.path.dirname(__file__), "booking.yaml")),
    f"{OPS}/web": DemoService("demo.web:Website", "", {}, "", capabilities=("read_many", "describe")),
}
STORES = {
    f"{OPS}/mongo": DemoStore("mongo", "mongo", {"mongo": "mongo:MongoCli"}, ("open", "search", "describe")),
    f"{OPS}/redis": DemoStore("redis", "redis", {"redis": "redis:RedisCli"}, FILES),
    f"{OPS}/s3": DemoStore("s3", "s3", {"s3": "s3:S3Cli"}, FILES),
    f"{OPS}/support": DemoStore("mailbox", "support", {"support-mail": "mail:MailCli"}, USUAL, "smtp"),
}
UNLIMITED = {"rate": 0.0}


class World:
    """The simulators of one demo, each of which starts with the first request to it.

    now  seconds since the epoch, on everybody's clock
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self._running: dict[str, OnDemand] = {}
        self._waiting: dict[str, Waiting] = {}

    def address(self, service: DemoService) -> str:
        """Where the simulator of a service listens. It is made when somebody asks it."""
        found = self._running.get(service.simulator)
        if found is None:
            from mirage.bench.services.http import OnDemand
            found = self._running[service.simulator] = OnDemand(lambda: self._simulator(service))
        return found.start()

    def _simulator(self, service: DemoService) -> Any:
        from mirage.bench.services.clock import Clock
        simulator = _load("bench", service.simulator)(clock=Clock(self.now(), self.now), **service.size)
        if service.arrange:
            _load("bench", service.arrange)(simulator)
        return simulator

    def port(self, server: str) -> int:
        """Where a server of bench/demo/stores.py will listen. It starts when somebody connects."""
        found = self._waiting.get(server)
        if found is None:
            from mirage.bench.demo.waiting import Waiting
            found = self._waiting[server] = Waiting(lambda socket: _load("bench.demo", f"stores:{server}")(socket))
        return found.port()

    def stop(self, service: DemoService | DemoStore) -> None:
        names = (service.server, *service.more) if isinstance(service, DemoStore) else (service.simulator,)
        for name in names:
            found = self._running.pop(name, None) or self._waiting.pop(name, None)
            if found is not None:
                found.stop()

    def open(self, service: DemoService, counters: Counters) -> Any:
        """The mount of a service."""
        if service.mount:
            option, behind = service.endpoint
            options = {option: self.address(service) + behind, **UNLIMITED, **service.options}
            mount = _load("mounts", service.mount)(token=DemoToken(service.token), **options)
        else:
            mount = _load("bench.demo", "mounts:web")(self.address(service))
        mount.counters = mount.client.counters = counters
        return mount

    def open_store(self, store: DemoStore, counters: Counters) -> Any:
        """The mount of a store."""
        mount = _load("bench.demo", f"mounts:{store.mount}")(*map(self.port, (store.server, *store.more)))
        for part in (mount, *(getattr(mount, name, None) for name in ("client", "server", "store", "box"))):
            if hasattr(part, "counters"):
                part.counters = counters
        return mount


class DemoMount(LazyMount):
    """A service of the demo; its simulator ends with it."""

    def __init__(self, world: World, service: DemoService) -> None:
        super().__init__(lambda counters: world.open(service, counters), service.capabilities)
        self._world = world
        self._service = service

    def backend(self, path: str) -> tuple[str, str]:
        """Equal for two mounts of one service."""
        return self._service.simulator, (self._service.below + path).rstrip("/") or "/"

    def close(self) -> None:
        super().close()
        self._world.stop(self._service)


class DemoLinkMount(DemoMount, LazyLinkMount):
    """A service of the demo that has symbolic links."""


class StoreMount(LazyStore):
    """A store of the demo; its server ends with it."""

    def __init__(self, world: World, store: DemoStore) -> None:
        super().__init__(lambda counters: world.open_store(store, counters), store.capabilities)
        self._world = world
        self._store = store

    def backend(self, path: str) -> tuple[str, str]:
        """One server, whatever its port."""
        return f"demo:{self._store.server}", path

    def close(self) -> None:
        super().close()
        self._world.stop(self._store)


class DatabaseMount(LazyMount):
    """The company's database, in a file that is made when it is looked at."""

    def __init__(self) -> None:
        super().__init__(self._open, ("open", "search", "describe"))
        self._folder = ""

    def _open(self, counters: Counters) -> Sql:
        import errno
        import sqlite3
        import tempfile

        from mirage.bench.demo.database import make_database
        from mirage.mounts.sql.mount import Sql
        from mirage.mounts.sql.url import DatabaseUrl
        self._folder = self._folder or tempfile.mkdtemp(prefix="mirage-demo-")
        try:
            make_database(f"{self._folder}/company.db")
        except sqlite3.Error as e:                           # no space
            raise OSError(errno.EIO, f"the demo's database: {e}") from None
        mount = Sql(DatabaseUrl(f"sqlite:///{self._folder}/company.db"))
        mount.counters = mount.database.counters = counters
        return mount

    def close(self) -> None:
        super().close()
        if self._folder:
            import shutil
            shutil.rmtree(self._folder, ignore_errors=True)


def services(now: Callable[[], float]) -> tuple[dict[str, LazyMount], list[LazyCli]]:
    """The mounts by their places, and the CLIs."""
    world = World(now)
    mounts: dict[str, LazyMount] = {}
    clis: list[LazyCli] = []
    for point, service in SERVICES.items():
        mount = mounts[point] = (DemoLinkMount if service.links else DemoMount)(world, service)
        clis.extend(_cli(name, where, mount, point) for name, where in service.clis.items())
    for point, store in STORES.items():
        mounts[point] = StoreMount(world, store)
        clis.extend(_cli(name, where, mounts[point], point) for name, where in store.clis.items())
    mounts["/db"] = DatabaseMount()
    clis.append(_cli("sql", "sql:SqlCli", mounts["/db"], "/db"))
    return mounts, clis


def _cli(name: str, where: str, mount: LazyMount, point: str) -> LazyCli:
    def make() -> VirtualCli:
        cli: VirtualCli = _load("clis", where)(mount.made)
        cli.name = name
        if hasattr(cli, "point"):
            cli.point = point
        return cli
    return LazyCli(name, make, mount.counters)


def _load(room: str, where: str) -> Any:
    """What `MODULE:NAME` of a room of the package is."""
    from importlib import import_module
    module, _, name = where.partition(":")
    return getattr(import_module(f"mirage.{room}.{module}"), name)
