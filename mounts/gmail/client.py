"""Calls to the Gmail API: the client of all Google's services with Gmail's limits (mirage/mounts/google/client.py)."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage.mounts.google.client import PARTS as BATCH
from mirage.mounts.google.client import GoogleClient

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mirage.vfs.secrets import Secret
    from mirage.vfs.service import Retry

UNITS = 5                                                    # quota units of an average method

__all__ = ["BATCH", "GmailClient"]


class GmailClient(GoogleClient):
    """One account; `rate` in quota units a second, 0: no limit. The rest as GoogleClient has it."""

    def __init__(self, token: Secret | None, credentials: Secret | None, endpoint: str = "", rate: float = 250.0,
                 retry: Retry | None = None) -> None:
        super().__init__("gmail", token, credentials, endpoint, rate, UNITS, retry, {"userId": "me"})

    def users(self, method: str, **parameters: Any) -> Any:
        """A request that is not sent yet: `messages.list` is gmail.users.messages.list."""
        return self.request(f"gmail.users.{method}", **parameters)

    def batch(self, requests: Sequence[Any], api: str = "gmail", units: float | None = None) -> list[Any]:
        return super().batch(requests, api, units)
