"""Slack as files: /channels/<name>__<id>/<YYYY-MM-DD>/chat.jsonl, direct messages, users (mounts/slack/README.md)."""
from __future__ import annotations

from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.mounts.slack.tree import Slack

OPTIONS: dict[str, object] = {"token": Secret, "user_token": Secret, "endpoint": str, "search": str, "tz": str,
                              "rate": float, "ttl": float, "cache": int, "lag": float, "bound": int, "pages": int}


def build(**options: Any) -> Slack:
    """The mount; see Slack for the options."""
    from mirage.mounts.slack.tree import Slack
    return Slack(**options)
