"""Simulated calendars with a mount, for tests of the mount and the CLI."""
from __future__ import annotations

from mirage import Terminal
from mirage.bench.services.gcal import CalendarSimulator
from mirage.clis.gcal import GcalCli
from mirage.mounts.gcal.tree import Calendar
from mirage.vfs.service import Retry
from tests.mounts.support import Given

QUICK = Retry(tries=3, base=0.01, most=0.5)
OWN = "/calendar/Mara Lindqvist"


class Token(Given):
    place, default = "env:GCAL_TEST_TOKEN", "simulator-token"


def make_mount(simulator: CalendarSimulator, token: str = "simulator-token", **options: object) -> Calendar:
    mount = Calendar(Token(token), endpoint=simulator.address, rate=0.0, **{"tz": "Europe/Stockholm", **options})
    mount.client.retry = QUICK
    return mount


def make_terminal(simulator: CalendarSimulator, mount: Calendar | None = None, **options: object) -> Terminal:
    mount = mount or make_mount(simulator)
    return Terminal({"/calendar": mount}, clis=[GcalCli(mount)], **options)
