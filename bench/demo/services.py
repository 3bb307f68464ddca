"""The services of `mirage demo`: for each a simulator, a mount and CLIs, which are loaded when they are looked at."""
from __future__ import annotations

from mirage.clis.lazy import LazyCli
from mirage.vfs.lazy import LazyLinkMount, LazyMount
from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mirage.bench.services.http import OnDemand
    from mirage.clis.framework import VirtualCli
    from mirage.mounts.sql.mount import Sql
    from mirage.vfs.service import Counters

USUAL = ("read_many", "search", "describe")


class DemoToken(Secret):
    """The access token of a simulator."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        super().__init__("env:MIRAGE_DEMO_TOKEN")
        self._text = text

    def reveal(self) -> str:
        return self._text


class DemoService:
    """How to come by a service.

    simulator     "module:class" below mirage.bench.services, which takes `size` and a clock
    mount         "module:class" below mirage.mounts, which takes `token` and `options`
    clis          names and "module:class" below mirage.clis, each made for the mount
    endpoint      the mount's option with the simulator's address, and what comes behind that
    capabilities  of the mount;  links: it has symbolic links
    below         what the mount shows of the service (for rules of a policy about another mount of it)
    """

    def __init__(self, simulator: str, mount: str, clis: Mapping[str, str], token: str, *,
                 endpoint: tuple[str, str] = ("endpoint", ""), capabilities: tuple[str, ...] = USUAL,
                 links: bool = False, below: str = "", size: Mapping[str, int] | None = None, **options: Any) -> None:
        self.simulator = simulator
        self.mount = mount
        self.clis = clis
        self.token = token
        self.endpoint = endpoint
        self.capabilities = capabilities
        self.links = links
        self.below = below
        self.size = size or {}
        self.options = options


TODO = "norrsken/sync-todo-to-readme"
SERVICES = {
    "/mail": DemoService("gmail:GmailSimulator", "gmail.mount:Gmail", {"mail": "mail:MailCli"}, "simulator-token"),
    "/slack": DemoService("slack:SlackSimulator", "slack.tree:Slack", {"slack": "slack:SlackCli"}, "xoxp-simulator",
                          endpoint=("endpoint", "api/")),
    "/gd": DemoService("gdrive:DriveSimulator", "gdrive.mount:Drive", {
        "gdrive": "gdrive:DriveCli", "google-sheet": "google_sheet:SheetCli", "google-doc": "google_doc:DocCli"},
        "simulator-token", links=True),
    "/calendar": DemoService("gcal:CalendarSimulator", "gcal.tree:Calendar", {"gcal": "gcal:GcalCli"},
                             "simulator-token", capabilities=("read_many", "describe")),
    "/github": DemoService("github:GitHubSimulator", "github.tree:GitHub", {"github": "github:GitHubCli"},
                           "ghp_simulator", links=True, capabilities=(*USUAL, "lookup")),
    "/repo": DemoService("github:GitHubSimulator", "github.tree:GitHub", {}, "ghp_simulator", links=True,
                         capabilities=(*USUAL, "lookup"), below=f"/{TODO}/tree", repo=TODO),
    "/notion": DemoService("notion:NotionSimulator", "notion.tree:Notion", {"notion": "notion:NotionCli"},
                           "ntn_simulator", capabilities=(*USUAL, "open"), size={"rows": 1200}),
    "/linear": DemoService("linear:LinearSimulator", "linear.tree:Linear", {"linear": "linear:LinearCli"},
                           "lin_api_simulator"),
    "/canvas": DemoService("canvas:CanvasSimulator", "canvas.tree:Canvas", {"canvas": "canvas:CanvasCli"},
                           "canvas-simulator", endpoint=("url", ""), capabilities=("read_many", "describe"), account=1),
}
UNLIMITED = {"rate": 0.0}


class World:
    """The simulators of one demo, each of which starts with the first request to it.

    now  seconds since the epoch, on everybody's clock
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self._running: dict[str, OnDemand] = {}

    def address(self, service: DemoService) -> str:
        """Where the simulator of a service listens. It is made when somebody asks it."""
        found = self._running.get(service.simulator)
        if found is None:
            from mirage.bench.services.http import OnDemand
            found = self._running[service.simulator] = OnDemand(lambda: self._simulator(service))
        return found.start()

    def _simulator(self, service: DemoService) -> Any:
        from mirage.bench.services.clock import Clock
        return _load("bench.services", service.simulator)(clock=Clock(self.now(), self.now), **service.size)

    def stop(self, service: DemoService) -> None:
        found = self._running.pop(service.simulator, None)
        if found is not None:
            found.stop()

    def open(self, service: DemoService, counters: Counters) -> Any:
        """The mount of a service."""
        option, behind = service.endpoint
        options = {option: self.address(service) + behind, **UNLIMITED, **service.options}
        mount = _load("mounts", service.mount)(token=DemoToken(service.token), **options)
        mount.counters = mount.client.counters = counters
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
    mounts["/db"] = DatabaseMount()
    clis.append(_cli("sql", "sql:SqlCli", mounts["/db"], "/db"))
    return mounts, clis


def _cli(name: str, where: str, mount: LazyMount, point: str) -> LazyCli:
    def make() -> VirtualCli:
        cli: VirtualCli = _load("clis", where)(mount.made)
        if hasattr(cli, "point"):
            cli.point = point
        return cli
    return LazyCli(name, make, mount.counters)


def _load(room: str, where: str) -> Any:
    """What `MODULE:NAME` of a room of the package is."""
    from importlib import import_module
    module, _, name = where.partition(":")
    return getattr(import_module(f"mirage.{room}.{module}"), name)
