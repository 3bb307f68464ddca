"""A simulated account with a mount, for tests of the mount, the CLI and the search."""
from __future__ import annotations

import json

from mirage import Terminal
from mirage.bench.services.gmail import GmailSimulator
from mirage.clis.mail import MailCli
from mirage.mounts.gmail.mount import Gmail
from mirage.vfs.service import Retry
from tests.mounts.support import Given

TOKEN = "simulator-token"
COURSE = "/INBOX/2026-09-09/Course_Schedule_Notification__6"
QUICK = Retry(tries=3, base=0.01, most=0.5)


class Token(Given):
    place = "env:MAIL_TEST_TOKEN"


def make_mount(simulator: GmailSimulator, token: str = TOKEN, **options: object) -> Gmail:
    mount = Gmail(Token(token), endpoint=simulator.address, rate=0.0, **options)
    mount.client.retry = QUICK
    return mount


def user_credentials(simulator: GmailSimulator, refresh: str = "simulator-refresh") -> Token:
    return Token(json.dumps({"client_id": "id", "client_secret": "s3cret-client", "refresh_token": refresh,
                             "token": "expired", "token_uri": f"{simulator.address}token"}))


def make_terminal(simulator: GmailSimulator, mount: Gmail | None = None, **options: object) -> Terminal:
    mount = mount or make_mount(simulator)
    return Terminal({"/mail": mount}, clis=[MailCli(mount, "/mail")], **options)


def everything(mount: Gmail) -> dict[str, bytes]:
    """path -> content of every file of the mount."""
    found, todo = [], ["/"]
    while todo:
        at = todo.pop()
        for entry in mount.list(at):
            path = f"{at.rstrip('/')}/{entry.name}"
            assert entry.stat is not None
            (todo if entry.stat.is_dir else found).append(path)
    return {path: data for path, data in mount.read_many(sorted(found)) if isinstance(data, bytes)}
