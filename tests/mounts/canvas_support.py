"""A simulated Canvas with a mount, for tests of the mount and the CLI."""
from __future__ import annotations

from mirage import Terminal
from mirage.bench.services.canvas import CanvasSimulator
from mirage.clis.canvas import CanvasCli
from mirage.mounts.canvas.tree import Canvas
from mirage.vfs.service import Retry
from tests.mounts.support import Given

ADMIN, TEACHER, STUDENT = "canvas-simulator", "canvas-teacher", "canvas-student"
QUICK = Retry(tries=4, base=0.01, most=0.5)
ODD = "/courses/Odd _ things_of all kinds__102"              # with one ordinary course, 101


class Token(Given):
    place, default = "env:CANVAS_TEST_TOKEN", ADMIN


def make_mount(simulator: CanvasSimulator, token: str = ADMIN, **options: object) -> Canvas:
    mount = Canvas(simulator.address, Token(token), rate=0.0, **options)
    mount.client.retry = QUICK
    return mount


def make_terminal(simulator: CanvasSimulator, mount: Canvas | None = None, **options: object) -> Terminal:
    mount = mount or make_mount(simulator)
    return Terminal({"/canvas": mount}, clis=[CanvasCli(mount)], **options)
