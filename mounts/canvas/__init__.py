"""Canvas LMS as files: courses with their assignments, pages, files and submissions; conversations (README.md)."""
from __future__ import annotations

from mirage.vfs.secrets import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mirage.mounts.canvas.tree import Canvas

ARGUMENT = "url"
OPTIONS: dict[str, object] = {"url": str, "token": Secret, "account": int, "rate": float, "ttl": float, "cache": int}


def build(url: str, **options: Any) -> Canvas:
    """The mount; see Canvas for the options."""
    from mirage.mounts.canvas.tree import Canvas
    return Canvas(url, **options)
