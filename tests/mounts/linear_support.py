"""A simulated Linear with a mount, for tests of the mount, the CLI and the search."""
from __future__ import annotations

from mirage import Terminal
from mirage.bench.services.linear import LinearSimulator
from mirage.clis.linear import LinearCli
from mirage.mounts.linear.tree import Linear
from mirage.vfs.service import Retry
from tests.mounts.support import Given

TOKEN = "lin_api_simulator"
QUICK = Retry(tries=4, base=0.01, most=1.0)


class Token(Given):
    place, default = "env:LINEAR_TEST_TOKEN", TOKEN


def make_mount(simulator: LinearSimulator, token: str = TOKEN, **options: object) -> Linear:
    mount = Linear(Token(token), endpoint=simulator.address, **options)
    mount.client.retry = QUICK
    return mount


def make_terminal(simulator: LinearSimulator, mount: Linear | None = None, **options: object) -> Terminal:
    mount = mount or make_mount(simulator)
    return Terminal({"/linear": mount}, clis=[LinearCli(mount)], **options)


def asked(simulator: LinearSimulator) -> list[str]:
    """The names of the queries."""
    return [entry.query["operation"][0] for entry in simulator.log]
