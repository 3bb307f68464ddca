"""A simulated Linear with a mount, for tests of the mount, the CLI and the search."""
from __future__ import annotations

from mirage import Terminal
from mirage.bench.services.linear import LinearSimulator
from mirage.clis.linear import LinearCli
from mirage.mounts.linear.tree import Linear
from mirage.vfs.secrets import Secret
from mirage.vfs.service import Retry

TOKEN = "lin_api_simulator"
QUICK = Retry(tries=4, base=0.01, most=1.0)


class Token(Secret):
    """A secret with a text; what is printed of it is only its name."""

    __slots__ = ("text",)

    def __init__(self, text: str = TOKEN) -> None:
        super().__init__("env:LINEAR_TEST_TOKEN")
        self.text = text

    def reveal(self) -> str:
        return self.text


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
