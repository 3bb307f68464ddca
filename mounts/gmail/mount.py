"""The mount: the tree of all mailboxes (mirage/mounts/mail/tree.py) over the Gmail API."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage.mounts.gmail.client import GmailClient
from mirage.mounts.gmail.mailbox import Mailbox
from mirage.mounts.mail.tree import MailMount

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mirage.mounts.gmail.account import GmailAccount
    from mirage.vfs.estimate import Cost
    from mirage.vfs.search import Candidates, Query
    from mirage.vfs.secrets import Secret


class Gmail(MailMount):
    """One account, read-only; changes are made with the CLI `mail`.

    token, credentials  Secrets: an access token, or the JSON of an authorized user
    endpoint            another server (a simulator); default Google's
    search              "exact", "service" or "auto": what `grep -r` does with patterns that are no whole words
    tz                  time zone of the day folders and dates
    rate                quota units a second (0: no limit); a message costs 5
    ttl                 seconds until a long line asks for changes again; every new line asks once
    cache               bytes of contents to keep
    lag                 seconds until the service finds a new message by its words
    bound               so many items are read rather than searched
    client              instead of token, credentials, endpoint and rate
    """

    client: GmailClient
    box: Mailbox

    def __init__(self, token: Secret | None = None, credentials: Secret | None = None, endpoint: str = "",
                 search: str = "auto", tz: str = "UTC", rate: float = 250.0, ttl: float = 30.0, cache: int = 64 << 20,
                 lag: float = 120.0, bound: int = 500, client: GmailClient | None = None) -> None:
        client = client or GmailClient(token, credentials, endpoint, rate)
        super().__init__("gmail", client, Mailbox(client, ttl, cache), search, tz, lag, bound, _search)

    def is_account(self, options: Mapping[str, Any]) -> bool:
        return self.client.same_account(options.get("token"), options.get("credentials"),
                                        str(options.get("endpoint", "")))

    def account(self) -> GmailAccount:
        """What changes the account, for the CLI."""
        from mirage.mounts.gmail.account import GmailAccount
        return GmailAccount(self)

    def estimate(self, path: str, action: str, queries: Sequence[Query] = ()) -> Cost:
        from mirage.mounts.gmail.estimate import estimate
        return estimate(self, path, action, queries)

    def __repr__(self) -> str:
        return f"Gmail({self.client.endpoint or 'gmail.googleapis.com'})"


def _search(mount: Gmail, path: str, query: Query) -> Candidates | None:
    from mirage.mounts.gmail.search import search
    return search(mount, path, query)
