"""A simulated organization with a mount, for tests of the mount, the CLI and the search."""
from __future__ import annotations

from mirage import Terminal
from mirage.bench.services.github import TOKEN, GitHubSimulator
from mirage.clis.github import GitHubCli
from mirage.mounts.github.tree import GitHub
from mirage.vfs.service import Retry
from tests.mounts.support import Given

QUICK = Retry(tries=3, base=0.01, most=0.5)
FIRMWARE = "/norrsken/firmware"
MAIN = f"{FIRMWARE}/tree/main"
TODO = "norrsken/sync-todo-to-readme"


class Token(Given):
    place, default = "env:GITHUB_TEST_TOKEN", TOKEN


def make_mount(simulator: GitHubSimulator, token: str = TOKEN, **options: object) -> GitHub:
    mount = GitHub(Token(token), endpoint=simulator.address, rate=0.0, **options)
    mount.client.retry = QUICK
    return mount


def make_terminal(simulator: GitHubSimulator, mount: GitHub | None = None, **options: object) -> Terminal:
    mount = mount or make_mount(simulator)
    return Terminal({"/github": mount}, clis=[GitHubCli(mount)], **options)
