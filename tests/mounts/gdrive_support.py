"""A simulated Drive with a mount, for tests of the mount, the CLIs and the search."""
from __future__ import annotations

import json

from mirage import Terminal
from mirage.bench.services.gdrive import DriveSimulator
from mirage.mounts.gdrive.mount import Drive
from mirage.vfs.service import Retry
from tests.mounts.support import Given

TOKEN = "simulator-token"
QUICK = Retry(tries=3, base=0.01, most=0.5)
ODD = "/Übrigens: odd _ names"


class Token(Given):
    place, default = "env:DRIVE_TEST_TOKEN", TOKEN


def make_mount(simulator: DriveSimulator, token: str = TOKEN, **options: object) -> Drive:
    mount = Drive(Token(token), endpoint=simulator.address, rate=0.0, **options)
    mount.client.retry = QUICK
    return mount


def user_credentials(simulator: DriveSimulator) -> Token:
    return Token(json.dumps({"client_id": "id", "client_secret": "s3cret-client", "refresh_token": "simulator-refresh",
                             "token": "expired", "token_uri": f"{simulator.address}token"}))


def make_terminal(simulator: DriveSimulator, mount: Drive | None = None, **options: object) -> Terminal:
    from mirage.clis.gdrive import DriveCli
    from mirage.clis.google_doc import DocCli
    from mirage.clis.google_sheet import SheetCli
    mount = mount or make_mount(simulator)
    return Terminal({"/gd": mount}, clis=[DriveCli(mount), SheetCli(mount), DocCli(mount)], **options)


def tops(simulator: DriveSimulator, name: str) -> str:
    """The id of the first item of a name."""
    return next(f.resource["id"] for f in simulator.store.files.values() if f.resource["name"] == name)


def prune(simulator: DriveSimulator, *names: str) -> None:
    """Take items away, with what is below."""
    for name in names:
        simulator.store.delete(tops(simulator, name))
