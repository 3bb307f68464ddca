"""Notion as files: pages, databases and their rows (mounts/notion/README.md)."""

from __future__ import annotations

from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.mounts.notion.tree import Notion

OPTIONS: dict[str, object] = {
    "token": Secret,
    "endpoint": str,
    "roots": str,
    "search": str,
    "rate": float,
    "ttl": float,
    "cache": int,
    "bound": int,
}


def build(**options: Any) -> Notion:
    """The mount; see Notion for the options."""
    from mirage.mounts.notion.tree import Notion
    return Notion(**options)
