"""The mount: the tree of all mailboxes (mirage/mounts/mail/tree.py) over IMAP."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage.mounts.imap.client import ImapClient
from mirage.mounts.imap.mailbox import Mailbox
from mirage.mounts.imap.smtp import Smtp
from mirage.mounts.mail.tree import MailMount

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mirage.mounts.imap.account import ImapAccount
    from mirage.vfs.search import Candidates, Query
    from mirage.vfs.secrets import Secret


class Imap(MailMount):
    """One account, read-only; changes are made with the CLI `mail`.

    host, port, tls    the IMAP server; tls: "tls" (993), "starttls" (143) or "none" (143)
    user               with `password` or `token` (OAuth 2), which are Secrets
    address            the account's own address; default: the user, where that is one
    smtp_host, smtp_port, smtp_tls  for sending; default: the same host; "tls" (465), "starttls" (587), "none" (25)
    search             "exact", "service" or "auto": what `grep -r` does with messages that IMAP cannot search for sure
    tz                 time zone of the day folders and dates
    ttl                seconds until a long line asks for changes again; every new line asks once
    cache              bytes of contents to keep
    bound              so many items are read rather than searched
    connections        at a time
    """

    client: ImapClient
    box: Mailbox

    def __init__(self, host: str, user: str, password: Secret | None = None, token: Secret | None = None, port: int = 0,
                 tls: str = "tls", address: str = "", smtp_host: str = "", smtp_port: int = 0, smtp_tls: str = "",
                 search: str = "auto", tz: str = "UTC", ttl: float = 30.0, cache: int = 64 << 20, bound: int = 500,
                 connections: int = 4) -> None:
        client = ImapClient(host, user, password, token, port, tls, max(1, connections))
        self.smtp = Smtp(client, smtp_host or host, smtp_port, smtp_tls or ("none" if tls == "none" else "starttls"))
        self.address = address or (user if "@" in user else f"{user}@{host}")
        super().__init__("imap", client, Mailbox(client, ttl, cache), search, tz, 0.0, bound, _search)

    def is_account(self, options: Mapping[str, Any]) -> bool:
        return self.client.same_account(options.get("host", ""), options.get("user", ""), int(options.get("port", 0)))

    def account(self) -> ImapAccount:
        from mirage.mounts.imap.account import ImapAccount
        return ImapAccount(self)

    def __repr__(self) -> str:
        return f"Imap({self.client.user!r} at {self.client.host})"


def _search(mount: Imap, path: str, query: Query) -> Candidates | None:
    from mirage.mounts.imap.search import search
    return search(mount, path, query)
